// The solvers of the pressure problem: against a dense solution on small random floors, against each other
// on crowds. Residuals are computed here from the problem as given, not taken from the solvers.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "support_lcp.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TH_SLOW_BUILD
enum { RANDOM_FLOORS = 40, CROWD = 80, MANY_CELLS = 140 };
#else
enum { RANDOM_FLOORS = 400, CROWD = 120, MANY_CELLS = 180 };
#endif

static const th_lcp_method *const METHODS[] = {&TH_LCP_MPRGP, &TH_LCP_POLICY, &TH_LCP_PSOR,
                                               &TH_LCP_MULTIGRID};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

#define MAX_DENSITY 5.4 // [1/m^2]
#define CELL 1.65       // [m]
#define STEP (1 / 30.0) // [s]

typedef struct floor_plan {
    int nx, ny, active_count;
    double *density, *velocity_x, *velocity_y,
        *exit; // exit: 1 where an open edge is beside the cell
    double *east, *north, *ground, *b, *p;
    unsigned char *open;
    int32_t *active;
} floor_plan;

static uint64_t random_state;
static double random_share(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static double *numbers(int count) {
    double *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

static floor_plan floor_make(int nx, int ny) {
    int n = nx * ny;
    floor_plan f = {.nx = nx, .ny = ny};
    double **arrays[] = {&f.density, &f.velocity_x, &f.velocity_y, &f.exit, &f.east,
                         &f.north,   &f.ground,     &f.b,          &f.p};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) *arrays[a] = numbers(n);
    f.open = calloc((size_t)n, 1);
    f.active = calloc((size_t)n, sizeof *f.active);
    assert_non_null(f.open);
    assert_non_null(f.active);
    return f;
}

static void floor_free(floor_plan *f) {
    double *arrays[] = {f->density, f->velocity_x, f->velocity_y, f->exit, f->east,
                        f->north,   f->ground,     f->b,          f->p};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; ++a) free(arrays[a]);
    free(f->open);
    free(f->active);
}

static th_lcp problem_of(const floor_plan *f, double tolerance, int threads) {
    return (th_lcp){f->nx, f->ny,     f->east,         f->north,  f->ground, f->b,
                    f->p,  f->active, f->active_count, tolerance, threads};
}

static th_lcp_work *work_of(th_arena *arena, const th_lcp_method *method, const floor_plan *f) {
    th_lcp_work *work = th_lcp_work_create_for(arena, method, f->nx * f->ny, f->nx * f->ny);
    assert_non_null(work);
    return work;
}

static th_lcp_result solve(const floor_plan *f, const th_lcp_method *method, double tolerance,
                           int threads) {
    th_arena arena = th_arena_of(NULL);
    th_lcp_work *work = work_of(&arena, method, f);
    th_lcp lcp = problem_of(f, tolerance, threads);
    th_lcp_result result = th_lcp_solve(&lcp, work);
    th_arena_release(&arena);
    return result;
}

static double diagonal_of(const floor_plan *f, int c) {
    return (f->east[c] + f->east[c - 1] + f->north[c] + f->north[c - f->nx] + f->ground[c]) *
           (1 + 1e-8);
}

static double slack_of(const floor_plan *f, int c) {
    const double *p = f->p;
    return diagonal_of(f, c) * p[c] - f->east[c] * p[c + 1] - f->east[c - 1] * p[c - 1] -
           f->north[c] * p[c + f->nx] - f->north[c - f->nx] * p[c - f->nx] + f->b[c];
}

static double residual_of(const floor_plan *f) {
    double residual = 0;
    for (int a = 0; a < f->active_count; ++a) {
        int c = f->active[a];
        assert_true(f->p[c] >= 0 && isfinite(f->p[c]));
        if (diagonal_of(f, c) == 0) {
            assert_true(f->p[c] == 0);
            continue;
        }
        residual = fmax(residual, fabs(fmin(diagonal_of(f, c) * f->p[c], slack_of(f, c))));
    }
    return residual;
}

