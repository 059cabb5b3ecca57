// Writes SQLite recordings, rows or compact blobs.
//
// Safe against a kill: write-ahead log, whole frames only, committed every COMMIT_FRAMES frames or
// COMMIT_SECONDS, whichever is first. synchronous=NORMAL: a commit costs no wait for the disk; what
// the system has taken over survives the death of the program, and after a power cut the file is
// still sound but may lack the last seconds. finish() folds the log into the file, so that one file
// remains that other programs can open read-only.
// The index on (frame, id) is there from the start, since after a kill it must be: rows come in its
// order, so that it only ever grows at its end.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/parallel.h"
#include "record/compact.h"
#include "record/sqlite_people.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COMMIT_FRAMES = 10,
    KEY_EVERY = 50, // frames: five seconds at the usual rate; a key frame is about four others long
    BUSY_MS = 2000, // patience with a reader that holds the file
};
// Measured with blobs of 1.6 MB: 10 % less work than with 4 KiB, as much as with 64 KiB. Rows stay with
// the default, where a small file stays small.
#define BLOB_PAGES "PRAGMA page_size = 16384"
#define COMMIT_SECONDS 0.2 // what a kill may cost [s]
#define ORIGIN_STEP 1000.0 // [m] so that scenes around (0, 0) keep 0 as the origin of their grid

typedef struct sqlite_writer {
    sqlite3 *db;
    const char *path;
    bool compact, failed, levels;
    int64_t geometry_hash;
    bool has_geometry;
    sqlite3_stmt *insert_row, *insert_level, *insert_frame_data, *insert_blob;
    int open_frames; // since the last commit
    double committed_at;
    // compact
    double quantum, origin_x, origin_y;
    bool has_origin;
    th_compact_codec *codec;
    int64_t key_frame;
    int since_key; // frames; 0: the next is a key frame
    th_people people;
    bool orientation_told;             // whether it is known is in the file
    double min_x, min_y, max_x, max_y; // positions, while there is no geometry
    // one frame in the shapes needed
    int capacity;
    int64_t *id;
    double *x, *y, *orientation_x, *orientation_y;
    int32_t *grid_x, *grid_y, *level;
    float *direction_x, *direction_y;
    uint8_t *heading;
} sqlite_writer;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool longer(void **array, size_t count, size_t size) {
    void *grown = realloc(*array, count * size);
    if (grown) *array = grown;
    return grown != NULL;
}

static th_result reserve(sqlite_writer *w, int count, th_error *error) {
    if (count <= w->capacity) return TH_OK;
    int capacity = count < INT32_MAX / 2 ? count + count / 8 + 16 : count;
    void *a[] = {w->id,     w->x,     w->y,           w->orientation_x, w->orientation_y, w->grid_x,
                 w->grid_y, w->level, w->direction_x, w->direction_y,   w->heading};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 1};
    bool good = true;
    for (int k = 0; k < 11; ++k) good = longer(&a[k], (size_t)capacity, sizes[k]) && good;
    w->id = a[0];
    w->x = a[1];
    w->y = a[2];
    w->orientation_x = a[3];
    w->orientation_y = a[4];
    w->grid_x = a[5];
    w->grid_y = a[6];
    w->level = a[7];
    w->direction_x = a[8];
    w->direction_y = a[9];
    w->heading = a[10];
    if (!good)
        return th_trajectory_fail(error, TH_NO_MEMORY, w->path,
                                  "no memory for a frame of %d people", count);
    w->capacity = capacity;
    return TH_OK;
}

// ---- transactions

static th_result begin(sqlite_writer *w, th_error *error) {
    if (!sqlite3_get_autocommit(w->db)) return TH_OK;
    return th_store_run(w->db, w->path, "BEGIN IMMEDIATE", error);
}

static th_result commit(sqlite_writer *w, th_error *error) {
    th_result result = TH_OK;
    if (!w->has_geometry && w->min_x <= w->max_x)
        result = th_store_put_bounds(w->db, w->path, w->geometry_hash, w->min_x, w->min_y, w->max_x,
                                     w->max_y, error);
    if (result == TH_OK && !sqlite3_get_autocommit(w->db))
        result = th_store_run(w->db, w->path, "COMMIT", error);
    w->open_frames = 0;
    w->committed_at = now();
    return result;
}

