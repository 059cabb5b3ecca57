// HDF5: the layout that PedPy and the archive expect, looked at with HDF5 itself; files as others write
// them; damaged ones. SPDX-License-Identifier: Apache-2.0
#include "throng/record.h"
#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct fixture {
    char folder[64];
    char path[96], voice[96];
    int old_stderr;
} fixture;

// Output of HDF5 itself goes to a file that must stay empty.
static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->folder, "/tmp/throng-hdf5-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/trajectory.h5", f->folder);
    snprintf(f->voice, sizeof f->voice, "%s/stderr", f->folder);
    fflush(stderr);
    f->old_stderr = dup(STDERR_FILENO);
    assert_non_null(freopen(f->voice, "w", stderr));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    fflush(stderr);
    dup2(f->old_stderr, STDERR_FILENO);
    close(f->old_stderr);
    struct stat voice;
    bool silent = stat(f->voice, &voice) == 0 && voice.st_size == 0;
    char command[128];
    if (!silent) {
        snprintf(command, sizeof command, "cat '%s'", f->voice);
        (void)!system(command);
    }
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    int status = system(command);
    free(f);
    // All open objects are closed again.
    bool closed = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
    return silent && closed ? status : 1;
}

static void must(th_result result, const th_error *error) {
    if (result != TH_OK) printf("%s: %s\n", error->file, error->message);
    assert_int_equal(result, TH_OK);
}

// ---- as we write it

static const th_trajectory_level levels[] = {
    {"a", 0, "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))"},
    {"b", 4, "POLYGON ((0 0, 5 0, 5 5, 0 5, 0 0))"},
};

static void write_file(const fixture *f, int level_count, bool orientation) {
    th_error error = {0};
    const th_trajectory_note note = {"throng_seed", "7"};
    th_trajectory_info info = {.format = TH_TRAJECTORY_HDF5,
                               .fps = 12.5,
                               .levels = levels,
                               .level_count = level_count,
                               .notes = &note,
                               .note_count = 1};
    th_trajectory_writer *writer = NULL;
    must(th_trajectory_writer_create(f->path, &info, &writer, &error), &error);
    const int64_t id[] = {3, 8};
    const double x[] = {1.25, 2.5}, y[] = {0.1, 4}, ox[] = {1, 0}, oy[] = {0, -1};
    const int32_t level[] = {0, 1};
    for (int number = 0; number < 3; ++number) {
        th_moment frame = {.number = number,
                           .count = 2,
                           .id = id,
                           .x = x,
                           .y = y,
                           .orientation_x = orientation ? ox : NULL,
                           .orientation_y = orientation ? oy : NULL,
                           .level = level_count > 1 ? level : NULL};
        must(th_trajectory_write(writer, &frame, &error), &error);
    }
    must(th_trajectory_writer_close(writer, &error), &error);
}

static void check_text(hid_t object, const char *name, const char *expected) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t type = H5Aget_type(attribute);
    // Texts of any length in UTF-8, which h5py returns as str.
    assert_true(H5Tis_variable_str(type) > 0);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_UTF8);
    char *text = NULL;
    assert_true(H5Aread(attribute, type, &text) >= 0);
    if (expected) assert_string_equal(text, expected);
    assert_true(strlen(text) > 0);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static void check_member(hid_t type, unsigned index, const char *name, hid_t expected) {
    char *found = H5Tget_member_name(type, index);
    assert_string_equal(found, name);
    H5free_memory(found);
    hid_t member = H5Tget_member_type(type, index);
    assert_true(H5Tequal(member, expected) > 0);
    H5Tclose(member);
}

