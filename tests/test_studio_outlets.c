// One judge: the library, `throng check`, `throng run` (terminal, summary and report), runs by the API, `throng measure`, the
// studio and an opened recording say the same of one scene: findings, counts at exits and lines, densities. The exported page
// has this test in check_studio.py, the Python package in python/tests/test_runs.py.
// SPDX-License-Identifier: Apache-2.0
#include "formula/weidmann.h"
#include "observe/density.h"
#include "observe/findings.h"
#include "observe/survey.h"
#include "program.h"
#include "record/moment.h"
#include "studio/studio.h"
#include "throng/run.h"
#include "throng/throng.h"
#include <ctype.h>

// A crowd before a door, with a gap beside it that is too narrow for every body.
static const char SCENE[] = TH_JSON(
    {"name":"outlets", "levels":[{"walkable":{"rect":[0,0,16,8]},
        "walls":[[[8,0],[8,2]],[[8,2.3],[8,3.5]],[[8,4.5],[8,8]]]}],
    "exits":[{"id":"out", "line":[[16,0],[16,8]]}],
    "doors":[{"id":"middle", "line":[[8,4.5],[8,3.5]]}],
    "groups":[{"id":"people", "count":120, "area":{"rect":[0.5,0.5,7.5,7.5]}, "to":"out", "move":"social_force", "plan":"field"}],
    "measure":{"lines":[{"id":"passed", "line":[[10,8],[10,0]]}],
        "areas":[{"id":"front", "area":{"rect":[6,3,8,5]}}]},
    "record":{"format":"sqlite", "fps":10}});

typedef struct judged {
    json_t *findings, *of_scene;
    json_int_t left, door, line;
    double highest; // [1/m2]
} judged;

static program p;
static judged library;

// ---- the library

static json_t *array_of(const th_findings *findings) {
    char *text = th_findings_json(findings);
    json_t *array = json_loads(text, 0, NULL);
    assert_true(json_is_array(array));
    th_free(text);
    return array;
}

static double highest_of(const th_observation *o) {
    double highest = 0.0;
    for (int c = 0; c < o->maps[0].nx * o->maps[0].ny; ++c)
        highest = fmax(highest, (double)o->maps[0].density_max[c]);
    return highest;
}

static void judge_by_library(void) {
    th_scene *scene = scene_of(SCENE);
    th_world_def def = th_world_def_default();
    def.threads = 1;
    th_world *world = NULL;
    th_watch *watch = NULL;
    th_findings *findings = NULL, *of_scene = NULL;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    assert_int_equal(th_watch_create(world, &watch, NULL), TH_OK);
    for (int k = 0; k < 6000 && !th_world_done(world); ++k) {
        th_world_step(world, 1);
        assert_int_equal(th_watch_see(watch, world, NULL), TH_OK);
    }
    assert_true(th_world_done(world));
    assert_int_equal(th_watch_findings(watch, &findings, NULL), TH_OK);
    assert_int_equal(th_scene_findings(scene, &of_scene, NULL), TH_OK);
    library = (judged){.findings = array_of(findings),
                       .of_scene = array_of(of_scene),
                       .left = (json_int_t)th_world_exit(world, 0).left,
                       .door = (json_int_t)th_world_door(world, 0).forward,
                       .line = (json_int_t)th_world_line(world, 0).forward,
                       .highest = highest_of(th_watch_observation(watch))};
    th_findings_destroy(findings);
    th_findings_destroy(of_scene);
    th_watch_destroy(watch);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- comparing

static const char *text_of(const json_t *finding, const char *key) {
    return json_string_value(json_object_get(finding, key));
}

static void assert_same_number(const json_t *a, const json_t *b, const char *key) {
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    assert_int_equal(json_is_number(x), json_is_number(y));
    if (json_is_number(x)) assert_near(json_number_value(x), json_number_value(y), 1e-4);
}

static void assert_same_finding(const json_t *a, const json_t *b) {
    static const char *const words[] = {"kind", "severity", "text", "cure", "unit"};
    static const char *const numbers[] = {"count", "level", "from", "to", "value", "limit"};
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
        assert_string_equal(text_of(a, words[k]), text_of(b, words[k]));
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k)
        assert_same_number(a, b, numbers[k]);
    const json_t *here = json_object_get(a, "place"), *there = json_object_get(b, "place");
    assert_int_equal(json_array_size(here), json_array_size(there));
    for (size_t k = 0; k < json_array_size(here); ++k)
        assert_near(json_number_value(json_array_get(here, k)),
                    json_number_value(json_array_get(there, k)), 1e-4);
}

