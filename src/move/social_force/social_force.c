// Social force, Helbing-Farkas-Vicsek 2000: the loop over people. Cost per sub-step O(people x
// neighbours within about 1.2 m). Every pair is computed from both sides, so nobody writes to another's
// sums. Model and deviations: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#include "move/social_force/social_force.h"
#include "formula/random.h"
#include "move/substep.h"

TH_BOTH static const th_social_force_params *social_force_params_of(const th_world *world,
                                                                    uint32_t i) {
    return (const th_social_force_params *)(const void *)world->groups[world->agents.group[i]]
        .move_params;
}

// What the loop over neighbours needs of person i.
typedef struct pressed_person {
    const th_social_force_params *params;
    float x, y, radius;
    float inverse_distance, reach; // 1/B and where forces end
} pressed_person;

// The force of somebody at (x, y) with velocity (vx, vy); none of who is at i's very place, which *coincident tells.
TH_FORMULA th_social_force_sum force_of(const pressed_person *i, const th_social_force_params *p,
                                        float x, float y, float vx, float vy, float radius,
                                        int *coincident) {
    float dx = i->x - x, dy = i->y - y;
    float d = sqrtf(dx * dx + dy * dy);
    float inverse =
        d > TH_COINCIDENT ? 1.0f / d : 0.0f; // the pushes of the coincident are added later
    *coincident |= d > TH_COINCIDENT ? 0 : 1;
    return th_social_force_of(p, i->inverse_distance, i->reach, th_v(dx * inverse, dy * inverse),
                              (i->radius + radius) - d, th_v(vx, vy));
}

#ifndef TH_DEVICE_CODE // the CPU's vectors
typedef struct lane_sums {
    th_lanes push_x, push_y, drag_xx, drag_xy, drag_yy;
    int coincident[TH_LANES];
} lane_sums;

TH_FORMULA void add_neighbours(const pressed_person *i, const th_gathered *others, int first,
                               lane_sums *sums) {
    const th_social_force_params p = *i->params;
    for (int l = 0; l < TH_LANES; ++l) {
        int k = first + l;
        int coincident = 0;
        th_social_force_sum f = force_of(i, &p, others->x[k], others->y[k], others->vx[k],
                                         others->vy[k], others->radius[k], &coincident);
        sums->push_x.lane[l] += f.push.x;
        sums->push_y.lane[l] += f.push.y;
        sums->drag_xx.lane[l] += f.drag_xx;
        sums->drag_xy.lane[l] += f.drag_xy;
        sums->drag_yy.lane[l] += f.drag_yy;
        sums->coincident[l] |= coincident;
    }
}
#endif

TH_FORMULA void add_force(th_social_force_sum *sum, th_social_force_sum f) {
    sum->push = th_add(sum->push, f.push);
    sum->drag_xx += f.drag_xx;
    sum->drag_xy += f.drag_xy;
    sum->drag_yy += f.drag_yy;
}

// Those at i's very place push in a direction drawn from both ids, opposite for the two.
TH_BOTH static void push_coincident(const th_agents *a, const pressed_person *i, uint32_t self,
                                    const uint32_t *list, int count, th_social_force_sum *sum) {
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        float dx = i->x - a->substep_x[j], dy = i->y - a->substep_y[j];
        float d = sqrtf(dx * dx + dy * dy);
        if (d > TH_COINCIDENT) {
            continue;
        }
        th_social_force_sum f = th_social_force_of(
            i->params, i->inverse_distance, i->reach, th_pair_direction(a->id[self], a->id[j]),
            (i->radius + a->radius[j]) - d,
            th_v(a->substep_velocity_x[j], a->substep_velocity_y[j]));
        add_force(sum, f);
    }
}

TH_BOTH static void press_of_walls(const th_walls *walls, int level, const pressed_person *i,
                                   th_social_force_sum *sum) {
    enum { POINTS = 16 };
    th_vec2 points[POINTS], position = th_v(i->x, i->y);
    int count = th_wall_points(walls, level, position, i->radius + i->reach, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(position, points[k]);
        float d = th_length(away);
        if (d <= TH_COINCIDENT) {
            continue;
        } // on the wall: the contact stage decides
        th_social_force_sum f =
            th_social_force_of(i->params, i->inverse_distance, i->reach, th_scale(1.0f / d, away),
                               i->radius - d, th_v(0, 0));
        add_force(sum, f);
    }
}

// Bodies' centres farther apart than this feel nothing of each other [m].
TH_BOTH static float social_force_range_of(const th_world *world, uint32_t self) {
    return world->agents.radius[self] + world->max_radius +
           th_social_force_reach(social_force_params_of(world, self));
}

#ifndef TH_DEVICE_CODE // the CPU's vectors
TH_FORMULA void add_list(const th_agents *a, const pressed_person *i, uint32_t self,
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
        push_coincident(a, i, self, list, count, total);
        for (int l = 0; l < TH_LANES; ++l) {
            sums->coincident[l] = 0;
        }
    }
}

TH_FORMULA th_social_force_sum press_of_people(const th_world *world, const th_substep *step,
                                               const th_walls *walls, uint32_t self,
                                               const pressed_person *i) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    lane_sums sums = {0};
    th_social_force_sum total = {0};
    float range = social_force_range_of(world, self);
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

