// Statistics of samples, kept whole, as a histogram or as five markers. SPDX-License-Identifier: Apache-2.0
#include "core/statistics.h"
#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void th_sort_values(double *values, int count) {
    if (count > 1) qsort(values, (size_t)count, sizeof *values, compare);
}

double th_mean(const double *values, int count) {
    double sum = 0.0;
    for (int k = 0; k < count; ++k) sum += values[k];
    return count > 0 ? sum / count : (double)NAN;
}

double th_standard_deviation(const double *values, int count) {
    double mean = th_mean(values, count), squares = 0.0;
    for (int k = 0; k < count; ++k) squares += (values[k] - mean) * (values[k] - mean);
    return count > 1 ? sqrt(squares / (count - 1)) : (double)NAN;
}

double th_deviation_of_sums(double count, double sum, double squares) {
    double mean = sum / count;
    return count > 0.0 ? sqrt(fmax(squares / count - mean * mean, 0.0)) : (double)NAN;
}

double th_quantile(const double *ascending, int count, double q) {
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

// log gamma of a positive number. POSIX' lgamma writes a variable of the process; Windows' does not.
static double log_gamma(double x) {
#ifdef _WIN32
    return lgamma(x);
#else
    int sign;
    return lgamma_r(x, &sign);
#endif
}

static double incomplete_beta(double a, double b, double x) {
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
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
    double low = z, high = 13.0; // the answer lies between these for every number of degrees
    for (int k = 0; k < 60; ++k) {
        double t = 0.5 * (low + high);
        if (incomplete_beta(0.5 * n, 0.5, n / (n + t * t)) > 0.05)
            low = t;
        else
            high = t;
    }
    return 0.5 * (low + high);
}

static th_sample_summary nothing_known(int count) {
    double none = (double)NAN;
    return (th_sample_summary){count, none, none, none, none, none, none, none, none, none, none};
}

static th_sample_summary summarise_ascending(const double *values, int count) {
    th_sample_summary s = nothing_known(count);
    s.mean = th_mean(values, count);
    s.min = values[0];
    s.max = values[count - 1];
    if (count < 2) return s;
    s.standard_deviation = th_standard_deviation(values, count);
    s.median = th_quantile(values, count, 0.5);
    s.p05 = th_quantile(values, count, 0.05);
    s.p95 = th_quantile(values, count, 0.95);
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
    th_sort_values(sorted, known);
    th_sample_summary s = known > 0 ? summarise_ascending(sorted, known) : nothing_known(0);
    if (sorted != few) free(sorted);
    return s;
}

// ---- a histogram with classes of equal ratio

#define HISTOGRAM_LEAST 1e-4
#define HISTOGRAM_RATIO 1.01

void th_histogram_add(th_histogram *h, double value) {
    if (!isfinite(value)) return;
    double place =
        value > HISTOGRAM_LEAST ? log(value / HISTOGRAM_LEAST) / log(HISTOGRAM_RATIO) : 0.0;
    int at = place < TH_HISTOGRAM_CLASSES - 1 ? (int)place : TH_HISTOGRAM_CLASSES - 1;
    h->least = h->count == 0 ? value : fmin(h->least, value);
    h->most = h->count == 0 ? value : fmax(h->most, value);
    h->classes[at]++;
    h->sum += value;
    h->count++;
}

double th_histogram_mean(const th_histogram *h) {
    return h->count > 0 ? h->sum / (double)h->count : (double)NAN;
}

double th_histogram_quantile(const th_histogram *h, double q) {
    if (h->count == 0) return (double)NAN;
    double rank = q * (double)(h->count - 1), below = 0.0;
    for (int k = 0; k < TH_HISTOGRAM_CLASSES; ++k) {
        below += (double)h->classes[k];
        if (below <= rank) continue;
        double middle = HISTOGRAM_LEAST * pow(HISTOGRAM_RATIO, k + 0.5);
        return fmin(fmax(middle, h->least), h->most);
    }
    return h->most;
}

// ---- a quantile from five markers

// The height of marker i after it moves by one place: on a parabola through its neighbours, or on a straight
// line where the parabola would put the markers out of order.
static double moved_height(const th_running_quantile *m, int i, int by) {
    const double *n = m->place, *h = m->height;
    double d = (double)by;
    double parabola = h[i] + d / (n[i + 1] - n[i - 1]) *
                                 ((n[i] - n[i - 1] + d) * (h[i + 1] - h[i]) / (n[i + 1] - n[i]) +
                                  (n[i + 1] - n[i] - d) * (h[i] - h[i - 1]) / (n[i] - n[i - 1]));
    if (h[i - 1] < parabola && parabola < h[i + 1]) return parabola;
    return h[i] + d * (h[i + by] - h[i]) / (n[i + by] - n[i]);
}

void th_running_quantile_add(th_running_quantile *m, double value) {
    if (m->count < 5) {
        m->height[m->count++] = value;
        th_sort_values(m->height, m->count);
        for (int i = 0; i < 5; ++i) m->place[i] = i;
        return;
    }
    int k = 0;
    if (value < m->height[0]) m->height[0] = value;
    if (value > m->height[4]) m->height[4] = value;
    while (k < 3 && value >= m->height[k + 1]) ++k;
    for (int i = k + 1; i < 5; ++i) m->place[i] += 1.0;
    ++m->count;
    const double share[5] = {0.0, 0.5 * m->q, m->q, 0.5 * (1.0 + m->q), 1.0};
    for (int i = 1; i < 4; ++i) {
        double off = share[i] * (m->count - 1) - m->place[i];
        int by = off >= 1.0 && m->place[i + 1] - m->place[i] > 1.0    ? 1
                 : off <= -1.0 && m->place[i] - m->place[i - 1] > 1.0 ? -1
                                                                      : 0;
        if (by == 0) continue;
        m->height[i] = moved_height(m, i, by);
        m->place[i] += by;
    }
}

double th_running_quantile_get(const th_running_quantile *m) {
    return m->count > 5 ? m->height[2] : th_quantile(m->height, m->count, m->q);
}
