// Collision-free speed model: Tordeux, Chraibi, Seyfried, "Collision-free speed model for pedestrian dynamics", Traffic
// and Granular Flow '15, Springer 2016 (TCS16). Equations implemented, additions and parts left out:
// docs/models/collision-free-speed.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_COLLISION_FREE_SPEED_H
#define TH_MOVE_COLLISION_FREE_SPEED_H
#include "formula/params.h"
#include "formula/random.h"
#include "move/headway.h"

#define TH_TCS16 "Tordeux, Chraibi, Seyfried 2016"

#define TH_COLLISION_FREE_SPEED_PARAMS(X)                                                          \
    TH_SUBSTEP_PARAMS(X, 0.05, "throng: a twentieth of the time gap; the paper does not say")      \
    X(time_gap, 1, 0.1, 10, "s", TH_TCS16 ": T", "time to the person ahead")                       \
    X(repulsion_strength, 5, 0, 50, "-", TH_TCS16 ": a",                                           \
      "weight of a person that is touched, the own way being 1")                                   \
    X(repulsion_distance, 0.1, 0.005, 2, "m", TH_TCS16 ": D", "over which that weight falls by e") \
    X(wall_strength, 5, 0, 50, "-", "JuPedSim 1.0; the paper has no walls",                        \
      "weight of a wall that is touched")                                                          \
    X(wall_distance, 0.02, 0.005, 1, "m", "JuPedSim 1.0; the paper has no walls",                  \
      "over which that weight falls by e")

// X(name, doc, {parameter, value}...)
#define TH_COLLISION_FREE_SPEED_PRESETS(X)                                                 \
    X(tordeux2016, "the published model: sees through walls, nothing pushes people apart", \
      {"separation_passes", 0}, {"substep", 0.01}, {"line_of_sight", 0})                   \
    X(jupedsim, "values of JuPedSim 1.0", {"separation_passes", 0}, {"substep", 0.01},     \
      {"repulsion_strength", 8})

typedef struct th_collision_free_speed_params {
    TH_COLLISION_FREE_SPEED_PARAMS(TH_PARAM_MEMBER)
} th_collision_free_speed_params;

TH_BOTH static inline const th_collision_free_speed_params *
th_collision_free_speed_params_of(const th_world *world, uint32_t i) {
    return (const th_collision_free_speed_params *)(const void *)world
        ->groups[world->agents.group[i]]
        .move_params;
}

// R(s) e_ij with R(s) = a e^((l - s) / D) and e_ij the unit vector from j to i, which lies at `to` (eq. 5).
TH_FORMULA th_vec2 th_collision_free_speed_push(const th_collision_free_speed_params *p, th_vec2 to,
                                                float l) {
    float s = th_length(to);
    float weight = p->repulsion_strength * th_exp((l - s) / p->repulsion_distance);
    return s > TH_COINCIDENT ? th_scale(-weight / s, to) : th_v(0.0f, 0.0f);
}

// The range of sight of `self` [m]: where e^-10 of the repulsion is left, and at least as far as an agent may slow it down.
TH_BOTH static inline float th_collision_free_speed_range(const th_world *world, uint32_t self) {
    const th_collision_free_speed_params *p = th_collision_free_speed_params_of(world, self);
    float l = world->agents.radius[self] + world->max_radius;
    return th_min(TH_HEADWAY_SIGHT, th_max(l + 10.0f * p->repulsion_distance,
                                           th_headway_range(world, self, p->time_gap)));
}

// The push of j on `self`. Those at the very same place push in a direction drawn from both ids.
TH_FORMULA th_vec2 th_collision_free_speed_push_of(const th_world *world, uint32_t self,
                                                   uint32_t j) {
    const th_agents *a = &world->agents;
    const th_collision_free_speed_params *p = th_collision_free_speed_params_of(world, self);
    th_vec2 to = th_v(a->substep_x[j] - a->substep_x[self], a->substep_y[j] - a->substep_y[self]);
    return th_length2(to) > TH_COINCIDENT * TH_COINCIDENT
               ? th_collision_free_speed_push(p, to, a->radius[self] + a->radius[j])
               : th_scale(p->repulsion_strength, th_pair_direction(a->id[self], a->id[j]));
}

