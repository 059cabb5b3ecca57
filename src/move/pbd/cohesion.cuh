// Position-based crowds on the device: cohesion and the end of a sub-step (cohesion.c).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_COHESION_CUH
#define TH_MOVE_PBD_COHESION_CUH
#include "move/pbd/list.cuh"

namespace th {

TH_ON_GPU inline void add_to(th_pbd_cohesion *sum, th_pbd_cohesion other) {
    sum->weights += other.weights;
    sum->drawn = th_add(sum->drawn, other.drawn);
}

// An agent around, as it is read.
struct neighbour {
    uint32_t group;
    walk at;
    float radius;
};
template <bool alike>
TH_ON_GPU neighbour neighbour_at(const th_agents *a, const pbd_memory &memory,
                                 const th_pbd_companion &c, uint32_t j) {
    return {memory.one_group ? c.group : a->group[j], memory.now[j],
            alike ? c.radius : a->radius[j]};
}
// Adds what n, of the same group and in range, weighs.
TH_ON_GPU inline void add_companion(const th_pbd_companion &c, const neighbour &n, bool counts,
                                    th_pbd_cohesion *sum) {
    th_vec2 u = th_v(n.at.ux - c.ux, n.at.uy - c.uy);
    float dx = (n.at.x - c.x) + u.x, dy = (n.at.y - c.y) + u.y;
    float w = th_pbd_cohesion_weight(dx * dx + dy * dy, c.half_range * (c.radius + n.radius));
    w = (counts & (n.group == c.group)) ? w : 0.0f;
    add_to(sum, {w, th_scale(w, u)});
}

// The CPU has sixteen sums side by side and adds them up in a tree: the order decides the bits. Where they are not
// asked for, two are enough and leave registers for more people at once. Sums are in registers, so the loops over them
// are unrolled; four people are read before the first is looked at, so that one wait is enough.
#if defined(__CUDACC__) && !defined(TH_EXACT)
enum { COHESION_SUMS = 2, COHESION_AT_ONCE = 8 };
#else
enum { COHESION_SUMS = TH_PBD_COHESION_LANES, COHESION_AT_ONCE = TH_PBD_COHESION_LANES };
#endif
template <bool alike>
TH_ON_GPU th_pbd_cohesion cohesion_in_cells(const th_world *world, const pbd_memory &memory,
                                            const th_pbd_companion &c, float reach) {
    enum { READ = 4 };
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[c.i]];
    th_vec2 p = th_v(c.x, c.y);
    th_rows rows = th_rows_around(grid, p, reach);
    th_pbd_cohesion sums[COHESION_SUMS];
    for (th_pbd_cohesion &sum : sums) sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);)
        TH_ROLLED for (uint32_t first = begin; first < end; first += COHESION_AT_ONCE) {
            TH_UNROLLED for (uint32_t lane = 0; lane < COHESION_AT_ONCE; lane += READ) {
                if (first + lane >= end) break;
                neighbour near[READ];
                TH_UNROLLED for (uint32_t k = 0; k < READ; ++k) {
                    uint32_t j = first + lane + k;
                    near[k] = neighbour_at<alike>(a, memory, c, j < end ? j : end - 1);
                }
                TH_UNROLLED for (uint32_t k = 0; k < READ; ++k) {
                    uint32_t j = first + lane + k;
                    add_companion(c, near[k], (j < end) & (j != c.i),
                                  &sums[(lane + k) % COHESION_SUMS]);
                }
            }
        }
    TH_UNROLLED for (int half = COHESION_SUMS / 2; half > 0; half /= 2)
        TH_UNROLLED for (int lane = 0; lane < half; ++lane) add_to(&sums[lane], sums[lane + half]);
    return sums[0];
}

// The same, less agents that a wall hides, one after the other.
TH_ON_GPU inline th_pbd_cohesion cohesion_in_sight(const th_world *world, const th_substep *step,
                                                   const th_walls *walls, const pbd_memory &memory,
                                                   const th_pbd_companion &c, float reach) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[c.i]];
    th_rows rows = th_rows_around(grid, th_v(c.x, c.y), reach + step->moved);
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            neighbour n = neighbour_at<false>(a, memory, c, j);
            float dx = n.at.x - c.x, dy = n.at.y - c.y;
            bool near = dx * dx + dy * dy < reach * reach && j != c.i && n.group == c.group;
            if (near && !th_hidden(world, walls, c.i, j)) add_companion(c, n, true, &sum);
        }
    return sum;
}

// Velocity and place after the sub-step; returns the squared distance from where the step began.
TH_ON_GPU inline float take_finished(const th_world *world, const th_substep *step,
                                     const pbd_memory &memory, uint32_t i, th_pbd_cohesion sum) {
    const th_agents *a = &world->agents;
    walk own = memory.now[i];
    th_pbd_finished f = th_pbd_finish_person(world, step, i, th_v(own.ux, own.uy), sum);
    a->substep_x[i] = own.x + f.way.x;
    a->substep_y[i] = own.y + f.way.y;
    a->substep_velocity_x[i] = a->next_velocity_x[i] = f.velocity.x;
    a->substep_velocity_y[i] = a->next_velocity_y[i] = f.velocity.y;
    if (step->done + 1 == step->count) {
        a->next_position_x[i] = a->substep_x[i];
        a->next_position_y[i] = a->substep_y[i];
    }
    return th_substep_moved2(a, i);
}

TH_ON_GPU inline th_pbd_companion companion_in(const th_world *world, const pbd_memory &memory,
                                               uint32_t i) {
    walk own = memory.now[i];
    return th_pbd_companion_of(world, i, th_v(own.x, own.y), th_v(own.ux, own.uy));
}

// All agents but those that see less; and these, whose tests would cost every thread registers.
TH_ON_GPU inline float finish_plain(th_world *world, const th_substep *step,
                                    const pbd_memory &memory, bool alike, uint32_t i) {
    th_agents *a = &world->agents;
    if (!th_pbd_own(world, i)) return th_substep_walk_on(a, step, i);
    if (th_pbd_sees_less(world, step, i)) return 0.0f;
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (th_pbd_coheres(&th_pbd_group_of(world, i)->params)) {
        th_pbd_companion c = companion_in(world, memory, i);
        float searched = th_pbd_searched_by(world, step, &c);
        sum = alike ? cohesion_in_cells<true>(world, memory, c, searched)
                    : cohesion_in_cells<false>(world, memory, c, searched);
    }
    return take_finished(world, step, memory, i, sum);
}
TH_ON_GPU inline float finish_special(const th_world *world, const th_substep *step,
                                      const pbd_memory &memory, uint32_t i) {
    if (!th_pbd_own(world, i) || !th_pbd_sees_less(world, step, i)) return 0.0f;
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (th_pbd_coheres(&th_pbd_group_of(world, i)->params)) {
        th_pbd_companion c = companion_in(world, memory, i);
        th_walls walls = th_world_walls(world);
        sum =
            cohesion_in_sight(world, step, &walls, memory, c, th_pbd_searched_by(world, step, &c));
    }
    return take_finished(world, step, memory, i, sum);
}

} // namespace th
#endif
