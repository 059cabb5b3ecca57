// HDF5 trajectories are read by a program of their own, throng-read-hdf5 (reader/read_hdf5.c), and sent through a
// pipe. What a damaged file does to the HDF5 library then happens there, within limits on memory and time, and here the
// file is called damaged. Started with posix_spawn: a fork of a program with threads could not run the library, and
// would copy a large host's page tables. SPDX-License-Identifier: Apache-2.0
#include "core/clock.h"
#include "record/hdf5.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// Far more than a sound file needs: reading takes 0.01 s per MB, and rows are at most twenty times larger than packed.
double th_hdf5_seconds_most(double file_bytes) { return 2 + file_bytes / 1e6; }
double th_hdf5_memory_most(double file_bytes) { return 1e9 + 100 * file_bytes; }
enum { BUSY = 6 }; // seconds of the clock per second of work, on a machine with much else to do

// ---- finding the program

#define READER "throng-read-hdf5"
#ifndef TH_LIBEXEC
#define TH_LIBEXEC "/usr/local/libexec/throng"
#endif

// Where the code in this file lies: a shared library or the program.
static bool own_folder(char *folder, size_t size) {
    Dl_info about = {0};
    char *whole = NULL;
    if (dladdr((const void *)&th_hdf5_backend, &about) != 0 && about.dli_fname &&
        strstr(about.dli_fname, ".so"))
        whole = realpath(about.dli_fname, NULL);
    if (!whole) whole = realpath("/proc/self/exe", NULL);
    if (!whole && about.dli_fname) whole = realpath(about.dli_fname, NULL);
    char *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash) *slash = '\0';
    bool fits = slash && strlen(whole) < size;
    if (fits) memcpy(folder, whole, strlen(whole) + 1);
    free(whole);
    return fits;
}

// Installed beside the libraries, in the build folder, or where the installation was meant to be.
static bool find_reader(char *path, size_t size) {
    static const char *const places[] = {".", "..", "../libexec/throng", "../../libexec/throng"};
    const char *given = getenv("THRONG_HDF5_READER");
    char folder[TH_PATH_MAX];
    if (given) return snprintf(path, size, "%s", given) < (int)size && access(path, X_OK) == 0;
    bool known = own_folder(folder, sizeof folder);
    for (size_t i = 0; known && i < sizeof places / sizeof places[0]; ++i)
        if (snprintf(path, size, "%s/%s/" READER, folder, places[i]) < (int)size &&
            access(path, X_OK) == 0)
            return true;
    return snprintf(path, size, "%s", TH_LIBEXEC "/" READER) < (int)size && access(path, X_OK) == 0;
}

// ---- its life

// A group of its own: Ctrl-C is for who waits for it. Default signals, whatever the host has set.
static int spawn(const char *program, const char *path, int out, pid_t *child) {
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)path, NULL};
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
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (!failed) failed = posix_spawn(child, program, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static th_result start(const char *path, int *in, pid_t *child, th_error *error) {
    char program[TH_PATH_MAX];
    int ends[2];
    if (!find_reader(program, sizeof program))
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "cannot be read: the program " READER " is missing, which reads "
                                  "HDF5; install throng whole, or name it in THRONG_HDF5_READER");
    if (pipe(ends) != 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be read: no pipe: %s",
                                  strerror(errno));
    for (int i = 0; i < 2; ++i) {
        if (ends[i] < 3) { // would be replaced by the child's own
            int higher = fcntl(ends[i], F_DUPFD, 3);
            close(ends[i]);
            ends[i] = higher;
        }
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    int failed = spawn(program, path, ends[1], child);
    close(ends[1]);
    *in = ends[0];
    if (!failed) return TH_OK;
    close(ends[0]);
    return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be read: %s does not start: %s",
                              program, strerror(failed));
}

// Ends it where it has not ended, and returns its status; 0: not known, as a host may ignore its children.
static int end(pid_t child, bool wait) {
    int status = 0;
    if (!wait) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return status;
}

static th_result explain(const th_hdf5_channel *channel, int status, const char *path,
                         double file_bytes, th_error *error) {
    char why[120] = "its contents do not fit together";
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (channel->late || signal == SIGXCPU)
        snprintf(why, sizeof why, "reading it takes longer than %.0f s",
                 th_hdf5_seconds_most(file_bytes));
    else if (signal && signal != SIGKILL)
        snprintf(why, sizeof why, "the HDF5 library crashes on it (%s)", strsignal(signal));
    else if (signal)
        snprintf(why, sizeof why, "the HDF5 library was ended by the system");
    return th_trajectory_fail(error, TH_NO_FILE, path, "is damaged: %s; restore it from a copy",
                              why);
}

th_result th_hdf5_open(th_trajectory *trajectory, const char *path, th_error *error) {
    trajectory->state = calloc(1, sizeof(th_row_table));
    if (!trajectory->state)
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to read it");
    struct stat about;
    double bytes = stat(path, &about) == 0 ? (double)about.st_size : 0;
    pid_t child = 0;
    th_hdf5_channel channel = {
        .deadline = th_monotonic_seconds() + BUSY * th_hdf5_seconds_most(bytes),
        .room = (int64_t)th_hdf5_memory_most(bytes),
    };
    th_result result = start(path, &channel.file, &child, error);
    if (result != TH_OK) return result;
    result = th_hdf5_receive(trajectory, &channel, error);
    close(channel.file);
    int status = end(child, channel.complete);
    if (channel.complete || result == TH_NO_MEMORY) return result;
    return explain(&channel, status, path, bytes, error);
}

th_result th_hdf5_next(th_trajectory *trajectory, th_moment *frame, th_error *error) {
    return th_row_table_next(trajectory->state, frame, trajectory->path, error);
}

void th_hdf5_rewind(th_trajectory *trajectory) { th_row_table_rewind(trajectory->state); }

void th_hdf5_close(th_trajectory *trajectory) {
    if (trajectory->state) th_row_table_release(trajectory->state);
    free(trajectory->state);
    trajectory->state = NULL;
}
