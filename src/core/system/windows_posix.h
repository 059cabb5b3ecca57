// The POSIX functions that recordings, runs and the program use and that MinGW-w64 lacks or has otherwise. CMake includes this
// first in their files when it builds for Windows; the engine needs none of it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_SYSTEM_WINDOWS_POSIX_H
#define TH_CORE_SYSTEM_WINDOWS_POSIX_H
#define _POSIX_THREAD_SAFE_FUNCTIONS 200112L // gmtime_r
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define tell th_own_tell // a name that MinGW-w64 has taken

// Bytes are written as they are, without line ends of Windows' own.
#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
FILE *th_posix_fopen(const char *path, const char *mode);
#define fopen th_posix_fopen
// Its text is there once it is closed, and not before.
FILE *th_posix_open_memstream(char **text, size_t *size);
int th_posix_fclose(FILE *file);
#define open_memstream th_posix_open_memstream
#define fclose th_posix_fclose

int th_posix_mkdir(const char *path, unsigned mode);
int th_posix_rename(const char *from, const char *to); // over an existing file as well
#define mkdir th_posix_mkdir
#define rename th_posix_rename
#define lstat stat
char *th_posix_mkdtemp(char *path);
#define mkdtemp th_posix_mkdtemp
// Of a file that is there; /proc/self/exe is this program.
char *th_posix_realpath(const char *path, char *whole);
#define realpath th_posix_realpath
int th_posix_link(const char *from, const char *to);
#define link th_posix_link
// A file with the text, made in one step; EEXIST where there is one. Links of Windows need rights that users lack.
int th_posix_symlink(const char *text, const char *path);
ssize_t th_posix_readlink(const char *path, char *text, size_t size);
#define symlink th_posix_symlink
#define readlink th_posix_readlink
int th_posix_pwrite(int file, const void *bytes, size_t size, off_t at);
#define pwrite th_posix_pwrite
#define fsync _commit

char *th_posix_stpcpy(char *to, const char *from);
char *th_posix_strcasestr(const char *text, const char *part); // bytes
#define stpcpy th_posix_stpcpy
#define strcasestr th_posix_strcasestr
// MinGW-w64's strtod reads a point whatever the locale.
typedef int locale_t;
#define LC_ALL_MASK 1
#define LC_NUMERIC_MASK 1
#define newlocale(mask, name, base) ((void)(name), (void)(base), (mask))
#define freelocale(locale) ((void)(locale))
#define strtod_l(text, end, locale) ((void)(locale), strtod(text, end))
char *th_posix_strndup(const char *text, size_t most);
#define strndup th_posix_strndup
int th_posix_gethostname(char *name, size_t size);
#define gethostname th_posix_gethostname
// Whether a process lives cannot be told here: fails with EPERM, as for one of another user.
int th_posix_kill(int process, int signal);
#define kill th_posix_kill

// The processor time of this process; its memory is not told.
enum { RUSAGE_SELF };
struct rusage {
    struct {
        long long tv_sec, tv_usec;
    } ru_utime;
    long ru_maxrss;
};
int th_posix_getrusage(int of, struct rusage *used);
#define getrusage th_posix_getrusage

// Handlers of Windows are reset when they are called.
struct sigaction {
    void (*sa_handler)(int number);
    int sa_flags;
};
enum { SA_RESETHAND = 1 };
int th_posix_sigaction(int number, const struct sigaction *action, struct sigaction *before);
#define sigaction(number, action, before) th_posix_sigaction(number, action, before)
#define SIGHUP SIGBREAK
#endif
