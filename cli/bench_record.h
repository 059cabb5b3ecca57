// `throng bench --record`: what recording costs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_BENCH_RECORD_H
#define TH_CLI_BENCH_RECORD_H
#include <stdbool.h>

typedef struct th_bench_record_settings {
    int agents; // 0: 10 000, 100 000 and a million
    int threads;
    const char *folder; // where the recordings lie while they are measured; NULL: a temporary one
    const char *csv;    // NULL: none
    bool quiet;
} th_bench_record_settings;

// Prints the table; returns the exit code.
int th_bench_record_table(const th_bench_record_settings *settings);
#endif
