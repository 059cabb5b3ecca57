// Scenes put together by hand, for tests of the layers below the scene loader.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_HAND_SCENE_H
#define TH_TESTS_HAND_SCENE_H
// cmocka wants these four first
#include "core/memory.h"
#include "formula/vec.h"
#include "plan/plan.h"
#include "plan/prepared.h"
#include "run_model.h"
#include "scene/scene.h"
#include "space/walls.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { HAND_WALLS = 8192, HAND_FEW = 16, HAND_POINTS = 16384 };

typedef struct hand_scene {
    th_scene scene;
    th_arena arena;
    th_level levels[HAND_FEW];
    th_wall walls[HAND_WALLS];
    th_link links[HAND_FEW];
    th_zone zones[HAND_FEW];
    th_door doors[HAND_FEW];
    th_goal goals[HAND_FEW];
    th_target targets[HAND_FEW];
    th_group groups[HAND_FEW];
    int numbers[HAND_FEW * 4];
    int number_count;
    int ring_starts[HAND_WALLS];
    int ring_start_count;
    th_vec2 points[HAND_POINTS];
    int point_count;
    int level_points; // first point of the level being drawn
} hand_scene;

static inline hand_scene *hand_create(void) {
    hand_scene *hand = calloc(1, sizeof *hand);
    th_scene *scene = &hand->scene;
    scene->arena = &hand->arena;
    scene->arena->memory = th_memory_of(NULL);
    scene->levels = hand->levels;
    scene->walls = hand->walls;
    scene->links = hand->links;
    scene->zones = hand->zones;
    scene->doors = hand->doors;
    scene->goals = hand->goals;
    scene->size_count = 1;
    scene->targets = hand->targets;
    scene->groups = hand->groups;
    return hand;
}

static inline void hand_destroy(hand_scene *hand) {
    th_plan_release(&hand->scene);
    th_arena_release(hand->scene.arena);
    free(hand);
}

static inline void hand_grow_box(th_box *box, th_vec2 p) {
    box->min_x = th_min(box->min_x, p.x);
    box->min_y = th_min(box->min_y, p.y);
    box->max_x = th_max(box->max_x, p.x);
    box->max_y = th_max(box->max_y, p.y);
}

static inline void hand_level(hand_scene *hand, bool bounded) {
    th_level *level = &hand->levels[hand->scene.level_count++];
    level->id = "level";
    level->bounded = bounded;
    level->wall_begin = level->wall_end = hand->scene.wall_count;
    level->box = (th_box){1e9f, 1e9f, -1e9f, -1e9f};
    hand->ring_starts[hand->ring_start_count] = 0;
    level->walkable.ring_start = &hand->ring_starts[hand->ring_start_count++];
    level->walkable.points = &hand->points[hand->point_count];
    hand->level_points = hand->point_count;
}

static inline th_level *hand_current(hand_scene *hand) {
    return &hand->levels[hand->scene.level_count - 1];
}

static inline int hand_edge(hand_scene *hand, th_vec2 a, th_vec2 b, int door) {
    int index = hand->scene.wall_count++;
    th_level *level = hand_current(hand);
    hand->walls[index] = (th_wall){.a = a,
                                   .b = b,
                                   .direction = th_unit(th_sub(b, a)),
                                   .length = th_length(th_sub(b, a)),
                                   .next = index,
                                   .prev = index,
                                   .a_convex = true,
                                   .level = hand->scene.level_count - 1,
                                   .door = door,
                                   .gap = 1e30f};
    level->wall_end = hand->scene.wall_count;
    hand_grow_box(&level->box, a);
    hand_grow_box(&level->box, b);
    return index;
}

static inline void hand_set_convex(hand_scene *hand, int begin, int end) {
    for (int w = begin; w < end; ++w) {
        th_wall *wall = &hand->walls[w], *before = &hand->walls[wall->prev];
        wall->a_convex = th_det(before->direction, wall->direction) >= 0.0f;
    }
}

// A closed ring: the outer boundary clockwise, an obstacle counter-clockwise (as drawn here).
static inline void hand_ring(hand_scene *hand, const th_vec2 *points, int count) {
    th_level *level = hand_current(hand);
    int first = hand->scene.wall_count;
    for (int i = 0; i < count; ++i) {
        hand->points[hand->point_count++] = points[i];
        int w = hand_edge(hand, points[i], points[(i + 1) % count], -1);
        hand->walls[w].next = first + (i + 1) % count;
        hand->walls[w].prev = first + (i + count - 1) % count;
    }
    hand_set_convex(hand, first, hand->scene.wall_count);
    if (!level->bounded) return;
    level->walkable.ring_count++;
    hand->ring_starts[hand->ring_start_count++] = hand->point_count - hand->level_points;
    level->walkable.box = level->box;
}

static inline void hand_room(hand_scene *hand, float x0, float y0, float x1, float y1) {
    th_vec2 clockwise[4] = {{x0, y0}, {x0, y1}, {x1, y1}, {x1, y0}};
    hand_ring(hand, clockwise, 4);
}

