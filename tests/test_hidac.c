// HiDAC, the low level: its formulas, and each rule with and without. SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "hidac_world.h"
#include "move/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const float *own_field(th_world *world, const char *name) {
    int field = th_world_field(world, name);
    assert_true(field >= 0);
    return field_of(world, field);
}

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

static const char door[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 16, 10]}, "obstacles": [
        {"rect": [10, -1, 10.4, %g]}, {"rect": [10, %g, 10.4, 11]}]}],
      "exits": [{"id": "out", "line": [[16, 0], [16, 10]]}],
      "groups": [{"id": "p", "count": 150, "area": {"rect": [0.3, 0.3, 9.5, 9.7]}, "to": "out", "plan": "field",
        "move": {"model": "hidac" %s}}], "run": {"step": 0.04, "duration": 400}});

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
    snprintf(json, sizeof json, door, 5 - width / 2, 5 + width / 2, switches);
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
    int near = jam_at_door(1.2, 1, ", \"personal_space\": 0.02", 50).passed,
        far = jam_at_door(1.2, 1, ", \"personal_space\": 0.3", 50).passed;
    if (!(near > 1.5 * far)) fail_msg("%d pass with 0.02 m, %d with 0.3 m", near, far);
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

// Of those in a hall, how many keep which space.
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

static const char crush[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 12, 3]}}],
     "exits": [{"id": "out", "line": [[12, 0], [12, 3]]}],
     "groups": [{"id": "calm", "count": 30, "area": {"rect": [6, 0.2, 10, 2.8]}, "to": "out",
        "speed": 0.3, "move": {"model": "hidac", "falling": %d, "gets_up": %g}},
      {"id": "rush", "count": 60, "area": {"rect": [0.2, 0.2, 5.5, 2.8]}, "to": "out",
        "speed": 2, "move": {"model": "hidac", "panic": 1, "falling": %d, "gets_up": %g}}],
     "run": {"step": 0.04, "duration": 120}});

static th_world *crush_of(th_scene **scene, int falling, double gets_up) {
    char json[2048];
    snprintf(json, sizeof json, crush, falling, gets_up, falling, gets_up);
    return world_with(scene, 1, json);
}

static void agents_pushed_too_far_fall_and_are_counted(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = crush_of(&scene, 1, 0);
    run_to_end(world, 60);
    th_statistics s = th_world_statistics(world);
    assert_true(s.fallen > 0);
    assert_int_equal(s.left + s.fallen, 90); // the others have walked around or over them
    assert_int_equal(s.inside, s.fallen);
    uint32_t *phase = (uint32_t *)(void *)field_of(world, TH_FIELD_PHASE);
    for (uint64_t i = 0; i < s.fallen; ++i) assert_int_equal(phase[i], TH_PHASE_FALLEN);
    end(scene, world);
    world = crush_of(&scene, 0, 0);
    run_to_end(world, 60);
    assert_int_equal(th_world_statistics(world).left, 90);
    end(scene, world);
}

// A fallen agent lies along the push that threw it.
static void agents_fall_the_way_they_were_pushed(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = crush_of(&scene, 1, 0);
    run_to_end(world, 60);
    int fallen = (int)th_world_statistics(world).fallen;
    const uint32_t *phase = (const uint32_t *)(const void *)field_of(world, TH_FIELD_PHASE);
    const float *hx = own_field(world, "hidac.heading_x"),
                *hy = own_field(world, "hidac.heading_y"), *px = own_field(world, "hidac.pushed_x"),
                *py = own_field(world, "hidac.pushed_y");
    assert_true(fallen > 0);
    for (int k = 0; k < th_world_agent_count(world); ++k) {
        if (phase[k] != TH_PHASE_FALLEN) continue;
        assert_true(hypotf(px[k], py[k]) > 1.5f);
        assert_near(hx[k], (double)px[k] / hypot((double)px[k], (double)py[k]), 1e-4);
        assert_near(hy[k], (double)py[k] / hypot((double)px[k], (double)py[k]), 1e-4);
    }
    end(scene, world);
}

static uint64_t falls_of(const char *json, double step, uint64_t seed) {
    th_scene *scene = scene_of(json);
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.step = step;
    def.seed = seed;
    th_world *world = NULL;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    run_to_end(world, 60);
    uint64_t falls = th_world_statistics(world).falls;
    end(scene, world);
    return falls;
}

