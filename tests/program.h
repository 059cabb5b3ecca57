// Running the built program as a user would: its output, its exit code, its files, in a folder of the
// test's own. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_PROGRAM_H
#define TH_TESTS_PROGRAM_H
#include "support.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
    snprintf(command, sizeof command, "cd %s && ( %s\n) >.out 2>.error </dev/null", p->folder,
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

// The program in the background, ended by a signal as soon as a shell condition holds (or it ended by
// itself). The condition is polled without pause, and the program runs at low priority: runs of tests take a fraction of a
// second, and on a busy machine the signal must not come too late.
static inline const outcome *throng_until(program *p, const char *arguments, const char *condition,
                                          const char *signal) {
    shell(p,
          "rm -f .pid .code\n"
          "{ sh -c 'echo $$ >.pid; exec nice -n 19 \"$THRONG\" %s'; echo $? >.code; } &\n"
          "until test -e .code || { %s; } 2>/dev/null; do sleep 0.01; done\n"
          "kill -%s $(cat .pid) 2>/dev/null; wait; exit $(cat .code)",
          arguments, condition, signal);
    return &p->last;
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
