// HiDAC on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/hidac/hidac.h"

namespace th {

static void hidac_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (th_substep_own(world, TH_MOVE_HIDAC, (uint32_t)i))
                th_hidac_step(world, &walls, (uint32_t)i);
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            int more = th_hidac_lie_down(world, (uint32_t)i);
            if (more != 0) add(&world->counters.fallen, (uint64_t)(int64_t)more);
            if (more > 0) add(&world->counters.falls, (uint64_t)1);
        });
}

const device_model device_move_hidac = {.run = hidac_run};

} // namespace th
