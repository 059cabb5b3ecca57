// Density by every method: known numbers, and Voronoi cells against a fine raster of nearest people.
// SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "observe/density.h"
#include "observe/region.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>

enum { PEOPLE_MAX = 512 };
typedef struct people {
    int count;
    double x[PEOPLE_MAX], y[PEOPLE_MAX], speed[PEOPLE_MAX], individual[PEOPLE_MAX];
} people;

// A room with a notch and a pillar: 80 - 12 - 4 = 64 m2.
#define ROOM "POLYGON ((0 0, 10 0, 10 8, 6 8, 6 5, 2 5, 2 8, 0 8, 0 0), (4 1, 6 1, 6 3, 4 3, 4 1))"
static bool in_room(double x, double y) {
    bool hull = x > 0 && x < 10 && y > 0 && y < 8;
    return hull && !(x > 2 && x < 6 && y > 5) && !(x > 4 && x < 6 && y > 1 && y < 3);
}

static uint64_t seed_state = 1;
static double uniform(void) {
    seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed_state >> 11) / 9007199254740992.0;
}

static void fill_room(people *p, int count) {
    p->count = 0;
    while (p->count < count) {
        double x = 10 * uniform(), y = 8 * uniform();
        if (!in_room(x, y)) continue;
        p->x[p->count] = x;
        p->y[p->count] = y;
        p->speed[p->count++] = uniform();
    }
}

static th_region *region_of(const char *walkable, const char *area) {
    th_region *region = NULL;
    th_error error = {0};
    if (th_region_create(walkable, area, &region, &error) != TH_OK) fail_msg("%s", error.message);
    return region;
}

static th_area_reading measure(const th_region *region, th_density_def def, people *p,
                               bool individual) {
    th_area_reading moment;
    assert_int_equal(th_region_measure(region, &def, p->x, p->y, p->speed, p->count, &moment,
                                       individual ? p->individual : NULL, NULL),
                     TH_OK);
    return moment;
}

static th_density_def voronoi(double cut_off) {
    return (th_density_def){.method = TH_VORONOI, .cut_off = cut_off, .width = 0.7};
}

// ---- the raster: every pixel belongs to the nearest person, if it can be reached from them through pixels of
// their own

enum { PIXELS_X = 1000, PIXELS_Y = 800 };
static const double PIXEL = 0.01; // [m]
static int16_t owner[PIXELS_Y][PIXELS_X];
static int stack[PIXELS_X * PIXELS_Y];

static int pixel_of(double at) { return (int)floor(at / PIXEL); }

static void label_pixels(const people *p, double cut_off) {
    for (int j = 0; j < PIXELS_Y; ++j)
        for (int i = 0; i < PIXELS_X; ++i) {
            double x = (i + 0.5) * PIXEL, y = (j + 0.5) * PIXEL;
            double nearest = cut_off > 0 ? cut_off * cut_off : HUGE_VAL;
            owner[j][i] = -1;
            if (!in_room(x, y)) continue;
            for (int k = 0; k < p->count; ++k) {
                double dx = p->x[k] - x, dy = p->y[k] - y, d = dx * dx + dy * dy;
                if (d >= nearest) continue;
                nearest = d;
                owner[j][i] = (int16_t)k;
            }
        }
}

// Pixels connected with the person's own; marks them -2. Counts those in the box as well.
static void flood(const people *p, int person, const double box[4], int *all, int *boxed) {
    int top = 0;
    int start_x = pixel_of(p->x[person]), start_y = pixel_of(p->y[person]);
    *all = *boxed = 0;
    // The pixel under an agent may belong to a neighbour that is nearer to its middle.
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            int i = start_x + dx, j = start_y + dy;
            if (i >= 0 && j >= 0 && i < PIXELS_X && j < PIXELS_Y && owner[j][i] == person)
                stack[top++] = j * PIXELS_X + i, owner[j][i] = -2;
        }
    while (top > 0) {
        int at = stack[--top], i = at % PIXELS_X, j = at / PIXELS_X;
        double x = (i + 0.5) * PIXEL, y = (j + 0.5) * PIXEL;
        ++*all;
        *boxed += x > box[0] && y > box[1] && x < box[2] && y < box[3];
        const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
        for (int s = 0; s < 4; ++s) {
            int a = i + step[s][0], b = j + step[s][1];
            if (a < 0 || b < 0 || a >= PIXELS_X || b >= PIXELS_Y || owner[b][a] != person) continue;
            owner[b][a] = -2;
            stack[top++] = b * PIXELS_X + a;
        }
    }
}

