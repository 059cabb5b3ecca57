// Distance fields against exact geodesics. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "hand_scene.h"
#include "support.h"

static th_way way_at(const hand_scene *hand, int target, int level, th_vec2 p) {
    const struct th_plan_scene *plan = hand->scene.plan;
    th_walls walls = {hand->scene.walls,
                      hand->scene.wall_count,
                      hand->scene.wall_count,
                      plan->door_closed,
                      hand->scene.wall_grids,
                      0.0f,
                      NULL,
                      0,
                      false,
                      0.0f};
    return th_field_way(&plan->plans[0].graph, &walls, plan->plans[0].fields[target], level, p);
}

static void prepare(hand_scene *hand, int level) {
    th_error error = {0};
    hand_want_all(hand, level);
    assert_true(th_wall_grids_build(&hand->scene));
    th_result result = th_plan_prepare(&hand->scene, &error);
    if (result != TH_OK) fail_msg("%s: %s", error.path, error.message);
}

static void assert_within(float got, float expected, float share) {
    if (fabsf(got - expected) > share * expected)
        fail_msg("%g is not within %g %% of %g", (double)got, (double)share * 100,
                 (double)expected);
}

static void straight_corridor(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 40.0f, 2.0f);
    int target = hand_goal_line(hand, 0, 39.5f, 0.0f, 39.5f, 2.0f);
    prepare(hand, 0);
    for (float x = 0.5f; x < 38.0f; x += 1.37f) {
        th_way way = way_at(hand, target, 0, th_v(x, 1.03f));
        assert_within(way.distance, 39.5f - x, 0.01f);
        assert_true(way.direction.x > 0.999f);
    }
    hand_destroy(hand);
}

static void point_goal_on_free_ground(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, -20.0f, -20.0f, 20.0f, 20.0f);
    int target = hand_goal_box(hand, 0, -0.05f, -0.05f, 0.05f, 0.05f);
    prepare(hand, 0);
    uint32_t seed = 3;
    for (int i = 0; i < 3000; ++i) {
        th_vec2 p = {hand_random(&seed, -19.0f, 19.0f), hand_random(&seed, -19.0f, 19.0f)};
        float exact =
            th_length(th_v(th_max(fabsf(p.x) - 0.05f, 0.0f), th_max(fabsf(p.y) - 0.05f, 0.0f)));
        if (exact < 1.5f) continue; // nearer, the plan stage walks straight to the goal
        th_way way = way_at(hand, target, 0, p);
        assert_within(way.distance, exact, 0.01f);
        assert_true(th_dot(way.direction, th_unit(p)) < -0.995f); // within 6 degrees
    }
    hand_destroy(hand);
}

static void round_a_corner(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    th_vec2 ell[6] = {{0, 0}, {0, 2}, {10, 2}, {10, 12}, {12, 12}, {12, 0}};
    hand_ring(hand, ell, 6);
    int target = hand_goal_line(hand, 0, 10.0f, 11.8f, 12.0f, 11.8f);
    prepare(hand, 0);
    // The goal line lies straight above the corner, so this is the way of an agent 0.2 m wide that
    // keeps that much off it: to the tangent, round the corner, and 9.8 m up.
    for (float x = 0.5f; x < 9.0f; x += 0.9f) {
        double dx = 10.0 - (double)x, dy = 2.0 - 0.7, length = sqrt(dx * dx + dy * dy),
               radius = 0.2;
        double heading = atan2(dy, dx) - asin(radius / length);
        double exact =
            sqrt(length * length - radius * radius) + radius * (1.5707963 - heading) + 9.8;
        assert_within(way_at(hand, target, 0, th_v(x, 0.7f)).distance, (float)exact, 0.02f);
    }
    hand_destroy(hand);
}

