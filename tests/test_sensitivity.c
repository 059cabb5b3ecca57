// Points over uncertain inputs, and shares of the variance against functions whose shares are known.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "observe/sensitivity.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *points_of(th_sampling method, uint64_t seed, int count, int inputs) {
    double *points = malloc((size_t)(count * inputs) * sizeof *points);
    assert_non_null(points);
    assert_true(th_sampling_fill(method, seed, count, inputs, points));
    return points;
}

// Both give each of `count` equal parts of each axis one point, and other seeds other points.
static void each_part_has_one_point(void **state) {
    (void)state;
    enum { COUNT = 64 };
    for (int method = TH_SAMPLING_LHS; method <= TH_SAMPLING_SOBOL; ++method) {
        double *points = points_of((th_sampling)method, 7, COUNT, TH_INPUTS);
        double *again = points_of((th_sampling)method, 7, COUNT, TH_INPUTS);
        double *other = points_of((th_sampling)method, 8, COUNT, TH_INPUTS);
        assert_memory_equal(points, again, sizeof(double) * COUNT * TH_INPUTS);
        assert_memory_not_equal(points, other, sizeof(double) * COUNT * TH_INPUTS);
        for (int i = 0; i < TH_INPUTS; ++i) {
            int parts[COUNT] = {0};
            for (int k = 0; k < COUNT; ++k) {
                double u = points[k * TH_INPUTS + i];
                assert_true(u > 0 && u < 1);
                ++parts[(int)(u * COUNT)];
            }
            for (int k = 0; k < COUNT; ++k) assert_int_equal(parts[k], 1);
        }
        free(points);
        free(again);
        free(other);
    }
}

// Property A of Sobol's points (Joe and Kuo 2008): of the 2^8 octants of 8 axes each has one of 2^8 points; and of the first
// two axes each box of 1/16 by 1/16. Both hold for the right direction numbers only.
static void sobol_points_are_even(void **state) {
    (void)state;
    enum { COUNT = 256 };
    double *points = points_of(TH_SAMPLING_SOBOL, 3, COUNT, TH_INPUTS);
    int octants[COUNT] = {0}, boxes[COUNT] = {0};
    for (int k = 0; k < COUNT; ++k) {
        const double *u = points + k * TH_INPUTS;
        int octant = 0;
        for (int i = 0; i < TH_INPUTS; ++i) octant = 2 * octant + (u[i] >= 0.5);
        ++octants[octant];
        ++boxes[(int)(u[0] * 16) * 16 + (int)(u[1] * 16)];
    }
    for (int k = 0; k < COUNT; ++k) {
        assert_int_equal(octants[k], 1);
        assert_int_equal(boxes[k], 1);
    }
    free(points);
}

static double value_of(const char *text, double u) {
    th_input input;
    bool bad;
    assert_true(th_input_read(&input, text, &bad));
    return th_input_value(&input, u);
}

static void distributions_have_their_quantiles(void **state) {
    (void)state;
    assert_near(value_of("0.8..1.6", 0.25), 1.0, 1e-12);
    assert_near(value_of("1..2", 0.5), 1.5, 1e-12);
    assert_near(value_of("uniform:-3:1", 0.5), -1.0, 1e-12);
    assert_near(value_of("whole:3:5", 0.001), 3, 0);
    assert_near(value_of("whole:3:5", 0.5), 4, 0);
    assert_near(value_of("whole:3:5", 0.999), 5, 0);
    assert_near(value_of("triangular:0:1:4", 0.25), 1, 1e-12); // the mode
    assert_near(value_of("triangular:0:1:4", 0.75), 4 - sqrt(3), 1e-12);
    assert_near(value_of("normal:1.34:0.26", 0.975), 1.34 + 0.26 * 1.959963985, 1e-9);
    assert_near(value_of("normal:0:1", 0.001), -3.090232306, 1e-8);
    assert_near(value_of("normal:0:1:0:100", 0.5), 0.6744897502, 1e-9); // half of it
    assert_near(value_of("lognormal:3:0.5", 0.5), exp(3), 1e-9);
    assert_near(value_of("lognormal:3:0.5:1:20", 0.99999999), 20, 1e-4);
    static const char *const wrong[] = {"normal:1",       "normal:1:0",       "normal:1:x",
                                        "uniform:2:1",    "whole:1.5:3",      "1..",
                                        "2..1",           "1..2:3",           "triangular:0:5:4",
                                        "normal:0:1:3:2", "normal:0:1:90:99", "uniform:1:2:3:4:5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        th_input input;
        bool bad = false;
        assert_false(th_input_read(&input, wrong[i], &bad));
        assert_true(bad);
    }
    th_input input;
    bool bad = true;
    assert_false(th_input_read(&input, "orca", &bad));
    assert_false(bad);
}

