// Models in shared libraries: loading, refusing, and the program's --plugin. SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include <stdlib.h>
#include <string.h>

// A room with a door to the right; the plugin's model moves one of the groups.
static const char ROOM[] = TH_JSON(
    {"levels":[{"walkable":{"rect":[0,0,12,8]}}], "exits":[{"id":"door", "line":[[12,3],[12,5]]}],
    "groups":[{"area":{"rect":[0.5,0.5,6,7.5]}, "count":40, "move":"keep_gap"},
        {"area":{"rect":[6.5,0.5,10,7.5]}, "count":20, "move":"orca"}]});

static void does_not_load(const char *file, th_result result, const char *part) {
    char path[300];
    th_error error = {0};
    int before, after;
    snprintf(path, sizeof path, "%s/%s", TH_PLUGINS, file);
    th_models(&before);
    assert_int_equal(th_plugin_load(path, &error), result);
    if (!strstr(error.message, part)) fail_msg("%s", error.message);
    assert_string_equal(error.file, path);
    th_models(&after);
    assert_int_equal(after, before);
}

static void bad_plugins(void **state) {
    (void)state;
    does_not_load("nowhere.so", TH_NO_FILE, "the plugin does not load");
    does_not_load("nowhere.so", TH_NO_FILE, "No such file or directory");
    does_not_load("plugin_undefined.so", TH_NO_FILE, "undefined symbol: th_of_a_later_version");
    does_not_load("plugin_no_entry.so", TH_NO_FILE, "it has no th_plugin");
    does_not_load("plugin_old.so", TH_NO_FILE, "was built for another version of throng");
    does_not_load("plugin_other_size.so", TH_NO_FILE, "(th_field_use is ");
    does_not_load("plugin_other_minor.so", TH_NO_FILE, "(version of throng is ");
    does_not_load("plugin_empty.so", TH_NO_FILE, "registers no model");
    // Models that it registered before it failed are removed.
    does_not_load("plugin_taken.so", TH_BAD_ARGUMENT, "there is a model \"orca\" of this stage");
    assert_int_equal(th_model_find(TH_STAGE_MOVE, "taken_first"), -1);
}

static void plugin(void **state) {
    (void)state;
    th_error error = {0};
    int before, after;
    if (th_plugin_load(TH_PLUGINS "/own_model.so", &error) != TH_OK) fail_msg("%s", error.message);
    th_models(&before);
    assert_int_equal(th_plugin_load(TH_PLUGINS "/own_model.so", NULL), TH_OK); // nothing more
    th_models(&after);
    assert_int_equal(after, before);
    th_scene *scene = scene_of(ROOM);
    uint64_t hash = 0;
    static const int threads[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; ++k) {
        th_world *world = world_of(scene, threads[k], 1);
        th_world_step(world, 100);
        if (k == 0) hash = th_world_hash(world);
        assert_int_equal(th_world_hash(world), hash);
        assert_true(th_world_field(world, "keep_gap.held_up") >= TH_FIELD_COUNT);
        if (k == 0) assert_true(run_to_end(world, 200) < 200);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

static uint64_t hash_of_door(const char *move) {
    char set[80];
    snprintf(set, sizeof set, "groups.0.move=%s", move);
    const th_scene_options own = {.overrides = (const char *[]){set}, .override_count = 1};
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_file(TH_SOURCE_DIR "/scenes/door.json", &own, &scene, &error) != TH_OK)
        fail_msg("%s: %s", move, error.message);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 200);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return hash;
}

// The engine attaches no meaning to the names of parameters.
static void names_are_free(void **state) {
    (void)state;
    th_error error = {0};
    if (th_plugin_load(TH_PLUGINS "/own_model.so", &error) != TH_OK) fail_msg("%s", error.message);
    if (th_plugin_load(TH_PLUGINS "/renamed_model.so", &error) != TH_OK)
        fail_msg("%s", error.message);
    const th_model *renamed = th_models(NULL)[th_model_find(TH_STAGE_MOVE, "renamed_gap")];
    assert_string_equal(renamed->params[1].name, "body_depth");
    assert_int_equal(hash_of_door("renamed_gap"), hash_of_door("keep_gap"));
}

