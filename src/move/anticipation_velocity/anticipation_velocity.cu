// Anticipation velocity on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/anticipation_velocity/anticipation_velocity.h"
#include "move/substep.cuh"

namespace th {

struct anticipation_velocity_walk {
    static constexpr th_model_id MODEL = TH_MOVE_ANTICIPATION_VELOCITY;
    TH_ON_GPU static float range(const th_world *, uint32_t) { return TH_HEADWAY_SIGHT; }
    TH_ON_GPU static void take(th_world *world, const th_substep *step, const th_walls *walls,
                               uint32_t i) {
        th_anticipation_velocity_take(world, step, walls, i);
    }
};

const device_model device_move_anticipation_velocity = {
    .create = create_substeps<anticipation_velocity_walk>,
    .run = run_substeps<anticipation_velocity_walk>};

} // namespace th
