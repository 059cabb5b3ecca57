// Statistics, overlaps, the state hash. SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "core/parallel.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include "state/device.h"
#include "world/world.h"
#include <string.h>

static const float overlap_counts_from = 0.01f; // [m]

// Depth of the deepest overlap of agent i and the number of its overlaps beyond 1 cm. The index must
// be of the positions now, or older by at most `moved`.
TH_BOTH static float overlaps_of(const th_world *world, uint32_t i, float moved, int *deep) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    th_vec2 p = th_position(agents, i);
    float reach = agents->radius[i] + world->max_radius + moved, deepest = 0.0f;
    th_rows rows = th_rows_around(grid, p, reach);
    *deep = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float apart = agents->radius[i] + agents->radius[j];
            float distance2 = th_length2(th_sub(th_position(agents, j), p));
            if (distance2 >= apart * apart || j == i || th_gone(agents->phase[j])) continue;
            if (agents->level[j] != agents->level[i] || agents->phase[j] == TH_PHASE_BODY) continue;
            float depth = apart - sqrtf(distance2);
            deepest = th_max(deepest, depth);
            *deep += depth > overlap_counts_from;
        }
    }
    return deepest;
}

TH_BOTH static uint64_t float_bits(float a, float b) {
    uint32_t low, high;
    memcpy(&low, &a, sizeof low);
    memcpy(&high, &b, sizeof high);
    return (uint64_t)high << 32 | low;
}

// Is p by the line of an exit, where no wall need be near? *on: on the very line. Who stands there is at the edge of
// the ground and leaves with the next step.
TH_BOTH static bool by_exit(const th_scene *scene, int level, th_vec2 p, bool *on) {
    const float by = 2.0f; // [m] more than anybody walks from one look to the next
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

// Does a person stand in a solid? Who left has walked out through a gap in the boundary; scripted bodies go
// where they like.
TH_BOTH static bool in_solid(const th_world *world, const th_walls *walls, int i) {
    const th_agents *agents = &world->agents;
    int level = (int)agents->level[i];
    if (!th_moves(agents->phase[i])) return false;
    th_vec2 p = th_position(agents, (uint32_t)i);
    bool on_exit,
        near = by_exit(world->scene, level, p, &on_exit) || th_walls_maybe_near(walls, level, p);
    return near && !on_exit && !th_walkable(world->scene, level, p);
}

// 0 for those who are gone.
TH_BOTH static uint64_t hash_one(const th_agents *agents, int i) {
    if (th_gone(agents->phase[i])) return 0;
    uint64_t h =
        th_hash_add(agents->id[i], float_bits(agents->position_x[i], agents->position_y[i]));
    h = th_hash_add(h, float_bits(agents->velocity_x[i], agents->velocity_y[i]));
    return th_hash_add(h, (uint64_t)agents->level[i] << 40 | (uint64_t)agents->phase[i] << 32 |
                              agents->route_step[i]);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
void th_sample_overlaps(th_world *world, th_statistics *statistics) {
    const th_agents *agents = &world->agents;
    uint32_t indexed = world->index.cell_start[world->index.cell_count];
    // Nobody is faster than the contact stage allows within a step; see th_stage_contact.
    float moved = world->max_moved;
    uint64_t overlapping = 0, pairs_twice = 0;
    float deepest = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, TH_BLOCK) reduction(+ : overlapping, pairs_twice) \
    reduction(max : deepest)
    for (uint32_t i = 0; i < indexed; ++i) {
        if (agents->phase[i] >= TH_PHASE_BODY) continue;
        int deep;
        float depth = overlaps_of(world, i, 2.0f * moved, &deep);
        deepest = depth > deepest ? depth : deepest;
        overlapping += deep > 0;
        pairs_twice += (uint64_t)deep;
    }
    statistics->overlaps = pairs_twice / 2;
    statistics->overlapping_agents = overlapping;
    statistics->deepest_overlap = deepest;
    world->counters.largest_overlap = th_max(world->counters.largest_overlap, deepest);
}

uint64_t th_count_in_solids(const th_world *world) {
    th_walls walls = th_world_walls(world);
    uint64_t inside = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : inside)
    for (int i = 0; i < world->agents.count; ++i) inside += (uint64_t)in_solid(world, &walls, i);
    return inside;
}

