// SQLite recordings: JuPedSim's schema to the letter, round trips of rows and blobs, other programs'
// files. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "record/compact.h"
#include "sqlite_recording.h"

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
    // PedPy's own queries.
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
        th_moment frame = {.number = 0, .count = 2, .id = id, .x = x, .y = y};
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
        th_moment got = next(t);
        assert_int_equal(got.count, 2);
        assert_null(got.orientation_x); // not written, so not read
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

// A reader has the file open while it is recorded and finished: it sees what is committed, nothing is lost.
static void test_read_while_writing(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        write_moments(writer, 0, 20, 0); // two batches of ten
        th_trajectory *t = open_recording();
        assert_int_equal(t->info.frame_count, 20);
        moment m = moment_of(0, 0);
        th_moment got = next(t);
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
        th_moment empty = {.number = 0};
        write_frame(writer, &empty);
        int64_t id = 4;
        double x = 7, y = -7, ox = 0, oy = -1;
        th_moment one = {.number = 5, .count = 1, .id = &id, .x = &x, .y = &y};
        one.orientation_x = &ox;
        one.orientation_y = &oy;
        write_frame(writer, &one);
        finish(writer);
        th_trajectory *t = open_recording();
        assert_int_equal(t->info.frame_count, 2);
        assert_int_equal(t->info.agent_count, 1);
        assert_int_equal(next(t).count, 0);
        th_moment got = next(t);
        assert_int_equal(got.number, 5);
        assert_true(got.id[0] == 4 && got.x[0] == 7 && got.y[0] == -7);
        assert_non_null(got.orientation_x);
        assert_true(fabs(got.orientation_y[0] + 1) < 1e-9);
        close_recording(t);
        unlink(path);
    }
}

// ---- moments of a world

static void test_moments_of_a_world(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = info_of(k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE);
        th_trajectory_writer *writer = create(&info);
        const int64_t id[3] = {1, 7, 4000000000};
        const int32_t level[3] = {0, 2, 1};
        const double x[3] = {1.25, -3, (double)99.9995f}, y[3] = {0, (double)1e-4f, 7};
        const double vx[3] = {0, -1, 0.003}, vy[3] = {2, 0, 0.003}, stand[3] = {0};
        th_moment world = {.number = 0,
                           .count = 3,
                           .id = id,
                           .x = x,
                           .y = y,
                           .velocity_x = vx,
                           .velocity_y = vy,
                           .level = level,
                           .has_origin = true,
                           .origin = {4500000.5, -10}};
        th_error error = {0};
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_OK);
        world.velocity_x = world.velocity_y = stand; // they stop, and look where they looked
        world.number = 1;
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_OK);
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_BAD_ARGUMENT);
        finish(writer);
        writer = append(2);
        world.number = 2;
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_OK);
        const int32_t wrong_level[3] = {0, 3, 0};
        const int64_t wrong_id[3] = {1, 7, 7};
        const double nowhere[3] = {0, (double)NAN, 0};
        world.number = 3;
        world.level = wrong_level;
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_BAD_ARGUMENT);
        world.level = level;
        world.id = wrong_id;
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_BAD_ARGUMENT);
        world.id = id;
        world.x = nowhere;
        assert_int_equal(th_trajectory_write(writer, &world, &error), TH_BAD_ARGUMENT);
        finish(writer); // what was good before a wrong argument is there
        th_trajectory *t = open_recording();
        double far = k ? 0.0005 + 1e-9 : 1e-9, turn = k ? 0.0124 : 1e-6;
        const double ox[3] = {0, -1, 1}, oy[3] = {1, 0, 0};
        for (int f = 0; f < 3; ++f) {
            th_moment got = next(t);
            assert_int_equal(got.number, f);
            assert_int_equal(got.count, 3);
            for (int i = 0; i < 3; ++i) {
                assert_int_equal(got.id[i], id[i]);
                assert_int_equal(got.level[i], level[i]);
                assert_true(fabs(got.x[i] - (4500000.5 + x[i])) <= far);
                assert_true(fabs(got.y[i] - (-10 + y[i])) <= far);
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
    assert_int_equal(t->info.agent_count, 2);
    assert_int_equal(t->info.row_count, 3);
    assert_true(t->info.min_x == 1.5 && t->info.max_y == 6.25);
    th_moment got = next(t);
    assert_int_equal(got.number, 1);
    assert_int_equal(got.count, 2);
    assert_true(got.id[0] == 2 && got.id[1] == 9 && got.x[0] == 5 && got.orientation_y[0] == -1);
    got = next(t);
    assert_int_equal(got.number, 3);
    assert_int_equal(got.count, 1);
    assert_int_equal(next(t).count, -1);
    close_recording(t);
}

static void test_version_3(void **state) {
    (void)state;
    run_sql(version_3);
    th_trajectory *t = open_recording();
    assert_true(t->info.fps == 25);
    assert_int_equal(t->info.frame_count, 3);
    assert_string_equal(t->info.levels[0].wkt, "POLYGON ((0 0, 1 0, 0 1, 0 0))");
    assert_int_equal(t->info.note_count, 1);
    assert_string_equal(t->info.notes[0].key, "who");
    th_moment got = next(t);
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

// ---- rates: printed, not asserted, as other work shares the machine

static void test_rates(void **state) {
    (void)state;
    enum { COUNT = 20000, TIMES = 11 };
    int64_t *id = malloc(COUNT * sizeof *id);
    double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    double *vx = malloc(COUNT * sizeof *vx), *vy = malloc(COUNT * sizeof *vy);
    assert_true(id && x && y && vx && vy);
    for (int k = 0; k < 2; ++k) {
        th_trajectory_info info = {.format = k ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
                                   .fps = 10};
        for (int i = 0; i < COUNT; ++i) {
            id[i] = i + 1;
            x[i] = i % 200;
            y[i] = i / 200;
        }
        th_trajectory_writer *writer = create(&info);
        double start = th_monotonic_seconds();
        for (int f = 0; f < TIMES; ++f) {
            for (int i = 0; i < COUNT; ++i) {
                double angle = i + 0.05 * f;
                vx[i] = 1.3 * cos(angle);
                vy[i] = 1.3 * sin(angle);
                x[i] += 0.1 * vx[i];
                y[i] += 0.1 * vy[i];
            }
            th_moment world = {.number = f,
                               .count = COUNT,
                               .id = id,
                               .x = x,
                               .y = y,
                               .velocity_x = vx,
                               .velocity_y = vy};
            assert_int_equal(th_trajectory_write(writer, &world, NULL), TH_OK);
        }
        finish(writer);
        double took = th_monotonic_seconds() - start;
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
        TEST(test_moments_of_a_world),
        TEST(test_version_1),
        TEST(test_version_3),
        TEST(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
