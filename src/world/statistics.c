// Statistics, overlaps, the state hash. SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "core/parallel.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include "state/device.h"
#include "throng/live.h"
#include "world/measure.h"
#include "world/spawn.h"
#include "world/world.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void th_sample_overlaps(th_world *world, th_statistics *statistics) {
    const th_agents *agents = &world->agents;
    uint32_t indexed = world->index.cell_start[world->index.cell_count];
    // No agent is faster than the contact stage allows within a step; see th_stage_contact.
    float moved = world->max_moved;
    uint64_t overlapping = 0, pairs_twice = 0;
    float deepest = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, TH_BLOCK) reduction(+ : overlapping, pairs_twice) \
    reduction(max : deepest)
    for (uint32_t i = 0; i < indexed; ++i) {
        if (agents->phase[i] >= TH_PHASE_BODY) continue;
        int deep;
        float depth = th_overlaps_of(world, i, 2.0f * moved, &deep);
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
    for (int i = 0; i < world->agents.count; ++i) inside += (uint64_t)th_in_solid(world, &walls, i);
    return inside;
}

static uint64_t people_inside(const th_world *world) {
    return world->counters.spawned - world->counters.left - world->counters.removed;
}

static void add_counts(const th_world *world, th_statistics *statistics) {
    const th_counters *counters = &world->counters;
    statistics->spawned = counters->spawned;
    statistics->inside = people_inside(world);
    statistics->left = counters->left;
    statistics->removed = counters->removed;
    for (int g = 0; g < world->scene->group_count; ++g) {
        uint64_t due = world->sources[g].due;
        double announced = th_source_announced(&world->scene->groups[g]);
        statistics->waiting_to_enter += due - world->sources[g].placed;
        if (isfinite(announced)) statistics->still_to_come += (uint64_t)announced - due;
    }
    statistics->time = world->time;
    statistics->steps = world->step_count;
    statistics->last_left_time = counters->last_left_time;
    statistics->wall_crossings = counters->wall_crossings;
    statistics->wall_stops = counters->wall_stops;
    statistics->largest_overlap = counters->largest_overlap;
    statistics->repairs = counters->repairs;
    statistics->fallen = counters->fallen;
    statistics->falls = counters->falls;
    statistics->unreachable = counters->unreachable;
}

th_statistics th_world_counts(const th_world *world) {
    th_statistics statistics = {0};
    th_refresh(world, 0);
    add_counts(world, &statistics);
    return statistics;
}

th_statistics th_world_statistics(th_world *world) {
    th_statistics statistics = {0};
    if (world->device) {
        world->device->sample_overlaps(world, &statistics); // sorts, as below
        world->id_order_valid = false;
        world->device->fetch(world, 0);
    } else {
        // The index may be older than hand-made changes; sorting again changes no state.
        th_stage_index(world);
        world->max_moved = 0.0f;
        th_sample_overlaps(world, &statistics);
    }
    add_counts(world, &statistics);
    return statistics;
}

double th_world_time(const th_world *world) { return world->time; }
double th_world_step_length(const th_world *world) { return world->step_length; }
uint64_t th_world_step_count(const th_world *world) { return world->step_count; }
uint64_t th_world_seed(const th_world *world) { return world->seed; }
const th_scene *th_world_scene(const th_world *world) { return world->scene; }

int th_world_model_statistics(const th_world *world, int model, th_model_value *values, int max) {
    int known;
    th_models(&known);
    if (model < 0 || model >= known || max < 0) return 0;
    const th_model *found = th_models(NULL)[model];
    th_refresh(world, 0);
    return found->statistics && world->model_state[model]
               ? found->statistics(world, model, values, max)
               : 0;
}

bool th_world_done(const th_world *world) {
    const th_scene *scene = world->scene;
    const th_agents *agents = &world->agents;
    th_refresh(world, 0);
    // By what was placed, not by the clock: agents due now are placed in the next step.
    for (int g = 0; g < scene->group_count; ++g)
        if ((double)world->sources[g].placed < th_source_announced(&scene->groups[g])) return false;
    if (world->device) return !world->device->anybody_under_way((th_world *)world);
    for (int i = 0; i < agents->count; ++i)
        if (th_under_way(world, (uint32_t)i)) return false;
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
        for (int i = 0; i < agents->count; ++i) sum += th_person_hash(world, i);
    }
    uint64_t h = th_hash_add(world->step_count, sum + world->counters.left_digest);
    h = th_hash_add(h, world->counters.spawned);
    h = th_hash_add(h, world->counters.left);
    return th_hash_add(h, world->counters.removed);
}

const char *th_version(void) { return TH_VERSION; }
int th_version_number(void) { return TH_VERSION_NUMBER; }
void th_free(void *memory) { free(memory); }

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
