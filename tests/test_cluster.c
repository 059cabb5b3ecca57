// One folder, several processes: array jobs of a sbatch that is a script, processes that say they are of an MPI launch,
// tasks that are killed, stand still and die again and again. tests/check_slurm.py does it with Slurm itself.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#define SWEEP                                                                                   \
    "sweep scene.json --quiet --set groups.0.count=8 --vary doors.main.width=0.9,1.2 --runs 6 " \
    "--max-time 4 --out o "

// [s] A busy machine wakes a process that late, seldom twelve times in a row.
#define SHORT_BEAT "0.1"

// Takes the script that throng wrote and does what Slurm would: an array of tasks, here all at once, which it waits for.
static const char SBATCH[] =
    "#!/bin/sh\n"
    "script=$2\n"
    "cp \"$script\" submitted\n"
    "[ -n \"$REFUSE\" ] && exit 1\n"
    "last=$(sed -n 's/^#SBATCH --array=1-\\([0-9]*\\).*/\\1/p' \"$script\")\n"
    "log=$(sed -n 's/^#SBATCH --output=\"\\(.*\\)\"/\\1/p' \"$script\")\n"
    "[ \"$last\" -gt 3 ] && last=3\n"
    "for task in $(seq \"$last\"); do\n"
    "  file=$(echo \"$log\" | sed \"s/%A/77/;s/%a/$task/\")\n"
    "  SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_ID=$task sh \"$script\" >>\"$file\" 2>&1 &\n"
    "done\n"
    "wait\n"
    "echo 77\n";

static int set_up(void **state) {
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    program_begin(p);
    char path[128];
    assert_code(shell(p,
                      "mkdir one several bin && for d in one several; do cp "
                      "'%s/scenes/bottleneck.json' $d/scene.json; done",
                      TH_SOURCE_DIR),
                0);
    snprintf(path, sizeof path, "%s/bin/sbatch", p->folder);
    write_text(path, SBATCH);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("THRONG_BEAT", "10", 1);
    unsetenv("SLURM_JOB_ID");
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    int status = program_end(*state);
    free(*state);
    return status;
}

// In the folder of several processes.
#define there(p, words) shell((p), "cd several && PATH=$PWD/../bin:$PATH && " words)

static void alone(program *p) {
    assert_code(shell(p, "cd one && \"$THRONG\" " SWEEP "--jobs 1"), 0);
}

// Equal to the byte, but for dates and times, and the folder of the launch.
static void assert_same(program *p) {
    assert_code(
        shell(
            p,
            "for f in sweep.csv run_quantities.csv report.html sweep.json scene.json; do "
            "for d in one several; do sed 's/ --jobs 1//; /<dt>Written/d' $d/o/$f >$d.f; done; cmp "
            "one.f several.f || "
            "exit 1; done; (cd one/o; ls -R figures *.*) >a; (cd several/o; ls -R figures *.*) >b; "
            "cmp a b && for d in one several; do cut -d, -f1-10,12- $d/o/runs.csv >$d/rows; done; "
            "cmp one/rows several/rows; test ! -e several/o/cluster/work"),
        0);
}

// ---- launching

static void an_array_leaves_the_folder_of_one_process(void **state) {
    program *p = *state;
    alone(p);
    assert_code(there(p, "\"$THRONG\" " SWEEP
                         "--launch slurm --partition short,main --time 02:00:00 --array-limit 4"),
                0);
    assert_holds(p->last.out, "job 77: 12 runs, 12 tasks, ");
    assert_same(p);
    char *script = program_file(p, "several/submitted");
    assert_holds(script, "#SBATCH --array=1-12%4\n");
    assert_holds(script, "#SBATCH --partition=short,main\n#SBATCH --time=02:00:00\n");
    assert_holds(script, "/several/o/cluster/logs/%A_%a.log\"\n");
    assert_holds(script, " --launch task ");
    free(script);
    assert_true(program_has(p, "several/o/cluster/job-1.sbatch"));
    assert_true(program_has(p, "several/o/cluster/logs/77_2.log"));
    assert_code(there(p, "\"$THRONG\" status o"), 0);
    assert_holds(p->last.out, "finished, 12 runs");
    // A late task and a repeated command have nothing to do.
    assert_code(there(p, "\"$THRONG\" resume o --launch task"), 0);
    assert_code(there(p, "\"$THRONG\" " SWEEP "--launch slurm"), 0);
    assert_holds(p->last.out, "all runs are there");
    assert_same(p);
}

