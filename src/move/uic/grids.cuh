// What the model uic has on a device, where its grids lie, and what of it comes home. Ground and apertures are measured
// at home (move/uic_floor.c), when walls change or the crowd of an open plane has wandered, and sent.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_GRIDS_CUH
#define TH_MOVE_UIC_GRIDS_CUH
#include "device/world.cuh"
#include "move/uic/floor.h"
#include "move/uic/pressure_solver.cuh"

namespace th {

enum {
    LOOK_EVERY = 8,      // steps between two looks at where an open plane's crowd is
    MAY_HAVE_STRAYS = 32 // bit of a cell's quarters: somebody nearby may stand behind a wall
};

struct pair_report; // uic_pairs.cuh

struct uic_grids {
    th_uic known; // pointers of the device
    th_uic *device;
    int cells;            // in use
    int coresident;       // blocks that the pressure's kernel may have
    int tidying_blocks;   // and that of the tidying passes
    float *fine, *coarse; // values of the hierarchy: the finest level's, then the coarse levels'
    int coarse_room;
    double *r[2], *d[2], *ad, *partial;
    pair_report *pairs;
    pressure_report *report;
    th_box *laid; // at home: what the grids were laid over
    bool has_laid;
    bool open, bodies;
    letter crowd; // the crowd's boxes
    bool looking; // and it is on its way
    uint64_t looked;
};

static uic_grids *grids_of(const th_world *host) {
    return (uic_grids *)host->cuda->model_state[TH_MOVE_UIC];
}

// ---- where the grids lie

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
    const uic_grids *grids = grids_of(host);
    uint8_t *flags = (uint8_t *)malloc(4 * (size_t)grids->cells + 1);
    if (!flags) return false;
    memcpy(flags, uic->quarters, 4 * (size_t)grids->cells);
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
    bool good = put(grids->known.quarters, flags, 4 * (size_t)grids->cells);
    free(flags);
    return good;
}

// The device's struct, its levels and groups, after either has changed at home.
static bool send_uic(const th_world *host) {
    uic_grids *grids = grids_of(host);
    th_uic now = *th_uic_of(host), *known = &grids->known;
#define X(type, name, count, doc) now.name = known->name;
    TH_UIC_ARRAYS(X)
#undef X
#define X(type, name, count, doc) now.name = nullptr;
    TH_UIC_HOST_ARRAYS(X)
#undef X
    now.work = nullptr;
    *known = now;
    return put(grids->device, known, sizeof *known) &&
           put(known->levels, th_uic_of(host)->levels,
               (size_t)now.level_count * sizeof *now.levels) &&
           put(known->groups, th_uic_of(host)->groups,
               (size_t)now.group_count * sizeof *now.groups) &&
           put(known->link_faces, th_uic_of(host)->link_faces,
               (size_t)now.link_face_count * sizeof *now.link_faces);
}

static bool send_ground(const th_world *host) {
    const th_uic *uic = th_uic_of(host), *known = &grids_of(host)->known;
    size_t bytes = (size_t)grids_of(host)->cells * sizeof(float);
    // Without bodies `room` and `open` are `capacity` and `aperture`.
    return put(known->capacity, uic->capacity, bytes) &&
           put(known->aperture_x, uic->aperture_x, bytes) &&
           put(known->aperture_y, uic->aperture_y, bytes) &&
           put(known->room, uic->capacity, bytes) && put(known->open_x, uic->aperture_x, bytes) &&
           put(known->open_y, uic->aperture_y, bytes) && put(known->exit_x, uic->exit_x, bytes) &&
           put(known->exit_y, uic->exit_y, bytes) && put(known->gate_x, uic->gate_x, bytes) &&
           put(known->gate_y, uic->gate_y, bytes) && send_quarters(host);
}

static bool send_memory(const th_world *host) {
    const th_uic *uic = th_uic_of(host), *known = &grids_of(host)->known;
    size_t cells = (size_t)grids_of(host)->cells;
    return put(known->inner_pressure, uic->inner_pressure, cells * sizeof(double)) &&
           put(known->pressure, uic->pressure, cells * sizeof(double)) &&
           put(known->mean_x, uic->mean_x, cells * sizeof(float)) &&
           put(known->mean_y, uic->mean_y, cells * sizeof(float));
}

