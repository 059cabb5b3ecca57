// The table of `throng bench`: milliseconds per step, memory and behaviour, with the bars beside them; and one
// measurement alone. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_TABLE_H
#define TH_BENCH_TABLE_H
#include "bench/timing.h"

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
