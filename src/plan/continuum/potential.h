// The potential of the continuum planner on a lattice whose faces have costs of their own: by fast marching, the
// reference, and by buckets. Both find the least potential that none of the four quadrants of a node can lower.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_POTENTIAL_H
#define TH_PLAN_CONTINUUM_POTENTIAL_H
#include "core/front.h"
#include "formula/math.h"
#include "plan/continuum/continuum.h"
#include "plan/nodes.h"

// One number for each face of a node.
typedef struct th_node_faces {
    _Alignas(16) float face[TH_FACES];
} th_node_faces;
// Cost of leaving each node through each face, per cell, TH_CONTINUUM_SHUT where there is no way, and the speed
// [m/s] with which people do. Faces that lead to another level are shut here; their costs are with the portals.
typedef struct th_faces {
    th_node_faces *cost, *speed; // by node
    float *portal_cost;          // TH_FACES a portal
} th_faces;

// A node near a goal: its potential is at most its distance to it times the cost of free ground.
typedef struct th_goal_node {
    int node;
    float distance; // [m]
} th_goal_node;

// Nodes by their potential in buckets that are emptied from the lowest on: the work space of one solution.
enum { TH_BUCKETS = 2048 }; // a power of two; those further on lie in one more
typedef struct th_bucket_link {
    int next, before, bucket; // of its list, -1: none; in which bucket, -1: in none
} th_bucket_link;
typedef struct th_buckets {
    const th_graph *graph;
    th_bucket_link *links; // by node
    int *first;            // by bucket, -1: empty
    float per_bucket;      // 1 / width
    int now;               // the number of the lowest bucket; others follow cyclically
    int near, far;         // nodes in the buckets, and in the one more
    uint64_t taken;        // nodes, in the last solution
} th_buckets;

bool th_buckets_create(th_buckets *buckets, const th_graph *graph, th_arena *arena);
// A solution in parts: begin, then advance by at most so many nodes until that returns true. `potential` (nodes->count
// values) is whole only then.
void th_potential_begin(th_buckets *buckets, float ground_cost, const th_goal_node *goals,
                        int goal_count, float *potential);
bool th_potential_advance(th_buckets *buckets, const th_faces *faces, float *potential,
                          uint64_t most);
// Fills potential (nodes->count values).
void th_potential_solve(th_buckets *buckets, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, float *potential);
// The reference.
void th_potential_march(const th_graph *graph, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, th_front *front,
                        float *potential);
// The value of a node by its four quadrants and portals: the right side of the discrete equation.
float th_potential_update(const th_graph *graph, const th_faces *faces, const float *potential,
                          int node, int nx);
#endif
