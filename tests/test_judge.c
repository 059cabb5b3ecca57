// Judging a run: agents left behind, overlaps, speeds; and doubts about models that are known not to manage a scene.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "throng/model.h"

static program p;

static const char ROOM[] = TH_JSON(
    {"name":"room", "levels":[{"walkable":{"rect":[0,0,12,8]}, "walls":[[[8,0],[8,%g]],[[8,%g],[8,8]]]}],
    "exits":[{"id":"out", "line":[[12,0],[12,8]]}],
    "groups":[{"id":"people", "count":20, "area":{"rect":[0.5,0.5,7,7.5]}, "to":"out", "move":"%s",
    "filter":"%s"}], "run":{"duration":30}});
static const char CORRIDOR[] = TH_JSON(
    {"name":"corridor", "levels":[{"walkable":[{"rect":[0,0,8,10]},{"rect":[8,%g,16,%g]},
        {"rect":[16,0,24,10]}]}],
    "exits":[{"id":"east", "line":[[24,0],[24,10]]}, {"id":"west", "line":[[0,0],[0,10]]}],
    "groups":[{"id":"eastward", "count":9, "area":{"rect":[1,1,7,9]}, "to":"east", "move":"%s",
        "filter":"%s"}, {"id":"westward", "count":9, "area":{"rect":[17,1,23,9]}, "to":"%s",
        "move":"%s", "filter":"%s"}], "run":{"duration":30}});

static json_t *judged(const char *arguments) {
    const outcome *o = throng(&p, "bench --judge --threads 1 %s", arguments);
    if (o->code != 0) fail_msg("exit code %d: %s", o->code, o->error);
    json_t *row = json_loads(o->out, 0, NULL);
    assert_non_null(row);
    return row;
}

static double value_of(const json_t *row, const char *name) {
    return json_number_value(json_object_get(row, name));
}

static void write_room(const char *name, double width) {
    char text[2048], path[256];
    snprintf(text, sizeof text, ROOM, 4 - width / 2, 4 + width / 2, "orca", "none");
    snprintf(path, sizeof path, "%s/%s", p.folder, name);
    write_text(path, text);
}

static void all_agents_arrive(void **state) {
    (void)state;
    write_room("wide.json", 2);
    json_t *row = judged("--scene wide.json --limit 100 --seed 2");
    assert_int_equal(value_of(row, "people"), 20);
    assert_int_equal(value_of(row, "seed"), 2);
    assert_int_equal(value_of(row, "left_behind"), 0);
    assert_int_equal(value_of(row, "lost"), 0);
    assert_false(json_is_true(json_object_get(row, "stuck")));
    assert_true(value_of(row, "last_left_s") > 4 && value_of(row, "last_left_s") < 60);
    assert_true(value_of(row, "acceleration") > 0.01 && value_of(row, "acceleration") < 3);
    assert_true(value_of(row, "fastest") > 0.9 && value_of(row, "fastest") < 2);
    json_decref(row);
}

// Pressed against a door and not kept apart they overlap there.
static void overlaps_have_a_place(void **state) {
    (void)state;
    write_room("narrow.json", 0.42);
    json_t *row = judged("--scene narrow.json --limit 15 --model uic --set "
                         "groups.0.move.separation_passes=0");
    assert_true(value_of(row, "overlap_m") > 0.01);
    assert_true(value_of(row, "overlap_x") > 6 && value_of(row, "overlap_x") < 12);
    assert_true(value_of(row, "overlap_y") > 2 && value_of(row, "overlap_y") < 6);
    assert_true(value_of(row, "overlap_time_s") > 1 && value_of(row, "overlap_time_s") < 15.5);
    json_decref(row);
}

// A door that no agent of the social force gets through, wide enough as it is: the run ends when all have been stuck
// for a minute, and says who and where.
static void stuck_agents_are_named(void **state) {
    (void)state;
    write_room("narrow.json", 0.42);
    json_t *row = judged("--scene narrow.json --limit 600 --model social_force");
    assert_int_equal(value_of(row, "left_behind"), 20);
    assert_true(json_is_true(json_object_get(row, "stuck")));
    assert_true(value_of(row, "time_s") < 400);
    const char *who = json_string_value(json_object_get(row, "who"));
    assert_non_null(
        strstr(who, "people 20; ")); // how many of them are in one square metre, and where
    int most = 0;
    double x = 0, y = 0;
    assert_int_equal(sscanf(who, "people 20; %d of them around (%lf, %lf)", &most, &x, &y), 3);
    assert_true(most > 1 && most < 8 && x > 6 && x < 8 && y > 2 && y < 6);
    json_decref(row);
}

