// Potentials on the device by the fast iterative method (Jeong and Whitaker 2008) on tiles, all potentials in one kernel.
//
// A block takes a tile of nodes with a rim of its neighbours into shared memory and lowers them there until nothing
// changes; whose edge has changed wakes the tile beside it for the next round. A tile writes into the one of two
// copies of its potential that nobody reads in this round, so that every tile sees the others as they were when the round
// began: the result does not depend on which block comes first. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_POTENTIAL_CUH
#define TH_PLAN_CONTINUUM_POTENTIAL_CUH
#include "device/team.cuh"
#include "plan/continuum/state.h"

namespace th {

enum {
    TILE_X = 32,
    TILE_Y = 16, // one node a thread (GRID_THREADS)
    TILE_NODES = TILE_X * TILE_Y,
    RIM_X = TILE_X + 2,
    RIM_NODES = RIM_X * (TILE_Y + 2),
    PASSES_MOST = 128, // in one round; a tile that is not done then goes on in the next
    ROUNDS_MOST = 1 << 20
};
// A change smaller than this share is not passed on. [-]
#define TH_DEVICE_SETTLED 1e-6f

struct potential_words {
    uint32_t count[3]; // tiles that are woken: of this round, the next, the one after it, in turn
    uint32_t due;      // potentials are to be solved in this step
    uint64_t taken, solutions;
};

// What a tile needs to know; device pointers.
struct potential_solver {
    const th_continuum *c;
    float *other; // a second copy of every potential
    uint32_t *turn,
        *woken; // by potential and tile: round and copy it was written in last; round it is woken for
    uint32_t *lists[2]; // those woken, of even and odd rounds
    potential_words *words;
    int *first_tile; // by level
    int tiles, nodes, levels;
};

struct potential_tile {
    const th_node_level *grid;
    int index, column, row; // of its first node
    int columns, rows;
};

TH_ON_GPU inline int tiles_across(const th_node_level *grid) {
    return (grid->nx + TILE_X - 1) / TILE_X;
}

TH_ON_GPU inline potential_tile tile_at(const potential_solver &s, int index) {
    int level = 0;
    while (level + 1 < s.levels && index >= s.first_tile[level + 1]) ++level;
    const th_node_level *grid = &s.c->nodes.levels[level];
    int across = tiles_across(grid), k = index - s.first_tile[level];
    potential_tile tile = {grid, index, k % across * TILE_X, k / across * TILE_Y, 0, 0};
    tile.columns = grid->nx - tile.column < TILE_X ? grid->nx - tile.column : (int)TILE_X;
    tile.rows = grid->ny - tile.row < TILE_Y ? grid->ny - tile.row : (int)TILE_Y;
    return tile;
}

TH_ON_GPU inline int tile_of(const potential_solver &s, int node) {
    int level = th_node_level_of(&s.c->nodes, node);
    const th_node_level *grid = &s.c->nodes.levels[level];
    int row = (node - grid->first) / grid->nx, column = (node - grid->first) % grid->nx;
    return s.first_tile[level] + row / TILE_Y * tiles_across(grid) + column / TILE_X;
}

// The copy that holds what the tile was when the round began.
TH_ON_GPU inline const float *copy_of(const potential_solver &s, int k, int tile, uint32_t round) {
    uint32_t turn = *(volatile uint32_t *)&s.turn[k * s.tiles + tile];
    bool second = (turn & 1) != (turn >> 1 == round);
    return second ? s.other + (size_t)k * (size_t)s.nodes : s.c->potentials[k].values;
}

TH_ON_GPU inline void wake(const potential_solver &s, int k, int tile, uint32_t round) {
    int item = k * s.tiles + tile;
    if (exchange(&s.woken[item], round) == round) return;
    s.lists[round & 1][add(&s.words->count[round % 3], 1u)] = (uint32_t)item;
}

// Where a node of the rim is: -1: nowhere. The corners of the rim are not needed.
TH_ON_GPU inline int node_of_rim(const potential_tile &tile, int at) {
    int x = at % RIM_X - 1 + tile.column, y = at / RIM_X - 1 + tile.row;
    if (x < 0 || y < 0 || x >= tile.grid->nx || y >= tile.grid->ny) return -1;
    return tile.grid->first + y * tile.grid->nx + x;
}

// What its quadrants make of a node. `value` has the node and those beside it, RIM_X apart. What no way leads to stays.
TH_ON_GPU inline float lowest_of(const float *value, const th_node_faces &cost) {
    float east = value[1], north = value[RIM_X], west = value[-1], south = value[-RIM_X];
    const float *c = cost.face;
    float best = th_min(th_min(th_quadrant_potential(east, north, c[0], c[1]),
                               th_quadrant_potential(west, north, c[2], c[1])),
                        th_min(th_quadrant_potential(west, south, c[2], c[3]),
                               th_quadrant_potential(east, south, c[0], c[3])));
    return best < TH_CONTINUUM_FAR ? th_min(best, *value) : *value;
}

// From another level; copies as when the round began.
TH_ON_GPU inline float lowest_through_portals(const potential_solver &s, int k,
                                              const th_faces &faces, int node, uint32_t round) {
    const th_portal *portal = th_portal_find(&s.c->graph, node);
    const float *cost = faces.portal_cost + TH_FACES * (portal - s.c->graph.portals);
    float best = TH_UNREACHABLE;
    for (int f = 0; f < TH_FACES; ++f) {
        int to = portal->to[2 * f];
        if (to >= 0) best = th_min(best, copy_of(s, k, tile_of(s, to), round)[to] + cost[f]);
    }
    return best;
}

TH_ON_GPU inline bool has_fallen(float now, float before) {
    return now < (1.0f - TH_DEVICE_SETTLED) * before;
}

// Shared memory of a block at work on a tile.
struct tile_memory {
    th_node_faces cost[TILE_NODES];
    float value[2][RIM_NODES], before[TILE_NODES];
    uint32_t changed[3], wake[TH_FACES + 1];
};

TH_ON_GPU inline void load_tile(block_team &team, const potential_solver &s, int k,
                                const potential_tile &tile, const th_faces &faces, uint32_t round,
                                tile_memory *m) {
    const int across = tiles_across(tile.grid);
    const float *own = copy_of(s, k, tile.index, round);
    team.each(RIM_NODES, [&](int at) {
        int node = node_of_rim(tile, at), x = at % RIM_X, y = at / RIM_X;
        const float *from = own;
        if (node >= 0 && (x == 0 || y == 0 || x > TILE_X || y > TILE_Y)) {
            bool corner = (x == 0 || x > TILE_X) && (y == 0 || y > TILE_Y);
            int beside = x == 0       ? tile.index - 1
                         : x > TILE_X ? tile.index + 1
                         : y == 0     ? tile.index - across
                                      : tile.index + across;
            if (corner) node = -1;
            if (!corner) from = copy_of(s, k, beside, round);
        }
        m->value[0][at] = m->value[1][at] = node < 0 ? TH_UNREACHABLE : from[node];
        if (at < 3) m->changed[at] = 0;
        if (at <= TH_FACES) m->wake[at] = 0;
    });
    team.each(TILE_NODES, [&](int n) {
        int at = (n / TILE_X + 1) * RIM_X + n % TILE_X + 1, node = node_of_rim(tile, at);
        m->before[n] = m->value[0][at];
        for (int f = 0; f < TH_FACES; ++f)
            m->cost[n].face[f] = node < 0 ? TH_CONTINUUM_SHUT : faces.cost[node].face[f];
        if (node < 0 || !(s.c->nodes.flags[node] & TH_NODE_PORTAL)) return;
        float there = lowest_through_portals(s, k, faces, node, round);
        m->value[0][at] = m->value[1][at] = th_min(m->value[0][at], there);
    });
}

// Returns which of the two values is the last; *settled: nothing changed any more.
TH_ON_GPU inline int lower_tile(block_team &team, tile_memory *m, bool *settled) {
    for (int pass = 0; pass < PASSES_MOST; ++pass) {
        const float *old = m->value[pass & 1];
        float *next = m->value[1 - (pass & 1)];
        uint32_t *changed = &m->changed[pass % 3];
        team.each(TILE_NODES, [&](int n) {
            int at = (n / TILE_X + 1) * RIM_X + n % TILE_X + 1;
            float value = lowest_of(&old[at], m->cost[n]);
            next[at] = value;
            if (n == 0) m->changed[(pass + 1) % 3] = 0;
            if (has_fallen(value, old[at])) *changed = 1;
        });
        if (!*changed) {
            *settled = true;
            return 1 - (pass & 1);
        }
    }
    *settled = false;
    return PASSES_MOST & 1;
}

TH_ON_GPU inline void store_tile(block_team &team, const potential_solver &s, int k,
                                 const potential_tile &tile, uint32_t round, bool settled,
                                 const float *value, tile_memory *m) {
    bool second = copy_of(s, k, tile.index, round) == s.c->potentials[k].values;
    float *to = second ? s.other + (size_t)k * (size_t)s.nodes : s.c->potentials[k].values;
    const int across = tiles_across(tile.grid);
    team.each(TILE_NODES, [&](int n) {
        int x = n % TILE_X, y = n / TILE_X, at = (y + 1) * RIM_X + x + 1;
        int node = node_of_rim(tile, at);
        if (node < 0) return;
        to[node] = value[at];
        if (!has_fallen(value[at], m->before[n])) return;
        if (x == tile.columns - 1) m->wake[0] = 1;
        if (y == tile.rows - 1) m->wake[1] = 1;
        if (x == 0) m->wake[2] = 1;
        if (y == 0) m->wake[3] = 1;
        if (!(s.c->nodes.flags[node] & TH_NODE_PORTAL)) return;
        const th_portal *portal = th_portal_find(&s.c->graph, node);
        for (int f = 0; f < TH_FACES; ++f)
            if (portal->to[2 * f] >= 0) wake(s, k, tile_of(s, portal->to[2 * f]), round + 1);
    });
    team.each(TH_FACES + 1, [&](int f) {
        if (f == TH_FACES) { // with the last word: everything is in the copy
            s.turn[k * s.tiles + tile.index] = round << 1 | (second ? 1u : 0u);
            if (!settled) wake(s, k, tile.index, round + 1);
            return;
        }
        const int step[TH_FACES] = {1, across, -1, -across};
        bool inside = f == 0   ? tile.column + TILE_X < tile.grid->nx
                      : f == 1 ? tile.row + TILE_Y < tile.grid->ny
                      : f == 2 ? tile.column > 0
                               : tile.row > 0;
        if (m->wake[f] && inside) wake(s, k, tile.index + step[f], round + 1);
    });
}

struct solve_potentials {
    potential_solver s;
    template <class Team> TH_ON_GPU void operator()(Team &team) const {
        const potential_solver &solver = s;
        for (uint32_t round = 1; round < ROUNDS_MOST; ++round) {
            uint32_t count = *(volatile uint32_t *)&solver.words->count[round % 3];
            if (count == 0) break;
            team.tell([&] {
                solver.words->count[(round + 2) % 3] = 0;
                solver.words->taken += (uint64_t)count * TILE_NODES;
            });
            team.each_block((int)count, [&](block_team &block, int item) {
                tile_memory *m = (tile_memory *)block.memory();
                int which = (int)solver.lists[round & 1][item];
                int k = which / solver.tiles;
                potential_tile tile = tile_at(solver, which % solver.tiles);
                const th_continuum *c = solver.c;
                const th_faces &faces = c->faces[c->same_faces[c->potentials[k].group]];
                load_tile(block, solver, k, tile, faces, round, m);
                bool settled;
                int last = lower_tile(block, m, &settled);
                store_tile(block, solver, k, tile, round, settled, m->value[last], m);
            });
        }
    }
};

} // namespace th
#endif
