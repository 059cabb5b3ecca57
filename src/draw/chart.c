// Axes and charts. SPDX-License-Identifier: Apache-2.0
#include "draw/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- ticks and numbers of axes

// The next larger of 1, 2, 5 times a power of ten.
static double next_step(double step) {
    double power = pow(10, floor(log10(step) + 1e-9));
    double digit = round(step / power);
    return digit < 2 ? 2 * power : digit < 5 ? 5 * power : 10 * power;
}

// Whole multiples of step in low .. high; with a small tolerance, as 3 * 0.1 > 0.3.
static double first_multiple(double low, double step) { return ceil(low / step - 1e-6); }
static double last_multiple(double high, double step) { return floor(high / step + 1e-6); }

int th_ticks(double low, double high, int most, double *tick, double *step) {
    if (most > TH_TICKS_MAX) most = TH_TICKS_MAX;
    if (most < 2) most = 2;
    *step = pow(10, floor(log10((high - low) / most)) - 1);
    while (last_multiple(high, *step) - first_multiple(low, *step) + 1 > most)
        *step = next_step(*step);
    int count = 0;
    double first = first_multiple(low, *step), last = last_multiple(high, *step);
    for (double k = first; k <= last && count < most; k += 1)
        tick[count++] = k == 0 ? 0 : fmin(fmax(k * *step, low), high);
    return count;
}

static void order_bounds(double *low, double *high) {
    if (!isfinite(*low) && !isfinite(*high)) *low = 0, *high = 1;
    if (!isfinite(*low)) *low = *high;
    if (!isfinite(*high)) *high = *low;
    if (*low > *high) {
        double swap = *low;
        *low = *high;
        *high = swap;
    }
    // Nearer than this the numbers at the ticks would all read the same.
    double middle = (*low + *high) / 2, least = 1e-6 * fmax(fabs(*low), fabs(*high));
    if (*high - *low > least && *high - *low > 1e-9) return;
    double half = fabs(middle) < 1e-9 ? 0.5 : 0.05 * fabs(middle);
    *low = middle - half;
    *high = middle + half;
}

// The same axis with at most `most` ticks.
static void thin_axis(th_axis *axis, int most) {
    double low = axis->low / axis->unit, high = axis->high / axis->unit, step = 1;
    axis->tick_count = th_ticks(low, high, most, axis->tick, &step);
    if (axis->whole && step < 1) {
        step = 1;
        axis->tick_count = 0;
        for (double k = ceil(low - 1e-9); k <= high + 1e-9 && axis->tick_count < TH_TICKS_MAX; ++k)
            axis->tick[axis->tick_count++] = k;
    }
    int decimals = (int)ceil(-log10(step) - 1e-9);
    axis->decimals = decimals > 0 ? (decimals < 12 ? decimals : 12) : 0;
    for (int i = 0; i < axis->tick_count; ++i) axis->tick[i] *= axis->unit;
}

th_axis th_axis_make(double low, double high, int most, const char *title) {
    th_axis axis = {.unit = 1};
    order_bounds(&low, &high);
    axis.low = low;
    axis.high = high;
    snprintf(axis.title, sizeof axis.title, "%s", title);
    thin_axis(&axis, most);
    return axis;
}

th_axis th_axis_count(double highest, int most, const char *title) {
    th_axis axis = th_axis_make(0, highest >= 1 && isfinite(highest) ? highest : 1, most, title);
    axis.whole = true;
    thin_axis(&axis, most);
    return axis;
}

th_axis th_axis_time(double low, double high, int most, const char *what) {
    th_axis axis = th_axis_make(low, high, most, "");
    const char *unit = "s";
    if (axis.high > TH_AXIS_HOURS) axis.unit = 3600, unit = "h";
    snprintf(axis.title, sizeof axis.title, "%s [%s]", what, unit);
    thin_axis(&axis, most);
    return axis;
}

void th_axis_label(const th_axis *axis, double value, char *label, size_t size) {
    double shown = value / axis->unit;
    if (fabs(shown) >= 1e9)
        snprintf(label, size, "%.3g", shown);
    else
        th_number_text(shown, axis->decimals, fabs(shown) >= 9999.5 ? " " : "", label, size);
}

