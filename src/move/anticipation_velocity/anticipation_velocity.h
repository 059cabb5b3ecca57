// Anticipation velocity model: Xu, Chraibi, Seyfried, "Anticipation in a velocity-based model for pedestrian dynamics",
// Transportation Research C 133, 2021 (XCS21). Equations implemented, additions and parts left out:
// docs/models/anticipation-velocity.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_ANTICIPATION_VELOCITY_H
#define TH_MOVE_ANTICIPATION_VELOCITY_H
#include "formula/params.h"
#include "move/headway.h"

#define TH_XCS21 "Xu, Chraibi, Seyfried 2021"
#define TH_JUPEDSIM_AVM "JuPedSim 1.3"

#define TH_ANTICIPATION_VELOCITY_PARAMS(X)                                                    \
    TH_SUBSTEP_PARAMS(X, 0.05, "throng: a sixth of the reaction time")                        \
    X(time_gap, 1.06, 0.1, 10, "s", TH_JUPEDSIM_AVM ": T of " TH_XCS21,                       \
      "time to the person ahead")                                                             \
    X(anticipation_time, 1, 0, 5, "s", TH_XCS21 ": t_a", "how far ahead places are foreseen") \
    X(reaction_time, 0.3, 0.01, 5, "s", TH_XCS21 ": tau", "time in which the way is changed") \
    X(repulsion_strength, 8, 0, 50, "-", TH_JUPEDSIM_AVM ": k of " TH_XCS21,                  \
      "weight of a person that will be touched, the own way being 1; twice that if it comes " \
      "towards")                                                                              \
    X(repulsion_distance, 0.1, 0.005, 2, "m", TH_JUPEDSIM_AVM ": D of " TH_XCS21,             \
      "over which that weight falls by e")                                                    \
    X(wall_strength, 6, 0, 50, "-", "example of the authors' program",                        \
      "weight of a wall that is touched")                                                     \
    X(wall_distance, 0.05, 0.005, 1, "m", "example of the authors' program",                  \
      "over which that weight falls by e")

// X(name, doc, {parameter, value}...)
#define TH_ANTICIPATION_VELOCITY_PRESETS(X)                                                   \
    X(xu2021,                                                                                 \
      "the example of the authors' program: sees through walls, nothing pushes people apart", \
      {"separation_passes", 0}, {"substep", 0.01}, {"line_of_sight", 0}, {"time_gap", 0.5},   \
      {"repulsion_strength", 6}, {"repulsion_distance", 0.01})                                \
    X(jupedsim, "values of JuPedSim 1.3", {"separation_passes", 0}, {"substep", 0.01})

typedef struct th_anticipation_velocity_params {
    TH_ANTICIPATION_VELOCITY_PARAMS(TH_PARAM_MEMBER)
} th_anticipation_velocity_params;

// Own values of a person: the direction of walking, which outlasts standing still; (0, 0): none yet.
enum { TH_AVM_DIRECTION_X, TH_AVM_DIRECTION_Y };

TH_BOTH static inline const th_anticipation_velocity_params *
th_anticipation_velocity_params_of(const th_world *world, uint32_t i) {
    return (const th_anticipation_velocity_params *)(const void *)world
        ->groups[world->agents.group[i]]
        .move_params;
}

// The walker i and a neighbour j as a pair. e0: where i wants to go, e: where it goes.
typedef struct th_avm_pair {
    th_vec2 e0, e;
    th_vec2 to;       // x_j - x_i
    th_vec2 v_i, v_j; // velocities
    float l;          // radii together
    bool left;        // where i goes if j will be exactly ahead
} th_avm_pair;

