// Statistics of a sample of one quantity: mean, standard deviation, quantiles, confidence interval. Three
// ways to a quantile, by what is kept: all values (exact), a histogram (any number of values in little
// memory, right to 1 %), five markers (one quantile per person). Where a name says nothing else, NaN is the
// answer for too few values. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_STATISTICS_H
#define TH_CORE_STATISTICS_H
#include <math.h> // for isnan, which callers need
#include <stdint.h>

// ---- all values

void th_sort_values(double *values, int count); // ascending
double th_mean(const double *values, int count);
// Sample standard deviation: sum of squares about the mean divided by count - 1.
double th_standard_deviation(const double *values, int count);
// Population standard deviation (divided by count) from the sum and the sum of squares. Loses digits where
// the deviation is far smaller than the mean.
double th_deviation_of_sums(double count, double sum, double squares);
// q in 0..1 of `count` ascending values: linear interpolation between order statistics, type 7 of Hyndman
// and Fan 1996.
double th_quantile(const double *ascending, int count, double q);
// Two-sided 97.5 % point of Student's t with `freedom` degrees of freedom.
double th_student_t_975(int freedom);

// NaN where there are too few values (mean, min and max: 1, the others: 2).
typedef struct th_sample_summary {
    int count;
    double mean, standard_deviation, min, max;
    double median, p05, p95; // th_quantile
    double ci_low, ci_high;  // 95 % confidence interval of the mean, Student t
    double ci_relative;      // (ci_high - ci_low) / mean
} th_sample_summary;
// Values that are NaN are left out and not counted.
th_sample_summary th_summarise(const double *values, int count);

// ---- a histogram: counts in classes of equal ratio, from 1e-4 to 1e5 in steps of 1 %. Smaller values count as 1e-4,
// larger ones as 1e5; values that are not finite are ignored.

enum { TH_HISTOGRAM_CLASSES = 2084 };
typedef struct th_histogram {
    uint64_t count;
    double sum, least, most;
    uint64_t classes[TH_HISTOGRAM_CLASSES];
} th_histogram;

void th_histogram_add(th_histogram *h, double value);
double th_histogram_mean(const th_histogram *h);
double th_histogram_quantile(const th_histogram *h, double q);

// ---- five markers: an estimate of one quantile (Jain and Chlamtac 1985, the P2 algorithm). Exact up to
// five values.

typedef struct th_running_quantile {
    double q;
    int count;
    double height[5], place[5];
} th_running_quantile;
void th_running_quantile_add(th_running_quantile *quantile, double value);
double th_running_quantile_get(const th_running_quantile *quantile);
#endif