// People who come later may be larger than those who are here.
static float largest_radius(const th_world *host) {
    float most = host->max_radius;
    for (int g = 0; host->cuda->sources && g < host->scene->group_count; ++g) {
        const th_distribution *radius = &host->scene->groups[g].radius;
        most = th_max(most, (float)(radius->kind == TH_CONSTANT  ? radius->a
                                    : radius->kind == TH_UNIFORM ? radius->b
                                                                 : radius->max));
    }
    return most;
}

// A box over which a grid is laid as it lies.
static th_box box_of(const th_staggered *grid) {
    double h = (double)grid->h;
    th_box box = {(float)((grid->column + 1.5) * h), (float)((grid->row + 1.5) * h),
                  (float)((grid->column + grid->nx - 1.5) * h),
                  (float)((grid->row + grid->ny - 1.5) * h)};
    return box;
}

// Lays the grids over grids->laid, measures what is new on them, sends all of it. `from_home`: with the pressures
// that are at home.
static bool lay_grids(th_world *host, bool from_home) {
    uic_grids *grids = grids_of(host);
    int levels = host->scene->level_count;
    old_grid *old = (old_grid *)malloc((size_t)levels * sizeof *old);
    if (!old) return false;
    for (int l = 0; l < levels; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        old[l] = {level->grid, level->first, level->measured};
    }
    memcpy(host->level_boxes, grids->laid, (size_t)levels * sizeof *grids->laid);
    float cell = th_uic_build_grids(host, host->level_boxes), radius = host->max_radius;
    th_index_build_grids(&host->index, host->level_boxes, cell);
    host->max_radius = largest_radius(host);
    th_uic_prepare(host);
    host->max_radius = radius;
    bool same = !from_home;
    grids->cells = 0;
    for (int l = 0; l < levels; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        grids->cells = level->first + level->grid.nx * level->grid.ny;
        if (!host->scene->levels[l].bounded) grids->laid[l] = box_of(&level->grid);
        same = same && old[l].measured &&
               memcmp(&old[l].grid, &level->grid, sizeof level->grid) == 0 &&
               old[l].first == level->first;
    }
    th_uic *known = &grids->known;
    if (!same && !from_home) {
        move_cells(host, old, known->inner_pressure, grids->r[0]);
        move_cells(host, old, known->pressure, grids->r[0]);
        move_cells(host, old, known->mean_x, known->renormed_u);
        move_cells(host, old, known->mean_y, known->renormed_u);
    }
    free(old);
    bool good = finish() && (!from_home || send_memory(host));
    th_cuda *cuda = host->cuda;
    cuda->cells = cuda->known.index.cell_count = host->index.cell_count;
    return good && send_uic(host) && send_ground(host) &&
           put(cuda->known.index.grids, host->index.grids,
               (size_t)levels * sizeof *host->index.grids) &&
           put(&cuda->world->index.cell_count, &host->index.cell_count, sizeof(int));
}

// Does the box that an open plane's grid was laid over no longer suit its crowd? Then it is made anew, with room
// for the way of two looks.
static bool follow_crowd(const th_world *host, th_box *laid, th_box crowd, bool first) {
    if (!(crowd.min_x <= crowd.max_x)) return false;
    float room = 2.0f * th_uic_of(host)->h + 2.0f * (float)LOOK_EVERY * TH_UIC_QUICK * host->dt,
          least = 0.5f * room;
    bool inside = crowd.min_x - least >= laid->min_x && crowd.min_y - least >= laid->min_y &&
                  crowd.max_x + least <= laid->max_x && crowd.max_y + least <= laid->max_y;
    th_box wide = {crowd.min_x - room, crowd.min_y - room, crowd.max_x + room, crowd.max_y + room};
    double area =
        ((double)laid->max_x - (double)laid->min_x) * ((double)laid->max_y - (double)laid->min_y);
    double suits =
        ((double)wide.max_x - (double)wide.min_x) * ((double)wide.max_y - (double)wide.min_y);
    if (!first && inside && area <= 2.0 * suits) return false;
    *laid = wide;
    return true;
}

