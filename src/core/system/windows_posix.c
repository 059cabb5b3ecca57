// SPDX-License-Identifier: Apache-2.0
#include "core/system/windows_posix.h"
#include "core/system/system.h"
#include <errno.h>
#include <stdint.h>
#define WIN32_LEAN_AND_MEAN // without sockets, which have a gethostname
#include <windows.h>
#undef fopen
#undef fclose
#undef mkdir
#undef rename

static int fail(int cause) {
    errno = cause;
    return -1;
}

static int fail_as_windows(void) {
    DWORD cause = GetLastError();
    return fail(cause == ERROR_ALREADY_EXISTS || cause == ERROR_FILE_EXISTS      ? EEXIST
                : cause == ERROR_FILE_NOT_FOUND || cause == ERROR_PATH_NOT_FOUND ? ENOENT
                : cause == ERROR_DISK_FULL                                       ? ENOSPC
                                                                                 : EACCES);
}

FILE *th_posix_fopen(const char *path, const char *mode) {
    char whole[16];
    snprintf(whole, sizeof whole, "%s%s", mode, strchr(mode, 'b') ? "" : "b");
    return fopen(path, whole);
}

// ---- streams in memory: a file that Windows keeps in its cache and removes when it is closed

typedef struct memory_stream {
    FILE *file;
    char **text;
    size_t *size;
    struct memory_stream *next;
} memory_stream;
static memory_stream *open_streams;
static SRWLOCK streams_lock = SRWLOCK_INIT;

FILE *th_posix_open_memstream(char **text, size_t *size) {
    char folder[MAX_PATH], path[MAX_PATH];
    memory_stream *stream = malloc(sizeof *stream);
    bool named = stream && GetTempPathA(sizeof folder, folder) > 0 &&
                 GetTempFileNameA(folder, "thr", 0, path) > 0;
    FILE *file = named ? fopen(path, "w+bTD") : NULL; // temporary, removed when closed
    if (!file) {
        free(stream);
        return NULL;
    }
    AcquireSRWLockExclusive(&streams_lock);
    *stream = (memory_stream){file, text, size, open_streams};
    open_streams = stream;
    ReleaseSRWLockExclusive(&streams_lock);
    return file;
}

static memory_stream *take_stream(const FILE *file) {
    memory_stream *found = NULL;
    AcquireSRWLockExclusive(&streams_lock);
    for (memory_stream **at = &open_streams; *at && !found; at = &(*at)->next)
        if ((*at)->file == file) {
            found = *at;
            *at = found->next;
            break;
        }
    ReleaseSRWLockExclusive(&streams_lock);
    return found;
}

int th_posix_fclose(FILE *file) {
    memory_stream *stream = take_stream(file);
    if (!stream) return fclose(file);
    bool good = !ferror(file) && fflush(file) == 0;
    long size = good ? ftell(file) : -1;
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    rewind(file);
    good = text && fread(text, 1, (size_t)size, file) == (size_t)size;
    if (good) text[size] = '\0';
    if (!good) {
        free(text);
        text = NULL;
    }
    *stream->text = text;
    *stream->size = good ? (size_t)size : 0;
    free(stream);
    fclose(file);
    return good ? 0 : fail(ENOMEM);
}

// ---- files

int th_posix_mkdir(const char *path, unsigned mode) {
    (void)mode;
    return _mkdir(path);
}

int th_posix_rename(const char *from, const char *to) {
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : fail_as_windows();
}

char *th_posix_mkdtemp(char *path) {
    char *end = path + strlen(path) - 6;
    unsigned number = (unsigned)GetTickCount() ^ (unsigned)GetCurrentProcessId() << 12;
    for (int tries = 0; tries < 10000; ++tries) {
        snprintf(end, 7, "%06x", (number + (unsigned)tries * 7919u) & 0xffffffu);
        if (_mkdir(path) == 0) return path;
        if (errno != EEXIST) break;
    }
    return NULL;
}

char *th_posix_realpath(const char *path, char *whole) {
    char own[4096];
    if (strcmp(path, "/proc/self/exe") == 0) {
        DWORD length = GetModuleFileNameA(NULL, own, sizeof own);
        path = length > 0 && length < sizeof own ? own : "";
    }
    if (_access(path, 0) != 0) return NULL;
    return _fullpath(whole, path, whole ? 4096 : 0);
}

int th_posix_link(const char *from, const char *to) {
    return CreateHardLinkA(to, from, NULL) ? 0 : fail_as_windows();
}

// Written beside and moved, so that none sees half of it; the move fails where the name is taken.
int th_posix_symlink(const char *text, const char *path) {
    char beside[4096];
    static volatile LONG number;
    snprintf(beside, sizeof beside, "%s.%lu-%ld.new", path, GetCurrentProcessId(),
             InterlockedIncrement(&number));
    FILE *file = fopen(beside, "wb");
    if (!file) return -1;
    bool good = fputs(text, file) >= 0;
    good = fclose(file) == 0 && good;
    if (good && MoveFileExA(beside, path, 0)) return 0;
    int cause = good ? fail_as_windows(), errno : EACCES;
    remove(beside);
    return fail(cause);
}

ssize_t th_posix_readlink(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    size_t length = fread(text, 1, size, file);
    fclose(file);
    return (ssize_t)length;
}

int th_posix_pwrite(int file, const void *bytes, size_t size, off_t at) {
    return _lseeki64(file, at, SEEK_SET) < 0 ? -1 : _write(file, bytes, (unsigned)size);
}

// ---- the rest

char *th_posix_stpcpy(char *to, const char *from) {
    size_t length = strlen(from);
    memcpy(to, from, length + 1);
    return to + length;
}

char *th_posix_strcasestr(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; ++text)
        if (_strnicmp(text, part, length) == 0) return (char *)(uintptr_t)text;
    return length == 0 ? (char *)(uintptr_t)text : NULL;
}

char *th_posix_strndup(const char *text, size_t most) {
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

int th_posix_gethostname(char *name, size_t size) {
    DWORD length = (DWORD)size;
    return GetComputerNameA(name, &length) ? 0 : fail_as_windows();
}

int th_posix_kill(int process, int signal) {
    (void)process;
    (void)signal;
    return fail(EPERM);
}

int th_posix_getrusage(int of, struct rusage *used) {
    FILETIME begun, ended, kernel, user;
    (void)of;
    *used = (struct rusage){0};
    if (!GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user))
        return fail_as_windows();
    unsigned long long spent = (unsigned long long)user.dwHighDateTime << 32 | user.dwLowDateTime;
    used->ru_utime.tv_sec = (long long)(spent / 10000000);
    used->ru_utime.tv_usec = (long long)(spent / 10 % 1000000);
    return 0;
}

int th_posix_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (before) before->sa_handler = SIG_DFL;
    return !action || signal(number, action->sa_handler) != SIG_ERR ? 0 : -1;
}
