// The results on the page: the answer in a sentence or two, and the tables. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>

// ---- the answer

// The main result, as certain as the runs allow.

static void add_people(th_text *page, double count) {
    th_text_count(page, count);
    th_text_put(page, count > 0.5 && count < 1.5 ? " person" : " people");
}

static void add_95(th_text *page, const th_ensemble *ensemble) {
    th_sample_summary p95 = th_ensemble_reach(ensemble, 0.95);
    if (!isfinite(p95.mean)) return;
    th_text_put(page, "; 95\xc2\xa0% were out after ");
    th_text_seconds(page, p95.mean);
}

static double mean_of_runs(const th_ensemble *ensemble, bool inside) {
    double sum = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        sum += (double)(inside ? ensemble->runs[i].inside : ensemble->runs[i].spawned);
    return sum / ensemble->run_count;
}

// The only run, which emptied the scene.
static void answer_one(th_text *page, const th_ensemble *ensemble) {
    const th_run_summary *run = &ensemble->runs[0];
    add_people(page, (double)run->left);
    th_text_put(page, " left within ");
    th_text_seconds(page, run->egress_time);
    add_95(page, ensemble);
    th_text_put(page,
                ".</p><p>This is one run; repeat it with <code>--runs 20</code> for a confidence "
                "interval.");
}

// The runs that never emptied come first, for readers of one sentence only.
static void answer_stuck(th_text *page, const th_ensemble *ensemble, int ended) {
    uint64_t most = 0;
    double longest = 0;
    for (int i = 0; i < ensemble->run_count; ++i) {
        if (isfinite(ensemble->runs[i].egress_time)) continue;
        if (ensemble->runs[i].inside > most) most = ensemble->runs[i].inside;
        longest = fmax(longest, ensemble->runs[i].time);
    }
    th_text_add(page, "In %d of %d runs people stayed inside: up to ", ensemble->run_count - ended,
                ensemble->run_count);
    th_text_count(page, (double)most);
    th_text_put(page, " of ");
    add_people(page, mean_of_runs(ensemble, false));
    th_text_put(page, " were still inside after ");
    th_text_seconds(page, longest);
    th_text_add(page, ".</p><p>In the other %s", ended == 1 ? "run " : "");
    if (ended > 1) th_text_add(page, "%d runs ", ended);
}

// Several runs, of which `ended` emptied the scene.
static void answer_many(th_text *page, const th_ensemble *ensemble, int ended) {
    th_sample_summary egress = th_ensemble_egress(ensemble);
    if (ended < ensemble->run_count) {
        answer_stuck(page, ensemble, ended);
        th_text_put(page, "all left within ");
    } else {
        add_people(page, mean_of_runs(ensemble, false));
        th_text_put(page, " left within ");
    }
    th_text_seconds(page, egress.mean);
    th_text_add(page, " (mean of %d %s", ended, ended == 1 ? "run" : "runs");
    if (isfinite(egress.ci_low)) {
        th_text_put(page, ", 95\xc2\xa0% confidence interval ");
        th_text_seconds(page, egress.ci_low);
        th_text_put(page, " to ");
        th_text_seconds(page, egress.ci_high);
    }
    th_text_put(page, ")");
    if (ended == ensemble->run_count) add_95(page, ensemble);
    th_text_put(page, ".</p><p>");
    if (isfinite(egress.p95)) {
        th_text_put(page, "95th percentile of the egress times: ");
        th_text_seconds(page, egress.p95);
        th_text_put(page, " (fastest run ");
        th_text_seconds(page, egress.min);
        th_text_put(page, ", slowest ");
        th_text_seconds(page, egress.max);
        th_text_put(page, ").");
    }
    if (ended < ensemble->run_count)
        th_text_put(page, " Runs that did not empty are in none of these numbers.");
}

static void add_end(th_text *page, const th_ensemble *ensemble) {
    th_text_seconds(page, ensemble->runs[0].time);
    if (ensemble->run_count > 1) th_text_add(page, " (mean of %d runs)", ensemble->run_count);
    th_text_put(page, ".");
}

