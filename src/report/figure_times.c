// Figures of times: the evacuation curve, egress times, time lost per person.
// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_colour BLACK = {0.1, 0.1, 0.1}, GREY = {0.45, 0.45, 0.45};

// A chart over the whole width below y.
static th_chart whole_chart(const th_canvas *canvas, double y, double height, th_axis x,
                            th_axis y_axis) {
    th_chart chart = {.canvas = canvas, .top = y, .height = height, .x = x, .y = y_axis};
    chart.left = 0.8 * canvas->text + th_chart_margin(canvas, &y_axis);
    chart.width = canvas->width - chart.left - 2 * canvas->text;
    th_chart_settle(&chart);
    return chart;
}

static double below(const th_chart *chart) {
    return chart->top + chart->height + 3.6 * chart->canvas->text;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ---- evacuation curve

// Quantiles over the runs of the number who have left, sample by sample.
typedef struct left_curves {
    int samples;
    double highest;                     // most people who ever came in a run
    double *time, *low, *median, *high; // per sample
    double *memory;
} left_curves;

static double left_at(const th_run_summary *run, int k) {
    if (run->sample_count == 0) return 0;
    return run->left_curve[k < run->sample_count ? k : run->sample_count - 1];
}

static bool make_curves(left_curves *curves, const th_ensemble *ensemble) {
    *curves = (left_curves){0};
    for (int i = 0; i < ensemble->run_count; ++i) {
        const th_run_summary *run = &ensemble->runs[i];
        if (run->sample_count > curves->samples) curves->samples = run->sample_count;
        curves->highest = fmax(curves->highest, (double)run->spawned);
    }
    size_t count = (size_t)curves->samples, runs = (size_t)ensemble->run_count;
    curves->memory = malloc((4 * count + runs + 1) * sizeof *curves->memory);
    if (!curves->memory) return false;
    curves->time = curves->memory;
    curves->low = curves->time + count;
    curves->median = curves->low + count;
    curves->high = curves->median + count;
    double *values = curves->high + count;
    for (int k = 0; k < curves->samples; ++k) {
        for (size_t i = 0; i < runs; ++i) values[i] = left_at(&ensemble->runs[i], k);
        qsort(values, runs, sizeof *values, compare_doubles);
        curves->time[k] = k * ensemble->interval;
        curves->low[k] = th_percentile(values, (int)runs, 0.05);
        curves->median[k] = th_percentile(values, (int)runs, 0.5);
        curves->high[k] = th_percentile(values, (int)runs, 0.95);
    }
    return true;
}

bool th_figure_evacuation_applies(const th_figure_data *data) {
    for (int i = 0; i < data->ensemble->run_count; ++i)
        if (data->ensemble->runs[i].spawned > 0) return true;
    return false;
}

static void draw_single_runs(const th_chart *chart, const th_ensemble *ensemble,
                             const left_curves *curves) {
    enum { RUNS_MAX = 60 }; // more lines than this are one grey area anyway
    int stride = 1 + (ensemble->run_count - 1) / RUNS_MAX;
    double *left = malloc(((size_t)curves->samples + 1) * sizeof *left);
    if (!left) return;
    for (int i = 0; i < ensemble->run_count; i += stride) {
        const th_run_summary *run = &ensemble->runs[i];
        for (int k = 0; k < run->sample_count; ++k) left[k] = run->left_curve[k];
        th_chart_line(chart, curves->time, left, run->sample_count,
                      (th_line_style){GREY, 0.6, 0, 0.45});
    }
    free(left);
}

static void draw_inside(const th_chart *chart, const th_observation *first) {
    size_t count = (size_t)first->sample_count;
    double *memory = malloc((2 * count + 1) * sizeof *memory);
    if (!memory) return;
    for (int k = 0; k < first->sample_count; ++k) {
        memory[k] = k * first->interval;
        memory[count + (size_t)k] = first->inside[k];
    }
    th_chart_line(chart, memory, memory + count, first->sample_count, th_line_style_of(1));
    free(memory);
}

static void draw_marks(const th_chart *chart, const th_ensemble *ensemble, double people) {
    static const double shares[3] = {0.5, 0.95, 1};
    for (int i = 0; i < 3; ++i) {
        char note[80], time[40];
        double at = th_ensemble_reach(ensemble, shares[i]).median;
        if (ensemble->run_count == 1) at = th_ensemble_reach(ensemble, shares[i]).mean;
        // Of a few people there is no 95 %.
        bool whole = shares[i] >= 1 || (1 - shares[i]) * people >= 1;
        if (!isfinite(at) || !whole) continue;
        th_figure_time(at, chart->x.high, time, sizeof time);
        snprintf(note, sizeof note, "%.0f %%: %s", 100 * shares[i], time);
        th_chart_dot(chart, at, shares[i] * people, th_colour_group(0));
        // 95 % and 100 % lie near each other: one to the right and below, one to the left and above.
        bool last = i == 2;
        th_chart_note(chart, at, shares[i] * people, last ? 0 : 0.7 * TH_FIGURE_TEXT,
                      last ? -0.6 * TH_FIGURE_TEXT : 1.1 * TH_FIGURE_TEXT, last ? 1 : 0, note);
    }
}

static double median_people(const th_ensemble *ensemble) {
    double *people = malloc(((size_t)ensemble->run_count + 1) * sizeof *people);
    if (!people) return 0;
    for (int i = 0; i < ensemble->run_count; ++i) people[i] = (double)ensemble->runs[i].spawned;
    qsort(people, (size_t)ensemble->run_count, sizeof *people, compare_doubles);
    double median = th_percentile(people, ensemble->run_count, 0.5);
    free(people);
    return median;
}

double th_figure_evacuation_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    bool many = ensemble->run_count > 1;
    char runs[80];
    left_curves curves;
    th_figure_runs(data, false, runs, sizeof runs);
    double text = canvas->text, y = th_figure_head(canvas, data, "People who have left", runs);
    const th_legend_entry several[] = {
        {"median of the runs", {th_colour_group(0), 2.2, 0, 1}, TH_LEGEND_LINE},
        {"5 to 95 % of the runs", {th_colour_group(0), 1, 0, 0.25}, TH_LEGEND_BAND},
        {"single runs", {GREY, 0.8, 0, 0.7}, TH_LEGEND_LINE},
    };
    const th_legend_entry one[] = {
        {"have left", {th_colour_group(0), 2.2, 0, 1}, TH_LEGEND_LINE},
        {"are inside", th_line_style_of(1), TH_LEGEND_LINE},
    };
    y = th_legend(canvas, 0.8 * text, y + text, many ? several : one, many ? 3 : 2);
    if (!make_curves(&curves, ensemble)) return y;
    double end = fmax(curves.samples - 1, 1) * ensemble->interval;
    th_chart chart =
        whole_chart(canvas, y + 0.5 * text, 270, th_axis_time(0, 1.02 * end, 9, "time"),
                    th_axis_count(1.07 * curves.highest, 8, "people"));
    th_chart_frame(&chart);
    if (many) {
        th_chart_band(&chart, curves.time, curves.low, curves.high, curves.samples,
                      th_colour_group(0), 0.25);
        draw_single_runs(&chart, ensemble, &curves);
    } else if (data->first) {
        draw_inside(&chart, data->first);
    }
    th_chart_line(&chart, curves.time, curves.median, curves.samples,
                  (th_line_style){th_colour_group(0), 2.2, 0, 1});
    draw_marks(&chart, ensemble, median_people(ensemble));
    free(curves.memory);
    return below(&chart);
}

