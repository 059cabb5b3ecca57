// Space colonization: markers, their owners, what they do to a step, cells that keep people apart, and crowds.
// SPDX-License-Identifier: Apache-2.0
#include "lane_index.h"
#include "move/colonization/colonization.h"
#include "small_world.h"
#include "support.h"

static th_colonization_params usual = {
#define VALUE(name, value, min, max, unit, source, doc) (float)(value),
    TH_COLONIZATION_PARAMS(VALUE)
#undef VALUE
};
enum { PARAMS = sizeof usual / sizeof(float) };

static float random_in(float low, float high) {
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

static small_world *small_of(th_colonization_params params) {
    small_world *small = small_world_create(TH_MOVE_COLONIZATION, (const float *)&params, PARAMS);
    small->world.memory = th_memory_of(NULL);
    assert_true(th_models(NULL)[TH_MOVE_COLONIZATION]->create(&small->world, TH_MOVE_COLONIZATION));
    return small;
}
static void end(small_world *small) {
    th_models(NULL)[TH_MOVE_COLONIZATION]->destroy(&small->world, TH_MOVE_COLONIZATION);
    small_world_destroy(small);
}
static void prefer(small_world *small, uint32_t i, float x, float y) {
    small->world.agents.preferred_x[i] = x;
    small->world.agents.preferred_y[i] = y;
}

// ---- markers

static th_markers make_markers(th_arena *arena) {
    th_markers markers;
    *arena = th_arena_of(NULL);
    assert_true(th_markers_create(&markers, arena));
    return markers;
}

// Poisson discs after a step of Lloyd's: further apart than they were thrown, and every metre has its share.
static void the_pattern_is_even(void **state) {
    (void)state;
    th_arena arena;
    th_markers m = make_markers(&arena);
    double least = 1e9, sum = 0.0;
    assert_int_equal(m.start[TH_MARKER_COLUMNS * TH_MARKER_COLUMNS], TH_MARKERS);
    for (int i = 0; i < TH_MARKERS; ++i) {
        double nearest = 1e9;
        for (int j = 0; j < TH_MARKERS; ++j) {
            double dx = fabs((double)(m.x[i] - m.x[j])), dy = fabs((double)(m.y[i] - m.y[j]));
            double d = hypot(fmin(dx, TH_MARKER_COLUMNS - dx), fmin(dy, TH_MARKER_COLUMNS - dy));
            if (j != i) nearest = fmin(nearest, d);
        }
        least = fmin(least, nearest);
        sum += nearest;
    }
    double spacing = TH_MARKER_COLUMNS / sqrt(TH_MARKERS);
    assert_true(least > 0.6 * spacing);
    assert_true(sum / TH_MARKERS > 0.86 * spacing); // darts alone have 0.83
    th_arena_release(&arena);
}

// The plane's markers lie where a walk over all cells finds them, across the seams of the pattern and below zero.
static void rows_find_every_marker(void **state) {
    (void)state;
    th_arena arena;
    th_markers m = make_markers(&arena);
    for (int trial = 0; trial < 50; ++trial) {
        th_vec2 p = th_v(random_in(-40, 40), random_in(-40, 40));
        double side = sqrt(TH_MARKERS / 14.0) / TH_MARKER_COLUMNS, tile = side * TH_MARKER_COLUMNS;
        int wanted = 0, found = 0;
        for (int k = 0; k < TH_MARKERS; ++k)
            for (int t = 0; t < 196; ++t) {
                double x = (double)m.x[k] * side + (t % 14 - 7) * tile - (double)p.x;
                double y = (double)m.y[k] * side + (t / 14 - 7) * tile - (double)p.y;
                wanted += x * x + y * y < 1.0;
            }
        th_marker_rows rows = th_marker_rows_around(14.0f, p, 1.0f);
        for (th_marker_run run; th_next_markers(&m, &rows, &run);)
            for (int k = run.begin; k < run.end; ++k)
                found += th_length2(th_sub(th_marker_at(&m, &run, k), p)) < 1.0f;
        assert_in_range(found, wanted - 1, wanted + 1); // one may lie on the circle
        assert_in_range(found, 30, 58);                 // 14 pi = 44
    }
    th_arena_release(&arena);
}

// ---- owners

static void add_crowd(small_world *small, int count, float half) {
    for (int k = 0; k < count; ++k) {
        uint32_t i = small_world_add(small, random_in(-half, half), random_in(-half, half), 0.2f);
        float angle = random_in(0, 6.28f);
        prefer(small, i, 1.3f * cosf(angle), 1.3f * sinf(angle));
    }
}

// Nearest by looking at every agent, of agents that no wall parts from the point.
static uint32_t owner_by_force(const small_world *small, const th_walls *walls, th_vec2 point) {
    const th_agents *a = &small->world.agents;
    uint32_t best = UINT32_MAX;
    for (uint32_t j = 0; j < (uint32_t)a->count; ++j) {
        if (th_walls_first_crossing(walls, 0, th_position(a, j), point, NULL) >= 0) continue;
        float d = th_length2(th_sub(th_position(a, j), point));
        float b = best == UINT32_MAX ? 1e9f : th_length2(th_sub(th_position(a, best), point));
        if (d < b || (d == b && a->id[j] < a->id[best])) best = j;
    }
    return best;
}

static void owners_are_the_nearest(void **state) {
    (void)state;
    srand(5);
    small_world *small = small_of(usual);
    th_vec2 wall[] = {{-1, -3}, {-1, 3}, {-1.1f, 3}, {-1.1f, -3}};
    small_world_wall(small, wall, 4);
    small_world_walls_done(small);
    add_crowd(small, 150, 5.0f);
    for (int k = 0; k < 20; ++k) { // mirrored at x = 2: points there are as near to both
        const th_agents *a = &small->world.agents;
        small_world_add(small, 4.0f - a->position_x[k], a->position_y[k], 0.2f);
    }
    small_world_index(small, 8.0f, 1.2f);
    th_walls walls = th_world_walls(&small->world);
    int owned = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        th_vec2 point = th_v(trial % 3 ? random_in(-5, 5) : 2.0f, random_in(-5, 5));
        uint32_t i = (uint32_t)(rand() % small->world.agents.count);
        if (trial % 2) i = owner_by_force(small, &walls, point);
        th_colonist c = th_colonist_of(&small->world, &walls, i);
        if (th_walls_first_crossing(&walls, 0, c.p, point, NULL) >= 0) continue;
        if (th_length(th_sub(point, c.p)) > 1.0f) continue; // beyond the personal radius
        bool owns = owner_by_force(small, &walls, point) == i;
        assert_int_equal(th_colonist_owns(&c, point), owns);
        owned += owns;
    }
    assert_true(owned > 1000);
    end(small);
}

