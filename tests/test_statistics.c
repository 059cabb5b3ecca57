// Statistics against tables, against their definitions, and against known distributions.
// SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"
#include "support.h"

static void assert_relative(double value, double expected, double relative) {
    assert_near(value, expected, relative * fabs(expected));
}

// Tables of Student's t, 97.5 %; beyond: from the same integral by the trapezoidal rule below.
static void student_t(void **state) {
    (void)state;
    const struct {
        int freedom;
        double t;
    } known[] = {{1, 12.706204736},  {2, 4.302652730},   {3, 3.182446305},   {4, 2.776445105},
                 {5, 2.570581836},   {10, 2.228138852},  {30, 2.042272456},  {60, 2.000297822},
                 {100, 1.983971519}, {120, 1.979930405}, {1000, 1.962339081}};
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k)
        assert_relative(th_student_t_975(known[k].freedom), known[k].t, 1e-8);
    for (int n = 1; n < 400; ++n) // no step where the method changes
        assert_true(th_student_t_975(n) > th_student_t_975(n + 1));
    assert_relative(th_student_t_975(200), th_student_t_975(201), 4e-5);
    assert_relative(th_student_t_975(100000000), 1.959963985, 1e-7);
    assert_true(isnan(th_student_t_975(0)));
}

// The probability between -t and t by adding up the density: nothing shared with the code above.
static void student_t_holds_95_percent(void **state) {
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
        assert_relative(2.0 * height * sum * t / parts, 0.95, 1e-7);
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

static double slow_quantile(const double *values, int count, double q) {
    double rank = q * (count - 1);
    int below = (int)rank;
    double low = order_statistic(values, count, below);
    if (below + 1 >= count) return low;
    return low + (rank - below) * (order_statistic(values, count, below + 1) - low);
}

static void summary(void **state) {
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
        assert_near(s.median, slow_quantile(values, count, 0.5), 1e-12);
        assert_near(s.p05, slow_quantile(values, count, 0.05), 1e-12);
        assert_near(s.p95, slow_quantile(values, count, 0.95), 1e-12);
        assert_near(s.min, slow_quantile(values, count, 0.0), 0.0);
        assert_near(s.max, slow_quantile(values, count, 1.0), 0.0);
        assert_near(s.mean, sum / count, 1e-10);
        assert_near(s.standard_deviation, sqrt(squares / (count - 1)), 1e-10);
        double half = th_student_t_975(count - 1) * s.standard_deviation / sqrt(count);
        assert_near(s.ci_high - s.ci_low, 2.0 * half, 1e-10);
    }
}

static void unknown_values(void **state) {
    (void)state;
    double none = (double)NAN;
    const double some[] = {none, 3.0, none, 1.0, 2.0};
    th_sample_summary s = th_summarise(some, 5);
    assert_int_equal(s.count, 3);
    assert_near(s.mean, 2.0, 1e-12);
    assert_near(s.median, 2.0, 1e-12);
    const double one[] = {none, 7.0};
    s = th_summarise(one, 2);
    assert_int_equal(s.count, 1);
    assert_near(s.mean, 7.0, 0.0);
    assert_true(isnan(s.median) && isnan(s.standard_deviation) && isnan(s.ci_low));
    s = th_summarise(one, 1);
    assert_int_equal(s.count, 0);
    assert_true(isnan(s.mean) && isnan(s.p95) && isnan(s.ci_relative));
    s = th_summarise(NULL, 0);
    assert_int_equal(s.count, 0);
}

static void mean_and_deviation(void **state) {
    (void)state;
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9}; // squares about the mean: 32
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < 8; ++k) sum += values[k], squares += values[k] * values[k];
    assert_near(th_mean(values, 8), 5.0, 0);
    assert_near(th_standard_deviation(values, 8), sqrt(32.0 / 7.0), 1e-15);
    assert_near(th_deviation_of_sums(8, sum, squares), 2.0, 0);
    assert_near(th_deviation_of_sums(1, 0.1, 0.1 * 0.1), 0.0, 0); // never below 0 by rounding
    assert_true(isnan(th_mean(values, 0)) && isnan(th_standard_deviation(values, 1)));
    assert_true(isnan(th_deviation_of_sums(0, 0, 0)));
    const double far[] = {1e9 + 1, 1e9 + 2, 1e9 + 3}; // where sums of squares have no digit left
    assert_near(th_standard_deviation(far, 3), 1.0, 1e-12);
}

static void quantiles_of_a_stream(void **state) {
    (void)state;
    th_running_quantile quantile = {.q = 0.95};
    th_histogram histogram = {0};
    assert_true(isnan(th_running_quantile_get(&quantile)));
    assert_true(isnan(th_histogram_quantile(&histogram, 0.5)));
    uint64_t seed = 7;
    for (int i = 0; i < 20000; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double value = -log(((double)(seed >> 11) + 0.5) / 9007199254740992.0); // exponential
        th_running_quantile_add(&quantile, value);
        th_histogram_add(&histogram, value);
        if (i == 3)
            assert_near(th_running_quantile_get(&quantile), histogram.most, 0.2 * histogram.most);
    }
    assert_near(th_running_quantile_get(&quantile), -log(0.05), 0.1);
    assert_near(th_histogram_quantile(&histogram, 0.95), -log(0.05), 0.06);
    assert_near(th_histogram_quantile(&histogram, 0.5), -log(0.5), 0.02);
    assert_near(th_histogram_quantile(&histogram, 0), histogram.least, 1e-4);
    assert_near(th_histogram_quantile(&histogram, 1), histogram.most, 0.02 * histogram.most);
    assert_near(th_histogram_mean(&histogram), 1, 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_t),
        cmocka_unit_test(student_t_holds_95_percent),
        cmocka_unit_test(summary),
        cmocka_unit_test(unknown_values),
        cmocka_unit_test(mean_and_deviation),
        cmocka_unit_test(quantiles_of_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