static void compare_with_raster(int count, double cut_off) {
    static people p;
    const double box[4] = {3, 2, 9, 6};
    fill_room(&p, count);
    th_region *region = region_of(ROOM, "POLYGON ((3 2, 9 2, 9 6, 3 6, 3 2))");
    th_area_reading moment = measure(region, voronoi(cut_off), &p, true);
    label_pixels(&p, cut_off);
    double integral = 0, weight = 0, speed = 0, area = PIXEL * PIXEL;
    for (int k = 0; k < count; ++k) {
        int all, boxed;
        flood(&p, k, box, &all, &boxed);
        double cell = 1 / p.individual[k], raster = all * area;
        // Half a pixel along a boundary of 3.5 sqrt(A), seldom all to one side.
        if (fabs(cell - raster) >
            0.5 * PIXEL * 3.5 * sqrt(raster) + 2e-4 + 0.004 * (cut_off > 0) * cell)
            fail_msg("person %d of %d: %.5f m2, raster %.5f", k, count, cell, raster);
        integral += boxed / (double)all;
        weight += boxed;
        speed += boxed * p.speed[k];
    }
    // The box less the notch's corner and the pillar: 24 - 3 - 2 = 19 m2.
    assert_near(th_region_area(region), 19, 1e-9);
    assert_near(moment.density, integral / 19, 0.01 * moment.density);
    assert_near(moment.speed, speed / weight, 0.005);
    assert_near(moment.flow, moment.density * moment.speed, 1e-12);
    th_region_destroy(region);
}

static void voronoi_density_agrees_with_a_raster(void **state) {
    (void)state;
    compare_with_raster(40, 0);
    compare_with_raster(12, 1.0);
#ifndef TH_SLOW_BUILD
    compare_with_raster(200, 0);
    compare_with_raster(100, 0.8);
#endif
}

// Where every cell is one piece, everything walkable is owned by an agent, once.
static void areas_add_up(void **state) {
    (void)state;
    static people p;
    th_region *region = region_of(ROOM, NULL);
    assert_near(th_region_area(region), 64, 1e-9);
    for (int round = 0; round < 5; ++round) {
        fill_room(&p, 400);
        th_area_reading moment = measure(region, voronoi(0), &p, true);
        double sum = 0;
        for (int k = 0; k < p.count; ++k) sum += 1 / p.individual[k];
        assert_near(sum, 64, 1e-7);
        assert_near(moment.density, 400.0 / 64, 1e-9);
        assert_int_equal(moment.count, 400);
    }
    th_region_destroy(region);
}

// The same numbers whether the area is measured alone, near people only, or with every agent's own density.
static void near_people_suffice(void **state) {
    (void)state;
    static people p;
    th_region *convex = region_of(ROOM, "POLYGON ((3 3.5, 4 3.5, 4 4.5, 3 4.5, 3 3.5))");
    // The same square in two halves, so that no fast path applies.
    th_region *halves =
        region_of(ROOM, "MULTIPOLYGON (((3 3.5, 4 3.5, 4 4.5, 3 3.5)), ((3 3.5, 4 4.5, 3 4.5, 3 "
                        "3.5)), ((9 7, 9.5 7, 9.5 7.5, 9 7)))");
    th_region *corner = region_of(ROOM, "POLYGON ((9 7, 9.5 7, 9.5 7.5, 9 7))");
    for (int round = 0; round < 10; ++round) {
        fill_room(&p, 150);
        th_area_reading near = measure(convex, voronoi(0.7), &p, false);
        th_area_reading all = measure(convex, voronoi(0.7), &p, true);
        th_area_reading both = measure(halves, voronoi(0.7), &p, false);
        th_area_reading rest = measure(corner, voronoi(0.7), &p, false);
        assert_near(near.density, all.density, 1e-9);
        assert_near(near.speed, all.speed, 1e-9);
        double together = near.density * 1.0 + rest.density * 0.125;
        assert_near(both.density * 1.125, together, 1e-9);
    }
    th_region_destroy(convex);
    th_region_destroy(halves);
    th_region_destroy(corner);
}

static void put(people *p, double x, double y, double speed) {
    p->x[p->count] = x;
    p->y[p->count] = y;
    p->speed[p->count++] = speed;
}

