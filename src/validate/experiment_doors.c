// Flow through doors: 60 people as in Seyfried 2009, every move model, alone and behind DenseSense; then two single
// experiments at a narrower and a wider door.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/chart.h"
#include "validate/diagram.h"
#include "validate/doors.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTHS = 5, PLACES = WIDTHS + 2 };

typedef struct door_model {
    th_experiment_model model;   // variant -1: only in the tables
    th_door_found found[PLACES]; // the widths of Seyfried 2009, then 0.5 m and 3.0 m
} door_model;

// ---- the figure: flow over width, one panel per move model, a last one from 0.5 to 3 m

static const th_colour SEYFRIED_COLOUR = {0.1, 0.1, 0.1}, KRETZ_COLOUR = {0.55, 0.55, 0.55};
enum { COLUMNS = 3, WIDEST = PLACES };

static double width_of(int place) {
    return place < WIDTHS    ? th_flow_seyfried[place].width
           : place == WIDTHS ? th_flow_adrian.width
                             : th_flow_hermes.width;
}

// In order of width: the door of 0.5 m first. Skips what was not run.
static void draw_model(const th_chart *chart, const door_model *model, bool all) {
    double x[WIDEST], y[WIDEST];
    int count = 0;
    for (int k = all ? -1 : 0; k < (all ? WIDTHS + 1 : WIDTHS); ++k) {
        int place = k < 0 ? WIDTHS : k == WIDTHS ? WIDTHS + 1 : k;
        if (isnan(model->found[place].flow)) continue;
        x[count] = width_of(place);
        y[count++] = model->found[place].flow;
    }
    th_chart_line(chart, x, y, count, th_line_style_of(model->model.variant));
}

static void draw_people(const th_chart *chart, bool all) {
    for (int k = 0; k < TH_FLOW_KRETZ; ++k)
        if (all || th_flow_kretz[k].width > 0.75)
            th_chart_dot(chart, th_flow_kretz[k].width, th_flow_kretz[k].flow, KRETZ_COLOUR);
    for (int k = 0; k < TH_FLOW_SEYFRIED; ++k)
        th_chart_dot(chart, th_flow_seyfried[k].width, th_flow_seyfried[k].flow, SEYFRIED_COLOUR);
    if (!all) return;
    th_chart_dot(chart, th_flow_adrian.width, th_flow_adrian.flow, SEYFRIED_COLOUR);
    th_chart_dot(chart, th_flow_hermes.width, th_flow_hermes.flow, SEYFRIED_COLOUR);
}

static th_chart make_chart(const th_canvas *canvas, int index, double top, bool all,
                           const char *title) {
    double text = canvas->text;
    th_axis x = all ? th_axis_make(0, 3.2, 6, "width of the door [m]")
                    : th_axis_make(0.7, 1.3, 6, "width of the door [m]");
    // Faster than 5 /s is off the chart: four times what people do.
    th_axis y = all ? th_axis_make(0, 13, 7, "flow [1/s]") : th_axis_make(0, 5, 6, "flow [1/s]");
    th_chart chart = {.canvas = canvas, .x = x, .y = y, .height = 190};
    double cell = (canvas->width - text) / COLUMNS;
    chart.left = 0.5 * text + index % COLUMNS * cell + th_chart_margin(canvas, &y);
    chart.width = cell - th_chart_margin(canvas, &y) - 1.2 * text;
    chart.top = top + 1.8 * text + index / COLUMNS * (chart.height + 5.5 * text);
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    th_canvas_colour(canvas, SEYFRIED_COLOUR, 1);
    th_canvas_text(canvas, chart.left, chart.top - 0.6 * text, 0, text, true, title);
    return chart;
}

static void draw_panels(const th_canvas *canvas, double top, const door_model *models, int count) {
    int panels = 0;
    for (int first = 0; first < count; ++first) {
        if (models[first].model.variant != 0) continue;
        th_chart chart = make_chart(canvas, panels++, top, false, models[first].model.name);
        for (int m = first; m < count && models[m].model.family == models[first].model.family; ++m)
            draw_model(&chart, &models[m], false);
        draw_people(&chart, false);
    }
    th_chart chart = make_chart(canvas, panels, top, true, "SF, 0.5 to 3 m");
    for (int m = 0; m < count; ++m)
        if (strcmp(models[m].model.move, "\"social_force\"") == 0)
            draw_model(&chart, &models[m], true);
    draw_people(&chart, true);
}

