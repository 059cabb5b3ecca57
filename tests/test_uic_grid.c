// Staggered grids: free areas by clipping and apertures of faces, against brute force.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "hand_scene.h"
#include "space/staggered.h"
#include <math.h>

enum { SAMPLES = 32 }; // along the side of a cell

static float random_in(uint32_t k, int word, float low, float high) {
    return low + (high - low) * th_uniform(th_philox(7, TH_STREAM_PLACE, k, 0).v[word]);
}

static void grid_covers_the_box_on_one_lattice(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 200; ++k) {
        float x = random_in(k, 0, -500, 500), y = random_in(k, 1, -500, 500);
        th_box box = {x, y, x + random_in(k, 2, 0, 60), y + random_in(k, 3, 0, 60)};
        for (int snap = 1; snap <= 4; snap += 3) {
            th_staggered grid = th_staggered_over(&box, 1.7f, snap);
            float right = grid.origin.x + (float)grid.nx * grid.h;
            float top = grid.origin.y + (float)grid.ny * grid.h;
            assert_true(grid.origin.x <= box.min_x - grid.h * 0.999f);
            assert_true(grid.origin.y <= box.min_y - grid.h * 0.999f);
            assert_true(right >= box.max_x + grid.h * 0.999f && top >= box.max_y + grid.h * 0.999f);
            assert_int_equal(((grid.column % snap) + snap) % snap, 0);
            assert_true(fabsf(grid.origin.x - (float)grid.column * 1.7f) < 1e-3f);
        }
    }
}

// A star with a hole: concave, slanting, no edge on the lattice.
static void random_shape(uint32_t seed, th_vec2 *points, int *starts) {
    enum { OUTER = 11, INNER = 5 };
    for (int ring = 0, n = 0; ring < 2; ++ring) {
        int count = ring ? INNER : OUTER;
        starts[ring] = n;
        for (int k = 0; k < count; ++k, ++n) {
            double angle = 6.283185307 * (ring ? count - k : k) / count;
            float wide = ring ? random_in(seed * 64 + (uint32_t)n, 0, 0.8f, 1.9f)
                              : random_in(seed * 64 + (uint32_t)n, 0, 4.0f, 9.0f);
            points[n] = th_v(wide * (float)cos(angle) + 3.3f, wide * (float)sin(angle) - 1.1f);
        }
        starts[ring + 1] = n;
    }
}

static double polygon_area(const th_polygons *shape) {
    double sum = 0.0;
    for (int r = 0; r < shape->ring_count; ++r)
        for (int begin = shape->ring_start[r], end = shape->ring_start[r + 1], k = begin; k < end;
             ++k) {
            th_vec2 a = shape->points[k], b = shape->points[k + 1 < end ? k + 1 : begin];
            sum += 0.5 * ((double)a.x * (double)b.y - (double)b.x * (double)a.y);
        }
    return fabs(sum);
}

static void free_areas_agree_with_sampling(void **state) {
    (void)state;
    const double h = 1.3, part = h / TH_FLOOR_PARTS;
    for (uint32_t seed = 1; seed <= 6; ++seed) {
        th_vec2 points[32];
        int starts[3];
        random_shape(seed, points, starts);
        th_level level = {.bounded = true, .walkable = {2, starts, points, {-7, -11, 13, 9}, 0.0}};
        th_scene scene = {.levels = &level, .level_count = 1};
        th_arena arena = th_arena_of(NULL);
        th_floor floor;
        assert_true(th_floor_create(&floor, &arena, &scene, 0));
        th_staggered grid = th_staggered_over(&level.walkable.box, (float)h, 1);
        th_floor_part *parts = calloc((size_t)(grid.nx * TH_FLOOR_PARTS), sizeof *parts);
        assert_non_null(parts);
        double total = 0.0, worst = 0.0, worst_centre = 0.0;
        for (int row = 0; row < grid.ny * TH_FLOOR_PARTS; ++row) {
            th_floor_row(&floor, &grid, row, parts);
            for (int column = 0; column < grid.nx * TH_FLOOR_PARTS; ++column) {
                int inside = 0;
                double x_sum = 0.0;
                for (int k = 0; k < SAMPLES * SAMPLES; ++k) {
                    double s = (k % SAMPLES + 0.5) / SAMPLES, t = (k / SAMPLES + 0.5) / SAMPLES;
                    th_vec2 p = {(float)((double)grid.origin.x + (column + s) * part),
                                 (float)((double)grid.origin.y + (row + t) * part)};
                    if (!th_polygons_contain(&level.walkable, p)) continue;
                    inside++;
                    x_sum += s;
                }
                double sampled = (double)inside / (SAMPLES * SAMPLES);
                worst = fmax(worst, fabs(sampled - parts[column].area));
                worst_centre =
                    fmax(worst_centre, fabs(x_sum / (SAMPLES * SAMPLES) - parts[column].x));
                total += parts[column].area * part * part;
            }
        }
        assert_true(worst < 2.0 / SAMPLES &&
                    worst_centre < 2.0 / SAMPLES); // what sampling can tell
        assert_true(fabs(total - polygon_area(&level.walkable)) < 1e-4);
        free(parts);
        th_arena_release(&arena);
    }
}

