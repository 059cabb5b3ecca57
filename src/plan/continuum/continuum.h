// Continuum crowds (Treuille, Cooper, Popovic 2006; Cheng 2013, section 4.1): the maths of one person and one node, and the solvers.
//
// Implemented: density and velocity splat, speed per face between two densities (eq. 4.1), unit cost from path, time
// and discomfort (eqs. 4.2, 4.3), predictive discomfort, potential per group by the upwind eikonal equation with a cost
// per face (eq. 4.4), velocity down its gradient with the face speeds (eqs. 4.5, 4.6). Additions: the potential is the
// least over the four quadrants, which makes it independent of the order of updates; people keep their own free speed;
// walls are links that are cut, and beside them the way is found by sight. Left out: the minimum distance (the move
// model and contact keep people apart). SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_CONTINUUM_H
#define TH_PLAN_CONTINUUM_CONTINUUM_H
#include "core/front.h"
#include "formula/math.h"
#include "formula/params.h"
#include "formula/vec.h"
#include "plan/nodes.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_CONTINUUM_PARAMS(X)                                                                    \
    X(cell, 0.5, 0.1, 5, "m", "throng: a body and a half; taken when the world is made",          \
      "side of a cell; the smallest one of all groups holds")                                     \
    X(every, 1, 1, 1000, "steps", "Treuille 2006: every step",                                    \
      "steps between two solutions; the smallest one of all groups holds")                        \
    X(path_weight, 1, 0, 100, "-", "Treuille 2006, alpha", "weight of a metre")                   \
    X(time_weight, 1, 0.001, 100, "-", "Treuille 2006, beta", "weight of a second")               \
    X(discomfort_weight, 1, 0, 100, "-", "Treuille 2006, gamma",                                  \
      "weight of discomfort, per second")                                                         \
    X(top_speed, 1.34, 0.1, 10, "m/s", "Weidmann 1993",                                           \
      "speed on free ground with which the potential reckons")                                    \
    X(least_speed, 0.05, 0.001, 1, "m/s", "throng: people in the densest crowds still shuffle",   \
      "speed against a dense flow, which would be none or negative")                              \
    X(steepest, 1, 0.01, 10, "-", "public implementations: 1, 45 degrees",                        \
      "slope of pictures of height up which people walk with least_speed; down as on the flat")   \
    X(density_min, 0.5, 0.01, 20, "-", "Treuille 2006: 2^-exponent, so no agent slows itself",    \
      "splat up to which people walk freely")                                                     \
    X(density_max, 0.8, 0.02, 20, "-", "public implementations: 0.6 to 2",                        \
      "splat from which on people walk with the flow")                                            \
    X(exponent, 1, 0.1, 8, "-", "Treuille 2006, lambda",                                          \
      "of the splat; the smallest one of all groups holds")                                       \
    X(cone, 0, 0, 1, "-", "Cheng 2013, section 4.1: a cone as texture",                           \
      "1: the splat is a cone of one cell instead; that of the first group holds for all")        \
    X(prediction, 2, 0, 20, "s", "public implementations: 2 to 4 s",                              \
      "how far ahead people are felt as discomfort; the largest one of all groups holds, 0: not") \
    X(prediction_samples, 4, 1, 16, "-", "throng: one every half second",                         \
      "places ahead at which they are")

typedef struct th_continuum_params {
    TH_CONTINUUM_PARAMS(TH_PARAM_MEMBER)
} th_continuum_params;

// Directions of the four faces, counter-clockwise from east; half the number of th_direction_x.
enum { TH_FACES = 4 };
// The cost of a face without anything behind it; its square is still a float. A potential from TH_CONTINUUM_FAR
// on means that there is no way.
#define TH_CONTINUUM_SHUT 1e15f
#define TH_CONTINUUM_FAR 1e14f

// ---- splat

typedef struct th_splat {
    float share
        [4]; // of the node below and left, the one right of it, the one above it, the one diagonal
} th_splat;

