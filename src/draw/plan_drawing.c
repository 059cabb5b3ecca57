// The page of a picture: title, one panel per level with the influences on people, key, scale bar. The layers of a
// panel are in plan_layers.c.
// SPDX-License-Identifier: Apache-2.0
#include "draw/plan_drawing.h"
#include "core/error.h"
#include "draw/canvas.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- influences: arrows, rectangles, circles and half-planes, a colour per name

enum { NAMES_MAX = 16 }; // more share the last colour
typedef struct names {
    const char *name[NAMES_MAX];
    const th_influence *first[NAMES_MAX];
    int count;
} names;

static bool is_drawn(const th_influence *one) {
    float length = hypotf(one->vector.x, one->vector.y);
    return one->kind != TH_INFLUENCE_FIGURE && (one->kind != TH_INFLUENCE_VECTOR || length > 1e-4f);
}

// The names in the order in which they come.
static int number_of(names *known, const th_influence *one) {
    int k = 0;
    while (k < known->count && strcmp(known->name[k], one->name) != 0) ++k;
    if (k < known->count) return k;
    if (k == NAMES_MAX) return NAMES_MAX - 1;
    known->name[k] = one->name;
    known->first[k] = one;
    return known->count++;
}

static th_colour colour_of(int number) {
    static const th_colour colours[] = {
        {0.85, 0.10, 0.10}, {0.10, 0.25, 0.80}, {0.00, 0.55, 0.35}, {0.85, 0.45, 0.00},
        {0.55, 0.20, 0.65}, {0.35, 0.25, 0.15}, {0.90, 0.30, 0.60}, {0.10, 0.60, 0.70},
        {0.45, 0.45, 0.45}, {0.60, 0.60, 0.00}, {0.30, 0.80, 0.20}, {0.00, 0.00, 0.00},
    };
    return colours[number % 12];
}

static void draw_arrow(const th_canvas *canvas, double x, double y, double dx, double dy) {
    cairo_t *cairo = canvas->cairo;
    double length = hypot(dx, dy), head = fmin(0.35 * length, 0.6 * canvas->text);
    double ux = dx / length, uy = dy / length;
    cairo_move_to(cairo, x, y);
    cairo_line_to(cairo, x + dx, y + dy);
    cairo_stroke(cairo);
    cairo_move_to(cairo, x + dx, y + dy);
    cairo_line_to(cairo, x + dx - head * (ux - 0.4 * uy), y + dy - head * (uy + 0.4 * ux));
    cairo_line_to(cairo, x + dx - head * (ux + 0.4 * uy), y + dy - head * (uy - 0.4 * ux));
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

bool th_trace_rectangle(const th_canvas *canvas, const th_panel *panel, const th_influence *r) {
    double length = hypot((double)r->vector.x, (double)r->vector.y), half = 0.5 * (double)r->size;
    if (!(length > 0)) return false;
    double ux = (double)r->vector.x / length, uy = (double)r->vector.y / length;
    for (int k = 0; k < 4; ++k) {
        double along = (k == 1 || k == 2 ? 0.5 : -0.5) * length, across = k < 2 ? -half : half;
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)r->at.x + along * ux - across * uy),
                      th_panel_y(panel, (double)r->at.y + along * uy + across * ux));
    }
    cairo_close_path(canvas->cairo);
    return true;
}

// The border, 1.6 m of it, with teeth on the side that is forbidden.
static void draw_half_plane(const th_canvas *canvas, const th_panel *panel,
                            const th_influence *plane) {
    double nx = (double)plane->vector.x, ny = (double)plane->vector.y;
    for (int k = -8; k <= 8; ++k) {
        double x = (double)plane->at.x - 0.1 * k * ny, y = (double)plane->at.y + 0.1 * k * nx;
        if (k > -8) cairo_line_to(canvas->cairo, th_panel_x(panel, x), th_panel_y(panel, y));
        cairo_move_to(canvas->cairo, th_panel_x(panel, x - 0.06 * nx),
                      th_panel_y(panel, y - 0.06 * ny));
        cairo_line_to(canvas->cairo, th_panel_x(panel, x), th_panel_y(panel, y));
    }
    cairo_stroke(canvas->cairo);
}

