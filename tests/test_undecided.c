// Undecided people: the rating and the draw, what is seen, and visits of a crowd. SPDX-License-Identifier: Apache-2.0
#include "behave/undecided/undecided.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const th_undecided_params usual = {
#define VALUE(name, value, min, max, unit, source, doc) (float)(value),
    TH_UNDECIDED_PARAMS(VALUE)
#undef VALUE
};

// ---- formulas

static void ratings(void **state) {
    (void)state;
    assert_near(th_sight_history(-1.0f, 300.0f), 1.0, 0.0); // never there
    assert_near(th_sight_history(0.0f, 300.0f), 0.0, 1e-6);
    assert_near(th_sight_history(300.0f, 300.0f), 1.0 - exp(-1.0), 1e-5);
    assert_near(th_sight_nearness(0.0f, 10.0f), 1.0, 0.0);
    assert_near(th_sight_nearness(10.0f, 10.0f), 0.5, 1e-6);
    assert_near(th_sight_room(0.0f, 2.0f), 1.0, 0.0);
    assert_near(th_sight_room(6.0f, 2.0f), 0.25, 1e-6);
    assert_near(th_sight_rating(&usual, 0.5f, 1.0f, 0.25f, 1.0f), 0.2 + 0.3 + 0.075, 1e-6);
    assert_near(th_sight_rating(&usual, 0.0f, 0.0f, 0.0f, 0.0f), 0.01, 1e-9);
}

// Card, 6: 10^4 draws of keyed numbers follow the ratings.
static void draws(void **state) {
    (void)state;
    static const float ratings[4] = {0.5f, 0.1f, 0.25f, 0.45f};
    int drawn[4] = {0}, count = 10000;
    for (int n = 0; n < count; ++n)
        ++drawn[th_sight_draw(ratings, 4,
                              th_uniform(th_philox(1, TH_STREAM_UNDECIDED, (uint32_t)n, 7).v[0]))];
    double chi2 = 0.0;
    for (int k = 0; k < 4; ++k) {
        double wanted = count * (double)ratings[k] / 1.3;
        chi2 += (drawn[k] - wanted) * (drawn[k] - wanted) / wanted;
    }
    assert_true(chi2 < 16.3); // one in a thousand at three degrees of freedom
    assert_int_equal(th_sight_draw(ratings, 4, 0.0f), 0);
    assert_int_equal(th_sight_draw(ratings, 4, 0.9999999f), 3);
}

// ---- what is seen

static void what_is_seen(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [-20, -20, 20, 20]},
            "walls": [[[0, 2], [0, 20]]]}],
        "waiting_areas": [{"id": "a", "area": {"rect": [5, -1, 7, 1]}, "wait": 5},
            {"id": "b", "area": {"rect": [5, 9, 7, 11]}, "wait": 5}],
        "groups": [{"count": 1, "route": ["a", "b"]}]}));
    th_world *world = world_of(scene, 1, 1);
    th_walls walls = th_world_walls(world);
    th_vec2 p = th_v(-5.0f, 0.0f), east = th_v(1, 0), none = th_v(0, 0);
    const float narrow = -0.1736f; // 200 degrees
    p = th_sub(p, th_v((float)scene->origin.x, (float)scene->origin.y));
    const th_goal *a = &scene->goals[0], *b = &scene->goals[1];
    // From the west of a the whole rim is seen: nothing is solid about a sight.
    th_sight_seen seen = th_sight_look(&walls, 0, p, east, narrow, a);
    assert_near(seen.visibility, 1.0, 1e-5);
    assert_near(seen.distance, 10.0, 0.3);
    assert_near(th_sight_look(&walls, 0, p, th_v(-1, 0), narrow, a).visibility, 0.0, 0.0);
    assert_near(th_sight_look(&walls, 0, p, none, narrow, a).visibility, 1.0, 1e-5);
    // A wall hides b from beside it, and part of it from further below.
    assert_near(th_sight_look(&walls, 0, th_add(p, th_v(0, 10)), east, narrow, b).visibility, 0.0,
                0.0);
    float part = th_sight_look(&walls, 0, th_add(p, th_v(0, -5.5f)), east, narrow, b).visibility;
    assert_true(part > 0.1f && part < 0.9f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A field of view of 200 degrees is 100 to either side: a sight at 90 degrees is seen, one at 120 is not.
static void the_field_of_view(void **state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        static const double angles[] = {90, 120, 240, 270};
        char json[800];
        double x = 10 * cos(angles[k] * M_PI / 180), y = 10 * sin(angles[k] * M_PI / 180);
        snprintf(
            json, sizeof json,
            TH_JSON({"levels": [{"walkable": {"rect": [-20, -20, 20, 20]}}],
            "waiting_areas": [{"id": "a", "area": {"circle": [%g, %g, 0.3]}, "wait": 5}],
            "groups": [{"positions": [[0, 0]], "route": ["a"], "behave": {"model": "undecided", "visibility_weight": 1,
            "history_weight": 0, "distance_weight": 0}}]}),
                                           x, y);
        th_scene *scene = scene_of(json);
        th_world *world = world_of(scene, 1, 1);
        th_walls walls = th_world_walls(world);
        world->agents.velocity_x[0] = 1.0f;
        world->agents.velocity_y[0] = 0.0f;
        bool seen = th_rate_sight(world, &walls, 0, 0) > 0.5f;
        assert_int_equal(seen, angles[k] == 90 || angles[k] == 270);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// ---- crowds

static th_scene *park(const char *behave, int people, double wait) {
    char json[1600];
    snprintf(
        json, sizeof json,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 30]},
                     "obstacles": [{"rect": [18, 8, 22, 22]}]}],
                 "exits": [{"id": "gate", "line": [[0, 10], [0, 20]]}],
                 "waiting_areas": [{"id": "n", "area": {"rect": [17, 24, 23, 29]}, "wait": %g},
                     {"id": "s", "area": {"rect": [17, 1, 23, 6]}, "wait": %g},
                     {"id": "e", "area": {"rect": [33, 12, 39, 18]}, "wait": %g}],
                 "groups": [{"count": %d, "area": {"rect": [1, 5, 12, 25]},
                     "route": ["n", "s", "e", "gate"], "behave": %s}],
                 "run": {"step": 0.1, "duration": 2000}}),
                                         wait, wait, wait, people, behave);
    return scene_of(json);
}
static const uint32_t *words_of(th_world *world, const char *name) {
    int field = th_world_field(world, name);
    assert_true(field >= 0);
    return (const uint32_t *)(const void *)field_of(world, field);
}

