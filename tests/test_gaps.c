// Gaps that only some of the people fit through: those go through them, the others go around, and no agent stands
// before one for good. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/scene_view.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// A room of 9 x 7 m, turned by an angle. The wall at x = 4 has a near opening at y, two further ones, and a wide
// way round beyond y = 6.
typedef struct plan {
    double angle, y, thick, widths[3];
    const char *move, *radius, *more, *plan; // plan NULL: the default
    bool round;
} plan;

static void put_rect(char **to, double angle, double x0, double y0, double x1, double y1) {
    const double corners[4][2] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    double c = cos(angle), s = sin(angle);
    *to += sprintf(*to, "{\"points\": [");
    for (int k = 0; k < 4; ++k)
        *to += sprintf(*to, "%s[%.9g, %.9g]", k ? ", " : "", c * corners[k][0] - s * corners[k][1],
                       s * corners[k][0] + c * corners[k][1]);
    *to += sprintf(*to, "]}");
}

static void put_line(char **to, double angle, double x, double y0, double y1) {
    double c = cos(angle), s = sin(angle);
    *to += sprintf(*to, "[[%.9g, %.9g], [%.9g, %.9g]]", c * x - s * y0, s * x + c * y0,
                   c * x - s * y1, s * x + c * y1);
}

static char *text_of(const plan *p) {
    static char text[4096];
    char *to = text;
    to += sprintf(to, "{\"levels\": [{\"walkable\": ");
    put_rect(&to, p->angle, 0, 0, 9, 7);
    to += sprintf(to, ", \"obstacles\": [");
    double y = p->y, from = -0.1;
    for (int k = 0; k < 3 && p->widths[k] > 0; ++k) {
        put_rect(&to, p->angle, 4, from, 4 + p->thick, y);
        to += sprintf(to, ", ");
        from = y + p->widths[k];
        y = from + 0.5;
    }
    put_rect(&to, p->angle, 4, from, 4 + p->thick, p->round ? 6 : 7.1);
    to += sprintf(to, "]}], \"exits\": [{\"id\": \"out\", \"line\": ");
    put_line(&to, p->angle, 9, 0.01, 6.99);
    to += sprintf(to, "}]%s, \"groups\": [{\"id\": \"all\", \"count\": 12, \"area\": ",
                  p->more ? p->more : "");
    put_rect(&to, p->angle, 0.5, 0.5, 3.4, 3.4);
    sprintf(to,
            ", \"to\": \"out\", \"radius\": %s, \"rigid\": false, \"plan\": \"%s\", "
            "\"move\": \"%s\"}]}",
            p->radius, p->plan ? p->plan : "quickest", p->move);
    return text;
}

static th_world *crowd_in(const plan *p, uint64_t seed, int threads) {
    return world_of(scene_of(text_of(p)), threads, seed);
}

static void destroy(th_world *world) {
    th_scene *scene = (th_scene *)th_world_scene(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Runs it to its end; `way` gets where every agent (by number) went through the wall: the opening's number, 3 for the
// way round, -1 for nowhere. `need` gets what they need to pass.
enum { PEOPLE = 12 };
static void watch(th_world *world, const plan *p, int *way, double *need) {
    bool people = strcmp(p->move, "people") == 0; // they turn their shoulders and need 2 cm more
    double before[PEOPLE] = {0};
    for (int i = 0; i < PEOPLE; ++i) way[i] = -1;
    for (int step = 0; step < 1200 && !th_world_done(world); ++step) {
        th_world_step(world, 1);
        int count = th_world_agent_count(world);
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ),
                    *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ),
                    *radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
        double c = cos(p->angle), s = sin(p->angle);
        for (int i = 0; i < count; ++i) {
            uint32_t who = id[i] - 1;
            double along = c * (double)x[i] + s * (double)y[i];
            double across = c * (double)y[i] - s * (double)x[i];
            assert_true(who < PEOPLE);
            need[who] = 2 * (double)radius[i] * (people ? 0.745 : 1.0) + (people ? 0.02 : 0.0);
            double low = p->y;
            if (before[who] < 4.04 && along >= 4.04) {
                way[who] = 3;
                for (int k = 0; k < 3 && p->widths[k] > 0; ++k, low += 0.5) {
                    if (across > low && across < low + p->widths[k]) way[who] = k;
                    low += p->widths[k];
                }
            }
            before[who] = along;
        }
    }
}

