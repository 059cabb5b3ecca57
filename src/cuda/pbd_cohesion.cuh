// Position-based crowds on the device: cohesion and the end of a sub-step (move/pbd_cohesion.c).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_PBD_COHESION_CUH
#define TH_CUDA_PBD_COHESION_CUH
#include "cuda/moving.cuh"

namespace th {

TH_ON_GPU inline void add_to(cohesion *sum, cohesion other) {
    sum->weights += other.weights;
    sum->drawn = th_add(sum->drawn, other.drawn);
}

// Adds what j, of the same group and in range, weighs. Everything is read before anything is asked: the reads
// then wait for one another no more than once.
TH_ON_GPU inline void add_companion(const companion &c, const th_agents *a, const pbd_memory &memory, uint32_t j,
                                    cohesion *sum) {
    uint32_t group = a->group[j];
    both p = memory.place[j], v = memory.u[j];
    float radius = a->radius[j];
    th_vec2 u = th_v(v.x - c.ux, v.y - c.uy);
    float dx = (p.x - c.x) + u.x, dy = (p.y - c.y) + u.y, distance2 = dx * dx + dy * dy;
    float range = c.half_range * (c.radius + radius);
    if (group != c.group || distance2 >= range * range) return; // beyond it the formula gives 0
    float w = th_pbd_cohesion_weight(distance2, range);
    add_to(sum, {w, th_scale(w, u)});
}

// The CPU has sixteen sums side by side, TH_LANES, and adds them up in a tree: the order decides the bits. All sixteen
// are in registers, so the loop over them is unrolled.
TH_ON_GPU inline cohesion cohesion_in_cells(const th_world *world, const pbd_memory &memory,
                                            const companion &c, float reach) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[c.i]];
    th_vec2 p = th_v(c.x, c.y);
    th_rows rows = th_rows_around(grid, p, reach);
    cohesion sums[TH_LANES];
    for (cohesion &sum : sums) sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end; th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);)
        for (uint32_t first = begin; first < end; first += TH_LANES) {
#ifdef __CUDACC__
#pragma unroll
#endif
            for (uint32_t lane = 0; lane < TH_LANES; ++lane) {
                if (first + lane >= end) break;
                if (first + lane != c.i) add_companion(c, &world->agents, memory, first + lane, &sums[lane]);
            }
        }
    for (int half = TH_LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) add_to(&sums[lane], sums[lane + half]);
    return sums[0];
}

// The same, less those whom a wall hides, one after the other.
TH_ON_GPU inline cohesion cohesion_in_sight(const th_world *world, const th_substep *step,
                                            const th_walls *walls, const pbd_memory &memory,
                                            const companion &c, float reach) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[c.i]];
    th_rows rows = th_rows_around(grid, th_v(c.x, c.y), reach + step->moved);
    cohesion sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            both p = memory.place[j];
            float dx = p.x - c.x, dy = p.y - c.y;
            bool near = dx * dx + dy * dy < reach * reach && j != c.i && a->group[j] == c.group;
            if (near && !th_hidden(world, walls, c.i, j)) add_companion(c, a, memory, j, &sum);
        }
    return sum;
}

// Velocity and place after the sub-step; returns the squared distance from where the step began.
TH_ON_GPU inline float take_finished(const th_world *world, const th_substep *step,
                                     const pbd_memory &memory, uint32_t i, cohesion sum) {
    const th_agents *a = &world->agents;
    both p = memory.place[i], u = memory.u[i];
    finished f = finish_one(world, step, i, th_v(u.x, u.y), sum);
    a->work_x[i] = p.x + f.way.x;
    a->work_y[i] = p.y + f.way.y;
    a->work2_x[i] = a->next_velocity_x[i] = f.velocity.x;
    a->work2_y[i] = a->next_velocity_y[i] = f.velocity.y;
    if (step->done + 1 == step->count) {
        a->next_position_x[i] = a->work_x[i];
        a->next_position_y[i] = a->work_y[i];
    }
    return th_substep_moved2(a, i);
}

TH_ON_GPU inline companion companion_in(const th_world *world, const pbd_memory &memory, uint32_t i) {
    both p = memory.place[i], u = memory.u[i];
    return companion_of(world, i, th_v(p.x, p.y), th_v(u.x, u.y));
}

// Everybody but those who see less; and these, whose eyes would cost everybody registers.
TH_ON_GPU inline float finish_plain(th_world *world, const th_substep *step, const pbd_memory &memory,
                                    uint32_t i) {
    th_agents *a = &world->agents;
    if (!th_pbd_own(world, i)) {
        th_substep_walk_on(a, step, i);
        return th_substep_moved2(a, i);
    }
    if (sees_less(world, step, i)) return 0.0f;
    cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (coheres(&th_pbd_group_of(world, i)->params)) {
        companion c = companion_in(world, memory, i);
        sum = cohesion_in_cells(world, memory, c, searched_by(world, step, &c));
    }
    return take_finished(world, step, memory, i, sum);
}
TH_ON_GPU inline float finish_special(const th_world *world, const th_substep *step,
                                      const pbd_memory &memory, uint32_t i) {
    if (!th_pbd_own(world, i) || !sees_less(world, step, i)) return 0.0f;
    cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (coheres(&th_pbd_group_of(world, i)->params)) {
        companion c = companion_in(world, memory, i);
        th_walls walls = th_world_walls(world);
        sum = cohesion_in_sight(world, step, &walls, memory, c, searched_by(world, step, &c));
    }
    return take_finished(world, step, memory, i, sum);
}

} // namespace th
#endif
