// One frame of a crowd into an SQLite recording: as rows, or rounded to the grid and packed.
// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "record/sqlite_writer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- people. A steady crowd costs one comparison of ids per frame.

static uint64_t slot_of(const th_people *people, int64_t id) {
    uint64_t mask = people->slot_count - 1, at = th_mix64((uint64_t)id) & mask;
    while (people->used[at] && people->slots[at] != id) at = (at + 1) & mask;
    return at;
}

static bool widen(th_people *people) {
    th_people wider = {.slot_count = people->slot_count ? people->slot_count * 2 : 1024};
    wider.slots = malloc(wider.slot_count * sizeof *wider.slots);
    wider.used = calloc(wider.slot_count, 1);
    if (!wider.slots || !wider.used) {
        free(wider.slots);
        free(wider.used);
        return false;
    }
    for (uint64_t k = 0; k < people->slot_count; ++k) {
        if (!people->used[k]) continue;
        uint64_t at = slot_of(&wider, people->slots[k]);
        wider.slots[at] = people->slots[k];
        wider.used[at] = 1;
    }
    free(people->slots);
    free(people->used);
    people->slots = wider.slots;
    people->used = wider.used;
    people->slot_count = wider.slot_count;
    return true;
}

bool th_people_remember(th_people *people, int64_t id, bool *is_new) {
    *is_new = false;
    if (people->seen_count >= people->slot_count / 2 && !widen(people)) return false;
    uint64_t at = slot_of(people, id);
    if (people->used[at]) return true;
    people->slots[at] = id;
    people->used[at] = 1;
    people->seen_count++;
    *is_new = true;
    return true;
}

static bool reserve(th_people *people, int count) {
    if (count < people->capacity) return true;
    int capacity =
        th_array_capacity_int(people->capacity, count + 1); // never NULL, even for nobody
    if (!TH_RESIZE(people->id, capacity) || !TH_RESIZE(people->direction_x, capacity) ||
        !TH_RESIZE(people->direction_y, capacity) || !TH_RESIZE(people->other_x, capacity) ||
        !TH_RESIZE(people->other_y, capacity))
        return false;
    people->capacity = capacity;
    return true;
}

static void swap(float **a, float **b) {
    float *kept = *a;
    *a = *b;
    *b = kept;
}

bool th_people_see(th_people *people, int count, const int64_t *id, int *first_seen) {
    *first_seen = 0;
    size_t bytes = (size_t)count * sizeof *id;
    if (count == people->count && (count == 0 || memcmp(id, people->id, bytes) == 0)) return true;
    if (!reserve(people, count)) return false;
    int j = 0;
    for (int i = 0; i < count; ++i) {
        while (j < people->count && people->id[j] < id[i]) ++j;
        bool stayed = j < people->count && people->id[j] == id[i];
        people->other_x[i] = stayed ? people->direction_x[j] : 1.0f;
        people->other_y[i] = stayed ? people->direction_y[j] : 0.0f;
        if (stayed) continue;
        bool is_new;
        if (!th_people_remember(people, id[i], &is_new)) return false;
        *first_seen += is_new;
    }
    swap(&people->direction_x, &people->other_x);
    swap(&people->direction_y, &people->other_y);
    if (count > 0) memcpy(people->id, id, bytes);
    people->count = count;
    return true;
}

TH_CLONES void th_people_turn(th_people *people, const double *velocity_x,
                              const double *velocity_y) {
    for (int i = 0; i < people->count; ++i) {
        float x = (float)velocity_x[i], y = (float)velocity_y[i];
        float speed = sqrtf(x * x + y * y);
        bool walks = speed >= TH_STANDING && speed < INFINITY;
        float scale = 1.0f / (walks ? speed : 1.0f);
        people->direction_x[i] = walks ? x * scale : people->direction_x[i];
        people->direction_y[i] = walks ? y * scale : people->direction_y[i];
    }
}

void th_people_release(th_people *people) {
    free(people->id);
    free(people->direction_x);
    free(people->direction_y);
    free(people->other_x);
    free(people->other_y);
    free(people->slots);
    free(people->used);
    *people = (th_people){0};
}

// ---- what is known of a frame

// Frames from key frame to key frame: five seconds at the usual rate. A key frame is as long as six
// others (measured: 7.4 bytes a person against 1.24), so that they cost a tenth of the file.
enum { KEY_EVERY = 50 };
#define ORIGIN_STEP 1000.0 // [m] so that scenes around (0, 0) keep 0 as the origin of their grid

static bool knows_directions(const th_moment *frame) {
    return frame->orientation_x || frame->velocity_x;
}

// The first frame with somebody in it decides.
static th_result tell_orientation(th_sqlite_writer *w, const th_moment *frame, th_error *error) {
    if (w->orientation_told || frame->count == 0) return TH_OK;
    w->orientation_told = true;
    return knows_directions(frame)
               ? TH_OK
               : th_store_put(w->db, w->path, TH_KEY_ORIENTATION, "unknown", error);
}