static double largest(const double *p, int count) {
    double most = 0;
    for (int c = 0; c < count; ++c) most = fmax(most, fabs(p[c]));
    return most;
}

static double difference(const double *p, const double *q, int count) {
    double most = 0;
    for (int c = 0; c < count; ++c) most = fmax(most, fabs(p[c] - q[c]));
    return most;
}

// ---- small random floors against a dense solution

static floor_plan random_floor(void) {
    int nx = 3 + (int)(9 * random_share()), ny = 3 + (int)(9 * random_share());
    floor_plan f = floor_make(nx, ny);
    double walls = 0.6 * random_share(), exits = 0.2 * random_share(), people = random_share();
    for (int c = 0; c < nx * ny; ++c) {
        f.east[c] = random_share() < walls ? 0 : 0.05 * random_share();
        f.north[c] = random_share() < walls ? 0 : 0.05 * random_share();
        f.ground[c] = random_share() < exits ? 0.05 * random_share() : 0;
        f.b[c] = 2 * random_share() - people;
    }
    for (int j = 1; j < ny - 1; ++j) {
        for (int i = 1; i < nx - 1; ++i) {
            if (random_share() < 0.85) f.active[f.active_count++] = j * nx + i;
        }
    }
    return f;
}

// Gaussian elimination without pivoting of the rows of `set`, fine for this diagonally dominant matrix.
static void dense_solve(const floor_plan *f, const bool *set, double *p) {
    int n = f->active_count;
    double *a = numbers(n * n + 1), *r = numbers(n + 1);
    for (int k = 0; k < n; ++k) {
        int c = f->active[k];
        bool jammed = set[k] && diagonal_of(f, c) > 0;
        a[k * n + k] = jammed ? diagonal_of(f, c) : 1;
        r[k] = jammed ? -f->b[c] : 0;
        for (int l = 0; l < n && jammed; ++l) {
            int o = f->active[l];
            if (!set[l]) continue;
            if (o == c + 1) a[k * n + l] = -f->east[c];
            if (o == c - 1) a[k * n + l] = -f->east[o];
            if (o == c + f->nx) a[k * n + l] = -f->north[c];
            if (o == c - f->nx) a[k * n + l] = -f->north[o];
        }
    }
    for (int k = 0; k < n; ++k) {
        for (int l = k + 1; l < n; ++l) {
            double share = a[l * n + k] / a[k * n + k];
            for (int m = k; m < n && share != 0; ++m) a[l * n + m] -= share * a[k * n + m];
            r[l] -= share * r[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int m = k + 1; m < n; ++m) r[k] -= a[k * n + m] * r[m];
        r[k] /= a[k * n + k];
        p[f->active[k]] = r[k];
    }
    free(a);
    free(r);
}

// The solution, unique as A is positive definite, so it does not matter how it is found: it is checked.
static void dense_solution(floor_plan *f) {
    bool set[100] = {false};
    for (int round = 0; round < 100; ++round) {
        bool changed = false;
        memset(f->p, 0, (size_t)(f->nx * f->ny) * sizeof *f->p);
        dense_solve(f, set, f->p);
        for (int k = 0; k < f->active_count; ++k) {
            int c = f->active[k];
            bool jammed = set[k] ? f->p[c] > 0 : slack_of(f, c) < 0 && diagonal_of(f, c) > 0;
            changed |= jammed != set[k];
            set[k] = jammed;
        }
        if (!changed) break;
    }
    for (int k = 0; k < f->active_count; ++k) f->p[f->active[k]] = fmax(f->p[f->active[k]], 0);
    assert_true(residual_of(f) < 1e-6);
}

static void random_floors(void **state) {
    (void)state;
    random_state = 4711;
    for (int trial = 0; trial < RANDOM_FLOORS; ++trial) {
        floor_plan f = random_floor();
        int n = f.nx * f.ny;
        dense_solution(&f);
        double *exact = numbers(n), scale = largest(f.p, n);
        memcpy(exact, f.p, (size_t)n * sizeof *exact);
        for (int m = 0; m < METHOD_COUNT; ++m) {
            const th_lcp_method *method = METHODS[m];
            bool warm = trial & 1;
            for (int c = 0; c < n; ++c) f.p[c] = warm ? exact[c] * 2 * random_share() : 0;
            th_lcp_result result = solve(&f, method, 1e-9, 1);
            double residual = residual_of(&f);
            assert_true(result.converged == (result.residual <= 1e-9));
            // Closed rooms that are overfull have p of 1e8; there rounding is more than the tolerance,
            // and PSOR, which has no way to lift a whole room, runs into its limit.
            if (scale < 1e4) {
                assert_true(result.converged);
                assert_true(residual < 1e-6); // couplings are rounded to 6e-8
                assert_true(difference(f.p, exact, n) <= 1e-4 * scale);
            } else if (method == &TH_LCP_POLICY || method == &TH_LCP_MULTIGRID) {
                assert_true(residual < 1e-2);
                assert_true(difference(f.p, exact, n) <= 1e-4 * scale);
            }
        }
        free(exact);
        floor_free(&f);
    }
}

// ---- crowds

// b, couplings and active cells from density and velocity, as the card of the model has it.
static void assemble(floor_plan *f) {
    int nx = f->nx;
    f->active_count = 0;
    for (int j = 1; j < f->ny - 1; ++j) {
        for (int i = 1; i < nx - 1; ++i) {
            int c = j * nx + i, near[4] = {c - 1, c + 1, c - nx, c + nx};
            if (!f->open[c]) continue;
            double flow = 0, around = f->density[c];
            for (int d = 0; d < 4; ++d) {
                const double *v = d < 2 ? f->velocity_x : f->velocity_y;
                if (!f->open[near[d]]) continue;
                double r = 0.5 * (f->density[c] + f->density[near[d]]);
                flow += (d & 1 ? 1 : -1) * r * 0.5 * (v[c] + v[near[d]]);
                around += f->density[near[d]];
                if (d == 1) f->east[c] = STEP / (CELL * CELL) * r;
                if (d == 3) f->north[c] = STEP / (CELL * CELL) * r;
            }
            flow += f->exit[c] * f->density[c] * 1.3;
            f->ground[c] = f->exit[c] * STEP / (CELL * CELL) * f->density[c];
            f->b[c] = MAX_DENSITY - f->density[c] + STEP / CELL * flow;
            if (around > 0) f->active[f->active_count++] = c;
        }
    }
}

// Every agent walks to (x, y); people within `radius` cells of the middle.
static floor_plan crowd_to(int n, double x, double y, double radius, double fill) {
    floor_plan f = floor_make(n, n);
    for (int j = 1; j < n - 1; ++j) {
        for (int i = 1; i < n - 1; ++i) {
            int c = j * n + i;
            double dx = x - i - 0.5, dy = y - j - 0.5, distance = hypot(dx, dy) + 1e-9;
            f.open[c] = 1;
            if (hypot(i + 0.5 - n / 2.0, j + 0.5 - n / 2.0) < radius) {
                f.density[c] = MAX_DENSITY * fill * (1 - 0.02 * random_share());
            }
            f.velocity_x[c] = 1.4 * dx / distance;
            f.velocity_y[c] = 1.4 * dy / distance;
        }
    }
    return f;
}

static floor_plan disc(int n) { return crowd_to(n, n / 2.0, n / 2.0, 0.45 * n, 1.0); }

// A room with a door three cells wide in its east wall, and a wall with a gap across the way.
static floor_plan room(int n) {
    floor_plan f = crowd_to(n, n, n / 2.0, n, 0.99);
    for (int j = 1; j < n - 1; ++j) {
        if (abs(j - n / 2) < 2) f.exit[j * n + n - 2] = 1;
        if (abs(j - n / 3) > 3) f.open[j * n + 3 * n / 4] = 0;
    }
    return f;
}

// The crowd one step later: with p the density becomes the maximum minus the slack; plus noise.
static void walk(floor_plan *f) {
    double *next = numbers(f->nx * f->ny);
    for (int a = 0; a < f->active_count; ++a) {
        next[f->active[a]] = fmax(MAX_DENSITY - slack_of(f, f->active[a]), 0);
    }
    for (int a = 0; a < f->active_count; ++a) {
        f->density[f->active[a]] = next[f->active[a]] * (1 + 0.01 * (random_share() - 0.5));
    }
    free(next);
    assemble(f);
}

static void compare_solvers(floor_plan *f) {
    int n = f->nx * f->ny;
    double tolerance = TH_LCP_TOLERANCE * MAX_DENSITY;
    double *start = numbers(n), *reference = numbers(n);
    memcpy(start, f->p, (size_t)n * sizeof *start);
    assert_true(solve(f, &TH_LCP_MPRGP, 1e-4 * tolerance, 1).converged);
    memcpy(reference, f->p, (size_t)n * sizeof *reference);
    double scale = largest(reference, n);
    assert_true(scale > 1);
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        // PSOR leaves smooth errors, which a residual shows least.
        double fine = method == &TH_LCP_PSOR ? 0.05 * tolerance : tolerance;
        memcpy(f->p, start, (size_t)n * sizeof *start);
        th_lcp_result result = solve(f, method, fine, 2);
        assert_true(result.converged && result.residual <= fine);
        assert_true(residual_of(f) <= fine * 1.001);
        assert_true(difference(f->p, reference, n) <= 1e-3 * scale);
    }
    free(start);
    free(reference);
}

