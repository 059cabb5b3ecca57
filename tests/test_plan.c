// The plan stage and what happens when doors and walls change. SPDX-License-Identifier: Apache-2.0
#include "hand_scene.h"

// Two rooms side by side with doors at both ends of the wall between them, and a room apart with
// its own goal. Targets: 0 in the right room, 1 in the room apart.
static hand_scene *rooms(void) {
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 10.0f);
    hand_thin(hand, 10.0f, 1.5f, 10.0f, 8.5f);
    hand_door(hand, 10.0f, 0.0f, 10.0f, 1.5f, false);
    hand_door(hand, 10.0f, 8.5f, 10.0f, 10.0f, false);
    hand_room(hand, 30.0f, 0.0f, 40.0f, 10.0f); // apart
    hand_goal_box(hand, 0, 17.0f, 1.0f, 18.0f, 2.0f);
    hand_goal_line(hand, 0, 38.0f, 1.0f, 38.0f, 9.0f);
    int first = 0, second = 1;
    hand_group(hand, 0, hand_box_shape(hand, 1.0f, 1.0f, 4.0f, 9.0f), &first, 1);
    hand_group(hand, 0, hand_box_shape(hand, 31.0f, 1.0f, 34.0f, 9.0f), &second, 1);
    th_error error = {0};
    assert_true(th_wall_grids_build(&hand->scene));
    if (th_plan_prepare(&hand->scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    return hand;
}

static int put(th_world *world, int group, int level, th_vec2 p) {
    int i = world->agents.count++;
    world->agents.group[i] = (uint32_t)group;
    world->agents.level[i] = (uint32_t)level;
    world->agents.position_x[i] = p.x;
    world->agents.position_y[i] = p.y;
    world->agents.radius[i] = 0.2f;
    world->agents.speed[i] = 1.3f;
    world->agents.phase[i] = TH_PHASE_WALKING;
    return i;
}

static void assert_same_as_from_scratch(const th_world *world) {
    const th_nodes *nodes = &world->scene->plan->nodes;
    th_memory memory = th_memory_of(NULL);
    th_graph graph;
    th_front front;
    float *distance = malloc((size_t)nodes->count * sizeof *distance);
    assert_true(th_graph_create(&graph, nodes, &memory));
    assert_true(th_front_create(&front, nodes->count, &memory));
    th_walls walls = th_world_walls(world);
    th_graph_update(&graph, &walls);
    for (int t = 0; t < world->scene->target_count; ++t) {
        th_field_solve(&graph, &walls, &world->scene->targets[t], &front, distance);
        assert_memory_equal(distance, world->plan->plans[0].fields[t],
                            (size_t)nodes->count * sizeof *distance);
    }
    th_front_destroy(&front, nodes->count, &memory);
    th_graph_destroy(&graph, &memory);
    free(distance);
}

static void doors_change_only_what_they_touch(void **state) {
    (void)state;
    hand_scene *hand = rooms();
    th_world *world = hand_world(hand, 4);
    int a = put(world, 0, 0, th_v(5, 3)), b = put(world, 1, 0, th_v(33, 3));
    size_t bytes = (size_t)hand->scene.plan->nodes.count * sizeof(float);
    float *untouched = malloc(bytes), *touched = malloc(bytes);
    memcpy(untouched, world->plan->plans[0].fields[1], bytes);
    memcpy(touched, world->plan->plans[0].fields[0], bytes);

    float open = th_plan_distance(world, 0, 0, th_v(5, 3));
    world->door_closed[0] = 1;
    th_plan_walls_changed(world);
    assert_same_as_from_scratch(world);
    float detour = th_plan_distance(world, 0, 0, th_v(5, 3));
    assert_true(open > 12.0f && open < 12.8f && detour > 16.0f && detour < 18.0f);
    assert_memory_equal(untouched, world->plan->plans[0].fields[1], bytes);
    run_plans(world);
    assert_int_equal(world->counters.unreachable, 0);
    assert_true(world->agents.preferred_y[a] > 0.5f); // to the other door

    world->door_closed[1] = 1;
    th_plan_walls_changed(world);
    assert_same_as_from_scratch(world);
    assert_true(isinf(th_plan_distance(world, 0, 0, th_v(5, 3))));
    run_plans(world);
    assert_int_equal(world->counters.unreachable, 1);
    assert_true(world->agents.preferred_x[a] == 0.0f && world->agents.preferred_y[a] == 0.0f);
    assert_true(world->agents.preferred_x[b] > 1.29f);

    world->door_closed[0] = world->door_closed[1] = 0;
    th_plan_walls_changed(world);
    assert_memory_equal(touched, world->plan->plans[0].fields[0], bytes);
    assert_same_as_from_scratch(world);
    free(untouched);
    free(touched);
    hand_world_destroy(world);
    hand_destroy(hand);
}

static void live_walls_bend_ways(void **state) {
    (void)state;
    hand_scene *hand = rooms();
    th_world *world = hand_world(hand, 4);
    float before = th_plan_distance(world, 0, 0, th_v(5, 3));
    th_vec2 a = {7.0f, 0.0f}, b = {7.0f, 8.0f};
    for (int side = 0; side < 2; ++side)
        world->walls[world->wall_count++] = (th_wall){.a = side ? b : a,
                                                      .b = side ? a : b,
                                                      .direction = {0.0f, side ? -1.0f : 1.0f},
                                                      .length = 8.0f,
                                                      .level = 0,
                                                      .door = -1};
    th_plan_walls_changed(world);
    assert_same_as_from_scratch(world);
    assert_true(th_plan_distance(world, 0, 0, th_v(5, 3)) > before + 3.0f);
    world->walls[world->wall_count - 1].length = world->walls[world->wall_count - 2].length = 0.0f;
    th_plan_walls_changed(world);
    assert_same_as_from_scratch(world);
    assert_true(th_plan_distance(world, 0, 0, th_v(5, 3)) == before);
    hand_world_destroy(world);
    hand_destroy(hand);
}

static void other_phases_stand(void **state) {
    (void)state;
    hand_scene *hand = rooms();
    th_world *world = hand_world(hand, 8);
    for (int phase = 0; phase < TH_PHASE_COUNT; ++phase) {
        int i = put(world, 0, 0, th_v(5, 3));
        world->agents.phase[i] = (uint32_t)phase;
        world->agents.preferred_x[i] = 7.0f;
    }
    run_plans(world);
    assert_true(world->agents.preferred_x[TH_PHASE_STANDING] == 0.0f);
    assert_true(world->agents.preferred_x[TH_PHASE_WAITING] == 0.0f);
    assert_true(world->agents.preferred_x[TH_PHASE_ARRIVED] == 0.0f);
    assert_true(world->agents.preferred_x[TH_PHASE_SCRIPTED] == 7.0f); // not the planner's
    assert_true(world->agents.preferred_x[TH_PHASE_BODY] == 7.0f);
    hand_world_destroy(world);
    hand_destroy(hand);
}

// Straight to own goals, not past them; straight to the nearest goal on open ground.
static void straight_lines(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, false);
    hand_current(hand)->box = (th_box){0, 0, 10, 10};
    int target = hand_goal_line(hand, 0, 8.0f, 0.0f, 8.0f, 4.0f);
    th_polygons whole = {0};
    hand_group(hand, 0, whole, &target, 1);
    hand_group(hand, 0, whole, NULL, 0);
    hand->groups[1].own_goal = TH_OWN_GOAL_OPPOSITE;
    hand->groups[1].plan.model = TH_PLAN_STRAIGHT;
    assert_true(th_wall_grids_build(&hand->scene));
    assert_int_equal(th_plan_prepare(&hand->scene, NULL), TH_OK);
    th_world *world = hand_world(hand, 4);
    int field = put(world, 0, 0, th_v(1, 2)), far = put(world, 1, 0, th_v(1, 2));
    int near = put(world, 1, 0, th_v(1, 2)), on_line = put(world, 0, 0, th_v(8, 2));
    world->agents.goal_x[far] = 1.0f;
    world->agents.goal_y[far] = 12.0f;
    world->agents.goal_x[near] = 1.05f;
    world->agents.goal_y[near] = 2.0f;
    world->agents.velocity_x[on_line] = 1.0f;
    run_plans(world);
    assert_true(world->agents.preferred_x[field] == 1.3f &&
                world->agents.preferred_y[field] == 0.0f);
    assert_true(fabsf(world->agents.preferred_y[far] - 1.3f) < 1e-6f);
    assert_true(fabsf(world->agents.preferred_x[near] - 0.5f) < 1e-5f); // 0.05 m in 0.1 s
    assert_true(world->agents.preferred_x[on_line] > 1.29f);            // across, not to a halt
    hand_world_destroy(world);
    hand_destroy(hand);
}

