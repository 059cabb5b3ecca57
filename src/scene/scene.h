// The compiled scene (throng/scene_view.h) as the engine makes and uses it. Built by compile.c.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SCENE_H
#define TH_SCENE_SCENE_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/params.h"
#include "formula/segment.h"
#include "throng/model.h"
#include "throng/scene_view.h"

// `scene->levels` for the engine, `view` for all other code.
struct th_scene {
    union {
        th_scene_view view;
        struct {
            TH_SCENE_VIEW_MEMBERS
        };
    };
    struct th_arena *arena;                // memory of all of this
    const struct th_wall_grid *wall_grids; // one per level
    const struct th_goal_grid *goal_grids; // one per level
    struct th_plan_scene *plan;            // what the planners prepared
    struct th_source_map *source_map; // JSON path -> line and column; NULL for a scene made in code
    // From a compiled file: what walls and portals cut the ground into (space/rooms.h); NULL: GEOS finds it out.
    const struct th_face *faces;
    int face_count;
};

// Does a ray from the point along x cross the edge? It counts for its lower end but not its upper, so a ray through
// a corner counts once.
TH_BOTH static inline bool th_ray_crosses(th_vec2 a, th_vec2 b, th_vec2 point) {
    if ((a.y <= point.y) == (b.y <= point.y)) return false;
    double t = ((double)point.y - (double)a.y) / ((double)b.y - (double)a.y);
    return (double)a.x + t * ((double)b.x - (double)a.x) > (double)point.x;
}

// Even-odd rule.
TH_BOTH static inline bool th_polygons_contain(const th_polygons *polygons, th_vec2 point) {
    if (polygons->ring_count == 0 || point.x < polygons->box.min_x ||
        point.x > polygons->box.max_x || point.y < polygons->box.min_y ||
        point.y > polygons->box.max_y)
        return false;
    bool inside = false;
    for (int r = 0; r < polygons->ring_count; ++r) {
        int begin = polygons->ring_start[r], end = polygons->ring_start[r + 1];
        th_vec2 a = polygons->points[end - 1];
        for (int i = begin; i < end; ++i) {
            th_vec2 b = polygons->points[i];
            if (th_ray_crosses(a, b, point)) inside = !inside;
            a = b;
        }
    }
    return inside;
}

// The leg of the route that an agent is on, and 1 + the detour that leads away from it; 0: none.
TH_BOTH static inline uint32_t th_leg_of(uint32_t leg) { return leg % TH_DETOUR; }
TH_BOTH static inline uint32_t th_detour_of(uint32_t leg) { return leg / TH_DETOUR; }

// The target of a person's leg or detour; -1: none.
TH_BOTH static inline int th_leg_target(const th_group *group, uint32_t leg) {
    uint32_t detour = th_detour_of(leg);
    if (detour > (uint32_t)group->detour_count) return -1;
    if (detour > 0) return group->route[(uint32_t)group->route_count + detour - 1];
    return leg < (uint32_t)group->route_count ? group->route[leg] : -1;
}
// The place of it in `route`; -1: none. Planners that keep something of every leg and detour have th_group_ways of them.
TH_BOTH static inline int th_group_way(const th_group *group, uint32_t leg) {
    if (th_leg_target(group, leg) < 0) return -1;
    uint32_t detour = th_detour_of(leg);
    return detour > 0 ? group->route_count + (int)detour - 1 : (int)leg;
}
TH_BOTH static inline int th_group_ways(const th_group *group) {
    return group->route_count + group->detour_count;
}

// The nearest point of the outline.
TH_BOTH static inline th_vec2 th_nearest_on_rings(const th_polygons *shape, th_vec2 p) {
    th_vec2 best = p;
    float best2 = 3e38f;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            th_vec2 q = th_nearest_on_segment(p, shape->points[j], shape->points[i]);
            float distance2 = th_length2(th_sub(q, p));
            if (distance2 < best2) {
                best2 = distance2;
                best = q;
            }
        }
    }
    return best;
}

// Above this radius a body is rigid unless the scene says otherwise [m]. A torso with the area of such a disc has
// shoulders of 0.8 m (Weidmann's 0.45 m by 0.25 m, scaled), wider than any person's: it is a wheelchair or a pram.
#define TH_RIGID_FROM 0.3f
// A rigid body that walls leave this much too little room still counts as free: rounding, and corners [m].
#define TH_RIGID_SLACK 0.01f
// How much narrower than its place a wedged body counts, so that it moves along it.
#define TH_RIGID_SQUEEZE 0.9f
TH_BOTH static inline bool th_is_rigid_body(th_rigid rigid, float radius) {
    return rigid == TH_RIGID_ALWAYS || (rigid == TH_RIGID_BY_SIZE && radius > TH_RIGID_FROM);
}

#define TH_SCENE_COOKIE 0x7468736Eu   // in every th_scene_def from th_scene_def_default
#define TH_ELEMENT_COOKIE 0x7468656Cu // and in every element of its lists
#define TH_STEP_MIN 1e-4 // [s] a run of an hour is then 36 million steps: shorter is a mistake

// compile.c: definition -> scene, without walls grid and plans. On failure nothing is left behind.
// `gaps`: those that only some of the people fit through; NULL before they are known.
th_result th_scene_compile(const th_scene_def *def, const th_narrow_gap *gaps, int gap_count,
                           th_scene **scene, th_error *error);

// timetable.c: the definition with the rows of its timetable, in the arena.
th_result th_timetable_expand(const th_scene_def *def, struct th_arena *arena, th_scene_def *out,
                              th_error *error);
// profiles.c: the definition with a group for each kind of people of groups that have several. The arena holds what is new.
th_result th_profiles_expand(const th_scene_def *def, struct th_arena *arena,
                             th_scene_def *expanded, th_error *error);
// A profile of the scene or a built-in one by id, with the values of the one that it is like. `path`: the place in the scene,
// for messages.
th_result th_profile_whole(const th_scene_def *def, const char *id, const char *path,
                           th_profile_def *whole, th_error *error);
// "groups[k]" in an error counts parts; afterwards it counts the definition's groups. `first`: the part of the first group.
void th_profiles_locate(th_error *error, const th_part *first, size_t stride, int count);

// scene.c: one without lists; NULL: no memory.
th_scene *th_scene_empty(const th_memory *memory);
// Frees a compiled scene's arena and source map (its owner frees plan and the rest first).
void th_scene_release(th_scene *scene);
// Fills file, line and column of an error that names a path ("groups[2].count").
void th_scene_locate(const th_scene *scene, th_error *error);
// The k-th section of all models, in the order of th_models(), and the number of its model (`model` may be NULL); NULL: there
// are no more.
const th_section_info *th_section_at(int k, int *model);
bool th_is_utf8(const char *text);

// models.c: names to numbers, presets and values to floats. `path` is the JSON path of the model object, for
// messages. Without a name it is the default, for `own_goals` one that leads to these, and with a behaviour that `aims`
// (TH_DECIDES_AIM) one without `weighs_ways`.
th_result th_model_choose(th_stage stage, const th_model_def *def, bool own_goals, bool aims,
                          const char *path, th_model_choice *choice, th_error *error);
#endif
