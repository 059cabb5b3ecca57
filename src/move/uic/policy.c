// Policy iteration, also called primal-dual active set (Hintermueller, Ito, Kunisch 2002; for this problem
// Lai et al. 2020): guess which cells are jammed, solve A p = -b among them with p = 0 elsewhere, drop those
// with p < 0, take in those with z < 0, repeat. For M-matrices the sets settle in finitely many rounds.
// The linear systems go by conjugate gradients with MIC(0), on one thread. SPDX-License-Identifier: Apache-2.0
#include "move/uic/lcp_inner.h"
#include <math.h>

enum { ROUNDS_MOST = 200, ITERATIONS_MOST = 2000 };
// A round is solved to this share of its first residual, or of the tolerance [1].
#define ROUND_REDUCTION 0.05
#define ROUND_TOLERANCE 0.5

typedef struct policy {
    const th_lcp_system *s;
    double *face; // 1 in the set, else 0
    double *r, *z, *d, *ad, *q;
} policy;

// The gap of the present pressure, and into r minus the gradient on the set {p > 0 or z < 0}.
static double settle(policy *w) {
    const th_lcp_system *s = w->s;
    double residual = 0;
    for (int k = 0; k < s->count; ++k) {
        double z = th_lcp_row(s, s->x, k) + s->b[k];
        bool jammed = s->diagonal[k] * s->x[k] - z > 0;
        w->face[k] = jammed;
        w->r[k] = jammed ? -z : 0;
        residual = th_lcp_larger(residual, th_lcp_gap(s, k, z));
    }
    return residual;
}

static double largest(const policy *w) {
    double most = 0;
    for (int k = 0; k < w->s->count; ++k) most = th_lcp_larger(most, fabs(w->r[k]));
    return most;
}

// Conjugate gradients in the face; adds the correction to x as it goes.
static int correct(policy *w, double target) {
    const th_lcp_system *s = w->s;
    th_mic_factor(s, w->face, w->q);
    double rz_before = 0;
    int i = 0;
    for (; i < ITERATIONS_MOST && largest(w) > target; ++i) {
        th_mic_apply(s, w->q, w->r, w->z);
        double rz = 0;
        for (int k = 0; k < s->count; ++k) rz += w->r[k] * w->z[k];
        double beta = i ? rz / rz_before : 0;
        rz_before = rz;
        for (int k = 0; k < s->count; ++k) w->d[k] = w->z[k] + beta * w->d[k];
        double dad = 0;
        for (int k = 0; k < s->count; ++k) {
            w->ad[k] = w->face[k] * th_lcp_row(s, w->d, k);
            dad += w->d[k] * w->ad[k];
        }
        if (!(dad > 0)) break;
        double length = rz / dad;
        for (int k = 0; k < s->count; ++k) {
            s->x[k] += length * w->d[k];
            w->r[k] -= length * w->ad[k];
        }
    }
    return i;
}

void th_lcp_policy(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    policy w = {.s = s,
                .face = work->vector[0],
                .r = work->vector[1],
                .z = work->vector[2],
                .d = work->vector[3],
                .ad = work->vector[4],
                .q = work->vector[5]};
    w.face[s->count] = w.r[s->count] = w.z[s->count] = w.d[s->count] = 0;
    for (int k = 0; k < s->count; ++k) w.d[k] = 0;
    double residual = settle(&w);
    for (int round = 0; round < ROUNDS_MOST && residual > s->tolerance; ++round) {
        double target =
            th_lcp_larger(ROUND_REDUCTION * largest(&w), ROUND_TOLERANCE * s->tolerance);
        int iterations = correct(&w, target);
        for (int k = 0; k < s->count; ++k) s->x[k] = th_lcp_larger(w.face[k] * s->x[k], 0);
        residual = settle(&w);
        ++result->outer;
        result->iterations += iterations;
        result->visits += (int64_t)(iterations + 1) * s->count;
    }
    result->residual = residual;
}
