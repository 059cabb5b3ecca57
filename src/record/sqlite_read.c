// Reads SQLite recordings frame by frame, rows and compact blobs alike.
// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "formula/math.h"
#include "record/compact.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct th_store_reader {
    sqlite3 *db;
    const char *path;
    bool compact, has_orientation, has_level;
    double quantum, origin_x, origin_y;
    sqlite3_stmt *frames; // numbers from frame_data, or the blobs
    sqlite3_stmt *rows;   // NULL when compact
    bool begun, frame_waits, row_waits;
    th_compact_codec *codec;
    bool skip;  // after damage: to the next key frame
    bool ended; // stepping the statement again would restart it
    double cosine[TH_COMPACT_HEADINGS], sine[TH_COMPACT_HEADINGS];
    // the frame given out last
    int count, capacity;
    int64_t *id;
    double *x, *y, *orientation_x, *orientation_y;
    int32_t *level;
};

static bool reserve(th_store_reader *r, int count) {
    if (count < r->capacity) return true;
    int capacity = th_array_capacity_int(r->capacity, count + 1); // never NULL, even for nobody
    if (!TH_RESIZE(r->id, capacity) || !TH_RESIZE(r->x, capacity) || !TH_RESIZE(r->y, capacity) ||
        !TH_RESIZE(r->orientation_x, capacity) || !TH_RESIZE(r->orientation_y, capacity) ||
        !TH_RESIZE(r->level, capacity))
        return false;
    r->capacity = capacity;
    return true;
}

static th_result no_memory(const th_store_reader *r, th_error *error) {
    return th_trajectory_fail(error, TH_NO_MEMORY, r->path, "no memory for a frame");
}

static void give_out(const th_store_reader *r, int64_t number, th_moment *frame) {
    *frame = (th_moment){.number = number, .count = r->count, .id = r->id, .x = r->x, .y = r->y};
    if (r->has_orientation) {
        frame->orientation_x = r->orientation_x;
        frame->orientation_y = r->orientation_y;
    }
    if (r->has_level) frame->level = r->level;
}

// ---- rows

static th_result advance(th_store_reader *r, sqlite3_stmt *statement, bool *waits,
                         th_error *error) {
    *waits = false;
    if (!statement) return TH_OK;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) return th_store_fail(r->db, r->path, error);
    *waits = code == SQLITE_ROW;
    return TH_OK;
}

static bool is_number(sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    return (type == SQLITE_FLOAT || type == SQLITE_INTEGER) &&
           isfinite(sqlite3_column_double(row, column));
}

// False also for what is missing: people without a row in the table of levels.
static bool is_whole(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_INTEGER;
}

static th_result take_row(th_store_reader *r, int64_t number, th_error *error) {
    if (r->count == TH_COMPACT_PEOPLE_MAX || !reserve(r, r->count + 1)) return no_memory(r, error);
    sqlite3_stmt *row = r->rows;
    int i = r->count++;
    r->id[i] = sqlite3_column_int64(row, 1);
    r->x[i] = sqlite3_column_double(row, 2);
    r->y[i] = sqlite3_column_double(row, 3);
    bool numbers = is_whole(row, 0) && is_whole(row, 1) && is_number(row, 2) && is_number(row, 3);
    if (r->has_orientation) {
        r->orientation_x[i] = sqlite3_column_double(row, 4);
        r->orientation_y[i] = sqlite3_column_double(row, 5);
        numbers = numbers && is_number(row, 4) && is_number(row, 5);
    }
    if (r->has_level) {
        int64_t level = is_whole(row, 6) ? sqlite3_column_int64(row, 6) : -1;
        r->level[i] = level >= 0 && level < INT32_MAX ? (int32_t)level : -1;
        numbers = numbers && r->level[i] >= 0;
    }
    if (!numbers)
        return th_trajectory_fail(error, TH_NO_FILE, r->path,
                                  "frame %lld: the row of person %lld does not hold numbers: whole "
                                  "ones for frame, id and level, others for the position",
                                  (long long)number, (long long)r->id[i]);
    if (i > 0 && r->id[i] == r->id[i - 1])
        return th_trajectory_fail(error, TH_NO_FILE, r->path,
                                  "frame %lld: person %lld is there twice", (long long)number,
                                  (long long)r->id[i]);
    return TH_OK;
}

