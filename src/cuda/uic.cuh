// The model uic on a device (move/uic.h). Where the grids lie and what is ground on them is measured at home, when
// walls change or the crowd of an open plane has wandered, and sent; the rest of a step stays here. People are
// summed up in the CPU's order, so the sums have its bits; the pressure is solved by pressure.cuh to the CPU's
// tolerance, with other roundings. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_UIC_CUH
#define TH_CUDA_UIC_CUH
#include "cuda/pressure.cuh"
#include "cuda/pressure.h"
#include "cuda/upload.cuh"

#ifdef __CUDACC__
#define TH_UNROLL _Pragma("unroll")
#else
#define TH_UNROLL
#endif

namespace th {

enum {
    TILE = 8,                // cells along a side of a block's piece of the splat
    TILE_WIDE = 2 * TILE + 3, // quarters that give to them
    LOOK_EVERY = 8,          // steps between two looks at where an open plane's crowd is
    PAIR_SLOTS = 1024,       // passes, pieces of way (dt / 5 ms at most) and tidying passes of one step
    MAY_HAVE_STRAYS = 32     // bit of a cell's quarters: somebody nearby may stand behind a wall
};

// What a pass of the pair step finds out for the next ones, largest of everybody: the square of the way since the
// step began and half the pair distance, as bits; is somebody tight; has somebody to look closer?
enum { MOVED2, TIGHT_ONES, CLOSER_ONES, WIDEST };
struct pair_report {
    uint32_t found[PAIR_SLOTS][FOUND];
};

struct uic_grids {
    th_uic known; // pointers of the device
    th_uic *device;
    int cells;            // in use
    int coresident;       // blocks that the pressure's kernel may have
    float *fine, *coarse; // values of the hierarchy: 4 a cell, then the coarse levels'
    int coarse_room;
    double *r, *d[2], *ad, *partial;
    pair_report *pairs;
    pressure_report *report;
    th_box *laid; // at home: what the grids were laid over
    bool has_laid;
    bool open, walled, bodies;
    letter crowd; // the crowd's boxes
    bool looking; // and it is on its way
    uint64_t looked;
};

static uic_grids *grids_of(const th_world *host) { return host->cuda->uic; }

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
        th_staggered to = host->uic->levels[l].grid;
        int first = host->uic->levels[l].first, count = to.nx * to.ny;
        cells = first + count;
        each(count, TH_LAMBDA(int k) {
            int i = k % to.nx + to.column - from.grid.column, j = k / to.nx + to.row - from.grid.row;
            bool known = from.measured && from.grid.h == to.h && i >= 0 && j >= 0 && i < from.grid.nx &&
                         j < from.grid.ny;
            spare[first + k] = known ? values[from.first + j * from.grid.nx + i] : 0;
        });
    }
    each(cells, TH_LAMBDA(int c) { values[c] = spare[c]; });
}

// Flags of the quarters, and which cells have to look for strays: those within two of a wall.
static bool send_quarters(const th_world *host) {
    const th_uic *uic = host->uic;
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
                        if (i >= 0 && j >= 0 && i < nx && j < ny) level[4 * j * nx + 2 * i] |= MAY_HAVE_STRAYS;
            }
    }
    bool good = put(grids->known.quarters, flags, 4 * (size_t)grids->cells);
    free(flags);
    return good;
}

// The device's struct, its levels and groups, after either has changed at home.
static bool send_uic(const th_world *host) {
    uic_grids *grids = grids_of(host);
    th_uic now = *host->uic, *known = &grids->known;
    now.levels = known->levels;
    now.wanted = nullptr;
    now.groups = known->groups;
    now.centre = known->centre, now.west = known->west, now.south = known->south;
    now.people = known->people, now.packing = known->packing;
    now.capacity = known->capacity, now.free_area = nullptr;
    now.aperture_x = known->aperture_x, now.aperture_y = known->aperture_y;
    now.open_x = known->open_x, now.open_y = known->open_y, now.room = known->room;
    now.exit_x = known->exit_x, now.exit_y = known->exit_y;
    now.gate_x = known->gate_x, now.gate_y = known->gate_y;
    now.u = known->u, now.v = known->v, now.limit_u = known->limit_u, now.limit_v = known->limit_v;
    now.bent_u = known->bent_u, now.bent_v = known->bent_v;
    now.covered = known->covered, now.quarters = known->quarters;
    now.east = known->east, now.north = known->north, now.ground = known->ground, now.b = known->b;
    now.inner_pressure = known->inner_pressure, now.pressure = known->pressure;
    now.mean_x = known->mean_x, now.mean_y = known->mean_y;
    now.active = nullptr;
    now.link_faces = known->link_faces;
    now.home = known->home;
    now.parts = nullptr;
    now.work = nullptr;
    *known = now;
    return put(grids->device, known, sizeof *known) &&
           put(known->levels, host->uic->levels, (size_t)now.level_count * sizeof *now.levels) &&
           put(known->groups, host->uic->groups, (size_t)now.group_count * sizeof *now.groups) &&
           put(known->link_faces, host->uic->link_faces, (size_t)now.link_face_count * sizeof *now.link_faces);
}

