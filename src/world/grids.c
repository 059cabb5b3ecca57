// Grid views: what the model uic knows of a level's cells, copied out on request.
// SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "move/uic.h"
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

static float value_of(const th_uic_view *view, th_grid_kind kind, size_t c) {
    // Less ground than a hand's breadth of the cell says nothing about people per square metre.
    const float least = 0.02f;
    float h2 = view->grid.h * view->grid.h;
    switch (kind) {
    case TH_GRID_DENSITY: return view->people[c] / (h2 * th_max(view->free_area[c], least));
    case TH_GRID_PACKING: return view->packing[c] / th_max(view->capacity[c], least);
    default: return (float)view->pressure[c];
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
    for (size_t c = 0; c < count; ++c) values[c] = value_of(&view, kind, c);
    *grid = (th_grid){view.grid.nx,       view.grid.ny, view.grid.origin.x,
                      view.grid.origin.y, view.grid.h,  values};
    return true;
}