static double draw_legend(const th_canvas *canvas) {
    static const char *const names[] = {"alone", "behind densesense: menge", "consistent",
                                        "laboratory"}; // the variants of a model
    enum { VARIANTS = sizeof names / sizeof *names };
    th_legend_entry entries[VARIANTS + 2];
    for (int k = 0; k < VARIANTS; ++k)
        entries[k] = (th_legend_entry){names[k], th_line_style_of(k), TH_LEGEND_LINE};
    entries[VARIANTS] = (th_legend_entry){
        "people, Seyfried 2009 and Juelich archive", {SEYFRIED_COLOUR, 1, 0, 1}, TH_LEGEND_DOT};
    entries[VARIANTS + 1] =
        (th_legend_entry){"people, Kretz 2006", {KRETZ_COLOUR, 1, 0, 1}, TH_LEGEND_DOT};
    return th_legend(canvas, canvas->text, 1.6 * canvas->text, entries, VARIANTS + 2);
}

static bool draw_flows(const door_model *models, int count, const char *path) {
    th_canvas canvas = th_canvas_create_zoomed(900, 595, 13, 2);
    if (!canvas.surface) return false;
    th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(canvas.cairo);
    draw_panels(&canvas, draw_legend(&canvas), models, count);
    bool good = th_canvas_write(&canvas, path, NULL) == TH_OK;
    th_canvas_destroy(&canvas);
    return good;
}

// ---- the experiment

enum { SEEDS = 4, SEEDS_ELSEWHERE = 2, ADRIAN = WIDTHS, HERMES };
#define LONGEST 300.0 // [s] three times what the slowest measured run took
#define NEAR 0.2      // the bar: within 20 % of the measured flow

enum { HELBING_MOLNAR = TH_FAMILIES, SOCIAL_FORCE = 1 };
#define HM "\"helbing_molnar\""
#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"
#define PRESET(name, model, preset) \
    { name, "\"none\"", "{\"model\": \"" model "\", \"preset\": \"" preset "\"}", -1, -1 }

// Beyond the models of every experiment: one that cannot get through doors, and the moves' own presets.
static const th_experiment_model more_models[] = {
    {"HM", "\"none\"", HM, HELBING_MOLNAR, 0},
    {"D-HM menge", FILTER("menge"), HM, HELBING_MOLNAR, 1},
    {"D-HM consistent", FILTER("consistent"), HM, HELBING_MOLNAR, 2},
    {"D-HM laboratory", FILTER("laboratory"), HM, HELBING_MOLNAR, 3},
    PRESET("SF hfv2000", "social_force", "hfv2000"),
    PRESET("SF menge_soft", "social_force", "menge_soft"),
    PRESET("HM hm1995", "helbing_molnar", "hm1995"),
    PRESET("UIC narain2009", "uic", "narain2009"),
    PRESET("UIC packed", "uic", "packed"),
};
enum { MORE = sizeof more_models / sizeof *more_models };

typedef struct door_run {
    int model, place;
    uint64_t seed;
    th_door_found found;
} door_run;

typedef struct door_plan {
    door_model *models;
    int model_count;
    door_run *runs;
    int run_count;
} door_plan;

// ---- the runs

static void make_scene(th_door_scene *scene, const th_experiment_model *model, int place) {
    th_models_choice choice = th_door_choice(model->filter, model->move);
    if (place == ADRIAN)
        th_scene_adrian(scene, &choice);
    else if (place == HERMES)
        th_scene_hermes(scene, &choice);
    else
        th_scene_seyfried(scene, th_flow_seyfried[place].width, &choice);
}

static th_result run_one(void *context, int index, th_error *error) {
    door_plan *plan = context;
    door_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    make_scene(scene, &plan->models[run->model].model, run->place);
    th_result done = th_door_run(scene, run->seed, LONGEST, &run->found, error);
    free(scene);
    return done;
}

static int seeds_of(const th_experiment_settings *settings, int place) {
    if (settings->quick) return place < WIDTHS && place % 2 == 0 ? 1 : 0;
    return place < WIDTHS ? SEEDS : SEEDS_ELSEWHERE;
}

static bool wanted(const th_experiment_settings *settings, const th_experiment_model *model) {
    return !settings->quick || (model->family == SOCIAL_FORCE && model->variant != 1);
}

static void choose_models(const th_experiment_settings *settings, const th_experiment_model *models,
                          int count, door_plan *plan) {
    for (int k = 0; k < count; ++k)
        if (wanted(settings, &models[k])) plan->models[plan->model_count++].model = models[k];
}

