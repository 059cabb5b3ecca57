// Reading and replacing whole files. SPDX-License-Identifier: Apache-2.0
#include "core/file.h"
#include "core/error.h"
#include "core/system/system.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { UNKNOWN = -1, BOMB_RATIO = 100, BOMB_LEAST = 1 << 20 };

th_result th_file_fail(th_error *error, const char *path, const char *format, ...) {
    char message[sizeof error->message];
    if (!error) return TH_NO_FILE;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(error->file, sizeof error->file, "%s", path);
    return th_fail(error, TH_NO_FILE, "", "%s", message);
}

// ---- replacing

static void note_failure(th_file_writer *writer) {
    if (!writer->cause) writer->cause = errno ? errno : UNKNOWN;
}

void th_file_begin(th_file_writer *writer, const char *folder, const char *name) {
    *writer = (th_file_writer){0};
    int length = snprintf(writer->path, sizeof writer->path, "%s%s%s", folder ? folder : "",
                          folder ? "/" : "", name);
    if (length < 0 || (size_t)length >= sizeof writer->path) {
        writer->cause = ENAMETOOLONG;
        return;
    }
    snprintf(writer->beside, sizeof writer->beside, "%s.part", writer->path);
    errno = 0;
    writer->file = fopen(writer->beside, "wb");
    if (!writer->file) note_failure(writer);
}

void th_file_put(th_file_writer *writer, const void *bytes, size_t size) {
    if (!writer->file || writer->cause || size == 0) return;
    errno = 0;
    if (fwrite(bytes, 1, size, writer->file) != size) note_failure(writer);
}

static void close_file(th_file_writer *writer, th_durability durability) {
    if (ferror(writer->file) && !writer->cause) writer->cause = UNKNOWN;
    errno = 0;
    bool synced =
        fflush(writer->file) == 0 && (durability == TH_FLUSHED || th_system_sync(writer->file));
    if (!synced) note_failure(writer);
    errno = 0;
    if (fclose(writer->file) != 0) note_failure(writer);
    writer->file = NULL;
}

th_result th_file_end(th_file_writer *writer, th_durability durability, th_error *error) {
    if (writer->file) {
        close_file(writer, durability);
        errno = 0;
        if (!writer->cause && !th_system_replace(writer->beside, writer->path))
            note_failure(writer);
        if (writer->cause)
            remove(writer->beside);
        else if (durability == TH_SYNCED)
            th_system_sync_name(writer->path);
    }
    if (!writer->cause) return TH_OK;
    return th_file_fail(
        error, writer->path, "cannot be written: %s; free space or choose another folder",
        writer->cause == UNKNOWN ? "the disk may be full" : strerror(writer->cause));
}

void th_file_discard(th_file_writer *writer) {
    if (!writer->file) return;
    fclose(writer->file);
    writer->file = NULL;
    remove(writer->beside);
}

th_result th_file_replace(const char *path, const void *bytes, size_t size,
                          th_durability durability, th_error *error) {
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    th_file_put(&writer, bytes, size);
    return th_file_end(&writer, durability, error);
}

// ---- reading

static const char *cause_text(int cause) {
    return cause == TH_NOT_PLAIN ? "not a plain file" : strerror(cause);
}

th_result th_file_check_plain(const char *path, th_error *error) {
    int cause = th_system_plain_file(path);
    return cause ? th_file_fail(error, path, "cannot be read: %s", cause_text(cause)) : TH_OK;
}

char *th_file_content(const char *path, size_t *size, th_error *error) {
    size_t wanted = 0;
    int cause = 0;
    FILE *file = th_system_open(path, &wanted, &cause);
    if (!file) {
        th_file_fail(error, path, "cannot be read: %s", cause_text(cause));
        return NULL;
    }
    char *bytes = malloc(wanted + 1);
    size_t used = bytes ? fread(bytes, 1, wanted, file) : 0;
    fclose(file);
    if (!bytes) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for %s", path);
        return NULL;
    }
    bytes[used] = '\0';
    *size = used;
    return bytes;
}

// ---- files that a scene links to

static bool lies_below(const char *file, const char *folder) {
    size_t length = strlen(folder);
    if (length > 0 && strchr("/\\", folder[length - 1])) --length; // the root
    return strncmp(file, folder, length) == 0 && file[length] && strchr("/\\", file[length]);
}

