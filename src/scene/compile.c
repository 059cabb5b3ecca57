// Definition -> compiled scene. Two passes: the first resolves names and parses every shape, which
// gives the extent and so the origin; the second turns everything into floats relative to it.
// SPDX-License-Identifier: Apache-2.0
#include "scene/compile.h"
#include "core/error.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ORIGIN_LIMIT 2048.0 // [m] floats resolve 0.12 mm up to here
#define SCENE_LIMIT 20000.0 // [m] from the origin; floats resolve 2 mm there

static const char *level_id(const th_scene *s, int i) { return s->levels[i].id; }
static const char *link_id(const th_scene *s, int i) { return s->links[i].id; }
static const char *zone_id(const th_scene *s, int i) { return s->zones[i].id; }
static const char *door_id(const th_scene *s, int i) { return s->doors[i].id; }
static const char *goal_id(const th_scene *s, int i) { return s->goals[i].id; }
static const char *line_id(const th_scene *s, int i) { return s->measure_lines[i].id; }
static const char *area_id(const th_scene *s, int i) { return s->measure_areas[i].id; }

static void gather_shapes(th_compiler *c, const char *key, const th_shape *shapes, int count,
                          bool lines, int level) {
    for (int i = 0; i < count && c->result == TH_OK; ++i) {
        if (count == 1)
            th_at(c, "levels[%d].%s", level, key);
        else
            th_at(c, "levels[%d].%s[%d]", level, key, i);
        if (th_shape_empty(&shapes[i])) th_bad(c, "the shape is empty");
        th_gather_shape(c, &shapes[i], lines, level);
    }
}

static void gather_levels(th_compiler *c) {
    th_scene *scene = c->scene;
    scene->levels = c->list.levels = th_take(c, (size_t)c->level_count, sizeof *scene->levels);
    c->walkable = th_arena_alloc(&c->work, (size_t)c->level_count, sizeof *c->walkable);
    c->extents = th_arena_alloc(&c->work, (size_t)c->level_count, sizeof *c->extents);
    if (!c->walkable || !c->extents) th_no_memory(c);
    if (c->result != TH_OK) return;
    scene->level_count = c->level_count;
    for (int i = 0; i < c->level_count; ++i) c->extents[i] = c->extent;
    for (int i = 0; i < c->level_count && c->result == TH_OK; ++i) {
        const th_level_def *def = &c->levels[i];
        th_at(c, "levels[%d].id", i);
        const char *only = c->level_count == 1 && !def->id ? "ground" : def->id;
        c->list.levels[i].id = th_unique_id(c, only, "level", i, level_id, i);
        th_at(c, "levels[%d].z", i);
        th_check_range(c, "z", def->z, -1e5, 1e5, "m");
        c->list.levels[i].z = (float)def->z;
        c->list.levels[i].bounded = def->walkable_count > 0;
        gather_shapes(c, "walkable", def->walkable, def->walkable_count, false, i);
        gather_shapes(c, "obstacles", def->obstacles, def->obstacle_count, false, i);
        gather_shapes(c, "walls", def->walls, def->wall_count, true, i);
    }
}

static void gather_stairs(th_compiler *c) {
    th_scene *scene = c->scene;
    scene->links = c->list.links = th_take(c, (size_t)c->def->stairs_count, sizeof *scene->links);
    for (int i = 0; i < c->def->stairs_count && c->result == TH_OK; ++i) {
        const th_stairs_def *def = &c->def->stairs[i];
        th_link *link = &c->list.links[i];
        th_at(c, "stairs[%d].id", i);
        link->id = th_unique_id(c, def->id, "stairs", i, link_id, i);
        th_at(c, "stairs[%d].level", i);
        link->level[0] = th_level_index(c, def->level);
        th_at(c, "stairs[%d].to", i);
        if (!def->to) th_bad(c, "stairs need \"to\", the upper level");
        link->level[1] = th_level_index(c, def->to);
        if (link->level[0] == link->level[1]) th_bad(c, "stairs join two different levels");
        th_at(c, "stairs[%d].up", i);
        th_check_above(c, "up", def->up, 0.0, 2.0, "");
        th_at(c, "stairs[%d].down", i);
        th_check_above(c, "down", def->down, 0.0, 2.0, "");
        th_at(c, "stairs[%d].area", i);
        th_gather_shape(c, &def->area, false, link->level[0]);
        th_at(c, "stairs[%d].top", i);
        th_gather_line(c, def->top, link->level[0]);
        th_gather_line(c, def->top, link->level[1]);
        scene->link_count = i + 1;
    }
}

