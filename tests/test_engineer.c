// The worked example of docs/engineer.md, run as it is printed: drawing, import, runs, comparison, PDF.
// SPDX-License-Identifier: Apache-2.0
#include "program.h"

// The lines of code of the page, one after the other, with the built program under its name.
static char *commands_of(const char *page) {
    size_t length = strlen(page);
    char *commands = malloc(length + 400), *to = commands;
    assert_non_null(commands);
    to += sprintf(to, "set -e\nthrong() { \"$THRONG\" \"$@\"; }\nln -s " TH_SOURCE_DIR
                      "/examples examples\n");
    for (const char *at = page; *at;) {
        size_t line = strcspn(at, "\n");
        if (strncmp(at, "    ", 4) == 0) to += sprintf(to, "%.*s\n", (int)line - 4, at + 4);
        at += line + (at[line] == '\n');
    }
    return commands;
}

static double mean_of(program *p, const char *file, const char *of, const char *id,
                      const char *name) {
    char *text = program_file(p, file);
    json_t *root = json_of(text);
    const json_t *list = json_object_get(root, "quantities");
    double mean = (double)NAN;
    for (size_t k = 0; k < json_array_size(list); ++k) {
        const json_t *one = json_array_get(list, k);
        if (strcmp(json_string_value(json_object_get(one, "of")), of) == 0 &&
            strcmp(json_string_value(json_object_get(one, "id")), id) == 0 &&
            strcmp(json_string_value(json_object_get(one, "quantity")), name) == 0)
            mean = json_number_value(json_object_get(one, "mean"));
    }
    json_decref(root);
    free(text);
    return mean;
}

static void page_is_true(void **state) {
    (void)state;
    program p;
    if (system("command -v python3 >/dev/null") != 0) skip();
    program_begin(&p);
    char path[128];
    char *page = read_text(TH_SOURCE_DIR "/docs/engineer.md");
    assert_non_null(page);
    char *commands = commands_of(page);
    snprintf(path, sizeof path, "%s/page.sh", p.folder);
    write_text(path, commands);
    assert_code(shell(&p, ". ./page.sh"), 0);
    // All leave, wheelchairs too, and the balcony by both stairs.
    const char *const folders[] = {"open/quantities.json", "blocked/quantities.json"};
    for (int k = 0; k < 2; ++k) {
        assert_near(mean_of(&p, folders[k], "run", "", "people"), 366, 0);
        assert_near(mean_of(&p, folders[k], "run", "", "people inside at the end"), 0, 0);
        assert_near(mean_of(&p, folders[k], "profile", "wheelchair", "people not out"), 0, 0);
        double both = mean_of(&p, folders[k], "stairs", "stairs1", "people backward") +
                      mean_of(&p, folders[k], "stairs", "stairs2", "people backward");
        assert_near(both, 120, 0.5);
    }
    assert_true(mean_of(&p, folders[0], "exit", "exit3", "people") > 20);
    assert_near(mean_of(&p, folders[1], "exit", "exit3", "people"), 0, 0);
    // A way less: half of them are out later.
    assert_true(mean_of(&p, folders[1], "run", "", "95 % out") >
                mean_of(&p, folders[0], "run", "", "95 % out"));
    static const char *const left[] = {"open/report.pdf", "difference/report.pdf",
                                       "difference/compare.csv",
                                       "difference/figures/compare_density_b.png"};
    for (size_t k = 0; k < sizeof left / sizeof *left; ++k) assert_true(program_has(&p, left[k]));
    free(commands);
    free(page);
    program_end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(page_is_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
