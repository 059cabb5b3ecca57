// Experiments in corridors, repeated with every model. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "formula/weidmann.h"
#include "validate/corridors.h"
#include "validate/diagram.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the fundamental diagram in a corridor without ends, 0.25 to 5 /m2
// Over Weidmann and over what was measured; smoothness of the motion at 16 Hz. Bars: Best et al. 2014 and
// docs/models/densesense.md.

// Weidmann is asked for at whole densities and 0.5, the measured classes at their middles.
typedef struct density_asked {
    double density;
    bool weidmann, uo180, quick;
} density_asked;
static const density_asked DENSITIES[] = {
    {0.25, false, true, true}, {0.5, true, false, true},   {0.75, false, true, true},
    {1.0, true, false, false}, {1.25, false, true, false}, {1.75, false, true, true},
    {2.0, true, false, true},  {2.25, false, true, false}, {2.75, false, true, false},
    {3.0, true, false, true},  {3.25, false, true, false}, {3.75, false, true, true},
    {4.0, true, false, false}, {5.0, true, false, false},
};
enum { DENSITY_COUNT = sizeof DENSITIES / sizeof *DENSITIES };
static const double WITHIN = 0.15;      // [m/s] RMS, the bar
static const double CLEARLY_NOT = 0.30; // [m/s] RMS: twice the bar
// The density at which smoothness is judged: people pass each other [1/m2].
static const double SMOOTHNESS_DENSITY = 2.0;
// Walls reach 5 m in Menge's code: a corridor of 4 m lies in them, of this one half does not [m].
static const double WIDE = 20.0;

enum { MENGE = 1, LABORATORY = 3 }; // variants of th_experiment_models
// Where and how: the corridor of 4 m for all models; for `menge`, whose walls are what keeps it from Weidmann,
// a wide one and other ways to count walls; both ways for the smoothness.
typedef enum place { NARROW, WIDE_PLACE, MEANT_WALLS, FREE_SPACE, NO_WALLS, BOTH_WAYS } place;
#define MENGE_WITH(more) "{\"model\": \"densesense\", \"preset\": \"menge\", " more "}"
static const struct {
    const char *name;   // behind that of the model
    const char *filter; // instead of the model's; NULL: its own
} PLACES[] = {
    [NARROW] = {"4 m wide", NULL},
    [WIDE_PLACE] = {"20 m wide", NULL},
    [MEANT_WALLS] = {"walls of 0.75 m", MENGE_WITH("\"sigma_obstacle\": 0.75")},
    [FREE_SPACE] = {"free space", MENGE_WITH("\"obstacle_mode\": 1")},
    [NO_WALLS] = {"no walls", MENGE_WITH("\"obstacle_mode\": 0")},
    [BOTH_WAYS] = {"both ways", NULL},
};
typedef struct walk {
    int model, density; // indices; density -1: SMOOTHNESS_DENSITY
    place place;
    th_periodic_result result;
} walk;

typedef struct study {
    const th_experiment_settings *settings;
    const th_experiment_model *models;
    int model_count;
    walk *walks;
    int count;
} study;

static th_result walk_one(void *context, int index, th_error *error) {
    study *s = context;
    walk *w = &s->walks[index];
    const th_experiment_model *model = &s->models[w->model];
    double density = w->density < 0 ? SMOOTHNESS_DENSITY : DENSITIES[w->density].density;
    th_periodic_def def = th_periodic_def_default(model->filter, model->move, density);
    bool quick = s->settings->quick;
    def.seed = s->settings->seed;
    if (quick || w->place != NARROW) def.length = 12.0;
    if (w->place == WIDE_PLACE) def.width = WIDE;
    if (PLACES[w->place].filter) def.filter = PLACES[w->place].filter;
    def.both_ways = w->place == BOTH_WAYS;
    // Bare: the contact stage would take the overlaps away before they are counted.
    if (def.both_ways && strcmp(model->move, "\"orca\"") == 0)
        def.move = "{\"model\": \"orca\", \"separation_passes\": 0}";
    // A sparse crowd needs longer to reach a steady state.
    def.warm_up = (quick ? 4.0 : 16.0) * fmin(4.0, fmax(1.0, 2.0 / density));
    def.measured = quick ? 3.0 : 12.0;
    if (def.both_ways) def.warm_up = 1.0;            // lanes form while it is measured
    if (w->place == WIDE_PLACE) def.measured *= 0.5; // five times as many people to average over
    return th_periodic_run(&def, &w->result, error);
}

