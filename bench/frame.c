// The frame of a game: a town of 60 by 60 m with 16 houses and 1000 people, half of them on the way to points of their own. A
// usual step, and the steps in which a door or a wall changes or the world is restored, on one thread in processor time. The
// planner looks at the crowd once a second, so that a second's longest step is compared with a usual second's longest.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/statistics.h"
#include "core/system/system.h"
#include "throng/live.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOUSES = 4, PEOPLE = 1000, WARM_UP = 40, USUAL = 100, ROUNDS = 10, FOLLOW = 25 };
static const double STEP = 0.05, REPLAN = 1.0; // [s]
static const double BAR = 1.5;                 // a step with a change against a usual one

typedef struct model_bar {
    const char *model;
    double ms; // of a step in which all walk to points of their own
} model_bar;
static const model_bar bars[] = {{"orca", 1.2}, {"people", 1.6}};

// Houses of 10 by 10 m, 5 m apart, gates across the middle street. A share of the people goes to the exits.
static th_result make_town(const char *model, int to_exits, th_scene **scene, th_error *error) {
    char houses[1024] = "", text[4096];
    for (int k = 0, at = 0; k < HOUSES * HOUSES; ++k) {
        double x = 2.5 + 15 * (k % HOUSES), y = 2.5 + 15 * (double)(k / HOUSES);
        at += snprintf(houses + at, sizeof houses - (size_t)at, "%s{\"rect\": [%g, %g, %g, %g]}",
                       k ? ", " : "", x, y, x + 10, y + 10);
    }
    snprintf(text, sizeof text,
             "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 60, 60]}, \"obstacles\": [%s]}],"
             "\"doors\": [{\"id\": \"gate\", \"line\": [[27.5, 20], [32.5, 20]]}],"
             "\"exits\": [{\"id\": \"east\", \"line\": [[60, 27.5], [60, 32.5]]},"
             "            {\"id\": \"west\", \"line\": [[0, 27.5], [0, 32.5]]}],"
             "\"groups\": ["
             " {\"count\": %d, \"area\": {\"rect\": [0, 0, 60, 60]}, \"move\": \"%s\","
             "  \"own_goal\": {\"in\": {\"rect\": [0, 0, 60, 60]}}},"
             " {\"count\": %d, \"area\": {\"rect\": [0, 0, 60, 60]}, \"move\": \"%s\","
             "  \"to\": [\"east\", \"west\"]}],"
             "\"run\": {\"step\": %g}}",
             houses, PEOPLE - to_exits, model, to_exits, model, STEP);
    th_scene_options options = th_scene_options_default();
    return th_scene_load_json(text, strlen(text), "town", NULL, &options, scene, error);
}

// ---- a change and what follows it

typedef enum { DOOR, WALL, BACK, CHANGES } change;
static const char *const change_names[CHANGES] = {"door", "wall", "restore"};

typedef struct timed {
    double usual;   // [ms] median of a step
    double longest; // [ms] median over the rounds of the longest step of a while without changes
    double with;    // [ms] median of a change and its step
    double after;   // [ms] as `longest`, of the steps that follow a change
} timed;

typedef struct town {
    th_world *world;
    void *kept; // a snapshot, after warming up
    size_t size;
} town;

// Door and wall change to and fro. A restored world goes back in time, so the other rounds begin with it, untimed.
static void apply(town *t, change what, int round) {
    static const th_vec2 from = {27.5f, 40}, to = {32.5f, 40};
    switch (what) {
    case DOOR: th_world_set_door(t->world, "gate", round % 2 != 0, NULL); break;
    case WALL:
        if (round % 2)
            th_world_remove_wall(t->world, 0, NULL);
        else
            th_world_add_wall(t->world, 0, from, to, NULL, NULL);
        break;
    default: th_world_restore(t->world, t->kept, t->size, NULL);
    }
}

