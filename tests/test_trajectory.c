// Trajectories through every format and back: ids, frames, levels, notes exact, positions within the
// stated quantum. And the rules that hold for all formats. SPDX-License-Identifier: Apache-2.0
#include "throng/record.h"
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

enum { FRAMES = 40, PEOPLE_MAX = 30 };

typedef struct sample_frame {
    int64_t number;
    int count;
    int64_t id[PEOPLE_MAX];
    double x[PEOPLE_MAX], y[PEOPLE_MAX], orientation_x[PEOPLE_MAX], orientation_y[PEOPLE_MAX];
    int32_t level[PEOPLE_MAX];
} sample_frame;

typedef struct fixture {
    char folder[64];
    sample_frame frames[FRAMES];
    int64_t rows;
} fixture;

static const th_trajectory_level levels[] = {
    {"ground floor", 0, "POLYGON ((0 0, 40 0, 40 30.25, 0 30.25, 0 0), (5 5, 6 5, 6 6, 5 6, 5 5))"},
    {"Obergescho\xc3\x9f 1 in m\xc3\xa4\xc3\x9figer framerate", 3.5,
     "POLYGON ((0 0, 20 0, 20 10, 0 10, 0 0))"},
    {"roof", 3.5, NULL}, // the same height: z alone does not tell
};
static const th_trajectory_note notes[] = {
    {"throng_seed", "18446744073709551615"},
    {"throng_command", "throng run \"a b.json\" --set x=1\nsecond line, \xc3\xbc"},
    {"throng_scene", "{}"},
};

// Holes in the numbering of frames and people; no agent in frame 7 and in the last.
static void make_sample(fixture *f) {
    for (int k = 0; k < FRAMES; ++k) {
        sample_frame *frame = &f->frames[k];
        frame->number = k < 20 ? k : 3 * k;
        for (int i = 0; i < PEOPLE_MAX; ++i) {
            if (k == 7 || k == FRAMES - 1 || (i * 7 + k) % 11 == 0 || k < i / 2) continue;
            int n = frame->count++;
            frame->id[n] = i < 20 ? 1 + i : 3000000000 + 17 * i; // beyond 32 bits
            frame->x[n] = 1 + 38 * fabs(sin(0.013 * k + 0.37 * i));
            frame->y[n] = 1 + 28 * fabs(cos(0.011 * k + 0.61 * i));
            if (k == 25 && i == 3) frame->x[n] = 39.5; // a jump
            double heading = 0.1 * k + i;
            frame->orientation_x[n] = cos(heading);
            frame->orientation_y[n] = sin(heading);
            frame->level[n] = (i + k / 10) % 3;
        }
        f->rows += frame->count;
    }
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->folder, "/tmp/throng-trajectory-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    make_sample(f);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    int status = system(command);
    free(f);
    return status;
}

static th_moment frame_of(const sample_frame *sample) {
    return (th_moment){.number = sample->number,
                       .count = sample->count,
                       .id = sample->id,
                       .x = sample->x,
                       .y = sample->y,
                       .orientation_x = sample->orientation_x,
                       .orientation_y = sample->orientation_y,
                       .level = sample->level};
}

static th_trajectory_info sample_info(th_trajectory_format format) {
    return (th_trajectory_info){.format = format,
                                .fps = 1 / 0.12,
                                .levels = levels,
                                .level_count = 3,
                                .notes = notes,
                                .note_count = 3};
}

static void must(th_result result, const th_error *error) {
    if (result != TH_OK)
        print_error("%s:%d:%d: %s\n", error->file, error->line, error->column, error->message);
    assert_int_equal(result, TH_OK);
}

static void write_sample(const fixture *f, const char *path, th_trajectory_format format) {
    th_error error = {0};
    th_trajectory_info info = sample_info(format);
    th_trajectory_writer *writer = NULL;
    must(th_trajectory_writer_create(path, &info, &writer, &error), &error);
    for (int k = 0; k < FRAMES; ++k) {
        th_moment frame = frame_of(&f->frames[k]);
        must(th_trajectory_write(writer, &frame, &error), &error);
    }
    must(th_trajectory_writer_close(writer, &error), &error);
}

