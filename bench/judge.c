// One run of a scene, judged. SPDX-License-Identifier: Apache-2.0
#include "bench/judge.h"
#include "bench/quality.h"
#include "core/clock.h"
#include "core/error.h"
#include "throng/scene_view.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDE = 96 }; // letters of one

typedef struct watch {
    const th_bench_judge_def *def;
    double begun;
    bool cut; // the real time was up
} watch;

static bool go_on(double time, uint64_t inside, void *context) {
    (void)time, (void)inside;
    watch *w = context;
    w->cut = w->def->wall > 0 && th_monotonic_seconds() - w->begun > w->def->wall;
    return !w->cut && !w->def->stopped();
}

// The scene again, every group with the models asked for. Scripted bodies are no groups and stay as they are.
static th_result load_with_models(const th_bench_judge_def *def, int groups, th_scene **scene,
                                  th_error *error) {
    size_t most = 2 * (size_t)groups;
    char(*texts)[OVERRIDE] = calloc(most, sizeof *texts);
    const char **items = calloc(most + (size_t)def->override_count, sizeof *items);
    th_scene_options options = {.overrides = items};
    for (int g = 0; texts && items && g < groups; ++g) {
        const char *const stages[] = {"move", "filter"}, *const models[] = {def->move, def->filter};
        for (int k = 0; k < 2; ++k) {
            if (!models[k]) continue;
            char *text = texts[options.override_count];
            snprintf(text, OVERRIDE, "groups.%d.%s=%.40s", g, stages[k], models[k]);
            items[options.override_count++] = text;
        }
    }
    // Behind them: a parameter of the new model may be given.
    for (int k = 0; items && k < def->override_count; ++k)
        items[options.override_count++] = def->overrides[k];
    th_result result = texts && items
                           ? th_scene_load_file(def->scene, &options, scene, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for the overrides");
    free(items);
    free(texts);
    return result;
}

static th_result load(const th_bench_judge_def *def, th_scene **scene, th_error *error) {
    th_result result = th_scene_load_file(def->scene, NULL, scene, error);
    if (result != TH_OK || (!def->move && !def->filter && def->override_count == 0)) return result;
    int groups = (*scene)->group_count;
    th_scene_destroy(*scene);
    *scene = NULL;
    return load_with_models(def, groups, scene, error);
}

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

// The models in force: that of all groups, or "mixed".
static const char *model_name(const th_scene *scene, bool filter) {
    int first = -1;
    for (int g = 0; g < scene->group_count; ++g) {
        int model = filter ? scene->groups[g].filter.model : scene->groups[g].move.model;
        if (first >= 0 && model != first) return "mixed";
        first = model;
    }
    return first >= 0 ? th_models(NULL)[first]->name : "none";
}

static th_result print(const th_bench_judge_def *def, const th_world *world, const th_quality *q,
                       bool cut, th_error *error) {
    const th_scene *scene = th_world_scene(world);
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)q->hash);
    json_t *row =
        json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:b,s:b,s:I,s:I,s:I,s:s}", "scene", def->scene,
                  "move", model_name(scene, false), "filter", model_name(scene, true), "seed",
                  (json_int_t)th_world_seed(world), "people", (json_int_t)q->people, "left_behind",
                  (json_int_t)q->left_behind, "who", q->who, "stuck", q->stuck, "cut", cut, "lost",
                  (json_int_t)q->lost, "wall_crossings", (json_int_t)q->wall_crossings, "repairs",
                  (json_int_t)q->repairs, "hash", hash);
    const struct {
        const char *name;
        double value;
    } reals[] = {
        {"time_s", q->time},
        {"last_left_s", q->last_left},
        {"acceleration", q->acceleration},
        {"reversals", q->reversals},
        {"fastest", q->fastest},
        {"above", q->above},
        {"overlap", q->overlap},
        {"overlap_m", q->deepest_overlap},
        {"below_d", q->below_diameter},
        {"goalward", q->goalward},
        {"wall_s", q->wall_seconds},
    };
    for (size_t k = 0; k < sizeof reals / sizeof *reals; ++k)
        json_object_set_new(row, reals[k].name, real(reals[k].value));
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(5)) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(row);
    return text ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory for the answer");
}

th_result th_bench_judge(const th_bench_judge_def *def, th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def world_def = th_world_def_default();
    world_def.threads = def->threads;
    world_def.seed = def->seed;
    th_result result = load(def, &scene, error);
    if (result == TH_NO_FILE)
        result = error->code = TH_BAD_SCENE; // the name was wrong, not the disk
    if (result == TH_OK) result = th_world_create(scene, &world_def, &world, error);
    if (result == TH_OK) {
        double end = scene->run.duration > 0 ? scene->run.duration : scene->run.max_time;
        watch w = {def, th_monotonic_seconds(), false};
        th_quality quality;
        if (th_quality_run(world, def->limit > 0 ? def->limit : end, go_on, &w, &quality))
            result = print(def, world, &quality, w.cut, error);
        else
            result = th_fail(error, TH_NO_MEMORY, "",
                             "no memory to look at the crowd; close other programs");
    }
    if (result != TH_OK && !error->file[0])
        snprintf(error->file, sizeof error->file, "%.255s", def->scene);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return result;
}