void th_number_text(double value, int decimals, const char *separator, char *text, size_t size) {
    char plain[400];
    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    if (strspn(plain, "-0.") == strlen(plain) && plain[0] == '-')
        memmove(plain, plain + 1, strlen(plain)); // no minus before a zero
    size_t used = 0, gap = strlen(separator);
    const char *point = strchr(plain, '.');
    size_t digits = point ? (size_t)(point - plain) : strlen(plain);
    for (size_t i = 0; plain[i] && used + gap + 2 < size; ++i) {
        bool digit_before = i > 0 && plain[i - 1] >= '0' && plain[i - 1] <= '9';
        if (i < digits && digit_before && (digits - i) % 3 == 0) {
            memcpy(text + used, separator, gap);
            used += gap;
        }
        text[used++] = plain[i];
    }
    if (size > 0) text[used] = '\0';
}

// ---- charts

static const double PI = 3.14159265358979323846;
static const double INK = 0.15, GRID = 0.88, AXIS = 0.35; // grey levels

double th_chart_x(const th_chart *chart, double x) {
    return chart->left + (x - chart->x.low) / (chart->x.high - chart->x.low) * chart->width;
}

double th_chart_y(const th_chart *chart, double y) {
    double share = (y - chart->y.low) / (chart->y.high - chart->y.low);
    return chart->top + chart->height * (1 - share);
}

static void grey(const th_chart *chart, double level) {
    cairo_set_source_rgb(chart->canvas->cairo, level, level, level);
}

static double number_size(const th_canvas *canvas) { return 0.92 * canvas->text; }

static double widest_number(const th_canvas *canvas, const th_axis *axis) {
    double widest = 0;
    for (int i = 0; i < axis->tick_count; ++i) {
        char label[48];
        th_axis_label(axis, axis->tick[i], label, sizeof label);
        widest = fmax(widest, th_canvas_text_width(canvas, number_size(canvas), label));
    }
    return widest;
}

double th_chart_margin(const th_canvas *canvas, const th_axis *y) {
    double title = y->title[0] ? 1.9 * canvas->text : 0;
    return widest_number(canvas, y) + 0.8 * canvas->text + title;
}

void th_chart_thin_ticks(th_chart *chart) {
    for (int most = chart->x.tick_count; most > 2; --most) {
        double room = chart->width / (chart->x.high - chart->x.low);
        double gap = chart->x.tick_count > 1 ? (chart->x.tick[1] - chart->x.tick[0]) * room : 1e9;
        if (widest_number(chart->canvas, &chart->x) + chart->canvas->text <= gap) break;
        thin_axis(&chart->x, most - 1);
    }
    int fitting = (int)(chart->height / (1.8 * chart->canvas->text));
    if (chart->y.tick_count > fitting) thin_axis(&chart->y, fitting > 2 ? fitting : 2);
}

static void stroke_tick(const th_chart *chart, double x0, double y0, double x1, double y1) {
    cairo_move_to(chart->canvas->cairo, x0, y0);
    cairo_line_to(chart->canvas->cairo, x1, y1);
}

static void draw_titles(const th_chart *chart) {
    const th_canvas *canvas = chart->canvas;
    double text = canvas->text, bottom = chart->top + chart->height;
    grey(chart, INK);
    th_canvas_text(canvas, chart->left + chart->width / 2, bottom + 2.9 * text, 0.5, text, false,
                   chart->x.title);
    cairo_save(canvas->cairo);
    cairo_translate(canvas->cairo, chart->left - th_chart_margin(canvas, &chart->y) + 1.05 * text,
                    chart->top + chart->height / 2);
    cairo_rotate(canvas->cairo, -PI / 2);
    th_canvas_text(canvas, 0, 0, 0.5, text, false, chart->y.title);
    cairo_restore(canvas->cairo);
}

