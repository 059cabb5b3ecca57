// The protocol by which processes share the runs of a folder, with crews in one process and invented tasks.
// tests/test_cluster.c has whole programs. SPDX-License-Identifier: Apache-2.0
#include "cluster/crew.h"
#include "program.h"
#include <time.h>

enum { RUNS = 30 };

typedef struct fixture {
    program p;
    th_crew *a, *b;
} fixture;

static th_crew *join(fixture *f) {
    th_crew *crew = NULL;
    th_error error = {0};
    if (th_crew_join(f->p.folder, RUNS, "", false, &crew, &error) != TH_OK)
        print_error("%s: %s\n", error.file, error.message);
    assert_non_null(crew);
    return crew;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    program_begin(&f->p);
    setenv("THRONG_BEAT", "0.1", 1);
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_JOB_ID");
    assert_int_equal(th_crew_prepare(f->p.folder, NULL), TH_OK);
    f->a = join(f);
    f->b = join(f);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    th_crew_leave(f->a);
    th_crew_leave(f->b);
    int status = program_end(&f->p);
    free(f);
    return status;
}

// In the folder that the crews work in.
#define at_work(f, ...) shell(&(f)->p, "cd cluster/work && " __VA_ARGS__)

// An invented task: its ticket, and its claim on a run.
static void forge(fixture *f, const char *name, const char *ticket, int run) {
    assert_code(at_work(f,
                        "echo '%s' >tasks/%s && echo 1 >tasks/%s.beat && touch -d 2001-01-01 "
                        "tasks/%s.beat && mkdir -p 00000 && ln -s %s 00000/%d.1",
                        ticket, name, name, name, name, run),
                0);
    th_crew_look(f->a, 0, RUNS);
}

static void every_run_is_taken_once(void **state) {
    fixture *f = *state;
    bool taken[RUNS] = {false};
    for (int k = 0; k < RUNS; ++k) {
        int run = th_crew_take(k % 3 == 0 ? f->a : f->b);
        assert_in_range(run, 0, RUNS - 1);
        assert_false(taken[run]);
        taken[run] = true;
    }
    assert_int_equal(th_crew_take(f->a), -1);
    assert_int_equal(th_crew_take(f->b), -1);
    th_crew_look(f->a, 0, RUNS);
    for (int run = 0; run < RUNS; ++run)
        assert_int_equal(th_crew_state_of(f->a, run), TH_CREW_TAKEN);
}

static void the_first_result_stays(void **state) {
    fixture *f = *state;
    size_t size = 0;
    assert_int_equal(th_crew_keep(f->a, 0, "first", 5, NULL),
                     TH_NO_FILE); // no process made its shard
    int run = th_crew_take(f->a);
    assert_int_equal(th_crew_keep(f->a, run, "first", 5, NULL), TH_OK);
    assert_int_equal(th_crew_keep(f->b, run, "second", 6, NULL), TH_OK);
    char *bytes = th_crew_result(f->b, run, &size);
    assert_non_null(bytes);
    assert_string_equal(bytes, "first");
    free(bytes);
    assert_code(at_work(f, "test -z \"$(ls 00000 | grep part)\""), 0); // nothing is left beside
}

// A run given back a hundred times stays free; after ten errors it has failed.
static void deaths_are_counted(void **state) {
    fixture *f = *state;
    for (int run = 1; run < RUNS; ++run) {
        th_crew_skip(f->a, run);
        th_crew_skip(f->b, run);
    }
    for (int k = 0; k < 100; ++k) {
        assert_int_equal(th_crew_take(f->a), 0);
        th_crew_give_back(f->a, 0);
    }
    for (int k = 0; k < TH_CREW_DEATHS; ++k) {
        assert_int_equal(th_crew_take(f->b), 0);
        th_crew_fail(f->b, 0, "a wall of\nthe file x/y");
    }
    assert_int_equal(th_crew_take(f->a), -1);
    th_crew_look(f->a, 0, RUNS);
    assert_int_equal(th_crew_state_of(f->a, 0), TH_CREW_FAILED);
    th_crew_attempt last;
    assert_true(th_crew_attempt_of(f->a, 0, &last));
    assert_int_equal(last.deaths, TH_CREW_DEATHS);
    assert_string_equal(last.why, "a wall of the file x\\y");
}

static void runs_of_one_that_left_are_free(void **state) {
    fixture *f = *state;
    int run = th_crew_take(f->a);
    th_crew_look(f->b, 0, RUNS);
    assert_int_equal(th_crew_state_of(f->b, run), TH_CREW_TAKEN);
    th_crew_leave(f->a);
    f->a = NULL;
    assert_int_equal(th_crew_state_of(f->b, run), TH_CREW_FREE);
}

// Far away a process with that number says nothing.
static void other_machines_processes_are_not_looked_for(void **state) {
    fixture *f = *state;
    forge(f, "far", "{\"host\": \"far\", \"boot\": \"b\", \"space\": \"s\", \"pid\": 999999999}",
          3);
    assert_int_equal(th_crew_state_of(f->a, 3), TH_CREW_TAKEN);
    assert_code(at_work(f, "test ! -L tasks/far.end"), 0);
}