// Exact way through the gap (10, 9..10) in a thin wall, from left to right.
static float through_gap(th_vec2 p, th_vec2 goal) {
    double t;
    if (th_segments_meet(p, goal, th_v(10, 9), th_v(10, 10), &t)) return th_length(th_sub(goal, p));
    float by_low = th_length(th_sub(p, th_v(10, 9))) + th_length(th_sub(goal, th_v(10, 9)));
    float by_high = th_length(th_sub(p, th_v(10, 10))) + th_length(th_sub(goal, th_v(10, 10)));
    return th_min(by_low, by_high);
}

static void gap_in_a_thin_wall(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 20.0f);
    hand_thin(hand, 10.0f, 0.0f, 10.0f, 9.0f);
    hand_thin(hand, 10.0f, 10.0f, 10.0f, 20.0f);
    int target = hand_goal_box(hand, 0, 17.95f, 2.95f, 18.05f, 3.05f);
    prepare(hand, 0);
    uint32_t seed = 11;
    for (int i = 0; i < 1000; ++i) {
        th_vec2 p = {hand_random(&seed, 0.4f, 8.5f), hand_random(&seed, 0.4f, 19.6f)};
        assert_within(way_at(hand, target, 0, p).distance, through_gap(p, th_v(18, 3)), 0.02f);
    }
    hand_destroy(hand);
}

// Follows the field for up to `seconds` at 1.3 m/s in steps of 0.05 s; never through a wall.
static float walk(const hand_scene *hand, int target, int level, th_vec2 p, float seconds) {
    const struct th_plan_scene *plan = hand->scene.plan;
    th_walls walls = {hand->scene.walls,
                      hand->scene.wall_count,
                      hand->scene.wall_count,
                      plan->door_closed,
                      hand->scene.wall_grids,
                      0.0f,
                      NULL,
                      0,
                      false,
                      0.0f};
    float distance = 0.0f;
    for (float time = 0.0f; time < seconds; time += 0.05f) {
        th_way way = way_at(hand, target, level, p);
        distance = way.distance;
        if (distance < 0.3f) break;
        th_vec2 q = th_add(p, th_scale(0.05f * 1.3f, way.direction));
        if (th_walls_first_crossing(&walls, level, p, q, NULL) >= 0)
            fail_msg("the way at (%g, %g) leads through a wall", (double)p.x, (double)p.y);
        p = q;
    }
    return distance;
}

static void narrow_door(void **state) {
    (void)state;
    for (int shift = 0; shift < 8; ++shift) { // wherever the lattice happens to lie
        float low = 4.0f + 0.03f * (float)shift, x = 5.0f + 0.025f * (float)shift;
        hand_scene *hand = hand_create();
        hand_level(hand, true);
        hand_room(hand, 0.0f, 0.0f, 10.0f, 10.0f);
        hand_thin(hand, x, 0.0f, x, low);
        hand_thin(hand, x, low + 0.5f, x, 10.0f);
        int target = hand_goal_box(hand, 0, 8.5f, 0.5f, 9.5f, 1.5f);
        prepare(hand, 0);
        uint32_t seed = 1;
        for (int i = 0; i < 40; ++i) {
            th_vec2 p = {hand_random(&seed, 0.1f, 4.9f), hand_random(&seed, 0.1f, 9.9f)};
            assert_true(walk(hand, target, 0, p, 15.0f) < 0.3f);
        }
        // Inside the door the direction leads through it, not against its posts: a body of 0.2 m fits.
        th_way way = way_at(hand, target, 0, th_v(x - 0.1f, low + 0.25f));
        assert_true(way.direction.x > 0.7f);
        hand_destroy(hand);
    }
}

