// throng/run.h as another program uses it: runs, results, errors, interruption, sweeps; and the same as `throng run`
// gives. SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "throng/run.h"
#include <math.h>
#include <signal.h>

typedef struct fixture {
    program p;
    char scene[128], out[128];
    th_runs_def def;
    // The calls that the watcher saw, and when it ends the runs.
    int seen[TH_RUNS_MOMENT_COUNT];
    th_runs_moment stop_at;
    int stop_after; // so many of that moment; 0: never
    char notes[4096];
    double last_time;
} fixture;

static bool watch(const th_runs_progress *now, void *context) {
    fixture *f = context;
    if (f->seen[TH_RUNS_BEGUN] == 0) assert_true(now->moment <= TH_RUNS_BEGUN);
    f->seen[now->moment]++;
    f->last_time = now->time;
    assert_non_null(now->text);
    if (now->moment == TH_RUNS_NOTE)
        strncat(f->notes, now->text, sizeof f->notes - strlen(f->notes) - 1);
    return f->stop_after == 0 || now->moment != f->stop_at || f->seen[now->moment] < f->stop_after;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    program_begin(&f->p);
    snprintf(f->scene, sizeof f->scene, "%s/hall.json", f->p.folder);
    snprintf(f->out, sizeof f->out, "%s/out", f->p.folder);
    copy_scene("small_hall.json", f->scene);
    f->def = th_runs_def_default();
    f->def.scene = f->scene;
    f->def.out = f->out;
    f->def.no_report = true;
    f->def.watch = watch;
    f->def.context = f;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    int status = program_end(&f->p);
    free(f);
    return status;
}

static th_runs *create(const fixture *f) {
    th_runs *runs = NULL;
    th_error error = {0};
    th_result result = th_runs_create(&f->def, &runs, &error);
    if (result != TH_OK) print_error("%s: %s\n", error.path, error.message);
    assert_int_equal(result, TH_OK);
    assert_non_null(runs);
    return runs;
}

static th_runs *open_again(fixture *f) {
    th_runs *runs = NULL;
    th_error error = {0};
    memset(f->seen, 0, sizeof f->seen);
    f->stop_after = 0;
    th_result result = th_runs_open(f->out, &f->def, &runs, &error);
    if (result != TH_OK) print_error("%s: %s\n", error.file, error.message);
    assert_int_equal(result, TH_OK);
    return runs;
}

static void execute(th_runs *runs, th_runs_state state) {
    th_error error = {0};
    th_result result = th_runs_execute(runs, &error);
    if (result != TH_OK) print_error("%s: %s\n", error.file, error.message);
    assert_int_equal(result, TH_OK);
    assert_int_equal(th_runs_about(runs)->state, state);
}

static uint64_t hash_of_only(const th_runs *runs) {
    int count = 0;
    const th_run_outcome *outcomes = th_runs_outcomes(runs, &count);
    assert_int_equal(count, 1);
    return outcomes[0].hash;
}

// ---- results

