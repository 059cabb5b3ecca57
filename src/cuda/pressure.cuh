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
    PRESSURE_LEVELS = 16, // 65 thousand cells along a side; the last one of more is swept
    PRESSURE_ROUNDS =
        60, // most; a warm start takes two to five. What is left goes on in the next step
    PRESSURE_ITERATIONS = 40, // most of a round
    PRESSURE_CASCADE_AT = 10, // these four as on the CPU
    PRESSURE_EXACT_FROM = 20,
    PRESSURE_LAST_SWEEPS = 8,
    PRESSURE_CASCADE_SWEEPS = 8,
    // Levels of no more cells than this, where there is room, are done by every block for itself: three cells for each
    // of its threads take no longer than waiting for all blocks twice. A step of a million people took 1.25 ms with
    // 1600, 1.27 with 640 and 1.30 with 5120.
    PRESSURE_BLOCK_CELLS = 1600,
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
    float *r;       // residual; not on level 0
    float *x, *y;   // after the first half-sweep, in red cells; at the end of the V-cycle
    int fast;       // where it begins in a block's fast memory, if it lies there
    divisor across, across_reds; // interior cells and cells of a colour in a row
};
enum { PRESSURE_ARRAYS = 7 };

struct pressure_row {
    float west, east, south, north;
    double diagonal;
};

// Black cells couple to red ones only. Eliminated, they leave a red cell coupled to the eight red ones around it.
enum {
    LEAPS = 8,     // to the red cells around
    LEAP_OWN = 8,  // to itself and back
    LEAP_REST = 9, // to p = 0
    LEAP_VALUES
};
// A red cell of level 0, the k-th of them.
struct pressure_red {
    int i, j, c, k;
};

struct pressure_solver {
    int nx, ny;
    divisor across; // nx
    const double *east, *north, *ground;
    const th_uic_centre *people; // where there are none there is no pressure
    double *b, *p;               // b of cells that carry none is set to NEVER
    double *r[2], *d[2];         // residual and direction, of this iteration and of the last one
    double *ad;                  // A d, or red pressures to be taken
    float *leap; // LEAP_VALUES of every red cell: value v of cell k is at v reds + k
    double tolerance;
    pressure_level level[PRESSURE_LEVELS];
    int used, in_block; // levels; the first that every block does for itself
    float *coarse;      // all coarse levels' arrays
    int coarse_count, fast_count;
    pressure_report *report;

    static constexpr double NEVER = 1e30, NO_FLOW = 1e-30, EPSILON = 1e-8; // [uic_lcp.c]

    // ---- cells

    TH_ON_GPU static int inside(const pressure_level &v) { return (v.nx - 2) * (v.ny - 2); }
    struct place {
        int i, j, c;
    };
    TH_ON_GPU static place cell(const pressure_level &v, int k) {
        int row = v.across.quotient(k), i = 1 + k - row * (v.nx - 2);
        return {i, 1 + row, (1 + row) * v.nx + i};
    }
    TH_ON_GPU static int half(const pressure_level &v) { return (v.nx - 1) / 2 * (v.ny - 2); }
    // Cell k of a colour (0 red, i + j even); none where i is nx - 1.
    TH_ON_GPU static place coloured(const pressure_level &v, int k, int colour) {
        int row = v.across_reds.quotient(k),
            i = 1 + 2 * (k - row * ((v.nx - 1) / 2)) + ((row + colour) & 1);
        return {i, 1 + row, (1 + row) * v.nx + i};
    }
    // All cells, a warp's of one colour, because the colours differ in what there is to do: cell k of `both`, none
    // where i is beyond nx - 2.
    TH_ON_GPU static int both(const pressure_level &v) {
        return 2 * ((half(v) + TEAM_WARP - 1) / TEAM_WARP * TEAM_WARP);
    }
    TH_ON_GPU static place of_both(const pressure_level &v, int k) {
        int one = k / (2 * TEAM_WARP) * TEAM_WARP + k % TEAM_WARP;
        place at = coloured(v, one, k / TEAM_WARP & 1);
        if (at.j > v.ny - 2) at.i = v.nx;
        return at;
    }
    TH_ON_GPU static double larger(double a, double b) { return a > b ? a : b; }

