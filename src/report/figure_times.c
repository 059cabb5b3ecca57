// Figures over time: egress times, delays, flows of counters, densities of areas. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- distributions: egress times, time lost per person

static const th_colour BLACK = {0.1, 0.1, 0.1}, GREY = {0.45, 0.45, 0.45};

static th_value_list egress_times(const th_ensemble *ensemble) {
    th_value_list list = {malloc(((size_t)ensemble->run_count + 1) * sizeof(double)), 0};
    for (int i = 0; list.values && i < ensemble->run_count; ++i)
        if (isfinite(ensemble->runs[i].egress_time))
            list.values[list.count++] = ensemble->runs[i].egress_time;
    th_sort_values(list.values, list.count);
    return list;
}

static float end_time(const th_person *person) { return person->end_time; }

th_value_list th_people_values(const th_observation *first, th_person_value *value) {
    int people = first ? first->person_count : 0;
    th_value_list list = {malloc(((size_t)people + 1) * sizeof(double)), 0};
    for (int i = 0; list.values && i < people; ++i) {
        float one = value(&first->people[i]);
        bool person = first->people[i].group >= 0 || value == end_time; // else a scripted body
        if (person && isfinite(one)) list.values[list.count++] = (double)one;
    }
    th_sort_values(list.values, list.count);
    return list;
}

static float jam_time(const th_person *person) { return person->jam_time; }
static float wait_time(const th_person *person) { return person->wait_time; }

// With fewer than two runs that ended, the exit times of people take the place of those of runs.
static bool shows_runs(const th_ensemble *ensemble) {
    int ended = 0;
    for (int i = 0; i < ensemble->run_count; ++i) ended += isfinite(ensemble->runs[i].egress_time);
    return ended > 1;
}

bool th_figure_egress_applies(const th_figure_data *data) {
    if (shows_runs(data->ensemble)) return true;
    for (int i = 0; data->first && i < data->first->person_count; ++i)
        if (isfinite(data->first->people[i].end_time)) return true;
    return false;
}

enum { BINS_MAX = 44 };
typedef struct histogram {
    double first, width; // [s]
    int bins, count[BINS_MAX + 2], highest;
} histogram;

static histogram make_histogram(const th_value_list *list) {
    double low = list->values[0], high = list->values[list->count - 1];
    double wanted = fmin(fmax(ceil(2 * cbrt(list->count)), 5), 15); // Rice's rule
    th_axis axis = th_axis_make(low, high, 8, "");
    histogram bars = {0};
    bars.width = th_round_length((axis.high - axis.low) / wanted); // at most 2.5 times as many
    bars.first = floor(axis.low / bars.width) * bars.width;
    bars.bins = (int)ceil((axis.high - bars.first) / bars.width + 1e-9);
    if (bars.bins > BINS_MAX) bars.bins = BINS_MAX;
    for (int i = 0; i < list->count; ++i) {
        int bin = (int)((list->values[i] - bars.first) / bars.width);
        bin = bin < 0 ? 0 : bin < bars.bins ? bin : bars.bins - 1;
        if (++bars.count[bin] > bars.highest) bars.highest = bars.count[bin];
    }
    return bars;
}

static void draw_rug(const th_chart *chart, const th_value_list *list) {
    enum { RUG_MAX = 300 };
    if (list->count > RUG_MAX) return;
    double base = th_chart_y(chart, 0);
    for (int i = 0; i < list->count; ++i) {
        double x = th_chart_x(chart, list->values[i]);
        cairo_move_to(chart->canvas->cairo, x, base);
        cairo_line_to(chart->canvas->cairo, x, base - 7);
    }
    th_canvas_colour(chart->canvas, BLACK, 0.8);
    cairo_set_line_width(chart->canvas->cairo, 1);
    cairo_stroke(chart->canvas->cairo);
}

// The mean as a dot with its interval as a bar, above the bars.
static void draw_interval(const th_chart *chart, const th_sample_summary *summary, double y) {
    cairo_t *cairo = chart->canvas->cairo;
    double at = th_chart_y(chart, y);
    if (isfinite(summary->ci_low) && isfinite(summary->ci_high)) {
        double low = th_chart_x(chart, fmax(summary->ci_low, chart->x.low));
        double high = th_chart_x(chart, fmin(summary->ci_high, chart->x.high));
        cairo_move_to(cairo, low, at);
        cairo_line_to(cairo, high, at);
        for (int end = 0; end < 2; ++end) {
            cairo_move_to(cairo, end ? high : low, at - 5);
            cairo_line_to(cairo, end ? high : low, at + 5);
        }
        th_canvas_colour(chart->canvas, BLACK, 1);
        cairo_set_line_width(cairo, 1.6);
        cairo_stroke(cairo);
    }
    th_chart_dot(chart, summary->mean, y, BLACK);
}

