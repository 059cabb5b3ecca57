// The table of figures and what they share. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "core/error.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const th_figure th_figures[] = {
#define X(name, title, why_not)  \
    {#name,                      \
     title,                      \
     th_figure_##name##_applies, \
     why_not,                    \
     th_figure_##name##_draw,    \
     th_figure_##name##_caption},
    TH_FIGURES(X)
#undef X
};
const int th_figure_count = (int)(sizeof th_figures / sizeof th_figures[0]);

static void grow(th_box *box, float x, float y) {
    if (!isfinite(x) || !isfinite(y)) return;
    box->min_x = fminf(box->min_x, x);
    box->min_y = fminf(box->min_y, y);
    box->max_x = fmaxf(box->max_x, x);
    box->max_y = fmaxf(box->max_y, y);
}

// On open ground the plan has no bounds of its own: show where people were. `level` -1: all.
static void grow_by_people(th_box *box, const th_figure_data *data, int level) {
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map *map = &data->ensemble->maps[m];
        if (data->scene->levels[map->level].bounded || (level >= 0 && map->level != level))
            continue;
        for (int i = 0; i < map->nx * map->ny; ++i) {
            if (!(map->person_count[i] > 0)) continue;
            float x = map->min_x + map->cell * (float)(i % map->nx);
            float y = map->min_y + map->cell * (float)(i / map->nx);
            grow(box, x, y);
            grow(box, x + map->cell, y + map->cell);
        }
    }
}

// A plan thinner than this would leave no room for its own labels.
static const float THINNEST = 0.15f;

static th_box not_thin(th_box box) {
    float width = box.max_x - box.min_x, height = box.max_y - box.min_y;
    float more_x = fmaxf(0, THINNEST * height - width) / 2;
    float more_y = fmaxf(0, THINNEST * width - height) / 2;
    return (th_box){box.min_x - more_x, box.min_y - more_y, box.max_x + more_x, box.max_y + more_y};
}

static th_box figure_box(const th_figure_data *data) {
    th_moment none = {0};
    th_box box = th_plan_box(data->scene, &none);
    grow_by_people(&box, data, -1);
    return not_thin(box);
}

static th_box level_box(const th_figure_data *data, int level) {
    th_box box = data->scene->levels[level].box;
    if (!(box.min_x <= box.max_x && box.min_y <= box.max_y)) return data->box;
    float margin = fmaxf(0.5f, 0.02f * fmaxf(box.max_x - box.min_x, box.max_y - box.min_y));
    box = (th_box){box.min_x - margin, box.min_y - margin, box.max_x + margin, box.max_y + margin};
    grow_by_people(&box, data, level);
    return not_thin(box);
}

th_result th_figure_data_make(th_figure_data *data, const th_report_def *def, th_error *error) {
    const th_scene_view *scene = def->scene;
    *data = (th_figure_data){.def = def, .scene = scene, .ensemble = def->ensemble};
    data->first = def->ensemble->first;
    data->use_samples = (double)def->ensemble->use_samples;
    data->found = th_find_densities(scene, def->ensemble);
    data->pressed = th_find_pressures(scene, def->ensemble);
    data->door_closed = calloc((size_t)scene->door_count + 1, sizeof *data->door_closed);
    if (!data->door_closed)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    for (int i = 0; i < scene->door_count; ++i) data->door_closed[i] = scene->doors[i].closed;
    data->box = figure_box(data);
    data->boxes = calloc((size_t)scene->level_count + 1, sizeof *data->boxes);
    if (!data->boxes)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    for (int level = 0; level < scene->level_count; ++level)
        data->boxes[level] = level_box(data, level);
    data->view = (th_plan_view){.scene = scene, .door_closed = data->door_closed, .box = data->box};
    return TH_OK;
}

void th_figure_data_release(th_figure_data *data) {
    free(data->door_closed);
    free(data->boxes);
    *data = (th_figure_data){0};
}

