// Unilateral incompressibility, Narain et al. 2009: the model's state in a world, the order of a step, and its
// description. Cost O(people + cells); the pressure solve depends on the cells that are packed, not on people.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/uic.h"
#include "core/parallel.h"
#include "core/system/system.h"
#include "move/uic/pairs.h"
#include "move/uic/splat.h"
#include "state/influences.h"
#include <math.h>
#include <string.h>

// ---- snapshots: where the grids lie, then for all their cells both pressures and the mean preferred velocity

typedef struct saved_grid {
    float h;
    int32_t column, row, nx, ny;
} saved_grid;

enum { CELL_BYTES = 2 * (int)sizeof(double) + 2 * (int)sizeof(float) };

static size_t cells_in_use(const th_uic *uic) {
    size_t cells = 0;
    for (int l = 0; l < uic->level_count; ++l)
        if (uic->levels[l].measured)
            cells += (size_t)uic->levels[l].grid.nx * (size_t)uic->levels[l].grid.ny;
    return cells;
}

// A snapshot holds what a run needs to go on bit by bit: pressures as starting points of the solves, mean
// velocities for keep_side and lanes, and where the grids lie.
static size_t saved_size(const th_world *world, int model) {
    (void)model;
    const th_uic *uic = th_uic_of(world);
    return (size_t)uic->level_count * sizeof(saved_grid) + cells_in_use(uic) * CELL_BYTES;
}

static unsigned char *put(unsigned char *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}
static const unsigned char *get(void *to, const unsigned char *from, size_t bytes) {
    memcpy(to, from, bytes);
    return from + bytes;
}

static void save_state(const th_world *world, int model, void *memory) {
    (void)model;
    const th_uic *uic = th_uic_of(world);
    unsigned char *to = memory;
    for (int l = 0; l < uic->level_count; ++l) {
        const th_staggered *grid = &uic->levels[l].grid;
        saved_grid saved = {0};
        if (uic->levels[l].measured)
            saved = (saved_grid){grid->h, grid->column, grid->row, grid->nx, grid->ny};
        to = put(to, &saved, sizeof saved);
    }
    size_t cells = cells_in_use(uic); // grids lie one after the other from cell 0
    to = put(to, uic->inner_pressure, cells * sizeof(double));
    to = put(to, uic->pressure, cells * sizeof(double));
    to = put(to, uic->mean_x, cells * sizeof(float));
    put(to, uic->mean_y, cells * sizeof(float));
}

static bool grid_is_sound(const saved_grid *grid) {
    const int far = 100000000, wide = 1000000; // cells
    if (grid->nx == 0 && grid->ny == 0) return true;
    return grid->h > 0.0f && grid->h < 1e6f && grid->column > -far && grid->column < far &&
           grid->row > -far && grid->row < far && grid->nx > 0 && grid->ny > 0 && grid->nx < wide &&
           grid->ny < wide;
}

static bool saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
    (void)model;
    const th_uic *uic = th_uic_of(world);
    size_t heads = (size_t)uic->level_count * sizeof(saved_grid);
    if (size < heads) return false;
    const unsigned char *from = memory;
    double cells = 0.0;
    for (int l = 0; l < uic->level_count; ++l) {
        saved_grid grid;
        from = get(&grid, from, sizeof grid);
        if (!grid_is_sound(&grid)) return false;
        cells += (double)grid.nx * (double)grid.ny;
    }
    if (cells > (double)uic->cell_capacity || size != heads + (size_t)cells * CELL_BYTES)
        return false;
    for (size_t k = 0; k < 2 * (size_t)cells; ++k) {
        double pressure;
        from = get(&pressure, from, sizeof pressure);
        if (!(pressure >= 0.0 && pressure < 1e30)) return false;
    }
    for (size_t k = 0; k < 2 * (size_t)cells; ++k) {
        float velocity;
        from = get(&velocity, from, sizeof velocity);
        if (!(fabsf(velocity) < 1e6f)) return false;
    }
    return true;
}

