// Position-based crowds: the iterations. Jacobi: everybody reads the displacements of the last iteration and
// writes the own next one; a pair is computed from both sides. Cost O(people x listed neighbours).
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/pbd_state.h"

// The listed neighbours side by side, relative to person i, filled up to a multiple of TH_LANES with people far
// away.
typedef struct gathered {
    _Alignas(64) float x[TH_PBD_NEIGHBOURS];
    _Alignas(64) float y[TH_PBD_NEIGHBOURS];
    _Alignas(64) float ux[TH_PBD_NEIGHBOURS];
    _Alignas(64) float uy[TH_PBD_NEIGHBOURS];
    _Alignas(64) float radii[TH_PBD_NEIGHBOURS];
    _Alignas(64) float inverse_mass[TH_PBD_NEIGHBOURS];
} gathered;

// Returns the filled-up count.
TH_FORMULA int gather(const th_agents *a, const th_pbd *pbd, uint32_t i, bool moves,
                      gathered *restrict to) {
    const uint32_t *restrict list = pbd->neighbours + (size_t)i * TH_PBD_NEIGHBOURS;
    const float *restrict xs = a->work_x, *restrict ys = a->work_y, *restrict radii = a->radius;
    const float *restrict us = pbd->u_x, *restrict vs = pbd->u_y, *restrict w = pbd->inverse_mass;
    float x = xs[i], y = ys[i], u = us[i], v = vs[i], radius = radii[i];
    int count = (int)pbd->neighbour_count[i], full = (count + TH_LANES - 1) / TH_LANES * TH_LANES;
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        to->x[k] = x - xs[j];
        to->y[k] = y - ys[j];
        to->radii[k] = radius + radii[j];
        to->inverse_mass[k] = w[j];
        if (moves) {
            to->ux[k] = u - us[j];
            to->uy[k] = v - vs[j];
        }
    }
    for (int k = count; k < full; ++k) {
        to->x[k] = 1e6f;
        to->y[k] = to->ux[k] = to->uy[k] = to->inverse_mass[k] = 0.0f;
        to->radii[k] = 1.0f;
    }
    return full;
}

typedef struct sums {
    th_lanes x, y, count;
} sums;

TH_FORMULA void add(sums *s, int l, th_pbd_correction c) {
    s->x.lane[l] += c.x;
    s->y.lane[l] += c.y;
    s->count.lane[l] += c.count;
}
TH_FORMULA th_pbd_correction total(const sums *s) {
    th_pbd_correction c;
    c.x = th_lanes_sum(&s->x);
    c.y = th_lanes_sum(&s->y);
    c.count = th_lanes_sum(&s->count);
    return c;
}

// Who stands at i's very place is pushed in a direction drawn from both ids, opposite for the two.
static void add_coincident(const th_world *world, uint32_t i, const gathered *near, bool moves,
                           th_pbd_correction *sum) {
    const th_pbd *pbd = world->pbd;
    const uint32_t *list = pbd->neighbours + (size_t)i * TH_PBD_NEIGHBOURS;
    float margin = th_pbd_group_of(world, i)->params.contact_margin;
    for (uint32_t k = 0; k < pbd->neighbour_count[i]; ++k) {
        float x = near->x[k] + (moves ? near->ux[k] : 0.0f);
        float y = near->y[k] + (moves ? near->uy[k] : 0.0f);
        if (!(sqrtf(x * x + y * y) <= TH_PBD_COINCIDENT)) continue;
        th_vec2 n = th_pair_direction(world->agents.id[i], world->agents.id[list[k]]);
        float push =
            margin * near->radii[k] * th_pbd_share(pbd->inverse_mass[i], near->inverse_mass[k]);
        sum->x += push * n.x;
        sum->y += push * n.y;
        sum->count += 1.0f;
    }
}

// The averaged shift of a sum, at most half a radius: a heap comes apart, it does not burst.
TH_FORMULA th_vec2 averaged(const th_pbd_correction *sum, float averaging, float radius) {
    float share = th_pbd_average(averaging, sum->count);
    return th_limit(th_v(share * sum->x, share * sum->y), 0.5f * radius);
}

// Off the walls from place p; the walls do not give way and so are never overshot.
static th_vec2 off_walls(const th_world *world, const th_walls *walls, uint32_t i, th_vec2 p,
                         float averaging) {
    const int *list = world->pbd->walls + (size_t)i * TH_PBD_WALLS;
    float radius = world->agents.radius[i];
    th_vec2 start = {world->agents.work_x[i], world->agents.work_y[i]};
    th_pbd_correction sum = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < TH_PBD_WALLS && list[k] >= 0; ++k) {
        const th_wall *wall = &walls->walls[list[k]], *before = &walls->walls[wall->prev];
        // An edge holds who began the sub-step in front of it; the back of a thin wall looks the other way.
        bool line_acts = th_det(wall->direction, th_sub(start, wall->a)) <= 0.0f;
        // A corner belongs to the edge that starts there, if p lies beyond the edge before; so cutting a wall
        // into pieces changes nothing.
        bool a_acts =
            !th_wall_stands(walls, before) ||
            (wall->a_convex && th_dot(th_sub(p, before->a), before->direction) >= before->length);
        bool b_acts = !th_wall_stands(walls, &walls->walls[wall->next]);
        th_pbd_correction c = th_pbd_wall(p, wall->a, wall->direction, wall->length, radius,
                                          line_acts, a_acts, b_acts);
        sum.x += c.x;
        sum.y += c.y;
        sum.count += c.count;
    }
    float share = th_min(th_pbd_average(averaging, sum.count), 1.0f);
    return th_v(share * sum.x, share * sum.y);
}

