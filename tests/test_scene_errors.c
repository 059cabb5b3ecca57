// Error messages, word for word: they are what a user of scene files meets first.
// SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include "support.h"
#include <dirent.h>
#include <string.h>

#define ROOM "{'walkable': {'rect': [0, 0, 10, 10]}}"

// The texts of this file write ' for " so that they can be read; only positions in them matter.
static const char *quoted(const char *text) {
    static char json[2048];
    assert_true(strlen(text) < sizeof json);
    for (size_t i = 0; i <= strlen(text); ++i) json[i] = text[i] == '\'' ? '"' : text[i];
    return json;
}

typedef struct golden {
    const char *text;     // the scene, with ' for "
    const char *override; // or NULL
    const char *message;  // "line:column path: message"
} golden;

static void check(const golden *wanted) {
    th_scene_options options = {.overrides = &wanted->override,
                                .override_count = wanted->override ? 1 : 0};
    th_scene *scene = NULL;
    th_error error;
    const char *json = quoted(wanted->text);
    th_result result =
        th_scene_load_json(json, strlen(json), "s.json", TH_SOURCE_DIR, &options, &scene, &error);
    if (result == TH_OK) {
        th_scene_destroy(scene);
        fail_msg("accepted: %s", wanted->text);
    }
    char found[1200];
    snprintf(found, sizeof found, "%s:%d:%d %s: %s", error.file, error.line, error.column,
             error.path, error.message);
    assert_string_equal(found, wanted->message);
    assert_null(scene);
    assert_int_equal(result, error.code);
}

static void check_all(const golden *goldens, size_t count) {
    for (size_t i = 0; i < count; ++i) check(&goldens[i]);
}
#define CHECK_ALL(goldens) check_all(goldens, sizeof(goldens) / sizeof((goldens)[0]))

static void syntax(void **state) {
    (void)state;
    static const golden goldens[] = {
        {"{\n  'name': 'x',\n  'name': 'y'\n}", NULL,
         "s.json:3:3 : not valid JSON: duplicate object key near '\"name\"'"},
        {"{\n  'name': 'x'\n  'run': {}\n}", NULL,
         "s.json:3:3 : not valid JSON: '}' expected near '\"run\"'"},
        {"{ 'run': {'step': 1e999} }", NULL,
         "s.json:1:19 : not valid JSON: real number overflow near '1e999'"},
        {"{\n /* never\n closed\n}", NULL,
         "s.json:2:2 : a comment starts here and never ends; close it with */"},
        {"[1, 2]", NULL, "s.json:1:1 : a scene is an object { ... }, found an array of 2"},
        {"", NULL, "s.json:1:1 : not valid JSON: '[' or '{' expected near end of file"},
        {"{'name': '\xff'}", NULL,
         "s.json:1:10 : not valid JSON: unable to decode byte 0xff near '\"'"},
    };
    CHECK_ALL(goldens);
}