static void check_storage(hid_t dataset) {
    hid_t settings = H5Dget_create_plist(dataset);
    assert_int_equal(H5Pget_layout(settings), H5D_CHUNKED);
    assert_int_equal(H5Pget_nfilters(settings), 2);
    unsigned flags, level = 0, configuration;
    size_t count = 1;
    assert_int_equal(H5Pget_filter2(settings, 0, &flags, &count, &level, 0, NULL, &configuration),
                     H5Z_FILTER_SHUFFLE);
    count = 1;
    assert_int_equal(H5Pget_filter2(settings, 1, &flags, &count, &level, 0, NULL, &configuration),
                     H5Z_FILTER_DEFLATE);
    assert_int_equal(level, 1);
    H5Pclose(settings);
}

// The archive's column types and order, fps on the dataset, wkt_geometry on the root.
static void layout(void **state) {
    fixture *f = *state;
    for (int orientation = 0; orientation < 2; ++orientation) {
        write_file(f, 1, orientation == 1);
        hid_t file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(file >= 0);
        check_text(file, "wkt_geometry", levels[0].wkt);
        check_text(file, "file_version", "1.0.0");
        check_text(file, "source", "throng " TH_VERSION);
        hid_t dataset = H5Dopen2(file, "/trajectory", H5P_DEFAULT), type = H5Dget_type(dataset);
        assert_int_equal(H5Tget_nmembers(type), orientation ? 7 : 5);
        check_member(type, 0, "id", H5T_STD_I64LE);
        check_member(type, 1, "frame", H5T_STD_I64LE);
        check_member(type, 2, "x", H5T_IEEE_F64LE);
        check_member(type, 3, "y", H5T_IEEE_F64LE);
        check_member(type, 4, "z", H5T_IEEE_F64LE);
        assert_int_equal(H5Tget_size(type), orientation ? 56 : 40); // no gaps
        hid_t space = H5Dget_space(dataset);
        assert_int_equal(H5Sget_simple_extent_ndims(space), 1);
        assert_int_equal(H5Sget_simple_extent_npoints(space), 6);
        double fps = 0;
        hid_t attribute = H5Aopen(dataset, "fps", H5P_DEFAULT);
        assert_true(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, &fps) >= 0);
        assert_true(fps == 12.5);
        H5Aclose(attribute);
        for (unsigned i = 0; i < 5; ++i) {
            static const char *const columns[] = {"id", "frame", "x", "y", "z"};
            check_text(dataset, columns[i], NULL);
        }
        check_storage(dataset);
        assert_true(H5Lexists(file, "/throng/level", H5P_DEFAULT) <=
                    0); // one level needs no column
        H5Sclose(space);
        H5Tclose(type);
        H5Dclose(dataset);
        H5Fclose(file);
        assert_int_equal(remove(f->path), 0);
    }
}

