// Shared by the tests of SQLite recordings: a file in a folder of its own, the backend without the
// layer above it, and a crowd to which everything happens. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SQLITE_RECORDING_H
#define TH_TESTS_SQLITE_RECORDING_H
#include "record/backend.h"
#include "support.h"
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- a folder and a file in it

static char folder[64], path[128];

static inline int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/throng-sqlite-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run.sqlite", folder);
    return 0;
}

static inline bool beside(const char *ending) {
    char name[160];
    struct stat about;
    snprintf(name, sizeof name, "%s%s", path, ending);
    return stat(name, &about) == 0;
}

static inline int tear_down(void **state) {
    (void)state;
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t k = 0; k < 4; ++k) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", path, endings[k]);
        unlink(name);
    }
    return rmdir(folder);
}

// ---- the backend without the layer above it

static inline th_trajectory_writer *blank_writer(void) {
    th_trajectory_writer *writer = calloc(1, sizeof *writer);
    assert_non_null(writer);
    writer->backend = &th_sqlite_backend;
    writer->last_frame = -1;
    writer->kept = th_arena_of(NULL);
    return writer;
}

static inline th_trajectory_writer *create(const th_trajectory_info *info) {
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    assert_true(th_keep_info(&writer->kept, &writer->info, info));
    if (th_sqlite_backend.create(writer, path, &error)) fail_msg("%s", error.message);
    return writer;
}

static inline th_trajectory_writer *append(int64_t frame) {
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    if (th_sqlite_backend.append(writer, path, frame, &error)) fail_msg("%s", error.message);
    return writer;
}

static inline void free_writer(th_trajectory_writer *writer) {
    th_arena_release(&writer->kept);
    free(writer);
}

static inline void finish(th_trajectory_writer *writer) {
    th_error error = {0};
    if (th_sqlite_backend.finish(writer, &error)) fail_msg("%s", error.message);
    free_writer(writer);
}

static inline void write_frame(th_trajectory_writer *writer, const th_moment *frame) {
    th_error error = {0};
    if (th_sqlite_backend.write(writer, frame, &error)) fail_msg("%s", error.message);
}

static inline th_result try_open(th_trajectory **trajectory, th_error *error) {
    *trajectory = calloc(1, sizeof **trajectory);
    assert_non_null(*trajectory);
    (*trajectory)->backend = &th_sqlite_backend;
    (*trajectory)->kept = th_arena_of(NULL);
    return th_sqlite_backend.open(*trajectory, path, error);
}

static inline void close_recording(th_trajectory *trajectory) {
    th_sqlite_backend.close(trajectory);
    th_arena_release(&trajectory->kept);
    free(trajectory);
}

static inline th_trajectory *open_recording(void) {
    th_trajectory *trajectory;
    th_error error = {0};
    if (try_open(&trajectory, &error)) fail_msg("%s", error.message);
    return trajectory;
}

static inline th_moment next(th_trajectory *trajectory) {
    th_moment frame;
    th_error error = {0};
    if (th_sqlite_backend.next(trajectory, &frame, &error)) fail_msg("%s", error.message);
    return frame;
}

// ---- a crowd with everything that happens to one

enum { MOST = 64, FRAMES = 130 };

typedef struct moment {
    int64_t number;
    int count;
    int64_t id[MOST];
    double x[MOST], y[MOST], ox[MOST], oy[MOST];
    int32_t level[MOST];
} moment;

// Person p is there in stretches, walks in a circle, jumps now and then and changes level; frame 40 is
// empty, and after frame 60 numbers go in threes.
static inline moment moment_of(int f, double far) {
    moment m = {.number = f <= 60 ? f : 60 + 3 * (f - 60)};
    for (int p = 1; p <= 50 && f != 40; ++p) {
        if ((f + 7 * p) % 60 < p % 5) continue; // gone for a while, and back
        int i = m.count++;
        double angle = 0.02 * f * (p % 7 - 3) + p, jump = (f + p) % 37 == 0 ? 700.123 : 0;
        m.id[i] = p * 1000003ll;
        m.x[i] = far - 20 + p + 13 * cos(angle) + jump;
        m.y[i] = -3 * far + 0.00049 * p + 13 * sin(angle);
        m.ox[i] = cos(angle * 3);
        m.oy[i] = sin(angle * 3);
        m.level[i] = (f / 11 + p) % 3;
    }
    return m;
}

static inline th_moment frame_of(const moment *m) {
    return (th_moment){.number = m->number,
                       .count = m->count,
                       .id = m->id,
                       .x = m->x,
                       .y = m->y,
                       .orientation_x = m->ox,
                       .orientation_y = m->oy,
                       .level = m->level};
}

static const th_trajectory_level levels[3] = {
    {"ground", 0, "POLYGON ((-100 -90, 100.5 -90, 100.5 91, -100 91, -100 -90))"},
    {"first", 3.5, "MULTIPOLYGON (((0 0, 250 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1)))"},
    {"roof", 7, NULL}};
