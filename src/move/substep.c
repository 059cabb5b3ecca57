// Bookkeeping of sub-steps, shared by the models that take them. SPDX-License-Identifier: Apache-2.0
#include "move/substep.h"
#include "move/headway.h"
#include "state/influences.h"
#include "state/ranks.h"

th_substep th_substep_begin(th_world *world, th_model_id model, float longest) {
    th_substep step = th_substep_of(world, model, longest);
    int count_all = world->agents.count, blocks = th_block_count(count_all);
    float fastest2 = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : fastest2)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count_all ? begin + TH_BLOCK : count_all;
        for (int i = begin; i < end; ++i) {
            fastest2 = th_max(th_substep_copy_state(world, model, (uint32_t)i), fastest2);
        }
    }
    step.fastest = th_ranks_highest(world, sqrtf(fastest2));
    return step;
}

float th_substep_meet(const th_world *world, float moved2) {
    const th_ranks *ranks = world->ranks;
    const th_agents *a = &world->agents;
    if (!ranks) return moved2;
    th_ranks_send4(world, a->substep_x, a->substep_y, a->substep_velocity_x, a->substep_velocity_y);
    for (int k = 0; k < ranks->in.count; ++k) {
        uint32_t i = ranks->in.place[k];
        if (a->phase[i] != TH_PHASE_FALLEN) moved2 = th_max(moved2, th_substep_moved2(a, i));
    }
    th_ranks_check_way(world, sqrtf(moved2));
    return moved2;
}

void th_substep_advance(th_world *world, th_substep *step) {
    int count = world->agents.count, blocks = th_block_count(count);
    float largest = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : largest) \
    reduction(+ : repairs)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
        for (int i = begin; i < end; ++i) {
            largest = th_max(th_substep_advance_agent(world, step, (uint32_t)i, &repairs), largest);
        }
    }
    world->counters.repairs += repairs;
    th_substep_end(step, th_substep_meet(world, largest));
}

static void look(th_world *world, const th_substep *step, const th_walls *walls,
                 const th_substep_walk *walk, uint32_t self) {
    th_substep_look(world, step, walls, self, walk->range(world, self),
                    th_substep_params_of(world, self)->line_of_sight > 0.0f);
}

static void look_around(th_world *world, const th_substep *step, const th_walls *walls,
                        const th_substep_walk *walk) {
    int count = world->agents.count;
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
    for (int i = 0; i < count; ++i) {
        if (th_substep_own(world, walk->model, (uint32_t)i)) {
            look(world, step, walls, walk, (uint32_t)i);
        }
    }
}

th_substep th_substep_begin_for(th_world *world, const th_substep_walk *walk, const th_walls *walls,
                                uint32_t self) {
    th_substep step = th_substep_begin(world, walk->model, th_substep_shortest(world, walk->model));
    if (th_substep_looks(world, &step, walls)) {
        look(world, &step, walls, walk, self);
    }
    return step;
}

void th_substep_run(th_world *world, const th_substep_walk *walk) {
    th_substep step = th_substep_begin(world, walk->model, th_substep_shortest(world, walk->model));
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
    if (th_substep_looks(world, &step, &walls)) {
        look_around(world, &step, &walls, walk);
    }
    while (step.done < step.count) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(world->threads)
        for (int b = 0; b < blocks; ++b) {
            int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
            walk->block(world, &step, &walls, (uint32_t)begin, (uint32_t)end);
        }
        th_substep_advance(world, &step);
    }
}

// ---- influences that the speed models share: the room ahead and the velocity it leaves

void th_headway_tell(const th_world *world, const th_substep *step, const th_walls *walls,
                     uint32_t self, th_vec2 e, float time_gap, th_influences *all) {
    const th_agents *a = &world->agents;
    float room = th_headway_least_room(world, step, walls, self, e, time_gap);
    float free_speed = th_length(th_v(a->drive_x[self], a->drive_y[self]));
    th_vec2 p = th_v(a->substep_x[self], a->substep_y[self]);
    th_tell_vector(all, "velocity by room", "m/s", p,
                   th_scale(th_headway_speed(room, time_gap, free_speed), e), 0);
    if (room > TH_HEADWAY_SIGHT) return; // no agent is ahead
    float length = a->radius[self] + th_max(room, 0.0f);
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                .name = "room ahead",
                                .unit = "m",
                                .at = th_add(p, th_scale(0.5f * length, e)),
                                .vector = th_scale(length, e),
                                .size = 2.0f * a->radius[self]});
    th_tell_figure(all, "room ahead", "m", room);
}