// The longest first, so that no core is left with one of them at the end.
static bool plan_runs(const th_experiment_settings *settings, door_plan *plan) {
    int common;
    const th_experiment_model *models = th_experiment_models(&common);
    size_t most = (size_t)common + MORE;
    plan->models = calloc(most, sizeof *plan->models);
    plan->runs = calloc(most * PLACES * SEEDS, sizeof *plan->runs);
    if (!plan->models || !plan->runs) return false;
    choose_models(settings, models, common, plan);
    choose_models(settings, more_models, MORE, plan);
    for (int place = PLACES - 1; place >= 0; --place)
        for (int model = 0; model < plan->model_count; ++model)
            for (int k = 0; k < seeds_of(settings, place); ++k)
                plan->runs[plan->run_count++] =
                    (door_run){model, place, settings->seed + (uint64_t)k, {0}};
    return true;
}

static void add_up(door_plan *plan) {
    for (int k = 0; k < plan->run_count; ++k) {
        const door_run *run = &plan->runs[k];
        th_door_found *sum = &plan->models[run->model].found[run->place];
        sum->runs += 1;
        sum->people += run->found.people;
        sum->through += run->found.through;
        sum->flow += run->found.flow;
        sum->density += run->found.density;
        sum->overlaps += run->found.overlaps;
        sum->acceleration += run->found.acceleration;
    }
    for (int m = 0; m < plan->model_count; ++m)
        for (int place = 0; place < PLACES; ++place) {
            th_door_found *mean = &plan->models[m].found[place];
            double share = mean->runs > 0 ? 1.0 / mean->runs : (double)NAN;
            mean->flow *= share;
            mean->density *= share;
            mean->overlaps *= share;
            mean->acceleration *= share;
        }
}

// ---- against the measurements

// Mean of the measured runs at a width; between two widths on a straight line.
static double kretz_at(double width) {
    double below = 0, above = 10, flow_below = 0, flow_above = 0;
    int count_below = 0, count_above = 0;
    const double hair = 1e-9;
    for (int k = 0; k < TH_FLOW_KRETZ; ++k) {
        double w = th_flow_kretz[k].width;
        if (w <= width + hair) below = fmax(below, w);
        if (w >= width - hair) above = fmin(above, w);
    }
    for (int k = 0; k < TH_FLOW_KRETZ; ++k) {
        double w = th_flow_kretz[k].width;
        if (fabs(w - below) < hair) flow_below += th_flow_kretz[k].flow, ++count_below;
        if (fabs(w - above) < hair) flow_above += th_flow_kretz[k].flow, ++count_above;
    }
    flow_below /= count_below;
    flow_above /= count_above;
    double share = above > below + hair ? (width - below) / (above - below) : 0;
    return flow_below + share * (flow_above - flow_below);
}

static double measured_at(int place) {
    return place == ADRIAN   ? th_flow_adrian.flow
           : place == HERMES ? th_flow_hermes.flow
                             : th_flow_seyfried[place].flow;
}

static double deviation(const door_model *model, int place) {
    return model->found[place].flow / measured_at(place) - 1;
}

// The deviation farthest from 0 over the widths of Seyfried 2009 that were run.
static double worst(const door_model *model) {
    double most = 0;
    for (int place = 0; place < WIDTHS; ++place) {
        double own = deviation(model, place);
        if (!isnan(own) && fabs(own) > fabs(most)) most = own;
    }
    return most;
}

static int left_behind(const door_model *model, int first, int last) {
    int left = 0;
    for (int place = first; place <= last; ++place)
        left += model->found[place].people - model->found[place].through;
    return left;
}

static bool holds(const door_model *model) {
    return fabs(worst(model)) <= NEAR && left_behind(model, 0, WIDTHS - 1) == 0;
}

// ---- tables

static void cell_places(th_experiment_table *table, double (*value)(int), int from, int to) {
    for (int place = from; place <= to; ++place) th_cell_number(table, value(place), 2);
}

static double kretz_of(int place) { return kretz_at(th_flow_seyfried[place].width); }

