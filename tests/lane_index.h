// The degree to which a crowd that walks both ways along x has sorted itself into lanes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_LANE_INDEX_H
#define TH_TESTS_LANE_INDEX_H
#include "state/device.h"
#include <math.h>

// Order parameter of Rex and Loewen 2007 for lanes along x, of those within `reach` of the middle: the mean of
// ((same - other) / (same + other))^2 over the groups of those in the same height. 1: pure lanes.
static inline double lane_index(const th_world *world, float reach) {
    th_refresh(world, TH_ALL_FIELDS);
    const th_agents *a = &world->agents;
    double sum = 0.0;
    int people = 0;
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i) {
        if (th_gone(a->phase[i]) || fabsf(a->position_x[i]) > reach) continue;
        int same = 0, other = 0;
        for (uint32_t j = 0; j < (uint32_t)a->count; ++j) {
            if (th_gone(a->phase[j]) || fabsf(a->position_y[i] - a->position_y[j]) > 0.4f ||
                fabsf(a->position_x[i] - a->position_x[j]) > 5.0f)
                continue;
            same += a->group[i] == a->group[j];
            other += a->group[i] != a->group[j];
        }
        double share = (double)(same - other) / (same + other);
        sum += share * share;
        ++people;
    }
    return people > 0 ? sum / people : 0.0;
}
#endif