// Falls follow from the push of others, whatever the step up to the longest that the model declares: within two standard
// deviations of counts, in a rush and in an extreme crowd of people that run and push at a door.
static void falls_do_not_depend_on_the_step(void **state) {
    (void)state;
    enum { SEEDS = 4 };
    static const double steps[] = {0.02, 0.03125, 0.05};
    assert_true(fabs(steps[2] - (double)th_models(NULL)[TH_MOVE_HIDAC]->longest_step) < 1e-6);
    char texts[2][2048];
    snprintf(texts[0], sizeof texts[0], crush, 1, 0.0, 1, 0.0);
    snprintf(texts[1], sizeof texts[1], door, 4.4, 5.6,
             ", \"panic\": 1, \"falling\": 1, \"gets_up\": 20");
    for (int scene = 0; scene < 2; ++scene) {
        double falls[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k)
            for (uint64_t seed = 1; seed <= SEEDS; ++seed)
                falls[k] += (double)falls_of(texts[scene], steps[k], seed);
        print_message("falls: %g with 0.02 s, %g with 0.03125 s, %g with 0.05 s\n", falls[0],
                      falls[1], falls[2]);
        for (int k = 0; k < 3; ++k) {
            int other = (k + 1) % 3;
            assert_true(falls[k] > 10);
            if (fabs(falls[k] - falls[other]) > 2 * sqrt(falls[k] + falls[other]))
                fail_msg("%g falls with %g s, %g with %g s", falls[k], steps[k], falls[other],
                         steps[other]);
        }
    }
}

// Agents that lean on the crowd before a door with their own walking throw no agent down, and without an alarm none panics.
static void calm_people_at_a_door_do_not_fall(void **state) {
    (void)state;
    static const char calm[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
         "exits": [{"id": "out", "line": [[10, 4.4], [10, 5.6]]}],
         "groups": [{"count": 90, "area": {"rect": [3, 1, 9.5, 9]}, "to": "out", "behave": "hidac",
            "move": {"model": "hidac", "falling": 1}}],
         "run": {"max_time": 200}});
    static const double steps[] = {0.05, 0.0625, 0.1};
    for (int k = 0; k < 3; ++k) assert_int_equal(falls_of(calm, steps[k], 1), 0);
}

// Half of what the other wants to be faster towards one; nothing from one who is as fast as it wants or wants away.
static void a_push_is_half_of_what_is_wanted(void **state) {
    (void)state;
    th_vec2 ahead = {1, 0}, fast = {2, 0}, slow = {0.5f, 0}, none = {0, 0}, back = {-1, 0};
    assert_near(th_hidac_lean(fast, slow, ahead).x, 0.75, 1e-6);
    assert_near(th_hidac_lean(fast, fast, ahead).x, 0.0, 1e-6);
    assert_near(th_hidac_lean(back, none, ahead).x, 0.0, 1e-6);
}

// Bodies a few centimetres apart press as those that touch do; arms reach a little further.
static void a_push_reaches_over_a_small_gap(void **state) {
    (void)state;
    const float gaps[] = {-0.02f, 0.0f, 0.03f, 0.05f, 0.075f, 0.1f, 0.2f};
    const double wanted[] = {1, 1, 1, 1, 0.5, 0, 0};
    for (int k = 0; k < 7; ++k) assert_near(th_hidac_reaches(gaps[k]), wanted[k], 1e-5);
}

static void the_fallen_may_get_up(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = crush_of(&scene, 1, 3);
    uint64_t most = 0;
    for (int k = 0; k < 110 && !th_world_done(world); ++k) {
        th_world_step(world, 25);
        uint64_t lie = th_world_statistics(world).fallen;
        most = lie > most ? lie : most;
    }
    assert_true(most > 0);
    assert_int_equal(th_world_statistics(world).left, 90);
    end(scene, world);
}

// An agent that stands up is not carried along by those walking there.
static void an_agent_gets_up_where_it_lay(void **state) {
    (void)state;
    static const char json[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 8]}}],
         "exits": [{"id": "out", "line": [[30, 0], [30, 8]]}],
         "groups": [{"id": "down", "count": 12, "area": {"rect": [10, 0.5, 20, 2.5]}, "to": "out",
            "move": {"model": "hidac", "lies": 1, "gets_up": 2}},
          {"id": "walk", "count": 40, "area": {"rect": [1, 4, 20, 7]}, "to": "out", "speed": 1.5,
            "move": "hidac"}],
         "run": {"step": 0.1, "duration": 60}});
    th_scene *scene;
    th_world *world = world_with(&scene, 1, json);
    float lay_x[12], lay_y[12];
    int risen = 0;
    for (int k = 0; k < 25; ++k) {
        const float *x = field_of(world, TH_FIELD_POSITION_X),
                    *y = field_of(world, TH_FIELD_POSITION_Y);
        memcpy(lay_x, x, sizeof lay_x);
        memcpy(lay_y, y, sizeof lay_y);
        uint64_t lay = th_world_statistics(world).fallen;
        th_world_step(world, 1);
        if (th_world_statistics(world).fallen >= lay) continue;
        risen += (int)(lay - th_world_statistics(world).fallen);
        x = field_of(world, TH_FIELD_POSITION_X);
        y = field_of(world, TH_FIELD_POSITION_Y);
        for (int i = 0; i < 12; ++i) assert_true(hypotf(x[i] - lay_x[i], y[i] - lay_y[i]) < 1e-3f);
    }
    assert_int_equal(risen, 12);
    end(scene, world);
}

