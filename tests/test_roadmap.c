// The road map against geodesics. SPDX-License-Identifier: Apache-2.0
#include "hand_scene.h"

static void want_own_goals(hand_scene *hand) {
    th_polygons whole = {0};
    hand_group(hand, 0, whole, NULL, 0);
    hand->groups[hand->scene.group_count - 1].own_goal = TH_OWN_GOAL_IN_AREA;
    hand->groups[hand->scene.group_count - 1].plan.model = TH_PLAN_ROADMAP;
}

static void prepare(hand_scene *hand) {
    th_error error = {0};
    assert_true(th_wall_grids_build(&hand->scene));
    if (th_plan_prepare(&hand->scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    assert_non_null(hand->scene.plan->plans[0].roadmap);
}

static th_walls walls_of(const hand_scene *hand, const uint8_t *closed) {
    th_walls walls = {hand->walls,
                      hand->scene.wall_count,
                      hand->scene.wall_count,
                      closed,
                      hand->scene.wall_grids,
                      0.0f,
                      NULL,
                      0,
                      false,
                      0.0f};
    return walls;
}

// Walks from p to the goal; the length of the way, -1 when it does not get there.
static float walk(const hand_scene *hand, const th_roadmap *roadmap, const uint8_t *closed,
                  int level, th_vec2 p, int goal_level, th_vec2 goal) {
    th_walls walls = walls_of(hand, closed);
    float length = 0.0f;
    for (int i = 0; i < 4000; ++i) {
        th_way way = th_roadmap_way(roadmap, &walls, level, p, goal_level, goal, NULL);
        if (way.distance >= TH_UNREACHABLE) return -1.0f;
        float step = th_min(0.05f, way.distance);
        th_vec2 q = th_add(p, th_scale(step, way.direction));
        for (int l = 0; l < hand->scene.link_count;
             ++l) { // an agent that crosses a link line changes level
            const th_link *link = &hand->links[l];
            float before = th_dot(th_sub(p, link->a), link->up);
            float after = th_dot(th_sub(q, link->a), link->up);
            if (level == link->level[0] && before < 0.0f && after >= 0.0f)
                level = link->level[1];
            else if (level == link->level[1] && before >= 0.0f && after < 0.0f)
                level = link->level[0];
        }
        if (th_walls_first_crossing(&walls, level, p, q, NULL) >= 0)
            fail_msg("at (%g, %g) the way leads through a wall", (double)p.x, (double)p.y);
        length += step;
        p = q;
        if (level == goal_level && th_length(th_sub(goal, p)) < 0.02f) return length;
    }
    return -1.0f;
}

// 8 x 8 pillars of 1.5 m, 3 m apart.
static hand_scene *pillars(void) {
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 27.0f, 27.0f);
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            float x = 2.25f + 3.0f * (float)i, y = 2.25f + 3.0f * (float)j;
            hand_block(hand, x, y, x + 1.5f, y + 1.5f);
        }
    return hand;
}

static void ways_among_pillars(void **state) {
    (void)state;
    hand_scene *hand = pillars();
    th_vec2 ends[6] = {{1, 1}, {26, 26}, {1, 26}, {26, 1}, {13.5f, 1}, {7.5f, 13.5f}};
    int targets[6];
    for (int i = 0; i < 6; ++i)
        targets[i] = hand_goal_box(hand, 0, ends[i].x - 0.01f, ends[i].y - 0.01f, ends[i].x + 0.01f,
                                   ends[i].y + 0.01f);
    hand->scene.plan_cell = 0.05; // the geodesics to compare with
    hand_want_all(hand, 0);
    want_own_goals(hand);
    prepare(hand);
    const struct th_plan_scene *plan = hand->scene.plan;
    th_walls walls = walls_of(hand, plan->door_closed);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            if (i == j) continue;
            float exact = th_field_way(&plan->plans[0].graph, &walls,
                                       plan->plans[0].fields[targets[j]], 0, ends[i])
                              .distance;
            float walked =
                walk(hand, plan->plans[0].roadmap, plan->door_closed, 0, ends[i], 0, ends[j]);
            if (!(walked > 0.0f && walked < 1.05f * exact))
                fail_msg("from %d to %d: %g m, geodesic %g m", i, j, (double)walked, (double)exact);
        }
    hand_destroy(hand);
}

