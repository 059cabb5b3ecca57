// Figures of danger: the model's pressure, loads on bodies, Helbing's crowd pressure (three things, three maps), time in
// a dense crowd. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
                      "chest: the highest anybody bore in each cell (blank: nobody was touched). "
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
    return th_figure_class_map(canvas, data, "Crowd pressure",
                               "density \xc3\x97 variance of velocity, mean while people are there",
                               mean_crowd_pressure, &classes);
}

static void add_turbulence(th_text *text, const th_figure_data *data) {
    if (!(data->pressed.turbulent_time > 0)) {
        th_text_put(text, "No cell was above the mark and above 4\xc2\xa0/m\xc2\xb2 at once.");
        return;
    }
    th_text_put(text,
                "Above the mark and above 4\xc2\xa0/m\xc2\xb2 at once, a cell was for up to ");
    th_text_seconds(text, data->pressed.turbulent_time);
    add_place(text, data, data->pressed.turbulent_at);
    th_text_put(text, data->ensemble->run_count > 1 ? " (mean over the runs)." : ".");
}

void th_figure_crowd_pressure_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text,
                "Helbing's crowd pressure: local density times the variance of the velocities "
                "there, mean over the times at which at least five people are close enough to each "
                "other (blank: never). The highest at any time is ");
    th_text_value(text, data->pressed.crowd_pressure);
    th_text_put(text, "\xc2\xa0/s\xc2\xb2");
    add_place(text, data, data->pressed.crowd_pressure_at);
    th_text_add(text,
                ". In a packed crowd Helbing, Johansson and Al-Abideen (2007) saw turbulence, "
                "people thrown about by the crowd, from about %g\xc2\xa0/s\xc2\xb2 (the mark). In "
                "a loose crowd, and where streams cross, velocities differ by choice: there the "
                "value is high and means little. ",
                TH_TURBULENT);
    add_turbulence(text, data);
}

// ---- exposure

bool th_figure_exposure_applies(const th_figure_data *data) {
    return data->first && th_find_exposure(data->first, 0).people > 0;
}

// How many were above for at least t seconds, t from 0 to the longest; steps of at most a few hundred places.
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
        snprintf(name, size, "above %g /m\xc2\xb2: %d people, longest %s",
                 (double)th_exposure_bounds[bound], (int)found.people, longest);
    else
        snprintf(name, size, "above %g /m\xc2\xb2: nobody", (double)th_exposure_bounds[bound]);
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
                "How many people were in a crowd denser than 4, 6 and 8\xc2\xa0/m\xc2\xb2 for at "
                "least so long, all their times there together. The density is that of the "
                "map cell they were in. ");
    uint64_t crushed = 0, most = 0;
    for (int r = 0; r < data->ensemble->run_count; ++r) {
        crushed += data->ensemble->runs[r].crushed;
        if (data->ensemble->runs[r].crushed > most) most = data->ensemble->runs[r].crushed;
    }
    th_text_add(text,
                "Longer than %g\xc2\xa0s above 6\xc2\xa0/m\xc2\xb2, where people are pressed "
                "together: ",
                (double)TH_CRUSH_TIME);
    if (data->ensemble->run_count > 1) {
        th_text_value(text, (double)crushed / data->ensemble->run_count);
        th_text_put(text, " people per run on average, at most ");
    }
    th_text_count(text, (double)most);
    th_text_put(text, most == 1 ? " person." : " people.");
}
