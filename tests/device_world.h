// Worlds on the CPU and on a device, and how far they may differ, for the tests that compare them. These tests
// link a device of their own (tests/CMakeLists.txt), so of support.h they can take the macros only.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_DEVICE_WORLD_H
#define TH_TESTS_DEVICE_WORLD_H
#include "state/device.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// From a text, which begins with a brace, or from a file relative to the repository.
static inline th_scene *device_scene(const char *json) {
    th_scene *scene = NULL;
    th_error error;
    th_scene_options options = {0};
    th_result result = json[0] == '{' ? th_scene_load_json(json, strlen(json), "test", NULL,
                                                           &options, &scene, &error)
                                      : th_scene_load_file(json, &options, &scene, &error);
    if (result != TH_OK) fail_msg("%s", error.message);
    return scene;
}

static inline bool device_is_required(void) {
    const char *required = getenv("THRONG_REQUIRE_CUDA");
    return required && strcmp(required, "1") == 0;
}

// Without a device the test is skipped, unless THRONG_REQUIRE_CUDA=1 makes that a failure. The device's memory
// starts poisoned (src/device/device.cuh), so that nothing may rely on what was there.
static inline th_world *device_world_as(const th_scene *scene, th_world_def def) {
    th_world *world = NULL;
    th_error error;
    setenv("THRONG_POISON", "1", 1);
    def.threads = 1;
    th_result result = th_world_create(scene, &def, &world, &error);
    if (result == TH_NO_DEVICE && !device_is_required()) {
        print_message("  %s\n", error.message);
        skip();
    }
    if (result != TH_OK) fail_msg("%s", error.message);
    return world;
}
static inline th_world *device_world_with(const th_scene *scene, th_backend backend, uint64_t seed,
                                          double step) {
    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.seed = seed;
    def.step = step;
    return device_world_as(scene, def);
}
static inline th_world *device_world(const th_scene *scene, th_backend backend) {
    return device_world_with(scene, backend, 0, 0.0);
}

typedef struct pair {
    th_scene *scene;
    th_world *cpu, *device;
} pair;

// A step of 0 is the scene's, a seed of 0 too.
static inline pair pair_with(const char *json, uint64_t seed, double step) {
    th_scene *scene = device_scene(json);
    pair p = {scene, device_world_with(scene, TH_BACKEND_CPU, seed, step),
              device_world_with(scene, TH_BACKEND_CUDA, seed, step)};
    return p;
}
static inline pair pair_of(const char *json) { return pair_with(json, 0, 0.0); }
static inline void pair_end(pair p) {
    th_world_destroy(p.cpu);
    th_world_destroy(p.device);
    th_scene_destroy(p.scene);
}

// Compares the directions to a target from some places of the first level, as both tell them.
static inline void same_directions(pair p, int target) {
    enum { PLACES = 40 };
    th_vec2 places[PLACES], cpu[PLACES], device[PLACES];
    for (int k = 0; k < PLACES; ++k)
        places[k] = (th_vec2){1.0f + (float)k, 1.0f + (float)(k * 7 % 19)};
    assert_true(th_world_directions(p.cpu, target, 0, places, PLACES, cpu));
    assert_true(th_world_directions(p.device, target, 0, places, PLACES, device));
    assert_memory_equal(cpu, device, sizeof cpu);
}

static inline void copy_state(th_world *from, th_world *to) {
    th_error error;
    size_t size = th_world_snapshot_size(from);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(th_world_snapshot(from, bytes, size, &error), TH_OK);
    assert_int_equal(th_world_restore(to, bytes, size, &error), TH_OK);
    free(bytes);
}

static inline bool device_is_exact(void) {
    const th_device_backend *backend = th_cuda_backend();
    return backend && backend->exact;
}

// ---- how far people are apart
//
// An exact device (state/device.h) has the CPU's bits. Another one takes roots, exponentials and quotients from
// the hardware, relative error 1e-6, where the CPU's own inverse root is off by up to 5e-6: so the two differ by
// 5e-6 of a distance at most, 2e-6 m of 0.4 m between people. It also rounds a product and a sum once instead of
// twice, so that any expression may differ in its last bit, 6e-8. Crowds are chaotic, so such a device is held
// against the CPU for one step from the same state. Rounding also tips comparisons now and then (which agents are among
// the nearest ten, which constraint binds, in which sub-step two meet), and that person then does something else: a
// share of people may be off, and the share is stated.