// The loss allowed so far: `quantum` is the sum of those of all formats passed, `turn` the
// error of headings [rad], negative when they are gone.
typedef struct losses {
    double quantum, turn;
    bool geometry, notes;
} losses;

static losses losses_of(th_trajectory_format format) {
    switch (format) {
    case TH_TRAJECTORY_TEXT:
    case TH_TRAJECTORY_CSV: return (losses){1e-4, -1, true, true};
    case TH_TRAJECTORY_COMPACT: return (losses){1e-3, 2 * 3.14159265358979 / 512, false, false};
    default: return (losses){0, 0, false, false};
    }
}

static losses both(losses a, losses b) {
    return (losses){a.quantum + b.quantum, a.turn < 0 || b.turn < 0 ? -1 : a.turn + b.turn,
                    a.geometry || b.geometry, a.notes || b.notes};
}

static void compare_frame(const sample_frame *expected, const th_moment *frame, losses lost) {
    assert_int_equal(frame->number, expected->number);
    assert_int_equal(frame->count, expected->count);
    for (int i = 0; i < frame->count; ++i) {
        assert_int_equal(frame->id[i], expected->id[i]);
        assert_int_equal(frame->level ? frame->level[i] : 0, expected->level[i]);
        assert_true(fabs(frame->x[i] - expected->x[i]) <= lost.quantum / 2 * (1 + 1e-6));
        assert_true(fabs(frame->y[i] - expected->y[i]) <= lost.quantum / 2 * (1 + 1e-6));
        if (lost.turn < 0) continue;
        assert_non_null(frame->orientation_x);
        assert_non_null(frame->orientation_y);
        double chord = hypot(frame->orientation_x[i] - expected->orientation_x[i],
                             frame->orientation_y[i] - expected->orientation_y[i]);
        assert_true(chord <= lost.turn * (1 + 1e-6));
    }
    if (lost.turn < 0) assert_null(frame->orientation_x);
}

static void compare_info(const fixture *f, const th_trajectory_info *info, losses lost) {
    assert_true(fabs(info->fps - 1 / 0.12) < 1e-12);
    assert_int_equal(info->frame_count, FRAMES);
    assert_int_equal(info->first_frame, 0);
    assert_int_equal(info->last_frame, f->frames[FRAMES - 1].number);
    assert_int_equal(info->row_count, f->rows);
    assert_int_equal(info->agent_count, PEOPLE_MAX);
    assert_int_equal(info->level_count, 3);
    for (int i = 0; i < 3; ++i) {
        assert_string_equal(info->levels[i].id, levels[i].id);
        assert_true(info->levels[i].z == levels[i].z);
        if (lost.geometry || !levels[i].wkt)
            assert_null(info->levels[i].wkt);
        else
            assert_string_equal(info->levels[i].wkt, levels[i].wkt);
    }
    for (int i = 0; i < 3 && !lost.notes; ++i) {
        const char *found = NULL;
        for (int k = 0; k < info->note_count; ++k)
            if (strcmp(info->notes[k].key, notes[i].key) == 0) found = info->notes[k].value;
        assert_non_null(found);
        assert_string_equal(found, notes[i].value);
    }
    double min_x = (double)INFINITY, max_y = -(double)INFINITY;
    for (int k = 0; k < FRAMES; ++k)
        for (int i = 0; i < f->frames[k].count; ++i) {
            min_x = fmin(min_x, f->frames[k].x[i]);
            max_y = fmax(max_y, f->frames[k].y[i]);
        }
    assert_true(fabs(info->min_x - min_x) <= lost.quantum);
    assert_true(fabs(info->max_y - max_y) <= lost.quantum);
}

static void compare_file(const fixture *f, const char *path, th_trajectory_format format,
                         losses lost) {
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    must(th_trajectory_open(path, &trajectory, &error), &error);
    const th_trajectory_info *info = th_trajectory_about(trajectory);
    assert_int_equal(info->format, format);
    assert_true(info->quantum <= losses_of(format).quantum * (1 + 1e-12));
    compare_info(f, info, lost);
    for (int round = 0; round < 2; ++round) { // the second one proves rewind
        th_moment frame;
        for (int k = 0; k < FRAMES; ++k) {
            must(th_trajectory_next(trajectory, &frame, &error), &error);
            compare_frame(&f->frames[k], &frame, lost);
        }
        must(th_trajectory_next(trajectory, &frame, &error), &error);
        assert_int_equal(frame.count, -1);
        th_trajectory_rewind(trajectory);
    }
    th_trajectory_close(trajectory);
}

