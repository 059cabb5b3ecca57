// The complementarity problem of the pressure (move/uic_lcp.h) on a device: the same method as the CPU's default
// (move/uic_multigrid.c, uic_hierarchy.c), over the whole grid instead of a list of cells, by one kernel whose
// phases wait for each other. It stops by itself when the residual is small enough; nobody at home has to look.
// The waiting bounds it: a phase over all blocks takes microseconds, whatever there is to do in it. So the coarse
// levels are done by every block for itself, in its fast memory, and nobody has to wait for another's result.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_PRESSURE_CUH
#define TH_CUDA_PRESSURE_CUH
#include "cuda/team.cuh"
#include <math.h>

namespace th {

enum {
    PRESSURE_LEVELS = 20, // a million cells along a side
    PRESSURE_ROUNDS = 60,     // most; a warm start takes one or two. What is left goes on in the next step
    PRESSURE_ITERATIONS = 40, // most of a round
    PRESSURE_CASCADE_AT = 10, // these four as on the CPU
    PRESSURE_EXACT_FROM = 20,
    PRESSURE_LAST_SWEEPS = 8,
    PRESSURE_CASCADE_SWEEPS = 8,
    // Levels of no more cells than this, where there is room, are done by every block for itself: ten cells for each
    // of its threads take no longer than waiting for all blocks twice.
    PRESSURE_BLOCK_CELLS = 5120,
    PRESSURE_BINS = 5
};

// How the solves went, running sums. residual_bins: largest residual up to 1, 2, 10, 100 times the tolerance,
// and beyond.
struct pressure_report {
    uint64_t solves, rounds, iterations, unconverged;
    uint64_t residual_bins[PRESSURE_BINS];
    double residual; // of the last solve
};

// A level of the hierarchy: cells joined 2 x 2. Level 0 has the couplings of the problem itself.
struct pressure_level {
    int nx, ny;
    float *east, *north, *ground;
    float *inverse; // of the diagonal in jammed cells, else 0
    float *r, *x, *y; // residual; after the first half-sweep, in red cells; at the end of the V-cycle
    int fast;         // where it begins in a block's fast memory, if it lies there
};
enum { PRESSURE_ARRAYS = 7 };

struct pressure_row {
    float west, east, south, north;
    double diagonal;
};

struct pressure_solver {
    int nx, ny;
    const double *east, *north, *ground;
    const th_uic_centre *people; // where there are none there is no pressure
    double *b, *p;               // b of cells that carry none is set to NEVER
    double *r, *d[2], *ad; // the direction of this iteration and of the last one; A d, or red pressures to be taken
    double tolerance;
    pressure_level level[PRESSURE_LEVELS];
    int used, in_block; // levels; the first that every block does for itself
    float *coarse;      // all coarse levels' arrays
    int coarse_count, fast_count;
    pressure_report *report;

    static constexpr double NEVER = 1e30, NO_FLOW = 1e-30, EPSILON = 1e-8; // [uic_lcp.c]

    // ---- cells

    TH_ON_GPU static int inside(const pressure_level &v) { return (v.nx - 2) * (v.ny - 2); }
    TH_ON_GPU static int cell(const pressure_level &v, int k) {
        return (1 + k / (v.nx - 2)) * v.nx + 1 + k % (v.nx - 2);
    }
    TH_ON_GPU static int half(const pressure_level &v) { return (v.nx - 1) / 2 * (v.ny - 2); }
    // Cell k of a colour (0 red, i + j even); -1: there is none.
    TH_ON_GPU static int coloured(const pressure_level &v, int k, int colour) {
        int wide = (v.nx - 1) / 2, j = 1 + k / wide, i = 1 + 2 * (k % wide) + ((j + 1 + colour) & 1);
        return i < v.nx - 1 ? j * v.nx + i : -1;
    }
    TH_ON_GPU static double larger(double a, double b) { return a > b ? a : b; }