static th_box crowd_at_home(const th_world *host, int l) {
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
    uic_grids *grids = grids_of(host);
    bool restored = false; // pressures at home are newer
    for (int l = 0; l < host->scene->level_count; ++l) {
        const th_level *level = &host->scene->levels[l];
        const th_uic_level *last = &th_uic_of(host)->levels[l];
        restored = restored || !grids->has_laid || last->stale;
        if (!grids->has_laid) grids->laid[l] = level->box;
        if (level->bounded) continue;
        if (last->measured) grids->laid[l] = box_of(&last->grid);
        follow_crowd(host, &grids->laid[l], crowd_at_home(host, l), !last->measured);
    }
    grids->has_laid = true;
    grids->looking = false;
    return lay_grids(host, restored);
}

// Once a step, before people are sorted: has an open plane's crowd wandered? What is looked at now is used at the
// next look, so that nobody has to wait for it.
static void uic_lay(th_world *host) {
    uic_grids *grids = grids_of(host);
    if (!grids->open || host->step_count % LOOK_EVERY != 0 ||
        (grids->looking && grids->looked == host->step_count))
        return;
    int levels = host->scene->level_count;
    if (grids->looking) {
        grids->crowd.receive();
        bool wandered = false;
        for (int l = 0; l < levels; ++l) {
            const uint32_t *key = grids->crowd.words + 4 * l;
            if (host->scene->levels[l].bounded || key[0] > key[2]) continue;
            th_box box = {unordered(key[0]), unordered(key[1]), unordered(key[2]),
                          unordered(key[3])};
            wandered = follow_crowd(host, &grids->laid[l], box, false) || wandered;
        }
        if (wandered) lay_grids(host, false);
    }
    crowd_boxes(host);
    grids->crowd.post(host->cuda->box_keys, 4 * (size_t)levels);
    grids->looking = true;
    grids->looked = host->step_count;
}

// What a snapshot keeps.
static bool uic_fetch_memory(th_world *host) {
    th_uic *uic = th_uic_of(host);
    const uic_grids *grids = grids_of(host);
    size_t cells = (size_t)grids->cells;
    return get(uic->inner_pressure, grids->known.inner_pressure, cells * sizeof(double)) &&
           get(uic->pressure, grids->known.pressure, cells * sizeof(double)) &&
           get(uic->mean_x, grids->known.mean_x, cells * sizeof(float)) &&
           get(uic->mean_y, grids->known.mean_y, cells * sizeof(float));
}

// What views and statistics show.
static bool uic_fetch_grids(th_world *host) {
    th_uic *uic = th_uic_of(host);
    const th_uic *known = &grids_of(host)->known;
    size_t cells = (size_t)grids_of(host)->cells;
    pressure_report report;
    bool good = uic_fetch_memory(host) && get(uic->people, known->people, cells * sizeof(float)) &&
                get(uic->packing, known->packing, cells * sizeof(float)) &&
                get(uic->u, known->u, cells * sizeof(float)) &&
                get(uic->v, known->v, cells * sizeof(float)) &&
                get(uic->room, known->room, cells * sizeof(float)) &&
                get(uic->centre, known->centre, cells * sizeof *uic->centre) &&
                get(&report, grids_of(host)->report, sizeof report);
    if (!good) return false;
    th_uic_statistics *statistics = &uic->statistics;
    statistics->steps = host->step_count;
    statistics->solves = report.solves;
    statistics->iterations = report.iterations;
    statistics->outer = report.rounds;
    statistics->unconverged = report.unconverged;
    statistics->largest_residual = report.residual;
    statistics->active_cells = statistics->jammed_cells = 0;
    statistics->densest = 0.0f;
    for (size_t c = 0; c < cells; ++c) {
        if (!(uic->centre[c].share > 0.0f)) continue;
        statistics->active_cells++;
        statistics->jammed_cells += uic->pressure[c] > 0.0;
        if (uic->room[c] > 0.2f) // slivers beside walls tell little
            statistics->densest = th_max(statistics->densest, uic->packing[c] / uic->room[c]);
    }
    return true;
}

} // namespace th
#endif
