// Writes SQLite recordings, rows or compact blobs.
// Safe against a kill: write-ahead log, whole frames only, committed every COMMIT_FRAMES frames or
// COMMIT_SECONDS, whichever is first. synchronous=NORMAL: a commit costs no wait for the disk; what
// the system has taken over survives the death of the program, and after a power cut the file is
// still sound but may lack the last seconds. finish() folds the log into the file, so that one file
// remains that other programs can open read-only.
// The index on (frame, id) is there from the start, since after a kill it must be. Rows come in its
// order, so that it only ever grows at its end; still it halves the rate (0.9 against 1.8 million rows
// per second of one core) and takes 15 of 63 bytes per row. The compact form avoids both. SPDX-License-Identifier:
// Apache-2.0
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/system/system.h"
#include "record/compact.h"
#include "record/moment.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- people of the last frame with their directions, and the ids of all people ever seen
typedef struct people_seen {
    int count, capacity;
    int64_t *id;
    float *direction_x, *direction_y; // unit vectors
    float *other_x, *other_y;         // the same in the next frame's order, while it is made
    // all people ever seen: open addressing, a power of two of slots
    int64_t *slots;
    unsigned char *used;
    uint64_t slot_count, seen_count;
} people_seen;

#define STANDING 0.01f // [m/s] a millimetre in a tenth of a second, the default grid and rate

// ---- the writer
// Arrays for one frame in the shapes it goes through: X(name).
#define WRITER_ARRAYS(X) X(grid_x) X(grid_y) X(heading)

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
    people_seen people;
    bool orientation_told;             // whether it is known is in the file
    double min_x, min_y, max_x, max_y; // positions, while there is no geometry
    int capacity;
    int32_t *grid_x, *grid_y;
    uint8_t *heading;
} sqlite_writer;

// ---- one frame of a crowd: as rows, or rounded to the grid and packed

// ---- people. A steady crowd costs one comparison of ids per frame.

static uint64_t slot_of(const people_seen *people, int64_t id) {
    uint64_t mask = people->slot_count - 1, at = th_mix64((uint64_t)id) & mask;
    while (people->used[at] && people->slots[at] != id) at = (at + 1) & mask;
    return at;
}

