// The behaviour hidac: looking around, exploring the building, choosing where to go, leaving jams.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_THINK_H
#define TH_BEHAVE_HIDAC_THINK_H
#include "behave/hidac/others.h"

#define TH_MIND_SLOW 0.3f // share of the preferred speed: less is standing in a jam
#define TH_MIND_JAM 15.0f // [m] from the place
#define TH_MIND_KEEP 0.9f // a way is changed for one that is a tenth shorter
// An agent that has just come in turns back only for a way that is a third shorter. Distances between rooms are of portals' middles
// and nearest points, so that two rooms may each seem the shorter way from the other.
#define TH_MIND_BACK 1.5f
enum { TH_MIND_ROOMS_SEARCHED = 4096 };

// ---- looking: the room, doors that are shut or open

// 1 + the portal by which an agent came from another room: the one it aimed at, else the nearest; 0: there is none.
TH_BOTH static inline uint32_t th_mind_portal_from(const th_mind_step *s, uint32_t i, int room,
                                                   int before) {
    const th_rooms *rooms = s->mind->rooms;
    const th_room *here = &rooms->rooms[room];
    th_vec2 p = th_position(&s->world->agents, i);
    uint32_t best = 0;
    float least = INFINITY;
    for (int k = 0; k < here->portal_count; ++k) {
        const th_room_portal *portal = &rooms->portals[here->portals[k]];
        if (portal->rooms[1 - th_side_of_portal(portal, room)] != before) continue;
        if (s->aim[i] == (uint32_t)here->portals[k] + 1) return s->aim[i];
        float distance2 = th_segment_distance2(p, portal->a, portal->b);
        if (distance2 >= least) continue;
        least = distance2;
        best = (uint32_t)here->portals[k] + 1;
    }
    return best;
}

TH_BOTH static inline void th_mind_enter_room(const th_mind_step *s, uint32_t i, int room) {
    uint32_t before = s->room[i];
    if (before == (uint32_t)room + 1) return;
    s->entered[i] = before > 0 ? th_mind_portal_from(s, i, room, (int)before - 1) : 0;
    s->room[i] = (uint32_t)room + 1;
    s->aim[i] = 0;
    s->jammed[i] = 0.0f;
}

TH_BOTH static inline void th_mind_look_at_doors(const th_mind_step *s, uint32_t i, int room) {
    const th_room *here = &s->mind->rooms->rooms[room];
    th_vec2 p = th_position(&s->world->agents, i);
    float sight = th_mind_params_of(s, i)->sight;
    for (int k = 0; k < here->portal_count; ++k) {
        const th_room_portal *portal = &s->mind->rooms->portals[here->portals[k]];
        if (portal->kind != TH_PORTAL_DOOR) continue;
        th_vec2 q = th_scale(0.5f, th_add(portal->a, portal->b)), off = th_sub(q, p);
        float distance = th_length(off);
        if (distance > sight) continue;
        // A shut door is a wall itself: look at a point a little before it.
        float before = th_max(distance - 0.1f, 0.0f) / th_max(distance, 0.1f);
        if (th_walls_first_crossing(&s->walls, here->level, p, th_add(p, th_scale(before, off)),
                                    NULL) >= 0)
            continue;
        uint32_t *memory = th_mind_memory_of(s, i);
        th_set_bit(memory, portal->index, s->world->door_closed[portal->index]);
        th_mind_changes_in(s->mind, memory)[portal->index] = s->mind->changes[portal->index];
    }
}

// The k-th agent whose turn it is looks at the building.
TH_BOTH static inline void th_mind_look(const th_mind_step *s, int k) {
    const th_agents *a = &s->world->agents;
    uint32_t i = s->mind->due[k];
    th_mind_hear_alarm(s, i);
    int room = th_room_of_point(s->mind->rooms, (int)a->level[i], th_position(a, i));
    if (room < 0) return;
    th_mind_enter_room(s, i, room);
    th_set_bit(th_mind_rooms_seen(s, i), room, true);
    if (s->world->scene->door_count > 0) th_mind_look_at_doors(s, i, room);
}

// ---- choosing

