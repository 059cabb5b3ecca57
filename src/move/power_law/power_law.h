// Universal power law: Karamouzas, Skinner, Guy, "Universal power law governing pedestrian interactions", Physical
// Review Letters 113, 238701, 2014 (KSG14). Unit mass: forces are accelerations. Equations implemented, additions and
// parts left out: docs/models/power-law.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_POWER_LAW_H
#define TH_MOVE_POWER_LAW_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "move/substep.h"

#define TH_KSG14 "Karamouzas, Skinner, Guy 2014"

#define TH_POWER_LAW_PARAMS(X)                                                          \
    TH_SUBSTEP_PARAMS(X, 0.02, "throng: at most 0.4 m/s of change at max_acceleration") \
    X(interaction_strength, 1.5, 0, 50, "m2/s2", TH_KSG14 ": k, per unit of mass",      \
      "energy of a collision a second ahead, without the cut-off")                      \
    X(interaction_horizon, 3, 0.1, 20, "s", TH_KSG14 ": tau_0",                         \
      "collisions farther ahead than this hardly count")                                \
    X(relaxation_time, 0.54, 0.01, 10, "s", TH_KSG14 ": xi",                            \
      "time to reach the preferred velocity")                                           \
    X(sight, 10, 1, 20, "m", "authors' program", "neighbours farther away are ignored") \
    X(max_acceleration, 20, 1, 1000, "m/s2", "authors' program",                        \
      "bound on all pushes together; the law has none at the moment of a collision")

// X(name, doc, {parameter, value}...)
#define TH_POWER_LAW_PRESETS(X)                                                               \
    X(karamouzas2014, "the published model: sees through walls, nothing pushes people apart", \
      {"separation_passes", 0}, {"substep", 0.01}, {"line_of_sight", 0})

typedef struct th_power_law_params {
    TH_POWER_LAW_PARAMS(TH_PARAM_MEMBER)
} th_power_law_params;

TH_BOTH static inline const th_power_law_params *th_power_law_params_of(const th_world *world,
                                                                        uint32_t i) {
    return (const th_power_law_params *)(const void *)world->groups[world->agents.group[i]]
        .move_params;
}

// Time until two discs meet, x apart (of i from j), radii together l, moving at v relative to j; negative: never.
//   |x + v t| = l:  a = v.v, b = x.v, c = x.x - l l, d = b b - a c, t = (-b - sqrt d) / a
// Agents that overlap already count as a hundredth less wide than they are apart, as in the authors' program.
typedef struct th_power_law_meeting {
    float time, a, b, root; // [s], as above, sqrt(d)
} th_power_law_meeting;
TH_FORMULA th_power_law_meeting th_power_law_meet(th_vec2 x, th_vec2 v, float l) {
    th_power_law_meeting m = {-1.0f, th_length2(v), th_dot(x, v), 0.0f};
    float apart2 = th_length2(x);
    l = apart2 < l * l ? 0.99f * th_root(apart2) : l;
    float c = apart2 - l * l, d = m.b * m.b - m.a * c;
    if (m.b < 0.0f && d > 0.0f && m.a > 1e-12f) {
        m.root = th_root(d);
        m.time = (-m.b - m.root) / m.a;
    }
    return m;
}

// -grad E(t) with E = k e^(-t/t0) / t^2 (eqs. 2, 3):
//   k e^(-t/t0) / t^2 (2/t + 1/t0) grad t,   grad t = (-v - (b v - a x) / sqrt d) / a
TH_FORMULA th_vec2 th_power_law_push(const th_power_law_params *p, th_vec2 x, th_vec2 v, float l) {
    th_power_law_meeting m = th_power_law_meet(x, v, l);
    // A millisecond ahead the push is beyond any bound.
    float t = th_max(m.time, 1e-3f);
    if (m.time < 0.0f || m.root <= 0.0f) {
        return th_v(0.0f, 0.0f);
    }
    float size = p->interaction_strength * th_exp(-t / p->interaction_horizon) / (t * t) *
                 (2.0f / t + 1.0f / p->interaction_horizon);
    float along = -(1.0f + m.b / m.root) / m.a, apart = 1.0f / m.root;
    return th_add(th_scale(size * along, v), th_scale(size * apart, x));
}

// The push of j on `self`. Those at the very same place push in a direction drawn from both ids.
TH_FORMULA th_vec2 th_power_law_push_of(const th_world *world, uint32_t self, uint32_t j) {
    const th_agents *a = &world->agents;
    const th_power_law_params *p = th_power_law_params_of(world, self);
    th_vec2 from = th_v(a->substep_x[self] - a->substep_x[j], a->substep_y[self] - a->substep_y[j]);
    th_vec2 v = th_v(a->substep_velocity_x[self] - a->substep_velocity_x[j],
                     a->substep_velocity_y[self] - a->substep_velocity_y[j]);
    return th_length2(from) > TH_COINCIDENT * TH_COINCIDENT
               ? th_power_law_push(p, from, v, a->radius[self] + a->radius[j])
               : th_scale(p->max_acceleration, th_pair_direction(a->id[self], a->id[j]));
}