static void points_of_a_sample_too(void **state) {
    program *p = *state;
    static const char command[] = "\"$THRONG\" sweep scene.json --quiet --sample lhs:8 --vary "
                                  "groups.0.count=whole:5:9 --vary "
                                  "doors.main.width=0.9..1.2 --runs 2 --max-time 4 --out o";
    assert_code(shell(p, "cd one && %s", command), 0);
    assert_code(shell(p, "cd several && PATH=$PWD/../bin:$PATH && %s --launch slurm", command), 0);
    assert_holds(p->last.out, "16 runs, ");
    assert_code(shell(p, "for f in sensitivity.csv sensitivity.json run_quantities.csv sweep.csv; "
                         "do cmp one/o/$f several/o/$f || exit 1; done"),
                0);
}

static void runs_of_one_scene_too(void **state) {
    program *p = *state;
    static const char command[] =
        "\"$THRONG\" run scene.json --quiet --set groups.0.count=8 --max-time 30 --runs "
        "9 --until-ci 0.5 --out o";
    assert_code(shell(p, "cd one && %s", command), 0);
    assert_code(shell(p, "cd several && PATH=$PWD/../bin:$PATH && %s --launch slurm", command), 0);
    assert_code(
        shell(p, "for f in summary.json evacuation.csv counters.csv areas.csv people.csv "
                 "report.html scene.json; do for d in one several; do sed '/<dt>Written/d' $d/o/$f "
                 ">$d.f; done; "
                 "cmp one.f several.f || exit 1; done; for d in "
                 "one several; do grep -v started $d/o/run.json >$d/about; done; cmp one/about "
                 "several/about"),
        0);
}

// All three find no folder at first; each knows its place in another way.
static void processes_of_mpi(void **state) {
    program *p = *state;
    alone(p);
    assert_code(there(p,
                      "export THRONG; run() { env \"$@\" \"$THRONG\" " SWEEP
                      "--launch mpi || echo $? >>../bad; }; "
                      "run OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3 & "
                      "run PMI_RANK=1 PMI_SIZE=3 & "
                      "run SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_NTASKS=3 & wait; test ! -e ../bad"),
                0);
    assert_same(p);
    assert_code(shell(p, "test $(ls several | wc -l) = 3"), 0); // scene.json, o and rows
}

static void refusals(void **state) {
    program *p = *state;
    static const struct {
        const char *options;
        int code;
        const char *hint;
    } cases[] = {
        {"--launch mpi", 1, "not started by mpirun"},
        {"--launch slrum", 1, "did you mean slurm?"},
        {"--time 1:00", 1, "are for --launch slurm"},
        {"--launch slurm --partition 'a b'", 1, "as sbatch takes it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const outcome *result = shell(p, "cd several && \"$THRONG\" " SWEEP "%s", cases[i].options);
        assert_code(result, cases[i].code);
        assert_holds(result->error, cases[i].hint);
    }
    assert_code(shell(p, "cd several && \"$THRONG\" run scene.json --launch slurm --record sqlite"),
                1);
    assert_holds(p->last.error, "runs of one process");
    // The script stays if sbatch refuses it or is missing.
    assert_code(there(p, "REFUSE=1 \"$THRONG\" " SWEEP "--launch slurm"), 3);
    assert_holds(p->last.error, "sbatch did not take it (it exits 1)");
    assert_code(shell(p, "cd several && PATH=/nowhere \"$THRONG\" " SWEEP "--launch slurm"), 3);
    assert_holds(p->last.error, "sbatch was not found");
    assert_true(program_has(p, "several/o/cluster/job-2.sbatch"));
    // Another sweep in the same folder.
    assert_code(there(p, "\"$THRONG\" " SWEEP "--seed 9 --launch slurm"), 3);
    assert_holds(p->last.error, "holds another sweep");
}

// ---- tasks that end early. The folder is prepared by an sbatch that refuses.

static void prepare(program *p) {
    assert_code(there(p, "REFUSE=1 \"$THRONG\" " SWEEP "--launch slurm"), 3);
}

// An invented task: its ticket, and the attempt at a run that it claims.
static void forge(program *p, const char *name, const char *ticket, int run, int attempt) {
    char path[256];
    snprintf(path, sizeof path, "%s/several/o/cluster/work/tasks/%s", p->folder, name);
    write_text(path, ticket);
    assert_code(shell(p, "cd several/o/cluster/work && mkdir -p 00000 && ln -s %s 00000/%d.%d",
                      name, run, attempt),
                0);
}

static const char elsewhere[] = "{\"host\": \"far\", \"boot\": \"other\", \"pid\": 1}";

// A beat that no process changes, from a future in which it is never old: it counts as alive, as nothing is decided
// against it before it looks old.
static void let_live(program *p, const char *name) {
    assert_code(
        shell(p,
              "cd several/o/cluster/work/tasks && echo 1 >%s.beat && touch -d '2200-01-01' %s.beat",
              name, name),
        0);
}

