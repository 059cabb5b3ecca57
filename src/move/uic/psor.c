// Red-black projected successive over-relaxation: no sums, no hierarchy, every cell of a colour at once.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/lcp_inner.h"

enum { SWEEPS_MOST = 5000, LOOK_EVERY = 4 };

typedef struct sweeps {
    const th_lcp_system *s;
    double omega;
} sweeps;

static double relax(const void *context, int from, int to) {
    const sweeps *w = context;
    const th_lcp_system *s = w->s;
    for (int k = from; k < to; ++k) {
        double change = (th_lcp_around(s, s->x, k) - s->b[k]) / s->diagonal[k] - s->x[k];
        s->x[k] = th_lcp_larger(s->x[k] + w->omega * change, 0);
    }
    return 0;
}

static double gap(const void *context, int from, int to) {
    const th_lcp_system *s = ((const sweeps *)context)->s;
    double residual = 0;
    for (int k = from; k < to; ++k) {
        residual = th_lcp_larger(residual, th_lcp_gap(s, k, th_lcp_row(s, s->x, k) + s->b[k]));
    }
    return residual;
}

void th_lcp_psor(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    // 2/(1 + sin(1.4 pi/L)), L the width of a square that the cells would fill; 1.4 was measured [1].
    double angle = 1.4 * 3.14159265 / (2 + sqrt(s->count));
    sweeps w = {s, 2 / (1 + (angle < 0.6 ? angle : 0.6))};
    double residual = th_lcp_most(&s->team, gap, &w, 0, s->count);
    int done = 0;
    for (; done < SWEEPS_MOST && residual > s->tolerance; ++done) {
        th_lcp_sum(&s->team, relax, &w, 0, s->reds);
        th_lcp_sum(&s->team, relax, &w, s->reds, s->count);
        if (done % LOOK_EVERY == LOOK_EVERY - 1) {
            residual = th_lcp_most(&s->team, gap, &w, 0, s->count);
        }
    }
    result->residual = th_lcp_most(&s->team, gap, &w, 0, s->count);
    result->iterations += done;
    ++result->outer;
    result->visits += (int64_t)done * s->count;
}
