// Maps: a value per cell as colours over a plan. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_RASTER_H
#define TH_DRAW_RASTER_H
#include "draw/canvas.h"

typedef struct th_raster {
    float min_x, min_y, cell; // lower left corner and cell size [m]
    int nx, ny;
    const double *value; // row by row from the lower left; NaN: blank
} th_raster;

typedef th_colour th_value_colour(double value, const void *context);

// One pixel block per cell. Where cells are finer than the image the largest value of those a pixel
// covers is shown: a small hot spot must not vanish. False: no memory.
bool th_draw_raster(const th_canvas *canvas, const th_panel *panel, const th_raster *raster,
                    th_value_colour *colour, const void *context);

// Values in steps.
typedef struct th_value_classes {
    const char *title; // with unit
    int count;
    const double *bounds;     // upper bound of every class but the last
    const char *const *names; // of every class; NULL: none
    int mark;                 // a threshold: the key has a line below this class; 0: none
    const char *mark_name;
} th_value_classes;
// Light to dark, evenly in lightness, so that grey print keeps the order. `classes` is a th_value_classes.
th_colour th_class_colour(double value, const void *classes);
// The key of the classes, from y downwards; returns the y below it.
double th_class_key(const th_canvas *canvas, double x, double y, const th_value_classes *classes);

// Densities in steps: Fruin's walkway levels of service A .. F, then congestion and what comes after it.
enum { TH_DENSITY_CLASSES = 10 };
// Upper bound of every class but the last [1/m2].
extern const double th_density_bounds[TH_DENSITY_CLASSES - 1];
extern const th_value_classes th_density_classes;
#endif