static double draw_histogram(const th_canvas *canvas, double y, const th_value_list *list,
                             bool runs) {
    th_sample_summary summary = th_summarise(list->values, list->count);
    double p95 = th_quantile(list->values, list->count, 0.95);
    double median = th_quantile(list->values, list->count, 0.5), text = canvas->text;
    histogram bars = make_histogram(list);
    double longest = list->values[list->count - 1];
    char time[4][40], names[3][200];
    th_figure_time(summary.mean, longest, time[0], sizeof time[0]);
    th_figure_time(summary.ci_low, longest, time[1], sizeof time[1]);
    th_figure_time(summary.ci_high, longest, time[2], sizeof time[2]);
    snprintf(names[0], sizeof names[0], "mean %s", time[0]);
    if (runs)
        snprintf(names[0], sizeof names[0], "mean %s, 95 %% interval %s to %s", time[0], time[1],
                 time[2]);
    th_figure_time(median, longest, time[3], sizeof time[3]);
    snprintf(names[1], sizeof names[1], "median %s", time[3]);
    th_figure_time(p95, longest, time[3], sizeof time[3]);
    snprintf(names[2], sizeof names[2], "95th percentile %s", time[3]);
    th_line_style middle = {th_colour_group(1), 2, 1, 1}, late = {th_colour_group(6), 2.2, 2, 1};
    const th_legend_entry entries[] = {{names[0], {BLACK, 2, 0, 1}, TH_LEGEND_DOT},
                                       {names[1], middle, TH_LEGEND_LINE},
                                       {names[2], late, TH_LEGEND_LINE}};
    y = th_legend(canvas, 0.8 * text, y + text, entries, 3);
    double last = bars.first + bars.bins * bars.width;
    double low = fmin(bars.first, runs ? summary.ci_low : bars.first);
    double high = fmax(last, runs ? summary.ci_high : last);
    th_axis x = th_axis_time(fmax(0, low - bars.width), high + bars.width, 9,
                             runs ? "egress time" : "exit time");
    th_chart chart =
        th_figure_chart(canvas, y + 0.5 * text, 210, x,
                        th_axis_count(1.2 * bars.highest, 7, runs ? "runs" : "people"));
    th_chart_frame(&chart);
    for (int i = 0; i < bars.bins; ++i)
        if (bars.count[i] > 0)
            th_chart_bar(&chart, bars.first + i * bars.width, bars.first + (i + 1) * bars.width,
                         bars.count[i], th_colour_group(4));
    th_chart_horizontal(&chart, 0, (th_line_style){GREY, 1, 0, 1}); // bars hide the axis
    if (runs) draw_rug(&chart, list);
    th_chart_vertical(&chart, median, middle);
    th_chart_vertical(&chart, p95, late);
    draw_interval(&chart,
                  runs ? &summary
                       : &(th_sample_summary){.mean = summary.mean,
                                              .ci_low = (double)NAN,
                                              .ci_high = (double)NAN},
                  1.1 * bars.highest);
    return th_chart_bottom(&chart);
}

double th_figure_egress_draw(const th_canvas *canvas, const th_figure_data *data) {
    bool runs = shows_runs(data->ensemble);
    char note[200], words[80];
    th_value_list list =
        runs ? egress_times(data->ensemble) : th_people_values(data->first, end_time);
    th_figure_runs(data, !runs, words, sizeof words);
    if (runs && list.count < data->ensemble->run_count)
        snprintf(note, sizeof note, "%d of %d runs; in the others people were still inside",
                 list.count, data->ensemble->run_count);
    else
        snprintf(note, sizeof note, "%s", words);
    double y = th_figure_head(
        canvas, data, runs ? "Egress times of the runs" : "Exit times of single people", note);
    if (list.count > 0) y = draw_histogram(canvas, y, &list, runs);
    free(list.values);
    return y;
}

