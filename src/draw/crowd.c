// Copies a crowd out of its world and counts neighbours. SPDX-License-Identifier: Apache-2.0
#include "draw/crowd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float REACH = 1.0f; // [m] radius of the density circle

static bool read_field(th_world *world, th_field field, void *target, size_t bytes) {
    const void *view = th_world_map(world, field, TH_READ);
    if (!view) return false;
    memcpy(target, view, bytes);
    th_world_unmap(world, field);
    return true;
}

bool th_crowd_read(th_crowd *crowd, th_world *world) {
    *crowd = (th_crowd){.count = th_world_agent_count(world)};
    if (crowd->count == 0) return true;
    struct {
        th_field field;
        void *target;
    } columns[] = {
        {TH_FIELD_POSITION_X, &crowd->x},          {TH_FIELD_POSITION_Y, &crowd->y},
        {TH_FIELD_VELOCITY_X, &crowd->velocity_x}, {TH_FIELD_VELOCITY_Y, &crowd->velocity_y},
        {TH_FIELD_RADIUS, &crowd->radius},         {TH_FIELD_SPEED, &crowd->speed},
        {TH_FIELD_GOAL_X, &crowd->goal_x},         {TH_FIELD_GOAL_Y, &crowd->goal_y},
        {TH_FIELD_LEVEL, &crowd->level},           {TH_FIELD_GROUP, &crowd->group},
        {TH_FIELD_PHASE, &crowd->phase},
    };
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    size_t bytes = (size_t)crowd->count * 4; // every field is four bytes wide
    crowd->memory = malloc(COLUMNS * bytes);
    if (!crowd->memory) return false;
    for (int i = 0; i < COLUMNS; ++i) {
        void *column = (char *)crowd->memory + (size_t)i * bytes;
        memcpy(columns[i].target, &column, sizeof column);
        if (!read_field(world, columns[i].field, column, bytes)) return false;
    }
    return true;
}

void th_crowd_release(th_crowd *crowd) {
    free(crowd->memory);
    *crowd = (th_crowd){0};
}

// A grid of cells at least as wide as the reach, stored as counted runs.
typedef struct cell_grid {
    float min_x, min_y;
    float cell; // [m]
    int columns, rows;
    int *start; // columns * rows + 1
    int *member;
} cell_grid;

static int cell_of(const cell_grid *grid, float x, float y) {
    int column = (int)((x - grid->min_x) / grid->cell), row = (int)((y - grid->min_y) / grid->cell);
    return row * grid->columns + column;
}

static bool build_grid(cell_grid *grid, const th_crowd *crowd) {
    float max_x = crowd->x[0], max_y = crowd->y[0];
    grid->min_x = max_x;
    grid->min_y = max_y;
    for (int i = 1; i < crowd->count; ++i) {
        grid->min_x = fminf(grid->min_x, crowd->x[i]);
        grid->min_y = fminf(grid->min_y, crowd->y[i]);
        max_x = fmaxf(max_x, crowd->x[i]);
        max_y = fmaxf(max_y, crowd->y[i]);
    }
    // On an open plane a few people may be far apart: wider cells keep the grid as small as the crowd.
    float width = max_x - grid->min_x, height = max_y - grid->min_y;
    float cells_wanted = 8.0f * (float)crowd->count + 4096.0f;
    grid->cell = fmaxf(REACH, sqrtf(width * height / cells_wanted));
    grid->cell = fmaxf(grid->cell, fmaxf(width, height) / cells_wanted);
    grid->columns = (int)(width / grid->cell) + 1;
    grid->rows = (int)(height / grid->cell) + 1;
    size_t cells = (size_t)grid->columns * (size_t)grid->rows;
    grid->start = calloc(cells + 1, sizeof *grid->start);
    grid->member = malloc((size_t)crowd->count * sizeof *grid->member);
    if (!grid->start || !grid->member) return false;
    for (int i = 0; i < crowd->count; ++i) grid->start[cell_of(grid, crowd->x[i], crowd->y[i])]++;
    for (size_t c = 1; c <= cells; ++c) grid->start[c] += grid->start[c - 1];
    // Counting down leaves start[c] at the first member of cell c.
    for (int i = crowd->count - 1; i >= 0; --i)
        grid->member[--grid->start[cell_of(grid, crowd->x[i], crowd->y[i])]] = i;
    return true;
}

static int count_near(const cell_grid *grid, const th_crowd *crowd, int i) {
    int cell = cell_of(grid, crowd->x[i], crowd->y[i]);
    int column = cell % grid->columns, row = cell / grid->columns, near = 0;
    for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < grid->rows; ++r) {
        int first = r * grid->columns + (column > 0 ? column - 1 : 0);
        int last = r * grid->columns + (column + 1 < grid->columns ? column + 1 : column);
        for (int k = grid->start[first]; k < grid->start[last + 1]; ++k) {
            int j = grid->member[k];
            float dx = crowd->x[j] - crowd->x[i], dy = crowd->y[j] - crowd->y[i];
            bool person = crowd->phase[j] != TH_PHASE_BODY && crowd->level[j] == crowd->level[i];
            near += person && dx * dx + dy * dy <= REACH * REACH;
        }
    }
    return near;
}

float *th_crowd_density(const th_crowd *crowd) {
    float *density = malloc(((size_t)crowd->count + 1) * sizeof *density);
    if (!density || crowd->count == 0) return density;
    cell_grid grid = {0};
    if (build_grid(&grid, crowd)) {
        for (int i = 0; i < crowd->count; ++i)
            density[i] = (float)count_near(&grid, crowd, i) / (3.14159265f * REACH * REACH);
    } else {
        free(density);
        density = NULL;
    }
    free(grid.start);
    free(grid.member);
    return density;
}
