// Fundamental diagrams of recordings and scenes over what was measured with people: samples, means per class, a table,
// a figure.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_DIAGRAM_H
#define TH_VALIDATE_DIAGRAM_H
#include "observe/survey.h"
#include "throng/base.h"
#include "throng/scene.h"
#include "validate/measured.h"
#include <stdio.h>

// ---- the figure: panels of speed or flow over density

typedef enum th_fd_mark {
    TH_FD_CLOUD, // many small dots
    TH_FD_DOTS,  // few large ones, with bars where a spread is known
    TH_FD_LINE,
} th_fd_mark;

typedef struct th_fd_series {
    const char *name; // in the legend; series of one name share an entry
    th_fd_mark mark;
    int colour;                    // of th_colour_group; -1: black, -2: grey, -3: light grey
    int dash;                      // of th_line_style, for lines
    const double *density, *speed; // [1/m2], [m/s]; points that are not finite are left out
    const double *spread;          // of the speed [m/s]; NULL: none
    int count;
} th_fd_series;

// Name, colour and dash of a th_experiment_model's variant, alike in all figures; no data yet.
th_fd_series th_fd_series_of_variant(int variant, th_fd_mark mark);

typedef struct th_fd_panel {
    const char *title; // "" none
    bool flow;         // density x speed instead of speed over density
    const th_fd_series *series;
    int series_count;
} th_fd_panel;

typedef struct th_fd_figure {
    const char *title;
    const th_fd_panel *panels;
    int panel_count, columns;
    bool weidmann;       // his curve in every panel
    double most_density; // of the x axis [1/m2]; 0: from the data
    double most_flow;    // of the y axis of flows [1/(m s)]; 0: from the data
} th_fd_figure;

// PNG, or SVG when the path ends so.
th_result th_fd_figure_write(const th_fd_figure *figure, const char *path, th_error *error);

// ---- diagrams of files

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
