// How smoothly people walk: the social force at 16 Hz behind DenseSense, alone at 16 Hz, alone at about
// 1000 Hz, as in the paper's figure of five people. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/plan_drawing.h"
#include "validate/bottleneck_scenes.h"
#include "validate/bottleneck_tracks.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COARSE (1 / TH_TRACKS_RATE) // [s]
#define FINE (COARSE / 63)          // [s] 1008 Hz: a whole number of them is a coarse step
#define LONGEST 300.0               // [s]
#define LONGEST_QUICK 4.0           // [s]
#define AT_16_HZ "{\"model\": \"social_force\", \"substep\": 0.0625}"
#define SUBSTEPS "\"social_force\""
#define AT_1000_HZ "{\"model\": \"social_force\", \"substep\": 0.001}"
#define SOFT "{\"model\": \"social_force\", \"preset\": \"menge_soft\"}"
#define SOFT_16_HZ "{\"model\": \"social_force\", \"preset\": \"menge_soft\", \"substep\": 0.0625}"
#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"

enum { ALONE_FINE = 2, ALONE_SUBSTEPS = 3, ALONE_SOFT = 9 };
enum { SEEDS = 2, PANELS = 3, SHOWN = 5, QUICK = 5 };
// "At 16 Hz" in the paper: forces are integrated with that step. throng cuts its step into sub-steps of 10 ms
// for this model unless told not to, so both readings are run. The first three are the paper's figure,
// the first QUICK are run when in a hurry.
static const struct variant {
    const char *name, *filter, *move;
    double step; // [s]
    // Without the filter, forces integrated finely enough not to explode; -1: it is without. SF at 16 Hz is run for
    // the figure, but a crowd at 226 m/s2 is no bar.
    int alone;
    bool reported; // not judged: Menge's constants need its limit on acceleration at such a step
} variants[] = {
    {"D-SF consistent, 16 Hz", FILTER("consistent"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"SF, 16 Hz", "\"none\"", AT_16_HZ, COARSE, -1, false},
    [ALONE_FINE] = {"SF, 1000 Hz", "\"none\"", AT_1000_HZ, FINE, -1, false},
    [ALONE_SUBSTEPS] = {"SF, 16 Hz, sub-steps of 10 ms", "\"none\"", SUBSTEPS, COARSE, -1, false},
    {"D-SF consistent, 16 Hz, sub-steps", FILTER("consistent"), SUBSTEPS, COARSE, ALONE_SUBSTEPS,
     false},
    {"D-SF laboratory, 16 Hz", FILTER("laboratory"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"D-SF menge, 16 Hz", FILTER("menge"), AT_16_HZ, COARSE, ALONE_SUBSTEPS, false},
    {"D-SF laboratory, 16 Hz, sub-steps", FILTER("laboratory"), SUBSTEPS, COARSE, ALONE_SUBSTEPS,
     false},
    {"D-SF menge, 16 Hz, sub-steps", FILTER("menge"), SUBSTEPS, COARSE, ALONE_SUBSTEPS, false},
    [ALONE_SOFT] = {"SF menge_soft, 16 Hz, sub-steps", "\"none\"", SOFT, COARSE, -1, false},
    {"D-SF menge_soft consistent, 16 Hz, sub-steps", FILTER("consistent"), SOFT, COARSE, ALONE_SOFT,
     false},
    {"SF menge_soft, 16 Hz", "\"none\"", SOFT_16_HZ, COARSE, -1, false},
    {"D-SF menge_soft consistent, 16 Hz", FILTER("consistent"), SOFT_16_HZ, COARSE, ALONE_SOFT,
     true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct smooth_run {
    th_tracks_found found;
    double overlaps, deepest;
    int people;
    th_run_tracks tracks; // of the first seed, for the figure
} smooth_run;

typedef struct smooth_plan {
    const th_experiment_settings *settings;
    int seeds, variants;
    smooth_run runs[VARIANTS * SEEDS]; // variant by variant
} smooth_plan;

static th_result run_one(void *context, int index, th_error *error) {
    smooth_plan *plan = context;
    const struct variant *v = &variants[index / plan->seeds];
    smooth_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(v->filter, v->move);
    th_scene_grandstand(scene, &choice);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         v->step, plan->settings->quick ? LONGEST_QUICK : LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = th_tracks_look(&run->tracks, scene->line, &run->found, error);
    run->overlaps = run->tracks.overlaps;
    run->deepest = run->tracks.deepest_overlap;
    run->people = run->tracks.people;
    if (index % plan->seeds > 0 || index / plan->seeds >= PANELS) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Mean over seeds; the deepest overlap of all.
static smooth_run mean_of(const smooth_plan *plan, int variant_index) {
    smooth_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const smooth_run *run = &plan->runs[variant_index * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.found.acceleration += share * run->found.acceleration;
        mean.found.acceleration_95 += share * run->found.acceleration_95;
        mean.found.jerk += share * run->found.jerk;
        mean.found.jerk_95 += share * run->found.jerk_95;
        mean.found.path += share * run->found.path;
        mean.found.speed += share * run->found.speed;
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.people += run->people;
        mean.found.through += run->found.through;
    }
    return mean;
}

static void table(const smooth_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "smoothness",
        "300 people out of a grandstand, looked at 16 times a second: second and third differences "
        "of places",
        "run|acceleration, mean [m/s2]|over speed [1/s]|95 % below|jerk, mean [m/s3]|95 % "
        "below|way over straight "
        "line|overlaps per 100 people|deepest [cm]|mean speed [m/s]|through [%]");
    for (int v = 0; v < plan->variants; ++v) {
        smooth_run mean = mean_of(plan, v);
        th_cell_text(table, variants[v].name);
        th_cell_number(table, mean.found.acceleration, 2);
        th_cell_number(table, mean.found.acceleration / mean.found.speed, 2);
        th_cell_number(table, mean.found.acceleration_95, 2);
        th_cell_number(table, mean.found.jerk, 1);
        th_cell_number(table, mean.found.jerk_95, 1);
        th_cell_number(table, mean.found.path, 2);
        th_cell_number(table, mean.overlaps, 2);
        th_cell_number(table, 100 * mean.deepest, 1);
        th_cell_number(table, mean.found.speed, 2);
        th_cell_number(table, 100.0 * mean.found.through / mean.people, 0);
    }
}

static th_verdict verdict(int variant_index, bool holds) {
    return variants[variant_index].reported ? TH_REPORTED : holds ? TH_PASS : TH_FAIL;
}

static void judge(const smooth_plan *plan, th_experiment_result *result) {
    smooth_run fine = mean_of(plan, ALONE_FINE);
    for (int v = 0; v < plan->variants; ++v) {
        if (variants[v].alone < 0) continue;
        smooth_run own = mean_of(plan, v), alone = mean_of(plan, variants[v].alone);
        // Per speed: who crawls is calm without being smooth.
        double rough = own.found.acceleration / own.found.speed,
               fine_rough = fine.found.acceleration / fine.found.speed,
               alone_rough = alone.found.acceleration / alone.found.speed;
        bool smoother = rough < fine_rough &&
                        own.found.jerk / own.found.speed < fine.found.jerk / fine.found.speed;
        th_experiment_judge(
            result, verdict(v, smoother), "D-SF at 16 Hz smoother than SF at 1000 Hz, per speed",
            "%s: %.2f /s and %.1f /s2 against %.2f and %.1f", variants[v].name, rough,
            own.found.jerk / own.found.speed, fine_rough, fine.found.jerk / fine.found.speed);
        // Without any overlap there is nothing to reduce.
        bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
        th_experiment_judge(
            result, verdict(v, fewer && rough < alone_rough),
            "fewer overlaps and lower acceleration per speed than SF that has not exploded",
            "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f /s", variants[v].name,
            own.overlaps, alone.overlaps, rough, alone_rough);
    }
}

// ---- the figure

// Five people on both sides, near and far: who sits nearest to these points.
static void choose(const th_run_tracks *tracks, int *shown) {
    static const th_vec2 seats[SHOWN] = {
        {-6.2f, 6.5f}, {-4.8f, -8.5f}, {-3.4f, 3}, {-2.0f, -5}, {-0.6f, 8}};
    for (int k = 0; k < SHOWN; ++k) {
        float nearest = INFINITY;
        for (int i = 0; i < tracks->people; ++i) {
            float distance = hypotf(tracks->x[i] - seats[k].x, tracks->y[i] - seats[k].y);
            if (distance < nearest) nearest = distance, shown[k] = i;
        }
    }
}

static void draw_track(const th_canvas *canvas, const th_panel *panel, const th_run_tracks *tracks,
                       int person) {
    cairo_set_line_width(canvas->cairo, 1.3);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int f = 0; f < tracks->frames; ++f) {
        size_t at = (size_t)f * (size_t)tracks->people + (size_t)person;
        if (isnan(tracks->x[at])) break;
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)tracks->x[at]),
                      th_panel_y(panel, (double)tracks->y[at]));
    }
    cairo_stroke(canvas->cairo);
}

