// Position-based crowds: whom a person may touch and whom it is going to meet in a sub-step, two lists drawn up once
// and used by all its iterations, as in Mueller et al. 2007: constraints are found once, before the solve. Cost
// O(people x people in range). SPDX-License-Identifier: Apache-2.0
#include "move/pbd/state.h"
#include <math.h>
#include <string.h>

// Beyond the radii, what contacts may bring a pair together in one sub-step, as a share of the radii; their own
// way comes on top. Whoever comes from further away is seen in the next sub-step.
static const float CONTACT_SLACK = 0.25f;

// Person i as the search needs it.
typedef struct seeker {
    const th_substep *step;
    uint32_t i;
    float x, y, ux, uy, radius;
    float slowest, margin, half_range;
    float limit2; // nobody beyond this distance is listed [m2]
} seeker;

// Somebody at (x, y) with displacement (u, v): may it be touched in this sub-step, is it going to be met?
typedef struct wanted {
    bool touches, meets;
} wanted;

TH_FORMULA wanted wants(const seeker *o, float other_x, float other_y, float other_u, float other_v,
                        float other_radius) {
    float x = o->x - other_x, y = o->y - other_y, ux = o->ux - other_u, uy = o->uy - other_v;
    float radii = o->radius + other_radius, distance2 = x * x + y * y;
    // |ux| + |uy| is at least the way, and needs no root.
    float touch = o->margin * radii + (fabsf(ux) + fabsf(uy)), range = o->half_range * radii;
    bool within = distance2 < o->limit2;
    wanted w;
    w.touches = within & (distance2 < touch * touch);
    w.meets = within & (distance2 < range * range) &
              th_pbd_going_to_meet(th_v(x, y), th_v(ux, uy), radii, o->slowest);
    return w;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// Bit l of each: agent first + l belongs on that list.
typedef struct wanted_lanes {
    uint32_t touch, meet;
} wanted_lanes;

TH_FORMULA wanted_lanes wanted_of_lanes(const seeker *s, const th_agents *a, const th_pbd *pbd,
                                        uint32_t first, uint32_t end) {
    const float *restrict xs = a->substep_x + first, *restrict ys = a->substep_y + first;
    const float *restrict us = pbd->u_x + first, *restrict vs = pbd->u_y + first;
    const float *restrict all_radii = a->radius + first;
    const seeker o = *s;
    const uint32_t self = o.i - first, count = end - first;
    uint32_t touch = 0, meet = 0;
#pragma omp simd reduction(| : touch, meet)
    for (uint32_t l = 0; l < TH_LANES; ++l) {
        wanted w = wants(&o, xs[l], ys[l], us[l], vs[l], all_radii[l]);
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
TH_FORMULA void collect(const th_world *world, const seeker *s, float reach, th_pbd_felt *felt) {
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
#else
TH_BOTH static void collect(const th_world *world, const seeker *s, float reach,
                            th_pbd_felt *felt); // src/cuda/pbd.cuh: one by one
#endif

TH_FORMULA bool too_many(const th_pbd_felt *felt) {
    return felt->touch_count + felt->meet_count > TH_PBD_NEIGHBOURS;
}

// Everybody across a link whom i may feel; they need no further test, the constraints make their own.
TH_BOTH static void add_linked(const th_world *world, const th_substep *step, uint32_t i,
                               float reach, th_pbd_felt *felt) {
    uint32_t linked[TH_LINKED_MAX];
    int found = th_substep_linked(world, step, i, reach, linked);
    for (int k = 0; k < found && felt->touch_count + felt->meet_count + 2 <= TH_PBD_NEIGHBOURS;
         ++k) {
        felt->touch[felt->touch_count++] = linked[k];
        felt->meet[felt->meet_count++] = linked[k];
    }
}

// Person i with displacement u at the beginning of a sub-step, and how far it may feel anybody.
TH_FORMULA seeker seeker_of(const th_world *world, const th_substep *step, uint32_t i, th_vec2 u,
                            float *reach) {
    const th_agents *a = &world->agents;
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    float radii = a->radius[i] + world->max_radius;
    seeker s = {step,
                i,
                a->substep_x[i],
                a->substep_y[i],
                u.x,
                u.y,
                a->radius[i],
                TH_PBD_SLOWEST * step->h * step->h,
                p->contact_margin + CONTACT_SLACK,
                0.5f * p->lr_range,
                1e9f};
    float touch = s.margin * radii + 2.0f * step->h * th_max(step->fastest, 1.0f);
    *reach = th_max(touch, s.half_range * radii);
    return s;
}

// Whom i may feel in the sub-step that begins.
TH_FORMULA void list_people(const th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t i, th_vec2 u, th_pbd_felt *felt) {
    float reach;
    seeker s = seeker_of(world, step, i, u, &reach);
    collect(world, &s, reach + step->moved, felt);
    // In a throng one sees less far; at the end of the heap only the first of the coincident are left.
    for (float limit = reach; too_many(felt) && limit > 1e-3f;) {
        limit *= 0.8f;
        s.limit2 = limit * limit;
        collect(world, &s, limit + step->moved, felt);
    }
    if (too_many(felt)) {
        uint32_t most = TH_PBD_NEIGHBOURS;
        felt->touch_count = felt->touch_count < most ? felt->touch_count : most;
        most -= felt->touch_count;
        felt->meet_count = felt->meet_count < most ? felt->meet_count : most;
    }
    uint32_t around = step->looks ? world->agents.around[i] : 0;
    if (around & TH_AROUND_HIDDEN) {
        felt->touch_count =
            (uint32_t)th_drop_hidden(world, walls, i, felt->touch, (int)felt->touch_count);
        felt->meet_count =
            (uint32_t)th_drop_hidden(world, walls, i, felt->meet, (int)felt->meet_count);
    }
    if (around & TH_AROUND_LINKED) add_linked(world, step, i, reach, felt);
}

// The walls that i may touch: TH_PBD_WALLS at most, else ended by -1. Returns how many.
TH_BOTH static int list_walls_of(const th_world *world, const th_walls *walls, uint32_t i,
                                 th_vec2 u, int *list) {
    const th_agents *a = &world->agents;
    float distances2[TH_PBD_WALLS];
    th_vec2 p = {a->substep_x[i], a->substep_y[i]};
    list[0] = -1;
    if (!th_walls_maybe_near(walls, (int)a->level[i], p)) return 0;
    // Half a radius for what the others may push.
    float reach = 1.5f * a->radius[i] + th_length(u);
    int count = th_walls_near(walls, (int)a->level[i], p, reach, list, distances2, TH_PBD_WALLS);
    if (count < TH_PBD_WALLS) list[count] = -1;
    return count;
}

#ifndef TH_DEVICE_CODE // the CPU's loops
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
            list_walls_of(world, walls, i, displacement(th_pbd_of(world), i),
                          th_pbd_of(world)->walls + (size_t)i * TH_PBD_WALLS);
}
#endif
