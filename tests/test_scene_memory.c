// The allocator that fails: for every k the k-th allocation of a load returns nothing. The loader must say
// so, leave nothing behind and not crash. SPDX-License-Identifier: Apache-2.0
#include "scene/place.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const char scene_text[] = TH_JSON(
    {"levels":[{"id":"a", "walkable":{"rect":[0,0,10,10]}, "obstacles":[{"circle":[7,7,1]}],
        "walls":[[[3,0],[3,4]]]}, {"id":"b", "walkable":{"rect":[14,0,20,10]}}],
    "stairs":[{"level":"a", "to":"b", "area":{"rect":[10,4,14,6]}, "top":[[14,4],[14,6]]}],
    "doors":[{"level":"a", "line":[[3,4],[3,6]], "schedule":[[3, "close"]]}],
    "zones":[{"level":"a", "area":{"rect":[0,0,1,1]}, "speed":0.5}],
    "exits":[{"level":"b", "line":[[20,4],[20,6]]}],
    "groups":[{"level":"a", "count":3}, {"level":"b", "source":{"timetable":[[1,2]]}}],
    "scripted":[{"level":"a", "shape":{"rect":[-1,-1,1,1]}, "path":[[0,5,5],[9,6,5]]}],
    "measure":{"areas":[{"level":"a", "area":{"rect":[0,0,2,2]}}]},
    "plan_cell":0.5});

static th_result load(ledger *l, th_scene **scene, th_error *error) {
    static const char *const overrides[] = {"groups[0].count=4"};
    th_scene_options options = {.overrides = overrides, .override_count = 1, .no_files = true};
    options.allocator = (th_allocator){counted_alloc, counted_free, l};
    return th_scene_load_json(scene_text, strlen(scene_text), "memory.json", NULL, &options, scene,
                              error);
}

static void every_allocation(void **state) {
    (void)state;
    ledger sound = {0};
    th_scene *scene = NULL;
    th_error error;
    if (load(&sound, &scene, &error) != TH_OK) fail_msg("%s: %s", error.path, error.message);
    assert_true(sound.bytes > 0);
    th_scene_destroy(scene);
    assert_int_equal(sound.bytes, 0);
    assert_true(sound.allocations > 10);
    for (int64_t k = 1; k <= sound.allocations; ++k) {
        ledger l = {.fail_at = k};
        scene = NULL;
        th_result result = load(&l, &scene, &error);
        assert_int_equal(result, TH_NO_MEMORY);
        assert_null(scene);
        assert_true(error.message[0] != '\0');
        assert_int_equal(l.bytes, 0);
    }
}

static void the_placer_survives_no_memory(void **state) {
    (void)state;
    ledger scene_ledger = {0};
    th_scene *scene = NULL;
    th_error error;
    assert_int_equal(load(&scene_ledger, &scene, &error), TH_OK);
    float radii[8] = {0.2f, 0.2f, 0.2f, 0.2f, 0.2f, 0.2f, 0.2f, 0.2f};
    th_vec2 positions[8];
    for (int64_t k = 1; k < 20; ++k) {
        ledger l = {.fail_at = k};
        th_allocator allocator = {counted_alloc, counted_free, &l};
        th_memory memory = th_memory_of(&allocator);
        th_placer *placer = th_placer_create(&memory, scene, 0.2f, 8);
        if (placer) {
            int placed = th_placer_fill(placer, &scene->groups[0].area, 8, radii, 1, 1, positions);
            assert_true(placed == 8 || placed == -1);
        }
        th_placer_destroy(placer);
        assert_int_equal(l.bytes, 0);
    }
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(the_placer_survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
