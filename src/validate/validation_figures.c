// SPDX-License-Identifier: Apache-2.0
#include "validate/validation_figures.h"
#include "draw/chart.h"
#include "draw/panels.h"
#include "draw/plan_drawing.h"
#include "report/figures.h"
#include "report/text.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_colour BLACK = {0.1, 0.1, 0.1}, GREY = {0.45, 0.45, 0.45};

// ---- the plan

// Share of the preferred speed below which people are drawn in the colour; one path per colour keeps the
// page small.
static const double share_bound[] = {0.2, 0.6, 10};
static const double share_colour[] = {0.05, 0.5, 0.9};
enum { SHARES = 3 };

static int share_of(const th_moment *crowd, int i) {
    double speed = hypot(crowd->velocity_x[i], crowd->velocity_y[i]);
    double wanted = fmax(crowd->preferred_speed[i], 0.1);
    for (int k = 0; k < SHARES - 1; ++k)
        if (speed < share_bound[k] * wanted) return k;
    return SHARES - 1;
}

static void draw_crowd(const th_canvas *canvas, const th_panel *panel, const th_moment *crowd,
                       int level) {
    th_vec2 *points = malloc(((size_t)crowd->count + 1) * sizeof *points);
    double width = fmin(fmax(0.4 * panel->scale, 2.4), 16); // a person is about 0.4 m wide
    for (int k = 0; points && k < SHARES; ++k) {
        int count = 0;
        for (int i = 0; i < crowd->count; ++i)
            if (th_moment_level(crowd, i) == level && share_of(crowd, i) == k)
                points[count++] = (th_vec2){(float)crowd->x[i], (float)crowd->y[i]};
        th_draw_dots(canvas, panel, points, count, th_colour_scale(share_colour[k]), width);
    }
    free(points);
}

double th_validation_draw_plan(const th_canvas *canvas, const th_outcome *outcome) {
    const th_suite_picture *picture = &outcome->picture;
    const th_scene *scene = picture->scene;
    double text = canvas->text;
    th_moment nobody = {0};
    th_box box = th_plan_box(scene, &nobody);
    float more = fmaxf(0, 0.15f * (box.max_x - box.min_x) - (box.max_y - box.min_y)) / 2;
    box.min_y -= more; // a plan thinner than this would leave no room for its labels
    box.max_y += more;
    char note[160];
    snprintf(note, sizeof note,
             "t = %.1f s, %d people on the plan; dark: slower than a fifth of the own speed, "
             "green: than "
             "three fifths, yellow: faster",
             picture->time, picture->crowd.moment.count);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_text(canvas, 0.8 * text, 1.3 * text, 0, text, false, note);
    th_panel_page page = th_panel_page_fit(&box, scene->level_count, text, 4.8 * text, 2.2 * text,
                                           canvas->width - 1.5 * text, 0.75 * canvas->width);
    th_plan_view view = {.scene = scene, .door_closed = picture->door_closed, .box = box};
    for (int level = 0; level < scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, scene, &box, level);
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
        cairo_clip(canvas->cairo);
        th_draw_ground(canvas, &panel, scene, level);
        draw_crowd(canvas, &panel, &picture->crowd.moment, level);
        th_draw_walls(canvas, &panel, &view, level);
        th_draw_labels(canvas, &panel, scene, level, false);
        cairo_restore(canvas->cairo);
        th_panel_axes(canvas, &panel);
    }
    return page.bottom;
}

// ---- samples: a row each

bool th_validation_has_samples(const th_outcome *outcome) {
    for (int i = 0; i < outcome->series_count; ++i)
        if (!outcome->series[i].unit_x && outcome->series[i].count > 0) return true;
    return false;
}

bool th_validation_has_curves(const th_outcome *outcome) {
    for (int i = 0; i < outcome->series_count; ++i)
        if (outcome->series[i].unit_x && outcome->series[i].count > 0) return true;
    return false;
}

