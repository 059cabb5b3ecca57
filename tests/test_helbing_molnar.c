// Social force of Helbing, Molnar 1995: the formula, the loop over people, lanes and doors.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/helbing_molnar/helbing_molnar.h"
#include "move/substep.h"
#include "small_world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static th_helbing_molnar_params published(void) {
    th_helbing_molnar_params p = {
#define X(name, value, min, max, unit, source, doc) .name = (float)(value),
        TH_HELBING_MOLNAR_PARAMS(X)
#undef X
    };
    return p;
}

static small_world *create(th_helbing_molnar_params p) {
    return small_world_create(TH_MOVE_HELBING_MOLNAR, (const float *)(const void *)&p,
                              (int)(sizeof p / sizeof(float)));
}

static void step(small_world *small, float extent) {
    small_world_index(small, extent, 2.0f);
    run_model(&small->world, TH_MOVE_HELBING_MOLNAR);
    small_world_commit(small);
}

static void parameters_are_the_published_ones_and_begin_with_contact(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    assert_true(sizeof p / sizeof(float) <= TH_PARAM_MAX);
    assert_true(p.relaxation_time == 0.5f && p.repulsion_strength == 2.1f &&
                p.repulsion_distance == 0.3f);
    assert_true(p.wall_strength == 10.0f && p.wall_distance == 0.2f && p.step_time == 0.5f);
    assert_true(p.sight_angle == 200.0f && p.rear_weight == 0.5f && p.max_speed_factor == 1.3f);
}

// V0 e^(-b/sigma) straight from its definition, in double.
static double potential(double rx, double ry, double yx, double yy) {
    double s = hypot(yx, yy), sum = hypot(rx, ry) + hypot(rx - yx, ry - yy);
    return 2.1 * exp(-0.5 * sqrt(sum * sum - s * s) / 0.3);
}

static void repulsion_is_minus_the_gradient_of_the_potential(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    int compared = 0;
    for (uint32_t k = 0; k < 4000; ++k) {
        th_random4 a = th_philox(1, TH_STREAM_PLACE, k, 0);
        th_vec2 r = th_v(4.0f * th_uniform(a.v[0]) - 2.0f, 4.0f * th_uniform(a.v[1]) - 2.0f);
        th_vec2 y = th_v(4.0f * th_uniform(a.v[2]) - 2.0f, 4.0f * th_uniform(a.v[3]) - 2.0f);
        double rx = (double)r.x, ry = (double)r.y, yx = (double)y.x, yy = (double)y.y, h = 1e-6;
        double fx = (potential(rx - h, ry, yx, yy) - potential(rx + h, ry, yx, yy)) / (2 * h);
        double fy = (potential(rx, ry - h, yx, yy) - potential(rx, ry + h, yx, yy)) / (2 * h);
        double v = potential(rx, ry, yx, yy), steep = hypot(fx, fy) / (v / 0.3);
        if (v < 2.1 * exp(-6.9) || steep > 4.9) continue; // cut off, or bounded
        th_vec2 f = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, y);
        assert_true(hypot((double)f.x - fx, (double)f.y - fy) < 2e-3 * (0.1 + hypot(fx, fy)));
        ++compared;
    }
    assert_true(compared > 2000);
}

static void repulsion_stays_bounded_at_the_ends_of_the_step(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    float bound = 2.1f / 0.3f * TH_HELBING_MOLNAR_STEEPEST * 1.0001f;
    for (int k = 0; k < 1000; ++k) {
        float angle = (float)k * 0.37f, d = 0.2f / (float)(k + 1);
        th_vec2 r = th_v(d * cosf(angle), d * sinf(angle)), y = th_v(2.6f, 0.0f);
        assert_true(th_length(th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, y)) <= bound);
        assert_true(th_length(th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, th_add(r, y), y)) <=
                    bound);
    }
    th_vec2 none = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, th_v(0, 0), th_v(0, 0));
    assert_true(none.x == 0.0f && none.y == 0.0f);
}

