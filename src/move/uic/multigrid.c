// Active set with multigrid. Each round
//  1. settles which cells are jammed by a projected Gauss-Seidel sweep, red cells then black ones;
//  2. solves A p = -b on that set by conjugate gradients, to a tenth of the residual. Black cells couple
//     to red ones only: they are eliminated, which halves the vectors and the iterations. One V-cycle of
//     the hierarchy is the preconditioner;
//  3. sets to 0 what became negative (truncation as in Graeser and Kornhuber 2009), and looks again.
// With a warm start the set is known but for its rim, and one or two rounds of two or three iterations do. SPDX-License-Identifier: Apache-2.0
#include "move/uic/multigrid.h"

// ---- the hierarchy
// Multigrid for the pressure: cells joined 2 x 2 until one is left, values carried over as piecewise
// constants. A coarse coupling is half the sum of the fine ones across the same side (the distance doubles;
// so it is in streets one cell wide and in the open alike), the coupling with p = 0 a little less than
// their sum. Constants pass through unchanged, so the level of a closed room is right at once. Walls finer
// than a coarse cell are smeared there: conjugate gradients around the cycle make up for it.
// Red cells are those with i + j even, on every level the first and last of a block of four.

// Level 0 borrows its cells from the system and needs only values.
static void allocate_level(th_lcp_level *v, th_arena *arena, bool finest) {
    size_t n = (size_t)v->room + 1;
    v->inverse = th_arena_alloc(arena, n, sizeof *v->inverse);
    v->r = th_arena_alloc(arena, n, sizeof *v->r);
    v->x = th_arena_alloc(arena, n, sizeof *v->x);
    if (finest) return;
    v->mark = th_arena_alloc(arena, (size_t)v->mark_room, sizeof *v->mark);
    v->parent = th_arena_alloc(arena, (size_t)v[-1].room + 1, sizeof *v->parent);
    v->place = th_arena_alloc(arena, n, sizeof *v->place);
    v->number = th_arena_alloc(arena, n, sizeof *v->number);
    v->near = th_arena_alloc(arena, TH_SIDES * n, sizeof *v->near);
    v->child = th_arena_alloc(arena, TH_SIDES * n, sizeof *v->child);
    v->coupling = th_arena_alloc(arena, TH_SIDES * n, sizeof *v->coupling);
    v->ground = th_arena_alloc(arena, n, sizeof *v->ground);
}

th_lcp_hierarchy *th_lcp_hierarchy_create(th_arena *arena, int cells, int active) {
    th_lcp_hierarchy *hierarchy = th_arena_alloc(arena, 1, sizeof *hierarchy);
    for (int l = 0; hierarchy && l < TH_LCP_LEVELS; ++l) {
        th_lcp_level *v = &hierarchy->levels[l];
        // Half the grid is left even of a strip one cell wide. Connected floors keep at most half their
        // cells; one of scattered single cells may end early, where there is nothing to gain either.
        v->mark_room = l == 0 ? cells : v[-1].mark_room / 2 + 12;
        int cells_left = l == 0 ? active : v[-1].room / 3 * 2 + 64;
        v->room = cells_left < v->mark_room ? cells_left : v->mark_room;
        allocate_level(v, arena, l == 0);
    }
    return hierarchy;
}

// ---- cells of the levels ---------------------------------------------------------------------------

// Lists the blocks that hold a fine cell; parent is their place in the list. False: there is no room.
static bool find_blocks(th_lcp_level *v, const th_lcp_level *fine) {
    v->count = v->reds = 0;
    for (int a = 0; a < fine->count; ++a) {
        int32_t i = th_lcp_parent(fine->place[a].i), j = th_lcp_parent(fine->place[a].j);
        int32_t *mark = &v->mark[j * v->nx + i];
        if (!*mark) {
            if (v->count == v->room) break;
            v->place[v->count] = (th_lcp_place){i, j};
            v->reds += ~(i + j) & 1;
            *mark = ++v->count;
        }
        v->parent[fine->number[a]] = *mark - 1;
    }
    bool complete = v->count < v->room || v->count == fine->count;
    for (int a = 0; a < v->count && !complete; ++a) {
        v->mark[v->place[a].j * v->nx + v->place[a].i] = 0;
    }
    return complete;
}

// Two levels of the hierarchy; the system where that is the finer one.
typedef struct pair {
    const th_lcp_system *s;
    const th_lcp_level *fine;
    th_lcp_level *v;
} pair;

