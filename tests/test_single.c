// Orders to one agent: to a point, back to its route, its values. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/ask.h"
#include "throng/live.h"
#include <stdlib.h>
#include <string.h>

// The way from the west to the kiosk leads around a wall.
static const char hall[] = TH_JSON({
    "levels": [{"walkable": {"rect": [0, 0, 20, 10]}, "walls": [[[10, 0], [10, 8]]]}],
    "exits": [{"id": "out", "line": [[20, 4], [20, 6]]}],
    "waypoints": [{"id": "via", "area": {"rect": [2, 8, 4, 10]}}],
    "groups": [{"id": "people", "count": 12, "area": {"rect": [1, 1, 6, 6]}, "route": ["via", "out"], "plan": "%s"}],
    "run": {"step": 0.05}});

static th_scene *hall_with(const char *planner) {
    char json[900];
    snprintf(json, sizeof json, hall, planner);
    return scene_of(json);
}

static th_seen state_of(const th_world *world, th_agent_id agent) {
    th_seen seen = {.phase = TH_PHASE_COUNT};
    th_world_agent(world, agent, &seen, NULL);
    return seen;
}

static void one_walks_to_a_point_and_then_its_route(void **state) {
    (void)state;
    static const char *const planners[] = {"quickest", "field", "roadmap", "guided", "continuum"};
    const th_vec2 kiosk = {12, 1};
    const th_agent_id one = {5};
    for (int p = 0; p < 5; ++p) {
        th_scene *scene = hall_with(planners[p]);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 10);
        assert_int_equal(th_world_send(world, one, 0, kiosk, NULL), TH_OK);
        th_world_step(world, 800);
        th_seen seen = state_of(world, one);
        if (seen.phase != TH_PHASE_ARRIVED ||
            hypotf(seen.position.x - kiosk.x, seen.position.y - kiosk.y) > 0.5f)
            fail_msg("%s: phase %d at (%.1f, %.1f)", planners[p], (int)seen.phase,
                     (double)seen.position.x, (double)seen.position.y);
        assert_int_equal(th_world_statistics(world).left, 11); // the others went their way
        assert_int_equal(th_world_set_leg(world, one, 1, NULL), TH_OK);
        run_to_end(world, 120);
        assert_int_equal(th_world_statistics(world).left, 12);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

static void a_restored_world_knows_the_way(void **state) {
    (void)state;
    th_scene *scene = hall_with("field");
    th_world *world = world_of(scene, 1, 1), *other = world_of(scene, 1, 1);
    assert_int_equal(th_world_send(world, (th_agent_id){5}, 0, (th_vec2){12, 1}, NULL), TH_OK);
    th_world_step(world, 20);
    size_t size = th_world_snapshot_size(world);
    void *memory = malloc(size);
    assert_non_null(memory);
    assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
    assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
    th_world_step(world, 200);
    th_world_step(other, 200);
    assert_true(th_world_hash(world) == th_world_hash(other));
    free(memory);
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

static void one_has_another_speed(void **state) {
    (void)state;
    th_scene *scene = hall_with("field");
    th_world *world = world_of(scene, 1, 1);
    assert_int_equal(th_world_set_field(world, (th_agent_id){3}, TH_FIELD_SPEED, 0.25, NULL),
                     TH_OK);
    const float *speed = th_world_map(world, TH_FIELD_SPEED, TH_ACCESS_READ);
    for (int k = 0; k < 12; ++k) assert_true(k == 2 ? speed[k] == 0.25f : speed[k] > 0.3f);
    th_world_unmap(world, TH_FIELD_SPEED);
    int field = th_world_field(world, "quickest.goal");
    assert_int_equal(field, -1); // this world does not use it
    // Sets another place, which is not on a wall.
    assert_int_equal(th_world_set_field(world, (th_agent_id){3}, TH_FIELD_POSITION_X, 10, NULL),
                     TH_OK);
    assert_invariants(world);
    th_world_step(world, 5);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void wrong_orders_are_errors(void **state) {
    (void)state;
    th_scene *scene = hall_with("quickest");
    th_world *world = world_of(scene, 1, 1);
    th_error error;
    const th_agent_id one = {1}, none = {0}, gone = {2};
    const th_vec2 good = {5, 5};
    uint64_t before = th_world_hash(world);
    assert_int_equal(th_world_send(world, none, 0, good, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_send(world, one, 1, good, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_send(world, one, -1, good, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_send(world, one, 0, (th_vec2){NAN, 5}, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_send(world, one, 0, (th_vec2){25, 5}, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "not walkable"));
    assert_int_equal(th_world_set_leg(world, one, 2, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_set_leg(world, one, -1, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_set_leg(world, none, 0, NULL), TH_BAD_ARGUMENT);
    const struct {
        int field;
        double value;
    } wrong[] = {{-1, 1},
                 {9999, 1},
                 {TH_FIELD_ID, 1},
                 {TH_FIELD_SPEED, (double)NAN},
                 {TH_FIELD_SPEED, -1},
                 {TH_FIELD_RADIUS, 0},
                 {TH_FIELD_RADIUS, 1e30},
                 {TH_FIELD_LEVEL, 1},
                 {TH_FIELD_LEVEL, 0.5},
                 {TH_FIELD_GROUP, -1},
                 {TH_FIELD_PHASE, TH_PHASE_LEFT}};
    for (int k = 0; k < (int)(sizeof wrong / sizeof *wrong); ++k)
        if (th_world_set_field(world, one, wrong[k].field, wrong[k].value, NULL) != TH_BAD_ARGUMENT)
            fail_msg("field %d took %g", wrong[k].field, wrong[k].value);
    assert_true(th_world_hash(world) == before);
    th_world_remove(world, &gone, 1);
    assert_int_equal(th_world_send(world, gone, 0, good, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "agent 2"));
    assert_int_equal(th_world_set_field(world, gone, TH_FIELD_SPEED, 1, NULL), TH_BAD_ARGUMENT);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Agents of a behaviour that decides where they go.
static void minds_are_not_ordered_about(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({
        "levels": [{"walkable": {"rect": [0, 0, 20, 10]}}],
        "exits": [{"id": "out", "line": [[20, 4], [20, 6]]}],
        "groups": [{"id": "minds", "count": 3, "area": {"rect": [1, 1, 6, 6]}, "to": "out", "behave": "hidac", "move": "hidac"}]}));
    th_world *world = world_of(scene, 1, 1);
    th_error error;
    assert_int_equal(th_world_send(world, (th_agent_id){1}, 0, (th_vec2){5, 5}, &error),
                     TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "minds"));
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_walks_to_a_point_and_then_its_route),
        cmocka_unit_test(a_restored_world_knows_the_way),
        cmocka_unit_test(one_has_another_speed),
        cmocka_unit_test(wrong_orders_are_errors),
        cmocka_unit_test(minds_are_not_ordered_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
