// The plan stage: every agent's preferred velocity. Legs of a route follow the target's distance field,
// own goals the road map; the plan "straight" and open planes need neither.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"
#include "core/parallel.h"
#include "plan/preferred.h"

void th_plan_people(th_world *world, int model) {
    th_planner planner = th_planner_of(world);
    const th_agents *agents = &world->agents;
    uint64_t unreachable = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 4) reduction(+ : unreachable)
    for (int block = 0; block < th_block_count(agents->count); ++block) {
        int end = (block + 1) * TH_BLOCK < agents->count ? (block + 1) * TH_BLOCK : agents->count;
        for (int i = block * TH_BLOCK; i < end; ++i) {
            if ((int)world->groups[agents->group[i]].plan != model) continue;
            unreachable +=
                (uint64_t)th_plan_person(&planner, i, th_goes_straight(&planner, agents->group[i]));
        }
    }
    world->counters.unreachable += unreachable;
}

float th_plan_distance(const th_world *world, int target, int level, th_vec2 point) {
    th_planner planner = th_planner_of(world);
    th_vec2 none = {0.0f, 0.0f};
    bool straight = !planner.plans->fields || !planner.plans->fields[target];
    float distance =
        th_way_to_target(&planner, target, straight, level, point, 0.0f, none).distance;
    return distance < TH_UNREACHABLE ? distance : INFINITY;
}
