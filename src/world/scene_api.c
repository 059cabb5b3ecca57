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

th_point th_scene_origin(const th_scene *scene) { return scene->origin; }
const char *th_scene_name(const th_scene *scene) { return scene->name; }
th_run_def th_scene_run(const th_scene *scene) { return scene->run; }
th_record_def th_scene_record(const th_scene *scene) { return scene->record; }
int th_scene_group_count(const th_scene *scene) { return scene->group_count; }
const char *th_scene_group_id(const th_scene *scene, int group) {
    return group >= 0 && group < scene->group_count ? scene->groups[group].id : NULL;
}
const char *th_scene_goal_id(const th_scene *scene, int goal) {
    return goal >= 0 && goal < scene->goal_count ? scene->goals[goal].id : NULL;
}
const char *th_scene_door_id(const th_scene *scene, int door) {
    return door >= 0 && door < scene->door_count ? scene->doors[door].id : NULL;
}
const char *th_scene_level_id(const th_scene *scene, int level) {
    return level >= 0 && level < scene->level_count ? scene->levels[level].id : NULL;
}
