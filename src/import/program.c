// Other people's programs that read what throng does not: started without a shell, watched, their output kept. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "import/drawing.h"
#ifdef _WIN32 // none is started there
th_result th_program_run(const char *const *words, th_program_end *end, th_error *error) {
    (void)words;
    (void)error;
    *end = (th_program_end){.code = 127, .missing = true};
    return TH_OK;
}
#else
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_MOST = 256 << 20, SECONDS_MOST = 600, NOT_FOUND = 127 };

// A group of its own, with default signals and nothing to read.
static int spawn(const char *const *words, FILE *out, FILE *complaint, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, fileno(out), 1);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, fileno(complaint), 2);
    if (!failed)
        failed =
            posix_spawnp(child, words[0], &files, &attributes, (char **)(uintptr_t)words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

// Its exit code; -1: it ran too long, wrote too much or was killed.
static int wait_for(pid_t child, FILE *out) {
    struct timespec start, now, pause = {0, 5000000};
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int status = 0;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (ended < 0 && errno != EINTR) return -1;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > SECONDS_MOST ||
            lseek(fileno(out), 0, SEEK_END) > OUTPUT_MOST) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nanosleep(&pause, NULL);
    }
}

static char *content_of(FILE *file, size_t most, size_t *length) {
    off_t size = lseek(fileno(file), 0, SEEK_END);
    if (size < 0 || (size_t)size > most) size = (off_t)most;
    char *text = malloc((size_t)size + 1);
    rewind(file);
    *length = text ? fread(text, 1, (size_t)size, file) : 0;
    if (text) text[*length] = '\0';
    return text;
}

th_result th_program_run(const char *const *words, th_program_end *end, th_error *error) {
    *end = (th_program_end){.code = NOT_FOUND};
    FILE *out = tmpfile(), *complaint = tmpfile();
    pid_t child = 0;
    th_result result = TH_OK;
    int failed = out && complaint ? spawn(words, out, complaint, &child) : errno;
    if (failed == ENOENT) {
        end->missing = true;
    } else if (failed) {
        result = th_fail(error, TH_NO_FILE, "", "the program %s does not start: %s", words[0],
                         strerror(failed));
    } else {
        size_t length;
        end->code = wait_for(child, out);
        end->out = content_of(out, OUTPUT_MOST, &end->length);
        char *said = content_of(complaint, sizeof end->said - 1, &length);
        if (said) snprintf(end->said, sizeof end->said, "%.*s", (int)strcspn(said, "\n"), said);
        free(said);
        if (!end->out) result = th_fail(error, TH_NO_MEMORY, "", "no memory for its output");
    }
    if (out) fclose(out);
    if (complaint) fclose(complaint);
    return result;
}
#endif
