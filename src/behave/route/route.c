// Routes: setting off, reaching goals, waiting, leaving. O(agents) per step; a route leg's goals are tested one by one,
// for agents near a goal. SPDX-License-Identifier: Apache-2.0
#include "behave/route/route.h"
#include "core/parallel.h"
#include "formula/params.h"

static void run(th_world *world, int model) {
    (void)model;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) th_route_behave(world, i);
}

static void arrive(th_world *world, int model) {
    (void)model;
    int left = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : left)
    for (int i = 0; i < world->agents.count; ++i) left += th_route_arrive(world, i, true);
    world->left_in_step += left;
}

const th_model th_behave_route_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_BEHAVE,
    .name = "route",
    .doc = "set off, walk the legs of the route, wait, leave",
    .source = "throng",
    .is_default = true,
    .decides = TH_DECIDES_ROUTE,
    .run = run,
    .reach = th_reads_none,
    .arrive = arrive,
};
