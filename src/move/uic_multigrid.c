// Active set with multigrid: the default. Each round
//  1. settles which cells are jammed by a projected Gauss-Seidel sweep, red cells then black ones;
//  2. solves A p = -b on that set by conjugate gradients, to a tenth of the residual. Black cells couple
//     to red ones only: they are eliminated, which halves the vectors and the iterations. One V-cycle of
//     uic_hierarchy.c is the preconditioner;
//  3. sets to 0 what became negative (truncation as in Graeser and Kornhuber 2009), and looks again.
// With a warm start the set is known but for its rim, and one or two rounds of two or three iterations do.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic_lcp_inner.h"

enum { ROUNDS_MOST = 200, ITERATIONS_MOST = 60 };
// A round is solved to this share of its first residual, or of the tolerance; more would be wasted on a
// set that is about to change. If the sets do not settle, rounds become exact: then they must, in finitely
// many rounds (policy iteration with an M-matrix).
#define ROUND_REDUCTION 0.1 // measured: 0.03 and 0.3 take 10 % longer [1]
#define EXACT_REDUCTION 1e-4
#define ROUND_TOLERANCE 0.5
enum { EXACT_FROM = 20 };
enum { CASCADE_AT = 4 }; // round; running crowds are done by then

typedef struct rounds {
    const th_lcp_system *s;
    th_lcp_hierarchy *hierarchy;
    th_lcp_level *v; // its level 0
    double *r;       // minus the gradient in red jammed cells
    double *d,
        *ad; // direction; A d in the red ones. Double: of a closed room only 1e-8 is left of it
    double *sums; // one per block
} rounds;

static double total(const double *sums, int blocks) {
    double sum = 0;
    for (int block = 0; block < blocks; ++block) sum += sums[block];
    return sum;
}

static double most(const double *sums, int blocks) {
    double largest = 0;
    for (int block = 0; block < blocks; ++block) largest = th_lcp_larger(largest, sums[block]);
    return largest;
}

// Black pressures from the red ones: exact, z or p is 0 in each.
static void settle_black(const th_lcp_system *s) {
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int k = s->reds; k < s->count; ++k) s->x[k] = th_lcp_fit(s, k);
}

// The residual, which only red cells can have.
static double look(rounds *w) {
    const th_lcp_system *s = w->s;
    int blocks = th_lcp_blocks(s->reds);
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int block = 0; block < blocks; ++block) {
        double residual = 0;
        int end = th_lcp_block_end(block, s->reds);
        for (int k = block * TH_LCP_BLOCK; k < end; ++k) {
            double z = th_lcp_row(s, s->x, k) + s->b[k];
            residual = th_lcp_larger(residual, th_lcp_gap(s, k, z));
        }
        w->sums[block] = residual;
    }
    return most(w->sums, blocks);
}

// A projected half-sweep over one colour; notes which cells are jammed. Returns whether others than before.
static bool settle(const rounds *w, int from, int to) {
    const th_lcp_system *s = w->s;
    float *face = w->v->inverse;
    int changed = 0;
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL) \
    reduction(|                                                                  \
              : changed)
    for (int k = from; k < to; ++k) {
        s->x[k] = th_lcp_fit(s, k);
        float inverse = s->x[k] > 0 ? (float)(1 / s->diagonal[k]) : 0;
        changed |= (inverse > 0) != (face[k] > 0);
        face[k] = inverse;
    }
    return changed;
}

// r = minus the gradient in the red cells of the set. Returns the largest |r|.
static double begin(rounds *w) {
    const th_lcp_system *s = w->s;
    const float *face = w->v->inverse;
    int blocks = th_lcp_blocks(s->reds);
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int block = 0; block < blocks; ++block) {
        double largest = 0;
        int end = th_lcp_block_end(block, s->reds);
        for (int k = block * TH_LCP_BLOCK; k < end; ++k) {
            double r = face[k] > 0 ? -(th_lcp_row(s, s->x, k) + s->b[k]) : 0;
            w->r[k] = r;
            w->v->r[k] = (float)r;
            w->d[k] = 0;
            largest = th_lcp_larger(largest, fabs(r));
        }
        w->sums[block] = largest;
    }
    return most(w->sums, blocks);
}

