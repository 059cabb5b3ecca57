// Position-based crowds: what one person does in a sub-step, on the CPU and on a GPU: its drive, the neighbours to
// touch or to meet, the end of an iteration, cohesion and the end of the sub-step. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_STEP_H
#define TH_MOVE_PBD_STEP_H
#include "formula/random.h"
#include "formula/segment.h"
#include "move/pbd/pbd.h"
#include <math.h>
#include <string.h>

// ---- what the groups ask for

TH_BOTH static inline bool th_pbd_group_is_own(const th_world *world, int g) {
    return world->groups[g].move == TH_MOVE_PBD && !world->groups[g].scripted;
}

// The demands of all groups on a step.
typedef struct th_pbd_asked {
    float substep; // the shortest [s]
    int iterations, stabilisation;
} th_pbd_asked;

static inline th_pbd_asked th_pbd_asked_by_groups(const th_world *world) {
    th_pbd_asked most = {world->dt, 1, 0};
    for (int g = 0; g < world->group_count; ++g) {
        if (!th_pbd_group_is_own(world, g)) continue;
        th_pbd_params p;
        memcpy(&p, world->groups[g].move_params, sizeof p);
        most.substep = th_min(most.substep, p.substep);
        int iterations = (int)p.iterations, stabilisation = (int)p.stabilisation;
        most.iterations = iterations > most.iterations ? iterations : most.iterations;
        most.stabilisation =
            stabilisation > most.stabilisation ? stabilisation : most.stabilisation;
    }
    return most;
}

// Takes over the parameters, which may have been edited.
TH_BOTH static inline void th_pbd_read_group(th_world *world, int g, float h, int iterations) {
    if (!th_pbd_group_is_own(world, g)) return;
    th_pbd_group *group = &th_pbd_of(world)->groups[g];
    memcpy(&group->params, world->groups[g].move_params, sizeof group->params);
    group->avoid = th_pbd_avoidance_of(&group->params, h, iterations);
}

// Furthest that any agent feels others: the distance to look behind walls and across links.
TH_BOTH static inline float th_pbd_felt_range(const th_world *world, uint32_t i) {
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    float widest = th_max(p->lr_range, p->cohesion > 0.0f ? p->cohesion_range : 0.0f);
    return 0.5f * th_max(widest, 3.0f) * (world->agents.radius[i] + world->max_radius);
}

// ---- the drive

static const double TH_PBD_LEAN_TIME =
    1.0; // [s] a side is kept about as long as a step aside takes

// Both change the drive that th_substep_begin has set, once per step.
TH_BOTH static inline void th_pbd_lean_aside(th_world *world, uint32_t i) {
    th_agents *a = &world->agents;
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    if (!(p->sidestep > 0.0f || p->ease > 0.0f)) return;
    th_random4 random = th_philox(world->seed, TH_STREAM_SIDESTEP, a->id[i],
                                  (uint64_t)(world->time / TH_PBD_LEAN_TIME));
    float lean = p->sidestep * (2.0f * th_uniform(random.v[0]) - 1.0f);
    float ease = p->ease * th_uniform(random.v[1]);
    th_vec2 drive = th_pbd_lean(th_v(a->drive_x[i], a->drive_y[i]), th_velocity(a, i), lean, ease);
    a->drive_x[i] = drive.x;
    a->drive_y[i] = drive.y;
}
TH_BOTH static inline void th_pbd_follow_walls(th_world *world, const th_walls *walls, uint32_t i) {
    th_agents *a = &world->agents;
    int list[TH_PBD_WALLS];
    float distances2[TH_PBD_WALLS];
    th_vec2 p = th_position(a, i), drive = th_v(a->drive_x[i], a->drive_y[i]);
    const float touching = 1.05f * a->radius[i];
    if (th_pbd_group_of(world, i)->params.follow_walls < 0.5f || walls->count == 0 ||
        !th_walls_maybe_near(walls, (int)a->level[i], p))
        return;
    int count = th_walls_near(walls, (int)a->level[i], p, touching, list, distances2, TH_PBD_WALLS);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &walls->walls[list[k]];
        th_vec2 off = th_sub(p, th_nearest_on_segment(p, wall->a, wall->b));
        float distance = th_length(off);
        if (distance > TH_PBD_COINCIDENT)
            drive = th_pbd_along(drive, th_scale(1.0f / distance, off));
    }
    a->drive_x[i] = drive.x;
    a->drive_y[i] = drive.y;
}