void th_figure_evacuation_caption(th_text *text, const th_figure_data *data) {
    if (data->ensemble->run_count > 1)
        th_text_put(text, "Number of people who have left over time: each run as a thin line, the "
                          "median over the runs as a thick one, and the band that holds the middle "
                          "90\xc2\xa0% of the runs. Dots mark the median times at which 50, 95 and "
                          "100\xc2\xa0% of those who ever came had left.");
    else
        th_text_put(text,
                    "Number of people who have left, and who are inside, over time. Dots mark "
                    "when 50, 95 and 100\xc2\xa0% of those who ever came had left.");
    th_text_put(text,
                " The steeper the curve, the larger the flow; a flat stretch means that nobody "
                "gets out.");
}

// ---- distributions

typedef struct value_list {
    double *values; // ascending
    int count;
} value_list;

static value_list egress_times(const th_ensemble *ensemble) {
    value_list list = {malloc(((size_t)ensemble->run_count + 1) * sizeof(double)), 0};
    for (int i = 0; list.values && i < ensemble->run_count; ++i)
        if (isfinite(ensemble->runs[i].egress_time))
            list.values[list.count++] = ensemble->runs[i].egress_time;
    if (list.count > 1) qsort(list.values, (size_t)list.count, sizeof(double), compare_doubles);
    return list;
}

typedef float person_value(const th_person *person);
static float end_time(const th_person *person) { return person->end_time; }
static float jam_time(const th_person *person) { return person->jam_time; }
static float wait_time(const th_person *person) { return person->wait_time; }

static value_list people_values(const th_observation *first, person_value *value) {
    int people = first ? first->person_count : 0;
    value_list list = {malloc(((size_t)people + 1) * sizeof(double)), 0};
    for (int i = 0; list.values && i < people; ++i) {
        float one = value(&first->people[i]);
        bool person = first->people[i].group >= 0 || value == end_time; // else a scripted body
        if (person && isfinite(one)) list.values[list.count++] = (double)one;
    }
    if (list.count > 1) qsort(list.values, (size_t)list.count, sizeof(double), compare_doubles);
    return list;
}

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

