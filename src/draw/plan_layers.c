// The layers of a plan: ground, zones, goals, walls, doors, people, and the key that explains them.
// SPDX-License-Identifier: Apache-2.0
#include "draw/plan_colours.h"
#include "draw/plan_drawing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void trace_polygons(const th_canvas *canvas, const th_panel *panel,
                           const th_polygons *shape) {
    for (int ring = 0; ring < shape->ring_count; ++ring) {
        cairo_new_sub_path(canvas->cairo);
        for (int i = shape->ring_start[ring]; i < shape->ring_start[ring + 1]; ++i)
            cairo_line_to(canvas->cairo, th_panel_x(panel, (double)shape->points[i].x),
                          th_panel_y(panel, (double)shape->points[i].y));
        cairo_close_path(canvas->cairo);
    }
}

static void fill_polygons(const th_canvas *canvas, const th_panel *panel, const th_polygons *shape,
                          th_colour colour, double alpha) {
    cairo_set_fill_rule(canvas->cairo, CAIRO_FILL_RULE_EVEN_ODD);
    trace_polygons(canvas, panel, shape);
    th_canvas_colour(canvas, colour, alpha);
    cairo_fill(canvas->cairo);
}

static void outline_polygons(const th_canvas *canvas, const th_panel *panel,
                             const th_polygons *shape, th_colour colour, double dash) {
    trace_polygons(canvas, panel, shape);
    th_canvas_colour(canvas, colour, 1);
    cairo_set_line_width(canvas->cairo, 1.2);
    cairo_set_dash(canvas->cairo, &dash, dash > 0, 0);
    cairo_stroke(canvas->cairo);
    cairo_set_dash(canvas->cairo, NULL, 0, 0);
}

static void draw_line(const th_canvas *canvas, const th_panel *panel, th_vec2 a, th_vec2 b,
                      th_colour colour, double width, double dash) {
    cairo_move_to(canvas->cairo, th_panel_x(panel, (double)a.x), th_panel_y(panel, (double)a.y));
    cairo_line_to(canvas->cairo, th_panel_x(panel, (double)b.x), th_panel_y(panel, (double)b.y));
    th_canvas_colour(canvas, colour, 1);
    cairo_set_line_width(canvas->cairo, width);
    cairo_set_dash(canvas->cairo, &dash, dash > 0, 0);
    cairo_stroke(canvas->cairo);
    cairo_set_dash(canvas->cairo, NULL, 0, 0);
}

static bool is_stairs(const th_zone *zone) {
    return zone->up_direction.x != 0 || zone->up_direction.y != 0;
}

// Steps drawn across the direction of walking, at most one per four pixels.
static void hatch_stairs(const th_canvas *canvas, const th_panel *panel, const th_zone *zone) {
    const th_box *box = &zone->area.shape.box;
    double spacing = fmax(0.3, 4 / panel->scale); // 0.3 m: the depth of a step
    double centre_x = 0.5 * (double)(box->min_x + box->max_x);
    double centre_y = 0.5 * (double)(box->min_y + box->max_y);
    double reach = hypot((double)(box->max_x - box->min_x), (double)(box->max_y - box->min_y)) / 2;
    double ux = (double)zone->up_direction.x, uy = (double)zone->up_direction.y;
    cairo_save(canvas->cairo);
    trace_polygons(canvas, panel, &zone->area.shape);
    cairo_clip(canvas->cairo);
    for (double along = -reach; along <= reach; along += spacing) {
        double x = centre_x + along * ux, y = centre_y + along * uy;
        th_vec2 a = {(float)(x - reach * uy), (float)(y + reach * ux)};
        th_vec2 b = {(float)(x + reach * uy), (float)(y - reach * ux)};
        draw_line(canvas, panel, a, b, STAIRS, 1, 0);
    }
    cairo_restore(canvas->cairo);
}

// On an open plane nothing is cut out of a floor, so the obstacles are the closed chains of walls.
static void fill_obstacle_chains(const th_canvas *canvas, const th_panel *panel,
                                 const th_scene *scene, const th_level *level) {
    int count = level->wall_end - level->wall_begin;
    bool *seen = calloc((size_t)count + 1, sizeof *seen);
    if (!seen) return; // outlines are still drawn
    for (int first = level->wall_begin; first < level->wall_end; ++first) {
        if (seen[first - level->wall_begin] || scene->walls[first].door >= 0) continue;
        int wall = first;
        cairo_new_sub_path(canvas->cairo);
        do {
            seen[wall - level->wall_begin] = true;
            cairo_line_to(canvas->cairo, th_panel_x(panel, (double)scene->walls[wall].a.x),
                          th_panel_y(panel, (double)scene->walls[wall].a.y));
            wall = scene->walls[wall].next;
        } while (wall >= level->wall_begin && wall < level->wall_end &&
                 !seen[wall - level->wall_begin]);
        cairo_close_path(canvas->cairo);
    }
    th_canvas_colour(canvas, SOLID, 1);
    cairo_fill(canvas->cairo);
    free(seen);
}

