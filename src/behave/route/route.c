// Routes: setting off, reaching goals, waiting, leaving. O(agents) per step; a route leg's goals are
// tested one by one, by those who are near a goal. SPDX-License-Identifier: Apache-2.0
#include "behave/route/route.h"
#include "behave/behave.h"
#include "core/parallel.h"

void th_stage_behave(th_world *world) {
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) th_route_behave(world, i);
}

void th_stage_arrive(th_world *world) {
    int left = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : left)
    for (int i = 0; i < world->agents.count; ++i) left += th_route_arrive(world, i, true);
    world->left_in_step = left;
}
