// Figures of a survey: density and speed of areas over time, N-t curves of lines.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/chart.h"
#include "report/figures.h"
#include "report/survey.h"
#include <stdio.h>
#include <stdlib.h>

enum { AREAS_SHOWN = 6, LINES_SHOWN = 4, CHART_HEIGHT = 190 };

// The page's title and what it is of; returns the y below.
static double head(const th_canvas *canvas, const char *title, const char *path) {
    double text = canvas->text;
    char clean[256], fitted[256];
    th_clean_text(path, clean, sizeof clean);
    th_canvas_fit(canvas, text, canvas->width - 2 * text, clean, fitted, sizeof fitted);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_text(canvas, 0.8 * text, 1.8 * text, 0, 1.25 * text, true, title);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_text(canvas, 0.8 * text, 3.2 * text, 0, text, false, fitted);
    return 3.8 * text;
}

static th_result write_page(th_canvas *canvas, const char *folder, const char *name,
                            th_error *error) {
    char file[4096];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    th_result result = cairo_status(canvas->cairo) == CAIRO_STATUS_SUCCESS
                           ? th_canvas_write(canvas, file, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for %s; free some", name);
    th_canvas_destroy(canvas);
    return result;
}

static th_chart chart_at(const th_canvas *canvas, double left, double top, double width, th_axis x,
                         th_axis y) {
    th_chart chart = {.canvas = canvas, .height = CHART_HEIGHT, .top = top, .x = x, .y = y};
    double margin = th_chart_margin(canvas, &y);
    chart.left = left + margin;
    chart.width = width - margin - canvas->text;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    return chart;
}

// ---- areas

static double highest(const th_survey *survey, bool speed) {
    double most = 0.5;
    for (int a = 0; a < survey->area_count && a < AREAS_SHOWN; ++a)
        for (int r = 0; r < survey->areas[a].count; ++r)
            for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
                const th_area_reading *moment = &survey->areas[a].rows[r].by[m];
                double value = speed ? moment->speed : moment->density;
                if (survey->def.method[m] && isfinite(value)) most = fmax(most, value);
            }
    return most;
}

static void draw_series(const th_chart *chart, const th_survey *survey, const th_survey_area *area,
                        bool speed, double *memory) {
    double *time = memory, *value = memory + area->count;
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        for (int r = 0; r < area->count; ++r) {
            time[r] = area->rows[r].time;
            value[r] = speed ? area->rows[r].by[m].speed : area->rows[r].by[m].density;
        }
        th_chart_line(chart, time, value, area->count, th_line_style_of(m));
    }
}

static th_result draw_areas(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    int count = survey->area_count < AREAS_SHOWN ? survey->area_count : AREAS_SHOWN;
    double text = TH_FIGURE_TEXT, row = CHART_HEIGHT + 5.4 * text;
    double *memory = malloc((2 * (size_t)survey->areas[0].count + 2) * sizeof *memory);
    th_canvas canvas =
        th_canvas_create_zoomed(TH_FIGURE_WIDTH, 7 * text + count * row, text, TH_FIGURE_ZOOM);
    if (!memory || !canvas.surface) {
        if (canvas.surface) th_canvas_destroy(&canvas);
        free(memory);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure of areas");
    }
    double y = head(&canvas, "Density and speed in areas", path);
    th_legend_entry entries[TH_DENSITY_METHODS];
    int methods = 0;
    for (int m = 0; m < TH_DENSITY_METHODS; ++m)
        if (survey->def.method[m])
            entries[methods++] = (th_legend_entry){th_density_method_name((th_density_method)m),
                                                   th_line_style_of(m), TH_LEGEND_LINE};
    y = th_legend(&canvas, 0.8 * text, y + text, entries, methods) + 1.2 * text;
    th_axis x = th_axis_time(survey->first_time, fmax(survey->last_time, survey->first_time + 1), 6,
                             "time");
    th_axis density = th_axis_make(0, 1.05 * highest(survey, false), 6, "density [1/m\xc2\xb2]");
    th_axis speed = th_axis_make(0, 1.05 * highest(survey, true), 6, "speed [m/s]");
    for (int a = 0; a < count; ++a) {
        const th_survey_area *area = &survey->areas[a];
        double half = 0.5 * canvas.width, top = y + a * row + text;
        char title[96], clean[64];
        th_clean_text(area->name, clean, sizeof clean);
        snprintf(title, sizeof title, "%s, %.3g m\xc2\xb2", clean, area->size);
        th_chart left = chart_at(&canvas, 0.4 * text, top, half, x, density);
        cairo_set_source_rgb(canvas.cairo, 0.1, 0.1, 0.1);
        th_canvas_text(&canvas, left.left, top - 0.6 * text, 0, text, true, title);
        draw_series(&left, survey, area, false, memory);
        th_chart right = chart_at(&canvas, half, top, half, x, speed);
        draw_series(&right, survey, area, true, memory);
    }
    free(memory);
    return write_page(&canvas, folder, "measured_areas.png", error);
}

