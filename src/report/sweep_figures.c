// Figures of a sweep: mean and interval against the first varied value, and the distribution of every
// combination. SPDX-License-Identifier: Apache-2.0
#include "report/sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_MAX = 4, ROWS_MAX = 60 }; // as many as can be told apart, as fit on a page
static const th_colour GREY = {0.45, 0.45, 0.45};

static const th_sweep_report *report_of(const th_figure_data *data) {
    return ((const th_sweep_figure_data *)data)->report;
}

static double head(const th_canvas *canvas, const th_sweep_report *report, const char *title) {
    double text = canvas->text, left = 0.8 * text;
    char line[300], clean[300], fitted[300];
    int runs = 0;
    for (int k = 0; k < report->point_count; ++k) runs += report->points[k].runs;
    snprintf(line, sizeof line, "%.120s, %d combinations, %d runs", report->scene_name,
             report->point_count, runs);
    th_clean_text(line, clean, sizeof clean);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_text(canvas, left, 1.5 * text, 0, 1.2 * text, true, title);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_fit(canvas, text, canvas->width - 2 * left, clean, fitted, sizeof fitted);
    th_canvas_text(canvas, left, 3.1 * text, 0, text, false, fitted);
    return 4.8 * text;
}

static bool number_of(const char *text, double *value) {
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

// The values of all paths, or of all but the first, in one line.
static void label_of(const th_sweep_report *report, int point, int from, bool named, char *label,
                     size_t size) {
    char line[256] = "";
    for (int i = from; i < report->path_count; ++i) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s%s%s", i > from ? ", " : "",
                 named ? report->paths[i] : "", named ? " " : "", report->points[point].values[i]);
    }
    th_clean_text(line, label, size);
}

// The last path changes fastest: points of one value of the first path lie together, `stride` of them.
static int series_count(const th_sweep_report *report) {
    int stride = 1;
    while (stride < report->point_count &&
           strcmp(report->points[stride].values[0], report->points[0].values[0]) == 0)
        ++stride;
    return stride;
}

static bool against_applies(const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    double unused = 0;
    if (report->path_count == 0 || report->point_count < 2) return false;
    int series = series_count(report);
    if (series > SERIES_MAX || report->point_count <= series) return false;
    for (int k = 0; k < report->point_count; ++k)
        if (!number_of(report->points[k].values[0], &unused)) return false;
    return true;
}

static const th_sample_summary *sample_of(const th_sweep_point *point, bool flow) {
    return flow ? &point->flow : &point->egress;
}

static bool flow_applies(const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    for (int k = 0; k < report->point_count; ++k)
        if (isfinite(report->points[k].flow.mean)) return against_applies(data);
    return false;
}

static bool egress_applies(const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    for (int k = 0; k < report->point_count; ++k)
        if (isfinite(report->points[k].egress.mean)) return against_applies(data);
    return false;
}

// What the two axes have to hold.
static void ranges(const th_sweep_report *report, bool flow, double *low_x, double *high_x,
                   double *high_y) {
    *low_x = (double)INFINITY;
    *high_x = -(double)INFINITY;
    *high_y = 0;
    for (int k = 0; k < report->point_count; ++k) {
        const th_sample_summary *sample = sample_of(&report->points[k], flow);
        double x = 0;
        number_of(report->points[k].values[0], &x);
        *low_x = fmin(*low_x, x);
        *high_x = fmax(*high_x, x);
        *high_y = fmax(*high_y, fmax(isfinite(sample->max) ? sample->max : 0,
                                     isfinite(sample->ci_high) ? sample->ci_high : 0));
    }
    *high_y *= 1.03; // dots at the end stay whole
}

// The 95 % interval of the mean: a bar with two ends.
static void draw_interval(const th_chart *chart, double x, const th_sample_summary *sample,
                          th_colour colour) {
    if (sample->count < 2) return;
    cairo_t *cairo = chart->canvas->cairo;
    double at = th_chart_x(chart, x), half = 0.35 * chart->canvas->text;
    double ends[2] = {fmax(sample->ci_low, chart->y.low), fmin(sample->ci_high, chart->y.high)};
    th_canvas_colour(chart->canvas, colour, 1);
    cairo_set_line_width(cairo, 1.4);
    cairo_move_to(cairo, at, th_chart_y(chart, ends[0]));
    cairo_line_to(cairo, at, th_chart_y(chart, ends[1]));
    for (int i = 0; i < 2; ++i) {
        cairo_move_to(cairo, at - half, th_chart_y(chart, ends[i]));
        cairo_line_to(cairo, at + half, th_chart_y(chart, ends[i]));
    }
    cairo_stroke(cairo);
}