// Plans the walks, the longest first, so that no core is left alone with one at the end.
static bool plan(study *s) {
    s->walks = calloc((size_t)s->model_count * (BOTH_WAYS * DENSITY_COUNT + 1), sizeof *s->walks);
    if (!s->walks) return false;
    for (int d = DENSITY_COUNT - 1; d >= 0; --d)
        for (int m = 0; m < s->model_count; ++m) {
            if (s->settings->quick && !DENSITIES[d].quick) continue;
            s->walks[s->count++] = (walk){.model = m, .density = d, .place = NARROW};
            bool walls = s->models[m].family < 2 && s->models[m].variant == MENGE;
            for (int where = WIDE_PLACE; walls && where < BOTH_WAYS; ++where)
                s->walks[s->count++] = (walk){.model = m, .density = d, .place = (place)where};
        }
    for (int m = 0; m < s->model_count; ++m)
        s->walks[s->count++] = (walk){.model = m, .density = -1, .place = BOTH_WAYS};
    return true;
}

static const th_periodic_result *find(const study *s, int model, int density, place where) {
    for (int k = 0; k < s->count; ++k)
        if (s->walks[k].model == model && s->walks[k].density == density &&
            s->walks[k].place == where)
            return &s->walks[k].result;
    return NULL;
}

static double measured_speed(double density) {
    const th_measured_set *set = th_measured_find("uo180");
    for (int i = 0; i < set->count; ++i)
        if (fabs(set->points[i].density - density) < 1e-9) return set->points[i].speed;
    return (double)NAN;
}

// Root mean square of the deviations [m/s]; NaN where the model was not run.
static double off_by(const study *s, int model, place where, bool uo180) {
    double squares = 0.0;
    int count = 0;
    for (int d = 0; d < DENSITY_COUNT; ++d) {
        const th_periodic_result *r = find(s, model, d, where);
        if (!r || !(uo180 ? DENSITIES[d].uo180 : DENSITIES[d].weidmann)) continue;
        double rho = DENSITIES[d].density;
        double off = r->speed - (uo180 ? measured_speed(rho) : th_weidmann_speed(rho));
        squares += off * off;
        ++count;
    }
    return count > 0 ? sqrt(squares / count) : (double)NAN;
}

static void speed_row(th_experiment_table *table, const study *s, int model, place where) {
    for (int d = 0; d < DENSITY_COUNT; ++d) {
        const th_periodic_result *r = find(s, model, d, where);
        th_cell_number(table, r ? r->speed : (double)NAN, 2);
    }
    th_cell_number(table, off_by(s, model, where, false), 3);
    th_cell_number(table, off_by(s, model, where, true), 3);
}

static void reference_row(th_experiment_table *table, const char *name, bool uo180) {
    th_cell_text(table, name);
    for (int d = 0; d < DENSITY_COUNT; ++d)
        th_cell_number(table,
                       uo180 ? measured_speed(DENSITIES[d].density)
                             : th_weidmann_speed(DENSITIES[d].density),
                       2);
    th_cell_text(table, "");
    th_cell_text(table, "");
}

static void speed_table(const study *s, th_experiment_result *result) {
    char columns[512] = "model";
    for (int d = 0; d < DENSITY_COUNT; ++d) {
        char one[32];
        snprintf(one, sizeof one, "|%g", DENSITIES[d].density);
        strncat(columns, one, sizeof columns - strlen(columns) - 1);
    }
    strncat(columns, "|RMS Weidmann|RMS uo180", sizeof columns - strlen(columns) - 1);
    th_experiment_table *table = th_experiment_add_table(
        result, "speeds",
        "Mean speed [m/s] at each density [1/m2], one way, corridor of 4 m without ends; RMS: root "
        "mean square of what it is off [m/s]",
        columns);
    reference_row(table, "Weidmann 1993", false);
    reference_row(table, "people, uo180", true);
    for (int m = 0; m < s->model_count; ++m) {
        for (int where = NARROW; where < BOTH_WAYS; ++where) {
            if (isnan(off_by(s, m, (place)where, false))) continue;
            char name[64];
            snprintf(name, sizeof name, where == NARROW ? "%s%.0s" : "%s, %s", s->models[m].name,
                     PLACES[where].name);
            th_cell_text(table, name);
            speed_row(table, s, m, (place)where);
        }
    }
}

static int density_index(double density) {
    for (int d = 0; d < DENSITY_COUNT; ++d)
        if (DENSITIES[d].density == density) return d;
    return -1;
}

