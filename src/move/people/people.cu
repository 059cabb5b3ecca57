// People as measured, on the device: one thread per person. The least of the speeds allowed does not depend on the
// order in which they are looked at, so the bits are the CPU's. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/people/people.h"

namespace th {

// Blocks on a multiprocessor: 128 registers for a thread. With 3 or 8 it took a sixth longer.
enum { RESIDENT = 4 };

enum { PORTION = 32 }; // neighbours kept until they are looked at

// Looks at those of the list that are in the way. Apart from the sieve, so that the threads of a warp go through the
// long formula together.
TH_BOTH static void look_at(const th_world *world, const th_walls *walls, uint32_t self,
                            const th_people_view *i, bool hides, const uint32_t *list, int count,
                            float *limit, th_people_met *met) {
    for (int n = 0; n < count; ++n) {
        th_people_seen one;
        if (hides && th_hidden(world, walls, self, list[n])) continue;
        if (!th_people_notice(world, i, self, list[n], &one, met)) continue;
        th_people_obstacle o =
            th_people_obstacle_of(&i->headway, one.dx, one.dy, one.vx, one.vy, one.apart);
#pragma unroll
        for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
            limit[k] = th_min(limit[k], th_people_allows(&o, th_people_way(i->e, k)));
    }
}

// Looks at those between two distances that do not allow `enough`.
TH_BOTH static void look_within(const th_world *world, const th_walls *walls, uint32_t self,
                                const th_people_view *i, bool hides, float from, float range,
                                float enough, float *limit, th_people_met *met) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[self]];
    th_rows rows = th_people_rows_ahead(grid, i, range);
    const float *lead = th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_LEAD);
    const float radius = i->radius + i->headway.standing;
    uint32_t list[PORTION];
    int count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            float dx = a->position_x[j] - i->p.x, dy = a->position_y[j] - i->p.y;
            if (j == self ||
                !th_people_may_matter(&i->headway, i->e, dx, dy, a->velocity_x[j], a->velocity_y[j],
                                      a->heading_x[j], a->heading_y[j], i->lead - lead[j],
                                      radius + a->radius[j], from * from, range * range, enough))
                continue;
            list[count++] = j;
            if (count < PORTION) continue;
            look_at(world, walls, self, i, hides, list, count, limit, met);
            count = 0;
        }
    look_at(world, walls, self, i, hides, list, count, limit, met);
}

TH_BOTH static void look_around(const th_world *world, const th_walls *walls, uint32_t self,
                                const th_people_view *i, float *limit, th_people_met *met) {
    float sight = i->params->sight, close = th_min(TH_PEOPLE_CLOSE, sight);
    bool hides =
        walls->count > 0 && th_walls_maybe_near(walls, (int)world->agents.level[self], i->p);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) limit[k] = TH_PEOPLE_FREE;
    look_within(world, walls, self, i, hides, 0.0f, close, i->speed, limit, met);
    float enough = th_people_enough(i, limit);
    look_within(world, walls, self, i, hides, close, th_people_range(world, i, enough), enough,
                limit, met);
    if (world->scene->link_count == 0) return;
    uint32_t list[TH_LINKED_MAX];
    int count = th_linked_neighbours(world, self, sight, list, TH_LINKED_MAX);
    look_at(world, walls, self, i, false, list, count, limit, met);
}

static void people_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) { th_people_show(world, (uint32_t)k); });
    for_each_agent_resident<RESIDENT>(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t self = (uint32_t)k;
            if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) return;
            th_walls walls = th_world_walls(world);
            float limit[TH_PEOPLE_WAYS];
            th_people_met met = th_people_met_none();
            th_people_view i = th_people_view_of(world, &walls, self);
            if (i.speed > 0.0f) look_around(world, &walls, self, &i, limit, &met);
            th_people_take(world, &walls, self, &i, limit, met);
        });
}

const device_model device_move_people = {.run = people_run};

} // namespace th