// Models, filters and overrides reach the scene; another model is another run.
static void models_are_exchanged(void **state) {
    (void)state;
    write_room("wide.json", 2);
    json_t *orca = judged("--scene wide.json --limit 5"),
           *force = judged("--scene wide.json --limit 5 --model social_force --filter densesense"),
           *fewer = judged("--scene wide.json --limit 5 --set groups.0.count=7");
    assert_string_equal(json_string_value(json_object_get(force, "move")), "social_force");
    assert_string_equal(json_string_value(json_object_get(force, "filter")), "densesense");
    assert_string_not_equal(json_string_value(json_object_get(orca, "hash")),
                            json_string_value(json_object_get(force, "hash")));
    assert_int_equal(value_of(fewer, "people"), 7);
    json_decref(orca);
    json_decref(force);
    json_decref(fewer);
    assert_int_equal(throng(&p, "bench --judge --scene wide.json --agents 5")->code, 1);
    assert_int_equal(throng(&p, "bench --judge --scene nothing.json")->code, 2);
    assert_int_equal(throng(&p, "bench --judge --scene wide.json --device abacus")->code, 1);
    assert_int_equal(throng(&p, "bench --quality --device abacus")->code, 1);
    const outcome *o = throng(&p, "bench --quality --scene mosque");
    assert_int_equal(o->code, 1);
    assert_non_null(strstr(o->error, "with NAME one of circle_1500 circle_10k"));
    assert_non_null(strstr(o->error, " campsite million"));
    assert_int_equal(throng(&p, "bench --uic --device cuda")->code, 1);
}

static int doubts_about(const char *text, th_doubt *first) {
    th_doubt doubts[4];
    th_scene *scene = scene_of(text);
    int count = th_scene_doubts(scene, doubts, 4);
    if (count > 0) *first = doubts[0];
    th_scene_destroy(scene);
    return count;
}

static void check_door(const char *move, const char *filter, double limit) {
    char text[2048];
    th_doubt doubt = {0};
    double body = 0.4, narrow = 1.2 * body;
    if (limit * body < narrow + 0.01) return;
    snprintf(text, sizeof text, ROOM, 4 - narrow / 2, 4 + narrow / 2, move, filter);
    assert_true(doubts_about(text, &doubt) >= 1);
    assert_non_null(strstr(doubt.text, move));
    assert_non_null(strstr(doubt.text, "\"people\""));
    if (!isfinite(limit)) return;
    double wide = limit * body + 0.05;
    snprintf(text, sizeof text, ROOM, 4 - wide / 2, 4 + wide / 2, move, filter);
    assert_int_equal(doubts_about(text, &doubt), 0);
}

static int corridor_doubts(const char *move, const char *filter, double width, const char *goal,
                           th_doubt *doubt) {
    char text[2048];
    snprintf(text, sizeof text, CORRIDOR, 5 - width / 2, 5 + width / 2, move, filter, goal, move,
             filter);
    return doubts_about(text, doubt);
}

// Two crowds against each other are another matter than two that go the same way.
static void check_two_way(const char *move, const char *filter, double door, double limit) {
    th_doubt doubt = {0};
    double body = 0.4, narrow = door * body + 0.05;
    if (!isfinite(door) || limit * body < narrow + 0.01 || narrow > 3.5) return;
    narrow = narrow < 0.6 ? 0.6 : narrow;
    if (limit * body < narrow + 0.01) return;
    assert_int_equal(corridor_doubts(move, filter, narrow, "west", &doubt), 2);
    assert_non_null(strstr(doubt.text, "comes towards it"));
    assert_int_equal(corridor_doubts(move, filter, narrow, "east", &doubt), 0);
}

// Below the widths that test-long found there is a doubt, above them there is none.
static void known_limits_are_told(void **state) {
    (void)state;
    int count = 0, known = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m)
        for (int f = 0; f < count; ++f) {
            if (models[m]->stage != TH_STAGE_MOVE || models[f]->stage != TH_STAGE_FILTER) continue;
            th_model_limits of = th_model_limits_of(models[m]->name, models[f]->name);
            if (of.door < 0.0f) continue;
            known += 1;
            check_door(models[m]->name, models[f]->name, (double)of.door);
            check_two_way(models[m]->name, models[f]->name, (double)of.door, (double)of.two_way);
        }
    assert_true(known >= 4); // the file was read
    assert_true(th_model_limits_of("no such model", "none").door < 0.0f);
}

