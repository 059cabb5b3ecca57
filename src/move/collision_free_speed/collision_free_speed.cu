// Collision-free speed on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/collision_free_speed/collision_free_speed.h"
#include "move/substep.cuh"

namespace th {

struct collision_free_speed_walk {
    static constexpr th_model_id MODEL = TH_MOVE_COLLISION_FREE_SPEED;
    TH_ON_GPU static float range(const th_world *world, uint32_t i) {
        return th_collision_free_speed_range(world, i);
    }
    TH_ON_GPU static void take(th_world *world, const th_substep *step, const th_walls *walls,
                               uint32_t i) {
        th_collision_free_speed_take(world, step, walls, i);
    }
};

const device_model device_move_collision_free_speed = {
    .create = create_substeps<collision_free_speed_walk>,
    .run = run_substeps<collision_free_speed_walk>};

} // namespace th
