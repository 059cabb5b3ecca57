// Fields of interest and hazards: formulas.
// SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "interest_world.h"
#include "support.h"
#include "throng/live.h"
#include <stdlib.h>
#include <string.h>

static const th_interest_params usual = {
#define VALUE(name, value, min, max, unit, source, doc) (float)(value),
    TH_INTEREST_PARAMS(VALUE)
#undef VALUE
};

static th_vec2 in_scene(const th_scene *scene, double x, double y) {
    return th_v((float)(x - scene->origin.x), (float)(y - scene->origin.y));
}

// ---- fields

// An angle with a hole: outer ring and hole are both given clockwise here.
static th_scene *angle(void) {
    return scene_of(TH_JSON({"interests": [{"layer": "shopping",
            "area": "POLYGON ((0 0, 0 8, 3 8, 3 6, 6 6, 6 0, 0 0), (1 1, 1 4, 4 4, 4 1, 1 1))"}],
        "exits": [{"id": "out", "line": [[20, 0], [20, 2]]}],
        "groups": [{"count": 1, "area": {"rect": [10, 0, 12, 2]}, "behave": "interest"}]}));
}

// Card, 1: 1 at the rim, 1/e at 1/kappa from it, 0 inside.
static void distance_field(void **state) {
    (void)state;
    th_scene *scene = angle();
    const th_polygons *shape = &scene->goals[1].area.shape;
    const struct {
        double x, y, outer, inner;
    } cases[] = {{0.0, 3.0, 1.0, 1.0},
                 {-2.0, 3.0, exp(-1.0), exp(-4.0)},
                 {6.5, 2.0, exp(-0.25), exp(-1.0)},
                 {5.0, 3.0, 0.0, 0.0},               // inside
                 {2.5, 2.5, exp(-0.75), exp(-3.0)},  // in the hole
                 {9.0, -4.0, exp(-2.5), exp(-10.0)}, // off a corner
                 {6.0, -29.0, 0.0, 0.0}};            // out of reach
    for (int k = 0; k < TH_COUNT_OF(cases); ++k) {
        th_vec2 p = in_scene(scene, cases[k].x, cases[k].y);
        assert_near(th_interest_field(&usual, shape, p, false), cases[k].outer, 1e-5);
        assert_near(th_interest_field(&usual, shape, p, true), cases[k].inner, 1e-5);
    }
    th_scene_destroy(scene);
}

enum { BLUR_SIDE = 96 };

// The thesis' way: a 3 x 3 kernel over the mask again and again. Binomial: a variance of half a cell each time.
static void blur_again(float (*grid)[BLUR_SIDE], int passes) {
    static float before[BLUR_SIDE][BLUR_SIDE];
    static const float weight[3] = {0.25f, 0.5f, 0.25f};
    for (int n = 0; n < passes; ++n) {
        memcpy(before, grid, sizeof before);
        for (int r = 1; r < BLUR_SIDE - 1; ++r)
            for (int c = 1; c < BLUR_SIDE - 1; ++c) {
                float sum = 0.0f;
                for (int i = -1; i <= 1; ++i)
                    for (int j = -1; j <= 1; ++j)
                        sum += weight[i + 1] * weight[j + 1] * before[r + i][c + j];
                grid[r][c] = sum;
            }
    }
}

