// Lists of candidates for the search of nearest neighbours. SPDX-License-Identifier: Apache-2.0
#include "state/nearest.h"
#include "state/neighbours.h"
#include <math.h>

#ifndef TH_DEVICE_CODE // the CPU's loop
void th_candidates_list(const th_world *world, th_candidates *list, int half) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[list->level];
    int column0 = list->column - half, column1 = list->column + half, row0 = list->row - half,
        row1 = list->row + half;
    // Border cells hold everybody beyond them, so a side on the border has no end.
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
    }
    float side = (float)(2 * half + 1) * grid->cell;
    list->density = (float)list->count / (side * side);
}

// How wide to look: until a circle inside the listed cells is likely to hold `wanted` people.
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

#endif

// Exact fallback for crowds too dense to list: one by one, kept sorted.
TH_BOTH void th_nearest_by_insertion(const th_world *world, uint32_t i, float range, int wanted,
                                     th_nearest *nearest) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    th_vec2 p = th_position(agents, i);
    float distances2[TH_NEAREST_MAX], limit2 = range * range;
    th_rows rows = th_rows_around(grid, p, range);
    int count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_position(agents, j), p));
            if (distance2 > limit2 || j == i) continue;
            if (count == wanted && distance2 == limit2 &&
                agents->id[j] > agents->id[nearest->agent[count - 1]])
                continue;
            int at = count < wanted ? count++ : wanted - 1;
            for (; at > 0 && (distances2[at - 1] > distance2 ||
                              (distances2[at - 1] == distance2 &&
                               agents->id[nearest->agent[at - 1]] > agents->id[j]));
                 --at) {
                distances2[at] = distances2[at - 1];
                nearest->agent[at] = nearest->agent[at - 1];
            }
            distances2[at] = distance2;
            nearest->agent[at] = j;
            if (count == wanted) limit2 = distances2[wanted - 1];
        }
    }
    nearest->count = count;
}

// People seen across a link to another level, merged in by distance. Rare, so plain insertion.
TH_BOTH void th_nearest_add_linked(const th_world *world, uint32_t i, int wanted, float range,
                                   th_nearest *nearest) {
    uint32_t found[TH_NEAREST_MAX];
    int count = th_linked_neighbours(world, i, range, found, TH_NEAREST_MAX);
    th_vec2 p = th_position(&world->agents, i);
    for (int k = 0; k < count; ++k) {
        float distance2 = th_length2(th_sub(th_position(&world->agents, found[k]), p));
        if (nearest->count == wanted) {
            th_vec2 last = th_position(&world->agents, nearest->agent[wanted - 1]);
            if (th_length2(th_sub(last, p)) <= distance2) continue;
            nearest->count--;
        }
        int at = nearest->count++;
        for (; at > 0; --at) {
            th_vec2 before = th_position(&world->agents, nearest->agent[at - 1]);
            if (th_length2(th_sub(before, p)) <= distance2) break;
            nearest->agent[at] = nearest->agent[at - 1];
        }
        nearest->agent[at] = found[k];
    }
}
