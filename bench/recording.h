// What recording costs: the same steps with and without a recorder, and what the file holds.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_RECORDING_H
#define TH_BENCH_RECORDING_H
#include "throng/base.h"

typedef struct th_bench_recording_def {
    int agents; // 0: 10 000, 100 000 and a million
    int threads;
    const char *folder; // where the recordings lie while they are measured; NULL: a temporary one
    const char *csv;    // NULL: none
    bool quiet;         // no progress on stderr
} th_bench_recording_def;

// Prints the table. `same_hash` becomes false when a crowd walked otherwise because it was recorded: a bug.
th_result th_bench_recording(const th_bench_recording_def *def, bool *same_hash, th_error *error);
#endif
