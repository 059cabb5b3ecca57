// The scenes of two papers as tables: those of Narain et al. 2009, with speed at the highest density and quality over
// the whole run, and those of the continuum planner (Treuille et al. 2006) with speed.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "draw/chart.h"
#include "report/report.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- unilateral incompressibility

typedef struct paper_scene {
    const char *file;
    double at;       // when it is timed: the crowd is at its densest [s]
    double bar;      // [ms] per step, 0: none
    double paper_ms; // per frame on an i7-965 in the paper's Table 1, 0: none
    double limit;    // quality: simulated time looked at [s]
} paper_scene;

static const paper_scene uic_scenes[] = {
    {"scenes/uic/circle_1500.json", 20, 0, 0, 600},
    {"scenes/uic/circle_10k.json", 90, 1.5, 34.2, 900},
    {"scenes/uic/crossing_40.json", 60, 0, 0, 600},
    {"scenes/uic/crossing_80.json", 60, 0, 0, 900},
    {"scenes/uic/crossing_120.json", 60, 1.0, 16.5, 900},
    {"scenes/uic/building.json", 20, 1.0, 16.1, 900},
    {"scenes/uic/doorway.json", 20, 0, 0, 900},
    {"scenes/uic/doorway_no_pressure.json", 20, 0, 0, 900},
    {"scenes/uic/doorway_no_pairs.json", 20, 0, 0, 900},
    {"scenes/uic/meeting.json", 20, 0, 0, 600},
    {"scenes/uic/mosque.json", 20, 4, 88.1, 3600},
    {"scenes/uic/trade_show.json", 20, 12, 806, 3600},
    {"scenes/uic/campsite_12k.json", 20, 0, 0, 600},
    {"scenes/uic/campsite.json", 20, 12, 447, 3600},
    {"scenes/uic/million.json", 10, 100, 3000, 3600},
};
enum { UIC_SCENES = sizeof uic_scenes / sizeof uic_scenes[0] };

static bool wanted(const th_bench_uic_def *s, const paper_scene *scene) {
    return !s->scene || strcmp(s->scene, scene->file) == 0;
}

static const char *short_name(const char *file) { return strrchr(file, '/') + 1; }

typedef struct told {
    bool shown;
    const char *name;
    bool (*stopped)(void);
} told;

static bool tell(double time, uint64_t inside, void *context) {
    const told *t = context;
    if (t->shown) fprintf(stderr, "\r\033[K%s: %.0f s, %" PRIu64 " inside", t->name, time, inside);
    return !t->stopped();
}

static void hush(const told *t) {
    if (t->shown) fputs("\r\033[K", stderr);
}

static void run_to(th_world *world, double at, const told *t) {
    while (th_world_time(world) < at - 1e-3) {
        th_world_step(world, 1);
        if (th_world_step_count(world) % 100 == 0 && !tell(th_world_time(world), 0, (void *)t))
            break;
    }
    hush(t);
}

// Figure 7 of the paper: time of the pressure solve, and the cells on which it works.
typedef struct pressure_cost {
    double steps, seconds;             // running sums
    double active_cells, jammed_cells; // now
} pressure_cost;

static pressure_cost cost_of(const th_world *world, int model) {
    enum { MOST = 32 };
    th_model_value values[MOST];
    int count = th_world_model_statistics(world, model, values, MOST);
    pressure_cost cost = {0};
    for (int k = 0; k < count && k < MOST; ++k) {
        const th_model_value *v = &values[k];
        if (strcmp(v->name, "steps") == 0) cost.steps = v->value;
        if (strcmp(v->name, "solve_seconds") == 0 || strcmp(v->name, "grid_seconds") == 0)
            cost.seconds += v->value;
        if (strcmp(v->name, "active_cells") == 0) cost.active_cells = v->value;
        if (strcmp(v->name, "jammed_cells") == 0) cost.jammed_cells = v->value;
    }
    return cost;
}