void th_figure_egress_caption(th_text *text, const th_figure_data *data) {
    if (shows_runs(data->ensemble))
        th_text_put(text,
                    "When the last person left, run by run: bars count runs, short black lines "
                    "are the single runs. The dot is the mean with its 95\xc2\xa0% confidence "
                    "interval (Student's t); the spread of the bars is how much one "
                    "evacuation differs from the next.");
    else if (data->ensemble->run_count > 1)
        th_text_put(text, "When each person left in the first run. Fewer than two runs emptied, so "
                          "there is no spread of egress times over runs.");
    else
        th_text_put(text, "When each person left. One run gives one egress time, so this shows the "
                          "spread over people, not over runs; repeat with --runs for that.");
}

// ---- time lost

bool th_figure_delay_applies(const th_figure_data *data) {
    th_value_list list = th_people_values(data->first, jam_time);
    free(list.values);
    return list.count > 0;
}

// Cumulative distribution at no more than a few hundred places.
static void draw_distribution(const th_chart *chart, const th_value_list *list,
                              th_line_style style) {
    enum { PLACES = 400 };
    double x[2 * PLACES + 4], y[2 * PLACES + 4];
    int places = list->count < PLACES ? list->count : PLACES, used = 0;
    x[used] = 0;
    y[used++] = 0;
    for (int i = 0; i < places; ++i) {
        int at = (int)((int64_t)(i + 1) * list->count / places) - 1;
        // Steps: so many per cent lost at most this much.
        x[used] = list->values[at];
        y[used] = y[used - 1];
        ++used;
        x[used] = list->values[at];
        y[used++] = 100.0 * (at + 1) / list->count;
    }
    x[used] = fmax(chart->x.high, x[used - 1]);
    y[used++] = 100;
    th_chart_line(chart, x, y, used, style);
}

static void draw_delay_line(const th_chart *chart, const th_value_list *list, int index) {
    th_line_style style = th_line_style_of(index);
    double p95 = th_quantile(list->values, list->count, 0.95);
    double mean = th_summarise(list->values, list->count).mean;
    draw_distribution(chart, list, style);
    int under = 0;
    while (under < list->count && list->values[under] <= mean) ++under;
    th_chart_dot(chart, mean, 100.0 * under / list->count, style.colour);
    th_chart_dot(chart, p95, 95, style.colour);
}

static void delay_name(char *name, size_t size, const char *what, const th_value_list *list) {
    char mean[40], p95[40];
    double late = th_quantile(list->values, list->count, 0.95);
    th_figure_time(th_summarise(list->values, list->count).mean, late, mean, sizeof mean);
    th_figure_time(late, late, p95, sizeof p95);
    snprintf(name, size, "%s: mean %s, 95th percentile %s", what, mean, p95);
}

double th_figure_delay_draw(const th_canvas *canvas, const th_figure_data *data) {
    char note[160], runs[80], names[2][160];
    th_value_list jam = th_people_values(data->first, jam_time);
    th_value_list wait = th_people_values(data->first, wait_time);
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d people, %s", jam.count, runs);
    double text = canvas->text, y = th_figure_head(canvas, data, "Time lost per person", note);
    if (jam.count > 0 && wait.count > 0) {
        delay_name(names[0], sizeof names[0], "in a jam", &jam);
        delay_name(names[1], sizeof names[1], "told to wait", &wait);
        const th_legend_entry entries[] = {{names[0], th_line_style_of(0), TH_LEGEND_LINE},
                                           {names[1], th_line_style_of(1), TH_LEGEND_LINE}};
        y = th_legend(canvas, 0.8 * text, y + text, entries, 2);
        // The longest one per cent is cut off, as it would compress the rest; the caption gives the maximum.
        double longest = fmax(th_quantile(jam.values, jam.count, 0.99),
                              th_quantile(wait.values, wait.count, 0.99));
        th_chart chart = th_figure_chart(canvas, y + 0.5 * text, 240,
                                         th_axis_time(0, 1.1 * fmax(longest, 1), 9, "time lost"),
                                         th_axis_make(0, 105, 8, "people [%]"));
        th_chart_frame(&chart);
        draw_delay_line(&chart, &wait, 1);
        draw_delay_line(&chart, &jam, 0);
        y = th_chart_bottom(&chart);
    }
    free(jam.values);
    free(wait.values);
    return y;
}