static void draw_series(const th_chart *chart, const th_sweep_report *report, int series,
                        int stride, bool flow) {
    th_line_style style = th_line_style_of(series);
    int count = report->point_count / stride;
    double *x = calloc(2 * (size_t)count, sizeof *x);
    if (!x) return;
    for (int i = 0; i < count; ++i) {
        const th_sweep_point *point = &report->points[series + i * stride];
        number_of(point->values[0], &x[i]);
        x[count + i] = sample_of(point, flow)->mean;
        for (int run = 0; run < point->runs && !flow; ++run) {
            if (!isfinite(point->egress_times[run])) continue;
            th_canvas_colour(chart->canvas, style.colour, 0.35);
            cairo_arc(chart->canvas->cairo, th_chart_x(chart, x[i]),
                      th_chart_y(chart, point->egress_times[run]), 1.6, 0, 6.2832);
            cairo_fill(chart->canvas->cairo);
        }
    }
    th_chart_line(chart, x, x + count, count, style);
    for (int i = 0; i < count; ++i) {
        const th_sweep_point *point = &report->points[series + i * stride];
        if (!isfinite(x[count + i])) continue;
        draw_interval(chart, x[i], sample_of(point, flow), style.colour);
        th_chart_dot(chart, x[i], x[count + i], style.colour);
    }
    free(x);
}

static double draw_legend(const th_canvas *canvas, const th_sweep_report *report, double y,
                          int stride, bool flow) {
    th_legend_entry entries[SERIES_MAX + 1];
    char names[SERIES_MAX][200];
    int count = 0;
    for (int i = 0; i < stride; ++i) {
        if (stride == 1)
            snprintf(names[i], sizeof names[i], "mean and its 95 %% interval");
        else
            label_of(report, i, 1, true, names[i], sizeof names[i]);
        entries[count++] = (th_legend_entry){names[i], th_line_style_of(i), TH_LEGEND_LINE};
    }
    if (!flow)
        entries[count++] =
            (th_legend_entry){"faint: single runs", {GREY, 1, 0, 0.5}, TH_LEGEND_DOT};
    return th_legend(canvas, 0.8 * canvas->text, y, entries, count);
}

static double draw_against(const th_canvas *canvas, const th_figure_data *data, bool flow) {
    const th_sweep_report *report = report_of(data);
    double low_x, high_x, high_y, text = canvas->text;
    char title[200];
    int stride = series_count(report);
    double y = head(canvas, report, flow ? "Flow over all exits" : "Egress time");
    y = draw_legend(canvas, report, y, stride, flow);
    ranges(report, flow, &low_x, &high_x, &high_y);
    double margin = 0.04 * (high_x - low_x);
    char named[200];
    const char *path = report->paths[0];
    size_t length = strlen(path);
    bool width =
        length > 6 && strcmp(path + length - 6, ".width") == 0; // others know their own unit
    snprintf(named, sizeof named, "%.150s%s", path, width ? " [m]" : "");
    th_clean_text(named, title, sizeof title);
    th_chart chart = {.canvas = canvas, .top = y + text, .height = 0.42 * canvas->width};
    chart.x = th_axis_make(low_x - margin, high_x + margin, 8, title);
    chart.y = flow ? th_axis_make(0, high_y, 8, "people per second [1/s]")
                   : th_axis_time(0, high_y, 8, "egress time");
    chart.left = 0.8 * text + th_chart_margin(canvas, &chart.y);
    chart.width = canvas->width - chart.left - 2 * text;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    for (int i = 0; i < stride; ++i) draw_series(&chart, report, i, stride, flow);
    return chart.top + chart.height + 3.6 * text;
}

static double draw_egress(const th_canvas *canvas, const th_figure_data *data) {
    return draw_against(canvas, data, false);
}

static double draw_flow(const th_canvas *canvas, const th_figure_data *data) {
    return draw_against(canvas, data, true);
}

static void caption_egress(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "Mean over the runs of each combination; the bars are the 95 % confidence "
                      "interval of the mean, the faint dots single runs.");
}

static void caption_flow(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text,
                "People per second from the first who left to the last, mean over the runs; the "
                "bars are the 95 % confidence interval of the mean.");
}

// ---- distributions

