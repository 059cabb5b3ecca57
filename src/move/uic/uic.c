// Unilateral incompressibility, Narain et al. 2009: making the grids, laying them, and the order of a step.
// Cost O(people + cells); the pressure solve depends on the cells that are packed, not on people.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "formula/random.h"
#include "move/uic/model.h"
#include "move/uic/state.h"
#include "scene/place.h"
#include <math.h>
#include <string.h>

enum {
    CELLS_LEAST = 4096,
    CELLS_PER_PERSON = 4, // a sparse crowd on wide ground gets larger cells beyond this
    SNAP = 4,             // cells: an open plane's grid grows and shrinks by this many
    COLUMNS_MOST = 8192,  // of an open plane's grid; beyond, cells grow
    COLUMNS_BOUNDED = 1000000
};
static const double INDEX_CELLS_MOST = 4e8; // fits an int
// On a device an open plane's grid has 0.5 cells a person in crowds of up to 6700, and of larger ones this many and
// 0.2 a person (three times what 4 people/m2 need): a cell takes 270 bytes there, and a person shall not take more
// than 200 in all.
static const double DEVICE_CELLS = 2e3;
static const float INDEX_CELL =
    1.0f; // [m] about what the index's own cells are, for other models' sake

static const th_uic_params *params_of(const float *params) {
    return (const th_uic_params *)(const void *)params;
}

// ---- creation

static float typical_radius(const th_group *group) {
    enum { DRAWS = 32 };
    float sum = 0.0f;
    for (uint32_t k = 0; k < DRAWS; ++k) sum += th_draw(&group->radius, 1, TH_STREAM_RADIUS, k);
    return sum / (float)DRAWS;
}

// One size for the whole scene, the largest that any group asks for.
static float choose_cell(const th_scene *scene) {
    float h = 0.0f;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->move.model != TH_MOVE_UIC) continue;
        const th_uic_params *p = params_of(group->move.params);
        float own = p->cell_size > 0.0f
                        ? p->cell_size
                        : TH_UIC_CELL * th_uic_d_min(p->d_min, typical_radius(group));
        h = th_max(h, own);
    }
    return th_max(h, 0.1f); // [m] no cell smaller than a hand
}

static int snap_of(const th_scene *scene, int level) {
    return scene->levels[level].bounded ? 1 : SNAP;
}

static double cells_over(const th_scene *scene, const th_box *boxes, float h) {
    double cells = 0.0;
    for (int l = 0; l < scene->level_count; ++l) {
        // In double first: a box of 1000 km does not fit an int.
        double wide =
            ((double)boxes[l].max_x - (double)boxes[l].min_x) / (double)h + 2.0 * SNAP + 3;
        double high =
            ((double)boxes[l].max_y - (double)boxes[l].min_y) / (double)h + 2.0 * SNAP + 3;
        if (wide * high > 1e8) return 1e9;
        th_staggered grid = th_staggered_over(&boxes[l], h, snap_of(scene, l));
        if (grid.nx > (scene->levels[l].bounded ? COLUMNS_BOUNDED : COLUMNS_MOST)) return 1e9;
        cells += (double)grid.nx * (double)grid.ny;
    }
    return cells;
}

// Bounded levels know how many cells they need. Open planes get a cell for two people (4 m2 at the usual size),
// for what is named on them says little about how far the crowd spreads.
static int choose_capacity(const th_scene *scene, float h, int index_per_half, int agents,
                           bool on_device) {
    double cells = 0.0, most = (double)CELLS_PER_PERSON * agents + 16.0 * CELLS_LEAST;
    double least = CELLS_LEAST * (double)scene->level_count;
    for (int l = 0; l < scene->level_count; ++l) {
        th_scene alone = {.levels = &scene->levels[l], .level_count = 1};
        if (scene->levels[l].bounded)
            cells += cells_over(&alone, &scene->levels[l].box, h);
        else
            least += on_device ? fmin(0.5 * (double)agents, DEVICE_CELLS + 0.2 * (double)agents)
                               : 0.5 * (double)agents;
    }
    double index_cells = 4.0 * index_per_half * index_per_half; // in a cell
    return (int)fmin(fmin(cells, most) + least, INDEX_CELLS_MOST / index_cells);
}

// Columns of the widest grid there can be.
static int widest_grid(const th_scene *scene, float h) {
    int widest = COLUMNS_MOST;
    for (int l = 0; l < scene->level_count; ++l) {
        if (!scene->levels[l].bounded) continue;
        th_staggered grid = th_staggered_over(&scene->levels[l].box, h, 1);
        if (grid.nx > widest) widest = grid.nx < COLUMNS_BOUNDED ? grid.nx : COLUMNS_BOUNDED;
    }
    return widest;
}

// Room for every face that a link's line may cross.
static int link_faces_of(const th_scene *scene, float h) {
    double faces = 1.0;
    for (int l = 0; l < scene->link_count; ++l)
        faces += 2.0 * (4.0 * (double)th_length(th_sub(scene->links[l].b, scene->links[l].a)) /
                            (double)h +
                        8.0);
    return (int)fmin(faces, 1e6);
}

