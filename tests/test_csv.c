// CSV trajectories: columns by their titles and without, units, frames from times, levels by name, errors that say where.
// SPDX-License-Identifier: Apache-2.0
#include "record/text.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/throng-csv-XXXXXX";

static int set_up(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

static void write_bytes(const char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static th_trajectory *open_csv(const char *text, th_trajectory_assumed assumed) {
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    write_bytes(text, strlen(text));
    if (th_trajectory_open_assuming(path, assumed, &trajectory, &error) != TH_OK)
        fail_msg("%s\n%d:%d: %s", text, error.line, error.column, error.message);
    assert_int_equal(th_trajectory_about(trajectory)->format, TH_TRAJECTORY_CSV);
    return trajectory;
}

static th_moment next(th_trajectory *trajectory) {
    th_moment frame = {0};
    th_error error = {0};
    if (th_trajectory_next(trajectory, &frame, &error) != TH_OK) fail_msg("%s", error.message);
    return frame;
}

// Person 3 in frame 5 at (2, 1) and in frame 6 at (2.5, 1), at 10 frames per second, however it is written.
static void titles(void **state) {
    (void)state;
    static const char *const texts[] = {
        "# framerate: 10\nid,frame,x,y\n3,5,2,1\n3,6,2.5,1\n",
        "frame,time,id,x,y\n5,0.5,3,2,1\n6,0.6,3,2.5,1\n",
        "\xEF\xBB\xBFPerson ID;Frame;Pos X [cm];Pos Y [cm];time [ms]\r\n3;5;200;100;500\r\n"
        "3;6;250,0;100,0;600\r\n",
        "\"note\",\"agent_id\",\"t\",\"y_mm\",\"x_mm\"\n\"a, "
        "b\",3,0.5,1000,2000\n,3,0.6,1000,2500\n",
        "y/m\tx/m\tped\ttime/s\n1\t2\t3\t0.5\n1\t2.5\t3\t0.6\n",
        // What pandas writes of PedPy's table, and of a column with gaps.
        "# framerate: 10\n,id,frame,x,y,point\n0,3.0,5,2.0,1.0,POINT (2 1)\n1,3.0,6,2.5,1.0,POINT "
        "(2.5 1)\n",
        "# framerate: 10\n# in cm\nID, Frame, X/m, Y/m\n3, 5, 2, 1\n 3 , 6 , 2.5 , 1 \n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        th_trajectory *trajectory = open_csv(texts[i], (th_trajectory_assumed){0});
        assert_true(th_trajectory_about(trajectory)->fps == 10);
        for (int k = 0; k < 2; ++k) {
            th_moment frame = next(trajectory);
            assert_int_equal(frame.number, 5 + k);
            assert_int_equal(frame.count, 1);
            assert_int_equal(frame.id[0], 3);
            assert_true(fabs(frame.x[0] - (2 + 0.5 * k)) < 1e-12 && fabs(frame.y[0] - 1) < 1e-12);
        }
        assert_int_equal(next(trajectory).count, -1);
        th_trajectory_close(trajectory);
    }
}

static const char *note_of(const th_trajectory *trajectory, const char *key) {
    const th_trajectory_info *info = th_trajectory_about(trajectory);
    for (int i = 0; i < info->note_count; ++i)
        if (strcmp(info->notes[i].key, key) == 0) return info->notes[i].value;
    return "";
}

// Twenty people walk 0.05 m per frame, 1 m apart; ids and frames overlap, and either column may come first.
static void columns_without_titles(void **state) {
    (void)state;
    for (int order = 0; order < 4; ++order) {
        char text[20000];
        size_t used = 0;
        bool frame_first = order & 1, by_person = order & 2;
        for (int k = 0; k < 400; ++k) {
            int frame = by_person ? k % 20 : k / 20, id = by_person ? k / 20 : k % 20;
            used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d,%.2f,%d\n",
                                     frame_first ? frame : id, frame_first ? id : frame,
                                     0.05 * frame, id);
        }
        th_trajectory *trajectory = open_csv(text, (th_trajectory_assumed){.fps = 25});
        for (int frame = 0; frame < 20; ++frame) {
            th_moment got = next(trajectory);
            assert_int_equal(got.number, frame);
            assert_int_equal(got.count, 20);
            for (int i = 0; i < 20; ++i) {
                assert_int_equal(got.id[i], i);
                assert_true(fabs(got.x[i] - 0.05 * frame) < 1e-9 && got.y[i] == i);
            }
        }
        assert_non_null(
            strstr(note_of(trajectory, "columns"), frame_first ? "frame, id" : "id, frame"));
        assert_non_null(strstr(note_of(trajectory, "unit"), "metres"));
        th_trajectory_close(trajectory);
    }
    th_trajectory *trajectory =
        open_csv("0.5,3,2,1\n0.75,3,2.5,1\n1.25,3,4,1\n", (th_trajectory_assumed){0});
    assert_true(th_trajectory_about(trajectory)->fps == 4);
    assert_int_equal(next(trajectory).number, 2);
    assert_int_equal(next(trajectory).number, 3);
    assert_int_equal(next(trajectory).number, 5);
    th_trajectory_close(trajectory);
}

// A comment that names a level is none of the columns.
static void comments_name_no_columns(void **state) {
    (void)state;
    th_trajectory *trajectory = open_csv("id,frame,X [m],Y [m]\n# framerate: 4 fps\n"
                                         "# id frame x/m y/m z/m level ox oy\n1,0,2,3\n1,1,2.5,3\n",
                                         (th_trajectory_assumed){.fps = 4});
    th_moment got = next(trajectory);
    assert_true(got.count == 1 && got.x[0] == 2 && got.y[0] == 3);
    assert_int_equal(next(trajectory).number, 1);
    th_trajectory_close(trajectory);
}

// Frame rates found from times of three decimals, which do not say them exactly.
static void rates_from_times(void **state) {
    (void)state;
    static const double rates[] = {30, 29.97, 25, 16, 12.5, 10, 2, 1 / 0.12, 60, 0.5};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; ++i) {
        char text[60000] = "time,id,x,y\n";
        size_t used = strlen(text);
        for (int k = 0; k < 2000; ++k)
            used += (size_t)snprintf(text + used, sizeof text - used, "%.3f,1,%d,0\n",
                                     7.25 + k / rates[i], k);
        th_trajectory *trajectory = open_csv(text, (th_trajectory_assumed){0});
        double fps = th_trajectory_about(trajectory)->fps;
        if (fabs(fps - rates[i]) > 1e-5 * rates[i]) fail_msg("%.10g instead of %g", fps, rates[i]);
        int64_t first = th_trajectory_about(trajectory)->first_frame;
        for (int k = 0; k < 2000; ++k) assert_int_equal(next(trajectory).number - first, k);
        th_trajectory_close(trajectory);
    }
}

