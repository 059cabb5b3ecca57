// The model uic on a device, part by part against the CPU: the solver on random floors, sums over people and the
// pair step, one step from the same jammed state, memory and views, and that two runs give the same
// bits. The solver's own sums go in another order on a GPU, so whole runs of jammed crowds are compared by what
// they do. Built as tests/test_device.c is. SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "move/uic/lcp.h"

#ifdef TH_SLOW_BUILD
enum { FLOORS = 20, WALK = 40, JAM = 160, CIRCLE = 40 };
#else
enum { FLOORS = 150, WALK = 90, JAM = 240, CIRCLE = 150 };
#endif

// ---- the solver

static uint64_t random_state;
static double random_share(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

typedef struct problem {
    th_lcp lcp;
    double *east, *north, *ground, *b, *p;
    int32_t *active;
} problem;

static double *numbers(int count) {
    double *values = calloc((size_t)count, sizeof *values);
    assert_non_null(values);
    return values;
}

// A floor with walls, gaps without people, exits, and clumps of people that push towards a place. Couplings are
// those of a crowd with cells of 2 m and a step of 0.1 s, packings a share of the maximum.
static problem random_floor(void) {
    int nx = 3 + (int)(random_share() * 90.0), ny = 3 + (int)(random_share() * 70.0), n = nx * ny;
    problem f = {.east = numbers(n),
                 .north = numbers(n),
                 .ground = numbers(n),
                 .b = numbers(n),
                 .p = numbers(n)};
    f.active = calloc((size_t)n, sizeof *f.active);
    assert_non_null(f.active);
    double walls = 0.3 * random_share(), gaps = 0.3 * random_share(), fill = 0.3 * random_share();
    double x = random_share() * nx, y = random_share() * ny;
    int count = 0;
    for (int j = 1; j < ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i) {
            int c = j * nx + i;
            f.east[c] = i < nx - 2 && random_share() > walls ? 0.025 * (0.2 + random_share()) : 0.0;
            f.north[c] =
                j < ny - 2 && random_share() > walls ? 0.025 * (0.2 + random_share()) : 0.0;
            // Everywhere a little, as at a wide exit: a closed and overfull room has no finite solution.
            f.ground[c] = 1e-4 + (random_share() < 0.02 ? 0.02 : 0.0);
            double near = exp(-((i - x) * (i - x) + (j - y) * (j - y)) / 50.0);
            f.b[c] = 0.2 * (random_share() - 0.5) + 0.1 - fill - 0.4 * near;
            if (random_share() > gaps) f.active[count++] = c;
        }
    f.lcp = (th_lcp){nx, ny, f.east, f.north, f.ground, f.b, f.p, f.active, count, 1e-9, 1};
    return f;
}
static void floor_end(problem *f) {
    free(f->east);
    free(f->north);
    free(f->ground);
    free(f->b);
    free(f->p);
    free(f->active);
}

static double residual_of(const problem *f, const double *p) {
    double most = 0.0;
    int nx = f->lcp.nx;
    for (int a = 0; a < f->lcp.active_count; ++a) {
        int c = f->active[a];
        double diagonal =
            (f->east[c] + f->east[c - 1] + f->north[c] + f->north[c - nx] + f->ground[c]) *
            (1.0 + 1e-8);
        double z = diagonal * p[c] - f->east[c] * p[c + 1] - f->east[c - 1] * p[c - 1] -
                   f->north[c] * p[c + nx] - f->north[c - nx] * p[c - nx] + f->b[c];
        assert_true(p[c] >= 0.0 && isfinite(p[c]));
        most = fmax(most, fabs(fmin(diagonal * p[c], z)));
    }
    return most;
}

// Tolerance of a running crowd, cold and warm, against the CPU's solution to 1e-9.
static void solver_on_random_floors(void **state) {
    (void)state;
    random_state = 88172645463325252u;
    for (int k = 0; k < FLOORS; ++k) {
        problem f = random_floor();
        int n = f.lcp.nx * f.lcp.ny;
        th_arena arena = th_arena_of(NULL);
        th_lcp_work *work = th_lcp_work_create(&arena, n, n);
        assert_non_null(work);
        th_lcp_result exact = th_lcp_solve(&f.lcp, work), found;
        th_arena_release(&arena);
        assert_true(exact.converged);
        double *p = numbers(n), most = 0.0, apart = 0.0;
        th_lcp lcp = f.lcp;
        lcp.p = p;
        lcp.tolerance = TH_LCP_TOLERANCE;
        for (int warm = 0; warm < 2; ++warm) {
            for (int c = 0; c < n && warm; ++c) p[c] = f.p[c] * (0.9 + 0.2 * random_share());
            if (!th_device_pressure(&lcp, &found)) {
                assert_false(device_is_required());
                skip();
            }
            assert_true(found.converged);
            assert_true(residual_of(&f, p) <=
                        1.01 * lcp.tolerance); // couplings are rounded to float
            for (int c = 0; c < n; ++c) {
                most = fmax(most, f.p[c]);
                apart = fmax(apart, fabs(p[c] - f.p[c]));
            }
            if (apart > 1e-3 * most + 1e-3) fail_msg("floor %d: %g of %g", k, apart, most);
        }
        free(p);
        floor_end(&f);
    }
}

// ---- sums over people, the way, the pair step: where the pressure is not in play

// Unequal sizes, another model, people that lie, a scripted person and a body that takes up area.
static const char mixed[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 30, 12]},
        "walls": [[[12.3, 3], [12.3, 9]]]}],
    "exits": [{"id": "out", "line": [[30, 3], [30, 9]]}],
    "groups": [{"id": "a", "count": 60, "area": {"rect": [1, 1, 11, 11]}, "to": "out",
        "radius": {"uniform": [0.15, 0.3]}, "move": {"model": "uic", "keep_side": 0.3, "lanes": 1}},
        {"id": "b", "count": 30, "area": {"rect": [14, 1, 22, 11]}, "to": "out",
        "move": "orca"},
        {"id": "c", "count": 12, "area": {"rect": [2, 1, 14, 11]}, "to": "out",
        "move": {"model": "hidac", "lies": 1}}],
    "scripted": [{"id": "guard", "radius": 0.25, "path": [[0, 2, 5], [15, 11, 5]]},
        {"id": "cart", "shape": {"rect": [-1, -0.6, 1, 0.6]},
        "path": [[0, 27, 2], [25, 5, 2]]}],
    "run": {"step": 0.05}});

