// From the grid to the cells that matter and back. Pressure spreads from cells that would be overfull
// (b < 0: these have p > 0 in every solution) and from those that had pressure before; the candidates are
// these and a margin around them. Where the solution presses against the edge of the candidates more are
// taken in, so that the margin decides the cost and not the result. SPDX-License-Identifier: Apache-2.0
#include "move/uic/multigrid.h"
#include <string.h>

// Rings of cells taken in around jammed ones. A front moves by less than a cell per step.
enum { MARGIN = 2, MARGIN_GROWN = 8, MARGIN_GROWTH = 4 };
enum { AHEAD = 24 }; // cells fetched ahead of their use, about a memory access [cells]

static void run_blocks(const th_lcp_team *team, th_lcp_body *body, const void *context, int from,
                       int to) {
    int blocks = th_lcp_blocks(to - from);
    if (team->threads > 1 && to - from > TH_LCP_PARALLEL) {
#pragma omp parallel for num_threads(team->threads) schedule(static)
        for (int block = 0; block < blocks; ++block) {
            int start = from + block * TH_LCP_BLOCK;
            int end = start + TH_LCP_BLOCK < to ? start + TH_LCP_BLOCK : to;
            team->partial[block] = body(context, start, end);
        }
        return;
    }
    for (int block = 0; block < blocks; ++block) {
        int start = from + block * TH_LCP_BLOCK;
        int end = start + TH_LCP_BLOCK < to ? start + TH_LCP_BLOCK : to;
        team->partial[block] = body(context, start, end);
    }
}

double th_lcp_sum(const th_lcp_team *team, th_lcp_body *body, const void *context, int from,
                  int to) {
    double sum = 0;
    run_blocks(team, body, context, from, to);
    for (int block = 0; block < th_lcp_blocks(to - from); ++block) sum += team->partial[block];
    return sum;
}

double th_lcp_most(const th_lcp_team *team, th_lcp_body *body, const void *context, int from,
                   int to) {
    double most = 0;
    run_blocks(team, body, context, from, to);
    for (int block = 0; block < th_lcp_blocks(to - from); ++block) {
        most = th_lcp_larger(most, team->partial[block]);
    }
    return most;
}

// Every array once; a refused one shows in arena->failed.
static void allocate(th_lcp_work *work, th_arena *arena) {
    th_lcp_system *s = &work->system;
    size_t n = (size_t)work->active + 1, blocks = (size_t)th_lcp_blocks(work->active) + 1;
    work->mark = th_arena_alloc(arena, (size_t)work->cells, sizeof *work->mark);
    work->queue = th_arena_alloc(arena, n, sizeof *work->queue);
    work->edge = th_arena_alloc(arena, n, sizeof *work->edge);
    work->found = th_arena_alloc(arena, blocks, sizeof *work->found);
    s->team.partial = th_arena_alloc(arena, blocks, sizeof *s->team.partial);
    s->number = th_arena_alloc(arena, n, sizeof *s->number);
    s->place = th_arena_alloc(arena, n, sizeof *s->place);
    s->near = th_arena_alloc(arena, TH_SIDES * n, sizeof *s->near);
    s->coupling = th_arena_alloc(arena, TH_SIDES * n, sizeof *s->coupling);
    s->diagonal = th_arena_alloc(arena, n, sizeof *s->diagonal);
    s->b = th_arena_alloc(arena, n, sizeof *s->b);
    s->x = th_arena_alloc(arena, n, sizeof *s->x);
    for (int v = 0; v < work->method->vectors; ++v)
        work->vector[v] = th_arena_alloc(arena, n, sizeof **work->vector);
    if (work->method->hierarchy)
        work->hierarchy = th_lcp_hierarchy_create(arena, work->cells, work->active);
}

th_lcp_work *th_lcp_work_create_for(th_arena *arena, const th_lcp_method *method, int cells,
                                    int active) {
    if (cells < 0 || active < 0) return NULL;
    th_lcp_work *work = th_arena_alloc(arena, 1, sizeof *work);
    if (!work) return NULL;
    work->method = method;
    work->cells = cells;
    work->active = active;
    allocate(work, arena);
    return arena->failed ? NULL : work;
}

