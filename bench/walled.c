// The bench scenes with walls: pillars, a door, rooms. SPDX-License-Identifier: Apache-2.0
#include "bench/walled.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PILLAR_SPACING = 5.0; // [m]
static const double PILLAR_SIDE = 1.0;    // [m]
static const double PILLAR_RUNWAY = 40.0; // from the last pillars to the goal [m]
static const double DOOR_DENSITY = 3.0;   // before the door [1/m2]
static const double DOOR_WIDTH = 2.0;     // [m]
static const double DOOR_RUNWAY = 10.0;   // from the door to the goal [m]
static const double ROOM_SIDE = 20.0;     // [m]
static const double ROOM_DENSITY = 1.0;   // [1/m2]
static const double ROOM_OPENING = 1.6;   // between two rooms [m]
static const double ROOM_EXIT = 10.0;     // [m]
static const double ROOM_INSET =
    4.0; // of the starts from the exits, so that nobody leaves while timed [m]

th_shape th_bench_rectangle(th_point *corners, double x0, double y0, double x1, double y1) {
    corners[0] = (th_point){x0, y0};
    corners[1] = (th_point){x1, y0};
    corners[2] = (th_point){x1, y1};
    corners[3] = (th_point){x0, y1};
    return (th_shape){.points = corners, .point_count = 4};
}

// One level, everybody to the nearest of the goals.
static th_result create(th_bench_scene which, const th_group_def *group, int agents,
                        th_level_def *level, th_shape area, th_goal_def *goals,
                        const char *const *names, int goal_count, th_scene **scene,
                        th_error *error) {
    th_route_step route = {names, goal_count};
    th_group_def people = *group;
    level->id = people.level = "ground";
    for (int k = 0; k < goal_count; ++k) {
        goals[k].id = names[k];
        goals[k].level = "ground";
        goals[k].kind = TH_GOAL_EXIT;
    }
    people.area = area;
    people.count = agents;
    people.plan.name = "field";
    people.route = &route;
    people.route_count = 1;
    th_scene_def def = th_scene_def_default();
    def.name = th_bench_scene_names[which];
    def.levels = level;
    def.level_count = 1;
    def.goals = goals;
    def.goal_count = goal_count;
    def.groups = &people;
    def.group_count = 1;
    return th_scene_create(&def, scene, error);
}

// A square of pillars, 25 people to each as in the scene of 10 000 and 400, and a run-way to the exit.
static th_result create_pillars(const th_group_def *group, int agents, th_scene **scene,
                                th_error *error) {
    int side = (int)ceil(sqrt(agents / 25.0)), count = side * side;
    double extent = side * PILLAR_SPACING, end = extent + PILLAR_RUNWAY, h = PILLAR_SIDE / 2;
    th_point(*corners)[4] = malloc((size_t)count * sizeof *corners), ground[4], goal[4], start[4];
    th_shape *obstacles = malloc((size_t)count * sizeof *obstacles);
    th_result result = TH_NO_MEMORY;
    if (corners && obstacles) {
        for (int i = 0; i < count; ++i) {
            double x = (i % side + 0.5) * PILLAR_SPACING, y = (i / side + 0.5) * PILLAR_SPACING;
            obstacles[i] = th_bench_rectangle(corners[i], x - h, y - h, x + h, y + h);
        }
        th_shape walkable = th_bench_rectangle(ground, -1, -1, end, extent + 1);
        th_level_def level = {.walkable = &walkable, .walkable_count = 1};
        level.obstacles = obstacles;
        level.obstacle_count = count;
        th_goal_def exit = {.area = th_bench_rectangle(goal, end - 2, -1, end, extent + 1)};
        const char *const names[] = {"far"};
        result =
            create(TH_BENCH_PILLARS, group, agents, &level,
                   th_bench_rectangle(start, 0, 0, extent, extent), &exit, names, 1, scene, error);
    }
    free(corners);
    free(obstacles);
    return result;
}