// Is the file in the folder or below it, links of the file system followed? A name that could lead outside is "outside"
// also when there is no such file: a scene must not find out what there is elsewhere.
static bool is_beside(const char *full, const char *name, const char *folder) {
    char *real = th_system_real_path(full),
         *home = th_system_real_path(folder && folder[0] ? folder : ".");
    bool plain_name = !th_system_is_absolute(name) && !strstr(name, "..");
    bool beside = real && home ? lies_below(real, home) : plain_name;
    free(real);
    free(home);
    return beside;
}

th_result th_file_linked(th_link_scope scope, const char *name, const char *path,
                         char full[TH_PATH_MAX], th_error *error) {
    bool relative = !th_system_is_absolute(name) && scope.folder && scope.folder[0];
    int length = snprintf(full, TH_PATH_MAX, "%s%s%s", relative ? scope.folder : "",
                          relative ? "/" : "", name);
    if (length < 0 || length >= TH_PATH_MAX)
        return th_fail(error, TH_NO_FILE, path, "the name of the file %.60s... is too long", name);
    if (!scope.anywhere && !is_beside(full, name, scope.folder))
        return th_fail(error, TH_NO_FILE, path,
                       "%.200s lies outside the scene's folder; copy it there, or trust the scene "
                       "with --allow-links",
                       name);
    int cause = th_system_plain_file(full);
    if (cause == TH_NOT_PLAIN)
        return th_fail(error, TH_NO_FILE, path, "%.200s is not a plain file", full);
    if (cause)
        return th_fail(error, TH_NO_FILE, path,
                       "cannot read %.200s: %s; names are relative to the scene file", full,
                       strerror(cause));
    return TH_OK;
}

// Plans and positions shrink to a tenth or a thirtieth. Data that shrinks much more is mere repetition and would unpack
// to gigabytes.
static bool is_bomb(gzFile file, size_t used) {
    return used > BOMB_LEAST && !gzdirect(file) && used > BOMB_RATIO * ((size_t)gzoffset(file) + 1);
}

// Doubles the buffer until the end of the file or the limit. Chunks left behind in the arena are at
// most as large as the last one.
static th_result read_all(th_arena *arena, gzFile file, const char *name, const char *path,
                          char **text, size_t *length, th_error *error) {
    size_t capacity = 1 << 16, used = 0;
    char *buffer = th_arena_alloc(arena, capacity + 1, 1);
    while (buffer) {
        int got = gzread(file, buffer + used, (unsigned)(capacity - used));
        if (got < 0) return th_fail(error, TH_NO_FILE, path, "%.200s: damaged or unreadable", name);
        used += (size_t)got;
        if (is_bomb(file, used))
            return th_fail(
                error, TH_NO_FILE, path,
                "%.200s: the compressed file grows more than %d times; unpack it first if it is "
                "meant",
                name, BOMB_RATIO);
        if (used < capacity) break;
        if (capacity > TH_FILE_BYTES_MAX)
            return th_fail(error, TH_NO_FILE, path, "%.200s is larger than %zu MiB", name,
                           TH_FILE_BYTES_MAX >> 20);
        char *larger = th_arena_alloc(arena, 2 * capacity + 1, 1);
        if (larger) memcpy(larger, buffer, used);
        buffer = larger;
        capacity *= 2;
    }
    if (!buffer) return th_fail(error, TH_NO_MEMORY, path, "no memory for %.200s", name);
    buffer[used] = '\0';
    *text = buffer;
    *length = used;
    return TH_OK;
}

th_result th_file_read(th_arena *arena, th_link_scope scope, const char *name, const char *path,
                       char **text, size_t *length, th_error *error) {
    char full[TH_PATH_MAX];
    th_result result = th_file_linked(scope, name, path, full, error);
    if (result != TH_OK) return result;
    gzFile file = gzopen(full, "rb");
    if (!file)
        return th_fail(error, TH_NO_FILE, path, "cannot read %.200s: %s", full, strerror(errno));
    result = read_all(arena, file, name, path, text, length, error);
    gzclose(file);
    return result;
}