th_lcp_work *th_lcp_work_create(th_arena *arena, int cells, int active) {
    return th_lcp_work_create_for(arena, &TH_LCP_MULTIGRID, cells, active);
}

// Marks of earlier solves must stay below the stamp. One solve uses up to 2 + active marks.
static void next_stamp(th_lcp_work *work) {
    int32_t step = work->active + 2;
    if (work->stamp > INT32_MAX / 2) {
        memset(work->mark, 0, (size_t)work->cells * sizeof *work->mark);
        work->stamp = 0;
    }
    work->stamp = work->stamp ? work->stamp + step : 1;
}

static bool overfull(const th_lcp *lcp) {
    for (int a = 0; a < lcp->active_count; ++a) {
        if (lcp->b[lcp->active[a]] < 0) return true;
    }
    return false;
}

typedef struct problem {
    const th_lcp *lcp;
    th_lcp_work *work;
} problem;

// Marks active cells and queues those that are jammed, or all of them for a method that asks for every cell; from
// the block's own start on. Returns how many have pressure.
static double queue_block(const void *context, int from, int to) {
    const problem *of = context;
    const th_lcp *lcp = of->lcp;
    th_lcp_work *work = of->work;
    int queued = 0, pressed = 0, last = lcp->active_count - 1;
    bool all = work->method->every_cell;
    for (int a = from; a < to; ++a) {
        int32_t c = lcp->active[a], later = lcp->active[a + AHEAD < last ? a + AHEAD : last];
        __builtin_prefetch(lcp->b + later);
        __builtin_prefetch(lcp->p + later, 1);
        __builtin_prefetch(work->mark + later, 1);
        double p = th_lcp_start(lcp->p[c]);
        lcp->p[c] = p;
        bool jammed = all || p > 0 || lcp->b[c] < 0;
        work->mark[c] = work->stamp + jammed;
        work->queue[from + queued] =
            c; // always written, kept only if jammed: no branch to mispredict
        queued += jammed;
        pressed += p > 0;
    }
    work->found[from / TH_LCP_BLOCK] = queued;
    return pressed;
}

// Moves up what each block has queued. Returns how many there are.
static int close_ranks(th_lcp_work *work, int listed) {
    int count = 0;
    for (int block = 0; block < th_lcp_blocks(listed); ++block) {
        size_t found = (size_t)work->found[block];
        const int32_t *from = work->queue + (size_t)block * TH_LCP_BLOCK;
        memmove(work->queue + count, from, found * sizeof *from);
        count += work->found[block];
    }
    return count;
}

// Takes in `rings` rings of active cells around queue[first..count). Returns the new count.
static int widen(const th_lcp *lcp, th_lcp_work *work, int first, int count, int rings) {
    const int32_t step[TH_SIDES] = {-1, 1, -lcp->nx, lcp->nx};
    for (int ring = 0; ring < rings && first < count; ++ring) {
        int end = count;
        for (; first < end; ++first) {
            for (int d = 0; d < TH_SIDES; ++d) {
                int32_t c = work->queue[first] + step[d];
                if (work->mark[c] != work->stamp) continue;
                work->mark[c] = work->stamp + 1;
                work->queue[count++] = c;
            }
        }
    }
    return count;
}

// Coupling of cell c with its four neighbours. Returns its diagonal.
static double couplings_of(const th_lcp *lcp, int32_t c, float *coupling) {
    coupling[TH_WEST] = (float)lcp->east[c - 1];
    coupling[TH_EAST] = (float)lcp->east[c];
    coupling[TH_SOUTH] = (float)lcp->north[c - lcp->nx];
    coupling[TH_NORTH] = (float)lcp->north[c];
    return th_lcp_diagonal(coupling[TH_WEST], coupling[TH_EAST], coupling[TH_SOUTH],
                           coupling[TH_NORTH], lcp->ground ? lcp->ground[c] : 0);
}

