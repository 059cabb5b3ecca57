// The potential of the continuum planner on a lattice whose faces have costs of their own: by fast marching, the
// reference, and by sweeping, four potentials at a time. Both find the least potential that none of the four quadrants of
// a node can lower. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_POTENTIAL_H
#define TH_PLAN_CONTINUUM_POTENTIAL_H
#include "core/front.h"
#include "formula/eikonal.h"
#include "plan/continuum/continuum.h"
#include "plan/nodes.h"

// What it costs to leave each node through each face, per cell: TH_CONTINUUM_SHUT where there is no way. Faces that lead
// to another level are shut here; their costs are with the portals.
typedef struct th_node_faces {
    float cost[TH_FACES], weight[TH_FACES]; // weight: 1 / cost^2
    float speed[TH_FACES];                  // with which people walk [m/s]
} th_node_faces;
typedef struct th_faces {
    th_node_faces *nodes;
    float *portal_cost; // TH_FACES a portal
} th_faces;

// A node near a goal: its potential is at most its distance to it times the cost of free ground.
typedef struct th_goal_node {
    int node;
    float distance; // [m]
} th_goal_node;

enum { TH_LANES = 4, TH_TILE = 32 };

// Work space of one sweep over TH_LANES potentials.
typedef struct th_sweeper {
    const th_graph *graph;
    float *lanes;    // TH_LANES a node, with a row of nodes before the first and after the last one
    int *first_tile; // by level
    uint32_t *changed, *done; // by tile, and four a tile: at which pass
    uint32_t stamp;           // of the last pass over a tile
    int tiles, padding;       // padding: nodes in front of `lanes`
    uint64_t visited;         // tiles of the last solution
} th_sweeper;

bool th_sweeper_create(th_sweeper *sweeper, const th_graph *graph, th_arena *arena);
// Fills potentials[0 .. count) (nodes->count values each) for as many sets of goal nodes; count at most TH_LANES.
void th_potential_sweep(th_sweeper *sweeper, const th_faces *faces, float ground_cost,
                        const th_goal_node *const *goals, const int *goal_counts, int count,
                        float *const *potentials);
// The reference, one potential.
void th_potential_march(const th_graph *graph, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, th_front *front,
                        float *potential);
// What the four quadrants of a node and portals say it should be: the right side of the discrete equation.
float th_potential_update(const th_graph *graph, const th_faces *faces, const float *potential,
                          int node, int nx);
#endif
