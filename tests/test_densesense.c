// DenseSense: the formulas, the sums over the crowd, the authors' own figures, the choice of a direction.
// SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "run_model.h"
#include "small_world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

static th_densesense_params preset(const char *name) {
    th_model_def def = {.name = "densesense", .preset = name};
    th_model_choice choice;
    assert_int_equal(th_model_choose(TH_STAGE_FILTER, &def, false, false, "filter", &choice, NULL),
                     TH_OK);
    th_densesense_params p;
    memcpy(&p, choice.params, sizeof p);
    return p;
}

static small_world *create(th_densesense_params p) {
    const float none[1] = {0};
    small_world *small = small_world_create(TH_MOVE_ORCA, none, 1);
    small->groups[0].filter = small->groups[1].filter = TH_FILTER_DENSESENSE;
    memcpy(small->groups[0].filter_params, &p, sizeof p);
    memcpy(small->groups[1].filter_params, &p, sizeof p);
    return small;
}

static uint32_t add(small_world *small, float x, float y, float speed) {
    uint32_t i = small_world_add(small, x, y, 0.2f);
    small->world.agents.preferred_x[i] = speed;
    return i;
}

static void filter(small_world *small, float extent) {
    small_world_index(small, extent, 1.2f);
    run_model(&small->world, TH_FILTER_DENSESENSE);
}

static double speed_of(const small_world *small, uint32_t i) {
    const th_agents *a = &small->world.agents;
    return hypot((double)a->preferred_x[i], (double)a->preferred_y[i]);
}

// ---- the authors' code on frozen crowds

typedef struct reference {
    int count;
    float x[400], y[400], speed[400];
} reference;

