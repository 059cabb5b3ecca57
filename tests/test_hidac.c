// HiDAC, the low level: its formulas, and each rule with and without. SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "hidac_world.h"
#include "move/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// (d x v) x d, normalised, in three dimensions as the paper writes it.
static void the_tangent_is_the_double_cross_product(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 1000; ++k) {
        th_random4 a = th_philox(1, TH_STREAM_PLACE, k, 0);
        double dx = (double)th_uniform(a.v[0]) - 0.5, dy = (double)th_uniform(a.v[1]) - 0.5;
        th_vec2 v = th_unit(th_v(th_uniform(a.v[2]) - 0.5f, th_uniform(a.v[3]) - 0.5f));
        double z = dx * (double)v.y - dy * (double)v.x, x = -z * dy, y = z * dx;
        double length = hypot(x, y);
        if (length < 0.1 * (dx * dx + dy * dy)) continue; // along v
        th_vec2 t = th_hidac_tangent(v, th_v((float)dx, (float)dy));
        assert_near(t.x, x / length, 1e-4);
        assert_near(t.y, y / length, 1e-4);
    }
    th_vec2 none = th_hidac_tangent(th_v(1, 0), th_v(2, 0));
    assert_true(none.x == 0.0f && none.y == 0.0f);
}

// (7) to (9): a neighbour ahead to the left turns the agent to the right by (distance - D)^2, times 1.2 where it walks the
// same way and 2.4 where it comes.
static void avoidance_grows_with_nearness_and_against(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = in_hall(&scene, "[5, 4]", "", "");
    th_walls walls = th_world_walls(world);
    th_hidac_view i = th_hidac_look(world, &walls, 0);
    i.heading = i.along_walls = th_v(1, 0);
    for (int k = 0; k < 12; ++k) {
        bool comes = k % 2;
        double lengths[] = {3, 2, 1.5}, D = lengths[k / 2 % 3], distance = k < 6 ? 0.4 : 0.3;
        i.rectangle = (float)D;
        th_vec2 d = th_scale((float)distance, th_unit(th_v(3, 4)));
        th_vec2 found = th_hidac_avoidance(&i, d, (float)distance, th_v(comes ? -1 : 1, 0), false);
        double strength = (distance - D) * (distance - D) * (comes ? 2.4 : 1.2);
        assert_near(found.x, 0.8 * strength, 1e-4); // (1, 0) without its part along (0.6, 0.8)
        assert_near(found.y, -0.6 * strength, 1e-4);
    }
    end(scene, world);
}

static const char meeting[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [-9, -5, 9, 5]}}],
      "exits": [{"id": "east", "line": [[9, -5], [9, 5]]}, {"id": "west", "line": [[-9, -5], [-9, 5]]}],
      "groups": [{"id": "a", "positions": [[-6, 0]], "to": "east", "speed": 1.3, "move": {"model": "hidac", "keep_side": %d}},
      {"id": "b", "positions": [[6, 0]], "to": "west", "speed": 1.3,
        "move": {"model": "hidac", "keep_side": %d}}], "run": {"step": 0.04, "duration": 20}});

// Where the first of two that meet head on passes the other.
static float passes_at(int side) {
    char json[1024];
    snprintf(json, sizeof json, meeting, side, side);
    th_scene *scene;
    th_world *world = world_with(&scene, 1, json);
    float aside = 0.0f;
    for (int k = 0; k < 200; ++k) {
        th_world_step(world, 1);
        float *x = field_of(world, TH_FIELD_POSITION_X), *y = field_of(world, TH_FIELD_POSITION_Y);
        if (th_world_agent_count(world) == 2 && x[0] > x[1] && aside == 0.0f) aside = y[0] - y[1];
    }
    end(scene, world);
    return aside;
}

static void agents_meeting_head_on_keep_to_their_side(void **state) {
    (void)state;
    assert_true(passes_at(1) < -0.3f); // going east, right is south
    assert_true(passes_at(-1) > 0.3f);
}

typedef struct jam {
    double flow;         // [1/(m s)]
    double acceleration; // mean of people within 3 m of the door [m/s2]
    double overlapping;  // share of person-steps deeper than 1 cm
    int passed;
} jam;

enum { PEOPLE = 150 };

typedef struct watch {
    float vx[PEOPLE + 1], vy[PEOPLE + 1];
    double passed_at[PEOPLE + 1];
    bool passed[PEOPLE + 1], known[PEOPLE + 1];
    double accelerations;
    long accelerated, looked, overlapped;
    int count;
} watch;

