// The report of a sweep: table, figures and page. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "report/figures.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- figures

// Figures of a sweep: mean and interval against the first varied value, and the distribution of every
// combination.

enum { SERIES_MAX = 4, ROWS_MAX = 60 }; // as many as can be told apart, as fit on a page
static const th_colour GREY = {0.45, 0.45, 0.45};

static const th_sweep_report *report_of(const th_figure_data *data) {
    return ((const th_sweep_figure_data *)data)->report;
}

double th_sweep_head(const th_canvas *canvas, const th_sweep_report *report, const char *title) {
    double text = canvas->text, left = 0.8 * text;
    char line[300], clean[300], fitted[300];
    int runs = 0;
    for (int k = 0; k < report->point_count; ++k) runs += report->points[k].runs;
    snprintf(line, sizeof line, "%.120s, %d %s, %d runs", report->scene_name, report->point_count,
             report->sample ? "points" : "combinations", runs);
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
    if (report->path_count == 0 || report->point_count < 2 || report->sample) return false;
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

// The ranges of the two axes.
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
    double y = th_sweep_head(canvas, report, flow ? "Flow over all exits" : "Egress time");
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
    return any && report->point_count <= ROWS_MAX && !report->sample;
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
    double y = th_sweep_head(canvas, report, "Egress times of single runs");
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
    {"sweep_sensitivity", "What the figures depend on", th_figure_sensitivity_applies, NULL,
     th_figure_sensitivity_draw, th_figure_sensitivity_caption},
    {"sweep_scatter", "Every point of the sample", th_figure_scatter_applies, NULL,
     th_figure_scatter_draw, th_figure_scatter_caption},
};
const int th_sweep_figure_count = sizeof th_sweep_figures / sizeof th_sweep_figures[0];

// ---- sweep.csv and report.html of a sweep

// ---- sweep.csv

static const char *const columns[] = {
    "runs",
    "finished",
    "egress_time_mean_s",
    "egress_time_sd_s",
    "egress_time_median_s",
    "egress_time_p95_s",
    "egress_time_min_s",
    "egress_time_max_s",
    "egress_time_ci_low_s",
    "egress_time_ci_high_s",
    "flow_mean_per_s",
    "mean_jam_time_s",
    "max_density_per_m2",
};

static void put_row(th_table_file *table, const th_sweep_report *report,
                    const th_sweep_point *point) {
    const th_sample_summary *egress = &point->egress;
    const double numbers[] = {egress->mean,      egress->standard_deviation,
                              egress->median,    egress->p95,
                              egress->min,       egress->max,
                              egress->ci_low,    egress->ci_high,
                              point->flow.mean,  point->mean_jam_time,
                              point->max_density};
    for (int i = 0; i < report->path_count; ++i) th_table_text(table, point->values[i]);
    th_table_count(table, (uint64_t)point->runs);
    th_table_count(table, (uint64_t)egress->count);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        th_table_number(table, numbers[i]);
    th_table_end_row(table);
}

th_result th_report_sweep_table(const th_sweep_report *report, th_error *error) {
    th_table_file table;
    th_table_open(&table, report->folder, "sweep.csv");
    for (int i = 0; i < report->path_count; ++i) th_table_text(&table, report->paths[i]);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        th_table_text(&table, columns[i]);
    th_table_end_row(&table);
    for (int k = 0; k < report->point_count; ++k) put_row(&table, report, &report->points[k]);
    return th_table_close(&table, error);
}

// ---- report.html

static void add_values(th_text *page, const th_sweep_report *report, const th_sweep_point *point) {
    for (int i = 0; i < report->path_count; ++i) {
        th_text_put(page, i > 0 ? ", <code>" : "<code>");
        th_text_escaped(page, report->paths[i]);
        th_text_put(page, " = ");
        th_text_escaped(page, point->values[i]);
        th_text_put(page, "</code>");
    }
}

static void add_mean(th_text *page, const th_sweep_report *report, const char *word, int k) {
    const th_sample_summary *egress = &report->points[k].egress;
    th_text_add(page, "<p class=\"headline\">%s: ", word);
    th_text_seconds(page, egress->mean);
    if (egress->count > 1) {
        th_text_put(page, " (95 % interval of the mean ");
        th_text_seconds(page, egress->ci_low);
        th_text_put(page, " to ");
        th_text_seconds(page, egress->ci_high);
        th_text_put(page, ")");
    }
    th_text_put(page, " with ");
    add_values(page, report, &report->points[k]);
    th_text_put(page, ".</p>\n");
}