// The body alone decides which ways an agent has: the near gap for agents that fit, the way round for the
// rest.
static void each_takes_what_fits(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        plan p = {.angle = 0.4 * (double)seed,
                  .y = 1.0 + 0.137 * (double)seed,
                  .thick = 0.3,
                  .widths = {0.36 + 0.01 * (double)seed},
                  .move = "people",
                  .radius = "{\"uniform\": [0.18, 0.34]}",
                  .plan = "field", // with "quickest" some who fit walk around the queue
                  .round = true};
        th_world *world = crowd_in(&p, seed, 1);
        int way[PEOPLE], through = 0, around = 0;
        double need[PEOPLE];
        assert_int_equal(th_world_scene(world)->size_count, 2);
        watch(world, &p, way, need);
        assert_int_equal(th_world_statistics(world).left, PEOPLE);
        for (int i = 0; i < PEOPLE; ++i) {
            bool fits = need[i] <= p.widths[0];
            through += fits;
            around += !fits;
            assert_int_equal(way[i], fits ? 0 : 3);
        }
        assert_true(through > 1 && around > 1);
        destroy(world);
    }
}

// Three widths, so four sizes: no agent chooses a gap that is too narrow, also with a model that does not turn
// shoulders.
static void several_widths(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        plan p = {.angle = 0.7 * (double)seed,
                  .y = 0.8,
                  .thick = 0.3,
                  .widths = {0.4, 0.52, 0.66},
                  .move = "orca",
                  .radius = "{\"uniform\": [0.12, 0.4]}",
                  .round = true};
        th_world *world = crowd_in(&p, seed, 1);
        int way[PEOPLE];
        double need[PEOPLE];
        assert_int_equal(th_world_scene(world)->size_count, 4);
        watch(world, &p, way, need);
        for (int i = 0; i < PEOPLE; ++i) assert_true(way[i] == 3 || need[i] <= p.widths[way[i]]);
        assert_int_equal(th_world_statistics(world).left, PEOPLE);
        destroy(world);
    }
}

// Without a way round the scene is accepted; agents that are too broad are reported and stay out of the others' way.
static void no_way_round(void **state) {
    (void)state;
    plan p = {.angle = 0.3,
              .y = 2,
              .thick = 0.3,
              .widths = {0.42},
              .move = "people",
              .radius = "{\"uniform\": [0.18, 0.34]}"};
    th_world *world = crowd_in(&p, 3, 1);
    int way[PEOPLE];
    double need[PEOPLE];
    assert_near(th_scene_widest_with_way(th_world_scene(world), 0), 0.42, 2e-4);
    watch(world, &p, way, need);
    for (int i = 0; i < PEOPLE; ++i) assert_int_equal(way[i], need[i] <= 0.42 ? 0 : -1);
    assert_true(th_world_statistics(world).unreachable > 0);
    assert_int_equal(th_world_statistics(world).wall_crossings, 0);
    destroy(world);
    p.round = true;
    world = crowd_in(&p, 3, 1);
    assert_true(isinf(th_scene_widest_with_way(th_world_scene(world), 0)));
    destroy(world);
}

// A door in the gap is one for agents that fit, open or shut, and the world is the same for any number of threads and
// after a snapshot.
static void doors_in_gaps(void **state) {
    (void)state;
    plan p = {.angle = 0,
              .y = 2,
              .thick = 0.08,
              .widths = {0.42},
              .move = "people",
              .radius = "{\"uniform\": [0.18, 0.34]}",
              .more =
                  ", \"doors\": [{\"id\": \"d\", \"line\": [[4.04, 2], [4.04, 2.42]], \"closed\": "
                  "true, \"schedule\": [[2, \"open\"]]}]",
              .round = true};
    th_world *a = crowd_in(&p, 5, 1), *b = crowd_in(&p, 5, 3), *c = crowd_in(&p, 6, 2);
    const th_scene *scene = th_world_scene(a);
    assert_true(scene->narrow_gap_count > 0);
    for (int k = 0; k < scene->narrow_gap_count; ++k)
        assert_int_equal(scene->narrow_gaps[k].door, 0);
    th_world_step(a, 10);
    th_world_step(b, 10);
    size_t size = th_world_snapshot_size(a);
    void *memory = malloc(size);
    assert_non_null(memory);
    assert_int_equal(th_world_snapshot(a, memory, size, NULL), TH_OK);
    th_world_step(a, 60);
    th_world_step(b, 60);
    assert_true(th_world_hash(a) == th_world_hash(b));
    assert_int_equal(th_world_restore(c, memory, size, NULL), TH_OK);
    th_world_step(c, 60);
    assert_true(th_world_hash(a) == th_world_hash(c));
    free(memory);
    destroy(b);
    destroy(c);
    int way[PEOPLE];
    double need[PEOPLE] = {0};
    watch(a, &p, way, need);
    for (int i = 0; i < PEOPLE; ++i) assert_true(way[i] != 0 || need[i] <= 0.4201);
    assert_int_equal(th_world_statistics(a).left, PEOPLE);
    destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_takes_what_fits),
        cmocka_unit_test(several_widths),
        cmocka_unit_test(no_way_round),
        cmocka_unit_test(doors_in_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
