// Figures of maps: densities, congestion, speed. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double KEY = 160; // room for the key at the right [units]

static double mean_density(const th_figure_data *data, const th_map *map, int cell) {
    double sum = map->density_sum[cell] - map->density_late[cell];
    return sum > 0 ? sum / data->use_samples : (double)NAN;
}

static double max_density(const th_figure_data *data, const th_map *map, int cell) {
    (void)data;
    return map->density_max[cell] > 0 ? (double)map->density_max[cell] : (double)NAN;
}

static double dense_time(const th_figure_data *data, const th_map *map, int cell) {
    return map->dense_time[cell] > 0 ? map->dense_time[cell] / data->ensemble->map_runs
                                     : (double)NAN;
}

static double mean_speed(const th_figure_data *data, const th_map *map, int cell) {
    (void)data;
    return map->walker_count[cell] > 0 ? map->speed_sum[cell] / map->walker_count[cell]
                                       : (double)NAN;
}

double th_map_largest(const th_figure_data *data, th_cell_value *value) {
    double largest = 0;
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map *map = &data->ensemble->maps[m];
        for (int i = 0; i < map->nx * map->ny; ++i) largest = fmax(largest, value(data, map, i));
    }
    return largest;
}

static void draw_map(const th_canvas *canvas, const th_panel *panel, const th_figure_data *data,
                     int level, th_cell_value *value, th_value_colour *colour,
                     const void *context) {
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map *map = &data->ensemble->maps[m];
        int cells = map->nx * map->ny;
        if (map->level != level) continue;
        double *values = malloc(((size_t)cells + 1) * sizeof *values);
        if (!values) return; // the plan is still drawn
        for (int i = 0; i < cells; ++i)
            values[i] = map->walkable[i] > 0 ? value(data, map, i) : (double)NAN;
        th_raster raster = {map->min_x, map->min_y, map->cell, map->nx, map->ny, values};
        th_draw_raster(canvas, panel, &raster, colour, context);
        free(values);
    }
}

static th_panel_page draw_maps(const th_canvas *canvas, const th_figure_data *data, double y,
                               th_cell_value *value, th_value_colour *colour, const void *context) {
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
        cairo_clip(canvas->cairo);
        th_draw_ground(canvas, &panel, data->scene, level);
        cairo_save(canvas->cairo); // cells on the edge reach into walls and benches
        th_clip_to_ground(canvas, &panel, data->scene, level);
        draw_map(canvas, &panel, data, level, value, colour, context);
        cairo_restore(canvas->cairo);
        th_draw_outline(canvas, &panel, data->scene, level, 1.2);
        th_draw_exits(canvas, &panel, data->scene, level);
        cairo_restore(canvas->cairo);
        th_panel_axes(canvas, &panel);
    }
    return page;
}

static double key_x(const th_canvas *canvas) { return canvas->width - KEY + 1.2 * canvas->text; }

static double scale_bar_below(const th_canvas *canvas, const th_panel_page *page, double y) {
    th_canvas_scale_bar(canvas, key_x(canvas), y + 1.8 * canvas->text, 8 * canvas->text,
                        page->scale);
    return fmax(page->bottom - 1.2 * canvas->text, y + 3 * canvas->text);
}

bool th_maps_measured(const th_figure_data *data) {
    return data->ensemble->map_count > 0 && data->ensemble->map_runs > 0 && data->use_samples > 0 &&
           th_map_largest(data, mean_density) > 0;
}

double th_figure_class_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *what, th_cell_value *value,
                           const th_value_classes *classes) {
    char runs[80], note[240];
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "%s, %s", what, runs);
    double y = th_figure_head(canvas, data, title, note);
    th_panel_page page = draw_maps(canvas, data, y, value, th_class_colour, classes);
    y = th_class_key(canvas, key_x(canvas), page.top + 0.8 * canvas->text, classes);
    return scale_bar_below(canvas, &page, y);
}

static double draw_density(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *what, th_cell_value *value) {
    return th_figure_class_map(canvas, data, title, what, value, &th_density_classes);
}

static void add_cell_note(th_text *text, const th_figure_data *data) {
    th_text_put(text, " Cells of ");
    th_text_value(text, (double)data->ensemble->maps[0].cell);
    th_text_put(text, "\xc2\xa0m; blank: nobody came near. Steps are Fruin's walkway levels of "
                      "service A to F, F divided at 4, 6, 8 and 10\xc2\xa0/m\xc2\xb2.");
}

bool th_figure_density_mean_applies(const th_figure_data *data) { return th_maps_measured(data); }

double th_figure_density_mean_draw(const th_canvas *canvas, const th_figure_data *data) {
    char what[80];
    snprintf(what, sizeof what, "mean over the time %s", th_use_words(data->scene, data->ensemble));
    return draw_density(canvas, data, "Mean density", what, mean_density);
}

