// Scene data that models of a program's own declare. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/throng.h"
#include <stddef.h>
#include <string.h>

static th_vec2 as_planned(const th_agent *me) { return me->preferred; }

#define STREET(walkways)                                                                          \
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 60, 6]}}], \"exits\": [{\"line\": [[60, 0], " \
    "[60, 6]]}],"                                                                                 \
    "\"groups\": [{\"positions\": [[2, 3]], \"speed\": 1, \"filter\": \"walkway\", \"move\": "    \
    "\"orca\"},"                                                                                  \
    "{\"positions\": [[2, 1]], \"speed\": 1, \"filter\": \"walkway\", \"move\": "                 \
    "\"orca\"}]," walkways "}"

static void walkway_error(const char *walkways, const char *path, const char *message) {
    char json[1200];
    snprintf(json, sizeof json, STREET("%s"), walkways);
    th_scene *scene = NULL;
    th_error error = {0};
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.message, message)) fail_msg("%s", error.message);
    assert_string_equal(error.path, path);
    assert_true(error.line == 1 && error.column > 1);
}

// A strip with a speed from one file: declared, decoded, checked, compiled, and it carries people.
static void scene_data(void **state) {
    (void)state;
    th_scene *scene = NULL;
    th_error error = {0};
    const char *json = STREET("\"walkways\": [{\"line\": [[0, 3], [60, 3]], \"speed\": 0.5}]");
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE); // no model knows walkways yet
    if (th_plugin_load(TH_PLUGINS "/own_section.so", &error) != TH_OK)
        fail_msg("%s", error.message);
    scene = scene_of(json);
    int count;
    const th_item *walkways = th_scene_items(scene, "walkways", &count);
    assert_int_equal(count, 1);
    assert_string_equal(walkways[0].id, "walkway0");
    assert_null(th_scene_items(scene, "strips", &count));
    assert_int_equal(count, 0);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 200);
    const float *x = field_of(world, TH_FIELD_POSITION_X);
    assert_near(x[0], 2.0 + 20.0 * 1.5, 0.6); // carried
    assert_near(x[1], 2.0 + 20.0 * 1.0, 0.6); // beside it
    th_world_destroy(world);
    th_scene_destroy(scene);
    walkway_error("\"walkways\": [{\"line\": [[0, 3], [60, 3]], \"speed\": 9}]",
                  "walkways[0].speed", "it must be at least 0.1 and at most 3 m/s");
    walkway_error("\"walkways\": [{\"line\": [[0, 3], [60, 3]], \"sped\": 1}]", "walkways[0].sped",
                  "did you mean \"speed\"?");
    walkway_error("\"walkways\": [{\"speed\": 1}]", "walkways[0].line",
                  "a walkway needs a \"line\"");
    walkway_error("\"walkways\": [{\"line\": [[0, 3], [0, 3]]}]", "walkways[0].line",
                  "has no length");
    walkway_error("\"walkways\": [{\"line\": [[0, 30], [9, 30]]}]", "walkways[0].line",
                  "lies outside the walkable area");
    walkway_error("\"walkways\": [{\"line\": 5}]", "walkways[0].line", "found the number 5");
    walkway_error("\"walkways\": [{\"id\": \"a\", \"line\": [[0, 3], [60, 3]]}, {\"id\": \"a\", "
                  "\"line\": [[0, 3], [60, 3]]}]",
                  "walkways[1].id", "taken");
}