static void draw_panels(const smooth_plan *plan, const th_canvas *canvas, const th_scene *scene,
                        const th_box *box) {
    const double scale = 23; // [px/m]
    int shown[SHOWN] = {0};
    choose(&plan->runs[0].tracks, shown);
    for (int v = 0; v < PANELS; ++v) {
        th_panel panel = {.box = *box, .scale = scale, .top = 2 * canvas->text};
        panel.width = scale * (double)(box->max_x - box->min_x);
        panel.height = scale * (double)(box->max_y - box->min_y);
        panel.left = 4.5 * canvas->text + v * (panel.width + 4.5 * canvas->text);
        th_draw_ground(canvas, &panel, scene, 0);
        th_draw_outline(canvas, &panel, scene, 0, 1);
        for (int k = 0; k < SHOWN; ++k) {
            th_canvas_colour(canvas, th_colour_group(k), 1);
            draw_track(canvas, &panel, &plan->runs[v * plan->seeds].tracks, shown[k]);
        }
        th_panel_axes(canvas, &panel);
        th_canvas_colour(canvas, (th_colour){0.1, 0.1, 0.1}, 1);
        th_canvas_text(canvas, panel.left, panel.top - 0.6 * canvas->text, 0, canvas->text, true,
                       variants[v].name);
    }
}

