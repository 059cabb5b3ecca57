// Signed distance and walkability. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "hand_scene.h"

static hand_scene *two_rooms(void) {
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 40.0f, 20.0f);
    hand_block(hand, 10.0f, 5.0f, 20.0f, 15.0f);
    hand_thin(hand, 30.0f, 0.0f, 30.0f, 12.3f);
    hand_door(hand, 30.0f, 12.3f, 30.0f, 20.0f, true);
    hand_level(hand, false);
    hand_block(hand, 10.0f, 5.0f, 20.0f, 15.0f);
    hand_level(hand, false);
    assert_true(th_wall_grids_build(&hand->scene));
    return hand;
}

static float true_distance(const hand_scene *hand, int level, th_vec2 p) {
    float best = 1e12f;
    for (int w = hand->levels[level].wall_begin; w < hand->levels[level].wall_end; ++w)
        if (hand->walls[w].door < 0)
            best = th_min(best, th_segment_distance2(p, hand->walls[w].a, hand->walls[w].b));
    return sqrtf(best);
}

static void distance_is_exact_near_walls(void **state) {
    (void)state;
    hand_scene *hand = two_rooms();
    uint32_t seed = 5;
    float worst_far = 0.0f;
    for (int trial = 0; trial < 20000; ++trial) {
        int level = trial & 1;
        th_vec2 p = {hand_random(&seed, -6.0f, 46.0f), hand_random(&seed, -6.0f, 26.0f)};
        float expected = true_distance(hand, level, p);
        bool solid = p.x > 10.0f && p.x < 20.0f && p.y > 5.0f && p.y < 15.0f;
        bool outside = level == 0 && (p.x < 0.0f || p.x > 40.0f || p.y < 0.0f || p.y > 20.0f);
        float d = th_scene_distance(&hand->scene, level, p);
        assert_true((d > 0.0f) == !(solid || outside));
        assert_true(th_scene_walkable(&hand->scene, level, p) == !(solid || outside));
        float error = fabsf(fabsf(d) - expected);
        if (expected < 1.5f)
            assert_true(error < 1e-5f);
        else
            worst_far = th_max(worst_far, error);
    }
    assert_true(worst_far < 0.36f); // 0.71 cells of 0.5 m
    hand_destroy(hand);
}

static void plain_ground(void **state) {
    (void)state;
    hand_scene *hand = two_rooms();
    assert_true(th_scene_distance(&hand->scene, 2, th_v(3, 4)) == 1e6f);
    assert_true(th_scene_walkable(&hand->scene, 2, th_v(-300, 4)));
    assert_false(th_scene_walkable(&hand->scene, 7, th_v(3, 4)));
    assert_false(th_scene_walkable(&hand->scene, 0, th_v(NAN, 4)));
    hand_destroy(hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_exact_near_walls),
        cmocka_unit_test(plain_ground),
    };
    return cmocka_run_group_tests_name("sdf", tests, NULL, NULL);
}
