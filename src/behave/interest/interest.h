// Places of interest: Eulerian uncertainty, sections 3.2 to 3.4 and 4.3 of Xiao Cheng's thesis (2013). People on their way are
// drawn to places, stop, look and go on. An agent that is drawn is on a detour of its group (TH_DETOUR), so every planner
// leads there. Equations implemented, additions and parts left out: docs/models/interest.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_INTEREST_H
#define TH_BEHAVE_INTEREST_H
#include "formula/math.h"
#include "formula/params.h"
#include "scene/draw.h"
#include "state/world.h"

#define TH_CHENG_E "Cheng 2013, 3.4"
#define TH_CHENG_RATE "throng: not printed in Cheng 2013"

#define TH_INTEREST_PARAMS(X)                                                                   \
    X(attract_rate, 0.2, 0, 100, "1/s", TH_CHENG_RATE,                                          \
      "how often an agent beside a place makes it its goal")                                    \
    X(browse_rate, 0.5, 0, 100, "1/s", TH_CHENG_RATE,                                           \
      "how often an agent beside a place stops to look at it")                                  \
    X(attract_decay, 0.5, 0.01, 100, "1/m", TH_CHENG_RATE,                                      \
      "kappa of the outer field: how fast attraction falls with the distance")                  \
    X(browse_decay, 2, 0.01, 100, "1/m", TH_CHENG_RATE,                                         \
      "kappa of the inner field: how fast stopping does")                                       \
    X(blur, 0, 0, 20, "m", TH_CHENG_E ", eq. 3.6",                                              \
      "0: fields fall from the rim; else the area blurred this wide, for the inner field less " \
      "by the ratio of the decays")                                                             \
    X(browse_time, 8, 0.1, 1e5, "s", TH_CHENG_RATE, "how long people look, the median")         \
    X(browse_spread, 0.5, 0, 3, "-", TH_CHENG_RATE,                                             \
      "standard deviation of the logarithm of that time")                                       \
    X(refractory, 30, 0, 1e5, "s", TH_CHENG_RATE,                                               \
      "time for which a place just looked at does not draw a person again")                     \
    X(arrival, 1.5, 0.1, 20, "m", TH_CHENG_RATE,                                                \
      "people drawn to a place stop this near to it, in sight of it")                           \
    X(longest_way, 120, 1, 1e5, "s", TH_CHENG_RATE, "after which they give it up")              \
    X(mask_share, 1, 0, 1, "-", TH_CHENG_E ", eq. 3.5: a mask per person",                      \
      "probability that a person cares for a layer at all, drawn once")

typedef struct th_interest_params {
    TH_INTEREST_PARAMS(TH_PARAM_MEMBER)
} th_interest_params;

enum { TH_INTEREST_KNOWN = 4 }; // places that an agent ignores at the same time, seen already

enum {
    TH_INTEREST_LOOKS, // places looked at
    TH_INTEREST_SINCE, // [s] when it was drawn
    TH_INTEREST_PLACE, // 1 + detour, of each that leaves it cold; 0: none
    TH_INTEREST_UNTIL = TH_INTEREST_PLACE + TH_INTEREST_KNOWN, // [s] and until when
    TH_INTEREST_FIELDS = TH_INTEREST_UNTIL + TH_INTEREST_KNOWN
};

// A place of interest of the scene, compiled: a goal with this item is a detour.
typedef struct th_interest_place {
    th_item item;
    th_polygons area;
    int layer;         // what kind of place it is, in the scene's names
    float strength;    // [-]
    float from, until; // [s]
} th_interest_place;

// ---- fields

// Fields that fall below e^-12 are not felt: a hundred thousandth.
#define TH_INTEREST_REACH 12.0f

// Eq. 3.1, of a place whose rim is this far away; 0 inside of it.
TH_FORMULA float th_interest_at(float distance, float decay) {
    return distance >= 0.0f ? th_exp(-decay * distance) : 0.0f;
}

// (1 - exp(-r2 / 2 s2)) / r2, also for r2 near 0.
TH_FORMULA float th_blur_kernel(float r2, float width2) {
    float u = 0.5f * r2 / width2;
    return u < 1e-3f ? (0.5f - 0.25f * u) / width2 : (1.0f - th_exp(-u)) / r2;
}

