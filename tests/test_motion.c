// Velocities of a recording: windows, ends, gaps, jumps, levels, missing frames. SPDX-License-Identifier: Apache-2.0
#include "observe/walkers.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/throng_motion_XXXXXX";
static char path[128];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/walk.txt", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_text(const char *rows) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "# framerate: 10 fps\n# id frame x/m y/m z/m\n%s", rows);
    fclose(file);
}

static th_motion *open_motion(double window, int64_t first, int64_t last) {
    th_motion_def def = {.window = window, .first = first, .last = last};
    th_motion *motion = NULL;
    th_error error = {0};
    if (th_motion_open(path, &def, &motion, &error) != TH_OK) fail_msg("%s", error.message);
    return motion;
}

static th_moment next(th_motion *motion) {
    th_moment moment;
    assert_int_equal(th_motion_next(motion, &moment, NULL), TH_OK);
    return moment;
}

// x = 0.1 (t^2 / 2), 20 frames at 10 fps: with a window the middle gives the exact derivative.
static void write_parabola(void) {
    char rows[4096] = "";
    for (int f = 0; f < 20; ++f)
        sprintf(rows + strlen(rows), "1 %d %.6f %.6f 0\n", f, 0.5 * 0.1 * f * 0.1 * f, -0.2 * f);
    write_text(rows);
}

static void any_window_gives_every_frame(void **state) {
    (void)state;
    write_parabola();
    for (int reach = 1; reach <= 40; reach += 3) {
        th_motion *motion = open_motion(0.1 * reach, 0, -1);
        for (int round = 0; round < 2; ++round) {
            for (int f = 0; f < 20; ++f) {
                th_moment moment = next(motion);
                assert_int_equal(moment.number, f);
                assert_int_equal(moment.count, 1);
                assert_null(moment.level);
                int from = f - reach < 0 ? 0 : f - reach, to = f + reach > 19 ? 19 : f + reach;
                assert_near(moment.velocity_x[0], 0.05 * (from + to), 2e-5);
                assert_near(moment.velocity_y[0], -2, 1e-9);
                assert_near(moment.time, 0.1 * f, 1e-12);
            }
            assert_int_equal(next(motion).count, -1);
            assert_int_equal(next(motion).count, -1);
            th_motion_rewind(motion);
        }
        th_motion_close(motion);
    }
}

// Frames outside the range are not shown, but used for velocities.
static void range(void **state) {
    (void)state;
    write_parabola();
    th_motion *motion = open_motion(0.3, 5, 7);
    for (int f = 5; f <= 7; ++f) {
        th_moment moment = next(motion);
        assert_int_equal(moment.number, f);
        assert_near(moment.velocity_x[0], 0.1 * f, 1e-4);
    }
    assert_int_equal(next(motion).count, -1);
    th_motion_close(motion);
    motion = open_motion(0.3, 100, 200);
    assert_int_equal(next(motion).count, -1);
    th_motion_close(motion);
}

static double speed_of(const th_moment *moment, int64_t id) {
    for (int i = 0; i < moment->count; ++i)
        if (moment->id[i] == id) return moment->velocity_x[i];
    fail_msg("no person with id %d", (int)id);
    return 0;
}

// Person 1 walks all the time; 2 comes, is lost for a frame, comes again; 3 is there once; 4 is two people, one after
// the other, under one id.
static void gaps(void **state) {
    (void)state;
    write_text("1 0 0 0 0\n1 1 0.1 0 0\n1 2 0.2 0 0\n1 3 0.3 0 0\n1 4 0.4 0 0\n1 5 0.5 0 0\n"
               "2 1 0.2 1 0\n2 2 0.4 1 0\n2 4 0.8 1 0\n2 5 0.9 1 0\n"
               "3 2 0 2 0\n"
               "4 0 0 3 0\n4 1 0.1 3 0\n4 2 0.2 3 0\n4 3 9 3 0\n4 4 9.3 3 0\n4 5 9.6 3 0\n");
    th_motion *motion = open_motion(0.5, 0, -1);
    th_moment moment = next(motion);
    assert_int_equal(moment.count, 2);
    moment = next(motion);
    assert_int_equal(moment.count, 3);
    assert_near(speed_of(&moment, 1), 1, 1e-9);
    assert_near(speed_of(&moment, 2), 2, 1e-9); // one-sided, and not over the gap
    assert_near(speed_of(&moment, 4), 1, 1e-9); // nor over the jump
    moment = next(motion);
    assert_true(isnan(speed_of(&moment, 3)));
    assert_near(speed_of(&moment, 2), 2, 1e-9);
    moment = next(motion);
    assert_int_equal(moment.count, 2);
    assert_near(speed_of(&moment, 4), 3, 1e-9);
    moment = next(motion);
    assert_near(speed_of(&moment, 2), 1, 1e-9);
    th_motion_close(motion);
}