static void levels_by_name(void **state) {
    (void)state;
    th_trajectory *trajectory = open_csv(
        "# framerate: 10\nid,frame,x,y,floor,ox,oy\n1,0,0,0,ground,0.6,0.8\n2,0,5,5,upper,1,0\n"
        "2,1,5,5,ground,0,1\n",
        (th_trajectory_assumed){0});
    const th_trajectory_info *info = th_trajectory_about(trajectory);
    assert_int_equal(info->level_count, 2);
    assert_string_equal(info->levels[1].id, "upper");
    th_moment frame = next(trajectory);
    assert_int_equal(frame.level[0], 0);
    assert_int_equal(frame.level[1], 1);
    assert_true(frame.orientation_x[0] == 0.6 && frame.orientation_y[0] == 0.8);
    assert_int_equal(next(trajectory).level[0], 0);
    th_trajectory_close(trajectory);
    // Numbers are the levels' own, in whatever order they come.
    trajectory = open_csv("# framerate: 10\nid,frame,x,y,level\n1,0,0,0,2\n2,0,5,5,0\n",
                          (th_trajectory_assumed){0});
    assert_int_equal(th_trajectory_about(trajectory)->level_count, 3);
    assert_int_equal(next(trajectory).level[0], 2);
    th_trajectory_close(trajectory);
}

