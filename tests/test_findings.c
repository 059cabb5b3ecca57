// Findings: no danger in recorded calm crowds, danger in crowds with the figures published of accidents, that one
// list reaches every reader, and that the kernel's density is right beside walls and of a person alone.
// SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "observe/findings.h"
#include "observe/observer_parts.h"
#include "support.h"
#include "throng/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READINGS TH_SOURCE_DIR "/tests/data/readings/"
#define WHOLE TH_SOURCE_DIR "/../shared/data/"

// ---- recordings of calm crowds

typedef struct calm {
    const char *folder, *name;
    double fps;
    bool is_cm;
    const char *walkable; // NULL: open ground
} calm;

static const char bottleneck_walls[] =
    "POLYGON ((-0.25 -1.1, -0.25 -0.15, -0.4 0, -2.8 0, -2.8 8, 2.8 8, 2.8 0, 0.4 0, 0.25 -0.15, "
    "0.25 -1.1, 3 -1.1, 3 -4, -3 -4, -3 -1.1, -0.25 -1.1))";
static const char corridor_walls[] = "POLYGON ((0 -8, 1.8 -8, 1.8 8, 0 8, 0 -8))";
static const calm calm_crowds[] = {
    {READINGS, "040_c_56_h-.txt.gz", 25, false, bottleneck_walls},
    {READINGS, "traj_AO_300.txt.gz", 16, false, NULL},
    {READINGS, "uo-050-180-180.txt.gz", 16, true, corridor_walls},
    {READINGS, "uo-180-180-070.txt.gz", 16, true, corridor_walls},
    {READINGS, "uo-180-180-120.txt.gz", 16, true, corridor_walls},
    {WHOLE, "bottleneck_wuppertal2018/040_c_56_h-.txt.gz", 25, false, bottleneck_walls},
    {WHOLE, "bottleneck_ao300/traj_AO_300.txt.gz", 16, false, NULL},
    {WHOLE, "corridor_basigo/UNI_CORR_500_01.txt.gz", 25, false, NULL},
    {WHOLE, "corridor_basigo/bi_corr_400_b_03.txt.gz", 25, true, NULL},
};

static void print_kinds(const th_findings *findings) {
    int count;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        print_message("%s %s", k ? "," : "", th_finding_name(list[k].kind));
    print_message("%s\n", count ? "" : " none");
}

static int dangers(const th_findings *findings) {
    int count, found = 0;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k) found += list[k].severity == TH_SEVERITY_DANGER;
    return found;
}

// Highest density, highest crowd pressure, longest time of a person in a packed crowd.
static void print_reading(const char *name, th_observer *observer, const th_findings *findings) {
    const th_observation *o = th_observer_observation(observer);
    double longest = 0.0, density = 0.0, pressure = 0.0;
    for (int p = 0; p < o->person_count; ++p)
        longest = fmax(longest, (double)o->people[p].exposure[TH_EXPOSURE_PACKED]);
    for (int m = 0; m < o->map_count; ++m)
        for (int c = 0; c < o->maps[m].nx * o->maps[m].ny; ++c) {
            density = fmax(density, (double)o->maps[m].density_max[c]);
            pressure = fmax(pressure, (double)o->maps[m].crowd_pressure_max[c]);
        }
    print_message("%-46s %7.2f /m2 %8.3f /s2 %5.0f s above 7 |", name, density, pressure, longest);
    print_kinds(findings);
}

static void test_calm_crowds(void **state) {
    (void)state;
    int seen = 0;
    for (size_t k = 0; k < sizeof calm_crowds / sizeof *calm_crowds; ++k) {
        const calm *crowd = &calm_crowds[k];
        char path[600];
        snprintf(path, sizeof path, "%s%s", crowd->folder, crowd->name);
        if (access(path, R_OK) != 0) continue;
        th_motion_def def = th_motion_def_default();
        def.assumed = (th_trajectory_assumed){crowd->fps, crowd->is_cm ? 0.01 : 1.0};
        th_scene *scene;
        th_observer *observer;
        th_findings *findings;
        th_error error = {0};
        if (th_recording_observe(path, &def, crowd->walkable, &scene, &observer, &error) != TH_OK)
            fail_msg("%s: %s", path, error.message);
        assert_int_equal(th_observation_findings(th_scene_view_of(scene), NULL,
                                                 th_observer_observation(observer), true, &findings,
                                                 &error),
                         TH_OK);
        print_reading(crowd->name, observer, findings);
        assert_int_equal(dangers(findings), 0);
        th_findings_destroy(findings);
        th_observer_destroy(observer);
        th_scene_destroy(scene);
        seen++;
    }
    assert_true(seen >= 5);
}

