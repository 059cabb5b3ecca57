// Tables and page of a sweep: one row per combination of values. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SWEEP_H
#define TH_REPORT_SWEEP_H
#include "observe/ensemble.h"
#include "report/figures.h"
#include <jansson.h>

// One combination.
typedef struct th_sweep_point {
    const char *const *values; // one per path
    int runs;
    const double *egress_times; // [s], one per run; NaN: not empty at the end
    th_sample_summary egress;   // of them
    th_sample_summary flow;     // through all exits [1/s]
    double mean_jam_time;       // per person [s]
    double max_density;         // highest of all runs [1/m2]
} th_sweep_point;

typedef struct th_sweep_report {
    const char *folder; // exists
    const char *scene_name, *scene_file, *command_line;
    const char *const *paths; // varied
    int path_count;
    const th_sweep_point *points;
    int point_count;
} th_sweep_report;

// The points with their values, egress times and flows, for sweep.json.
json_t *th_report_sweep_json(const th_sweep_report *report);
// sweep.csv
th_result th_report_sweep_table(const th_sweep_report *report, th_error *error);
// report.html with the figures inside, and figures/*.png
th_result th_report_sweep_page(const th_sweep_report *report, th_error *error);

// ---- figures of a sweep. They are rows of the same kind as those of a run, so that SVG and PNG are written by
// the same code.

// What a figure's functions are given: `base` is empty and comes first, so that a pointer to it is one
// to the whole.
typedef struct th_sweep_figure_data {
    th_figure_data base;
    const th_sweep_report *report;
} th_sweep_figure_data;

extern const th_figure th_sweep_figures[];
extern const int th_sweep_figure_count;
#endif