// Two levels, a door that shuts, stepping aside.
static const char floors[] = TH_JSON(
    {"levels": [{"id": "low", "walkable": {"rect": [0, 0, 12, 10]}}, {"id": "high",
        "z": 3, "walkable": {"rect": [18, 0, 34, 10]}}],
    "stairs": [{"id": "s", "level": "low", "to": "high",
        "area": {"rect": [12, 4, 18, 7]}, "top": [[18, 4], [18, 7]]}],
    "exits": [{"id": "out", "level": "low", "line": [[0, 3], [0, 7]]}],
    "doors": [{"id": "d", "level": "low", "line": [[8, 0], [8, 10]],
        "schedule": [ {"time": 1, "open": false}, {"time": 3, "open": true}]}],
    "groups": [{"id": "p", "level": "high", "count": 50,
        "area": {"rect": [19, 0.5, 26, 9.5]}, "to": "out", "move": {"model": "uic",
        "keep_side": 0.2, "lanes": 2}}],
    "run": {"step": 0.05}});

static void parts_agree(void **state) {
    (void)state;
    static const char *const scenes[] = {
        // Walls, exits, deep overlaps: people of both sides of a wall, the pair step alone.
        "scenes/uic/doorway_no_pressure.json",
        // Room enough: splat, blend and pairs without pressure.
        "scenes/uic/building.json",
        "scenes/uic/crossing_120.json",
        mixed,
        floors,
    };
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        pair p = pair_of(scenes[k]);
        walk_together(p, WALK, 1, UIC_STEP, "uic");
        pair_end(p);
    }
}

// ---- one step from the same jammed state

static double largest_difference(th_world *a, th_world *b, th_grid_kind kind, double *most) {
    th_grid x, y;
    assert_true(th_world_map_grid(a, kind, 0, &x));
    assert_true(th_world_map_grid(b, kind, 0, &y));
    assert_true(x.nx == y.nx && x.ny == y.ny && x.cell == y.cell);
    double apart = 0.0;
    *most = 0.0;
    for (int c = 0; c < x.nx * x.ny; ++c) {
        apart = fmax(apart, fabs((double)x.values[c] - (double)y.values[c]));
        *most = fmax(*most, fabs((double)x.values[c]));
    }
    return apart;
}

