// Runs the built program as a user would, in a folder of the test's own: output, exit code, files.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_PROGRAM_H
#define TH_TESTS_PROGRAM_H
#include "support.h"
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { PROGRAM_TEXT_MAX = 1 << 22 };

typedef struct outcome {
    int code;
    char *out, *error; // what it wrote on stdout and stderr
} outcome;

typedef struct program {
    char folder[64]; // fresh; commands run in it
    outcome last;
} program;

// NULL when there is no such file; to be freed.
static inline char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = malloc(PROGRAM_TEXT_MAX);
    assert_non_null(text);
    size_t length = fread(text, 1, PROGRAM_TEXT_MAX - 1, file);
    assert_true(length < PROGRAM_TEXT_MAX - 1);
    text[length] = '\0';
    fclose(file);
    return text;
}

static inline void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

// A scene of tests/data/scene/program.
static inline void copy_scene(const char *name, const char *to) {
    char *text, from[512];
    snprintf(from, sizeof from, "%s/tests/data/scene/program/%s", TH_SOURCE_DIR, name);
    text = read_text(from);
    assert_non_null(text);
    write_text(to, text);
    free(text);
}

static inline void program_begin(program *p) {
    *p = (program){.folder = "/tmp/throng_test_XXXXXX"};
    assert_non_null(mkdtemp(p->folder));
    // Threads on fewer cores must not spin while they wait for each other.
    setenv("OMP_WAIT_POLICY", "passive", 1);
}

static inline void program_forget(program *p) {
    free(p->last.out);
    free(p->last.error);
    p->last = (outcome){0};
}

static inline int program_end(program *p) {
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w '%s'; rm -r '%s'", p->folder, p->folder);
    program_forget(p);
    return system(command);
}

// A file of the folder; the text is the caller's to free.
static inline char *program_file(const program *p, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    return read_text(path);
}

static inline bool program_has(const program *p, const char *name) {
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    return stat(path, &status) == 0;
}

// A shell command in the folder, with $THRONG the program; the outcome lives until the next.
static inline const outcome *shell(program *p, const char *format, ...) {
    char words[2048], command[3072];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    setenv("THRONG", TH_PROGRAM, 1);
    snprintf(command, sizeof command, "cd '%s' && ( %s\n) >.out 2>.error </dev/null", p->folder,
             words);
    program_forget(p);
    int status = system(command);
    assert_true(WIFEXITED(status));
    p->last.code = WEXITSTATUS(status);
    p->last.out = program_file(p, ".out");
    p->last.error = program_file(p, ".error");
    return &p->last;
}

// The program with these arguments, as a shell reads them.
#define throng(p, ...) shell((p), "\"$THRONG\" " __VA_ARGS__)

// ---- the program held at a known point (th_reached in cli/terminal.h): nothing here depends on how fast it gets there

// Starts a shell command that becomes the program ("exec \"$THRONG\" run ..."), which stops at `point`, "step:150".
// Returns its process once it stands there. It dies with the test.
static inline pid_t program_hold(program *p, const char *point, const char *command) {
    setenv("THRONG", TH_PROGRAM, 1);
    program_forget(p);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        bool good = chdir(p->folder) == 0 && dup2(open("/dev/null", O_RDONLY), 0) == 0 &&
                    dup2(creat(".out", 0600), 1) == 1 && dup2(creat(".error", 0600), 2) == 2;
        if (good && setenv("THRONG_HOLD", point, 1) == 0)
            execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    if (!WIFSTOPPED(status)) print_error("ended before %s: %s\n", point, command);
    assert_true(WIFSTOPPED(status));
    return pid;
}

// Sends a signal to a program that is held and lets it go on; its outcome, with a shell's code for a signal.
static inline const outcome *program_signal(program *p, pid_t pid, int signal) {
    int status = 0;
    assert_int_equal(kill(pid, signal), 0);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    program_forget(p);
    p->last.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    p->last.out = program_file(p, ".out");
    p->last.error = program_file(p, ".error");
    return &p->last;
}

// The program with these arguments, signalled at the point. Any thread may handle the signal: the program goes on when
// that is done.
static inline const outcome *throng_until(program *p, const char *arguments, const char *point,
                                          int signal) {
    char command[2048], hold[64];
    snprintf(command, sizeof command, "exec \"$THRONG\" %s", arguments);
    snprintf(hold, sizeof hold, "%s%s", point, signal == SIGKILL ? "" : ":interrupt");
    return program_signal(p, program_hold(p, hold, command), signal);
}

static inline void assert_code(const outcome *result, int code) {
    if (result->code != code) print_error("%s%s", result->out, result->error);
    assert_int_equal(result->code, code);
}

static inline void assert_holds(const char *text, const char *part) {
    assert_non_null(text);
    if (!strstr(text, part)) print_error("\"%s\" is not in:\n%s\n", part, text);
    assert_non_null(strstr(text, part));
}

static inline json_t *json_of(const char *text) {
    json_error_t error;
    assert_non_null(text);
    // json_loads refuses anything after the object, so this also proves that nothing else is there.
    json_t *object = json_loads(text, 0, &error);
    if (!object) print_error("%s in:\n%s\n", error.text, text);
    assert_non_null(object);
    assert_true(json_is_object(object));
    return object;
}

static inline json_int_t whole(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) print_error("no whole number \"%s\"\n", key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static inline double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) print_error("no number \"%s\"\n", key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

// The 16 digits behind "state hash" of a printed summary.
static inline void hash_of(const char *summary, char hash[17]) {
    const char *at = summary ? strstr(summary, "state hash") : NULL;
    assert_non_null(at);
    assert_int_equal(sscanf(at, "state hash %16s", hash), 1);
}
#endif
