// The plan quickest on a device: its agents against the CPU's. SPDX-License-Identifier: Apache-2.0
#include "device_world.h"

#ifdef TH_SLOW_BUILD
enum { STEPS = 15 };
#else
enum { STEPS = 40 };
#endif

// Two levels, a door that opens, slow ground, a gap that wide people do not fit through, a route whose second leg is walked
// later, two exits, people of another plan among them.
static const char storeys[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 43, 21]}, "obstacles": [{"rect": [12, 0, 13, 9]},
        {"rect": [12, 9.8, 13, 15]}, {"circle": [22, 9.3, 3]}], "walls": [[[30, 21], [30, 8]]]},
        {"id": "above", "z": 1.5, "walkable": {"rect": [43, 0, 60, 21]}, "obstacles": [{"rect": [50, 4, 51, 21]}]}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [40, 0, 43, 21]},
        "top": [[43, 0], [43, 21]], "up": 0.5, "down": 0.7}],
    "doors": [{"id": "d", "level": "below", "line": [[12.5, 15], [12.5, 21]], "closed": true, "schedule": [[1, "open"]]}],
    "zones": [{"level": "below", "area": {"rect": [32, 12, 38, 18]}, "speed": 0.6}],
    "waypoints": [{"id": "w", "level": "below", "area": {"rect": [10, 15, 16, 19]}}],
    "exits": [{"id": "east", "level": "above", "line": [[60, 0], [60, 21]]},
        {"id": "west", "level": "below", "line": [[0, 0], [0, 5]]},
        {"id": "south", "level": "below", "line": [[14, 0], [18, 0]]}],
    "groups": [{"level": "below", "count": 90, "area": {"rect": [1, 1, 11, 20]}, "route": ["w", "east"],
            "plan": "quickest", "move": "orca"},
        {"level": "above", "count": 60, "area": {"rect": [44, 1, 59, 20]}, "to": ["west", "south"],
            "plan": {"model": "quickest", "reconsider": 0.5, "inertia": 0.1}, "move": "orca"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": ["west", "south"], "radius": 0.45,
            "plan": "quickest", "move": "collision_free_speed"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": "east", "plan": "field", "move": "orca"}],
    "run": {"step": 0.1, "duration": 60}});

static double solutions_of(const th_world *world) {
    th_model_value values[8];
    int count = th_world_model_statistics(world, TH_PLAN_QUICKEST, values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, "solutions") == 0) return values[k].value;
    fail_msg("there are no solutions");
    return 0.0;
}

// Solved as often, and with the CPU's bits the same crowd; within a step's bounds otherwise.
static void the_same_crowd(void **state) {
    (void)state;
    pair p = pair_of(storeys);
    walk_together(p, STEPS, 5, ORCA_STEP, "quickest");
    if (device_is_exact()) {
        assert_true(solutions_of(p.cpu) == solutions_of(p.device));
        same_directions(p, p.scene->groups[1].route[0]);
    }
    assert_true(solutions_of(p.device) >= STEPS / 10);
    pair_end(p);
}

// Edits and a restored state reach the device: a wall, the fields of a crowd of the past.
static void what_changes_is_sent(void **state) {
    (void)state;
    pair p = pair_of(storeys);
    walk_together(p, 12, 1, ORCA_STEP, "quickest before edits");
    th_world *worlds[2] = {p.cpu, p.device};
    for (int w = 0; w < 2; ++w) {
        th_error error;
        assert_int_equal(
            th_world_add_wall(worlds[w], 0, (th_vec2){17, 6}, (th_vec2){17, 19}, NULL, &error),
            TH_OK);
    }
    walk_together(p, 7, 1, ORCA_STEP, "quickest after edits");
    th_world_step(p.device, 14); // counts and solves again
    copy_state(p.cpu, p.device);
    walk_together(p, 4, 1, ORCA_STEP, "quickest, the past restored");
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_crowd),
        cmocka_unit_test(what_changes_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
