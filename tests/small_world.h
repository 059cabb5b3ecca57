// A world made by hand for tests of one stage: a few hundred people, an index, some walls, nothing else
// of the engine. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SMALL_WORLD_H
#define TH_TESTS_SMALL_WORLD_H
#include "run_model.h"
#include <stdlib.h>
#include <string.h>

enum { SMALL_MAX = 2048, SMALL_CELLS = 4096, SMALL_WALLS = 64, SMALL_ARRAYS = 32 };

typedef struct small_world {
    th_world world;
    th_scene scene;
    th_arena arena;
    th_level level;
    th_group_state groups[2];
    th_level_grid grid;
    uint32_t cell_start[SMALL_CELLS + 1];
    th_wall walls[SMALL_WALLS];
    void *own[1];
    float arrays[SMALL_ARRAYS][SMALL_MAX + TH_ARRAY_PAD];
} small_world;

// Group 0 moves by `model` with `params`; group 1 by ORCA.
static inline small_world *small_world_create(th_model_id model, const float *params,
                                              int param_count) {
    small_world *small = calloc(1, sizeof *small);
    if (!small) abort();
    th_world *world = &small->world;
    th_agents *a = &world->agents;
    int next = 0;
#define X(NAME, name, type, doc) a->name = (type *)(void *)small->arrays[next++];
    TH_FIELDS(X)
#undef X
    a->own = small->own;
    a->own[0] = small->arrays[next++]; // whatever model has a field
    a->own_count = 1;
    float **extra[] = {&a->next_position_x,    &a->next_position_y,   &a->next_velocity_x,
                       &a->next_velocity_y,    &a->substep_x,         &a->substep_y,
                       &a->substep_velocity_x, &a->substep_velocity_y};
    for (size_t k = 0; k < sizeof extra / sizeof extra[0]; ++k) *extra[k] = small->arrays[next++];
    a->order = (uint32_t *)(void *)small->arrays[next++];
    if (next > SMALL_ARRAYS) abort();
    a->capacity = SMALL_MAX;
    world->scene = &small->scene;
    world->groups = small->groups;
    world->group_count = 2;
    world->index.grids = &small->grid;
    world->index.level_count = 1;
    world->index.cell_start = small->cell_start;
    world->threads = 1;
    world->seed = 1;
    world->dt = 0.1f;
    world->walls = small->walls;
    small->groups[0].move = model;
    small->groups[1].move = TH_MOVE_ORCA;
    memcpy(small->groups[0].move_params, params, (size_t)param_count * sizeof *params);
    for (int g = 0; g < 2; ++g)
        small->groups[g].body =
            th_model_body(th_models(NULL)[small->groups[g].move], small->groups[g].move_params);
    small->scene.arena = &small->arena;
    small->arena.memory = th_memory_of(NULL);
    small->scene.levels = &small->level;
    small->scene.level_count = 1;
    small->scene.walls = small->walls;
    return small;
}

static inline void small_world_destroy(small_world *small) {
    th_arena_release(small->scene.arena);
    free(small);
}

// A person of group 0 that walks with the preferred velocity; returns the index.
static inline uint32_t small_world_add(small_world *small, float x, float y, float radius) {
    th_agents *a = &small->world.agents;
    uint32_t i = (uint32_t)a->count++;
    if (i >= SMALL_MAX) abort();
    a->id[i] = i + 1;
    a->position_x[i] = x;
    a->position_y[i] = y;
    a->radius[i] = radius;
    a->mass[i] = 80.0f;
    a->speed[i] = 1.3f;
    a->phase[i] = TH_PHASE_WALKING;
    if (radius > small->world.max_radius) small->world.max_radius = radius;
    return i;
}

// A closed chain of edges through the points, solid to the left of each.
static inline void small_world_wall(small_world *small, const th_vec2 *points, int count) {
    int first = small->scene.wall_count;
    for (int k = 0; k < count; ++k) {
        th_wall *wall = &small->walls[first + k];
        th_vec2 a = points[k], b = points[(k + 1) % count];
        float length = sqrtf((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y));
        *wall = (th_wall){
            a, b, {(b.x - a.x) / length, (b.y - a.y) / length}, length, 0, 0, true, 0, -1, 0.0f};
        wall->next = first + (k + 1) % count;
        wall->prev = first + (k + count - 1) % count;
    }
    small->scene.wall_count = first + count;
}

// After the last wall.
static inline void small_world_walls_done(small_world *small) {
    small->level.wall_end = small->world.wall_count = small->scene.wall_count;
    if (!th_wall_grids_build(&small->scene)) abort();
}

static inline uint32_t small_world_cell(const small_world *small, uint32_t i) {
    const th_agents *a = &small->world.agents;
    return (uint32_t)(th_grid_row(&small->grid, a->position_y[i]) * small->grid.nx +
                      th_grid_column(&small->grid, a->position_x[i]));
}

static inline void small_world_swap(small_world *small, uint32_t i, uint32_t j) {
    for (int k = 0; k < TH_FIELD_COUNT + 1; ++k) {
        float keep;
        memcpy(&keep, &small->arrays[k][i], sizeof keep);
        memcpy(&small->arrays[k][i], &small->arrays[k][j], sizeof keep);
        memcpy(&small->arrays[k][j], &keep, sizeof keep);
    }
}

// Cells of the given size over [-extent, extent]^2; people sorted into them, ties by id.
static inline void small_world_index(small_world *small, float extent, float cell) {
    th_agents *a = &small->world.agents;
    int n = (int)(2.0f * extent / cell) + 1;
    small->grid = (th_level_grid){{-extent, -extent}, 1.0f / cell, cell, n, n, 0};
    if (n * n > SMALL_CELLS) abort();
    for (uint32_t i = 1; i < (uint32_t)a->count;
         ++i) { // insertion sort: nearly sorted after a step
        for (uint32_t j = i; j > 0; --j) {
            uint32_t left = small_world_cell(small, j - 1), right = small_world_cell(small, j);
            if (left < right || (left == right && a->id[j - 1] < a->id[j])) break;
            small_world_swap(small, j - 1, j);
        }
    }
    memset(small->cell_start, 0, sizeof small->cell_start);
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i)
        ++small->cell_start[small_world_cell(small, i) + 1];
    for (int c = 0; c < n * n; ++c) small->cell_start[c + 1] += small->cell_start[c];
}

static inline uint32_t small_world_find(const small_world *small, uint32_t id) {
    for (uint32_t i = 0; i < (uint32_t)small->world.agents.count; ++i)
        if (small->world.agents.id[i] == id) return i;
    abort();
}

// Commits next_* of every agent of group 0 that moves.
static inline void small_world_commit(small_world *small) {
    th_agents *a = &small->world.agents;
    for (int i = 0; i < a->count; ++i) {
        if (a->group[i] != 0 || !th_moves(a->phase[i])) continue;
        a->position_x[i] = a->next_position_x[i];
        a->position_y[i] = a->next_position_y[i];
        a->velocity_x[i] = a->next_velocity_x[i];
        a->velocity_y[i] = a->next_velocity_y[i];
    }
    ++small->world.step_count;
}
#endif
