// What the model remembers from step to step, as bytes for a snapshot, and what it shows: grids of a level, running
// sums, what drives a person. SPDX-License-Identifier: Apache-2.0
#include "move/uic/pairs.h"
#include "move/uic/splat.h"
#include "state/influences.h"
#include <math.h>
#include <string.h>

// ---- snapshots: where the grids lie, then for all their cells both pressures and the mean preferred velocity

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

// ---- one level as of the last step

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

// ---- grid views, per m2 of ground

// People come whole: a quarter of a cell of the usual size holds three or four where it is full, and on less ground one
// more or less is half the density. Such a sliver (beside a stand, in a niche, outside of an exit) is looked at
// together with the cells it opens to.
static const float SLIVER = 0.25f;
static const float LEADS_ON = 0.5f; // open share of a face from which two cells share their ground
// Who stands where there is no ground at all is shown, and not as infinitely dense.
static const float LEAST_GROUND = 0.02f;

typedef struct spot {
    float people, packing, ground, pressure; // ground: free share of cells; pressure: times ground
} spot;

static void add_cell(spot *sum, const th_uic_view *view, size_t c) {
    sum->people += view->people[c];
    sum->packing += view->packing[c];
    sum->ground += view->capacity[c];
    sum->pressure += (float)view->pressure[c] * view->capacity[c];
}

static spot spot_of(const th_uic_view *view, int i, int j) {
    size_t nx = (size_t)view->grid.nx, c = (size_t)j * nx + (size_t)i;
    spot sum = {0};
    add_cell(&sum, view, c);
    if (sum.ground >= SLIVER || !(sum.packing > 0.0f)) return sum; // nobody: nothing to show
    if (i > 0 && view->aperture_x[c] >= LEADS_ON) add_cell(&sum, view, c - 1);
    if (i + 1 < view->grid.nx && view->aperture_x[c + 1] >= LEADS_ON) add_cell(&sum, view, c + 1);
    if (j > 0 && view->aperture_y[c] >= LEADS_ON) add_cell(&sum, view, c - nx);
    if (j + 1 < view->grid.ny && view->aperture_y[c + nx] >= LEADS_ON) add_cell(&sum, view, c + nx);
    return sum;
}

// All per ground as the model counts it, spread over cells as people are.
static float value_of(const th_uic_view *view, th_grid_kind kind, int i, int j) {
    spot at = spot_of(view, i, j);
    float ground = th_max(at.ground, LEAST_GROUND);
    switch (kind) {
    case TH_GRID_DENSITY: return at.people / (view->grid.h * view->grid.h * ground);
    case TH_GRID_PACKING: return at.packing / ground;
    default: return at.pressure / ground;
    }
}

bool th_uic_grid(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                 float *values) {
    (void)model;
    th_uic_view view = th_uic_view_of(world, level);
    if (!view.people) return false;
    *grid = (th_grid){view.grid.nx,       view.grid.ny, view.grid.origin.x,
                      view.grid.origin.y, view.grid.h,  values};
    for (int j = 0; values && j < view.grid.ny; ++j)
        for (int i = 0; i < view.grid.nx; ++i)
            values[(size_t)j * (size_t)view.grid.nx + (size_t)i] = value_of(&view, kind, i, j);
    return true;
}

// ---- what drives a person: the flow and its pressure as the last step left them, and those who push it now

static void tell_flow(const th_world *world, uint32_t i, th_influences *all) {
    const th_agents *a = &world->agents;
    const th_uic *uic = th_uic_of(world);
    int l = (int)a->level[i];
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    th_vec2 p = th_position(a, i);
    float x = (p.x - grid->origin.x) * grid->inverse_h,
          y = (p.y - grid->origin.y) * grid->inverse_h;
    // Not before the first step, nor where nobody was counted: the ring around the grid, beyond every centre.
    if (!level->measured || level->stale || !uic->groups[a->group[i]].pressure || !(x >= 1.0f) ||
        !(y >= 1.0f) || x >= (float)(grid->nx - 1) || y >= (float)(grid->ny - 1))
        return;
    int column = (int)x, row = (int)y, half_x = (int)(2.0f * x) % 2, half_y = (int)(2.0f * y) % 2;
    unsigned flags = th_uic_flags_of(uic, level, column, row, half_x, half_y);
    int shift =
        flags & TH_UIC_WALL ? th_uic_cell_shift(world, l, flags, column, row, p) : TH_UIC_OWN_CELL;
    if (shift == TH_UIC_NO_CELL) return;
    th_uic_place at = th_uic_place_of(grid, p, column, row, shift);
    th_uic_quarter quarter = {l, column, row, half_x, half_y, flags};
    th_walls walls = th_world_walls(world);
    int c = level->first + at.j * grid->nx + at.i;
    th_vec2 before = th_uic_preferred(world, level, i, at.j * grid->nx + at.i);
    th_vec2 after = th_uic_velocity_of(world, &walls, &quarter, i, shift);
    float room = th_uic_room_for(uic, uic->room[c], grid->inverse_h * grid->inverse_h);
    th_tell_vector(all, "before projection", "m/s", p, before, 0);
    th_tell_vector(all, "after projection", "m/s", p, after, 0);
    th_tell_vector(all, "taken by pressure", "m/s", p, th_sub(after, before), 0);
    th_tell_figure(all, "pressure here", "m2/s", (float)uic->pressure[c]);
    th_tell_figure(all, "packing here, of what has room", "-", uic->packing[c] / room);
}

// The pushes of the first pass of the pair step, from where everybody is now.
static void tell_pushes(th_world *world, uint32_t i, th_influences *all) {
    const th_agents *a = &world->agents;
    th_uic_pair_step step;
    if (th_uic_plan_passes(world, &step).passes == 0) return;
    for (int j = 0; j < a->count; ++j) {
        th_uic_begin_pairs(world, &step, (uint32_t)j);
        step.widest = th_max(step.widest, step.half[j]);
    }
    int level = (int)a->level[i];
    th_walls walls = th_world_walls(world);
    const th_level_grid *grid = &world->index.grids[level];
    th_vec2 p = th_position(a, i);
    th_rows rows = th_rows_around(grid, p, step.half[i] + step.widest);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 q = th_position(a, j), push = th_uic_push_of_pair(world, &step, i, j, p, q);
            if (th_length2(push) > 0.0f && th_walls_first_crossing(&walls, level, p, q, NULL) < 0)
                th_tell_vector(all, "push of a person", "m", p, th_scale(step.relax, push),
                               a->id[j]);
        }
}

int th_uic_influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    th_influences all = {list, 0, max};
    th_uic_read_groups(world);
    if (!th_uic_own(world, i)) return 0;
    tell_flow(world, i, &all);
    tell_pushes(world, i, &all);
    return all.count;
}
