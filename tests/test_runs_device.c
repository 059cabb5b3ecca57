// Runs on a device side by side, in a batch: what they leave is what runs one after the other leave, to the byte.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "throng/run.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ROOM[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 12, 8]}}],
    "exits": [{"id": "out", "line": [[12, 3], [12, 5]]}],
    "groups": [{"count": 40, "area": {"rect": [1, 1, 10, 7]}, "to": "out", "plan": "quickest"}],
    "measure": {"areas": [{"id": "before", "area": {"rect": [9, 2, 12, 6]}}]},
    "run": {"step": 0.1, "max_time": 120}});

// Without a column of a table; 0: all of it.
static void put_line(const char *line, int without, FILE *to) {
    for (int column = 1; *line; ++line) {
        column += *line == ',';
        if (column != without) fputc(*line, to);
    }
}

// The column of a table's heading that tells how long a run took; 0: it has none.
static int column_of_seconds(const char *heading) {
    const char *found = strstr(heading, ",wall_s");
    int column = found ? 2 : 0;
    for (const char *c = heading; found && c < found; ++c) column += *c == ',';
    return column;
}

static char *file_of(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s is missing", path);
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    char line[1 << 16];
    int without = -1;
    while (fgets(line, sizeof line, file)) {
        if (without < 0) without = column_of_seconds(line);
        if (!strstr(line, "<dt>Written")) put_line(line, without, copy); // the minute
    }
    fclose(file);
    fclose(copy);
    return text;
}

static void assert_same_file(const char *one, const char *other, const char *name) {
    char *a = file_of(one, name), *b = file_of(other, name);
    if (strcmp(a, b) != 0) fail_msg("%s differs", name);
    free(a);
    free(b);
}

enum { SKIPPED = 77 };

static int make(const char *scene, const char *out, bool sweep, int jobs) {
    static const char *const vary[] = {"groups.0.count=20,40"};
    th_error error;
    th_runs *runs = NULL;
    th_runs_def def = th_runs_def_default();
    def.scene = scene;
    def.out = out;
    def.runs = 5;
    def.jobs = jobs;
    def.threads = 1;
    def.backend = TH_BACKEND_CUDA;
    def.sweep = sweep;
    def.vary = vary;
    def.vary_count = sweep ? 1 : 0;
    th_result result = th_runs_create(&def, &runs, &error);
    if (result == TH_OK) result = th_runs_execute(runs, &error);
    if (result != TH_OK) print_message("  %s\n", error.message);
    th_runs_destroy(runs);
    return result == TH_NO_DEVICE && !device_is_required() ? SKIPPED : result != TH_OK;
}

// In a process of its own: figures have numbers that a process counts up.
static void made(const char *scene, const char *out, bool sweep, int jobs) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) exit(make(scene, out, sweep, jobs));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void compare(bool sweep, const char *const *files) {
    char folder[] = "/tmp/throng-runs-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    char scene[64], one[64], other[64];
    snprintf(scene, sizeof scene, "%s/room.json", folder);
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(other, sizeof other, "%s/two", folder);
    FILE *file = fopen(scene, "w");
    assert_non_null(file);
    fputs(ROOM, file);
    fclose(file);
    made(scene, one, sweep, 1);
    made(scene, other, sweep, 4);
    for (int k = 0; files[k]; ++k) assert_same_file(one, other, files[k]);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void runs_of_a_batch_leave_the_folder_of_runs_in_turn(void **state) {
    (void)state;
    compare(false, (const char *const[]){"evacuation.csv", "counters.csv", "areas.csv",
                                         "people.csv", "runs.csv", "report.html", NULL});
}

static void a_sweep_too(void **state) {
    (void)state;
    compare(true, (const char *const[]){"sweep.csv", "runs.csv", "report.html", NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_a_batch_leave_the_folder_of_runs_in_turn),
        cmocka_unit_test(a_sweep_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
