// The hierarchy of the pressure on a device: couplings of the coarse levels, the V-cycle that preconditions conjugate
// gradients, and the way from coarse to fine where there is no pressure to start from. As the CPU's
// (hierarchy.c), but that black cells are computed anew by each of their red neighbours instead of waited for.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PRESSURE_LEVELS_CUH
#define TH_MOVE_UIC_PRESSURE_LEVELS_CUH
#include "move/uic/pressure_problem.cuh"

namespace th {

struct pressure_levels : pressure_problem {
    using place = pressure_place;

    // ---- smoothing: values of one cell after a half-sweep

    // Levels from 1 on. Where nobody is jammed `inverse` is 0, and what is multiplied with it: nobody asks first and
    // waits for the answer. Ring cells do so too: what they read lies in the array beside theirs, a level's arrays
    // being one behind the other and full of finite numbers.
    TH_ON_GPU static float around_level(const pressure_level &v, const float *x, int c) {
        return (v.east[c - 1] * x[c - 1] + v.east[c] * x[c + 1]) +
               (v.north[c - v.nx] * x[c - v.nx] + v.north[c] * x[c + v.nx]);
    }
    TH_ON_GPU static float relaxed(const pressure_level &v, const float *x, int c) {
        return (v.r[c] + around_level(v, x, c)) * v.inverse[c];
    }
    // Both half-sweeps alternate between the colours, then the other way round.
    TH_ON_GPU static int sweep_colour(int sweep) {
        return sweep < 2 * TH_LCP_LAST_SWEEPS ? sweep & 1 : 1 - (sweep & 1);
    }
    // Where there was no room to join the cells into one.
    template <class Team> TH_ON_GPU void last_sweeps(Team &team) const {
        const pressure_level &v = level[used - 1];
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * TH_LCP_LAST_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                place at = coloured(v, k, sweep_colour(sweep));
                if (at.i < v.nx - 1) v.x[at.c] = relaxed(v, v.x, at.c);
            });
    }

    // ---- transfer down, by all blocks

    // A black cell on the way down. All blocks waiting for each other takes longer than computing such a value
    // anew for each of its red neighbours; so it is below.
    TH_ON_GPU static float black_down(const pressure_level &v, int c) { return relaxed(v, v.x, c); }
    // What is left of a red cell after both half-sweeps.
    TH_ON_GPU static float pull(const pressure_level &v, int c) {
        float pull =
            (v.east[c - 1] * black_down(v, c - 1) + v.east[c] * black_down(v, c + 1)) +
            (v.north[c - v.nx] * black_down(v, c - v.nx) + v.north[c] * black_down(v, c + v.nx));
        return v.inverse[c] > 0 ? pull : 0;
    }
    template <class Team> TH_ON_GPU void down(Team &team, int from, int to) const {
        for (int l = from; l < to && l + 1 < used; ++l) {
            const pressure_level &fine = level[l], &v = level[l + 1];
            team.each(inside(v), [&](int k) {
                place at = cell(v, k);
                int child = first_child(fine, at);
                float r = pull(fine, child) + pull(fine, child + fine.nx + 1);
                v.r[at.c] = r;
                v.x[at.c] = r * v.inverse[at.c];
            });
        }
    }

    // ---- transfer up, by all blocks

    // Where the coarser level than l has its results.
    TH_ON_GPU const float *coarser_result(int l, const float *memory) const {
        return l + 1 == in_block && in_block < used ? in_shared(memory, in_block).y
                                                    : level[l + 1].y;
    }
    // x of red cell (i, j) with what the coarser level, whose results are `above`, adds to it.
    TH_ON_GPU static float corrected(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        float x = v.x[c], more = above[parent(v, i, j)];
        return v.inverse[c] > 0 ? x + more : x;
    }
    TH_ON_GPU static float around_corrected(const pressure_level &v, const float *above, int i,
                                            int j) {
        int c = j * v.nx + i;
        return (v.east[c - 1] * corrected(v, above, i - 1, j) +
                v.east[c] * corrected(v, above, i + 1, j)) +
               (v.north[c - v.nx] * corrected(v, above, i, j - 1) +
                v.north[c] * corrected(v, above, i, j + 1));
    }
    // The coarsest level has nothing to correct it by.
    template <bool CORRECTED>
    TH_ON_GPU static float black_up(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        return CORRECTED ? (v.r[c] + around_corrected(v, above, i, j)) * v.inverse[c]
                         : relaxed(v, v.x, c);
    }
    template <bool CORRECTED>
    TH_ON_GPU static float red_up(const pressure_level &v, const float *above, int i, int j) {
        int c = j * v.nx + i;
        float pull = (v.east[c - 1] * black_up<CORRECTED>(v, above, i - 1, j) +
                      v.east[c] * black_up<CORRECTED>(v, above, i + 1, j)) +
                     (v.north[c - v.nx] * black_up<CORRECTED>(v, above, i, j - 1) +
                      v.north[c] * black_up<CORRECTED>(v, above, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    template <bool CORRECTED, class Team>
    TH_ON_GPU void up(Team &team, const pressure_level &v, const float *above) const {
        team.each(both(v), [&](int k) {
            place at = of_both(v, k);
            if (at.i > v.nx - 2) return;
            v.y[at.c] = (at.i + at.j) & 1 ? black_up<CORRECTED>(v, above, at.i, at.j)
                                          : red_up<CORRECTED>(v, above, at.i, at.j);
        });
    }
    template <class Team> TH_ON_GPU void up(Team &team, int from, int to) const {
        for (int l = from; l >= to; --l)
            if (l + 1 < used)
                up<true>(team, level[l], coarser_result(l, team.memory()));
            else
                up<false>(team, level[l], nullptr);
    }
    // The V-cycle from level 1 on.
    template <class Team> TH_ON_GPU void cycle(Team &team) const {
        if (used == 1) return;
        down(team, 1, in_block);
        if (in_block < used)
            team.every_block([&](auto &block) { block_cycle(block); });
        else
            last_sweeps(team);
        up(team, in_block - 1, 1);
    }

    // ---- the coarse levels in a block's shared memory

    TH_ON_GPU pressure_level in_shared(const float *memory, int l) const {
        const pressure_level &v = level[l];
        float *at = (float *)memory + v.shared_at;
        int n = v.nx * v.ny;
        return {v.nx,       v.ny,       at,         at + n,      at + 2 * n, at + 3 * n,
                at + 4 * n, at + 5 * n, at + 6 * n, v.shared_at, v.across,   v.across_reds};
    }
    // phase(place) for the cells of a colour.
    template <class Block, class Phase>
    TH_ON_GPU static void coloured_cells(Block &block, const pressure_level &v, int colour,
                                         Phase phase) {
        block.each(half(v), [&](int k) {
            place at = coloured(v, k, colour);
            if (at.i < v.nx - 1) phase(at);
        });
    }
    template <class Block>
    TH_ON_GPU void block_down(Block &block, const float *memory, int l) const {
        pressure_level fine = in_shared(memory, l), v = in_shared(memory, l + 1);
        coloured_cells(block, fine, 1,
                       [&](place at) { fine.y[at.c] = relaxed(fine, fine.x, at.c); });
        block.each(inside(v), [&](int k) {
            place at = cell(v, k);
            int child = first_child(fine, at);
            // Of a cell at the ring only one is red: nothing is read beyond, where the shared memory may end.
            bool whole = (2 * at.i < fine.nx - 1) & (2 * at.j < fine.ny - 1);
            int other = whole ? child + fine.nx + 1 : child;
            float one = around_level(fine, fine.y, child), two = around_level(fine, fine.y, other);
            float r = (fine.inverse[child] > 0 ? one : 0.0f) +
                      ((whole & (fine.inverse[other] > 0)) ? two : 0.0f);
            v.r[at.c] = r;
            v.x[at.c] = r * v.inverse[at.c];
        });
    }
    template <class Block> TH_ON_GPU void block_up(Block &block, const float *memory, int l) const {
        pressure_level v = in_shared(memory, l);
        coloured_cells(block, v, 1, [&](place at) {
            v.y[at.c] = l + 1 < used ? black_up<true>(v, in_shared(memory, l + 1).y, at.i, at.j)
                                     : black_up<false>(v, nullptr, at.i, at.j);
        });
        coloured_cells(block, v, 0, [&](place at) { v.y[at.c] = relaxed(v, v.y, at.c); });
    }
    template <class Block>
    TH_ON_GPU void block_last_sweeps(Block &block, const pressure_level &v) const {
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * TH_LCP_LAST_SWEEPS; ++sweep)
            coloured_cells(block, v, sweep_colour(sweep),
                           [&](place at) { v.x[at.c] = relaxed(v, v.x, at.c); });
    }
    // The V-cycle from level in_block on, whose residuals the blocks have just written together.
    template <class Block> TH_ON_GPU void block_cycle(Block &block) const {
        const float *memory = block.memory(), *r = level[in_block].r;
        pressure_level v = in_shared(memory, in_block);
        block.read(r, v.nx * v.ny, [&](int c, float value) {
            v.r[c] = value;
            v.x[c] = value * v.inverse[c];
        });
        for (int l = in_block; l + 1 < used; ++l) block_down(block, memory, l);
        block_last_sweeps(block, in_shared(memory, used - 1));
        for (int l = used - 1; l >= in_block; --l) block_up(block, memory, l);
    }

    // ---- couplings of the coarse levels

    TH_ON_GPU static void set_cell(const pressure_level &v, int c, const double *across,
                                   double ground) {
        th_lcp_coarse_cell cell = th_lcp_coarse_cell_of(across, ground);
        v.east[c] = cell.coupling[1];
        v.north[c] = cell.coupling[3];
        v.ground[c] = cell.ground;
        v.inverse[c] = cell.inverse;
    }
    // Level 1: only jammed cells count, beside the others p = 0 as beside an exit.
    TH_ON_GPU void fill_first(place at) const {
        const float *face = level[0].inverse;
        int corner = first_child(level[0], at);
        double side[4] = {0, 0, 0, 0}, rest = 0;
        for (int q = 0; q < 4; ++q) {
            int child = corner + (q & 1) + (q >> 1) * nx;
            if (!(face[child] > 0)) continue;
            pressure_row a = row(child);
            double west = face[child - 1] > 0 ? (double)a.west : 0,
                   east = face[child + 1] > 0 ? (double)a.east : 0;
            double south = face[child - nx] > 0 ? (double)a.south : 0,
                   north = face[child + nx] > 0 ? (double)a.north : 0;
            rest += th_lcp_larger(a.diagonal - west - east - south - north, 0);
            side[q & 1] += q & 1 ? east : west;
            side[2 + (q >> 1)] += q >> 1 ? north : south;
        }
        set_cell(level[1], at.c, side, rest);
    }
    TH_ON_GPU static void fill_next(const pressure_level &v, const pressure_level &fine, place at) {
        int corner = first_child(fine, at), above = corner + fine.nx;
        const double side[4] = {(double)fine.east[corner - 1] + (double)fine.east[above - 1],
                                (double)fine.east[corner + 1] + (double)fine.east[above + 1],
                                (double)fine.north[corner - fine.nx] +
                                    (double)fine.north[corner + 1 - fine.nx],
                                (double)fine.north[above] + (double)fine.north[above + 1]};
        double rest = ((double)fine.ground[corner] + (double)fine.ground[corner + 1]) +
                      ((double)fine.ground[above] + (double)fine.ground[above + 1]);
        set_cell(v, at.c, side, rest);
    }
    template <class Team> TH_ON_GPU void fill_levels(Team &team, int from, int to) const {
        for (int l = from; l < to; ++l)
            team.each(inside(level[l]), [&](int k) {
                if (l == 1)
                    fill_first(cell(level[l], k));
                else
                    fill_next(level[l], level[l - 1], cell(level[l], k));
            });
    }
    // Couplings of level in_block from where the blocks have written them together; the rest from those.
    template <class Block> TH_ON_GPU void block_fill(Block &block) const {
        float *memory = block.memory();
        block.each(shared_count, [&](int k) { memory[k] = 0; });
        const pressure_level &from = level[in_block];
        pressure_level v = in_shared(memory, in_block);
        block.each(v.nx * v.ny, [&](int c) {
            v.east[c] = from.east[c];
            v.north[c] = from.north[c];
            v.ground[c] = from.ground[c];
            v.inverse[c] = from.inverse[c];
        });
        for (int l = in_block + 1; l < used; ++l) {
            pressure_level fine = in_shared(memory, l - 1), coarser = in_shared(memory, l);
            block.each(inside(coarser), [&](int k) { fill_next(coarser, fine, cell(coarser, k)); });
        }
    }

    // ---- from coarse to fine, where there is no pressure to start from

    // b of the cells of level l, summed from the finer one.
    template <class Team> TH_ON_GPU void sum_b(Team &team, int l) const {
        team.each(inside(level[l]), [&](int k) {
            const pressure_level &v = level[l], &fine = level[l - 1];
            place at = cell(v, k);
            int corner = first_child(fine, at);
            double sum = 0;
            for (int q = 0; q < 4; ++q) {
                int child = corner + (q & 1) + (q >> 1) * fine.nx;
                if (l > 1)
                    sum += (double)fine.r[child];
                else if (level[0].inverse[child] > 0)
                    sum += b[child];
            }
            v.r[at.c] = (float)sum;
        });
    }
    // A rough solution on level l, from that of the coarser one.
    template <class Team> TH_ON_GPU void sweep_projected(Team &team, int l) const {
        const pressure_level &v = level[l];
        team.each(inside(v), [&](int k) {
            place at = cell(v, k);
            v.x[at.c] = l + 1 == used ? 0.0f : level[l + 1].x[parent(v, at.i, at.j)];
        });
        for (int sweep = 0; sweep < 2 * TH_LCP_CASCADE_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                place at = coloured(v, k, sweep & 1);
                if (at.i > v.nx - 2) return;
                float x = (around_level(v, v.x, at.c) - v.r[at.c]) * v.inverse[at.c];
                v.x[at.c] = x > 0 ? x : 0;
            });
    }
    template <class Team> TH_ON_GPU void cascade(Team &team) const {
        if (used == 1) return;
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k).c;
            level[0].inverse[c] = b[c] < NEVER ? 1.0f : 0.0f; // all of them; fill asks for no more
        });
        fill_levels(team, 1, used);
        for (int l = 1; l < used; ++l) sum_b(team, l);
        for (int l = used - 1; l >= 1; --l) sweep_projected(team, l);
        team.each(inside(level[0]), [&](int k) {
            place at = cell(level[0], k);
            level[0].inverse[at.c] = 0;
            if (b[at.c] < NEVER)
                p[at.c] = th_lcp_larger(p[at.c], (double)level[1].x[parent(level[0], at.i, at.j)]);
        });
    }
};

} // namespace th
#endif
