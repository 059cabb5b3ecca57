// The measure stage on the device (world/measure.c): arrivals, lines, overlaps.
// SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "world/measure.h"

namespace th {

void sample_overlaps(th_world *host) {
    sums *s = host->device_world->sums;
    once(
        host, TH_LAMBDA(th_world *) {
            s->overlapping = s->pairs_twice = s->in_solids = 0;
            s->deepest = 0;
        });
    most_of_agents(
        host, &s->deepest, TH_LAMBDA(th_world * world, int i) {
            if ((uint32_t)i >= world->index.cell_start[world->index.cell_count]) return 0u;
            if (world->agents.phase[i] >= TH_PHASE_BODY) return 0u;
            int deep;
            float depth = th_overlaps_of(world, (uint32_t)i, 2.0f * world->max_moved, &deep);
            uint32_t bits;
            memcpy(&bits, &depth, sizeof bits);
            if (deep > 0) {
                add(&s->overlapping, (uint64_t)1);
                add(&s->pairs_twice, (uint64_t)deep);
            }
            return bits;
        });
    once(
        host, TH_LAMBDA(th_world * world) {
            float deepest;
            memcpy(&deepest, &s->deepest, sizeof deepest);
            world->counters.largest_overlap = th_max(world->counters.largest_overlap, deepest);
        });
}

// Sets the times of the exits through which an agent left in this step.
static void time_exits(th_world *host) {
    const step_sums *s = &host->device_world->sums->step;
    if (host->scene->goal_count == 0) return;
    once(
        host, TH_LAMBDA(th_world * world) {
            for (int g = 0; s->left > 0 && g < world->scene->goal_count; ++g) {
                th_exit_count *exit = &world->exits[g];
                if (!(exit->last_time < 0.0)) continue;
                exit->last_time = world->time;
                if (!(exit->first_time > 0.0)) exit->first_time = world->time;
            }
        });
}

static void count_lines(th_world *host) {
    if (th_counted_line_count(host->scene) == 0) return;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            for (int l = 0; l < th_counted_line_count(world->scene); ++l) {
                int side =
                    th_line_crossing(&world->agents, th_counted_line(world->scene, l), (uint32_t)i);
                if (side == 0) continue;
                th_line_count *line = &world->lines[l];
                add(side > 0 ? &line->forward : &line->backward, (uint64_t)1);
                line->last_time = -1.0; // crossed in this step; the time is set below
            }
        });
    once(
        host, TH_LAMBDA(th_world * world) {
            for (int l = 0; l < th_counted_line_count(world->scene); ++l) {
                th_line_count *line = &world->lines[l];
                if (!(line->last_time < 0.0)) continue;
                line->last_time = world->time;
                if (!(line->first_time > 0.0)) line->first_time = world->time;
            }
        });
}

void stage_measure(th_world *host) {
    const step_sums *s = &host->device_world->sums->step;
    each_model_of(host, TH_STAGE_BEHAVE, [&](const device_model *model) {
        if (model->arrive) model->arrive(host);
    });
    once(
        host, TH_LAMBDA(th_world * world) {
            world->time = (double)world->step_count * world->step_length;
            world->counters.left += (uint64_t)s->left;
            if (s->left > 0) world->counters.last_left_time = world->time;
        });
    time_exits(host);
    count_lines(host);
    if (host->step_count % th_steps_per_second(host) != 0) return;
    sample_overlaps(host);
    if (open_ground(host)) return;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_walls walls = th_world_walls(world);
            if (th_in_solid(world, &walls, i)) add(&world->counters.wall_crossings, (uint64_t)1);
        });
}

} // namespace th
