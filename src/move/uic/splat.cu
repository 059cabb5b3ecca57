// People of the model uic to its grid and back (splat.h), summed up in the CPU's order, so that the sums have its bits.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/device.cuh"
#include "move/uic/project.h"

namespace th {

enum {
    TILE = 8,                // cells along a side of a block's piece
    TILE_WIDE = 2 * TILE + 3 // quarters that give to them
};

// A node of a lattice while it is summed up.
struct node_sum {
    int lattice, node;
    float lane[TH_UIC_LANES];
    TH_ON_GPU void add(int to, const float *values) {
        if (to == node)
            for (int n = 0; n < TH_UIC_LANES; ++n) lane[n] += values[n];
    }
    // The contribution of quarter (a, b) of cell c to this node.
    TH_ON_GPU void take(int c, int nx, int a, int b, unsigned folds, const th_uic_sums *sums) {
        th_uic_gift gift = th_uic_gift_to(lattice, c, nx, a, b, folds, sums);
        add(gift.to.near, gift.shares.near);
        add(gift.to.beside, gift.shares.beside);
        add(gift.to.above, gift.shares.above);
        add(gift.to.corner, gift.shares.corner);
    }
};
TH_ON_GPU inline float *lanes_of(th_uic *uic, int lattice, int node) {
    void *nodes = lattice == TH_UIC_CENTRES      ? (void *)&uic->centre[node]
                  : lattice == TH_UIC_WEST_FACES ? (void *)&uic->west[node]
                                                 : (void *)&uic->south[node];
    return (float *)nodes;
}

// A block sums up the quarters that give to its cells, some of which give to others' too, and hands them out. In
// its shared memory a value of all quarters lies side by side, so that threads do not wait for each other.
struct splat_tile {
    th_world *world;
    int l, nx, ny, tiles_x;
    enum {
        LANES_USED = 6,
        QUARTERS = TILE_WIDE * TILE_WIDE,
        VALUES = (int)TH_UIC_CORNERS * LANES_USED
    };

    TH_ON_GPU bool on_ring(int column, int row) const {
        return column < 2 || row < 2 || column >= 2 * nx - 2 || row >= 2 * ny - 2;
    }
    TH_ON_GPU void sum_quarter(int column, int row, float *values) const {
        th_uic_sums sums;
        memset(&sums, 0, sizeof sums);
        if (!on_ring(column, row)) {
            const th_uic *uic = th_uic_of(world);
            const th_uic_level *level = &uic->levels[l];
            th_uic_quarter q = th_uic_quarter_at(uic, l, column, row);
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                th_uic_quarter_run(world, &q, k, &begin, &end);
                th_uic_sum_run(world, level, &q, begin, end, &sums);
            }
        }
        for (int k = 0; k < VALUES; ++k)
            values[k * QUARTERS] = sums.corner[k / LANES_USED][k % LANES_USED];
    }
    TH_ON_GPU static th_uic_sums quarter_at(const float *values) {
        th_uic_sums sums;
        for (int k = 0; k < VALUES; ++k)
            sums.corner[k / LANES_USED][k % LANES_USED] = values[k * QUARTERS];
        return sums;
    }
    // In the CPU's order: rows of even bands come first. With the lattice known to the compiler it knows which
    // corner is which, and keeps them in registers.
    template <int LATTICE>
    TH_ON_GPU void sum_node(const float *values, int i0, int j0, int i, int j) const {
        if (i >= nx || j >= ny) return;
        const th_uic_level *level = &th_uic_of(world)->levels[l];
        node_sum sum = {LATTICE, level->first + j * nx + i, {0, 0, 0, 0}};
        const int west = LATTICE == TH_UIC_WEST_FACES ? 2 : 1,
                  south = LATTICE == TH_UIC_SOUTH_FACES ? 2 : 1;
        for (int colour = 0; colour < 2; ++colour) {
            TH_UNROLLED
            for (int up = 0; up < 4; ++up) {
                int row = 2 * j - south + up;
                if ((row / 2 / TH_UIC_BAND) % 2 != colour) continue;
                TH_UNROLLED
                for (int along = 0; along < 4; ++along) {
                    int column = 2 * i - west + along, a = (along + west) & 1, b = (up + south) & 1;
                    if (on_ring(column, row)) continue;
                    th_uic_sums sums = quarter_at(values + (row - (2 * j0 - 2)) * TILE_WIDE +
                                                  column - (2 * i0 - 2));
                    sum.take(level->first + row / 2 * nx + column / 2, nx, a, b,
                             th_uic_flags_of(th_uic_of(world), level, column / 2, row / 2, a, b),
                             &sums);
                }
            }
        }
        float *lanes = lanes_of(th_uic_of(world), LATTICE, sum.node);
        for (int n = 0; n < TH_UIC_LANES; ++n) lanes[n] = sum.lane[n];
    }
    TH_ON_GPU void operator()(block_team &team) const {
        float *values = (float *)team.shared;
        int i0 = team.block % tiles_x * TILE, j0 = team.block / tiles_x * TILE;
        team.each(QUARTERS, [&](int k) {
            sum_quarter(2 * i0 - 2 + k % TILE_WIDE, 2 * j0 - 2 + k / TILE_WIDE, values + k);
        });
        team.each((int)TH_UIC_LATTICES * TILE * TILE, [&](int k) {
            int cell = k % (TILE * TILE), i = i0 + cell % TILE, j = j0 + cell / TILE;
            switch (k / (TILE * TILE)) { // the same for a whole warp
            case TH_UIC_CENTRES: sum_node<TH_UIC_CENTRES>(values, i0, j0, i, j); break;
            case TH_UIC_WEST_FACES: sum_node<TH_UIC_WEST_FACES>(values, i0, j0, i, j); break;
            default: sum_node<TH_UIC_SOUTH_FACES>(values, i0, j0, i, j);
            }
        });
    }
};

