// Several behaviours of one group: what each decides, in which order, and what is refused. SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "behave/undecided/undecided.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// A square with four sights to visit, a shop and a show to be drawn to, and a gate to leave by.
static th_scene *square(const char *behave, const char *more, int people) {
    char json[2400];
    snprintf(
        json, sizeof json,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 30]},
                          "obstacles": [{"rect": [18, 12, 22, 18]}]}],
                      "exits": [{"id": "gate", "line": [[0, 10], [0, 20]]}],
                      "waiting_areas": [{"id": "n", "area": {"rect": [17, 24, 23, 29]}, "wait": 4},
                          {"id": "s", "area": {"rect": [17, 1, 23, 6]}, "wait": 4},
                          {"id": "e", "area": {"rect": [33, 12, 39, 18]}, "wait": 4}],
                      "interests": [
                          {"id": "shop", "layer": "shopping", "area": {"rect": [18, 12, 22, 18]}},
                          {"id": "show", "layer": "entertainment", "area": {"circle": [30, 24, 1]}}],
                      "groups": [{"count": %d, "area": {"rect": [1, 5, 12, 25]},
                          "route": ["n", "s", "e", "gate"], "behave": %s%s}],
                      "run": {"step": 0.1, "duration": 2000}}),
                                                          people, behave, more);
    return scene_of(json);
}

#define BOTH \
    TH_JSON([{"model": "undecided", "visits": 3}, {"model": "interest", "attract_rate": 1, \
              "browse_time": 3}])

static const uint32_t *words_of(th_world *world, const char *name) {
    int field = th_world_field(world, name);
    assert_true(field >= 0);
    return (const uint32_t *)(const void *)field_of(world, field);
}

