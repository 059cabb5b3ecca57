// Statistics over many runs of one scene. Runs are added in seed order, so the
// numbers do not depend on how many ran side by side. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_ENSEMBLE_H
#define TH_OBSERVE_ENSEMBLE_H
#include "core/statistics.h"
#include "observe/observer.h"
#include "observe/quantities.h"

extern const float th_load_times[TH_LOADS]; // [s]

// The largest number of one group who are on the way at the end, and where one of them stands, with the most others
// around.
typedef struct th_stuck {
    int group, count, level; // count 0: none
    float x, y;              // relative to the scene origin [m]
} th_stuck;
// People of one group who are stuck at the end (count 0: none).
th_stuck th_stuck_of(const th_observation *observation, int group);
// The highest flow over a full window at a counter, both directions together; NaN: no width, or shorter than a window.
double th_counter_peak_flow(const th_observation *observation, const th_counter *counter);

// Those who had not arrived at the end: how many by cause, and the head of the jam, which is the cause of the others.
typedef struct th_failure {
    int counts[TH_LEFT_CAUSE_COUNT];
    // Of those stuck the one that has the shortest way to go, else one of the most frequent cause; group -1: none was left.
    th_left_behind head;
} th_failure;

typedef struct th_run_summary {
    uint64_t seed, hash;
    double egress_time;                // [s] NaN: not empty at the end
    double p95_time;                   // when 95 % of all people had left [s] NaN: never
    double mean_jam_time, max_density; // [s] per person; [1/m2] highest map cell
    double largest_overlap;            // [m]
    double max_pressure;       // [m2/s] highest map cell, TH_GRID_PRESSURE; NaN: no model has one
    double max_crowd_pressure; // [1/s2] highest map cell; NaN: nowhere enough people
    double max_load,
        max_line; // highest of all people: load on the body [N], contact forces over the circumference [N/m]
    // People who bore more than th_load_bounds[k] for longer than th_load_times[k].
    uint64_t overloaded[TH_LOADS];
    // Highest flow over a window of TH_PEAK_WINDOW at any counter that has a width [1/(m s)]; NaN: none. Which counter.
    double max_flow;
    int max_flow_counter;
    th_failure failure;
    double interval;  // between samples [s]
    th_stuck stuck;   // of those who had not arrived at the end
    uint64_t crushed; // people longer than TH_PACKED_TIME above TH_PACKED; 0 without maps
    // People that fell at least once, those of them that lie on the ground at the end, and falls.
    uint64_t fallen, lying, falls;
    uint64_t spawned, left, inside, wall_crossings, overlapping_most, steps;
    double wall_seconds, time;
    double use_time; // until 95 % had left (th_observation.use_sample_count) [s]
    uint64_t deadly; // the same above TH_DEADLY
    th_span spans[TH_SPANS];
    bool done, interrupted;
    int sample_count;
    uint32_t *left_curve; // per sample
} th_run_summary;

// The queue of an opening over time, all runs together, in bins of TH_QUEUE_BIN seconds.
#define TH_QUEUE_BIN 10.0 // [s] as the window of flows
typedef struct th_door_queue {
    double *people;   // over samples and runs
    uint32_t *most;   // of any run
    double *wait;     // of those who passed in it [s], added up
    uint32_t *passed; // how many those are
    int bins;
} th_door_queue;
double th_queue_people(const struct th_ensemble *ensemble, int counter,
                       int bin); // mean over time and runs
double th_queue_wait(const struct th_ensemble *ensemble, int counter,
                     int bin); // mean [s]; NaN: none passed

typedef struct th_ensemble {
    double interval;
    th_run_summary *runs;
    int run_count;
    th_map *maps; // summed over runs (maxima: largest); with one run the first observation's own
    int map_count;
    int map_runs;
    int64_t use_samples; // of all runs, in their time of use
    th_quantities quantities;
    th_door_queue *queues; // per counter of the first run; empty for lines
    th_observation *first; // the first run in full; belongs to the ensemble
} th_ensemble;

// When the share (0 .. 1) of all people had left [s]; NaN: never.
double th_run_reach(const th_run_summary *run, double interval, double share);
// One run in a few numbers; free left_curve. False: no memory.
bool th_run_summarise(const th_observation *observation, th_run_summary *run);

th_result th_ensemble_init(th_ensemble *ensemble);
// Takes over the first observation's arrays (the observer may be destroyed after); copies what it needs of others.
th_result th_ensemble_add(th_ensemble *ensemble, th_observation *observation, th_error *error);
void th_ensemble_release(th_ensemble *ensemble);
th_sample_summary th_ensemble_egress(const th_ensemble *ensemble);
#endif