// Nothing of a half-written frame may stay; the database may have rolled back by itself already. A
// wrong argument is found before anything is written and spoils nothing.
static th_result give_up(sqlite_writer *w, th_result result) {
    if (result == TH_BAD_ARGUMENT) return result;
    w->failed = true;
    if (!sqlite3_get_autocommit(w->db)) sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

static th_result end_frame(sqlite_writer *w, int64_t number, th_error *error) {
    sqlite3_bind_int64(w->insert_frame_data, 1, number);
    sqlite3_bind_int64(w->insert_frame_data, 2, w->geometry_hash);
    th_result result = th_store_step(w->db, w->path, w->insert_frame_data, error);
    if (result != TH_OK) return result;
    bool due = ++w->open_frames >= COMMIT_FRAMES || now() - w->committed_at >= COMMIT_SECONDS;
    return due ? commit(w, error) : TH_OK;
}

static th_result tell_orientation(sqlite_writer *w, bool known, th_error *error) {
    if (w->orientation_told) return TH_OK;
    w->orientation_told = true;
    return known ? TH_OK : th_store_put(w->db, w->path, TH_KEY_ORIENTATION, "unknown", error);
}

// ---- rows

static void widen(sqlite_writer *w, double min_x, double min_y, double max_x, double max_y) {
    w->min_x = fmin(w->min_x, min_x);
    w->min_y = fmin(w->min_y, min_y);
    w->max_x = fmax(w->max_x, max_x);
    w->max_y = fmax(w->max_y, max_y);
}

static th_result write_rows(sqlite_writer *w, const th_frame *frame, th_error *error) {
    th_result result = tell_orientation(w, frame->orientation_x != NULL, error);
    for (int i = 0; i < frame->count && result == TH_OK; ++i) {
        sqlite3_bind_int64(w->insert_row, 1, frame->number);
        sqlite3_bind_int64(w->insert_row, 2, frame->id[i]);
        sqlite3_bind_double(w->insert_row, 3, frame->x[i]);
        sqlite3_bind_double(w->insert_row, 4, frame->y[i]);
        // Not known: still a unit vector, as JuPedSim's viewer draws along it.
        sqlite3_bind_double(w->insert_row, 5, frame->orientation_x ? frame->orientation_x[i] : 1.0);
        sqlite3_bind_double(w->insert_row, 6, frame->orientation_x ? frame->orientation_y[i] : 0.0);
        result = th_store_step(w->db, w->path, w->insert_row, error);
        if (result != TH_OK || !w->levels) continue;
        sqlite3_bind_int64(w->insert_level, 1, frame->number);
        sqlite3_bind_int64(w->insert_level, 2, frame->id[i]);
        sqlite3_bind_int(w->insert_level, 3, frame->level ? frame->level[i] : 0);
        result = th_store_step(w->db, w->path, w->insert_level, error);
    }
    for (int i = 0; !w->has_geometry && i < frame->count; ++i)
        widen(w, frame->x[i], frame->y[i], frame->x[i], frame->y[i]);
    return result;
}

// ---- compact

static th_result set_origin(sqlite_writer *w, double x, double y, th_error *error) {
    if (w->has_origin) return TH_OK;
    w->has_origin = true;
    w->origin_x = x;
    w->origin_y = y;
    th_result result = th_store_put_number(w->db, w->path, TH_KEY_ORIGIN_X, x, error);
    if (result == TH_OK) result = th_store_put_number(w->db, w->path, TH_KEY_ORIGIN_Y, y, error);
    return result;
}

TH_CLONES static void range_of(int count, const int32_t *grid, int32_t *least, int32_t *most) {
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (int i = 0; i < count; ++i) {
        low = grid[i] < low ? grid[i] : low;
        high = grid[i] > high ? grid[i] : high;
    }
    *least = low;
    *most = high;
}

static void bind_bounds(sqlite_writer *w, const th_grid_frame *grid) {
    for (int k = 5; k <= 8; ++k) sqlite3_bind_null(w->insert_blob, k);
    if (grid->count == 0) return;
    int32_t low_x, low_y, high_x, high_y;
    range_of(grid->count, grid->x, &low_x, &high_x);
    range_of(grid->count, grid->y, &low_y, &high_y);
    double min_x = w->origin_x + low_x * w->quantum, max_x = w->origin_x + high_x * w->quantum;
    double min_y = w->origin_y + low_y * w->quantum, max_y = w->origin_y + high_y * w->quantum;
    sqlite3_bind_double(w->insert_blob, 5, min_x);
    sqlite3_bind_double(w->insert_blob, 6, min_y);
    sqlite3_bind_double(w->insert_blob, 7, max_x);
    sqlite3_bind_double(w->insert_blob, 8, max_y);
    widen(w, min_x, min_y, max_x, max_y);
}

static th_result write_grid(sqlite_writer *w, int64_t number, const th_grid_frame *grid,
                            int first_seen, th_error *error) {
    const unsigned char *bytes = NULL;
    size_t size = 0;
    th_error cause = {0};
    bool key = w->since_key == 0;
    th_result result = th_compact_encode(w->codec, grid, key, &bytes, &size, &cause);
    if (result == TH_OK && size > INT32_MAX) {
        result = TH_FULL;
        th_fail(&cause, result, "", "more than 2 GB of data; record fewer people");
    }
    if (result != TH_OK)
        return th_trajectory_fail(error, result, w->path, "frame %lld: %s", (long long)number,
                                  cause.message);
    if (key) w->key_frame = number;
    w->since_key = (w->since_key + 1) % KEY_EVERY;
    sqlite3_bind_int64(w->insert_blob, 1, number);
    sqlite3_bind_int64(w->insert_blob, 2, w->key_frame);
    sqlite3_bind_int(w->insert_blob, 3, grid->count);
    sqlite3_bind_int(w->insert_blob, 4, first_seen);
    bind_bounds(w, grid);
    sqlite3_bind_blob(w->insert_blob, 9, bytes, (int)size, SQLITE_STATIC);
    result = th_store_step(w->db, w->path, w->insert_blob, error);
    sqlite3_bind_null(w->insert_blob, 9);
    return result;
}

static th_result off_grid(const sqlite_writer *w, int64_t number, th_error *error) {
    return th_trajectory_fail(
        error, TH_BAD_ARGUMENT, w->path,
        "frame %lld: somebody is not a number or more than %.0f m from (%g, %g), further than the "
        "grid of %g m reaches; record as rows",
        (long long)number, w->quantum * 2147483646.0, w->origin_x, w->origin_y, w->quantum);
}

static th_result write_compact(sqlite_writer *w, const th_frame *frame, th_error *error) {
    int count = frame->count, first_seen = 0;
    th_result result = TH_OK;
    if (count > 0)
        result = set_origin(w, ORIGIN_STEP * rint(frame->x[0] / ORIGIN_STEP),
                            ORIGIN_STEP * rint(frame->y[0] / ORIGIN_STEP), error);
    if (result != TH_OK) return result;
    if (!th_compact_to_grid(count, frame->x, w->origin_x, w->quantum, w->grid_x) ||
        !th_compact_to_grid(count, frame->y, w->origin_y, w->quantum, w->grid_y))
        return off_grid(w, frame->number, error);
    if (!th_people_see(&w->people, count, frame->id, &first_seen))
        return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for the list of people");
    bool known = frame->orientation_x != NULL;
    for (int i = 0; known && i < count; ++i) {
        w->people.direction_x[i] = (float)frame->orientation_x[i];
        w->people.direction_y[i] = (float)frame->orientation_y[i];
    }
    if (known) th_compact_headings(count, w->people.direction_x, w->people.direction_y, w->heading);
    th_grid_frame grid = {count,
                          frame->id,
                          w->grid_x,
                          w->grid_y,
                          known ? w->heading : NULL,
                          w->levels ? frame->level : NULL};
    return write_grid(w, frame->number, &grid, first_seen, error);
}

// ---- a world's arrays

TH_CLONES static bool numbers_ascend(const th_raw_frame *frame) {
    int wrong = 0;
    for (int i = 0; i < frame->count; ++i)
        wrong |= !(fabsf(frame->x[i]) < HUGE_VALF && fabsf(frame->y[i]) < HUGE_VALF);
    for (int i = 1; i < frame->count; ++i) wrong |= frame->id[i] <= frame->id[i - 1];
    return !wrong;
}

static th_result check_raw(const th_trajectory_writer *writer, const th_raw_frame *frame,
                           th_error *error) {
    if (writer->backend != &th_sqlite_backend)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, writer->path,
                                  "this format takes no raw frames; use th_trajectory_write");
    if (frame->number <= writer->last_frame || frame->number < 0 || frame->count < 0)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, writer->path,
                                  "frame %lld after frame %lld; frames come in ascending order",
                                  (long long)frame->number, (long long)writer->last_frame);
    if (!numbers_ascend(frame))
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, writer->path,
                                  "frame %lld: ids do not ascend or somebody stands nowhere (not a "
                                  "number)",
                                  (long long)frame->number);
    uint32_t levels = writer->info.level_count > 0 ? (uint32_t)writer->info.level_count : 1;
    uint32_t highest = 0;
    for (int i = 0; frame->level && i < frame->count; ++i)
        highest = frame->level[i] > highest ? frame->level[i] : highest;
    if (highest >= levels)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, writer->path,
                                  "frame %lld: somebody is on level %u of %u",
                                  (long long)frame->number, highest, levels);
    return TH_OK;
}

