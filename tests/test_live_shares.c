// Shares that decide what an agent is like, changed while the crowd walks: the agents concerned are drawn anew, as a world
// that had begun with the share would have drawn them. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "behave/undecided/undecided.h"
#include "move/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 80 };

// A hall with two rooms; `models` is the group's choice of models.
static th_world *walkers(const char *models, th_scene **scene) {
    char json[1500];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 30, 20]}, "walls": [[[15, 0], [15, 12]]]}],
            "waypoints": [{"id": "a", "area": {"rect": [3, 15, 6, 18]}},
                {"id": "b", "area": {"rect": [20, 2, 24, 5]}}],
            "exits": [{"id": "out", "line": [[30, 4], [30, 16]]}],
            "groups": [{"count": 80, "area": {"rect": [1, 1, 13, 13]}, "route": ["a", "b", "out"], %s}],
            "run": {"duration": 100}}),
                                                        models);
    *scene = scene_of(json);
    return world_of(*scene, 2, 5);
}

// The agents that have one of `bits` in an own field (for floats: above 1.5), by id.
typedef struct trait {
    const char *param, *models,
        *models_with; // the last: the same world with half the share from the beginning
    th_stage stage;
    const char *model;
    int field;
    uint32_t bits; // 0: a float; UINT32_MAX: the phase
} trait;

static int who_has(th_world *world, const trait *t, bool *has) {
    int count = th_world_agent_count(world), all = 0;
    int field = t->field;
    if (t->bits != UINT32_MAX) {
        char name[80];
        int number = th_model_find(t->stage, t->model);
        snprintf(name, sizeof name, "%s/%s.%s", th_stage_name(t->stage), t->model,
                 th_models(NULL)[number]->fields[t->field].name);
        field = th_world_field(world, name);
    }
    const void *values = th_world_map(world, field, TH_ACCESS_READ);
    for (int k = 0; k < count; ++k) {
        uint32_t word = ((const uint32_t *)values)[k];
        has[k] = t->bits == UINT32_MAX ? word == TH_PHASE_FALLEN
                 : t->bits == 0        ? ((const float *)values)[k] > 1.5f
                                       : (word & t->bits) != 0;
        all += has[k];
    }
    th_world_unmap(world, field);
    assert_int_equal(count, PEOPLE);
    return all;
}

static void set(th_world *world, const char *param, double value) {
    th_error error = {0};
    if (th_world_set_param(world, 0, param, value, &error) != TH_OK)
        fail_msg("%s: %s", param, error.message);
}

#define MIND(share) "\"behave\": {\"model\": \"hidac\", \"knows_all\": 0, " share "}"
#define MOVE(share) "\"move\": {\"model\": \"hidac\", " share "}"
#define UNDECIDED(share) "\"behave\": {\"model\": \"undecided\", " share "}"
#define HALF(name) "\"" name "\": 0.5"
#define NONE(name) "\"" name "\": 0"
#define MIND_TRAIT(name, BIT) \
    { name, MIND(NONE(name)), MIND(HALF(name)), TH_STAGE_BEHAVE, "hidac", TH_MIND_NATURE, BIT }

static const trait traits[] = {
    {"knows_all", "\"behave\": {\"model\": \"hidac\", \"knows_all\": 0}",
     "\"behave\": {\"model\": \"hidac\", \"knows_all\": 0.5}", TH_STAGE_BEHAVE, "hidac",
     TH_MIND_NATURE, TH_MIND_KNOWS_ALL},
    MIND_TRAIT("knows_way_in", TH_MIND_KNOWS_WAY_IN),
    MIND_TRAIT("trained", TH_MIND_TRAINED),
    MIND_TRAIT("followers", TH_MIND_FOLLOWER),
    MIND_TRAIT("anxious", TH_MIND_ANXIOUS),
    MIND_TRAIT("polite", TH_MIND_POLITE),
    MIND_TRAIT("impatient", TH_MIND_IMPATIENT),
    {"panic", MOVE(NONE("panic")), MOVE(HALF("panic")), TH_STAGE_MOVE, "hidac", TH_HIDAC_PANIC, 0},
    {"lies", MOVE(NONE("lies")), MOVE(HALF("lies")), TH_STAGE_MOVE, "hidac", TH_FIELD_PHASE,
     UINT32_MAX},
    {"share", UNDECIDED(NONE("share")), UNDECIDED(HALF("share")), TH_STAGE_BEHAVE, "undecided",
     TH_UNDECIDED_NATURE, 1},
};