static void errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *word;
    } cases[] = {
        {"id,frame,x,y\n1,0,2,0\n", 0, 0, "column `time`"},
        {"id,x,y\n1,0,2\n", 1, 1, "no column for the frame or the time"},
        {"frame,x,y\n1,0,2\n", 1, 1, "person's number"},
        {"id,frame,x\n1,0,2\n", 1, 1, "coordinates"},
        {"Dear Sir, nothing\n", 1, 1, "not a trajectory"},
        {"id,frame,x [px],y [px]\n1,0,2,0\n", 1, 10, "'px' is no unit"},
        {"id,frame,x/m,y/cm\n1,0,2,0\n", 1, 14, "same unit"},
        {"# framerate: 5\nid,frame,x,y\n1,0,2,0\n1,1,here,0\n", 4, 5, "'here' is no x (column 3)"},
        {"# framerate: 5\nid,frame,x,y\n1,0,2,0\n1,1,3\n", 4, 5, "3 columns; the y is in column 4"},
        {"# framerate: 5\nid,frame,x,y\n1,0.5,2,0\n", 3, 3, "'0.5' is no frame"},
        {"# framerate: 5\nid,frame,x,y\n1,-1,2,0\n", 3, 3, "frame before 0"},
        {"# framerate: 5\nid,frame,x,y\n1,0,1e12,0\n", 3, 10, "stands nowhere"},
        {"# framerate: 5\nid,frame,x,y\n1,0,,0\n", 3, 5, "is no x"},
        {"# framerate: 5\nid,frame,x,y,level\n1,0,0,0,99\n", 3, 9, "level '99'; there are 0 to 63"},
        {"# framerate: 5\nid,frame,x,y,level\n1,0,0,0,1\n2,0,1,1,roof\n", 4, 9,
         "name all or number all"},
        {"id,time,x,y\n1,0,0,0\n1,1,1,0\n1,2,2,0\n1,3,0,0\n1,4,5,5\n1,5,5,5\n1,6,5,5\n1,7,5,5\n"
         "1,8,5,5\n1,9,5,5\n2,3.4,5,5\n",
         12, 3, "time 3.4 lies between two frames at 1 per second"},
        {"# framerate: 5\n1,0,2,0\n1,0,2\n", 3, 5, "3 columns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        th_error error = {0};
        th_trajectory *trajectory = NULL;
        write_bytes(cases[i].text, strlen(cases[i].text));
        th_result result = th_trajectory_open(path, &trajectory, &error);
        if (result != TH_NO_FILE || !strstr(error.message, cases[i].word) ||
            error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("case %zu: %d:%d: %s", i, error.line, error.column, error.message);
    }
}

static void exact_bytes(void **state) {
    (void)state;
    const th_trajectory_level levels[2] = {{"ground", 0, NULL}, {"first floor", 3.5, NULL}};
    th_trajectory_info info = {
        .format = TH_TRAJECTORY_CSV, .fps = 4, .levels = levels, .level_count = 2};
    const int64_t id[] = {-3, 4000000000};
    const double x[] = {0.00004, 12345.67885}, y[] = {-1.23456, -0.5};
    const int32_t level[] = {1, 0};
    th_trajectory_writer *writer = NULL;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(th_trajectory_writer_create(path, &info, &writer, NULL), TH_OK);
    th_moment frame = {.count = 2, .id = id, .x = x, .y = y, .level = level};
    assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    frame = (th_moment){.number = 3, .count = 0};
    assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    frame = (th_moment){.number = 5, .count = 1, .id = id, .x = x, .y = y};
    assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    assert_int_equal(th_trajectory_writer_close(writer, NULL), TH_OK);
    static const char expected[] = "# framerate: 4.00 fps\n"
                                   "# times in seconds, coordinates in metres\n"
                                   "# throng " TH_VERSION "\n"
                                   "# level 0 0.0 ground\n"
                                   "# level 1 3.5 first%20floor\n"
                                   "id,frame,time,x,y,z,level\n"
                                   "-3,0,0,0.0000,-1.2346,3.5000,1\n"
                                   "4000000000,0,0,12345.6789,-0.5000,0.0000,0\n"
                                   "# frame 3: nobody\n"
                                   "-3,5,1.25,0.0000,-1.2346,0.0000,0\n";
    char bytes[1024] = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    assert_string_equal(bytes, expected);
    // Cut off within the last row: its frame is left out, and going on gives the same file.
    write_bytes(expected, strlen(expected) - 9);
    th_trajectory *trajectory = NULL;
    assert_int_equal(th_trajectory_open(path, &trajectory, NULL), TH_OK);
    assert_int_equal(th_trajectory_about(trajectory)->last_frame, 3);
    th_trajectory_close(trajectory);
    assert_int_equal(th_trajectory_writer_append(path, 5, &writer, NULL), TH_OK);
    assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    assert_int_equal(th_trajectory_writer_close(writer, NULL), TH_OK);
    memset(bytes, 0, sizeof bytes);
    file = fopen(path, "rb");
    assert_non_null(file);
    fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    assert_string_equal(bytes, expected);
}

// Whatever the bytes: a trajectory whose frames add up, or an error.
static void changed_bytes(void **state) {
    (void)state;
    static const char *const seeds[] = {
        "id,frame,time,x,y,level\n1,0,0.0,1,2,a\n1,1,0.1,1.5,2,a\n2,1,0.1,3,4,\"b\"\n",
        "Zeit;Person;x [cm];y [cm];time\n1;1;250,5;3;0,5\n2;1;260,5;3;0,6\n",
        "1,0,2.5,1\n2,0,5,5\n1,1,2.6,1\n2,1,5,5.1\n",
    };
    static const char signs[] = ",;\t\"\n#.-e0x ";
    uint32_t random = 1;
    for (int round = 0; round < 400; ++round) {
        char text[256];
        snprintf(text, sizeof text, "%s", seeds[round % 3]);
        size_t size = strlen(text);
        for (int k = 0; k < 1 + round % 4; ++k) {
            random = random * 1664525u + 1013904223u;
            text[(random >> 8) % size] = signs[(random >> 24) % (sizeof signs - 1)];
        }
        write_bytes(text, size);
        th_error error = {0};
        th_trajectory *trajectory = NULL;
        if (th_trajectory_open_assuming(path, (th_trajectory_assumed){.fps = 5}, &trajectory,
                                        &error) != TH_OK) {
            assert_true(error.message[0]);
            continue;
        }
        th_moment frame = {0};
        int64_t rows = 0, all = th_trajectory_about(trajectory)->row_count;
        while (th_trajectory_next(trajectory, &frame, &error) == TH_OK && frame.count >= 0)
            rows += frame.count;
        assert_true(rows == all);
        th_trajectory_close(trajectory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles),
        cmocka_unit_test(columns_without_titles),
        cmocka_unit_test(comments_name_no_columns),
        cmocka_unit_test(rates_from_times),
        cmocka_unit_test(levels_by_name),
        cmocka_unit_test(errors),
        cmocka_unit_test(exact_bytes),
        cmocka_unit_test(changed_bytes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