// People with goals of their own need not leave: all have arrived.
static void answer_settled(th_text *page, const th_ensemble *ensemble) {
    double inside = mean_of_runs(ensemble, true), all = mean_of_runs(ensemble, false), lying = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        lying += (double)ensemble->runs[i].lying / ensemble->run_count;
    if (all > inside) {
        add_people(page, all - inside);
        th_text_put(page, " left and ");
    }
    if (lying > 0) {
        add_people(page, lying);
        th_text_put(page, inside > lying ? " lay on the ground, " : " lay on the ground after ");
    }
    if (inside > lying || !(lying > 0)) {
        add_people(page, inside - lying);
        th_text_put(page, " had reached the places they wanted to be at after ");
    }
    add_end(page, ensemble);
}

static void answer_not_ended(th_text *page, const th_ensemble *ensemble) {
    bool interrupted = ensemble->runs[0].interrupted;
    th_text_count(page, mean_of_runs(ensemble, true));
    th_text_put(page, " of ");
    add_people(page, mean_of_runs(ensemble, false));
    th_text_put(page, " had not left ");
    th_text_put(page, interrupted ? "when the run was interrupted at " : "after ");
    add_end(page, ensemble);
    th_text_put(page,
                "</p><p>So there is no egress time; the figure of people still inside shows where "
                "they are.");
}

static void add_fact(th_text *page, const char *name) {
    th_text_add(page, "<div><dt>%s</dt><dd>", name);
}

static void end_fact(th_text *page) { th_text_put(page, "</dd></div>"); }

// Further numbers.
static void add_facts(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    const th_density_findings *found = &data->found;
    double jam = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        jam += ensemble->runs[i].mean_jam_time / ensemble->run_count;
    th_text_put(page, "<dl class=\"facts\">");
    if (data->ensemble->map_count > 0) {
        add_fact(page, "highest density");
        th_text_measured(page, found->highest);
        th_text_put(page, "\xc2\xa0/m\xc2\xb2");
        end_fact(page);
        add_fact(page, "longest above 4\xc2\xa0/m\xc2\xb2");
        th_text_seconds(page, found->dense_time);
        if (found->dense_share > 0)
            th_text_add(page, " (%.0f\xc2\xa0%% of the time %s)", 100 * found->dense_share,
                        th_use_words(data->scene, ensemble));
        end_fact(page);
    }
    if (data->pressed.load > 0) {
        add_fact(page, "highest load on a body");
        th_text_measured(page, data->pressed.load);
        th_text_put(page, "\xc2\xa0N");
        end_fact(page);
    }
    th_fall_findings falls = th_find_falls(data->scene, ensemble);
    if (falls.possible) {
        int decimals = ensemble->run_count > 1 ? 1 : 0;
        add_fact(page, ensemble->run_count > 1 ? "people who fell, mean" : "people who fell");
        th_text_add(page, "%.*f", decimals, falls.fallen);
        if (falls.lying > 0) {
            th_text_add(page, " (%.*f", decimals, falls.lying);
            th_text_put(page, " lay on the ground at the end)");
        }
        end_fact(page);
    }
    if (isfinite(jam)) {
        add_fact(page, "mean time in a jam");
        th_text_seconds(page, jam);
        th_text_put(page, " per person");
        end_fact(page);
    }
    th_text_put(page, "</dl>");
}

void th_page_answer(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    int ended = th_ensemble_egress(ensemble).count;
    th_text_put(page, "<section class=\"answer\"><p class=\"headline\">");
    if (ensemble->run_count == 0)
        th_text_put(page, "No run was finished.");
    else if (mean_of_runs(ensemble, false) <= 0)
        th_text_put(page, "No people were simulated: all groups are empty.");
    else if (ended == 0 && ensemble->runs[0].done && !ensemble->runs[0].interrupted)
        answer_settled(page, ensemble);
    else if (ended == 0)
        answer_not_ended(page, ensemble);
    else if (ensemble->run_count == 1)
        answer_one(page, ensemble);
    else
        answer_many(page, ensemble, ended);
    th_text_put(page, "</p>");
    if (ensemble->run_count > 0 && mean_of_runs(ensemble, false) > 0) add_facts(page, data);
    th_text_put(page, "</section>\n");
}