// Where somebody faces. Not known: still a unit vector, as JuPedSim's viewer draws along it.
static double facing_x(const th_sqlite_writer *w, const th_moment *frame, int i) {
    if (frame->orientation_x) return frame->orientation_x[i];
    return frame->velocity_x ? (double)w->people.direction_x[i] : 1.0;
}
static double facing_y(const th_sqlite_writer *w, const th_moment *frame, int i) {
    if (frame->orientation_x) return frame->orientation_y[i];
    return frame->velocity_x ? (double)w->people.direction_y[i] : 0.0;
}

// ---- rows

void th_sqlite_widen(th_sqlite_writer *w, double min_x, double min_y, double max_x, double max_y) {
    w->min_x = fmin(w->min_x, min_x);
    w->min_y = fmin(w->min_y, min_y);
    w->max_x = fmax(w->max_x, max_x);
    w->max_y = fmax(w->max_y, max_y);
}

static th_result write_rows(th_sqlite_writer *w, const th_moment *frame, th_error *error) {
    th_result result = tell_orientation(w, frame, error);
    for (int i = 0; i < frame->count && result == TH_OK; ++i) {
        sqlite3_bind_int64(w->insert_row, 1, frame->number);
        sqlite3_bind_int64(w->insert_row, 2, frame->id[i]);
        sqlite3_bind_double(w->insert_row, 3, th_moment_x(frame, i));
        sqlite3_bind_double(w->insert_row, 4, th_moment_y(frame, i));
        sqlite3_bind_double(w->insert_row, 5, facing_x(w, frame, i));
        sqlite3_bind_double(w->insert_row, 6, facing_y(w, frame, i));
        result = th_store_step(w->db, w->path, w->insert_row, error);
        if (result != TH_OK || !w->levels) continue;
        sqlite3_bind_int64(w->insert_level, 1, frame->number);
        sqlite3_bind_int64(w->insert_level, 2, frame->id[i]);
        sqlite3_bind_int(w->insert_level, 3, th_moment_level(frame, i));
        result = th_store_step(w->db, w->path, w->insert_level, error);
    }
    for (int i = 0; !w->has_geometry && i < frame->count; ++i) {
        double x = th_moment_x(frame, i), y = th_moment_y(frame, i);
        th_sqlite_widen(w, x, y, x, y);
    }
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

// The grid's origin is the world's, or near the first person of a recording from elsewhere.
static th_result choose_origin(th_sqlite_writer *w, const th_moment *frame, th_error *error) {
    if (frame->has_origin) return set_origin(w, frame->origin.x, frame->origin.y, error);
    if (frame->count == 0) return TH_OK;
    return set_origin(w, ORIGIN_STEP * rint(frame->x[0] / ORIGIN_STEP),
                      ORIGIN_STEP * rint(frame->y[0] / ORIGIN_STEP), error);
}

// Everybody's direction in the frame, as far as it is known. False: no memory.
static bool turn_people(th_sqlite_writer *w, const th_moment *frame, int *first_seen) {
    th_people *people = &w->people;
    if (!th_people_see(people, frame->count, frame->id, first_seen)) return false;
    for (int i = 0; frame->orientation_x && i < frame->count; ++i) {
        people->direction_x[i] = (float)frame->orientation_x[i];
        people->direction_y[i] = (float)frame->orientation_y[i];
    }
    if (frame->velocity_x && !frame->orientation_x)
        th_people_turn(people, frame->velocity_x, frame->velocity_y);
    return true;
}

static th_result no_memory(const th_sqlite_writer *w, th_error *error) {
    return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for the list of people");
}

static th_result write_compact(th_sqlite_writer *w, const th_moment *frame, th_error *error) {
    int count = frame->count, first_seen = 0;
    th_result result = choose_origin(w, frame, error);
    if (result != TH_OK) return result;
    double low_x = w->origin_x - frame->origin.x, low_y = w->origin_y - frame->origin.y;
    if (!th_compact_to_grid(count, frame->x, low_x, w->quantum, w->grid_x) ||
        !th_compact_to_grid(count, frame->y, low_y, w->quantum, w->grid_y))
        return off_grid(w, frame->number, error);
    if (!turn_people(w, frame, &first_seen)) return no_memory(w, error);
    bool known = knows_directions(frame);
    if (known) th_compact_headings(count, w->people.direction_x, w->people.direction_y, w->heading);
    th_grid_frame grid = {count,
                          frame->id,
                          w->grid_x,
                          w->grid_y,
                          known ? w->heading : NULL,
                          w->levels ? frame->level : NULL};
    return write_grid(w, frame->number, &grid, first_seen, error);
}

th_result th_sqlite_put_frame(th_sqlite_writer *w, const th_moment *frame, th_error *error) {
    int ignored = 0;
    if (w->compact) return write_compact(w, frame, error);
    bool turn = frame->velocity_x && !frame->orientation_x;
    if (turn && !turn_people(w, frame, &ignored)) return no_memory(w, error);
    return write_rows(w, frame, error);
}