static bool widen(people_seen *people) {
    people_seen wider = {.slot_count = people->slot_count ? people->slot_count * 2 : 1024};
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

// Only into the list of those ever seen.
static bool remember_person(people_seen *people, int64_t id, bool *is_new) {
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

static bool reserve_people(people_seen *people, int count) {
    if (count < people->capacity) return true;
    int capacity =
        th_array_capacity_int(people->capacity, count + 1); // never NULL, even for an empty frame
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

// Takes over the order of a new frame (ascending ids); newcomers face along +x. *first_seen: how many
// were never here before. False: no memory.
static bool see_people(people_seen *people, int count, const int64_t *id, int *first_seen) {
    *first_seen = 0;
    size_t bytes = (size_t)count * sizeof *id;
    if (count == people->count && (count == 0 || memcmp(id, people->id, bytes) == 0)) return true;
    if (!reserve_people(people, count)) return false;
    int j = 0;
    for (int i = 0; i < count; ++i) {
        while (j < people->count && people->id[j] < id[i]) ++j;
        bool stayed = j < people->count && people->id[j] == id[i];
        people->other_x[i] = stayed ? people->direction_x[j] : 1.0f;
        people->other_y[i] = stayed ? people->direction_y[j] : 0.0f;
        if (stayed) continue;
        bool is_new;
        if (!remember_person(people, id[i], &is_new)) return false;
        *first_seen += is_new;
    }
    swap(&people->direction_x, &people->other_x);
    swap(&people->direction_y, &people->other_y);
    if (count > 0) memcpy(people->id, id, bytes);
    people->count = count;
    return true;
}

// People face the direction of walking; a person slower than STANDING keeps the last direction.
static TH_CLONES void face_ahead(people_seen *people, const double *velocity_x,
                                 const double *velocity_y) {
    for (int i = 0; i < people->count; ++i) {
        float x = (float)velocity_x[i], y = (float)velocity_y[i];
        float speed = sqrtf(x * x + y * y);
        bool walks = speed >= STANDING && speed < INFINITY;
        float scale = 1.0f / (walks ? speed : 1.0f);
        people->direction_x[i] = walks ? x * scale : people->direction_x[i];
        people->direction_y[i] = walks ? y * scale : people->direction_y[i];
    }
}

static void release_people(people_seen *people) {
    free(people->id);
    free(people->direction_x);
    free(people->direction_y);
    free(people->other_x);
    free(people->other_y);
    free(people->slots);
    free(people->used);
    *people = (people_seen){0};
}

// ---- what is known of a frame

// Frames from key frame to key frame: five seconds at the usual rate. A key frame is as long as six
// others (measured: 7.4 bytes a person against 1.24), so that they cost a tenth of the file.
enum { KEY_EVERY = 50 };
#define ORIGIN_STEP 1000.0 // [m] so that scenes around (0, 0) keep 0 as the origin of their grid

static bool knows_directions(const th_moment *frame) {
    return frame->orientation_x || frame->velocity_x;
}

// The first frame that is not empty decides.
static th_result tell_orientation(sqlite_writer *w, const th_moment *frame, th_error *error) {
    if (w->orientation_told || frame->count == 0) return TH_OK;
    w->orientation_told = true;
    return knows_directions(frame)
               ? TH_OK
               : th_store_put(w->db, w->path, TH_KEY_ORIENTATION, "unknown", error);
}

// Where a person faces. Not known: still a unit vector, as JuPedSim's viewer draws along it.
static double facing_x(const sqlite_writer *w, const th_moment *frame, int i) {
    if (frame->orientation_x) return frame->orientation_x[i];
    return frame->velocity_x ? (double)w->people.direction_x[i] : 1.0;
}
static double facing_y(const sqlite_writer *w, const th_moment *frame, int i) {
    if (frame->orientation_x) return frame->orientation_y[i];
    return frame->velocity_x ? (double)w->people.direction_y[i] : 0.0;
}

// ---- rows

// Widens the bounds of the positions.
static void widen_bounds(sqlite_writer *w, double min_x, double min_y, double max_x, double max_y) {
    w->min_x = fmin(w->min_x, min_x);
    w->min_y = fmin(w->min_y, min_y);
    w->max_x = fmax(w->max_x, max_x);
    w->max_y = fmax(w->max_y, max_y);
}

static th_result write_rows(sqlite_writer *w, const th_moment *frame, th_error *error) {
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
        widen_bounds(w, x, y, x, y);
    }
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
    widen_bounds(w, min_x, min_y, max_x, max_y);
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
    return th_trajectory_fail(error, TH_BAD_ARGUMENT, w->path,
                              "frame %lld: a position is not a number or more than %.0f m from "
                              "(%g, %g), further than the "
                              "grid of %g m reaches; record as rows",
                              (long long)number, w->quantum * 2147483646.0, w->origin_x,
                              w->origin_y, w->quantum);
}

// The grid's origin is the world's, or near the first person of a recording from elsewhere.
static th_result choose_origin(sqlite_writer *w, const th_moment *frame, th_error *error) {
    if (frame->has_origin) return set_origin(w, frame->origin.x, frame->origin.y, error);
    if (frame->count == 0) return TH_OK;
    return set_origin(w, ORIGIN_STEP * rint(frame->x[0] / ORIGIN_STEP),
                      ORIGIN_STEP * rint(frame->y[0] / ORIGIN_STEP), error);
}

// Every person's direction in the frame, as far as it is known. False: no memory.
static bool turn_people(sqlite_writer *w, const th_moment *frame, int *first_seen) {
    people_seen *people = &w->people;
    if (!see_people(people, frame->count, frame->id, first_seen)) return false;
    for (int i = 0; frame->orientation_x && i < frame->count; ++i) {
        people->direction_x[i] = (float)frame->orientation_x[i];
        people->direction_y[i] = (float)frame->orientation_y[i];
    }
    if (frame->velocity_x && !frame->orientation_x)
        face_ahead(people, frame->velocity_x, frame->velocity_y);
    return true;
}

static th_result no_memory(const sqlite_writer *w, th_error *error) {
    return th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for the list of people");
}

static th_result write_compact(sqlite_writer *w, const th_moment *frame, th_error *error) {
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

// Puts one frame, without its row in frame_data, into the open transaction. `w` has room for it.
static th_result put_frame(sqlite_writer *w, const th_moment *frame, th_error *error) {
    int ignored = 0;
    if (w->compact) return write_compact(w, frame, error);
    bool turn = frame->velocity_x && !frame->orientation_x;
    if (turn && !turn_people(w, frame, &ignored)) return no_memory(w, error);
    return write_rows(w, frame, error);
}

// ---- the writer, from its first statement to the end of the file

enum {
    COMMIT_FRAMES = 10,
    BUSY_MS = 2000, // how long to wait for another writer
    FOLD_MS = 200,  // how long to wait for readers when closing
};
// Measured with blobs of 1.6 MB: 10 % less work than with 4 KiB, as much as with 64 KiB. Rows stay with
// the default, where a small file stays small.
#define BLOB_PAGES "PRAGMA page_size = 16384"
#define COMMIT_SECONDS 0.2 // what a kill may cost [s]

static th_result reserve(sqlite_writer *w, int count, th_error *error) {
    if (count < w->capacity) return TH_OK;
    int capacity =
        th_array_capacity_int(w->capacity, count + 1); // never NULL, even for an empty frame
#define X(array) &&TH_RESIZE(w->array, capacity)
    bool good = true WRITER_ARRAYS(X);
#undef X
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
    w->committed_at = th_monotonic_seconds();
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
    bool due = ++w->open_frames >= COMMIT_FRAMES ||
               th_monotonic_seconds() - w->committed_at >= COMMIT_SECONDS;
    return due ? commit(w, error) : TH_OK;
}

// ---- frames

static th_result check_sound(const sqlite_writer *w, th_error *error) {
    if (!w->failed) return TH_OK;
    return th_trajectory_fail(error, TH_NO_FILE, w->path,
                              "writing failed before; the frames committed until then are kept");
}

static th_result ready(sqlite_writer *w, int count, th_error *error) {
    th_result result = check_sound(w, error);
    if (result == TH_OK) result = reserve(w, count, error);
    return result == TH_OK ? begin(w, error) : result;
}

static th_result sqlite_write(th_trajectory_writer *writer, const th_moment *frame,
                              th_error *error) {
    sqlite_writer *w = writer->state;
    th_result result = ready(w, frame->count, error);
    if (result == TH_OK) result = put_frame(w, frame, error);
    if (result == TH_OK) result = end_frame(w, frame->number, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

static th_result sqlite_commit(th_trajectory_writer *writer, th_error *error) {
    sqlite_writer *w = writer->state;
    th_result result = check_sound(w, error);
    if (result == TH_OK) result = commit(w, error);
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
    w->committed_at = th_monotonic_seconds();
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

// Reads all that stays, to know which people were ever there, which way they face, and where the codec stands.
static th_result catch_up(sqlite_writer *w, const th_store_facts *facts,
                          const th_trajectory_info *info, th_error *error) {
    th_store_reader *reader = NULL;
    th_result result = th_store_reader_create(w->db, w->path, facts, info, &reader, error);
    while (result == TH_OK) {
        th_moment frame;
        int first_seen = 0;
        result = th_store_reader_next(reader, &frame, error);
        if (result != TH_OK || frame.count < 0) break;
        if (!see_people(&w->people, frame.count, frame.id, &first_seen)) {
            result = th_trajectory_fail(error, TH_NO_MEMORY, w->path, "no memory for people");
            break;
        }
        for (int i = 0; frame.orientation_x && i < frame.count; ++i) {
            w->people.direction_x[i] = (float)frame.orientation_x[i];
            w->people.direction_y[i] = (float)frame.orientation_y[i];
        }
        if (frame.count > 0) w->orientation_told = true;
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
    th_store_budget budget;
    result = th_store_guard(w->db, w->path, &budget, error);
    if (result == TH_OK)
        result = th_store_read_facts(w->db, w->path, &budget, &writer->info, &facts, &writer->kept,
                                     error);
    if (result == TH_OK && (facts.version != 2 || !facts.has_frame_data))
        result = th_trajectory_fail(error, TH_BAD_ARGUMENT, w->path,
                                    "only recordings of JuPedSim's version 2 can be continued; "
                                    "convert it first");
    if (result == TH_OK) result = use_log(w, error);
    if (result == TH_OK) result = begin(w, error);
    if (result == TH_OK) result = drop_frames(w, &facts, frame, error);
    if (result == TH_OK) result = th_store_count(w->db, w->path, &facts, &writer->info, error);
    if (result == TH_OK) result = catch_up(w, &facts, &writer->info, error);
    th_store_trust(w->db);
    if (result == TH_OK) result = prepare(w, &writer->info, error);
    if (result != TH_OK) return give_up(w, result);
    const th_trajectory_info *info = &writer->info;
    w->has_origin = info->row_count > 0;
    w->origin_x = facts.origin_x;
    w->origin_y = facts.origin_y;
    w->geometry_hash = facts.geometry_hash;
    if (info->row_count > 0) widen_bounds(w, info->min_x, info->min_y, info->max_x, info->max_y);
    writer->last_frame = frame - 1;
    result = commit(w, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

// One file without a log beside it. Where that fails, all frames are still there, in the log: a full
// disk has no room for it, and while a process reads the log cannot go; the last reader folds it then.
static th_result fold_log(sqlite_writer *w, th_error *error) {
    sqlite3_busy_timeout(w->db, FOLD_MS);
    int code = sqlite3_exec(w->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE",
                            NULL, NULL, NULL) &
               255;
    bool fine = code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED || w->failed;
    return fine ? TH_OK : th_store_fail(w->db, w->path, error);
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
    release_people(&w->people);
#define X(array) free(w->array);
    WRITER_ARRAYS(X)
#undef X
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
    .commit = sqlite_commit,
};