// The share of the edge a to b, seen from the origin, in the blurred area: by Green's theorem the integral of a Gaussian
// over an area is 1 / 2 pi of that of (1 - exp(-r2 / 2 s2)) / r2 (x dy - y dx) along its rim. Three points of Gauss
// and Legendre for every piece no longer than the width.
TH_FORMULA float th_blur_edge(th_vec2 a, th_vec2 b, float width) {
    th_vec2 along = th_sub(b, a);
    float cross = a.x * b.y - a.y * b.x, pieces = th_length(along) / width, sum = 0.0f;
    int count = pieces < 1.0f ? 1 : pieces < 1000.0f ? (int)pieces + 1 : 1000;
    for (int k = 0; k < count; ++k)
        for (int g = -1; g <= 1; ++g) {
            float t = ((float)k + 0.5f + 0.38729833f * (float)g) / (float)count;
            th_vec2 p = th_add(a, th_scale(t, along));
            sum +=
                (g == 0 ? 0.44444444f : 0.27777778f) * th_blur_kernel(th_length2(p), width * width);
        }
    return 0.15915494f * cross * sum / (float)count;
}

// Eq. 3.6 for a kernel repeated without end: the area of the place under a Gaussian around p.
TH_BOTH static inline float th_interest_blurred(const th_polygons *shape, th_vec2 p, float width) {
    float sum = 0.0f;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            sum += th_blur_edge(th_sub(shape->points[j], p), th_sub(shape->points[i], p), width);
    }
    return th_clamp(sum, 0.0f, 1.0f);
}

// Negative inside.
TH_BOTH static inline float th_interest_distance(const th_polygons *shape, th_vec2 p) {
    float distance = th_length(th_sub(th_nearest_on_rings(shape, p), p));
    return th_polygons_contain(shape, p) ? -distance : distance;
}

// The outer field of a place at p, or the inner one.
TH_BOTH static inline float th_interest_field(const th_interest_params *params,
                                              const th_polygons *shape, th_vec2 p, bool inner) {
    float decay = inner ? params->browse_decay : params->attract_decay;
    float width =
        inner ? params->blur * params->attract_decay / params->browse_decay : params->blur;
    float reach = params->blur > 0.0f ? 5.0f * width : TH_INTEREST_REACH / decay;
    const th_box *box = &shape->box;
    float dx = th_max(th_max(box->min_x - p.x, p.x - box->max_x), 0.0f);
    float dy = th_max(th_max(box->min_y - p.y, p.y - box->max_y), 0.0f);
    if (dx * dx + dy * dy > reach * reach) return 0.0f;
    if (params->blur > 0.0f) return th_interest_blurred(shape, p, th_max(width, 0.01f));
    return th_interest_at(th_interest_distance(shape, p), decay);
}

// ---- hazards

// The chance that something which happens `rate` times a second happens within a step.
TH_FORMULA float th_hazard(float rate, float dt) { return 1.0f - th_exp(-rate * dt); }

// ---- a person

TH_BOTH static inline const th_interest_params *th_interest_params_of(const th_world *world,
                                                                      uint32_t i) {
    return (const th_interest_params *)(const void *)th_behave_params(
        &world->groups[world->agents.group[i]], TH_BEHAVE_INTEREST);
}

// The place of a detour, 1 the first.
TH_BOTH static inline const th_interest_place *
th_detour_place(const th_scene *scene, const th_group *group, uint32_t detour) {
    int target = group->route[(uint32_t)group->route_count + detour - 1];
    return (const th_interest_place *)(const void *)scene->goals[scene->targets[target].goals[0]]
        .item;
}

TH_BOTH static inline bool th_interest_lasts(const th_interest_place *place, double time) {
    return (float)time >= place->from && (float)time < place->until;
}

TH_BOTH static inline bool th_interest_is_cold(const th_world *world, uint32_t i, uint32_t detour) {
    for (int k = 0; k < TH_INTEREST_KNOWN; ++k)
        if (th_own_words(world, TH_BEHAVE_INTEREST, TH_INTEREST_PLACE + k)[i] == detour &&
            (float)world->time < th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_UNTIL + k)[i])
            return true;
    return false;
}