static bool send_ground(const th_world *host) {
    const th_uic *uic = host->uic, *known = &grids_of(host)->known;
    size_t bytes = (size_t)grids_of(host)->cells * sizeof(float);
    // Without bodies `room` and `open` are `capacity` and `aperture`.
    return put(known->capacity, uic->capacity, bytes) && put(known->aperture_x, uic->aperture_x, bytes) &&
           put(known->aperture_y, uic->aperture_y, bytes) && put(known->room, uic->capacity, bytes) &&
           put(known->open_x, uic->aperture_x, bytes) && put(known->open_y, uic->aperture_y, bytes) &&
           put(known->exit_x, uic->exit_x, bytes) && put(known->exit_y, uic->exit_y, bytes) &&
           put(known->gate_x, uic->gate_x, bytes) && put(known->gate_y, uic->gate_y, bytes) && send_quarters(host);
}

static bool send_memory(const th_world *host) {
    const th_uic *uic = host->uic, *known = &grids_of(host)->known;
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
                  (float)((grid->column + grid->nx - 1.5) * h), (float)((grid->row + grid->ny - 1.5) * h)};
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
        const th_uic_level *level = &host->uic->levels[l];
        old[l] = {level->grid, level->first, level->measured};
    }
    memcpy(host->level_boxes, grids->laid, (size_t)levels * sizeof *grids->laid);
    float cell = th_uic_lay(host, host->level_boxes), radius = host->max_radius;
    th_index_lay(&host->index, host->level_boxes, cell);
    host->max_radius = largest_radius(host);
    th_uic_prepare(host);
    host->max_radius = radius;
    bool same = !from_home;
    grids->cells = 0;
    grids->walled = false;
    for (int l = 0; l < levels; ++l) {
        const th_uic_level *level = &host->uic->levels[l];
        grids->cells = level->first + level->grid.nx * level->grid.ny;
        grids->walled = grids->walled || level->walled;
        if (!host->scene->levels[l].bounded) grids->laid[l] = box_of(&level->grid);
        same = same && old[l].measured && memcmp(&old[l].grid, &level->grid, sizeof level->grid) == 0 &&
               old[l].first == level->first;
    }
    th_uic *known = &grids->known;
    if (!same && !from_home) {
        move_cells(host, old, known->inner_pressure, grids->r);
        move_cells(host, old, known->pressure, grids->r);
        move_cells(host, old, known->mean_x, known->bent_u);
        move_cells(host, old, known->mean_y, known->bent_u);
    }
    free(old);
    bool good = finish() && (!from_home || send_memory(host));
    th_cuda *cuda = host->cuda;
    cuda->cells = cuda->known.index.cell_count = host->index.cell_count;
    return good && send_uic(host) && send_ground(host) &&
           put(cuda->known.index.grids, host->index.grids, (size_t)levels * sizeof *host->index.grids) &&
           put(&cuda->world->index.cell_count, &host->index.cell_count, sizeof(int));
}

// Does the box that an open plane's grid was laid over no longer suit its crowd? Then it is made anew, with room
// for the way of two looks.
static bool follow_crowd(const th_world *host, th_box *laid, th_box crowd, bool first) {
    if (!(crowd.min_x <= crowd.max_x)) return false;
    const float quick = 2.5f; // [m/s]
    float room = 2.0f * host->uic->h + 2.0f * (float)LOOK_EVERY * quick * host->dt, least = 0.5f * room;
    bool inside = crowd.min_x - least >= laid->min_x && crowd.min_y - least >= laid->min_y &&
                  crowd.max_x + least <= laid->max_x && crowd.max_y + least <= laid->max_y;
    th_box wide = {crowd.min_x - room, crowd.min_y - room, crowd.max_x + room, crowd.max_y + room};
    double area = ((double)laid->max_x - (double)laid->min_x) * ((double)laid->max_y - (double)laid->min_y);
    double suits = ((double)wide.max_x - (double)wide.min_x) * ((double)wide.max_y - (double)wide.min_y);
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
        box = {th_min(box.min_x, x), th_min(box.min_y, y), th_max(box.max_x, x), th_max(box.max_y, y)};
    }
    return box;
}

