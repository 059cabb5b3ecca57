// Tables of results: counters, areas, runs. SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>

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
    static const char *const kinds[] = {"exit", "door", "line"};
    const th_observation *first = data->first;
    double flow = th_counter_mean_flow(counter);
    double width = counter->width > 0 ? counter->width : (double)NAN;
    th_text_put(page, "<tr><th scope=\"row\">");
    th_text_escaped(page, counter->id);
    th_text_add(page, "</th><td>%s</td>", kinds[counter->kind]);
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
    th_text_add(page, "<h3>Exits, doors and measurement lines%s</h3>\n",
                data->ensemble->run_count > 1 ? ", first run" : "");
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
    th_text_add(page, "<h3>Measurement areas%s</h3>\n",
                data->ensemble->run_count > 1 ? ", first run" : "");
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
