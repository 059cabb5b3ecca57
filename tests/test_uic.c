// Unilateral incompressibility: the splat, the pressure, the pair step, and what the paper claims of them.
// The solvers have tests of their own. SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/uic/uic.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TH_SLOW_BUILD
#define SECONDS(time) ((time) / 10.0)
#else
#define SECONDS(time) (time)
#endif

static const float ROOM = 400.0f; // [m2] of the pillared room

static const char pillared_room[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 20, 20]},
        "obstacles": [{"rect": [6.3, 6.3, 7.6, 9.1]}, {"circle": [14, 13, 1.4]}],
        "walls": [[[10, 0], [10, 8]], [[3, 15], [9, 17]]]}],
    "exits": [{"id": "out", "line": [[20, 9], [20, 11]]}],
    "groups": [{"id": "people", "count": 500, "to": "out",
        "radius": {"uniform": [0.17, 0.24]}, "move": "uic"}],
    "run": {"step": 0.0333333333}});

static void step_for(th_world *world, double seconds) {
    th_world_step(world, (int)(seconds / world->step_length + 0.5));
}

static double sum_of(const float *values, const th_staggered *grid) {
    double sum = 0.0;
    for (int c = 0; c < grid->nx * grid->ny; ++c) sum += (double)values[c];
    return sum;
}

static void parameters_begin_with_contact(void **state) {
    (void)state;
    assert_true(sizeof(th_uic_params) / sizeof(float) <= TH_PARAM_MAX);
    // Eq. 4 with alpha 1: hexagonal packing, 2 / (sqrt 3 d^2).
    assert_true(fabsf(th_uic_share(0.5f, 1.0f) - 0.5f * sqrtf(3.0f) * 0.25f) < 1e-6f);
}

