// Routes and scripted bodies, rule by rule: setting off, waiting, legs, exits, levels, own goals; paths of bodies.
// SPDX-License-Identifier: Apache-2.0
#include "behave/route/route.h"
#include "move/scripted/scripted.h"
#include "support.h"

typedef struct run {
    th_scene *scene;
    th_world *world;
} run;

static run begin(const char *json) {
    run r = {.scene = scene_of(json)};
    r.world = world_of(r.scene, 1, 1);
    return r;
}

static void finish(run *r) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
}

static void run_until(run *r, double time) {
    while (th_world_time(r->world) < time - 1e-6) th_world_step(r->world, 1);
}

static uint32_t phase_of(run *r) {
    assert_int_equal(th_world_agent_count(r->world), 1);
    return ((const uint32_t *)field_of(r->world, TH_FIELD_PHASE))[0];
}
static uint32_t leg_of(run *r) { return ((const uint32_t *)field_of(r->world, TH_FIELD_LEG))[0]; }

// One person walks 2 m to a waypoint, 2 m to a place where it waits 5 s, 2 m back to the waypoint and stays there.
static const char LEGS[] = TH_JSON(
    {"levels":[{"id":"hall", "walkable":{"rect":[0,0,10,4]}}],
    "waypoints":[{"id":"mark", "area":{"rect":[3,1,3.5,3]}}],
    "waiting_areas":[{"id":"bench", "area":{"rect":[5.5,1,6,3]}, "wait":5}],
    "groups":[{"id":"one", "positions":[[1,2]], "speed":1, "premovement":3,
        "route":["mark", "bench", "mark"]}], "run":{"duration":60, "step":0.1}});

static void legs_of_a_route(void **state) {
    (void)state;
    run r = begin(LEGS);
    run_until(&r, 2.8); // not before its time
    assert_int_equal(phase_of(&r), TH_PHASE_STANDING);
    assert_near(field_of(r.world, TH_FIELD_POSITION_X)[0], 1, 1e-5);
    run_until(&r, 6.5); // past the waypoint: the next leg
    assert_int_equal(phase_of(&r), TH_PHASE_WALKING);
    assert_int_equal(leg_of(&r), 1);
    run_until(&r, 10.5); // at the bench since about 7.7 s
    assert_int_equal(phase_of(&r), TH_PHASE_WAITING);
    assert_int_equal(leg_of(&r), 1);
    run_until(&r, 13.5); // five seconds later it goes on to the third leg
    assert_int_equal(phase_of(&r), TH_PHASE_WALKING);
    assert_int_equal(leg_of(&r), 2);
    run_until(&r, 20); // the end of the route: it stays
    assert_int_equal(phase_of(&r), TH_PHASE_ARRIVED);
    assert_int_equal(leg_of(&r), 3);
    assert_true(th_world_done(r.world));
    finish(&r);
}

// Lines and areas count on their own level only; a line only where it is, but for a centimetre beside an exit.
static void goals_are_on_a_level(void **state) {
    (void)state;
    th_goal line = {.kind = TH_GOAL_EXIT, .is_line = true, .line = {1, {5, 0}, {5, 2}}};
    th_vec2 p = {4.9f, 1}, q = {5.1f, 1};
    assert_true(th_route_goal_reached(&line, 1, p, q));
    assert_false(th_route_goal_reached(&line, 0, p, q));
    th_vec2 beside_p = {4.9f, 2.005f}, beside_q = {5.1f, 2.005f};
    assert_true(th_route_goal_reached(&line, 1, beside_p, beside_q));
    line.kind = TH_GOAL_WAYPOINT;
    assert_false(th_route_goal_reached(&line, 1, beside_p, beside_q));
    line.kind = TH_GOAL_EXIT;
    assert_false(th_route_goal_reached(&line, 1, th_v(4.9f, 2.05f), th_v(5.1f, 2.05f)));
    const int starts[] = {0, 4};
    const th_vec2 corners[] = {{0, 0}, {2, 0}, {2, 2}, {0, 2}};
    th_goal area = {.kind = TH_GOAL_WAYPOINT, .area = {1, {1, starts, corners, {0, 0, 2, 2}, 4}}};
    assert_true(th_route_goal_reached(&area, 1, th_v(3, 1), th_v(1, 1)));
    assert_false(th_route_goal_reached(&area, 0, th_v(3, 1), th_v(1, 1)));
}

