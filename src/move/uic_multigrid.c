// Active set with multigrid: the default. Each round
//  1. two projected Gauss-Seidel half-sweeps, red then black: settle which cells are jammed, in the black
//     ones exactly;
//  2. with the jammed set fixed, conjugate gradients for A p = -b on it. Black cells couple to red ones
//     only, so they are eliminated and the iteration runs on the red ones;
//  3. what became negative is set to 0 (as in the truncated monotone multigrid of Graeser and Kornhuber 2009).
// The preconditioner is one V-cycle over cells joined 2 x 2 by piecewise constants, one red-black sweep
// before, its mirror image after the coarse correction. A coarse coupling is half the sum of the fine ones:
// the distance doubles. Constants are kept exactly, so closed rooms converge too.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic_lcp_inner.h"
#include <math.h>

enum { LEVELS = 20, ROUNDS_MOST = 100, ITERATIONS_MOST = 60, LAST_SWEEPS = 8 };
// A round is solved to this share of its first residual, or of the tolerance [1].
#define ROUND_REDUCTION 0.1
#define ROUND_TOLERANCE 0.5
#define COARSE_COUPLING 0.5
#define COARSE_GROUND 1.0

typedef struct level {
    int nx, ny, room; // room: cells it can hold
    int count, reds;
    int32_t *mark; // grid: number + 1 while it is built, else 0
    th_lcp_place *place;
    int32_t *near,
        *child; // TH_SIDES per cell; child: number on the finer level, its count for none
    double *coupling, *ground, *inverse;
    double *r, *x;
    int mark_room;
} level;

struct th_lcp_multigrid {
    int used; // levels, the system itself not counted
    level levels[LEVELS];
    int32_t *parent[LEVELS]; // of cells of the system, of levels[0] and so on
    th_lcp_place *unordered;
    int32_t *visit;
    int fine_room;
};

static void level_free(const th_memory *memory, level *v) {
    size_t n = (size_t)v->room + 1, sides = n * TH_SIDES;
    th_free(memory, v->mark, (size_t)v->mark_room, sizeof *v->mark);
    th_free(memory, v->place, n, sizeof *v->place);
    th_free(memory, v->near, sides, sizeof *v->near);
    th_free(memory, v->child, sides, sizeof *v->child);
    th_free(memory, v->coupling, sides, sizeof *v->coupling);
    th_free(memory, v->ground, n, sizeof *v->ground);
    th_free(memory, v->inverse, n, sizeof *v->inverse);
    th_free(memory, v->r, n, sizeof *v->r);
    th_free(memory, v->x, n, sizeof *v->x);
}

static bool level_alloc(const th_memory *memory, level *v) {
    size_t n = (size_t)v->room + 1, sides = n * TH_SIDES;
    return (v->mark = th_alloc(memory, (size_t)v->mark_room, sizeof *v->mark)) &&
           (v->place = th_alloc(memory, n, sizeof *v->place)) &&
           (v->near = th_alloc(memory, sides, sizeof *v->near)) &&
           (v->child = th_alloc(memory, sides, sizeof *v->child)) &&
           (v->coupling = th_alloc(memory, sides, sizeof *v->coupling)) &&
           (v->ground = th_alloc(memory, n, sizeof *v->ground)) &&
           (v->inverse = th_alloc(memory, n, sizeof *v->inverse)) &&
           (v->r = th_alloc(memory, n, sizeof *v->r)) && (v->x = th_alloc(memory, n, sizeof *v->x));
}

void th_lcp_multigrid_destroy(const th_memory *memory, th_lcp_multigrid *m) {
    if (!m) return;
    int room = m->fine_room;
    for (int l = 0; l < LEVELS; ++l) {
        th_free(memory, m->parent[l], (size_t)room + 1, sizeof **m->parent);
        room = m->levels[l].room;
        level_free(memory, &m->levels[l]);
    }
    th_free(memory, m->unordered, (size_t)m->fine_room + 1, sizeof *m->unordered);
    th_free(memory, m->visit, (size_t)m->fine_room + 1, sizeof *m->visit);
    th_free(memory, m, 1, sizeof *m);
}

