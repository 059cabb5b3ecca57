// What the figures of a sampled sweep depend on: sensitivity.csv and .json, a table, bars, and a scatter of all points.
// SPDX-License-Identifier: Apache-2.0
#include "observe/sensitivity.h"
#include "core/error.h"
#include "core/statistics.h"
#include "report/figures.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- making

// Words are numbered in the order in which they come.
static double value_of(const th_sweep_report *report, int point, int path) {
    const char *value = report->points[point].values[path];
    if (!report->listed[path]) return strtod(value, NULL);
    for (int k = 0; k < point; ++k)
        if (strcmp(report->points[k].values[path], value) == 0) return k;
    return point;
}

static bool changes(const th_sweep_sensitivity *s, int title) {
    return s->found[title].deviation > 0.0;
}

// The egress time where it is known, or else the first quantity that changes.
static int main_title_of(const th_sweep_report *report, const th_sweep_sensitivity *made) {
    int main_title = -1;
    for (int t = report->title_count - 1; t >= 0; --t)
        if (changes(made, t)) main_title = t;
    for (int t = 0; t < report->title_count; ++t)
        if (strcmp(report->titles[t], "run: egress time [s]") == 0 && changes(made, t) &&
            2 * made->found[t].points >= report->point_count)
            main_title = t;
    return main_title;
}

static void mean_points(const th_sweep_report *report, const double *values, double *means) {
    for (int k = 0; k < report->point_count; ++k)
        means[k] = th_summarise(values + (size_t)k * (size_t)report->runs, report->runs).mean;
}

th_result th_sweep_sensitivity_make(const th_sweep_report *report, th_sweep_sensitivity *made,
                                    th_error *error) {
    size_t points = (size_t)report->point_count, paths = (size_t)report->path_count;
    *made = (th_sweep_sensitivity){.main_title = -1};
    if (!report->sample) return TH_OK;
    double *values = malloc((points * (size_t)report->runs + 1) * sizeof *values);
    made->x = malloc(points * paths * sizeof *made->x);
    made->found = calloc((size_t)report->title_count + 1, sizeof *made->found);
    made->main_means = malloc((points + 1) * sizeof *made->main_means);
    bool good = values && made->x && made->found && made->main_means;
    for (size_t k = 0; k < points * paths && good; ++k)
        made->x[k] = value_of(report, (int)(k / paths), (int)(k % paths));
    th_sensitivity_def def = {.points = report->point_count,
                              .inputs = report->path_count,
                              .runs = report->runs,
                              .x = made->x,
                              .category = report->listed,
                              .y = values};
    for (int t = 0; t < report->title_count && good; ++t) {
        report->fill(report->context, t, values);
        good = th_sensitivity_find(&def, &made->found[t]);
    }
    if (good) made->main_title = main_title_of(report, made);
    if (good && made->main_title >= 0) {
        report->fill(report->context, made->main_title, values);
        mean_points(report, values, made->main_means);
    }
    free(values);
    return good ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory for the sensitivity");
}

void th_sweep_sensitivity_release(th_sweep_sensitivity *made) {
    free(made->x);
    free(made->found);
    free(made->main_means);
    *made = (th_sweep_sensitivity){0};
}

// ---- files

// "exit main: mean wait [s]" as "exit", "main", "mean wait", "s".
typedef struct title_parts {
    char of[20], id[220], name[80], unit[20];
} title_parts;

static title_parts parts_of(const char *title) {
    title_parts p = {{0}, {0}, {0}, {0}};
    const char *colon = NULL, *bracket = strrchr(title, '[');
    for (const char *at = strstr(title, ": "); at; at = strstr(at + 1, ": ")) colon = at;
    if (!colon) return p;
    size_t of = strcspn(title, " :"), end = strlen(title);
    bool unit = bracket > colon && bracket[-1] == ' ' && title[end - 1] == ']';
    size_t id = (size_t)(colon - title) > of ? (size_t)(colon - title) - of - 1 : 0;
    size_t name = unit ? (size_t)(bracket - colon) - 3 : strlen(colon + 2);
    snprintf(p.of, sizeof p.of, "%.*s", (int)of, title);
    snprintf(p.id, sizeof p.id, "%.*s", (int)id, title + of + 1);
    snprintf(p.name, sizeof p.name, "%.*s", (int)name, colon + 2);
    if (unit)
        snprintf(p.unit, sizeof p.unit, "%.*s", (int)(title + end - bracket) - 2, bracket + 1);
    return p;
}

