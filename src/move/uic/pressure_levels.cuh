// The complementarity problem of the pressure (lcp.h) on a device, over the whole grid instead of a list of
// cells: the problem, the levels of its hierarchy, and how cells are counted.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PRESSURE_LEVELS_CUH
#define TH_MOVE_UIC_PRESSURE_LEVELS_CUH
#include "device/team.cuh"
#include "move/uic/multigrid.h"
#include "move/uic/uic.h"

namespace th {

enum {
    PRESSURE_LEVELS = 16, // 65 thousand cells along a side; the last one of more is swept
    // Levels of no more cells than this, where there is room, are done by every block for itself: three cells for each
    // of its threads take no longer than waiting for all blocks twice. A step of a million people took 1.25 ms with
    // 1600, 1.27 with 640 and 1.30 with 5120.
    PRESSURE_BLOCK_CELLS = 1600,
    PRESSURE_BINS = 5
};

// Statistics of the solves, running sums. residual_bins: largest residual up to 1, 2, 10, 100 times the tolerance,
// and beyond.
struct pressure_report {
    uint64_t solves, rounds, iterations, unconverged;
    uint64_t residual_bins[PRESSURE_BINS];
    double residual; // of the last solve
};

// A level of the hierarchy: cells joined 2 x 2. Level 0 has the couplings of the problem itself.
struct pressure_level {
    int nx, ny;
    float *east, *north, *ground;
    float *inverse; // of the diagonal in jammed cells, else 0
    float *r;       // residual; not on level 0
    float *x, *y;   // after the first half-sweep, in red cells; at the end of the V-cycle
    int shared_at;  // where it begins in a block's shared memory, if it lies there
    divisor across, across_reds; // interior cells and cells of a colour in a row
};
enum { PRESSURE_ARRAYS = 7 };

// Black cells couple to red ones only. Eliminated (Schur complement), they leave a red cell coupled to the eight red
// ones around it.
enum {
    SCHUR_SIDES = 8, // the red cells around
    SCHUR_OWN = 8,   // back to itself across the black ones
    SCHUR_REST = 9,  // to p = 0
    SCHUR_VALUES
};

// Values a cell of the fine level: inverse, x, y, and half of the cells have couplings of the Schur complement.
enum { FINE_VALUES = 3 + SCHUR_VALUES / 2 };

struct pressure_row {
    float west, east, south, north;
    double diagonal;
};

struct pressure_place {
    int i, j, c;
};

// Data of all kernels of the solver. The structs that derive from this one add functions, no data:
// pressure_levels the hierarchy, pressure_solver the rounds.
struct pressure_problem {
    int nx, ny;
    divisor across; // nx
    const double *east, *north, *ground;
    const th_uic_centre *people; // where there are none there is no pressure
    double *b, *p;               // b of cells that carry none is set to NEVER
    double *r[2], *d[2];         // residual and direction, of this iteration and of the last one
    double *ad;                  // A d, or red pressures to be taken
    float *schur; // SCHUR_VALUES of every red cell: value v of cell k is at v reds + k
    double tolerance;
    pressure_level level[PRESSURE_LEVELS];
    int used, in_block; // levels; the first that every block does for itself
    float *coarse;      // all coarse levels' arrays
    int coarse_count, shared_count;
    pressure_report *report;

    static constexpr double NEVER = 1e30;

    // ---- how cells are counted: only those inside of the ring