th_lcp_multigrid *th_lcp_multigrid_create(const th_memory *memory, int cells, int active) {
    th_lcp_multigrid *m = th_alloc(memory, 1, sizeof *m);
    if (!m) return NULL;
    m->fine_room = active;
    bool fine = (m->unordered = th_alloc(memory, (size_t)active + 1, sizeof *m->unordered)) &&
                (m->visit = th_alloc(memory, (size_t)active + 1, sizeof *m->visit));
    // A grid much longer than wide needs more than a quarter of the cells; its hierarchy ends early.
    double grid = cells;
    int room = active;
    for (int l = 0; l < LEVELS && fine; ++l) {
        level *v = &m->levels[l];
        grid = grid / 4 + 2 * sqrt(grid) + 9;
        if (grid > cells + 9.0) grid = cells + 9.0;
        v->mark_room = (int)grid;
        v->room = active < v->mark_room ? active : v->mark_room;
        fine = (m->parent[l] = th_alloc(memory, (size_t)room + 1, sizeof **m->parent)) &&
               level_alloc(memory, v);
        room = v->room;
    }
    if (!fine) {
        // parent[l] has the size of the level above, which is set even where its arrays are missing.
        th_lcp_multigrid_destroy(memory, m);
        return NULL;
    }
    return m;
}

// ---- the hierarchy ---------------------------------------------------------------------------------

// Joins cells 2 x 2: finds the coarse cells, colours them, links them with their children. False when
// they do not fit.
static bool join(th_lcp_multigrid *m, level *v, const th_lcp_place *fine, int fine_count,
                 int32_t *parent) {
    int found = 0, reds = 0;
    for (int k = 0; k < fine_count; ++k) {
        int32_t i = (fine[k].i + 1) >> 1, j = (fine[k].j + 1) >> 1;
        int32_t *mark = &v->mark[j * v->nx + i];
        if (!*mark) {
            if (found == v->room) return false;
            m->unordered[found] = (th_lcp_place){i, j};
            reds += ~(i + j) & 1;
            *mark = ++found;
        }
        parent[k] = *mark - 1;
    }
    v->count = found;
    v->reds = reds;
    int red = 0, black = reds;
    for (int u = 0; u < found; ++u) {
        th_lcp_place place = m->unordered[u];
        int k = (place.i + place.j) & 1 ? black++ : red++;
        v->place[k] = place;
        m->visit[u] = k;
        v->mark[place.j * v->nx + place.i] = k + 1;
        for (int q = 0; q < TH_SIDES; ++q) v->child[TH_SIDES * (size_t)k + (size_t)q] = fine_count;
    }
    for (int k = 0; k < fine_count; ++k) {
        int q = (~fine[k].i & 1 ? 1 : 0) + (~fine[k].j & 1 ? 2 : 0);
        parent[k] = m->visit[parent[k]];
        v->child[TH_SIDES * (size_t)parent[k] + (size_t)q] = k;
    }
    parent[fine_count] = found;
    return true;
}

static void link_level(level *v) {
    const int32_t step[TH_SIDES] = {-1, 1, -v->nx, v->nx};
    for (int k = 0; k < v->count; ++k) {
        int32_t c = v->place[k].j * v->nx + v->place[k].i;
        for (int d = 0; d < TH_SIDES; ++d) {
            int32_t mark = v->mark[c + step[d]];
            v->near[TH_SIDES * k + d] = mark ? mark - 1 : v->count;
        }
    }
    for (int k = 0; k < v->count; ++k) v->mark[v->place[k].j * v->nx + v->place[k].i] = 0;
    for (int d = 0; d < TH_SIDES; ++d) {
        v->near[TH_SIDES * v->count + d] = v->count;
        v->coupling[TH_SIDES * v->count + d] = 0;
    }
    v->ground[v->count] = v->inverse[v->count] = v->r[v->count] = v->x[v->count] = 0;
}

