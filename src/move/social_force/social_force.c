// Social force, Helbing-Farkas-Vicsek 2000: the loop over people. Cost per sub-step O(people x
// neighbours within about 1.2 m). Every pair is computed from both sides, so no thread writes to another agent's
// sums. Model and deviations: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#include "move/social_force/social_force.h"
#include "state/influences.h"

typedef struct lane_sums {
    th_lanes push_x, push_y, drag_xx, drag_xy, drag_yy;
    int coincident[TH_LANES];
} lane_sums;

TH_FORMULA void add_neighbours(const th_pressed_person *i, const th_gathered *others, int first,
                               lane_sums *sums) {
    const th_social_force_params p = *i->params;
    for (int l = 0; l < TH_LANES; ++l) {
        int k = first + l;
        int coincident = 0;
        th_social_force_sum f =
            th_social_force_of_agent(i, &p, others->x[k], others->y[k], others->vx[k],
                                     others->vy[k], others->radius[k], &coincident);
        sums->push_x.lane[l] += f.push.x;
        sums->push_y.lane[l] += f.push.y;
        sums->drag_xx.lane[l] += f.drag_xx;
        sums->drag_xy.lane[l] += f.drag_xy;
        sums->drag_yy.lane[l] += f.drag_yy;
        sums->coincident[l] |= coincident;
    }
}

TH_FORMULA void add_list(const th_agents *a, const th_pressed_person *i, uint32_t self,
                         const uint32_t *list, int count, lane_sums *sums,
                         th_social_force_sum *total) {
    th_gathered others;
    int full = th_gather(a, list, count, i->x, &others), coincident = 0;
    for (int first = 0; first < full; first += TH_LANES) {
        add_neighbours(i, &others, first, sums);
    }
    for (int l = 0; l < TH_LANES; ++l) {
        coincident |= sums->coincident[l];
    }
    if (coincident) {
        th_social_force_push_coincident(a, i, self, list, count, total);
        for (int l = 0; l < TH_LANES; ++l) {
            sums->coincident[l] = 0;
        }
    }
}

TH_FORMULA th_social_force_sum press_of_people(const th_world *world, const th_substep *step,
                                               const th_walls *walls, uint32_t self,
                                               const th_pressed_person *i) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    lane_sums sums = {0};
    th_social_force_sum total = {0};
    float range = th_social_force_range_of(world, self);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        add_list(a, i, self, list, count, &sums, &total);
    }
    total.push.x += th_lanes_sum(&sums.push_x);
    total.push.y += th_lanes_sum(&sums.push_y);
    total.drag_xx += th_lanes_sum(&sums.drag_xx);
    total.drag_xy += th_lanes_sum(&sums.drag_xy);
    total.drag_yy += th_lanes_sum(&sums.drag_yy);
    return total;
}

TH_CLONES static void force_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  uint32_t begin, uint32_t end) {
    for (uint32_t self = begin; self < end; ++self) {
        if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, self)) {
            th_pressed_person i = th_pressed_person_of(world, self);
            th_social_force_take(world, step, walls, self, &i,
                                 press_of_people(world, step, walls, self, &i));
        }
    }
}

static void run(th_world *world, int model) {
    (void)model;
    bool drive_changes;
    float shortest = th_social_force_substep(world, &drive_changes);
    th_substep step = th_substep_begin(world, TH_MOVE_SOCIAL_FORCE, shortest);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
    if (drive_changes) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i)) {
                th_social_force_change_drive(world, &step, &walls, (uint32_t)i);
            }
        }
    }
    if (th_substep_looks(world, &step, &walls)) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            uint32_t self = (uint32_t)i;
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, self)) {
                th_substep_look(world, &step, &walls, self, th_social_force_range_of(world, self),
                                th_social_force_params_of(world, self)->line_of_sight > 0.0f);
            }
        }
    }
    while (step.done < step.count) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(world->threads)
        for (int b = 0; b < blocks; ++b) {
            int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
            force_block(world, &step, &walls, (uint32_t)begin, (uint32_t)end);
        }
        th_substep_advance(world, &step);
    }
}

// ---- influences on a person: the forces on it

static void tell_people(const th_world *world, const th_substep *step, const th_walls *walls,
                        uint32_t self, const th_pressed_person *i, th_influences *all) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_vec2 p = th_v(i->x, i->y), v = th_velocity(a, self);
    float range = th_social_force_range_of(world, self);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            uint32_t j = list[k];
            int coincident = 0;
            th_social_force_sum f = th_social_force_of_agent(
                i, i->params, a->substep_x[j], a->substep_y[j], a->substep_velocity_x[j],
                a->substep_velocity_y[j], a->radius[j], &coincident);
            th_tell_vector(all, "force of a person", "N", p, th_social_force_at(&f, v), a->id[j]);
        }
}

static int influences(th_world *world, int model, uint32_t self, th_influence *list, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_SOCIAL_FORCE, self)) return 0;
    th_agents *a = &world->agents;
    th_influences all = {list, 0, max};
    bool drive_changes;
    float shortest = th_social_force_substep(world, &drive_changes);
    th_substep step = th_substep_begin(world, TH_MOVE_SOCIAL_FORCE, shortest);
    th_walls walls = th_world_walls(world);
    if (drive_changes) th_social_force_change_drive(world, &step, &walls, self);
    if (th_substep_looks(world, &step, &walls))
        th_substep_look(world, &step, &walls, self, th_social_force_range_of(world, self),
                        th_social_force_params_of(world, self)->line_of_sight > 0.0f);
    th_pressed_person i = th_pressed_person_of(world, self);
    th_vec2 p = th_v(i.x, i.y), v = th_velocity(a, self);
    th_vec2 lacking = th_sub(th_v(a->drive_x[self], a->drive_y[self]), v);
    th_tell_vector(&all, "drive", "N", p,
                   th_scale(a->mass[self] / i.params->relaxation_time, lacking), 0);
    tell_people(world, &step, &walls, self, &i, &all);
    th_social_force_sum of_walls = {0};
    if (walls.count > 0) th_social_force_of_walls(&walls, (int)a->level[self], &i, &of_walls);
    th_tell_vector(&all, "force of walls", "N", p, th_social_force_at(&of_walls, v), 0);
    return all.count;
}

// Only k g of the radial forces is a contact force; A e^(overlap/B) acts before bodies touch.
static float contact_force(const float *values, float overlap) {
    return ((const th_social_force_params *)(const void *)values)->body_stiffness * overlap;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_social_force_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    return 2.0f * world->max_radius +
           th_social_force_reach((const th_social_force_params *)(const void *)values);
}

static const th_param_info params[] = {TH_SOCIAL_FORCE_PARAMS(TH_PARAM_INFO)};
TH_SOCIAL_FORCE_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_SOCIAL_FORCE_PRESETS(TH_PRESET_INFO)};
const th_model th_move_social_force_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "social_force",
    .doc = "social and contact forces, integrated in sub-steps",
    .source = "Helbing, Farkas, Vicsek 2000",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .body = body,
    .run = run,
    .reach = reach,
    .contact_force = contact_force,
    .influences = influences,
};
