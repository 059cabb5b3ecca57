// Drawing and placing: moments of every distribution, no overlaps, no wall contact, uniformity, how many fit.
// SPDX-License-Identifier: Apache-2.0
#include "scene/place.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void moments(const th_distribution *d, double *mean, double *deviation) {
    enum { COUNT = 100000 };
    double sum = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        double value = (double)th_draw(d, 7, 3, i);
        sum += value;
        squares += value * value;
    }
    *mean = sum / COUNT;
    *deviation = sqrt(squares / COUNT - *mean * *mean);
}

// Mean and deviation against the textbook; 100 000 draws put the mean within 0.01 deviations (3 sigma).
static void check_moments(th_distribution d, double wanted_mean, double wanted_deviation) {
    double mean, deviation;
    moments(&d, &mean, &deviation);
    assert_true(fabs(mean - wanted_mean) <= 0.011 * wanted_deviation + 1e-6);
    assert_true(fabs(deviation - wanted_deviation) <= 0.03 * wanted_deviation + 1e-6);
}

static void distributions(void **state) {
    (void)state;
    const double wide = 1e6;
    check_moments((th_distribution){TH_DISTRIBUTION_UNIFORM, 2, 5, 2, 5}, 3.5, 3.0 / sqrt(12.0));
    check_moments((th_distribution){TH_DISTRIBUTION_NORMAL, 1.34, 0.26, -wide, wide}, 1.34, 0.26);
    check_moments((th_distribution){TH_DISTRIBUTION_LOGNORMAL, 1.0, 0.4, 0, wide}, exp(1.0 + 0.08),
                  exp(1.08) * sqrt(exp(0.16) - 1.0));
    check_moments((th_distribution){TH_DISTRIBUTION_GAMMA, 3.0, 2.0, 0, wide}, 6.0, sqrt(12.0));
    check_moments((th_distribution){TH_DISTRIBUTION_GAMMA, 0.5, 2.0, 0, wide}, 1.0, sqrt(2.0));
    double g1 = tgamma(1.5), g2 = tgamma(2.0); // Weibull, shape 2, scale 10
    check_moments((th_distribution){TH_DISTRIBUTION_WEIBULL, 10.0, 2.0, 0, wide}, 10.0 * g1,
                  10.0 * sqrt(g2 - g1 * g1));
    th_distribution constant = {TH_DISTRIBUTION_CONSTANT, 0.2, 0, 0.2, 0.2};
    assert_true(th_draw(&constant, 1, 2, 3) == 0.2f);
}

static void draws_stay_inside(void **state) {
    (void)state;
    th_distribution d = {TH_DISTRIBUTION_NORMAL, 1.34, 0.26, 1.2, 1.5};
    for (uint32_t i = 0; i < 20000; ++i) {
        float value = th_draw(&d, 1, 3, i);
        assert_true(value >= 1.2f && value <= 1.5f);
        assert_true(value == th_draw(&d, 1, 3, i));
    }
    th_distribution hopeless = {TH_DISTRIBUTION_NORMAL, 0.0, 0.01, 5.0, 6.0};
    assert_true(th_draw(&hopeless, 1, 3, 1) == 5.0f);
}

typedef struct crowd {
    th_scene *scene;
    th_placer *placer;
    th_vec2 *positions;
    float *radii;
    int count, placed;
} crowd;

static crowd place(const char *json, int count, float low, float high, uint64_t seed) {
    crowd c = {.scene = scene_of(json), .count = count};
    th_memory memory = th_memory_of(NULL);
    c.placer = th_placer_create(&memory, c.scene, high, count);
    c.positions = malloc((size_t)count * sizeof *c.positions);
    c.radii = malloc((size_t)count * sizeof *c.radii);
    th_distribution radius = {TH_DISTRIBUTION_UNIFORM, (double)low, (double)high, (double)low,
                              (double)high};
    for (int i = 0; i < count; ++i) c.radii[i] = th_draw(&radius, seed, 2, (uint32_t)i);
    c.placed =
        th_placer_fill(c.placer, &c.scene->groups[0].area, count, c.radii, seed, 1, c.positions);
    return c;
}