static uint64_t people_inside(const th_world *world) {
    return world->counters.spawned - world->counters.left - world->counters.removed;
}

th_statistics th_world_statistics(th_world *world) {
    th_statistics statistics = {0};
    if (world->device) {
        world->device->sample_overlaps(world, &statistics);
        world->device->fetch(world, 0);
    } else {
        // The index may be older than hand-made changes; sorting again changes no state.
        th_stage_index(world);
        world->max_moved = 0.0f;
        th_sample_overlaps(world, &statistics);
    }
    const th_counters *counters = &world->counters;
    statistics.spawned = counters->spawned;
    statistics.inside = people_inside(world);
    statistics.left = counters->left;
    statistics.removed = counters->removed;
    for (int g = 0; g < world->scene->group_count; ++g)
        statistics.waiting_to_enter += world->sources[g].due - world->sources[g].placed;
    statistics.time = world->time;
    statistics.steps = world->step_count;
    statistics.last_left_time = counters->last_left_time;
    statistics.wall_crossings = counters->wall_crossings;
    statistics.wall_stops = counters->wall_stops;
    statistics.largest_overlap = counters->largest_overlap;
    statistics.repairs = counters->repairs;
    statistics.unreachable = counters->unreachable;
    return statistics;
}

double th_world_time(const th_world *world) { return world->time; }
double th_world_step_length(const th_world *world) { return world->step_length; }
uint64_t th_world_step_count(const th_world *world) { return world->step_count; }
uint64_t th_world_seed(const th_world *world) { return world->seed; }
const th_scene *th_world_scene(const th_world *world) { return world->scene; }

bool th_world_done(const th_world *world) {
    const th_scene *scene = world->scene;
    const th_agents *agents = &world->agents;
    th_refresh(world, 0);
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (world->sources[g].placed < world->sources[g].due) return false;
        if (group->rate > 0.0 && world->time < group->rate_end) return false;
        if (group->arrival_count > 0 &&
            world->time < group->arrivals[group->arrival_count - 1].time)
            return false;
    }
    if (world->device) return !world->device->anybody_under_way((th_world *)world);
    for (int i = 0; i < agents->count; ++i)
        if (agents->phase[i] < TH_PHASE_ARRIVED) return false;
    return true;
}

th_profile th_world_profile(const th_world *world) { return world->profile; }
void th_world_reset_profile(th_world *world) { world->profile = (th_profile){0}; }
size_t th_world_device_bytes(const th_world *world) {
    return world->device ? world->device->bytes(world) : 0;
}

// Agents' hashes are added up, so that their order in memory does not matter.
uint64_t th_world_hash(const th_world *world) {
    const th_agents *agents = &world->agents;
    uint64_t sum = 0;
    th_refresh(world, 0);
    if (world->device) {
        sum = world->device->hash_people((th_world *)world);
    } else {
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : sum)
        for (int i = 0; i < agents->count; ++i) sum += hash_one(agents, i);
    }
    uint64_t h = th_hash_add(world->step_count, sum + world->counters.left_digest);
    h = th_hash_add(h, world->counters.spawned);
    h = th_hash_add(h, world->counters.left);
    return th_hash_add(h, world->counters.removed);
}

const char *th_version(void) { return TH_VERSION; }

const char *th_build_info(void) {
#ifdef TH_CUDA
#define TH_BACKENDS ", cuda"
#else
#define TH_BACKENDS ""
#endif
#if defined(__clang__)
#define TH_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define TH_COMPILER "gcc " __VERSION__
#else
#define TH_COMPILER "unknown compiler"
#endif
    return "throng " TH_VERSION ", " TH_COMPILER ", contraction off, backends: cpu" TH_BACKENDS;
}
#endif
