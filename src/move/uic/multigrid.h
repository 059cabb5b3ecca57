// The multigrid of the pressure for one cell: constants and formulas that the CPU (multigrid.c, hierarchy.c) and a device
// (pressure.cuh) share. The CPU works on a list of cells, a device on the whole grid; what they compute for a cell is
// the same. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_MULTIGRID_H
#define TH_MOVE_UIC_MULTIGRID_H
#include "formula/common.h"
#include <math.h>

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

// What is not a finite number counts as 0.
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
#endif