// How many of everything; fills the counts of `uic`.
static void choose_sizes(th_uic *uic, const th_scene *scene, int agents, bool on_device) {
    uic->level_count = scene->level_count;
    uic->h = choose_cell(scene);
    float halves = floorf(0.5f * uic->h / INDEX_CELL + 0.5f);
    uic->index_per_half = halves > 1.0f ? (int)halves : 1;
    uic->cell_capacity = choose_capacity(scene, uic->h, uic->index_per_half, agents, on_device);
    uic->group_count = scene->group_count + scene->scripted_count;
    uic->agent_capacity = agents;
    uic->part_capacity = TH_FLOOR_PARTS * widest_grid(scene, uic->h);
    for (int k = 0; k < scene->scripted_count; ++k)
        if (scene->scripted[k].is_body) uic->covered_capacity = uic->cell_capacity;
    uic->link_face_capacity = link_faces_of(scene, uic->h);
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
    if (uic) choose_sizes(uic, scene, agents, on_device);
    if (!uic || !allocate(uic, &arena, scene, on_device)) {
        th_arena_free(&arena);
        return false;
    }
    for (int s = 0; s < scene->scripted_count; ++s)
        if (scene->scripted[s].is_body) uic->levels[scene->scripted[s].level].has_bodies = true;
    uic->arena = arena;
    world->model_state[model] = uic;
    return true;
}

static void destroy(th_world *world, int model) {
    th_arena arena = th_uic_of(world)->arena; // the struct itself lies in it
    th_arena_free(&arena);
    world->model_state[model] = NULL;
}

// ---- where the grids lie

// The index fits the grids: half a cell is so many cells of the index.
static int index_cells(const th_world *world, int model) {
    (void)model;
    int per_cell = 4 * th_uic_of(world)->index_per_half * th_uic_of(world)->index_per_half;
    return per_cell * th_uic_of(world)->cell_capacity;
}

float th_uic_lay(th_world *world, th_box *boxes) {
    th_uic *uic = th_uic_of(world);
    float h = uic->h;
    while (cells_over(world->scene, boxes, h) > (double)uic->cell_capacity) h *= 1.25f;
    float cell = h / (float)(2 * uic->index_per_half);
    int first = 0;
    for (int l = 0; l < uic->level_count; ++l) {
        th_staggered grid = th_staggered_over(&boxes[l], h, snap_of(world->scene, l));
        uic->wanted[l].grid = grid;
        uic->wanted[l].first = first;
        first += grid.nx * grid.ny;
        // Half a cell less, so that rounding does not add one to the index.
        boxes[l].min_x = grid.origin.x;
        boxes[l].min_y = grid.origin.y;
        boxes[l].max_x = grid.origin.x + ((float)(grid.nx * 2 * uic->index_per_half) - 0.5f) * cell;
        boxes[l].max_y = grid.origin.y + ((float)(grid.ny * 2 * uic->index_per_half) - 0.5f) * cell;
    }
    return cell;
}

// ---- a step

static void read_groups(th_world *world) {
    th_uic *uic = th_uic_of(world);
    uic->keeps_side = uic->any_pressure = uic->has_foreign = false;
    uic->tolerance = 0.0f;
    uic->speed_limit = 0.0f;
    uic->pair_substep = world->dt;
    uic->tidy_passes = 0;
    for (int g = 0; g < uic->group_count; ++g) {
        const th_group_state *state = &world->groups[g];
        th_uic_group *group = &uic->groups[g];
        *group = (th_uic_group){.own = !state->scripted && state->move == TH_MOVE_UIC};
        uic->has_foreign |= !group->own;
        if (!group->own) continue;
        const th_uic_params *p = params_of(state->move_params);
        group->d_min = p->d_min;
        group->area = th_uic_share(1.0f, p->alpha);
        group->separate = 0.5f * p->pair_distance;
        group->passes = p->pair_distance > 0.0f ? (int)p->separation_passes : 0;
        group->keep_side = p->keep_side;
        group->pressure = p->pressure > 0.0f;
        uic->keeps_side |= p->keep_side != 0.0f;
        uic->any_pressure |= group->pressure;
        uic->tolerance =
            uic->tolerance > 0.0f ? th_min(uic->tolerance, p->tolerance) : p->tolerance;
        uic->speed_limit = th_max(uic->speed_limit, p->speed_limit);
        uic->pair_substep = th_min(uic->pair_substep, p->pair_substep);
        uic->tidy_passes =
            (int)p->tidy_passes > uic->tidy_passes ? (int)p->tidy_passes : uic->tidy_passes;
        uic->foreign_area = group->area;
    }
}

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

// ---- views

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
    return th_uic_lay(world, boxes);
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
    .index_cells = index_cells,
    .fit_index = fit_index,
    .grid = th_uic_grid,
    .statistics = statistics,
};