static void assert_same_findings(const json_t *found, const json_t *expected) {
    assert_true(json_is_array(found));
    assert_int_equal(json_array_size(found), json_array_size(expected));
    for (size_t k = 0; k < json_array_size(found); ++k)
        assert_same_finding(json_array_get(found, k), json_array_get(expected, k));
}

// Blanks and line ends as one blank, `&quot;` as a quotation mark.
static char *flat(const char *text) {
    char *out = malloc(strlen(text) + 1), *to = out;
    assert_non_null(out);
    for (const char *at = text; *at; ++at) {
        if (strncmp(at, "&quot;", 6) == 0) {
            *to++ = '"';
            at += 5;
        } else if (!isspace((unsigned char)*at)) {
            *to++ = *at;
        } else if (to > out && to[-1] != ' ') {
            *to++ = ' ';
        }
    }
    *to = '\0';
    return out;
}

// Every finding, in its order.
static void assert_shows(const char *printed, const json_t *findings) {
    char *text = flat(printed), *at = text;
    for (size_t k = 0; k < json_array_size(findings); ++k) {
        const char *sentence = text_of(json_array_get(findings, k), "text");
        char *found = strstr(at, sentence);
        if (!found) print_error("\"%s\" is not in:\n%s\n", sentence, at);
        assert_non_null(found);
        at = found + strlen(sentence);
    }
    free(text);
}

// ---- the outlets

static void the_scene_has_findings_of_both_kinds(void **state) {
    (void)state;
    assert_true(json_array_size(library.of_scene) >= 1);
    assert_string_equal(text_of(json_array_get(library.of_scene, 0), "kind"), "closed_gap");
    assert_true(json_array_size(library.findings) > json_array_size(library.of_scene));
    assert_true(library.highest > 4.0);
    assert_int_equal(library.left, 120);
    assert_int_equal(library.door, 120);
    assert_int_equal(library.line, 120);
}

static void check_shows_those_of_the_scene(void **state) {
    (void)state;
    const outcome *o = throng(&p, "check scene.json");
    assert_code(o, 0);
    assert_shows(o->out, library.of_scene);
    size_t warnings = 0;
    for (const char *at = o->out; (at = strstr(at, ": warning: ")); ++at) warnings++;
    assert_int_equal(warnings, json_array_size(library.of_scene));
}

static void a_run_shows_the_same(void **state) {
    (void)state;
    const outcome *o = throng(&p, "run scene.json --out run --threads 1");
    assert_code(o, 0);
    assert_shows(o->out, library.findings);
    char *text = program_file(&p, "run/summary.json"), *page = program_file(&p, "run/report.html");
    json_t *summary = json_of(text);
    assert_same_findings(json_object_get(summary, "findings"), library.findings);
    assert_shows(page, library.findings);
    const json_t *first = json_object_get(summary, "first_run");
    const json_t *exit = json_array_get(json_object_get(first, "exits"), 0);
    const json_t *door = json_array_get(json_object_get(first, "doors"), 0);
    const json_t *line = json_array_get(json_object_get(first, "lines"), 0);
    assert_int_equal(whole(exit, "forward"), library.left);
    assert_int_equal(whole(door, "forward"), library.door);
    assert_int_equal(whole(line, "forward"), library.line);
    assert_near(number(json_object_get(summary, "density"), "highest_per_m2"), library.highest,
                1e-3);
    json_decref(summary);
    free(text);
    free(page);
}

