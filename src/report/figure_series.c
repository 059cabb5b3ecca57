// Figures of series: flow at every counter, density and speed in every measurement area. One small chart
// each on common axes, so that they compare by eye. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const th_colour BLACK = {0.1, 0.1, 0.1};
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
                       .columns = columns,
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
    static const char *const kinds[] = {"exit", "door", "line"};
    char width[32] = "", side[32] = "";
    if (counter->width > 0) snprintf(width, sizeof width, ", %.3g m", counter->width);
    if (counter->kind != TH_COUNT_EXIT && counter->forward_to)
        snprintf(side, sizeof side, ", %s", counter->forward_to);
    snprintf(title, size, "%s %.80s%s%s", kinds[counter->kind], counter->id, width, side);
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
    double end = fmax(first->sample_count - 1, 1) * first->interval;
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
                "People per second through every exit, door and measurement line that anybody "
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