static void crowds(void **state) {
    (void)state;
    random_state = 99;
    floor_plan (*const plans[])(int) = {disc, room};
    const int widths[] = {40, CROWD};
    for (int k = 0; k < 4; ++k) {
        floor_plan f = plans[k / 2](widths[k % 2]);
        assemble(&f);
        compare_solvers(&f); // from nothing
        for (int step = 0; step < 5; ++step) {
            solve(&f, &TH_LCP_MULTIGRID, TH_LCP_TOLERANCE * MAX_DENSITY, 2);
            walk(&f);
        }
        compare_solvers(&f); // from the step before
        floor_free(&f);
    }
}

static void threads_change_no_bit(void **state) {
    (void)state;
    random_state = 7;
    floor_plan f =
        crowd_to(MANY_CELLS, MANY_CELLS / 2.0, MANY_CELLS / 2.0, 0.45 * MANY_CELLS, 1.02);
    int n = f.nx * f.ny;
    double *one = numbers(n);
    assemble(&f);
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        const int threads[] = {1, 2, 3, 8};
        th_lcp_result first = {0};
        if (method == &TH_LCP_MPRGP || method == &TH_LCP_POLICY) continue; // one thread
        for (int t = 0; t < 4; ++t) {
            memset(f.p, 0, (size_t)n * sizeof *f.p);
            th_lcp_result result = solve(&f, method, 5e-3 * MAX_DENSITY, threads[t]);
            if (t == 0) {
                memcpy(one, f.p, (size_t)n * sizeof *one);
                first = result;
            }
            assert_memory_equal(one, f.p, (size_t)n * sizeof *one);
            assert_int_equal(result.iterations, first.iterations);
            assert_true(result.residual == first.residual);
        }
        // More jammed cells than loops on one thread take, else this shows nothing.
        int jammed = 0;
        for (int c = 0; c < n; ++c) jammed += f.p[c] > 0;
        assert_true(jammed > 6000);
    }
    free(one);
    floor_free(&f);
}

