// Work of uic's pressure over a run and against the cells on which it acts: figure 7 of Narain et al. 2009.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "draw/chart.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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