static double number_children(const void *context, int from, int to) {
    const th_lcp_level *fine = ((const pair *)context)->fine;
    th_lcp_level *v = ((const pair *)context)->v;
    for (int a = from; a < to; ++a) {
        int q = (~fine->place[a].i & 1) + 2 * (~fine->place[a].j & 1), k = fine->number[a];
        v->parent[k] = v->number[v->parent[k]];
        v->child[TH_SIDES * v->parent[k] + q] = k;
    }
    return 0;
}

static void number_blocks(const pair *of, const th_lcp_team *team) {
    th_lcp_level *v = of->v;
    int red = 0, black = v->reds;
    for (int a = 0; a < v->count; ++a) {
        v->number[a] = (v->place[a].i + v->place[a].j) & 1 ? black++ : red++;
        for (int q = 0; q < TH_SIDES; ++q) v->child[TH_SIDES * a + q] = of->fine->count;
    }
    th_lcp_sum(team, number_children, of, 0, of->fine->count);
    v->parent[of->fine->count] = v->count;
}

static double link_block(const void *context, int from, int to) {
    th_lcp_level *v = ((const pair *)context)->v;
    const int32_t step[TH_SIDES] = {-1, 1, -v->nx, v->nx};
    for (int a = from; a < to; ++a) {
        int32_t c = v->place[a].j * v->nx + v->place[a].i;
        for (int d = 0; d < TH_SIDES; ++d) {
            int32_t mark = v->mark[c + step[d]];
            v->near[TH_SIDES * v->number[a] + d] = mark ? v->number[mark - 1] : v->count;
        }
    }
    return 0;
}

static void link_blocks(const pair *of, const th_lcp_team *team) {
    th_lcp_level *v = of->v;
    th_lcp_sum(team, link_block, of, 0, v->count);
    for (int a = 0; a < v->count; ++a) v->mark[v->place[a].j * v->nx + v->place[a].i] = 0;
    for (int d = 0; d < TH_SIDES; ++d) {
        v->near[TH_SIDES * v->count + d] = v->count;
        v->coupling[TH_SIDES * v->count + d] = 0;
    }
    v->ground[v->count] = v->inverse[v->count] = v->r[v->count] = v->x[v->count] = 0;
}

// Finds the cells of all levels.
static void build_hierarchy(th_lcp_hierarchy *hierarchy, const th_lcp_system *s) {
    th_lcp_level *v = hierarchy->levels;
    v->nx = s->nx;
    v->ny = s->ny;
    v->count = s->count;
    v->reds = s->reds;
    v->place = s->place;
    v->number = s->number;
    v->near = s->near;
    v->coupling = s->coupling;
    v->inverse[v->count] = v->r[v->count] = v->x[v->count] = 0;
    hierarchy->used = 1;
    for (; hierarchy->used < TH_LCP_LEVELS && v->count > 1; ++hierarchy->used) {
        const th_lcp_level *fine = v++;
        // Cells 1, 2 become cell 1 and so on: the outermost ring stays empty.
        v->nx = th_lcp_coarser(fine->nx);
        v->ny = th_lcp_coarser(fine->ny);
        if ((int64_t)v->nx * v->ny > v->mark_room || !find_blocks(v, fine)) return;
        pair of = {s, fine, v};
        number_blocks(&of, &s->team);
        link_blocks(&of, &s->team);
    }
}

// ---- couplings -------------------------------------------------------------------------------------

// The children that look out of their block on each side.
static const int OUTER[TH_SIDES][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}};

static void finish_block(th_lcp_level *v, int k, const double *across, double ground) {
    th_lcp_coarse_cell cell = th_lcp_coarse_cell_of(across, ground);
    for (int d = 0; d < TH_SIDES; ++d) v->coupling[TH_SIDES * k + d] = cell.coupling[d];
    v->ground[k] = cell.ground;
    v->inverse[k] = cell.inverse;
}