// Distance to a place of the room: straight, or at least what the walls make it from where one came in.
TH_BOTH static inline float th_mind_place_distance(const th_mind_step *s, uint32_t i, int room,
                                                   int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    th_vec2 p = th_position(&s->world->agents, i);
    float straight = th_length(th_sub(th_rooms_place_point(s->mind->rooms, here, place, p), p));
    if (s->entered[i] == 0) return straight;
    int from = th_place_of_portal(here, (int)s->entered[i] - 1);
    if (from < 0) return straight;
    const th_room_portal *portal = &s->mind->rooms->portals[s->entered[i] - 1];
    th_vec2 middle = th_scale(0.5f, th_add(portal->a, portal->b));
    float inside = here->distances[from * (here->portal_count + here->goal_count) + place] -
                   th_length(th_sub(middle, p));
    return th_max(straight, inside);
}

typedef struct th_mind_choice {
    int place; // of the room; -1: none
    float distance, beyond;
} th_mind_choice;

TH_BOTH static inline float th_mind_total(th_mind_choice c) {
    return c.place < 0 ? INFINITY : c.distance + c.beyond;
}

// The value by which choices are compared.
TH_BOTH static inline float th_mind_cost(const th_mind_step *s, uint32_t i, int room,
                                         th_mind_choice c) {
    const th_room *here = &s->mind->rooms->rooms[room];
    bool back = c.place >= 0 && c.place < here->portal_count &&
                (uint32_t)here->portals[c.place] + 1 == s->entered[i];
    return back ? TH_MIND_BACK * th_mind_total(c) : th_mind_total(c);
}

// The value of a place of the room for an agent: `ways` by what it knows, NULL for explorers.
TH_BOTH static inline th_mind_choice th_mind_value_of(const th_mind_step *s, uint32_t i, int room,
                                                      int place, int target, const float *ways) {
    const th_rooms *rooms = s->mind->rooms;
    const th_room *here = &rooms->rooms[room];
    th_mind_choice c = {place, 0.0f, 0.0f};
    if (place >= here->portal_count) {
        int goal = here->goals[place - here->portal_count];
        if (!th_mind_in_target(s->world->scene, target, goal)) c.place = -1;
    } else {
        int portal = here->portals[place], side = th_side_of_portal(&rooms->portals[portal], room);
        int next = rooms->portals[portal].rooms[1 - side];
        bool shut = rooms->portals[portal].kind == TH_PORTAL_DOOR &&
                    th_bit(th_mind_memory_of(s, i), rooms->portals[portal].index);
        if (shut || (!ways && th_bit(th_mind_rooms_seen(s, i), next))) c.place = -1;
        if (ways) c.beyond = ways[2 * portal + 1 - side];
    }
    if (c.place >= 0) c.distance = th_mind_place_distance(s, i, room, place);
    if (c.place >= here->portal_count && ways && !th_mind_knows(s->nature[i]) &&
        here->goals[place - here->portal_count] != (int)s->entrance[i] - 1) {
        // An agent that keeps to its entrance passes other exits.
        th_temper temper = th_temper_of(th_mind_params_of(s, i), s->nature[i]);
        if (!th_mind_dares(&temper, c.distance, s->remaining[i])) c.place = -1;
    }
    return c;
}

// Unknown ways look alike: each agent weights them by a random factor of its own, up to a third.
TH_BOTH static inline float th_mind_guess(const th_mind_step *s, uint32_t i, int room, int place) {
    uint32_t id = s->world->agents.id[i];
    th_random4 r = th_philox(s->world->seed, TH_STREAM_HIDAC_MIND, id,
                             16 + 4096 * (uint64_t)room + (uint64_t)place);
    return 0.67f + 0.66f * th_uniform(r.v[0]);
}

// Is there a goal of the target in the room?
TH_BOTH static inline bool th_mind_has_goal(const th_mind_step *s, int room, int target) {
    const th_room *here = &s->mind->rooms->rooms[room];
    for (int k = 0; k < here->goal_count; ++k)
        if (th_mind_in_target(s->world->scene, target, here->goals[k])) return true;
    return false;
}

