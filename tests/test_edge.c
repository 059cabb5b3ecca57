// Unusual scenes and wrong calls, which must not crash, hang, lose people or let them through walls.
// SPDX-License-Identifier: Apache-2.0
#include "formula/params.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = {"orca",     "social_force",         "helbing_molnar",
                                     "uic",      "collision_free_speed", "anticipation_velocity",
                                     "power_law"};
enum { MODELS = sizeof models / sizeof *models };

// A scene text with %s for the model, where it has one.
static th_world *world_from(const char *format, const char *model, th_scene **scene) {
    char text[4096];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int length = snprintf(text, sizeof text, format, model);
#pragma GCC diagnostic pop
    assert_true(length > 0 && (size_t)length < sizeof text);
    *scene = scene_of(text);
    return world_of(*scene, 2, 0);
}

static void release(th_world *world, th_scene *scene) {
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static const char room[] = TH_JSON(
    {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,8]}}],
    "exits":[{"id":"e", "line":[[12,3],[12,5]]}],
    "groups":[{"count":40, "area":{"rect":[1,1,8,7]}, "to":"e", "move":"%s"}]});

static void an_empty_frame(void **state) {
    (void)state;
    th_scene *scene = scene_of("{}");
    th_world *world = world_of(scene, 2, 0);
    assert_true(th_world_done(world));
    th_world_step(world, 10);
    assert_invariants(world);
    assert_int_equal(th_world_agent_count(world), 0);
    release(world, scene);
    // Every agent removed, twice over.
    world = world_from(room, "orca", &scene);
    th_agent_id ids[40];
    for (uint32_t i = 0; i < 40; ++i) ids[i].serial = i + 1;
    assert_int_equal(th_world_remove(world, ids, 40), 40);
    assert_int_equal(th_world_remove(world, ids, 40), 0);
    th_world_step(world, 3);
    assert_true(th_world_done(world));
    assert_int_equal(th_world_statistics(world).removed, 40);
    assert_invariants(world);
    release(world, scene);
}

static void start_on_the_goal(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,10,6]}}],
            "exits":[{"id":"line", "line":[[5,0],[5,3]]}, {"id":"area",
                "area":{"rect":[0,4,10,6]}}],
            "groups":[{"positions":[[5,2]], "to":"line", "move":"%1$s"},
                {"positions":[[8,5]], "to":"area", "move":"%1$s"}, {"count":10,
                "area":{"rect":[0,4,10,6]}, "to":"area", "move":"%1$s"}, {"count":10,
                "area":{"rect":[0,4,10,6]}, "to":"line", "move":"%1$s"}]});
        th_world *world = world_from( // on an exit's line, on a waypoint's, within an exit's area
            scene_json, models[m], &scene);
        run_to_end(world, 60.0);
        assert_int_equal(th_world_statistics(world).left, 22);
        release(world, scene);
    }
}

// People stand in a door while it closes: no agent is pushed through or lost, and all leave once it opens.
static void door_shuts_on_people(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,6]},
                "walls":[[[6,0],[6,2]],[[6,4],[6,6]]]}],
            "doors":[{"id":"d", "line":[[6,2],[6,4]]}],
            "exits":[{"id":"e", "line":[[12,1],[12,5]]}],
            "groups":[{"positions":[[5.5,3]], "to":"e"}, {"count":30,
                "area":{"rect":[1,1,5.7,5]}, "to":"e", "move":"%s"}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        int beyond = 0;
        for (int k = 0; k < 200 && beyond == 0; ++k) {
            th_world_step(world, 1);
            const float *x = field_of(world, TH_FIELD_POSITION_X);
            for (int i = 0; i < th_world_agent_count(world); ++i) beyond += x[i] > 5.9f;
        }
        assert_int_equal(th_world_set_door(world, "d", false, NULL), TH_OK);
        th_world_step(world, 1);
        const float *x = field_of(world, TH_FIELD_POSITION_X);
        int before = 0, after = 0;
        for (int i = 0; i < th_world_agent_count(world); ++i) before += x[i] < 6.0f;
        th_world_step(world, 100);
        x = field_of(world, TH_FIELD_POSITION_X);
        for (int i = 0; i < th_world_agent_count(world); ++i) after += x[i] < 6.0f;
        assert_true(before > 0);
        assert_int_equal(after, before);
        assert_true(th_world_statistics(world).unreachable > 0);
        assert_false(th_world_done(world));
        assert_int_equal(th_world_set_door(world, "d", true, NULL), TH_OK);
        run_to_end(world, 120.0);
        assert_int_equal(th_world_statistics(world).left, 31);
        release(world, scene);
    }
}

