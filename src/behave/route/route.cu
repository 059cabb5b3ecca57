// Routes on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "behave/route/route.h"
#include "device/model.cuh"
#include "world/measure.h"

namespace th {

static void route_run(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) { th_route_behave(world, i); });
}

// Times of waiting begin with the step, as on the CPU: the clock goes on after all agents have arrived.
template <bool routes> void arrive_people(th_world *host) {
    sums *s = host->device_world->sums;
    happened *events = host->device_world->events;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (th_route_arrive(world, i, routes) == 0) return;
            add(&s->step.left, 1);
            th_exit_count *exit = &world->exits[world->agents.exit[i]];
            add(&exit->left, (uint64_t)1);
            exit->last_time = -1.0; // in this step; the measure stage sets the time
            add(&world->counters.left_digest, th_leaving_digest(world, (uint32_t)i));
            uint32_t at = add(&s->event_count, 1u);
            if (at < th_event_max(world))
                events[at] = {world->step_count, (uint32_t)i + 1, world->agents.id[i],
                              TH_EVENT_LEFT, (int)world->agents.exit[i]};
        });
}

static void route_arrive(th_world *host) {
    if (host->scene->target_count > 0)
        arrive_people<true>(host);
    else
        arrive_people<false>(host);
}

const device_model device_behave_route = {.run = route_run, .arrive = route_arrive};

} // namespace th