static void warm_start(void **state) {
    (void)state;
    random_state = 3;
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        floor_plan f = disc(60);
        assemble(&f);
        th_arena arena = th_arena_of(NULL);
        th_lcp_work *work = work_of(&arena, method, &f);
        th_lcp lcp = problem_of(&f, TH_LCP_TOLERANCE * MAX_DENSITY, 1);
        int cold = th_lcp_solve(&lcp, work).iterations;
        assert_int_equal(th_lcp_solve(&lcp, work).iterations, 0); // solved already
        for (int a = 0; a < f.active_count; ++a) {
            f.b[f.active[a]] += 0.002 * MAX_DENSITY * (random_share() - 0.5);
        }
        th_lcp_result warm = th_lcp_solve(&lcp, work);
        assert_true(warm.converged && warm.iterations < cold);
        th_arena_release(&arena);
        floor_free(&f);
    }
}

// Everywhere above the maximum without an exit: p grows but stays finite, and the result says it did not converge.
static void closed_box(void **state) {
    (void)state;
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        floor_plan f = crowd_to(30, 15, 15, 30, 1.1);
        assemble(&f);
        th_lcp_result result = solve(&f, method, TH_LCP_TOLERANCE * MAX_DENSITY, 1);
        double residual = residual_of(&f); // asserts finite
        assert_true(isfinite(result.residual));
        assert_true(result.converged == (method != &TH_LCP_PSOR));
        if (result.converged) {
            assert_true(residual < 1e-2 * MAX_DENSITY);
            assert_true(largest(f.p, 900) > 1e5);
        }
        // And back: the crowd thins out, nothing of the huge pressure stays.
        for (int c = 0; c < 900; ++c) f.density[c] *= 0.5;
        assemble(&f);
        assert_true(solve(&f, method, TH_LCP_TOLERANCE * MAX_DENSITY, 1).converged);
        assert_true(largest(f.p, 900) == 0);
        floor_free(&f);
    }
}

