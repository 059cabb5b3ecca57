// Whole scenes on the CPU and on a device, compared by what is measured of them: egress time, flow through a door,
// density before it, lanes of a crowd that walks both ways, overlaps, and that no agent goes through a wall. An exact
// device gives the CPU's very numbers. On any other the same seed gives another crowd, as chaotic ones do, so the
// mean over seeds is held against the CPU's, and how far it may be off is what seeds make of it on the CPU.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "lane_index.h"

enum { SEEDS = 8 };
#ifdef TH_SLOW_BUILD
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

// 60 people leave a room of 36 m2 through a door.
static const char room[] = TH_JSON(
    {"levels": [{"walkable": [{"rect": [-6, -3, 0, 3]}, {"rect": [0, %g, 2, %g]}]}],
    "exits": [{"id": "out", "line": [[2, %g], [2, %g]]}],
    "groups": [{"count": 60, "area": {"rect": [-6, -3, -1, 3]}, "to": "out", "radius": 0.2,
        "move": "%s"}],
    "measure": {"lines": [{"id": "door", "line": [[0, %g], [0, %g]]}],
        "areas": [{"id": "before", "area": {"rect": [-2, -1, 0, 1]}}]},
    "run": {"step": 0.1, "duration": 120}});

static th_scene *room_with(double door, const char *model) {
    char json[2048];
    double half = 0.5 * door;
    snprintf(json, sizeof json, room, -half, half, -half, half, model, half, -half);
    return device_scene(json);
}

// Two crowds of 1 per m2, mixed from the start, walk both ways through each other.
static const char corridor[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [-25, -2, 25, 2]}}],
    "exits": [{"id": "west", "line": [[-25, -2], [-25, 2]]}, {"id": "east",
        "line": [[25, -2], [25, 2]]}],
    "groups": [{"id": "a", "count": 70, "area": {"rect": [-18, -2, 18, 2]}, "to": "east",
        "radius": 0.2, "move": "%s"}, {"id": "b", "count": 70,
        "area": {"rect": [-18, -2, 18, 2]}, "to": "west", "radius": 0.2, "move": "%s"}],
    "measure": {"lines": [{"id": "middle", "line": [[0, 2], [0, -2]]}],
        "areas": [{"id": "box", "area": {"rect": [-4, -2, 4, 2]}}]},
    "run": {"step": 0.1, "duration": 60}});

enum { NUMBERS_MOST = 5 };
typedef struct numbers {
    double value[NUMBERS_MOST];
} numbers;
static const char *const room_names[] = {"egress time [s]", "flow [1/s]", "density [1/m2]",
                                         "deepest overlap [m]", NULL};
static const char *const corridor_names[] = {"lane index", "crossings of the middle",
                                             "density [1/m2]", "mean speed [m/s]", NULL};

static void assert_none_in_walls(th_world *world) {
    th_statistics s = th_world_statistics(world);
    assert_int_equal(s.wall_crossings, 0);
    assert_int_equal(s.spawned, s.inside + s.left);
}

static numbers leave_room(th_world *world) {
    double density = 0.0;
    int samples = 0;
    while (!th_world_done(world) && th_world_time(world) < 120.0) {
        th_world_step(world, 5);
        if (th_world_line(world, 0).forward > 0 && th_world_line(world, 0).forward < 50) {
            density += th_world_area(world, 0).density;
            ++samples;
        }
    }
    th_statistics s = th_world_statistics(world);
    th_line_count door = th_world_line(world, 0);
    if (s.left != 60) fail_msg("%d of 60 left within 120 s", (int)s.left);
    assert_int_equal(door.forward - door.backward, 60);
    assert_none_in_walls(world);
    double flow = (double)(door.forward - 1) / (door.last_time - door.first_time);
    return (numbers){{s.last_left_time, flow, density / samples, (double)s.largest_overlap}};
}

static numbers pass_each_other(th_world *world) {
    numbers n = {{0}};
    enum { SAMPLES = 6 };
    th_world_step(world, 90);
    for (int k = 0; k < SAMPLES; ++k) { // from 9 s to 12 s
        th_world_step(world, 5);
        th_area_state box = th_world_area(world, 0);
        n.value[0] += lane_index(world, 12.0f) / SAMPLES;
        n.value[2] += box.density / SAMPLES;
        n.value[3] += box.mean_speed / SAMPLES;
    }
    th_line_count middle = th_world_line(world, 0);
    n.value[1] = (double)(middle.forward + middle.backward);
    assert_none_in_walls(world);
    return n;
}