static const th_trajectory_format formats[] = {
    TH_TRAJECTORY_SQLITE, TH_TRAJECTORY_COMPACT, TH_TRAJECTORY_TEXT,
    TH_TRAJECTORY_HDF5,   TH_TRAJECTORY_CSV,
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

// From every format into every format and from there into every third.
static void round_trips(void **state) {
    fixture *f = *state;
    char a[128], b[128], c[128];
    th_error error = {0};
    for (int i = 0; i < FORMATS; ++i) {
        snprintf(a, sizeof a, "%s/first-%d", f->folder, i);
        write_sample(f, a, formats[i]);
        losses first = losses_of(formats[i]);
        compare_file(f, a, formats[i], first);
        for (int j = 0; j < FORMATS; ++j) {
            snprintf(b, sizeof b, "%s/second-%d-%d", f->folder, i, j);
            must(th_trajectory_convert(a, b, formats[j], NULL, NULL, &error), &error);
            losses second = both(first, losses_of(formats[j]));
            compare_file(f, b, formats[j], second);
            for (int k = 0; k < FORMATS; ++k) {
                snprintf(c, sizeof c, "%s/third-%d-%d-%d", f->folder, i, j, k);
                must(th_trajectory_convert(b, c, formats[k], NULL, NULL, &error), &error);
                compare_file(f, c, formats[k], both(second, losses_of(formats[k])));
            }
        }
    }
}

// A recording without geometry, levels, notes, orientation: none of them may be invented.
static void bare(void **state) {
    fixture *f = *state;
    char a[128], b[128];
    int64_t id[] = {4, 9};
    double x[] = {-123456.5, 2}, y[] = {-0.00001, 654321.0625};
    th_error error = {0};
    for (int i = 0; i < FORMATS; ++i)
        for (int j = 0; j < FORMATS; ++j) {
            snprintf(a, sizeof a, "%s/bare-%d-%d", f->folder, i, j);
            snprintf(b, sizeof b, "%s/bare-to-%d-%d", f->folder, i, j);
            th_trajectory_info info = {.format = formats[i], .fps = 16};
            th_trajectory_writer *writer = NULL;
            must(th_trajectory_writer_create(a, &info, &writer, &error), &error);
            th_moment frame = {.number = 3, .count = 2, .id = id, .x = x, .y = y};
            must(th_trajectory_write(writer, &frame, &error), &error);
            must(th_trajectory_writer_close(writer, &error), &error);
            must(th_trajectory_convert(a, b, formats[j], NULL, NULL, &error), &error);
            th_trajectory *trajectory = NULL;
            must(th_trajectory_open(b, &trajectory, &error), &error);
            const th_trajectory_info *read = th_trajectory_about(trajectory);
            assert_true(read->fps == 16);
            assert_int_equal(read->level_count, 0);
            assert_int_equal(read->note_count, 0);
            assert_int_equal(read->first_frame, 3);
            must(th_trajectory_next(trajectory, &frame, &error), &error);
            assert_int_equal(frame.count, 2);
            assert_null(frame.orientation_x);
            double quantum = both(losses_of(formats[i]), losses_of(formats[j])).quantum;
            assert_true(fabs(frame.x[0] - x[0]) <= quantum / 2 + 1e-9);
            assert_true(fabs(frame.y[1] - y[1]) <= quantum / 2 + 1e-9);
            th_trajectory_close(trajectory);
        }
}

static void no_frames(void **state) {
    fixture *f = *state;
    char path[128];
    th_error error = {0};
    for (int i = 0; i < FORMATS; ++i) {
        snprintf(path, sizeof path, "%s/none-%d", f->folder, i);
        th_trajectory_info info = sample_info(formats[i]);
        th_trajectory_writer *writer = NULL;
        must(th_trajectory_writer_create(path, &info, &writer, &error), &error);
        must(th_trajectory_writer_close(writer, &error), &error);
        th_trajectory *trajectory = NULL;
        must(th_trajectory_open(path, &trajectory, &error), &error);
        assert_int_equal(th_trajectory_about(trajectory)->frame_count, 0);
        th_moment frame;
        must(th_trajectory_next(trajectory, &frame, &error), &error);
        assert_int_equal(frame.count, -1);
        th_trajectory_close(trajectory);
    }
}

// Going on at a frame in the middle gives the same as writing all in one go.
static void append(void **state) {
    fixture *f = *state;
    char path[128];
    th_error error = {0};
    const int from[] = {0, 7, 8, 25, FRAMES - 1};
    for (int i = 0; i < FORMATS; ++i)
        for (size_t k = 0; k < sizeof from / sizeof from[0]; ++k) {
            snprintf(path, sizeof path, "%s/append-%d-%zu", f->folder, i, k);
            write_sample(f, path, formats[i]);
            th_trajectory_writer *writer = NULL;
            int64_t number = f->frames[from[k]].number;
            th_result result = th_trajectory_writer_append(path, number, &writer, &error);
            if (formats[i] == TH_TRAJECTORY_HDF5) {
                assert_int_equal(result, TH_BAD_ARGUMENT);
                assert_null(writer);
                continue;
            }
            must(result, &error);
            th_moment early = frame_of(&f->frames[0]);
            if (from[k] > 0)
                assert_int_equal(th_trajectory_write(writer, &early, &error), TH_BAD_ARGUMENT);
            for (int n = from[k]; n < FRAMES; ++n) {
                th_moment frame = frame_of(&f->frames[n]);
                must(th_trajectory_write(writer, &frame, &error), &error);
            }
            must(th_trajectory_writer_close(writer, &error), &error);
            compare_file(f, path, formats[i], losses_of(formats[i]));
        }
}

static void refuse(th_trajectory_writer *writer, th_moment frame, const char *word) {
    th_error error = {0};
    assert_int_equal(th_trajectory_write(writer, &frame, &error), TH_BAD_ARGUMENT);
    if (!strstr(error.message, word)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, word));
}