static void release(crowd *c) {
    th_placer_destroy(c->placer);
    th_scene_destroy(c->scene);
    free(c->positions);
    free(c->radii);
}

// Brute force: no agent overlaps another or reaches over a wall; every agent is on ground and in the area.
static void check_crowd(const crowd *c) {
    for (int i = 0; i < c->placed; ++i) {
        th_vec2 p = c->positions[i];
        if (c->scene->levels[0].bounded)
            assert_true(th_polygons_contain(&c->scene->levels[0].walkable, p));
        if (c->scene->groups[0].area.shape.ring_count)
            assert_true(th_polygons_contain(&c->scene->groups[0].area.shape, p));
        assert_true(fabsf(th_scene_distance(c->scene, 0, p)) >= c->radii[i] - 1e-5f);
        for (int j = 0; j < i; ++j) {
            float dx = p.x - c->positions[j].x, dy = p.y - c->positions[j].y;
            float sum = c->radii[i] + c->radii[j];
            assert_true(dx * dx + dy * dy >= sum * sum * 0.99999f);
        }
    }
}

static const char room[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0,0,20,20]},
        "obstacles": [{"circle": [10,10,3]}, {"rect": [1,1,2,2]}], "walls": [[[5,5],[5,15]]]}],
    "doors": [{"id": "d", "line": [[5,15],[5,20]]}],
    "groups": [{"count": 1}]});

static void dense_room(void **state) {
    (void)state;
    crowd c = place(room, 1000, 0.15f, 0.25f, 3);
    assert_int_equal(c.placed, 1000);
    check_crowd(&c);
    assert_false(th_placer_free_at(c.placer, 0, c.positions[0], 0.1f));
    th_placer_clear(c.placer);
    assert_true(th_placer_free_at(c.placer, 0, c.positions[0], c.radii[0]));
    assert_false(th_placer_free_at(c.placer, 0, (th_vec2){10, 10}, 0.1f)); // in the pillar
    assert_false(th_placer_free_at(c.placer, 0, (th_vec2){5, 17}, 0.1f));  // on the open door
    assert_false(th_placer_free_at(c.placer, 0, (th_vec2){-5, 17}, 0.1f)); // outside
    release(&c);
}

static void open_plane_with_obstacle(void **state) {
    (void)state;
    static const char scene_json[] =
        TH_JSON(
            {"levels":[{"obstacles":[{"rect":[-5,-5,5,5]}]}],
            "groups":[{"count":1, "area":{"rect":[-8,-8,8,8]}}]});
    crowd c = place(scene_json, 300, 0.2f, 0.2f, 5);
    assert_int_equal(c.placed, 300);
    check_crowd(&c);
    for (int i = 0; i < c.placed; ++i)
        assert_true(fabsf(c.positions[i].x) > 5.0f || fabsf(c.positions[i].y) > 5.0f);
    release(&c);
}

// Denser than random placing allows (0.547): the lattice takes over, and people that do not fit are counted.
static void jammed(void **state) {
    (void)state;
    static const char json[] =
        TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,10]}}],"groups":[{"count":1}]});
    crowd c = place(json, 600, 0.2f, 0.2f, 1); // packing fraction 0.75
    assert_int_equal(c.placed, 600);
    check_crowd(&c);
    release(&c);
    c = place(json, 1000, 0.2f, 0.2f, 1);
    // Centres keep 0.2 m off the walls: 28 rows 0.35 m apart with 24 or 25 places in 9.6 m each.
    assert_in_range(c.placed, 28 * 24, 28 * 25);
    check_crowd(&c);
    release(&c);
}

