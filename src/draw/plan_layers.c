// The layers of a plan: ground, pictures, zones, goals, walls, doors, people, names, and the key that explains them.
// Drawn from the compiled scene, so that pictures show the ground that the engine uses, with holes and doors.
// SPDX-License-Identifier: Apache-2.0
#include "draw/canvas.h"
#include "draw/plan_drawing.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_colour SOLID = {0.80, 0.80, 0.80}, FLOOR = {0.975, 0.975, 0.965};
static const th_colour WALL = {0.15, 0.15, 0.15}, EXIT = {0.00, 0.55, 0.35};
static const th_colour WAYPOINT = {0.35, 0.35, 0.75}, WAITING = {0.75, 0.50, 0.10};
static const th_colour DOOR_OPEN = {0.00, 0.55, 0.80}, DOOR_CLOSED = {0.85, 0.10, 0.10};
static const th_colour ZONE = {0.93, 0.86, 0.65}, STAIRS = {0.55, 0.60, 0.70};
static const th_colour MEASURE = {0.60, 0.20, 0.60}, PORTAL = {0.80, 0.25, 0.75};
static const th_colour DIRECTIONS = {0.45, 0.60, 0.85}, DISCOMFORT = {0.66, 0.28, 0.12};

static inline th_colour goal_colour(th_goal_kind kind) {
    return kind == TH_GOAL_EXIT ? EXIT : kind == TH_GOAL_WAITING ? WAITING : WAYPOINT;
}

static inline int goal_level(const th_goal *goal) {
    return goal->is_line ? goal->line.level : goal->area.level;
}

// ---- pictures of discomfort and guidance: the darker, the more; arrows where guidance leads

static double value_at(const th_picture *picture, size_t k) {
    if (picture->discomfort) return (double)picture->discomfort[k];
    return hypot((double)picture->guidance[k].x, (double)picture->guidance[k].y);
}

static cairo_surface_t *mask_of(const th_picture *picture) {
    cairo_surface_t *mask = cairo_image_surface_create(CAIRO_FORMAT_A8, picture->nx, picture->ny);
    unsigned char *data = cairo_image_surface_get_data(mask);
    if (!data) return mask; // no memory: paints nothing
    ptrdiff_t stride = cairo_image_surface_get_stride(mask);
    size_t count = (size_t)picture->nx * (size_t)picture->ny;
    double most = 1e-9;
    for (size_t k = 0; k < count; ++k) most = fmax(most, value_at(picture, k));
    cairo_surface_flush(mask);
    for (int row = 0; row < picture->ny; ++row) // downwards; those of the picture run upwards
        for (int x = 0; x < picture->nx; ++x) {
            size_t k = (size_t)(picture->ny - 1 - row) * (size_t)picture->nx + (size_t)x;
            data[row * stride + x] = (unsigned char)(115.0 * value_at(picture, k) / most);
        }
    cairo_surface_mark_dirty(mask);
    return mask;
}