// Card, 2: weights and mean of one's own markers, in double and by looking at every agent for every marker.
static void steps_follow_the_markers(void **state) {
    (void)state;
    srand(6);
    th_colonization_params params = usual;
    params.guarantee = params.prediction = 0.0f;
    small_world *small = small_of(params);
    th_arena arena;
    th_markers m = make_markers(&arena);
    small_world_walls_done(small);
    add_crowd(small, 60, 4.0f);
    small_world_index(small, 8.0f, 1.2f);
    th_walls walls = th_world_walls(&small->world);
    run_model(&small->world, TH_MOVE_COLONIZATION);
    const th_agents *a = &small->world.agents;
    for (uint32_t i = 0; i < 60; ++i) {
        th_vec2 p = th_position(a, i), g = th_unit(th_v(a->preferred_x[i], a->preferred_y[i]));
        double x = 0.0, y = 0.0, sum = 0.0;
        th_marker_rows rows = th_marker_rows_around(14.0f, p, 1.0f);
        for (th_marker_run run; th_next_markers(&m, &rows, &run);)
            for (int k = run.begin; k < run.end; ++k) {
                th_vec2 marker = th_marker_at(&m, &run, k), to = th_sub(marker, p);
                double d = hypot((double)to.x, (double)to.y);
                if (d > 1.0 || owner_by_force(small, &walls, marker) != i) continue;
                double w = (1.0 + (double)th_dot(g, to) / d) / (1.0 + d);
                x += w * (double)to.x;
                y += w * (double)to.y;
                sum += w;
            }
        if (!(sum > 0.0)) continue;
        double length = hypot(x, y) / sum, speed = fmin(1.3, 3.14159265 * 1.3 * length);
        speed = fmin(speed, length / 0.1);
        assert_near(a->next_velocity_x[i], speed * x / sum / length, 2e-3);
        assert_near(a->next_velocity_y[i], speed * y / sum / length, 2e-3);
        // The device's way, marker by marker, has the same bits.
        th_colonist c = th_colonist_of(&small->world, &walls, i);
        float wish = th_colonist_wish(&c);
        th_vec2 step = th_colonist_step(&c, th_colonist_mean(&c, &m, g), wish);
        assert_true(a->next_position_x[i] == p.x + step.x);
        assert_true(a->next_position_y[i] == p.y + step.y);
    }
    th_arena_release(&arena);
    end(small);
}

