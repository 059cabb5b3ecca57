// The numbers of all runs by exit, door, stairs, line, area, group and profile: quantities.csv and .json, queues.csv,
// convergence.csv, and the tables of the page. SPDX-License-Identifier: Apache-2.0
#include "observe/quantities.h"
#include "core/error.h"
#include "observe/findings.h"
#include "report/figures.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- files

static const char *side_name(int worst) { return worst > 0 ? "high" : worst < 0 ? "low" : NULL; }

static th_result write_quantities(const th_report_def *def, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    const th_quantities *all = &ensemble->quantities;
    th_table_file table;
    th_table_open(&table, def->folder, "quantities.csv");
    TH_TABLE_HEADER(&table, "of", "id", "quantity", "unit", "runs", "mean", "standard_deviation",
                    "ci95_low", "ci95_high", "median", "min", "max", "worst", "worst_seed");
    for (int k = 0; k < all->count; ++k) {
        const th_quantity *q = &all->list[k];
        th_sample_summary s = th_quantity_summary(all, q);
        int worst = th_quantity_worst(all, q);
        const char *const words[] = {q->of, q->id, q->name, q->unit};
        const double numbers[] = {s.mean,
                                  s.standard_deviation,
                                  s.ci_low,
                                  s.ci_high,
                                  s.count == 1 ? s.mean : s.median,
                                  s.min,
                                  s.max,
                                  worst < 0 ? (double)NAN : q->values[worst]};
        for (int i = 0; i < 4; ++i) th_table_text(&table, words[i]);
        th_table_count(&table, (uint64_t)s.count);
        for (int i = 0; i < 8; ++i) th_table_number(&table, numbers[i]);
        if (worst < 0)
            th_table_text(&table, NULL);
        else
            th_table_count(&table, ensemble->runs[worst].seed);
        th_table_end_row(&table);
    }
    return th_table_close(&table, error);
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *quantity_json(const th_quantities *all, const th_quantity *q) {
    th_sample_summary s = th_quantity_summary(all, q);
    json_t *values = json_array();
    for (int r = 0; r < all->runs; ++r) json_array_append_new(values, number(q->values[r]));
    const char *side = side_name(q->worst);
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "of", q->of, "id", q->id,
                     "quantity", q->name, "unit", q->unit, "worse",
                     side ? json_string(side) : json_null(), "runs", s.count, "mean",
                     number(s.mean), "standard_deviation", number(s.standard_deviation), "ci95_low",
                     number(s.ci_low), "ci95_high", number(s.ci_high), "median",
                     number(s.count == 1 ? s.mean : s.median), "values", values);
}

static json_t *convergence_json(const th_convergence *c) {
    return json_pack("{s:i,s:f,s:i,s:i,s:i,s:i}", "runs", c->count, "bound", TH_CONVERGED_SHARE,
                     "mean_settled_at", c->mean_at, "p95_settled_at", c->p95_at, "curve_settled_at",
                     c->curve_at, "runs_for_interval", c->needed);
}

static th_result write_json(const th_report_def *def, const th_convergence *c, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    json_t *list = json_array(), *seeds = json_array();
    for (int k = 0; k < ensemble->quantities.count; ++k)
        json_array_append_new(list,
                              quantity_json(&ensemble->quantities, &ensemble->quantities.list[k]));
    for (int r = 0; r < ensemble->run_count; ++r)
        json_array_append_new(seeds, json_integer((json_int_t)ensemble->runs[r].seed));
    json_t *name = def->scene->name ? json_string(def->scene->name) : NULL;
    json_t *root = json_pack("{s:s,s:o,s:o,s:o,s:o}", "throng", th_version(), "scene",
                             name ? name : json_null(), "seeds", seeds, "convergence",
                             convergence_json(c), "quantities", list);
    if (!root) return th_fail(error, TH_NO_MEMORY, "", "no memory for quantities.json; free some");
    th_table_file file;
    th_table_open(&file, def->folder, "quantities.json");
    th_table_json(&file, root);
    json_decref(root);
    return th_table_close(&file, error);
}

