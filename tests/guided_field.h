// Fields of the planner guided over small grids. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_GUIDED_FIELD_H
#define TH_TESTS_GUIDED_FIELD_H
#include "lattice.h"
#include "plan/guided/guided.h"
#include "plan/prepared.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// Passages of all lines together, and every agent has arrived.
static inline void run_scene(const th_scene *scene, uint64_t seed, double limit, int *lines) {
    th_world *world = world_of(scene, 1, seed);
    run_to_end(world, limit);
    th_statistics statistics = th_world_statistics(world);
    if (statistics.left != statistics.spawned)
        fail_msg("seed %d: %d of %d arrived", (int)seed, (int)statistics.left,
                 (int)statistics.spawned);
    assert_int_equal(statistics.unreachable, 0);
    for (int k = 0; k < scene->measure_line_count; ++k) {
        th_line_count line = th_world_line(world, k);
        lines[k] += (int)(line.forward + line.backward);
    }
    th_world_destroy(world);
}

// Counts those of 40 people that cross a zone on the straight way.
static inline int through_zone(const char *zone) {
    char text[1000];
    snprintf(
        text, sizeof text,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 40, 20]}}], "zones": [%s],
                 "exits": [{"id": "e", "line": [[40, 9], [40, 11]]}, {"id": "w", "line": [[0, 19], [0, 20]]}],
                 "groups": [{"area": {"rect": [1, 8, 5, 12]}, "count": 40, "plan": "guided", "move": "orca", "to": "e"}],
                 "measure": {"lines": [{"line": [[20, 6], [20, 14]]}]}}),
                                                               zone);
    th_scene *scene = scene_of(text);
    int lines[1] = {0};
    run_scene(scene, 1, 200, lines);
    th_scene_destroy(scene);
    return lines[0];
}

static inline void discomfort(void **state) {
    (void)state;
    assert_true(through_zone("") > 30);
    assert_true(through_zone(TH_JSON({"area": {"rect": [18, 6, 22, 14]}, "discomfort": 20})) < 3);
    assert_true(through_zone(
        TH_JSON({"area": {"rect": [18, 6, 22, 14]}, "discomfort": 20, "to": "w"})) > 30);
}
#endif
