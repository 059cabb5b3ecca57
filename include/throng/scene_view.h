// throng: what is inside a compiled scene, to draw, print or measure it: th_scene_view_of gives lists of plain structs.
// Everything is constant from th_scene_create on and lives as long as the scene. Lists have a pointer and a count, and
// other lists, views and events name their elements by index. Coordinates are floats relative to `origin`; add it to
// get those of the scene file. [m]
//
// Threads: a scene never changes, so any number of threads may read it at once.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_SCENE_VIEW_H
#define THRONG_SCENE_VIEW_H

#include "throng/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

// A set of closed rings; a point is inside when an odd number of rings surround it.
typedef struct th_polygons {
    int ring_count;
    const int *ring_start; // ring r is points[ring_start[r] .. ring_start[r+1])
    const th_vec2 *points;
    th_box box;
    double area; // [m2]
} th_polygons;

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
    int door; // -1: always there; else stands only while that door is closed, or TH_NARROW_GAP
    // Width of the door or gap where it is a wall for some agents, because they do not fit through; else very wide. [m]
    // -1 - k: a wall only for agents that never use the ways of set k (`bar` of th_group); its `door` is TH_NARROW_GAP.
    float gap;
} th_wall;

// The `door` of a wall across a gap that only some of the scene's agents fit through. It stops no agent; planners lead
// agents that need more width around it.
#define TH_NARROW_GAP 0x7fffffff
enum { TH_WIDTH_MAX = 4, TH_BAR_MAX = 4, TH_SIZE_MAX = TH_WIDTH_MAX + TH_BAR_MAX };

typedef struct th_narrow_gap {
    th_line line;
    float width; // [m]
    int door;    // that lies in it; -1: none
} th_narrow_gap;

typedef struct th_level {
    const char *id;
    float z;
    bool bounded;         // false: an open plane
    th_polygons walkable; // obstacles cut out; empty on an open plane
    th_box box; // of the walkable area and the walls; on an open plane of everything named on it
    int wall_begin, wall_end; // its walls in the scene's list
} th_level;

typedef struct th_link { // a line on two levels; crossing it changes the level
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
    float discomfort;     // as in th_zone_def
    int to;               // goal whose people feel it; -1: all people
} th_zone;

typedef struct th_picture { // a map over a rectangle of the ground
    const char *id;
    int level;
    th_picture_kind kind;
    th_box box;
    int nx, ny;              // pixels, row by row from the lower left
    const float *discomfort; // of each [-]; NULL: it shows something else
    const th_vec2 *guidance;
    const float *height; // [m]
    int to;              // goal whose people it is for; -1: all
} th_picture;

// The first members of every element of a model's section; the model defines the rest (th_section_info, throng/model.h).
typedef struct th_item {
    const char *id;
    int level;
} th_item;
typedef struct th_polyline {
    const th_vec2 *points; // neighbours differ
    int count;
    float length; // [m]
} th_polyline;
typedef struct th_section {
    const struct th_section_info *info;
    int model;         // that declares it, in th_models()
    const void *items; // info->item_size bytes each
    int count;
    int name_begin, name_end; // of its elements, in the scene's list of names
} th_section;

typedef struct th_door {
    const char *id;
    th_line line;
    bool closed;                    // at the start
    const th_door_change *schedule; // ascending in time
    int schedule_count;
    int exit; // the goal that was given `closed` or `schedule`, whose line it is; -1: a door
} th_door;

typedef struct th_goal {
    const char *id;
    th_goal_kind kind;
    bool is_line;
    th_line line;        // when is_line; level is set either way
    th_area area;        // otherwise; level is set either way
    float wait;          // [s]
    bool refuge;         // people stay there for good
    int capacity;        // so many wait in it; 0: no limit
    const th_item *item; // of a detour: the element of a model's section; else NULL
} th_goal;

// A set of goals of which the nearest counts.
typedef struct th_target {
    int goal_count;
    const int *goals;
} th_target;

#define TH_PARAM_MAX 48     // most parameters of one model
enum { TH_BEHAVE_MAX = 6 }; // most behaviours of one group

// A group's behave, plan, filter or move model: th_models(NULL)[model] has its name and those of the parameters.
typedef struct th_model_choice {
    int model;
    float params[TH_PARAM_MAX]; // in force, in the model's own order
} th_model_choice;

// A person that comes as a recording has it.
typedef struct th_entry {
    th_vec2 position, velocity; // [m] [m/s]
    int level;
} th_entry;

