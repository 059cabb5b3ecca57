// From people to the lattice of the continuum planner: what one person adds to the nodes around, and speed and cost of
// the faces of one node. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_CROWD_H
#define TH_PLAN_CONTINUUM_CROWD_H
#include "plan/continuum/state.h"
#include "plan/field/field.h"
#include "plan/pictures.h"

// ---- splat

// The adder: a thread of the CPU to the nodes that are its own, the device to all.
typedef struct th_splat_part {
    const th_continuum *c;
    th_walls walls;
    th_splat_settings set;
    int begin, end; // nodes
} th_splat_part;

typedef struct th_splat_corners {
    int node; // below and left
    th_splat splat;
} th_splat_corners;

TH_BOTH static inline bool th_splat_find(const th_splat_part *part, int level, th_vec2 p,
                                         th_splat_corners *at) {
    const th_nodes *nodes = &part->c->nodes;
    const th_node_level *grid = &nodes->levels[level];
    float x = (p.x - grid->origin.x) * nodes->inverse_spacing;
    float y = (p.y - grid->origin.y) * nodes->inverse_spacing;
    if (!(x >= 0.0f && y >= 0.0f && x < (float)(grid->nx - 1) && y < (float)(grid->ny - 1)))
        return false;
    int column = (int)x, row = (int)y;
    at->node = grid->first + row * grid->nx + column;
    if (at->node + grid->nx + 1 < part->begin || at->node >= part->end) return false;
    float s = x - (float)column, t = y - (float)row;
    at->splat = part->set.cone ? th_cone_of(s, t) : th_splat_of(s, t, part->set.exponent);
    return true;
}

// On the device many people add to a node at once.
#ifdef TH_DEVICE_CODE
#define TH_SPLATTER TH_ON_GPU
#else
#define TH_SPLATTER
#endif
TH_SPLATTER static inline void th_splat_add(uint32_t *sum, float value) {
    float parts = th_clamp(value * (float)TH_SPLAT_ONE, -1e9f, 1e9f);
    uint32_t whole = (uint32_t)(int32_t)(parts + (parts < 0.0f ? -0.5f : 0.5f));
#ifdef TH_DEVICE_CODE
    th::add(sum, whole);
#else
    *sum += whole;
#endif
}

// Is the node in sight from p? Agents behind a wall are not felt.
TH_BOTH static inline bool th_splat_sees(const th_splat_part *part, int level, th_vec2 p,
                                         int node) {
    th_vec2 there = th_node_position(&part->c->nodes, &part->c->nodes.levels[level], node);
    return th_walls_first_crossing(&part->walls, level, p, there, NULL) < 0;
}

TH_SPLATTER static inline void th_splat_person(const th_splat_part *part, const th_agents *agents,
                                               uint32_t i) {
    const th_continuum *c = part->c;
    int level = (int)agents->level[i], nx = c->nodes.levels[level].nx;
    const int step[4] = {0, 1, nx, nx + 1};
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    // Agents that stand are density, not discomfort.
    int samples = v.x * v.x + v.y * v.y < 1e-4f ? 0 : part->set.samples;
    for (int n = 0; n <= samples; ++n) { // 0: now; then ahead, up to the next wall
        th_vec2 at = th_add(p, th_scale((float)n * part->set.interval, v));
        th_vec2 before = th_add(p, th_scale((float)(n - 1) * part->set.interval, v));
        if (n > 0 && th_walls_first_crossing(&part->walls, level, before, at, NULL) >= 0) return;
        th_splat_corners corners;
        if (!th_splat_find(part, level, at, &corners)) continue;
        bool open = th_field_open_cell(&c->graph, corners.node, nx);
        for (int k = 0; k < 4; ++k) {
            int node = corners.node + step[k];
            float share = corners.splat.share[k];
            if (node < part->begin || node >= part->end || share == 0.0f) continue;
            if (!open && !th_splat_sees(part, level, at, node)) continue;
            if (n > 0) {
                th_splat_add(&c->sums[node].discomfort, share);
                continue;
            }
            th_splat_add(&c->sums[node].density, share);
            th_splat_add(&c->sums[node].flow_x, share * v.x);
            th_splat_add(&c->sums[node].flow_y, share * v.y);
        }
    }
}

// Density, mean velocity and discomfort of a node from its sums.
TH_BOTH static inline void th_node_take_sums(const th_continuum *c, int node) {
    const th_node_sums *sums = &c->sums[node];
    const float part = 1.0f / (float)TH_SPLAT_ONE;
    float density = (float)(int32_t)sums->density;
    float inverse = density > 0.0f ? 1.0f / density : 0.0f;
    c->density[node] = density * part;
    c->flow_x[node] = (float)(int32_t)sums->flow_x * inverse;
    c->flow_y[node] = (float)(int32_t)sums->flow_y * inverse;
    c->discomfort[node] = c->static_discomfort[node] + (float)(int32_t)sums->discomfort * part;
}

// ---- speed and cost of every face

// Up from a node to its neighbour on the same level.
TH_BOTH static inline float th_face_slope(const th_continuum *c, int node, int to) {
    if (!c->height || c->height[node] >= TH_NO_HEIGHT || c->height[to] >= TH_NO_HEIGHT) return 0.0f;
    return (c->height[to] - c->height[node]) * c->nodes.inverse_spacing;
}

// Of the way from `node` to its neighbour `to` through face f.
TH_BOTH static inline float th_face_make(const th_continuum *c, const th_continuum_params *p,
                                         int node, int to, int f, float slope, float *speed) {
    float flow = f == 0   ? c->flow_x[to]
                 : f == 1 ? c->flow_y[to]
                 : f == 2 ? -c->flow_x[to]
                          : -c->flow_y[to];
    float free_speed = p->top_speed;
    if (c->nodes.zone[node] > 0) free_speed *= th_node_zone_factor(&c->nodes, node, 2 * f);
    if (slope > 0.0f) free_speed = th_slope_speed(p, free_speed, slope);
    *speed = th_face_speed(p, free_speed, c->density[to], flow);
    return c->nodes.spacing * th_face_cost(p, *speed, c->discomfort[to]);
}

TH_BOTH static inline void th_node_make_faces(const th_continuum *c, const th_continuum_params *p,
                                              const th_faces *faces, int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    for (int f = 0; f < TH_FACES; ++f) {
        float cost = TH_CONTINUUM_SHUT, speed = 0.0f;
        if (c->graph.links[node] >> 2 * f & 1)
            cost = th_face_make(c, p, node, node + step[f], f,
                                th_face_slope(c, node, node + step[f]), &speed);
        faces->cost[node].face[f] = cost;
        faces->speed[node].face[f] = speed;
    }
}

// Those that lead to another level, after those of all nodes.
TH_BOTH static inline void th_portal_make_faces(const th_continuum *c, const th_continuum_params *p,
                                                const th_faces *faces, int i) {
    const th_portal *portal = &c->graph.portals[i];
    for (int f = 0; f < TH_FACES; ++f) {
        float *cost = &faces->portal_cost[TH_FACES * i + f];
        *cost = TH_CONTINUUM_SHUT;
        if (portal->to[2 * f] >= 0)
            *cost = th_face_make(c, p, portal->node, portal->to[2 * f], f, 0.0f,
                                 &faces->speed[portal->node].face[f]);
    }
}
#endif
