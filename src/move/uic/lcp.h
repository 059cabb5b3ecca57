// The linear complementarity problem of unilateral incompressibility (Narain et al. 2009, eqs 13-16) and
// its solver, apart from the model: find p >= 0 with z = A p + b >= 0 and p z = 0 in every active cell.
// A is the five-point matrix
//     (A p)_c = sum over the four neighbours n of coupling(c, n) (p_c - p_n) + (ground_c + epsilon) p_c
// of one level's grid, p = 0 in cells that are not active. epsilon = 1e-8 of the cell's own diagonal keeps the
// pressure of a closed, overfull room finite (it has no solution otherwise).
//
// Cost: one look at every active cell, then work on those that are jammed (p > 0 or b < 0) and the cells
// around them; never a pass over the whole grid. Bit-identical for any number of threads. Solving allocates
// nothing. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_LCP_H
#define TH_MOVE_UIC_LCP_H
#include "core/memory.h"
#include <stdbool.h>
#include <stdint.h>

// Tolerance for a running crowd as a share of the maximum density [1]. The pressure
// is then within 1e-3 of its largest value of the exact one (measured: 4e-4 and better).
#define TH_LCP_TOLERANCE 1e-4

// One problem. Cells row by row, c = j * nx + i. The outermost ring of cells is never active.
typedef struct th_lcp {
    int nx, ny;
    // Coupling of c with c + 1 and with c + nx, (dt / h^2) a_e r_e >= 0 [s m^-4]; 0: wall or empty.
    // Read only at active cells and at their west and south neighbours. One with a cell that is not active
    // counts as ground.
    const double *east, *north;
    const double *ground; // coupling with p = 0 outside, exits and open edges [s m^-4]; NULL: none
    const double *b;      // slack + dt div(r u) [m^-2]; read at active cells
    double *p; // in: where to start, 0 or an earlier solution; out: the solution [m^2/s].
               // Touched at active cells only; must be 0 or is not looked at elsewhere.
    const int32_t *active; // cells that may carry pressure, ascending
    int active_count;
    double tolerance; // on the residual, below [m^-2]
    int threads;
} th_lcp;

typedef struct th_lcp_result {
    int iterations;  // of conjugate gradients
    int outer;       // rounds: times the set of jammed cells was chosen anew
    double residual; // max over active cells of |min(A_cc p_c, z_c)| [m^-2]
    // Residual <= tolerance; false: stopped at the limit of iterations, p is the best found.
    bool converged;
    int64_t visits; // cells visited, all passes together: what it cost
} th_lcp_result;

typedef struct th_lcp_work th_lcp_work;

// Work space for grids of up to `cells` cells with up to `active` active ones, released with the arena. NULL: no
// memory.
th_lcp_work *th_lcp_work_create(th_arena *arena, int cells, int active);

// p is finite and >= 0 afterwards whatever b and p held at the
// start (what is not a number there counts as 0).
th_lcp_result th_lcp_solve(const th_lcp *lcp, th_lcp_work *work);

#ifdef __cplusplus
extern "C" {
#endif
// pressure.cu: the same on a device, over the whole grid. False: there is no device, or it has no memory.
bool th_device_pressure(const th_lcp *lcp, th_lcp_result *result);
#ifdef __cplusplus
}
#endif
#endif
