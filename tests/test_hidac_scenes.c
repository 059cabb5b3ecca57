// The scenes of scenes/hidac: each shows what its figure shows, and no agent is left behind. SPDX-License-Identifier:
// Apache-2.0
#include "support.h"
#include <stdlib.h>
#include <string.h>

typedef struct run {
    th_scene *scene;
    th_world *world;
    const float *x, *y;
    const uint32_t *group, *phase;
    int count;
} run;

static run begin(const char *name, uint64_t seed, const char *const *changes, int change_count) {
    char path[512];
    th_error error;
    run r = {0};
    snprintf(path, sizeof path, "%s/scenes/hidac/%s.json", TH_SOURCE_DIR, name);
    const th_scene_options options = {.overrides = changes, .override_count = change_count};
    if (th_scene_load_file(path, &options, &r.scene, &error) != TH_OK)
        fail_msg("%s", error.message);
    r.world = world_of(r.scene, 1, seed);
    return r;
}
static void finish(run *r) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
}
static void look(run *r) {
    r->count = th_world_agent_count(r->world);
    r->x = field_of(r->world, TH_FIELD_POSITION_X);
    r->y = field_of(r->world, TH_FIELD_POSITION_Y);
    r->group = (const uint32_t *)(const void *)field_of(r->world, TH_FIELD_GROUP);
    r->phase = (const uint32_t *)(const void *)field_of(r->world, TH_FIELD_PHASE);
}
static void steps_to(run *r, double time) {
    while (th_world_time(r->world) < time - 1e-6) th_world_step(r->world, 1);
    look(r);
}
// Every agent is out before the scene's time is up.
static double to_the_end(run *r) {
    while (!th_world_done(r->world) && th_world_time(r->world) < r->scene->run.max_time)
        th_world_step(r->world, 1);
    th_statistics s = th_world_statistics(r->world);
    assert_int_equal(s.inside, 0);
    assert_int_equal(s.wall_crossings, 0);
    return th_world_time(r->world);
}

// Distance of the second stream to the left of the first, around the middle [m].
static double apart(const run *r) {
    double sum[2] = {0, 0};
    int count[2] = {0, 0};
    for (int i = 0; i < r->count; ++i)
        if (r->x[i] > 14 && r->x[i] < 26) {
            sum[r->group[i]] += (double)r->y[i];
            ++count[r->group[i]];
        }
    return sum[1] / fmax(1, count[1]) - sum[0] / fmax(1, count[0]);
}

// Counts changes of direction from strip to strip across the corridor, half a metre each, of those between x0 and
// x1.
static int lanes(const run *r, float x0, float x1) {
    int sum[10] = {0}, count = 0, last = 0;
    for (int i = 0; i < r->count; ++i)
        if (r->x[i] > x0 && r->x[i] < x1) sum[(int)(r->y[i] / 0.5f) % 10] += r->group[i] ? -1 : 1;
    for (int k = 0; k < 10; ++k) {
        if (sum[k] == 0 || sum[k] * last > 0) continue;
        last = sum[k];
        ++count;
    }
    return count;
}

// The distance between the streams, mean of 30 to 50 s. Loose means loose: one stands now and then to let others pass,
// no agent is held up.
static double streams_apart(uint64_t seed, int side) {
    char words[2][64];
    const char *changes[2];
    for (int g = 0; g < 2; ++g) {
        snprintf(words[g], sizeof words[g], "groups.%d.move={\"model\":\"hidac\",\"keep_side\":%d}",
                 g, side);
        changes[g] = words[g];
    }
    run r = begin("streams_loose", seed, changes, 2);
    double sum = 0, walks = 0, people = 0;
    for (int k = 0; k <= 10; ++k) {
        steps_to(&r, 30 + 2 * k);
        sum += apart(&r);
        const float *vx = field_of(r.world, TH_FIELD_VELOCITY_X);
        for (int i = 0; i < r.count; ++i) walks += fabsf(vx[i]) > 0.3f;
        people += r.count;
    }
    if (!(walks > 0.8 * people)) fail_msg("%g of %g walk", walks, people);
    if (seed == 1) to_the_end(&r);
    finish(&r);
    return sum / 11;
}

static void loose_streams_keep_right(void **state) {
    (void)state;
    double right = 0, left = 0;
    for (uint64_t seed = 1; seed <= CROWDS(4); ++seed) {
        right += streams_apart(seed, 1) / CROWDS(4);
        left += streams_apart(seed, -1) / CROWDS(4);
    }
    print_message("streams %.1f m apart, %.1f m when all keep left\n", right, left);
    // 2.5 m: one takes the right half of the corridor, the other the left one.
    if (CROWDS(4) > 1) assert_true(right > 1.8 && left < -1.8);
}