// Thesis, 5.1 step 9: a person draws its goals and feels the fields of places, too. All agents visit, many look at a
// place on the way, none loses count of its visits, and all leave.
static void both_uncertainties(void **state) {
    (void)state;
    enum { PEOPLE = 40 };
    th_scene *scene = square(BOTH, "", PEOPLE);
    th_world *world = world_of(scene, 1, 1);
    uint32_t visits[PEOPLE] = {0}, looks[PEOPLE] = {0};
    while (!th_world_done(world) && th_world_time(world) < 1000.0) {
        th_world_step(world, 1);
        int inside = (int)th_world_statistics(world).inside;
        uint32_t *id = (uint32_t *)(void *)field_of(world, TH_FIELD_ID);
        const uint32_t *v = words_of(world, "undecided.visits"),
                       *l = words_of(world, "interest.looks");
        for (int k = 0; k < inside; ++k) {
            // A detour leaves the leg that was chosen as it is: a visit is one of a sight.
            assert_true(v[k] <= visits[id[k] - 1] + 1);
            visits[id[k] - 1] = v[k];
            looks[id[k] - 1] = l[k];
        }
    }
    assert_int_equal(th_world_statistics(world).inside, 0);
    int lookers = 0;
    for (int k = 0; k < PEOPLE; ++k) {
        assert_int_equal(visits[k], 3);
        lookers += looks[k] > 0;
    }
    assert_true(lookers > PEOPLE / 2);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static uint64_t hash_after(const th_scene *scene, int steps) {
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, steps);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

// The order of the list does not matter: what they decide does.
static void order_is_by_decision(void **state) {
    (void)state;
    th_scene *a = square("[\"undecided\",\"interest\",\"hidac\"]", "", 40),
             *b = square("[\"hidac\",\"interest\",\"undecided\"]", "", 40),
             *c = square("[\"undecided\",\"interest\"]", "", 40),
             *d = square("\"undecided\"", "", 40);
    uint64_t hash = hash_after(a, 400);
    assert_int_equal(hash, hash_after(b, 400));
    assert_int_not_equal(hash, hash_after(c, 400));
    assert_int_not_equal(hash_after(d, 400), hash_after(c, 400));
    th_scene_destroy(a), th_scene_destroy(b), th_scene_destroy(c), th_scene_destroy(d);
}

// With minds of HiDAC on top people still visit, look and leave; any number of threads and snapshots go on bit by bit.
static void three_together(void **state) {
    (void)state;
    th_scene *scene =
        square(TH_JSON([{"model": "undecided", "visits": 2},
        {"model": "interest", "attract_rate": 1, "browse_time": 3}, "hidac"]),
                        "", 40);
    assert_any_threads(scene, 3, 300);
    assert_restores(scene, 150, 150);
    th_world *world = world_of(scene, 1, 1);
    uint64_t most = 0;
    while (!th_world_done(world) && th_world_time(world) < 1000.0) {
        th_world_step(world, 10);
        int inside = (int)th_world_statistics(world).inside;
        uint32_t *leg = (uint32_t *)(void *)field_of(world, TH_FIELD_LEG);
        uint64_t away = 0;
        for (int k = 0; k < inside; ++k) away += leg[k] >= TH_DETOUR;
        most = away > most ? away : most;
    }
    assert_int_equal(th_world_statistics(world).inside, 0);
    assert_true(most > 5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Agents in panic do not look at a show.
static void panic_ends_detours(void **state) {
    (void)state;
    th_scene *scene =
        square(TH_JSON([{"model": "interest", "attract_rate": 5, "browse_time": 500},
        {"model": "hidac", "alarm_time": 30, "alarm_share": 1, "calming": 0}]),
                        "", 40);
    th_world *world = world_of(scene, 1, 1);
    int away[2];
    for (int k = 0; k < 2; ++k) {
        th_world_step(world, k ? 20 : 290);
        uint32_t *leg = (uint32_t *)(void *)field_of(world, TH_FIELD_LEG);
        away[k] = 0;
        for (int i = 0; i < (int)th_world_statistics(world).inside; ++i)
            away[k] += leg[i] >= TH_DETOUR;
    }
    assert_true(away[0] > 10);
    assert_true(away[1] < away[0] / 5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- planners under minds that decide where to go

// Counts those of the 150 people in scenes/guided/two_corridors.json that took the upper corridor; *hash after 20 s.
static int took_upper(const char *plan, const char *behave, uint64_t *hash) {
    const char *overrides[2] = {plan, behave};
    const th_scene_options options = {.overrides = overrides, .override_count = 2};
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_file(TH_SOURCE_DIR "/scenes/guided/two_corridors.json", &options, &scene,
                           &error) != TH_OK)
        fail_msg("%s", error.message);
    th_world *world = world_of(scene, 2, 1);
    th_world_step(world, 200);
    *hash = th_world_hash(world);
    run_to_end(world, 300.0);
    assert_int_equal(th_world_statistics(world).inside, 0);
    th_line_count line = th_world_line(world, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return (int)(line.forward + line.backward);
}

// A stroke leads people with minds as it leads those without, and every planner leads them its own way. People who do not
// know the way go where they look for it.
static void planners_lead_minds(void **state) {
    (void)state;
    uint64_t guided, field, continuum, exploring, quickest, usual;
    assert_int_equal(took_upper("groups.0.plan=guided", "groups.0.behave=hidac", &guided), 150);
    int upper = took_upper("groups.0.plan=field", "groups.0.behave=hidac", &field);
    assert_true(upper > 30 && upper < 120);
    took_upper("groups.0.plan=continuum", "groups.0.behave=hidac", &continuum);
    assert_int_not_equal(guided, field);
    assert_int_not_equal(continuum, field);
    assert_int_not_equal(continuum, guided);
    // The usual planner weighs ways; a mind that does so itself has the shortest one unless the scene asks for it.
    took_upper("groups.0.plan=quickest", "groups.0.behave=hidac", &quickest);
    assert_int_not_equal(quickest, field);
    took_upper("groups.0.plan={}", "groups.0.behave=hidac", &usual);
    assert_int_equal(usual, field);
    upper = took_upper("groups.0.plan=guided",
                       "groups.0.behave={\"model\": \"hidac\", \"knows_all\": 0}", &exploring);
    assert_true(upper < 120);
}

// A plan that no agent of a group heeds is told.
static void idle_plan_is_told(void **state) {
    (void)state;
    for (int knows = 0; knows < 2; ++knows) {
        char json[800];
        snprintf(json, sizeof json,
                 TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
                          "exits": [{"id": "out", "line": [[10, 4], [10, 6]]}],
                          "groups": [{"id": "g", "count": 2, "to": "out", "plan": "guided",
                              "behave": {"model": "hidac", "knows_all": %d}}]}),
                                                knows);
        th_scene *scene = scene_of(json);
        th_doubt doubts[4];
        int count = th_scene_doubts(scene, doubts, 4), told = 0;
        for (int k = 0; k < count; ++k)
            told += strstr(doubts[k].text, "the plan \"guided\" has no effect") != NULL;
        assert_int_equal(told, 1 - knows);
        th_scene_destroy(scene);
    }
}

// ---- what is refused

static int decides_leg_run_count;
static void count_runs(th_world *world, int model) {
    (void)world, (void)model;
    ++decides_leg_run_count;
}

static void refuse(const char *behave, const char *path, const char *wanted) {
    char json[800];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 10, 10]}}],
                      "exits": [{"id": "out", "line": [[10, 4], [10, 6]]}],
                      "groups": [{"count": 2, "to": "out", "behave": %s}]}),
                                            behave);
    th_scene *scene = NULL;
    th_error error = {0};
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.message, wanted)) fail_msg("%s", error.message);
    assert_string_equal(error.path, path);
}