// Every agent visits as many sights as it wants, in all orders, and leaves.
static void visit_and_leave(void **state) {
    (void)state;
    th_scene *scene = park(TH_JSON({"model": "undecided", "visits": 2}), 30, 4.0);
    for (int seed = 1; seed <= CROWDS(2); ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        bool first[3] = {false, false, false};
        th_world_step(world, 2);
        const uint32_t *choice = words_of(world, "undecided.choice");
        for (int i = 0; i < 30; ++i) {
            assert_in_range(choice[i], 1, 3);
            first[choice[i] - 1] = true;
        }
        assert_true(first[0] && first[1] && first[2]);
        double time = run_to_end(world, 600.0);
        assert_int_equal(th_world_statistics(world).left, 30);
        assert_true(time > 8.0 + 40.0 / 2.2); // two waits, and there and back
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// A sight just visited is chosen less: with history alone next to never.
static void not_there_again(void **state) {
    (void)state;
    th_scene *scene = park(TH_JSON({"model": "undecided", "visits": 0, "visibility_weight": 0,
                               "distance_weight": 0, "longest_way": 10000}),
                                   40, 1.0);
    th_world *world = world_of(scene, 1, 4);
    uint32_t last[40] = {0};
    int again = 0, other = 0;
    for (int n = 0; n < 1200; ++n) {
        th_world_step(world, 1);
        const uint32_t *choice = words_of(world, "undecided.choice");
        const uint32_t *visits = words_of(world, "undecided.visits");
        for (int i = 0; i < 40; ++i) {
            uint32_t now = choice[i] + 16 * visits[i];
            if (last[i] / 16 < visits[i] && choice[i] > 0) {
                if (last[i] % 16 == choice[i])
                    ++again;
                else
                    ++other;
                last[i] = now;
            } else if (last[i] == 0) {
                last[i] = now;
            }
        }
    }
    if (getenv("TH_PRINT")) printf("%d times there again, %d times elsewhere\n", again, other);
    assert_true(other > 60);
    assert_true(again < other / 4);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A share of the group is undecided; the others walk the route, and the first leg of it is n.
static void a_share_of_the_group(void **state) {
    (void)state;
    th_scene *scene = park(TH_JSON({"model": "undecided", "share": 0.3}), 500, 4.0);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 2);
    const uint32_t *nature = words_of(world, "undecided.nature");
    const uint32_t *leg = (const uint32_t *)(const void *)field_of(world, TH_FIELD_LEG);
    int undecided = 0;
    for (int i = 0; i < 500; ++i) {
        undecided += nature[i] == 1;
        if (nature[i] == 2) assert_int_equal(leg[i], 0);
    }
    assert_in_range(undecided, 119, 181); // 3 standard deviations of 150
    th_world_destroy(world);
    th_scene_destroy(scene);
    undecided = 0;
    for (uint32_t id = 1; id <= 20000; ++id) undecided += th_undecided_nature(1, id, 0.3f) == 1;
    assert_in_range(undecided, 5806, 6194); // 3 standard deviations of 6000
}

// An agent that cannot get to a sight chooses again after longest_way.
static void tired_of_a_way(void **state) {
    (void)state;
    th_scene *scene =
        park(TH_JSON({"model": "undecided", "visits": 0, "longest_way": 2}), 20, 1000.0);
    th_world *world = world_of(scene, 1, 1);
    const uint32_t *choice;
    uint32_t first[20];
    int changed = 0;
    th_world_step(world, 2);
    choice = words_of(world, "undecided.choice");
    memcpy(first, choice, sizeof first);
    th_world_step(world, 40);
    choice = words_of(world, "undecided.choice");
    for (int i = 0; i < 20; ++i) changed += choice[i] != first[i];
    assert_true(changed > 3);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Without an exit the last sight of the route is not the end of it.
static void on_and_on(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 12, 6]}}],
        "waypoints": [{"id": "w", "area": {"rect": [1, 1, 2, 5]}},
            {"id": "e", "area": {"rect": [10, 1, 11, 5]}}],
        "groups": [{"count": 5, "area": {"rect": [4, 1, 8, 5]}, "route": ["w", "e"],
            "behave": {"model": "undecided", "visits": 0}}],
        "run": {"step": 0.1, "duration": 2000}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 500);
    const uint32_t *visits = words_of(world, "undecided.visits");
    for (int i = 0; i < 5; ++i) assert_true(visits[i] >= 3);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Card, 7: many that come from one side to one sight stand around it in an arc.
