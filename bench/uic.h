// The scenes of Narain et al. 2009: how fast and how good. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_UIC_H
#define TH_BENCH_UIC_H
#include "throng/base.h"

typedef struct th_bench_uic_def {
    const char *scene; // one file of scenes/uic; NULL: all
    int threads;
    const char *csv;       // NULL: none
    bool quiet;            // no progress on stderr
    bool (*stopped)(void); // true: the user wants an end
} th_bench_uic_def;

// Prints milliseconds per step in the thick of each scene, with the bars.
th_result th_bench_uic_speed(const th_bench_uic_def *def, th_error *error);
// Runs each scene to its end and prints densities, distances, lanes, walls.
th_result th_bench_uic_quality(const th_bench_uic_def *def, th_error *error);
#endif
