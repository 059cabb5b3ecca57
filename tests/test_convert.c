// The commands about trajectory files as a user meets them: throng convert and throng info.
// SPDX-License-Identifier: Apache-2.0
#include "throng/record.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { TEXT_MAX = 1 << 16 };

typedef struct fixture {
    char folder[64];
    char sample[96]; // text, two people, three frames, the second empty
    char out[TEXT_MAX], error[TEXT_MAX];
} fixture;

static const char sample_text[] = "# framerate: 10\n"
                                  "# id frame x/cm y/cm z/cm\n"
                                  "1 4 100 250 170\n"
                                  "2 4 110 -50 180\n"
                                  "1 6 105 250 170\n";

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void read_text(const char *folder, const char *name, char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->folder, "/tmp/throng-convert-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->sample, sizeof f->sample, "%s/sample.txt", f->folder);
    write_text(f->sample, sample_text);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    int status = system(command);
    free(f);
    return status;
}

// In the folder, so that paths in arguments are short. Returns the exit code.
static int run(fixture *f, const char *arguments) {
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s >out 2>error </dev/null", f->folder,
             TH_PROGRAM, arguments);
    int status = system(command);
    assert_true(WIFEXITED(status));
    read_text(f->folder, "out", f->out);
    read_text(f->folder, "error", f->error);
    return WEXITSTATUS(status);
}

static void check_run(fixture *f, const char *arguments, int code, const char *out,
                      const char *error) {
    int found = run(f, arguments);
    if (found != code || !strstr(f->out, out) || !strstr(f->error, error))
        print_error("throng %s: %d\n%s%s", arguments, found, f->out, f->error);
    assert_int_equal(found, code);
    assert_non_null(strstr(f->out, out));
    assert_non_null(strstr(f->error, error));
}

static json_t *describe(fixture *f, const char *name) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "info %s --json", name);
    check_run(f, arguments, 0, "{", "");
    json_t *object = json_loads(f->out, 0, NULL);
    assert_non_null(object);
    return object;
}

