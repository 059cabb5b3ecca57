// The verification suites: quick tests of the tables for every shipped model, the report, the command line.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "support.h"
#include "validate/validate.h"
#include <math.h>

static const th_suite *suite_called(const char *name) {
    int count;
    const th_suite *const *suites = th_suites(&count);
    for (int i = 0; i < count; ++i)
        if (strcmp(suites[i]->name, name) == 0) return suites[i];
    fail_msg("no suite %s", name);
    return NULL;
}

static void expect_pass(const th_suite_setup *setup, const char *suite_name, const char *numbers) {
    const th_suite *suite = suite_called(suite_name);
    char list[200], *rest = NULL;
    snprintf(list, sizeof list, "%s", numbers);
    for (char *number = strtok_r(list, " ", &rest); number; number = strtok_r(NULL, " ", &rest)) {
        const th_suite_test *test = NULL;
        for (int t = 0; t < suite->test_count; ++t)
            if (strcmp(suite->tests[t].number, number) == 0) test = &suite->tests[t];
        assert_non_null(test);
        th_outcome result;
        th_suite_run_test(setup, suite, test, &result);
        if (result.verdict != TH_PASS)
            fail_msg("%s %s with %s: %s (%s)", suite_name, number, setup->move, result.measured,
                     result.remark);
        assert_true(*result.measured && result.runs > 0);
        th_outcome_release(&result);
    }
}

// Tests that a model must pass before its evacuation times can be trusted; takes seconds.
static void quick_tests(const char *move) {
    th_suite_setup setup = {.filter = "none", .move = move, .crowds = 1};
    expect_pass(&setup, "rimea", "1 2 3 5 6 7 10");
    expect_pass(&setup, "juelich", "1 2 3 4 5 6 8 12");
}

static void quick_tests_by_orca(void **state) {
    (void)state;
    quick_tests("orca");
}

static void quick_tests_by_social_force(void **state) {
    (void)state;
    quick_tests("social_force");
}

// Flows and ratios, with what is recommended.
static void recommended(void **state) {
    (void)state;
    th_suite_setup setup = th_suite_setup_default();
    setup.crowds = 1;
    expect_pass(&setup, "rimea", "1 3 6 13");
    expect_pass(&setup, "imo", "10");
#ifndef TH_SLOW_BUILD
    expect_pass(&setup, "nist", "2.2 2.9 3.2 3.3 4.1");
    expect_pass(&setup, "iso", "14 17");
#endif
}

// A test that can fail does.
static void wrong_is_found(void **state) {
    (void)state;
    th_suite_setup setup = {.filter = "none",
                            .move = TH_JSON({"model": "orca", "speed_of_light": 1}), .crowds = 1};
    const th_suite *suite = suite_called("rimea");
    th_outcome result;
    th_suite_run_test(&setup, suite, &suite->tests[0], &result);
    assert_int_equal(result.verdict, TH_FAIL);
    assert_non_null(strstr(result.remark, "speed_of_light"));
    th_outcome_release(&result);
    // Forces that take ten seconds to bring an agent to full speed miss 10 m in 10 s.
    setup.move = TH_JSON({"model": "social_force", "relaxation_time": 10});
    suite = suite_called("juelich");
    th_suite_run_test(&setup, suite, &suite->tests[0], &result);
    assert_int_equal(result.verdict, TH_FAIL);
    th_outcome_release(&result);
}

static void every_row_is_complete(void **state) {
    (void)state;
    int count;
    const th_suite *const *suites = th_suites(&count);
    assert_int_equal(count, 5);
    for (int s = 0; s < count; ++s)
        for (int t = 0; t < suites[s]->test_count; ++t) {
            const th_suite_test *test = &suites[s]->tests[t];
            assert_true(*test->number && *test->title && *test->asked && *test->source);
            assert_non_null(strchr("FSX", test->feature));
            assert_true((test->run == NULL) ==
                        (test->feature == 'X')); // nothing is left out silently
        }
}

// ---- the command

static json_t *report_of(program *p, const char *folder) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s/validation.json", p->folder, folder);
    char *text = read_text(path);
    assert_non_null(text);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