static const th_trajectory_note notes[2] = {{"throng_seed", "17"}, {"throng_scene", "a \"b\"\n"}};

static inline th_trajectory_info info_of(th_trajectory_format format) {
    return (th_trajectory_info){.format = format,
                                .fps = 10,
                                .levels = levels,
                                .level_count = 3,
                                .notes = notes,
                                .note_count = 2};
}

static inline void write_moments(th_trajectory_writer *writer, int from, int to, double far) {
    for (int f = from; f < to; ++f) {
        moment m = moment_of(f, far);
        th_moment frame = frame_of(&m);
        write_frame(writer, &frame);
    }
}

// The format's precision: half a quantum in each coordinate, half a heading.
static inline void assert_moment(const moment *m, const th_moment *got, double quantum) {
    assert_int_equal(m->number, got->number);
    assert_int_equal(m->count, got->count);
    double far = 1e-9 + quantum / 2, turn = quantum > 0 ? 0.0124 : 0; // 2 sin(pi / 512) = 0.01227
    for (int i = 0; i < m->count; ++i) {
        assert_int_equal(m->id[i], got->id[i]);
        assert_true(fabs(m->x[i] - got->x[i]) <= far && fabs(m->y[i] - got->y[i]) <= far);
        double dx = m->ox[i] - got->orientation_x[i], dy = m->oy[i] - got->orientation_y[i];
        assert_true(hypot(dx, dy) <= turn);
        assert_int_equal(m->level[i], got->level[i]);
    }
}

static inline void assert_moments(th_trajectory *t, double far, int to) {
    for (int f = 0; f < to; ++f) {
        moment m = moment_of(f, far);
        th_moment got = next(t);
        assert_moment(&m, &got, t->info.quantum);
    }
    assert_int_equal(next(t).count, -1);
    assert_int_equal(next(t).count, -1); // and stays there
}

static inline void assert_counts(const th_trajectory_info *info, double far, int to) {
    int64_t rows = 0;
    double min_x = 1e300, max_y = -1e300;
    bool seen[MOST] = {0};
    int people = 0;
    for (int f = 0; f < to; ++f) {
        moment m = moment_of(f, far);
        rows += m.count;
        for (int i = 0; i < m.count; ++i) {
            people += !seen[m.id[i] / 1000003];
            seen[m.id[i] / 1000003] = true;
            min_x = fmin(min_x, m.x[i]);
            max_y = fmax(max_y, m.y[i]);
        }
    }
    assert_int_equal(info->frame_count, to);
    assert_int_equal(info->first_frame, 0);
    assert_int_equal(info->last_frame, moment_of(to - 1, far).number);
    assert_int_equal(info->row_count, rows);
    assert_int_equal(info->agent_count, people);
    assert_true(fabs(info->min_x - min_x) <= 0.001 && fabs(info->max_y - max_y) <= 0.001);
}

// ---- what is in the file, asked past the backend

static inline sqlite3 *database(void) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static inline void run_sql(const char *sql) {
    sqlite3 *db = database();
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

// All rows of a query as text: columns by '|', rows by ';'.
static const char *rows_of(const char *sql) {
    static char text[8192];
    sqlite3 *db = database();
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    size_t at = 0;
    text[0] = 0;
    while (sqlite3_step(row) == SQLITE_ROW)
        for (int k = 0; k < sqlite3_column_count(row); ++k) {
            const char *value = (const char *)sqlite3_column_text(row, k);
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%c", value ? value : "NULL",
                                   k + 1 < sqlite3_column_count(row) ? '|' : ';');
            assert_true(at < sizeof text);
        }
    sqlite3_finalize(row);
    sqlite3_close(db);
    return text;
}

// A file of JuPedSim's version 3, as small as can be, with a geometry that changes.
static const char version_3[] =
    "CREATE TABLE trajectory_data(frame INTEGER NOT NULL, id INTEGER NOT NULL, pos_x REAL NOT NULL,"
    " pos_y REAL NOT NULL);"
    "CREATE TABLE metadata(key TEXT NOT NULL UNIQUE PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE geometry(hash INTEGER NOT NULL, wkt TEXT NOT NULL);"
    "CREATE TABLE frame_data(frame INTEGER NOT NULL, geometry_hash INTEGER NOT NULL);"
    "INSERT INTO metadata VALUES('version', '3'), ('fps', '25.0'), ('who', 'other');"
    "INSERT INTO geometry VALUES(-5, 'POLYGON ((9 9, 1 0, 0 1, 9 9))'),"
    " (-7, 'POLYGON ((0 0, 1 0, 0 1, 0 0))');"
    "INSERT INTO frame_data VALUES(0, -7), (1, -5), (2, -5);"
    "INSERT INTO trajectory_data VALUES(0, 1, 1, 2), (2, 1, 3, 4)";

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#endif
