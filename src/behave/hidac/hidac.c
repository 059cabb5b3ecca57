// HiDAC, the high level: rooms, knowledge, talk, impatience, panic. A person looks around five times and thinks once a
// second, people in turns, so a step costs a fraction of the crowd. Everything that others see (aim, nature, memory) changes
// between loops only: the result does not depend on the number of threads. Cost per thought: the places of the room, the
// people within range; of those who explore also the rooms they know. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/step.h"
#include "core/parallel.h"
#include "space/distance_grid.h"
#include <math.h>
#include <string.h>

static const double LOOK = 0.2; // [s] between two looks
static const float SLOW = 0.3f; // share of the preferred speed: less is standing in a jam
static const float JAM = 15.0f; // [m] from the place
static const float KEEP = 0.9f; // a way is changed for one that is a tenth shorter
enum { ROOMS_SEARCHED = 4096 };

static th_mind_step begin(th_world *world, int model) {
    th_mind_step s = {.world = world, .mind = th_model_state(world, model)};
    s.walls = th_world_walls(world);
    uint32_t **words[] = {&s.slot, &s.room, &s.aim, &s.entered, &s.nature, &s.entrance, &s.follows};
    for (int k = 0; k < 7; ++k) *words[k] = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_SLOT + k);
    float **floats[] = {&s.jammed, &s.changed, &s.panic, &s.remaining, &s.waited, &s.called};
    for (int k = 0; k < 6; ++k)
        *floats[k] = th_own_floats(world, TH_BEHAVE_HIDAC, TH_MIND_JAMMED + k);
    double period = LOOK / (double)world->dt;
    s.period = period < 1.0 ? 1 : (uint64_t)(period + 0.5);
    s.interval = (float)s.period * world->dt;
    return s;
}

// ---- new people

static uint32_t draw_nature(const th_mind_params *p, uint64_t seed, uint32_t id) {
    th_random4 r = th_philox(seed, TH_STREAM_HIDAC_MIND, id, 0);
    th_random4 more = th_philox(seed, TH_STREAM_HIDAC_MIND, id, 1);
    float trained = th_uniform(r.v[0]), knowledge = th_uniform(r.v[1]), temper = th_uniform(r.v[2]);
    uint32_t nature = 0;
    if (trained < p->trained) nature |= TH_MIND_TRAINED;
    if (knowledge < p->knows_all)
        nature |= TH_MIND_KNOWS_ALL;
    else if (knowledge < p->knows_all + p->knows_way_in)
        nature |= TH_MIND_KNOWS_WAY_IN;
    // Outgoing people walk after others less.
    if (th_uniform(more.v[0]) < p->followers * (1.0f - 0.5f * p->extraversion))
        nature |= TH_MIND_FOLLOWER;
    if (temper < p->anxious)
        nature |= TH_MIND_ANXIOUS;
    else if (temper < p->anxious + p->polite)
        nature |= TH_MIND_POLITE;
    else if (temper < p->anxious + p->polite + p->impatient)
        nature |= TH_MIND_IMPATIENT;
    return nature;
}

// The first exit named is the entrance that people came by.
static void welcome(th_mind_step *s) {
    const th_agents *a = &s->world->agents;
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        if (s->slot[i] > 0 || !th_mind_is_own(s, i)) continue;
        s->slot[i] = (uint32_t)(th_mind_take_slot(s->world, s->mind) + 1);
        s->nature[i] = draw_nature(th_mind_params_of(s, i), s->world->seed, a->id[i]);
        s->entrance[i] = (uint32_t)(s->world->scene->groups[a->group[i]].entrance + 1);
    }
}

// ---- looking: the room, doors that are shut or open

static void enter_room(const th_mind_step *s, uint32_t i, int room) {
    uint32_t before = s->room[i], aim = s->aim[i];
    if (before == (uint32_t)room + 1) return;
    s->entered[i] = 0;
    if (aim > 0 && aim <= (uint32_t)s->mind->rooms->portal_count) {
        const th_room_portal *portal = &s->mind->rooms->portals[aim - 1];
        if (portal->rooms[0] == room || portal->rooms[1] == room) s->entered[i] = aim;
    }
    s->room[i] = (uint32_t)room + 1;
    s->aim[i] = 0;
    s->jammed[i] = 0.0f;
}

