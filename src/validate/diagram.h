// Fundamental diagrams of recordings and scenes over what was measured of people: samples, means per class, a
// table, a figure. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_DIAGRAM_H
#define TH_VALIDATE_DIAGRAM_H
#include "observe/fundamental.h"
#include "throng/scene.h"
#include "validate/measured.h"
#include <stdio.h>

enum { TH_DIAGRAM_SERIES = 32, TH_DIAGRAM_CLASSES = 24, TH_DIAGRAM_OVER = 8 };

typedef struct th_diagram_area {
    const char *name, *wkt;
} th_diagram_area;

typedef struct th_diagram_def {
    th_fundamental_def fundamental; // area and walkable are filled in
    const th_diagram_area *areas;   // none: a scene's own
    int area_count;
    th_scene_options scene_options;
    uint64_t seed; // of scenes; 0: the scene's
} th_diagram_def;

// Samples of one area of one file.
typedef struct th_diagram_series {
    char name[160]; // file, and area where there are several
    th_fundamental_samples samples;
    th_fundamental_bin classes[TH_DIAGRAM_CLASSES]; // of 0.5 /m2, as the measured classes of uo180
} th_diagram_series;

// Starts zeroed.
typedef struct th_diagram {
    th_diagram_series series[TH_DIAGRAM_SERIES];
    int count;
    const th_measured_set *over[TH_DIAGRAM_OVER]; // measurements drawn below
    int over_count;
    bool weidmann; // his curve too
} th_diagram;

// Adds what a recording holds, or a scene, which is run first. TH_BAD_ARGUMENT with the path "areas": it was not said
// where to measure, or in too many places.
th_result th_diagram_take(th_diagram *diagram, const th_diagram_def *def, const char *path,
                          th_error *error);
void th_diagram_print(FILE *out, const th_diagram *diagram);
// Every sample as CSV.
th_result th_diagram_table(const th_diagram *diagram, const char *path, th_error *error);
// Speed and flow over density, PNG or SVG.
th_result th_diagram_figure(const th_diagram *diagram, const char *path, th_error *error);
void th_diagram_release(th_diagram *diagram);
#endif
