// throng measure as a user sees it: output, files, messages; a run measured while it goes and from its recording gives
// the same numbers. SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include <math.h>
#include <sqlite3.h>

static int begin(void **state) {
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    program_begin(p);
    setenv("READINGS", TH_SOURCE_DIR "/tests/data/readings", 1);
    setenv("SCENES", TH_SOURCE_DIR "/scenes", 1);
    *state = p;
    return 0;
}

static int end(void **state) {
    program *p = *state;
    int code = program_end(p);
    free(p);
    return code;
}

// ---- the field named `column` of every row, by hand: the files have no quotes here

static int column_of(const char *header, const char *name) {
    int column = 0;
    for (const char *at = header; *at && *at != '\n'; ++column) {
        size_t length = strcspn(at, ",\n");
        if (strlen(name) == length && strncmp(at, name, length) == 0) return column;
        at += length;
        at += *at == ',';
    }
    fail_msg("no column %s", name);
    return -1;
}

static const char *field_at(const char *row, int column) {
    for (; column > 0; --column) row = strchr(row, ',') + 1;
    return row;
}

// Where the first row with this time begins; NULL: none.
static const char *row_at(const char *table, int time_column, double time) {
    for (const char *row = strchr(table, '\n') + 1; *row; row = strchr(row, '\n') + 1)
        if (fabs(atof(field_at(row, time_column)) - time) < 1e-6) return row;
    return NULL;
}

// The same areas on line (areas.csv, every second) and from the recording.
static void same_on_line(void **state) {
    program *p = *state;
    assert_code(throng(p, "run \"$SCENES\"/bottleneck.json --max-time 20 --fps 10 "
                          "--record sqlite --out run --no-report --quiet"),
                0);
    assert_code(throng(p, "measure run/trajectory.sqlite --area before=8,4,10,6 --method all "
                          "--line door=10,4.5,10,5.5 --out measured"),
                0);
    char *live = program_file(p, "run/areas.csv");
    char *later = program_file(p, "measured/measured_areas.csv");
    assert_non_null(live);
    assert_non_null(later);
    const char *names[3][2] = {{"density_per_m2", "classic_density_per_m2"},
                               {"voronoi_density_per_m2", "voronoi_density_per_m2"},
                               {"gaussian_density_per_m2", "gaussian_density_per_m2"}};
    double highest = 0;
    for (int second = 0; second < 20; ++second) {
        const char *a = row_at(live, 0, second), *b = row_at(later, 0, second);
        assert_non_null(a);
        assert_non_null(b);
        for (int m = 0; m < 3; ++m) {
            double before = atof(field_at(a, column_of(live, names[m][0])));
            double after = atof(field_at(b, column_of(later, names[m][1])));
            // Positions are recorded to a millimetre.
            if (fabs(before - after) > 0.01)
                fail_msg("%s at %d s: %g, %g", names[m][0], second, before, after);
            highest = fmax(highest, after);
        }
    }
    assert_true(highest > 2);
    free(live);
    free(later);
    char *text = program_file(p, "measured/measured.json");
    json_t *summary = json_of(text);
    assert_true(json_is_true(json_object_get(summary, "ground_known")));
    const json_t *line = json_array_get(json_object_get(summary, "lines"), 0);
    assert_true(whole(json_object_get(line, "forward"), "people") +
                    whole(json_object_get(line, "backward"), "people") >
                5);
    assert_int_equal(whole(json_object_get(summary, "people"), "count"), 150);
    json_decref(summary);
    free(text);
    // Without areas or lines: the recording's own ground.
    assert_code(throng(p, "measure run/trajectory.sqlite --every 50"), 0);
    assert_holds(p->last.out, "everywhere, 140 m2, 5 moments");
    assert_true(program_has(p, "measured/measured_areas.png"));
    assert_true(program_has(p, "measured/measured_lines.png"));
    assert_true(program_has(p, "measured/measured_people.csv"));
    assert_true(program_has(p, "measured/measured_lines.csv"));
}

// Every format gives the same answer.
static void every_format(void **state) {
    program *p = *state;
    char *answers[4];
    assert_code(shell(p, "cp \"$READINGS\"/040_c_56_h-.txt.gz a.txt.gz"), 0);
    assert_code(throng(p, "convert a.txt.gz a.h5"), 0);
    assert_code(throng(p, "convert a.txt.gz a.sqlite"), 0);
    assert_code(throng(p, "convert a.txt.gz b.sqlite --format compact"), 0);
    static const char *const files[4] = {"a.txt.gz", "a.h5", "a.sqlite", "b.sqlite"};
    for (int f = 0; f < 4; ++f) {
        assert_code(throng(p, "measure %s --line door=0.25,0,-0.25,0 --frames 0:800", files[f]), 0);
        const char *lines = strstr(p->last.out, "forward");
        assert_non_null(lines);
        answers[f] = strndup(lines, strcspn(lines, ";"));
        assert_string_equal(answers[f], answers[0]);
    }
    for (int f = 0; f < 4; ++f) free(answers[f]);
}

static void print(void **state) {
    program *p = *state;
    const outcome *result =
        throng(p, "measure \"$READINGS\"/040_c_56_h-.txt.gz --line door=0.25,0,-0.25,0 "
                  "--area front=-0.4,0.5,0.4,1.3 --los hcm --every 5 --radius 0.15");
    assert_code(result, 0);
    assert_holds(result->out, "75 people, 0.50 s to 64.97 s; flow 1.148 /s, middle 80 % 1.159 /s");
    assert_holds(result->out, "specific flow 2.296 /(m s)");
    assert_holds(result->out, "front, 0.64 m2, 332 moments");
    assert_holds(result->out, "Highway Capacity Manual");
    assert_holds(result->out, "taken as endless");
    assert_holds(result->out, "radius 0.15 m");
    assert_string_equal(result->error, "");
    assert_code(throng(p, "measure \"$READINGS\"/040_c_56_h-.txt.gz --quiet"), 0);
    assert_string_equal(p->last.out, "");
}