static void widen(double value, double *low, double *high) {
    if (!isfinite(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static void sample_range(const th_outcome *outcome, double *low, double *high) {
    *low = 1e30;
    *high = -1e30;
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x) continue;
        for (int k = 0; k < s->count; ++k) widen(s->y[k], low, high);
        widen(s->low, low, high);
        widen(s->high, low, high);
    }
    double margin = fmax(0.05 * (*high - *low), 0.02 * fmax(fabs(*high), 1e-6));
    *low -= margin;
    *high += margin;
}

enum { DOTS_MOST = 20, BINS = 40 };

// Many values as a histogram in the row, few as dots.
static void draw_row(const th_chart *chart, const th_series *s, double base, th_colour colour) {
    if (s->count <= DOTS_MOST) {
        for (int k = 0; k < s->count; ++k) th_chart_dot(chart, s->y[k], base + 0.3, colour);
        return;
    }
    int counts[BINS] = {0}, most = 1;
    double width = (chart->x.high - chart->x.low) / BINS;
    for (int k = 0; k < s->count; ++k) {
        int bin = (int)((s->y[k] - chart->x.low) / width);
        if (bin >= 0 && bin < BINS && ++counts[bin] > most) most = counts[bin];
    }
    cairo_t *cairo = chart->canvas->cairo;
    for (int b = 0; b < BINS; ++b) {
        if (counts[b] == 0) continue;
        double x0 = th_chart_x(chart, chart->x.low + b * width),
               y0 = th_chart_y(chart, base + 0.05);
        double x1 = th_chart_x(chart, chart->x.low + (b + 1) * width);
        double y1 = th_chart_y(chart, base + 0.05 + 0.55 * counts[b] / most);
        cairo_rectangle(cairo, x0 + 0.5, y1, x1 - x0 - 1, y0 - y1);
    }
    th_canvas_colour(chart->canvas, colour, 1);
    cairo_fill(cairo);
}

// What the rule allows, as a pale bar.
static void draw_allowed(const th_chart *chart, const th_series *s, double base) {
    if (!isfinite(s->low) && !isfinite(s->high)) return;
    double x0 = th_chart_x(chart, isfinite(s->low) ? s->low : chart->x.low);
    double x1 = th_chart_x(chart, isfinite(s->high) ? s->high : chart->x.high);
    double y0 = th_chart_y(chart, base + 0.03), y1 = th_chart_y(chart, base + 0.62);
    cairo_rectangle(chart->canvas->cairo, x0, y1, x1 - x0, y0 - y1);
    th_canvas_colour(chart->canvas, th_colour_group(2), 0.25);
    cairo_fill(chart->canvas->cairo);
}

double th_validation_draw_samples(const th_canvas *canvas, const th_outcome *outcome) {
    double low, high, text = canvas->text, row = 3.4 * text;
    int rows = 0, drawn = 0;
    const char *unit = "";
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x || s->count == 0) continue;
        ++rows;
        unit = s->unit;
    }
    sample_range(outcome, &low, &high);
    char title[64];
    snprintf(title, sizeof title, strcmp(unit, "-") == 0 ? "share" : "[%s]", unit);
    th_axis y = {.low = 0, .high = rows, .unit = 1};
    th_chart chart = {
        .canvas = canvas, .left = 2 * text, .top = 0.8 * text, .width = canvas->width - 4 * text};
    chart.height = rows * row;
    chart.x = th_axis_make(low, high, 9, title);
    chart.y = y;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x || s->count == 0) continue;
        double base = rows - 1 - drawn++;
        draw_allowed(&chart, s, base);
        draw_row(&chart, s, base, th_colour_group(0));
        char name[160];
        snprintf(name, sizeof name, "%s (%d)", s->name, s->count);
        th_canvas_colour(canvas, BLACK, 1);
        th_canvas_text(canvas, chart.left + 0.4 * text, th_chart_y(&chart, base + 0.7), 0,
                       0.92 * text, false, name);
        if (base > 0) th_chart_horizontal(&chart, base, (th_line_style){GREY, 0.6, 0, 0.6});
    }
    return th_chart_bottom(&chart);
}

