// Social force and Helbing-Molnar on the device (move/social_force.c, helbing_molnar.c): a thread a person. The
// neighbours of a portion are listed, then taken in sixteen rows one after the other, each with sums of its own,
// because the CPU adds them up so: the order decides the bits. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_FORCES_CUH
#define TH_CUDA_FORCES_CUH
#include "cuda/substep.cuh"

TH_BOTH static th_social_force_sum press_of_people(const th_world *world, const th_substep *step,
                                                   const th_walls *walls, uint32_t self,
                                                   const pressed_person *i) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_lanes push_x = {{0.0f}}, push_y = push_x, drag_xx = push_x, drag_xy = push_x, drag_yy = push_x;
    th_social_force_sum total = {{0.0f, 0.0f}, 0.0f, 0.0f, 0.0f};
    float range = social_force_range_of(world, self);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        int coincident = 0;
        TH_ROLLED for (int l = 0; l < TH_LANES && l < count; ++l) {
            th_social_force_sum sum = {{push_x.lane[l], push_y.lane[l]}, drag_xx.lane[l], drag_xy.lane[l],
                                       drag_yy.lane[l]};
            TH_ROLLED for (int k = l; k < count; k += TH_LANES) {
                uint32_t j = list[k];
                add_force(&sum, force_of(i, i->params, a->substep_x[j], a->substep_y[j], a->substep_velocity_x[j],
                                         a->substep_velocity_y[j], a->radius[j], &coincident));
            }
            push_x.lane[l] = sum.push.x;
            push_y.lane[l] = sum.push.y;
            drag_xx.lane[l] = sum.drag_xx;
            drag_xy.lane[l] = sum.drag_xy;
            drag_yy.lane[l] = sum.drag_yy;
        }
        if (coincident) push_coincident(a, i, self, list, count, &total);
    }
    add_force(&total, {{th_lanes_sum(&push_x), th_lanes_sum(&push_y)},
                       th_lanes_sum(&drag_xx),
                       th_lanes_sum(&drag_xy),
                       th_lanes_sum(&drag_yy)});
    return total;
}

TH_BOTH static th_vec2 neighbours_push(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t self,
                                       const looking_person *i, float range) {
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
                sum = th_add(sum, push_of(i, i->params, a->substep_x[j], a->substep_y[j], a->substep_velocity_x[j],
                                          a->substep_velocity_y[j], &coincident));
            }
            x.lane[l] = sum.x;
            y.lane[l] = sum.y;
        }
        if (coincident) total = th_add(total, coincident_push(a, i, self, list, count));
    }
    return th_add(total, th_v(th_lanes_sum(&x), th_lanes_sum(&y)));
}

namespace th {

static void move_social_force(th_world *host) {
    moving *s = host->cuda->moving;
    bool drive_changes;
    th_substep step =
        th_substep_of(host, TH_MOVE_SOCIAL_FORCE, social_force_substep(host, &drive_changes));
    begin_substeps(host, step);
    if (drive_changes)
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i))
                change_drive(world, &s->step, &walls, (uint32_t)i);
        });
    everybody(host, TH_LAMBDA(th_world * world, int k) {
        uint32_t i = (uint32_t)k;
        th_walls walls = th_world_walls(world);
        if (s->step.looks && th_substep_own(world, TH_MOVE_SOCIAL_FORCE, i))
            th_substep_look(world, &s->step, &walls, i, social_force_range_of(world, i),
                            social_force_params_of(world, i)->line_of_sight > 0.0f);
    });
    for (int done = 0; done < step.count; ++done) {
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i))
                social_force_one(world, &s->step, &walls, (uint32_t)i);
        });
        advance_substep(host);
    }
}

static void move_helbing_molnar(th_world *host) {
    moving *s = host->cuda->moving;
    th_substep step = th_substep_of(host, TH_MOVE_HELBING_MOLNAR, helbing_molnar_substep(host));
    begin_substeps(host, step);
    everybody_most(host, &s->top_speed2, TH_LAMBDA(th_world * world, int i) {
        return square_bits(highest_speed2(world, (uint32_t)i));
    });
    everybody(host, TH_LAMBDA(th_world * world, int k) {
        uint32_t i = (uint32_t)k;
        th_walls walls = th_world_walls(world);
        if (!s->step.looks || !th_substep_own(world, TH_MOVE_HELBING_MOLNAR, i)) return;
        const th_helbing_molnar_params *p =
            helbing_molnar_params_of(world, world->agents.group[i]);
        th_substep_look(world, &s->step, &walls, i,
                        helbing_molnar_range_of(p, root_of(s->top_speed2)),
                        p->line_of_sight > 0.0f);
    });
    for (int done = 0; done < step.count; ++done) {
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (!th_substep_own(world, TH_MOVE_HELBING_MOLNAR, (uint32_t)i)) return;
            const th_helbing_molnar_params *p =
                helbing_molnar_params_of(world, world->agents.group[i]);
            helbing_molnar_one(world, &s->step, &walls, p, cos_sight_of(p),
                               root_of(s->top_speed2), (uint32_t)i);
        });
        advance_substep(host);
    }
}

} // namespace th
#endif