// An agent as its neighbours are sieved: now, within the sub-step.
typedef struct th_power_law_walker {
    float x, y, vx, vy, radius, sight2;
} th_power_law_walker;

// May an agent at (x, y) push the walker? All that th_power_law_push_of pushes with, and few others: those on the same
// place, those that approach and overlap or will meet. No branch: the compiler tests many at a time.
TH_FORMULA int th_power_law_meets(const th_power_law_walker *i, float x, float y, float vx,
                                  float vy, float radius) {
    float dx = i->x - x, dy = i->y - y, wx = i->vx - vx, wy = i->vy - vy, l = i->radius + radius;
    float apart2 = dx * dx + dy * dy, a = wx * wx + wy * wy, b = dx * wx + dy * wy;
    float d = b * b - a * (apart2 - l * l); // positive where they overlap
    return (apart2 < i->sight2) &
           (((b < 0.0f) & (d > 0.0f)) | (apart2 <= TH_COINCIDENT * TH_COINCIDENT));
}

// Selects the agents of a portion that may push `self`, which is left out.
TH_FORMULA int th_power_law_sieve(const th_world *world, const th_power_law_walker *i,
                                  uint32_t self, th_portion portion, uint32_t *list) {
    const th_agents *a = &world->agents;
    int found;
    TH_SIEVE(portion, self, j,
             th_power_law_meets(i, a->substep_x[j], a->substep_y[j], a->substep_velocity_x[j],
                                a->substep_velocity_y[j], a->radius[j]),
             list, found);
    return found;
}

TH_FORMULA th_vec2 th_power_law_add_pushes(const th_world *world, uint32_t self,
                                           const uint32_t *list, int count, th_vec2 sum) {
    for (int k = 0; k < count; ++k) sum = th_add(sum, th_power_law_push_of(world, self, list[k]));
    return sum;
}

TH_FORMULA th_vec2 th_power_law_of_people(const th_world *world, const th_substep *step,
                                          const th_walls *walls, uint32_t self) {
    const th_agents *a = &world->agents;
    float sight = th_power_law_params_of(world, self)->sight;
    th_power_law_walker i = {
        a->substep_x[self],          a->substep_y[self], a->substep_velocity_x[self],
        a->substep_velocity_y[self], a->radius[self],    sight * sight};
    uint32_t list[TH_SIEVE_LIST], around = step->looks ? a->around[self] : 0;
    th_vec2 sum = th_v(0.0f, 0.0f);
    th_near near = th_near_begin(world, step, a->level[self], i.x, i.y, sight);
    for (th_portion portion; th_near_portion(&near, &portion);) {
        int count = th_power_law_sieve(world, &i, self, portion, list);
        if (around & TH_AROUND_HIDDEN) count = th_drop_hidden(world, walls, self, list, count);
        sum = th_power_law_add_pushes(world, self, list, count, sum);
    }
    if (around & TH_AROUND_LINKED) {
        int count = th_substep_linked(world, step, self, sight, list);
        sum = th_power_law_add_pushes(world, self, list, count, sum);
    }
    return sum;
}

// Walls: their nearest points are people of no width that stand still.
TH_FORMULA th_vec2 th_power_law_of_walls(const th_world *world, const th_walls *walls,
                                         uint32_t self) {
    enum { POINTS = 16 };
    const th_agents *a = &world->agents;
    const th_power_law_params *p = th_power_law_params_of(world, self);
    th_vec2 points[POINTS], sum = th_v(0.0f, 0.0f);
    th_vec2 here = th_v(a->substep_x[self], a->substep_y[self]);
    th_vec2 v = th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]);
    int level = (int)a->level[self];
    if (walls->count == 0 || !th_walls_maybe_near(walls, level, here)) {
        return sum;
    }
    int count = th_wall_points(walls, level, here, 2.0f, points, POINTS); // the wall grid's reach
    for (int k = 0; k < count; ++k) {
        sum = th_add(sum, th_power_law_push(p, th_sub(here, points[k]), v, a->radius[self]));
    }
    return sum;
}

// Own person's velocity after the sub-step, into next_velocity; the drive is implicit in it (eq. 4).
TH_FORMULA void th_power_law_take(th_world *world, const th_substep *step, const th_walls *walls,
                                  uint32_t self) {
    th_agents *a = &world->agents;
    const th_power_law_params *p = th_power_law_params_of(world, self);
    th_vec2 push = th_limit(th_add(th_power_law_of_people(world, step, walls, self),
                                   th_power_law_of_walls(world, walls, self)),
                            p->max_acceleration);
    float share = step->h / p->relaxation_time, whole = 1.0f / (1.0f + share);
    a->next_velocity_x[self] =
        whole * (a->substep_velocity_x[self] + step->h * push.x + share * a->drive_x[self]);
    a->next_velocity_y[self] =
        whole * (a->substep_velocity_y[self] + step->h * push.y + share * a->drive_y[self]);
}
#endif
