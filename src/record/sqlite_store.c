// A recording's database: statements, failures in words, and the schema. That is JuPedSim's, version 2, and what
// throng adds to it in tables of its own that the other programs do not look at. Version 2 with every table is the one
// variant that PedPy and JuPedSim 1.4 and 2.0 all open.
// SPDX-License-Identifier: Apache-2.0
#include "record/sqlite_store.h"
#include "core/hash.h"
#include "record/compact.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

th_result th_store_fail(sqlite3 *db, const char *path, th_error *error) {
    int last_errno = errno;
    int code = sqlite3_errcode(db) & 255;
    int cause = sqlite3_system_errno(db);
    // Failures in the write-ahead log are not noted there; the call that failed was the last one.
    if (!cause && code == SQLITE_IOERR) cause = last_errno;
    const char *kept = TH_FRAMES_KEPT ": the newest may be in its -wal file, so keep both";
    switch (code) {
    case SQLITE_NOMEM:
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for the database%s", kept);
    case SQLITE_FULL:
        return th_trajectory_fail(error, TH_NO_FILE, path, "the disk is full; make room%s", kept);
    case SQLITE_IOERR:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "reading or writing failed (%s); check the disk%s",
                                  cause ? strerror(cause) : sqlite3_errmsg(db), kept);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "the file or its folder cannot be opened or written (%s); check "
                                  "its rights or choose another folder",
                                  cause ? strerror(cause) : sqlite3_errmsg(db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "another program has it open; close it there first%s", kept);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is damaged (%s); restore it from a copy, or try sqlite3's "
                                  ".recover",
                                  sqlite3_errmsg(db));
    case SQLITE_INTERRUPT: // by the budget; nothing else interrupts
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is damaged: reading it takes far more work than a file of its "
                                  "size should; restore it from a copy");
    case SQLITE_TOOBIG:
        return th_trajectory_fail(
            error, TH_NO_FILE, path,
            "is damaged: a value in it is longer than the whole file; restore "
            "it from a copy");
    default:
        return th_trajectory_fail(error, TH_NO_FILE, path, "%s; is it a recording?",
                                  sqlite3_errmsg(db));
    }
}

th_result th_store_run(sqlite3 *db, const char *path, const char *sql, th_error *error) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) return th_store_fail(db, path, error);
    return TH_OK;
}

th_result th_store_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **statement,
                           th_error *error) {
    if (sqlite3_prepare_v2(db, sql, -1, statement, NULL) != SQLITE_OK)
        return th_store_fail(db, path, error);
    return TH_OK;
}

th_result th_store_step(sqlite3 *db, const char *path, sqlite3_stmt *statement, th_error *error) {
    int code = sqlite3_step(statement);
    th_result result = TH_OK;
    if (code != SQLITE_DONE && code != SQLITE_ROW) result = th_store_fail(db, path, error);
    sqlite3_reset(statement);
    return result;
}

th_result th_store_number(sqlite3 *db, const char *path, const char *sql, double *number,
                          th_error *error) {
    sqlite3_stmt *statement = NULL;
    th_result result = th_store_prepare(db, path, sql, &statement, error);
    if (result != TH_OK) return result;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *number = sqlite3_column_double(statement, 0);
    if (code != SQLITE_ROW && code != SQLITE_DONE) result = th_store_fail(db, path, error);
    sqlite3_finalize(statement);
    return result;
}

// ---- the schema

#define BOUNDS_MARGIN 1.0

static const char tables[] =
    "CREATE TABLE trajectory_data(frame INTEGER NOT NULL, id INTEGER NOT NULL,"
    " pos_x REAL NOT NULL, pos_y REAL NOT NULL, ori_x REAL NOT NULL, ori_y REAL NOT NULL);"
    "CREATE TABLE metadata(key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE geometry(hash INTEGER NOT NULL, wkt TEXT NOT NULL);"
    "CREATE TABLE frame_data(frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX geometry_hash ON geometry(hash);"
    "CREATE INDEX frame_id_idx ON trajectory_data(frame, id);";

static const char level_table[] =
    "CREATE TABLE throng_levels(level INTEGER PRIMARY KEY, id TEXT NOT NULL, z REAL NOT NULL,"
    " geometry_hash INTEGER);";

static const char level_data_table[] =
    "CREATE TABLE throng_level_data(frame INTEGER NOT NULL, id INTEGER NOT NULL,"
    " level INTEGER NOT NULL, PRIMARY KEY(frame, id)) WITHOUT ROWID;";