// M(j) of eq. 3.5: does the person care for the layer? The random number is that of a step that no run reaches.
TH_FORMULA bool th_interest_cares(uint64_t seed, uint32_t id, int layer, float share) {
    if (share >= 1.0f) return true;
    uint64_t drawn_as = UINT64_MAX - (uint64_t)layer;
    return th_uniform(th_philox(seed, TH_STREAM_INTEREST, id, drawn_as).v[3]) < share;
}

// The interest of an agent in one place: eqs. 3.2 to 3.5.
TH_BOTH static inline float th_interest_of_place(const th_world *world, uint32_t i, uint32_t detour,
                                                 bool inner) {
    const th_agents *a = &world->agents;
    const th_group *group = &world->scene->groups[a->group[i]];
    const th_interest_place *place = th_detour_place(world->scene, group, detour);
    if ((uint32_t)place->item.level != a->level[i] || !th_interest_lasts(place, world->time) ||
        th_interest_is_cold(world, i, detour) ||
        !th_interest_cares(world->seed, a->id[i], place->layer,
                           th_interest_params_of(world, i)->mask_share))
        return 0.0f;
    return group->weights[place->layer] * place->strength *
           th_interest_field(th_interest_params_of(world, i), &place->area, th_position(a, i),
                             inner);
}

// From p to the rim, a centimetre short of it: it may lie on a wall.
TH_BOTH static inline bool th_interest_in_sight(const th_walls *walls,
                                                const th_interest_place *place, uint32_t level,
                                                th_vec2 p) {
    if ((uint32_t)place->item.level != level) return false;
    th_vec2 to = th_sub(th_nearest_on_rings(&place->area, p), p);
    float distance = th_length(to), before = th_max(distance - 0.01f, 0.0f);
    if (distance <= 0.01f || th_polygons_contain(&place->area, p)) return true;
    th_vec2 q = th_add(p, th_scale(before / distance, to));
    return th_walls_first_crossing(walls, (int)level, p, q, NULL) < 0;
}

// The place that makes an agent stop (inner) or come (outer) in this step, 1 the first; 0: none. `drawn` and `which`
// are random numbers. The field is evaluated only where it could be strong enough. Places behind walls have no effect.
TH_BOTH static inline uint32_t th_interest_effect(const th_world *world, const th_walls *walls,
                                                  uint32_t i, bool inner, float drawn,
                                                  float which) {
    const th_agents *a = &world->agents;
    const th_interest_params *p = th_interest_params_of(world, i);
    const th_group *group = &world->scene->groups[a->group[i]];
    float rate = inner ? p->browse_rate : p->attract_rate, sum = 0.0f, running = 0.0f;
    uint32_t chosen = 0;
    if (drawn >= th_hazard(rate, world->dt)) return 0; // eq. 3.5: a sum above 1 counts as 1
    for (uint32_t d = 1; d <= (uint32_t)group->detour_count; ++d)
        sum += th_interest_of_place(world, i, d, inner);
    if (drawn >= th_hazard(rate * sum, world->dt)) return 0;
    for (uint32_t d = 1; d <= (uint32_t)group->detour_count; ++d) {
        float felt = th_interest_of_place(world, i, d, inner);
        if (felt > 0.0f && running <= which * sum) chosen = d;
        running += felt;
    }
    if (chosen == 0) return 0;
    const th_interest_place *place = th_detour_place(world->scene, group, chosen);
    return th_interest_in_sight(walls, place, a->level[i], th_position(a, i)) ? chosen : 0;
}

TH_BOTH static inline float th_browse_time(const th_interest_params *p, uint64_t seed, uint32_t id,
                                           uint64_t step) {
    th_draw_source from = {seed, step, TH_STREAM_BROWSE, id};
    const float longest = 1e6f; // [s] one of a wide distribution would outlast the clock
    return th_min(p->browse_time * th_exp(p->browse_spread * (float)th_draw_normal(&from)),
                  longest);
}

TH_BOTH static inline void th_interest_set_detour(th_agents *a, uint32_t i, uint32_t detour) {
    a->leg[i] = th_leg_of(a->leg[i]) + TH_DETOUR * detour;
}