static th_result write_queues(const th_report_def *def, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    th_table_file table;
    th_table_open(&table, def->folder, "queues.csv");
    TH_TABLE_HEADER(&table, "time_s", "kind", "id", "people_mean", "people_most", "passed",
                    "wait_mean_s");
    for (int c = 0; c < ensemble->first->counter_count; ++c) {
        const th_door_queue *queue = &ensemble->queues[c];
        for (int b = 0; b < queue->bins; ++b) {
            th_table_number(&table, b * TH_QUEUE_BIN);
            th_table_text(&table, th_counter_kind_names[ensemble->first->counters[c].kind]);
            th_table_text(&table, ensemble->first->counters[c].id);
            th_table_number(&table, th_queue_people(ensemble, c, b));
            th_table_count(&table, queue->most[b]);
            th_table_count(&table, queue->passed[b]);
            th_table_number(&table, th_queue_wait(ensemble, c, b));
            th_table_end_row(&table);
        }
    }
    return th_table_close(&table, error);
}

static th_result write_convergence(const th_report_def *def, const th_convergence *c,
                                   th_error *error) {
    th_table_file table;
    th_table_open(&table, def->folder, "convergence.csv");
    TH_TABLE_HEADER(&table, "runs", "mean_s", "ci95_low_s", "ci95_high_s", "p95_s",
                    "curve_distance", "curve_projection", "curve_secant");
    for (int k = 0; k < c->count; ++k) {
        const th_convergence_step *step = &c->steps[k];
        const double numbers[] = {step->mean,     step->low,        step->high,  step->p95,
                                  step->distance, step->projection, step->secant};
        th_table_count(&table, (uint64_t)step->runs);
        for (int i = 0; i < 7; ++i) th_table_number(&table, numbers[i]);
        th_table_end_row(&table);
    }
    return th_table_close(&table, error);
}

th_result th_report_quantities(const th_report_def *def, th_error *error) {
    th_convergence convergence;
    if (!th_convergence_make(def->ensemble, &convergence))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the tables; free some");
    th_result result = write_quantities(def, error);
    if (result == TH_OK) result = write_json(def, &convergence, error);
    if (result == TH_OK) result = write_queues(def, error);
    if (result == TH_OK) result = write_convergence(def, &convergence, error);
    th_convergence_release(&convergence);
    return result;
}

// ---- tables of the page: a row per exit, ..., a column per quantity

typedef struct column {
    const char *name, *head; // of the quantity, and above the column with its unit
} column;

static const column opening_columns[] = {
    {"people", "people"},
    {"last", "last [s]"},
    {"mean flow", "mean flow [1/s]"},
    {"highest specific flow, 10 s", "highest specific flow [1/(m\xc2\xa0s)]"},
    {"longest queue", "longest queue [people]"},
    {"mean wait", "mean wait [s]"},
    {"longest wait", "longest wait [s]"},
    {0}};
static const column line_columns[] = {
    {"people forward", "people forward"},
    {"people backward", "people backward"},
    {"last", "last [s]"},
    {"mean flow", "mean flow [1/s]"},
    {"highest specific flow, 10 s", "highest specific flow [1/(m\xc2\xa0s)]"},
    {0}};
static const column area_columns[] = {{"mean density", "mean density [1/m\xc2\xb2]"},
                                      {"highest density", "highest density [1/m\xc2\xb2]"},
                                      {"mean speed", "mean speed [m/s]"},
                                      {0}};
static const column member_columns[] = {{"people", "people"},
                                        {"people not out", "not out"},
                                        {"last out", "last out [s]"},
                                        {"mean time to get out", "mean time to get out [s]"},
                                        {"mean time in a jam", "mean time in a jam [s]"},
                                        {0}};

