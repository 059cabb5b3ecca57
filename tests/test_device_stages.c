// Stage by stage on random crowds: people anywhere on two levels and a stair, in heaps and on top of each other, with
// random velocities, sizes, masses, goals and phases, and one step. The values that stages write are compared field by
// field:
// the order of the index, phases and legs (behave, arrive), preferred velocities (plan, filter), velocities
// (move), positions and levels (contact), lines, areas and overlaps (measure). The device's memory is poisoned
// before, device_world.h; and the comparison itself is shown to notice. SPDX-License-Identifier: Apache-2.0
#include "device_world.h"

// As many in slow builds: the shares of people that may be off are those of many crowds, and one heap can have twice
// as many.
enum { CROWDS = 12 };

// Waiting areas, way points, exits, own goals, a source, pillars and a wall thinner than a person.
static const char floors[] = TH_JSON(
    {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 23, 8]},
        "obstacles": [{"rect": [9, 3, 10, 4]}, {"rect": [15, 5, 15.2, 7]}],
        "walls": [[[5, 0], [5, 5]]]}, {"id": "above", "z": 1.5,
        "walkable": {"rect": [23, 0, 32, 8]}}],
    "stairs": [{"id": "s", "level": "below", "to": "above", "area": {"rect": [20, 0, 23, 8]},
        "top": [[23, 0], [23, 8]]}],
    "exits": [{"id": "east", "level": "above", "line": [[32, 0], [32, 8]]}, {"id": "west",
        "level": "below", "line": [[0, 0], [0, 8]]}],
    "waypoints": [{"id": "middle", "level": "below", "area": {"rect": [11, 1, 14, 7]}}],
    "strips": [{"level": "below", "line": [[1, 4], [19, 4]], "width": 6}, {"level": "above", "line": [[24, 2], [31, 6]]}],
    "waiting_areas": [{"id": "hold", "level": "below", "area": {"rect": [17, 1, 19, 7]},
        "wait": 1}],
    "groups": [ {"id": "a", "level": "below", "count": 120,
        "area": {"rect": [1, 0.5, 19, 7.5]}, "route": ["middle", "hold", "east"],
        "radius": 0.15, %s}, {"id": "b", "level": "above", "count": 60,
        "area": {"rect": [24, 0.5, 31.5, 7.5]}, "to": "west", "radius": 0.15, %s},
        {"id": "c", "level": "below", "count": 60, "area": {"rect": [1, 0.5, 19, 7.5]},
        "own_goal": {"opposite": [11, 4]}, "radius": 0.15, %s}],
    "measure": {"lines": [{"id": "l", "level": "below", "line": [[8, 0], [8, 8]]}],
        "areas": [{"id": "a", "level": "below", "area": {"rect": [11, 0, 14, 8]}}]},
    "run": {"step": %g, "duration": 60}});

static uint64_t random_state = 88172645463325252u;
static float random_between(float least, float most) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return least + (most - least) * (float)((double)(random_state >> 11) / 9007199254740992.0);
}

// Anywhere that can be walked on; every third one within a step of a heap or at its very middle.
static th_vec2 random_place(const th_scene *scene, int level, int k, th_vec2 heap) {
    for (;;) {
        th_vec2 p = {random_between(level ? 23.0f : 0.0f, level ? 32.0f : 23.0f),
                     random_between(0.0f, 8.0f)};
        if (k % 3 == 0) {
            float spread = k % 9 == 0 ? 0.0f : 0.3f;
            p = (th_vec2){heap.x + random_between(-spread, spread),
                          heap.y + random_between(-spread, spread)};
        }
        if (th_scene_walkable(scene, level, p)) return p;
    }
}

static void write_field(th_world *world, th_field field, const void *values) {
    void *view = th_world_map(world, field, TH_ACCESS_OVERWRITE);
    assert_non_null(view);
    memcpy(view, values, (size_t)th_world_agent_count(world) * 4);
    th_world_unmap(world, field);
}

