// The distance field of one target: walking distance at every node, by fast marching.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_FIELD_H
#define TH_PLAN_FIELD_H
#include "formula/eikonal.h"
#include "plan/field/front.h"
#include "plan/nodes.h"

// Fills distance (nodes->count) for the target; TH_UNREACHABLE where there is no way.
void th_field_solve(const th_graph *graph, const th_walls *walls, const th_target *target,
                    th_front *front, float *distance);
// The same result as th_field_solve, bit by bit, given that `distance` is right but for links whose
// nearer end is at least `keep` away: everything nearer than that stays as it is.
void th_field_resolve(const th_graph *graph, const th_walls *walls, const th_target *target,
                      float keep, th_front *front, float *distance);

// The nearest point of a goal to p; lines are shortened by `inset` at both ends (a radius: nobody
// can reach the very end of a line between walls). p itself when p is in the goal's area.
TH_BOTH th_vec2 th_goal_nearest(const th_goal *goal, th_vec2 p, float inset);
TH_BOTH static inline int th_goal_level(const th_goal *goal) {
    return goal->is_line ? goal->line.level : goal->area.level;
}

typedef struct th_way {
    th_vec2 direction; // unit, or (0, 0) when there is no way or one has arrived
    float distance;    // to the target; TH_UNREACHABLE when there is no way
} th_way;

// Which way to walk from p. Cost: four nodes in the open; some sight lines beside walls.
TH_BOTH th_way th_field_way(const th_graph *graph, const th_walls *walls, const float *distance,
                            int level, th_vec2 p);
// Straight to the nearest goal of the target that is in sight and nearer than `range`; false: none.
// `heading` decides the way when one stands exactly on a goal line; lines are aimed at `inset` off their
// ends.
TH_BOTH bool th_goal_way(const th_scene *scene, const th_walls *walls, const th_target *target,
                         int level, th_vec2 p, float inset, th_vec2 heading, float range,
                         th_way *way);
#endif
