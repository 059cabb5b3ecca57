// Linux, macOS and the like. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- memory

void *th_system_alloc(size_t size, size_t alignment) { return aligned_alloc(alignment, size); }

void th_system_free(void *memory) { free(memory); }

// ---- files

// Files of /proc report themselves as plain and empty although they have content.
static bool is_plain(int file, const struct stat *status) {
    char byte;
    return S_ISREG(status->st_mode) && (status->st_size > 0 || pread(file, &byte, 1, 0) <= 0);
}

// Without waiting for the other end of a pipe.
FILE *th_system_open(const char *path, size_t *size, int *cause) {
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *stream = NULL;
    *cause = file >= 0 ? 0 : errno == ENXIO ? TH_NOT_PLAIN : errno; // ENXIO: a socket
    if (file >= 0 && fstat(file, &status) != 0) *cause = errno;
    if (!*cause && !is_plain(file, &status)) *cause = TH_NOT_PLAIN;
    if (!*cause) {
        *size = (size_t)status.st_size;
        stream = fdopen(file, "rb");
        if (!stream) *cause = errno;
    }
    if (!stream && file >= 0) close(file);
    return stream;
}

int th_system_plain_file(const char *path) {
    size_t size;
    int cause;
    FILE *file = th_system_open(path, &size, &cause);
    if (file) fclose(file);
    return cause;
}

char *th_system_real_path(const char *path) { return realpath(path, NULL); }

bool th_system_sync(FILE *file) { return fsync(fileno(file)) == 0; }

// A new name reaches the disk only with its folder. Where that cannot be synced, the file itself still is.
void th_system_sync_name(const char *path) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = '\0';
    int file = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

bool th_system_replace(const char *from, const char *to) { return rename(from, to) == 0; }

int th_system_lock_folder(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return TH_NO_LOCK;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    bool taken = errno == EWOULDBLOCK;
    close(file);
    return taken ? TH_TAKEN : TH_NO_LOCK;
}

void th_system_unlock_folder(int lock) { close(lock); }

static double in_seconds(struct timespec time) {
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double th_system_modified(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return -1.0;
#ifdef __APPLE__
    return in_seconds(status.st_mtimespec);
#else
    return in_seconds(status.st_mtim);
#endif
}

bool th_system_is_absolute(const char *path) { return path[0] == '/'; }

// ---- threads

struct th_thread {
    pthread_t thread;
    void (*run)(void *context);
    void *context;
};

bool th_system_has_threads(void) { return true; }

static void *run_thread(void *context) {
    const th_thread *thread = context;
    thread->run(thread->context);
    return NULL;
}

th_thread *th_thread_start(void (*run)(void *context), void *context) {
    th_thread *thread = malloc(sizeof *thread);
    if (!thread) return NULL;
    *thread = (th_thread){.run = run, .context = context};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread->thread, NULL, run_thread, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) return thread;
    free(thread);
    return NULL;
}

void th_thread_join(th_thread *thread) {
    if (!thread) return;
    pthread_join(thread->thread, NULL);
    free(thread);
}

struct th_gate {
    pthread_mutex_t lock;
    pthread_cond_t bell;
};

// Waiting uses the monotonic clock.
static bool create_bell(pthread_cond_t *bell) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
#ifndef __APPLE__
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    bool good = pthread_cond_init(bell, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good;
}

th_gate *th_gate_create(void) {
    th_gate *gate = malloc(sizeof *gate);
    if (!gate) return NULL;
    if (pthread_mutex_init(&gate->lock, NULL) == 0) {
        if (create_bell(&gate->bell)) return gate;
        pthread_mutex_destroy(&gate->lock);
    }
    free(gate);
    return NULL;
}

void th_gate_destroy(th_gate *gate) {
    if (!gate) return;
    pthread_cond_destroy(&gate->bell);
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

void th_gate_lock(th_gate *gate) { pthread_mutex_lock(&gate->lock); }

void th_gate_unlock(th_gate *gate) { pthread_mutex_unlock(&gate->lock); }

void th_gate_wait(th_gate *gate) { pthread_cond_wait(&gate->bell, &gate->lock); }

void th_gate_wait_for(th_gate *gate, double seconds) {
#ifdef __APPLE__
    struct timespec span = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    pthread_cond_timedwait_relative_np(&gate->bell, &gate->lock, &span);
#else
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    until.tv_sec += (time_t)seconds + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&gate->bell, &gate->lock, &until);
#endif
}

void th_gate_ring(th_gate *gate) { pthread_cond_broadcast(&gate->bell); }

int th_online_cores(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

#ifdef __linux__
int th_core_count(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

// "load load load running/existing newest". Some microseconds.
int th_running_tasks(void) {
    char text[128];
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC), running = 0;
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running > 0 ? running : 0;
}
#else
int th_core_count(void) { return th_online_cores(); }

int th_running_tasks(void) { return 0; }
#endif

// ---- clocks

static double read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return in_seconds(now);
}

double th_system_date(void) { return read_clock(CLOCK_REALTIME); }

double th_monotonic_seconds(void) { return read_clock(CLOCK_MONOTONIC); }

double th_thread_cpu_seconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

// ---- held for a test

static atomic_bool interrupt_noted;

void th_system_noted(void) { atomic_store(&interrupt_noted, true); }

void th_system_reached(const char *point) {
    static atomic_ulong times;
    const char *wanted = getenv("THRONG_HOLD");
    size_t length = strlen(point);
    char *rest;
    if (!wanted || strncmp(wanted, point, length) != 0 || wanted[length] != ':') return;
    if (atomic_fetch_add(&times, 1) + 1 != strtoul(wanted + length + 1, &rest, 10)) return;
    raise(SIGSTOP);
    // The signal may be handled in another thread, later than this one goes on.
    while (strcmp(rest, ":interrupt") == 0 && !atomic_load(&interrupt_noted)) usleep(1000);
}

// ---- other programs

int th_system_run(const char *const *arguments, char *out, size_t size) {
    int ends[2], status = -1;
    size_t length = 0;
    out[0] = '\0';
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0) execvp(arguments[0], (char **)(uintptr_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], out + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    out[length] = '\0';
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// ---- libraries

// Without a slash the system's folders would be searched, not the one the user is in.
void *th_library_open(const char *path) {
    char beside[4096];
    snprintf(beside, sizeof beside, "%s%s", strchr(path, '/') ? "" : "./", path);
    return dlopen(beside, RTLD_NOW | RTLD_LOCAL);
}

const char *th_library_error(void) {
    const char *why = dlerror();
    return why ? why : "no reason given";
}

void *th_library_symbol(void *library, const char *name) { return dlsym(library, name); }

void th_library_close(void *library) { dlclose(library); }
