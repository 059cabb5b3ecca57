// The complementarity problem of the pressure (move/uic_lcp.h) on a device: the same method as the CPU's default
// (move/uic_multigrid.c, uic_hierarchy.c), over the whole grid instead of a list of cells, by one kernel whose
// phases wait for each other. It stops by itself when the residual is small enough; nobody at home has to look.
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
    // Levels of no more cells than this are left to one block: its threads wait for each other in a tenth of the
    // time that all blocks need. A guess, to be measured.
    PRESSURE_BLOCK_CELLS = 2048,
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
    double *r, *d[2], *ad; // the direction of this iteration and of the last one
    double tolerance;
    pressure_level level[PRESSURE_LEVELS];
    int used, in_block; // levels; the first that one block does
    float *coarse;      // all coarse levels' arrays
    int coarse_count;
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
    // x of red cell (i, j) with what the coarser level adds to it.
    TH_ON_GPU float lifted(int l, int i, int j) const {
        const pressure_level &v = level[l], &up = level[l + 1];
        int c = j * v.nx + i;
        return v.inverse[c] > 0 ? v.x[c] + up.y[((j + 1) >> 1) * up.nx + ((i + 1) >> 1)] : v.x[c];
    }
    TH_ON_GPU float black_up(int l, int i, int j) const {
        const pressure_level &v = level[l];
        int c = j * v.nx + i;
        if (!(v.inverse[c] > 0)) return 0;
        if (l + 1 == used) return relaxed(l, v.x, c);
        float pull = (coupling_east(l, c - 1) * lifted(l, i - 1, j) + coupling_east(l, c) * lifted(l, i + 1, j)) +
                     (coupling_north(l, c - v.nx) * lifted(l, i, j - 1) + coupling_north(l, c) * lifted(l, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    TH_ON_GPU float red_up(int l, int i, int j) const {
        const pressure_level &v = level[l];
        int c = j * v.nx + i;
        if (!(v.inverse[c] > 0)) return 0;
        float pull = (coupling_east(l, c - 1) * black_up(l, i - 1, j) + coupling_east(l, c) * black_up(l, i + 1, j)) +
                     (coupling_north(l, c - v.nx) * black_up(l, i, j - 1) +
                      coupling_north(l, c) * black_up(l, i, j + 1));
        return (v.r[c] + pull) * v.inverse[c];
    }
    template <class Team> TH_ON_GPU void up(Team &team, int from, int to) const {
        for (int l = from; l >= to; --l)
            team.each(inside(level[l]), [&](int k) {
                int c = cell(level[l], k), i = c % level[l].nx, j = c / level[l].nx;
                level[l].y[c] = (i + j) & 1 ? black_up(l, i, j) : red_up(l, i, j);
            });
    }
    // Where there was no room to join the cells into one.
    template <class Team> TH_ON_GPU void last_sweeps(Team &team) const {
        const pressure_level &v = level[used - 1];
        if (inside(v) < 2) return;
        for (int sweep = 0; sweep < 4 * PRESSURE_LAST_SWEEPS; ++sweep) {
            int colour = sweep < 2 * PRESSURE_LAST_SWEEPS ? sweep & 1 : 1 - (sweep & 1);
            team.each(half(v), [&](int k) {
                int c = coloured(v, k, colour);
                if (c >= 0) v.x[c] = relaxed(used - 1, v.x, c);
            });
        }
    }
    // All but level 0's last half-sweep: that one is weighed.
    template <class Team> TH_ON_GPU void cycle(Team &team) const {
        down(team, 0, in_block);
        if (in_block < used)
            team.first_block([&](auto &block) {
                down(block, in_block, used);
                last_sweeps(block);
                up(block, used - 1, in_block);
            });
        else
            last_sweeps(team);
        up(team, in_block - 1, 1);
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
    TH_ON_GPU void fill_next(int l, int c) const {
        const pressure_level &v = level[l], &fine = level[l - 1];
        int corner = (2 * (c / v.nx) - 1) * fine.nx + 2 * (c % v.nx) - 1, above = corner + fine.nx;
        double west = (double)fine.east[corner - 1] + (double)fine.east[above - 1];
        double east = (double)fine.east[corner + 1] + (double)fine.east[above + 1];
        double south = (double)fine.north[corner - fine.nx] + (double)fine.north[corner + 1 - fine.nx];
        double north = (double)fine.north[above] + (double)fine.north[above + 1];
        double rest = ((double)fine.ground[corner] + (double)fine.ground[corner + 1]) +
                      ((double)fine.ground[above] + (double)fine.ground[above + 1]);
        finish_cell(v, c, west, east, south, north, rest);
    }
    template <class Team> TH_ON_GPU void fill_levels(Team &team, int from, int to) const {
        for (int l = from; l < to; ++l)
            team.each(inside(level[l]), [&](int k) {
                int c = cell(level[l], k);
                if (l == 1)
                    fill_first(c);
                else
                    fill_next(l, c);
            });
    }
    // From level `from` on.
    template <class Team> TH_ON_GPU void fill(Team &team, int from) const {
        fill_levels(team, from, in_block);
        if (in_block < used)
            team.first_block([&](auto &block) { fill_levels(block, in_block > from ? in_block : from, used); });
    }

    // ---- from coarse to fine, where there is no pressure to start from

    template <class Team> TH_ON_GPU void cascade(Team &team) const {
        if (used == 1) return;
        team.each(inside(level[0]), [&](int k) {
            int c = cell(level[0], k);
            level[0].inverse[c] = b[c] < NEVER ? 1.0f : 0.0f; // all of them; fill asks for no more
        });
        fill(team, 1);
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
        d[0][k] = d[1][k] = 0;
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
    // Sets black pressures and cuts the red ones; returns what is left, which only red cells can have.
    template <class Team> TH_ON_GPU double look(Team &team) const {
        return team.most(inside(level[0]), [&](int k) -> double {
            int c = cell(level[0], k);
            if ((c % nx + c / nx) & 1) {
                p[c] = black_fit(c);
                return 0;
            }
            // Whoever reads it meanwhile cuts it himself.
            double own = p[c] = larger(p[c], 0);
            if (!(b[c] < NEVER)) return 0;
            pressure_row a = row(c);
            double around = ((double)a.west * black_fit(c - 1) + (double)a.east * black_fit(c + 1)) +
                            ((double)a.south * black_fit(c - nx) + (double)a.north * black_fit(c + nx));
            double weighted = a.diagonal * own, z = weighted - around + b[c];
            return fabs(weighted < z ? weighted : z);
        });
    }
    // Which cells are jammed, by a projected half-sweep.
    template <class Team> TH_ON_GPU void settle(Team &team, int colour) const {
        const pressure_level &v = level[0];
        team.each(half(v), [&](int k) {
            int c = coloured(v, k, colour);
            if (c < 0) return;
            pressure_row a = row(c);
            p[c] = fit(a, around(a, p, c) - b[c]);
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
        fill(team, 2);
        double target = larger(reduction * left, 0.5 * tolerance), before = 0;
        int done = 0;
        for (; done < PRESSURE_ITERATIONS && left > target; ++done) {
            cycle(team);
            double weight = team.sum(reds, [&](int k) -> double {
                int c = coloured(v, k, 0);
                if (c < 0) return 0;
                v.y[c] = red_up(0, c % nx, c / nx);
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
            team.alone([&] { note(0, 0, 0); });
            return;
        }
        int iterations = 0;
        for (int round = 0;; ++round) {
            if (round == (far ? 0 : PRESSURE_CASCADE_AT)) cascade(team);
            double residual = look(team);
            if (residual <= tolerance || round == PRESSURE_ROUNDS) {
                team.alone([&] { note(residual, round, iterations); });
                return;
            }
            settle(team, 0);
            settle(team, 1);
            iterations += correct(team, round < PRESSURE_EXACT_FROM ? 0.1 : 1e-4);
        }
    }
};

} // namespace th
#endif