// Steps count up to 4 m, whatever an agent's speed.
static void long_steps_count_as_four_metres(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    th_vec2 r = th_v(3.0f, 0.5f);
    th_vec2 four = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, th_v(4, 0)),
            ten = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, th_v(10, 0)),
            three = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, th_v(3, 0));
    assert_true(fabsf(four.x - ten.x) < 1e-4f && fabsf(four.y - ten.y) < 1e-4f);
    assert_true(fabsf(four.x - three.x) > 1e-3f);
}

static void a_standing_agent_repels_in_circles(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    for (int k = 0; k < 12; ++k) {
        double angle = k * 0.5236, d = 0.3 + 0.1 * k;
        th_vec2 r = th_v((float)(d * cos(angle)), (float)(d * sin(angle)));
        th_vec2 f = th_helbing_molnar_repulsion(&p, 1.0f / 0.3f, r, th_v(0, 0));
        double size = 2.1 / 0.3 * exp(-d / 0.3);
        assert_true(fabs((double)f.x - size * cos(angle)) < 1e-5 &&
                    fabs((double)f.y - size * sin(angle)) < 1e-5);
    }
}

static void what_is_out_of_view_counts_half(void **state) {
    (void)state;
    float cos_sight = (float)cos(100.0 * 3.14159265358979 / 180.0);
    th_vec2 east = th_v(1, 0);
    for (int degrees = 0; degrees < 360; degrees += 5) {
        if (degrees == 100 || degrees == 260) continue; // on the edge
        float angle = (float)degrees * 0.01745329f;
        // Something in direction `angle` pushes the other way.
        th_vec2 f = th_v(-cosf(angle), -sinf(angle));
        bool seen = degrees < 100 || degrees > 260;
        assert_true(th_helbing_molnar_weight(cos_sight, 0.5f, east, f) == (seen ? 1.0f : 0.5f));
        assert_true(th_helbing_molnar_weight(-1.0f, 0.5f, th_v(0, 0), f) ==
                    1.0f); // looks all around
    }
}

static void free_person_reaches_63_percent_and_is_never_too_fast(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    uint32_t i = small_world_add(small, 0.0f, 0.0f, 0.2f);
    a->speed[i] = 1.34f;
    a->preferred_x[i] = 1.34f;
    for (int k = 0; k < 5; ++k) step(small, 20.0f);
    assert_true(fabsf(a->velocity_x[i] / 1.34f - 0.6321f) < 0.02f); // ten steps of tau/10
    a->preferred_x[i] = 20.0f;
    for (int k = 0; k < 10; ++k) step(small, 20.0f);
    assert_true(fabsf(a->velocity_x[i] - 1.3f * 1.34f) < 1e-4f);
    small_world_destroy(small);
}

static void stage_agrees_with_all_pairs(void **state) {
    (void)state;
    enum { COUNT = 500 };
    th_helbing_molnar_params p = published();
    p.max_speed_factor = 5.0f;
    p.step_time = 2.0f; // long ellipses reach further than the default
    small_world *small = create(p);
    th_agents *a = &small->world.agents;
    small->world.dt = 0.05f;
    for (uint32_t k = 0; k < COUNT; ++k) {
        th_random4 r = th_philox(3, TH_STREAM_PLACE, k, 0), s = th_philox(3, TH_STREAM_SPEED, k, 0);
        uint32_t i = small_world_add(small, 24.0f * th_uniform(r.v[0]) - 12.0f,
                                     24.0f * th_uniform(r.v[1]) - 12.0f, 0.2f);
        a->velocity_x[i] = 3.0f * th_uniform(s.v[0]) - 1.5f;
        a->velocity_y[i] = 3.0f * th_uniform(s.v[1]) - 1.5f;
        a->preferred_x[i] = 2.0f * th_uniform(s.v[2]) - 1.0f;
        a->preferred_y[i] = 2.0f * th_uniform(s.v[3]) - 1.0f;
        a->speed[i] = 20.0f; // no limit
    }
    small_world_index(small, 13.0f, 0.9f);
    run_model(&small->world, TH_MOVE_HELBING_MOLNAR);
    float cos_sight = (float)cos(100.0 * 3.14159265358979 / 180.0);
    for (int i = 0; i < COUNT; ++i) {
        double x = 0.0, y = 0.0;
        th_vec2 drive = th_v(a->preferred_x[i], a->preferred_y[i]);
        for (int j = 0; j < COUNT; ++j) {
            if (j == i) continue;
            th_vec2 f = th_helbing_molnar_repulsion(
                &p, 1.0f / p.repulsion_distance,
                th_v(a->position_x[i] - a->position_x[j], a->position_y[i] - a->position_y[j]),
                th_v(p.step_time * a->velocity_x[j], p.step_time * a->velocity_y[j]));
            double weight = (double)th_helbing_molnar_weight(cos_sight, 0.5f, th_unit(drive), f);
            x += weight * (double)f.x;
            y += weight * (double)f.y;
        }
        double vx = ((double)a->velocity_x[i] + 0.1 * (double)drive.x + 0.05 * x) / 1.1;
        double vy = ((double)a->velocity_y[i] + 0.1 * (double)drive.y + 0.05 * y) / 1.1;
        assert_true(hypot((double)a->next_velocity_x[i] - vx, (double)a->next_velocity_y[i] - vy) <
                    1e-4);
    }
    small_world_destroy(small);
}

