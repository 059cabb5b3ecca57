// Drawing for pictures of a crowd: a page in pixels, colour scales, panels in metres.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_CANVAS_H
#define TH_DRAW_CANVAS_H
#include "throng/base.h"
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
void th_canvas_destroy(th_canvas *canvas);
// Writes beside the target and renames, so that a reader never sees half a picture.
bool th_canvas_write(const th_canvas *canvas, const char *path);

void th_canvas_colour(const th_canvas *canvas, th_colour colour, double alpha);
// anchor 0: x is the left end, 0.5: the middle, 1: the right end. y is the base line.
void th_canvas_text(const th_canvas *canvas, double x, double y, double anchor, double size,
                    bool bold, const char *text);
double th_canvas_text_width(const th_canvas *canvas, double size, const char *text);

double th_panel_x(const th_panel *panel, double x);
double th_panel_y(const th_panel *panel, double y);
// Frame, ticks and numbers in metres.
void th_panel_axes(const th_canvas *canvas, const th_panel *panel);
// A bar of a round length, at most `room` pixels wide, with its length written over it.
void th_canvas_scale_bar(const th_canvas *canvas, double x, double y, double room, double scale);
// Vertical, lowest value at the bottom.
void th_canvas_colour_bar(const th_canvas *canvas, double x, double y, double width, double height,
                          double lowest, double highest, bool reversed, const char *title);

// Dark violet (0) over green to yellow (1): even in lightness, safe for the colour-blind.
th_colour th_colour_scale(double share);
// Distinct colours for groups, safe for the colour-blind; repeats after eight.
th_colour th_colour_group(int group);
// 1, 2 or 5 times a power of ten, nearest below or at `length`.
double th_round_length(double length);
#endif
