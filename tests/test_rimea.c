// RiMEA tests 1-3, 5-7, 9, 10 and 15: the scenes of scenes/verification with their pass rules.
// What is asked and where the rules come from: scenes/verification/README.md.
// SPDX-License-Identifier: Apache-2.0
#include "support_verification.h"
#include <math.h>
#include <string.h>

static double distance_between(const person *a, const person *b) {
    double x = (double)a->x - (double)b->x, y = (double)a->y - (double)b->y;
    return sqrt(x * x + y * y);
}

// Test 1: 40 m at 1.33 m/s in 26 to 34 s (body length, reaction and 5 % of speed are the slack).
static void corridor(void **state) {
    th_scene *scene = verification_scene("rimea_01_corridor", *state, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    double time = run_to_end(world, 60.0);
    print_message("  time over 40 m: %.1f s (26 .. 34)\n", time);
    assert_int_equal(th_world_statistics(world).left, 1);
    assert_true(time >= 26.0 && time <= 34.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Seconds on the 10 m of stairs between x = 3 and x = 13, walking in the x direction `way`; the
// person must end up on the other level.
static double time_on_stairs(const char *stem, const char *model, double way) {
    th_scene *scene = verification_scene(stem, model, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    person start, now;
    assert_true(find_person(world, 1, &start));
    double foot = way > 0.0 ? 3.0 : 13.0;
    double on =
        time_to_come(world, 1, (double)start.x, 1.0, way, 0.0, fabs(foot - (double)start.x), 60.0);
    double off = time_to_come(world, 1, (double)start.x, 1.0, way, 0.0,
                              fabs(foot - (double)start.x) + 10.0, 60.0);
    th_world_step(world, 2);
    assert_true(find_person(world, 1, &now));
    assert_int_not_equal(now.level, start.level);
    run_to_end(world, 60.0);
    assert_int_equal(th_world_statistics(world).left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return off - on;
}

// Test 2: 10 m up at 0.5 m/s within 5 %.
static void stairs_up(void **state) {
    double time = time_on_stairs("rimea_02_stairs_up", *state, 1.0), expected = 10.0 / 0.5;
    print_message("  up 10 m: %.2f s (%.2f +- 5 %%)\n", time, expected);
    assert_true(fabs(time - expected) <= 0.05 * expected);
}

// Test 3: 10 m down at 0.75 m/s within 5 %.
static void stairs_down(void **state) {
    double time = time_on_stairs("rimea_03_stairs_down", *state, -1.0), expected = 10.0 / 0.75;
    print_message("  down 10 m: %.2f s (%.2f +- 5 %%)\n", time, expected);
    assert_true(fabs(time - expected) <= 0.05 * expected);
}

// Test 5: nobody wants to go before the own time, and within 0.5 s of it everybody has moved 0.05 m from
// where it found them. (Walkers may nudge somebody who still stands; that is no start.)
static void premovement(void **state) {
    enum { PEOPLE = 10 };
    th_scene *scene = verification_scene("rimea_05_premovement", *state, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    person first[PEOPLE], stood[PEOPLE], now[PEOPLE];
    double started[PEOPLE], worst = 0.0, nudged = 0.0;
    assert_int_equal(everybody(world, first, PEOPLE), PEOPLE);
    for (int i = 0; i < PEOPLE; ++i) {
        started[i] = -1.0;
        stood[i] = first[i];
        assert_true(first[i].wait_until >= 10.0f && first[i].wait_until <= 100.0f);
    }
    while (!th_world_done(world) && th_world_time(world) < 150.0) {
        th_world_step(world, 1);
        int gone, inside = everybody(world, now, PEOPLE);
        const th_event *events = th_world_events(world, &gone, NULL);
        for (int k = 0; k < gone;
             ++k) // whoever was nudged into the exit leaves with the first step
            if (started[events[k].agent.serial - 1] < 0.0)
                started[events[k].agent.serial - 1] = events[k].time;
        for (int k = 0; k < inside; ++k) {
            int i = (int)now[k].id - 1;
            if (th_world_time(world) < (double)first[i].wait_until) {
                assert_int_equal(now[k].phase, TH_PHASE_STANDING);
                nudged = fmax(nudged, distance_between(&now[k], &first[i]));
                stood[i] = now[k];
            } else if (started[i] < 0.0 && distance_between(&now[k], &stood[i]) > 0.05) {
                started[i] = th_world_time(world);
            }
        }
    }
    assert_invariants(world);
    assert_int_equal(th_world_statistics(world).left, PEOPLE);
    for (int i = 0; i < PEOPLE; ++i) {
        assert_true(started[i] >= (double)first[i].wait_until);
        worst = fmax(worst, started[i] - (double)first[i].wait_until);
    }
    print_message("  latest start: %.2f s after the own time (0.5); nudged before it: %.2f m\n",
                  worst, nudged);
    assert_true(worst <= 0.5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 6: all 20 round the corner, never through the inner walls (x < 10, y > 2).
static void corner(void **state) {
    enum { PEOPLE = 20 };
    th_scene *scene = verification_scene("rimea_06_corner", *state, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    person now[PEOPLE];
    while (!th_world_done(world) && th_world_time(world) < 120.0) {
        th_world_step(world, 1);
        int inside = everybody(world, now, PEOPLE);
        for (int i = 0; i < inside; ++i) assert_false(now[i].x < 10.0f && now[i].y > 2.0f);
        assert_invariants(world);
    }
    print_message("  all round the corner after %.1f s\n", th_world_time(world));
    assert_int_equal(th_world_statistics(world).left, PEOPLE);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 7: Weidmann's age curve. Everybody walks within 0.03 m/s of the own speed; the classes' means
// and spreads agree with the curve within three standard errors of 50 draws.
static void age_speeds(void **state) {
    enum { CLASSES = 6, EACH = 50, PEOPLE = CLASSES * EACH };
    static const double curve[CLASSES] = {1.62, 1.54, 1.48,
                                          1.41, 1.27, 1.07}; // [m/s] ages 20 .. 70
    const double spread = 0.193;                             // of the mean
    static person before[PEOPLE], after[PEOPLE];
    th_scene *scene = verification_scene("rimea_07_age_speeds", *state, CLASSES, NULL);
    th_world *world = world_of(scene, 1, 0);
    th_world_step(world, 40); // past the social force's relaxation
    assert_int_equal(everybody(world, before, PEOPLE), PEOPLE);
    th_world_step(world, 100);
    assert_int_equal(everybody(world, after, PEOPLE), PEOPLE);
    assert_invariants(world);
    double worst = 0.0, sum[CLASSES] = {0}, sum2[CLASSES] = {0};
    for (int i = 0; i < PEOPLE; ++i) {
        double observed = distance_between(&after[i], &before[i]) / 10.0;
        worst = fmax(worst, fabs(observed - (double)before[i].speed));
        sum[before[i].group] += observed;
        sum2[before[i].group] += observed * observed;
    }
    print_message("  largest difference to the own speed: %.4f m/s (0.03)\n", worst);
    assert_true(worst <= 0.03);
    for (int c = 0; c < CLASSES; ++c) {
        double mean = sum[c] / EACH, deviation = sqrt((sum2[c] - EACH * mean * mean) / (EACH - 1));
        double expected = spread * curve[c];
        print_message("  age %d: %.2f +- %.2f m/s (%.2f +- %.2f)\n", 20 + 10 * c, mean, deviation,
                      curve[c], expected);
        assert_true(fabs(mean - curve[c]) <= 3.0 * expected / sqrt(EACH));
        assert_true(fabs(deviation - expected) <= 3.0 * expected / sqrt(2.0 * (EACH - 1)));
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Egress time in the mean over crowds: a single slow person would else decide.
static double mean_egress_time(const char *stem, const char *model, int crowds, uint64_t people,
                               double limit) {
    double sum = 0.0;
    for (int seed = 1; seed <= crowds; ++seed) {
        th_scene *scene = verification_scene(stem, model, 1, NULL);
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        sum += run_to_end(world, limit);
        assert_int_equal(th_world_statistics(world).left, people);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    return sum / crowds;
}

// Test 9: shutting two of four doors makes it 1.6 to 2.4 times as long.
static void public_room(void **state) {
    double four = mean_egress_time("rimea_09_four_doors", *state, CROWDS(3), 1000, 1200.0);
    double two = mean_egress_time("rimea_09_two_doors", *state, CROWDS(3), 1000, 1200.0);
    print_message("  four doors %.1f s, two doors %.1f s, ratio %.2f (1.6 .. 2.4)\n", four, two,
                  two / four);
    assert_true(two / four >= 1.6 && two / four <= 2.4);
}

// Test 10: 15 people are told the main exit and 8 the secondary one; all obey.
static void exit_allocation(void **state) {
    enum { PEOPLE = 23, ROOMS = 12, MAIN = 0, SECONDARY = 1 };
    static const int told[ROOMS] = {MAIN, MAIN, MAIN, MAIN, SECONDARY, SECONDARY,
                                    MAIN, MAIN, MAIN, MAIN, SECONDARY, SECONDARY};
    th_scene *scene = verification_scene("rimea_10_exit_allocation", *state, ROOMS, NULL);
    th_world *world = world_of(scene, 1, 0);
    person start[PEOPLE];
    int by_exit[2] = {0, 0};
    assert_int_equal(everybody(world, start, PEOPLE), PEOPLE);
    while (!th_world_done(world) && th_world_time(world) < 300.0) {
        th_world_step(world, 1);
        int count;
        const th_event *events = th_world_events(world, &count, NULL);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(events[i].kind, TH_EVENT_LEFT);
            assert_int_equal(events[i].index, told[start[events[i].agent.serial - 1].group]);
            by_exit[events[i].index]++;
        }
    }
    assert_invariants(world);
    print_message("  main %d, secondary %d (15, 8) after %.1f s\n", by_exit[MAIN],
                  by_exit[SECONDARY], th_world_time(world));
    assert_int_equal(by_exit[MAIN], 15);
    assert_int_equal(by_exit[SECONDARY], 8);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 15: the same 500 people need no longer in the short corridor than round the corner, and there no
// longer than in the long corridor.
static void large_crowd(void **state) {
    double shorter = mean_egress_time("rimea_15_short", *state, CROWDS(5), 500, 600.0);
    double corner_time = mean_egress_time("rimea_15_corner", *state, CROWDS(5), 500, 600.0);
    double longer = mean_egress_time("rimea_15_long", *state, CROWDS(5), 500, 600.0);
    print_message("  short %.1f s, corner %.1f s, long %.1f s\n", shorter, corner_time, longer);
    bool in_the_mean = CROWDS(5) > 1; // a single slow person decides between the first two
    assert_true(!in_the_mean || shorter <= corner_time);
    assert_true(shorter <= longer && corner_time <= longer);
}

static char orca[] = "orca", social_force[] = "social_force";
#define BY_MODEL(test, model) \
    { #test " by " #model, test, NULL, NULL, model }
#define BY_BOTH(test) BY_MODEL(test, orca), BY_MODEL(test, social_force)

int main(void) {
    const struct CMUnitTest tests[] = {
        BY_BOTH(corridor),    BY_BOTH(stairs_up),       BY_BOTH(stairs_down),
        BY_BOTH(premovement), BY_BOTH(corner),          BY_BOTH(age_speeds),
        BY_BOTH(public_room), BY_BOTH(exit_allocation), BY_BOTH(large_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
