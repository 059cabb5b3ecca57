// The wall grid against looking at every wall. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "hand_scene.h"

static hand_scene *nasty(uint32_t seed) {
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 30.0f, 20.0f);
    for (int i = 0; i < 40; ++i) {
        float x = hand_random(&seed, 1.0f, 29.0f), y = hand_random(&seed, 1.0f, 19.0f);
        hand_thin(hand, x, y, x + hand_random(&seed, -6.0f, 6.0f),
                  y + hand_random(&seed, -6.0f, 6.0f));
    }
    hand_door(hand, 10.0f, 0.0f, 10.0f, 20.0f, true);
    hand_level(hand, false);
    hand_block(hand, 5.0f, 5.0f, 6.0f, 6.0f);
    assert_true(th_wall_grids_build(&hand->scene));
    return hand;
}

static th_walls walls_of(const hand_scene *hand, const th_wall *walls, int count,
                         const uint8_t *closed) {
    th_walls all = {
        walls, hand->scene.wall_count, count, closed, hand->scene.wall_grids, 0.0f, NULL, 0, false,
        0.0f};
    return all;
}

static void near_is_sorted_and_complete(void **state) {
    (void)state;
    hand_scene *hand = nasty(1);
    uint8_t closed[1] = {1};
    uint32_t seed = 7;
    for (int trial = 0; trial < 4000; ++trial) {
        closed[0] = (uint8_t)(trial & 1);
        th_walls walls = walls_of(hand, hand->walls, hand->scene.wall_count, closed);
        th_vec2 p = {hand_random(&seed, -4.0f, 34.0f), hand_random(&seed, -4.0f, 24.0f)};
        float range =
            trial % 3 == 0 ? hand_random(&seed, 2.0f, 12.0f) : hand_random(&seed, 0.0f, 2.0f);
        int found[256], expected = 0;
        float distances2[256];
        int count = th_walls_near(&walls, 0, p, range, found, distances2, 256);
        for (int w = 0; w < hand->levels[0].wall_end; ++w)
            if (th_wall_stands(&walls, &hand->walls[w]) &&
                th_segment_distance2(p, hand->walls[w].a, hand->walls[w].b) <= range * range)
                ++expected;
        assert_int_equal(count, expected);
        for (int i = 1; i < count; ++i)
            assert_true(distances2[i - 1] < distances2[i] ||
                        (distances2[i - 1] == distances2[i] && found[i - 1] < found[i]));
        int few[3];
        int kept = th_walls_near(&walls, 0, p, range, few, NULL, 3);
        assert_int_equal(kept, count < 3 ? count : 3);
        for (int i = 0; i < kept; ++i) assert_int_equal(few[i], found[i]);
        if (count > 0 && range <= 2.0f) assert_true(th_walls_maybe_near(&walls, 0, p));
    }
    hand_destroy(hand);
}

static void first_crossing_is_the_first(void **state) {
    (void)state;
    hand_scene *hand = nasty(2);
    uint8_t closed[1] = {0};
    uint32_t seed = 9;
    int crossed = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        closed[0] = (uint8_t)(trial & 1);
        th_walls walls = walls_of(hand, hand->walls, hand->scene.wall_count, closed);
        float reach = trial % 2 ? 0.5f : 25.0f;
        th_vec2 p = {hand_random(&seed, 0.0f, 30.0f), hand_random(&seed, 0.0f, 20.0f)};
        th_vec2 q = {p.x + hand_random(&seed, -reach, reach),
                     p.y + hand_random(&seed, -reach, reach)};
        double first = 2.0, t;
        for (int w = 0; w < hand->levels[0].wall_end; ++w)
            if (th_wall_stands(&walls, &hand->walls[w]) &&
                th_segments_meet(p, q, hand->walls[w].a, hand->walls[w].b, &t) && t < first)
                first = t;
        float found_t = -1.0f;
        int wall = th_walls_first_crossing(&walls, 0, p, q, &found_t);
        assert_true((wall >= 0) == (first <= 1.0));
        if (wall < 0) continue;
        ++crossed;
        assert_true(fabs((double)found_t - first) < 1e-6 && (double)found_t <= first);
    }
    assert_in_range(crossed, 500, 5900);
    hand_destroy(hand);
}

static void touching_and_lying_along_count(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, false);
    hand_thin(hand, 0.0f, 0.0f, 4.0f, 0.0f);
    assert_true(th_wall_grids_build(&hand->scene));
    th_walls walls = walls_of(hand, hand->walls, hand->scene.wall_count, NULL);
    float t;
    assert_true(th_walls_first_crossing(&walls, 0, th_v(2, 1), th_v(2, 0), &t) >= 0);
    assert_true(t == 1.0f);
    assert_true(th_walls_first_crossing(&walls, 0, th_v(2, 0), th_v(2, 1), &t) >= 0);
    assert_true(t == 0.0f);
    assert_true(th_walls_first_crossing(&walls, 0, th_v(-1, 0), th_v(5, 0), &t) >= 0);
    assert_true(fabsf(t - 1.0f / 6.0f) < 1e-6f);
    assert_true(th_walls_first_crossing(&walls, 0, th_v(1, 0), th_v(2, 0), &t) >= 0);
    assert_true(t == 0.0f);
    assert_true(th_walls_first_crossing(&walls, 0, th_v(4, -1), th_v(4, 1), &t) >=
                0); // the very end
    assert_true(th_walls_first_crossing(&walls, 0, th_v(2, 0), th_v(2, 0), &t) >=
                0); // standing on it
    assert_int_equal(th_walls_first_crossing(&walls, 0, th_v(4.001f, -1), th_v(4.001f, 1), &t), -1);
    assert_int_equal(th_walls_first_crossing(&walls, 0, th_v(1, 0.001f), th_v(3, 0.001f), &t), -1);
    assert_int_equal(th_walls_first_crossing(&walls, 0, th_v(NAN, 0), th_v(3, NAN), &t), -1);
    hand_destroy(hand);
}

static void live_walls_and_levels(void **state) {
    (void)state;
    hand_scene *hand = nasty(3);
    uint8_t closed[1] = {0};
    int count = hand->scene.wall_count;
    th_wall *walls_now = calloc((size_t)count + 1, sizeof *walls_now);
    memcpy(walls_now, hand->walls, (size_t)count * sizeof *walls_now);
    walls_now[count] =
        (th_wall){.a = {100, 0}, .b = {100, 10}, .length = 10, .level = 1, .door = -1};
    th_walls walls = walls_of(hand, walls_now, count + 1, closed);
    assert_int_equal(th_walls_first_crossing(&walls, 1, th_v(99, 5), th_v(101, 5), NULL), count);
    assert_int_equal(th_walls_first_crossing(&walls, 0, th_v(99, 5), th_v(101, 5), NULL), -1);
    int found;
    assert_int_equal(th_walls_near(&walls, 1, th_v(99, 5), 1.5f, &found, NULL, 1), 1);
    assert_int_equal(found, count);
    walls_now[count].length = 0.0f; // removed
    assert_int_equal(th_walls_first_crossing(&walls, 1, th_v(99, 5), th_v(101, 5), NULL), -1);
    assert_true(fabsf(th_walls_distance(&walls, 1, th_v(106, 5.5f)) - 100.0f) < 1e-3f);
    free(walls_now);
    hand_destroy(hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_is_sorted_and_complete),
        cmocka_unit_test(first_crossing_is_the_first),
        cmocka_unit_test(touching_and_lying_along_count),
        cmocka_unit_test(live_walls_and_levels),
    };
    return cmocka_run_group_tests_name("walls", tests, NULL, NULL);
}
