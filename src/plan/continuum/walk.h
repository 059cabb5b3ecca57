// People on a potential: the velocity of the nodes around an agent, or the way by sight beside walls, and the own
// speed. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_WALK_H
#define TH_PLAN_CONTINUUM_WALK_H
#include "plan/continuum/state.h"
#include "plan/preferred.h"

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
    float factor =
        world->scene->zone_count > 0 ? th_zone_factor(world->scene, level, at, direction) : 1.0f;
    speed = th_continuum_own_speed(factor * agents->speed[i], factor * params->top_speed, speed);
    agents->preferred_x[i] = speed * direction.x;
    agents->preferred_y[i] = speed * direction.y;
    return true;
}
#endif