    TH_ON_GPU static int inside(const pressure_level &v) { return (v.nx - 2) * (v.ny - 2); }
    TH_ON_GPU static pressure_place cell(const pressure_level &v, int k) {
        int row = v.across.quotient(k), i = 1 + k - row * (v.nx - 2);
        return {i, 1 + row, (1 + row) * v.nx + i};
    }
    TH_ON_GPU static int half(const pressure_level &v) { return (v.nx - 1) / 2 * (v.ny - 2); }
    // Cell k of a colour (0 red, i + j even); none where i is nx - 1.
    TH_ON_GPU static pressure_place coloured(const pressure_level &v, int k, int colour) {
        int row = v.across_reds.quotient(k),
            i = 1 + 2 * (k - row * ((v.nx - 1) / 2)) + ((row + colour) & 1);
        return {i, 1 + row, (1 + row) * v.nx + i};
    }
    // All cells, a warp's of one colour, because the colours differ in what there is to do: cell k of `both`, none
    // where i is beyond nx - 2.
    TH_ON_GPU static int both(const pressure_level &v) {
        return 2 * ((half(v) + TEAM_WARP - 1) / TEAM_WARP * TEAM_WARP);
    }
    TH_ON_GPU static pressure_place of_both(const pressure_level &v, int k) {
        int one = k / (2 * TEAM_WARP) * TEAM_WARP + k % TEAM_WARP;
        pressure_place at = coloured(v, one, k / TEAM_WARP & 1);
        if (at.j > v.ny - 2) at.i = v.nx;
        return at;
    }
    // The first of the four cells of level `fine` that are joined into (i, j).
    TH_ON_GPU static int first_child(const pressure_level &fine, pressure_place at) {
        return (2 * at.j - 1) * fine.nx + 2 * at.i - 1;
    }
    // Where the coarser level than v has its value for cell (i, j).
    TH_ON_GPU static int parent(const pressure_level &v, int i, int j) {
        return th_lcp_parent(j) * th_lcp_coarser(v.nx) + th_lcp_parent(i);
    }

    // ---- rows of the problem

    TH_ON_GPU pressure_row row(int c) const { return row(c, c - nx); }
    TH_ON_GPU pressure_row row(int c, int below) const {
        pressure_row a = {(float)east[c - 1], (float)east[c], (float)north[below], (float)north[c],
                          0};
        a.diagonal = th_lcp_diagonal(a.west, a.east, a.south, a.north, ground[c]);
        return a;
    }
    TH_ON_GPU static double fit(double pull, double diagonal) {
        return th_lcp_larger(pull, 0) / (diagonal > 0 ? diagonal : 1);
    }
    // The pull of the red cells on a black one; negative values count as 0. Without a branch, so that
    // everything is asked of the memory at once; a cell of the ring, which has no pressure, reads itself instead of
    // beyond.
    struct black_cell {
        double pull, diagonal;
        TH_ON_GPU double value() const { return fit(pull, diagonal); }
    };
    TH_ON_GPU black_cell black(const double *reds, int c) const {
        const int wide = nx, end = wide * ny, below = c - (c >= wide ? wide : 0),
                  above = c + (c + wide < end ? wide : 0);
        pressure_row a = row(c, below);
        double pull = (((double)a.west * th_lcp_larger(reds[c - 1], 0) +
                        (double)a.east * th_lcp_larger(reds[c + 1], 0)) +
                       ((double)a.south * th_lcp_larger(reds[below], 0) +
                        (double)a.north * th_lcp_larger(reds[above], 0))) -
                      b[c];
        return {b[c] < NEVER ? pull : 0, a.diagonal};
    }
    // The sum that red cell c gets from the black cells around it; divisions last, nothing is read between them.
    TH_ON_GPU double around_fit(const pressure_row &a, const double *reds, int c) const {
        const black_cell left = black(reds, c - 1), right = black(reds, c + 1),
                         below = black(reds, c - nx), above = black(reds, c + nx);
        return ((double)a.west * left.value() + (double)a.east * right.value()) +
               ((double)a.south * below.value() + (double)a.north * above.value());
    }
};

// ---- building the levels, on the host

// Chooses the levels that every block does for itself: `most` values fit into its shared memory.
inline void choose_block_levels(pressure_problem *s, int most) {
    s->in_block = s->used;
    s->shared_count = 0;
    for (int l = s->used - 1; l >= 1; --l) {
        int cells = s->level[l].nx * s->level[l].ny;
        if (cells > PRESSURE_BLOCK_CELLS || s->shared_count + PRESSURE_ARRAYS * cells > most) break;
        s->level[l].shared_at = s->shared_count;
        s->shared_count += PRESSURE_ARRAYS * cells;
        s->in_block = l;
    }
}
// The hierarchy over a problem's grid, as far as `coarse` has values (`most`). `fine` has FINE_VALUES a cell.
inline void build_levels(pressure_problem *s, float *fine, float *coarse, int most) {
    int nx = s->nx, ny = s->ny;
    size_t cells = (size_t)nx * (size_t)ny;
    s->coarse = coarse;
    s->coarse_count = 0;
    s->across = divisor_of(nx);
    s->level[0] = {nx,   ny,      nullptr,      nullptr,         nullptr,
                   fine, nullptr, fine + cells, fine + 2 * cells};
    s->schur = fine + 3 * cells;
    for (s->used = 1; s->used < PRESSURE_LEVELS && (nx > 3 || ny > 3); ++s->used) {
        nx = th_lcp_coarser(nx), ny = th_lcp_coarser(ny);
        int count = nx * ny;
        if (s->coarse_count + PRESSURE_ARRAYS * count > most) break;
        float *at = coarse + s->coarse_count;
        s->level[s->used] = {nx,
                             ny,
                             at,
                             at + count,
                             at + 2 * count,
                             at + 3 * count,
                             at + 4 * count,
                             at + 5 * count,
                             at + 6 * count};
        s->coarse_count += PRESSURE_ARRAYS * count;
    }
    for (int l = 0; l < s->used; ++l) {
        pressure_level *v = &s->level[l];
        v->across = divisor_of(v->nx - 2);
        v->across_reds = divisor_of((v->nx - 1) / 2);
    }
    choose_block_levels(s, (int)(shared_memory() / sizeof(float)));
}
// Values of all coarse levels: a third of the fine level and its rings; of a strip one cell wide all of it, which then
// has fewer levels.
inline int coarse_values(size_t cells) {
    size_t values = PRESSURE_ARRAYS * (cells / 2 + 1024);
    return values < (size_t)INT32_MAX ? (int)values : INT32_MAX;
}
// A thread for each cell, or for each of a colour where so few blocks still are a cluster. More of them wait longer for
// each other anyway: then all multiprocessors there are, for what they read in a phase takes the longer the fewer do.
inline int blocks_for(int cells) {
    int wanted = (cells + GRID_THREADS - 1) / GRID_THREADS;
    return wanted <= CLUSTER_MOST       ? wanted
           : wanted <= 2 * CLUSTER_MOST ? (int)CLUSTER_MOST
                                        : 2 * wanted;
}

// ---- the hierarchy
// The hierarchy of the pressure on a device: couplings of the coarse levels, the V-cycle that preconditions conjugate
// gradients, and the way from coarse to fine where there is no pressure to start from. As the CPU's
// (multigrid.c), but that black cells are computed anew by each of their red neighbours instead of waited for.

struct pressure_levels : pressure_problem {
    using place = pressure_place;