static void look_at_jam(th_world *world, watch *w, double time) {
    th_statistics s = th_world_statistics(world);
    int count = th_world_agent_count(world);
    float *x = field_of(world, TH_FIELD_POSITION_X), *y = field_of(world, TH_FIELD_POSITION_Y);
    float *vx = field_of(world, TH_FIELD_VELOCITY_X), *vy = field_of(world, TH_FIELD_VELOCITY_Y);
    uint32_t *id = (uint32_t *)(void *)field_of(world, TH_FIELD_ID);
    for (int i = 0; i < count; ++i) {
        uint32_t k = id[i];
        if (x[i] > 10.2f && !w->passed[k]) {
            w->passed[k] = true;
            w->passed_at[w->count++] = time;
        }
        bool jammed = time > 10 && x[i] < 10 && hypotf(x[i] - 10, y[i] - 5) < 3;
        if (jammed && w->known[k]) {
            w->accelerations += (double)hypotf(vx[i] - w->vx[k], vy[i] - w->vy[k]) / 0.04;
            w->accelerated++;
        }
        w->vx[k] = vx[i];
        w->vy[k] = vy[i];
        w->known[k] = true;
    }
    if (time > 10) {
        w->looked += count;
        w->overlapped += (long)s.overlapping_agents;
    }
}

static jam jam_at_door(double width, uint64_t seed, const char *switches, double limit) {
    char json[2048];
    door_text(json, sizeof json, 5 - width / 2, 5 + width / 2, switches);
    th_scene *scene;
    th_world *world = world_with(&scene, seed, json);
    watch *w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (int k = 1; k < (int)(limit / 0.04) && !th_world_done(world); ++k) {
        th_world_step(world, 1);
        if (th_world_agent_count(world) > 0) look_at_jam(world, w, 0.04 * k);
    }
    int first = 20, last = w->count - 15;
    jam found = {0, w->accelerations / fmax(1, (double)w->accelerated),
                 (double)w->overlapped / fmax(1, (double)w->looked), w->count};
    if (last > first)
        found.flow = (last - first) / (w->passed_at[last] - w->passed_at[first]) / width;
    free(w);
    end(scene, world);
    return found;
}

static void doors_flow_as_measured_without_shaking(void **state) {
    (void)state;
    for (int k = 0; k < CROWDS(3); ++k) {
        jam j = jam_at_door(0.8 + 0.2 * k, (uint64_t)k + 1, "", 250);
        assert_in_range(j.passed, PEOPLE, PEOPLE);
        if (!(j.flow > 1.2 && j.flow < 2.2)) fail_msg("flow %g", j.flow);
        if (!(j.acceleration < 3)) fail_msg("acceleration %g", j.acceleration);
        if (!(j.overlapping < 0.01)) fail_msg("overlapping %g", j.overlapping);
    }
}

static void the_stopping_rule_takes_the_shaking_away(void **state) {
    (void)state;
    jam without =
        jam_at_door(1.2, 1, ", \"preset\": \"paper\", \"stopping\": 0, \"waiting\": 0", 40);
    jam with = jam_at_door(1.2, 1, ", \"preset\": \"paper\", \"waiting\": 0", 40);
    jam own = jam_at_door(1.2, 1, "", 40);
    if (!(without.acceleration > 10 * with.acceleration))
        fail_msg("%g against %g", without.acceleration, with.acceleration);
    assert_true(without.acceleration > 10 * own.acceleration);
}

// Without waiting the same people press: that is what the rule is for.
static void waiting_keeps_people_from_pressing(void **state) {
    (void)state;
    jam with = jam_at_door(1.2, 2, "", 30), without = jam_at_door(1.2, 2, ", \"waiting\": 0", 30);
    assert_true(without.overlapping > 5 * with.overlapping);
}

static void panic_switches_the_rules_off(void **state) {
    (void)state;
    jam calm = jam_at_door(1.0, 1, "", 40), panic = jam_at_door(1.0, 1, ", \"panic\": 1", 40);
    assert_true(panic.passed > calm.passed + 20);
    assert_true(panic.overlapping > 5 * calm.overlapping);
}

