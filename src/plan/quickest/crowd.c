// The crowd as the planner `quickest` sees it: from sums at nodes to what a metre costs in each direction.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/quickest/state.h"

// The width over which agents count, as a deviation: planners shall see the crowd ahead and not single agents, and a lane of
// two still differs from the lane beside it. [m]
static const float SPREAD = 0.7f;
// The weight of the previous count: without it an agent that stops behind another is counted here and there in turn, and turns
// to and fro with every count. [-]
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
    float per_area = s->nodes.inverse_spacing * s->nodes.inverse_spacing / (float)TH_QUICKEST_ONE;
    float *values[3] = {s->density, s->flow_x, s->flow_y};
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

// The cost of the way from `node` through face f without a crowd, in metres of free ground.
static float free_cost_of(const th_quickest *s, int node, int f) {
    return s->nodes.spacing * th_node_slowness(&s->nodes, node, 2 * f);
}

// The same with the crowd on the way to the neighbour `to`.
static float face_cost(const th_quickest *s, float free_cost, int node, int to, int f) {
    float drag = 0.5f * (s->drag[node] + s->drag[to]);
    if (!(drag > 0.0f)) return free_cost; // most nodes of most crowds: th_crowd_pace is 1
    float density = 0.5f * (s->density[node] + s->density[to]);
    float flow = 0.5f * (flow_along(s, node, f) + flow_along(s, to, f));
    float free_speed = (float)TH_WEIDMANN_FREE_SPEED * th_node_zone_factor(&s->nodes, node, 2 * f);
    float along = density > 0.0f ? flow / (density * free_speed) : 0.0f;
    return free_cost / th_crowd_pace(drag, along);
}

static void node_faces(const th_quickest *s, int size, int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    const uint8_t links = s->graphs[size].links[node];
    const bool sloped = s->nodes.zone[node] != 0;
    float free_cost = free_cost_of(s, node, 0), *cost = s->faces[size].cost[node].face;
    for (int f = 0; f < TH_FACES; ++f) {
        if (sloped) free_cost = free_cost_of(s, node, f);
        cost[f] = links >> 2 * f & 1 ? face_cost(s, free_cost, node, node + step[f], f)
                                     : TH_CONTINUUM_SHUT;
    }
}