void th_figure_density_mean_caption(th_text *text, const th_figure_data *data) {
    th_text_add(text, "Density in each cell, averaged over the time %s%s; the highest is ",
                th_use_words(data->scene, data->ensemble),
                data->ensemble->run_count > 1 ? " and all runs" : "");
    th_text_value(text, th_map_largest(data, mean_density));
    th_text_put(text, "\xc2\xa0/m\xc2\xb2. Shows where people spend their time.");
    add_cell_note(text, data);
}

bool th_figure_density_max_applies(const th_figure_data *data) { return th_maps_measured(data); }

double th_figure_density_max_draw(const th_canvas *canvas, const th_figure_data *data) {
    return draw_density(canvas, data, "Highest density", "highest ever in each cell", max_density);
}

void th_figure_density_max_caption(th_text *text, const th_figure_data *data) {
    th_text_add(text, "The highest density each cell ever had%s; the highest of all is ",
                data->ensemble->run_count > 1 ? " in any run" : "");
    th_text_value(text, data->found.highest);
    th_text_put(text, "\xc2\xa0/m\xc2\xb2. Cells reach their maxima at different moments.");
    add_cell_note(text, data);
}

static th_colour scale_colour(double value, const void *context) {
    const th_scale_range *range = context;
    return range->scale(range->highest > 0 ? value / range->highest : 0);
}

double th_figure_scale_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *note, th_cell_value *value, th_scale_range range,
                           const char *quantity, double mark, const char *mark_name) {
    double y = th_figure_head(canvas, data, title, note), text = canvas->text, bar = 13 * text;
    th_panel_page page = draw_maps(canvas, data, y, value, scale_colour, &range);
    double x = key_x(canvas), top = page.top + 2.2 * text;
    th_canvas_colour_bar(canvas, x, top, 1.5 * text, bar, 0, range.highest, range.scale, quantity);
    if (mark > 0 && mark < range.highest) {
        double at = top + bar * (1 - mark / range.highest);
        cairo_set_source_rgb(canvas->cairo, 0, 0.35, 0.7);
        cairo_set_line_width(canvas->cairo, 2);
        cairo_move_to(canvas->cairo, x - 0.4 * text, at);
        cairo_line_to(canvas->cairo, x + 1.9 * text, at);
        cairo_stroke(canvas->cairo);
        cairo_move_to(canvas->cairo, x, top + bar + 1.4 * text);
        cairo_line_to(canvas->cairo, x + 1.5 * text, top + bar + 1.4 * text);
        cairo_stroke(canvas->cairo);
        cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
        th_canvas_text(canvas, x + 2 * text, top + bar + 1.8 * text, 0, 0.92 * text, false,
                       mark_name);
    }
    return scale_bar_below(canvas, &page, top + bar + 3.2 * text);
}

bool th_figure_congestion_applies(const th_figure_data *data) {
    return th_maps_measured(data) && th_map_largest(data, dense_time) > 0;
}

double th_figure_congestion_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    double use_time = data->found.use_time;
    th_scale_range range = {th_map_largest(data, dense_time), th_colour_heat};
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "longest %.0f s%s; %.0f s %s, %s", range.highest,
             data->ensemble->run_count > 1 ? " per run on average" : "", use_time,
             th_use_words(data->scene, data->ensemble), runs);
    return th_figure_scale_map(canvas, data, "Time above 4 people per m\xc2\xb2", note, dense_time,
                               range, "time [s]", TH_IMO_SHARE * use_time, "10 % of the time");
}

void th_figure_congestion_caption(th_text *text, const th_figure_data *data) {
    double share = data->found.dense_share;
    th_text_add(text, "How long each cell was denser than 4\xc2\xa0/m\xc2\xb2, %s. The longest is ",
                data->ensemble->run_count > 1 ? "mean over the runs" : "in seconds");
    th_text_seconds(text, data->found.dense_time);
    th_text_add(text, ". Of the %.0f\xc2\xa0s %s, a cell was so dense for up to %.0f\xc2\xa0%%. ",
                data->found.use_time, th_use_words(data->scene, data->ensemble), 100 * share);
    th_text_add(text, "%s",
                share > TH_IMO_SHARE
                    ? "<strong>That is more than the 10\xc2\xa0% above which IMO "
                      "MSC.1/Circ.1533 calls congestion significant.</strong>"
                    : "IMO MSC.1/Circ.1533 calls congestion significant above 10\xc2\xa0%.");
}

bool th_figure_speed_applies(const th_figure_data *data) {
    return th_maps_measured(data) && isfinite(th_map_largest(data, mean_speed));
}

double th_figure_speed_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "of people under way, %s", runs);
    // One fast person in an otherwise empty cell must not compress the scale for all others.
    double highest = fmin(fmax(th_map_largest(data, mean_speed), 0.5), 1.6);
    return th_figure_scale_map(canvas, data, "Mean speed", note, mean_speed,
                               (th_scale_range){highest, th_colour_scale}, "speed [m/s]",
                               (double)NAN, "");
}

void th_figure_speed_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text,
                "Mean speed of the people seen in a cell, at any time, without those told to stand "
                "or wait. Dark: they stood or crept; blank: nobody was under way there. Speeds "
                "above the end of the scale have its last "
                "colour.");
}