// Every test of the tables is in the file, in order; nothing is run here but what is not applicable.
static void report_has_every_test(void **state) {
    program *p = *state;
    th_validation all = {.setup = th_suite_setup_default()};
    char path[200];
    snprintf(path, sizeof path, "%s/validation.json", p->folder);
    assert_int_equal(th_validation_choose(&all, "all", NULL, NULL), TH_OK);
    for (int i = 0; i < all.count; ++i)
        if (!all.entries[i].test->run)
            th_suite_run_test(&all.setup, all.entries[i].suite, all.entries[i].test,
                              &all.entries[i].outcome);
    assert_int_equal(th_validation_write_json(&all, path, NULL), TH_OK);
    json_t *root = report_of(p, "."), *tests = json_object_get(root, "tests");
    int count, row = 0;
    const th_suite *const *suites = th_suites(&count);
    for (int s = 0; s < count; ++s)
        for (int t = 0; t < suites[s]->test_count; ++t, ++row) {
            json_t *test = json_array_get(tests, (size_t)row);
            assert_string_equal(json_string_value(json_object_get(test, "suite")), suites[s]->name);
            assert_string_equal(json_string_value(json_object_get(test, "number")),
                                suites[s]->tests[t].number);
            if (!suites[s]->tests[t].run)
                assert_string_equal(json_string_value(json_object_get(test, "verdict")),
                                    "not applicable");
        }
    assert_int_equal(json_array_size(tests), row);
    json_decref(root);
    th_validation_release(&all);
}

// Four tests of four suites, one after the other and side by side.
static void jobs_do_not_matter(void **state) {
    program *p = *state;
    assert_code(throng(p, "validate --only 1 --quick --quiet --jobs 1 --out one"), 0);
    assert_code(throng(p, "validate --only 1 --quick --quiet --jobs 2 --out two"), 0);
    json_t *one = report_of(p, "one"), *two = report_of(p, "two");
    assert_int_equal(json_array_size(json_object_get(one, "tests")), 4);
    assert_true(json_equal(one, two));
    json_decref(one);
    json_decref(two);
    char *page = program_file(p, "one/validation.html");
    assert_holds(page, "id=\"juelich-1\"");
    assert_holds(page, "<svg ");
    assert_holds(page, "side_time_gap"); // a parameter of the default
    assert_holds(page, "</html>");
    assert_null(strstr(page, "src=\"http"));
    free(page);
}

static void one_test_of_one_suite(void **state) {
    program *p = *state;
    const outcome *done = throng(p, "validate imo --only 1 --quiet --out none");
    assert_int_equal(done->code, 0);
    assert_holds(done->out, "1 tests: 1 pass");
    done = throng(p, "validate --only 'nist 2.5' --quiet --out none");
    assert_int_equal(done->code, 0);
    assert_holds(done->out, "not applicable");
    assert_holds(done->out, "smoke");
    done = throng(p, "validate nist --only 2.1 --behave hidac --quiet --out none");
    assert_int_equal(done->code, 0);
    assert_holds(done->out, "behave hidac;");
    // Every agent gets it but those whose test is about behaviour.
    done = throng(p, "validate nist --only 2.1 --behave nobody --quiet --out none");
    assert_int_equal(done->code, 1);
    assert_holds(done->error, "unknown behave \"nobody\"");
    done = throng(p, "validate nist --only 2.9 --behave route --quick --quiet --out none");
    assert_int_equal(done->code, 0);
}

static void typing_errors(void **state) {
    program *p = *state;
    const outcome *done = throng(p, "validate rimae");
    assert_int_equal(done->code, 1);
    assert_holds(done->error, "did you mean rimea?");
    done = throng(p, "validate imo --only 99");
    assert_int_equal(done->code, 1);
    assert_holds(done->error, "--list");
    done = throng(p, "validate imo --only 1 --model orka --out none");
    assert_int_equal(done->code, 1);
    assert_holds(done->error, "orca");
}

// A failed test is an exit code of its own.
static void failing_is_told(void **state) {
    program *p = *state;
    const outcome *done = throng(p, "validate juelich --only 1 --quiet --out none --model "
                                    "'{\"model\": \"social_force\", \"relaxation_time\": 10}'");
    assert_int_equal(done->code, 4);
    assert_holds(done->out, "1 fail");
}

static int set_up(void **state) {
    static program p;
    program_begin(&p);
    *state = &p;
    return 0;
}

static int tear_down(void **state) {
    program_end(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quick_tests_by_orca),   cmocka_unit_test(quick_tests_by_social_force),
        cmocka_unit_test(recommended),           cmocka_unit_test(wrong_is_found),
        cmocka_unit_test(every_row_is_complete), cmocka_unit_test(report_has_every_test),
        cmocka_unit_test(jobs_do_not_matter),    cmocka_unit_test(one_test_of_one_suite),
        cmocka_unit_test(typing_errors),         cmocka_unit_test(failing_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
