// Corridors with people in them, as the experiments run them: without ends, one way, both ways, lanes.
// SPDX-License-Identifier: Apache-2.0
#include "formula/weidmann.h"
#include "support.h"
#include "validate/corridors.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef TH_SLOW_BUILD
enum { LONG_ENOUGH = 0 };
#else
enum { LONG_ENOUGH = 1 };
#endif

static const th_experiment_model *model_called(const char *name) {
    int count;
    const th_experiment_model *models = th_experiment_models(&count);
    for (int k = 0; k < count; ++k)
        if (strcmp(models[k].name, name) == 0) return &models[k];
    fail_msg("no model %s", name);
    return NULL;
}

// Numbers worked out by hand from the published formula.
static void weidmann_has_his_values(void **state) {
    (void)state;
    assert_true(fabs(th_weidmann_speed(1.0) - 1.0580) < 1e-4);
    assert_true(fabs(th_weidmann_speed(2.0) - 0.6062) < 1e-4);
    assert_true(fabs(th_weidmann_speed(4.0) - 0.1563) < 1e-4);
    assert_true(th_weidmann_speed(5.4) == 0.0 && th_weidmann_speed(9.0) == 0.0);
    assert_true(fabs(th_weidmann_speed(0.0) - 1.34) < 1e-12);
    double best = 0.0, at = 0.0;
    for (double rho = 0.1; rho < 5.4; rho += 0.01)
        if (th_weidmann_flow(rho) > best) {
            best = th_weidmann_flow(rho);
            at = rho;
        }
    assert_true(fabs(best - 1.22) < 0.01); // as published
    assert_true(fabs(at - 1.75) < 0.03);
}

static double speed_at_three(const char *name) {
    const th_experiment_model *model = model_called(name);
    th_periodic_def def = th_periodic_def_default(model->filter, model->move, 3.0);
    def.length = 12.0;
    def.warm_up = LONG_ENOUGH ? 4.0 : 0.2;
    def.measured = LONG_ENOUGH ? 2.0 : 0.2;
    th_periodic_result result;
    th_error error = {0};
    if (th_periodic_run(&def, &result, &error) != TH_OK) fail_msg("%s", error.message);
    assert_int_equal(result.people, 144);
    assert_int_equal(result.repairs, 0);
    return result.speed;
}

// The experiment's own list of models: alone no agent slows down at 3 /m2, with the filter all do.
static void the_filter_slows_a_dense_crowd(void **state) {
    (void)state;
    double orca = speed_at_three("ORCA"), filtered = speed_at_three("D-ORCA consistent"),
           menge = speed_at_three("D-ORCA menge");
    print_message("3 /m2: ORCA %.2f, consistent %.2f, menge %.2f m/s\n", orca, filtered, menge);
    if (!LONG_ENOUGH) return;
    assert_true(orca > 1.2);
    assert_true(filtered > 0.1 && filtered < 0.45);
    assert_true(menge > 0.1 && menge < 0.45);
}

static void a_short_corridor_is_refused(void **state) {
    (void)state;
    th_periodic_def def = th_periodic_def_default("\"none\"", "\"orca\"", 1.0);
    def.length = 5.0;
    th_periodic_result result;
    th_error error = {0};
    assert_int_equal(th_periodic_run(&def, &result, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "12"));
    def = th_periodic_def_default("\"none\"", "\"nonsense\"", 1.0);
    assert_int_equal(th_periodic_run(&def, &result, &error), TH_BAD_SCENE);
}

static void assert_same_as_file(const char *text, const char *file) {
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/experiments/%s", TH_SOURCE_DIR, file);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    char content[8192];
    size_t size = fread(content, 1, sizeof content - 1, stream);
    content[size] = '\0';
    fclose(stream);
    assert_string_equal(text, content);
}

// The scene files are the scenes that the experiments run.
static void scenes_are_those_in_the_folder(void **state) {
    (void)state;
    th_corridor_people people = {th_experiment_choice(model_called("D-SF consistent")), 100.0};
    char *text = th_corridor_one_way(&th_uo180_runs[8], &people);
    assert_non_null(text);
    assert_same_as_file(text, "corridor_one_way.json");
    free(text);
    people.choice.move = "\"orca\"";
    people.inflow_time = 110.0;
    text = th_corridor_both_ways(2.0, &people);
    assert_non_null(text);
    assert_same_as_file(text, "corridor_both_ways.json");
    free(text);
}

// A sparse flow: no agent hinders another, so all walk at their own free speed.
static void a_thin_flow_has_the_density_of_its_inflow(void **state) {
    (void)state;
    th_corridor_people people = {{.filter = "\"none\"", .move = "\"social_force\""},
                                 LONG_ENOUGH ? 60.0 : 14.0};
    th_corridor_window window = {.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))",
                                 .direction = {0.0, -1.0},
                                 .from = 12.0,
                                 .until = people.inflow_time};
    char *scene = th_corridor_one_way(&th_uo180_runs[3], &people); // 2.51 /s through 1 m
    th_corridor_result result;
    th_error error = {0};
    th_result done = th_corridor_run(scene, 1, &window, 1, &result, &error);
    free(scene);
    if (done != TH_OK) fail_msg("%s", error.message);
    print_message("%.2f /m2, %.2f m/s, %.2f /(m s)\n", result.mean.density, result.mean.speed,
                  result.mean.flow);
    if (!LONG_ENOUGH) return;
    assert_true(fabs(result.mean.speed - 1.34) < 0.06);
    // Frames with an empty box are no samples, so it lies a little above inflow / (width x speed).
    assert_true(fabs(result.mean.flow - 2.51 / 1.8) < 0.12);
    assert_int_equal(result.waiting, 0);
}

