// Collision-free speed: the loop over people. Cost per sub-step O(people x neighbours within 2 m), twice: for the way and
// for the room along it. SPDX-License-Identifier: Apache-2.0
#include "move/collision_free_speed/collision_free_speed.h"

static float range(const th_world *world, uint32_t self) {
    return th_collision_free_speed_range(world, self);
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_COLLISION_FREE_SPEED, i))
            th_collision_free_speed_take(world, step, walls, i);
}

static void run(th_world *world, int model) {
    (void)model;
    static const th_substep_walk walk = {TH_MOVE_COLLISION_FREE_SPEED, range, block};
    th_substep_run(world, &walk);
}

static const th_param_info params[] = {TH_COLLISION_FREE_SPEED_PARAMS(TH_PARAM_INFO)};
TH_COLLISION_FREE_SPEED_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_COLLISION_FREE_SPEED_PRESETS(TH_PRESET_INFO)};
const th_model th_move_collision_free_speed_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "collision_free_speed",
    .doc = "speed by the room ahead and a time gap, way by repulsion",
    .source = TH_TCS16,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .run = run,
};
