// Fundamental diagrams: drawn, and measured from files. SPDX-License-Identifier: Apache-2.0
#include "validate/diagram.h"
#include "core/error.h"
#include "core/file.h"
#include "draw/chart.h"
#include "formula/weidmann.h"
#include "record/moment.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include "validate/corridors.h"
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- the figure

enum { CURVE = 160, LEGEND_MOST = 32 }; // points of Weidmann's curve, entries
static const double PANEL_WIDTH = 430, PANEL_HEIGHT = 270, TEXT = 13,
                    ZOOM = 1.5; // [px], [px], [px], [-]
static const double PI = 3.14159265358979323846;

typedef struct page {
    const th_fd_figure *figure;
    th_canvas canvas;
    th_axis density, speed, flow;
    double cell_width, cell_height;
    double top; // of the first row of panels
} page;

static th_colour colour_of(int colour) {
    static const th_colour greys[] = {{0.1, 0.1, 0.1}, {0.45, 0.45, 0.45}, {0.72, 0.72, 0.72}};
    return colour >= 0 ? th_colour_group(colour) : greys[(-colour - 1) % 3];
}

static th_line_style style_of(const th_fd_series *series) {
    double alpha = series->mark == TH_FD_CLOUD ? 0.55 : 1.0;
    return (th_line_style){colour_of(series->colour), 1.9, series->dash, alpha};
}

static th_line_style weidmann_style(void) { return (th_line_style){colour_of(-1), 1.6, 2, 1.0}; }

th_fd_series th_fd_series_of_variant(int variant, th_fd_mark mark) {
    static const struct {
        const char *name;
        int colour, dash;
    } looks[] = {{"alone", 1, 0},
                 {"with DenseSense, menge", 0, 0},
                 {"with DenseSense, consistent", 2, 3},
                 {"with DenseSense, laboratory", 3, 1}};
    int k = variant & 3;
    return (th_fd_series){looks[k].name, mark, looks[k].colour, looks[k].dash, NULL, NULL, NULL, 0};
}

static void find_axes(page *p) {
    double density = p->figure->weidmann ? 5.4 : 1.0, speed = 1.4, flow = 1.3;
    for (int k = 0; k < p->figure->panel_count; ++k)
        for (int s = 0; s < p->figure->panels[k].series_count; ++s) {
            const th_fd_series *series = &p->figure->panels[k].series[s];
            for (int i = 0; i < series->count; ++i) {
                double rho = series->density[i], v = series->speed[i];
                if (!isfinite(rho) || !isfinite(v)) continue;
                density = fmax(density, rho);
                speed = fmax(speed, v + (series->spread ? series->spread[i] : 0.0));
                if (p->figure->panels[k].flow) flow = fmax(flow, rho * v);
            }
        }
    if (p->figure->most_density > 0.0) density = p->figure->most_density;
    if (p->figure->most_flow > 0.0) flow = p->figure->most_flow;
    p->density = th_axis_make(0, density, 8, "density [1/m²]");
    p->speed = th_axis_make(0, speed, 6, "speed [m/s]");
    p->flow = th_axis_make(0, flow, 6, "flow [1/(m s)]");
}

static double value_of(const th_fd_panel *panel, double density, double speed) {
    return panel->flow ? density * speed : speed;
}

static void draw_spread(const th_chart *chart, const th_fd_panel *panel, const th_fd_series *series,
                        int i) {
    if (!series->spread || !(series->spread[i] > 0.0)) return;
    double rho = series->density[i], v = series->speed[i], s = series->spread[i];
    double x = th_chart_x(chart, rho);
    cairo_move_to(chart->canvas->cairo, x, th_chart_y(chart, value_of(panel, rho, fmax(v - s, 0))));
    cairo_line_to(chart->canvas->cairo, x, th_chart_y(chart, value_of(panel, rho, v + s)));
    th_canvas_colour(chart->canvas, colour_of(series->colour), 0.6);
    cairo_set_line_width(chart->canvas->cairo, 1.4);
    cairo_stroke(chart->canvas->cairo);
}

static void draw_points(const th_chart *chart, const th_fd_panel *panel,
                        const th_fd_series *series) {
    cairo_t *cairo = chart->canvas->cairo;
    for (int i = 0; i < series->count; ++i) {
        double rho = series->density[i], y = value_of(panel, rho, series->speed[i]);
        if (!isfinite(rho) || !isfinite(y) || rho > chart->x.high || y > chart->y.high || y < 0.0)
            continue;
        if (series->mark == TH_FD_DOTS) {
            draw_spread(chart, panel, series, i);
            th_chart_dot(chart, rho, y, colour_of(series->colour));
            continue;
        }
        cairo_arc(cairo, th_chart_x(chart, rho), th_chart_y(chart, y), 1.7, 0, 2 * PI);
        th_canvas_colour(chart->canvas, colour_of(series->colour), 0.55);
        cairo_fill(cairo);
    }
}