static inline void hand_block(hand_scene *hand, float x0, float y0, float x1, float y1) {
    th_vec2 counter_clockwise[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    hand_ring(hand, counter_clockwise, 4);
}

static inline void hand_two_sided(hand_scene *hand, th_vec2 a, th_vec2 b, int door) {
    int first = hand_edge(hand, a, b, door), second = hand_edge(hand, b, a, door);
    hand->walls[first].next = hand->walls[first].prev = second;
    hand->walls[second].next = hand->walls[second].prev = first;
}

static inline void hand_thin(hand_scene *hand, float ax, float ay, float bx, float by) {
    hand_two_sided(hand, th_v(ax, ay), th_v(bx, by), -1);
}

static inline void hand_door(hand_scene *hand, float ax, float ay, float bx, float by,
                             bool closed) {
    int index = hand->scene.door_count++;
    hand->doors[index] =
        (th_door){.id = "door",
                  .line = {hand->scene.level_count - 1, th_v(ax, ay), th_v(bx, by)},
                  .closed = closed};
    hand_two_sided(hand, th_v(ax, ay), th_v(bx, by), index);
}

static inline th_polygons hand_box_shape(hand_scene *hand, float x0, float y0, float x1, float y1) {
    th_vec2 corners[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    th_polygons shape = {.ring_count = 1,
                         .ring_start = &hand->ring_starts[hand->ring_start_count],
                         .points = &hand->points[hand->point_count],
                         .box = {x0, y0, x1, y1},
                         .area = (double)((x1 - x0) * (y1 - y0))};
    hand->ring_starts[hand->ring_start_count++] = 0;
    hand->ring_starts[hand->ring_start_count++] = 4;
    memcpy(&hand->points[hand->point_count], corners, sizeof corners);
    hand->point_count += 4;
    return shape;
}

// Goals and the target of that goal alone; call when all levels are drawn. Returns the target.
static inline int hand_target(hand_scene *hand, th_goal goal) {
    int index = hand->scene.goal_count++;
    hand->goals[index] = goal;
    hand->numbers[hand->number_count] = index;
    hand->targets[hand->scene.target_count] = (th_target){1, &hand->numbers[hand->number_count++]};
    return hand->scene.target_count++;
}

static inline int hand_goal_box(hand_scene *hand, int level, float x0, float y0, float x1,
                                float y1) {
    th_goal goal = {.id = "box", .line = {.level = level}};
    goal.area.level = level;
    goal.area.shape = hand_box_shape(hand, x0, y0, x1, y1);
    return hand_target(hand, goal);
}

static inline int hand_goal_line(hand_scene *hand, int level, float ax, float ay, float bx,
                                 float by) {
    th_goal goal = {.id = "line", .is_line = true, .line = {level, {ax, ay}, {bx, by}}};
    return hand_target(hand, goal);
}

static inline void hand_zone(hand_scene *hand, int level, th_polygons shape, float up, float down,
                             th_vec2 up_direction) {
    hand->zones[hand->scene.zone_count++] =
        (th_zone){"zone", {level, shape}, up, down, up_direction, 0.0f, -1};
}

// A group that wants one target after another, starting in a box (all zero: on the whole level).
static inline void hand_group(hand_scene *hand, int level, th_polygons area, const int *route,
                              int route_count) {
    th_group *group = &hand->groups[hand->scene.group_count++];
    group->id = "people";
    group->level = level;
    group->area = (th_area){level, area};
    group->plan.model = TH_PLAN_FIELD;
    group->up = group->down = 1.0f;
    group->route = &hand->numbers[hand->number_count];
    group->route_count = route_count;
    for (int i = 0; i < route_count; ++i) hand->numbers[hand->number_count++] = route[i];
}

// A field for every target, wanted by one group each.
static inline void hand_want_all(hand_scene *hand, int level) {
    th_polygons whole = {0};
    for (int t = 0; t < hand->scene.target_count; ++t) hand_group(hand, level, whole, &t, 1);
}

// As much of a world as planning looks at.
static inline th_world *hand_world(const hand_scene *hand, int capacity) {
    const th_scene *scene = &hand->scene;
    th_world *world = calloc(1, sizeof *world);
    world->scene = scene;
    world->memory = th_memory_of(NULL);
    world->threads = 2;
    world->dt = 0.1f;
    world->groups = calloc((size_t)scene->group_count + 1, sizeof *world->groups);
    world->group_count = scene->group_count;
    for (int g = 0; g < scene->group_count; ++g) {
        world->groups[g].plan = (th_model_id)scene->groups[g].plan.model;
        world->groups[g].goes_straight = !th_models(NULL)[world->groups[g].plan]->needs_lattice;
    }
    world->door_closed = calloc((size_t)scene->door_count + 1, 1);
    for (int d = 0; d < scene->door_count; ++d) world->door_closed[d] = scene->doors[d].closed;
    world->walls = calloc((size_t)scene->wall_count + 2 * TH_LIVE_WALL_MAX, sizeof *world->walls);
    memcpy(world->walls, scene->walls, (size_t)scene->wall_count * sizeof *world->walls);
    world->wall_count = scene->wall_count;
#define X(NAME, name, type, doc) world->agents.name = calloc((size_t)capacity + 1, sizeof(type));
    TH_FIELDS(X)
#undef X
    world->agents.capacity = capacity;
    if (th_plan_world_create(world, NULL) != TH_OK) return NULL;
    return world;
}

static inline void hand_world_destroy(th_world *world) {
    th_plan_world_destroy(world);
#define X(NAME, name, type, doc) free(world->agents.name);
    TH_FIELDS(X)
#undef X
    free(world->groups);
    free(world->door_closed);
    free(world->walls);
    free(world);
}

// The same bits everywhere: a small generator of our own for test points.
static inline float hand_random(uint32_t *state, float low, float high) {
    *state = *state * 1664525u + 1013904223u;
    return low + (high - low) * (float)(*state >> 8) * (1.0f / 16777216.0f);
}
#endif
