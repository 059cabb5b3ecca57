// Runs that are killed or interrupted go on from a checkpoint and end as if nothing had happened.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "throng/record.h"

// Tables that must come out the same to the byte.
static const char *const tables[] = {"evacuation.csv", "counters.csv", "areas.csv", "people.csv"};

#ifdef TH_SLOW_BUILD
enum { SECONDS = 20 };
#else
enum { SECONDS = 60 };
#endif

static int set_up(void **state) {
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    program_begin(p);
    char path[128];
    snprintf(path, sizeof path, "%s/hall.json", p->folder);
    // 80 people, a door that closes and opens, a source, two models with random numbers: all that a
    // checkpoint has to bring back.
    copy_scene("gate_hall.json", path);
    assert_code(shell(p, "sed -i 's/\"duration\": 60/\"duration\": %d/' hall.json", SECONDS), 0);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    int status = program_end(*state);
    free(*state);
    return status;
}

// 8.5 s: the gate is shut, people come, checkpoints of 7 and 8 s are there.
#define MIDDLE "step:425"

static void end_at_checkpoint(program *p, const char *format, int signal) {
    char arguments[128];
    snprintf(arguments, sizeof arguments,
             "run hall.json --quiet --out cut --checkpoint every=1 --no-report --record %s",
             format);
    throng_until(p, arguments, MIDDLE, signal);
}

static void assert_same_frames(const program *p, const char *a, const char *b) {
    const char *const names[2] = {a, b};
    th_trajectory *both[2] = {NULL, NULL};
    th_moment frames[2];
    th_error error = {0};
    for (int i = 0; i < 2; ++i) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", p->folder, names[i]);
        if (th_trajectory_open(path, &both[i], &error) != TH_OK) print_error("%s\n", error.message);
        assert_non_null(both[i]);
    }
    assert_int_equal(th_trajectory_about(both[0])->frame_count, 10 * SECONDS + 1);
    do {
        for (int i = 0; i < 2; ++i)
            assert_int_equal(th_trajectory_next(both[i], &frames[i], &error), TH_OK);
        assert_int_equal(frames[0].count, frames[1].count);
        if (frames[0].count <= 0) continue;
        size_t count = (size_t)frames[0].count;
        assert_int_equal(frames[0].number, frames[1].number);
        assert_memory_equal(frames[0].id, frames[1].id, count * sizeof *frames[0].id);
        assert_memory_equal(frames[0].x, frames[1].x, count * sizeof *frames[0].x);
        assert_memory_equal(frames[0].y, frames[1].y, count * sizeof *frames[0].y);
    } while (frames[0].count >= 0);
    th_trajectory_close(both[0]);
    th_trajectory_close(both[1]);
}

static void assert_same_folder(program *p, const char *hash, const char *recording) {
    char found[17], a[64], b[64];
    hash_of(p->last.out, found);
    assert_string_equal(found, hash);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
        assert_code(shell(p, "cmp whole/%s cut/%s", tables[i], tables[i]), 0);
    assert_code(shell(p,
                      "grep -v wall_seconds whole/summary.json | grep -v command_line >a;"
                      "grep -v wall_seconds cut/summary.json | grep -v command_line >b; diff a b"),
                0);
    snprintf(a, sizeof a, "whole/%s", recording);
    snprintf(b, sizeof b, "cut/%s", recording);
    assert_same_frames(p, a, b);
}

static void whole_run(program *p, const char *format, char hash[17]) {
    assert_code(throng(p, "run hall.json --quiet --out whole --no-report --record %s", format), 0);
    hash_of(p->last.out, hash);
}

static void resume_after(program *p, int signal, const char *format, const char *file) {
    char hash[17];
    whole_run(p, format, hash);
    end_at_checkpoint(p, format, signal);
    const outcome *result = throng(p, "resume cut");
    assert_code(result, 0);
    assert_holds(result->error, signal == SIGKILL ? "going on at 8.0 s" : "going on at 8.5 s");
    assert_holds(result->out, "cut/summary.json");
    assert_same_folder(p, hash, file);
    assert_code(throng(p, "resume cut"), 0);
    assert_holds(p->last.out, "the run is finished");
}

static void test_killed_sqlite(void **state) {
    resume_after(*state, SIGKILL, "sqlite", "trajectory.sqlite");
}

static void test_killed_compact(void **state) {
    resume_after(*state, SIGKILL, "compact", "trajectory.sqlite");
}

static void test_killed_text(void **state) {
    resume_after(*state, SIGKILL, "text", "trajectory.txt");
}

// Ctrl-C leaves a report and a last checkpoint.
static void test_interrupted(void **state) {
    program *p = *state;
    resume_after(p, SIGINT, "text", "trajectory.txt");
}

static void test_two_checkpoints_are_kept(void **state) {
    program *p = *state;
    assert_code(
        throng(p, "run hall.json --quiet --out kept --no-report --checkpoint 1 --max-time 5.5"), 0);
    assert_code(shell(p, "ls kept/checkpoints"), 0);
    assert_string_equal(p->last.out, "checkpoint-000000000200.bin\ncheckpoint-000000000250.bin\n");
}

static void damage(program *p, const char *name, long at) {
    char path[256];
    snprintf(path, sizeof path, "%s/cut/checkpoints/%s", p->folder, name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ 0x10, file);
    fclose(file);
}

