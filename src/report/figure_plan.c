// Figures over the plan: the plan itself, trajectories, who was left behind.
// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double KEY = 152; // room for the key at the right [units]

static void begin_panel(const th_canvas *canvas, const th_panel *panel) {
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, panel->left, panel->top, panel->width, panel->height);
    cairo_clip(canvas->cairo);
}

static void end_panel(const th_canvas *canvas, const th_panel *panel) {
    cairo_restore(canvas->cairo);
    th_panel_axes(canvas, panel);
}

bool th_figure_plan_applies(const th_figure_data *data) { return data->scene->level_count > 0; }

static double draw_key(const th_canvas *canvas, const th_figure_data *data,
                       const th_panel_page *page, bool symbols) {
    double text = canvas->text, x = canvas->width - KEY + 1.2 * text, y = page->top + 0.8 * text;
    y = th_draw_group_key(canvas, data->scene, x, y);
    if (symbols) y = th_draw_key(canvas, &data->view, x, y);
    th_canvas_scale_bar(canvas, x, y + 1.6 * text, 8 * text, page->scale);
    return y + 3 * text;
}

double th_figure_plan_draw(const th_canvas *canvas, const th_figure_data *data) {
    double y = th_figure_head(canvas, data, "Plan", "as simulated");
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        th_draw_starts(canvas, &panel, data->scene, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        th_draw_labels(canvas, &panel, data->scene, level, true);
        end_panel(canvas, &panel);
    }
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_plan_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "The plan as simulated. Tinted areas with dotted outlines are where groups "
                      "appear; grey is solid.");
    if (data->scene->door_count > 0)
        th_text_put(text, " Doors are drawn as they are at the start.");
}

bool th_figure_tracks_applies(const th_figure_data *data) {
    for (int i = 0; data->first && i < data->first->track_count; ++i)
        if (data->first->tracks[i].count > 1) return true;
    return false;
}

// Points nearer than `spacing` to the last one drawn are left out, and with them most of the bytes.
static int trace_track(const th_canvas *canvas, const th_panel *panel, const th_track *track,
                       int level, double spacing) {
    double last_x = 0, last_y = 0;
    bool begun = false;
    int points = 0;
    for (int k = 0; k < track->count; ++k) {
        if (track->level[k] != level) {
            begun = false;
            continue;
        }
        double x = th_panel_x(panel, (double)track->x[k]);
        double y = th_panel_y(panel, (double)track->y[k]);
        if (!isfinite(x) || !isfinite(y)) continue;
        bool end = k + 1 == track->count || track->level[k + 1] != level;
        if (begun && !end && hypot(x - last_x, y - last_y) < spacing) continue;
        if (begun)
            cairo_line_to(canvas->cairo, x, y);
        else
            cairo_move_to(canvas->cairo, x, y);
        begun = true;
        last_x = x;
        last_y = y;
        ++points;
    }
    return points;
}

static void draw_tracks(const th_canvas *canvas, const th_panel *panel, const th_figure_data *data,
                        int level) {
    enum { POINTS_MAX = 25000 }; // about half a megabyte of SVG
    const th_observation *first = data->first;
    double spacing = 1.2;
    for (int points = POINTS_MAX + 1; points > POINTS_MAX; spacing *= 1.5) {
        points = 0;
        for (int i = 0; i < first->track_count; ++i)
            points += trace_track(canvas, panel, &first->tracks[i], level, spacing);
        cairo_new_path(canvas->cairo);
        // Every track keeps its ends, whatever the spacing.
        if (spacing > canvas->width || points <= POINTS_MAX) break;
    }
    cairo_set_line_width(canvas->cairo, 0.9);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int i = 0; i < first->track_count; ++i) {
        trace_track(canvas, panel, &first->tracks[i], level, spacing);
        th_canvas_colour(canvas, th_colour_group(first->tracks[i].group), 0.55);
        cairo_stroke(canvas->cairo);
    }
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_MITER);
}

double th_figure_tracks_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d of %d people, %s", data->first->track_count,
             data->first->person_count, runs);
    double y = th_figure_head(canvas, data, "Trajectories", note);
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        draw_tracks(canvas, &panel, data, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        end_panel(canvas, &panel);
    }
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_tracks_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "The ways of ");
    th_text_count(text, data->first->track_count);
    th_text_put(text,
                " people, chosen evenly from the order in which they appeared, one point every ");
    th_text_value(text, data->first->interval);
    th_text_put(text, "\xc2\xa0s, coloured by group.");
}

bool th_figure_left_behind_applies(const th_figure_data *data) {
    return data->first && data->first->left_behind_count > 0;
}

double th_figure_left_behind_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_observation *first = data->first;
    char runs[80], note[160];
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d people at t = %.0f s, %s", first->left_behind_count,
             first->statistics.time, runs);
    double y = th_figure_head(canvas, data, "People still inside at the end", note);
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    double dot = fmin(fmax(0.4 * page.scale, 3), 8); // a person is about 0.4 m wide
    th_vec2 *points = malloc((size_t)first->left_behind_count * sizeof *points);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        for (int group = 0; points && group < data->scene->group_count; ++group) {
            int count = 0;
            for (int i = 0; i < first->left_behind_count; ++i)
                if (first->left_behind[i].level == level && first->left_behind[i].group == group)
                    points[count++] = (th_vec2){first->left_behind[i].x, first->left_behind[i].y};
            th_draw_dots(canvas, &panel, points, count, th_colour_group(group), dot);
        }
        th_draw_labels(canvas, &panel, data->scene, level, false);
        end_panel(canvas, &panel);
    }
    free(points);
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_left_behind_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "Where the ");
    th_text_count(text, data->first->left_behind_count);
    th_text_add(text, " people stand who had not left when the %s ended, coloured by group.",
                data->ensemble->run_count > 1 ? "first run" : "run");
    if (data->first->left_behind_count > TH_DOTS_MAX)
        th_text_add(text, " At most %d dots per group are drawn, an even choice.", TH_DOTS_MAX);
}
