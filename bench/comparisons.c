// Comparisons: cost per person from 1000 people to 4 million, one thread to as many as there are cores; and ORCA built in
// against ORCA as a function of one agent.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/file.h"
#include "core/parallel.h"
#include "core/system/system.h"
#include "draw/chart.h"
#include "formula/random.h"
#include "move/orca/orca.h"
#include "report/report.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct point {
    int agents, threads;
    double ms_per_step, ns_per_agent;
    uint64_t hash;
} point;

static const int sizes[] = {1000, 4000, 16000, 64000, 256000, 1000000, 4000000};
enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    THREADS_MOST = 4,
    MODELS = 2,
    LINES = MODELS * THREADS_MOST
};
// Figure 8 of Narain et al. 2009 compares their model with one that looks at single people.
static const char *const compared[MODELS] = {"uic", "orca"};

// A line of the plot: one model with one number of threads.
typedef struct scaling_line {
    const char *model;
    int threads;
    point points[SIZES];
} scaling_line;
typedef struct scaling {
    scaling_line lines[LINES];
    int line_count, size_count;
} scaling;

// On one thread in processor time, which other programs on the machine hardly change.
static double ms_per_step(th_world *world, const th_bench_figures *figures, int threads) {
    if (threads > 1) return figures->ms_per_step;
    double start = th_thread_cpu_seconds();
    th_world_step(world, TH_BENCH_MEASURED);
    return 1e3 * (th_thread_cpu_seconds() - start) / TH_BENCH_MEASURED;
}

// A built-in scene with `agents` people, timed like every bench case.
static th_result measure_point(th_bench_scene scene, const char *model, int agents, int threads,
                               point *measured, th_error *error) {
    th_scene *made = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_create(scene, &(th_bench_models){.move = model}, agents, TH_BENCH_STEP, threads,
                        TH_BACKEND_CPU, &made, &world, error);
    if (result != TH_OK) return result;
    th_bench_figures figures = th_bench_measure(world, TH_BACKEND_CPU);
    double ms = ms_per_step(world, &figures, threads);
    *measured = (point){agents, threads, ms, 1e6 * ms / figures.agents, figures.hash};
    th_world_destroy(world);
    th_scene_destroy(made);
    return TH_OK;
}

static void choose_lines(scaling *s, const char *model) {
    int most = model ? th_core_count() : 1;
    for (int m = 0; m < (model ? 1 : MODELS); ++m)
        for (int t = 1, count = 0; t <= most && count < THREADS_MOST; t *= 2, ++count) {
            scaling_line *line = &s->lines[s->line_count++];
            line->model = model ? model : compared[m];
            line->threads = t;
        }
}

static th_result measure_all(scaling *s, const th_bench_scaling_def *def, th_error *error) {
    th_bench_scene scene = th_bench_find_scene(def->scene);
    bool tell = !def->quiet && isatty(STDERR_FILENO);
    printf("%s\n\nmodel             people  threads    ms/step  ns/person   hash\n", def->scene);
    for (int n = 0; n < s->size_count; ++n)
        for (int k = 0; k < s->line_count; ++k) {
            scaling_line *line = &s->lines[k];
            point *measured = &line->points[n];
            if (tell)
                fprintf(stderr, "\r\033[K%s, %d people, %d threads ...", line->model, sizes[n],
                        line->threads);
            th_result result =
                measure_point(scene, line->model, sizes[n], line->threads, measured, error);
            if (tell) fputs("\r\033[K", stderr);
            if (result != TH_OK) return result;
            printf("%-16s %7d  %7d  %9.3f  %9.1f   %016" PRIx64 "\n", line->model, measured->agents,
                   measured->threads, measured->ms_per_step, measured->ns_per_agent,
                   measured->hash);
            fflush(stdout);
        }
    return TH_OK;
}