static void test_one_run_as_the_program(void **state) {
    fixture *f = *state;
    int count = 0, points = 0;
    const char *const sets[] = {"groups.all.count=25"};
    f->def.sets = sets;
    f->def.set_count = 1;
    f->def.seed = 4;
    th_runs *runs = create(f);
    assert_false(program_has(&f->p, "out")); // nothing is written before it is executed
    assert_int_equal(th_runs_about(runs)->state, TH_RUNS_STATE_PREPARED);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_int_equal(f->seen[TH_RUNS_BEGUN], 1);
    assert_true(f->seen[TH_RUNS_STEPPED] > 50);
    assert_int_equal(f->seen[TH_RUNS_POINT_DONE], 1);
    assert_int_equal(f->seen[TH_RUNS_WRITING], 1);

    const th_run_outcome run = th_runs_outcomes(runs, &count)[0];
    assert_int_equal(count, 1);
    assert_int_equal(run.seed, 4);
    assert_int_equal(run.spawned, 25);
    assert_int_equal(run.left, 25);
    assert_true(run.egress_time > 5 && run.egress_time < 60);
    assert_true(run.flow > 0.1 && run.max_density > 0.5);
    const th_runs_point *point = th_runs_points(runs, &points);
    assert_int_equal(points, 1);
    assert_true(point->egress.count == 1 && point->egress.mean == run.egress_time);
    assert_string_equal(th_runs_about(runs)->folder, f->out);

    // Text and JSON are the program's, but for the wall clock.
    char hash[17], *text = th_runs_text(runs, 0), *json = th_runs_json(runs);
    hash_of(text, hash);
    assert_holds(text, "hall (");
    assert_null(th_runs_text(runs, 1));
    json_t *object = json_of(json);
    assert_code(throng(&f->p, "run hall.json --quiet --seed 4 --set groups.all.count=25 --json "
                              "--out own --no-report"),
                0);
    json_t *own = json_of(f->p.last.out);
    assert_true(json_equal(json_object_get(object, "runs"), json_object_get(own, "runs")));
    assert_holds(f->p.last.out, hash);
    assert_code(shell(&f->p, "cmp out/people.csv own/people.csv && cmp out/evacuation.csv "
                             "own/evacuation.csv && cmp out/scene.json own/scene.json"),
                0);
    json_decref(object);
    json_decref(own);
    th_free(text);
    th_free(json);
    th_runs_destroy(runs);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_many_runs_as_the_program(void **state) {
    fixture *f = *state;
    int count = 0, points = 0;
    f->def.runs = 5;
    f->def.jobs = 2;
    th_runs *runs = create(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_int_equal(f->seen[TH_RUNS_RUN_DONE], 5);
    assert_int_equal(f->seen[TH_RUNS_STEPPED], 0);
    const th_run_outcome *outcomes = th_runs_outcomes(runs, &count);
    assert_int_equal(count, 5);
    assert_code(throng(&f->p, "run hall.json --quiet --runs 5 --out own --no-report"), 0);
    double times[5];
    for (int i = 0; i < 5; ++i) {
        char line[64];
        assert_int_equal(outcomes[i].seed, i + 1);
        snprintf(line, sizeof line, "hash %016llx", (unsigned long long)outcomes[i].hash);
        assert_holds(f->p.last.out, line);
        times[i] = outcomes[i].egress_time;
    }
    qsort(times, 5, sizeof times[0], ascending);
    const th_egress *egress = &th_runs_points(runs, &points)->egress;
    assert_true(egress->median == times[2] && egress->min == times[0] && egress->max == times[4]);
    assert_true(egress->ci_low < egress->mean && egress->mean < egress->ci_high);
    char *text = th_runs_text(runs, 0);
    assert_holds(f->p.last.out, text);
    th_free(text);
    th_runs_destroy(runs);
}

static void test_nothing_is_kept(void **state) {
    fixture *f = *state;
    int warnings = 0;
    f->def.out = "none";
    f->def.max_time = 2;
    f->def.watch = NULL;
    th_runs *runs = create(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_string_equal(th_runs_about(runs)->folder, "");
    assert_false(program_has(&f->p, "out"));
    const th_finding *list = th_findings_list(th_runs_findings(runs), &warnings);
    assert_true(warnings > 0); // no agent is out after 2 s
    assert_holds(list[0].text, "30 people");
    th_runs_destroy(runs);
}

// ---- errors

static void refused(const th_runs_def *def, const char *path, const char *message) {
    th_runs *runs = (th_runs *)1;
    th_error error = {0};
    assert_int_equal(th_runs_create(def, &runs, &error), TH_BAD_ARGUMENT);
    assert_null(runs);
    assert_string_equal(error.path, path);
    assert_holds(error.message, message);
    assert_int_equal(th_runs_create(def, &runs, NULL), TH_BAD_ARGUMENT);
}

static void test_bad_arguments(void **state) {
    fixture *f = *state;
    th_runs_def def = {0};
    refused(&def, "cookie", "th_runs_def_default()");
#define REFUSED(member, value, path, message) \
    def = f->def;                             \
    def.member = value;                       \
    refused(&def, path, message)
    REFUSED(scene, NULL, "scene", "no scene file");
    REFUSED(runs, -1, "runs", "is -1");
    REFUSED(jobs, 5000, "jobs", "0 to 1024");
    REFUSED(until_ci, (double)NAN, "until_ci", "is nan");
    REFUSED(step, 3, "step", "0.5");
    REFUSED(fps, -2, "fps", "is -2");
    REFUSED(record, "sqlit", "record", "did you mean sqlite?");
    REFUSED(record, "hdf5", "record", "convert");
    f->def.checkpoint = 5;
    REFUSED(runs, 3, "checkpoint", "is for one run");
    REFUSED(sweep, true, "checkpoint", "a sweep");
    REFUSED(out, "none", "out", "none keeps nothing");
    f->def.checkpoint = 0;
    f->def.sweep = true;
    f->def.vary_count = 1;
    const char *wrong[] = {"doors.gate.width=1..2"}, *far[] = {"groups.0.count=1..9:2000"};
    REFUSED(vary, wrong, "vary", "low..high:number");
    REFUSED(vary, far, "vary", "at most 1000 values");
    assert_false(program_has(&f->p, "out"));
}

static void test_bad_scenes(void **state) {
    fixture *f = *state;
    th_runs *runs = NULL;
    th_error error = {0};
    const char *slip[] = {"groups.all.cuont=3"}, *crowd[] = {"groups.all.count=5000"};
    f->def.set_count = 1;
    f->def.sets = slip;
    assert_int_equal(th_runs_create(&f->def, &runs, &error), TH_BAD_SCENE);
    assert_holds(error.message, "did you mean \"count\"?");
    f->def.sets = crowd;
    error = (th_error){0};
    assert_int_equal(th_runs_create(&f->def, &runs, &error), TH_NO_ROOM);
    assert_holds(error.message, "all");
    f->def.set_count = 0;
    f->def.scene = "nowhere.json";
    error = (th_error){0};
    assert_int_equal(th_runs_create(&f->def, &runs, &error), TH_NO_FILE);
    assert_holds(error.message, "nowhere.json");
    assert_null(runs);
    assert_false(program_has(&f->p, "out"));
    error = (th_error){0};
    assert_int_equal(th_runs_open(f->out, &f->def, &runs, &error), TH_NO_FILE);
    assert_holds(error.message, "has no run.json");
}

static void test_folder_in_use(void **state) {
    fixture *f = *state;
    th_error error = {0};
    assert_code(shell(&f->p, "mkdir out && echo precious >out/thesis.txt"), 0);
    f->def.max_time = 1;
    th_runs *runs = create(f);
    assert_int_equal(th_runs_execute(runs, &error), TH_NO_FILE);
    assert_holds(error.message, "not empty");
    assert_string_equal(error.file, f->out);
    assert_int_equal(th_runs_about(runs)->state, TH_RUNS_STATE_FAILED);
    assert_int_equal(th_runs_execute(runs, &error), TH_BAD_ARGUMENT);
    assert_holds(error.message, "already");
    th_runs_destroy(runs);
    f->def.force = true;
    runs = create(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_true(program_has(&f->p, "out/thesis.txt") && program_has(&f->p, "out/summary.json"));
    th_runs_destroy(runs);
}

// ---- interruption

static void test_interrupted_and_resumed(void **state) {
    fixture *f = *state;
    f->def.record = "text";
    f->def.out = NULL;
    char whole_folder[160];
    snprintf(whole_folder, sizeof whole_folder, "%s/whole", f->p.folder);
    f->def.out = whole_folder;
    th_runs *runs = create(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    uint64_t whole = hash_of_only(runs);
    th_runs_destroy(runs);

    memset(f->seen, 0, sizeof f->seen);
    f->def.out = f->out;
    f->def.checkpoint = 2;
    f->stop_at = TH_RUNS_STEPPED;
    f->stop_after = 77;
    runs = create(f);
    execute(runs, TH_RUNS_STATE_INTERRUPTED);
    assert_int_equal(f->seen[TH_RUNS_STEPPED], 77);
    assert_true(hash_of_only(runs) != whole);
    int count = 0;
    assert_true(th_runs_outcomes(runs, &count)[0].interrupted);
    th_runs_destroy(runs);

    runs = open_again(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_true(hash_of_only(runs) == whole);
    assert_true(f->seen[TH_RUNS_STEPPED] > 10);
    assert_string_equal(f->notes, "");
    th_runs_destroy(runs);
    assert_code(shell(&f->p, "cmp whole/people.csv out/people.csv && cmp whole/counters.csv "
                             "out/counters.csv && grep -v '^#' whole/trajectory.txt >a; grep -v "
                             "'^#' out/trajectory.txt >b; cmp a b"),
                0);
    // A finished folder opens, and there is nothing to do.
    runs = open_again(f);
    assert_int_equal(th_runs_about(runs)->state, TH_RUNS_STATE_FINISHED);
    execute(runs, TH_RUNS_STATE_FINISHED);
    assert_int_equal(f->seen[TH_RUNS_BEGUN], 0);
    th_runs_destroy(runs);
}

static th_runs *signalled;
static void on_signal(int number) {
    (void)number;
    th_runs_interrupt(signalled);
}

static bool raise_after_two(const th_runs_progress *now, void *context) {
    (void)context;
    if (now->moment == TH_RUNS_RUN_DONE && now->done == 2) raise(SIGUSR1);
    return true;
}

static void test_interrupted_by_a_signal(void **state) {
    fixture *f = *state;
    int count = 0;
    f->def.runs = 40;
    f->def.jobs = 2;
    f->def.watch = raise_after_two;
    signalled = create(f);
    signal(SIGUSR1, on_signal);
    execute(signalled, TH_RUNS_STATE_INTERRUPTED);
    signal(SIGUSR1, SIG_DFL);
    const th_run_outcome *outcomes = th_runs_outcomes(signalled, &count);
    assert_true(count >= 2 && count < 40);
    for (int i = 0; i < count; ++i) assert_false(outcomes[i].interrupted);
    assert_true(program_has(&f->p, "out/summary.json"));
    th_runs_destroy(signalled);
    // Before anything has begun: a run that ends where it starts.
    f->def.runs = 1;
    f->def.out = "none";
    th_runs *runs = create(f);
    th_runs_interrupt(runs);
    execute(runs, TH_RUNS_STATE_INTERRUPTED);
    assert_true(th_runs_outcomes(runs, &count)[0].time < 1e-9);
    th_runs_destroy(runs);
}

static void test_sweep_as_the_program(void **state) {
    fixture *f = *state;
    const char *vary[] = {"doors.gate.width=1.0,1.4,1.8", "groups.all.count=10,20"};
    f->def.sweep = true;
    f->def.vary = vary;
    f->def.vary_count = 2;
    f->def.runs = 2;
    f->stop_at = TH_RUNS_POINT_DONE;
    f->stop_after = 2;
    th_runs *runs = create(f);
    execute(runs, TH_RUNS_STATE_INTERRUPTED);
    th_runs_destroy(runs);

    runs = open_again(f);
    execute(runs, TH_RUNS_STATE_FINISHED);
    const th_runs_info *about = th_runs_about(runs);
    assert_true(about->sweep && about->found >= 4 && about->found < 12);
    assert_int_equal(about->path_count, 2);
    assert_string_equal(about->paths[1], "groups.all.count");
    int points = 0, count = 0;
    const th_runs_point *point = th_runs_points(runs, &points);
    const th_run_outcome *outcomes = th_runs_outcomes(runs, &count);
    assert_int_equal(points, 6);
    assert_int_equal(count, 12);
    assert_string_equal(point[3].values[0], "1.4");
    assert_string_equal(point[3].values[1], "20");
    assert_true(point[3].first == 6 && point[3].count == 2 && outcomes[6].point == 3);
    assert_int_equal(outcomes[6].spawned, 20);
    char *text = th_runs_text(runs, 3);
    assert_code(throng(&f->p, "sweep hall.json --quiet --vary doors.gate.width=1.0,1.4,1.8 --vary "
                              "groups.all.count=10,20 --runs 2 --out own"),
                0);
    assert_holds(f->p.last.out, text);
    assert_code(shell(&f->p, "cmp out/sweep.csv own/sweep.csv"), 0);
    th_free(text);
    th_runs_destroy(runs);
}

static th_runs_standing stand(const fixture *f) {
    th_runs_standing standing = {0};
    th_error error = {0};
    th_result result = th_runs_stand(f->out, &standing, &error);
    if (result != TH_OK) print_error("%s: %s\n", error.file, error.message);
    assert_int_equal(result, TH_OK);
    return standing;
}

// A folder made for a scheduler, looked at, executed by another process of the same definition, collected.
static void test_prepared_looked_at_and_collected(void **state) {
    fixture *f = *state;
    th_error error = {0};
    th_runs_standing standing = {0};
    int count = 0;
    assert_int_equal(th_runs_stand(f->out, &standing, &error), TH_NO_FILE);
    assert_holds(error.message, "no run.json");
    f->def.runs = 3;
    f->def.max_time = 5;
    f->def.watch = NULL; // it looks at the moments of executed runs
    th_runs *alone = create(f);
    assert_int_equal(th_runs_prepare(alone, &error), TH_BAD_ARGUMENT); // nothing to share
    assert_string_equal(error.path, "shared");
    assert_int_equal(th_runs_collect(alone, &error), TH_BAD_ARGUMENT);
    assert_holds(error.message, "opened folder");
    th_runs_destroy(alone);
    assert_false(program_has(&f->p, "out"));

    f->def.shared = true;
    th_runs *maker = create(f);
    assert_int_equal(th_runs_prepare(maker, &error), TH_OK);
    th_runs_destroy(maker);
    standing = stand(f);
    assert_true(standing.shared && !standing.sweep && !standing.finished);
    assert_int_equal(standing.runs, 3);
    assert_int_equal(standing.done + standing.taken + standing.given_up, 0);
    assert_true(isnan(standing.run_seconds) && standing.holder_count == 0);
    th_runs_standing_destroy(&standing);
    th_runs_standing_destroy(&standing); // once more is nothing

    th_runs *early = open_again(f);
    assert_int_equal(th_runs_collect(early, &error), TH_OK);
    assert_int_equal(stand(f).done, 0);
    th_runs_destroy(early);
    th_runs *worker = create(f);
    execute(worker, TH_RUNS_STATE_FINISHED);
    th_runs_outcomes(worker, &count);
    assert_int_equal(count, 3);
    th_runs_destroy(worker);
    standing = stand(f);
    assert_true(standing.finished && standing.done == 3 && standing.left == 0);
    th_runs_standing_destroy(&standing);
    th_runs *reader = open_again(f);
    assert_int_equal(th_runs_collect(reader, &error), TH_OK); // finished: nothing to do
    assert_int_equal(th_runs_about(reader)->state, TH_RUNS_STATE_FINISHED);
    th_runs_destroy(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_one_run_as_the_program),
        TEST(test_many_runs_as_the_program),
        TEST(test_nothing_is_kept),
        TEST(test_bad_arguments),
        TEST(test_bad_scenes),
        TEST(test_folder_in_use),
        TEST(test_interrupted_and_resumed),
        TEST(test_interrupted_by_a_signal),
        TEST(test_sweep_as_the_program),
        TEST(test_prepared_looked_at_and_collected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