static void levels_beside(void **state) {
    fixture *f = *state;
    write_file(f, 2, false);
    hid_t file = H5Fopen(f->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check_text(file, "wkt_geometry", levels[0].wkt); // the first: PedPy wants one polygon
    int32_t level[6];
    hid_t dataset = H5Dopen2(file, "/throng/level", H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, level) >= 0);
    for (int i = 0; i < 6; ++i) assert_int_equal(level[i], i % 2);
    H5Dclose(dataset);
    struct {
        double z;
    } rows[6];
    hid_t only_z = H5Tcreate(H5T_COMPOUND, sizeof rows[0]);
    H5Tinsert(only_z, "z", 0, H5T_NATIVE_DOUBLE);
    dataset = H5Dopen2(file, "/trajectory", H5P_DEFAULT);
    assert_true(H5Dread(dataset, only_z, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    for (int i = 0; i < 6; ++i) assert_true(rows[i].z == (i % 2 ? 4 : 0));
    H5Tclose(only_z);
    H5Dclose(dataset);
    H5Fclose(file);
}

// More rows than one chunk, and an area of more characters than an attribute of fixed size may have.
static void large(void **state) {
    fixture *f = *state;
    enum { PEOPLE = 3000, FRAMES = 23, POINTS = 9000 };
    char *wkt = malloc(POINTS * 24 + 64);
    int64_t *id = malloc(PEOPLE * sizeof *id);
    double *x = malloc(PEOPLE * sizeof *x);
    assert_true(wkt && id && x);
    char *at = wkt + sprintf(wkt, "POLYGON ((0 0");
    for (int i = 0; i < POINTS; ++i) at += sprintf(at, ", %d.5 %d.25", i + 1, i % 10);
    sprintf(at, ", 0 0))");
    const th_trajectory_level level = {"large", 0, wkt};
    th_trajectory_info info = {
        .format = TH_TRAJECTORY_HDF5, .fps = 10, .levels = &level, .level_count = 1};
    th_error error = {0};
    th_trajectory_writer *writer = NULL;
    must(th_trajectory_writer_create(f->path, &info, &writer, &error), &error);
    for (int k = 0; k < FRAMES; ++k) {
        for (int i = 0; i < PEOPLE; ++i) {
            id[i] = 2 * i;
            x[i] = i + 1e-3 * k;
        }
        th_moment frame = {.number = k, .count = PEOPLE, .id = id, .x = x, .y = x};
        must(th_trajectory_write(writer, &frame, &error), &error);
    }
    must(th_trajectory_writer_close(writer, &error), &error);
    th_trajectory *trajectory = NULL;
    must(th_trajectory_open(f->path, &trajectory, &error), &error);
    const th_trajectory_info *read = th_trajectory_about(trajectory);
    assert_string_equal(read->levels[0].wkt, wkt);
    assert_int_equal(read->row_count, PEOPLE * FRAMES);
    assert_int_equal(read->agent_count, PEOPLE);
    for (int k = 0; k < FRAMES; ++k) {
        th_moment frame;
        must(th_trajectory_next(trajectory, &frame, &error), &error);
        assert_int_equal(frame.count, PEOPLE);
        assert_true(frame.x[PEOPLE - 1] == PEOPLE - 1 + 1e-3 * k);
    }
    th_trajectory_close(trajectory);
    free(wkt);
    free(id);
    free(x);
}

// ---- as others write it

typedef struct other_row {
    uint32_t frame, id;
    float x, y;
    double z, ox, oy;
} other_row;

// JuPedSim's field order with narrow numbers; `skip` leaves out the field of that name.
static hid_t other_type(const char *skip, bool orientation) {
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(other_row));
    if (strcmp(skip, "frame") != 0)
        H5Tinsert(type, "frame", HOFFSET(other_row, frame), H5T_NATIVE_UINT32);
    if (strcmp(skip, "id") != 0) H5Tinsert(type, "id", HOFFSET(other_row, id), H5T_NATIVE_UINT32);
    if (strcmp(skip, "x") != 0) H5Tinsert(type, "x", HOFFSET(other_row, x), H5T_NATIVE_FLOAT);
    if (strcmp(skip, "y") != 0) H5Tinsert(type, "y", HOFFSET(other_row, y), H5T_NATIVE_FLOAT);
    H5Tinsert(type, "z", HOFFSET(other_row, z), H5T_NATIVE_DOUBLE);
    if (orientation) {
        H5Tinsert(type, "ox", HOFFSET(other_row, ox), H5T_NATIVE_DOUBLE);
        H5Tinsert(type, "oy", HOFFSET(other_row, oy), H5T_NATIVE_DOUBLE);
    }
    return type;
}

static void put_integer(hid_t object, const char *name, int value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_STD_I16BE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT, &value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void put_fixed_text(hid_t object, const char *name, const char *text) {
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text)); // filled up, no end: as numpy's S type
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

typedef struct other_file {
    const char *skip;
    bool orientation, no_fps;
    const other_row *rows;
    hsize_t count;
    hsize_t columns; // more than 1: a table of rows
} other_file;

static void write_other(const fixture *f, other_file how) {
    hid_t file = H5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = other_type(how.skip ? how.skip : "", how.orientation);
    hsize_t size[2] = {how.count, how.columns};
    hid_t space = H5Screate_simple(how.columns > 1 ? 2 : 1, size, NULL);
    hid_t dataset =
        H5Dcreate2(file, "trajectory", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (how.rows)
        assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, how.rows) >= 0);
    if (!how.no_fps) put_integer(dataset, "fps", 25);
    put_fixed_text(file, "wkt_geometry", "POLYGON ((0 0, 3 0, 3 3, 0 0))");
    put_fixed_text(file, "run_name", "00_01a");
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
}

