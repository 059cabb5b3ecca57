// The step: a table of stages, walked in order. SPDX-License-Identifier: Apache-2.0
#include "contact/bodies.h"
#include "core/parallel.h"
#include "core/system/system.h"
#include "state/device.h"
#include "state/ranks.h"
#include "state/world.h"
#include "world/world.h"

// Runs the models of a stage in use, one after the other; each handles its own agents.
static void run_models(th_world *world, th_stage stage) {
    for (int k = 0; k < world->stage_model_count[stage]; ++k) {
        int m = world->stage_models[stage][k];
        const th_model *model = th_models(NULL)[m];
        if (model->agent)
            th_run_agents(world, m);
        else if (model->run)
            model->run(world, m);
    }
}
static void stage_behave(th_world *world) { run_models(world, TH_STAGE_BEHAVE); }
static void stage_plan(th_world *world) {
    world->counters.unreachable = 0;
    run_models(world, TH_STAGE_PLAN);
    th_ranks_send2(world, world->agents.preferred_x, world->agents.preferred_y);
}
static void stage_filter(th_world *world) {
    run_models(world, TH_STAGE_FILTER);
    th_bodies_step_aside(world);
    th_ranks_send2(world, world->agents.preferred_x, world->agents.preferred_y);
}
static void stage_move(th_world *world) {
    th_agents *agents = &world->agents;
    run_models(world, TH_STAGE_MOVE);
    th_ranks_send4(world, agents->next_position_x, agents->next_position_y, agents->next_velocity_x,
                   agents->next_velocity_y);
}
static void stage_measure(th_world *world) {
    world->left_in_step = 0;
    th_ranks_part(world);
    for (int k = 0; k < world->stage_model_count[TH_STAGE_BEHAVE]; ++k) {
        int m = world->stage_models[TH_STAGE_BEHAVE][k];
        if (th_models(NULL)[m]->arrive) th_models(NULL)[m]->arrive(world, m);
    }
    th_stage_measure(world);
    th_ranks_count(world, true);
}

static th_stage_fn *const stage_table[TH_STAGE_COUNT] = {
    [TH_STAGE_EVENTS] = th_stage_events,   [TH_STAGE_INDEX] = th_stage_index,
    [TH_STAGE_BEHAVE] = stage_behave,      [TH_STAGE_PLAN] = stage_plan,
    [TH_STAGE_FILTER] = stage_filter,      [TH_STAGE_MOVE] = stage_move,
    [TH_STAGE_CONTACT] = th_stage_contact, [TH_STAGE_MEASURE] = stage_measure,
};

static void step_once(th_world *world) {
    double begin = th_monotonic_seconds(), from = begin;
    for (int stage = 0; stage < TH_STAGE_COUNT; ++stage) {
        stage_table[stage](world);
        double now = th_monotonic_seconds();
        world->profile.seconds[stage] += now - from;
        from = now;
    }
    th_team_note(&world->team, from - begin, world->agents.count);
    world->profile.steps++;
}

// Doors are opened and shut on the host, which is rare: all agents are copied there and back.
static void step_on_device(th_world *world) {
    if (th_doors_due(world)) {
        world->device->fetch(world, TH_ALL_FIELDS);
        int before = world->event_count;
        th_follow_schedules(world);
        for (int k = before; k < world->event_count; ++k)
            world->device->note_event(world, &world->events[k]);
        world->device->changed(world);
    }
    if (world->body_count > 0) {
        if (th_bodies_advance(world)) {
            world->device->fetch(world, TH_ALL_FIELDS);
            th_bodies_tell_planners(world);
            world->device->changed(world);
        }
        world->device->bodies_changed(world);
    }
    world->device->step(world); // counts the steps of its profile itself
    for (int b = 0; b < world->body_count; ++b) th_body_arrive(&world->bodies[b]);
}

void th_world_step(th_world *world, int steps) {
    world->event_count = 0;
    world->events_lost = 0;
    if (world->device) world->device->forget_events(world);
    for (int s = 0; s < steps; ++s)
        if (world->device)
            step_on_device(world);
        else
            step_once(world);
    world->id_order_valid = false;
}

// Boxes of the cell grid: the level's own, or on an open plane whatever the crowd spans now.
static void level_boxes(const th_world *world, th_box *boxes) {
    const th_agents *agents = &world->agents;
    for (int l = 0; l < world->scene->level_count; ++l) {
        boxes[l] = world->scene->levels[l].box;
        if (world->scene->levels[l].bounded) continue;
        float min_x = 1e30f, min_y = 1e30f, max_x = -1e30f, max_y = -1e30f;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(min             \
                                                                                : min_x, min_y) \
    reduction(max                                                                               \
              : max_x, max_y)
        for (int i = 0; i < agents->count; ++i) {
            if (agents->level[i] != (uint32_t)l || th_gone(agents->phase[i])) continue;
            float x = agents->position_x[i], y = agents->position_y[i];
            min_x = x < min_x ? x : min_x;
            max_x = x > max_x ? x : max_x;
            min_y = y < min_y ? y : min_y;
            max_y = y > max_y ? y : max_y;
        }
        min_x = -th_ranks_highest(world, -min_x);
        min_y = -th_ranks_highest(world, -min_y);
        max_x = th_ranks_highest(world, max_x);
        max_y = th_ranks_highest(world, max_y);
        if (min_x <= max_x) boxes[l] = (th_box){min_x, min_y, max_x, max_y};
    }
}

