// Sweeps: a scene run for every combination of some values. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_SWEEP_H
#define TH_CLI_SWEEP_H
#include "cli/sweep_store.h"

typedef struct th_sweep {
    th_folder folder;
    json_t *about; // sweep.json
    th_variation variation;
    int runs;          // of a combination, at most
    double until_ci;   // 0: all of them
    int jobs, threads; // 0: as many as pay
    bool quiet;
} th_sweep;

// Makes the runs that are missing, then tables and report. Returns the exit code.
int th_sweep_go(th_sweep *sweep);
void th_sweep_release(th_sweep *sweep);
// Goes on with the sweep in a folder.
int th_sweep_resume(const char *folder, int jobs, int threads, bool quiet);
#endif
