// Sweeps: combinations, widths, interruptions. SPDX-License-Identifier: Apache-2.0
#include "program.h"

static int set_up(void **state) {
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    program_begin(p);
    assert_code(shell(p, "cp '%s/scenes/bottleneck.json' scene.json", TH_SOURCE_DIR), 0);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    int status = program_end(*state);
    free(*state);
    return status;
}

// The number in a row and column of a CSV, rows counted from 0 below the header.
static double cell(const char *csv, int row, const char *column) {
    const char *title = strstr(csv, column), *at = csv;
    assert_non_null(title);
    int skip = 0;
    for (; at < title; ++at) skip += *at == ',';
    for (int line = 0; line <= row; ++line) {
        at = strchr(at, '\n');
        assert_non_null(at);
        ++at;
    }
    for (; skip > 0; --skip) {
        at = strchr(at, ',');
        assert_non_null(at);
        ++at;
    }
    return strtod(at, NULL);
}

static int row_count(const char *csv) {
    int count = -1; // the header
    for (; *csv; ++csv) count += *csv == '\n';
    return count;
}

static void test_flow_rises_with_width(void **state) {
    program *p = *state;
    const outcome *result = throng(
        p, "sweep scene.json --quiet --set groups.0.count=100 --vary doors.main.width=0.9..2.1:4 "
           "--runs 2 --out widths");
    assert_code(result, 0);
    assert_string_equal(result->error, "");
    assert_holds(result->out, "widths/report.html");
    char *csv = program_file(p, "widths/sweep.csv");
    assert_int_equal(row_count(csv), 4);
    static const double widths[] = {0.9, 1.3, 1.7, 2.1};
    for (int i = 0; i < 4; ++i) {
        assert_true(cell(csv, i, "doors.main.width") > widths[i] - 1e-6);
        assert_true(cell(csv, i, "doors.main.width") < widths[i] + 1e-6);
        assert_int_equal((int)cell(csv, i, "finished"), 2);
        if (i == 0) continue;
        assert_true(cell(csv, i, "flow_mean_per_s") > 1.1 * cell(csv, i - 1, "flow_mean_per_s"));
        assert_true(cell(csv, i, "egress_time_mean_s") < cell(csv, i - 1, "egress_time_mean_s"));
    }
    free(csv);
    csv = program_file(p, "widths/runs.csv");
    assert_int_equal(row_count(csv), 8);
    free(csv);
    assert_true(program_has(p, "widths/report.html"));
}

// An agent that lies at the beginning, and in one of two combinations rises after a second.
static void test_the_fallen_are_counted(void **state) {
    program *p = *state;
    assert_code(throng(p, "sweep scene.json --quiet --set groups.0.count=5 --set "
                          "'groups.0.move={\"model\":\"hidac\",\"lies\":1}' --vary "
                          "groups.0.move.gets_up=0,1 --runs 1 --max-time 3 --out fallen"),
                0);
    char *csv = program_file(p, "fallen/runs.csv");
    static const int lying[] = {5, 0};
    for (int i = 0; i < 2; ++i) {
        assert_int_equal((int)cell(csv, i, "people_fallen"), 5);
        assert_int_equal((int)cell(csv, i, "people_lying"), lying[i]);
    }
    free(csv);
}

// A width is the line about its own middle: the same as giving the two points.
static void test_width_is_a_line(void **state) {
    program *p = *state;
    char width[17], line[17];
    assert_code(throng(p, "run scene.json --quiet --out none --max-time 10 "
                          "--set doors.main.width=2.5"),
                0);
    hash_of(p->last.out, width);
    assert_code(throng(p, "run scene.json --quiet --out none --max-time 10 "
                          "--set 'doors.main.line=[[10, 6.25], [10, 3.75]]'"),
                0);
    hash_of(p->last.out, line);
    assert_string_equal(width, line);
    assert_code(throng(p, "check scene.json --set doors.main.width=-1"), 2);
    assert_holds(p->last.error, "doors[0].line");
    assert_holds(p->last.error, "above 0");
    // Only lines have widths.
    assert_code(throng(p, "check scene.json --set groups.0.width=2"), 2);
    assert_holds(p->last.error, "unknown key \"width\"");
}