// Card check 1: every agent is counted once, so is the ground.
static void splat_keeps_the_number_of_people(void **state) {
    (void)state;
    th_scene *scene = scene_of(pillared_room);
    th_world *world = world_of(scene, 1, 1);
    for (int k = 0; k < 40; ++k) {
        int before = world->agents.count;
        double area = 0.0;
        for (int i = 0; i < before; ++i)
            area += (double)th_uic_share(2.0f * world->agents.radius[i], 0.5f);
        th_world_step(world, 1);
        th_uic_view view = th_uic_view_of(world, 0);
        double cell = (double)view.grid.h * (double)view.grid.h;
        if (before != world->agents.count)
            continue; // the first index of a step may drop agents that left
        assert_true(fabs(sum_of(view.people, &view.grid) - before) < 1e-4 * before);
        assert_true(fabs(sum_of(view.packing, &view.grid) * cell - area) < 1e-4 * area);
    }
    th_uic_view view = th_uic_view_of(world, 0);
    double ground = (double)ROOM - 1.3 * 2.8 - 3.14159265 * 1.4 * 1.4;
    double cell = (double)view.grid.h * (double)view.grid.h;
    assert_true(fabs(sum_of(view.free_area, &view.grid) * cell - ground) < 0.05);
    assert_true(fabs(sum_of(view.capacity, &view.grid) * cell - ground) < 0.05);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The last problem solved, from its parts: A is symmetric because a face has one coupling; its rows sum to
// what leads outside; the solution fits (card checks 1 and 2).
static void pressure_solves_the_complementarity_problem(void **state) {
    (void)state;
    th_scene *scene = scene_of(pillared_room);
    th_world *world = world_of(scene, 1, 1);
    step_for(world, 6.0);
    const th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[0];
    int nx = level->grid.nx, jammed = 0, grounded = 0;
    double worst = 0.0, lowest = 0.0;
    for (int j = 1; j < level->grid.ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i) {
            int c = j * nx + i;
            if (!(uic->centre[c].share > 0.0f)) {
                assert_true(uic->pressure[c] == 0.0);
                continue;
            }
            const double *p = uic->pressure;
            double e = uic->east[c], w = uic->east[c - 1], n = uic->north[c],
                   s = uic->north[c - nx];
            assert_true(e >= 0.0 && w >= 0.0 && n >= 0.0 && s >= 0.0 && uic->ground[c] >= 0.0);
            double diagonal = e + w + n + s + uic->ground[c];
            double z = diagonal * p[c] - e * p[c + 1] - w * p[c - 1] - n * p[c + nx] -
                       s * p[c - nx] + uic->b[c];
            worst = fmax(worst, fabs(fmin(diagonal * p[c], z)));
            lowest = fmin(lowest, p[c]);
            jammed += p[c] > 0.0;
            grounded += uic->ground[c] > 0.0;
            if (uic->exit_x[c] + uic->exit_x[c + 1] + uic->exit_y[c] + uic->exit_y[c + nx] == 0.0f)
                assert_true(uic->ground[c] == 0.0);
        }
    assert_true(lowest == 0.0 && jammed > 3 && grounded > 0);
    assert_true(worst <= 1.1e-3); // the tolerance, and rounding
    assert_int_equal(th_uic_of(world)->statistics.unconverged, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Card check 3: every agent walks right in a closed corridor. As published, with an excess_time of 0.
static void closed_corridor_fills_from_the_wall(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 40, 4]},
            "walls": [[[39.5, 0], [39.5, 4]]]}],
        "groups": [{"id": "people", "count": 150, "area": {"rect": [1, 0.3, 30, 3.7]},
            "own_goal": {"in": {"rect": [39.7, 0.5, 39.9, 3.5]}}, "plan": "straight",
            "move": {"model": "uic", "cell_size": 2, "excess_time": 0}}],
        "run": {"step": 0.0333333333}}));
    th_world *world = world_of(scene, 1, 1);
    th_agents *a = &world->agents;
    step_for(world, 45.0);
    // People take up 1 / rho_max each; bodies cannot come nearer to walls than a radius.
    double share = (double)th_uic_share(0.4f, 0.5f), filled = 150.0 * share / 4.0;
    double front = 39.5 - filled;
    int behind = 0, packed = 0;
    for (int i = 0; i < a->count; ++i) {
        behind += (double)a->position_x[i] < front - 1.0;
        packed += (double)a->position_x[i] > front - 0.5;
        assert_true(a->position_x[i] < 39.5f);
    }
    assert_true(behind == 0);
    assert_true(packed >= 145);
    th_uic_view view = th_uic_view_of(world, 0);
    for (int j = 1; j < view.grid.ny - 1; ++j)
        for (int i = 1; i < view.grid.nx - 1; ++i) {
            int c = j * view.grid.nx + i;
            float right = view.grid.origin.x + (float)(i + 1) * view.grid.h;
            float left = right - view.grid.h;
            if (view.capacity[c] < 0.3f) continue;
            float density = view.packing[c] / view.capacity[c];
            if ((double)left > front + 1.0 && right < 39.0f)
                assert_true(density > 0.85f && density < 1.15f);
            if ((double)right < front - 2.0) assert_true(density < 0.05f);
        }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Fig. 3: people before a door, with all parts, without pressure, without pair step. Results: the largest
// packing of any cell, and the share of people that overlap, over the run.
typedef struct door_result {
    float densest;
    double overlapping;
    uint64_t left;
} door_result;

