// The compiled scene: constant, checked, in floats relative to the origin. Built by compile.c.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SCENE_H
#define TH_SCENE_SCENE_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/params.h"
#include "throng/scene.h"
#include "throng/world.h"

// A set of closed rings; a point is inside when an odd number of rings surround it.
typedef struct th_polygons {
    int ring_count;
    const int *ring_start; // ring r is points[ring_start[r] .. ring_start[r+1])
    const th_vec2 *points;
    th_box box;
    double area; // [m2]
} th_polygons;

TH_BOTH bool th_polygons_contain(const th_polygons *polygons, th_vec2 point);

typedef struct th_area {
    int level;
    th_polygons shape;
} th_area;

typedef struct th_line {
    int level;
    th_vec2 a, b;
} th_line;

// One directed edge of a wall. The solid lies to the left of a->b, walkable ground to the right:
// obstacles run counter-clockwise, the outer boundary clockwise. Thin walls and doors are two edges
// back to back. Edges form closed chains through next and prev.
typedef struct th_wall {
    th_vec2 a, b;
    th_vec2 direction; // unit, a to b
    float length;
    int next, prev; // edge that starts at b, edge that ends at a
    bool a_convex;  // the solid's corner at a is convex (bends left or goes straight on)
    int level;
    int door; // -1: always there; else stands only while that door is closed
} th_wall;

typedef struct th_level {
    const char *id;
    float z;
    bool bounded;         // false: an open plane
    th_polygons walkable; // what is drawn and measured; empty on an open plane
    th_box box; // of the walkable area and the walls; on an open plane of everything named on it
    int wall_begin, wall_end;
} th_level;

typedef struct th_link { // a line on two levels: who crosses it changes level
    const char *id;
    int level[2]; // lower, upper
    th_vec2 a, b;
    th_vec2 up; // unit, from the lower level over the line to the upper
} th_link;

typedef struct th_zone {
    const char *id;
    th_area area;
    float up, down;       // speed factors; equal for a plain zone
    th_vec2 up_direction; // (0, 0) for a plain zone
} th_zone;

typedef struct th_door {
    const char *id;
    th_line line;
    bool closed;
    const th_door_change *schedule; // ascending in time
    int schedule_count;
} th_door;

typedef struct th_goal {
    const char *id;
    th_goal_kind kind;
    bool is_line;
    th_line line; // when is_line; level is set either way
    th_area area; // otherwise
    float wait;
} th_goal;

// A set of goals of which the nearest counts; one distance field each, shared by all who want it.
typedef struct th_target {
    int goal_count;
    const int *goals;
} th_target;

typedef struct th_model_choice {
    int model; // index into th_models()
    float params[TH_PARAM_MAX];
} th_model_choice;

typedef struct th_group {
    const char *id;
    int level;
    th_area area;  // ring_count 0: the whole level
    int64_t count; // people at the start, resolved from count, density or positions; 0 for a source
    const th_vec2 *positions;          // when given, `count` of them
    double rate, rate_start, rate_end; // source; rate 0: none
    const th_arrival *arrivals;
    int arrival_count;
    th_distribution radius, speed, premovement, mass;
    const int *route; // target of each leg
    int route_count;
    th_own_goal_kind own_goal;
    th_area own_goal_area;
    th_vec2 own_goal_centre;
    th_model_choice plan, filter, move;
} th_group;

typedef struct th_scripted {
    const char *id;
    int level;
    float radius;         // of the person, or of the discs that fill the body's outline
    const th_vec2 *discs; // offsets from the path point; one (0,0) for a person
    int disc_count;
    bool is_body;
    const th_keyframe *path; // relative to the origin
    int path_count;
} th_scripted;

typedef struct th_measure_line {
    const char *id;
    th_line line;
} th_measure_line;

typedef struct th_measure_area {
    const char *id;
    th_area area;
    double walkable_area; // of its intersection with the level's walkable ground [m2]
} th_measure_area;

#define TH_STEP_MIN 1e-4 // [s] a run of an hour is then 36 million steps: shorter is a mistake

struct th_scene {
    th_arena arena;
    const char *name, *description;
    th_point origin;
    th_level *levels;
    int level_count;
    th_wall *walls; // grouped by level, doors' walls included
    int wall_count;
    th_link *links;
    int link_count;
    th_zone *zones; // stairs' areas included
    int zone_count;
    th_door *doors;
    int door_count;
    th_goal *goals;
    int goal_count;
    th_target *targets;
    int target_count;
    th_group *groups;
    int group_count;
    th_scripted *scripted;
    int scripted_count;
    th_measure_line *measure_lines;
    int measure_line_count;
    th_measure_area *measure_areas;
    int measure_area_count;
    th_run_def run;
    th_record_def record;
    double plan_cell;
    const struct th_wall_grid *wall_grids; // one per level, space/walls.h
    const struct th_goal_grid *goal_grids; // one per level, space/goals.h
    struct th_plan_scene *plan;            // what the planners prepared, plan/plan.h
    struct th_source_map *source_map; // JSON path -> line and column; NULL for a scene made in code
    char file[256];                   // for messages; "" for a scene made in code
};

// compile.c: definition -> scene, without walls grid and plans. On failure nothing is left behind.
th_result th_scene_compile(const th_scene_def *def, th_scene **scene, th_error *error);
// Frees a compiled scene's arena and source map (its owner frees plan and the rest first).
void th_scene_release(th_scene *scene);
// Fills file, line and column of an error that names a path ("groups[2].count").
void th_scene_locate(const th_scene *scene, th_error *error);

// models.c: the table behind th_models(), names to indices, presets and values to floats.
// `path` is the JSON path of the model object, for messages.
th_result th_model_choose(th_stage stage, const th_model_def *def, const char *path,
                          th_model_choice *choice, th_error *error);
int th_model_find(th_stage stage, const char *name); // -1: none

// Fixed indices into th_models(); models.c asserts that the table agrees.
typedef enum th_model {
    TH_PLAN_STRAIGHT,
    TH_PLAN_FIELD,
    TH_PLAN_ROADMAP,
    TH_FILTER_NONE,
    TH_FILTER_DENSESENSE,
    TH_MOVE_ORCA,
    TH_MOVE_SOCIAL_FORCE,
    TH_MOVE_HELBING_MOLNAR,
    TH_MOVE_UIC,
    TH_MOVE_PBD,
    TH_MODEL_COUNT
} th_model;
#endif
