// How smoothly people walk: the social force at 16 Hz behind DenseSense, alone at 16 Hz, alone at about
// 1000 Hz, as in the paper's figure of five people. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/chart.h"
#include "validate/bottleneck_scenes.h"
#include "validate/bottleneck_tracks.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COARSE (1 / TH_TRACKS_RATE) // [s]
#define FINE (COARSE / 63)          // [s] 1008 Hz: a whole number of them is a coarse step
#define WIDTH 1.2                   // [m] of the door
#define LONGEST 240.0               // [s]
#define AT_16_HZ "{\"model\": \"social_force\", \"substep\": 0.0625}"
#define SUBSTEPS "\"social_force\""
#define AT_1000_HZ "{\"model\": \"social_force\", \"substep\": 0.001}"
#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"

// "At 16 Hz" in the paper: forces are integrated with that step. throng cuts its step into sub-steps of 10 ms
// for this model unless told not to, so both readings are run.
typedef struct variant {
    const char *name, *filter, *move;
    double step; // [s]
    int panel;   // in the figure, -1: not drawn
    bool literal;
} variant;
static const variant variants[] = {
    {"D-SF laboratory, 16 Hz", FILTER("laboratory"), AT_16_HZ, COARSE, 0, true},
    {"SF, 16 Hz", "\"none\"", AT_16_HZ, COARSE, 1, true},
    {"SF, 1000 Hz", "\"none\"", AT_1000_HZ, FINE, 2, true},
    {"D-SF consistent, 16 Hz", FILTER("consistent"), AT_16_HZ, COARSE, -1, true},
    {"D-SF menge, 16 Hz", FILTER("menge"), AT_16_HZ, COARSE, -1, true},
    {"SF, 16 Hz, sub-steps of 10 ms", "\"none\"", SUBSTEPS, COARSE, -1, false},
    {"D-SF laboratory, 16 Hz, sub-steps of 10 ms", FILTER("laboratory"), SUBSTEPS, COARSE, -1,
     false},
    {"D-SF consistent, 16 Hz, sub-steps of 10 ms", FILTER("consistent"), SUBSTEPS, COARSE, -1,
     false},
    {"D-SF menge, 16 Hz, sub-steps of 10 ms", FILTER("menge"), SUBSTEPS, COARSE, -1, false},
};
enum { VARIANTS = sizeof variants / sizeof *variants, ALONE = 1, ALONE_FINE = 2, SEEDS = 3 };
enum { ALONE_SUBSTEPS = 5, PANELS = 3, SHOWN = 5 };

typedef struct smooth_run {
    th_tracks_smoothness smooth;
    double overlaps, deepest;
    int people, through;
    th_tracks tracks; // of the first seed, for the figure
} smooth_run;

typedef struct smooth_plan {
    const th_experiment_settings *settings;
    int seeds;
    smooth_run runs[VARIANTS * SEEDS]; // variant by variant
} smooth_plan;

