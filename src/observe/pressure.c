// The pressure that a model keeps (TH_GRID_PRESSURE), on the cells of the maps. A model's grid has its own cells,
// and on an open plane it moves, so every sample is laid anew: a cell of the map gets the largest value of the
// model's cells whose middles are in it or, where the model's are larger, that of the one its own middle is
// in. Nothing is interpolated, because a thin wall may have a packed and an empty side, and no peak gets
// lost. SPDX-License-Identifier: Apache-2.0
#include "observe/parts.h"
#include <stdlib.h>

void th_map_forget_pressure(th_map *map) {
    free(map->pressure_sum);
    free(map->pressure_max);
    map->pressure_sum = NULL;
    map->pressure_max = NULL;
}

bool th_map_make_pressure(th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    th_map_forget_pressure(map);
    map->pressure_sum = calloc(cells, sizeof *map->pressure_sum);
    map->pressure_max = calloc(cells, sizeof *map->pressure_max);
    if (map->pressure_sum && map->pressure_max) return true;
    th_map_forget_pressure(map);
    return false;
}

// The model's columns (or rows) first .. last; none when first > last.
typedef struct cell_range {
    int first, last;
} cell_range;

// The first cell of `count` whose middle is at `at` or behind, in cells from the grid's edge.
static int first_behind(float at, int count) {
    float wanted = at - 0.5f;
    if (!(wanted > 0.0f)) return 0;
    if (wanted > (float)(count - 1)) return count;
    int cell = (int)wanted;
    return (float)cell < wanted ? cell + 1 : cell;
}

// For the map's cell between low and high.
static cell_range range_of(float low, float high, int count) {
    cell_range range = {first_behind(low, count), first_behind(high, count) - 1};
    float middle = 0.5f * (low + high);
    if (range.first > range.last && middle >= 0.0f && middle < (float)count)
        range.first = range.last = (int)middle;
    return range;
}

static float largest_in(const th_grid *grid, cell_range columns, cell_range rows) {
    float largest = 0.0f;
    for (int j = rows.first; j <= rows.last; ++j)
        for (int i = columns.first; i <= columns.last; ++i)
            if (grid->values[(size_t)j * (size_t)grid->nx + (size_t)i] > largest)
                largest = grid->values[(size_t)j * (size_t)grid->nx + (size_t)i];
    return largest;
}

bool th_map_take_pressure(th_map *map, const th_grid *grid) {
    if (!map->pressure_max && !th_map_make_pressure(map)) return false;
    float ratio = map->cell / grid->cell;
    float x = (map->min_x - grid->min_x) / grid->cell, y = (map->min_y - grid->min_y) / grid->cell;
    for (int j = 0; j < map->ny; ++j) {
        cell_range rows = range_of(y + (float)j * ratio, y + (float)(j + 1) * ratio, grid->ny);
        if (rows.first > rows.last) continue;
        for (int i = 0; i < map->nx; ++i) {
            size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
            if (!(map->walkable[c] > 0.0f)) continue;
            cell_range columns =
                range_of(x + (float)i * ratio, x + (float)(i + 1) * ratio, grid->nx);
            float pressure = largest_in(grid, columns, rows);
            if (!(pressure > 0.0f)) continue;
            map->pressure_sum[c] += (double)pressure;
            if (pressure > map->pressure_max[c]) map->pressure_max[c] = pressure;
        }
    }
    return true;
}

float th_grid_at(const th_grid *grid, float x, float y) {
    float column = (x - grid->min_x) / grid->cell, row = (y - grid->min_y) / grid->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return 0.0f;
    return grid->values[(size_t)row * (size_t)grid->nx + (size_t)column];
}
