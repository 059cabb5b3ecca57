// Figures on the plan: density, speed, pressure, loads, exposure. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- maps of density, congestion and speed

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
    if (page->boxes) return fmax(page->bottom - 1.2 * canvas->text, y);
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
    th_text_put(text, "\xc2\xa0m; blank: no person came near. Steps are Fruin's walkway levels of "
                      "service A to F, F divided at 4, 7, 8 and 10\xc2\xa0/m\xc2\xb2.");
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
    // One fast person in an otherwise empty cell must not compress the scale.
    double highest = fmin(fmax(th_map_largest(data, mean_speed), 0.5), 1.6);
    return th_figure_scale_map(canvas, data, "Mean speed", note, mean_speed,
                               (th_scale_range){highest, th_colour_scale}, "speed [m/s]",
                               (double)NAN, "");
}

void th_figure_speed_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text,
                "Mean speed of the people seen in a cell, at any time, without those told to stand "
                "or wait. Dark: they stood or crept; blank: no person walked there. Speeds "
                "above the end of the scale have its last "
                "colour.");
}

// ---- usage: how long people were in a cell, all together

static double usage(const th_figure_data *data, const th_map *map, int cell) {
    double area = (double)map->cell * (double)map->cell * (double)map->walkable[cell];
    double seconds = map->person_count[cell] * data->ensemble->interval / data->ensemble->map_runs;
    return seconds > 0 && area > 0 ? seconds / area : (double)NAN;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What 98 % of the cells that people used are below: a few people who wait in one place must not compress the scale.
static double usage_scale(const th_figure_data *data) {
    size_t count = 0, cells = 0;
    for (int m = 0; m < data->ensemble->map_count; ++m)
        cells += (size_t)data->ensemble->maps[m].nx * (size_t)data->ensemble->maps[m].ny;
    double *values = malloc((cells + 1) * sizeof *values);
    for (int m = 0; values && m < data->ensemble->map_count; ++m) {
        const th_map *map = &data->ensemble->maps[m];
        for (int i = 0; i < map->nx * map->ny; ++i) {
            double value = usage(data, map, i);
            if (value > 0) values[count++] = value;
        }
    }
    if (values) qsort(values, count, sizeof *values, ascending);
    double scale = count > 0 ? values[(size_t)(0.98 * (double)(count - 1))] : 1;
    free(values);
    return scale;
}

bool th_figure_usage_applies(const th_figure_data *data) { return th_maps_measured(data); }

double th_figure_usage_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "time that people spent in each cell, all together, %s", runs);
    return th_figure_scale_map(canvas, data, "Usage", note, usage,
                               (th_scale_range){usage_scale(data), th_colour_heat},
                               "seconds per m\xc2\xb2", (double)NAN, "");
}

void th_figure_usage_caption(th_text *text, const th_figure_data *data) {
    th_text_add(text,
                "Seconds that all people together spent on each square metre%s: the ground that is "
                "used, and for how long. The scale ends where 98\xc2\xa0%% of the used cells are "
                "below; values above it have its last colour.",
                data->ensemble->run_count > 1 ? " per run" : "");
}

// ---- maps of danger: pressure of the model, loads on bodies, Helbing's crowd pressure, time in a dense crowd

static void add_place(th_text *text, const th_figure_data *data, th_place place) {
    if (place.level < 0) return;
    th_text_add(text, " near (%.1f, %.1f)", place.x, place.y);
    if (data->scene->level_count < 2) return;
    th_text_put(text, " on level ");
    th_text_escaped(text, data->scene->levels[place.level].id);
}

// ---- the model's pressure

static double max_pressure(const th_figure_data *data, const th_map *map, int cell) {
    (void)data;
    bool pressed = map->pressure_max && map->pressure_max[cell] > 0.0f;
    return pressed ? (double)map->pressure_max[cell] : (double)NAN;
}

bool th_figure_pressure_applies(const th_figure_data *data) { return data->pressed.pressure > 0; }

double th_figure_pressure_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "highest ever in each cell, %s", runs);
    return th_figure_scale_map(canvas, data, "Highest pressure", note, max_pressure,
                               (th_scale_range){data->pressed.pressure, th_colour_heat},
                               "pressure [m\xc2\xb2/s]", (double)NAN, "");
}

