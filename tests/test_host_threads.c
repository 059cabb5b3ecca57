// Threads of the host (th_world_def.host): the same bits however the host spreads what it is given, and nothing is left out.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/model.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// A host that runs what it gets in one of several ways.
typedef enum { AT_ONCE, ONE_BY_ONE_BACKWARDS, IN_THREE_THREADS, LATE, WAYS } way;
typedef struct host {
    way way;
    int calls, open; // tasks handed over; begun and not finished
} host;
typedef struct range {
    th_task_fn *task;
    int begin, end;
    void *context;
} range;

static void *run_range(void *context) {
    const range *r = context;
    r->task(r->begin, r->end, r->context);
    return NULL;
}

static void in_three_threads(th_task_fn *task, int items, void *context) {
    pthread_t threads[3];
    range ranges[3];
    for (int k = 0; k < 3; ++k) {
        ranges[k] = (range){task, items * k / 3, items * (k + 1) / 3, context};
        assert_int_equal(pthread_create(&threads[k], NULL, run_range, &ranges[k]), 0);
    }
    for (int k = 0; k < 3; ++k) pthread_join(threads[k], NULL);
}

static void *begin(th_task_fn *task, int items, void *task_context, void *context) {
    host *h = context;
    ++h->calls;
    if (h->way == AT_ONCE) task(0, items, task_context);
    for (int k = items; h->way == ONE_BY_ONE_BACKWARDS && k > 0; --k) task(k - 1, k, task_context);
    if (h->way == IN_THREE_THREADS) in_three_threads(task, items, task_context);
    if (h->way != LATE) return NULL;
    range *later = malloc(sizeof *later);
    assert_non_null(later);
    *later = (range){task, 0, items, task_context};
    ++h->open;
    return later;
}

static void finish(void *begun, void *context) {
    run_range(begun);
    free(begun);
    --((host *)context)->open;
}

static uint64_t hash_with(const th_scene *scene, host *h, int steps) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    th_error error;
    def.seed = 1;
    def.threads = 1;
    if (h) def.host = (th_host_threads){begin, finish, h};
    if (th_world_create(scene, &def, &world, &error) != TH_OK) fail_msg("%s", error.message);
    th_world_step(world, steps);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

// Every model, as those that hand nothing over must run all the same.
static void the_same_bits_however_they_are_spread(void **state) {
    (void)state;
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (models[m]->stage != TH_STAGE_MOVE || models[m]->internal) continue;
        char json[700];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}],
                          "exits": [{"id": "out", "line": [[40, 8], [40, 12]]}],
                          "groups": [{"count": 700, "area": {"rect": [1, 1, 39, 19]}, "to": "out", "move": "%s"}],
                          "run": {"step": 0.05}}),
                                                           models[m]->name);
        th_scene *scene = scene_of(json);
        uint64_t alone = hash_with(scene, NULL, 30);
        for (way w = 0; w < WAYS; ++w) {
            host h = {.way = w};
            uint64_t hash = hash_with(scene, &h, 30);
            if (hash != alone) fail_msg("%s: another hash, way %d", models[m]->name, (int)w);
            assert_int_equal(h.open, 0);
            assert_true(h.calls >= 30);
        }
        th_scene_destroy(scene);
    }
}

// What agents keep of each other changes only where they wait: 300 people before a door for 20 s.
static void the_same_bits_in_a_jam(void **state) {
    (void)state;
    th_scene *scene = scene_of(
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 16, 12]}}],
                 "exits": [{"id": "out", "line": [[16, 5.5], [16, 6.5]]}],
                 "groups": [{"count": 300, "area": {"rect": [4, 0, 16, 12]}, "to": "out"}]}));
    host h = {.way = ONE_BY_ONE_BACKWARDS};
    uint64_t alone = hash_with(scene, NULL, 200);
    assert_int_equal(hash_with(scene, &h, 200), alone);
    th_scene_destroy(scene);
}

static void wrong_use_is_an_error(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 4, 4]}}]}));
    host h = {0};
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    th_error error;
    def.threads = 2;
    def.host = (th_host_threads){begin, finish, &h};
    assert_int_equal(th_world_create(scene, &def, &world, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "host"));
    def.threads = 0;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_however_they_are_spread),
        cmocka_unit_test(the_same_bits_in_a_jam),
        cmocka_unit_test(wrong_use_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