// ---- crowds with the figures published of accidents

typedef struct crowd_def {
    const char *name;
    double width, depth; // [m] of the crowd
    double density;      // [1/m2]
    double sway;         // [m/s] root mean square of the common velocity, in each direction
    double time;         // [s]
    bool danger;
} crowd_def;

// Places on a square grid, all moved by the same way, which is a sum of two waves of 7 and 11 s. The crowd stands in a
// pen of its own size.
static th_findings *findings_of_crowd(const crowd_def *def) {
    th_scene_def plan = th_scene_def_default();
    th_scene *scene = NULL;
    th_observer *observer = NULL;
    th_findings *findings = NULL;
    th_error error = {0};
    char wkt[300];
    snprintf(wkt, sizeof wkt, "POLYGON ((-1 -1, %g -1, %g %g, -1 %g, -1 -1))", def->width + 1,
             def->width + 1, def->depth + 1, def->depth + 1);
    th_shape shape = {.wkt = wkt};
    th_level_def level = th_level_def_default();
    level.walkable = &shape;
    level.walkable_count = 1;
    plan.name = def->name;
    plan.levels = &level;
    plan.level_count = 1;
    plan.no_files = true;
    assert_int_equal(th_scene_create(&plan, &scene, &error), TH_OK);
    th_observer_def watched = th_observer_def_default();
    assert_int_equal(
        th_observer_create_for(th_scene_view_of(scene), &watched, NULL, &observer, &error), TH_OK);
    double apart = 1.0 / sqrt(def->density);
    int columns = (int)(def->width / apart), rows = (int)(def->depth / apart);
    int count = columns * rows;
    int64_t *id = malloc((size_t)count * sizeof *id);
    double *x = malloc((size_t)count * sizeof *x), *y = malloc((size_t)count * sizeof *y);
    for (int f = 0; f <= (int)(2.0 * def->time); ++f) {
        double t = 0.5 * f, w = 2.0 * acos(-1.0);
        // A wave of amplitude a and period p has the velocity a w / p, of which the root mean square is 1 / sqrt(2).
        double a = def->sway * sqrt(2.0) * 7.0 / w, b = def->sway * sqrt(2.0) * 11.0 / w;
        for (int i = 0; i < count; ++i) {
            id[i] = i + 1;
            x[i] = (i % columns + 0.5) * apart + a * sin(w * t / 7.0);
            y[i] = (i / columns + 0.5) * apart + b * sin(w * t / 11.0);
        }
        const th_moment moment = {.number = f, .time = t, .count = count, .id = id, .x = x, .y = y};
        assert_int_equal(th_observer_see_moment(observer, &moment, &error), TH_OK);
    }
    assert_int_equal(th_observer_finish_recording(observer, &error), TH_OK);
    assert_int_equal(th_observation_findings(th_scene_view_of(scene), NULL,
                                             th_observer_observation(observer), true, &findings,
                                             &error),
                     TH_OK);
    print_reading(def->name, observer, findings);
    th_observer_destroy(observer);
    th_scene_destroy(scene);
    free(id);
    free(x);
    free(y);
    return findings;
}

static bool has_kind(const th_findings *findings, th_finding_kind kind) {
    int count;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        if (list[k].kind == kind) return true;
    return false;
}

static void test_accidents(void **state) {
    (void)state;
    static const crowd_def crowds[] = {
        // Helbing, Johansson, Al-Abideen 2007: 20 x 14 m, local densities up to 10 /m2, pressure above 0.02 /s2.
        {"Jamarat 2006", 20, 14, 9.0, 0.05, 90, true},
        {"Duisburg 2010, ramp narrowed to 10.59 m", 10.59, 10, 8.0, 0.02, 60, true},
        {"packed, but moving (Fruin's 7 /m2)", 10, 10, 7.6, 0.08, 60, true},
        // The same sway in a crowd that has room is a queue that moves on.
        {"a queue that moves on", 20, 14, 5.0, 0.08, 90, false},
        {"standing close", 10, 10, 6.5, 0.0, 60, false},
    };
    for (size_t k = 0; k < sizeof crowds / sizeof *crowds; ++k) {
        th_findings *findings = findings_of_crowd(&crowds[k]);
        assert_int_equal(dangers(findings) > 0, crowds[k].danger);
        bool turbulent =
            crowds[k].danger &&
            crowds[k].density * 2.0 * crowds[k].sway * crowds[k].sway > 1.5 * TH_TURBULENT;
        assert_int_equal(has_kind(findings, TH_FINDING_TURBULENCE), turbulent);
        th_findings_destroy(findings);
    }
}

