// DenseSense on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "filter/densesense/densesense.h"

namespace th {

// Five blocks on a multiprocessor: with more registers a thread it would be four.
static void densesense_run(th_world *host) {
    for_each_agent(
        host,
        TH_LAMBDA(th_world * world, int i) { th_densesense_note_heading(world, (uint32_t)i); });
    for_each_agent_resident<5>(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_densesense_filters(world, i)) return;
            th_walls walls = th_world_walls(world);
            th_densesense_walker who;
            th_densesense_around list;
            th_densesense_take_group(&who, &world->groups[world->agents.group[i]]);
            if (!th_densesense_take_person(world, &walls, &who, i)) return;
            if (!who.all) {
                th_nearest nearest;
                th_nearest_by_insertion(world, who.self, who.params->density_range,
                                        (int)who.params->density_neighbours, &nearest);
                th_densesense_list_nearest(&who, &nearest, &list);
            }
            th_densesense_filter(world, &who, &list);
        });
}

const device_model device_filter_none = {};
const device_model device_filter_densesense = {.run = densesense_run};

} // namespace th