static void look_at_doors(const th_mind_step *s, uint32_t i, int room) {
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
        th_set_bit(th_mind_memory_of(s, i), portal->index, s->world->door_closed[portal->index]);
    }
}

static void look(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    int room = th_rooms_at(s->mind->rooms, (int)a->level[i], th_position(a, i));
    if (room < 0) return;
    enter_room(s, i, room);
    th_set_bit(th_mind_rooms_seen(s, i), room, true);
    if (s->world->scene->door_count > 0) look_at_doors(s, i, room);
}

// ---- choosing

// Distance to a place of the room: straight, or at least what the walls make it from where one came in.
static float place_distance(const th_mind_step *s, uint32_t i, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    th_vec2 p = th_position(&s->world->agents, i);
    float straight = th_length(th_sub(th_rooms_place_point(s->mind->rooms, here, place, p), p));
    if (s->entered[i] == 0) return straight;
    int from = th_room_place(s->mind->rooms, room, (int)s->entered[i] - 1);
    if (from < 0) return straight;
    const th_room_portal *portal = &s->mind->rooms->portals[s->entered[i] - 1];
    th_vec2 middle = th_scale(0.5f, th_add(portal->a, portal->b));
    float inside = here->distances[from * (here->portal_count + here->goal_count) + place] -
                   th_length(th_sub(middle, p));
    return th_max(straight, inside);
}

typedef struct choice {
    int place; // of the room; -1: none
    float distance, beyond;
} choice;

static float total(choice c) { return c.place < 0 ? INFINITY : c.distance + c.beyond; }

static bool in_target(const th_scene *scene, int target, int goal) {
    for (int k = 0; k < scene->targets[target].goal_count; ++k)
        if (scene->targets[target].goals[k] == goal) return true;
    return false;
}

// What a place of the room is worth to somebody: `ways` of what it knows, NULL for who explores.
static choice value_of(const th_mind_step *s, uint32_t i, int room, int place, int target,
                       const float *ways) {
    const th_rooms *rooms = s->mind->rooms;
    const th_room *here = &rooms->rooms[room];
    choice c = {place, 0.0f, 0.0f};
    if (place >= here->portal_count) {
        // Who keeps to the way it came by passes other exits.
        int goal = here->goals[place - here->portal_count];
        bool familiar = !ways || th_mind_knows(s->nature[i]) || goal == (int)s->entrance[i] - 1;
        if (!familiar || !in_target(s->world->scene, target, goal)) c.place = -1;
    } else {
        int portal = here->portals[place], side = th_portal_side(&rooms->portals[portal], room);
        int next = rooms->portals[portal].rooms[1 - side];
        bool shut = rooms->portals[portal].kind == TH_PORTAL_DOOR &&
                    th_bit(th_mind_memory_of(s, i), rooms->portals[portal].index);
        if (shut || (!ways && th_bit(th_mind_rooms_seen(s, i), next))) c.place = -1;
        if (ways) c.beyond = ways[2 * portal + 1 - side];
    }
    if (c.place >= 0) c.distance = place_distance(s, i, room, place);
    return c;
}

// Unknown ways look alike: everybody has an own idea of which is the better one, by a third.
static float guess(const th_mind_step *s, uint32_t i, int room, int place) {
    uint32_t id = s->world->agents.id[i];
    th_random4 r = th_philox(s->world->seed, TH_STREAM_HIDAC_MIND, id,
                             16 + 4096 * (uint64_t)room + (uint64_t)place);
    return 0.67f + 0.66f * th_uniform(r.v[0]);
}

