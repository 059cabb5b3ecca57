// People on a potential: the velocity of the nodes around somebody, or the way by sight beside walls, and the own speed.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/continuum/state.h"
#include "plan/preferred.h"

// Where ways part, interpolated velocities cancel; below this share of the nodes' speeds people go by sight. [-]
static const float RIDGE = 0.3f;

typedef struct view { // what a person sees: a potential and the faces it was solved with
    const th_continuum *c;
    const th_faces *faces;
    const float *potential;
} view;

// Eqs. 4.5, 4.6: down the gradient, with the speeds of the faces it goes through. On each axis the neighbour that the
// potential came from: the one over which the node is reached most cheaply.
static th_vec2 node_velocity(const view *v, int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    float slope[2] = {0.0f, 0.0f}, speed[2] = {0.0f, 0.0f}, here = v->potential[node];
    for (int axis = 0; axis < 2; ++axis) {
        float best = TH_CONTINUUM_SHUT;
        for (int f = axis; f < TH_FACES; f += 2) {
            float cost = v->faces->nodes[node].cost[f];
            if (cost >= TH_CONTINUUM_SHUT) continue;
            float there = v->potential[node + step[f]];
            if (there + cost >= best) continue;
            best = there + cost;
            slope[axis] = th_max(here - there, 0.0f) * (f < 2 ? 1.0f : -1.0f);
            speed[axis] = v->faces->nodes[node].speed[f];
        }
    }
    float length = sqrtf(slope[0] * slope[0] + slope[1] * slope[1]);
    if (!(length > 0.0f)) return th_v(0.0f, 0.0f);
    return th_v(speed[0] * slope[0] / length, speed[1] * slope[1] / length);
}

// The speed in a direction near p, from the faces of the nearest node, by the squares of the direction's components.
static float speed_towards(const view *v, int level, th_vec2 p, th_vec2 direction, float top) {
    const th_nodes *nodes = &v->c->nodes;
    const th_node_level *grid = &nodes->levels[level];
    int column =
        th_lattice_index((p.x - grid->origin.x) * nodes->inverse_spacing + 0.5f, grid->nx - 1);
    int row =
        th_lattice_index((p.y - grid->origin.y) * nodes->inverse_spacing + 0.5f, grid->ny - 1);
    int node = grid->first + row * grid->nx + column;
    float x = v->faces->nodes[node].speed[direction.x >= 0.0f ? 0 : 2];
    float y = v->faces->nodes[node].speed[direction.y >= 0.0f ? 1 : 3];
    if (x == 0.0f) x = top; // no face there: nothing that slows
    if (y == 0.0f) y = top;
    return x * direction.x * direction.x + y * direction.y * direction.y;
}

// Bilinear interpolation of the nodes' velocities in open cells; false beside walls and where ways part.
static bool open_velocity(const view *v, int level, th_vec2 p, th_vec2 *velocity) {
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
        th_vec2 corner = node_velocity(v, node + step[k], nx);
        sum = th_add(sum, th_scale(share[k], corner));
        speeds += share[k] * th_length(corner);
    }
    float length = th_length(sum);
    if (!(length > RIDGE * speeds)) return false;
    *velocity =
        th_scale(speeds / length, sum); // where the nodes' ways differ nobody is slower for it
    return true;
}

// The velocity of a crowd of top speed at p; false: no way is known here.
static bool velocity_at(const view *v, const th_walls *walls, int level, th_vec2 p, float top,
                        th_vec2 *velocity) {
    th_vec2 open;
    if (open_velocity(v, level, p, &open)) {
        th_field_ask ask = {&v->c->graph, walls, v->potential, level, p, TH_FIELD_PULL_MAX};
        *velocity = open;
        if (!th_field_runs_into_wall(&ask, th_unit(open))) return true;
    }
    th_way way = th_field_way(&v->c->graph, walls, v->potential, level, p);
    if (way.distance >= TH_CONTINUUM_FAR) return false;
    *velocity = th_scale(speed_towards(v, level, p, way.direction, top), way.direction);
    return true;
}

// False: the person is not one that a potential leads.
static bool plan_walker(const th_continuum *c, const th_planner *planner, int i) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    int g = (int)agents->group[i], level = (int)agents->level[i];
    const th_group *group = &world->scene->groups[g];
    int way = th_group_way(group, agents->leg[i]);
    if (agents->phase[i] != TH_PHASE_WALKING || world->groups[g].led || way < 0) return false;
    const th_potential *p = &c->potentials[c->first_potential[g] + way];
    view v = {c, &c->faces[c->same_faces[g]], c->potentials[p->shared].values};
    if (!c->solved[p->shared]) return false;
    const th_continuum_params *params = th_continuum_params_of(world, g);
    th_vec2 at = th_position(agents, (uint32_t)i), velocity;
    if (!velocity_at(&v, &planner->walls, level, at, params->top_speed, &velocity)) return false;
    float speed = th_length(velocity);
    th_vec2 direction = th_unit(velocity);
    th_way near = {direction, 0.0f};
    if (th_goal_way(world->scene, &planner->walls, &world->scene->targets[p->target], level, at,
                    th_goal_inset(agents, i), th_velocity(agents, (uint32_t)i), TH_PLAN_NEAR_GOAL,
                    &near)) {
        direction = near.direction;
        speed = speed_towards(&v, level, at, direction, params->top_speed);
    }
    float factor =
        world->scene->zone_count > 0 ? th_zone_factor(world->scene, level, at, direction) : 1.0f;
    speed = th_continuum_own_speed(factor * agents->speed[i], factor * params->top_speed, speed);
    agents->preferred_x[i] = speed * direction.x;
    agents->preferred_y[i] = speed * direction.y;
    return true;
}

void th_continuum_walk(const th_continuum *c, th_world *world) {
    th_planner planner = th_planner_of(world);
    const th_agents *agents = &world->agents;
    uint64_t unreachable = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 4) reduction(+ : unreachable)
    for (int block = 0; block < th_block_count(agents->count); ++block) {
        int end = (block + 1) * TH_BLOCK < agents->count ? (block + 1) * TH_BLOCK : agents->count;
        for (int i = block * TH_BLOCK; i < end; ++i) {
            if (!th_continuum_has(world, (int)agents->group[i]) || plan_walker(c, &planner, i))
                continue;
            unreachable +=
                (uint64_t)th_plan_person(&planner, i, th_goes_straight(&planner, agents->group[i]));
        }
    }
    world->counters.unreachable += unreachable;
}

bool th_continuum_directions(th_world *world, int model, int group, int target, int level,
                             const th_vec2 *points, int count, th_vec2 *directions) {
    const th_continuum *c = world->model_state[model];
    const th_potential *p = NULL;
    for (int way = 0; way < th_group_ways(&world->scene->groups[group]) && !p; ++way) {
        const th_potential *one = &c->potentials[c->first_potential[group] + way];
        if (one->target == target && c->solved[one->shared]) p = one;
    }
    if (!p) return false;
    view v = {c, &c->faces[c->same_faces[group]], c->potentials[p->shared].values};
    th_walls walls = th_world_walls(world);
    float top = th_continuum_params_of(world, group)->top_speed;
    for (int k = 0; k < count; ++k)
        if (!velocity_at(&v, &walls, level, points[k], top, &directions[k]))
            directions[k] = th_v(0.0f, 0.0f);
    return true;
}
