// The behaviour hidac on a device, against the CPU's: what people know, tell, fear and follow.
// SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "device_world.h"

#ifdef TH_SLOW_BUILD
enum { STEPS = 40 };
#else
enum { STEPS = 300 };
#endif

// Rooms on two levels, stairs, doors that shut and open, people that know all, their way in or nothing, that follow,
// lead, come in company, panic and fall, and others that come in later.
static const char house[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": [{"rect": [0, 0, 30, 6]}, {"rect": [2, 6.2, 8, 12]}, {"rect": [4.5, 6, 5.5, 6.2]},
            {"rect": [22, 6.2, 28, 12]}, {"rect": [24.5, 6, 25.5, 6.2]}], "walls": [[[12, 0], [12, 6]]]},
        {"id": "above", "z": 1.5, "walkable": {"rect": [30, 0, 42, 6]}}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [27, 0, 30, 6]},
        "top": [[30, 0], [30, 6]], "up": 0.5, "down": 0.7}],
    "doors": [{"id": "a", "level": "below", "line": [[12, 0.5], [12, 2]], "schedule": [[2, "close"], [7, "open"]]},
        {"id": "b", "level": "below", "line": [[12, 4], [12, 5.5]], "schedule": [[6, "close"], [12, "open"]]}],
    "exits": [{"id": "west", "level": "below", "line": [[0, 2], [0, 4]]},
        {"id": "east", "level": "above", "line": [[42, 2], [42, 4]]}],
    "groups": [{"id": "guide", "level": "below", "count": 2, "to": "west", "area": {"rect": [22.3, 6.5, 24, 8]},
            "behave": {"model": "hidac", "trained": 1}},
        {"id": "led", "level": "below", "count": 8, "area": {"rect": [22.3, 9.5, 27.7, 11.7]}, "leader": "guide",
            "behave": "hidac"},
        {"id": "g", "level": "below", "count": 40, "area": {"rect": [13, 0.5, 26, 5.5]}, "move": {"model": "hidac", "lies": 0.1, "gets_up": 3},
            "to": ["west", "east"], "behave": {"model": "hidac", "knows_all": 0.2, "knows_way_in": 0.3,
            "trained": 0.1, "followers": 0.5, "companions": 2, "alarm_time": 2, "anxious": 0.3, "polite": 0.3,
            "impatient": 0.2, "patience": 3, "sight": 6}},
        {"id": "late", "level": "above", "source": {"rate": 4}, "area": {"rect": [31, 0.5, 40, 5.5]}, "to": "%s",
            "move": "orca", "behave": {"model": "hidac", "knows_all": 0.5}}],
    "run": {"step": 0.1, "duration": 60}});

static pair house_pair(uint64_t seed, const char *to) {
    char json[4096];
    snprintf(json, sizeof json, house, to);
    return pair_with(json, seed, 0.0);
}

// With the CPU's bits the same crowd for good, however often it is looked at.
static void the_same_crowd(void **state) {
    (void)state;
    if (!device_is_exact()) return;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        pair p = house_pair(seed, seed == 2 ? "west" : "east");
        for (int step = 0; step < STEPS; step += 5) {
            th_world_step(p.cpu, 5);
            th_world_step(p.device, 5);
            if (th_world_hash(p.cpu) != th_world_hash(p.device))
                fail_msg("seed %d differs before step %d", (int)seed, step + 5);
            if (step == STEPS / 2) copy_state(p.device, p.cpu);
            if (step == STEPS / 3) copy_state(p.cpu, p.device);
        }
        pair_end(p);
    }
}

// One step from the same state, again and again: a rounding may tip a choice, such as which agent is in sight.
static void the_same_step(void **state) {
    (void)state;
    if (device_is_exact()) return;
    static const tolerance t = {1e-4, 1e-3, 1e-2};
    pair p = house_pair(1, "west");
    walk_together(p, STEPS, 1, t, "hidac");
    pair_end(p);
}

// A hall with a row of shut doors and people that see the nearest one each: more sets of doors taken for shut than ways
// are kept for.
enum { DOORS = 70 };
static pair doubtful_pair(void) {
    static char json[DOORS * 120 + 2000];
    size_t used = (size_t)snprintf(json, sizeof json,
                                   "{\"levels\":[{\"walkable\":{\"rect\":[0,0,%d,8]},\"walls\":"
                                   "[[[0,4],[%d,4]]]}],\"exits\":[{\"id\":\"out\",\"line\":[[0,5],"
                                   "[0,7]]}],\"doors\":[{\"id\":\"open\",\"line\":[[%d,4],[%d,4]]}",
                                   4 * DOORS + 8, 4 * DOORS + 8, 4 * DOORS + 4, 4 * DOORS + 6);
    for (int d = 0; d < DOORS; ++d)
        used += (size_t)snprintf(json + used, sizeof json - used,
                                 ",{\"id\":\"d%d\",\"line\":[[%d,4],[%d,4]],\"closed\":true}", d,
                                 4 * d + 1, 4 * d + 2);
    used += (size_t)snprintf(
        json + used, sizeof json - used,
        "],\"run\":{\"step\":0.2},\"groups\":[{\"to\":\"out\",\"behave\":{\"model\":\"hidac\","
        "\"talks\":0,\"sight\":2},\"positions\":[");
    for (int d = 0; d < DOORS; ++d)
        used += (size_t)snprintf(json + used, sizeof json - used, "%s[%g,3]", d ? "," : "",
                                 4.0 * d + 1.5);
    snprintf(json + used, sizeof json - used, "]}]}");
    return pair_of(json);
}

static void more_beliefs_than_are_kept(void **state) {
    (void)state;
    if (!device_is_exact()) return;
    pair p = doubtful_pair();
    for (int step = 0; step < 40; ++step) {
        th_world_step(p.cpu, 1);
        th_world_step(p.device, 1);
        if (th_world_hash(p.cpu) != th_world_hash(p.device)) fail_msg("differs after %d", step);
    }
    pair_end(p);
}

// More people come and go than there are places for memories: those of agents that left are used again.
static void memories_are_used_again(void **state) {
    (void)state;
    if (!device_is_exact()) return;
    th_world_def def = th_world_def_default();
    def.max_agents = 1024; // the least
    pair p = {
        .scene = device_scene(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 6, 40]}}],
        "exits": [{"id": "out", "line": [[6, 0], [6, 40]]}],
        "groups": [{"source": {"rate": 80}, "area": {"rect": [4, 1, 5, 39]}, "to": "out", "behave": "hidac"}],
        "run": {"step": 0.2}}))};
    p.cpu = device_world_as(p.scene, def);
    def.backend = TH_BACKEND_CUDA;
    p.device = device_world_as(p.scene, def);
    for (int step = 0; step < 90; ++step) {
        th_world_step(p.cpu, 1);
        th_world_step(p.device, 1);
        if (th_world_hash(p.cpu) != th_world_hash(p.device)) fail_msg("differs after %d", step);
    }
    assert_true(th_world_statistics(p.cpu).left > 1024);
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_crowd),
        cmocka_unit_test(the_same_step),
        cmocka_unit_test(more_beliefs_than_are_kept),
        cmocka_unit_test(memories_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