static void draw_one(const th_canvas *canvas, const th_panel *panel, const th_influence *one) {
    double x = th_panel_x(panel, (double)one->at.x), y = th_panel_y(panel, (double)one->at.y);
    double scale = panel->scale * th_influence_metres(one->unit);
    if (one->kind == TH_INFLUENCE_VECTOR) {
        draw_arrow(canvas, x, y, scale * (double)one->vector.x, -scale * (double)one->vector.y);
    } else if (one->kind == TH_INFLUENCE_RECTANGLE) {
        if (th_trace_rectangle(canvas, panel, one)) cairo_stroke(canvas->cairo);
    } else if (one->kind == TH_INFLUENCE_CIRCLE) {
        cairo_new_sub_path(canvas->cairo);
        cairo_arc(canvas->cairo, x, y, panel->scale * (double)one->size, 0, 6.283185307);
        cairo_stroke(canvas->cairo);
    } else {
        draw_half_plane(canvas, panel, one);
    }
}

// Shapes of influences on people.
static void draw_influences(const th_canvas *canvas, const th_panel *panel,
                            const th_plan_view *view, int level) {
    names known = {0};
    cairo_set_line_width(canvas->cairo, fmax(1.2, 0.12 * canvas->text));
    for (int k = 0; k < view->influence_count; ++k) {
        const th_influence *one = &view->influences[k].of;
        if (!is_drawn(one)) continue;
        th_canvas_colour(canvas, colour_of(number_of(&known, one)), 1);
        if (view->influences[k].level == level) draw_one(canvas, panel, one);
    }
}

static double draw_influence_key(const th_canvas *canvas, const th_plan_view *view, double x,
                                 double y) {
    names known = {0};
    double text = canvas->text;
    for (int k = 0; k < view->influence_count; ++k)
        if (is_drawn(&view->influences[k].of)) number_of(&known, &view->influences[k].of);
    for (int k = 0; k < known.count; ++k) {
        const th_influence *one = known.first[k];
        char scale[32] = "", name[96];
        if (one->kind == TH_INFLUENCE_VECTOR && strcmp(one->unit, "-") != 0)
            snprintf(scale, sizeof scale, "1 m: %g %s", 1 / th_influence_metres(one->unit),
                     one->unit);
        th_canvas_colour(canvas, colour_of(k), 1);
        cairo_rectangle(canvas->cairo, x, y - 0.6 * text, 0.8 * text, 0.6 * text);
        cairo_fill(canvas->cairo);
        cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
        th_canvas_fit(canvas, 0.8 * text, canvas->width - x - 1.4 * text, one->name, name,
                      sizeof name);
        th_canvas_text(canvas, x + 1.2 * text, y, 0, 0.8 * text, false, name);
        y += 1.2 * text;
        if (*scale) {
            th_canvas_text(canvas, x + 1.2 * text, y, 0, 0.8 * text, false, scale);
            y += 1.2 * text;
        }
    }
    return y;
}

// ---- the page

static void grow(th_box *box, float x, float y) {
    box->min_x = fminf(box->min_x, x);
    box->min_y = fminf(box->min_y, y);
    box->max_x = fmaxf(box->max_x, x);
    box->max_y = fmaxf(box->max_y, y);
}