// ---- cells

// The nearest point of the cell, by trying all points and all pairs of edges.
static double nearest_by_force(const th_cell *cell, th_vec2 wanted) {
    double best = 1e9;
    for (int n = 0; n < 200 * 200; ++n) {
        th_vec2 x = th_v((float)(n % 200 - 100) * 0.002f, (float)(n / 200 - 100) * 0.002f);
        bool inside = true;
        for (int k = 0; k < cell->count; ++k)
            inside = inside && th_dot(cell->n[k], x) <= cell->room[k];
        if (inside) best = fmin(best, (double)th_length(th_sub(x, wanted)));
    }
    return best;
}

static void the_nearest_point_of_a_cell(void **state) {
    (void)state;
    srand(9);
    for (int trial = 0; trial < 40; ++trial) {
        th_cell cell = {.count = 1 + rand() % 6};
        for (int k = 0; k < cell.count; ++k) {
            float angle = random_in(0, 6.28f);
            cell.n[k] = th_v(cosf(angle), sinf(angle));
            cell.room[k] = random_in(0, 0.1f);
        }
        th_vec2 wanted = th_v(random_in(-0.15f, 0.15f), random_in(-0.15f, 0.15f));
        th_vec2 x = th_cell_nearest(&cell, wanted);
        for (int k = 0; k < cell.count; ++k)
            assert_true(th_dot(cell.n[k], x) <= cell.room[k] + TH_CELL_HAIR);
        assert_near(th_length(th_sub(x, wanted)), nearest_by_force(&cell, wanted), 0.003);
    }
    th_cell full = {.count = TH_CELL_EDGES + 1}; // not all edges are known
    assert_true(th_length(th_cell_nearest(&full, th_v(1, 0))) == 0.0f);
}

#ifdef TH_SLOW_BUILD
enum { PRESSED_STEPS = 500 };
#else
enum { PRESSED_STEPS = 10000 }; // of ten people
#endif

// Ten people that are pressed together by their wishes; returns the deepest overlap of a pair, and how many of 45 pairs
// and all steps overlap by more than 1 mm.
static double press(th_colonization_params params, int steps, float spread, int *deep) {
    srand(4);
    small_world *small = small_of(params);
    th_agents *a = &small->world.agents;
    small_world_walls_done(small);
    for (int k = 0; k < 10; ++k)
        small_world_add(small, cosf(0.63f * (float)k), sinf(0.63f * (float)k),
                        0.18f + spread * (float)k);
    double worst = 0.0;
    *deep = 0;
    for (int n = 0; n < steps; ++n) {
        for (uint32_t i = 0; i < (uint32_t)a->count; ++i) {
            th_vec2 to = th_scale(-1.0f, th_position(a, i)); // to the middle, and anywhere
            float angle = random_in(0, 6.28f);
            th_vec2 v =
                th_add(th_scale(1.3f, th_unit(to)), th_scale(0.5f, th_v(cosf(angle), sinf(angle))));
            prefer(small, i, v.x, v.y);
        }
        small_world_index(small, 20.0f, 1.2f);
        run_model(&small->world, TH_MOVE_COLONIZATION);
        small_world_commit(small);
        small->world.time += 0.1;
        for (uint32_t i = 0; i < (uint32_t)a->count; ++i)
            for (uint32_t j = 0; j < i; ++j) {
                th_vec2 d = th_sub(th_position(a, i), th_position(a, j));
                double gap = (double)(th_length(d) - a->radius[i] - a->radius[j]);
                worst = fmax(worst, -gap);
                *deep += gap < -1e-3;
            }
    }
    end(small);
    if (getenv("TH_PRINT")) printf("worst %g, deep %d\n", worst, *deep);
    return worst;
}