// The influence of j on the way of i: nothing where j is neither ahead of e0 nor of e (eq. 1); otherwise along the
// normal of e0, away from where j will be, with the weight
//   k (1 + (1 - e0.e_j) / 2) e^(-s / D),   s = max(0, |to| - l - (v_i - v_j).e_ij t_a)   (eqs. 2 to 5)
TH_FORMULA th_vec2 th_avm_influence(const th_anticipation_velocity_params *p,
                                    const th_avm_pair *pair) {
    th_vec2 none = th_v(0.0f, 0.0f);
    float d = th_length(pair->to);
    if (d <= TH_COINCIDENT) {
        return none;
    }
    th_vec2 e_ij = th_scale(1.0f / d, pair->to);
    if (th_dot(pair->e0, e_ij) < 0.0f && th_dot(pair->e, e_ij) < 0.0f) {
        return none;
    }
    float closing = th_dot(th_sub(pair->v_i, pair->v_j), e_ij);
    float s = th_max(0.0f, d - pair->l - closing * p->anticipation_time);
    float weight = p->repulsion_strength * (1.5f - 0.5f * th_dot(pair->e0, th_unit(pair->v_j))) *
                   th_exp(-s / p->repulsion_distance);
    th_vec2 normal = th_perp_left(pair->e0);
    th_vec2 then = th_add(pair->to, th_scale(p->anticipation_time, pair->v_j));
    float side = th_dot(normal, then);
    bool to_left = fabsf(side) > 1e-6f ? side < 0.0f : pair->left;
    return th_scale(to_left ? weight : -weight, normal);
}

// Self and j, as self wants to go along e0 and goes along e.
TH_FORMULA th_avm_pair th_avm_pair_of(const th_world *world, uint32_t self, uint32_t j, th_vec2 e0,
                                      th_vec2 e) {
    const th_agents *a = &world->agents;
    th_avm_pair pair;
    pair.e0 = e0;
    pair.e = e;
    pair.to = th_v(a->substep_x[j] - a->substep_x[self], a->substep_y[j] - a->substep_y[self]);
    pair.v_i = th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]);
    pair.v_j = th_v(a->substep_velocity_x[j], a->substep_velocity_y[j]);
    pair.l = a->radius[self] + a->radius[j];
    pair.left = ((a->id[self] + a->id[j]) & 1u) != 0; // the same side for both of a pair
    return pair;
}

// Influences end where the foreseen gap is this many repulsion_distance: e^-10 is left of the weight, 5e-4 of the own way
// with the published strength.
#define TH_AVM_REACH 10.0f

// An agent as its neighbours are sieved.
typedef struct th_avm_walker {
    th_vec2 x, v, e0, e;
    float radius, anticipation_time, reach;
} th_avm_walker;

// May an agent influence the walker: within sight, ahead of e0 or of e, with a foreseen gap
// s = d - l - (v_i - v_j).to t_a / d below the reach (both sides times d)? No branch: many are tested at a time.
TH_FORMULA int th_avm_matters(const th_avm_walker *i, th_vec2 x, th_vec2 v, float radius) {
    th_vec2 to = th_sub(x, i->x);
    float d2 = th_length2(to), d = sqrtf(d2);
    float closing = th_dot(th_sub(i->v, v), to) * i->anticipation_time;
    int ahead_of_wish = th_dot(i->e0, to) >= 0.0f, ahead_of_way = th_dot(i->e, to) >= 0.0f;
    int seen = d2 < TH_HEADWAY_SIGHT * TH_HEADWAY_SIGHT;
    return seen & (ahead_of_wish | ahead_of_way) &
           (d2 - closing < (i->reach + i->radius + radius) * d);
}

TH_FORMULA int th_avm_sieve(const th_world *world, const th_avm_walker *i, uint32_t self,
                            th_portion portion, uint32_t *list) {
    const th_agents *a = &world->agents;
    int found;
    TH_SIEVE(portion, self, j,
             th_avm_matters(i, th_v(a->substep_x[j], a->substep_y[j]),
                            th_v(a->substep_velocity_x[j], a->substep_velocity_y[j]), a->radius[j]),
             list, found);
    return found;
}

TH_FORMULA th_vec2 th_avm_add_influences(const th_world *world, uint32_t self, th_vec2 e0,
                                         th_vec2 e, const uint32_t *list, int count, th_vec2 sum) {
    const th_anticipation_velocity_params *p = th_anticipation_velocity_params_of(world, self);
    for (int k = 0; k < count; ++k) {
        th_avm_pair pair = th_avm_pair_of(world, self, list[k], e0, e);
        sum = th_add(sum, th_avm_influence(p, &pair));
    }
    return sum;
}

