// The crowd as the planner `quickest` sees it: from sums at nodes to what a metre costs in each direction.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/quickest/state.h"

// How far around themselves agents count, as a deviation: the crowd ahead is to be seen, not single agents, and a lane of two
// still differs from the lane beside it. [m]
static const float SPREAD = 0.7f;
// The share of the last count that stays: crowds have momentum, and one second's noise must not turn the whole crowd. [-]
static const float MEMORY = 0.5f;

// ---- spreading: implicit diffusion along rows, then columns. What flows out of one node flows into the next, and nothing
// flows through a wall. One pass over a line of nodes spreads as far as wanted on any lattice.
//
// A line solves (1 + l + r) x_i - l x_(i-1) - r x_(i+1) = b_i, where l and r are `share` or 0 without a link (Thomas'
// algorithm). Its factors depend on the links alone and are kept: x_i = pivot b_i + gain x_(i-1), then x_i += ratio x_(i+1).

typedef struct line_of_nodes {
    int first, step, count;
    unsigned forward; // bit of the link to the next node
} line_of_nodes;

static void factor_line(const uint8_t *links, const line_of_nodes *line, float share,
                        th_spread *factors) {
    float left = 0.0f, ratio = 0.0f;
    for (int k = 0, i = line->first; k < line->count; ++k, i += line->step) {
        float right = k + 1 < line->count && links[i] & line->forward ? share : 0.0f;
        float pivot = 1.0f / (1.0f + left + right - left * ratio);
        factors->pivot[i] = pivot;
        factors->gain[i] = left * pivot;
        factors->ratio[i] = ratio = right * pivot;
        left = right;
    }
}

// Two rounds: one alone is peaked and has the axes' shape. A round adds 2 share spacing^2 to the variance.
void th_quickest_factor(th_quickest *s, const th_world *world) {
    const uint8_t *links = s->graphs[0].links;
    float width = SPREAD * s->nodes.inverse_spacing, share = 0.25f * width * width;
    for (int l = 0; l < world->scene->level_count; ++l) {
        const th_node_level *grid = &s->nodes.levels[l];
        for (int row = 0; row < grid->ny; ++row) {
            line_of_nodes line = {grid->first + row * grid->nx, 1, grid->nx, 1u << 0};
            factor_line(links, &line, share, &s->rows);
        }
        for (int column = 0; column < grid->nx; ++column) {
            line_of_nodes line = {grid->first + column, grid->nx, grid->ny, 1u << 2};
            factor_line(links, &line, share, &s->columns);
        }
    }
}

static void spread_row(const th_spread *factors, float *const values[3], int first, int count) {
    float before[3] = {0.0f, 0.0f, 0.0f};
    for (int i = first; i < first + count; ++i)
        for (int k = 0; k < 3; ++k)
            before[k] = values[k][i] =
                factors->pivot[i] * values[k][i] + factors->gain[i] * before[k];
    for (int i = first + count - 2; i >= first; --i)
        for (int k = 0; k < 3; ++k) before[k] = values[k][i] += factors->ratio[i] * before[k];
}

// Some columns, row by row: side by side in memory, and no node waits for the one before it.
static void spread_columns(const th_spread *factors, float *restrict values,
                           const th_node_level *grid, int begin, int end) {
    int nx = grid->nx;
    for (int row = 0; row < grid->ny; ++row)
        for (int i = grid->first + row * nx + begin; i < grid->first + row * nx + end; ++i)
            values[i] = factors->pivot[i] * values[i] +
                        (row > 0 ? factors->gain[i] * values[i - nx] : 0.0f);
    for (int row = grid->ny - 2; row >= 0; --row)
        for (int i = grid->first + row * nx + begin; i < grid->first + row * nx + end; ++i)
            values[i] += factors->ratio[i] * values[i + nx];
}