// Card, 5. Nothing but the cells keeps them apart here: the contact stage is not run.
static void exact_cells_keep_people_apart(void **state) {
    (void)state;
    int deep;
    th_colonization_params params = usual;
    params.patience = 0.5f; // many rescues
    assert_true(press(params, PRESSED_STEPS, 0.01f, &deep) <= 1e-6);
    params.distance = 0.0f;
    assert_true(press(params, PRESSED_STEPS / 10, 0.01f, &deep) <= 1e-6);
    params.guarantee = 0.0f;
    assert_true(press(params, 1000, 0.01f, &deep) > 0.05);
}

// The thesis' taps: a little slips in between them, of bodies of one size.
static void taps_nearly_do(void **state) {
    (void)state;
    int deep;
    th_colonization_params params = usual;
    params.guarantee = TH_CELL_TAPS;
    assert_true(press(params, 2000, 0.0f, &deep) < 0.29 * 0.18);
    assert_true(deep < 2000 * 45 / 100);
    params.guarantee = 0.0f;
    int without;
    assert_true(press(params, 2000, 0.0f, &without) > 0.08);
    assert_true(2 * without > 3 * deep);
}

// ---- people

static double walk_far(const char *move, float angle, double *deviation) {
    char json[600];
    float x = 20.0f * cosf(angle), y = 20.0f * sinf(angle);
    snprintf(json, sizeof json,
             TH_JSON({"groups": [{"positions": [[0.3, 0.1]], "own_goal": {"in": {"circle": [%g, %g, 0.01]}},
                 "speed": 1.3, "plan": "straight", "move": %s}],
                 "run": {"step": 0.1, "duration": 60}}),
                                 (double)x, (double)y, move);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 1);
    *deviation = 0.0;
    double length = hypot((double)x - 0.3, (double)y - 0.1), along = 0.0;
    for (int n = 0; n < 80; ++n) {
        th_world_step(world, 1);
        const float *px = field_of(world, TH_FIELD_POSITION_X),
                    *py = field_of(world, TH_FIELD_POSITION_Y);
        double dx = (double)px[0] - 0.3, dy = (double)py[0] - 0.1;
        double ex = ((double)x - 0.3) / length, ey = ((double)y - 0.1) / length;
        *deviation = fmax(*deviation, fabs(dx * ey - dy * ex));
        along = dx * ex + dy * ey;
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return along / 8.0;
}

// Card, 3.
static void a_lone_agent_walks_on(void **state) {
    (void)state;
    for (int k = 0; k < 6; ++k) {
        double deviation, speed = walk_far("\"colonization\"", 1.1f * (float)k, &deviation);
        if (getenv("TH_PRINT")) printf("alone %g m/s, off by %g m\n", speed, deviation);
        assert_true(speed > 0.95 * 1.3 && speed <= 1.3001);
        assert_true(deviation < 0.27); // the spacing of markers, over 10 m
    }
}

// Card, 4: the denser, the slower, all in one direction.
static double speed_at(double density) {
    char json[600];
    double half = sqrt(200.0 / density) / 2.0;
    snprintf(json, sizeof json,
             TH_JSON({"groups": [{"count": 200, "area": {"rect": [%g, %g, %g, %g]},
                 "own_goal": {"in": {"rect": [400, -20, 410, 20]}}, "speed": 1.3, "plan": "straight",
                 "move": "colonization"}], "run": {"step": 0.1, "duration": 60}}),
                                  -half, -half, half, half);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 3);
    th_world_step(world, 5);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    const float *v = field_of(world, TH_FIELD_VELOCITY_X);
    double sum = 0.0, middle_x = 0.0, middle_y = 0.0;
    int people = 0;
    for (int i = 0; i < 200; ++i) {
        middle_x += (double)x[i] / 200.0;
        middle_y += (double)y[i] / 200.0;
    }
    for (int i = 0; i < 200; ++i) {
        if (fabs((double)x[i] - middle_x) > half - 1.0) continue; // the crowd's edge has more room
        if (fabs((double)y[i] - middle_y) > half - 1.0) continue;
        sum += (double)v[i];
        ++people;
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return sum / people;
}