// ---- the kernel

static const char corner_room[] =
    TH_JSON({"levels": [{"walkable": "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"}]});

static float density_of_one(const th_scene *scene, double x, double y) {
    const int64_t id = 1;
    const th_moment moment = {.count = 1, .id = &id, .x = &x, .y = &y};
    float *density = th_people_density(th_scene_view_of(scene), &moment);
    assert_non_null(density);
    float value = density[0];
    free(density);
    return value;
}

static void test_one_person_is_no_crowd(void **state) {
    (void)state;
    th_scene *scene = scene_of(corner_room);
    static const double places[][2] = {{5, 5}, {5.1, 4.8}, {0.25, 5}, {0.25, 0.25}, {9.7, 9.7}};
    for (size_t k = 0; k < sizeof places / sizeof *places; ++k)
        for (int s = 0; s < TH_SERVICE_COUNT; ++s)
            assert_int_equal(
                th_service_level(&th_services[s],
                                 (double)density_of_one(scene, places[k][0], places[k][1])),
                0);
    th_scene_destroy(scene);
}

// 4 /m2 all over the room: 4 /m2 in the middle, along a wall and in a corner, for all people.
static void test_even_crowd_beside_walls(void **state) {
    (void)state;
    enum { SIDE = 20, PEOPLE = SIDE * SIDE };
    th_scene *scene = scene_of(corner_room);
    int64_t id[PEOPLE];
    double x[PEOPLE], y[PEOPLE];
    for (int i = 0; i < PEOPLE; ++i) {
        id[i] = i + 1;
        x[i] = 0.25 + 0.5 * (i % SIDE);
        y[i] = 0.25 + 0.5 * (i / SIDE);
    }
    const th_moment moment = {.count = PEOPLE, .id = id, .x = x, .y = y};
    float *density = th_people_density(th_scene_view_of(scene), &moment);
    assert_non_null(density);
    for (int i = 0; i < PEOPLE; ++i) assert_near((double)density[i], 4.0, 0.05);
    free(density);
    th_scene_destroy(scene);
}

// ---- one list

// Kind and text of every finding, line by line.
static char *lines_of(const th_findings *findings) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int count;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        fprintf(out, "%s %s: %s %s\n", th_severity_name(list[k].severity),
                th_finding_name(list[k].kind), list[k].text, list[k].cure);
    fclose(out);
    return text;
}

// A room parted by pillars with two gaps too narrow for its people and a wide way around, and a door that closes
// nothing.
static const char bad_scene[] = TH_JSON({
    "levels": [{"walkable": "POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0), (10 0.01, 10.2 0.01, 10.2 3, 10 3, 10 0.01), (10 3.5, 10.2 3.5, 10.2 5, 10 5, 10 3.5), (10 5.5, 10.2 5.5, 10.2 7, 10 7, 10 5.5))"}],
    "doors": [{"id": "loose", "line": [[5, 2], [5, 4]]}],
    "exits": [{"id": "out", "line": [[20, 4], [20, 6]]}],
    "groups": [{"id": "all", "count": 20, "area": {"rect": [1, 1, 4, 9]}, "to": "out",
                "radius": 0.3, "move": "orca"}],
    "run": {"max_time": 120}
});

static void test_scene_findings_are_grouped(void **state) {
    (void)state;
    th_scene *scene = scene_of(bad_scene);
    th_findings *findings;
    assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
    char *lines = lines_of(findings);
    print_message("%s", lines);
    int count, gaps = 0, doors = 0;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k) {
        bool gap = list[k].kind == TH_FINDING_CLOSED_GAP || list[k].kind == TH_FINDING_NARROW_GAP;
        gaps += gap;
        if (gap) assert_int_equal(list[k].count, 2);
        doors += list[k].kind == TH_FINDING_DOOR;
        if (k > 0) assert_true(list[k - 1].severity >= list[k].severity);
    }
    assert_int_equal(gaps, 1); // one finding of two gaps
    assert_int_equal(doors, 1);
    assert_non_null(strstr(lines, "closes nothing"));
    free(lines);
    th_findings_destroy(findings);
    th_scene_destroy(scene);
}

