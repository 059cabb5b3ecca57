// Social force of Helbing, Farkas, Vicsek 2000: the formula, the sub-steps, the loop over people.
// The scenarios (rooms, doors) are in test_social_force_scenes.c. SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/social_force/social_force.h"
#include "move/substep.h"
#include "small_world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static th_social_force_params published(void) {
    th_social_force_params p = {
#define X(name, value, min, max, unit, source, doc) .name = (float)(value),
        TH_SOCIAL_FORCE_PARAMS(X)
#undef X
    };
    return p;
}

static small_world *create(th_social_force_params p) {
    return small_world_create(TH_MOVE_SOCIAL_FORCE, (const float *)(const void *)&p,
                              (int)(sizeof p / sizeof(float)));
}

static void step(small_world *small) {
    small_world_index(small, 20.0f, 1.2f);
    run_model(&small->world, TH_MOVE_SOCIAL_FORCE);
    small_world_commit(small);
}

static void parameters_are_the_published_ones_and_begin_with_contact(void **state) {
    (void)state;
    th_social_force_params p = published();
    assert_true(sizeof p / sizeof(float) <= TH_PARAM_MAX);
    assert_true(p.relaxation_time == 0.5f && p.repulsion_strength == 2000.0f);
    assert_true(p.repulsion_distance == 0.08f && p.body_stiffness == 1.2e5f &&
                p.friction == 2.4e5f);
}

// Card check 1.
static void free_person_reaches_63_percent_after_the_relaxation_time(void **state) {
    (void)state;
    small_world *small = create(published());
    uint32_t i = small_world_add(small, 0.0f, 0.0f, 0.3f);
    small->world.agents.preferred_x[i] = 1.34f;
    for (int k = 0; k < 5; ++k) step(small);
    float share = small->world.agents.velocity_x[i] / 1.34f;
    assert_true(fabsf(share - 0.6321f) < 0.005f);
    assert_true(small->world.agents.velocity_y[i] == 0.0f);
    for (int k = 0; k < 45; ++k) step(small);
    assert_true(fabsf(small->world.agents.velocity_x[i] - 1.34f) < 1e-3f);
    small_world_destroy(small);
}

static th_social_force_sum pair(const th_social_force_params *p, th_vec2 xi, th_vec2 xj,
                                float radii, th_vec2 vj) {
    th_vec2 away = th_sub(xi, xj);
    float d = th_length(away);
    return th_social_force_of(p, 1.0f / p->repulsion_distance, th_social_force_reach(p),
                              th_scale(1.0f / d, away), radii - d, vj);
}

// Card check 2.
static void two_people_at_rest_push_equally(void **state) {
    (void)state;
    th_social_force_params p = published();
    th_vec2 xi = th_v(0.31f, -0.17f), xj = th_v(0.55f, 0.29f);
    th_social_force_sum fi = pair(&p, xi, xj, 0.6f, th_v(0, 0));
    th_social_force_sum fj = pair(&p, xj, xi, 0.6f, th_v(0, 0));
    assert_true(fabsf(fi.push.x + fj.push.x) < 1e-9f && fabsf(fi.push.y + fj.push.y) < 1e-9f);
    assert_true(fi.push.x < -100.0f && fi.push.y < -100.0f); // i is pushed away from j

    small_world *small = create(p); // and in the stage, over a whole step
    small_world_add(small, xi.x, xi.y, 0.3f);
    small_world_add(small, xj.x, xj.y, 0.3f);
    step(small);
    th_agents *a = &small->world.agents;
    assert_true(fabsf(a->velocity_x[0] + a->velocity_x[1]) < 1e-5f);
    assert_true(fabsf(a->velocity_y[0] + a->velocity_y[1]) < 1e-5f);
    assert_true(fabsf(a->velocity_x[0]) > 0.1f);
    small_world_destroy(small);
}