static const char CHANCE[] = "seed", OTHERS[] = "interactions and the rest";

static void put_share(th_table_file *table, const char *title, const char *what,
                      const th_share_found *share, const th_sensitivity *found) {
    title_parts p = parts_of(title);
    const char *const words[] = {p.of, p.id, p.name, p.unit, what};
    const double numbers[] = {share->share, share->low, share->high, found->mean, found->deviation};
    for (int i = 0; i < 5; ++i) th_table_text(table, words[i]);
    for (int i = 0; i < 5; ++i) th_table_number(table, numbers[i]);
    th_table_count(table, (uint64_t)found->points);
    th_table_count(table, (uint64_t)found->degree);
    th_table_end_row(table);
}

static th_result write_table(const th_sweep_report *report, th_error *error) {
    const th_sweep_sensitivity *s = report->sensitivity;
    th_table_file table;
    th_table_open(&table, report->folder, "sensitivity.csv");
    TH_TABLE_HEADER(&table, "of", "id", "quantity", "unit", "parameter", "share", "ci95_low",
                    "ci95_high", "mean", "standard_deviation", "points", "degree");
    for (int t = 0; t < report->title_count; ++t) {
        const th_sensitivity *found = &s->found[t];
        const th_share_found rest = {found->others, (double)NAN, (double)NAN};
        if (!changes(s, t)) continue;
        for (int i = 0; i < report->path_count; ++i)
            put_share(&table, report->titles[t], report->paths[i], &found->inputs[i], found);
        put_share(&table, report->titles[t], CHANCE, &found->chance, found);
        put_share(&table, report->titles[t], OTHERS, &rest, found);
    }
    return th_table_close(&table, error);
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *share_json(const char *what, const th_share_found *share) {
    return json_pack("{s:s,s:o,s:o,s:o}", "parameter", what, "share", number(share->share),
                     "ci95_low", number(share->low), "ci95_high", number(share->high));
}

static json_t *quantity_json(const th_sweep_report *report, int title) {
    const th_sensitivity *found = &report->sensitivity->found[title];
    title_parts p = parts_of(report->titles[title]);
    json_t *shares = json_array();
    for (int i = 0; i < report->path_count; ++i)
        json_array_append_new(shares, share_json(report->paths[i], &found->inputs[i]));
    json_array_append_new(shares, share_json(CHANCE, &found->chance));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:i,s:i,s:o,s:o}", "of", p.of, "id", p.id,
                     "quantity", p.name, "unit", p.unit, "mean", number(found->mean),
                     "standard_deviation", number(found->deviation), "points", found->points,
                     "degree", found->degree, "shares", shares, "others", number(found->others));
}

static th_result write_json(const th_sweep_report *report, th_error *error) {
    json_t *list = json_array(), *parameters = json_array();
    for (int i = 0; i < report->path_count; ++i)
        json_array_append_new(parameters, json_pack("{s:s,s:s}", "path", report->paths[i],
                                                    "distribution", report->distributions[i]));
    for (int t = 0; t < report->title_count; ++t)
        json_array_append_new(list, quantity_json(report, t));
    json_t *root =
        json_pack("{s:s,s:s,s:i,s:o,s:o}", "throng", th_version(), "sample", report->sample, "runs",
                  report->runs, "parameters", parameters, "quantities", list);
    if (!root) return th_fail(error, TH_NO_MEMORY, "", "no memory for sensitivity.json");
    th_table_file file;
    th_table_open(&file, report->folder, "sensitivity.json");
    th_table_json(&file, root);
    json_decref(root);
    return th_table_close(&file, error);
}

