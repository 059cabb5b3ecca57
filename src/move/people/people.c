// People as measured: the loop over people. Cost O(people x neighbours within 3 m). SPDX-License-Identifier: Apache-2.0
#include "move/people/people.h"
#include "core/parallel.h"
#include "state/influences.h"

typedef struct seen_people {
    _Alignas(64) float dx[TH_NEAR_MAX];
    _Alignas(64) float dy[TH_NEAR_MAX];
    _Alignas(64) float vx[TH_NEAR_MAX];
    _Alignas(64) float vy[TH_NEAR_MAX];
    _Alignas(64) float apart[TH_NEAR_MAX];
} seen_people;

// The agents of the list that may be in the way, filled up to a multiple of TH_LANES with absent ones.
TH_FORMULA int gather(const th_world *world, const th_people_view *i, uint32_t self,
                      const uint32_t *list, int count, seen_people *seen, float *oncoming) {
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        th_people_seen one;
        if (!th_people_notice(world, i, self, list[k], &one, oncoming)) continue;
        seen->dx[kept] = one.dx;
        seen->dy[kept] = one.dy;
        seen->vx[kept] = one.vx;
        seen->vy[kept] = one.vy;
        seen->apart[kept++] = one.apart;
    }
    int full = (kept + TH_LANES - 1) / TH_LANES * TH_LANES;
    for (int k = kept; k < full; ++k)
        seen->dx[k] = seen->dy[k] = seen->vx[k] = seen->vy[k] = seen->apart[k] = 0.0f;
    return full;
}

typedef struct lane_limits {
    th_lanes way[TH_PEOPLE_WAYS];
} lane_limits;

TH_FORMULA void look_at(const th_people_view *i, const seen_people *seen, int first,
                        lane_limits *limits) {
    const th_people_headway h = i->headway;
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) {
        th_vec2 e = th_people_way(i->e, k);
        for (int l = 0; l < TH_LANES; ++l) {
            int j = first + l;
            float allowed = th_people_allowed(&h, e, seen->dx[j], seen->dy[j], seen->vx[j],
                                              seen->vy[j], seen->apart[j]);
            limits->way[k].lane[l] = th_min(limits->way[k].lane[l], allowed);
        }
    }
}

TH_FORMULA void look_around(const th_world *world, const th_walls *walls, uint32_t self,
                            const th_people_view *i, float *limit, float *oncoming) {
    uint32_t list[TH_NEAR_MAX + 1];
    seen_people seen;
    lane_limits limits;
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
        for (int l = 0; l < TH_LANES; ++l) limits.way[k].lane[l] = TH_PEOPLE_FREE;
    th_people_around around = th_people_around_of(world, walls, self, i);
    for (int count; (count = th_people_around_next(&around, world, walls, self, i, list)) >= 0;) {
        int full = gather(world, i, self, list, count, &seen, oncoming);
        for (int first = 0; first < full; first += TH_LANES) look_at(i, &seen, first, &limits);
    }
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) {
        limit[k] = TH_PEOPLE_FREE;
        for (int l = 0; l < TH_LANES; ++l) limit[k] = th_min(limit[k], limits.way[k].lane[l]);
    }
}

TH_CLONES static void move_block(th_world *world, const th_walls *walls, uint32_t begin,
                                 uint32_t end) {
    for (uint32_t self = begin; self < end; ++self) {
        float limit[TH_PEOPLE_WAYS], oncoming = TH_PEOPLE_FREE;
        if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) continue;
        th_people_view i = th_people_view_of(world, self);
        if (i.speed > 0.0f) look_around(world, walls, self, &i, limit, &oncoming);
        th_people_take(world, walls, self, &i, limit, oncoming);
    }
}

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for schedule(static) num_threads(world->threads)
    for (int i = 0; i < count; ++i) th_people_head(&world->agents, (uint32_t)i);
#pragma omp parallel for schedule(dynamic, 1) num_threads(world->threads)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
        move_block(world, &walls, (uint32_t)begin, (uint32_t)end);
    }
}

// ---- influences on a person: the speeds allowed in each direction, the one chosen, and the agents that slow it there

// Agents that leave less than the preferred speed in direction e, and the one that leaves the least.
static void tell_people(const th_world *world, const th_walls *walls, uint32_t self,
                        const th_people_view *i, th_vec2 e, th_influences *all) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1], slowest = UINT32_MAX;
    float least = i->speed, oncoming = TH_PEOPLE_FREE;
    th_people_around around = th_people_around_of(world, walls, self, i);
    for (int count; (count = th_people_around_next(&around, world, walls, self, i, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            th_people_seen seen;
            uint32_t j = list[k];
            if (!th_people_notice(world, i, self, j, &seen, &oncoming)) continue;
            float allowed =
                th_people_allowed(&i->headway, e, seen.dx, seen.dy, seen.vx, seen.vy, seen.apart);
            if (allowed >= i->speed) continue;
            th_tell_body(all, "person in the way", th_position(a, j), a->radius[j], a->id[j]);
            slowest = allowed < least ? j : slowest;
            least = th_min(least, allowed);
        }
    if (slowest == UINT32_MAX) return;
    th_tell_body(all, "person who slows it", th_position(a, slowest), 1.2f * a->radius[slowest],
                 a->id[slowest]);
    th_tell_figure(all, "speed that this person allows", "m/s", th_max(least, 0.0f));
}

static int influences(th_world *world, int model, uint32_t self, th_influence *list, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) return 0;
    float limit[TH_PEOPLE_WAYS], oncoming = TH_PEOPLE_FREE;
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    for (int j = 0; j < world->agents.count; ++j) th_people_head(&world->agents, (uint32_t)j);
    th_people_view i = th_people_view_of(world, self);
    if (!(i.speed > 0.0f)) return 0;
    look_around(world, &walls, self, &i, limit, &oncoming);
    th_people_wish wish = th_people_wish_of(world, &walls, self, &i, limit, oncoming);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
        th_tell_vector(&all, "speed allowed", "m/s", i.p,
                       th_scale(th_min(limit[k], i.speed), th_people_way(i.e, k)), 0);
    th_tell_vector(&all, "direction chosen", "m/s", i.p, wish.chosen, 0);
    th_tell_vector(&all, "off the walls", "m/s", i.p, wish.off_walls, 0);
    th_vec2 e = th_unit(wish.chosen);
    tell_people(world, &walls, self, &i, th_length2(e) > 0.0f ? e : i.e, &all);
    th_tell_figure(&all, "time gap kept", "s", i.headway.time_gap);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    const th_people_params *p = (const th_people_params *)values;
    rules->separation_passes = (int)p->separation_passes;
    rules->depth = p->body_depth;
    rules->standing_yield = p->standing_yield;
    // Of 360 lone walkers at odd places and angles 360 pass with this; with half of it 71 of 72, with a quarter two
    // thirds: the directions that they try are too coarse to thread themselves in, it seems.
    rules->gap_clearance = 0.02f;
}

static const th_param_info params[] = {TH_PEOPLE_PARAMS(TH_PARAM_INFO)};
static const th_field_info fields[] = {
    {"waited", true, true, "how long the agent could not go on [s]"}};
const th_model th_move_people_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "people",
    .doc = "people as measured: time gap to those ahead, the direction with the most progress",
    .source = "throng, after Tordeux, Chraibi, Seyfried 2016 and Moussaid, Helbing, Theraulaz 2011",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .is_default = true,
    .body = body,
    .run = run,
    .influences = influences,
};