// key_frame: where a reader must start for this one. first_seen: how many were never seen before. The
// bounds are those of the positions; with them nothing need be unpacked to say what is in the file.
static const char frames_table[] =
    "CREATE TABLE throng_frames(frame INTEGER PRIMARY KEY, key_frame INTEGER NOT NULL,"
    " count INTEGER NOT NULL, first_seen INTEGER NOT NULL, min_x REAL, min_y REAL, max_x REAL,"
    " max_y REAL, data BLOB NOT NULL);";

th_result th_store_put(sqlite3 *db, const char *path, const char *key, const char *value,
                       th_error *error) {
    sqlite3_stmt *statement = NULL;
    th_result result = th_store_prepare(db, path, "INSERT OR REPLACE INTO metadata VALUES(?1, ?2)",
                                        &statement, error);
    if (result != TH_OK) return result;
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC);
    result = th_store_step(db, path, statement, error);
    sqlite3_finalize(statement);
    return result;
}

th_result th_store_put_number(sqlite3 *db, const char *path, const char *key, double value,
                              th_error *error) {
    char text[TH_NUMBER_TEXT];
    th_exact_text(text, value);
    return th_store_put(db, path, key, text, error);
}

static th_result put_box(sqlite3 *db, const char *path, const double box[4], th_error *error) {
    static const char *const keys[4] = {"xmin", "ymin", "xmax", "ymax"};
    th_result result = TH_OK;
    for (int k = 0; k < 4 && result == TH_OK; ++k)
        result = th_store_put_number(db, path, keys[k], box[k], error);
    return result;
}

// Widens the box by the points of a WKT text: the first two numbers after every '(' and ','.
static void add_wkt(const char *wkt, locale_t plain, double box[4]) {
    for (const char *at = wkt; *at; ++at) {
        if (*at != '(' && *at != ',') continue;
        char *after_x = NULL, *after_y = NULL;
        double x = strtod_l(at + 1, &after_x, plain);
        double y = strtod_l(after_x, &after_y, plain);
        if (after_x == at + 1 || after_y == after_x) continue;
        box[0] = fmin(box[0], x);
        box[1] = fmin(box[1], y);
        box[2] = fmax(box[2], x);
        box[3] = fmax(box[3], y);
    }
}

static th_result put_geometry_box(sqlite3 *db, const char *path, const th_trajectory_info *info,
                                  th_error *error) {
    double box[4] = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); // a point, whatever the host set
    if (!plain) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a locale");
    for (int l = 0; l < info->level_count; ++l)
        if (info->levels[l].wkt) add_wkt(info->levels[l].wkt, plain, box);
    freelocale(plain);
    if (box[0] > box[2]) box[0] = box[1] = box[2] = box[3] = 0.0;
    return put_box(db, path, box, error);
}

// Any unique number works; this one is the same in every run.
static int64_t hash_of(int level, const char *wkt) {
    uint64_t hash = (uint64_t)level;
    for (const char *at = wkt; *at; ++at) hash = th_hash_add(hash, (unsigned char)*at);
    return (int64_t)hash;
}

static th_result put_geometry(sqlite3 *db, const char *path, int64_t hash, const char *wkt,
                              th_error *error) {
    sqlite3_stmt *statement = NULL;
    th_result result = th_store_prepare(db, path, "INSERT OR REPLACE INTO geometry VALUES(?1, ?2)",
                                        &statement, error);
    if (result != TH_OK) return result;
    sqlite3_bind_int64(statement, 1, hash);
    sqlite3_bind_text(statement, 2, wkt, -1, SQLITE_STATIC);
    result = th_store_step(db, path, statement, error);
    sqlite3_finalize(statement);
    return result;
}

static th_result put_level(sqlite3 *db, const char *path, const th_trajectory_info *info, int level,
                           th_error *error) {
    const th_trajectory_level *l = &info->levels[level];
    int64_t hash = l->wkt ? hash_of(level, l->wkt) : 0;
    th_result result = l->wkt ? put_geometry(db, path, hash, l->wkt, error) : TH_OK;
    sqlite3_stmt *statement = NULL;
    if (result == TH_OK)
        result = th_store_prepare(db, path, "INSERT INTO throng_levels VALUES(?1, ?2, ?3, ?4)",
                                  &statement, error);
    if (result != TH_OK) return result;
    sqlite3_bind_int(statement, 1, level);
    sqlite3_bind_text(statement, 2, l->id, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 3, l->z);
    if (l->wkt) sqlite3_bind_int64(statement, 4, hash);
    result = th_store_step(db, path, statement, error);
    sqlite3_finalize(statement);
    return result;
}