// After the host's arrays have been sent.
static bool uic_send(th_world *host) {
    uic_grids *grids = grids_of(host);
    bool restored = false; // pressures at home are newer
    for (int l = 0; l < host->scene->level_count; ++l) {
        const th_level *level = &host->scene->levels[l];
        const th_uic_level *last = &host->uic->levels[l];
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
    if (!grids->open || host->step_count % LOOK_EVERY != 0 || (grids->looking && grids->looked == host->step_count))
        return;
    int levels = host->scene->level_count;
    if (grids->looking) {
        grids->crowd.receive();
        bool wandered = false;
        for (int l = 0; l < levels; ++l) {
            const uint32_t *key = grids->crowd.words + 4 * l;
            if (host->scene->levels[l].bounded || key[0] > key[2]) continue;
            th_box box = {unordered(key[0]), unordered(key[1]), unordered(key[2]), unordered(key[3])};
            wandered = follow_crowd(host, &grids->laid[l], box, false) || wandered;
        }
        if (wandered) lay_grids(host, false);
    }
    crowd_boxes(host);
    grids->crowd.post(host->cuda->box_keys, 4 * (size_t)levels);
    grids->looking = true;
    grids->looked = host->step_count;
}

// ---- people to the grid

// A node of a lattice while it is summed up.
struct node_sum {
    int lattice, node;
    float lane[TH_UIC_LANES];
    TH_ON_GPU void add(int to, const float *values) {
        if (to == node)
            for (int n = 0; n < TH_UIC_LANES; ++n) lane[n] += values[n];
    }
    // What the quarter (a, b) of cell c gives to this node.
    TH_ON_GPU void take(int c, int nx, int a, int b, unsigned folds, const quarter_sums *sums) {
        lattice_gift gift = gift_to(lattice, c, nx, a, b, folds, sums);
        add(gift.to.near, gift.shares.near);
        add(gift.to.beside, gift.shares.beside);
        add(gift.to.above, gift.shares.above);
        add(gift.to.corner, gift.shares.corner);
    }
};
TH_ON_GPU inline float *lanes_of(th_uic *uic, int lattice, int node) {
    void *nodes = lattice == CENTRES      ? (void *)&uic->centre[node]
                  : lattice == WEST_FACES ? (void *)&uic->west[node]
                                          : (void *)&uic->south[node];
    return (float *)nodes;
}

// A block sums up the quarters that give to its cells, some of which give to others' too, and hands them out. In
// its fast memory a value of all quarters lies side by side, so that threads do not wait for each other.
struct splat_tile {
    th_world *world;
    int l, nx, ny, tiles_x;
    enum { LANES_USED = 6, QUARTERS = TILE_WIDE * TILE_WIDE, VALUES = (int)CORNERS * LANES_USED };

    TH_ON_GPU bool on_ring(int column, int row) const {
        return column < 2 || row < 2 || column >= 2 * nx - 2 || row >= 2 * ny - 2;
    }
    TH_ON_GPU void sum_quarter(int column, int row, float *values) const {
        quarter_sums sums;
        memset(&sums, 0, sizeof sums);
        if (!on_ring(column, row)) {
            const th_uic *uic = world->uic;
            const th_uic_level *level = &uic->levels[l];
            quarter q = {l, column / 2, row / 2, column % 2, row % 2, 0};
            q.flags = flags_of(uic, level, q.i, q.j, q.a, q.b);
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                quarter_run(world, &q, k, &begin, &end);
                sum_run(world, level, &q, begin, end, &sums);
            }
        }
        for (int k = 0; k < VALUES; ++k) values[k * QUARTERS] = sums.corner[k / LANES_USED][k % LANES_USED];
    }
    TH_ON_GPU static quarter_sums quarter_at(const float *values) {
        quarter_sums sums;
        for (int k = 0; k < VALUES; ++k) sums.corner[k / LANES_USED][k % LANES_USED] = values[k * QUARTERS];
        return sums;
    }
    // In the CPU's order: rows of even bands come first. With the lattice known to the compiler it knows which
    // corner is which, and keeps them in registers.
    template <int LATTICE>
    TH_ON_GPU void sum_node(const float *values, int i0, int j0, int i, int j) const {
        if (i >= nx || j >= ny) return;
        const th_uic_level *level = &world->uic->levels[l];
        node_sum sum = {LATTICE, level->first + j * nx + i, {0, 0, 0, 0}};
        const int west = LATTICE == WEST_FACES ? 2 : 1, south = LATTICE == SOUTH_FACES ? 2 : 1;
        for (int colour = 0; colour < 2; ++colour) {
            TH_UNROLL
            for (int up = 0; up < 4; ++up) {
                int row = 2 * j - south + up;
                if ((row / 2 / BAND) % 2 != colour) continue;
                TH_UNROLL
                for (int along = 0; along < 4; ++along) {
                    int column = 2 * i - west + along, a = (along + west) & 1, b = (up + south) & 1;
                    if (on_ring(column, row)) continue;
                    quarter_sums sums = quarter_at(values + (row - (2 * j0 - 2)) * TILE_WIDE + column - (2 * i0 - 2));
                    sum.take(level->first + row / 2 * nx + column / 2, nx, a, b,
                             flags_of(world->uic, level, column / 2, row / 2, a, b), &sums);
                }
            }
        }
        float *lanes = lanes_of(world->uic, LATTICE, sum.node);
        for (int n = 0; n < TH_UIC_LANES; ++n) lanes[n] = sum.lane[n];
    }
    TH_ON_GPU void operator()(block_team &team) const {
        float *values = (float *)team.shared;
        int i0 = team.block % tiles_x * TILE, j0 = team.block / tiles_x * TILE;
        team.each(QUARTERS, [&](int k) {
            sum_quarter(2 * i0 - 2 + k % TILE_WIDE, 2 * j0 - 2 + k / TILE_WIDE, values + k);
        });
        team.each((int)LATTICES * TILE * TILE, [&](int k) {
            int cell = k % (TILE * TILE), i = i0 + cell % TILE, j = j0 + cell / TILE;
            switch (k / (TILE * TILE)) { // the same for a whole warp
            case CENTRES: sum_node<CENTRES>(values, i0, j0, i, j); break;
            case WEST_FACES: sum_node<WEST_FACES>(values, i0, j0, i, j); break;
            default: sum_node<SOUTH_FACES>(values, i0, j0, i, j);
            }
        });
    }
};

