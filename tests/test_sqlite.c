// SQLite recordings: JuPedSim's schema to the letter, round trips of rows and blobs, what a kill or a
// full disk leaves behind. SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"
#include "record/compact.h"
#include "support.h"
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- a folder and a file in it

static char folder[64], path[128];

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/throng-sqlite-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/run.sqlite", folder);
    return 0;
}

static bool beside(const char *ending) {
    char name[160];
    struct stat about;
    snprintf(name, sizeof name, "%s%s", path, ending);
    return stat(name, &about) == 0;
}

static int tear_down(void **state) {
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

static th_trajectory_writer *blank_writer(void) {
    th_trajectory_writer *writer = calloc(1, sizeof *writer);
    assert_non_null(writer);
    writer->backend = &th_sqlite_backend;
    writer->last_frame = -1;
    return writer;
}

static th_trajectory_writer *create(const th_trajectory_info *info) {
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    assert_true(th_keep_info(&writer->kept, &writer->kept_count, &writer->info, info));
    if (th_sqlite_backend.create(writer, path, &error)) fail_msg("%s", error.message);
    return writer;
}

static th_trajectory_writer *append(int64_t frame) {
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    if (th_sqlite_backend.append(writer, path, frame, &error)) fail_msg("%s", error.message);
    return writer;
}

static void free_writer(th_trajectory_writer *writer) {
    for (int k = 0; k < writer->kept_count; ++k) free(writer->kept[k]);
    free(writer->kept);
    free(writer);
}

static void finish(th_trajectory_writer *writer) {
    th_error error = {0};
    if (th_sqlite_backend.finish(writer, &error)) fail_msg("%s", error.message);
    free_writer(writer);
}

static void write_frame(th_trajectory_writer *writer, const th_frame *frame) {
    th_error error = {0};
    if (th_sqlite_backend.write(writer, frame, &error)) fail_msg("%s", error.message);
}

static th_result try_open(th_trajectory **trajectory, th_error *error) {
    *trajectory = calloc(1, sizeof **trajectory);
    assert_non_null(*trajectory);
    (*trajectory)->backend = &th_sqlite_backend;
    return th_sqlite_backend.open(*trajectory, path, error);
}

static void close_recording(th_trajectory *trajectory) {
    th_sqlite_backend.close(trajectory);
    for (int k = 0; k < trajectory->kept_count; ++k) free(trajectory->kept[k]);
    free(trajectory->kept);
    free(trajectory);
}

static th_trajectory *open_recording(void) {
    th_trajectory *trajectory;
    th_error error = {0};
    if (try_open(&trajectory, &error)) fail_msg("%s", error.message);
    return trajectory;
}

static th_frame next(th_trajectory *trajectory) {
    th_frame frame;
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
static moment moment_of(int f, double far) {
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

static th_frame frame_of(const moment *m) {
    return (th_frame){m->number, m->count, m->id, m->x, m->y, m->ox, m->oy, m->level};
}

static const th_trajectory_level levels[3] = {
    {"ground", 0, "POLYGON ((-100 -90, 100.5 -90, 100.5 91, -100 91, -100 -90))"},
    {"first", 3.5, "MULTIPOLYGON (((0 0, 250 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1)))"},
    {"roof", 7, NULL}};
static const th_trajectory_note notes[2] = {{"throng_seed", "17"}, {"throng_scene", "a \"b\"\n"}};

static th_trajectory_info info_of(th_trajectory_format format) {
    return (th_trajectory_info){.format = format,
                                .fps = 10,
                                .levels = levels,
                                .level_count = 3,
                                .notes = notes,
                                .note_count = 2};
}

static void write_moments(th_trajectory_writer *writer, int from, int to, double far) {
    for (int f = from; f < to; ++f) {
        moment m = moment_of(f, far);
        th_frame frame = frame_of(&m);
        write_frame(writer, &frame);
    }
}

// What the format promises: half a quantum in each coordinate, half a heading.
static void assert_moment(const moment *m, const th_frame *got, double quantum) {
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

static void assert_moments(th_trajectory *t, double far, int to) {
    for (int f = 0; f < to; ++f) {
        moment m = moment_of(f, far);
        th_frame got = next(t);
        assert_moment(&m, &got, t->info.quantum);
    }
    assert_int_equal(next(t).count, -1);
    assert_int_equal(next(t).count, -1); // and stays there
}

static void assert_counts(const th_trajectory_info *info, double far, int to) {
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
    assert_int_equal(info->people_count, people);
    assert_true(fabs(info->min_x - min_x) <= 0.001 && fabs(info->max_y - max_y) <= 0.001);
}

static void round_trip(th_trajectory_format format, double far) {
    th_trajectory_info info = info_of(format);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, FRAMES, far);
    finish(writer);
    assert_false(beside("-wal") || beside("-shm") || beside("-journal"));
    th_trajectory *t = open_recording();
    assert_int_equal(t->info.format, format);
    assert_true(t->info.fps == 10);
    assert_true(t->info.quantum == (format == TH_TRAJECTORY_COMPACT ? 0.001 : 0));
    assert_int_equal(t->info.level_count, 3);
    for (int l = 0; l < 3; ++l) {
        assert_string_equal(t->info.levels[l].id, levels[l].id);
        assert_true(t->info.levels[l].z == levels[l].z);
        if (levels[l].wkt)
            assert_string_equal(t->info.levels[l].wkt, levels[l].wkt);
        else
            assert_null(t->info.levels[l].wkt);
    }
    assert_int_equal(t->info.note_count, 2);
    assert_string_equal(t->info.notes[1].key, notes[1].key);
    assert_string_equal(t->info.notes[1].value, notes[1].value);
    assert_counts(&t->info, far, FRAMES);
    assert_moments(t, far, FRAMES);
    th_sqlite_backend.rewind(t);
    assert_moments(t, far, FRAMES);
    close_recording(t);
}

static void test_rows(void **state) {
    (void)state;
    round_trip(TH_TRAJECTORY_SQLITE, 0);
}

static void test_compact(void **state) {
    (void)state;
    round_trip(TH_TRAJECTORY_COMPACT, 0);
}

// Map projections: 1 mm is 1 part in 5e9 of the number.
static void test_compact_far(void **state) {
    (void)state;
    round_trip(TH_TRAJECTORY_COMPACT, 5432100.25);
}

// ---- the schema

static sqlite3 *database(void) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static void run_sql(const char *sql) {
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

#define COLUMNS(table) \
    rows_of("SELECT name, type, \"notnull\", pk FROM pragma_table_info('" table "')")

// Against the columns that JuPedSim 1.4 makes, one by one.
static void assert_schema(void) {
    assert_string_equal(COLUMNS("trajectory_data"),
                        "frame|INTEGER|1|0;id|INTEGER|1|0;pos_x|REAL|1|0;pos_y|REAL|1|0;"
                        "ori_x|REAL|1|0;ori_y|REAL|1|0;");
    assert_string_equal(COLUMNS("metadata"), "key|TEXT|1|1;value|TEXT|1|0;");
    assert_string_equal(COLUMNS("geometry"), "hash|INTEGER|1|0;wkt|TEXT|1|0;");
    assert_string_equal(COLUMNS("frame_data"), "frame|INTEGER|1|0;geometry_hash|INTEGER|1|0;");
    assert_string_equal(rows_of("SELECT name, \"unique\" FROM pragma_index_list('geometry')"),
                        "geometry_hash|1;");
    assert_string_equal(rows_of("SELECT name FROM pragma_index_info('geometry_hash')"), "hash;");
    assert_string_equal(
        rows_of("SELECT name, \"unique\" FROM pragma_index_list('trajectory_data')"),
        "frame_id_idx|0;");
    assert_string_equal(rows_of("SELECT name FROM pragma_index_info('frame_id_idx')"), "frame;id;");
    assert_string_equal(rows_of("SELECT COUNT(*) FROM pragma_index_list('metadata')"), "1;");
    assert_string_equal(rows_of("SELECT COUNT(*) FROM pragma_index_list('frame_data')"), "0;");
    // Metadata: bounds of the geometry, all levels together; every further key is throng's.
    assert_string_equal(rows_of("SELECT key, value FROM metadata WHERE key NOT LIKE 'throng~_%'"
                                " ESCAPE '~' ORDER BY key"),
                        "fps|10.0;version|2;xmax|250.0;xmin|-100.0;ymax|91.0;ymin|-90.0;");
    assert_string_equal(rows_of("SELECT wkt FROM geometry ORDER BY wkt"),
                        "MULTIPOLYGON (((0 0, 250 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1)));"
                        "POLYGON ((-100 -90, 100.5 -90, 100.5 91, -100 91, -100 -90));");
    assert_string_equal(rows_of("SELECT COUNT(*), COUNT(DISTINCT geometry_hash), MIN(frame) FROM"
                                " frame_data"),
                        "130|1|0;");
    assert_string_equal(rows_of("SELECT DISTINCT g.wkt FROM frame_data f JOIN geometry g"
                                " ON g.hash = f.geometry_hash"),
                        "POLYGON ((-100 -90, 100.5 -90, 100.5 91, -100 91, -100 -90));");
    assert_string_equal(rows_of("SELECT level, id, z FROM throng_levels"),
                        "0|ground|0.0;1|first|3.5;2|roof|7.0;");
    assert_string_equal(rows_of("PRAGMA journal_mode"), "delete;");
    assert_string_equal(rows_of("PRAGMA integrity_check"), "ok;");
}

static void test_schema(void **state) {
    (void)state;
    th_trajectory_info info = info_of(TH_TRAJECTORY_SQLITE);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, FRAMES, 0);
    finish(writer);
    assert_schema();
    assert_string_equal(
        rows_of("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"),
        "frame_data;geometry;metadata;throng_level_data;throng_levels;"
        "trajectory_data;");
    // A unit vector in every row; a level for every row.
    assert_string_equal(rows_of("SELECT COUNT(*) FROM trajectory_data WHERE"
                                " abs(ori_x*ori_x + ori_y*ori_y - 1) > 1e-6"),
                        "0;");
    assert_string_equal(rows_of("SELECT (SELECT COUNT(*) FROM trajectory_data) ="
                                " (SELECT COUNT(*) FROM throng_level_data)"),
                        "1;");
    // What PedPy asks for, as it asks for it.
    assert_int_not_equal(
        strlen(rows_of("SELECT frame, id, pos_x, pos_y FROM trajectory_data LIMIT 3")), 0);
}

static void test_schema_compact(void **state) {
    (void)state;
    th_trajectory_info info = info_of(TH_TRAJECTORY_COMPACT);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, FRAMES, 0);
    finish(writer);
    assert_schema();
    assert_string_equal(rows_of("SELECT COUNT(*) FROM trajectory_data"), "0;");
    assert_string_equal(
        rows_of("SELECT value FROM metadata WHERE key IN ('throng_storage', 'throng_quantum',"
                " 'throng_codec') ORDER BY key"),
        "1;0.001;compact;");
    assert_string_equal(rows_of("SELECT frame FROM throng_frames WHERE frame = key_frame"),
                        "0;50;180;"); // every 50th frame; 180 is the 100th
}

// One level: no table of levels per row. No geometry: the bounds of the positions stand in.
static void test_no_geometry(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = {.format = k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
                                   .fps = 12.5};
        th_trajectory_writer *writer = create(&info);
        int64_t id[2] = {1, 2};
        double x[2] = {1.5, 4}, y[2] = {-2, 3.25};
        th_frame frame = {.number = 0, .count = 2, .id = id, .x = x, .y = y};
        write_frame(writer, &frame);
        finish(writer);
        assert_string_equal(
            rows_of("SELECT value FROM metadata WHERE key IN ('fps', 'xmin', 'xmax',"
                    " 'ymin', 'ymax') ORDER BY key"),
            "12.5;4.0;1.5;3.25;-2.0;");
        assert_string_equal(rows_of("SELECT g.wkt FROM geometry g JOIN frame_data f ON"
                                    " f.geometry_hash = g.hash"),
                            "POLYGON ((0.5 -3.0, 5.0 -3.0, 5.0 4.25, 0.5 4.25, 0.5 -3.0));");
        assert_string_equal(rows_of("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE"
                                    " 'throng_level%'"),
                            "0;");
        th_trajectory *t = open_recording();
        assert_int_equal(t->info.level_count, 0);
        assert_int_equal(t->info.note_count, 0);
        th_frame got = next(t);
        assert_int_equal(got.count, 2);
        assert_null(got.orientation_x); // nobody said, so nobody says
        assert_null(got.level);
        assert_true(got.x[0] == 1.5 && got.y[1] == 3.25);
        close_recording(t);
        unlink(path);
    }
}

// ---- going on

static void test_append(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        write_moments(writer, 0, 80, 0);
        finish(writer);
        writer = append(moment_of(57, 0).number);
        assert_int_equal(writer->info.format, info.format);
        assert_true(writer->info.fps == 10);
        assert_int_equal(writer->info.level_count, 3);
        assert_int_equal(writer->last_frame, 56);
        write_moments(writer, 57, FRAMES, 0);
        finish(writer);
        assert_string_equal(rows_of("SELECT COUNT(DISTINCT geometry_hash) FROM frame_data"), "1;");
        th_trajectory *t = open_recording();
        assert_counts(&t->info, 0, FRAMES);
        assert_moments(t, 0, FRAMES);
        close_recording(t);
        if (k)
            assert_string_equal(rows_of("SELECT frame FROM throng_frames WHERE frame = key_frame"),
                                "0;50;57;201;");
        // From the very beginning, and from behind the end.
        writer = append(0);
        write_moments(writer, 0, 3, 0);
        finish(writer);
        writer = append(100);
        finish(writer);
        t = open_recording();
        assert_counts(&t->info, 0, 3);
        assert_moments(t, 0, 3);
        close_recording(t);
        unlink(path);
    }
}