bool th_store_has_geometry(const th_trajectory_info *info) {
    for (int l = 0; l < info->level_count; ++l)
        if (info->levels[l].wkt) return true;
    return false;
}

th_result th_store_put_bounds(sqlite3 *db, const char *path, int64_t geometry_hash, double min_x,
                              double min_y, double max_x, double max_y, th_error *error) {
    const double box[4] = {min_x, min_y, max_x, max_y};
    char n[4][TH_NUMBER_TEXT], wkt[16 + 10 * (TH_NUMBER_TEXT + 2)];
    for (int k = 0; k < 4; ++k)
        th_exact_text(n[k], k < 2 ? box[k] - BOUNDS_MARGIN : box[k] + BOUNDS_MARGIN);
    snprintf(wkt, sizeof wkt, "POLYGON ((%s %s, %s %s, %s %s, %s %s, %s %s))", n[0], n[1], n[2],
             n[1], n[2], n[3], n[0], n[3], n[0], n[1]);
    th_result result = put_box(db, path, box, error);
    if (result == TH_OK) result = put_geometry(db, path, geometry_hash, wkt, error);
    return result;
}

static th_result put_notes(sqlite3 *db, const char *path, const th_trajectory_info *info,
                           th_error *error) {
    th_result result = TH_OK;
    for (int k = 0; k < info->note_count && result == TH_OK; ++k) {
        const char *key = info->notes[k].key;
        char prefixed[256];
        bool ours = strncmp(key, "throng_", 7) == 0;
        if (!ours && snprintf(prefixed, sizeof prefixed, "throng_%s", key) >= (int)sizeof prefixed)
            return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                      "the note key '%.40s...' is too long; use under 240 "
                                      "characters",
                                      key);
        result = th_store_put(db, path, ours ? key : prefixed, info->notes[k].value, error);
    }
    return result;
}

static th_result put_compact_facts(sqlite3 *db, const char *path, const th_trajectory_info *info,
                                   th_error *error) {
    char version[16];
    snprintf(version, sizeof version, "%d", TH_COMPACT_VERSION);
    th_result result = th_store_run(db, path, frames_table, error);
    if (result == TH_OK) result = th_store_put(db, path, TH_KEY_STORAGE, "compact", error);
    if (result == TH_OK) result = th_store_put(db, path, TH_KEY_CODEC, version, error);
    if (result == TH_OK)
        result = th_store_put_number(db, path, TH_KEY_QUANTUM, info->quantum, error);
    return result;
}

th_result th_store_make(sqlite3 *db, const char *path, const th_trajectory_info *info,
                        int64_t *geometry_hash, th_error *error) {
    bool compact = info->format == TH_TRAJECTORY_COMPACT;
    *geometry_hash = 1;
    th_result result = th_store_run(db, path, tables, error);
    // Notes first: facts written later win over a note of the same name.
    if (result == TH_OK) result = put_notes(db, path, info, error);
    if (result == TH_OK) result = th_store_put(db, path, "version", "2", error);
    if (result == TH_OK) result = th_store_put_number(db, path, "fps", info->fps, error);
    if (result == TH_OK) result = put_geometry_box(db, path, info, error);
    if (result == TH_OK && !th_store_has_geometry(info))
        result = th_store_put(db, path, TH_KEY_GEOMETRY, "positions", error);
    if (result == TH_OK && compact) result = put_compact_facts(db, path, info, error);
    if (result == TH_OK && info->level_count > 0)
        result = th_store_run(db, path, level_table, error);
    if (result == TH_OK && info->level_count > 1 && !compact)
        result = th_store_run(db, path, level_data_table, error);
    for (int l = 0, named = 0; l < info->level_count && result == TH_OK; ++l) {
        result = put_level(db, path, info, l, error);
        if (info->levels[l].wkt && !named++) *geometry_hash = hash_of(l, info->levels[l].wkt);
    }
    return result;
}

// ---- opening recordings that may come from anywhere
// Nothing in the file is obeyed: no views, triggers, virtual tables or computed columns. The work of reading is bounded
// by the file's size: pages that point to each other in a circle make endless rows of a few kilobytes.

// Memory follows from work and lengths; sqlite3_hard_heap_limit64 would be the whole process's, and a host may use
// SQLite too. Operations of SQLite's machine. Measured: opening takes 60 for a row of 30 bytes, reading 25.
enum { OPERATIONS_PER_BYTE = 64, OPERATIONS_LEAST = 10000000, OPERATIONS_PER_LOOK = 10000 };
enum { VALUE_LEAST = 1 << 16 }; // [bytes] SQLite's own statements are values too

