// Universal power law: the loop over people. Cost per sub-step O(people x neighbours within `sight`).
// SPDX-License-Identifier: Apache-2.0
#include "move/power_law/power_law.h"

static float range(const th_world *world, uint32_t self) {
    return th_power_law_params_of(world, self)->sight;
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_POWER_LAW, i)) th_power_law_take(world, step, walls, i);
}

static void run(th_world *world, int model) {
    (void)model;
    static const th_substep_walk walk = {TH_MOVE_POWER_LAW, range, block};
    th_substep_run(world, &walk);
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
    .run = run,
};