// Agents that keep more distance pass a door more slowly; the radius of the disc, which is not printed, matters little.
static void distances_slow_a_door_down(void **state) {
    (void)state;
    static const char *const spaces[] = {"0.02", "0.05", "0.1", "0.2", "0.3"};
    int passed[5];
    for (int k = 0; k < 5; ++k) {
        char space[40];
        snprintf(space, sizeof space, ", \"personal_space\": %s", spaces[k]);
        passed[k] = jam_at_door(1.2, 1, space, 50).passed;
        if (k > 0 && passed[k] >= passed[k - 1])
            fail_msg("%d pass with %s m, %d with %s m", passed[k - 1], spaces[k - 1], passed[k],
                     spaces[k]);
    }
    if (!(passed[0] > 1.5 * passed[4])) fail_msg("%d and %d pass", passed[0], passed[4]);
    int small = jam_at_door(1.2, 1, ", \"waiting_radius\": 0.1", 50).passed,
        large = jam_at_door(1.2, 1, ", \"waiting_radius\": 0.45", 50).passed;
    if (!(large > 0.65 * small)) fail_msg("%d pass with 0.1 m, %d with 0.45 m", small, large);
}

// As printed, but for displacements below 2 cm, a door passes people slowly, and all of them.
static void the_paper_does_not_lock_a_door(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2; ++seed)
        assert_int_equal(jam_at_door(1.2, seed, ", \"preset\": \"paper\"", 400).passed, PEOPLE);
}

// An agent walks through people that stand; their giving way depends on whose personal space is larger.
static double time_through_crowd(int pushers) {
    char json[2048];
    snprintf(
        json, sizeof json,
        TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 4]}}],
         "exits": [{"id": "out", "line": [[12, 0], [12, 4]]}],
         "groups": [{"id": "crowd", "count": 60, "area": {"rect": [3, 0.3, 9, 3.7]}, "to": "out",
            "premovement": 1000, "move": {"model": "hidac", "personal_space": 0.1}},
          {"id": "one", "positions": [[1, 2]], "to": "out", "move": {"model": "hidac",
            "pushers": %d, "personal_space": 0.3}}],
         "run": {"step": 0.04, "duration": 120}}),
                                                 pushers);
    th_scene *scene;
    th_world *world = world_with(&scene, 2, json);
    double time = 0;
    while (th_world_statistics(world).left == 0 && time < 100) {
        th_world_step(world, 5);
        time += 0.2;
    }
    end(scene, world);
    return time;
}

static void a_pushing_agent_opens_a_way_through_a_crowd(void **state) {
    (void)state;
    double pusher = time_through_crowd(1), polite = time_through_crowd(0);
    if (!(pusher < 0.7 * polite)) fail_msg("%g s against %g s", pusher, polite);
}

// Counts people in a hall by the space that they keep.
static void a_share_of_people_push(void **state) {
    (void)state;
    for (int share = 0; share <= 4; ++share) {
        char json[1024];
        snprintf(json, sizeof json,
                 TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}],
         "exits": [{"id": "out", "line": [[40, 0], [40, 20]]}],
         "groups": [{"id": "p", "count": 400, "area": {"rect": [1, 1, 39, 19]}, "to": "out",
            "move": {"model": "hidac", "pushers": %g, "pusher_space": 0.02, "personal_space": 0.1}}]}),
                                                            0.25 * share);
        th_scene *scene;
        th_world *world = world_with(&scene, 1, json);
        th_walls walls = th_world_walls(world);
        int pushers = 0;
        for (uint32_t i = 0; i < 400; ++i) {
            float space = th_hidac_look(world, &walls, i).space;
            assert_true(space == 0.02f || space == 0.1f);
            pushers += space == 0.02f;
        }
        // Shares that are drawn: within three standard deviations, none and all exactly.
        double spread = 3 * sqrt(400 * 0.25 * share * (1 - 0.25 * share));
        assert_near(pushers, 100 * share, spread);
        end(scene, world);
    }
}

// The rectangle shrinks in a dense crowd and not where no agent is.
static void the_rectangle_follows_the_density(void **state) {
    (void)state;
    th_scene *scene;
    char json[2048];
    door_text(json, sizeof json, 4.5, 5.5, "");
    th_world *world = world_with(&scene, 1, json);
    th_world_step(world, 500);
    const float *length = own_field(world, "hidac.rectangle"),
                *x = field_of(world, TH_FIELD_POSITION_X);
    float shortest = 3, longest = 0;
    for (int i = 0; i < th_world_agent_count(world); ++i) {
        if (x[i] < 9.5f) shortest = fminf(shortest, length[i]);
        if (x[i] > 11.5f) longest = fmaxf(longest, length[i]);
    }
    assert_true(shortest < 1.6f && longest > 2.9f);
    end(scene, world);
}

