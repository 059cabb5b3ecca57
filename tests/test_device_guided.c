// The guided planner on a device: its people against the CPU's. SPDX-License-Identifier: Apache-2.0
#include "device_world.h"

#ifdef TH_SLOW_BUILD
enum { STEPS = 8 };
#else
enum { STEPS = 40 };
#endif

// Two levels, a door that opens, slow ground, somewhere unpleasant, strokes along and against, a gap that wide people
// do not fit through, a route whose second leg is walked later, two sets of parameters, people of another plan among
// them.
static const char storeys[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 43, 21]}, "obstacles": [{"rect": [12, 0, 13, 9]},
        {"rect": [12, 9.8, 13, 15]}, {"circle": [22, 9.3, 3]}], "walls": [[[30, 21], [30, 8]]]},
        {"id": "above", "z": 1.5, "walkable": {"rect": [43, 0, 60, 21]}, "obstacles": [{"rect": [50, 4, 51, 21]}]}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [40, 0, 43, 21]},
        "top": [[43, 0], [43, 21]], "up": 0.5, "down": 0.7}],
    "doors": [{"id": "d", "level": "below", "line": [[12.5, 15], [12.5, 21]], "closed": true, "schedule": [[1, "open"]]}],
    "zones": [{"level": "below", "area": {"rect": [32, 3, 38, 9]}, "discomfort": 3},
        {"level": "below", "area": {"rect": [32, 12, 38, 18]}, "speed": 0.6}],
    "guidance": [{"level": "below", "line": [[14, 3], [22, 4], [30, 5]], "radius": 3, "strength": 0.7},
        {"level": "below", "line": [[39, 18], [32, 6]], "radius": 3, "strength": 0.9, "to": "east"}],
    "waypoints": [{"id": "w", "level": "below", "area": {"rect": [10, 15, 16, 19]}}],
    "exits": [{"id": "east", "level": "above", "line": [[60, 0], [60, 21]]},
        {"id": "west", "level": "below", "line": [[0, 0], [0, 21]]}],
    "groups": [{"level": "below", "count": 90, "area": {"rect": [1, 1, 11, 20]}, "route": ["w", "east"],
            "plan": {"model": "guided", "every": %d}, "move": "orca"},
        {"level": "above", "count": 60, "area": {"rect": [44, 1, 59, 20]}, "to": "west",
            "plan": {"model": "guided", "every": %d, "discomfort_weight": 3}, "move": "orca"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": "west", "radius": 0.45,
            "plan": {"model": "guided", "follow": 0.5}, "move": "collision_free_speed"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": "east", "move": "orca"}],
    "run": {"step": 0.1, "duration": 60}});

static pair storeys_pair(int every) {
    char json[4096];
    snprintf(json, sizeof json, storeys, every, every);
    return pair_of(json);
}

static double solutions_of(const th_world *world) {
    th_model_value values[8];
    int count = th_world_model_statistics(world, TH_PLAN_GUIDED, values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, "solutions") == 0) return values[k].value;
    fail_msg("there are no solutions");
    return 0.0;
}

// Solved as often, and with the CPU's bits the same crowd; within a step's bounds otherwise.
static void the_same_crowd(void **state) {
    (void)state;
    for (int trial = 0; trial < 2; ++trial) {
        pair p = storeys_pair(trial == 1 ? 4 : 0);
        // Five at once: the crowd is counted in the midst of them, when nothing has looked at it.
        walk_together(p, STEPS, 5, ORCA_STEP, trial == 1 ? "guided, the crowd counted" : "guided");
        if (device_is_exact()) {
            assert_true(solutions_of(p.cpu) == solutions_of(p.device));
            same_directions(p, p.scene->groups[1].route[0]);
        }
        assert_true(solutions_of(p.device) >= (trial == 1 ? STEPS / 4 : 3));
        pair_end(p);
    }
}

// Edits and a restored state reach the device: other parameters, a wall, the fields of a crowd of the past.
static void what_changes_is_sent(void **state) {
    (void)state;
    for (int trial = 0; trial < 2; ++trial) {
        pair p = storeys_pair(trial == 1 ? 4 : 0);
        walk_together(p, 6, 1, ORCA_STEP, "guided before edits");
        th_world *worlds[2] = {p.cpu, p.device};
        for (int w = 0; w < 2; ++w) {
            th_error error;
            assert_int_equal(th_world_set_param(worlds[w], 0, "follow", 0.0, &error), TH_OK);
            assert_int_equal(
                th_world_add_wall(worlds[w], 0, (th_vec2){17, 6}, (th_vec2){17, 19}, NULL, &error),
                TH_OK);
        }
        walk_together(p, 7, 1, ORCA_STEP, "guided after edits");
        th_world_step(p.device, 4); // solves again
        copy_state(p.cpu, p.device);
        walk_together(p, 2, 1, ORCA_STEP, "guided, the past restored");
        pair_end(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_crowd),
        cmocka_unit_test(what_changes_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
