// Charts: lines, bands and bars over two labelled axes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_CHART_H
#define TH_DRAW_CHART_H
#include "draw/canvas.h"
#include <stdbool.h>
#include <stddef.h>

// ---- axes: round numbers at readable distances, whatever the data

enum { TH_TICKS_MAX = 16 };

typedef struct th_axis {
    double low, high; // what it spans, in the data's unit; low < high, both finite
    double unit;      // data per shown unit: 60 when seconds are shown as minutes
    double tick[TH_TICKS_MAX];
    int tick_count;
    int decimals; // of the numbers at the ticks
    bool whole;   // counts: no ticks between whole numbers
    char title[96];
} th_axis;

// Multiples of 1, 2 or 5 times a power of ten in low .. high, ascending, at most `most` (2 .. TH_TICKS_MAX).
// With most >= 8 at least three. Returns how many; `step` is their distance.
int th_ticks(double low, double high, int most, double *tick, double *step);

// An axis over at least low .. high; equal, swapped or unusable bounds give a short axis around them.
th_axis th_axis_make(double low, double high, int most, const char *title);
// From 0 to at least `highest` people (or runs, or anything counted).
th_axis th_axis_count(double highest, int most, const char *title);
// From `low` to `high` seconds, shown as seconds, above TH_AXIS_HOURS as hours; the title gets the unit.
#define TH_AXIS_HOURS 18000.0 // [s]
th_axis th_axis_time(double low, double high, int most, const char *what);
// The number at a tick.
void th_axis_label(const th_axis *axis, double value, char *label, size_t size);

// 2900 -> "2 900" with the separator between groups of three digits; four digits stay together when
// the separator is "".
void th_number_text(double value, int decimals, const char *separator, char *text, size_t size);

// ---- charts

typedef struct th_chart {
    const th_canvas *canvas;
    double left, top, width, height; // of the plotting area, axes outside
    th_axis x, y;
} th_chart;

// Where a datum lies on the canvas.
double th_chart_x(const th_chart *chart, double x);
double th_chart_y(const th_chart *chart, double y);

// Room the numbers and the title of the y axis take to the left of the plotting area.
double th_chart_margin(const th_canvas *canvas, const th_axis *y);
// Removes ticks whose numbers would overlap. Call before th_chart_frame.
void th_chart_thin_ticks(th_chart *chart);
// Light grid, axes, numbers, titles (not the empty ones).
void th_chart_frame(const th_chart *chart);
// Below the numbers and the title of the x axis.
double th_chart_bottom(const th_chart *chart);

typedef struct th_line_style {
    th_colour colour;
    double width;
    int dash; // 0: solid, 1: dashed, 2: dotted, 3: dash and dot; also tells lines apart in grey
    double alpha;
} th_line_style;
// Distinct in colour and in dashes; repeats after four.
th_line_style th_line_style_of(int index);

// Data in order of x; gaps where y is NaN. Many data per pixel are drawn as their range.
void th_chart_line(const th_chart *chart, const double *x, const double *y, int count,
                   th_line_style style);
void th_chart_band(const th_chart *chart, const double *x, const double *low, const double *high,
                   int count, th_colour colour, double alpha);
void th_chart_bar(const th_chart *chart, double x0, double x1, double y, th_colour colour);
// Across the whole plotting area.
void th_chart_vertical(const th_chart *chart, double x, th_line_style style);
void th_chart_horizontal(const th_chart *chart, double y, th_line_style style);
void th_chart_dot(const th_chart *chart, double x, double y, th_colour colour);
// Text with a white rim at a datum, shifted by (dx, dy) and kept inside the plotting area.
void th_chart_note(const th_chart *chart, double x, double y, double dx, double dy, double anchor,
                   const char *text);

// One row of line samples with names, wrapping at the canvas' right end; returns the y below it.
typedef struct th_legend_entry {
    const char *name;
    th_line_style style;
    enum { TH_LEGEND_LINE, TH_LEGEND_BAND, TH_LEGEND_DOT } kind;
} th_legend_entry;
double th_legend(const th_canvas *canvas, double left, double y, const th_legend_entry *entries,
                 int count);
#endif