typedef struct told {
    const char *text, *says; // NULL: nothing
} told;

static void check_cases(const told *cases, int count) {
    for (int k = 0; k < count; ++k) {
        th_doubt doubt = {0};
        int found = doubts_about(cases[k].text, &doubt);
        if (found != (cases[k].says != NULL) ||
            (found > 0 && (!doubt.no_effect || !strstr(doubt.text, cases[k].says))))
            fail_msg("case %d: %d doubts: %s", k, found, doubt.text);
    }
}

// Scene data, and ground, that no group's models read; elements for people that are not there.
static void what_has_no_effect_is_told(void **state) {
    (void)state;
#define HALL(group, more)                                                                          \
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 8]}}], \"exits\": [{\"id\": \"east\", "    \
    "\"line\": [[20, 2], [20, 6]]}, {\"id\": \"west\", \"line\": [[0, 2], [0, 6]]}], \"groups\": " \
    "[{\"count\": 3, \"to\": \"east\"" group "}]" more "}"
#define STROKE(to) ", \"guidance\": [{\"line\": [[2, 4], [9, 4]]" to "}]"
#define SHOP ", \"interests\": [{\"layer\": \"a\", \"area\": {\"rect\": [9, 0, 12, 2]}}]"
#define ZONE ", \"zones\": [{\"area\": {\"rect\": [9, 0, 12, 2]}, \"discomfort\": 2}]"
    const told cases[] = {
        {HALL("", ""), NULL},
        {HALL("", STROKE("")), "\"guidance\" has no effect: no group uses the plan \"guided\""},
        {HALL(", \"plan\": \"guided\"", STROKE("")), NULL},
        {HALL(", \"plan\": \"guided\"", STROKE(", \"to\": \"east\"")), NULL},
        {HALL(", \"plan\": \"guided\"", STROKE(", \"to\": \"west\"")),
         "the stroke \"stroke0\" has no effect: no group with the plan \"guided\" goes to "
         "\"west\""},
        {HALL("", SHOP), "\"interests\" has no effect: no group uses the behaviour \"interest\""},
        {HALL(", \"behave\": \"interest\"", SHOP), NULL},
        {HALL(", \"behave\": \"interest\", \"interested_in\": {\"a\": 0}", SHOP),
         "the interest \"interest0\" has no effect: no group with the behaviour \"interest\" "
         "cares"},
        {HALL(", \"behave\": \"interest\"", ""),
         "the behaviour \"interest\" has no effect: the scene has no \"interests\""},
        {HALL("", ZONE), "the discomfort of \"zones\" has no effect: no group plans with"},
        {HALL(", \"plan\": \"continuum\"", ZONE), NULL},
        {HALL(", \"behave\": \"interest\"",
              ", \"interests\": [{\"from\": 4000, \"area\": {\"rect\": [9, 0, 12, 2]}}]"),
         "the interest \"interest0\" has no effect: it begins at 4000 s and the run ends at 3600 "
         "s"},
    };
    check_cases(cases, TH_COUNT_OF(cases));
}

// Values of a group, models in their place, changes of doors, goals and zones.
static void idle_values_are_told(void **state) {
    (void)state;
#define OF(group, more)                                                                            \
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 8]}}], \"exits\": [{\"id\": \"east\", "    \
    "\"line\": [[20, 2], [20, 6]]}, {\"id\": \"west\", \"line\": [[0, 2], [0, 6]]}], \"groups\": " \
    "[{" group "}]" more "}"
#define PEOPLE "\"count\": 3, \"to\": \"east\""
#define DOOR(changes)                                                                          \
    OF(PEOPLE, ", \"doors\": [{\"id\": \"gate\", \"line\": [[10, 0], [10, 8]], \"schedule\": " \
               "[" changes "]}]")