static th_result write_raw_compact(sqlite_writer *w, const th_raw_frame *frame, int first_seen,
                                   th_error *error) {
    int count = frame->count;
    th_result result = set_origin(w, frame->origin_x, frame->origin_y, error);
    if (result != TH_OK) return result;
    double shift_x = frame->origin_x - w->origin_x, shift_y = frame->origin_y - w->origin_y;
    if (!th_compact_floats_to_grid(count, frame->x, shift_x, w->quantum, w->grid_x) ||
        !th_compact_floats_to_grid(count, frame->y, shift_y, w->quantum, w->grid_y))
        return off_grid(w, frame->number, error);
    bool known = frame->velocity_x != NULL;
    if (known) th_compact_headings(count, w->people.direction_x, w->people.direction_y, w->heading);
    th_grid_frame grid = {count,
                          w->id,
                          w->grid_x,
                          w->grid_y,
                          known ? w->heading : NULL,
                          w->levels && frame->level ? w->level : NULL};
    return write_grid(w, frame->number, &grid, first_seen, error);
}

static th_result write_raw_rows(sqlite_writer *w, const th_raw_frame *frame, th_error *error) {
    for (int i = 0; i < frame->count; ++i) {
        w->x[i] = frame->origin_x + (double)frame->x[i];
        w->y[i] = frame->origin_y + (double)frame->y[i];
        w->orientation_x[i] = (double)w->people.direction_x[i];
        w->orientation_y[i] = (double)w->people.direction_y[i];
    }
    th_frame rows = {.number = frame->number, .count = frame->count, .id = w->id};
    rows.x = w->x;
    rows.y = w->y;
    if (frame->velocity_x) {
        rows.orientation_x = w->orientation_x;
        rows.orientation_y = w->orientation_y;
    }
    if (frame->level) rows.level = w->level;
    return write_rows(w, &rows, error);
}

