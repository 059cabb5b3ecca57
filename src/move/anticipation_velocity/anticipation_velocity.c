// Anticipation velocity: the loop over people. Cost per sub-step O(people x neighbours within 3 m), twice: for the way and
// for the room along it. SPDX-License-Identifier: Apache-2.0
#include "move/anticipation_velocity/anticipation_velocity.h"

static float range(const th_world *world, uint32_t self) {
    (void)world;
    (void)self;
    return TH_HEADWAY_SIGHT;
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_ANTICIPATION_VELOCITY, i))
            th_anticipation_velocity_take(world, step, walls, i);
}

static void run(th_world *world, int model) {
    (void)model;
    static const th_substep_walk walk = {TH_MOVE_ANTICIPATION_VELOCITY, range, block};
    th_substep_run(world, &walk);
}

static const th_field_info fields[] = {
    {.name = "direction_x", .is_float = true, .hashed = true, .doc = "direction of walking"},
    {.name = "direction_y", .is_float = true, .hashed = true, .doc = "direction of walking"}};
static const th_param_info params[] = {TH_ANTICIPATION_VELOCITY_PARAMS(TH_PARAM_INFO)};
TH_ANTICIPATION_VELOCITY_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_ANTICIPATION_VELOCITY_PRESETS(TH_PRESET_INFO)};
const th_model th_move_anticipation_velocity_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "anticipation_velocity",
    .doc = "speed by the room ahead and a time gap, way by where others will be",
    .source = TH_XCS21,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .run = run,
};