// Somebody looks on while a recording is made and ends: what is committed is seen, nothing is lost.
static void test_read_while_writing(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        write_moments(writer, 0, 20, 0); // two batches of ten
        th_trajectory *t = open_recording();
        assert_int_equal(t->info.frame_count, 20);
        moment m = moment_of(0, 0);
        th_frame got = next(t);
        assert_moment(&m, &got, info.quantum + t->info.quantum);
        write_moments(writer, 20, 25, 0);
        finish(writer); // while the reader stands in the middle
        got = next(t);
        assert_int_equal(got.number, 1);
        close_recording(t);
        t = open_recording();
        assert_counts(&t->info, 0, 25);
        assert_moments(t, 0, 25);
        close_recording(t);
        tear_down(NULL);
        set_up(NULL);
    }
}

// The first frame may be empty; it says nothing of orientation.
static void test_empty_beginning(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = {.format = k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
                                   .fps = 10};
        th_trajectory_writer *writer = create(&info);
        th_frame nobody = {.number = 0};
        write_frame(writer, &nobody);
        int64_t id = 4;
        double x = 7, y = -7, ox = 0, oy = -1;
        th_frame one = {.number = 5, .count = 1, .id = &id, .x = &x, .y = &y};
        one.orientation_x = &ox;
        one.orientation_y = &oy;
        write_frame(writer, &one);
        finish(writer);
        th_trajectory *t = open_recording();
        assert_int_equal(t->info.frame_count, 2);
        assert_int_equal(t->info.people_count, 1);
        assert_int_equal(next(t).count, 0);
        th_frame got = next(t);
        assert_int_equal(got.number, 5);
        assert_true(got.id[0] == 4 && got.x[0] == 7 && got.y[0] == -7);
        assert_non_null(got.orientation_x);
        assert_true(fabs(got.orientation_y[0] + 1) < 1e-9);
        close_recording(t);
        unlink(path);
    }
}

