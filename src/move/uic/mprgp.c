// MPRGP, modified proportioning with reduced gradient projections (Dostal and Schoberl 2005), with MIC(0)
// in face: the solver the paper names, here the reference the others are compared with. One thread:
// incomplete Cholesky is a chain from cell to cell. Minimises 1/2 x'Ax + b'x over x >= 0.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/lcp_inner.h"
#include <float.h>
#include <math.h>

enum { ITERATIONS_MOST = 5000 };
#define PROPORTIONING 1.0 // Gamma, PERMON's default [1]
#define STEP_LENGTH 1.9   // abar times the norm of A, in (0, 2] [1]
#define MIC_TUNING 0.97   // share of the dropped fill that goes to the diagonal, Bridson [1]
#define MIC_SAFETY 0.25   // least pivot as a share of the diagonal, Bridson [1]

void th_mic_factor(const th_lcp_system *s, const double *free, double *q) {
    for (int k = 0; k < s->count; ++k) {
        if (!(free[k] > 0)) {
            q[k] = 0;
            continue;
        }
        const int32_t *near = s->near + TH_SIDES * (size_t)k;
        const float *coupling = s->coupling + TH_SIDES * (size_t)k;
        int w = near[TH_WEST], south = near[TH_SOUTH];
        double west = (double)coupling[TH_WEST] * q[w],
               below = (double)coupling[TH_SOUTH] * q[south];
        double fill = 0; // of neighbours off the face nothing is dropped
        if (west > 0 && free[s->near[TH_SIDES * (size_t)w + TH_NORTH]] > 0) {
            fill += west * q[w] * (double)s->coupling[TH_SIDES * (size_t)w + TH_NORTH];
        }
        if (below > 0 && free[s->near[TH_SIDES * (size_t)south + TH_EAST]] > 0) {
            fill += below * q[south] * (double)s->coupling[TH_SIDES * (size_t)south + TH_EAST];
        }
        double pivot = s->diagonal[k] - west * west - below * below - MIC_TUNING * fill;
        if (pivot < MIC_SAFETY * s->diagonal[k]) pivot = s->diagonal[k];
        q[k] = 1 / sqrt(pivot);
    }
    q[s->count] = 0;
}

void th_mic_apply(const th_lcp_system *s, const double *q, const double *r, double *z) {
    for (int k = 0; k < s->count; ++k) {
        const int32_t *near = s->near + TH_SIDES * (size_t)k;
        const float *coupling = s->coupling + TH_SIDES * (size_t)k;
        int w = near[TH_WEST], south = near[TH_SOUTH];
        double west = w < k ? (double)coupling[TH_WEST] * q[w] * z[w] : 0;
        double below = south < k ? (double)coupling[TH_SOUTH] * q[south] * z[south] : 0;
        z[k] = (r[k] + west + below) * q[k];
    }
    z[s->count] = 0;
    for (int k = s->count - 1; k >= 0; --k) {
        const int32_t *near = s->near + TH_SIDES * (size_t)k;
        const float *coupling = s->coupling + TH_SIDES * (size_t)k;
        z[k] = (z[k] + q[k] * ((double)coupling[TH_EAST] * z[near[TH_EAST]] +
                               (double)coupling[TH_NORTH] * z[near[TH_NORTH]])) *
               q[k];
    }
}

typedef struct mprgp {
    const th_lcp_system *s;
    double *x, *g;            // pressure and gradient A x + b
    double *p, *ap;           // direction and A times it
    double *z, *phi, *q;      // preconditioned free gradient, free gradient, MIC(0)
    double step;              // abar
    double beta2, proportion; // |chopped gradient|^2, reduced free gradient . free gradient
} mprgp;

static double dot(const mprgp *m, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < m->s->count; ++k) sum += a[k] * b[k];
    return sum;
}

static void multiply(const mprgp *m, const double *v, double *av) {
    for (int k = 0; k < m->s->count; ++k) av[k] = th_lcp_row(m->s, v, k);
}

static void gradient(mprgp *m) {
    for (int k = 0; k < m->s->count; ++k) m->g[k] = th_lcp_row(m->s, m->x, k) + m->s->b[k];
}