// With adaptation several lanes interleave and pass; without it the streams wedge into each other.
static void dense_streams_interleave_where_they_adapt(void **state) {
    (void)state;
    static const char *const stiff[] = {"groups.0.move={\"model\":\"hidac\",\"adapts\":0}",
                                        "groups.1.move={\"model\":\"hidac\",\"adapts\":0}"};
    double found[2] = {0, 0}, times[2] = {0, 0};
    for (int fixed = 0; fixed < 2; ++fixed)
        for (uint64_t seed = 1; seed <= CROWDS(4); ++seed) {
            run r = begin("streams_dense", seed, stiff, fixed ? 2 : 0);
            for (int k = 0; k < 10; ++k) {
                steps_to(&r, 18 + 0.5 * k);
                found[fixed] += 0.1 * lanes(&r, 17, 23) / CROWDS(4);
            }
            times[fixed] += to_the_end(&r) / CROWDS(4);
            finish(&r);
        }
    print_message("lanes: %.1f with adaptation, %.1f without; %.0f and %.0f s\n", found[0],
                  found[1], times[0], times[1]);
    if (CROWDS(4) == 1) return;
    assert_true(found[0] > 2.8); // two streams that keep right are two
    assert_true(times[0] < 100 && times[0] < 0.75 * times[1]);
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

// The width of a queue follows the tangential strength, and a thin one is a file, not a knot before the door.
static void queues_are_thin_medium_and_wide(void **state) {
    (void)state;
    double width[3] = {0}, length = 0;
    for (uint64_t seed = 1; seed <= CROWDS(3); ++seed) {
        run r = begin("queues", seed, NULL, 0);
        steps_to(&r, 12);
        double sum[3] = {0};
        float back[64]; // of the thin queue
        int count[3] = {0};
        for (int i = 0; i < r.count; ++i) {
            uint32_t g = r.group[i];
            if (r.x[i] > 13.9f) continue;
            sum[g] += fabs((double)r.y[i] - 7 * g - 3);
            if (g == 0) back[count[0]] = 14.0f - r.x[i];
            ++count[g];
        }
        qsort(back, (size_t)count[0], sizeof *back, by_value);
        length += (double)back[count[0] * 9 / 10] / CROWDS(3); // of nine in ten
        for (int g = 0; g < 3; ++g) width[g] += 2 * sum[g] / fmax(1, count[g]);
        if (seed == 1) to_the_end(&r);
        finish(&r);
    }
    print_message("queues %.2f, %.2f, %.2f m wide, the thin one %.1f m long\n",
                  width[0] / CROWDS(3), width[1] / CROWDS(3), width[2] / CROWDS(3), length);
    if (CROWDS(3) == 1) return;
    assert_true(width[1] > 1.15 * width[0] && width[2] > 1.15 * width[1]);
    assert_true(length > 3 * width[0] / CROWDS(3));
}

// The share of agents passing the fallen person that walk over the body.
static double share_over(const char *name, uint64_t seed) {
    run r = begin(name, seed, NULL, 0);
    char *over = calloc(256, 1), *passed = calloc(256, 1);
    assert_non_null(over);
    assert_non_null(passed);
    for (int k = 0; k < 40 * 20; ++k) {
        th_world_step(r.world, 1);
        look(&r);
        const uint32_t *id = (const uint32_t *)(const void *)field_of(r.world, TH_FIELD_ID);
        for (int i = 0; i < r.count; ++i) {
            if (r.group[i] == 0) continue;
            if (r.x[i] > 10) passed[id[i]] = 1;
            if (fabsf(r.x[i] - 10) < 0.45f && fabsf(r.y[i] - 2) < 0.25f) over[id[i]] = 1;
        }
    }
    int all = 0, some = 0;
    for (int i = 0; i < 256; ++i) {
        all += passed[i];
        some += passed[i] && over[i];
    }
    free(over);
    free(passed);
    assert_true(all > 10);
    assert_int_equal(r.phase[0], TH_PHASE_FALLEN);
    to_the_end(&r); // gets up after a minute
    finish(&r);
    return (double)some / all;
}

static void the_fallen_are_walked_around_where_there_is_room(void **state) {
    (void)state;
    double loose = 0, dense = 0;
    for (uint64_t seed = 1; seed <= CROWDS(8); ++seed) {
        loose += share_over("fallen_loose", seed) / CROWDS(8);
        dense += share_over("fallen_dense", seed) / CROWDS(8);
    }
    print_message("%.0f %% walk over the fallen in a loose crowd, %.0f %% in a dense one\n",
                  100 * loose, 100 * dense);
    if (CROWDS(8) == 1) return; // no mean: single crowds differ more than the two densities
    assert_true(loose < 0.06);
    assert_true(dense > loose + 0.03);
}

static void impatient_people_leave_the_bottleneck(void **state) {
    (void)state;
    static const char *const polite[] = {"groups.0.behave.impatience=0"};
    double mixed = 0, patient = 0;
    for (uint64_t seed = 1; seed <= CROWDS(4); ++seed) {
        run r = begin("bottleneck", seed, NULL, 0);
        mixed += to_the_end(&r);
        assert_true(th_world_exit(r.world, 1).left >= 5);
        finish(&r);
        r = begin("bottleneck", seed, polite, 1);
        patient += to_the_end(&r);
        assert_true(th_world_exit(r.world, 1).left <= 2);
        finish(&r);
    }
    print_message("bottleneck: %.1f s, %.1f s where all are patient\n", mixed / CROWDS(4),
                  patient / CROWDS(4));
    if (CROWDS(4) > 1) assert_true(mixed < 0.97 * patient);
}

// By either door, none while it is shut, and in the end all are out although both have been shut.
static void doors_close_and_open(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= CROWDS(3); ++seed) {
        run r = begin("doors", seed, NULL, 0);
        steps_to(&r, 12);
        uint64_t east = th_world_exit(r.world, 0).left;
        steps_to(&r, 29.9);
        // Agents past the door at 6 s have left; none follows.
        assert_true(th_world_exit(r.world, 0).left <= east + 2);
        assert_true(th_world_exit(r.world, 1).left > 0);
        to_the_end(&r);
        assert_true(th_world_exit(r.world, 0).left > east + 2);
        finish(&r);
    }
}

