// Reads SQLite recordings frame by frame, rows and compact blobs alike. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "formula/math.h"
#include "record/compact.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what a recording says about itself: JuPedSim's versions 1, 2 and 3, with or without throng's own tables

typedef struct keeper {
    sqlite3 *db;
    const char *path;
    th_arena *kept;
    int64_t *room; // [bytes] for texts: together they cannot be longer than the file
    th_error *error;
} keeper;

static th_result no_memory(const keeper *k) {
    return th_trajectory_fail(k->error, TH_NO_MEMORY, k->path, "no memory for the header");
}

static th_result keep_column(const keeper *k, sqlite3_stmt *row, int column, const char **text) {
    const char *read = (const char *)sqlite3_column_text(row, column);
    *k->room -= sqlite3_column_bytes(row, column);
    if (*k->room < 0)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "is damaged: its texts are longer than the whole file");
    *text = th_arena_string(k->kept, read ? read : "");
    return *text ? TH_OK : no_memory(k);
}

// A value of metadata as text, or NULL; to be finalised by the caller after use.
static const char *value_of(const keeper *k, const char *key, sqlite3_stmt **row) {
    if (sqlite3_prepare_v2(k->db, "SELECT value FROM metadata WHERE key = ?1", -1, row, NULL) !=
        SQLITE_OK)
        return NULL;
    sqlite3_bind_text(*row, 1, key, -1, SQLITE_STATIC);
    return sqlite3_step(*row) == SQLITE_ROW ? (const char *)sqlite3_column_text(*row, 0) : NULL;
}

static bool value_is(const keeper *k, const char *key, const char *wanted) {
    sqlite3_stmt *row = NULL;
    const char *value = value_of(k, key, &row);
    bool same = value && strcmp(value, wanted) == 0;
    sqlite3_finalize(row);
    return same;
}

// SQLite turns the text into a number, whatever the locale.
static double number_of(const keeper *k, const char *key, double otherwise) {
    sqlite3_stmt *row = NULL;
    double number = value_of(k, key, &row) ? sqlite3_column_double(row, 0) : otherwise;
    sqlite3_finalize(row);
    return number;
}

static bool within(double number, double most) { return fabs(number) <= most; } // false for NaN

static bool is_fact(const char *key) {
    static const char *const facts[] = {"version",
                                        "fps",
                                        "xmin",
                                        "xmax",
                                        "ymin",
                                        "ymax",
                                        TH_KEY_STORAGE,
                                        TH_KEY_CODEC,
                                        TH_KEY_QUANTUM,
                                        TH_KEY_ORIGIN_X,
                                        TH_KEY_ORIGIN_Y,
                                        TH_KEY_GEOMETRY,
                                        TH_KEY_ORIENTATION};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i)
        if (strcmp(key, facts[i]) == 0) return true;
    return false;
}

// With a limit: counting all of a table is one operation to SQLite, which its budget would not end.
static th_result count_rows(const keeper *k, const char *table, int most, int *count) {
    double rows = 0;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM (SELECT 1 FROM %s LIMIT %d)", table, most + 1);
    th_result result = th_store_number(k->db, k->path, sql, &rows, k->error);
    if (result != TH_OK) return result;
    if (rows > most)
        return th_trajectory_fail(
            k->error, TH_NO_FILE, k->path,
            "has more than %d rows in its table %s, more than a recording can "
            "have",
            most, table);
    *count = (int)rows;
    return TH_OK;
}

#define QUANTUM_MOST 1000.0                        // [m] of the grid of a compact recording
enum { NOTES_MOST = 100000, LEVELS_MOST = 10000 }; // far beyond any building; keeps lists bounded

static th_result read_notes(const keeper *k, th_trajectory_info *info) {
    int most = 0, count = 0;
    th_result result = count_rows(k, "metadata", NOTES_MOST, &most);
    if (result != TH_OK) return result;
    th_trajectory_note *notes = th_arena_alloc(k->kept, 1, (size_t)most * sizeof *notes);
    if (!notes) return no_memory(k);
    sqlite3_stmt *row = NULL;
    result = th_store_prepare(k->db, k->path, "SELECT key, value FROM metadata ORDER BY rowid",
                              &row, k->error);
    if (result != TH_OK) return result;
    int code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW && count < most && result == TH_OK) {
        const char *key = (const char *)sqlite3_column_text(row, 0);
        if (!key || is_fact(key)) continue;
        result = keep_column(k, row, 0, &notes[count].key);
        if (result == TH_OK) result = keep_column(k, row, 1, &notes[count].value);
        ++count;
    }
    if (result == TH_OK && code == SQLITE_ROW)
        result = th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                    "is damaged: its table metadata has more rows than it counts; "
                                    "restore it from a copy");
    else if (result == TH_OK && code != SQLITE_DONE)
        result = th_store_fail(k->db, k->path, k->error);
    sqlite3_finalize(row);
    info->notes = notes;
    info->note_count = count;
    return result;
}