static th_result write_raw(sqlite_writer *w, const th_raw_frame *frame, th_error *error) {
    int first_seen = 0;
    for (int i = 0; i < frame->count; ++i) w->id[i] = frame->id[i];
    for (int i = 0; frame->level && i < frame->count; ++i) w->level[i] = (int32_t)frame->level[i];
    if (!th_people_see(&w->people, frame->count, w->id, &first_seen))
        return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for the list of people");
    if (frame->velocity_x) th_people_turn(&w->people, frame->velocity_x, frame->velocity_y);
    return w->compact ? write_raw_compact(w, frame, first_seen, error)
                      : write_raw_rows(w, frame, error);
}

static th_result ready(sqlite_writer *w, int count, th_error *error) {
    if (w->failed)
        return th_trajectory_fail(
            error, TH_NO_FILE, w->path,
            "writing failed before; the frames committed until then are kept");
    th_result result = reserve(w, count, error);
    return result == TH_OK ? begin(w, error) : result;
}

th_result th_compact_write_raw(th_trajectory_writer *writer, const th_raw_frame *frame,
                               th_error *error) {
    th_result result = check_raw(writer, frame, error);
    if (result != TH_OK) return result;
    sqlite_writer *w = writer->state;
    result = ready(w, frame->count, error);
    if (result == TH_OK) result = write_raw(w, frame, error);
    if (result == TH_OK) result = end_frame(w, frame->number, error);
    if (result != TH_OK) return give_up(w, result);
    writer->last_frame = frame->number;
    return TH_OK;
}