static bool write_csv(const scaling *s, const th_bench_scaling_def *def) {
    FILE *csv = fopen(def->csv, "w");
    if (!csv) return false;
    fputs("scene,model,people,threads,ms_per_step,ns_per_person,hash\n", csv);
    for (int n = 0; n < s->size_count; ++n)
        for (int k = 0; k < s->line_count; ++k) {
            const point *p = &s->lines[k].points[n];
            fprintf(csv, "%s,%s,%d,%d,%.5g,%.5g,%016" PRIx64 "\n", def->scene, s->lines[k].model,
                    p->agents, p->threads, p->ms_per_step, p->ns_per_agent, p->hash);
        }
    return fclose(csv) == 0;
}

static void draw_lines(th_chart *chart, const scaling *s) {
    for (int k = 0; k < s->line_count; ++k) {
        double x[SIZES], y[SIZES];
        for (int n = 0; n < s->size_count; ++n) {
            x[n] = log10(s->lines[k].points[n].agents);
            y[n] = s->lines[k].points[n].ns_per_agent;
        }
        th_line_style style = th_line_style_of(k);
        th_chart_line(chart, x, y, s->size_count, style);
        for (int n = 0; n < s->size_count; ++n) th_chart_dot(chart, x[n], y[n], style.colour);
    }
}

static bool draw(const scaling *s, const th_bench_scaling_def *def) {
    double text = 15, highest = 0;
    th_canvas canvas = th_canvas_create_zoomed(800, 460, text, 2);
    if (!canvas.surface) return false;
    char line[160], names[LINES][48];
    th_legend_entry legend[LINES];
    for (int k = 0; k < s->line_count; ++k) {
        for (int n = 0; n < s->size_count; ++n)
            highest = fmax(highest, s->lines[k].points[n].ns_per_agent);
        snprintf(names[k], sizeof names[k], "%.24s, %d thread%s", s->lines[k].model,
                 s->lines[k].threads, s->lines[k].threads > 1 ? "s" : "");
        legend[k] = (th_legend_entry){names[k], th_line_style_of(k), TH_LEGEND_LINE};
    }
    cairo_set_source_rgb(canvas.cairo, 0.1, 0.1, 0.1);
    th_canvas_text(&canvas, 12, 1.5 * text, 0, 1.2 * text, true, "Cost of a step per person");
    snprintf(line, sizeof line, "scene %s, steps of %g s", def->scene, TH_BENCH_STEP);
    cairo_set_source_rgb(canvas.cairo, 0.35, 0.35, 0.35);
    th_canvas_text(&canvas, 12, 3.1 * text, 0, text, false, line);
    double top = th_legend(&canvas, 12, 4.6 * text, legend, s->line_count) + text;
    th_axis x = th_axis_make(3, log10(sizes[s->size_count - 1]), 8, "people, power of ten");
    th_axis y = th_axis_make(0, highest, 8, "time per person and step [ns]");
    double margin = th_chart_margin(&canvas, &y);
    th_chart chart = {&canvas, 12 + margin, top, 800 - 36 - margin, 460 - top - 4 * text, x, y};
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    draw_lines(&chart, s);
    bool written = th_canvas_write(&canvas, def->plot, NULL) == TH_OK;
    th_canvas_destroy(&canvas);
    return written;
}

th_result th_bench_scaling(const th_bench_scaling_def *def, th_error *error) {
    scaling s = {0};
    choose_lines(&s, def->model);
    while (s.size_count < SIZES && (def->most == 0 || sizes[s.size_count] <= def->most))
        ++s.size_count;
    th_result result = measure_all(&s, def, error);
    if (result != TH_OK) return result;
    const char *failed = !draw(&s, def)                    ? def->plot
                         : def->csv && !write_csv(&s, def) ? def->csv
                                                           : NULL;
    if (!failed) return TH_OK;
    return th_file_fail(error, failed, "could not be written; free space or choose another name");
}

// ---- models as functions of one agent

// ORCA twice: the built-in loop, and the same maths as a function of one person (throng/model.h).

// ---- the model