// The first portal on the shortest way, counted in rooms, to a known room with an unknown one beside it; -1: none.
static int toward_unknown(const th_mind_step *s, uint32_t i, int room) {
    const th_rooms *rooms = s->mind->rooms;
    const uint32_t *seen = th_mind_rooms_seen(s, i), *shut = th_mind_memory_of(s, i);
    int queue[ROOMS_SEARCHED / 8], first[ROOMS_SEARCHED / 8], count = 1;
    uint32_t reached[ROOMS_SEARCHED / 32] = {0};
    if (rooms->room_count > ROOMS_SEARCHED) return -1;
    queue[0] = room;
    first[0] = -1;
    th_set_bit(reached, room, true);
    for (int at = 0; at < count; ++at) {
        const th_room *here = &rooms->rooms[queue[at]];
        for (int k = 0; k < here->portal_count; ++k) {
            int portal = here->portals[k];
            const th_room_portal *p = &rooms->portals[portal];
            int next = p->rooms[1 - th_portal_side(p, queue[at])];
            if (p->kind == TH_PORTAL_DOOR && th_bit(shut, p->index)) continue;
            if (!th_bit(seen, next)) return at == 0 ? portal : first[at];
            if (th_bit(reached, next) || count == ROOMS_SEARCHED / 8) continue;
            th_set_bit(reached, next, true);
            queue[count] = next;
            first[count++] = at == 0 ? portal : first[at];
        }
    }
    return -1;
}

static int explore(const th_mind_step *s, uint32_t i, int room, int target) {
    const th_room *here = &s->mind->rooms->rooms[room];
    int best = -1;
    float least = INFINITY;
    for (int place = 0; place < here->portal_count + here->goal_count; ++place) {
        choice c = value_of(s, i, room, place, target, NULL);
        if (c.place < 0) continue;
        // A goal in sight ends the search.
        float cost =
            place >= here->portal_count ? c.distance - 1e6f : c.distance * guess(s, i, room, place);
        if (cost < least) {
            least = cost;
            best = place;
        }
    }
    if (best >= 0) return best;
    int portal = toward_unknown(s, i, room);
    if (portal >= 0) return th_room_place(s->mind->rooms, room, portal);
    // All is seen and nothing found: doors may have opened since, so begin anew.
    memset(th_mind_memory_of(s, i), 0, (size_t)s->mind->words * sizeof(uint32_t));
    th_set_bit(th_mind_rooms_seen(s, i), room, true);
    return -1;
}

static choice best_known(const th_mind_step *s, uint32_t i, int room, int target,
                         const float *ways) {
    const th_room *here = &s->mind->rooms->rooms[room];
    choice best = {-1, 0.0f, 0.0f};
    for (int place = 0; place < here->portal_count + here->goal_count; ++place) {
        choice c = value_of(s, i, room, place, target, ways);
        if (total(c) < total(best)) best = c;
    }
    return best;
}

// Which place of the room an aim means; -1: none of them.
static int place_of_aim(const th_mind_step *s, int room, uint32_t aim) {
    const th_rooms *rooms = s->mind->rooms;
    const th_room *here = &rooms->rooms[room];
    if (aim == 0) return -1;
    if (aim <= (uint32_t)rooms->portal_count) return th_room_place(rooms, room, (int)aim - 1);
    int goal = (int)aim - 1 - rooms->portal_count;
    for (int k = 0; k < here->goal_count; ++k)
        if (here->goals[k] == goal) return here->portal_count + k;
    return -1;
}

static uint32_t aim_of_place(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    if (place < 0) return 0;
    if (place < here->portal_count) return (uint32_t)here->portals[place] + 1;
    return (uint32_t)(s->mind->rooms->portal_count + here->goals[place - here->portal_count]) + 1;
}

// ---- impatience

static int *queue_before(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    int at;
    if (place < here->portal_count) {
        int portal = here->portals[place];
        at = 2 * portal + th_portal_side(&s->mind->rooms->portals[portal], room);
    } else {
        at = 2 * s->mind->rooms->portal_count + here->goals[place - here->portal_count];
    }
    return s->mind->queue + (size_t)at * TH_MIND_BINS;
}

static int bin_of(float distance) {
    return distance < (float)TH_MIND_BINS - 1.0f ? (int)distance : TH_MIND_BINS - 1;
}

static float place_width(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    if (place < here->portal_count) return s->mind->rooms->portals[here->portals[place]].width;
    const th_goal *goal = &s->world->scene->goals[here->goals[place - here->portal_count]];
    return goal->is_line ? th_length(th_sub(goal->line.b, goal->line.a))
                         : sqrtf((float)goal->area.shape.area);
}

static float time_by(const th_mind_step *s, uint32_t i, int room, choice c) {
    const int *queue = queue_before(s, room, c.place);
    int ahead = 0;
    for (int k = 0; k < bin_of(c.distance); ++k) ahead += queue[k];
    return th_mind_time(c.distance, c.beyond, s->world->agents.speed[i], ahead,
                        place_width(s, room, c.place));
}