static const other_row other_rows[] = {
    {7, 1, 0.5f, 1, 1.76, 0, 1}, {8, 1, 0.75f, 1, 1.76, 0, 1}, {7, 4000000000u, 2, 2, 1.6, -1, 0}};

static void others(void **state) {
    fixture *f = *state;
    for (int orientation = 0; orientation < 2; ++orientation) {
        write_other(f,
                    (other_file){.orientation = orientation == 1, .rows = other_rows, .count = 3});
        th_error error = {0};
        th_trajectory *trajectory = NULL;
        must(th_trajectory_open(f->path, &trajectory, &error), &error);
        const th_trajectory_info *info = th_trajectory_about(trajectory);
        assert_true(info->fps == 25);
        assert_int_equal(info->level_count, 1);
        assert_string_equal(info->levels[0].wkt, "POLYGON ((0 0, 3 0, 3 3, 0 0))");
        assert_int_equal(info->note_count, 1);
        assert_string_equal(info->notes[0].key, "run_name");
        assert_string_equal(info->notes[0].value, "00_01a");
        assert_int_equal(info->agent_count, 2);
        th_moment frame;
        must(th_trajectory_next(trajectory, &frame, &error), &error);
        assert_int_equal(frame.number, 7);
        assert_int_equal(frame.count, 2);
        assert_int_equal(frame.id[1], 4000000000);
        assert_true(frame.x[0] == 0.5 && frame.x[1] == 2);
        if (orientation)
            assert_true(frame.orientation_x[1] == -1 && frame.orientation_y[0] == 1);
        else
            assert_null(frame.orientation_x);
        th_trajectory_close(trajectory);
    }
}

static void refuse(const fixture *f, const char *word) {
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    assert_int_equal(th_trajectory_open(f->path, &trajectory, &error), TH_NO_FILE);
    assert_null(trajectory);
    assert_string_equal(error.file, f->path);
    if (!strstr(error.message, word)) printf("%s\n", error.message);
    assert_non_null(strstr(error.message, word));
}

static void bad_files(void **state) {
    fixture *f = *state;
    static const char *const needed[] = {"id", "frame", "x", "y"};
    for (int i = 0; i < 4; ++i) {
        write_other(f, (other_file){.skip = needed[i], .rows = other_rows, .count = 3});
        refuse(f, "lacks the columns");
    }
    write_other(f, (other_file){.no_fps = true, .rows = other_rows, .count = 3});
    refuse(f, "fps");
    write_other(f, (other_file){.rows = NULL, .count = 1, .columns = 3});
    refuse(f, "not a list of rows");
    // A header that claims 10^12 rows.
    write_other(f, (other_file){.rows = NULL, .count = 1000000000000});
    refuse(f, "damaged");
    other_row nowhere = {1, 1, NAN, 0, 0, 0, 0};
    write_other(f, (other_file){.rows = &nowhere, .count = 1});
    refuse(f, "positions are numbers");
    const other_row twice[] = {other_rows[0], other_rows[1], other_rows[0]};
    write_other(f, (other_file){.rows = twice, .count = 3});
    refuse(f, "person 1 is there twice in frame 7");
    hid_t file = H5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    refuse(f, "without a dataset /trajectory");
}