// ---- lines

// The N-t curve as stairs; `memory` has room for two numbers for twice the crossings.
static void draw_curve(const th_chart *chart, const th_line_watch *line, bool forward,
                       th_line_style style, double *memory) {
    double *time = memory, *people = memory + 2 * line->count;
    int count = 0, n = 0;
    for (int c = 0; c < line->count; ++c) {
        if (line->crossings[c].forward != forward) continue;
        for (int step = 0; step < 2; ++step, ++n) {
            time[n] = line->crossings[c].time;
            people[n] = count + step;
        }
        ++count;
    }
    th_chart_line(chart, time, people, n, style);
}

// One line in one direction.
typedef struct curve {
    const th_line_watch *line;
    bool forward;
    int people;
    char name[96];
} curve;

static int count_ways(const th_line_watch *line, bool forward) {
    int count = 0;
    for (int c = 0; c < line->count; ++c) count += line->crossings[c].forward == forward;
    return count;
}

static int find_curves(const th_survey *survey, curve *curves) {
    int used = 0;
    for (int l = 0; l < survey->line_count && l < LINES_SHOWN; ++l)
        for (int way = 0; way < 2; ++way) {
            curve found = {.line = &survey->lines[l], .forward = way == 0};
            found.people = count_ways(found.line, found.forward);
            if (found.people == 0) continue;
            char clean[64];
            th_clean_text(survey->def.lines[l].name, clean, sizeof clean);
            snprintf(found.name, sizeof found.name, "%s, %s", clean,
                     found.forward ? "forward" : "backward");
            curves[used++] = found;
        }
    return used;
}

static void draw_curves(const th_canvas *canvas, const char *path, const th_survey *survey,
                        const curve *curves, int count, double *memory) {
    double text = canvas->text, y = head(canvas, "People over lines", path);
    th_legend_entry entries[2 * LINES_SHOWN];
    int most = 1;
    for (int k = 0; k < count; ++k) {
        entries[k] = (th_legend_entry){curves[k].name, th_line_style_of(k), TH_LEGEND_LINE};
        most = curves[k].people > most ? curves[k].people : most;
    }
    y = th_legend(canvas, 0.8 * text, y + text, entries, count) + text;
    th_axis time = th_axis_time(survey->first_time, fmax(survey->last_time, survey->first_time + 1),
                                8, "time");
    th_chart chart = chart_at(canvas, 0.4 * text, y, canvas->width - text, time,
                              th_axis_count(most, 6, "people who have crossed"));
    for (int k = 0; k < count; ++k)
        draw_curve(&chart, curves[k].line, curves[k].forward, entries[k].style, memory);
}

static th_result draw_lines(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    curve curves[2 * LINES_SHOWN];
    int count = find_curves(survey, curves), crossings = 0;
    for (int k = 0; k < count; ++k)
        if (curves[k].line->count > crossings) crossings = curves[k].line->count;
    if (count == 0) return TH_OK;
    double *memory = malloc((4 * (size_t)crossings + 4) * sizeof *memory);
    th_canvas canvas = th_canvas_create_zoomed(TH_FIGURE_WIDTH, CHART_HEIGHT + 12 * TH_FIGURE_TEXT,
                                               TH_FIGURE_TEXT, TH_FIGURE_ZOOM);
    if (!memory || !canvas.surface) {
        if (canvas.surface) th_canvas_destroy(&canvas);
        free(memory);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure of lines");
    }
    draw_curves(&canvas, path, survey, curves, count, memory);
    free(memory);
    return write_page(&canvas, folder, "measured_lines.png", error);
}

th_result th_survey_figures(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    th_result result = TH_OK;
    if (survey->area_count > 0 && survey->areas[0].count > 0)
        result = draw_areas(folder, path, survey, error);
    if (result == TH_OK && survey->line_count > 0) result = draw_lines(folder, path, survey, error);
    return result;
}