// One long wall from a to b (two edges) and the shares of a box it leaves open.
static float open_share(th_vec2 a, th_vec2 b, th_vec2 low, th_vec2 high, int axis) {
    hand_scene *hand = hand_create();
    hand_level(hand, false);
    const th_vec2 ends[] = {a, b};
    for (int k = 0; k < 2; ++k) {
        th_vec2 p = ends[k], q = ends[1 - k];
        float length = th_length(th_sub(q, p));
        hand->walls[k] =
            (th_wall){p, q, th_unit(th_sub(q, p)), length, 1 - k, 1 - k, true, 0, -1, 0.0f};
    }
    hand->scene.wall_count = hand->levels[0].wall_end = 2;
    hand->levels[0].box = (th_box){-20, -20, 20, 20};
    assert_true(th_wall_grids_build(&hand->scene));
    th_walls walls = {hand->walls, 2, 2, NULL, hand->scene.wall_grids, 0.0f, NULL, 0, false, 0.0f};
    float share = th_walls_open_share(&walls, 0, low, high, axis);
    th_arena_release(hand->scene.arena);
    free(hand);
    return share;
}

static void apertures_are_what_a_wall_leaves_open(void **state) {
    (void)state;
    th_vec2 low = {0, 0}, high = {2, 2};
    // Across the whole box, inside a cell, and beside it.
    assert_true(open_share(th_v(0.6f, -5), th_v(0.6f, 5), low, high, 0) == 0.0f);
    assert_true(open_share(th_v(0.6f, -5), th_v(0.6f, 5), low, high, 1) == 1.0f);
    assert_true(open_share(th_v(2.1f, -5), th_v(2.1f, 5), low, high, 0) == 1.0f);
    // A wall that ends in the box leaves a gap of its size; slanting ones cast their shadow.
    assert_true(fabsf(open_share(th_v(1, -5), th_v(1, 0.5f), low, high, 0) - 0.75f) < 1e-5f);
    assert_true(fabsf(open_share(th_v(0, 0), th_v(1, 2), low, high, 1) - 0.5f) < 1e-5f);
    assert_true(open_share(th_v(0, 0), th_v(1, 2), low, high, 0) < 1e-5f);
    for (uint32_t k = 0; k < 100; ++k) { // against rays
        th_vec2 a = {random_in(k, 0, -3, 5), random_in(k, 1, -3, 5)};
        th_vec2 b = {random_in(k, 2, -3, 5), random_in(k, 3, -3, 5)};
        if (th_length(th_sub(b, a)) < 0.1f) continue;
        enum { RAYS = 500 };
        int open = 0;
        for (int r = 0; r < RAYS; ++r) {
            float y = 2.0f * ((float)r + 0.5f) / RAYS;
            float t = (y - a.y) / (b.y - a.y), x = a.x + t * (b.x - a.x);
            open += !(t >= 0.0f && t <= 1.0f && x >= 0.0f && x <= 2.0f);
        }
        float share = open_share(a, b, low, high, 0);
        assert_true(fabsf(share - (float)open / RAYS) < 3.0f / RAYS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_covers_the_box_on_one_lattice),
        cmocka_unit_test(free_areas_agree_with_sampling),
        cmocka_unit_test(apertures_are_what_a_wall_leaves_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