static void redraws(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof traits / sizeof *traits; ++t) {
        const trait *one = &traits[t];
        th_scene *scene, *other_scene;
        th_world *world = walkers(one->models, &scene),
                 *other = walkers(one->models_with, &other_scene);
        bool none[PEOPLE], some[PEOPLE], half[PEOPLE], all[PEOPLE], from_start[PEOPLE];
        th_world_step(world, 3);
        assert_int_equal(who_has(world, one, none), 0);
        set(world, one->param, 0.3);
        int few = who_has(world, one, some);
        set(world, one->param, 0.5);
        int more = who_has(world, one, half);
        if (!(few > 0.15 * PEOPLE && few < more && more < 0.7 * PEOPLE))
            fail_msg("%s: %d of %d have 0.3, %d have 0.5", one->param, few, PEOPLE, more);
        // As if it had begun so.
        th_world_step(other, 3);
        who_has(other, one, from_start);
        for (int k = 0; k < PEOPLE; ++k) {
            assert_true(!some[k] || half[k]);
            assert_int_equal(half[k], from_start[k]);
        }
        set(world, one->param, 1.0);
        assert_int_equal(who_has(world, one, all), PEOPLE);
        set(world, one->param, 0.5);
        who_has(world, one, all);
        assert_memory_equal(all, half, sizeof all);
        set(world, one->param, 0.0);
        assert_int_equal(who_has(world, one, all), 0);
        assert_int_equal(th_world_statistics(world).fallen, 0);
        assert_invariants(world);
        th_world_destroy(world);
        th_world_destroy(other);
        th_scene_destroy(scene);
        th_scene_destroy(other_scene);
    }
}

// Values that cannot act are refused, and the old value stays.
static void refuses(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = walkers("\"behave\": \"hidac\"", &scene);
    th_error error = {0};
    assert_int_equal(th_world_set_param(world, 0, "companions", 3, &error), TH_BAD_ARGUMENT);
    assert_string_equal(error.message,
                        "companions: the group began without companions, and there is no room for "
                        "them in this world; change it in the scene and start anew");
    assert_int_equal(th_world_set_param(world, 0, "knows_way_in", 0.5, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "together with knows_all more than 1"));
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A scene with another share that takes the people over draws anew as well.
static void goes_on(void **state) {
    (void)state;
    const trait *panic = &traits[7];
    th_scene *scene, *changed;
    th_world *world = walkers(panic->models, &scene), *with = walkers(panic->models_with, &changed);
    bool half[PEOPLE], after[PEOPLE];
    th_world_step(world, 3);
    th_world_step(with, 3);
    who_has(with, panic, half);
    th_world_def def = th_world_def_default();
    th_world *next = NULL;
    int lost;
    assert_int_equal(th_world_continue(changed, &def, world, &lost, &next, NULL), TH_OK);
    who_has(next, panic, after);
    assert_memory_equal(after, half, sizeof after);
    th_world_destroy(next);
    th_world_destroy(world);
    th_world_destroy(with);
    th_scene_destroy(scene);
    th_scene_destroy(changed);
}

// ---- every parameter of every model

// A hall of three rooms with a door that shuts, places, strokes, strips and uneven ground, so that most parameters matter.
static th_scene *busy_scene(const th_model *model, const th_param_info *param, double value) {
    char json[4000], choice[200];
    snprintf(choice, sizeof choice, "{\"model\": \"%s\"%s%s%s%.17g}", model->name,
             param ? ", \"" : "", param ? param->name : "", param ? "\": " : "",
             param ? value : 0.0);
    if (!param) snprintf(choice, sizeof choice, "\"%s\"", model->name);
    snprintf(
        json, sizeof json,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 24, 12]},
            "walls": [[[12, 0], [12, 5]], [[12, 6.5], [12, 12]], [[18, 0], [18, 4]], [[18, 8], [18, 12]]]}],
            "doors": [{"id": "gate", "line": [[18, 4], [18, 8]], "closed": true, "schedule": [[2, "open"], [4, "close"]]}],
            "zones": [{"area": {"rect": [3, 3, 6, 6]}, "discomfort": 2, "speed": 0.8}],
            "interests": [{"area": {"rect": [5, 10, 8, 12]}}],
            "guidance": [{"line": [[2, 2], [8, 9], [12, 6]]}],
            "strips": [{"line": [[2, 6], [22, 6]], "width": 4}],
            "waypoints": [{"id": "a", "area": {"rect": [9, 1, 11, 4]}}, {"id": "b", "area": {"rect": [13, 8, 16, 11]}}],
            "exits": [{"id": "out", "line": [[24, 2], [24, 10]]}, {"id": "in", "line": [[0, 2], [0, 10]]}],
            "groups": [{"id": "first", "count": 40, "area": {"rect": [1, 1, 10, 11]}, "route": [["a", "b"], "b", "out"], "%s": %s},
                {"id": "others", "count": 15, "area": {"rect": [13, 1, 17, 11]}, "to": "in"}],
            "run": {"duration": 100}}),
                                                                  th_stage_name(model->stage),
                                                                  choice);
    th_error error = {0};
    th_scene *scene = NULL;
    th_scene_load_json(json, strlen(json), "busy", NULL, NULL, &scene, &error);
    return scene; // NULL: the value does not fit the others
}

