// HiDAC, falls: agents that are pushed over, get up again, and lie in the way. SPDX-License-Identifier: Apache-2.0
#include "hidac_world.h"
#include "move/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

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
    assert_near(th_models(NULL)[TH_MOVE_HIDAC]->longest_step, 2 * steps[2], 1e-6);
    char texts[2][2048];
    snprintf(texts[0], sizeof texts[0], crush, 1, 0.0, 1, 0.0);
    door_text(texts[1], sizeof texts[1], 4.4, 5.6,
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
        cmocka_unit_test(agents_pushed_too_far_fall_and_are_counted),
        cmocka_unit_test(agents_fall_the_way_they_were_pushed),
        cmocka_unit_test(falls_do_not_depend_on_the_step),
        cmocka_unit_test(calm_people_at_a_door_do_not_fall),
        cmocka_unit_test(a_push_is_half_of_what_is_wanted),
        cmocka_unit_test(a_push_reaches_over_a_small_gap),
        cmocka_unit_test(the_fallen_may_get_up),
        cmocka_unit_test(an_agent_gets_up_where_it_lay),
        cmocka_unit_test(the_fallen_count_within_their_range),
        cmocka_unit_test(threads_and_snapshots_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
