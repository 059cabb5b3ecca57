// A goal exists only where a body can reach it: lines and areas that run past a wall, exits too narrow, exits with a shut door on them.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <stdlib.h>
#include <string.h>

static const char *const plans[] = {"field", "quickest", "continuum", "guided"};
enum { PLANS = 4 };

static th_scene *scene_with(const char *format, const char *plan) {
    char text[2000];
    snprintf(text, sizeof text, format, plan);
    return scene_of(text);
}

static void all_agents_leave(const char *format, const char *plan, int people, double limit) {
    th_scene *scene = scene_with(format, plan);
    th_world *world = world_of(scene, 1, 1);
    double time = run_to_end(world, limit);
    int left = (int)th_world_statistics(world).left;
    if (left != people) fail_msg("%s: %d of %d left within %.1f s", plan, left, people, time);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The exit of the east room is drawn 3 cm into the west room, which has a door to the east room.
static void a_line_past_a_wall(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 7]], [[8, 9], [8, 10]]]}],
        "exits": [{"id": "out", "line": [[7.97, 0], [10, 0]]}],
        "groups": [{"area": {"rect": [1, 1, 7, 6]}, "count": 12, "to": "out", "plan": "%s"}],
        "run": {"step": 0.1}});
    for (int k = 0; k < PLANS; ++k) all_agents_leave(format, plans[k], 12, 60.0);
}

static void an_area_past_a_wall(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 16, 10]}, "walls": [[[8, 0], [8, 7]], [[8, 9], [8, 10]]]}],
        "exits": [{"id": "out", "area": {"rect": [7.97, 0, 10, 2]}}],
        "groups": [{"area": {"rect": [1, 1, 7, 6]}, "count": 12, "to": "out", "plan": "%s"}],
        "run": {"step": 0.1}});
    for (int k = 0; k < PLANS; ++k) all_agents_leave(format, plans[k], 12, 60.0);
}

// The reason for which the scene is refused.
static th_error refused(const char *json) {
    th_scene *scene = NULL;
    th_error error;
    th_result result = th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error);
    assert_int_equal(result, TH_BAD_SCENE);
    return error;
}

static void an_exit_too_narrow_is_refused(void **state) {
    (void)state;
    th_error error =
        refused(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
            "exits": [{"id": "slit", "line": [[5, 0], [5.05, 0]]}],
            "groups": [{"area": {"rect": [1, 1, 9, 9]}, "count": 10, "to": "slit"}],
            "run": {"step": 0.1}}));
    assert_non_null(strstr(error.message, "slit"));
    assert_non_null(strstr(error.message, "no room for a body"));
}

// A door on the line of the near exit is shut: all agents take the far one.
static void a_shut_exit_is_none(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
        "doors": [{"id": "d", "line": [[3, 0], [5, 0]], "closed": true}],
        "exits": [{"id": "near", "line": [[3, 0], [5, 0]]}, {"id": "far", "line": [[17, 0], [19, 0]]}],
        "groups": [{"area": {"rect": [1, 1, 7, 9]}, "count": 20, "to": ["near", "far"], "plan": "%s"}],
        "run": {"step": 0.1}});
    for (int k = 0; k < PLANS; ++k) all_agents_leave(format, plans[k], 20, 60.0);
}

// The same with the exit itself shut; it opens at 30 s, when all are gone.
static void an_exit_shuts(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
        "exits": [{"id": "near", "line": [[3, 0], [5, 0]], "closed": true, "schedule": [[50, "open"]]},
            {"id": "far", "line": [[17, 0], [19, 0]]}],
        "groups": [{"area": {"rect": [1, 1, 7, 9]}, "count": 20, "to": ["near", "far"], "plan": "%s"}],
        "run": {"step": 0.1}});
    for (int k = 0; k < PLANS; ++k) all_agents_leave(format, plans[k], 20, 45.0);
}

// The near exit, or a door on its line, shuts while people queue there: all leave by the far one, none stays before the wall.
static void an_exit_shuts_before_its_queue(void **state) {
    (void)state;
    static const char *const formats[] = {TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
            "exits": [{"id": "near", "line": [[3, 0], [5, 0]], "schedule": [[6, "close"]]},
                {"id": "far", "line": [[17, 0], [19, 0]]}],
            "groups": [{"area": {"rect": [1, 1, 7, 9]}, "count": 60, "to": ["near", "far"], "plan": "%s"}],
            "run": {"step": 0.1}}),
                  TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
            "doors": [{"id": "d", "line": [[3, 0], [5, 0]], "schedule": [[6, "close"]]}],
            "exits": [{"id": "near", "line": [[3, 0], [5, 0]]}, {"id": "far", "line": [[17, 0], [19, 0]]}],
            "groups": [{"area": {"rect": [1, 1, 7, 9]}, "count": 60, "to": ["near", "far"], "plan": "%s"}],
            "run": {"step": 0.1}})};
    for (int k = 0; k < PLANS; ++k)
        for (int f = 0; f < 2; ++f) all_agents_leave(formats[f], plans[k], 60, 90.0);
}

// People wait before an exit that opens later, counted as people without a way, and then leave by it.
static void an_exit_opens(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
        "exits": [{"id": "out", "line": [[3, 0], [6, 0]], "closed": true, "schedule": [[20, "open"]]}],
        "groups": [{"area": {"rect": [1, 1, 9, 9]}, "count": 10, "to": "out", "plan": "%s"}],
        "run": {"step": 0.1}});
    for (int k = 0; k < PLANS; ++k) {
        th_scene *scene = scene_with(format, plans[k]);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 190);
        assert_int_equal(th_world_statistics(world).left, 0);
        assert_int_equal(th_world_statistics(world).unreachable, 10);
        run_to_end(world, 45.0);
        assert_int_equal(th_world_statistics(world).left, 10);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

static void what_cannot_shut_is_refused(void **state) {
    (void)state;
    th_error error = refused(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
        "exits": [{"id": "out", "area": {"rect": [0, 0, 2, 2]}, "closed": true}],
        "groups": [{"area": {"rect": [3, 3, 9, 9]}, "count": 10}]}));
    assert_string_equal(error.path, "exits[0].closed");
    error = refused(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
        "exits": [{"id": "a", "line": [[1, 0], [3, 0]]},
            {"id": "b", "line": [[5, 0], [7, 0]], "schedule": [[5, "open"], [3, "close"]]}],
        "groups": [{"area": {"rect": [3, 3, 9, 9]}, "count": 10}]}));
    assert_string_equal(error.path, "exits[1].schedule[1]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_past_a_wall),
        cmocka_unit_test(an_area_past_a_wall),
        cmocka_unit_test(an_exit_too_narrow_is_refused),
        cmocka_unit_test(a_shut_exit_is_none),
        cmocka_unit_test(an_exit_shuts),
        cmocka_unit_test(an_exit_shuts_before_its_queue),
        cmocka_unit_test(an_exit_opens),
        cmocka_unit_test(what_cannot_shut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