// Somebody who has stood too long before a place: another one, if it is quicker as far as one can see.
static int leave_jam(const th_mind_step *s, uint32_t i, int room, int target, const float *ways,
                     int place) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_room *here = &s->mind->rooms->rooms[room];
    th_temper temper = th_temper_of(p, s->nature[i]);
    float impatience = th_mind_impatience(p, &temper, (s->nature[i] & TH_MIND_PANICS) != 0);
    if (s->jammed[i] <= th_mind_patience(p, impatience) || s->changed[i] > 0.0f) return place;
    choice now = value_of(s, i, room, place, target, ways);
    if (now.place < 0) return place;
    int best = place;
    float least = p->quicker * time_by(s, i, room, now);
    for (int k = 0; k < here->portal_count + here->goal_count; ++k) {
        choice c = value_of(s, i, room, k, target, ways);
        if (k == place || c.place < 0 || !(c.beyond < INFINITY)) continue;
        float time = time_by(s, i, room, c);
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

static const uint32_t no_doors[TH_MIND_DOOR_WORDS]; // all open

static int row_of(const th_mind_step *s, uint32_t i, int target) {
    if (th_mind_knows(s->nature[i])) return target;
    bool way_in = (s->nature[i] & TH_MIND_KNOWS_WAY_IN) && s->entrance[i] > 0;
    return way_in ? s->world->scene->target_count + (int)s->entrance[i] - 1 : -1;
}

// Who sees no way goes to where there would be one and looks, since doors open again. From one shut door it goes to the
// next; where all are in sight it stays.
static int check_doors(const th_mind_step *s, uint32_t i, int room, int target, int row,
                       int place) {
    s->nature[i] &= ~(uint32_t)TH_MIND_KNOWS_WAY_IN;
    memset(th_mind_memory_of(s, i), 0, (size_t)s->mind->door_words * sizeof(uint32_t));
    look_at_doors(s, i, room);
    const float *ways = th_mind_known_ways(s->world, s->mind, no_doors, row);
    if (!ways) return place;
    choice best = best_known(s, i, room, target, ways);
    return total(best) < INFINITY ? best.place : place;
}

// Who follows a leader goes where it goes, and over the portal by which it left the room; exits of others are passed.
// Returns the place of the room, -1: none.
static int follow(const th_mind_step *s, uint32_t i, int room, int target, uint32_t leader) {
    const th_room *here = &s->mind->rooms->rooms[room];
    uint32_t aim = leader != UINT32_MAX ? s->aim[leader] : s->follows[i] ? s->aim[i] : 0;
    int place = place_of_aim(s, room, aim);
    if (place < 0) return -1;
    if (place >= here->portal_count)
        return in_target(s->world->scene, target, here->goals[place - here->portal_count]) ? place
                                                                                           : -1;
    const th_room_portal *portal = &s->mind->rooms->portals[here->portals[place]];
    bool shut = portal->kind == TH_PORTAL_DOOR && th_bit(th_mind_memory_of(s, i), portal->index);
    return shut ? -1 : place;
}

static int think(const th_mind_step *s, uint32_t i, int room, int target, uint32_t leader) {
    int row = row_of(s, i, target), place = place_of_aim(s, room, s->aim[i]);
    if (th_mind_leaders_of(s, i) >= 0) {
        int theirs = follow(s, i, room, target, leader);
        if (theirs >= 0 || leader != UINT32_MAX) return theirs;
    }
    const float *ways =
        row >= 0 ? th_mind_known_ways(s->world, s->mind, th_mind_memory_of(s, i), row) : NULL;
    if (row >= 0 && !ways) return place; // too many different beliefs in one step: the next time
    if (row >= 0) {
        choice best = best_known(s, i, room, target, ways);
        if (!(total(best) < INFINITY)) return check_doors(s, i, room, target, row, place);
        choice now = place >= 0 ? value_of(s, i, room, place, target, ways) : best;
        bool keeps = place >= 0 && (KEEP * total(now) <= total(best) || s->changed[i] > 0.0f) &&
                     total(now) < INFINITY;
        s->remaining[i] = total(best);
        if (!keeps) place = best.place;
    } else if (leader != UINT32_MAX) {
        int theirs = place_of_aim(s, room, s->aim[leader]);
        if (theirs >= 0) place = theirs;
    }
    if (row < 0 && (place < 0 || value_of(s, i, room, place, target, NULL).place < 0))
        place = leader != UINT32_MAX && place >= 0 ? place : explore(s, i, room, target);
    return place >= 0 ? leave_jam(s, i, room, target, ways, place) : -1;
}

// ---- where to walk

static th_vec2 inset_point(const th_agents *a, uint32_t i, th_vec2 from, th_vec2 to, th_vec2 p) {
    th_vec2 along = th_sub(to, from);
    float length = th_length(along), own = th_uniform(a->id[i] * 2654435761u);
    if (length <= 0.0f) return from;
    th_vec2 cut = th_scale(th_min(a->radius[i] + own, 0.45f * length) / length, along);
    return th_nearest_on_segment(p, th_add(from, cut), th_sub(to, cut));
}

static void walk_to(const th_mind_step *s, uint32_t i, th_vec2 q, int level) {
    th_agents *a = &s->world->agents;
    a->goal_x[i] = q.x;
    a->goal_y[i] = q.y;
    a->goal_level[i] = (uint32_t)level;
}

// Over an exit's line, away from where one is.
static void walk_to_goal(const th_mind_step *s, uint32_t i, const th_goal *goal) {
    const th_agents *a = &s->world->agents;
    th_vec2 p = th_position(a, i);
    if (!goal->is_line) {
        const th_polygons *shape = &goal->area.shape;
        th_vec2 best = p;
        float least = INFINITY;
        for (int r = 0; r < shape->ring_count && !th_polygons_contain(shape, p); ++r) {
            int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
            for (int k = begin, j = end - 1; k < end; j = k++) {
                th_vec2 q = th_nearest_on_segment(p, shape->points[j], shape->points[k]);
                float distance2 = th_length2(th_sub(q, p));
                if (distance2 < least) {
                    least = distance2;
                    best = q;
                }
            }
        }
        th_vec2 in = th_scale(0.3f, th_unit(th_sub(best, p))); // over the edge
        walk_to(s, i, th_add(best, in), goal->area.level);
        return;
    }
    th_vec2 q = inset_point(a, i, goal->line.a, goal->line.b, p);
    th_vec2 normal = th_unit(th_perp_left(th_sub(goal->line.b, goal->line.a)));
    float side = th_dot(th_sub(p, goal->line.a), normal);
    walk_to(s, i, th_add(q, th_scale(side > 0.0f ? -0.5f : 0.5f, normal)), goal->line.level);
}

static void walk_on(const th_mind_step *s, uint32_t i, int room) {
    const th_rooms *rooms = s->mind->rooms;
    const th_agents *a = &s->world->agents;
    uint32_t aim = s->aim[i];
    if (aim == 0) {
        int target = th_mind_target_of(s, i);
        if (room < 0 && target >= 0)
            walk_to_goal(s, i, &s->world->scene->goals[s->world->scene->targets[target].goals[0]]);
        return;
    }
    if (aim > (uint32_t)rooms->portal_count) {
        walk_to_goal(s, i, &s->world->scene->goals[aim - 1 - (uint32_t)rooms->portal_count]);
        return;
    }
    const th_room_portal *portal = &rooms->portals[aim - 1];
    int side = th_portal_side(portal, room);
    th_vec2 q = inset_point(a, i, portal->a, portal->b, th_position(a, i));
    th_vec2 over = th_scale(side == 0 ? 1.0f : -1.0f, portal->over);
    // Before a shut door, whether one knows of it or not, one stands on this side.
    bool shut = portal->kind == TH_PORTAL_DOOR && s->world->door_closed[portal->index];
    float beyond = s->mind->beyond[2 * (aim - 1) + (uint32_t)(1 - side)];
    if (shut)
        walk_to(s, i, th_sub(q, th_scale(a->radius[i] + 0.1f, over)), portal->levels[side]);
    else
        walk_to(s, i, th_add(q, th_scale(beyond, over)), portal->levels[1 - side]);
}

// ---- leaders

static const float BESIDE = 2.0f; // [m] from the leader: goes on as it does

bool th_mind_is_ahead(const th_mind_step *s, uint32_t i, uint32_t j) {
    int room = (int)s->room[i] - 1, place = room < 0 ? -1 : place_of_aim(s, room, s->aim[i]);
    if (place < 0) return false;
    th_vec2 p = th_position(&s->world->agents, i), q = th_position(&s->world->agents, j);
    th_vec2 to = th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p);
    return th_length(th_sub(to, p)) < th_length(th_sub(to, q));
}

