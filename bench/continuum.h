// The scenes of the continuum planner: how fast. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_CONTINUUM_H
#define TH_BENCH_CONTINUUM_H
#include "throng/world.h"

typedef struct th_bench_continuum_def {
    int threads;
    th_backend backend;
    const char *csv;       // NULL: none
    bool (*stopped)(void); // true: the user wants an end
} th_bench_continuum_def;

// Prints milliseconds per step of each scene in scenes/continuum, with the bars.
th_result th_bench_continuum(const th_bench_continuum_def *def, th_error *error);
#endif
