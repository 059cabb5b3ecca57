// DenseSense in whole scenes: the speed-density relation with and without it, both ways, overlaps and
// accelerations, determinism, stairs. SPDX-License-Identifier: Apache-2.0
#include "formula/weidmann.h"
#include "support.h"
#include "validate/corridors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONSISTENT TH_JSON({"model": "densesense", "preset": "consistent"})
// Without the walls; see a_corridor_slows_menge.
#define MENGE TH_JSON({"model": "densesense", "preset": "menge", "obstacle_mode": 0})
#define PASSING TH_JSON({"model": "densesense", "preset": "passing"})
#define LABORATORY TH_JSON({"model": "densesense", "preset": "laboratory"})
#define TRUE_GOAL TH_JSON({"model": "densesense", "preset": "consistent", "arc_goal": 1})
#define NONE "\"none\""

// Under sanitizers, which look for faults and not for means, a few steps will do.
#ifdef TH_SLOW_BUILD
#define SECONDS(time) (0.03 * (time))
enum { LONG_ENOUGH = 0 };
#else
#define SECONDS(time) (time)
enum { LONG_ENOUGH = 1 };
#endif

static th_periodic_result walk(const th_periodic_def *def) {
    th_periodic_result result;
    th_error error = {0};
    if (th_periodic_run(def, &result, &error) != TH_OK) fail_msg("%s", error.message);
    assert_int_equal(result.repairs, 0);
    return result;
}

typedef struct curve {
    double rms; // against Weidmann [m/s]
    double slowest, lowest_density_speed;
} curve;

static curve measure(const char *name, const char *filter, const char *move, double warm_up) {
    static const double densities[] = {0.5, 1, 2, 3, 4, 5}; // as the authors' frozen crowds
    enum { COUNT = sizeof densities / sizeof *densities };
    curve c = {.slowest = 1e9};
    double squares = 0.0;
    print_message("%s", name);
    for (int k = 0; k < COUNT; ++k) {
        th_periodic_def def = th_periodic_def_default(filter, move, densities[k]);
        def.length = 12.0;
        def.warm_up =
            SECONDS(warm_up * fmax(1.0, 2.0 / densities[k])); // a sparse crowd needs longer
        def.measured = SECONDS(4.0);
        double speed = walk(&def).speed, off = speed - th_weidmann_speed(densities[k]);
        squares += off * off / COUNT;
        c.slowest = fmin(c.slowest, speed);
        if (k == 0) c.lowest_density_speed = speed;
        print_message(" %.2f", speed);
    }
    c.rms = sqrt(squares);
    print_message(" m/s, %.3f from Weidmann\n", c.rms);
    return c;
}

// Checks 3 and 5: with the filter ORCA and social force follow Weidmann; alone, they do not slow down.
static void speed_follows_density(void **state) {
    (void)state;
    const char *const moves[] = {"\"orca\"", "\"social_force\""};
    double warm_up = 16.0;
    for (int m = 0; m < 2; ++m) {
        curve plain = measure(moves[m], NONE, moves[m], 0.25 * warm_up),
              menge = measure("  menge", MENGE, moves[m], warm_up),
              consistent = measure("  consistent", CONSISTENT, moves[m], warm_up);
        if (!LONG_ENOUGH) continue;
        assert_true(plain.slowest > 1.0 && plain.rms > 0.5);
        assert_true(menge.rms < 0.15);
        assert_true(consistent.rms < 0.15);
        // Free speed is not touched.
        assert_true(menge.lowest_density_speed > 1.3 && consistent.lowest_density_speed > 1.3);
    }
}

// Walls added like people, as in the authors' code: those of a corridor of 4 m slow every agent down by half,
// alone or not. Not what Weidmann measured, hence free_space in `consistent`.
static void a_corridor_slows_menge(void **state) {
    (void)state;
    curve walls = measure("orca, menge with walls",
                          TH_JSON({"model": "densesense", "preset": "menge"}), "\"orca\"", 8.0);
    assert_true(!LONG_ENOUGH || (walls.lowest_density_speed < 1.2 && walls.rms > 0.15));
}

