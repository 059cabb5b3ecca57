// The allocator that fails, for worlds: for every k the k-th allocation returns nothing; the call says so,
// leaves nothing behind and the world goes on. And the allocator that counts: a step allocates nothing.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <stdlib.h>

// Everything a step can do: two levels, a door with a schedule, sources by rate and by timetable, a
// waiting area, own goals on the road map, scripted person and body, all three models, lines and areas.
static const char everything[] = TH_JSON(
    {"levels":[{"id":"low", "walkable":[{"rect":[0,0,16,10]}],
        "obstacles":[{"rect":[7,4,8,6]}], "walls":[[[12,0],[12,4]],[[12,6],[12,10]]]},
        {"id":"high", "walkable":{"rect":[20,0,30,10]}}],
    "stairs":[{"id":"up", "level":"low", "to":"high", "area":{"rect":[16,4,20,6]},
        "top":[[20,4],[20,6]]}],
    "zones":[{"level":"low", "area":{"rect":[0,0,2,10]}, "speed":0.7}],
    "doors":[{"id":"gate", "level":"low", "line":[[12,4],[12,6]], "schedule":[{"time":2,
        "open":false}, {"time":4, "open":true}]}],
    "exits":[{"id":"out", "level":"high", "line":[[30,3],[30,7]]}, {"id":"back",
        "level":"low", "line":[[0,3],[0,7]]}],
    "waiting_areas":[{"id":"hall", "level":"low", "area":{"rect":[8.5,2,11.5,8]}, "wait":1}],
    "groups":[{"level":"low", "count":20, "area":{"rect":[2,1,6,9]}, "to":"out"},
        {"level":"low", "count":10, "area":{"rect":[13,1,15.5,9]}, "route":["hall", "back"],
        "move":"social_force"}, {"level":"low", "area":{"rect":[0.5,0.5,2,9]},
        "source":{"rate":2}, "to":"out", "move":"helbing_molnar"}, {"level":"high",
        "area":{"rect":[25,1,29,9]}, "source":{"timetable":[[1,3],[3,4]]}, "to":"back"},
        {"level":"low", "count":5, "area":{"rect":[8.5,1,11,9]}, "plan":"roadmap",
        "own_goal":{"in":{"rect":[1,1,4,9]}}}],
    "scripted":[{"id":"guard", "level":"low", "path":[[0,1,1],[6,6,1]]}, {"id":"cart",
        "level":"low", "shape":{"rect":[-0.5,-0.5,0.5,0.5]}, "path":[[0,6,9],[6,1,9]]}],
    "measure":{"lines":[{"level":"low", "line":[[10,0],[10,10]]}], "areas":[{"level":"low",
        "area":{"rect":[9,3,11,7]}}]},
    "plan_cell":0.4,
    "run":{"step":0.1}});

static const char without_doors[] = TH_JSON(
    {"levels":[{"id":"a", "walkable":{"rect":[0,0,8,6]}}],
    "exits":[{"id":"e", "line":[[8,1],[8,5]]}],
    "groups":[{"count":5, "area":{"rect":[1,1,4,5]}, "to":"e"}],
    "plan_cell":0.4});

static th_result create(const th_scene *scene, ledger *l, th_world **world, th_error *error) {
    th_world_def def = th_world_def_default();
    def.threads = 2;
    def.allocator = (th_allocator){counted_alloc, counted_free, l};
    return th_world_create(scene, &def, world, error);
}

static void creation_survives_no_memory(void **state) {
    (void)state;
    th_scene *scene = scene_of(everything);
    ledger sound = {0};
    th_world *world = NULL;
    th_error error = {0};
    if (create(scene, &sound, &world, &error) != TH_OK) fail_msg("%s", error.message);
    th_world_destroy(world);
    assert_int_equal(sound.bytes, 0);
    assert_true(sound.allocations > 50);
    for (int64_t k = 1; k <= sound.allocations; ++k) {
        ledger l = {.fail_at = k};
        error = (th_error){0};
        assert_int_equal(create(scene, &l, &world, &error), TH_NO_MEMORY);
        assert_null(world);
        assert_true(error.message[0] != '\0');
        assert_int_equal(l.bytes, 0);
    }
    th_scene_destroy(scene);
}