    // ---- smoothing: values of one cell after a half-sweep

    // Levels from 1 on. Where a cell is not jammed `inverse` is 0, and what is multiplied with it: no thread asks first
    // and waits for the answer. Ring cells do so too: what they read lies in the array beside theirs, a level's arrays
    // being one behind the other and full of finite numbers.
    TH_ON_GPU static float around_level(const pressure_level &v, const float *x, int c) {
        return (v.east[c - 1] * x[c - 1] + v.east[c] * x[c + 1]) +
               (v.north[c - v.nx] * x[c - v.nx] + v.north[c] * x[c + v.nx]);
    }
    TH_ON_GPU static float relaxed(const pressure_level &v, const float *x, int c) {
        return (v.r[c] + around_level(v, x, c)) * v.inverse[c];
    }
    // Both half-sweeps alternate between the colours, then the other way round.
    TH_ON_GPU static int sweep_colour(int sweep) {
        return sweep < 2 * TH_LCP_LAST_SWEEPS ? sweep & 1 : 1 - (sweep & 1);
    }
    // Where there was no room to join the cells into one.
    template <class Team> TH_ON_GPU void last_sweeps(Team &team) const {
        const pressure_level &v = level[used - 1];
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * TH_LCP_LAST_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                place at = coloured(v, k, sweep_colour(sweep));
                if (at.i < v.nx - 1) v.x[at.c] = relaxed(v, v.x, at.c);
            });
    }

    // ---- transfer down, by all blocks

    // A black cell on the way down. All blocks waiting for each other takes longer than computing such a value
    // anew for each of its red neighbours; so it is below.
    TH_ON_GPU static float black_down(const pressure_level &v, int c) { return relaxed(v, v.x, c); }
    // The residual of a red cell after both half-sweeps.
    TH_ON_GPU static float pull(const pressure_level &v, int c) {
        float pull =
            (v.east[c - 1] * black_down(v, c - 1) + v.east[c] * black_down(v, c + 1)) +
            (v.north[c - v.nx] * black_down(v, c - v.nx) + v.north[c] * black_down(v, c + v.nx));
        return v.inverse[c] > 0 ? pull : 0;
    }
    template <class Team> TH_ON_GPU void down(Team &team, int from, int to) const {
        for (int l = from; l < to && l + 1 < used; ++l) {
            const pressure_level &fine = level[l], &v = level[l + 1];
            team.each(inside(v), [&](int k) {
                place at = cell(v, k);
                int child = first_child(fine, at);
                float r = pull(fine, child) + pull(fine, child + fine.nx + 1);
                v.r[at.c] = r;
                v.x[at.c] = r * v.inverse[at.c];
            });
        }
    }

    // ---- transfer up, by all blocks

    // Where the coarser level than l has its results.
    TH_ON_GPU const float *coarser_result(int l, const float *memory) const {
        return l + 1 == in_block && in_block < used ? in_shared(memory, in_block).y
                                                    : level[l + 1].y;
    }
    // x of red cell (i, j) with what the coarser level, whose results are `above`, adds to it.
    TH_ON_GPU static float corrected(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        float x = v.x[c], more = above[parent(v, i, j)];
        return v.inverse[c] > 0 ? x + more : x;
    }
    TH_ON_GPU static float around_corrected(const pressure_level &v, const float *above, int i,
                                            int j) {
        int c = j * v.nx + i;
        return (v.east[c - 1] * corrected(v, above, i - 1, j) +
                v.east[c] * corrected(v, above, i + 1, j)) +
               (v.north[c - v.nx] * corrected(v, above, i, j - 1) +
                v.north[c] * corrected(v, above, i, j + 1));
    }
    // The coarsest level has nothing to correct it by.
    template <bool CORRECTED>
    TH_ON_GPU static float black_up(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        return CORRECTED ? (v.r[c] + around_corrected(v, above, i, j)) * v.inverse[c]
                         : relaxed(v, v.x, c);
    }
    template <bool CORRECTED>
    TH_ON_GPU static float red_up(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        float pull = (v.east[c - 1] * black_up<CORRECTED>(v, above, i - 1, j) +
                      v.east[c] * black_up<CORRECTED>(v, above, i + 1, j)) +
                     (v.north[c - v.nx] * black_up<CORRECTED>(v, above, i, j - 1) +
                      v.north[c] * black_up<CORRECTED>(v, above, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    template <bool CORRECTED, class Team>
    TH_ON_GPU void up(Team &team, const pressure_level &v, const float *above) const {
        team.each(both(v), [&](int k) {
            place at = of_both(v, k);
            if (at.i > v.nx - 2) return;
            v.y[at.c] = (at.i + at.j) & 1 ? black_up<CORRECTED>(v, above, at.i, at.j)
                                          : red_up<CORRECTED>(v, above, at.i, at.j);
        });
    }
    template <class Team> TH_ON_GPU void up(Team &team, int from, int to) const {
        for (int l = from; l >= to; --l)
            if (l + 1 < used)
                up<true>(team, level[l], coarser_result(l, team.memory()));
            else
                up<false>(team, level[l], nullptr);
    }
    // The V-cycle from level 1 on.
    template <class Team> TH_ON_GPU void cycle(Team &team) const {
        if (used == 1) return;
        down(team, 1, in_block);
        if (in_block < used)
            team.every_block([&](auto &block) { block_cycle(block); });
        else
            last_sweeps(team);
        up(team, in_block - 1, 1);
    }

    // ---- the coarse levels in a block's shared memory

    TH_ON_GPU pressure_level in_shared(const float *memory, int l) const {
        const pressure_level &v = level[l];
        float *at = (float *)memory + v.shared_at;
        int n = v.nx * v.ny;
        return {v.nx,       v.ny,       at,         at + n,      at + 2 * n, at + 3 * n,
                at + 4 * n, at + 5 * n, at + 6 * n, v.shared_at, v.across,   v.across_reds};
    }
    // phase(place) for the cells of a colour.
    template <class Block, class Phase>
    TH_ON_GPU static void coloured_cells(Block &block, const pressure_level &v, int colour,
                                         Phase phase) {
        block.each(half(v), [&](int k) {
            place at = coloured(v, k, colour);
            if (at.i < v.nx - 1) phase(at);
        });
    }
    template <class Block>
    TH_ON_GPU void block_down(Block &block, const float *memory, int l) const {
        pressure_level fine = in_shared(memory, l), v = in_shared(memory, l + 1);
        coloured_cells(block, fine, 1,
                       [&](place at) { fine.y[at.c] = relaxed(fine, fine.x, at.c); });
        block.each(inside(v), [&](int k) {
            place at = cell(v, k);
            int child = first_child(fine, at);
            // Of a cell at the ring only one is red: nothing is read beyond, where the shared memory may end.
            bool whole = (2 * at.i < fine.nx - 1) & (2 * at.j < fine.ny - 1);
            int other = whole ? child + fine.nx + 1 : child;
            float one = around_level(fine, fine.y, child), two = around_level(fine, fine.y, other);
            float r = (fine.inverse[child] > 0 ? one : 0.0f) +
                      ((whole & (fine.inverse[other] > 0)) ? two : 0.0f);
            v.r[at.c] = r;
            v.x[at.c] = r * v.inverse[at.c];
        });
    }
    template <class Block> TH_ON_GPU void block_up(Block &block, const float *memory, int l) const {
        pressure_level v = in_shared(memory, l);
        coloured_cells(block, v, 1, [&](place at) {
            v.y[at.c] = l + 1 < used ? black_up<true>(v, in_shared(memory, l + 1).y, at.i, at.j)
                                     : black_up<false>(v, nullptr, at.i, at.j);
        });
        coloured_cells(block, v, 0, [&](place at) { v.y[at.c] = relaxed(v, v.y, at.c); });
    }
    template <class Block>
    TH_ON_GPU void block_last_sweeps(Block &block, const pressure_level &v) const {
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * TH_LCP_LAST_SWEEPS; ++sweep)
            coloured_cells(block, v, sweep_colour(sweep),
                           [&](place at) { v.x[at.c] = relaxed(v, v.x, at.c); });
    }
    // The V-cycle from level in_block on, whose residuals the blocks have just written together.
    template <class Block> TH_ON_GPU void block_cycle(Block &block) const {
        const float *memory = block.memory(), *r = level[in_block].r;
        pressure_level v = in_shared(memory, in_block);
        block.read(r, v.nx * v.ny, [&](int c, float value) {
            v.r[c] = value;
            v.x[c] = value * v.inverse[c];
        });
        for (int l = in_block; l + 1 < used; ++l) block_down(block, memory, l);
        block_last_sweeps(block, in_shared(memory, used - 1));
        for (int l = used - 1; l >= in_block; --l) block_up(block, memory, l);
    }

    // ---- couplings of the coarse levels

    TH_ON_GPU static void set_cell(const pressure_level &v, int c, const double *across,
                                   double ground) {
        th_lcp_coarse_cell cell = th_lcp_coarse_cell_of(across, ground);
        v.east[c] = cell.coupling[1];
        v.north[c] = cell.coupling[3];
        v.ground[c] = cell.ground;
        v.inverse[c] = cell.inverse;
    }
    // Level 1: only jammed cells count, beside the others p = 0 as beside an exit.
    TH_ON_GPU void fill_first(place at) const {
        const float *face = level[0].inverse;
        int corner = first_child(level[0], at);
        double side[4] = {0, 0, 0, 0}, rest = 0;
        for (int q = 0; q < 4; ++q) {
            int child = corner + (q & 1) + (q >> 1) * nx;
            if (!(face[child] > 0)) continue;
            pressure_row a = row(child);
            double west = face[child - 1] > 0 ? (double)a.west : 0,
                   east = face[child + 1] > 0 ? (double)a.east : 0;
            double south = face[child - nx] > 0 ? (double)a.south : 0,
                   north = face[child + nx] > 0 ? (double)a.north : 0;
            rest += th_lcp_larger(a.diagonal - west - east - south - north, 0);
            side[q & 1] += q & 1 ? east : west;
            side[2 + (q >> 1)] += q >> 1 ? north : south;
        }
        set_cell(level[1], at.c, side, rest);
    }
    TH_ON_GPU static void fill_next(const pressure_level &v, const pressure_level &fine, place at) {
        int corner = first_child(fine, at), above = corner + fine.nx;
        const double side[4] = {(double)fine.east[corner - 1] + (double)fine.east[above - 1],
                                (double)fine.east[corner + 1] + (double)fine.east[above + 1],
                                (double)fine.north[corner - fine.nx] +
                                    (double)fine.north[corner + 1 - fine.nx],
                                (double)fine.north[above] + (double)fine.north[above + 1]};
        double rest = ((double)fine.ground[corner] + (double)fine.ground[corner + 1]) +
                      ((double)fine.ground[above] + (double)fine.ground[above + 1]);
        set_cell(v, at.c, side, rest);
    }
    template <class Team> TH_ON_GPU void fill_levels(Team &team, int from, int to) const {
        for (int l = from; l < to; ++l)
            team.each(inside(level[l]), [&](int k) {
                if (l == 1)
                    fill_first(cell(level[l], k));
                else
                    fill_next(level[l], level[l - 1], cell(level[l], k));
            });
    }
    // Couplings of level in_block from where the blocks have written them together; the rest from those.
    template <class Block> TH_ON_GPU void block_fill(Block &block) const {
        float *memory = block.memory();
        block.each(shared_count, [&](int k) { memory[k] = 0; });
        const pressure_level &from = level[in_block];
        pressure_level v = in_shared(memory, in_block);
        block.each(v.nx * v.ny, [&](int c) {
            v.east[c] = from.east[c];
            v.north[c] = from.north[c];
            v.ground[c] = from.ground[c];
            v.inverse[c] = from.inverse[c];
        });
        for (int l = in_block + 1; l < used; ++l) {
            pressure_level fine = in_shared(memory, l - 1), coarser = in_shared(memory, l);
            block.each(inside(coarser), [&](int k) { fill_next(coarser, fine, cell(coarser, k)); });
        }
    }

    // ---- from coarse to fine, where there is no pressure to start from

    // b of the cells of level l, summed from the finer one.
    template <class Team> TH_ON_GPU void sum_b(Team &team, int l) const {
        team.each(inside(level[l]), [&](int k) {
            const pressure_level &v = level[l], &fine = level[l - 1];
            place at = cell(v, k);
            int corner = first_child(fine, at);
            double sum = 0;
            for (int q = 0; q < 4; ++q) {
                int child = corner + (q & 1) + (q >> 1) * fine.nx;
                if (l > 1)
                    sum += (double)fine.r[child];
                else if (level[0].inverse[child] > 0)
                    sum += b[child];
            }
            v.r[at.c] = (float)sum;
        });
    }
    // A rough solution on level l, from that of the coarser one.
    template <class Team> TH_ON_GPU void sweep_projected(Team &team, int l) const {
        const pressure_level &v = level[l];
        team.each(inside(v), [&](int k) {
            place at = cell(v, k);
            v.x[at.c] = l + 1 == used ? 0.0f : level[l + 1].x[parent(v, at.i, at.j)];
        });
        for (int sweep = 0; sweep < 2 * TH_LCP_CASCADE_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                place at = coloured(v, k, sweep & 1);
                if (at.i > v.nx - 2) return;
                float x = (around_level(v, v.x, at.c) - v.r[at.c]) * v.inverse[at.c];
                v.x[at.c] = x > 0 ? x : 0;
            });
    }
    template <class Team> TH_ON_GPU void cascade(Team &team) const {
        if (used == 1) return;
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k).c;
            level[0].inverse[c] = b[c] < NEVER ? 1.0f : 0.0f; // all of them; fill asks for no more
        });
        fill_levels(team, 1, used);
        for (int l = 1; l < used; ++l) sum_b(team, l);
        for (int l = used - 1; l >= 1; --l) sweep_projected(team, l);
        team.each(inside(level[0]), [&](int k) {
            place at = cell(level[0], k);
            level[0].inverse[at.c] = 0;
            if (b[at.c] < NEVER)
                p[at.c] = th_lcp_larger(p[at.c], (double)level[1].x[parent(level[0], at.i, at.j)]);
        });
    }
};

} // namespace th
#endif
