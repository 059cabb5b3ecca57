// Watches a run and fills an observation. Samples at fixed simulated times only, so that what is
// measured does not depend on who looked when. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_OBSERVER_H
#define TH_OBSERVE_OBSERVER_H
#include "observe/observation.h"

typedef struct th_observer th_observer;

typedef struct th_observer_def {
    double interval; // between samples [s] default 1
    // Of the maps [m] default 0.5; coarser when a level would have over 4 million cells.
    double cell;
    int track_count; // ways kept for the figure, default 120, spread evenly over the ids
    bool maps;       // default true
} th_observer_def;
th_observer_def th_observer_def_default(void);

th_result th_observer_create(th_world *world, const th_observer_def *def, th_observer **observer,
                             th_error *error);
void th_observer_destroy(th_observer *observer);
// Once before the first step and after every step. TH_NO_MEMORY when an array cannot grow.
th_result th_observer_see(th_observer *observer, th_world *world, th_error *error);
// At the end: final statistics, hash, who was left behind. The observation belongs to the observer.
th_result th_observer_finish(th_observer *observer, th_world *world, th_error *error);
th_observation *th_observer_observation(th_observer *observer);

// State as bytes, for checkpoints: a restored observer goes on as if nothing had happened.
// `bytes` is allocated with malloc.
th_result th_observer_save(const th_observer *observer, void **bytes, size_t *size,
                           th_error *error);
th_result th_observer_restore(th_observer *observer, const void *bytes, size_t size,
                              th_error *error);
#endif
