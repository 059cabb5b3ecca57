// Files that scenes link to and files that are none: what lies outside the scene's folder is read only when that is allowed,
// messages do not quote it, and pipes, devices and /proc are no plain files. SPDX-License-Identifier: Apache-2.0
#include "core/file.h"
#include "support.h"
#include "throng/record.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct place {
    char top[64], scenes[96]; // scenes is a folder in top
} place;

static void write_file(const char *folder, const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state) {
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    strcpy(p->top, "/tmp/throng-links-XXXXXX");
    assert_non_null(mkdtemp(p->top));
    snprintf(p->scenes, sizeof p->scenes, "%s/scenes", p->top);
    char below[128];
    snprintf(below, sizeof below, "%s/below", p->scenes);
    assert_int_equal(mkdir(p->scenes, 0700) | mkdir(below, 0700), 0);
    write_file(p->top, "secret.csv", "x,y\npassword hunter2\n");
    write_file(p->top, "secret.wkt", "hunter2 SECRET ((\n");
    write_file(p->top, "secret.geojson", "{hunter2: 1}\n");
    write_file(p->top, "good.csv", "1,1\n2,2\n");
    write_file(p->scenes, "good.csv", "1,1\n2,2\n");
    write_file(below, "good.csv", "1,1\n2,2\n");
    write_file(p->scenes, "secret.csv", "x,y\npassword hunter2\n");
    char link[128];
    snprintf(link, sizeof link, "%s/link.csv", p->scenes);
    assert_int_equal(symlink("../good.csv", link), 0);
    *state = p;
    return 0;
}

static int tear_down(void **state) {
    place *p = *state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", p->top);
    int failed = system(command);
    free(p);
    return failed;
}

static th_result load(const place *p, const char *json, bool allow_links, th_error *error) {
    write_file(p->scenes, "scene.json", json);
    char path[160];
    snprintf(path, sizeof path, "%s/scene.json", p->scenes);
    th_scene_options options = {.allow_links = allow_links};
    th_scene *scene = NULL;
    th_result result = th_scene_load_file(path, &options, &scene, error);
    th_scene_destroy(scene);
    return result;
}

static th_result load_positions(const place *p, const char *file, bool allow_links,
                                th_error *error) {
    char json[400];
    snprintf(json, sizeof json, "{\"groups\": [{\"positions_file\": \"%s\"}]}", file);
    return load(p, json, allow_links, error);
}

static void only_beside_the_scene(void **state) {
    const place *p = *state;
    static const char *const near[] = {"good.csv", "./good.csv", "below/good.csv",
                                       "below/../good.csv"};
    char absolute[160], inside[160];
    snprintf(absolute, sizeof absolute, "%s/good.csv", p->top);
    snprintf(inside, sizeof inside, "%s/good.csv", p->scenes);
    const char *far[] = {"../good.csv", "below/../../good.csv", "link.csv", absolute, "../missing"};
    th_error error;
    for (size_t k = 0; k < sizeof near / sizeof *near; ++k)
        if (load_positions(p, near[k], false, &error) != TH_OK) fail_msg("%s", error.message);
    assert_int_equal(load_positions(p, inside, false, &error), TH_OK);
    for (size_t k = 0; k < sizeof far / sizeof *far; ++k) {
        if (load_positions(p, far[k], false, &error) != TH_NO_FILE) fail_msg("%s is read", far[k]);
        assert_string_equal(error.path, "groups[0].positions_file");
        assert_non_null(strstr(error.message, "lies outside the scene's folder"));
        assert_non_null(strstr(error.message, "--allow-links"));
        if (k < 4) assert_int_equal(load_positions(p, far[k], true, &error), TH_OK);
    }
    load_positions(p, "nothing.csv", false, &error);
    assert_non_null(strstr(error.message, "No such file"));
}

// Shapes and pictures as well as positions.
static void every_kind_of_link(void **state) {
    const place *p = *state;
    static const char *const scenes[] = {
        TH_JSON({"levels": [{"walkable": {"file": "../secret.wkt"}}]}),
                TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 9, 9]}, "obstacles": {"file": "../a.png", "corners": [[0, 0], [1, 1]]}}]}),
                    TH_JSON({"pictures": [{"file": "../a.png", "corners": [[0, 0], [1, 1]]}]})};
    th_error error;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        assert_int_equal(load(p, scenes[k], false, &error), TH_NO_FILE);
        assert_non_null(strstr(error.message, "lies outside the scene's folder"));
    }
}

static void messages_quote_nothing(void **state) {
    const place *p = *state;
    static const char *const scenes[] = {
        TH_JSON({"groups": [{"positions_file": "../secret.csv"}]}),
                TH_JSON({"groups": [{"positions_file": "secret.csv"}]}),
                        TH_JSON({"levels": [{"walkable": {"file": "../secret.wkt"}}]}),
                                TH_JSON({"levels": [{"walkable": {"file": "../secret.geojson"}}]})};
    th_error error;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        assert_int_equal(load(p, scenes[k], true, &error), TH_BAD_SCENE);
        if (strcasestr(error.message, "hunter2")) fail_msg("quotes a file: %s", error.message);
    }
    load(p, scenes[0], true, &error);
    assert_non_null(strstr(error.message, "line 2: expected two numbers"));
}

// A pipe without a writer would block the program; /dev/zero never ends; files of /proc report that they are plain and
// empty.
static void no_plain_files(void **state) {
    const place *p = *state;
    char pipe[128], link[128];
    snprintf(pipe, sizeof pipe, "%s/pipe.csv", p->scenes);
    snprintf(link, sizeof link, "%s/zero.csv", p->scenes);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("/dev/zero", link), 0);
    const char *odd[] = {"/proc/self/status", link, pipe, p->top};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; ++k) {
        th_error error = {0};
        th_scene *scene = NULL;
        th_trajectory *trajectory = NULL;
        if (k < 3) {
            assert_int_equal(load_positions(p, odd[k], true, &error), TH_NO_FILE);
            assert_non_null(strstr(error.message, "not a plain file"));
        }
        assert_int_equal(th_scene_load_file(odd[k], NULL, &scene, &error), TH_NO_FILE);
        assert_non_null(strstr(error.message, "not a plain file"));
        assert_int_equal(th_trajectory_open(odd[k], &trajectory, &error), TH_NO_FILE);
        if (k < 3) assert_non_null(strstr(error.message, "not a plain file"));
        size_t size;
        assert_null(th_file_content(odd[k], &size, &error));
        assert_int_equal(th_plugin_load(odd[k], &error), TH_NO_FILE);
        assert_string_equal(error.message, "cannot be read: not a plain file");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_beside_the_scene, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_kind_of_link, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_quote_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_plain_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