static void walls_repel(void **state) {
    (void)state;
    th_helbing_molnar_params p = published();
    th_vec2 f = th_helbing_molnar_wall(&p, th_v(0, 1), 0.4f);
    assert_true(f.x == 0.0f && fabs((double)f.y - 50.0 * exp(-2.0)) < 1e-4);
    small_world *small = create(p);
    th_vec2 floor[] = {{10, 0}, {-10, 0}, {-10, -1}, {10, -1}};
    small_world_wall(small, floor, 4);
    small_world_walls_done(small);
    uint32_t i = small_world_add(small, 0.0f, 0.4f, 0.2f);
    step(small, 20.0f);
    assert_true(small->world.agents.velocity_y[i] > 0.2f &&
                small->world.agents.velocity_x[i] == 0.0f);
    small_world_destroy(small);
}

static void noise_has_the_stated_deviation_and_is_off_by_default(void **state) {
    (void)state;
    for (int on = 0; on <= 1; ++on) {
        th_helbing_molnar_params p = published();
        p.noise = on ? 0.5f : 0.0f;
        p.repulsion_strength = 0.0f;
        small_world *small = create(p);
        th_agents *a = &small->world.agents;
        small->world.dt = 0.05f;
        for (int k = 0; k < 2000; ++k) small_world_add(small, 0.01f * (float)k - 10.0f, 0.0f, 0.2f);
        small_world_index(small, 20.0f, 2.0f);
        run_model(&small->world, TH_MOVE_HELBING_MOLNAR);
        double sum = 0.0, square = 0.0;
        for (int i = 0; i < 2000; ++i) {
            double push = (double)a->next_velocity_y[i] * 1.1 / 0.05;
            sum += push;
            square += push * push;
        }
        assert_true(fabs(sum / 2000.0) < 0.05); // 0.5 / sqrt(2000) is 0.011
        if (on)
            assert_true(fabs(sqrt(square / 2000.0) - 0.5) < 0.02);
        else
            assert_true(square == 0.0);
        small_world_destroy(small);
    }
}

static void coincident_people_part(void **state) {
    (void)state;
    small_world *small = create(published());
    for (int k = 0; k < 2; ++k) {
        uint32_t i = small_world_add(small, 1.0f, 1.0f, 0.2f);
        small->world.agents.preferred_x[i] = small->world.agents.velocity_x[i] = 1.0f;
    }
    for (int k = 0; k < 10; ++k) step(small, 20.0f);
    th_agents *a = &small->world.agents;
    assert_true(hypotf(a->position_x[0] - a->position_x[1], a->position_y[0] - a->position_y[1]) >
                0.2f);
    assert_int_equal(small->world.counters.repairs, 0);
    small_world_destroy(small);
}