// A block of cells of the system: only jammed ones count, beside the others p = 0 as beside an exit.
static void fill_block(const th_lcp_system *s, const float *face, th_lcp_level *v, int k) {
    double across[TH_SIDES] = {0}, ground = 0;
    for (int q = 0; q < TH_SIDES; ++q) {
        int c = v->child[TH_SIDES * k + q];
        if (!(face[c] > 0)) continue;
        double rest = s->diagonal[c];
        for (int d = 0; d < TH_SIDES; ++d) {
            bool jammed = face[s->near[TH_SIDES * c + d]] > 0;
            double coupling = jammed ? (double)s->coupling[TH_SIDES * c + d] : 0;
            rest -= coupling;
            if (q == OUTER[d][0] || q == OUTER[d][1]) across[d] += coupling;
        }
        ground += th_lcp_larger(rest, 0);
    }
    finish_block(v, k, across, ground);
}

static double fill_first(const void *context, int from, int to) {
    const pair *of = context;
    for (int k = from; k < to; ++k) fill_block(of->s, of->fine->inverse, of->v, k);
    return 0;
}

static double fill_next(const void *context, int from, int to) {
    const pair *of = context;
    const th_lcp_level *fine = of->fine;
    for (int k = from; k < to; ++k) {
        double across[TH_SIDES], ground = 0;
        const int32_t *child = of->v->child + TH_SIDES * (size_t)k;
        for (int q = 0; q < TH_SIDES; ++q) ground += (double)fine->ground[child[q]];
        for (int d = 0; d < TH_SIDES; ++d) {
            across[d] = (double)fine->coupling[TH_SIDES * child[OUTER[d][0]] + d] +
                        (double)fine->coupling[TH_SIDES * child[OUTER[d][1]] + d];
        }
        finish_block(of->v, k, across, ground);
    }
    return 0;
}

// Couplings among the jammed cells, those of level 0 with inverse > 0.
static void fill_hierarchy(th_lcp_hierarchy *hierarchy, const th_lcp_system *s) {
    for (int l = 1; l < hierarchy->used; ++l) {
        pair of = {s, &hierarchy->levels[l - 1], &hierarchy->levels[l]};
        th_lcp_sum(&s->team, l == 1 ? fill_first : fill_next, &of, 0, of.v->count);
    }
}

// ---- the V-cycle -----------------------------------------------------------------------------------

static double relax_block(const void *context, int from, int to) {
    const th_lcp_level *v = context;
    for (int k = from; k < to; ++k) v->x[k] = (v->r[k] + th_lcp_around_level(v, k)) * v->inverse[k];
    return 0;
}

static void relax_red(const th_lcp_level *v, const th_lcp_team *team) {
    th_lcp_sum(team, relax_block, v, 0, v->reds);
}

static void relax_black(const th_lcp_level *v, const th_lcp_team *team) {
    th_lcp_sum(team, relax_block, v, v->reds, v->count);
}

// After a red and a black half-sweep from 0 only red cells have a residual left: the pull of the black ones.
static float pull(const th_lcp_level *v, int k) {
    return v->inverse[k] > 0 ? th_lcp_around_level(v, k) : 0;
}

static double pass_down(const void *context, int from, int to) {
    const pair *of = context;
    for (int k = from; k < to; ++k) {
        const int32_t *child = of->v->child + TH_SIDES * (size_t)k;
        of->v->r[k] = pull(of->fine, child[0]) + pull(of->fine, child[TH_SIDES - 1]);
        of->v->x[k] = of->v->r[k] * of->v->inverse[k]; // red half-sweep; black cells come after
    }
    return 0;
}

// Passes values up to the red cells; the black ones follow from these.
static double pass_up(const void *context, int from, int to) {
    const pair *of = context;
    const th_lcp_level *fine = of->fine;
    for (int k = from; k < to; ++k) {
        fine->x[k] += fine->inverse[k] > 0 ? of->v->x[of->v->parent[k]] : 0;
    }
    return 0;
}

static void last_level(const th_lcp_level *v, const th_lcp_team *team) {
    // One cell is solved already; there are more only where there was no room for more levels.
    for (int sweep = 0; sweep < TH_LCP_LAST_SWEEPS && v->count > 1; ++sweep) {
        relax_red(v, team);
        relax_black(v, team);
    }
    for (int sweep = 0; sweep < TH_LCP_LAST_SWEEPS && v->count > 1; ++sweep) {
        relax_black(v, team);
        relax_red(v, team);
    }
}

