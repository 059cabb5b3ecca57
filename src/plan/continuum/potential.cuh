// Potentials on the device by the fast iterative method (Jeong and Whitaker 2008) on tiles, all potentials in one
// kernel.
//
// A warp takes a tile of nodes with a rim of its neighbours into shared memory and sweeps over it in the four diagonal
// orders at once, each of which needs one quadrant only (Zhao 2005); whose edge has changed wakes the tile beside it
// for the next round, and a tile that has changed itself. A tile writes into the one of two copies of its potential
// that no tile reads in this round, so that every tile sees the others as they were when the round began: the result
// does not depend on which block comes first. What bounds it is how long one tile takes, times the rounds (82 on 512 x
// 512 nodes), not how many there are. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_CONTINUUM_POTENTIAL_CUH
#define TH_PLAN_CONTINUUM_POTENTIAL_CUH
#include "device/team.cuh"
#include "plan/continuum/state.h"

namespace th {

enum {
    TILE_X = TEAM_WARP / 2, // no more nodes are on a diagonal: half a warp goes up, the other down
    TILE_Y = 32,
    TILE_NODES = TILE_X * TILE_Y,
    RIM_X = TILE_X + 2,
    RIM_NODES = RIM_X * (TILE_Y + 2),
    ORDERS = 2,                // of each half of a warp
    ROWS = TEAM_WARP / TILE_X, // that a warp reads together
    AT_ONCE = 8,               // nodes that a lane asks the memory for before it waits
    ROUNDS_MOST = 1 << 20
};
// A change smaller than this share is not passed on. [-]
#define TH_DEVICE_SETTLED 1e-6f

struct potential_words {
    uint32_t count[3]; // tiles that are woken: of this round, the next, the one after it, in turn
    uint32_t due;      // potentials are to be solved in this step
    uint64_t taken, solutions;
};

// Input of a tile; device pointers.
struct potential_solver {
    const th_continuum *c;
    float *other; // a second copy of every potential
    uint32_t *turn,
        *woken; // by potential and tile: round and copy it was written in last; round it is woken for
    uint32_t *lists[2]; // those woken, of even and odd rounds
    potential_words *words;
    int *first_tile; // by level
    int tiles, nodes, levels;
    bool portals; // between levels
};

static_assert((int)TILE_X <= (int)TEAM_WARP && (int)TILE_Y <= (int)TEAM_WARP,
              "a lane for each node of a side");
static_assert(TILE_Y % (ROWS * AT_ONCE) == 0, "whole turns");

struct potential_tile {
    int index, column, row; // of its first node
    int columns, rows;
    int first, nx, ny; // of the level's nodes
};

TH_ON_GPU inline int tiles_across(int nx) { return (nx + TILE_X - 1) / TILE_X; }

TH_ON_GPU inline potential_tile tile_at(const potential_solver &s, int index) {
    int level = 0;
    while (level + 1 < s.levels && index >= s.first_tile[level + 1]) ++level;
    const th_node_level *grid = &s.c->nodes.levels[level];
    const int nx = grid->nx, ny = grid->ny, k = index - s.first_tile[level];
    const int column = k % tiles_across(nx) * TILE_X, row = k / tiles_across(nx) * TILE_Y;
    const int columns = nx - column < TILE_X ? nx - column : (int)TILE_X,
              rows = ny - row < TILE_Y ? ny - row : (int)TILE_Y;
    return {index, column, row, columns, rows, grid->first, nx, ny};
}

TH_ON_GPU inline int tile_of(const potential_solver &s, int node) {
    int level = th_node_level_of(&s.c->nodes, node);
    const th_node_level *grid = &s.c->nodes.levels[level];
    int row = (node - grid->first) / grid->nx, column = (node - grid->first) % grid->nx;
    return s.first_tile[level] + row / TILE_Y * tiles_across(grid->nx) + column / TILE_X;
}

// The copy that holds what the tile was when the round began.
TH_ON_GPU inline bool is_second(uint32_t turn, uint32_t round) {
    return (turn & 1) != (turn >> 1 == round);
}
TH_ON_GPU inline uint32_t turn_of(const potential_solver &s, int k, int tile) {
    return *(volatile uint32_t *)&s.turn[k * s.tiles + tile];
}
TH_ON_GPU inline float *copy(const potential_solver &s, int k, bool second) {
    return second ? s.other + (size_t)k * (size_t)s.nodes : s.c->potentials[k].values;
}
TH_ON_GPU inline const float *copy_of(const potential_solver &s, int k, int tile, uint32_t round) {
    return copy(s, k, is_second(turn_of(s, k, tile), round));
}

TH_ON_GPU inline void wake(const potential_solver &s, int k, int tile, uint32_t round) {
    int item = k * s.tiles + tile;
    if (exchange(&s.woken[item], round) == round) return;
    s.lists[round & 1][add(&s.words->count[round % 3], 1u)] = (uint32_t)item;
}

// Of the tile beside one, where there is one; which face of this one leads there: right, up, left, down.
TH_ON_GPU inline int tile_beside(const potential_tile &tile, int face) {
    const int across = tiles_across(tile.nx);
    const bool there = face == 0   ? tile.column + TILE_X < tile.nx
                       : face == 1 ? tile.row + TILE_Y < tile.ny
                       : face == 2 ? tile.column > 0
                                   : tile.row > 0;
    const int step = face == 0 ? 1 : face == 1 ? across : face == 2 ? -1 : -across;
    return there ? tile.index + step : -1;
}

// Where a tile and those beside it were when the round began, and where it is written to. Nothing waits for anything
// but the turns, which are asked for together.
struct tile_copies {
    const float *own, *beside[TH_FACES]; // its own where there is none beside it
    float *to;
    bool to_second;
};
TH_ON_GPU inline tile_copies copies_of(const potential_solver &s, int k, const potential_tile &tile,
                                       uint32_t round) {
    float *const first = copy(s, k, false), *const second = copy(s, k, true);
    uint32_t turn[TH_FACES];
    const bool own = is_second(turn_of(s, k, tile.index), round);
    TH_UNROLLED
    for (int face = 0; face < TH_FACES; ++face) {
        const int beside = tile_beside(tile, face);
        turn[face] = turn_of(s, k, beside >= 0 ? beside : tile.index);
    }
    tile_copies copies;
    copies.own = own ? second : first;
    copies.to = own ? first : second;
    copies.to_second = !own;
    TH_UNROLLED
    for (int face = 0; face < TH_FACES; ++face)
        copies.beside[face] = is_second(turn[face], round) ? second : first;
    return copies;
}

// x and y of a tile's node, or of its rim: -1 and TILE_X, TILE_Y.
TH_ON_GPU inline int node_at(const potential_tile &tile, int x, int y) {
    return tile.first + (tile.row + y) * tile.nx + tile.column + x;
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

static_assert(sizeof(tile_memory) * GRID_THREADS / TEAM_WARP <= 226 * 1024, "as an H200 has");

TH_ON_GPU inline int place_in_rim(int x, int y) { return (y + 1) * RIM_X + x + 1; }

// Its corners are not needed. Beyond the end of the ground nothing can be reached, also beside nodes that are not
// there.
TH_ON_GPU inline void load_rim(const warp_team &team, const potential_tile &tile,
                               const tile_copies &copies, tile_memory *m) {
    team.each(TEAM_WARP, [&](int n) {
        const int x[TH_FACES] = {TILE_X, n, -1, n}, y[TH_FACES] = {n, TILE_Y, n, -1};
        float value[TH_FACES];
        TH_UNROLLED
        for (int face = 0; face < TH_FACES; ++face) {
            const bool there =
                tile_beside(tile, face) >= 0 && n < (face & 1 ? tile.columns : tile.rows);
            const int node = there ? node_at(tile, x[face], y[face]) : node_at(tile, 0, 0);
            value[face] = copies.beside[face][node];
            value[face] = there ? value[face] : TH_UNREACHABLE;
        }
        TH_UNROLLED
        for (int face = 0; face < TH_FACES; ++face)
            if (n < (face & 1 ? (int)TILE_X : (int)TILE_Y))
                m->value[place_in_rim(x[face], y[face])] = value[face];
    });
}

TH_ON_GPU inline void load_tile(const warp_team &team, const potential_solver &s, int k,
                                const potential_tile &tile, const tile_copies &copies,
                                const th_faces &faces, uint32_t round, tile_memory *m) {
    team.each(TEAM_WARP, [&](int lane) {
        const int x = lane % TILE_X;
        for (int first = lane / TILE_X; first < TILE_Y; first += AT_ONCE * ROWS) {
            float value[AT_ONCE];
            th_node_faces cost[AT_ONCE];
            TH_UNROLLED
            for (int q = 0; q < AT_ONCE; ++q) {
                const int y = first + q * ROWS;
                const bool there = x < tile.columns && y < tile.rows;
                const int node = there ? node_at(tile, x, y) : node_at(tile, 0, 0);
                value[q] = copies.own[node];
                value[q] = there ? value[q] : TH_UNREACHABLE;
                cost[q] = faces.cost[node];
                for (int f = 0; f < TH_FACES; ++f)
                    cost[q].face[f] = there ? cost[q].face[f] : TH_CONTINUUM_SHUT;
            }
            TH_UNROLLED
            for (int q = 0; q < AT_ONCE; ++q) {
                const int y = first + q * ROWS;
                m->value[place_in_rim(x, y)] = value[q];
                for (int f = 0; f < TH_FACES; ++f) m->cost[f][y * TILE_X + x] = cost[q].face[f];
            }
        }
    });
    load_rim(team, tile, copies, m);
    if (!s.portals) return;
    team.each(TILE_NODES, [&](int n) {
        const int x = n % TILE_X, y = n / TILE_X;
        if (x >= tile.columns || y >= tile.rows) return;
        const int node = node_at(tile, x, y);
        if (!(s.c->nodes.flags[node] & TH_NODE_PORTAL)) return;
        float *here = &m->value[place_in_rim(x, y)];
        *here = th_min(*here, lowest_through_portals(s, k, faces, node, round));
    });
}

// Findings of a lane in a step.
struct tile_step {
    uint32_t value[ORDERS]; // bits of a number that is not negative: in its order
    int at[ORDERS];
};

// All four orders at once: in a step each lane lowers two nodes of a row, one from the left and one from the right,
// after (column - 1, row) and (column, row - 1); half of the lanes go upwards. All lanes read before one writes, and
// the lowest stays, so that no order of theirs matters. What no way leads to stays. Something other than 0 when a node
// has fallen. No branch: a lane that waits for its turn, or has had it, takes its first or last row again.
TH_ON_GPU inline uint32_t sweep_tile(const warp_team &team, tile_memory *m) {
    uint32_t fallen = 0;
    team.steps<tile_step>(
        TILE_X + TILE_Y - 1,
        [&](int lane, int step, tile_step &found) {
            const int column = lane % TILE_X;
            const bool up = lane < TILE_X;
            const float *cost_y = m->cost[up ? 3 : 1];
            int y = step - column;
            y = y < 0 ? 0 : y < TILE_Y ? y : TILE_Y - 1;
            y = up ? y : TILE_Y - 1 - y;
            TH_UNROLLED
            for (int order = 0; order < ORDERS; ++order) {
                const bool right = order == 0;
                const int x = right ? column : TILE_X - 1 - column;
                const int n = y * TILE_X + x, at = place_in_rim(x, y);
                const float before = m->value[at];
                float value = th_quadrant_potential(m->value[right ? at - 1 : at + 1],
                                                    m->value[up ? at - RIM_X : at + RIM_X],
                                                    m->cost[right ? 2 : 0][n], cost_y[n]);
                value = value < TH_CONTINUUM_FAR ? value : before;
                found.at[order] = at;
                memcpy(&found.value[order], &value, sizeof value);
                fallen |= has_fallen(value, before) ? 1u : 0u;
            }
        },
        [&](const tile_step &found) {
            TH_UNROLLED
            for (int order = 0; order < ORDERS; ++order)
                smallest_here((uint32_t *)&m->value[found.at[order]], found.value[order]);
        });
    return team.together(fallen);
}

// A bit for each face on which a node has fallen since the round began.
TH_ON_GPU inline uint32_t sides_that_fell(const warp_team &team, const potential_tile &tile,
                                          const float *from, const tile_memory *m) {
    uint32_t sides = 0;
    team.each(TEAM_WARP, [&](int n) {
        const int x[TH_FACES] = {tile.columns - 1, n, 0, n}, y[TH_FACES] = {n, tile.rows - 1, n, 0};
        TH_UNROLLED
        for (int face = 0; face < TH_FACES; ++face) {
            const bool there = n < (face & 1 ? tile.columns : tile.rows);
            const int node = there ? node_at(tile, x[face], y[face]) : node_at(tile, 0, 0);
            const float before = from[node];
            if (there && has_fallen(m->value[place_in_rim(x[face], y[face])], before))
                sides |= 1u << face;
        }
    });
    return team.together(sides);
}

TH_ON_GPU inline void wake_through_portals(const warp_team &team, const potential_solver &s, int k,
                                           const potential_tile &tile, const float *from,
                                           uint32_t round, const tile_memory *m) {
    team.each(TILE_NODES, [&](int n) {
        const int x = n % TILE_X, y = n / TILE_X;
        if (x >= tile.columns || y >= tile.rows) return;
        const int node = node_at(tile, x, y);
        if (!(s.c->nodes.flags[node] & TH_NODE_PORTAL) ||
            !has_fallen(m->value[place_in_rim(x, y)], from[node]))
            return;
        const th_portal *portal = th_portal_find(&s.c->graph, node);
        for (int f = 0; f < TH_FACES; ++f)
            if (portal->to[2 * f] >= 0) wake(s, k, tile_of(s, portal->to[2 * f]), round + 1);
    });
}

TH_ON_GPU inline void store_tile(const warp_team &team, const potential_solver &s, int k,
                                 const potential_tile &tile, const tile_copies &copies,
                                 uint32_t round, uint32_t swept, const tile_memory *m) {
    team.each(TEAM_WARP, [&](int lane) {
        const int x = lane % TILE_X;
        for (int y = lane / TILE_X; x < tile.columns && y < tile.rows; y += ROWS)
            copies.to[node_at(tile, x, y)] = m->value[place_in_rim(x, y)];
    });
    const uint32_t woken =
        sides_that_fell(team, tile, copies.own, m) | (swept ? 1u << TH_FACES : 0);
    if (s.portals) wake_through_portals(team, s, k, tile, copies.own, round, m);
    team.each(TH_FACES + 1, [&](int face) {
        if (face == TH_FACES) // everything is in the copy
            s.turn[k * s.tiles + tile.index] = round << 1 | (copies.to_second ? 1u : 0u);
        const int which = face == TH_FACES ? tile.index : tile_beside(tile, face);
        if (woken >> face & 1 && which >= 0) wake(s, k, which, round + 1);
    });
}

TH_ON_GPU inline void take_tile(const warp_team &warp, const potential_solver &s, int item,
                                uint32_t round) {
    tile_memory *m = (tile_memory *)warp.shared;
    const int k = item / s.tiles;
    const potential_tile tile = tile_at(s, item % s.tiles);
    const tile_copies copies = copies_of(s, k, tile, round);
    const th_faces &faces = s.c->faces[s.c->same_faces[s.c->potentials[k].group]];
    load_tile(warp, s, k, tile, copies, faces, round, m);
    const uint32_t swept = sweep_tile(warp, m);
    store_tile(warp, s, k, tile, copies, round, swept, m);
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
                take_tile(warp, solver, (int)solver.lists[round & 1][item], round);
            });
        }
    }
};

} // namespace th
#endif