// (1): the direction of an agent that walks obliquely towards the wall below, from the weights of its parts.
static void the_direction_is_the_weighted_sum(void **state) {
    (void)state;
    static const double weights[][3] = {{1, 0.2, 0.3}, {1, 0.2, 0}, {1, 0, 2}, {0.5, 3, 1}};
    for (int k = 0; k < 4; ++k) {
        char move[128];
        const double *w = weights[k];
        snprintf(move, sizeof move,
                 ", \"attractor_weight\": %g, \"previous_weight\": %g, \"walls_weight\": %g", w[0],
                 w[1], w[2]);
        th_scene *scene;
        th_world *world = in_hall(&scene, "[5, 1]", "", move);
        th_walls walls = th_world_walls(world);
        th_hidac_view i = th_hidac_look(world, &walls, 0);
        i.wish = th_v(0.8f, -0.6f);
        i.heading = i.along_walls = th_v(0.6f, -0.8f);
        th_hidac_see_all(world, &walls, &i);
        th_vec2 found = th_hidac_direction(&i);
        // Along the wall, which is to the east.
        double x = 0.8 * w[0] + 0.6 * w[1] + w[2], y = -0.6 * w[0] - 0.8 * w[1];
        assert_near(found.x, x / hypot(x, y), 1e-5);
        assert_near(found.y, y / hypot(x, y), 1e-5);
        end(scene, world);
    }
}

typedef struct gait {
    double early, late; // pace after 0.2 and 3 s [m/s]
} gait;

static gait gait_of(const char *move) {
    th_scene *scene;
    th_world *world = in_hall(&scene, "[2, 4]", "", move);
    gait g;
    th_world_step(world, 4);
    g.early = (double)own_field(world, "hidac.pace")[0];
    th_world_step(world, 56);
    g.late = (double)hypotf(field_of(world, TH_FIELD_VELOCITY_X)[0],
                            field_of(world, TH_FIELD_VELOCITY_Y)[0]);
    end(scene, world);
    return g;
}

// Ability and panic change speed and acceleration, each by its own factor.
static void ability_and_panic_change_the_gait(void **state) {
    (void)state;
    const gait plain = gait_of(""), impaired = gait_of(", \"preset\": \"impaired\""),
               panic = gait_of(", \"panic\": 1"),
               slow = gait_of(", \"panic\": 1, \"speed_factor\": 0.5, \"panic_speed\": 1.2, "
                              "\"panic_acceleration\": 0.5");
    assert_near(plain.early, 0.4, 1e-5);
    assert_near(plain.late, 1.3, 1e-3);
    assert_near(impaired.early, 0.2, 1e-5);
    assert_near(impaired.late, 0.6 * 1.3, 1e-3);
    assert_near(panic.early, 3 * 0.4, 1e-5);
    assert_near(panic.late, 1.5 * 1.3, 1e-3);
    assert_near(slow.early, 0.5 * 0.4, 1e-5);
    assert_near(slow.late, 0.5 * 1.2 * 1.3, 1e-3);
}

// No allowed speed, ability or panic makes a state that counts as impossible.
static void fast_agents_are_possible(void **state) {
    (void)state;
    for (int speed = 3; speed <= 9; speed += 3) {
        char json[700];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 60, 6]}}],
                     "exits": [{"id": "out", "line": [[60, 0], [60, 6]]}],
                     "groups": [{"id": "p", "count": 20, "area": {"rect": [1, 1, 10, 5]}, "speed": %d, "to": "out",
                         "move": {"model": "hidac", "panic": 1, "panic_speed": 3, "speed_factor": 2}}],
                     "run": {"step": 0.05}}),
                                                            speed);
        th_scene *scene;
        th_world *world = world_with(&scene, 1, json);
        run_to_end(world, 60.0);
        th_statistics s = th_world_statistics(world);
        assert_int_equal(s.left, 20);
        assert_int_equal(s.repairs, 0);
        end(scene, world);
    }
}

// The way along the wall that an agent 1 cm too near walks in the first step, as printed.
static double walks_along_wall(double dead_band) {
    char move[64];
    snprintf(move, sizeof move, ", \"preset\": \"paper\", \"dead_band\": %g", dead_band);
    th_scene *scene;
    th_world *world = in_hall(&scene, "[5, 0.24]", "", move);
    th_world_step(world, 1);
    assert_near(field_of(world, TH_FIELD_POSITION_Y)[0], 0.25, 1e-3); // set off the wall
    double along = (double)field_of(world, TH_FIELD_POSITION_X)[0] - 5;
    end(scene, world);
    return along;
}

