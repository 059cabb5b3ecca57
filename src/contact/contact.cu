// The contact stage on the device (contact.c): what is not finite is repaired, people and walls are kept apart.
// SPDX-License-Identifier: Apache-2.0
#include "contact/contact.h"
#include "device/model.cuh"

namespace th {

TH_BOTH static th_push_sum pushes_on(const th_world *world, const th_walls *walls,
                                     const th_separation *now, uint32_t i) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    th_push_sum push = {{0.0f, 0.0f}, 0, 0.0f};
    th_rows rows =
        th_rows_around(grid, th_v(now->from_x[i], now->from_y[i]), th_contact_reach(world, now, i));
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j)
            th_contact_add_push_of(world, walls, now, i, j, &push);
    th_contact_add_linked_pushes(world, walls, now, i, &push);
    return push;
}

// In the last pass on open ground a pushed agent gets the velocity it really moved with; elsewhere walls come first.
template <bool open> void separate_people(th_world *host, int pass, bool last) {
    const step_sums *s = &host->device_world->sums->step;
    th_agents *agents = &host->device_world->known.agents;
    th_separation known = th_separation_of(agents, pass, 0.0f);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            float furthest2;
            memcpy(&furthest2, &s->furthest, sizeof furthest2);
            th_separation now = known;
            now.moved = sqrtf(furthest2) + (float)pass * 0.5f * world->max_radius;
            th_push_sum push = {{0.0f, 0.0f}, 0, 0.0f};
            bool looks = th_contact_looks(world, &now, (uint32_t)i);
            if (looks) push = pushes_on(world, open ? nullptr : &walls, &now, (uint32_t)i);
            th_contact_take_push(world, &now, (uint32_t)i, looks, &push);
            if (open && last && world->agents.contact_flags[i] & TH_CONTACT_WAS_PUSHED)
                th_contact_take_real_velocity(world, (uint32_t)i,
                                              th_position(&world->agents, (uint32_t)i),
                                              th_v(now.to_x[i], now.to_y[i]));
        });
    th_contact_take_pass(agents);
}

// Fetches the counts of earlier stages, and the arrays that passes and commit have swapped. The step is
// over except for the agents that arrive in it.
static void end_contact(th_world *host, int passes) {
    const step_sums *s = &host->device_world->sums->step;
    th_contact_commit(&host->device_world->known.agents);
    th_agents agents = agents_on_device(host);
    once(
        host, TH_LAMBDA(th_world * world) {
            float furthest2;
            memcpy(&furthest2, &s->furthest, sizeof furthest2);
            int count = world->agents.count;
            world->agents = agents;
            world->agents.count = count;
            world->counters.unreachable = s->unreachable;
            world->counters.repairs += s->repairs;
            world->counters.wall_stops += s->stops;
            world->max_moved =
                sqrtf(furthest2) + (float)passes * 0.5f * world->max_radius + world->max_radius;
            world->step_count++;
        });
}

void stage_contact(th_world *host) {
    step_sums *s = &host->device_world->sums->step;
    most_of_agents(
        host, &s->furthest, TH_LAMBDA(th_world * world, int i) {
            int repairs = 0;
            float moved2 = th_contact_repair(world, i, &repairs);
            uint32_t bits;
            memcpy(&bits, &moved2, sizeof bits); // never negative: bits are in the same order
            if (repairs) add(&s->repairs, (uint64_t)repairs);
            return bits;
        });
    int passes = th_contact_pair_passes(host);
    bool open = open_ground(host);
    for (int pass = 0; pass < passes; ++pass) {
        if (open)
            separate_people<true>(host, pass, pass + 1 == passes);
        else
            separate_people<false>(host, pass, pass + 1 == passes);
    }
    // Walls are held against the result of the last pass; after two passes the arrays are where they were.
    if (!open && passes % 2 == 1)
        once(
            host, TH_LAMBDA(th_world * world) { th_contact_take_pass(&world->agents); });
    if (!open)
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                th_walls walls = th_world_walls(world);
                if (th_contact_keep_out_of_walls(world, &walls, i, passes > 0))
                    add(&s->stops, (uint64_t)1);
            });
    end_contact(host, passes);
}

} // namespace th
