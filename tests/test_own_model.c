// Models of a program's own: registering, running, mixing, saving, and messages about bad descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the models of this test

enum { PACE, REACH };
static const th_param_info params[] = {
    {"pace", "-", 0, 2, 1, "test", "of the preferred speed"},
    {"reach", "m", 0.1, 10, 2, "test", "how far they look"},
};
static const th_param fast[] = {{"pace", 1.5}};
static const th_preset_info presets[] = {{"fast", "half as fast again", fast, 1}};
static const th_field_info fields[] = {
    {"walked", true, true, "[m]", NULL},
    {"calls", false, true, "how often the function was called", NULL},
};

// Keeps away from every agent; remembers how far it went.
static th_vec2 move(const th_agent *me) {
    th_vec2 v = {me->params[PACE] * me->preferred.x, me->params[PACE] * me->preferred.y};
    for (int k = 0; k < me->neighbour_count; ++k) {
        const th_near_agent *other = &me->neighbours[k];
        float x = me->position.x - other->position.x, y = me->position.y - other->position.y;
        float push = expf(-5.0f * (other->distance - me->radius - other->radius));
        v.x += push * x;
        v.y += push * y;
    }
    v.x += 0.01f * (th_agent_random(me, 0) - 0.5f);
    me->own[0].real += hypotf(v.x, v.y) * me->step;
    me->own[1].number++;
    return v;
}

static void look(const float *values, th_sight *sight) { sight->neighbour_range = values[REACH]; }

static const th_model mover = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "mover",
    .doc = "keeps away",
    .source = "test",
    .params = params,
    .param_count = 2,
    .presets = presets,
    .preset_count = 1,
    .fields = fields,
    .field_count = 2,
    .agent = move,
    .look = look,
    .sight = {.neighbours = 8, .neighbour_range = 2},
};

// The same with bodies whose depth is a parameter.
static void slim_body(const float *values, th_body_rules *rules) { rules->depth = values[PACE]; }
static th_model slim;

static th_vec2 slower(const th_agent *me) {
    return (th_vec2){0.5f * me->preferred.x, 0.5f * me->preferred.y};
}
static const th_model slow_filter = {.cookie = TH_MODEL_COOKIE,
                                     .stage = TH_STAGE_FILTER,
                                     .name = "slower",
                                     .doc = "half as fast",
                                     .source = "test",
                                     .agent = slower};

static th_vec2 as_planned(const th_agent *me) { return me->preferred; }
static const th_model same_plan = {.cookie = TH_MODEL_COOKIE,
                                   .stage = TH_STAGE_PLAN,
                                   .name = "same",
                                   .doc = "what the field says",
                                   .source = "test",
                                   .needs_lattice = true,
                                   .agent = as_planned};

// Looks around and writes down what it sees; no agent moves.
static const th_field_info seen_fields[] = {
    {"people", false, false, "neighbours seen", NULL},
    {"walls", false, false, "walls seen", NULL},
    {"wall", true, false, "distance of the nearest wall [m]", NULL},
    {"first", false, false, "id of the nearest neighbour", NULL},
};
static th_vec2 watch(const th_agent *me) {
    for (int k = 1; k < me->neighbour_count; ++k)
        assert_true(me->neighbours[k - 1].distance <= me->neighbours[k].distance);
    for (int k = 1; k < me->wall_count; ++k)
        assert_true(me->walls[k - 1].distance <= me->walls[k].distance);
    me->own[0].number = (uint32_t)me->neighbour_count;
    me->own[1].number = (uint32_t)me->wall_count;
    me->own[2].real = me->wall_count ? me->walls[0].distance : -1.0f;
    me->own[3].number = me->neighbour_count ? me->neighbours[0].id : 0;
    return (th_vec2){0, 0};
}
static const th_model watcher = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "watcher",
    .doc = "looks around",
    .source = "test",
    .fields = seen_fields,
    .field_count = 4,
    .agent = watch,
    .sight = {.neighbours = 4, .neighbour_range = 20, .walls = 8, .wall_range = 3}};
static th_model x_ray; // the same, through walls

