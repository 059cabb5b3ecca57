// Fields that follow changed walls within a time (th_world_def.replan): in the end they are those of a world that solves at
// once, no step does it all, and snapshots keep what is under way. SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"
#include "plan/prepared.h"
#include "support.h"
#include "throng/live.h"
#include "world/world.h"
#include <stdlib.h>
#include <string.h>

// Two ways from the west to the east, some walk to points of their own, and bodies need different widths.
static const char two_ways[] = TH_JSON({
    "levels": [{"walkable": {"rect": [0, 0, 30, 20]},
                "obstacles": [{"rect": [8, 8, 22, 12]}, {"rect": [14, 0, 16, 1]}]}],
    "doors": [{"id": "south", "line": [[15, 1], [15, 8]]}, {"id": "north", "line": [[15, 12], [15, 20]]}],
    "exits": [{"id": "out", "line": [[30, 4], [30, 6]]}],
    "groups": [{"count": 40, "area": {"rect": [1, 1, 7, 7]}, "to": "out", "plan": "field"},
               {"count": 20, "area": {"rect": [1, 13, 7, 19]}, "to": "out"},
               {"count": 20, "area": {"rect": [1, 8, 7, 12]}, "own_goal": {"in": {"rect": [24, 12, 29, 19]}}, "plan": "roadmap"}],
    "run": {"step": 0.05}});

static th_world *following(const th_scene *scene, double replan, int threads) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    th_error error = {0};
    def.threads = threads;
    def.seed = 1;
    def.replan = replan;
    if (th_world_create(scene, &def, &world, &error) != TH_OK) fail_msg("%s", error.message);
    return world;
}

enum { POINTS = 5 };
static void distances(const th_world *world, float *found) {
    const th_vec2 points[POINTS] = {{1, 1}, {7, 4}, {12, 4}, {12, 16}, {26, 16}};
    th_world_distances(world, 0, 0, points, POINTS, found);
}
static void shut(th_world *world, const char *door, bool shuts) {
    assert_int_equal(th_world_set_door(world, door, !shuts, NULL), TH_OK);
}
static bool is_running(const th_world *world) { return world->plan->replan.state.running; }

// Fields and road map of both worlds are the same, bit by bit.
static void assert_same_plans(const th_world *a, const th_world *b) {
    const th_scene *scene = a->scene;
    size_t nodes = (size_t)scene->plan->nodes.count;
    for (int size = 0; size < scene->size_count; ++size) {
        const th_plans *of_a = &a->plan->plans[size], *of_b = &b->plan->plans[size];
        assert_memory_equal(of_a->graph.links, of_b->graph.links, nodes);
        for (int t = 0; t < scene->target_count; ++t)
            if (of_a->fields[t])
                assert_memory_equal(of_a->fields[t], of_b->fields[t], nodes * sizeof(float));
    }
    const th_roadmap *map_a = a->plan->plans[0].roadmap, *map_b = b->plan->plans[0].roadmap;
    size_t count = (size_t)map_a->count;
    assert_memory_equal(map_a->table, map_b->table, count * count * sizeof(float));
    for (size_t i = 0; i < count; ++i)
        assert_memory_equal(map_a->nodes[i].length, map_b->nodes[i].length,
                            sizeof map_a->nodes[i].length);
}

static void fields_follow_within_the_time(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    th_world *at_once = following(scene, 0, 1), *follows = following(scene, 1, 1);
    float before[POINTS], now[POINTS], wanted[POINTS];
    distances(follows, before);
    for (int k = 0; k < 3; ++k) {
        shut(at_once, k == 2 ? "north" : "south", k != 1);
        shut(follows, k == 2 ? "north" : "south", k != 1);
        th_world_step(follows, 1);
        distances(follows, now);
        distances(at_once, wanted);
        assert_true(is_running(follows));
        if (k == 0) { // the next step still goes by the old field
            assert_true(now[0] == before[0]);
            assert_true(wanted[0] > before[0] + 1.0f);
        }
        th_world_step(follows, 19); // a second
        assert_false(is_running(follows));
        assert_same_plans(follows, at_once);
    }
    th_world_destroy(at_once);
    th_world_destroy(follows);
    th_scene_destroy(scene);
}

// Fields are renewed even while the host keeps changing walls; in the end they are those of the walls.
static void changes_without_end_are_followed(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    th_world *at_once = following(scene, 0, 1), *follows = following(scene, 0.5, 1);
    float before[POINTS], now[POINTS];
    distances(follows, before);
    bool renewed = false;
    shut(follows, "south", true);
    for (int k = 0; k < 60; ++k) {
        int wall;
        th_vec2 a = {3, 9 + 0.02f * (float)k}, b = {5, 9};
        assert_int_equal(th_world_add_wall(follows, 0, a, b, &wall, NULL), TH_OK);
        th_world_step(follows, 1);
        assert_int_equal(th_world_remove_wall(follows, wall, NULL), TH_OK);
        distances(follows, now);
        renewed = renewed || now[0] > before[0] + 1.0f;
    }
    assert_true(renewed);
    th_world_step(follows, 21); // the round under way and one more
    assert_false(is_running(follows));
    shut(follows, "north", true);
    th_world_step(follows, 2);
    assert_true(is_running(follows));
    shut(follows, "north", false);
    th_world_step(follows, 21);
    assert_false(is_running(follows));
    shut(at_once, "south", true);
    assert_same_plans(follows, at_once);
    th_world_destroy(at_once);
    th_world_destroy(follows);
    th_scene_destroy(scene);
}

