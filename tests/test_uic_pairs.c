// Unilateral incompressibility: the pair step, two people at a time. The missing distance is known, and so are their
// places afterwards. SPDX-License-Identifier: Apache-2.0
#include "move/uic/pairs.h"
#include "support.h"
#include <math.h>
#include <stdio.h>

// They stand for the first `premovement` seconds, so nothing moves them but the pair step.
static const char room[] =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 30, 10]}, \"walls\": [[[0, 5], [30, 5]]]}],"
    " \"exits\": [{\"id\": \"out\", \"line\": [[30, 0], [30, 10]]}],"
    " \"groups\": [{\"id\": \"people\", \"count\": 2, \"area\": {\"rect\": [1, 1, 5, 4]}, \"to\": "
    "\"out\","
    " \"radius\": 0.2, \"speed\": 1.2, \"premovement\": %g, \"move\": {\"model\": \"uic\"%s}}],"
    " \"run\": {\"step\": %g, \"max_time\": 60}}";

typedef struct two {
    th_scene *scene;
    th_world *world;
} two;

// Index of the first or second of them.
static int number_of(const th_agents *a, int which) {
    return (a->id[0] < a->id[1]) == (which == 0) ? 0 : 1;
}

static two two_people(const char *params, double step, double wait, th_vec2 a, th_vec2 b) {
    char text[1024];
    snprintf(text, sizeof text, room, wait, params, step);
    two t = {scene_of(text), NULL};
    t.world = world_of(t.scene, 1, 1);
    th_agents *agents = &t.world->agents;
    for (int i = 0; i < 2; ++i) {
        th_vec2 p = i == number_of(agents, 0) ? a : b;
        agents->position_x[i] = p.x;
        agents->position_y[i] = p.y;
    }
    return t;
}

static void end(two *t) {
    assert_invariants(t->world);
    th_world_destroy(t->world);
    th_scene_destroy(t->scene);
}

// Where the first or second of them stands now.
static th_vec2 place_of(const two *t, int which) {
    const th_agents *a = &t->world->agents;
    return th_position(a, (uint32_t)number_of(a, which));
}

static float apart(const two *t) { return th_length(th_sub(place_of(t, 0), place_of(t, 1))); }

// One pass takes 0.6 of what is missing to 0.5 m; the tidying ones make up what is missing to 1.025 d_min.
static void agents_still_tight_are_tidied(void **state) {
    (void)state;
    const th_vec2 a = {5, 2}, b = {5, 2.1f};
    two plain = two_people(", \"separation_passes\": 1, \"tidy_passes\": 0, \"pair_substep\": 1, "
                           "\"pair_distance\": 1.25",
                           0.2, 9, a, b);
    two tidy = two_people(", \"separation_passes\": 1, \"pair_substep\": 1", 0.2, 9, a, b);
    th_world_step(plain.world, 1);
    th_world_step(tidy.world, 1);
    assert_true(apart(&plain) < 0.36f);
    assert_true(apart(&tidy) > 0.40f && apart(&tidy) < 0.43f);
    end(&plain);
    end(&tidy);
}

// A slow agent cannot take its half of a push: the other takes the rest in the next pass.
static void slow_agents_are_not_run_over(void **state) {
    (void)state;
    two t = two_people("", 0.1, 9, th_v(5, 2), th_v(5, 2.1f));
    float *speed = t.world->agents.speed;
    int slow = number_of(&t.world->agents, 0);
    speed[slow] = 0.2f;
    speed[1 - slow] = 5.0f;
    th_world_step(t.world, 1);
    assert_true(apart(&t) > 0.40f); // 0.28 with the limit at the end of the step
    end(&t);
}

// An agent that gives way comes nearer to others, one that keeps little distance does not keep more.
static void agents_that_give_way_squeeze(void **state) {
    (void)state;
    assert_near(th_uic_half_of(0.665f, 0.0f), 0.665, 1e-6);
    assert_near(th_uic_half_of(0.665f, 0.5f), 0.62, 1e-6);
    assert_near(th_uic_half_of(0.665f, 1.0f), 0.575, 1e-6);
    assert_near(th_uic_half_of(0.55f, 1.0f), 0.55, 1e-6);
}

// A pass moves an agent by d_min / 2 at most, however many push it.
static void a_pass_moves_no_agent_far(void **state) {
    (void)state;
    two t = two_people("", 0.1, 9, th_v(5, 2), th_v(9, 2));
    th_world_step(t.world, 1);
    th_uic_pair_step step = {0};
    assert_true(th_uic_plan_passes(t.world, &step).passes > 0);
    th_uic_begin_pairs(t.world, &step, 0);
    th_walls walls = th_world_walls(t.world);
    th_uic_push push = {{-3.0f, 4.0f}, false, 1e6f};
    th_vec2 p = {6, 3};
    t.world->agents.position_x[0] = p.x;
    t.world->agents.position_y[0] = p.y;
    t.world->agents.speed[0] = 5.0f;
    th_vec2 to = th_uic_take_push(t.world, &step, &walls, 0, p, push, false);
    assert_near(to.x, 6 - 0.6 * 0.2, 1e-5);
    assert_near(to.y, 3 + 0.8 * 0.2, 1e-5);
    push.sum =
        th_v(0.1f, 0.0f); // less than that is taken as it is, by the share of an ordinary pass
    to = th_uic_take_push(t.world, &step, &walls, 0, p, push, false);
    assert_near(to.x, 6 + 0.6 * 0.1, 1e-5);
    end(&t);
}

