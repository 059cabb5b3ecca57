// Lines, people and distances, on walks made up so that every number is known. SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "observe/survey.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A moment of one person with a velocity; others are added by hand.
typedef struct stage {
    int count;
    int64_t id[8];
    double x[8], y[8], velocity_x[8], velocity_y[8];
    int32_t level[8];
} stage;

static th_moment moment_of(const stage *s, int64_t number, double fps) {
    return (th_moment){.number = number,
                       .time = (double)number / fps,
                       .count = s->count,
                       .id = s->id,
                       .x = s->x,
                       .y = s->y,
                       .velocity_x = s->velocity_x,
                       .velocity_y = s->velocity_y,
                       .level = s->level};
}

static void put(stage *s, int64_t id, double x, double y, double velocity_x, double velocity_y) {
    int i = s->count++;
    s->id[i] = id;
    s->x[i] = x;
    s->y[i] = y;
    s->velocity_x[i] = velocity_x;
    s->velocity_y[i] = velocity_y;
    s->level[i] = 0;
}

// ---- lines

static void crossings_are_counted(void **state) {
    (void)state;
    th_walkers *walkers = th_walkers_create();
    // From (0, 0) up: its left is x < 0.
    th_line_watch line = {.a = {0, 0}, .b = {0, 2}}, upstairs = line;
    upstairs.level = 1;
    for (int f = 0; f < 40; ++f) {
        stage s = {0};
        put(&s, 1, 1.03 - 0.1 * f, 1, -1, 0);   // over it to the left, between two frames
        put(&s, 2, -1.5 + 0.1 * f, 0.5, 1, 0);  // to the right; stands on it in frame 15
        put(&s, 3, -1.03 + 0.1 * f, 2.5, 1, 0); // past its end
        put(&s, 4, f < 20 ? -3 : 3, 1, 0, 0);   // jumps over it
        if (f % 2 == 0) put(&s, 5, -1.03 + 0.1 * f, 1, 1, 0); // seen every second frame only
        put(&s, 6, 0.5 - 0.06 * (f % 20 < 10 ? f % 20 : 19 - f % 20), 1.5, 0, 0); // to and fro
        put(&s, 7, 0.5 - 0.1 * (f < 20 ? f : 39 - f), 1.5, 0, 0);                 // there and back
        th_moment moment = moment_of(&s, f, 10);
        assert_true(th_walkers_see(walkers, &moment));
        assert_true(th_line_see(&line, walkers, &moment));
        assert_true(th_line_see(&upstairs, walkers, &moment));
    }
    assert_int_equal(upstairs.count, 0);
    th_line_flow forward, backward;
    assert_int_equal(th_line_flow_of(&line, true, &forward, NULL), TH_OK);
    assert_int_equal(th_line_flow_of(&line, false, &backward, NULL), TH_OK);
    // 6 turns back 4 cm behind the line, which is no crossing; 7 goes 1.4 m beyond.
    assert_int_equal(forward.count, 1 + 1);
    assert_int_equal(backward.count, 1 + 1 + 1);
    for (int c = 0; c < line.count; ++c) {
        const th_crossing *crossing = &line.crossings[c];
        if (crossing->id == 1) assert_near(crossing->time, 1.03, 1e-9);
        if (crossing->id == 1) assert_true(crossing->forward);
        if (crossing->id == 2) assert_false(crossing->forward);
        // An agent that stands on the line is to its left still.
        if (crossing->id == 2) assert_near(crossing->time, 1.5, 1e-9);
        if (crossing->id == 5) assert_near(crossing->time, 1.03, 1e-9);
        assert_true(crossing->id != 3 && crossing->id != 4 && crossing->id != 6);
        assert_true(c == 0 || crossing->time >= line.crossings[c - 1].time);
    }
    th_line_release(&line);
    th_line_release(&upstairs);
    th_walkers_destroy(walkers);
}

