// Kinds of people: mixtures drawn by the seed, their speeds and bodies, and the ways that they never use.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/findings.h"
#include <stdlib.h>
#include <string.h>

#define HALL \
    TH_JSON("levels": [{"walkable": {"rect": [0, 0, 60, 60]}}], "exits": [{"id": "out", "line": [[0, 20], [0, 40]]}],)

static const th_group *group_named(const th_scene *scene, const char *id, int *index) {
    for (int g = 0; g < scene->group_count; ++g)
        if (strcmp(scene->groups[g].id, id) == 0) {
            *index = g;
            return &scene->groups[g];
        }
    fail_msg("no group %s", id);
    return NULL;
}

static int members(th_world *world, int group) {
    const uint32_t *groups = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    int found = 0;
    for (int i = 0; i < th_world_agent_count(world); ++i) found += groups[i] == (uint32_t)group;
    th_world_unmap(world, TH_FIELD_GROUP);
    return found;
}

static void a_mixture_is_drawn_by_the_seed(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" HALL TH_JSON(
        "groups": [{"id": "other", "count": 10}, {"id": "all", "count": 1000, "profiles": {"adult": 3, "wheelchair": 1}}]
}));
int adult = -1, chair = -1;
const th_group *a = group_named(scene, "all/adult", &adult);
const th_group *w = group_named(scene, "all/wheelchair", &chair);
assert_int_equal(a->count, 750);
assert_int_equal(w->count, 250);
assert_string_equal(w->part.profile, "wheelchair");
assert_int_equal(w->part.place, 1);
int seen[6], different = 0;
double mean = 0.0;
for (int seed = 0; seed < 6; ++seed) {
    th_world *world = world_of(scene, 1, (uint64_t)seed + 1);
    seen[seed] = members(world, chair);
    assert_int_equal(seen[seed] + members(world, adult), 1000);
    assert_in_range(seen[seed], 250 - 55, 250 + 55); // four deviations of a binomial
    mean += seen[seed] / 6.0;
    different += seed > 0 && seen[seed] != seen[0];
    th_world_destroy(world);
}
assert_true(different > 0);
assert_near(mean, 250.0, 25.0);
assert_any_threads(scene, 2, 5);
assert_restores(scene, 5, 5);
th_scene_destroy(scene);
}

static void people_of_a_kind_have_its_values(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" HALL TH_JSON(
        "profiles": [{"id": "slow", "like": "wheelchair", "speed": 0.4, "premovement": 7}],
        "groups": [{"id": "all", "count": 200, "mass": 60, "profiles": {"slow": 1, "child": 1}}]
}));
th_world *world = world_of(scene, 1, 1);
int slow = -1;
group_named(scene, "all/slow", &slow);
const uint32_t *group = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
const float *speed = th_world_map(world, TH_FIELD_SPEED, TH_ACCESS_READ);
const float *radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
const float *mass = th_world_map(world, TH_FIELD_MASS, TH_ACCESS_READ);
const float *wait = th_world_map(world, TH_FIELD_WAIT_UNTIL, TH_ACCESS_READ);
for (int i = 0; i < 200; ++i) {
    bool is_slow = group[i] == (uint32_t)slow;
    assert_near(radius[i], is_slow ? 0.35 : 0.14, 1e-6);
    assert_near(mass[i], 60.0, 1e-6); // the group's own: no profile gives it
    assert_near(wait[i], is_slow ? 7.0 : 0.0, 1e-6);
    assert_true(is_slow ? fabsf(speed[i] - 0.4f) < 1e-6f : speed[i] >= 0.69f && speed[i] <= 1.33f);
}
assert_int_equal(scene->groups[slow].rigid, TH_RIGID_ALWAYS);
th_world_destroy(world);
th_scene_destroy(scene);
}

static void a_source_brings_all_kinds(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" HALL TH_JSON(
        "groups": [{"id": "all", "profiles": {"adult": 1, "child": 1}, "source": {"timetable": [[0, 200]]}, "route": []}]
}));
th_world *world = world_of(scene, 1, 1);
th_world_step(world, 200);
int adults = members(world, 0), children = members(world, 1);
assert_int_equal(adults + children, 200);
assert_in_range(children, 60, 140);
th_world_destroy(world);
th_scene_destroy(scene);
}

static void given_positions_are_all_taken(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" HALL TH_JSON(
        "groups": [{"positions": [[5, 5], [7, 5], [9, 5], [11, 5], [13, 5]], "profiles": {"adult": 2, "child": 1}}]
}));
assert_int_equal(scene->group_count, 2);
th_world *world = world_of(scene, 1, 3);
float *x = field_of(world, TH_FIELD_POSITION_X);
assert_int_equal(th_world_agent_count(world), 5);
for (int i = 0; i < 5; ++i) assert_near(x[i], 5.0 + 2.0 * i, 1e-6);
th_world_destroy(world);
th_scene_destroy(scene);
}