static void force_has_the_published_size(void **state) {
    (void)state;
    th_social_force_params p = published();
    th_social_force_sum apart = pair(&p, th_v(0.8f, 0), th_v(0, 0), 0.6f, th_v(0, 0));
    assert_true(fabs((double)apart.push.x - 2000.0 * exp(-0.2 / 0.08)) < 0.01);
    th_social_force_sum touching = pair(&p, th_v(0.55f, 0), th_v(0, 0), 0.6f, th_v(0, 0));
    double expected = 2000.0 * exp(0.05 / 0.08) + 1.2e5 * 0.05;
    assert_true(fabs((double)touching.push.x - expected) < 0.05);
    th_social_force_sum deep = pair(&p, th_v(0.001f, 0), th_v(0, 0), 0.6f, th_v(0, 0));
    assert_true(deep.push.x <= TH_SOCIAL_FORCE_CAP + 1.2e5f * 0.6f);
    th_social_force_sum far = pair(&p, th_v(1.41f, 0), th_v(0, 0), 0.6f, th_v(0, 0));
    assert_true(far.push.x == 0.0f);
}

static void friction_draws_along_with_the_other(void **state) {
    (void)state;
    th_social_force_params p = published();
    th_vec2 xi = th_v(0, 0), xj = th_v(0.58f, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        th_vec2 vj = th_v(0, (float)sign * 0.7f);
        th_social_force_sum f = pair(&p, xi, xj, 0.6f, vj);
        float expected = 2.4e5f * 0.02f * vj.y;
        assert_true(fabsf(f.push.y - expected) < 0.1f);
        assert_true(fabsf(th_social_force_at(&f, vj).y) < 0.01f); // none when both move alike
        assert_true(fabsf(th_social_force_at(&f, th_v(0, 2.0f * vj.y)).y + expected) < 0.1f);
    }
    th_social_force_sum apart = pair(&p, xi, th_v(0.61f, 0), 0.6f, th_v(0, 5.0f));
    assert_true(apart.push.y == 0.0f && apart.drag_yy == 0.0f);
}

// The whole stage, one sub-step, against a plain double loop over all pairs.
static void stage_agrees_with_all_pairs_in_double(void **state) {
    (void)state;
    enum { COUNT = 600 };
    th_social_force_params p = published();
    small_world *small = create(p);
    th_agents *a = &small->world.agents;
    small->world.dt = 0.01f;
    for (uint32_t k = 0; k < COUNT; ++k) {
        th_random4 r = th_philox(3, TH_STREAM_PLACE, k, 0), s = th_philox(3, TH_STREAM_SPEED, k, 0);
        uint32_t i =
            small_world_add(small, 14.0f * th_uniform(r.v[0]) - 7.0f,
                            14.0f * th_uniform(r.v[1]) - 7.0f, 0.25f + 0.1f * th_uniform(r.v[2]));
        a->velocity_x[i] = 2.0f * th_uniform(s.v[0]) - 1.0f;
        a->velocity_y[i] = 2.0f * th_uniform(s.v[1]) - 1.0f;
        a->preferred_x[i] = 2.0f * th_uniform(s.v[2]) - 1.0f;
        a->preferred_y[i] = 2.0f * th_uniform(s.v[3]) - 1.0f;
    }
    small_world_index(small, 8.0f, 0.7f);
    run_model(&small->world, TH_MOVE_SOCIAL_FORCE);
    double h = 0.01, m = 80.0, worst = 0.0;
    for (int i = 0; i < COUNT; ++i) {
        double x = m * (double)a->velocity_x[i] + h * m * (double)a->preferred_x[i] / 0.5;
        double y = m * (double)a->velocity_y[i] + h * m * (double)a->preferred_y[i] / 0.5;
        double xx = m + h * m / 0.5, xy = 0.0, yy = xx;
        for (int j = 0; j < COUNT; ++j) {
            double dx = (double)a->position_x[i] - (double)a->position_x[j];
            double dy = (double)a->position_y[i] - (double)a->position_y[j];
            double d = sqrt(dx * dx + dy * dy);
            double overlap = (double)a->radius[i] + (double)a->radius[j] - d;
            if (j == i || overlap < -0.8) continue;
            double g = fmax(overlap, 0.0), nx = dx / d, ny = dy / d, tx = -ny, ty = nx;
            double radial = fmin(2000.0 * exp(overlap / 0.08), 20000.0) + 1.2e5 * g;
            double slide = 2.4e5 * g;
            double along = slide * ((double)a->velocity_x[j] * tx + (double)a->velocity_y[j] * ty);
            x += h * (radial * nx + along * tx);
            y += h * (radial * ny + along * ty);
            xx += h * slide * tx * tx;
            xy += h * slide * tx * ty;
            yy += h * slide * ty * ty;
        }
        double det = xx * yy - xy * xy, vx = (yy * x - xy * y) / det, vy = (xx * y - xy * x) / det;
        double error =
            hypot((double)a->next_velocity_x[i] - vx, (double)a->next_velocity_y[i] - vy);
        worst = fmax(worst, error / (1.0 + hypot(vx, vy)));
        double moved_x = (double)a->next_position_x[i] - (double)a->position_x[i];
        assert_true(fabs(moved_x - h * vx) < 1e-5 * (1.0 + fabs(vx)));
    }
    assert_true(worst < 2e-5);
    assert_true(worst > 0.0);
    small_world_destroy(small);
}

