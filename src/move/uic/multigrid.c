// Active set with multigrid. Each round
//  1. settles which cells are jammed by a projected Gauss-Seidel sweep, red cells then black ones;
//  2. solves A p = -b on that set by conjugate gradients, to a tenth of the residual. Black cells couple
//     to red ones only: they are eliminated, which halves the vectors and the iterations. One V-cycle of
//     hierarchy.c is the preconditioner;
//  3. sets to 0 what became negative (truncation as in Graeser and Kornhuber 2009), and looks again.
// With a warm start the set is known but for its rim, and one or two rounds of two or three iterations do.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/lcp_inner.h"

enum { ROUNDS_MOST = 200, ITERATIONS_MOST = 60 };
// A round is solved to this share of its first residual, or of the tolerance; more would be wasted on a
// set that is about to change. If the sets do not settle, rounds become exact: then they must, in finitely
// many rounds (policy iteration with an M-matrix).
#define ROUND_REDUCTION 0.1 // measured: 0.03 and 0.3 take 10 % longer [1]
#define EXACT_REDUCTION 1e-4
#define ROUND_TOLERANCE 0.5
enum { EXACT_FROM = 20 };
enum { CASCADE_AT = 10 }; // round; running crowds are done by then, and their start is better

typedef struct rounds {
    const th_lcp_system *s;
    th_lcp_hierarchy *hierarchy;
    th_lcp_level *v; // its level 0
    double *r;       // minus the gradient in red jammed cells
    double *d, *ad;  // direction; A d in the red ones. Double: a closed room leaves 1e-8 of it
    double beta, length;
} rounds;

// Black pressures from the red ones: exact, z or p is 0 in each.
static double settle_black(const void *context, int from, int to) {
    const th_lcp_system *s = ((const rounds *)context)->s;
    for (int k = from; k < to; ++k) s->x[k] = th_lcp_fit(s, k);
    return 0;
}

// The residual, which then only red cells can have.
static double look(const void *context, int from, int to) {
    const th_lcp_system *s = ((const rounds *)context)->s;
    double residual = 0;
    for (int k = from; k < to; ++k) {
        double z = th_lcp_row(s, s->x, k) + s->b[k];
        residual = th_lcp_larger(residual, th_lcp_gap(s, k, z));
    }
    return residual;
}

// A projected half-sweep over one colour; notes which cells are jammed. Returns how many others than before.
static double settle(const void *context, int from, int to) {
    const rounds *w = context;
    const th_lcp_system *s = w->s;
    float *face = w->v->inverse;
    int changed = 0;
    for (int k = from; k < to; ++k) {
        s->x[k] = th_lcp_fit(s, k);
        float inverse = s->x[k] > 0 ? (float)(1 / s->diagonal[k]) : 0;
        changed += (inverse > 0) != (face[k] > 0);
        face[k] = inverse;
    }
    return changed;
}

// r = minus the gradient in the red cells of the set, x the first half-sweep of the V-cycle. Returns the
// largest |r|.
static double begin(const void *context, int from, int to) {
    const rounds *w = context;
    const th_lcp_system *s = w->s;
    double largest = 0;
    for (int k = from; k < to; ++k) {
        double r = w->v->inverse[k] > 0 ? -(th_lcp_row(s, s->x, k) + s->b[k]) : 0;
        w->r[k] = r;
        w->v->r[k] = (float)r;
        w->v->x[k] = (float)r * w->v->inverse[k];
        w->d[k] = 0;
        largest = th_lcp_larger(largest, fabs(r));
    }
    return largest;
}

// The last half-sweep of the V-cycle. Returns r'M^-1 r.
static double weigh(const void *context, int from, int to) {
    const rounds *w = context;
    const th_lcp_level *v = w->v;
    double sum = 0;
    for (int k = from; k < to; ++k) {
        v->x[k] = (v->r[k] + th_lcp_around_level(v, k)) * v->inverse[k];
        sum += w->r[k] * (double)v->x[k];
    }
    return sum;
}

static double turn(const void *context, int from, int to) {
    const rounds *w = context;
    for (int k = from; k < to; ++k) w->d[k] = (double)w->v->x[k] + w->beta * w->d[k];
    return 0;
}