// Check 4, and people that come told apart from those ahead: they slow one down less.
static void two_ways_flow_less(void **state) {
    (void)state;
    for (int density = 2; density <= 4; density += 2) {
        th_periodic_def def = th_periodic_def_default(CONSISTENT, "\"orca\"", density);
        def.length = 12.0;
        def.warm_up = def.measured = SECONDS(8.0);
        th_periodic_result one = walk(&def);
        def.both_ways = true;
        th_periodic_result both = walk(&def);
        def.filter = PASSING;
        th_periodic_result passing = walk(&def);
        print_message("%d /m2: %.2f one way, %.2f /(m s) both ways, %.2f with `passing`\n", density,
                      one.flow, both.flow, passing.flow);
        assert_true(!LONG_ENOUGH || both.flow < 0.8 * one.flow);
        assert_true(!LONG_ENOUGH ||
                    (passing.flow > 1.1 * both.flow && passing.flow < 1.1 * one.flow));
    }
}

// Two streams in a corridor of 4 m leave it with the authors' social force as well. With oncoming people counted in
// full they stop for good.
static int remain(const char *filter, const char *plan, const char *preset, uint64_t seed) {
    char text[1500];
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [-8, 0, 8, 4]}}],
        "exits": [{"id": "west", "line": [[-8, 0], [-8, 4]]}, {"id": "east", "line": [[8, 0], [8, 4]]}],
        "groups": [{"id": "eastward", "source": {"rate": 2, "until": 60}, "area": {"rect": [-8, 0, -6, 4]},
            "to": "east", "plan": "%s", "filter": %s, "move": {"model": "social_force"%s}},
            {"id": "westward", "source": {"rate": 2, "until": 60}, "area": {"rect": [6, 0, 8, 4]},
            "to": "west", "plan": "%s", "filter": %s, "move": {"model": "social_force"%s}}],
        "run": {"step": 0.1, "max_time": 200}});
    snprintf(text, sizeof text, format, plan, filter, preset, plan, filter, preset);
    th_scene *scene = scene_of(text);
    th_world *world = world_of(scene, 1, seed);
    run_to_end(world, SECONDS(200.0));
    int inside = (int)th_world_statistics(world).inside;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return inside;
}
#define SOFT TH_JSON(, "preset": "menge_soft")
static void streams_of_social_force_pass(void **state) {
    (void)state;
    int passing = remain(PASSING, "field", SOFT, 1) + remain(PASSING, "field", SOFT, 2);
    int jammed = remain(TH_JSON({"model": "densesense", "preset": "passing", "oncoming": 1}),
                                "field", SOFT, 1);
    print_message("social force both ways: %d and %d remain\n", passing, jammed);
    assert_true(!LONG_ENOUGH || (passing == 0 && jammed > 50));
}

// Led by `quickest`, which keeps streams apart, Helbing's hard bodies leave it too, with every preset but `menge`.
static void streams_that_part_pass(void **state) {
    (void)state;
    static const char *const filters[] = {CONSISTENT, PASSING, LABORATORY};
    for (int k = 0; k < 3; ++k) {
        int inside = remain(filters[k], "quickest", "", 1);
        print_message("hard bodies, led by quickest: %d remain\n", inside);
        assert_true(!LONG_ENOUGH || inside == 0);
    }
}

// Check 7: two crowds through each other at 16 Hz overlap less and are jerked about less than without the
// filter. ORCA bare, because the contact stage would take the overlaps away.
static void motion_is_smoother(void **state) {
    (void)state;
    const char *const moves[] = {TH_JSON({"model": "orca", "separation_passes": 0}),
                                         "\"social_force\""};
    for (int m = 0; m < 2; ++m) {
        th_periodic_def def = th_periodic_def_default(NONE, moves[m], 2.0);
        def.length = 12.0;
        def.warm_up = SECONDS(1.0);
        def.measured = SECONDS(12.0);
        def.both_ways = true;
        th_periodic_result plain = walk(&def);
        def.filter = CONSISTENT;
        th_periodic_result filtered = walk(&def);
        def.filter = TRUE_GOAL;
        th_periodic_result to_goal = walk(&def);
        print_message("%s with the true goal: speed %.2f m/s, acceleration %.2f m/s2\n", moves[m],
                      to_goal.speed, to_goal.acceleration);
        print_message("%s: speed %.2f and %.2f m/s, acceleration %.2f and %.2f m/s2, overlaps %.4f "
                      "and %.4f a person\n",
                      moves[m], plain.speed, filtered.speed, plain.acceleration,
                      filtered.acceleration, plain.overlaps, filtered.overlaps);
        if (!LONG_ENOUGH) continue;
        assert_true(filtered.acceleration < 0.8 * plain.acceleration);
        assert_true(to_goal.acceleration >
                    1.2 * filtered.acceleration); // why it is not the default
        assert_true(m == 1 ? filtered.overlaps <= plain.overlaps
                           : filtered.overlaps < plain.overlaps);
    }
}