static void walls_push_once_per_corner(void **state) {
    (void)state;
    th_vec2 points[8];
    small_world *small = create(published());
    // A square pillar, counter-clockwise, its lower side cut in two.
    th_vec2 pillar[] = {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {0, 2}};
    small_world_wall(small, pillar, 5);
    th_vec2 thin[] = {{10, 0}, {12, 0}}; // a thin wall: two edges back to back
    small_world_wall(small, thin, 2);
    small_world_walls_done(small);
    th_walls walls = th_world_walls(&small->world);
    const struct {
        th_vec2 p, nearest;
    } cases[] = {
        {{0.6f, -0.4f}, {0.6f, 0}},   // beside the cut
        {{1.0f, -0.4f}, {1, 0}},      // at the cut
        {{2.3f, -0.3f}, {2, 0}},      // at a corner
        {{-0.3f, 2.4f}, {0, 2}},      // at another
        {{2.5f, 1.0f}, {2, 1}},       // beside a side
        {{11, 0.3f}, {11, 0}},        // thin wall, one side
        {{11.5f, -0.3f}, {11.5f, 0}}, // and the other
        {{12.3f, 0.1f}, {12, 0}},     // past its end
        {{9.6f, -0.1f}, {10, 0}},     // past its start
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        int count = th_wall_points(&walls, 0, cases[k].p, 1.0f, points, 8);
        assert_int_equal(count, 1);
        assert_true(th_length(th_sub(points[0], cases[k].nearest)) < 1e-5f);
    }
    assert_int_equal(th_wall_points(&walls, 0, th_v(6, 1), 1.0f, points, 8), 0);
    small_world_destroy(small);
}

static void room_corner_pushes_from_both_walls(void **state) {
    (void)state;
    small_world *small = create(published());
    th_vec2 room[] = {{0, 0}, {0, 5}, {5, 5}, {5, 0}}; // clockwise: solid outside
    small_world_wall(small, room, 4);
    small_world_walls_done(small);
    th_walls walls = th_world_walls(&small->world);
    th_vec2 points[8];
    assert_int_equal(th_wall_points(&walls, 0, th_v(0.4f, 0.5f), 1.0f, points, 8), 2);
    uint32_t i = small_world_add(small, 0.25f, 0.25f, 0.3f);
    step(small);
    th_agents *a = &small->world.agents;
    assert_true(a->velocity_x[i] > 0.1f && fabsf(a->velocity_x[i] - a->velocity_y[i]) < 1e-5f);
    small_world_destroy(small);
}

static void walls_slow_agents_that_slide_along_them(void **state) {
    (void)state;
    small_world *small = create(published());
    th_vec2 floor[] = {{10, 0}, {-10, 0}, {-10, -1}, {10, -1}}; // solid below y = 0
    small_world_wall(small, floor, 4);
    small_world_walls_done(small);
    small->world.dt = 0.01f;
    uint32_t i = small_world_add(small, 0.0f, 0.29f, 0.3f);
    small->world.agents.velocity_x[i] = 1.0f;
    step(small);
    // 80 kg, h = 0.01 s, kappa g = 2400 kg/s, tau = 0.5 s: 1 / (1 + h/tau + h kappa g / m)
    assert_true(fabsf(small->world.agents.velocity_x[i] - 1.0f / (1.0f + 0.02f + 0.3f)) < 1e-3f);
    small_world_destroy(small);
}

