// Social force, Helbing-Molnar 1995: the loop over people. Cost per sub-step O(people x neighbours
// within about 5 m): people keep clear of the steps that others are about to make. Model and
// deviations: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#include "move/helbing_molnar/helbing_molnar.h"
#include "state/influences.h"
#include "state/ranks.h"

typedef struct lane_sums {
    th_lanes x, y;
    int coincident[TH_LANES];
} lane_sums;

TH_FORMULA void add_neighbours(const th_looking_person *i, const th_gathered *others, int first,
                               lane_sums *sums) {
    const th_helbing_molnar_params p = *i->params;
    for (int l = 0; l < TH_LANES; ++l) {
        int k = first + l;
        int coincident = 0;
        th_vec2 push = th_helbing_molnar_push_of(i, &p, others->x[k], others->y[k], others->vx[k],
                                                 others->vy[k], &coincident);
        sums->x.lane[l] += push.x;
        sums->y.lane[l] += push.y;
        sums->coincident[l] |= coincident;
    }
}

TH_FORMULA th_vec2 neighbours_push(const th_world *world, const th_substep *step,
                                   const th_walls *walls, uint32_t self, const th_looking_person *i,
                                   float range) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_gathered others;
    lane_sums sums = {0};
    th_vec2 total = th_v(0, 0);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        int full = th_gather(a, list, count, i->x, &others), coincident = 0;
        for (int first = 0; first < full; first += TH_LANES) {
            add_neighbours(i, &others, first, &sums);
        }
        for (int l = 0; l < TH_LANES; ++l) {
            coincident |= sums.coincident[l];
            sums.coincident[l] = 0;
        }
        if (coincident) {
            total = th_add(total, th_helbing_molnar_coincident_push(a, i, self, list, count));
        }
    }
    return th_add(total, th_v(th_lanes_sum(&sums.x), th_lanes_sum(&sums.y)));
}

TH_CLONES static void force_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  float top_speed, uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    uint32_t group = UINT32_MAX;
    const th_helbing_molnar_params *p = NULL;
    float cos_group = -1.0f;
    for (uint32_t self = begin; self < end; ++self) {
        if (!th_substep_own(world, TH_MOVE_HELBING_MOLNAR, self)) {
            continue;
        }
        if (a->group[self] != group) {
            group = a->group[self];
            p = th_helbing_molnar_params_of(world, group);
            cos_group = th_helbing_molnar_cos_sight(p);
        }
        th_looking_person i = th_looking_person_of(world, p, cos_group, self);
        th_vec2 push =
            neighbours_push(world, step, walls, self, &i, th_helbing_molnar_range_of(p, top_speed));
        th_helbing_molnar_take(world, step, walls, self, &i, push);
    }
}

static float highest_speed(const th_world *world) {
    const th_agents *a = &world->agents;
    float highest2 = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : highest2)
    for (int i = 0; i < a->count; ++i) {
        highest2 = th_max(th_helbing_molnar_highest_speed2(world, (uint32_t)i), highest2);
    }
    return th_ranks_highest(world, sqrtf(highest2));
}

static void run(th_world *world, int model) {
    (void)model;
    float shortest = th_helbing_molnar_substep(world);
    float top_speed = highest_speed(world);
    th_substep step = th_substep_begin(world, TH_MOVE_HELBING_MOLNAR, shortest);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
    if (th_substep_looks(world, &step, &walls)) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            if (th_substep_own(world, TH_MOVE_HELBING_MOLNAR, (uint32_t)i)) {
                const th_helbing_molnar_params *p =
                    th_helbing_molnar_params_of(world, world->agents.group[i]);
                th_substep_look(world, &step, &walls, (uint32_t)i,
                                th_helbing_molnar_range_of(p, top_speed), p->line_of_sight > 0.0f);
            }
        }
    }
    while (step.done < step.count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(world->threads)
        for (int b = 0; b < blocks; ++b) {
            int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
            force_block(world, &step, &walls, top_speed, (uint32_t)begin, (uint32_t)end);
        }
        th_substep_advance(world, &step);
    }
}

// ---- influences on a person: accelerations, for its mass is 1

static void tell_people(const th_world *world, const th_substep *step, const th_walls *walls,
                        uint32_t self, const th_looking_person *i, float range,
                        th_influences *all) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            uint32_t j = list[k];
            int coincident = 0;
            th_vec2 push = th_helbing_molnar_push_of(i, i->params, a->substep_x[j], a->substep_y[j],
                                                     a->substep_velocity_x[j],
                                                     a->substep_velocity_y[j], &coincident);
            if (th_length2(push) > 0.0f)
                th_tell_vector(all, "push of a person", "m/s2", th_v(i->x, i->y), push, a->id[j]);
        }
}

static int influences(th_world *world, int model, uint32_t self, th_influence *list, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_HELBING_MOLNAR, self)) return 0;
    const th_agents *a = &world->agents;
    const th_helbing_molnar_params *p = th_helbing_molnar_params_of(world, a->group[self]);
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    float range = th_helbing_molnar_range_of(p, highest_speed(world));
    th_substep step =
        th_substep_begin(world, TH_MOVE_HELBING_MOLNAR, th_helbing_molnar_substep(world));
    if (th_substep_looks(world, &step, &walls))
        th_substep_look(world, &step, &walls, self, range, p->line_of_sight > 0.0f);
    th_looking_person i = th_looking_person_of(world, p, th_helbing_molnar_cos_sight(p), self);
    th_vec2 at = th_v(i.x, i.y);
    th_vec2 lacking = th_sub(th_v(a->drive_x[self], a->drive_y[self]), th_velocity(a, self));
    th_tell_vector(&all, "drive", "m/s2", at, th_scale(1.0f / p->relaxation_time, lacking), 0);
    tell_people(world, &step, &walls, self, &i, range, &all);
    if (walls.count > 0)
        th_tell_vector(&all, "push of walls", "m/s2", at,
                       th_helbing_molnar_walls_push(&walls, (int)a->level[self], &i), 0);
    if (p->noise > 0.0f)
        th_tell_vector(&all, "fluctuation", "m/s2", at,
                       th_helbing_molnar_noise(world, a->id[self], p->noise), 0);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_helbing_molnar_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    (void)world;
    return th_helbing_molnar_range((const th_helbing_molnar_params *)(const void *)values,
                                   TH_HELBING_MOLNAR_LONGEST_STEP);
}

static const th_param_info params[] = {TH_HELBING_MOLNAR_PARAMS(TH_PARAM_INFO)};
TH_HELBING_MOLNAR_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_HELBING_MOLNAR_PRESETS(TH_PRESET_INFO)};
const th_model th_move_helbing_molnar_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "helbing_molnar",
    .doc = "social forces with elliptic potentials and a field of view",
    .source = "Helbing, Molnar 1995",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
};
