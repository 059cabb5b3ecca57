// Solving the eikonal equation with a cost per face.
//
// Marching settles nodes in the order of their potential; a quadrant's solution is never below its two neighbours, so
// that order is right for any costs per face. O(n log n).
//
// Sweeping (Zhao 2005) goes over the nodes in the four diagonal orders, each of which needs one quadrant only: the two
// neighbours that come before. One pass over a tile is therefore final for that quadrant until one of the two tiles before
// it or another order changes something, and a tile is visited only then. Four potentials lie side by side, so that one
// instruction updates all of them, and four rows are under way at once, each a node behind the one before: their updates
// do not wait for each other. O(n) for a fixed number of turns of the ways. SPDX-License-Identifier: Apache-2.0
#include "plan/continuum/potential.h"
#include "core/parallel.h"

// A change smaller than this share does not wake other tiles: a few roundings. [-]
static const float SETTLED = 1e-5f;

static int tile_count(int nodes) { return (nodes + TH_TILE - 1) / TH_TILE; }

bool th_sweeper_create(th_sweeper *sweeper, const th_graph *graph, th_arena *arena) {
    const th_nodes *nodes = graph->nodes;
    int levels = nodes->scene->level_count, widest = 0, tiles = 0;
    *sweeper = (th_sweeper){.graph = graph};
    sweeper->first_tile = th_arena_alloc(arena, (size_t)levels + 1, sizeof(int));
    if (!sweeper->first_tile) return false;
    for (int l = 0; l < levels; ++l) {
        sweeper->first_tile[l] = tiles;
        tiles += tile_count(nodes->levels[l].nx) * tile_count(nodes->levels[l].ny);
        if (nodes->levels[l].nx > widest) widest = nodes->levels[l].nx;
    }
    sweeper->first_tile[levels] = sweeper->tiles = tiles;
    sweeper->padding = (widest + TH_LANES) / TH_LANES * TH_LANES;
    size_t values = ((size_t)nodes->count + 2 * (size_t)sweeper->padding) * TH_LANES;
    sweeper->lanes = th_arena_alloc(arena, values, sizeof(float));
    sweeper->changed = th_arena_alloc(arena, (size_t)tiles, sizeof(uint32_t));
    sweeper->done = th_arena_alloc(arena, (size_t)tiles * TH_FACES, sizeof(uint32_t));
    return !arena->failed;
}

// ---- one tile in one order

typedef struct th_tile {
    float *lanes;               // of node 0
    const th_node_faces *faces; // of node 0
    int corner, nx;             // first node of the order; nodes in a row
    int columns, rows;
} th_tile;

// x, y: the faces towards the neighbours that come before; right, up: from them to the node, +1 or -1.
TH_CPU_FORMULA void update_node(const th_tile *tile, int node, int x, int y, int right, int up,
                                float *lowered) {
    float *here = tile->lanes + (ptrdiff_t)TH_LANES * node;
    const float *before_x = here - TH_LANES * right,
                *before_y = here - (ptrdiff_t)TH_LANES * up * tile->nx;
    const th_node_faces *faces = tile->faces + node;
    float cx = faces->cost[x], cy = faces->cost[y], a = faces->weight[x], b = faces->weight[y];
    float inverse = 1.0f / (a + b);
#pragma omp simd
    for (int k = 0; k < TH_LANES; ++k) {
        float value = th_quadrant_potential(before_x[k], before_y[k], cx, cy, a, b, inverse);
        float old = here[k];
        lowered[k] = th_max(lowered[k], (1.0f - SETTLED) * old - value);
        here[k] = th_min(value, old);
    }
}

TH_CPU_FORMULA bool sweep_order(const th_tile *tile, int x, int y, int right, int up) {
    float lowered[TH_LANES] = {0.0f};
    for (int row = 0; row < tile->rows; row += 4) {
        int rows = tile->rows - row < 4 ? tile->rows - row : 4;
        int begin = tile->corner + row * up * tile->nx, slant = up * tile->nx - right;
        for (int at = 0; at < tile->columns + 3; ++at) {
            int node = begin + at * right;
            if (rows == 4 && at >= 3 && at < tile->columns) {
                for (int k = 0; k < 4; ++k)
                    update_node(tile, node + k * slant, x, y, right, up, lowered);
                continue;
            }
            for (int k = 0; k < rows; ++k)
                if (at >= k && at - k < tile->columns)
                    update_node(tile, node + k * slant, x, y, right, up, lowered);
        }
    }
    return lowered[0] > 0.0f || lowered[1] > 0.0f || lowered[2] > 0.0f || lowered[3] > 0.0f;
}