// Each as a program gives it, without a file.
static void built_in_kinds_are_good(void **state) {
    (void)state;
    int count = 0;
    const th_profile_def *profiles = th_profiles(&count);
    assert_true(count > 10);
    const th_shape ground = {.wkt = "POLYGON ((0 0, 20 0, 20 20, 0 20, 0 0))"};
    th_level_def level = th_level_def_default();
    level.walkable = &ground;
    level.walkable_count = 1;
    th_profile_def own = th_profile_def_default();
    own.id = "own";
    own.has_mass = true;
    own.mass.a = 50.0;
    for (int k = 0; k < count; ++k) {
        assert_true(profiles[k].has_speed && *profiles[k].doc && *profiles[k].source);
        const th_share_def shares[] = {{profiles[k].id, 1.0}, {"own", 1.0}};
        th_group_def group = th_group_def_default();
        group.count = 20;
        group.shares = shares;
        group.share_count = 2;
        own.like = profiles[k].id;
        th_scene_def def = th_scene_def_default();
        def.levels = &level;
        def.level_count = 1;
        def.groups = &group;
        def.group_count = 1;
        def.profiles = &own;
        def.profile_count = 1;
        th_scene *scene = NULL;
        th_error error = {0};
        if (th_scene_create(&def, &scene, &error) != TH_OK)
            fail_msg("%s: %s", profiles[k].id, error.message);
        assert_int_equal(scene->group_count, 2);
        assert_near(scene->groups[1].mass.a, 50.0, 0.0);
        assert_near(scene->groups[1].speed.a, profiles[k].speed.a, 0.0);
        th_scene_destroy(scene);
    }
}

// ---- stairs

#define STOREYS \
    TH_JSON("levels": [{"id": "low", "walkable": {"rect": [0, 0, 20, 20]}},                     \
                       {"id": "high", "walkable": {"rect": [26, 0, 40, 20]}}],                  \
            "stairs": [{"id": "main", "level": "low", "to": "high",                             \
                        "area": {"rect": [20, 8, 26, 12]}, "top": [[26, 8], [26, 12]]}],        \
            "exits": [{"id": "down", "level": "low", "line": [[0, 8], [0, 12]]},                \
                      {"id": "roof", "level": "high", "line": [[40, 8], [40, 12]]}],)

static void speed_on_stairs_is_the_profiles(void **state) {
    (void)state;
    static const char *const plans[] = {"field", "quickest", "guided", "continuum"};
    for (int k = 0; k < 4; ++k) {
        char text[2000];
        snprintf(text, sizeof text, "{" STOREYS TH_JSON(
            "profiles": [{"id": "steady", "speed": 1, "up": 0.25, "down": 0.335}],
            "groups": [{"level": "low", "positions": [[22, 10]], "profiles": "steady", "to": "roof", "plan": "%s"},
                       {"level": "low", "positions": [[22, 8.6]], "profiles": "steady", "to": "down", "plan": "%s"}]
    }),
                 plans[k], plans[k]);
    th_scene *scene = scene_of(text);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 3);
    float *x = field_of(world, TH_FIELD_PREFERRED_X), *y = field_of(world, TH_FIELD_PREFERRED_Y);
    assert_near(hypot((double)x[0], (double)y[0]), 0.25, 0.01);
    assert_near(hypot((double)x[1], (double)y[1]), 0.335, 0.01);
    th_world_destroy(world);
    th_scene_destroy(scene);
}
}

// ---- ways that some never use

// Two doors lead from the west room to the exit in the east; the near one is `a`.
#define DOORS \
    TH_JSON("levels": [{"walkable": {"rect": [0, 0, 20, 12]},                                            \
                        "walls": [[[10, 0], [10, 12]]]}],                                                \
            "doors": [{"id": "a", "line": [[10, 1], [10, 3]]}, {"id": "b", "line": [[10, 9], [10, 11]]}], \
            "exits": [{"id": "out", "line": [[20, 1], [20, 3]]}, {"id": "side", "line": [[12, 0], [14, 0]]}], \
            "measure": {"lines": [{"id": "la", "line": [[10.5, 0], [10.5, 4]]},                          \
                                  {"id": "lb", "line": [[10.5, 8], [10.5, 12]]}]},)

