// Position-based crowds: from displacements back to velocities, with cohesion and the limit of speed.
// Cost O(people x people within the cohesion range). SPDX-License-Identifier: Apache-2.0
#include "move/pbd/step.h"

TH_FORMULA void add_lanes(const th_pbd_companion *c, const th_agents *a, const th_pbd *pbd,
                          uint32_t first, uint32_t end, th_lanes *restrict weights,
                          th_lanes *restrict drawn_x, th_lanes *restrict drawn_y) {
    const float *restrict xs = a->substep_x + first, *restrict ys = a->substep_y + first;
    const float *restrict us = pbd->u_x + first, *restrict vs = pbd->u_y + first;
    const float *restrict radii = a->radius + first;
    const uint32_t *restrict groups = a->group + first;
    const float x = c->x, y = c->y, own_u = c->ux, own_v = c->uy, radius = c->radius;
    const float half_range = c->half_range;
    const uint32_t group = c->group, self = c->i - first, count = end - first;
#pragma omp simd
    for (uint32_t l = 0; l < TH_LANES; ++l) {
        float ux = us[l] - own_u, uy = vs[l] - own_v;
        float dx = (xs[l] - x) + ux, dy = (ys[l] - y) + uy;
        float w = th_pbd_cohesion_weight(dx * dx + dy * dy, half_range * (radius + radii[l]));
        w = groups[l] == group ? w : 0.0f;
        w = l != self ? w : 0.0f;
        w = l < count ? w : 0.0f;
        weights->lane[l] += w;
        drawn_x->lane[l] += w * ux;
        drawn_y->lane[l] += w * uy;
    }
}

TH_FORMULA th_pbd_cohesion cohesion_of_cells(const th_world *world, const th_pbd_companion *c,
                                             float reach) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[c->i]];
    th_vec2 p = th_v(c->x, c->y);
    th_rows rows = th_rows_around(grid, p, reach);
    th_lanes weights = {0}, drawn_x = {0}, drawn_y = {0};
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);)
        for (uint32_t first = begin; first < end; first += TH_LANES)
            add_lanes(c, &world->agents, th_pbd_of(world), first, end, &weights, &drawn_x,
                      &drawn_y);
    th_pbd_cohesion sum = {th_lanes_sum(&weights),
                           {th_lanes_sum(&drawn_x), th_lanes_sum(&drawn_y)}};
    return sum;
}

// The same, less agents that a wall hides.
static th_pbd_cohesion cohesion_of_seen(const th_world *world, const th_substep *step,
                                        const th_walls *walls, const th_pbd_companion *c,
                                        float reach) {
    const th_agents *a = &world->agents;
    const th_pbd *pbd = th_pbd_of(world);
    uint32_t list[TH_NEAR_MAX + 1];
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    th_near near = th_near_begin(world, step, a->level[c->i], c->x, c->y, reach);
    for (bool more = true; more;) {
        int count = th_near_next(&near, a->substep_x, a->substep_y, c->i, c->x, c->y, reach, list);
        more = count == TH_NEAR_MAX;
        count = th_drop_hidden(world, walls, c->i, list, count);
        for (int k = 0; k < count; ++k) {
            uint32_t j = list[k];
            if (a->group[j] != c->group) continue;
            th_vec2 u = th_v(pbd->u_x[j] - c->ux, pbd->u_y[j] - c->uy);
            th_vec2 d = th_v((a->substep_x[j] - c->x) + u.x, (a->substep_y[j] - c->y) + u.y);
            float w =
                th_pbd_cohesion_weight(th_length2(d), c->half_range * (c->radius + a->radius[j]));
            sum.weights += w;
            sum.drawn = th_add(sum.drawn, th_scale(w, u));
        }
    }
    return sum;
}

TH_FORMULA th_pbd_cohesion cohesion_of(const th_world *world, const th_substep *step,
                                       const th_walls *walls, const th_pbd_companion *c) {
    float searched = th_pbd_searched_by(world, step, c);
    return th_pbd_sees_less(world, step, c->i) ? cohesion_of_seen(world, step, walls, c, searched)
                                               : cohesion_of_cells(world, c, searched);
}

TH_CLONES void th_pbd_finish_block(th_world *world, const th_substep *step, const th_walls *walls,
                                   uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    th_pbd *pbd = th_pbd_of(world);
    for (uint32_t i = begin; i < end; ++i) {
        if (!th_pbd_own(world, i)) continue;
        th_vec2 u = th_v(pbd->u_x[i], pbd->u_y[i]);
        th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
        if (th_pbd_coheres(&th_pbd_group_of(world, i)->params)) {
            th_pbd_companion c =
                th_pbd_companion_of(world, i, th_v(a->substep_x[i], a->substep_y[i]), u);
            sum = cohesion_of(world, step, walls, &c);
        }
        th_pbd_finished f = th_pbd_finish_person(world, step, i, u, sum);
        a->next_velocity_x[i] = f.velocity.x;
        a->next_velocity_y[i] = f.velocity.y;
        pbd->extra_x[i] = f.way.x;
        pbd->extra_y[i] = f.way.y;
    }
}