enum { LIVE_STEPS = 40 };

// The parameter is set before the first step; NULL: none.
static uint64_t hash_after(th_scene *scene, const char *param, double value, bool *refused) {
    th_world *world = world_of(scene, 1, 5);
    th_error error = {0};
    if (param) *refused = th_world_set_param(world, 0, param, value, &error) != TH_OK;
    th_world_step(world, LIVE_STEPS);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

// UIC's cells keep the size that the world was made with, which follows from d_min.
static bool acts_in_part(const th_model *model, const char *param) {
    return strcmp(model->name, "uic") == 0 && strcmp(param, "d_min") == 0;
}

static void a_name_of_two_models_is_refused(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 9, 9]}}], "exits": [{"id": "out", "line": [[9, 2], [9, 8]]}],
         "groups": [{"count": 2, "area": {"rect": [1, 1, 8, 8]}, "to": "out", "plan": "quickest", "move": "people"}]}));
    th_world *world = world_of(scene, 1, 1);
    th_error error = {0};
    assert_int_equal(th_world_set_param(world, 0, "sight", 5, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "quickest.sight or people.sight"));
    assert_int_equal(th_world_set_param(world, 0, "people.sight", 5, &error), TH_OK);
    assert_int_equal(th_world_set_param(world, 0, "quickest.sight", 5, &error), TH_OK);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Set in a world before its first step, the value acts like the scene's own, or it is refused.
static void check_param(th_scene *usual, uint64_t before, const th_model *model,
                        const th_param_info *info, double value, bool *acts) {
    th_scene *given = busy_scene(model, info, value);
    if (!given) return;
    uint64_t wanted = hash_after(given, NULL, 0.0, NULL);
    th_scene_destroy(given);
    if (wanted == before) return;
    *acts = true;
    bool refused = false;
    char name[100]; // several models of the group may have the parameter
    snprintf(name, sizeof name, "%s.%s", model->name, info->name);
    uint64_t hash = hash_after(usual, name, value, &refused);
    if (!refused && hash != wanted && (hash == before || !acts_in_part(model, info->name)))
        fail_msg("%s %s: %s = %g set in a world is not what it is in the scene%s",
                 th_stage_name(model->stage), model->name, info->name, value,
                 hash == before ? ", and does nothing" : "");
}

static void every_parameter_acts_live(void **state) {
    (void)state;
    int count, all = 0, seen = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (models[m]->internal || models[m]->param_count == 0) continue;
        th_scene *usual = busy_scene(models[m], NULL, 0.0);
        assert_non_null(usual);
        uint64_t before = hash_after(usual, NULL, 0.0, NULL);
        for (int p = 0; p < models[m]->param_count; ++p) {
            const th_param_info *info = &models[m]->params[p];
            const double values[] = {info->max, info->min, 0.5 * (info->min + info->max)};
            bool acts = false;
            for (int v = 0; v < 3 && !acts; ++v)
                check_param(usual, before, models[m], info, values[v], &acts);
            ++all;
            seen += acts;
        }
        th_scene_destroy(usual);
    }
    print_message("  %d of %d parameters matter in this scene\n", seen, all);
    assert_true(seen > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redraws),
        cmocka_unit_test(refuses),
        cmocka_unit_test(goes_on),
        cmocka_unit_test(a_name_of_two_models_is_refused),
        cmocka_unit_test(every_parameter_acts_live),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
