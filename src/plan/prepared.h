// State of the planners: the scene's part, shared and constant, and the world's part for when walls
// change. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_PREPARED_H
#define TH_PLAN_PREPARED_H
#include "plan/field/field.h"
#include "plan/roadmap/roadmap.h"
#include "state/world.h"

// Distance fields and road map for one state of the doors and people of one size.
typedef struct th_plans {
    th_graph graph;
    float **fields;      // by target; NULL where no agent needs one
    th_roadmap *roadmap; // of the smallest people only
} th_plans;

struct th_plan_scene {
    bool flat_open; // nothing but open ground: no lattice, every agent walks straight
    th_nodes nodes;
    th_plans plans[TH_SIZE_MAX]; // doors as at the start
    uint8_t *door_closed;
};

struct th_plan_world {
    bool own; // the walls have changed, or may within a step: `plans` are this world's
    th_plans plans[TH_SIZE_MAX];
    th_graph next; // being made while the old one is compared with it
    th_front front;
};

TH_BOTH static inline const th_plans *th_plans_in_force(const th_world *world, int size) {
    return world->plan->own ? &world->plan->plans[size] : &world->scene->plan->plans[size];
}

// As people of the size take them: narrower gaps than they need are walls, bodies on the move are not.
TH_BOTH static inline th_walls th_walls_for(const th_scene *scene, th_walls walls, int size) {
    walls.need = scene->sizes[size];
    walls.parked_only = true;
    return walls;
}

// reach.c: can every group get to its goals, all doors open?
th_result th_plan_check_reach(const th_scene *scene, th_error *error);
#endif