static bool draw_figure(const smooth_plan *plan, const char *path) {
    th_door_scene *place = malloc(sizeof *place);
    if (!place) return false;
    th_models_choice choice = th_door_choice("\"none\"", "\"orca\"");
    th_scene_grandstand(place, &choice);
    th_scene *scene = NULL;
    th_canvas canvas = {0};
    bool good = th_scene_load_json(place->text, strlen(place->text), "experiment", NULL, NULL,
                                   &scene, NULL) == TH_OK;
    if (good) {
        canvas = th_canvas_create_zoomed(1070, 530, 13, 2);
        good = canvas.surface != NULL;
    }
    if (good) {
        th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
        cairo_paint(canvas.cairo);
        draw_panels(plan, &canvas, scene, &place->shown);
        good = th_canvas_write(&canvas, path, NULL) == TH_OK;
        th_canvas_destroy(&canvas);
    }
    th_scene_destroy(scene);
    free(place);
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
    plan->variants = settings->quick ? QUICK : VARIANTS;
    int count = plan->variants * plan->seeds;
    th_result done = th_experiment_runs(settings, progress, progress_context, "ways", count,
                                        run_one, plan, &stopped, error);
    if (done == TH_OK && !stopped) done = finish(plan, result, error);
    for (int k = 0; k < count; ++k) th_tracks_release(&plan->runs[k].tracks);
    free(plan);
    return done;
}