static int stuck_runs(const th_sweep_point *point) { return point->runs - point->egress.count; }

// Combinations with runs that never emptied: they have no longest time, so they come before it.
static void add_stuck(th_text *page, const th_sweep_report *report) {
    enum { NAMED = 6 };
    int points = 0, runs = 0, all = 0;
    for (int k = 0; k < report->point_count; ++k) {
        points += stuck_runs(&report->points[k]) > 0;
        runs += stuck_runs(&report->points[k]);
        all += report->points[k].runs;
    }
    if (points == 0) return;
    th_text_add(page,
                "<p class=\"headline\">%d of %d runs never emptied the scene, in %d of %d "
                "combinations: ",
                runs, all, points, report->point_count);
    for (int k = 0, named = 0; k < report->point_count; ++k) {
        const th_sweep_point *point = &report->points[k];
        if (stuck_runs(point) == 0) continue;
        if (named++ == NAMED) {
            th_text_put(page, "; more are in the table");
            break;
        }
        if (named > 1) th_text_put(page, "; ");
        add_values(page, report, point);
        th_text_add(page, " (%d of %d)", stuck_runs(point), point->runs);
    }
    th_text_put(page, ".</p>\n");
}

// The answer: which combination empties fastest and which slowest, of those that always empty.
static void add_answer(th_text *page, const th_sweep_report *report) {
    int best = -1, worst = -1, runs = 0, stuck = 0;
    for (int k = 0; k < report->point_count; ++k) {
        double mean = report->points[k].egress.mean;
        runs += report->points[k].runs;
        stuck += stuck_runs(&report->points[k]);
        if (!isfinite(mean) || stuck_runs(&report->points[k]) > 0) continue;
        if (best < 0 || mean < report->points[best].egress.mean) best = k;
        if (worst < 0 || mean > report->points[worst].egress.mean) worst = k;
    }
    const char *always = stuck > 0 ? " of those that always empty" : "";
    char shortest[80], longest[80];
    snprintf(shortest, sizeof shortest, "Shortest mean egress time%s", always);
    snprintf(longest, sizeof longest, "Longest%s", always);
    th_text_put(page, "<section class=\"answer\">\n");
    add_stuck(page, report);
    if (best >= 0 && best != worst) {
        add_mean(page, report, shortest, best);
        add_mean(page, report, longest, worst);
    } else if (best >= 0) {
        add_mean(page, report, stuck > 0 ? shortest : "Mean egress time", best);
    } else {
        th_text_put(page, "<p class=\"headline\">No combination emptied in all its runs.</p>\n");
    }
    th_text_add(page, "<p>%d %s, %d runs in all.%s</p></section>\n", report->point_count,
                report->sample ? "points of a sample" : "combinations", runs,
                stuck > 0 ? " Runs that did not empty have no egress time: the means of their "
                            "combinations are of the others and too low."
                          : "");
}

static void add_cell(th_text *page, double value) {
    th_text_put(page, "<td class=\"n\">");
    th_text_measured(page, value);
    th_text_put(page, "</td>");
}

static void add_table(th_text *page, const th_sweep_report *report) {
    th_text_add(page, "<h3>All %s</h3><div class=\"wide\"><table><thead><tr>",
                report->sample ? "points" : "combinations");
    for (int i = 0; i < report->path_count; ++i) {
        th_text_put(page, "<th>");
        th_text_escaped(page, report->paths[i]);
        th_text_put(page, "</th>");
    }
    th_text_put(page,
                "<th class=\"n\">runs</th><th class=\"n\">emptied</th>"
                "<th class=\"n\">mean egress time [s]</th><th class=\"n\">95 % interval [s]</th>"
                "<th class=\"n\">median [s]</th><th class=\"n\">95th percentile [s]</th>"
                "<th class=\"n\">flow [1/s]</th></tr></thead><tbody>\n");
    for (int k = 0; k < report->point_count; ++k) {
        const th_sweep_point *point = &report->points[k];
        th_text_put(page, "<tr>");
        for (int i = 0; i < report->path_count; ++i) {
            th_text_put(page, "<th>");
            th_text_escaped(page, point->values[i]);
            th_text_put(page, "</th>");
        }
        th_text_add(page, "<td class=\"n\">%d</td><td class=\"n\">%d</td>", point->runs,
                    point->egress.count);
        add_cell(page, point->egress.mean);
        th_text_put(page, "<td class=\"n\">");
        th_text_measured(page, point->egress.ci_low);
        th_text_put(page, " \xe2\x80\x93 ");
        th_text_measured(page, point->egress.ci_high);
        th_text_put(page, "</td>");
        add_cell(page, point->egress.median);
        add_cell(page, point->egress.p95);
        add_cell(page, point->flow.mean);
        th_text_put(page, "</tr>\n");
    }
    th_text_put(page, "</tbody></table></div>\n");
}