// Milliseconds of pressure per step between two looks.
static double pressure_ms(const pressure_cost *before, const pressure_cost *after) {
    double steps = after->steps - before->steps;
    return steps > 0 ? 1e3 * (after->seconds - before->seconds) / steps : 0;
}

static void speed_row(const paper_scene *scene, const th_bench_figures *f, double step,
                      const pressure_cost *now, double pressure, FILE *csv) {
    char bar[48] = "";
    if (scene->bar > 0)
        snprintf(bar, sizeof bar, "<= %g %s", scene->bar,
                 f->ms_per_step <= scene->bar ? "ok" : "MISSED");
    printf("%-24s %8d  %8.3f  %-14s %8.1f  %7.2f %7.2f %7.2f %7.2f %7.2f %7.0f %7.0f %7.3f  "
           "%016" PRIx64 "\n",
           short_name(scene->file), f->agents, f->ms_per_step, bar, 1e3 * step / f->ms_per_step,
           f->stage_ms[TH_STAGE_INDEX], f->stage_ms[TH_STAGE_PLAN], f->stage_ms[TH_STAGE_MOVE],
           f->stage_ms[TH_STAGE_CONTACT], f->stage_ms[TH_STAGE_MEASURE], now->active_cells,
           now->jammed_cells, pressure, f->hash);
    fflush(stdout);
    if (csv)
        fprintf(
            csv,
            "%s,%d,%.5g,%.4g,%.4g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.0f,%.0f,%.4g,%016" PRIx64 "\n",
            short_name(scene->file), f->agents, f->ms_per_step, scene->bar, scene->paper_ms,
            1e3 * step / f->ms_per_step, f->stage_ms[TH_STAGE_INDEX], f->stage_ms[TH_STAGE_PLAN],
            f->stage_ms[TH_STAGE_MOVE], f->stage_ms[TH_STAGE_CONTACT],
            f->stage_ms[TH_STAGE_MEASURE], now->active_cells, now->jammed_cells, pressure, f->hash);
}

static th_result speed_of(const th_bench_uic_def *s, const paper_scene *scene, FILE *csv,
                          th_error *error) {
    th_scene *loaded = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_load(scene->file, NULL, s->threads, 0, TH_BACKEND_CPU, &loaded, &world, error);
    if (result == TH_OK) {
        told t = {!s->quiet && isatty(STDERR_FILENO), short_name(scene->file), s->stopped};
        run_to(world, scene->at, &t);
        int model = th_scene_view_of(loaded)->groups[0].move.model;
        pressure_cost before = cost_of(world, model);
        th_bench_figures figures = th_bench_measure(world, TH_BACKEND_CPU);
        pressure_cost now = cost_of(world, model);
        speed_row(scene, &figures, th_world_step_length(world), &now, pressure_ms(&before, &now),
                  csv);
    }
    th_world_destroy(world);
    th_scene_destroy(loaded);
    return result;
}

static void quality_row(const paper_scene *scene, const th_quality *q, FILE *csv) {
    printf("%-24s %8" PRIu64 " %6.0f %7.2f %4" PRId64 " %5" PRIu64
           " %7.3f %7.3f %7.3f %7.1f %6.2f %6.2f %6.2f %7.1f %6.2f %7.0f  %016" PRIx64 "\n",
           short_name(scene->file), q->people, q->time, 100 * q->arrived, q->lost,
           q->wall_crossings, q->densest, q->nearest_mean, 100 * q->below_diameter,
           1e3 * q->deepest_overlap, q->tangential, q->lanes, q->goalward, q->outflow,
           q->outflow_variation, q->wall_seconds, q->hash);
    fflush(stdout);
    if (csv)
        fprintf(csv,
                "%s,%" PRIu64 ",%.5g,%.6g,%" PRId64 ",%" PRIu64
                ",%.5g,%.5g,%.5g,%.5g,%.4g,%.4g,%.4g,%.5g,%.4g,%.4g,%016" PRIx64 "\n",
                short_name(scene->file), q->people, q->time, q->arrived, q->lost, q->wall_crossings,
                q->densest, q->nearest_mean, q->below_diameter, q->deepest_overlap, q->tangential,
                q->lanes, q->goalward, q->outflow, q->outflow_variation, q->wall_seconds, q->hash);
}

