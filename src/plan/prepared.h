// What the planners keep: the scene's part, shared and constant, and the world's part for when walls
// change. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_PREPARED_H
#define TH_PLAN_PREPARED_H
#include "plan/field/field.h"
#include "plan/roadmap/roadmap.h"
#include "state/world.h"

// Distance fields and road map for one state of the doors.
typedef struct th_plans {
    th_graph graph;
    float **fields; // by target; NULL where nobody needs one
    th_roadmap *roadmap;
} th_plans;

struct th_plan_scene {
    bool flat_open; // nothing but open ground: no lattice, everybody walks straight
    th_nodes nodes;
    th_plans plans; // doors as at the start
    uint8_t *door_closed;
};

struct th_plan_world {
    bool own; // the walls have changed, or may within a step: `plans` are this world's
    th_plans plans;
    th_graph next; // being made while the old one is compared with it
    th_front front;
};

TH_BOTH static inline const th_plans *th_plans_in_force(const th_world *world) {
    return world->plan->own ? &world->plan->plans : &world->scene->plan->plans;
}

// reach.c: can every group get to its goals, all doors open?
th_result th_plan_check_reach(const th_scene *scene, th_error *error);
#endif