th_box th_plan_box(const th_scene_view *scene, const th_moment *crowd) {
    th_box box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < scene->level_count; ++i) {
        const th_box *level = &scene->levels[i].box;
        if (!(level->min_x <= level->max_x && level->min_y <= level->max_y)) continue;
        grow(&box, level->min_x, level->min_y);
        grow(&box, level->max_x, level->max_y);
    }
    for (int i = 0; i < crowd->count; ++i) {
        if (scene->levels[th_moment_level(crowd, i)].bounded) continue;
        grow(&box, (float)crowd->x[i], (float)crowd->y[i]);
        int group = crowd->group[i];
        if (group < scene->group_count && scene->groups[group].own_goal != TH_OWN_GOAL_NONE)
            grow(&box, (float)crowd->goal_x[i], (float)crowd->goal_y[i]);
    }
    if (!(box.min_x <= box.max_x)) box = (th_box){0, 0, 0, 0};
    float margin = fmaxf(0.5f, 0.02f * fmaxf(box.max_x - box.min_x, box.max_y - box.min_y));
    return (th_box){box.min_x - margin, box.min_y - margin, box.max_x + margin, box.max_y + margin};
}

// Where things stand on the page, in pixels.
typedef struct page_layout {
    double text;
    double key_x; // left end of the key
    th_panel_page panels;
    int page_height;
} page_layout;

// At most 1.4 times as high as wide.
static page_layout lay_out(const th_plan_view *view) {
    double width = view->width, text = fmax(9, width / 100);
    page_layout page = {.text = text, .key_x = width - 10.5 * text};
    page.panels = th_panel_page_fit(&view->box, view->scene->level_count, text, 5.2 * text,
                                    5.6 * text, page.key_x - 1.5 * text, 1.4 * width);
    page.page_height =
        (int)fmax(page.panels.bottom + 1.5 * text, 42 * text); // the key's own height
    return page;
}

static void draw_title(const th_canvas *canvas, const th_plan_view *view, const page_layout *page) {
    const th_moment *crowd = view->crowd;
    int people = 0;
    for (int i = 0; i < crowd->count; ++i) people += th_moment_is_person(crowd, i);
    double size = 1.6 * page->text, room = canvas->width - 2 * page->text;
    double width = 1.1 * th_canvas_text_width(canvas, size, view->title); // bold is wider
    char line[128];
    snprintf(line, sizeof line, "t = %.1f s     %d inside, %" PRIu64 " left", view->time, people,
             view->left);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_text(canvas, page->panels.left, 2.3 * page->text, 0, size * fmin(1, room / width),
                   true, view->title);
    th_canvas_text(canvas, page->panels.left, 4.1 * page->text, 0, 1.15 * page->text, false, line);
}

// One line of a key of colours; returns the y below it.
static double draw_colour_key(const th_canvas *canvas, th_colour colour, const char *words,
                              double x, double y) {
    char name[96];
    double text = canvas->text;
    th_canvas_colour(canvas, colour, 1);
    cairo_arc(canvas->cairo, x + 0.5 * text, y - 0.35 * text, 0.5 * text, 0, 6.283185307);
    cairo_fill(canvas->cairo);
    cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
    th_canvas_fit(canvas, text, canvas->width - x - 2 * text, words, name, sizeof name);
    th_canvas_text(canvas, x + 1.5 * text, y, 0, text, false, name);
    return y + 1.6 * text;
}

double th_draw_group_key(const th_canvas *canvas, const th_scene_view *scene, double x, double y) {
    enum { GROUPS_MAX = 12 }; // colours repeat after eight anyway
    double text = canvas->text;
    cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
    th_canvas_text(canvas, x, y, 0, text, true, "group");
    y += 1.7 * text;
    for (int i = 0; i < scene->group_count && i < GROUPS_MAX; ++i)
        y = draw_colour_key(canvas, th_colour_group(i), scene->groups[i].id, x, y);
    return y + 0.8 * text;
}

static double draw_mood_key(const th_canvas *canvas, double x, double y) {
    th_canvas_text(canvas, x, y, 0, canvas->text, true, "mood");
    y += 1.7 * canvas->text;
    for (int k = 0; k < TH_MOOD_COUNT; ++k)
        y = draw_colour_key(canvas, th_mood_colour((th_mood)k), th_mood_name((th_mood)k), x, y);
    return y + 0.8 * canvas->text;
}

