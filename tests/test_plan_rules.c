// The planners, rule by rule: preferred velocities at single places of small scenes. SPDX-License-Identifier:
// Apache-2.0
#include "run_model.h"
#include "support.h"

typedef struct run {
    th_scene *scene;
    th_world *world;
} run;

static run begin(const char *json) {
    run r = {.scene = scene_of(json)};
    r.world = world_of(r.scene, 1, 1);
    th_world_step(r.world, 1);
    return r;
}

static void finish(run *r) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
}

static th_vec2 preferred(run *r, int k) {
    return (th_vec2){field_of(r->world, TH_FIELD_PREFERRED_X)[k],
                     field_of(r->world, TH_FIELD_PREFERRED_Y)[k]};
}

// Puts the only person somewhere, at rest, and asks the planners.
static th_vec2 preferred_at(run *r, float x, float y) {
    const int fields[] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y, TH_FIELD_VELOCITY_X,
                          TH_FIELD_VELOCITY_Y};
    const float values[] = {x, y, 0, 0};
    for (int k = 0; k < 4; ++k) {
        float *view = th_world_map(r->world, fields[k], TH_ACCESS_WRITE);
        assert_non_null(view);
        view[0] = values[k];
        th_world_unmap(r->world, fields[k]);
    }
    run_plans(r->world); // a whole step would let agents on an exit leave
    return (th_vec2){r->world->agents.preferred_x[0], r->world->agents.preferred_y[0]};
}

// `straight` leads through walls; all others go around.
static void straight_ignores_walls(void **state) {
    (void)state;
    for (int straight = 0; straight < 2; ++straight) {
        char text[1024];
        snprintf(
            text, sizeof text,
            TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,10]}, "walls":[[[5,0],[5,9]]]}],
            "exits":[{"id":"out", "area":{"rect":[5.3,1,6,2]}}],
            "groups":[{"id":"one", "positions":[[4.4,1.5]], "to":"out", "plan":"%s"}],
            "run":{"duration":9}}),
                                    straight ? "straight" : "field");
        run r = begin(text);
        th_vec2 v = preferred(&r, 0);
        if (straight)
            assert_true(v.x > 1.0f && fabsf(v.y) < 0.2f);
        else // the goal is a metre away, but behind the wall
            assert_true(v.y > 1.0f && fabsf(v.x) < 0.5f);
        finish(&r);
    }
}

static void later_zones_lie_on_top(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"walkable":{"rect":[0,0,10,10]}}],
        "zones":[{"id":"mud", "area":{"rect":[0,0,6,10]}, "speed":0.5},
                 {"id":"mat", "area":{"rect":[2,0,4,10]}, "speed":0.8}],
        "exits":[{"id":"out", "line":[[10,0],[10,10]]}],
        "groups":[{"id":"one", "positions":[[3,5]], "to":"out", "speed":1}], "run":{"duration":9}}));
    th_vec2 v = preferred(&r, 0);
    assert_near(hypotf(v.x, v.y), 0.8, 1e-4);
    finish(&r);
}

// An agent that comes along a wall aims at an exit's near end, but not at the very end, and not all at one place.
static void people_spread_over_an_exit(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"walkable":{"rect":[0,0,10,10]}}],
        "exits":[{"id":"out", "line":[[10,6],[10,10]]}],
        "groups":[{"id":"all", "positions":[[4,1],[5,1],[6,1],[7,1],[8,1],[9,1]], "to":"out",
            "plan":"straight"}], "run":{"duration":9}}));
    float low = 1e9f, high = -1e9f;
    for (int k = 0; k < 6; ++k) {
        th_vec2 v = preferred(&r, k);
        float aim = 1 + (10 - (4 + (float)k)) * v.y / v.x;
        low = fminf(low, aim);
        high = fmaxf(high, aim);
    }
    assert_true(low > 6.19f);
    assert_true(high - low > 0.3f && high < 7.3f);
    finish(&r);
}

// On the line of its exit an agent goes on out; beyond another agent's exit, back in.
static void on_and_beyond_exits(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"walkable":[{"rect":[0,0,10,10]}, {"rect":[10,0,20,2]}]}],
        "exits":[{"id":"east", "line":[[10,4],[10,6]]}, {"id":"west", "line":[[0,4],[0,6]]}],
        "groups":[{"id":"one", "positions":[[5,5]], "to":"west", "speed":0.01}],
        "run":{"duration":9}}));
    assert_true(preferred_at(&r, 0, 5).x < 0.0f);
    assert_true(preferred_at(&r, 11.5f, 5).x < 0.0f);
    finish(&r);
}

// An agent that has arrived at an own goal and is pushed away goes back.
static void an_agent_pushed_off_returns(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"id":"ground"}],
        "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight"}],
        "run":{"duration":9}}));
    th_agent_def def = th_agent_def_default();
    def.position = def.goal = (th_vec2){1, 1};
    def.radius = 0.2f, def.speed = 1;
    assert_int_equal(th_world_spawn(r.world, &def, 1, NULL, NULL), TH_OK);
    th_world_step(r.world, 2);
    assert_int_equal(((const uint32_t *)field_of(r.world, TH_FIELD_PHASE))[0], TH_PHASE_ARRIVED);
    assert_true(preferred_at(&r, 3, 1).x < -0.5f);
    finish(&r);
}

// The road map knows ways to other levels: first to the stairs, which are not where the goal is.
static void road_map_over_stairs(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"id":"low", "walkable":{"rect":[0,0,20,10]}}, {"id":"high",
            "walkable":{"rect":[20,0,40,10]}, "obstacles":[{"rect":[25,0,26,8]}]}],
        "stairs":[{"level":"low", "to":"high", "top":[[20,0],[20,1.5]]}],
        "groups":[{"id":"all", "level":"low", "count":0, "own_goal":"opposite", "plan":"roadmap"}],
        "run":{"duration":9}}));
    th_agent_def def = th_agent_def_default();
    def.position = (th_vec2){18, 9}, def.goal = (th_vec2){38, 2}, def.goal_level = 1;
    def.radius = 0.2f, def.speed = 1;
    assert_int_equal(th_world_spawn(r.world, &def, 1, NULL, NULL), TH_OK);
    th_world_step(r.world, 1);
    assert_int_equal(th_world_statistics(r.world).unreachable, 0);
    assert_true(preferred(&r, 0).y < -0.8f); // down to the stairs
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_ignores_walls),      cmocka_unit_test(later_zones_lie_on_top),
        cmocka_unit_test(people_spread_over_an_exit),  cmocka_unit_test(on_and_beyond_exits),
        cmocka_unit_test(an_agent_pushed_off_returns), cmocka_unit_test(road_map_over_stairs),
    };
    return cmocka_run_group_tests_name("plan rules", tests, NULL, NULL);
}