static th_result next_rows(th_store_reader *r, th_moment *frame, th_error *error) {
    th_result result = TH_OK;
    if (!r->begun) {
        result = advance(r, r->frames, &r->frame_waits, error);
        if (result == TH_OK) result = advance(r, r->rows, &r->row_waits, error);
        r->begun = true;
    }
    r->count = 0;
    if (result != TH_OK) return result;
    if (!r->frame_waits && !r->row_waits) {
        *frame = (th_moment){.count = -1};
        return TH_OK;
    }
    int64_t named = r->frame_waits ? sqlite3_column_int64(r->frames, 0) : INT64_MAX;
    int64_t walked = r->row_waits ? sqlite3_column_int64(r->rows, 0) : INT64_MAX;
    int64_t number = named < walked ? named : walked;
    while (result == TH_OK && r->row_waits && sqlite3_column_int64(r->rows, 0) == number) {
        result = take_row(r, number, error);
        if (result == TH_OK) result = advance(r, r->rows, &r->row_waits, error);
    }
    if (result == TH_OK && r->frame_waits && named == number)
        result = advance(r, r->frames, &r->frame_waits, error);
    if (result == TH_OK) give_out(r, number, frame);
    return result;
}

// ---- compact

static th_result unpack(th_store_reader *r, int64_t number, th_error *error) {
    int64_t count = sqlite3_column_int64(r->frames, 2);
    const unsigned char *bytes = sqlite3_column_blob(r->frames, 3);
    size_t size = (size_t)sqlite3_column_bytes(r->frames, 3);
    th_grid_frame grid = {0};
    th_error cause = {0};
    th_result result = TH_NO_FILE;
    if (count < 0 || count > TH_COMPACT_PEOPLE_MAX)
        th_fail(&cause, result, "", "the data is damaged (number of people)");
    else
        result = th_compact_decode(r->codec, bytes ? bytes : (const unsigned char *)"", size,
                                   (int)count, &grid, &cause);
    if (result == TH_OK && !reserve(r, (int)count)) return no_memory(r, error);
    if (result != TH_OK)
        return th_trajectory_fail(error, result, r->path,
                                  "frame %lld: %s; reading can go on at the next key frame",
                                  (long long)number, cause.message);
    r->count = (int)count;
    r->has_orientation = grid.heading != NULL;
    for (int i = 0; i < grid.count; ++i) {
        r->id[i] = grid.id[i];
        r->x[i] = r->origin_x + grid.x[i] * r->quantum;
        r->y[i] = r->origin_y + grid.y[i] * r->quantum;
        r->level[i] = grid.level[i];
    }
    for (int i = 0; grid.heading && i < grid.count; ++i) {
        r->orientation_x[i] = r->cosine[grid.heading[i]];
        r->orientation_y[i] = r->sine[grid.heading[i]];
    }
    return TH_OK;
}

static th_result next_compact(th_store_reader *r, th_moment *frame, th_error *error) {
    for (;;) {
        bool waits = false;
        th_result result = r->ended ? TH_OK : advance(r, r->frames, &waits, error);
        if (result != TH_OK) return result;
        if (!waits) {
            r->ended = true;
            *frame = (th_moment){.count = -1};
            return TH_OK;
        }
        int64_t number = sqlite3_column_int64(r->frames, 0);
        if (r->skip && sqlite3_column_int64(r->frames, 1) != number) continue;
        result = unpack(r, number, error);
        r->skip = result != TH_OK;
        if (result == TH_OK) give_out(r, number, frame);
        return result;
    }
}

// ---- reader

th_result th_store_reader_next(th_store_reader *r, th_moment *frame, th_error *error) {
    return r->compact ? next_compact(r, frame, error) : next_rows(r, frame, error);
}

void th_store_reader_rewind(th_store_reader *r) {
    if (r->frames) sqlite3_reset(r->frames);
    if (r->rows) sqlite3_reset(r->rows);
    r->begun = r->skip = r->ended = false;
}

void th_store_reader_destroy(th_store_reader *r) {
    if (!r) return;
    sqlite3_finalize(r->frames);
    sqlite3_finalize(r->rows);
    th_compact_codec_destroy(r->codec);
    free(r->id);
    free(r->x);
    free(r->y);
    free(r->orientation_x);
    free(r->orientation_y);
    free(r->level);
    free(r);
}

