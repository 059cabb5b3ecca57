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

// Fields that follow changed walls over several steps, replan.c. A round brings all of them up to the walls as they stood when
// it began: first the fields, size by size, then the edges of the road map, then its table.
typedef struct th_replan_state {
    int32_t steps;          // that a round takes at most; 0: everything at once
    int32_t running, again; // a round is under way; the walls have changed since it began
    int32_t field, begun;   // size * targets + target; its solution has begun
    int32_t road,
        road_changed; // nodes of the road map that are done, twice; an edge has another length
    int32_t front_count;
    int64_t share; // of the round that a step does
    th_field_work work;
    int32_t unused;
} th_replan_state;
typedef struct th_replan {
    th_replan_state state;
    float *keep;  // by field: what is nearer stays; TH_UNREACHABLE: nothing changed
    float *fresh; // the field under way
    int field_count;
} th_replan;

struct th_plan_world {
    bool own; // the walls have changed, or may within a step: `plans` are this world's
    th_plans plans[TH_SIZE_MAX];
    th_graph next; // being made while the old one is compared with it
    th_front front;
    th_replan replan;
};

// prepare.c: the graph of a size for the walls as they stand; into keep[target] how far fields are right all the same.
void th_plan_renew_graph(struct th_plan_world *plan, const th_scene *scene, const th_walls *walls,
                         int size, float *keep);
// replan.c: memory for a round, where the world wants its fields to follow.
bool th_replan_create(struct th_plan_world *plan, const th_scene *scene, const th_memory *memory);
void th_replan_destroy(struct th_plan_world *plan, const th_scene *scene, const th_memory *memory);
void th_replan_begin(th_world *world);

TH_BOTH static inline const th_plans *th_plans_in_force(const th_world *world, int size) {
    return world->plan->own ? &world->plan->plans[size] : &world->scene->plan->plans[size];
}

// As people of the size take them: narrower gaps than they need are walls, bodies on the move are not.
TH_BOTH static inline th_walls th_walls_for(const th_scene *scene, th_walls walls, int size) {
    walls.need = scene->sizes[size];
    int bar = size - (scene->size_count - scene->bar_count);
    walls.bar = bar >= 0 ? -1.0f - (float)bar : 0.0f;
    walls.parked_only = true;
    return walls;
}

// reach.c: can every group get to its goals, all doors open?
th_result th_plan_check_reach(const th_scene *scene, th_error *error);
#endif