// Towards the leader in sight who is not near; who is ahead of it, or has no way of its own, stands. True: that is all.
static bool stay_with_leader(const th_mind_step *s, uint32_t i, int room, uint32_t leader) {
    const th_agents *a = &s->world->agents;
    if (leader == UINT32_MAX || th_mind_leaders_of(s, i) < 0) return false;
    th_vec2 p = th_position(a, i), q = th_position(a, leader);
    bool far = th_length(th_sub(q, p)) > BESIDE;
    if (!far && place_of_aim(s, room, s->aim[i]) >= 0) return false;
    walk_to(s, i, far && !th_mind_is_ahead(s, i, leader) ? q : p, (int)a->level[i]);
    return true;
}

// A leader whom a follower called a moment ago waits for it.
static bool wait_for_followers(const th_mind_step *s, uint32_t i) {
    if (s->called[i] <= 0.0f) return false;
    s->called[i] = th_max(s->called[i] - s->interval, 0.0f);
    if (s->waited[i] >= th_mind_params_of(s, i)->wait_longest) return false;
    s->waited[i] += s->interval;
    return true;
}

// ---- companions: by order of appearance, of one group

static uint32_t company_of(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    uint32_t size = (uint32_t)th_mind_params_of(s, i)->companions;
    if (size < 2) return UINT32_MAX;
    return 2 * ((a->id[i] - 1) / size % (uint32_t)s->mind->capacity) + (a->group[i] & 1);
}

