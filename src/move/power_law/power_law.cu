// Universal power law on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/power_law/power_law.h"
#include "move/substep.cuh"

namespace th {

struct power_law_walk {
    static constexpr th_model_id MODEL = TH_MOVE_POWER_LAW;
    TH_ON_GPU static float range(const th_world *world, uint32_t i) {
        return th_power_law_params_of(world, i)->sight;
    }
    TH_ON_GPU static void take(th_world *world, const th_substep *step, const th_walls *walls,
                               uint32_t i) {
        th_power_law_take(world, step, walls, i);
    }
};

const device_model device_move_power_law = {.create = create_substeps<power_law_walk>,
                                            .run = run_substeps<power_law_walk>};

} // namespace th
