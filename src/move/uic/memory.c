// What the model remembers from step to step, as bytes for a snapshot: where the grids lie, then for all their
// cells both pressures and the mean preferred velocity. SPDX-License-Identifier: Apache-2.0
#include "move/uic/state.h"
#include <math.h>
#include <string.h>

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

size_t th_uic_saved_size(const th_world *world, int model) {
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

void th_uic_save(const th_world *world, int model, void *memory) {
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

bool th_uic_saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
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

void th_uic_restore(th_world *world, int model, const void *memory) {
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
