// One frame of a crowd into an SQLite recording: as rows, or rounded to the grid and packed.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/parallel.h"
#include "record/sqlite_writer.h"
#include <math.h>

// Frames from key frame to key frame: five seconds at the usual rate. A key frame is as long as six
// others (measured: 7.4 bytes a person against 1.24), so that they cost a tenth of the file.
enum { KEY_EVERY = 50 };
#define ORIGIN_STEP 1000.0 // [m] so that scenes around (0, 0) keep 0 as the origin of their grid

// The first frame with somebody in it decides.
static th_result tell_orientation(th_sqlite_writer *w, const th_frame *frame, th_error *error) {
    if (w->orientation_told || frame->count == 0) return TH_OK;
    w->orientation_told = true;
    return frame->orientation_x
               ? TH_OK
               : th_store_put(w->db, w->path, TH_KEY_ORIENTATION, "unknown", error);
}

// ---- rows

void th_sqlite_widen(th_sqlite_writer *w, double min_x, double min_y, double max_x, double max_y) {
    w->min_x = fmin(w->min_x, min_x);
    w->min_y = fmin(w->min_y, min_y);
    w->max_x = fmax(w->max_x, max_x);
    w->max_y = fmax(w->max_y, max_y);
}

static th_result write_rows(th_sqlite_writer *w, const th_frame *frame, th_error *error) {
    th_result result = tell_orientation(w, frame, error);
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
        th_sqlite_widen(w, frame->x[i], frame->y[i], frame->x[i], frame->y[i]);
    return result;
}

// ---- compact

static th_result set_origin(th_sqlite_writer *w, double x, double y, th_error *error) {
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

static void bind_bounds(th_sqlite_writer *w, const th_grid_frame *grid) {
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
    th_sqlite_widen(w, min_x, min_y, max_x, max_y);
}

static th_result write_grid(th_sqlite_writer *w, int64_t number, const th_grid_frame *grid,
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

static th_result off_grid(const th_sqlite_writer *w, int64_t number, th_error *error) {
    return th_trajectory_fail(
        error, TH_BAD_ARGUMENT, w->path,
        "frame %lld: somebody is not a number or more than %.0f m from (%g, %g), further than the "
        "grid of %g m reaches; record as rows",
        (long long)number, w->quantum * 2147483646.0, w->origin_x, w->origin_y, w->quantum);
}

static th_result write_compact(th_sqlite_writer *w, const th_frame *frame, th_error *error) {
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

th_result th_sqlite_check_raw(const th_trajectory_writer *writer, const th_raw_frame *frame,
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

static th_result write_raw_compact(th_sqlite_writer *w, const th_raw_frame *frame, int first_seen,
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

static th_result write_raw_rows(th_sqlite_writer *w, const th_raw_frame *frame, th_error *error) {
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

th_result th_sqlite_put_raw(th_sqlite_writer *w, const th_raw_frame *frame, th_error *error) {
    int first_seen = 0;
    for (int i = 0; i < frame->count; ++i) w->id[i] = frame->id[i];
    for (int i = 0; frame->level && i < frame->count; ++i) w->level[i] = (int32_t)frame->level[i];
    if (!th_people_see(&w->people, frame->count, w->id, &first_seen))
        return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for the list of people");
    if (frame->velocity_x) th_people_turn(&w->people, frame->velocity_x, frame->velocity_y);
    return w->compact ? write_raw_compact(w, frame, first_seen, error)
                      : write_raw_rows(w, frame, error);
}

th_result th_sqlite_put_frame(th_sqlite_writer *w, const th_frame *frame, th_error *error) {
    return w->compact ? write_compact(w, frame, error) : write_rows(w, frame, error);
}
