// The loop over people of the continuum planner. SPDX-License-Identifier: Apache-2.0
#include "plan/continuum/walk.h"
#include "core/parallel.h"

void th_continuum_walk(const th_continuum *c, th_world *world) {
    th_planner planner = th_planner_of(world);
    const th_agents *agents = &world->agents;
    uint64_t unreachable = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 4) reduction(+ : unreachable)
    for (int block = 0; block < th_block_count(agents->count); ++block) {
        int end = (block + 1) * TH_BLOCK < agents->count ? (block + 1) * TH_BLOCK : agents->count;
        for (int i = block * TH_BLOCK; i < end; ++i) {
            if (!th_continuum_has(world, (int)agents->group[i]) ||
                th_continuum_plan(c, &planner, i))
                continue;
            unreachable +=
                (uint64_t)th_plan_person(&planner, i, th_goes_straight(&planner, agents->group[i]));
        }
    }
    world->counters.unreachable += unreachable;
}

bool th_continuum_directions(th_world *world, int model, int group, int target, int level,
                             const th_vec2 *points, int count, th_vec2 *directions) {
    const th_continuum *c = world->model_state[model];
    const th_potential *p = NULL;
    for (int way = 0; way < th_group_ways(&world->scene->groups[group]) && !p; ++way) {
        const th_potential *one = &c->potentials[c->first_potential[group] + way];
        if (one->target == target && c->solved[one->shared]) p = one;
    }
    if (!p) return false;
    th_continuum_view v = {c, &c->faces[c->same_faces[group]], c->potentials[p->shared].values};
    th_walls walls = th_world_walls(world);
    float top = th_continuum_params_of(world, group)->top_speed;
    for (int k = 0; k < count; ++k)
        if (!th_continuum_velocity_at(&v, &walls, level, points[k], top, &directions[k]))
            directions[k] = th_v(0.0f, 0.0f);
    return true;
}
