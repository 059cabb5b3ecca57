// Collision-free speed model of Tordeux, Chraibi, Seyfried 2016: the formulas, the fundamental diagram, no collisions.
// SPDX-License-Identifier: Apache-2.0
#include "move/collision_free_speed/collision_free_speed.h"
#include "support.h"
#include "validate/corridors.h"
#include <math.h>

#ifdef TH_SLOW_BUILD
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif
#define BARE TH_JSON({"model": "collision_free_speed", "preset": "tordeux2016"})

static th_collision_free_speed_params published(void) {
    th_collision_free_speed_params p = {
#define X(name, value, min, max, unit, source, doc) .name = (float)(value),
        TH_COLLISION_FREE_SPEED_PARAMS(X)
#undef X
    };
    return p;
}

static void parameters_are_the_published_ones(void **state) {
    (void)state;
    th_collision_free_speed_params p = published();
    assert_true(p.time_gap == 1.0f && p.repulsion_strength == 5.0f && p.repulsion_distance == 0.1f);
}

// R(s) = a e^((l - s) / D) along the line between the two, in double from its definition.
static void push_is_the_published_one(void **state) {
    (void)state;
    th_collision_free_speed_params p = published();
    for (int k = 1; k < 200; ++k) {
        double angle = 0.37 * k, s = 0.02 * k, l = 0.3;
        th_vec2 to = th_v((float)(s * cos(angle)), (float)(s * sin(angle)));
        th_vec2 push = th_collision_free_speed_push(&p, to, (float)l);
        double weight = 5 * exp((l - s) / 0.1);
        assert_true(fabs((double)push.x + weight * cos(angle)) < 1e-4 * weight + 1e-9);
        assert_true(fabs((double)push.y + weight * sin(angle)) < 1e-4 * weight + 1e-9);
    }
}

// Ahead and in the strip that the walker sweeps, and nowhere else.
static void room_is_to_the_agent_in_the_way(void **state) {
    (void)state;
    th_vec2 e = th_v(1, 0);
    assert_true(fabsf(th_headway_room(th_v(1, 0), e, 0.4f) - 0.6f) < 1e-6f);
    assert_true(fabsf(th_headway_room(th_v(1, 0.39f), e, 0.4f) - (hypotf(1, 0.39f) - 0.4f)) <
                1e-6f);
    assert_true(th_headway_room(th_v(1, 0.41f), e, 0.4f) > 1e6f);
    assert_true(th_headway_room(th_v(1, -0.41f), e, 0.4f) > 1e6f);
    assert_true(th_headway_room(th_v(-0.5f, 0), e, 0.4f) > 1e6f);
    assert_true(th_headway_speed(0.6f, 1, 1.34f) == 0.6f);
    assert_true(th_headway_speed(5, 1, 1.34f) == 1.34f);
    assert_true(th_headway_speed(-0.1f, 1, 1.34f) == 0.0f);
    assert_true(th_headway_speed(0.5f, 2, 1.34f) == 0.25f);
}

// The velocity of the person with the lowest id after one step of 10 ms. Every agent wants to walk to the right at 1.3
// m/s.
static th_vec2 first_velocity(const char *positions, double wall) {
    char json[800];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, %.2f, 30, 10]}}],
                      "exits": [{"id": "e", "line": [[30, %.2f], [30, 10]]}],
                      "groups": [{"positions": %s, "to": "e", "speed": 1.3, "radius": 0.2, "plan": "straight",
                                  "move": {"model": "collision_free_speed", "preset": "tordeux2016"}}],
                      "run": {"step": 0.01}}),
                                                       wall, wall, positions);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 1);
    th_vec2 v = {field_of(world, TH_FIELD_VELOCITY_X)[0], field_of(world, TH_FIELD_VELOCITY_Y)[0]};
    th_world_destroy(world);
    th_scene_destroy(scene);
    return v;
}

static void one_step_is_the_published_one(void **state) {
    (void)state;
    // The nearest of those ahead decides, wherever it lies in memory; the others push hardly at all.
    assert_near(first_velocity("[[10, 5], [11.2, 5], [11.6, 5]]", 0).x, 0.8, 0.02);
    assert_near(first_velocity("[[10, 5], [11.6, 5], [11.2, 5]]", 0).x, 0.8, 0.02);
    // Beside a body, but not in the way: R = 5 e^((0.4 - 0.5) / 0.1) = 1.84 across against a wish of 1.
    th_vec2 v = first_velocity("[[10, 5], [10, 5.5]]", 0);
    assert_near(v.y / v.x, -5 * exp(-1.0), 0.03);
    // The room is that along the way taken: pushed off its line, an agent is not slowed by another ahead on it.
    v = first_velocity("[[10, 5], [10.9, 5], [10, 5.42]]", 0);
    assert_true(v.y < -1.0f && th_length(v) > 1.2f);
    // A wall 1 cm off: 5 e^(-0.01 / 0.02) = 3 away from it.
    v = first_velocity("[[10, 5]]", 4.79);
    assert_near(v.y / v.x, 5 * exp(-0.5), 0.1);
}

// The paper's fundamental diagram: a file of people 1 / rho apart walks at min(v0, (1 / rho - l) / T).
static void a_file_has_the_fundamental_diagram(void **state) {
    (void)state;
    const double densities[] = {0.5, 0.6, 0.7, 0.8, 1.0}; // [1/m] denser they walk in zigzag
    for (int k = 0; k < 5; ++k) {
        const double width = 0.8; // people of 0.4 m: every agent is in the way of the next
        th_periodic_def def = th_periodic_def_default("\"none\"", BARE, densities[k] / width);
        def.width = width;
        def.warm_up = SLOW ? 1 : 30;
        def.measured = SLOW ? 1 : 10;
        th_periodic_result result;
        th_error error = {0};
        if (th_periodic_run(&def, &result, &error) != TH_OK) fail_msg("%s", error.message);
        double spacing = def.length / result.people, speed = fmin(1.34, spacing - 0.4);
        print_message("%.1f /m: %.3f m/s, by the formula %.3f\n", densities[k], result.speed,
                      speed);
        if (!SLOW) assert_true(fabs(result.speed - speed) < 0.02);
        assert_int_equal(result.repairs, 0);
    }
}

// "Intrinsically collision-free": two crowds against each other, nothing but the model keeps them apart.
static void no_agents_collide(void **state) {
    (void)state;
    th_periodic_def def = th_periodic_def_default("\"none\"", BARE, 1.5);
    def.length = 12;
    def.both_ways = true;
    def.warm_up = 1;
    def.measured = SLOW ? 1 : 10;
    th_periodic_result result;
    th_error error = {0};
    if (th_periodic_run(&def, &result, &error) != TH_OK) fail_msg("%s", error.message);
    assert_true(result.people == 72);
    assert_true(result.overlaps == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_published_ones),
        cmocka_unit_test(push_is_the_published_one),
        cmocka_unit_test(room_is_to_the_agent_in_the_way),
        cmocka_unit_test(one_step_is_the_published_one),
        cmocka_unit_test(a_file_has_the_fundamental_diagram),
        cmocka_unit_test(no_agents_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