// Sum of the pushes of all agents that `self` sees.
TH_FORMULA th_vec2 th_collision_free_speed_pushes(const th_world *world, const th_substep *step,
                                                  const th_walls *walls, uint32_t self) {
    const th_agents *a = &world->agents;
    float x = a->substep_x[self], y = a->substep_y[self];
    uint32_t list[TH_NEAR_MAX + 1];
    th_vec2 sum = th_v(0.0f, 0.0f);
    float range = th_collision_free_speed_range(world, self);
    th_felt felt = th_felt_begin(world, step, self, x, y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, x, y, range, list)) >= 0;) {
        for (int k = 0; k < count; ++k) {
            sum = th_add(sum, th_collision_free_speed_push_of(world, self, list[k]));
        }
    }
    return sum;
}

TH_FORMULA th_vec2 th_collision_free_speed_walls(const th_world *world, const th_walls *walls,
                                                 uint32_t self) {
    const th_agents *a = &world->agents;
    const th_collision_free_speed_params *p = th_collision_free_speed_params_of(world, self);
    return th_headway_walls(walls, (int)a->level[self],
                            th_v(a->substep_x[self], a->substep_y[self]), a->radius[self],
                            p->wall_strength, p->wall_distance);
}

// Where an agent that wants to go along `wish` goes under these pushes (eq. 4).
TH_FORMULA th_vec2 th_collision_free_speed_way(th_vec2 wish, th_vec2 push) {
    th_vec2 e = th_unit(th_add(wish, push));
    return th_length2(e) > 0.0f ? e : wish;
}

// The direction in which it goes, where `push` is that of all agents it sees.
TH_FORMULA th_vec2 th_collision_free_speed_direction(const th_world *world, const th_walls *walls,
                                                     uint32_t self, th_vec2 push) {
    const th_agents *a = &world->agents;
    return th_collision_free_speed_way(
        th_unit(th_v(a->drive_x[self], a->drive_y[self])),
        th_add(push, th_collision_free_speed_walls(world, walls, self)));
}

// Own person's velocity after the sub-step, into next_velocity: V(s) e (eq. 1).
TH_FORMULA void th_collision_free_speed_go(th_world *world, uint32_t self, th_vec2 e, float room) {
    th_agents *a = &world->agents;
    const th_collision_free_speed_params *p = th_collision_free_speed_params_of(world, self);
    float free_speed = th_length(th_v(a->drive_x[self], a->drive_y[self]));
    th_vec2 v = th_scale(th_headway_speed(room, p->time_gap, free_speed), e);
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}

// Waiting agents do not move.
TH_BOTH static inline bool th_collision_free_speed_stands(th_world *world, uint32_t self) {
    th_agents *a = &world->agents;
    if (th_length2(th_unit(th_v(a->drive_x[self], a->drive_y[self]))) > 0.0f) return false;
    a->next_velocity_x[self] = a->next_velocity_y[self] = 0.0f;
    return true;
}

TH_FORMULA void th_collision_free_speed_take(th_world *world, const th_substep *step,
                                             const th_walls *walls, uint32_t self) {
    if (th_collision_free_speed_stands(world, self)) return;
    th_vec2 push = th_collision_free_speed_pushes(world, step, walls, self);
    th_vec2 e = th_collision_free_speed_direction(world, walls, self, push);
    float time_gap = th_collision_free_speed_params_of(world, self)->time_gap;
    float room = th_headway_least_room(world, step, walls, self, e, time_gap); // eqs. 2, 3
    th_collision_free_speed_go(world, self, e, room);
}
#endif
