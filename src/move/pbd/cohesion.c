// Position-based crowds: from displacements back to velocities, with cohesion and the limit of speed.
// Cost O(people x people within the cohesion range). SPDX-License-Identifier: Apache-2.0
#include "move/pbd/state.h"

// Sum of w_j and of w_j (u_j - u_i) over the own group.
typedef struct cohesion {
    float weights;
    th_vec2 drawn;
} cohesion;

typedef struct companion {
    uint32_t i, group;
    float x, y, ux, uy, radius, half_range;
} companion;

// Sums side by side (formula/lanes.h): the k-th of a run goes to sum k mod COHESION_LANES.
enum { COHESION_LANES = TH_LANES };

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_FORMULA void add_lanes(const companion *c, const th_agents *a, const th_pbd *pbd, uint32_t first,
                          uint32_t end, th_lanes *restrict weights, th_lanes *restrict drawn_x,
                          th_lanes *restrict drawn_y) {
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

TH_FORMULA cohesion cohesion_of_cells(const th_world *world, const companion *c, float reach) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[c->i]];
    th_vec2 p = th_v(c->x, c->y);
    th_rows rows = th_rows_around(grid, p, reach);
    th_lanes weights = {0}, drawn_x = {0}, drawn_y = {0};
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);)
        for (uint32_t first = begin; first < end; first += TH_LANES)
            add_lanes(c, &world->agents, th_pbd_of(world), first, end, &weights, &drawn_x,
                      &drawn_y);
    cohesion sum = {th_lanes_sum(&weights), {th_lanes_sum(&drawn_x), th_lanes_sum(&drawn_y)}};
    return sum;
}

// The same, less those whom a wall hides.
static cohesion cohesion_of_seen(const th_world *world, const th_substep *step,
                                 const th_walls *walls, const companion *c, float reach) {
    const th_agents *a = &world->agents;
    const th_pbd *pbd = th_pbd_of(world);
    uint32_t list[TH_NEAR_MAX + 1];
    cohesion sum = {0.0f, {0.0f, 0.0f}};
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

#endif

TH_FORMULA bool coheres(const th_pbd_params *p) {
    return p->cohesion > 0.0f && p->cohesion_range > 0.0f;
}

// Person i at `place` with displacement u.
TH_FORMULA companion companion_of(const th_world *world, uint32_t i, th_vec2 place, th_vec2 u) {
    const th_agents *a = &world->agents;
    companion c = {
        i,   a->group[i], place.x,      place.y,
        u.x, u.y,         a->radius[i], 0.5f * th_pbd_group_of(world, i)->params.cohesion_range};
    return c;
}

// The runs are those of places when the index was made, the weights of places after the sub-step.
TH_FORMULA float searched_by(const th_world *world, const th_substep *step, const companion *c) {
    float reach = c->half_range * (c->radius + world->max_radius);
    return reach + step->moved + 2.0f * step->h * th_max(step->fastest, 1.0f);
}

TH_FORMULA bool sees_less(const th_world *world, const th_substep *step, uint32_t i) {
    return step->looks && world->agents.around[i] & TH_AROUND_HIDDEN;
}

// What a sub-step ends with.
typedef struct finished {
    th_vec2 velocity, way;
} finished;

TH_FORMULA finished finish_one(const th_world *world, const th_substep *step, uint32_t i, th_vec2 u,
                               cohesion sum) {
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    float limit = p->max_speed_ratio * world->agents.speed[i];
    th_vec2 v = th_scale(1.0f / step->h, u);
    if (coheres(p))
        v = th_pbd_cohere(v, th_scale(1.0f / step->h, sum.drawn), sum.weights, p->cohesion,
                          step->h);
    finished f;
    f.velocity = th_limit(v, limit);
    // Somebody pushed faster than allowed goes only as far as the limit; the overlap that is left is taken
    // away by the next sub-step's stabilisation.
    f.way = th_limit(u, limit * step->h);
    return f;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_FORMULA cohesion cohesion_of(const th_world *world, const th_substep *step,
                                const th_walls *walls, const companion *c) {
    float searched = searched_by(world, step, c);
    return sees_less(world, step, c->i) ? cohesion_of_seen(world, step, walls, c, searched)
                                        : cohesion_of_cells(world, c, searched);
}

TH_CLONES void th_pbd_finish_block(th_world *world, const th_substep *step, const th_walls *walls,
                                   uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    th_pbd *pbd = th_pbd_of(world);
    for (uint32_t i = begin; i < end; ++i) {
        if (!th_pbd_own(world, i)) continue;
        th_vec2 u = th_v(pbd->u_x[i], pbd->u_y[i]);
        cohesion sum = {0.0f, {0.0f, 0.0f}};
        if (coheres(&th_pbd_group_of(world, i)->params)) {
            companion c = companion_of(world, i, th_v(a->substep_x[i], a->substep_y[i]), u);
            sum = cohesion_of(world, step, walls, &c);
        }
        finished f = finish_one(world, step, i, u, sum);
        a->next_velocity_x[i] = f.velocity.x;
        a->next_velocity_y[i] = f.velocity.y;
        pbd->extra_x[i] = f.way.x;
        pbd->extra_y[i] = f.way.y;
    }
}
#endif
