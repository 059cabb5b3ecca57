// Runs jobs in parallel on a pool of threads. Jobs begin in a given order, end in any order, and are
// delivered in the order in which they began, so that results do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_POOL_H
#define TH_CORE_POOL_H
#include "core/system/system.h"
#include "throng/base.h"

typedef struct th_pool_progress {
    int begun, done, delivered;
    int newest; // job that was begun last; -1: none yet
} th_pool_progress;

typedef struct th_pool_def {
    int count;        // jobs, numbered from 0
    int threads;      // that work at once; 0: as many as cores
    int window;       // how many jobs may be begun and not yet delivered; 0: any number
    const int *order; // in which jobs begin, a permutation of 0 .. count - 1; NULL: 0, 1, 2, ...
    // Runs one job, in a thread of the pool. It stores its own failures in the context.
    void (*run)(void *context, int job);
    // A finished job, in the caller's thread, in the order of beginning; false: enough, nothing more is
    // begun or delivered. NULL: nothing.
    bool (*deliver)(void *context, int job);
    // In the caller's thread while it waits, when a job has ended and every 0.2 s; false: nothing more is
    // begun, what runs is waited for and delivered. NULL: nothing.
    bool (*waiting)(void *context, const th_pool_progress *progress);
    void *context;
} th_pool_def;

// Returns when no job is running any more. The pool does not interrupt jobs: a caller that wants one to end early tells it so.
// *progress (may be NULL) is how far it came. TH_NO_MEMORY when
// not a single thread could be started. Where the system has no threads the caller's does the jobs.
th_result th_pool_run(const th_pool_def *def, th_pool_progress *progress, th_error *error);
#endif
