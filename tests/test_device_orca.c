// ORCA on a device against the CPU: what its search for neighbours, its kernels and its lists have to
// tell apart. People at equal distances and at one place, few and many neighbours, no agent around, walls and stairs
// beside open floor, an agent that does not step aside. SPDX-License-Identifier: Apache-2.0
#include "device_world.h"

#ifdef TH_SLOW_BUILD
enum { STEPS = 5 };
#else
enum { STEPS = 30 };
#endif

static void step_and_end_within(pair p, int steps, tolerance t, const char *what) {
    walk_together(p, steps, 1, t, what);
    pair_end(p);
}
static void step_and_end(pair p, int steps, const char *what) {
    step_and_end_within(p, steps, ORCA_STEP, what);
}

// So many people on an open plane, all going to the opposite side.
static pair plane(int count, const char *params) {
    char json[1024];
    static const char format[] = TH_JSON(
        {"groups": [{"id": "g", "count": %d, "area": {"rect": [-8, -8, 8, 8]},
            "own_goal": {"opposite": [0, 0]}, "move": {"model": "orca"%s}}],
        "run": {"step": 0.1, "duration": 60}});
    snprintf(json, sizeof json, format, count, params);
    return pair_of(json);
}

#define AT_MOST(n) ", \"max_neighbours\": " #n
static const char *const neighbours[] = {"", AT_MOST(1), AT_MOST(4), AT_MOST(11), AT_MOST(16)};
enum { NEIGHBOURS = sizeof neighbours / sizeof *neighbours, ONE_NEIGHBOUR = 1 };

static void crowds_of_all_sizes(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 5, 40, 600};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c)
        for (int k = 0; k < NEIGHBOURS; ++k)
            step_and_end_within(plane(counts[c], neighbours[k]), STEPS,
                                k == ONE_NEIGHBOUR ? ORCA_TOUCH_STEP : ORCA_STEP, neighbours[k]);
}

// Where person k of `count` is put. Coordinates are multiples of 1/16 m, so squares of distances have no rounding on
// any device: equal ones are equal to the last bit on all of them, and ids decide.
typedef th_vec2 place_fn(int k, int count);
static th_vec2 on_lattice(int k, int count) {
    (void)count;
    return (th_vec2){0.5f * (float)(k % 20), 0.5f * (float)(k / 20)};
}
static th_vec2
in_heaps(int k, int count) { // ten and more at one place, and more than any list holds near it
    (void)count;
    return (th_vec2){0.0625f * (float)(k / 13 % 5), 0.0625f * (float)(k / 65)};
}
static th_vec2 at_one_place(int k, int count) {
    (void)k, (void)count;
    return (th_vec2){1.0f, 2.0f};
}
static th_vec2
far_apart(int k, int count) { // the range to the last bit, and a crowd at the end of the row
    return (th_vec2){k < count / 2 ? 5.0f * (float)k : 1000.0f + 0.4375f * (float)(k % 9),
                     k < count / 2 ? 0.0f : 0.4375f * (float)(k / 9)};
}

static void put_people(pair p, place_fn *place_of) {
    for (int w = 0; w < 2; ++w) {
        th_world *world = w ? p.device : p.cpu;
        int count = th_world_agent_count(world);
        float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_WRITE);
        float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_WRITE);
        assert_non_null(x);
        assert_non_null(y);
        for (int i = 0; i < count; ++i) {
            th_vec2 place = place_of(i * 7 % count, count); // ids in no order along the rows
            x[i] = place.x;
            y[i] = place.y;
        }
        th_world_unmap(world, TH_FIELD_POSITION_X);
        th_world_unmap(world, TH_FIELD_POSITION_Y);
    }
}

// The first step, from equal distances, is the same on every device. In heaps of 300 no agent has an allowed velocity
// after it, and the last bit decides which is least bad: from there on only exact devices go together.
static void places_by_hand(void **state) {
    (void)state;
    static const struct {
        place_fn *place_of;
        const char *name;
        bool heap;
    } rows[] = {{on_lattice, "lattice", false},
                {in_heaps, "heaps", true},
                {at_one_place, "one place", true},
                {far_apart, "far apart", false}};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; ++n)
        for (int k = 0; k < NEIGHBOURS; ++k) {
            pair p = plane(300, neighbours[k]);
            put_people(p, rows[n].place_of);
            tolerance t = k == ONE_NEIGHBOUR ? ORCA_TOUCH_STEP : ORCA_STEP;
            walk_together(p, 1, 1, t, rows[n].name);
            bool apart = rows[n].heap && !device_is_exact();
            step_and_end_within(p, apart ? 0 : STEPS / 2, t, rows[n].name);
        }
}