// Each agent asks each zone of its level in every step.
enum { ZONE_LIMIT = 1000 };

static void gather_zones(th_compiler *c) {
    th_scene *scene = c->scene;
    th_at(c, "zones");
    if (c->def->zone_count > ZONE_LIMIT)
        th_bad(c, "%d zones; a scene has at most %d: zones of one speed can share an area",
               c->def->zone_count, ZONE_LIMIT);
    scene->zones = c->list.zones =
        th_take(c, (size_t)c->def->zone_count + (size_t)c->def->stairs_count, sizeof *scene->zones);
    for (int i = 0; i < c->def->zone_count && c->result == TH_OK; ++i) {
        const th_zone_def *def = &c->def->zones[i];
        th_at(c, "zones[%d].id", i);
        c->list.zones[i].id = th_unique_id(c, def->id, "zone", i, zone_id, i);
        th_at(c, "zones[%d].level", i);
        c->list.zones[i].area.level = th_level_index(c, def->level);
        th_at(c, "zones[%d].speed", i);
        th_check_above(c, "speed", def->speed, 0.0, 2.0, "");
        c->list.zones[i].up = c->list.zones[i].down = (float)def->speed;
        th_at(c, "zones[%d].discomfort", i);
        th_check_range(c, "discomfort", def->discomfort, 0.0, 1000.0, "");
        c->list.zones[i].discomfort = (float)def->discomfort;
        th_at(c, "zones[%d].area", i);
        if (th_shape_empty(&def->area)) th_bad(c, "a zone needs an area");
        th_gather_shape(c, &def->area, false, scene->zones[i].area.level);
        scene->zone_count = i + 1;
    }
}

static const char *goal_array(th_goal_kind kind) {
    return kind == TH_GOAL_EXIT       ? "exits"
           : kind == TH_GOAL_WAYPOINT ? "waypoints"
                                      : "waiting_areas";
}

// Goals are one list here and three arrays in the file.
static int goal_place(const th_scene_def *def, int index) {
    int place = 0;
    for (int i = 0; i < index; ++i) place += def->goals[i].kind == def->goals[index].kind;
    return place;
}

void th_at_goal(th_compiler *c, int goal, const char *key) {
    th_at(c, "%s[%d].%s", goal_array(c->def->goals[goal].kind), goal_place(c->def, goal), key);
}

static bool exit_shuts(const th_goal_def *goal) { return goal->closed || goal->schedule_count > 0; }

// A door on the line of every exit that shuts, after the scene's own doors.
static void add_doors_of_exits(th_compiler *c, th_scene_def *def) {
    int more = 0;
    for (int i = 0; i < def->goal_count; ++i) more += exit_shuts(&def->goals[i]);
    if (more == 0) return;
    size_t count = (size_t)def->door_count + (size_t)more;
    th_door_def *doors = th_arena_alloc(&c->work, count, sizeof *doors);
    c->exit_of_door = th_arena_alloc(&c->work, count, sizeof *c->exit_of_door);
    if (!doors || !c->exit_of_door) {
        th_no_memory(c);
        return;
    }
    for (int d = 0; d < def->door_count; ++d) {
        doors[d] = def->doors[d];
        c->exit_of_door[d] = -1;
    }
    for (int i = 0; i < def->goal_count; ++i) {
        const th_goal_def *goal = &def->goals[i];
        if (!exit_shuts(goal)) continue;
        th_at_goal(c, i, goal->closed ? "closed" : "schedule");
        if (goal->kind != TH_GOAL_EXIT || !goal->has_line)
            th_bad(c, "only an exit with a \"line\" can be shut; give it a line, or put a door "
                      "before it");
        c->exit_of_door[def->door_count] = i;
        doors[def->door_count++] = (th_door_def){.id = goal->id,
                                                 .level = goal->level,
                                                 .line = {goal->line[0], goal->line[1]},
                                                 .closed = goal->closed,
                                                 .schedule = goal->schedule,
                                                 .schedule_count = goal->schedule_count};
    }
    def->doors = doors;
}

static int exit_of_door(const th_compiler *c, int door) {
    return c->exit_of_door ? c->exit_of_door[door] : -1;
}

void th_at_door(th_compiler *c, int door, const char *key) {
    if (exit_of_door(c, door) >= 0)
        th_at_goal(c, exit_of_door(c, door), key);
    else
        th_at(c, "doors[%d].%s", door, key);
}

