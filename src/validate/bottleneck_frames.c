// Draws moments of several crowds side by side. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_frames.h"
#include "draw/plan_drawing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_colour INK = {0.1, 0.1, 0.1};
#define RADIUS 0.19f // [m] mean of the scenes' people
#define SPEED 1.34f  // [m/s] mean of the scenes' people: the light end of the scale

// Everybody inside at a frame; velocities are those since the frame before. False: no memory.
static bool crowd_at(const th_tracks *tracks, int frame, th_crowd *crowd) {
    enum { COLUMNS = 9 };
    size_t people = (size_t)tracks->people;
    *crowd = (th_crowd){0};
    float *memory = calloc(COLUMNS * people + 1, sizeof *memory);
    if (!memory) return false;
    crowd->memory = memory;
    crowd->x = memory;
    crowd->y = memory + people;
    crowd->velocity_x = memory + 2 * people;
    crowd->velocity_y = memory + 3 * people;
    crowd->radius = memory + 4 * people;
    crowd->speed = memory + 5 * people;
    crowd->level = (uint32_t *)(void *)(memory + 6 * people);
    crowd->group = (uint32_t *)(void *)(memory + 7 * people);
    crowd->phase = (uint32_t *)(void *)(memory + 8 * people);
    size_t now = (size_t)frame * people, before = frame > 0 ? now - people : now;
    for (size_t k = 0; frame < tracks->frames && k < people; ++k) {
        if (isnan(tracks->x[now + k])) continue;
        int i = crowd->count++;
        crowd->x[i] = tracks->x[now + k];
        crowd->y[i] = tracks->y[now + k];
        crowd->velocity_x[i] = (float)TH_TRACKS_RATE * (crowd->x[i] - tracks->x[before + k]);
        crowd->velocity_y[i] = (float)TH_TRACKS_RATE * (crowd->y[i] - tracks->y[before + k]);
        crowd->radius[i] = RADIUS;
        crowd->speed[i] = SPEED;
        crowd->phase[i] = TH_PHASE_WALKING;
    }
    return true;
}

typedef struct page {
    const th_frames_def *def;
    th_scene *scene;
    th_canvas canvas;
    double left, top, panel_width, panel_height, gap_x, gap_y, scale;
} page;

static bool draw_moment(const page *p, int column, int row) {
    const th_box *box = &p->def->scene->shown;
    th_panel panel = {.left = p->left + column * (p->panel_width + p->gap_x),
                      .top = p->top + row * (p->panel_height + p->gap_y),
                      .width = p->panel_width,
                      .height = p->panel_height,
                      .box = *box,
                      .scale = p->scale};
    const th_tracks *tracks = p->def->tracks[column];
    th_crowd crowd;
    bool good = crowd_at(tracks, (int)lround(p->def->times[row] * TH_TRACKS_RATE), &crowd);
    bool no_doors[1] = {false};
    th_plan_view view = {.scene = p->scene,
                         .door_closed = no_doors,
                         .crowd = &crowd,
                         .colour_by = TH_BY_SPEED,
                         .box = *box};
    if (good) {
        th_draw_ground(&p->canvas, &panel, p->scene, 0);
        th_draw_walls(&p->canvas, &panel, &view, 0);
        th_draw_people(&p->canvas, &panel, &view, 0);
        char text[64];
        snprintf(text, sizeof text, "%.0f s: %d inside", p->def->times[row], crowd.count);
        th_canvas_colour(&p->canvas, INK, 1);
        th_canvas_text(&p->canvas, panel.left, panel.top - 0.4 * p->canvas.text, 0, p->canvas.text,
                       false, text);
    }
    th_crowd_release(&crowd);
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
                         12 * p->canvas.text, 0, (double)SPEED, th_colour_scale, "speed [m/s]");
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
