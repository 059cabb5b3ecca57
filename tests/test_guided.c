// Navigation fields with drawn guidance: the equation against brute force, and where people go.
// SPDX-License-Identifier: Apache-2.0
#include "guided_field.h"
#include "lattice.h"
#include "plan/guided/guided.h"
#include "plan/prepared.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// ---- people

static th_scene *scene_with(const char *path, const char *override) {
    th_scene_options options = {.overrides = &override, .override_count = override ? 1 : 0};
    char file[300];
    snprintf(file, sizeof file, "%s/%s", TH_SOURCE_DIR, path);
    th_scene *scene;
    assert_int_equal(th_scene_load_file(file, &options, &scene, NULL), TH_OK);
    return scene;
}

static double upper_share(const char *override) {
    th_scene *scene = scene_with("scenes/guided/two_corridors.json", override);
    int lines[2] = {0, 0};
    for (uint64_t seed = 1; seed <= (uint64_t)CROWDS(4); ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    return (double)lines[0] / (lines[0] + lines[1]);
}

static void two_corridors(void **state) {
    (void)state;
    double with = upper_share(NULL), without = upper_share("groups.0.plan.follow=0");
    print_message("  %.0f %% take the corridor with the stroke, %.0f %% without it\n", 100.0 * with,
                  100.0 * without);
    assert_true(with > 0.8);
    assert_true(without > 0.25 && without < 0.75);
}

static void against_the_shortest_way(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/against.json", NULL);
    int lines[2] = {0, 0}, plain[2] = {0, 0}, crowds = CROWDS(10);
    for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    scene = scene_with("scenes/guided/against.json", "groups.0.plan=field");
    run_scene(scene, 1, 200, plain);
    th_scene_destroy(scene);
    print_message("  %.1f of 80 go around, %.1f by the short way\n", (double)lines[0] / crowds,
                  (double)lines[1] / crowds);
    assert_true(lines[0] >= 50 * crowds); // all of the first group, some of the second
    assert_true(lines[1] <= 30 * crowds);
    assert_true(plain[1] >= 50); // the strokes do not concern this group
}

// The door at the end of the guided corridor jams. Agents that count the crowd take the other corridor.
static void jam(void **state) {
    (void)state;
    int crowds = CROWDS(3), lines[2][2] = {{0}};
    for (int counts = 0; counts < 2; ++counts) {
        th_scene *scene =
            scene_with("scenes/guided/jam.json", counts ? NULL : "groups.0.plan.every=0");
        for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed)
            run_scene(scene, seed, 300, lines[counts]);
        th_scene_destroy(scene);
    }
    print_message("  %.1f of 200 take the other way, %.1f who count the crowd\n",
                  (double)lines[0][1] / crowds, (double)lines[1][1] / crowds);
    assert_true(lines[0][1] < 20 * crowds);
    assert_true(lines[1][1] > 30 * crowds);
}

// As a static one: any threads, and a snapshot between two solutions; with a door that was shut at the time.
static void crowd_restored(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/jam.json", "groups.0.plan.every=7");
    assert_any_threads(scene, 3, 40);
    assert_restores(scene, 24, 40);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 10);
    const th_model *model = th_models(NULL)[TH_PLAN_GUIDED];
    size_t size = model->saved_size(world, TH_PLAN_GUIDED);
    unsigned char *bytes = malloc(size);
    model->save(world, TH_PLAN_GUIDED, bytes);
    assert_true(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
    assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size - 1));
    bytes[size - 1] = 2;
    assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
    bytes[size - 1] = 1;
    const float bad[] = {NAN, -1.0f,
                         7.0f}; // a direction that is too long at the end, costs at the beginning
    for (int k = 0; k < 3; ++k) {
        unsigned char *at = k < 2 ? bytes : bytes + size - 1 - sizeof(float), before[sizeof(float)];
        memcpy(before, at, sizeof before);
        memcpy(at, &bad[k], sizeof bad[k]);
        assert_false(model->saved_is_sound(world, TH_PLAN_GUIDED, bytes, size));
        memcpy(at, before, sizeof before);
    }
    free(bytes);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Each group passes the middle on the side of its own stroke.
