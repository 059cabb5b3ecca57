// Other methods for the pressure problem, to compare the model's own with. None of them is in the library.
// SPDX-License-Identifier: Apache-2.0
#include "support_lcp.h"
#include <float.h>
#include <math.h>

// ---- MPRGP, modified proportioning with reduced gradient projections (Dostal and Schoberl 2005), with MIC(0) in face:
// the solver the paper names, here the reference the others are compared with. One thread: incomplete Cholesky is a
// chain from cell to cell. Minimises 1/2 x'Ax + b'x over x >= 0.

enum { MPRGP_ITERATIONS_MOST = 5000 };
#define PROPORTIONING 1.0 // Gamma, PERMON's default [1]
#define STEP_LENGTH 1.9   // abar times the norm of A, in (0, 2] [1]
#define MIC_TUNING 0.97   // share of the dropped fill that goes to the diagonal, Bridson [1]
#define MIC_SAFETY 0.25   // least pivot as a share of the diagonal, Bridson [1]

// Modified incomplete Cholesky of the rows and columns with free[k] > 0, MIC(0); q = 1/sqrt(pivot), 0 off the face.
// Row by row numbering.
static void mic_factor(const th_lcp_system *s, const double *free, double *q) {
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

// z = M^-1 r in the face; z may be r.
static void mic_apply(const th_lcp_system *s, const double *q, const double *r, double *z) {
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
        residual = th_lcp_larger(residual, th_lcp_gap_of(m->s, k, g));
    }
    return residual;
}

// A new face: its preconditioner, and the direction starts again.
static void restart(mprgp *m) {
    mic_factor(m->s, m->x, m->q);
    mic_apply(m->s, m->q, m->phi, m->z);
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
    mic_apply(m->s, m->q, m->phi, m->z);
    double conjugate = dot(m, m->z, m->ap) / pap;
    for (int k = 0; k < m->s->count; ++k) m->p[k] = m->z[k] - conjugate * m->p[k];
    return true;
}

static void solve_mprgp(th_lcp_work *work, th_lcp_result *result) {
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
    for (; i < MPRGP_ITERATIONS_MOST && residual > s->tolerance; ++i) {
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

// ---- Policy iteration, also called primal-dual active set (Hintermueller, Ito, Kunisch 2002; for this problem
// Lai et al. 2020): guess which cells are jammed, solve A p = -b among them with p = 0 elsewhere, drop those
// with p < 0, take in those with z < 0, repeat. For M-matrices the sets are final after finitely many rounds.
// The linear systems go by conjugate gradients with MIC(0), on one thread.

enum { POLICY_ROUNDS_MOST = 200, POLICY_ITERATIONS_MOST = 2000 };
// A round is solved to this share of its first residual, or of the tolerance [1].
#define ROUND_REDUCTION 0.05
#define ROUND_TOLERANCE 0.5

typedef struct policy {
    const th_lcp_system *s;
    double *face; // 1 in the set, else 0
    double *r, *z, *d, *ad, *q;
} policy;

// The gap of the present pressure, and into r minus the gradient on the set {p > 0 or z < 0}.
static double choose_set(policy *w) {
    const th_lcp_system *s = w->s;
    double residual = 0;
    for (int k = 0; k < s->count; ++k) {
        double z = th_lcp_row(s, s->x, k) + s->b[k];
        bool jammed = s->diagonal[k] * s->x[k] - z > 0;
        w->face[k] = jammed;
        w->r[k] = jammed ? -z : 0;
        residual = th_lcp_larger(residual, th_lcp_gap_of(s, k, z));
    }
    return residual;
}

static double largest_residual(const policy *w) {
    double most = 0;
    for (int k = 0; k < w->s->count; ++k) most = th_lcp_larger(most, fabs(w->r[k]));
    return most;
}

// Conjugate gradients in the face; adds the correction to x as it goes.
static int correct(policy *w, double target) {
    const th_lcp_system *s = w->s;
    mic_factor(s, w->face, w->q);
    double rz_before = 0;
    int i = 0;
    for (; i < POLICY_ITERATIONS_MOST && largest_residual(w) > target; ++i) {
        mic_apply(s, w->q, w->r, w->z);
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

static void solve_policy(th_lcp_work *work, th_lcp_result *result) {
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
    double residual = choose_set(&w);
    for (int round = 0; round < POLICY_ROUNDS_MOST && residual > s->tolerance; ++round) {
        double target =
            th_lcp_larger(ROUND_REDUCTION * largest_residual(&w), ROUND_TOLERANCE * s->tolerance);
        int iterations = correct(&w, target);
        for (int k = 0; k < s->count; ++k) s->x[k] = th_lcp_larger(w.face[k] * s->x[k], 0);
        residual = choose_set(&w);
        ++result->outer;
        result->iterations += iterations;
        result->visits += (int64_t)(iterations + 1) * s->count;
    }
    result->residual = residual;
}

// ---- Red-black projected successive over-relaxation: no sums, no hierarchy, every cell of a colour at once.

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
        residual = th_lcp_larger(residual, th_lcp_gap_of(s, k, th_lcp_row(s, s->x, k) + s->b[k]));
    }
    return residual;
}

static void solve_psor(th_lcp_work *work, th_lcp_result *result) {
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

const th_lcp_method TH_LCP_MPRGP = {
    .name = "mprgp", .solve = solve_mprgp, .vectors = 6, .every_cell = true};
const th_lcp_method TH_LCP_POLICY = {.name = "policy", .solve = solve_policy, .vectors = 6};
const th_lcp_method TH_LCP_PSOR = {.name = "psor", .solve = solve_psor, .coloured = true};