static void restore_state(th_world *world, int model, const void *memory) {
    (void)model;
    th_uic *uic = th_uic_of(world);
    const unsigned char *from = memory;
    int first = 0;
    for (int l = 0; l < uic->level_count; ++l) {
        saved_grid saved;
        from = get(&saved, from, sizeof saved);
        th_uic_level *level = &uic->levels[l];
        level->grid = (th_staggered){.h = saved.h,
                                     .inverse_h = saved.nx ? 1.0f / saved.h : 0.0f,
                                     .column = saved.column,
                                     .row = saved.row,
                                     .nx = saved.nx,
                                     .ny = saved.ny};
        level->grid.origin = th_v((float)((double)saved.column * (double)saved.h),
                                  (float)((double)saved.row * (double)saved.h));
        level->first = first;
        level->measured = saved.nx > 0;
        level->stale = true; // walls may be others than those measured last
        first += saved.nx * saved.ny;
    }
    size_t cells = (size_t)first;
    from = get(uic->inner_pressure, from, cells * sizeof(double));
    from = get(uic->pressure, from, cells * sizeof(double));
    from = get(uic->mean_x, from, cells * sizeof(float));
    get(uic->mean_y, from, cells * sizeof(float));
}

// ---- one level as of the last step

th_uic_view th_uic_view_of(const th_world *world, int level) {
    const th_uic *uic = th_uic_of(world);
    th_uic_view view = {0};
    if (!uic || level < 0 || level >= uic->level_count || !uic->levels[level].measured) return view;
    size_t first = (size_t)uic->levels[level].first;
    view.grid = uic->levels[level].grid;
    view.people = uic->people + first;
    view.packing = uic->packing + first;
    view.capacity = uic->capacity + first;
    view.free_area = uic->free_area + first;
    view.pressure = uic->pressure + first;
    view.velocity_x = uic->u + first;
    view.velocity_y = uic->v + first;
    view.aperture_x = uic->aperture_x + first;
    view.aperture_y = uic->aperture_y + first;
    return view;
}

th_uic_statistics th_uic_statistics_of(const th_world *world) {
    th_uic_statistics none = {0};
    return th_uic_of(world) ? th_uic_of(world)->statistics : none;
}

// ---- grid views, per m2 of ground

// People come whole: a quarter of a cell of the usual size holds three or four where it is full, and on less ground one
// more or less is half the density. Such a sliver (beside a stand, in a niche, outside of an exit) is looked at
// together with the cells it opens to.
static const float SLIVER = 0.25f;
static const float LEADS_ON = 0.5f; // open share of a face from which two cells share their ground
// An agent that stands where there is no ground at all is shown, and not as infinitely dense.
static const float LEAST_GROUND = 0.02f;

typedef struct spot {
    float people, packing, ground, pressure; // ground: free share of cells; pressure: times ground
} spot;

static void add_cell(spot *sum, const th_uic_view *view, size_t c) {
    sum->people += view->people[c];
    sum->packing += view->packing[c];
    sum->ground += view->capacity[c];
    sum->pressure += (float)view->pressure[c] * view->capacity[c];
}

static spot spot_of(const th_uic_view *view, int i, int j) {
    size_t nx = (size_t)view->grid.nx, c = (size_t)j * nx + (size_t)i;
    spot sum = {0};
    add_cell(&sum, view, c);
    if (sum.ground >= SLIVER || !(sum.packing > 0.0f)) return sum; // empty: nothing to show
    if (i > 0 && view->aperture_x[c] >= LEADS_ON) add_cell(&sum, view, c - 1);
    if (i + 1 < view->grid.nx && view->aperture_x[c + 1] >= LEADS_ON) add_cell(&sum, view, c + 1);
    if (j > 0 && view->aperture_y[c] >= LEADS_ON) add_cell(&sum, view, c - nx);
    if (j + 1 < view->grid.ny && view->aperture_y[c + nx] >= LEADS_ON) add_cell(&sum, view, c + nx);
    return sum;
}

