// Drawing for pictures of a crowd: a page in pixels, colour scales, panels in metres, maps of cells.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_CANVAS_H
#define TH_DRAW_CANVAS_H
#include "throng/base.h"
#include "throng/scene.h"
#include <cairo.h>

typedef struct th_colour {
    double r, g, b;
} th_colour;

// One plan view: metres to pixels, y upwards.
typedef struct th_panel {
    double left, top, width, height; // [px]
    th_box box;                      // [m] what it shows
    double scale;                    // [px/m]
    th_point origin;                 // of the box in scene coordinates; the axes show those
} th_panel;

// Text sizes in pixels, from the page's width.
typedef struct th_canvas {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double width, height;
    double text; // height of ordinary text [px]
} th_canvas;

// NULL surface on failure.
th_canvas th_canvas_create(int width, int height, double text);
// The same page in `zoom` pixels per unit, for figures that are drawn once and shown at any size.
th_canvas th_canvas_create_zoomed(double width, double height, double text, double zoom);
// A page that is handed to `write` as SVG when it is destroyed. Text becomes outlines, so that it looks
// the same on every machine; images are embedded.
th_canvas th_canvas_create_svg(double width, double height, double text, cairo_write_func_t write,
                               void *context);
void th_canvas_destroy(th_canvas *canvas);
// As PNG. A reader of the file never sees half a picture.
th_result th_canvas_write(const th_canvas *canvas, const char *path, th_error *error);

void th_canvas_colour(const th_canvas *canvas, th_colour colour, double alpha);
// anchor 0: x is the left end, 0.5: the middle, 1: the right end. y is the base line.
void th_canvas_text(const th_canvas *canvas, double x, double y, double anchor, double size,
                    bool bold, const char *text);
double th_canvas_text_width(const th_canvas *canvas, double size, const char *text);
// Copies `text`, cut with an ellipsis so that it is at most `room` wide.
void th_canvas_fit(const th_canvas *canvas, double size, double room, const char *text,
                   char *fitted, size_t fitted_size);
// Copies at most size - 1 bytes of `text` as valid UTF-8 without control characters: what is not becomes
// "?". Cairo refuses the whole page for one bad byte.
void th_clean_text(const char *text, char *clean, size_t size);

double th_panel_x(const th_panel *panel, double x);
double th_panel_y(const th_panel *panel, double y);
// Frame, ticks and numbers in metres.
void th_panel_axes(const th_canvas *canvas, const th_panel *panel);
// A bar of a round length, at most `room` pixels wide, with its length written over it.
void th_canvas_scale_bar(const th_canvas *canvas, double x, double y, double room, double scale);
// Vertical, lowest value at the bottom, coloured by `scale`.
typedef th_colour th_colour_fn(double share);
void th_canvas_colour_bar(const th_canvas *canvas, double x, double y, double width, double height,
                          double lowest, double highest, th_colour_fn *scale, const char *title);

// Dark violet (0) over green to yellow (1): even in lightness, safe for the colour-blind.
th_colour th_colour_scale(double share);
th_colour th_colour_scale_reversed(double share);
// Pale yellow (0) over orange and red to dark violet (1), for amounts that begin at nothing.
th_colour th_colour_heat(double share);
// Blue (-1) over pale grey (0) to red (1), for differences.
th_colour th_colour_difference(double share);
// Distinct colours for groups, safe for the colour-blind; repeats after eight.
th_colour th_colour_group(int group);
// 1, 2 or 5 times a power of ten, nearest below or at `length`.
double th_round_length(double length);

// ---- a page of plan views, one panel per level, all at one scale

typedef struct th_panel_page {
    int levels, columns;
    double left, top;    // of the first panel
    double gap_x, gap_y; // between panels: room for axes and names
    double scale;        // [px/m]
    double panel_width, panel_height;
    double bottom;         // below the last panel's axes
    const th_box *boxes;   // what each panel shows; NULL: all the same
    double right, highest; // of panels that have boxes of their own
} th_panel_page;

// The number of columns that shows the plan largest in left .. right and at most `highest` high.
th_panel_page th_panel_page_fit(const th_box *box, int levels, double text, double left, double top,
                                double right, double highest);
// One panel per row, each with its own box as large as fits into left .. right and `highest`. The scale is the largest.
th_panel_page th_panel_page_each(const th_box *boxes, int levels, double text, double left,
                                 double top, double right, double highest);
// The panel of a level, its name written over it when there are several levels.
th_panel th_panel_page_level(const th_canvas *canvas, const th_panel_page *page,
                             const th_scene_view *scene, const th_box *box, int level);

// ---- maps: a value per cell as colours over a plan

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
