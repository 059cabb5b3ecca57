// The continuum planner on a device: its potentials against marching, and people against the CPU's.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "plan/continuum/state.h"

#ifdef TH_SLOW_BUILD
enum { STEPS = 8 };
#else
enum { STEPS = 60 };
#endif

// Two levels, a door that opens, slow ground, somewhere unpleasant, a route of two legs, two sets of parameters, people
// without a potential among them, and a lattice of some tiles whose sides are no multiples of one.
static const char storeys[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 43, 21]}, "obstacles": [{"rect": [12, 0, 13, 15]},
        {"circle": [22, 9.3, 3]}], "walls": [[[30, 21], [30, 8]]]},
        {"id": "above", "z": 1.5, "walkable": {"rect": [43, 0, 60, 21]}, "obstacles": [{"rect": [50, 4, 51, 21]}]}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [40, 0, 43, 21]},
        "top": [[43, 0], [43, 21]], "up": 0.5, "down": 0.7}],
    "doors": [{"id": "d", "level": "below", "line": [[12.5, 15], [12.5, 21]], "closed": true, "schedule": [[1, "open"]]}],
    "zones": [{"level": "below", "area": {"rect": [32, 3, 38, 9]}, "discomfort": 3},
        {"level": "below", "area": {"rect": [32, 12, 38, 18]}, "speed": 0.6}],
    "waypoints": [{"id": "w", "level": "below", "area": {"rect": [33, 15, 37, 19]}}],
    "exits": [{"id": "east", "level": "above", "line": [[60, 0], [60, 21]]},
        {"id": "west", "level": "below", "line": [[0, 0], [0, 21]]}],
    "groups": [{"level": "below", "count": 90, "area": {"rect": [1, 1, 11, 20]}, "route": ["w", "east"],
            "plan": {"model": "continuum", "every": %d, "cone": %d}, "move": "orca"},
        {"level": "above", "count": 60, "area": {"rect": [44, 1, 59, 20]}, "to": "west",
            "plan": {"model": "continuum", "every": %d, "discomfort_weight": 3}, "move": "orca"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": "west",
            "plan": {"model": "continuum", "every": %d},
            "move": "collision_free_speed"},
        {"level": "below", "count": 30, "area": {"rect": [14, 1, 40, 20]}, "to": "east", "move": "orca"}],
    "run": {"step": 0.1, "duration": 60}});

static pair storeys_pair(int every, int cone) {
    char json[4096];
    snprintf(json, sizeof json, storeys, every, cone, every, every);
    return pair_of(json);
}

// With the CPU's bits, the same crowd for good.
static void the_same_crowd(void **state) {
    (void)state;
    if (!device_is_exact()) return;
    for (int trial = 0; trial < 3; ++trial) {
        pair p = storeys_pair(trial == 1 ? 4 : 1, trial == 2);
        for (int step = 0; step < STEPS; step += 4) {
            th_world_step(p.cpu, 4);
            th_world_step(p.device, 4);
            assert_true(th_world_hash(p.cpu) == th_world_hash(p.device));
        }
        same_directions(p, p.scene->groups[1].route[0]);
        pair_end(p);
    }
}

// The preferred velocities of one step from the same state: a potential is off by 1e-6 of itself, its slope by a
// hundred times that; where two ways are as long, a rounding chooses.
static void the_same_ways(void **state) {
    (void)state;
    pair p = storeys_pair(1, 0);
    int people = 0, off = 0;
    for (int step = 0; step < STEPS / 4; ++step) {
        copy_state(p.cpu, p.device);
        th_world_step(p.cpu, 1);
        th_world_step(p.device, 1);
        people_view a = view_people(p.cpu), b = view_people(p.device);
        assert_int_equal(a.count, b.count);
        for (int i = 0; i < a.count; ++i, ++people)
            off += between(a.preferred_x[i], a.preferred_y[i], b.preferred_x[i], b.preferred_y[i]) >
                   5e-3;
        unview_people(p.cpu);
        unview_people(p.device);
        th_world_step(p.cpu, 4);
    }
    print_message("  %d of %d ways are others\n", off, people);
    assert_true(off <= people / 100);
    pair_end(p);
}

// On the faces as the device made them, from the goals on.
static void potentials(void **state) {
    (void)state;
    pair p = storeys_pair(1, 0);
    const th_continuum *c = p.device->model_state[TH_PLAN_CONTINUUM];
    th_memory memory = th_memory_of(NULL);
    th_front front = {0};
    assert_true(th_front_create(&front, c->nodes.count, &memory));
    float *marched = calloc((size_t)c->nodes.count, sizeof *marched);
    assert_non_null(marched);
    double worst = 0.0;
    int solved = 0;
    for (int look = 0; look < 3; ++look) {
        th_world_step(p.device, look == 0 ? 1 : STEPS / 4);
        copy_state(p.device, p.cpu); // which brings the potentials to the host
        for (int k = 0; k < c->potential_count; ++k) {
            const th_potential *potential = &c->potentials[k];
            if (!c->solved[k]) continue;
            ++solved;
            int faces = c->same_faces[potential->group];
            const th_continuum_params *params = th_continuum_params_of(p.device, faces);
            const th_goal_nodes *goals = &c->goals[potential->target];
            th_potential_march(&c->graph, &c->faces[faces],
                               th_face_cost(params, params->top_speed, 0.0f), goals->nodes,
                               goals->count, &front, marched);
            for (int i = 0; i < c->nodes.count; ++i) {
                float value = potential->values[i];
                assert_int_equal(value >= TH_UNREACHABLE, marched[i] >= TH_UNREACHABLE);
                if (value >= TH_UNREACHABLE || marched[i] < 1e-3f) continue;
                worst = fmax(worst, (double)(fabsf(value - marched[i]) / marched[i]));
            }
        }
    }
    print_message("  %d potentials are within %.1e of themselves\n", solved, worst);
    assert_true(solved >= 6);
    assert_true(worst < 2e-5);
    free(marched);
    th_front_destroy(&front, c->nodes.count, &memory);
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_crowd),
        cmocka_unit_test(the_same_ways),
        cmocka_unit_test(potentials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