// All per ground as the model counts it, spread over cells as people are.
static float value_of(const th_uic_view *view, th_grid_kind kind, int i, int j) {
    spot at = spot_of(view, i, j);
    float ground = th_max(at.ground, LEAST_GROUND);
    switch (kind) {
    case TH_GRID_DENSITY: return at.people / (view->grid.h * view->grid.h * ground);
    case TH_GRID_PACKING: return at.packing / ground;
    default: return at.pressure / ground;
    }
}

static bool view_grid(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                      float *values) {
    (void)model;
    th_uic_view view = th_uic_view_of(world, level);
    if (!view.people) return false;
    *grid = (th_grid){view.grid.nx,       view.grid.ny, view.grid.origin.x,
                      view.grid.origin.y, view.grid.h,  values};
    for (int j = 0; values && j < view.grid.ny; ++j)
        for (int i = 0; i < view.grid.nx; ++i)
            values[(size_t)j * (size_t)view.grid.nx + (size_t)i] = value_of(&view, kind, i, j);
    return true;
}

// ---- influences on a person: the flow and its pressure as the last step left them, and agents that push it now

static void tell_flow(const th_world *world, uint32_t i, th_influences *all) {
    const th_agents *a = &world->agents;
    const th_uic *uic = th_uic_of(world);
    int l = (int)a->level[i];
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    th_vec2 p = th_position(a, i);
    float x = (p.x - grid->origin.x) * grid->inverse_h,
          y = (p.y - grid->origin.y) * grid->inverse_h;
    // Not before the first step, nor where no agent was counted: the ring around the grid, beyond every centre.
    if (!level->measured || level->stale || !uic->groups[a->group[i]].pressure || !(x >= 1.0f) ||
        !(y >= 1.0f) || x >= (float)(grid->nx - 1) || y >= (float)(grid->ny - 1))
        return;
    int column = (int)x, row = (int)y, half_x = (int)(2.0f * x) % 2, half_y = (int)(2.0f * y) % 2;
    unsigned flags = th_uic_flags_of(uic, level, column, row, half_x, half_y);
    int shift =
        flags & TH_UIC_WALL ? th_uic_cell_shift(world, l, flags, column, row, p) : TH_UIC_OWN_CELL;
    if (shift == TH_UIC_NO_CELL) return;
    th_uic_place at = th_uic_place_of(grid, p, column, row, shift);
    th_uic_quarter quarter = {l, column, row, half_x, half_y, flags};
    th_walls walls = th_world_walls(world);
    int c = level->first + at.j * grid->nx + at.i;
    th_vec2 before = th_uic_preferred(world, level, i, at.j * grid->nx + at.i);
    float aside;
    th_vec2 after = th_uic_velocity_of(world, &walls, &quarter, i, shift, &aside);
    float room = th_uic_room_for(uic, uic->room[c], grid->inverse_h * grid->inverse_h);
    th_tell_vector(all, "before projection", "m/s", p, before, 0);
    th_tell_vector(all, "after projection", "m/s", p, after, 0);
    th_tell_vector(all, "taken by pressure", "m/s", p, th_sub(after, before), 0);
    th_tell_figure(all, "pressure here", "m2/s", (float)uic->pressure[c]);
    th_tell_figure(all, "packing here, of what has room", "-", uic->packing[c] / room);
}

