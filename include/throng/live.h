// throng: editing a running world beyond doors, walls, agents and parameters (throng/world.h): moving its agents to another
// scene, and what a live display needs. Threads: as in throng/world.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_LIVE_H
#define THRONG_LIVE_H

#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Continues in another scene, such as the same one with a wall moved or other models. The new world has the time and the counts of
// `from`, and all agents that still have a place, with their ids, positions and velocities. Levels, groups, doors and goals
// are the same when their ids are. `lost` (or NULL): agents whose group or ground is gone; they count as removed. Sources
// go on; the agents that groups place at the start do not appear again. Live walls of `from` are not taken over. `from` is not
// changed.
TH_API th_result th_world_continue(const th_scene *scene, const th_world_def *def, th_world *from,
                                   int *lost, th_world **world, th_error *error);
// The same in two parts, so that the first, which costs nearly all the time, can run in another thread while `from` is
// stepped: a world with room for `people` besides those that the scene brings, and those people's move. Between the two the
// world may only be destroyed; when the second fails, too.
TH_API th_result th_world_prepare(const th_scene *scene, const th_world_def *def, int people,
                                  th_world **world, th_error *error);
TH_API th_result th_world_take_over(th_world *world, th_world *from, int *lost, th_error *error);

// ---- bodies moved by hand: a player, a vehicle, a robot. A body is a convex shape that only the program moves. Its edges are
// walls to every model; agents step out of its way, and those it meets are carried along in front of it, never through it
// nor through a wall. Where a wall leaves them no room they end up inside it, are counted as `cornered`, and walk out when
// there is room. Planners lead around a body that has not moved for a second. At most TH_BODY_MAX (64) at a time.
typedef struct th_body_pose {
    th_vec2 position; // of its origin [m]
    // [m/s] at most 100; the body goes on with it in every step until it is changed.
    th_vec2 velocity;
    float angle; // [rad] counter-clockwise
    float spin;  // [rad/s]
} th_body_pose;

typedef struct th_body_def {
    uint32_t cookie; // set by th_body_def_default
    int level;
    // About the body's origin, in any order. None: a disc. Two, with a radius: a capsule. Three or more: a convex polygon, up
    // to 16 corners, up to 8 with a radius, which rounds it.
    const th_vec2 *outline;
    int outline_count;
    // [m] round shapes have 12 corners (8 where the outline has more than 4 points), just around the circle.
    float radius;
    th_body_pose pose;
} th_body_def;

TH_API th_body_def th_body_def_default(void);
// Agents where it appears are carried out of it in the next step. `body` (or NULL): its number.
TH_API th_result th_world_add_body(th_world *world, const th_body_def *def, int *body,
                                   th_error *error);
// The pose at the beginning of the next step. The body sweeps the ground between its present pose and this one: to make
// it appear elsewhere, remove and add it.
TH_API th_result th_world_move_body(th_world *world, int body, const th_body_pose *pose,
                                    th_error *error);
TH_API th_result th_world_remove_body(th_world *world, int body, th_error *error);

typedef struct th_body_state {
    th_body_pose pose;
    int level;
    int corner_count; // 0: there is no such body
    th_vec2 corners[16];
    int cornered; // agents inside it after the last step
} th_body_state;
TH_API th_body_state th_world_body(const th_world *world, int body);

// ---- orders to one agent, whatever its group does, in force from the next step on. TH_BAD_ARGUMENT: it is not alive (an id is
// never given twice), or cannot obey. Model parameters belong to groups: spawn the agent into a group that has them.
// It walks to the point and stays there (TH_PHASE_ARRIVED). Groups whose behaviour decides that (HiDAC, interest) refuse. The
// first call in a scene without own goals makes the road map, which takes longer than a step; worlds with a `replan` have it.
TH_API th_result th_world_send(th_world *world, th_agent_id agent, int level, th_vec2 point,
                               th_error *error);
// It walks leg `leg` of its group's route, 0 the first, and those after it.
TH_API th_result th_world_set_leg(th_world *world, th_agent_id agent, int leg, th_error *error);
// One value of it, such as TH_FIELD_SPEED, or of a model's field (th_world_field). As th_world_map, but an error where no agent
// can have the value.
TH_API th_result th_world_set_field(th_world *world, th_agent_id agent, int field, double value,
                                    th_error *error);

// Walking distance from points of a level to a target of the scene (scene_view.h), as the planners see it, doors and live
// walls included [m, weighted by the speed factors of zones]; INFINITY: it cannot be reached, or the scene has no
// distance fields.
TH_API void th_world_distances(const th_world *world, int target, int level, const th_vec2 *points,
                               int count, float *distances);

// The directions in which agents walk to a target from points of a level, by the planner of the first group that can tell
// (th_model.directions): unit vectors, NAN where it knows no way. False: no planner can tell, or not yet, or the world is on a
// device; or there is no such target or level.
TH_API bool th_world_directions(th_world *world, int target, int level, const th_vec2 *points,
                                int count, th_vec2 *directions);

// A field of all agents in the world's own order, without the sort by id of th_world_map, which dominates the cost of showing a
// million agents. *count values, in an order that is the same for every field until the world steps or changes. NULL: no
// such field. Agents that have left (phase TH_PHASE_LEFT or TH_PHASE_REMOVED) are among them until the next step.
TH_API const void *th_world_stored(th_world *world, int field, int *count);

// th_world_statistics without the current overlaps (zeros), which are most of its cost: this one is nearly free.
TH_API th_statistics th_world_counts(const th_world *world);

// Is a door of the scene open now? False where there is no such door.
TH_API bool th_world_door_open(const th_world *world, int door);

#ifdef __cplusplus
}
#endif
#endif
