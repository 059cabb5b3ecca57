// Opens recordings that may come from anywhere. Nothing in the file is obeyed: no views, triggers, virtual tables or
// computed columns. What reading may cost is bounded by the file's own size: a tree of pages that lead back to each
// other has endless rows in a few kilobytes. SPDX-License-Identifier: Apache-2.0
#include "record/sqlite_store.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Memory follows from work and lengths; sqlite3_hard_heap_limit64 would be the whole process's, and a host may use SQLite
// too. Operations of SQLite's machine. Measured: opening takes 60 for a row of 30 bytes, reading 25.
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
// When nothing waits in its log, nobody is writing and the file alone is all there is.
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
    // One look at the file for all that follows: somebody may be writing.
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