// An agent walks along a thin wall at y = 0; with `company` another comes towards it on the other side.
// The sum of the bits of its positions.
static uint32_t walk_along_wall(bool company, bool wall, float line_of_sight) {
    th_social_force_params p = published();
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
        step(small);
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
    th_social_force_params p = published();
    small_world *small = create(p);
    th_agents *a = &small->world.agents;
    th_vec2 pillar[] = {{-0.05f, -4}, {0.05f, -4}, {0.05f, 0}, {-0.05f, 0}};
    uint8_t door_closed[1] = {closed};
    small->world.door_closed = door_closed;
    small_world_wall(small, pillar, 4);
    for (int w = 0; w < 4; ++w) small->walls[w].door = door ? 0 : -1;
    small_world_walls_done(small);
    uint32_t i = small_world_add(small, -0.3f, y, 0.2f), id = a->id[i];
    step(small);
    float alone = a->velocity_x[0];
    a->position_x[0] = -0.3f;
    a->position_y[0] = y;
    a->velocity_x[0] = a->velocity_y[0] = 0.0f;
    small_world_add(small, 0.3f, y, 0.2f);
    step(small);
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

static void coincident_people_part(void **state) {
    (void)state;
    small_world *small = create(published());
    for (int k = 0; k < 3; ++k) small_world_add(small, 1.0f, 1.0f, 0.3f);
    for (int k = 0; k < 10; ++k) step(small);
    th_agents *a = &small->world.agents;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < i; ++j) {
            assert_true(hypotf(a->position_x[i] - a->position_x[j],
                               a->position_y[i] - a->position_y[j]) > 0.5f);
        }
    }
    assert_int_equal(small->world.counters.repairs, 0);
    small_world_destroy(small);
}

// More people within reach than one portion of the neighbour list holds.
static void a_heap_of_people_is_pushed_apart(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    for (uint32_t k = 0; k < 2 * TH_NEAR_MAX + 9; ++k) {
        th_random4 r = th_philox(5, TH_STREAM_PLACE, k, 0);
        small_world_add(small, th_uniform(r.v[0]), th_uniform(r.v[1]), 0.2f);
    }
    for (int k = 0; k < 20; ++k) step(small);
    int inside = 0;
    for (int i = 0; i < a->count; ++i) {
        assert_true(isfinite(a->position_x[i]) && isfinite(a->velocity_y[i]));
        inside += a->position_x[i] > 0.0f && a->position_x[i] < 1.0f && a->position_y[i] > 0.0f &&
                  a->position_y[i] < 1.0f;
    }
    assert_true(inside < 20);
    small_world_destroy(small);
}

static void what_is_not_finite_is_repaired(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    uint32_t bad = small_world_add(small, 0.0f, 0.0f, 0.3f),
             good = small_world_add(small, 0.7f, 0.0f, 0.3f);
    a->preferred_x[bad] = NAN;
    step(small);
    assert_true(a->position_x[bad] == 0.0f && a->velocity_x[bad] == 0.0f);
    assert_int_equal(small->world.counters.repairs, 10); // one in each sub-step
    assert_true(isfinite(a->position_x[good]) && a->velocity_x[good] > 0.0f);
    small_world_destroy(small);
}

static void others_are_seen_but_not_written(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    uint32_t own = small_world_add(small, 0.0f, 0.0f, 0.3f),
             other = small_world_add(small, 1.0f, 0.0f, 0.3f);
    a->group[other] = 1;
    a->velocity_x[other] = -4.0f; // gets within reach only during the sub-steps
    a->next_position_x[other] = a->next_velocity_y[other] = 77.0f;
    step(small);
    assert_true(a->velocity_x[own] < -0.1f);
    assert_true(a->next_position_x[other] == 77.0f && a->next_velocity_y[other] == 77.0f);
    assert_true(a->position_x[other] == 1.0f);
    small_world_destroy(small);
}

static void a_standing_agent_is_pushed_but_does_not_set_off(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    uint32_t waits = small_world_add(small, 0.0f, 0.0f, 0.3f);
    a->phase[waits] = TH_PHASE_WAITING;
    a->preferred_x[waits] = 1.0f; // an agent that waits does not follow it
    step(small);
    assert_true(a->velocity_x[waits] == 0.0f);
    uint32_t pusher = small_world_add(small, -0.55f, 0.0f, 0.3f);
    a->preferred_x[pusher] = 1.0f;
    uint32_t id = a->id[waits];
    step(small);
    uint32_t now = a->id[0] == id ? 0 : 1;
    assert_true(a->velocity_x[now] > 0.1f);
    small_world_destroy(small);
}