typedef struct tolerance {
    double position;  // [m]
    double velocity;  // [m/s]
    double off_share; // of people beyond these or flipped, see there
} tolerance;

// Bounds on the difference of one step. Largest differences are those of tests/emulated_rough.h, every function off by up
// to 1e-6, which is four times what a GPU's are.
//
// ORCA: lines in velocity space are off by 1e-6 of a few m/s; where two cut at a small angle their crossing is off
// by a hundred times that, and where no velocity is allowed the least bad one may change: 0.5 % of a dense crowd.
static const tolerance ORCA_STEP = {1e-4, 1e-3, 1e-2};
// Contact sets people to exactly touching, and ORCA does so with agents that overlap. Whether they touch is then a
// matter of the last bit, and two things jump with it: a person's pushes are averaged over those it touches, and ORCA's
// line is of another kind, v^2 dt / (2 r), a few cm/s, off. An agent that sees one neighbour only walks into the
// others: 1.1 % of a crowd of 2 people/m2, 2 % of one that starts from a lattice.
static const tolerance ORCA_TOUCH_STEP = {1e-4, 1e-3, 3e-2};
// No agent that stands inside others has an allowed velocity, and among the nearly least bad ones a rounding
// chooses; an agent that then goes another way pushes the whole heap.
static const tolerance ORCA_HEAP_STEP = {1e-4, 1e-3, 5e-2};
// Forces: at most 2000 N for 0.1 s on 75 kg is 2.7 m/s, of which 5e-6 are 1.3e-5 m/s; ten times that in heaps.
static const tolerance FORCE_STEP = {1e-5, 5e-4, 1e-3};
// Power law: whether two grazing agents will touch is the sign of a difference of nearly equal numbers, and the force
// grows as the third power of how soon: 1 in 150 of a hall is off by more, and many of those that stand in each other.
static const tolerance POWER_LAW_STEP = {1e-4, 1e-2, 1e-2};
static const tolerance POWER_LAW_HEAP_STEP = {1e-3, 5e-2, 0.15};
// HiDAC: which neighbour an agent avoids, and to which side, is the sign of a difference or the smallest of several
// distances, and whether two touch is a matter of the last bit: then one agent or both of a pair are off by up to
// 0.4 m/s, often for some steps, because they stay as near. Of 40 seeds of a crowd with such errors the worst had 4 in
// 1000 people off, and 2 of 359; four seeds were beyond FORCE_STEP. Shares of 0.4 that do not arrive put off far more.
static const tolerance HIDAC_STEP = {1e-5, 5e-4, 1e-2};
// UIC without pressure: pairs that overlap are set apart by a distance of 0.4 m off by 5e-6, 2e-6 m, in a few
// passes; a step of 0.05 s makes that 1e-4 m/s.
static const tolerance UIC_STEP = {2e-5, 5e-4, 1e-3};
// UIC in a jam: pressures are found to within 1e-3 of the largest, on every device, and move people a step of 5 cm.
// In a heap that is as many times denser than people can stand, the largest is that many times larger: 1 in 200. And
// in one heap of 80 in four the last bit decides which agents are still tight and so moves at all in the tidying passes
// of the pair step, which carries some twenty people by 1 to 9 mm: 2 % of all; without these passes only one agent is
// off.
static const tolerance UIC_JAM_STEP = {1e-3, 2e-2, 4e-2};
// PBD, of one sub-step: 2e-6 m for every contact in seven iterations, over 1/48 s as velocity; and in which sub-step
// two will meet is a whole number, which jumps by one for 1 in 1000 pairs and moves them 1e-4 m. The five sub-steps of
// 0.1 s multiply this: half of a crowd is then off by 1e-5 m, 1 in 200 by 3e-3 m.
static const tolerance PBD_STEP = {1e-4, 1e-2, 5e-3};
#define PBD_SUBSTEP 0.0208 // [s] a little below 1/48, so that it is one
// Forces of people that stand in each other: 1 in 500 is pushed the other way by a rounding.
static const tolerance HEAP_STEP = {1e-5, 5e-4, 1e-2};

// Share of people, for all: a line or the edge of an area lies within 1e-4 m of one in a thousand that walk 0.1 m.
static const double FLIPPED_SHARE = 1e-3;
// [m/s] The same for all: the plan is exact, and a filter turns its direction by weights that are off by 1e-6.
static const double PREFERRED_BOUND = 2e-5;