// A corridor 1 m wide and 300 m long, drawn diagonally: 0.5 % of its box.
static void thin_area(void **state) {
    (void)state;
    static const char scene_json[] = TH_JSON(
        {"levels":[{"walkable":[[0,0],[200,200],[200,201.4],[0,1.4]]}],
        "groups":[{"count":1}]});
    crowd c = place(scene_json, 300, 0.2f, 0.2f, 2);
    assert_int_equal(c.placed, 300);
    check_crowd(&c);
    release(&c);
}

// Upper tail of the chi-square distribution: Wilson, Hilferty 1931 (error below 1e-3 here) and erfc.
static double chi_square_p(double x, double degrees) {
    double t = 2.0 / (9.0 * degrees);
    double z = (cbrt(x / degrees) - (1.0 - t)) / sqrt(t);
    return 0.5 * erfc(z / sqrt(2.0));
}

// Juelich test 14: 2000 people in 100 x 100 m, counted in 10 bins per axis; over repeats the p-values of
// the uniform hypothesis must look uniform themselves. Bodies of 0.2 m make it a little too even.
static void uniform_start_positions(void **state) {
    (void)state;
    enum { REPEATS = 100, PEOPLE = 2000, BINS = 10 };
    double sum[2] = {0.0, 0.0};
    int low = 0;
    for (uint64_t seed = 1; seed <= REPEATS; ++seed) {
        crowd c =
            place(TH_JSON({"levels":[{"walkable":{"rect":[0,0,100,100]}}],"groups":[{"count":1}]}),
                           PEOPLE, 0.05f, 0.05f, seed);
        assert_int_equal(c.placed, PEOPLE);
        int bins[2][BINS] = {{0}};
        for (int i = 0; i < PEOPLE; ++i) {
            ++bins[0][(int)(c.positions[i].x / 10.0f)];
            ++bins[1][(int)(c.positions[i].y / 10.0f)];
        }
        for (int axis = 0; axis < 2; ++axis) {
            double x = 0.0, expected = (double)PEOPLE / BINS;
            for (int b = 0; b < BINS; ++b)
                x += ((double)bins[axis][b] - expected) * ((double)bins[axis][b] - expected) /
                     expected;
            double p = chi_square_p(x, BINS - 1.0);
            sum[axis] += p;
            low += p < 0.05;
        }
        release(&c);
    }
    // The mean of 100 uniform values is 0.5 +- 0.029; 200 p-values have 10 +- 3 below 0.05.
    assert_true(fabs(sum[0] / REPEATS - 0.5) < 0.087);
    assert_true(fabs(sum[1] / REPEATS - 0.5) < 0.087);
    assert_in_range(low, 1, 20);
}

static void same_seed_same_places(void **state) {
    (void)state;
    crowd a = place(room, 200, 0.2f, 0.2f, 9);
    crowd b = place(room, 200, 0.2f, 0.2f, 9);
    crowd other = place(room, 200, 0.2f, 0.2f, 10);
    assert_memory_equal(a.positions, b.positions, 200 * sizeof *a.positions);
    assert_memory_not_equal(a.positions, other.positions, 200 * sizeof *a.positions);
    release(&a);
    release(&b);
    release(&other);
}

// 100 000 people at 3 per m2: in the time a user does not notice. Measured 0.1 s; the bar leaves room for
// sanitizers and slow machines.
static void many(void **state) {
    (void)state;
    enum { MANY = 100000 };
    static const char scene_json[] = TH_JSON(
        {"levels":[{"walkable":{"rect":[0,0,183,183]}}],
        "groups":[{"count":1}],
        "plan_cell":1});
    crowd c = place(scene_json, MANY, 0.2f, 0.2f, 1);
    assert_int_equal(c.placed, MANY);
    release(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions),
        cmocka_unit_test(draws_stay_inside),
        cmocka_unit_test(dense_room),
        cmocka_unit_test(open_plane_with_obstacle),
        cmocka_unit_test(jammed),
        cmocka_unit_test(thin_area),
        cmocka_unit_test(uniform_start_positions),
        cmocka_unit_test(same_seed_same_places),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