static void table_flows(const door_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "flows", "Flow [1/s] through doors, (people - 1) / (last - first) over the middle",
        "model|0.8 m|0.9 m|1.0 m|1.1 m|1.2 m|farthest off [%]|left behind [%]|0.5 m|3.0 m");
    th_cell_text(table, "measured, Seyfried 2009");
    cell_places(table, measured_at, 0, WIDTHS - 1);
    th_cell_text(table, "");
    th_cell_text(table, "");
    cell_places(table, measured_at, ADRIAN, HERMES);
    th_cell_text(table, "measured, Kretz 2006");
    cell_places(table, kretz_of, 0, WIDTHS - 1);
    for (int k = 0; k < 4; ++k)
        if (k == 2)
            th_cell_number(table, kretz_at(th_flow_adrian.width), 2);
        else
            th_cell_text(table, "");
    for (int m = 0; m < plan->model_count; ++m) {
        const door_model *model = &plan->models[m];
        int people = 0;
        th_cell_text(table, model->model.name);
        for (int place = 0; place < WIDTHS; ++place) {
            th_cell_number(table, model->found[place].flow, 2);
            people += model->found[place].people;
        }
        th_cell_number(table, 100 * worst(model), 0);
        th_cell_number(table, 100.0 * left_behind(model, 0, WIDTHS - 1) / people, 0);
        th_cell_number(table, model->found[ADRIAN].flow, 2);
        th_cell_number(table, model->found[HERMES].flow, 2);
    }
}

static void table_jams(const door_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "jams",
        "Density [1/m2] 1 m before the door, in the middle half of the time; pairs overlapping by "
        "more than 1 cm "
        "and mean acceleration at 1.0 m",
        "model|0.8 m|0.9 m|1.0 m|1.1 m|1.2 m|0.5 m|3.0 m|left behind at 0.5 m [%]|"
        "overlaps per 100 people|acceleration [m/s2]");
    for (int m = 0; m < plan->model_count; ++m) {
        const door_model *model = &plan->models[m];
        th_cell_text(table, model->model.name);
        for (int place = 0; place < PLACES; ++place)
            th_cell_number(table, model->found[place].density, 1);
        th_cell_number(table,
                       100.0 * left_behind(model, ADRIAN, ADRIAN) / model->found[ADRIAN].people, 0);
        th_cell_number(table, model->found[2].overlaps, 1);
        th_cell_number(table, model->found[2].acceleration, 2);
    }
}

// Appends the name and deviations of a model that holds.
static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    if (length > 0 && length + 2 < size)
        length += (size_t)snprintf(text + length, size - length, ", ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

static void judge(const door_plan *plan, th_experiment_result *result) {
    char names[400] = "", beyond[400] = "";
    bool any_beyond = false;
    for (int m = 0; m < plan->model_count; ++m) {
        const door_model *model = &plan->models[m];
        if (!holds(model)) continue;
        append(names, sizeof names, "%s (%+.0f %%)", model->model.name, 100 * worst(model));
        any_beyond |= model->found[HERMES].runs > 0;
        append(beyond, sizeof beyond, "%s (%+.0f, %+.0f %%; %.0f %% left behind at 0.5 m)",
               model->model.name, 100 * deviation(model, ADRIAN), 100 * deviation(model, HERMES),
               100.0 * left_behind(model, ADRIAN, ADRIAN) / model->found[ADRIAN].people);
    }
    th_experiment_judge(result, names[0] ? TH_PASS : TH_FAIL,
                        "a shipped configuration within 20 % of Seyfried 2009 at every width, none "
                        "left behind",
                        "%s", names[0] ? names : "none");
    if (any_beyond)
        th_experiment_judge(result, TH_REPORTED, "the same at 0.5 m and 3.0 m, single experiments",
                            "%s", beyond);
}

static th_result draw(const door_plan *plan, const th_experiment_settings *settings,
                      th_experiment_result *result, th_error *error) {
    if (!settings->out) return TH_OK;
    char path[4096];
    snprintf(path, sizeof path, "%s/bottleneck.png", settings->out);
    if (!draw_flows(plan->models, plan->model_count, path))
        return th_fail(error, TH_NO_FILE, "", "%s: the figure could not be written", path);
    th_experiment_add_figure(result, "bottleneck.png",
                             "Flow against the width of the door: lines are models, dots people.");
    return TH_OK;
}

th_result th_experiment_bottleneck(const th_experiment_settings *settings,
                                   th_experiment_progress *progress, void *progress_context,
                                   th_experiment_result *result, th_error *error) {
    door_plan plan = {0};
    bool stopped = false;
    th_result done = plan_runs(settings, &plan)
                         ? th_experiment_runs(settings, progress, progress_context, "doors",
                                              plan.run_count, run_one, &plan, &stopped, error)
                         : th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    if (done == TH_OK && !stopped) {
        add_up(&plan);
        table_flows(&plan, result);
        table_jams(&plan, result);
        judge(&plan, result);
        done = draw(&plan, settings, result, error);
    }
    free(plan.models);
    free(plan.runs);
    return done;
}
