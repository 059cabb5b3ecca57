// Small worlds of HiDAC's agents. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_HIDAC_WORLD_H
#define TH_TESTS_HIDAC_WORLD_H
#include "formula/random.h"
#include "move/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static inline th_world *world_with(th_scene **scene, uint64_t seed, const char *json) {
    *scene = scene_of(json);
    return world_of(*scene, 1, seed);
}

static inline void end(th_scene *scene, th_world *world) {
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A hall with walls below and above; a group "p" that wants to go east, with its positions and the rest of its move.
static inline th_world *in_hall(th_scene **scene, const char *positions, const char *more,
                                const char *move) {
    char json[1024];
    snprintf(json, sizeof json,
             TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 8]}}],
         "exits": [{"id": "out", "line": [[20, 0], [20, 8]]}],
         "groups": [{"id": "p", "positions": [%s], "to": "out", "plan": "straight", "speed": 1.3, "radius": 0.2 %s,
            "move": {"model": "hidac" %s}}], "run": {"step": 0.05}}),
                                                 positions, more, move);
    return world_with(scene, 1, json);
}

// A field of the models, by its name.
static inline const float *own_field(th_world *world, const char *name) {
    int field = th_world_field(world, name);
    assert_true(field >= 0);
    return field_of(world, field);
}

// A crowd of 150 before a door from `low` to `high`; with the rest of its move.
static inline void door_text(char *json, size_t size, double low, double high, const char *move) {
    snprintf(json, size,
             TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 16, 10]}, "obstacles": [
        {"rect": [10, -1, 10.4, %g]}, {"rect": [10, %g, 10.4, 11]}]}],
      "exits": [{"id": "out", "line": [[16, 0], [16, 10]]}],
      "groups": [{"id": "p", "count": 150, "area": {"rect": [0.3, 0.3, 9.5, 9.7]}, "to": "out", "plan": "field",
        "move": {"model": "hidac" %s}}], "run": {"step": 0.04, "duration": 400}}),
                                        low, high, move);
}
#endif