static void speed_falls_with_density(void **state) {
    (void)state;
    double before = 1.3;
    for (double density = 0.3; density < 4.0; density *= 1.8) {
        double speed = speed_at(density);
        if (getenv("TH_PRINT")) printf("%.2f /m2: %.3f m/s\n", density, speed);
        assert_true(speed < before);
        before = speed;
    }
    assert_true(before < 0.65);
}

static double lanes_of(const char *move, uint64_t seed) {
    char json[1200];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [-25, -3, 25, 3]}}],
                 "exits": [{"id": "e", "line": [[25, -3], [25, 3]]}, {"id": "w", "line": [[-25, -3], [-25, 3]]}],
                 "groups": [{"count": 60, "area": {"rect": [-24, -2.7, -4, 2.7]}, "to": "e", "move": %s},
                 {"count": 60, "area": {"rect": [4, -2.7, 24, 2.7]}, "to": "w", "move": %s}],
                 "run": {"step": 0.1, "duration": 200}}),
                                                          move, move);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, seed);
    th_world_step(world, 200);
    double index = lane_index(world, 10.0f);
    run_to_end(world, 200.0);
    assert_int_equal(th_world_statistics(world).inside, 0);
    assert_true(th_world_statistics(world).largest_overlap < 0.001f);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return index;
}

static void counterflow_makes_lanes(void **state) {
    (void)state;
    double index = 0.0;
    int crowds = CROWDS(2);
    for (int seed = 1; seed <= crowds; ++seed)
        index += lanes_of("\"colonization\"", (uint64_t)seed);
    if (getenv("TH_PRINT")) printf("lanes %.2f\n", index / crowds);
    if (crowds > 1) assert_true(index / crowds > 0.25);
}

// Card, 6: two agents that meet pass on either side, about as often on the one as on the other. Where they meet the
// markers lie differently every time.
static bool passes_right(int seed, bool *met) {
    char json[700];
    double x = 0.37 * seed, y = 0.23 * seed;
    snprintf(json, sizeof json,
             TH_JSON({"groups": [
                 {"positions": [[%g, %g]], "own_goal": {"in": {"circle": [%g, %g, 0.01]}},
                     "plan": "straight", "move": "colonization"},
                 {"positions": [[%g, %g]], "own_goal": {"in": {"circle": [%g, %g, 0.01]}},
                     "plan": "straight", "move": "colonization"}],
                 "run": {"step": 0.1, "duration": 60}}),
                               x - 4.0, y, x + 8.0, y, x + 4.0, y, x - 8.0, y);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, (uint64_t)seed);
    double side = 0.0;
    for (int n = 0; n < 150 && side == 0.0; ++n) {
        th_world_step(world, 1);
        const float *px = field_of(world, TH_FIELD_POSITION_X);
        const float *py = field_of(world, TH_FIELD_POSITION_Y);
        if (px[0] > px[1]) side = (double)(py[1] - py[0]);
    }
    *met = side != 0.0;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return side > 0.0; // the one that goes east keeps south
}

static void agents_that_meet_pass_on_both_sides(void **state) {
    (void)state;
    int right = 0, passed = 0, pairs = CROWDS(40);
    for (int seed = 1; seed <= pairs; ++seed) {
        bool met;
        right += passes_right(seed, &met);
        passed += met;
    }
    if (getenv("TH_PRINT")) printf("%d of %d passed, %d on the right\n", passed, pairs, right);
    assert_int_equal(passed, pairs);
    if (pairs > 1) assert_in_range(right, 11, 29); // 3 standard deviations of 20
}

