// Many runs of one scene: what an engineer asks of a sample. Runs are added in seed order, so the
// numbers do not depend on how many ran side by side. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_ENSEMBLE_H
#define TH_OBSERVE_ENSEMBLE_H
#include "core/statistics.h"
#include "observe/observation.h"

// How many were in danger, as one number per run. At 6 /m2 people are pressed together and cannot choose where
// they go; 10 s leave out those who only pass through a squeeze. Ours: no norm has such a figure.
enum { TH_CRUSH_BOUND = 1 }; // of th_exposure_bounds: 6 /m2
#define TH_CRUSH_TIME 10.0f  // [s]

typedef struct th_run_summary {
    uint64_t seed, hash;
    double egress_time;                // [s] NaN: not empty at the end
    double p95_time;                   // when 95 % of those who ever came had left [s] NaN: never
    double mean_jam_time, max_density; // [s] per person; [1/m2] highest map cell
    double largest_overlap;            // [m]
    double max_pressure;       // [m2/s] highest map cell, TH_GRID_PRESSURE; NaN: no model has one
    double max_crowd_pressure; // [1/s2] highest map cell; NaN: nowhere enough people
    uint64_t crushed;          // people longer than TH_CRUSH_TIME above 6 /m2; 0 without maps
    uint64_t spawned, left, inside, wall_crossings, overlapping_most, steps;
    double wall_seconds, time;
    bool done, interrupted;
    int sample_count;
    uint32_t *left_curve; // per sample
} th_run_summary;

typedef struct th_ensemble {
    double interval;
    th_run_summary *runs;
    int run_count;
    th_map *maps; // summed over runs (maxima: largest); with one run the first observation's own
    int map_count;
    int map_runs;
    int64_t map_samples;   // taken by all runs: density_sum / map_samples is the mean density
    th_observation *first; // the first run in full; belongs to the ensemble
} th_ensemble;

th_result th_ensemble_init(th_ensemble *ensemble);
// Takes over the first observation's arrays (the observer may be destroyed after); copies what it needs of others.
th_result th_ensemble_add(th_ensemble *ensemble, th_observation *observation, th_error *error);
void th_ensemble_release(th_ensemble *ensemble);
th_sample_summary th_ensemble_egress(const th_ensemble *ensemble);
#endif
