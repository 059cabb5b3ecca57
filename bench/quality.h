// Runs a scene to its end and says how good the crowd was: the bars of dense-crowd models in numbers.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_QUALITY_H
#define TH_BENCH_QUALITY_H
#include "throng/throng.h"

// Looked at once a simulated second. NaN: the scene has nothing to measure it by.
typedef struct th_quality {
    uint64_t people; // who ever came
    double time;     // at the end [s]
    double arrived;  // share who left or stand at their goal
    int64_t lost;    // spawned - inside - left - removed: a bug if not 0
    uint64_t wall_crossings;
    double densest;         // largest packing of a cell of the model uic, at any time [1]
    double nearest_mean;    // distance to the nearest person where it is packed, in diameters
    double below_diameter;  // share of all looks at which somebody is closer than a diameter
    double deepest_overlap; // [m]
    double
        tangential; // largest share of the speed that goes around the centre, core of a circle [1]
    double
        lanes; // order parameter of Rex and Loewen 2007 among people who walk, mean over time [1]
    double goalward; // mean speed towards the goal, in units of the preferred speed
    double outflow;  // people per second between the 20th and the 80th percentile of leaving [1/s]
    double outflow_variation; // standard deviation / mean of 5 s counts in that interval
    // Of one step a second, who walks and walks on:
    double acceleration;  // mean |change of velocity| / step [m/s2]
    double reversals;     // share of them who turn by more than a right angle while moving
    double fastest;       // largest speed, in units of the own preferred speed
    double above;         // share faster than 1.2 times the own preferred speed
    double overlap;       // deepest overlap as a share of the pair's mean diameter
    uint64_t repairs;     // states that the world had to set right
    uint64_t left_behind; // neither left nor at their goal at the end
    bool stuck;           // the run ended because they no longer got anywhere
    char who[160];        // is left behind: groups with their numbers, and around where
    double last_left;     // when the last one left [s]
    double wall_seconds;
    uint64_t hash;
} th_quality;

// Steps until everybody has arrived, nobody gets anywhere any more (who is left stands within a metre for a minute,
// and nothing is to come that could change it) or `limit` seconds, whatever the scene's duration. `seen` (or NULL) is told the time after every look and
// stops the run by returning false.
typedef bool th_quality_progress(double time, uint64_t inside, void *context);
// False: no memory.
bool th_quality_run(th_world *world, double limit, th_quality_progress *seen, void *context,
                    th_quality *quality);
#endif
