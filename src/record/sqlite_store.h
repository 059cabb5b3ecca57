// Shared by reader and writer of SQLite recordings: the schema, the facts in metadata, and failures of
// the database in words. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_SQLITE_STORE_H
#define TH_RECORD_SQLITE_STORE_H
#include "record/backend.h"
#include <sqlite3.h>

// Keys of metadata that are not notes.
#define TH_KEY_STORAGE "throng_storage"         // "compact"; missing: rows
#define TH_KEY_CODEC "throng_codec"             // TH_COMPACT_VERSION
#define TH_KEY_QUANTUM "throng_quantum"         // [m]
#define TH_KEY_ORIGIN_X "throng_origin_x"       // of the grid [m]
#define TH_KEY_ORIGIN_Y "throng_origin_y"       //
#define TH_KEY_GEOMETRY "throng_geometry"       // "positions": the geometry is only their bounds
#define TH_KEY_ORIENTATION "throng_orientation" // "unknown": the ori columns mean nothing

#define TH_STORE_QUANTUM 0.001 // [m] default of compact recordings: below what any tracker resolves

// ---- the database. `path` is for messages.
// Fails with what the last call on `db` complained about, in words and with a cure.
th_result th_store_fail(sqlite3 *db, const char *path, th_error *error);
th_result th_store_run(sqlite3 *db, const char *path, const char *sql, th_error *error);
th_result th_store_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **statement,
                           th_error *error);
// Steps a statement that gives no rows and makes it ready again.
th_result th_store_step(sqlite3 *db, const char *path, sqlite3_stmt *statement, th_error *error);
// One number; `number` stays as it is when there is no row or it is NULL.
th_result th_store_number(sqlite3 *db, const char *path, const char *sql, double *number,
                          th_error *error);

// ---- files from elsewhere
// The budget left for reading; must live as long as the database is read.
typedef struct th_store_budget {
    int64_t left;  // operations
    int64_t bytes; // of the database, its log included
} th_store_budget;
// Opens for reading, guarded; the caller closes *db also after a failure.
th_result th_store_open(const char *path, sqlite3 **db, th_store_budget *budget, th_error *error);
// For a database opened by others: nothing in it is obeyed, and work and lengths are bounded from now on. A budget is
// for one pass through the file.
th_result th_store_guard(sqlite3 *db, const char *path, th_store_budget *budget, th_error *error);
void th_store_budget_renew(th_store_budget *budget);
// Ends the bounds, for a writer that has seen enough of the file. Views and triggers stay off.
void th_store_trust(sqlite3 *db);
// Refuses views, virtual tables and computed columns under the names that are read.
th_result th_store_check_tables(sqlite3 *db, const char *path, th_error *error);
bool th_store_has_table(sqlite3 *db, const char *table); // a plain one
bool th_store_has_column(sqlite3 *db, const char *table, const char *column);

// ---- schema
// Tables, indices, metadata, geometry, levels. *geometry_hash: what frame_data names.
th_result th_store_make(sqlite3 *db, const char *path, const th_trajectory_info *info,
                        int64_t *geometry_hash, th_error *error);
th_result th_store_put(sqlite3 *db, const char *path, const char *key, const char *value,
                       th_error *error);
th_result th_store_put_number(sqlite3 *db, const char *path, const char *key, double value,
                              th_error *error);
// The bounds of the positions so far, and a rectangle around them as the area, for a recording that
// knows no geometry.
th_result th_store_put_bounds(sqlite3 *db, const char *path, int64_t geometry_hash, double min_x,
                              double min_y, double max_x, double max_y, th_error *error);
bool th_store_has_geometry(const th_trajectory_info *info);

// ---- what is in a recording
typedef struct th_store_facts {
    bool compact, has_orientation, has_level_rows, has_frame_data;
    int version;
    double origin_x, origin_y;
    int64_t geometry_hash; // geometry that later frames refer to
} th_store_facts;
th_result th_store_read_facts(sqlite3 *db, const char *path, const th_store_budget *budget,
                              th_trajectory_info *info, th_store_facts *facts, th_arena *kept,
                              th_error *error);
th_result th_store_count(sqlite3 *db, const char *path, const th_store_facts *facts,
                         th_trajectory_info *info, th_error *error);

// ---- reading, over any open database; sqlite_read.c
typedef struct th_store_reader th_store_reader;
th_result th_store_reader_create(sqlite3 *db, const char *path, const th_store_facts *facts,
                                 const th_trajectory_info *info, th_store_reader **reader,
                                 th_error *error);
th_result th_store_reader_next(th_store_reader *reader, th_moment *frame, th_error *error);
void th_store_reader_destroy(th_store_reader *reader);
// The codec after the last frame read, for a writer to go on with; the caller owns it from now on.
struct th_compact_codec *th_store_reader_take_codec(th_store_reader *reader);

// ---- the two halves of the backend
bool th_sqlite_recognise(const unsigned char *head, size_t size);
th_result th_sqlite_open(th_trajectory *trajectory, const char *path, th_error *error);
th_result th_sqlite_next(th_trajectory *trajectory, th_moment *frame, th_error *error);
void th_sqlite_rewind(th_trajectory *trajectory);
void th_sqlite_close(th_trajectory *trajectory);
#endif