// The name decides the format; every file tells the same about its content.
static void formats(void **state) {
    fixture *f = *state;
    static const struct {
        const char *arguments, *name, *format;
    } cases[] = {
        {"convert sample.txt a.sqlite", "a.sqlite", "sqlite"},
        {"convert sample.txt a.db", "a.db", "sqlite"},
        {"convert sample.txt a.h5", "a.h5", "hdf5"},
        {"convert sample.txt a.HDF5", "a.HDF5", "hdf5"},
        {"convert sample.txt a.txt", "a.txt", "text"},
        {"convert a.sqlite b.sqlite --format compact", "b.sqlite", "compact"},
        {"convert b.sqlite b.txt", "b.txt", "text"},
        {"convert a.h5 plain --format=text", "plain", "text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        check_run(f, cases[i].arguments, 0, "2 frames of 2 people, 3 rows", "");
        json_t *about = describe(f, cases[i].name);
        assert_string_equal(json_string_value(json_object_get(about, "format")), cases[i].format);
        assert_int_equal(json_integer_value(json_object_get(about, "rows")), 3);
        assert_int_equal(json_integer_value(json_object_get(about, "people")), 2);
        assert_int_equal(json_integer_value(json_object_get(about, "first_frame")), 4);
        assert_true(fabs(json_real_value(json_object_get(about, "end_time")) - 0.6) < 1e-9);
        json_t *bounds = json_object_get(about, "bounds");
        const double expected[] = {1, -0.5, 1.1, 2.5};
        for (size_t k = 0; k < 4; ++k)
            assert_true(fabs(json_number_value(json_array_get(bounds, k)) - expected[k]) < 1e-9);
        assert_true(json_is_false(json_object_get(about, "cut_off")));
        json_decref(about);
    }
}

// A file from elsewhere must not control the terminal that shows it.
static void control_characters(void **state) {
    fixture *f = *state;
    check_run(f, "convert sample.txt a.sqlite", 0, "", "");
    char path[256];
    snprintf(path, sizeof path, "%s/a.sqlite", f->folder);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    static const char insert[] = "INSERT INTO metadata VALUES ('k\x1b[2J', 'v\x1b]0;t\x07\x7f'), "
                                 "('a\nb', '\xc2\x9b 31m gro\xc3\x9f')";
    assert_int_equal(sqlite3_exec(db, insert, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    check_run(f, "info a.sqlite", 0, "k\\x1b[2J", "");
    assert_non_null(strstr(f->out, "v\\x1b]0;t\\x07\\x7f"));
    assert_non_null(strstr(f->out, "a\\x0ab"));
    assert_non_null(strstr(f->out, "\\xc2\\x9b 31m gro\xc3\x9f"));
    for (const char *at = f->out; *at; ++at) assert_true((unsigned char)*at >= ' ' || *at == '\n');
    // Errors escape control characters of the scene's text too.
    write_text(f->sample, "{\"le\\u001b[2Jvels\": []}");
    check_run(f, "check sample.txt", 2, "", "le\\x1b[2Jvels");
}

static void wrong_use(void **state) {
    fixture *f = *state;
    check_run(f, "convert sample.txt", 1, "", "usage");
    check_run(f, "convert sample.txt out.xyz", 1, "", "which format");
    check_run(f, "convert sample.txt out --format sqlit", 1, "", "did you mean sqlite");
    check_run(f, "convert sample.txt out.txt --unit mm", 1, "", "m or cm");
    check_run(f, "convert nothing.txt out.txt", 2, "", "nothing.txt: cannot be opened");
    check_run(f, "convert sample.txt no/folder/out.txt", 3, "",
              "no/folder/out.txt: cannot be made");
    check_run(f, "info nothing", 2, "", "No such file");
    check_run(f, "info .", 2, "", "folder");
    write_text(f->sample, "# framerate: 10\n1 0 2 3\n1 1 two 3\n");
    check_run(f, "info sample.txt", 2, "", "sample.txt:3:5: 'two' is no x coordinate");
    write_text(f->sample, "{\"levels\": []}\n");
    check_run(f, "info sample.txt", 2, "", "sample.txt:1:1: not a trajectory");
    write_text(f->sample, "1 0 200 300\n");
    check_run(f, "info sample.txt", 2, "", "--fps");
    check_run(f, "info sample.txt --fps 16 --unit cm", 0, "x 2.000 to 2.000 m", "");
    check_run(f, "info sample.txt --fps 16", 0, "taken for metres", "");
}

static void force(void **state) {
    fixture *f = *state;
    char there[128], text[TEXT_MAX];
    snprintf(there, sizeof there, "%s/there.txt", f->folder);
    write_text(there, "precious");
    check_run(f, "convert sample.txt there.txt", 3, "", "--force");
    read_text(f->folder, "there.txt", text);
    assert_string_equal(text, "precious");
    // A conversion that fails keeps it as well.
    check_run(f, "convert there.txt there.txt --force", 2, "", "there.txt:1:1");
    read_text(f->folder, "there.txt", text);
    assert_string_equal(text, "precious");
    check_run(f, "convert sample.txt there.txt --force --quiet", 0, "", "");
    assert_string_equal(f->out, "");
    check_run(f, "info there.txt", 0, "2 in 3 rows", "");
    check_run(f, "convert there.txt there.txt --force", 0, "3 rows", ""); // onto itself
    check_run(f, "info there.txt", 0, "2 in 3 rows", "");
}

static void geometry_and_notes(void **state) {
    fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/two.sqlite", f->folder);
    const th_trajectory_level levels[] = {
        {"ground", 0, "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))"},
        {"upper", 4, "MULTIPOLYGON (((0 0, 2 0, 2 2, 0 2, 0 0)), ((5 5, 6 5, 6 6, 5 6, 5 5)))"}};
    const th_trajectory_note note = {"throng_seed", "12"};
    th_trajectory_info info = {.format = TH_TRAJECTORY_SQLITE,
                               .fps = 5,
                               .levels = levels,
                               .level_count = 2,
                               .notes = &note,
                               .note_count = 1};
    th_trajectory_writer *writer = NULL;
    assert_int_equal(th_trajectory_writer_create(path, &info, &writer, NULL), TH_OK);
    int64_t id = 1;
    double place = 0.5, one = 1, nothing = 0;
    int32_t level = 1;
    th_moment frame = {.count = 1,
                       .id = &id,
                       .x = &place,
                       .y = &place,
                       .orientation_x = &one,
                       .orientation_y = &nothing,
                       .level = &level};
    assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    assert_int_equal(th_trajectory_writer_close(writer, NULL), TH_OK);
    check_run(f, "info two.sqlite", 0, "ground, z 0 m, 99.0 m2 walkable", "");
    assert_non_null(strstr(f->out, "upper, z 4 m, 5.0 m2 walkable"));
    assert_non_null(strstr(f->out, "throng_seed  12"));
    check_run(f, "convert two.sqlite two.txt", 0,
              "not stored by the text format: geometry orientation notes", "");
    check_run(f, "convert two.sqlite two.h5", 0, "1 rows", "");
    assert_null(strstr(f->out, "left behind"));
    json_t *about = describe(f, "two.h5");
    json_t *upper = json_array_get(json_object_get(about, "levels"), 1);
    assert_string_equal(json_string_value(json_object_get(upper, "wkt")), levels[1].wkt);
    assert_true(fabs(json_number_value(json_object_get(upper, "area")) - 5) < 1e-9);
    json_t *notes = json_object_get(about, "notes");
    assert_string_equal(json_string_value(json_object_get(notes, "throng_seed")), "12");
    json_decref(about);
}

// A writer that dies without a word leaves a log beside the database.
static void killed_writer(void **state) {
    fixture *f = *state;
    char path[128], log[160];
    snprintf(path, sizeof path, "%s/killed.sqlite", f->folder);
    snprintf(log, sizeof log, "%s-wal", path);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        th_trajectory_info info = {.format = TH_TRAJECTORY_COMPACT, .fps = 5};
        th_trajectory_writer *writer = NULL;
        int64_t id = 1;
        double place = 0.5;
        th_moment frame = {.count = 1, .id = &id, .x = &place, .y = &place};
        bool good = th_trajectory_writer_create(path, &info, &writer, NULL) == TH_OK;
        for (; good && frame.number < 500; ++frame.number)
            good = th_trajectory_write(writer, &frame, NULL) == TH_OK;
        raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    struct stat about;
    assert_int_equal(stat(log, &about), 0);
    check_run(f, "info killed.sqlite", 0, "cut off", "");
}

// Ctrl-C in the middle: exit code as shells know it, and nothing left. The program is held when it has copied the
// first of two frames (th_reached in cli/terminal.h).
static void interrupt(void **state) {
    fixture *f = *state;
    char part[160];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(f->folder) != 0 || setenv("THRONG_HOLD", "frame:1", 1) != 0) _exit(99);
        int sink = open("/dev/null", O_RDWR);
        dup2(sink, 1);
        dup2(sink, 2);
        execl(TH_PROGRAM, "throng", "convert", "sample.txt", "long.sqlite", (char *)NULL);
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    snprintf(part, sizeof part, "%s/long.sqlite.part-%ld", f->folder, (long)child);
    assert_int_equal(access(part, F_OK), 0);
    kill(child, SIGINT);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    check_run(f, "list fields", 0, "", ""); // makes out and error, so that the count is known
    char listing[128], line[32];
    snprintf(listing, sizeof listing, "ls -A '%s' | wc -l", f->folder);
    FILE *pipe = popen(listing, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    assert_int_equal(atoi(line), 3); // sample, out, error
}

// Nothing of a conversion is kept, and the message does not say otherwise. A limit on the size of files stands for the full
// disk.
static void full_disk(void **state) {
    fixture *f = *state;
    static const th_trajectory_format formats[] = {TH_TRAJECTORY_SQLITE, TH_TRAJECTORY_COMPACT,
                                                   TH_TRAJECTORY_TEXT, TH_TRAJECTORY_HDF5};
    char to[128], big[128];
    snprintf(to, sizeof to, "%s/to.file", f->folder);
    snprintf(big, sizeof big, "%s/big.txt", f->folder);
    FILE *file = fopen(big, "w");
    assert_non_null(file);
    fputs("# framerate: 10\n# id frame x/m y/m z/m\n", file);
    for (int k = 0; k < 60000; ++k)
        fprintf(file, "%d %d %d.%d 1 0\n", k % 50 + 1, k / 50, k % 50, 1000 + 7919 * k % 9000);
    fclose(file);
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 50000;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k) {
        th_error error = {0};
        th_trajectory *trajectory = NULL;
        assert_int_equal(th_trajectory_open(big, &trajectory, &error), TH_OK);
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        th_result copied =
            th_trajectory_copy(trajectory, to, formats[k], false, NULL, NULL, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, handler);
        th_trajectory_close(trajectory);
        assert_int_not_equal(copied, TH_OK);
        assert_int_equal(access(to, F_OK), -1);
        assert_null(strstr(error.message, "kept"));
        assert_non_null(strstr(error.message, "nothing is left of it"));
        assert_string_equal(error.file, to);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(control_characters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(force, set_up, tear_down),
        cmocka_unit_test_setup_teardown(geometry_and_notes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interrupt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