static void result_does_not_depend_on_threads(void **state) {
    (void)state;
    static float expected[4][SMALL_MAX];
    const int threads[] = {1, 2, 3, 8};
    for (int t = 0; t < 4; ++t) {
        small_world *small = create(published());
        th_agents *a = &small->world.agents;
        small->world.threads = threads[t];
        for (uint32_t k = 0; k < 2000; ++k) {
            th_random4 r = th_philox(9, TH_STREAM_PLACE, k, 0);
            uint32_t i =
                small_world_add(small, (float)(k % 45) * 0.5f - 11.0f + 0.1f * th_uniform(r.v[0]),
                                (float)(k / 45) * 0.5f - 11.0f + 0.1f * th_uniform(r.v[1]), 0.25f);
            a->preferred_x[i] = k % 2 ? 1.3f : -1.3f;
        }
        for (int k = 0; k < 3; ++k) step(small);
        float *got[4] = {a->position_x, a->position_y, a->velocity_x, a->velocity_y};
        for (int f = 0; f < 4; ++f) {
            if (t == 0) memcpy(expected[f], got[f], 2000 * sizeof(float));
            assert_memory_equal(expected[f], got[f], 2000 * sizeof(float));
        }
        small_world_destroy(small);
    }
}

static void herding_turns_towards_the_others(void **state) {
    (void)state;
    for (int herds = 0; herds <= 1; ++herds) {
        th_social_force_params p = published();
        p.herding = herds ? 0.5f : 0.0f;
        small_world *small = create(p);
        th_agents *a = &small->world.agents;
        uint32_t one = small_world_add(small, 0.0f, 0.0f, 0.2f);
        a->preferred_x[one] = 1.0f;
        for (int k = 0; k < 4; ++k) { // in a ring, all of another group, heading north
            uint32_t j = small_world_add(small, k % 2 ? 1.6f : -1.6f, k / 2 ? 0.9f : -0.9f, 0.2f);
            a->group[j] = 1;
            a->preferred_y[j] = 1.0f;
        }
        uint32_t id = a->id[one];
        step(small);
        while (a->id[one] != id) one = (one + 1) % 5;
        if (herds) { // halfway between east and north
            assert_true(fabsf(a->velocity_y[one] / a->velocity_x[one] - 1.0f) < 0.01f);
        } else {
            assert_true(fabsf(a->velocity_y[one]) < 1e-4f);
        }
        small_world_destroy(small);
    }
}

// Agents behind a wall do not turn the agent, where sight counts.
static void herding_does_not_reach_through_walls(void **state) {
    (void)state;
    const th_vec2 thin[] = {{-9, 0.5f}, {9, 0.5f}, {9, 0.6f}, {-9, 0.6f}};
    for (int sight = 0; sight <= 1; ++sight) {
        th_social_force_params p = published();
        p.herding = 0.5f;
        p.line_of_sight = (float)sight;
        small_world *small = create(p);
        th_agents *a = &small->world.agents;
        small_world_wall(small, thin, 4);
        small_world_walls_done(small);
        a->preferred_x[small_world_add(small, 0.0f, -0.9f, 0.2f)] = 1.0f;
        uint32_t j = small_world_add(small, 0.3f, 0.9f, 0.2f);
        a->group[j] = 1;
        a->preferred_y[j] = -1.0f;
        step(small);
        float vy = a->velocity_y[small_world_find(small, 1)];
        assert_true(sight ? fabsf(vy) < 0.02f : vy < -0.1f);
        small_world_destroy(small);
    }
}

// The same push moves an agent that is twice as heavy half as much.
static void pushes_are_shared_out_by_mass(void **state) {
    (void)state;
    float speed[2];
    for (int heavy = 0; heavy <= 1; ++heavy) {
        small_world *small = create(published());
        th_agents *a = &small->world.agents;
        a->mass[small_world_add(small, 0.0f, 0.0f, 0.2f)] = heavy ? 160.0f : 80.0f;
        a->group[small_world_add(small, 0.45f, 0.0f, 0.2f)] = 1;
        step(small);
        speed[heavy] = a->velocity_x[small_world_find(small, 1)];
        small_world_destroy(small);
    }
    assert_true(speed[0] < -0.05f);
    assert_true(fabsf(speed[1] / speed[0] - 0.5f) <
                0.1f); // they part, so the push is not quite the same
}

