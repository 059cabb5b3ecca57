// The scenes of the continuum planner as a table. SPDX-License-Identifier: Apache-2.0
#include "bench/continuum.h"
#include "bench/scenes.h"
#include "bench/timing.h"
#include "core/error.h"
#include "report/folder.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct planned_scene {
    const char *name;
    double at;         // when it is timed: the crowds have met [s]; 0: at the start
    double bar;        // [ms] per step on two cores, 0: none
    double device_bar; // [ms] on an H200
    bool device_only;
} planned_scene;

static const planned_scene scenes[] = {
    {"four_corners_300", 20, 0, 0, false},  {"four_corners_600", 20, 0, 0, false},
    {"four_corners", 20, 0, 0, false},      {"four_corners_2400", 20, 0, 0, false},
    {"four_corners_4000", 0, 12, 0, false}, {"eight_goals_4000", 0, 0, 0, false},
    {"two_goals_10k", 0, 8, 0, false},      {"four_corners_100k", 0, 0, 2, false},
    {"four_corners_1m", 0, 0, 6, true},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };
static const double MORE_POTENTIALS = 1.6; // eight cost at most this much more than four

static double statistic(const th_world *world, const char *name) {
    enum { MOST = 8 };
    th_model_value values[MOST];
    int model = th_model_find(TH_STAGE_PLAN, "continuum");
    int count = th_world_model_statistics(world, model, values, MOST);
    for (int k = 0; k < count && k < MOST; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    return 0;
}

// A snapshot brings what the planner counted from a device.
static void bring_home(th_world *world) {
    size_t size = th_world_snapshot_size(world);
    void *snapshot = malloc(size);
    if (snapshot) th_world_snapshot(world, snapshot, size, NULL);
    free(snapshot);
}

static void print_row(const planned_scene *scene, const th_world *world, const th_bench_figures *f,
                      double limit, FILE *csv) {
    char bar[48] = "";
    if (limit > 0)
        snprintf(bar, sizeof bar, "<= %g %s", limit, f->ms_per_step <= limit ? "ok" : "MISSED");
    double nodes = statistic(world, "nodes"), potentials = statistic(world, "potentials");
    double taken =
        nodes > 0 && potentials > 0 ? statistic(world, "nodes_taken") / (nodes * potentials) : 0;
    printf("%-18s %7d %7.0f %10.0f %6.2f %9.2f  %-14s %7.2f %7.2f %7.2f  %016" PRIx64 "\n",
           scene->name, f->agents, nodes, potentials, taken, f->ms_per_step, bar,
           f->stage_ms[TH_STAGE_PLAN], f->stage_ms[TH_STAGE_MOVE], f->stage_ms[TH_STAGE_CONTACT],
           f->hash);
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%d,%.0f,%.0f,%.3f,%.4g,%.4g,%.4g,%.4g,%.4g,%016" PRIx64 "\n", scene->name,
                f->agents, nodes, potentials, taken, f->ms_per_step, limit,
                f->stage_ms[TH_STAGE_PLAN], f->stage_ms[TH_STAGE_MOVE],
                f->stage_ms[TH_STAGE_CONTACT], f->hash);
}

static th_result time_scene(const th_bench_continuum_def *def, const planned_scene *scene,
                            FILE *csv, double *ms, th_error *error) {
    th_scene *loaded = NULL;
    th_world *world = NULL;
    char file[80];
    snprintf(file, sizeof file, "scenes/continuum/%s.json", scene->name);
    th_result result =
        th_bench_load(file, NULL, def->threads, 0, def->backend, &loaded, &world, error);
    if (result == TH_OK) {
        while (th_world_time(world) < scene->at - 1e-3 && !def->stopped()) th_world_step(world, 1);
        th_bench_figures figures = th_bench_measure(world, def->backend);
        bool device = def->backend != TH_BACKEND_CPU;
        if (device) bring_home(world);
        print_row(scene, world, &figures, device ? scene->device_bar : scene->bar, csv);
        *ms = figures.ms_per_step;
    }
    th_world_destroy(world);
    th_scene_destroy(loaded);
    return result;
}

th_result th_bench_continuum(const th_bench_continuum_def *def, th_error *error) {
    FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
    if (def->csv && !csv)
        return th_file_fail(error, def->csv, "cannot be written; choose another --csv");
    if (csv)
        fputs("scene,people,nodes,potentials,taken,ms_per_step,bar_ms,plan_ms,move_ms,contact_ms,"
              "hash\n",
              csv);
    printf("the continuum planner above ORCA, ");
    if (def->backend == TH_BACKEND_CPU)
        printf("%d threads\n", def->threads);
    else
        printf("on the device\n");
    printf(
        "\nscene               people   nodes potentials  taken   ms/step  bar               plan "
        "   move contact  hash\n");
    double ms[SCENES] = {0}, four = 0, eight = 0;
    th_result result = TH_OK;
    for (int i = 0; i < SCENES && result == TH_OK && !def->stopped(); ++i) {
        if (scenes[i].device_only && def->backend == TH_BACKEND_CPU) continue;
        result = time_scene(def, &scenes[i], csv, &ms[i], error);
        if (strcmp(scenes[i].name, "four_corners_4000") == 0) four = ms[i];
        if (strcmp(scenes[i].name, "eight_goals_4000") == 0) eight = ms[i];
    }
    if (four > 0 && eight > 0)
        printf("\neight potentials cost %.2f times four, bar <= %g %s\n", eight / four,
               MORE_POTENTIALS, eight <= MORE_POTENTIALS * four ? "ok" : "MISSED");
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_file_fail(error, def->csv, "the table could not be written; free space");
    return result;
}
