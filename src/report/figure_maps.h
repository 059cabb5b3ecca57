// What figures of maps share: a value per cell as colours over the plan, with a key at the right.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_FIGURE_MAPS_H
#define TH_REPORT_FIGURE_MAPS_H
#include "draw/raster.h"
#include "report/figures.h"

// What a map shows of a cell; NaN: nothing.
typedef double th_cell_value(const th_figure_data *data, const th_map *map, int cell);
// Of all cells of all levels; 0: there is none.
double th_map_largest(const th_figure_data *data, th_cell_value *value);
// There are maps with people on them.
bool th_maps_measured(const th_figure_data *data);

// A continuous scale from 0 to `highest`.
typedef struct th_scale_range {
    double highest;
    th_colour_fn *scale;
} th_scale_range;
// A whole figure with a colour bar; a line at `mark` when that is on it. Returns the height it needs.
double th_figure_scale_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *note, th_cell_value *value, th_scale_range range,
                           const char *quantity, double mark, const char *mark_name);
// A whole figure in steps. `what` goes before the runs below the title.
double th_figure_class_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *what, th_cell_value *value, const th_value_classes *classes);
#endif