static reference read_reference(const char *name) {
    reference r = {0};
    char path[512];
    snprintf(path, sizeof path, TH_SOURCE_DIR "/tests/data/densesense/%s.csv", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[256];
    assert_non_null(fgets(line, sizeof line, file)); // names of the columns
    while (r.count < 400 && fgets(line, sizeof line, file)) {
        int id;
        float vx, vy;
        assert_int_equal(sscanf(line, "%d,%f,%f,%f,%f,%f", &id, &r.x[r.count], &r.y[r.count], &vx,
                                &vy, &r.speed[r.count]),
                         6);
        r.count++;
    }
    fclose(file);
    assert_int_equal(r.count, 400);
    return r;
}

static void compare_reference(const char *name, bool wall) {
    reference r = read_reference(name);
    small_world *small = create(preset("menge"));
    float lowest = 1e30f;
    for (int k = 0; k < r.count; ++k) {
        add(small, r.x[k], r.y[k], 1.0f);
        lowest = fminf(lowest, r.y[k]);
    }
    if (wall) {
        float top = lowest - 0.3f;
        const th_vec2 solid[] = {{-60, top - 1}, {60, top - 1}, {60, top}, {-60, top}};
        small_world_wall(small, solid, 4);
        small_world_walls_done(small);
    }
    filter(small, 36.0f);
    double worst = 0.0;
    for (int k = 0; k < r.count; ++k) {
        uint32_t i = small_world_find(small, (uint32_t)k + 1);
        worst = fmax(worst, fabs(speed_of(small, i) - (double)r.speed[k]));
        assert_true(small->world.agents.preferred_y[i] == 0.0f);
    }
    print_message("%s: at most %.1e m/s off\n", name, worst);
    assert_true(worst < 1e-3);
    small_world_destroy(small);
}

static void menge_is_the_authors_code(void **state) {
    (void)state;
    compare_reference("static_rho0.5", false);
    compare_reference("static_rho1", false);
    compare_reference("static_rho2", false);
    compare_reference("static_rho3", false);
    compare_reference("static_rho4", false);
    compare_reference("static_rho5", false);
    compare_reference("static_wall_rho1", true);
    compare_reference("static_wall_rho3", true);
}

// ---- formulas

// Check 2: the denser, the slower; and eq. 1 undone: at speed V the room is (1 + beta) strides.
static void speed_falls_with_density(void **state) {
    (void)state;
    const char *const names[] = {"menge", "consistent"};
    for (int n = 0; n < 2; ++n) {
        th_densesense_params p = preset(names[n]);
        float pace = th_densesense_pace(&p, 1, 1), last = 1e30f;
        for (int k = 0; k <= 1000; ++k) {
            float v = th_densesense_speed(pace, th_densesense_room(&p, 0.01f * (float)k), 1.34f);
            assert_true(v <= last && v <= 1.34f && v >= 0.0f);
            last = v;
        }
        assert_true(last < 0.1f);
        double room = 0.7, v = (double)th_densesense_speed(pace, (float)room, 100.0f);
        double strides = sqrt(v) / (double)p.stride_factor / (double)p.steps_per_stride;
        assert_true(fabs(room - (1.0 + (double)p.stride_buffer) * strides) < 1e-5);
    }
}

static void weight_and_turn_are_what_they_say(void **state) {
    (void)state;
    const th_densesense_kernel kernel = {1.0f, 0.0f, 1.0f, 2.0f};
    for (int k = 0; k < 1400; ++k) {
        float d = 0.001f * (float)k;
        double gauss = exp(-(double)(d * d));
        assert_true(fabs((double)th_densesense_weight(&kernel, d, 0.0f) - gauss) < 1e-6);
        assert_true(fabs((double)th_densesense_weight_within_cut(&kernel, 0.0f, d) - gauss) <
                    2.5e-3);
    }
    assert_true(th_densesense_weight(&kernel, 1.8f, 0.0f) == 0.0f);
    assert_true(th_densesense_weight_within_cut(&kernel, 1.8f, 0.0f) == 0.0f);
    for (int k = -157; k <= 157; ++k) {
        th_vec2 turn = th_densesense_turn(0.01f * (float)k);
        assert_true(fabs((double)turn.x - cos((double)(0.01f * (float)k))) < 4e-6);
        assert_true(fabs((double)turn.y - sin((double)(0.01f * (float)k))) < 4e-6);
    }
}

// The Gaussian of an even crowd is its density: the 2-D prefactor and what the cut puts back.
static void areal_density_is_a_density(void **state) {
    (void)state;
    th_densesense_params p = preset("consistent");
    float reach = th_densesense_reach(&p);
    for (int turn = 0; turn < 4; ++turn) {
        th_vec2 e = th_densesense_turn(0.4f * (float)turn);
        th_densesense_kernel kernel = th_densesense_kernel_of(&p, e, reach);
        double sum = 0.0, step = 0.02;
        for (int i = -300; i <= 300; ++i)
            for (int j = -300; j <= 300; ++j)
                sum += (double)th_densesense_weight(&kernel, (float)(i * step), (float)(j * step));
        double rho = sum * step * step * (double)th_densesense_prefactor(&p, reach);
        assert_true(fabs(rho - 1.0) < 2e-3);
    }
}

// ---- the loop

// A crowd without order, the same on every machine.
static void scatter(small_world *small, int count, float half, float speed, float turn) {
    th_vec2 e = th_densesense_turn(turn);
    for (int k = 0; k < count; ++k) {
        th_random4 r = th_philox(7, TH_STREAM_PLACE, (uint32_t)k, 0);
        uint32_t i = add(small, half * (2.0f * th_uniform(r.v[0]) - 1.0f),
                         half * (2.0f * th_uniform(r.v[1]) - 1.0f), 0.0f);
        small->world.agents.preferred_x[i] = speed * e.x;
        small->world.agents.preferred_y[i] = speed * e.y;
    }
}

// Every sum against eq. 3 in double over all agents, for any direction and size of cell.
static void sums_are_those_of_brute_force(void **state) {
    (void)state;
    th_densesense_params p = preset("consistent");
    p.arc_samples = 1;
    double reach = (double)th_densesense_reach(&p), sigma = (double)p.sigma_agent;
    for (int trial = 0; trial < 8; ++trial) {
        small_world *small = create(p);
        float turn = -1.5f + 0.42f * (float)trial;
        scatter(small, 400, 7.0f, 1.34f, turn);
        small_world_index(small, 8.0f, trial % 2 ? 0.5f : 1.2f);
        th_agents *a = &small->world.agents;
        double ex = cos((double)turn), ey = sin((double)turn), worst = 0.0;
        run_model(&small->world, TH_FILTER_DENSESENSE);
        for (int i = 0; i < a->count; ++i) {
            double qx = (double)a->position_x[i] + ex, qy = (double)a->position_y[i] + ey, sum = 0;
            for (int j = 0; j < a->count; ++j) {
                double dx = (double)a->position_x[j] - qx, dy = (double)a->position_y[j] - qy;
                double along = dx * ex + dy * ey, across = 2.5 * (dx * ey - dy * ex);
                double d2 = along * along + across * across;
                if (j != i && d2 <= reach * reach) sum += exp(-d2 / (2 * sigma * sigma));
            }
            double rho = sum * (double)th_densesense_prefactor(&p, (float)reach);
            double room = rho > 0 ? 1.0 / (0.48 * rho) : 100.0;
            double v = fmin(1.34, pow((double)th_densesense_pace(&p, 1, 1) * room, 2));
            worst = fmax(worst, fabs(v - speed_of(small, (uint32_t)i)));
        }
        // An agent on the edge of the cut (e^-2) may fall to either side of it.
        assert_true(worst < 0.02);
        small_world_destroy(small);
    }
}

// Check 1.
static void alone_nothing_changes(void **state) {
    (void)state;
    const char *const names[] = {"menge", "consistent"};
    for (int n = 0; n < 2; ++n) {
        small_world *small = create(preset(names[n]));
        uint32_t i = add(small, 0.3f, 0.2f, 1.27f);
        small->world.agents.preferred_y[i] = 0.41f;
        th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] =
            0.5f; // as if it had gone around another before
        filter(small, 10.0f);
        assert_true(small->world.agents.preferred_x[i] == 1.27f);
        assert_true(small->world.agents.preferred_y[i] == 0.41f);
        assert_true(th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] == 0.0f);
        small_world_destroy(small);
    }
}

