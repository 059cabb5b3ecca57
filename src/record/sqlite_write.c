// Writes SQLite recordings, rows or compact blobs.
//
// Safe against a kill: write-ahead log, whole frames only, committed every COMMIT_FRAMES frames or
// COMMIT_SECONDS, whichever is first. synchronous=NORMAL: a commit costs no wait for the disk; what
// the system has taken over survives the death of the program, and after a power cut the file is
// still sound but may lack the last seconds. finish() folds the log into the file, so that one file
// remains that other programs can open read-only.
// The index on (frame, id) is there from the start, since after a kill it must be. Rows come in its
// order, so that it only ever grows at its end; still it halves the rate (0.9 against 1.8 million rows
// per second of one core) and takes 15 of 63 bytes per row. The compact form avoids both.
// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/clock.h"
#include "record/sqlite_writer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COMMIT_FRAMES = 10,
    BUSY_MS = 2000, // how long to wait for another writer
    FOLD_MS = 200,  // how long to wait for readers when closing
};
// Measured with blobs of 1.6 MB: 10 % less work than with 4 KiB, as much as with 64 KiB. Rows stay with
// the default, where a small file stays small.
#define BLOB_PAGES "PRAGMA page_size = 16384"
#define COMMIT_SECONDS 0.2 // what a kill may cost [s]

static th_result reserve(th_sqlite_writer *w, int count, th_error *error) {
    if (count < w->capacity) return TH_OK;
    int capacity = th_array_capacity_int(w->capacity, count + 1); // never NULL, even for nobody
#define X(array) &&TH_RESIZE(w->array, capacity)
    bool good = true TH_WRITER_ARRAYS(X);
#undef X
    if (!good)
        return th_trajectory_fail(error, TH_NO_MEMORY, w->path,
                                  "no memory for a frame of %d people", count);
    w->capacity = capacity;
    return TH_OK;
}

// ---- transactions

static th_result begin(th_sqlite_writer *w, th_error *error) {
    if (!sqlite3_get_autocommit(w->db)) return TH_OK;
    return th_store_run(w->db, w->path, "BEGIN IMMEDIATE", error);
}

static th_result commit(th_sqlite_writer *w, th_error *error) {
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
static th_result give_up(th_sqlite_writer *w, th_result result) {
    if (result == TH_BAD_ARGUMENT) return result;
    w->failed = true;
    if (!sqlite3_get_autocommit(w->db)) sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

static th_result end_frame(th_sqlite_writer *w, int64_t number, th_error *error) {
    sqlite3_bind_int64(w->insert_frame_data, 1, number);
    sqlite3_bind_int64(w->insert_frame_data, 2, w->geometry_hash);
    th_result result = th_store_step(w->db, w->path, w->insert_frame_data, error);
    if (result != TH_OK) return result;
    bool due = ++w->open_frames >= COMMIT_FRAMES ||
               th_monotonic_seconds() - w->committed_at >= COMMIT_SECONDS;
    return due ? commit(w, error) : TH_OK;
}

// ---- frames

static th_result check_sound(const th_sqlite_writer *w, th_error *error) {
    if (!w->failed) return TH_OK;
    return th_trajectory_fail(error, TH_NO_FILE, w->path,
                              "writing failed before; the frames committed until then are kept");
}

static th_result ready(th_sqlite_writer *w, int count, th_error *error) {
    th_result result = check_sound(w, error);
    if (result == TH_OK) result = reserve(w, count, error);
    return result == TH_OK ? begin(w, error) : result;
}

static th_result sqlite_write(th_trajectory_writer *writer, const th_moment *frame,
                              th_error *error) {
    th_sqlite_writer *w = writer->state;
    th_result result = ready(w, frame->count, error);
    if (result == TH_OK) result = th_sqlite_put_frame(w, frame, error);
    if (result == TH_OK) result = end_frame(w, frame->number, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

static th_result sqlite_commit(th_trajectory_writer *writer, th_error *error) {
    th_sqlite_writer *w = writer->state;
    th_result result = check_sound(w, error);
    if (result == TH_OK) result = commit(w, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

// ---- opening and closing

static th_result new_writer(th_trajectory_writer *writer, const char *path, int flags,
                            th_error *error) {
    th_sqlite_writer *w = calloc(1, sizeof *w);
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

static th_result prepare(th_sqlite_writer *w, const th_trajectory_info *info, th_error *error) {
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

static th_result use_log(th_sqlite_writer *w, th_error *error) {
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
    th_sqlite_writer *w = writer->state;
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

static th_result drop_frames(th_sqlite_writer *w, const th_store_facts *facts, int64_t frame,
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
static th_result catch_up(th_sqlite_writer *w, const th_store_facts *facts,
                          const th_trajectory_info *info, th_error *error) {
    th_store_reader *reader = NULL;
    th_result result = th_store_reader_create(w->db, w->path, facts, info, &reader, error);
    while (result == TH_OK) {
        th_moment frame;
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
    th_sqlite_writer *w = writer->state;
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
    if (info->row_count > 0) th_sqlite_widen(w, info->min_x, info->min_y, info->max_x, info->max_y);
    writer->last_frame = frame - 1;
    result = commit(w, error);
    return result == TH_OK ? TH_OK : give_up(w, result);
}

// One file without a log beside it. Where that fails, all frames are still there, in the log: a full
// disk has no room for it, and while somebody reads the log cannot go; the last reader folds it then.
static th_result fold_log(th_sqlite_writer *w, th_error *error) {
    sqlite3_busy_timeout(w->db, FOLD_MS);
    int code = sqlite3_exec(w->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE",
                            NULL, NULL, NULL) &
               255;
    bool fine = code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED || w->failed;
    return fine ? TH_OK : th_store_fail(w->db, w->path, error);
}

static th_result sqlite_finish(th_trajectory_writer *writer, th_error *error) {
    th_sqlite_writer *w = writer->state;
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
#define X(array) free(w->array);
    TH_WRITER_ARRAYS(X)
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
