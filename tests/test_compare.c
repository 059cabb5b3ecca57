// Designs side by side: intervals of differences, a folder against itself and against another, what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"
#include "report/compare.h"
#include "support.h"

static void interval_is_welchs(void **state) {
    (void)state;
    // Means 20 and 23, variances 4 and 16, 5 and 4 values: freedom 4.25 -> 4, t 2.776, half 2.776 sqrt(4/5 + 16/4).
    const th_sample_summary a = {.count = 5, .mean = 20, .standard_deviation = 2};
    const th_sample_summary b = {.count = 4, .mean = 23, .standard_deviation = 4};
    th_difference d = th_difference_of(&a, &b);
    assert_near(d.mean, 3, 1e-12);
    assert_near(d.high - d.mean, 2.776445 * sqrt(4.8), 1e-3);
    assert_false(d.clear);
    const th_sample_summary far = {.count = 4, .mean = 33, .standard_deviation = 4};
    d = th_difference_of(&a, &far);
    assert_true(d.clear && d.low > 0);
    const th_sample_summary one = {.count = 1, .mean = 33};
    d = th_difference_of(&a, &one);
    assert_true(isnan(d.low) && !d.clear);
}

static void fewer_people_are_faster(void **state) {
    (void)state;
    program p;
    program_begin(&p);
    const char *run = "run " TH_SOURCE_DIR "/scenes/door.json --runs 3 --threads 1 --quiet";
    assert_code(throng(&p, "%s --set groups.0.count=80 --out a", run), 0);
    assert_code(throng(&p, "%s --set groups.0.count=40 --out b", run), 0);
    assert_code(throng(&p, "compare a a --out same"), 0);
    char *text = program_file(&p, "same/compare.json");
    json_t *same = json_of(text);
    const json_t *list = json_object_get(same, "differences");
    assert_true(json_array_size(list) > 20);
    for (size_t k = 0; k < json_array_size(list); ++k) {
        const json_t *difference = json_object_get(json_array_get(list, k), "difference");
        if (json_is_number(difference)) assert_near(json_number_value(difference), 0, 0);
        assert_false(json_is_true(json_object_get(json_array_get(list, k), "clear")));
    }
    json_decref(same);
    free(text);
    assert_code(throng(&p, "compare a b --out ab"), 0);
    assert_holds(p.last.out, "egress time");
    text = program_file(&p, "ab/compare.json");
    json_t *fewer = json_of(text);
    const json_t *first = json_array_get(json_object_get(fewer, "differences"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "quantity")), "egress time");
    assert_true(json_number_value(json_object_get(first, "difference")) < -10);
    assert_true(json_is_true(json_object_get(first, "clear")));
    json_decref(fewer);
    free(text);
    text = program_file(&p, "ab/report.html");
    assert_holds(text, "faster than A");
    assert_holds(text, "id=\"figure-compare_density_b\"");
    free(text);
    assert_true(program_has(&p, "ab/figures/compare_evacuation.png"));
    assert_code(throng(&p, "compare a . --out none"), 2);
    assert_holds(p.last.error, "has no quantities.json");
    program_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interval_is_welchs),
        cmocka_unit_test(fewer_people_are_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