// ---- one sub-step

TH_FORMULA bool th_pbd_finite(float a, float b) {
    return a - a == 0.0f &&
           b - b == 0.0f; // infinities and not-a-numbers give a difference of their own
}

// The displacement that a sub-step begins with: velocity blend and prediction (eq. 1); an agent that belongs to another
// model goes on as it does.
TH_FORMULA th_vec2 th_pbd_predicted(const th_world *world, const th_substep *step, uint32_t i,
                                    uint64_t *repairs) {
    const th_agents *a = &world->agents;
    th_vec2 v = {a->substep_velocity_x[i], a->substep_velocity_y[i]};
    bool own = th_pbd_own(world, i);
    if (own)
        v = th_pbd_blend(v, th_v(a->drive_x[i], a->drive_y[i]), step->h,
                         th_pbd_group_of(world, i)->params.reaction_time);
    if (!th_pbd_finite(v.x, v.y)) {
        v = th_v(0.0f, 0.0f);
        *repairs += own;
    }
    return th_v(step->h * v.x, step->h * v.y);
}

// 0: does not give way. The same of an agent and of its copies on other ranks.
TH_FORMULA float th_pbd_inverse_mass_of(const th_world *world, uint32_t i) {
    bool own = th_moves(world->agents.phase[i]) &&
               world->groups[world->agents.group[i]].move == TH_MOVE_PBD;
    return own ? 1.0f / world->agents.mass[i] : 0.0f;
}

// Beyond the radii, what contacts may bring a pair together in one sub-step, as a share of the radii; their own
// way comes on top. An agent that comes from further away is seen in the next sub-step.
static const float TH_PBD_CONTACT_SLACK = 0.25f;

// Person i as the search needs it.
typedef struct th_pbd_seeker {
    const th_substep *step;
    uint32_t i;
    float x, y, ux, uy, radius;
    float slowest, margin, half_range;
    float limit2; // no agent beyond this distance is listed [m2]
} th_pbd_seeker;

// An agent at (x, y) with displacement (u, v): may it be touched in this sub-step, is it going to be met?
typedef struct th_pbd_wanted {
    bool touches, meets;
} th_pbd_wanted;

TH_FORMULA th_pbd_wanted th_pbd_wants(const th_pbd_seeker *o, float other_x, float other_y,
                                      float other_u, float other_v, float other_radius) {
    float x = o->x - other_x, y = o->y - other_y, ux = o->ux - other_u, uy = o->uy - other_v;
    float radii = o->radius + other_radius, distance2 = x * x + y * y;
    // |ux| + |uy| is at least the way, and needs no root.
    float touch = o->margin * radii + (fabsf(ux) + fabsf(uy)), range = o->half_range * radii;
    bool within = distance2 < o->limit2;
    th_pbd_wanted w;
    w.touches = within & (distance2 < touch * touch);
    w.meets = within & (distance2 < range * range) &
              th_pbd_going_to_meet(th_v(x, y), th_v(ux, uy), radii, o->slowest);
    return w;
}

TH_FORMULA bool th_pbd_too_many(const th_pbd_felt *felt) {
    return felt->touch_count + felt->meet_count > TH_PBD_NEIGHBOURS;
}

// All agents across a link that i may feel; they need no further test, the constraints make their own.
TH_BOTH static inline void th_pbd_add_linked(const th_world *world, const th_substep *step,
                                             uint32_t i, float reach, th_pbd_felt *felt) {
    uint32_t linked[TH_LINKED_MAX];
    int found = th_substep_linked(world, step, i, reach, linked);
    for (int k = 0; k < found && felt->touch_count + felt->meet_count + 2 <= TH_PBD_NEIGHBOURS;
         ++k) {
        felt->touch[felt->touch_count++] = linked[k];
        felt->meet[felt->meet_count++] = linked[k];
    }
}