// ---- a world's arrays

static void test_raw(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        const uint32_t id[3] = {1, 7, 4000000000u}, level[3] = {0, 2, 1};
        const float x[3] = {1.25f, -3, 99.9995f}, y[3] = {0, 1e-4f, 7};
        const float vx[3] = {0, -1, 0.003f}, vy[3] = {2, 0, 0.003f}, stand[3] = {0};
        th_raw_frame raw = {.number = 0,
                            .count = 3,
                            .id = id,
                            .x = x,
                            .y = y,
                            .velocity_x = vx,
                            .velocity_y = vy,
                            .level = level,
                            .origin_x = 4500000.5,
                            .origin_y = -10};
        th_error error = {0};
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_OK);
        raw.velocity_x = raw.velocity_y = stand; // they stop, and look where they looked
        raw.number = 1;
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_OK);
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_BAD_ARGUMENT);
        finish(writer);
        writer = append(2);
        raw.number = 2;
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_OK);
        const uint32_t wrong_level[3] = {0, 3, 0}, wrong_id[3] = {1, 7, 7};
        const float nowhere[3] = {0, NAN, 0};
        raw.number = 3;
        raw.level = wrong_level;
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_BAD_ARGUMENT);
        raw.level = level;
        raw.id = wrong_id;
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_BAD_ARGUMENT);
        raw.id = id;
        raw.x = nowhere;
        assert_int_equal(th_compact_write_raw(writer, &raw, &error), TH_BAD_ARGUMENT);
        finish(writer); // what was good before a wrong argument is there
        th_trajectory *t = open_recording();
        double far = k ? 0.0005 + 1e-9 : 1e-9, turn = k ? 0.0124 : 1e-6;
        const double ox[3] = {0, -1, 1}, oy[3] = {1, 0, 0};
        for (int f = 0; f < 3; ++f) {
            th_frame got = next(t);
            assert_int_equal(got.number, f);
            assert_int_equal(got.count, 3);
            for (int i = 0; i < 3; ++i) {
                assert_int_equal(got.id[i], id[i]);
                assert_int_equal(got.level[i], level[i]);
                assert_true(fabs(got.x[i] - (4500000.5 + (double)x[i])) <= far);
                assert_true(fabs(got.y[i] - (-10 + (double)y[i])) <= far);
                assert_true(hypot(got.orientation_x[i] - ox[i], got.orientation_y[i] - oy[i]) <=
                            turn);
            }
        }
        assert_int_equal(next(t).count, -1);
        close_recording(t);
        unlink(path);
    }
}

