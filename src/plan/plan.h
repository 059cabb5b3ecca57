// Planning: from a place and a goal to a preferred velocity. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_PLAN_H
#define TH_PLAN_PLAN_H
#include "state/world.h"

// Scene part: distance fields of every target and the road map, for the doors as they are at the
// start; shared by all worlds of the scene. Fails with TH_BAD_SCENE and the path of a group when its
// goal cannot be reached from its area even with all doors open.
th_result th_plan_prepare(th_scene *scene, th_error *error);
void th_plan_release(th_scene *scene);

// World part: own copies of the fields for when doors change; all memory is taken here.
th_result th_plan_world_create(th_world *world, th_error *error);
void th_plan_world_destroy(th_world *world);
// Memory for changed walls. Worlds of scenes with doors have it from the start; call this before the
// first live wall, so that the step that takes note of it need not allocate. Idempotent.
th_result th_plan_world_reserve(th_world *world, th_error *error);
// A road map, where the scene's groups need none, for an agent that is sent to a point of its own.
th_result th_plan_own_goals(th_world *world, th_error *error);
// Recomputes the fields that a change of doors or walls touches, or begins to (th_world_def.replan).
void th_plan_walls_changed(th_world *world);
// The same at once in any case.
void th_plan_solve(th_world *world);
// A step's share of what is still to be recomputed. Called by the events stage.
void th_plan_follow(th_world *world);

// Do the fields follow changed walls (th_world_def.replan)? Snapshots then hold what is under way.
bool th_plan_follows(const th_world *world);
// The part of the fields that such a snapshot holds; 0 bytes in other worlds.
size_t th_plan_saved_size(const th_world *world);
void th_plan_save(const th_world *world, void *memory);
bool th_plan_saved_is_sound(const th_world *world, const void *memory, size_t size);
void th_plan_restore(th_world *world, const void *memory);

// The preferred velocity of a plan model's walking agents; zero for its others.
void th_plan_people(th_world *world, int model);

// Walking distance [m, weighted by zone factors] from a point to a target; infinite when unreachable.
float th_plan_distance(const th_world *world, int target, int level, th_vec2 point);
#endif