static void gather_doors(th_compiler *c) {
    th_scene *scene = c->scene;
    scene->doors = c->list.doors = th_take(c, (size_t)c->def->door_count, sizeof *scene->doors);
    for (int i = 0; i < c->def->door_count && c->result == TH_OK; ++i) {
        const th_door_def *def = &c->def->doors[i];
        th_door *door = &c->list.doors[i];
        door->exit = exit_of_door(c, i);
        th_at_door(c, i, "id");
        door->id = th_unique_id(c, def->id, "door", i, door_id, i);
        th_at_door(c, i, "level");
        door->line.level = th_level_index(c, def->level);
        th_at_door(c, i, "line");
        th_gather_line(c, def->line, door->line.level);
        door->closed = def->closed;
        th_door_change *schedule = th_take(c, (size_t)def->schedule_count, sizeof *schedule);
        for (int k = 0; k < def->schedule_count && schedule; ++k) {
            char key[40];
            snprintf(key, sizeof key, "schedule[%d]", k);
            th_at_door(c, i, key);
            th_check_range(c, "time", def->schedule[k].time, 0.0, 1e7, "s");
            if (k && def->schedule[k].time < def->schedule[k - 1].time)
                th_bad(c, "time %g s comes after %g s; put the changes in order",
                       def->schedule[k].time, def->schedule[k - 1].time);
            schedule[k] = def->schedule[k];
        }
        door->schedule = schedule;
        door->schedule_count = def->schedule_count;
        scene->door_count = i + 1;
    }
}

static void gather_goals(th_compiler *c) {
    th_scene *scene = c->scene;
    size_t most = (size_t)c->def->goal_count + (size_t)th_count_detours(c->def);
    scene->goals = c->list.goals = th_take(c, most, sizeof *scene->goals);
    for (int i = 0; i < c->def->goal_count && c->result == TH_OK; ++i) {
        const th_goal_def *def = &c->def->goals[i];
        th_goal *goal = &c->list.goals[i];
        const char *array = goal_array(def->kind);
        int place = goal_place(c->def, i);
        if ((unsigned)def->kind >= TH_GOAL_DETOUR) th_bad(c, "there is no kind %d", (int)def->kind);
        goal->kind = def->kind;
        goal->is_line = def->has_line;
        th_at(c, "%s[%d].id", array, place);
        goal->id = th_unique_id(c, def->id, def->kind == TH_GOAL_EXIT ? "exit" : "goal", place,
                                goal_id, i);
        th_at(c, "%s[%d].level", array, place);
        goal->area.level = goal->line.level = th_level_index(c, def->level);
        th_at(c, "%s[%d].wait", array, place);
        th_check_range(c, "wait", def->wait, 0.0, 1e7, "s");
        goal->wait = (float)def->wait;
        th_at(c, "%s[%d].%s", array, place, def->refuge ? "refuge" : "capacity");
        if ((def->refuge || def->capacity != 0) && def->kind != TH_GOAL_WAITING)
            th_bad(c, "only waiting areas may be refuges or have a capacity");
        th_check_range(c, "capacity", (double)def->capacity, 0.0, 1e6, "people, a whole number");
        goal->refuge = def->refuge;
        goal->capacity = def->capacity;
        th_at(c, "%s[%d]", array, place);
        if (def->has_line != th_shape_empty(&def->area))
            th_bad(c, "give either an \"area\" or a \"line\"");
        th_at(c, "%s[%d].%s", array, place, def->has_line ? "line" : "area");
        if (def->has_line)
            th_gather_line(c, def->line, goal->line.level);
        else
            th_gather_shape(c, &def->area, false, goal->area.level);
        scene->goal_count = i + 1;
    }
}

// The goals whose people feel the discomfort of zones.
static void name_zone_goals(th_compiler *c) {
    for (int i = 0; i < c->def->zone_count && c->result == TH_OK; ++i) {
        const char *to = c->def->zones[i].to;
        th_at(c, "zones[%d].to", i);
        c->list.zones[i].to = to ? th_goal_index(c, to) : -1;
    }
}

static void take_map_times(th_compiler *c) {
    const th_scene_def *def = c->def;
    for (int i = 0; i < def->map_time_count && c->result == TH_OK; ++i) {
        double time = def->map_times[i];
        th_at(c, "measure.map_times[%d]", i);
        if (i == TH_MAP_TIMES)
            th_bad(c, "at most %d times; leave some out", TH_MAP_TIMES);
        else if (!(time >= 0 && time <= 1e7) || (i > 0 && !(time > def->map_times[i - 1])))
            th_bad(c, "%g: give times from 0 to 1e7 [s] in ascending order", time);
        else
            c->scene->map_times[c->scene->map_time_count++] = time;
    }
}