// Where one of two that meet goes: half of the overlap that is expected, right, back or left, and never ahead.
static void dodges(void **state) {
    (void)state;
    th_vec2 north = th_v(0, 1);
    assert_near(th_dodge(north, 0.0f).x, 1.0, 1e-6);
    assert_near(th_dodge(north, 0.5f).y, -0.5, 1e-6);
    assert_near(th_dodge(north, 1.0f).x, -1.0, 1e-6);
    assert_true(th_faces(th_v(1, 0), th_v(-1, 0.3f), 20.0f));
    assert_false(th_faces(th_v(1, 0), th_v(-1, 0.4f), 20.0f));
    assert_false(th_faces(th_v(1, 0), th_v(-0.05f, 0), 20.0f));
    small_world *small = small_of(usual);
    small_world_walls_done(small);
    for (int k = 0; k < 2; ++k) {
        uint32_t i = small_world_add(small, k ? 0.6f : -0.6f, 0.0f, 0.2f);
        small->world.agents.velocity_x[i] = k ? -1.3f : 1.3f;
    }
    small_world_index(small, 8.0f, 1.2f);
    th_walls walls = th_world_walls(&small->world);
    int right = 0;
    for (int n = 0; n < 400; ++n) {
        small->world.time = (double)usual.dodge_time * (n + 0.5);
        th_colonist c = th_colonist_of(&small->world, &walls, small_world_find(small, 1));
        th_vec2 dodge = th_colonist_dodge(&c);
        assert_true(dodge.x <= 0.0f);
        // 1.2 m apart, 1.04 m nearer in 0.4 s: 0.24 m of overlap.
        assert_near(hypot((double)dodge.y, 2.0 * (double)dodge.x), 0.12, 1e-4);
        right += dodge.y < 0.0f;
    }
    assert_in_range(right, 170, 230); // 3 standard deviations of 200
    end(small);
}

static th_scene *room(const char *move) {
    char json[900];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": "POLYGON ((0 0, 6 0, 6 2.5, 7 2.5, 7 3.5, 6 3.5, 6 6, 0 6, 0 0))"}],
                 "exits": [{"id": "door", "line": [[7, 2.5], [7, 3.5]]}],
                 "groups": [{"count": 50, "area": {"rect": [0.3, 0.3, 5.5, 5.7]}, "to": "door", "move": %s}],
                 "run": {"step": 0.1, "duration": 400}}),
                                                       move);
    return scene_of(json);
}

