// Whole files: read at once, and replaced so that after a failure, a kill or a crash there is the old
// content or the new one, never half. New content is written into PATH.part beside the file, which is then
// renamed over it; on failure it is removed and the old file stays. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_FILE_H
#define TH_CORE_FILE_H
#include "core/memory.h"
#include <stdio.h>

enum { TH_PATH_MAX = 4096 };

// Failures that a file survives once it is written.
typedef enum th_durability {
    TH_FLUSHED, // the end of the program; for what can be made again, such as figures
    TH_SYNCED,  // a power cut: content and name are on the disk
} th_durability;

typedef struct th_file_writer {
    FILE *file; // write here, or with th_file_put; NULL: it could not be opened
    int cause;  // errno of the first failure, -1 when that is unknown, 0: none
    char path[TH_PATH_MAX], beside[TH_PATH_MAX + 8];
} th_file_writer;

// Begins new content for folder/name, or `name` where folder is NULL. A failure is kept and shows in
// th_file_end; adding then does nothing.
void th_file_begin(th_file_writer *writer, const char *folder, const char *name);
void th_file_put(th_file_writer *writer, const void *bytes, size_t size);
// Puts the new content in place. TH_NO_FILE with the file's name, the cause and what to do. Every
// th_file_begin needs one th_file_end or th_file_discard.
th_result th_file_end(th_file_writer *writer, th_durability durability, th_error *error);
// Drops the new content; the old file stays.
void th_file_discard(th_file_writer *writer);

// All of it at once.
th_result th_file_replace(const char *path, const void *bytes, size_t size,
                          th_durability durability, th_error *error);
// A file's bytes with a 0 behind them, to be freed; NULL with an error.
char *th_file_content(const char *path, size_t *size, th_error *error);
#define TH_FILE_BYTES_MAX \
    ((size_t)64 << 20) // [bytes] far larger than any plan, far smaller than memory

// TH_NO_FILE where a folder, a pipe, a device or a file of /proc has the name, or nothing that can be read.
th_result th_file_check_plain(const char *path, th_error *error);

// The folder of a scene's linked files, and permission to read others.
typedef struct th_link_scope {
    const char *folder; // names are relative to it; NULL: the current one
    bool anywhere;      // false: only files in it and below it
} th_link_scope;

// The path of a file that a scene names, once it is allowed and a plain file. `path` is the place in the scene.
th_result th_file_linked(th_link_scope scope, const char *name, const char *path,
                         char full[TH_PATH_MAX], th_error *error);
// A file that a scene names: its bytes and a final 0, in the arena. `path` is the place in the scene, for messages,
// which never quote the file. Reads gzip transparently.
th_result th_file_read(th_arena *arena, th_link_scope scope, const char *name, const char *path,
                       char **text, size_t *length, th_error *error);
// TH_NO_FILE with the file's name in error->file. `error` may be NULL.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
th_result
th_file_fail(th_error *error, const char *path, const char *format, ...);
#endif