// Results of a function of the inputs with `noise` (standard deviation) from run to run.
typedef double function(const double *x);
typedef struct sample {
    th_sensitivity_def def;
    double *x, *y;
} sample;

static sample sample_of(th_sampling method, uint64_t seed, int points, int inputs,
                        const char *const *texts, function *f, int runs, double noise) {
    sample s = {.x = points_of(method, seed, points, inputs),
                .y = malloc((size_t)(points * runs) * sizeof *s.y)};
    th_input noisy = {.kind = TH_INPUT_NORMAL, .b = noise, .low = -1e9, .high = 1e9};
    for (int k = 0; k < points; ++k) {
        double *x = s.x + k * inputs;
        for (int i = 0; i < inputs; ++i) x[i] = value_of(texts[i], x[i]);
        for (int r = 0; r < runs; ++r) {
            th_random4 bits = th_philox(seed, 99, (uint32_t)r, (uint64_t)k);
            double u = th_uniform_double(bits.v[0], bits.v[1]);
            s.y[k * runs + r] = f(x) + (noise > 0 ? th_input_value(&noisy, u) : 0);
        }
    }
    s.def =
        (th_sensitivity_def){.points = points, .inputs = inputs, .runs = runs, .x = s.x, .y = s.y};
    return s;
}

static th_sensitivity found_of(sample *s) {
    th_sensitivity found;
    assert_true(th_sensitivity_find(&s->def, &found));
    free(s->x);
    free(s->y);
    return found;
}

static double ishigami(const double *x) {
    return sin(x[0]) + 7 * sin(x[1]) * sin(x[1]) + 0.1 * pow(x[2], 4) * sin(x[0]);
}
static double linear(const double *x) { return 40 + 3 * x[0] + 2 * x[1] - x[2]; }
static double threshold(const double *x) { return x[0] * (x[1] > 1.5 ? 2 : 1); }

#define PI_RANGE "-3.141592653589793..3.141592653589793"
static const char *const circle[] = {PI_RANGE, PI_RANGE, PI_RANGE};

// First-order indices of the Ishigami function (a = 7, b = 0.1): 0.3139, 0.4424, 0; the rest is an interaction.
static void ishigami_has_its_shares(void **state) {
    (void)state;
    static const double shares[] = {0.3139, 0.4424, 0.0};
    for (int method = TH_SAMPLING_LHS; method <= TH_SAMPLING_SOBOL; ++method)
        for (uint64_t seed = 1; seed <= 4; ++seed) {
            sample s = sample_of((th_sampling)method, seed, 512, 3, circle, ishigami, 1, 0);
            th_sensitivity found = found_of(&s);
            for (int i = 0; i < 3; ++i) {
                assert_near(found.inputs[i].share, shares[i], 0.05);
                assert_true(found.inputs[i].low <= shares[i] + 0.02);
                assert_true(found.inputs[i].high >= shares[i] - 0.02);
            }
            assert_near(found.others, 0.2437, 0.06);
            assert_true(isnan(found.chance.share)); // one run of each point
        }
}

// Shares of a sum are known for every distribution: squares of slope times deviation.
static void sums_have_their_shares(void **state) {
    (void)state;
    const char *const texts[] = {"normal:0:1", "uniform:0:3.4641016", "lognormal:0:0.25"};
    double log_variance = (exp(0.0625) - 1) * exp(0.0625);
    double all = 9 + 4 + log_variance;
    for (int method = TH_SAMPLING_LHS; method <= TH_SAMPLING_SOBOL; ++method) {
        sample s = sample_of((th_sampling)method, 5, 64, 3, texts, linear, 1, 0);
        th_sensitivity found = found_of(&s);
        assert_near(found.inputs[0].share, 9 / all, 0.03);
        assert_near(found.inputs[1].share, 4 / all, 0.03);
        assert_near(found.inputs[2].share, log_variance / all, 0.01);
        assert_near(found.others, 0, 0.02);
    }
}

