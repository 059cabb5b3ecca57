// Dijkstra's search from the goals outward over (portal, room entered). SPDX-License-Identifier: Apache-2.0
#include "space/room_ways.h"
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

// Everybody who enters `room` and could go on to its place for `distance` more.
static void offer_entrances(const th_rooms *rooms, int room, int place, float distance,
                            th_front *front, float *ways) {
    const th_room *one = &rooms->rooms[room];
    int places = one->portal_count + one->goal_count;
    for (int k = 0; k < one->portal_count; ++k) {
        if (k == place) continue;
        int portal = one->portals[k];
        int node = 2 * portal + th_side_of_portal(&rooms->portals[portal], room);
        th_front_offer(front, ways, node, one->distances[k * places + place] + distance);
    }
}

void th_room_ways(const th_rooms *rooms, const int *goals, int goal_count, const uint32_t *shut,
                  th_front *front, float *ways) {
    for (int n = 0; n < 2 * rooms->portal_count; ++n) {
        ways[n] = INFINITY;
        // Settled before the search: nobody passes.
        front->place[n] = is_shut(&rooms->portals[n / 2], shut) ? -1 : 0;
    }
    front->count = 0;
    for (int r = 0; r < rooms->room_count; ++r)
        for (int g = 0; g < rooms->rooms[r].goal_count; ++g)
            if (among(goals, goal_count, rooms->rooms[r].goals[g]))
                offer_entrances(rooms, r, rooms->rooms[r].portal_count + g, 0.0f, front, ways);
    while (front->count > 0) {
        int node = th_front_take(front), portal = node / 2;
        int from = rooms->portals[portal].rooms[1 - node % 2];
        offer_entrances(rooms, from, th_place_of_portal(&rooms->rooms[from], portal), ways[node],
                        front, ways);
    }
}
