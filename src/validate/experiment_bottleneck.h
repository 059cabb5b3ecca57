// What the experiments at doors found, for their tables, and their figures. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_EXPERIMENT_BOTTLENECK_H
#define TH_VALIDATE_EXPERIMENT_BOTTLENECK_H
#include "validate/bottleneck_scenes.h"
#include "validate/bottleneck_tracks.h"
#include "validate/experiments.h"

enum { TH_DOOR_WIDTHS = 5, TH_DOOR_CASES = TH_DOOR_WIDTHS + 2 };

// A configuration at one door, mean over seeds. NaN: not run.
typedef struct th_door_found {
    int runs, people, through;
    double flow;         // [1/s]
    double density;      // of the jam [1/m2]
    double overlaps;     // pairs per 100 people
    double acceleration; // [m/s2]
} th_door_found;

// One crowd, at most `longest` seconds.
th_result th_door_run(const th_door_scene *scene, uint64_t seed, double longest,
                      th_door_found *door, th_error *error);

typedef struct th_door_model {
    th_experiment_model model;          // variant -1: only in the tables
    th_door_found found[TH_DOOR_CASES]; // the widths of Seyfried 2009, then 0.5 m and 3.0 m
} th_door_model;

// Flow over width, one panel per move model, a last one from 0.5 to 3 m. False: could not be written.
bool th_bottleneck_draw(const th_door_model *models, int count, const char *path);

// ---- pictures of crowds from their tracks: one column per run, one row per moment

typedef struct th_frames_def {
    const th_door_scene *scene;
    const th_run_tracks *const *tracks; // one per column
    const char *const *names;
    int columns;
    const double *times; // [s] one per row
    int rows;
} th_frames_def;

// Everybody as a disc of mean size, coloured by speed. False: no memory or the file cannot be written.
bool th_frames_draw(const th_frames_def *def, const char *path);
#endif
