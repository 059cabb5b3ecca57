// Position-based crowds: whom a person may touch or meet in a sub-step, drawn up once and used by all its
// iterations, as in Mueller et al. 2007: constraints are found once, before the solve. Cost O(people x people in range). SPDX-License-Identifier: Apache-2.0
#include "move/pbd_state.h"

// Beyond the radii, what contacts may bring a pair together in one sub-step, as a share of the radii; their own
// way comes on top. Whoever comes from further away is seen in the next sub-step.
static const float CONTACT_SLACK = 0.25f;

// Person i as the search needs it.
typedef struct seeker {
    uint32_t i;
    float x, y, ux, uy, radius;
    float inverse_h, margin, half_range;
    float limit2; // nobody beyond this distance is listed [m2]
} seeker;

// Bit l: agent first + l belongs on the list.
TH_FORMULA uint32_t wanted_of_lanes(const seeker *s, const th_agents *a, const th_pbd *pbd,
                                    uint32_t first, uint32_t end) {
    const float *restrict xs = a->work_x + first, *restrict ys = a->work_y + first;
    const float *restrict us = pbd->u_x + first, *restrict vs = pbd->u_y + first;
    const float *restrict all_radii = a->radius + first;
    const seeker o = *s;
    const uint32_t self = o.i - first, count = end - first;
    uint32_t wanted = 0;
#pragma omp simd reduction(| : wanted)
    for (uint32_t l = 0; l < TH_LANES; ++l) {
        float x = o.x - xs[l], y = o.y - ys[l], ux = o.ux - us[l], uy = o.uy - vs[l];
        float radii = o.radius + all_radii[l], distance2 = x * x + y * y;
        float touch = o.margin * radii + sqrtf(ux * ux + uy * uy), range = o.half_range * radii;
        float meets =
            th_pbd_meet(th_v(x, y), th_v(o.inverse_h * ux, o.inverse_h * uy), radii).meets;
        float seen = th_min(range * range - distance2, meets);
        float wants = th_min(th_max(touch * touch - distance2, seen), o.limit2 - distance2);
        uint32_t bit = wants > 0.0f ? 1u << l : 0u;
        bit = l != self ? bit : 0u;
        wanted |= l < count ? bit : 0u;
    }
    return wanted;
}

// Those within the seeker's limit; counts all, writes as many as fit.
TH_FORMULA uint32_t collect(const th_world *world, const seeker *s, float reach, uint32_t *list) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[s->i]];
    th_rows rows = th_rows_around(grid, th_v(s->x, s->y), reach);
    uint32_t count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t first = begin; first < end; first += TH_LANES) {
            uint32_t wanted = wanted_of_lanes(s, a, world->pbd, first, end);
            for (; wanted; wanted &= wanted - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(wanted);
                if (count < TH_PBD_NEIGHBOURS) list[count] = first + lane;
                ++count;
            }
        }
    }
    return count;
}

// Everybody across a link whom i may feel; they need no further test, the constraints make their own.
static uint32_t add_linked(const th_world *world, const th_substep *step, uint32_t i, float reach,
                           uint32_t *list, uint32_t count) {
    uint32_t linked[TH_LINKED_MAX];
    int found = th_substep_linked(world, step, i, reach, linked);
    for (int k = 0; k < found && count < TH_PBD_NEIGHBOURS; ++k) list[count++] = linked[k];
    return count;
}

TH_FORMULA void list_people(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t i) {
    const th_agents *a = &world->agents;
    th_pbd *pbd = world->pbd;
    const th_pbd_group *group = th_pbd_group_of(world, i);
    float radii = a->radius[i] + world->max_radius;
    seeker s = {i,
                a->work_x[i],
                a->work_y[i],
                pbd->u_x[i],
                pbd->u_y[i],
                a->radius[i],
                1.0f / step->h,
                group->params.contact_margin + CONTACT_SLACK,
                0.5f * group->params.lr_range,
                1e9f};
    float touch = s.margin * radii + 2.0f * step->h * th_max(step->fastest, 1.0f);
    float reach = th_max(touch, s.half_range * radii);
    uint32_t *list = th_pbd_neighbours(pbd, i);
    uint32_t count = collect(world, &s, reach + step->moved, list);
    // In a throng one sees less far; at the end of the heap only the first of the coincident are left.
    for (float limit = reach; count > TH_PBD_NEIGHBOURS && limit > 1e-3f;) {
        limit *= 0.8f;
        s.limit2 = limit * limit;
        count = collect(world, &s, limit + step->moved, list);
    }
    count = count < TH_PBD_NEIGHBOURS ? count : TH_PBD_NEIGHBOURS;
    uint32_t around = step->looks ? a->order[i] : 0;
    if (around & TH_AROUND_HIDDEN)
        count = (uint32_t)th_drop_hidden(world, walls, i, list, (int)count);
    if (around & TH_AROUND_LINKED) count = add_linked(world, step, i, reach, list, count);
    pbd->neighbour_count[i] = count;
}

static void list_walls(th_world *world, const th_walls *walls, uint32_t i) {
    const th_agents *a = &world->agents;
    int *list = world->pbd->walls + (size_t)i * TH_PBD_WALLS;
    th_vec2 p = {a->work_x[i], a->work_y[i]};
    list[0] = -1;
    if (!th_walls_maybe_near(walls, (int)a->level[i], p)) return;
    // Half a radius for what the others may push.
    float reach = 1.5f * a->radius[i] + th_length(th_v(world->pbd->u_x[i], world->pbd->u_y[i]));
    int count = th_walls_near(walls, (int)a->level[i], p, reach, list, NULL, TH_PBD_WALLS);
    if (count < TH_PBD_WALLS) list[count] = -1;
}

TH_CLONES static void list_people_block(th_world *world, const th_substep *step,
                                        const th_walls *walls, uint32_t begin, uint32_t end) {
    th_pbd *pbd = world->pbd;
    uint32_t used = 0;
    for (uint32_t i = begin; i < end; ++i) {
        pbd->neighbour_start[i] = used;
        pbd->neighbour_count[i] = 0;
        if (th_pbd_own(world, i)) list_people(world, step, walls, i);
        used += pbd->neighbour_count[i];
    }
}

void th_pbd_list_block(th_world *world, const th_substep *step, const th_walls *walls,
                       uint32_t begin, uint32_t end) {
    list_people_block(world, step, walls, begin, end);
    if (walls->count == 0) return;
    for (uint32_t i = begin; i < end; ++i)
        if (th_pbd_own(world, i)) list_walls(world, walls, i);
}
