// The behaviour hidac: from an agent's aim to the point it walks to; leaders and companions.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_WALK_H
#define TH_BEHAVE_HIDAC_WALK_H
#include "behave/hidac/others.h"

// ---- where to walk

// The nearest point of a line, at least `inset` off its ends.
TH_BOTH static inline th_vec2 th_mind_inset_point(th_vec2 from, th_vec2 to, th_vec2 p,
                                                  float inset) {
    th_vec2 along = th_sub(to, from);
    float length = th_length(along);
    if (length <= 0.0f) return from;
    th_vec2 cut = th_scale(th_min(inset, 0.45f * length) / length, along);
    return th_nearest_on_segment(p, th_add(from, cut), th_sub(to, cut));
}

// Distance that an agent keeps from the ends of a line, drawn for each.
TH_BOTH static inline float th_mind_inset(const th_agents *a, uint32_t i) {
    return a->radius[i] + th_uniform(a->id[i] * 2654435761u);
}

TH_BOTH static inline void th_mind_walk_to(const th_mind_step *s, uint32_t i, th_vec2 q,
                                           int level) {
    th_agents *a = &s->world->agents;
    a->goal_x[i] = q.x;
    a->goal_y[i] = q.y;
    a->goal_level[i] = (uint32_t)level;
}

// Straight over an exit's line at its nearest point. There is no ground behind the line, so no way leads there: where
// walls hide the line, walks to a point before it from which it is visible.
TH_BOTH static inline void th_mind_walk_to_goal(const th_mind_step *s, uint32_t i,
                                                const th_goal *goal) {
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
        th_mind_walk_to(s, i, th_add(best, in), goal->area.level);
        return;
    }
    th_vec2 normal = th_unit(th_perp_left(th_sub(goal->line.b, goal->line.a)));
    th_vec2 over = th_scale(th_dot(th_sub(p, goal->line.a), normal) > 0.0f ? -1.0f : 1.0f, normal);
    // Where a wall ends on the exit, only a part of it may be in sight: nearer to its ends, too.
    const float insets[] = {th_mind_inset(a, i), a->radius[i], 0.0f};
    for (int k = 0; k < 3 && (int)a->level[i] == goal->line.level; ++k) {
        th_vec2 q = th_mind_inset_point(goal->line.a, goal->line.b, p, insets[k]),
                to = th_sub(q, p);
        th_vec2 on = th_length2(to) > 0.01f ? th_unit(to) : over;
        th_vec2 beyond = th_add(q, th_scale(0.5f, on));
        if (th_walls_first_crossing(&s->walls, goal->line.level, p, beyond, NULL) >= 0) continue;
        th_mind_walk_to(s, i, beyond, goal->line.level);
        return;
    }
    th_vec2 q = th_mind_inset_point(goal->line.a, goal->line.b, p, insets[0]);
    th_mind_walk_to(s, i, th_sub(q, th_scale(0.3f, over)), goal->line.level);
}

TH_BOTH static inline void th_mind_walk_on(const th_mind_step *s, uint32_t i, int room) {
    const th_rooms *rooms = s->mind->rooms;
    const th_agents *a = &s->world->agents;
    uint32_t aim = s->aim[i];
    if (aim == 0) {
        int target = th_mind_target_of(s, i);
        if (room < 0 && target >= 0)
            th_mind_walk_to_goal(
                s, i, &s->world->scene->goals[s->world->scene->targets[target].goals[0]]);
        return;
    }
    if (aim > (uint32_t)rooms->portal_count) {
        th_mind_walk_to_goal(s, i,
                             &s->world->scene->goals[aim - 1 - (uint32_t)rooms->portal_count]);
        return;
    }
    const th_room_portal *portal = &rooms->portals[aim - 1];
    int side = th_side_of_portal(portal, room);
    th_vec2 q = th_mind_inset_point(portal->a, portal->b, th_position(a, i), th_mind_inset(a, i));
    th_vec2 over = th_scale(side == 0 ? 1.0f : -1.0f, portal->over);
    // Agents wait on this side of a shut door, whether they know that it is shut or not.
    bool shut = portal->kind == TH_PORTAL_DOOR && s->world->door_closed[portal->index];
    float beyond = s->mind->beyond[2 * (aim - 1) + (uint32_t)(1 - side)];
    // Approach portals through a waypoint in front of them: the jamb hides what lies behind.
    th_vec2 off = th_sub(q, th_position(a, i));
    float before = th_dot(off, over), beside = fabsf(th_det(off, over));
    bool hidden = portal->levels[0] == portal->levels[1] && before > 0.0f &&
                  beside * beyond > a->radius[i] * (before + beyond);
    if (shut || hidden)
        th_mind_walk_to(s, i, th_sub(q, th_scale(a->radius[i] + 0.1f, over)), portal->levels[side]);
    else
        th_mind_walk_to(s, i, th_add(q, th_scale(beyond, over)), portal->levels[1 - side]);
}