// r'M^-1 r.
static double precondition(rounds *w) {
    const th_lcp_level *v = w->v;
    int threads = w->s->threads, blocks = th_lcp_blocks(v->reds);
    th_lcp_hierarchy_cycle(w->hierarchy, threads);
#pragma omp parallel for num_threads(threads) if (v->count > TH_LCP_PARALLEL)
    for (int block = 0; block < blocks; ++block) {
        double sum = 0;
        int end = th_lcp_block_end(block, v->reds);
        for (int k = block * TH_LCP_BLOCK; k < end; ++k) sum += w->r[k] * (double)v->x[k];
        w->sums[block] = sum;
    }
    return total(w->sums, blocks);
}

// d of the black jammed cells so that A d = 0 there.
static void extend(const rounds *w) {
    const th_lcp_system *s = w->s;
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int k = s->reds; k < s->count; ++k) {
        w->d[k] = w->v->inverse[k] > 0 ? th_lcp_around(s, w->d, k) / s->diagonal[k] : 0;
    }
}

// d = x + beta d, ad = A d in the red cells. Returns d'Ad.
static double turn(rounds *w, double beta) {
    const th_lcp_system *s = w->s;
    const th_lcp_level *v = w->v;
    int blocks = th_lcp_blocks(v->reds);
    for (int k = 0; k < v->reds; ++k) w->d[k] = (double)v->x[k] + beta * w->d[k];
    extend(w);
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int block = 0; block < blocks; ++block) {
        double sum = 0;
        int end = th_lcp_block_end(block, v->reds);
        for (int k = block * TH_LCP_BLOCK; k < end; ++k) {
            w->ad[k] = v->inverse[k] > 0 ? th_lcp_row(s, w->d, k) : 0;
            sum += w->d[k] * w->ad[k];
        }
        w->sums[block] = sum;
    }
    return total(w->sums, blocks);
}

// Moves by `length` along d. Returns the largest |r| left.
static double advance(rounds *w, double length) {
    const th_lcp_system *s = w->s;
    int blocks = th_lcp_blocks(s->reds);
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int block = 0; block < blocks; ++block) {
        double largest = 0;
        int end = th_lcp_block_end(block, s->reds);
#pragma omp simd reduction(max : largest)
        for (int k = block * TH_LCP_BLOCK; k < end; ++k) {
            s->x[k] += length * w->d[k];
            double r = w->r[k] - length * w->ad[k];
            w->r[k] = r;
            w->v->r[k] = (float)r;
            largest = largest > fabs(r) ? largest : fabs(r);
        }
        w->sums[block] = largest;
    }
    return most(w->sums, blocks);
}

// Conjugate gradients for the red cells of the set. Returns the iterations.
static int correct(rounds *w, double reduction) {
    const th_lcp_system *s = w->s;
    double left = begin(w), before = 0;
    double target = th_lcp_larger(reduction * left, ROUND_TOLERANCE * s->tolerance);
    int i = 0;
    while (i < ITERATIONS_MOST && left > target) {
        double rz = precondition(w), curved = turn(w, i ? rz / before : 0);
        before = rz;
        if (!(curved > 0)) break;
        left = advance(w, rz / curved);
        ++i;
    }
    for (int k = 0; k < s->reds; ++k) s->x[k] = th_lcp_larger(s->x[k], 0);
    return i;
}

void th_lcp_multigrid(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    th_lcp_level *v = work->hierarchy->levels;
    rounds w = {
        s, work->hierarchy, v, work->vector[0], work->vector[1], work->vector[2], work->vector[3]};
    th_lcp_hierarchy_build(w.hierarchy, s);
    for (int k = 0; k <= s->count; ++k) v->inverse[k] = v->r[k] = 0;
    w.d[s->count] = 0;
    for (int round = 0;; ++round) {
        // With a start that is far off the set would grow by a cell per round.
        bool cascade = round == (work->far ? 0 : CASCADE_AT);
        if (cascade) th_lcp_hierarchy_cascade(w.hierarchy, s);
        settle_black(s);
        result->residual = look(&w);
        result->visits += s->count;
        if (result->residual <= s->tolerance || round == ROUNDS_MOST) return;
        bool red = settle(&w, 0, s->reds), black = settle(&w, s->reds, s->count);
        if (red || black || cascade) th_lcp_hierarchy_fill(w.hierarchy, s);
        int iterations = correct(&w, round < EXACT_FROM ? ROUND_REDUCTION : EXACT_REDUCTION);
        ++result->outer;
        result->iterations += iterations;
        result->visits += (3 * (int64_t)iterations + 2 + 8 * cascade) * s->count;
    }
}