static void two_at_the_same_place_part(void **state) {
    (void)state;
    two t = two_people("", 0.1, 9, th_v(5, 2), th_v(5, 2));
    th_world_step(t.world, 1);
    assert_true(apart(&t) > 0.2f);
    th_world_step(t.world, 4);
    assert_true(apart(&t) > 0.39f);
    end(&t);
}

// A walking agent takes a quarter of what it and an arrived one lack.
static void arrived_agents_make_room(void **state) {
    (void)state;
    two t = two_people(", \"tidy_passes\": 0, \"pair_distance\": 1.25", 0.1, 9, th_v(5, 2),
                       th_v(5, 2.3f));
    th_agents *a = &t.world->agents;
    a->phase[number_of(a, 0)] = TH_PHASE_ARRIVED;
    th_world_step(t.world, 1);
    float stood = 2.0f - place_of(&t, 0).y, walked = place_of(&t, 1).y - 2.3f;
    assert_true(stood > 0.05f && walked > 0.01f);
    assert_near(stood / walked, 3, 0.3);
    end(&t);
}

// 0.46 m from each other but a wall between them: nothing to do with each other.
static void a_wall_between_parts_pairs(void **state) {
    (void)state;
    two t = two_people("", 0.1, 9, th_v(5, 4.77f), th_v(5, 5.23f));
    th_world_step(t.world, 1);
    assert_near(place_of(&t, 0).y, 4.77, 0.002);
    assert_near(place_of(&t, 1).y, 5.23, 0.002);
    end(&t);
}

// Pressed between a wall and another: the wall does not give way, so the other has to.
static void a_wall_holds_in_the_pair_step(void **state) {
    (void)state;
    two t = two_people("", 0.2, 9, th_v(5, 4.8f), th_v(5, 4.55f));
    th_world_step(t.world, 1);
    assert_near(place_of(&t, 0).y, 4.8, 0.002);
    assert_true(apart(&t) > 0.39f);
    end(&t);
}

// In a long step people walk a piece, make room, walk on. In one go the one would be past the other before either
// looks.
static void long_steps_are_walked_in_pieces(void **state) {
    (void)state;
    two t = two_people(", \"pair_substep\": 0.1, \"pressure\": 0", 0.4, 0, th_v(5, 2),
                       th_v(5.45f, 2.02f));
    th_agents *a = &t.world->agents;
    a->speed[number_of(a, 0)] = 2.4f; // 0.96 m in the step
    a->wait_until[number_of(a, 1)] = 9.0f;
    th_world_step(t.world, 1);
    assert_true(place_of(&t, 0).x < place_of(&t, 1).x);
    end(&t);
}

// One at the top of the stairs, one beyond it on the upper floor.
static void pairs_across_a_link_are_pairs(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"id": "low", "walkable": {"rect": [0, 0, 12, 10]}}, {"id": "high", "z": 3,
            "walkable": {"rect": [18, 0, 34, 10]}}],
        "stairs": [{"id": "stairs", "level": "low", "to": "high",
            "area": {"rect": [12, 4, 18, 7]}, "top": [[18, 4], [18, 7]]}],
        "exits": [{"id": "out", "level": "low", "line": [[0, 3], [0, 7]]}],
        "groups": [{"id": "people", "level": "high", "count": 2, "area": {"rect": [20, 2, 30, 8]}, "to": "out",
            "radius": 0.2, "speed": 0.1, "move": "uic"}],
        "run": {"step": 0.1}}));
    two t = {scene, world_of(scene, 1, 1)};
    th_agents *a = &t.world->agents;
    for (int i = 0; i < 2; ++i) {
        a->position_x[i] = i == 0 ? 17.9f : 18.1f;
        a->position_y[i] = 5.5f;
        a->level[i] = i == 0 ? 0 : 1;
    }
    float before = apart(&t);
    th_world_step(t.world, 5);
    assert_true(apart(&t) > before + 0.05f);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agents_still_tight_are_tidied),
        cmocka_unit_test(slow_agents_are_not_run_over),
        cmocka_unit_test(agents_that_give_way_squeeze),
        cmocka_unit_test(a_pass_moves_no_agent_far),
        cmocka_unit_test(two_at_the_same_place_part),
        cmocka_unit_test(arrived_agents_make_room),
        cmocka_unit_test(a_wall_between_parts_pairs),
        cmocka_unit_test(a_wall_holds_in_the_pair_step),
        cmocka_unit_test(long_steps_are_walked_in_pieces),
        cmocka_unit_test(pairs_across_a_link_are_pairs),
    };
    return cmocka_run_group_tests_name("uic pairs", tests, NULL, NULL);
}
