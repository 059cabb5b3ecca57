// Routes: setting off, reaching goals, waiting, leaving. O(agents) per step; a route leg's goals are tested one by one,
// for agents near a goal. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_ROUTE_ROUTE_H
#define TH_BEHAVE_ROUTE_ROUTE_H
#include "formula/segment.h"
#include "scene/wall_chains.h"
#include "space/walls.h"
#include "state/world.h"

static const float TH_ASKS = -1.0f; // `wait_until` of a person that asks to be let in
static const float TH_ASKS_AGAIN =
    0.5f; // [s] how far ahead and how often people look whether there is room

TH_BOTH static inline void th_route_behave(th_world *world, int i) {
    th_agents *agents = &world->agents;
    uint32_t phase = agents->phase[i];
    if (phase != TH_PHASE_STANDING && phase != TH_PHASE_WAITING) return;
    if (!world->groups[agents->group[i]].follows_route) return;
    if ((float)world->time < agents->wait_until[i]) return;
    if (th_detour_of(agents->leg[i]) > 0) return; // its behaviour knows when to go on
    const th_group *group = &world->scene->groups[agents->group[i]];
    if (phase == TH_PHASE_WAITING) agents->leg[i]++;
    bool on_the_way =
        agents->leg[i] < (uint32_t)group->route_count || group->own_goal != TH_OWN_GOAL_NONE;
    agents->phase[i] = on_the_way ? TH_PHASE_WALKING : TH_PHASE_ARRIVED;
}

// An exit's line counts up to the walls beside it: what is left of a wall for less than TH_OPENING_REACH beside
// an opening is not built, and no agent may slip out there uncounted.
TH_BOTH static inline bool th_route_line_crossed(const th_goal *goal, th_vec2 p, th_vec2 q) {
    th_vec2 a = goal->line.a, b = goal->line.b;
    if (!th_boxes_touch(p, q, a, b, TH_OPENING_REACH)) return false;
    if (goal->kind == TH_GOAL_EXIT) {
        th_vec2 more = th_scale(TH_OPENING_REACH, th_unit(th_sub(b, a)));
        a = th_sub(a, more);
        b = th_add(b, more);
    }
    return th_segment_crossing(p, q, a, b) != 0;
}

// `p` is where the person was before the step, `q` where it is now.
TH_BOTH static inline bool th_route_goal_reached(const th_goal *goal, uint32_t level, th_vec2 p,
                                                 th_vec2 q) {
    if (goal->is_line)
        return (uint32_t)goal->line.level == level && th_route_line_crossed(goal, p, q);
    return (uint32_t)goal->area.level == level && th_polygons_contain(&goal->area.shape, q);
}

// A person at a waiting area that holds so many stands until the measure stage lets it in (th_waiting_admit).
TH_BOTH static inline void th_route_ask(th_world *world, int i, int goal, bool inside) {
    world->agents.phase[i] = TH_PHASE_STANDING;
    world->agents.exit[i] = (uint32_t)goal;
    world->agents.wait_until[i] = inside ? TH_ASKS : (float)world->time + TH_ASKS_AGAIN;
}

// Does a person walk up to the edge of an area that is full? It stops before it gets in.
TH_BOTH static inline bool th_route_is_full_ahead(const th_world *world, int i, int goal,
                                                  th_vec2 now) {
    const th_goal *at = &world->scene->goals[goal];
    if (at->capacity == 0 || world->exits[goal].left < (uint64_t)at->capacity) return false;
    th_vec2 ahead = {now.x + TH_ASKS_AGAIN * world->agents.velocity_x[i],
                     now.y + TH_ASKS_AGAIN * world->agents.velocity_y[i]};
    return th_route_goal_reached(at, world->agents.level[i], now, ahead);
}

// People stop as soon as they are in a refuge; those behind them that can get no further are there, too.
TH_BOTH static inline bool th_route_is_held_up_at(const th_world *world, int i, const th_goal *goal,
                                                  th_vec2 now) {
    const float beside = 1.0f, still = 0.05f; // [m], [m/s]: the second row of wheelchairs; no step
    const th_agents *agents = &world->agents;
    if (!goal->refuge || goal->is_line || (uint32_t)goal->area.level != agents->level[i])
        return false;
    th_vec2 v = {agents->velocity_x[i], agents->velocity_y[i]};
    const th_box *box = &goal->area.shape.box;
    return th_length2(v) < still * still && now.x > box->min_x - beside &&
           now.x < box->max_x + beside && now.y > box->min_y - beside &&
           now.y < box->max_y + beside;
}

TH_BOTH static inline void th_route_reach_goal(th_world *world, int i, const th_group *group,
                                               int *left) {
    th_agents *agents = &world->agents;
    const th_target *target = &world->scene->targets[group->route[agents->leg[i]]];
    th_vec2 before = {agents->previous_position_x[i], agents->previous_position_y[i]};
    th_vec2 now = th_position(agents, (uint32_t)i);
    if (!th_goals_maybe_near(world->scene, (int)agents->level[i], before, now)) return;
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &world->scene->goals[target->goals[g]];
        if (!th_route_goal_reached(goal, agents->level[i], before, now) &&
            !th_route_is_held_up_at(world, i, goal, now)) {
            if (!th_route_is_full_ahead(world, i, target->goals[g], now)) continue;
            th_route_ask(world, i, target->goals[g], false);
            return;
        }
        if (goal->kind == TH_GOAL_EXIT) {
            agents->phase[i] = TH_PHASE_LEFT;
            agents->exit[i] = (uint32_t)target->goals[g]; // the measure stage reports it
            *left += 1;
        } else if (goal->capacity > 0) {
            th_route_ask(world, i, target->goals[g], true);
        } else if (goal->refuge) {
            agents->phase[i] = TH_PHASE_ARRIVED;
            agents->exit[i] = (uint32_t)target->goals[g];
        } else if (goal->kind == TH_GOAL_WAITING) {
            agents->phase[i] = TH_PHASE_WAITING;
            agents->wait_until[i] = (float)world->time + goal->wait;
        } else {
            agents->leg[i]++;
            if (agents->leg[i] >= (uint32_t)group->route_count) agents->phase[i] = TH_PHASE_ARRIVED;
        }
        return;
    }
}

// 1 when the person leaves the scene. Without `routes` agents have own goals only.
TH_BOTH static inline int th_route_arrive(th_world *world, int i, bool routes) {
    th_agents *agents = &world->agents;
    int left = 0;
    if (agents->phase[i] != TH_PHASE_WALKING) return 0;
    if (!world->groups[agents->group[i]].follows_route || th_detour_of(agents->leg[i]) > 0)
        return 0;
    const th_group *group = &world->scene->groups[agents->group[i]];
    if (routes && agents->leg[i] < (uint32_t)group->route_count) {
        th_route_reach_goal(world, i, group, &left);
    } else if (agents->level[i] == agents->goal_level[i]) {
        th_vec2 to_goal = {agents->goal_x[i] - agents->position_x[i],
                           agents->goal_y[i] - agents->position_y[i]};
        if (th_length2(to_goal) < agents->radius[i] * agents->radius[i])
            agents->phase[i] = TH_PHASE_ARRIVED;
    }
    return left;
}
#endif
