// The folder a run leaves, recordings, trouble with disks and signals, and many runs side by side.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "throng/record.h"
#include <errno.h>
#include <math.h>

static int set_up(void **state) {
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    program_begin(p);
    char path[128];
    snprintf(path, sizeof path, "%s/hall.json", p->folder);
    // 12 m by 8 m whose floor is a linked file; 40 people, two of them from a list.
    copy_scene("linked_hall.json", path);
    snprintf(path, sizeof path, "%s/plans", p->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/plans/floor.wkt", p->folder);
    write_text(path, "POLYGON ((0 0, 12 0, 12 8, 0 8, 0 0))\n");
    snprintf(path, sizeof path, "%s/two.csv", p->folder);
    write_text(path, "x,y\n9,1\n9,7\n");
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    int status = program_end(*state);
    free(*state);
    return status;
}

static const char *const written[] = {"scene.json",     "run.json",     "summary.json",
                                      "evacuation.csv", "counters.csv", "areas.csv",
                                      "people.csv",     "runs.csv",     "report.html"};

static double simulated(program *p) {
    json_t *object = json_of(p->last.out);
    double seconds = number(json_array_get(json_object_get(object, "runs"), 0), "simulated_s");
    json_decref(object);
    return seconds;
}

// --max-time is the end whether the scene's own is earlier or later; the copy of the scene says the same.
static void test_max_time_replaces_the_scenes_end(void **state) {
    program *p = *state;
    static const char *const ends[] = {"--set run.duration=2",
                                       "--set run.duration=0 --set run.max_time=2",
                                       "--set run.duration=2 --set run.until_empty=true"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
        assert_code(throng(p,
                           "run hall.json --quiet --json --out late --force --no-report "
                           "--max-time 3 %s",
                           ends[i]),
                    0);
        assert_true(fabs(simulated(p) - 3) < 0.051);
        assert_code(throng(p, "run late/scene.json --quiet --json --out none"), 0);
        assert_true(fabs(simulated(p) - 3) < 0.051);
    }
}

// `resume --json` prints for a finished folder the JSON that the run printed, and nothing else.
static void test_resume_prints_the_json_of_a_finished_run(void **state) {
    program *p = *state;
    assert_code(throng(p, "run hall.json --quiet --json --out done --max-time 1"), 0);
    assert_true(fabs(simulated(p) - 1) < 0.051);
    assert_code(throng(p, "resume done --json"), 0);
    assert_true(fabs(simulated(p) - 1) < 0.051);
}

static void test_folder_contents(void **state) {
    program *p = *state;
    char name[64];
    const outcome *result = throng(p, "run hall.json --out kept --quiet");
    assert_code(result, 0);
    assert_string_equal(result->error, "");
    // The path of the report is the last line.
    assert_string_equal(result->out + strlen(result->out) - strlen("\nkept/report.html\n"),
                        "\nkept/report.html\n");
    for (size_t i = 0; i < sizeof written / sizeof written[0]; ++i) {
        snprintf(name, sizeof name, "kept/%s", written[i]);
        if (!program_has(p, name)) print_error("%s is missing\n", name);
        assert_true(program_has(p, name));
    }
    assert_false(program_has(p, "kept/trajectory.sqlite"));
    char *text = program_file(p, "kept/run.json");
    json_t *about = json_of(text);
    assert_string_equal(json_string_value(json_object_get(about, "command_line")),
                        "throng run hall.json --out kept --quiet");
    assert_string_equal(json_string_value(json_object_get(about, "state")), "finished");
    assert_string_equal(json_string_value(json_object_get(about, "seed")), "1");
    json_decref(about);
    free(text);
}

// scene.json holds what the command line changed and finds its own copies of the linked files.
static void test_scene_copy_runs_the_same(void **state) {
    program *p = *state;
    char first[17], again[17], plain[17];
    assert_code(
        throng(p, "run hall.json --out a --quiet --no-report --seed 7 --step 0.05 --max-time 5.5 "
                  "--set groups.all.count=20 --set doors.gate.width=2.2"),
        0);
    hash_of(p->last.out, first);
    assert_holds(p->last.out, "simulated        5.5 s in 110 steps of 0.05 s");
    assert_code(shell(p, "mkdir elsewhere && mv a elsewhere && rm -r plans two.csv"), 0);
    assert_code(throng(p, "run elsewhere/a/scene.json --out b --quiet --no-report"), 0);
    hash_of(p->last.out, again);
    assert_string_equal(first, again);
    assert_code(throng(p, "run b/scene.json --out none --seed 8"), 0);
    hash_of(p->last.out, plain);
    assert_string_not_equal(first, plain);
}

static void test_default_folders_are_new(void **state) {
    program *p = *state;
    for (int i = 0; i < 3; ++i)
        assert_code(throng(p, "run hall.json --quiet --max-time 1 --no-report"), 0);
    assert_holds(p->last.out, "runs/hall-3/summary.json");
    assert_true(program_has(p, "runs/hall/summary.json"));
    assert_true(program_has(p, "runs/hall-2/summary.json"));
    // Nothing is kept, and nothing made, on request and for scenes that do not work.
    assert_code(throng(p, "run hall.json --quiet --max-time 1 --out none"), 0);
    assert_null(strstr(p->last.out, "summary.json"));
    assert_code(throng(p, "run hall.json --quiet --out wrong --set groups.all.count=100000"), 2);
    assert_code(throng(p, "run hall.json --quiet --out wrong --set groups.all.cuont=1"), 2);
    assert_false(program_has(p, "wrong"));
    assert_false(program_has(p, "runs/hall-4"));
}

static void test_nothing_is_overwritten(void **state) {
    program *p = *state;
    assert_code(shell(p, "mkdir mine && echo precious > mine/thesis.txt"), 0);
    const outcome *result = throng(p, "run hall.json --quiet --max-time 1 --out mine");
    assert_code(result, 3);
    assert_holds(result->error, "mine: the folder is not empty");
    assert_holds(result->error, "--force");
    assert_false(program_has(p, "mine/scene.json"));
    assert_code(
        throng(p,
               "run hall.json --quiet --max-time 1 --out mine --force --record text --no-report"),
        0);
    assert_true(program_has(p, "mine/trajectory.txt"));
    assert_code(throng(p, "run hall.json --quiet --max-time 2 --out mine --force --no-report"), 0);
    // The recording was of another run; the name is not used.
    assert_false(program_has(p, "mine/trajectory.txt"));
    assert_true(program_has(p, "mine/thesis.txt"));
    result = throng(p, "run hall.json --out hall.json/below");
    assert_code(result, 3);
    assert_holds(result->error, "--out");
}

static void test_unwritable_folder(void **state) {
    program *p = *state;
    if (geteuid() == 0) {
        // Root may write anywhere but into what is no file system for it.
        assert_code(throng(p, "run hall.json --out /proc/throng --set run.duration=100000"), 3);
    } else {
        assert_code(shell(p, "mkdir closed && chmod a-w closed"), 0);
        assert_code(throng(p, "run hall.json --out closed --set run.duration=100000"), 3);
    }
    assert_holds(p->last.error, "choose another --out");
    assert_string_equal(p->last.out, "");
    // The cause is that of the folder, not of looking whether it is there.
    if (mkdir("/sys/throng-test", 0777) == 0) rmdir("/sys/throng-test"); // never seen
    const char *cause = strerror(errno);
    assert_code(throng(p, "run hall.json --out /sys/throng-test"), 3);
    assert_holds(p->last.error, cause);
}

// The contents of a recording, by its own reader.
static void read_recording(const program *p, const char *name, th_trajectory_info *info) {
    char path[256];
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    if (th_trajectory_open(path, &trajectory, &error) != TH_OK) print_error("%s\n", error.message);
    assert_non_null(trajectory);
    *info = *th_trajectory_about(trajectory);
    th_trajectory_close(trajectory);
}

static void test_recordings(void **state) {
    program *p = *state;
    static const struct {
        const char *option, *file;
        th_trajectory_format format;
    } cases[] = {{"sqlite", "trajectory.sqlite", TH_TRAJECTORY_SQLITE},
                 {"compact", "trajectory.sqlite", TH_TRAJECTORY_COMPACT},
                 {"text", "trajectory.txt", TH_TRAJECTORY_TEXT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char name[64];
        th_trajectory_info info;
        assert_code(
            throng(p, "run hall.json --quiet --max-time 4 --out %s --record %s --fps 5 --no-report",
                   cases[i].option, cases[i].option),
            0);
        assert_string_equal(p->last.error, "");
        snprintf(name, sizeof name, "%s/%s", cases[i].option, cases[i].file);
        read_recording(p, name, &info);
        assert_int_equal(info.format, cases[i].format);
        assert_true(fabs(info.fps - 5) < 1e-9);
        assert_int_equal(info.frame_count, 21); // 0 s to 4 s
        assert_int_equal(info.agent_count, 40);
    }
    // The scene may ask for each of them itself.
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char name[64];
        th_trajectory_info info;
        assert_code(throng(p,
                           "run hall.json --quiet --max-time 1 --out scene-%s --no-report "
                           "--set record.format=%s",
                           cases[i].option, cases[i].option),
                    0);
        snprintf(name, sizeof name, "scene-%s/%s", cases[i].option, cases[i].file);
        read_recording(p, name, &info);
        assert_int_equal(info.format, cases[i].format);
    }
    // A frame rate that is no multiple of the step is told.
    assert_code(
        throng(p,
               "run hall.json --quiet --max-time 1 --out own --no-report --set record.format=text "
               "--fps 3"),
        0);
    assert_true(program_has(p, "own/trajectory.txt"));
    assert_holds(p->last.error, "3.33333 frames per second");
    // More than ten thousand people make a compact file, and the program says how to get rows.
    char path[128];
    th_trajectory_info info;
    snprintf(path, sizeof path, "%s/field.json", p->folder);
    write_text(path, TH_JSON(
        {"groups": [{"area": {"rect": [0, 0, 120, 120]}, "count": 10001, "route": [],
            "plan": "straight"}]}));
    assert_code(throng(p, "run field.json --quiet --max-time 0.2 --out field --no-report "
                          "--record sqlite"),
                0);
    assert_holds(p->last.error, "`throng convert field/trajectory.sqlite rows.sqlite`");
    read_recording(p, "field/trajectory.sqlite", &info);
    assert_int_equal(info.format, TH_TRAJECTORY_COMPACT);
    assert_int_equal(info.agent_count, 10001);
    assert_code(throng(p, "run hall.json --record hdf5"), 1);
    assert_holds(p->last.error, "throng convert");
    assert_code(throng(p, "run hall.json --record sqlit"), 1);
    assert_holds(p->last.error, "did you mean sqlite?");
    assert_code(throng(p, "run hall.json --record text --out none"), 1);
}

// A file that may not grow is a full disk: the recording ends, the run does not.
static void test_full_disk(void **state) {
    program *p = *state;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip(); // its runtime maps a temporary file at the start, which the limit below cuts short
#endif
#endif
    char *page, whole_hash[17], hash[17];
    assert_code(throng(p, "run hall.json --quiet --out none --step 0.02"), 0);
    hash_of(p->last.out, whole_hash);
    // 1.5 MB (the unit is half a kB): the report fits, 2000 frames of 38 people in text do not.
    const outcome *result = shell(
        p, "ulimit -f 3000; \"$THRONG\" run hall.json --quiet --out full --record text --step 0.02 "
           "--fps 50 --set run.duration=40 --set groups.all.premovement=60");
    assert_code(result, 3);
    assert_holds(result->error, "the recording ends");
    assert_holds(result->error, "goes on without");
    assert_holds(result->out, "simulated        40.0 s");
    assert_true(program_has(p, "full/summary.json"));
    th_trajectory_info info;
    read_recording(p, "full/trajectory.txt", &info);
    assert_true(info.frame_count > 10 && info.frame_count < 2001);
    char told[64];
    snprintf(told, sizeof told, "after %lld frames", (long long)info.frame_count);
    assert_holds(result->error, told);
    // Rows in a database are taken back by the ten when a commit fails.
    result = shell(
        p,
        "ulimit -f 600; \"$THRONG\" run hall.json --quiet --out full2 --record sqlite --step 0.02 "
        "--fps 50 --set run.duration=40 --set groups.all.premovement=60 --no-report");
    assert_code(result, 3);
    read_recording(p, "full2/trajectory.sqlite", &info);
    snprintf(told, sizeof told, "after %lld frames", (long long)info.frame_count);
    assert_holds(result->error, told);
    page = program_file(p, "full/report.html");
    assert_holds(page, "the recording ends");
    free(page);
    // And where nothing at all can be written the results are still printed.
    result = shell(p, "ulimit -f 4; \"$THRONG\" run hall.json --quiet --out tiny --step 0.02");
    assert_code(result, 3);
    hash_of(result->out, hash);
    assert_string_equal(hash, whole_hash);
}

// Ctrl-C: everything is finished for what was simulated.
static void test_interrupt(void **state) {
    program *p = *state;
    const outcome *result =
        throng_until(p, "run hall.json --quiet --out cut --record sqlite", "step:33", SIGINT);
    assert_code(result, 130);
    assert_holds(result->out, "interrupted");
    assert_holds(result->out, "cut/report.html");
    assert_true(program_has(p, "cut/report.html"));
    th_trajectory_info info;
    read_recording(p, "cut/trajectory.sqlite", &info);
    double simulated = 0;
    assert_int_equal(sscanf(strstr(result->out, "simulated "), "simulated %lf", &simulated), 1);
    assert_int_equal(info.frame_count, (int64_t)(simulated * 10 + 0.5) + 1);
    char *text = program_file(p, "cut/run.json");
    assert_holds(text, "interrupted");
    free(text);
}

// Without the columns and keys that are wall time.
static char *without_clock(const program *p, const char *name) {
    char *text = program_file(p, name);
    assert_non_null(text);
    json_t *object = json_loads(text, 0, NULL);
    if (!object) { // a CSV: the column is blanked
        const char *title = strstr(text, "wall_s");
        int column = 0;
        for (const char *at = text; title && at < title; ++at) column += *at == ',';
        char *to = text;
        int at_column = 0;
        for (const char *at = text; *at; ++at) {
            if (*at == ',') ++at_column;
            if (*at == '\n') at_column = 0;
            if (!title || at_column != column || *at == ',') *to++ = *at;
        }
        *to = '\0';
        return text;
    }
    free(text);
    json_t *runs = json_object_get(object, "runs");
    json_object_del(object, "wall_seconds");
    json_object_del(object, "command_line");
    for (size_t i = 0; i < json_array_size(runs); ++i)
        json_object_del(json_array_get(runs, i), "wall_seconds");
    text = json_dumps(object, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(object);
    return text;
}

static void test_same_numbers_for_any_jobs(void **state) {
    program *p = *state;
    char *first[2] = {NULL, NULL};
    static const char *const files[] = {"runs.csv", "summary.json"};
    for (int jobs = 1; jobs <= 3; ++jobs) {
        assert_code(
            throng(p, "run hall.json --quiet --runs 7 --seed 3 --jobs %d --out many%d --no-report",
                   jobs, jobs),
            0);
        assert_holds(p->last.out, "7 of 7 runs");
        assert_holds(p->last.out, "95 % interval");
        for (int i = 0; i < 2; ++i) {
            char name[64];
            snprintf(name, sizeof name, "many%d/%s", jobs, files[i]);
            char *text = without_clock(p, name);
            if (jobs == 1) first[i] = strdup(text);
            assert_string_equal(text, first[i]);
            free(text);
        }
    }
    // Every run is the run that seed gives alone.
    for (int seed = 3; seed < 10; ++seed) {
        char hash[17];
        assert_code(throng(p, "run hall.json --quiet --out none --seed %d", seed), 0);
        hash_of(p->last.out, hash);
        assert_holds(first[0], hash);
    }
    free(first[0]);
    free(first[1]);
}

static int line_count(const char *text) {
    int count = 0;
    for (; *text; ++text) count += *text == '\n';
    return count;
}

// The stopping run depends on the numbers only.
static void test_until_interval_is_narrow(void **state) {
    program *p = *state;
    int runs[3];
    for (int jobs = 1; jobs <= 3; ++jobs) {
        char name[64];
        assert_code(throng(p,
                           "run hall.json --quiet --until-ci 0.1 --jobs %d --out ci%d --no-report",
                           jobs, jobs),
                    0);
        snprintf(name, sizeof name, "ci%d/runs.csv", jobs);
        char *text = program_file(p, name);
        runs[jobs - 1] = line_count(text) - 1;
        free(text);
    }
    assert_true(runs[0] >= 5 && runs[0] < 1000);
    assert_int_equal(runs[1], runs[0]);
    assert_int_equal(runs[2], runs[0]);
    // Too few runs for so narrow an interval: said, but no failure.
    const outcome *result =
        throng(p, "run hall.json --quiet --until-ci 0.0001 --runs 5 --out none");
    assert_code(result, 0);
    assert_holds(result->error, "more --runs");
    // And no thousand runs when there is nothing to be sure of.
    result = throng(p, "run hall.json --quiet --until-ci 0.1 --max-time 2 --out none");
    assert_code(result, 0);
    assert_holds(result->out, "0 of 5 runs");
    assert_holds(result->error, "no egress time");
    assert_code(throng(p, "run hall.json --until-ci 0.1 --checkpoint 5"), 1);
}

static void test_many_runs_record_the_first(void **state) {
    program *p = *state;
    assert_code(
        throng(p, "run hall.json --quiet --runs 3 --jobs 2 --record text --out many --no-report"),
        0);
    assert_code(throng(p, "run hall.json --quiet --record text --out one --no-report"), 0);
    assert_code(shell(p,
                      "grep -v '^#' many/trajectory.txt > a; grep -v '^#' one/trajectory.txt > b; "
                      "cmp a b && test -s a"),
                0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_folder_contents),
        TEST(test_max_time_replaces_the_scenes_end),
        TEST(test_resume_prints_the_json_of_a_finished_run),
        TEST(test_scene_copy_runs_the_same),
        TEST(test_default_folders_are_new),
        TEST(test_nothing_is_overwritten),
        TEST(test_unwritable_folder),
        TEST(test_recordings),
        TEST(test_full_disk),
        TEST(test_interrupt),
        TEST(test_same_numbers_for_any_jobs),
        TEST(test_until_interval_is_narrow),
        TEST(test_many_runs_record_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