typedef struct difference {
    double position, velocity, preferred; // largest, of those within the tolerance
    int people, off;
    int flipped; // of those that are off: another phase, level or leg, or in one world only
} difference;

enum { COMPARED = 10 };
static const th_field compared_fields[COMPARED] = {
    TH_FIELD_ID,         TH_FIELD_POSITION_X,  TH_FIELD_POSITION_Y,  TH_FIELD_VELOCITY_X,
    TH_FIELD_VELOCITY_Y, TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y, TH_FIELD_PHASE,
    TH_FIELD_LEG,        TH_FIELD_LEVEL};

typedef struct people_view {
    const float *x, *y, *velocity_x, *velocity_y, *preferred_x, *preferred_y;
    const uint32_t *id, *phase, *leg, *level;
    int count;
} people_view;

// In ascending order of id.
static inline people_view view_people(th_world *world) {
    const void *map[COMPARED];
    for (int f = 0; f < COMPARED; ++f) {
        map[f] = th_world_map(world, compared_fields[f], TH_ACCESS_READ);
        assert_non_null(map[f]);
    }
    return (people_view){.id = map[0],
                         .x = map[1],
                         .y = map[2],
                         .velocity_x = map[3],
                         .velocity_y = map[4],
                         .preferred_x = map[5],
                         .preferred_y = map[6],
                         .phase = map[7],
                         .leg = map[8],
                         .level = map[9],
                         .count = th_world_agent_count(world)};
}
static inline void unview_people(th_world *world) {
    for (int f = 0; f < COMPARED; ++f) th_world_unmap(world, compared_fields[f]);
}

// Not a number is further apart than anything.
static inline double between(float ax, float ay, float bx, float by) {
    double distance = hypot((double)ax - (double)bx, (double)ay - (double)by);
    return isfinite(distance) ? distance : (double)INFINITY;
}

static inline void add_person(difference *d, const people_view *a, int i, const people_view *b,
                              int j, tolerance t) {
    double position = between(a->x[i], a->y[i], b->x[j], b->y[j]);
    double velocity =
        between(a->velocity_x[i], a->velocity_y[i], b->velocity_x[j], b->velocity_y[j]);
    double preferred =
        between(a->preferred_x[i], a->preferred_y[i], b->preferred_x[j], b->preferred_y[j]);
    bool same = a->phase[i] == b->phase[j] && a->leg[i] == b->leg[j] && a->level[i] == b->level[j];
    if (!same || position > t.position || velocity > t.velocity || preferred > PREFERRED_BOUND) {
        d->off++;
        d->flipped += !same;
        return;
    }
    d->position = fmax(d->position, position);
    d->velocity = fmax(d->velocity, velocity);
    d->preferred = fmax(d->preferred, preferred);
}

// Every agent of the two worlds, adding to what was found before.
static inline void add_difference(difference *d, th_world *one, th_world *other, tolerance t) {
    people_view a = view_people(one), b = view_people(other);
    for (int i = 0, j = 0; i < a.count || j < b.count; d->people++) {
        bool only_a = j >= b.count || (i < a.count && a.id[i] < b.id[j]);
        bool only_b = !only_a && (i >= a.count || b.id[j] < a.id[i]);
        if (!only_a && !only_b) {
            add_person(d, &a, i++, &b, j++, t);
            continue;
        }
        d->off++;
        d->flipped++;
        i += only_a;
        j += only_b;
    }
    unview_people(one);
    unview_people(other);
}

// At least one may be off wherever any may, however few there are.
static inline int off_allowed(int people, tolerance t) { return (int)ceil(t.off_share * people); }
static inline int flipped_allowed(int people) { return (int)ceil(FLIPPED_SHARE * people); }

static inline bool is_near(uint64_t a, uint64_t b, int allowed) {
    return (a > b ? a - b : b - a) <= (uint64_t)allowed;
}