static void gather_companies(const th_mind_step *s) {
    const th_agents *a = &s->world->agents;
    th_mind *m = s->mind;
    bool any = false;
    for (int g = 0; g < s->world->scene->group_count; ++g)
        any |=
            s->world->groups[g].behave == TH_BEHAVE_HIDAC &&
            ((const th_mind_params *)(const void *)s->world->groups[g].behave_params)->companions >=
                2.0f;
    if (!any) return;
    memset(m->first_id, 0, 2 * (size_t)m->capacity * sizeof *m->first_id);
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k, c = th_mind_is_own(s, i) ? company_of(s, i) : UINT32_MAX;
        if (c == UINT32_MAX || a->phase[i] != TH_PHASE_WALKING || s->slot[i] == 0) continue;
        bool first = m->first_id[c] == 0 || a->id[i] < m->first_id[c];
        m->farthest[c] =
            m->first_id[c] == 0 ? s->remaining[i] : th_max(m->farthest[c], s->remaining[i]);
        if (!first) continue;
        m->first_id[c] = a->id[i];
        m->first_aim[c] = s->aim[i];
        m->first_room[c] = s->room[i];
    }
}

// The first of a company leads it; who is ahead of the others waits. True: stands.
static bool keep_together(const th_mind_step *s, uint32_t i, int room) {
    const th_mind_params *p = th_mind_params_of(s, i);
    uint32_t c = company_of(s, i);
    if (c == UINT32_MAX || s->mind->first_id[c] == 0) return false;
    if (s->mind->first_id[c] != s->world->agents.id[i] && s->mind->first_room[c] == s->room[i]) {
        int place = place_of_aim(s, room, s->mind->first_aim[c]);
        if (place >= 0) s->aim[i] = aim_of_place(s, room, place);
    }
    bool ahead = s->mind->farthest[c] - s->remaining[i] > p->wait_distance;
    if (!ahead || s->waited[i] >= p->wait_longest) return false;
    s->waited[i] += s->interval;
    return true;
}

// ---- the step