static th_result sqlite_write(th_trajectory_writer *writer, const th_frame *frame,
                              th_error *error) {
    sqlite_writer *w = writer->state;
    th_result result = ready(w, frame->count, error);
    if (result == TH_OK)
        result = w->compact ? write_compact(w, frame, error) : write_rows(w, frame, error);
    if (result == TH_OK) result = end_frame(w, frame->number, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

// ---- opening and closing

static th_result new_writer(th_trajectory_writer *writer, const char *path, int flags,
                            th_error *error) {
    sqlite_writer *w = calloc(1, sizeof *w);
    if (!w) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a writer");
    writer->state = w;
    snprintf(writer->path, sizeof writer->path, "%s", path);
    w->path = writer->path;
    w->min_x = w->min_y = HUGE_VAL;
    w->max_x = w->max_y = -HUGE_VAL;
    w->committed_at = now();
    w->failed = true; // until it is open
    int code = sqlite3_open_v2(path, &w->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (!w->db) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a database");
    if (code != SQLITE_OK) return th_store_fail(w->db, path, error);
    sqlite3_extended_result_codes(w->db, 1);
    sqlite3_busy_timeout(w->db, BUSY_MS);
    w->failed = false;
    return TH_OK;
}

static th_result prepare(sqlite_writer *w, const th_trajectory_info *info, th_error *error) {
    w->compact = info->format == TH_TRAJECTORY_COMPACT;
    w->levels = info->level_count > 1;
    w->quantum = info->quantum;
    w->has_geometry = th_store_has_geometry(info);
    th_result result = th_store_prepare(w->db, w->path, "INSERT INTO frame_data VALUES(?1, ?2)",
                                        &w->insert_frame_data, error);
    if (result == TH_OK && w->compact) {
        if (!w->codec) w->codec = th_compact_codec_create();
        if (!w->codec)
            return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for a writer");
        return th_store_prepare(w->db, w->path,
                                "INSERT INTO throng_frames VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                "?9)",
                                &w->insert_blob, error);
    }
    if (result == TH_OK)
        result = th_store_prepare(w->db, w->path,
                                  "INSERT INTO trajectory_data VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                                  &w->insert_row, error);
    if (result == TH_OK && w->levels)
        result =
            th_store_prepare(w->db, w->path, "INSERT INTO throng_level_data VALUES(?1, ?2, ?3)",
                             &w->insert_level, error);
    return result;
}

static th_result use_log(sqlite_writer *w, th_error *error) {
    return th_store_run(w->db, w->path, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
                        error);
}

static th_result sqlite_create(th_trajectory_writer *writer, const char *path, th_error *error) {
    if (writer->info.format == TH_TRAJECTORY_SQLITE)
        writer->info.quantum = 0;
    else if (!(writer->info.quantum > 0))
        writer->info.quantum = TH_STORE_QUANTUM;
    th_result result = new_writer(writer, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (result != TH_OK) return result;
    sqlite_writer *w = writer->state;
    if (writer->info.format == TH_TRAJECTORY_COMPACT)
        result = th_store_run(w->db, w->path, BLOB_PAGES, error);
    if (result == TH_OK) result = use_log(w, error);
    if (result == TH_OK) result = begin(w, error);
    if (result == TH_OK)
        result = th_store_make(w->db, w->path, &writer->info, &w->geometry_hash, error);
    if (result == TH_OK) result = prepare(w, &writer->info, error);
    if (result == TH_OK) result = commit(w, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

static th_result drop_frames(sqlite_writer *w, const th_store_facts *facts, int64_t frame,
                             th_error *error) {
    const struct {
        bool there;
        const char *sql;
    } drops[] = {{true, "DELETE FROM trajectory_data WHERE frame >= ?1"},
                 {true, "DELETE FROM frame_data WHERE frame >= ?1"},
                 {facts->has_level_rows, "DELETE FROM throng_level_data WHERE frame >= ?1"},
                 {facts->compact, "DELETE FROM throng_frames WHERE frame >= ?1"}};
    th_result result = TH_OK;
    for (size_t k = 0; k < sizeof drops / sizeof drops[0] && result == TH_OK; ++k) {
        sqlite3_stmt *statement = NULL;
        if (!drops[k].there) continue;
        result = th_store_prepare(w->db, w->path, drops[k].sql, &statement, error);
        if (result != TH_OK) break;
        sqlite3_bind_int64(statement, 1, frame);
        result = th_store_step(w->db, w->path, statement, error);
        sqlite3_finalize(statement);
    }
    return result;
}

// Reads all that stays, to know who was ever there, which way they face, and where the codec stands.
static th_result catch_up(sqlite_writer *w, const th_store_facts *facts,
                          const th_trajectory_info *info, th_error *error) {
    th_store_reader *reader = NULL;
    th_result result = th_store_reader_create(w->db, w->path, facts, info, &reader, error);
    while (result == TH_OK) {
        th_frame frame;
        int first_seen = 0;
        result = th_store_reader_next(reader, &frame, error);
        if (result != TH_OK || frame.count < 0) break;
        if (!th_people_see(&w->people, frame.count, frame.id, &first_seen)) {
            result = th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for people");
            break;
        }
        for (int i = 0; frame.orientation_x && i < frame.count; ++i) {
            w->people.direction_x[i] = (float)frame.orientation_x[i];
            w->people.direction_y[i] = (float)frame.orientation_y[i];
        }
        w->orientation_told = true;
    }
    if (result == TH_OK && facts->compact) w->codec = th_store_reader_take_codec(reader);
    th_store_reader_destroy(reader);
    return result;
}

static th_result sqlite_append(th_trajectory_writer *writer, const char *path, int64_t frame,
                               th_error *error) {
    th_result result = new_writer(writer, path, SQLITE_OPEN_READWRITE, error);
    if (result != TH_OK) return result;
    sqlite_writer *w = writer->state;
    th_store_facts facts = {0};
    result = th_store_read_facts(w->db, w->path, &writer->info, &facts, &writer->kept,
                                 &writer->kept_count, error);
    if (result == TH_OK && (facts.version != 2 || !facts.has_frame_data))
        result = th_trajectory_fail(error, TH_BAD_ARGUMENT, w->path,
                                    "only recordings of JuPedSim's version 2 can be continued; "
                                    "convert it first");
    if (result == TH_OK) result = use_log(w, error);
    if (result == TH_OK) result = begin(w, error);
    if (result == TH_OK) result = drop_frames(w, &facts, frame, error);
    if (result == TH_OK) result = th_store_count(w->db, w->path, &facts, &writer->info, error);
    if (result == TH_OK) result = catch_up(w, &facts, &writer->info, error);
    if (result == TH_OK) result = prepare(w, &writer->info, error);
    if (result != TH_OK) return give_up(w, result);
    const th_trajectory_info *info = &writer->info;
    w->has_origin = info->row_count > 0;
    w->origin_x = facts.origin_x;
    w->origin_y = facts.origin_y;
    w->geometry_hash = facts.geometry_hash;
    if (info->row_count > 0) widen(w, info->min_x, info->min_y, info->max_x, info->max_y);
    writer->last_frame = frame - 1;
    result = commit(w, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

// One file without a log beside it. Where that fails (a full disk has no room for it), the log stays
// and readers find the frames there.
static th_result fold_log(sqlite_writer *w, th_error *error) {
    if (w->failed) {
        sqlite3_exec(w->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE", NULL,
                     NULL, NULL);
        return TH_OK;
    }
    th_result result = th_store_run(w->db, w->path, "PRAGMA wal_checkpoint(TRUNCATE)", error);
    if (result == TH_OK)
        result = th_store_run(w->db, w->path, "PRAGMA journal_mode = DELETE", error);
    return result;
}

static th_result sqlite_finish(th_trajectory_writer *writer, th_error *error) {
    sqlite_writer *w = writer->state;
    if (!w) return TH_OK;
    th_result result = TH_OK;
    if (w->db && !w->failed) {
        result = commit(w, error);
        if (result != TH_OK) give_up(w, result);
    }
    sqlite3_finalize(w->insert_row);
    sqlite3_finalize(w->insert_level);
    sqlite3_finalize(w->insert_frame_data);
    sqlite3_finalize(w->insert_blob);
    if (w->db) {
        th_result folded = fold_log(w, error);
        if (result == TH_OK) result = folded;
    }
    sqlite3_close(w->db);
    th_compact_codec_destroy(w->codec);
    th_people_release(&w->people);
    void *arrays[] = {w->id,     w->x,      w->y,     w->orientation_x, w->orientation_y,
                      w->grid_x, w->grid_y, w->level, w->direction_x,   w->direction_y,
                      w->heading};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; ++k) free(arrays[k]);
    free(w);
    writer->state = NULL;
    return result;
}

const th_trajectory_backend th_sqlite_backend = {
    .recognise = th_sqlite_recognise,
    .open = th_sqlite_open,
    .next = th_sqlite_next,
    .rewind = th_sqlite_rewind,
    .close = th_sqlite_close,
    .create = sqlite_create,
    .append = sqlite_append,
    .write = sqlite_write,
    .finish = sqlite_finish,
};
