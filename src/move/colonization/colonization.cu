// Space colonization on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/colonization/colonization.h"

namespace th {

static bool colonization_create(th_world *host) {
    th_device_world *device = host->device_world;
    const th_markers *markers = (const th_markers *)host->model_state[TH_MOVE_COLONIZATION];
    th_markers *copy = (th_markers *)malloc(sizeof *copy);
    if (!copy) return false;
    device->model_state[TH_MOVE_COLONIZATION] = copy;
    copy->x = device->store.copy(markers->x, TH_MARKERS);
    copy->y = device->store.copy(markers->y, TH_MARKERS);
    copy->start = device->store.copy(markers->start, TH_MARKER_COLUMNS * TH_MARKER_COLUMNS + 1);
    return !device->store.failed;
}

static void colonization_destroy(th_world *host) {
    free(host->device_world->model_state[TH_MOVE_COLONIZATION]);
    host->device_world->model_state[TH_MOVE_COLONIZATION] = nullptr;
}

static void colonization_run(th_world *host) {
    th_markers markers = *(th_markers *)host->device_world->model_state[TH_MOVE_COLONIZATION];
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_colonization_moves(world, (uint32_t)i)) return;
            th_walls walls = th_world_walls(world);
            th_colonist c = th_colonist_of(world, &walls, (uint32_t)i);
            float wish = th_colonist_wish(&c);
            th_vec2 step = {0.0f, 0.0f};
            if (wish > 0.0f && !th_colonist_led(&c, wish, &step)) {
                th_colonist_find_close(&c);
                th_vec2 mean = th_colonist_mean(&c, &markers, th_colonist_direction(&c));
                step = th_colonist_step(&c, mean, wish);
            }
            th_colonist_take(world, &c, step, wish);
        });
}

const device_model device_move_colonization = {
    .create = colonization_create, .destroy = colonization_destroy, .run = colonization_run};

} // namespace th