static void few_people(void **state) {
    (void)state;
    const double pi = 3.14159265358979;
    people p = {0};
    th_region *open = region_of(NULL, "POLYGON ((-5 -5, 5 -5, 5 5, -5 5, -5 -5))");
    assert_true(isnan(measure(open, voronoi(1), &p, true).speed));
    assert_near(measure(open, voronoi(0), &p, false).density, 0, 0);
    put(&p, 0, 0, 1.5);
    th_area_reading moment = measure(open, voronoi(1), &p, true);
    assert_near(1 / p.individual[0], pi, 1e-9);
    assert_near(moment.density, 0.01, 1e-9);
    assert_near(moment.speed, 1.5, 1e-12);
    measure(open, voronoi(0), &p, true); // endless: the box around all agents and the area
    assert_near(1 / p.individual[0], 100, 1e-9);
    put(&p, 1, 0, 0.5); // two, then three in a row: bisectors are parallel
    put(&p, 2, 0, (double)NAN);
    moment = measure(open, voronoi(0), &p, true);
    assert_near(1 / p.individual[0], 55, 1e-9);
    assert_near(1 / p.individual[1], 10, 1e-9);
    assert_near(1 / p.individual[2], 35, 1e-9);
    assert_near(moment.speed, (55 * 1.5 + 10 * 0.5) / 65, 1e-9); // NaN: for the density only
    assert_near(moment.density, 0.03, 1e-12);
    th_region_destroy(open);
}

static void same_place(void **state) {
    (void)state;
    people p = {0};
    th_region *open = region_of(NULL, "POLYGON ((-5 -5, 5 -5, 5 5, -5 5, -5 -5))");
    put(&p, -1, 0, 1);
    put(&p, -1, 0, 3);
    put(&p, 1, 0, 5);
    th_area_reading moment = measure(open, voronoi(0), &p, true);
    assert_near(p.individual[0], 2.0 / 50, 1e-9);
    assert_near(p.individual[1], 2.0 / 50, 1e-9);
    assert_near(p.individual[2], 1.0 / 50, 1e-9);
    assert_near(moment.density, 0.03, 1e-9);
    assert_near(moment.speed, 3.5, 1e-9);
    for (int k = 0; k < 300; ++k) put(&p, 0.25, 0.25, 1); // and a whole heap of them
    moment = measure(open, voronoi(1), &p, true);
    assert_int_equal(moment.count, 303);
    th_region_destroy(open);
}

static void outside(void **state) {
    (void)state;
    people p = {0};
    th_region *room = region_of(ROOM, NULL);
    put(&p, 1, 1, 1);
    put(&p, -0.1, 4, 1);        // a head over the wall owns what is nearest of its cell
    put(&p, 5, 2, 1);           // in the middle of the pillar, which is wider than the cut-off
    put(&p, -50, 4, 1);         // elsewhere
    put(&p, (double)NAN, 4, 1); // nowhere
    th_area_reading moment = measure(room, voronoi(0.9), &p, true);
    assert_true(p.individual[0] > 0 && p.individual[1] > 0);
    assert_true(isnan(p.individual[2]) && isnan(p.individual[3]) && isnan(p.individual[4]));
    assert_near(moment.density, 2.0 / 64, 1e-9);
    assert_int_equal(moment.count, 1); // of the area asked for, which is the room
    th_density_def gaussian = {.method = TH_GAUSSIAN, .width = 0.5};
    moment = measure(room, gaussian, &p, true);
    assert_true(isnan(p.individual[0]));
    assert_near(moment.density, 2.0 / 64, 1e-6);
    // Behind a thin wall: of a cell in two pieces the one with the person in it.
    th_region *wall =
        region_of("POLYGON ((0 0, 4 0, 4 4, 2.1 4, 2.1 1, 1.9 1, 1.9 4, 0 4, 0 0))", NULL);
    people one = {0};
    put(&one, 1.5, 3, 1);
    measure(wall, voronoi(1), &one, true);
    // The circle less its segment 0.4 m off the middle; 0.447 m2 more with the piece beyond the wall.
    assert_near(1 / one.individual[0], 3.14159 - (acos(0.4) - 0.4 * sqrt(0.84)), 0.01);
    th_region_destroy(room);
    th_region_destroy(wall);
}

static void classic_density_counts_people(void **state) {
    (void)state;
    people p = {0};
    th_region *room = region_of(ROOM, "POLYGON ((3 2, 9 2, 9 6, 3 6, 3 2))");
    put(&p, 8, 4, 1);
    put(&p, 8, 5, 2);
    put(&p, 7, 5, (double)NAN);
    put(&p, 1, 1, 9);
    th_density_def classic = th_density_def_default();
    th_area_reading moment = measure(room, classic, &p, true);
    assert_int_equal(moment.count, 3);
    assert_near(moment.density, 3.0 / 19, 1e-12);
    assert_near(moment.speed, 1.5, 1e-12);
    // Neighbouring areas count each agent once.
    th_region *left = region_of(NULL, "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))");
    th_region *right = region_of(NULL, "POLYGON ((1 0, 2 0, 2 1, 1 1, 1 0))");
    assert_int_equal(th_region_holds(left, 1, 0.5) + th_region_holds(right, 1, 0.5), 1);
    th_region_destroy(room);
    th_region_destroy(left);
    th_region_destroy(right);
}

