// The cell sort: every agent array is put into cell order each step (row-major cells, so the three
// cells of a row are one contiguous run), ties by id. Cost O(agents + cells), order independent of
// threads. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_INDEX_H
#define TH_SPACE_INDEX_H
#include "throng/base.h"

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
    int cell_count, cell_capacity;
} th_index;

static inline int th_grid_column(const th_level_grid *grid, float x) {
    float c = (x - grid->origin.x) * grid->inverse_cell;
    return c <= 0.0f ? 0 : c >= (float)grid->nx ? grid->nx - 1 : (int)c; // outsiders sit in border cells
}
static inline int th_grid_row(const th_level_grid *grid, float y) {
    float c = (y - grid->origin.y) * grid->inverse_cell;
    return c <= 0.0f ? 0 : c >= (float)grid->ny ? grid->ny - 1 : (int)c;
}

// Agents of cells (column0..column1, row): the half-open run begin..end.
static inline void th_index_run(const th_index *index, const th_level_grid *grid, int row, int column0,
                                int column1, uint32_t *begin, uint32_t *end) {
    const uint32_t *start = index->cell_start + grid->first + row * grid->nx;
    *begin = start[column0];
    *end = start[column1 + 1];
}
#endif