typedef numbers measure(th_world *world);

static numbers run(const th_scene *scene, th_backend backend, int seed, measure *measured) {
    th_world *world = device_world_with(scene, backend, (uint64_t)seed, 0.0);
    numbers n = measured(world);
    th_world_destroy(world);
    return n;
}

static double mean_of(const numbers *n, int k) {
    double sum = 0.0;
    for (int s = 0; s < SEEDS; ++s) sum += n[s].value[k] / SEEDS;
    return sum;
}
static double variance_of(const numbers *n, int k) {
    double mean = mean_of(n, k), sum = 0.0;
    for (int s = 0; s < SEEDS; ++s) sum += (n[s].value[k] - mean) * (n[s].value[k] - mean);
    return sum / (SEEDS - 1);
}

// Four standard errors of the difference of two means, as some thirty numbers are compared: by chance one in
// a thousand is further off. Numbers that hardly vary may be off by 5 % all the same.
static double allowed(const numbers *cpu, const numbers *device, int k) {
    double error = sqrt((variance_of(cpu, k) + variance_of(device, k)) / SEEDS);
    return fmax(4.0 * error, 0.05 * fabs(mean_of(cpu, k)));
}

static void assert_means_near(const numbers *cpu, const numbers *device, const char *const *names,
                              const char *model) {
    for (int k = 0; names[k]; ++k) {
        double a = mean_of(cpu, k), b = mean_of(device, k), most = allowed(cpu, device, k);
        print_message("  %-14s %-24s CPU %.3g, device %.3g, allowed %.2g\n", model, names[k], a, b,
                      most);
        if (!(fabs(a - b) <= most))
            fail_msg("%s, %s: %g on the device, %g +- %g on the CPU", model, names[k], b, a, most);
    }
}

static void compare_scene(th_scene *scene, const char *model, measure *measured,
                          const char *const *names) {
    bool exact = device_is_exact() && strcmp(model, "uic") != 0; // its pressures are not
    numbers cpu[SEEDS], device[SEEDS];
    if (exact) {
        cpu[0] = run(scene, TH_BACKEND_CPU, 1, measured);
        device[0] = run(scene, TH_BACKEND_CUDA, 1, measured);
        for (int k = 0; names[k]; ++k)
            if (cpu[0].value[k] != device[0].value[k])
                fail_msg("%s, %s: %.9g on the device, %.9g on the CPU", model, names[k],
                         device[0].value[k], cpu[0].value[k]);
    } else {
        for (int s = 0; s < SEEDS; ++s) {
            device[s] = run(scene, TH_BACKEND_CUDA, s + 1, measured);
            cpu[s] = run(scene, TH_BACKEND_CPU, s + 1, measured);
        }
        assert_means_near(cpu, device, names, model);
    }
    th_scene_destroy(scene);
}

static void rooms_empty_alike(void **state) {
    (void)state;
    static const struct {
        const char *model;
        double door; // [m]; before one of 1.4 m in this place the crowd of uic jams, on the CPU too
    } rows[] = {{"orca", 1.4}, {"social_force", 1.4}, {"pbd", 1.4}, {"uic", 3.0}};
    for (int k = 0; k < (SLOW ? 2 : 4); ++k)
        compare_scene(room_with(rows[k].door, rows[k].model), rows[k].model, leave_room,
                      room_names);
}

static void lanes_form_alike(void **state) {
    (void)state;
    static const char *const models[] = {"pbd", "helbing_molnar", "orca"};
    for (int m = SLOW ? 2 : 0; m < 3; ++m) {
        char json[2048];
        snprintf(json, sizeof json, corridor, models[m], models[m]);
        compare_scene(device_scene(json), models[m], pass_each_other, corridor_names);
    }
}

// That this is narrow enough to tell: a door of 1.1 m is noticed, in time and in flow.
static void statistics_notice(void **state) {
    (void)state;
    if (SLOW) skip();
    numbers found[2][SEEDS];
    for (int w = 0; w < 2; ++w) {
        th_scene *scene = room_with(w ? 1.1 : 1.4, "pbd");
        for (int s = 0; s < SEEDS; ++s) found[w][s] = run(scene, TH_BACKEND_CPU, s + 1, leave_room);
        th_scene_destroy(scene);
    }
    for (int k = 0; k < 2; ++k)
        assert_true(fabs(mean_of(found[0], k) - mean_of(found[1], k)) >
                    allowed(found[0], found[1], k));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rooms_empty_alike),
        cmocka_unit_test(lanes_form_alike),
        cmocka_unit_test(statistics_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
