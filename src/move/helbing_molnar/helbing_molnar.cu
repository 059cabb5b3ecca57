// Helbing-Molnar on the device: one thread per person. The
// neighbours of a portion are listed, then taken in sixteen rows one after the other, each with sums of its own,
// because the CPU adds them up so: the order decides the bits. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/helbing_molnar/helbing_molnar.h"
#include "move/substep.cuh"

namespace th {

struct helbing_molnar_state : substep_state {
    uint32_t top_speed2; // no agent's square will be larger

    TH_ON_GPU void begin(const th_substep &first) {
        substep_state::begin(first);
        top_speed2 = 0;
    }
};

TH_BOTH static th_vec2 neighbours_push(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t self,
                                       const th_looking_person *i, float range) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_lanes x = {{0.0f}}, y = x;
    th_vec2 total = th_v(0.0f, 0.0f);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        int coincident = 0;
        TH_ROLLED for (int l = 0; l < TH_LANES && l < count; ++l) {
            th_vec2 sum = th_v(x.lane[l], y.lane[l]);
            TH_ROLLED for (int k = l; k < count; k += TH_LANES) {
                uint32_t j = list[k];
                sum =
                    th_add(sum, th_helbing_molnar_push_of(i, i->params, a->substep_x[j],
                                                          a->substep_y[j], a->substep_velocity_x[j],
                                                          a->substep_velocity_y[j], &coincident));
            }
            x.lane[l] = sum.x;
            y.lane[l] = sum.y;
        }
        if (coincident)
            total = th_add(total, th_helbing_molnar_coincident_push(a, i, self, list, count));
    }
    return th_add(total, th_v(th_lanes_sum(&x), th_lanes_sum(&y)));
}

static void helbing_molnar_run(th_world *host) {
    helbing_molnar_state *s =
        (helbing_molnar_state *)host->device_world->model_state[TH_MOVE_HELBING_MOLNAR];
    th_substep step = th_substep_of(host, TH_MOVE_HELBING_MOLNAR, th_helbing_molnar_substep(host));
    begin_substeps(host, s, step);
    most_of_agents(
        host, &s->top_speed2, TH_LAMBDA(th_world * world, int i) {
            return square_bits(th_helbing_molnar_highest_speed2(world, (uint32_t)i));
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t i = (uint32_t)k;
            th_walls walls = th_world_walls(world);
            if (!s->step.looks || !th_substep_own(world, TH_MOVE_HELBING_MOLNAR, i)) return;
            const th_helbing_molnar_params *p =
                th_helbing_molnar_params_of(world, world->agents.group[i]);
            th_substep_look(world, &s->step, &walls, i,
                            th_helbing_molnar_range_of(p, root_of(s->top_speed2)),
                            p->line_of_sight > 0.0f);
        });
    for (int done = 0; done < step.count; ++done) {
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                th_walls walls = th_world_walls(world);
                if (!th_substep_own(world, TH_MOVE_HELBING_MOLNAR, (uint32_t)i)) return;
                const th_helbing_molnar_params *p =
                    th_helbing_molnar_params_of(world, world->agents.group[i]);
                th_looking_person self =
                    th_looking_person_of(world, p, th_helbing_molnar_cos_sight(p), (uint32_t)i);
                th_vec2 push =
                    neighbours_push(world, &s->step, &walls, (uint32_t)i, &self,
                                    th_helbing_molnar_range_of(p, root_of(s->top_speed2)));
                th_helbing_molnar_take(world, &s->step, &walls, (uint32_t)i, &self, push);
            });
        advance_substep(host, s);
    }
}

static bool helbing_molnar_create(th_world *host) {
    th_device_world *device = host->device_world;
    return (device->model_state[TH_MOVE_HELBING_MOLNAR] =
                device->store.room<helbing_molnar_state>(1)) != nullptr;
}

const device_model device_move_helbing_molnar = {.create = helbing_molnar_create,
                                                 .run = helbing_molnar_run};

} // namespace th
