// Universal power law of Karamouzas, Skinner, Guy 2014: the time to a collision, the force, and which agents meet.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/power_law/power_law.h"
#include "support.h"
#include <math.h>

static th_power_law_params published(void) {
    th_power_law_params p = {
#define X(name, value, min, max, unit, source, doc) .name = (float)(value),
        TH_POWER_LAW_PARAMS(X)
#undef X
    };
    return p;
}

static void parameters_are_the_published_ones(void **state) {
    (void)state;
    th_power_law_params p = published();
    assert_true(p.interaction_strength == 1.5f && p.interaction_horizon == 3.0f &&
                p.relaxation_time == 0.54f);
}

// Straight from the definition, in double; negative: they do not meet.
static double meeting_time(double x, double y, double vx, double vy, double l) {
    double a = vx * vx + vy * vy, b = x * vx + y * vy, c = x * x + y * y - l * l, d = b * b - a * c;
    return b < 0 && d > 0 ? (-b - sqrt(d)) / a : -1;
}
static double energy(double x, double y, double vx, double vy, double l) {
    double t = meeting_time(x, y, vx, vy, l);
    return t > 0 ? 1.5 * exp(-t / 3) / (t * t) : 0;
}

// Eq. 2 of the paper: E falls with the square of the time, cut off at tau_0. Its force is minus its gradient.
static void force_is_minus_the_gradient_of_the_energy(void **state) {
    (void)state;
    th_power_law_params p = published();
    int compared = 0;
    for (uint32_t k = 0; k < 4000; ++k) {
        th_random4 r = th_philox(1, TH_STREAM_PLACE, k, 0);
        double x = 6 * (double)th_uniform(r.v[0]) - 3, y = 6 * (double)th_uniform(r.v[1]) - 3;
        double vx = 4 * (double)th_uniform(r.v[2]) - 2, vy = 4 * (double)th_uniform(r.v[3]) - 2;
        const double l = 0.4, h = 1e-6;
        double t = meeting_time(x, y, vx, vy, l);
        // Excludes touching agents and near misses, where the gradient has no bound.
        double miss = fabs(x * vy - y * vx) / hypot(vx, vy);
        if (hypot(x, y) < 0.6 || t < 0.2 || miss > 0.35) continue;
        double fx = (energy(x - h, y, vx, vy, l) - energy(x + h, y, vx, vy, l)) / (2 * h);
        double fy = (energy(x, y - h, vx, vy, l) - energy(x, y + h, vx, vy, l)) / (2 * h);
        th_vec2 f =
            th_power_law_push(&p, th_v((float)x, (float)y), th_v((float)vx, (float)vy), (float)l);
        if (!(hypot((double)f.x - fx, (double)f.y - fy) < 2e-3 * (0.05 + hypot(fx, fy))))
            fail_msg("(%g, %g) instead of (%g, %g)", (double)f.x, (double)f.y, fx, fy);
        ++compared;
    }
    assert_true(compared > 200);
}

// Agents that walk side by side, that part, or that will miss each other ignore each other, however near they are.
static void no_collision_no_force(void **state) {
    (void)state;
    th_power_law_params p = published();
    assert_true(th_length(th_power_law_push(&p, th_v(0, 0.45f), th_v(0, 0), 0.4f)) == 0.0f);
    assert_true(th_length(th_power_law_push(&p, th_v(-1, 0), th_v(-1, 0), 0.4f)) == 0.0f);
    assert_true(th_length(th_power_law_push(&p, th_v(-1, 0.5f), th_v(1, 0), 0.4f)) == 0.0f);
    assert_true(th_length(th_power_law_push(&p, th_v(-1, 0.3f), th_v(1, 0), 0.4f)) > 0.0f);
    // Overlapping and closing: apart, and finite.
    th_vec2 deep = th_power_law_push(&p, th_v(-0.1f, 0), th_v(0.5f, 0), 0.4f);
    assert_true(deep.x < 0.0f && isfinite(deep.x));
}