static th_result quality_of(const th_bench_uic_def *s, const paper_scene *scene, FILE *csv,
                            th_error *error) {
    th_scene *loaded = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_load(scene->file, NULL, s->threads, 0, s->backend, &loaded, &world, error);
    if (result == TH_OK) {
        told t = {!s->quiet && isatty(STDERR_FILENO), short_name(scene->file), s->stopped};
        th_quality quality;
        bool complete = th_quality_run(world, scene->limit, tell, &t, &quality);
        hush(&t);
        if (complete) quality_row(scene, &quality, csv);
        if (!complete)
            result = th_fail(error, TH_NO_MEMORY, "",
                             "no memory to look at the crowd; close other programs");
    }
    th_world_destroy(world);
    th_scene_destroy(loaded);
    return result;
}

typedef th_result scene_fn(const th_bench_uic_def *s, const paper_scene *scene, FILE *csv,
                           th_error *error);

static th_result not_of_this_table(const char *scene, th_error *error) {
    char names[400] = "";
    for (int i = 0, used = 0; i < UIC_SCENES; ++i)
        used += snprintf(names + used, sizeof names - (size_t)used, " %.*s",
                         (int)strcspn(short_name(uic_scenes[i].file), "."),
                         short_name(uic_scenes[i].file));
    return th_fail(error, TH_BAD_ARGUMENT, "scene",
                   "%s: not one of the scenes of this table, which are scenes/uic/NAME.json with "
                   "NAME one of%s",
                   scene, names);
}

static th_result for_scenes(const th_bench_uic_def *s, scene_fn *each, const char *csv_head,
                            th_error *error) {
    FILE *csv = s->csv ? fopen(s->csv, "w") : NULL;
    if (s->csv && !csv)
        return th_file_fail(error, s->csv, "cannot be written; choose another --csv");
    if (csv) fputs(csv_head, csv);
    th_result result = TH_OK;
    int matched = 0;
    for (int i = 0; i < UIC_SCENES && result == TH_OK && !s->stopped(); ++i) {
        if (!wanted(s, &uic_scenes[i])) continue;
        matched++;
        result = each(s, &uic_scenes[i], csv, error);
    }
    if (matched == 0 && s->scene) result = not_of_this_table(s->scene, error);
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_file_fail(error, s->csv, "the table could not be written; free space");
    return result;
}

th_result th_bench_uic_speed(const th_bench_uic_def *def, th_error *error) {
    printf("scenes of Narain et al. 2009, in the thick of each, %d threads\n\n"
           "scene                      people   ms/step  bar            real time    index    plan "
           "   move "
           "contact measure  active  jammed pressure  hash\n"
           "                                                                                      "
           "                    cells   cells     [ms]\n",
           def->threads);
    return for_scenes(def, speed_of,
                      "scene,people,ms_per_step,bar_ms,paper_ms,real_time_factor,index_ms,plan_ms,"
                      "move_ms,contact_ms,measure_ms,active_cells,jammed_cells,pressure_ms,hash\n",
                      error);
}

th_result th_bench_uic_quality(const th_bench_uic_def *def, th_error *error) {
    printf("scenes of Narain et al. 2009, each to its end, looked at once a second, %d threads\n\n"
           "scene                      people   end [s] arrived lost walls densest nearest  below  "
           " deepest  "
           "vortex lanes  goal  outflow  unsteady wall [s]  hash\n"
           "                                            [%%]                [1]     [d_min]  "
           "d_min[%%] [mm]\n",
           def->threads);
    return for_scenes(def, quality_of,
                      "scene,people,time_s,arrived,lost,wall_crossings,densest,nearest_mean_d,"
                      "below_d,deepest_overlap_m,tangential,lanes,goalward,outflow_per_s,"
                      "outflow_variation,wall_s,hash\n",
                      error);
}