static void draw_line(const th_chart *chart, const th_fd_panel *panel, const th_fd_series *series) {
    double last_x = 0, last_y = 0;
    bool begun = false;
    // One straight piece after another: th_chart_line wants arrays of its own, and these are short.
    for (int i = 0; i < series->count; ++i) {
        double x[2] = {last_x, series->density[i]},
               y[2] = {last_y, value_of(panel, series->density[i], series->speed[i])};
        if (!isfinite(x[1]) || !isfinite(y[1])) {
            begun = false;
            continue;
        }
        if (begun) th_chart_line(chart, x, y, 2, style_of(series));
        last_x = x[1];
        last_y = y[1];
        begun = true;
    }
}

static void draw_weidmann(const th_chart *chart, bool flow) {
    double x[CURVE], y[CURVE];
    for (int i = 0; i < CURVE; ++i) {
        x[i] = TH_WEIDMANN_DENSITY_MAX * i / (CURVE - 1);
        y[i] = flow ? th_weidmann_flow(x[i]) : th_weidmann_speed(x[i]);
    }
    th_chart_line(chart, x, y, CURVE, weidmann_style());
}

static void draw_panel(const page *p, int index) {
    const th_fd_panel *panel = &p->figure->panels[index];
    int column = index % p->figure->columns, row = index / p->figure->columns;
    double text = p->canvas.text, left = column * p->cell_width,
           top = p->top + row * p->cell_height;
    th_chart chart = {.canvas = &p->canvas, .x = p->density, .y = panel->flow ? p->flow : p->speed};
    chart.left = left + th_chart_margin(&p->canvas, &chart.y) + 0.5 * text;
    chart.top = top + (panel->title[0] ? 1.9 * text : 0.6 * text);
    chart.width = left + p->cell_width - 1.2 * text - chart.left;
    chart.height = PANEL_HEIGHT;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    if (panel->title[0]) {
        th_canvas_colour(&p->canvas, colour_of(-1), 1);
        th_canvas_text(&p->canvas, chart.left, top + 1.1 * text, 0, text, true, panel->title);
    }
    // Measured data first, so that lines of models lie over it.
    for (int pass = 0; pass < 2; ++pass)
        for (int s = 0; s < panel->series_count; ++s) {
            const th_fd_series *series = &panel->series[s];
            bool line = series->mark == TH_FD_LINE;
            if (line != (pass == 1)) continue;
            if (line)
                draw_line(&chart, panel, series);
            else
                draw_points(&chart, panel, series);
        }
    if (p->figure->weidmann) draw_weidmann(&chart, panel->flow);
}

static int collect_legend(const th_fd_figure *figure, th_legend_entry *entries) {
    int count = 0;
    for (int k = 0; k < figure->panel_count; ++k)
        for (int s = 0; s < figure->panels[k].series_count; ++s) {
            const th_fd_series *series = &figure->panels[k].series[s];
            bool known = series->name[0] == '\0' || count >= LEGEND_MOST - 1;
            for (int e = 0; e < count && !known; ++e)
                known = strcmp(entries[e].name, series->name) == 0;
            if (known) continue;
            entries[count].name = series->name;
            entries[count].style = style_of(series);
            entries[count++].kind = series->mark == TH_FD_LINE ? TH_LEGEND_LINE : TH_LEGEND_DOT;
        }
    if (figure->weidmann)
        entries[count++] = (th_legend_entry){"Weidmann 1993", weidmann_style(), TH_LEGEND_LINE};
    return count;
}

static void draw_page(page *p) {
    double text = p->canvas.text;
    th_legend_entry entries[LEGEND_MOST];
    int count = collect_legend(p->figure, entries);
    th_canvas_colour(&p->canvas, colour_of(-1), 1);
    th_canvas_text(&p->canvas, text, 1.6 * text, 0, 1.15 * text, true, p->figure->title);
    p->top = th_legend(&p->canvas, text, 3.5 * text, entries, count);
    for (int k = 0; k < p->figure->panel_count; ++k) draw_panel(p, k);
}

// The height of the legend, measured by drawing it once on a temporary page.
static double legend_height(page *p, double width) {
    p->canvas = th_canvas_create(8, 8, TEXT);
    if (!p->canvas.surface) return 0.0;
    p->canvas.width = width;
    th_legend_entry entries[LEGEND_MOST];
    double bottom =
        th_legend(&p->canvas, TEXT, 3.5 * TEXT, entries, collect_legend(p->figure, entries));
    th_canvas_destroy(&p->canvas);
    return bottom;
}

