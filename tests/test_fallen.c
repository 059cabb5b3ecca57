// An agent that lies on the ground never stops others for good, whatever the model: people of every move model and
// filter pass agents that lie across a corridor, on stairs and where newcomers enter. SPDX-License-Identifier:
// Apache-2.0
#include "registry/models.h"
#include "state/nearest.h"
#include "support.h"
#include <string.h>

enum { WALKERS = 24, SEEDS = 3 };

// Two rows of people lie across, so close that no agent fits between them.
static const char corridor[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 18, %g]}}], "exits": [{"id": "out", "line": [[18, 0], [18, %g]]}],
    "groups": [{"id": "lying", "positions": [%s], "to": "out", "move": {"model": "hidac", "lies": 1}},
        {"id": "walkers", "count": %d, "area": {"rect": [0.5, 0.3, 8, %g]}, "to": "out", "move": "%s",
            "filter": "%s"}],
    "run": {"step": 0.05, "max_time": 120}});

// The same on either side of the top of a stair.
static const char stairs[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 10, %g]}},
        {"id": "above", "z": 1.5, "walkable": {"rect": [10, 0, 18, %g]}}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [7, 0, 10, %g]},
        "top": [[10, 0], [10, %g]], "up": 0.5, "down": 0.7}],
    "exits": [{"id": "out", "level": "above", "line": [[18, 0], [18, %g]]}],
    "groups": [{"id": "lying", "level": "below", "positions": [%s], "to": "out",
            "move": {"model": "hidac", "lies": 1}},
        {"id": "more", "level": "above", "positions": [%s], "to": "out", "move": {"model": "hidac", "lies": 1}},
        {"id": "walkers", "level": "below", "count": %d, "area": {"rect": [0.5, 0.3, 6, %g]}, "to": "out",
            "move": "%s", "filter": "%s"}],
    "run": {"step": 0.05, "max_time": 120}});

// A row of places across a corridor, 0.42 m apart, into the text; returns how many.
static int row_across(double x, double width, char *text, size_t size) {
    int count = 0;
    size_t used = strlen(text);
    for (double y = 0.25; y <= width - 0.25 + 1e-9; y += 0.42, ++count)
        used += (size_t)snprintf(text + used, size - used, "%s[%g, %g]", used ? "," : "", x, y);
    return count;
}

static bool is_asked(const th_model *model, th_stage stage) {
    return model->stage == stage && !model->internal;
}

// Every agent that can walk leaves; lying ones are left.
static void all_pass(const char *json, int lying, uint64_t seed, const char *what) {
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, seed);
    run_to_end(world, 120.0);
    th_statistics s = th_world_statistics(world);
    if (s.fallen != (uint64_t)lying || s.left != WALKERS || s.inside != s.fallen)
        fail_msg("%s, seed %d: %d left, %d inside, %d lie", what, (int)seed, (int)s.left,
                 (int)s.inside, (int)s.fallen);
    assert_int_equal(s.wall_crossings, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void pass_the_corridor(const th_model *move, const th_model *filter, double width,
                              uint64_t seed) {
    char rows[1024] = "", json[4096], what[128];
    int lying = row_across(10.0, width, rows, sizeof rows);
    lying += row_across(11.0, width, rows, sizeof rows);
    snprintf(json, sizeof json, corridor, width, width, rows, WALKERS, width - 0.3, move->name,
             filter->name);
    snprintf(what, sizeof what, "%s, %s, %g m", move->name, filter->name, width);
    all_pass(json, lying, seed, what);
}

static void pass_the_stairs(const th_model *move, const th_model *filter, double width,
                            uint64_t seed) {
    char below[512] = "", above[512] = "", json[4096], what[128];
    int lying = row_across(9.8, width, below, sizeof below);
    lying += row_across(10.2, width, above, sizeof above);
    snprintf(json, sizeof json, stairs, width, width, width, width, width, below, above, WALKERS,
             width - 0.3, move->name, filter->name);
    snprintf(what, sizeof what, "stairs: %s, %s, %g m", move->name, filter->name, width);
    all_pass(json, lying, seed, what);
}

typedef void pass_fn(const th_model *move, const th_model *filter, double width, uint64_t seed);
static void each_model(pass_fn *pass, int seeds) {
    static const double widths[] = {1.3, 2.4};
    int count = 0, moves = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (!is_asked(models[m], TH_STAGE_MOVE)) continue;
        ++moves;
        for (int f = 0; f < count; ++f) {
            if (!is_asked(models[f], TH_STAGE_FILTER)) continue;
            for (int w = 0; w < 2; ++w)
                for (uint64_t seed = 1; seed <= (uint64_t)seeds; ++seed)
                    pass(models[m], models[f], widths[w], seed);
        }
    }
    assert_true(moves >= 11);
}