// Person i with displacement u at the beginning of a sub-step, and how far it may feel any agent.
TH_FORMULA th_pbd_seeker th_pbd_seeker_of(const th_world *world, const th_substep *step, uint32_t i,
                                          th_vec2 u, float *reach) {
    const th_agents *a = &world->agents;
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    float radii = a->radius[i] + world->max_radius;
    th_pbd_seeker s = {step,
                       i,
                       a->substep_x[i],
                       a->substep_y[i],
                       u.x,
                       u.y,
                       a->radius[i],
                       TH_PBD_SLOWEST * step->h * step->h,
                       p->contact_margin + TH_PBD_CONTACT_SLACK,
                       0.5f * p->lr_range,
                       1e9f};
    float touch = s.margin * radii + 2.0f * step->h * th_max(step->fastest, 1.0f);
    *reach = th_max(touch, s.half_range * radii);
    return s;
}

// In a dense crowd an agent sees less far; in the extreme only the first of the coincident agents remain. False: that is near
// enough.
TH_FORMULA bool th_pbd_look_less_far(const th_pbd_felt *felt, th_pbd_seeker *s, float *limit) {
    if (!th_pbd_too_many(felt) || !(*limit > 1e-3f)) return false;
    *limit *= 0.8f;
    s->limit2 = *limit * *limit;
    return true;
}