// Two rooms without a way between them, and in the right one a gap that is too narrow.
static const char two_rooms[] = TH_JSON({
    "levels": [{"walkable": [{"rect": [0, 0, 9, 10]}, {"rect": [10, 0, 30, 10]}],
                "walls": [[[20, 0], [20, 4]], [[20, 4.3], [20, 8]]]}],
    "exits": [{"id": "left", "line": [[0, 4], [0, 6]]}, {"id": "right", "line": [[30, 4], [30, 6]]}],
    "groups": [{"id": "all", "count": 5, "area": {"rect": [%d, 1, %d, 9]}, "to": "%s"}]
});

static void test_gaps_concern_people_that_come_there(void **state) {
    (void)state;
    for (int right = 0; right < 2; ++right) {
        char text[1024];
        snprintf(text, sizeof text, two_rooms, right ? 12 : 2, right ? 16 : 6,
                 right ? "right" : "left");
        th_scene *scene = scene_of(text);
        th_findings *findings;
        assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
        assert_int_equal(has_kind(findings, TH_FINDING_CLOSED_GAP), right);
        th_findings_destroy(findings);
        th_scene_destroy(scene);
    }
}

// The list of a watch at the end is that of a run, but for the words of the time.
// A scene with what may be wrong with its goals: the exits as given, people in the west of a wall at x = 8 that has a gap.
static void expect_goal(const char *exits, const char *names, double from, double to,
                        th_finding_kind kind, const char *words, double value) {
    char text[1600];
    snprintf(
        text, sizeof text,
        TH_JSON({"levels": [{"walkable": "POLYGON ((0 0, 16 0, 16 4.9, 20 5, 16 5.1, 16 10, 0 10, 0 0))",
                         "walls": [[[8, 0], [8, 7]], [[8, 9], [8, 9.999]]]}],
                 "exits": [%s],
                 "groups": [{"id": "all", "count": 100, "area": {"rect": [%g, 1, %g, 9]}, "to": [%s]}]}),
                                                 exits, from, to, names);
    th_scene *scene = scene_of(text);
    th_findings *findings;
    assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
    char *lines = lines_of(findings);
    print_message("%s", lines);
    int count, found = 0;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k) {
        if (list[k].kind != kind) continue;
        ++found;
        assert_non_null(strstr(list[k].text, words));
        assert_true(fabs(list[k].value - value) < 0.011);
    }
    assert_int_equal(found, kind == TH_FINDING_KIND_COUNT ? 0 : 1);
    if (kind == TH_FINDING_KIND_COUNT) assert_false(has_kind(findings, TH_FINDING_GOAL));
    free(lines);
    th_findings_destroy(findings);
    th_scene_destroy(scene);
}

static void test_goals_without_room_are_told(void **state) {
    (void)state;
    static const char far[] = TH_JSON({"id": "far", "line": [[0, 4], [0, 6]]});
    char exits[400];
    snprintf(exits, sizeof exits, "%s", TH_JSON({"id": "out", "line": [[7.97, 0], [10, 0]]}));
    expect_goal(exits, "\"out\"", 1, 7, TH_FINDING_GOAL, "past a wall", 0.03);
    snprintf(exits, sizeof exits, "%s, %s",
             TH_JSON({"id": "slit", "line": [[3, 0], [3.05, 0]]}), far);
    expect_goal(exits, "\"slit\", \"far\"", 1, 7, TH_FINDING_GOAL, "0.05 m wide", 0.05);
    snprintf(exits, sizeof exits, "%s, %s",
             TH_JSON({"id": "tip", "area": {"rect": [19, 4.8, 20, 5.2]}}), far);
    expect_goal(exits, "\"tip\", \"far\"", 1, 7, TH_FINDING_GOAL, "between walls", 0.03);
    // A line from room to room, an area beside a wall and one in a corner are goals.
    snprintf(exits, sizeof exits, "%s, %s",
             TH_JSON({"id": "both", "line": [[7, 0], [10, 0]]}),
                      TH_JSON({"id": "corner", "area": {"rect": [0, 9, 1, 10]}}));
    expect_goal(exits, "\"both\", \"corner\"", 1, 7, TH_FINDING_KIND_COUNT, "", 0);
}

