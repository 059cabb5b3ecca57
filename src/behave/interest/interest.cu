// Places of interest on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "device/model.cuh"

namespace th {

static void interest_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            th_interest_behave(world, &walls, (uint32_t)i);
        });
}

const device_model device_behave_interest = {.run = interest_run};

} // namespace th