// The place of the room by which the shortest way begins, counted in rooms, over rooms seen: to one with a goal of the
// target; target -1: to one with an unknown room beside it. -1: none, or more than 4096 rooms, or 512 on the way. Short
// numbers, since every thread of a device has an own copy.
TH_BOTH static inline int th_mind_back_to(const th_mind_step *s, uint32_t i, int room, int target) {
    const th_rooms *rooms = s->mind->rooms;
    const uint32_t *seen = th_mind_rooms_seen(s, i), *shut = th_mind_memory_of(s, i);
    uint16_t queue[TH_MIND_ROOMS_SEARCHED / 8], first[TH_MIND_ROOMS_SEARCHED / 8];
    int count = 1;
    uint32_t reached[TH_MIND_ROOMS_SEARCHED / 32] = {0};
    if (rooms->room_count > TH_MIND_ROOMS_SEARCHED) return -1;
    queue[0] = (uint16_t)room;
    first[0] = 0;
    th_set_bit(reached, room, true);
    for (int at = 0; at < count; ++at) {
        const th_room *here = &rooms->rooms[queue[at]];
        for (int k = 0; k < here->portal_count; ++k) {
            const th_room_portal *p = &rooms->portals[here->portals[k]];
            int next = p->rooms[1 - th_side_of_portal(p, queue[at])];
            uint16_t begins = at == 0 ? (uint16_t)k : first[at];
            if (p->kind == TH_PORTAL_DOOR && th_bit(shut, p->index)) continue;
            if (!th_bit(seen, next)) {
                if (target < 0) return begins;
                continue;
            }
            if (target >= 0 && th_mind_has_goal(s, next, target)) return begins;
            if (th_bit(reached, next) || count == TH_MIND_ROOMS_SEARCHED / 8) continue;
            th_set_bit(reached, next, true);
            queue[count] = (uint16_t)next;
            first[count++] = begins;
        }
    }
    return -1;
}

// Has it seen a room with a goal of its route?
TH_BOTH static inline bool th_mind_remembers_goal(const th_mind_step *s, uint32_t i) {
    const th_mind *m = s->mind;
    const uint32_t *goals =
        m->route_rooms + (size_t)s->world->agents.group[i] * (size_t)m->room_words;
    const uint32_t *seen = th_mind_rooms_seen(s, i);
    for (int w = 0; w < m->room_words; ++w)
        if (seen[w] & goals[w]) return true;
    return false;
}

TH_BOTH static inline int th_mind_explore(const th_mind_step *s, uint32_t i, int room, int target) {
    const th_room *here = &s->mind->rooms->rooms[room];
    int best = -1;
    float least = INFINITY;
    if (!th_mind_has_goal(s, room, target) && th_mind_remembers_goal(s, i)) {
        best = th_mind_back_to(s, i, room, target);
        if (best >= 0) return best;
    }
    for (int place = 0; place < here->portal_count + here->goal_count; ++place) {
        th_mind_choice c = th_mind_value_of(s, i, room, place, target, NULL);
        if (c.place < 0) continue;
        // A goal in sight ends the search.
        float cost = place >= here->portal_count ? c.distance - 1e6f
                                                 : c.distance * th_mind_guess(s, i, room, place);
        if (cost < least) {
            least = cost;
            best = place;
        }
    }
    if (best >= 0) return best;
    best = th_mind_back_to(s, i, room, -1);
    if (best >= 0) return best;
    // All rooms were seen without success: doors may have opened since, so exploring begins anew.
    memset(th_mind_memory_of(s, i), 0, (size_t)s->mind->words * sizeof(uint32_t));
    th_set_bit(th_mind_rooms_seen(s, i), room, true);
    return -1;
}

TH_BOTH static inline th_mind_choice th_mind_best_known(const th_mind_step *s, uint32_t i, int room,
                                                        int target, const float *ways) {
    const th_room *here = &s->mind->rooms->rooms[room];
    th_mind_choice best = {-1, 0.0f, 0.0f};
    for (int place = 0; place < here->portal_count + here->goal_count; ++place) {
        th_mind_choice c = th_mind_value_of(s, i, room, place, target, ways);
        if (th_mind_cost(s, i, room, c) < th_mind_cost(s, i, room, best)) best = c;
    }
    return best;
}

// ---- impatience

TH_BOTH static inline int *th_mind_queue_before(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    int at;
    if (place < here->portal_count) {
        int portal = here->portals[place];
        at = 2 * portal + th_side_of_portal(&s->mind->rooms->portals[portal], room);
    } else {
        at = 2 * s->mind->rooms->portal_count + here->goals[place - here->portal_count];
    }
    return s->mind->queue + (size_t)at * TH_MIND_BINS;
}

TH_BOTH static inline int th_mind_bin_of(float distance) {
    return distance < (float)TH_MIND_BINS ? (int)distance : TH_MIND_BINS;
}