// ---- leaders

#define TH_MIND_BESIDE 2.0f // [m] from the leader: goes on as it does

// Walks towards a leader in sight that is not near; stands when ahead of it or without a way of its own. True: done.
TH_BOTH static inline bool th_mind_stay_with_leader(const th_mind_step *s, uint32_t i, int room,
                                                    uint32_t leader) {
    const th_agents *a = &s->world->agents;
    if (leader == UINT32_MAX || th_mind_leaders_of(s, i) < 0) return false;
    th_vec2 p = th_position(a, i), q = th_position(a, leader);
    bool far = th_length(th_sub(q, p)) > TH_MIND_BESIDE;
    if (!far && th_mind_place_of_aim(s, room, s->aim[i]) >= 0) return false;
    th_mind_walk_to(s, i, far && !th_mind_is_ahead(s, i, leader) ? q : p, (int)a->level[i]);
    return true;
}

// A leader whom a follower called a moment ago waits for it.
TH_BOTH static inline bool th_mind_wait_for_followers(const th_mind_step *s, uint32_t i) {
    if (s->called[i] <= 0.0f) return false;
    s->called[i] = th_max(s->called[i] - s->interval, 0.0f);
    if (s->waited[i] >= th_mind_params_of(s, i)->wait_longest) return false;
    s->waited[i] += s->interval;
    return true;
}

// ---- companions: by order of appearance, of one group

// The company that an agent belongs to; NULL: walks alone.
TH_BOTH static inline th_company *th_mind_company_of(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    int begin = s->mind->company_begin[a->group[i]];
    uint32_t size = (uint32_t)th_mind_params_of(s, i)->companions;
    if (begin < 0 || size < 2) return NULL;
    return s->mind->companies + begin + (a->id[i] - 1) / size % (uint32_t)s->mind->capacity;
}

// The company in which an agent counts at this moment; NULL: none.
TH_BOTH static inline th_company *th_mind_company_joined(const th_mind_step *s, uint32_t i) {
    if (!th_mind_is_own(s, i) || s->world->agents.phase[i] != TH_PHASE_WALKING || s->slot[i] == 0)
        return NULL;
    return th_mind_company_of(s, i);
}

// The member with the smallest claim leads.
TH_BOTH static inline uint32_t th_mind_claim(const th_mind_step *s, uint32_t i) {
    return s->world->agents.id[i] + (th_mind_knows_way(s->nature[i]) ? 0 : TH_MIND_UNSURE);
}
TH_BOTH static inline bool th_mind_leads_company(const th_mind_step *s, const th_company *c,
                                                 uint32_t i) {
    return (c->leader & ~TH_MIND_UNSURE) == s->world->agents.id[i];
}

// Did the agent come with the leader, or is its number only as far from the leader's as there are companies?
TH_BOTH static inline bool th_mind_came_with(const th_mind_step *s, const th_company *c,
                                             uint32_t i) {
    uint32_t size = (uint32_t)th_mind_params_of(s, i)->companions,
             leader = c->leader & ~TH_MIND_UNSURE;
    return c->leader != UINT32_MAX && (s->world->agents.id[i] - 1) / size == (leader - 1) / size;
}

// Takes the company's aim from its leader.
TH_BOTH static inline void th_mind_lead_company(const th_mind_step *s, th_company *c, uint32_t i) {
    int room = (int)s->room[i] - 1,
        place = room < 0 ? -1 : th_mind_place_of_aim(s, room, s->aim[i]);
    th_vec2 p = th_position(&s->world->agents, i);
    c->aim = s->aim[i];
    c->room = s->room[i];
    c->entered = s->entered[i];
    c->goal = place < 0
                  ? p
                  : th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p);
}

