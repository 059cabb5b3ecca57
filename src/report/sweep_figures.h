// The figures of a sweep. They are rows of the same kind as those of a run, so that SVG and PNG are
// written by the same code. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SWEEP_FIGURES_H
#define TH_REPORT_SWEEP_FIGURES_H
#include "report/figures.h"
#include "report/sweep.h"

// What a figure's functions are given: `base` is empty and comes first, so that a pointer to it is one
// to the whole.
typedef struct th_sweep_figure_data {
    th_figure_data base;
    const th_sweep_report *report;
} th_sweep_figure_data;

extern const th_figure th_sweep_figures[];
extern const int th_sweep_figure_count;
#endif
