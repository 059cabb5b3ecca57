// From people to the lattice of the continuum planner: splat, then speed and cost of every face. Every thread has nodes of
// its own and looks at everybody, so that a node's sums have one order. SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/continuum/state.h"
#include "plan/field/field.h"

typedef struct splat_settings {
    float exponent, interval; // interval [s] between samples
    int samples;
} splat_settings;

static splat_settings settings_of(const th_world *world) {
    splat_settings set = {8.0f, 0.0f, 0};
    float prediction = 0.0f;
    for (int g = 0; g < world->scene->group_count; ++g) {
        if (!th_continuum_has(world, g)) continue;
        const th_continuum_params *p = th_continuum_params_of(world, g);
        set.exponent = th_min(set.exponent, p->exponent);
        if (!(p->prediction > prediction) || p->discomfort_weight == 0.0f) continue;
        prediction = p->prediction;
        set.samples = (int)(p->prediction_samples + 0.5f);
    }
    set.interval = set.samples > 0 ? prediction / (float)set.samples : 0.0f;
    return set;
}

// The nodes of one thread; a node's sums are added in the order of the people, whatever the number of threads.
typedef struct splat_part {
    const th_continuum *c;
    const th_walls *walls;
    int begin, end;
} splat_part;

typedef struct splat_corners {
    int node; // below and left
    th_splat splat;
} splat_corners;

static bool corners_of(const splat_part *part, int level, th_vec2 p, float exponent,
                       splat_corners *at) {
    const th_nodes *nodes = &part->c->nodes;
    const th_node_level *grid = &nodes->levels[level];
    float x = (p.x - grid->origin.x) * nodes->inverse_spacing;
    float y = (p.y - grid->origin.y) * nodes->inverse_spacing;
    if (!(x >= 0.0f && y >= 0.0f && x < (float)(grid->nx - 1) && y < (float)(grid->ny - 1)))
        return false;
    int column = (int)x, row = (int)y;
    at->node = grid->first + row * grid->nx + column;
    if (at->node + grid->nx + 1 < part->begin || at->node >= part->end) return false;
    at->splat = th_splat_of(x - (float)column, y - (float)row, exponent);
    return true;
}

static void splat_person(const splat_part *part, const th_agents *agents, uint32_t i,
                         const splat_settings *set) {
    const th_continuum *c = part->c;
    int level = (int)agents->level[i], nx = c->nodes.levels[level].nx;
    const int step[4] = {0, 1, nx, nx + 1};
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    splat_corners at;
    if (corners_of(part, level, p, set->exponent, &at)) {
        bool open = th_field_open_cell(&c->graph, at.node, nx);
        for (int k = 0; k < 4; ++k) {
            int node = at.node + step[k];
            if (node < part->begin || node >= part->end) continue;
            if (!open) { // nobody is felt behind a wall
                th_vec2 there = th_node_position(&c->nodes, &c->nodes.levels[level], node);
                if (th_walls_first_crossing(part->walls, level, p, there, NULL) >= 0) continue;
            }
            c->density[node] += at.splat.share[k];
            c->flow_x[node] += at.splat.share[k] * v.x;
            c->flow_y[node] += at.splat.share[k] * v.y;
        }
    }
    if (v.x * v.x + v.y * v.y < 1e-4f) return; // those who stand are density, not discomfort
    for (int n = 1; n <= set->samples; ++n) {
        th_vec2 ahead = th_add(p, th_scale((float)n * set->interval, v));
        if (!corners_of(part, level, ahead, set->exponent, &at)) continue;
        for (int k = 0; k < 4; ++k) {
            int node = at.node + step[k];
            if (node >= part->begin && node < part->end) c->discomfort[node] += at.splat.share[k];
        }
    }
}

void th_continuum_splat(const th_continuum *c, const th_world *world) {
    splat_settings set = settings_of(world);
    th_walls walls = th_world_walls(world);
    int count = c->nodes.count, parts = world->threads;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; ++t) {
        splat_part part = {c, &walls, (int)((int64_t)count * t / parts),
                           (int)((int64_t)count * (t + 1) / parts)};
        size_t bytes = (size_t)(part.end - part.begin) * sizeof(float);
        memset(c->density + part.begin, 0, bytes);
        memset(c->flow_x + part.begin, 0, bytes);
        memset(c->flow_y + part.begin, 0, bytes);
        memcpy(c->discomfort + part.begin, c->static_discomfort + part.begin, bytes);
        for (int i = 0; i < world->agents.count; ++i)
            if (!th_gone(world->agents.phase[i]))
                splat_person(&part, &world->agents, (uint32_t)i, &set);
        for (int i = part.begin; i < part.end; ++i) {
            float inverse = c->density[i] > 0.0f ? 1.0f / c->density[i] : 0.0f;
            c->flow_x[i] *= inverse; // from here on mean velocities
            c->flow_y[i] *= inverse;
        }
    }
}

// ---- speed and cost of every face

typedef struct face_maker {
    const th_continuum *c;
    const th_continuum_params *p;
    const th_faces *faces;
} face_maker;

// Of the way from `node` to its neighbour `to` through face f.
static float make_face(const face_maker *make, int node, int to, int f, float *speed) {
    const th_continuum *c = make->c;
    float flow = f == 0   ? c->flow_x[to]
                 : f == 1 ? c->flow_y[to]
                 : f == 2 ? -c->flow_x[to]
                          : -c->flow_y[to];
    float free_speed = make->p->top_speed;
    if (c->nodes.zone[node] > 0) free_speed *= th_node_zone_factor(&c->nodes, node, 2 * f);
    *speed = th_face_speed(make->p, free_speed, c->density[to], flow);
    return c->nodes.spacing * th_face_cost(make->p, *speed, c->discomfort[to]);
}

static void make_row(const face_maker *make, int begin, int nx) {
    const th_continuum *c = make->c;
    const th_faces *faces = make->faces;
    const int step[TH_FACES] = {1, nx, -1, -nx};
    for (int i = begin; i < begin + nx; ++i) {
        th_node_faces *here = &faces->nodes[i];
        for (int f = 0; f < TH_FACES; ++f) {
            float cost = TH_CONTINUUM_SHUT, speed = 0.0f;
            if (c->graph.links[i] >> 2 * f & 1) cost = make_face(make, i, i + step[f], f, &speed);
            here->cost[f] = cost;
            here->weight[f] = 1.0f / (cost * cost);
            here->speed[f] = speed;
        }
    }
}

void th_continuum_make_faces(const th_continuum *c, const th_world *world, int group) {
    face_maker make = {c, th_continuum_params_of(world, group), &c->faces[group]};
    for (int l = 0; l < world->scene->level_count; ++l) {
        const th_node_level *grid = &c->nodes.levels[l];
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int row = 0; row < grid->ny; ++row)
            make_row(&make, grid->first + row * grid->nx, grid->nx);
    }
    for (int i = 0; i < c->nodes.portal_count; ++i)
        for (int f = 0; f < TH_FACES; ++f) {
            const th_portal *portal = &c->graph.portals[i];
            float *cost = &c->faces[group].portal_cost[TH_FACES * i + f];
            float *speed = &c->faces[group].nodes[portal->node].speed[f];
            *cost = TH_CONTINUUM_SHUT;
            if (portal->to[2 * f] >= 0)
                *cost = make_face(&make, portal->node, portal->to[2 * f], f, speed);
        }
}