// Scatters agents in both worlds by hand, so that what a caller writes is part of the test.
static void scatter(pair p, bool heaped) {
    enum { MOST = 512 };
    static float x[MOST], y[MOST], vx[MOST], vy[MOST], radius[MOST], speed[MOST], mass[MOST],
        goal_x[MOST], goal_y[MOST], until[MOST];
    static uint32_t phase[MOST], goal_level[MOST];
    int count = th_world_agent_count(p.cpu);
    assert_true(count == th_world_agent_count(p.device) && count <= MOST);
    const uint32_t *level = th_world_map(p.cpu, TH_FIELD_LEVEL, TH_ACCESS_READ);
    assert_non_null(level);
    th_vec2 heaps[2] = {random_place(p.scene, 0, 1, (th_vec2){0}),
                        random_place(p.scene, 1, 1, (th_vec2){0})};
    for (int k = 0; k < count; ++k) {
        th_vec2 at = random_place(p.scene, (int)level[k], heaped ? k : 1, heaps[level[k]]);
        th_vec2 goal = random_place(p.scene, 0, 1, at);
        x[k] = at.x;
        y[k] = at.y;
        vx[k] = random_between(-1.5f, 1.5f);
        vy[k] = random_between(-1.5f, 1.5f);
        radius[k] = random_between(0.1f, 0.3f);
        speed[k] = random_between(0.3f, 1.8f);
        mass[k] = random_between(40.0f, 110.0f);
        goal_x[k] = k % 5 ? goal.x : at.x; // some are there already
        goal_y[k] = k % 5 ? goal.y : at.y;
        goal_level[k] = 0;
        phase[k] = k % 4 ? TH_PHASE_WALKING : k % 8 ? TH_PHASE_STANDING : TH_PHASE_WAITING;
        until[k] = random_between(-1.0f, 1.0f); // half of those set off now
    }
    th_world_unmap(p.cpu, TH_FIELD_LEVEL);
    th_world *worlds[2] = {p.cpu, p.device};
    for (int w = 0; w < 2; ++w) {
        write_field(worlds[w], TH_FIELD_POSITION_X, x);
        write_field(worlds[w], TH_FIELD_POSITION_Y, y);
        write_field(worlds[w], TH_FIELD_VELOCITY_X, vx);
        write_field(worlds[w], TH_FIELD_VELOCITY_Y, vy);
        write_field(worlds[w], TH_FIELD_RADIUS, radius);
        write_field(worlds[w], TH_FIELD_SPEED, speed);
        write_field(worlds[w], TH_FIELD_MASS, mass);
        write_field(worlds[w], TH_FIELD_GOAL_X, goal_x);
        write_field(worlds[w], TH_FIELD_GOAL_Y, goal_y);
        write_field(worlds[w], TH_FIELD_GOAL_LEVEL, goal_level);
        write_field(worlds[w], TH_FIELD_PHASE, phase);
        write_field(worlds[w], TH_FIELD_WAIT_UNTIL, until);
    }
}

static pair floors_of(const char *models, double step) {
    char json[4096];
    snprintf(json, sizeof json, floors, models, models, models, step);
    return pair_of(json);
}

static void each_stage_on_random_crowds(void **state) {
    (void)state;
    static const struct {
        const char *what, *models;
        double step;
        bool heaped;
        const tolerance *within;
    } rows[] = {
        {"orca", TH_JSON("move": "orca"), 0.1, false, &ORCA_STEP},
         {"orca, heaps", TH_JSON("move": "orca"), 0.1, true, &ORCA_HEAP_STEP},
          {"straight", TH_JSON("plan": "straight", "move": "orca"), 0.1, false, &ORCA_STEP},
           {"filter", TH_JSON("filter": "densesense", "move": "orca"), 0.1, false, &ORCA_STEP},
            {"keep side", TH_JSON("filter": "keep_side", "move": "orca"), 0.1, false, &ORCA_STEP},
             {"social_force", TH_JSON("move": "social_force"), 0.1, true, &HEAP_STEP},
              {"helbing_molnar", TH_JSON("move": "helbing_molnar"), 0.1, true, &HEAP_STEP},
               {"pbd", TH_JSON("move": "pbd"), PBD_SUBSTEP, true, &PBD_STEP},
              };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        pair p = floors_of(rows[k].models, rows[k].step);
        difference d = {0};
        for (int crowd = 0; crowd < CROWDS; ++crowd) {
            scatter(p, rows[k].heaped);
            step_together(p, 1, *rows[k].within, rows[k].what, &d);
        }
        assert_within(d, *rows[k].within, rows[k].what);
        pair_end(p);
    }
}

// Heaps are under pressure, which no device finds to the CPU's bits.
static void uic_on_random_crowds(void **state) {
    (void)state;
    pair p = floors_of(TH_JSON("move": "uic"), 0.05);
    difference d = {0};
    for (int crowd = 0; crowd < CROWDS; ++crowd) {
        scatter(p, true);
        th_world_step(p.cpu, 1);
        th_world_step(p.device, 1);
        add_difference(&d, p.cpu, p.device, UIC_JAM_STEP);
        copy_state(p.cpu, p.device);
    }
    assert_within(d, UIC_JAM_STEP, "uic");
    pair_end(p);
}