// Who stands in another cell's quarter: whatever of them reaches this node, in the CPU's order, after the others.
TH_ON_GPU inline void take_strays(th_world *world, int l, int lattice, int i, int j) {
    th_uic *uic = world->uic;
    const th_uic_level *level = &uic->levels[l];
    int nx = level->grid.nx, ny = level->grid.ny;
    if (!(flags_of(uic, level, i, j, 0, 0) & MAY_HAVE_STRAYS)) return;
    node_sum sum = {lattice, level->first + j * nx + i, {0, 0, 0, 0}};
    float *lanes = lanes_of(uic, lattice, sum.node);
    for (int n = 0; n < TH_UIC_LANES; ++n) sum.lane[n] = lanes[n];
    for (int row = 2 * j - 4; row < 2 * j + 6; ++row)
        for (int column = 2 * i - 4; column < 2 * i + 6; ++column) {
            if (column < 2 || row < 2 || column >= 2 * nx - 2 || row >= 2 * ny - 2) continue;
            quarter q = {l, column / 2, row / 2, column % 2, row % 2, 0};
            q.flags = flags_of(uic, level, q.i, q.j, q.a, q.b);
            if (!(q.flags & TH_UIC_WALL)) continue;
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                quarter_run(world, &q, k, &begin, &end);
                for (uint32_t person = begin; person < end; ++person) {
                    if (!is_stray(world, person)) continue;
                    quarter_sums sums;
                    th_uic_place at = stray_sums(world, &q, person, &sums);
                    sum.take(level->first + at.j * nx + at.i, nx, at.half_x, at.half_y,
                             flags_of(uic, level, at.i, at.j, at.half_x, at.half_y), &sums);
                }
            }
        }
    for (int n = 0; n < TH_UIC_LANES; ++n) lanes[n] = sum.lane[n];
}

static void splat(th_world *host) {
    uic_grids *grids = grids_of(host);
    th_world *world = host->cuda->world;
    for (int l = 0; l < host->uic->level_count; ++l) {
        const th_uic_level *level = &host->uic->levels[l];
        int nx = level->grid.nx, ny = level->grid.ny, tiles_x = (nx + TILE - 1) / TILE;
        splat_tile tile = {world, l, nx, ny, tiles_x};
        blocks(tiles_x * ((ny + TILE - 1) / TILE), (size_t)splat_tile::QUARTERS * splat_tile::VALUES * sizeof(float), tile);
    }
    for (int l = 0; l < host->uic->level_count; ++l) {
        const th_uic_level *level = &host->uic->levels[l];
        int nx = level->grid.nx;
        if (level->walled)
            each(LATTICES * nx * level->grid.ny, TH_LAMBDA(int k) {
                take_strays(world, l, k % LATTICES, k / LATTICES % nx, k / LATTICES / nx);
            });
    }
    float inverse_h = host->uic->levels[0].grid.inverse_h; // all grids have one h
    each(grids->cells, TH_LAMBDA(int c) { read_cell(world->uic, inverse_h * inverse_h, c); });
}

// ---- the flow

// v = psolve(renorm(psolve(v~))) on one level, all of it in one kernel.
struct project_level {
    th_world *world;
    int l, first, nx, ny;
    double inverse_h;
    bool links;
    th_uic uic; // pointers of the device
    pressure_solver solver[2];

    template <class Team> TH_ON_GPU void project_once(Team &team, bool clamp_slack, const pressure_solver &s) const {
        const th_uic_level *level = &uic.levels[l];
        const double *pressure = s.p - first; // by cell of all levels
        team.each(nx * (ny - 1), [&](int k) {
            int i = k % nx, c = first + k;
            if (k < nx)
                uic.east[c] = uic.north[c] = 0;
            else if (i == 0)
                assemble_ends(world, level, k / nx);
            else if (i < nx - 1)
                assemble_cell(world, &level->grid, c, clamp_slack);
        });
        if (links) team.alone([&] { add_links(world, l, pressure); });
        s.solve(team);
        team.each(nx * (ny - 1), [&](int k) {
            if (k % nx > 0) subtract_cell(&uic, nx, inverse_h, first + nx + k, pressure);
        });
        if (links) team.alone([&] { correct_links(world, l, pressure); });
    }
    template <class Team> TH_ON_GPU void bend(Team &team) const {
        team.each(nx * (ny - 2), [&](int k) {
            if (k % nx > 0 && k % nx < nx - 1) renorm_cell(&uic, nx, first + nx + k);
        });
        team.each(nx * (ny - 2), [&](int k) {
            int c = first + nx + k;
            if (k % nx == 0 || k % nx == nx - 1) return;
            uic.u[c] = uic.bent_u[c];
            uic.v[c] = uic.bent_v[c];
        });
    }
    template <class Team> TH_ON_GPU void operator()(Team &team) const {
        for (int solve = 0; solve < 2; ++solve) {
            if (solve > 0) bend(team);
            project_once(team, solve == 0, solver[solve]);
        }
    }
};

static_assert(sizeof(project_level) <= 4000, "what a kernel can be given on every device");

// The hierarchy over a problem's grid, as far as there is room: `fine` has 4 values a cell.
static void join_cells(pressure_solver *s, float *fine, float *coarse, int room) {
    int nx = s->nx, ny = s->ny;
    size_t cells = (size_t)nx * (size_t)ny;
    s->coarse = coarse;
    s->coarse_count = 0;
    s->level[0] = {nx, ny, nullptr, nullptr, nullptr, fine, fine + cells, fine + 2 * cells, fine + 3 * cells};
    for (s->used = 1; s->used < PRESSURE_LEVELS && (nx > 3 || ny > 3); ++s->used) {
        nx = ((nx - 1) >> 1) + 2, ny = ((ny - 1) >> 1) + 2; // the outermost ring stays empty
        int count = nx * ny;
        if (s->coarse_count + PRESSURE_ARRAYS * count > room) break;
        float *at = coarse + s->coarse_count;
        s->level[s->used] = {nx,             ny,             at,             at + count,    at + 2 * count,
                             at + 3 * count, at + 4 * count, at + 5 * count, at + 6 * count};
        s->coarse_count += PRESSURE_ARRAYS * count;
    }
    for (s->in_block = 1; s->in_block < s->used; ++s->in_block)
        if (s->level[s->in_block].nx * s->level[s->in_block].ny <= PRESSURE_BLOCK_CELLS) break;
}
// A third of the fine level and its rings; of a strip one cell wide all of it, which then has fewer levels.
static int room_for_coarse(size_t cells) {
    size_t room = PRESSURE_ARRAYS * (cells / 2 + 1024);
    return room < (size_t)INT32_MAX ? (int)room : INT32_MAX;
}