static void add_value(th_text *page, const th_quantity *q, double value) {
    if (strcmp(q->unit, "s") == 0 && isfinite(value))
        th_text_add(page, "%.1f", value);
    else if (*q->unit == '\0' && value >= floor(value) && value <= floor(value))
        th_text_count(page, value);
    else
        th_text_measured(page, value);
}

static void add_cell(th_text *page, const th_quantities *all, const th_quantity *q) {
    th_text_put(page, "<td class=\"n\">");
    if (!q) {
        th_text_put(page, "\xe2\x80\x93</td>");
        return;
    }
    th_sample_summary s = th_quantity_summary(all, q);
    int worst = th_quantity_worst(all, q);
    add_value(page, q, s.mean);
    bool varies = s.count > 1 && s.max > s.min;
    if (varies) {
        th_text_put(page, "\xc2\xa0\xc2\xb1\xc2\xa0");
        th_text_measured(page, 0.5 * (s.ci_high - s.ci_low));
        th_text_put(page, "<br><small>median ");
        add_value(page, q, s.median);
        if (worst >= 0) {
            th_text_put(page, ", worst ");
            add_value(page, q, q->values[worst]);
        }
        th_text_put(page, "</small>");
    }
    if (all->runs > 1 && s.count > 0 && s.count < all->runs)
        th_text_add(page, "<br><small>in %d runs</small>", s.count);
    th_text_put(page, "</td>");
}

enum { ROWS_MAX = 100 };

static bool is_used(const th_quantities *all, const th_quantity *people) {
    return th_quantity_summary(all, people).max > 0;
}

// Rows of one kind: each begins with the quantity that is its first column.
static void add_rows(th_text *page, const th_quantities *all, const char *of,
                     const column *columns) {
    int rows = 0;
    for (int k = 0; k < all->count; ++k) {
        const th_quantity *q = &all->list[k];
        if (strcmp(q->of, of) != 0 || strcmp(q->name, columns[0].name) != 0) continue;
        if (rows++ >= ROWS_MAX) continue;
        th_text_put(page, "<tr><th scope=\"row\">");
        th_text_escaped(page, q->id);
        th_text_put(page, "</th>");
        bool used = strcmp(of, "area") == 0 || strcmp(of, "line") == 0 || is_used(all, q);
        for (const column *c = columns; c->name; ++c)
            add_cell(page, all,
                     used || c == columns ? th_quantities_find(all, of, q->id, c->name) : NULL);
        th_text_put(page, "</tr>\n");
    }
    th_text_put(page, "</tbody></table></div>\n");
    if (rows > ROWS_MAX)
        th_text_add(page, "<p class=\"note\">%d more are in quantities.csv.</p>\n",
                    rows - ROWS_MAX);
}

static void add_table(th_text *page, const th_quantities *all, const char *of, const char *title,
                      const column *columns) {
    bool any = false;
    for (int k = 0; k < all->count; ++k) any = any || strcmp(all->list[k].of, of) == 0;
    if (!any) return;
    th_text_add(page, "<h3>%s</h3><div class=\"wide\"><table><thead><tr><th>name</th>", title);
    for (const column *c = columns; c->name; ++c)
        th_text_add(page, "<th class=\"n\">%s</th>", c->head);
    th_text_put(page, "</tr></thead><tbody>\n");
    add_rows(page, all, of, columns);
}