// Too wide for the door: they never get through, and never through the wall either. The door is one for a small agent
// that stays: a gap too narrow for all would count as a wall.
static void too_wide_for_the_door(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,6]},
                "walls":[[[6,0],[6,2.8]],[[6,3.2],[6,6]]]}],
            "exits":[{"id":"e", "line":[[12,1],[12,5]]}],
            "groups":[{"count":1, "radius":0.15, "area":{"rect":[0.2,0.2,0.8,0.8]}, "to":"e",
                "premovement":1000},
                {"count":5, "radius":0.6, "area":{"rect":[1,1,4,5]}, "to":"e", "move":"%s"}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        th_world_step(world, 300);
        assert_invariants(world);
        print_message("%s: %d of 5 through\n", models[m], (int)th_world_statistics(world).left);
        assert_int_equal(th_world_statistics(world).left, 0);
        release(world, scene);
    }
}

static void speeds_and_steps(void **state) {
    (void)state;
    static const double steps[] = {0.001, 0.1, 0.5};
    for (int m = 0; m < MODELS; ++m)
        for (int k = 0; k < 3; ++k) {
            char text[1024];
            static const char format[] = TH_JSON(
                {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,8]},
                    "walls":[[[7,0],[7,3]],[[7,5],[7,8]]]}],
                "exits":[{"id":"e", "line":[[12,3],[12,5]]}],
                "groups":[{"count":20, "area":{"rect":[1,1,6,7]}, "to":"e", "speed":5,
                    "move":"%s"}, {"count":20, "area":{"rect":[1,1,6,7]}, "to":"e",
                    "speed":0.01, "move":"%s"}],
                "run":{"step":%g}});
            snprintf(text, sizeof text, format, models[m], models[m], steps[k]);
            th_scene *scene = scene_of(text);
            th_world *world = world_of(scene, 2, 0);
            th_world_step(world, 200);
            assert_invariants(world);
            release(world, scene);
        }
}

// A source whose area is full waits; its people come later and are not lost.
static void source_in_a_full_area(void **state) {
    (void)state;
    th_scene *scene;
    static const char scene_json[] = TH_JSON(
        {"levels":[{"id":"a", "walkable":{"rect":[0,0,6,4]}}],
        "waiting_areas":[{"id":"w", "area":{"rect":[0,0,6,4]}, "wait":1000}],
        "groups":[{"area":{"rect":[0.5,0.5,1.5,1.5]}, "source":{"timetable":[[0,5],[1,500]]},
            "to":"w"}],
        "run":{"max_time":100}});
    th_world *world = world_from(scene_json, "", &scene);
    th_world_step(world, 100);
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.spawned + s.waiting_to_enter, 505);
    assert_true(s.waiting_to_enter > 0 && s.spawned >= 5);
    assert_false(th_world_done(world));
    assert_invariants(world);
    release(world, scene);
}

// Runs to the end as `throng run` does; returns how many came.
static uint64_t all_that_came(const char *source, double step) {
    static const char format[] = TH_JSON(
        {"levels":[{"id":"a", "walkable":{"rect":[0,0,8,6]}}],
        "exits":[{"id":"e", "line":[[8,2],[8,4]]}],
        "groups":[{"area":{"rect":[1,1,6,5]}, "source":{%s}, "to":"e"}], "run":{"step":%.17g}});
    char text[512];
    snprintf(text, sizeof text, format, source, step);
    th_scene *scene = scene_of(text);
    th_world *world = world_of(scene, 1, 0);
    while (!th_world_done(world) && th_world_time(world) < 500.0) th_world_step(world, 1);
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.still_to_come + s.waiting_to_enter + s.inside, 0);
    release(world, scene);
    return s.spawned;
}

