// ORCA: nearest neighbours by cells (state/nearest.h), half-planes, linear programs. Cost
// O(agents x candidates of 3 x 3 cells). On a GPU: src/cuda/orca.cuh.
// SPDX-License-Identifier: Apache-2.0
#include "move/orca/orca.h"
#include "core/parallel.h"
#include "formula/random.h"
#include "formula/segment.h"
#include "state/nearest.h"
#include <assert.h>
#include <math.h>
#include <string.h>

// The walls around one person, nearest first.
enum { NEAR_WALLS = 64 };
typedef struct wall_list {
    int count, wall[NEAR_WALLS];
    float distance2[NEAR_WALLS];
    float range; // all standing walls within it are listed
} wall_list;

TH_BOTH static void list_walls(const th_walls *walls, int level, th_vec2 p, float range,
                               wall_list *list) {
    list->count = 0;
    list->range = range;
    if (range <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, p)) return;
    list->count = th_walls_near(walls, level, p, range, list->wall, list->distance2, NEAR_WALLS);
    // When some did not fit, the list is complete only up to the last that did.
    if (list->count == NEAR_WALLS) list->range = sqrtf(list->distance2[NEAR_WALLS - 1]);
}

// Does a wall stand between p and q? Only walls nearer to p than q can.
TH_BOTH static bool hidden_behind(const th_walls *walls, int level, const wall_list *list,
                                  th_vec2 p, th_vec2 q) {
    float distance2 = th_length2(th_sub(q, p)), t;
    if (distance2 >= list->range * list->range)
        return th_walls_first_crossing(walls, level, p, q, &t) >= 0;
    for (int k = 0; k < list->count && list->distance2[k] <= distance2; ++k) {
        const th_wall *wall = &walls->walls[list->wall[k]];
        double at;
        if (th_segments_meet(p, q, wall->a, wall->b, &at)) return true;
    }
    return false;
}

TH_BOTH static void drop_hidden(const th_walls *walls, const th_world *world, uint32_t i,
                                const wall_list *list, th_nearest *nearest) {
    const th_agents *agents = &world->agents;
    int kept = 0, level = (int)agents->level[i];
    for (int k = 0; k < nearest->count; ++k) {
        uint32_t j = nearest->agent[k];
        bool same_level = agents->level[j] == agents->level[i];
        if (same_level &&
            hidden_behind(walls, level, list, th_position(agents, i), th_position(agents, j)))
            continue;
        nearest->agent[kept++] = j;
    }
    nearest->count = kept;
}

TH_BOTH static void wall_lines(const th_walls *walls, const th_world *world, uint32_t i,
                               const th_orca_params *params, const wall_list *list, float range,
                               th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    float radius = agents->radius[i], inverse_horizon = 1.0f / params->time_horizon_obstacle;
    for (int k = 0; k < list->count && lines->count < TH_ORCA_WALLS; ++k) {
        if (list->distance2[k] > range * range) break;
        const th_wall *wall = &walls->walls[list->wall[k]];
        th_orca_edge edge = {
            .a = th_sub(wall->a, p), .b = th_sub(wall->b, p), .direction = wall->direction};
        // Only edges that show us their walkable side.
        if (th_det(wall->direction, th_sub(p, wall->a)) >= 0.0f) continue;
        if (th_orca_covered(lines, edge.a, edge.b, radius, inverse_horizon)) continue;
        const th_wall *next = &walls->walls[wall->next], *previous = &walls->walls[wall->prev];
        edge.previous = previous->direction;
        edge.next = next->direction;
        edge.a_convex = wall->a_convex;
        edge.b_convex = next->a_convex;
        th_orca_line line;
        if (th_orca_wall_line(&edge, v, radius, inverse_horizon, &line))
            th_orca_set_line(lines, lines->count++, line);
    }
    lines->wall_count = lines->count;
}

// Somebody as the half-planes of others need it.
typedef struct avoider {
    th_vec2 p, v;
    float radius, inverse_horizon, inverse_step;
    bool all_react;
} avoider;

TH_FORMULA avoider avoider_of(const th_world *world, uint32_t i, const th_orca_params *params) {
    const th_agents *agents = &world->agents;
    avoider own;
    own.p = th_position(agents, i);
    own.v = th_velocity(agents, i);
    own.radius = agents->radius[i];
    own.inverse_horizon = 1.0f / params->time_horizon;
    own.inverse_step = 1.0f / world->dt;
    own.all_react = world->scene->scripted_count == 0;
    return own;
}

#ifdef TH_DEVICE_CODE // one by one