void th_page_quantities(th_text *page, const th_figure_data *data) {
    const th_quantities *all = &data->ensemble->quantities;
    if (all->runs == 0) return;
    // The tables of crossings and areas say more of a single run.
    if (all->runs > 1) {
        add_table(page, all, "exit", "Exits, all runs", opening_columns);
        add_table(page, all, "door", "Doors, all runs", opening_columns);
        add_table(page, all, "stairs", "Stairs, all runs", opening_columns);
        add_table(page, all, "line", "Measurement lines, all runs", line_columns);
        add_table(page, all, "area", "Measurement areas, all runs", area_columns);
    }
    const char *runs = all->runs > 1 ? ", all runs" : "";
    char title[64];
    snprintf(title, sizeof title, "Groups%s", runs);
    add_table(page, all, "group", title, member_columns);
    snprintf(title, sizeof title, "Profiles%s", runs);
    add_table(page, all, "profile", title, member_columns);
    th_text_put(page, "<p class=\"note\">");
    if (all->runs > 1)
        th_text_put(page,
                    "Mean \xc2\xb1 half of the 95\xc2\xa0% interval of the mean; worst of all "
                    "runs. ");
    th_text_add(page,
                "A person joins the queue of an exit, door or stairs with the first jam on the "
                "way there (%.1f\xc2\xa0m/s) and waits until it passes. All numbers with their "
                "seeds: quantities.csv; queues over time: queues.csv.</p>\n",
                (double)TH_JAM_SPEED);
}

// ---- runs that did not end

static void add_causes(th_text *page, const th_failure *failure) {
    bool begun = false;
    for (int c = 0; c < TH_LEFT_CAUSE_COUNT; ++c) {
        if (failure->counts[c] == 0) continue;
        th_text_add(page, "%s%d %s", begun ? "; " : "", failure->counts[c], th_left_cause_words[c]);
        begun = true;
    }
}

static void add_failed(th_text *page, const th_scene_view *scene, const th_run_summary *run) {
    char words[400];
    th_text_add(page, "<tr><td class=\"n\">%" PRIu64 "</td><td class=\"n\">", run->seed);
    th_text_count(page, (double)run->inside);
    th_text_put(page, "</td><td>");
    add_causes(page, &run->failure);
    th_text_put(page, "</td><td>");
    th_failure_words(scene, &run->failure, words, sizeof words);
    th_text_escaped(page, words);
    th_text_put(page, "</td></tr>\n");
}

void th_page_failures(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    int failed = 0;
    if (data->scene->run.duration > 0.0) return;
    for (int r = 0; r < ensemble->run_count; ++r)
        failed += ensemble->runs[r].failure.head.group >= 0;
    if (failed == 0) return;
    th_text_put(page,
                "<h3>Runs that did not end, and why</h3><div class=\"wide\"><table><thead><tr>"
                "<th class=\"n\">seed</th><th class=\"n\">inside</th><th>what they do</th>"
                "<th>where it begins</th></tr></thead><tbody>\n");
    for (int r = 0, rows = 0; r < ensemble->run_count && rows < ROWS_MAX; ++r) {
        if (ensemble->runs[r].failure.head.group < 0) continue;
        add_failed(page, data->scene, &ensemble->runs[r]);
        rows++;
    }
    th_text_put(page, "</tbody></table></div>\n");
}

// ---- convergence

// Advice when to stop, in a sentence or two.
static void add_advice(th_text *page, const th_convergence *c) {
    double half = 0.5 * (c->steps[c->count - 1].high - c->steps[c->count - 1].low);
    double share = half / c->steps[c->count - 1].mean;
    th_text_add(page, "After %d runs the mean is known to \xc2\xb1\xc2\xa0%.1f\xc2\xa0%%. ",
                c->count, 100 * share);
    if (c->mean_at > 0 && c->p95_at > 0 && c->curve_at > 0) {
        int at = c->mean_at > c->p95_at ? c->mean_at : c->p95_at;
        th_text_add(page,
                    "<strong>More runs are not needed</strong>: from run %d on no run changed the "
                    "mean, the 95th percentile or the mean curve by more than %.0f\xc2\xa0%% "
                    "(%d runs in a row).",
                    at > c->curve_at ? at : c->curve_at, 100 * TH_CONVERGED_SHARE,
                    TH_CONVERGED_RUNS);
        return;
    }
    th_text_add(page,
                "<strong>Make more runs</strong>: %s not yet stayed within %.0f\xc2\xa0%% for %d "
                "runs in a row.",
                c->mean_at == 0  ? "the mean has"
                : c->p95_at == 0 ? "the 95th percentile has"
                                 : "the mean curve has",
                100 * TH_CONVERGED_SHARE, TH_CONVERGED_RUNS);
    if (c->needed > c->count)
        th_text_add(page, " About %d runs would give the mean to \xc2\xb1\xc2\xa0%.0f\xc2\xa0%%.",
                    c->needed, 100 * TH_CONVERGED_SHARE);
}