void th_chart_frame(const th_chart *chart) {
    const th_canvas *canvas = chart->canvas;
    cairo_t *cairo = canvas->cairo;
    double text = canvas->text, tick = 0.35 * text, bottom = chart->top + chart->height;
    double right = chart->left + chart->width;
    char label[48];
    cairo_set_line_width(cairo, 1);
    for (int i = 0; i < chart->x.tick_count; ++i)
        stroke_tick(chart, th_chart_x(chart, chart->x.tick[i]), chart->top,
                    th_chart_x(chart, chart->x.tick[i]), bottom);
    for (int i = 0; i < chart->y.tick_count; ++i)
        stroke_tick(chart, chart->left, th_chart_y(chart, chart->y.tick[i]), right,
                    th_chart_y(chart, chart->y.tick[i]));
    grey(chart, GRID);
    cairo_stroke(cairo);
    stroke_tick(chart, chart->left, bottom, right, bottom);
    stroke_tick(chart, chart->left, chart->top, chart->left, bottom);
    for (int i = 0; i < chart->x.tick_count; ++i) {
        double at = th_chart_x(chart, chart->x.tick[i]);
        stroke_tick(chart, at, bottom, at, bottom + tick);
    }
    grey(chart, AXIS);
    cairo_stroke(cairo);
    grey(chart, INK);
    for (int i = 0; i < chart->x.tick_count; ++i) {
        th_axis_label(&chart->x, chart->x.tick[i], label, sizeof label);
        th_canvas_text(canvas, th_chart_x(chart, chart->x.tick[i]), bottom + tick + 1.1 * text, 0.5,
                       number_size(canvas), false, label);
    }
    for (int i = 0; i < chart->y.tick_count; ++i) {
        th_axis_label(&chart->y, chart->y.tick[i], label, sizeof label);
        th_canvas_text(canvas, chart->left - 0.5 * text,
                       th_chart_y(chart, chart->y.tick[i]) + 0.33 * text, 1, number_size(canvas),
                       false, label);
    }
    draw_titles(chart);
}

double th_chart_bottom(const th_chart *chart) {
    return chart->top + chart->height + 3.6 * chart->canvas->text;
}

th_line_style th_line_style_of(int index) {
    static const double widths[4] = {1.8, 1.8, 2.2, 1.8};
    return (th_line_style){th_colour_group(index % 4), widths[index % 4], index % 4, 1};
}

static void set_style(const th_canvas *canvas, th_line_style style) {
    static const double dashes[4][4] = {
        {1, 0, 0, 0}, {7, 3.5, 0, 0}, {1.5, 2.5, 0, 0}, {8, 3, 2, 3}};
    static const int lengths[4] = {0, 2, 2, 4};
    int dash = style.dash & 3;
    cairo_set_dash(canvas->cairo, dashes[dash], lengths[dash], 0);
    cairo_set_line_width(canvas->cairo, style.width);
    th_canvas_colour(canvas, style.colour, style.alpha);
}

static void stroke_style(const th_canvas *canvas, th_line_style style) {
    set_style(canvas, style);
    cairo_stroke(canvas->cairo);
    cairo_set_dash(canvas->cairo, NULL, 0, 0);
}

static void begin_clip(const th_chart *chart) {
    cairo_save(chart->canvas->cairo);
    // A line along the edge keeps its whole width.
    cairo_rectangle(chart->canvas->cairo, chart->left - 2, chart->top - 2, chart->width + 4,
                    chart->height + 4);
    cairo_clip(chart->canvas->cairo);
}

// A path with as few points as keep it within TOLERANCE of the data: from the last point drawn, all that
// lie in a cone of slopes are one straight line. A smooth curve of a thousand samples needs about fifty,
// and an SVG of a hundred curves stays small.
typedef struct lean_path {
    cairo_t *cairo;
    bool begun, pending;
    double x, y;           // last point drawn
    double next_x, next_y; // end of the straight line so far
    double low, high;      // slopes that reach all points since
} lean_path;
static const double TOLERANCE = 0.12; // [units] a quarter of a pixel at twofold zoom

static void end_line(lean_path *path) {
    if (path->pending) {
        cairo_line_to(path->cairo, path->next_x, path->next_y);
        path->x = path->next_x;
        path->y = path->next_y;
    }
    path->pending = false;
}

static void end_path(lean_path *path) {
    end_line(path);
    path->begun = false;
}