static void one_step_from_a_jam(void **state) {
    (void)state;
    pair p = pair_of("scenes/uic/doorway.json");
    double most;
    th_world_step(p.cpu, JAM);
    copy_state(p.cpu, p.device);
    assert_true(th_world_hash(p.cpu) == th_world_hash(p.device));
    th_world_step(p.cpu, 1);
    th_world_step(p.device, 1);
    double rounding = device_is_exact() ? 0.0 : 1e-5; // of sums of weights, each off by 1e-6
    assert_true(largest_difference(p.cpu, p.device, TH_GRID_PACKING, &most) <= rounding * most);
    assert_true(most > 0.9);
    assert_true(largest_difference(p.cpu, p.device, TH_GRID_DENSITY, &most) <= rounding * most);
    double apart = largest_difference(p.cpu, p.device, TH_GRID_PRESSURE, &most);
    assert_true(most > 0.5);
    if (apart > 1e-3 * most) fail_msg("pressures are %g of %g apart", apart, most);
    const float *x = th_world_map(p.cpu, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(p.device, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    float moved = 0.0f;
    for (int i = 0; i < th_world_agent_count(p.cpu); ++i) moved = fmaxf(moved, fabsf(x[i] - y[i]));
    assert_true(moved < 1e-3f); // [m] a step is 5 cm
    th_world_unmap(p.cpu, TH_FIELD_POSITION_X);
    th_world_unmap(p.device, TH_FIELD_POSITION_X);
    pair_end(p);
}

// ---- memory, live changes, open planes

static const char room[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
    "doors": [{"id": "d", "line": [[14, 0], [14, 10]], "schedule": [{"time": 1, "open": false},
        {"time": 2, "open": true}]}],
    "exits": [{"id": "out", "line": [[20, 4], [20, 6]]}],
    "groups": [{"count": 300, "area": {"rect": [1, 1, 12, 9]}, "to": "out", "move": "uic"}],
    "run": {"step": 0.05, "duration": 60}});

// On an open plane, whose grid follows them.
static const char plane[] =
    TH_JSON(
        {"groups": [{"count": 300, "area": {"rect": [-9, -9, 9, 9]},
            "own_goal": {"opposite": [0, 0]}, "move": "uic"}],
        "run": {"step": 0.05, "duration": 60}});

static uint64_t run_with_changes(th_world *world) {
    th_error error;
    th_world_step(world, 30); // the room's door is shut
    assert_int_equal(
        th_world_add_wall(world, 0, (th_vec2){6.0f, 2.0f}, (th_vec2){6.0f, 8.0f}, NULL, &error),
        TH_OK);
    assert_int_equal(th_world_set_param(world, 0, "separation_passes", 3.0, &error), TH_OK);
    th_world_step(world, 122);
    return th_world_hash(world);
}

// Two runs, and one that goes on from a snapshot of the first.
static void runs_repeat(void **state) {
    (void)state;
    static const char *const scenes[] = {room, plane};
    for (int k = 0; k < 2; ++k) {
        th_scene *scene = device_scene(scenes[k]);
        th_world *first = device_world(scene, TH_BACKEND_CUDA),
                 *second = device_world(scene, TH_BACKEND_CUDA);
        assert_true(run_with_changes(first) == run_with_changes(second));
        assert_int_equal(th_world_statistics(first).wall_crossings, 0);
        th_world_destroy(second);
        second = device_world(scene, TH_BACKEND_CUDA);
        copy_state(first, second);
        uint64_t before = th_world_hash(first);
        th_world_step(first, 30);
        th_world_step(second, 30);
        assert_true(th_world_hash(first) != before);
        assert_true(th_world_hash(first) == th_world_hash(second));
        th_world_destroy(first);
        th_world_destroy(second);
        th_scene_destroy(scene);
    }
}

// A crowd over all of its way: circle on an open plane whose grid follows it.
static void circle_does_the_same(void **state) {
    (void)state;
    pair p = pair_of("scenes/uic/circle_1500.json");
    th_world_step(p.cpu, 3 * CIRCLE);
    th_world_step(p.device, 3 * CIRCLE);
    double sum[2] = {0.0, 0.0}, most[2];
    th_world *worlds[2] = {p.cpu, p.device};
    for (int w = 0; w < 2; ++w) {
        const float *x = th_world_map(worlds[w], TH_FIELD_POSITION_X, TH_ACCESS_READ);
        const float *y = th_world_map(worlds[w], TH_FIELD_POSITION_Y, TH_ACCESS_READ);
        for (int i = 0; i < th_world_agent_count(worlds[w]); ++i)
            sum[w] += sqrt((double)x[i] * (double)x[i] + (double)y[i] * (double)y[i]) / 1500.0;
        th_world_unmap(worlds[w], TH_FIELD_POSITION_X);
        th_world_unmap(worlds[w], TH_FIELD_POSITION_Y);
        th_grid grid;
        assert_true(th_world_map_grid(worlds[w], TH_GRID_PACKING, 0, &grid));
        most[w] = 0.0;
        for (int c = 0; c < grid.nx * grid.ny; ++c) most[w] = fmax(most[w], (double)grid.values[c]);
    }
    assert_true(fabs(sum[0] - sum[1]) < 0.01 * sum[0]); // mean distance from the middle
    assert_true(fabs(most[0] - most[1]) < 0.05);
    assert_int_equal(th_world_statistics(p.device).overlaps, th_world_statistics(p.cpu).overlaps);
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solver_on_random_floors), cmocka_unit_test(parts_agree),
        cmocka_unit_test(one_step_from_a_jam),     cmocka_unit_test(runs_repeat),
        cmocka_unit_test(circle_does_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