TH_BOTH static inline void th_interest_stop(th_world *world, uint32_t i, uint32_t detour) {
    th_agents *a = &world->agents;
    th_interest_set_detour(a, i, detour);
    a->phase[i] = TH_PHASE_WAITING;
    a->wait_until[i] =
        (float)world->time +
        th_browse_time(th_interest_params_of(world, i), world->seed, a->id[i], world->step_count);
    ++th_own_words(world, TH_BEHAVE_INTEREST, TH_INTEREST_LOOKS)[i];
}

// Back to the route. The agent ignores the place for a while; it takes the entry of the place that would be of interest
// again first.
TH_BOTH static inline void th_interest_go_on(th_world *world, uint32_t i) {
    th_agents *a = &world->agents;
    uint32_t detour = th_detour_of(a->leg[i]);
    int first = 0;
    for (int k = 1; k < TH_INTEREST_KNOWN; ++k)
        if (th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_UNTIL + k)[i] <
            th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_UNTIL + first)[i])
            first = k;
    th_own_words(world, TH_BEHAVE_INTEREST, TH_INTEREST_PLACE + first)[i] = detour;
    th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_UNTIL + first)[i] =
        (float)world->time + th_interest_params_of(world, i)->refractory;
    th_interest_set_detour(a, i, 0);
    a->phase[i] = TH_PHASE_WALKING;
}

// For an agent that walks its route.
TH_BOTH static inline void th_interest_walk(th_world *world, const th_walls *walls, uint32_t i,
                                            th_random4 random) {
    float which = th_uniform(random.v[2]);
    uint32_t stops = th_interest_effect(world, walls, i, true, th_uniform(random.v[0]), which);
    if (stops > 0) {
        th_interest_stop(world, i, stops);
        return;
    }
    uint32_t comes = th_interest_effect(world, walls, i, false, th_uniform(random.v[1]), which);
    if (comes == 0) return;
    th_interest_set_detour(&world->agents, i, comes);
    th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_SINCE)[i] = (float)world->time;
}

#define TH_INTEREST_HELD_UP \
    0.3f // of the own speed: slower agents stand in the crowd around a place

// For an agent drawn to a place. It stops within `arrival` of it, or earlier by the inner field. Where the crowd around
// the place holds the agent up, the outer field stops it and it looks from there.
TH_BOTH static inline void th_interest_come(th_world *world, const th_walls *walls, uint32_t i,
                                            const th_interest_place *place, float drawn) {
    th_agents *a = &world->agents;
    const th_interest_params *p = th_interest_params_of(world, i);
    th_vec2 at = th_position(a, i);
    bool seen = th_interest_in_sight(walls, place, a->level[i], at);
    bool near = seen && th_interest_distance(&place->area, at) <= p->arrival;
    if (seen && !near) {
        float least = TH_INTEREST_HELD_UP * a->speed[i];
        bool held_up = th_length2(th_velocity(a, i)) <= least * least;
        float felt = th_interest_field(p, &place->area, at, !held_up);
        near = drawn < th_hazard(p->browse_rate * felt, world->dt);
    }
    float since = th_own_floats(world, TH_BEHAVE_INTEREST, TH_INTEREST_SINCE)[i];
    if (near)
        th_interest_stop(world, i, th_detour_of(a->leg[i]));
    else if ((float)world->time - since > p->longest_way)
        th_interest_go_on(world, i);
}

// After the routes of the step. The state of an agent depends on no other agent.
TH_BOTH static inline void th_interest_behave(th_world *world, const th_walls *walls, uint32_t i) {
    th_agents *a = &world->agents;
    uint32_t phase = a->phase[i], detour = th_detour_of(a->leg[i]);
    if (!th_interest_params_of(world, i)) return;
    const th_group *group = &world->scene->groups[a->group[i]];
    if (group->detour_count == 0) return;
    bool looks = phase == TH_PHASE_WAITING && detour > 0;
    if (phase != TH_PHASE_WALKING && !looks) return;
    th_random4 random = th_philox(world->seed, TH_STREAM_INTEREST, a->id[i], world->step_count);
    if (detour == 0) {
        th_interest_walk(world, walls, i, random);
        return;
    }
    const th_interest_place *place = th_detour_place(world->scene, group, detour);
    bool over = looks && (float)world->time >= a->wait_until[i];
    if (over || !th_interest_lasts(place, world->time))
        th_interest_go_on(world, i);
    else if (!looks)
        th_interest_come(world, walls, i, place, th_uniform(random.v[0]));
}
#endif