// Velocities of the first two after one step of 20 ms from rest or, `moving`, from 1.3 m/s to the right. `together`:
// the second stands where the first does.
static void step_once(const char *positions, bool moving, bool together, th_vec2 found[2]) {
    char json[800];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 30, 10]}}],
                      "exits": [{"id": "e", "line": [[30, 0], [30, 2]]}],
                      "groups": [{"positions": %s, "to": "e", "speed": 1.3, "radius": 0.2,
                                  "move": {"model": "power_law", "preset": "karamouzas2014", "substep": 0.02}}],
                      "run": {"step": 0.02}}),
                                                       positions);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 1);
    if (moving) {
        float *x = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_WRITE);
        for (int i = 0; i < th_world_agent_count(world); ++i) x[i] = 1.3f;
        th_world_unmap(world, TH_FIELD_VELOCITY_X);
    }
    if (together) {
        float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_WRITE);
        x[1] = x[0];
        th_world_unmap(world, TH_FIELD_POSITION_X);
    }
    th_world_step(world, 1);
    for (int i = 0; i < 2 && i < th_world_agent_count(world); ++i)
        found[i] = (th_vec2){field_of(world, TH_FIELD_VELOCITY_X)[i],
                             field_of(world, TH_FIELD_VELOCITY_Y)[i]};
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void one_step_is_the_published_one(void **state) {
    (void)state;
    th_vec2 v[2];
    // From rest a share h / xi of the preferred velocity, implicitly.
    step_once("[[10, 1]]", false, false, v);
    assert_near(th_length(v[0]), 1.3 * (0.02 / 0.54) / (1 + 0.02 / 0.54), 1e-3);
    // An agent that walks ahead at the same speed is never met.
    step_once("[[10, 1], [10.8, 1]]", true, false, v);
    assert_near(v[0].x, 1.3, 1e-3);
    // Towards a wall half a second ahead: -grad E = 1.5 e^(-t/3) / t^2 (2/t + 1/3) / v, 15 m/s2.
    step_once("[[29.15, 5]]", true, false, v);
    assert_true(v[0].x < 1.3f - 0.1f);
    // Two at the same place part.
    step_once("[[10, 1], [10.8, 1]]", false, true, v);
    assert_true(th_length(th_sub(v[0], v[1])) > 0.2f);
}

// Ten people against ten on their way through each other: all arrive, no agent walks through another.
static void two_groups_pass(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 6]}}],
         "exits": [{"id": "w", "line": [[0, 0], [0, 6]]}, {"id": "e", "line": [[20, 0], [20, 6]]}],
         "groups": [{"count": 10, "area": {"rect": [1, 1, 5, 5]}, "to": "e", "move": "power_law"},
                    {"count": 10, "area": {"rect": [15, 1, 19, 5]}, "to": "w", "move": "power_law"}],
         "run": {"step": 0.05}}));
    th_world *world = world_of(scene, 1, 1);
    double deepest = 0;
    while (!th_world_done(world) && th_world_time(world) < 60) {
        th_world_step(world, 1);
        deepest = fmax(deepest, (double)th_world_statistics(world).deepest_overlap);
    }
    assert_int_equal(th_world_statistics(world).left, 20);
    assert_true(deepest < 0.05);
    assert_true(th_world_time(world) < 40);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Agents that the sieve leaves out push with nothing: the sum over all agents in sight, one by one, has the same bits. The
// crowd is dense and mixed, so that portions begin and end anywhere in the order.
static void the_sieve_drops_only_what_does_not_push(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 30]}}],
         "exits": [{"id": "w", "line": [[0, 0], [0, 30]]}, {"id": "n", "line": [[0, 30], [30, 30]]}],
         "groups": [{"count": 150, "area": {"rect": [6, 6, 24, 24]}, "to": "w", "move": "power_law"},
                    {"count": 150, "area": {"rect": [6, 6, 24, 24]}, "to": "n", "move": "power_law"}],
         "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 10);
    th_walls walls = th_world_walls(world);
    th_substep step = th_substep_begin(world, TH_MOVE_POWER_LAW, 0.02f);
    const th_agents *a = &world->agents;
    int pushed = 0;
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i) {
        th_vec2 plain = {0, 0}, sieved = th_power_law_of_people(world, &step, &walls, i);
        float sight = th_power_law_params_of(world, i)->sight;
        for (uint32_t j = 0; j < (uint32_t)a->count; ++j) {
            th_vec2 to = th_sub(th_position(a, j), th_position(a, i));
            if (j != i && th_length2(to) < sight * sight)
                plain = th_add(plain, th_power_law_push_of(world, i, j));
        }
        assert_true(plain.x == sieved.x && plain.y == sieved.y);
        pushed += th_length2(plain) > 0.0f;
    }
    assert_true(a->count > 200 && pushed > 100);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_published_ones),
        cmocka_unit_test(force_is_minus_the_gradient_of_the_energy),
        cmocka_unit_test(no_collision_no_force),
        cmocka_unit_test(one_step_is_the_published_one),
        cmocka_unit_test(two_groups_pass),
        cmocka_unit_test(the_sieve_drops_only_what_does_not_push),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
