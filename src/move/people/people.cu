// People as measured, on the device: one thread per person. The least of the speeds allowed does not depend on the
// order in which they are looked at, so the bits are the CPU's. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/people/people.h"

namespace th {

// Blocks on a multiprocessor: 128 registers for a thread. With 3 or 8 it took a sixth longer.
enum { RESIDENT = 4 };
// Those nearer than this are looked at first [m]: in a crowd they leave so little that few of the others can matter.
constexpr float CLOSE = 1.2f;

// Leaves out those behind and brings the close ones to the front of the list; how many of either.
TH_BOTH static int close_first(const th_world *world, const th_people_view *i, uint32_t *list,
                               int count, int *close) {
    int kept = 0;
    *close = 0;
    for (int n = 0; n < count; ++n) {
        uint32_t j = list[n];
        float dx = world->agents.position_x[j] - i->p.x, dy = world->agents.position_y[j] - i->p.y;
        if (!th_people_is_ahead(i, dx, dy)) continue;
        list[kept++] = j;
        if (dx * dx + dy * dy >= CLOSE * CLOSE) continue;
        list[kept - 1] = list[*close];
        list[(*close)++] = j;
    }
    return kept;
}

// Agents that may be in the way and leave less than `enough`, to the front of the list; how many. Apart from look_at,
// so that the threads of a warp go through the long formula together.
TH_BOTH static int keep_limiting(const th_world *world, uint32_t self, const th_people_view *i,
                                 uint32_t *list, int count, float enough, float *oncoming) {
    int kept = 0;
    for (int n = 0; n < count; ++n) {
        th_people_seen one;
        if (th_people_notice(world, i, self, list[n], &one, oncoming) &&
            th_people_may_limit(&i->headway, one.dx, one.dy, one.vx, one.vy, one.apart, enough))
            list[kept++] = list[n];
    }
    return kept;
}

TH_BOTH static void look_at(const th_world *world, uint32_t self, const th_people_view *i,
                            const uint32_t *list, int count, float *limit, float *oncoming) {
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

TH_BOTH static void look_around(const th_world *world, const th_walls *walls, uint32_t self,
                                const th_people_view *i, float *limit, float *oncoming) {
    uint32_t list[TH_NEAR_MAX + 1];
    th_people_around around = th_people_around_of(world, walls, self, i);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) limit[k] = TH_PEOPLE_FREE;
    for (int count; (count = th_people_around_next(&around, world, walls, self, i, list)) >= 0;) {
        int close;
        count = close_first(world, i, list, count, &close);
        for (int part = 0; part < 2; ++part) {
            uint32_t *some = part ? list + close : list;
            int kept = keep_limiting(world, self, i, some, part ? count - close : close,
                                     th_people_enough(i, limit), oncoming);
            look_at(world, self, i, some, kept, limit, oncoming);
        }
    }
}

static void people_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) { th_people_head(&world->agents, (uint32_t)k); });
    for_each_agent_resident<RESIDENT>(
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