TH_FORMULA th_orca_line neighbour_line(const th_agents *agents, const avoider *own, uint32_t i,
                                       uint32_t j) {
    th_vec2 to = th_sub(th_position(agents, j), own->p),
            relative = th_sub(own->v, th_velocity(agents, j));
    float share = own->all_react || th_moves(agents->phase[j]) ? 0.5f : 1.0f;
    return th_orca_agent_line(to, own->v, relative, own->radius + agents->radius[j],
                              own->inverse_horizon, own->inverse_step, share, i < j ? 1.0f : -1.0f);
}

TH_FORMULA void agent_lines(const th_world *world, uint32_t i, const th_orca_params *params,
                            const th_nearest *nearest, th_orca_lines *lines) {
    avoider own = avoider_of(world, i, params);
    for (int k = 0; k < nearest->count; ++k)
        th_orca_set_line(lines, lines->count++,
                         neighbour_line(&world->agents, &own, i, nearest->agent[k]));
}

#else // all at once

typedef struct neighbour_lanes {
    _Alignas(TH_ALIGN) float x[TH_ORCA_NEIGHBOURS], y[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float vx[TH_ORCA_NEIGHBOURS], vy[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float radius[TH_ORCA_NEIGHBOURS], share[TH_ORCA_NEIGHBOURS],
        tie[TH_ORCA_NEIGHBOURS];
} neighbour_lanes;

static_assert((int)TH_NEAREST_MAX <= (int)TH_ORCA_NEIGHBOURS, "one lane for each");
static_assert(TH_ORCA_WALLS + TH_ORCA_NEIGHBOURS <= TH_ORCA_LINES,
              "all lanes are written behind the wall lines, used or not");

// Lanes beyond the neighbours hold a harmless stranger, so that the vector loop computes nothing wild.
TH_FORMULA void agent_lines(const th_world *world, uint32_t i, const th_orca_params *params,
                            const th_nearest *nearest, th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    avoider own = avoider_of(world, i, params);
    th_vec2 p = own.p, v = own.v;
    neighbour_lanes lanes;
    for (int k = 0; k < TH_ORCA_NEIGHBOURS; ++k) {
        lanes.x[k] = p.x + 10.0f;
        lanes.y[k] = p.y;
        lanes.vx[k] = lanes.vy[k] = lanes.radius[k] = 0.0f;
        lanes.share[k] = 0.5f;
        lanes.tie[k] = 1.0f;
    }
    for (int k = 0; k < nearest->count; ++k) {
        uint32_t j = nearest->agent[k];
        lanes.x[k] = agents->position_x[j];
        lanes.y[k] = agents->position_y[j];
        lanes.vx[k] = agents->velocity_x[j];
        lanes.vy[k] = agents->velocity_y[j];
        lanes.radius[k] = agents->radius[j];
        lanes.tie[k] = i < j ? 1.0f : -1.0f;
        if (!own.all_react && !th_moves(agents->phase[j])) lanes.share[k] = 1.0f;
    }
    float *point_x = lines->point_x + lines->count, *point_y = lines->point_y + lines->count;
    float *direction_x = lines->direction_x + lines->count,
          *direction_y = lines->direction_y + lines->count;
#pragma omp simd
    for (int k = 0; k < TH_ORCA_NEIGHBOURS; ++k) {
        th_vec2 to = {lanes.x[k] - p.x, lanes.y[k] - p.y},
                relative = {v.x - lanes.vx[k], v.y - lanes.vy[k]};
        th_orca_line line =
            th_orca_agent_line(to, v, relative, own.radius + lanes.radius[k], own.inverse_horizon,
                               own.inverse_step, lanes.share[k], lanes.tie[k]);
        point_x[k] = line.point.x;
        point_y[k] = line.point.y;
        direction_x[k] = line.direction.x;
        direction_y[k] = line.direction.y;
    }
    lines->count += nearest->count;
}

#endif

// Two random numbers in -1 .. 1 for each person of a block: vector code, a tenth of the cost of drawing
// them one by one.
typedef struct block_noise {
    _Alignas(TH_ALIGN) float x[TH_BLOCK], y[TH_BLOCK];
} block_noise;

TH_FORMULA th_vec2 noise_of(uint64_t seed, uint32_t id, uint64_t step) {
    th_random4 r = th_philox(seed, TH_STREAM_NOISE, id, step);
    return th_v(2.0f * th_uniform(r.v[0]) - 1.0f, 2.0f * th_uniform(r.v[1]) - 1.0f);
}

TH_FORMULA void draw_noise(const th_world *world, int begin, int end, block_noise *noise) {
    const uint32_t *id = world->agents.id + begin;
    uint64_t seed = world->seed, step = world->step_count;
#pragma omp simd
    for (int k = 0; k < end - begin; ++k) {
        th_vec2 drawn = noise_of(seed, id[k], step);
        noise->x[k] = drawn.x;
        noise->y[k] = drawn.y;
    }
}

// Nobody who stands still is shaken.
TH_FORMULA th_vec2 preferred_with_noise(const th_agents *agents, uint32_t i, float strength,
                                        th_vec2 noise) {
    th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
    if (preferred.x == 0.0f && preferred.y == 0.0f) return preferred;
    return th_add(preferred, th_scale(strength, noise));
}

// Where the velocity leads, changed no more than the limit on acceleration allows.
TH_FORMULA void take_velocity(const th_world *world, uint32_t i, const th_orca_params *params,
                              th_vec2 velocity) {
    const th_agents *agents = &world->agents;
    if (params->max_acceleration > 0.0f) {
        th_vec2 old = th_velocity(agents, i);
        velocity =
            th_add(old, th_limit(th_sub(velocity, old), params->max_acceleration * world->dt));
    }
    agents->next_velocity_x[i] = velocity.x;
    agents->next_velocity_y[i] = velocity.y;
    agents->next_position_x[i] = agents->position_x[i] + velocity.x * world->dt;
    agents->next_position_y[i] = agents->position_y[i] + velocity.y * world->dt;
}

// Somebody who prefers to be faster than the limit may be.
TH_FORMULA float fastest_of(const th_agents *agents, uint32_t i, const th_orca_params *params) {
    return th_max(params->max_speed, agents->speed[i]);
}

// From how far walls make lines.
TH_FORMULA float wall_range_of(const th_agents *agents, uint32_t i, const th_orca_params *params) {
    return params->time_horizon_obstacle * params->max_speed + agents->radius[i];
}

// `nearest` on the same level; who is near on another one is added here. Lines and bisectors are empty.
TH_FORMULA void move_among(const th_world *world, const th_walls *walls, uint32_t i,
                           const th_orca_params *params, th_nearest nearest, th_vec2 noise,
                           th_orca_lines *lines, th_orca_lines *bisectors) {
    const th_agents *agents = &world->agents;
    int wanted = (int)params->max_neighbours;
    if (world->scene->link_count > 0)
        th_nearest_add_linked(world, i, wanted, params->neighbour_range, &nearest);
    lines->count = lines->wall_count = 0;
    if (walls->count > 0) {
        float range = wall_range_of(agents, i, params);
        wall_list near;
        int level = (int)agents->level[i];
        list_walls(walls, level, th_position(agents, i), th_max(range, walls->grids[level].reach),
                   &near);
        wall_lines(walls, world, i, params, &near, range, lines);
        if (params->line_of_sight > 0.0f) drop_hidden(walls, world, i, &near, &nearest);
    }
    agent_lines(world, i, params, &nearest, lines);
    th_vec2 preferred = preferred_with_noise(agents, i, params->noise, noise);
    take_velocity(world, i, params,
                  th_orca_velocity(lines, bisectors, fastest_of(agents, i, params), preferred));
}

TH_BOTH static bool moved_by_orca(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    return th_moves(agents->phase[i]) && world->groups[agents->group[i]].move == TH_MOVE_ORCA;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void move_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    th_candidates list;
    list.count = -1;
    th_orca_lines lines, bisectors;
    block_noise noise;
    draw_noise(world, begin, end, &noise);
    for (int i = begin; i < end; ++i) {
        if (!moved_by_orca(world, i)) continue;
        th_orca_params params;
        memcpy(&params, world->groups[agents->group[i]].move_params, sizeof params);
        th_vec2 own_noise = {noise.x[i - begin], noise.y[i - begin]};
        th_nearest nearest;
        th_find_nearest(world, &list, (uint32_t)i, (int)params.max_neighbours,
                        params.neighbour_range, &nearest);
        move_among(world, walls, (uint32_t)i, &params, nearest, own_noise, &lines, &bisectors);
    }
}

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
    for (int b = 0; b < blocks; ++b)
        move_block(world, &walls, b * TH_BLOCK,
                   (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}

static const th_param_info params[] = {TH_ORCA_PARAMS(TH_PARAM_INFO)};
const th_model th_move_orca_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "orca",
    .doc = "optimal reciprocal collision avoidance",
    .source = "van den Berg, Guy, Lin, Manocha 2011",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .is_default = true,
    .run = run,
};
#endif