static void count_queues(const th_mind_step *s) {
    const th_agents *a = &s->world->agents;
    memset(s->mind->queue, 0, (size_t)s->mind->place_count * TH_MIND_BINS * sizeof(int));
#pragma omp parallel for num_threads(s->world->threads) schedule(static)
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        if (!th_mind_is_own(s, i) || s->slot[i] == 0 || s->room[i] == 0) continue;
        int room = (int)s->room[i] - 1, place = place_of_aim(s, room, s->aim[i]);
        if (place < 0) continue;
        th_vec2 p = th_position(a, i);
        th_vec2 q = th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p);
        int *bin = queue_before(s, room, place) + bin_of(th_length(th_sub(q, p)));
#pragma omp atomic
        ++*bin;
    }
}

static void note_jam(const th_mind_step *s, uint32_t i, int room) {
    const th_agents *a = &s->world->agents;
    int place = place_of_aim(s, room, s->aim[i]);
    th_vec2 p = th_position(a, i);
    s->changed[i] = th_max(s->changed[i] - s->interval, 0.0f);
    bool near =
        place >= 0 &&
        th_length(th_sub(
            th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p), p)) < JAM;
    bool slow = th_length(th_velocity(a, i)) < SLOW * a->speed[i];
    s->jammed[i] = th_max(s->jammed[i] + (near && slow ? s->interval : -s->interval), 0.0f);
}

static bool is_new(const th_mind_step *s) {
    int fresh = 0;
#pragma omp parallel for num_threads(s->world->threads) schedule(static) reduction(+ : fresh)
    for (int k = 0; k < s->world->agents.count; ++k)
        fresh += s->slot[k] == 0 && th_mind_is_own(s, (uint32_t)k);
    return fresh > 0;
}

// Those whose turn it is to look, and all who have nowhere to go yet.
static int list_due(const th_mind_step *s) {
    const th_agents *a = &s->world->agents;
    int count = 0;
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        if (!th_mind_is_own(s, i) || s->slot[i] == 0) continue;
        bool turn = (a->id[i] + s->world->step_count) % s->period == 0;
        if (turn || (s->aim[i] == 0 && a->phase[i] == TH_PHASE_WALKING)) s->mind->due[count++] = i;
    }
    return count;
}

// Ways for everything that those on the list believe; the set of the last one is likely that of the next.
static void prepare_ways(const th_mind_step *s, int count) {
    const uint32_t *last = NULL;
    size_t bytes = (size_t)s->mind->door_words * sizeof(uint32_t);
    th_mind_ways(s->world, s->mind, no_doors, 0);
    for (int k = 0; k < count; ++k) {
        const uint32_t *shut = th_mind_memory_of(s, s->mind->due[k]);
        if (last && memcmp(last, shut, bytes) == 0) continue;
        th_mind_ways(s->world, s->mind, shut, 0);
        last = shut;
    }
}

static void tell_move_model(const th_mind_step *s, uint32_t i) {
    float *panic = s->mind->move_panic >= 0
                       ? th_model_field(s->world, TH_MOVE_HIDAC, s->mind->move_panic)
                       : NULL;
    uint32_t *manners = s->mind->move_manners >= 0
                            ? th_model_field(s->world, TH_MOVE_HIDAC, s->mind->move_manners)
                            : NULL;
    if (panic) panic[i] = s->nature[i] & TH_MIND_PANICS ? 1.0f : 0.0f;
    if (manners)
        manners[i] = s->nature[i] & TH_MIND_POLITE ? 1 : s->nature[i] & TH_MIND_IMPATIENT ? 2 : 0;
}

// Everything of the others is as it was before the loop.
static void decide(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    const th_agents *a = &s->world->agents;
    int room = (int)s->room[i] - 1, target = th_mind_target_of(s, i);
    s->mind->next_aim[k] = s->aim[i];
    if (a->phase[i] != TH_PHASE_WALKING || room < 0 || target < 0) return;
    note_jam(s, i, room);
    bool led = th_mind_leaders_of(s, i) >= 0 && s->mind->leader[k] != UINT32_MAX;
    if (s->aim[i] != 0 && !th_mind_thinks(s, i) && !led) return;
    s->mind->next_aim[k] = aim_of_place(s, room, think(s, i, room, target, s->mind->leader[k]));
}

