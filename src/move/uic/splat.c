// From people to the grid and back on the CPU: the loops over rows of quarters (splat.h).
// Same bits for any number of threads: bands of rows write to their own rows and one row beyond, first all
// even bands, then all odd ones. Cost O(people + cells). SPDX-License-Identifier: Apache-2.0
#include "move/uic/splat.h"
#include "core/parallel.h"

TH_FORMULA void add_lanes(float *node, const float *values) {
    for (int n = 0; n < TH_UIC_LANES; ++n) node[n] += values[n];
}

TH_FORMULA void give(float *lattice, const th_uic_gift *gift) {
    add_lanes(lattice + TH_UIC_LANES * gift->to.near, gift->shares.near);
    add_lanes(lattice + TH_UIC_LANES * gift->to.beside, gift->shares.beside);
    add_lanes(lattice + TH_UIC_LANES * gift->to.above, gift->shares.above);
    add_lanes(lattice + TH_UIC_LANES * gift->to.corner, gift->shares.corner);
}

TH_FORMULA void give_quarter(th_uic *uic, int c, int nx, int a, int b, unsigned folds,
                             const th_uic_sums *sums) {
    th_uic_gift gift = th_uic_gift_to(TH_UIC_CENTRES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->centre, &gift);
    gift = th_uic_gift_to(TH_UIC_WEST_FACES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->west, &gift);
    gift = th_uic_gift_to(TH_UIC_SOUTH_FACES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->south, &gift);
}

TH_CLONES static void splat_row(th_world *world, int l, int j, int b) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    int nx = level->grid.nx;
    for (int column = 2; column < 2 * nx - 2; ++column) {
        th_uic_quarter q = th_uic_quarter_at(uic, l, column, 2 * j + b);
        th_uic_sums sums;
        bool any = false;
        for (int k = 0; k < uic->index_per_half; ++k) {
            uint32_t begin, end;
            th_uic_quarter_run(world, &q, k, &begin, &end);
            if (begin == end) continue;
            if (!any) memset(&sums, 0, sizeof sums);
            any = th_uic_sum_run(world, level, &q, begin, end, &sums) || any;
        }
        if (any) give_quarter(uic, level->first + j * nx + q.i, nx, q.a, b, q.flags, &sums);
    }
}

static void splat_bands(th_world *world, int l) {
    const th_staggered *grid = &th_uic_of(world)->levels[l].grid;
    int bands = (grid->ny + TH_UIC_BAND - 1) / TH_UIC_BAND;
    for (int colour = 0; colour < 2; ++colour) {
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
        for (int band = colour; band < bands; band += 2)
            for (int j = band * TH_UIC_BAND; j < (band + 1) * TH_UIC_BAND && j < grid->ny - 1; ++j)
                for (int b = 0; b < 2; ++b)
                    if (j > 0) splat_row(world, l, j, b);
    }
}

// An agent that belongs to another cell: few, in the order they lie in memory.
static void splat_strays(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    for (int row = 2; row < 2 * grid->ny - 2; ++row) {
        for (int column = 2; column < 2 * grid->nx - 2; ++column) {
            th_uic_quarter q = th_uic_quarter_at(uic, l, column, row);
            if (!(q.flags & TH_UIC_WALL)) continue;
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                th_uic_quarter_run(world, &q, k, &begin, &end);
                for (uint32_t i = begin; i < end; ++i) {
                    if (!th_uic_is_stray(world, i)) continue;
                    th_uic_sums sums;
                    th_uic_place at = th_uic_stray_sums(world, &q, i, &sums);
                    give_quarter(
                        uic, level->first + at.j * grid->nx + at.i, grid->nx, at.half_x, at.half_y,
                        th_uic_flags_of(uic, level, at.i, at.j, at.half_x, at.half_y), &sums);
                }
            }
        }
    }
}

void th_uic_splat(th_world *world) {
    th_uic *uic = th_uic_of(world);
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        size_t cells = (size_t)level->grid.nx * (size_t)level->grid.ny;
        memset(uic->centre + level->first, 0, cells * sizeof *uic->centre);
        memset(uic->west + level->first, 0, cells * sizeof *uic->west);
        memset(uic->south + level->first, 0, cells * sizeof *uic->south);
        splat_bands(world, l);
        if (level->walled) splat_strays(world, l);
    }
}

TH_CLONES static void follow_row(th_world *world, int l, int j, int b) {
    int nx = th_uic_of(world)->levels[l].grid.nx;
    for (int column = 0; column < 2 * nx; ++column) {
        th_uic_quarter q = {l, column / 2, j, column % 2, b, 0};
        for (int k = 0; k < th_uic_of(world)->index_per_half; ++k) {
            uint32_t begin, end;
            th_uic_quarter_run(world, &q, k, &begin, &end);
            th_uic_follow_run(world, &q, begin, end);
        }
    }
}

void th_uic_follow(th_world *world) {
    for (int l = 0; l < th_uic_of(world)->level_count; ++l) {
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 2)
        for (int j = 0; j < th_uic_of(world)->levels[l].grid.ny; ++j)
            for (int b = 0; b < 2; ++b) follow_row(world, l, j, b);
    }
}
