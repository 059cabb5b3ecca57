// Grid views: what the model uic knows of a level's cells, copied out on request.
// SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "move/uic/model.h"
#include "state/device.h"
#include "world/world.h"
#include <assert.h>

const char *th_grid_name(th_grid_kind kind) {
    static const char *const names[] = {
#define X(NAME, name, doc) #name,
        TH_GRIDS(X)
#undef X
    };
    return (unsigned)kind < TH_GRID_COUNT ? names[kind] : "unknown";
}

static float *room_for(th_world *world, th_grid_kind kind, size_t count) {
    if (world->grid_view_sizes[kind] < count) {
        th_free(&world->memory, world->grid_views[kind], world->grid_view_sizes[kind],
                sizeof(float));
        world->grid_views[kind] = th_alloc(&world->memory, count, sizeof(float));
        world->grid_view_sizes[kind] = world->grid_views[kind] ? count : 0;
    }
    return world->grid_views[kind];
}

void th_release_grid_views(th_world *world) {
    for (int k = 0; k < TH_GRID_COUNT; ++k)
        th_free(&world->memory, world->grid_views[k], world->grid_view_sizes[k], sizeof(float));
}

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

bool th_world_map_grid(th_world *world, th_grid_kind kind, int level, th_grid *grid) {
    assert((unsigned)kind < TH_GRID_COUNT);
    *grid = (th_grid){0};
    if (world->device) world->device->fetch_grids(world);
    th_uic_view view = th_uic_view_of(world, level);
    if (!view.people) return false;
    size_t count = (size_t)view.grid.nx * (size_t)view.grid.ny;
    float *values = room_for(world, kind, count);
    if (!values) return false;
    for (int j = 0; j < view.grid.ny; ++j)
        for (int i = 0; i < view.grid.nx; ++i)
            values[(size_t)j * (size_t)view.grid.nx + (size_t)i] = value_of(&view, kind, i, j);
    *grid = (th_grid){view.grid.nx,       view.grid.ny, view.grid.origin.x,
                      view.grid.origin.y, view.grid.h,  values};
    return true;
}