static void build(th_lcp_multigrid *m, const th_lcp_system *s) {
    const th_lcp_place *fine = s->place;
    int count = s->count, nx = s->nx, ny = s->ny;
    for (m->used = 0; m->used < LEVELS && count > 1; ++m->used) {
        level *v = &m->levels[m->used];
        v->nx = ((nx - 1) >> 1) + 2;
        v->ny = ((ny - 1) >> 1) + 2;
        if ((int64_t)v->nx * v->ny > v->mark_room || (v->nx == nx && v->ny == ny)) return;
        if (!join(m, v, fine, count, m->parent[m->used])) return;
        link_level(v);
        fine = v->place;
        count = v->count;
        nx = v->nx;
        ny = v->ny;
    }
}

// Which children look out of a 2 x 2 block on which side.
static const int OUTER[TH_SIDES][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}};

static void finish_cell(level *v, int k, const double *sum, double ground) {
    double diagonal = ground;
    for (int d = 0; d < TH_SIDES; ++d) {
        v->coupling[TH_SIDES * (size_t)k + (size_t)d] = COARSE_COUPLING * sum[d];
        diagonal += COARSE_COUPLING * sum[d];
    }
    v->ground[k] = ground;
    v->inverse[k] = diagonal > 0 ? 1 / diagonal : 0;
}

// The first coarse level from the jammed cells of the system, those with face > 0.
static void coarsen_system(const th_lcp_system *s, const double *face, level *v) {
#pragma omp parallel for num_threads(s->threads) if (s->count > TH_LCP_PARALLEL)
    for (int k = 0; k < v->count; ++k) {
        double sum[TH_SIDES] = {0}, ground = 0;
        const int32_t *child = v->child + TH_SIDES * (size_t)k;
        for (int q = 0; q < TH_SIDES; ++q) {
            int c = child[q];
            if (!(face[c] > 0)) continue;
            double rest = s->diagonal[c];
            for (int d = 0; d < TH_SIDES; ++d) {
                size_t at = TH_SIDES * (size_t)c + (size_t)d;
                if (!(face[s->near[at]] > 0)) continue;
                rest -= s->coupling[at];
                if (q == OUTER[d][0] || q == OUTER[d][1]) sum[d] += s->coupling[at];
            }
            ground += rest > 0 ? rest : 0;
        }
        finish_cell(v, k, sum, COARSE_GROUND * ground);
    }
}

static void coarsen(const level *fine, level *v, int threads) {
#pragma omp parallel for num_threads(threads) if (fine->count > TH_LCP_PARALLEL)
    for (int k = 0; k < v->count; ++k) {
        double sum[TH_SIDES] = {0}, ground = 0;
        const int32_t *child = v->child + TH_SIDES * (size_t)k;
        for (int q = 0; q < TH_SIDES; ++q) ground += fine->ground[child[q]];
        for (int d = 0; d < TH_SIDES; ++d) {
            sum[d] = fine->coupling[TH_SIDES * child[OUTER[d][0]] + d] +
                     fine->coupling[TH_SIDES * child[OUTER[d][1]] + d];
        }
        finish_cell(v, k, sum, COARSE_GROUND * ground);
    }
}

// ---- the V-cycle -----------------------------------------------------------------------------------

static double around(const int32_t *near, const double *coupling, const double *x, int k) {
    const int32_t *n = near + TH_SIDES * (size_t)k;
    const double *c = coupling + TH_SIDES * (size_t)k;
    return (c[TH_WEST] * x[n[TH_WEST]] + c[TH_EAST] * x[n[TH_EAST]]) +
           (c[TH_SOUTH] * x[n[TH_SOUTH]] + c[TH_NORTH] * x[n[TH_NORTH]]);
}

static void relax(const level *v, int from, int to, int threads) {
#pragma omp parallel for num_threads(threads) if (to - from > TH_LCP_PARALLEL)
    for (int k = from; k < to; ++k) {
        v->x[k] = (v->r[k] + around(v->near, v->coupling, v->x, k)) * v->inverse[k];
    }
}