// A person that vanishes on the way to the line has crossed it, as at the exits of a simulation; one that stops before
// it, turns away or is there to the end has not. Beside the line's ends, and 7.5 micrometres past it.
static void ends_of_lines(void **state) {
    (void)state;
    th_walkers *walkers = th_walkers_create();
    th_line_watch line = {.a = {0, 0}, .b = {0, 2}};
    for (int f = 0; f < 40; ++f) {
        stage s = {0};
        if (f < 20)
            put(&s, 1, -2.02 + 0.1 * f, 1, 1,
                0); // 12 cm before it and on the way: a frame and a fifth
        if (f < 18) put(&s, 2, -2.05 + 0.1 * f, 1, 1, 0);  // 35 cm before it
        if (f < 20) put(&s, 3, -0.05 - 0.1 * f, 1, -1, 0); // from it
        put(&s, 4, -4.0 + 0.1 * f, 1, 1, 0);    // 10 cm before it when the recording ends
        put(&s, 5, -1.93 + 0.1 * f, 2.3, 1, 0); // beside its end
        put(&s, 6, -1.93 + 0.1 * f, 4, 1, 0);   // far beside it
        put(&s, 7, f < 20 ? -1.9 + 0.1 * f : 7.5e-6, 0.5, 1, 0); // comes to stand on it
        if (f < 20) put(&s, 8, f < 19 ? -1.85 + 0.1 * f : 7.5e-6, 0.5, 1, 0); // and vanishes there
        th_moment moment = moment_of(&s, f, 10);
        assert_true(th_walkers_see(walkers, &moment));
        assert_true(th_line_see(&line, walkers, &moment));
    }
    assert_int_equal(line.count, 0);
    assert_int_equal(line.beside, 1);
    assert_true(th_line_finish(&line, walkers, 0.1, 3.9));
    assert_int_equal(line.count, 2);
    for (int c = 0; c < 2; ++c) {
        const th_crossing *crossing = &line.crossings[c];
        assert_true(!crossing->forward && (crossing->id == 1 || crossing->id == 8));
        if (crossing->id == 1) assert_near(crossing->time, 1.9 + 0.12, 1e-9);
    }
    th_line_release(&line);
    th_walkers_destroy(walkers);
}

// One every 0.5 s for 100 people, the first and last ten slower: the middle does not see them.
static void flow_ignores_the_slow_ends(void **state) {
    (void)state;
    static th_crossing crossings[101];
    double time = 3;
    for (int i = 0; i < 100; ++i) {
        crossings[i] = (th_crossing){i, time, true};
        time += i < 10 || i >= 89 ? 2 : 0.5;
    }
    crossings[100] = (th_crossing){500, 40, false};
    th_line_watch line = {.a = {0, 0}, .b = {0.8, 0.6}, .crossings = crossings, .count = 101};
    th_line_flow flow;
    assert_int_equal(th_line_flow_of(&line, true, &flow, NULL), TH_OK);
    assert_int_equal(flow.count, 100);
    double last = 3 + 10 * 2 + 79 * 0.5 + 10 * 2;
    assert_near(flow.last_time, last, 1e-9);
    assert_near(flow.flow, 99 / (last - 3), 1e-9);
    assert_near(flow.middle_flow, 2, 1e-9);
    assert_near(flow.specific_flow, flow.flow, 1e-9); // 1 m wide
    assert_int_equal(flow.headway.count, 99);
    assert_near(flow.headway.median, 0.5, 1e-9);
    assert_near(flow.headway.max, 2, 1e-9);
    assert_int_equal(th_line_flow_of(&line, false, &flow, NULL), TH_OK);
    assert_int_equal(flow.count, 1);
    assert_true(isnan(flow.flow) && isnan(flow.middle_flow));
    line.count = 0;
    assert_int_equal(th_line_flow_of(&line, true, &flow, NULL), TH_OK);
    assert_true(isnan(flow.first_time) && isnan(flow.flow));
}

// ---- people