// d of the black jammed cells so that A d = 0 there.
static double extend(const void *context, int from, int to) {
    const rounds *w = context;
    const th_lcp_system *s = w->s;
    for (int k = from; k < to; ++k) {
        w->d[k] = w->v->inverse[k] > 0 ? th_lcp_around(s, w->d, k) / s->diagonal[k] : 0;
    }
    return 0;
}

// ad = A d in the red cells. Returns d'Ad.
static double bend(const void *context, int from, int to) {
    const rounds *w = context;
    double sum = 0;
    for (int k = from; k < to; ++k) {
        w->ad[k] = w->v->inverse[k] > 0 ? th_lcp_row(w->s, w->d, k) : 0;
        sum += w->d[k] * w->ad[k];
    }
    return sum;
}

// Goes along d. Returns the largest |r| left.
static double advance(const void *context, int from, int to) {
    const rounds *w = context;
    double largest = 0, length = w->length;
    for (int k = from; k < to; ++k) {
        w->s->x[k] += length * w->d[k];
        double r = w->r[k] - length * w->ad[k];
        w->r[k] = r;
        w->v->r[k] = (float)r;
        w->v->x[k] = (float)r * w->v->inverse[k];
        largest = th_lcp_larger(largest, fabs(r));
    }
    return largest;
}

static double truncate(const void *context, int from, int to) {
    const th_lcp_system *s = ((const rounds *)context)->s;
    for (int k = from; k < to; ++k) s->x[k] = th_lcp_larger(s->x[k], 0);
    return 0;
}

// Conjugate gradients for the red cells of the set. Returns the iterations.
static int correct(rounds *w, double reduction) {
    const th_lcp_system *s = w->s;
    const th_lcp_team *team = &s->team;
    double left = th_lcp_most(team, begin, w, 0, s->reds), before = 0;
    double target = th_lcp_larger(reduction * left, ROUND_TOLERANCE * s->tolerance);
    int i = 0;
    for (; i < ITERATIONS_MOST && left > target; ++i) {
        th_lcp_hierarchy_cycle(w->hierarchy, team);
        double weight = th_lcp_sum(team, weigh, w, 0, s->reds);
        w->beta = i ? weight / before : 0;
        before = weight;
        th_lcp_sum(team, turn, w, 0, s->reds);
        th_lcp_sum(team, extend, w, s->reds, s->count);
        double bent = th_lcp_sum(team, bend, w, 0, s->reds);
        if (!(bent > 0)) break;
        w->length = weight / bent;
        left = th_lcp_most(team, advance, w, 0, s->reds);
    }
    th_lcp_sum(team, truncate, w, 0, s->reds);
    return i;
}

static void solve(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    th_lcp_level *v = work->hierarchy->levels;
    rounds w = {s, work->hierarchy, v, work->vector[0], work->vector[1], work->vector[2], 0, 0};
    th_lcp_hierarchy_build(w.hierarchy, s);
    for (int k = 0; k <= s->count; ++k) v->inverse[k] = v->r[k] = 0;
    w.d[s->count] = 0;
    for (int round = 0;; ++round) {
        // With a start that is far off the set would grow by a cell per round.
        bool cascade = round == (work->far ? 0 : CASCADE_AT);
        if (cascade) th_lcp_hierarchy_cascade(w.hierarchy, s);
        th_lcp_sum(&s->team, settle_black, &w, s->reds, s->count);
        result->residual = th_lcp_most(&s->team, look, &w, 0, s->reds);
        result->visits += s->count;
        if (result->residual <= s->tolerance || round == ROUNDS_MOST) return;
        double changed = th_lcp_sum(&s->team, settle, &w, 0, s->reds);
        changed += th_lcp_sum(&s->team, settle, &w, s->reds, s->count);
        if (changed > 0 || cascade) th_lcp_hierarchy_fill(w.hierarchy, s);
        int iterations = correct(&w, round < EXACT_FROM ? ROUND_REDUCTION : EXACT_REDUCTION);
        ++result->outer;
        result->iterations += iterations;
        result->visits += (3 * (int64_t)iterations + 2 + 8 * cascade) * s->count;
    }
}

const th_lcp_method TH_LCP_MULTIGRID = {
    .name = "multigrid", .solve = solve, .vectors = 3, .coloured = true, .hierarchy = true};