void th_figure_delay_caption(th_text *text, const th_figure_data *data) {
    th_value_list jam = th_people_values(data->first, jam_time);
    th_text_add(
        text,
        "The share of people who lost at most this much time. In a jam: they wanted to walk but "
        "were slower than %.1f\xc2\xa0m/s. Told to wait: before setting off and in waiting "
        "areas. The lower dot of a line is the mean, the upper one the 95th percentile.",
        (double)TH_JAM_SPEED);
    if (jam.count > 0) {
        th_text_put(text, " The longest time of a person in a jam was ");
        th_text_seconds(text, jam.values[jam.count - 1]);
        th_text_put(text, "; the axis ends where 99\xc2\xa0% of the people are.");
    }
    free(jam.values);
}

// ---- flows and areas over time

// Figures of series: flow at every counter, density and speed in every measurement area. One small chart
// each on common axes, so that they compare by eye.

enum { CHARTS_MAX = 24 }; // of one figure: two pages

// A grid of small charts below y with axes in common.
typedef struct chart_grid {
    const th_canvas *canvas;
    int columns, count;
    double left, top, width, height, gap_x, gap_y;
    th_axis x, y;
    bool one_title; // the y axis is named at the left only
} chart_grid;

static chart_grid make_grid(const th_canvas *canvas, double y, int count, int columns,
                            double height, th_axis x_axis, th_axis y_axis, bool one_title) {
    double text = canvas->text, margin = th_chart_margin(canvas, &y_axis);
    chart_grid grid = {.canvas = canvas,
                       .columns = columns > 0 ? columns : 1,
                       .count = count,
                       .height = height,
                       .x = x_axis,
                       .y = y_axis,
                       .one_title = one_title};
    grid.left = 0.8 * text + margin;
    grid.top = y + 1.8 * text;
    if (one_title) y_axis.title[0] = '\0';
    grid.gap_x = th_chart_margin(canvas, &y_axis) + 1.2 * text;
    grid.gap_y = 4.6 * text;
    grid.width = (canvas->width - grid.left - 1.5 * text - (columns - 1) * grid.gap_x) / columns;
    return grid;
}

static th_chart grid_chart(const chart_grid *grid, int index, const char *title) {
    const th_canvas *canvas = grid->canvas;
    int column = index % grid->columns, row = index / grid->columns;
    th_chart chart = {
        .canvas = canvas, .width = grid->width, .height = grid->height, .x = grid->x, .y = grid->y};
    chart.left = grid->left + column * (grid->width + grid->gap_x);
    chart.top = grid->top + row * (grid->height + grid->gap_y);
    // The axis of time is named below the last chart of each column.
    if (index + grid->columns < grid->count) chart.x.title[0] = '\0';
    if (column > 0 && grid->one_title) chart.y.title[0] = '\0';
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    char fitted[160];
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_fit(canvas, canvas->text, 0.95 * grid->width, title, fitted, sizeof fitted);
    th_canvas_text(canvas, chart.left, chart.top - 0.6 * canvas->text, 0, canvas->text, true,
                   fitted);
    return chart;
}

static double grid_bottom(const chart_grid *grid) {
    int rows = (grid->count + grid->columns - 1) / grid->columns;
    return grid->top + rows * (grid->height + grid->gap_y) - 0.4 * grid->canvas->text;
}

// ---- queues: people in them, and seconds of those who pass, one row of charts each

static bool has_queue(const th_figure_data *data, int counter) {
    const th_door_queue *queue = &data->ensemble->queues[counter];
    for (int b = 0; b < queue->bins; ++b)
        if (queue->most[b] > 0) return true;
    return false;
}

static int queue_count(const th_figure_data *data) {
    int count = 0;
    for (int c = 0; data->first && data->ensemble->queues && c < data->first->counter_count; ++c)
        count += has_queue(data, c);
    return count < CHARTS_MAX / 2 ? count : CHARTS_MAX / 2;
}

bool th_figure_queues_applies(const th_figure_data *data) { return queue_count(data) > 0; }

// Fills memory with the middles of the bins, mean, most and wait; the highest of each.
typedef struct queue_lines {
    double *time, *mean, *most, *wait;
    double longest, slowest, end;
    int bins;
} queue_lines;