static th_result create_door(const th_group_def *group, int agents, th_scene **scene,
                             th_error *error) {
    double side = 1 + sqrt(agents / DOOR_DENSITY), end = side + DOOR_RUNWAY;
    double low = (side - DOOR_WIDTH) / 2, high = (side + DOOR_WIDTH) / 2;
    th_point ground[4], start[4],
        walls[2][2] = {{{side, 0}, {side, low}}, {{side, high}, {side, side}}};
    th_shape walkable = th_bench_rectangle(ground, 0, 0, end, side);
    th_shape lines[2] = {{.points = walls[0], .point_count = 2},
                         {.points = walls[1], .point_count = 2}};
    th_level_def level = {.walkable = &walkable, .walkable_count = 1};
    level.walls = lines;
    level.wall_count = 2;
    th_goal_def exit = {.has_line = true, .line = {{end, 0}, {end, side}}};
    const char *const names[] = {"out"};
    return create(TH_BENCH_DOOR, group, agents, &level, th_bench_rectangle(start, 0, 0, side, side),
                  &exit, names, 1, scene, error);
}

// ---- rooms

typedef struct room_plan {
    int side, wall_count, exit_count; // rooms of a side of the square
    th_point (*ends)[2];
    th_shape *walls;
    th_goal_def *exits;
    char (*words)[16];
    const char **names;
} room_plan;

// A wall between two rooms, on either side of the opening; across: from left to right.
static void add_wall(room_plan *plan, int k, int r, bool across) {
    double at = k * ROOM_SIDE, low = r * ROOM_SIDE, half = (ROOM_SIDE - ROOM_OPENING) / 2;
    double from[2] = {low, low + ROOM_SIDE - half};
    for (int part = 0; part < 2; ++part) {
        th_point *ends = plan->ends[plan->wall_count];
        double a = from[part], b = from[part] + half;
        ends[0] = across ? (th_point){a, at} : (th_point){at, a};
        ends[1] = across ? (th_point){b, at} : (th_point){at, b};
        plan->walls[plan->wall_count++] = (th_shape){.points = ends, .point_count = 2};
    }
}

static void add_exit(room_plan *plan, int r, bool east) {
    double x = east ? plan->side * ROOM_SIDE : 0, y = (r + 0.5) * ROOM_SIDE;
    int k = plan->exit_count++;
    snprintf(plan->words[k], sizeof plan->words[k], "%s %d", east ? "east" : "west", r + 1);
    plan->names[k] = plan->words[k];
    plan->exits[k] = (th_goal_def){.has_line = true};
    plan->exits[k].line[0] = (th_point){x, y - ROOM_EXIT / 2};
    plan->exits[k].line[1] = (th_point){x, y + ROOM_EXIT / 2};
}

static th_result create_rooms(const th_group_def *group, int agents, th_scene **scene,
                              th_error *error) {
    room_plan plan = {.side = (int)ceil(sqrt(agents / ROOM_DENSITY) / ROOM_SIDE)};
    size_t exits = 2 * (size_t)plan.side, walls = 2 * exits * (size_t)plan.side;
    double extent = plan.side * ROOM_SIDE;
    plan.ends = malloc(walls * sizeof *plan.ends);
    plan.walls = malloc(walls * sizeof *plan.walls);
    plan.exits = malloc(exits * sizeof *plan.exits);
    plan.words = malloc(exits * sizeof *plan.words);
    plan.names = malloc(exits * sizeof *plan.names);
    th_result result = TH_NO_MEMORY;
    if (plan.ends && plan.walls && plan.exits && plan.words && plan.names) {
        for (int r = 0; r < plan.side; ++r) {
            for (int k = 1; k < plan.side; ++k) add_wall(&plan, k, r, false);
            for (int k = 1; k < plan.side; ++k) add_wall(&plan, k, r, true);
            add_exit(&plan, r, false);
            add_exit(&plan, r, true);
        }
        th_point ground[4], start[4];
        th_shape walkable = th_bench_rectangle(ground, 0, 0, extent, extent);
        th_level_def level = {.walkable = &walkable, .walkable_count = 1};
        level.walls = plan.walls;
        level.wall_count = plan.wall_count;
        th_shape area = th_bench_rectangle(start, ROOM_INSET, 0, extent - ROOM_INSET, extent);
        result = create(TH_BENCH_ROOMS, group, agents, &level, area, plan.exits, plan.names,
                        plan.exit_count, scene, error);
    }
    free(plan.ends);
    free(plan.walls);
    free(plan.exits);
    free(plan.words);
    free(plan.names);
    return result;
}

th_result th_bench_walled(th_bench_scene which, const th_group_def *group, int agents,
                          th_scene **scene, th_error *error) {
    if (which == TH_BENCH_PILLARS) return create_pillars(group, agents, scene, error);
    return which == TH_BENCH_DOOR ? create_door(group, agents, scene, error)
                                  : create_rooms(group, agents, scene, error);
}