TH_BOTH static inline float th_mind_place_width(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    if (place < here->portal_count) return s->mind->rooms->portals[here->portals[place]].width;
    const th_goal *goal = &s->world->scene->goals[here->goals[place - here->portal_count]];
    return goal->is_line ? th_length(th_sub(goal->line.b, goal->line.a))
                         : sqrtf((float)goal->area.shape.area);
}

TH_BOTH static inline float th_mind_time_by(const th_mind_step *s, uint32_t i, int room,
                                            th_mind_choice c) {
    const int *queue = th_mind_queue_before(s, room, c.place);
    int ahead = 0;
    int nearer = th_mind_bin_of(c.distance);
    for (int k = 0; k < nearer; ++k) ahead += queue[k];
    return th_mind_time(c.distance, c.beyond, s->world->agents.speed[i], ahead,
                        th_mind_place_width(s, room, c.place));
}

// For an agent that has stood too long before a place: another one in sight, if that is quicker.
TH_BOTH static inline int th_mind_leave_jam(const th_mind_step *s, uint32_t i, int room, int target,
                                            const float *ways, int place) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_room *here = &s->mind->rooms->rooms[room];
    th_temper temper = th_temper_of(p, s->nature[i]);
    float impatience = th_mind_impatience(p, &temper, (s->nature[i] & TH_MIND_PANICS) != 0);
    if (s->jammed[i] <= th_mind_patience(p, impatience) || s->changed[i] > 0.0f) return place;
    th_mind_choice now = th_mind_value_of(s, i, room, place, target, ways);
    if (now.place < 0) return place;
    int best = place;
    float least = p->quicker * th_mind_time_by(s, i, room, now);
    for (int k = 0; k < here->portal_count + here->goal_count; ++k) {
        th_mind_choice c = th_mind_value_of(s, i, room, k, target, ways);
        if (k == place || c.place < 0 || !(c.beyond < INFINITY)) continue;
        float time = th_mind_time_by(s, i, room, c);
        if (time < least) {
            least = time;
            best = k;
        }
    }
    if (best == place) return place;
    s->changed[i] = p->change_pause;
    s->jammed[i] = 0.0f;
    return best;
}

// ---- one thought

TH_BOTH static inline int th_mind_row_of(const th_mind_step *s, uint32_t i, int target) {
    if (th_mind_knows(s->nature[i])) return target;
    bool way_in = (s->nature[i] & TH_MIND_KNOWS_WAY_IN) && s->entrance[i] > 0;
    return way_in ? s->world->scene->target_count + (int)s->entrance[i] - 1 : -1;
}

// An agent without a way goes to doors that would give one and looks at them, since doors open again. From one shut
// door it goes to the next; where all are in sight it stays.
TH_BOTH static inline int th_mind_check_doors(const th_mind_step *s, uint32_t i, int room,
                                              int target, int row, int place) {
    s->nature[i] &= ~(uint32_t)TH_MIND_KNOWS_WAY_IN;
    memset(th_mind_memory_of(s, i), 0, (size_t)s->mind->door_words * sizeof(uint32_t));
    th_mind_look_at_doors(s, i, room);
    const float *ways = th_mind_known_ways(s->mind, s->mind->no_doors, row);
    th_mind_choice best = th_mind_best_known(s, i, room, target, ways);
    return th_mind_total(best) < INFINITY ? best.place : place;
}

// A follower goes where its leader goes, through the portal by which it left the room, and passes exits of others.
// Returns the place of the room, -1: none.
TH_BOTH static inline int th_mind_follow(const th_mind_step *s, uint32_t i, int room, int target,
                                         uint32_t leader) {
    uint32_t aim = leader != UINT32_MAX ? s->aim[leader] : s->follows[i] ? s->aim[i] : 0;
    int place = th_mind_place_of_aim(s, room, aim);
    return place >= 0 && th_mind_may_go_to(s, i, room, place, target) ? place : -1;
}

