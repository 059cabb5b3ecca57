// Continuum crowds on the device: all of a step is there, one thread a person or a node; the potentials by tiles.
// In builds that have the CPU's bits the potentials come from the CPU's solver, as roundings depend on
// the order in which nodes are lowered. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "device/team.cuh"
#include "plan/continuum/crowd.h"
#include "plan/continuum/state.h"

// ---- potentials

// By the fast iterative method (Jeong and Whitaker 2008) on tiles, all potentials in one
// kernel.
// A warp takes a tile of nodes with a rim of its neighbours into shared memory and sweeps over it in the four diagonal
// orders at once, each of which needs one quadrant only (Zhao 2005). A tile that has changed stays awake for the next
// round, and wakes the tiles beside the edges that changed. A tile writes into the one of two copies of its potential
// that no tile reads in this round, so that every tile sees the others as they were when the round began: the result
// does not depend on which block comes first. The time is that of one tile times the rounds (82 on 512 x 512 nodes),
// whatever the number of tiles.

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

// The number of the tile beside one across a face (right, up, left, down), where there is one.
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

// Results of a lane in a step.
struct tile_step {
    uint32_t value[ORDERS]; // bits of a number that is not negative: in its order
    int at[ORDERS];
};

// All four orders at once: in a step each lane lowers two nodes of a row, one from the left and one from the right,
// after (column - 1, row) and (column, row - 1); half of the lanes go upwards. All lanes read before one writes, and
// the lowest value stays, so the order of lanes does not matter. Unreachable nodes keep their value. Returns non-zero
// when a node's value has fallen. No branch: a lane that waits for its turn, or has had it, takes its first or last row
// again.
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

// ---- of a world

// On the host, with device pointers.
struct continuum_device {
    th_continuum *c;    // on the device
    th_continuum known; // its pointers
    th_goal_nodes *goals;
    th_potential *potentials; // as they are on the device
    th_faces *faces;
    int goals_most;
    potential_solver solver;
    double *partial;
    int blocks;
    bool forced; // the walls have changed
};

static continuum_device *device_of(const th_world *host) {
    return (continuum_device *)host->device_world->model_state[TH_PLAN_CONTINUUM];
}
static th_continuum *host_of(const th_world *host) {
    return (th_continuum *)host->model_state[TH_PLAN_CONTINUUM];
}

// ---- memory

static void take_lattice(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    th_continuum *k = &d->known;
    size_t count = (size_t)c->nodes.count, levels = (size_t)host->scene->level_count;
    k->nodes.scene = host->device_world->known.scene;
    k->nodes.levels = s.copy(c->nodes.levels, levels);
    k->nodes.flags = s.copy(c->nodes.flags, count);
    k->nodes.zone = s.copy(c->nodes.zone, count);
    k->nodes.links = nullptr;
    k->nodes.clearance = nullptr;
    k->nodes.portals = nullptr;
    k->graph.nodes = &d->c->nodes;
    k->graph.links = s.room<uint8_t>(count);
    k->graph.portals = s.room<th_portal>((size_t)c->nodes.portal_count);
    k->graph.crowd = nullptr;
    k->graph.crowd_cost = nullptr;
    k->sums = s.room<th_node_sums>(count);
    float **grids[] = {&k->density, &k->flow_x, &k->flow_y, &k->discomfort};
    for (float **grid : grids) *grid = s.room<float>(count);
    k->static_discomfort = s.copy(c->static_discomfort, count);
    k->height = c->height ? s.copy(c->height, count) : nullptr;
}

static bool take_potentials(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    const th_scene *scene = host->scene;
    size_t count = (size_t)c->nodes.count, potentials = (size_t)c->potential_count,
           groups = (size_t)scene->group_count, targets = (size_t)scene->target_count;
    d->goals = (th_goal_nodes *)calloc(targets + 1, sizeof *d->goals);
    d->potentials = (th_potential *)calloc(potentials + 1, sizeof *d->potentials);
    d->faces = (th_faces *)calloc(groups + 1, sizeof *d->faces);
    if (!d->goals || !d->potentials || !d->faces) return false;
    for (size_t t = 0; t < targets; ++t) {
        d->goals[t] = c->goals[t];
        d->goals[t].nodes = s.room<th_goal_node>((size_t)c->goals[t].most);
        if (c->goals[t].most > d->goals_most) d->goals_most = c->goals[t].most;
    }
    for (size_t k = 0; k < potentials; ++k) {
        d->potentials[k] = c->potentials[k];
        d->potentials[k].values = s.room<float>(count);
    }
    for (size_t g = 0; g < groups; ++g) {
        if (!c->faces[g].cost) continue;
        d->faces[g].cost = s.room<th_node_faces>(count);
        d->faces[g].speed = s.room<th_node_faces>(count);
        d->faces[g].portal_cost = s.room<float>((size_t)c->nodes.portal_count * TH_FACES);
    }
    d->known.goals = s.room<th_goal_nodes>(targets);
    d->known.potentials = s.room<th_potential>(potentials);
    d->known.faces = s.copy(d->faces, groups);
    d->known.same_faces = s.room<int>(groups);
    d->known.first_potential = s.copy(c->first_potential, groups);
    d->known.wanted = s.room<uint8_t>(potentials);
    d->known.solved = s.room<uint8_t>(potentials);
    return true;
}

