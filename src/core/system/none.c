// No operating system, as for WebAssembly: scenes come as text, one thread does all. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

// ---- memory

void *th_system_alloc(size_t size, size_t alignment) { return aligned_alloc(alignment, size); }

void th_system_free(void *memory) { free(memory); }

// ---- files: none

FILE *th_system_open(const char *path, size_t *size, int *cause) {
    (void)size;
    *cause = th_system_plain_file(path);
    return NULL;
}

int th_system_plain_file(const char *path) {
    (void)path;
    return ENOENT;
}

char *th_system_real_path(const char *path) {
    (void)path;
    return NULL;
}

bool th_system_sync(FILE *file) { return fflush(file) == 0; }

void th_system_sync_name(const char *path) { (void)path; }

bool th_system_replace(const char *from, const char *to) { return rename(from, to) == 0; }

int th_system_lock_folder(const char *path) {
    (void)path;
    return TH_NO_LOCK;
}

void th_system_unlock_folder(int lock) { (void)lock; }

double th_system_modified(const char *path) {
    (void)path;
    return -1.0;
}

double th_system_date(void) { return (double)time(NULL); }

int th_system_run(const char *const *arguments, char *out, size_t size) {
    (void)arguments;
    if (size > 0) out[0] = '\0';
    return 127;
}

bool th_system_is_absolute(const char *path) { return path[0] == '/'; }

// ---- threads: the caller's. A gate with a single thread needs no lock.

struct th_gate {
    char nothing;
};
static th_gate only;

bool th_system_has_threads(void) { return false; }

th_thread *th_thread_start(void (*run)(void *context), void *context) {
    (void)run;
    (void)context;
    return NULL;
}

void th_thread_join(th_thread *thread) { (void)thread; }

th_gate *th_gate_create(void) { return &only; }

void th_gate_destroy(th_gate *gate) { (void)gate; }

void th_gate_lock(th_gate *gate) { (void)gate; }

void th_gate_unlock(th_gate *gate) { (void)gate; }

void th_gate_wait(th_gate *gate) { (void)gate; }

void th_gate_wait_for(th_gate *gate, double seconds) {
    (void)gate;
    (void)seconds;
}

void th_gate_ring(th_gate *gate) { (void)gate; }

int th_core_count(void) { return 1; }

int th_online_cores(void) { return 1; }

int th_running_tasks(void) { return 0; }

// ---- clocks

double th_monotonic_seconds(void) {
    struct timespec now = {0};
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// There is one thread, which is never idle.
double th_thread_cpu_seconds(void) { return th_monotonic_seconds(); }

// ---- libraries: none

void th_system_reached(const char *point) { (void)point; }
void th_system_noted(void) {}

void *th_library_open(const char *path) {
    (void)path;
    return NULL;
}

const char *th_library_error(void) { return "this build loads no plugins"; }

void *th_library_symbol(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}

void th_library_close(void *library) { (void)library; }
