// Every number that a run is judged by, of every run: the run itself, exits, doors, stairs, lines, areas, groups and
// profiles. One list serves tables, report, comparison and sensitivity. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_QUANTITIES_H
#define TH_OBSERVE_QUANTITIES_H
#include "core/statistics.h"
#include "observe/observer.h"

struct th_run_summary;

// A number measured in every run.
typedef struct th_quantity {
    const char *of;          // "run", "exit", "door", "stairs", "line", "area", "group", "profile"
    char *id;                // of the exit, ...; "" for the run
    const char *name, *unit; // "egress time", "s"; units as the tables write them, "" for counts
    int worst;               // 1: high is worse, -1: low is, 0: neither
    double *values;          // per run; NaN: none
} th_quantity;

typedef struct th_quantities {
    th_quantity *list;
    int count;
    int runs;
    int filling; // where the next number of the run that is added goes
    bool failed; // no memory
} th_quantities;

// The numbers of the next run, in the same order as those of the runs before. False: no memory, or not the same numbers.
bool th_quantities_add(th_quantities *all, const th_observation *observation,
                       const struct th_run_summary *run);
void th_quantities_release(th_quantities *all);
const th_quantity *th_quantities_find(const th_quantities *all, const char *of, const char *id,
                                      const char *name); // NULL: none
th_sample_summary th_quantity_summary(const th_quantities *all, const th_quantity *quantity);
// The run in which it is worst; -1: none, or neither side is worse.
int th_quantity_worst(const th_quantities *all, const th_quantity *quantity);

// ---- how many runs are enough

// Results after the first n runs, for n = 1 .. count. Only runs that emptied the scene count.
typedef struct th_convergence_step {
    int runs;
    double mean, low, high; // of the egress time, with the 95 % interval of the mean [s]
    double p95;             // of the egress times [s]
    // Functional analysis (Ronchi, Reneke, Peacock 2014, Fire Technology 50, 1545; ISO 20414): how far the mean curve of n
    // runs is from that of n - 1. A curve is the times at which 1, 2, ... 100 % had left. Relative distance of the two,
    // and how far projection coefficient and secant cosine are from 1. NaN: the first run.
    double distance, projection, secant;
} th_convergence_step;

// The modeller chooses the bound (ISO 20414). 1 %: far below what any model of people is known to.
#define TH_CONVERGED_SHARE 0.01
enum { TH_CONVERGED_RUNS = 10 }; // in a row within the bound

typedef struct th_convergence {
    th_convergence_step *steps;
    int count;
    // Runs after which mean and 95th percentile, and the three functions, stayed within TH_CONVERGED_SHARE of what they
    // were before for TH_CONVERGED_RUNS runs; 0: not yet.
    int mean_at, p95_at, curve_at;
    // Runs after which the 95 % interval would be within +- TH_CONVERGED_SHARE of the mean, by the deviation so far; 0: not known.
    int needed;
} th_convergence;

struct th_ensemble;
bool th_convergence_make(const struct th_ensemble *ensemble,
                         th_convergence *made); // false: no memory
void th_convergence_release(th_convergence *convergence);
#endif