static void names_and_types(void **state) {
    (void)state;
    static const golden goldens[] = {
        {"{\n  'levels': [" ROOM "],\n  'gruops': []\n}", NULL,
         "s.json:3:3 gruops: unknown key \"gruops\"; did you mean \"groups\"?"},
        {"{ 'groups': [ {'count': 3,\n      'sped': 1.3} ] }", NULL,
         "s.json:2:7 groups[0].sped: unknown key \"sped\"; did you mean \"speed\"?"},
        {"{ 'zzzzzzzzzz': 1 }", NULL,
         "s.json:1:3 zzzzzzzzzz: unknown key \"zzzzzzzzzz\"; known here: name, description, "
         "levels, stairs, zones, pictures, doors, exits, waypoints, waiting_areas, groups, "
         "scripted, measure, run, record, plan_cell, $schema, profiles, import, timetable, "
         "underlays, interests, "
         "guidance, strips"},
        {"{ 'levels': [" ROOM "],\n 'underlays': [{'file': 'a.png'}] }", NULL,
         "s.json:2:16 underlays[0].metres_per_pixel: expected 0.00001 to 1000 m, found null"},
        {"{ 'levels': [" ROOM "], 'underlays': [\n"
         "{'file': 'a.png', 'metres_per_pixel': 0.1, 'level': 'attic'}] }",
         NULL,
         "s.json:2:53 underlays[0].level: expected the id of a level, found the text "
         "\"attic\""},
        {"{ 'levels': 5 }", NULL,
         "s.json:1:13 levels: expected an array [ ... ], found the number 5"},
        {"{ // comment é\n 'name': 4 }", NULL,
         "s.json:2:10 name: expected a text, found the number 4"},
        {"{ 'levels': [{'walkable': [[0, 0], [1, 'a'], [1, 1]]}] }", NULL,
         "s.json:1:40 levels[0].walkable[1][1]: expected a number, found the text \"a\""},
        {"{ 'levels': [{'walkable': {'rect': [0, 0, 1]}}] }", NULL,
         "s.json:1:36 levels[0].walkable.rect: expected a rectangle [x0, y0, x1, y1], found an "
         "array of 3"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 2.5}] }", NULL,
         "s.json:2:24 groups[0].count: expected a whole number, found the number 2.5"},
        {"{ 'exits': [{'id': 'a', 'lin': [[0,0],[1,0]]}] }", NULL,
         "s.json:1:25 exits[0].lin: unknown key \"lin\"; did you mean \"line\"?"},
        {"{ 'levels': [{'walkable': {'rect': [0,0,9,9]}, 'obstacles': [{'rect': [3,-1,6,10]}]}],\n"
         "  'doors': [{'line': [[4.5,3],[4.5,4]]}] }",
         NULL,
         "s.json:2:22 doors[0].line: the door from (4.5, 3) to (4.5, 4) lies in a wall or off the "
         "ground, 1.5 m from it; move its line to where there is ground on both sides"},
        {"{ 'levels': [{'walkable': {'rect': [0,0,9,9]}, 'obstacles': [{'rect': [3,-1,3.2,8]}]}],\n"
         "  'doors': [{'line': [[3.1,3],[3.1,4]]}] }",
         NULL,
         "s.json:2:22 doors[0].line: the door from (3.1, 3) to (3.1, 4) lies in a wall or off the "
         "ground, 0.1 m from it; move its line to where there is ground on both sides"},
        {"{ 'doors': [{'id': 'a'}] }", NULL,
         "s.json:1:13 doors[0]: expected a member \"line\": [[x, y], [x, y]], found an object"},
        {"{ 'levels': [" ROOM "], 'groups': [{'count': 1, 'move': 'orka'}] }", NULL,
         "s.json:1:87 groups[0].move: unknown move model \"orka\"; did you mean \"orca\"?"},
        {"{ 'levels': [" ROOM "], 'groups': [{'count': 1, 'move': {'model': 'orca',\n"
         "    'time_horizonn': 2}}] }",
         NULL,
         "s.json:2:22 groups[0].move.time_horizonn: unknown parameter of orca \"time_horizonn\"; "
         "did you mean \"time_horizon\"?"},
        {"{ 'levels': [" ROOM "], 'groups': [{'count': 1, 'move': {'model': 'orca',\n"
         "    'time_horizon': 200}}] }",
         NULL,
         "s.json:2:21 groups[0].move.time_horizon: time_horizon is 200; it must lie in 0.05 .. 60 "
         "s (default 2)"},
    };
    CHECK_ALL(goldens);
}

