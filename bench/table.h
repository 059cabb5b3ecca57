// The table of `throng bench`: milliseconds per step, memory and behaviour, with the bars beside them; and one
// measurement alone. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_TABLE_H
#define TH_BENCH_TABLE_H
#include "throng/world.h"

// One measurement.
typedef struct th_bench_case {
    const char *scene, *model;
    const char *filter; // NULL: none; "name" or "name:preset"
    th_backend backend;
    int agents, threads;
    double step; // [s]; 0: the bench's, or that of the scene file
    bool behaviour;
    const char *const *params; // "name=value", for all groups
    int param_count;
    double bar;       // [ms] per step, or per sub-step for models with sub-steps; 0: none
    bool bar_on_plan; // the bar is on the plan stage alone
} th_bench_case;

typedef struct th_bench_table_def {
    bool full; // also the largest crowds
    int threads;
    th_backend backend;
    const char *csv; // NULL: none
    bool quiet;      // no progress on stderr
} th_bench_table_def;

// Both print; the error names what could not be measured, its path the option that was wrong.
th_result th_bench_table(const th_bench_table_def *def, th_error *error);
th_result th_bench_one(const th_bench_case *what, bool json, th_error *error);
#endif
