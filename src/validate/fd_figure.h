// Fundamental diagrams as a figure: panels of speed or flow over density, models over what was measured.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_FD_FIGURE_H
#define TH_VALIDATE_FD_FIGURE_H
#include "throng/base.h"

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
#endif