static void never_through_a_wall(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    uint32_t seed = 4;
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 20.0f);
    for (int i = 0; i < 60; ++i) {
        float x = hand_random(&seed, 1.0f, 18.0f), y = hand_random(&seed, 1.0f, 18.0f);
        hand_thin(hand, x, y, x + hand_random(&seed, -1.5f, 1.5f),
                  y + hand_random(&seed, -1.5f, 1.5f));
    }
    for (int i = 0; i < 60; ++i) { // smaller than the spacing
        float x = hand_random(&seed, 1.0f, 18.0f), y = hand_random(&seed, 1.0f, 18.0f);
        hand_thin(hand, x, y, x + 0.07f, y + 0.05f);
    }
    int target = hand_goal_box(hand, 0, 18.6f, 18.6f, 19.4f, 19.4f);
    prepare(hand, 0);
    int arrived = 0;
    for (int i = 0; i < 300; ++i) {
        th_vec2 p = {hand_random(&seed, 0.1f, 19.9f), hand_random(&seed, 0.1f, 19.9f)};
        arrived += walk(hand, target, 0, p, 40.0f) < 0.3f;
    }
    assert_true(arrived >= 295); // a few may start in pockets between the walls
    uint8_t none = 0;
    th_walls walls = {hand->walls,
                      hand->scene.wall_count,
                      hand->scene.wall_count,
                      &none,
                      hand->scene.wall_grids,
                      0.0f,
                      NULL,
                      0,
                      false,
                      0.0f};
    for (int i = 0; i < 20000; ++i) {
        th_vec2 p = {hand_random(&seed, 0.01f, 19.9f), hand_random(&seed, 0.01f, 19.9f)};
        th_way way = way_at(hand, target, 0, p);
        assert_true(way.direction.x == way.direction.x && th_length2(way.direction) < 1.0001f);
        th_vec2 q = th_add(p, th_scale(0.02f, way.direction));
        float t;
        int wall = th_walls_first_crossing(&walls, 0, p, q, &t);
        // Only agents already at the wall (its tip, rounding) may be led along its face.
        if (wall >= 0 && th_walls_distance(&walls, 0, p) > 0.01f)
            fail_msg("at (%g, %g) the way leads through wall %d", (double)p.x, (double)p.y, wall);
    }
    hand_destroy(hand);
}

// A lower floor (x 0..10), stairs x 10..14 going up in +x, an upper floor x 14..24.
static hand_scene *two_levels(float up, float down) {
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    th_vec2 lower[8] = {{0, 0}, {0, 6}, {10, 6}, {10, 4}, {14, 4}, {14, 2}, {10, 2}, {10, 0}};
    for (int i = 0; i < 8; ++i) hand->points[hand->point_count++] = lower[i];
    hand_current(hand)->walkable.ring_count = 1;
    hand->ring_starts[hand->ring_start_count++] = 8;
    for (int i = 0; i < 8; ++i)
        if (i != 4)
            hand_edge(hand, lower[i], lower[(i + 1) % 8], -1); // open at the top of the stairs
    hand_level(hand, true);
    th_vec2 upper[6] = {{14, 0}, {14, 2}, {14, 4}, {14, 6}, {24, 6}, {24, 0}};
    for (int i = 0; i < 6; ++i) hand->points[hand->point_count++] = upper[i];
    hand_current(hand)->walkable.ring_count = 1;
    hand->ring_starts[hand->ring_start_count++] = 6;
    for (int i = 0; i < 6; ++i)
        if (i != 1) hand_edge(hand, upper[i], upper[(i + 1) % 6], -1);
    hand->links[hand->scene.link_count++] = (th_link){"stairs", {0, 1}, {14, 2}, {14, 4}, {1, 0}};
    hand_zone(hand, 0, hand_box_shape(hand, 10.0f, 2.0f, 14.0f, 4.0f), up, down, th_v(1, 0));
    return hand;
}

static void stairs_between_levels(void **state) {
    (void)state;
    hand_scene *hand = two_levels(0.5f, 0.8f);
    int above = hand_goal_line(hand, 1, 22.0f, 0.0f, 22.0f, 6.0f);
    int below = hand_goal_line(hand, 0, 2.0f, 0.0f, 2.0f, 6.0f);
    prepare(hand, 0);
    th_way up = way_at(hand, above, 0, th_v(4.0f, 3.05f));
    assert_within(up.distance, 6.0f + 4.0f / 0.5f + 8.0f, 0.02f);
    assert_true(up.direction.x > 0.99f);
    th_way down = way_at(hand, below, 1, th_v(20.0f, 3.05f));
    assert_within(down.distance, 6.0f + 4.0f / 0.8f + 8.0f, 0.02f);
    assert_true(down.direction.x < -0.99f);
    // Just before and behind the line, where the nodes ahead belong to the other level.
    for (float y = 2.15f; y < 3.9f; y += 0.1f) {
        assert_true(way_at(hand, above, 0, th_v(13.98f, y)).direction.x > 0.5f);
        assert_true(way_at(hand, above, 1, th_v(14.02f, y)).direction.x > 0.5f);
        assert_true(way_at(hand, below, 1, th_v(14.02f, y)).direction.x < -0.5f);
        assert_true(way_at(hand, below, 0, th_v(13.98f, y)).direction.x < -0.5f);
    }
    hand_destroy(hand);
}