static void gather_measures(th_compiler *c) {
    take_map_times(c);
    th_scene *scene = c->scene;
    const th_scene_def *def = c->def;
    scene->measure_lines = c->list.measure_lines =
        th_take(c, (size_t)def->measure_line_count, sizeof *scene->measure_lines);
    scene->measure_areas = c->list.measure_areas =
        th_take(c, (size_t)def->measure_area_count, sizeof *scene->measure_areas);
    for (int i = 0; i < def->measure_line_count && c->result == TH_OK; ++i) {
        th_measure_line *line = &c->list.measure_lines[i];
        th_at(c, "measure.lines[%d].id", i);
        line->id = th_unique_id(c, def->measure_lines[i].id, "line", i, line_id, i);
        th_at(c, "measure.lines[%d].level", i);
        line->line.level = th_level_index(c, def->measure_lines[i].level);
        th_at(c, "measure.lines[%d].line", i);
        th_gather_line(c, def->measure_lines[i].line, line->line.level);
        scene->measure_line_count = i + 1;
    }
    for (int i = 0; i < def->measure_area_count && c->result == TH_OK; ++i) {
        th_measure_area *area = &c->list.measure_areas[i];
        th_at(c, "measure.areas[%d].id", i);
        area->id = th_unique_id(c, def->measure_areas[i].id, "area", i, area_id, i);
        th_at(c, "measure.areas[%d].level", i);
        area->area.level = th_level_index(c, def->measure_areas[i].level);
        th_at(c, "measure.areas[%d].area", i);
        if (th_shape_empty(&def->measure_areas[i].area))
            th_bad(c, "a measurement area needs an area");
        th_gather_shape(c, &def->measure_areas[i].area, false, area->area.level);
        scene->measure_area_count = i + 1;
    }
}

static void choose_origin(th_compiler *c) {
    th_point low = c->extent.low, high = c->extent.high;
    if (low.x > high.x) return; // an empty scene
    double reach = fmax(fmax(fabs(low.x), fabs(high.x)), fmax(fabs(low.y), fabs(high.y)));
    if (reach > ORIGIN_LIMIT) {
        c->scene->origin.x = floor((low.x + high.x) / 200.0 + 0.5) * 100.0;
        c->scene->origin.y = floor((low.y + high.y) / 200.0 + 0.5) * 100.0;
    }
    double size = fmax(high.x - low.x, high.y - low.y);
    th_at(c, "levels");
    if (size > 2.0 * SCENE_LIMIT)
        th_bad(c, "the scene is %.0f km across; the largest is %.0f km", size / 1000.0,
               2.0 * SCENE_LIMIT / 1000.0);
}

// The upward direction: away from the stairs' area; without one, away from the lower level's ground.
static th_vec2 up_direction(th_compiler *c, int index, const th_polygons *area) {
    const th_link *link = &c->scene->links[index];
    double x = (double)link->b.x - (double)link->a.x, y = (double)link->b.y - (double)link->a.y;
    double length = sqrt(x * x + y * y);
    th_vec2 left = {(float)(-y / length), (float)(x / length)}, right = {-left.x, -left.y};
    const th_polygons *lower = area->ring_count ? area : &c->scene->levels[link->level[0]].walkable;
    const th_polygons *upper = &c->scene->levels[link->level[1]].walkable;
    float middle_x = 0.5f * (link->a.x + link->b.x), middle_y = 0.5f * (link->a.y + link->b.y);
    const float step = 0.05f; // [m]
    th_vec2 at_left = {middle_x + step * left.x, middle_y + step * left.y};
    th_vec2 at_right = {middle_x + step * right.x, middle_y + step * right.y};
    bool lower_left = th_polygons_contain(lower, at_left),
         lower_right = th_polygons_contain(lower, at_right);
    if (lower_left != lower_right) return lower_left ? right : left;
    if (area->ring_count) th_bad(c, "the top line does not lie on the edge of the stairs' area");
    bool upper_left = th_polygons_contain(upper, at_left),
         upper_right = th_polygons_contain(upper, at_right);
    return upper_right && !upper_left ? right : left;
}

