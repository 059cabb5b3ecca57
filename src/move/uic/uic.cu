// The model uic on a device: its state, the order of a step, and its line of the device's table.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/device.cuh"
#include "move/uic/pressure_levels.cuh"
#include "move/uic/project.h"

// ---- grids
// The places of the grids on a device, and transfers. The host measures ground and apertures
// (grids.c), when walls change or the crowd of an open plane has wandered, and sends them.

namespace th {

enum { LOOK_EVERY = 8 }; // steps between two looks at where an open plane's crowd is

struct old_grid {
    th_staggered grid;
    int first;
    bool measured;
};

// Values of the last step go along where the new grid is on the same lattice.
template <class T>
static void move_cells(const th_world *host, const old_grid *old, T *values, T *spare) {
    int cells = 0;
    for (int l = 0; l < host->scene->level_count; ++l) {
        old_grid from = old[l];
        th_staggered to = th_uic_of(host)->levels[l].grid;
        int first = th_uic_of(host)->levels[l].first, count = to.nx * to.ny;
        cells = first + count;
        each(
            count, TH_LAMBDA(int k) {
                int before =
                    from.measured ? th_uic_cell_before(&from.grid, &to, k % to.nx, k / to.nx) : -1;
                spare[first + k] = before >= 0 ? values[from.first + before] : 0;
            });
    }
    each(
        cells, TH_LAMBDA(int c) { values[c] = spare[c]; });
}

// Flags of the quarters, and which cells have to look for strays: those within two of a wall.
static bool send_quarters(const th_world *host) {
    const th_uic *uic = th_uic_of(host);
    const uic_device *device = uic_device_of(host);
    uint8_t *flags = (uint8_t *)malloc(4 * (size_t)device->cells + 1);
    if (!flags) return false;
    memcpy(flags, uic->quarters, 4 * (size_t)device->cells);
    for (int l = 0; l < uic->level_count; ++l) {
        if (!uic->levels[l].walled) continue;
        int nx = uic->levels[l].grid.nx, ny = uic->levels[l].grid.ny;
        uint8_t *level = flags + 4 * (size_t)uic->levels[l].first;
        for (int row = 0; row < 2 * ny; ++row)
            for (int column = 0; column < 2 * nx; ++column) {
                if (!(level[row * 2 * nx + column] & TH_UIC_WALL)) continue;
                for (int j = row / 2 - 2; j <= row / 2 + 2; ++j)
                    for (int i = column / 2 - 2; i <= column / 2 + 2; ++i)
                        if (i >= 0 && j >= 0 && i < nx && j < ny)
                            level[4 * j * nx + 2 * i] |= MAY_HAVE_STRAYS;
            }
    }
    bool good = put(device->known.quarters, flags, 4 * (size_t)device->cells);
    free(flags);
    return good;
}

// The device's struct, its levels and groups, after either has changed on the host.
static bool send_uic(const th_world *host) {
    uic_device *device = uic_device_of(host);
    th_uic now = *th_uic_of(host), *known = &device->known;
#define X(type, name, count, doc) now.name = known->name;
    TH_UIC_ARRAYS(X)
#undef X
#define X(type, name, count, doc) now.name = nullptr;
    TH_UIC_HOST_ARRAYS(X)
#undef X
    now.work = nullptr;
    *known = now;
    return put(device->state, known, sizeof *known) &&
           put(known->levels, th_uic_of(host)->levels,
               (size_t)now.level_count * sizeof *now.levels) &&
           put(known->groups, th_uic_of(host)->groups,
               (size_t)now.group_count * sizeof *now.groups) &&
           put(known->gates, th_uic_of(host)->gates, (size_t)now.gate_count * sizeof *now.gates) &&
           put(known->link_faces, th_uic_of(host)->link_faces,
               (size_t)now.link_face_count * sizeof *now.link_faces);
}

static bool send_ground(const th_world *host) {
    const th_uic *uic = th_uic_of(host), *known = &uic_device_of(host)->known;
    size_t bytes = (size_t)uic_device_of(host)->cells * sizeof(float);
    // Without bodies `room` and `open` are `capacity` and `aperture`.
    return put(known->capacity, uic->capacity, bytes) &&
           put(known->aperture_x, uic->aperture_x, bytes) &&
           put(known->aperture_y, uic->aperture_y, bytes) &&
           put(known->room, uic->capacity, bytes) && put(known->open_x, uic->aperture_x, bytes) &&
           put(known->open_y, uic->aperture_y, bytes) && put(known->exit_x, uic->exit_x, bytes) &&
           put(known->exit_y, uic->exit_y, bytes) && put(known->gate_x, uic->gate_x, bytes) &&
           put(known->gate_y, uic->gate_y, bytes) && put(known->hold, uic->hold, bytes) &&
           put(known->anchor, uic->anchor, bytes / sizeof(float) * sizeof *uic->anchor) &&
           send_quarters(host);
}

static bool send_memory(const th_world *host) {
    const th_uic *uic = th_uic_of(host), *known = &uic_device_of(host)->known;
    size_t cells = (size_t)uic_device_of(host)->cells;
    return put(known->inner_pressure, uic->inner_pressure, cells * sizeof(double)) &&
           put(known->pressure, uic->pressure, cells * sizeof(double)) &&
           put(known->mean_x, uic->mean_x, cells * sizeof(float)) &&
           put(known->mean_y, uic->mean_y, cells * sizeof(float));
}

// People that come later may be larger than those inside.
static float largest_radius(const th_world *host) {
    float most = host->max_radius;
    for (int g = 0; host->device_world->sources && g < host->scene->group_count; ++g) {
        const th_distribution *radius = &host->scene->groups[g].radius;
        most = th_max(most, (float)(radius->kind == TH_DISTRIBUTION_CONSTANT  ? radius->a
                                    : radius->kind == TH_DISTRIBUTION_UNIFORM ? radius->b
                                                                              : radius->max));
    }
    return most;
}

// A box over which the grid would be built as it is.
static th_box box_of(const th_staggered *grid) {
    double h = (double)grid->h;
    th_box box = {(float)((grid->column + 1.5) * h), (float)((grid->row + 1.5) * h),
                  (float)((grid->column + grid->nx - 1.5) * h),
                  (float)((grid->row + grid->ny - 1.5) * h)};
    return box;
}

// Builds the grids over device->built_over, measures what is new on them, sends all of it. `from_host`: with the
// pressures that are on the host.
static bool build_grids(th_world *host, bool from_host) {
    uic_device *device = uic_device_of(host);
    int levels = host->scene->level_count;
    old_grid *old = (old_grid *)malloc((size_t)levels * sizeof *old);
    if (!old) return false;
    for (int l = 0; l < levels; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        old[l] = {level->grid, level->first, level->measured};
    }
    memcpy(host->level_boxes, device->built_over, (size_t)levels * sizeof *device->built_over);
    float cell = th_uic_build_grids(host, host->level_boxes), radius = host->max_radius;
    th_index_build_grids(&host->index, host->level_boxes, cell);
    host->max_radius = largest_radius(host);
    th_uic_prepare(host);
    host->max_radius = radius;
    bool same = !from_host;
    device->cells = 0;
    for (int l = 0; l < levels; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        device->cells = level->first + level->grid.nx * level->grid.ny;
        if (!host->scene->levels[l].bounded) device->built_over[l] = box_of(&level->grid);
        same = same && old[l].measured &&
               memcmp(&old[l].grid, &level->grid, sizeof level->grid) == 0 &&
               old[l].first == level->first;
    }
    th_uic *known = &device->known;
    if (!same && !from_host) {
        move_cells(host, old, known->inner_pressure, device->r[0]);
        move_cells(host, old, known->pressure, device->r[0]);
        move_cells(host, old, known->mean_x, known->renormed_u);
        move_cells(host, old, known->mean_y, known->renormed_u);
    }
    free(old);
    bool good = finish() && (!from_host || send_memory(host));
    th_device_world *world = host->device_world;
    world->cells = world->known.index.cell_count = host->index.cell_count;
    return good && send_uic(host) && send_ground(host) &&
           put(world->known.index.grids, host->index.grids,
               (size_t)levels * sizeof *host->index.grids) &&
           put(&world->world->index.cell_count, &host->index.cell_count, sizeof(int));
}

// Does the box that an open plane's grid was built over no longer suit its crowd? Then it is made anew, with room
// for the way of two looks.
static bool follow_crowd(const th_world *host, th_box *box, th_box crowd, bool first) {
    if (!(crowd.min_x <= crowd.max_x)) return false;
    float room = 2.0f * th_uic_of(host)->h + 2.0f * (float)LOOK_EVERY * TH_UIC_QUICK * host->dt,
          least = 0.5f * room;
    bool inside = crowd.min_x - least >= box->min_x && crowd.min_y - least >= box->min_y &&
                  crowd.max_x + least <= box->max_x && crowd.max_y + least <= box->max_y;
    th_box wide = {crowd.min_x - room, crowd.min_y - room, crowd.max_x + room, crowd.max_y + room};
    double area =
        ((double)box->max_x - (double)box->min_x) * ((double)box->max_y - (double)box->min_y);
    double suits =
        ((double)wide.max_x - (double)wide.min_x) * ((double)wide.max_y - (double)wide.min_y);
    if (!first && inside && area <= 2.0 * suits) return false;
    *box = wide;
    return true;
}

static th_box crowd_on_host(const th_world *host, int l) {
    const th_agents *agents = &host->agents;
    th_box box = {1e30f, 1e30f, -1e30f, -1e30f};
    for (int i = 0; i < agents->count; ++i) {
        if (agents->level[i] != (uint32_t)l || th_gone(agents->phase[i])) continue;
        float x = agents->position_x[i], y = agents->position_y[i];
        box = {th_min(box.min_x, x), th_min(box.min_y, y), th_max(box.max_x, x),
               th_max(box.max_y, y)};
    }
    return box;
}

// After the host's arrays have been sent.
static bool uic_send(th_world *host) {
    uic_device *device = uic_device_of(host);
    bool restored = false; // pressures on the host are newer
    for (int l = 0; l < host->scene->level_count; ++l) {
        const th_level *level = &host->scene->levels[l];
        const th_uic_level *last = &th_uic_of(host)->levels[l];
        restored = restored || !device->has_grids || last->stale;
        if (!device->has_grids) device->built_over[l] = level->box;
        if (level->bounded) continue;
        if (last->measured) device->built_over[l] = box_of(&last->grid);
        follow_crowd(host, &device->built_over[l], crowd_on_host(host, l), !last->measured);
    }
    device->has_grids = true;
    device->looking = false;
    return build_grids(host, restored);
}

// Once a step, before people are sorted: has an open plane's crowd wandered? What is looked at now is used at the
// next look, so that nothing has to wait for it.
static void uic_build_index(th_world *host) {
    uic_device *device = uic_device_of(host);
    if (!device->open || host->step_count % LOOK_EVERY != 0 ||
        (device->looking && device->looked == host->step_count))
        return;
    int levels = host->scene->level_count;
    if (device->looking) {
        device->crowd.receive();
        bool wandered = false;
        for (int l = 0; l < levels; ++l) {
            const uint32_t *key = device->crowd.words + 4 * l;
            if (host->scene->levels[l].bounded || key[0] > key[2]) continue;
            th_box box = {unordered(key[0]), unordered(key[1]), unordered(key[2]),
                          unordered(key[3])};
            wandered = follow_crowd(host, &device->built_over[l], box, false) || wandered;
        }
        if (wandered) build_grids(host, false);
    }
    crowd_boxes(host);
    device->crowd.post(host->device_world->box_keys, 4 * (size_t)levels);
    device->looking = true;
    device->looked = host->step_count;
}

// Fetches the state of a snapshot.
static bool uic_fetch(th_world *host) {
    th_uic *uic = th_uic_of(host);
    const uic_device *device = uic_device_of(host);
    size_t cells = (size_t)device->cells;
    return get(uic->inner_pressure, device->known.inner_pressure, cells * sizeof(double)) &&
           get(uic->pressure, device->known.pressure, cells * sizeof(double)) &&
           get(uic->mean_x, device->known.mean_x, cells * sizeof(float)) &&
           get(uic->mean_y, device->known.mean_y, cells * sizeof(float));
}

// Fetches the values of views and statistics.
static bool uic_fetch_grids(th_world *host) {
    th_uic *uic = th_uic_of(host);
    const th_uic *known = &uic_device_of(host)->known;
    size_t cells = (size_t)uic_device_of(host)->cells;
    pressure_report report;
    bool good = uic_fetch(host) && get(uic->people, known->people, cells * sizeof(float)) &&
                get(uic->packing, known->packing, cells * sizeof(float)) &&
                get(uic->u, known->u, cells * sizeof(float)) &&
                get(uic->v, known->v, cells * sizeof(float)) &&
                get(uic->room, known->room, cells * sizeof(float)) &&
                get(uic->centre, known->centre, cells * sizeof *uic->centre) &&
                get(&report, uic_device_of(host)->report, sizeof report);
    if (!good) return false;
    th_uic_statistics *statistics = &uic->statistics;
    statistics->steps = host->step_count;
    statistics->solves = report.solves;
    statistics->iterations = report.iterations;
    statistics->outer = report.rounds;
    statistics->unconverged = report.unconverged;
    th_uic_begin_look(statistics);
    statistics->largest_residual = report.residual;
    for (size_t c = 0; c < cells; ++c)
        if (uic->centre[c].share > 0.0f) th_uic_look_at_cell(uic, (int)c);
    return true;
}

// ---- its state

// All arrays of the model. Some are others' too: between the solves the direction is not needed, and without bodies
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
    for_each_agent(
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
