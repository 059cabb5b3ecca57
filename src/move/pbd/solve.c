// Position-based crowds: the iterations. Jacobi: every agent reads the displacements of the last iteration and
// writes the own next one; a pair is computed from both sides. Cost O(people x listed neighbours).
// SPDX-License-Identifier: Apache-2.0
#include "move/pbd/step.h"
#include <math.h>
#include <string.h>

// ---- lists of neighbours

// Position-based crowds: the neighbours that an agent may touch and those it is going to meet, two lists made once
// and used by all its iterations, as in Mueller et al. 2007: constraints are found once, before the solve. Cost
// O(people x people in range).

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

// Collects agents within the seeker's limit; counts all, writes as many as fit.
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

// ---- cohesion

// Position-based crowds: from displacements back to velocities, with cohesion and the limit of speed.
// Cost O(people x people within the cohesion range).

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