static void fill_queue(const th_figure_data *data, int counter, queue_lines *lines) {
    const th_door_queue *queue = &data->ensemble->queues[counter];
    lines->bins = queue->bins;
    for (int b = 0; b < queue->bins; ++b) {
        lines->time[b] = (b + 0.5) * TH_QUEUE_BIN;
        lines->mean[b] = th_queue_people(data->ensemble, counter, b);
        lines->most[b] = queue->most[b];
        lines->wait[b] = th_queue_wait(data->ensemble, counter, b);
        lines->longest = fmax(lines->longest, lines->most[b]);
        lines->slowest = fmax(lines->slowest, lines->wait[b]);
        if (queue->most[b] > 0 || queue->passed[b] > 0)
            lines->end = fmax(lines->end, (b + 1) * TH_QUEUE_BIN);
    }
}

static void draw_queues(const th_canvas *canvas, const th_figure_data *data, double *y,
                        queue_lines *lines, bool waits) {
    int count = queue_count(data), columns = count < 3 ? count : 3;
    chart_grid grid =
        make_grid(canvas, *y, count, columns, 110, th_axis_time(0, lines->end, 6, "time"),
                  waits ? th_axis_make(0, 1.05 * fmax(lines->slowest, 1), 6, "wait [s]")
                        : th_axis_count(1.05 * lines->longest, 6, "people"),
                  true);
    for (int c = 0, index = 0; c < data->first->counter_count && index < count; ++c) {
        char title[160];
        const th_counter *counter = &data->first->counters[c];
        if (!has_queue(data, c)) continue;
        fill_queue(data, c, lines);
        snprintf(title, sizeof title, "%s %.80s", th_counter_kind_names[counter->kind],
                 counter->id);
        th_chart chart = grid_chart(&grid, index++, title);
        if (waits) {
            th_chart_line(&chart, lines->time, lines->wait, lines->bins, th_line_style_of(0));
            continue;
        }
        th_chart_line(&chart, lines->time, lines->most, lines->bins, th_line_style_of(1));
        th_chart_line(&chart, lines->time, lines->mean, lines->bins, th_line_style_of(0));
    }
    *y = grid_bottom(&grid);
}

double th_figure_queues_draw(const th_canvas *canvas, const th_figure_data *data) {
    char words[96];
    th_figure_runs(data, false, words, sizeof words);
    double y = th_figure_head(canvas, data, "Queues at exits, doors and stairs", words);
    int bins = 1;
    for (int c = 0; c < data->first->counter_count; ++c)
        if (data->ensemble->queues[c].bins > bins) bins = data->ensemble->queues[c].bins;
    double *memory = malloc(4 * (size_t)bins * sizeof *memory);
    if (!memory) return y;
    queue_lines lines = {memory, memory + bins, memory + 2 * bins, memory + 3 * bins, 0, 0, 0, 0};
    for (int c = 0; c < data->first->counter_count; ++c)
        if (has_queue(data, c)) fill_queue(data, c, &lines);
    const th_legend_entry entries[] = {{"mean", th_line_style_of(0), TH_LEGEND_LINE},
                                       {"most of any run", th_line_style_of(1), TH_LEGEND_LINE}};
    y = th_legend(canvas, 0.8 * canvas->text, y + 0.4 * canvas->text, entries, 2) + canvas->text;
    draw_queues(canvas, data, &y, &lines, false);
    draw_queues(canvas, data, &y, &lines, true);
    free(memory);
    return y;
}

void th_figure_queues_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_add(text,
                "Above: people in the queue of each opening. Below: seconds in the queue of those "
                "who pass. Means over runs and %g\xc2\xa0s.",
                TH_QUEUE_BIN);
}

// ---- flow

static uint64_t crossings(const th_observation *first, const th_counter *counter) {
    return first->sample_count > 0 ? counter->forward_total + counter->backward_total : 0;
}

static int used_counters(const th_observation *first, bool with_width) {
    int used = 0;
    for (int i = 0; first && i < first->counter_count; ++i) {
        const th_counter *counter = &first->counters[i];
        used += crossings(first, counter) > 0 && (counter->width > 0) == with_width;
    }
    return used;
}

bool th_figure_flow_applies(const th_figure_data *data) {
    return used_counters(data->first, true) + used_counters(data->first, false) > 0;
}

// Flow of one direction: people per second, per metre of width where there is one.
static void flow_series(const th_observation *first, const th_counter *counter,
                        const uint32_t *count, double *flow) {
    double divisor = counter->width > 0 ? counter->width : 1;
    for (int k = 0; k < first->sample_count; ++k)
        flow[k] = th_counter_flow(first, count, k) / divisor;
}