// A thread for each cell of a colour: most phases have no more to do.
static int blocks_for(int cells) { return (cells / 2 + GRID_THREADS - 1) / GRID_THREADS; }

static pressure_solver solver_of(const th_world *host, const th_uic_level *level, double *pressure) {
    const uic_grids *grids = grids_of(host);
    const th_uic *known = &grids->known;
    int first = level->first;
    pressure_solver s;
    memset(&s, 0, sizeof s);
    s.nx = level->grid.nx, s.ny = level->grid.ny;
    s.east = known->east + first, s.north = known->north + first, s.ground = known->ground + first;
    s.people = known->centre + first;
    s.b = known->b + first;
    s.p = pressure + first;
    s.r = grids->r, s.d[0] = grids->d[0], s.d[1] = grids->d[1], s.ad = grids->ad;
    s.tolerance = (double)host->uic->tolerance;
    s.report = grids->report;
    join_cells(&s, grids->fine, grids->coarse, grids->coarse_room);
    return s;
}

static void project(th_world *host) {
    uic_grids *grids = grids_of(host);
    th_world *world = host->cuda->world;
    for (int l = 0; l < host->uic->level_count && host->uic->any_pressure; ++l) {
        const th_uic_level *level = &host->uic->levels[l];
        int nx = level->grid.nx, ny = level->grid.ny;
        if (nx < 3 || ny < 3) continue;
        project_level work = {world, l, level->first, nx, ny, (double)level->grid.inverse_h,
                              host->uic->link_face_count > 0, grids->known,
                              {solver_of(host, level, grids->known.inner_pressure),
                               solver_of(host, level, grids->known.pressure)}};
        grid(blocks_for(nx * ny), grids->coresident, grids->partial, work);
    }
    for (int l = 0; l < host->uic->level_count && host->uic->keeps_side; ++l) {
        int first = host->uic->levels[l].first, nx = host->uic->levels[l].grid.nx, ny = host->uic->levels[l].grid.ny;
        each(nx * ny, TH_LAMBDA(int k) {
            int i = k % nx, j = k / nx;
            if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) remember_mean(world->uic, nx, first + k);
        });
    }
}

// Where somebody stood when the step began.
TH_ON_GPU inline quarter quarter_of(const th_world *world, int i) {
    const th_level_grid *index = &world->index.grids[world->agents.level[i]];
    int m = world->uic->index_per_half;
    int column = th_grid_column(index, world->agents.position_x[i]) / m;
    int row = th_grid_row(index, world->agents.position_y[i]) / m;
    quarter q = {(int)world->agents.level[i], column / 2, row / 2, column % 2, row % 2, 0};
    return q;
}

struct raise_bit {
    TH_BOTH void operator()(uint64_t *word, uint64_t bit) const {
#ifdef __CUDA_ARCH__
        atomicOr((unsigned long long *)word, (unsigned long long)bit);
#else
        *word |= bit;
#endif
    }
};

static void cover_bodies(th_world *host) {
    uic_grids *grids = grids_of(host);
    if (!grids->bodies) return;
    clear(grids->known.covered, (size_t)grids->cells * sizeof *grids->known.covered);
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        const th_agents *a = &world->agents;
        if (a->phase[i] == TH_PHASE_BODY)
            cover_disc(world->uic, &world->uic->levels[a->level[i]],
                       th_v(a->next_position_x[i], a->next_position_y[i]), a->radius[i], raise_bit());
    });
    th_world *world = host->cuda->world;
    for (int l = 0; l < host->uic->level_count; ++l) {
        const th_uic_level *level = &host->uic->levels[l];
        int nx = level->grid.nx, first = level->first + nx;
        if (level->has_bodies)
            each(nx * (level->grid.ny - 1), TH_LAMBDA(int k) { cover_cell(world->uic, nx, first + k); });
    }
}

// ---- pairs

// Bits of numbers that are not negative are in their order.
TH_ON_GPU inline void raise(uint32_t *most, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *most = bits > *most ? bits : *most;
}
TH_ON_GPU inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The runs of the index that may hold somebody within the pair distance of the people of i's cell, as the CPU
// takes them: the order of sums hangs on it.
TH_ON_GPU inline th_rows rows_for_cell(const th_world *world, const pair_step *step, uint32_t i) {
    const th_agents *a = &world->agents;
    const th_level_grid *index = &world->index.grids[a->level[i]];
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    int column = th_grid_column(index, a->position_x[i]), row = th_grid_row(index, a->position_y[i]);
    uint32_t begin, end;
    th_index_run(&world->index, index, row, column, column, &begin, &end);
    float low_x = xs[begin], high_x = low_x, low_y = ys[begin], high_y = low_y, own = 0.0f;
    for (uint32_t k = begin; k < end; ++k) {
        low_x = th_min(low_x, xs[k]);
        high_x = th_max(high_x, xs[k]);
        low_y = th_min(low_y, ys[k]);
        high_y = th_max(high_y, ys[k]);
        own = th_max(own, step->share * step->half[k]);
    }
    float reach = own + step->share * step->widest + step->moved;
    th_rows rows = {th_grid_row(index, low_y - reach), th_grid_row(index, high_y + reach),
                    th_grid_column(index, low_x - reach), th_grid_column(index, high_x + reach)};
    return rows;
}

