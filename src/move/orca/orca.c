// ORCA: nearest neighbours by cells (state/nearest.h), half-planes, linear programs. Cost
// O(agents x candidates of 3 x 3 cells). On a GPU: orca.cu.
// SPDX-License-Identifier: Apache-2.0
#include "move/orca/orca.h"
#include "state/influences.h"
#include "state/nearest.h"
#include "state/world.h"
#include <assert.h>
#include <string.h>

typedef struct neighbour_lanes {
    _Alignas(TH_ALIGN) float x[TH_ORCA_NEIGHBOURS], y[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float vx[TH_ORCA_NEIGHBOURS], vy[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float radius[TH_ORCA_NEIGHBOURS], share[TH_ORCA_NEIGHBOURS],
        tie[TH_ORCA_NEIGHBOURS];
} neighbour_lanes;

static_assert((int)TH_NEAREST_MAX <= (int)TH_ORCA_NEIGHBOURS, "one lane for each");
static_assert(TH_ORCA_WALLS + TH_ORCA_NEIGHBOURS <= TH_ORCA_LINES,
              "all lanes are written behind the wall lines, used or not");

// Unused lanes hold a dummy neighbour, so that the vector loop computes nothing wild.
TH_FORMULA void agent_lines(const th_world *world, uint32_t i, const th_orca_params *params,
                            const th_nearest *nearest, th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    th_orca_avoider own = th_orca_avoider_of(world, i, params);
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

// Two random numbers in -1 .. 1 for each person of a block: vector code, a tenth of the cost of drawing
// them one by one.
typedef struct block_noise {
    _Alignas(TH_ALIGN) float x[TH_BLOCK], y[TH_BLOCK];
} block_noise;

TH_FORMULA void draw_noise(const th_world *world, int begin, int end, block_noise *noise) {
    const uint32_t *id = world->agents.id + begin;
    uint64_t seed = world->seed, step = world->step_count;
#pragma omp simd
    for (int k = 0; k < end - begin; ++k) {
        th_vec2 drawn = th_orca_noise_of(seed, id[k], step);
        noise->x[k] = drawn.x;
        noise->y[k] = drawn.y;
    }
}

TH_CLONES static void move_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    th_candidates list;
    list.count = -1;
    th_orca_lines lines, bisectors;
    block_noise noise;
    draw_noise(world, begin, end, &noise);
    for (int i = begin; i < end; ++i) {
        if (!th_orca_moves(world, i)) continue;
        th_orca_params params;
        memcpy(&params, world->groups[agents->group[i]].move_params, sizeof params);
        th_vec2 own_noise = {noise.x[i - begin], noise.y[i - begin]};
        th_nearest nearest;
        th_find_nearest(world, &list, (uint32_t)i, (int)params.max_neighbours,
                        params.neighbour_range, &nearest);
        th_orca_begin_lines(world, walls, (uint32_t)i, &params, &nearest, &lines);
        agent_lines(world, (uint32_t)i, &params, &nearest, &lines);
        th_orca_follow_lines(world, (uint32_t)i, &params, own_noise, &lines, &bisectors);
    }
}

typedef struct moved {
    th_world *world;
    th_walls walls;
} moved;
static uint64_t move_part(const void *context, int begin, int end) {
    const moved *all = context;
    move_block(all->world, &all->walls, begin, end);
    return 0;
}

static void run(th_world *world, int model) {
    (void)model;
    const moved all = {world, th_world_walls(world)};
    th_share_out(world, world->agents.count, TH_BLOCK, move_part, &all);
}

// Influences on a person: its half-planes, drawn from where it stands, and the velocity it prefers.
static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    if (!th_orca_moves(world, (int)i)) return 0;
    const th_agents *agents = &world->agents;
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    th_vec2 p = th_position(agents, i);
    th_candidates candidates = {.count = -1};
    th_orca_params params;
    memcpy(&params, world->groups[agents->group[i]].move_params, sizeof params);
    th_orca_lines lines;
    th_nearest nearest;
    th_find_nearest(world, &candidates, i, (int)params.max_neighbours, params.neighbour_range,
                    &nearest);
    th_orca_begin_lines(world, &walls, i, &params, &nearest, &lines);
    agent_lines(world, i, &params, &nearest, &lines);
    for (int k = 0; k < lines.count; ++k) {
        th_orca_line line = th_orca_line_at(&lines, k);
        bool wall = k < lines.wall_count;
        th_tell(&all, (th_influence){
                          .kind = TH_INFLUENCE_HALF_PLANE,
                          .name = wall ? "half-plane of a wall" : "half-plane of a person",
                          .unit = "m/s",
                          .at = th_add(p, line.point),
                          .vector = th_perp_left(line.direction),
                          .other = wall ? 0 : agents->id[nearest.agent[k - lines.wall_count]]});
    }
    th_tell_vector(&all, "preferred velocity", "m/s", p,
                   th_v(agents->preferred_x[i], agents->preferred_y[i]), 0);
    th_tell_vector(&all, "velocity", "m/s", p, th_velocity(agents, i), 0);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_orca_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    (void)world;
    return ((const th_orca_params *)values)->neighbour_range;
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
    .longest_step = 0.1f, // tools/measure-steps: slower at doors beyond
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
};