static void ways(void **state) {
    (void)state;
    th_walkers *walkers = th_walkers_create();
    for (int f = 0; f <= 100; ++f) {
        stage s = {0};
        double t = 0.1 * f;
        // 1: a circle of radius 2 at 1 m/s. 2: stands for 3 s, walks for 4 s, stands for 3 s. 3: is away for a while.
        put(&s, 1, 2 * cos(t / 2), 2 * sin(t / 2), -sin(t / 2), cos(t / 2));
        double x = t < 3 ? 0 : t < 7 ? t - 3 : 4, v = t < 3 || t > 7 ? 0 : 1;
        put(&s, 2, x, 1, v, 0);
        if (f < 30 || f > 70) put(&s, 3, f < 30 ? t : 20 + t, 2, 1, 0);
        th_moment moment = moment_of(&s, f, 10);
        assert_true(th_walkers_see(walkers, &moment));
    }
    assert_int_equal(walkers->count, 3);
    const th_walker *circle = &walkers->all[0], *stop = &walkers->all[1], *away = &walkers->all[2];
    assert_near(circle->path, 10, 0.01);
    assert_near(th_walker_distance(circle), 4 * fabs(sin(2.5)), 1e-6); // chord of 5 rad
    assert_near(th_walker_detour(circle), circle->path / th_walker_distance(circle), 1e-12);
    assert_near(circle->acceleration_sum / circle->acceleration_count, 0.5, 0.001); // v^2 / r
    assert_near(th_running_quantile_get(&circle->acceleration_p95), 0.5, 0.001);
    assert_near(circle->jerk_sum / circle->jerk_count, 0.25, 0.001); // v^3 / r^2
    assert_int_equal(circle->acceleration_count, 99);
    assert_int_equal(circle->jerk_count, 98);
    assert_near(circle->jam_time + circle->wait_time, 0, 0);
    assert_near(stop->wait_time, 3, 0.11);
    assert_near(stop->jam_time, 3, 0.11);
    assert_near(stop->path, 4, 1e-9);
    assert_near(th_walker_detour(stop), 1, 1e-9);
    assert_near(away->path, 2.9 + 2.9, 1e-9); // nothing over the gap
    assert_near(th_walker_distance(away), 5.8, 1e-9);
    assert_near(away->first_time, 0, 0);
    assert_near(away->last_time, 10, 0);
    assert_near(th_histogram_mean(&walkers->speed), (101 + 41 + 60) / 262.0, 0.01);
    th_walkers_destroy(walkers);
}

static void service(void **state) {
    (void)state;
    const double fruin[6] = {0.2, 0.4, 0.5, 0.9, 2.0, 3.0};
    for (int level = 0; level < 6; ++level)
        assert_int_equal(th_service_level(&th_services[0], fruin[level]), level);
    // 12, 4, 3, 2, 1 and 0.5 m2 a person.
    const double hcm[6] = {1 / 13.0, 1 / 4.0, 1 / 3.0, 1 / 2.0, 1 / 1.0, 1 / 0.5};
    for (int level = 0; level < 6; ++level)
        assert_int_equal(th_service_level(&th_services[1], hcm[level]), level);
}

// ---- distances

// Only levels that an agent is on are looked at: the number itself costs nothing and does not overflow.
static void high_level(void **state) {
    (void)state;
    th_spacing *spacing = th_spacing_create(0.25);
    stage s = {0};
    put(&s, 1, 0, 0, 0, 0);
    put(&s, 2, 0.3, 0, 0, 0);
    put(&s, 3, 0.1, 0, 0, 0);
    s.level[0] = s.level[1] = INT32_MAX;
    th_moment moment = moment_of(&s, 0, 10);
    assert_true(th_spacing_see(spacing, &moment));
    assert_int_equal(th_spacing_finish(spacing)->pairs, 1);
    th_spacing_destroy(spacing);
}

static void collisions_are_counted(void **state) {
    (void)state;
    th_spacing *spacing = th_spacing_create(0.25);
    for (int f = 0; f < 100; ++f) {
        stage s = {0};
        put(&s, 1, 0, 0, 0, 0);
        // Comes to 0.3 m and goes again, twice: nearer than 0.49 m for 2 x 19 frames of 0.01 m each.
        int phase = f % 50;
        put(&s, 2, 0.3 + 0.02 * abs(phase - 25), 0, 0, 0);
        put(&s, 3, 0, 5, 0, 0);
        put(&s, 4, 0.1, 5, 0, 0); // upstairs: above each other is no collision
        s.level[3] = 1;
        th_moment moment = moment_of(&s, f, 10);
        assert_true(th_spacing_see(spacing, &moment));
    }
    const th_spacing_totals *totals = th_spacing_finish(spacing);
    // 0.3 + 0.02 k < 0.49 for k = 0 .. 9: 19 frames each time.
    assert_int_equal(totals->collisions, 2);
    assert_int_equal(totals->pairs, 38);
    assert_near(totals->longest, 1.9, 1e-9);
    assert_near(totals->pair_time, 3.8, 1e-9);
    assert_near(totals->deepest, 0.2, 1e-9);
    assert_near(totals->nearest.least, 0.3, 1e-9);
    // 1 and 2 have each other, 3 has them at 5 m, 4 is alone upstairs.
    assert_int_equal(totals->nearest.count, 300);
    assert_near(totals->nearest.most, 5, 0.07);
    th_spacing_destroy(spacing);
}