// After a red and a black half-sweep only red cells have a residual left, the pull of the black ones.
// Their place in a block is at two corners.
static void restrict_level(const level *fine, const level *v, int threads) {
#pragma omp parallel for num_threads(threads) if (v->count > TH_LCP_PARALLEL)
    for (int k = 0; k < v->count; ++k) {
        int a = v->child[TH_SIDES * (size_t)k], b = v->child[TH_SIDES * (size_t)k + 3];
        v->r[k] = (fine->inverse[a] > 0 ? around(fine->near, fine->coupling, fine->x, a) : 0) +
                  (fine->inverse[b] > 0 ? around(fine->near, fine->coupling, fine->x, b) : 0);
    }
}

static void cycle(th_lcp_multigrid *m, int l, int threads) {
    level *v = &m->levels[l];
    for (int k = 0; k < v->reds; ++k) v->x[k] = v->r[k] * v->inverse[k];
    relax(v, v->reds, v->count, threads);
    if (l + 1 == m->used) {
        // One cell is solved already. More than one are left only where a grid is a long strip.
        for (int sweep = 0; sweep < LAST_SWEEPS && v->count > 1; ++sweep) {
            relax(v, 0, v->reds, threads);
            relax(v, v->reds, v->count, threads);
            relax(v, v->reds, v->count, threads);
            relax(v, 0, v->reds, threads);
        }
        return;
    }
    restrict_level(v, &m->levels[l + 1], threads);
    cycle(m, l + 1, threads);
    const double *coarse = m->levels[l + 1].x;
    const int32_t *parent = m->parent[l + 1];
    for (int k = 0; k < v->reds; ++k) v->x[k] += coarse[parent[k]];
    relax(v, v->reds, v->count, threads);
    relax(v, 0, v->reds, threads);
}

// ---- the rounds ------------------------------------------------------------------------------------

typedef struct rounds {
    th_lcp_multigrid *m;
    const th_lcp_system *s;
    double *face;   // 1 / diagonal in jammed cells, else 0
    double *r;      // red: minus the gradient, 0 off the set
    double *z;      // preconditioned
    double *d, *ad; // direction; A d in the red ones
    double *before; // red pressures before the correction
    double energy;
    bool changed; // the set, since the hierarchy was filled
} rounds;

static void project(const th_lcp_system *s, int from, int to) {
#pragma omp parallel for num_threads(s->threads) if (to - from > TH_LCP_PARALLEL)
    for (int k = from; k < to; ++k) {
        double x = (th_lcp_around(s, s->x, k) - s->b[k]) * s->inverse[k];
        s->x[k] = x > 0 ? x : 0;
    }
}

// After the black half-sweep: the residual (black cells have none), the gradient in the red ones, the
// energy 1/2 x'(z + b), and whether the jammed set is another one.
static double settle(rounds *w) {
    const th_lcp_system *s = w->s;
    double residual = 0, energy = 0;
    bool changed = false;
    for (int k = 0; k < s->reds; ++k) {
        double z = th_lcp_row(s, s->x, k) + s->b[k];
        bool jammed = s->x[k] > 0;
        double face = jammed ? s->inverse[k] : 0;
        changed |= face != w->face[k];
        w->face[k] = face;
        w->r[k] = jammed ? -z : 0;
        energy += s->x[k] * (z + s->b[k]);
        residual = fmax(residual, th_lcp_gap(s, k, z));
    }
    for (int k = s->reds; k < s->count; ++k) {
        double face = s->x[k] > 0 ? s->inverse[k] : 0;
        changed |= face != w->face[k];
        w->face[k] = face;
        energy += s->x[k] * s->b[k];
    }
    w->energy = 0.5 * energy;
    w->changed |= changed;
    return residual;
}

static void refill(rounds *w) {
    if (w->m->used == 0) return;
    coarsen_system(w->s, w->face, &w->m->levels[0]);
    for (int l = 1; l < w->m->used; ++l) {
        coarsen(&w->m->levels[l - 1], &w->m->levels[l], w->s->threads);
    }
    w->changed = false;
}

