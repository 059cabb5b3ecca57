// The measure stage: who left, who crossed which line; the clock goes on. Areas are measured when
// asked. SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "formula/segment.h"
#include "world/world.h"
#include <math.h>

// Storage order is the same for any thread count, so the list of events is too.
static void report_leaving(th_world *world) {
    const th_agents *agents = &world->agents;
    for (int i = 0; i < agents->count; ++i) {
        if (agents->phase[i] != TH_PHASE_LEFT) continue;
        uint64_t who = th_hash_add(agents->id[i], world->step_count);
        world->counters.left_digest += th_hash_add(who, agents->route_step[i]);
        th_push_event(world, (th_event){.kind = TH_EVENT_LEFT,
                                        .time = world->time,
                                        .index = (int)agents->route_step[i],
                                        .agent = {agents->id[i]}});
    }
    world->counters.left += (uint64_t)world->left_in_step;
    world->counters.last_left_time = world->time;
    world->left_in_step = 0;
}

static void count_line(th_world *world, int l) {
    const th_agents *agents = &world->agents;
    const th_line *line = &world->scene->measure_lines[l].line;
    int forward = 0, backward = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : forward, backward)
    for (int i = 0; i < agents->count; ++i) {
        if (agents->level[i] != (uint32_t)line->level || agents->phase[i] == TH_PHASE_BODY ||
            agents->phase[i] == TH_PHASE_REMOVED)
            continue;
        th_vec2 before = {agents->next_position_x[i], agents->next_position_y[i]};
        int side = th_segment_crossing(before, th_position(agents, (uint32_t)i), line->a, line->b);
        forward += side > 0;
        backward += side < 0;
    }
    if (forward + backward == 0) return;
    th_line_count *result = &world->lines[l];
    if (result->forward + result->backward == 0) result->first_time = world->time;
    result->last_time = world->time;
    result->forward += (uint64_t)forward;
    result->backward += (uint64_t)backward;
}

void th_stage_measure(th_world *world) {
    world->step_count++;
    world->time = (double)world->step_count * world->step_length;
    for (int l = 0; l < world->scene->measure_line_count; ++l) count_line(world, l);
    if (world->left_in_step > 0) report_leaving(world);
    uint64_t per_second = (uint64_t)(1.0f / world->dt + 0.5f);
    if (world->step_count % (per_second > 0 ? per_second : 1) == 0) {
        th_statistics sample = {0};
        th_sample_overlaps(world, &sample);
        world->counters.wall_crossings += th_count_in_solids(world);
    }
}

int th_world_line_count(const th_world *world) { return world->scene->measure_line_count; }
th_line_count th_world_line(const th_world *world, int line) { return world->lines[line]; }
int th_world_area_count(const th_world *world) { return world->scene->measure_area_count; }

th_area_state th_world_area(const th_world *world, int area) {
    const th_measure_area *measured = &world->scene->measure_areas[area];
    const th_agents *agents = &world->agents;
    th_area_state state = {.id = measured->id, .area = measured->walkable_area};
    double speed = 0.0;
    for (int i = 0; i < agents->count; ++i) {
        if (agents->level[i] != (uint32_t)measured->area.level || agents->phase[i] >= TH_PHASE_BODY)
            continue;
        if (!th_polygons_contain(&measured->area.shape, th_position(agents, (uint32_t)i))) continue;
        state.count++;
        speed += sqrt((double)th_length2(th_velocity(agents, (uint32_t)i)));
    }
    if (state.count > 0) state.mean_speed = speed / state.count;
    if (state.area > 0.0) state.density = state.count / state.area;
    return state;
}
