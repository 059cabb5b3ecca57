// SQLite recordings when things go wrong: damaged files, kills, full disks, folders that cannot be
// written. SPDX-License-Identifier: Apache-2.0
#include "sqlite_recording.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

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
    th_moment frame;
    th_error error = {0};
    th_result result = TH_OK;
    do result = th_sqlite_backend.next(t, &frame, &error);
    while (result == TH_OK && frame.count >= 0);
    assert_int_equal(result, TH_NO_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
    assert_string_equal(error.file, path);
    close_recording(t);
}

// Through the layer above, where the rules for every format are.
static void expect_whole_error(const char *sql, const char *words) {
    unlink(path);
    run_sql(version_3);
    run_sql(sql);
    th_trajectory *t = NULL;
    th_error error = {0};
    th_moment frame = {0};
    th_result result = th_trajectory_open(path, &t, &error);
    while (result == TH_OK && frame.count >= 0) result = th_trajectory_next(t, &frame, &error);
    assert_int_equal(result, TH_NO_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
    th_trajectory_close(t);
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
    expect_open_error("INSERT INTO trajectory_data VALUES(2, 8, 9e999, 1)", "person 8");
    expect_open_error("INSERT INTO trajectory_data VALUES(2, 8, 1, -1e308)", "stands nowhere");
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

// Numbers in the metadata: not finite, or in no relation to a crowd.
static void test_wrong_numbers(void **state) {
    (void)state;
    expect_open_error("UPDATE metadata SET value = '1e300' WHERE key = 'version'", "version");
    expect_open_error("UPDATE metadata SET value = '2.5' WHERE key = 'version'", "version 2.5");
    expect_open_error("UPDATE metadata SET value = '-1' WHERE key = 'fps'", "frame rate");
    expect_whole_error("UPDATE metadata SET value = '9e999' WHERE key = 'fps'", "inf frames");
    expect_whole_error("UPDATE metadata SET value = '1e-300' WHERE key = 'fps'", "frames per");
    expect_open_error("INSERT INTO trajectory_data VALUES(-7, 1, 1, 1)", "frames from -7");
    expect_whole_error("INSERT INTO trajectory_data VALUES(1.5, 1, 1, 1)", "whole");
    expect_whole_error("INSERT INTO trajectory_data VALUES('x', 1, 1, 1)", "whole");
    expect_whole_error("INSERT INTO trajectory_data VALUES(9, 'x', 1, 1)", "whole");
    static const char floors[] =
        "CREATE TABLE throng_levels(level INTEGER, id TEXT, z REAL, geometry_hash INTEGER);"
        "INSERT INTO throng_levels VALUES(0, 'a', 0, 1), (1, 'b', %s, 1);"
        "CREATE TABLE throng_level_data(frame INTEGER, id INTEGER, level INTEGER);"
        "INSERT INTO throng_level_data SELECT frame, id, %s FROM trajectory_data";
    char sql[600];
    snprintf(sql, sizeof sql, floors, "9e999", "0");
    expect_whole_error(sql, "height");
    snprintf(sql, sizeof sql, floors, "3", "1000000000");
    expect_whole_error(sql, "level 1000000000 of 2");
    snprintf(sql, sizeof sql, floors, "3", "NULL");
    expect_whole_error(sql, "level");
}

// Counts the whole frames that a reader finds; all of them must be right.
static int count_good_frames(void) {
    th_trajectory *t = open_recording();
    int64_t frames = t->info.frame_count;
    if (frames > 0) assert_counts(&t->info, 0, (int)frames);
    assert_moments(t, 0, (int)frames);
    close_recording(t);
    return (int)frames;
}

// ---- files that ask to be obeyed

static const char forever[] =
    "(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT ";

static void expect_refused_view(const char *table, const char *columns) {
    char sql[500];
    snprintf(sql, sizeof sql,
             "DROP TABLE IF EXISTS %s; CREATE VIEW %s AS SELECT * FROM %s%s FROM n)", table, table,
             forever, columns);
    expect_open_error(sql, "view");
}

static void test_not_obeyed(void **state) {
    (void)state;
    expect_refused_view("trajectory_data", "i frame, i id, 1.0 pos_x, 1.0 pos_y");
    expect_refused_view("metadata", "'fps' key, '10' value");
    expect_refused_view("frame_data", "i frame, 1 geometry_hash");
    expect_refused_view("geometry", "i hash, 'POINT(0 0)' wkt");
    expect_refused_view("throng_levels", "i level, 'a' id, 0.0 z, 1 geometry_hash");
    expect_refused_view("Throng_Frames", "i frame, i key_frame, 1 count, x'00' data");
    expect_open_error("DROP TABLE geometry; CREATE TABLE geometry(hash INTEGER, "
                      "wkt AS (hex(zeroblob(100000000))))",
                      "computed");
    expect_open_error("DROP TABLE geometry; CREATE VIRTUAL TABLE geometry USING rtree(hash, a, b)",
                      "view");
    // Triggers are for writing, and a recording that is continued is written.
    unlink(path);
    th_trajectory_info info = info_of(TH_TRAJECTORY_SQLITE);
    th_trajectory_writer *writer = create(&info);
    write_moments(writer, 0, 10, 0);
    finish(writer);
    run_sql(
        "CREATE TRIGGER more AFTER INSERT ON frame_data BEGIN DELETE FROM trajectory_data; END");
    writer = append(10);
    write_moments(writer, 10, 12, 0);
    finish(writer);
    assert_int_equal(count_good_frames(), 12);
}

// A tree of pages whose every branch leads to the same page: endless rows in a small file.
static void lead_back(const char *table) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT rootpage FROM sqlite_master WHERE name = '%s'", table);
    long root = strtol(rows_of(sql), NULL, 10);
    FILE *file = fopen(path, "r+b");
    unsigned char page[4096];
    assert_non_null(file);
    assert_int_equal(fseek(file, (root - 1) * 4096, SEEK_SET), 0);
    assert_int_equal(fread(page, 1, sizeof page, file), sizeof page);
    assert_int_equal(page[0], 5); // an inner page of a table
    int cells = page[3] << 8 | page[4];
    const unsigned char *first = page + (page[12] << 8 | page[13]);
    unsigned char child[4];
    memcpy(child, first, 4);
    for (int level = 0; level < 6;
         ++level) { // copies of this page at the end, each all to the next
        long end = 0;
        assert_int_equal(fseek(file, 0, SEEK_END), 0);
        end = ftell(file) / 4096;
        for (int k = 0; k < cells; ++k)
            memcpy(page + (page[12 + 2 * k] << 8 | page[13 + 2 * k]), child, 4);
        memcpy(page + 8, child, 4);
        assert_int_equal(fwrite(page, 1, sizeof page, file), sizeof page);
        child[0] = 0, child[1] = (unsigned char)((end + 1) >> 16);
        child[2] = (unsigned char)((end + 1) >> 8), child[3] = (unsigned char)(end + 1);
    }
    for (int k = 0; k < cells; ++k)
        memcpy(page + (page[12 + 2 * k] << 8 | page[13 + 2 * k]), child, 4);
    memcpy(page + 8, child, 4);
    assert_int_equal(fseek(file, (root - 1) * 4096, SEEK_SET), 0);
    assert_int_equal(fwrite(page, 1, sizeof page, file), sizeof page);
    // The header says how many pages there are.
    long pages;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    pages = ftell(file) / 4096;
    const unsigned char count[4] = {0, (unsigned char)(pages >> 16), (unsigned char)(pages >> 8),
                                    (unsigned char)pages};
    assert_int_equal(fseek(file, 28, SEEK_SET), 0);
    assert_int_equal(fwrite(count, 1, 4, file), 4);
    fclose(file);
}

static void test_endless_tables(void **state) {
    (void)state;
    static const char *const fills[] = {
        "INSERT INTO trajectory_data SELECT i, 1, i, 0 FROM n",
        "INSERT INTO metadata SELECT 'k' || i, 'some text that takes room in the page' FROM n",
        "INSERT INTO frame_data SELECT i + 10, 5 FROM n"};
    static const char *const tables[] = {"trajectory_data", "metadata", "frame_data"};
    for (int k = 0; k < 3; ++k) {
        char sql[400];
        unlink(path);
        run_sql("PRAGMA page_size = 4096");
        run_sql(version_3);
        snprintf(
            sql, sizeof sql,
            "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "%s",
            fills[k]);
        run_sql(sql);
        lead_back(tables[k]);
        th_trajectory *t = NULL;
        th_error error = {0};
        clock_t begun = clock();
        th_result result = th_trajectory_open(path, &t, &error);
        th_moment frame = {0};
        while (result == TH_OK && frame.count >= 0) result = th_trajectory_next(t, &frame, &error);
        double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
        th_trajectory_close(t);
        assert_int_equal(result, TH_NO_FILE);
        print_message("%s: %s, after %.1f s\n", tables[k], error.message, seconds);
        assert_true(seconds < 20);
    }
}

// One damaged blob loses the frames up to the next key frame, and the error names it.
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
        th_moment frame;
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

static void write_until_killed(th_trajectory_format format, int tell) {
    th_trajectory_info info = info_of(format);
    th_trajectory_writer *writer = blank_writer();
    th_keep_info(&writer->kept, &writer->info, &info);
    if (th_sqlite_backend.create(writer, path, NULL)) _exit(1);
    for (int f = 0; f < 1000000; ++f) {
        moment m = moment_of(f, 0);
        th_moment frame = frame_of(&m);
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
            th_moment frame = frame_of(&m);
            result = th_sqlite_backend.write(writer, &frame, &error);
        }
        moment m = moment_of(wrote, 0);
        th_moment more = frame_of(&m);
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
    assert_true(th_keep_info(&writer->kept, &writer->info, &info));
    char nowhere[160];
    snprintf(nowhere, sizeof nowhere, "%s/no/such/folder.sqlite", folder);
    assert_int_equal(th_sqlite_backend.create(writer, nowhere, &error), TH_NO_FILE);
    assert_string_equal(error.file, nowhere);
    assert_non_null(strstr(error.message, "folder"));
    assert_int_equal(th_sqlite_backend.finish(writer, NULL), TH_OK);
    free_writer(writer);
}

// Reads as a user that may not write there, in a process of its own; root may write everywhere.
static void read_only(bool compact) {
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
        th_trajectory *t;
        if (try_open(&t, NULL)) _exit(1);
        if (t->info.format != (compact ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE)) _exit(2);
        th_moment frame;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_wrong_files),    TEST(test_wrong_numbers), TEST(test_not_obeyed),
        TEST(test_endless_tables), TEST(test_damaged_blob),  TEST(test_kill),
        TEST(test_full_disk),      TEST(test_unwritable),    TEST(test_read_only_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