static void compile_stairs(th_compiler *c) {
    th_scene *scene = c->scene;
    for (int i = 0; i < c->def->stairs_count && c->result == TH_OK; ++i) {
        const th_stairs_def *def = &c->def->stairs[i];
        th_link *link = &c->list.links[i];
        th_at(c, "stairs[%d].top", i);
        th_area area = th_compile_area(c, &def->area, link->level[0]);
        link->up = up_direction(c, i, &area.shape);
        if (area.shape.ring_count == 0) continue;
        th_zone *zone = &c->list.zones[scene->zone_count++];
        zone->id = link->id;
        zone->area = area;
        zone->up = (float)def->up;
        zone->down = (float)def->down;
        zone->up_direction = link->up;
        zone->to = -1;
    }
}

static void compile_lines(th_compiler *c) {
    th_scene *scene = c->scene;
    const th_scene_def *def = c->def;
    for (int i = 0; i < def->stairs_count; ++i) {
        c->list.links[i].a = th_relative(c, def->stairs[i].top[0]);
        c->list.links[i].b = th_relative(c, def->stairs[i].top[1]);
    }
    for (int i = 0; i < def->door_count; ++i)
        c->list.doors[i].line = th_compile_line(c, def->doors[i].line, scene->doors[i].line.level);
    for (int i = 0; i < def->goal_count; ++i)
        if (def->goals[i].has_line)
            c->list.goals[i].line =
                th_compile_line(c, def->goals[i].line, scene->goals[i].line.level);
    for (int i = 0; i < def->measure_line_count; ++i)
        c->list.measure_lines[i].line =
            th_compile_line(c, def->measure_lines[i].line, scene->measure_lines[i].line.level);
}

static void compile_areas(th_compiler *c) {
    th_scene *scene = c->scene;
    const th_scene_def *def = c->def;
    for (int i = 0; i < def->zone_count; ++i)
        c->list.zones[i].area = th_compile_area(c, &def->zones[i].area, scene->zones[i].area.level);
    for (int i = 0; i < def->goal_count; ++i)
        if (!def->goals[i].has_line)
            c->list.goals[i].area =
                th_compile_area(c, &def->goals[i].area, scene->goals[i].area.level);
    for (int i = 0; i < def->measure_area_count && c->result == TH_OK; ++i) {
        th_measure_area *area = &c->list.measure_areas[i];
        int level = area->area.level;
        area->area = th_compile_area(c, &def->measure_areas[i].area, level);
        area->walkable_area = th_geometry_common_area(
            &c->geometry, th_shape_geometry(c, &def->measure_areas[i].area), c->walkable[level]);
    }
}

static const char *known_format(th_compiler *c, const char *format) {
    static const char *const formats[] = {"none", "sqlite", "compact", "text"};
    enum { COUNT = sizeof formats / sizeof formats[0] };
    th_at(c, "record.format");
    if (!format) return formats[0];
    for (int i = 0; i < COUNT; ++i)
        if (strcmp(format, formats[i]) == 0) return format;
    const char *near = th_nearest_word(format, formats, COUNT);
    th_bad(c,
           near ? "unknown format \"%.60s\"; did you mean \"%s\"?"
                : "unknown format \"%.60s\"; known: none, sqlite, compact, text%.0s",
           format, near ? near : "");
    return format;
}

static void compile_settings(th_compiler *c) {
    th_scene *scene = c->scene;
    const th_scene_def *def = c->def;
    th_at(c, "run.step");
    th_check_range(c, "step", def->run.step, TH_STEP_MIN, 0.5, "s");
    th_at(c, "run.duration");
    th_check_range(c, "duration", def->run.duration, 0.0, 1e7, "s");
    th_at(c, "run.max_time");
    th_check_above(c, "max_time", def->run.max_time, 0.0, 1e7, "s");
    th_at(c, "run.runs");
    th_check_range(c, "runs", (double)def->run.runs, 1.0, 100000.0, "");
    th_at(c, "record.fps");
    th_check_above(c, "fps", def->record.fps, 0.0, 1000.0, "1/s");
    th_at(c, "plan_cell");
    if (def->plan_cell != 0.0) th_check_range(c, "plan_cell", def->plan_cell, 0.02, 5.0, "m");
    scene->run = def->run;
    scene->record = def->record;
    scene->record.format = th_copy_string(c, known_format(c, def->record.format));
    scene->plan_cell = def->plan_cell;
    th_at(c, "name");
    scene->name = th_copy_string(c, def->name ? def->name : "scene");
    th_at(c, "description");
    scene->description = th_copy_string(c, def->description ? def->description : "");
}

