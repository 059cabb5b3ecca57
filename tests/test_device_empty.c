// Worlds that become empty on a device and go on: the last one leaves, all are removed, a snapshot of fewer people is
// restored; then agents come again. Kernels have no agents left to empty their lists by then, and what the last step
// has left in memory counts people that are gone. Also one person alone, and as many as there is room for.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"

static const struct {
    const char *name;
    const tolerance *within;
} models[] = {{"orca", &ORCA_STEP},
              {"social_force", &FORCE_STEP},
              {"helbing_molnar", &FORCE_STEP},
              {"pbd", &PBD_STEP},
              {"uic", &UIC_STEP}};
enum { MODELS = sizeof models / sizeof *models, PEOPLE = 9 };

// People leave through a whole side, so that no model jams; the last one is slow, wide and so near a wall that it needs
// what others do not.
static const char hall[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 7, 4]}}],
    "exits": [{"id": "out", "line": [[7, 0], [7, 4]]}],
    "groups": [{"id": "g", "count": %d, "area": {"rect": [2.5, 1.1, 5.5, 3.5]}, "to": "out",
        "radius": 0.2, "speed": 1.4, "move": "%s"}%s],
    "run": {"step": %g, "duration": 600}});
// Two that come when all others have left.
static const char late[] =
    TH_JSON(
        , {"id": "late",
        "area": {"rect": [2.5, 1.1, 5.5, 3.5]},
        "to": "out",
        "source": {"rate": 1, "from": 20, "until": 22},
        "radius": 0.2,
        "move": "%s"});
// No agent leaves this world; those inside are removed.
static const char plane[] = TH_JSON(
    {"groups": [{"id": "g", "count": %d, "area": {"rect": [-3, -3, 3, 3]},
        "own_goal": {"opposite": [0, 0]}, "radius": 0.2, "move": "%s"}%s],
    "run": {"step": %g, "duration": 600}});

// Where bits are not compared, a sub-step of PBD is.
static double step_of(int model) {
    bool pbd = strcmp(models[model].name, "pbd") == 0;
    return pbd && !device_is_exact() ? PBD_SUBSTEP : 0.1;
}

static pair pair_in(const char *scene, int model, const char *more, int people, int capacity) {
    char json[2048];
    char others[512];
    snprintf(others, sizeof others, more, models[model].name);
    snprintf(json, sizeof json, scene, people, models[model].name, others, step_of(model));
    pair p = {.scene = device_scene(json)};
    th_world_def def = th_world_def_default();
    def.max_agents = capacity;
    def.backend = TH_BACKEND_CPU;
    p.cpu = device_world_as(p.scene, def);
    def.backend = TH_BACKEND_CUDA;
    p.device = device_world_as(p.scene, def);
    return p;
}

static void walk(pair p, int model, int steps) {
    walk_together(p, steps, 1, *models[model].within, models[model].name);
}
// On an open plane the grid of uic has other borders on a device, and so other roundings everywhere.
static void walk_in_the_open(pair p, int model, int steps) {
    if (strcmp(models[model].name, "uic") != 0) {
        walk(p, model, steps);
        return;
    }
    difference d = {0};
    for (int s = 0; s < steps; ++s) {
        th_world_step(p.cpu, 1);
        th_world_step(p.device, 1);
        add_difference(&d, p.cpu, p.device, UIC_JAM_STEP);
        if (s % 4 == 3) copy_state(p.cpu, p.device);
    }
    copy_state(p.cpu, p.device);
    assert_within(d, UIC_JAM_STEP, "uic in the open");
}

// Questions to an empty world.
static void assert_empty(pair p) {
    th_world *worlds[2] = {p.cpu, p.device};
    for (int w = 0; w < 2; ++w) {
        assert_int_equal(th_world_agent_count(worlds[w]), 0);
        th_statistics s = th_world_statistics(worlds[w]);
        assert_true(s.inside == 0 && s.overlaps == 0 && s.deepest_overlap == 0.0f);
    }
    assert_true(th_world_hash(p.cpu) == th_world_hash(p.device));
    assert_int_equal(th_world_done(p.cpu), th_world_done(p.device));
}

static void spawn_both(pair p, int count) {
    th_agent_def defs[PEOPLE];
    for (int k = 0; k < count; ++k) {
        defs[k] = th_agent_def_default();
        defs[k].position = (th_vec2){2.6f + 0.9f * (float)(k % 3), 1.1f + 0.9f * (float)(k / 3)};
        defs[k].goal = (th_vec2){-defs[k].position.x, -defs[k].position.y};
        defs[k].speed = 1.3f;
    }
    for (int w = 0; w < 2; ++w) {
        th_error error;
        if (th_world_spawn(w ? p.device : p.cpu, defs, count, NULL, &error) != TH_OK)
            fail_msg("%s", error.message);
    }
}