static double highest_flow(const th_observation *first, bool with_width, double *flow, bool *back) {
    double highest = 0;
    for (int i = 0; i < first->counter_count; ++i) {
        const th_counter *counter = &first->counters[i];
        if ((counter->width > 0) != with_width || crossings(first, counter) == 0) continue;
        for (int direction = 0; direction < 2; ++direction) {
            const uint32_t *count = direction ? counter->backward : counter->forward;
            if (!count) continue;
            flow_series(first, counter, count, flow);
            for (int k = 0; k < first->sample_count; ++k) highest = fmax(highest, flow[k]);
            if (direction && counter->backward_total > 0) *back = true;
        }
    }
    return highest;
}

static void counter_title(const th_counter *counter, char *title, size_t size) {
    char width[32] = "", side[32] = "";
    if (counter->width > 0) snprintf(width, sizeof width, ", %.3g m", counter->width);
    if (counter->kind != TH_COUNT_EXIT && counter->forward_to)
        snprintf(side, sizeof side, ", %s", counter->forward_to);
    snprintf(title, size, "%s %.80s%s%s", th_counter_kind_names[counter->kind], counter->id, width,
             side);
}

static th_line_style limit_style(void) { return (th_line_style){BLACK, 1.2, 3, 1}; }

static double draw_flows(const th_canvas *canvas, const th_figure_data *data, double y,
                         bool with_width, double *time, double *flow) {
    const th_observation *first = data->first;
    bool back = false;
    double highest = highest_flow(first, with_width, flow, &back);
    int count = used_counters(first, with_width);
    if (count > CHARTS_MAX) count = CHARTS_MAX;
    if (count == 0) return y;
    if (with_width) highest = fmax(highest, TH_IMO_FLOW);
    int columns = count < 3 ? count : count == 4 ? 2 : 3;
    double end =
        fmin(fmax(first->sample_count - 1, 1) * first->interval, th_crowd_end(data->ensemble));
    chart_grid grid = make_grid(
        canvas, y, count, columns, count < 3 ? 170 : 110, th_axis_time(0, end, 6, "time"),
        th_axis_make(0, 1.1 * highest, 6, with_width ? "flow [1/(m s)]" : "flow [1/s]"), true);
    for (int i = 0, index = 0; i < first->counter_count && index < count; ++i) {
        const th_counter *counter = &first->counters[i];
        if ((counter->width > 0) != with_width || crossings(first, counter) == 0) continue;
        char title[160];
        counter_title(counter, title, sizeof title);
        th_chart chart = grid_chart(&grid, index++, title);
        if (with_width) th_chart_horizontal(&chart, TH_IMO_FLOW, limit_style());
        if (counter->backward && counter->backward_total > 0) {
            flow_series(first, counter, counter->backward, flow);
            th_chart_line(&chart, time, flow, first->sample_count, th_line_style_of(1));
        }
        flow_series(first, counter, counter->forward, flow);
        th_chart_line(&chart, time, flow, first->sample_count, th_line_style_of(0));
    }
    return grid_bottom(&grid);
}

double th_figure_flow_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_observation *first = data->first;
    char note[200], runs[80];
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "sliding window of %g s, %s", TH_FLOW_WINDOW, runs);
    double text = canvas->text;
    double y = th_figure_head(canvas, data, "Flow at exits, doors and lines", note);
    size_t samples = (size_t)first->sample_count;
    double *time = malloc((2 * samples + 1) * sizeof *time), *flow = time ? time + samples : NULL;
    if (!time) return y;
    for (int k = 0; k < first->sample_count; ++k) time[k] = k * first->interval;
    bool back = false;
    highest_flow(first, true, flow, &back);
    th_legend_entry entries[3] = {
        {"out, or the way in the title", th_line_style_of(0), TH_LEGEND_LINE}};
    int count = 1;
    if (back)
        entries[count++] = (th_legend_entry){"the other way", th_line_style_of(1), TH_LEGEND_LINE};
    if (used_counters(first, true) > 0)
        entries[count++] = (th_legend_entry){"1.3 /(m s), IMO maximum for corridors and doors",
                                             limit_style(), TH_LEGEND_LINE};
    y = th_legend(canvas, 0.8 * text, y + text, entries, count);
    y = draw_flows(canvas, data, y, true, time, flow);
    y = draw_flows(canvas, data, y, false, time, flow);
    free(time);
    return y;
}

