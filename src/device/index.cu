// The index on the device (space/index.c): people in the order of cells, ties by id, and all their fields with them. SPDX-License-Identifier: Apache-2.0
#include "device/device.cuh"
#include "device/model.cuh"
#include "device/team.cuh"
#ifdef __CUDACC__
#include <cub/block/block_scan.cuh>
#endif

// ---- running sums over the cells
// Only the device knows the number of cells: on an open plane the crowd's box decides, and there may be sixteen times
// as many as it takes, so no kernel goes over all that could be.

namespace th {

enum {
    SCAN_TILE = 1024,   // values that a block sums up, eight a thread
    SCAN_BLOCKS = 2048, // several for each multiprocessor; each takes one tile after the other
    SCAN_THREADS = 1024 // of the one block that sums up the tiles
};

inline size_t tiles_of(int most) { return (size_t)most / SCAN_TILE + 2; }

#ifdef __CUDACC__

// Sum of what threads before this one have; *all: of all.
template <int threads> __device__ uint32_t scan_block(uint32_t own, uint32_t *all) {
    using block_scan = cub::BlockScan<uint32_t, threads>;
    __shared__ typename block_scan::TempStorage room;
    uint32_t before;
    __syncthreads(); // a late thread may still read the last result
    block_scan(room).ExclusiveSum(own, before, *all);
    return before;
}

struct clear_task {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    uint32_t *values;
    const int *count;
    __device__ void operator()() const {
        for (int k = (int)(blockIdx.x * THREADS + threadIdx.x); k <= *count;
             k += (int)(gridDim.x * THREADS))
            values[k] = 0;
    }
};
struct sum_tiles {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    const uint32_t *values;
    const int *count;
    uint32_t *tiles;
    __device__ void operator()() const {
        int used = *count / SCAN_TILE + 1;
        for (int t = (int)blockIdx.x; t < used; t += (int)gridDim.x) {
            uint32_t sum = 0, all;
            for (int k = t * SCAN_TILE + (int)threadIdx.x; k < (t + 1) * SCAN_TILE && k <= *count;
                 k += THREADS)
                sum += values[k];
            scan_block<THREADS>(sum, &all);
            if (threadIdx.x == 0) tiles[t] = all;
        }
    }
};
struct scan_tiles {
    enum { WIDTH = SCAN_THREADS, RESIDENT = 0 };
    const int *count;
    uint32_t *tiles;
    __device__ void operator()() const {
        int used = *count / SCAN_TILE + 1;
        uint32_t sum = 0, all;
        for (int first = 0; first < used; first += SCAN_THREADS) {
            int t = first + (int)threadIdx.x;
            uint32_t before = scan_block<SCAN_THREADS>(t < used ? tiles[t] : 0u, &all);
            if (t < used) tiles[t] = sum + before;
            sum += all;
        }
    }
};
struct scan_values {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    uint32_t *values;
    const int *count;
    const uint32_t *tiles;
    __device__ void operator()() const {
        enum { EACH = SCAN_TILE / THREADS };
        int used = *count / SCAN_TILE + 1;
        for (int t = (int)blockIdx.x; t < used; t += (int)gridDim.x) {
            int first = t * SCAN_TILE + (int)threadIdx.x * EACH;
            uint32_t own[EACH], sum = 0, all;
            for (int e = 0; e < EACH; ++e) {
                own[e] = first + e <= *count ? values[first + e] : 0u;
                sum += own[e];
            }
            sum = tiles[t] + scan_block<THREADS>(sum, &all);
            for (int e = 0; e < EACH; ++e) {
                if (first + e <= *count) values[first + e] = sum;
                sum += own[e];
            }
        }
    }
};

inline int scan_blocks(int most) {
    size_t tiles = tiles_of(most);
    return tiles < SCAN_BLOCKS ? (int)tiles : SCAN_BLOCKS;
}
// values[0 .. *count], one more than *count, become 0. `most`: *count is not more.
inline void clear_counted(uint32_t *values, const int *count, int most) {
    launch(clear_task{values, count}, scan_blocks(most));
}
// values[0 .. *count] become the sums of those before them; `tiles` has room for tiles_of(most).
inline void scan_counted(uint32_t *values, const int *count, int most, uint32_t *tiles) {
    launch(sum_tiles{values, count, tiles}, scan_blocks(most));
    launch(scan_tiles{count, tiles}, 1);
    launch(scan_values{values, count, tiles}, scan_blocks(most));
}

#else

inline void clear_counted(uint32_t *values, const int *count, int) {
    each(
        1, TH_LAMBDA(int) {
            for (int k = 0; k <= *count; ++k) values[k] = 0;
        });
}
inline void scan_counted(uint32_t *values, const int *count, int, uint32_t *) {
    each(
        1, TH_LAMBDA(int) {
            uint32_t sum = 0;
            for (int k = 0; k <= *count; ++k) {
                uint32_t own = values[k];
                values[k] = sum;
                sum += own;
            }
        });
}

#endif

// ---- the index

// The crowd's boxes on open planes; of all four keys of a level the largest is found, so the first two are those of
// -x and -y, in which order the complements of keys are.
static void find_crowd(th_world *host) {
    th_world *world = world_on_device(host);
    uint32_t *keys = host->device_world->box_keys;
    static_assert((int)FOUND == 4, "two corners");
    clear(keys, 4 * (size_t)host->scene->level_count * sizeof *keys);
    for (int l = 0; l < host->scene->level_count; ++l) {
        if (host->scene->levels[l].bounded) continue;
        find_most(
            host->device_world->bound, keys + 4 * l, TH_LAMBDA(int i, uint32_t *found) {
                const th_agents *agents = &world->agents;
                if (i >= agents->count || agents->level[i] != (uint32_t)l ||
                    th_gone(agents->phase[i]))
                    return;
                uint32_t x = ordered(agents->position_x[i]), y = ordered(agents->position_y[i]);
                const uint32_t own[FOUND] = {~x, ~y, x, y};
                for (int f = 0; f < FOUND; ++f) found[f] = own[f] > found[f] ? own[f] : found[f];
            });
    }
}

void crowd_boxes(th_world *host) {
    uint32_t *keys = host->device_world->box_keys;
    find_crowd(host);
    each(
        4 * host->scene->level_count, TH_LAMBDA(int k) { keys[k] = k & 2 ? keys[k] : ~keys[k]; });
}

static void build_grids(th_world *host) {
    th_device_world *device = host->device_world;
    uint32_t *keys = device->box_keys;
    bool built = false;
    each_model(host, [&](const device_model *model) {
        if (model->build_index) model->build_index(host);
        built = built || model->build_index;
    });
    if (built) return;
    if (!device->bounded) find_crowd(host);
    once(
        host, TH_LAMBDA(th_world * world) {
            for (int l = 0; l < world->scene->level_count; ++l) {
                th_box *box = &world->level_boxes[l];
                *box = world->scene->levels[l].box;
                const uint32_t *key = keys + 4 * l;
                if (!world->scene->levels[l].bounded && ~key[0] <= key[2])
                    *box = {unordered(~key[0]), unordered(~key[1]), unordered(key[2]),
                            unordered(key[3])};
            }
            th_index_build_grids(&world->index, world->level_boxes, world->cell_size);
        });
}

// The cell of every agent; afterwards `order` has the people of each cell beside each other, as they came.
static void sort_people(th_world *host) {
    th_device_world *device = host->device_world;
    uint32_t *start = device->known.index.cell_start;
    const int *cells = &device->world->index.cell_count;
    clear_counted(start, cells, device->cells);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_agents *agents = &world->agents;
            const th_level_grid *grid = &world->index.grids[agents->level[i]];
            int column = th_grid_column(grid, agents->position_x[i]);
            int row = th_grid_row(grid, agents->position_y[i]);
            uint32_t cell = th_gone(agents->phase[i])
                                ? TH_NO_CELL
                                : (uint32_t)(grid->first + row * grid->nx + column);
            agents->cell[i] = cell;
            if (cell != TH_NO_CELL) agents->slot[i] = add(&world->index.cell_start[cell], 1u);
        });
    scan_counted(start, cells, device->cells, device->tiles);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_agents *agents = &world->agents;
            uint32_t cell = agents->cell[i];
            if (cell != TH_NO_CELL)
                agents->order[world->index.cell_start[cell] + agents->slot[i]] = (uint32_t)i;
        });
}