static bool take_solver(continuum_device *d, store &s, const th_world *host) {
    const th_continuum *c = host_of(host);
    int levels = host->scene->level_count, tiles = 0;
    int *first = (int *)malloc(((size_t)levels + 1) * sizeof *first);
    if (!first) return false;
    for (int l = 0; l < levels; ++l) {
        const th_node_level *grid = &c->nodes.levels[l];
        first[l] = tiles;
        tiles += (grid->nx + TILE_X - 1) / TILE_X * ((grid->ny + TILE_Y - 1) / TILE_Y);
    }
    size_t items = (size_t)tiles * (size_t)c->potential_count;
    potential_solver &solver = d->solver;
    solver.c = d->c;
    solver.first_tile = s.copy(first, (size_t)levels);
    solver.tiles = tiles;
    solver.nodes = c->nodes.count;
    solver.levels = levels;
    solver.portals = c->nodes.portal_count > 0;
    solver.words = s.room<potential_words>(1);
    if (solver.words) clear(solver.words, sizeof *solver.words);
    free(first);
    if (EXACT) return true;
    solver.other = s.room<float>((size_t)c->nodes.count * (size_t)c->potential_count);
    solver.turn = s.room<uint32_t>(items);
    solver.woken = s.room<uint32_t>(items);
    for (uint32_t *&list : solver.lists) list = s.room<uint32_t>(items);
    d->partial = s.room<double>(TEAM_PARTIALS);
    if (d->partial) clear(d->partial, TEAM_PARTIALS * sizeof *d->partial);
    d->blocks = grid_blocks<solve_potentials>();
    return true;
}

static bool continuum_create(th_world *host) {
    store &s = host->device_world->store;
    continuum_device *d = new (std::nothrow) continuum_device();
    if (!d) return false;
    host->device_world->model_state[TH_PLAN_CONTINUUM] = d;
    d->known = *host_of(host);
    d->c = s.room<th_continuum>(1);
    if (!d->c) return false;
    take_lattice(d, s, host);
    return take_potentials(d, s, host) && take_solver(d, s, host) && !s.failed &&
           put(d->c, &d->known, sizeof d->known);
}

static void continuum_destroy(th_world *host) {
    continuum_device *d = device_of(host);
    if (!d) return;
    free(d->goals);
    free(d->potentials);
    free(d->faces);
    delete d;
    host->device_world->model_state[TH_PLAN_CONTINUUM] = nullptr;
}

// ---- to the device and back

template <class T> static bool put_values(T *device, const T *host, size_t n) {
    return n == 0 || put(device, host, n * sizeof(T));
}
template <class T> static bool get_values(T *host, const T *device, size_t n) {
    return n == 0 || get(host, device, n * sizeof(T));
}

static bool put_walls(continuum_device *d, const th_world *host) {
    const th_continuum *c = host_of(host);
    bool good = put_values(d->known.graph.links, c->graph.links, (size_t)c->nodes.count) &&
                put_values(d->known.graph.portals, c->graph.portals, (size_t)c->nodes.portal_count);
    for (int t = 0; t < host->scene->target_count; ++t) {
        d->goals[t].count = c->goals[t].count;
        good = good && put_values(d->goals[t].nodes, c->goals[t].nodes, (size_t)c->goals[t].count);
    }
    return good && put_values(d->known.goals, d->goals, (size_t)host->scene->target_count);
}