static void slow_ground_is_walked_round(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 20.0f);
    hand_zone(hand, 0, hand_box_shape(hand, 8.0f, 0.0f, 12.0f, 12.0f), 0.2f, 0.2f, th_v(0, 0));
    int target = hand_goal_box(hand, 0, 17.9f, 9.9f, 18.1f, 10.1f);
    prepare(hand, 0);
    th_way way = way_at(hand, target, 0, th_v(2.0f, 10.0f));
    float round = 2.0f * sqrtf(6.0f * 6.0f + 2.0f * 2.0f) + 4.0f;
    assert_within(way.distance, round, 0.02f);
    assert_true(way.direction.y > 0.2f);
    hand_destroy(hand);
}

static void off_the_lattice_of_an_open_plane(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, false);
    hand_block(hand, 0.0f, 0.0f, 1.0f, 10.0f);
    int target = hand_goal_box(hand, 0, 5.0f, 4.9f, 5.2f, 5.1f);
    hand_current(hand)->box = (th_box){0, 0, 6, 10};
    prepare(hand, 0);
    th_way way = way_at(hand, target, 0, th_v(-30.0f, 5.0f));
    assert_true(way.direction.x > 0.5f && way.distance > 30.0f && way.distance < 60.0f);
    hand_destroy(hand);
}

// The nodes of a zone are those that its outline contains, holes left out; a later zone lies over an earlier one.
static void zones_hold_the_nodes_inside(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 12]}}], "exits": [{"line": [[0, 0], [0, 2]]}],
        "zones": [{"speed": 0.5, "area": {"wkt": "POLYGON((1 1, 12 2, 10 11, 2 9, 1 1), (4 4, 4 6, 7 6, 6 3, 4 4))"}},
            {"speed": 0.7, "area": {"points": [[5, 0], [6, 11], [7, 2], [8, 11.9], [9, 1], [19, 3], [5, 0]]}},
            {"speed": 0.9, "area": {"circle": [14, 6, 4]}}],
        "groups": [{"count": 1}]}));
    th_nodes nodes;
    assert_int_equal(th_nodes_build(&nodes, scene, 0.1, NULL), TH_OK);
    int in[4] = {0}, crossed = 0;
    for (int node = 0; node < nodes.count; ++node) {
        th_vec2 p = th_node_position(&nodes, &nodes.levels[0], node);
        int zone = 0, over = 0;
        for (int z = 0; z < 3; ++z)
            if (th_polygons_contain(&scene->zones[z].area.shape, p)) zone = z + 1, ++over;
        assert_int_equal(nodes.zone[node], zone);
        in[zone]++;
        crossed += over > 1;
    }
    for (int z = 0; z < 4; ++z) assert_true(in[z] > 1000);
    assert_true(crossed > 100);
    th_nodes_release(&nodes);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_corridor),
        cmocka_unit_test(point_goal_on_free_ground),
        cmocka_unit_test(round_a_corner),
        cmocka_unit_test(gap_in_a_thin_wall),
        cmocka_unit_test(narrow_door),
        cmocka_unit_test(never_through_a_wall),
        cmocka_unit_test(stairs_between_levels),
        cmocka_unit_test(slow_ground_is_walked_round),
        cmocka_unit_test(zones_hold_the_nodes_inside),
        cmocka_unit_test(off_the_lattice_of_an_open_plane),
    };
    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