static door_result run_doorway(const char *params) {
    char text[900];
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 22, 16]},
            "walls": [[[16, 0], [16, 7.4]],[[16, 8.6], [16, 16]]]}],
        "exits": [{"id": "out", "line": [[22, 5], [22, 11]]}],
        "groups": [{"id": "people", "count": 350, "area": {"rect": [0.5, 0.5, 13, 15.5]},
            "to": "out", "move": {"model": "uic", "excess_time": 0%s}}],
        "run": {"step": 0.0333333333}});
    snprintf(text, sizeof text, format, params);
    th_scene *scene = scene_of(text);
    th_world *world = world_of(scene, 1, 1);
    door_result result = {0};
    for (int k = 0; k < 15; ++k) {
        step_for(world, 1.0);
        th_uic_view view = th_uic_view_of(world, 0);
        for (int c = 0; c < view.grid.nx * view.grid.ny; ++c)
            if (view.capacity[c] > 0.3f)
                result.densest = fmaxf(result.densest, view.packing[c] / view.capacity[c]);
        th_statistics now = th_world_statistics(world);
        result.overlapping =
            fmax(result.overlapping, (double)now.overlapping_agents / (double)now.inside);
        result.left = now.left;
        assert_int_equal(now.wall_crossings, 0);
    }
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return result;
}

static void doorway_needs_pressure_and_pairs(void **state) {
    (void)state;
    door_result both = run_doorway("");
    door_result no_pressure = run_doorway(TH_JSON(, "pressure": 0));
    door_result neither = run_doorway(TH_JSON(, "pressure": 0, "pair_distance": 0));
    door_result no_pairs = run_doorway(TH_JSON(, "pair_distance": 0));
    print_message(
        "doorway: densest %.2f, %.2f without pairs, %.2f without pressure, %.2f with neither\n",
        (double)both.densest, (double)no_pairs.densest, (double)no_pressure.densest,
        (double)neither.densest);
    assert_true(both.densest < 1.25f && both.overlapping < 0.01 && both.left > 15);
    // Bodies that touch everywhere are 1 / alpha = 2 times as dense as pressure allows.
    assert_true(no_pressure.densest > 1.6f && no_pressure.overlapping > 0.05);
    assert_true(neither.densest > 2.4f && neither.overlapping > 0.5);
    assert_true(no_pairs.densest < 1.31f && no_pairs.overlapping > 0.5);
}