// An agent walks along a thin wall at y = 0; with `company` another comes towards it on the other side.
// The sum of the bits of its positions.
static uint32_t walk_along_wall(bool company, bool wall, float line_of_sight) {
    th_helbing_molnar_params p = published();
    p.line_of_sight = line_of_sight;
    small_world *small = create(p);
    th_agents *a = &small->world.agents;
    th_vec2 thin[] = {{-15, 0}, {15, 0}}, far[] = {{-15, 18}, {15, 18}};
    small_world_wall(small, wall ? thin : far, 2);
    small_world_walls_done(small);
    uint32_t i = small_world_add(small, -2.0f, 0.28f, 0.2f), id = a->id[i], sum = 0;
    a->preferred_x[i] = 1.3f;
    a->preferred_y[i] = -1.0f; // keeps close to the wall
    if (company) {
        uint32_t j = small_world_add(small, 2.0f, -0.25f, 0.25f);
        a->preferred_x[j] = a->velocity_x[j] = -2.5f;
        a->preferred_y[j] = 1.0f;
        a->speed[j] = 2.5f;
    }
    small->world.max_radius = 0.25f;
    for (int k = 0; k < 30; ++k) {
        step(small, 20.0f);
        uint32_t bits[2];
        memcpy(&bits[0], &a->position_x[small_world_find(small, id)], sizeof bits[0]);
        memcpy(&bits[1], &a->position_y[small_world_find(small, id)], sizeof bits[1]);
        sum = 31 * (31 * sum + bits[0]) + bits[1];
    }
    small_world_destroy(small);
    return sum;
}

static void agents_are_not_felt_through_a_thin_wall(void **state) {
    (void)state;
    assert_int_equal(walk_along_wall(true, true, 1.0f), walk_along_wall(false, true, 1.0f));
    assert_int_not_equal(walk_along_wall(true, true, 0.0f), walk_along_wall(false, true, 0.0f));
    assert_int_not_equal(walk_along_wall(true, false, 1.0f), walk_along_wall(false, false, 1.0f));
}

// Speed towards -x that an agent at (-0.3, y) gets in a step from another at (0.3, y), with a pillar of
// 10 cm, or a door, between x = -0.05 and 0.05 for y < 0.
static float push_past_edge(float y, bool door, bool closed) {
    th_helbing_molnar_params p = published();
    small_world *small = create(p);
    th_agents *a = &small->world.agents;
    th_vec2 pillar[] = {{-0.05f, -4}, {0.05f, -4}, {0.05f, 0}, {-0.05f, 0}};
    uint8_t door_closed[1] = {closed};
    small->world.door_closed = door_closed;
    small_world_wall(small, pillar, 4);
    for (int w = 0; w < 4; ++w) small->walls[w].door = door ? 0 : -1;
    small_world_walls_done(small);
    uint32_t i = small_world_add(small, -0.3f, y, 0.2f), id = a->id[i];
    step(small, 20.0f);
    float alone = a->velocity_x[0];
    a->position_x[0] = -0.3f;
    a->position_y[0] = y;
    a->velocity_x[0] = a->velocity_y[0] = 0.0f;
    small_world_add(small, 0.3f, y, 0.2f);
    step(small, 20.0f);
    float pushed = alone - a->velocity_x[small_world_find(small, id)];
    small_world_destroy(small);
    return pushed;
}

static void sight_ends_at_pillars_and_shut_doors(void **state) {
    (void)state;
    assert_true(push_past_edge(-0.01f, false, false) == 0.0f); // centres behind the edge
    assert_true(push_past_edge(-1.0f, false, false) == 0.0f);
    assert_true(push_past_edge(0.01f, false, false) > 0.01f); // just past it
    assert_true(push_past_edge(-1.0f, true, true) == 0.0f);
    assert_true(push_past_edge(-1.0f, true, false) > 0.01f);
}