// Queues candidates row by row, from the block's own start on.
static double list_block(const void *context, int from, int to) {
    const problem *of = context;
    th_lcp_work *work = of->work;
    int listed = 0;
    for (int a = from; a < to; ++a) {
        int32_t c = of->lcp->active[a];
        work->queue[from + listed] = c;
        listed += work->mark[c] > work->stamp;
    }
    work->found[from / TH_LCP_BLOCK] = listed;
    return 0;
}

// Numbers the candidates row by row, with colours the even ones first.
static void number_candidates(const th_lcp *lcp, th_lcp_work *work) {
    th_lcp_system *s = &work->system;
    problem of = {lcp, work};
    th_lcp_sum(&s->team, list_block, &of, 0, lcp->active_count);
    s->count = close_ranks(work, lcp->active_count);
    s->nx = lcp->nx;
    s->ny = lcp->ny;
    int32_t row = 0, row_start = 0, odd = work->method->coloured, blacks = 0;
    for (int a = 0; a < s->count; ++a) {
        int32_t c = work->queue[a];
        for (; c - row_start >= lcp->nx; ++row) row_start += lcp->nx;
        s->place[a] = (th_lcp_place){c - row_start, row};
        blacks += (c - row_start + row) & odd;
    }
    s->reds = odd ? s->count - blacks : 0;
    int red = 0, black = s->reds;
    for (int a = 0; a < s->count; ++a) {
        bool first = odd && !((s->place[a].i + s->place[a].j) & 1);
        s->number[a] = first ? red++ : black++;
        work->mark[work->queue[a]] = work->stamp + 1 + s->number[a];
    }
}

// Row k of the problem. Couplings with cells that are no candidates stay in the diagonal: p = 0 there.
// Returns whether there is an active one among these.
static bool gather_cell(const th_lcp *lcp, th_lcp_work *work, int32_t c, int k) {
    th_lcp_system *s = &work->system;
    const int32_t step[TH_SIDES] = {-1, 1, -lcp->nx, lcp->nx};
    float *coupling = s->coupling + TH_SIDES * (size_t)k;
    int32_t *near = s->near + TH_SIDES * (size_t)k;
    double diagonal = couplings_of(lcp, c, coupling);
    bool isolated = !(diagonal > TH_LCP_NO_FLOW), edge = false;
    for (int d = 0; d < TH_SIDES; ++d) {
        int32_t mark = work->mark[c + step[d]];
        bool flow = coupling[d] > 0, inside = mark > work->stamp && flow;
        edge |= mark == work->stamp && flow;
        near[d] = inside ? mark - work->stamp - 1 : s->count;
        coupling[d] = inside ? coupling[d] : 0;
    }
    // An isolated cell has nothing to push against; with b = 0 it stays at 0.
    s->diagonal[k] = isolated ? 1 : diagonal;
    s->b[k] = isolated ? 0 : th_lcp_number(lcp->b[c]);
    s->x[k] = isolated ? 0 : lcp->p[c];
    return edge;
}

// Short runs of cells in many rows are nothing the processor foresees.
static void prefetch(const th_lcp *lcp, const th_lcp_work *work, int32_t c) {
    __builtin_prefetch(lcp->east + c);
    __builtin_prefetch(lcp->north + c);
    __builtin_prefetch(lcp->b + c);
    __builtin_prefetch(lcp->p + c);
    __builtin_prefetch(work->mark + c + lcp->nx);
}

static double gather_block(const void *context, int from, int to) {
    const problem *of = context;
    th_lcp_work *work = of->work;
    int edges = 0, last = work->system.count - 1;
    for (int a = from; a < to; ++a) {
        prefetch(of->lcp, work, work->queue[a + AHEAD < last ? a + AHEAD : last]);
        bool edge = gather_cell(of->lcp, work, work->queue[a], work->system.number[a]);
        if (edge) work->edge[from + edges++] = a;
    }
    work->found[from / TH_LCP_BLOCK] = edges;
    return 0;
}

static double scatter_block(const void *context, int from, int to) {
    const problem *of = context;
    const th_lcp_system *s = &of->work->system;
    for (int a = from; a < to; ++a) of->lcp->p[of->work->queue[a]] = s->x[s->number[a]];
    return 0;
}

