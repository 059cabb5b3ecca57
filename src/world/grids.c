// Grid views: what a model knows of a level's cells, copied out on request.
// SPDX-License-Identifier: Apache-2.0
#include "state/device.h"
#include "world/world.h"

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
        th_dealloc(&world->memory, world->grid_views[kind], world->grid_view_sizes[kind],
                   sizeof(float));
        world->grid_views[kind] = th_alloc(&world->memory, count, sizeof(float));
        world->grid_view_sizes[kind] = world->grid_views[kind] ? count : 0;
    }
    return world->grid_views[kind];
}

void th_release_grid_views(th_world *world) {
    for (int k = 0; k < TH_GRID_COUNT; ++k)
        th_dealloc(&world->memory, world->grid_views[k], world->grid_view_sizes[k], sizeof(float));
}

bool th_world_map_grid(th_world *world, th_grid_kind kind, int level, th_grid *grid) {
    *grid = (th_grid){0};
    if ((unsigned)kind >= TH_GRID_COUNT || level < 0 || level >= world->scene->level_count)
        return false;
    if (world->device) world->device->fetch_grids(world);
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (!model->grid || !model->grid(world, used[k], kind, level, grid, NULL)) continue;
        float *values = room_for(world, kind, (size_t)grid->nx * (size_t)grid->ny);
        if (values) return model->grid(world, used[k], kind, level, grid, values);
        *grid = (th_grid){0};
        return false;
    }
    return false;
}
