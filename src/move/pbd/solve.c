// Position-based crowds: the iterations. Jacobi: every agent reads the displacements of the last iteration and
// writes the own next one; a pair is computed from both sides. Cost O(people x listed neighbours).
// SPDX-License-Identifier: Apache-2.0
#include "move/pbd/step.h"

// The pairs of a few people side by side, so that the vectors are full although a person has few neighbours:
// gathered, corrected all at once, then summed person by person in the order of the list.
enum { PAIRS = 512 };
#define COINCIDENT 1024.0f // more than a list has people
typedef struct batch {
    _Alignas(64) float x[PAIRS];
    _Alignas(64) float y[PAIRS];
    _Alignas(64) float ux[PAIRS];
    _Alignas(64) float uy[PAIRS];
    _Alignas(64) float radii[PAIRS];
    _Alignas(64) float share[PAIRS]; // first the other's inverse mass, then the share that i takes
    _Alignas(64) float own[PAIRS];   // i's inverse mass
    // The corrections; a count of COINCIDENT marks an agent that stands at i's very place.
    _Alignas(64) float correction_x[PAIRS];
    _Alignas(64) float correction_y[PAIRS];
    _Alignas(64) float correction[PAIRS];
    int count;
} batch;

// The pairs of person i with those on a list of its own.
TH_FORMULA void gather(const th_agents *a, const th_pbd *pbd, uint32_t i,
                       const uint32_t *restrict list, uint32_t count, bool moves, bool equal,
                       batch *restrict to) {
    const float *restrict xs = a->substep_x, *restrict ys = a->substep_y,
                          *restrict radii = a->radius;
    const float *restrict us = pbd->u_x, *restrict vs = pbd->u_y, *restrict w = pbd->inverse_mass;
    float x = xs[i], y = ys[i], u = us[i], v = vs[i], radius = radii[i];
    int at = to->count;
    for (uint32_t k = 0; k < count; ++k, ++at) {
        uint32_t j = list[k];
        to->x[at] = x - xs[j];
        to->y[at] = y - ys[j];
        to->radii[at] = radius + radii[j];
        if (moves) {
            to->ux[at] = u - us[j];
            to->uy[at] = v - vs[j];
        }
        if (!equal) {
            to->share[at] = w[j];
            to->own[at] = w[i];
        }
    }
    to->count = at;
}

// Fills up to whole vectors with pairs that are far apart.
TH_FORMULA int fill_up(batch *restrict b) {
    int full = (b->count + TH_LANES - 1) / TH_LANES * TH_LANES;
    for (int k = b->count; k < full; ++k) {
        b->x[k] = 1e6f;
        b->y[k] = b->ux[k] = b->uy[k] = 0.0f;
        b->radii[k] = b->share[k] = b->own[k] = 1.0f;
    }
    return full;
}

// Half and half needs no division, and most crowds have one mass.
TH_FORMULA void shares(batch *restrict b, int full, bool equal) {
#pragma omp simd
    for (int k = 0; k < full; ++k)
        b->share[k] = equal ? 0.5f : th_pbd_share(b->own[k], b->share[k]);
}

TH_FORMULA void correct_contacts(const th_pbd_params *p, batch *restrict b, int full, bool moves) {
    const float margin = p->contact_margin, static_friction = moves ? p->static_friction : 0.0f,
                kinetic_friction = moves ? p->kinetic_friction : 0.0f;
#pragma omp simd
    for (int k = 0; k < full; ++k) {
        th_vec2 u = th_v(moves ? b->ux[k] : 0.0f, moves ? b->uy[k] : 0.0f);
        th_vec2 d = th_v(b->x[k] + u.x, b->y[k] + u.y);
        th_pbd_correction c = th_pbd_contact(d, u, margin * b->radii[k], b->share[k],
                                             static_friction, kinetic_friction);
        float apart2 = d.x * d.x + d.y * d.y - TH_PBD_COINCIDENT * TH_PBD_COINCIDENT;
        b->correction_x[k] = c.x;
        b->correction_y[k] = c.y;
        b->correction[k] = apart2 > 0.0f ? c.count : COINCIDENT;
    }
}

