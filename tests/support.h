// Helpers of all tests: scenes from text, worlds, invariants, numbers, a counting allocator.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SUPPORT_H
#define TH_TESTS_SUPPORT_H
#include "scene/scene.h" // tests may look into a scene
#include "throng/throng.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

// JSON as text, written without escaped quotes: TH_JSON({"run": {"step": 0.1}}). Line breaks and runs of spaces
// become one space. It may hold printf's %d and the like, and be a part: TH_JSON(, "radius": 0.3).
#define TH_JSON(...) #__VA_ARGS__

// Numbers that should be equal, in double precision: cmocka compares floats.
#define assert_near(found, wanted, tolerance)                       \
    do {                                                            \
        double near_a = (double)(found), near_b = (double)(wanted); \
        if (!(fabs(near_a - near_b) <= (tolerance)))                \
            fail_msg("%.12g, wanted %.12g", near_a, near_b);        \
    } while (0)

// All of these fail the test with the error's message when something goes wrong.
th_scene *scene_of(const char *json);
th_scene *scene_file(const char *path); // relative to the repository
th_world *world_of(const th_scene *scene, int threads, uint64_t seed);

// No agent is lost or inside an obstacle, no value is NaN.
void assert_invariants(th_world *world);

// Steps until done or until `limit` seconds; returns the time. Invariants are checked every 5 s.
double run_to_end(th_world *world, double limit);

// One hash after `steps`, whatever the number of threads, up to `most`.
void assert_any_threads(const th_scene *scene, int most, int steps);
// A snapshot after `before` steps, restored into a world that has seen another crowd: both go on alike for `after`
// steps.
void assert_restores(const th_scene *scene, int before, int after);

// The number of crowds over which a statistical test averages: under sanitizers, which look for faults and not for
// means, one will do.
#ifdef TH_SLOW_BUILD
#define CROWDS(count) 1
#else
#define CROWDS(count) (count)
#endif

// Mean over people of a field, and a copy of a field in id order.
float *field_of(th_world *world, int field);

// An allocator that counts, and fails when told to: for a th_allocator whose context is a ledger.
typedef struct ledger {
    int64_t allocations, fail_at; // fail_at 0: never
    int64_t bytes, most;          // handed out and not yet returned, now and at most
} ledger;
void *counted_alloc(size_t size, size_t alignment, void *context);
void counted_free(void *memory, size_t size, void *context);
#endif
