// Unilateral incompressibility, Narain et al. 2009: the model's state in a world, the order of a step, and its
// description. Cost O(people + cells); the pressure solve depends on the cells that are packed, not on people.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "move/uic/state.h"

static bool allocate(th_uic *uic, th_arena *arena, const th_scene *scene, bool on_device) {
#define X(type, name, count, doc) \
    uic->name = th_arena_alloc(arena, (size_t)(count), sizeof *uic->name);
    TH_UIC_ARRAYS(X)
    TH_UIC_HOST_ARRAYS(X)
#undef X
    if (!on_device) uic->work = th_lcp_work_create(arena, uic->cell_capacity, uic->cell_capacity);
    for (int l = 0; !arena->failed && l < uic->level_count; ++l)
        th_floor_create(&uic->levels[l].floor, arena, scene, l);
    return !arena->failed;
}

// A world that lives on a device needs no solver here, and has fewer cells to spare there.
static bool create(th_world *world, int model) {
    int agents = world->agents.capacity;
    bool on_device = world->on_device;
    const th_scene *scene = world->scene;
    th_arena arena = th_arena_of(&world->memory.allocator);
    th_uic *uic = th_arena_alloc(&arena, 1, sizeof *uic);
    if (uic) th_uic_choose_sizes(uic, &arena, scene, agents, on_device);
    if (!uic || !allocate(uic, &arena, scene, on_device)) {
        th_arena_release(&arena);
        return false;
    }
    for (int s = 0; s < scene->scripted_count; ++s)
        if (scene->scripted[s].is_body) uic->levels[scene->scripted[s].level].has_bodies = true;
    th_uic_list_gates(scene, uic->gates);
    uic->arena = arena;
    world->model_state[model] = uic;
    return true;
}

static void destroy(th_world *world, int model) {
    th_arena arena = th_uic_of(world)->arena; // the struct itself lies in it
    th_arena_release(&arena);
    world->model_state[model] = NULL;
}

// ---- a step

void th_uic_read_groups(th_world *world) {
    th_uic *uic = th_uic_of(world);
    uic->keeps_side = uic->any_pressure = uic->has_foreign = false;
    uic->tolerance = 0.0f;
    uic->speed_limit = 0.0f;
    uic->pair_substep = world->dt;
    uic->tidy_passes = 0;
    uic->one_person = 0.0f;
    float most = 0.0f; // area that people take up in the loosest group
    for (int g = 0; g < uic->group_count; ++g) {
        const th_group_state *state = &world->groups[g];
        th_uic_group *group = &uic->groups[g];
        *group = (th_uic_group){.own = !state->scripted && state->move == TH_MOVE_UIC};
        uic->has_foreign |= !group->own;
        if (!group->own) continue;
        const th_uic_params *p = th_uic_params_of(state->move_params);
        group->d_min = p->d_min;
        group->area = th_uic_share(1.0f, p->alpha);
        group->separate = 0.5f * p->pair_distance;
        group->passes = p->pair_distance > 0.0f ? (int)p->separation_passes : 0;
        group->keep_side = p->keep_side;
        group->give_way = p->give_way;
        group->pressure = p->pressure > 0.0f;
        uic->keeps_side |= p->keep_side != 0.0f;
        uic->any_pressure |= group->pressure;
        uic->tolerance =
            uic->tolerance > 0.0f ? th_min(uic->tolerance, p->tolerance) : p->tolerance;
        uic->speed_limit = th_max(uic->speed_limit, p->speed_limit);
        uic->pair_substep = th_min(uic->pair_substep, p->pair_substep);
        uic->tidy_passes =
            (int)p->tidy_passes > uic->tidy_passes ? (int)p->tidy_passes : uic->tidy_passes;
        most = th_max(most, group->area);
        float d_min = th_uic_d_min(p->d_min, world->max_radius);
        uic->one_person = th_max(uic->one_person, group->area * d_min * d_min);
    }
    // People of other models have no alpha: they take up as much as those of the group that keeps loosest.
    for (int g = 0; g < uic->group_count; ++g)
        if (!uic->groups[g].own) uic->groups[g].area = most;
}

void th_uic_prepare(th_world *world) {
    th_uic_read_groups(world);
    th_uic_measure(world);
}

static void run(th_world *world, int model) {
    (void)model;
    th_uic *uic = th_uic_of(world);
    if (!uic) return;
    th_uic_prepare(world);
    th_uic_statistics *statistics = &uic->statistics;
    double start = omp_get_wtime();
    th_uic_cover_bodies(world);
    th_uic_splat(world);
    double splatted = omp_get_wtime();
    statistics->splat_seconds += splatted - start;
    th_uic_project(world);
    double projected = omp_get_wtime();
    th_uic_follow(world);
    double followed = omp_get_wtime();
    statistics->follow_seconds += followed - projected;
    th_uic_separate(world);
    statistics->pair_seconds += omp_get_wtime() - followed;
    statistics->steps++;
}

// ---- the description

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    (void)model;
    const th_uic_statistics s = th_uic_of(world)->statistics;
    const th_model_value all[] = {
        {"steps", "-", (double)s.steps},
        {"solves", "-", (double)s.solves},
        {"iterations", "-", (double)s.iterations},
        {"outer", "-", (double)s.outer},
        {"unconverged", "-", (double)s.unconverged},
        {"visits", "cells", (double)s.visits},
        {"largest_residual", "share of the maximum density", s.largest_residual},
        {"active_cells", "-", s.active_cells},
        {"jammed_cells", "-", s.jammed_cells},
        {"densest", "-", (double)s.densest},
        {"splat_seconds", "s", s.splat_seconds},
        {"solve_seconds", "s", s.solve_seconds},
        {"grid_seconds", "s", s.grid_seconds},
        {"follow_seconds", "s", s.follow_seconds},
        {"pair_seconds", "s", s.pair_seconds}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static float fit_index(th_world *world, int model, th_box *boxes) {
    (void)model;
    return th_uic_build_grids(world, boxes);
}

// Newcomers keep the distance of a crowd that is packed to the limit. Nearer ones would overfill the cell, and a full crowd is pushed out at
// any exit that opens: two streams in a corridor locked, at 1.6 times the limit.
static void body(const float *values, th_body_rules *rules) {
    const th_uic_params *p = th_uic_params_of(values);
    float spread = 1.0f / sqrtf(p->alpha);
    rules->separation_passes = (int)p->separation_passes;
    rules->newcomer_bodies = p->d_min > 0.0f ? 1.0f : spread;
    rules->newcomer_metres = p->d_min * spread;
}

static const th_param_info params[] = {TH_UIC_PARAMS(TH_PARAM_INFO)};
TH_UIC_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_UIC_PRESETS(TH_PRESET_INFO)};
const th_model th_move_uic_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "uic",
    .doc = "unilateral incompressibility: a flow that may not be packed too densely",
    .source = "Narain, Golas, Curtis, Lin 2009",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .run = run,
    .order = 1, // it reads where the people of other models go
    .create = create,
    .destroy = destroy,
    .saved_size = th_uic_saved_size,
    .save = th_uic_save,
    .saved_is_sound = th_uic_saved_is_sound,
    .restore = th_uic_restore,
    .separates_pairs = true, // its pair step is part of the model
    .body = body,
    .index_cells = th_uic_index_cells,
    .fit_index = fit_index,
    .grid = th_uic_grid,
    .influences = th_uic_influences,
    .statistics = statistics,
};
