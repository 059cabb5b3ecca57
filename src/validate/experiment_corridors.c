// Two experiments with people in corridors that have ends, repeated with every model: one way with the
// entrance and exit widths of the nine runs of uo180, and both ways. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "validate/corridors.h"
#include "validate/experiments.h"
#include "validate/fd_figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct corridor_study {
    const th_experiment_settings *settings;
    const th_experiment_model *models;
    int model_count, runs; // per model
    th_corridor_people people;
    th_corridor_window window;
    th_corridor_result *results; // of model m, run r: [m * runs + r]
} corridor_study;

static bool prepare(corridor_study *s, const th_experiment_settings *settings, int runs) {
    s->settings = settings;
    s->models = th_experiment_models(&s->model_count);
    s->runs = runs;
    s->results = calloc((size_t)s->model_count * (size_t)runs, sizeof *s->results);
    return s->results != NULL;
}

static th_corridor_people people_of(const corridor_study *s, int model) {
    th_corridor_people people = s->people;
    people.choice = th_experiment_choice(&s->models[model]);
    return people;
}

// ---- figure: a panel per move model, a dot per run

enum { PEOPLE_MOST = 16 };
typedef struct figure_data {
    double density[TH_FAMILIES][TH_VARIANTS][TH_UO180_RUNS],
        speed[TH_FAMILIES][TH_VARIANTS][TH_UO180_RUNS];
    double people_density[PEOPLE_MOST], people_speed[PEOPLE_MOST], people_spread[PEOPLE_MOST];
    th_fd_series series[TH_FAMILIES][TH_VARIANTS + 1];
    th_fd_panel panels[TH_FAMILIES];
} figure_data;

static void fill_people(const th_measured_set *set, figure_data *f) {
    int count = set->count < PEOPLE_MOST ? set->count : PEOPLE_MOST;
    for (int i = 0; i < count; ++i) {
        f->people_density[i] = set->points[i].density;
        f->people_speed[i] = set->points[i].speed;
        f->people_spread[i] = set->points[i].spread;
    }
    for (int family = 0; family < TH_FAMILIES; ++family) {
        f->series[family][0] = (th_fd_series){.name = set->title,
                                              .mark = TH_FD_DOTS,
                                              .colour = -1,
                                              .density = f->people_density,
                                              .speed = f->people_speed,
                                              .spread = f->people_spread,
                                              .count = count};
        f->panels[family].series = f->series[family];
        f->panels[family].series_count = TH_VARIANTS + 1;
    }
}

static void fill_models(const corridor_study *s, figure_data *f) {
    for (int m = 0; m < s->model_count; ++m) {
        int family = s->models[m].family, variant = s->models[m].variant;
        double *density = f->density[family][variant], *speed = f->speed[family][variant];
        for (int r = 0; r < s->runs; ++r) {
            density[r] = s->results[m * s->runs + r].mean.density;
            speed[r] = s->results[m * s->runs + r].mean.speed;
        }
        th_fd_series *series = &f->series[family][1 + variant];
        *series = th_fd_series_of_variant(variant, TH_FD_DOTS);
        series->density = density;
        series->speed = speed;
        series->count = s->runs;
        if (variant == 0) f->panels[family].title = s->models[m].name;
    }
}

static th_result draw(const corridor_study *s, const char *people, const char *title,
                      const char *file, const char *caption, th_experiment_result *result,
                      th_error *error) {
    if (!s->settings->out) return TH_OK;
    figure_data *f = calloc(1, sizeof *f);
    if (!f) return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure");
    fill_people(th_measured_find(people), f);
    fill_models(s, f);
    th_fd_figure figure = {.title = title,
                           .panels = f->panels,
                           .panel_count = TH_FAMILIES,
                           .columns = 2,
                           .weidmann = true};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", s->settings->out, file);
    th_result done = th_fd_figure_write(&figure, path, error);
    if (done == TH_OK) th_experiment_add_figure(result, file, caption);
    free(f);
    return done;
}

// ---- one way