// Against looking at every pair.
static void the_nearest_agree_with_all_pairs(void **state) {
    (void)state;
    enum { PEOPLE = 300 };
    static int64_t id[PEOPLE];
    static double x[PEOPLE], y[PEOPLE], still[PEOPLE];
    uint64_t seed = 3;
    double sum = 0, least = HUGE_VAL;
    for (int i = 0; i < PEOPLE; ++i) {
        id[i] = i;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = 30 * (double)(seed >> 11) / 9007199254740992.0;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        y[i] = (i < 150 ? 2 : 40) * (double)(seed >> 11) /
               9007199254740992.0; // a crowd and stragglers
    }
    int touching = 0;
    for (int i = 0; i < PEOPLE; ++i) {
        double nearest = HUGE_VAL;
        for (int j = 0; j < PEOPLE; ++j) {
            double distance = hypot(x[i] - x[j], y[i] - y[j]);
            if (i != j) nearest = fmin(nearest, distance);
            touching += i < j && distance < 2 * 0.3 - TH_TOUCH;
        }
        sum += nearest;
        least = fmin(least, nearest);
    }
    th_moment moment = {
        .count = PEOPLE, .id = id, .x = x, .y = y, .velocity_x = still, .velocity_y = still};
    th_spacing *spacing = th_spacing_create(0.3);
    assert_true(th_spacing_see(spacing, &moment));
    const th_spacing_totals *totals = th_spacing_finish(spacing);
    assert_true(touching > 20);
    assert_int_equal(totals->pairs, touching);
    assert_near(totals->nearest.sum, sum, 1e-9);
    assert_near(totals->nearest.least, least, 0);
    th_spacing_destroy(spacing);
}

// ---- what a user types

static void places(void **state) {
    (void)state;
    th_place_text place;
    char wkt[256];
    assert_int_equal(th_place_text_read("door=1, 2 ,-3,4.5", &place, NULL), TH_OK);
    assert_string_equal(place.name, "door");
    assert_true(place.is_box);
    assert_near(place.box[2], -3, 0);
    th_place_rectangle(&place, wkt, sizeof wkt);
    assert_string_equal(wkt, "POLYGON ((-3 2, 1 2, 1 4.5, -3 4.5, -3 2))");
    assert_int_equal(th_place_text_read("0,0,1,0", &place, NULL), TH_OK);
    assert_string_equal(place.name, "");
    th_place_rectangle(&place, wkt, sizeof wkt);
    assert_string_equal(wkt, "");
    assert_int_equal(th_place_text_read("a=polygon ((0 0, 1 0, 1 1, 0 0))", &place, NULL), TH_OK);
    assert_false(place.is_box);
    assert_string_equal(place.wkt, "polygon ((0 0, 1 0, 1 1, 0 0))");
    static const char *const bad[] = {"",          "=1,2,3,4",   "1,2,3", "1,2,3,4,5", "1,2,3,four",
                                      "nan,0,1,1", "1e99,0,1,1", "a=",    "a=1 2 3 4", "(0 0)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        th_error error = {0};
        assert_int_equal(th_place_text_read(bad[i], &place, &error), TH_BAD_ARGUMENT);
        assert_true(error.message[0] != '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_are_counted),
        cmocka_unit_test(ends_of_lines),
        cmocka_unit_test(flow_ignores_the_slow_ends),
        cmocka_unit_test(ways),
        cmocka_unit_test(service),
        cmocka_unit_test(high_level),
        cmocka_unit_test(collisions_are_counted),
        cmocka_unit_test(the_nearest_agree_with_all_pairs),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