static void compile_all(th_compiler *c, th_scene_def *def) {
    add_doors_of_exits(c, def);
    compile_settings(c);
    gather_levels(c);
    gather_stairs(c);
    gather_zones(c);
    gather_doors(c);
    gather_goals(c);
    th_gather_sections(c, true);
    name_zone_goals(c);
    if (c->result == TH_OK) th_gather_pictures(c);
    th_gather_sections(c, false);
    if (c->result == TH_OK) th_gather_groups(c);
    if (c->result == TH_OK) th_gather_scripted(c);
    gather_measures(c);
    if (c->result == TH_OK) choose_origin(c);
    if (c->result != TH_OK) return;
    compile_lines(c);
    th_compile_walls(c);
    if (c->result == TH_OK) compile_areas(c);
    if (c->result == TH_OK) compile_stairs(c);
    if (c->result == TH_OK) th_check_stairs_apart(c);
    if (c->result == TH_OK) th_compile_pictures(c);
    if (c->result == TH_OK) th_compile_sections(c);
    if (c->result == TH_OK) th_check_openings(c);
    if (c->result == TH_OK) th_compile_groups(c);
    if (c->result == TH_OK) th_compile_scripted(c);
}

static void close_compiler(th_compiler *c) {
    for (int i = 0; i < c->shape_count; ++i)
        GEOSGeom_destroy_r(c->geometry.geos, c->shapes[i].geometry);
    for (int i = 0; c->walkable && i < c->level_count; ++i)
        if (c->walkable[i]) GEOSGeom_destroy_r(c->geometry.geos, c->walkable[i]);
    th_geometry_close(&c->geometry);
    th_arena_release(&c->work);
}

// The lists of a definition whose elements have a cookie: X(kind, list, count).
#define ELEMENTS(X)                                    \
    X(level, levels, level_count)                      \
    X(stairs, stairs, stairs_count)                    \
    X(zone, zones, zone_count)                         \
    X(picture, pictures, picture_count)                \
    X(door, doors, door_count)                         \
    X(goal, goals, goal_count)                         \
    X(group, groups, group_count)                      \
    X(scripted, scripted, scripted_count)              \
    X(measure_line, measure_lines, measure_line_count) \
    X(measure_area, measure_areas, measure_area_count)

static th_result without_cookie(const char *list, int place, const char *kind, th_error *error) {
    char path[64];
    snprintf(path, sizeof path, "%s[%d]", list, place);
    return th_fail(error, TH_BAD_ARGUMENT, path,
                   "start from th_%s_def_default(), and compile with the headers of the library "
                   "that runs (%s)",
                   kind, TH_VERSION);
}

// Elements of another size than the library's are noticed as well: the second cookie is then somewhere else.
static th_result check_cookies(const th_scene_def *def, th_error *error) {
    if (def->cookie != TH_SCENE_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "", "start from th_scene_def_default()");
#define X(kind, list, count)             \
    for (int k = 0; k < def->count; ++k) \
        if (def->list[k].cookie != TH_ELEMENT_COOKIE) return without_cookie(#list, k, #kind, error);
    ELEMENTS(X)
#undef X
    return TH_OK;
}

th_result th_scene_compile(const th_scene_def *def, const th_narrow_gap *gaps, int gap_count,
                           th_scene **scene, th_error *error) {
    static const th_level_def open_plane = {.id = "ground"};
    *scene = NULL;
    th_result sound = check_cookies(def, error);
    if (sound != TH_OK) return sound;
    th_memory memory = th_memory_of(&def->allocator);
    th_scene_def all = *def; // with the doors of exits
    th_compiler c = {
        .def = &all, .narrow_gaps = gaps, .narrow_gap_count = gap_count, .error = error};
    c.levels = def->level_count ? def->levels : &open_plane;
    c.level_count = def->level_count ? def->level_count : 1;
    c.extent = (th_extent)TH_NO_EXTENT;
    c.work.memory = memory;
    c.scene = th_scene_empty(&memory);
    if (!c.scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    c.geometry = (th_geometry){
        .arena = &c.work, .links = {def->base_dir, def->allow_links}, .no_files = def->no_files};
    if (th_geometry_open(&c.geometry))
        compile_all(&c, &all);
    else
        c.result = th_fail(error, TH_NO_MEMORY, "", "GEOS could not be started");
    close_compiler(&c);
    if (c.result != TH_OK)
        th_scene_release(c.scene);
    else
        *scene = c.scene;
    return c.result;
}