// A bad byte anywhere is noticed; the older checkpoint serves; without one the run begins again.
static void test_damaged_checkpoints(void **state) {
    program *p = *state;
    char hash[17];
    whole_run(p, "text", hash);
    end_at_checkpoint(p, "text", SIGKILL);
    assert_code(shell(p, "ls -r cut/checkpoints | grep 'bin$'"), 0);
    char newest[64], older[64];
    assert_int_equal(sscanf(p->last.out, "%63s %63s", newest, older), 2);
    assert_code(shell(p, "cp -r cut copy"), 0);
    damage(p, newest, 3000);
    assert_code(throng(p, "resume cut"), 0);
    assert_holds(p->last.error, "its checksum is wrong");
    assert_holds(p->last.error, older);
    assert_same_folder(p, hash, "trajectory.txt");

    assert_code(shell(p, "rm -r cut; mv copy cut; cd cut/checkpoints; for f in *; do "
                         ": > $f; done"),
                0);
    assert_code(throng(p, "resume cut"), 0);
    assert_holds(p->last.error, "it is cut short");
    assert_holds(p->last.error, "begins again");
    assert_same_folder(p, hash, "trajectory.txt");
}

static void test_nothing_to_resume(void **state) {
    program *p = *state;
    assert_code(throng(p, "resume nowhere"), 3);
    assert_holds(p->last.error, "nowhere: has no run.json");
    assert_code(throng(p, "run hall.json --checkpoint sometimes"), 1);
    assert_holds(p->last.error, "like every=60");
}

// Killed before the first checkpoint: the same run again, with the recording that was asked for.
static void test_killed_early(void **state) {
    program *p = *state;
    char hash[17];
    whole_run(p, "sqlite", hash);
    throng_until(p,
                 "run hall.json --quiet --out cut --no-report --record sqlite --checkpoint "
                 "every=10000",
                 MIDDLE, SIGKILL);
    const outcome *result = throng(p, "resume cut");
    assert_code(result, 0);
    assert_holds(result->error, "the run begins again");
    assert_same_folder(p, hash, "trajectory.sqlite");
}

// The advice for several runs is a command, which the test executes.
static void test_advice(void **state) {
    program *p = *state;
    assert_code(shell(p, "mkdir 'a folder'; cp hall.json 'a folder/its.json'"), 0);
    throng_until(p,
                 "run \"a folder/its.json\" --quiet --out \"it is/here\" --runs 3 --jobs 1 "
                 "--no-report --record text --fps 5 --set run.duration=20",
                 "run:1", SIGKILL);
    const outcome *result = throng(p, "resume 'it is/here'");
    assert_code(result, 3);
    assert_holds(result->error, "begin again with\n  throng run ");
    char *command = strdup(strstr(result->error, "  throng run ") + 2);
    assert_code(shell(p, "throng() { \"$THRONG\" \"$@\"; }\n%s", command), 0);
    free(command);
    assert_holds(p->last.out, "3 runs");
    char *text = program_file(p, "it is/here/trajectory.txt");
    assert_holds(text, "# framerate: 5.00 fps");
    assert_holds(text, " 100 "); // a frame of the end of 20 s; no coordinate is written so
    free(text);
    assert_false(program_has(p, "it is/here/report.html"));
    assert_code(throng(p, "resume 'it is/here'"), 0);
    assert_holds(p->last.out, "the run is finished");
}

// ---- one writer per folder

static void test_one_at_a_time(void **state) {
    program *p = *state;
    static const char *const seconds[] = {
        "resume busy",
        "run hall.json --quiet --out busy --force --max-time 1",
        "sweep hall.json --quiet --runs 1 --out busy --force",
        "sweep hall.json --quiet --runs 1 --out busy",
    };
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; ++i) {
        pid_t first = program_hold(
            p, MIDDLE, "exec \"$THRONG\" run hall.json --quiet --out busy --record sqlite");
        const outcome *result = throng(p, "%s", seconds[i]);
        assert_code(result, 3);
        assert_holds(result->error, "busy: another throng is writing into this folder");
        assert_code(program_signal(p, first, SIGKILL), 128 + SIGKILL);
        assert_true(program_has(p, "busy/run.json") && program_has(p, "busy/trajectory.sqlite"));
        // A lock ends with the process that held it.
        assert_code(throng(p, "run hall.json --quiet --out busy --force --max-time 1"), 0);
        assert_code(shell(p, "rm -r busy"), 0);
    }
}

// A terminal that closes leaves what Ctrl-C leaves; `nohup` runs on.
static void test_hang_up(void **state) {
    program *p = *state;
    const outcome *result = throng_until(p, "run hall.json --quiet --out cut", MIDDLE, SIGHUP);
    assert_code(result, 130);
    assert_true(program_has(p, "cut/report.html"));
    const char deaf[] =
        "trap '' HUP; exec \"$THRONG\" run hall.json --quiet --no-report --out deaf";
    assert_code(program_signal(p, program_hold(p, MIDDLE, deaf), SIGHUP), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_killed_sqlite),
        TEST(test_killed_compact),
        TEST(test_killed_text),
        TEST(test_interrupted),
        TEST(test_two_checkpoints_are_kept),
        TEST(test_damaged_checkpoints),
        TEST(test_nothing_to_resume),
        TEST(test_killed_early),
        TEST(test_advice),
        TEST(test_one_at_a_time),
        TEST(test_hang_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