static void a_cinema_empties_calmly_and_in_panic(void **state) {
    (void)state;
    run r = begin("cinema", 1, NULL, 0);
    assert_true(to_the_end(&r) < 80);
    assert_int_equal(th_world_statistics(r.world).falls, 0);
    finish(&r);
    uint64_t falls = 0;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        r = begin("cinema_panic", seed, NULL, 0);
        to_the_end(&r);
        falls += th_world_statistics(r.world).falls;
        finish(&r);
    }
    assert_true(falls > 0);
}

// When the last of each group is in the corridor, added.
static void rooms_empty(uint64_t seed, const char *const *changes, int change_count,
                        double sum[4]) {
    double times[4] = {0};
    run r = begin("panicked_room", seed, changes, change_count);
    bool empty = false;
    while (!empty && th_world_time(r.world) < 120) {
        th_world_step(r.world, 4);
        look(&r);
        empty = true;
        for (int i = 0; i < r.count; ++i)
            if (r.y[i] < -0.1f || r.y[i] > 2.1f) {
                times[r.group[i]] = th_world_time(r.world);
                empty = false;
            }
    }
    for (int g = 0; g < 4; ++g) sum[g] += times[g] / CROWDS(6);
    to_the_end(&r);
    finish(&r);
}

// Figure 10. That room is not the first by its place: calm, it takes much longer.
static void the_panicked_room_empties_first(void **state) {
    (void)state;
    static const char *const calm[] = {"groups.0.move=hidac"};
    double with[4] = {0}, without[4] = {0};
    for (uint64_t seed = 1; seed <= CROWDS(6); ++seed) {
        rooms_empty(seed, NULL, 0, with);
        rooms_empty(seed, calm, 1, without);
    }
    print_message("rooms empty after %.1f %.1f %.1f %.1f s, calm %.1f %.1f %.1f %.1f s\n", with[0],
                  with[1], with[2], with[3], without[0], without[1], without[2], without[3]);
    if (CROWDS(6) == 1) return;
    for (int g = 1; g < 4; ++g) assert_true(with[0] < 0.9 * with[g]);
    assert_true(with[0] < 0.8 * without[0]);
}

// Two streams from sources, 440 people: none is left behind.
static void people_get_past_each_other_in_a_corridor(void **state) {
    (void)state;
    static const char *const changes[] = {"groups.0.filter=none", "groups.0.move=hidac",
                                          "groups.1.filter=none", "groups.1.move=hidac",
                                          "run={\"step\":0.0625,\"max_time\":600}"};
    for (uint64_t seed = 1; seed <= CROWDS(2); ++seed) {
        run r = begin("../experiments/corridor_both_ways", seed, changes, 5);
        to_the_end(&r);
        assert_int_equal(th_world_statistics(r.world).left, 440);
        finish(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loose_streams_keep_right),
        cmocka_unit_test(dense_streams_interleave_where_they_adapt),
        cmocka_unit_test(queues_are_thin_medium_and_wide),
        cmocka_unit_test(the_fallen_are_walked_around_where_there_is_room),
        cmocka_unit_test(impatient_people_leave_the_bottleneck),
        cmocka_unit_test(doors_close_and_open),
        cmocka_unit_test(a_cinema_empties_calmly_and_in_panic),
        cmocka_unit_test(the_panicked_room_empties_first),
        cmocka_unit_test(people_get_past_each_other_in_a_corridor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
