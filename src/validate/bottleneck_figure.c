// Figures of the experiments at doors: flow against the width, and moments of several crowds side by side.
// SPDX-License-Identifier: Apache-2.0
#include "draw/chart.h"
#include "draw/plan_drawing.h"
#include "validate/experiment_bottleneck.h"
#include "validate/measured.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_colour SEYFRIED = {0.1, 0.1, 0.1}, KRETZ = {0.55, 0.55, 0.55};
enum { COLUMNS = 3, WIDEST = TH_DOOR_CASES };

static double width_of(int place) {
    return place < TH_DOOR_WIDTHS    ? th_flow_seyfried[place].width
           : place == TH_DOOR_WIDTHS ? th_flow_adrian.width
                                     : th_flow_hermes.width;
}

// In order of width: the door of 0.5 m first. Skips what was not run.
static void draw_model(const th_chart *chart, const th_door_model *model, bool all) {
    double x[WIDEST], y[WIDEST];
    int count = 0;
    for (int k = all ? -1 : 0; k < (all ? TH_DOOR_WIDTHS + 1 : TH_DOOR_WIDTHS); ++k) {
        int place = k < 0 ? TH_DOOR_WIDTHS : k == TH_DOOR_WIDTHS ? TH_DOOR_WIDTHS + 1 : k;
        if (isnan(model->found[place].flow)) continue;
        x[count] = width_of(place);
        y[count++] = model->found[place].flow;
    }
    th_chart_line(chart, x, y, count, th_line_style_of(model->model.variant));
}

static void draw_people(const th_chart *chart, bool all) {
    for (int k = 0; k < TH_FLOW_KRETZ; ++k)
        if (all || th_flow_kretz[k].width > 0.75)
            th_chart_dot(chart, th_flow_kretz[k].width, th_flow_kretz[k].flow, KRETZ);
    for (int k = 0; k < TH_FLOW_SEYFRIED; ++k)
        th_chart_dot(chart, th_flow_seyfried[k].width, th_flow_seyfried[k].flow, SEYFRIED);
    if (!all) return;
    th_chart_dot(chart, th_flow_adrian.width, th_flow_adrian.flow, SEYFRIED);
    th_chart_dot(chart, th_flow_hermes.width, th_flow_hermes.flow, SEYFRIED);
}

static th_chart make_chart(const th_canvas *canvas, int index, double top, bool all,
                           const char *title) {
    double text = canvas->text;
    th_axis x = all ? th_axis_make(0, 3.2, 6, "width of the door [m]")
                    : th_axis_make(0.7, 1.3, 6, "width of the door [m]");
    // Faster than 5 /s is off the chart: four times what people do.
    th_axis y = all ? th_axis_make(0, 13, 7, "flow [1/s]") : th_axis_make(0, 5, 6, "flow [1/s]");
    th_chart chart = {.canvas = canvas, .x = x, .y = y, .height = 190};
    double cell = (canvas->width - text) / COLUMNS;
    chart.left = 0.5 * text + index % COLUMNS * cell + th_chart_margin(canvas, &y);
    chart.width = cell - th_chart_margin(canvas, &y) - 1.2 * text;
    chart.top = top + 1.8 * text + index / COLUMNS * (chart.height + 5.5 * text);
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    th_canvas_colour(canvas, SEYFRIED, 1);
    th_canvas_text(canvas, chart.left, chart.top - 0.6 * text, 0, text, true, title);
    return chart;
}

static void draw_panels(const th_canvas *canvas, double top, const th_door_model *models,
                        int count) {
    int panels = 0;
    for (int first = 0; first < count; ++first) {
        if (models[first].model.variant != 0) continue;
        th_chart chart = make_chart(canvas, panels++, top, false, models[first].model.name);
        for (int m = first; m < count && models[m].model.family == models[first].model.family; ++m)
            draw_model(&chart, &models[m], false);
        draw_people(&chart, false);
    }
    th_chart chart = make_chart(canvas, panels, top, true, "SF, 0.5 to 3 m");
    for (int m = 0; m < count; ++m)
        if (strcmp(models[m].model.move, "\"social_force\"") == 0)
            draw_model(&chart, &models[m], true);
    draw_people(&chart, true);
}

static double draw_legend(const th_canvas *canvas) {
    static const char *const names[] = {"alone", "behind densesense: menge", "consistent",
                                        "laboratory"}; // the variants of a model
    enum { VARIANTS = sizeof names / sizeof *names };
    th_legend_entry entries[VARIANTS + 2];
    for (int k = 0; k < VARIANTS; ++k)
        entries[k] = (th_legend_entry){names[k], th_line_style_of(k), TH_LEGEND_LINE};
    entries[VARIANTS] = (th_legend_entry){
        "people, Seyfried 2009 and Juelich archive", {SEYFRIED, 1, 0, 1}, TH_LEGEND_DOT};
    entries[VARIANTS + 1] =
        (th_legend_entry){"people, Kretz 2006", {KRETZ, 1, 0, 1}, TH_LEGEND_DOT};
    return th_legend(canvas, canvas->text, 1.6 * canvas->text, entries, VARIANTS + 2);
}