// push_from_around of the CPU for one person, straight from memory: person k of the runs goes to lane k mod LANES,
// and the lanes are added up in the same tree. `lanes` are 2 * LANES sums, `stride` apart.
TH_ON_GPU inline push push_from_runs(const th_world *world, const pair_step *step, uint32_t i, float *lanes,
                                     int stride, bool *coincident) {
    const th_agents *a = &world->agents;
    const th_level_grid *index = &world->index.grids[a->level[i]];
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    float x = xs[i], y = ys[i], own = step->share * step->half[i];
    float tight2 = step->tidy ? 1.0f : step->tight * step->tight;
    push result = {{0.0f, 0.0f}, false, 1e6f};
    for (int l = 0; l < 2 * LANES; ++l) lanes[l * stride] = 0.0f;
    th_rows rows = rows_for_cell(world, step, i);
    uint32_t count = 0;
    bool very_place = false;
    for (uint32_t begin, end; th_next_run(&world->index, index, &rows, &begin, &end); count += end - begin) {
        if (count + (end - begin) > AROUND_MOST) {
            *coincident = true;
            push crowded = {{0.0f, 0.0f}, true, 1e6f};
            return crowded;
        }
        for (uint32_t j = begin; j < end; ++j) {
            float dx = x - xs[j], dy = y - ys[j], d2 = dx * dx + dy * dy;
            float apart = own + (step->share < 1.0f ? step->half[j] * step->share : step->half[j]);
            float apart2 = apart * fabsf(apart);
            if (j == i) continue;
            very_place = very_place || d2 <= COINCIDENT2;
            result.tight = result.tight || d2 - tight2 * apart2 < 0.0f;
            if (!(d2 < apart2)) continue;
            float scale = step->give[j] * (apart * th_inverse_root(d2 > COINCIDENT2 ? d2 : COINCIDENT2) - 1.0f);
            float *lane = lanes + (size_t)((count + (j - begin)) % LANES) * (size_t)stride;
            lane[0] += scale * dx;
            lane[LANES * stride] += scale * dy;
        }
    }
    float sum[2];
    for (int axis = 0; axis < 2; ++axis) {
        const float *lane = lanes + axis * LANES * stride;
        float four[4];
        for (int l = 0; l < 4; ++l)
            four[l] = (lane[l * stride] + lane[(l + 8) * stride]) + (lane[(l + 4) * stride] + lane[(l + 12) * stride]);
        sum[axis] = (four[0] + four[2]) + (four[1] + four[3]);
    }
    result.sum = th_v(sum[0], sum[1]);
    *coincident = result.tight && very_place;
    return result;
}

// Bit of agents.order beside those of uic_pairs.c: left to the kernel that knows walls and links, which are many
// registers that few people need.
enum { LOOKS_CLOSER = 16 };

// What everybody of a pass has in common.
struct pair_pass {
    pair_step step;
    pair_report *report;
    int from, slot; // the ways of slots from .. slot count; what is found out goes into `slot`

    TH_ON_GPU bool over() const { return step.tidy && !report->found[slot - 1][TIGHT_ONES]; }
    TH_ON_GPU pair_step now() const {
        pair_step all = step;
        uint32_t moved2 = 0;
        for (int k = from; k < slot; ++k)
            moved2 = report->found[k][MOVED2] > moved2 ? report->found[k][MOVED2] : moved2;
        all.widest = float_of_bits(report->found[0][WIDEST]);
        all.moved = sqrtf(float_of_bits(moved2));
        return all;
    }
    TH_ON_GPU push around(const th_world *world, const pair_step *all, int i, bool *coincident) const {
#ifdef __CUDACC__
        __shared__ float all_lanes[2 * LANES * THREADS];
        return push_from_runs(world, all, (uint32_t)i, all_lanes + threadIdx.x, THREADS, coincident);
#else
        float lanes[2 * LANES];
        return push_from_runs(world, all, (uint32_t)i, lanes, 1, coincident);
#endif
    }
    TH_ON_GPU static void settle(th_world *world, int i, th_vec2 p, uint32_t *found) {
        th_agents *a = &world->agents;
        a->work_x[i] = p.x;
        a->work_y[i] = p.y;
        if (a->order[i] & IS_TIGHT) found[TIGHT_ONES] = 1;
        raise(&found[MOVED2], th_length2(th_sub(p, th_position(a, (uint32_t)i))));
    }
    TH_ON_GPU static void defer(th_world *world, int i, uint32_t *found) {
        world->agents.order[i] |= LOOKS_CLOSER;
        found[CLOSER_ONES] = 1;
    }
    // Those in the open; who is near a wall or a link, or at the very place of another, is deferred.
    TH_ON_GPU void in_the_open(th_world *world, int i, uint32_t *found) const {
        th_agents *a = &world->agents;
        th_vec2 p = {a->next_position_x[i], a->next_position_y[i]};
        if (!looks(&step, a->order[i])) {
            if (!step.tidy) settle(world, i, p, found);
            return;
        }
        if (by_wall(world, i) || world->scene->link_count > 0) return defer(world, i, found);
        pair_step all = now();
        bool coincident;
        push result = around(world, &all, i, &coincident);
        if (coincident) return defer(world, i, found);
        settle(world, i, take_push(world, &all, nullptr, (uint32_t)i, p, result, false), found);
    }
    TH_ON_GPU void closer(th_world *world, int i, uint32_t *found) const {
        th_agents *a = &world->agents;
        if (!(a->order[i] & LOOKS_CLOSER)) return;
        th_vec2 p = {a->next_position_x[i], a->next_position_y[i]};
        th_walls walls = th_world_walls(world);
        pair_step all = now();
        bool coincident, wall = by_wall(world, i);
        push result = around(world, &all, i, &coincident);
        result = look_closer(world, &all, &walls, (uint32_t)i, result, coincident, a->next_position_x,
                             a->next_position_y, wall);
        settle(world, i, take_push(world, &all, &walls, (uint32_t)i, p, result, wall), found);
    }
    TH_ON_GPU static bool by_wall(const th_world *world, int i) {
        const th_uic_level *level = &world->uic->levels[world->agents.level[i]];
        quarter q = quarter_of(world, i);
        return level->walled && flags_of(world->uic, level, q.i, q.j, q.a, q.b) & TH_UIC_NEAR_WALL;
    }
};