static void draw_goal(const th_canvas *canvas, const th_panel *panel, const th_goal *goal) {
    th_colour colour = th_goal_colour(goal->kind);
    if (goal->is_line) {
        draw_line(canvas, panel, goal->line.a, goal->line.b, colour, 0.5 * canvas->text, 0);
        return;
    }
    fill_polygons(canvas, panel, &goal->area.shape, colour, 0.22);
    outline_polygons(canvas, panel, &goal->area.shape, colour, goal->kind == TH_GOAL_EXIT ? 0 : 5);
}

// A band as wide as half the radius, where most of the advice is felt, and an arrow along it.
static void draw_stroke(const th_canvas *canvas, const th_panel *panel, const th_stroke *stroke) {
    cairo_t *cairo = canvas->cairo;
    for (int k = 0; k < stroke->point_count; ++k)
        cairo_line_to(cairo, th_panel_x(panel, (double)stroke->points[k].x),
                      th_panel_y(panel, (double)stroke->points[k].y));
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    th_canvas_colour(canvas, GUIDANCE, 0.25);
    cairo_set_line_width(cairo, (double)stroke->radius * panel->scale);
    cairo_stroke_preserve(cairo);
    th_canvas_colour(canvas, GUIDANCE, 1);
    cairo_set_line_width(cairo, 0.2 * canvas->text);
    cairo_stroke(cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    int last = stroke->point_count - 1;
    th_vec2 end = stroke->points[last], before = stroke->points[last - 1];
    double x = th_panel_x(panel, (double)end.x), y = th_panel_y(panel, (double)end.y);
    double dx = x - th_panel_x(panel, (double)before.x),
           dy = y - th_panel_y(panel, (double)before.y), length = hypot(dx, dy);
    if (!(length > 0)) return;
    double size = canvas->text, ux = size * dx / length, uy = size * dy / length;
    cairo_move_to(cairo, x + ux, y + uy);
    cairo_line_to(cairo, x - 0.5 * uy, y + 0.5 * ux);
    cairo_line_to(cairo, x + 0.5 * uy, y - 0.5 * ux);
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

// A band, and its middle.
static void draw_strip(const th_canvas *canvas, const th_panel *panel, const th_strip *strip) {
    cairo_t *cairo = canvas->cairo;
    for (int k = 0; k < strip->point_count; ++k)
        cairo_line_to(cairo, th_panel_x(panel, (double)strip->points[k].x),
                      th_panel_y(panel, (double)strip->points[k].y));
    th_canvas_colour(canvas, STRIP, 0.2);
    cairo_set_line_width(cairo, (double)strip->width * panel->scale);
    cairo_stroke_preserve(cairo);
    const double dash = canvas->text;
    th_canvas_colour(canvas, STRIP, 1);
    cairo_set_dash(cairo, &dash, 1, 0);
    cairo_set_line_width(cairo, 0.15 * canvas->text);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

void th_draw_ground(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                    int level_index) {
    const th_level *level = &scene->levels[level_index];
    th_canvas_colour(canvas, level->bounded ? SOLID : FLOOR, 1);
    cairo_rectangle(canvas->cairo, panel->left, panel->top, panel->width, panel->height);
    cairo_fill(canvas->cairo);
    if (level->bounded)
        fill_polygons(canvas, panel, &level->walkable, FLOOR, 1);
    else
        fill_obstacle_chains(canvas, panel, scene, level);
    for (int i = 0; i < scene->zone_count; ++i) {
        const th_zone *zone = &scene->zones[i];
        if (zone->area.level != level_index) continue;
        fill_polygons(canvas, panel, &zone->area.shape, ZONE, is_stairs(zone) ? 0.3 : 0.7);
        if (is_stairs(zone)) hatch_stairs(canvas, panel, zone);
    }
    cairo_save(canvas->cairo);
    th_clip_to_ground(canvas, panel, scene, level_index);
    for (int i = 0; i < scene->picture_count; ++i)
        if (scene->pictures[i].level == level_index)
            th_draw_picture(canvas, panel, &scene->pictures[i]);
    cairo_restore(canvas->cairo);
    for (int i = 0; i < scene->guidance_count; ++i)
        if (scene->guidance[i].level == level_index)
            draw_stroke(canvas, panel, &scene->guidance[i]);
    for (int i = 0; i < scene->strip_count; ++i)
        if (scene->strips[i].level == level_index) draw_strip(canvas, panel, &scene->strips[i]);
}

// Rooms that share a portal seldom get the same tint: eight colours in turn.
void th_draw_rooms(const th_canvas *canvas, const th_panel *panel, const th_rooms *rooms,
                   int level) {
    char number[16];
    for (int r = 0; r < rooms->room_count; ++r)
        if (rooms->rooms[r].level == level)
            fill_polygons(canvas, panel, &rooms->rooms[r].shape, th_colour_group(r), 0.25);
    for (int p = 0; p < rooms->portal_count; ++p) {
        const th_room_portal *portal = &rooms->portals[p];
        if (portal->levels[0] == level || portal->levels[1] == level)
            draw_line(canvas, panel, portal->a, portal->b, PORTAL, 0.3 * canvas->text, 0);
    }
    for (int r = 0; r < rooms->room_count; ++r) {
        const th_box *box = &rooms->rooms[r].shape.box;
        if (rooms->rooms[r].level != level) continue;
        snprintf(number, sizeof number, "%d", r);
        cairo_set_source_rgb(canvas->cairo, 0.3, 0.3, 0.3);
        th_canvas_text(canvas, th_panel_x(panel, 0.5 * (double)(box->min_x + box->max_x)),
                       th_panel_y(panel, 0.5 * (double)(box->min_y + box->max_y)), 0.5,
                       0.9 * canvas->text, false, number);
    }
}

void th_clip_to_ground(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                       int level_index) {
    const th_level *level = &scene->levels[level_index];
    if (!level->bounded) return;
    cairo_set_fill_rule(canvas->cairo, CAIRO_FILL_RULE_EVEN_ODD);
    trace_polygons(canvas, panel, &level->walkable);
    cairo_clip(canvas->cairo);
}

void th_draw_outline(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                     int level_index, double width) {
    const th_level *level = &scene->levels[level_index];
    const th_wall *before = NULL;
    // One path for all of them: a tenth of the bytes in an SVG.
    for (int i = level->wall_begin; i < level->wall_end; ++i) {
        const th_wall *wall = &scene->walls[i];
        if (wall->door >= 0) continue;
        if (!before || before->b.x != wall->a.x || before->b.y != wall->a.y)
            cairo_move_to(canvas->cairo, th_panel_x(panel, (double)wall->a.x),
                          th_panel_y(panel, (double)wall->a.y));
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)wall->b.x),
                      th_panel_y(panel, (double)wall->b.y));
        before = wall;
    }
    th_canvas_colour(canvas, WALL, 1);
    cairo_set_line_width(canvas->cairo, width);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(canvas->cairo);
    cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_MITER);
}

