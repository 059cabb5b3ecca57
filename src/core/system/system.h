// The operating system: plain files, threads, cores, clocks, libraries loaded at run time. Nothing else in the engine calls
// the system; what is written in C17, jansson, GEOS, libpng or zlib runs anywhere. CMake builds one of three versions:
// posix.c, windows.c, or none.c for machines without a system (WebAssembly): no files, one thread, no plugins. Recordings, runs
// and the program use POSIX beside it; windows_posix.h gives them what MinGW-w64 lacks.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_SYSTEM_H
#define TH_CORE_SYSTEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// ---- memory at a multiple of `alignment`; `size` is one, too
void *th_system_alloc(size_t size, size_t alignment);
void th_system_free(void *memory);

// ---- files. A cause is an errno, or TH_NOT_PLAIN for a folder or a device; 0: none.
enum { TH_NOT_PLAIN = -2 };

// Opens a plain file for reading, with its size in bytes; NULL with a cause. Child processes do not inherit it.
FILE *th_system_open(const char *path, size_t *size, int *cause);
// 0, or the reason why it cannot be opened as a plain file.
int th_system_plain_file(const char *path);
// The whole path with links of the file system followed, to be freed; NULL: there is none, or no memory.
char *th_system_real_path(const char *path);
// Puts written and flushed data on the disk. False: errno says why.
bool th_system_sync(FILE *file);
// The name of the file is on the disk, too, where the system can do that.
void th_system_sync_name(const char *path);
// Renames, over an existing file as well, in one step. False: errno says why.
bool th_system_replace(const char *from, const char *to);
// Locks a folder for one writer, in all processes, without a file and until th_system_unlock_folder or the end of the process:
// a number; TH_TAKEN: another has the lock; TH_NO_LOCK: none can be had there.
enum { TH_NO_LOCK = -1, TH_TAKEN = -2 };
int th_system_lock_folder(const char *path);
void th_system_unlock_folder(int lock);
// When a file was written, by the clock of its disk, and now by this machine's [s]; below 0: there is no such file.
double th_system_modified(const char *path);
double th_system_date(void);
// Does the path begin at the root of a disk?
bool th_system_is_absolute(const char *path);

// ---- threads
// False: there is only the caller's thread, and th_thread_start fails.
bool th_system_has_threads(void);
typedef struct th_thread th_thread;
// Runs `run` in a new thread, which receives no signals: they are for the caller's, which may own a terminal. NULL: none
// could be started.
th_thread *th_thread_start(void (*run)(void *context), void *context);
void th_thread_join(th_thread *thread); // NULL is fine

// A lock, and a bell that wakes those that wait.
typedef struct th_gate th_gate;
th_gate *th_gate_create(void); // NULL: no memory
void th_gate_destroy(th_gate *gate);
void th_gate_lock(th_gate *gate);
void th_gate_unlock(th_gate *gate);
// Held by the caller, given up while it waits for the bell, held again. May return without a bell.
void th_gate_wait(th_gate *gate);
void th_gate_wait_for(th_gate *gate, double seconds);
void th_gate_ring(th_gate *gate);

// Cores that this process may use.
int th_core_count(void);
// Cores of the machine, and the threads of all programs that run or would like to, the caller's included. 0 where
// the system does not say.
int th_online_cores(void);
int th_running_tasks(void);

// ---- clocks
// Seconds since some fixed moment; never goes back when the date is set.
double th_monotonic_seconds(void);
// Processor time that the calling thread has used [s].
double th_thread_cpu_seconds(void);

// ---- held for a test
// Tests kill and interrupt processes at a known point, however fast the machine is: with THRONG_HOLD=step:150 in the
// environment the process stops itself (SIGSTOP) when it reaches the point `step` for the 150th time. Points are named
// where they are reached. "step:150:interrupt": it goes on when an interrupt has been noted (th_system_noted), in
// whichever thread. Without the variable, and where there are no signals, nothing happens.
void th_system_reached(const char *point);
void th_system_noted(void); // by signal handlers, behind all they do

// ---- other programs
// Runs a program, found as a shell does, and keeps what it prints on stdout, to the size of `out` less one. Its exit status; 127:
// there is none; -1: it could not be run or ended otherwise.
int th_system_run(const char *const *arguments, char *out, size_t size);

// ---- libraries with plugins
void *th_library_open(const char *path); // NULL: th_library_error says why
const char *th_library_error(void);
void *th_library_symbol(void *library, const char *name); // NULL: it has none
void th_library_close(void *library);
#endif
