// Bodies moved by hand: agents of every model step out of their way, are carried along where they do not, and never end in
// one or in a wall. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/live.h"
#include <stdlib.h>
#include <string.h>

static const th_vec2 TRAM[] = {{-6, -2}, {6, -2}, {6, 2}, {-6, 2}};

static th_body_def tram_at(float x, float y, float speed) {
    th_body_def def = th_body_def_default();
    def.outline = TRAM;
    def.outline_count = 4;
    def.pose.position = (th_vec2){x, y};
    def.pose.velocity = (th_vec2){speed, 0};
    return def;
}

static int body_of(th_world *world, const th_body_def *def) {
    int body = -1;
    th_error error;
    if (th_world_add_body(world, def, &body, &error) != TH_OK) fail_msg("%s", error.message);
    return body;
}

// Agents whose centres are inside the body.
static int inside(th_world *world, int body) {
    th_body_state state = th_world_body(world, body);
    th_seen seen[256];
    return th_world_agents_in_polygon(world, state.level, state.corners, state.corner_count, seen,
                                      256);
}

// A crowd that crosses a square from south to north, in the way of a tram of 4 x 12 m.
static th_scene *square(const char *model) {
    char json[900];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}],
                      "exits": [{"id": "north", "line": [[0, 20], [40, 20]]}],
                      "groups": [{"count": 60, "area": {"rect": [4, 1, 36, 12]}, "to": "north", "move": "%s"}],
                      "run": {"step": 0.05}}),
                                                       model);
    return scene_of(json);
}

// No agent passes a tram that drives through the crowd, or ends in it or in a wall; all leave.
static void a_tram_drives_through_every_model(void **state) {
    (void)state;
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (models[m]->stage != TH_STAGE_MOVE || models[m]->internal) continue;
        th_scene *scene = square(models[m]->name);
        th_world *world = world_of(scene, 1, 1);
        th_body_def def = tram_at(-8, 10, 4);
        int tram = body_of(world, &def), met = 0;
        for (int k = 0; k < 185; ++k) { // until it comes near the wall
            th_world_step(world, 1);
            int held = inside(world, tram);
            met += held;
            if (held > th_world_body(world, tram).cornered)
                fail_msg("%s: %d in the tram at step %d, %d cornered", models[m]->name, held, k,
                         th_world_body(world, tram).cornered);
        }
        if (met > 0) fail_msg("%s: agents in the tram in open ground", models[m]->name);
        assert_int_equal(th_world_remove_body(world, tram, NULL), TH_OK);
        run_to_end(world, 120);
        th_statistics s = th_world_statistics(world);
        if (s.left != 60 || s.wall_crossings != 0)
            fail_msg("%s: %d of 60 left", models[m]->name, (int)s.left);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// Agents leave the lane before the tram is there: it seldom has to carry one.
static void agents_step_aside_in_time(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 60, 20]}}],
         "exits": [{"id": "west", "line": [[0, 0], [0, 20]]}],
         "groups": [{"positions": [[40, 10.5], [42, 9.5], [44, 11], [46, 9]], "to": "west"}]}));
    th_world *world = world_of(scene, 1, 1);
    th_body_def def = th_body_def_default();
    def.radius = 1;
    def.pose = (th_body_pose){.position = {4, 10}, .velocity = {3, 0}};
    int robot = body_of(world, &def);
    double nearest = 1e9;
    for (int k = 0; k < 300; ++k) {
        th_world_step(world, 1);
        th_vec2 at = th_world_body(world, robot).pose.position;
        const float *x = field_of(world, TH_FIELD_POSITION_X),
                    *y = field_of(world, TH_FIELD_POSITION_Y);
        for (int i = 0; i < th_world_agent_count(world); ++i)
            nearest = fmin(nearest, hypot((double)(x[i] - at.x), (double)(y[i] - at.y)));
    }
    assert_true(nearest > 1.2); // the disc and a body
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Across a corridor, with 1.2 m left at one side: planners lead there once it is parked.
static void planners_lead_around_a_parked_body(void **state) {
    (void)state;
    static const char *const planners[] = {"quickest", "field", "roadmap"};
    for (int k = 0; k < 3; ++k) {
        char json[600];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 10]}}],
                          "exits": [{"id": "east", "line": [[40, 8], [40, 10]]}],
                          "groups": [{"count": 20, "area": {"rect": [1, 6, 8, 9]}, "to": "east", "plan": "%s"}]}),
                                                planners[k]);
        th_scene *scene = scene_of(json);
        th_world *world = world_of(scene, 1, 1);
        static const th_vec2 wall[] = {{-1, -4.4f}, {1, -4.4f}, {1, 4.4f}, {-1, 4.4f}};
        th_body_def def = th_body_def_default();
        def.outline = wall;
        def.outline_count = 4;
        def.pose.position = (th_vec2){20, 5.6f};
        body_of(world, &def);
        double end = run_to_end(world, 120);
        if (th_world_statistics(world).left != 20)
            fail_msg("%s: %d of 20 left in %g s", planners[k], (int)th_world_statistics(world).left,
                     end);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// Pressed against a wall, an agent is cornered and stays in the room; when the body goes, it walks on.
