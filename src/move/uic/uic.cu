// The model uic on a device: its state, the order of a step, and its line of the device's table.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/device.cuh"

namespace th {

// ---- its state

// All arrays of the model. Some are others' too: between the solves nobody needs the direction, and without bodies
// there is as much room as capacity.
static void take_arrays(store &s, uic_device *device, size_t n) {
    th_uic *uic = &device->known;
#define X(type, name, count, doc) uic->name = nullptr;
    TH_UIC_ARRAYS(X)
    TH_UIC_HOST_ARRAYS(X)
#undef X
    uic->renormed_u = (float *)device->d[0];
    uic->renormed_v = uic->renormed_u ? uic->renormed_u + n : nullptr;
    uic->capacity = s.room<float>(n), uic->aperture_x = s.room<float>(n),
    uic->aperture_y = s.room<float>(n);
    if (!device->bodies)
        uic->room = uic->capacity, uic->open_x = uic->aperture_x, uic->open_y = uic->aperture_y;
#define X(type, name, count, doc) \
    if (!uic->name) uic->name = s.room<type>((size_t)(count));
    TH_UIC_ARRAYS(X)
#undef X
}

static bool create(th_world *host) {
    uic_device *device = new (std::nothrow) uic_device();
    if (!device) return false;
    host->device_world->model_state[TH_MOVE_UIC] = device;
    store &s = host->device_world->store;
    const th_uic *uic = th_uic_of(host);
    size_t levels = (size_t)uic->level_count;
    for (size_t l = 0; l < levels; ++l) {
        device->open = device->open || !host->scene->levels[l].bounded;
        device->bodies = device->bodies || uic->levels[l].has_bodies;
    }
    device->known = *uic;
    if (!uic_take_pressure(host) || !uic_take_pairs(host)) return false;
    take_arrays(s, device, (size_t)uic->cell_capacity);
    device->state = s.room<th_uic>(1);
    device->built_over = (th_box *)malloc(levels * sizeof *device->built_over);
    host->device_world->known.model_state[TH_MOVE_UIC] = device->state;
    return !s.failed && device->built_over && device->crowd.create(4 * levels);
}

static void destroy(th_world *host) {
    uic_device *device = uic_device_of(host);
    if (!device) return;
    device->crowd.destroy();
    free(device->built_over);
    delete device;
    host->device_world->model_state[TH_MOVE_UIC] = nullptr;
}

// ---- a step

static void cover_bodies(th_world *host) {
    uic_device *device = uic_device_of(host);
    if (!device->bodies) return;
    clear(device->known.covered, (size_t)device->cells * sizeof *device->known.covered);
    everybody(
        host, TH_LAMBDA(th_world * world, int i) {
            const th_agents *a = &world->agents;
            if (a->phase[i] == TH_PHASE_BODY)
                th_uic_cover_disc(th_uic_of(world), &th_uic_of(world)->levels[a->level[i]],
                                  th_v(a->next_position_x[i], a->next_position_y[i]), a->radius[i]);
        });
    th_world *world = host->device_world->world;
    for (int l = 0; l < th_uic_of(host)->level_count; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        int nx = level->grid.nx, first = level->first + nx;
        if (level->has_bodies)
            each(
                nx * (level->grid.ny - 1),
                TH_LAMBDA(int k) { th_uic_cover_cell(th_uic_of(world), nx, first + k); });
    }
}

static void run(th_world *host) {
    cover_bodies(host);
    uic_splat(host);
    uic_project(host);
    uic_follow(host);
    uic_separate(host);
}

const device_model device_move_uic = {.create = create,
                                      .destroy = destroy,
                                      .run = run,
                                      .send = uic_send,
                                      .fetch = uic_fetch,
                                      .fetch_grids = uic_fetch_grids,
                                      .build_index = uic_build_index};

} // namespace th
