// Small worlds of HiDAC's minds, for the tests of behave/hidac. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_HIDAC_MIND_H
#define TH_TESTS_HIDAC_MIND_H
#include "behave/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

typedef struct run {
    th_scene *scene;
    th_world *world;
} run;

static inline run begin(const char *json, uint64_t seed, int threads) {
    run r = {.scene = scene_of(json)};
    r.world = world_of(r.scene, threads, seed);
    return r;
}

static inline void finish(run *r) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
}

static inline void steps_to(run *r, double time) {
    while (th_world_time(r->world) < time - 1e-6) th_world_step(r->world, 1);
}

static inline uint32_t word_of(run *r, const char *name, int k) {
    int field = th_world_field(r->world, name);
    assert_true(field >= 0);
    const uint32_t *view = th_world_map(r->world, field, TH_ACCESS_READ);
    uint32_t value = view[k];
    th_world_unmap(r->world, field);
    return value;
}

static inline float place_of(run *r, int k) {
    const float *x = th_world_map(r->world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    float place = x[k];
    th_world_unmap(r->world, TH_FIELD_POSITION_X);
    return place;
}

static inline int count_nature(run *r, uint32_t bit) {
    int field = th_world_field(r->world, "hidac.nature"), count = 0;
    const uint32_t *view = th_world_map(r->world, field, TH_ACCESS_READ);
    for (int k = 0; k < th_world_agent_count(r->world); ++k) count += (view[k] & bit) != 0;
    th_world_unmap(r->world, field);
    return count;
}

// Two rooms on either side of a hall with exits at both of its ends.
#define HALL                                                                                       \
    "\"levels\":[{\"walkable\":[{\"rect\":[0,0,30,6]},{\"rect\":[2,6.2,8,12]},"                    \
    "{\"rect\":[4.5,6,5.5,6.2]},{\"rect\":[22,6.2,28,12]},{\"rect\":[24.5,6,25.5,6.2]}]}],"        \
    "\"exits\":[{\"id\":\"west\",\"line\":[[0,2],[0,4]]},{\"id\":\"east\",\"line\":[[30,2],[30,4]" \
    "]}]"

// Rooms along a corridor; the exit is in the first or the last.
#define SIX_ROOMS                                                                                  \
    "\"levels\":[{\"walkable\":[{\"rect\":[0,0,60,3]},{\"rect\":[2,3.2,8,9]},{\"rect\":[4.5,3,5."  \
    "5,"                                                                                           \
    "3.2]},{\"rect\":[12,3.2,18,9]},{\"rect\":[14.5,3,15.5,3.2]},{\"rect\":[22,3.2,28,9]},{"       \
    "\"rect\":[24.5,3,25.5,3.2]},{\"rect\":[32,3.2,38,9]},{\"rect\":[34.5,3,35.5,3.2]},{\"rect\":" \
    "[42,3.2,48,9]},{\"rect\":[44.5,3,45.5,3.2]},{\"rect\":[52,3.2,58,9]},{\"rect\":[54.5,3,55.5," \
    "3.2]}]}]"
#endif
