// Social force on the device: one thread per person. The
// neighbours of a portion are listed, then taken in sixteen rows one after the other, each with sums of its own,
// because the CPU adds them up so: the order decides the bits. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/social_force/social_force.h"
#include "move/substep.cuh"

namespace th {

TH_BOTH static th_social_force_sum press_of_people(const th_world *world, const th_substep *step,
                                                   const th_walls *walls, uint32_t self,
                                                   const th_pressed_person *i) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_lanes push_x = {{0.0f}}, push_y = push_x, drag_xx = push_x, drag_xy = push_x,
             drag_yy = push_x;
    th_social_force_sum total = {{0.0f, 0.0f}, 0.0f, 0.0f, 0.0f};
    float range = th_social_force_range_of(world, self);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        int coincident = 0;
        TH_ROLLED for (int l = 0; l < TH_LANES && l < count; ++l) {
            th_social_force_sum sum = {{push_x.lane[l], push_y.lane[l]},
                                       drag_xx.lane[l],
                                       drag_xy.lane[l],
                                       drag_yy.lane[l]};
            TH_ROLLED for (int k = l; k < count; k += TH_LANES) {
                uint32_t j = list[k];
                th_social_force_add(&sum, th_social_force_of_agent(
                                              i, i->params, a->substep_x[j], a->substep_y[j],
                                              a->substep_velocity_x[j], a->substep_velocity_y[j],
                                              a->radius[j], &coincident));
            }
            push_x.lane[l] = sum.push.x;
            push_y.lane[l] = sum.push.y;
            drag_xx.lane[l] = sum.drag_xx;
            drag_xy.lane[l] = sum.drag_xy;
            drag_yy.lane[l] = sum.drag_yy;
        }
        if (coincident) th_social_force_push_coincident(a, i, self, list, count, &total);
    }
    th_social_force_add(&total, {{th_lanes_sum(&push_x), th_lanes_sum(&push_y)},
                                 th_lanes_sum(&drag_xx),
                                 th_lanes_sum(&drag_xy),
                                 th_lanes_sum(&drag_yy)});
    return total;
}

TH_ON_GPU inline void social_force_move(th_world *world, const th_substep *step,
                                        const th_walls *walls, uint32_t self) {
    th_pressed_person i = th_pressed_person_of(world, self);
    th_social_force_take(world, step, walls, self, &i,
                         press_of_people(world, step, walls, self, &i));
}

static void social_force_run(th_world *host) {
    substep_state *s = (substep_state *)host->device_world->model_state[TH_MOVE_SOCIAL_FORCE];
    bool drive_changes;
    th_substep step =
        th_substep_of(host, TH_MOVE_SOCIAL_FORCE, th_social_force_substep(host, &drive_changes));
    begin_substeps(host, s, step);
    if (drive_changes)
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                th_walls walls = th_world_walls(world);
                if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i))
                    th_social_force_change_drive(world, &s->step, &walls, (uint32_t)i);
            });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t i = (uint32_t)k;
            th_walls walls = th_world_walls(world);
            if (s->step.looks && th_substep_own(world, TH_MOVE_SOCIAL_FORCE, i))
                th_substep_look(world, &s->step, &walls, i, th_social_force_range_of(world, i),
                                th_social_force_params_of(world, i)->line_of_sight > 0.0f);
        });
    for (int done = 0; done < step.count; ++done) {
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                th_walls walls = th_world_walls(world);
                if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i))
                    social_force_move(world, &s->step, &walls, (uint32_t)i);
            });
        advance_substep(host, s);
    }
}

static bool social_force_create(th_world *host) {
    th_device_world *device = host->device_world;
    return (device->model_state[TH_MOVE_SOCIAL_FORCE] = device->store.room<substep_state>(1)) !=
           nullptr;
}

const device_model device_move_social_force = {.create = social_force_create,
                                               .run = social_force_run};

} // namespace th