// An agent that stands in another cell's quarter: whatever of them reaches this node, in the CPU's order, after the
// others.
TH_ON_GPU inline void take_strays(th_world *world, int l, int lattice, int i, int j) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    int nx = level->grid.nx, ny = level->grid.ny;
    if (!(th_uic_flags_of(uic, level, i, j, 0, 0) & MAY_HAVE_STRAYS)) return;
    node_sum sum = {lattice, level->first + j * nx + i, {0, 0, 0, 0}};
    float *lanes = lanes_of(uic, lattice, sum.node);
    for (int n = 0; n < TH_UIC_LANES; ++n) sum.lane[n] = lanes[n];
    for (int row = 2 * j - 4; row < 2 * j + 6; ++row)
        for (int column = 2 * i - 4; column < 2 * i + 6; ++column) {
            if (column < 2 || row < 2 || column >= 2 * nx - 2 || row >= 2 * ny - 2) continue;
            th_uic_quarter q = th_uic_quarter_at(uic, l, column, row);
            if (!(q.flags & TH_UIC_WALL)) continue;
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                th_uic_quarter_run(world, &q, k, &begin, &end);
                for (uint32_t person = begin; person < end; ++person) {
                    if (!th_uic_is_stray(world, person)) continue;
                    th_uic_sums sums;
                    th_uic_place at = th_uic_stray_sums(world, &q, person, &sums);
                    sum.take(level->first + at.j * nx + at.i, nx, at.half_x, at.half_y,
                             th_uic_flags_of(uic, level, at.i, at.j, at.half_x, at.half_y), &sums);
                }
            }
        }
    for (int n = 0; n < TH_UIC_LANES; ++n) lanes[n] = sum.lane[n];
}

void uic_splat(th_world *host) {
    uic_device *device = uic_device_of(host);
    th_world *world = host->device_world->world;
    for (int l = 0; l < th_uic_of(host)->level_count; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        int nx = level->grid.nx, ny = level->grid.ny, tiles_x = (nx + TILE - 1) / TILE;
        splat_tile tile = {world, l, nx, ny, tiles_x};
        blocks(tiles_x * ((ny + TILE - 1) / TILE),
               (size_t)splat_tile::QUARTERS * splat_tile::VALUES * sizeof(float), tile);
    }
    for (int l = 0; l < th_uic_of(host)->level_count; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        int nx = level->grid.nx;
        if (level->walled)
            each(
                TH_UIC_LATTICES * nx * level->grid.ny, TH_LAMBDA(int k) {
                    take_strays(world, l, k % TH_UIC_LATTICES, k / TH_UIC_LATTICES % nx,
                                k / TH_UIC_LATTICES / nx);
                });
    }
    float inverse_h = th_uic_of(host)->levels[0].grid.inverse_h; // all grids have one h
    each(
        device->cells,
        TH_LAMBDA(int c) { th_uic_read_cell(th_uic_of(world), inverse_h * inverse_h, c); });
}

void uic_follow(th_world *host) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_uic_quarter q = quarter_of(world, i);
            th_uic_follow_run(world, &q, (uint32_t)i, (uint32_t)i + 1);
        });
}

} // namespace th