static void gaussian_density_is_the_sum_of_kernels(void **state) {
    (void)state;
    static people p;
    th_region *square = region_of(NULL, "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))");
    th_density_def def = {.method = TH_GAUSSIAN, .width = 0.7};
    double sigma = 0.7 / (2 * sqrt(2 * log(2)));
    p.count = 0;
    put(&p, 0.3, 1.1, 1);
    // Over a rectangle the integral is a product of error functions.
    double root = sigma * sqrt(2);
    double want = 0.25 * (erf(0.7 / root) + erf(0.3 / root)) * (erf(1.1 / root) - erf(0.1 / root));
    assert_near(measure(square, def, &p, false).density, want, 1e-9);
    th_region_destroy(square);
    // Slanted edges: the two halves of a square make the square.
    th_region *low = region_of(NULL, "POLYGON ((0 0, 1 0, 1 1, 0 0))");
    th_region *high = region_of(NULL, "POLYGON ((0 0, 1 1, 0 1, 0 0))");
    double both =
        0.5 * (measure(low, def, &p, false).density + measure(high, def, &p, false).density);
    assert_near(both, want, 1e-8);
    th_region_destroy(low);
    th_region_destroy(high);
    // Within walls no share is lost: the room holds all agents, and so do its halves together.
    th_region *room = region_of(ROOM, NULL);
    th_region *west = region_of(ROOM, "POLYGON ((-1 -1, 4.7 -1, 4.7 9, -1 9, -1 -1))");
    th_region *east = region_of(ROOM, "POLYGON ((4.7 -1, 11 -1, 11 9, 4.7 9, 4.7 -1))");
    fill_room(&p, 300);
    assert_near(measure(room, def, &p, false).density * 64, 300, 1e-4);
    double halves = measure(west, def, &p, false).density * th_region_area(west) +
                    measure(east, def, &p, false).density * th_region_area(east);
    assert_near(halves, 300, 1e-4);
    th_region_destroy(room);
    th_region_destroy(west);
    th_region_destroy(east);
}

static void bad_areas(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "POLYGON ((0 0, 1 0",
                                      "POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))",
                                      "POINT (1 1)",
                                      "POLYGON EMPTY",
                                      "POLYGON ((0 0, nan 0, 1 1, 0 0))",
                                      "LINESTRING (0 0, 1 1)",
                                      "POLYGON ((20 20, 21 20, 21 21, 20 20))"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        th_region *region = NULL;
        th_error error = {0};
        assert_int_equal(th_region_create(ROOM, bad[i], &region, &error), TH_BAD_ARGUMENT);
        assert_null(region);
        assert_true(error.message[0] != '\0');
    }
    th_region *region = NULL;
    assert_int_equal(th_region_create(NULL, NULL, &region, NULL), TH_BAD_ARGUMENT);
}

// No test of speed: prints the cost of a person.
static void cost(void **state) {
    (void)state;
    static people p;
    fill_room(&p, 256);
    th_region *room = region_of(ROOM, NULL);
    th_region *open = region_of(NULL, "POLYGON ((0 0, 10 0, 10 8, 0 8, 0 0))");
    const char *names[3] = {"classic", "voronoi", "gaussian"};
    for (int m = 0; m < 3; ++m)
        for (int walls = 0; walls < 2; ++walls) {
            th_density_def def = {.method = (th_density_method)m, .cut_off = 1, .width = 0.7};
            double begun = th_monotonic_seconds();
            int rounds = 0;
            do {
                measure(walls ? room : open, def, &p, false);
            } while (++rounds < 200 && th_monotonic_seconds() - begun < 0.05);
            print_message("%s, %s: %.2f us a person\n", names[m],
                          walls ? "room with walls" : "open",
                          1e6 * (th_monotonic_seconds() - begun) / rounds / p.count);
        }
    th_region_destroy(room);
    th_region_destroy(open);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voronoi_density_agrees_with_a_raster),
        cmocka_unit_test(areas_add_up),
        cmocka_unit_test(near_people_suffice),
        cmocka_unit_test(few_people),
        cmocka_unit_test(same_place),
        cmocka_unit_test(outside),
        cmocka_unit_test(classic_density_counts_people),
        cmocka_unit_test(gaussian_density_is_the_sum_of_kernels),
        cmocka_unit_test(bad_areas),
        cmocka_unit_test(cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