void th_figure_pressure_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "Pressure of the model of unilateral incompressibility (Narain et al. 2009), "
                      "the highest each cell ever had; the highest of all is ");
    th_text_value(text, data->pressed.pressure);
    th_text_put(text, "\xc2\xa0m\xc2\xb2/s");
    add_place(text, data, data->pressed.pressure_at);
    th_text_put(
        text, ". Where it falls by 1\xc2\xa0m\xc2\xb2/s over a metre, packing changes the "
              "velocity people want by 1\xc2\xa0m/s. It is highest where many want to "
              "go the same way and cannot, and 0 (blank) wherever there is room. It is not a "
              "force in newtons (the next figure), and it is not crowd pressure (the one after).");
}

// ---- loads

static double max_load(const th_figure_data *data, const th_map *map, int cell) {
    (void)data;
    return map->load_max[cell] > 0.0f ? (double)map->load_max[cell] : (double)NAN;
}

static const double load_bounds[] = {100, 200, 400, 623, 1112, 2500, 6227};
enum { LOAD_CLASSES = sizeof load_bounds / sizeof *load_bounds + 1, LOAD_MARK = 4 };

bool th_figure_load_applies(const th_figure_data *data) {
    return data->ensemble->map_count > 0 && data->pressed.load > 0;
}

double th_figure_load_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_value_classes classes = {.title = "load [N]",
                                      .count = LOAD_CLASSES,
                                      .bounds = load_bounds,
                                      .mark = LOAD_MARK,
                                      .mark_name = "623: borne by men"};
    return th_figure_class_map(canvas, data, "Highest load on a body",
                               "what squeezes a person, highest ever in each cell", max_load,
                               &classes);
}

void th_figure_load_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "Half the sum of the contact forces on a person, which is what squeezes the "
                      "chest: the highest in each cell (blank: no contact). "
                      "The highest of all is ");
    th_text_value(text, data->pressed.load);
    th_text_put(text, "\xc2\xa0N, ");
    th_text_value(text, data->pressed.line);
    th_text_put(text, "\xc2\xa0N per metre of circumference,");
    add_place(text, data, data->pressed.load_at);
    th_text_put(
        text,
        ". Men pushed against a bar bore 623\xc2\xa0N (Evans and Hayden 1971); "
        "1112\xc2\xa0N is estimated to kill within 4 to 6 minutes, 6227\xc2\xa0N within "
        "15\xc2\xa0s (Hopkins and others 1993); Helbing, Farkas and Vicsek (2000) count "
        "people as injured above 1600\xc2\xa0N/m. It holds for a crowd that pushes as hard as "
        "it wants to walk; a patient one presses less. A crowd that stands still can "
        "press hard while its crowd pressure, the next figure, is nil.");
}

// ---- crowd pressure

static double mean_crowd_pressure(const th_figure_data *data, const th_map *map, int cell) {
    (void)data;
    double count = (double)map->crowd_pressure_count[cell];
    return count > 0 ? map->crowd_pressure_sum[cell] / count : (double)NAN;
}

// Steps of 2 and 2.5 to both sides of TH_TURBULENT, as far as simulated crowds reach.
static const double crowd_bounds[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};
enum { CROWD_CLASSES = sizeof crowd_bounds / sizeof *crowd_bounds + 1, CROWD_MARK = 3 };

bool th_figure_crowd_pressure_applies(const th_figure_data *data) {
    return isfinite(data->pressed.crowd_pressure);
}

double th_figure_crowd_pressure_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_value_classes classes = {.title = "crowd pr. [1/s\xc2\xb2]",
                                      .count = CROWD_CLASSES,
                                      .bounds = crowd_bounds,
                                      .mark = CROWD_MARK,
                                      .mark_name = "0.02: turbulence"};
    return th_figure_class_map(
        canvas, data, "Crowd pressure",
        "density \xc3\x97 variance of the local velocity over time, mean while people are there",
        mean_crowd_pressure, &classes);
}

static void add_turbulence(th_text *text, const th_figure_data *data) {
    if (!(data->pressed.turbulent_time > 0)) {
        th_text_put(text, "No cell was above the mark and above 7\xc2\xa0/m\xc2\xb2 at once.");
        return;
    }
    th_text_put(text,
                "Above the mark and above 7\xc2\xa0/m\xc2\xb2 at once, a cell was for up to ");
    th_text_seconds(text, data->pressed.turbulent_time);
    add_place(text, data, data->pressed.turbulent_at);
    th_text_put(text, data->ensemble->run_count > 1 ? " (mean over the runs)." : ".");
}

