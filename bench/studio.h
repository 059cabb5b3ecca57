// What the studio costs and how many frames it delivers over the loopback address. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_STUDIO_H
#define TH_BENCH_STUDIO_H
#include "throng/base.h"

typedef struct th_bench_studio_def {
    int agents; // 0: 100 000 and a million
    int threads;
    const char *csv; // NULL: none
} th_bench_studio_def;

// Prints the table: frames per second with the crowd at rest (taken, written, sent and read over a WebSocket, everybody in
// view), then with the crowd stepped as fast as it goes, and the share of the stepping thread's time that the studio took.
th_result th_bench_studio(const th_bench_studio_def *def, th_error *error);
#endif