#define MIND(params) OF(PEOPLE ", \"behave\": {\"model\": \"hidac\", " params "}", "")
#define GOAL ", \"waypoints\": [{\"id\": \"spot\", \"area\": {\"rect\": [9, 3, 11, 5]}}]"
#define DISCOMFORT(to) \
    ", \"zones\": [{\"area\": {\"rect\": [9, 0, 12, 2]}, \"discomfort\": 2, \"to\": \"" to "\"}]"
    const told cases[] = {
        {OF("\"count\": 3, \"route\": []", ""), NULL},
        {OF("\"count\": 3, \"route\": [], \"plan\": \"roadmap\"", ""),
         "the plan \"roadmap\" has no effect: the group has nowhere to go"},
        {OF("\"count\": 3, \"route\": [], \"filter\": \"densesense\"", ""),
         "the filter \"densesense\" has no effect"},
        {OF("\"count\": 3, \"own_goal\": \"mirror_x\", \"plan\": \"roadmap\"", ""), NULL},
        {OF(PEOPLE ", \"rigid\": true", ""), NULL},
        {OF(PEOPLE ", \"rigid\": true, \"move\": \"orca\"", ""), "\"rigid\" has no effect"},
        {OF("\"positions\": [[3, 4]], \"area\": {\"rect\": [1, 1, 9, 7]}", ""),
         "\"area\" has no effect"},
        {OF("\"source\": {\"rate\": 1, \"from\": 3599}", ""), NULL},
        {OF("\"source\": {\"rate\": 1, \"from\": 3600}", ""),
         "the source has no effect: it begins at 3600 s and the run ends at 3600 s"},
        {OF("\"source\": {\"rate\": 1, \"from\": 60}", ", \"run\": {\"duration\": 50}"),
         "the run ends at 50 s"},
        {DOOR("[5, \"close\"], [9, \"open\"]"), NULL},
        {DOOR("[5, \"open\"]"), "door \"gate\": \"open\" at 5 s has no effect: it is then open"},
        {DOOR("[5, \"close\"], [9, \"close\"]"),
         "\"close\" at 9 s has no effect: it is then closed"},
        {DOOR("[4000, \"close\"]"), "\"close\" at 4000 s has no effect: the run ends at 3600 s"},
        {OF(PEOPLE, GOAL), "\"spot\" has no effect: no group goes there"},
        {OF("\"count\": 3, \"route\": [\"spot\", \"east\"]", GOAL), NULL},
        {OF(PEOPLE, ", \"zones\": [{\"area\": {\"rect\": [9, 0, 12, 2]}}]"),
         "zone \"zone0\" has no effect"},
        {OF(PEOPLE, ", \"zones\": [{\"area\": {\"rect\": [9, 0, 12, 2]}, \"speed\": 0.5}]"), NULL},
        {OF(PEOPLE ", \"plan\": \"guided\"", DISCOMFORT("east")), NULL},
        {OF(PEOPLE ", \"plan\": \"guided\"", DISCOMFORT("west")),
         "zone \"zone0\" has no effect: no group that heeds it goes to \"west\""},
        {OF(PEOPLE ", \"plan\": \"continuum\"", DISCOMFORT("east")), "\"to\" has no effect"},
        {OF(PEOPLE ", \"behave\": \"undecided\"", ""), "nothing to visit but exits"},
        {OF("\"count\": 3, \"route\": [\"spot\", \"east\"], \"behave\": \"undecided\"", GOAL),
         NULL},
        {OF("\"count\": 3, \"route\": [\"spot\", \"east\"], \"behave\": {\"model\": "
            "\"undecided\", \"share\": 0}",
            GOAL),
         "its share is 0"},
        {MIND("\"alarm_time\": 5"), NULL},
        {MIND("\"alarm_time\": 5000"), "the alarm has no effect: it sounds at 5000 s"},
        {MIND("\"alarm_time\": 5, \"alarm_share\": 0"),
         "the alarm has no effect: alarm_share is 0"},
        {MIND("\"alarm_time\": 5, \"alarm_radius\": 9, \"alarm_level\": 3"),
         "alarm_level is 3, and the last level is 0"},
        {MIND("\"followers\": 0.5"), "\"followers\" has no effect: all know the way"},
        {MIND("\"followers\": 0.5, \"knows_all\": 0.5"), NULL},
    };
    check_cases(cases, TH_COUNT_OF(cases));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_agents_arrive),     cmocka_unit_test(stuck_agents_are_named),
        cmocka_unit_test(overlaps_have_a_place), cmocka_unit_test(models_are_exchanged),
        cmocka_unit_test(known_limits_are_told), cmocka_unit_test(what_has_no_effect_is_told),
        cmocka_unit_test(idle_values_are_told),
    };
    program_begin(&p);
    int failed = cmocka_run_group_tests_name("judge", tests, NULL, NULL);
    return program_end(&p) == 0 ? failed : 1;
}