typedef struct th_group {
    const char *id;
    int level;
    th_area area;  // ring_count 0: the whole level
    int64_t count; // people at the start, resolved from count, density or positions; 0 for a source
    const th_vec2 *positions;          // when given, `count` of them
    double rate, rate_start, rate_end; // source [1/s] [s]; rate 0: none
    const th_arrival *arrivals;
    int arrival_count;
    const th_entry
        *entries; // of a recording, as many as all arrivals have people, in their order; or NULL
    int entry_count;
    th_distribution radius, speed, premovement, mass;
    th_rigid rigid;
    const int *route; // target of each leg, then of each detour
    int route_count, detour_count;
    const float *weights; // of all names of the scene
    int entrance; // the goal that the first leg names first, -1: none; `route` has goals in their own order
    th_own_goal_kind own_goal;
    th_area own_goal_area;
    th_vec2 own_goal_centre;
    th_model_choice behave[TH_BEHAVE_MAX]; // as the scene lists them
    int behave_count;
    uint32_t decides; // all that they decide together, TH_DECIDES_*
    th_model_choice plan, filter, move;
    int leader;     // group whose people they follow; -1: none
    th_part part;   // of a group with profiles; part.count is 1 for all others
    float up, down; // factors on the speed on stairs, besides those of the stairs
    int bar;        // 1 + the set of ways that they never use, of bar_count; 0: none
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

// The members of th_scene_view. They are a macro because the engine's scene begins with the same ones.
// clang-format off
#define TH_SCENE_VIEW_MEMBERS \
    const th_scene *scene; /* that this is a view of */ \
    const char *name, *description; /* never NULL */ \
    /* Positions in a world and all coordinates here are floats relative to this; (0, 0) unless the scene's coordinates are \
       so large (map projections) that floats would lose centimetres. */ \
    th_point origin; \
    const th_level *levels; \
    int level_count; \
    const th_wall *walls; /* grouped by level, doors' walls included */ \
    int wall_count; \
    const th_link *links; \
    int link_count; \
    const th_zone *zones; /* stairs' areas included */ \
    int zone_count; \
    const th_picture *pictures; \
    int picture_count; \
    const th_section *sections; /* of all models that declare one, in the order of th_models() */ \
    int section_count; \
    const th_door *doors; \
    int door_count; \
    const th_goal *goals; /* exits, waypoints, waiting areas, detours */ \
    int goal_count; \
    const char *const *names; /* that elements of sections have (TH_KEY_NAME), section by section */ \
    int name_count; \
    const th_target *targets; /* the legs of all routes, each different one once */ \
    int target_count; \
    const th_group *groups; \
    int group_count; \
    const th_scripted *scripted; \
    int scripted_count; \
    const th_measure_line *measure_lines; \
    int measure_line_count; \
    const th_measure_area *measure_areas; \
    int measure_area_count; \
    /* Gaps between walls that are too narrow for every agent of the scene: they count as walls. */ \
    const th_line *closed_gaps; \
    int closed_gap_count; \
    /* Gaps that are wide enough for some agents and too narrow for others. */ \
    const th_narrow_gap *narrow_gaps; \
    int narrow_gap_count; \
    /* Agents are told apart by the width that they need to pass, th_group_gap: the upper end of each size, ascending [m]. \
       Agents that need at most sizes[0] pass every gap. One size where there are no narrow gaps. */ \
    float sizes[TH_SIZE_MAX]; \
    int size_count; \
    /* The last bar_count sizes are no widths: size_count - bar_count + k are the agents whose group has bar k + 1. */ \
    int bar_count; \
    th_run_settings run; \
    th_record_settings record; \
    double plan_cell; /* as given [m]; 0: chosen by the planner */ \
    double map_times[TH_MAP_TIMES]; /* as th_scene_def has them */ \
    int map_time_count;
// clang-format on

// The contents of a scene. New members are added at the end.
struct th_scene_view {
    TH_SCENE_VIEW_MEMBERS
};

// Lives as long as the scene, and is the same at every call.
TH_API const th_scene_view *th_scene_view_of(const th_scene *scene);

// The elements of a model's section by name, and how many there are; NULL: no model declares it, or it is empty.
TH_API const void *th_scene_items(const th_scene *scene, const char *section, int *count);
// Is the point inside the shape?
TH_API bool th_polygons_surround(const th_polygons *shape, th_vec2 point);
// The k-th of the group's models, by stage, behaviours as they are listed; NULL: there is none.
TH_API const th_model_choice *th_group_model(const th_group *group, int k);
// The target of an agent with this TH_FIELD_LEG, in the scene's list; -1: none left, or an own goal.
TH_API int th_group_target(const th_group *group, uint32_t leg);
// The direction in which an agent at p looks while it waits with this TH_FIELD_LEG: to the place of interest that it watches,
// or to the middle of the sight that it chose. A unit vector; 0: it watches nothing.
TH_API th_vec2 th_watched_from(const th_scene_view *scene, const th_group *group, uint32_t leg,
                               th_vec2 p);
// The narrowest gap that the smallest, or the largest, person of the group fits through: the body's width, or its depth
// with models that turn shoulders, and what the model needs besides. [m]
TH_API double th_group_gap(const th_group *group, bool largest);
// Agents of the group that need a wider gap than this have no way to their goals, all doors open; infinite: all have one,
// or there is no such group. [m]
TH_API double th_scene_widest_with_way(const th_scene *scene, int group);
// The share of the group's people that start where no way leads to the first goals, all doors open. A scene in which it is
// above a tenth is refused. [-]
TH_API double th_scene_share_without_way(const th_scene *scene, int group);

#ifdef __cplusplus
}
#endif
#endif