static void commit(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    const th_agents *a = &s->world->agents;
    s->aim[i] = s->mind->next_aim[k];
    th_mind_panic_or_calm(s, i);
    tell_move_model(s, i);
    if (a->phase[i] != TH_PHASE_WALKING || th_mind_target_of(s, i) < 0) return;
    int room = (int)s->room[i] - 1;
    if (room >= 0 && stay_with_leader(s, i, room, s->mind->leader[k])) return;
    if (room >= 0 && (keep_together(s, i, room) || wait_for_followers(s, i)))
        walk_to(s, i, th_position(a, i), (int)a->level[i]);
    else
        walk_on(s, i, room);
}

#define TH_EACH_DUE(call)                                                                       \
    _Pragma(                                                                                    \
        "omp parallel for num_threads(s.world->threads) schedule(dynamic, 64)") for (int k = 0; \
                                                                                     k < count; \
                                                                                     ++k) call

static void run(th_world *world, int model) {
    th_mind_step s = begin(world, model);
    if (is_new(&s)) welcome(&s);
    if (world->step_count % s.period == 0) {
        count_queues(&s);
        gather_companies(&s);
    }
    int count = list_due(&s);
    TH_EACH_DUE(look(&s, s.mind->due[k]));
    TH_EACH_DUE(th_mind_listen(&s, k));
    TH_EACH_DUE(th_mind_remember(&s, k));
    prepare_ways(&s, count);
    TH_EACH_DUE(decide(&s, k));
    TH_EACH_DUE(commit(&s, k));
}

static const char *check(const float *values, int *param) {
    const th_mind_params *p = (const th_mind_params *)(const void *)values;
    if (p->knows_all + p->knows_way_in > 1.00001f) {
        *param = (int)(&p->knows_way_in - values);
        return "together with knows_all more than 1; the shares of a group add up to at most 1";
    }
    if (p->anxious + p->polite + p->impatient > 1.00001f) {
        *param = (int)(&p->impatient - values);
        return "anxious, polite and impatient are more than 1 together; give shares that add up to "
               "at most 1";
    }
    return NULL;
}

static const th_field_info fields[TH_MIND_FIELDS] = {
    [TH_MIND_SLOT] = {"slot", false, false, "1 + place of its memory"},
    [TH_MIND_ROOM] = {"room", false, true, "1 + room, 0: none"},
    [TH_MIND_AIM] = {"aim", false, true, "1 + portal, or 1 + number of portals + goal; 0: none"},
    [TH_MIND_ENTERED] = {"entered", false, true, "1 + portal by which it came into the room"},
    [TH_MIND_NATURE] =
        {"nature", false, true,
         "bits: 1 knows all, 2 way in, 4 trained, 8 follower, 16 anxious, 32 polite, "
         "64 impatient, 128 in panic, 256 heard the alarm, 512 was told the way"},
    [TH_MIND_ENTRANCE] = {"entrance", false, true, "1 + exit by which it came in"},
    [TH_MIND_FOLLOWS] = {"follows", false, true, "id of the leader whom it follows"},
    [TH_MIND_JAMMED] = {"jammed", true, true, "time in the jam before its aim [s]"},
    [TH_MIND_CHANGED] = {"changed", true, true, "time until it may change its mind again [s]"},
    [TH_MIND_PANIC] = {"panic", true, true, "level, 0 to 1"},
    [TH_MIND_REMAINING] = {"remaining", true, true, "way left as far as it knows [m]"},
    [TH_MIND_WAITED] = {"waited", true, true, "for companions and followers [s]"},
    [TH_MIND_CALLED] = {"called", true, true, "left of a follower's call to wait [s]"},
};
static const th_param_info params[] = {TH_MIND_PARAMS(TH_PARAM_INFO)};
const th_model th_behave_hidac_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_BEHAVE,
    .name = "hidac",
    .doc = "rooms, what people know of them, talk, impatience, panic",
    .source = TH_PB06,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_MIND_FIELDS,
    .run = run,
    .create = th_mind_create,
    .destroy = th_mind_destroy,
    .saved_size = th_mind_saved_size,
    .save = th_mind_save,
    .saved_is_sound = th_mind_saved_is_sound,
    .restore = th_mind_restore,
    .fields_are_sound = th_mind_fields_are_sound,
    .follows_route = true,
    .leads = true,
    .follows_leaders = true,
    .host_only = true,
    .check = check,
};