void th_draw_walls(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                   int level_index) {
    const th_scene *scene = view->scene;
    th_draw_outline(canvas, panel, scene, level_index, 1.5);
    for (int i = 0; i < scene->link_count; ++i) {
        const th_link *link = &scene->links[i];
        if (link->level[0] == level_index || link->level[1] == level_index)
            draw_line(canvas, panel, link->a, link->b, STAIRS, 0.3 * canvas->text, 0);
    }
    for (int i = 0; i < scene->goal_count; ++i)
        if (th_goal_level(&scene->goals[i]) == level_index)
            draw_goal(canvas, panel, &scene->goals[i]);
    for (int i = 0; i < scene->door_count; ++i) {
        const th_line *line = &scene->doors[i].line;
        if (line->level != level_index) continue;
        bool closed = view->door_closed[i];
        draw_line(canvas, panel, line->a, line->b, closed ? DOOR_CLOSED : DOOR_OPEN,
                  0.4 * canvas->text, closed ? 0 : 4);
    }
    for (int i = 0; i < scene->measure_area_count; ++i)
        if (scene->measure_areas[i].area.level == level_index)
            outline_polygons(canvas, panel, &scene->measure_areas[i].area.shape, MEASURE, 4);
    for (int i = 0; i < scene->measure_line_count; ++i) {
        const th_line *line = &scene->measure_lines[i].line;
        if (line->level == level_index) draw_line(canvas, panel, line->a, line->b, MEASURE, 1.5, 3);
    }
}

