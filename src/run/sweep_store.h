// runs.csv of a sweep: a line per finished run, on the disk before the next one counts as begun, so that an
// interrupted sweep goes on without redoing any. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_SWEEP_STORE_H
#define TH_RUN_SWEEP_STORE_H
#include "report/folder.h"
#include "run/vary.h"
#include "throng/run.h"

typedef struct th_sweep_store {
    const th_folder *folder;
    const th_variation *variation;
    uint64_t first_seed;
    int runs;             // of each combination, at most
    th_run_outcome *rows; // [combination][run]
    bool *known;          // of each row: it is there
    int file;             // open for appending, -1: not
    int found;            // rows that were there already
} th_sweep_store;

// Reads what is there (half a line at the end, left by a kill, is cut off) and opens for appending.
th_result th_sweep_store_open(th_sweep_store *store, th_error *error);
bool th_sweep_store_has(const th_sweep_store *store, int combination, int run);
const th_run_outcome *th_sweep_store_row(const th_sweep_store *store, int combination, int run);
// Appends and syncs. The row in memory becomes what a reader of the file would see.
th_result th_sweep_store_add(th_sweep_store *store, int combination, int run,
                             const th_run_outcome *row, th_error *error);
// At the end: in order, and of each combination only the first used[combination] runs.
th_result th_sweep_store_sort(const th_sweep_store *store, const int *used, th_error *error);
void th_sweep_store_close(th_sweep_store *store);
#endif