// The one that Slurm started again replaces its former self, and not the other way round.
static void a_restarted_task_replaces_itself(void **state) {
    fixture *f = *state;
    static const int restarts[] = {1, 3};
    setenv("SLURM_ARRAY_JOB_ID", "7", 1);
    setenv("SLURM_ARRAY_TASK_ID", "2", 1);
    setenv("SLURM_RESTART_COUNT", "2", 1);
    th_crew_leave(f->a);
    f->a = join(f);
    for (int k = 0; k < 2; ++k) {
        char ticket[64], name[8];
        snprintf(ticket, sizeof ticket, "{\"job\": \"slurm 7_2\", \"restart\": %d}", restarts[k]);
        snprintf(name, sizeof name, "old-%d", restarts[k]);
        forge(f, name, ticket, restarts[k]);
    }
    assert_int_equal(th_crew_state_of(f->a, 1), TH_CREW_FREE);
    assert_int_equal(th_crew_state_of(f->a, 3), TH_CREW_TAKEN);
    unsetenv("SLURM_ARRAY_JOB_ID");
}

// While its beat goes on, though it looks old by the clock of the files, a task lives; twelve looks after it stopped the
// run is free, and not before.
static void a_beat_that_stands_still(void **state) {
    fixture *f = *state;
    static const atomic_bool never;
    const struct timespec then[2] = {{1000000000, 0}, {1000000000, 0}};
    char path[256], text[16];
    forge(f, "far", "{\"host\": \"far\"}", 3);
    snprintf(path, sizeof path, "%s/cluster/work/tasks/far.beat", f->p.folder);
    for (int k = 0; k < TH_CREW_LOOKS + 3; ++k) {
        snprintf(text, sizeof text, "%d\n", k);
        write_text(path, text);
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
        assert_true(th_crew_wait(f->a, &never));
        assert_int_equal(th_crew_state_of(f->a, 3), TH_CREW_TAKEN);
    }
    int waited = 0;
    while (th_crew_state_of(f->a, 3) == TH_CREW_TAKEN) {
        assert_true(th_crew_wait(f->a, &never));
        ++waited;
    }
    assert_true(waited >= TH_CREW_LOOKS);
    assert_code(at_work(f, "readlink tasks/far.end"), 0);
    assert_holds(f->p.last.out, "its beat stood still");
}

// No task waits for one whose beat is young.
static void the_living_are_not_waited_for(void **state) {
    fixture *f = *state;
    static const atomic_bool never;
    forge(f, "far", "{\"host\": \"far\"}", 3);
    assert_code(at_work(f, "touch -d 2200-01-01 tasks/far.beat"), 0);
    assert_false(th_crew_wait(f->a, &never));
}

static void one_that_was_taken_for_dead_takes_no_more(void **state) {
    fixture *f = *state;
    assert_int_equal(th_crew_take(f->a), 0);
    assert_code(at_work(f, "for t in tasks/*.beat; do ln -s 'it seemed dead' ${t%%beat}end; done"),
                0);
    while (!atomic_load(th_crew_expelled(f->a))) nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(th_crew_take(f->a), -1);
}

// A result that another made since the last look is not made again. (What an NFS client does not see at a look, which
// result_appears is for, has no test here.)
static void a_result_since_the_last_look_is_seen(void **state) {
    fixture *f = *state;
    forge(f, "far", "{\"host\": \"far\"}", 0);
    assert_code(at_work(f, "ln -s 'it left' tasks/far.end && echo row >00000/0.done"), 0);
    assert_int_equal(th_crew_take(f->a), 1);
    for (int run = 1; run < RUNS; ++run) th_crew_skip(f->a, run);
    assert_int_equal(th_crew_take(f->a), -1);
}

static void tables_have_one_writer(void **state) {
    fixture *f = *state;
    static atomic_bool stop;
    assert_true(th_crew_lock_tables(f->a, &stop));
    atomic_store(&stop, true);
    assert_false(th_crew_lock_tables(f->b, &stop));
    atomic_store(&stop, false);
    th_crew_unlock_tables(f->a);
    assert_true(th_crew_lock_tables(f->b, &stop));
    // Its task dies: the next one has them.
    th_crew_leave(f->b);
    f->b = NULL;
    assert_true(th_crew_lock_tables(f->a, &stop));
}

static void nothing_can_be_taken_when_all_is_over(void **state) {
    fixture *f = *state;
    th_crew *late = NULL;
    int run = th_crew_take(f->b);
    th_crew_disband(f->a);
    assert_int_equal(th_crew_take(f->b), -1);
    assert_int_equal(th_crew_keep(f->b, run, "row", 3, NULL), TH_OK); // the same is in the tables
    assert_false(th_crew_exists(f->p.folder));
    assert_int_equal(th_crew_join(f->p.folder, RUNS, "", false, &late, &(th_error){0}), TH_NO_FILE);
    assert_code(shell(&f->p, "ls cluster"), 0);
    assert_string_equal(f->p.last.out, "logs\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(every_run_is_taken_once),
        TEST(the_first_result_stays),
        TEST(deaths_are_counted),
        TEST(runs_of_one_that_left_are_free),
        TEST(other_machines_processes_are_not_looked_for),
        TEST(a_restarted_task_replaces_itself),
        TEST(a_beat_that_stands_still),
        TEST(the_living_are_not_waited_for),
        TEST(one_that_was_taken_for_dead_takes_no_more),
        TEST(a_result_since_the_last_look_is_seen),
        TEST(tables_have_one_writer),
        TEST(nothing_can_be_taken_when_all_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