// The neighbours that i feels in the sub-step that begins, of all within its reach.
TH_FORMULA void th_pbd_trim_felt(const th_world *world, const th_substep *step,
                                 const th_walls *walls, uint32_t i, float reach,
                                 th_pbd_felt *felt) {
    if (th_pbd_too_many(felt)) {
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
    if (around & TH_AROUND_LINKED) th_pbd_add_linked(world, step, i, reach, felt);
}

// The walls that i may touch: TH_PBD_WALLS at most, else ended by -1. Returns how many.
TH_BOTH static inline int th_pbd_list_walls(const th_world *world, const th_walls *walls,
                                            uint32_t i, th_vec2 u, int *list) {
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

// The averaged shift of a sum, at most half a radius: a heap comes apart, it does not burst.
TH_FORMULA th_vec2 th_pbd_averaged(const th_pbd_correction *sum, float averaging, float radius) {
    float share = th_pbd_average(averaging, sum->count);
    return th_limit(th_v(share * sum->x, share * sum->y), 0.5f * radius);
}

// Off the listed walls from place p, for an agent that began the sub-step at `start`; the walls do not give way and so
// are never overshot.
TH_BOTH static inline th_vec2 th_pbd_off_walls(const th_walls *walls, const int *list, float radius,
                                               th_vec2 start, th_vec2 p, float averaging) {
    th_pbd_correction sum = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < TH_PBD_WALLS && list[k] >= 0; ++k) {
        const th_wall *wall = &walls->walls[list[k]], *before = &walls->walls[wall->prev];
        // An edge holds an agent that began the sub-step in front of it; the back of a thin wall looks the other way.
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

// Person i as the end of an iteration needs it.
typedef struct th_pbd_corrected {
    const th_pbd_group *group;
    const int *walls; // listed, or NULL: there are none
    float radius;
    th_vec2 place; // at the beginning of the sub-step
} th_pbd_corrected;

// By how much the stabilisation shifts an agent with these contacts.
TH_FORMULA th_vec2 th_pbd_shift_by(const th_walls *walls, const th_pbd_corrected *c,
                                   const th_pbd_correction *contact) {
    float averaging = c->group->params.averaging;
    th_vec2 shift = th_pbd_averaged(contact, averaging, c->radius);
    if (c->walls)
        shift = th_add(shift, th_pbd_off_walls(walls, c->walls, c->radius, c->place,
                                               th_add(c->place, shift), averaging));
    return shift;
}

// The displacement after an iteration, from u, which was `last` before the iteration before. `avoided` is what
// avoidance has added to it so far. Repeating a part of the last change (momentum) carries a push through the rows of
// a pressing crowd that the few iterations would not reach.
// Contacts and avoidance are averaged each by their own number: averaged together, the many far ones
// would take the weight from the few that touch.
TH_FORMULA th_vec2 th_pbd_solve_by(const th_walls *walls, const th_pbd_corrected *c,
                                   const th_pbd_correction *contact, const th_pbd_correction *avoid,
                                   th_vec2 u, th_vec2 last, th_vec2 *avoided) {
    float averaging = c->group->params.averaging, h = c->group->avoid.h;
    float momentum = contact->count > 0.0f ? c->group->params.momentum : 0.0f;
    th_vec2 again = th_scale(momentum, th_sub(u, last));
    u = th_add(u, th_add(th_pbd_averaged(contact, averaging, c->radius), again));
    float share = th_pbd_average(averaging, avoid->count);
    th_vec2 before = *avoided;
    *avoided = th_limit(th_v(before.x + share * avoid->x, before.y + share * avoid->y),
                        c->group->params.max_acceleration * h * h);
    u = th_add(u, th_sub(*avoided, before));
    if (c->walls)
        u = th_add(u, th_pbd_off_walls(walls, c->walls, c->radius, c->place, th_add(c->place, u),
                                       averaging));
    return u;
}

// Sum of w_j and of w_j (u_j - u_i) over the own group.
typedef struct th_pbd_cohesion {
    float weights;
    th_vec2 drawn;
} th_pbd_cohesion;

typedef struct th_pbd_companion {
    uint32_t i, group;
    float x, y, ux, uy, radius, half_range;
} th_pbd_companion;

// Sums side by side (formula/math.h): the k-th of a run goes to sum k mod TH_PBD_COHESION_LANES.
enum { TH_PBD_COHESION_LANES = TH_LANES };

TH_FORMULA bool th_pbd_coheres(const th_pbd_params *p) {
    return p->cohesion > 0.0f && p->cohesion_range > 0.0f;
}

// Person i at `place` with displacement u.
TH_FORMULA th_pbd_companion th_pbd_companion_of(const th_world *world, uint32_t i, th_vec2 place,
                                                th_vec2 u) {
    const th_agents *a = &world->agents;
    th_pbd_companion c = {
        i,   a->group[i], place.x,      place.y,
        u.x, u.y,         a->radius[i], 0.5f * th_pbd_group_of(world, i)->params.cohesion_range};
    return c;
}

// The runs are those of places when the index was made, the weights of places after the sub-step.
TH_FORMULA float th_pbd_searched_by(const th_world *world, const th_substep *step,
                                    const th_pbd_companion *c) {
    float reach = c->half_range * (c->radius + world->max_radius);
    return reach + step->moved + 2.0f * step->h * th_max(step->fastest, 1.0f);
}

TH_FORMULA bool th_pbd_sees_less(const th_world *world, const th_substep *step, uint32_t i) {
    return step->looks && world->agents.around[i] & TH_AROUND_HIDDEN;
}

// The result of a sub-step.
typedef struct th_pbd_finished {
    th_vec2 velocity, way;
} th_pbd_finished;

TH_FORMULA th_pbd_finished th_pbd_finish_person(const th_world *world, const th_substep *step,
                                                uint32_t i, th_vec2 u, th_pbd_cohesion sum) {
    const th_pbd_params *p = &th_pbd_group_of(world, i)->params;
    float limit = p->max_speed_ratio * world->agents.speed[i];
    th_vec2 v = th_scale(1.0f / step->h, u);
    if (th_pbd_coheres(p))
        v = th_pbd_cohere(v, th_scale(1.0f / step->h, sum.drawn), sum.weights, p->cohesion,
                          step->h);
    th_pbd_finished f;
    f.velocity = th_limit(v, limit);
    // An agent pushed faster than allowed goes only as far as the limit; the overlap that is left is taken
    // away by the next sub-step's stabilisation.
    f.way = th_limit(u, limit * step->h);
    return f;
}
#endif