    TH_ON_GPU pressure_row row(int c) const { return row(c, c - nx); }
    TH_ON_GPU pressure_row row(int c, int below) const {
        pressure_row a = {(float)east[c - 1], (float)east[c], (float)north[below], (float)north[c],
                          0};
        a.diagonal =
            (((double)a.west + (double)a.east) + ((double)a.south + (double)a.north) + ground[c]) *
            (1 + EPSILON);
        return a;
    }
    TH_ON_GPU static double fit(const pressure_row &a, double pull) {
        return larger(pull, 0) / (a.diagonal > 0 ? a.diagonal : 1);
    }
    // What pulls at a black cell among red ones; what is negative there counts as 0. Without a branch, so that everything
    // is asked of the memory at once; a cell of the ring, which has no pressure, reads itself instead of beyond.
    struct black_cell {
        double pull, diagonal;
        TH_ON_GPU double fit() const { return larger(pull, 0) / (diagonal > 0 ? diagonal : 1); }
    };
    TH_ON_GPU black_cell black(const double *reds, int c) const {
        const int wide = nx, end = wide * ny, below = c - (c >= wide ? wide : 0),
                  above = c + (c + wide < end ? wide : 0);
        pressure_row a = row(c, below);
        double pull =
            (((double)a.west * larger(reds[c - 1], 0) + (double)a.east * larger(reds[c + 1], 0)) +
             ((double)a.south * larger(reds[below], 0) +
              (double)a.north * larger(reds[above], 0))) -
            b[c];
        return {b[c] < NEVER ? pull : 0, a.diagonal};
    }
    // What the black cells around red cell c give to it; divisions last, nothing is read between them.
    TH_ON_GPU double around_fit(const pressure_row &a, const double *reds, int c) const {
        const black_cell left = black(reds, c - 1), right = black(reds, c + 1),
                         below = black(reds, c - nx), above = black(reds, c + nx);
        return ((double)a.west * left.fit() + (double)a.east * right.fit()) +
               ((double)a.south * below.fit() + (double)a.north * above.fit());
    }