// ---- other programs' files

static void test_version_1(void **state) {
    (void)state;
    run_sql(
        "CREATE TABLE trajectory_data(frame INTEGER NOT NULL, id INTEGER NOT NULL, pos_x REAL NOT "
        "NULL, pos_y REAL NOT NULL, ori_x REAL NOT NULL, ori_y REAL NOT NULL);"
        "CREATE TABLE metadata(key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);"
        "CREATE TABLE geometry(wkt TEXT NOT NULL);"
        "INSERT INTO metadata VALUES('version', '1'), ('fps', '16');"
        "INSERT INTO geometry VALUES('POLYGON ((0 0, 1 0, 0 1, 0 0))');"
        // in any order, and no index
        "INSERT INTO trajectory_data VALUES(3, 2, 1.5, 2, 0, 1), (1, 9, 3, 4, 1, 0),"
        " (1, 2, 5, 6.25, 0, -1)");
    th_trajectory *t = open_recording();
    assert_int_equal(t->info.format, TH_TRAJECTORY_SQLITE);
    assert_true(t->info.fps == 16 && t->info.quantum == 0);
    assert_int_equal(t->info.level_count, 1);
    assert_string_equal(t->info.levels[0].wkt, "POLYGON ((0 0, 1 0, 0 1, 0 0))");
    assert_int_equal(t->info.frame_count, 2);
    assert_int_equal(t->info.first_frame, 1);
    assert_int_equal(t->info.last_frame, 3);
    assert_int_equal(t->info.people_count, 2);
    assert_int_equal(t->info.row_count, 3);
    assert_true(t->info.min_x == 1.5 && t->info.max_y == 6.25);
    th_frame got = next(t);
    assert_int_equal(got.number, 1);
    assert_int_equal(got.count, 2);
    assert_true(got.id[0] == 2 && got.id[1] == 9 && got.x[0] == 5 && got.orientation_y[0] == -1);
    got = next(t);
    assert_int_equal(got.number, 3);
    assert_int_equal(got.count, 1);
    assert_int_equal(next(t).count, -1);
    close_recording(t);
}

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