// A world is not done while people of a source are due, even with an empty scene.
static void sources_bring_all_they_announce(void **state) {
    (void)state;
    static const double steps[] = {0.05, 0.0625, 0.1};
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(all_that_came("\"timetable\":[[0,20],[60,30],[120,10]]", steps[k]), 60);
        assert_int_equal(all_that_came("\"timetable\":[[50,30]]", steps[k]), 30);
        assert_int_equal(all_that_came("\"timetable\":[[0,5],[33.33,7]]", steps[k]), 12);
        assert_int_equal(all_that_came("\"rate\":0.02, \"until\":300", steps[k]), 6);
    }
}

// Until then statistics tell how many are still to come; a rate without an end announces no number.
static void statistics_count_people_to_come(void **state) {
    (void)state;
    th_scene *scene;
    static const char scene_json[] = TH_JSON(
        {"levels":[{"id":"a", "walkable":{"rect":[0,0,8,6]}}],
        "exits":[{"id":"e", "line":[[8,2],[8,4]]}],
        "groups":[{"area":{"rect":[1,1,6,5]}, "source":{"timetable":[[0,20],[60,30]]}, "to":"e"},
            {"area":{"rect":[1,1,6,5]}, "source":{"rate":0.5}, "to":"e"}]});
    th_world *world = world_from(scene_json, "", &scene);
    assert_int_equal(th_world_statistics(world).still_to_come, 50);
    th_world_step(world, 10);
    assert_int_equal(th_world_statistics(world).still_to_come, 30);
    release(world, scene);
}

// Down from the third level to the street, and up against them.
static void three_levels(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"l0", "walkable":{"rect":[0,0,6,4]}}, {"id":"l1",
                "walkable":{"rect":[9,0,15,4]}}, {"id":"l2",
                "walkable":{"rect":[18,0,24,4]}}],
            "stairs":[{"level":"l0", "to":"l1", "area":{"rect":[6,1,9,3]},
                "top":[[9,1],[9,3]]}, {"level":"l1", "to":"l2", "area":{"rect":[15,1,18,3]},
                "top":[[18,1],[18,3]]}],
            "exits":[{"id":"street", "level":"l0", "line":[[0,1],[0,3]]}, {"id":"roof",
                "level":"l2", "line":[[24,1],[24,3]]}],
            "groups":[{"level":"l2", "count":12, "to":"street", "move":"%1$s"},
                {"level":"l0", "count":4, "to":"roof", "move":"%1$s"}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        run_to_end(world, 300.0);
        assert_int_equal(th_world_statistics(world).left, 16);
        release(world, scene);
    }
}

// Map coordinates: positions are relative to an origin nearby, so nothing is lost.
static void map_coordinates(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"a", "walkable":{"rect":[500000,5000000,500012,5000008]}}],
        "exits":[{"id":"e", "line":[[500012,5000003],[500012,5000005]]}],
        "groups":[{"count":40, "area":{"rect":[500001,5000001,500008,5000007]}, "to":"e"}]}));
    th_world *world = world_of(scene, 2, 0);
    assert_true(run_to_end(world, 60.0) < 60.0);
    assert_int_equal(th_world_statistics(world).left, 40);
    release(world, scene);
}

