// The operating system behind core/system: the one of this machine and, built with TH_SYSTEM_NONE, none at all. A crowd has
// the same bits with both. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/pool.h"
#include "core/system/system.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

#ifdef TH_SYSTEM_NONE
static const bool has_system = false;
#else
static const bool has_system = true;
#endif

enum { JOBS = 20 };

typedef struct workshop {
    int result[JOBS], delivered, stop_after;
} workshop;

static void square(void *context, int job) { ((workshop *)context)->result[job] = job * job; }

static bool take(void *context, int job) {
    workshop *w = context;
    assert_int_equal(job, JOBS - 1 - w->delivered);
    assert_int_equal(w->result[job], job * job);
    return ++w->delivered != w->stop_after;
}

static void pool_runs_every_job(void **state) {
    (void)state;
    int order[JOBS];
    for (int k = 0; k < JOBS; ++k) order[k] = JOBS - 1 - k;
    for (int stop_after = 5; stop_after <= JOBS; stop_after += JOBS - 5) {
        workshop w = {.stop_after = stop_after};
        th_pool_def def = {.count = JOBS,
                           .threads = 3,
                           .window = 4,
                           .order = order,
                           .run = square,
                           .deliver = take,
                           .context = &w};
        th_pool_progress progress;
        assert_int_equal(th_pool_run(&def, &progress, NULL), TH_OK);
        assert_int_equal(progress.delivered, stop_after);
        assert_true(progress.begun >= stop_after && progress.begun <= stop_after + 4);
    }
}

typedef struct shared {
    th_gate *gate;
    int turns;
} shared;

static void take_turn(void *context) {
    shared *s = context;
    th_gate_lock(s->gate);
    ++s->turns;
    th_gate_ring(s->gate);
    th_gate_unlock(s->gate);
}

static void threads_start_where_there_are_any(void **state) {
    (void)state;
    shared s = {.gate = th_gate_create()};
    assert_non_null(s.gate);
    th_thread *thread = th_thread_start(take_turn, &s);
    assert_int_equal(thread != NULL, has_system);
    assert_int_equal(th_system_has_threads(), has_system);
    th_gate_lock(s.gate);
    while (has_system && s.turns == 0) th_gate_wait_for(s.gate, 0.5);
    th_gate_unlock(s.gate);
    th_thread_join(thread);
    th_gate_destroy(s.gate);
    assert_int_equal(s.turns, has_system);
}

static void files_are_read_where_there_are_any(void **state) {
    (void)state;
    th_error error = {0};
    size_t size = 0;
    char *text = th_file_content("scenes/door.json", &size, &error);
    assert_int_equal(text != NULL, has_system);
    if (text) assert_int_equal(strlen(text), size);
    free(text);
    assert_null(th_file_content("scenes", &size, &error));
    assert_int_equal(error.code, TH_NO_FILE);
    if (has_system) assert_non_null(strstr(error.message, "not a plain file"));
    assert_null(th_file_content("scenes/none_such.json", &size, &error));
    assert_non_null(strstr(error.message, "No such file"));
}

static void plugins_say_why_they_do_not_load(void **state) {
    (void)state;
    th_error error = {0};
    assert_int_equal(th_plugin_load("none_such.so", &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, has_system ? "cannot open" : "loads no plugins"));
}

static void clocks_go_on(void **state) {
    (void)state;
    double begin = th_monotonic_seconds(), worked = th_thread_cpu_seconds();
    volatile double sum = 0.0;
    for (int k = 0; k < 1000000; ++k) sum += k;
    assert_true(sum > 0.0 && th_monotonic_seconds() >= begin);
    assert_true(th_thread_cpu_seconds() >= worked);
    assert_true(th_core_count() >= 1 && th_online_cores() >= 1 && th_running_tasks() >= 0);
}

// The hash is that of a world on Linux.
static void crowd_has_the_same_bits(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,12,8]}, "obstacles":{"circle":[9,4,0.6]}}],
        "exits":[{"id":"out", "line":[[12,3],[12,5]]}],
        "groups":[{"count":60, "area":{"rect":[0,0,7,8]}, "to":"out"}]}));
    th_world *world = world_of(scene, 2, 1);
    th_world_step(world, 100);
    assert_int_equal(th_world_hash(world), 0xc0cb5c4e9ebecee3u);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_runs_every_job),
        cmocka_unit_test(threads_start_where_there_are_any),
        cmocka_unit_test(files_are_read_where_there_are_any),
        cmocka_unit_test(plugins_say_why_they_do_not_load),
        cmocka_unit_test(clocks_go_on),
        cmocka_unit_test(crowd_has_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
