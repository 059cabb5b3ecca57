// Draws moments of several crowds side by side. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_frames.h"
#include "draw/plan_drawing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
