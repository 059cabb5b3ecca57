// Windows, from 7 on. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include <ctype.h>
#include <errno.h>
#include <io.h>
#include <process.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <windows.h>

// ---- memory

void *th_system_alloc(size_t size, size_t alignment) { return _aligned_malloc(size, alignment); }

void th_system_free(void *memory) { _aligned_free(memory); }

// ---- files

FILE *th_system_open(const char *path, size_t *size, int *cause) {
    struct _stat64 status;
    *cause = th_system_plain_file(path);
    if (*cause) return NULL;
    FILE *stream = fopen(path, "rbN"); // N: child processes do not inherit it
    if (!stream || _fstat64(_fileno(stream), &status) != 0) {
        *cause = errno;
        if (stream) fclose(stream);
        return NULL;
    }
    *size = (size_t)status.st_size;
    return stream;
}

int th_system_plain_file(const char *path) {
    struct _stat64 status;
    if (_stat64(path, &status) != 0) return errno;
    return (status.st_mode & _S_IFMT) == _S_IFREG ? 0 : TH_NOT_PLAIN;
}

char *th_system_real_path(const char *path) { return _fullpath(NULL, path, 0); }

bool th_system_sync(FILE *file) { return _commit(_fileno(file)) == 0; }

void th_system_sync_name(const char *path) {
    (void)path; // th_system_replace writes through
}

bool th_system_replace(const char *from, const char *to) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
    errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EACCES;
    return false;
}

// A mutex of the folder's name: it leaves no file and goes with its last process.
int th_system_lock_folder(const char *path) {
    char whole[4096], name[64];
    uint64_t hash = 14695981039346656037u;
    if (!_fullpath(whole, path, sizeof whole)) return TH_NO_LOCK;
    for (const char *at = whole; *at; ++at)
        hash = (hash ^ (unsigned char)tolower((unsigned char)*at)) * 1099511628211u;
    snprintf(name, sizeof name, "throng-folder-%016llx", (unsigned long long)hash);
    HANDLE mutex = CreateMutexA(NULL, FALSE, name);
    if (!mutex) return TH_NO_LOCK;
    if (GetLastError() != ERROR_ALREADY_EXISTS) return (int)(intptr_t)mutex; // handles have 32 bits
    CloseHandle(mutex);
    return TH_TAKEN;
}

void th_system_unlock_folder(int lock) { CloseHandle((HANDLE)(intptr_t)lock); }

double th_system_modified(const char *path) {
    struct _stat64 status;
    return _stat64(path, &status) == 0 ? (double)status.st_mtime : -1.0;
}

double th_system_date(void) { return (double)time(NULL); }

int th_system_run(const char *const *arguments, char *out, size_t size) {
    (void)arguments; // sbatch is the only one, and there is none for Windows
    if (size > 0) out[0] = '\0';
    return 127;
}

bool th_system_is_absolute(const char *path) {
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

// ---- threads

struct th_thread {
    HANDLE handle;
    void (*run)(void *context);
    void *context;
};

bool th_system_has_threads(void) { return true; }

static unsigned __stdcall run_thread(void *context) {
    const th_thread *thread = context;
    thread->run(thread->context);
    return 0;
}

th_thread *th_thread_start(void (*run)(void *context), void *context) {
    th_thread *thread = malloc(sizeof *thread);
    if (!thread) return NULL;
    *thread = (th_thread){.run = run, .context = context};
    thread->handle = (HANDLE)_beginthreadex(NULL, 0, run_thread, thread, 0, NULL);
    if (thread->handle) return thread;
    free(thread);
    return NULL;
}

void th_thread_join(th_thread *thread) {
    if (!thread) return;
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
    free(thread);
}

struct th_gate {
    CRITICAL_SECTION lock;
    CONDITION_VARIABLE bell;
};

th_gate *th_gate_create(void) {
    th_gate *gate = malloc(sizeof *gate);
    if (!gate) return NULL;
    InitializeCriticalSection(&gate->lock);
    InitializeConditionVariable(&gate->bell);
    return gate;
}

void th_gate_destroy(th_gate *gate) {
    if (!gate) return;
    DeleteCriticalSection(&gate->lock);
    free(gate);
}

void th_gate_lock(th_gate *gate) { EnterCriticalSection(&gate->lock); }

void th_gate_unlock(th_gate *gate) { LeaveCriticalSection(&gate->lock); }

void th_gate_wait(th_gate *gate) { SleepConditionVariableCS(&gate->bell, &gate->lock, INFINITE); }

void th_gate_wait_for(th_gate *gate, double seconds) {
    SleepConditionVariableCS(&gate->bell, &gate->lock, (DWORD)(1000.0 * seconds));
}

void th_gate_ring(th_gate *gate) { WakeAllConditionVariable(&gate->bell); }

int th_core_count(void) {
    DWORD_PTR own = 0, all = 0;
    int count = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        for (; own; own &= own - 1) ++count;
    return count > 0 ? count : 1;
}

int th_online_cores(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (int)info.dwNumberOfProcessors : 1;
}

int th_running_tasks(void) { return 0; }

// ---- clocks

double th_monotonic_seconds(void) {
    LARGE_INTEGER now, frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    return (double)now.QuadPart / (double)frequency.QuadPart;
}

static double in_seconds(FILETIME time) {
    return 1e-7 * ((double)time.dwHighDateTime * 4294967296.0 + (double)time.dwLowDateTime);
}

double th_thread_cpu_seconds(void) {
    FILETIME begun, ended, kernel, user;
    if (!GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user)) return 0.0;
    return in_seconds(kernel) + in_seconds(user);
}

// ---- libraries

void th_system_reached(const char *point) { (void)point; }
void th_system_noted(void) {}

void *th_library_open(const char *path) {
    char whole[4096];
    if (!_fullpath(whole, path, sizeof whole)) return NULL;
    return (void *)LoadLibraryA(whole);
}

const char *th_library_error(void) {
    return GetLastError() == ERROR_MOD_NOT_FOUND ? "there is no such library, or one it needs"
                                                 : "it is no library for this system";
}

void *th_library_symbol(void *library, const char *name) {
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *symbol;
    memcpy(&symbol, &found, sizeof symbol); // C has no cast from a function to an object
    return symbol;
}

void th_library_close(void *library) { FreeLibrary((HMODULE)library); }
