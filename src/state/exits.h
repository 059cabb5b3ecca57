// Exits that an agent does not want: gaps in the boundary that are closed to it.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_EXITS_H
#define TH_STATE_EXITS_H
#include "formula/segment.h"
#include "scene/wall_chains.h"
#include "space/distance_grid.h"
#include "space/walls.h"
#include "state/nearest.h"
#include "state/world.h"

static const float TH_WALL_GAP =
    0.001f; // an agent stopped by a wall or an exit stays this far off [m]

static const float TH_EXIT_NEAR = 0.1f; // [m] nearer agents walk up to it

TH_BOTH static inline bool th_wants_goal(const th_world *world, uint32_t i, int goal) {
    const th_agents *agents = &world->agents;
    const th_group *group = &world->scene->groups[agents->group[i]];
    if (agents->phase[i] != TH_PHASE_WALKING || agents->leg[i] >= (uint32_t)group->route_count)
        return false;
    const th_target *target = &world->scene->targets[group->route[agents->leg[i]]];
    for (int g = 0; g < target->goal_count; ++g)
        if (target->goals[g] == goal) return true;
    return false;
}

// Is an agent at p, near the line of an exit that is closed to it? *outward points over the line. `g`: the goal to begin with;
// returns the goal after the one found, -1: none.
TH_BOTH static inline int th_next_foreign_exit(const th_world *world, uint32_t i, int g, th_vec2 p,
                                               th_vec2 *outward) {
    const th_scene *scene = world->scene;
    int level = (int)world->agents.level[i];
    if (!th_goals_maybe_near(scene, level, p, p)) return -1;
    for (; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (!goal->is_line || goal->kind != TH_GOAL_EXIT || goal->line.level != level ||
            th_segment_distance2(p, goal->line.a, goal->line.b) > TH_EXIT_NEAR * TH_EXIT_NEAR ||
            th_wants_goal(world, i, g))
            continue;
        th_vec2 normal = th_perp_left(th_unit(th_sub(goal->line.b, goal->line.a)));
        float side = th_dot(th_sub(p, goal->line.a), normal);
        *outward = th_scale(side > 0.0f ? -1.0f : 1.0f, normal);
        th_vec2 beyond = th_add(p, th_scale(fabsf(side) + 0.05f, *outward));
        if (!th_walkable(scene, level, beyond)) return g + 1;
    }
    return -1;
}

// Where the path p -> q would come closer than TH_WALL_GAP to the exit's line or cross it, from the side p
// is on; *outward points over the line.
TH_BOTH static inline bool th_runs_into_exit(const th_line *line, th_vec2 p, th_vec2 q,
                                             th_vec2 *outward) {
    th_vec2 along = th_unit(th_sub(line->b, line->a)), normal = th_perp_left(along);
    float from = th_dot(th_sub(p, line->a), normal), to = th_dot(th_sub(q, line->a), normal);
    float side = from > 0.0f ? 1.0f : -1.0f;
    if (side * to >= TH_WALL_GAP || side * to >= side * from) return false;
    // Where it comes over the line, or ends beside it: near the line's end one may miss it and not the other.
    // The gap in the wall may be that much longer than the line.
    float end = th_length(th_sub(line->b, line->a)) + TH_OPENING_REACH,
          at = th_dot(th_sub(q, line->a), along);
    float over = th_dot(th_sub(p, line->a), along);
    over += (at - over) * (side * to < 0.0f ? from / (from - to) : 1.0f);
    if ((at < -TH_OPENING_REACH || at > end) && (over < -TH_OPENING_REACH || over > end))
        return false;
    *outward = th_scale(-side, normal);
    return true;
}

// Slides q off the first exit in the way, other than `but`, that the agent must not use. Returns its goal; -1: none.
TH_BOTH static inline int th_slide_off_exit(const th_world *world, uint32_t i, uint32_t level,
                                            int but, th_vec2 p, th_vec2 *q) {
    const th_scene *scene = world->scene;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        th_vec2 outward;
        if (!goal->is_line || goal->kind != TH_GOAL_EXIT || (uint32_t)goal->line.level != level ||
            g == but)
            continue;
        if (!th_boxes_touch(p, *q, goal->line.a, goal->line.b, 2.0f * TH_OPENING_REACH)) continue;
        if (!th_runs_into_exit(&goal->line, p, *q, &outward) || th_wants_goal(world, i, g))
            continue;
        if (th_walkable(scene, (int)level, th_add(*q, th_scale(0.05f, outward))))
            continue; // within a room
        float beyond = th_dot(th_sub(*q, goal->line.a), outward) + TH_WALL_GAP;
        *q = th_sub(*q, th_scale(th_max(beyond, 0.0f), outward));
        return g;
    }
    return -1;
}

// An exit drawn on the boundary is a gap in it. Only people who want that exit may leave through it; others who
// are pushed there slide along it, or stay where they were if a wall or another exit is in the way: off the one
// may be over the other where two meet in a corner.
TH_BOTH static inline bool th_stop_at_foreign_exits(const th_world *world, const th_walls *walls,
                                                    uint32_t i, uint32_t level, th_vec2 p,
                                                    th_vec2 *q) {
    if (!th_goals_maybe_near(world->scene, (int)level, p, *q)) return false;
    int first = th_slide_off_exit(world, i, level, -1, p, q);
    if (first < 0) return false;
    th_vec2 further = *q;
    if (level != world->agents.level[i] ||
        th_slide_off_exit(world, i, level, first, p, &further) >= 0 ||
        th_walls_first_crossing(walls, (int)level, p, *q, NULL) >= 0)
        *q = p;
    return true;
}
#endif