// Potentials and faces as they were solved last.
static bool put_solution(continuum_device *d, const th_world *host) {
    const th_continuum *c = host_of(host);
    size_t count = (size_t)c->nodes.count, potentials = (size_t)c->potential_count;
    bool good = true;
    for (size_t k = 0; k < potentials; ++k) {
        d->potentials[k].shared = c->potentials[k].shared;
        good = good && put_values(d->potentials[k].values, c->potentials[k].values, count);
    }
    for (int g = 0; g < host->scene->group_count; ++g)
        if (c->faces[g].cost)
            good = good && put_values(d->faces[g].cost, c->faces[g].cost, count) &&
                   put_values(d->faces[g].speed, c->faces[g].speed, count);
    return good && put_values(d->known.potentials, d->potentials, potentials) &&
           put_values(d->known.solved, c->solved, potentials) &&
           put_values(d->known.same_faces, c->same_faces, (size_t)host->scene->group_count);
}

static bool continuum_send(th_world *host) {
    continuum_device *d = device_of(host);
    th_continuum *c = host_of(host);
    d->forced = th_continuum_take_note_of_walls(c, host) || d->forced;
    th_continuum_find_shared(c, host);
    potential_words words = {{0, 0, 0}, 0, c->nodes_taken, c->solutions};
    return put_walls(d, host) && put_solution(d, host) &&
           put(d->solver.words, &words, sizeof words);
}

static bool continuum_fetch(th_world *host) {
    continuum_device *d = device_of(host);
    th_continuum *c = host_of(host);
    size_t count = (size_t)c->nodes.count, portals = (size_t)c->nodes.portal_count;
    potential_words words;
    bool good = get(&words, d->solver.words, sizeof words) &&
                get_values(c->solved, d->known.solved, (size_t)c->potential_count);
    if (!good) return false;
    c->nodes_taken = words.taken;
    c->solutions = words.solutions;
    for (int k = 0; k < c->potential_count && good; ++k)
        good = get_values(c->potentials[k].values, d->potentials[k].values, count);
    for (int g = 0; g < host->scene->group_count && good; ++g)
        if (c->faces[g].cost)
            good = get_values(c->faces[g].cost, d->faces[g].cost, count) &&
                   get_values(c->faces[g].speed, d->faces[g].speed, count) &&
                   get_values(c->faces[g].portal_cost, d->faces[g].portal_cost, portals * TH_FACES);
    return good;
}

// ---- a step

// Notes which potentials agents want, and whether any is to be solved.
static void find_due(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    potential_words *words = d->solver.words;
    bool due = d->forced || host->step_count % th_continuum_every(host) == 0;
    d->forced = false;
    clear(d->known.wanted, (size_t)d->known.potential_count);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            int k = th_continuum_potential_of(c, world, i);
            if (k >= 0) c->wanted[k] = 1; // all writers write the same value
        });
    once(
        host, TH_LAMBDA(th_world *) {
            words->due = due ? 1 : 0;
            for (int k = 0; k < c->potential_count; ++k)
                if (c->wanted[k] && !c->solved[k]) words->due = 1;
            words->count[0] = words->count[1] = words->count[2] = 0;
            if (!words->due) return;
            for (int k = 0; k < c->potential_count; ++k) c->solved[k] = c->wanted[k];
            words->taken = 0;
            ++words->solutions;
        });
}

static void splat(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    const potential_words *words = d->solver.words;
    th_splat_settings set = th_splat_settings_of(host);
    int nodes = d->known.nodes.count;
    clear(d->known.sums, (size_t)nodes * sizeof *d->known.sums);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!words->due || th_gone(world->agents.phase[i])) return;
            th_splat_part part = {c, th_world_walls(world), set, 0, nodes};
            th_splat_agent(&part, &world->agents, (uint32_t)i);
        });
    each(
        nodes, TH_LAMBDA(int i) {
            if (words->due) th_node_take_sums(c, i);
        });
}

// Is there a wanted potential on the faces of the group?
TH_ON_GPU static bool faces_are_used(const th_continuum *c, int group) {
    for (int k = 0; k < c->potential_count; ++k)
        if (c->wanted[k] && c->same_faces[c->potentials[k].group] == group) return true;
    return false;
}

static void make_faces(th_world *host, continuum_device *d, int group) {
    const th_continuum *c = d->c;
    const th_world *world = world_on_device(host);
    const potential_words *words = d->solver.words;
    each(
        d->known.nodes.count, TH_LAMBDA(int i) {
            if (!words->due || !faces_are_used(c, group)) return;
            int nx = c->nodes.levels[th_node_level_of(&c->nodes, i)].nx;
            th_node_make_faces(c, th_continuum_params_of(world, group), &c->faces[group], i, nx);
        });
    each(
        d->known.nodes.portal_count, TH_LAMBDA(int i) {
            if (words->due && faces_are_used(c, group))
                th_portal_make_faces(c, th_continuum_params_of(world, group), &c->faces[group], i);
        });
}