static void no_run_is_taken_twice(void **state) {
    program *p = *state;
    prepare(p);
    // One run is another's, so that the folder stays as it was worked in.
    forge(p, "far-1", elsewhere, 5, 1);
    let_live(p, "far-1");
    assert_code(
        there(p, "for k in 1 2 3; do \"$THRONG\" resume o --launch task --jobs 2 & done; wait"), 0);
    assert_code(
        there(p, "cd o/cluster/work/00000; ls | grep -v part >../names; "
                 "for r in 0 1 2 3 4 6 7 8 9 10 11; do echo $r.1; echo $r.done; done >../wanted; "
                 "echo 5.1 >>../wanted; sort ../names >../a; sort ../wanted >../b; cmp ../a ../b"),
        0);
    assert_code(there(p, "\"$THRONG\" status o"), 0);
    assert_holds(p->last.out, "11 of 12 runs done, 1 running, 0 given up");
    assert_holds(p->last.out, "combination 0      seed 6        far");
    // Tables from what is there, any number of times.
    assert_code(there(p, "\"$THRONG\" collect o && \"$THRONG\" collect o"), 0);
    assert_holds(p->last.out, "o/report.html: of the runs that are there");
    assert_code(there(p, "test $(wc -l <o/runs.csv) = 12 && grep -q '^0.9,5,' o/sweep.csv"), 0);
    // Its task has left: this run is made, and no other.
    assert_code(
        there(p, "ln -s 'it left' o/cluster/work/tasks/far-1.end; \"$THRONG\" resume o --quiet"),
        0);
    alone(p);
    assert_same(p);
}

// The last reason noted for the end of `name`.
static void assert_end(program *p, const char *name, const char *why) {
    assert_code(shell(p, "readlink several/o/cluster/work/tasks/%s.end", name), 0);
    assert_holds(p->last.out, why);
}

// Each in the way that shows it; far-2 lives, so that the folder stays.
static void the_dead_are_found(void **state) {
    program *p = *state;
    setenv("THRONG_BEAT", SHORT_BEAT, 1);
    prepare(p);
    forge(p, "far-1", elsewhere, 3, 1);
    forge(p, "far-2", elsewhere, 4, 1);
    let_live(p, "far-2");
    forge(p, "far-3",
          "{\"host\": \"far\", \"boot\": \"other\", \"pid\": 1, \"job\": \"slurm 5_1\", "
          "\"restart\": 0}",
          6, 1);
    let_live(p, "far-3");
    assert_code(
        shell(p,
              "printf '{\"host\": \"here\", \"pid\": %%d, \"boot\": \"%%s\", \"space\": \"%%s\"}' "
              "\"$(sh -c 'echo $$')\" \"$(cat /proc/sys/kernel/random/boot_id)\" "
              "\"$(readlink /proc/self/ns/pid)\" >several/ticket"),
        0);
    char *ticket = program_file(p, "several/ticket");
    bool can_tell = strstr(ticket, "pid:[") != NULL; // Linux
    if (can_tell) forge(p, "here-4", ticket, 7, 1);
    free(ticket);
    assert_code(there(p, "SLURM_ARRAY_JOB_ID=5 SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=1 "
                         "\"$THRONG\" resume o --launch task"),
                0);
    assert_end(p, "far-1", "its beat stood still");
    assert_end(p, "far-3", "the scheduler started it again");
    if (can_tell) assert_end(p, "here-4", "its process was gone");
    assert_false(program_has(p, "several/o/cluster/work/tasks/far-2.end"));
    assert_code(
        there(p, "cd o/cluster/work/00000 && ls 3.2 3.done 6.2 6.done 7.done 4.1; ! ls 4.2 4.done"),
        0);
}

// A task killed in the middle: finished runs are not repeated.
static void killed_and_resumed(void **state) {
    program *p = *state;
    alone(p);
    prepare(p);
    pid_t pid = program_hold(p, "taken:4",
                             "cd several && exec \"$THRONG\" resume o --launch task --jobs 1");
    assert_code(
        there(p, "\"$THRONG\" status o --json >../said; ls o/cluster/work/00000/*.done | wc -l"),
        0);
    assert_int_equal(atoi(p->last.out), 3);
    char *said = program_file(p, "said");
    json_t *status = json_of(said);
    assert_int_equal(whole(status, "done"), 3);
    assert_int_equal(whole(status, "running"), 1);
    json_decref(status);
    free(said);
    program_signal(p, pid, SIGKILL);
    assert_code(there(p,
                      "awk 'FNR == 1' o/cluster/work/00000/*.done >../before; unset THRONG_HOLD; "
                      "\"$THRONG\" resume o --quiet"),
                0);
    assert_code(
        shell(p,
              "sort before >a; sed 1d several/o/runs.csv | sort >b; test -z \"$(comm -23 a b)\""),
        0);
    assert_same(p);
}

