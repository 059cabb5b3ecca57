// The number of threads that a world takes by itself, beside other busy programs. SPDX-License-Identifier: Apache-2.0
#include "core/pool.h"
#include "support.h"
#include "world/world.h"

enum { CORES = 4, PEOPLE = 5000 };

// The time that steps take when one of them needs `few` seconds on the free cores and `all` on all.
static double steps_take(th_team *team, int steps, int others, double few, double all) {
    double sum = 0.0;
    for (int s = 0; s < steps; ++s) {
        int threads = th_team_choose(team, CORES, CORES, others);
        double seconds = threads == CORES ? all : few;
        th_team_note(team, seconds, PEOPLE);
        sum += seconds;
    }
    return sum;
}

static void idle(void **state) {
    (void)state;
    th_team team = {.most = CORES};
    assert_int_equal(th_team_choose(&team, CORES, CORES, 0), CORES);
    assert_int_equal(th_team_choose(&team, 2, CORES, 2), 2); // two are enough, two are free
    assert_int_equal(th_team_choose(&team, CORES, CORES, 1), 3);
    assert_int_equal(th_team_choose(&team, CORES, CORES, 9), 1);
    assert_int_equal(th_team_choose(&team, CORES, CORES, 0), CORES); // and back at once
    assert_int_equal(th_team_choose(&team, CORES, 64, 40), CORES);   // busy cores that are not ours
}

// A small crowd on busy cores, where all threads take up to fifty times longer: never more than 1.3 times the
// better of the two, neither in a short run nor in a long one.
static void small_crowd_on_busy_cores(void **state) {
    (void)state;
    const int steps[] = {1, 60, 1000, 20000};
    for (int k = 0; k < 4; ++k) {
        th_team team = {.most = CORES};
        double took = steps_take(&team, steps[k], CORES, 0.004, 0.2);
        assert_true(took <= 1.1 * steps[k] * 0.004);
    }
}

// A large one, whose threads get their share of the busy cores each: found out after a few seconds.
static void large_crowd_on_busy_cores(void **state) {
    (void)state;
    th_team team = {.most = CORES};
    double took = steps_take(&team, 200, CORES, 0.4, 0.1);
    assert_true(took <= 1.3 * 200 * 0.1);
}

// The quicker number of threads may change while the machine stays busy.
static void changes_its_mind(void **state) {
    (void)state;
    th_team team = {.most = CORES};
    steps_take(&team, 2000, CORES, 0.02, 0.01);
    assert_int_equal(th_team_choose(&team, CORES, CORES, CORES), CORES);
    double took = steps_take(&team, 2000, CORES, 0.02, 0.2);
    assert_true(took <= 1.1 * 2000 * 0.02);
    took = steps_take(&team, 20000, CORES, 0.02, 0.01);
    assert_true(took <= 1.3 * 20000 * 0.01);
}

static void running_tasks(void **state) {
    (void)state;
    assert_true(th_online_cores() >= th_core_count());
    int running = th_running_tasks();
    assert_true(running >= 0 && running < 1000000);
#ifdef __linux__
    assert_true(running >= 1); // this one
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle),
        cmocka_unit_test(small_crowd_on_busy_cores),
        cmocka_unit_test(large_crowd_on_busy_cores),
        cmocka_unit_test(changes_its_mind),
        cmocka_unit_test(running_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