static void spread_level(const th_quickest *s, const th_node_level *grid, int threads) {
    float *const values[3] = {s->fresh[0], s->fresh[1], s->fresh[2]};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int row = 0; row < grid->ny; ++row)
        spread_row(&s->rows, values, grid->first + row * grid->nx, grid->nx);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < 3 * threads; ++part) {
        int t = part / 3;
        spread_columns(&s->columns, values[part % 3], grid, (int)((int64_t)grid->nx * t / threads),
                       (int)((int64_t)grid->nx * (t + 1) / threads));
    }
}

void th_quickest_spread(th_quickest *s, const th_world *world) {
    float *values[3] = {s->density, s->flow_x, s->flow_y};
    float per_area = s->nodes.inverse_spacing * s->nodes.inverse_spacing / (float)TH_QUICKEST_ONE;
    float memory = s->counted ? MEMORY : 0.0f, now = (1.0f - memory) * per_area;
    for (int i = 0; i < s->nodes.count; ++i) {
        s->fresh[0][i] = now * (float)(int32_t)s->sums[i].people;
        s->fresh[1][i] = now * (float)(int32_t)s->sums[i].flow_x;
        s->fresh[2][i] = now * (float)(int32_t)s->sums[i].flow_y;
    }
    for (int round = 0; round < 2; ++round)
        for (int l = 0; l < world->scene->level_count; ++l)
            spread_level(s, &s->nodes.levels[l], world->threads);
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < s->nodes.count; ++i)
            values[k][i] = memory * values[k][i] + s->fresh[k][i];
}

// ---- faces

static float flow_along(const th_quickest *s, int node, int f) {
    return f == 0   ? s->flow_x[node]
           : f == 1 ? s->flow_y[node]
           : f == 2 ? -s->flow_x[node]
                    : -s->flow_y[node];
}

// Of the way from `node` to its neighbour `to` through face f, in metres of free ground.
static float face_cost(const th_quickest *s, int node, int to, int f) {
    float density = 0.5f * (s->density[node] + s->density[to]);
    float flow = 0.5f * (flow_along(s, node, f) + flow_along(s, to, f));
    float free_speed = (float)TH_WEIDMANN_FREE_SPEED * th_node_zone_factor(&s->nodes, node, 2 * f);
    float along = density > 0.0f ? flow / (density * free_speed) : 0.0f;
    float drag = 0.5f * (s->drag[node] + s->drag[to]);
    return s->nodes.spacing * th_node_slowness(&s->nodes, node, 2 * f) / th_crowd_pace(drag, along);
}

static void node_faces(const th_quickest *s, int size, int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    for (int f = 0; f < TH_FACES; ++f) {
        bool linked = s->graphs[size].links[node] >> 2 * f & 1;
        s->faces[size].cost[node].face[f] =
            linked ? face_cost(s, node, node + step[f], f) : TH_CONTINUUM_SHUT;
    }
}

static void portal_faces(const th_quickest *s, int size) {
    for (int i = 0; i < s->nodes.portal_count; ++i) {
        const th_portal *portal = &s->graphs[size].portals[i];
        for (int f = 0; f < TH_FACES; ++f)
            s->faces[size].portal_cost[TH_FACES * i + f] =
                portal->to[2 * f] >= 0 ? face_cost(s, portal->node, portal->to[2 * f], f)
                                       : TH_CONTINUUM_SHUT;
    }
}

void th_quickest_make_faces(th_quickest *s, const th_world *world) {
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < s->nodes.count; ++i) s->drag[i] = th_crowd_drag(s->density[i]);
    for (int size = 0; size < world->scene->size_count; ++size) {
        for (int l = 0; l < world->scene->level_count; ++l) {
            const th_node_level *grid = &s->nodes.levels[l];
#pragma omp parallel for num_threads(world->threads) schedule(static)
            for (int row = 0; row < grid->ny; ++row)
                for (int column = 0; column < grid->nx; ++column)
                    node_faces(s, size, grid->first + row * grid->nx + column, grid->nx);
        }
        portal_faces(s, size);
    }
}