TH_FORMULA void correct_meetings(const th_pbd_avoidance *p, batch *restrict b, int full) {
    const th_pbd_avoidance how = *p;
#pragma omp simd
    for (int k = 0; k < full; ++k) {
        th_pbd_correction c = th_pbd_avoid(&how, th_v(b->x[k], b->y[k]), th_v(b->ux[k], b->uy[k]),
                                           b->radii[k], b->share[k]);
        b->correction_x[k] = c.x;
        b->correction_y[k] = c.y;
        b->correction[k] = c.count;
    }
}

TH_FORMULA th_pbd_correction sum_of(const batch *b, int first, uint32_t count) {
    th_pbd_correction sum = {0.0f, 0.0f, 0.0f};
    for (int k = first; k < first + (int)count; ++k) {
        sum.x += b->correction_x[k];
        sum.y += b->correction_y[k];
        sum.count += b->correction[k];
    }
    return sum;
}

// Contacts of person i, whose pairs begin at `first`. An agent that stands at i's very place is pushed in a direction
// drawn from both ids, opposite for the two.
TH_FORMULA th_pbd_correction sum_contacts(const th_world *world, const batch *b, uint32_t i,
                                          int first) {
    const uint32_t *list = th_pbd_neighbours(th_pbd_of(world), i);
    float margin = th_pbd_group_of(world, i)->params.contact_margin;
    int count = (int)th_pbd_of(world)->touch_count[i];
    th_pbd_correction sum = sum_of(b, first, (uint32_t)count);
    if (sum.count < COINCIDENT) return sum;
    for (int k = 0; k < count; ++k) {
        if (b->correction[first + k] < COINCIDENT) continue;
        th_vec2 n = th_pair_direction(world->agents.id[i], world->agents.id[list[k]]);
        float push = margin * b->radii[first + k] * b->share[first + k];
        sum.x += push * n.x;
        sum.y += push * n.y;
        sum.count += 1.0f - COINCIDENT;
    }
    return sum;
}

static th_pbd_corrected corrected_of(const th_world *world, const th_walls *walls, uint32_t i) {
    const th_agents *a = &world->agents;
    th_pbd_corrected c = {th_pbd_group_of(world, i),
                          walls->count > 0 ? th_pbd_of(world)->walls + (size_t)i * TH_PBD_WALLS
                                           : NULL,
                          a->radius[i],
                          {a->substep_x[i], a->substep_y[i]}};
    return c;
}

TH_FORMULA void shift_one(th_world *world, const th_walls *walls, uint32_t i,
                          const th_pbd_correction *contact) {
    th_pbd *pbd = th_pbd_of(world);
    th_pbd_corrected c = corrected_of(world, walls, i);
    th_vec2 shift = th_pbd_shift_by(walls, &c, contact);
    pbd->extra_x[i] = shift.x;
    pbd->extra_y[i] = shift.y;
}

TH_FORMULA void solve_one(th_world *world, const th_walls *walls, uint32_t i,
                          const th_pbd_correction *contact, const th_pbd_correction *avoid) {
    th_pbd *pbd = th_pbd_of(world);
    th_pbd_corrected c = corrected_of(world, walls, i);
    th_vec2 avoided = th_v(pbd->extra_x[i], pbd->extra_y[i]);
    th_vec2 u = th_pbd_solve_by(walls, &c, contact, avoid, th_v(pbd->u_x[i], pbd->u_y[i]),
                                th_v(pbd->next_u_x[i], pbd->next_u_y[i]), &avoided);
    pbd->extra_x[i] = avoided.x;
    pbd->extra_y[i] = avoided.y;
    pbd->next_u_x[i] = u.x;
    pbd->next_u_y[i] = u.y;
}

// The people whose pairs are in hand, and the sums of their corrections.
typedef struct taken {
    int count;
    uint32_t person[PAIRS];
    th_pbd_correction contact[PAIRS], avoid[PAIRS];
} taken;