static void doors_are_avoided(void **state) {
    (void)state;
    static const char *const plans[] = {"field", "quickest", "guided"};
    for (int k = 0; k < 3; ++k) {
        char text[2000];
        snprintf(text, sizeof text, "{" DOORS TH_JSON(
            "groups": [{"id": "g", "area": {"rect": [1, 1, 8, 6]}, "count": 12, "to": "out", "plan": "%s", "avoid": ["a"]},
                       {"id": "free", "area": {"rect": [1, 1, 8, 6]}, "count": 6, "to": "out", "plan": "%s"}]
    }),
                 plans[k], plans[k]);
    th_scene *scene = scene_of(text);
    assert_int_equal(scene->bar_count, 1);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(th_world_statistics(world).left, 18);
    th_line_count near = th_world_line(world, 0), far = th_world_line(world, 1);
    assert_int_equal(near.forward + near.backward, 6);
    assert_int_equal(far.forward + far.backward, 12);
    th_world_destroy(world);
    th_scene_destroy(scene);
}
}

static void zones_are_avoided(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" DOORS TH_JSON(
        "zones": [{"id": "wet", "area": {"rect": [8, 0, 10, 4.5]}}],
        "groups": [{"area": {"rect": [1, 5, 6, 7]}, "count": 12, "to": "out", "avoid": ["wet"]}]
}));
th_world *world = world_of(scene, 1, 1);
for (int s = 0; s < 1200 && !th_world_done(world); ++s) {
    th_world_step(world, 1);
    float *x = field_of(world, TH_FIELD_POSITION_X), *y = field_of(world, TH_FIELD_POSITION_Y);
    for (int i = 0; i < th_world_agent_count(world); ++i)
        assert_false(x[i] > 8.2f && x[i] < 9.3f && y[i] > 0.7f && y[i] < 3.3f);
}
assert_int_equal(th_world_statistics(world).left, 12);
th_world_destroy(world);
th_scene_destroy(scene);
}

static void exits_are_avoided(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" DOORS TH_JSON(
        "groups": [{"area": {"rect": [1, 1, 8, 6]}, "count": 12, "avoid": ["side"]}]
}));
th_world *world = world_of(scene, 1, 1);
run_to_end(world, 120.0);
assert_int_equal(th_world_exit(world, 0).left, 12);
assert_int_equal(th_world_exit(world, 1).left, 0);
th_world_destroy(world);
th_scene_destroy(scene);
}

static void people_that_cannot_get_out_are_told(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" STOREYS TH_JSON(
        "profiles": [{"id": "chair", "like": "wheelchair", "avoid": ["main"]}],
        "groups": [{"id": "up", "level": "high", "count": 40, "to": "down", "profiles": {"adult": 0.5, "chair": 0.5}}]
}));
int chair = -1, adult = -1;
group_named(scene, "up/chair", &chair);
group_named(scene, "up/adult", &adult);
assert_near(th_scene_share_without_way(scene, chair), 1.0, 1e-9);
assert_near(th_scene_share_without_way(scene, adult), 0.0, 1e-9);
th_findings *findings = NULL;
th_error error = {0};
assert_int_equal(th_scene_findings(scene, &findings, &error), TH_OK);
int count = 0;
const th_finding *list = th_findings_list(findings, &count);
bool told = false;
for (int k = 0; k < count; ++k)
    told = told || (list[k].kind == TH_FINDING_UNREACHABLE &&
                    strstr(list[k].text, "20 of 20 people of group \"up/chair\""));
assert_true(told);
th_findings_destroy(findings);
th_world *world = world_of(scene, 1, 1);
int chairs = members(world, chair);
run_to_end(world, 60.0);
assert_int_equal(th_world_statistics(world).inside, chairs);
th_world_destroy(world);
th_scene_destroy(scene);
}

static void a_compiled_scene_keeps_it(void **state) {
    (void)state;
    th_scene *scene = scene_of("{" DOORS TH_JSON(
        "profiles": [{"id": "chair", "like": "wheelchair", "up": 0.3, "avoid": ["a"]}],
        "groups": [{"id": "g", "area": {"rect": [1, 1, 8, 6]}, "count": 12, "to": "out", "profiles": {"chair": 1, "adult": 1}}]
}));
void *bytes = NULL;
size_t size = 0;
th_error error = {0};
assert_int_equal(th_scene_compiled(scene, &bytes, &size, &error), TH_OK);
th_scene *again = NULL;
if (th_scene_load_compiled(bytes, size, NULL, &again, &error) != TH_OK)
    fail_msg("%s", error.message);
th_world *one = world_of(scene, 1, 5), *other = world_of(again, 1, 5);
th_world_step(one, 100);
th_world_step(other, 100);
assert_true(th_world_hash(one) == th_world_hash(other));
th_world_destroy(one);
th_world_destroy(other);
th_free(bytes);
th_scene_destroy(again);
th_scene_destroy(scene);
}

// ---- what is refused