void th_figure_convergence_caption(th_text *text, const th_figure_data *data) {
    th_convergence c;
    if (!th_convergence_make(data->ensemble, &c)) {
        text->failed = true;
        return;
    }
    th_text_put(text, "Mean of the egress time with its 95\xc2\xa0% interval, and the 95th "
                      "percentile, of the first runs. ");
    if (c.count > 0) add_advice(text, &c);
    const th_convergence_step *last = c.count > 1 ? &c.steps[c.count - 1] : NULL;
    if (last)
        th_text_add(text,
                    " Functional analysis of the mean curve (Ronchi, Reneke, Peacock 2014; ISO "
                    "20414), last run: distance %.2g, projection 1\xc2\xa0\xc2\xb1\xc2\xa0%.2g, "
                    "secant cosine 1\xc2\xa0\xc2\xb1\xc2\xa0%.2g.",
                    last->distance, last->projection, last->secant);
    th_convergence_release(&c);
}

bool th_figure_convergence_applies(const th_figure_data *data) {
    return th_ensemble_egress(data->ensemble).count >= 3;
}

double th_figure_convergence_draw(const th_canvas *canvas, const th_figure_data *data) {
    th_convergence c;
    char words[96];
    th_figure_runs(data, false, words, sizeof words);
    double y = th_figure_head(canvas, data, "Egress time by number of runs", words);
    if (!th_convergence_make(data->ensemble, &c)) return y;
    double *memory = malloc(5 * ((size_t)c.count + 1) * sizeof *memory);
    if (!memory) {
        th_convergence_release(&c);
        return y;
    }
    double *runs = memory, *mean = runs + c.count, *low = mean + c.count, *high = low + c.count,
           *p95 = high + c.count, least = HUGE_VAL, most = 0;
    for (int k = 0; k < c.count; ++k) {
        runs[k] = c.steps[k].runs;
        mean[k] = c.steps[k].mean;
        p95[k] = c.steps[k].p95;
        // The interval of two runs would set the axis.
        low[k] = k < 2 ? (double)NAN : c.steps[k].low;
        high[k] = k < 2 ? (double)NAN : c.steps[k].high;
        least = fmin(least, fmin(mean[k], low[k]));
        most = fmax(most, fmax(p95[k], high[k]));
    }
    th_chart chart =
        th_figure_chart(canvas, y + 2 * canvas->text, 230, th_axis_count(c.count, 10, "runs"),
                        th_axis_time(least, most, 6, "egress time"));
    th_line_style line = th_line_style_of(0), dashed = th_line_style_of(1), band = line;
    band.alpha = 0.2;
    const th_legend_entry entries[] = {{"mean", line, TH_LEGEND_LINE},
                                       {"95 % interval of the mean", band, TH_LEGEND_BAND},
                                       {"95th percentile", dashed, TH_LEGEND_LINE}};
    th_legend(canvas, 0.8 * canvas->text, y + 0.4 * canvas->text, entries, 3);
    th_chart_frame(&chart);
    th_chart_band(&chart, runs + 2, low + 2, high + 2, c.count - 2, line.colour, 0.2);
    th_chart_line(&chart, runs, mean, c.count, line);
    th_chart_line(&chart, runs, p95, c.count, dashed);
    free(memory);
    th_convergence_release(&c);
    return th_chart_bottom(&chart);
}