// ---- tables of counters, areas, runs

static void number_cell(th_text *page, double value) {
    th_text_put(page, "<td class=\"n\">");
    th_text_value(page, value);
    th_text_put(page, "</td>");
}

static void measured_cell(th_text *page, double value) {
    th_text_put(page, "<td class=\"n\">");
    th_text_measured(page, value);
    th_text_put(page, "</td>");
}

static void count_cell(th_text *page, double value) {
    th_text_put(page, "<td class=\"n\">");
    th_text_count(page, value);
    th_text_put(page, "</td>");
}

// Seconds without unit, the head of the column has it.
static void time_cell(th_text *page, double seconds) {
    th_text_put(page, "<td class=\"n\">");
    if (isfinite(seconds))
        th_text_add(page, "%.1f", seconds);
    else
        th_text_put(page, "\xe2\x80\x93");
    th_text_put(page, "</td>");
}

static void side_cell(th_text *page, uint64_t count, const char *side) {
    th_text_put(page, "<td class=\"n\">");
    th_text_count(page, (double)count);
    if (side) th_text_add(page, " <small>%s</small>", side);
    th_text_put(page, "</td>");
}

static double highest_window_flow(const th_observation *first, const th_counter *counter) {
    double highest = 0;
    for (int k = 0; k < first->sample_count; ++k) {
        double flow = th_counter_flow(first, counter->forward, k);
        if (counter->backward) flow += th_counter_flow(first, counter->backward, k);
        highest = fmax(highest, flow);
    }
    return highest;
}

static void add_counter(th_text *page, const th_figure_data *data, const th_counter *counter) {
    const th_observation *first = data->first;
    double flow = th_counter_mean_flow(counter);
    double width = counter->width > 0 ? counter->width : (double)NAN;
    th_text_put(page, "<tr><th scope=\"row\">");
    th_text_escaped(page, counter->id);
    th_text_add(page, "</th><td>%s</td>", th_counter_kind_names[counter->kind]);
    number_cell(page, width);
    side_cell(page, counter->forward_total, counter->forward_to);
    if (counter->kind == TH_COUNT_EXIT)
        th_text_put(page, "<td class=\"n\">\xe2\x80\x93</td>");
    else
        side_cell(page, counter->backward_total, counter->backward_to);
    time_cell(page, counter->first_time);
    time_cell(page, counter->last_time);
    measured_cell(page, flow);
    measured_cell(page, flow / width);
    measured_cell(page, highest_window_flow(first, counter) / width);
    th_text_put(page, "</tr>\n");
}

void th_page_counters(th_text *page, const th_figure_data *data) {
    const th_observation *first = data->first;
    enum { ROWS_MAX = 300 };
    if (!first || first->counter_count == 0) return;
    th_text_put(page, "<h3>Exits, doors and measurement lines</h3>\n");
    th_text_put(page,
                "<div class=\"wide\"><table><thead><tr><th>name</th><th>kind</th>"
                "<th class=\"n\">width [m]</th><th class=\"n\">people one way</th>"
                "<th class=\"n\">the other way</th><th class=\"n\">first [s]</th>"
                "<th class=\"n\">last [s]</th><th class=\"n\">mean flow [1/s]</th>"
                "<th class=\"n\">mean specific flow [1/(m\xc2\xa0s)]</th>"
                "<th class=\"n\">highest, 10\xc2\xa0s [1/(m\xc2\xa0s)]</th></tr></thead><tbody>\n");
    for (int i = 0; i < first->counter_count && i < ROWS_MAX; ++i)
        add_counter(page, data, &first->counters[i]);
    th_text_put(page,
                "</tbody></table></div>\n<p class=\"note\">Both directions count for the flow. The "
                "mean is taken from the first to the last crossing. East is to the right of "
                "the plan, north is up.");
    if (first->counter_count > ROWS_MAX)
        th_text_add(page, " %d more are in counters.csv.", first->counter_count - ROWS_MAX);
    th_text_put(page, "</p>\n");
}

