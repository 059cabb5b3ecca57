// The plan field with crowd_weight: quickest ways, the same for any number of threads and after a restore.
// SPDX-License-Identifier: Apache-2.0
#include "formula/weidmann.h"
#include "support.h"
#include <stdlib.h>

static void slowness(void **state) {
    (void)state;
    assert_float_equal(th_crowd_slowness(0.0f, 1.0f), 1.0f, 1e-6f);
    assert_float_equal(th_crowd_slowness(3.0f, 0.0f), 1.0f, 1e-6f);
    // Weidmann: 0.61 m/s at 2 people/m2, free 1.34.
    assert_float_equal(th_crowd_slowness(2.0f, 1.0f), 2.21f, 0.02f);
    assert_float_equal(th_crowd_slowness(9.0f, 1.0f), 6.7f, 1e-3f);
}

// A crowd before a wide corner with a jam at its inside.
static th_scene *corner(const char *plan) {
    char text[1200];
    static const char format[] =
        TH_JSON(
            {"levels": [{"walkable": "POLYGON ((0 0, 16 0, 16 8, 8 8, 8 24, 0 24, 0 0))"}],
            "exits": [{"id": "end", "line": [[16, 0], [16, 8]]}],
            "groups": [{"area": {"rect": [0, 14, 8, 24]}, "count": 150, "to": "end",
                "plan": %s, "filter": "densesense", "move": "orca"}]});
    snprintf(text, sizeof text, format, plan);
    return scene_of(text);
}

static double time_round(const char *plan) {
    th_scene *scene = corner(plan);
    th_world *world = world_of(scene, 1, 1);
    double time = run_to_end(world, 400.0);
    assert_int_equal(th_world_statistics(world).left, 150);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return time;
}

static void quicker_round_a_corner(void **state) {
    (void)state;
    double shortest = time_round("\"field\"");
    double quickest = time_round(TH_JSON({"model": "field", "crowd_weight": 1}));
    print_message(
        "  150 people round the corner: %.1f s by the shortest, %.1f s by the quickest way\n",
        shortest, quickest);
    assert_true(quickest < 0.9 * shortest);
}

static void weight_0_is_the_shortest(void **state) {
    (void)state;
    th_scene *plain = corner("\"field\""),
             *zero = corner(TH_JSON({"model": "field", "crowd_weight": 0}));
    th_world *a = world_of(plain, 1, 1), *b = world_of(zero, 1, 1);
    th_world_step(a, 100);
    th_world_step(b, 100);
    assert_true(th_world_hash(a) == th_world_hash(b));
    th_world_destroy(a);
    th_world_destroy(b);
    th_scene_destroy(plain);
    th_scene_destroy(zero);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = corner(TH_JSON({"model": "field", "crowd_weight": 1}));
    assert_any_threads(scene, 3, 65);
    th_scene_destroy(scene);
}

// In the middle between two looks at the crowd, into a world that has seen another one.
static void restored(void **state) {
    (void)state;
    th_scene *scene = corner(TH_JSON({"model": "field", "crowd_weight": 1}));
    assert_restores(scene, 45, 12);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowness),
        cmocka_unit_test(quicker_round_a_corner),
        cmocka_unit_test(weight_0_is_the_shortest),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
