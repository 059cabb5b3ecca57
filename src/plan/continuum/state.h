// What the continuum planner keeps in a world, for its own files. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_STATE_H
#define TH_PLAN_CONTINUUM_STATE_H
#include "plan/continuum/potential.h"
#include "state/world.h"

enum { TH_SWEEPERS_MOST = 16 };

typedef struct th_goal_nodes { // of a target
    th_goal_node *nodes;
    int count;
} th_goal_nodes;

typedef struct th_potential { // of a leg of a group's route, or a detour
    int group, target;
    int shared; // the first one with the same target and parameters
    float *values;
} th_potential;

typedef struct th_continuum {
    th_arena arena; // of all this
    th_nodes nodes;
    th_graph graph;
    uint32_t graph_version; // of the walls that the graph has
    float *density, *flow_x, *flow_y, *discomfort, *static_discomfort; // by node
    th_goal_nodes *goals;                                              // by target
    th_faces *faces;                                                   // by group
    int *same_faces;      // by group: the first one with its parameters
    int *first_potential; // by group, of its first leg
    th_potential *potentials;
    uint8_t *wanted, *solved; // by potential: somebody walks there; it is as of the last solution
    int potential_count, sweeper_count;
    th_sweeper sweepers[TH_SWEEPERS_MOST];
    uint64_t tiles_visited, solutions;
} th_continuum;

static inline const th_continuum_params *th_continuum_params_of(const th_world *world, int group) {
    return (const th_continuum_params *)world->groups[group].plan_params;
}
static inline bool th_continuum_has(const th_world *world, int group) {
    return group < world->scene->group_count &&
           world->scene->groups[group].plan.model == TH_PLAN_CONTINUUM;
}

// Row or column of a lattice, the nearest one for places beside it.
static inline int th_lattice_index(float x, int last) {
    return x <= 0.0f ? 0 : x >= (float)last ? last : (int)x;
}

// crowd.c: density, mean velocity and discomfort of every node from the people; then speed and cost of every face for
// the parameters of a group.
void th_continuum_splat(const th_continuum *c, const th_world *world);
void th_continuum_make_faces(const th_continuum *c, const th_world *world, int group);
// walk.c: everybody's preferred velocity.
void th_continuum_walk(const th_continuum *c, th_world *world);
// The velocities of people of a group at points, for th_model.directions.
bool th_continuum_directions(th_world *world, int model, int group, int target, int level,
                             const th_vec2 *points, int count, th_vec2 *directions);
#endif