// Nodes far apart that see each other: the map's way between them is hardly longer than the straight line, for which it
// needs edges longer than those to the nearest nodes.
static void far_ways_are_straight(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 60.0f, 40.0f);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 4; ++j) {
            float x = 5.0f + 10.0f * (float)i, y = 5.0f + 10.0f * (float)j;
            hand_block(hand, x, y, x + 0.5f, y + 0.5f);
        }
    want_own_goals(hand);
    prepare(hand);
    const th_roadmap *roadmap = hand->scene.plan->plans[0].roadmap;
    th_walls walls = walls_of(hand, hand->scene.plan->door_closed);
    double sum = 0;
    int count = 0;
    for (int a = 0; a < roadmap->count; ++a)
        for (int b = 0; b < roadmap->count; ++b) {
            th_vec2 p = roadmap->nodes[a].position, q = roadmap->nodes[b].position;
            float straight = th_length(th_sub(q, p));
            if (straight < 20.0f || th_walls_first_crossing(&walls, 0, p, q, NULL) >= 0) continue;
            sum += (double)(roadmap->table[a * roadmap->count + b] / straight);
            ++count;
        }
    assert_true(count > 100);
    assert_true(sum / count < 1.05); // 1.026; without long edges 1.10
    hand_destroy(hand);
}

// Goals that are too far to be looked for at once, seen from beside the only node: no agent turns back to it.
static void far_goals_are_gone_to(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 150.0f, 6.0f);
    hand_block(hand, 5.0f, 2.0f, 6.0f, 4.0f);
    want_own_goals(hand);
    prepare(hand);
    const struct th_plan_scene *plan = hand->scene.plan;
    th_vec2 goal = {148.0f, 1.0f};
    for (int k = 0; k < 20; ++k) {
        th_vec2 p = {4.0f + 0.2f * (float)k, 1.0f};
        float length = walk(hand, plan->plans[0].roadmap, plan->door_closed, 0, p, 0, goal);
        assert_true(fabsf(length - (goal.x - p.x)) < 0.5f);
    }
    hand_destroy(hand);
}

static void cost_does_not_grow_with_goals(void **state) {
    (void)state;
    hand_scene *hand = pillars();
    want_own_goals(hand);
    prepare(hand);
    const struct th_plan_scene *plan = hand->scene.plan;
    th_walls walls = walls_of(hand, plan->door_closed);
    uint32_t seed = 8;
    long work_few = 0, work_many = 0;
    th_vec2 few[2] = {{1, 26}, {26, 26}};
    for (int i = 0; i < 2000; ++i) {
        th_vec2 p = {hand_random(&seed, 0.1f, 26.9f), hand_random(&seed, 0.1f, 2.0f)};
        th_vec2 own = {hand_random(&seed, 0.1f, 26.9f), hand_random(&seed, 25.0f, 26.9f)};
        th_road_work a = {0, 0}, b = {0, 0};
        th_roadmap_way(plan->plans[0].roadmap, &walls, 0, p, 0, few[i & 1], &a);
        th_roadmap_way(plan->plans[0].roadmap, &walls, 0, p, 0, own, &b);
        // Hard bounds, whatever the goal: each turn strikes out one node of the lists.
        assert_true(b.pairs <= TH_ROAD_ENDS * TH_ROAD_ENDS * 6 * TH_ROAD_ENDS);
        assert_true(b.sights <= 12 * TH_ROAD_ENDS);
        work_few += a.pairs + a.sights;
        work_many += b.pairs + b.sights;
    }
    // 2000 different goals cost no more a head than 2.
    assert_true(work_many < 2 * work_few + 2000);
    hand_destroy(hand);
}