// As printed any displacement holds an agent up, but for those within the dead band.
static void small_displacements_hold_no_agent_up(void **state) {
    (void)state;
    const double step = 2 * 0.05 * 0.05; // accelerated for 0.05 s [m]
    assert_near(walks_along_wall(0), 0, 1e-5);
    assert_near(walks_along_wall(0.008), 0, 1e-5);
    assert_near(walks_along_wall(0.012), step, 1e-5);
}

static void refuse(const char *move, const char *wanted) {
    char json[512];
    snprintf(
        json, sizeof json,
        "{\"levels\":[{\"walkable\":{\"rect\":[0,0,9,9]}}],\"exits\":[{\"id\":\"out\",\"line\":[[9,"
        "0],[9,9]]}],"
        "\"groups\":[{\"id\":\"g\",\"count\":1,\"to\":\"out\",\"move\":{\"model\":\"hidac\",%s}}]}",
        move);
    th_scene *scene = NULL;
    th_error error = {0};
    th_result result = th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error);
    if (!wanted) {
        if (result != TH_OK) fail_msg("%s", error.message);
        th_scene_destroy(scene);
        return;
    }
    assert_int_equal(result, TH_BAD_SCENE);
    if (!strstr(error.message, wanted)) fail_msg("%s", error.message);
    assert_non_null(strstr(error.path, "groups[0].move"));
}

static void values_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const char *const switches[] = {"adapts",   "line_of_sight", "oncoming_first",
                                           "stopping", "waiting",       "falling"};
    for (int k = 0; k < 6; ++k) {
        char move[64], wanted[64];
        snprintf(move, sizeof move, "\"%s\":0.5", switches[k]);
        snprintf(wanted, sizeof wanted, "%s: is a switch; give 0", switches[k]);
        refuse(move, wanted);
        for (int on = 0; on < 2; ++on) {
            snprintf(move, sizeof move, "\"%s\":%d", switches[k], on);
            refuse(move, NULL);
        }
    }
    refuse("\"keep_side\":0.5", "keep_side: is no side; give 1");
    refuse("\"keep_side\":-0.2", "keep_side: is no side; give 1");
    for (int side = -1; side <= 1; ++side) {
        char move[64];
        snprintf(move, sizeof move, "\"keep_side\":%d", side);
        refuse(move, NULL);
    }
    // Beside the default of the other, both given, and just fitting.
    refuse("\"rectangle_dense\":3.5", "rectangle_dense: is longer than rectangle_loose");
    refuse("\"rectangle_loose\":1,\"rectangle_dense\":1.2",
           "rectangle_dense at most rectangle_loose");
    refuse("\"rectangle_loose\":1.2,\"rectangle_dense\":1.2", NULL);
    refuse("\"loose_density\":2.5", "loose_density: is above dense_density; give both");
    refuse("\"loose_density\":2,\"dense_density\":2", NULL);
    refuse("\"stop_shortest\":0.6", "stop_shortest: is longer than stop_longest; give both");
    refuse("\"stop_shortest\":0.6,\"stop_longest\":0.6", NULL);
    refuse("\"wait_longest\":0.5", "wait_shortest: is longer than wait_longest; give both");
    refuse("\"wait_shortest\":0.5,\"wait_longest\":0.5", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tangent_is_the_double_cross_product),
        cmocka_unit_test(avoidance_grows_with_nearness_and_against),
        cmocka_unit_test(agents_meeting_head_on_keep_to_their_side),
        cmocka_unit_test(doors_flow_as_measured_without_shaking),
        cmocka_unit_test(the_stopping_rule_takes_the_shaking_away),
        cmocka_unit_test(waiting_keeps_people_from_pressing),
        cmocka_unit_test(panic_switches_the_rules_off),
        cmocka_unit_test(distances_slow_a_door_down),
        cmocka_unit_test(the_paper_does_not_lock_a_door),
        cmocka_unit_test(a_pushing_agent_opens_a_way_through_a_crowd),
        cmocka_unit_test(a_share_of_people_push),
        cmocka_unit_test(the_rectangle_follows_the_density),
        cmocka_unit_test(the_direction_is_the_weighted_sum),
        cmocka_unit_test(ability_and_panic_change_the_gait),
        cmocka_unit_test(fast_agents_are_possible),
        cmocka_unit_test(small_displacements_hold_no_agent_up),
        cmocka_unit_test(values_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