static void add_area(th_text *page, const th_observation *first, const th_area_series *area) {
    double density = 0, highest = 0, speed = 0, highest_time = (double)NAN;
    int moving = 0;
    for (int k = 0; k < first->sample_count; ++k) {
        if (k < first->use_sample_count) density += (double)area->density[k];
        if ((double)area->density[k] > highest) {
            highest = (double)area->density[k];
            highest_time = k * first->interval;
        }
        if (!isfinite(area->speed[k]) || !(area->density[k] > 0)) continue;
        speed += (double)area->speed[k];
        ++moving;
    }
    th_text_put(page, "<tr><th scope=\"row\">");
    th_text_escaped(page, area->id);
    th_text_put(page, "</th>");
    number_cell(page, area->area);
    measured_cell(page,
                  first->use_sample_count > 0 ? density / first->use_sample_count : (double)NAN);
    measured_cell(page, highest);
    time_cell(page, highest_time);
    measured_cell(page, moving > 0 ? speed / moving : (double)NAN);
    th_text_put(page, "</tr>\n");
}

void th_page_areas(th_text *page, const th_figure_data *data) {
    const th_observation *first = data->first;
    enum { ROWS_MAX = 300 };
    if (!first || first->area_count == 0) return;
    th_text_put(page, "<h3>Measurement areas</h3>\n");
    th_text_put(
        page, "<div class=\"wide\"><table><thead><tr><th>name</th>"
              "<th class=\"n\">size [m\xc2\xb2]</th><th class=\"n\">mean density [1/m\xc2\xb2]</th>"
              "<th class=\"n\">highest [1/m\xc2\xb2]</th><th class=\"n\">at [s]</th>"
              "<th class=\"n\">mean speed [m/s]</th></tr></thead><tbody>\n");
    for (int i = 0; i < first->area_count && i < ROWS_MAX; ++i)
        add_area(page, first, &first->areas[i]);
    th_text_add(page,
                "</tbody></table></div>\n<p class=\"note\">The mean density is of the time "
                "%s.</p>\n",
                th_use_words(data->scene, data->ensemble));
}

static void add_run(th_text *page, const th_run_summary *run, int number, bool can_fall) {
    th_text_add(page, "<tr><td class=\"n\">%d</td><td class=\"n\">%" PRIu64 "</td>", number,
                run->seed);
    count_cell(page, (double)run->spawned);
    count_cell(page, (double)run->left);
    time_cell(page, run->egress_time);
    time_cell(page, run->p95_time);
    time_cell(page, run->mean_jam_time);
    measured_cell(page, run->max_density);
    if (can_fall) count_cell(page, (double)run->fallen);
    th_text_add(page, "<td><code>%016" PRIx64 "</code></td></tr>\n", run->hash);
}

void th_page_runs(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    enum { ROWS_MAX = 60 };
    bool can_fall = th_scene_can_fall(data->scene);
    if (ensemble->run_count == 0) return;
    th_text_put(page,
                "<h3>Runs</h3>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">run</th>"
                "<th class=\"n\">seed</th><th class=\"n\">people</th><th class=\"n\">left</th>"
                "<th class=\"n\">egress [s]</th><th class=\"n\">95\xc2\xa0% out [s]</th>"
                "<th class=\"n\">mean jam [s]</th><th class=\"n\">highest density "
                "[1/m\xc2\xb2]</th>");
    if (can_fall) th_text_put(page, "<th class=\"n\">people who fell</th>");
    th_text_put(page, "<th>state hash</th></tr></thead><tbody>\n");
    for (int i = 0; i < ensemble->run_count && i < ROWS_MAX; ++i)
        add_run(page, &ensemble->runs[i], i + 1, can_fall);
    th_text_put(page, "</tbody></table></div>\n");
    if (ensemble->run_count > ROWS_MAX)
        th_text_add(page, "<p class=\"note\">%d more runs are in runs.csv.</p>\n",
                    ensemble->run_count - ROWS_MAX);
}