bool th_bottleneck_draw(const th_door_model *models, int count, const char *path) {
    th_canvas canvas = th_canvas_create_zoomed(900, 595, 13, 2);
    if (!canvas.surface) return false;
    th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(canvas.cairo);
    draw_panels(&canvas, draw_legend(&canvas), models, count);
    bool good = th_canvas_write(&canvas, path, NULL) == TH_OK;
    th_canvas_destroy(&canvas);
    return good;
}

// ---- moments of crowds

static const th_colour INK = {0.1, 0.1, 0.1};
#define RADIUS (double)0.19f // [m] mean of the scenes' people
#define SPEED (double)1.34f  // [m/s] mean of the scenes' people: the light end of the scale

typedef struct page {
    const th_frames_def *def;
    th_scene *scene;
    th_canvas canvas;
    double left, top, panel_width, panel_height, gap_x, gap_y, scale;
} page;

static void draw_crowd(const page *p, const th_panel *panel, const th_moment *crowd, double time) {
    bool no_doors[1] = {false};
    th_plan_view view = {.scene = p->scene,
                         .door_closed = no_doors,
                         .crowd = crowd,
                         .colour_by = TH_BY_SPEED,
                         .box = p->def->scene->shown};
    th_draw_ground(&p->canvas, panel, p->scene, 0);
    th_draw_walls(&p->canvas, panel, &view, 0);
    th_draw_people(&p->canvas, panel, &view, 0);
    char text[64];
    snprintf(text, sizeof text, "%.0f s: %d inside", time, crowd->count);
    th_canvas_colour(&p->canvas, INK, 1);
    th_canvas_text(&p->canvas, panel->left, panel->top - 0.4 * p->canvas.text, 0, p->canvas.text,
                   false, text);
}

// False: no memory.
static bool draw_moment(const page *p, int column, int row) {
    th_panel panel = {.left = p->left + column * (p->panel_width + p->gap_x),
                      .top = p->top + row * (p->panel_height + p->gap_y),
                      .width = p->panel_width,
                      .height = p->panel_height,
                      .box = p->def->scene->shown,
                      .scale = p->scale};
    const th_run_tracks *tracks = p->def->tracks[column];
    double time = p->def->times[row];
    size_t people = (size_t)tracks->people;
    double *same = malloc((2 * people + 1) * sizeof *same); // everybody's radius and speed
    th_tracks_frame room;
    bool good = th_tracks_frame_make(&room, tracks) && same;
    if (good) {
        th_moment crowd = th_tracks_moment(tracks, (int)lround(time * TH_TRACKS_RATE), &room);
        for (size_t k = 0; k < people; ++k) {
            same[k] = RADIUS;
            same[people + k] = SPEED;
        }
        crowd.radius = same;
        crowd.preferred_speed = same + people;
        draw_crowd(p, &panel, &crowd, time);
    }
    th_tracks_frame_release(&room);
    free(same);
    return good;
}

static bool draw_page(page *p, const char *path) {
    const th_frames_def *def = p->def;
    th_canvas_colour(&p->canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(p->canvas.cairo);
    bool good = true;
    for (int column = 0; column < def->columns; ++column) {
        th_canvas_colour(&p->canvas, INK, 1);
        th_canvas_text(&p->canvas, p->left + column * (p->panel_width + p->gap_x),
                       1.5 * p->canvas.text, 0, p->canvas.text, true, def->names[column]);
        for (int row = 0; row < def->rows; ++row) good = good && draw_moment(p, column, row);
    }
    th_canvas_colour_bar(&p->canvas, p->canvas.width - 8 * p->canvas.text, p->top, p->canvas.text,
                         12 * p->canvas.text, 0, SPEED, th_colour_scale, "speed [m/s]");
    return good && th_canvas_write(&p->canvas, path, NULL) == TH_OK;
}

bool th_frames_draw(const th_frames_def *def, const char *path) {
    const double text = 11, key = 9 * text;
    const th_box *box = &def->scene->shown;
    page p = {.def = def, .left = text, .top = 3.2 * text, .gap_x = text, .gap_y = 2 * text};
    p.scale = 10; // [px/m]: a person is 4 pixels wide, 8 in the file
    p.panel_width = p.scale * (double)(box->max_x - box->min_x);
    p.panel_height = p.scale * (double)(box->max_y - box->min_y);
    double width = p.left + def->columns * (p.panel_width + p.gap_x) + key;
    double height = p.top + def->rows * (p.panel_height + p.gap_y);
    th_error ignored;
    if (th_scene_load_json(def->scene->text, strlen(def->scene->text), "experiment", NULL, NULL,
                           &p.scene, &ignored) != TH_OK)
        return false;
    p.canvas = th_canvas_create_zoomed(width, height, text, 2);
    bool good = p.canvas.surface && draw_page(&p, path);
    th_canvas_destroy(&p.canvas);
    th_scene_destroy(p.scene);
    return good;
}