// ---- cost, counted in cells visited

static int64_t visits_of(floor_plan f) {
    assemble(&f);
    th_lcp_result result = solve(&f, &TH_LCP_MULTIGRID, TH_LCP_TOLERANCE * MAX_DENSITY, 1);
    assert_true(result.converged);
    floor_free(&f);
    return result.visits;
}

static floor_plan small_crowd(int n, double thin) {
    floor_plan f = crowd_to(n, n / 2.0, n / 2.0, 15, 1.0);
    for (int c = 0; c < n * n; ++c) f.density[c] += f.open[c] * thin;
    return f;
}

static void cost(void **state) {
    (void)state;
    random_state = 17;
    int64_t alone = visits_of(small_crowd(40, 0));
    random_state = 17;
    assert_int_equal(visits_of(small_crowd(160, 0)), alone); // empty cells cost nothing
    random_state = 17;
    // People that are not jammed cost a few reads each.
    int64_t among = visits_of(small_crowd(160, 1e-3));
    assert_true(among < alone + 8 * 160 * 160);
    // Four and sixteen times the jam: about as many times the work.
    random_state = 17;
    int64_t one = visits_of(disc(50)), four = visits_of(disc(100)), sixteen = visits_of(disc(200));
    assert_true(four < 6 * one && sixteen < 6 * four);
}

// ---- edges

static void nothing_to_do(void **state) {
    (void)state;
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        floor_plan f = crowd_to(20, 10, 10, 20, 0.5);
        assemble(&f);
        for (int a = 0; a < f.active_count; ++a) f.p[f.active[a]] = 1;
        th_lcp_result result = solve(&f, method, 1e-4, 1);
        assert_true(result.converged && result.iterations == 0 && largest(f.p, 400) == 0);
        f.active_count = 0;
        assert_true(solve(&f, method, 1e-4, 1).converged);
        floor_free(&f);
        assert_true(strlen(method->name) > 0);
    }
}