static void wall_lines(const th_agent *me, const th_orca_params *params, th_orca_lines *lines) {
    float range = params->time_horizon_obstacle * params->max_speed + me->radius;
    float inverse_horizon = 1.0f / params->time_horizon_obstacle;
    for (int k = 0; k < me->wall_count && lines->count < TH_ORCA_WALLS; ++k) {
        const th_near_wall *near = &me->walls[k];
        if (near->distance > range) break;
        th_orca_edge edge = {.a = th_sub(near->wall->a, me->position),
                             .b = th_sub(near->wall->b, me->position),
                             .direction = near->wall->direction,
                             .previous = near->previous->direction,
                             .next = near->next->direction,
                             .a_convex = near->wall->a_convex,
                             .b_convex = near->next->a_convex};
        th_orca_line line;
        if (!th_orca_covered(lines, edge.a, edge.b, me->radius, inverse_horizon) &&
            th_orca_wall_line(&edge, me->velocity, me->radius, inverse_horizon, &line))
            th_orca_set_line(lines, lines->count++, line);
    }
    lines->wall_count = lines->count;
}

TH_FORMULA void agent_lines(const th_agent *me, const th_orca_params *params,
                            th_orca_lines *lines) {
    enum { LANES = TH_ORCA_NEIGHBOURS };
    float x[LANES], y[LANES], vx[LANES], vy[LANES], radius[LANES], share[LANES], tie[LANES];
    float inverse_horizon = 1.0f / params->time_horizon, inverse_step = 1.0f / me->step;
    th_vec2 v = me->velocity;
    for (int k = 0; k < LANES; ++k) { // unused lanes compute something harmless
        bool used = k < me->neighbour_count;
        const th_near_agent *other = &me->neighbours[k];
        x[k] = used ? other->position.x - me->position.x : 10.0f;
        y[k] = used ? other->position.y - me->position.y : 0.0f;
        vx[k] = used ? v.x - other->velocity.x : 0.0f;
        vy[k] = used ? v.y - other->velocity.y : 0.0f;
        radius[k] = me->radius + (used ? other->radius : 0.0f);
        share[k] = used && !other->reacts ? 1.0f : 0.5f;
        tie[k] = used && me->id > other->id ? -1.0f : 1.0f;
    }
    int first = lines->count;
#pragma omp simd
    for (int k = 0; k < LANES; ++k) {
        th_orca_line line = th_orca_agent_line(th_v(x[k], y[k]), v, th_v(vx[k], vy[k]), radius[k],
                                               inverse_horizon, inverse_step, share[k], tie[k]);
        lines->point_x[first + k] = line.point.x;
        lines->point_y[first + k] = line.point.y;
        lines->direction_x[first + k] = line.direction.x;
        lines->direction_y[first + k] = line.direction.y;
    }
    lines->count += me->neighbour_count;
}

TH_CLONES static th_vec2 orca(const th_agent *me) {
    th_orca_params params;
    memcpy(&params, me->params, sizeof params);
    th_orca_lines lines, bisectors;
    lines.count = lines.wall_count = 0;
    if (me->wall_count > 0) wall_lines(me, &params, &lines);
    agent_lines(me, &params, &lines);
    th_vec2 preferred = me->preferred;
    if (preferred.x != 0.0f || preferred.y != 0.0f) {
        th_random4 r = th_philox(me->seed, TH_STREAM_NOISE, me->id, me->step_count);
        preferred.x += params.noise * (2.0f * th_uniform(r.v[0]) - 1.0f);
        preferred.y += params.noise * (2.0f * th_uniform(r.v[1]) - 1.0f);
    }
    float fastest = th_max(params.max_speed, me->speed);
    th_vec2 velocity = th_orca_velocity(&lines, &bisectors, fastest, preferred);
    if (params.max_acceleration > 0.0f)
        velocity = th_add(me->velocity, th_limit(th_sub(velocity, me->velocity),
                                                 params.max_acceleration * me->step));
    return velocity;
}

static void look(const float *values, th_sight *sight) {
    th_orca_params params;
    memcpy(&params, values, sizeof params);
    sight->neighbours = (int)params.max_neighbours;
    sight->neighbour_range = params.neighbour_range;
    sight->through_walls = !(params.line_of_sight > 0.0f);
    sight->wall_range = params.time_horizon_obstacle * params.max_speed + 5.0f; // the largest body
}