static histogram make_histogram(const value_list *list) {
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

static void draw_rug(const th_chart *chart, const value_list *list) {
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

static double draw_histogram(const th_canvas *canvas, double y, const value_list *list, bool runs) {
    th_sample_summary summary = th_summarise(list->values, list->count);
    double p95 = th_percentile(list->values, list->count, 0.95);
    double median = th_percentile(list->values, list->count, 0.5), text = canvas->text;
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
    th_chart chart = whole_chart(canvas, y + 0.5 * text, 210, x,
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
    return below(&chart);
}

double th_figure_egress_draw(const th_canvas *canvas, const th_figure_data *data) {
    bool runs = shows_runs(data->ensemble);
    char note[200], words[80];
    value_list list = runs ? egress_times(data->ensemble) : people_values(data->first, end_time);
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
    else
        th_text_put(text, "When each person left. One run gives one egress time, so this shows the "
                          "spread over people, not over runs; repeat with --runs for that.");
}

// ---- time lost

bool th_figure_delay_applies(const th_figure_data *data) {
    value_list list = people_values(data->first, jam_time);
    free(list.values);
    return list.count > 0;
}

// Cumulative distribution at no more than a few hundred places.
static void draw_distribution(const th_chart *chart, const value_list *list, th_line_style style) {
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

static void draw_delay_line(const th_chart *chart, const value_list *list, int index) {
    th_line_style style = th_line_style_of(index);
    double p95 = th_percentile(list->values, list->count, 0.95);
    double mean = th_summarise(list->values, list->count).mean;
    draw_distribution(chart, list, style);
    int under = 0;
    while (under < list->count && list->values[under] <= mean) ++under;
    th_chart_dot(chart, mean, 100.0 * under / list->count, style.colour);
    th_chart_dot(chart, p95, 95, style.colour);
}

static void delay_name(char *name, size_t size, const char *what, const value_list *list) {
    char mean[40], p95[40];
    double late = th_percentile(list->values, list->count, 0.95);
    th_figure_time(th_summarise(list->values, list->count).mean, late, mean, sizeof mean);
    th_figure_time(late, late, p95, sizeof p95);
    snprintf(name, size, "%s: mean %s, 95th percentile %s", what, mean, p95);
}

double th_figure_delay_draw(const th_canvas *canvas, const th_figure_data *data) {
    char note[160], runs[80], names[2][160];
    value_list jam = people_values(data->first, jam_time);
    value_list wait = people_values(data->first, wait_time);
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d people, %s", jam.count, runs);
    double text = canvas->text, y = th_figure_head(canvas, data, "Time lost per person", note);
    if (jam.count > 0 && wait.count > 0) {
        delay_name(names[0], sizeof names[0], "in a jam", &jam);
        delay_name(names[1], sizeof names[1], "told to wait", &wait);
        const th_legend_entry entries[] = {{names[0], th_line_style_of(0), TH_LEGEND_LINE},
                                           {names[1], th_line_style_of(1), TH_LEGEND_LINE}};
        y = th_legend(canvas, 0.8 * text, y + text, entries, 2);
        // The last per cent would squeeze all others against the axis; the caption says how far it goes.
        double longest = fmax(th_percentile(jam.values, jam.count, 0.99),
                              th_percentile(wait.values, wait.count, 0.99));
        th_chart chart = whole_chart(canvas, y + 0.5 * text, 240,
                                     th_axis_time(0, 1.1 * fmax(longest, 1), 9, "time lost"),
                                     th_axis_make(0, 105, 8, "people [%]"));
        th_chart_frame(&chart);
        draw_delay_line(&chart, &wait, 1);
        draw_delay_line(&chart, &jam, 0);
        y = below(&chart);
    }
    free(jam.values);
    free(wait.values);
    return y;
}

void th_figure_delay_caption(th_text *text, const th_figure_data *data) {
    value_list jam = people_values(data->first, jam_time);
    th_text_add(
        text,
        "The share of people who lost at most this much time. In a jam: they wanted to walk but "
        "were slower than %.1f\xc2\xa0m/s. Told to wait: before setting off and in waiting "
        "areas. The lower dot of a line is the mean, the upper one the 95th percentile.",
        (double)TH_JAM_SPEED);
    if (jam.count > 0) {
        th_text_put(text, " The longest time anybody spent in a jam was ");
        th_text_seconds(text, jam.values[jam.count - 1]);
        th_text_put(text, "; the axis ends where 99\xc2\xa0% of the people are.");
    }
    free(jam.values);
}