static th_vec2 nonsense(const th_agent *me) {
    me->own[0].real = (float)NAN;
    return (th_vec2){(float)NAN, INFINITY};
}
static const th_model broken = {.cookie = TH_MODEL_COOKIE,
                                .stage = TH_STAGE_MOVE,
                                .name = "broken",
                                .doc = "no number",
                                .source = "test",
                                .fields = fields,
                                .field_count = 1,
                                .agent = nonsense};
static const th_model broken_filter = {.cookie = TH_MODEL_COOKIE,
                                       .stage = TH_STAGE_FILTER,
                                       .name = "broken",
                                       .doc = "no number",
                                       .source = "test",
                                       .fields = fields,
                                       .field_count = 1,
                                       .agent = nonsense};

static int register_all(void **state) {
    (void)state;
    x_ray = watcher;
    x_ray.name = "x_ray";
    x_ray.sight.through_walls = true;
    slim = mover;
    slim.name = "slim";
    slim.body = slim_body;
    const th_model *const all[] = {&mover, &slow_filter, &same_plan,     &watcher,
                                   &x_ray, &broken,      &broken_filter, &slim};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) {
        th_error error = {0};
        if (th_model_register(all[k], &error) != TH_OK) fail_msg("%s", error.message);
    }
    return 0;
}

// A room with a door to the right and two groups in it.
static th_scene *room(const char *first, const char *second) {
    char json[2000];
    snprintf(
        json, sizeof json,
        TH_JSON({"levels": [{"id": "ground", "walkable": [[[0, 0], [12, 0], [12, 8], [0,
            8]]]}], "exits": [{"id": "door", "line": [[12, 3], [12, 5]]}],
            "groups": [{"id": "a", "area": [[0.5, 0.5], [6, 0.5], [6, 7.5], [0.5, 7.5]],
            "count": 40, "route": ["door"], %s}, {"id": "b", "area": [[6.5, 0.5], [10, 0.5],
            [10, 7.5], [6.5, 7.5]], "count": 20, "route": ["door"], %s}]}),
                                                                   first, second);
    return scene_of(json);
}

// `begin` computes the velocities of all agents from the preferred ones, and `agent` returns them.
static void turn_all(th_world *world, int model) {
    int count;
    const float *x = th_world_stored(world, TH_FIELD_PREFERRED_X, &count);
    const float *y = th_world_stored(world, TH_FIELD_PREFERRED_Y, &count);
    float *to_x = th_model_field(world, model, 0), *to_y = th_model_field(world, model, 1);
    for (int i = 0; i < count; ++i) {
        to_x[i] = -0.5f * x[i];
        to_y[i] = -0.5f * y[i];
    }
}

static th_vec2 hand_out(const th_agent *agent) {
    return (th_vec2){agent->own[0].real, agent->own[1].real};
}