// ---- the continuum planner

typedef struct planned_scene {
    const char *name;
    double at;         // when it is timed: the crowds have met [s]; 0: at the start
    double bar;        // [ms] per step on two cores, 0: none
    double device_bar; // [ms] on an H200
    bool device_only;
} planned_scene;

static const planned_scene continuum_scenes[] = {
    {"four_corners_300", 20, 0, 0, false},  {"four_corners_600", 20, 0, 0, false},
    {"four_corners", 20, 0, 0, false},      {"four_corners_2400", 20, 0, 0, false},
    {"four_corners_4000", 0, 12, 0, false}, {"eight_goals_4000", 0, 0, 0, false},
    {"two_goals_10k", 0, 8, 0, false},      {"four_corners_100k", 0, 0, 2, false},
    {"four_corners_1m", 0, 0, 6, true},
};
enum { CONTINUUM_SCENES = sizeof continuum_scenes / sizeof continuum_scenes[0] };
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
    double ms[CONTINUUM_SCENES] = {0}, four = 0, eight = 0;
    th_result result = TH_OK;
    for (int i = 0; i < CONTINUUM_SCENES && result == TH_OK && !def->stopped(); ++i) {
        if (continuum_scenes[i].device_only && def->backend == TH_BACKEND_CPU) continue;
        result = time_scene(def, &continuum_scenes[i], csv, &ms[i], error);
        if (strcmp(continuum_scenes[i].name, "four_corners_4000") == 0) four = ms[i];
        if (strcmp(continuum_scenes[i].name, "eight_goals_4000") == 0) eight = ms[i];
    }
    if (four > 0 && eight > 0)
        printf("\neight potentials cost %.2f times four, bar <= %g %s\n", eight / four,
               MORE_POTENTIALS, eight <= MORE_POTENTIALS * four ? "ok" : "MISSED");
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_file_fail(error, def->csv, "the table could not be written; free space");
    return result;
}

// ---- figure 7 of Narain et al. 2009: work of uic's pressure over a run and against the cells on which it acts

enum { LOOKS_MOST = 2000 };

// One look, once a simulated second.
typedef struct look {
    double time;           // [s]
    double jammed, active; // cells with pressure, with people
    double visits;         // cells that the solver visited per step since the last look
} look;
typedef struct looks {
    look all[LOOKS_MOST];
    int count;
} looks;