static bool distribution_applies(const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    bool any = false;
    for (int k = 0; k < report->point_count; ++k) any = any || report->points[k].egress.count > 1;
    return any && report->point_count <= ROWS_MAX;
}

// One row: a box from the 5th to the 95th percentile, the median in it, the runs as dots over it.
static void draw_row(const th_chart *chart, const th_sweep_point *point, double y, double half) {
    cairo_t *cairo = chart->canvas->cairo;
    const th_sample_summary *egress = &point->egress;
    if (egress->count > 1) {
        double from = th_chart_x(chart, egress->p05), to = th_chart_x(chart, egress->p95);
        double median = th_chart_x(chart, egress->median);
        th_canvas_colour(chart->canvas, th_colour_group(0), 0.25);
        cairo_rectangle(cairo, from, y - half, fmax(to - from, 1), 2 * half);
        cairo_fill(cairo);
        th_canvas_colour(chart->canvas, th_colour_group(0), 1);
        cairo_set_line_width(cairo, 2);
        cairo_move_to(cairo, median, y - half);
        cairo_line_to(cairo, median, y + half);
        cairo_stroke(cairo);
    }
    th_canvas_colour(chart->canvas, GREY, 0.8);
    for (int run = 0; run < point->runs; ++run) {
        if (!isfinite(point->egress_times[run])) continue;
        cairo_arc(cairo, th_chart_x(chart, point->egress_times[run]), y, 1.8, 0, 6.2832);
        cairo_fill(cairo);
    }
}

static double label_width(const th_canvas *canvas, const th_sweep_report *report) {
    double widest = 0;
    char label[200];
    for (int k = 0; k < report->point_count; ++k) {
        label_of(report, k, 0, false, label, sizeof label);
        widest = fmax(widest, th_canvas_text_width(canvas, canvas->text, label));
    }
    return fmin(widest, 0.4 * canvas->width);
}

static double draw_distribution(const th_canvas *canvas, const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    double text = canvas->text, highest = 0, row = 1.9 * text;
    double y = head(canvas, report, "Egress times of single runs");
    const th_legend_entry entries[] = {
        {"median", {th_colour_group(0), 2, 0, 1}, TH_LEGEND_LINE},
        {"5 to 95 % of the runs", {th_colour_group(0), 1, 0, 0.25}, TH_LEGEND_BAND},
        {"single runs", {GREY, 1, 0, 0.8}, TH_LEGEND_DOT}};
    y = th_legend(canvas, 0.8 * text, y, entries, 3);
    char names[300] = "";
    for (int i = 0; i < report->path_count; ++i) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", report->paths[i]);
    }
    char clean[300], label[200], fitted[200];
    th_clean_text(names, clean, sizeof clean);
    th_canvas_text(canvas, 0.8 * text, y + text, 0, text, true, clean);
    for (int k = 0; k < report->point_count; ++k)
        if (report->points[k].egress.count > 0)
            highest = fmax(highest, report->points[k].egress.max);
    th_chart chart = {.canvas = canvas, .top = y + 1.8 * text, .height = row * report->point_count};
    chart.x = th_axis_time(0, 1.03 * highest, 8, "egress time");
    chart.y = (th_axis){.low = 0, .high = 1, .unit = 1};
    chart.left = 1.8 * text + label_width(canvas, report);
    chart.width = canvas->width - chart.left - 2 * text;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    for (int k = 0; k < report->point_count; ++k) {
        double middle = chart.top + (k + 0.5) * row;
        label_of(report, k, 0, false, label, sizeof label);
        th_canvas_fit(canvas, text, 0.4 * canvas->width, label, fitted, sizeof fitted);
        cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
        th_canvas_text(canvas, chart.left - 0.6 * text, middle + 0.35 * text, 1, text, false,
                       fitted);
        draw_row(&chart, &report->points[k], middle, 0.32 * row);
    }
    return chart.top + chart.height + 3.6 * text;
}

static void caption_distribution(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text,
                "One row per combination, one dot per run that emptied the scene. The box holds "
                "90 % of the runs; where it is wide, one run says little.");
}

const th_figure th_sweep_figures[] = {
    {"sweep_egress", "Egress time against the varied value", egress_applies, NULL, draw_egress,
     caption_egress},
    {"sweep_flow", "Flow against the varied value", flow_applies, NULL, draw_flow, caption_flow},
    {"sweep_distribution", "Distribution of the egress times", distribution_applies, NULL,
     draw_distribution, caption_distribution},
};
const int th_sweep_figure_count = sizeof th_sweep_figures / sizeof th_sweep_figures[0];