struct th_compact_codec *th_store_reader_take_codec(th_store_reader *r) {
    th_compact_codec *codec = r->codec;
    r->codec = NULL;
    return codec;
}

static th_result prepare_rows(th_store_reader *r, const th_store_facts *facts, th_error *error) {
    char sql[512];
    const char *level = r->has_level ? "l.level" : "0";
    snprintf(sql, sizeof sql,
             "SELECT t.frame, t.id, t.pos_x, t.pos_y, %s, %s FROM trajectory_data t%s"
             " ORDER BY t.frame, t.id",
             r->has_orientation ? "t.ori_x, t.ori_y" : "0, 0", level,
             r->has_level ? " LEFT JOIN throng_level_data l ON l.frame = t.frame AND l.id = t.id"
                          : "");
    th_result result = th_store_prepare(r->db, r->path, sql, &r->rows, error);
    if (result == TH_OK && facts->has_frame_data)
        result =
            th_store_prepare(r->db, r->path, "SELECT DISTINCT frame FROM frame_data ORDER BY frame",
                             &r->frames, error);
    return result;
}

static th_result prepare_compact(th_store_reader *r, th_error *error) {
    r->codec = th_compact_codec_create();
    if (!r->codec) return no_memory(r, error);
    for (int k = 0; k < TH_COMPACT_HEADINGS; ++k)
        th_sincos_turn((double)k / TH_COMPACT_HEADINGS, &r->sine[k], &r->cosine[k]);
    return th_store_prepare(
        r->db, r->path, "SELECT frame, key_frame, count, data FROM throng_frames ORDER BY frame",
        &r->frames, error);
}

th_result th_store_reader_create(sqlite3 *db, const char *path, const th_store_facts *facts,
                                 const th_trajectory_info *info, th_store_reader **reader,
                                 th_error *error) {
    *reader = NULL;
    th_store_reader *r = calloc(1, sizeof *r);
    if (!r) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a reader");
    r->db = db;
    r->path = path;
    r->compact = facts->compact;
    r->has_orientation = facts->has_orientation;
    r->has_level = info->level_count > 1 && (facts->compact || facts->has_level_rows);
    r->quantum = info->quantum;
    r->origin_x = facts->origin_x;
    r->origin_y = facts->origin_y;
    th_result result = r->compact ? prepare_compact(r, error) : prepare_rows(r, facts, error);
    if (result != TH_OK) {
        th_store_reader_destroy(r);
        return result;
    }
    *reader = r;
    return TH_OK;
}

// ---- backend

typedef struct sqlite_state {
    sqlite3 *db;
    th_store_budget budget;
    th_store_facts facts;
    th_store_reader *reader;
} sqlite_state;

bool th_sqlite_recognise(const unsigned char *head, size_t size) {
    return size >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

th_result th_sqlite_open(th_trajectory *trajectory, const char *path, th_error *error) {
    sqlite_state *state = calloc(1, sizeof *state);
    if (!state) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a reader");
    trajectory->state = state;
    snprintf(trajectory->path, sizeof trajectory->path, "%s", path);
    th_result result = th_store_open(path, &state->db, &state->budget, error);
    if (result == TH_OK)
        result = th_store_read_facts(state->db, path, &state->budget, &trajectory->info,
                                     &state->facts, &trajectory->kept, error);
    if (result == TH_OK)
        result = th_store_count(state->db, path, &state->facts, &trajectory->info, error);
    if (result == TH_OK)
        result = th_store_reader_create(state->db, trajectory->path, &state->facts,
                                        &trajectory->info, &state->reader, error);
    th_store_budget_renew(&state->budget);
    return result;
}

th_result th_sqlite_next(th_trajectory *trajectory, th_moment *frame, th_error *error) {
    sqlite_state *state = trajectory->state;
    return th_store_reader_next(state->reader, frame, error);
}

void th_sqlite_rewind(th_trajectory *trajectory) {
    sqlite_state *state = trajectory->state;
    th_store_reader_rewind(state->reader);
    th_store_budget_renew(&state->budget);
}

void th_sqlite_close(th_trajectory *trajectory) {
    sqlite_state *state = trajectory->state;
    if (!state) return;
    th_store_reader_destroy(state->reader);
    sqlite3_close(state->db);
    free(state);
    trajectory->state = NULL;
}