// A wall added around an agent while running: the person is enclosed, counted as such, and freed again.
static void walled_in(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,6]}}],
            "exits":[{"id":"e", "line":[[12,1],[12,5]]}],
            "groups":[{"positions":[[4,3]], "to":"e", "move":"%s"}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        static const th_vec2 corners[4] = {{3, 2}, {5, 2}, {5, 4}, {3, 4}};
        int walls[4];
        for (int k = 0; k < 4; ++k)
            assert_int_equal(
                th_world_add_wall(world, 0, corners[k], corners[(k + 1) % 4], &walls[k], NULL),
                TH_OK);
        th_world_step(world, 300);
        const float *x = field_of(world, TH_FIELD_POSITION_X),
                    *y = field_of(world, TH_FIELD_POSITION_Y);
        assert_int_equal(th_world_agent_count(world), 1);
        assert_true(x[0] > 3.0f && x[0] < 5.0f && y[0] > 2.0f && y[0] < 4.0f);
        assert_int_equal(th_world_statistics(world).unreachable, 1);
        assert_int_equal(th_world_remove_wall(world, walls[1], NULL), TH_OK);
        run_to_end(world, 90.0);
        assert_int_equal(th_world_statistics(world).left, 1);
        release(world, scene);
    }
}

// The next steps repair any values written into a view: NaN does not spread.
static void nonsense_in_views(void **state) {
    (void)state;
    static const uint32_t rude[] = {0x7fc00000u, 0x7f800000u, 0xff800000u, 0x7f7fffffu,
                                    0xffffffffu, 0x80000000u, 7u,          1u};
    for (int m = 0; m < MODELS; ++m)
        for (int f = 0; f < TH_FIELD_COUNT; ++f) {
            th_scene *scene;
            th_world *world = world_from(room, models[m], &scene);
            th_world_step(world, 3);
            uint32_t *view = th_world_map(world, (th_field)f, TH_ACCESS_WRITE);
            for (size_t k = 0; k < sizeof rude / sizeof *rude; ++k) view[k] = rude[k];
            th_world_unmap(world, (th_field)f);
            th_world_step(world, 3);
            th_statistics s = th_world_statistics(world);
            assert_int_equal(s.spawned, 40);
            assert_int_equal(s.spawned, s.inside + s.left + s.removed);
            bool number = f != TH_FIELD_ID && f != TH_FIELD_LEG;
            if (number) assert_true(s.repairs >= 4);
            static const th_field floats[] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y,
                                              TH_FIELD_VELOCITY_X, TH_FIELD_VELOCITY_Y};
            for (int k = 0; k < 4; ++k) {
                const float *value = field_of(world, floats[k]);
                for (int i = 0; i < th_world_agent_count(world); ++i)
                    assert_true(isfinite(value[i]));
            }
            release(world, scene);
        }
}

// A cart as wide as the corridor drives into a crowd that stands before a dead end.
static void cart_against_the_wall(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,14,3]}}],
            "exits":[{"id":"e", "line":[[0,0],[0,3]]}],
            "groups":[{"count":30, "area":{"rect":[8,0,14,3]}, "to":"e", "move":"%s"}],
            "scripted":[{"shape":{"rect":[-0.5,-1.4,0.5,1.4]},
                "path":[[0,2,1.5],[4,13,1.5],[6,13,1.5],[10,2,1.5]]}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        for (int k = 0; k < 12; ++k) {
            th_world_step(world, 10);
            assert_invariants(world);
        }
        release(world, scene);
    }
}

// Every parameter of every model at both ends of its range, changed while they walk. One that a world is made with is
// refused and says so.
static void parameters_at_their_ends(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        const th_model *model = th_models(NULL)[th_model_find(TH_STAGE_MOVE, models[m])];
        for (int end = 0; end < 2; ++end)
            for (int p = 0; p < model->param_count; ++p) {
                th_scene *scene;
                th_world *world = world_from(room, models[m], &scene);
                const th_param_info *param = &model->params[p];
                double value = end ? param->max : param->min;
                th_error error = {0};
                char name[100];
                snprintf(name, sizeof name, "%s.%s", models[m], param->name);
                // Refused where a world is made with it: test_live_shares.
                if (th_world_set_param(world, 0, name, value, &error) != TH_OK)
                    assert_non_null(strstr(error.message, "when the world is made"));
                assert_int_equal(th_world_set_param(world, 0, name, (double)NAN, &error),
                                 TH_BAD_ARGUMENT);
                assert_true(error.message[0] != '\0');
                th_world_step(world, 20);
                assert_invariants(world);
                release(world, scene);
            }
    }
}

