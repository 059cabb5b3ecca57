// Many runs: percentiles and intervals against known values, runs added up against runs by hand.
// SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include "observe/observer.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// cmocka's own compares as floats.
static void assert_close(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.12g is not %.12g", value, expected);
}

static void assert_near(double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

// Tables of Student's t, 97.5 %; beyond: from the same integral by the trapezoidal rule below.
static void test_student_t(void **state) {
    (void)state;
    const struct {
        int freedom;
        double t;
    } known[] = {{1, 12.706204736},  {2, 4.302652730},   {3, 3.182446305},   {4, 2.776445105},
                 {5, 2.570581836},   {10, 2.228138852},  {30, 2.042272456},  {60, 2.000297822},
                 {100, 1.983971519}, {120, 1.979930405}, {1000, 1.962339081}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
        assert_near(th_student_t_975(known[k].freedom), known[k].t, 1e-8);
    for (int n = 1; n < 400; ++n) // no step where the method changes
        assert_true(th_student_t_975(n) > th_student_t_975(n + 1));
    assert_near(th_student_t_975(200), th_student_t_975(201), 4e-5);
    assert_near(th_student_t_975(100000000), 1.959963985, 1e-7);
    assert_true(isnan(th_student_t_975(0)));
}

// The probability between -t and t by adding up the density: nothing shared with the code above.
static void test_student_t_holds_95_percent(void **state) {
    (void)state;
    const int freedoms[] = {3, 7, 25, 150, 250};
    for (size_t k = 0; k < sizeof freedoms / sizeof *freedoms; ++k) {
        double n = freedoms[k], t = th_student_t_975(freedoms[k]), sum = 0.0;
        const int parts = 20000;
        for (int p = 0; p <= parts; ++p) {
            double x = t * p / parts, end = p == 0 || p == parts ? 0.5 : 1.0;
            sum += end * pow(1.0 + x * x / n, -0.5 * (n + 1.0));
        }
        double height = exp(lgamma(0.5 * (n + 1.0)) - lgamma(0.5 * n)) / sqrt(n * acos(-1.0));
        assert_near(2.0 * height * sum * t / parts, 0.95, 1e-7);
    }
}

static uint32_t random_state = 12345;
static double next_random(void) {
    random_state = random_state * 1664525u + 1013904223u;
    return (double)(random_state >> 8) / 16777216.0;
}

// Type 7 by its definition, without sorting: the order statistic below is the value with at most that
// many smaller ones.
static double order_statistic(const double *values, int count, int rank) {
    for (int i = 0; i < count; ++i) {
        int smaller = 0, equal = 0;
        for (int j = 0; j < count; ++j) {
            smaller += values[j] < values[i];
            equal += !(values[j] < values[i]) && !(values[j] > values[i]);
        }
        if (smaller <= rank && rank < smaller + equal) return values[i];
    }
    return (double)NAN;
}

static double slow_percentile(const double *values, int count, double q) {
    double rank = q * (count - 1);
    int below = (int)rank;
    double low = order_statistic(values, count, below);
    if (below + 1 >= count) return low;
    return low + (rank - below) * (order_statistic(values, count, below + 1) - low);
}

static void test_percentiles(void **state) {
    (void)state;
    for (int round = 0; round < 200; ++round) {
        double values[80];
        int count = 2 + (int)(next_random() * 78.0);
        for (int k = 0; k < count; ++k) // every third round with many ties
            values[k] = round % 3 ? 100.0 * next_random() - 20.0 : floor(6.0 * next_random());
        th_sample_summary s = th_summarise(values, count);
        double sum = 0.0, squares = 0.0;
        for (int k = 0; k < count; ++k) sum += values[k];
        for (int k = 0; k < count; ++k) squares += pow(values[k] - sum / count, 2.0);
        assert_int_equal(s.count, count);
        assert_close(s.median, slow_percentile(values, count, 0.5), 1e-12);
        assert_close(s.p05, slow_percentile(values, count, 0.05), 1e-12);
        assert_close(s.p95, slow_percentile(values, count, 0.95), 1e-12);
        assert_close(s.min, slow_percentile(values, count, 0.0), 0.0);
        assert_close(s.max, slow_percentile(values, count, 1.0), 0.0);
        assert_close(s.mean, sum / count, 1e-10);
        assert_close(s.standard_deviation, sqrt(squares / (count - 1)), 1e-10);
        double half = th_student_t_975(count - 1) * s.standard_deviation / sqrt(count);
        assert_close(s.ci_high - s.ci_low, 2.0 * half, 1e-10);
    }
}

static void test_unknown_values(void **state) {
    (void)state;
    double none = (double)NAN;
    const double some[] = {none, 3.0, none, 1.0, 2.0};
    th_sample_summary s = th_summarise(some, 5);
    assert_int_equal(s.count, 3);
    assert_close(s.mean, 2.0, 1e-12);
    assert_close(s.median, 2.0, 1e-12);
    const double one[] = {none, 7.0};
    s = th_summarise(one, 2);
    assert_int_equal(s.count, 1);
    assert_close(s.mean, 7.0, 0.0);
    assert_true(isnan(s.median) && isnan(s.standard_deviation) && isnan(s.ci_low));
    s = th_summarise(one, 1);
    assert_int_equal(s.count, 0);
    assert_true(isnan(s.mean) && isnan(s.p95) && isnan(s.ci_relative));
    s = th_summarise(NULL, 0);
    assert_int_equal(s.count, 0);
}

// ---- runs

static const char room[] =
    "{\"levels\":[{\"id\":\"room\",\"walkable\":{\"rect\":[0,0,8,8]}}],"
    "\"exits\":[{\"id\":\"out\",\"line\":[[8,3.5],[8,4.5]]}],"
    "\"groups\":[{\"id\":\"p\",\"count\":60,\"area\":{\"rect\":[1,1,6,7]},\"to\":\"out\"}]}";

static th_observer *observe(const th_scene *scene, uint64_t seed, int steps) {
    th_world *world = world_of(scene, 1, seed);
    th_observer_def def = th_observer_def_default();
    th_observer *observer = NULL;
    assert_int_equal(th_observer_create(world, &def, &observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    for (int s = 0; s < steps && !th_world_done(world); ++s) {
        th_world_step(world, 1);
        assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    }
    assert_int_equal(th_observer_finish(observer, world, NULL), TH_OK);
    th_world_destroy(world);
    return observer;
}

static void test_runs_added_up(void **state) {
    (void)state;
    enum { RUNS = 4, CELLS = 256 };
    th_scene *scene = scene_of(room);
    th_ensemble ensemble;
    assert_int_equal(th_ensemble_init(&ensemble), TH_OK);
    double egress[RUNS], density[CELLS] = {0}, highest[CELLS] = {0}, jam = 0.0, p95[RUNS];
    int64_t samples = 0;
    for (int r = 0; r < RUNS; ++r) {
        th_observer *observer = observe(scene, (uint64_t)r + 1, 2000);
        th_observation *o = th_observer_observation(observer);
        egress[r] = th_egress_time(o);
        assert_true(egress[r] > 10.0);
        assert_int_equal(o->maps[0].nx * o->maps[0].ny, CELLS);
        for (int c = 0; c < CELLS; ++c) {
            density[c] += o->maps[0].density_sum[c];
            highest[c] = fmax(highest[c], (double)o->maps[0].density_max[c]);
            jam += o->maps[0].jam_time[c];
        }
        samples += o->sample_count;
        // 57 of 60 are 95 %: three leave later than that.
        int later = 0;
        assert_int_equal(th_ensemble_add(&ensemble, o, NULL), TH_OK);
        p95[r] = ensemble.runs[r].p95_time;
        const th_observation *full = r == 0 ? ensemble.first : o;
        for (int p = 0; p < full->person_count; ++p)
            later += (double)full->people[p].end_time > p95[r] + 1e-3;
        assert_true(later <= 3);
        assert_true(p95[r] < egress[r] + 1e-4 && p95[r] > 0.5 * egress[r]);
        th_observer_destroy(observer);
    }
    assert_int_equal(ensemble.run_count, RUNS);
    assert_int_equal(ensemble.map_samples, samples);
    double mean = 0.0, summed_jam = 0.0;
    for (int r = 0; r < RUNS; ++r) {
        const th_run_summary *run = &ensemble.runs[r];
        mean += egress[r] / RUNS;
        assert_int_equal(run->seed, r + 1);
        assert_int_equal(run->left, 60);
        assert_close(run->egress_time, egress[r], 0.0);
        assert_int_equal(run->left_curve[0], 0);
        assert_true(run->left_curve[run->sample_count - 1] <= 60);
        assert_true(run->max_density > 1.0 && run->max_density < 8.0);
    }
    for (int c = 0; c < CELLS; ++c) {
        assert_close(ensemble.maps[0].density_sum[c], density[c], 1e-9);
        assert_close((double)ensemble.maps[0].density_max[c], highest[c], 1e-6);
        summed_jam += ensemble.maps[0].jam_time[c];
    }
    assert_close(summed_jam, jam, 1e-6);
    assert_close(th_ensemble_egress(&ensemble).mean, mean, 1e-9);
    assert_true(ensemble.first->maps != ensemble.maps);
    assert_true(ensemble.first->maps[0].density_sum[130] <= ensemble.maps[0].density_sum[130]);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

// A run that is stopped has no egress time, and the others' mean does not suffer.
static void test_unfinished_run(void **state) {
    (void)state;
    th_scene *scene = scene_of(room);
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    for (int r = 0; r < 2; ++r) {
        th_observer *observer = observe(scene, 1, r == 0 ? 50 : 2000);
        assert_int_equal(th_ensemble_add(&ensemble, th_observer_observation(observer), NULL),
                         TH_OK);
        th_observer_destroy(observer);
    }
    assert_true(isnan(ensemble.runs[0].egress_time) && isnan(ensemble.runs[0].p95_time));
    assert_false(ensemble.runs[0].done);
    th_sample_summary egress = th_ensemble_egress(&ensemble);
    assert_int_equal(egress.count, 1);
    assert_close(egress.mean, ensemble.runs[1].egress_time, 0.0);
    // Another grid does not fit.
    th_scene *other = scene_of("{\"levels\":[{\"id\":\"room\",\"walkable\":{\"rect\":[0,0,9,8]}}],"
                               "\"exits\":[{\"id\":\"out\",\"line\":[[9,3.5],[9,4.5]]}],"
                               "\"groups\":[{\"id\":\"p\",\"count\":5,\"to\":\"out\"}]}");
    th_observer *observer = observe(other, 1, 10);
    th_error error = {0};
    assert_int_equal(th_ensemble_add(&ensemble, th_observer_observation(observer), &error),
                     TH_BAD_ARGUMENT);
    assert_int_equal(ensemble.run_count, 2);
    th_observer_destroy(observer);
    th_ensemble_release(&ensemble);
    th_scene_destroy(other);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student_t),     cmocka_unit_test(test_student_t_holds_95_percent),
        cmocka_unit_test(test_percentiles),   cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_runs_added_up), cmocka_unit_test(test_unfinished_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