static void motion_table(const study *s, th_experiment_result *result) {
    th_experiment_table *table = th_experiment_add_table(
        result, "motion",
        "At 2 /m2 and steps of 1/16 s: mean acceleration, and pairs that overlap by more than 1 "
        "cm; both "
        "ways ORCA without the contact stage",
        "model|one way: acceleration [m/s2]|overlaps per person|both ways: speed [m/s]|"
        "acceleration [m/s2]|overlaps per person");
    int two = density_index(SMOOTHNESS_DENSITY);
    for (int m = 0; m < s->model_count; ++m) {
        const th_periodic_result *one = find(s, m, two, NARROW), *both = find(s, m, -1, BOTH_WAYS);
        th_cell_text(table, s->models[m].name);
        th_cell_number(table, one ? one->acceleration : (double)NAN, 2);
        th_cell_number(table, one ? one->overlaps : (double)NAN, 4);
        th_cell_number(table, both ? both->speed : (double)NAN, 2);
        th_cell_number(table, both ? both->acceleration : (double)NAN, 2);
        th_cell_number(table, both ? both->overlaps : (double)NAN, 4);
    }
}

// ---- bars: asked of ORCA and social force with the two presets of the paper and its code; of the others
// reported

static th_verdict verdict_of(const th_experiment_model *model, bool holds) {
    bool asked = model->family < 2 && model->variant != LABORATORY;
    return holds ? TH_PASS : asked ? TH_FAIL : TH_REPORTED;
}

static void judge_rms(const study *s, int m, th_experiment_result *result) {
    const th_experiment_model *model = &s->models[m];
    char asked[160];
    double weidmann = off_by(s, m, NARROW, false);
    if (model->variant == 0) {
        snprintf(asked, sizeof asked, "%s alone does not follow Weidmann", model->name);
        th_experiment_judge(result, verdict_of(model, weidmann > CLEARLY_NOT), asked,
                            "%.3f m/s RMS", weidmann);
        return;
    }
    for (int where = NARROW; where <= WIDE_PLACE; ++where)
        for (int uo180 = 0; uo180 < 2; ++uo180) {
            double off = off_by(s, m, (place)where, uo180);
            if (isnan(off)) continue;
            snprintf(asked, sizeof asked, "%s within %g m/s RMS of %s, %s", model->name, WITHIN,
                     uo180 ? "the classes of uo180" : "Weidmann", PLACES[where].name);
            th_experiment_judge(result, verdict_of(model, off < WITHIN), asked, "%.3f m/s", off);
        }
}

static void judge_free_speed(const study *s, int m, th_experiment_result *result) {
    const th_periodic_result *thin = NULL;
    int d = 0;
    for (; d < DENSITY_COUNT && !thin; ++d) thin = find(s, m, d, NARROW);
    if (!thin) return;
    char asked[160];
    double density = DENSITIES[d - 1].density;
    snprintf(asked, sizeof asked, "%s: free speed unaffected (within 3 %% of 1.34 m/s at %g /m2)",
             s->models[m].name, density);
    th_experiment_judge(result,
                        verdict_of(&s->models[m], thin->speed > 0.97 * TH_WEIDMANN_FREE_SPEED),
                        asked, "%.2f m/s", thin->speed);
}

static void judge_motion(const study *s, int m, int plain, th_experiment_result *result) {
    const th_periodic_result *with = find(s, m, -1, BOTH_WAYS),
                             *without = find(s, plain, -1, BOTH_WAYS);
    if (!with || !without) return;
    char asked[160];
    snprintf(asked, sizeof asked, "%s: fewer overlaps and lower acceleration than %s, both ways",
             s->models[m].name, s->models[plain].name);
    // Without overlaps there is nothing to reduce.
    bool fewer =
        with->overlaps < without->overlaps || (with->overlaps == 0.0 && without->overlaps == 0.0);
    bool smoother = with->acceleration < without->acceleration;
    th_experiment_judge(result, verdict_of(&s->models[m], fewer && smoother), asked,
                        "%.2f against %.2f m/s2, %.4f against %.4f overlaps", with->acceleration,
                        without->acceleration, with->overlaps, without->overlaps);
}

static void judge(const study *s, th_experiment_result *result) {
    int plain = 0;
    for (int m = 0; m < s->model_count; ++m) {
        if (s->models[m].variant == 0) plain = m;
        judge_rms(s, m, result);
        if (s->models[m].variant == 0) continue;
        judge_free_speed(s, m, result);
        judge_motion(s, m, plain, result);
    }
}

// ---- figure: a panel per move model

typedef struct panel_data {
    double density[TH_VARIANTS][DENSITY_COUNT], speed[TH_VARIANTS][DENSITY_COUNT];
    th_fd_series series[2 + TH_VARIANTS];
} panel_data;

typedef struct measured_speeds {
    double density[2][160], speed[2][160], spread[2][160];
    int count[2];
} measured_speeds;

