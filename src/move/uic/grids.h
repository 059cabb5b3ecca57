// For one agent or one cell, on the CPU and on a device: the cell that an agent belongs to, the place of a cell before its
// grid moved, and the ground that moving bodies cover.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_GRIDS_H
#define TH_MOVE_UIC_GRIDS_H
#include "move/uic/uic.h"
#include <math.h>

// ---- which cell an agent belongs to

// Replaces a cell's centre in questions about walls: the centre, or the place nearest to it in the cell where a body
// can stand (measure_anchors in grids.c).
TH_BOTH static inline th_vec2 th_uic_anchor(const th_uic *uic, int l, int i, int j) {
    const th_uic_level *level = &uic->levels[l];
    return uic->anchor[level->first + j * level->grid.nx + i];
}

// Does a gate of the level lie between p and q?
TH_BOTH static inline bool th_uic_gate_between(const th_uic *uic, int l, th_vec2 p, th_vec2 q) {
    for (int k = 0; k < uic->gate_count; ++k) {
        const th_uic_gate *gate = &uic->gates[k];
        double t;
        if (gate->level == l && th_segments_meet(p, q, gate->a, gate->b, &t)) return true;
    }
    return false;
}

// Can p see the centre of cell (i, j)? `flags` are those of the quarter p is in.
TH_BOTH static inline bool th_uic_sees(const th_world *world, const th_walls *walls, int l,
                                       unsigned flags, th_vec2 p, int i, int j) {
    th_vec2 centre = th_uic_anchor(th_uic_of(world), l, i, j);
    return th_walls_first_crossing(walls, l, p, centre, NULL) < 0 &&
           !(flags & TH_UIC_NEAR_GATE && th_uic_gate_between(th_uic_of(world), l, p, centre));
}

// The cell that an agent at p in cell (i, j) belongs to: the one it stands in unless a wall or a gate hides its centre.
// Returns 3 dy + dx + TH_UIC_OWN_CELL, or TH_UIC_NO_CELL.
TH_BOTH static inline int th_uic_cell_shift(const th_world *world, int l, unsigned flags, int i,
                                            int j, th_vec2 p) {
    const th_staggered *grid = &th_uic_of(world)->levels[l].grid;
    th_walls walls = th_world_walls(world);
    if (th_uic_sees(world, &walls, l, flags, p, i, j)) return TH_UIC_OWN_CELL;
    th_vec2 own = th_uic_anchor(th_uic_of(world), l, i, j);
    int dx = p.x < own.x ? -1 : 1, dy = p.y < own.y ? -1 : 1;
    bool x_nearer = fabsf(p.x - own.x) >= fabsf(p.y - own.y);
    // The nearest first; the far sides last, for cells that walls cut into strips.
    const int tries[8][2] = {{x_nearer ? dx : 0, x_nearer ? 0 : dy},
                             {x_nearer ? 0 : dx, x_nearer ? dy : 0},
                             {dx, dy},
                             {x_nearer ? 0 : -dx, x_nearer ? -dy : 0},
                             {x_nearer ? -dx : 0, x_nearer ? 0 : -dy},
                             {dx, -dy},
                             {-dx, dy},
                             {-dx, -dy}};
    for (int k = 0; k < 8; ++k) {
        int ni = i + tries[k][0], nj = j + tries[k][1];
        if (ni < 1 || nj < 1 || ni >= grid->nx - 1 || nj >= grid->ny - 1) continue;
        if (th_uic_sees(world, &walls, l, flags, p, ni, nj))
            return TH_UIC_OWN_CELL + 3 * tries[k][1] + tries[k][0];
    }
    return TH_UIC_NO_CELL;
}

// ---- grids that follow an open plane's crowd

// Where cell (i, j) of grid `to` lies in grid `from` of the same lattice; -1: not there.
TH_BOTH static inline int th_uic_cell_before(const th_staggered *from, const th_staggered *to,
                                             int i, int j) {
    int column = i + to->column - from->column, row = j + to->row - from->row;
    bool there = from->h == to->h && column >= 0 && row >= 0 && column < from->nx && row < from->ny;
    return there ? row * from->nx + column : -1;
}

// ---- moving bodies

enum { TH_UIC_BITS = 8 }; // along a cell's side

TH_BOTH static inline void th_uic_cover(uint64_t *word, uint64_t bit) {
#ifdef __CUDA_ARCH__
    atomicOr((unsigned long long *)word, (unsigned long long)bit);
#else
    *word |= bit;
#endif
}

// Sets the bits of what a disc covers.
TH_BOTH static inline void th_uic_cover_disc(th_uic *uic, const th_uic_level *level, th_vec2 centre,
                                             float radius) {
    const th_staggered *grid = &level->grid;
    float scale = (float)TH_UIC_BITS * grid->inverse_h, r = radius * scale;
    float x = (centre.x - grid->origin.x) * scale, y = (centre.y - grid->origin.y) * scale;
    int column0 = (int)floorf(x - r), column1 = (int)ceilf(x + r);
    int row0 = (int)floorf(y - r), row1 = (int)ceilf(y + r);
    if (!(x - r > 0.0f && y - r > 0.0f && x + r < (float)(TH_UIC_BITS * grid->nx - 1) &&
          y + r < (float)(TH_UIC_BITS * grid->ny - 1)))
        return; // off the ground
    for (int row = row0; row < row1; ++row)
        for (int column = column0; column < column1; ++column) {
            float dx = (float)column + 0.5f - x, dy = (float)row + 0.5f - y;
            if (dx * dx + dy * dy > r * r) continue;
            int cell = row / TH_UIC_BITS * grid->nx + column / TH_UIC_BITS;
            th_uic_cover(&uic->covered[level->first + cell],
                         (uint64_t)1 << (row % TH_UIC_BITS * TH_UIC_BITS + column % TH_UIC_BITS));
        }
}

TH_BOTH static inline int th_uic_count_bits(uint64_t mask) {
#ifdef __CUDA_ARCH__
    return __popcll((unsigned long long)mask);
#else
    return __builtin_popcountll((unsigned long long)mask);
#endif
}

// Share of the rows of bits (west face) or columns (south face) that nothing covers between the centres of two
// cells.
TH_BOTH static inline float th_uic_uncovered(uint64_t before, uint64_t here, int axis) {
    int blocked = 0;
    for (int k = 0; k < TH_UIC_BITS; ++k) {
        uint64_t line =
            axis ? (uint64_t)0x0101010101010101u << k : (uint64_t)0xFFu << (TH_UIC_BITS * k);
        uint64_t far_half = axis ? 0xFFFFFFFF00000000u : 0xF0F0F0F0F0F0F0F0u;
        blocked += ((before & far_half & line) | (here & ~far_half & line)) != 0;
    }
    return 1.0f - (float)blocked / (float)TH_UIC_BITS;
}

// Sets the capacity that bodies leave of a cell.
TH_BOTH static inline void th_uic_cover_cell(th_uic *uic, int nx, int c) {
    uint64_t here = uic->covered[c], west = uic->covered[c - 1], south = uic->covered[c - nx];
    float covered = (float)th_uic_count_bits(here) / (float)(TH_UIC_BITS * TH_UIC_BITS);
    uic->room[c] = uic->capacity[c] * (1.0f - covered);
    uic->open_x[c] = uic->aperture_x[c] * (here | west ? th_uic_uncovered(west, here, 0) : 1.0f);
    uic->open_y[c] = uic->aperture_y[c] * (here | south ? th_uic_uncovered(south, here, 1) : 1.0f);
}
#endif
