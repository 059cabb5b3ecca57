// Cost per person from 1000 people to 4 million, one thread to as many as there are cores.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "draw/chart.h"
#include "report/folder.h"
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
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
    *measured = (point){agents, threads, figures.ms_per_step,
                        1e6 * figures.ms_per_step / figures.agents, figures.hash};
    th_world_destroy(world);
    th_scene_destroy(made);
    return TH_OK;
}

static void choose_lines(scaling *s, const char *model) {
    int cores = omp_get_num_procs();
    for (int m = 0; m < (model ? 1 : MODELS); ++m)
        for (int t = 1, count = 0; t <= cores && count < THREADS_MOST; t *= 2, ++count) {
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