// Nothing is known but the nodes beside the goals, whose tiles are woken.
static void begin_solution(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    const th_world *world = world_on_device(host);
    potential_solver s = d->solver;
    int potentials = d->known.potential_count, most = d->goals_most;
    each(
        s.nodes, TH_LAMBDA(int i) {
            for (int k = 0; s.words->due && k < potentials; ++k)
                if (c->wanted[k]) c->potentials[k].values[i] = TH_UNREACHABLE;
        });
    each(
        s.tiles * potentials, TH_LAMBDA(int i) { s.turn[i] = s.woken[i] = 0; });
    each(
        potentials * most, TH_LAMBDA(int i) {
            int k = i / most, g = i % most;
            const th_goal_nodes *goals = &c->goals[c->potentials[k].target];
            if (!s.words->due || !c->wanted[k] || g >= goals->count) return;
            const th_continuum_params *p =
                th_continuum_params_of(world, c->same_faces[c->potentials[k].group]);
            float value = th_face_cost(p, p->top_speed, 0.0f) * goals->nodes[g].distance;
            uint32_t bits; // of numbers that are not negative: in their order
            memcpy(&bits, &value, sizeof bits);
            smallest((uint32_t *)&c->potentials[k].values[goals->nodes[g].node], bits);
            wake(s, k, tile_of(s, goals->nodes[g].node), 1);
        });
}

// The copy that was written last, where that is the other one.
static void end_solution(continuum_device *d) {
    const th_continuum *c = d->c;
    potential_solver s = d->solver;
    int potentials = d->known.potential_count;
    each(
        s.nodes, TH_LAMBDA(int i) {
            if (!s.words->due) return;
            int tile = tile_of(s, i);
            for (int k = 0; k < potentials; ++k) {
                if (!c->wanted[k]) continue;
                float value = copy_of(s, k, tile, ROUNDS_MOST)[i];
                c->potentials[k].values[i] = value < TH_CONTINUUM_FAR ? value : TH_UNREACHABLE;
            }
        });
}

static bool solve_on_host(th_world *host, continuum_device *d) {
    th_continuum *c = host_of(host);
    potential_words words;
    size_t count = (size_t)c->nodes.count, portals = (size_t)c->nodes.portal_count;
    bool good = finish() && get(&words, d->solver.words, sizeof words) &&
                get_values(c->wanted, d->known.wanted, (size_t)c->potential_count);
    if (!good || !words.due) return good;
    for (int g = 0; g < host->scene->group_count && good; ++g)
        if (c->faces[g].cost)
            good = get_values(c->faces[g].cost, d->faces[g].cost, count) &&
                   get_values(c->faces[g].portal_cost, d->faces[g].portal_cost, portals * TH_FACES);
    if (!good) return false;
    th_continuum_solve(c, host);
    for (int k = 0; k < c->potential_count && good; ++k)
        if (c->wanted[k])
            good = put_values(d->potentials[k].values, c->potentials[k].values, count);
    words.taken = c->nodes_taken;
    return good && put(d->solver.words, &words, sizeof words);
}

static void walk(th_world *host, continuum_device *d) {
    const th_continuum *c = d->c;
    step_sums *sums = &host->device_world->sums->step;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_continuum_has(world, (int)world->agents.group[i])) return;
            th_planner planner = th_planner_of(world);
            if (th_continuum_plan(c, &planner, i)) return;
            if (th_plan_person(&planner, i, th_goes_straight(&planner, world->agents.group[i])))
                add(&sums->unreachable, (uint64_t)1);
        });
}

static void continuum_run(th_world *host) {
    continuum_device *d = device_of(host);
    find_due(host, d);
    splat(host, d);
    for (int g = 0; g < host->scene->group_count; ++g)
        if (th_continuum_has(host, g) && host_of(host)->same_faces[g] == g) make_faces(host, d, g);
    if (EXACT) {
        solve_on_host(host, d);
    } else {
        begin_solution(host, d);
        int items = d->solver.tiles * d->known.potential_count;
        grid(items < d->blocks ? items : d->blocks, d->blocks,
             sizeof(tile_memory) * (GRID_THREADS / TEAM_WARP), d->partial,
             solve_potentials{d->solver});
        end_solution(d);
    }
    walk(host, d);
}

const device_model device_plan_continuum = {.create = continuum_create,
                                            .destroy = continuum_destroy,
                                            .run = continuum_run,
                                            .send = continuum_send,
                                            .fetch = continuum_fetch};

} // namespace th