// Rows of (level number, id, z, wkt or NULL) into info->levels.
static th_result read_level_rows(const keeper *k, const char *sql, th_trajectory_info *info) {
    th_trajectory_level *levels =
        th_arena_alloc(k->kept, 1, (size_t)info->level_count * sizeof *levels);
    if (!levels) return no_memory(k);
    sqlite3_stmt *row = NULL;
    th_result result = th_store_prepare(k->db, k->path, sql, &row, k->error);
    if (result != TH_OK) return result;
    int count = 0, code = SQLITE_DONE;
    while (result == TH_OK && (code = sqlite3_step(row)) == SQLITE_ROW &&
           count < info->level_count) {
        if (sqlite3_column_int64(row, 0) != count) break;
        th_trajectory_level *level = &levels[count++];
        level->z = sqlite3_column_double(row, 2);
        result = keep_column(k, row, 1, &level->id);
        if (result == TH_OK && sqlite3_column_type(row, 3) != SQLITE_NULL)
            result = keep_column(k, row, 3, &level->wkt);
    }
    if (result == TH_OK && code != SQLITE_ROW && code != SQLITE_DONE)
        result = th_store_fail(k->db, k->path, k->error);
    sqlite3_finalize(row);
    if (result == TH_OK && count != info->level_count)
        result = th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                    "its levels are not numbered 0, 1, 2, ...; write it anew");
    info->levels = levels;
    return result;
}

// Other programs' files have one level. Where the geometry changes in the run, the first is taken.
static th_result read_levels(const keeper *k, const th_store_facts *facts,
                             th_trajectory_info *info) {
    if (th_store_has_table(k->db, "throng_levels")) {
        th_result result = count_rows(k, "throng_levels", LEVELS_MOST, &info->level_count);
        if (result != TH_OK) return result;
        return read_level_rows(k,
                               "SELECT l.level, l.id, l.z, g.wkt FROM throng_levels l"
                               " LEFT JOIN geometry g ON g.hash = l.geometry_hash ORDER BY l.level",
                               info);
    }
    if (value_is(k, TH_KEY_GEOMETRY, "positions") || !th_store_has_table(k->db, "geometry"))
        return TH_OK;
    th_result result = count_rows(k, "geometry", NOTES_MOST, &info->level_count);
    if (info->level_count > 1) info->level_count = 1;
    if (result != TH_OK || info->level_count == 0) return result;
    if (!facts->has_frame_data || !th_store_has_column(k->db, "geometry", "hash"))
        return read_level_rows(k, "SELECT 0, '0', 0.0, wkt FROM geometry LIMIT 1", info);
    return read_level_rows(
        k,
        "SELECT 0, '0', 0.0, wkt FROM geometry ORDER BY hash = (SELECT geometry_hash FROM"
        " frame_data ORDER BY frame LIMIT 1) DESC LIMIT 1",
        info);
}

// The geometry that further frames of this recording refer to.
static int64_t geometry_in_force(const keeper *k) {
    int64_t hash = 1;
    sqlite3_stmt *row = NULL;
    int code = sqlite3_prepare_v2(
        k->db,
        "SELECT COALESCE((SELECT geometry_hash FROM frame_data ORDER BY frame DESC LIMIT 1),"
        " (SELECT hash FROM geometry ORDER BY rowid LIMIT 1), 1)",
        -1, &row, NULL);
    if (code == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) hash = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return hash;
}

static th_result check(const keeper *k, const th_store_facts *facts,
                       const th_trajectory_info *info) {
    double version = number_of(k, "version", 1);
    if (version != 1 && version != 2 && version != 3)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "is of JuPedSim's version %g; 1, 2 and 3 are known", version);
    if (!(info->fps > 0))
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "has no frame rate; put a positive number under fps into its "
                                  "table metadata");
    if (facts->compact && number_of(k, TH_KEY_CODEC, 0) > TH_COMPACT_VERSION)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "was made by a newer throng; use that one to convert it");
    bool grid = info->quantum > 0 && info->quantum <= QUANTUM_MOST &&
                within(facts->origin_x, TH_FARTHEST) && within(facts->origin_y, TH_FARTHEST);
    if (facts->compact && (!grid || !th_store_has_table(k->db, "throng_frames")))
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "is damaged: it is called compact but lacks its grid or frames");
    return TH_OK;
}