// Rooms in a row, joined by doors; no corner of a solid anywhere but the door jambs.
static void doors_open_and_shut(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 20.0f, 10.0f);
    hand_thin(hand, 10.0f, 2.0f, 10.0f, 8.0f);
    hand_door(hand, 10.0f, 0.0f, 10.0f, 2.0f, false);
    hand_door(hand, 10.0f, 8.0f, 10.0f, 10.0f, false);
    want_own_goals(hand);
    prepare(hand);
    th_roadmap *roadmap =
        th_roadmap_copy(hand->scene.plan->plans[0].roadmap, &hand->scene.arena->memory);
    assert_non_null(roadmap);
    th_vec2 p = {4, 3}, goal = {16, 3};
    float lengths[4];
    for (int doors = 0; doors < 4; ++doors) {
        uint8_t closed[2] = {doors & 1, (uint8_t)(doors >> 1)};
        th_walls walls = walls_of(hand, closed);
        th_roadmap_update(roadmap, &walls);
        lengths[doors] = walk(hand, roadmap, closed, 0, p, 0, goal);
    }
    assert_true(lengths[0] > 12.0f && lengths[0] < 13.0f);
    assert_true(lengths[1] > 15.6f && lengths[1] < 16.7f); // the upper door: 2 * |(6, 5)| = 15.6
    assert_true(lengths[2] > 12.0f && lengths[2] < 13.0f);
    assert_true(lengths[3] < 0.0f);
    // Back to the start: the same table again.
    uint8_t open[2] = {0, 0};
    th_walls walls = walls_of(hand, open);
    th_roadmap_update(roadmap, &walls);
    const th_roadmap *first = hand->scene.plan->plans[0].roadmap;
    size_t count = (size_t)first->count;
    assert_memory_equal(roadmap->table, first->table, count * count * sizeof(float));
    th_roadmap_destroy(roadmap);
    hand_destroy(hand);
}

static void over_the_stairs(void **state) {
    (void)state;
    hand_scene *hand = hand_create();
    hand_level(hand, true);
    hand_room(hand, 0.0f, 0.0f, 10.0f, 10.0f);
    hand_thin(hand, 5.0f, 0.0f, 5.0f, 8.0f);
    hand_level(hand, true);
    hand_room(hand, 8.0f, 0.0f, 18.0f, 10.0f);
    hand_thin(hand, 13.0f, 2.0f, 13.0f, 10.0f);
    hand->links[hand->scene.link_count++] = (th_link){"step", {0, 1}, {9, 4}, {9, 6}, {1, 0}};
    want_own_goals(hand);
    prepare(hand);
    const struct th_plan_scene *plan = hand->scene.plan;
    float up = walk(hand, plan->plans[0].roadmap, plan->door_closed, 0, th_v(1, 1), 1, th_v(17, 9));
    // round (5, 8), over the line and round (13, 2)
    float corner = th_length(th_v(4, 7)) + th_length(th_v(8, 6)) + th_length(th_v(4, 7));
    assert_true(up > corner && up < 1.05f * corner);
    float down =
        walk(hand, plan->plans[0].roadmap, plan->door_closed, 1, th_v(17, 9), 0, th_v(1, 1));
    assert_true(down > corner && down < 1.05f * corner);
    hand_destroy(hand);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_among_pillars),    cmocka_unit_test(far_ways_are_straight),
        cmocka_unit_test(far_goals_are_gone_to), cmocka_unit_test(cost_does_not_grow_with_goals),
        cmocka_unit_test(doors_open_and_shut),   cmocka_unit_test(over_the_stairs),
    };
    return cmocka_run_group_tests_name("roadmap", tests, NULL, NULL);
}