static void spawn_refuses(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = world_from(room, "orca", &scene);
    th_agent_def good = th_agent_def_default();
    good.position = (th_vec2){10.0f, 1.0f};
    th_agent_def bad[7] = {good, good, good, good, good, good, good};
    bad[0].radius = INFINITY;
    bad[1].speed = INFINITY;
    bad[2].position.x = -1e38f;
    bad[3].group = 1;
    bad[4].level = -1;
    bad[5].position.x = 12.5f; // beyond the wall
    bad[6].cookie = 0;         // not from th_agent_def_default
    for (int k = 0; k < 7; ++k) {
        th_error error = {0};
        assert_int_equal(th_world_spawn(world, &bad[k], 1, NULL, &error), TH_BAD_ARGUMENT);
        assert_true(error.message[0] != '\0');
    }
    assert_int_equal(th_world_spawn(world, &good, 1, NULL, NULL), TH_OK);
    assert_int_equal(th_world_statistics(world).spawned, 41);
    release(world, scene);
}

// Exactly on a wall, on its end and on the boundary: by spawn and by a written position.
static void put_onto_a_wall(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        th_scene *scene;
        static const char scene_json[] = TH_JSON(
            {"levels":[{"id":"a", "walkable":{"rect":[0,0,12,6]}, "walls":[[[6,0],[6,3]]]}],
            "exits":[{"id":"e", "line":[[12,1],[12,5]]}],
            "groups":[{"positions":[[2,2]], "to":"e", "move":"%s"}]});
        th_world *world = world_from(scene_json, models[m], &scene);
        th_agent_def good = th_agent_def_default(), on[3] = {good, good, good};
        on[0].position = (th_vec2){6, 3};
        on[1].position = (th_vec2){6, 1};
        on[2].position = (th_vec2){0, 4};
        assert_int_equal(th_world_spawn(world, on, 3, NULL, NULL), TH_OK);
        float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_WRITE);
        x[0] = 6.0f;
        th_world_unmap(world, TH_FIELD_POSITION_X);
        run_to_end(world, 60.0);
        assert_int_equal(th_world_statistics(world).left, 4);
        release(world, scene);
    }
}

// A snapshot of another scene is refused; a world of the same scene with other settings takes it.
static void snapshot_elsewhere(void **state) {
    (void)state;
    th_scene *scene, *other_scene;
    th_world *world = world_from(room, "orca", &scene);
    th_world *other = world_from(TH_JSON({"levels":[{"id":"a","walkable":{"rect":[0,0,3,3]}}]}%s),
                                          "", &other_scene);
    th_world_step(world, 10);
    size_t size = th_world_snapshot_size(world);
    void *bytes = malloc(size);
    th_error error = {0};
    assert_int_equal(th_world_snapshot(world, bytes, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, bytes, size, &error), TH_BAD_SNAPSHOT);
    assert_true(strstr(error.message, "another scene") != NULL);
    th_world_step(other, 1);
    free(bytes);
    release(other, other_scene);
    release(world, scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_frame),
        cmocka_unit_test(start_on_the_goal),
        cmocka_unit_test(door_shuts_on_people),
        cmocka_unit_test(too_wide_for_the_door),
        cmocka_unit_test(speeds_and_steps),
        cmocka_unit_test(source_in_a_full_area),
        cmocka_unit_test(sources_bring_all_they_announce),
        cmocka_unit_test(statistics_count_people_to_come),
        cmocka_unit_test(three_levels),
        cmocka_unit_test(map_coordinates),
        cmocka_unit_test(walled_in),
        cmocka_unit_test(nonsense_in_views),
        cmocka_unit_test(cart_against_the_wall),
        cmocka_unit_test(parameters_at_their_ends),
        cmocka_unit_test(spawn_refuses),
        cmocka_unit_test(put_onto_a_wall),
        cmocka_unit_test(snapshot_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
