// Linked files. SPDX-License-Identifier: Apache-2.0
#include "scene/files.h"
#include "core/error.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

static th_result open_file(const char *base_dir, const char *name, const char *path, gzFile *file,
                           th_error *error) {
    char full[PATH_MAX];
    bool relative = name[0] != '/' && base_dir && base_dir[0];
    int length =
        snprintf(full, sizeof full, "%s%s%s", relative ? base_dir : "", relative ? "/" : "", name);
    if (length < 0 || (size_t)length >= sizeof full)
        return th_fail(error, TH_NO_FILE, path, "the name of the file %.60s... is too long", name);
    struct stat status;
    if (stat(full, &status) != 0)
        return th_fail(error, TH_NO_FILE, path,
                       "cannot read %.200s: %s; names are relative to the scene file", full,
                       strerror(errno));
    if (!S_ISREG(status.st_mode))
        return th_fail(error, TH_NO_FILE, path, "%.200s is not a plain file", full);
    *file = gzopen(full, "rb");
    if (!*file)
        return th_fail(error, TH_NO_FILE, path, "cannot read %.200s: %s", full, strerror(errno));
    return TH_OK;
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
        if (used < capacity) break;
        if (capacity > TH_FILE_LIMIT)
            return th_fail(error, TH_NO_FILE, path, "%.200s is larger than %zu MiB", name,
                           TH_FILE_LIMIT >> 20);
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

th_result th_file_read(th_arena *arena, const char *base_dir, const char *name, const char *path,
                       char **text, size_t *length, th_error *error) {
    gzFile file = NULL;
    th_result result = open_file(base_dir, name, path, &file, error);
    if (result != TH_OK) return result;
    result = read_all(arena, file, name, path, text, length, error);
    gzclose(file);
    return result;
}

static int count_lines(const char *text) {
    int count = 1;
    for (; *text; ++text) count += *text == '\n';
    return count;
}

static const char *skip_separator(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == ',' || *at == ';') ++at;
    return at;
}

static bool parse_row(const char *row, th_point *point) {
    char *end;
    point->x = strtod(row, &end);
    if (end == row) return false;
    row = skip_separator(end);
    point->y = strtod(row, &end);
    return end != row && isfinite(point->x) && isfinite(point->y);
}

th_result th_positions_read(th_arena *arena, const char *base_dir, const char *name,
                            const char *path, th_point **positions, int *count, th_error *error) {
    char *text = NULL;
    size_t length = 0;
    th_result result = th_file_read(arena, base_dir, name, path, &text, &length, error);
    if (result != TH_OK) return result;
    *positions = th_arena_alloc(arena, (size_t)count_lines(text), sizeof **positions);
    if (!*positions) return th_fail(error, TH_NO_MEMORY, path, "no memory for %.200s", name);
    *count = 0;
    int line = 0;
    for (char *row = text; *row;) {
        char *end = strchr(row, '\n');
        if (end) *end = '\0';
        ++line;
        if (row[strspn(row, " \t\r,;")] && row[0] != '#') {
            if (parse_row(row, &(*positions)[*count]))
                ++*count;
            else if (line > 1)
                return th_fail(error, TH_BAD_SCENE, path,
                               "%.200s line %d: expected two numbers x,y, found \"%.40s\"", name,
                               line, row);
        }
        row = end ? end + 1 : row + strlen(row);
    }
    if (*count == 0)
        return th_fail(error, TH_BAD_SCENE, path, "%.200s holds no positions; rows are x,y", name);
    return TH_OK;
}