// Some fields on their way into the order of cells. The arrays that a step writes are free while people are sorted,
// so as many fields go at once; the field's old array takes the place of the one it went to.
struct gathering {
    enum { MOST = 7 }; // 20 fields in three launches
    const uint32_t *from[MOST];
    uint32_t *to[MOST];
    int first, count;

    // Where fields of models are from now on.
    TH_ON_GPU void tell(void **own) const {
        for (int f = 0; f < count; ++f)
            if (first + f >= TH_FIELD_COUNT) own[first + f - TH_FIELD_COUNT] = to[f];
    }

    TH_ON_GPU void move(uint32_t person, uint32_t place) const {
        uint32_t values[MOST]; // all on their way before the first is written
        for (int f = 0; f < MOST; ++f)
            if (f < count) values[f] = from[f][person];
        for (int f = 0; f < MOST; ++f)
            if (f < count) to[f][place] = values[f];
    }
};

static_assert((int)gathering::MOST <= (int)TH_FIELD_COUNT,
              "the first launch takes no field of a model");

static gathering next_fields(th_agents *agents, int first) {
    float **empty[gathering::MOST] = {&agents->next_position_x,   &agents->next_position_y,
                                      &agents->next_velocity_x,   &agents->next_velocity_y,
                                      &agents->substep_x,         &agents->substep_y,
                                      &agents->substep_velocity_x};
    gathering some;
    memset(&some, 0, sizeof some);
    some.first = first;
    for (; some.count < gathering::MOST && first + some.count < field_count(agents); ++some.count) {
        void **field = field_pointer(agents, first + some.count), *old = *field;
        some.from[some.count] = (const uint32_t *)old;
        some.to[some.count] = (uint32_t *)*empty[some.count];
        *field = *empty[some.count];
        *empty[some.count] = (float *)old;
    }
    return some;
}