TH_BOTH static inline int th_mind_think(const th_mind_step *s, uint32_t i, int room, int target,
                                        uint32_t leader) {
    int row = th_mind_row_of(s, i, target), place = th_mind_place_of_aim(s, room, s->aim[i]);
    if (th_mind_leaders_of(s, i) >= 0) {
        int theirs = th_mind_follow(s, i, room, target, leader);
        if (theirs >= 0 || leader != UINT32_MAX) return theirs;
    }
    const float *ways = row >= 0 ? th_mind_known_ways(s->mind, th_mind_memory_of(s, i), row) : NULL;
    if (row >= 0) {
        th_mind_choice best = th_mind_best_known(s, i, room, target, ways);
        if (!(th_mind_total(best) < INFINITY))
            return th_mind_check_doors(s, i, room, target, row, place);
        th_mind_choice now = place >= 0 ? th_mind_value_of(s, i, room, place, target, ways) : best;
        bool keeps =
            place >= 0 &&
            (TH_MIND_KEEP * th_mind_cost(s, i, room, now) <= th_mind_cost(s, i, room, best) ||
             s->changed[i] > 0.0f) &&
            th_mind_total(now) < INFINITY;
        s->remaining[i] = th_mind_total(best);
        if (!keeps) place = best.place;
    } else if (leader != UINT32_MAX) {
        int theirs = th_mind_place_of_aim(s, room, s->aim[leader]);
        if (theirs >= 0) place = theirs;
    }
    if (row < 0 && (place < 0 || th_mind_value_of(s, i, room, place, target, NULL).place < 0))
        place = leader != UINT32_MAX && place >= 0 ? place : th_mind_explore(s, i, room, target);
    return place >= 0 ? th_mind_leave_jam(s, i, room, target, ways, place) : -1;
}

TH_BOTH static inline void th_mind_note_jam(const th_mind_step *s, uint32_t i, int room) {
    const th_agents *a = &s->world->agents;
    int place = th_mind_place_of_aim(s, room, s->aim[i]);
    th_vec2 p = th_position(a, i);
    s->changed[i] = th_max(s->changed[i] - s->interval, 0.0f);
    bool near =
        place >= 0 && th_length(th_sub(th_rooms_place_point(s->mind->rooms,
                                                            &s->mind->rooms->rooms[room], place, p),
                                       p)) < TH_MIND_JAM;
    bool slow = th_length(th_velocity(a, i)) < TH_MIND_SLOW * a->speed[i];
    s->jammed[i] = th_max(s->jammed[i] + (near && slow ? s->interval : -s->interval), 0.0f);
}

// The entry of the list of queues in which an agent counts; NULL: none.
TH_BOTH static inline int *th_mind_bin_before(const th_mind_step *s, uint32_t i) {
    if (!th_mind_is_own(s, i) || s->slot[i] == 0 || s->room[i] == 0) return NULL;
    int room = (int)s->room[i] - 1, place = th_mind_place_of_aim(s, room, s->aim[i]);
    if (place < 0) return NULL;
    th_vec2 p = th_position(&s->world->agents, i);
    th_vec2 q = th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p);
    int bin = th_mind_bin_of(th_length(th_sub(q, p)));
    return bin < TH_MIND_BINS ? th_mind_queue_before(s, room, place) + bin : NULL;
}

TH_BOTH static inline bool th_mind_can_decide(const th_mind_step *s, uint32_t i) {
    return s->world->agents.phase[i] == TH_PHASE_WALKING && s->room[i] > 0 &&
           th_mind_target_of(s, i) >= 0;
}

// All agents whose turn it is keep their aim,
TH_BOTH static inline void th_mind_go_on(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    s->mind->next_aim[k] = s->aim[i];
    if (th_mind_can_decide(s, i)) th_mind_note_jam(s, i, (int)s->room[i] - 1);
}

// and some of those that mind others change it.
TH_BOTH static inline void th_mind_reconsider(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k], leader = s->mind->leader[k];
    int room = (int)s->room[i] - 1, target = th_mind_target_of(s, i);
    bool led = th_mind_leaders_of(s, i) >= 0 && leader != UINT32_MAX;
    if (!th_mind_can_decide(s, i) || !(s->aim[i] == 0 || th_mind_thinks(s, i) || led)) return;
    int place = th_mind_think(s, i, room, target, leader);
    s->mind->next_aim[k] = th_mind_aim_of_place(s, room, place);
}

// The k-th of those whose turn it is. Everything of the others is as it was before the loop; the ways of what it believes are
// at hand.
TH_BOTH static inline void th_mind_decide(const th_mind_step *s, int k) {
    th_mind_go_on(s, k);
    th_mind_reconsider(s, k);
}
#endif
