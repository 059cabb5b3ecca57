// Many runs side by side over the cores, one scene shared. Results are handed over strictly in the order
// of the seeds, so that nothing computed from them depends on how many ran at once.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_JOBS_H
#define TH_RUN_JOBS_H
#include "run/simulation.h"

typedef struct th_jobs {
    const th_simulation_def *simulation; // threads is overwritten when 0
    const uint64_t *seeds;
    int count;
    int jobs; // at once; 0: as many as cores
    // When it becomes true unfinished runs are given up, except that the first is delivered as far as it came.
    const atomic_bool *interrupt;
    // After the run with seeds[0] was made, in its thread; NULL: nothing. To start its recording.
    th_result (*begin_first)(void *context, th_simulation *first, th_error *error);
    // When a run is complete, in its thread, one at a time, in any order; NULL: nothing.
    th_result (*finished)(void *context, int index, const th_simulation *run, th_error *error);
    // In seed order, in the caller's thread; false: enough, the others are given up. `run` is released after.
    bool (*deliver)(void *context, int index, th_simulation *run);
    // Now and then, in the caller's thread, with the simulated time of the run that is waited for [s].
    void (*waiting)(void *context, double simulated);
    void *context;
} th_jobs;

th_result th_jobs_run(const th_jobs *jobs, th_error *error);
#endif