// All fields into the order of cells and, within a cell, of ids. Bound by memory: 172 bytes a person.
static void gather_fields(th_world *host) {
    th_device_world *device = host->device_world;
    th_agents *agents = &device->known.agents;
    const uint32_t *cell = agents->cell, *listed = agents->order, *id = agents->id;
    const uint32_t *start = device->known.index.cell_start;
    const int *cells =
        &device->world->index.cell_count; // where the last cell ends: agents that are still there
    uint32_t *order = agents->slot;
    gathering some = next_fields(agents, 0);
    each(
        device->bound, TH_LAMBDA(int k) {
            if ((uint32_t)k >= start[*cells]) return;
            uint32_t person = listed[k], own = id[person];
            uint32_t begin = start[cell[person]], end = start[cell[person] + 1], place = begin;
            for (uint32_t other = begin; other < end; ++other) place += id[listed[other]] < own;
            order[place] = person;
            some.move(person, place);
        });
    th_world *world = device->world;
    for (int first = gathering::MOST; first < field_count(agents); first += gathering::MOST) {
        some = next_fields(agents, first);
        bool last = first + gathering::MOST >= field_count(agents);
        th_agents sorted = agents_on_device(host);
        // This launch does not read world->agents.
        each(
            device->bound > 0 ? device->bound : 1, TH_LAMBDA(int k) {
                if ((uint32_t)k < start[*cells]) some.move(order[k], (uint32_t)k);
                if (k > 0) return;
                some.tell(sorted.own);
                if (!last) return;
                world->agents = sorted;
                world->agents.count = (int)start[*cells];
            });
    }
}

size_t sort_work(int cells) { return tiles_of(cells); }

void stage_index(th_world *host) {
    build_grids(host);
    sort_people(host);
    gather_fields(host);
}

} // namespace th