// Splits the gradient into its free, reduced free and chopped parts. Returns the residual.
static double split(mprgp *m) {
    double residual = 0;
    m->beta2 = m->proportion = 0;
    for (int k = 0; k < m->s->count; ++k) {
        double g = m->g[k], x = m->x[k];
        m->phi[k] = x > 0 ? g : 0;
        if (x > 0) {
            m->proportion += fmin(x / m->step, g) * g;
        } else if (g < 0) {
            m->beta2 += g * g;
        }
        residual = th_lcp_larger(residual, th_lcp_gap(m->s, k, g));
    }
    return residual;
}

// A new face: its preconditioner, and the direction starts again.
static void restart(mprgp *m) {
    th_mic_factor(m->s, m->x, m->q);
    th_mic_apply(m->s, m->q, m->phi, m->z);
    for (int k = 0; k < m->s->count; ++k) m->p[k] = m->z[k];
}

static void proportioning(mprgp *m) {
    for (int k = 0; k < m->s->count; ++k) m->p[k] = m->x[k] > 0 ? 0 : fmin(m->g[k], 0);
    multiply(m, m->p, m->ap);
    double a = dot(m, m->p, m->g) / dot(m, m->p, m->ap);
    for (int k = 0; k < m->s->count; ++k) {
        m->x[k] -= a * m->p[k];
        m->g[k] -= a * m->ap[k];
    }
}

static void expand(mprgp *m, double feasible) {
    for (int k = 0; k < m->s->count; ++k) {
        bool was_free = m->x[k] > 0;
        m->x[k] = th_lcp_larger(m->x[k] - feasible * m->p[k], 0);
        m->g[k] -= feasible * m->ap[k];
        if (was_free) m->x[k] = th_lcp_larger(m->x[k] - m->step * m->g[k], 0);
    }
    gradient(m);
}

// A step in the face: a conjugate gradient step, or where that would leave x >= 0 one to the boundary and
// a projected one from there. Returns whether the face stayed the same.
static bool step_in_face(mprgp *m) {
    multiply(m, m->p, m->ap);
    double pap = dot(m, m->p, m->ap);
    double length = dot(m, m->z, m->g) / pap, feasible = DBL_MAX;
    for (int k = 0; k < m->s->count; ++k) {
        if (m->p[k] > 0) feasible = fmin(feasible, m->x[k] / m->p[k]);
    }
    if (!(length <= feasible)) {
        expand(m, feasible < DBL_MAX ? feasible : 0);
        return false;
    }
    for (int k = 0; k < m->s->count; ++k) {
        m->x[k] -= length * m->p[k];
        m->g[k] -= length * m->ap[k];
        m->phi[k] = m->x[k] > 0 ? m->g[k] : 0;
    }
    th_mic_apply(m->s, m->q, m->phi, m->z);
    double conjugate = dot(m, m->z, m->ap) / pap;
    for (int k = 0; k < m->s->count; ++k) m->p[k] = m->z[k] - conjugate * m->p[k];
    return true;
}

void th_lcp_mprgp(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    double largest = DBL_MIN;
    for (int k = 0; k < s->count; ++k) largest = th_lcp_larger(largest, s->diagonal[k]);
    mprgp m = {.s = s,
               .x = s->x,
               .g = work->vector[0],
               .p = work->vector[1],
               .ap = work->vector[2],
               .z = work->vector[3],
               .phi = work->vector[4],
               .q = work->vector[5],
               .step = STEP_LENGTH / (2 * largest)};
    m.g[s->count] = m.p[s->count] = m.ap[s->count] = m.z[s->count] = m.phi[s->count] = 0;
    gradient(&m);
    bool fresh = true;
    double residual = split(&m);
    int i = 0;
    for (; i < ITERATIONS_MOST && residual > s->tolerance; ++i) {
        if (m.beta2 <= PROPORTIONING * PROPORTIONING * m.proportion) {
            if (fresh) restart(&m);
            fresh = !step_in_face(&m);
        } else {
            proportioning(&m);
            fresh = true;
        }
        if (fresh) ++result->outer;
        residual = split(&m);
        if (residual <= s->tolerance) { // the gradient was updated, not computed: make sure
            gradient(&m);
            residual = split(&m);
        }
        result->visits += s->count;
    }
    result->iterations += i;
    result->residual = residual;
}