// A dense standing front from x = 1.2 m on with a gap around `middle`; an agent at the origin wants through.
static void front(small_world *small, float middle, float other) {
    for (int row = 0; row < 10; ++row)
        for (int k = -10; k <= 10; ++k) {
            float x = 1.2f + 0.42f * (float)row, y = 0.42f * (float)k;
            if (fabsf(y - middle) < 0.7f || fabsf(y - other) < 0.7f) continue;
            uint32_t i = small_world_add(small, x, y, 0.2f);
            small->world.agents.phase[i] = TH_PHASE_STANDING;
        }
}

// Check 6: with the arc people steer into a gap, to either side; without it they do not.
static void people_steer_into_a_gap(void **state) {
    (void)state;
    for (int side = -1; side <= 1; side += 2)
        for (int arc = 0; arc < 2; ++arc) {
            th_densesense_params p = preset("consistent");
            p.arc_interval = 0.0f;
            if (!arc) p.arc_samples = 1;
            small_world *small = create(p);
            front(small, 1.2f * (float)side, 1e6f);
            uint32_t id = small->world.agents.id[add(small, 0.0f, 0.0f, 1.34f)];
            filter(small, 8.0f);
            const th_agents *a = &small->world.agents;
            uint32_t i = small_world_find(small, id);
            float aside = a->preferred_y[i] * (float)side;
            if (arc) {
                assert_true(aside > 0.2f * a->preferred_x[i] &&
                            th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] * (float)side >
                                0.2f);
            } else {
                assert_true(aside == 0.0f &&
                            th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] == 0.0f &&
                            a->preferred_x[i] < 0.5f);
            }
            small_world_destroy(small);
        }
}

// Agents take the right one of two equal gaps, but an agent that has chosen the left one keeps to it.
// Eq. 9: to a far goal full speed at 60 degrees gains half of the way, standing nothing; where the plan wants people
// after tau it gains as little as standing. A near goal is not run past.
static void a_far_goal_is_worth_a_detour(void **state) {
    (void)state;
    assert_true(fabsf(th_densesense_gain(1e3f, 1.0f, 1.3f, 0.5f) - 0.65f) < 2e-3f);
    assert_true(fabsf(th_densesense_gain(1.3f, 1.0f, 1.3f, 0.5f)) < 1e-6f);
    assert_true(th_densesense_gain(1e3f, 1.0f, 0.0f, 0.5f) == 0.0f);
    assert_true(th_densesense_gain(0.5f, 1.0f, 1.3f, 1.0f) < 0.0f);
    assert_true(fabsf(th_densesense_most_gain(0.5f, 1.0f, 1.3f, 1.0f) - 0.5f) < 1e-6f);
}

// Standing people ahead slow an agent down, and so do oncoming ones, half as much with `passing`.
static void oncoming_people_count_less(void **state) {
    (void)state;
    double speeds[3];
    for (int kind = 0; kind < 3; ++kind) {
        th_densesense_params p = preset("passing");
        p.arc_samples = 1;
        if (kind == 2) p.oncoming = 1.0f;
        small_world *small = create(p);
        for (int k = 0; k < 48; ++k)
            add(small, 0.7f + 0.45f * (float)(k % 8), -1.2f + 0.45f * (float)(k / 8),
                kind == 0 ? 1.34f : -1.34f);
        uint32_t id = small->world.agents.id[add(small, 0.0f, 0.0f, 1.34f)];
        filter(small, 8.0f);
        speeds[kind] = speed_of(small, small_world_find(small, id));
        small_world_destroy(small);
    }
    assert_true(speeds[1] > 2.0 * speeds[0] && speeds[2] == speeds[0]);
}

