// Many worlds in a batch on a device: each, stepped and asked by a thread of its own, has the state that it has alone,
// after any number of steps, whichever worlds it meets. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "device_world.h"

enum { WORLDS = 6, LOOKS = 6 };

typedef struct seen {
    uint64_t hash[LOOKS], left[LOOKS];
    int events[LOOKS];
    double x[LOOKS]; // sum of positions
} seen;

typedef struct one {
    const th_scene *scene;
    th_batch *batch;
    uint64_t seed;
    int steps; // between looks
    seen seen;
    th_result result;
} one;

static double sum_of(th_world *world) {
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    double sum = 0;
    for (int i = 0; x && i < th_world_agent_count(world); ++i) sum += (double)x[i];
    return sum;
}

static void watch(void *context) {
    one *o = context;
    th_error error;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.backend = TH_BACKEND_CUDA;
    def.threads = 1;
    def.seed = o->seed;
    def.batch = o->batch;
    o->result = th_world_create(o->scene, &def, &world, &error);
    for (int k = 0; o->result == TH_OK && k < LOOKS; ++k) {
        int at_once = o->seed % 2 ? 1 : o->steps; // of the others events pile up
        for (int s = 0; s < o->steps; s += at_once) {
            th_world_step(world, at_once);
            int count;
            uint64_t lost;
            th_world_events(world, &count, &lost);
            o->seen.events[k] += count;
        }
        o->seen.left[k] = th_world_statistics(world).left;
        o->seen.x[k] = sum_of(world);
        if (!th_world_done(world)) o->seen.hash[k] = th_world_hash(world);
    }
    if (world) th_world_destroy(world);
}

// Worlds of some scenes, alone one after the other, then all in one batch.
static void same_as_alone(const char *const *files, int count) {
    one alone[WORLDS], batched[WORLDS];
    th_scene *scenes[WORLDS];
    th_thread *threads[WORLDS];
    for (int k = 0; k < count; ++k) scenes[k] = device_scene(files[k]);
    th_world_destroy(device_world(scenes[0], TH_BACKEND_CUDA)); // skips where there is none
    th_batch *batch = th_batch_create();
    assert_non_null(batch);
    for (int k = 0; k < WORLDS; ++k) {
        alone[k] = (one){.scene = scenes[k % count], .seed = (uint64_t)k + 1, .steps = 12 + 6 * k};
        batched[k] = alone[k];
        batched[k].batch = batch;
        watch(&alone[k]);
        assert_int_equal(alone[k].result, TH_OK);
    }
    for (int k = 0; k < WORLDS; ++k) threads[k] = th_thread_start(watch, &batched[k]);
    for (int k = 0; k < WORLDS; ++k) th_thread_join(threads[k]);
    for (int k = 0; k < WORLDS; ++k) {
        assert_int_equal(batched[k].result, TH_OK);
        for (int look = 0; look < LOOKS; ++look)
            if (alone[k].seen.hash[look] != batched[k].seen.hash[look])
                fail_msg("world %d differs at look %d", k, look);
        assert_memory_equal(&alone[k].seen, &batched[k].seen, sizeof alone[k].seen);
    }
    th_batch_destroy(batch);
    for (int k = 0; k < count; ++k) th_scene_destroy(scenes[k]);
}

static const char hall[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 16, 12]}, "obstacles": [{"rect": [7, 4, 8, 8]}]}],
    "exits": [{"id": "out", "line": [[16, 2], [16, 5]]}, {"id": "west", "line": [[0, 5], [0, 8]]}],
    "groups": [{"count": 60, "area": {"rect": [1, 1, 6, 11]}, "to": "out", "plan": "quickest"},
        {"area": {"rect": [9, 1, 15, 11]}, "to": "west",
            "source": {"rate": 4, "from": 0, "until": 10}}],
    "measure": {"lines": [{"id": "middle", "line": [[8, 0], [8, 4]]}]},
    "run": {"step": 0.1, "max_time": 60}});
#define CROWD(model) \
    TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 14, 6]}}],                             \
        "exits": [{"id": "e", "line": [[14, 2], [14, 4]]}],                                 \
        "groups": [{"count": 50, "area": {"rect": [1, 1, 12, 5]}, "to": "e", "move": model}], \
        "run": {"step": 0.05, "max_time": 60}})
static const char with_orca[] = CROWD("orca"), with_force[] = CROWD("social_force"),
                  with_pbd[] = CROWD("pbd"), with_uic[] = CROWD("uic");

static void worlds_of_one_scene_are_as_alone(void **state) {
    (void)state;
    const char *const files[] = {hall};
    same_as_alone(files, 1);
}
static void worlds_of_several_models_are_as_alone(void **state) {
    (void)state;
    const char *const files[] = {with_orca, hall, with_force, with_pbd, with_uic};
    same_as_alone(files, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_of_one_scene_are_as_alone),
        cmocka_unit_test(worlds_of_several_models_are_as_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