void th_draw_exits(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                   int level) {
    for (int i = 0; i < scene->goal_count; ++i) {
        const th_goal *goal = &scene->goals[i];
        if (goal->kind != TH_GOAL_EXIT || th_goal_level(goal) != level) continue;
        if (goal->is_line)
            draw_line(canvas, panel, goal->line.a, goal->line.b, EXIT, 0.3 * canvas->text, 0);
        else
            outline_polygons(canvas, panel, &goal->area.shape, EXIT, 0);
    }
}

void th_draw_starts(const th_canvas *canvas, const th_panel *panel, const th_scene *scene,
                    int level) {
    for (int i = 0; i < scene->group_count; ++i) {
        const th_group *group = &scene->groups[i];
        if (group->level != level) continue;
        if (group->positions) {
            th_draw_dots(canvas, panel, group->positions, (int)group->count, th_colour_group(i),
                         fmin(fmax(0.4 * panel->scale, 2), 8)); // a person is about 0.4 m wide
        } else if (group->area.shape.ring_count > 0) {
            fill_polygons(canvas, panel, &group->area.shape, th_colour_group(i), 0.15);
            outline_polygons(canvas, panel, &group->area.shape, th_colour_group(i), 2);
        }
    }
}

void th_draw_dots(const th_canvas *canvas, const th_panel *panel, const th_vec2 *points, int count,
                  th_colour colour, double width) {
    cairo_t *cairo = canvas->cairo;
    int stride = 1 + (count - 1) / TH_DOTS_MAX;
    // Lines of no length with round ends: a tenth of the bytes of circles.
    for (int i = 0; i < count; i += stride) {
        double x = th_panel_x(panel, (double)points[i].x),
               y = th_panel_y(panel, (double)points[i].y);
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x, y);
    }
    th_canvas_colour(canvas, colour, 1);
    cairo_set_line_width(cairo, width);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
    cairo_stroke(cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
}

static th_colour person_colour(const th_plan_view *view, int i) {
    const th_moment *crowd = view->crowd;
    static const th_colour scripted = {0.35, 0.35, 0.35};
    if (!th_moment_is_person(crowd, i)) return scripted;
    if (view->colour_by == TH_BY_GROUP)
        return crowd->group[i] < view->scene->group_count ? th_colour_group(crowd->group[i])
                                                          : scripted;
    if (view->colour_by == TH_BY_DENSITY)
        return th_colour_scale(1 - (double)view->density[i] / TH_DENSITY_SCALE);
    double speed = hypot(crowd->velocity_x[i], crowd->velocity_y[i]);
    if (!crowd->preferred_speed) return th_colour_scale(speed / TH_SPEED_SCALE);
    return th_colour_scale(crowd->preferred_speed[i] > 0 ? speed / crowd->preferred_speed[i] : 0);
}

// Big discs get a rim and a nose in walking direction; small ones are squares of the same area,
// which cost a tenth and look the same.
static void draw_person(const th_canvas *canvas, const th_moment *crowd, int i, double x, double y,
                        double radius) {
    cairo_t *cairo = canvas->cairo;
    if (radius < 1.3) {
        double side = 1.7725 * radius; // sqrt(pi): the disc's area
        cairo_rectangle(cairo, x - side / 2, y - side / 2, side, side);
        cairo_fill(cairo);
        return;
    }
    cairo_arc(cairo, x, y, radius, 0, 6.283185307);
    if (radius < 3) {
        cairo_fill(cairo);
        return;
    }
    cairo_fill_preserve(cairo);
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.6);
    cairo_set_line_width(cairo, fmin(1.2, 0.15 * radius));
    cairo_stroke(cairo);
    double vx = crowd->velocity_x[i], vy = crowd->velocity_y[i];
    double speed = hypot(vx, vy);
    if (radius < 5 || speed < 0.05) return;
    cairo_set_source_rgba(cairo, 0, 0, 0, 0.7);
    cairo_move_to(cairo, x, y);
    cairo_line_to(cairo, x + radius * vx / speed, y - radius * vy / speed);
    cairo_stroke(cairo);
}

static const th_colour FALLEN = {0.75, 0.05, 0.15};

static void draw_bodies(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                        int level) {
    for (int k = 0; k < view->body_count; ++k) {
        if (view->bodies[k].level != level ||
            !th_trace_rectangle(canvas, panel, &view->bodies[k].of))
            continue;
        th_canvas_colour(canvas, FALLEN, 0.8);
        cairo_fill_preserve(canvas->cairo);
        th_canvas_colour(canvas, WALL, 1);
        cairo_set_line_width(canvas->cairo, 1);
        cairo_stroke(canvas->cairo);
    }
}

