// Counts neighbours in a grid: about nine cells per person. SPDX-License-Identifier: Apache-2.0
#include "draw/crowd.h"
#include <math.h>
#include <stdlib.h>

static const float REACH = 1.0f; // [m] radius of the density circle

// A grid of cells at least as wide as the reach, stored as counted runs.
typedef struct cell_grid {
    float min_x, min_y;
    float cell; // [m]
    int columns, rows;
    int *start; // columns * rows + 1
    int *member;
} cell_grid;

static int cell_of(const cell_grid *grid, const th_moment *crowd, int i) {
    float x = (float)crowd->x[i], y = (float)crowd->y[i];
    int column = (int)((x - grid->min_x) / grid->cell), row = (int)((y - grid->min_y) / grid->cell);
    return row * grid->columns + column;
}

static bool build_grid(cell_grid *grid, const th_moment *crowd) {
    float max_x = (float)crowd->x[0], max_y = (float)crowd->y[0];
    grid->min_x = max_x;
    grid->min_y = max_y;
    for (int i = 1; i < crowd->count; ++i) {
        grid->min_x = fminf(grid->min_x, (float)crowd->x[i]);
        grid->min_y = fminf(grid->min_y, (float)crowd->y[i]);
        max_x = fmaxf(max_x, (float)crowd->x[i]);
        max_y = fmaxf(max_y, (float)crowd->y[i]);
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
    for (int i = 0; i < crowd->count; ++i) grid->start[cell_of(grid, crowd, i)]++;
    for (size_t c = 1; c <= cells; ++c) grid->start[c] += grid->start[c - 1];
    // Counting down leaves start[c] at the first member of cell c.
    for (int i = crowd->count - 1; i >= 0; --i)
        grid->member[--grid->start[cell_of(grid, crowd, i)]] = i;
    return true;
}

static int count_near(const cell_grid *grid, const th_moment *crowd, int i) {
    int cell = cell_of(grid, crowd, i);
    int column = cell % grid->columns, row = cell / grid->columns, near = 0;
    for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < grid->rows; ++r) {
        int first = r * grid->columns + (column > 0 ? column - 1 : 0);
        int last = r * grid->columns + (column + 1 < grid->columns ? column + 1 : column);
        for (int k = grid->start[first]; k < grid->start[last + 1]; ++k) {
            int j = grid->member[k];
            float dx = (float)crowd->x[j] - (float)crowd->x[i];
            float dy = (float)crowd->y[j] - (float)crowd->y[i];
            bool person = th_moment_is_person(crowd, j) &&
                          th_moment_level(crowd, j) == th_moment_level(crowd, i);
            near += person && dx * dx + dy * dy <= REACH * REACH;
        }
    }
    return near;
}

float *th_crowd_density(const th_moment *crowd) {
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