void th_figure_flow_caption(th_text *text, const th_figure_data *data) {
    th_text_add(text,
                "People per second through every exit, door and measurement line that people "
                "crossed, per metre of its width where it has one, averaged over a sliding window "
                "of %g\xc2\xa0s. The dash-dotted line is the maximum specific flow of IMO "
                "MSC.1/Circ.1533, 1.3 people per metre and second: a door that stays near it is "
                "a bottleneck.",
                TH_FLOW_WINDOW);
    if (data->ensemble->run_count > 1) th_text_put(text, " First run.");
    int used = used_counters(data->first, true), areas = used_counters(data->first, false);
    if (used > CHARTS_MAX || areas > CHARTS_MAX)
        th_text_add(text, " Only the first %d are shown; all of them are in counters.csv.",
                    CHARTS_MAX);
}

// ---- measurement areas

bool th_figure_areas_applies(const th_figure_data *data) {
    return data->first && data->first->area_count > 0 && data->first->sample_count > 0;
}

static double highest_float(const float *values, int count) {
    double highest = 0;
    for (int k = 0; k < count; ++k)
        if (isfinite(values[k])) highest = fmax(highest, (double)values[k]);
    return highest;
}

static void draw_floats(const th_chart *chart, const th_observation *first, const float *values,
                        double *time, double *series, th_line_style style) {
    for (int k = 0; k < first->sample_count; ++k) {
        time[k] = k * first->interval;
        series[k] = (double)values[k];
    }
    th_chart_line(chart, time, series, first->sample_count, style);
}

static double draw_areas(const th_canvas *canvas, const th_observation *first, double y,
                         double *time, double *series) {
    double density = 0.5, speed = 0.5, end = fmax(first->sample_count - 1, 1) * first->interval;
    int count = first->area_count < CHARTS_MAX / 2 ? first->area_count : CHARTS_MAX / 2;
    for (int i = 0; i < count; ++i) {
        density = fmax(density, highest_float(first->areas[i].density, first->sample_count));
        speed = fmax(speed, highest_float(first->areas[i].speed, first->sample_count));
    }
    th_axis x = th_axis_time(0, end, 6, "time");
    th_axis left = th_axis_make(0, 1.1 * density, 6, "density [1/m\xc2\xb2]");
    th_axis right = th_axis_make(0, 1.1 * speed, 6, "speed [m/s]");
    chart_grid grid = make_grid(canvas, y, 2 * count, 2, 140, x, left, false);
    double wider = th_chart_margin(canvas, &right) + 0.6 * canvas->text - grid.gap_x;
    if (wider > 0) {
        grid.gap_x += wider;
        grid.width -= wider / 2;
    }
    for (int i = 0; i < count; ++i) {
        const th_area_series *area = &first->areas[i];
        char title[160];
        snprintf(title, sizeof title, "%.80s, %.3g m\xc2\xb2", area->id, area->area);
        grid.y = left;
        th_chart chart = grid_chart(&grid, 2 * i, title);
        th_chart_horizontal(&chart, (double)TH_DENSE, limit_style());
        draw_floats(&chart, first, area->density, time, series, th_line_style_of(0));
        grid.y = right;
        chart = grid_chart(&grid, 2 * i + 1, "");
        draw_floats(&chart, first, area->speed, time, series,
                    (th_line_style){th_colour_group(2), 1.8, 0, 1});
    }
    return grid_bottom(&grid);
}

double th_figure_areas_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_observation *first = data->first;
    char runs[80];
    th_figure_runs(data, true, runs, sizeof runs);
    double y = th_figure_head(canvas, data, "Density and speed in measurement areas", runs);
    double *memory = malloc((2 * (size_t)first->sample_count + 1) * sizeof *memory);
    if (!memory) return y;
    y = draw_areas(canvas, first, y - 0.6 * canvas->text, memory, memory + first->sample_count);
    free(memory);
    return y;
}

void th_figure_areas_caption(th_text *text, const th_figure_data *data) {
    th_text_add(
        text, "Left: people in the area divided by its walkable size. Right: their mean speed; the "
              "line breaks where the area is empty. The dash-dotted line, where it can be seen, "
              "is 4\xc2\xa0/m\xc2\xb2, congestion after IMO MSC.1/Circ.1533.");
    if (data->ensemble->run_count > 1) th_text_put(text, " First run.");
    if (data->first->area_count > CHARTS_MAX / 2)
        th_text_add(text, " Only the first %d areas are shown; all are in areas.csv.",
                    CHARTS_MAX / 2);
}