static void impatience_raises_the_speed_of_stopped_agents(void **state) {
    (void)state;
    assert_true(th_social_force_impatient_speed(1.0f, 0.0f, 5.0f) == 5.0f);
    assert_true(th_social_force_impatient_speed(1.0f, 1.0f, 5.0f) == 1.0f);
    assert_true(th_social_force_impatient_speed(1.0f, 0.5f, 5.0f) == 3.0f);
    assert_true(th_social_force_impatient_speed(1.0f, -2.0f, 5.0f) == 5.0f);
    assert_true(th_social_force_impatient_speed(1.0f, 0.0f, 0.0f) == 1.0f); // off
    assert_true(th_social_force_impatient_speed(0.0f, 0.0f, 5.0f) == 0.0f); // stands
}

// Card check 6, in the hardest case: disks at the closest packing, every agent pressing to the middle.
static void packed_box_does_not_blow_up(void **state) {
    (void)state;
    small_world *small = create(published());
    th_agents *a = &small->world.agents;
    th_vec2 box[] = {{-2.6f, -2.6f}, {-2.6f, 2.6f}, {2.6f, 2.6f}, {2.6f, -2.6f}};
    small_world_wall(small, box, 4);
    small_world_walls_done(small);
    for (int row = 0; row < 9; ++row) {
        for (int column = 0; column < 8; ++column) {
            float x = -2.3f + 0.6f * (float)column + (row % 2 ? 0.3f : 0.0f),
                  y = -2.3f + 0.52f * (float)row;
            small_world_add(small, x, y, 0.3f);
        }
    }
    float fastest = 0.0f;
    for (int k = 0; k < 200; ++k) { // 20 s
        for (int i = 0; i < a->count; ++i) {
            th_vec2 to = th_scale(1.5f, th_unit(th_v(-a->position_x[i], -a->position_y[i])));
            a->preferred_x[i] = to.x;
            a->preferred_y[i] = to.y;
        }
        step(small);
        for (int i = 0; i < a->count; ++i) {
            fastest = fmaxf(fastest, hypotf(a->velocity_x[i], a->velocity_y[i]));
            assert_true(fabsf(a->position_x[i]) < 2.6f && fabsf(a->position_y[i]) < 2.6f);
        }
    }
    assert_true(fastest < 5.0f * 1.5f);
    print_message("packed box: fastest %.2f m/s with v0 1.5 m/s\n", (double)fastest);
    small_world_destroy(small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_published_ones_and_begin_with_contact),
        cmocka_unit_test(free_person_reaches_63_percent_after_the_relaxation_time),
        cmocka_unit_test(two_people_at_rest_push_equally),
        cmocka_unit_test(force_has_the_published_size),
        cmocka_unit_test(friction_draws_along_with_the_other),
        cmocka_unit_test(stage_agrees_with_all_pairs_in_double),
        cmocka_unit_test(walls_push_once_per_corner),
        cmocka_unit_test(room_corner_pushes_from_both_walls),
        cmocka_unit_test(walls_slow_agents_that_slide_along_them),
        cmocka_unit_test(agents_are_not_felt_through_a_thin_wall),
        cmocka_unit_test(sight_ends_at_pillars_and_shut_doors),
        cmocka_unit_test(coincident_people_part),
        cmocka_unit_test(a_heap_of_people_is_pushed_apart),
        cmocka_unit_test(what_is_not_finite_is_repaired),
        cmocka_unit_test(others_are_seen_but_not_written),
        cmocka_unit_test(a_standing_agent_is_pushed_but_does_not_set_off),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(herding_turns_towards_the_others),
        cmocka_unit_test(herding_does_not_reach_through_walls),
        cmocka_unit_test(pushes_are_shared_out_by_mass),
        cmocka_unit_test(impatience_raises_the_speed_of_stopped_agents),
        cmocka_unit_test(packed_box_does_not_blow_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