// Block by block all fields, so that a block's part of `order` is read from memory once. Longer blocks than
// elsewhere: 40 arrays taken up in turn need a few pages of each to be fetched ahead.
enum { PERMUTED = 8 * TH_BLOCK };
static uint64_t permute_part(const void *context, int begin, int end) {
    const th_world *world = context;
    const th_agents *agents = &world->agents;
    for (int f = 0; f < th_field_count(agents); ++f) {
        uint32_t *restrict to = world->other_field[f];
        const uint32_t *restrict of = th_field_get(agents, f), *restrict order = agents->order;
        for (int k = begin; k < end; ++k) to[k] = of[order[k]];
    }
    return 0;
}

static void permute_fields(th_world *world, int count) {
    th_agents *agents = &world->agents;
    int fields = th_field_count(agents);
    th_share_out(world, count, PERMUTED, permute_part, world);
    for (int f = 0; f < fields; ++f) {
        void *old = th_field_get(agents, f);
        th_field_set(agents, f, world->other_field[f]);
        world->other_field[f] = old;
    }
}

void th_stage_index(th_world *world) {
    th_agents *agents = &world->agents;
    th_choose_threads(world);
    if (world->ranks) th_ranks_meet(world);
    th_index *index = &world->index;
    level_boxes(world, world->level_boxes);
    float cell = world->cell_size;
    for (int k = 0; k < world->stage_model_count[TH_STAGE_MOVE]; ++k) {
        int m = world->stage_models[TH_STAGE_MOVE][k];
        const th_model *model = th_models(NULL)[m];
        if (model->fit_index) cell = model->fit_index(world, m, world->level_boxes);
    }
    th_index_build_grids(index, world->level_boxes, cell);
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < agents->count; ++i) {
        const th_level_grid *grid = &index->grids[agents->level[i]];
        int column = th_grid_column(grid, agents->position_x[i]);
        int row = th_grid_row(grid, agents->position_y[i]);
        agents->cell[i] = th_gone(agents->phase[i])
                              ? TH_NO_CELL
                              : (uint32_t)(grid->first + row * grid->nx + column);
    }
    agents->count = (int)th_index_sort(index, agents->count, agents->cell, agents->id, agents->slot,
                                       agents->order, world->threads);
    permute_fields(world, agents->count);
    if (world->ranks) th_ranks_list(world);
    world->id_order_valid = false;
}

// ---- threads

// Trying the other number of threads may take this share of the time. A first step with all threads on busy cores
// may take FIRST_TRIAL [s]: 5000 people of a model with ninety loops took 0.05 to 0.3 s on two cores with two
// endless loops beside them, and 3 ms on one thread.
static const double TRIAL_SHARE = 0.05, FIRST_TRIAL = 0.2;
static const double NEWEST = 0.25; // weight of the newest step in a running mean

static double trial_seconds(const th_team *team, int candidate) {
    double cost = team->cost[candidate];
    return cost > 0.0 ? cost * team->people : FIRST_TRIAL;
}

int th_team_choose(th_team *team, int worth, int cores, int others) {
    int free_cores = cores - others;
    int few = free_cores < 1 ? 1 : free_cores < worth ? free_cores : worth;
    if (few == worth) {
        *team = (th_team){.most = team->most};
        return worth;
    }
    bool all_quicker = team->cost[TH_TEAM_ALL] > 0.0 && team->cost[TH_TEAM_FEW] > 0.0 &&
                       team->cost[TH_TEAM_ALL] < team->cost[TH_TEAM_FEW];
    int best = all_quicker ? TH_TEAM_ALL : TH_TEAM_FEW, other = 1 - best;
    bool trial = team->since_trial * TRIAL_SHARE > trial_seconds(team, other);
    if (trial) team->since_trial = 0.0;
    team->busy = true;
    team->candidate = trial ? other : best;
    return team->candidate == TH_TEAM_ALL ? worth : few;
}

void th_team_note(th_team *team, double seconds, int people) {
    if (!team->busy || people == 0) return;
    double *cost = &team->cost[team->candidate], now = seconds / people;
    *cost = *cost > 0.0 ? (1.0 - NEWEST) * *cost + NEWEST * now : now;
    team->people = people;
    team->since_trial += seconds;
}

void th_choose_threads(th_world *world) {
    int most = world->team.most;
    if (most == 0) return;
    // A few people on many cores take longer than on one.
    int worth = 1 + world->agents.count / TH_BLOCK;
    worth = worth < most ? worth : most;
    if (worth > 1) {
        int others = th_running_tasks() - world->threads; // its own threads still spin
        worth = th_team_choose(&world->team, worth, th_online_cores(), others > 0 ? others : 0);
    }
    world->threads = worth;
}