// A description with ORCA's own parameters.
static th_result register_model(th_error *error) {
    static th_model model;
    if (th_model_find(TH_STAGE_MOVE, "orca_person") >= 0) return TH_OK;
    const th_model *built_in = th_models(NULL)[th_model_find(TH_STAGE_MOVE, "orca")];
    model = th_model_default();
    model.stage = TH_STAGE_MOVE;
    model.name = "orca_person";
    model.doc = "ORCA as a function of one person, for the bench";
    model.source = built_in->source;
    model.params = built_in->params;
    model.param_count = built_in->param_count;
    model.agent = orca;
    model.look = look;
    model.sight.walls = TH_NEAR_WALL_MAX;
    return th_model_register(&model, error);
}

// ---- the measurement

static th_result measure(const char *model, int agents, int threads, th_bench_figures *figures,
                         th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_create(TH_BENCH_BLOCK, &(th_bench_models){.move = model}, agents, TH_BENCH_STEP,
                        threads, TH_BACKEND_CPU, &scene, &world, error);
    if (result != TH_OK) return result;
    *figures = th_bench_measure(world, TH_BACKEND_CPU);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return TH_OK;
}

// Both in turn, several times, and the best of each: other programs on the machine hit one or the other.
static th_result measure_both(int agents, int threads, th_bench_figures best[2], th_error *error) {
    static const char *const models[2] = {"orca", "orca_person"};
    int rounds = agents <= 20000 ? 7 : 3;
    for (int k = 0; k < 2 * rounds; ++k) {
        th_bench_figures now;
        th_result result = measure(models[k % 2], agents, threads, &now, error);
        if (result != TH_OK) return result;
        if (k < 2 || now.stage_ms[TH_STAGE_MOVE] < best[k % 2].stage_ms[TH_STAGE_MOVE])
            best[k % 2] = now;
    }
    return TH_OK;
}

static th_result compare(int agents, int threads, FILE *csv, th_error *error) {
    th_bench_figures best[2];
    th_result result = measure_both(agents, threads, best, error);
    if (result != TH_OK) return result;
    const th_bench_figures built_in = best[0], own = best[1];
    double a = built_in.stage_ms[TH_STAGE_MOVE], b = own.stage_ms[TH_STAGE_MOVE];
    printf("%7d  %7d  %9.3f  %9.3f  %9.3f  %9.3f  %5.2f   %016" PRIx64 " %016" PRIx64 "%s\n",
           agents, threads, built_in.ms_per_step, own.ms_per_step, a, b, b / a, built_in.hash,
           own.hash, built_in.hash == own.hash ? "" : "  differ");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%d,%d,%.5g,%.5g,%.5g,%.5g,%.4g,%016" PRIx64 ",%016" PRIx64 "\n", agents,
                threads, built_in.ms_per_step, own.ms_per_step, a, b, b / a, built_in.hash,
                own.hash);
    return TH_OK;
}

th_result th_bench_own_model(const th_bench_own_model_def *def, th_error *error) {
    const int crowds[] = {def->agents ? def->agents : 10000, def->agents ? 0 : 100000};
    th_result result = register_model(error);
    if (result != TH_OK) return result;
    FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
    if (def->csv && !csv)
        return th_file_fail(error, def->csv, "cannot be written; choose another name");
    if (csv)
        fputs(
            "people,threads,orca_ms_per_step,person_ms_per_step,orca_move_ms,person_move_ms,ratio,"
            "orca_hash,person_hash\n",
            csv);
    printf(
        "block, ORCA built in and as a function of one person; bar of the move stage's ratio: 1.5\n"
        "                     ms per step           move stage [ms]\n"
        " people  threads   built in     person   built in     person  ratio   hashes\n");
    for (int k = 0; k < 2 && crowds[k] > 0 && result == TH_OK; ++k)
        result = compare(crowds[k], def->threads, csv, error);
    if (csv && fclose(csv) != 0 && result == TH_OK)
        result = th_file_fail(error, def->csv, "could not be written; is the disk full?");
    return result;
}