// A share of a step is a share of the work: the nodes that a step settles are few.
static void no_step_does_it_all(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    th_world *world = following(scene, 1, 1);
    shut(world, "south", true);
    int steps = 0;
    for (; is_running(world); ++steps) th_world_step(world, 1);
    assert_in_range(steps, 5, 20);
    // A wall that changes no way is looked at, and nothing is solved.
    assert_int_equal(
        th_world_add_wall(world, 0, (th_vec2){29.95f, 0.1f}, (th_vec2){29.99f, 0.1f}, NULL, NULL),
        TH_OK);
    for (steps = 0; is_running(world); ++steps) th_world_step(world, 1);
    assert_true(steps < 12);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static uint64_t hash_after_changes(const th_scene *scene, int threads) {
    th_world *world = following(scene, 1, threads);
    th_world_step(world, 10);
    shut(world, "south", true);
    th_world_step(world, 40);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}
static void threads_do_not_matter(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    assert_int_equal(hash_after_changes(scene, 1), hash_after_changes(scene, 3));
    th_scene_destroy(scene);
}

// Snapshots of every second step of a round, restored into a world that has seen other walls, go on as the first did.
static void snapshots_keep_what_is_under_way(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    th_world *world = following(scene, 1, 1), *other = following(scene, 1, 2);
    th_world_step(world, 5);
    shut(world, "south", true);
    for (int k = 0; k < 24; k += 2) {
        size_t size = th_world_snapshot_size(world);
        void *memory = malloc(size);
        assert_non_null(memory);
        assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
        shut(other, k % 4 ? "north" : "south", true);
        th_world_step(other, 3);
        assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
        assert_same_plans(world, other);
        if (k == 4) shut(world, "south", false), shut(other, "south", false); // while it runs
        th_world_step(world, 2);
        th_world_step(other, 2);
        assert_true(th_world_hash(world) == th_world_hash(other));
        free(memory);
    }
    th_world_step(world, 40);
    th_world_step(other, 40);
    assert_true(th_world_hash(world) == th_world_hash(other));
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

// fuzz/fuzz_snapshot.c is the open-ended version.
static void forged_snapshots_are_refused_or_go_on(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    th_world *world = following(scene, 1, 1);
    shut(world, "south", true);
    th_world_step(world, 7);
    size_t size = th_world_snapshot_size(world), plan = th_plan_saved_size(world);
    unsigned char *good = malloc(size), *bad = malloc(size);
    assert_non_null(good);
    assert_non_null(bad);
    assert_int_equal(th_world_snapshot(world, good, size, NULL), TH_OK);
    uint64_t random = 1;
    int refused = 0;
    enum { TRIES = 300 };
    for (int k = 0; k < TRIES; ++k) {
        memcpy(bad, good, size);
        for (int change = 0; change < 3; ++change) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            // The planners' part is nearly all of it; a third of the changes goes to its head.
            size_t at = change ? (size_t)(random >> 20) % plan : (size_t)(random >> 20) % 64;
            bad[size - plan + at] ^= (unsigned char)(random >> 56);
        }
        th_snapshot_seal(bad);
        refused += th_world_restore(world, bad, size, NULL) != TH_OK;
        th_world_step(world, 1);
    }
    assert_in_range(refused, TRIES / 4, TRIES);
    free(good);
    free(bad);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// So that no agent waits when one is sent to a point.
static void worlds_that_follow_have_a_road_map(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({
        "levels": [{"walkable": {"rect": [0, 0, 20, 10]}, "walls": [[[10, 0], [10, 8]]]}],
        "exits": [{"id": "out", "line": [[20, 4], [20, 6]]}],
        "groups": [{"count": 4, "area": {"rect": [1, 1, 6, 6]}, "to": "out"}]}));
    th_world *world = following(scene, 1, 1);
    assert_non_null(world->plan->plans[0].roadmap);
    assert_int_equal(th_world_send(world, (th_agent_id){1}, 0, (th_vec2){12, 1}, NULL), TH_OK);
    th_world_step(world, 20);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void wrong_use_is_an_error(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_ways);
    const double wrong[] = {-1, 61, (double)NAN, (double)INFINITY};
    for (int k = 0; k < 4; ++k) {
        th_world_def def = th_world_def_default();
        th_world *none = NULL;
        def.replan = wrong[k];
        assert_int_equal(th_world_create(scene, &def, &none, NULL), TH_BAD_ARGUMENT);
        assert_null(none);
    }
    th_world *follows = following(scene, 1, 1), *at_once = following(scene, 0, 1);
    size_t size = th_world_snapshot_size(follows);
    void *memory = malloc(size);
    th_error error;
    assert_non_null(memory);
    assert_int_equal(th_world_snapshot(follows, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(at_once, memory, size, &error), TH_BAD_SNAPSHOT);
    assert_non_null(strstr(error.message, "replan"));
    free(memory);
    th_world_destroy(follows);
    th_world_destroy(at_once);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_follow_within_the_time),
        cmocka_unit_test(changes_without_end_are_followed),
        cmocka_unit_test(no_step_does_it_all),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(snapshots_keep_what_is_under_way),
        cmocka_unit_test(forged_snapshots_are_refused_or_go_on),
        cmocka_unit_test(worlds_that_follow_have_a_road_map),
        cmocka_unit_test(wrong_use_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