static void result_does_not_depend_on_threads(void **state) {
    (void)state;
    static float expected[4][SMALL_MAX];
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; ++t) {
        th_helbing_molnar_params p = published();
        p.noise = 0.1f;
        small_world *small = create(p);
        th_agents *a = &small->world.agents;
        small->world.threads = threads[t];
        for (uint32_t k = 0; k < 1500; ++k) {
            th_random4 r = th_philox(9, TH_STREAM_PLACE, k, 0);
            uint32_t i = small_world_add(small, 30.0f * th_uniform(r.v[0]) - 15.0f,
                                         30.0f * th_uniform(r.v[1]) - 15.0f, 0.2f);
            a->preferred_x[i] = k % 2 ? 1.3f : -1.3f;
        }
        for (int k = 0; k < 3; ++k) step(small, 20.0f);
        float *got[4] = {a->position_x, a->position_y, a->velocity_x, a->velocity_y};
        for (int f = 0; f < 4; ++f) {
            if (t == 0) memcpy(expected[f], got[f], 1500 * sizeof(float));
            assert_memory_equal(expected[f], got[f], 1500 * sizeof(float));
        }
        small_world_destroy(small);
    }
}

// Among all pairs at the same height within half a metre and not more than 7.5 m apart: agents that walk the
// same way less agents that do not, as a share. 0: mixed, 1: perfect lanes.
static double lane_order(const th_agents *a) {
    int like = 0, unlike = 0;
    for (int i = 0; i < a->count; ++i) {
        for (int j = 0; j < i; ++j) {
            if (fabsf(a->position_y[j] - a->position_y[i]) > 0.5f) continue;
            if (fabsf(a->position_x[j] - a->position_x[i]) > 7.5f) continue;
            if (a->preferred_x[j] * a->preferred_x[i] > 0.0f)
                ++like;
            else
                ++unlike;
        }
    }
    return (double)(like - unlike) / (like + unlike);
}

// A corridor 10 m wide and 50 m long; an agent that leaves at one end comes in again at the other at the same
// height.
static small_world *corridor(uint64_t seed, uint32_t people) {
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    th_vec2 south[] = {{40, -5}, {-40, -5}, {-40, -6}, {40, -6}};
    th_vec2 north[] = {{-40, 5}, {40, 5}, {40, 6}, {-40, 6}};
    small_world_wall(small, south, 4);
    small_world_wall(small, north, 4);
    small_world_walls_done(small);
    for (uint32_t k = 0; k < people; ++k) {
        th_random4 r = th_philox(seed, TH_STREAM_PLACE, k, 0);
        uint32_t i = small_world_add(small, 50.0f * th_uniform(r.v[0]) - 25.0f,
                                     9.0f * th_uniform(r.v[1]) - 4.5f, 0.2f);
        // N(1.34, 0.26) as in the paper, by the sum of twelve uniforms.
        float normal = -6.0f;
        for (uint32_t n = 0; n < 3; ++n) {
            th_random4 s = th_philox(seed, TH_STREAM_SPEED, k, n);
            for (int w = 0; w < 4; ++w) normal += th_uniform(s.v[w]);
        }
        a->speed[i] = 1.34f + 0.26f * normal;
        a->preferred_x[i] = k % 2 ? a->speed[i] : -a->speed[i];
    }
    return small;
}

// Card check 5, first half.
static void opposite_flows_form_lanes_within_a_minute(void **state) {
    (void)state;
    enum { PEOPLE = 120, SEEDS = 4 }; // 0.24 /m2
    double before = 0.0, after = 0.0, along = 0.0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        small_world *small = corridor(seed, PEOPLE);
        th_agents *a = &small->world.agents;
        before += lane_order(a) / SEEDS;
        for (int k = 0; k < 600; ++k) {
            step(small, 26.0f);
            for (int i = 0; i < PEOPLE; ++i) {
                if (a->position_x[i] > 25.0f) a->position_x[i] -= 50.0f;
                if (a->position_x[i] < -25.0f) a->position_x[i] += 50.0f;
                assert_true(fabsf(a->position_y[i]) < 5.0f);
            }
        }
        after += lane_order(a) / SEEDS;
        for (int i = 0; i < PEOPLE; ++i) {
            float share = a->velocity_x[i] * a->preferred_x[i] / (a->speed[i] * a->speed[i]);
            along += (double)share / PEOPLE / SEEDS;
        }
        small_world_destroy(small);
    }
    print_message("lane order %.2f at the start, %.2f after 60 s; speed %.2f of the preferred\n",
                  before, after, along);
    assert_true(fabs(before) < 0.15);
    assert_true(after > 0.35);
    assert_true(along > 0.9);
}