th_result th_report_sensitivity(const th_sweep_report *report, th_error *error) {
    th_result result = write_table(report, error);
    return result == TH_OK ? write_json(report, error) : result;
}

// ---- the page

static void add_share(th_text *page, const th_share_found *share) {
    if (!isfinite(share->share)) {
        th_text_put(page, "<td class=\"n\">\xe2\x80\x93</td>");
        return;
    }
    th_text_add(page, "<td class=\"n\">%.0f\xc2\xa0%% (%.0f\xe2\x80\x93%.0f)</td>",
                100.0 * share->share, 100.0 * share->low, 100.0 * share->high);
}

static void add_row(th_text *page, const th_sweep_report *report, int title) {
    const th_sensitivity *found = &report->sensitivity->found[title];
    th_text_put(page, "<tr><th>");
    th_text_escaped(page, report->titles[title]);
    th_text_put(page, "</th><td class=\"n\">");
    th_text_measured(page, found->mean);
    th_text_put(page, "</td><td class=\"n\">");
    th_text_measured(page, found->deviation);
    th_text_put(page, "</td>");
    for (int i = 0; i < report->path_count; ++i) add_share(page, &found->inputs[i]);
    add_share(page, &found->chance);
    if (isfinite(found->others))
        th_text_add(page, "<td class=\"n\">%.0f\xc2\xa0%%</td></tr>\n", 100.0 * found->others);
    else
        th_text_put(page, "<td class=\"n\">\xe2\x80\x93</td></tr>\n");
}

static void add_inputs(th_text *page, const th_sweep_report *report) {
    bool sobol = strncmp(report->sample, "sobol", 5) == 0;
    th_text_add(page, "<h3>What the figures depend on</h3><p>%d points, %s, of ",
                report->point_count, sobol ? "Sobol's sequence" : "a Latin hypercube");
    for (int i = 0; i < report->path_count; ++i) {
        th_text_put(page, i > 0 ? ", <code>" : "<code>");
        th_text_escaped(page, report->paths[i]);
        th_text_put(page, " = ");
        th_text_escaped(page, report->distributions[i]);
        th_text_put(page, "</code>");
    }
    th_text_put(page, ".</p>\n");
}

void th_page_sensitivity(th_text *page, const th_sweep_report *report) {
    add_inputs(page, report);
    th_text_put(page, "<div class=\"wide\"><table><thead><tr><th>figure</th><th class=\"n\">mean"
                      "</th><th class=\"n\">standard deviation</th>");
    for (int i = 0; i < report->path_count; ++i) {
        th_text_put(page, "<th class=\"n\">");
        th_text_escaped(page, report->paths[i]);
        th_text_put(page, "</th>");
    }
    th_text_put(page,
                "<th class=\"n\">seed</th><th class=\"n\">together</th></tr></thead><tbody>\n");
    for (int t = 0; t < report->title_count; ++t)
        if (changes(report->sensitivity, t)) add_row(page, report, t);
    th_text_put(page,
                "</tbody></table></div>\n<p class=\"note\">First-order indices: the share of the "
                "variance of single runs that a value explains by itself, with its 95\xc2\xa0% "
                "interval (jackknife). Seed: the share that differs between runs of a point, which "
                "needs more than one run of each. Together: what is left, interactions of the "
                "values and what no polynomial follows. A dash: too few points with a result. "
                "Figures that never changed are left out.</p>\n");
}

// ---- figures

static const th_sweep_report *report_of(const th_figure_data *data) {
    return ((const th_sweep_figure_data *)data)->report;
}

enum { BARS_MOST = 6 }; // quantities of the bars: those of the whole run

