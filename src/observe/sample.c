// A sample of one quantity: mean, spread, percentiles, confidence interval.
// SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

double th_percentile(const double *ascending, int count, double q) {
    if (count <= 0) return (double)NAN;
    double rank = q * (double)(count - 1); // type 7 of Hyndman and Fan 1996
    if (!(rank > 0.0)) return ascending[0];
    int below = (int)floor(rank);
    if (below >= count - 1) return ascending[count - 1];
    double share = rank - (double)below;
    return ascending[below] + share * (ascending[below + 1] - ascending[below]);
}

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), from the left by
// the modified Lentz method; converges fast for x < (a + 1) / (a + b + 2).
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double product = d;
    for (int m = 1; m < 10000; ++m) {
        double even = (double)m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        const double terms[2] = {even, odd};
        double before = product;
        for (int k = 0; k < 2; ++k) {
            d = 1.0 + terms[k] * d;
            c = 1.0 + terms[k] / c;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            if (fabs(c) < tiny) c = tiny;
            product *= c * d;
        }
        if (fabs(product - before) < 1e-15 * fabs(product)) break;
    }
    return product;
}

static double incomplete_beta(double a, double b, double x) {
    int sign; // lgamma() would leave it in a global variable
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                       a * log(x) + b * log1p(-x));
    return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                         : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double th_student_t_975(int freedom) {
    const double z = 1.959963984540054; // of the normal distribution
    double n = (double)freedom, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    if (freedom < 1) return (double)NAN;
    if (freedom >
        200) // expansion in 1 / n (Abramowitz and Stegun 26.7.5); the next term is below 1e-9
        return z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n) +
               (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
    double low = z, high = 13.0; // both tails hold 5 % between these for every freedom
    for (int k = 0; k < 60; ++k) {
        double t = 0.5 * (low + high);
        if (incomplete_beta(0.5 * n, 0.5, n / (n + t * t)) > 0.05)
            low = t;
        else
            high = t;
    }
    return 0.5 * (low + high);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static th_sample_summary nothing_known(int count) {
    double none = (double)NAN;
    return (th_sample_summary){count, none, none, none, none, none, none, none, none, none, none};
}

static th_sample_summary summarise_ascending(const double *values, int count) {
    th_sample_summary s = nothing_known(count);
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < count; ++k) sum += values[k];
    s.mean = sum / count;
    s.min = values[0];
    s.max = values[count - 1];
    if (count < 2) return s;
    for (int k = 0; k < count; ++k) squares += (values[k] - s.mean) * (values[k] - s.mean);
    s.standard_deviation = sqrt(squares / (count - 1));
    s.median = th_percentile(values, count, 0.5);
    s.p05 = th_percentile(values, count, 0.05);
    s.p95 = th_percentile(values, count, 0.95);
    double half = th_student_t_975(count - 1) * s.standard_deviation / sqrt((double)count);
    s.ci_low = s.mean - half;
    s.ci_high = s.mean + half;
    if (fabs(s.mean) > 0.0) s.ci_relative = 2.0 * half / fabs(s.mean);
    return s;
}

th_sample_summary th_summarise(const double *values, int count) {
    double few[64], *sorted = few;
    if (count > (int)(sizeof few / sizeof *few)) sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted) return nothing_known(0);
    int known = 0;
    for (int k = 0; k < count; ++k)
        if (!isnan(values[k])) sorted[known++] = values[k];
    if (known > 1) qsort(sorted, (size_t)known, sizeof *sorted, compare);
    th_sample_summary s = known > 0 ? summarise_ascending(sorted, known) : nothing_known(0);
    if (sorted != few) free(sorted);
    return s;
}
