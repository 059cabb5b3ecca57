// What the pressure solvers share: the problem copied out of the grid into cells numbered from 0.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_LCP_INNER_H
#define TH_MOVE_UIC_LCP_INNER_H
#include "core/parallel.h"
#include "move/uic_lcp.h"

// Neighbours of a cell in this order; d ^ 1 is the opposite side.
enum { TH_WEST, TH_EAST, TH_SOUTH, TH_NORTH, TH_SIDES };

typedef struct th_lcp_place {
    int32_t i, j;
} th_lcp_place;

// Arrays have one entry more than there are cells: neighbour `count` is nobody, its value 0.
typedef struct th_lcp_system {
    int count;
    int reds; // cells with i + j even come first when the solver colours; then their neighbours
              // are all black and the other way round. Else 0 and cells go row by row.
    int32_t *cell;       // where it lies in the grid
    th_lcp_place *place; // the same as column and row
    int nx, ny;
    int32_t *near;    // TH_SIDES per cell, `count` for none
    double *coupling; // TH_SIDES per cell, 0 for none
    double *diagonal; // > 0
    double *inverse;  // of the diagonal
    double *b, *x;    // x >= 0
    double tolerance;
    int threads;
} th_lcp_system;

enum { TH_LCP_VECTORS = 8 };

typedef struct th_lcp_multigrid th_lcp_multigrid;

struct th_lcp_work {
    th_memory memory;
    th_lcp_solver solver;
    int cells, active;
    int32_t *mark; // per grid cell: below `stamp` not active, `stamp` active, above: a candidate
    int32_t stamp;
    int32_t *queue; // candidates in the order found
    int32_t *edge;  // cells of the system beside an active cell that is no candidate
    int edge_count;
    th_lcp_place *place; // candidates before they are in order
    th_lcp_system system;
    double *vector[TH_LCP_VECTORS]; // active + 1 each, for the solver; NULL where it needs fewer
    th_lcp_multigrid *multigrid;
};

// Below this many cells a loop runs on one thread: waking the others costs more [cells].
enum { TH_LCP_PARALLEL = 6000 };
// Cells summed by one thread without a break; sums are added block by block.
enum { TH_LCP_BLOCK = 2048 };

void th_lcp_mprgp(th_lcp_work *work, th_lcp_result *result);
void th_lcp_policy(th_lcp_work *work, th_lcp_result *result);
void th_lcp_psor(th_lcp_work *work, th_lcp_result *result);
void th_lcp_solve_multigrid(th_lcp_work *work, th_lcp_result *result);

// Room for the hierarchy over a system of up to `active` cells of a grid of up to `cells`; NULL: no memory.
th_lcp_multigrid *th_lcp_multigrid_create(const th_memory *memory, int cells, int active);
void th_lcp_multigrid_destroy(const th_memory *memory, th_lcp_multigrid *multigrid);

// Modified incomplete Cholesky of the rows and columns with free[k] > 0, MIC(0) with tuning constant 0.97
// and safety 0.25; q = 1/sqrt(pivot), 0 off the face. Row by row numbering.
void th_mic_factor(const th_lcp_system *system, const double *free, double *q);
// z = M^-1 r in the face; z may be r.
void th_mic_apply(const th_lcp_system *system, const double *q, const double *r, double *z);

// Sum over the four neighbours of coupling * v.
static inline double th_lcp_around(const th_lcp_system *s, const double *v, int k) {
    const int32_t *n = s->near + (size_t)TH_SIDES * (size_t)k;
    const double *c = s->coupling + (size_t)TH_SIDES * (size_t)k;
    return (c[TH_WEST] * v[n[TH_WEST]] + c[TH_EAST] * v[n[TH_EAST]]) +
           (c[TH_SOUTH] * v[n[TH_SOUTH]] + c[TH_NORTH] * v[n[TH_NORTH]]);
}

static inline double th_lcp_row(const th_lcp_system *s, const double *v, int k) {
    return s->diagonal[k] * v[k] - th_lcp_around(s, v, k);
}

// |min(A_kk x_k, z_k)|: how far cell k is from complementary.
static inline double th_lcp_gap(const th_lcp_system *s, int k, double z) {
    double weighted = s->diagonal[k] * s->x[k];
    double least = weighted < z ? weighted : z;
    return least < 0 ? -least : least;
}
#endif