static void four_destinations(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/four_destinations.json", NULL);
    int lines[4] = {0}, crowds = CROWDS(3);
    for (uint64_t seed = 1; seed <= (uint64_t)crowds; ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    for (int k = 0; k < 4; ++k) {
        print_message("  %.1f of 50 pass on their side\n", (double)lines[k] / crowds);
        assert_true(lines[k] >= 45 * crowds && lines[k] <= 55 * crowds);
    }
}

static double statistic(const th_world *world, const char *name) {
    th_model_value values[8];
    int count = th_world_model_statistics(world, th_model_find(TH_STAGE_PLAN, "guided"), values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    fail_msg("no statistic %s", name);
    return 0.0;
}

// Two floors that nothing joins, two groups below, one of which shares its goal with the third; a door on each floor.
static const char floors_json[] = TH_JSON({
    "levels": [{"id": "low", "walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 10]]]},
        {"id": "high", "walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 10]]]}],
    "doors": [{"id": "d", "level": "low", "line": [[8, 1], [8, 4]], "schedule": [[4, "close"], [9, "open"]]},
        {"id": "d2", "level": "low", "line": [[8, 7], [8, 9]]}, {"id": "u", "level": "high", "line": [[8, 3], [8, 7]]}],
    "exits": [{"id": "a", "level": "low", "line": [[16, 0], [16, 10]]}, {"id": "b", "level": "low", "line": [[0, 0], [0, 10]]},
        {"id": "c", "level": "high", "line": [[16, 0], [16, 10]]}],
    "guidance": [{"level": "low", "line": [[1, 2], [15, 2]], "to": "a"}, {"level": "high", "line": [[1, 2], [7, 8]]}],
    "groups": [{"level": "low", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 30, "to": "a", "plan": "guided", "move": "orca"},
        {"level": "low", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 10, "to": "a", "plan": "guided"},
        {"level": "low", "area": {"rect": [10, 0.5, 15, 9]}, "count": 20, "to": "b", "plan": "guided"},
        {"level": "high", "area": {"rect": [0.5, 0.5, 6, 9]}, "count": 30, "to": "c", "plan": "guided"}]});

// Solved once, again when a door closes or opens, and only on its floor.
static void solved_once(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    th_world *world = world_of(scene, 2, 3);
    th_world_step(world, 20);
    assert_near(statistic(world, "fields"), 3.0, 0.0);
    assert_near(statistic(world, "solutions"), 3.0, 0.0);
    th_world_step(world, 25); // closed: the two fields below
    assert_near(statistic(world, "solutions"), 5.0, 0.0);
    run_to_end(world, 100.0);
    assert_int_equal(th_world_statistics(world).left, 90);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    assert_any_threads(scene, 5, 110);
    th_scene_destroy(scene);
}

// While the door is closed, into a world that saw it open.
static void restored(void **state) {
    (void)state;
    th_scene *scene = scene_of(floors_json);
    assert_restores(scene, 55, 60);
    th_scene_destroy(scene);
}

// A live wall across the guided corridor: the other one, and every agent arrives. Live parameters: the stroke is
// forgotten.
static void live_edits(void **state) {
    (void)state;
    th_scene *scene = scene_with("scenes/guided/two_corridors.json", "groups.0.count=60");
    th_world *world = world_of(scene, 1, 4);
    th_world_step(world, 50);
    th_error error;
    int wall;
    assert_int_equal(th_world_add_wall(world, 0, th_v(30, 14), th_v(30, 17), &wall, &error), TH_OK);
    run_to_end(world, 250.0);
    assert_int_equal(th_world_statistics(world).left, 60);
    assert_true(th_world_line(world, 1).backward + th_world_line(world, 1).forward >= 60);
    th_world_destroy(world);
    world = world_of(scene, 1, 4);
    th_world_step(world, 5);
    assert_int_equal(th_world_set_param(world, 0, "follow", 0.0, &error), TH_OK);
    run_to_end(world, 250.0);
    assert_true(th_world_line(world, 1).backward + th_world_line(world, 1).forward >= 15);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Over stairs, with a stroke above: levels, portals, and an open plane without walls.
static void other_grounds(void **state) {
    (void)state;
    static const char stairs_json[] = TH_JSON({
        "levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}}, {"id": "u", "walkable": {"rect": [13, 0, 30, 10]}}],
        "stairs": [{"level": "g", "to": "u", "area": {"rect": [10, 4, 13, 6]}, "top": [[13, 4], [13, 6]]}],
        "exits": [{"id": "e", "level": "u", "line": [[30, 0], [30, 2]]}],
        "guidance": [{"level": "u", "line": [[14, 6], [20, 9], [28, 9]], "radius": 3}, {"level": "g", "line": [[9, 5], [1, 5]], "strength": 0.95}],
        "groups": [{"level": "g", "count": 30, "plan": "guided", "move": "orca", "to": "e"}]});
    static const char plane_json[] = TH_JSON({"exits": [{"id": "e", "area": {"rect": [20, -1, 22, 1]}}],
        "guidance": [{"line": [[0, 0], [5, 8], [15, 8], [21, 1]], "radius": 4}],
        "groups": [{"area": {"rect": [-3, -3, 3, 3]}, "count": 20, "plan": "guided", "move": "orca", "to": "e"}],
        "measure": {"lines": [{"line": [[10, 4], [10, 12]]}]}});
    int lines[1] = {0};
    th_scene *scene = scene_of(stairs_json);
    for (uint64_t seed = 1; seed <= (uint64_t)CROWDS(5); ++seed) run_scene(scene, seed, 200, lines);
    th_scene_destroy(scene);
    scene = scene_of(plane_json);
    run_scene(scene, 1, 100, lines);
    assert_true(lines[0] > 15);
    th_scene_destroy(scene);
}

// An agent that does not fit through the gap that the stroke leads through goes the other way.
static void wide_people(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({
        "levels": [{"walkable": {"rect": [0, 0, 20, 12]}, "obstacles": [{"rect": [9, 0, 11, 2]}, {"rect": [9, 2.6, 11, 8]}, {"rect": [9, 10, 11, 12]}]}],
        "exits": [{"id": "e", "line": [[20, 0], [20, 12]]}],
        "guidance": [{"line": [[1, 2.3], [19, 2.3]], "radius": 3, "strength": 0.9}],
        "groups": [{"area": {"rect": [1, 1, 7, 11]}, "count": 10, "radius": 0.2, "plan": "guided", "move": "orca", "to": "e"},
            {"area": {"rect": [1, 1, 7, 11]}, "count": 10, "radius": 0.4, "plan": "guided", "move": "orca", "to": "e"}],
        "measure": {"lines": [{"line": [[10, 2], [10, 2.6]]}]}}));
    assert_int_equal(scene->size_count, 2);
    int lines[1] = {0};
    run_scene(scene, 1, 200, lines);
    assert_true(lines[0] >= 8 && lines[0] <= 10);
    th_scene_destroy(scene);
}

// ---- messages

static void refused(const char *guidance, const char *path, const char *says) {
    char text[800];
    snprintf(text, sizeof text,
             TH_JSON({"levels": [{"id": "g", "walkable": {"rect": [0, 0, 10, 10]}}], "exits": [{"id": "out", "line": [[10, 4], [10, 6]]}],
                      "groups": [{"count": 1}], "guidance": [{"line": [[1, 1], [5, 1]]}, %s]}), guidance);
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_load_json(text, strlen(text), "bad", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.path, path) || !strstr(error.message, says))
        fail_msg("%s: %s", error.path, error.message);
}

static void messages(void **state) {
    (void)state;
    refused(TH_JSON({"line": [[12, 1], [15, 5]]}), "guidance[1].line", "outside the walkable area");
    refused(TH_JSON({"line": [[1, 1]]}), "guidance[1].line", "two points");
    refused(TH_JSON({}), "guidance[1].line", "two points");
    refused(TH_JSON({"line": [[1, 1], [1, 1]]}), "guidance[1].line", "no length");
    refused(TH_JSON({"line": [[1, 1], ["a", 1]]}), "guidance[1].line[1]", "number");
    refused(TH_JSON({"line": [[1, 1], [1e30, 1]]}), "guidance[1].line", "place on earth");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "radius": 0}), "guidance[1].radius", "radius is 0");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "radius": 50}), "guidance[1].radius", "20");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "strength": 1}), "guidance[1].strength",
                     "less than 1");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "strength": -0.5}), "guidance[1].strength",
                     "more than 0");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "level": "h"}), "guidance[1].level", "level");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "to": "ouf"}), "guidance[1].to",
                     "did you mean \"out\"");
    refused(TH_JSON({"line": [[1, 1], [2, 1]], "width": 2}), "guidance[1].width", "unknown key");
    refused(TH_JSON({"line": [[-9000, 5], [9000, 5], [0, 9000]], "radius": 20}), "guidance",
                              "cover");
    // Half outside is fine.
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}], "guidance": [{"line": [[-5, 5], [15, 5]]}]}));
    int count;
    const th_stroke *strokes = th_strokes_of(scene, &count);
    assert_int_equal(count, 1);
    assert_int_equal(strokes[0].to, -1);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_corridors),     cmocka_unit_test(against_the_shortest_way),
        cmocka_unit_test(four_destinations), cmocka_unit_test(discomfort),
        cmocka_unit_test(solved_once),       cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),          cmocka_unit_test(live_edits),
        cmocka_unit_test(other_grounds),     cmocka_unit_test(wide_people),
        cmocka_unit_test(messages),          cmocka_unit_test(jam),
        cmocka_unit_test(crowd_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
