// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void explain(const th_error *error) {
    fail_msg("%s:%d:%d: %s: %s", error->file, error->line, error->column, error->path,
             error->message);
}

th_scene *scene_of(const char *json) {
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_json(json, strlen(json), "test", TH_SOURCE_DIR, NULL, &scene, &error) !=
        TH_OK)
        explain(&error);
    return scene;
}

th_scene *scene_file(const char *path) {
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", TH_SOURCE_DIR, path);
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_file(full, NULL, &scene, &error) != TH_OK) explain(&error);
    return scene;
}

th_world *world_of(const th_scene *scene, int threads, uint64_t seed) {
    th_world_def def = th_world_def_default();
    def.threads = threads;
    def.seed = seed;
    th_world *world = NULL;
    th_error error = {0};
    if (th_world_create(scene, &def, &world, &error) != TH_OK) explain(&error);
    return world;
}

float *field_of(th_world *world, int field) {
    float *view = th_world_map(world, field, TH_ACCESS_READ);
    assert_non_null(view);
    th_world_unmap(world, field);
    return view;
}

void assert_invariants(th_world *world) {
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.spawned, s.inside + s.left + s.removed);
    assert_int_equal(s.wall_crossings, 0);
    int count = th_world_agent_count(world);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    const float *vx = field_of(world, TH_FIELD_VELOCITY_X),
                *vy = field_of(world, TH_FIELD_VELOCITY_Y);
    const uint32_t *level = (const uint32_t *)field_of(world, TH_FIELD_LEVEL);
    const uint32_t *phase = (const uint32_t *)field_of(world, TH_FIELD_PHASE);
    uint64_t people = 0;
    for (int i = 0; i < count; ++i) {
        assert_true(isfinite(x[i]) && isfinite(y[i]) && isfinite(vx[i]) && isfinite(vy[i]));
        people += phase[i] != TH_PHASE_BODY;
        if (phase[i] >= TH_PHASE_SCRIPTED) continue;
        if (!th_scene_walkable(th_world_scene(world), (int)level[i], (th_vec2){x[i], y[i]}))
            fail_msg("an agent stands in a solid at (%g, %g) on level %u", (double)x[i],
                     (double)y[i], level[i]);
    }
    assert_int_equal(people, s.inside);
}

double run_to_end(th_world *world, double limit) {
    double next_check = 0.0;
    while (!th_world_done(world) && th_world_time(world) < limit) {
        th_world_step(world, 1);
        if (th_world_time(world) < next_check) continue;
        assert_invariants(world);
        next_check += 5.0;
    }
    assert_invariants(world);
    return th_world_time(world);
}

void assert_any_threads(const th_scene *scene, int most, int steps) {
    uint64_t hash = 0;
    for (int threads = 1; threads <= most; ++threads) {
        th_world *world = world_of(scene, threads, 1);
        th_world_step(world, steps);
        if (threads == 1) hash = th_world_hash(world);
        assert_true(th_world_hash(world) == hash);
        th_world_destroy(world);
    }
}

void assert_restores(const th_scene *scene, int before, int after) {
    th_world *world = world_of(scene, 1, 1), *other = world_of(scene, 2, 2);
    th_world_step(world, before);
    th_world_step(other, before / 2);
    size_t size = th_world_snapshot_size(world);
    void *memory = malloc(size);
    assert_non_null(memory);
    assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
    for (int k = 0; k < after; ++k) {
        th_world_step(world, 1);
        th_world_step(other, 1);
        assert_true(th_world_hash(world) == th_world_hash(other));
    }
    free(memory);
    th_world_destroy(world);
    th_world_destroy(other);
}

void *counted_alloc(size_t size, size_t alignment, void *context) {
    ledger *l = context;
    if (++l->allocations == l->fail_at) return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) l->bytes += (int64_t)size;
    if (l->bytes > l->most) l->most = l->bytes;
    return memory;
}

void counted_free(void *memory, size_t size, void *context) {
    ((ledger *)context)->bytes -= (int64_t)size;
    free(memory);
}
