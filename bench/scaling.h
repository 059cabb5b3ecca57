// Cost per person against the size of the crowd and the number of threads, as a table and a plot; without a model of uic
// and orca, as in figure 8 of Narain et al. 2009. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_SCALING_H
#define TH_BENCH_SCALING_H
#include "throng/base.h"

typedef struct th_bench_scaling_def {
    const char *scene, *model; // a built-in scene; a move model, NULL: uic and orca
    const char *plot;          // PNG
    const char *csv;           // NULL: none
    int most;                  // people at most, 0: 4 million
    bool quiet;                // no progress on stderr
} th_bench_scaling_def;

th_result th_bench_scaling(const th_bench_scaling_def *def, th_error *error);
#endif