static void portal_faces(const th_quickest *s, int size) {
    for (int i = 0; i < s->nodes.portal_count; ++i) {
        const th_portal *portal = &s->graphs[size].portals[i];
        for (int f = 0; f < TH_FACES; ++f)
            s->faces[size].portal_cost[TH_FACES * i + f] =
                portal->to[2 * f] >= 0 ? face_cost(s, free_cost_of(s, portal->node, f),
                                                   portal->node, portal->to[2 * f], f)
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

// ---- streams fill the width
//
// The shortest ways around a corner all touch it, so a stream on them is dense there and empty at the outside. A travel time
// that is spread over the width of a stream, but not through walls, has ways that run side by side, as those of a fluid do.
// It is spread as counts are; only where the crowd walks down the field, so that lanes of two directions stay apart, and
// the more the denser it is, so that agents alone walk the shortest way.

// The width over which streams spread, as a deviation: most corridors are narrower than twice this, and halls are wider. [m]
static const float FILL = 2.0f;
// Over the free speed, the flow of a stream that is filled as far as its density asks for: half. [-]
static const float FULL_STREAM = 0.5f;

static bool is_reached(float value) { return value < TH_CONTINUUM_FAR; }

// The slope of the values along an axis, from the neighbours that are linked; per node.
static float slope_at(const float *values, uint8_t links, int node, int axis, int step) {
    bool up = links >> 2 * axis & 1 && is_reached(values[node + step]);
    bool down = links >> (2 * axis + 4) & 1 && is_reached(values[node - step]);
    float high = values[up ? node + step : node], low = values[down ? node - step : node];
    return up && down ? 0.5f * (high - low) : high - low;
}

// The degree to which the crowd at a node is a stream down the field. [-]
static float stream_at(const th_quickest *s, const th_quick_field *f, const float *values, int node,
                       int nx) {
    if (s->drag[node] < 0.01f || !is_reached(values[node])) return 0.0f;
    uint8_t links = s->graphs[f->size].links[node];
    float gx = slope_at(values, links, node, 0, 1), gy = slope_at(values, links, node, 1, nx);
    float length = sqrtf(gx * gx + gy * gy);
    if (!(length > 0.0f)) return 0.0f;
    float along = -(s->flow_x[node] * gx + s->flow_y[node] * gy) /
                  (length * s->density[node] * (float)TH_WEIDMANN_FREE_SPEED);
    return s->drag[node] * th_clamp(along / FULL_STREAM, 0.0f, 1.0f);
}

// The part of a level where a stream is, with one node around it: nothing flows elsewhere.
typedef struct fill_part {
    int column0, column1, row0, row1; // the first ones and those behind the last
} fill_part;

static void include_node(fill_part *part, const th_node_level *grid, int column, int row) {
    part->column0 = part->column0 < column ? part->column0 : column > 0 ? column - 1 : 0;
    part->column1 = part->column1 > column + 1 ? part->column1
                    : column + 2 < grid->nx    ? column + 2
                                               : grid->nx;
    part->row0 = part->row0 < row ? part->row0 : row > 0 ? row - 1 : 0;
    part->row1 = part->row1 > row + 1 ? part->row1 : row + 2 < grid->ny ? row + 2 : grid->ny;
}

// One axis of it: Thomas' algorithm on all of its lines, node by node in the order of memory.
typedef struct fill_sweep {
    const th_node_level *grid;
    const fill_part *part;
    const uint8_t *links;
    const float *share; // by node
    float *values, *ratio;
    int axis, step; // 0: rows, 1: columns; to the next node
} fill_sweep;

// Between a node and the next one; 0: nothing flows.
static float flow_to_next(const fill_sweep *w, int node) {
    bool linked = w->links[node] >> 2 * w->axis & 1 && is_reached(w->values[node]) &&
                  is_reached(w->values[node + w->step]);
    return linked ? 0.5f * (w->share[node] + w->share[node + w->step]) : 0.0f;
}

static void sweep(const fill_sweep *w) {
    int nx = w->grid->nx, ny = w->grid->ny, first = w->grid->first;
    const fill_part *part = w->part;
    for (int row = part->row0; row < part->row1; ++row)
        for (int column = part->column0; column < part->column1; ++column) {
            int i = first + row * nx + column, at = w->axis ? row : column;
            float before = at > 0 ? flow_to_next(w, i - w->step) : 0.0f;
            float after = at + 1 < (w->axis ? ny : nx) ? flow_to_next(w, i) : 0.0f;
            w->ratio[i] = 0.0f;
            if (!(before + after > 0.0f)) continue;
            float from = before > 0.0f ? w->ratio[i - w->step] : 0.0f;
            float carried = before > 0.0f ? before * w->values[i - w->step] : 0.0f;
            float pivot = 1.0f / (1.0f + before + after - before * from);
            w->values[i] = pivot * (w->values[i] + carried);
            w->ratio[i] = after * pivot;
        }
    for (int row = part->row1 - 1; row >= part->row0; --row)
        for (int i = first + row * nx + part->column1 - 1; i >= first + row * nx + part->column0;
             --i)
            if (w->ratio[i] > 0.0f) w->values[i] += w->ratio[i] * w->values[i + w->step];
}

void th_quickest_fill_width(const th_quickest *s, const th_quick_lane *lane) {
    const th_quick_field *f = &s->fields[lane->field];
    float width = FILL * s->nodes.inverse_spacing, most = 0.25f * width * width;
    for (int l = 0; l < s->nodes.scene->level_count; ++l) {
        const th_node_level *grid = &s->nodes.levels[l];
        fill_part part = {grid->nx, 0, grid->ny, 0};
        for (int row = 0, i = grid->first; row < grid->ny; ++row)
            for (int column = 0; column < grid->nx; ++column, ++i) {
                lane->share[i] = most * stream_at(s, f, lane->values, i, grid->nx);
                if (lane->share[i] > 0.0f) include_node(&part, grid, column, row);
            }
        fill_sweep rows = {
            grid, &part, s->graphs[f->size].links, lane->share, lane->values, lane->ratio, 0, 1};
        fill_sweep columns = rows;
        columns.axis = 1;
        columns.step = grid->nx;
        for (int round = 0; round < 2 && part.row0 < part.row1; ++round) {
            sweep(&rows);
            sweep(&columns);
        }
    }
}
