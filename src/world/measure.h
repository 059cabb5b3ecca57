// Measurements of one agent in a step: lines crossed, overlaps, the state hash; on the CPU and on a GPU.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_MEASURE_H
#define TH_WORLD_MEASURE_H
#include "core/hash.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include "state/world.h"
#include <math.h>
#include <string.h>

// Lines people are counted at (world->lines): the scene's, then its doors.
TH_BOTH static inline int th_counted_line_count(const th_scene *scene) {
    return scene->measure_line_count + scene->door_count;
}

TH_BOTH static inline const th_line *th_counted_line(const th_scene *scene, int l) {
    int doors_from = scene->measure_line_count;
    return l < doors_from ? &scene->measure_lines[l].line : &scene->doors[l - doors_from].line;
}

// 1 when the person's last step led over the line forward, -1 backward, 0 not at all.
TH_BOTH static inline int th_line_crossing(const th_agents *agents, const th_line *line,
                                           uint32_t i) {
    if (agents->level[i] != (uint32_t)line->level || agents->phase[i] == TH_PHASE_BODY ||
        agents->phase[i] == TH_PHASE_REMOVED)
        return 0;
    th_vec2 before = {agents->previous_position_x[i], agents->previous_position_y[i]};
    return th_segment_crossing(before, th_position(agents, i), line->a, line->b);
}

// The contribution of a departure to the digest of departures.
TH_BOTH static inline uint64_t th_leaving_digest(const th_world *world, uint32_t i) {
    uint64_t who = th_hash_add(world->agents.id[i], world->step_count);
    return th_hash_add(who, world->agents.exit[i]);
}

TH_BOTH static inline uint64_t th_steps_per_second(const th_world *world) {
    uint64_t steps = (uint64_t)(1.0f / world->dt + 0.5f);
    return steps > 0 ? steps : 1;
}

static const float TH_OVERLAP_COUNTS_FROM = 0.01f; // [m]

// Depth of the deepest overlap of agent i and the number of its overlaps beyond 1 cm. The index must
// be of the positions now, or older by at most `moved`.
TH_BOTH static inline float th_overlaps_of(const th_world *world, uint32_t i, float moved,
                                           int *deep) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    th_vec2 p = th_position(agents, i);
    float reach = agents->radius[i] + world->max_radius + moved, deepest = 0.0f;
    th_rows rows = th_rows_around(grid, p, reach);
    *deep = 0;
    if (agents->phase[i] == TH_PHASE_FALLEN) return 0.0f; // others may walk over them
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float apart = agents->radius[i] + agents->radius[j];
            float distance2 = th_length2(th_sub(th_position(agents, j), p));
            if (distance2 >= apart * apart || j == i || th_gone(agents->phase[j])) continue;
            if (agents->level[j] != agents->level[i] || agents->phase[j] == TH_PHASE_BODY ||
                agents->phase[j] == TH_PHASE_FALLEN)
                continue;
            float depth = apart - sqrtf(distance2);
            deepest = th_max(deepest, depth);
            *deep += depth > TH_OVERLAP_COUNTS_FROM;
        }
    }
    return deepest;
}

TH_BOTH static inline uint64_t th_float_bits(float a, float b) {
    uint32_t low, high;
    memcpy(&low, &a, sizeof low);
    memcpy(&high, &b, sizeof high);
    return (uint64_t)high << 32 | low;
}

// Is p by the line of an exit, where no wall need be near? *on: on the very line. An agent there is at the edge of
// the ground and leaves with the next step.
TH_BOTH static inline bool th_by_exit(const th_scene *scene, int level, th_vec2 p, bool *on) {
    const float by = 2.0f; // [m] more than an agent walks from one look to the next
    bool near = false;
    *on = false;
    for (int g = 0; g < scene->goal_count && !*on; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind != TH_GOAL_EXIT || !goal->is_line || goal->line.level != level) continue;
        near = near || th_boxes_touch(p, p, goal->line.a, goal->line.b, by);
        *on = th_boxes_touch(p, p, goal->line.a, goal->line.b, 0.0f) &&
              th_orientation(goal->line.a, goal->line.b, p) == 0.0;
    }
    return near;
}

// Does a person stand in a solid? Agents that left have walked out through a gap in the boundary; scripted bodies go
// where they like.
TH_BOTH static inline bool th_in_solid(const th_world *world, const th_walls *walls, int i) {
    const th_agents *agents = &world->agents;
    int level = (int)agents->level[i];
    if (!th_moves(agents->phase[i])) return false;
    th_vec2 p = th_position(agents, (uint32_t)i);
    bool on_exit,
        near = th_by_exit(world->scene, level, p, &on_exit) || th_walls_maybe_near(walls, level, p);
    return near && !on_exit && !th_walkable(world->scene, level, p);
}

// 0 for agents that are gone.
TH_BOTH static inline uint64_t th_agent_hash(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    if (th_gone(agents->phase[i])) return 0;
    uint64_t h =
        th_hash_add(agents->id[i], th_float_bits(agents->position_x[i], agents->position_y[i]));
    h = th_hash_add(h, th_float_bits(agents->velocity_x[i], agents->velocity_y[i]));
    uint64_t state =
        (uint64_t)agents->level[i] << 40 | (uint64_t)agents->phase[i] << 32 | agents->leg[i];
    for (int f = 0; f < agents->own_count; ++f)
        state ^= (uint64_t)((const uint32_t *)agents->own[f])[i] * world->own_hash_factor[f];
    return th_hash_add(h, state);
}
#endif