static cairo_status_t append(void *writer, const unsigned char *bytes, unsigned int length) {
    th_file_put(writer, bytes, length);
    return ((const th_file_writer *)writer)->cause ? CAIRO_STATUS_WRITE_ERROR
                                                   : CAIRO_STATUS_SUCCESS;
}

static th_result no_memory(const char *path, th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure %s; free some", path);
}

static th_result write_svg(page *p, double width, double height, const char *path,
                           th_error *error) {
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    p->canvas = th_canvas_create_svg(width, height, TEXT, append, &writer);
    bool drawn = p->canvas.surface != NULL;
    if (drawn) {
        draw_page(p);
        cairo_surface_finish(p->canvas.surface);
        drawn = cairo_surface_status(p->canvas.surface) == CAIRO_STATUS_SUCCESS;
        th_canvas_destroy(&p->canvas);
    }
    if (drawn || writer.cause) return th_file_end(&writer, TH_FLUSHED, error);
    th_file_discard(&writer);
    return no_memory(path, error);
}

th_result th_fd_figure_write(const th_fd_figure *figure, const char *path, th_error *error) {
    page p = {.figure = figure};
    int columns = figure->columns > 0 ? figure->columns : 1;
    int rows = (figure->panel_count + columns - 1) / columns;
    p.cell_width = PANEL_WIDTH;
    p.cell_height = PANEL_HEIGHT + 6.2 * TEXT;
    find_axes(&p);
    double width = columns * p.cell_width;
    double height = legend_height(&p, width) + rows * p.cell_height + 0.3 * TEXT;
    size_t length = strlen(path);
    errno = 0;
    if (length > 4 && strcmp(path + length - 4, ".svg") == 0)
        return write_svg(&p, width, height, path, error);
    p.canvas = th_canvas_create_zoomed(width, height, TEXT, ZOOM);
    if (!p.canvas.surface) return no_memory(path, error);
    draw_page(&p);
    th_result result = th_canvas_write(&p.canvas, path, error);
    th_canvas_destroy(&p.canvas);
    return result;
}