TH_FORMULA void stabilise(th_world *world, const th_walls *walls, uint32_t i) {
    const th_agents *a = &world->agents;
    th_pbd *pbd = world->pbd;
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    gathered near;
    int full = gather(a, pbd, i, false, &near), coincident = 0;
    float w = pbd->inverse_mass[i], margin = p->contact_margin;
    sums contact = {0};
    for (int first = 0; first < full; first += TH_LANES) {
#pragma omp simd reduction(+ : coincident)
        for (int l = 0; l < TH_LANES; ++l) {
            int k = first + l;
            th_vec2 d = th_v(near.x[k], near.y[k]);
            add(&contact, l,
                th_pbd_contact(d, th_v(0.0f, 0.0f), margin * near.radii[k],
                               th_pbd_share(w, near.inverse_mass[k]), 0.0f, 0.0f));
            coincident += sqrtf(d.x * d.x + d.y * d.y) <= TH_PBD_COINCIDENT;
        }
    }
    th_pbd_correction sum = total(&contact);
    if (coincident) add_coincident(world, i, &near, false, &sum);
    th_vec2 shift = averaged(&sum, p->averaging, a->radius[i]);
    if (walls->count > 0)
        shift = th_add(shift, off_walls(world, walls, i,
                                        th_v(a->work_x[i] + shift.x, a->work_y[i] + shift.y),
                                        p->averaging));
    pbd->extra_x[i] = shift.x;
    pbd->extra_y[i] = shift.y;
}

TH_CLONES void th_pbd_stabilise_block(th_world *world, const th_substep *step,
                                      const th_walls *walls, uint32_t begin, uint32_t end) {
    (void)step;
    for (uint32_t i = begin; i < end; ++i)
        if (th_pbd_own(world, i)) stabilise(world, walls, i);
}

typedef struct both_sums {
    th_pbd_correction contact, avoid;
} both_sums;

TH_FORMULA both_sums sums_of(const th_world *world, uint32_t i) {
    const th_pbd *pbd = world->pbd;
    const th_pbd_group *group = th_pbd_group_of(world, i);
    gathered near;
    int full = gather(&world->agents, pbd, i, true, &near), coincident = 0;
    const float w = pbd->inverse_mass[i], margin = group->params.contact_margin;
    const float static_friction = group->params.static_friction,
                kinetic_friction = group->params.kinetic_friction;
    const th_pbd_avoidance how = group->avoid;
    sums contact = {0}, avoid = {0};
    for (int first = 0; first < full; first += TH_LANES) {
#pragma omp simd reduction(+ : coincident)
        for (int l = 0; l < TH_LANES; ++l) {
            int k = first + l;
            th_vec2 x = th_v(near.x[k], near.y[k]), u = th_v(near.ux[k], near.uy[k]);
            th_vec2 d = th_add(x, u);
            float share = th_pbd_share(w, near.inverse_mass[k]), radii = near.radii[k];
            add(&contact, l,
                th_pbd_contact(d, u, margin * radii, share, static_friction, kinetic_friction));
            coincident += sqrtf(d.x * d.x + d.y * d.y) <= TH_PBD_COINCIDENT;
        }
#pragma omp simd
        for (int l = 0; l < TH_LANES; ++l) {
            int k = first + l;
            add(&avoid, l,
                th_pbd_avoid(&how, th_v(near.x[k], near.y[k]), th_v(near.ux[k], near.uy[k]),
                             near.radii[k], th_pbd_share(w, near.inverse_mass[k])));
        }
    }
    both_sums sum = {total(&contact), total(&avoid)};
    if (coincident) add_coincident(world, i, &near, true, &sum.contact);
    return sum;
}

// Contacts and avoidance are averaged each by their own number: averaged together, the many who are far away
// would take the weight from the few who touch.
TH_FORMULA void solve(th_world *world, const th_walls *walls, uint32_t i) {
    const th_agents *a = &world->agents;
    th_pbd *pbd = world->pbd;
    const th_pbd_group *group = th_pbd_group_of(world, i);
    float averaging = group->params.averaging, h = group->avoid.h;
    both_sums sum = sums_of(world, i);
    th_vec2 u =
        th_add(th_v(pbd->u_x[i], pbd->u_y[i]), averaged(&sum.contact, averaging, a->radius[i]));
    float share = th_pbd_average(averaging, sum.avoid.count);
    th_vec2 before = th_v(pbd->extra_x[i], pbd->extra_y[i]);
    th_vec2 avoided = th_limit(th_v(before.x + share * sum.avoid.x, before.y + share * sum.avoid.y),
                               group->params.max_acceleration * h * h);
    pbd->extra_x[i] = avoided.x;
    pbd->extra_y[i] = avoided.y;
    u = th_add(u, th_sub(avoided, before));
    if (walls->count > 0)
        u = th_add(
            u, off_walls(world, walls, i, th_v(a->work_x[i] + u.x, a->work_y[i] + u.y), averaging));
    pbd->next_u_x[i] = u.x;
    pbd->next_u_y[i] = u.y;
}

TH_CLONES void th_pbd_solve_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  uint32_t begin, uint32_t end) {
    (void)step;
    for (uint32_t i = begin; i < end; ++i)
        if (th_pbd_own(world, i)) solve(world, walls, i);
}