// A file that was copied in part.
static void truncated(void **state) {
    fixture *f = *state;
    write_file(f, 2, true);
    struct stat about;
    assert_int_equal(stat(f->path, &about), 0);
    for (off_t size = about.st_size - 1; size > 8; size -= about.st_size / 40) {
        assert_int_equal(truncate(f->path, size), 0);
        refuse(f, "");
    }
}

// Other users of HDF5 in the process keep their own error handler.
// ---- the process that reads

// Another program in place of the reader.
static void expect_from_reader(const fixture *f, const char *script, const char *words) {
    char reader[96];
    snprintf(reader, sizeof reader, "%s/reader", f->folder);
    FILE *file = fopen(reader, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    assert_int_equal(chmod(reader, 0755), 0);
    setenv("THRONG_HDF5_READER", reader, 1);
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    assert_int_equal(th_trajectory_open(f->path, &trajectory, &error), TH_NO_FILE);
    if (!strstr(error.message, words)) fail_msg("'%s' lacks '%s'", error.message, words);
    assert_string_equal(error.file, f->path);
    unsetenv("THRONG_HDF5_READER");
}

static void reader_dies(void **state) {
    const fixture *f = *state;
    write_file(f, 2, true);
    expect_from_reader(f, "kill -SEGV $$", "damaged: the HDF5 library crashes on it");
    expect_from_reader(f, "kill -XCPU $$", "damaged: reading it takes longer");
    expect_from_reader(f, "kill -KILL $$", "damaged");
    expect_from_reader(f, "exit 1", "damaged");
    expect_from_reader(f, "exec yes nonsense", "damaged");
    expect_from_reader(f, "printf T; exec cat /dev/zero", "damaged");
    // Half of what the true one sends.
    expect_from_reader(f, "'" TH_PROGRAM "-read-hdf5' \"$1\" | head -c 300", "damaged");
    setenv("THRONG_HDF5_READER", "/nowhere/reader", 1);
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    assert_int_equal(th_trajectory_open(f->path, &trajectory, &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, "throng-read-hdf5 is missing"));
    unsetenv("THRONG_HDF5_READER");
}

// Files on which HDF5 1.10 crashes, loops or takes all memory; a later one may refuse them, or read them.
static void hard_files(void **state) {
    (void)state;
    static const char *const names[] = {"crash.h5", "loop.h5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char path[300];
        snprintf(path, sizeof path, TH_SOURCE_DIR "/tests/data/damaged/%s", names[i]);
        th_trajectory *trajectory = NULL;
        th_error error = {0};
        th_result result = th_trajectory_open(path, &trajectory, &error);
        print_message("%s: %s\n", names[i], error.message);
        assert_true(result == TH_OK || (result == TH_NO_FILE && error.message[0]));
        th_trajectory_close(trajectory);
    }
}

// The library is used by programs with threads, and the HDF5 library has no locks.
static void threads(void **state) {
    const fixture *f = *state;
    write_file(f, 2, true);
    int good = 0;
#pragma omp parallel for num_threads(4) reduction(+ : good)
    for (int k = 0; k < 8; ++k) {
        th_trajectory *trajectory = NULL;
        good += th_trajectory_open(f->path, &trajectory, NULL) == TH_OK &&
                th_trajectory_about(trajectory)->level_count == 2;
        th_trajectory_close(trajectory);
    }
    assert_int_equal(good, 8);
}

static void voice_stays(void **state) {
    fixture *f = *state;
    H5E_auto2_t before, after;
    void *context;
    H5Eget_auto2(H5E_DEFAULT, &before, &context);
    assert_non_null(before);
    write_file(f, 2, true);
    th_trajectory *trajectory = NULL;
    assert_int_equal(th_trajectory_open(f->path, &trajectory, NULL), TH_OK);
    th_trajectory_close(trajectory);
    H5Eget_auto2(H5E_DEFAULT, &after, &context);
    assert_true(before == after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(levels_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large, set_up, tear_down),
        cmocka_unit_test_setup_teardown(others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(truncated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reader_dies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hard_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(voice_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
