// Fundamental diagrams of files. SPDX-License-Identifier: Apache-2.0
#include "validate/diagram.h"
#include "core/error.h"
#include "record/wkt.h"
#include "report/folder.h"
#include "report/table_file.h"
#include "throng/scene_view.h"
#include "validate/fd_figure.h"
#include "validate/recorded_run.h"
#include <stdlib.h>
#include <string.h>

static const double CLASS_WIDTH = 0.5; // [1/m2]
static const int LEAST_SAMPLES = 10;   // of a class that is drawn or printed
static const int CLOUD_MOST = 1200;    // dots of one series; more only make the figure large

// ---- samples

static bool is_scene(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static th_result take_area(th_diagram *d, const th_fundamental_def *def, const char *path,
                           const char *recording, const char *area, bool several, th_error *error) {
    if (d->count == TH_DIAGRAM_SERIES)
        return th_fail(error, TH_BAD_ARGUMENT, "areas", "more than %d areas in one diagram",
                       TH_DIAGRAM_SERIES);
    th_diagram_series *series = &d->series[d->count];
    char stem[96];
    th_file_stem(path, stem, sizeof stem);
    snprintf(series->name, sizeof series->name, several && area[0] ? "%s: %s" : "%s%.0s", stem,
             area);
    th_result result = th_fundamental_read(recording, def, &series->samples, error);
    if (result != TH_OK) return result;
    th_fundamental_bins_add(&series->samples, CLASS_WIDTH, series->classes, TH_DIAGRAM_CLASSES);
    th_fundamental_bins_finish(CLASS_WIDTH, series->classes, TH_DIAGRAM_CLASSES);
    ++d->count;
    return TH_OK;
}

static th_result take_recording(th_diagram *d, const th_diagram_def *def, const char *path,
                                th_error *error) {
    if (def->area_count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "areas",
                       "%s: say where to measure: --area x0,y0,x1,y1", path);
    th_result result = TH_OK;
    for (int a = 0; a < def->area_count && result == TH_OK; ++a) {
        th_fundamental_def fundamental = def->fundamental;
        fundamental.area = def->areas[a].wkt;
        result =
            take_area(d, &fundamental, path, path, def->areas[a].name, def->area_count > 1, error);
    }
    return result;
}

static th_result measure_scene(th_diagram *d, const th_diagram_def *def, const char *path,
                               const th_scene *scene, const char *recording, th_error *error) {
    bool own = def->area_count == 0;
    int count = own ? scene->measure_area_count : def->area_count;
    th_result result = TH_OK;
    for (int a = 0; a < count && result == TH_OK; ++a) {
        th_fundamental_def fundamental = def->fundamental;
        char *wkt =
            own ? th_polygons_wkt(&scene->measure_areas[a].area.shape, scene->origin) : NULL;
        if (own) fundamental.level = scene->measure_areas[a].area.level;
        char *ground = th_scene_level_wkt(scene, fundamental.level);
        fundamental.area = own ? wkt : def->areas[a].wkt;
        fundamental.walkable = ground;
        const char *name = own ? scene->measure_areas[a].id : def->areas[a].name;
        if (fundamental.area && ground)
            result =
                take_area(d, &fundamental, path, recording, name ? name : "", count > 1, error);
        else
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the areas of the scene");
        free(ground);
        free(wkt);
    }
    return result;
}

static th_result run_and_measure(th_diagram *d, const th_diagram_def *def, const char *path,
                                 const th_scene *scene, th_error *error) {
    if (def->area_count == 0 && scene->measure_area_count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "areas",
                       "%s: has no measure.areas; say where to measure: --area x0,y0,x1,y1", path);
    char recording[TH_RECORD_PATH];
    th_result result = th_record_folder_make(recording, error);
    if (result != TH_OK) return result;
    th_run_def run = scene->run;
    double end = run.duration > 0 ? run.duration : run.max_time;
    result =
        th_record_run(scene, def->seed > 0 ? def->seed : run.seed, end, recording, NULL, error);
    if (result == TH_OK) result = measure_scene(d, def, path, scene, recording, error);
    th_record_folder_remove(recording);
    return result;
}

th_result th_diagram_take(th_diagram *d, const th_diagram_def *def, const char *path,
                          th_error *error) {
    if (!is_scene(path)) return take_recording(d, def, path, error);
    th_scene *scene = NULL;
    th_result result = th_scene_load_file(path, &def->scene_options, &scene, error);
    if (result == TH_OK) result = run_and_measure(d, def, path, scene, error);
    th_scene_destroy(scene);
    return result;
}

void th_diagram_release(th_diagram *d) {
    for (int k = 0; k < d->count; ++k) th_fundamental_release(&d->series[k].samples);
    d->count = 0;
}

// ---- results

void th_diagram_print(FILE *out, const th_diagram *d) {
    for (int k = 0; k < d->count; ++k) {
        const th_fundamental_samples *samples = &d->series[k].samples;
        th_fundamental_mean mean = th_fundamental_mean_of(samples);
        fprintf(out, "%s%s, %d samples in %.2f m2\n", k > 0 ? "\n" : "", d->series[k].name,
                samples->count, samples->area);
        if (samples->count == 0) continue;
        fprintf(out, "  mean           %6.2f /m2 %7.2f m/s %7.2f /(m s)\n", mean.density,
                mean.speed, mean.flow);
        for (int b = 0; b < TH_DIAGRAM_CLASSES; ++b) {
            const th_fundamental_bin *bin = &d->series[k].classes[b];
            if (bin->count >= LEAST_SAMPLES)
                fprintf(out, "  %4.1f .. %4.1f /m2 %5d %10.2f m/s %7.2f /(m s)  +- %.2f m/s\n",
                        b * CLASS_WIDTH, (b + 1) * CLASS_WIDTH, bin->count, bin->speed, bin->flow,
                        bin->standard_deviation);
        }
    }
}

th_result th_diagram_table(const th_diagram *d, const char *path, th_error *error) {
    th_table_file csv;
    th_table_open(&csv, NULL, path);
    static const char *const columns[] = {"series", "frame", "people", "density", "speed", "flow"};
    for (int c = 0; c < 6; ++c) th_table_text(&csv, columns[c]);
    th_table_end_row(&csv);
    for (int k = 0; k < d->count; ++k)
        for (int i = 0; i < d->series[k].samples.count; ++i) {
            const th_fundamental_sample *s = &d->series[k].samples.samples[i];
            th_table_text(&csv, d->series[k].name);
            th_table_count(&csv, (uint64_t)s->frame);
            th_table_count(&csv, (uint64_t)s->count);
            th_table_number(&csv, s->density);
            th_table_number(&csv, s->speed);
            th_table_number(&csv, s->flow);
            th_table_end_row(&csv);
        }
    return th_table_close(&csv, error);
}

// ---- the figure: clouds of samples, means of classes, what was measured

typedef struct numbers {
    double *density, *speed, *spread;
    int count;
} numbers;

static bool reserve(numbers *n, int count) {
    n->density = calloc((size_t)count + 1, sizeof *n->density);
    n->speed = calloc((size_t)count + 1, sizeof *n->speed);
    n->spread = calloc((size_t)count + 1, sizeof *n->spread);
    return n->density && n->speed && n->spread;
}

static void release(numbers *n) {
    free(n->density);
    free(n->speed);
    free(n->spread);
}

static bool cloud_of(const th_fundamental_samples *samples, numbers *n) {
    int stride = 1 + samples->count / CLOUD_MOST;
    if (!reserve(n, samples->count)) return false;
    for (int i = 0; i < samples->count; i += stride) {
        n->density[n->count] = samples->samples[i].density;
        n->speed[n->count++] = samples->samples[i].speed;
    }
    return true;
}

static bool classes_of(const th_fundamental_bin *bins, numbers *n) {
    if (!reserve(n, TH_DIAGRAM_CLASSES)) return false;
    for (int b = 0; b < TH_DIAGRAM_CLASSES; ++b) {
        if (bins[b].count < LEAST_SAMPLES) continue;
        n->density[n->count] = bins[b].density;
        n->speed[n->count] = bins[b].speed;
        n->spread[n->count++] = bins[b].standard_deviation;
    }
    return true;
}

static bool measured_of(const th_measured_set *set, numbers *n) {
    if (!reserve(n, set->count)) return false;
    for (int i = 0; i < set->count; ++i) {
        n->density[n->count] = set->points[i].density;
        n->speed[n->count] = set->points[i].speed;
        n->spread[n->count++] = set->points[i].spread;
    }
    return true;
}

enum { SERIES_MOST = TH_DIAGRAM_OVER + 2 * TH_DIAGRAM_SERIES };
static int add_series(th_fd_series *series, int count, const char *name, th_fd_mark mark,
                      int colour, const numbers *n) {
    series[count] = (th_fd_series){.name = name,
                                   .mark = mark,
                                   .colour = colour,
                                   .density = n->density,
                                   .speed = n->speed,
                                   .spread = mark == TH_FD_DOTS ? n->spread : NULL,
                                   .count = n->count};
    return count + 1;
}

th_result th_diagram_figure(const th_diagram *d, const char *path, th_error *error) {
    numbers all[SERIES_MOST] = {0};
    th_fd_series series[SERIES_MOST];
    int count = 0;
    bool good = true;
    for (int k = 0; k < d->over_count && good; ++k) {
        good = measured_of(d->over[k], &all[count]);
        bool many = d->over[k]->count > 24;
        count = add_series(series, count, d->over[k]->title, many ? TH_FD_CLOUD : TH_FD_DOTS,
                           -1 - k % 3, &all[count]);
    }
    for (int k = 0; k < d->count && good; ++k) {
        const char *name = d->series[k].name;
        good = cloud_of(&d->series[k].samples, &all[count]);
        count = add_series(series, count, name, TH_FD_CLOUD, k, &all[count]);
        good = good && classes_of(d->series[k].classes, &all[count]);
        count = add_series(series, count, name, TH_FD_DOTS, k, &all[count]);
    }
    th_fd_panel panels[2] = {{"", false, series, count}, {"", true, series, count}};
    th_fd_figure figure = {.title = "Fundamental diagram",
                           .panels = panels,
                           .panel_count = 2,
                           .columns = 2,
                           .weidmann = d->weidmann};
    th_result result = good ? th_fd_figure_write(&figure, path, error)
                            : th_fail(error, TH_NO_MEMORY, "", "no memory for the figure");
    for (int k = 0; k < SERIES_MOST; ++k) release(&all[k]);
    return result;
}
