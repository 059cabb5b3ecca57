// Juelich tests 1-6, 8, 9 and 12: the scenes of scenes/verification with their pass rules.
// Test 14 (uniform starts) is test_uniform_start_positions in test_place.c.
// SPDX-License-Identifier: Apache-2.0
#include "support_verification.h"
#include <math.h>
#include <string.h>

static char orca[] = "orca", social_force[] = "social_force", helbing_molnar[] = "helbing_molnar";

// Starting from rest costs the social force v0 tau of way, that is tau = 0.5 s.
static double start_up_time(const char *model) { return strcmp(model, orca) == 0 ? 0.0 : 0.5; }

static double time_over_10_metres(const char *stem, const char *model, double x, double y,
                                  double direction_x, double direction_y) {
    th_scene *scene = verification_scene(stem, model, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    double time = time_to_come(world, 1, x, y, direction_x, direction_y, 10.0, 30.0);
    person now;
    assert_true(find_person(world, 1, &now));
    double aside = ((double)now.y - y) * direction_x - ((double)now.x - x) * direction_y;
    print_message("  10 m at 1 m/s: %.3f s, %.4f m off the straight line\n", time, aside);
    assert_true(fabs(aside) < 0.01);
    run_to_end(world, 30.0);
    assert_int_equal(th_world_statistics(world).left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return time;
}

// Test 1: 10 m at 1 m/s take 10 s.
static void free_corridor(void **state) {
    double time = time_over_10_metres("juelich_01_corridor", *state, 1.0, 1.0, 1.0, 0.0);
    assert_true(fabs(time - 10.0 - start_up_time(*state)) <= 0.05);
}

// Test 2: the same in a corridor turned by 45 degrees.
static void rotated_corridor(void **state) {
    double half = sqrt(0.5);
    double straight = time_over_10_metres("juelich_01_corridor", *state, 1.0, 1.0, 1.0, 0.0);
    double turned = time_over_10_metres("juelich_02_rotated", *state, 0.0, 2.0 * half, half, half);
    assert_true(fabs(turned - straight) <= 0.02);
}

// Test 3: from wherever they start, all reach the goal.
static void random_starts(void **state) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        th_scene *scene = verification_scene("juelich_03_random_starts", *state, 1, NULL);
        th_world *world = world_of(scene, 1, seed);
        double time = run_to_end(world, 200.0);
        print_message("  seed %d: all 60 out after %.1f s\n", (int)seed, time);
        assert_int_equal(th_world_statistics(world).left, 60);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// The walker of tests 4 and 5 and the person standing in the way; false when the walker has left.
static bool find_two(th_world *world, person *walker, person *standing) {
    person people[2];
    int count = everybody(world, people, 2), found = 0;
    for (int i = 0; i < count; ++i) {
        bool stands = people[i].phase == TH_PHASE_SCRIPTED;
        *(stands ? standing : walker) = people[i];
        found += stands;
    }
    assert_int_equal(found, 1);
    return count == 2;
}

// Runs, and returns the least gap between the two, negative when they overlap.
static double least_gap(th_world *world, double limit) {
    double least = 1e9;
    person walker, standing;
    while (!th_world_done(world) && th_world_time(world) < limit) {
        th_world_step(world, 1);
        if (!find_two(world, &walker, &standing)) break;
        double x = (double)walker.x - (double)standing.x, y = (double)walker.y - (double)standing.y;
        least = fmin(least, sqrt(x * x + y * y) - 0.4);
    }
    assert_invariants(world);
    return least;
}

static void overtake_from(const char *model, const char *const *more) {
    th_scene *scene = verification_scene("juelich_04_overtake", model, 1, more);
    th_world *world = world_of(scene, 1, 0);
    double gap = least_gap(world, 40.0);
    print_message("  past after %.1f s (13 s alone), least gap %.3f m\n", th_world_time(world),
                  gap);
    assert_int_equal(th_world_statistics(world).left, 1);
    assert_true(gap >= -0.001);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 4: gets past a standing person without touching.
static void overtake(void **state) { overtake_from(*state, NULL); }

// Also when coming straight at the middle. (The social force knows no side to turn to then: its forces
// are symmetric, and it stops.)
static void overtake_head_on(void **state) {
    static const char *const middle[] = {"groups[0].positions=[[1,1.5]]", NULL};
    overtake_from(*state, middle);
}

// Test 5: where there is no way past, stops without overlapping.
static void stop_behind(void **state) {
    th_scene *scene = verification_scene("juelich_05_narrow", *state, 1, NULL);
    th_world *world = world_of(scene, 1, 0);
    double gap = least_gap(world, 20.0);
    person walker, standing;
    assert_true(find_two(world, &walker, &standing));
    double speed = sqrt(
        (double)(walker.velocity_x * walker.velocity_x + walker.velocity_y * walker.velocity_y));
    print_message("  stands at x = %.3f (6.6), speed %.4f m/s, least gap %.4f m\n",
                  (double)walker.x, speed, gap);
    assert_true(speed < 0.01);
    assert_true(walker.x > 5.0f); // has come up to it
    assert_true(gap >= -0.001);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 6: intermediate goals on the way cost nothing.
static void intermediate_goals(void **state) {
    double time = time_over_10_metres("juelich_06_waypoints", *state, 1.0, 1.0, 1.0, 0.0);
    assert_true(fabs(time - 10.0 - start_up_time(*state)) <= 0.05);
}

// Test 8: a goal out of sight is walked to round the obstacle. The shortest ways, with 0.2 m kept from
// the corners, are 15.1 m and 16.4 m; nobody is stuck who needs no more than 1.3 times as long.
static void hidden_goal(void **state) {
    static const double shortest[2] = {15.1, 16.4};
    th_scene *scene = verification_scene("juelich_08_hidden_goal", *state, 2, NULL);
    th_world *world = world_of(scene, 1, 0);
    double arrived[2] = {1e9, 1e9};
    while (!th_world_done(world) && th_world_time(world) < 80.0) {
        th_world_step(world, 1);
        assert_invariants(world);
        int count;
        const th_event *events = th_world_events(world, &count, NULL);
        for (int i = 0; i < count; ++i) arrived[events[i].agent.serial - 1] = events[i].time;
    }
    for (int i = 0; i < 2; ++i) {
        print_message("  arrived after %.1f s; the shortest way takes %.1f s\n", arrived[i],
                      shortest[i]);
        assert_true(arrived[i] <= 1.3 * shortest[i] + start_up_time(*state));
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Test 9: the state after every second is the same for any number of threads.
static void any_threads(void **state) {
    (void)state;
    enum { SECONDS = 15 };
    static const int threads[] = {1, 2, 3, 8};
    uint64_t hashes[SECONDS];
    th_scene *scene = scene_file("scenes/verification/juelich_09_threads.json");
    for (int k = 0; k < 4; ++k) {
        th_world *world = world_of(scene, threads[k], 0);
        for (int second = 0; second < SECONDS; ++second) {
            th_world_step(world, 10);
            if (k == 0) hashes[second] = th_world_hash(world);
            assert_true(th_world_hash(world) == hashes[second]);
        }
        assert_invariants(world);
        th_statistics s = th_world_statistics(world);
        print_message("  %d threads: hash %016llx, %d left\n", threads[k],
                      (unsigned long long)hashes[SECONDS - 1], (int)s.left);
        assert_true(s.left > 10); // something has happened
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

enum { PATH_STEPS = 130 };

static int path_below_wall(const char *model, const char *const *more, person *path) {
    th_scene *scene = verification_scene("juelich_12_thin_wall", model, 2, more);
    th_world *world = world_of(scene, 1, 0);
    int steps = 0;
    while (steps < PATH_STEPS && find_person(world, 1, &path[steps])) {
        th_world_step(world, 1);
        ++steps;
    }
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return steps;
}

static double largest_difference(const person *path, const person *other, int steps) {
    double largest = 0.0;
    for (int i = 0; i < steps; ++i) {
        double x = (double)path[i].x - (double)other[i].x,
               y = (double)path[i].y - (double)other[i].y;
        largest = fmax(largest, sqrt(x * x + y * y));
    }
    return largest;
}

// Test 12: the path beside a thin wall is the same, bit for bit, with and without somebody behind it. The
// same two without the wall show that there is something to feel.
static void thin_wall(void **state) {
    static const char nobody[] = "groups[1]={\"count\":0}", no_wall[] = "levels[0].walls=[]";
    static const char *const alone_list[] = {nobody, NULL}, *const open_list[] = {no_wall, NULL},
                             *const open_alone_list[] = {no_wall, nobody, NULL};
    person with[PATH_STEPS], alone[PATH_STEPS], open[PATH_STEPS], open_alone[PATH_STEPS];
    int steps = path_below_wall(*state, NULL, with);
    assert_int_equal(steps, path_below_wall(*state, alone_list, alone));
    int open_steps = path_below_wall(*state, open_list, open);
    int open_alone_steps = path_below_wall(*state, open_alone_list, open_alone);
    double largest = largest_difference(with, alone, steps);
    double without = largest_difference(
        open, open_alone, open_steps < open_alone_steps ? open_steps : open_alone_steps);
    print_message("  %d steps, largest difference to walking alone: %g m (%g m without the wall)\n",
                  steps, largest, without);
    assert_true(steps > 90);
    assert_true(largest == 0.0);
    assert_true(without > 0.01);
}

#define BY_MODEL(test, model) \
    { #test " by " #model, test, NULL, NULL, model }
#define BY_BOTH(test) BY_MODEL(test, orca), BY_MODEL(test, social_force)

int main(void) {
    const struct CMUnitTest tests[] = {
        BY_BOTH(free_corridor),
        BY_BOTH(rotated_corridor),
        BY_BOTH(random_starts),
        BY_BOTH(overtake),
        BY_MODEL(overtake_head_on, orca),
        BY_BOTH(stop_behind),
        BY_BOTH(intermediate_goals),
        BY_BOTH(hidden_goal),
        cmocka_unit_test(any_threads),
        BY_BOTH(thin_wall),
        BY_MODEL(thin_wall, helbing_molnar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
