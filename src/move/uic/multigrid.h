// Inside the pressure solver (lcp.h): multigrid. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_MULTIGRID_H
#define TH_MOVE_UIC_MULTIGRID_H
#include "core/device.h"
#include "core/parallel.h"
#include "move/uic/lcp.h"
#include <math.h>

// ---- one cell: constants and formulas that the CPU (multigrid.c) and a device (pressure_levels.cuh) share
// The CPU works on a list of cells, a device on the whole grid.

// epsilon per cell as a share of its own diagonal, so that it needs no look at other cells [1].
#define TH_LCP_EPSILON 1e-8
// A cell coupled more weakly than this with everything is isolated: p = 0 [s m^-4]. People give 1e-3 and more.
#define TH_LCP_NO_FLOW 1e-30

// ---- the hierarchy: cells joined 2 x 2
#define TH_LCP_COARSE_COUPLING 0.5 // measured: 0.6 takes 30 % more iterations, 0.7 70 % [1]
#define TH_LCP_COARSE_GROUND \
    0.85 // measured: 0.75 to 1 are alike, 0.5 takes 60 % more iterations [1]
enum {
    TH_LCP_LAST_SWEEPS = 8,   // of the coarsest level, where it has more than one cell
    TH_LCP_CASCADE_SWEEPS = 8 // of every level on the way from coarse to fine
};

// ---- the rounds
// A round is solved to this share of its first residual, or of the tolerance; more would be wasted on a
// set that is about to change. If the sets go on changing, rounds become exact: then the sets become final, in
// finitely many rounds (policy iteration with an M-matrix).
#define TH_LCP_ROUND_REDUCTION 0.1 // measured: 0.03 and 0.3 take 10 % longer [1]
#define TH_LCP_EXACT_REDUCTION 1e-4
#define TH_LCP_ROUND_TOLERANCE 0.5
enum {
    TH_LCP_EXACT_FROM = 20,
    TH_LCP_CASCADE_AT = 10 // round; running crowds are done by then, and their start is better
};

TH_FORMULA double th_lcp_larger(double a, double b) { return a > b ? a : b; }

// Values that are not finite count as 0.
TH_FORMULA double th_lcp_number(double value) { return value - value == 0 ? value : 0; }
// A pressure to start from.
TH_FORMULA double th_lcp_start(double p) { return p > 0 && p - p == 0 ? p : 0; }

// A_cc of a cell with these couplings. They are rounded to float before the diagonal is summed: that changes a flow
// by 6e-8 of itself, and half the memory is read.
TH_FORMULA double th_lcp_diagonal(float west, float east, float south, float north, double ground) {
    double sum = ((double)west + (double)east) + ((double)south + (double)north);
    return (sum + ground) * (1 + TH_LCP_EPSILON);
}

// |min(A_cc p_c, z_c)|: how far a cell is from complementary.
TH_FORMULA double th_lcp_gap(double weighted, double z) {
    return fabs(weighted < z ? weighted : z);
}

// Does this round start from the coarse levels? With a start that is far off the set would grow by a cell per round.
TH_FORMULA bool th_lcp_cascades(int round, bool far) {
    return round == (far ? 0 : TH_LCP_CASCADE_AT);
}
TH_FORMULA double th_lcp_reduction(int round) {
    return round < TH_LCP_EXACT_FROM ? TH_LCP_ROUND_REDUCTION : TH_LCP_EXACT_REDUCTION;
}
// Residual at which a round ends that began with `left`.
TH_FORMULA double th_lcp_target(double reduction, double left, double tolerance) {
    return th_lcp_larger(reduction * left, TH_LCP_ROUND_TOLERANCE * tolerance);
}

// Columns or rows of the next coarser level. The outermost ring of every level is empty.
TH_FORMULA int th_lcp_coarser(int n) { return ((n - 1) >> 1) + 2; }
// Column or row there of the cell that this one is joined into.
TH_FORMULA int th_lcp_parent(int i) { return (i + 1) >> 1; }

// A cell of a coarse level, from the sums of the fine couplings across its sides (west, east, south, north) and of
// those with p = 0. A coupling is half the sum of the fine ones: the distance doubles, in streets one cell wide and in
// the open alike.
typedef struct th_lcp_coarse_cell {
    float coupling[4];
    float ground;
    float inverse; // of the diagonal; 0 where nothing is coupled
} th_lcp_coarse_cell;

TH_FORMULA th_lcp_coarse_cell th_lcp_coarse_cell_of(const double *across, double ground) {
    th_lcp_coarse_cell cell;
    ground *= TH_LCP_COARSE_GROUND;
    double diagonal = ground;
    for (int d = 0; d < 4; ++d) {
        double coupling = TH_LCP_COARSE_COUPLING * across[d];
        cell.coupling[d] = (float)coupling;
        diagonal += coupling;
    }
    cell.ground = (float)ground;
    cell.inverse = (float)(diagonal > 0 ? 1 / diagonal : 0);
    return cell;
}

// ---- the CPU's solver: the problem copied out of the grid into cells numbered from 0, the method, the hierarchy

// Neighbours of a cell in this order; d ^ 1 is the opposite side.
enum { TH_WEST, TH_EAST, TH_SOUTH, TH_NORTH, TH_SIDES };

typedef struct th_lcp_place {
    int32_t i, j;
} th_lcp_place;

// A loop over cells, in blocks. Small ones run on the calling thread without asking OpenMP, which takes as
// long as a thousand cells even for a team of one.
enum { TH_LCP_BLOCK = 1024 };    // cells that one thread takes without a break
enum { TH_LCP_PARALLEL = 8192 }; // fewer are not worth waking another thread
typedef double th_lcp_body(const void *context, int from, int to);
typedef struct th_lcp_team {
    int threads;
    double *partial; // what the body returned, per block
} th_lcp_team;
// Sum, or largest (at least 0), of what the body returns for the blocks of [from, to), taken in order: the
// same bits for any number of threads.
double th_lcp_sum(const th_lcp_team *team, th_lcp_body *body, const void *context, int from,
                  int to);
