// Social force, Helbing-Molnar 1995: the loop over people. Cost per sub-step O(people x neighbours
// within about 5 m): people keep clear of the steps that others are about to make. Model and
// deviations: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#include "move/helbing_molnar/helbing_molnar.h"
#include "formula/random.h"
#include "move/substep.h"

TH_BOTH static const th_helbing_molnar_params *helbing_molnar_params_of(const th_world *world,
                                                                        uint32_t group) {
    return (const th_helbing_molnar_params *)(const void *)world->groups[group].move_params;
}

// What the loop over neighbours needs of person i.
typedef struct looking_person {
    const th_helbing_molnar_params *params;
    float x, y;
    float inverse_distance; // 1/sigma
    th_vec2 looks;          // unit, or (0, 0): all around
    float cos_sight;
} looking_person;

// The weighted push of somebody at (x, y) with velocity (vx, vy); none of who is at i's very place, which
// *coincident tells.
TH_FORMULA th_vec2 push_of(const looking_person *i, const th_helbing_molnar_params *p, float x,
                           float y, float vx, float vy, int *coincident) {
    th_vec2 r = th_v(i->x - x, i->y - y);
    th_vec2 step = th_v(p->step_time * vx, p->step_time * vy);
    th_vec2 f = th_helbing_molnar_repulsion(p, i->inverse_distance, r, step);
    float weight = th_helbing_molnar_weight(i->cos_sight, p->rear_weight, i->looks, f);
    bool apart = r.x * r.x + r.y * r.y > TH_COINCIDENT * TH_COINCIDENT;
    weight = apart ? weight : 0.0f; // the pushes of the coincident are added later
    *coincident |= apart ? 0 : 1;
    return th_v(weight * f.x, weight * f.y);
}

#ifndef TH_DEVICE_CODE // the CPU's vectors
typedef struct lane_sums {
    th_lanes x, y;
    int coincident[TH_LANES];
} lane_sums;

TH_FORMULA void add_neighbours(const looking_person *i, const th_gathered *others, int first,
                               lane_sums *sums) {
    const th_helbing_molnar_params p = *i->params;
    for (int l = 0; l < TH_LANES; ++l) {
        int k = first + l;
        int coincident = 0;
        th_vec2 push =
            push_of(i, &p, others->x[k], others->y[k], others->vx[k], others->vy[k], &coincident);
        sums->x.lane[l] += push.x;
        sums->y.lane[l] += push.y;
        sums->coincident[l] |= coincident;
    }
}
#endif

// Those at i's very place push as hard as touching people who stand, each pair in opposite directions.
TH_BOTH static th_vec2 coincident_push(const th_agents *a, const looking_person *i, uint32_t self,
                                       const uint32_t *list, int count) {
    th_vec2 sum = th_v(0, 0);
    for (int k = 0; k < count; ++k) {
        float dx = i->x - a->substep_x[list[k]], dy = i->y - a->substep_y[list[k]];
        if (dx * dx + dy * dy > TH_COINCIDENT * TH_COINCIDENT) {
            continue;
        }
        sum = th_add(sum, th_scale(i->params->repulsion_strength * i->inverse_distance,
                                   th_pair_direction(a->id[self], a->id[list[k]])));
    }
    return sum;
}

// People farther away than this are not felt [m].
TH_BOTH static float helbing_molnar_range_of(const th_helbing_molnar_params *p, float top_speed) {
    return th_helbing_molnar_range(
        p, th_min(p->step_time * top_speed, TH_HELBING_MOLNAR_LONGEST_STEP));
}

#ifndef TH_DEVICE_CODE // the CPU's vectors
TH_FORMULA th_vec2 neighbours_push(const th_world *world, const th_substep *step,
                                   const th_walls *walls, uint32_t self, const looking_person *i,
                                   float range) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    th_gathered others;
    lane_sums sums = {0};
    th_vec2 total = th_v(0, 0);
    th_felt felt = th_felt_begin(world, step, self, i->x, i->y, range);
    for (int count;
         (count = th_felt_next(&felt, world, step, walls, self, i->x, i->y, range, list)) >= 0;) {
        int full = th_gather(a, list, count, i->x, &others), coincident = 0;
        for (int first = 0; first < full; first += TH_LANES) {
            add_neighbours(i, &others, first, &sums);
        }
        for (int l = 0; l < TH_LANES; ++l) {
            coincident |= sums.coincident[l];
            sums.coincident[l] = 0;
        }
        if (coincident) {
            total = th_add(total, coincident_push(a, i, self, list, count));
        }
    }
    return th_add(total, th_v(th_lanes_sum(&sums.x), th_lanes_sum(&sums.y)));
}

#else
// src/cuda/forces.cuh: one by one, with the sums in the same order.
TH_BOTH static th_vec2 neighbours_push(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t self,
                                       const looking_person *i, float range);
#endif

TH_BOTH static th_vec2 walls_push(const th_walls *walls, int level, const looking_person *i) {
    enum { POINTS = 16 };
    th_vec2 points[POINTS], position = th_v(i->x, i->y), sum = th_v(0, 0);
    // U0/R e^-10 = 0.002 m/s2 with the published values; the wall grid answers 2 m at once.
    float range = th_min(10.0f * i->params->wall_distance, 2.0f);
    int count = th_wall_points(walls, level, position, range, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(position, points[k]);
        float d = th_length(away);
        if (d <= TH_COINCIDENT) {
            continue;
        } // on the wall: the contact stage decides
        sum = th_add(sum, th_helbing_molnar_wall(i->params, th_scale(1.0f / d, away), d));
    }
    return sum;
}