// Two rows of people in opposite directions are pure lanes; every second one the other way is none.
static void lanes_are_seen(void **state) {
    (void)state;
    char folder[] = "/tmp/throng-lanes-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    for (int mixed = 0; mixed < 2; ++mixed) {
        snprintf(path, sizeof path, "%s/%d.txt", folder, mixed);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("# framerate: 10.00 fps\n# id frame x/m y/m z/m\n", file);
        for (int frame = 0; frame < 5; ++frame)
            for (int i = 0; i < 16; ++i) {
                int row = i / 8;
                bool east = mixed ? i % 2 == 0 : row == 0;
                double x = 1.0 + 0.5 * (i % 8) + 0.1 * (east ? frame : -frame);
                fprintf(file, "%d %d %.4f %.4f 0\n", i + 1, frame, x, 1.0 + 2.0 * row);
            }
        fclose(file);
        th_motion_def motion = th_motion_def_default();
        double order = -1.0;
        th_error error = {0};
        if (th_lane_order(path, &motion, "POLYGON ((0 0, 6 0, 6 4, 0 4, 0 0))", &order, &error) !=
            TH_OK)
            fail_msg("%s", error.message);
        // In a row of eight an agent has three like it and four against: ((3 - 4) / 7)^2.
        assert_true(fabs(order - (mixed ? 1.0 / 49.0 : 1.0)) < 1e-9);
        unlink(path);
    }
    rmdir(folder);
}

static th_result square(void *context, int index, th_error *error) {
    (void)error;
    ((int *)context)[index] = index * index;
    return index == 7 ? TH_NO_ROOM : index == 5 ? TH_FULL : TH_OK;
}

static bool stop_at_once(void *context, double share, const char *what) {
    (void)share, (void)what;
    ++*(int *)context;
    return false;
}

static void runs_side_by_side_tell_the_first_failure(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 3; ++jobs) {
        int squares[20] = {0};
        th_experiment_settings settings = {.jobs = jobs};
        bool stopped = true;
        assert_int_equal(
            th_experiment_runs(&settings, NULL, NULL, "", 20, square, squares, &stopped, NULL),
            TH_FULL);
        assert_false(stopped);
        assert_int_equal(squares[4], 16);
        int calls = 0;
        assert_int_equal(th_experiment_runs(&settings, stop_at_once, &calls, "", 5, square, squares,
                                            &stopped, NULL),
                         TH_OK);
        assert_true(stopped);
        assert_int_equal(calls, 1);
    }
}

static void tables_print_and_remember(void **state) {
    (void)state;
    th_experiment_result result = {0};
    th_experiment_table *table = th_experiment_add_table(&result, "speeds", "Speeds", "model|a|b");
    for (int row = 0; row < 9; ++row) {
        th_cell_text(table, "x");
        th_cell_number(table, row + 0.126, 2);
        th_cell_number(table, (double)NAN, 2);
    }
    th_experiment_judge(&result, TH_PASS, "less than 2", "%d", 1);
    assert_int_equal(th_experiment_finish(&result, NULL), TH_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    th_experiment_print(&result, stream);
    fclose(stream);
    assert_non_null(strstr(text, "| model | a | b |\n|---|---|---|\n| x | 0.13 | – |\n"));
    assert_non_null(strstr(text, "| x | 8.13 | – |\n"));
    assert_non_null(strstr(text, "| less than 2 | 1 | pass |"));
    free(text);
    th_experiment_release(&result);
    assert_int_equal(result.table_count, 0);
}

// Prints of the program; to be freed.
static char *program(const char *arguments, int *code) {
    char command[512];
    snprintf(command, sizeof command, "'%s' %s 2>&1", TH_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    text[fread(text, 1, 65535, pipe)] = '\0';
    int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return text;
}

static void the_command_lists_and_suggests(void **state) {
    (void)state;
    int code, count;
    const th_experiment *list = th_experiments(&count);
    char *text = program("experiment", &code);
    assert_int_equal(code, 0);
    for (int k = 0; k < count; ++k) assert_non_null(strstr(text, list[k].name));
    free(text);
    text = program("experiment corridr", &code);
    assert_int_equal(code, 1);
    assert_non_null(strstr(text, "did you mean 'corridor'?"));
    free(text);
}

static void results_do_not_depend_on_jobs(void **state) {
    (void)state;
    if (!LONG_ENOUGH) skip();
    int code;
    char *alone = program("experiment both_ways --quick --quiet --out none --jobs 1", &code);
    assert_int_equal(code, 0);
    if (!strstr(alone, "| people | 2 | 0.99 | 1.03 | 1.02 | 0.83 | 0 |")) fail_msg("%s", alone);
    char *together = program("experiment both_ways --quick --quiet --out none --jobs 3", &code);
    assert_int_equal(code, 0);
    assert_string_equal(alone, together);
    free(alone);
    free(together);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weidmann_has_his_values),
        cmocka_unit_test(the_filter_slows_a_dense_crowd),
        cmocka_unit_test(a_short_corridor_is_refused),
        cmocka_unit_test(scenes_are_those_in_the_folder),
        cmocka_unit_test(a_thin_flow_has_the_density_of_its_inflow),
        cmocka_unit_test(lanes_are_seen),
        cmocka_unit_test(runs_side_by_side_tell_the_first_failure),
        cmocka_unit_test(tables_print_and_remember),
        cmocka_unit_test(the_command_lists_and_suggests),
        cmocka_unit_test(results_do_not_depend_on_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