th_result th_store_read_facts(sqlite3 *db, const char *path, const th_store_budget *budget,
                              th_trajectory_info *info, th_store_facts *facts, th_arena *kept,
                              th_error *error) {
    int64_t room = budget->bytes;
    const keeper k = {db, path, kept, &room, error};
    th_result result = th_store_run(db, path, "SELECT 1 FROM sqlite_master LIMIT 1", error);
    if (result != TH_OK) return result; // not a database, damaged, unreadable
    result = th_store_check_tables(db, path, error);
    if (result != TH_OK) return result;
    if (!th_store_has_table(db, "metadata") || !th_store_has_table(db, "trajectory_data"))
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is a database but not a recording: it lacks the tables metadata "
                                  "and trajectory_data");
    *facts = (th_store_facts){
        .compact = value_is(&k, TH_KEY_STORAGE, "compact"),
        .has_orientation = th_store_has_column(db, "trajectory_data", "ori_x") &&
                           th_store_has_column(db, "trajectory_data", "ori_y") &&
                           !value_is(&k, TH_KEY_ORIENTATION, "unknown"),
        .has_level_rows = th_store_has_table(db, "throng_level_data"),
        .has_frame_data = th_store_has_table(db, "frame_data"),
        .origin_x = number_of(&k, TH_KEY_ORIGIN_X, 0),
        .origin_y = number_of(&k, TH_KEY_ORIGIN_Y, 0),
        .geometry_hash = geometry_in_force(&k),
    };
    *info = (th_trajectory_info){
        .format = facts->compact ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
        .fps = number_of(&k, "fps", 0),
        .quantum = facts->compact ? number_of(&k, TH_KEY_QUANTUM, 0) : 0.0,
    };
    result = check(&k, facts, info);
    if (result == TH_OK) facts->version = (int)number_of(&k, "version", 1);
    if (result == TH_OK) result = read_levels(&k, facts, info);
    if (result == TH_OK) result = read_notes(&k, info);
    return result;
}

// Frames are those of frame_data and any that have rows without being named there.
static const char count_with_frames[] =
    "SELECT COUNT(*), MIN(frame), MAX(frame) FROM (SELECT frame FROM frame_data UNION"
    " SELECT frame FROM (SELECT DISTINCT frame FROM trajectory_data))";
static const char count_without_frames[] =
    "SELECT COUNT(*), MIN(frame), MAX(frame) FROM (SELECT DISTINCT frame FROM trajectory_data)";
static const char count_compact_frames[] =
    "SELECT COUNT(*), MIN(frame), MAX(frame) FROM throng_frames";
static const char count_rows_people[] =
    "SELECT COUNT(*), COUNT(DISTINCT id), MIN(pos_x), MIN(pos_y), MAX(pos_x), MAX(pos_y)"
    " FROM trajectory_data";
static const char count_compact_people[] =
    "SELECT SUM(count), SUM(first_seen), MIN(min_x), MIN(min_y), MAX(max_x), MAX(max_y)"
    " FROM throng_frames";

static const char rows_nowhere[] =
    "SELECT frame, id, pos_x, pos_y FROM trajectory_data WHERE NOT (pos_x BETWEEN -?1 AND ?1 AND"
    " pos_y BETWEEN -?1 AND ?1) LIMIT 1";
static const char frames_nowhere[] =
    "SELECT frame, -1, min_x, max_y FROM throng_frames WHERE NOT (min_x BETWEEN -?1 AND ?1 AND"
    " min_y BETWEEN -?1 AND ?1 AND max_x BETWEEN -?1 AND ?1 AND max_y BETWEEN -?1 AND ?1) LIMIT 1";

static th_result find_nowhere(sqlite3 *db, const char *path, bool compact, th_error *error) {
    sqlite3_stmt *row = NULL;
    th_result result =
        th_store_prepare(db, path, compact ? frames_nowhere : rows_nowhere, &row, error);
    if (result != TH_OK) return result;
    sqlite3_bind_double(row, 1, TH_FARTHEST);
    sqlite3_step(row);
    result = th_trajectory_fail(
        error, TH_NO_FILE, path,
        "frame %lld: person %lld stands nowhere (%g, %g); positions are in "
        "metres and at most %g",
        (long long)sqlite3_column_int64(row, 0), (long long)sqlite3_column_int64(row, 1),
        sqlite3_column_double(row, 2), sqlite3_column_double(row, 3), TH_FARTHEST);
    sqlite3_finalize(row);
    return result;
}