// Quick: one run limited by its entrance, one by its exit, one by neither.
static const int QUICK_RUNS[] = {2, 5, 8};
enum { QUICK_COUNT = sizeof QUICK_RUNS / sizeof *QUICK_RUNS };

static const th_uo180_run *run_of(const corridor_study *s, int run) {
    return &th_uo180_runs[s->runs == TH_UO180_RUNS ? run : QUICK_RUNS[run]];
}

static th_result walk_one_way(void *context, int index, th_error *error) {
    corridor_study *s = context;
    th_corridor_people people = people_of(s, index / s->runs);
    char *scene = th_corridor_one_way(run_of(s, index % s->runs), &people);
    th_result done =
        th_corridor_run(scene, s->settings->seed, &s->window, &s->results[index], error);
    free(scene);
    return done;
}

static void one_way_table(const corridor_study *s, th_experiment_result *result) {
    char columns[512] = "model";
    for (int r = 0; r < s->runs; ++r) {
        char one[48];
        snprintf(one, sizeof one, "|%s", run_of(s, r)->name);
        strncat(columns, one, sizeof columns - strlen(columns) - 1);
    }
    strncat(columns, "|RMS density|RMS speed", sizeof columns - strlen(columns) - 1);
    th_experiment_table *table =
        th_experiment_add_table(result, "corridor",
                                "Density [1/m2] / speed [m/s] in x 0 .. 1.8, y -2 .. 0; columns: "
                                "entrance-corridor-exit [cm]; RMS: "
                                "root mean square of what it is off from people over the runs",
                                columns);
    char cell[48];
    th_cell_text(table, "people");
    for (int r = 0; r < s->runs; ++r) {
        snprintf(cell, sizeof cell, "%.2f / %.2f", run_of(s, r)->density, run_of(s, r)->speed);
        th_cell_text(table, cell);
    }
    th_cell_text(table, "");
    th_cell_text(table, "");
    for (int m = 0; m < s->model_count; ++m) {
        double density = 0.0, speed = 0.0;
        th_cell_text(table, s->models[m].name);
        for (int r = 0; r < s->runs; ++r) {
            const th_fundamental_mean *mean = &s->results[m * s->runs + r].mean;
            snprintf(cell, sizeof cell, "%.2f / %.2f", mean->density, mean->speed);
            th_cell_text(table, cell);
            density += pow(mean->density - run_of(s, r)->density, 2) / s->runs;
            speed += pow(mean->speed - run_of(s, r)->speed, 2) / s->runs;
        }
        th_cell_number(table, sqrt(density), 2);
        th_cell_number(table, sqrt(speed), 2);
    }
}

// What the paper asks of its figure 3 (a): with the filter speeds fall with density as people's do.
static void judge_one_way(const corridor_study *s, th_experiment_result *result) {
    int plain = 0;
    for (int m = 0; m < s->model_count; ++m) {
        if (s->models[m].variant == 0) plain = m;
        if (s->models[m].variant == 0) continue;
        double off[2] = {0.0, 0.0};
        for (int r = 0; r < s->runs; ++r)
            for (int k = 0; k < 2; ++k) {
                const th_fundamental_mean *mean = &s->results[(k ? m : plain) * s->runs + r].mean;
                off[k] += pow(mean->speed - run_of(s, r)->speed, 2) / s->runs;
            }
        char asked[160];
        snprintf(asked, sizeof asked, "%s nearer to people's speeds than %s", s->models[m].name,
                 s->models[plain].name);
        th_experiment_judge(result, off[1] < off[0] ? TH_PASS : TH_REPORTED, asked,
                            "%.2f against %.2f m/s RMS", sqrt(off[1]), sqrt(off[0]));
    }
}