static double median(double *values, int count) {
    th_sort_values(values, count);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static double step_ms(th_world *world) {
    double start = th_thread_cpu_seconds();
    th_world_step(world, 1);
    return 1e3 * (th_thread_cpu_seconds() - start);
}

// Measures the steps of a while into `ms`; returns the longest.
static double time_while(th_world *world, double ms[FOLLOW]) {
    double longest = 0;
    for (int k = 0; k < FOLLOW; ++k) {
        ms[k] = step_ms(world);
        if (ms[k] > longest) longest = ms[k];
    }
    return longest;
}

static timed time_change(town *t, change what) {
    double usual[ROUNDS * FOLLOW], follow[FOLLOW], longest[ROUNDS], with[ROUNDS], after[ROUNDS];
    for (int round = 0; round < ROUNDS; ++round) {
        // The crowd of the first moments, with the door or the wall as the round finds them.
        th_world_restore(t->world, t->kept, t->size, NULL);
        if (what != BACK && round % 2) apply(t, what, 0);
        th_world_step(t->world, FOLLOW);
        longest[round] = time_while(t->world, usual + (ptrdiff_t)round * FOLLOW);
        double start = th_thread_cpu_seconds();
        apply(t, what, round);
        th_world_step(t->world, 1);
        with[round] = 1e3 * (th_thread_cpu_seconds() - start);
        after[round] = time_while(t->world, follow);
    }
    return (timed){median(usual, ROUNDS * FOLLOW), median(longest, ROUNDS), median(with, ROUNDS),
                   median(after, ROUNDS)};
}

// ---- the table

static th_result open_town(const char *model, int to_exits, th_scene **scene, town *t,
                           th_error *error) {
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = 1;
    def.replan = REPLAN;
    *t = (town){0};
    th_result result = make_town(model, to_exits, scene, error);
    if (result == TH_OK) result = th_world_create(*scene, &def, &t->world, error);
    if (result != TH_OK) return result;
    th_world_step(t->world, WARM_UP);
    t->size = th_world_snapshot_size(t->world);
    t->kept = malloc(t->size);
    if (!t->kept) return th_fail(error, TH_NO_MEMORY, "", "no memory for a snapshot");
    return th_world_snapshot(t->world, t->kept, t->size, error);
}

static void close_town(th_scene *scene, town *t) {
    free(t->kept);
    th_world_destroy(t->world);
    th_scene_destroy(scene);
}

static void tell(FILE *csv, const char *model, const char *what, double ms, double ratio,
                 double after, double bar, uint64_t hash) {
    printf("%-8s %-8s %8.3f", model, what, ms);
    if (ratio > 0)
        printf("  %7.2f  %7.2f  %6.2f\n", ratio, after, bar);
    else
        printf("  %7s  %7s  %6.2f ms  %016" PRIx64 "\n", "", "", bar, hash);
    fflush(stdout);
    if (!csv) return;
    fprintf(csv, "%s,%s,%.4g,", model, what, ms);
    if (ratio > 0)
        fprintf(csv, "%.3g,%.3g,%g,\n", ratio, after, bar);
    else
        fprintf(csv, ",,%g,%016" PRIx64 "\n", bar, hash);
}

// All to points of their own: the budget of a frame.
static th_result time_frame(const model_bar *bar, FILE *csv, th_error *error) {
    th_scene *scene = NULL;
    town t;
    th_result result = open_town(bar->model, 0, &scene, &t, error);
    if (result == TH_OK) {
        double ms[USUAL];
        for (int k = 0; k < USUAL; ++k) ms[k] = step_ms(t.world);
        tell(csv, bar->model, "step", median(ms, USUAL), 0, 0, bar->ms, th_world_hash(t.world));
    }
    close_town(scene, &t);
    return result;
}

static th_result time_changes(const char *model, FILE *csv, th_error *error) {
    th_scene *scene = NULL;
    town t;
    th_result result = open_town(model, PEOPLE / 2, &scene, &t, error);
    for (change what = 0; what < CHANGES && result == TH_OK; ++what) {
        timed found = time_change(&t, what);
        tell(csv, model, change_names[what], found.with, found.with / found.usual,
             found.after / found.longest, BAR, 0);
    }
    close_town(scene, &t);
    return result;
}

th_result th_bench_frame(const char *path, th_error *error) {
    th_result result = TH_OK;
    FILE *csv = path ? fopen(path, "w") : NULL;
    if (path && !csv) return th_fail(error, TH_NO_FILE, "csv", "%s cannot be written", path);
    if (csv) fputs("model,step,processor_ms,ratio,ratio_after,bar,hash\n", csv);
    printf("%d people in a town of 60 x 60 m with %d houses, one thread, processor time\n"
           "model    step     ms/step    ratio    after     bar\n",
           PEOPLE, HOUSES * HOUSES);
    for (size_t m = 0; m < sizeof bars / sizeof *bars && result == TH_OK; ++m) {
        result = time_frame(&bars[m], csv, error);
        if (result == TH_OK) result = time_changes(bars[m].model, csv, error);
    }
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_fail(error, TH_NO_FILE, "csv", "%s could not be written", path);
    return result;
}