static th_result run_one(void *context, int index, th_error *error) {
    smooth_plan *plan = context;
    const variant *v = &variants[index / plan->seeds];
    smooth_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_seyfried(scene, WIDTH, v->filter, v->move);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         v->step, LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = th_tracks_smooth(&run->tracks, &run->smooth, error);
    run->overlaps = run->tracks.overlaps;
    run->deepest = run->tracks.deepest_overlap;
    run->people = run->tracks.people;
    if (done == TH_OK) run->through = th_tracks_over(&run->tracks, scene->line).through;
    if (index % plan->seeds > 0 || v->panel < 0) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Mean over seeds; the deepest overlap of all.
static smooth_run mean_of(const smooth_plan *plan, int variant_index) {
    smooth_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const smooth_run *run = &plan->runs[variant_index * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.smooth.acceleration += share * run->smooth.acceleration;
        mean.smooth.acceleration_95 += share * run->smooth.acceleration_95;
        mean.smooth.jerk += share * run->smooth.jerk;
        mean.smooth.jerk_95 += share * run->smooth.jerk_95;
        mean.smooth.path += share * run->smooth.path;
        mean.smooth.speed += share * run->smooth.speed;
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.people += run->people;
        mean.through += run->through;
    }
    return mean;
}

static void table(const smooth_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "smoothness",
        "60 people through a door of 1.2 m, looked at 16 times a second: second and third "
        "differences of places",
        "run|acceleration, mean [m/s2]|95 % below|jerk, mean [m/s3]|95 % below|way over straight "
        "line|overlaps per 100 people|deepest [cm]|mean speed [m/s]|through [%]");
    for (int v = 0; v < VARIANTS; ++v) {
        smooth_run mean = mean_of(plan, v);
        th_cell_text(table, variants[v].name);
        th_cell_number(table, mean.smooth.acceleration, 2);
        th_cell_number(table, mean.smooth.acceleration_95, 2);
        th_cell_number(table, mean.smooth.jerk, 1);
        th_cell_number(table, mean.smooth.jerk_95, 1);
        th_cell_number(table, mean.smooth.path, 2);
        th_cell_number(table, mean.overlaps, 2);
        th_cell_number(table, 100 * mean.deepest, 1);
        th_cell_number(table, mean.smooth.speed, 2);
        th_cell_number(table, 100.0 * mean.through / mean.people, 0);
    }
}

static void judge(const smooth_plan *plan, th_experiment_result *result) {
    smooth_run fine = mean_of(plan, ALONE_FINE);
    for (int v = 0; v < VARIANTS; ++v) {
        if (variants[v].filter[0] != '{') continue; // a filter is an object, "none" a text
        smooth_run own = mean_of(plan, v);
        smooth_run alone = mean_of(plan, variants[v].literal ? ALONE : ALONE_SUBSTEPS);
        bool smoother = own.smooth.acceleration < fine.smooth.acceleration &&
                        own.smooth.jerk < fine.smooth.jerk;
        th_experiment_judge(
            result, smoother ? TH_PASS : TH_FAIL, "D-SF at 16 Hz smoother than SF at 1000 Hz",
            "%s: %.2f m/s2 and %.1f m/s3 against %.2f and %.1f", variants[v].name,
            own.smooth.acceleration, own.smooth.jerk, fine.smooth.acceleration, fine.smooth.jerk);
        // Where nobody overlaps without the filter there is nothing to be fewer than.
        bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
        bool calmer = own.smooth.acceleration < alone.smooth.acceleration;
        th_experiment_judge(result, fewer && calmer ? TH_PASS : TH_FAIL,
                            "fewer overlaps and lower mean acceleration with the filter at 16 Hz",
                            "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f m/s2",
                            variants[v].name, own.overlaps, alone.overlaps, own.smooth.acceleration,
                            alone.smooth.acceleration);
    }
}

// ---- the figure

// Five people of the back half, evenly over the room's width: the nearest to five points.
static void choose(const th_tracks *tracks, const th_box *box, int *shown) {
    for (int k = 0; k < SHOWN; ++k) {
        float x = box->min_x + 2.0f;
        float y = box->min_y + (box->max_y - box->min_y) * ((float)k + 0.5f) / (float)SHOWN;
        float nearest = INFINITY;
        for (int i = 0; i < tracks->people; ++i) {
            float distance = hypotf(tracks->x[i] - x, tracks->y[i] - y);
            if (distance < nearest) nearest = distance, shown[k] = i;
        }
    }
}

static void draw_track(const th_chart *chart, const th_tracks *tracks, int person, int colour) {
    cairo_t *cairo = chart->canvas->cairo;
    th_canvas_colour(chart->canvas, th_colour_group(colour), 1);
    cairo_set_line_width(cairo, 1.4);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (int f = 0; f < tracks->frames; ++f) {
        size_t at = (size_t)f * (size_t)tracks->people + (size_t)person;
        if (isnan(tracks->x[at])) break;
        cairo_line_to(cairo, th_chart_x(chart, (double)tracks->x[at]),
                      th_chart_y(chart, (double)tracks->y[at]));
    }
    cairo_stroke(cairo);
}