static void runs_by_the_api_have_the_same(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/scene.json", p.folder);
    th_runs_def def = th_runs_def_default();
    th_runs *runs = NULL;
    def.scene = path;
    def.out = "none";
    def.threads = 1;
    assert_int_equal(th_runs_create(&def, &runs, NULL), TH_OK);
    assert_int_equal(th_runs_execute(runs, NULL), TH_OK);
    json_t *found = array_of(th_runs_findings(runs));
    assert_same_findings(found, library.findings);
    json_decref(found);
    th_runs_destroy(runs);
}

// The highest crowd pressure in the cell of the maps from (7, 3.5) to (7.5, 4).
static double pressure_in_cell(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/run/trajectory.sqlite", p.folder);
    th_motion_def def = th_motion_def_default();
    th_scene *scene = NULL;
    th_observer *observer = NULL;
    assert_int_equal(th_recording_observe(path, &def, NULL, &scene, &observer, NULL), TH_OK);
    const th_map *map = &th_observer_observation(observer)->maps[0];
    assert_near((double)map->cell, 0.5, 0.0);
    double highest = (double)map->crowd_pressure_max[7 * map->nx + 14];
    th_observer_destroy(observer);
    th_scene_destroy(scene);
    return highest;
}

static void an_area_has_the_pressure_of_its_cells(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/run/trajectory.sqlite", p.folder);
    const th_survey_area_def cell = {
        "cell", "POLYGON ((7.01 3.51, 7.49 3.51, 7.49 3.99, 7.01 3.99, 7.01 3.51))"};
    th_survey_def def = th_survey_def_default();
    def.areas = &cell;
    def.area_count = 1;
    th_survey *survey = NULL;
    assert_int_equal(th_survey_make(path, &def, &survey, NULL), TH_OK);
    double most = th_survey_pressure_of(survey, 0).most;
    th_survey_destroy(survey);
    assert_true(most > 0.001);
    assert_near(most, pressure_in_cell(), 1e-5);
}

static void the_recording_measures_the_same(void **state) {
    (void)state;
    const outcome *o = throng(&p, "measure run/trajectory.sqlite --line passed=10,8,10,0 "
                                  "--out measured");
    assert_code(o, 0);
    char *text = program_file(&p, "measured/measured.json");
    json_t *measured = json_of(text);
    const json_t *line = json_array_get(json_object_get(measured, "lines"), 0);
    assert_int_equal(whole(json_object_get(line, "forward"), "people"), library.line);
    json_decref(measured);
    free(text);
    char path[128];
    th_findings *findings = NULL;
    snprintf(path, sizeof path, "%s/run/trajectory.sqlite", p.folder);
    assert_int_equal(th_recording_findings(path, NULL, &findings, NULL), TH_OK);
    json_t *recorded = array_of(findings);
    assert_true(json_array_size(recorded) >= 1);
    assert_shows(o->out, recorded);
    json_decref(recorded);
    th_findings_destroy(findings);
}

