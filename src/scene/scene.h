// The compiled scene (throng/scene_view.h) as the engine makes and uses it. Built by compile.c.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SCENE_H
#define TH_SCENE_SCENE_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/params.h"
#include "throng/scene_view.h"
#include "throng/world.h"

// Even-odd rule; an edge counts for its lower end but not its upper, so a ray through a corner counts once.
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
            if ((a.y <= point.y) != (b.y <= point.y)) {
                double t = ((double)point.y - (double)a.y) / ((double)b.y - (double)a.y);
                double x = (double)a.x + t * ((double)b.x - (double)a.x);
                if (x > (double)point.x) inside = !inside;
            }
            a = b;
        }
    }
    return inside;
}

#define TH_STEP_MIN 1e-4 // [s] a run of an hour is then 36 million steps: shorter is a mistake

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
