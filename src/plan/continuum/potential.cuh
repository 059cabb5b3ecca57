// Potentials on the device by the fast iterative method (Jeong and Whitaker 2008) on tiles, all potentials in one kernel.
//
// A warp takes a tile of nodes with a rim of its neighbours into shared memory and sweeps over it in the four diagonal
// orders, each of which needs one quadrant only (Zhao 2005); whose edge has changed wakes the tile beside it for the next
// round, and whoever has changed itself. A tile writes into the one of two
// copies of its potential that nobody reads in this round, so that every tile sees the others as they were when the round
// began: the result does not depend on which block comes first. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_POTENTIAL_CUH
#define TH_PLAN_CONTINUUM_POTENTIAL_CUH
#include "device/team.cuh"
#include "plan/continuum/state.h"

namespace th {

enum {
    TILE_X = TEAM_WARP,
    TILE_Y = 16,
    TILE_NODES = TILE_X * TILE_Y,
    RIM_X = TILE_X + 2,
    RIM_NODES = RIM_X * (TILE_Y + 2),
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

// Shared memory of a warp at work on a tile.
struct tile_memory {
    float value[RIM_NODES], cost[TH_FACES][TILE_NODES];
};

TH_ON_GPU inline int place_in_rim(int n) { return (n / TILE_X + 1) * RIM_X + n % TILE_X + 1; }

TH_ON_GPU inline void load_tile(const warp_team &team, const potential_solver &s, int k,
                                const potential_tile &tile, const th_faces &faces, uint32_t round,
                                tile_memory *m) {
    const int across = tiles_across(tile.grid);
    const float *own = copy_of(s, k, tile.index, round);
    team.each(RIM_NODES, [&](int at) {
        int node = node_of_rim(tile, at), x = at % RIM_X, y = at / RIM_X;
        bool beside = x == 0 || x > TILE_X, above = y == 0 || y > TILE_Y;
        const float *from = own;
        if (node >= 0 && beside != above) {
            int step = x == 0 ? -1 : x > TILE_X ? 1 : y == 0 ? -across : across;
            from = copy_of(s, k, tile.index + step, round);
        }
        m->value[at] = node < 0 || (beside && above) ? TH_UNREACHABLE : from[node];
    });
    team.each(TILE_NODES, [&](int n) {
        int at = place_in_rim(n), node = node_of_rim(tile, at);
        th_node_faces cost = {
            {TH_CONTINUUM_SHUT, TH_CONTINUUM_SHUT, TH_CONTINUUM_SHUT, TH_CONTINUUM_SHUT}};
        if (node >= 0) cost = faces.cost[node];
        for (int f = 0; f < TH_FACES; ++f) m->cost[f][n] = cost.face[f];
        if (node < 0 || !(s.c->nodes.flags[node] & TH_NODE_PORTAL)) return;
        float there = lowest_through_portals(s, k, faces, node, round);
        m->value[at] = th_min(m->value[at], there);
    });
}

// One order: from the first column to the right (+1) or from the last one to the left (-1), rows alike. What no way
// leads to stays. Something other than 0 when a node has fallen.
template <int right, int up>
TH_ON_GPU inline uint32_t sweep_tile(const warp_team &team, tile_memory *m) {
    const float *cost_x = m->cost[right > 0 ? 2 : 0], *cost_y = m->cost[up > 0 ? 3 : 1];
    uint32_t fallen = 0;
    team.diagonals(TILE_Y, [&](int column, int row) {
        int x = right > 0 ? column : TILE_X - 1 - column, y = up > 0 ? row : TILE_Y - 1 - row;
        int n = y * TILE_X + x;
        float *here = &m->value[place_in_rim(n)], before = *here;
        float value = th_quadrant_potential(here[-right], here[-up * RIM_X], cost_x[n], cost_y[n]);
        if (!(value < before && value < TH_CONTINUUM_FAR)) return;
        *here = value;
        if (has_fallen(value, before)) fallen = 1;
    });
    return fallen;
}

TH_ON_GPU inline void store_tile(const warp_team &team, const potential_solver &s, int k,
                                 const potential_tile &tile, uint32_t round, uint32_t swept,
                                 const tile_memory *m) {
    const float *from = copy_of(s, k, tile.index, round);
    bool second = from == s.c->potentials[k].values;
    float *to = second ? s.other + (size_t)k * (size_t)s.nodes : s.c->potentials[k].values;
    const int across = tiles_across(tile.grid);
    uint32_t sides = 0;
    team.each(TILE_NODES, [&](int n) {
        int x = n % TILE_X, y = n / TILE_X, at = place_in_rim(n), node = node_of_rim(tile, at);
        if (node < 0) return;
        to[node] = m->value[at];
        if (!has_fallen(m->value[at], from[node])) return;
        if (x == tile.columns - 1) sides |= 1;
        if (y == tile.rows - 1) sides |= 2;
        if (x == 0) sides |= 4;
        if (y == 0) sides |= 8;
        if (!(s.c->nodes.flags[node] & TH_NODE_PORTAL)) return;
        const th_portal *portal = th_portal_find(&s.c->graph, node);
        for (int f = 0; f < TH_FACES; ++f)
            if (portal->to[2 * f] >= 0) wake(s, k, tile_of(s, portal->to[2 * f]), round + 1);
    });
    sides = team.together(sides);
    swept = team.together(swept);
    team.each(TH_FACES + 1, [&](int f) {
        if (f == TH_FACES) { // with the last word: everything is in the copy
            s.turn[k * s.tiles + tile.index] = round << 1 | (second ? 1u : 0u);
            if (swept) wake(s, k, tile.index, round + 1);
            return;
        }
        bool inside = f == 0   ? tile.column + TILE_X < tile.grid->nx
                      : f == 1 ? tile.row + TILE_Y < tile.grid->ny
                      : f == 2 ? tile.column > 0
                               : tile.row > 0;
        int step = f == 0 ? 1 : f == 1 ? across : f == 2 ? -1 : -across;
        if (sides >> f & 1 && inside) wake(s, k, tile.index + step, round + 1);
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
            team.each_warp((int)count, sizeof(tile_memory), [&](const warp_team &warp, int item) {
                tile_memory *m = (tile_memory *)warp.shared;
                int which = (int)solver.lists[round & 1][item], k = which / solver.tiles;
                potential_tile tile = tile_at(solver, which % solver.tiles);
                const th_continuum *c = solver.c;
                const th_faces &faces = c->faces[c->same_faces[c->potentials[k].group]];
                load_tile(warp, solver, k, tile, faces, round, m);
                uint32_t swept = sweep_tile<1, 1>(warp, m);
                swept |= sweep_tile<-1, 1>(warp, m);
                swept |= sweep_tile<-1, -1>(warp, m);
                swept |= sweep_tile<1, -1>(warp, m);
                store_tile(warp, solver, k, tile, round, swept, m);
            });
        }
    }
};

} // namespace th
#endif