// Counters of both worlds, but for as many people as may be off. Sources do not see the models' rounding.
static inline void assert_counters_near(pair p, int allowed) {
    th_statistics a = th_world_statistics(p.cpu), b = th_world_statistics(p.device);
    assert_true(a.time == b.time);
    assert_int_equal(a.spawned, b.spawned);
    assert_int_equal(a.removed, b.removed);
    assert_int_equal(a.waiting_to_enter, b.waiting_to_enter);
    assert_int_equal(b.spawned, b.inside + b.left + b.removed);
    assert_true(is_near(a.left, b.left, allowed));
    assert_int_equal(a.wall_crossings, b.wall_crossings);
    assert_true(is_near(a.wall_stops, b.wall_stops, allowed));
    assert_true(is_near(a.repairs, b.repairs, allowed));
    assert_true(is_near(a.unreachable, b.unreachable, allowed));
    for (int l = 0; l < th_world_line_count(p.cpu); ++l) {
        th_line_count x = th_world_line(p.cpu, l), y = th_world_line(p.device, l);
        assert_true(is_near(x.forward, y.forward, allowed));
        assert_true(is_near(x.backward, y.backward, allowed));
    }
    for (int k = 0; k < th_world_area_count(p.cpu); ++k)
        assert_true(is_near((uint64_t)th_world_area(p.cpu, k).count,
                            (uint64_t)th_world_area(p.device, k).count, allowed));
}

// Depths of overlaps that both devices find in the same places: the root's 1e-6 of at most 1 m between people.
static const float OVERLAP_BOUND = 1e-6f; // [m]
static inline void assert_depth_near(float a, float b) {
    if (!(fabsf(a - b) <= (device_is_exact() ? 0.0f : OVERLAP_BOUND)))
        fail_msg("overlaps are %.9g m deep on the CPU, %.9g m on the device", (double)a, (double)b);
}

static inline void assert_same_events(pair p) {
    int a_count, b_count;
    uint64_t a_lost, b_lost;
    const th_event *a = th_world_events(p.cpu, &a_count, &a_lost);
    const th_event *b = th_world_events(p.device, &b_count, &b_lost);
    assert_int_equal(a_count, b_count);
    assert_int_equal(a_lost, b_lost);
    for (int k = 0; k < a_count; ++k) {
        assert_int_equal(a[k].kind, b[k].kind);
        assert_int_equal(a[k].agent.serial, b[k].agent.serial);
        assert_int_equal(a[k].index, b[k].index);
        assert_true(a[k].time == b[k].time);
    }
    for (int g = 0; g < p.scene->goal_count; ++g) {
        th_exit_count cpu = th_world_exit(p.cpu, g), device = th_world_exit(p.device, g);
        assert_int_equal(cpu.left, device.left);
        assert_true(cpu.first_time == device.first_time && cpu.last_time == device.last_time);
    }
}

// The worlds of a pair have the same state before and after. An exact device makes `at_once` steps and has the CPU's
// hash then; another one makes one step, which is compared, and takes the CPU's state over after all of them.
static inline void step_together(pair p, int at_once, tolerance t, const char *what,
                                 difference *d) {
    bool exact = device_is_exact();
    int compared = exact ? at_once : 1, off = d->off;
    th_world_step(p.cpu, compared);
    th_world_step(p.device, compared);
    add_difference(d, p.cpu, p.device, t);
    if (exact && th_world_hash(p.cpu) != th_world_hash(p.device))
        fail_msg("%s: differs within the %d steps before %d", what, at_once,
                 (int)th_world_step_count(p.cpu));
    if (d->off == off) assert_same_events(p);
    if (exact) return;
    assert_counters_near(p, off_allowed(th_world_agent_count(p.cpu), t));
    th_world_step(p.cpu, at_once - compared);
    copy_state(p.cpu, p.device);
}

static inline void assert_within(difference d, tolerance t, const char *what) {
    if (d.off > off_allowed(d.people, t))
        fail_msg("%s: %d of %d people are off, %d may be; the others by %.2g m, %.2g m/s, "
                 "preferred %.2g m/s",
                 what, d.off, d.people, off_allowed(d.people, t), d.position, d.velocity,
                 d.preferred);
    if (d.flipped > flipped_allowed(d.people))
        fail_msg("%s: %d of %d people are in another phase, on another level or leg, or gone", what,
                 d.flipped, d.people);
    if (d.position > 0.0 || d.velocity > 0.0)
        print_message("  %s: off by %.1e m, %.1e m/s, preferred %.1e m/s; %d of %d beyond\n", what,
                      d.position, d.velocity, d.preferred, d.off, d.people);
}

static inline void walk_together(pair p, int steps, int at_once, tolerance t, const char *what) {
    difference d = {0};
    for (int s = 0; s < steps; s += at_once) step_together(p, at_once, t, what, &d);
    assert_within(d, t, what);
    if (!device_is_exact()) return;
    assert_counters_near(p, 0);
    assert_true(d.off == 0 && d.position == 0.0 && d.velocity == 0.0 && d.preferred == 0.0);
}
#endif