static void map(void **state) {
    (void)state;
    th_scene *scene = scene_of(everything);
    ledger l = {0};
    th_world *world = NULL;
    assert_int_equal(create(scene, &l, &world, NULL), TH_OK);
    for (int f = 0; f < TH_FIELD_COUNT; ++f) {
        l.fail_at = l.allocations + 1;
        assert_null(th_world_map(world, (th_field)f, TH_ACCESS_READ));
        assert_non_null(th_world_map(world, (th_field)f, TH_ACCESS_READ));
        th_world_unmap(world, (th_field)f);
    }
    th_world_step(world, 5);
    assert_invariants(world);
    th_world_destroy(world);
    assert_int_equal(l.bytes, 0);
    th_scene_destroy(scene);
}

// The first live wall of a scene without doors takes memory for changed distance fields.
static void first_live_wall(void **state) {
    (void)state;
    th_scene *scene = scene_of(without_doors);
    th_vec2 a = {5.0f, 0.0f}, b = {5.0f, 3.0f};
    int64_t taken = 0;
    for (int64_t k = 0; k == 0 || k <= taken; ++k) {
        ledger l = {0};
        th_world *world = NULL;
        th_error error = {0};
        assert_int_equal(create(scene, &l, &world, NULL), TH_OK);
        uint64_t before = th_world_hash(world);
        int64_t allocations = l.allocations;
        l.fail_at = k ? allocations + k : 0;
        th_result result = th_world_add_wall(world, 0, a, b, NULL, &error);
        assert_int_equal(result, k ? TH_NO_MEMORY : TH_OK);
        if (k) {
            assert_true(error.message[0] != '\0');
            assert_int_equal(th_world_hash(world), before);
            l.fail_at = 0;
            assert_int_equal(th_world_add_wall(world, 0, a, b, NULL, NULL), TH_OK);
        } else {
            taken = l.allocations - allocations;
            assert_true(taken > 0);
        }
        allocations = l.allocations;
        assert_int_equal(th_world_remove_wall(world, 0, NULL), TH_OK);
        assert_int_equal(th_world_add_wall(world, 0, a, b, NULL, NULL), TH_OK);
        assert_int_equal(l.allocations, allocations); // the second one takes none
        th_world_step(world, 10);
        th_world_destroy(world);
        assert_int_equal(l.bytes, 0);
    }
    th_scene_destroy(scene);
}

static void step_allocates_nothing(void **state) {
    (void)state;
    th_scene *scene = scene_of(everything);
    ledger l = {0};
    th_world *world = NULL;
    assert_int_equal(create(scene, &l, &world, NULL), TH_OK);
    int64_t allocations = l.allocations;
    th_world_step(world, 260); // door, sources, stairs, waiting: people come and leave
    th_statistics s = th_world_statistics(world);
    assert_true(s.left > 0 && s.spawned >= 20 + 10 + 5 + 1 + 7);
    assert_int_equal(th_world_set_door(world, "gate", false, NULL), TH_OK);
    th_world_step(world, 10);
    assert_int_equal(th_world_set_door(world, "gate", true, NULL), TH_OK);
    th_vec2 a = {3.0f, 2.0f}, b = {3.0f, 8.0f};
    assert_int_equal(th_world_add_wall(world, 0, a, b, NULL, NULL), TH_OK);
    th_world_step(world, 10);
    size_t size = th_world_snapshot_size(world);
    void *bytes = malloc(size);
    assert_int_equal(th_world_snapshot(world, bytes, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(world, bytes, size, NULL), TH_OK);
    free(bytes);
    th_world_step(world, 10);
    assert_int_equal(l.allocations, allocations);
    assert_invariants(world); // maps views, so last
    th_world_destroy(world);
    assert_int_equal(l.bytes, 0);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation_survives_no_memory),
        cmocka_unit_test(map),
        cmocka_unit_test(first_live_wall),
        cmocka_unit_test(step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
