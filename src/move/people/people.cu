// People as measured, on the device: one thread per person. The least of the speeds allowed does not depend on the
// order in which they are looked at, so the bits are the CPU's. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/people/people.h"

namespace th {

TH_BOTH static void look_around(const th_world *world, const th_walls *walls, uint32_t self,
                                const th_people_view *i, float *limit, float *oncoming) {
    uint32_t list[TH_NEAR_MAX + 1];
    th_people_around around = th_people_around_of(world, walls, self, i);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) limit[k] = TH_PEOPLE_FREE;
    for (int count; (count = th_people_around_next(&around, world, walls, self, i, list)) >= 0;)
        for (int n = 0; n < count; ++n) {
            th_people_seen one;
            if (!th_people_notice(world, i, self, list[n], &one, oncoming)) continue;
#pragma unroll
            for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
                limit[k] =
                    th_min(limit[k], th_people_allowed(&i->headway, th_people_way(i->e, k), one.dx,
                                                       one.dy, one.vx, one.vy, one.apart));
        }
}

static void people_run(th_world *host) {
    everybody(
        host, TH_LAMBDA(th_world * world, int k) { th_people_head(&world->agents, (uint32_t)k); });
    everybody(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t self = (uint32_t)k;
            if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) return;
            th_walls walls = th_world_walls(world);
            float limit[TH_PEOPLE_WAYS], oncoming = TH_PEOPLE_FREE;
            th_people_view i = th_people_view_of(world, self);
            if (i.speed > 0.0f) look_around(world, &walls, self, &i, limit, &oncoming);
            th_people_take(world, &walls, self, &i, limit, oncoming);
        });
}

const device_model device_move_people = {.run = people_run};

} // namespace th
