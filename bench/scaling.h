// Cost per person against the size of the crowd, for one move model. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_SCALING_H
#define TH_BENCH_SCALING_H
#include "bench/scenes.h"

typedef struct th_scaling_point {
    int agents, threads;
    double ms_per_step, ns_per_agent;
    uint64_t hash;
} th_scaling_point;

// A built-in scene with `agents` people, timed like every bench case.
th_result th_bench_scaling_point(th_bench_scene scene, const char *model, int agents, int threads,
                                 th_scaling_point *point, th_error *error);
#endif
