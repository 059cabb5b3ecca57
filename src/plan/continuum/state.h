// State of the continuum planner in a world, for its own files. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_STATE_H
#define TH_PLAN_CONTINUUM_STATE_H
#include "plan/continuum/continuum.h"
#include "state/world.h"

enum { TH_SOLVER_MAX = 64 };

typedef struct th_goal_nodes { // of a target
    th_goal_node *nodes;
    int count, most;
} th_goal_nodes;

typedef struct th_potential { // of a leg of a group's route, or a detour
    int group, target;
    int shared; // the first one with the same target and parameters
    float *values;
} th_potential;

// Sums of people at a node in units of 1 / TH_SPLAT_ONE: integers, so that the order of people does not matter.
enum { TH_SPLAT_ONE = 1 << 16 };
typedef struct th_node_sums {
    uint32_t density, flow_x, flow_y, discomfort;
} th_node_sums;

typedef struct th_splat_settings {
    float exponent, interval; // interval [s] between samples
    int samples;
    bool cone;
} th_splat_settings;

typedef struct th_continuum {
    th_arena arena; // of all this
    th_nodes nodes;
    th_graph graph;
    uint32_t graph_version; // of the walls that the graph has
    th_node_sums *sums;     // by node
    float *density, *flow_x, *flow_y, *discomfort, *static_discomfort; // by node
    float *height;                                                     // by node; NULL: flat
    th_goal_nodes *goals;                                              // by target
    th_faces *faces;                                                   // by group
    int *same_faces;      // by group: the first one with its parameters
    int *first_potential; // by group, of its first leg
    th_potential *potentials;
    uint8_t *wanted, *solved; // by potential: an agent walks there; it is as of the last solution
    int potential_count, solver_count;
    th_buckets solvers[TH_SOLVER_MAX]; // one a thread
    uint64_t nodes_taken, solutions;
} th_continuum;

TH_BOTH static inline const th_continuum_params *th_continuum_params_of(const th_world *world,
                                                                        int group) {
    return (const th_continuum_params *)world->groups[group].plan_params;
}
TH_BOTH static inline bool th_continuum_has(const th_world *world, int group) {
    return group < world->scene->group_count &&
           world->scene->groups[group].plan.model == TH_PLAN_CONTINUUM;
}
// The potential that leads an agent, -1: none does.
TH_BOTH static inline int th_continuum_potential_of(const th_continuum *c, const th_world *world,
                                                    int i) {
    int g = (int)world->agents.group[i];
    if (world->agents.phase[i] != TH_PHASE_WALKING || !th_continuum_has(world, g) ||
        th_is_led(world, i))
        return -1;
    int way = th_group_way(&world->scene->groups[g], world->agents.leg[i]);
    return way < 0 ? -1 : c->potentials[c->first_potential[g] + way].shared;
}

// Row or column of a lattice, the nearest one for places beside it.
TH_BOTH static inline int th_lattice_index(float x, int last) {
    return x <= 0.0f ? 0 : x >= (float)last ? last : (int)x;
}

#ifdef __cplusplus
extern "C" {
#endif
// ---- continuum.c, also for the device

// Graph and goals for the walls as they are; true: they were others before.
bool th_continuum_take_note_of_walls(th_continuum *c, const th_world *world);
// Finds the groups that share faces and the legs that share a potential.
void th_continuum_find_shared(th_continuum *c, const th_world *world);
// Steps between two solutions.
uint64_t th_continuum_every(const th_world *world);
// Solves the wanted potentials on the faces as they are.
void th_continuum_solve(th_continuum *c, const th_world *world);

// ---- crowd.c

// The settings of all groups together.
th_splat_settings th_splat_settings_of(const th_world *world);
// Density, mean velocity and discomfort of every node from the people; then speed and cost of every face for the
// parameters of a group. The splat needs nodes, graph and the grids of `c` only, and serves other planners too.
void th_continuum_splat(const th_continuum *c, const th_world *world, const th_splat_settings *set);
void th_continuum_make_faces(const th_continuum *c, const th_world *world, int group);
// Every agent's preferred velocity.
void th_continuum_walk(const th_continuum *c, th_world *world);
// The velocities of people of a group at points, for th_model.directions.
bool th_continuum_directions(th_world *world, int model, int group, int target, int level,
                             const th_vec2 *points, int count, th_vec2 *directions);
#ifdef __cplusplus
}
#endif
#endif