static void add_end(th_text *page, const th_sweep_report *report) {
    th_text_put(page, "<section><h2>How to get the same numbers</h2><p><code>");
    th_text_escaped(page, report->command_line);
    th_text_put(page, "</code></p><p>Scene: <code>");
    th_text_escaped(page, report->scene_file);
    th_text_put(
        page, "</code>; <code>scene.json</code> beside this page is the scene all combinations "
              "start from. <code>runs.csv</code> has a row per run with its seed and the hash of "
              "its final state, <code>run_quantities.csv</code> all quantities of each run (exits, "
              "doors, lines, areas, groups), <code>sweep.csv</code> the table above. Egress time: "
              "when the last "
              "person left. Flow: people per second over all exits, from the first who left to the "
              "last. Percentiles by linear interpolation between order statistics, intervals by "
              "Student's t.</p></section>\n</body></html>\n");
}

static th_result add_figures(th_text *page, const th_sweep_report *report, th_error *error) {
    th_result result = TH_OK;
    int number = 0;
    const th_sweep_figure_data data = {.report = report};
    for (int i = 0; i < th_sweep_figure_count && result == TH_OK; ++i) {
        const th_figure *figure = &th_sweep_figures[i];
        char path[4096];
        if (!figure->applies(&data.base)) continue;
        int length = snprintf(path, sizeof path, "%s/figures/%s.png", report->folder, figure->name);
        if (length >= (int)sizeof path)
            return th_fail(error, TH_NO_FILE, "", "the path is too long");
        th_text_add(page, "<figure id=\"figure-%s\">", figure->name);
        result = th_figure_write(figure, &data.base, path, page, error);
        th_text_add(page, "<figcaption><strong>Figure %d. %s.</strong> ", ++number, figure->title);
        figure->caption(page, &data.base);
        th_text_put(page, "</figcaption></figure>\n");
    }
    return result;
}

th_result th_report_sweep_page(const th_sweep_report *report, th_error *error) {
    char figures[4096];
    th_text page = {0};
    snprintf(figures, sizeof figures, "%s/figures", report->folder);
    mkdir(figures, 0777); // a failure here repeats when the first figure is written
    th_page_head(&page, report->scene_name, "sweep");
    add_answer(&page, report);
    th_text_put(&page, "<section><h2>Results</h2>\n");
    th_result result = add_figures(&page, report, error);
    if (result != TH_OK) {
        th_text_release(&page);
        return result;
    }
    if (report->sample) th_page_sensitivity(&page, report);
    add_table(&page, report);
    th_text_put(&page, "</section>\n");
    add_end(&page, report);
    return th_text_write(&page, report->folder, "report.html", TH_SYNCED, error);
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *th_report_sweep_json(const th_sweep_report *report) {
    json_t *list = json_array();
    for (int k = 0; k < report->point_count; ++k) {
        const th_sweep_point *point = &report->points[k];
        const th_sample_summary *egress = &point->egress;
        json_t *values = json_object();
        for (int i = 0; i < report->path_count; ++i)
            json_object_set_new(values, report->paths[i], json_string(point->values[i]));
        json_array_append_new(list,
                              json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "values", values,
                                        "runs", point->runs, "finished", egress->count,
                                        "egress_time_mean", number_or_null(egress->mean),
                                        "egress_time_median", number_or_null(egress->median),
                                        "egress_time_p95", number_or_null(egress->p95),
                                        "egress_time_ci_low", number_or_null(egress->ci_low),
                                        "egress_time_ci_high", number_or_null(egress->ci_high),
                                        "flow_mean", number_or_null(point->flow.mean)));
    }
    return list;
}