// A group whose area reaches over a wall into a room without a door.
static void test_people_without_a_way_are_counted(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 10]]]}],
            "exits": [{"id": "out", "line": [[16, 4], [16, 6]]}],
            "groups": [{"id": "all", "area": {"rect": [7.5, 1, 15.5, 9]}, "count": 100, "to": "out"}]}));
    th_findings *findings;
    assert_int_equal(th_scene_findings(scene, &findings, NULL), TH_OK);
    int count, people = 0;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        if (list[k].kind == TH_FINDING_UNREACHABLE) people = list[k].count;
    assert_in_range(people, 3, 10); // a sixteenth of the area
    th_findings_destroy(findings);
    th_scene_destroy(scene);
}

static void test_watch_and_run_agree(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/bottleneck.json");
    th_world *world = world_of(scene, 1, 1);
    th_watch *watch;
    th_findings *of_watch, *of_run;
    th_observer *observer;
    th_observer_def def = th_observer_def_default();
    assert_int_equal(th_watch_create(world, &watch, NULL), TH_OK);
    assert_int_equal(th_observer_create(world, &def, &observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    for (int k = 0; k < 400; ++k) {
        th_world_step(world, 1);
        assert_int_equal(th_watch_see(watch, world, NULL), TH_OK);
        assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    }
    assert_int_equal(th_watch_findings(watch, &of_watch, NULL), TH_OK);
    th_findings *of_scene;
    assert_int_equal(th_scene_findings(scene, &of_scene, NULL), TH_OK);
    assert_int_equal(th_observation_findings(th_scene_view_of(scene), of_scene,
                                             th_observer_observation(observer), false, &of_run,
                                             NULL),
                     TH_OK);
    th_findings_destroy(of_scene);
    char *a = lines_of(of_watch), *b = lines_of(of_run);
    print_message("%s", a);
    assert_string_equal(a, b);
    char *json = th_findings_json(of_watch);
    assert_non_null(json);
    assert_int_equal(json[0], '[');
    free(json);
    free(a);
    free(b);
    th_findings_destroy(of_watch);
    th_findings_destroy(of_run);
    th_watch_destroy(watch);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- steps

// A step beyond what a model declares for its parameters is a finding of the scene, and of a world by the step that it has.
// The table is what tools/measure-steps found for ORCA, and for HiDAC without and with falls.
static void test_long_steps_are_told(void **state) {
    (void)state;
    static const struct {
        const char *move;
        double step; // of the scene
        bool told;
        double world; // its step; 0: the scene's
        bool told_by_world;
    } cases[] = {
        {"{\"model\": \"hidac\", \"falling\": 1}", 0.02, false, 0.1, true},
        {"{\"model\": \"hidac\", \"falling\": 1}", 0.05, false, 0, false},
        {"{\"model\": \"hidac\", \"falling\": 1}", 0.1, true, 0.05, false},
        {"\"hidac\"", 0.1, false, 0.2, true},
        {"\"orca\"", 0.1, false, 0.2, true},
        {"\"social_force\"", 0.5, false, 0, false},
    };
    for (int k = 0; k < TH_COUNT_OF(cases); ++k) {
        char json[600];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
            "exits": [{"id": "out", "line": [[10, 4], [10, 6]]}],
            "groups": [{"id": "p", "count": 2, "to": "out", "move": %s}], "run": {"step": %g}}),
                                                cases[k].move, cases[k].step);
        th_scene *scene = scene_of(json);
        th_findings *findings;
        th_error error;
        assert_int_equal(th_scene_findings(scene, &findings, &error), TH_OK);
        assert_int_equal(has_kind(findings, TH_FINDING_LONG_STEP), cases[k].told);
        th_findings_destroy(findings);
        th_world_def def = th_world_def_default();
        def.step = cases[k].world;
        th_world *world;
        assert_int_equal(th_world_create(scene, &def, &world, &error), TH_OK);
        th_watch *watch;
        assert_int_equal(th_watch_create(world, &watch, &error), TH_OK);
        assert_int_equal(th_watch_findings(watch, &findings, &error), TH_OK);
        assert_int_equal(has_kind(findings, TH_FINDING_LONG_STEP), cases[k].told_by_world);
        th_findings_destroy(findings);
        th_watch_destroy(watch);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_person_is_no_crowd),
        cmocka_unit_test(test_even_crowd_beside_walls),
        cmocka_unit_test(test_accidents),
        cmocka_unit_test(test_calm_crowds),
        cmocka_unit_test(test_scene_findings_are_grouped),
        cmocka_unit_test(test_gaps_concern_people_that_come_there),
        cmocka_unit_test(test_long_steps_are_told),
        cmocka_unit_test(test_goals_without_room_are_told),
        cmocka_unit_test(test_people_without_a_way_are_counted),
        cmocka_unit_test(test_watch_and_run_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
