// From people to the lattice of the continuum planner: what one person adds to the nodes around, and speed and cost of
// the faces of one node. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_CROWD_H
#define TH_PLAN_CONTINUUM_CROWD_H
#include "plan/continuum/state.h"
#include "plan/field/field.h"
#include "plan/nodes.h"
#include "plan/preferred.h"

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

TH_SPLATTER static inline void th_splat_agent(const th_splat_part *part, const th_agents *agents,
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

// Makes speed and cost of the way from `node` to its neighbour `to` through face f.
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

// Makes the faces that lead to another level, after those of all nodes.
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

// ---- walking down a potential

// People on a potential: the velocity of the nodes around an agent, or the way by sight beside walls, and the own
// speed.

// Where ways part, interpolated velocities cancel; below this share of the nodes' speeds people go by sight. [-]
#define TH_CONTINUUM_RIDGE 0.3f

typedef struct
    th_continuum_view { // what a person sees: a potential and the faces it was solved with
    const th_continuum *c;
    const th_faces *faces;
    const float *potential;
} th_continuum_view;

// Eqs. 4.5, 4.6: down the gradient, with the speeds of the faces it goes through. On each axis the neighbour that the
// potential came from: the one over which the node is reached most cheaply.
TH_BOTH static inline th_vec2 th_continuum_node_velocity(const th_continuum_view *v, int node,
                                                         int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    float slope[2] = {0.0f, 0.0f}, speed[2] = {0.0f, 0.0f}, here = v->potential[node];
    for (int axis = 0; axis < 2; ++axis) {
        float best = TH_CONTINUUM_SHUT;
        for (int f = axis; f < TH_FACES; f += 2) {
            float cost = v->faces->cost[node].face[f];
            if (cost >= TH_CONTINUUM_SHUT) continue;
            float there = v->potential[node + step[f]];
            if (there + cost >= best) continue;
            best = there + cost;
            slope[axis] = th_max(here - there, 0.0f) * (f < 2 ? 1.0f : -1.0f);
            speed[axis] = v->faces->speed[node].face[f];
        }
    }
    float length = sqrtf(slope[0] * slope[0] + slope[1] * slope[1]);
    if (!(length > 0.0f)) return th_v(0.0f, 0.0f);
    return th_v(speed[0] * slope[0] / length, speed[1] * slope[1] / length);
}

// The speed in a direction near p, from the faces of the nearest node, by the squares of the direction's components.
TH_BOTH static inline float th_continuum_speed_towards(const th_continuum_view *v, int level,
                                                       th_vec2 p, th_vec2 direction, float top) {
    const th_nodes *nodes = &v->c->nodes;
    const th_node_level *grid = &nodes->levels[level];
    int column =
        th_lattice_index((p.x - grid->origin.x) * nodes->inverse_spacing + 0.5f, grid->nx - 1);
    int row =
        th_lattice_index((p.y - grid->origin.y) * nodes->inverse_spacing + 0.5f, grid->ny - 1);
    int node = grid->first + row * grid->nx + column;
    float x = v->faces->speed[node].face[direction.x >= 0.0f ? 0 : 2];
    float y = v->faces->speed[node].face[direction.y >= 0.0f ? 1 : 3];
    if (x == 0.0f) x = top; // no face there: nothing that slows
    if (y == 0.0f) y = top;
    return x * direction.x * direction.x + y * direction.y * direction.y;
}

// Bilinear interpolation of the nodes' velocities in open cells; false beside walls and where ways part.
TH_BOTH static inline bool th_continuum_open_velocity(const th_continuum_view *v, int level,
                                                      th_vec2 p, th_vec2 *velocity) {
    const th_nodes *nodes = &v->c->nodes;
    const th_node_level *grid = &nodes->levels[level];
    float x = (p.x - grid->origin.x) * nodes->inverse_spacing;
    float y = (p.y - grid->origin.y) * nodes->inverse_spacing;
    if (!(x >= 0.0f && y >= 0.0f && x < (float)(grid->nx - 1) && y < (float)(grid->ny - 1)))
        return false;
    int column = (int)x, row = (int)y, nx = grid->nx, node = grid->first + row * nx + column;
    if (!th_field_open_cell(&v->c->graph, node, nx) || v->potential[node] >= TH_CONTINUUM_FAR)
        return false;
    float s = x - (float)column, t = y - (float)row;
    const float share[4] = {(1.0f - s) * (1.0f - t), s * (1.0f - t), (1.0f - s) * t, s * t};
    const int step[4] = {0, 1, nx, nx + 1};
    th_vec2 sum = {0.0f, 0.0f};
    float speeds = 0.0f;
    for (int k = 0; k < 4; ++k) {
        th_vec2 corner = th_continuum_node_velocity(v, node + step[k], nx);
        sum = th_add(sum, th_scale(share[k], corner));
        speeds += share[k] * th_length(corner);
    }
    float length = th_length(sum);
    if (!(length > TH_CONTINUUM_RIDGE * speeds)) return false;
    *velocity = th_scale(speeds / length,
                         sum); // where the nodes' ways differ the agent is no slower for it
    return true;
}

// The velocity of a crowd of top speed at p; false: no way is known here.
TH_BOTH static inline bool th_continuum_velocity_at(const th_continuum_view *v,
                                                    const th_walls *walls, int level, th_vec2 p,
                                                    float top, th_vec2 *velocity) {
    th_vec2 open;
    if (th_continuum_open_velocity(v, level, p, &open)) {
        th_field_ask ask = {&v->c->graph, walls, v->potential, level, p, TH_FIELD_PULL_MAX};
        *velocity = open;
        if (!th_field_runs_into_wall(&ask, th_unit(open))) return true;
    }
    th_way way = th_field_way(&v->c->graph, walls, v->potential, level, p);
    if (way.distance >= TH_CONTINUUM_FAR) return false;
    *velocity =
        th_scale(th_continuum_speed_towards(v, level, p, way.direction, top), way.direction);
    return true;
}

// False: the person is not one that a potential leads.
TH_BOTH static inline bool th_continuum_plan(const th_continuum *c, const th_planner *planner,
                                             int i) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    int g = (int)agents->group[i], level = (int)agents->level[i];
    int potential = th_continuum_potential_of(c, world, i);
    if (potential < 0 || !c->solved[potential]) return false;
    const th_potential *p = &c->potentials[potential];
    th_continuum_view v = {c, &c->faces[c->same_faces[g]], p->values};
    const th_continuum_params *params = th_continuum_params_of(world, g);
    th_vec2 at = th_position(agents, (uint32_t)i), velocity;
    if (!th_continuum_velocity_at(&v, &planner->walls, level, at, params->top_speed, &velocity))
        return false;
    float speed = th_length(velocity);
    th_vec2 direction = th_unit(velocity);
    th_way near = {direction, 0.0f};
    if (th_goal_way(world->scene, &planner->walls, &world->scene->targets[p->target], level, at,
                    th_goal_inset(agents, i), th_velocity(agents, (uint32_t)i), TH_PLAN_NEAR_GOAL,
                    &near)) {
        direction = near.direction;
        speed = th_continuum_speed_towards(&v, level, at, direction, params->top_speed);
    }
    float factor = 1.0f;
    if (world->scene->zone_count > 0)
        factor = th_zone_factor(world->scene, agents->group[i], level, at, direction);
    speed = th_continuum_own_speed(factor * agents->speed[i], factor * params->top_speed, speed);
    agents->preferred_x[i] = speed * direction.x;
    agents->preferred_y[i] = speed * direction.y;
    return true;
}
#endif
