// Corridors with ends: the scenes of two experiments with people, run, recorded, and measured by the code
// that measures recordings of people. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_CORRIDORS_H
#define TH_VALIDATE_CORRIDORS_H
#include "observe/fundamental.h"
#include "validate/measured.h"
#include "validate/validate.h"

// How people walk and how long they keep coming.
typedef struct th_corridor_people {
    th_models_choice choice;
    double inflow_time; // [s]
} th_corridor_people;

// The corridor of 1.8 m with the run's entrance and exit, people coming in at its inflow, as a scene file.
// To be freed; NULL: no memory.
char *th_corridor_one_way(const th_uo180_run *run, const th_corridor_people *people);
// A corridor of 4 m, `rate` people per second from each end.
char *th_corridor_both_ways(double rate, const th_corridor_people *people);
// The corridor of 3 m of a measured run, its entrances and its inflows.
char *th_corridor_two_way_300(const th_two_way_run *run, const th_corridor_people *people);

typedef struct th_corridor_window {
    const char *area;   // WKT, where density and speed are measured
    const char *lanes;  // WKT, where the order of lanes is looked at; NULL: not
    th_point direction; // speed is the component of the velocity along it; (0, 0): its length
    double from, until; // [s]
} th_corridor_window;

// Classes of density of 0.5 /m2, as those of uo180.
#define TH_CORRIDOR_CLASS 0.5
enum { TH_CORRIDOR_CLASSES = 12 };
typedef struct th_corridor_result {
    th_fundamental_mean mean; // classic density: people counted, as for the measured tables
    th_fundamental_mean late; // the same over the last quarter of the window
    th_fundamental_bin bins[TH_CORRIDOR_CLASSES]; // sums until th_fundamental_bins_finish
    double lanes;                                 // th_lane_order; NaN: not asked for
    uint64_t waiting;                             // people due who found no room to come in
} th_corridor_result;
th_result th_corridor_run(const char *scene, uint64_t seed, const th_corridor_window *window,
                          th_corridor_result *result, th_error *error);

// Order of lanes in an area, mean over people and frames: ((like - against) / (like + against))^2 over
// those beside whom somebody walks at most 0.3 m to the side, like and against being how many of them walk
// the same way. 1: pure lanes; about 1 / (how many) when mixed. Rex and Loewen 2007, Phys. Rev. E 75,
// 051402, for directions along x.
th_result th_lane_order(const char *path, const th_motion_def *motion, const char *area,
                        double *order, th_error *error);
#endif