double th_lcp_most(const th_lcp_team *team, th_lcp_body *body, const void *context, int from,
                   int to);

static inline int th_lcp_blocks(int count) { return (count + TH_LCP_BLOCK - 1) / TH_LCP_BLOCK; }

// Arrays have one entry more than there are cells: neighbour `count` is none, its value 0.
typedef struct th_lcp_system {
    int count;
    // Cells with i + j even come first when the solver colours; then all their neighbours are black and
    // the other way round. Else 0, and cells go row by row.
    int reds;
    th_lcp_place *place; // row by row, whatever the numbers
    int32_t *number;     // of the cells in that order
    int32_t *near;       // TH_SIDES per cell, `count` for none
    float *coupling;     // TH_SIDES per cell, 0 for none
    double *diagonal;    // > 0
    double *b, *x;       // x >= 0
    int nx, ny;
    double tolerance;
    th_lcp_team team;
} th_lcp_system;

typedef struct th_lcp_hierarchy th_lcp_hierarchy;

// A way to solve the system, and what it needs for that.
typedef struct th_lcp_method {
    const char *name;
    void (*solve)(th_lcp_work *work, th_lcp_result *result);
    int vectors;     // of work->vector
    bool coloured;   // red cells are numbered first
    bool hierarchy;  // work->hierarchy
    bool every_cell; // takes all active cells and trusts no margin: for a reference
} th_lcp_method;

// The one in use: the fastest at every size measured, docs/models/uic-solvers.md.
extern const th_lcp_method TH_LCP_MULTIGRID;

enum { TH_LCP_VECTORS = 6 };

struct th_lcp_work {
    const th_lcp_method *method;
    int cells, active;
    int32_t *mark; // per grid cell: below `stamp` not active, `stamp` active, above: a candidate
    int32_t stamp;
    int32_t *queue; // candidates in the order found
    int32_t *edge;  // cells beside an active one that is no candidate, from each block's start on
    int32_t *found; // how many a block has queued, or found at the edge
    th_lcp_system system;
    bool far; // there was no pressure to start from, or it had to go beyond the margin
    double *vector[TH_LCP_VECTORS]; // active + 1 each, for the method; NULL where it needs fewer
    th_lcp_hierarchy *hierarchy;
};

// th_lcp_work_create with another method than TH_LCP_MULTIGRID: tests compare several with it.
th_lcp_work *th_lcp_work_create_for(th_arena *arena, const th_lcp_method *method, int cells,
                                    int active);

// The hierarchy of the multigrid solver: cells joined 2 x 2 again and again. Level 0 is the system itself
// (near and coupling are the system's). Single precision: it only has to point the way, what is left is
// measured in double.
typedef struct th_lcp_level {
    int nx, ny;
    int count, reds;
    th_lcp_place *place; // in the order found, about row by row
    int32_t *number;     // of the cells in that order: red ones first
    int32_t *near;       // TH_SIDES per cell
    int32_t *child;      // TH_SIDES per cell: number on the finer level, its count for none
    int32_t *parent;     // of the cells of the finer level
    float *coupling;     // TH_SIDES per cell
    float *ground;       // coupling with p = 0
    float *inverse;      // of the diagonal in jammed cells, else 0
    float *r, *x;
    int32_t *mark;       // per grid cell: place in the list + 1 while it is built, else 0
    int room, mark_room; // cells of the level, of the grid it lies in, at most
} th_lcp_level;

enum { TH_LCP_LEVELS = 20 };
struct th_lcp_hierarchy {
    int used;
    th_lcp_level levels[TH_LCP_LEVELS];
};

// For a system of up to `active` cells of a grid of up to `cells`; NULL: no memory.
th_lcp_hierarchy *th_lcp_hierarchy_create(th_arena *arena, int cells, int active);

// Sum over the four neighbours of coupling * v.
static inline double th_lcp_around(const th_lcp_system *s, const double *v, int k) {
    const int32_t *n = s->near + (size_t)TH_SIDES * (size_t)k;
    const float *c = s->coupling + (size_t)TH_SIDES * (size_t)k;
    return ((double)c[TH_WEST] * v[n[TH_WEST]] + (double)c[TH_EAST] * v[n[TH_EAST]]) +
           ((double)c[TH_SOUTH] * v[n[TH_SOUTH]] + (double)c[TH_NORTH] * v[n[TH_NORTH]]);
}

static inline float th_lcp_around_level(const th_lcp_level *v, int k) {
    const int32_t *n = v->near + TH_SIDES * (size_t)k;
    const float *c = v->coupling + TH_SIDES * (size_t)k, *x = v->x;
    return (c[TH_WEST] * x[n[TH_WEST]] + c[TH_EAST] * x[n[TH_EAST]]) +
           (c[TH_SOUTH] * x[n[TH_SOUTH]] + c[TH_NORTH] * x[n[TH_NORTH]]);
}

static inline double th_lcp_row(const th_lcp_system *s, const double *v, int k) {
    return s->diagonal[k] * v[k] - th_lcp_around(s, v, k);
}

static inline double th_lcp_gap_of(const th_lcp_system *s, int k, double z) {
    return th_lcp_gap(s->diagonal[k] * s->x[k], z);
}

// The pressure of cell k that suits those of its neighbours.
static inline double th_lcp_fit(const th_lcp_system *s, int k) {
    double pull = th_lcp_around(s, s->x, k) - s->b[k];
    return pull > 0 ? pull / s->diagonal[k] : 0;
}
#endif