static void take_people(measured_speeds *p) {
    static const char *const names[2] = {"ug180", "uo180"};
    for (int k = 0; k < 2; ++k) {
        const th_measured_set *set = th_measured_find(names[k]);
        p->count[k] = set->count < 160 ? set->count : 160;
        for (int i = 0; i < p->count[k]; ++i) {
            p->density[k][i] = set->points[i].density;
            p->speed[k][i] = set->points[i].speed;
            p->spread[k][i] = set->points[i].spread;
        }
    }
}

static void fill_panel(const study *s, int family, const measured_speeds *measured,
                       panel_data *data, th_fd_panel *panel) {
    data->series[0] = (th_fd_series){th_measured_find("ug180")->title,
                                     TH_FD_CLOUD,
                                     -2,
                                     0,
                                     measured->density[0],
                                     measured->speed[0],
                                     NULL,
                                     measured->count[0]};
    data->series[1] = (th_fd_series){th_measured_find("uo180")->title,
                                     TH_FD_DOTS,
                                     -1,
                                     0,
                                     measured->density[1],
                                     measured->speed[1],
                                     measured->spread[1],
                                     measured->count[1]};
    for (int m = 0; m < s->model_count; ++m) {
        if (s->models[m].family != family) continue;
        int variant = s->models[m].variant, count = 0;
        for (int d = 0; d < DENSITY_COUNT; ++d) {
            const th_periodic_result *r = find(s, m, d, NARROW);
            if (!r) continue;
            data->density[variant][count] = DENSITIES[d].density;
            data->speed[variant][count++] = r->speed;
        }
        th_fd_series *series = &data->series[2 + variant];
        *series = th_fd_series_of_variant(variant, TH_FD_LINE);
        series->density = data->density[variant];
        series->speed = data->speed[variant];
        series->count = count;
        if (variant == 0) panel->title = s->models[m].name;
    }
    panel->series = data->series;
    panel->series_count = 2 + TH_VARIANTS;
}

static th_result draw_diagrams(const study *s, bool flow, const char *file, const char *caption,
                               th_experiment_result *result, th_error *error) {
    if (!s->settings->out) return TH_OK;
    panel_data *data = calloc(TH_FAMILIES, sizeof *data);
    measured_speeds *measured = calloc(1, sizeof *measured);
    th_fd_panel panels[TH_FAMILIES] = {
        {"", flow, NULL, 0}, {"", flow, NULL, 0}, {"", flow, NULL, 0}, {"", flow, NULL, 0}};
    th_result done = TH_OK;
    if (data && measured) {
        take_people(measured);
        for (int f = 0; f < TH_FAMILIES; ++f) fill_panel(s, f, measured, &data[f], &panels[f]);
        th_fd_figure figure = {
            .title = flow ? "Flow against density in a corridor without ends"
                          : "Speed against density in a corridor without ends",
            .panels = panels,
            .panel_count = TH_FAMILIES,
            .columns = 2,
            .weidmann = true,
            .most_density = 5.4,
            // Models alone hardly slow down: their high flow would compress the other curves.
            .most_flow = 2.0};
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", s->settings->out, file);
        done = th_fd_figure_write(&figure, path, error);
        if (done == TH_OK) th_experiment_add_figure(result, file, caption);
    } else {
        done = th_fail(error, TH_NO_MEMORY, "", "no memory for the figure");
    }
    free(data);
    free(measured);
    return done;
}

th_result th_experiment_fundamental(const th_experiment_settings *settings,
                                    th_experiment_progress *progress, void *progress_context,
                                    th_experiment_result *result, th_error *error) {
    study s = {.settings = settings};
    s.models = th_experiment_models(&s.model_count);
    if (!plan(&s)) return th_fail(error, TH_NO_MEMORY, "", "no memory for the corridors");
    bool stopped = false;
    th_result done = th_experiment_runs(settings, progress, progress_context, "corridors", s.count,
                                        walk_one, &s, &stopped, error);
    if (done == TH_OK && !stopped) {
        speed_table(&s, result);
        motion_table(&s, result);
        judge(&s, result);
        done = draw_diagrams(&s, false, "fundamental.png",
                             "speed against density of every model over people and Weidmann",
                             result, error);
        if (done == TH_OK)
            done = draw_diagrams(&s, true, "fundamental_flow.png",
                                 "flow against density of every model over people and Weidmann",
                                 result, error);
    }
    free(s.walks);
    return done;
}

// ---- corridors with ends: one way with the entrance and exit widths of the nine runs of uo180, and both ways

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
        th_corridor_run(scene, s->settings->seed, &s->window, 1, &s->results[index], error);
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

// The claim of the paper's figure 3 (a): with the filter speeds fall with density as people's do.
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
        th_corridor_run(scene, s->settings->seed, &s->window, 1, &s->results[index], error);
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