// HM95's fluctuation term, uniform with the given standard deviation, the same during a step.
TH_BOTH static th_vec2 noise_push(const th_world *world, uint32_t id, float deviation) {
    th_random4 random = th_philox(world->seed, TH_STREAM_FORCE_NOISE, id, world->step_count);
    float width =
        3.46410162f * deviation; // sqrt(12): a uniform of width w has deviation w / sqrt(12)
    return th_v(width * (th_uniform(random.v[0]) - 0.5f), width * (th_uniform(random.v[1]) - 0.5f));
}

// Cosine of half the angle of view.
TH_FORMULA float cos_sight_of(const th_helbing_molnar_params *p) {
    double sine, cosine;
    th_sincos_turn((double)p->sight_angle / 720.0, &sine, &cosine);
    return (float)cosine;
}

// Own person's velocity after the sub-step, into next_velocity.
TH_FORMULA void helbing_molnar_one(th_world *world, const th_substep *step, const th_walls *walls,
                                   const th_helbing_molnar_params *p, float cos_sight,
                                   float top_speed, uint32_t self) {
    th_agents *a = &world->agents;
    th_vec2 drive = th_v(a->drive_x[self], a->drive_y[self]);
    th_vec2 looks = th_unit(drive);
    looking_person i = {p,
                        a->substep_x[self],
                        a->substep_y[self],
                        1.0f / p->repulsion_distance,
                        looks,
                        th_length2(looks) > 0.0f ? cos_sight : -1.0f};
    th_vec2 push =
        neighbours_push(world, step, walls, self, &i, helbing_molnar_range_of(p, top_speed));
    int level = (int)a->level[self];
    if (walls->count > 0 && th_walls_maybe_near(walls, level, th_v(i.x, i.y))) {
        push = th_add(push, walls_push(walls, level, &i));
    }
    if (p->noise > 0.0f) {
        push = th_add(push, noise_push(world, a->id[self], p->noise));
    }
    th_vec2 v = th_helbing_molnar_velocity(
        p, th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]), drive, push,
        a->speed[self], step->h);
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void force_block(th_world *world, const th_substep *step, const th_walls *walls,
                                  float top_speed, uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    uint32_t group = UINT32_MAX;
    const th_helbing_molnar_params *p = NULL;
    float cos_group = -1.0f;
    for (uint32_t self = begin; self < end; ++self) {
        if (!th_substep_own(world, TH_MOVE_HELBING_MOLNAR, self)) {
            continue;
        }
        if (a->group[self] != group) {
            group = a->group[self];
            p = helbing_molnar_params_of(world, group);
            cos_group = cos_sight_of(p);
        }
        helbing_molnar_one(world, step, walls, p, cos_group, top_speed, self);
    }
}
#endif

// Nobody's squared speed is higher during the step: what it is now, or the model's limit.
TH_FORMULA float highest_speed2(const th_world *world, uint32_t i) {
    const th_agents *a = &world->agents;
    float now2 = th_length2(th_velocity(a, i)), limit = 0.0f;
    if (th_substep_own(world, TH_MOVE_HELBING_MOLNAR, i)) {
        limit = helbing_molnar_params_of(world, a->group[i])->max_speed_factor * a->speed[i];
    }
    return th_max(now2, limit * limit);
}

static float helbing_molnar_substep(const th_world *world) {
    float shortest = world->dt;
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move == TH_MOVE_HELBING_MOLNAR && !world->groups[g].scripted) {
            shortest = th_min(shortest, helbing_molnar_params_of(world, (uint32_t)g)->substep);
        }
    }
    return shortest;
}

#ifndef TH_DEVICE_CODE // the CPU's loops
static float highest_speed(const th_world *world) {
    const th_agents *a = &world->agents;
    float highest2 = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : highest2)
    for (int i = 0; i < a->count; ++i) {
        highest2 = th_max(highest_speed2(world, (uint32_t)i), highest2);
    }
    return sqrtf(highest2);
}

static void run(th_world *world, int model) {
    (void)model;
    float shortest = helbing_molnar_substep(world);
    float top_speed = highest_speed(world);
    th_substep step = th_substep_begin(world, TH_MOVE_HELBING_MOLNAR, shortest);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
    if (th_substep_looks(world, &step, &walls)) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
        for (int i = 0; i < count; ++i) {
            if (th_substep_own(world, TH_MOVE_HELBING_MOLNAR, (uint32_t)i)) {
                const th_helbing_molnar_params *p =
                    helbing_molnar_params_of(world, world->agents.group[i]);
                th_substep_look(world, &step, &walls, (uint32_t)i,
                                helbing_molnar_range_of(p, top_speed), p->line_of_sight > 0.0f);
            }
        }
    }
    while (step.done < step.count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(world->threads)
        for (int b = 0; b < blocks; ++b) {
            int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
            force_block(world, &step, &walls, top_speed, (uint32_t)begin, (uint32_t)end);
        }
        th_substep_advance(world, &step);
    }
}

static const th_param_info params[] = {TH_HELBING_MOLNAR_PARAMS(TH_PARAM_INFO)};
TH_HELBING_MOLNAR_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_HELBING_MOLNAR_PRESETS(TH_PRESET_INFO)};
const th_model th_move_helbing_molnar_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "helbing_molnar",
    .doc = "social forces with elliptic potentials and a field of view",
    .source = "Helbing, Molnar 1995",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .run = run,
};
#endif