// The pushes of the first pass of the pair step, from where every agent is now.
static void tell_pushes(th_world *world, uint32_t i, th_influences *all) {
    const th_agents *a = &world->agents;
    th_uic_pair_step step;
    if (th_uic_plan_passes(world, &step).passes == 0) return;
    for (int j = 0; j < a->count; ++j) {
        th_uic_begin_pairs(world, &step, (uint32_t)j);
        step.widest = th_max(step.widest, step.half[j]);
    }
    int level = (int)a->level[i];
    th_walls walls = th_world_walls(world);
    const th_level_grid *grid = &world->index.grids[level];
    th_vec2 p = th_position(a, i);
    th_rows rows = th_rows_around(grid, p, step.half[i] + step.widest);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 q = th_position(a, j), push = th_uic_push_of_pair(world, &step, i, j, p, q);
            if (th_length2(push) > 0.0f && th_walls_first_crossing(&walls, level, p, q, NULL) < 0)
                th_tell_vector(all, "push of a person", "m", p, th_scale(step.relax, push),
                               a->id[j]);
        }
}

static void read_groups(th_world *world) {
    th_uic *uic = th_uic_of(world);
    uic->steps_aside = uic->any_pressure = uic->has_foreign = false;
    uic->tolerance = 0.0f;
    uic->speed_limit = 0.0f;
    uic->pair_substep = world->dt;
    uic->tidy_passes = 0;
    uic->one_person = 0.0f;
    uic->excess_share = uic->react = 0.0f;
    uic->ease = th_min(world->dt / TH_UIC_EASE_TIME, TH_UIC_EASE_MOST);
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
        group->lanes = p->lanes;
        group->give_way = p->give_way;
        group->pressure = p->pressure > 0.0f;
        uic->steps_aside |= p->keep_side != 0.0f || p->lanes > 0.0f;
        uic->any_pressure |= group->pressure;
        uic->tolerance =
            uic->tolerance > 0.0f ? th_min(uic->tolerance, p->tolerance) : p->tolerance;
        uic->speed_limit = th_max(uic->speed_limit, p->speed_limit);
        uic->pair_substep = th_min(uic->pair_substep, p->pair_substep);
        uic->excess_share =
            th_max(uic->excess_share, th_uic_share_of_time(world->dt, p->excess_time));
        uic->react = th_max(uic->react, th_uic_share_of_time(world->dt, p->reaction_time));
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

static int list_influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    th_influences all = {list, 0, max};
    read_groups(world);
    if (!th_uic_own(world, i)) return 0;
    tell_flow(world, i, &all);
    tell_pushes(world, i, &all);
    return all.count;
}

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
    if (uic) th_uic_choose_sizes(uic, scene, agents, on_device);
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

void th_uic_prepare(th_world *world) {
    read_groups(world);
    th_uic_measure(world);
}

static void run(th_world *world, int model) {
    (void)model;
    th_uic *uic = th_uic_of(world);
    if (!uic) return;
    th_uic_prepare(world);
    th_uic_statistics *statistics = &uic->statistics;
    double start = th_monotonic_seconds();
    th_uic_cover_bodies(world);
    th_uic_splat(world);
    double splatted = th_monotonic_seconds();
    statistics->splat_seconds += splatted - start;
    th_uic_project(world);
    double projected = th_monotonic_seconds();
    th_uic_follow(world);
    double followed = th_monotonic_seconds();
    statistics->follow_seconds += followed - projected;
    th_uic_separate(world);
    statistics->pair_seconds += th_monotonic_seconds() - followed;
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

// Newcomers keep the distance of a crowd that is packed to the limit. Nearer ones would overfill the cell, and a full
// crowd is pushed out at any exit that opens: two streams in a corridor locked, at 1.6 times the limit.
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
// Another d_min acts, but on cells of the old size.
static const char *edited(th_world *world, int model, int group, const float *before) {
    const th_uic_params *p = th_uic_params_of(th_model_params(world, model, group));
    return p->cell_size == th_uic_params_of(before)->cell_size ? NULL : TH_FIXED_AT_START;
}

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
    .saved_size = saved_size,
    .save = save_state,
    .saved_is_sound = saved_is_sound,
    .restore = restore_state,
    .separates_pairs = true, // its pair step is part of the model
    .body = body,
    .index_cells = th_uic_index_cells,
    .fit_index = fit_index,
    .edited = edited,
    .grid = view_grid,
    .influences = list_influences,
    .statistics = statistics,
};