// The program: a list, a check, a run that is interrupted and resumed without being told of the plugin again, a sweep.
static void the_program_takes_a_plugin(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    char path[128], whole[17], resumed[17];
    snprintf(path, sizeof path, "%s/hall.json", p.folder);
    copy_scene("gate_hall.json", path);
    const outcome *result = throng(&p, "list --plugin '" TH_PLUGINS "/own_model.so'");
    assert_code(result, 0);
    assert_holds(result->out, "time_gap                      1 [s] (0.1 .. 5)");
    result = throng(&p, "list --plugin '" TH_PLUGINS "/plugin_old.so'");
    assert_code(result, 2); // as `run` has it: what was given is wrong
    assert_holds(result->error, "plugin_old.so: was built for another version of throng");
    const char set[] = "--set groups.0.move=keep_gap";
    result = throng(&p, "check hall.json %s", set);
    assert_code(result, 2);
    assert_holds(result->error, "unknown move model \"keep_gap\"");
    result = throng(&p, "check hall.json --plugin '" TH_PLUGINS "/own_model.so' %s", set);
    assert_code(result, 0);
    result = throng(&p,
                    "run hall.json --plugin '" TH_PLUGINS
                    "/own_model.so' %s --out whole --quiet --no-report",
                    set);
    assert_code(result, 0);
    hash_of(result->out, whole);
    throng_until(
        &p,
        "run hall.json --plugin '" TH_PLUGINS
        "/own_model.so' --set groups.0.move=keep_gap --quiet --out cut --checkpoint every=1 "
        "--no-report",
        "step:120", SIGKILL);
    char *about = program_file(&p, "cut/run.json");
    assert_holds(about, "own_model.so");
    free(about);
    // A folder from elsewhere may name any code: it is not loaded unless it is named again.
    result = throng(&p, "resume cut --quiet");
    assert_code(result, 3);
    assert_holds(result->error, "cut: its models are in the plugin ");
    assert_holds(result->error, "own_model.so");
    assert_holds(result->error, "add --plugin");
    result = throng(&p, "resume cut --quiet --plugin '" TH_PLUGINS "/own_model.so'");
    assert_code(result, 0);
    hash_of(result->out, resumed);
    assert_string_equal(resumed, whole);
    result = throng(&p, "sweep hall.json --plugin '" TH_PLUGINS
                        "/own_model.so' --vary groups.0.move=orca,keep_gap --runs 1 --max-time 2 "
                        "--out both --quiet");
    assert_code(result, 0);
    program_end(&p);
}

// Verbs that measure and judge: each knows the model with the plugin, and not without it.
static void the_judges_take_a_plugin(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    char path[128];
    snprintf(path, sizeof path, "%s/hall.json", p.folder);
    copy_scene("gate_hall.json", path);
    static const struct {
        const char *command, *said;
    } cases[] = {
        {"validate rimea --only 5 --quick --quiet --out none --model keep_gap", "1 pass"},
        {"experiment all --quick --only single_file --quiet --out none --model keep_gap",
         "every bar of the table"},
        {"fd hall.json --area 1,1,4,4 --set run.duration=1 --set groups.0.move=keep_gap --out none",
         " samples in 9.00 m2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const outcome *result = throng(&p, "%s", cases[i].command);
        if (result->code == 0) fail_msg("%s knows keep_gap without its plugin", cases[i].command);
        assert_holds(result->error, "keep_gap");
        result = throng(&p, "%s --plugin '" TH_PLUGINS "/own_model.so'", cases[i].command);
        assert_code(result, 0);
        assert_holds(result->out, cases[i].said);
    }
    program_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_plugins),
        cmocka_unit_test(plugin),
        cmocka_unit_test(names_are_free),
        cmocka_unit_test(the_program_takes_a_plugin),
        cmocka_unit_test(the_judges_take_a_plugin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