static void a_choice_is_kept(void **state) {
    (void)state;
    for (int before = 0; before < 2; ++before) {
        th_densesense_params p = preset("consistent");
        p.arc_interval = 0.0f;
        small_world *small = create(p);
        front(small, 1.2f, -1.2f);
        uint32_t id = small->world.agents.id[add(small, 0.0f, 0.0f, 1.34f)];
        for (int n = 0; n < 2; ++n) {
            uint32_t i = small_world_find(small, id);
            small->world.agents.preferred_x[i] = 1.34f;
            small->world.agents.preferred_y[i] = 0.0f;
            if (before && n == 0)
                th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] = 20.0f * 0.01745329f;
            filter(small, 8.0f);
        }
        float turn =
            th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[small_world_find(small, id)];
        assert_true(before ? turn > 0.3f : turn < -0.3f);
        small_world_destroy(small);
    }
}

static const th_vec2 SCREEN[] = {{-9, 0.5f}, {9, 0.5f}, {9, 0.6f}, {-9, 0.6f}};

// The speed of an agent that walks along a thin wall with a crowd on one of its sides.
static double beside_wall(th_densesense_params p, bool behind, bool crowd) {
    small_world *small = create(p);
    small_world_wall(small, SCREEN, 4);
    small_world_walls_done(small);
    for (int k = 0; crowd && k < 60; ++k) {
        float x = -2.8f + 0.4f * (float)(k % 15), y = 0.3f * (float)(k / 15);
        small_world_add(small, x, behind ? 0.7f + y : -0.3f - y, 0.2f);
        small->world.agents.phase[small->world.agents.count - 1] = TH_PHASE_STANDING;
    }
    uint32_t id = small->world.agents.id[add(small, 0.1f, 0.1f, 1.34f)];
    filter(small, 9.0f);
    double speed = speed_of(small, small_world_find(small, id));
    small_world_destroy(small);
    return speed;
}

static void walls_hide_people_and_take_room(void **state) {
    (void)state;
    th_densesense_params p = preset("consistent"), blind = p, open = p, added = p;
    p.arc_samples = blind.arc_samples = open.arc_samples = added.arc_samples = 1;
    blind.density_sight = 0;
    open.obstacle_mode = 0;
    added.obstacle_mode = 2;
    assert_true(beside_wall(p, false, false) == (double)1.34f); // 0 / FS = 0: the paper's form
    assert_true(beside_wall(p, true, true) == (double)1.34f);
    assert_true(beside_wall(blind, true, true) < 0.6);
    double free_space = beside_wall(p, false, true), none = beside_wall(open, false, true),
           additive = beside_wall(added, false, true);
    assert_true(free_space < 0.9 * none && free_space > 0.2 * none);
    assert_true(additive < 0.95 * none);
}

// Own stride factor, buffer and height: within their spreads, the same again for the same person.
static void people_differ(void **state) {
    (void)state;
    th_densesense_params p = preset("consistent"), one = p;
    p.stride_factor_spread = 0.2f;
    p.stride_buffer_spread = 0.3f;
    p.height_spread = 0.1f;
    float mean = th_densesense_pace(&one, 1, 1);
    float beta = p.stride_buffer,
          highest = mean * 1.2f / 0.9f * (1.0f + beta) / (1.0f + beta * 0.7f),
          lowest = mean * 0.8f / 1.1f * (1.0f + beta) / (1.0f + beta * 1.3f), sum = 0.0f,
          low = 1e30f, high = 0.0f;
    for (uint32_t id = 1; id <= 2000; ++id) {
        float pace = th_densesense_pace(&p, 5, id);
        assert_true(pace > lowest && pace < highest && pace == th_densesense_pace(&p, 5, id));
        sum += pace / 2000.0f;
        low = fminf(low, pace);
        high = fmaxf(high, pace);
    }
    assert_true(fabsf(sum / mean - 1.0f) < 0.05f);
    assert_true(low < 0.75f * mean && high > 1.3f * mean);
    p = one;
    p.height = 1.5f; // shorter people need less room
    assert_true(th_densesense_pace(&p, 1, 1) > mean);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(menge_is_the_authors_code),
        cmocka_unit_test(speed_falls_with_density),
        cmocka_unit_test(weight_and_turn_are_what_they_say),
        cmocka_unit_test(areal_density_is_a_density),
        cmocka_unit_test(sums_are_those_of_brute_force),
        cmocka_unit_test(alone_nothing_changes),
        cmocka_unit_test(people_steer_into_a_gap),
        cmocka_unit_test(a_far_goal_is_worth_a_detour),
        cmocka_unit_test(oncoming_people_count_less),
        cmocka_unit_test(a_choice_is_kept),
        cmocka_unit_test(walls_hide_people_and_take_room),
        cmocka_unit_test(people_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