static void precondition_black(const rounds *w) {
    const th_lcp_system *s = w->s;
    for (int k = s->reds; k < s->count; ++k) w->z[k] = th_lcp_around(s, w->z, k) * w->face[k];
}

// z = V-cycle of r. Returns r'z.
static double precondition(rounds *w) {
    const th_lcp_system *s = w->s;
    for (int k = 0; k < s->reds; ++k) w->z[k] = w->r[k] * w->face[k];
    precondition_black(w);
    if (w->m->used > 0) {
        level *v = &w->m->levels[0];
        for (int k = 0; k < v->count; ++k) {
            int a = v->child[TH_SIDES * (size_t)k], b = v->child[TH_SIDES * (size_t)k + 3];
            v->r[k] = (w->face[a] > 0 ? th_lcp_around(s, w->z, a) : 0) +
                      (w->face[b] > 0 ? th_lcp_around(s, w->z, b) : 0);
        }
        cycle(w->m, 0, s->threads);
        for (int k = 0; k < s->reds; ++k) {
            w->z[k] += w->face[k] > 0 ? v->x[w->m->parent[0][k]] : 0;
        }
    }
    precondition_black(w);
    double rz = 0;
    for (int k = 0; k < s->reds; ++k) {
        w->z[k] = (w->r[k] + th_lcp_around(s, w->z, k)) * w->face[k];
        rz += w->r[k] * w->z[k];
    }
    return rz;
}

static double largest(const rounds *w) {
    double most = 0;
    for (int k = 0; k < w->s->reds; ++k) most = fmax(most, fabs(w->r[k]));
    return most;
}

static int correct(rounds *w, double target) {
    const th_lcp_system *s = w->s;
    double rz_before = 0;
    int i = 0;
    for (; i < ITERATIONS_MOST && largest(w) > target; ++i) {
        double rz = precondition(w);
        double beta = i ? rz / rz_before : 0;
        rz_before = rz;
        for (int k = 0; k < s->reds; ++k) w->d[k] = w->z[k] + beta * w->d[k];
        for (int k = s->reds; k < s->count; ++k) w->d[k] = th_lcp_around(s, w->d, k) * w->face[k];
        double dad = 0;
        for (int k = 0; k < s->reds; ++k) {
            w->ad[k] = w->face[k] > 0 ? th_lcp_row(s, w->d, k) : 0;
            dad += w->d[k] * w->ad[k];
        }
        if (!(dad > 0)) break;
        double length = rz / dad;
        for (int k = 0; k < s->reds; ++k) {
            s->x[k] += length * w->d[k];
            w->r[k] -= length * w->ad[k];
        }
    }
    return i;
}

void th_lcp_solve_multigrid(th_lcp_work *work, th_lcp_result *result) {
    const th_lcp_system *s = &work->system;
    rounds w = {.m = work->multigrid,
                .s = s,
                .face = work->vector[0],
                .r = work->vector[1],
                .z = work->vector[2],
                .d = work->vector[3],
                .ad = work->vector[4],
                .before = work->vector[5],
                .changed = true};
    w.face[s->count] = w.r[s->count] = w.z[s->count] = w.d[s->count] = 0;
    for (int k = 0; k < s->count; ++k) w.d[k] = 0;
    build(w.m, s);
    for (int round = 0;; ++round) {
        project(s, 0, s->reds);
        project(s, s->reds, s->count);
        double residual = settle(&w);
        result->residual = residual;
        if (residual <= s->tolerance || round == ROUNDS_MOST) break;
        if (w.changed) refill(&w);
        double target = fmax(ROUND_REDUCTION * largest(&w), ROUND_TOLERANCE * s->tolerance);
        int iterations = correct(&w, target);
        for (int k = 0; k < s->reds; ++k) s->x[k] = fmax(s->x[k], 0);
        project(s, s->reds, s->count);
        ++result->outer;
        result->iterations += iterations;
        result->visits += (int64_t)(iterations + 1) * s->count;
    }
}