void th_figure_crowd_pressure_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text,
                "Helbing's crowd pressure: local density times the variance over half a minute of "
                "the local velocity, mean over the times at which at least five people are there "
                "(blank: never). The highest at any time is ");
    th_text_value(text, data->pressed.crowd_pressure);
    th_text_put(text, "\xc2\xa0/s\xc2\xb2");
    add_place(text, data, data->pressed.crowd_pressure_at);
    th_text_add(text,
                ". In a packed crowd Helbing, Johansson and Al-Abideen (2007) saw turbulence, "
                "people thrown about by the crowd, from about %g\xc2\xa0/s\xc2\xb2 (the mark). In "
                "a looser crowd people set off and stop together by choice: there the value is "
                "high and means little. ",
                TH_TURBULENT);
    add_turbulence(text, data);
}

// ---- exposure

bool th_figure_exposure_applies(const th_figure_data *data) {
    return data->first && th_find_exposure(data->first, 0).people > 0;
}

// Draws how many people were above for at least t seconds, t from 0 to the longest, in at most a few hundred steps.
static void draw_exposed(const th_chart *chart, const th_value_list *list, th_line_style style) {
    enum { PLACES = 400 };
    double x[2 * PLACES + 2], y[2 * PLACES + 2];
    int never = 0, used = 0;
    while (never < list->count && !(list->values[never] > 0)) ++never;
    int some = list->count - never, places = some < PLACES ? some : PLACES;
    if (some == 0) return;
    x[used] = 0;
    y[used++] = some;
    for (int i = 0; i < places; ++i) {
        int at = (int)((int64_t)(i + 1) * some / places) - 1;
        x[used] = list->values[never + at];
        y[used] = y[used - 1];
        ++used;
        x[used] = list->values[never + at];
        y[used++] = some - (at + 1);
    }
    th_chart_line(chart, x, y, used, style);
}

static void exposure_name(char *name, size_t size, const th_observation *first, int bound) {
    char longest[40];
    th_exposure_findings found = th_find_exposure(first, bound);
    th_figure_time(found.max, found.max, longest, sizeof longest);
    if (found.people > 0)
        snprintf(name, size, "above %g /m\xc2\xb2: %d %s, longest %s",
                 (double)th_exposure_bounds[bound], (int)found.people, th_people_word(found.people),
                 longest);
    else
        snprintf(name, size, "above %g /m\xc2\xb2: no people", (double)th_exposure_bounds[bound]);
}

double th_figure_exposure_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160], names[TH_EXPOSURES][100];
    th_value_list lists[TH_EXPOSURES];
    th_legend_entry entries[TH_EXPOSURES];
    for (int k = 0; k < TH_EXPOSURES; ++k) {
        lists[k] = th_exposure_values(data->first, k);
        exposure_name(names[k], sizeof names[k], data->first, k);
        entries[k] = (th_legend_entry){names[k], th_line_style_of(k), TH_LEGEND_LINE};
    }
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d people, %s", lists[0].count, runs);
    double text = canvas->text, y = th_figure_head(canvas, data, "Time in a dense crowd", note);
    y = th_legend(canvas, 0.8 * text, y + text, entries, TH_EXPOSURES);
    th_exposure_findings widest = th_find_exposure(data->first, 0);
    if (widest.people > 0) {
        th_chart chart =
            th_figure_chart(canvas, y + 0.5 * text, 240,
                            th_axis_time(0, 1.05 * widest.max, 9, "at least this long"),
                            th_axis_count(1.05 * (double)widest.people, 8, "people"));
        th_chart_frame(&chart);
        for (int k = 0; k < TH_EXPOSURES; ++k) draw_exposed(&chart, &lists[k], th_line_style_of(k));
        y = th_chart_bottom(&chart);
    }
    for (int k = 0; k < TH_EXPOSURES; ++k) free(lists[k].values);
    return y;
}

void th_figure_exposure_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text,
                "How many people were in a crowd denser than 4, 7 and 8\xc2\xa0/m\xc2\xb2 for at "
                "least so long, all their times there together. The density is that of the "
                "map cell they were in. ");
    uint64_t crushed = 0, most = 0;
    for (int r = 0; r < data->ensemble->run_count; ++r) {
        crushed += data->ensemble->runs[r].crushed;
        if (data->ensemble->runs[r].crushed > most) most = data->ensemble->runs[r].crushed;
    }
    th_text_add(
        text,
        "Longer than %g\xc2\xa0s above 7\xc2\xa0/m\xc2\xb2, where people cannot choose where "
        "they go: ",
        (double)TH_PACKED_TIME);
    if (data->ensemble->run_count > 1) {
        th_text_value(text, (double)crushed / data->ensemble->run_count);
        th_text_put(text, " people per run on average, at most ");
    }
    th_text_count(text, (double)most);
    th_text_put(text, most == 1 ? " person." : " people.");
}