    TH_ON_GPU pressure_row row(int c) const {
        pressure_row a = {(float)east[c - 1], (float)east[c], (float)north[c - nx], (float)north[c], 0};
        a.diagonal = (((double)a.west + (double)a.east) + ((double)a.south + (double)a.north) + ground[c]) *
                     (1 + EPSILON);
        return a;
    }
    TH_ON_GPU double around(const pressure_row &a, const double *v, int c) const {
        return ((double)a.west * v[c - 1] + (double)a.east * v[c + 1]) +
               ((double)a.south * v[c - nx] + (double)a.north * v[c + nx]);
    }
    // With what is negative taken as 0.
    TH_ON_GPU double around_cut(const pressure_row &a, int c) const {
        return ((double)a.west * larger(p[c - 1], 0) + (double)a.east * larger(p[c + 1], 0)) +
               ((double)a.south * larger(p[c - nx], 0) + (double)a.north * larger(p[c + nx], 0));
    }
    TH_ON_GPU static double fit(const pressure_row &a, double pull) { return pull > 0 ? pull / a.diagonal : 0; }

    // ---- the hierarchy

    TH_ON_GPU float coupling_east(int l, int c) const { return l ? level[l].east[c] : (float)east[c]; }
    TH_ON_GPU float coupling_north(int l, int c) const { return l ? level[l].north[c] : (float)north[c]; }
    TH_ON_GPU float around_level(int l, const float *x, int c) const {
        int wide = level[l].nx;
        return (coupling_east(l, c - 1) * x[c - 1] + coupling_east(l, c) * x[c + 1]) +
               (coupling_north(l, c - wide) * x[c - wide] + coupling_north(l, c) * x[c + wide]);
    }
    TH_ON_GPU float relaxed(int l, const float *x, int c) const {
        return (level[l].r[c] + around_level(l, x, c)) * level[l].inverse[c];
    }
    // A black cell on the way down. All blocks waiting for each other takes longer than computing such a value
    // anew for each of its red neighbours; so it is below.
    TH_ON_GPU float black_down(int l, int c) const {
        return level[l].inverse[c] > 0 ? relaxed(l, level[l].x, c) : 0.0f;
    }
    // What is left of a red cell after both half-sweeps.
    TH_ON_GPU float pull(int l, int c) const {
        int wide = level[l].nx;
        if (!(level[l].inverse[c] > 0)) return 0;
        return (coupling_east(l, c - 1) * black_down(l, c - 1) + coupling_east(l, c) * black_down(l, c + 1)) +
               (coupling_north(l, c - wide) * black_down(l, c - wide) +
                coupling_north(l, c) * black_down(l, c + wide));
    }
    template <class Team> TH_ON_GPU void down(Team &team, int from, int to) const {
        for (int l = from; l < to && l + 1 < used; ++l) {
            const pressure_level &fine = level[l], &v = level[l + 1];
            team.each(inside(v), [&](int k) {
                int c = cell(v, k), child = (2 * (c / v.nx) - 1) * fine.nx + 2 * (c % v.nx) - 1;
                v.r[c] = pull(l, child) + pull(l, child + fine.nx + 1);
                v.x[c] = v.r[c] * v.inverse[c];
            });
        }
    }
    // Where the coarser level than l has its results.
    TH_ON_GPU const float *joined(int l, const float *memory) const {
        return l + 1 == in_block && in_block < used ? fast(memory, in_block).y : level[l + 1].y;
    }
    // x of red cell (i, j) with what the coarser level adds to it, whose results are `joined`.
    TH_ON_GPU static float lifted(const pressure_level &v, const float *joined, int i, int j) {
        int c = j * v.nx + i;
        return v.inverse[c] > 0 ? v.x[c] + joined[((j + 1) >> 1) * (((v.nx - 1) >> 1) + 2) + ((i + 1) >> 1)] : v.x[c];
    }
    TH_ON_GPU float black_up(int l, const float *joined, int i, int j) const {
        const pressure_level &v = level[l];
        int c = j * v.nx + i;
        if (!(v.inverse[c] > 0)) return 0;
        if (l + 1 == used) return relaxed(l, v.x, c);
        float pull = (coupling_east(l, c - 1) * lifted(v, joined, i - 1, j) +
                      coupling_east(l, c) * lifted(v, joined, i + 1, j)) +
                     (coupling_north(l, c - v.nx) * lifted(v, joined, i, j - 1) +
                      coupling_north(l, c) * lifted(v, joined, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    TH_ON_GPU float red_up(int l, const float *joined, int i, int j) const {
        const pressure_level &v = level[l];
        int c = j * v.nx + i;
        if (!(v.inverse[c] > 0)) return 0;
        float pull = (coupling_east(l, c - 1) * black_up(l, joined, i - 1, j) +
                      coupling_east(l, c) * black_up(l, joined, i + 1, j)) +
                     (coupling_north(l, c - v.nx) * black_up(l, joined, i, j - 1) +
                      coupling_north(l, c) * black_up(l, joined, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    template <class Team> TH_ON_GPU void up(Team &team, int from, int to) const {
        for (int l = from; l >= to; --l) {
            const float *above = joined(l, team.memory());
            team.each(inside(level[l]), [&](int k) {
                int c = cell(level[l], k), i = c % level[l].nx, j = c / level[l].nx;
                level[l].y[c] = (i + j) & 1 ? black_up(l, above, i, j) : red_up(l, above, i, j);
            });
        }
    }
    // Where there was no room to join the cells into one.
    template <class Team> TH_ON_GPU void last_sweeps(Team &team) const {
        const pressure_level &v = level[used - 1];
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * PRESSURE_LAST_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                int c = coloured(v, k, sweep_colour(sweep));
                if (c >= 0) v.x[c] = relaxed(used - 1, v.x, c);
            });
    }
    TH_ON_GPU static int sweep_colour(int sweep) {
        return sweep < 2 * PRESSURE_LAST_SWEEPS ? sweep & 1 : 1 - (sweep & 1);
    }
    // All but level 0's last half-sweep: that one is weighed.
    template <class Team> TH_ON_GPU void cycle(Team &team) const {
        down(team, 0, in_block);
        if (in_block < used)
            team.every_block([&](auto &block) { fast_cycle(block); });
        else
            last_sweeps(team);
        up(team, in_block - 1, 1);
    }

    // ---- the coarse levels in a block's fast memory

    TH_ON_GPU pressure_level fast(const float *memory, int l) const {
        const pressure_level &v = level[l];
        float *at = (float *)memory + v.fast;
        int n = v.nx * v.ny;
        return {v.nx, v.ny, at, at + n, at + 2 * n, at + 3 * n, at + 4 * n, at + 5 * n, at + 6 * n, v.fast};
    }
    TH_ON_GPU static float fast_around(const pressure_level &v, const float *x, int c) {
        return (v.east[c - 1] * x[c - 1] + v.east[c] * x[c + 1]) +
               (v.north[c - v.nx] * x[c - v.nx] + v.north[c] * x[c + v.nx]);
    }
    TH_ON_GPU static float fast_relaxed(const pressure_level &v, const float *x, int c) {
        return v.inverse[c] > 0 ? (v.r[c] + fast_around(v, x, c)) * v.inverse[c] : 0.0f;
    }
    // phase(i, j) for the cells of a colour.
    template <class Block, class Phase>
    TH_ON_GPU static void coloured_cells(Block &block, const pressure_level &v, int colour, Phase phase) {
        block.each_of_rows(v.ny - 2, (v.nx - 1) / 2, [&](int row, int k) {
            int j = 1 + row, i = 1 + 2 * k + ((j + 1 + colour) & 1);
            if (i < v.nx - 1) phase(i, j);
        });
    }
    template <class Block> TH_ON_GPU void fast_down(Block &block, const float *memory, int l) const {
        pressure_level fine = fast(memory, l), v = fast(memory, l + 1);
        coloured_cells(block, fine, 1, [&](int i, int j) {
            int c = j * fine.nx + i;
            fine.y[c] = fast_relaxed(fine, fine.x, c);
        });
        block.each_of_rows(v.ny - 2, v.nx - 2, [&](int row, int k) {
            int c = (1 + row) * v.nx + 1 + k, child = (2 * row + 1) * fine.nx + 2 * k + 1, other = child + fine.nx + 1;
            float one = fine.inverse[child] > 0 ? fast_around(fine, fine.y, child) : 0.0f;
            float two = fine.inverse[other] > 0 ? fast_around(fine, fine.y, other) : 0.0f;
            v.r[c] = one + two;
            v.x[c] = v.r[c] * v.inverse[c];
        });
    }
    template <class Block> TH_ON_GPU void fast_up(Block &block, const float *memory, int l) const {
        pressure_level v = fast(memory, l);
        const float *above = l + 1 < used ? fast(memory, l + 1).y : nullptr;
        coloured_cells(block, v, 1, [&](int i, int j) {
            int c = j * v.nx + i;
            if (!above || !(v.inverse[c] > 0)) {
                v.y[c] = fast_relaxed(v, v.x, c);
                return;
            }
            float pull =
                (v.east[c - 1] * lifted(v, above, i - 1, j) + v.east[c] * lifted(v, above, i + 1, j)) +
                (v.north[c - v.nx] * lifted(v, above, i, j - 1) + v.north[c] * lifted(v, above, i, j + 1));
            v.y[c] = (v.r[c] + pull) * v.inverse[c];
        });
        coloured_cells(block, v, 0, [&](int i, int j) {
            int c = j * v.nx + i;
            v.y[c] = fast_relaxed(v, v.y, c);
        });
    }
    template <class Block> TH_ON_GPU void fast_last_sweeps(Block &block, const pressure_level &v) const {
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * PRESSURE_LAST_SWEEPS; ++sweep)
            coloured_cells(block, v, sweep_colour(sweep), [&](int i, int j) {
                int c = j * v.nx + i;
                v.x[c] = (v.r[c] + fast_around(v, v.x, c)) * v.inverse[c];
            });
    }
    // The V-cycle from level in_block on, whose residuals the blocks have just written together.
    template <class Block> TH_ON_GPU void fast_cycle(Block &block) const {
        const float *memory = block.memory(), *r = level[in_block].r;
        pressure_level v = fast(memory, in_block);
        block.each(v.nx * v.ny, [&](int c) {
            v.r[c] = r[c];
            v.x[c] = r[c] * v.inverse[c];
        });
        for (int l = in_block; l + 1 < used; ++l) fast_down(block, memory, l);
        fast_last_sweeps(block, fast(memory, used - 1));
        for (int l = used - 1; l >= in_block; --l) fast_up(block, memory, l);
    }
    // Couplings of level in_block from where the blocks have written them together; the rest from those.
    template <class Block> TH_ON_GPU void fast_fill(Block &block) const {
        float *memory = block.memory();
        block.each(fast_count, [&](int k) { memory[k] = 0; });
        const pressure_level &from = level[in_block];
        pressure_level v = fast(memory, in_block);
        block.each(v.nx * v.ny, [&](int c) {
            v.east[c] = from.east[c];
            v.north[c] = from.north[c];
            v.ground[c] = from.ground[c];
            v.inverse[c] = from.inverse[c];
        });
        for (int l = in_block + 1; l < used; ++l) {
            pressure_level fine = fast(memory, l - 1), coarser = fast(memory, l);
            block.each_of_rows(coarser.ny - 2, coarser.nx - 2,
                               [&](int row, int k) { fill_next(coarser, fine, 1 + k, 1 + row); });
        }
    }

    // ---- couplings of the coarse levels

    // Half the sum of the fine couplings across a side, 0.85 of those with p = 0: measured, uic_hierarchy.c.
    TH_ON_GPU static void finish_cell(const pressure_level &v, int c, double west, double east, double south,
                                      double north, double ground) {
        ground *= 0.85;
        double diagonal = ground + 0.5 * west + 0.5 * east + 0.5 * south + 0.5 * north;
        v.east[c] = (float)(0.5 * east);
        v.north[c] = (float)(0.5 * north);
        v.ground[c] = (float)ground;
        v.inverse[c] = (float)(diagonal > 0 ? 1 / diagonal : 0);
    }
    TH_ON_GPU void fill_first(int c) const {
        const pressure_level &v = level[1];
        const float *face = level[0].inverse;
        int corner = (2 * (c / v.nx) - 1) * nx + 2 * (c % v.nx) - 1;
        double side[4] = {0, 0, 0, 0}, rest = 0;
        for (int q = 0; q < 4; ++q) {
            int child = corner + (q & 1) + (q >> 1) * nx;
            if (!(face[child] > 0)) continue;
            pressure_row a = row(child);
            double west = face[child - 1] > 0 ? (double)a.west : 0, east = face[child + 1] > 0 ? (double)a.east : 0;
            double south = face[child - nx] > 0 ? (double)a.south : 0,
                   north = face[child + nx] > 0 ? (double)a.north : 0;
            rest += larger(a.diagonal - west - east - south - north, 0);
            side[q & 1] += q & 1 ? east : west;
            side[2 + (q >> 1)] += q >> 1 ? north : south;
        }
        finish_cell(v, c, side[0], side[1], side[2], side[3], rest);
    }
    TH_ON_GPU static void fill_next(const pressure_level &v, const pressure_level &fine, int i, int j) {
        int corner = (2 * j - 1) * fine.nx + 2 * i - 1, above = corner + fine.nx;
        double west = (double)fine.east[corner - 1] + (double)fine.east[above - 1];
        double east = (double)fine.east[corner + 1] + (double)fine.east[above + 1];
        double south = (double)fine.north[corner - fine.nx] + (double)fine.north[corner + 1 - fine.nx];
        double north = (double)fine.north[above] + (double)fine.north[above + 1];
        double rest = ((double)fine.ground[corner] + (double)fine.ground[corner + 1]) +
                      ((double)fine.ground[above] + (double)fine.ground[above + 1]);
        finish_cell(v, j * v.nx + i, west, east, south, north, rest);
    }
    template <class Team> TH_ON_GPU void fill_levels(Team &team, int from, int to) const {
        for (int l = from; l < to; ++l)
            team.each(inside(level[l]), [&](int k) {
                int c = cell(level[l], k);
                if (l == 1)
                    fill_first(c);
                else
                    fill_next(level[l], level[l - 1], c % level[l].nx, c / level[l].nx);
            });
    }

    // ---- from coarse to fine, where there is no pressure to start from

    template <class Team> TH_ON_GPU void cascade(Team &team) const {
        if (used == 1) return;
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k);
            level[0].inverse[c] = b[c] < NEVER ? 1.0f : 0.0f; // all of them; fill asks for no more
        });
        fill_levels(team, 1, used);
        for (int l = 1; l < used; ++l)
            team.each(inside(level[l]), [&](int k) {
                const pressure_level &v = level[l], &fine = level[l - 1];
                int c = cell(v, k), corner = (2 * (c / v.nx) - 1) * fine.nx + 2 * (c % v.nx) - 1;
                double sum = 0;
                for (int q = 0; q < 4; ++q) {
                    int child = corner + (q & 1) + (q >> 1) * fine.nx;
                    if (l > 1)
                        sum += (double)fine.r[child];
                    else if (level[0].inverse[child] > 0)
                        sum += b[child];
                }
                v.r[c] = (float)sum;
            });
        for (int l = used - 1; l >= 1; --l) {
            const pressure_level &v = level[l];
            team.each(inside(v), [&](int k) {
                int c = cell(v, k);
                v.x[c] = l + 1 == used
                             ? 0.0f
                             : level[l + 1].x[((c / v.nx + 1) >> 1) * level[l + 1].nx + ((c % v.nx + 1) >> 1)];
            });
            for (int sweep = 0; sweep < 2 * PRESSURE_CASCADE_SWEEPS; ++sweep)
                team.each(half(v), [&](int k) {
                    int c = coloured(v, k, sweep & 1);
                    if (c < 0) return;
                    float x = (around_level(l, v.x, c) - v.r[c]) * v.inverse[c];
                    v.x[c] = x > 0 ? x : 0;
                });
        }
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k);
            level[0].inverse[c] = 0;
            int above = ((c / nx + 1) >> 1) * level[1].nx + ((c % nx + 1) >> 1);
            if (b[c] < NEVER) p[c] = larger(p[c], (double)level[1].x[above]);
        });
    }

    // ---- the rounds

    // Clears what is left of the last solve; says who carries pressure. Returns 1 for a cell that would be
    // overfull and PRESSED for one that has pressure to start from.
    static constexpr double PRESSED = 67108864.0; // 2^26, more than there are cells
    TH_ON_GPU double prepare(int k) const {
        if (k < coarse_count) coarse[k] = 0;
        if (k >= nx * ny) return 0;
        level[0].inverse[k] = level[0].r[k] = level[0].x[k] = level[0].y[k] = 0;
        d[0][k] = d[1][k] = ad[k] = 0;
        int i = k % nx, j = k / nx;
        bool ring = i < 1 || j < 1 || i > nx - 2 || j > ny - 2;
        if (ring || !(people[k].share > 0.0f) || !(row(k).diagonal > NO_FLOW)) {
            b[k] = NEVER;
            p[k] = 0;
            return 0;
        }
        if (!(b[k] - b[k] == 0)) b[k] = 0; // what is no finite number counts as 0
        if (!(p[k] > 0 && p[k] - p[k] == 0)) p[k] = 0;
        return (b[k] < 0 ? 1 : 0) + (p[k] > 0 ? PRESSED : 0);
    }
    // A black pressure from the red ones, which may have become negative.
    TH_ON_GPU double black_fit(int c) const {
        if (!(b[c] < NEVER)) return 0;
        pressure_row a = row(c);
        return fit(a, around_cut(a, c) - b[c]);
    }
    // Sets black pressures and cuts the red ones; returns what is left, which only red cells can have. What a
    // projected half-sweep would make of the red ones is kept, in case that is too much.
    template <class Team> TH_ON_GPU double look(Team &team) const {
        return team.most(inside(level[0]), [&](int k) -> double {
            int c = cell(level[0], k);
            if ((c % nx + c / nx) & 1) {
                p[c] = black_fit(c);
                return 0;
            }
            // Whoever reads it meanwhile cuts it himself.
            double own = p[c] = larger(p[c], 0);
            if (!(b[c] < NEVER)) return ad[c] = 0;
            pressure_row a = row(c);
            double around = ((double)a.west * black_fit(c - 1) + (double)a.east * black_fit(c + 1)) +
                            ((double)a.south * black_fit(c - nx) + (double)a.north * black_fit(c + nx));
            double weighted = a.diagonal * own, z = weighted - around + b[c];
            ad[c] = fit(a, around - b[c]);
            return fabs(weighted < z ? weighted : z);
        });
    }
    // Which cells are jammed, by a projected sweep: red cells as they were found by `look`, then black ones.
    template <class Team> TH_ON_GPU void settle(Team &team) const {
        const pressure_level &v = level[0];
        team.each(inside(v), [&](int k) {
            int c = cell(v, k);
            pressure_row a = row(c);
            p[c] = (c % nx + c / nx) & 1 ? fit(a, around(a, ad, c) - b[c]) : ad[c];
            v.inverse[c] = p[c] > 0 ? (float)(1 / a.diagonal) : 0.0f;
        });
    }
    // Minus the gradient in the red cells of the set.
    TH_ON_GPU double begin(int c) const {
        const pressure_level &v = level[0];
        pressure_row a = row(c);
        r[c] = v.inverse[c] > 0 ? around(a, p, c) - a.diagonal * p[c] - b[c] : 0;
        d[1][c] = 0;
        v.r[c] = (float)r[c];
        v.x[c] = v.r[c] * v.inverse[c];
        return fabs(r[c]);
    }
    // The direction in a black cell, so that A d = 0 there.
    TH_ON_GPU double black_direction(int c, double beta, const double *last) const {
        const float *y = level[0].y;
        if (!(level[0].inverse[c] > 0)) return 0;
        pressure_row a = row(c);
        return (((double)a.west * ((double)y[c - 1] + beta * last[c - 1]) +
                 (double)a.east * ((double)y[c + 1] + beta * last[c + 1])) +
                ((double)a.south * ((double)y[c - nx] + beta * last[c - nx]) +
                 (double)a.north * ((double)y[c + nx] + beta * last[c + nx]))) /
               a.diagonal;
    }
    // Conjugate gradients for the red cells of the set; first the couplings of the coarse levels. Returns the
    // iterations.
    template <class Team> TH_ON_GPU int correct(Team &team, double reduction) const {
        const pressure_level &v = level[0];
        int reds = half(v), first = used > 1 ? inside(level[1]) : 0;
        double left = team.most(reds > first ? reds : first, [&](int k) -> double {
            if (k < first) fill_first(cell(level[1], k));
            int c = k < reds ? coloured(v, k, 0) : -1;
            return c >= 0 ? begin(c) : 0;
        });
        fill_levels(team, 2, in_block + 1 < used ? in_block + 1 : used);
        if (in_block < used) team.every_block([&](auto &block) { fast_fill(block); });
        const float *above = used > 1 ? joined(0, team.memory()) : nullptr;
        double target = larger(reduction * left, 0.5 * tolerance), before = 0;
        int done = 0;
        for (; done < PRESSURE_ITERATIONS && left > target; ++done) {
            cycle(team);
            double weight = team.sum(reds, [&](int k) -> double {
                int c = coloured(v, k, 0);
                if (c < 0) return 0;
                v.y[c] = red_up(0, above, c % nx, c / nx);
                return r[c] * (double)v.y[c];
            });
            double beta = done ? weight / before : 0;
            double *now = d[done & 1];
            const double *last = d[1 - (done & 1)];
            before = weight;
            double bent = team.sum(reds, [&](int k) -> double {
                int c = coloured(v, k, 0);
                if (c < 0) return 0;
                now[c] = (double)v.y[c] + beta * last[c];
                ad[c] = 0;
                if (!(v.inverse[c] > 0)) return 0;
                pressure_row a = row(c);
                double around = ((double)a.west * black_direction(c - 1, beta, last) +
                                 (double)a.east * black_direction(c + 1, beta, last)) +
                                ((double)a.south * black_direction(c - nx, beta, last) +
                                 (double)a.north * black_direction(c + nx, beta, last));
                ad[c] = a.diagonal * now[c] - around;
                return now[c] * ad[c];
            });
            if (!(bent > 0)) break;
            double length = weight / bent;
            left = team.most(reds, [&](int k) -> double {
                int c = coloured(v, k, 0);
                if (c < 0) return 0;
                p[c] += length * now[c];
                r[c] -= length * ad[c];
                v.r[c] = (float)r[c];
                v.x[c] = v.r[c] * v.inverse[c];
                return fabs(r[c]);
            });
        }
        return done;
    }

    TH_ON_GPU void note(double residual, int rounds, int iterations) const {
        report->solves++;
        report->rounds += (uint64_t)rounds;
        report->iterations += (uint64_t)iterations;
        report->unconverged += residual > tolerance;
        report->residual = residual;
        double times = residual / tolerance;
        report->residual_bins[times <= 1 ? 0 : times <= 2 ? 1 : times <= 10 ? 2 : times <= 100 ? 3 : 4]++;
    }

    template <class Team> TH_ON_GPU void solve(Team &team) const {
        int cells = nx * ny, all = cells > coarse_count ? cells : coarse_count;
        double found = team.sum(all, [&](int k) { return prepare(k); });
        bool far = found < PRESSED, overfull = found - floor(found / PRESSED) * PRESSED > 0;
        if (!overfull) {
            team.each(inside(level[0]), [&](int k) { p[cell(level[0], k)] = 0; });
            team.tell([&] { note(0, 0, 0); });
            return;
        }
        int iterations = 0;
        for (int round = 0;; ++round) {
            if (round == (far ? 0 : PRESSURE_CASCADE_AT)) cascade(team);
            double residual = look(team);
            if (residual <= tolerance || round == PRESSURE_ROUNDS) {
                team.tell([&] { note(residual, round, iterations); });
                return;
            }
            settle(team);
            iterations += correct(team, round < PRESSURE_EXACT_FROM ? 0.1 : 1e-4);
        }
    }
};

} // namespace th
#endif