static void bad_frames(void **state) {
    fixture *f = *state;
    char path[128];
    th_error error = {0};
    for (int i = 0; i < FORMATS; ++i) {
        snprintf(path, sizeof path, "%s/bad-%d", f->folder, i);
        th_trajectory_info info = sample_info(formats[i]);
        th_trajectory_writer *writer = NULL;
        must(th_trajectory_writer_create(path, &info, &writer, &error), &error);
        int64_t id[] = {5, 5};
        double x[] = {1, 2}, y[] = {1, 2}, nowhere[] = {1, (double)NAN};
        int32_t level[] = {0, 3};
        th_moment good = {.number = 2, .count = 1, .id = id, .x = x, .y = y};
        must(th_trajectory_write(writer, &good, &error), &error);
        refuse(writer, good, "ascending");
        refuse(writer, (th_moment){.number = 3, .count = 2, .id = id, .x = x, .y = y}, "ascend");
        id[1] = 6;
        refuse(writer, (th_moment){.number = 3, .count = 2, .id = id, .x = x, .y = nowhere},
               "nowhere");
        refuse(writer,
               (th_moment){.number = 3, .count = 2, .id = id, .x = x, .y = y, .level = level},
               "level");
        must(th_trajectory_writer_close(writer, &error), &error);
    }
    th_trajectory_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/never", f->folder);
    th_trajectory_info bad = {.format = TH_TRAJECTORY_TEXT, .fps = 0};
    assert_int_equal(th_trajectory_writer_create(path, &bad, &writer, &error), TH_BAD_ARGUMENT);
    assert_null(writer);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void files_in_the_way(void **state) {
    fixture *f = *state;
    char path[128], other[128];
    th_error error = {0};
    for (int i = 0; i < FORMATS; ++i) {
        snprintf(path, sizeof path, "%s/way-%d", f->folder, i);
        write_sample(f, path, formats[i]);
        th_trajectory_info info = sample_info(formats[i]);
        th_trajectory_writer *writer = NULL;
        assert_int_equal(th_trajectory_writer_create(path, &info, &writer, &error), TH_NO_FILE);
        assert_non_null(strstr(error.message, "already"));
        compare_file(f, path, formats[i], losses_of(formats[i])); // not touched
        snprintf(other, sizeof other, "%s/no-folder/x", f->folder);
        assert_int_equal(th_trajectory_writer_create(other, &info, &writer, &error), TH_NO_FILE);
        assert_string_equal(error.file, other);
        assert_null(writer);
        assert_int_equal(th_trajectory_convert(path, path, formats[i], NULL, NULL, &error),
                         TH_NO_FILE);
        assert_int_equal(th_trajectory_convert(path, other, formats[i], NULL, NULL, &error),
                         TH_NO_FILE);
        assert_string_equal(error.file, other);
    }
}

static bool stop_half_way(double share, void *context) {
    ++*(int *)context;
    return share < 0.5;
}

static int files_in(const char *folder) {
    char command[128], line[32] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    return atoi(line);
}

// Stopped, or the disk full: what was there before stays, and nothing else.
static void broken_conversions(void **state) {
    fixture *f = *state;
    char from[128], to[128];
    th_error error = {0};
    snprintf(from, sizeof from, "%s/from", f->folder);
    write_sample(f, from, TH_TRAJECTORY_TEXT);
    int before = files_in(f->folder);
    for (int i = 0; i < FORMATS; ++i) {
        snprintf(to, sizeof to, "%s/to-%d", f->folder, i);
        int seen = 0;
        assert_int_equal(th_trajectory_convert(from, to, formats[i], stop_half_way, &seen, &error),
                         TH_NO_FILE);
        assert_in_range(seen, 2, FRAMES - 1);
        assert_int_equal(files_in(f->folder), before);

        struct rlimit limit, small = {4096, 0};
        getrlimit(RLIMIT_FSIZE, &limit);
        small.rlim_max = limit.rlim_max;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        th_result result = th_trajectory_convert(from, to, formats[i], NULL, NULL, &error);
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(result, TH_NO_FILE);
        assert_string_equal(error.file, to);
        assert_int_equal(files_in(f->folder), before);

        // And it goes well when there is room.
        must(th_trajectory_convert(from, to, formats[i], NULL, NULL, &error), &error);
        th_trajectory *trajectory = NULL;
        must(th_trajectory_open(from, &trajectory, &error), &error);
        must(th_trajectory_copy(trajectory, to, formats[i], true, NULL, NULL, &error), &error);
        th_trajectory_close(trajectory);
        compare_file(f, to, formats[i], both(losses_of(TH_TRAJECTORY_TEXT), losses_of(formats[i])));
        assert_int_equal(remove(to), 0);
        assert_int_equal(files_in(f->folder), before);
    }
}

static void what_is_none(void **state) {
    fixture *f = *state;
    char path[128];
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    assert_int_equal(th_trajectory_open(f->folder, &trajectory, &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, "folder"));
    snprintf(path, sizeof path, "%s/nothing", f->folder);
    assert_int_equal(th_trajectory_open(path, &trajectory, &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, "No such file"));
    static const struct {
        const char *content;
        size_t size;
        const char *word;
    } files[] = {
        {"", 0, "empty"},
        {"\x7f\x45LF\x02\x01\x01\0\0\0", 10, "not a trajectory"},
        {"{\"levels\": []}\n", 15, "not a trajectory"},
        {"\x89HDF\r\n\x1a\nand then nothing", 25, "HDF5"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(files[i].content, 1, files[i].size, file), files[i].size);
        fclose(file);
        error = (th_error){0};
        assert_int_equal(th_trajectory_open(path, &trajectory, &error), TH_NO_FILE);
        assert_null(trajectory);
        assert_string_equal(error.file, path);
        if (!strstr(error.message, files[i].word)) print_error("%s\n", error.message);
        assert_non_null(strstr(error.message, files[i].word));
        assert_int_equal(th_trajectory_open(path, &trajectory, NULL), TH_NO_FILE);
    }
    th_trajectory_close(NULL);
    must(th_trajectory_writer_close(NULL, &error), &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trips, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bare, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(append, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_frames, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_in_the_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_conversions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_none, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
