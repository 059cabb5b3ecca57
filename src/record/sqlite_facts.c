// What an SQLite recording says about itself: JuPedSim's versions 1, 2 and 3, with or without throng's
// own tables. SPDX-License-Identifier: Apache-2.0
#include "record/compact.h"
#include "record/sqlite_store.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    if (info->people_count < 0 || info->people_count > info->row_count || info->first_frame < 0 ||
        info->frame_count < 0 || info->last_frame < info->first_frame)
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is damaged: it counts %lld people in %lld rows and %lld frames "
                                  "from %lld to %lld",
                                  (long long)info->people_count, (long long)info->row_count,
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
    info->people_count = sqlite3_column_int64(row, 1);
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