TH_CLONES static bool sweep_tile(const th_tile *tile, int q) {
    switch (q) {
    case 0: return sweep_order(tile, 2, 3, 1, 1);
    case 1: return sweep_order(tile, 0, 3, -1, 1);
    case 2: return sweep_order(tile, 0, 1, -1, -1);
    default: return sweep_order(tile, 2, 1, 1, -1);
    }
}

// ---- all tiles in one order

typedef struct th_order {
    int right, up; // +1 or -1
} th_order;
static const th_order orders[TH_FACES] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

static bool changed_after(const th_sweeper *sweeper, int tile, uint32_t pass) {
    return tile >= 0 && sweeper->changed[tile] > pass;
}

static bool sweep_level(th_sweeper *sweeper, const th_faces *faces, int level, int q,
                        uint32_t pass) {
    const th_node_level *grid = &sweeper->graph->nodes->levels[level];
    int across = tile_count(grid->nx), along = tile_count(grid->ny);
    th_order order = orders[q];
    th_tile tile = {.lanes = sweeper->lanes + (size_t)sweeper->padding * TH_LANES,
                    .faces = faces->nodes,
                    .nx = grid->nx};
    bool any = false;
    for (int n = 0; n < across * along; ++n) {
        int i = order.right > 0 ? n % across : across - 1 - n % across;
        int j = order.up > 0 ? n / across : along - 1 - n / across;
        int index = sweeper->first_tile[level] + j * across + i;
        uint32_t *done = &sweeper->done[TH_FACES * index + q];
        int before_x = n % across > 0 ? index - order.right : -1;
        int before_y = n / across > 0 ? index - order.up * across : -1;
        if (!changed_after(sweeper, index, *done) && !changed_after(sweeper, before_x, *done) &&
            !changed_after(sweeper, before_y, *done))
            continue;
        int column0 = i * TH_TILE, row0 = j * TH_TILE;
        int column1 = column0 + TH_TILE < grid->nx ? column0 + TH_TILE : grid->nx;
        int row1 = row0 + TH_TILE < grid->ny ? row0 + TH_TILE : grid->ny;
        tile.columns = column1 - column0;
        tile.rows = row1 - row0;
        tile.corner = grid->first + (order.up > 0 ? row0 : row1 - 1) * grid->nx +
                      (order.right > 0 ? column0 : column1 - 1);
        if (sweep_tile(&tile, q)) sweeper->changed[index] = pass;
        *done = pass;
        ++sweeper->visited;
        any = true;
    }
    return any;
}

static int tile_of(const th_sweeper *sweeper, int node) {
    const th_nodes *nodes = sweeper->graph->nodes;
    int level = th_node_level_of(nodes, node);
    const th_node_level *grid = &nodes->levels[level];
    int row = (node - grid->first) / grid->nx, column = (node - grid->first) % grid->nx;
    return sweeper->first_tile[level] + row / TH_TILE * tile_count(grid->nx) + column / TH_TILE;
}

// Across the line between two levels there is one neighbour, and no quadrant.
static void through_portals(th_sweeper *sweeper, const th_faces *faces, uint32_t pass) {
    const th_graph *graph = sweeper->graph;
    float *lanes = sweeper->lanes + (size_t)sweeper->padding * TH_LANES;
    for (int i = 0; i < graph->nodes->portal_count; ++i)
        for (int f = 0; f < TH_FACES; ++f) {
            const th_portal *portal = &graph->portals[i];
            int to = portal->to[2 * f];
            if (to < 0) continue;
            for (int k = 0; k < TH_LANES; ++k) {
                float *here = &lanes[TH_LANES * (size_t)portal->node + (size_t)k];
                float value =
                    lanes[TH_LANES * (size_t)to + (size_t)k] + faces->portal_cost[TH_FACES * i + f];
                if (!(value < *here)) continue;
                if (*here - value > SETTLED * *here)
                    sweeper->changed[tile_of(sweeper, portal->node)] = pass;
                *here = value;
            }
        }
}

