// Red-black projected successive over-relaxation: no sums, no hierarchy, every cell of a colour at once.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic_lcp_inner.h"
#include <math.h>

enum { SWEEPS_MOST = 5000, LOOK_EVERY = 4 };

static void relax(const th_lcp_system *s, int from, int to, double omega) {
#pragma omp parallel for num_threads(s->threads) if (to - from > TH_LCP_PARALLEL)
    for (int k = from; k < to; ++k) {
        double change = (th_lcp_around(s, s->x, k) - s->b[k]) / s->diagonal[k] - s->x[k];
        s->x[k] = th_lcp_larger(s->x[k] + omega * change, 0);
    }
}

static double gap(const th_lcp_system *s) {
    double residual = 0;
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL) \
    reduction(max                                                                \
              : residual)
    for (int k = 0; k < s->count; ++k) {
        residual = th_lcp_larger(residual, th_lcp_gap(s, k, th_lcp_row(s, s->x, k) + s->b[k]));
    }
    return residual;
}

void th_lcp_psor(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    // 2/(1 + sin(1.4 pi/L)), L the width of a square that the cells would fill; 1.4 was measured [1].
    double omega = 2 / (1 + fmin(1.4 * 3.14159265 / (2 + sqrt(s->count)), 0.6));
    double residual = gap(s);
    int sweeps = 0;
    for (; sweeps < SWEEPS_MOST && residual > s->tolerance; ++sweeps) {
        relax(s, 0, s->reds, omega);
        relax(s, s->reds, s->count, omega);
        if (sweeps % LOOK_EVERY == LOOK_EVERY - 1) residual = gap(s);
    }
    result->residual = gap(s);
    result->iterations += sweeps;
    ++result->outer;
    result->visits += (int64_t)sweeps * s->count;
}