// Card check 5, second half: two crowds meet at a door. Returns the mean number of people that pass in
// a row in the same direction; by chance it would be 2.
static double mean_burst(int *passed) {
    enum { COUNT = 100 };
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    th_vec2 above[] = {{-0.1f, 0.6f}, {0.1f, 0.6f}, {0.1f, 8}, {-0.1f, 8}};
    th_vec2 below[] = {{0.1f, -0.6f}, {-0.1f, -0.6f}, {-0.1f, -8}, {0.1f, -8}};
    small_world_wall(small, above, 4);
    small_world_wall(small, below, 4);
    small_world_walls_done(small);
    static float last_x[COUNT + 1];
    for (uint32_t k = 0; k < COUNT; ++k) {
        th_random4 r = th_philox(13, TH_STREAM_PLACE, k, 0);
        float side = k % 2 ? 1.0f : -1.0f;
        uint32_t i = small_world_add(small, side * (1.0f + 6.0f * th_uniform(r.v[0])),
                                     8.0f * th_uniform(r.v[1]) - 4.0f, 0.2f);
        a->speed[i] = 1.34f;
        last_x[a->id[i]] = a->position_x[i];
    }
    int last = 0, bursts = 0;
    *passed = 0;
    for (int k = 0; k < 1200; ++k) { // 2 minutes
        for (int i = 0; i < COUNT; ++i) {
            float to = a->id[i] % 2 ? 1.0f : -1.0f; // id k + 1: even k starts on the left
            bool through = a->position_x[i] * to > 0.0f;
            th_vec2 goal = through ? th_v(14.0f * to, a->position_y[i]) : th_v(0.3f * to, 0.0f);
            th_vec2 e = th_unit(th_sub(goal, th_v(a->position_x[i], a->position_y[i])));
            a->preferred_x[i] = 1.34f * e.x;
            a->preferred_y[i] = 1.34f * e.y;
        }
        step(small, 16.0f);
        for (int i = 0; i < COUNT; ++i) {
            int to = a->id[i] % 2 ? 1 : -1;
            float was = last_x[a->id[i]] * (float)to, is = a->position_x[i] * (float)to;
            last_x[a->id[i]] = a->position_x[i];
            if (was > 0.0f || is <= 0.0f) continue;
            ++*passed;
            if (to != last) ++bursts;
            last = to;
        }
    }
    small_world_destroy(small);
    return bursts > 0 ? (double)*passed / bursts : 0.0;
}

static void crowds_pass_a_door_in_bursts(void **state) {
    (void)state;
    int passed;
    double burst = mean_burst(&passed);
    print_message("door: %d passages, %.1f in a row\n", passed, burst);
    assert_true(passed >= 60);
    assert_true(burst > 3.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_published_ones_and_begin_with_contact),
        cmocka_unit_test(repulsion_is_minus_the_gradient_of_the_potential),
        cmocka_unit_test(repulsion_stays_bounded_at_the_ends_of_the_step),
        cmocka_unit_test(long_steps_count_as_four_metres),
        cmocka_unit_test(a_standing_agent_repels_in_circles),
        cmocka_unit_test(what_is_out_of_view_counts_half),
        cmocka_unit_test(free_person_reaches_63_percent_and_is_never_too_fast),
        cmocka_unit_test(stage_agrees_with_all_pairs),
        cmocka_unit_test(walls_repel),
        cmocka_unit_test(noise_has_the_stated_deviation_and_is_off_by_default),
        cmocka_unit_test(coincident_people_part),
        cmocka_unit_test(agents_are_not_felt_through_a_thin_wall),
        cmocka_unit_test(sight_ends_at_pillars_and_shut_doors),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(opposite_flows_form_lanes_within_a_minute),
        cmocka_unit_test(crowds_pass_a_door_in_bursts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