// Eq. 3.6: the blurred field is what many passes of the small kernel make of the area.
static void blurred_field(void **state) {
    (void)state;
    th_scene *scene = angle();
    const th_polygons *shape = &scene->goals[1].area.shape;
    static float grid[BLUR_SIDE][BLUR_SIDE];
    const double h = 0.25, first = -8.0;
    for (int r = 0; r < BLUR_SIDE; ++r)
        for (int c = 0; c < BLUR_SIDE; ++c) {
            th_vec2 p = in_scene(scene, first + h * (c + 0.5), first + h * (r + 0.5));
            grid[r][c] = th_polygons_contain(shape, p) ? 1.0f : 0.0f;
        }
    th_interest_params p = usual;
    p.blur = 1.5f; // 72 passes of half a cell each
    blur_again(grid, 72);
    double worst = 0.0;
    for (int r = 16; r < BLUR_SIDE - 16; r += 3)
        for (int c = 16; c < BLUR_SIDE - 16; c += 3) {
            th_vec2 at = in_scene(scene, first + h * (c + 0.5), first + h * (r + 0.5));
            float found = th_interest_field(&p, shape, at, false);
            worst = fmax(worst, fabs((double)found - (double)grid[r][c]));
        }
    if (getenv("TH_PRINT")) printf("blurred field: %.4f at most from 72 passes\n", worst);
    assert_true(worst < 0.01);
    // The inner field is narrower by the ratio of the decays.
    th_interest_params narrow = p;
    narrow.blur = p.blur * p.attract_decay / p.browse_decay;
    th_vec2 at = in_scene(scene, 6.3, 3.0);
    assert_near(th_interest_field(&p, shape, at, true),
                th_interest_field(&narrow, shape, at, false), 1e-6);
    th_scene_destroy(scene);
}

// ---- hazards

enum { ROWS = 4, ROW = 300 };

// A wall of shops 700 m long with rows of people that have nowhere to go before it, at four distances.
static th_scene *rows_before_shops(const double *distances, double step, const char *behave,
                                   const char *more) {
    enum { ROOM = 32 * ROWS * ROW };
    char *places = malloc(ROOM), *json = malloc(ROOM + 2000);
    size_t used = 0;
    for (int k = 0; k < ROWS * ROW; ++k)
        used += (size_t)snprintf(places + used, ROOM - used, "%s[%g, %g]", k ? ", " : "", 0.5 * k,
                                 distances[k / ROW]);
    snprintf(json, ROOM + 2000,
             TH_JSON({"interests": [{"layer": "shopping",
            "area": {"rect": [-20, -5, 680, 0]}}],
        "exits": [{"id": "out", "line": [[0, 40], [600, 40]]}],
        "groups": [{"behave": %s, "plan": "straight", "move": "orca", "speed": 0, "radius": 0.1 %s,
            "positions": [%s]}],
        "run": {"step": %g, "duration": 1000}}),
                                                           behave, more, places, step);
    th_scene *scene = scene_of(json);
    free(json);
    free(places);
    return scene;
}

// Counts the agents of each row that have stopped or come.
static void count_rows(const th_scene *scene, double seconds, uint64_t seed, int *happened) {
    th_world *world = world_of(scene, 1, seed);
    th_world_step(world, (int)(seconds / scene->run.step + 0.5));
    const uint32_t *leg = words_of(world, TH_FIELD_LEG);
    for (int k = 0; k < ROWS; ++k) happened[k] = 0;
    for (int k = 0; k < ROWS * ROW; ++k) happened[k / ROW] += leg[k] >= TH_DETOUR;
    th_world_destroy(world);
}

static double chi_square(const int *happened, const double *rates, double seconds) {
    double sum = 0.0;
    for (int k = 0; k < ROWS; ++k) {
        double p = 1.0 - exp(-rates[k] * seconds), off = happened[k] - ROW * p;
        sum += off * off / (ROW * p * (1.0 - p));
    }
    return sum;
}