static void draw_arrow(const th_canvas *canvas, double x, double y, th_vec2 v, double size) {
    double length = hypot((double)v.x, (double)v.y);
    if (!(length > 0.05)) return;
    double ux = size * (double)v.x / length, uy = -size * (double)v.y / length; // y runs down
    cairo_t *cairo = canvas->cairo;
    cairo_move_to(cairo, x + ux, y + uy);
    cairo_line_to(cairo, x - ux - 0.5 * uy, y - uy + 0.5 * ux);
    cairo_line_to(cairo, x - ux + 0.5 * uy, y - uy - 0.5 * ux);
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

static void draw_arrows(const th_canvas *canvas, const th_panel *panel, const th_picture *picture) {
    double apart = fmax(2.5 * canvas->text / panel->scale, 0.5); // [m]
    double low_x = (double)picture->box.min_x, low_y = (double)picture->box.min_y;
    double width = (double)picture->box.max_x - low_x, height = (double)picture->box.max_y - low_y;
    th_canvas_colour(canvas, DIRECTIONS, 1);
    for (double y = apart / 2; y < height; y += apart)
        for (double x = apart / 2; x < width; x += apart) {
            int column = (int)fmin(x / width * picture->nx, picture->nx - 1);
            int row = (int)fmin(y / height * picture->ny, picture->ny - 1);
            draw_arrow(canvas, th_panel_x(panel, low_x + x), th_panel_y(panel, low_y + y),
                       picture->guidance[(size_t)row * (size_t)picture->nx + (size_t)column],
                       0.5 * canvas->text);
        }
}

static void draw_picture(const th_canvas *canvas, const th_panel *panel,
                         const th_picture *picture) {
    cairo_t *cairo = canvas->cairo;
    cairo_surface_t *mask = mask_of(picture);
    double left = th_panel_x(panel, (double)picture->box.min_x);
    double top = th_panel_y(panel, (double)picture->box.max_y);
    cairo_save(cairo);
    cairo_translate(cairo, left, top);
    cairo_scale(cairo, (th_panel_x(panel, (double)picture->box.max_x) - left) / picture->nx,
                (th_panel_y(panel, (double)picture->box.min_y) - top) / picture->ny);
    th_canvas_colour(canvas, picture->guidance ? DIRECTIONS : DISCOMFORT, 1);
    cairo_mask_surface(cairo, mask, 0, 0);
    cairo_restore(cairo);
    if (picture->guidance) draw_arrows(canvas, panel, picture);
    cairo_surface_destroy(mask);
}

// ---- ground, zones, goals, walls, doors, people, and the key that explains them

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
                                 const th_scene_view *scene, const th_level *level) {
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
    th_colour colour = goal_colour(goal->kind);
    if (goal->is_line) {
        draw_line(canvas, panel, goal->line.a, goal->line.b, colour, 0.5 * canvas->text, 0);
        return;
    }
    fill_polygons(canvas, panel, &goal->area.shape, colour, 0.22);
    outline_polygons(canvas, panel, &goal->area.shape, colour, goal->kind == TH_GOAL_EXIT ? 0 : 5);
}

// ---- scene data that models declare

