// Dijkstra's search from the goals outward over (portal, room entered). Where doors change, only those whose ways led
// over a door that shut lose them and are searched anew, and only nodes that gain by a door that opened are changed
// (Ramalingam, Reps 1996). A way is a sum from the goal outward, so that both give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "space/rooms.h"
#include <math.h>

static bool is_shut(const th_room_portal *portal, const uint32_t *shut) {
    return portal->kind == TH_PORTAL_DOOR &&
           (shut[portal->index / 32] >> (portal->index % 32) & 1) != 0;
}

static bool among(const int *goals, int count, int goal) {
    for (int k = 0; k < count; ++k)
        if (goals[k] == goal) return true;
    return false;
}

static int node_into(const th_rooms *rooms, int portal, int room) {
    return 2 * portal + th_side_of_portal(&rooms->portals[portal], room);
}

// Offers a way over the node `next`, `distance` further, to all nodes that enter `room`.
static void offer_entrances(const th_room_ways *w, int room, int place, float distance, int next) {
    const th_room *one = &w->rooms->rooms[room];
    int places = one->portal_count + one->goal_count;
    for (int k = 0; k < one->portal_count; ++k) {
        if (k == place) continue;
        int node = node_into(w->rooms, one->portals[k], room);
        float way = one->distances[k * places + place] + distance;
        if (w->front->place[node] < 0 || !(way < w->ways[node])) continue;
        th_front_offer(w->front, w->ways, node, way);
        w->next[node] = next;
    }
}

// The room that is left by crossing a node, and its place there.
static int room_left(const th_rooms *rooms, int node, int *place) {
    int from = rooms->portals[node / 2].rooms[1 - node % 2];
    *place = th_place_of_portal(&rooms->rooms[from], node / 2);
    return from;
}

static void settle_all(const th_room_ways *w) {
    while (w->front->count > 0) {
        int node = th_front_take(w->front), place, from = room_left(w->rooms, node, &place);
        offer_entrances(w, from, place, w->ways[node], node);
    }
}

// Shut ones are settled before the search: they are not passable.
static void begin(const th_room_ways *w, const uint32_t *shut) {
    for (int n = 0; n < 2 * w->rooms->portal_count; ++n)
        w->front->place[n] = is_shut(&w->rooms->portals[n / 2], shut) ? -1 : 0;
    w->front->count = 0;
}

void th_room_ways_search(const th_room_ways *w, const uint32_t *shut) {
    const th_rooms *rooms = w->rooms;
    begin(w, shut);
    for (int n = 0; n < 2 * rooms->portal_count; ++n) {
        w->ways[n] = INFINITY;
        w->next[n] = -1;
    }
    for (int r = 0; r < rooms->room_count; ++r)
        for (int g = 0; g < rooms->rooms[r].goal_count; ++g)
            if (among(w->goals, w->goal_count, rooms->rooms[r].goals[g]))
                offer_entrances(w, r, rooms->rooms[r].portal_count + g, 0.0f, -1);
    settle_all(w);
}

// Removes the ways that lead over `node`, and those that lead over them. The heap, empty as yet, holds the nodes
// still to be looked at.
static int forget(const th_room_ways *w, int node, int count) {
    th_front_entry *lost = w->front->heap;
    int at = count;
    lost[count++].node = node;
    w->ways[node] = INFINITY;
    w->next[node] = -1;
    for (; at < count; ++at) {
        int place, from = room_left(w->rooms, lost[at].node, &place);
        const th_room *room = &w->rooms->rooms[from];
        for (int k = 0; k < room->portal_count; ++k) {
            int before = node_into(w->rooms, room->portals[k], from);
            if (w->next[before] != lost[at].node) continue;
            lost[count++].node = before;
            w->ways[before] = INFINITY;
            w->next[before] = -1;
        }
    }
    return count;
}

// The best way from a node by what is known of the places of the room that it enters.
static void look_ahead(const th_room_ways *w, int node) {
    const th_rooms *rooms = w->rooms;
    int room = rooms->portals[node / 2].rooms[node % 2];
    const th_room *one = &rooms->rooms[room];
    int places = one->portal_count + one->goal_count, own = th_place_of_portal(one, node / 2);
    float best = INFINITY;
    int next = -1;
    for (int k = 0; k < places; ++k) {
        bool goal = k >= one->portal_count;
        if (k == own ||
            (goal && !among(w->goals, w->goal_count, one->goals[k - one->portal_count])))
            continue;
        int on = goal ? -1 : node_into(rooms, one->portals[k], room) ^ 1;
        float way = one->distances[own * places + k] + (goal ? 0.0f : w->ways[on]);
        if (!(way < best)) continue;
        best = way;
        next = on;
    }
    if (w->front->place[node] < 0 || !(best < w->ways[node])) return;
    th_front_offer(w->front, w->ways, node, best);
    w->next[node] = next;
}

void th_room_ways_change(const th_room_ways *w, const uint32_t *before, const uint32_t *shut) {
    const th_rooms *rooms = w->rooms;
    int count = 0;
    for (int p = 0; p < rooms->portal_count; ++p)
        if (is_shut(&rooms->portals[p], shut) && !is_shut(&rooms->portals[p], before))
            for (int side = 0; side < 2; ++side)
                if (w->ways[2 * p + side] < INFINITY) count = forget(w, 2 * p + side, count);
    begin(w, shut);
    // Offers go into the heap that holds the list, never beyond the node that is read next: each reads one and adds at
    // most one.
    for (int k = 0; k < count; ++k) look_ahead(w, w->front->heap[k].node);
    for (int p = 0; p < rooms->portal_count; ++p)
        if (is_shut(&rooms->portals[p], before) && !is_shut(&rooms->portals[p], shut))
            for (int side = 0; side < 2; ++side) look_ahead(w, 2 * p + side);
    settle_all(w);
}
