// Unilateral incompressibility where people come in and where they may not go out: sources, and exits of others.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/uic.h"
#include "support.h"
#include <math.h>

static float nearest_of(const th_agents *a, int i) {
    float nearest = 1e9f;
    for (int j = 0; j < a->count; ++j)
        if (j != i)
            nearest =
                fminf(nearest,
                      th_length(th_sub(th_position(a, (uint32_t)i), th_position(a, (uint32_t)j))));
    return nearest;
}

static float nearest_pair(const th_world *world) {
    float nearest = 1e9f;
    for (int i = 0; i < world->agents.count; ++i)
        nearest = fminf(nearest, nearest_of(&world->agents, i));
    return nearest;
}

// Far more people than fit are owed at once. Agents that come in keep the distance of a crowd at the limit, so the room
// is never overfull; an agent that asks for a denser limit gets more in.
static void a_source_does_not_overfill(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 4]}}],
        "exits": [{"id": "out", "line": [[12, 0], [12, 4]]}],
        "groups": [{"id": "people", "source": {"rate": 100000, "until": 1}, "area": {"rect": [0, 0, 4, 4]},
            "to": "out", "radius": 0.2, "move": "uic"}],
        "run": {"step": 0.01, "max_time": 20}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 2); // they have walked for one step at most
    float hexagonal = 0.4f / sqrtf(0.5f);
    assert_true(world->agents.count > 20 && world->agents.count < (int)(3.6f * 16.0f));
    assert_true(nearest_pair(world) > hexagonal - 0.04f);
    int loose = world->agents.count;
    th_error error = {0};
    assert_int_equal(th_world_set_param(world, 0, "alpha", 1.0, &error), TH_OK);
    th_world_step(world, 2);
    assert_true(world->agents.count > loose + 5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A distance given in metres counts, whatever the bodies are.
static void a_source_keeps_a_given_distance(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 4]}}],
        "exits": [{"id": "out", "line": [[12, 0], [12, 4]]}],
        "groups": [{"id": "people", "source": {"rate": 100000, "until": 1}, "area": {"rect": [0, 0, 4, 4]},
            "to": "out", "radius": 0.2, "move": {"model": "uic", "d_min": 0.6}}],
        "run": {"step": 0.01, "max_time": 20}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 2);
    assert_true(world->agents.count > 8);
    assert_true(nearest_pair(world) > 0.6f / sqrtf(0.5f) - 0.04f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void stand(th_world *world, int i, float x, float y) {
    world->agents.position_x[i] = x;
    world->agents.position_y[i] = y;
}

// Two that want east overlap by 15 cm, one of them on the line of the western exit, far from walls. The line holds that
// one, so the other has to make all the room: left to the contact stage, half of the overlap would come back at the end
// of the step.
static void an_exit_of_others_holds_in_the_pair_step(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 30]}}],
        "exits": [{"id": "west", "line": [[0, 0], [0, 30]]}, {"id": "east", "line": [[12, 0], [12, 30]]}],
        "groups": [{"id": "people", "count": 2, "area": {"rect": [1, 1, 3, 3]}, "to": "east", "radius": 0.2, "premovement": 9,
            "move": "uic"}],
        "run": {"step": 0.2, "max_time": 20}}));
    th_world *world = world_of(scene, 1, 1);
    stand(world, 0, 0.002f, 15.0f); // they have not set off yet
    stand(world, 1, 0.25f, 15.0f);
    th_world_step(world, 1);
    assert_true(world->agents.position_x[0] > 0.0f && world->agents.position_x[0] < 0.05f);
    assert_true(nearest_pair(world) > 0.38f);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Two files meet head on along the line of an exit that neither wants, and a crowd that wants out by it stands behind them.
// The files were a wall, which stood for minutes as the crowd pressed it together: 45 % of a diameter.
static void files_along_an_exit_keep_no_agent_in(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 24, 8]}}],
        "exits": [{"id": "south", "line": [[0, 0], [24, 0]]}, {"id": "east", "line": [[24, 0], [24, 8]]},
            {"id": "west", "line": [[0, 0], [0, 8]]}],
        "groups": [{"id": "eastward", "count": 20, "to": "east", "plan": "field", "move": "uic"},
            {"id": "westward", "count": 20, "to": "west", "plan": "field", "move": "uic"},
            {"id": "southward", "count": 60, "to": "south", "plan": "field", "move": "uic"}],
        "run": {"step": 0.0333333333, "max_time": 60}}));
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        th_world *world = world_of(scene, 1, seed);
        for (int k = 0; k < 40; ++k) stand(world, k, 6.0f + 0.3f * (float)k, 0.001f);
        for (int k = 0; k < 60; ++k)
            stand(world, 40 + k, 7.0f + 0.5f * (float)(k % 20), 0.45f + 0.45f * (float)(k / 20));
        th_world_step(world, 180); // 6 s
        int inside = 0;
        for (int i = 0; i < world->agents.count; ++i)
            inside += world->agents.group[i] == 2 && !th_gone(world->agents.phase[i]);
        print_message("%d of 60 are inside after 6 s\n", inside);
        th_world_destroy(world);
        assert_true(inside <= 3); // 16 and more
    }
    th_scene_destroy(scene);
}

// Two exits meet in a corner; each of two agents is pressed onto the line of the other's. They pass the end of their own
// line, where plans would have them a body further in, and stood there for good, one in the other.
static void no_agent_stays_in_a_corner_of_two_exits(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 20]}}],
        "exits": [{"id": "west", "line": [[0, 0], [0, 20]]}, {"id": "south", "line": [[0, 0], [20, 0]]}],
        "groups": [{"count": 1, "to": "west", "plan": "field", "move": "uic"},
            {"count": 1, "to": "south", "plan": "field", "move": "uic"}],
        "run": {"step": 0.0333333333, "max_time": 60}}));
    th_world *world = world_of(scene, 1, 1);
    stand(world, 0, 0.058f, 0.001f);
    stand(world, 1, 0.001f, 0.065f);
    th_world_step(world, 15);
    assert_int_equal(th_world_statistics(world).left, 2);
    th_world_destroy(world);
    world = world_of(scene, 1, 1); // alone it goes straight over, not where a plan crosses the line
    stand(world, 0, 0.058f, 0.001f);
    stand(world, 1, 10.0f, 10.0f);
    th_world_step(world, 3);
    assert_int_equal(th_world_statistics(world).left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_does_not_overfill),
        cmocka_unit_test(a_source_keeps_a_given_distance),
        cmocka_unit_test(an_exit_of_others_holds_in_the_pair_step),
        cmocka_unit_test(files_along_an_exit_keep_no_agent_in),
        cmocka_unit_test(no_agent_stays_in_a_corner_of_two_exits),
    };
    return cmocka_run_group_tests_name("uic exits", tests, NULL, NULL);
}