static void meaning(void **state) {
    (void)state;
    static const golden goldens[] = {
        {"{ 'levels': [\n  {'walkable': [[0, 0], [10, 10], [10, 0], [0, 10]]}\n] }", NULL,
         "s.json:2:16 levels[0].walkable: the outline crosses itself at (5, 5); put the points in "
         "order around the shape"},
        {"{ 'levels': [{'walkable': 'LINESTRING (0 0, 1 0)'}] }", NULL,
         "s.json:1:27 levels[0].walkable: expected polygons, found a LineString"},
        {"{ 'levels': [{'walkable': [[0, 0], [10, 10]]}] }", NULL,
         "s.json:1:27 levels[0].walkable: 2 points; a polygon needs at least 3"},
        {"{ 'levels': [" ROOM "],\n  'exits': [\n    {'id': 'a', 'line': [[0,4],[0,6]]},\n"
         "    {'id': 'a', 'line': [[10,4],[10,6]]}] }",
         NULL, "s.json:4:12 exits[1].id: the id \"a\" is taken by an earlier exit; ids are unique"},
        {"{ 'levels': [" ROOM "], 'exits': [{'id': 'east', 'line': [[0,4],[0,6]]}],\n"
         "  'groups': [{'count': 4, 'to': 'eest'}] }",
         NULL, "s.json:2:33 groups[0].route[0]: unknown goal \"eest\"; did you mean \"east\"?"},
        {"{ 'levels': [" ROOM "], 'exits': [{'id': 'east', 'line': [[0,4],[0,6]]}],\n"
         "  'groups': [{'count': 4, 'route': ['east',\n    ['east', 'moon']]}] }",
         NULL,
         "s.json:3:5 groups[0].route[1]: unknown goal \"moon\"; goals are the ids of exits, "
         "waypoints and waiting_areas"},
        {"{ 'levels': [{'id': 'lower'}, {'id': 'upper'}],\n"
         "  'zones': [{'level': 'uper', 'area': {'rect': [0,0,1,1]}}] }",
         NULL, "s.json:2:23 zones[0].level: unknown level \"uper\"; did you mean \"upper\"?"},
        {"{ 'levels': [{'id': 'lower'}, {'id': 'upper'}],\n"
         "  'zones': [{'area': {'rect': [0,0,1,1]}}] }",
         NULL, "s.json:2:13 zones[0].level: say which \"level\" this is on; the scene has 2"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': -3}] }", NULL,
         "s.json:2:24 groups[0].count: expected a number of people, 0 or more, found the number "
         "-3"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{}] }", NULL,
         "s.json:2:14 groups[0]: the number of people is missing; give exactly one of \"count\", "
         "\"density\", \"positions\", \"positions_file\", \"source\" and \"recording\""},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 3, 'density': 1}] }", NULL,
         "s.json:2:14 groups[0]: the number of people is given twice; give exactly one of "
         "\"count\", \"density\", \"positions\", \"positions_file\", \"source\" and \"recording\""},
        {"{ 'groups': [{'count': 3}] }", NULL,
         "s.json:1:14 groups[0]: the level is an open plane, so this group needs an \"area\" to "
         "appear in"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 3, 'speed': {'normal': [1.3, -1]}}] }",
         NULL, "s.json:2:36 groups[0].speed: the standard deviation is -1; it must be 0 or more"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 3, 'radius': {'uniform': [0.3, 0.2]}}] }",
         NULL,
         "s.json:2:37 groups[0].radius: uniform from 0.3 to 0.2 is empty; put the lower value "
         "first"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 3, 'radius': 20}] }", NULL,
         "s.json:2:37 groups[0].radius: radius is 20; it must lie in 0.05 .. 2 m"},
        {"{ 'levels': [" ROOM "],\n  'groups': [{'count': 3, 'speed': {'normle': [1.3, 1]}}] }",
         NULL,
         "s.json:2:37 groups[0].speed.normle: unknown key \"normle\"; did you mean \"normal\"?"},
        {"{ 'levels': [\n  {'walkable': {'file': 'no_such.wkt'}}] }", NULL,
         "s.json:2:16 levels[0].walkable: cannot read " TH_SOURCE_DIR
         "/no_such.wkt: No such file or "
         "directory; names are relative to the scene file"},
        {"{ 'levels': [" ROOM "],\n 'groups': [{'positions_file': 'missing.csv'}] }", NULL,
         "s.json:2:32 groups[0].positions_file: cannot read " TH_SOURCE_DIR
         "/missing.csv: No such file or "
         "directory; names are relative to the scene file"},
        {"{ 'run': {'step': 2} }", NULL,
         "s.json:1:19 run.step: step is 2; it must lie in 0.0001 .. 0.5 s"},
        {"{ 'run': {'until_empty': false} }", NULL,
         "s.json:1:10 run: expected a \"duration\" when \"until_empty\" is false, found an object"},
        {"{ 'record': {'format': 'sqlit'} }", NULL,
         "s.json:1:24 record.format: unknown format \"sqlit\"; did you mean \"sqlite\"?"},
        {"{ 'record': {'format': 'hdf5'} }", NULL,
         "s.json:1:24 record.format: unknown format \"hdf5\"; known: none, sqlite, compact, text"},
        {"{ 'levels': [{'walkable': {'rect': [0, 0, 90000, 10]}}] }", NULL,
         "s.json:1:13 levels: the scene is 90 km across; the largest is 40 km"},
        {"{ 'doors': [{'line': [[0,0],[1,0]], 'schedule': [[9, 'open'],\n [3, "
         "'close']]}] }",
         NULL,
         "s.json:2:2 doors[0].schedule[1]: time 3 s comes after 9 s; put the changes in order"},
    };
    CHECK_ALL(goldens);
}