// An own goal is reached within a radius, and on its own level.
static void own_goals(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"id":"low", "walkable":{"rect":[0,0,10,4]}}, {"id":"high",
            "walkable":{"rect":[0,0,10,4]}}],
        "stairs":[{"level":"low", "to":"high", "top":[[9,0],[9,1]]}],
        "groups":[{"id":"all", "level":"low", "count":0, "own_goal":"opposite", "plan":"straight",
            "move":"orca"}], "run":{"duration":60, "step":0.1}}));
    th_agent_def def = th_agent_def_default();
    def.position = th_v(2, 3), def.goal = th_v(5, 3), def.radius = 0.2f, def.speed = 1;
    assert_int_equal(th_world_spawn(r.world, &def, 1, NULL, NULL), TH_OK);
    run_until(&r, 2.5);
    assert_int_equal(phase_of(&r), TH_PHASE_WALKING); // half a metre is missing
    run_until(&r, 4);
    assert_int_equal(phase_of(&r), TH_PHASE_ARRIVED);
    finish(&r);
    r = begin(TH_JSON(
        {"levels":[{"id":"low", "walkable":{"rect":[0,0,10,4]}}, {"id":"high",
            "walkable":{"rect":[0,0,10,4]}}],
        "stairs":[{"level":"low", "to":"high", "top":[[9,0],[9,1]]}],
        "groups":[{"id":"all", "level":"low", "count":0, "own_goal":"opposite", "plan":"straight",
            "move":"orca"}], "run":{"duration":60, "step":0.1}}));
    def.goal_level = 1;
    assert_int_equal(th_world_spawn(r.world, &def, 1, NULL, NULL), TH_OK);
    run_until(&r, 6);
    assert_int_equal(phase_of(&r), TH_PHASE_WALKING); // the right place on the wrong level
    finish(&r);
}

// ---- scripted people and bodies

static void paths_begin_at_their_first_frame(void **state) {
    (void)state;
    const th_keyframe path[] = {{2, 1, 0}, {4, 3, 2}, {5, 3, 3}};
    th_scripted body = {.path = path, .path_count = 3};
    const double wanted[][3] = {{0, 1, 0}, {2, 1, 0}, {3, 2, 1}, {4.5, 3, 2.5}, {9, 3, 3}};
    for (int k = 0; k < 5; ++k) {
        th_vec2 at = th_scripted_path_at(&body, wanted[k][0]);
        assert_near(at.x, wanted[k][1], 1e-6);
        assert_near(at.y, wanted[k][2], 1e-6);
    }
}

// A body's discs keep their places in it, and others see how fast it goes.
static void bodies_move_as_one(void **state) {
    (void)state;
    run r = begin(TH_JSON(
        {"levels":[{"id":"ground"}],
        "scripted":[{"id":"van", "shape":{"rect":[-1,-0.5,1,0.5]}, "path":[[0,0,0],[10,20,0]]}],
        "groups":[{"id":"nobody", "count":0, "own_goal":"opposite", "plan":"straight"}],
        "run":{"duration":10, "step":0.1}}));
    th_world_step(r.world, 10);
    int count = th_world_agent_count(r.world);
    assert_true(count > 4);
    const float *x = field_of(r.world, TH_FIELD_POSITION_X),
                *vx = field_of(r.world, TH_FIELD_VELOCITY_X);
    float low = 1e9f, high = -1e9f;
    for (int k = 0; k < count; ++k) {
        assert_near(vx[k], 2, 1e-3);
        low = fminf(low, x[k]);
        high = fmaxf(high, x[k]);
    }
    assert_true(high - low > 1.2f && high - low < 2.1f);
    assert_near(0.5f * (low + high), 2, 0.1);
    finish(&r);
}

// People without speed who stand exactly on the edges and the corners of an area that turns: no way is left to its edge.
static void edges_of_an_area_lead_in(void **state) {
    (void)state;
    static const char *const planners[] = {"field",  "quickest", "continuum",
                                           "guided", "roadmap",  "straight"};
    for (size_t k = 0; k < sizeof planners / sizeof *planners; ++k) {
        char json[1000];
        snprintf(json, sizeof json,
                 "{\"levels\":[{\"walkable\":{\"rect\":[0,0,20,12]}}],\"exits\":["
                 "{\"id\":\"square\",\"area\":{\"rect\":[10,2,14,6]}},"
                 "{\"id\":\"turned\",\"area\":{\"points\":[[4,2],[7,5],[4,8],[1,5]]}}],"
                 "\"groups\":[{\"id\":\"p\",\"plan\":\"%s\",\"move\":\"orca\",\"positions\":"
                 "[[12,6],[10,4],[14,3],[11,2],[14,6],[10,2],[14,2],[10,6],"
                 "[4,2],[7,5],[4,8],[1,5],[5.5,3.5],[2.5,3.5],[5.5,6.5],[2.5,6.5]]}],"
                 "\"run\":{\"step\":0.1}}",
                 planners[k]);
        run r = begin(json);
        th_world_step(r.world, 20);
        if (th_world_statistics(r.world).left != 16)
            fail_msg("%s: %d of 16 left", planners[k], (int)th_world_statistics(r.world).left);
        finish(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legs_of_a_route),
        cmocka_unit_test(goals_are_on_a_level),
        cmocka_unit_test(edges_of_an_area_lead_in),
        cmocka_unit_test(own_goals),
        cmocka_unit_test(paths_begin_at_their_first_frame),
        cmocka_unit_test(bodies_move_as_one),
    };
    return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
