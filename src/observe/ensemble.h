// Many runs of one scene: what an engineer asks of a sample. Runs are added in seed order, so the
// numbers do not depend on how many ran side by side. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_ENSEMBLE_H
#define TH_OBSERVE_ENSEMBLE_H
#include "core/statistics.h"
#include "observe/observer.h"

// How many were in danger, as one number per run. At 6 /m2 people are pressed together and cannot choose where
// they go; 10 s leave out those who only pass through a squeeze. Ours: no norm has such a figure.
enum { TH_CRUSH_BOUND = 1 }; // of th_exposure_bounds: 6 /m2
#define TH_CRUSH_TIME 10.0f  // [s]

// How long a load has to last to count, by bound: 623 N is unpleasant at once, 10 s leave out a single shove; 1112 N kills
// within 4 to 6 minutes, a fifth of that is taken; 6227 N kills within 15 s, a third.
extern const float th_load_times[TH_LOADS]; // [s]

// More than any door lets through in experiments with people (docs/reports.md): such a model lets too many out. [1/(m s)]
#define TH_TOO_MUCH_FLOW 2.5
#define TH_PEAK_WINDOW 10.0 // [s]

// The largest number of one group who are on the way at the end, and where one of them stands, with the most others
// around.
typedef struct th_stuck {
    int group, count, level; // count 0: nobody
    float x, y;              // relative to the scene origin [m]
} th_stuck;
// Of one group (count 0: nobody).
th_stuck th_stuck_of(const th_observation *observation, int group);
// The highest flow over a full window at a counter, both directions together; NaN: no width, or shorter than a window.
double th_counter_peak_flow(const th_observation *observation, const th_counter *counter);

typedef struct th_run_summary {
    uint64_t seed, hash;
    double egress_time;                // [s] NaN: not empty at the end
    double p95_time;                   // when 95 % of those who ever came had left [s] NaN: never
    double mean_jam_time, max_density; // [s] per person; [1/m2] highest map cell
    double largest_overlap;            // [m]
    double max_pressure;       // [m2/s] highest map cell, TH_GRID_PRESSURE; NaN: no model has one
    double max_crowd_pressure; // [1/s2] highest map cell; NaN: nowhere enough people
    double max_load,
        max_line; // highest of anybody: load on the body [N], contact forces over the circumference [N/m]
    // People who bore more than th_load_bounds[k] for longer than th_load_times[k].
    uint64_t overloaded[TH_LOADS];
    // Highest flow over a window of TH_PEAK_WINDOW at any counter that has a width [1/(m s)]; NaN: none. Which counter.
    double max_flow;
    int max_flow_counter;
    th_stuck stuck;   // of those who had not arrived at the end
    uint64_t crushed; // people longer than TH_CRUSH_TIME above 6 /m2; 0 without maps
    // People who fell, at least once, those of them who lie on the ground at the end, and falls.
    uint64_t fallen, lying, falls;
    uint64_t spawned, left, inside, wall_crossings, overlapping_most, steps;
    double wall_seconds, time;
    double use_time; // until 95 % had left (th_observation.use_sample_count) [s]
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
    int64_t use_samples;   // of all runs, in their time of use
    th_observation *first; // the first run in full; belongs to the ensemble
} th_ensemble;

th_result th_ensemble_init(th_ensemble *ensemble);
// Takes over the first observation's arrays (the observer may be destroyed after); copies what it needs of others.
th_result th_ensemble_add(th_ensemble *ensemble, th_observation *observation, th_error *error);
void th_ensemble_release(th_ensemble *ensemble);
th_sample_summary th_ensemble_egress(const th_ensemble *ensemble);
#endif