static th_result check_counts(sqlite3 *db, const char *path, const th_store_facts *facts,
                              const th_trajectory_info *info, th_error *error) {
    if (info->agent_count < 0 || info->agent_count > info->row_count || info->first_frame < 0 ||
        info->frame_count < 0 || info->last_frame < info->first_frame)
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is damaged: it counts %lld people in %lld rows and %lld frames "
                                  "from %lld to %lld",
                                  (long long)info->agent_count, (long long)info->row_count,
                                  (long long)info->frame_count, (long long)info->first_frame,
                                  (long long)info->last_frame);
    if (within(info->min_x, TH_FARTHEST) && within(info->min_y, TH_FARTHEST) &&
        within(info->max_x, TH_FARTHEST) && within(info->max_y, TH_FARTHEST))
        return TH_OK;
    return find_nowhere(db, path, facts->compact, error);
}

static th_result take_frames(sqlite3_stmt *row, const char *path, th_trajectory_info *info,
                             th_error *error) {
    for (int c = 1; c <= 2; ++c) { // texts sort beyond all numbers
        int type = sqlite3_column_type(row, c);
        if (type != SQLITE_INTEGER && type != SQLITE_NULL)
            return th_trajectory_fail(error, TH_NO_FILE, path,
                                      "is damaged: frames are whole numbers, and one is not");
    }
    info->frame_count = sqlite3_column_int64(row, 0);
    info->first_frame = sqlite3_column_int64(row, 1);
    info->last_frame = sqlite3_column_int64(row, 2);
    return TH_OK;
}

static th_result take_people(sqlite3_stmt *row, const char *path, th_trajectory_info *info,
                             th_error *error) {
    (void)path, (void)error;
    info->row_count = sqlite3_column_int64(row, 0);
    info->agent_count = sqlite3_column_int64(row, 1);
    info->min_x = sqlite3_column_double(row, 2);
    info->min_y = sqlite3_column_double(row, 3);
    info->max_x = sqlite3_column_double(row, 4);
    info->max_y = sqlite3_column_double(row, 5);
    return TH_OK;
}

typedef th_result take_counts(sqlite3_stmt *row, const char *path, th_trajectory_info *info,
                              th_error *error);

static th_result count(sqlite3 *db, const char *path, const char *sql, take_counts *take,
                       th_trajectory_info *info, th_error *error) {
    sqlite3_stmt *row = NULL;
    th_result result = th_store_prepare(db, path, sql, &row, error);
    if (result != TH_OK) return result;
    result = sqlite3_step(row) == SQLITE_ROW ? take(row, path, info, error)
                                             : th_store_fail(db, path, error);
    sqlite3_finalize(row);
    return result;
}

th_result th_store_count(sqlite3 *db, const char *path, const th_store_facts *facts,
                         th_trajectory_info *info, th_error *error) {
    const char *frames = facts->compact          ? count_compact_frames
                         : facts->has_frame_data ? count_with_frames
                                                 : count_without_frames;
    const char *people = facts->compact ? count_compact_people : count_rows_people;
    th_result result = count(db, path, frames, take_frames, info, error);
    if (result == TH_OK) result = count(db, path, people, take_people, info, error);
    return result == TH_OK ? check_counts(db, path, facts, info, error) : result;
}

// ---- frames

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
    int capacity =
        th_array_capacity_int(r->capacity, count + 1); // never NULL, even for an empty frame
    if (!TH_RESIZE(r->id, capacity) || !TH_RESIZE(r->x, capacity) || !TH_RESIZE(r->y, capacity) ||
        !TH_RESIZE(r->orientation_x, capacity) || !TH_RESIZE(r->orientation_y, capacity) ||
        !TH_RESIZE(r->level, capacity))
        return false;
    r->capacity = capacity;
    return true;
}

static th_result out_of_memory(const th_store_reader *r, th_error *error) {
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

// False also for missing values: people without a row in the table of levels.
static bool is_whole(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_INTEGER;
}

static th_result take_row(th_store_reader *r, int64_t number, th_error *error) {
    if (r->count == TH_COMPACT_PEOPLE_MAX || !reserve(r, r->count + 1))
        return out_of_memory(r, error);
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
    if (result == TH_OK && !reserve(r, (int)count)) return out_of_memory(r, error);
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

static void rewind_reader(th_store_reader *r) {
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
    if (!r->codec) return out_of_memory(r, error);
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
    rewind_reader(state->reader);
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