static void gather(const th_lcp *lcp, th_lcp_work *work) {
    th_lcp_system *s = &work->system;
    problem of = {lcp, work};
    th_lcp_sum(&s->team, gather_block, &of, 0, s->count);
    s->diagonal[s->count] = 1;
    s->b[s->count] = s->x[s->count] = 0;
    for (int d = 0; d < TH_SIDES; ++d) {
        s->near[TH_SIDES * (size_t)s->count + (size_t)d] = s->count;
        s->coupling[TH_SIDES * (size_t)s->count + (size_t)d] = 0;
    }
}

// z of an active cell that is no candidate.
static double slack_beyond(const th_lcp *lcp, const th_lcp_work *work, int32_t c) {
    const int32_t step[TH_SIDES] = {-1, 1, -lcp->nx, lcp->nx};
    float coupling[TH_SIDES];
    double z = th_lcp_number(lcp->b[c]);
    couplings_of(lcp, c, coupling);
    for (int d = 0; d < TH_SIDES; ++d) {
        int32_t k = work->mark[c + step[d]] - work->stamp - 1;
        if (k >= 0 && k < work->system.count) z -= (double)coupling[d] * work->system.x[k];
    }
    return z;
}

// Queues the active cells beyond the edge that the solution makes overfull; takes them into the residual.
// Returns the new count.
static int queue_beyond(const th_lcp *lcp, th_lcp_work *work, double *residual) {
    const int32_t step[TH_SIDES] = {-1, 1, -lcp->nx, lcp->nx};
    const th_lcp_system *s = &work->system;
    int count = s->count;
    for (int block = 0; block < th_lcp_blocks(s->count); ++block) {
        for (int e = 0; e < work->found[block]; ++e) {
            int a = work->edge[block * TH_LCP_BLOCK + e];
            for (int d = 0; d < TH_SIDES && s->x[s->number[a]] > 0; ++d) {
                int32_t c = work->queue[a] + step[d];
                if (work->mark[c] != work->stamp) continue;
                double z = slack_beyond(lcp, work, c);
                if (!(z < 0)) continue;
                *residual = th_lcp_larger(*residual, -z);
                if (!(z < -s->tolerance)) continue;
                work->mark[c] = INT32_MAX; // a candidate without a number yet
                work->queue[count++] = c;
            }
        }
    }
    return count;
}

static void scatter(const th_lcp *lcp, th_lcp_work *work) {
    problem of = {lcp, work};
    th_lcp_sum(&work->system.team, scatter_block, &of, 0, work->system.count);
}

th_lcp_result th_lcp_solve(const th_lcp *lcp, th_lcp_work *work) {
    th_lcp_result result = {.converged = true, .visits = lcp->active_count};
    if (lcp->active_count > work->active || (int64_t)lcp->nx * lcp->ny > work->cells) {
        result.converged = false;
        return result;
    }
    if (!overfull(lcp)) {
        for (int a = 0; a < lcp->active_count; ++a) lcp->p[lcp->active[a]] = 0;
        return result;
    }
    next_stamp(work);
    work->system.tolerance = lcp->tolerance;
    work->system.team.threads = lcp->threads;
    problem of = {lcp, work};
    work->far = !(th_lcp_sum(&work->system.team, queue_block, &of, 0, lcp->active_count) > 0);
    int candidates = close_ranks(work, lcp->active_count);
    candidates = widen(lcp, work, 0, candidates, MARGIN);
    for (int rings = MARGIN_GROWN;; rings = rings < 1 << 20 ? MARGIN_GROWTH * rings : rings) {
        number_candidates(lcp, work);
        gather(lcp, work);
        result.visits += lcp->active_count + candidates;
        work->method->solve(work, &result);
        scatter(lcp, work);
        int more = queue_beyond(lcp, work, &result.residual);
        if (more == candidates) break;
        work->far |= rings > MARGIN_GROWN;
        candidates = widen(lcp, work, candidates, more, rings);
    }
    result.converged = result.residual <= lcp->tolerance;
    return result;
}