// The layers of the time so far against what was observed.
static void assert_maps_of_all_time(th_studio *studio) {
    static const th_studio_layer_kind kinds[] = {TH_LAYER_HIGHEST, TH_LAYER_MEAN, TH_LAYER_DENSE,
                                                 TH_LAYER_USAGE, TH_LAYER_DELAY};
    const th_observation *seen = th_watch_observation(studio->plays[0].charts.watch);
    double most[5] = {0}, sum[5] = {0}, spent = 0.0, jammed = 0.0;
    for (int k = 0; k < 5; ++k) {
        th_studio_field field = {.level = 0};
        assert_true(th_studio_map_world(studio->plays[0].world, NULL, seen, kinds[k], &field));
        for (int c = 0; c < field.nx * field.ny; ++c) {
            if (isnan(field.values[c])) continue;
            most[k] = fmax(most[k], (double)field.values[c]);
            sum[k] += (double)field.values[c];
        }
        th_studio_field_release(&field);
    }
    for (int n = 0; n < seen->sample_count; ++n) {
        spent += seen->inside[n] * seen->interval;
        jammed += seen->jammed[n] * seen->interval;
    }
    assert_near(most[0], library.highest, 1e-3);
    assert_true(most[1] > 0.2 && most[1] < most[0]);
    assert_true(most[2] > 0.0 && most[2] < seen->sample_count * seen->interval);
    assert_near(sum[3], spent, 1e-3 * spent);
    assert_true(jammed > 1.0 && sum[4] > 0.5 * jammed && sum[4] < 2.0 * jammed);
}

static void the_studio_shows_the_same(void **state) {
    (void)state;
    th_studio *studio = calloc(1, sizeof *studio);
    th_error error = {0};
    assert_true(studio && th_studio_init(studio));
    studio->threads = 1;
    json_t *document = th_document_read(SCENE, sizeof SCENE - 1, "outlets", &error);
    assert_non_null(document);
    assert_int_equal(th_play_open(studio, document, "outlets", NULL, &error), TH_OK);
    th_play *play = &studio->plays[0];
    th_charts_begin(studio, 0);
    assert_same_findings(play->charts.findings, library.of_scene); // also while it is paused
    double highest = (double)play->charts.density;
    for (int k = 0; k < 6000 && !th_world_done(play->world); ++k) {
        th_world_step(play->world, 1);
        th_charts_see(studio, 0);
        highest = fmax(highest, (double)play->charts.density);
    }
    assert_near(highest, library.highest, 1e-3);
    assert_maps_of_all_time(studio);
    // The texts for a page that is loaded now.
    json_t *scene = th_describe_scene(studio, 0), *shown = th_describe_state(studio);
    json_t *hello = th_describe_hello(studio);
    const json_t *references = json_object_get(hello, "references");
    assert_near(number(references, "congestion"), (double)TH_DENSE, 0);
    const json_t *point = json_array_get(json_object_get(references, "weidmann"), 20);
    assert_near(json_number_value(json_array_get(point, 1)), th_weidmann_speed(2.0), 1e-9);
    json_decref(hello);
    assert_same_findings(json_object_get(scene, "findings"), library.findings);
    const json_t *world = json_array_get(json_object_get(shown, "worlds"), 0);
    const json_t *door = json_array_get(json_object_get(world, "doors"), 0);
    const json_t *line = json_array_get(json_object_get(world, "lines"), 0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(world, "exits"), 0)),
                     library.left);
    assert_int_equal(json_integer_value(json_array_get(door, 0)), library.door);
    assert_int_equal(json_integer_value(json_array_get(line, 0)), library.line);
    json_decref(scene);
    json_decref(shown);
    th_studio_release(studio);
    free(studio);
}

// The page's map, the API's question, the colours of a picture and the map of the report, cell by cell and person by person.
static void assert_one_density(th_studio *studio, th_world *world) {
    const th_scene_view *view = th_scene_view_of(th_world_scene(world));
    th_studio_moment *moment = th_studio_take(studio, 0);
    th_studio_field field;
    assert_non_null(moment);
    assert_true(th_studio_map_people(moment, TH_LAYER_DENSITY, 0, &field));
    int people = 0;
    for (int c = 0; c < field.nx * field.ny; ++c) {
        th_vec2 middle = {field.min_x + ((float)(c % field.nx) + 0.5f) * field.cell,
                          field.min_y + ((float)(c / field.nx) + 0.5f) * field.cell};
        th_crowd crowd;
        if (!th_world_crowd_at(world, 0, middle, NULL, &crowd)) continue;
        assert_near((double)field.values[c], (double)crowd.density, 1e-3);
        people += crowd.density > 1.0f;
    }
    assert_true(people > 100);
    th_world_moment copy = {0};
    assert_true(th_world_moment_take(&copy, world, 0));
    float *of_picture = th_people_density(view, &copy.moment);
    assert_non_null(of_picture);
    for (int k = 0; k < copy.moment.count; ++k)
        assert_near(
            (double)of_picture[k],
            (double)th_studio_field_at(&field, (float)copy.moment.x[k], (float)copy.moment.y[k]),
            1e-3);
    free(of_picture);
    th_world_moment_release(&copy);
    th_studio_field_release(&field);
    th_studio_moment_release(moment);
}

