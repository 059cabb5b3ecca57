// throng fd on recordings whose density and speed are known, and its figures. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "validate/diagram.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/throng-fd-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

// Runs the program in the folder; what it prints, to be freed.
static char *program(const char *arguments, int *code) {
    char command[1024];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1", folder, TH_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    size_t size = fread(text, 1, 65535, pipe);
    text[size] = '\0';
    int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return text;
}

// A column of rows 1 m apart, four abreast 0.5 m apart, all walking at 0.8 m/s without end: 2 /m2.
static void write_marching(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("# framerate: 10.00 fps\n# id frame x/m y/m z/m\n", file);
    for (int frame = 0; frame < 50; ++frame)
        for (int i = 0; i < 160; ++i)
            fprintf(file, "%d %d %.4f %.4f 0\n", i + 1, frame, 0.25 + i / 4 + 0.08 * frame,
                    0.25 + 0.5 * (i % 4));
    fclose(file);
}

static void density_and_speed_are_found(void **state) {
    (void)state;
    write_marching("march.txt");
    int code;
    char *text = program("fd march.txt --area 10,0,20,2 --csv march.csv --out march.svg", &code);
    assert_int_equal(code, 0);
    if (!strstr(text, "2.00 /m2    0.80 m/s    1.60 /(m s)")) fail_msg("%s", text);
    assert_non_null(strstr(text, "50 samples in 20.00 m2"));
    free(text);
    char path[128], line[256];
    snprintf(path, sizeof path, "%s/march.csv", folder);
    FILE *csv = fopen(path, "r");
    assert_non_null(csv);
    assert_non_null(fgets(line, sizeof line, csv));
    assert_string_equal(line, "series,frame,people,density,speed,flow\n");
    int rows = 0;
    double density, speed, flow;
    int frame, people;
    while (fgets(line, sizeof line, csv)) {
        assert_int_equal(
            sscanf(line, "march,%d,%d,%lf,%lf,%lf", &frame, &people, &density, &speed, &flow), 5);
        assert_int_equal(frame, rows);
        assert_int_equal(people, 40);
        assert_true(fabs(density - 2.0) < 1e-6);
        assert_true(fabs(speed - 0.8) < 1e-3);
        ++rows;
    }
    fclose(csv);
    assert_int_equal(rows, 50);
}

// Against the direction of walking the speed is negative; another method finds the same density.
static void direction_and_method_are_heeded(void **state) {
    (void)state;
    write_marching("march.txt");
    int code;
    char *text = program("fd march.txt --area 10,0,20,2 --direction -1,0 --out none", &code);
    assert_int_equal(code, 0);
    if (!strstr(text, "2.00 /m2   -0.80 m/s")) fail_msg("%s", text);
    free(text);
    // Every agent's cell is 1 x 0.5 m wherever the area lies.
    text = program("fd march.txt --area 10.3,0.6,17.2,1.3 --method voronoi --out none", &code);
    assert_int_equal(code, 0);
    if (!strstr(text, "2.00 /m2    0.80 m/s    1.60 /(m s)")) fail_msg("%s", text);
    free(text);
}

static void a_scene_is_run_and_measured(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/hall.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    static const char scene_json[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 4]}}],
        "exits": [{"id": "end", "line": [[30, 0], [30, 4]]}],
        "groups": [{"count": 40, "area": {"rect": [0, 0, 9, 4]}, "speed": 1.2, "to": "end"}],
        "measure": {"areas": [{"id": "start", "area": {"rect": [0, 0, 10, 4]}}, {"id": "middle",
            "area": {"rect": [12, 0, 20, 4]}}]},
        "run": {"step": 0.1, "duration": 8}});
    fputs(scene_json, file);
    fclose(file);
    int code;
    char *text = program("fd hall.json --frames 0:3 --out hall.png", &code);
    assert_int_equal(code, 0);
    // At the beginning all 40 are in 40 m2, and no agent has reached the middle.
    if (!strstr(text, "hall: start, 4 samples in 40.00 m2\n  mean             1.00 /m2"))
        fail_msg("%s", text);
    assert_non_null(strstr(text, "hall: middle, 0 samples"));
    free(text);
    snprintf(path, sizeof path, "%s/hall.png", folder);
    FILE *png = fopen(path, "rb");
    assert_non_null(png);
    unsigned char head[8] = {0};
    assert_int_equal(fread(head, 1, 8, png), 8);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
    fclose(png);
}

static void bad_requests_are_told(void **state) {
    (void)state;
    write_marching("march.txt");
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"fd march.txt", "--area"},
        {"fd march.txt --area 3,4", "--area"},
        {"fd march.txt --area 0,0,1,1 --over nobody", "uo180"},
        {"fd march.txt --area 0,0,1,1 --method guess", "voronoi"},
        {"fd march.txt --area 0,0,1,1 --direction up", "direction"},
        {"fd march.txt --area 0,0,0,1", "width"},
        {"fd", "FILE"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        int code;
        char *text = program(cases[k].arguments, &code);
        assert_int_equal(code, 1);
        if (!strstr(text, cases[k].said)) fail_msg("%s: %s", cases[k].arguments, text);
        free(text);
    }
    int code;
    char *text = program("fd march.txt --area 0,0,1,1 --out nowhere/fd.png", &code);
    assert_int_equal(code, 3);
    assert_non_null(strstr(text, "nowhere/fd.png"));
    free(text);
}

// The tables built into the program: the entries of the sources, in order, with plausible numbers.
static void measured_sets_are_whole(void **state) {
    (void)state;
    int count;
    const th_measured_set *sets = th_measured_sets(&count);
    assert_int_equal(count, 6);
    for (int k = 0; k < count; ++k) {
        assert_ptr_equal(th_measured_find(sets[k].name), &sets[k]);
        for (int i = 0; i < sets[k].count; ++i) {
            assert_true(sets[k].points[i].density > 0.0 && sets[k].points[i].density < 8.0);
            assert_true(sets[k].points[i].speed > 0.0 && sets[k].points[i].speed < 1.6);
        }
    }
    assert_null(th_measured_find("nobody"));
    for (int r = 0; r < TH_UO180_RUNS; ++r) {
        const th_uo180_run *run = &th_uo180_runs[r];
        assert_true(fabs(run->density * run->speed - run->flow) < 0.05);
        int widths[3];
        assert_int_equal(sscanf(run->name, "%d-%d-%d", &widths[0], &widths[1], &widths[2]), 3);
        assert_true(fabs(run->entrance - widths[0] / 100.0) < 1e-9);
        assert_true(fabs(run->exit - widths[2] / 100.0) < 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_and_speed_are_found),
        cmocka_unit_test(direction_and_method_are_heeded),
        cmocka_unit_test(a_scene_is_run_and_measured),
        cmocka_unit_test(bad_requests_are_told),
        cmocka_unit_test(measured_sets_are_whole),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
