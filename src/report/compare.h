// Designs side by side, from folders of finished runs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_COMPARE_H
#define TH_REPORT_COMPARE_H
#include "core/statistics.h"
#include "throng/base.h"
#include <stdbool.h>
#include <stdio.h>

enum { TH_COMPARE_MOST = 6 };

// The difference of two samples: B less A, with the 95 % interval of Welch's t; NaN where a sample has fewer than two values.
typedef struct th_difference {
    double a, b, mean, low, high;
    bool clear; // the interval does not hold 0
} th_difference;
th_difference th_difference_of(const th_sample_summary *a, const th_sample_summary *b);

typedef struct th_comparison th_comparison;
// 2 .. TH_COMPARE_MOST folders, the first of which the others are compared with.
th_result th_comparison_read(const char *const *folders, int count, th_comparison **comparison,
                             th_error *error);
void th_comparison_destroy(th_comparison *comparison);
// compare.csv, compare.json, report.html and figures into a folder that exists.
th_result th_comparison_write(const th_comparison *comparison, const char *folder,
                              const char *command_line, th_error *error);
void th_comparison_print(const th_comparison *comparison, FILE *out);
#endif