static void mistakes_are_explained(void **state) {
    program *p = *state;
    assert_code(shell(p, "cp \"$READINGS\"/uo-050-180-180.txt.gz u.gz"), 0);
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } mistakes[] = {
        {"nothing.txt", 2, "nothing.txt"},
        {"u.gz --area 1,2,3", 1, "x0,y0,x1,y1"},
        {"u.gz --area a=0,0,0,1", 1, "no width"},
        {"u.gz --area 'a=POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))'", 1, "crosses itself"},
        {"u.gz --area a=50,50,51,51 --walkable 'POLYGON ((0 0, 1 0, 1 1, 0 0))'", 1, "walkable"},
        {"u.gz --line 1,1,1,1", 1, "two different ends"},
        {"u.gz --line 'POLYGON ((0 0, 1 0, 1 1, 0 0))'", 1, "a line is"},
        {"u.gz --method vornoi", 1, "did you mean voronoi"},
        {"u.gz --los c", 1, "fruin and hcm"},
        {"u.gz --frames 10", 1, "FIRST:LAST"},
        {"u.gz --frames 20:10", 1, "FIRST:LAST"},
        {"u.gz --direction 0,0", 1, "x,y"},
        {"u.gz --level 3", 1, "no level 3"},
        {"u.gz --walkable nowhere.wkt", 2, "nowhere.wkt"},
        {"u.gz --walkable u.gz", 1, "walkable"},
        {"u.gz --out u.gz/x", 3, "u.gz/x"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        const outcome *result = throng(p, "measure %s", mistakes[i].arguments);
        if (result->code != mistakes[i].code || !strstr(result->error, mistakes[i].says))
            fail_msg("%s: code %d, said: %s", mistakes[i].arguments, result->code, result->error);
    }
    // Frames without agents: no crash, and a message.
    assert_code(
        throng(
            p,
            "measure u.gz --frames 100000: --area 0,0,1,1 --line 0,0,1,0 --method all --out empty"),
        0);
    assert_holds(p->last.out, "nothing in these frames");
    assert_true(program_has(p, "empty/measured.json"));
}

// Walls from a file and from a scene.
static void walls(void **state) {
    program *p = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/hall.wkt", p->folder);
    write_text(path, "POLYGON ((0 -4, 1.8 -4, 1.8 4, 0 4, 0 -4))\n");
    assert_code(throng(p, "measure \"$READINGS\"/uo-180-180-180.txt.gz --frames 400:420 "
                          "--area a=-1,-2,3,0 --walkable hall.wkt --method voronoi"),
                0);
    assert_holds(p->last.out, "a, 3.6 m2, 21 moments");
    assert_code(throng(p, "measure \"$READINGS\"/uo-180-180-180.txt.gz --frames 400:401 "
                          "--area a=-1,-2,3,2 --walkable \"$SCENES\"/door.json"),
                0);
    assert_null(strstr(p->last.out, "endless"));
}

// Too few frames for an acceleration or a jerk.
static void few_frames(void **state) {
    program *p = *state;
    char path[256], text[200] = "# framerate: 10\n";
    snprintf(path, sizeof path, "%s/few.txt", p->folder);
    for (int frames = 1; frames <= 5; ++frames) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "1 %d 0.%d 0\n", frames, frames);
        write_text(path, text);
        assert_code(throng(p, "measure few.txt --area 0,-1,3,3"), 0);
        assert_null(strstr(p->last.out, "nan"));
        if (frames == 3) assert_holds(p->last.out, "long enough for a jerk");
    }
}

// A fault that shows only in the middle of a recording is the same to every verb.
static void same_fault(void **state) {
    program *p = *state;
    char path[256];
    snprintf(path, sizeof path, "%s/few.txt", p->folder);
    write_text(path, "# framerate: 10\n1 0 0 0\n1 1 0.1 0\n1 2 0.2 0\n1 3 0.3 0\n");
    assert_code(throng(p, "convert few.txt bad.sqlite"), 0);
    snprintf(path, sizeof path, "%s/bad.sqlite", p->folder);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE trajectory_data SET id = 'x' WHERE frame = 2", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    static const char *const verbs[] = {"convert bad.sqlite out.txt", "convert bad.sqlite out.h5",
                                        "measure bad.sqlite --area 0,-1,3,3",
                                        "fd bad.sqlite --area 0,-1,3,3"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; ++i) {
        const outcome *result = throng(p, "%s", verbs[i]);
        assert_code(result, 2);
        assert_holds(result->error,
                     "bad.sqlite: frame 2: the row of person 0 does not hold numbers");
    }
    assert_false(program_has(p, "out.txt") || program_has(p, "out.h5"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_on_line, begin, end),
        cmocka_unit_test_setup_teardown(every_format, begin, end),
        cmocka_unit_test_setup_teardown(print, begin, end),
        cmocka_unit_test_setup_teardown(mistakes_are_explained, begin, end),
        cmocka_unit_test_setup_teardown(walls, begin, end),
        cmocka_unit_test_setup_teardown(few_frames, begin, end),
        cmocka_unit_test_setup_teardown(same_fault, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