static void begin_sees_all_agents(void **state) {
    (void)state;
    static const th_field_info pair[] = {{"x", true, false, "", NULL},
                                         {"y", true, false, "", NULL}};
    static th_model model;
    model = th_model_default();
    model.stage = TH_STAGE_FILTER;
    model.name = "turned";
    model.doc = model.source = "test";
    model.fields = pair;
    model.field_count = 2;
    model.begin = turn_all;
    model.agent = hand_out;
    assert_int_equal(th_model_register(&model, NULL), TH_OK);
    th_scene *scene = room(TH_JSON("filter": "turned"), TH_JSON("move": "orca"));
    assert_any_threads(scene, 3, 20);
    th_world *world = world_of(scene, 2, 1);
    float before[60];
    memcpy(before, field_of(world, TH_FIELD_POSITION_X), sizeof before);
    th_world_step(world, 5);
    const float *after = field_of(world, TH_FIELD_POSITION_X);
    // Ways of group a, whose people turn away from the door in the east, and of b.
    float moved[2] = {0.0f, 0.0f};
    for (int i = 0; i < 60; ++i) moved[i >= 40] += after[i] - before[i];
    assert_true(moved[0] < -2.0f && moved[1] > 2.0f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void registers_and_runs(void **state) {
    (void)state;
    int number = th_model_find(TH_STAGE_MOVE, "mover");
    assert_true(number >= 0);
    assert_ptr_equal(th_models(NULL)[number], &mover);
    th_scene *scene =
        room(TH_JSON("move": "mover"),
                     TH_JSON("behave": "route", "move": {"model": "mover", "pace": 0.8}));
    th_world *world = world_of(scene, 2, 1);
    run_to_end(world, 120);
    assert_true(th_world_done(world));
    assert_int_equal(th_world_statistics(world).left, 60);
    assert_int_equal(th_world_statistics(world).repairs, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Every stage, beside ORCA, in one scene: the same bits for any number of threads.
static void mixes_and_threads(void **state) {
    (void)state;
    th_scene *scene =
        room(TH_JSON("plan": "same", "filter": "slower", "move": "mover"), TH_JSON("move": "orca"));
    static const int threads[] = {1, 2, 3, 8};
    uint64_t hashes[4];
    for (int k = 0; k < 4; ++k) {
        th_world *world = world_of(scene, threads[k], 7);
        th_world_step(world, 150);
        assert_invariants(world);
        hashes[k] = th_world_hash(world);
        assert_int_equal(hashes[k], hashes[0]);
        th_world_destroy(world);
    }
    th_world *world = world_of(scene, 2, 7);
    assert_true(run_to_end(world, 200) < 200);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A plan that returns the engine's own preferred velocity gives the run of the built-in plan.
static void plan_and_filter(void **state) {
    (void)state;
    th_scene *own = room(TH_JSON("plan": "same"), TH_JSON("filter": "slower"));
    th_scene *plain = room(TH_JSON("plan": "field"), TH_JSON("filter": "none"));
    th_world *a = world_of(own, 2, 3), *b = world_of(plain, 2, 3);
    th_world_step(a, 1);
    th_world_step(b, 1);
    float *ax = field_of(a, TH_FIELD_PREFERRED_X), *bx = field_of(b, TH_FIELD_PREFERRED_X);
    float *group = field_of(a, TH_FIELD_GROUP);
    int seen[2] = {0, 0};
    for (int i = 0; i < th_world_agent_count(a); ++i) {
        uint32_t g;
        memcpy(&g, &group[i], sizeof g);
        assert_true(ax[i] == (g == 0 ? bx[i] : 0.5f * bx[i]));
        seen[g] += bx[i] != 0.0f;
    }
    assert_int_equal(seen[0], 40);
    assert_int_equal(seen[1], 20);
    th_world_destroy(a);
    th_world_destroy(b);
    th_scene_destroy(own);
    th_scene_destroy(plain);
}

static uint32_t *numbers_of(th_world *world, const char *field) {
    int number = th_world_field(world, field);
    assert_true(number >= TH_FIELD_COUNT);
    return (uint32_t *)(void *)field_of(world, number);
}

// Own values: 0 at first, they stay with their person while people are sorted, and only people of the model have them.
static void own_fields(void **state) {
    (void)state;
    th_scene *scene = room(TH_JSON("move": "mover"), TH_JSON("move": "orca"));
    th_world *world = world_of(scene, 3, 1);
    uint32_t *calls = numbers_of(world, "mover.calls");
    for (int i = 0; i < th_world_agent_count(world); ++i) assert_int_equal(calls[i], 0);
    th_world_step(world, 15);
    calls = numbers_of(world, "mover.calls");
    uint32_t *group = (uint32_t *)(void *)field_of(world, TH_FIELD_GROUP);
    float *walked = (float *)(void *)numbers_of(world, "mover.walked");
    assert_true(th_world_agent_count(world) > 40);
    for (int i = 0; i < th_world_agent_count(world); ++i) {
        assert_int_equal(calls[i], group[i] == 0 ? 15 : 0);
        assert_true(group[i] == 0 ? walked[i] > 0.1f : walked[i] == 0.0f);
    }
    assert_int_equal(th_world_field(world, "mover.nothing"), -1);
    assert_int_equal(th_world_field(world, "watcher.people"), -1); // no group uses it
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void snapshot(void **state) {
    (void)state;
    th_scene *scene = room(TH_JSON("move": "mover"), TH_JSON("move": "orca"));
    th_world *world = world_of(scene, 2, 1), *other = world_of(scene, 1, 2);
    th_world_step(world, 30);
    size_t size = th_world_snapshot_size(world);
    void *memory = malloc(size);
    assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_hash(other), th_world_hash(world));
    uint32_t *calls = numbers_of(other, "mover.calls");
    assert_int_equal(calls[0], 30);
    th_world_step(world, 30);
    th_world_step(other, 30);
    assert_int_equal(th_world_hash(other), th_world_hash(world));
    // A hashed field is part of the hash.
    int number = th_world_field(world, "mover.walked");
    uint64_t before = th_world_hash(world);
    float *walked = th_world_map(world, number, TH_ACCESS_WRITE);
    walked[0] += 1.0f;
    th_world_unmap(world, number);
    assert_true(th_world_hash(world) != before);
    free(memory);
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

// Two people with a wall between them, a third on the first one's side.
static void walls_block_sight(void **state) {
    (void)state;
    static const char format[] = TH_JSON({"levels": [{"id": "ground", "walkable": [[[0, 0],
            [20, 0], [20, 10], [0, 10]]], "walls": [[[6, 2], [6, 8]]]}],
            "groups": [{"id": "a", "positions": [[5, 5], [7.5, 5], [1, 5]], "move": "%s",
            "own_goal": {"mirror_x": [10, 5]}}], "run": {"duration": 10}});
    const char *const models[] = {"watcher", "x_ray"};
    for (int m = 0; m < 2; ++m) {
        char json[1000], name[40];
        snprintf(json, sizeof json, format, models[m]);
        th_scene *scene = scene_of(json);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 1);
        static const char *const of[] = {"people", "walls", "wall", "first"};
        uint32_t *seen[4];
        for (int f = 0; f < 4; ++f) {
            snprintf(name, sizeof name, "%s.%s", models[m], of[f]);
            seen[f] = numbers_of(world, name);
        }
        assert_int_equal(seen[0][0], m == 0 ? 1 : 2);
        assert_int_equal(seen[3][0], m == 0 ? 3 : 2);
        assert_int_equal(seen[0][1], m == 0 ? 0 : 2);
        // Each sees the face of the two-sided wall towards it.
        assert_int_equal(seen[1][0], 1);
        assert_float_equal(((float *)(void *)seen[2])[0], 1.0f, 1e-5f);
        assert_float_equal(((float *)(void *)seen[2])[1], 1.5f, 1e-5f);
        assert_float_equal(((float *)(void *)seen[2])[2], 1.0f, 1e-5f);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// NaN is repaired and counted; the run goes on and its snapshots can be restored.
static void nonsense_is_repaired_and_counted(void **state) {
    (void)state;
    th_scene *scene = room(TH_JSON("move": "broken"), TH_JSON("filter": "broken"));
    th_world *world = world_of(scene, 2, 1);
    th_world_step(world, 10);
    assert_invariants(world);
    // A velocity and a value of each of 40 and of 20 people.
    assert_int_equal(th_world_statistics(world).repairs, 2 * 10 * (40 + 20));
    size_t size = th_world_snapshot_size(world);
    void *memory = malloc(size);
    assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(world, memory, size, NULL), TH_OK);
    free(memory);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void an_own_allocator_is_used(void **state) {
    (void)state;
    th_scene *scene = room(TH_JSON("move": "mover"), TH_JSON("move": "watcher"));
    ledger book = {0};
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.allocator = (th_allocator){counted_alloc, counted_free, &book};
    th_world *world = NULL;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    int64_t all = book.allocations;
    th_world_step(world, 20);
    assert_int_equal(book.allocations, all); // a step allocates nothing
    th_world_destroy(world);
    assert_int_equal(book.bytes, 0);
    for (int64_t k = 1; k <= all; ++k) {
        book = (ledger){.fail_at = k};
        assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_NO_MEMORY);
        assert_int_equal(book.bytes, 0);
    }
    th_scene_destroy(scene);
}

// ---- errors

static void refuses(const th_model *model, const char *message) {
    th_error error = {0};
    int before, after;
    th_models(&before);
    assert_int_equal(th_model_register(model, &error), TH_BAD_ARGUMENT);
    assert_string_equal(error.message, message);
    th_models(&after);
    assert_int_equal(after, before);
}

#define REFUSES(change, message) \
    do {                         \
        th_model m = mover;      \
        m.name = "bad";          \
        change;                  \
        refuses(&m, message);    \
    } while (0)

static void bad_descriptions(void **state) {
    (void)state;
    refuses(NULL, "the description was not made by th_model_default(); start from it");
    REFUSES(m.cookie = 0, "the description was not made by th_model_default(); start from it");
    REFUSES(m.name = NULL,
            "a model needs a name of letters, digits and _, beginning with a letter");
    REFUSES(m.name = "two words",
            "a model needs a name of letters, digits and _, beginning with a letter");
    REFUSES(m.stage = TH_STAGE_CONTACT,
            "model \"bad\": stage must be TH_STAGE_BEHAVE, PLAN, FILTER or MOVE");
    REFUSES(m.doc = NULL, "model \"bad\" needs doc (one line) and source (paper or author)");
    REFUSES(m.agent = NULL, "model \"bad\" has no function that runs it; give `agent`, or `run` "
                            "for all people at once");
    REFUSES(m.run = th_models(NULL)[0]->run,
            "model \"bad\" has both `agent` and `run`; give one of them");
    REFUSES((m.agent = NULL, m.run = th_models(NULL)[0]->run, m.begin = m.run),
            "model \"bad\": `begin` goes before `agent`, which it lacks; `run` may do the same "
            "itself");
    REFUSES(m.stage = TH_STAGE_BEHAVE, "model \"bad\": `agent` returns a velocity, which is for "
                                       "plan, filter and move; a behave model has `run`");
    REFUSES(
        m.sight.neighbours = 17,
        "model \"bad\" wants to see 17 neighbours within 2 m; there are 0 to 16 within 0 to 50 m");
    REFUSES((m.sight.walls = 4, m.sight.wall_range = 60),
            "model \"bad\" wants to see 4 walls within 60 m; there are 0 to 64 within 0 to 50 m");
    REFUSES((m.look = NULL, m.sight.walls = 4), "model \"bad\": `sight` needs both a number and a "
                                                "range, of neighbours and of walls, or neither");
    REFUSES(m.is_default = true,
            "model \"bad\": is_default and internal are for the engine's own models");
    REFUSES(m.param_count = 49,
            "model \"bad\" has 49 parameters; there may be 0 to 48, in `params`");
    REFUSES(m.fields = NULL, "model \"bad\" has 2 fields; there may be 0 to 64, in `fields`");
    REFUSES(m.name = "orca",
            "there is a model \"orca\" of this stage already; give yours another name");
    REFUSES(m.name = "mover",
            "there is a model \"mover\" of this stage already; give yours another name");
}

static size_t no_bytes(const th_world *world, int model) {
    (void)world;
    (void)model;
    return 0;
}

static void deep_body(const float *values, th_body_rules *rules) {
    (void)values;
    rules->standing_yield = 3.0f;
}

// Rules for bodies: in force, and refused where they make no sense.
static void body_rules(void **state) {
    (void)state;
    REFUSES(m.body = deep_body, "model \"bad\": with these parameters its function `body` sets "
                                "standing_yield to 3; it must lie in 0.001 .. 0.5");
    REFUSES((m.stage = TH_STAGE_FILTER, m.body = slim_body),
            "model \"bad\" has `body`, which is for move models; leave it NULL");
    th_scene *scene = room(TH_JSON("radius": 0.2, "move": {"model": "slim", "pace": 0.5}),
                                   TH_JSON("move": "orca"));
    assert_float_equal(th_group_gap(&scene->groups[0], true), 0.2, 1e-6);
    th_world *world = world_of(scene, 1, 1);
    th_error error = {0};
    assert_int_equal(th_world_set_param(world, 0, "pace", 0.7, &error), TH_OK);
    assert_int_equal(th_world_set_param(world, 0, "pace", 1.5, &error), TH_BAD_ARGUMENT);
    assert_string_equal(error.message, "model \"slim\": with these parameters its function `body` "
                                       "sets depth to 1.5; it must lie in 0.01 .. 1");
    assert_float_equal(th_model_params(world, th_model_find(TH_STAGE_MOVE, "slim"), 0)[PACE], 0.7,
                       1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void bad_lists(void **state) {
    (void)state;
    static const th_param_info unnamed = {"", "-", 0, 1, 0, "test", "?"},
                               no_unit = {"p", NULL, 0, 1, 0, "test", "?"},
                               outside = {"p", "-", 0, 1, 2, "test", "?"};
    static const th_param_info twice[] = {{"p", "-", 0, 1, 0, "test", "?"},
                                          {"p", "-", 0, 1, 0, "test", "?"}};
    REFUSES((m.params = &unnamed, m.param_count = 1),
            "model \"bad\": parameter 0 has no name of letters, digits and _");
    REFUSES((m.params = &no_unit, m.param_count = 1),
            "model \"bad\": parameter \"p\" needs unit (\"-\" for none), source and doc");
    REFUSES((m.params = &outside, m.param_count = 1),
            "model \"bad\": the default 2 of \"p\" does not lie in 0 .. 1");
    REFUSES((m.params = twice), "model \"bad\" has two parameters \"p\"");
    static const th_param strange = {"speed", 1}, wide = {"pace", 9};
    static const th_preset_info strange_preset = {"s", NULL, &strange, 1},
                                wide_preset = {"w", NULL, &wide, 1}, nameless = {0};
    REFUSES(m.presets = NULL, "model \"bad\" has 1 presets, but `presets` is empty");
    REFUSES(m.presets = &nameless, "model \"bad\": preset 0 needs a name of letters, digits and _, "
                                   "and param_count values in `params`");
    REFUSES(m.presets = &strange_preset,
            "model \"bad\": preset \"s\" sets \"speed\", which is no parameter of it");
    REFUSES(m.presets = &wide_preset,
            "model \"bad\": preset \"w\" sets pace to 9; it must lie in 0 .. 2");
    static const th_field_info undocumented = {"f", true, true, NULL, NULL}, nothing = {0};
    static const th_field_info same[] = {{"f", true, true, "?", NULL},
                                         {"f", true, true, "?", NULL}};
    REFUSES((m.fields = &nothing, m.field_count = 1),
            "model \"bad\": field 0 has no name of letters, digits and _");
    REFUSES((m.fields = &undocumented, m.field_count = 1), "model \"bad\": field \"f\" needs doc");
    REFUSES(m.fields = same, "model \"bad\" has two fields \"f\"");
    REFUSES(m.saved_size = no_bytes, "model \"bad\" has 1 of saved_size, save, saved_is_sound and "
                                     "restore; give all, none or restore "
                                     "alone");
}

// Errors of scenes are reported as for the built-in models.
static void scene_error(const char *move, const char *message) {
    char json[600];
    snprintf(json, sizeof json,
             TH_JSON({"groups": [{"id": "a", "count": 3, "area": [[0, 0], [9, 0], [9, 9]],
            "move": %s}]}), move);
    th_scene *scene = NULL;
    th_error error = {0};
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_string_equal(error.message, message);
    assert_true(error.line == 1 && error.column > 1);
}

static void scene_errors(void **state) {
    (void)state;
    scene_error("\"moover\"", "unknown move model \"moover\"; did you mean \"mover\"?");
    scene_error(TH_JSON({"model": "mover", "paces": 1}),
                        "unknown parameter of mover \"paces\"; did you mean \"pace\"?");
    scene_error(TH_JSON({"model": "mover", "pace": 3}),
                        "pace is 3; it must lie in 0 .. 2  (default 1)");
    scene_error(TH_JSON({"model": "mover", "reach": 30}),
                        "reach is 30; it must lie in 0.1 .. 10 m (default 2)");
    scene_error(TH_JSON({"model": "slim", "pace": 1.5}),
                        "model \"slim\": with these parameters its function `body` sets depth to "
                        "1.5; it must lie in 0.01 .. 1");
    scene_error(TH_JSON({"model": "mover", "preset": "fats"}),
                        "unknown preset of mover \"fats\"; did you mean \"fast\"?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_runs),
        cmocka_unit_test(begin_sees_all_agents),
        cmocka_unit_test(mixes_and_threads),
        cmocka_unit_test(plan_and_filter),
        cmocka_unit_test(own_fields),
        cmocka_unit_test(snapshot),
        cmocka_unit_test(walls_block_sight),
        cmocka_unit_test(nonsense_is_repaired_and_counted),
        cmocka_unit_test(an_own_allocator_is_used),
        cmocka_unit_test(bad_descriptions),
        cmocka_unit_test(body_rules),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(scene_errors),
    };
    return cmocka_run_group_tests(tests, register_all, NULL);
}