// find(world, i, found) for everybody, into a slot of the report.
template <class Find> static void find_among(th_world *host, int slot, Find find) {
    th_world *world = host->cuda->world;
    find_most(host->cuda->bound, grids_of(host)->pairs->found[slot], TH_LAMBDA(int i, uint32_t *found) {
        if (i < world->agents.count) find(world, i, found);
    });
}

static void run_pass(th_world *host, pair_pass pass) {
    find_among(host, pass.slot, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
        if (!pass.over()) pass.in_the_open(world, i, found);
    });
    find_among(host, pass.slot, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
        if (pass.report->found[pass.slot][CLOSER_ONES]) pass.closer(world, i, found);
    });
}

static void swap_next(th_world *host) {
    swap_positions(&host->cuda->known.agents);
    once(host, TH_LAMBDA(th_world * world) { swap_positions(&world->agents); });
}

static void separate(th_world *host) {
    pair_report *report = grids_of(host)->pairs;
    pair_step step;
    pass_plan plan = plan_passes(host, &step);
    if (plan.passes == 0) return;
    step.half = host->cuda->known.agents.work2_x;
    step.give = host->cuda->known.agents.work2_y;
    clear(report, sizeof *report);
    find_among(host, 0, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
        begin_one(world, &step, (uint32_t)i);
        raise(&found[WIDEST], th_max(step.half[i], 0.0f));
        raise(&found[MOVED2], moved2_of(&world->agents, (uint32_t)i));
    });
    int slot = 1, from = 0;
    for (int pass = 0; pass < plan.passes; ++pass, ++slot) {
        run_pass(host, {step, report, from, slot});
        swap_next(host);
        if (!walks_after(&plan, pass)) continue;
        from = ++slot;
        find_among(host, from, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
            walk_one(world, &step, (uint32_t)i);
            raise(&found[MOVED2], moved2_of(&world->agents, (uint32_t)i));
        });
    }
    begin_tidying(&step);
    for (int pass = 0; pass < host->uic->tidy_passes; ++pass, ++slot) {
        run_pass(host, {step, report, from, slot});
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            th_agents *a = &world->agents;
            if (!report->found[slot - 1][TIGHT_ONES] || !(a->order[i] & TIDIED)) return;
            a->next_position_x[i] = a->work_x[i];
            a->next_position_y[i] = a->work_y[i];
            a->order[i] &= ~(uint32_t)TIDIED;
        });
    }
    everybody(host, TH_LAMBDA(th_world * world, int i) { finish_one(world, (uint32_t)i); });
}

// ---- a step

static void uic_move(th_world *host) {
    cover_bodies(host);
    splat(host);
    project(host);
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        quarter q = quarter_of(world, i);
        follow_run(world, &q, (uint32_t)i, (uint32_t)i + 1);
    });
    separate(host);
}

// ---- making, and what is asked for at home

