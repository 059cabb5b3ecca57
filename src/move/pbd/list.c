// Position-based crowds: the neighbours that an agent may touch and those it is going to meet, two lists made once
// and used by all its iterations, as in Mueller et al. 2007: constraints are found once, before the solve. Cost
// O(people x people in range). SPDX-License-Identifier: Apache-2.0
#include "move/pbd/step.h"
#include <math.h>
#include <string.h>

// Bit l of each: agent first + l belongs on that list.
typedef struct wanted_lanes {
    uint32_t touch, meet;
} wanted_lanes;

TH_FORMULA wanted_lanes wanted_of_lanes(const th_pbd_seeker *s, const th_agents *a,
                                        const th_pbd *pbd, uint32_t first, uint32_t end) {
    const float *restrict xs = a->substep_x + first, *restrict ys = a->substep_y + first;
    const float *restrict us = pbd->u_x + first, *restrict vs = pbd->u_y + first;
    const float *restrict all_radii = a->radius + first;
    const th_pbd_seeker o = *s;
    const uint32_t self = o.i - first, count = end - first;
    uint32_t touch = 0, meet = 0;
#pragma omp simd reduction(| : touch, meet)
    for (uint32_t l = 0; l < TH_LANES; ++l) {
        th_pbd_wanted w = th_pbd_wants(&o, xs[l], ys[l], us[l], vs[l], all_radii[l]);
        uint32_t bit = l != self ? 1u << l : 0u;
        bit = l < count ? bit : 0u;
        touch |= w.touches ? bit : 0u;
        meet |= w.meets ? bit : 0u;
    }
    wanted_lanes lanes = {touch, meet};
    return lanes;
}

TH_FORMULA uint32_t append_lanes(uint32_t lanes, uint32_t first, uint32_t *list, uint32_t count) {
    for (; lanes; lanes &= lanes - 1, ++count)
        if (count < TH_PBD_NEIGHBOURS) list[count] = first + (uint32_t)__builtin_ctz(lanes);
    return count;
}

// Those within the seeker's limit; counts all, writes as many as fit.
TH_FORMULA void collect(const th_world *world, const th_pbd_seeker *s, float reach,
                        th_pbd_felt *felt) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[s->i]];
    th_vec2 p = th_v(s->x, s->y);
    th_rows rows = th_rows_around(grid, p, reach);
    felt->touch_count = felt->meet_count = 0;
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);) {
        for (uint32_t first = begin; first < end; first += TH_LANES) {
            wanted_lanes lanes = wanted_of_lanes(s, a, th_pbd_of(world), first, end);
            felt->touch_count = append_lanes(lanes.touch, first, felt->touch, felt->touch_count);
            felt->meet_count = append_lanes(lanes.meet, first, felt->meet, felt->meet_count);
        }
    }
}

// The neighbours that i may feel in the sub-step that begins.
TH_FORMULA void list_people(const th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t i, th_vec2 u, th_pbd_felt *felt) {
    float reach;
    th_pbd_seeker s = th_pbd_seeker_of(world, step, i, u, &reach);
    collect(world, &s, reach + step->moved, felt);
    for (float limit = reach; th_pbd_look_less_far(felt, &s, &limit);)
        collect(world, &s, limit + step->moved, felt);
    th_pbd_trim_felt(world, step, walls, i, reach, felt);
}

static inline th_vec2 displacement(const th_pbd *pbd, uint32_t i) {
    return th_v(pbd->u_x[i], pbd->u_y[i]);
}

TH_CLONES static void list_people_block(th_world *world, const th_substep *step,
                                        const th_walls *walls, uint32_t begin, uint32_t end) {
    th_pbd *pbd = th_pbd_of(world);
    uint32_t used = 0;
    for (uint32_t i = begin; i < end; ++i) {
        pbd->neighbour_start[i] = used;
        pbd->touch_count[i] = pbd->meet_count[i] = 0;
        if (!th_pbd_own(world, i)) continue;
        th_pbd_felt felt;
        list_people(world, step, walls, i, displacement(pbd, i), &felt);
        uint32_t *to = th_pbd_neighbours(pbd, i);
        memcpy(to, felt.touch, felt.touch_count * sizeof *to);
        memcpy(to + felt.touch_count, felt.meet, felt.meet_count * sizeof *to);
        pbd->touch_count[i] = felt.touch_count;
        pbd->meet_count[i] = felt.meet_count;
        used += felt.touch_count + felt.meet_count;
    }
}

void th_pbd_list_block(th_world *world, const th_substep *step, const th_walls *walls,
                       uint32_t begin, uint32_t end) {
    list_people_block(world, step, walls, begin, end);
    if (walls->count == 0) return;
    for (uint32_t i = begin; i < end; ++i)
        if (th_pbd_own(world, i))
            th_pbd_list_walls(world, walls, i, displacement(th_pbd_of(world), i),
                              th_pbd_of(world)->walls + (size_t)i * TH_PBD_WALLS);
}