static void an_arc_around_a_popular_sight(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 30]},
            "obstacles": [{"circle": [25, 15, 1.5]}]}],
        "waiting_areas": [{"id": "statue", "area": {"circle": [25, 15, 3]}, "wait": 300}],
        "groups": [{"count": 60, "area": {"rect": [1, 5, 12, 25]}, "route": ["statue"],
            "behave": {"model": "undecided", "visits": 0}}],
        "run": {"step": 0.1, "duration": 2000}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, CROWDS(2) > 1 ? 600 : 250);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    const uint32_t *phase = words_of(world, "phase");
    const th_scene_view *view = th_scene_view_of(scene);
    double low = 10.0, high = -10.0;
    int near = 0;
    for (int i = 0; i < 60; ++i) { // from the west, both ways around
        double dx = (double)x[i] + scene->origin.x - 25.0;
        double dy = (double)y[i] + scene->origin.y - 15.0;
        if (hypot(dx, dy) < 2.0 || hypot(dx, dy) > 4.0) continue;
        double angle = atan2(dy, -dx);
        th_vec2 faces = th_watched_from(view, &view->groups[0], 0, (th_vec2){x[i], y[i]});
        if (phase[i] == TH_PHASE_WAITING) // the statue
            assert_near(-(double)faces.x * dx - (double)faces.y * dy, hypot(dx, dy), 0.01);
        low = fmin(low, angle);
        high = fmax(high, angle);
        ++near;
    }
    if (getenv("TH_PRINT")) printf("%d people over %.0f degrees\n", near, (high - low) * 57.3);
    assert_true(near > 10);
    assert_true(high - low > 120.0 / 57.3);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = park("\"undecided\"", 60, 2.0);
    assert_any_threads(scene, 4, 200);
    th_scene_destroy(scene);
}

static void restored(void **state) {
    (void)state;
    th_scene *scene = park("\"undecided\"", 40, 2.0);
    assert_restores(scene, 250, 200);
    th_scene_destroy(scene);
}

static void weights_of_nothing(void **state) {
    (void)state;
    th_error error;
    th_scene *scene = NULL;
    const char *json =
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 9, 9]}}],
        "waiting_areas": [{"id": "a", "area": {"rect": [1, 1, 2, 2]}, "wait": 1}],
        "groups": [{"count": 1, "route": ["a"], "behave": {"model": "undecided",
            "visibility_weight": 0, "history_weight": 0, "distance_weight": 0}}]});
    assert_int_equal(
        th_scene_load_json(json, strlen(json), "undecided", NULL, NULL, &scene, &error),
        TH_BAD_SCENE);
    assert_string_equal(error.path, "groups[0].behave");
    assert_non_null(strstr(error.message, "all weights are 0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratings),
        cmocka_unit_test(draws),
        cmocka_unit_test(what_is_seen),
        cmocka_unit_test(the_field_of_view),
        cmocka_unit_test(visit_and_leave),
        cmocka_unit_test(not_there_again),
        cmocka_unit_test(a_share_of_the_group),
        cmocka_unit_test(tired_of_a_way),
        cmocka_unit_test(on_and_on),
        cmocka_unit_test(an_arc_around_a_popular_sight),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
        cmocka_unit_test(weights_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