// The thesis' other splat: from 1 at the person to nothing a cell away.
TH_FORMULA th_splat th_cone_of(float s, float t) {
    th_splat splat;
    for (int k = 0; k < 4; ++k) {
        float x = k & 1 ? 1.0f - s : s, y = k & 2 ? 1.0f - t : t;
        splat.share[k] = th_max(1.0f - sqrtf(x * x + y * y), 0.0f);
    }
    return splat;
}

// The shares of an agent at (s, t) of a cell at its corners: min^exponent. The nearest node gets 2^-exponent at
// least, every other one 2^-exponent at most.
TH_FORMULA th_splat th_splat_of(float s, float t, float exponent) {
    float least[4] = {th_min(1.0f - s, 1.0f - t), th_min(s, 1.0f - t), th_min(1.0f - s, t),
                      th_min(s, t)};
    th_splat splat;
    for (int k = 0; k < 4; ++k) {
        float share = th_clamp(least[k], 0.0f, 1.0f);
        splat.share[k] = exponent == 1.0f ? share
                         : share > 0.0f   ? th_exp(exponent * (float)th_log_double((double)share))
                                          : 0.0f;
    }
    return splat;
}

// ---- faces

// Treuille's speed of the ground with a least slope of 0: free on the flat and downhill, least_speed up the steepest
// slope.
TH_FORMULA float th_slope_speed(const th_continuum_params *p, float free_speed, float slope) {
    float share = th_clamp(slope / p->steepest, 0.0f, 1.0f);
    return free_speed + share * (th_min(p->least_speed, free_speed) - free_speed);
}

// Eq. 4.1: the speed into a node where the crowd has this density and walks with `flow` in the direction of the face.
TH_FORMULA float th_face_speed(const th_continuum_params *p, float free_speed, float density,
                               float flow) {
    float along = th_clamp(flow, th_min(p->least_speed, free_speed), free_speed);
    float share = (density - p->density_min) / th_max(p->density_max - p->density_min, 1e-6f);
    return free_speed + th_clamp(share, 0.0f, 1.0f) * (along - free_speed);
}

// Eq. 4.3, of a metre.
TH_FORMULA float th_face_cost(const th_continuum_params *p, float speed, float discomfort) {
    return (p->path_weight * speed + p->time_weight + p->discomfort_weight * discomfort) / speed;
}

// ---- potential

// The potential of a node from its neighbours x and y in one quadrant, at the costs cx and cy of the way to them:
// ((u - x) / cx)^2 + ((u - y) / cy)^2 = 1 where u comes out above both, else the cheaper of the two alone. With
// d = x - y it does so exactly where -cx < d < cy, and the root is then real.
TH_FORMULA float th_quadrant_potential(float x, float y, float cx, float cy) {
    float squares = cx * cx + cy * cy, share = cy / squares; // which do not wait for x and y
    float d = x - y, alone = th_min(x + cx, y + cy);
    float root = sqrtf(th_max(squares - d * d, 0.0f));
    float both = y + share * (cy * d + cx * root);
    return d < cy && -d < cx ? th_min(both, alone) : alone;
}

// ---- people

// An agent that wants to walk at `own` where a crowd of top speed `top` walks at `speed`. Slow people are held up by
// slow crowds only; quick ones stay ahead of the others as far as the crowd lets them.
TH_FORMULA float th_continuum_own_speed(float own, float top, float speed) {
    return own <= top ? th_min(own, speed) : speed * (own / top);
}

// ---- the potential on a lattice: by fast marching, the reference, and by buckets

// Both find the least potential that none of the four quadrants of a node can lower.

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
// The entries of the buckets, lowest bucket first, in the order in which they would be taken: for snapshots.
typedef struct th_bucket_entry {
    int node, bucket;
} th_bucket_entry;
// near + far of them, in bytes that need not be aligned
void th_buckets_list(const th_buckets *buckets, void *entries);
// As th_potential_begin left them, with these nodes instead of goals. A node that comes twice is taken once.
void th_buckets_fill(th_buckets *buckets, float ground_cost, int now, const void *entries,
                     int count);
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