static th_colour section_colour(const th_section_info *info) {
    uint32_t c = info->colour ? info->colour : 0x59a699;
    return (th_colour){(c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0};
}

static const th_item *item_of(const th_section *section, int i) {
    const char *items = section->items;
    return (const th_item *)(const void *)(items + (size_t)i * section->info->item_size);
}

// The value of a key [m]; 0: the section has no such key.
static double number_of(const th_section_info *info, const th_item *item, const char *key) {
    for (int k = 0; key && k < info->key_count; ++k)
        if (strcmp(info->keys[k].name, key) == 0)
            return (double)*(const float *)(const void *)((const char *)item +
                                                          info->keys[k].offset);
    return 0.0;
}

static void trace_line(const th_canvas *canvas, const th_panel *panel, const th_polyline *line) {
    for (int k = 0; k < line->count; ++k)
        cairo_line_to(canvas->cairo, th_panel_x(panel, (double)line->points[k].x),
                      th_panel_y(panel, (double)line->points[k].y));
}

// Where a line ends, along its last piece.
static void draw_arrow_head(const th_canvas *canvas, const th_panel *panel,
                            const th_polyline *line) {
    th_vec2 end = line->points[line->count - 1], before = line->points[line->count - 2];
    th_vec2 along = {end.x - before.x, end.y - before.y};
    double length = hypot((double)along.x, (double)along.y), size = 0.5 * canvas->text;
    draw_arrow(canvas, th_panel_x(panel, (double)end.x) + size * (double)along.x / length,
               th_panel_y(panel, (double)end.y) - size * (double)along.y / length, along, size);
}

// A band, and its middle: dashed, or whole with an arrow where it leads somewhere.
static void draw_band(const th_canvas *canvas, const th_panel *panel, const th_section_info *info,
                      const th_polyline *line, double width) {
    cairo_t *cairo = canvas->cairo;
    const double dash = canvas->text;
    cairo_set_line_cap(cairo, info->leads ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cairo, info->leads ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
    trace_line(canvas, panel, line);
    th_canvas_colour(canvas, section_colour(info), 0.2);
    cairo_set_line_width(cairo, width * panel->scale);
    cairo_stroke_preserve(cairo);
    th_canvas_colour(canvas, section_colour(info), 1);
    cairo_set_dash(cairo, &dash, info->leads ? 0 : 1, 0);
    cairo_set_line_width(cairo, (info->leads ? 0.2 : 0.15) * canvas->text);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    if (info->leads) draw_arrow_head(canvas, panel, line);
}

static void draw_section(const th_canvas *canvas, const th_panel *panel, const th_section *section,
                         int level) {
    const th_section_info *info = section->info;
    for (int i = 0; i < section->count; ++i) {
        const th_item *item = item_of(section, i);
        if (item->level != level) continue;
        double width =
            number_of(info, item, info->width_key) + 2.0 * number_of(info, item, info->reach_key);
        for (int k = 0; k < info->key_count; ++k) {
            const void *value = (const char *)item + info->keys[k].offset;
            const th_polyline *line = value;
            if (info->keys[k].kind == TH_KEY_LINE && line->count > 1)
                draw_band(canvas, panel, info, line, width);
            if (info->keys[k].kind != TH_KEY_AREA) continue;
            fill_polygons(canvas, panel, value, section_colour(info), 0.22);
            outline_polygons(canvas, panel, value, section_colour(info), 5);
        }
    }
}

void th_draw_ground(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
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
            draw_picture(canvas, panel, &scene->pictures[i]);
    cairo_restore(canvas->cairo);
    for (int i = 0; i < scene->section_count; ++i)
        draw_section(canvas, panel, &scene->sections[i], level_index);
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

void th_clip_to_ground(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                       int level_index) {
    const th_level *level = &scene->levels[level_index];
    if (!level->bounded) return;
    cairo_set_fill_rule(canvas->cairo, CAIRO_FILL_RULE_EVEN_ODD);
    trace_polygons(canvas, panel, &level->walkable);
    cairo_clip(canvas->cairo);
}

void th_draw_outline(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
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
    const th_scene_view *scene = view->scene;
    th_draw_outline(canvas, panel, scene, level_index, 1.5);
    for (int i = 0; i < scene->link_count; ++i) {
        const th_link *link = &scene->links[i];
        if (link->level[0] == level_index || link->level[1] == level_index)
            draw_line(canvas, panel, link->a, link->b, STAIRS, 0.3 * canvas->text, 0);
    }
    for (int i = 0; i < scene->goal_count; ++i)
        if (goal_level(&scene->goals[i]) == level_index && !scene->goals[i].item)
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

void th_draw_exits(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                   int level) {
    for (int i = 0; i < scene->goal_count; ++i) {
        const th_goal *goal = &scene->goals[i];
        if (goal->kind != TH_GOAL_EXIT || goal_level(goal) != level) continue;
        if (goal->is_line)
            draw_line(canvas, panel, goal->line.a, goal->line.b, EXIT, 0.3 * canvas->text, 0);
        else
            outline_polygons(canvas, panel, &goal->area.shape, EXIT, 0);
    }
}

void th_draw_starts(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                    int level) {
    for (int i = 0; i < scene->group_count; ++i) {
        const th_group *group = &scene->groups[i];
        for (int k = 0; k < group->entry_count; ++k)
            if (group->entries[k].level == level)
                th_draw_dots(canvas, panel, &group->entries[k].position, 1, th_colour_group(i),
                             fmin(fmax(0.4 * panel->scale, 2), 8));
        if (group->level != level || group->entries) continue;
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

// Okabe and Ito 2008: blue, sky, orange, vermilion, purple.
th_colour th_mood_colour(th_mood mood) {
    static const th_colour colours[TH_MOOD_COUNT] = {
        [TH_MOOD_CALM] = {0.00, 0.45, 0.70},   [TH_MOOD_WAITS] = {0.34, 0.71, 0.91},
        [TH_MOOD_IMPATIENT] = {0.90, 0.62, 0}, [TH_MOOD_PANICS] = {0.84, 0.37, 0.00},
        [TH_MOOD_FALLEN] = {0.80, 0.47, 0.65},
    };
    return colours[mood];
}

static th_colour person_colour(const th_plan_view *view, int i) {
    const th_moment *crowd = view->crowd;
    static const th_colour scripted = {0.35, 0.35, 0.35};
    if (!th_moment_is_person(crowd, i)) return scripted;
    if (view->colour_by == TH_BY_GROUP)
        return crowd->group[i] < view->scene->group_count ? th_colour_group(crowd->group[i])
                                                          : scripted;
    if (view->colour_by == TH_BY_MOOD) return th_mood_colour((th_mood)view->moods[i]);
    if (view->colour_by == TH_BY_DENSITY)
        return th_colour_scale(1 - (double)view->density[i] / TH_DENSITY_SCALE);
    double speed = hypot(crowd->velocity_x[i], crowd->velocity_y[i]);
    if (!crowd->preferred_speed) return th_colour_scale(speed / TH_SPEED_SCALE);
    return th_colour_scale(crowd->preferred_speed[i] > 0 ? speed / crowd->preferred_speed[i] : 0);
}

// Big discs get a rim and a nose in walking direction, or towards what they watch; small ones are squares of the same area,
// which cost a tenth and look the same.
static void draw_person(const th_canvas *canvas, const th_plan_view *view, int i, double x,
                        double y, double radius) {
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
    double vx = view->crowd->velocity_x[i], vy = view->crowd->velocity_y[i];
    double speed = hypot(vx, vy);
    if (speed < 0.05 && view->watched) {
        vx = (double)view->watched[i].x;
        vy = (double)view->watched[i].y;
        speed = hypot(vx, vy);
    }
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
        draw_person(canvas, view, i, th_panel_x(panel, crowd->x[i]), th_panel_y(panel, crowd->y[i]),
                    radius);
    }
    cairo_restore(canvas->cairo);
}

static bool any_goal(const th_scene_view *scene, th_goal_kind kind) {
    for (int i = 0; i < scene->goal_count; ++i)
        if (scene->goals[i].kind == kind) return true;
    return false;
}

static bool any_zone(const th_scene_view *scene, bool stairs) {
    for (int i = 0; i < scene->zone_count; ++i)
        if (is_stairs(&scene->zones[i]) == stairs) return true;
    return false;
}

static bool any_picture(const th_scene_view *scene, th_picture_kind kind) {
    for (int i = 0; i < scene->picture_count; ++i)
        if (scene->pictures[i].kind == kind) return true;
    return false;
}

static bool any_door(const th_plan_view *view, bool closed) {
    for (int i = 0; i < view->scene->door_count; ++i)
        if (view->door_closed[i] == closed) return true;
    return false;
}

typedef struct key_row {
    bool used, filled;
    th_colour colour;
    double dash;
    const char *name;
} key_row;

// A line of the key; returns where the next one is.
static double draw_key_row(const th_canvas *canvas, const key_row *row, double x, double y) {
    double text = canvas->text;
    if (!row->used) return y;
    th_canvas_colour(canvas, row->colour, 1);
    if (row->filled) {
        cairo_rectangle(canvas->cairo, x, y - 0.7 * text, 1.8 * text, 0.8 * text);
        cairo_fill(canvas->cairo);
    } else {
        cairo_set_line_width(canvas->cairo, 0.25 * text);
        cairo_set_dash(canvas->cairo, &row->dash, row->dash > 0, 0);
        cairo_move_to(canvas->cairo, x, y - 0.35 * text);
        cairo_line_to(canvas->cairo, x + 1.8 * text, y - 0.35 * text);
        cairo_stroke(canvas->cairo);
        cairo_set_dash(canvas->cairo, NULL, 0, 0);
    }
    cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
    th_canvas_text(canvas, x + 2.3 * text, y, 0, text, false, row->name);
    return y + 1.6 * text;
}

double th_draw_key(const th_canvas *canvas, const th_plan_view *view, double x, double y) {
    const th_scene_view *scene = view->scene;
    const key_row rows[] = {
        {scene->wall_count > 0, false, WALL, 0, "wall"},
        {any_goal(scene, TH_GOAL_EXIT), false, EXIT, 0, "exit"},
        {any_door(view, false), false, DOOR_OPEN, 4, "door, open"},
        {any_door(view, true), false, DOOR_CLOSED, 0, "door, closed"},
        {any_goal(scene, TH_GOAL_WAYPOINT), false, WAYPOINT, 5, "waypoint"},
        {any_goal(scene, TH_GOAL_WAITING), false, WAITING, 5, "waiting area"},
        {any_zone(scene, true) || scene->link_count > 0, false, STAIRS, 0, "stairs, link"},
        {any_zone(scene, false), true, ZONE, 0, "speed zone"},
        {any_picture(scene, TH_PICTURE_DISCOMFORT), true, DISCOMFORT, 0, "discomfort"},
        {any_picture(scene, TH_PICTURE_GUIDANCE), false, DIRECTIONS, 0, "directions"},
        {view->body_count > 0, true, FALLEN, 0, "fallen person"},
        {view->rooms != NULL, false, PORTAL, 0, "portal"},
        {scene->measure_line_count + scene->measure_area_count > 0, false, MEASURE, 3,
         "measurement"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        y = draw_key_row(canvas, &rows[i], x, y);
    for (int i = 0; i < scene->section_count; ++i) {
        const th_section_info *info = scene->sections[i].info;
        key_row row = {scene->sections[i].count > 0, false, section_colour(info),
                       info->leads ? 0 : 4, info->item};
        y = draw_key_row(canvas, &row, x, y);
    }
    return y;
}

// ---- names, placed so that they do not overlap

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

// Where a name may stand: shifts in its widths and lines from where it belongs, the nearest first.
static const struct {
    double across, down;
} name_shifts[] = {{0, 0},    {0, 1.2},   {0, -1.2},   {0, 2.4},    {0, -2.4},    {0.7, 0},
                   {-0.7, 0}, {0.7, 1.2}, {0.7, -1.2}, {-0.7, 1.2}, {-0.7, -1.2}, {0, 3.6},
                   {0, -3.6}, {0.7, 2.4}, {0.7, -2.4}, {-0.7, 2.4}, {-0.7, -2.4}, {1.2, 0},
                   {-1.2, 0}, {1.2, 1.2}, {1.2, -1.2}, {-1.2, 1.2}, {-1.2, -1.2}, {0, 4.8},
                   {0, -4.8}, {0.7, 3.6}, {0.7, -3.6}, {-0.7, 3.6}, {-0.7, -3.6}, {0, 6},
                   {0, -6}};
enum { NAME_SHIFTS = sizeof name_shifts / sizeof name_shifts[0], NAME_NEAR = 5 };

// From a name that had to go aside to where it belongs.
static void draw_leader(const th_canvas *canvas, double x, double y, double left, double right,
                        double middle, th_colour colour) {
    th_canvas_colour(canvas, colour, 0.6);
    cairo_set_line_width(canvas->cairo, 0.8);
    cairo_move_to(canvas->cairo, fmin(fmax(x, left), right), middle);
    cairo_line_to(canvas->cairo, x, y);
    cairo_stroke(canvas->cairo);
}

// White behind the letters keeps a name readable over people and walls. x and y are the middle [px]; when another name
// is there it stands at the nearest free place, and where there is none it is left out: names over each other tell
// nothing.
static void draw_name(const th_canvas *canvas, const th_panel *panel, name_list *names, double x,
                      double y, th_colour colour, const char *name) {
    char fitted[96];
    double size = 0.9 * canvas->text, left = 0, base = 0;
    int place = 0;
    th_canvas_fit(canvas, size, panel->width / 3, name, fitted, sizeof fitted);
    double width = th_canvas_text_width(canvas, size, fitted);
    if (names->count == NAMES_MAX) return;
    for (; place < NAME_SHIFTS; ++place) {
        left = x - width / 2 + name_shifts[place].across * fmax(width + size, 5 * size);
        left = fmin(fmax(left, panel->left + 3), panel->left + panel->width - width - 3);
        base = y + 0.35 * size + name_shifts[place].down * size;
        base = fmin(fmax(base, panel->top + size), panel->top + panel->height - 4);
        if (is_free(names, left - 2, base - 0.85 * size, left + width + 2, base + 0.3 * size))
            break;
    }
    if (place == NAME_SHIFTS) return;
    names->box[names->count].left = left - 2;
    names->box[names->count].top = base - 0.85 * size;
    names->box[names->count].right = left + width + 2;
    names->box[names->count++].bottom = base + 0.3 * size;
    if (place >= NAME_NEAR)
        draw_leader(canvas, x, y, left, left + width, base - 0.3 * size, colour);
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
                                 const th_scene_view *scene, int level) {
    for (int i = 0; i < scene->goal_count; ++i) {
        const th_goal *goal = &scene->goals[i];
        if (goal_level(goal) != level || goal->item) continue;
        if (goal->is_line)
            name_line(canvas, panel, names, &goal->line, 1, goal_colour(goal->kind), goal->id);
        else
            name_area(canvas, panel, names, &goal->area.shape, goal_colour(goal->kind), goal->id);
    }
    for (int i = 0; i < scene->door_count; ++i)
        if (scene->doors[i].line.level == level)
            name_line(canvas, panel, names, &scene->doors[i].line, 1, DOOR_OPEN,
                      scene->doors[i].id);
}

// Places of models' sections that are goals.
static void name_places(const th_canvas *canvas, const th_panel *panel, name_list *names,
                        const th_scene_view *scene, int level) {
    for (int s = 0; s < scene->section_count; ++s) {
        const th_section *section = &scene->sections[s];
        for (int g = 0; g < scene->goal_count; ++g) {
            const th_goal *goal = &scene->goals[g];
            if (section->count > 0 && goal->item >= item_of(section, 0) &&
                goal->item <= item_of(section, section->count - 1) && goal_level(goal) == level)
                name_area(canvas, panel, names, &goal->area.shape, section_colour(section->info),
                          goal->id);
        }
    }
}

static void name_measurements(const th_canvas *canvas, const th_panel *panel, name_list *names,
                              const th_scene_view *scene, int level) {
    for (int i = 0; i < scene->measure_line_count; ++i)
        if (scene->measure_lines[i].line.level == level)
            name_line(canvas, panel, names, &scene->measure_lines[i].line, -1, MEASURE,
                      scene->measure_lines[i].id);
    for (int i = 0; i < scene->measure_area_count; ++i)
        if (scene->measure_areas[i].area.level == level)
            name_area(canvas, panel, names, &scene->measure_areas[i].area.shape, MEASURE,
                      scene->measure_areas[i].id);
}

void th_draw_labels(const th_canvas *canvas, const th_panel *panel, const th_scene_view *scene,
                    int level, bool everything) {
    name_list names = {.count = 0};
    if (scene->goal_count + scene->door_count <= NAMES_MAX / 2)
        name_goals_and_doors(canvas, panel, &names, scene, level);
    if (scene->goal_count + scene->door_count <= NAMES_MAX / 2)
        name_places(canvas, panel, &names, scene, level);
    if (!everything) return;
    name_measurements(canvas, panel, &names, scene, level);
    for (int i = 0; i < scene->group_count; ++i)
        if (scene->groups[i].level == level && scene->groups[i].area.shape.ring_count > 0)
            name_area(canvas, panel, &names, &scene->groups[i].area.shape, th_colour_group(i),
                      scene->groups[i].id);
}