th_result th_experiment_corridor(const th_experiment_settings *settings,
                                 th_experiment_progress *progress, void *progress_context,
                                 th_experiment_result *result, th_error *error) {
    corridor_study s = {0};
    if (!prepare(&s, settings, settings->quick ? QUICK_COUNT : TH_UO180_RUNS))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the corridors");
    s.people.inflow_time = settings->quick ? 50.0 : 100.0;
    // The first need 8 s to the box; a jam before the exit has then to grow back over it.
    s.window = (th_corridor_window){.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))",
                                    .direction = {0.0, -1.0},
                                    .from = settings->quick ? 30.0 : 40.0,
                                    .until = s.people.inflow_time};
    bool stopped = false;
    th_result done = th_experiment_runs(settings, progress, progress_context, "corridors",
                                        s.model_count * s.runs, walk_one_way, &s, &stopped, error);
    if (done == TH_OK && !stopped) {
        one_way_table(&s, result);
        judge_one_way(&s, result);
        done = draw(&s, "uo180_runs", "One way through a corridor of 1.8 m, a dot per run",
                    "corridor.png",
                    "density and speed in the corridor, every run of every model over people's",
                    result, error);
    }
    free(s.results);
    return done;
}

// ---- both ways

// People per second from each side; bi_corr_400_b_03 has 20 in 10 s over x = 0 each way.
static const double RATES[] = {2.0, 1.0, 3.0};
enum { RATE_COUNT = sizeof RATES / sizeof *RATES };
static const double PEOPLE_LANES = 0.83; // bi_corr_400_b_03, x -4 .. 4, by the code for models

static th_result walk_both_ways(void *context, int index, th_error *error) {
    corridor_study *s = context;
    th_corridor_people people = people_of(s, index / s->runs);
    char *scene = th_corridor_both_ways(RATES[index % s->runs], &people);
    th_result done =
        th_corridor_run(scene, s->settings->seed, &s->window, &s->results[index], error);
    free(scene);
    return done;
}

static void both_ways_row(th_experiment_table *table, const th_corridor_result *r) {
    th_cell_number(table, r->mean.density, 2);
    th_cell_number(table, r->mean.speed, 2);
    th_cell_number(table, r->mean.flow, 2);
    th_cell_number(table, r->lanes, 2);
    th_cell_number(table, (double)r->waiting, 0);
}

static void both_ways_table(const corridor_study *s, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "both_ways",
        "Both ways through a corridor of 4 m: density, speed and flow in x -1 .. 1, order of lanes "
        "(1: pure lanes) in x -4 .. 4",
        "model|people per second from each end|density [1/m2]|speed [m/s]|flow [1/(m s)]|lanes|"
        "found no room to come in");
    th_corridor_result people = {.mean = {th_bi400.density, th_bi400.speed, th_bi400.flow},
                                 .lanes = PEOPLE_LANES};
    th_cell_text(table, "people");
    th_cell_number(table, RATES[0], 0);
    both_ways_row(table, &people);
    for (int m = 0; m < s->model_count; ++m)
        for (int r = 0; r < s->runs; ++r) {
            th_cell_text(table, s->models[m].name);
            th_cell_number(table, RATES[r], 0);
            both_ways_row(table, &s->results[m * s->runs + r]);
        }
}

th_result th_experiment_both_ways(const th_experiment_settings *settings,
                                  th_experiment_progress *progress, void *progress_context,
                                  th_experiment_result *result, th_error *error) {
    corridor_study s = {0};
    if (!prepare(&s, settings, settings->quick ? 1 : RATE_COUNT))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the corridors");
    s.people.inflow_time = settings->quick ? 40.0 : 110.0;
    s.window = (th_corridor_window){.area = "POLYGON ((-1 0, 1 0, 1 4, -1 4, -1 0))",
                                    .lanes = "POLYGON ((-4 0, 4 0, 4 4, -4 4, -4 0))",
                                    .from = settings->quick ? 20.0 : 30.0,
                                    .until = s.people.inflow_time};
    bool stopped = false;
    th_result done =
        th_experiment_runs(settings, progress, progress_context, "corridors",
                           s.model_count * s.runs, walk_both_ways, &s, &stopped, error);
    if (done == TH_OK && !stopped) {
        both_ways_table(&s, result);
        done = draw(&s, "bi400", "Both ways through a corridor of 4 m, a dot per inflow",
                    "both_ways.png",
                    "density and speed in the corridor, every inflow of every model over people's",
                    result, error);
    }
    free(s.results);
    return done;
}
