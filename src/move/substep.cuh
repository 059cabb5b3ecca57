// Sub-steps on the device: what move/substep.c does for every agent at once. How fast and how far any agent went
// stays there. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_SUBSTEP_CUH
#define TH_MOVE_SUBSTEP_CUH
#include "device/model.cuh"
#include "move/substep.h"

namespace th {

// The step of a model with sub-steps, on the device. Squares are kept as their bits, which are in the same order
// because none is negative. A model that needs more derives its own and adds to begin and end.
struct substep_state {
    th_substep step;
    uint32_t fastest2, moved2;
    uint64_t repairs;

    TH_ON_GPU void begin(const th_substep &first) {
        step = first;
        fastest2 = moved2 = 0;
        repairs = 0;
    }
    TH_ON_GPU void end(th_world *world) {
        float furthest2;
        memcpy(&furthest2, &moved2, sizeof furthest2);
        th_substep_end(&step, furthest2);
        moved2 = 0;
        world->counters.repairs += repairs;
        repairs = 0;
    }
};

// For most_of_agents; not-a-numbers count as nothing, as in th_max.
TH_ON_GPU inline uint32_t square_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value > 0.0f ? bits : 0u;
}
TH_ON_GPU inline float root_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return sqrtf(value);
}

// th_substep_begin.
template <class State> void begin_substeps(th_world *host, State *s, th_substep step) {
    once(
        host, TH_LAMBDA(th_world *) { s->begin(step); });
    most_of_agents(
        host, &s->fastest2, TH_LAMBDA(th_world * world, int i) {
            return square_bits(th_substep_copy_state(world, s->step.model, (uint32_t)i));
        });
    once(
        host, TH_LAMBDA(th_world * world) {
            th_walls walls = th_world_walls(world);
            s->step.fastest = root_of(s->fastest2);
            th_substep_looks(world, &s->step, &walls);
        });
}

template <class State> void end_one_substep(th_world *host, State *s) {
    once(
        host, TH_LAMBDA(th_world * world) { s->end(world); });
}

// th_substep_advance.
template <class State> void advance_substep(th_world *host, State *s) {
    most_of_agents(
        host, &s->moved2, TH_LAMBDA(th_world * world, int i) {
            uint64_t repairs = 0;
            float moved2 = th_substep_advance_agent(world, &s->step, (uint32_t)i, &repairs);
            if (repairs) add(&s->repairs, repairs);
            return square_bits(moved2);
        });
    end_one_substep(host, s);
}

// th_substep_run. Walk has MODEL, range(world, i) and take(world, step, walls, i), which sets next_velocity of i.
template <class Walk> void run_substeps(th_world *host) {
    substep_state *s = (substep_state *)host->device_world->model_state[Walk::MODEL];
    th_substep step = th_substep_of(host, Walk::MODEL, th_substep_shortest(host, Walk::MODEL));
    begin_substeps(host, s, step);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t i = (uint32_t)k;
            th_walls walls = th_world_walls(world);
            if (s->step.looks && th_substep_own(world, Walk::MODEL, i))
                th_substep_look(world, &s->step, &walls, i, Walk::range(world, i),
                                th_substep_params_of(world, i)->line_of_sight > 0.0f);
        });
    for (int done = 0; done < step.count; ++done) {
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                th_walls walls = th_world_walls(world);
                if (th_substep_own(world, Walk::MODEL, (uint32_t)i))
                    Walk::take(world, &s->step, &walls, (uint32_t)i);
            });
        advance_substep(host, s);
    }
}
template <class Walk> bool create_substeps(th_world *host) {
    th_device_world *device = host->device_world;
    return (device->model_state[Walk::MODEL] = device->store.room<substep_state>(1)) != nullptr;
}

} // namespace th
#endif