// People lie in memory by cell, and in a cell by id: the same places on the device as on the CPU.
static void index_has_one_order(void **state) {
    (void)state;
    pair p = floors_of(TH_JSON("move": "orca"), 0.1);
    for (int crowd = 0; crowd < CROWDS; ++crowd) {
        scatter(p, true);
        th_world_statistics(p.cpu); // both sort
        th_world_statistics(p.device);
        th_refresh(p.device, TH_ALL_FIELDS);
        const th_agents *a = &p.cpu->agents, *b = &p.device->agents;
        const th_index *index = &p.cpu->index;
        assert_int_equal(a->count, b->count);
        for (int c = 0; c < index->cell_count; ++c)
            for (uint32_t i = index->cell_start[c]; i + 1 < index->cell_start[c + 1]; ++i)
                assert_true(b->id[i] < b->id[i + 1]);
        for (int i = 0; i < a->count; ++i) {
            assert_int_equal(a->id[i], b->id[i]);
            assert_true(a->position_x[i] == b->position_x[i] && a->radius[i] == b->radius[i]);
        }
        th_world_step(p.cpu, 1);
        copy_state(p.cpu, p.device);
    }
    pair_end(p);
}

// ---- that the comparison notices

typedef struct disturbance {
    th_field field;
    float by;
    uint32_t to; // for fields that count
} disturbance;

static difference disturbed(pair p, disturbance d, int people, tolerance t) {
    copy_state(p.cpu, p.device);
    void *view = th_world_map(p.device, d.field, TH_ACCESS_WRITE);
    assert_non_null(view);
    for (int k = 0; k < people; ++k) {
        if (d.by != 0.0f)
            ((float *)view)[k] += d.by;
        else
            ((uint32_t *)view)[k] = d.to;
    }
    th_world_unmap(p.device, d.field);
    difference found = {0};
    add_difference(&found, p.cpu, p.device, t);
    return found;
}

static void comparison_notices(void **state) {
    (void)state;
    static const disturbance all[] = {
        {TH_FIELD_POSITION_X, 1e-3f, 0},          {TH_FIELD_POSITION_Y, -1e-3f, 0},
        {TH_FIELD_VELOCITY_X, 2e-2f, 0},          {TH_FIELD_VELOCITY_Y, 2e-2f, 0},
        {TH_FIELD_PREFERRED_X, 2e-2f, 0},         {TH_FIELD_PREFERRED_Y, 2e-2f, 0},
        {TH_FIELD_PHASE, 0.0f, TH_PHASE_ARRIVED}, {TH_FIELD_LEG, 0.0f, 1},
    };
    static const tolerance *const within[] = {&ORCA_STEP, &FORCE_STEP, &UIC_STEP, &PBD_STEP,
                                              &HEAP_STEP};
    pair p = floors_of(TH_JSON("move": "orca"), 0.1);
    int count = th_world_agent_count(p.cpu);
    for (size_t w = 0; w < sizeof within / sizeof *within; ++w)
        for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
            tolerance t = *within[w];
            assert_int_equal(disturbed(p, all[k], 0, t).off, 0);
            difference one = disturbed(p, all[k], 1, t);
            assert_int_equal(one.off, 1);
            assert_int_equal(one.flipped, all[k].by == 0.0f);
            assert_int_equal(one.people, count);
            // More than may be, of a crowd of this size: the walk would fail.
            difference some = disturbed(p, all[k], off_allowed(count, t) + 1, t);
            assert_true(some.off > off_allowed(some.people, t));
        }
    // A little is not too much, and is told.
    difference little = disturbed(p, (disturbance){TH_FIELD_POSITION_X, 5e-6f, 0}, 1, ORCA_STEP);
    assert_int_equal(little.off, 0);
    assert_true(little.position > 2e-6 && little.position < 1e-5);
    // An agent that is in one world only.
    th_agent_id gone = {2};
    copy_state(p.cpu, p.device);
    assert_int_equal(th_world_remove(p.device, &gone, 1), 1);
    difference missing = {0};
    add_difference(&missing, p.cpu, p.device, ORCA_STEP);
    assert_true(missing.off == 1 && missing.flipped == 1 && missing.people == count);
    missing = (difference){0};
    add_difference(&missing, p.device, p.cpu, ORCA_STEP);
    assert_true(missing.off == 1 && missing.flipped == 1 && missing.people == count);
    pair_end(p);
}

// A device that says it is rough is one, else the tolerances were never tried.
static void rough_is_rough(void **state) {
    (void)state;
    pair p = floors_of(TH_JSON("move": "social_force"), 0.1);
    scatter(p, true);
    th_world_step(p.cpu, 1);
    th_world_step(p.device, 1);
    assert_int_equal(th_world_hash(p.cpu) == th_world_hash(p.device), device_is_exact());
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_on_random_crowds),
        cmocka_unit_test(uic_on_random_crowds),
        cmocka_unit_test(index_has_one_order),
        cmocka_unit_test(comparison_notices),
        cmocka_unit_test(rough_is_rough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
