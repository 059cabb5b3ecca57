// throng: a world that is edited while it runs, beyond doors, walls, people and parameters (throng/world.h): people who go on in
// another scene, and what somebody who watches wants to know. SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_LIVE_H
#define THRONG_LIVE_H

#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Goes on in another scene, such as the same one with a wall moved or other models: the time, the counts and everybody of
// `from` who still has a place, where and as fast as they were and with their ids. Levels, groups, doors and goals are the
// same when their ids are. `lost` (or NULL): people whose group or ground is gone; they count as removed. Who is
// still to come from a source comes; the groups' people at the start do not come again. Live walls of `from` are not taken
// over. `from` stays as it is.
TH_API th_result th_world_continue(const th_scene *scene, const th_world_def *def, th_world *from,
                                   int *lost, th_world **world, th_error *error);

// Walking distance from points of a level to a target of the scene (scene_view.h), as the planners see it, doors and live
// walls included [m, weighted by the speed factors of zones]; INFINITY: it cannot be reached, or the scene has no
// distance fields.
TH_API void th_world_distances(const th_world *world, int target, int level, const th_vec2 *points,
                               int count, float *distances);

// Whether a door of the scene stands open now.
TH_API bool th_world_door_open(const th_world *world, int door);

#ifdef __cplusplus
}
#endif
#endif