static int barred_titles(const th_sweep_report *report, int titles[BARS_MOST]) {
    int count = 0;
    for (int t = 0; t < report->title_count && count < BARS_MOST; ++t)
        if (strncmp(report->titles[t], "run: ", 5) == 0 && changes(report->sensitivity, t) &&
            isfinite(report->sensitivity->found[t].inputs[0].share) &&
            strcmp(report->titles[t], "run: people") != 0)
            titles[count++] = t;
    return count;
}

bool th_figure_sensitivity_applies(const th_figure_data *data) {
    int titles[BARS_MOST];
    return report_of(data)->sample && barred_titles(report_of(data), titles) > 0;
}

static void draw_bar(const th_chart *chart, const th_share_found *share, double y, double half,
                     th_colour colour, double alpha) {
    cairo_t *cairo = chart->canvas->cairo;
    double from = th_chart_x(chart, 0);
    if (!isfinite(share->share)) return;
    th_canvas_colour(chart->canvas, colour, alpha);
    cairo_rectangle(cairo, from, y - half, th_chart_x(chart, share->share) - from, 2 * half);
    cairo_fill(cairo);
    th_canvas_colour(chart->canvas, (th_colour){0.1, 0.1, 0.1}, 1);
    cairo_set_line_width(cairo, 1.2);
    cairo_move_to(cairo, th_chart_x(chart, share->low), y);
    cairo_line_to(cairo, th_chart_x(chart, share->high), y);
    for (int end = 0; end < 2; ++end) {
        double x = th_chart_x(chart, end ? share->high : share->low);
        cairo_move_to(cairo, x, y - 0.6 * half);
        cairo_line_to(cairo, x, y + 0.6 * half);
    }
    cairo_stroke(cairo);
}

double th_figure_sensitivity_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    int titles[BARS_MOST], count = barred_titles(report, titles), bars = report->path_count + 1;
    double text = canvas->text, row = 1.25 * text, names = 0;
    double y = th_sweep_head(canvas, report, "What the figures depend on") + 0.4 * text;
    char clean[160], fitted[160];
    for (int i = 0; i < bars; ++i) {
        th_clean_text(i < report->path_count ? report->paths[i] : CHANCE, clean, sizeof clean);
        names = fmax(names, th_canvas_text_width(canvas, text, clean));
    }
    names = fmin(names, 0.35 * canvas->width);
    th_chart chart = {.canvas = canvas,
                      .left = 1.8 * text + names,
                      .top = y,
                      .height = count * (row * (bars + 1.2) + 0.4 * text)};
    chart.x = (th_axis){.low = 0, .high = 1, .unit = 0.01, .title = "share of the variance [%]"};
    for (int k = 0; k <= 10; k += 2) chart.x.tick[chart.x.tick_count++] = k / 10.0;
    chart.y = (th_axis){.low = 0, .high = 1, .unit = 1};
    chart.width = canvas->width - chart.left - 2 * text;
    th_chart_frame(&chart);
    for (int q = 0; q < count; ++q) {
        const th_sensitivity *found = &report->sensitivity->found[titles[q]];
        double top = y + q * (row * (bars + 1.2) + 0.4 * text) + row;
        cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
        th_clean_text(report->titles[titles[q]] + strlen("run: "), clean, sizeof clean);
        th_canvas_text(canvas, chart.left + 0.5 * text, top, 0, text, true, clean);
        for (int i = 0; i < bars; ++i) {
            bool seed = i == report->path_count;
            double middle = top + (i + 0.75) * row;
            th_clean_text(seed ? CHANCE : report->paths[i], clean, sizeof clean);
            th_canvas_fit(canvas, text, names, clean, fitted, sizeof fitted);
            cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
            th_canvas_text(canvas, chart.left - 0.6 * text, middle + 0.35 * text, 1, text, false,
                           fitted);
            draw_bar(&chart, seed ? &found->chance : &found->inputs[i], middle, 0.36 * row,
                     seed ? (th_colour){0.45, 0.45, 0.45} : th_colour_group(i % 4), 0.55);
        }
    }
    return th_chart_bottom(&chart);
}

