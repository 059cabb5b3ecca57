// What drives people, over the plan: arrows, rectangles, circles and half-planes, a colour per name.
// SPDX-License-Identifier: Apache-2.0
#include "draw/plan_drawing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 16 }; // more share the last colour
typedef struct names {
    const char *name[NAMES_MAX];
    const th_influence *first[NAMES_MAX];
    int count;
} names;

static bool is_drawn(const th_influence *one) {
    float length = hypotf(one->vector.x, one->vector.y);
    return one->kind != TH_INFLUENCE_FIGURE && (one->kind != TH_INFLUENCE_VECTOR || length > 1e-4f);
}

// The names in the order in which they come.
static int number_of(names *known, const th_influence *one) {
    int k = 0;
    while (k < known->count && strcmp(known->name[k], one->name) != 0) ++k;
    if (k < known->count) return k;
    if (k == NAMES_MAX) return NAMES_MAX - 1;
    known->name[k] = one->name;
    known->first[k] = one;
    return known->count++;
}

static th_colour colour_of(int number) {
    static const th_colour colours[] = {
        {0.85, 0.10, 0.10}, {0.10, 0.25, 0.80}, {0.00, 0.55, 0.35}, {0.85, 0.45, 0.00},
        {0.55, 0.20, 0.65}, {0.35, 0.25, 0.15}, {0.90, 0.30, 0.60}, {0.10, 0.60, 0.70},
        {0.45, 0.45, 0.45}, {0.60, 0.60, 0.00}, {0.30, 0.80, 0.20}, {0.00, 0.00, 0.00},
    };
    return colours[number % 12];
}

double th_influence_metres(const char *unit) {
    if (strcmp(unit, "m") == 0) return 10;
    if (strcmp(unit, "m/s2") == 0) return 0.25;
    return strcmp(unit, "N") == 0 ? 0.002 : 1;
}

static void draw_arrow(const th_canvas *canvas, double x, double y, double dx, double dy) {
    cairo_t *cairo = canvas->cairo;
    double length = hypot(dx, dy), head = fmin(0.35 * length, 0.6 * canvas->text);
    double ux = dx / length, uy = dy / length;
    cairo_move_to(cairo, x, y);
    cairo_line_to(cairo, x + dx, y + dy);
    cairo_stroke(cairo);
    cairo_move_to(cairo, x + dx, y + dy);
    cairo_line_to(cairo, x + dx - head * (ux - 0.4 * uy), y + dy - head * (uy + 0.4 * ux));
    cairo_line_to(cairo, x + dx - head * (ux + 0.4 * uy), y + dy - head * (uy - 0.4 * ux));
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

bool th_trace_rectangle(const th_canvas *canvas, const th_panel *panel, const th_influence *r) {
    double length = hypot((double)r->vector.x, (double)r->vector.y), half = 0.5 * (double)r->size;
    if (!(length > 0)) return false;
    double ux = (double)r->vector.x / length, uy = (double)r->vector.y / length;
    for (int k = 0; k < 4; ++k) {
        double along = (k == 1 || k == 2 ? 0.5 : -0.5) * length, across = k < 2 ? -half : half;
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)r->at.x + along * ux - across * uy),
                      th_panel_y(panel, (double)r->at.y + along * uy + across * ux));
    }
    cairo_close_path(canvas->cairo);
    return true;
}

// The border, 1.6 m of it, with teeth on the side that is forbidden.
static void draw_half_plane(const th_canvas *canvas, const th_panel *panel,
                            const th_influence *plane) {
    double nx = (double)plane->vector.x, ny = (double)plane->vector.y;
    for (int k = -8; k <= 8; ++k) {
        double x = (double)plane->at.x - 0.1 * k * ny, y = (double)plane->at.y + 0.1 * k * nx;
        if (k > -8) cairo_line_to(canvas->cairo, th_panel_x(panel, x), th_panel_y(panel, y));
        cairo_move_to(canvas->cairo, th_panel_x(panel, x - 0.06 * nx),
                      th_panel_y(panel, y - 0.06 * ny));
        cairo_line_to(canvas->cairo, th_panel_x(panel, x), th_panel_y(panel, y));
    }
    cairo_stroke(canvas->cairo);
}

static void draw_one(const th_canvas *canvas, const th_panel *panel, const th_influence *one) {
    double x = th_panel_x(panel, (double)one->at.x), y = th_panel_y(panel, (double)one->at.y);
    double scale = panel->scale * th_influence_metres(one->unit);
    if (one->kind == TH_INFLUENCE_VECTOR) {
        draw_arrow(canvas, x, y, scale * (double)one->vector.x, -scale * (double)one->vector.y);
    } else if (one->kind == TH_INFLUENCE_RECTANGLE) {
        if (th_trace_rectangle(canvas, panel, one)) cairo_stroke(canvas->cairo);
    } else if (one->kind == TH_INFLUENCE_CIRCLE) {
        cairo_new_sub_path(canvas->cairo);
        cairo_arc(canvas->cairo, x, y, panel->scale * (double)one->size, 0, 6.283185307);
        cairo_stroke(canvas->cairo);
    } else {
        draw_half_plane(canvas, panel, one);
    }
}

void th_draw_influences(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                        int level) {
    names known = {0};
    cairo_set_line_width(canvas->cairo, fmax(1.2, 0.12 * canvas->text));
    for (int k = 0; k < view->influence_count; ++k) {
        const th_influence *one = &view->influences[k].of;
        if (!is_drawn(one)) continue;
        th_canvas_colour(canvas, colour_of(number_of(&known, one)), 1);
        if (view->influences[k].level == level) draw_one(canvas, panel, one);
    }
}

double th_draw_influence_key(const th_canvas *canvas, const th_plan_view *view, double x,
                             double y) {
    names known = {0};
    double text = canvas->text;
    for (int k = 0; k < view->influence_count; ++k)
        if (is_drawn(&view->influences[k].of)) number_of(&known, &view->influences[k].of);
    for (int k = 0; k < known.count; ++k) {
        const th_influence *one = known.first[k];
        char scale[32] = "", name[96];
        if (one->kind == TH_INFLUENCE_VECTOR && strcmp(one->unit, "-") != 0)
            snprintf(scale, sizeof scale, "1 m: %g %s", 1 / th_influence_metres(one->unit),
                     one->unit);
        th_canvas_colour(canvas, colour_of(k), 1);
        cairo_rectangle(canvas->cairo, x, y - 0.6 * text, 0.8 * text, 0.6 * text);
        cairo_fill(canvas->cairo);
        cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
        th_canvas_fit(canvas, 0.8 * text, canvas->width - x - 1.4 * text, one->name, name,
                      sizeof name);
        th_canvas_text(canvas, x + 1.2 * text, y, 0, 0.8 * text, false, name);
        y += 1.2 * text;
        if (*scale) {
            th_canvas_text(canvas, x + 1.2 * text, y, 0, 0.8 * text, false, scale);
            y += 1.2 * text;
        }
    }
    return y;
}