// The paper's circle in small (card check 4): 1500 people, no overlaps, the middle turns.
static void circle_turns_and_keeps_its_distances(void **state) {
    (void)state;
    enum { PEOPLE = 1500 };
    th_scene *scene = scene_of(TH_JSON(
        {"groups": [{"id": "people", "count": 0, "area": {"rect": [-40, -40, 40, 40]},
            "own_goal": "opposite", "plan": "straight", "move": {"model": "uic",
            "preset": "narain2009"}}],
        "run": {"step": 0.0333333333}}));
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.max_agents = PEOPLE;
    th_world *world;
    th_error error = {0};
    assert_int_equal(th_world_create(scene, &def, &world, &error), TH_OK);
    int placed = 0;
    for (int row = -40; row <= 40; ++row)
        for (int column = -40; column <= 40 && placed < PEOPLE; ++column) {
            float x = 0.6f * ((float)column + (row % 2 ? 0.5f : 0.0f)), y = 0.52f * (float)row;
            float r2 = x * x + y * y;
            if (r2 < 49.0f || r2 > 220.0f) continue;
            th_random4 random = th_philox(1, TH_STREAM_PLACE, (uint32_t)placed, 0);
            th_agent_def person = th_agent_def_default();
            person.position =
                th_v(x + 0.02f * th_uniform(random.v[0]), y + 0.02f * th_uniform(random.v[1]));
            person.goal = th_v(-person.position.x, -person.position.y);
            person.radius = 0.2f;
            person.speed = 1.34f;
            assert_int_equal(th_world_spawn(world, &person, 1, NULL, &error), TH_OK);
            placed++;
        }
    assert_int_equal(placed, PEOPLE);
    double nearest = 0.0, turning = 0.0;
    int64_t counted = 0, dense = 0, closer = 0;
    float densest = 0.0f;
    for (int second = 1; second <= (int)SECONDS(30.0); ++second) {
        step_for(world, 1.0);
        densest = fmaxf(densest, th_uic_statistics_of(world).densest);
        const th_agents *a = &world->agents;
        th_uic_view view = th_uic_view_of(world, 0);
        double tangential = 0.0;
        int core = 0;
        for (int i = 0; i < a->count; ++i) {
            th_vec2 p = th_position(a, (uint32_t)i), v = th_velocity(a, (uint32_t)i);
            float best = 9.0f;
            for (int j = 0; j < a->count; ++j) {
                float d2 = th_length2(th_sub(th_position(a, (uint32_t)j), p));
                if (j != i && d2 < best * best) best = sqrtf(d2);
            }
            int ci = (int)((p.x - view.grid.origin.x) * view.grid.inverse_h);
            int cj = (int)((p.y - view.grid.origin.y) * view.grid.inverse_h);
            counted++;
            closer += best < 0.4f;
            if (view.packing[cj * view.grid.nx + ci] > 0.9f) {
                nearest += (double)best / 0.4;
                dense++;
            }
            float r = th_length(p), speed = th_length(v);
            if (r > 0.5f && r < 6.0f && speed > 0.05f) {
                tangential += (double)(th_det(p, v) / (r * speed));
                core++;
            }
        }
        if (core > 100) turning = fmax(turning, fabs(tangential / core));
    }
#ifdef TH_SLOW_BUILD // too short a run for these
    (void)nearest, (void)closer;
#else
    assert_true(dense > 10000);
    nearest /= (double)dense;
    print_message("circle: nearest %.3f d_min, %.4f %% closer, densest %.3f, turning %.2f\n",
                  nearest, 100.0 * (double)closer / (double)counted, (double)densest, turning);
    assert_true(nearest > 1.22 && nearest < 1.28);
    assert_true((double)closer < 0.0012 * (double)counted);
    // 1.06 is met but for the first moment of meeting, when no agent is pushed back faster than 1.2 times walking
    // speed.
    assert_true(densest < 1.09f);
    assert_true(turning > 0.5);
#endif
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Section 4.3: a scripted person walks through a standing crowd, which makes way; a moving body takes up area.
static void crowd_makes_way_for_a_scripted_person_and_a_body(void **state) {
    (void)state;
    th_scene *scene = scene_of(
        TH_JSON(
            {"levels": [{"walkable": {"rect": [0, 0, 30, 12]}}],
            "groups": [{"id": "people", "count": 280, "area": {"rect": [10, 1, 22, 11]},
                "own_goal": {"in": {"rect": [10, 1, 22, 11]}}, "move": "uic",
                "premovement": 1000}],
            "scripted": [{"id": "guard", "radius": 0.25, "path": [[0, 5, 4], [25, 27, 4]]},
                {"id": "cart", "shape": {"rect": [-1, -0.6, 1, 0.6]},
                "path": [[0, 5, 8], [25, 27, 8]]}],
            "run": {"step": 0.0333333333}}));
    th_world *world = world_of(scene, 1, 1);
    float deepest = 0.0f, least_room = 1.0f;
    for (int k = 0; k < 24 * 30; ++k) {
        th_world_step(world, 1);
        const th_agents *a = &world->agents;
        for (int s = 0; s < a->count; ++s) {
            if (a->phase[s] != TH_PHASE_SCRIPTED) continue;
            for (int i = 0; i < a->count; ++i) {
                if (!th_moves(a->phase[i])) continue;
                th_vec2 apart = th_sub(th_position(a, (uint32_t)i), th_position(a, (uint32_t)s));
                deepest = fmaxf(deepest, a->radius[i] + a->radius[s] - th_length(apart));
            }
        }
        for (int c = 0; c < 100; ++c)
            if (th_uic_of(world)->capacity[c] > 0.99f)
                least_room = fminf(least_room, th_uic_of(world)->room[c]);
    }
    assert_true(deepest < 0.06f);
    assert_true(least_room < 0.75f); // the cart of 2.4 m2 in cells of 4 m2
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Fig. 4b: two groups meet, one of each model; both get through.
static void people_of_orca_and_uic_pass_each_other(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 40, 12]}}],
        "exits": [{"id": "left", "line": [[0, 0], [0, 12]]}, {"id": "right",
            "line": [[40, 0], [40, 12]]}],
        "groups": [{"id": "a", "count": 60, "area": {"rect": [4, 1, 12, 11]}, "to": "right",
            "move": "uic"}, {"id": "b", "count": 30, "area": {"rect": [28, 1, 36, 11]},
            "to": "left", "move": "orca"}],
        "run": {"step": 0.05}}));
    th_world *world = world_of(scene, 1, 1);
    double end = run_to_end(world, 90.0);
    th_statistics statistics = th_world_statistics(world);
    assert_int_equal(statistics.left, 90);
    assert_true(end < 80.0 && statistics.largest_overlap < 0.1f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static const char two_floors[] = TH_JSON(
    {"levels": [{"id": "low", "walkable": {"rect": [0, 0, 12, 10]}}, {"id": "high", "z": 3,
        "walkable": {"rect": [18, 0, 34, 10]}}],
    "stairs": [{"id": "stairs", "level": "low", "to": "high",
        "area": {"rect": [12, 4, 18, 7]}, "top": [[18, 4], [18, 7]]}],
    "exits": [{"id": "out", "level": "low", "line": [[0, 3], [0, 7]]}],
    "doors": [{"id": "door", "level": "low", "line": [[4, 0], [4, 10]],
        "schedule": [{"time": 4, "open": false}, {"time": 9, "open": true}]}],
    "groups": [{"id": "people", "level": "high", "count": 200,
        "area": {"rect": [20, 0.5, 33, 9.5]}, "to": "out", "move": {"model": "uic",
        "keep_side": 0.2}}],
    "run": {"step": 0.05}});

static void all_agents_come_down_the_stairs(void **state) {
    (void)state;
    th_scene *scene = scene_of(two_floors);
    th_world *world = world_of(scene, 1, 1);
    double end = run_to_end(world, 200.0);
    th_statistics statistics = th_world_statistics(world);
    assert_int_equal(statistics.left, 200);
    assert_true(end < 120.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void same_bits_for_any_threads_and_after_restore(void **state) {
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    const char *const scenes[] = {pillared_room, two_floors};
    for (int s = 0; s < 2; ++s) {
        uint64_t first = 0;
        for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
            th_scene *scene = scene_of(scenes[s]);
            th_world *world = world_of(scene, threads[t], 1);
            step_for(world, SECONDS(2.0));
            size_t size = th_world_snapshot_size(world);
            void *snapshot = malloc(size);
            th_error error = {0};
            assert_non_null(snapshot);
            assert_int_equal(th_world_snapshot(world, snapshot, size, &error), TH_OK);
            step_for(world, SECONDS(2.0));
            uint64_t hash = th_world_hash(world);
            if (t == 0) first = hash;
            assert_true(hash == first);
            th_world *other = world_of(scene, 2, 5); // a fresh world goes on from the snapshot
            if (th_world_restore(other, snapshot, size, &error) != TH_OK)
                fail_msg("%s", error.message);
            step_for(other, SECONDS(2.0));
            assert_true(th_world_hash(other) == hash);
            free(snapshot);
            th_world_destroy(other);
            th_world_destroy(world);
            th_scene_destroy(scene);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_begin_with_contact),
        cmocka_unit_test(splat_keeps_the_number_of_people),
        cmocka_unit_test(pressure_solves_the_complementarity_problem),
        cmocka_unit_test(closed_corridor_fills_from_the_wall),
        cmocka_unit_test(doorway_needs_pressure_and_pairs),
        cmocka_unit_test(circle_turns_and_keeps_its_distances),
        cmocka_unit_test(crowd_makes_way_for_a_scripted_person_and_a_body),
        cmocka_unit_test(people_of_orca_and_uic_pass_each_other),
        cmocka_unit_test(all_agents_come_down_the_stairs),
        cmocka_unit_test(same_bits_for_any_threads_and_after_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
