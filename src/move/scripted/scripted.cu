// Scripted people and bodies on the device. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/scripted/scripted.h"

namespace th {

static void scripted_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) { th_scripted_move(world, i); });
}

const device_model device_move_scripted = {.run = scripted_run};

} // namespace th
