// What a model as a function of one person costs beside a built-in loop. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_OWN_MODEL_H
#define TH_BENCH_OWN_MODEL_H
#include "throng/base.h"

typedef struct th_bench_own_model_def {
    int agents; // 0: 10 000 and 100 000
    int threads;
    const char *csv; // NULL: none
} th_bench_own_model_def;

// ORCA as it is built in and ORCA as a function of one person, on the bench's block: milliseconds per step, their ratio
// (bar: 1.5) and the state hashes, which are equal.
th_result th_bench_own_model(const th_bench_own_model_def *def, th_error *error);
#endif
