// The lattice of planners whose fields the host solves, on the device: what one thread needs to read a field.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_LATTICE_CUH
#define TH_PLAN_LATTICE_CUH
#include "device/model.cuh"
#include "plan/nodes.h"

namespace th {

// `nodes` and `graphs` begin as copies of the host's and get pointers of the device; `there` is where `nodes` will be. The
// links and portals of the graphs are room that put_graphs fills.
static inline void take_lattice(th_nodes *nodes, th_graph *graphs, const th_nodes *there, store &s,
                                const th_world *host) {
    size_t count = (size_t)nodes->count, portals = (size_t)nodes->portal_count;
    nodes->scene = host->device_world->known.scene;
    nodes->levels = s.copy(nodes->levels, (size_t)host->scene->level_count);
    nodes->flags = s.copy(nodes->flags, count);
    nodes->zone = nullptr;
    nodes->links = nullptr;
    nodes->clearance = nullptr;
    nodes->portals = nullptr;
    for (int size = 0; size < host->scene->size_count; ++size)
        graphs[size] = {there, s.room<uint8_t>(count), s.room<th_portal>(portals), nullptr,
                        nullptr};
}

// For the walls as the host has them now.
static inline bool put_graphs(const th_graph *there, const th_graph *here, const th_world *host) {
    bool good = true;
    for (int size = 0; size < host->scene->size_count; ++size) {
        const th_nodes *nodes = here[size].nodes;
        size_t portals = (size_t)nodes->portal_count;
        good = put(there[size].links, here[size].links, (size_t)nodes->count) && good;
        if (portals > 0)
            good =
                put(there[size].portals, here[size].portals, portals * sizeof(th_portal)) && good;
    }
    return good;
}

} // namespace th
#endif