// One cell far above the maximum in a large open crowd: its pressure goes far beyond the first margin.
static void spreads_far(void **state) {
    (void)state;
    random_state = 5;
    floor_plan f = crowd_to(60, 30, 30, 60, 0.999);
    for (int c = 0; c < 3600; ++c) f.velocity_x[c] = f.velocity_y[c] = 0;
    f.density[30 * 60 + 30] = 3 * MAX_DENSITY;
    assemble(&f);
    compare_solvers(&f);
    int jammed = 0;
    for (int c = 0; c < 3600; ++c) jammed += f.p[c] > 0;
    assert_true(jammed > 100);
    floor_free(&f);
}

static void bad_numbers(void **state) {
    (void)state;
    random_state = 11;
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        floor_plan f = disc(30);
        assemble(&f);
        int c = 15 * 30 + 15;
        f.b[c] = (double)NAN;
        f.b[c + 30] = -(double)INFINITY;
        f.p[c] = (double)NAN;
        f.p[c + 1] = -5;
        f.p[c + 2] = (double)INFINITY;
        for (int d = 0; d < 2; ++d) { // an island
            f.east[c + 8 - d] = f.north[c + 8 - 30 * d] = 0;
        }
        f.b[c + 8] = -1;
        th_lcp_result result = solve(&f, method, 1e-3, 1);
        assert_true(isfinite(result.residual));
        for (int k = 0; k < 900; ++k) assert_true(isfinite(f.p[k]) && f.p[k] >= 0);
        assert_true(f.p[c + 8] == 0);
        floor_free(&f);
    }
}

static void no_memory_is_told(void **state) {
    (void)state;
    floor_plan f = disc(30);
    assemble(&f);
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const th_lcp_method *method = METHODS[m];
        ledger books = {0};
        th_allocator allocator = {counted_alloc, counted_free, &books};
        th_arena arena = th_arena_of(&allocator);
        th_lcp_work *work = th_lcp_work_create_for(&arena, method, 900, f.active_count);
        assert_non_null(work);
        int64_t needed = books.allocations;
        th_lcp lcp = problem_of(&f, 1e-3, 1);
        assert_true(th_lcp_solve(&lcp, work).converged);
        assert_int_equal(books.allocations, needed); // solving allocates nothing
        --lcp.active_count;
        ++lcp.nx; // more cells than there is room for
        assert_false(th_lcp_solve(&lcp, work).converged);
        th_arena_release(&arena);
        assert_int_equal(books.bytes, 0);
        for (int64_t fail = 1; fail <= needed; ++fail) {
            books = (ledger){.fail_at = fail};
            assert_null(th_lcp_work_create_for(&arena, method, 900, f.active_count));
            th_arena_release(&arena);
            assert_int_equal(books.bytes, 0);
        }
        assert_null(th_lcp_work_create_for(&arena, method, -1, 1));
    }
    floor_free(&f);
}

// A full corridor, two cells wide, meets a closed door: in one step the pressure has a thousand cells to go.
static void long_strip(void **state) {
    (void)state;
    floor_plan f = floor_make(3000, 4);
    for (int j = 1; j < 3; ++j) {
        for (int i = 1; i < 2999; ++i) {
            f.open[j * 3000 + i] = 1;
            f.density[j * 3000 + i] = i > 2000 ? MAX_DENSITY : 0.3 * MAX_DENSITY;
            f.velocity_x[j * 3000 + i] = 1.4;
        }
    }
    assemble(&f);
    th_lcp_result result = solve(&f, &TH_LCP_MULTIGRID, TH_LCP_TOLERANCE * MAX_DENSITY, 1);
    assert_true(result.converged && result.outer < 30); // not a cell per round
    // A column of people pressed against the wall from behind: pressure grows linearly to the wall.
    double wall = f.p[3000 + 2998], half = f.p[3000 + 2500];
    assert_true(wall > 1000 && fabs(half / wall - 0.5) < 0.01);
    floor_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_floors),
        cmocka_unit_test(crowds),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(warm_start),
        cmocka_unit_test(closed_box),
        cmocka_unit_test(cost),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(spreads_far),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(long_strip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
