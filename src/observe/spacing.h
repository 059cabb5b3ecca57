// How near people come to each other: distance to the nearest, and bodies that overlap.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_SPACING_H
#define TH_OBSERVE_SPACING_H
#include "core/statistics.h"
#include "observe/motion.h"

// Overlaps below this are touch, not collision; as in the statistics of a run. [m]
#define TH_TOUCH 0.01

typedef struct th_spacing th_spacing;

typedef struct th_spacing_totals {
    // Centre to the nearest other centre on the level, everybody at every moment [m].
    th_histogram nearest;
    double radius;      // bodies [m]; 0: no collisions were looked for
    int64_t collisions; // times a pair began to overlap by more than TH_TOUCH
    int64_t pairs;      // overlapping pairs, added up over moments
    double pair_time;   // [s] all overlaps together
    double longest;     // [s] one overlap
    double deepest;     // [m] 2 radius - distance, at worst
    double person_time; // [s] everybody's time, to compare with
} th_spacing_totals;

// NULL: no memory. radius 0: nearest distances only.
th_spacing *th_spacing_create(double radius);
void th_spacing_destroy(th_spacing *spacing);
// Every moment, in order. False: no memory.
bool th_spacing_see(th_spacing *spacing, const th_moment *moment);
// Ends what is still going on.
const th_spacing_totals *th_spacing_finish(th_spacing *spacing);
#endif