// Length of the way left to an agent, as its company counts it [m].
TH_BOTH static inline float th_mind_way_in_company(const th_mind_step *s, const th_company *c,
                                                   uint32_t i) {
    return c->unsure ? th_length(th_sub(c->goal, th_position(&s->world->agents, i)))
                     : s->remaining[i];
}

// All members go where the leader goes, through the portal by which it left a room; members ahead of the others wait.
// True: stands.
TH_BOTH static inline bool th_mind_keep_together(const th_mind_step *s, uint32_t i, int room) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_company *c = th_mind_company_of(s, i);
    if (!c || !th_mind_came_with(s, c, i)) return false;
    if (!th_mind_leads_company(s, c, i)) {
        uint32_t aim = c->room == s->room[i] ? c->aim : c->entered;
        int place = th_mind_place_of_aim(s, room, aim);
        if (place >= 0 && th_mind_may_go_to(s, i, room, place, th_mind_target_of(s, i)))
            s->aim[i] = aim;
    }
    bool ahead = c->farthest - th_mind_way_in_company(s, c, i) > p->wait_distance;
    if (!ahead || s->waited[i] >= p->wait_longest) return false;
    s->waited[i] += s->interval;
    return true;
}

// ---- the end of a turn

TH_BOTH static inline void th_mind_tell_move_model(const th_mind_step *s, uint32_t i) {
    const int *used = s->mind->used;
    if (used[TH_MIND_USES_PANIC] < 0) return;
    float *panic = &th_used_floats(s->world, used[TH_MIND_USES_PANIC])[i];
    th_temper temper = th_temper_of(th_mind_params_of(s, i), s->nature[i]);
    if (*panic <= 1.0f) *panic = s->nature[i] & TH_MIND_PANICS ? 1.0f : 0.0f; // 2: for good
    th_used_words(s->world, used[TH_MIND_USES_MANNERS])[i] = th_mind_manners(&temper);
}

// In panic an agent gives up detours.
TH_BOTH static inline void th_mind_leave_detour(const th_mind_step *s, uint32_t i) {
    th_agents *a = &s->world->agents;
    if (th_detour_of(a->leg[i]) == 0 || !(s->nature[i] & TH_MIND_PANICS)) return;
    a->leg[i] = th_leg_of(a->leg[i]);
    a->phase[i] = TH_PHASE_WALKING;
}

// Does the person take all doors for what they are?
TH_BOTH static inline bool th_mind_knows_doors(const th_mind_step *s, uint32_t i) {
    const uint32_t *shut = th_mind_memory_of(s, i);
    for (int d = 0; d < s->world->scene->door_count; ++d)
        if (th_bit(shut, d) != (s->world->door_closed[d] != 0)) return false;
    return true;
}

// Is the planner to lead the person to its leg? It leads agents that know the whole way, follow no leader, and have not just
// turned away from a jam; the others walk to the portal that they chose.
TH_BOTH static inline bool th_mind_is_planned(const th_mind_step *s, uint32_t i) {
    return th_mind_knows(s->nature[i]) && s->changed[i] <= 0.0f && th_mind_leaders_of(s, i) < 0 &&
           th_mind_knows_doors(s, i);
}

// The k-th of those whose turn it is does what it decided.
TH_BOTH static inline void th_mind_commit(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    const th_agents *a = &s->world->agents;
    s->aim[i] = s->mind->next_aim[k];
    th_mind_panic_or_calm(s, i);
    th_mind_tell_move_model(s, i);
    th_mind_leave_detour(s, i);
    if (a->phase[i] != TH_PHASE_WALKING || th_mind_target_of(s, i) < 0) return;
    int room = (int)s->room[i] - 1;
    s->planned[i] = 0;
    if (room >= 0 && th_mind_stay_with_leader(s, i, room, s->mind->leader[k])) return;
    if (room >= 0 && (th_mind_keep_together(s, i, room) || th_mind_wait_for_followers(s, i)))
        th_mind_walk_to(s, i, th_position(a, i), (int)a->level[i]);
    else {
        s->planned[i] = th_mind_is_planned(s, i);
        th_mind_walk_on(s, i, room);
    }
}
#endif