void th_draw_people(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                    int level) {
    const th_moment *crowd = view->crowd;
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, panel->left, panel->top, panel->width, panel->height);
    cairo_clip(canvas->cairo);
    draw_bodies(canvas, panel, view, level);
    for (int i = 0; i < crowd->count; ++i) {
        bool lies = crowd->phase && crowd->phase[i] == TH_PHASE_FALLEN;
        if (th_moment_level(crowd, i) != level || (lies && view->body_count > 0)) continue;
        th_canvas_colour(canvas, person_colour(view, i), 1);
        double radius = fmax(crowd->radius[i] * panel->scale, TH_SMALLEST_DISC);
        draw_person(canvas, crowd, i, th_panel_x(panel, crowd->x[i]),
                    th_panel_y(panel, crowd->y[i]), radius);
    }
    cairo_restore(canvas->cairo);
}

static bool any_goal(const th_scene *scene, th_goal_kind kind) {
    for (int i = 0; i < scene->goal_count; ++i)
        if (scene->goals[i].kind == kind) return true;
    return false;
}

static bool any_zone(const th_scene *scene, bool stairs) {
    for (int i = 0; i < scene->zone_count; ++i)
        if (is_stairs(&scene->zones[i]) == stairs) return true;
    return false;
}

static bool any_picture(const th_scene *scene, th_picture_kind kind) {
    for (int i = 0; i < scene->picture_count; ++i)
        if (scene->pictures[i].kind == kind) return true;
    return false;
}

static bool any_door(const th_plan_view *view, bool closed) {
    for (int i = 0; i < view->scene->door_count; ++i)
        if (view->door_closed[i] == closed) return true;
    return false;
}

double th_draw_key(const th_canvas *canvas, const th_plan_view *view, double x, double y) {
    const th_scene *scene = view->scene;
    double text = canvas->text;
    const struct {
        bool used, filled;
        th_colour colour;
        double dash;
        const char *name;
    } rows[] = {
        {scene->wall_count > 0, false, WALL, 0, "wall"},
        {any_goal(scene, TH_GOAL_EXIT), false, EXIT, 0, "exit"},
        {any_door(view, false), false, DOOR_OPEN, 4, "door, open"},
        {any_door(view, true), false, DOOR_CLOSED, 0, "door, closed"},
        {any_goal(scene, TH_GOAL_WAYPOINT), false, WAYPOINT, 5, "waypoint"},
        {any_goal(scene, TH_GOAL_WAITING), false, WAITING, 5, "waiting area"},
        {any_goal(scene, TH_GOAL_INTEREST), false, INTEREST, 5, "place of interest"},
        {any_zone(scene, true) || scene->link_count > 0, false, STAIRS, 0, "stairs, link"},
        {any_zone(scene, false), true, ZONE, 0, "speed zone"},
        {any_picture(scene, TH_PICTURE_DISCOMFORT), true, DISCOMFORT, 0, "discomfort"},
        {scene->guidance_count > 0 || any_picture(scene, TH_PICTURE_GUIDANCE), false, GUIDANCE, 0,
         "guidance"},
        {scene->strip_count > 0, false, STRIP, 4, "strip"},
        {view->body_count > 0, true, FALLEN, 0, "fallen person"},
        {view->rooms != NULL, false, PORTAL, 0, "portal"},
        {scene->measure_line_count + scene->measure_area_count > 0, false, MEASURE, 3,
         "measurement"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (!rows[i].used) continue;
        th_canvas_colour(canvas, rows[i].colour, 1);
        if (rows[i].filled) {
            cairo_rectangle(canvas->cairo, x, y - 0.7 * text, 1.8 * text, 0.8 * text);
            cairo_fill(canvas->cairo);
        } else {
            cairo_set_line_width(canvas->cairo, 0.25 * text);
            cairo_set_dash(canvas->cairo, &rows[i].dash, rows[i].dash > 0, 0);
            cairo_move_to(canvas->cairo, x, y - 0.35 * text);
            cairo_line_to(canvas->cairo, x + 1.8 * text, y - 0.35 * text);
            cairo_stroke(canvas->cairo);
            cairo_set_dash(canvas->cairo, NULL, 0, 0);
        }
        cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
        th_canvas_text(canvas, x + 2.3 * text, y, 0, text, false, rows[i].name);
        y += 1.6 * text;
    }
    return y;
}