#else
// src/cuda/forces.cuh: one by one, with the sums in the same order.
TH_BOTH static th_social_force_sum press_of_people(const th_world *world, const th_substep *step,
                                                   const th_walls *walls, uint32_t self,
                                                   const pressed_person *i);
#endif

// Own person's velocity after the sub-step, into next_velocity.
TH_FORMULA void social_force_one(th_world *world, const th_substep *step, const th_walls *walls,
                                 uint32_t self) {
    th_agents *a = &world->agents;
    const th_social_force_params *p = social_force_params_of(world, self);
    pressed_person i = {p,
                        a->substep_x[self],
                        a->substep_y[self],
                        a->radius[self],
                        1.0f / p->repulsion_distance,
                        th_social_force_reach(p)};
    th_social_force_sum sum = press_of_people(world, step, walls, self, &i);
    int level = (int)a->level[self];
    if (walls->count > 0 && th_walls_maybe_near(walls, level, th_v(i.x, i.y))) {
        press_of_walls(walls, level, &i, &sum);
    }
    th_vec2 drive = th_v(a->drive_x[self], a->drive_y[self]);
    th_vec2 v = th_social_force_velocity(
        p, a->mass[self], th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]), drive,
        &sum, step->h);
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void force_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  uint32_t begin, uint32_t end) {
    for (uint32_t self = begin; self < end; ++self) {
        if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, self)) {
            social_force_one(world, step, walls, self);
        }
    }
}
#endif

// Mean direction that the people around want to go; (0, 0) when nobody there wants anything.
TH_BOTH static th_vec2 neighbours_direction(const th_world *world, const th_substep *step,
                                            const th_walls *walls, uint32_t self, float radius) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    float x = a->position_x[self], y = a->position_y[self];
    th_vec2 sum = th_v(0, 0);
    th_near near = th_near_begin(world, step, a->level[self], x, y, radius);
    bool hides = walls->count > 0 && social_force_params_of(world, self)->line_of_sight > 0.0f;
    for (bool more = true; more;) {
        int count = th_near_next(&near, a->position_x, a->position_y, self, x, y, radius, list);
        more = count == TH_NEAR_MAX;
        if (hides) {
            count = th_drop_hidden(world, walls, self, list, count);
        }
        for (int k = 0; k < count; ++k) {
            sum = th_add(sum, th_unit(th_v(a->preferred_x[list[k]], a->preferred_y[list[k]])));
        }
    }
    return th_unit(sum);
}

// Herding and impatience, once per step: changes the drive that th_substep_begin has set.
TH_BOTH static void change_drive(th_world *world, const th_substep *step, const th_walls *walls,
                                 uint32_t i) {
    th_agents *a = &world->agents;
    const th_social_force_params *p = social_force_params_of(world, i);
    th_vec2 drive = th_v(a->drive_x[i], a->drive_y[i]);
    float speed = th_length(drive);
    if (speed <= 0.0f) {
        return;
    }
    th_vec2 e = th_scale(1.0f / speed, drive);
    if (p->herding > 0.0f) {
        th_vec2 theirs = neighbours_direction(world, step, walls, i, p->herding_radius);
        th_vec2 mixed =
            th_unit(th_add(th_scale(1.0f - p->herding, e), th_scale(p->herding, theirs)));
        e = th_length2(mixed) > 0.0f ? mixed : e;
    }
    speed =
        th_social_force_impatient_speed(speed, th_dot(th_velocity(a, i), e), p->impatient_speed);
    a->drive_x[i] = speed * e.x;
    a->drive_y[i] = speed * e.y;
}

// The shortest sub-step that a group asks for; whether any of them herds or grows impatient.
static float social_force_substep(const th_world *world, bool *drive_changes) {
    float shortest = world->dt;
    *drive_changes = false;
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move != TH_MOVE_SOCIAL_FORCE || world->groups[g].scripted) {
            continue;
        }
        const th_social_force_params *p =
            (const th_social_force_params *)(const void *)world->groups[g].move_params;
        shortest = th_min(shortest, p->substep);
        *drive_changes |= p->herding > 0.0f || p->impatient_speed > 0.0f;
    }
    return shortest;
}

#ifndef TH_DEVICE_CODE // the CPU's loops
static void run(th_world *world, int model) {
    (void)model;
    bool drive_changes;
    float shortest = social_force_substep(world, &drive_changes);
    th_substep step = th_substep_begin(world, TH_MOVE_SOCIAL_FORCE, shortest);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
    if (drive_changes) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, (uint32_t)i)) {
                change_drive(world, &step, &walls, (uint32_t)i);
            }
        }
    }
    if (th_substep_looks(world, &step, &walls)) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            uint32_t self = (uint32_t)i;
            if (th_substep_own(world, TH_MOVE_SOCIAL_FORCE, self)) {
                th_substep_look(world, &step, &walls, self, social_force_range_of(world, self),
                                social_force_params_of(world, self)->line_of_sight > 0.0f);
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
    .run = run,
};
#endif
