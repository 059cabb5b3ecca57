// Keeping to one side on the device: one thread per person. The fields are built on the host, where walls change, and
// sent when they were. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "device/upload.cuh"
#include "filter/keep_side/keep_side.h"

namespace th {

struct keep_side_copy {
    th_strip_cell *cells;
    th_strip_fields fields;
    uint32_t builds; // of the cells that were sent
};

static bool keep_side_create(th_world *host) {
    th_device_world *device = host->device_world;
    const th_keep_side *state = (const th_keep_side *)host->model_state[TH_FILTER_KEEP_SIDE];
    keep_side_copy *copy = (keep_side_copy *)malloc(sizeof *copy);
    if (!copy) return false;
    device->model_state[TH_FILTER_KEEP_SIDE] = copy;
    store &s = device->store;
    copy->builds = 0;
    copy->cells = s.room<th_strip_cell>(state->cell_count);
    copy->fields.count = state->fields.count;
    copy->fields.strips =
        copy_each(s, state->fields.strips, state->fields.count, [&](th_strip_field &strip) {
            for (int sense = 0; sense < 2; ++sense)
                strip.cells[sense] = copy->cells + (strip.cells[sense] - state->cells);
            strip.points = s.copy(strip.points, (size_t)strip.point_count);
            strip.at = s.copy(strip.at, (size_t)strip.point_count);
        });
    return !s.failed;
}

static void keep_side_destroy(th_world *host) {
    free(host->device_world->model_state[TH_FILTER_KEEP_SIDE]);
    host->device_world->model_state[TH_FILTER_KEEP_SIDE] = nullptr;
}

static void keep_side_run(th_world *host) {
    th_keep_side *state = (th_keep_side *)host->model_state[TH_FILTER_KEEP_SIDE];
    keep_side_copy *copy = (keep_side_copy *)host->device_world->model_state[TH_FILTER_KEEP_SIDE];
    th_strips_update(state, host);
    if (copy->builds != state->builds && state->cell_count > 0)
        put(copy->cells, state->cells, state->cell_count * sizeof *state->cells);
    copy->builds = state->builds;
    th_strip_fields fields = copy->fields;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_keep_side_filters(world, i)) return;
            th_walls walls = th_world_walls(world);
            th_keep_side_filter(world, &fields, &walls, i);
        });
}

const device_model device_filter_keep_side = {
    .create = keep_side_create, .destroy = keep_side_destroy, .run = keep_side_run};

} // namespace th
