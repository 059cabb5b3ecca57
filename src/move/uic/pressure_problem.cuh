// The complementarity problem of the pressure (lcp.h) on a device, over the whole grid instead of a list of
// cells: the problem, the levels of its hierarchy, and how cells are counted. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PRESSURE_PROBLEM_CUH
#define TH_MOVE_UIC_PRESSURE_PROBLEM_CUH
#include "device/team.cuh"
#include "move/uic/multigrid.h"
#include "move/uic/state.h"

namespace th {

enum {
    PRESSURE_LEVELS = 16, // 65 thousand cells along a side; the last one of more is swept
    // Levels of no more cells than this, where there is room, are done by every block for itself: three cells for each
    // of its threads take no longer than waiting for all blocks twice. A step of a million people took 1.25 ms with
    // 1600, 1.27 with 640 and 1.30 with 5120.
    PRESSURE_BLOCK_CELLS = 1600,
    PRESSURE_BINS = 5
};

// How the solves went, running sums. residual_bins: largest residual up to 1, 2, 10, 100 times the tolerance,
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

// What all kernels of the solver see. The structs that derive from this one add functions, no data:
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
    // What pulls at a black cell among red ones; what is negative there counts as 0. Without a branch, so that everything
    // is asked of the memory at once; a cell of the ring, which has no pressure, reads itself instead of beyond.
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
    // What the black cells around red cell c give to it; divisions last, nothing is read between them.
    TH_ON_GPU double around_fit(const pressure_row &a, const double *reds, int c) const {
        const black_cell left = black(reds, c - 1), right = black(reds, c + 1),
                         below = black(reds, c - nx), above = black(reds, c + nx);
        return ((double)a.west * left.value() + (double)a.east * right.value()) +
               ((double)a.south * below.value() + (double)a.north * above.value());
    }
};

// ---- building the levels, on the host

// Which levels every block does for itself: `most` values fit into its shared memory.
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

} // namespace th
#endif
