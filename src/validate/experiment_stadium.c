// The mouth of a grandstand: 300 people leave their seats, meet in an aisle of 2 m and go through a tunnel,
// every model alone and behind DenseSense. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "validate/bottleneck_frames.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST 300.0 // [s]
#define LONGEST_QUICK 12.0
#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"
#define FAMILY(name, move, quick)                                              \
    {name, "\"none\"", move, true, quick},                                     \
        {"D-" name " menge", FILTER("menge"), move, false, quick},             \
        {"D-" name " consistent", FILTER("consistent"), move, false, quick}, { \
        "D-" name " laboratory", FILTER("laboratory"), move, true, quick       \
    }

static const struct stand_model {
    const char *name, *filter, *move;
    bool shown; // in the pictures
    bool quick; // also when in a hurry
} models[] = {FAMILY("SF", "\"social_force\"", true), FAMILY("ORCA", "\"orca\"", false),
              FAMILY("UIC", "\"uic\"", false), FAMILY("PBD", "\"pbd\"", false)};
enum { MODELS = sizeof models / sizeof *models, VARIANTS = 4, SEEDS = 2, SHOWN = 8 };

typedef struct stand_run {
    th_tracks tracks; // kept for the pictures
    th_tracks_flow flow;
    th_tracks_smoothness smooth;
    th_tracks_area mouth;
    double overlaps, deepest, densest;
    int people;
} stand_run;

typedef struct stand_plan {
    const th_experiment_settings *settings;
    int seeds, models;              // the first so many
    stand_run runs[MODELS * SEEDS]; // model by model
} stand_plan;

static th_result look(stand_run *run, const th_door_scene *scene, th_error *error) {
    const th_tracks *tracks = &run->tracks;
    run->flow = th_tracks_over(tracks, scene->line);
    double quarter = 0.25 * (run->flow.last - run->flow.first);
    run->mouth =
        th_tracks_in(tracks, scene->jam, run->flow.first + quarter, run->flow.last - quarter);
    run->densest = th_tracks_densest(tracks);
    run->overlaps = tracks->overlaps;
    run->deepest = tracks->deepest_overlap;
    run->people = tracks->people;
    return th_tracks_smooth(tracks, &run->smooth, error);
}

static th_result run_one(void *context, int index, th_error *error) {
    stand_plan *plan = context;
    const struct stand_model *model = &models[index / plan->seeds];
    stand_run *run = &plan->runs[index];
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_grandstand(scene, model->filter, model->move);
    th_tracks_def def = {scene->text, plan->settings->seed + (uint64_t)(index % plan->seeds),
                         1 / TH_TRACKS_RATE, plan->settings->quick ? LONGEST_QUICK : LONGEST};
    th_result done = th_tracks_run(&def, &run->tracks, error);
    if (done == TH_OK) done = look(run, scene, error);
    if (!model->shown || index % plan->seeds > 0) th_tracks_release(&run->tracks);
    free(scene);
    return done;
}

// Means over seeds; the deepest and densest of all.
static stand_run mean_of(const stand_plan *plan, int model) {
    stand_run mean = {0};
    for (int k = 0; k < plan->seeds; ++k) {
        const stand_run *run = &plan->runs[model * plan->seeds + k];
        double share = 1.0 / plan->seeds;
        mean.flow.through += run->flow.through;
        mean.flow.flow += share * run->flow.flow;
        mean.flow.last += share * run->flow.last;
        mean.mouth.density += share * run->mouth.density;
        mean.mouth.speed += share * run->mouth.speed;
        mean.densest = fmax(mean.densest, run->densest);
        mean.overlaps += share * run->overlaps;
        mean.deepest = fmax(mean.deepest, run->deepest);
        mean.smooth.acceleration += share * run->smooth.acceleration;
        mean.smooth.speed += share * run->smooth.speed;
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
    for (int m = 0; m < plan->models; ++m) {
        stand_run mean = mean_of(plan, m);
        th_cell_text(table, models[m].name);
        th_cell_number(table, mean.flow.flow, 2);
        th_cell_number(table, mean.flow.last, 0);
        th_cell_number(table, 100.0 * (mean.people - mean.flow.through) / mean.people, 0);
        th_cell_number(table, mean.mouth.density, 1);
        th_cell_number(table, mean.mouth.speed, 2);
        th_cell_number(table, mean.densest, 1);
        th_cell_number(table, mean.overlaps, 2);
        th_cell_number(table, 100 * mean.deepest, 1);
        th_cell_number(table, mean.smooth.acceleration, 2);
        th_cell_number(table, mean.smooth.speed, 2);
    }
}

// Every model behind the filter against itself alone.
static void judge(const stand_plan *plan, th_experiment_result *result) {
    for (int first = 0; first < plan->models; first += VARIANTS) {
        stand_run alone = mean_of(plan, first);
        for (int m = first + 1; m < first + VARIANTS; ++m) {
            stand_run own = mean_of(plan, m);
            bool fewer = own.overlaps < alone.overlaps || alone.overlaps <= 0;
            bool calmer = own.smooth.acceleration < alone.smooth.acceleration;
            th_experiment_judge(
                result, fewer && calmer ? TH_PASS : TH_FAIL,
                "fewer overlaps and lower mean acceleration with the filter at 16 Hz",
                "%s: %.2f against %.2f pairs per 100 people, %.2f against %.2f m/s2",
                models[m].name, own.overlaps, alone.overlaps, own.smooth.acceleration,
                alone.smooth.acceleration);
        }
    }
}

static th_result draw(const stand_plan *plan, th_experiment_result *result, th_error *error) {
    static const double times[] = {5, 20, 50}, quick_times[] = {2, 5, 10}; // [s]
    const th_tracks *tracks[SHOWN];
    const char *names[SHOWN];
    int columns = 0;
    for (int m = 0; m < plan->models && columns < SHOWN; ++m) {
        if (!models[m].shown) continue;
        names[columns] = models[m].name;
        tracks[columns++] = &plan->runs[m * plan->seeds].tracks;
    }
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_grandstand(scene, models[0].filter, models[0].move);
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
    while (plan->models < MODELS && (!settings->quick || models[plan->models].quick))
        ++plan->models;
    bool stopped = false;
    int count = plan->models * plan->seeds;
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
