// `throng bench --uic` and `--quality`: the scenes of Narain et al. 2009, how fast and how good.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_BENCH_UIC_H
#define TH_CLI_BENCH_UIC_H
#include <stdbool.h>

typedef struct th_bench_uic_settings {
    const char *scene; // one file of scenes/uic; NULL: all
    int threads;
    const char *csv; // NULL: none
    bool quiet;
} th_bench_uic_settings;

// Milliseconds per step in the thick of each scene, with the bars. Returns the exit code.
int th_bench_uic_speed(const th_bench_uic_settings *settings);
// Each scene to its end: densities, distances, lanes, walls. Returns the exit code.
int th_bench_uic_quality(const th_bench_uic_settings *settings);
#endif