// Two levels, stairs, a door to squeeze through, two groups with different filters.
static th_scene *stairs(void) {
    return scene_of(TH_JSON(
        {"levels": [{"id": "below", "walkable": {"rect": [-12, 0, 3, 6]},
            "walls": [[[0, 0], [0, 2]], [[0, 4], [0, 6]]]}, {"id": "above", "z": 3,
            "walkable": {"rect": [8, 0, 20, 6]}}],
        "stairs": [{"id": "stairs", "level": "below", "to": "above",
            "area": {"rect": [3, 0, 8, 6]}, "top": [[8, 0], [8, 6]], "up": 0.6,
            "down": 0.7}],
        "exits": [{"id": "end", "level": "above", "line": [[20, 0], [20, 6]]}],
        "groups": [{"id": "a", "level": "below", "count": 60,
            "area": {"rect": [-12, 0, -1, 6]}, "to": "end", "filter": {"model": "densesense",
            "stride_buffer_spread": 0.3}}, {"id": "b", "level": "below", "count": 60,
            "area": {"rect": [-12, 0, -1, 6]}, "to": "end", "filter": {"model": "densesense",
            "preset": "menge"}, "move": "social_force"}],
        "run": {"step": 0.0625, "max_time": 200, "seed": 3}}));
}

static void same_bits_for_any_number_of_threads(void **state) {
    (void)state;
    th_scene *scene = stairs();
    uint64_t hash = 0;
    static const int threads[] = {1, 2, 3, 8};
    for (int n = 0; n < 4; ++n) {
        th_world *world = world_of(scene, threads[n], 3);
        th_world_step(world, 240);
        if (n == 0) hash = th_world_hash(world);
        assert_true(th_world_hash(world) == hash);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// The last choice is part of the state: a restored snapshot continues as the run does.
static void snapshots_go_on_bit_by_bit(void **state) {
    (void)state;
    th_scene *scene = stairs();
    th_world *world = world_of(scene, 1, 3), *other = world_of(scene, 1, 4);
    th_world_step(world, 150);
    const float *turn = field_of(world, th_world_field(world, "densesense.turn"));
    int turned = 0;
    for (int i = 0; i < th_world_agent_count(world); ++i) turned += turn[i] != 0.0f;
    assert_true(turned > 0);
    size_t size = th_world_snapshot_size(world);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(th_world_snapshot(world, bytes, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, bytes, size, NULL), TH_OK);
    th_world_step(world, 100);
    th_world_step(other, 100);
    assert_true(th_world_hash(world) == th_world_hash(other));
    free(bytes);
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

static void all_agents_get_through(void **state) {
    (void)state;
    th_scene *scene = stairs();
    th_world *world = world_of(scene, 1, 3);
    double time = run_to_end(world, 200.0);
    print_message("120 people through a door and up the stairs in %.0f s\n", time);
    assert_true(th_world_done(world));
    assert_int_equal(th_world_statistics(world).wall_crossings, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_follows_density),
        cmocka_unit_test(a_corridor_slows_menge),
        cmocka_unit_test(two_ways_flow_less),
        cmocka_unit_test(streams_of_social_force_pass),
        cmocka_unit_test(streams_that_part_pass),
        cmocka_unit_test(motion_is_smoother),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(snapshots_go_on_bit_by_bit),
        cmocka_unit_test(all_agents_get_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
