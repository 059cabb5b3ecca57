// A trajectory through a pipe, from throng-read-hdf5 to who asked for it: numbers as this machine keeps them. The
// receiver believes nothing: the sender read a file that may have damaged its memory.
// SPDX-License-Identifier: Apache-2.0
#include "core/clock.h"
#include "record/hdf5.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint32_t BEGIN = 0x54354854, END = 0x21444e45; // "TH5T", "END!"
enum { BLOCK_ROWS = 4096, TEXT_NONE = -1 };
enum { LEVELS_MOST = 10000, NOTES_MOST = 10000, TEXT_MOST = 1 << 27 };

// ---- sending

typedef struct sender {
    int file;
    bool good;
} sender;

static void put(sender *s, const void *bytes, size_t size) {
    const char *at = bytes;
    while (s->good && size > 0) {
        ssize_t wrote = write(s->file, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        s->good = wrote > 0;
        at += s->good ? wrote : 0;
        size -= s->good ? (size_t)wrote : 0;
    }
}

static void put_number(sender *s, int64_t number) { put(s, &number, sizeof number); }

static void put_text(sender *s, const char *text) {
    put_number(s, text ? (int64_t)strlen(text) : TEXT_NONE);
    if (text) put(s, text, strlen(text));
}

static void put_info(sender *s, const th_trajectory_info *info) {
    put(s, &info->fps, sizeof info->fps);
    put_number(s, info->level_count);
    for (int i = 0; i < info->level_count; ++i) {
        put(s, &info->levels[i].z, sizeof info->levels[i].z);
        put_text(s, info->levels[i].id);
        put_text(s, info->levels[i].wkt);
    }
    put_number(s, info->note_count);
    for (int i = 0; i < info->note_count; ++i) {
        put_text(s, info->notes[i].key);
        put_text(s, info->notes[i].value);
    }
}

static void put_table(sender *s, const th_row_table *table) {
    put_number(s, table->has_orientation);
    put_number(s, table->has_level);
    put_number(s, table->count);
    put(s, table->rows, (size_t)table->count * sizeof *table->rows);
    put_number(s, table->empty_count);
    put(s, table->empty, (size_t)table->empty_count * sizeof *table->empty);
}

bool th_hdf5_send(const char *path, int file) {
    th_trajectory trajectory = {.kept = th_arena_of(NULL)};
    th_row_table table = {0};
    th_error error = {0};
    trajectory.state = &table;
    error.code = th_hdf5_read(&trajectory, path, &error);
    sender s = {file, true};
    put(&s, &BEGIN, sizeof BEGIN);
    put_number(&s, (int64_t)sizeof(th_row));
    put_number(&s, error.code);
    if (error.code != TH_OK) {
        put_text(&s, error.message);
    } else {
        put_info(&s, &trajectory.info);
        put_table(&s, &table);
    }
    put(&s, &END, sizeof END);
    th_row_table_release(&table);
    th_arena_free(&trajectory.kept);
    return s.good;
}

// ---- receiving. What does not fit leaves channel->complete false.

static bool take(th_hdf5_channel *c, void *bytes, size_t size) {
    char *at = bytes;
    if (c->room < (int64_t)size) return false;
    c->room -= (int64_t)size;
    while (size > 0) {
        double left = c->deadline - th_monotonic_seconds();
        struct pollfd ready = {.fd = c->file, .events = POLLIN};
        int polled = left > 0 ? poll(&ready, 1, (int)(left < 3600 ? 1000 * left + 1 : 3600000)) : 0;
        if (polled < 0 && errno == EINTR) continue;
        c->late = polled == 0;
        ssize_t got = polled > 0 ? read(c->file, at, size) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool take_number(th_hdf5_channel *c, int64_t most, int64_t *number) {
    return take(c, number, sizeof *number) && *number >= 0 && *number <= most;
}

// False with c->no_memory where that is the reason.
static bool take_text(th_hdf5_channel *c, th_arena *kept, bool wanted, const char **text) {
    int64_t length = 0;
    *text = NULL;
    if (!take(c, &length, sizeof length)) return false;
    if (length == TEXT_NONE) return !wanted;
    if (length < 0 || length > TEXT_MOST || length > c->room) return false;
    char *made = th_arena_alloc(kept, (size_t)length + 1, 1); // zeroed
    c->no_memory = !made;
    *text = made;
    return made && take(c, made, (size_t)length);
}

static bool take_info(th_hdf5_channel *c, th_trajectory *trajectory) {
    th_trajectory_info *info = &trajectory->info;
    th_arena *kept = &trajectory->kept;
    int64_t count = 0;
    if (!take(c, &info->fps, sizeof info->fps) || !take_number(c, LEVELS_MOST, &count))
        return false;
    th_trajectory_level *levels = th_arena_alloc(kept, (size_t)count + 1, sizeof *levels);
    c->no_memory = !levels;
    info->levels = levels;
    info->level_count = (int)count;
    bool good = levels != NULL;
    for (int i = 0; good && i < (int)count; ++i)
        good = take(c, &levels[i].z, sizeof levels[i].z) &&
               take_text(c, kept, true, &levels[i].id) && take_text(c, kept, false, &levels[i].wkt);
    if (!good || !take_number(c, NOTES_MOST, &count)) return false;
    th_trajectory_note *notes = th_arena_alloc(kept, (size_t)count + 1, sizeof *notes);
    c->no_memory = !notes;
    info->notes = notes;
    info->note_count = (int)count;
    good = notes != NULL;
    for (int i = 0; good && i < (int)count; ++i)
        good = take_text(c, kept, true, &notes[i].key) && take_text(c, kept, true, &notes[i].value);
    return good;
}

static bool take_rows(th_hdf5_channel *c, th_row_table *table, int level_count) {
    static const size_t size = sizeof(th_row);
    int64_t count = 0;
    if (!take_number(c, c->room / (int64_t)size, &count)) return false;
    th_row *block = malloc(BLOCK_ROWS * size);
    c->no_memory = !block;
    bool good = block != NULL;
    for (int64_t at = 0; good && at < count;) {
        int64_t n = count - at < BLOCK_ROWS ? count - at : BLOCK_ROWS;
        good = take(c, block, (size_t)n * size);
        for (int64_t i = 0; good && i < n; ++i) {
            if (!table->has_level) block[i].level = 0;
            good = block[i].frame >= 0 && block[i].level >= 0 &&
                   (block[i].level < level_count || !table->has_level);
            if (!good) break;
            good = th_row_table_add(table, block[i]);
            c->no_memory = !good;
        }
        at += n;
    }
    free(block);
    return good;
}

static bool take_table(th_hdf5_channel *c, th_row_table *table, int level_count) {
    int64_t orientation = 0, level = 0, count = 0;
    if (!take_number(c, 1, &orientation) || !take_number(c, 1, &level)) return false;
    table->has_orientation = orientation != 0;
    table->has_level = level != 0;
    if (!take_rows(c, table, level_count)) return false;
    if (!take_number(c, c->room / (int64_t)sizeof(int64_t), &count)) return false;
    bool good = true;
    for (int64_t i = 0; good && i < count; ++i) {
        int64_t frame = 0;
        good = take_number(c, INT64_MAX, &frame);
        if (!good) break;
        good = th_row_table_add_empty(table, frame);
        c->no_memory = !good;
    }
    return good;
}

static bool take_end(th_hdf5_channel *c) {
    uint32_t end = 0;
    return c->complete = take(c, &end, sizeof end) && end == END;
}

static th_result refuse(th_hdf5_channel *c, const char *path, th_error *error) {
    return th_trajectory_fail(error, c->no_memory ? TH_NO_MEMORY : TH_NO_FILE, path,
                              c->no_memory ? "no memory for its rows" : "is damaged");
}

static th_result repeat_error(th_hdf5_channel *c, th_trajectory *trajectory, int64_t code,
                              th_error *error) {
    const char *text = NULL;
    if (!take_text(c, &trajectory->kept, true, &text) || !take_end(c))
        return refuse(c, trajectory->path, error);
    // Memory within the reader's limits is a matter of the file.
    bool ours = code == TH_BAD_ARGUMENT || code == TH_NO_FILE;
    return th_trajectory_fail(error, TH_NO_FILE, trajectory->path, "%s%s",
                              ours ? "" : "is damaged or far larger than it looks: ", text);
}

static th_result complete(th_trajectory *trajectory, th_error *error) {
    th_trajectory_info *info = &trajectory->info;
    info->format = TH_TRAJECTORY_HDF5;
    if (!(info->fps > 0)) info->fps = trajectory->assumed.fps;
    if (!(info->fps > 0))
        return th_trajectory_fail(
            error, TH_NO_FILE, trajectory->path,
            "says no frame rate: the attribute fps of /trajectory is missing; "
            "name the rate (--fps)");
    return th_row_table_complete(trajectory->state, info, trajectory->path, error);
}

th_result th_hdf5_receive(th_trajectory *trajectory, th_hdf5_channel *c, th_error *error) {
    uint32_t begin = 0;
    int64_t row_size = 0, code = 0;
    bool good = take(c, &begin, sizeof begin) && begin == BEGIN &&
                take_number(c, INT32_MAX, &row_size) && row_size == (int64_t)sizeof(th_row) &&
                take_number(c, INT32_MAX, &code);
    if (good && code != TH_OK) return repeat_error(c, trajectory, code, error);
    good = good && take_info(c, trajectory) &&
           take_table(c, trajectory->state, trajectory->info.level_count) && take_end(c);
    return good ? complete(trajectory, error) : refuse(c, trajectory->path, error);
}
