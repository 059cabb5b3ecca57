// The cell sort: every agent array is put into cell order each step (row-major cells, so the cells of
// a row are one contiguous run), ties by id. Cost O(agents + cells); the order does not depend on
// threads. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_INDEX_H
#define TH_SPACE_INDEX_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/math.h"
#include "throng/base.h"
#include <math.h>

typedef struct th_level_grid {
    th_vec2 origin;
    float inverse_cell, cell;
    int nx, ny;
    int first; // index of this level's first cell in cell_start
} th_level_grid;

typedef struct th_index {
    th_level_grid *grids; // by level
    int level_count;
    uint32_t *cell_start; // cell c holds agents cell_start[c] .. cell_start[c+1]
    uint32_t *block_sum;  // work space of the prefix sum
    int cell_count, cell_capacity;
} th_index;

TH_BOTH static inline int th_grid_column(const th_level_grid *grid, float x) {
    float c = (x - grid->origin.x) * grid->inverse_cell;
    // People outside the grid are kept in its border cells. Queries are clamped the same way, so they find them.
    return !(c > 0.0f) ? 0 : c >= (float)grid->nx ? grid->nx - 1 : (int)c;
}
TH_BOTH static inline int th_grid_row(const th_level_grid *grid, float y) {
    float c = (y - grid->origin.y) * grid->inverse_cell;
    return !(c > 0.0f) ? 0 : c >= (float)grid->ny ? grid->ny - 1 : (int)c;
}

// Agents of the cells (column0 .. column1, row): the half-open run begin .. end.
TH_BOTH static inline void th_index_run(const th_index *index, const th_level_grid *grid, int row,
                                        int column0, int column1, uint32_t *begin, uint32_t *end) {
    const uint32_t *start = index->cell_start + grid->first + row * grid->nx;
    *begin = start[column0];
    *end = start[column1 + 1];
}

// All agents that may be within `reach` of p, as one run per row of cells:
//   th_rows rows = th_rows_around(grid, p, reach);
//   for (uint32_t begin, end; th_next_run(index, grid, &rows, &begin, &end);)
//       for (uint32_t j = begin; j < end; ++j) ...
typedef struct th_rows {
    int row, last_row, column0, column1;
} th_rows;

TH_BOTH static inline th_rows th_rows_around(const th_level_grid *grid, th_vec2 p, float reach) {
    th_rows rows = {th_grid_row(grid, p.y - reach), th_grid_row(grid, p.y + reach),
                    th_grid_column(grid, p.x - reach), th_grid_column(grid, p.x + reach)};
    return rows;
}
TH_BOTH static inline bool th_next_run(const th_index *index, const th_level_grid *grid,
                                       th_rows *rows, uint32_t *begin, uint32_t *end) {
    if (rows->row > rows->last_row) return false;
    th_index_run(index, grid, rows->row++, rows->column0, rows->column1, begin, end);
    return true;
}

// The same, but each row covers only the width of the circle at its height: a fifth fewer people for one square
// root per row.
TH_BOTH static inline bool th_next_run_within(const th_index *index, const th_level_grid *grid,
                                              th_rows *rows, th_vec2 p, float reach,
                                              uint32_t *begin, uint32_t *end) {
    if (rows->row > rows->last_row) return false;
    int row = rows->row++;
    float slack = 0.01f * grid->cell; // more than the coordinates round
    float bottom = grid->origin.y + (float)row * grid->cell, top = bottom + grid->cell;
    float off = (p.y < bottom ? bottom - p.y : p.y - top) - slack;
    // Rows at the border hold all agents beyond it too.
    if (off < 0.0f || row == 0 || row == grid->ny - 1) off = 0.0f;
    float inside2 = reach * reach - off * off,
          half = th_root(inside2 > 0.0f ? inside2 : 0.0f) + slack;
    th_index_run(index, grid, row, th_grid_column(grid, p.x - half),
                 th_grid_column(grid, p.x + half), begin, end);
    return true;
}

// Its arrays belong to the arena, which remembers when there was no memory.
void th_index_create(th_index *index, th_arena *arena, int level_count, int cell_capacity);

#define TH_NO_CELL UINT32_MAX

// Sorts agents 0 .. count. `cell` holds each agent's cell (TH_NO_CELL: drop it) and is used up;
// order[k] becomes the old index of the k-th agent in (cell, id) order. Returns how many remain.
uint32_t th_index_sort(th_index *index, int count, uint32_t *cell, const uint32_t *id,
                       uint32_t *slot, uint32_t *order, int threads);

// One formula for counting cells and for building grids: rounded differently, the last cell would not fit.
TH_BOTH static inline double th_index_cells_along(float low, float high, float cell) {
    return floor(((double)high - (double)low) / (double)cell) + 1.0;
}

TH_BOTH static inline double th_index_cells_for(const th_box *box, float cell) {
    return th_index_cells_along(box->min_x, box->max_x, cell) *
           th_index_cells_along(box->min_y, box->max_y, cell);
}

// Builds a grid of cells over one box per level; cells grow beyond `cell` when they would not fit the capacity.
TH_BOTH static inline void th_index_build_grids(th_index *index, const th_box *boxes, float cell) {
    for (;; cell *= 1.25f) {
        double total = 0.0;
        for (int l = 0; l < index->level_count; ++l) total += th_index_cells_for(&boxes[l], cell);
        if (total <= (double)index->cell_capacity) break;
    }
    int first = 0;
    for (int l = 0; l < index->level_count; ++l) {
        th_level_grid *grid = &index->grids[l];
        grid->origin.x = boxes[l].min_x;
        grid->origin.y = boxes[l].min_y;
        grid->cell = cell;
        grid->inverse_cell = 1.0f / cell;
        grid->nx = (int)th_index_cells_along(boxes[l].min_x, boxes[l].max_x, cell);
        grid->ny = (int)th_index_cells_along(boxes[l].min_y, boxes[l].max_y, cell);
        grid->first = first;
        first += grid->nx * grid->ny;
    }
    index->cell_count = first;
}

TH_BOTH static inline void th_index_sort_cell(uint32_t *order, uint32_t begin, uint32_t end,
                                              const uint32_t *id) {
    for (uint32_t k = begin + 1; k < end; ++k) {
        uint32_t moving = order[k], key = id[moving], at = k;
        for (; at > begin && id[order[at - 1]] > key; --at) order[at] = order[at - 1];
        order[at] = moving;
    }
}
#endif