// What differs from seed to seed is chance, however many runs a point has, and does not go to the inputs.
static void chance_is_told_apart(void **state) {
    (void)state;
    const char *const texts[] = {"normal:0:1", "normal:0:1", "normal:0:1"};
    for (int runs = 2; runs <= 8; runs *= 2) {
        sample s = sample_of(TH_SAMPLING_SOBOL, 2, 128, 3, texts, linear, runs, sqrt(14.0));
        th_sensitivity found = found_of(&s);
        assert_near(found.chance.share, 0.5, 0.08);
        assert_near(found.inputs[0].share, 9.0 / 28, 0.08);
        assert_near(found.inputs[1].share, 4.0 / 28, 0.06);
        assert_near(found.inputs[2].share, 1.0 / 28, 0.04);
    }
}

// The 95 % intervals hold the true shares in most samples. Latin hypercubes vary less than independent points, so the
// intervals are wide rather than narrow.
static void intervals_hold_the_truth(void **state) {
    (void)state;
    const char *const texts[] = {"normal:0:1", "normal:0:1", "normal:0:1"};
    int held = 0, all = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        sample s = sample_of(TH_SAMPLING_LHS, seed, 48, 3, texts, linear, 1, 3);
        th_sensitivity found = found_of(&s);
        static const double shares[] = {9.0 / 23, 4.0 / 23, 1.0 / 23};
        for (int i = 0; i < 3; ++i, ++all)
            held += found.inputs[i].low <= shares[i] && shares[i] <= found.inputs[i].high;
    }
    print_message("%d of %d\n", held, all);
    assert_true(held >= 0.9 * all);
}

// Words count as categories: a mean of each. x0 in 0, 1, 2 by equal parts; the second input doubles it in half of its range.
static void words_are_categories(void **state) {
    (void)state;
    const char *const texts[] = {"whole:0:2", "1..2"};
    const bool category[] = {true, false};
    sample s = sample_of(TH_SAMPLING_SOBOL, 4, 256, 2, texts, threshold, 1, 0);
    s.def.category = category;
    th_sensitivity found = found_of(&s);
    // y = x (1 + b), b = 0 or 1 by halves: E = 3/2 x, variance 9/4 2/3; given b: 1 or 2, variance 1/4.
    double all = 5.0 / 3 * 5.0 / 2 - 9.0 / 4;
    assert_near(found.inputs[0].share, 9.0 / 4 * 2 / 3 / all, 0.04);
    assert_near(found.inputs[1].share, 0.25 / all, 0.05);
}

static void too_few_points_are_said(void **state) {
    (void)state;
    sample s = sample_of(TH_SAMPLING_LHS, 1, 7, 3, circle, linear, 1, 0);
    th_sensitivity found = found_of(&s);
    assert_true(isnan(found.inputs[0].share));
    assert_int_equal(found.points, 7);
    assert_true(found.deviation > 0);
    // Nothing changed; and points without results are left out.
    s = sample_of(TH_SAMPLING_LHS, 1, 32, 3, circle, linear, 2, 0);
    for (int k = 0; k < 64; ++k) s.y[k] = k % 8 == 0 ? (double)NAN : 5;
    for (int k = 0; k < 8; ++k) s.y[k] = (double)NAN;
    found = found_of(&s);
    assert_int_equal(found.points, 28);
    assert_near(found.deviation, 0, 0);
    assert_true(isnan(found.inputs[0].share));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_has_one_point),
        cmocka_unit_test(sobol_points_are_even),
        cmocka_unit_test(distributions_have_their_quantiles),
        cmocka_unit_test(ishigami_has_its_shares),
        cmocka_unit_test(sums_have_their_shares),
        cmocka_unit_test(chance_is_told_apart),
        cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(words_are_categories),
        cmocka_unit_test(too_few_points_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