static void a_cornered_agent_stays_in_the_room(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 10, 4]}}],
         "exits": [{"id": "west", "line": [[0, 0], [0, 4]]}],
         "groups": [{"positions": [[9, 2], [9.4, 1.5], [9.4, 2.5]], "to": "west"}]}));
    th_world *world = world_of(scene, 1, 1);
    static const th_vec2 ram[] = {{-0.5f, -1.99f}, {0.5f, -1.99f}, {0.5f, 1.99f}, {-0.5f, 1.99f}};
    th_body_def def = th_body_def_default();
    def.outline = ram;
    def.outline_count = 4;
    def.pose = (th_body_pose){.position = {7, 2}, .velocity = {2, 0}};
    int body = body_of(world, &def), most = 0;
    for (int k = 0; k < 40; ++k) {
        th_world_step(world, 1);
        int now = th_world_body(world, body).cornered;
        most = now > most ? now : most;
        assert_invariants(world);
    }
    assert_int_equal(most, 3);
    assert_int_equal(th_world_statistics(world).inside, 3);
    th_world_remove_body(world, body, NULL);
    run_to_end(world, 60);
    assert_int_equal(th_world_statistics(world).left, 3);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Turning too: the blade of a turnstile sweeps agents along.
static void a_turning_body_carries_agents(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [-10, -10, 10, 10]}}], "exits": [{"id": "west", "line": [[-10, -10], [-10, 10]]}],
         "groups": [{"positions": [[3, 0.6], [2, 0.5], [4, 0.7]], "to": "west", "premovement": 100}]}));
    th_world *world = world_of(scene, 1, 1);
    static const th_vec2 blade[] = {{-5, 0}, {5, 0}};
    th_body_def def = th_body_def_default();
    def.outline = blade;
    def.outline_count = 2;
    def.radius = 0.1f;
    def.pose.spin = 0.5f;
    int body = body_of(world, &def);
    for (int k = 0; k < 60; ++k) {
        th_world_step(world, 1);
        assert_int_equal(inside(world, body), 0);
    }
    const float *x = field_of(world, TH_FIELD_POSITION_X);
    for (int i = 0; i < 3; ++i) assert_true(x[i] < -2.0f); // half a turn; they began at 2 to 4
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static uint64_t hash_with(const th_scene *scene, int threads) {
    th_world *world = world_of(scene, threads, 1);
    th_body_def def = tram_at(-8, 10, 3);
    body_of(world, &def);
    th_world_step(world, 150);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

static void results_do_not_depend_on_threads_or_snapshots(void **state) {
    (void)state;
    th_scene *scene = square("people");
    uint64_t one = hash_with(scene, 1);
    assert_int_equal(one, hash_with(scene, 2));
    th_world *world = world_of(scene, 1, 1), *other = world_of(scene, 1, 7);
    th_body_def def = tram_at(-8, 10, 3);
    body_of(world, &def);
    th_world_step(world, 90);
    size_t size = th_world_snapshot_size(world);
    void *memory = malloc(size);
    assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
    th_world_step(other, 60);
    assert_int_equal(th_world_hash(other), one);
    free(memory);
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

static void refuse(th_world *world, const th_body_def *def, const char *why) {
    th_error error;
    assert_int_not_equal(th_world_add_body(world, def, NULL, &error), TH_OK);
    if (!strstr(error.message, why)) fail_msg("%s", error.message);
}

static void wrong_use_is_refused(void **state) {
    (void)state;
    th_scene *scene = square("people");
    th_world *world = world_of(scene, 1, 1);
    th_error error;
    th_body_def zero = {0}, def = tram_at(1, 1, 0), bad = def;
    refuse(world, &zero, "th_body_def_default");
    bad.level = 1;
    refuse(world, &bad, "level 1");
    bad = def;
    bad.pose.position.x = NAN;
    refuse(world, &bad, "pose");
    bad = def;
    bad.outline_count = 2; // no area
    refuse(world, &bad, "convex");
    static const th_vec2 dented[] = {{-1, -1}, {1, -1}, {0, 0}, {1, 1}, {-1, 1}};
    bad.outline = dented;
    bad.outline_count = 5;
    refuse(world, &bad, "convex");
    bad.outline_count = 17;
    refuse(world, &bad, "at most 16");
    int body = -1;
    for (int k = 0; k < 64; ++k) body = body_of(world, &def);
    refuse(world, &def, "all 64 bodies");
    assert_int_equal(th_world_remove_body(world, body, &error), TH_OK);
    assert_int_not_equal(th_world_remove_body(world, body, &error), TH_OK);
    assert_non_null(strstr(error.message, "no body"));
    assert_int_not_equal(th_world_move_body(world, -1, &def.pose, &error), TH_OK);
    assert_int_equal(th_world_body(world, 9999).corner_count, 0);
    th_world_step(world, 2);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tram_drives_through_every_model),
        cmocka_unit_test(agents_step_aside_in_time),
        cmocka_unit_test(planners_lead_around_a_parked_body),
        cmocka_unit_test(a_cornered_agent_stays_in_the_room),
        cmocka_unit_test(a_turning_body_carries_agents),
        cmocka_unit_test(results_do_not_depend_on_threads_or_snapshots),
        cmocka_unit_test(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