// One V-cycle for x = M^-1 r on level 0 but for its first and its last half-sweep, which are the caller's:
// comes with x = r * inverse in the red cells, leaves them to become (r + around) * inverse. r = 0 in black
// cells; cells that are not jammed keep x = 0.
static void cycle(th_lcp_hierarchy *hierarchy, const th_lcp_team *team) {
    int last = hierarchy->used - 1;
    for (int l = 0; l <= last; ++l) {
        th_lcp_level *v = &hierarchy->levels[l];
        relax_black(v, team);
        pair of = {NULL, v, v + 1};
        if (l < last) th_lcp_sum(team, pass_down, &of, 0, v[1].count);
    }
    last_level(&hierarchy->levels[last], team);
    for (int l = last; l >= 0; --l) {
        th_lcp_level *v = &hierarchy->levels[l];
        pair of = {NULL, v, v + 1};
        if (l < last) th_lcp_sum(team, pass_up, &of, 0, v->reds);
        relax_black(v, team);
        if (l > 0) relax_red(v, team);
    }
}

// ---- from coarse to fine ---------------------------------------------------------------------------

static void sum_b(th_lcp_hierarchy *hierarchy, const th_lcp_system *s) {
    for (int l = 1; l < hierarchy->used; ++l) {
        th_lcp_level *v = &hierarchy->levels[l];
        for (int k = 0; k < v->count; ++k) {
            const int32_t *child = v->child + TH_SIDES * (size_t)k;
            double sum = 0;
            for (int q = 0; q < TH_SIDES; ++q) {
                sum += l == 1 ? s->b[child[q]] : (double)v[-1].r[child[q]];
            }
            v->r[k] = (float)sum;
        }
    }
}

static void relax_projected(const th_lcp_level *v, int from, int to) {
    for (int k = from; k < to; ++k) {
        float x = (th_lcp_around_level(v, k) - v->r[k]) * v->inverse[k];
        v->x[k] = x > 0 ? x : 0;
    }
}

// Raises x to a rough solution found from the coarsest level down: pressure that has far to go gets there at
// once and not by a cell per round. Leaves couplings for all cells; inverse is to be set anew.
static void cascade_hierarchy(th_lcp_hierarchy *hierarchy, const th_lcp_system *s) {
    if (hierarchy->used == 1) return;
    float *face = hierarchy->levels[0].inverse;
    for (int k = 0; k < s->count; ++k) face[k] = 1; // all of them; fill asks for no more
    fill_hierarchy(hierarchy, s);
    sum_b(hierarchy, s);
    for (int l = hierarchy->used - 1; l >= 1; --l) {
        th_lcp_level *v = &hierarchy->levels[l];
        bool last = l + 1 == hierarchy->used;
        for (int k = 0; k < v->count; ++k) v->x[k] = last ? 0 : v[1].x[v[1].parent[k]];
        for (int sweep = 0; sweep < TH_LCP_CASCADE_SWEEPS; ++sweep) {
            relax_projected(v, 0, v->reds);
            relax_projected(v, v->reds, v->count);
        }
    }
    const th_lcp_level *first = &hierarchy->levels[1];
    for (int k = 0; k < s->count; ++k) {
        s->x[k] = th_lcp_larger(s->x[k], (double)first->x[first->parent[k]]);
    }
}

// ---- the active set

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
        cycle(w->hierarchy, team);
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
    build_hierarchy(w.hierarchy, s);
    for (int k = 0; k <= s->count; ++k) v->inverse[k] = v->r[k] = 0;
    w.d[s->count] = 0;
    for (int round = 0;; ++round) {
        bool cascade = th_lcp_cascades(round, work->far);
        if (cascade) cascade_hierarchy(w.hierarchy, s);
        th_lcp_sum(&s->team, fit_black, &w, s->reds, s->count);
        result->residual = th_lcp_most(&s->team, residual_of, &w, 0, s->reds);
        result->visits += s->count;
        if (result->residual <= s->tolerance || round == ROUNDS_MOST) return;
        double changed = th_lcp_sum(&s->team, choose_set, &w, 0, s->reds);
        changed += th_lcp_sum(&s->team, choose_set, &w, s->reds, s->count);
        if (changed > 0 || cascade) fill_hierarchy(w.hierarchy, s);
        int iterations = correct(&w, th_lcp_reduction(round));
        ++result->outer;
        result->iterations += iterations;
        result->visits += (3 * (int64_t)iterations + 2 + 8 * cascade) * s->count;
    }
}

const th_lcp_method TH_LCP_MULTIGRID = {
    .name = "multigrid", .solve = solve, .vectors = 3, .coloured = true, .hierarchy = true};