static double value_of(const th_model_value *values, int count, const char *name) {
    for (int k = 0; k < count; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    return 0;
}

static void watch(th_world *world, int model, const th_bench_cells_def *def, looks *found) {
    enum { MOST = 32 };
    th_model_value values[MOST];
    double steps = 0, visits = 0;
    uint64_t every = (uint64_t)(1.0 / th_world_step_length(world) + 0.5);
    while (found->count < LOOKS_MOST && th_world_time(world) < def->limit &&
           !th_world_done(world) && !def->stopped()) {
        th_world_step(world, every > 0 ? (int)every : 1);
        int count = th_world_model_statistics(world, model, values, MOST);
        count = count < MOST ? count : MOST;
        double all_steps = value_of(values, count, "steps");
        double all_visits = value_of(values, count, "visits");
        found->all[found->count++] =
            (look){th_world_time(world), value_of(values, count, "jammed_cells"),
                   value_of(values, count, "active_cells"),
                   (all_visits - visits) / fmax(all_steps - steps, 1)};
        steps = all_steps;
        visits = all_visits;
    }
}

static bool write_csv(const looks *found, const char *file) {
    FILE *csv = fopen(file, "w");
    if (!csv) return false;
    fputs("time_s,cells_with_pressure,cells_with_people,visits_per_step\n", csv);
    for (int k = 0; k < found->count; ++k) {
        const look *l = &found->all[k];
        fprintf(csv, "%.2f,%.0f,%.0f,%.0f\n", l->time, l->jammed, l->active, l->visits);
    }
    return fclose(csv) == 0;
}

// Left: both over time. Right: one against the other.
static void draw_charts(const th_canvas *canvas, const looks *found, double text, double top) {
    double end = found->all[found->count - 1].time, jammed = 1, visits = 1;
    double x[LOOKS_MOST], y[2][LOOKS_MOST];
    for (int k = 0; k < found->count; ++k) {
        jammed = fmax(jammed, found->all[k].jammed);
        visits = fmax(visits, found->all[k].visits);
    }
    for (int k = 0; k < found->count; ++k) {
        x[k] = found->all[k].time;
        y[0][k] = found->all[k].visits;
        y[1][k] = found->all[k].jammed;
    }
    const char *const titles[2] = {"visits per step", "cells with pressure"};
    double height = 0.5 * (460 - top) - 3.2 * text;
    for (int part = 0; part < 2; ++part) {
        th_axis across = th_axis_time(0, end, 8, "time");
        th_axis up = th_axis_count(part ? jammed : visits, 5, titles[part]);
        double margin = th_chart_margin(canvas, &up);
        th_chart chart = {
            canvas, 12 + margin, top + part * (height + 3.2 * text), 400 - margin, height,
            across, up};
        th_chart_thin_ticks(&chart);
        th_chart_frame(&chart);
        th_chart_line(&chart, x, y[part], found->count, th_line_style_of(part));
    }
    th_axis across = th_axis_count(jammed, 6, titles[1]), up = th_axis_count(visits, 8, titles[0]);
    double margin = th_chart_margin(canvas, &up);
    th_chart chart = {canvas, 440 + margin, top, 800 - 464 - margin, 460 - top - 4 * text, across,
                      up};
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    for (int k = 0; k < found->count; ++k)
        th_chart_dot(&chart, y[1][k], y[0][k], th_line_style_of(0).colour);
}

static bool draw(const looks *found, const th_bench_cells_def *def) {
    const double text = 13;
    th_canvas canvas = th_canvas_create_zoomed(800, 460, text, 2);
    if (!canvas.surface) return false;
    char line[200];
    cairo_set_source_rgb(canvas.cairo, 0.1, 0.1, 0.1);
    th_canvas_text(&canvas, 12, 1.5 * text, 0, 1.2 * text, true, "Work of the pressure solver");
    snprintf(line, sizeof line, "%.150s, means of a second", def->scene);
    cairo_set_source_rgb(canvas.cairo, 0.35, 0.35, 0.35);
    th_canvas_text(&canvas, 12, 3.1 * text, 0, text, false, line);
    draw_charts(&canvas, found, text, 4.4 * text);
    bool written = th_canvas_write(&canvas, def->plot, NULL) == TH_OK;
    th_canvas_destroy(&canvas);
    return written;
}

th_result th_bench_cells(const th_bench_cells_def *def, th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    static looks found; // large
    found.count = 0;
    th_result result = th_bench_load(def->scene, NULL, 1, 0, TH_BACKEND_CPU, &scene, &world, error);
    if (result == TH_OK) watch(world, th_model_find(TH_STAGE_MOVE, "uic"), def, &found);
    th_world_destroy(world);
    th_scene_destroy(scene);
    if (result != TH_OK) return result;
    const char *failed = found.count == 0                           ? def->scene
                         : !draw(&found, def)                       ? def->plot
                         : def->csv && !write_csv(&found, def->csv) ? def->csv
                                                                    : NULL;
    if (!failed) return TH_OK;
    return th_file_fail(error, failed, "could not be written; free space or choose another name");
}