    // ---- the hierarchy

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
                int child = (2 * at.j - 1) * fine.nx + 2 * at.i - 1;
                float r = pull(fine, child) + pull(fine, child + fine.nx + 1);
                v.r[at.c] = r;
                v.x[at.c] = r * v.inverse[at.c];
            });
        }
    }
    // Where the coarser level than l has its results.
    TH_ON_GPU const float *joined(int l, const float *memory) const {
        return l + 1 == in_block && in_block < used ? fast(memory, in_block).y : level[l + 1].y;
    }
    // Where the coarser level than v has its value for cell (i, j).
    TH_ON_GPU static int parent(const pressure_level &v, int i, int j) {
        return ((j + 1) >> 1) * (((v.nx - 1) >> 1) + 2) + ((i + 1) >> 1);
    }
    // x of red cell (i, j) with what the coarser level adds to it, whose results are `joined`.
    TH_ON_GPU static float lifted(const pressure_level &v, const float *joined, int i, int j) {
        int c = j * v.nx + i;
        float x = v.x[c], more = joined[parent(v, i, j)];
        return v.inverse[c] > 0 ? x + more : x;
    }
    TH_ON_GPU static float around_lifted(const pressure_level &v, const float *joined, int i,
                                         int j) {
        int c = j * v.nx + i;
        return (v.east[c - 1] * lifted(v, joined, i - 1, j) +
                v.east[c] * lifted(v, joined, i + 1, j)) +
               (v.north[c - v.nx] * lifted(v, joined, i, j - 1) +
                v.north[c] * lifted(v, joined, i, j + 1));
    }
    // The coarsest level has nothing to lift it by.
    template <bool LIFTED>
    TH_ON_GPU static float black_up(const pressure_level &v, const float *joined, int i, int j) {
        int c = j * v.nx + i;
        return LIFTED ? (v.r[c] + around_lifted(v, joined, i, j)) * v.inverse[c]
                      : relaxed(v, v.x, c);
    }
    template <bool LIFTED>
    TH_ON_GPU static float red_up(const pressure_level &v, const float *joined, int i, int j) {
        int c = j * v.nx + i;
        float pull = (v.east[c - 1] * black_up<LIFTED>(v, joined, i - 1, j) +
                      v.east[c] * black_up<LIFTED>(v, joined, i + 1, j)) +
                     (v.north[c - v.nx] * black_up<LIFTED>(v, joined, i, j - 1) +
                      v.north[c] * black_up<LIFTED>(v, joined, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    template <bool LIFTED, class Team>
    TH_ON_GPU void up(Team &team, const pressure_level &v, const float *joined) const {
        team.each(both(v), [&](int k) {
            place at = of_both(v, k);
            if (at.i > v.nx - 2) return;
            v.y[at.c] = (at.i + at.j) & 1 ? black_up<LIFTED>(v, joined, at.i, at.j)
                                          : red_up<LIFTED>(v, joined, at.i, at.j);
        });
    }
    template <class Team> TH_ON_GPU void up(Team &team, int from, int to) const {
        for (int l = from; l >= to; --l)
            if (l + 1 < used)
                up<true>(team, level[l], joined(l, team.memory()));
            else
                up<false>(team, level[l], nullptr);
    }
    // Where there was no room to join the cells into one.
    template <class Team> TH_ON_GPU void last_sweeps(Team &team) const {
        const pressure_level &v = level[used - 1];
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * PRESSURE_LAST_SWEEPS; ++sweep)
            team.each(half(v), [&](int k) {
                place at = coloured(v, k, sweep_colour(sweep));
                if (at.i < v.nx - 1) v.x[at.c] = relaxed(v, v.x, at.c);
            });
    }
    TH_ON_GPU static int sweep_colour(int sweep) {
        return sweep < 2 * PRESSURE_LAST_SWEEPS ? sweep & 1 : 1 - (sweep & 1);
    }
    // From level 1 on.
    template <class Team> TH_ON_GPU void cycle(Team &team) const {
        if (used == 1) return;
        down(team, 1, in_block);
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
        return {v.nx,       v.ny,       at,         at + n, at + 2 * n, at + 3 * n,
                at + 4 * n, at + 5 * n, at + 6 * n, v.fast, v.across,   v.across_reds};
    }
    // phase(i, j) for the cells of a colour.
    template <class Block, class Phase>
    TH_ON_GPU static void coloured_cells(Block &block, const pressure_level &v, int colour,
                                         Phase phase) {
        block.each(half(v), [&](int k) {
            place at = coloured(v, k, colour);
            if (at.i < v.nx - 1) phase(at);
        });
    }
    template <class Block>
    TH_ON_GPU void fast_down(Block &block, const float *memory, int l) const {
        pressure_level fine = fast(memory, l), v = fast(memory, l + 1);
        coloured_cells(block, fine, 1,
                       [&](place at) { fine.y[at.c] = relaxed(fine, fine.x, at.c); });
        block.each(inside(v), [&](int k) {
            place at = cell(v, k);
            int child = (2 * at.j - 1) * fine.nx + 2 * at.i - 1;
            // Of a cell at the ring only one is red: nothing is read beyond, where the fast memory may end.
            bool whole = (2 * at.i < fine.nx - 1) & (2 * at.j < fine.ny - 1);
            int other = whole ? child + fine.nx + 1 : child;
            float one = around_level(fine, fine.y, child), two = around_level(fine, fine.y, other);
            float r = (fine.inverse[child] > 0 ? one : 0.0f) +
                      ((whole & (fine.inverse[other] > 0)) ? two : 0.0f);
            v.r[at.c] = r;
            v.x[at.c] = r * v.inverse[at.c];
        });
    }
    template <class Block> TH_ON_GPU void fast_up(Block &block, const float *memory, int l) const {
        pressure_level v = fast(memory, l);
        coloured_cells(block, v, 1, [&](place at) {
            v.y[at.c] = l + 1 < used ? black_up<true>(v, fast(memory, l + 1).y, at.i, at.j)
                                     : black_up<false>(v, nullptr, at.i, at.j);
        });
        coloured_cells(block, v, 0, [&](place at) { v.y[at.c] = relaxed(v, v.y, at.c); });
    }
    template <class Block>
    TH_ON_GPU void fast_last_sweeps(Block &block, const pressure_level &v) const {
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * PRESSURE_LAST_SWEEPS; ++sweep)
            coloured_cells(block, v, sweep_colour(sweep),
                           [&](place at) { v.x[at.c] = relaxed(v, v.x, at.c); });
    }
    // The V-cycle from level in_block on, whose residuals the blocks have just written together.
    template <class Block> TH_ON_GPU void fast_cycle(Block &block) const {
        const float *memory = block.memory(), *r = level[in_block].r;
        pressure_level v = fast(memory, in_block);
        block.read(r, v.nx * v.ny, [&](int c, float value) {
            v.r[c] = value;
            v.x[c] = value * v.inverse[c];
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
            block.each(inside(coarser), [&](int k) { fill_next(coarser, fine, cell(coarser, k)); });
        }
    }

    // ---- couplings of the coarse levels

    // Half the sum of the fine couplings across a side, 0.85 of those with p = 0: measured, uic_hierarchy.c.
    TH_ON_GPU static void finish_cell(const pressure_level &v, int c, double west, double east,
                                      double south, double north, double ground) {
        ground *= 0.85;
        double diagonal = ground + 0.5 * west + 0.5 * east + 0.5 * south + 0.5 * north;
        v.east[c] = (float)(0.5 * east);
        v.north[c] = (float)(0.5 * north);
        v.ground[c] = (float)ground;
        v.inverse[c] = (float)(diagonal > 0 ? 1 / diagonal : 0);
    }
    TH_ON_GPU void fill_first(place at) const {
        const pressure_level &v = level[1];
        const float *face = level[0].inverse;
        int corner = (2 * at.j - 1) * nx + 2 * at.i - 1;
        double side[4] = {0, 0, 0, 0}, rest = 0;
        for (int q = 0; q < 4; ++q) {
            int child = corner + (q & 1) + (q >> 1) * nx;
            if (!(face[child] > 0)) continue;
            pressure_row a = row(child);
            double west = face[child - 1] > 0 ? (double)a.west : 0,
                   east = face[child + 1] > 0 ? (double)a.east : 0;
            double south = face[child - nx] > 0 ? (double)a.south : 0,
                   north = face[child + nx] > 0 ? (double)a.north : 0;
            rest += larger(a.diagonal - west - east - south - north, 0);
            side[q & 1] += q & 1 ? east : west;
            side[2 + (q >> 1)] += q >> 1 ? north : south;
        }
        finish_cell(v, at.c, side[0], side[1], side[2], side[3], rest);
    }
    TH_ON_GPU static void fill_next(const pressure_level &v, const pressure_level &fine, place at) {
        int corner = (2 * at.j - 1) * fine.nx + 2 * at.i - 1, above = corner + fine.nx;
        double west = (double)fine.east[corner - 1] + (double)fine.east[above - 1];
        double east = (double)fine.east[corner + 1] + (double)fine.east[above + 1];
        double south =
            (double)fine.north[corner - fine.nx] + (double)fine.north[corner + 1 - fine.nx];
        double north = (double)fine.north[above] + (double)fine.north[above + 1];
        double rest = ((double)fine.ground[corner] + (double)fine.ground[corner + 1]) +
                      ((double)fine.ground[above] + (double)fine.ground[above + 1]);
        finish_cell(v, at.c, west, east, south, north, rest);
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

    // ---- from coarse to fine, where there is no pressure to start from

    template <class Team> TH_ON_GPU void cascade(Team &team) const {
        if (used == 1) return;
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k).c;
            level[0].inverse[c] = b[c] < NEVER ? 1.0f : 0.0f; // all of them; fill asks for no more
        });
        fill_levels(team, 1, used);
        for (int l = 1; l < used; ++l)
            team.each(inside(level[l]), [&](int k) {
                const pressure_level &v = level[l], &fine = level[l - 1];
                place at = cell(v, k);
                int corner = (2 * at.j - 1) * fine.nx + 2 * at.i - 1;
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
        for (int l = used - 1; l >= 1; --l) {
            const pressure_level &v = level[l];
            team.each(inside(v), [&](int k) {
                place at = cell(v, k);
                v.x[at.c] = l + 1 == used ? 0.0f : level[l + 1].x[parent(v, at.i, at.j)];
            });
            for (int sweep = 0; sweep < 2 * PRESSURE_CASCADE_SWEEPS; ++sweep)
                team.each(half(v), [&](int k) {
                    place at = coloured(v, k, sweep & 1);
                    if (at.i > v.nx - 2) return;
                    float x = (around_level(v, v.x, at.c) - v.r[at.c]) * v.inverse[at.c];
                    v.x[at.c] = x > 0 ? x : 0;
                });
        }
        team.each(inside(level[0]), [&](int k) {
            place at = cell(level[0], k);
            level[0].inverse[at.c] = 0;
            if (b[at.c] < NEVER)
                p[at.c] = larger(p[at.c], (double)level[1].x[parent(level[0], at.i, at.j)]);
        });
    }

    // ---- the rounds

    // Clears what is left of the last solve; says who carries pressure. Returns 1 for a cell that would be
    // overfull and PRESSED for one that has pressure to start from.
    static constexpr double PRESSED = 67108864.0; // 2^26, more than there are cells
    TH_ON_GPU double prepare(int k) const {
        if (k < coarse_count) coarse[k] = 0;
        if (k >= nx * ny) return 0;
        level[0].inverse[k] = level[0].x[k] = level[0].y[k] = 0;
        r[0][k] = r[1][k] = d[0][k] = d[1][k] = ad[k] = 0;
        int j = across.quotient(k), i = k - j * nx;
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
    // Sets black pressures and cuts the red ones; returns what is left, which only red cells can have. What a
    // projected half-sweep would make of the red ones is kept, in case that is too much.
    template <class Team> TH_ON_GPU double look(Team &team) const {
        return team.most(both(level[0]), [&](int k) -> double {
            place at = of_both(level[0], k);
            int c = at.c;
            if (at.i > nx - 2) return 0;
            if ((at.i + at.j) & 1) {
                p[c] = black(p, c).fit();
                return 0;
            }
            pressure_row a = row(c);
            double own = larger(p[c], 0), slack = b[c], around = around_fit(a, p, c),
                   weighted = a.diagonal * own, z = weighted - around + slack;
            p[c] = own; // whoever reads it meanwhile cuts it himself
            ad[c] = fit(a, slack < NEVER ? around - slack : 0);
            return slack < NEVER ? fabs(weighted < z ? weighted : z) : 0;
        });
    }
    // Which cells are jammed, by a projected sweep: red cells as they were found by `look`, then black ones. Minus the
    // gradient in the red ones of the set. Returns how many are in it that were not before, or the other way round.
    template <class Team> TH_ON_GPU double settle(Team &team) const {
        const pressure_level &v = level[0];
        return team.sum(both(v), [&](int k) -> double {
            place at = of_both(v, k);
            int c = at.c;
            if (at.i > nx - 2) return 0;
            bool before = v.inverse[c] > 0;
            pressure_row a = row(c);
            double own;
            if ((at.i + at.j) & 1) {
                own = black(ad, c).fit();
            } else {
                own = ad[c];
                double pull = around_fit(a, ad, c) - a.diagonal * own - b[c];
                r[0][c] = own > 0 ? pull : 0;
            }
            p[c] = own;
            v.inverse[c] = own > 0 ? (float)(1 / a.diagonal) : 0.0f;
            return (own > 0) != before;
        });
    }

    // ---- the red cells of level 0

    TH_ON_GPU pressure_red red(int k) const {
        place at = coloured(level[0], k, 0);
        return {at.i, at.j, at.c, k};
    }
    TH_ON_GPU int leap_i(int side) const {
        return side < 2 ? 4 * side - 2 : side < 4 ? 0 : 2 * (side & 1) - 1;
    }
    TH_ON_GPU int leap_j(int side) const {
        return side < 2 ? 0 : side < 4 ? 4 * side - 10 : side < 6 ? -1 : 1;
    }
    // Beyond the ring a cell of the ring stands for it; its leap is 0, and so is all that it has.
    TH_ON_GPU int leap_to(const pressure_red &a, int side) const {
        const int wide = nx, high = ny;
        if (side == 2) return a.c - (a.j > 1 ? 2 * wide : wide);
        if (side == 3) return a.c + (a.j < high - 2 ? 2 * wide : wide);
        return a.c + leap_j(side) * wide + leap_i(side);
    }
    TH_ON_GPU static int leap_of(int i, int j) { // to (i, j) from a cell
        return j == 0 ? (i < 0 ? 0 : 1) : i == 0 ? (j < 0 ? 2 : 3) : 4 + (i > 0) + 2 * (j > 0);
    }
    // Leaps of red cell k: across each black cell of the set, to those of the set.
    TH_ON_GPU void fill_leaps(int k) const {
        const float *face = level[0].inverse;
        const int reds = half(level[0]);
        pressure_red at = red(k);
        double value[LEAP_VALUES] = {};
        if (at.i < nx - 1 && face[at.c] > 0) {
            pressure_row own = row(at.c);
            const float to[4] = {own.west, own.east, own.south, own.north};
            value[LEAP_REST] =
                own.diagonal - (((double)to[0] + (double)to[1]) + ((double)to[2] + (double)to[3]));
            TH_UNROLLED
            for (int side = 0; side < 4; ++side) {
                const int i = side < 2 ? 2 * side - 1 : 0, j = side < 2 ? 0 : 2 * side - 5,
                          black = at.c + j * nx + i;
                if (!(face[black] > 0)) {
                    value[LEAP_REST] += (double)to[side];
                    continue;
                }
                pressure_row a = row(black);
                const float on[4] = {a.west, a.east, a.south, a.north};
                double share = (double)to[side] / a.diagonal, rest = a.diagonal;
                TH_UNROLLED
                for (int next = 0; next < 4; ++next) {
                    const int di = i + (next < 2 ? 2 * next - 1 : 0),
                              dj = j + (next < 2 ? 0 : 2 * next - 5);
                    if (!(face[at.c + dj * nx + di] > 0)) continue;
                    rest -= (double)on[next];
                    value[di == 0 && dj == 0 ? (int)LEAP_OWN : leap_of(di, dj)] +=
                        share * (double)on[next];
                }
                value[LEAP_REST] += share * larger(rest, 0);
            }
        }
        TH_UNROLLED
        for (int v = 0; v < LEAP_VALUES; ++v) leap[v * reds + k] = (float)value[v];
    }
    // What a red cell gets across the black ones where the red ones have value(i, j, cell).
    template <class Value> TH_ON_GPU float across_black(const pressure_red &a, Value value) const {
        const int reds = half(level[0]);
        float sum = leap[LEAP_OWN * reds + a.k] * value(a.i, a.j, a.c);
        TH_UNROLLED
        for (int side = 0; side < LEAPS; ++side)
            sum += leap[side * reds + a.k] *
                   value(a.i + leap_i(side), a.j + leap_j(side), leap_to(a, side));
        return sum;
    }
    // A d in a red cell, d.value(cell). By differences: rounded leaps then change a flow by as little of itself.
    template <class Value> TH_ON_GPU double bent_by(const pressure_red &a, Value value) const {
        const int reds = half(level[0]);
        double own = value(a.c), sum = (double)leap[LEAP_REST * reds + a.k] * own;
        TH_UNROLLED
        for (int side = 0; side < LEAPS; ++side)
            sum += (double)leap[side * reds + a.k] * (own - value(leap_to(a, side)));
        return sum;
    }
    // Goes along the direction by `length`, from residual `turn` to the other, and down to level 1, for whose cells
    // this is: each has two red ones. What that needs of others' new residuals it computes itself. Returns the
    // largest residual.
    template <class Team>
    TH_ON_GPU double advance(Team &team, int turn, double length, const double *along) const {
        const pressure_level &v = level[0];
        const double *before = r[turn];
        double *after = r[1 - turn];
        const int wide = (nx - 1) / 2, pairs = wide * ((ny - 1) / 2);
        return team.most(pairs, [&](int k) -> double {
            int row = v.across_reds.quotient(k), column = k - row * wide,
                first = 2 * row * wide + column;
            pressure_red one = {2 * column + 1, 2 * row + 1, (2 * row + 1) * nx + 2 * column + 1,
                                first};
            pressure_red two = {one.i + 1, one.j + 1, one.c + nx + 1, first + wide};
            bool both = (two.i < nx - 1) & (two.j < ny - 1);
            if (!both) two = one;
            auto x = [&](int, int, int c) {
                return (float)(before[c] - length * ad[c]) * v.inverse[c];
            };
            float pull = across_black(one, x), other = across_black(two, x),
                  sum = both ? pull + other : pull;
            double p_one = p[one.c] + length * along[one.c],
                   p_two = p[two.c] + length * along[two.c];
            double left_one = before[one.c] - length * ad[one.c],
                   left_two = before[two.c] - length * ad[two.c];
            int above = (row + 1) * (wide + 2) + column + 1; // level 1 is so wide
            float first_sweep = used > 1 ? sum * level[1].inverse[above] : 0;
            float x_one = (float)left_one * v.inverse[one.c],
                  x_two = (float)left_two * v.inverse[two.c];
            // All is read.
            p[one.c] = p_one, p[two.c] = p_two;
            after[one.c] = left_one, after[two.c] = left_two;
            v.x[one.c] = x_one, v.x[two.c] = x_two;
            if (used > 1) level[1].r[above] = sum, level[1].x[above] = first_sweep;
            return larger(fabs(left_one), fabs(left_two));
        });
    }
    // The last half-sweep of the V-cycle, and its weight.
    template <class Team> TH_ON_GPU double weigh(Team &team, const double *residual) const {
        const pressure_level &v = level[0];
        // Without a coarser level there is one cell, which has nobody to leap to: whatever is read does not count.
        const float *above = used > 1 ? joined(0, team.memory()) : v.y;
        return team.sum(half(v), [&](int k) -> double {
            pressure_red at = red(k);
            if (at.i > nx - 2) return 0;
            float pull = across_black(
                at, [&](int i, int j, int c) { return v.x[c] + above[parent(v, i, j)]; });
            float y = ((float)residual[at.c] + pull) * v.inverse[at.c];
            v.y[at.c] = y;
            return residual[at.c] * (double)y;
        });
    }
    // The direction, and what A makes of it.
    template <class Team>
    TH_ON_GPU double bend(Team &team, double beta, double *now, const double *last) const {
        const pressure_level &v = level[0];
        return team.sum(half(v), [&](int k) -> double {
            pressure_red at = red(k);
            if (at.i > nx - 2) return 0;
            auto direction = [&](int c) { return (double)v.y[c] + beta * last[c]; };
            double own = direction(at.c), bent = bent_by(at, direction);
            now[at.c] = own;
            ad[at.c] = bent;
            return own * bent;
        });
    }
    // Couplings of all levels for this set of jammed cells.
    template <class Team> TH_ON_GPU void fill(Team &team) const {
        int reds = half(level[0]), first = used > 1 ? inside(level[1]) : 0;
        team.each(reds + first, [&](int k) {
            if (k < reds)
                fill_leaps(k);
            else
                fill_first(cell(level[1], k - reds));
        });
        fill_levels(team, 2, in_block + 1 < used ? in_block + 1 : used);
        if (in_block < used) team.every_block([&](auto &block) { fast_fill(block); });
    }
    // Conjugate gradients for the red cells of the set. Returns the iterations.
    template <class Team> TH_ON_GPU int correct(Team &team, double reduction) const {
        double target = 0, before = 0, length = 0;
        for (int done = 0;; ++done) {
            double *now = d[done & 1];
            const double *last = d[1 - (done & 1)];
            double left = advance(team, done & 1, length, last);
            if (done == 0) target = larger(reduction * left, 0.5 * tolerance);
            if (done == PRESSURE_ITERATIONS || !(left > target)) return done;
            cycle(team);
            double weight = weigh(team, r[1 - (done & 1)]);
            double bent = bend(team, done ? weight / before : 0, now, last);
            if (!(bent > 0)) return done;
            before = weight;
            length = weight / bent;
        }
    }

    TH_ON_GPU void note(double residual, int rounds, int iterations) const {
        report->solves++;
        report->rounds += (uint64_t)rounds;
        report->iterations += (uint64_t)iterations;
        report->unconverged += residual > tolerance;
        report->residual = residual;
        double times = residual / tolerance;
        report->residual_bins[times <= 1     ? 0
                              : times <= 2   ? 1
                              : times <= 10  ? 2
                              : times <= 100 ? 3
                                             : 4]++;
    }

    template <class Team> TH_ON_GPU void solve(Team &team) const {
        int cells = nx * ny, all = cells > coarse_count ? cells : coarse_count;
        double found = team.sum(all, [&](int k) { return prepare(k); });
        bool far = found<PRESSED, overfull = found - floor(found / PRESSED) * PRESSED> 0;
        if (!overfull) {
            team.each(inside(level[0]), [&](int k) { p[cell(level[0], k).c] = 0; });
            team.tell([&] { note(0, 0, 0); });
            return;
        }
        int iterations = 0;
        for (int round = 0;; ++round) {
            bool anew = round == (far ? 0 : PRESSURE_CASCADE_AT);
            if (anew) cascade(team);
            double residual = look(team);
            if (residual <= tolerance || round == PRESSURE_ROUNDS) {
                team.tell([&] { note(residual, round, iterations); });
                return;
            }
            if (settle(team) > 0 || anew) fill(team);
            iterations += correct(team, round < PRESSURE_EXACT_FROM ? 0.1 : 1e-4);
        }
    }
};

} // namespace th
#endif
