// Shared by the speed models: the room ahead, and the speed that keeps a time gap to the agent there
// (Tordeux, Chraibi, Seyfried 2016). Distances are between centres; l is the sum of two radii.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_HEADWAY_H
#define TH_MOVE_HEADWAY_H
#include "formula/math.h"
#include "move/substep.h"

// No agent farther away than this is seen [m], as in JuPedSim.
#define TH_HEADWAY_SIGHT 3.0f

// An agent that is farther away than this from `self` does not slow it down: the room is at least v0 T [m].
TH_BOTH static inline float th_headway_range(const th_world *world, uint32_t self, float time_gap) {
    const th_agents *a = &world->agents;
    float free_speed = th_length(th_v(a->drive_x[self], a->drive_y[self]));
    return th_min(TH_HEADWAY_SIGHT, a->radius[self] + world->max_radius + time_gap * free_speed);
}

// Is an agent at `to` (from the walker) ahead of a walker along the unit vector e, in the strip of width 2 l that the
// walker sweeps? No branch, as the sieve asks it of many at a time.
TH_FORMULA int th_headway_in_strip(th_vec2 to, th_vec2 e, float l) {
    int ahead = th_dot(e, to) >= 0.0f, in_strip = fabsf(th_det(e, to)) <= l;
    return ahead & in_strip;
}
// Room ahead that it leaves: distance less l in that strip, otherwise endless.
TH_FORMULA float th_headway_room(th_vec2 to, th_vec2 e, float l) {
    return th_headway_in_strip(to, e, l) ? th_length(to) - l : 1e9f;
}

// The least of `least` and the room that those of the list leave [m].
TH_FORMULA float th_headway_least_of(const th_world *world, uint32_t self, th_vec2 e,
                                     const uint32_t *list, int count, float least) {
    const th_agents *a = &world->agents;
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        th_vec2 to =
            th_v(a->substep_x[j] - a->substep_x[self], a->substep_y[j] - a->substep_y[self]);
        least = th_min(least, th_headway_room(to, e, a->radius[self] + a->radius[j]));
    }
    return least;
}

// The agents of a portion within `range` of (x, y), where `self` is, that are ahead in its strip.
TH_FORMULA int th_headway_sieve(const th_world *world, uint32_t self, float x, float y, th_vec2 e,
                                float range, th_portion portion, uint32_t *list) {
    const th_agents *a = &world->agents;
    float range2 = range * range, radius = a->radius[self];
    int found;
    TH_SIEVE(portion, self, j,
             th_headway_in_strip(th_v(a->substep_x[j] - x, a->substep_y[j] - y), e,
                                 radius + a->radius[j]) &
                 (th_length2(th_v(a->substep_x[j] - x, a->substep_y[j] - y)) < range2),
             list, found);
    return found;
}

// The least room ahead among agents that `self` sees [m].
TH_FORMULA float th_headway_least_room(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t self, th_vec2 e,
                                       float time_gap) {
    const th_agents *a = &world->agents;
    float x = a->substep_x[self], y = a->substep_y[self], least = 1e9f;
    float range = th_headway_range(world, self, time_gap);
    uint32_t list[TH_SIEVE_LIST], around = step->looks ? a->around[self] : 0;
    th_near near = th_near_begin(world, step, a->level[self], x, y, range);
    for (th_portion portion; th_near_portion(&near, &portion);) {
        int count = th_headway_sieve(world, self, x, y, e, range, portion, list);
        if (around & TH_AROUND_HIDDEN) count = th_drop_hidden(world, walls, self, list, count);
        least = th_headway_least_of(world, self, e, list, count, least);
    }
    if (around & TH_AROUND_LINKED) {
        int count = th_substep_linked(world, step, self, range, list);
        least = th_headway_least_of(world, self, e, list, count, least);
    }
    return least;
}

// V(s) = min(v0, max(0, room / T)).
TH_FORMULA float th_headway_speed(float room, float time_gap, float free_speed) {
    return th_min(free_speed, th_max(0.0f, room / time_gap));
}

// Push of walls on a direction: a e^((radius - distance) / D) away from each wall's nearest point.
TH_FORMULA th_vec2 th_headway_walls(const th_walls *walls, int level, th_vec2 p, float radius,
                                    float strength, float distance) {
    enum { POINTS = 16 };
    th_vec2 points[POINTS], sum = th_v(0.0f, 0.0f);
    if (walls->count == 0 || !(strength > 0.0f) || !th_walls_maybe_near(walls, level, p)) {
        return sum;
    }
    // Beyond ten times the distance e^-10 of the strength is left; the wall grid answers 2 m at once.
    float range = th_min(radius + 10.0f * distance, 2.0f);
    int count = th_wall_points(walls, level, p, range, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(p, points[k]);
        float d = th_length(away);
        if (d > TH_COINCIDENT) {
            float push = strength * th_exp((radius - d) / distance);
            sum = th_add(sum, th_scale(push / d, away));
        }
    }
    return sum;
}

// The room ahead in direction e and the velocity it leaves, for what drives a person.
struct th_influences;
void th_headway_tell(const th_world *world, const th_substep *step, const th_walls *walls,
                     uint32_t self, th_vec2 e, float time_gap, struct th_influences *all);
#endif