// Card, 3: the share of agents that stop falls with the distance as the hazard says, whatever the time step.
static void hazards(void **state) {
    (void)state;
    static const double near[ROWS] = {0.2, 0.5, 0.9, 1.3}, far[ROWS] = {1.0, 2.5, 4.0, 6.0};
    static const double steps[] = {0.02, 0.1, 0.5};
    for (int s = 0; s < TH_COUNT_OF(steps); ++s)
        for (int kind = 0; kind < 3; ++kind) { // stop, come, come with half the weight
            static const char *const behave[] = {
                TH_JSON({"model": "interest", "attract_rate": 0, "browse_time": 1000}),
                        TH_JSON({"model": "interest", "browse_rate": 0, "arrival": 0.1}),
                                TH_JSON({"model": "interest", "browse_rate": 0, "arrival": 0.1})};
            static const char *const more[] = {"", "",
                                               TH_JSON(, "interested_in": {"shopping": 0.5})};
            double rates[ROWS];
            for (int k = 0; k < ROWS; ++k)
                rates[k] = kind == 0   ? 0.5 * exp(-2.0 * near[k])
                           : kind == 1 ? 0.2 * exp(-0.5 * far[k])
                                       : 0.1 * exp(-0.5 * far[k]);
            th_scene *scene =
                rows_before_shops(kind == 0 ? near : far, steps[s], behave[kind], more[kind]);
            int happened[ROWS];
            count_rows(scene, 5.0, 3, happened);
            double chi2 = chi_square(happened, rates, 5.0);
            if (getenv("TH_PRINT"))
                printf("%s, step %g s: %d %d %d %d of %d, chi2 %.1f\n", kind == 0 ? "stop" : "come",
                       steps[s], happened[0], happened[1], happened[2], happened[3], ROW, chi2);
            assert_true(chi2 < 18.5); // one in a thousand at four degrees of freedom
            th_scene_destroy(scene);
        }
}

// Eq. 3.5: strong places together are felt as 1 at most.
static void interest_is_one_at_most(void **state) {
    (void)state;
    static const double near[ROWS] = {0.05, 0.1, 0.15, 0.2};
    double rates[ROWS];
    int happened[ROWS];
    th_scene *scene =
        rows_before_shops(near, 0.1,
                          TH_JSON({"model": "interest", "attract_rate": 0, "browse_time": 1000}),
                                  TH_JSON(, "interested_in": {"shopping": 5}));
    count_rows(scene, 1.0, 3, happened);
    for (int k = 0; k < ROWS; ++k) rates[k] = 0.5;
    assert_true(chi_square(happened, rates, 1.0) < 18.5);
    th_scene_destroy(scene);
}

// Card, 2: layers that are masked out have no effect, nor has a place before and after its time.
static void masked_out(void **state) {
    (void)state;
    static const double near[ROWS] = {0.2, 0.5, 0.9, 1.3};
    int happened[ROWS];
    th_scene *scene =
        rows_before_shops(near, 0.1, "\"interest\"", TH_JSON(, "interested_in": {"shopping": 0}));
    count_rows(scene, 3.0, 1, happened);
    for (int k = 0; k < ROWS; ++k) assert_int_equal(happened[k], 0);
    assert_int_equal(scene->groups[0].detour_count, 0);
    th_scene_destroy(scene);
    scene = rows_before_shops(near, 0.1, "\"route\"", "");
    assert_int_equal(scene->groups[0].detour_count, 0);
    count_rows(scene, 3.0, 1, happened);
    for (int k = 0; k < ROWS; ++k) assert_int_equal(happened[k], 0);
    th_scene_destroy(scene);
}

// Browse times are log-normal: the median, and how many are within one standard deviation.
static void browse_times(void **state) {
    (void)state;
    int below = 0, within = 0, count = 20000;
    for (int n = 0; n < count; ++n) {
        float time = th_browse_time(&usual, 1, (uint32_t)n, 5);
        below += time < 8.0f;
        within += fabs(log((double)time / 8.0)) < 0.5;
    }
    assert_in_range(below, 9788, 10212);   // 3 standard deviations of 10000
    assert_in_range(within, 13455, 13852); // and of 68.27 %
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_field),
        cmocka_unit_test(blurred_field),
        cmocka_unit_test(hazards),
        cmocka_unit_test(masked_out),
        cmocka_unit_test(interest_is_one_at_most),
        cmocka_unit_test(browse_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