// ---- samples and classes of files

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
                               const th_scene_view *scene, const char *recording, th_error *error) {
    bool own = def->area_count == 0;
    int count = own ? scene->measure_area_count : def->area_count;
    th_result result = TH_OK;
    for (int a = 0; a < count && result == TH_OK; ++a) {
        th_fundamental_def fundamental = def->fundamental;
        char *wkt =
            own ? th_polygons_wkt(&scene->measure_areas[a].area.shape, scene->origin) : NULL;
        if (own) fundamental.level = scene->measure_areas[a].area.level;
        char *ground = th_scene_level_wkt(scene->scene, fundamental.level);
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
                                 const th_scene_view *scene, th_error *error) {
    if (def->area_count == 0 && scene->measure_area_count == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "areas",
                       "%s: has no measure.areas; say where to measure: --area x0,y0,x1,y1", path);
    char recording[TH_RECORD_PATH];
    th_result result = th_record_folder_make(recording, error);
    if (result != TH_OK) return result;
    th_run_settings run = scene->run;
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
    if (result == TH_OK) result = run_and_measure(d, def, path, th_scene_view_of(scene), error);
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

// ---- measured tables

// Tables of measured densities and speeds. The numbers of the open corridor, the BaSiGo corridors and the
// bottleneck are means over the recordings named (`throng measure` prints them again from the files); those
// of the ring are every fourth of the published pairs.

// Classes of 0.5 /m2 over all nine runs, 6767 frames.
static const th_measured_point uo180[] = {
    {0.25, 1.357, 0.149}, {0.75, 1.343, 0.147}, {1.25, 1.117, 0.164}, {1.75, 0.850, 0.199},
    {2.25, 0.571, 0.174}, {2.75, 0.398, 0.110}, {3.25, 0.310, 0.042}, {3.75, 0.284, 0.041},
};
static const th_measured_point uo180_means[] = {
    {0.61, 1.34, 0}, {0.58, 1.39, 0}, {0.72, 1.35, 0}, {1.14, 1.20, 0}, {1.56, 1.00, 0},
    {3.06, 0.30, 0}, {2.46, 0.41, 0}, {2.06, 0.65, 0}, {1.68, 0.96, 0},
};
static const th_measured_point uni500[] = {{0.25, 1.422, 0.129}, {0.75, 1.352, 0.143}};
static const th_measured_point bi400[] = {
    {0.75, 1.035, 0.066}, {1.25, 1.013, 0.053}, {1.75, 1.001, 0.042}};
static const th_measured_point ao300[] = {
    {3.25, 0.438, 0.016}, {3.75, 0.415, 0.017}, {4.25, 0.407, 0.010}, {4.75, 0.375, 0.024},
    {5.25, 0.332, 0.028}, {5.75, 0.332, 0.022}, {6.25, 0.333, 0.017}};
static const th_measured_point ug180[] = {
    {0.267, 1.119, 0}, {0.285, 1.235, 0}, {0.389, 1.167, 0}, {0.213, 1.191, 0}, {0.270, 1.125, 0},
    {0.309, 1.089, 0}, {0.209, 1.112, 0}, {0.322, 1.236, 0}, {0.415, 1.201, 0}, {0.192, 1.206, 0},
    {0.128, 1.199, 0}, {0.227, 1.015, 0}, {0.302, 1.041, 0}, {0.333, 1.058, 0}, {0.410, 1.140, 0},
    {0.491, 1.096, 0}, {0.540, 1.122, 0}, {0.397, 1.038, 0}, {0.592, 1.034, 0}, {0.876, 0.966, 0},
    {0.480, 1.073, 0}, {0.362, 1.011, 0}, {0.721, 1.027, 0}, {0.700, 1.020, 0}, {0.379, 1.005, 0},
    {0.500, 1.031, 0}, {0.888, 0.956, 0}, {0.480, 0.995, 0}, {0.349, 1.068, 0}, {0.549, 1.051, 0},
    {0.701, 0.952, 0}, {1.743, 0.805, 0}, {1.184, 0.790, 0}, {1.057, 0.763, 0}, {0.870, 0.779, 0},
    {1.340, 0.767, 0}, {1.175, 0.710, 0}, {0.996, 0.681, 0}, {1.288, 0.775, 0}, {1.599, 0.812, 0},
    {1.429, 0.829, 0}, {1.110, 0.848, 0}, {1.091, 0.823, 0}, {0.706, 0.778, 0}, {1.294, 0.791, 0},
    {1.262, 0.765, 0}, {1.380, 0.547, 0}, {1.379, 0.553, 0}, {1.513, 0.514, 0}, {1.914, 0.509, 0},
    {1.311, 0.521, 0}, {1.368, 0.596, 0}, {1.916, 0.518, 0}, {1.459, 0.534, 0}, {2.324, 0.392, 0},
    {2.610, 0.492, 0}, {2.189, 0.295, 0}, {2.110, 0.425, 0}, {2.535, 0.255, 0}, {2.297, 0.268, 0},
    {2.426, 0.321, 0}, {2.669, 0.419, 0}, {2.193, 0.469, 0}, {1.775, 0.501, 0}, {1.735, 0.610, 0},
    {1.822, 0.581, 0}, {1.999, 0.554, 0}, {1.713, 0.498, 0}, {1.689, 0.528, 0}, {1.569, 0.570, 0},
    {1.548, 0.551, 0}, {1.653, 0.515, 0}, {2.041, 0.512, 0}, {2.162, 0.531, 0}, {2.327, 0.485, 0},
    {2.800, 0.291, 0}, {2.881, 0.375, 0}, {3.010, 0.332, 0}, {3.033, 0.213, 0}, {3.212, 0.241, 0},
    {3.353, 0.221, 0}, {3.014, 0.291, 0}, {3.137, 0.245, 0}, {3.565, 0.221, 0}, {3.601, 0.234, 0},
    {3.640, 0.207, 0}, {3.526, 0.175, 0}, {3.371, 0.170, 0}, {3.192, 0.199, 0}, {3.283, 0.248, 0},
    {3.403, 0.237, 0}, {3.761, 0.073, 0}, {4.416, 0.064, 0}, {4.508, 0.040, 0}, {4.260, 0.130, 0},
    {3.689, 0.253, 0}, {3.918, 0.209, 0}, {3.607, 0.156, 0}, {3.519, 0.231, 0}, {3.867, 0.160, 0},
    {4.018, 0.077, 0}, {4.037, 0.062, 0}, {4.043, 0.049, 0}, {4.081, 0.027, 0}, {4.124, 0.045, 0},
    {4.200, 0.062, 0}, {4.251, 0.043, 0}, {4.028, 0.065, 0}, {3.506, 0.133, 0}, {3.600, 0.134, 0},
    {4.113, 0.183, 0},
};

#define HERMES "Juelich archive of pedestrian dynamics, Hermes 2009; Zhang et al. 2011"
#define BASIGO "BaSiGo 2013; trajectories as in PedPy (MIT)"
#define COUNT(points) (int)(sizeof(points) / sizeof *(points))
static const th_measured_set sets[] = {
    {"uo180", "people, open corridor 1.8 m (uo180)", HERMES "; trajectories as in PedPy (MIT)",
     uo180, COUNT(uo180)},
    {"uo180_runs", "people, the nine runs of uo180", HERMES "; trajectories as in PedPy (MIT)",
     uo180_means, COUNT(uo180_means)},
    {"ug180", "people, ring 1.8 m (ug180)", HERMES "; pairs as in jpscore (LGPL-3), every fourth",
     ug180, COUNT(ug180)},
    {"uni500", "people, one way in 5 m (UNI_CORR_500_01)", BASIGO, uni500, COUNT(uni500)},
    {"bi400", "people, both ways in 4 m (bi_corr_400_b_03)", BASIGO, bi400, COUNT(bi400)},
    {"ao300", "people before a bottleneck of 3 m (AO_300)",
     "Hermes 2009; trajectories as in jpsreport (LGPL-3)", ao300, COUNT(ao300)},
};

const th_measured_set *th_measured_sets(int *count) {
    *count = COUNT(sets);
    return sets;
}

const th_measured_set *th_measured_find(const char *name) {
    for (int k = 0; k < COUNT(sets); ++k)
        if (strcmp(sets[k].name, name) == 0) return &sets[k];
    return NULL;
}

// Inflow: people per second over y = 5 m, middle three fifths of them; for the entrance of 1.8 m that of
// the run with an exit as wide, where no jam reaches back.
const th_uo180_run th_uo180_runs[TH_UO180_RUNS] = {
    {"050-180-180", 0.50, 1.80, 1.19, 61, 0.61, 1.34, 0.81},
    {"060-180-180", 0.60, 1.80, 1.39, 66, 0.58, 1.39, 0.79},
    {"070-180-180", 0.70, 1.80, 1.55, 111, 0.72, 1.35, 0.96},
    {"100-180-180", 1.00, 1.80, 2.51, 121, 1.14, 1.20, 1.36},
    {"145-180-180", 1.45, 1.80, 2.95, 175, 1.56, 1.00, 1.54},
    {"180-180-180", 1.80, 1.80, 3.06, 220, 1.68, 0.96, 1.61},
    {"180-180-120", 1.80, 1.20, 3.06, 170, 2.06, 0.65, 1.32},
    {"180-180-095", 1.80, 0.95, 3.06, 159, 2.46, 0.41, 1.00},
    {"180-180-070", 1.80, 0.70, 3.06, 148, 3.06, 0.30, 0.93},
};

const th_single_file_band th_single_file_bands[TH_SINGLE_FILE_BANDS] = {
    {0.2989, 0.8395, 1.1595, 1.4725}, {0.4989, 0.7083, 1.0910, 1.3887},
    {0.6989, 0.5978, 0.9748, 1.3053}, {0.8989, 0.4475, 0.7472, 1.1008},
    {1.0989, 0.3157, 0.5195, 0.8395}, {1.2989, 0.1872, 0.3925, 0.6077},
    {1.4989, 0.1120, 0.2733, 0.4850}, {1.6989, 0.0705, 0.1988, 0.3822},
    {1.8989, 0.0480, 0.1577, 0.3140}, {2.0989, 0.0347, 0.1313, 0.2702},
};

// Means of all 434 pairs of the ring in classes of 0.5 /m2 with ten pairs or more.
const th_measured_point th_ug180_classes[TH_UG180_CLASSES] = {
    {0.25, 1.108, 0.083}, {0.75, 0.941, 0.116}, {1.25, 0.703, 0.120},
    {1.75, 0.561, 0.080}, {2.25, 0.418, 0.106}, {2.75, 0.349, 0.063},
    {3.25, 0.226, 0.039}, {3.75, 0.168, 0.051}, {4.25, 0.063, 0.039}};
// Means of the 2746 pairs of twelve runs in classes of 0.25 /m with a hundred pairs or more.
const th_measured_point th_caserne_classes[TH_CASERNE_CLASSES] = {
    {0.50, 0.974, 0.157}, {0.75, 0.887, 0.127}, {1.00, 0.734, 0.176},
    {1.25, 0.448, 0.085}, {1.50, 0.286, 0.093}, {1.75, 0.200, 0.050},
    {2.00, 0.119, 0.038}, {2.25, 0.064, 0.044}, {2.50, 0.057, 0.036}};
const double th_caserne_standing[TH_CASERNE_CLASSES] = {0,     0,     0,     0,    0.002,
                                                        0.033, 0.084, 0.155, 0.187};