static void conflicts_are_refused(void **state) {
    (void)state;
    th_model lots = th_model_default();
    lots.stage = TH_STAGE_BEHAVE;
    lots.name = "lots";
    lots.doc = "draws the next leg by lot";
    lots.source = "this test";
    lots.run = count_runs;
    lots.decides = TH_DECIDES_LEG | TH_DECIDES_SPEED;
    static th_model kept;
    kept = lots;
    th_error error = {0};
    assert_int_equal(th_model_register(&kept, &error), TH_OK);
    refuse("[\"undecided\",\"lots\"]", "groups[0].behave[1]",
           "the behaviours \"undecided\" and \"lots\" both decide the next leg of the route; take "
           "one");
    refuse("[\"hidac\",\"hidac\"]", "groups[0].behave[1]", "\"hidac\" is listed twice");
    refuse("[]", "groups[0].behave", "a list of at least one");
    refuse("[\"hidac\",\"intrest\"]", "groups[0].behave[1]", "did you mean \"interest\"?");
    refuse(TH_JSON(["hidac", {"model": "interest", "refractory": -1}]),
                    "groups[0].behave[1].refractory", "it must lie in");
    // Together with what decides something else it runs, and `route` with it.
    th_scene *scene = square("[\"lots\",\"interest\"]", "", 5);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 3);
    assert_int_equal(decides_leg_run_count, 3);
    assert_true(th_world_field(world, "interest.looks") >= 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Parameters of one of several: by its name where two have one of the same name, and in overrides.
static void parameters_of_several(void **state) {
    (void)state;
    th_scene *scene = square(BOTH, "", 5);
    th_world *world = world_of(scene, 1, 1);
    int undecided = th_model_find(TH_STAGE_BEHAVE, "undecided"),
        interest = th_model_find(TH_STAGE_BEHAVE, "interest");
    th_error error = {0};
    assert_int_equal(th_world_set_param(world, 0, "interest.longest_way", 33.0, &error), TH_OK);
    assert_int_equal(th_world_set_param(world, 0, "visits", 7.0, &error), TH_OK);
    const th_interest_params *i =
        (const th_interest_params *)(const void *)th_model_params(world, interest, 0);
    const th_undecided_params *u =
        (const th_undecided_params *)(const void *)th_model_params(world, undecided, 0);
    assert_near(i->longest_way, 33.0, 0.0);
    assert_near(u->longest_way, 120.0, 0.0);
    assert_near(u->visits, 7.0, 0.0);
    assert_null(th_model_params(world, th_model_find(TH_STAGE_BEHAVE, "hidac"), 0));
    th_world_destroy(world);
    th_scene_destroy(scene);
    const char *overrides[] = {"groups.0.behave=[\"undecided\",\"interest\"]",
                               "groups.0.behave.interest.refractory=5"};
    const th_scene_options options = {.overrides = overrides, .override_count = 2};
    assert_int_equal(
        th_scene_load_file(TH_SOURCE_DIR "/scenes/undecided/sights.json", &options, &scene, &error),
        TH_OK);
    assert_int_equal(scene->groups[0].behave_count, 2);
    i = (const th_interest_params *)(const void *)scene->groups[0].behave[1].params;
    assert_near(i->refractory, 5.0, 0.0);
    th_scene_destroy(scene);
}

// ---- the draw by density, the mask per person

// With density alone people choose the sight that no people stand before.
static void density_in_the_draw(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}],
        "waiting_areas": [{"id": "full", "area": {"rect": [30, 13, 34, 17]}, "wait": 5},
            {"id": "free", "area": {"rect": [30, 3, 34, 7]}, "wait": 5}],
        "groups": [{"count": 60, "density": 0, "area": {"rect": [26, 11, 30, 19]}},
            {"id": "choosers", "count": 200, "area": {"rect": [1, 1, 12, 19]}, "route": ["full", "free"],
             "behave": {"model": "undecided", "visibility_weight": 0, "history_weight": 0,
                 "distance_weight": 0, "density_weight": 1, "crowded_density": 0.01}}],
        "run": {"step": 0.1, "duration": 100}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 1);
    uint32_t *group = (uint32_t *)(void *)field_of(world, TH_FIELD_GROUP),
             *leg = (uint32_t *)(void *)field_of(world, TH_FIELD_LEG);
    int to_free = 0;
    for (int k = 0; k < 260; ++k) to_free += group[k] == 1 && leg[k] == 1;
    assert_true(to_free > 190); // a hundredth of the rating is left for the other
    th_world_destroy(world);
    th_scene_destroy(scene);
    assert_near(th_sight_room(0.0f, 1.0f), 1.0, 0.0);
    assert_near(th_sight_room(2.0f, 2.0f), 0.5, 1e-6);
}

