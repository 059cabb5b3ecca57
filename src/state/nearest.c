// Lists of candidates for the search of nearest neighbours. SPDX-License-Identifier: Apache-2.0
#include "state/nearest.h"
#include <math.h>

// Removes agents that lie on the ground from the list, from `from` on.
static void drop_fallen(const th_agents *agents, th_candidates *list, int from) {
    int kept = from;
    for (int k = from; k < list->count; ++k) {
        if (!th_in_the_way(agents->phase[list->agent[k]])) continue;
        list->x[kept] = list->x[k];
        list->y[kept] = list->y[k];
        list->id[kept] = list->id[k];
        list->agent[kept++] = list->agent[k];
    }
    list->count = kept;
}

void th_candidates_list(const th_world *world, th_candidates *list, int half) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[list->level];
    int column0 = list->column - half, column1 = list->column + half, row0 = list->row - half,
        row1 = list->row + half;
    // Border cells hold all agents beyond them, so a side on the border has no end.
    const float far = 1e30f;
    list->min_x = column0 <= 0 ? -far : grid->origin.x + (float)column0 * grid->cell;
    list->max_x =
        column1 >= grid->nx - 1 ? far : grid->origin.x + (float)(column1 + 1) * grid->cell;
    list->min_y = row0 <= 0 ? -far : grid->origin.y + (float)row0 * grid->cell;
    list->max_y = row1 >= grid->ny - 1 ? far : grid->origin.y + (float)(row1 + 1) * grid->cell;
    column0 = column0 < 0 ? 0 : column0;
    row0 = row0 < 0 ? 0 : row0;
    column1 = column1 > grid->nx - 1 ? grid->nx - 1 : column1;
    row1 = row1 > grid->ny - 1 ? grid->ny - 1 : row1;
    list->half = half;
    list->count = 0;
    for (int row = row0; row <= row1; ++row) {
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, column0, column1, &begin, &end);
        int run = (int)(end - begin);
        if (list->count + run > TH_CANDIDATES) {
            list->count = TH_CANDIDATES + 1;
            return;
        }
        memcpy(list->x + list->count, agents->position_x + begin, (size_t)run * sizeof *list->x);
        memcpy(list->y + list->count, agents->position_y + begin, (size_t)run * sizeof *list->y);
        memcpy(list->id + list->count, agents->id + begin, (size_t)run * sizeof *list->id);
        for (int k = 0; k < run; ++k) list->agent[list->count + k] = begin + (uint32_t)k;
        list->count += run;
        if (world->counters.fallen > 0) drop_fallen(agents, list, list->count - run);
    }
    float side = (float)(2 * half + 1) * grid->cell;
    list->density = (float)list->count / (side * side);
}

// Lists the candidates of a cell, from as many cells around as are likely to hold `wanted` people within a circle.
void th_candidates_for_cell(const th_world *world, th_candidates *list, int level, int column,
                            int row, int wanted, float range) {
    list->level = level;
    list->column = column;
    list->row = row;
    float cell = world->index.grids[level].cell;
    int widest = (int)ceilf(range / cell);
    for (int half = 1;; ++half) {
        th_candidates_list(world, list, half);
        float radius = (float)half * cell;
        bool enough = list->density * 3.14159265f * radius * radius >= 1.1f * (float)wanted;
        if (enough || half >= widest || list->count > TH_CANDIDATES) return;
    }
}
