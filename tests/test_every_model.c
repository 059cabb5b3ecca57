// Every move model, filter, planner and behaviour of the table in one world. SPDX-License-Identifier: Apache-2.0
#include "every_model.h"
#include "support.h"

static th_scene *every_model(int *groups) {
    char *json = malloc(EVERY_MODEL_TEXT);
    assert_non_null(json);
    *groups = every_model_scene(json);
    th_scene *scene = scene_of(json);
    free(json);
    return scene;
}

// The own values of all of them are there, each in an array of its own.
static void own_values(void **state) {
    (void)state;
    int groups, count, own = 0;
    th_scene *scene = every_model(&groups);
    th_world *world = world_of(scene, 1, 1);
    const th_model *const *models = th_models(&count);
    enum { MOST = 1000 };
    const void *arrays[MOST];
    for (int m = 0; m < count; ++m)
        for (int f = 0; f < models[m]->field_count && !models[m]->internal; ++f, ++own) {
            assert_true(own < MOST);
            arrays[own] = th_model_field(world, m, f);
            assert_non_null(arrays[own]);
            for (int k = 0; k < own; ++k) assert_ptr_not_equal(arrays[own], arrays[k]);
        }
    assert_true(own > 37); // where fixed room was once too small
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void runs_and_restores(void **state) {
    (void)state;
    int groups;
    th_scene *scene = every_model(&groups);
    assert_any_threads(scene, 3, 60);
    assert_restores(scene, 40, 40);
    th_scene_destroy(scene);
}

static void no_agent_is_lost(void **state) {
    (void)state;
    int groups;
    th_scene *scene = every_model(&groups);
    th_world *world = world_of(scene, 2, 3);
    double end = run_to_end(world, 200);
    assert_invariants(world);
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.spawned, groups * EVERY_MODEL_PEOPLE);
    assert_int_equal(s.spawned, s.inside + s.left + s.removed);
    assert_int_equal(s.wall_crossings, 0);
    assert_true(s.left >= s.spawned * 9 / 10);
    print_message("  %d groups, %d left after %.0f s\n", groups, (int)s.left, end);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_values),
        cmocka_unit_test(runs_and_restores),
        cmocka_unit_test(no_agent_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