static void remove_all(th_world *world) {
    th_agent_id ids[PEOPLE];
    int count = th_world_agent_count(world);
    assert_true(count <= PEOPLE);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    assert_non_null(id);
    for (int k = 0; k < count; ++k) ids[k].serial = id[k];
    th_world_unmap(world, TH_FIELD_ID);
    assert_int_equal(th_world_remove(world, ids, count), count);
}

static void write_first(th_world *world, th_field field, float value) {
    float *view = th_world_map(world, field, TH_ACCESS_WRITE);
    assert_non_null(view);
    view[0] = value;
    th_world_unmap(world, field);
}

// Until no agent is left; the first one by the wall, wide and slow.
static void leave(th_world *world, const char *model) {
    write_first(world, TH_FIELD_POSITION_X, 6.8f);
    write_first(world, TH_FIELD_POSITION_Y, 0.5f);
    write_first(world, TH_FIELD_RADIUS, 0.5f);
    write_first(world, TH_FIELD_SPEED, 0.05f);
    th_world_step(world, 1);
    while (th_world_agent_count(world) > 0 && th_world_time(world) < 60.0) th_world_step(world, 1);
    if (th_world_agent_count(world) > 0) fail_msg("%s: an agent does not leave", model);
    assert_int_equal(th_world_statistics(world).wall_crossings, 0);
}

// The device empties its world by itself, and lists and counters that it then has are its own. The CPU is brought to
// where it is afterwards.
static void all_leave_and_others_come(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        pair p = pair_in(hall, m, "", PEOPLE, PEOPLE);
        for (int time = 0; time < 2; ++time) {
            leave(p.device, models[m].name);
            th_world_step(p.device, 3);
            copy_state(p.device, p.cpu);
            assert_empty(p);
            walk(p, m, 3);
            spawn_both(p, time ? 1 : PEOPLE);
            walk(p, m, 5);
        }
        pair_end(p);
    }
}

// As many people as memory is for: the source cannot bring its own before another has left.
static void source_into_an_empty_world(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m) {
        pair p = pair_in(hall, m, late, 2, 2);
        leave(p.device, models[m].name);
        while (th_world_time(p.device) < 19.0) th_world_step(p.device, 1);
        assert_int_equal(th_world_statistics(p.device).left, 2);
        copy_state(p.device, p.cpu);
        walk(p, m, 4 + (int)(2.0 / step_of(m)));
        assert_true(th_world_statistics(p.device).spawned > 2);
        pair_end(p);
    }
}

static void all_removed_from_an_open_plane(void **state) {
    (void)state;
    for (int m = 0; m < MODELS; ++m)
        for (int before = 0; before < 2; ++before) { // before the first step, or after some
            pair p = pair_in(plane, m, "", PEOPLE, PEOPLE);
            walk_in_the_open(p, m, before ? 0 : 9);
            remove_all(p.cpu);
            remove_all(p.device);
            assert_empty(p);
            th_world_step(p.cpu, 20); // so long that the grid of uic looks for the crowd
            th_world_step(p.device, 20);
            assert_empty(p);
            spawn_both(p, 1); // one alone
            walk_in_the_open(p, m, 9);
            spawn_both(p, PEOPLE - 1); // where no room was before
            walk_in_the_open(p, m, 9);
            pair_end(p);
        }
}

static void keep_one_by_the_wall(th_world *world) {
    th_agent_def one = th_agent_def_default();
    th_error error;
    remove_all(world);
    one.position = (th_vec2){6.8f, 0.5f};
    one.radius = 0.5f;
    one.speed = 0.05f;
    assert_int_equal(th_world_spawn(world, &one, 1, NULL, &error), TH_OK);
}

// Snapshots of more and of fewer people than there are, into a device that has been elsewhere meanwhile.
static void snapshots_of_other_sizes(void **state) {
    (void)state;
    enum { ALL, ONE, NONE, SIZES };
    static const int order[] = {NONE, ONE, ALL, ONE, NONE, ALL, NONE};
    for (int m = 0; m < MODELS; ++m) {
        pair p = pair_in(hall, m, "", PEOPLE, PEOPLE);
        th_world_def def = th_world_def_default();
        th_world *of[SIZES];
        def.max_agents = PEOPLE;
        for (int k = 0; k < SIZES; ++k) of[k] = device_world_as(p.scene, def);
        keep_one_by_the_wall(of[ONE]);
        remove_all(of[NONE]);
        for (size_t k = 0; k < sizeof order / sizeof *order; ++k) {
            th_world_step(p.device, 3);
            copy_state(of[order[k]], p.cpu);
            copy_state(of[order[k]], p.device);
            walk(p, m, 4);
        }
        for (int k = 0; k < SIZES; ++k) th_world_destroy(of[k]);
        pair_end(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_leave_and_others_come),
        cmocka_unit_test(source_into_an_empty_world),
        cmocka_unit_test(all_removed_from_an_open_plane),
        cmocka_unit_test(snapshots_of_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