// Only every tenth number, and one of those missing: time goes by numbers.
static void missing_frames(void **state) {
    (void)state;
    write_text("1 0 0 0 0\n1 10 1 0 0\n1 20 2 0 0\n1 40 6 0 0\n1 50 8 0 0\n1 60 10 0 0\n");
    th_motion *motion = open_motion(0, 0, -1);
    const double wanted[6] = {1, 1, 1, 2, 2, 2};
    for (int f = 0; f < 6; ++f) {
        th_moment moment = next(motion);
        assert_near(moment.velocity_x[0], wanted[f], 1e-9);
    }
    assert_int_equal(next(motion).count, -1);
    th_motion_close(motion);
}

static void an_empty_frame(void **state) {
    (void)state;
    write_text("# frame 0: nobody\n1 3 0 0 0\n");
    th_motion *motion = open_motion(1, 0, -1);
    th_moment moment = next(motion);
    while (moment.count == 0) moment = next(motion);
    assert_int_equal(moment.count, 1);
    assert_true(isnan(moment.velocity_x[0]) && isnan(moment.velocity_y[0]));
    th_motion_close(motion);
}

// Upstairs and downstairs, over a link: the level of every person, one id across it.
static void levels_share_ids_across_links(void **state) {
    (void)state;
    char file[160];
    snprintf(file, sizeof file, "%s/levels.sqlite", folder);
    const th_trajectory_level levels[2] = {{"ground", 0, NULL}, {"upper", 3, NULL}};
    th_trajectory_info info = {
        .format = TH_TRAJECTORY_COMPACT, .fps = 10, .levels = levels, .level_count = 2};
    th_trajectory_writer *writer = NULL;
    assert_int_equal(th_trajectory_writer_create(file, &info, &writer, NULL), TH_OK);
    for (int f = 0; f < 10; ++f) {
        const int64_t id[2] = {1, 2};
        const double x[2] = {0.1 * f, 5}, y[2] = {0, 0};
        const double orientation_x[2] = {1, 1}, orientation_y[2] = {0, 0};
        const int32_t level[2] = {f >= 5, 1};
        th_moment frame = {.number = f,
                           .count = 2,
                           .id = id,
                           .x = x,
                           .y = y,
                           .orientation_x = orientation_x,
                           .orientation_y = orientation_y,
                           .level = level};
        assert_int_equal(th_trajectory_write(writer, &frame, NULL), TH_OK);
    }
    assert_int_equal(th_trajectory_writer_close(writer, NULL), TH_OK);
    th_motion_def def = th_motion_def_default();
    th_motion *motion = NULL;
    assert_int_equal(th_motion_open(file, &def, &motion, NULL), TH_OK);
    for (int f = 0; f < 10; ++f) {
        th_moment moment = next(motion);
        assert_non_null(moment.level);
        assert_int_equal(moment.level[0], f >= 5);
        assert_int_equal(moment.level[1], 1);
        assert_near(moment.velocity_x[0], 1, 0.01);
        assert_near(moment.velocity_x[1], 0, 0.01);
    }
    th_motion_close(motion);
    unlink(file);
}

static void errors(void **state) {
    (void)state;
    write_parabola();
    th_motion *motion = NULL;
    th_error error = {0};
    th_motion_def def = {.window = -1};
    assert_int_equal(th_motion_open(path, &def, &motion, &error), TH_BAD_ARGUMENT);
    assert_null(motion);
    def = th_motion_def_default();
    assert_int_equal(th_motion_open("/tmp/no such file", &def, &motion, &error), TH_NO_FILE);
    assert_null(motion);
    th_motion_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_window_gives_every_frame),
        cmocka_unit_test(range),
        cmocka_unit_test(gaps),
        cmocka_unit_test(missing_frames),
        cmocka_unit_test(an_empty_frame),
        cmocka_unit_test(levels_share_ids_across_links),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