// Without the rescue an arch before the door may stand for good; with it all agents get out, and none overlap.
static void arches_break(void **state) {
    (void)state;
    th_scene *scene = room("\"colonization\"");
    for (int seed = 1; seed <= CROWDS(3); ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        run_to_end(world, 200.0);
        assert_int_equal(th_world_statistics(world).inside, 0);
        assert_true(th_world_statistics(world).largest_overlap < 0.001f);
        assert_int_equal(th_world_statistics(world).wall_stops, 0);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
    int stuck = 0;
    scene = room(TH_JSON({"model": "colonization", "patience": 0, "distance": 0}));
    for (int seed = 1; seed <= 3 && stuck == 0; ++seed) { // not every crowd forms an arch
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        run_to_end(world, 200.0);
        stuck += th_world_statistics(world).inside > 0;
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
    assert_true(stuck > 0);
}

// Thesis 5.1: markers move agents without a direction from the planner, once their patience has ended.
static void rescued_from_a_planner_without_a_way(void **state) {
    (void)state;
    small_world *small = small_of(usual);
    small_world_walls_done(small);
    small_world_add(small, 0.0f, 0.0f, 0.2f);
    small_world_add(small, 0.5f, 0.0f, 0.2f);
    for (int n = 0; n < 30; ++n) {
        small_world_index(small, 8.0f, 1.2f);
        run_model(&small->world, TH_MOVE_COLONIZATION);
        small_world_commit(small);
        small->world.time += 0.1;
        uint32_t i = small_world_find(small, 1);
        if (n < 19) assert_true(small->world.agents.position_x[i] == 0.0f);
    }
    assert_true(small->world.agents.position_x[small_world_find(small, 1)] < -0.1f);
    end(small);
}

// With planner_leads a step is the planner's where it is free, and follows the markers where another agent bars it.
static void markers_serve_agents_that_are_held_up(void **state) {
    (void)state;
    th_colonization_params params = usual;
    params.planner_leads = 1.0f;
    params.distance = params.prediction = 0.0f;
    for (int barred = 0; barred < 2; ++barred) {
        small_world *small = small_of(params);
        small_world_walls_done(small);
        prefer(small, small_world_add(small, 0.0f, 0.0f, 0.2f), 1.3f, 0.0f);
        small_world_add(small, barred ? 0.4f : -0.5f, 0.0f, 0.2f);
        small_world_index(small, 8.0f, 1.2f);
        run_model(&small->world, TH_MOVE_COLONIZATION);
        uint32_t i = small_world_find(small, 1);
        double x = (double)small->world.agents.next_position_x[i],
               y = (double)small->world.agents.next_position_y[i];
        if (!barred) assert_near(x, 0.13, 1e-6);
        if (!barred) assert_near(y, 0.0, 1e-6);
        if (barred) assert_true(fabs(y) > 0.005);
        end(small);
    }
}

// Agents that leave the tunnel of scenes/keep_side within `limit` seconds, of 800; led by the thesis' pipeline.
static int through_the_tunnel(uint64_t seed, bool keeps_side, double limit) {
    char words[8][96];
    const char *changes[8];
    int count = 0;
    for (int g = 0; g < 4; ++g) {
        snprintf(words[count++], sizeof words[0], "groups[%d].move=%s", g,
                 TH_JSON({"model": "colonization", "preset": "cheng2013"}));
        if (!keeps_side) snprintf(words[count++], sizeof words[0], "groups[%d].filter=none", g);
    }
    for (int k = 0; k < count; ++k) changes[k] = words[k];
    th_scene *scene;
    th_error error;
    const th_scene_options options = {.overrides = changes, .override_count = count};
    if (th_scene_load_file(TH_SOURCE_DIR "/scenes/keep_side/tunnel.json", &options, &scene,
                           &error) != TH_OK)
        fail_msg("%s", error.message);
    th_world *world = world_of(scene, 1, seed);
    while (!th_world_done(world) && th_world_time(world) < limit) th_world_step(world, 1);
    th_statistics s = th_world_statistics(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
    if (getenv("TH_PRINT")) printf("tunnel: %d left\n", (int)s.left);
    assert_true(s.largest_overlap < 0.001f);
    return (int)s.left;
}

// Thesis, figure 6.2: led by the planner and markers where that leads nowhere, four groups pass through a tunnel on their
// right; without the strip they jam.
static void the_thesis_passes_its_tunnel(void **state) {
    (void)state;
    assert_int_equal(through_the_tunnel(1, true, 300), 800);
    if (CROWDS(2) > 1) assert_in_range(through_the_tunnel(1, false, 120), 0, 20);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = room("\"colonization\"");
    assert_any_threads(scene, 5, 80);
    th_scene_destroy(scene);
}

static void restored(void **state) {
    (void)state;
    th_scene *scene = room("\"colonization\"");
    assert_restores(scene, 120, 100);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pattern_is_even),
        cmocka_unit_test(rows_find_every_marker),
        cmocka_unit_test(owners_are_the_nearest),
        cmocka_unit_test(steps_follow_the_markers),
        cmocka_unit_test(the_nearest_point_of_a_cell),
        cmocka_unit_test(exact_cells_keep_people_apart),
        cmocka_unit_test(taps_nearly_do),
        cmocka_unit_test(a_lone_agent_walks_on),
        cmocka_unit_test(speed_falls_with_density),
        cmocka_unit_test(counterflow_makes_lanes),
        cmocka_unit_test(agents_that_meet_pass_on_both_sides),
        cmocka_unit_test(dodges),
        cmocka_unit_test(arches_break),
        cmocka_unit_test(rescued_from_a_planner_without_a_way),
        cmocka_unit_test(markers_serve_agents_that_are_held_up),
        cmocka_unit_test(the_thesis_passes_its_tunnel),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