static void refusals_name_place_and_cure(void **state) {
    (void)state;
    static const struct {
        const char *rest, *path, *words;
    } cases[] = {
        {TH_JSON("groups": [{"count": 1}, {"count": 2, "profiles": {"adlut": 1}}]), "groups[1].profiles",
                        "did you mean \"adult\""},
            {TH_JSON("groups": [{"count": 2, "profiles": {"adult": -1}}]), "groups[0].profiles",
                                "0 .. 1e6"},
             {TH_JSON("groups": [{"count": 2, "profiles": {"adult": 0}}]), "groups[0].profiles",
                                 "above 0"},
              {TH_JSON("groups": [{"count": 2, "profiles": {"adult": 1, "child": 1}, "speed": 1}]),
                                  "groups[0].speed", "no effect"},
               {TH_JSON("groups": [{"count": 2, "avoid": ["b", "c"]}]), "groups[0].avoid", "\"c\""},
                {TH_JSON("groups": [{"count": 2, "avoid": ["a"], "plan": "straight"}]),
                                    "groups[0].avoid", "tells them apart"},
                 {TH_JSON("groups": [{"count": 2, "avoid": ["out", "side"]}]), "groups[0].route[0]",
                                     "avoids all goals"},
                  {TH_JSON("profiles": [{"id": "p", "speed": 11}], "groups": [{"count": 1}]), "profiles[0].speed", "0 .. 10"},
                           {TH_JSON("profiles": [{"id": "p", "like": "q"}], "groups": [{"count": 1}]), "profiles[0].like",
                                                            "unknown profile"},
                                    {TH_JSON("profiles": [{"id": "p"}, {"id": "p"}], "groups": [{"count": 1}]),
                                                                      "profiles[1].id", "taken"},
                                                          {TH_JSON("groups": [{"count": 1, "profiles": {"adult": 1, "child": 1}}, {"count": 100000, "area": {"rect": [1, 1, 3, 3]}}]),
                                                               "groups[1].count", "cannot hold"},
                                                          };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[2000];
        snprintf(text, sizeof text, "{" DOORS "%s}", cases[k].rest);
        th_scene *scene = NULL;
        th_error error = {0};
        th_result result =
            th_scene_load_json(text, strlen(text), "test", NULL, NULL, &scene, &error);
        th_world *world = NULL;
        th_world_def def = th_world_def_default();
        if (result == TH_OK) result = th_world_create(scene, &def, &world, &error);
        if (result == TH_OK) fail_msg("case %zu is accepted", k);
        if (!strstr(error.message, cases[k].words) || strcmp(error.path, cases[k].path) != 0)
            fail_msg("case %zu: %s: %s", k, error.path, error.message);
        assert_true(error.line > 0);
        th_scene_destroy(scene);
    }
}

static void overrides_reach_all_groups(void **state) {
    (void)state;
    static const char text[] = "{" DOORS TH_JSON("groups": [{"count": 1}, {"count": 2, "plan": "field"}, {"count": 3}]
});
const char *good[] = {"groups.*.count=7", "groups[*].plan=guided"};
th_scene_options options = {.overrides = good, .override_count = 2};
th_scene *scene = NULL;
th_error error = {0};
assert_int_equal(th_scene_load_json(text, strlen(text), "test", NULL, &options, &scene, &error),
                 TH_OK);
for (int g = 0; g < 3; ++g) {
    assert_int_equal(scene->groups[g].count, 7);
    assert_string_equal(th_models(NULL)[scene->groups[g].plan.model]->name, "guided");
}
th_scene_destroy(scene);
const char *bad[] = {"groups.*.speed=-1"}, *none[] = {"zones.*.speed=1"};
options = (th_scene_options){.overrides = bad, .override_count = 1};
assert_int_equal(th_scene_load_json(text, strlen(text), "test", NULL, &options, &scene, &error),
                 TH_BAD_SCENE);
assert_non_null(strstr(error.message, "groups.*.speed=-1"));
options.overrides = none;
assert_int_equal(th_scene_load_json(text, strlen(text), "test", NULL, &options, &scene, &error),
                 TH_BAD_SCENE);
assert_non_null(strstr(error.message, "no list"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mixture_is_drawn_by_the_seed),
        cmocka_unit_test(people_of_a_kind_have_its_values),
        cmocka_unit_test(a_source_brings_all_kinds),
        cmocka_unit_test(given_positions_are_all_taken),
        cmocka_unit_test(built_in_kinds_are_good),
        cmocka_unit_test(speed_on_stairs_is_the_profiles),
        cmocka_unit_test(doors_are_avoided),
        cmocka_unit_test(zones_are_avoided),
        cmocka_unit_test(exits_are_avoided),
        cmocka_unit_test(people_that_cannot_get_out_are_told),
        cmocka_unit_test(a_compiled_scene_keeps_it),
        cmocka_unit_test(refusals_name_place_and_cure),
        cmocka_unit_test(overrides_reach_all_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