static void bad_overrides_are_refused(void **state) {
    (void)state;
    static const char text[] =
        "{ 'levels': [" ROOM "],\n  'groups': [{'id': 'staff', 'count': 3}] }";
    static const golden goldens[] = {
        {text, "groups.stff.count=4",
         "s.json:2:13 groups: the override groups.stff.count=4 names no element of groups: it has "
         "1 (counted from 0); did you mean \"staff\"?"},
        {text, "groups[1].count=4",
         "s.json:2:13 groups: the override groups[1].count=4 names no element of groups: it has 1 "
         "(counted from 0)"},
        {text, "groups[0.count=4",
         "s.json:2:13 groups: the path of the override \"groups[0.count=4\" is not understood; "
         "e.g. "
         "groups[0].count=400"},
        {text, "groups[0]].count=4",
         "s.json:2:14 groups[0]: the path of the override \"groups[0]].count=4\" is not "
         "understood; "
         "e.g. groups[0].count=400"},
        {text, "run.runs=1e9",
         "s.json:1:1 run.runs: runs is 1e+09; it must lie in 1 .. 100000  (set by the override "
         "run.runs=1e9)"},
        {text, "groups[0].count=-4",
         "s.json:2:39 groups[0].count: expected a number of people, 0 or more, found the number -4 "
         "(set by the override groups[0].count=-4)"},
        {text, "groups[0].cuont=4",
         "s.json:2:14 groups[0].cuont: unknown key \"cuont\"; did you mean \"count\"? (set by the "
         "override groups[0].cuont=4)"},
        {text, "groups[0].count.deep=4",
         "s.json:2:39 groups[0].count: the override groups[0].count.deep=4 goes into "
         "groups[0].count, which is the number 3 and has no members"},
        {text, "groups",
         "s.json:1:1 : the override \"groups\" must read path=value, e.g. groups[0].count=400"},
    };
    CHECK_ALL(goldens);
}

// An error that only appears when people are placed still says where in the file.
static void locate(void **state) {
    (void)state;
    static const char text[] = "{ 'levels': [" ROOM "],\n  'groups': [\n    {'count': 3}] }";
    th_scene *scene = scene_of(quoted(text));
    th_error error = {.code = TH_NO_ROOM, .path = "groups[0].count"};
    th_scene_locate(scene, &error);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 15);
    th_error elsewhere = {.code = TH_NO_ROOM,
                          .path = "groups[0].density"}; // not in the text: its group
    th_scene_locate(scene, &elsewhere);
    assert_int_equal(elsewhere.line, 3);
    assert_int_equal(elsewhere.column, 5);
    th_scene_destroy(scene);
}

// The loader refuses what the schema refuses, and names the place.
static void bad_folder(void **state) {
    (void)state;
    DIR *folder = opendir(TH_SOURCE_DIR "/tests/data/scene/bad");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char path[600];
        snprintf(path, sizeof path, "%s/tests/data/scene/bad/%s", TH_SOURCE_DIR, entry->d_name);
        th_scene *scene = NULL;
        th_error error;
        if (th_scene_load_file(path, NULL, &scene, &error) != TH_BAD_SCENE)
            fail_msg("accepted %s", path);
        assert_string_equal(error.file, path);
        assert_true(error.line > 0 && error.path[0]);
        ++count;
    }
    closedir(folder);
    assert_true(count > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax),  cmocka_unit_test(names_and_types),
        cmocka_unit_test(meaning), cmocka_unit_test(bad_overrides_are_refused),
        cmocka_unit_test(locate),  cmocka_unit_test(bad_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