// Groups that want different numbers of neighbours, near walls and far from them, on both sides of a stair's top,
// around a scripted body and through a thin wall, seen or not.
static void walls_and_levels(void **state) {
    (void)state;
    static const char *const sights[] = {"1", "0"};
    for (int k = 0; k < 2; ++k) {
        char json[4096];
        static const char format[] = TH_JSON(
            {"levels": [{"id": "below", "walkable": {"rect": [0, 0, 33, 18]},
                "obstacles": [{"rect": [9, 3, 10, 4]}], "walls": [[[5, 0], [5, 9]]]},
                {"id": "above", "z": 1.5, "walkable": {"rect": [33, 0, 40, 18]}}],
            "stairs": [{"id": "s", "level": "below", "to": "above",
                "area": {"rect": [30, 0, 33, 18]}, "top": [[33, 0], [33, 18]], "up": 0.5,
                "down": 0.7}],
            "exits": [{"id": "east", "level": "above", "line": [[40, 0], [40, 18]]},
                {"id": "west", "level": "below", "line": [[0, 0], [0, 18]]}],
            "groups": [ {"id": "a", "level": "below", "count": 250,
                "area": {"rect": [1, 1, 12, 17]}, "to": "east", "move": {"model": "orca",
                "max_neighbours": 16, "line_of_sight": %s}}, {"id": "b", "level": "below",
                "count": 250, "area": {"rect": [14, 1, 33, 17]}, "to": "west",
                "radius": {"uniform": [0.15, 0.3]}, "move": {"model": "orca", "noise": 0.05,
                "max_acceleration": 3, "line_of_sight": %s}}, {"id": "c", "level": "above",
                "count": 60, "area": {"rect": [33, 1, 39, 17]}, "to": "west",
                "move": {"model": "orca", "max_neighbours": 3}}],
            "scripted": [{"id": "cart", "level": "below", "radius": 0.5,
                "path": [[0, 12, 14], [4, 19, 14]]}],
            "run": {"step": 0.1, "duration": 60}});
        snprintf(json, sizeof json, format, sights[k], sights[k]);
        step_and_end(pair_of(json), 2 * STEPS, sights[k]);
    }
}

// So few people that neighbours stand far beyond a wall that is too far off to make lines.
static void hidden_far_away(void **state) {
    (void)state;
    pair p = pair_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 24, 16]}, "walls": [[[12, 2], [12, 14]]]}],
        "groups": [{"id": "g", "count": 70, "own_goal": {"opposite": [12, 8]}, "move": "orca"}],
        "run": {"step": 0.1, "duration": 60}}));
    step_and_end(p, 2 * STEPS, "a wall between");
}

// A parameter that is raised while it runs takes more room than before.
static void more_neighbours_later(void **state) {
    (void)state;
    pair p = plane(400, "");
    walk_together(p, 3, 1, ORCA_STEP, "10");
    for (int w = 0; w < 2; ++w) {
        th_error error;
        assert_int_equal(th_world_set_param(w ? p.device : p.cpu, 0, "max_neighbours", 16, &error),
                         TH_OK);
    }
    step_and_end(p, STEPS, "16 from the third step on");
}

// As many passes of the contact stage as one may ask for, odd and even, among walls and without: after each the arrays
// of old and new places change roles.
static void separation_passes(void **state) {
    (void)state;
    static const char *const grounds[] = {
        "",
        TH_JSON("levels": [{"walkable": {"rect": [0, 0, 10, 10]}, "walls": [[[5, 2], [5, 8]]]}],)};
    for (int k = 0; k < 2; ++k)
        for (int passes = 0; passes < 6; ++passes) {
            char json[1024];
            static const char format[] = TH_JSON(
                {%s"groups": [{"id": "g", "count": 150,
                    "area": {"rect": [0.5, 0.5, 9.5, 9.5]},
                    "own_goal": {"opposite": [5, 5.5]}, "move": {"model": "orca",
                    "max_neighbours": 2, "separation_passes": %d}}],
                "run": {"step": 0.1, "duration": 60}});
            snprintf(json, sizeof json, format, grounds[k], passes);
            step_and_end_within(pair_of(json), STEPS / 3, ORCA_TOUCH_STEP, "separation_passes");
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowds_of_all_sizes),   cmocka_unit_test(places_by_hand),
        cmocka_unit_test(walls_and_levels),      cmocka_unit_test(hidden_far_away),
        cmocka_unit_test(more_neighbours_later), cmocka_unit_test(separation_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
