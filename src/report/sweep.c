// sweep.csv and report.html of a sweep. SPDX-License-Identifier: Apache-2.0
#include "report/sweep.h"
#include "core/error.h"
#include "report/page.h"
#include "report/table_file.h"
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

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

static void add_head(th_text *page, const th_sweep_report *report) {
    th_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>");
    th_text_escaped(page, report->scene_name);
    th_text_put(page, " \xe2\x80\x93 sweep</title>\n<style>");
    th_text_put(page, th_page_style);
    th_text_put(page, "</style></head>\n<body>\n<header><p class=\"note\">Crowd simulation sweep, "
                      "throng ");
    th_text_escaped(page, th_version());
    th_text_put(page, "</p><h1>");
    th_text_escaped(page, report->scene_name);
    th_text_put(page, "</h1></header>\n");
}

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
    th_text_within(page, egress->mean);
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
    th_text_add(page, "<p>%d combinations, %d runs in all.%s</p></section>\n", report->point_count,
                runs,
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
    th_text_put(page, "<h3>All combinations</h3><div class=\"wide\"><table><thead><tr>");
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
              "its final state, <code>sweep.csv</code> the table above. Egress time: when the last "
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
    mkdir(figures, 0777); // what fails here fails again when the first figure is written
    add_head(&page, report);
    add_answer(&page, report);
    th_text_put(&page, "<section><h2>Results</h2>\n");
    th_result result = add_figures(&page, report, error);
    if (result != TH_OK) {
        th_text_release(&page);
        return result;
    }
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