static int look(void *context) {
    th_store_budget *budget = context;
    budget->left -= OPERATIONS_PER_LOOK;
    return budget->left < 0;
}

void th_store_budget_renew(th_store_budget *budget) {
    budget->left = OPERATIONS_LEAST + budget->bytes * OPERATIONS_PER_BYTE;
}

th_result th_store_guard(sqlite3 *db, const char *path, th_store_budget *budget, th_error *error) {
    double pages = 0, page_size = 0;
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    *budget = (th_store_budget){.left = OPERATIONS_LEAST};
    sqlite3_progress_handler(db, OPERATIONS_PER_LOOK, look, budget);
    th_result result = th_store_run(db, path, "PRAGMA cell_size_check = ON", error);
    if (result == TH_OK) result = th_store_number(db, path, "PRAGMA page_count", &pages, error);
    if (result == TH_OK) result = th_store_number(db, path, "PRAGMA page_size", &page_size, error);
    if (result != TH_OK) return result;
    budget->bytes = (int64_t)(pages * page_size);
    th_store_budget_renew(budget);
    // No value is longer than the file, whatever it says of itself.
    int64_t most = budget->bytes > VALUE_LEAST ? budget->bytes : VALUE_LEAST;
    if (most < sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1))
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, (int)most);
    return TH_OK;
}

void th_store_trust(sqlite3 *db) {
    sqlite3_progress_handler(db, 0, NULL, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, INT32_MAX); // SQLite lowers it to its own most
}

// ---- opening

static bool log_beside(const char *path) {
    char name[1024 + 8];
    struct stat about;
    snprintf(name, sizeof name, "%s-wal", path);
    return stat(name, &about) == 0 && about.st_size > 0;
}

static int open_plain(const char *path, sqlite3 **db) {
    sqlite3_close(*db);
    *db = NULL;
    int code = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return code;
    return sqlite3_exec(*db, "PRAGMA schema_version", NULL, NULL, NULL);
}

// On a read-only folder a database in write-ahead mode cannot make the small file that readers share.
// When nothing waits in its log, no process is writing and the file alone is all there is.
static int open_unchanging(const char *path, sqlite3 **db) {
    char uri[3 * 1024 + 32] = "file:";
    size_t at = strlen(uri);
    for (const char *c = path; *c && at < sizeof uri - 24; ++c) {
        bool plain = *c != '%' && *c != '?' && *c != '#';
        at += (size_t)snprintf(uri + at, sizeof uri - at, plain ? "%c" : "%%%02X", *c);
    }
    snprintf(uri + at, sizeof uri - at, "?immutable=1");
    sqlite3_close(*db);
    *db = NULL;
    return sqlite3_open_v2(uri, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
                           NULL);
}

th_result th_store_open(const char *path, sqlite3 **db, th_store_budget *budget, th_error *error) {
    int code = open_plain(path, db);
    int primary = code & 255;
    if ((primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && !log_beside(path))
        code = open_unchanging(path, db);
    if (!*db) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a database");
    if (code != SQLITE_OK) return th_store_fail(*db, path, error);
    th_result result = th_store_guard(*db, path, budget, error);
    // One look at the file for all that follows: another process may be writing.
    return result == TH_OK ? th_store_run(*db, path, "BEGIN", error) : result;
}

// ---- tables

static bool finds(sqlite3 *db, const char *sql, const char *first, const char *second) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return false;
    sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (second) sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

// Views and virtual tables have no page of their own.
static const char a_table[] =
    "SELECT 1 FROM sqlite_master WHERE name = ?1 AND type = 'table' AND rootpage > 0";

bool th_store_has_table(sqlite3 *db, const char *table) { return finds(db, a_table, table, NULL); }

bool th_store_has_column(sqlite3 *db, const char *table, const char *column) {
    return finds(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}

th_result th_store_check_tables(sqlite3 *db, const char *path, th_error *error) {
    static const char *const names[] = {"metadata",     "trajectory_data", "geometry",
                                        "frame_data",   "throng_levels",   "throng_level_data",
                                        "throng_frames"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        // Names of tables are compared without regard to case, as SQLite does.
        bool named = finds(db,
                           "SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE"
                           " AND type IN ('table', 'view')",
                           names[i], NULL);
        if (!named) continue;
        if (!th_store_has_table(db, names[i]) ||
            finds(db, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0", names[i], NULL))
            return th_trajectory_fail(error, TH_NO_FILE, path,
                                      "its %s is a view or computed; only plain tables are read: "
                                      "copy it into a table (CREATE TABLE ... AS SELECT)",
                                      names[i]);
    }
    return TH_OK;
}
