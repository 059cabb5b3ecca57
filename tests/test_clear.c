// Look-up grids: the clearance of walls is never too large and not much too small; goals are never missed.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "formula/segment.h"
#include "scene/scene.h"
#include "space/walls.h"
#include "throng/throng.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { POINTS = 20000 };

static th_scene *load(const char *file) {
    char path[512];
    th_error error = {0};
    th_scene *scene = NULL;
    snprintf(path, sizeof path, "%s/scenes/%s", TH_SOURCE_DIR, file);
    assert_int_equal(th_scene_load_file(path, NULL, &scene, &error), TH_OK);
    return scene;
}

// Somewhere in the box of the level or up to 5 m around it.
static th_vec2 point_of(const th_scene *scene, int level, uint32_t k) {
    const th_box *box = &scene->levels[level].box;
    float u = th_uniform(k * 2654435761u), v = th_uniform(k * 2246822519u + 97u);
    return th_v(box->min_x - 5.0f + u * (box->max_x - box->min_x + 10.0f),
                box->min_y - 5.0f + v * (box->max_y - box->min_y + 10.0f));
}

// The first wall on paths of all lengths is that which a look at every wall finds.
static void check_crossings(const th_scene *scene, const th_walls *walls) {
    int crossed = 0, free_and_long = 0;
    for (uint32_t k = 0; k < POINTS / 4; ++k) {
        int level = (int)(k % (uint32_t)scene->level_count);
        th_vec2 p = point_of(scene, level, 2 * k), q = point_of(scene, level, 2 * k + 1);
        float part = th_uniform(k * 747796405u);
        q = th_add(p, th_scale(part * part, th_sub(q, p)));
        if (k % 50 == 0) q = th_add(p, th_scale(1e4f, th_sub(q, p))); // far beyond all walls
        th_wall_crossing first = {-1, 2.0};
        for (int w = 0; w < walls->count; ++w)
            if (scene->walls[w].level == level) th_wall_try_crossing(&first, walls, w, p, q);
        assert_int_equal(th_walls_first_crossing(walls, level, p, q, NULL), first.wall);
        crossed += first.wall >= 0;
        free_and_long += first.wall < 0 && th_length(th_sub(q, p)) > 8.0f;
    }
    assert_true(crossed > POINTS / 100 && free_and_long > POINTS / 1000);
}

static void check_walls(const char *file) {
    th_scene *scene = load(file);
    uint8_t *closed = calloc((size_t)scene->door_count + 1, 1);
    assert_non_null(closed);
    for (int d = 0; d < scene->door_count; ++d) closed[d] = 1;
    th_walls walls = th_walls_of(scene, closed);
    int far = 0;
    for (int l = 0; l < scene->level_count; ++l)
        for (uint32_t k = 0; k < POINTS; ++k) {
            th_vec2 p = point_of(scene, l, k);
            th_box box = scene->levels[l].box;
            float clear = th_walls_clear(&walls, l, p), exact = th_walls_distance(&walls, l, p);
            float reach = scene->wall_grids[l].reach,
                  piece = 1.0f / scene->wall_grids[l].inverse_piece;
            assert_true(clear <= exact);
            // Twice half the diagonal of a piece, the margin for rounding, and a unit of the table.
            if (clear < reach)
                assert_true(clear >= exact - 1.4143f * piece - 0.02f - 1.1f * TH_CLEAR_UNIT);
            // Beyond the reach steps count 1.0824 times less, and are whole units of the table.
            else if (th_boxes_touch(p, p, th_v(box.min_x, box.min_y), th_v(box.max_x, box.max_y),
                                    0.0f) &&
                     exact < 1e5f)
                assert_true(clear >= reach && clear >= 0.88f * exact - 2.9f * piece - 0.1f);
            far += clear > 0.0f;
        }
    assert_true(far > POINTS / 4); // the bound is useful
    check_crossings(scene, &walls);
    int empty = 0;
    for (uint32_t k = 0; k < POINTS; ++k) {
        th_vec2 p = point_of(scene, 0, k), q = th_add(p, th_v(6.0f * th_uniform(k), 3.0f));
        th_box box = {p.x, p.y, q.x, q.y};
        if (!th_walls_none_in(&walls, 0, &box)) continue;
        empty++;
        assert_true(th_walls_first_crossing(&walls, 0, p, q, NULL) < 0);
        assert_true(th_walls_first_crossing(&walls, 0, th_v(p.x, q.y), th_v(q.x, p.y), NULL) < 0);
    }
    assert_true(empty > POINTS / 50);
    th_vec2 nowhere = {NAN, 0.0f};
    assert_true(th_walls_clear(&walls, 0, nowhere) == 0.0f);
    th_walls more = walls;
    more.count += 1; // a live wall, which is in no grid
    assert_true(th_walls_clear(&more, 0, point_of(scene, 0, 1)) == 0.0f);
    free(closed);
    th_scene_destroy(scene);
}

static void clearance(void **state) {
    (void)state;
    check_walls("uic/building.json");
    check_walls("uic/mosque.json");
    check_walls("station.json");
    check_walls("hidac/building.json");
}

static float distance_to(const th_goal *goal, th_vec2 p) {
    if (goal->is_line) return sqrtf(th_segment_distance2(p, goal->line.a, goal->line.b));
    const th_polygons *shape = &goal->area.shape;
    if (th_polygons_contain(shape, p)) return 0.0f;
    float nearest2 = 1e30f;
    for (int r = 0; r < shape->ring_count; ++r)
        for (int begin = shape->ring_start[r], end = shape->ring_start[r + 1], k = begin; k < end;
             ++k)
            nearest2 =
                th_min(nearest2, th_segment_distance2(p, shape->points[k],
                                                      shape->points[k + 1 < end ? k + 1 : begin]));
    return sqrtf(nearest2);
}

static void check_goals(const char *file) {
    th_scene *scene = load(file);
    int near = 0, told = 0;
    for (int l = 0; l < scene->level_count; ++l)
        for (uint32_t k = 0; k < POINTS; ++k) {
            th_vec2 p = point_of(scene, l, k);
            float nearest = 1e30f;
            for (int g = 0; g < scene->goal_count; ++g) {
                const th_goal *goal = &scene->goals[g];
                if ((goal->is_line ? goal->line.level : goal->area.level) == l)
                    nearest = th_min(nearest, distance_to(goal, p));
            }
            bool maybe = th_goals_maybe_near(scene, l, p, th_add(p, th_v(0.1f, 0.0f)));
            if (nearest <= TH_GOAL_NEAR) assert_true(maybe);
            near += nearest <= TH_GOAL_NEAR;
            told += maybe;
            // A long step is always looked at.
            assert_true(th_goals_maybe_near(scene, l, p, th_add(p, th_v(0.0f, 2.0f))));
        }
    assert_true(near > 0 && told < POINTS * scene->level_count / 2);
    th_scene_destroy(scene);
}

static void goals_near_a_path_are_found(void **state) {
    (void)state;
    check_goals("uic/trade_show.json");
    check_goals("uic/building.json");
    check_goals("station.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clearance),
                                       cmocka_unit_test(goals_near_a_path_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