static void draw_side(const th_canvas *canvas, const th_plan_view *view, const page_layout *page) {
    double text = page->text, x = page->key_x, y = page->panels.top + 0.4 * text, bar = 13 * text;
    cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
    if (view->colour_by == TH_BY_GROUP) {
        y = th_draw_group_key(canvas, view->scene, x, y);
    } else if (view->colour_by == TH_BY_MOOD) {
        y = draw_mood_key(canvas, x, y);
    } else if (view->colour_by == TH_BY_SPEED) {
        bool shares = view->crowd->preferred_speed;
        th_canvas_text(canvas, x, y, 0, text, false, shares ? "speed as a share" : "speed");
        th_canvas_colour_bar(canvas, x, y + 2.2 * text, 1.4 * text, bar, 0,
                             shares ? 1 : TH_SPEED_SCALE, th_colour_scale,
                             shares ? "of the preferred" : "m/s");
        y += bar + 4.5 * text;
    } else {
        th_canvas_text(canvas, x, y, 0, text, false, "people per m\xc2\xb2");
        th_canvas_colour_bar(canvas, x, y + 2.2 * text, 1.4 * text, bar, 0, TH_DENSITY_SCALE,
                             th_colour_scale_reversed, "within 1 m");
        y += bar + 4.5 * text;
    }
    y = th_draw_key(canvas, view, x, y);
    y = draw_influence_key(canvas, view, x, y);
    th_canvas_scale_bar(canvas, x, y + 1.8 * text, 8 * text, page->panels.scale);
    // Tells the reader when discs are enlarged.
    double smallest = TH_SMALLEST_DISC / page->panels.scale;
    double radius = view->crowd->count > 0 ? view->crowd->radius[0] : smallest;
    if (radius >= smallest) return;
    char note[64];
    snprintf(note, sizeof note, "people drawn %.1fx", smallest / radius);
    th_canvas_text(canvas, x, y + 4.4 * text, 0, 0.9 * text, false, note);
    th_canvas_text(canvas, x, y + 5.6 * text, 0, 0.9 * text, false, "their true size");
}

static void draw_level(const th_canvas *canvas, const th_plan_view *view, const page_layout *page,
                       int level) {
    th_panel panel = th_panel_page_level(canvas, &page->panels, view->scene, &view->box, level);
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
    cairo_clip(canvas->cairo);
    th_draw_ground(canvas, &panel, view->scene, level);
    th_draw_underlays(canvas, &panel, view, level);
    if (view->rooms) th_draw_rooms(canvas, &panel, view->rooms, level);
    th_draw_walls(canvas, &panel, view, level);
    th_draw_people(canvas, &panel, view, level);
    draw_influences(canvas, &panel, view, level);
    th_draw_labels(canvas, &panel, view->scene, level, false);
    cairo_restore(canvas->cairo);
    th_panel_axes(canvas, &panel);
}

th_canvas th_plan_page(const th_plan_view *view) {
    page_layout page = lay_out(view);
    th_canvas canvas = th_canvas_create(view->width, page.page_height, page.text);
    if (!canvas.surface) return canvas;
    draw_title(&canvas, view, &page);
    for (int level = 0; level < view->scene->level_count; ++level)
        draw_level(&canvas, view, &page, level);
    draw_side(&canvas, view, &page);
    return canvas;
}

th_result th_plan_draw(const th_plan_view *view, const char *path, th_error *error) {
    th_canvas canvas = th_plan_page(view);
    if (!canvas.surface) return th_fail(error, TH_NO_MEMORY, "", "no memory for the picture");
    th_result result = th_canvas_write(&canvas, path, error);
    th_canvas_destroy(&canvas);
    return result;
}