static void pre_empted_and_requeued(void **state) {
    program *p = *state;
    alone(p);
    prepare(p);
    assert_code(throng_until(p, "resume several/o --launch task --jobs 1", "taken:2", SIGTERM),
                130);
    // A run given back does not count as a death.
    assert_code(there(p, "cd o/cluster/work/00000 && ls 0.done 1.1.back && ! ls 1.done"), 0);
    assert_code(there(p, "unset THRONG_HOLD; \"$THRONG\" resume o --launch task"), 0);
    assert_same(p);
}

// By the clock of the files the beats are old, as if the one that stands still had done so for longer.
#define LOOKS_OLD "touch -d 2001-01-01 o/cluster/work/tasks/*.beat"

// A process that stands still is taken for dead; when it goes on it finds that others have done its work.
static void stood_still(void **state) {
    program *p = *state;
    setenv("THRONG_BEAT", SHORT_BEAT, 1);
    alone(p);
    prepare(p);
    pid_t pid = program_hold(
        p, "taken:3", "cd several && exec \"$THRONG\" resume o --launch task --jobs 1 --quiet");
    assert_code(there(p, LOOKS_OLD), 0);
    assert_code(there(p, "unset THRONG_HOLD; \"$THRONG\" resume o --launch task"), 0);
    assert_same(p);
    assert_code(program_signal(p, pid, SIGCONT), 0);
    assert_same(p);
}

// The same, but the folder is still worked in: it joins again under another name.
static void stood_still_and_joined_again(void **state) {
    program *p = *state;
    setenv("THRONG_BEAT", SHORT_BEAT, 1);
    prepare(p);
    forge(p, "far-2", elsewhere, 11, 1);
    let_live(p, "far-2");
    pid_t pid = program_hold(
        p, "taken:3", "cd several && exec \"$THRONG\" resume o --launch task --jobs 1 --quiet");
    assert_code(there(p, LOOKS_OLD), 0);
    let_live(p, "far-2");
    assert_code(there(p, "unset THRONG_HOLD; \"$THRONG\" resume o --launch task"), 0);
    assert_code(there(p, "ls o/cluster/work/00000/2.2 o/cluster/work/00000/2.done"), 0);
    assert_code(program_signal(p, pid, SIGCONT), 0);
    assert_code(there(p, "ls o/cluster/work/00000/*.done | wc -l"), 0);
    assert_int_equal(atoi(p->last.out), 11);
}

// A run that ten tasks died of, and one that cannot be made: both are told with their logs, the rest is there.
static void given_up_after_ten(void **state) {
    program *p = *state;
    prepare(p);
    for (int k = 1; k <= 10; ++k) {
        char name[16];
        snprintf(name, sizeof name, "far-%d", k);
        forge(p, name, "{\"host\": \"far\", \"log\": \"/logs/77_4.log\"}", 4, k);
        assert_code(shell(p, "ln -s 'it died' several/o/cluster/work/tasks/%s.end", name), 0);
    }
    assert_code(there(p, "\"$THRONG\" resume o --launch task"), 3);
    assert_holds(p->last.error, "combination 0, seed 5: given up after 10 tasks that had it ended: "
                                "it died; see /logs/77_4.log");
    assert_code(there(p, "test $(wc -l <o/runs.csv) = 12 && grep -q '^0.9,5,' o/sweep.csv"), 0);
    char *text = program_file(p, "several/o/sweep.json");
    json_t *about = json_of(text);
    const json_t *failed = json_object_get(about, "failed_runs");
    assert_int_equal(json_array_size(failed), 1);
    assert_int_equal(whole(json_array_get(failed, 0), "seed"), 5);
    json_decref(about);
    free(text);
    // Another try makes it.
    assert_code(there(p, "\"$THRONG\" resume o --launch slurm"), 0);
    alone(p);
    assert_same(p);
}

static void a_run_that_cannot_be_made(void **state) {
    program *p = *state;
    const outcome *result = there(
        p,
        "\"$THRONG\" sweep scene.json --quiet --vary groups.0.count=5,100000 --runs 1 --max-time 1 "
        "--out o --launch slurm");
    assert_code(result, 0);
    assert_code(
        there(p, "grep -h '^combination 1, seed 1: given up after 10' o/cluster/logs/*.log"), 0);
    assert_code(there(p, "grep -q '^5,1,' o/sweep.csv"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(an_array_leaves_the_folder_of_one_process),
        TEST(points_of_a_sample_too),
        TEST(runs_of_one_scene_too),
        TEST(processes_of_mpi),
        TEST(refusals),
        TEST(no_run_is_taken_twice),
        TEST(the_dead_are_found),
        TEST(killed_and_resumed),
        TEST(pre_empted_and_requeued),
        TEST(stood_still),
        TEST(stood_still_and_joined_again),
        TEST(given_up_after_ten),
        TEST(a_run_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