// Every combination is the run of that scene with these values.
static void test_all_combinations(void **state) {
    program *p = *state;
    assert_code(throng(p, "sweep scene.json --quiet --vary groups.0.count=20,30 "
                          "--vary groups.0.move=orca,social_force --runs 2 --seed 5 --out models"),
                0);
    char *csv = program_file(p, "models/runs.csv");
    assert_int_equal(row_count(csv), 8);
    static const int counts[] = {20, 20, 30, 30};
    static const char *const moves[] = {"orca", "social_force", "orca", "social_force"};
    for (int i = 0; i < 4; ++i) {
        char hash[17], line[64];
        assert_code(throng(p,
                           "run scene.json --quiet --out none --seed 6 --set groups.0.count=%d "
                           "--set groups.0.move=%s",
                           counts[i], moves[i]),
                    0);
        hash_of(p->last.out, hash);
        snprintf(line, sizeof line, "\n%d,%d,%s,6,%s,", i, counts[i], moves[i], hash);
        assert_holds(csv, line);
    }
    free(csv);
}

static void test_bad_sweeps(void **state) {
    program *p = *state;
    assert_code(throng(p, "sweep scene.json --vary \"$(printf 'name=a\\377')\" --out s"), 1);
    assert_holds(p->last.error, "UTF-8");
    assert_code(throng(p, "sweep scene.json --runs 1000000 --vary groups.0.count=1..100:100"), 1);
    assert_holds(p->last.error, "100000000 runs");
    static const struct {
        const char *vary;
        int code;
        const char *hint;
    } cases[] = {
        {"doors.main.width", 1, "path=value"},
        {"doors.main.width=1..2", 1, "low..high:number"},
        {"doors.main.width=1..2:1", 1, "low..high:number"},
        {"groups.0.count=1,,2", 1, "path=value"},
        {"groups.0.count=1..1000:1000 --vary doors.main.width=1..2:1000", 1, "combinations"},
        {"groups.0.count=1 --vary groups.0.count=2", 1, "twice"},
        {"groups.0.cuont=1,2", 2, "did you mean \"count\"?"},
        {"doors.mian.width=1,2", 2, "did you mean \"main\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const outcome *result = throng(p, "sweep scene.json --out wrong --vary %s", cases[i].vary);
        assert_code(result, cases[i].code);
        assert_holds(result->error, cases[i].hint);
        assert_false(program_has(p, "wrong"));
    }
}

#define SWEEP \
    "sweep scene.json --quiet --vary doors.main.width=0.9,1.2 --vary groups.0.count=20,30,40 "

// Killed in the middle, continued by the same command: finished runs are not made again (their wall times
// stay), and the result is that of an uninterrupted sweep.
static void test_killed_and_continued(void **state) {
    program *p = *state;
    assert_code(throng(p, SWEEP "--runs 6 --jobs 2 --out whole"), 0);
    throng_until(p, SWEEP "--runs 6 --jobs 2 --out cut", "run:7", SIGKILL);
    assert_code(shell(p, "sed 1d cut/runs.csv > before; wc -l < before"), 0);
    int before = atoi(p->last.out);
    assert_in_range(before, 7, 12); // the first value's six, and those of the second made meanwhile
    // A kill may leave half a line.
    assert_code(shell(p, "printf '5,1.2,40,4,00ab' >> cut/runs.csv"), 0);
    const outcome *result = throng(p, SWEEP "--runs 6 --jobs 1 --out cut");
    assert_code(result, 0);
    char told[64];
    snprintf(told, sizeof told, "%d runs are finished already", before);
    assert_holds(result->out, told);
    assert_code(shell(p, "cmp whole/sweep.csv cut/sweep.csv"), 0);
    assert_code(shell(p, "sort before > a; sed 1d cut/runs.csv | sort > b; comm -23 a b"), 0);
    assert_string_equal(p->last.out, "");
    // Once more: nothing is left to do.
    assert_code(throng(p, "resume cut --quiet"), 0);
    assert_holds(p->last.out, "36 runs are finished already");
    assert_code(shell(p, "cmp whole/sweep.csv cut/sweep.csv"), 0);
}

static void test_interrupted_and_resumed(void **state) {
    program *p = *state;
    assert_code(throng(p, SWEEP "--runs 6 --until-ci 0.2 --out whole"), 0);
    const outcome *result =
        throng_until(p, SWEEP "--runs 6 --until-ci 0.2 --out cut", "run:1", SIGINT);
    assert_code(result, 130);
    assert_holds(result->error, "throng resume cut");
    assert_false(program_has(p, "cut/sweep.csv"));
    assert_code(throng(p, "resume cut --quiet --jobs 3"), 0);
    assert_code(shell(p, "cmp whole/sweep.csv cut/sweep.csv"), 0);
    // The columns before the wall time.
    assert_code(
        shell(p, "cut -d, -f1-11 whole/runs.csv > a; cut -d, -f1-11 cut/runs.csv > b; cmp a b"), 0);
}

// Runs of the scene as it was and of the scene as it is do not mix.
static void test_changed_scene(void **state) {
    program *p = *state;
    throng_until(p, SWEEP "--runs 6 --jobs 1 --out cut", "run:1", SIGKILL);
    assert_code(shell(p, "cp cut/scene.json kept; sed -i 's/\"step\": [0-9.]*/\"step\": 0.05/;"
                         "s/\"name\": \"/&other /' cut/scene.json; ! cmp -s kept cut/scene.json"),
                0);
    const outcome *result = throng(p, "resume cut --quiet");
    assert_code(result, 3);
    assert_holds(result->error, "cut/scene.json: it or a file it links to was changed");
    assert_code(shell(p, "cp kept cut/scene.json"), 0);
    assert_code(throng(p, "resume cut --quiet"), 0);
}

// Runs count on from the first seed.
static void test_negative_seed(void **state) {
    program *p = *state;
    static const char *const commands[] = {"run scene.json --runs 3 --out none",
                                           "sweep scene.json --runs 3 --out s"};
    for (int i = 0; i < 2; ++i) {
        const outcome *result = throng(p, "%s --quiet --set run.seed=-1", commands[i]);
        assert_code(result, 2);
        assert_holds(result->error, "0 or more");
    }
}

static void test_another_sweep_is_refused(void **state) {
    program *p = *state;
    assert_code(throng(p, "sweep scene.json --quiet --vary groups.0.count=10,20 --runs 2 --out s"),
                0);
    static const char *const others[] = {
        "--vary groups.0.count=10,30 --runs 2", "--vary groups.0.count=10,20 --runs 3",
        "--vary groups.0.count=10,20 --runs 2 --seed 4",
        "--vary groups.0.count=10,20 --runs 2 --set doors.main.width=2"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        const outcome *result = throng(p, "sweep scene.json --quiet --out s %s", others[i]);
        assert_code(result, 3);
        assert_holds(result->error, "s: holds another sweep");
    }
    assert_code(throng(p, "sweep scene.json --quiet --out s --force %s", others[0]), 0);
    char *csv = program_file(p, "s/sweep.csv");
    assert_holds(csv, "\n30,2,2,");
    free(csv);
    // A folder of something else is no folder of a sweep.
    assert_code(shell(p, "mkdir mine; touch mine/thesis.txt"), 0);
    assert_code(throng(p, "sweep scene.json --quiet --out mine %s", others[0]), 3);
    assert_holds(p->last.error, "not empty");
    // A line that was changed by hand is not taken for a run.
    assert_code(shell(p, "sed -i 's/^0,10,/0,11,/' s/runs.csv"), 0);
    assert_code(throng(p, "resume s --quiet"), 3);
    assert_holds(p->last.error, "s/runs.csv:2:1");
}

#define SAMPLE                                                                             \
    "sweep scene.json --quiet --sample sobol:16 --vary groups.0.count=whole:10:60 --vary " \
    "doors.main.width=normal:1.2:0.1:0.9:1.5 --vary groups.0.move=orca,people --runs 2 "

// The cell in the row that begins with these words.
static double share_of(const char *csv, const char *begin) {
    const char *at = strstr(csv, begin);
    assert_non_null(at);
    return strtod(at + strlen(begin), NULL);
}

// The number of people is the number of people, and most of the time that they need.
static void test_sample_tells_what_matters(void **state) {
    program *p = *state;
    assert_code(throng(p, SAMPLE "--out s"), 0);
    char *csv = program_file(p, "s/sensitivity.csv");
    assert_near(share_of(csv, "group,people,people,,groups.0.count,"), 1, 0.01);
    assert_near(share_of(csv, "group,people,people,,doors.main.width,"), 0, 0.01);
    assert_near(share_of(csv, "group,people,people,,seed,"), 0, 1e-9);
    assert_true(share_of(csv, "run,,egress time,s,groups.0.count,") > 0.4);
    assert_true(share_of(csv, "run,,egress time,s,seed,") > 0);
    free(csv);
    char *json = program_file(p, "s/sensitivity.json");
    assert_holds(json, "\"distribution\": \"normal:1.2:0.1:0.9:1.5\"");
    assert_holds(json, "\"quantity\": \"mean wait\"");
    free(json);
    char *page = program_file(p, "s/report.html");
    assert_holds(page, "What the figures depend on");
    assert_holds(page, "figure-sweep_scatter");
    free(page);
    csv = program_file(p, "s/run_quantities.csv");
    assert_int_equal(row_count(csv), 32);
    free(csv);
    // The quantities of a point are those of the run with its values.
    assert_code(shell(p, "sed -n 2p s/runs.csv | cut -d, -f1-5"), 0);
    int count = 0;
    double width = 0;
    char move[20] = "";
    assert_int_equal(sscanf(p->last.out, "0,%d,%lf,%19[^,],1", &count, &width, move), 3);
    assert_code(throng(p,
                       "run scene.json --quiet --seed 1 --set groups.0.count=%d --set "
                       "doors.main.width=%.7g --set groups.0.move=%s --out r",
                       count, width, move),
                0);
    char *one = program_file(p, "r/quantities.csv"), *all = program_file(p, "s/run_quantities.csv");
    double first = share_of(one, "exit,outside,first,s,1,");
    assert_near(cell(all, 0, "exit outside: first [s]"), first, 1e-5);
    free(one);
    free(all);
}

// Points and shares are the same to the byte after a kill, and with another seed they are others.
static void test_killed_sample(void **state) {
    program *p = *state;
    assert_code(throng(p, SAMPLE "--max-time 6 --jobs 2 --out whole"), 0);
    throng_until(p, SAMPLE "--max-time 6 --jobs 2 --out cut", "run:5", SIGKILL);
    assert_code(shell(p, "printf '5,1,0.2,3' >> cut/run_quantities.csv"), 0); // half a line
    assert_code(throng(p, "resume cut --quiet --jobs 1"), 0);
    assert_code(shell(p, "for f in sensitivity.csv sensitivity.json run_quantities.csv sweep.csv; "
                         "do cmp whole/$f cut/$f || exit 1; done"),
                0);
    assert_code(throng(p, SAMPLE "--max-time 6 --out cut --seed 3"), 3);
    assert_holds(p->last.error, "another sweep");
}

static void test_bad_samples(void **state) {
    program *p = *state;
    static const struct {
        const char *options;
        int code;
        const char *hint;
    } cases[] = {
        {"--sample sobol --vary groups.0.count=whole:1:9", 1, "sobol:64"},
        {"--sample mc:64 --vary groups.0.count=whole:1:9", 1, "lhs:N or sobol:N"},
        {"--sample lhs:20000 --vary groups.0.count=whole:1:9", 1, "10000 points"},
        {"--sample lhs:3 --vary groups.0.count=whole:1:9", 1, "at least 4"},
        {"--sample lhs:16", 1, "--vary path=low..high"},
        {"--sample lhs:16 --vary groups.0.count=9..1", 1, "path=whole:LOW:HIGH"},
        {"--sample lhs:16 --vary groups.0.count=normal:9", 1, "path=whole:LOW:HIGH"},
        {"--sample lhs:16 --vary groups.0.cuont=1..9", 2, "did you mean \"count\"?"},
        // The smallest value is no width, though the first may be.
        {"--sample lhs:16 --vary doors.main.width=normal:0.2:1", 2, "above 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const outcome *result = throng(p, "sweep scene.json --out wrong %s", cases[i].options);
        assert_code(result, cases[i].code);
        assert_holds(result->error, cases[i].hint);
        assert_false(program_has(p, "wrong"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_flow_rises_with_width),
        TEST(test_the_fallen_are_counted),
        TEST(test_width_is_a_line),
        TEST(test_all_combinations),
        TEST(test_bad_sweeps),
        TEST(test_killed_and_continued),
        TEST(test_interrupted_and_resumed),
        TEST(test_changed_scene),
        TEST(test_negative_seed),
        TEST(test_another_sweep_is_refused),
        TEST(test_sample_tells_what_matters),
        TEST(test_killed_sample),
        TEST(test_bad_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
