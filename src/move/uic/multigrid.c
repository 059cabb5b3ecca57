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

typedef struct rounds {
    const th_lcp_system *s;
    th_lcp_hierarchy *hierarchy;
    th_lcp_level *v; // its level 0
    double *r;       // minus the gradient in red jammed cells
    double *d, *ad;  // direction; A d in the red ones. Double: a closed room leaves 1e-8 of it
    double beta, length;
} rounds;

// Black pressures from the red ones: exact, z or p is 0 in each.
static double fit_black(const void *context, int from, int to) {
    const th_lcp_system *s = ((const rounds *)context)->s;
    for (int k = from; k < to; ++k) s->x[k] = th_lcp_fit(s, k);
    return 0;
}

// The residual, which then only red cells can have.
static double residual_of(const void *context, int from, int to) {
    const th_lcp_system *s = ((const rounds *)context)->s;
    double residual = 0;
    for (int k = from; k < to; ++k) {
        double z = th_lcp_row(s, s->x, k) + s->b[k];
        residual = th_lcp_larger(residual, th_lcp_gap_of(s, k, z));
    }
    return residual;
}

// A projected half-sweep over one colour; notes which cells are jammed. Returns how many others than before.
static double choose_set(const void *context, int from, int to) {
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
static double precondition(const void *context, int from, int to) {
    const rounds *w = context;
    const th_lcp_level *v = w->v;
    double sum = 0;
    for (int k = from; k < to; ++k) {
        v->x[k] = (v->r[k] + th_lcp_around_level(v, k)) * v->inverse[k];
        sum += w->r[k] * (double)v->x[k];
    }
    return sum;
}

static double turn_direction(const void *context, int from, int to) {
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
static double apply(const void *context, int from, int to) {
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
    double target = th_lcp_target(reduction, left, s->tolerance);
    int i = 0;
    for (; i < ITERATIONS_MOST && left > target; ++i) {
        th_lcp_hierarchy_cycle(w->hierarchy, team);
        double weight = th_lcp_sum(team, precondition, w, 0, s->reds);
        w->beta = i ? weight / before : 0;
        before = weight;
        th_lcp_sum(team, turn_direction, w, 0, s->reds);
        th_lcp_sum(team, extend, w, s->reds, s->count);
        double curvature = th_lcp_sum(team, apply, w, 0, s->reds);
        if (!(curvature > 0)) break;
        w->length = weight / curvature;
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
        bool cascade = th_lcp_cascades(round, work->far);
        if (cascade) th_lcp_hierarchy_cascade(w.hierarchy, s);
        th_lcp_sum(&s->team, fit_black, &w, s->reds, s->count);
        result->residual = th_lcp_most(&s->team, residual_of, &w, 0, s->reds);
        result->visits += s->count;
        if (result->residual <= s->tolerance || round == ROUNDS_MOST) return;
        double changed = th_lcp_sum(&s->team, choose_set, &w, 0, s->reds);
        changed += th_lcp_sum(&s->team, choose_set, &w, s->reds, s->count);
        if (changed > 0 || cascade) th_lcp_hierarchy_fill(w.hierarchy, s);
        int iterations = correct(&w, th_lcp_reduction(round));
        ++result->outer;
        result->iterations += iterations;
        result->visits += (3 * (int64_t)iterations + 2 + 8 * cascade) * s->count;
    }
}

const th_lcp_method TH_LCP_MULTIGRID = {
    .name = "multigrid", .solve = solve, .vectors = 3, .coloured = true, .hierarchy = true};