static void add_point(lean_path *path, double x, double y) {
    if (!path->begun) {
        cairo_move_to(path->cairo, x, y);
        // A single datum between gaps shows as a dash as wide as a pixel.
        cairo_line_to(path->cairo, x + 0.5, y);
        cairo_move_to(path->cairo, x, y);
        *path = (lean_path){.cairo = path->cairo, .begun = true, .x = x, .y = y};
        return;
    }
    double slope = (y - path->y) / (x - path->x); // not finite on a vertical stretch
    bool straight = path->pending && slope >= path->low && slope <= path->high;
    if (!straight) {
        end_line(path);
        path->low = -(double)INFINITY;
        path->high = (double)INFINITY;
    }
    double run = x - path->x;
    if (run > 0) {
        path->low = fmax(path->low, (y - TOLERANCE - path->y) / run);
        path->high = fmin(path->high, (y + TOLERANCE - path->y) / run);
    } else {
        path->low = (double)INFINITY; // nothing continues a vertical line
    }
    path->next_x = x;
    path->next_y = y;
    path->pending = true;
}

// First, lowest, highest and last of the data that share a column of half a unit.
typedef struct column_range {
    int column, count;
    double x, last_x, first, lowest, highest, last;
} column_range;

static void emit_column(lean_path *path, const th_chart *chart, const column_range *range) {
    double x = th_chart_x(chart, range->x);
    add_point(path, x, th_chart_y(chart, range->first));
    if (range->count == 1) return;
    bool rising = range->last >= range->first;
    double turns[2] = {rising ? range->lowest : range->highest,
                       rising ? range->highest : range->lowest};
    double between_low = fmin(range->first, range->last);
    double between_high = fmax(range->first, range->last);
    for (int i = 0; i < 2; ++i)
        if (turns[i] < between_low || turns[i] > between_high)
            add_point(path, x, th_chart_y(chart, turns[i]));
    add_point(path, th_chart_x(chart, range->last_x), th_chart_y(chart, range->last));
}

static void trace_line(const th_chart *chart, const double *x, const double *y, int count) {
    lean_path path = {.cairo = chart->canvas->cairo};
    column_range range = {.count = 0};
    for (int i = 0; i < count; ++i) {
        bool gap = !isfinite(y[i]) || !isfinite(x[i]);
        int column = gap ? 0 : (int)floor(2 * th_chart_x(chart, x[i]));
        if (!gap && range.count > 0 && column == range.column) {
            range.lowest = fmin(range.lowest, y[i]);
            range.highest = fmax(range.highest, y[i]);
            range.last = y[i];
            range.last_x = x[i];
            ++range.count;
            continue;
        }
        if (range.count > 0) emit_column(&path, chart, &range);
        range.count = 0;
        if (gap)
            end_path(&path);
        else
            range = (column_range){column, 1, x[i], x[i], y[i], y[i], y[i], y[i]};
    }
    if (range.count > 0) emit_column(&path, chart, &range);
    end_path(&path);
}

