// The mouth of a grandstand: 300 people leave their seats, meet in an aisle of 2 m and go through a tunnel,
// every model alone and behind DenseSense. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "validate/experiment_bottleneck.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 300.0 // [s]
#define LONGEST_QUICK 12.0
enum { MODELS_MOST = 32, SEEDS = 2, SHOWN_MOST = 8, SOCIAL_FORCE = 1 };

typedef struct stand_run {
    th_run_tracks tracks; // kept for the pictures
    th_tracks_found found;
    th_tracks_area mouth;
    double overlaps, deepest, densest;
    int people;
} stand_run;

typedef struct stand_plan {
    const th_experiment_settings *settings;
    const th_experiment_model *models[MODELS_MOST]; // of every family the one alone first
    int model_count, seeds;
    stand_run runs[MODELS_MOST * SEEDS]; // model by model
} stand_plan;

// In the pictures: alone, and behind the filter at its best.
static bool is_shown(const th_experiment_model *model) {
    return model->variant == 0 || model->variant == 3;
}

static th_result look(stand_run *run, const th_door_scene *scene, th_error *error) {
    const th_run_tracks *tracks = &run->tracks;
    th_result done = th_tracks_look(tracks, scene->line, &run->found, error);
    if (done != TH_OK) return done;
    double quarter = 0.25 * (run->found.last - run->found.first);
    run->mouth =
        th_tracks_in(tracks, scene->jam, run->found.first + quarter, run->found.last - quarter);
    run->densest = th_tracks_densest(tracks);
    run->overlaps = tracks->overlaps;
    run->deepest = tracks->deepest_overlap;
    run->people = tracks->people;
    return TH_OK;
}

static th_result run_one(void *context, int index, th_error *error) {
    stand_plan *plan = context;
    const th_experiment_model *model = plan->models[index / plan->seeds];
    stand_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(model->filter, model->move);
    th_scene_grandstand(scene, &choice);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         1 / TH_TRACKS_RATE, plan->settings->quick ? LONGEST_QUICK : LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = look(run, scene, error);
    if (!is_shown(model) || index % plan->seeds > 0) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Means over seeds; the deepest and densest of all.
static stand_run mean_of(const stand_plan *plan, int model) {
    stand_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const stand_run *run = &plan->runs[model * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.found.through += run->found.through;
        mean.found.flow += share * run->found.flow;
        mean.found.last += share * run->found.last;
        mean.mouth.density += share * run->mouth.density;
        mean.mouth.speed += share * run->mouth.speed;
        mean.densest = fmax(mean.densest, run->densest);
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.found.acceleration += share * run->found.acceleration;
        mean.found.speed += share * run->found.speed;
        mean.people += run->people;
    }
    return mean;
}

static void table(const stand_plan *plan, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "stadium",
        "300 people out of a grandstand through a mouth of 2 m; the mouth is the 4 m2 around it",
        "model|flow [1/s]|last through [s]|left behind [%]|density in the mouth [1/m2]|speed there "
        "[m/s]|highest "
        "around anybody [1/m2]|overlaps per 100 people|deepest [cm]|acceleration, mean "
        "[m/s2]|mean speed [m/s]");
    for (int m = 0; m < plan->model_count; ++m) {
        stand_run mean = mean_of(plan, m);
        th_cell_text(table, plan->models[m]->name);
        th_cell_number(table, mean.found.flow, 2);
        th_cell_number(table, mean.found.last, 0);
        th_cell_number(table, 100.0 * (mean.people - mean.found.through) / mean.people, 0);
        th_cell_number(table, mean.mouth.density, 1);
        th_cell_number(table, mean.mouth.speed, 2);
        th_cell_number(table, mean.densest, 1);
        th_cell_number(table, mean.overlaps, 2);
        th_cell_number(table, 100 * mean.deepest, 1);
        th_cell_number(table, mean.found.acceleration, 2);
        th_cell_number(table, mean.found.speed, 2);
    }
}

// Every model behind the filter against itself alone.
static void judge(const stand_plan *plan, th_experiment_result *result) {
    int alone_index = 0;
    for (int m = 0; m < plan->model_count; ++m) {
        if (plan->models[m]->variant == 0) {
            alone_index = m;
            continue;
        }
        stand_run own = mean_of(plan, m), alone = mean_of(plan, alone_index);
        bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
        bool calmer = own.found.acceleration < alone.found.acceleration;
        th_experiment_judge(result, fewer && calmer ? TH_PASS : TH_FAIL,
                            "fewer overlaps and lower mean acceleration with the filter at 16 Hz",
                            "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f m/s2",
                            plan->models[m]->name, own.overlaps, alone.overlaps,
                            own.found.acceleration, alone.found.acceleration);
    }
}

static th_result draw(const stand_plan *plan, th_experiment_result *result, th_error *error) {
    static const double times[] = {5, 20, 50}, quick_times[] = {2, 5, 10}; // [s]
    const th_run_tracks *tracks[SHOWN_MOST];
    const char *names[SHOWN_MOST];
    int columns = 0;
    for (int m = 0; m < plan->model_count && columns < SHOWN_MOST; ++m) {
        if (!is_shown(plan->models[m])) continue;
        names[columns] = plan->models[m]->name;
        tracks[columns++] = &plan->runs[m * plan->seeds].tracks;
    }
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_models_choice choice = th_door_choice(plan->models[0]->filter, plan->models[0]->move);
    th_scene_grandstand(scene, &choice);
    th_frames_def def = {scene, tracks, names, columns, plan->settings->quick ? quick_times : times,
                         3};
    char path[4096];
    snprintf(path, sizeof path, "%s/stadium.png", plan->settings->out);
    bool good = th_frames_draw(&def, path);
    free(scene);
    if (!good) return th_fail(error, TH_NO_FILE, "", "%s: the figure could not be written", path);
    th_experiment_add_figure(result, "stadium.png",
                             "The grandstand at three moments; dark people stand.");
    return TH_OK;
}

th_result th_experiment_stadium(const th_experiment_settings *settings,
                                th_experiment_progress *progress, void *progress_context,
                                th_experiment_result *result, th_error *error) {
    stand_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    plan->settings = settings;
    plan->seeds = settings->quick ? 1 : SEEDS;
    int all;
    const th_experiment_model *models = th_experiment_models(&all);
    for (int k = 0; k < all && plan->model_count < MODELS_MOST; ++k)
        if (!settings->quick || models[k].family == SOCIAL_FORCE)
            plan->models[plan->model_count++] = &models[k];
    bool stopped = false;
    int count = plan->model_count * plan->seeds;
    th_result done = th_experiment_runs(settings, progress, progress_context, "grandstands", count,
                                        run_one, plan, &stopped, error);
    if (done == TH_OK && !stopped) {
        table(plan, result);
        judge(plan, result);
        if (settings->out) done = draw(plan, result, error);
    }
    for (int k = 0; k < count; ++k) th_tracks_release(&plan->runs[k].tracks);
    free(plan);
    return done;
}