void th_figure_sensitivity_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "First-order share of each varied value in the variance of single runs, and "
                      "of the seed; the lines are 95\xc2\xa0% intervals. What is missing to "
                      "100\xc2\xa0% are values that act together.");
}

// ---- all points against each value

enum { ACROSS = 3 }; // panels side by side

bool th_figure_scatter_applies(const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    return report->sample && report->sensitivity->main_title >= 0;
}

// Words stand side by side in the order in which they come.
static double place_of(const th_sweep_report *report, int point, int path) {
    double x = report->sensitivity->x[point * report->path_count + path], place = 0;
    if (!report->listed[path]) return x;
    for (int k = 0; k < (int)x; ++k) {
        double other = report->sensitivity->x[k * report->path_count + path];
        place += other >= k; // the first with its word
    }
    return place;
}

static void draw_scatter(const th_canvas *canvas, const th_sweep_report *report, int path,
                         const th_axis *y_axis, double left, double top, double width,
                         double height) {
    const double *means = report->sensitivity->main_means;
    double low = (double)INFINITY, high = -(double)INFINITY;
    char clean[96];
    for (int k = 0; k < report->point_count; ++k) {
        low = fmin(low, place_of(report, k, path));
        high = fmax(high, place_of(report, k, path));
    }
    double margin = report->listed[path] ? 0.5 : 0.04 * (high - low);
    th_clean_text(report->paths[path], clean, sizeof clean);
    th_chart chart = {.canvas = canvas,
                      .left = left,
                      .top = top,
                      .width = width,
                      .height = height,
                      .x = th_axis_make(low - margin, high + margin, 5, clean),
                      .y = *y_axis};
    if (report->listed[path]) chart.x.tick_count = 0;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    for (int k = 0; k < report->point_count; ++k) {
        double at = place_of(report, k, path);
        if (isfinite(means[k])) th_chart_dot(&chart, at, means[k], th_colour_group(path % 4));
        bool first = (int)report->sensitivity->x[k * report->path_count + path] == k;
        if (!report->listed[path] || !first) continue;
        cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
        th_clean_text(report->points[k].values[path], clean, sizeof clean);
        th_canvas_text(canvas, th_chart_x(&chart, at), top + height + 1.3 * canvas->text, 0.5,
                       canvas->text, false, clean);
    }
}

double th_figure_scatter_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_sweep_report *report = report_of(data);
    const th_sweep_sensitivity *s = report->sensitivity;
    const char *title = report->titles[s->main_title];
    if (strncmp(title, "run: ", 5) == 0) title += 5;
    double text = canvas->text, low = (double)INFINITY, high = -(double)INFINITY;
    char clean[96], head[160];
    th_clean_text(title, clean, sizeof clean);
    snprintf(head, sizeof head, "%s at every point", clean);
    head[0] = (char)(head[0] >= 'a' && head[0] <= 'z' ? head[0] - 'a' + 'A' : head[0]);
    for (int k = 0; k < report->point_count; ++k)
        if (isfinite(s->main_means[k])) {
            low = fmin(low, s->main_means[k]);
            high = fmax(high, s->main_means[k]);
        }
    th_axis axis = th_axis_make(low, high, 6, clean);
    double y = th_sweep_head(canvas, report, head) + text;
    double room = th_chart_margin(canvas, &axis) + text;
    double width = canvas->width / ACROSS - room - text, height = 0.8 * (width + room);
    for (int i = 0; i < report->path_count; ++i) {
        double left = i % ACROSS * canvas->width / ACROSS + room;
        draw_scatter(canvas, report, i, &axis, left, y + i / ACROSS * (height + 4.5 * text), width,
                     height);
    }
    int rows = (report->path_count + ACROSS - 1) / ACROSS;
    return y + rows * (height + 4.5 * text);
}

void th_figure_scatter_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "One dot per point of the sample, the mean of its runs, against each varied "
                      "value. A band that rises or falls is what the index of a value measures; "
                      "a cloud is the work of the others.");
}
