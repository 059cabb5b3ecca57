// Small worlds of position-based crowds. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_PBD_WORLD_H
#define TH_TESTS_PBD_WORLD_H
#include "formula/random.h"
#include "lane_index.h"
#include "move/pbd/pbd.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Deepest overlap of any two, as a share of the sum of their radii.
static inline float deepest_overlap(const th_world *world) {
    const th_agents *a = &world->agents;
    float deepest = 0.0f;
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i)
        for (uint32_t j = 0; j < i; ++j) {
            if (th_gone(a->phase[i]) || th_gone(a->phase[j]) || a->level[i] != a->level[j])
                continue;
            float radii = a->radius[i] + a->radius[j];
            float distance = th_length(th_sub(th_position(a, i), th_position(a, j)));
            deepest = fmaxf(deepest, (radii - distance) / radii);
        }
    return deepest;
}
#endif