static void no_agent_is_held_up_in_a_corridor(void **state) {
    (void)state;
    each_model(pass_the_corridor, CROWDS(SEEDS));
}
static void no_agent_is_held_up_on_stairs(void **state) {
    (void)state;
    each_model(pass_the_stairs, 1);
}

// One person alone leaves at the very same time whether people lie in the way or not: by the shortest way, because those who
// lie stood in the first step, and `quickest` remembers them for two seconds.
static double time_past(const char *lying, const char *move, const char *filter) {
    char json[2048];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 12, 3]}}],
        "exits": [{"id": "out", "line": [[12, 0], [12, 3]]}],
        "groups": [{"id": "walker", "positions": [[1, 1.5]], "to": "out", "plan": "field", "move": "%s", "filter": "%s"},
            {"id": "lying", "%s": %s, "to": "out", "move": {"model": "hidac", "lies": 1}}],
        "run": {"step": 0.05, "max_time": 60}}),
                                                        move, filter, lying ? "positions" : "count",
                                                        lying ? lying : "0");
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 60.0);
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return s.last_left_time;
}

static void they_slow_no_agent_down(void **state) {
    (void)state;
    char rows[1024] = "", lying[1032];
    int count = 0, others = 0;
    const th_model *const *models = th_models(&count);
    for (int k = 0; k < 4; ++k) row_across(4.0 + k, 3.0, rows, sizeof rows);
    snprintf(lying, sizeof lying, "[%s]", rows);
    for (int m = 0; m < count; ++m) {
        if (!is_asked(models[m], TH_STAGE_MOVE) || m == TH_MOVE_HIDAC) continue; // walks around
        ++others;
        for (int f = 0; f < count; ++f) {
            if (!is_asked(models[f], TH_STAGE_FILTER)) continue;
            double with = time_past(lying, models[m]->name, models[f]->name);
            double without = time_past(NULL, models[m]->name, models[f]->name);
            if (with != without)
                fail_msg("%s, %s: %g s instead of %g s", models[m]->name, models[f]->name, with,
                         without);
        }
    }
    assert_true(others >= 10);
}

// Both searches of the nearest, of which the second is for crowds too dense to list.
static void they_are_not_among_the_nearest(void **state) {
    (void)state;
    enum { WANTED = 10 };
    th_scene *scene = scene_of(
        TH_JSON(
        {"groups": [{"id": "lying", "count": 60, "area": {"rect": [0, 0, 6, 6]}, "own_goal": "opposite",
                "move": {"model": "hidac", "lies": 1}},
            {"id": "standing", "count": 60, "area": {"rect": [0, 0, 6, 6]}, "own_goal": "opposite"}],
        "run": {"step": 0.05}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 1);
    assert_int_equal(th_world_statistics(world).fallen, 60);
    th_candidates list = {.count = -1};
    for (uint32_t i = 0; i < (uint32_t)world->agents.count; ++i) {
        th_nearest listed, inserted;
        if (!th_moves(world->agents.phase[i])) continue;
        th_find_nearest(world, &list, i, WANTED, 5.0f, &listed);
        th_nearest_by_insertion(world, i, 5.0f, WANTED, &inserted);
        assert_int_equal(listed.count, WANTED);
        assert_int_equal(inserted.count, WANTED);
        for (int k = 0; k < WANTED; ++k) {
            assert_true(th_moves(world->agents.phase[listed.agent[k]]));
            assert_int_equal(inserted.agent[k], listed.agent[k]);
        }
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The whole area of a source is taken by people that lie.
static void newcomers_enter_over_them(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 8, 2]}}], "exits": [{"id": "out", "line": [[8, 0], [8, 2]]}],
        "groups": [{"id": "lying", "positions": [[0.5, 0.5], [0.5, 1], [0.5, 1.5]], "to": "out",
                "move": {"model": "hidac", "lies": 1}},
            {"id": "late", "area": {"rect": [0.3, 0.3, 0.7, 1.7]}, "source": {"timetable": [[1, 2], [4, 3]]}, "to": "out"}],
        "run": {"step": 0.05, "max_time": 60}}));
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 60.0);
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.left, 5);
    assert_int_equal(s.fallen, 3);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_agent_is_held_up_in_a_corridor),
        cmocka_unit_test(no_agent_is_held_up_on_stairs),
        cmocka_unit_test(they_slow_no_agent_down),
        cmocka_unit_test(they_are_not_among_the_nearest),
        cmocka_unit_test(newcomers_enter_over_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
