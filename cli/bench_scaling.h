// `throng bench --scaling FILE.png`: cost per person against the size of the crowd and the number of
// threads, as a table and a plot. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_BENCH_SCALING_H
#define TH_CLI_BENCH_SCALING_H
#include <stdbool.h>

typedef struct th_bench_scaling_settings {
    const char *scene, *model; // a built-in scene; NULL: block, uic
    const char *plot;          // PNG
    const char *csv;           // NULL: none
    int most;                  // people at most, 0: 4 million
    bool quiet;
} th_bench_scaling_settings;

int th_bench_scaling(const th_bench_scaling_settings *settings);
#endif