static void zones_slow_all_agents(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 4.0f);
    hand_zone(hand, 0, hand_box_shape(hand, 8.0f, 0.0f, 12.0f, 4.0f), 0.5f, 0.7f, th_v(1, 0));
    int right = hand_goal_line(hand, 0, 19.0f, 0.0f, 19.0f, 4.0f);
    int left = hand_goal_line(hand, 0, 1.0f, 0.0f, 1.0f, 4.0f);
    th_polygons whole = {0};
    hand_group(hand, 0, whole, &right, 1);
    hand_group(hand, 0, whole, &left, 1);
    hand_group(hand, 0, whole, &left, 1);
    hand->groups[2].plan.model = TH_PLAN_STRAIGHT;
    assert_true(th_wall_grids_build(&hand->scene));
    assert_int_equal(th_plan_prepare(&hand->scene, NULL), TH_OK);
    th_world *world = hand_world(hand, 8);
    float expected[5] = {1.3f, 0.65f, -0.91f, -0.91f, -1.3f};
    th_vec2 at[5] = {{5, 2}, {10, 2}, {10, 2}, {10, 2}, {13, 2}};
    int groups[5] = {0, 0, 1, 2, 2};
    for (int i = 0; i < 5; ++i) put(world, groups[i], 0, at[i]);
    run_plans(world);
    for (int i = 0; i < 5; ++i)
        assert_true(fabsf(world->agents.preferred_x[i] - expected[i]) < 0.01f);
    hand_world_destroy(world);
    hand_destroy(hand);
}