TH_FORMULA void take_contacts(const th_world *world, const th_pbd_group *group, bool moves,
                              bool equal, batch *b, taken *t) {
    const th_pbd *pbd = th_pbd_of(world);
    b->count = 0;
    for (int k = 0; k < t->count; ++k) {
        uint32_t i = t->person[k];
        gather(&world->agents, pbd, i, th_pbd_neighbours(pbd, i), pbd->touch_count[i], moves, equal,
               b);
    }
    int full = fill_up(b), first = 0;
    shares(b, full, equal);
    correct_contacts(&group->params, b, full, moves);
    for (int k = 0; k < t->count; first += (int)pbd->touch_count[t->person[k++]])
        t->contact[k] = sum_contacts(world, b, t->person[k], first);
}

TH_FORMULA void take_meetings(const th_world *world, const th_pbd_group *group, bool equal,
                              batch *b, taken *t) {
    const th_pbd *pbd = th_pbd_of(world);
    b->count = 0;
    for (int k = 0; k < t->count; ++k) {
        uint32_t i = t->person[k];
        gather(&world->agents, pbd, i, th_pbd_neighbours(pbd, i) + pbd->touch_count[i],
               pbd->meet_count[i], true, equal, b);
    }
    int full = fill_up(b), first = 0;
    shares(b, full, equal);
    correct_meetings(&group->avoid, b, full);
    for (int k = 0; k < t->count; first += (int)pbd->meet_count[t->person[k++]])
        t->avoid[k] = sum_of(b, first, pbd->meet_count[t->person[k]]);
}

// Own people begin .. of one kind of parameters, as many as fill a batch; returns where the next begins.
TH_FORMULA uint32_t take_batch(th_world *world, const th_walls *walls, int like, bool moves,
                               bool equal, uint32_t begin, uint32_t end, batch *b) {
    const th_pbd *pbd = th_pbd_of(world);
    const th_pbd_group *group = &pbd->groups[like];
    const uint32_t most = PAIRS - TH_PBD_NEIGHBOURS;
    uint32_t stop = begin, touching = 0, meeting = 0;
    taken t;
    t.count = 0;
    for (; stop < end && touching <= most && meeting <= most && t.count < PAIRS; ++stop) {
        if (!th_pbd_own(world, stop) || th_pbd_group_of(world, stop)->like != like) continue;
        t.person[t.count++] = stop;
        touching += pbd->touch_count[stop];
        meeting += pbd->meet_count[stop];
    }
    take_contacts(world, group, moves, equal, b, &t);
    if (moves) take_meetings(world, group, equal, b, &t);
    for (int k = 0; k < t.count; ++k) {
        if (moves)
            solve_one(world, walls, t.person[k], &t.contact[k], &t.avoid[k]);
        else
            shift_one(world, walls, t.person[k], &t.contact[k]);
    }
    return stop;
}

static bool is_first_of_its_kind(const th_world *world, int g) {
    return world->groups[g].move == TH_MOVE_PBD && !world->groups[g].scripted &&
           th_pbd_of(world)->groups[g].like == g;
}

TH_CLONES void th_pbd_stabilise_block(th_world *world, const th_substep *step,
                                      const th_walls *walls, uint32_t begin, uint32_t end) {
    (void)step;
    batch b;
    for (int g = 0; g < world->group_count; ++g)
        for (uint32_t i = is_first_of_its_kind(world, g) ? begin : end; i < end;)
            i = take_batch(world, walls, g, false, false, i, end, &b);
}

TH_CLONES void th_pbd_solve_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  uint32_t begin, uint32_t end) {
    (void)step;
    batch b;
    for (int g = 0; g < world->group_count; ++g)
        for (uint32_t i = is_first_of_its_kind(world, g) ? begin : end; i < end;)
            i = th_pbd_of(world)->equal_masses
                    ? take_batch(world, walls, g, true, true, i, end, &b)
                    : take_batch(world, walls, g, true, false, i, end, &b);
}