static void test_version_3(void **state) {
    (void)state;
    run_sql(version_3);
    th_trajectory *t = open_recording();
    assert_true(t->info.fps == 25);
    assert_int_equal(t->info.frame_count, 3);
    assert_string_equal(t->info.levels[0].wkt, "POLYGON ((0 0, 1 0, 0 1, 0 0))");
    assert_int_equal(t->info.note_count, 1);
    assert_string_equal(t->info.notes[0].key, "who");
    th_frame got = next(t);
    assert_int_equal(got.count, 1);
    assert_null(got.orientation_x);
    got = next(t);
    assert_int_equal(got.number, 1);
    assert_int_equal(got.count, 0);
    assert_int_equal(next(t).number, 2);
    assert_int_equal(next(t).count, -1);
    close_recording(t);
    // and it is not continued
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    assert_int_equal(th_sqlite_backend.append(writer, path, 1, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "version 2"));
    finish(writer);
}

// ---- damage

static void expect_open_error(const char *sql, const char *words) {
    unlink(path);
    run_sql(version_3);
    run_sql(sql);
    th_trajectory *t;
    th_error error = {0};
    assert_int_equal(try_open(&t, &error), TH_NO_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
    assert_string_equal(error.file, path);
    close_recording(t);
}

static void expect_read_error(const char *sql, const char *words) {
    unlink(path);
    run_sql(version_3);
    run_sql(sql);
    th_trajectory *t = open_recording();
    th_frame frame;
    th_error error = {0};
    th_result result = TH_OK;
    do result = th_sqlite_backend.next(t, &frame, &error);
    while (result == TH_OK && frame.count >= 0);
    assert_int_equal(result, TH_NO_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
    assert_string_equal(error.file, path);
    close_recording(t);
}

static void test_wrong_files(void **state) {
    (void)state;
    expect_open_error("DROP TABLE metadata", "not a recording");
    expect_open_error("DELETE FROM metadata WHERE key = 'fps'", "frame rate");
    expect_open_error("UPDATE metadata SET value = '9' WHERE key = 'version'", "version 9");
    expect_open_error("INSERT INTO metadata VALUES('throng_storage', 'compact')", "damaged");
    expect_open_error("CREATE TABLE throng_levels(level INTEGER, id TEXT, z REAL, geometry_hash "
                      "INTEGER); INSERT INTO throng_levels VALUES(4, 'a', 0, 1)",
                      "levels");
    expect_read_error("INSERT INTO trajectory_data VALUES(2, 8, 'here', 1)", "frame 2");
    expect_read_error("INSERT INTO trajectory_data VALUES(2, 8, 9e999, 1)", "person 8");
    expect_read_error("INSERT INTO trajectory_data VALUES(2, 1, 1, 1)", "twice");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("SQLite format 3", file);
    for (int k = 0; k < 3000; ++k) fputc(k, file);
    fclose(file);
    th_trajectory *t;
    th_error error = {0};
    assert_int_equal(try_open(&t, &error), TH_NO_FILE);
    assert_true(error.message[0] != 0);
    close_recording(t);
}

// One damaged blob costs the frames up to the next key frame and names itself.
static void test_damaged_blob(void **state) {
    (void)state;
    th_trajectory_info info = info_of(TH_TRAJECTORY_COMPACT);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, FRAMES, 0);
    finish(writer);
    run_sql("UPDATE throng_frames SET data = substr(data, 1, 20) || x'00' || substr(data, 22)"
            " WHERE frame = 13; UPDATE throng_frames SET data = x'' WHERE frame = 180;"
            "UPDATE throng_frames SET count = 2000000000 WHERE frame = 183");
    th_trajectory *t = open_recording();
    int good = 0, bad = 0;
    for (;;) {
        th_frame frame;
        th_error error = {0};
        th_result result = th_sqlite_backend.next(t, &frame, &error);
        if (result != TH_OK) {
            assert_string_equal(error.file, path);
            assert_non_null(strstr(error.message, bad ? "frame 180:" : "frame 13:"));
            ++bad;
            continue;
        }
        if (frame.count < 0) break;
        int f = (int)(frame.number <= 60 ? frame.number : 60 + (frame.number - 60) / 3);
        moment m = moment_of(f, 0);
        assert_moment(&m, &frame, 0.001);
        ++good;
    }
    assert_int_equal(bad, 2);
    assert_int_equal(good, 13 + 50); // frames 0 .. 12 and the stretch from 50 on
    close_recording(t);
}

// ---- kills and full disks

// How many whole frames a reader finds; all of them must be right.
static int count_good_frames(void) {
    th_trajectory *t = open_recording();
    int64_t frames = t->info.frame_count;
    if (frames > 0) assert_counts(&t->info, 0, (int)frames);
    assert_moments(t, 0, (int)frames);
    close_recording(t);
    return (int)frames;
}

static void write_until_killed(th_trajectory_format format, int tell) {
    th_trajectory_info info = info_of(format);
    th_trajectory_writer *writer = blank_writer();
    th_keep_info(&writer->kept, &writer->kept_count, &writer->info, &info);
    if (th_sqlite_backend.create(writer, path, NULL)) _exit(1);
    for (int f = 0; f < 1000000; ++f) {
        moment m = moment_of(f, 0);
        th_frame frame = frame_of(&m);
        if (th_sqlite_backend.write(writer, &frame, NULL)) _exit(2);
        if (write(tell, "", 1) != 1) _exit(3); // a byte for every frame
    }
    _exit(4);
}

static void test_kill(void **state) {
    (void)state;
    static const int after[] = {1, 9, 10, 33, 71, 128};
    for (int k = 0; k < 12; ++k) {
        int ends[2], wanted = after[k / 2], told = 0, status;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            write_until_killed(k % 2 ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE, ends[1]);
        }
        assert_true(child > 0);
        close(ends[1]);
        char byte;
        while (told < wanted && read(ends[0], &byte, 1) == 1) ++told;
        kill(child, SIGKILL);
        while (read(ends[0], &byte, 1) == 1) ++told; // what it wrote until it died
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        int found = count_good_frames();
        assert_in_range(found, told >= 10 ? told - 9 : 0, told + 1); // at most one batch is lost
        // The index and all the rest are there, and the recording can go on.
        assert_string_equal(rows_of("SELECT COUNT(*) FROM sqlite_master WHERE name IN"
                                    " ('frame_id_idx', 'geometry_hash')"),
                            "2;");
        if (found > 2) {
            th_trajectory_writer *writer = append(moment_of(found - 2, 0).number);
            write_moments(writer, found - 2, found + 5, 0);
            finish(writer);
            assert_int_equal(count_good_frames(), found + 5);
            assert_false(beside("-wal"));
        }
        tear_down(NULL);
        set_up(NULL);
    }
}