static void any_number_of_threads(void **state) {
    (void)state;
    hand_scene *hand = rooms();
    th_world *world = hand_world(hand, 3000);
    uint32_t seed = 6;
    for (int i = 0; i < 3000; ++i)
        put(world, 0, 0, th_v(hand_random(&seed, 0.2f, 19.8f), hand_random(&seed, 0.2f, 9.8f)));
    float first[3000];
    for (int threads = 1; threads <= 8; threads = threads == 3 ? 8 : threads + 1) {
        world->threads = threads;
        run_plans(world);
        if (threads == 1) memcpy(first, world->agents.preferred_x, sizeof first);
        assert_memory_equal(first, world->agents.preferred_x, sizeof first);
    }
    hand_world_destroy(world);
    hand_destroy(hand);
}

static void unreachable_goals_are_named(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 10.0f, 10.0f);
    hand_thin(hand, 5.0f, 0.0f, 5.0f, 10.0f);
    int near = hand_goal_box(hand, 0, 3.0f, 1.0f, 4.0f, 2.0f);
    int behind = hand_goal_box(hand, 0, 8.0f, 1.0f, 9.0f, 2.0f);
    hand->goals[1].id = "platform";
    int route[2] = {near, behind};
    hand_group(hand, 0, hand_box_shape(hand, 1.0f, 1.0f, 2.0f, 9.0f), route, 2);
    hand->groups[0].id = "travellers";
    assert_true(th_wall_grids_build(&hand->scene));
    th_error error = {0};
    assert_int_equal(th_plan_prepare(&hand->scene, &error), TH_BAD_SCENE);
    assert_string_equal(error.path, "groups[0].route[1]");
    assert_non_null(strstr(error.message, "travellers"));
    assert_non_null(strstr(error.message, "platform"));
    assert_non_null(strstr(error.message, "a wall"));
    assert_null(hand->scene.plan);
    hand->goals[1].area.shape = hand_box_shape(hand, 18.0f, 1.0f, 19.0f, 2.0f);
    assert_int_equal(th_plan_prepare(&hand->scene, &error), TH_BAD_SCENE);
    assert_non_null(strstr(error.message, "the goal itself"));
    hand->groups[0].area.shape = hand_box_shape(hand, 18.0f, 1.0f, 19.0f, 2.0f);
    assert_int_equal(th_plan_prepare(&hand->scene, &error), TH_BAD_SCENE);
    assert_string_equal(error.path, "groups[0].route[0]");
    assert_non_null(strstr(error.message, "the start"));
    hand_destroy(hand);
}

// A scene with a door shut at the start is accepted: the door may open.
static void shut_doors_may_open(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 10.0f, 10.0f);
    hand_door(hand, 5.0f, 0.0f, 5.0f, 10.0f, true);
    int behind = hand_goal_box(hand, 0, 8.0f, 1.0f, 9.0f, 2.0f);
    hand_group(hand, 0, hand_box_shape(hand, 1.0f, 1.0f, 2.0f, 9.0f), &behind, 1);
    assert_true(th_wall_grids_build(&hand->scene));
    assert_int_equal(th_plan_prepare(&hand->scene, NULL), TH_OK);
    th_world *world = hand_world(hand, 1);
    assert_true(isinf(th_plan_distance(world, behind, 0, th_v(2, 2))));
    world->door_closed[0] = 0;
    th_plan_walls_changed(world);
    assert_same_as_from_scratch(world);
    float distance = th_plan_distance(world, behind, 0, th_v(2, 1.5f));
    assert_true(fabsf(distance - 6.0f) < 0.06f);
    hand_world_destroy(world);
    hand_destroy(hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doors_change_only_what_they_touch),
        cmocka_unit_test(live_walls_bend_ways),
        cmocka_unit_test(other_phases_stand),
        cmocka_unit_test(straight_lines),
        cmocka_unit_test(zones_slow_all_agents),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(unreachable_goals_are_named),
        cmocka_unit_test(shut_doors_may_open),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
