// Universal power law: the loop over people. Cost per sub-step O(people x neighbours within `sight`).
// SPDX-License-Identifier: Apache-2.0
#include "move/power_law/power_law.h"
#include "state/influences.h"

static float range(const th_world *world, uint32_t self) {
    return th_power_law_params_of(world, self)->sight;
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_POWER_LAW, i)) th_power_law_take(world, step, walls, i);
}

static const th_substep_walk walk = {TH_MOVE_POWER_LAW, range, block};

static void run(th_world *world, int model) {
    (void)model;
    th_substep_run(world, &walk);
}

// Influences on a person: accelerations, of its own drive, of every agent it is going to meet and of walls.
static int influences(th_world *world, int model, uint32_t self, th_influence *told, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_POWER_LAW, self)) return 0;
    const th_agents *a = &world->agents;
    const th_power_law_params *params = th_power_law_params_of(world, self);
    th_influences all = {told, 0, max};
    th_walls walls = th_world_walls(world);
    th_substep step = th_substep_begin_for(world, &walk, &walls, self);
    th_vec2 p = th_position(a, self);
    th_vec2 lacking = th_sub(th_v(a->drive_x[self], a->drive_y[self]), th_velocity(a, self));
    th_tell_vector(&all, "drive", "m/s2", p, th_scale(1.0f / params->relaxation_time, lacking), 0);
    uint32_t list[TH_NEAR_MAX + 1];
    th_felt felt = th_felt_begin(world, &step, self, p.x, p.y, params->sight);
    for (int count; (count = th_felt_next(&felt, world, &step, &walls, self, p.x, p.y,
                                          params->sight, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            th_vec2 push = th_power_law_push_of(world, self, list[k]);
            if (th_length2(push) > 0.0f) // the others are not going to meet it
                th_tell_vector(&all, "push of a person", "m/s2", p, push, a->id[list[k]]);
        }
    th_tell_vector(&all, "push of walls", "m/s2", p, th_power_law_of_walls(world, &walls, self), 0);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_power_law_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    (void)world;
    return ((const th_power_law_params *)(const void *)values)->sight;
}

static const th_param_info params[] = {TH_POWER_LAW_PARAMS(TH_PARAM_INFO)};
TH_POWER_LAW_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_POWER_LAW_PRESETS(TH_PRESET_INFO)};
const th_model th_move_power_law_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "power_law",
    .doc = "forces by the time to a collision",
    .source = TH_KSG14,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
};