// A limit on the size of files stands in for a full disk.
static void test_full_disk(void **state) {
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (int k = 0; k < 2; ++k) {
        struct rlimit before, limit;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        limit = before;
        limit.rlim_cur = k ? 800000 : 300000;
        th_error error = {0};
        th_result result = TH_OK;
        int wrote = 0;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int f = 0; f < 3000 && result == TH_OK; ++f, ++wrote) {
            moment m = moment_of(f, 0);
            th_frame frame = frame_of(&m);
            result = th_sqlite_backend.write(writer, &frame, &error);
        }
        moment m = moment_of(wrote, 0);
        th_frame more = frame_of(&m);
        th_error again = {0};
        th_result after = th_sqlite_backend.write(writer, &more, &again);
        th_result finished = th_sqlite_backend.finish(writer, NULL);
        setrlimit(RLIMIT_FSIZE, &before);
        free_writer(writer);
        assert_int_equal(result, TH_NO_FILE);
        assert_int_equal(after, TH_NO_FILE); // once and for all
        assert_int_equal(finished, TH_OK);
        assert_string_equal(error.file, path);
        assert_non_null(strstr(error.message, "kept"));
        int found = count_good_frames();
        print_message("%s: the disk was full at frame %d, %d frames are there: %s\n",
                      k ? "compact" : "rows", wrote, found, error.message);
        assert_true(wrote > 20 && found > wrote - 12 && found <= wrote);
        tear_down(NULL);
        set_up(NULL);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void test_unwritable(void **state) {
    (void)state;
    th_trajectory_info info = info_of(TH_TRAJECTORY_SQLITE);
    th_trajectory_writer *writer = blank_writer();
    th_error error = {0};
    assert_true(th_keep_info(&writer->kept, &writer->kept_count, &writer->info, &info));
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/no/such/folder.sqlite", folder);
    assert_int_equal(th_sqlite_backend.create(writer, nowhere, &error), TH_NO_FILE);
    assert_string_equal(error.file, nowhere);
    assert_non_null(strstr(error.message, "folder"));
    assert_int_equal(th_sqlite_backend.finish(writer, NULL), TH_OK);
    free_writer(writer);
}

// Reads as somebody who may not write there, in a process of its own; root may write everywhere.
static void read_only(bool compact) {
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
        th_trajectory *t;
        if (try_open(&t, NULL)) _exit(1);
        if (t->info.format != (compact ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE)) _exit(2);
        th_frame frame;
        int frames = 0;
        while (!th_sqlite_backend.next(t, &frame, NULL) && frame.count >= 0) ++frames;
        _exit(frames == 20 ? 0 : 3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    chmod(folder, 0755);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_read_only_folder(void **state) {
    (void)state;
    th_trajectory_info info = info_of(TH_TRAJECTORY_COMPACT);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, 20, 0);
    finish(writer);
    read_only(true);
    // Still marked for a write-ahead log but without one, as when a copy forgot it.
    chmod(path, 0644);
    run_sql("PRAGMA journal_mode = WAL");
    assert_false(beside("-wal"));
    read_only(true);
    // And with its log, as a killed writer leaves it.
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        write_moments(create(&info), 0, 20, 0); // two batches of ten
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(beside("-wal"));
    read_only(true);
}

// ---- rates: printed, not asserted, as other work shares the machine

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_rates(void **state) {
    (void)state;
    enum { COUNT = 20000, TIMES = 11 };
    uint32_t *id = malloc(COUNT * sizeof *id);
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    float *vx = malloc(COUNT * sizeof *vx), *vy = malloc(COUNT * sizeof *vy);
    assert_true(id && x && y && vx && vy);
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = {.format = k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
                                   .fps = 10};
        for (int i = 0; i < COUNT; ++i) {
            id[i] = (uint32_t)i + 1;
            x[i] = (float)(i % 200);
            y[i] = (float)(i / 200);
        }
        th_trajectory_writer *writer = create(&info);
        double start = seconds();
        for (int f = 0; f < TIMES; ++f) {
            for (int i = 0; i < COUNT; ++i) {
                double angle = i + 0.05 * f;
                vx[i] = (float)(1.3 * cos(angle));
                vy[i] = (float)(1.3 * sin(angle));
                x[i] += 0.1f * vx[i];
                y[i] += 0.1f * vy[i];
            }
            th_raw_frame raw = {.number = f,
                                .count = COUNT,
                                .id = id,
                                .x = x,
                                .y = y,
                                .velocity_x = vx,
                                .velocity_y = vy};
            assert_int_equal(th_compact_write_raw(writer, &raw, NULL), TH_OK);
        }
        finish(writer);
        double took = seconds() - start;
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        print_message("%s: %.2f million people a second, %.2f bytes per person and frame\n",
                      k ? "compact" : "rows", 1e-6 * COUNT * TIMES / took,
                      (double)about.st_size / (COUNT * TIMES));
        unlink(path);
    }
    free(id);
    free(x);
    free(y);
    free(vx);
    free(vy);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_rows),
        TEST(test_compact),
        TEST(test_compact_far),
        TEST(test_schema),
        TEST(test_schema_compact),
        TEST(test_no_geometry),
        TEST(test_append),
        TEST(test_read_while_writing),
        TEST(test_empty_beginning),
        TEST(test_raw),
        TEST(test_version_1),
        TEST(test_version_3),
        TEST(test_wrong_files),
        TEST(test_damaged_blob),
        TEST(test_kill),
        TEST(test_full_disk),
        TEST(test_unwritable),
        TEST(test_read_only_folder),
        TEST(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
