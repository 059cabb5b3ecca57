// Small things around a database: statements, failures in words. SPDX-License-Identifier: Apache-2.0
#include "record/sqlite_store.h"
#include <errno.h>
#include <string.h>

th_result th_store_fail(sqlite3 *db, const char *path, th_error *error) {
    int last_errno = errno;
    int code = sqlite3_errcode(db) & 255;
    int cause = sqlite3_system_errno(db);
    // Failures in the write-ahead log are not noted there; the call that failed was the last one.
    if (!cause && code == SQLITE_IOERR) cause = last_errno;
    const char *kept = "the frames committed so far are kept";
    switch (code) {
    case SQLITE_NOMEM:
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for the database; %s",
                                  kept);
    case SQLITE_FULL:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "the disk is full; make room and go on from there; %s", kept);
    case SQLITE_IOERR:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "reading or writing failed (%s); check the disk; %s",
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
                                  "another program has it open; close it there first; %s", kept);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is damaged (%s); restore it from a copy, or try sqlite3's "
                                  ".recover",
                                  sqlite3_errmsg(db));
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

static bool finds(sqlite3 *db, const char *sql, const char *first, const char *second) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return false;
    sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (second) sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    bool found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

bool th_store_has_table(sqlite3 *db, const char *table) {
    return finds(db, "SELECT 1 FROM sqlite_master WHERE name = ?1 AND type IN ('table', 'view')",
                 table, NULL);
}

bool th_store_has_column(sqlite3 *db, const char *table, const char *column) {
    return finds(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}