// ---- curves

static void curve_range(const th_outcome *outcome, double *x_high, double *y_high, double *x_low) {
    double low = 0;
    *x_low = 1e30;
    *x_high = *y_high = 0;
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        for (int k = 0; s->unit_x && k < s->count; ++k) {
            widen(s->x[k], x_low, x_high);
            widen(s->y[k], &low, y_high);
        }
    }
    if (*x_low < 0.4 * *x_high) *x_low = 0;
}

double th_validation_draw_curves(const th_canvas *canvas, const th_outcome *outcome) {
    double x_low, x_high, y_high, text = canvas->text;
    th_legend_entry entries[TH_SERIES_MAX];
    char x_title[96] = "", y_title[96] = "";
    int count = 0;
    curve_range(outcome, &x_high, &y_high, &x_low);
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (!s->unit_x || s->count == 0) continue;
        th_line_style style = th_line_style_of(count);
        if (s->reference) style = (th_line_style){BLACK, 1.6, 1, 1};
        entries[count++] = (th_legend_entry){s->name, style, TH_LEGEND_LINE};
        bool density = strcmp(s->unit_x, "1/m2") == 0 || strcmp(s->unit_x, "1/m") == 0;
        snprintf(x_title, sizeof x_title, "%s [%s]",
                 density                           ? "density"
                 : strcmp(s->unit_x, "years") == 0 ? "age"
                                                   : "width",
                 s->unit_x);
        bool speed = strcmp(s->unit, "m/s") == 0, other = *y_title && !strstr(y_title, s->unit);
        size_t used = strlen(y_title);
        if (!*y_title || other)
            snprintf(y_title + used, sizeof y_title - used, "%s%s [%s]", used ? ", " : "",
                     speed ? "speed" : "flow", s->unit);
    }
    double y = th_legend(canvas, 0.8 * text, 1.2 * text, entries, count);
    th_chart chart =
        th_figure_chart(canvas, y + 0.4 * text, 240, th_axis_make(x_low, x_high, 9, x_title),
                        th_axis_make(0, 1.05 * y_high, 7, y_title));
    th_chart_frame(&chart);
    for (int i = 0, drawn = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (!s->unit_x || s->count == 0) continue;
        th_line_style style = entries[drawn++].style;
        th_chart_line(&chart, s->x, s->y, s->count, style);
        for (int k = 0; !s->reference && k < s->count; ++k)
            th_chart_dot(&chart, s->x[k], s->y[k], style.colour);
    }
    return th_chart_bottom(&chart);
}

// ---- into the page

static cairo_status_t append_svg(void *context, const unsigned char *bytes, unsigned length) {
    th_text *text = context;
    th_text_append(text, (const char *)bytes, length);
    return text->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

bool th_validation_add_figure(th_text *page, th_validation_draw *draw, const th_outcome *outcome,
                              const char *prefix, const char *label) {
    // Drawn once off screen to measure its height.
    th_canvas unseen = th_canvas_create_zoomed(TH_FIGURE_WIDTH, 1, TH_FIGURE_TEXT, 1);
    if (!unseen.surface) return false;
    double height = ceil(draw(&unseen, outcome));
    th_canvas_destroy(&unseen);
    th_text svg = {0};
    th_canvas canvas =
        th_canvas_create_svg(TH_FIGURE_WIDTH, height, TH_FIGURE_TEXT, append_svg, &svg);
    if (!canvas.surface) return false;
    draw(&canvas, outcome);
    cairo_surface_finish(canvas.surface);
    bool good = cairo_surface_status(canvas.surface) == CAIRO_STATUS_SUCCESS &&
                cairo_status(canvas.cairo) == CAIRO_STATUS_SUCCESS;
    th_canvas_destroy(&canvas);
    good = good && !svg.failed && th_svg_inline(page, svg.bytes, prefix, label);
    th_text_release(&svg);
    return good;
}