static cairo_status_t append_svg(void *context, const unsigned char *bytes, unsigned length) {
    th_text *text = context;
    th_text_append(text, (const char *)bytes, length);
    return text->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static th_result no_memory(const th_figure *figure, th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure %s; free some", figure->name);
}

static th_result write_png(const th_figure *figure, const th_figure_data *data, double height,
                           const char *path, th_error *error) {
    th_canvas canvas =
        th_canvas_create_zoomed(TH_FIGURE_WIDTH, height, TH_FIGURE_TEXT, TH_FIGURE_ZOOM);
    if (!canvas.surface) return no_memory(figure, error);
    figure->draw(&canvas, data);
    bool drawn = cairo_status(canvas.cairo) == CAIRO_STATUS_SUCCESS;
    th_result result = drawn ? th_canvas_write(&canvas, path, error) : no_memory(figure, error);
    th_canvas_destroy(&canvas);
    return result;
}

static th_result add_svg(const th_figure *figure, const th_figure_data *data, double height,
                         th_text *page, th_error *error) {
    th_text svg = {0};
    th_canvas canvas =
        th_canvas_create_svg(TH_FIGURE_WIDTH, height, TH_FIGURE_TEXT, append_svg, &svg);
    if (!canvas.surface) return no_memory(figure, error);
    figure->draw(&canvas, data);
    cairo_surface_finish(canvas.surface);
    bool good = cairo_surface_status(canvas.surface) == CAIRO_STATUS_SUCCESS &&
                cairo_status(canvas.cairo) == CAIRO_STATUS_SUCCESS;
    th_canvas_destroy(&canvas);
    good = good && !svg.failed && th_svg_inline(page, svg.bytes, figure->name, figure->title);
    th_text_release(&svg);
    return good ? TH_OK : no_memory(figure, error);
}

th_result th_figure_write(const th_figure *figure, const th_figure_data *data, const char *path,
                          th_text *page, th_error *error) {
    // Drawn once off screen to measure its height.
    th_canvas canvas = th_canvas_create_zoomed(TH_FIGURE_WIDTH, 1, TH_FIGURE_TEXT, 1);
    if (!canvas.surface) return no_memory(figure, error);
    double height = ceil(figure->draw(&canvas, data));
    th_canvas_destroy(&canvas);
    th_result result = add_svg(figure, data, height, page, error);
    return result == TH_OK ? write_png(figure, data, height, path, error) : result;
}

void th_figure_runs(const th_figure_data *data, bool first_only, char *words, size_t size) {
    int runs = data->ensemble->run_count;
    uint64_t seed = runs > 0 ? data->ensemble->runs[0].seed : 0;
    if (runs > 1 && !first_only)
        snprintf(words, size, "%d runs", runs);
    else
        snprintf(words, size, "%s, seed %" PRIu64, runs > 1 ? "first run" : "1 run", seed);
}

double th_figure_head(const th_canvas *canvas, const th_figure_data *data, const char *title,
                      const char *note) {
    double text = canvas->text, left = 0.8 * text;
    char line[300], fitted[300];
    const char *name = data->scene->name;
    snprintf(line, sizeof line, "%.120s%s%s", name ? name : "", name && *name ? ", " : "", note);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_text(canvas, left, 1.5 * text, 0, 1.2 * text, true, title);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_fit(canvas, text, canvas->width - 2 * left, line, fitted, sizeof fitted);
    th_canvas_text(canvas, left, 3.1 * text, 0, text, false, fitted);
    return 4.3 * text;
}

th_chart th_figure_chart(const th_canvas *canvas, double y, double height, th_axis x_axis,
                         th_axis y_axis) {
    th_chart chart = {.canvas = canvas, .top = y, .height = height, .x = x_axis, .y = y_axis};
    chart.left = 0.8 * canvas->text + th_chart_margin(canvas, &y_axis);
    chart.width = canvas->width - chart.left - 2 * canvas->text;
    th_chart_thin_ticks(&chart);
    return chart;
}

th_panel_page th_figure_panels(const th_canvas *canvas, const th_figure_data *data, double y,
                               double key) {
    double text = canvas->text, right = canvas->width - fmax(key, 1.2 * text);
    int levels = data->scene->level_count;
    if (levels > 1 && data->boxes) // two on an A4 page with its caption
        return th_panel_page_each(data->boxes, levels, text, 4.8 * text, y, right,
                                  0.5 * canvas->width);
    // An A4 page with its caption is 1.25 times as high as wide.
    return th_panel_page_fit(&data->box, data->scene->level_count, text, 4.8 * text, y, right,
                             1.25 * canvas->width);
}

double th_longest_run(const th_ensemble *ensemble) {
    double longest = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        longest = fmax(longest, (ensemble->runs[i].sample_count - 1) * ensemble->interval);
    return fmax(longest, ensemble->interval);
}

double th_crowd_end(const th_ensemble *ensemble) {
    double end = 0;
    for (int i = 0; i < ensemble->run_count; ++i) {
        const th_run_summary *run = &ensemble->runs[i];
        int k = run->sample_count - 1;
        while (k > 0 && run->left_curve[k - 1] == run->left_curve[k]) --k;
        end = fmax(end, fmax((k + 1) * ensemble->interval, run->done ? run->time : 0));
    }
    double longest = th_longest_run(ensemble);
    // Some more, to see that no person leaves; all of a run that is mostly crowd.
    return 1.1 * end < 0.75 * longest && end > ensemble->interval ? 1.1 * end : fmax(longest, end);
}

th_sample_summary th_ensemble_reach(const th_ensemble *ensemble, double share) {
    double *times = malloc(((size_t)ensemble->run_count + 1) * sizeof *times);
    if (!times) return th_summarise(NULL, 0);
    for (int i = 0; i < ensemble->run_count; ++i)
        times[i] = th_run_reach(&ensemble->runs[i], ensemble->interval, share);
    th_sample_summary summary = th_summarise(times, ensemble->run_count);
    free(times);
    return summary;
}

double th_counter_flow(const th_observation *observation, const uint32_t *count, int k) {
    int half = (int)lround(TH_FLOW_WINDOW / 2 / observation->interval);
    if (half < 1) half = 1;
    int from = k - half > 0 ? k - half : 0;
    int to = k + half < observation->sample_count ? k + half : observation->sample_count - 1;
    if (to <= from) return 0;
    return ((double)count[to] - (double)count[from]) / ((to - from) * observation->interval);
}

void th_figure_time(double seconds, double longest, char *words, size_t size) {
    if (longest > TH_AXIS_HOURS)
        snprintf(words, size, "%.2f h", seconds / 3600);
    else
        snprintf(words, size, "%.1f s", seconds);
}