// The share of many people cares for a layer, for two layers independently of each other, and always the same ones.
static void masks(void **state) {
    (void)state;
    int first = 0, both = 0;
    for (uint32_t id = 1; id <= 10000; ++id) {
        bool a = th_interest_cares(1, id, 0, 0.3f), b = th_interest_cares(1, id, 1, 0.3f);
        assert_int_equal(a, th_interest_cares(1, id, 0, 0.3f));
        first += a;
        both += a && b;
    }
    assert_near(first, 3000, 4 * 46);
    assert_near(both, 900, 4 * 29);
    assert_true(th_interest_cares(1, 7, 0, 1.0f));
    // Agents without interests do not look.
    th_scene *scene =
        square(TH_JSON({"model": "interest", "attract_rate": 5, "mask_share": 0}), "", 20);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 300);
    const uint32_t *looks = words_of(world, "interest.looks");
    for (int k = 0; k < (int)th_world_statistics(world).inside; ++k) assert_int_equal(looks[k], 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- all of Cheng's thesis in one scene, and with HiDAC minds among the crowd

typedef struct bridge_side {
    double y[2]; // sums of those on the bridge who walk east, west
    int count[2];
} bridge_side;

static void look_at_bridge(th_world *world, int people, bridge_side *b) {
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y),
                *v = field_of(world, TH_FIELD_VELOCITY_X);
    th_point origin = th_world_scene(world)->origin;
    for (int k = 0; k < people; ++k) {
        double at = (double)x[k] + origin.x;
        if (at < 30 || at > 36 || fabsf(v[k]) < 0.3f) continue;
        b->y[v[k] < 0] += (double)y[k] + origin.y;
        ++b->count[v[k] < 0];
    }
}

// The streams of a festival keep to the right on the bridge (sub-domain field), people gather at the show while it lasts and
// go on after it (Eulerian), visitors see two sights each (Lagrangian), and all leave.
static void the_thesis_in_one_scene(void **state) {
    (void)state;
    static const char *const names[] = {"festival", "festival_minds"};
    for (int n = 0; n < 2; ++n) {
        char path[512];
        th_scene *scene = NULL;
        th_error error = {0};
        snprintf(path, sizeof path, "%s/scenes/thesis/%s.json", TH_SOURCE_DIR, names[n]);
        if (th_scene_load_file(path, NULL, &scene, &error) != TH_OK) fail_msg("%s", error.message);
        th_world *world = world_of(scene, 1, 1);
        bridge_side b = {{0, 0}, {0, 0}};
        int watching[2] = {0, 0}, visits = 0; // of the show while it lasts, afterwards
        while (!th_world_done(world) && th_world_time(world) < scene->run.max_time) {
            th_world_step(world, 5);
            int people = (int)th_world_statistics(world).inside;
            if (people == 0) break;
            look_at_bridge(world, people, &b);
            const uint32_t *leg = words_of(world, "leg"), *group = words_of(world, "group"),
                           *seen = words_of(world, "undecided.visits");
            int at_show = 0, all = 0;
            for (int k = 0; k < people; ++k) {
                at_show += leg[k] >= 3 * TH_DETOUR;
                all += group[k] == 2 ? (int)seen[k] : 0;
            }
            visits = all > visits ? all : visits;
            int later = th_world_time(world) > 60.5;
            watching[later] = at_show > watching[later] ? at_show : watching[later];
        }
        assert_int_equal(th_world_statistics(world).inside, 0);
        assert_invariants(world);
        double apart = b.y[1] / fmax(1, b.count[1]) - b.y[0] / fmax(1, b.count[0]);
        print_message("%s: streams %.1f m apart, %d at the show, %d after it, %d sights at once\n",
                      names[n], apart, watching[0], watching[1], visits);
        assert_true(apart > 2.0);
        assert_true(watching[0] >= 5);
        assert_int_equal(watching[1], 0);
        assert_true(visits > 20);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_uncertainties),      cmocka_unit_test(order_is_by_decision),
        cmocka_unit_test(three_together),          cmocka_unit_test(panic_ends_detours),
        cmocka_unit_test(planners_lead_minds),     cmocka_unit_test(idle_plan_is_told),
        cmocka_unit_test(conflicts_are_refused),   cmocka_unit_test(parameters_of_several),
        cmocka_unit_test(density_in_the_draw),     cmocka_unit_test(masks),
        cmocka_unit_test(the_thesis_in_one_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