TH_FORMULA th_vec2 th_avm_influences(const th_world *world, const th_substep *step,
                                     const th_walls *walls, uint32_t self, th_vec2 e0, th_vec2 e) {
    const th_agents *a = &world->agents;
    const th_anticipation_velocity_params *p = th_anticipation_velocity_params_of(world, self);
    th_avm_walker i = {th_v(a->substep_x[self], a->substep_y[self]),
                       th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]),
                       e0,
                       e,
                       a->radius[self],
                       p->anticipation_time,
                       TH_AVM_REACH * p->repulsion_distance};
    uint32_t list[TH_SIEVE_LIST], around = step->looks ? a->around[self] : 0;
    th_vec2 sum = th_v(0.0f, 0.0f);
    th_near near = th_near_begin(world, step, a->level[self], i.x.x, i.x.y, TH_HEADWAY_SIGHT);
    for (th_portion portion; th_near_portion(&near, &portion);) {
        int count = th_avm_sieve(world, &i, self, portion, list);
        if (around & TH_AROUND_HIDDEN) count = th_drop_hidden(world, walls, self, list, count);
        sum = th_avm_add_influences(world, self, e0, e, list, count, sum);
    }
    if (around & TH_AROUND_LINKED) {
        int count = th_substep_linked(world, step, self, TH_HEADWAY_SIGHT, list);
        sum = th_avm_add_influences(world, self, e0, e, list, count, sum);
    }
    return sum;
}

TH_FORMULA th_vec2 th_avm_walls(const th_world *world, const th_walls *walls, uint32_t self) {
    const th_agents *a = &world->agents;
    const th_anticipation_velocity_params *p = th_anticipation_velocity_params_of(world, self);
    return th_headway_walls(walls, (int)a->level[self],
                            th_v(a->substep_x[self], a->substep_y[self]), a->radius[self],
                            p->wall_strength, p->wall_distance);
}

// Turns e towards `aim` within the reaction time (eq. 7).
TH_FORMULA th_vec2 th_avm_turn(th_vec2 e, th_vec2 aim, float reaction_time, float h) {
    float share = th_min(1.0f, h / reaction_time);
    th_vec2 turned = th_unit(th_add(e, th_scale(share, th_sub(aim, e))));
    return th_length2(turned) > 0.0f ? turned : aim; // exactly about face
}

// Where an agent that goes along e and wants to go along e0 goes after h seconds of these pushes.
TH_FORMULA th_vec2 th_avm_way(const th_anticipation_velocity_params *p, th_vec2 e0, th_vec2 e,
                              th_vec2 push, float h) {
    th_vec2 aim = th_unit(th_add(e0, push)); // eq. 6
    return th_avm_turn(e, th_length2(aim) > 0.0f ? aim : e0, p->reaction_time, h);
}

// Own person's direction and velocity after the sub-step; waiting agents do not move.
TH_FORMULA void th_anticipation_velocity_take(th_world *world, const th_substep *step,
                                              const th_walls *walls, uint32_t self) {
    th_agents *a = &world->agents;
    const th_anticipation_velocity_params *p = th_anticipation_velocity_params_of(world, self);
    float *direction_x = th_own_floats(world, TH_MOVE_ANTICIPATION_VELOCITY, TH_AVM_DIRECTION_X);
    float *direction_y = th_own_floats(world, TH_MOVE_ANTICIPATION_VELOCITY, TH_AVM_DIRECTION_Y);
    th_vec2 drive = th_v(a->drive_x[self], a->drive_y[self]), v = th_v(0.0f, 0.0f);
    th_vec2 e0 = th_unit(drive), e = th_v(direction_x[self], direction_y[self]);
    if (th_length2(e0) > 0.0f) {
        e = th_length2(e) > 0.0f ? e : e0;
        th_vec2 push = th_add(th_avm_influences(world, step, walls, self, e0, e),
                              th_avm_walls(world, walls, self));
        e = th_avm_way(p, e0, e, push, step->h);
        float room = th_headway_least_room(world, step, walls, self, e, p->time_gap);
        v = th_scale(th_headway_speed(room, p->time_gap, th_length(drive)), e); // eqs. 8, 9
        direction_x[self] = e.x;
        direction_y[self] = e.y;
    }
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}
#endif