// The plugin that docs/own-model.md prints: it compiles, its section is checked, and wet ground slows people down.
static void the_plugin_of_the_page(void **state) {
    (void)state;
    th_error error = {0};
    if (th_plugin_load(TH_PLUGINS "/page_plugin.so", &error) != TH_OK)
        fail_msg("%s", error.message);
#define POOL(puddles, filter)                                                                     \
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 40, 6]}}], \"exits\": [{\"line\": [[40, 0], " \
    "[40, 6]]}], \"groups\": [{\"positions\": [[2, 3]], \"speed\": 1, \"move\": \"orca\"" filter  \
    "}]" puddles "}"
    th_scene *scene = scene_of(
        POOL(", \"puddles\": [{\"area\": {\"rect\": [4, 0, 39, 6]}}]", ", \"filter\": \"wade\""));
    th_doubt doubts[4];
    assert_int_equal(th_scene_doubts(scene, doubts, 4), 0);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 100);
    assert_near(field_of(world, TH_FIELD_POSITION_X)[0], 4.0 + 8.0 * 0.5, 0.3);
    th_world_destroy(world);
    th_scene_destroy(scene);
    const char *idle[] = {POOL(", \"puddles\": [{\"area\": {\"rect\": [4, 0, 39, 6]}}]", ""),
                          POOL("", ", \"filter\": \"wade\"")};
    const char *said[] = {"\"puddles\" has no effect: no group uses the filter \"wade\"",
                          "the filter \"wade\" has no effect: the scene has no \"puddles\""};
    for (int k = 0; k < 2; ++k) {
        scene = scene_of(idle[k]);
        assert_int_equal(th_scene_doubts(scene, doubts, 4), 1);
        assert_true(doubts[0].no_effect);
        if (!strstr(doubts[0].text, said[k])) fail_msg("%s", doubts[0].text);
        th_scene_destroy(scene);
    }
    const char *dry = POOL(", \"puddles\": [{\"area\": {\"rect\": [4, 20, 39, 26]}}]", "");
    assert_int_equal(th_scene_load_json(dry, strlen(dry), "pool", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_non_null(strstr(error.message, "\"puddle0\" lies outside the level \"ground\", 14.0 m"));
}

// Faults of a declaration are named when the model is registered.
static void declarations_are_checked(void **state) {
    (void)state;
    typedef struct thing {
        th_item item;
        float number;
        int name;
    } thing;
    static const th_key_info number = {.name = "n",
                                       .offset = offsetof(thing, number),
                                       .unit = "m",
                                       .max = 1,
                                       .doc = "A number."},
                             name = {.name = "kind",
                                     .kind = TH_KEY_NAME,
                                     .words = "other",
                                     .offset = offsetof(thing, name),
                                     .doc = "A name."};
    static th_section_info section;
    static th_model model = {.cookie = TH_MODEL_COOKIE,
                             .stage = TH_STAGE_FILTER,
                             .name = "things",
                             .doc = "-",
                             .source = "-",
                             .agent = as_planned,
                             .sections = &section,
                             .section_count = 1};
    const th_section_info good = {.name = "things",
                                  .item = "thing",
                                  .doc = "Things.",
                                  .item_size = sizeof(thing),
                                  .keys = &number,
                                  .key_count = 1};
    const struct {
        th_section_info part;
        const char *says;
    } cases[] = {
        {{.name = "doors"}, "\"doors\" is a key that all scenes have"},
        {{.name = "strips"}, "has a section \"strips\" already"},
        {{.width_key = "width"}, "has no number \"width\""},
        {{.group_key = "likes", .group_doc = "-"}, "with a group_key exactly one"},
        {{.group_key = "speed", .group_doc = "-", .keys = &name}, "\"speed\" is a key"},
        {{.group_key = "interested_in", .group_doc = "-", .keys = &name},
         "\"interested_in\" already"},
        {{.detours = true}, "needs a behave model that decides TH_DECIDES_DETOUR"},
    };
    for (int k = 0; k < TH_COUNT_OF(cases); ++k) {
        const th_section_info *part = &cases[k].part;
        th_error error = {0};
        section = good;
        if (part->name) section.name = part->name;
        if (part->keys) section.keys = part->keys;
        section.width_key = part->width_key;
        section.group_key = part->group_key;
        section.group_doc = part->group_doc;
        section.detours = part->detours;
        assert_int_equal(th_model_register(&model, &error), TH_BAD_ARGUMENT);
        if (!strstr(error.message, cases[k].says)) fail_msg("%d: %s", k, error.message);
    }
}

// The same in code.
static void scene_data_in_code(void **state) {
    (void)state;
    th_error error = {0};
    if (th_plugin_load(TH_PLUGINS "/own_section.so", &error) != TH_OK)
        fail_msg("%s", error.message);
    const th_point line[] = {{0, 0}, {10, 0}};
    const th_value_def values[] = {{.key = "line", .points = line, .point_count = 2},
                                   {.key = "speed", .number = 2}};
    const th_item_def item = {values, 2};
    th_section_def section = {"walkways", &item, 1};
    th_scene_def def = th_scene_def_default();
    def.sections = &section;
    def.section_count = 1;
    th_scene *scene = NULL;
    if (th_scene_create(&def, &scene, &error) != TH_OK) fail_msg("%s", error.message);
    int count;
    assert_non_null(th_scene_items(scene, "walkways", &count));
    assert_int_equal(count, 1);
    th_scene_destroy(scene);
    section.name = "walways";
    assert_int_equal(th_scene_create(&def, &scene, &error), TH_BAD_SCENE);
    assert_non_null(strstr(error.message, "no model declares a section of this name"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_data),
        cmocka_unit_test(scene_data_in_code),
        cmocka_unit_test(the_plugin_of_the_page),
        cmocka_unit_test(declarations_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
