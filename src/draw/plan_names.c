// Names on a plan, each where no other stands. SPDX-License-Identifier: Apache-2.0
#include "draw/plan_colours.h"
#include "draw/plan_drawing.h"
#include <math.h>

// Names already on the panel, so that the next one finds a free place.
enum { NAMES_MAX = 48 }; // more names than this hide the plan
typedef struct name_list {
    struct {
        double left, top, right, bottom;
    } box[NAMES_MAX];
    int count;
} name_list;

static bool is_free(const name_list *names, double left, double top, double right, double bottom) {
    for (int i = 0; i < names->count; ++i)
        if (left < names->box[i].right && right > names->box[i].left &&
            top < names->box[i].bottom && bottom > names->box[i].top)
            return false;
    return true;
}

// White behind the letters keeps a name readable over people and walls. x and y are the middle [px];
// the name moves up or down from there when another one is in the way.
static void draw_name(const th_canvas *canvas, const th_panel *panel, name_list *names, double x,
                      double y, th_colour colour, const char *name) {
    static const double shifts[] = {0, 1.2, -1.2, 2.4, -2.4, 3.6, -3.6};
    enum { SHIFTS = sizeof shifts / sizeof shifts[0] };
    char fitted[96];
    double size = 0.9 * canvas->text, left = 0, base = 0;
    th_canvas_fit(canvas, size, panel->width / 3, name, fitted, sizeof fitted);
    double width = th_canvas_text_width(canvas, size, fitted);
    if (names->count == NAMES_MAX) return;
    for (int i = 0; i < SHIFTS; ++i) {
        left = fmin(fmax(x - width / 2, panel->left + 3), panel->left + panel->width - width - 3);
        base = y + 0.35 * size + shifts[i] * size;
        base = fmin(fmax(base, panel->top + size), panel->top + panel->height - 4);
        if (is_free(names, left - 2, base - 0.85 * size, left + width + 2, base + 0.3 * size))
            break;
    }
    names->box[names->count].left = left - 2;
    names->box[names->count].top = base - 0.85 * size;
    names->box[names->count].right = left + width + 2;
    names->box[names->count++].bottom = base + 0.3 * size;
    cairo_set_source_rgba(canvas->cairo, 1, 1, 1, 0.8);
    cairo_rectangle(canvas->cairo, left - 2, base - 0.85 * size, width + 4, 1.15 * size);
    cairo_fill(canvas->cairo);
    th_canvas_colour(canvas, colour, 1);
    th_canvas_text(canvas, left, base, 0, size, false, fitted);
}

// Beside the line: on the side away from the middle of the plan (side 1), where fewer people stand, or
// towards it (-1).
static void name_line(const th_canvas *canvas, const th_panel *panel, name_list *names,
                      const th_line *line, double side, th_colour colour, const char *name) {
    double ax = th_panel_x(panel, (double)line->a.x), ay = th_panel_y(panel, (double)line->a.y);
    double bx = th_panel_x(panel, (double)line->b.x), by = th_panel_y(panel, (double)line->b.y);
    double length = fmax(hypot(bx - ax, by - ay), 1e-6), x = (ax + bx) / 2, y = (ay + by) / 2;
    double nx = (by - ay) / length, ny = (ax - bx) / length;
    double outward =
        nx * (x - panel->left - panel->width / 2) + ny * (y - panel->top - panel->height / 2);
    if (outward < 0) side = -side;
    double half =
        fmin(th_canvas_text_width(canvas, 0.9 * canvas->text, name), panel->width / 3) / 2;
    double shift = fabs(nx) * (half + 0.6 * canvas->text) + fabs(ny) * 1.1 * canvas->text;
    double at_x = x + side * shift * nx, at_y = y + side * shift * ny;
    bool fits = at_x - half > panel->left && at_x + half < panel->left + panel->width &&
                at_y - 0.7 * canvas->text > panel->top &&
                at_y + 0.5 * canvas->text < panel->top + panel->height;
    if (!fits) { // over the edge of the panel: the other side of the line
        at_x = x - side * shift * nx;
        at_y = y - side * shift * ny;
    }
    draw_name(canvas, panel, names, at_x, at_y, colour, name);
}

static void name_area(const th_canvas *canvas, const th_panel *panel, name_list *names,
                      const th_polygons *shape, th_colour colour, const char *name) {
    const th_box *box = &shape->box;
    draw_name(canvas, panel, names, th_panel_x(panel, (double)(box->min_x + box->max_x) / 2),
              th_panel_y(panel, (double)(box->min_y + box->max_y) / 2), colour, name);
}

static void name_goals_and_doors(const th_canvas *canvas, const th_panel *panel, name_list *names,
                                 const th_scene *scene, int level) {
    for (int i = 0; i < scene->goal_count; ++i) {
        const th_goal *goal = &scene->goals[i];
        if (th_goal_level(goal) != level) continue;
        if (goal->is_line)
            name_line(canvas, panel, names, &goal->line, 1, th_goal_colour(goal->kind), goal->id);
        else
            name_area(canvas, panel, names, &goal->area.shape, th_goal_colour(goal->kind),
                      goal->id);
    }
    for (int i = 0; i < scene->door_count; ++i)
        if (scene->doors[i].line.level == level)
            name_line(canvas, panel, names, &scene->doors[i].line, 1, DOOR_OPEN,
                      scene->doors[i].id);
}

static void name_measurements(const th_canvas *canvas, const th_panel *panel, name_list *names,
                              const th_scene *scene, int level) {
    for (int i = 0; i < scene->measure_line_count; ++i)
        if (scene->measure_lines[i].line.level == level)
            name_line(canvas, panel, names, &scene->measure_lines[i].line, -1, MEASURE,
                      scene->measure_lines[i].id);
    for (int i = 0; i < scene->measure_area_count; ++i)
        if (scene->measure_areas[i].area.level == level)
            name_area(canvas, panel, names, &scene->measure_areas[i].area.shape, MEASURE,
                      scene->measure_areas[i].id);
}

void th_draw_labels(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                    int level, bool everything) {
    name_list names = {.count = 0};
    if (scene->goal_count + scene->door_count <= NAMES_MAX / 2)
        name_goals_and_doors(canvas, panel, &names, scene, level);
    if (!everything) return;
    name_measurements(canvas, panel, &names, scene, level);
    for (int i = 0; i < scene->group_count; ++i)
        if (scene->groups[i].level == level && scene->groups[i].area.shape.ring_count > 0)
            name_area(canvas, panel, &names, &scene->groups[i].area.shape, th_colour_group(i),
                      scene->groups[i].id);
}