void th_chart_line(const th_chart *chart, const double *x, const double *y, int count,
                   th_line_style style) {
    begin_clip(chart);
    cairo_new_path(chart->canvas->cairo);
    trace_line(chart, x, y, count);
    cairo_set_line_join(chart->canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    stroke_style(chart->canvas, style);
    cairo_restore(chart->canvas->cairo);
}

void th_chart_band(const th_chart *chart, const double *x, const double *low, const double *high,
                   int count, th_colour colour, double alpha) {
    cairo_t *cairo = chart->canvas->cairo;
    // One datum per half pixel is enough for the edge of an area.
    int stride = 1 + (int)(count / (2 * fmax(chart->width, 1)));
    begin_clip(chart);
    for (int i = 0; i < count; i += stride)
        cairo_line_to(cairo, th_chart_x(chart, x[i]), th_chart_y(chart, low[i]));
    for (int i = count - 1; i >= 0; i -= stride)
        cairo_line_to(cairo, th_chart_x(chart, x[i]), th_chart_y(chart, high[i]));
    cairo_close_path(cairo);
    th_canvas_colour(chart->canvas, colour, alpha);
    cairo_fill(cairo);
    cairo_restore(cairo);
}

void th_chart_bar(const th_chart *chart, double x0, double x1, double y, th_colour colour) {
    cairo_t *cairo = chart->canvas->cairo;
    double left = th_chart_x(chart, x0), right = th_chart_x(chart, x1);
    double top = th_chart_y(chart, y), base = th_chart_y(chart, fmax(0, chart->y.low));
    cairo_rectangle(cairo, left, top, right - left, base - top);
    th_canvas_colour(chart->canvas, colour, 1);
    cairo_fill_preserve(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, 0.8);
    cairo_stroke(cairo);
}

void th_chart_vertical(const th_chart *chart, double x, th_line_style style) {
    if (!(x >= chart->x.low && x <= chart->x.high)) return;
    stroke_tick(chart, th_chart_x(chart, x), chart->top, th_chart_x(chart, x),
                chart->top + chart->height);
    stroke_style(chart->canvas, style);
}

void th_chart_horizontal(const th_chart *chart, double y, th_line_style style) {
    if (!(y >= chart->y.low && y <= chart->y.high)) return;
    stroke_tick(chart, chart->left, th_chart_y(chart, y), chart->left + chart->width,
                th_chart_y(chart, y));
    stroke_style(chart->canvas, style);
}

void th_chart_dot(const th_chart *chart, double x, double y, th_colour colour) {
    cairo_t *cairo = chart->canvas->cairo;
    cairo_arc(cairo, th_chart_x(chart, x), th_chart_y(chart, y), 0.32 * chart->canvas->text, 0,
              2 * PI);
    th_canvas_colour(chart->canvas, colour, 1);
    cairo_fill_preserve(cairo);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_set_line_width(cairo, 1.2);
    cairo_stroke(cairo);
}

void th_chart_note(const th_chart *chart, double x, double y, double dx, double dy, double anchor,
                   const char *text) {
    const th_canvas *canvas = chart->canvas;
    double size = 0.95 * canvas->text, width = th_canvas_text_width(canvas, size, text);
    double left = th_chart_x(chart, x) + dx - anchor * width;
    left = fmax(chart->left + 4, fmin(left, chart->left + chart->width - width - 4));
    double base = th_chart_y(chart, y) + dy;
    base = fmax(chart->top + size, fmin(base, chart->top + chart->height - 4));
    cairo_set_source_rgba(canvas->cairo, 1, 1, 1, 0.85);
    cairo_rectangle(canvas->cairo, left - 2, base - 0.9 * size, width + 4, 1.2 * size);
    cairo_fill(canvas->cairo);
    grey(chart, INK);
    th_canvas_text(canvas, left, base, 0, size, false, text);
}

static void draw_sample(const th_canvas *canvas, double x, double y, const th_legend_entry *entry) {
    cairo_t *cairo = canvas->cairo;
    double middle = y - 0.35 * canvas->text, length = 2.4 * canvas->text;
    if (entry->kind == TH_LEGEND_BAND) {
        cairo_rectangle(cairo, x, middle - 0.45 * canvas->text, length, 0.9 * canvas->text);
        th_canvas_colour(canvas, entry->style.colour, entry->style.alpha);
        cairo_fill(cairo);
    } else if (entry->kind == TH_LEGEND_DOT) {
        cairo_arc(cairo, x + length / 2, middle, 0.32 * canvas->text, 0, 2 * PI);
        th_canvas_colour(canvas, entry->style.colour, entry->style.alpha);
        cairo_fill(cairo);
    } else {
        cairo_move_to(cairo, x, middle);
        cairo_line_to(cairo, x + length, middle);
        stroke_style(canvas, entry->style);
    }
}

double th_legend(const th_canvas *canvas, double left, double y, const th_legend_entry *entries,
                 int count) {
    double text = canvas->text, x = left;
    for (int i = 0; i < count; ++i) {
        char name[160];
        th_canvas_fit(canvas, text, canvas->width - left - 5 * text, entries[i].name, name,
                      sizeof name);
        double width = 3 * text + th_canvas_text_width(canvas, text, name);
        if (x > left && x + width > canvas->width - text) {
            x = left;
            y += 1.6 * text;
        }
        draw_sample(canvas, x, y, &entries[i]);
        cairo_set_source_rgb(canvas->cairo, INK, INK, INK);
        th_canvas_text(canvas, x + 3 * text, y, 0, text, false, name);
        x += width + 1.8 * text;
    }
    return y + 1.2 * text;
}
