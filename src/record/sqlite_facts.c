// What an SQLite recording says about itself: JuPedSim's versions 1, 2 and 3, with or without throng's
// own tables. SPDX-License-Identifier: Apache-2.0
#include "record/compact.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <string.h>

typedef struct keeper {
    sqlite3 *db;
    const char *path;
    th_arena *kept;
    th_error *error;
} keeper;

static th_result no_memory(const keeper *k) {
    return th_trajectory_fail(k->error, TH_NO_MEMORY, k->path, "no memory for the header");
}

static const char *keep_column(const keeper *k, sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return th_arena_string(k->kept, text ? text : "");
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

static th_result count_rows(const keeper *k, const char *sql, int most, int *count) {
    double rows = 0;
    th_result result = th_store_number(k->db, k->path, sql, &rows, k->error);
    if (result != TH_OK) return result;
    if (rows > most)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "has %.0f notes or levels, more than the %d a recording can have",
                                  rows, most);
    *count = (int)rows;
    return TH_OK;
}

enum { NOTES_MOST = 100000, LEVELS_MOST = 10000 }; // far beyond any building; keeps lists bounded

static th_result read_notes(const keeper *k, th_trajectory_info *info) {
    int most = 0, count = 0;
    th_result result = count_rows(k, "SELECT COUNT(*) FROM metadata", NOTES_MOST, &most);
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
        notes[count].key = keep_column(k, row, 0);
        notes[count].value = keep_column(k, row, 1);
        if (!notes[count].key || !notes[count].value) result = no_memory(k);
        ++count;
    }
    if (result == TH_OK && code != SQLITE_DONE) result = th_store_fail(k->db, k->path, k->error);
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
    int count = 0, code;
    while ((code = sqlite3_step(row)) == SQLITE_ROW && count < info->level_count) {
        if (sqlite3_column_int64(row, 0) != count) break;
        th_trajectory_level *level = &levels[count++];
        level->id = keep_column(k, row, 1);
        level->z = sqlite3_column_double(row, 2);
        bool known = sqlite3_column_type(row, 3) != SQLITE_NULL;
        if (known) level->wkt = keep_column(k, row, 3);
        if (!level->id || (known && !level->wkt)) result = no_memory(k);
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
        th_result result =
            count_rows(k, "SELECT COUNT(*) FROM throng_levels", LEVELS_MOST, &info->level_count);
        if (result != TH_OK) return result;
        return read_level_rows(k,
                               "SELECT l.level, l.id, l.z, g.wkt FROM throng_levels l"
                               " LEFT JOIN geometry g ON g.hash = l.geometry_hash ORDER BY l.level",
                               info);
    }
    if (value_is(k, TH_KEY_GEOMETRY, "positions") || !th_store_has_table(k->db, "geometry"))
        return TH_OK;
    th_result result = count_rows(k, "SELECT COUNT(*) FROM (SELECT 1 FROM geometry LIMIT 1)", 1,
                                  &info->level_count);
    if (result != TH_OK || info->level_count == 0) return result;
    if (!facts->has_frame_data || !th_store_has_column(k->db, "geometry", "hash"))
        return read_level_rows(k, "SELECT 0, '0', 0.0, wkt FROM geometry LIMIT 1", info);
    return read_level_rows(
        k,
        "SELECT 0, '0', 0.0, wkt FROM geometry ORDER BY hash = (SELECT geometry_hash FROM"
        " frame_data ORDER BY frame LIMIT 1) DESC LIMIT 1",
        info);
}

// What further frames of this recording name as their geometry.
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
    if (facts->version < 1 || facts->version > 3)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "is of JuPedSim's version %d; 1, 2 and 3 are known",
                                  facts->version);
    if (!(info->fps > 0) || !isfinite(info->fps))
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "has no frame rate; put a positive number under fps into its "
                                  "table metadata");
    if (facts->compact && number_of(k, TH_KEY_CODEC, 0) > TH_COMPACT_VERSION)
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "was made by a newer throng; use that one to convert it");
    bool grid = info->quantum > 0 && isfinite(info->quantum) && isfinite(facts->origin_x) &&
                isfinite(facts->origin_y);
    if (facts->compact && (!grid || !th_store_has_table(k->db, "throng_frames")))
        return th_trajectory_fail(k->error, TH_NO_FILE, k->path,
                                  "is damaged: it is called compact but lacks its grid or frames");
    return TH_OK;
}

th_result th_store_read_facts(sqlite3 *db, const char *path, th_trajectory_info *info,
                              th_store_facts *facts, th_arena *kept, th_error *error) {
    const keeper k = {db, path, kept, error};
    double tables = -1;
    th_result result =
        th_store_number(db, path, "SELECT COUNT(*) FROM sqlite_master", &tables, error);
    if (result != TH_OK) return result; // not a database, damaged, unreadable
    if (!th_store_has_table(db, "metadata") || !th_store_has_table(db, "trajectory_data"))
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is a database but not a recording: it lacks the tables metadata "
                                  "and trajectory_data");
    *facts = (th_store_facts){
        .version = (int)number_of(&k, "version", 1),
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

th_result th_store_count(sqlite3 *db, const char *path, const th_store_facts *facts,
                         th_trajectory_info *info, th_error *error) {
    const char *sql[2] = {facts->compact          ? count_compact_frames
                          : facts->has_frame_data ? count_with_frames
                                                  : count_without_frames,
                          facts->compact ? count_compact_people : count_rows_people};
    for (int k = 0; k < 2; ++k) {
        sqlite3_stmt *row = NULL;
        th_result result = th_store_prepare(db, path, sql[k], &row, error);
        if (result != TH_OK) return result;
        if (sqlite3_step(row) != SQLITE_ROW) {
            result = th_store_fail(db, path, error);
            sqlite3_finalize(row);
            return result;
        }
        if (k == 0) {
            info->frame_count = sqlite3_column_int64(row, 0);
            info->first_frame = sqlite3_column_int64(row, 1);
            info->last_frame = sqlite3_column_int64(row, 2);
        } else {
            info->row_count = sqlite3_column_int64(row, 0);
            info->people_count = sqlite3_column_int64(row, 1);
            info->min_x = sqlite3_column_double(row, 2);
            info->min_y = sqlite3_column_double(row, 3);
            info->max_x = sqlite3_column_double(row, 4);
            info->max_y = sqlite3_column_double(row, 5);
        }
        sqlite3_finalize(row);
    }
    return TH_OK;
}