static void a_moment_has_one_density(void **state) {
    (void)state;
    th_studio *studio = calloc(1, sizeof *studio);
    th_error error = {0};
    assert_true(studio && th_studio_init(studio));
    studio->threads = 1;
    json_t *document = th_document_read(SCENE, sizeof SCENE - 1, "outlets", &error);
    assert_int_equal(th_play_open(studio, document, "outlets", NULL, &error), TH_OK);
    assert_one_density(studio, studio->plays[0].world);
    th_world_step(studio->plays[0].world, 60);
    assert_one_density(studio, studio->plays[0].world);
    th_studio_release(studio);
    free(studio);
}

static const json_t *find(const json_t *findings, const char *kind) {
    for (size_t k = 0; k < json_array_size(findings); ++k)
        if (strcmp(text_of(json_array_get(findings, k), "kind"), kind) == 0)
            return json_array_get(findings, k);
    return NULL;
}

// A recording does not know the models, so it has no findings about flows and overlaps; it has all others.
static void an_opened_recording_shows_the_same(void **state) {
    (void)state;
    th_studio *studio = calloc(1, sizeof *studio);
    th_error error = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/run", p.folder);
    assert_true(studio && th_studio_init(studio));
    assert_int_equal(th_replay_open(studio, path, &error), TH_OK);
    json_t *scene = th_describe_scene(studio, 0);
    const json_t *found = json_object_get(scene, "findings");
    for (size_t k = 0; k < json_array_size(found); ++k) {
        const json_t *one = json_array_get(found, k);
        const json_t *expected = find(library.findings, text_of(one, "kind"));
        assert_non_null(expected);
        assert_string_equal(text_of(one, "text"), text_of(expected, "text"));
    }
    for (size_t k = 0; k < json_array_size(library.findings); ++k) {
        const char *kind = text_of(json_array_get(library.findings, k), "kind");
        bool of_model = strcmp(kind, "flow") == 0 || strcmp(kind, "overlaps") == 0;
        if (!of_model && !find(found, kind)) print_error("no %s\n", kind);
        assert_true(of_model || find(found, kind));
    }
    json_decref(scene);
    th_studio_release(studio);
    free(studio);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scene_has_findings_of_both_kinds),
        cmocka_unit_test(check_shows_those_of_the_scene),
        cmocka_unit_test(a_run_shows_the_same),
        cmocka_unit_test(runs_by_the_api_have_the_same),
        cmocka_unit_test(the_recording_measures_the_same),
        cmocka_unit_test(an_area_has_the_pressure_of_its_cells),
        cmocka_unit_test(the_studio_shows_the_same),
        cmocka_unit_test(a_moment_has_one_density),
        cmocka_unit_test(an_opened_recording_shows_the_same),
    };
    program_begin(&p);
    char path[128];
    snprintf(path, sizeof path, "%s/scene.json", p.folder);
    write_text(path, SCENE);
    judge_by_library();
    int failed = cmocka_run_group_tests_name("outlets", tests, NULL, NULL);
    json_decref(library.findings);
    json_decref(library.of_scene);
    return program_end(&p) == 0 ? failed : 1;
}