static void draw_walls(const th_chart *chart, const th_box *box) {
    const double length = 2.8; // [m] of the passage, as in the scene
    cairo_t *cairo = chart->canvas->cairo;
    for (int side = -1; side <= 1; side += 2) {
        double inner = th_chart_y(chart, 0.5 * side * WIDTH);
        double outer = th_chart_y(chart, side > 0 ? (double)box->max_y : (double)box->min_y);
        double left = th_chart_x(chart, 0);
        cairo_rectangle(cairo, left, fmin(inner, outer), th_chart_x(chart, length) - left,
                        fabs(inner - outer));
    }
    th_canvas_colour(chart->canvas, (th_colour){0.8, 0.8, 0.8}, 1);
    cairo_fill(cairo);
}

static bool draw_figure(const smooth_plan *plan, const char *path) {
    th_door_scene *scene = malloc(sizeof *scene);
    th_canvas canvas = th_canvas_create_zoomed(900, 790, 13, 2);
    if (!scene || !canvas.surface) {
        free(scene);
        th_canvas_destroy(&canvas);
        return false;
    }
    th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(canvas.cairo);
    th_scene_seyfried(scene, WIDTH, "\"none\"", "\"orca\"");
    th_box box = scene->shown;
    int shown[SHOWN] = {0};
    choose(&plan->runs[0].tracks, &box, shown);
    for (int v = 0; v < PANELS; ++v) {
        th_chart chart = {.canvas = &canvas};
        chart.x = th_axis_make((double)box.min_x, (double)box.max_x, 10, v == 2 ? "x [m]" : "");
        chart.y = th_axis_make((double)box.min_y, (double)box.max_y, 5, "y [m]");
        chart.left = th_chart_margin(&canvas, &chart.y) + canvas.text;
        chart.width = canvas.width - chart.left - 1.5 * canvas.text;
        chart.height = 200;
        chart.top = 2 * canvas.text + v * (chart.height + 3.8 * canvas.text);
        th_chart_settle(&chart);
        th_chart_frame(&chart);
        draw_walls(&chart, &box);
        th_canvas_colour(&canvas, (th_colour){0.1, 0.1, 0.1}, 1);
        th_canvas_text(&canvas, chart.left, chart.top - 0.6 * canvas.text, 0, canvas.text, true,
                       variants[v].name);
        for (int k = 0; k < SHOWN; ++k)
            draw_track(&chart, &plan->runs[v * plan->seeds].tracks, shown[k], k);
    }
    bool good = th_canvas_write(&canvas, path);
    th_canvas_destroy(&canvas);
    free(scene);
    return good;
}

static th_result finish(const smooth_plan *plan, th_experiment_result *result, th_error *error) {
    table(plan, result);
    judge(plan, result);
    if (!plan->settings->out) return TH_OK;
    char path[4096];
    snprintf(path, sizeof path, "%s/smoothness.png", plan->settings->out);
    if (!draw_figure(plan, path))
        return th_fail(error, TH_NO_FILE, "", "%s: the figure could not be written", path);
    th_experiment_add_figure(
        result, "smoothness.png",
        "The ways of the same five people: D-SF at 16 Hz, SF at 16 Hz, SF at 1000 Hz.");
    return TH_OK;
}

th_result th_experiment_smoothness(const th_experiment_settings *settings,
                                   th_experiment_progress *progress, void *progress_context,
                                   th_experiment_result *result, th_error *error) {
    smooth_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    plan->settings = settings;
    plan->seeds = settings->quick ? 1 : SEEDS;
    bool stopped = false;
    int count = VARIANTS * plan->seeds;
    th_result done = th_experiment_runs(settings, progress, progress_context, "ways", count,
                                        run_one, plan, &stopped, error);
    if (done == TH_OK && !stopped) done = finish(plan, result, error);
    for (int k = 0; k < count; ++k) th_tracks_release(&plan->runs[k].tracks);
    free(plan);
    return done;
}
