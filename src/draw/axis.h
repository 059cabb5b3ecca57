// Axes of charts: round numbers at readable distances, whatever the data. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_AXIS_H
#define TH_DRAW_AXIS_H
#include <stdbool.h>
#include <stddef.h>

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
// The same axis with at most `most` ticks.
void th_axis_thin(th_axis *axis, int most);
// The number at a tick.
void th_axis_label(const th_axis *axis, double value, char *label, size_t size);

// 2900 -> "2 900" with the separator between groups of three digits; four digits stay together when
// the separator is "".
void th_number_text(double value, int decimals, const char *separator, char *text, size_t size);
#endif