void th_potential_sweep(th_sweeper *sweeper, const th_faces *faces, float ground_cost,
                        const th_goal_node *const *goals, const int *goal_counts, int count,
                        float *const *potentials) {
    const th_nodes *nodes = sweeper->graph->nodes;
    size_t values = ((size_t)nodes->count + 2 * (size_t)sweeper->padding) * TH_LANES;
    float *lanes = sweeper->lanes + (size_t)sweeper->padding * TH_LANES;
    for (size_t i = 0; i < values; ++i) sweeper->lanes[i] = TH_UNREACHABLE;
    memset(sweeper->changed, 0, (size_t)sweeper->tiles * sizeof(uint32_t));
    memset(sweeper->done, 0, (size_t)sweeper->tiles * TH_FACES * sizeof(uint32_t));
    sweeper->visited = 0;
    uint32_t pass = 1;
    for (int k = 0; k < count; ++k)
        for (int g = 0; g < goal_counts[k]; ++g) {
            float *here = &lanes[TH_LANES * (size_t)goals[k][g].node + (size_t)k];
            *here = th_min(*here, ground_cost * goals[k][g].distance);
            sweeper->changed[tile_of(sweeper, goals[k][g].node)] = pass;
        }
    for (bool any = true; any;) {
        any = false;
        for (int q = 0; q < TH_FACES; ++q) {
            ++pass;
            for (int l = 0; l < nodes->scene->level_count; ++l)
                any |= sweep_level(sweeper, faces, l, q, pass);
        }
        through_portals(sweeper, faces, ++pass);
    }
    for (int k = 0; k < count; ++k)
        for (int i = 0; i < nodes->count; ++i) {
            float value = lanes[TH_LANES * (size_t)i + (size_t)k];
            potentials[k][i] = value < TH_CONTINUUM_FAR ? value : TH_UNREACHABLE;
        }
}

// ---- marching

float th_potential_update(const th_graph *graph, const th_faces *faces, const float *potential,
                          int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    float value[TH_FACES], best = TH_UNREACHABLE;
    for (int f = 0; f < TH_FACES; ++f) {
        bool linked = graph->links[node] >> 2 * f & 1;
        value[f] = linked ? potential[node + step[f]] : TH_UNREACHABLE;
    }
    for (int x = 0; x < TH_FACES; x += 2)
        for (int y = 1; y < TH_FACES; y += 2) {
            const th_node_faces *here = &faces->nodes[node];
            float a = here->weight[x], b = here->weight[y];
            best = th_min(best, th_quadrant_potential(value[x], value[y], here->cost[x],
                                                      here->cost[y], a, b, 1.0f / (a + b)));
        }
    if (!(graph->nodes->flags[node] & TH_NODE_PORTAL)) return best;
    const th_portal *portal = th_portal_find(graph, node);
    const float *cost = faces->portal_cost + TH_FACES * (portal - graph->portals);
    for (int f = 0; f < TH_FACES; ++f)
        if (portal->to[2 * f] >= 0) best = th_min(best, potential[portal->to[2 * f]] + cost[f]);
    return best;
}

void th_potential_march(const th_graph *graph, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, th_front *front,
                        float *potential) {
    const th_nodes *nodes = graph->nodes;
    for (int i = 0; i < nodes->count; ++i) {
        potential[i] = TH_UNREACHABLE;
        front->place[i] = 0;
    }
    front->count = 0;
    for (int g = 0; g < goal_count; ++g)
        th_front_offer(front, potential, goals[g].node, ground_cost * goals[g].distance);
    while (front->count > 0) {
        int node = th_front_take(front), nx = nodes->levels[th_node_level_of(nodes, node)].nx;
        for (int f = 0; f < TH_FACES; ++f) {
            int to = th_neighbour(graph, node, 2 * f, nx);
            if (to < 0 || front->place[to] < 0) continue;
            int nx_to = nodes->levels[th_node_level_of(nodes, to)].nx;
            float value = th_potential_update(graph, faces, potential, to, nx_to);
            if (value < TH_CONTINUUM_FAR) th_front_offer(front, potential, to, value);
        }
    }
}