static bool uic_take(th_world *host) {
    store &s = host->cuda->store;
    uic_grids *grids = new (std::nothrow) uic_grids();
    if (!grids) return false;
    host->cuda->uic = grids;
    const th_uic *uic = host->uic;
    size_t n = (size_t)uic->cell_capacity, levels = (size_t)uic->level_count;
    for (size_t l = 0; l < levels; ++l) {
        grids->open = grids->open || !host->scene->levels[l].bounded;
        grids->bodies = grids->bodies || uic->levels[l].has_bodies;
    }
    th_uic *known = &grids->known;
    *known = *uic;
    known->levels = s.room<th_uic_level>(levels);
    known->groups = s.room<th_uic_group>((size_t)uic->group_count);
    known->centre = s.room<th_uic_centre>(n);
    known->west = s.room<th_uic_face>(n);
    known->south = s.room<th_uic_face>(n);
    known->quarters = s.room<uint8_t>(4 * n);
    known->link_faces = s.room<th_uic_link_face>((size_t)uic->link_face_capacity);
    known->home = s.room<uint8_t>((size_t)uic->agent_capacity);
    float **floats[] = {&known->people, &known->packing, &known->capacity, &known->aperture_x, &known->aperture_y,
                        &known->exit_x, &known->exit_y,  &known->gate_x,   &known->gate_y,     &known->u,
                        &known->v,      &known->limit_u, &known->limit_v,  &known->mean_x,     &known->mean_y};
    for (float **array : floats) *array = s.room<float>(n);
    double **doubles[] = {&known->east, &known->north, &known->ground, &known->b, &known->inner_pressure,
                          &known->pressure, &grids->r, &grids->d[0], &grids->d[1], &grids->ad};
    for (double **array : doubles) *array = s.room<double>(n);
    known->bent_u = (float *)grids->d[0]; // between the solves nobody needs the direction
    known->bent_v = known->bent_u ? known->bent_u + n : nullptr;
    known->room = grids->bodies ? s.room<float>(n) : known->capacity;
    known->open_x = grids->bodies ? s.room<float>(n) : known->aperture_x;
    known->open_y = grids->bodies ? s.room<float>(n) : known->aperture_y;
    known->covered = grids->bodies ? s.room<uint64_t>(n) : nullptr;
    grids->coarse_room = room_for_coarse(n);
    grids->fine = s.room<float>(4 * n);
    grids->coarse = s.room<float>((size_t)grids->coarse_room);
    grids->partial = s.room<double>(2 * TEAM_BLOCKS_MOST);
    grids->pairs = s.room<pair_report>(1);
    grids->report = s.room<pressure_report>(1);
    grids->device = s.room<th_uic>(1);
    grids->laid = (th_box *)malloc(levels * sizeof *grids->laid);
    grids->coresident = grid_blocks<project_level>();
    host->cuda->known.uic = grids->device;
    if (s.failed || !grids->laid || !grids->crowd.create(4 * levels)) return false;
    clear(grids->report, sizeof *grids->report);
    return true;
}

static void uic_give_back(th_world *host) {
    uic_grids *grids = host->cuda->uic;
    if (!grids) return;
    grids->crowd.destroy();
    free(grids->laid);
    delete grids;
    host->cuda->uic = nullptr;
}

// What a snapshot keeps.
static bool uic_fetch_memory(th_world *host) {
    th_uic *uic = host->uic;
    const uic_grids *grids = grids_of(host);
    size_t cells = (size_t)grids->cells;
    return get(uic->inner_pressure, grids->known.inner_pressure, cells * sizeof(double)) &&
           get(uic->pressure, grids->known.pressure, cells * sizeof(double)) &&
           get(uic->mean_x, grids->known.mean_x, cells * sizeof(float)) &&
           get(uic->mean_y, grids->known.mean_y, cells * sizeof(float));
}

// What views and statistics show.
static bool uic_fetch_grids(th_world *host) {
    th_uic *uic = host->uic;
    const th_uic *known = &grids_of(host)->known;
    size_t cells = (size_t)grids_of(host)->cells;
    pressure_report report;
    bool good = uic_fetch_memory(host) && get(uic->people, known->people, cells * sizeof(float)) &&
                get(uic->packing, known->packing, cells * sizeof(float)) &&
                get(uic->u, known->u, cells * sizeof(float)) && get(uic->v, known->v, cells * sizeof(float)) &&
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

struct solve_alone {
    pressure_solver solver;
    template <class Team> TH_ON_GPU void operator()(Team &team) const { solver.solve(team); }
};

static bool solve_on_device(const th_lcp *lcp, th_lcp_result *result, store &s) {
    size_t n = (size_t)lcp->nx * (size_t)lcp->ny;
    th_uic_centre *people = (th_uic_centre *)calloc(n, sizeof *people);
    if (!people) return false;
    for (int a = 0; a < lcp->active_count; ++a) people[lcp->active[a]].share = 1.0f;
    pressure_solver problem;
    memset(&problem, 0, sizeof problem);
    problem.nx = lcp->nx, problem.ny = lcp->ny;
    problem.east = s.copy(lcp->east, n), problem.north = s.copy(lcp->north, n);
    problem.ground = s.copy(lcp->ground, n);
    problem.b = s.copy(lcp->b, n), problem.p = s.copy((const double *)lcp->p, n);
    problem.people = s.copy(people, n);
    free(people);
    problem.r = s.room<double>(n), problem.ad = s.room<double>(n);
    problem.d[0] = s.room<double>(n), problem.d[1] = s.room<double>(n);
    problem.tolerance = lcp->tolerance;
    problem.report = s.room<pressure_report>(1);
    float *fine = s.room<float>(4 * n), *coarse = s.room<float>((size_t)room_for_coarse(n));
    double *partial = s.room<double>(2 * TEAM_BLOCKS_MOST);
    if (s.failed) return false;
    join_cells(&problem, fine, coarse, room_for_coarse(n));
    clear(problem.report, sizeof *problem.report);
    solve_alone work = {problem};
    grid(blocks_for((int)n), grid_blocks<solve_alone>(), partial, work);
    pressure_report report;
    if (!finish() || !get(lcp->p, problem.p, n * sizeof *lcp->p) || !get(&report, problem.report, sizeof report))
        return false;
    memset(result, 0, sizeof *result);
    result->iterations = (int)report.iterations;
    result->outer = (int)report.rounds;
    result->residual = report.residual;
    result->converged = report.unconverged == 0;
    return true;
}

} // namespace th

extern "C" bool th_device_pressure(const th_lcp *lcp, th_lcp_result *result) {
    th::store store;
    bool good = th::solve_on_device(lcp, result, store);
    store.give_back();
    return good;
}
#endif