// The rectangle shrinks in a dense crowd and not where no agent is.
static void the_rectangle_follows_the_density(void **state) {
    (void)state;
    th_scene *scene;
    char json[2048];
    snprintf(json, sizeof json, door, 4.5, 5.5, "");
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

// Whatever speed, ability and panic are allowed, no state of it counts as impossible.
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

// Does an agent turn for a body whose middle is `ahead` in front of it?
static bool turns_for_body(double ahead, double range) {
    char json[1024];
    snprintf(
        json, sizeof json,
        TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 8]}}],
         "exits": [{"id": "out", "line": [[20, 0], [20, 8]]}],
         "groups": [{"id": "p", "positions": [[5, 4]], "to": "out", "plan": "straight",
             "move": {"model": "hidac", "fallen_range": %g}},
          {"id": "lies", "positions": [[%g, 4]], "to": "out", "plan": "straight", "move": {"model": "hidac", "lies": 1}}],
         "run": {"step": 0.01}}),
                                                           range, 5 + ahead);
    th_scene *scene;
    th_world *world = world_with(&scene, 1, json);
    th_world_step(world, 2);
    th_walls walls = th_world_walls(world);
    th_hidac_view i = th_hidac_look(world, &walls, 0);
    th_hidac_see_all(world, &walls, &i);
    end(scene, world);
    return th_length2(i.avoid_fallen) > 0.0f;
}

// A body reaches 0.45 m towards an agent that comes along it.
static void the_fallen_count_within_their_range(void **state) {
    (void)state;
    assert_true(turns_for_body(2.4, 2) && !turns_for_body(2.5, 2));
    assert_true(turns_for_body(1.4, 1) && !turns_for_body(1.5, 1));
    assert_true(turns_for_body(2.9, 2.5));
}

// How far an agent that is 1 cm too near the wall walks along it in the first step, as printed.
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

static void threads_and_snapshots_change_nothing(void **state) {
    (void)state;
    char json[2048];
    snprintf(json, sizeof json, crush, 1, 2.0, 1, 2.0);
    th_scene *scene = scene_of(json);
    th_world *one = world_of(scene, 1, 5), *three = world_of(scene, 3, 5);
    th_world_step(one, 200);
    th_world_step(three, 200);
    assert_int_equal(th_world_hash(one), th_world_hash(three));
    size_t size = th_world_snapshot_size(one);
    void *memory = malloc(size);
    assert_non_null(memory);
    th_error error;
    assert_int_equal(th_world_snapshot(one, memory, size, &error), TH_OK);
    th_world *again = world_of(scene, 2, 9);
    assert_int_equal(th_world_restore(again, memory, size, &error), TH_OK);
    th_world_step(one, 100);
    th_world_step(again, 100);
    assert_int_equal(th_world_hash(one), th_world_hash(again));
    assert_int_equal(th_world_statistics(one).fallen, th_world_statistics(again).fallen);
    free(memory);
    th_world_destroy(one);
    th_world_destroy(three);
    th_world_destroy(again);
    th_scene_destroy(scene);
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
        cmocka_unit_test(agents_pushed_too_far_fall_and_are_counted),
        cmocka_unit_test(agents_fall_the_way_they_were_pushed),
        cmocka_unit_test(falls_do_not_depend_on_the_step),
        cmocka_unit_test(calm_people_at_a_door_do_not_fall),
        cmocka_unit_test(a_push_is_half_of_what_is_wanted),
        cmocka_unit_test(a_push_reaches_over_a_small_gap),
        cmocka_unit_test(the_fallen_may_get_up),
        cmocka_unit_test(an_agent_gets_up_where_it_lay),
        cmocka_unit_test(the_rectangle_follows_the_density),
        cmocka_unit_test(the_direction_is_the_weighted_sum),
        cmocka_unit_test(ability_and_panic_change_the_gait),
        cmocka_unit_test(fast_agents_are_possible),
        cmocka_unit_test(the_fallen_count_within_their_range),
        cmocka_unit_test(small_displacements_hold_no_agent_up),
        cmocka_unit_test(values_that_do_not_fit_are_refused),
        cmocka_unit_test(threads_and_snapshots_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
