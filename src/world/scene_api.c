// Creating and destroying a scene: compile it, build the wall grids, let the planners prepare.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "plan/plan.h"
#include "scene/scene.h"
#include "space/goals.h"
#include "space/walls.h"
#include <assert.h>

th_result th_scene_create(const th_scene_def *def, th_scene **out, th_error *error) {
    assert(out);
    *out = NULL;
    th_scene *scene = NULL;
    th_result result = th_scene_compile(def, &scene, error);
    if (result != TH_OK) return result;
    if (!th_wall_grids_build(scene) || !th_goal_grids_build(scene))
        result = th_fail(
            error, TH_NO_MEMORY, "",
            "no memory for the grids of walls and goals; free some or make the scene smaller");
    else
        result = th_plan_prepare(scene, error);
    if (result != TH_OK) {
        th_scene_destroy(scene);
        return result;
    }
    *out = scene;
    return TH_OK;
}

void th_scene_destroy(th_scene *scene) {
    if (!scene) return;
    th_plan_release(scene);
    th_scene_release(scene);
}
