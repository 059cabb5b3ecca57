// The flow of the model uic on a device (project.h): both solves of eq. 19 and all between them in one kernel. The
// pressure is solved to the CPU's tolerance, with other roundings. SPDX-License-Identifier: Apache-2.0
#include "device/upload.cuh"
#include "move/uic/device.cuh"
#include "move/uic/pressure_levels.cuh"
#include "move/uic/project.h"

// ---- the solver
// The pressure on a device: the same method as the CPU's (multigrid.c), by one kernel whose phases wait for
// each other. It stops by itself when the residual is small enough; the host does not have to look. The waiting bounds
// it: a phase over all blocks takes microseconds, whatever there is to do in it. So the coarse levels are done by every
// block for itself, in its shared memory, and no block has to wait for another's result.

namespace th {

enum {
    // Limits; a warm start takes two to five rounds. The next step continues an unfinished solution. The CPU has larger
    // limits, because single steps may take longer there.
    PRESSURE_ROUNDS = 60,
    PRESSURE_ITERATIONS = 40 // of a round
};

struct pressure_solver : pressure_levels {
    // A red cell of level 0, the k-th of them.
    struct red_cell {
        int i, j, c, k;
    };

    // ---- the red cells of level 0

    TH_ON_GPU red_cell red(int k) const {
        place at = coloured(level[0], k, 0);
        return {at.i, at.j, at.c, k};
    }
    TH_ON_GPU int red_i(int side) const {
        return side < 2 ? 4 * side - 2 : side < 4 ? 0 : 2 * (side & 1) - 1;
    }
    TH_ON_GPU int red_j(int side) const {
        return side < 2 ? 0 : side < 4 ? 4 * side - 10 : side < 6 ? -1 : 1;
    }
    // Beyond the ring a cell of the ring stands for it; its coupling is 0, and so is all that it has.
    TH_ON_GPU int red_cell_at(const red_cell &a, int side) const {
        const int wide = nx, high = ny;
        if (side == 2) return a.c - (a.j > 1 ? 2 * wide : wide);
        if (side == 3) return a.c + (a.j < high - 2 ? 2 * wide : wide);
        return a.c + red_j(side) * wide + red_i(side);
    }
    TH_ON_GPU static int side_to(int i, int j) { // to (i, j) from a cell
        return j == 0 ? (i < 0 ? 0 : 1) : i == 0 ? (j < 0 ? 2 : 3) : 4 + (i > 0) + 2 * (j > 0);
    }
    // Couplings of red cell k across each black cell of the set to the red ones of the set.
    TH_ON_GPU void fill_schur(int k) const {
        const float *face = level[0].inverse;
        const int reds = half(level[0]);
        red_cell at = red(k);
        double value[SCHUR_VALUES] = {};
        if (at.i < nx - 1 && face[at.c] > 0) {
            pressure_row own = row(at.c);
            const float to[4] = {own.west, own.east, own.south, own.north};
            value[SCHUR_REST] =
                own.diagonal - (((double)to[0] + (double)to[1]) + ((double)to[2] + (double)to[3]));
            TH_UNROLLED
            for (int side = 0; side < 4; ++side) {
                const int i = side < 2 ? 2 * side - 1 : 0, j = side < 2 ? 0 : 2 * side - 5,
                          black = at.c + j * nx + i;
                if (!(face[black] > 0)) {
                    value[SCHUR_REST] += (double)to[side];
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
                    value[di == 0 && dj == 0 ? (int)SCHUR_OWN : side_to(di, dj)] +=
                        share * (double)on[next];
                }
                value[SCHUR_REST] += share * th_lcp_larger(rest, 0);
            }
        }
        TH_UNROLLED
        for (int v = 0; v < SCHUR_VALUES; ++v) schur[v * reds + k] = (float)value[v];
    }
    // The sum that a red cell gets across the black ones where the red ones have value(i, j, cell).
    template <class Value> TH_ON_GPU float across_black(const red_cell &a, Value value) const {
        const int reds = half(level[0]);
        float sum = schur[SCHUR_OWN * reds + a.k] * value(a.i, a.j, a.c);
        TH_UNROLLED
        for (int side = 0; side < SCHUR_SIDES; ++side)
            sum += schur[side * reds + a.k] *
                   value(a.i + red_i(side), a.j + red_j(side), red_cell_at(a, side));
        return sum;
    }
    // A d in a red cell, d.value(cell). By differences: rounded couplings then change a flow by as little of itself.
    template <class Value> TH_ON_GPU double apply_schur(const red_cell &a, Value value) const {
        const int reds = half(level[0]);
        double own = value(a.c), sum = (double)schur[SCHUR_REST * reds + a.k] * own;
        TH_UNROLLED
        for (int side = 0; side < SCHUR_SIDES; ++side)
            sum += (double)schur[side * reds + a.k] * (own - value(red_cell_at(a, side)));
        return sum;
    }
    // ---- conjugate gradients for the red cells of the set

    // Goes along the direction by `length`, from residual `turn` to the other, and down to level 1, for whose cells
    // this is: each has two red ones. New residuals of other cells that it needs it computes itself. Returns the
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
            red_cell one = {2 * column + 1, 2 * row + 1, (2 * row + 1) * nx + 2 * column + 1,
                            first};
            red_cell two = {one.i + 1, one.j + 1, one.c + nx + 1, first + wide};
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
            return th_lcp_larger(fabs(left_one), fabs(left_two));
        });
    }
    // The last half-sweep of the V-cycle. Returns the product of the residual and what comes out.
    template <class Team> TH_ON_GPU double precondition(Team &team, const double *residual) const {
        const pressure_level &v = level[0];
        // Without a coarser level there is one cell, which is coupled with nothing: whatever is read does not count.
        const float *above = used > 1 ? coarser_result(0, team.memory()) : v.y;
        return team.sum(half(v), [&](int k) -> double {
            red_cell at = red(k);
            if (at.i > nx - 2) return 0;
            float pull = across_black(
                at, [&](int i, int j, int c) { return v.x[c] + above[parent(v, i, j)]; });
            float y = ((float)residual[at.c] + pull) * v.inverse[at.c];
            v.y[at.c] = y;
            return residual[at.c] * (double)y;
        });
    }
    // The direction, and A times it. Returns their product.
    template <class Team>
    TH_ON_GPU double apply(Team &team, double beta, double *now, const double *last) const {
        const pressure_level &v = level[0];
        return team.sum(half(v), [&](int k) -> double {
            red_cell at = red(k);
            if (at.i > nx - 2) return 0;
            auto direction = [&](int c) { return (double)v.y[c] + beta * last[c]; };
            double own = direction(at.c), applied = apply_schur(at, direction);
            now[at.c] = own;
            ad[at.c] = applied;
            return own * applied;
        });
    }
    // Conjugate gradients for the red cells of the set. Returns the iterations.
    template <class Team> TH_ON_GPU int correct(Team &team, double reduction) const {
        double target = 0, before = 0, length = 0;
        for (int done = 0;; ++done) {
            double *now = d[done & 1];
            const double *last = d[1 - (done & 1)];
            double left = advance(team, done & 1, length, last);
            if (done == 0) target = th_lcp_target(reduction, left, tolerance);
            if (done == PRESSURE_ITERATIONS || !(left > target)) return done;
            cycle(team);
            double weight = precondition(team, r[1 - (done & 1)]);
            double curvature = apply(team, done ? weight / before : 0, now, last);
            if (!(curvature > 0)) return done;
            before = weight;
            length = weight / curvature;
        }
    }

    // ---- the rounds

    // Clears what is left of the last solve; says which cells carry pressure. Returns 1 for a cell that would be
    // overfull and PRESSED for one that has pressure to start from.
    static constexpr double PRESSED = 67108864.0; // 2^26, more than there are cells
    TH_ON_GPU double prepare(int k) const {
        if (k < coarse_count) coarse[k] = 0;
        if (k >= nx * ny) return 0;
        level[0].inverse[k] = level[0].x[k] = level[0].y[k] = 0;
        r[0][k] = r[1][k] = d[0][k] = d[1][k] = ad[k] = 0;
        int j = across.quotient(k), i = k - j * nx;
        bool ring = i < 1 || j < 1 || i > nx - 2 || j > ny - 2;
        if (ring || !(people[k].share > 0.0f) || !(row(k).diagonal > TH_LCP_NO_FLOW)) {
            b[k] = NEVER;
            p[k] = 0;
            return 0;
        }
        b[k] = th_lcp_number(b[k]);
        p[k] = th_lcp_start(p[k]);
        return (b[k] < 0 ? 1 : 0) + (p[k] > 0 ? PRESSED : 0);
    }
    // Sets black pressures and clamps the red ones; returns the residual, which only red cells can have. Keeps the
    // result of a projected half-sweep over the red cells, in case the residual is too large.
    template <class Team> TH_ON_GPU double residual_of(Team &team) const {
        return team.most(both(level[0]), [&](int k) -> double {
            place at = of_both(level[0], k);
            int c = at.c;
            if (at.i > nx - 2) return 0;
            if ((at.i + at.j) & 1) {
                p[c] = black(p, c).value();
                return 0;
            }
            pressure_row a = row(c);
            double own = th_lcp_larger(p[c], 0), slack = b[c], around = around_fit(a, p, c),
                   weighted = a.diagonal * own, z = weighted - around + slack;
            p[c] = own; // a thread that reads it meanwhile clips it itself
            ad[c] = fit(slack < NEVER ? around - slack : 0, a.diagonal);
            return slack < NEVER ? th_lcp_gap(weighted, z) : 0;
        });
    }
    // Finds the jammed cells by a projected sweep: red cells as `residual_of` found them, then black ones. Writes minus the
    // gradient into the red cells of the set. Returns how many cells entered or left it.
    template <class Team> TH_ON_GPU double choose_set(Team &team) const {
        const pressure_level &v = level[0];
        return team.sum(both(v), [&](int k) -> double {
            place at = of_both(v, k);
            int c = at.c;
            if (at.i > nx - 2) return 0;
            bool before = v.inverse[c] > 0;
            pressure_row a = row(c);
            double own;
            if ((at.i + at.j) & 1) {
                own = black(ad, c).value();
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

    // Couplings of all levels for this set of jammed cells.
    template <class Team> TH_ON_GPU void fill(Team &team) const {
        int reds = half(level[0]), first = used > 1 ? inside(level[1]) : 0;
        team.each(reds + first, [&](int k) {
            if (k < reds)
                fill_schur(k);
            else
                fill_first(cell(level[1], k - reds));
        });
        fill_levels(team, 2, in_block + 1 < used ? in_block + 1 : used);
        if (in_block < used) team.every_block([&](auto &block) { block_fill(block); });
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
            bool anew = th_lcp_cascades(round, far);
            if (anew) cascade(team);
            double residual = residual_of(team);
            if (residual <= tolerance || round == PRESSURE_ROUNDS) {
                team.tell([&] { note(residual, round, iterations); });
                return;
            }
            if (choose_set(team) > 0 || anew) fill(team);
            iterations += correct(team, th_lcp_reduction(round));
        }
    }
};

// ---- the flow

// v = psolve(renorm(psolve(v~))) on one level, all of it in one kernel.
struct project_level {
    th_world *world;
    int l, first, nx, ny;
    double inverse_h;
    bool links;
    th_uic uic; // pointers of the device
    pressure_solver solver[2];

    template <class Team>
    TH_ON_GPU void project_once(Team &team, bool clamp_slack, const pressure_solver &s) const {
        const th_uic_level *level = &uic.levels[l];
        const double *pressure = s.p - first; // by cell of all levels
        team.each(nx * (ny - 1), [&](int k) {
            int j = s.across.quotient(k), i = k - j * nx, c = first + k;
            if (k < nx)
                uic.east[c] = uic.north[c] = 0;
            else if (i == 0)
                th_uic_assemble_ends(world, level, j);
            else if (i < nx - 1)
                th_uic_assemble_cell(world, &level->grid, c, clamp_slack);
        });
        if (links) team.alone([&] { th_uic_add_links(world, l, pressure); });
        s.solve(team);
        team.each(nx * (ny - 1), [&](int k) {
            if (k > s.across.quotient(k) * nx)
                th_uic_subtract_cell(&uic, nx, inverse_h, first + nx + k, pressure);
        });
        if (links) team.alone([&] { th_uic_correct_links(world, l, pressure); });
    }
    TH_ON_GPU bool at_an_end(int k) const { // of a row
        int i = k - solver[0].across.quotient(k) * nx;
        return i == 0 || i == nx - 1;
    }
    template <class Team> TH_ON_GPU void renorm(Team &team) const {
        team.each(nx * (ny - 2), [&](int k) {
            if (!at_an_end(k)) th_uic_renorm_cell(&uic, nx, first + nx + k);
        });
        team.each(nx * (ny - 2), [&](int k) {
            int c = first + nx + k;
            if (at_an_end(k)) return;
            uic.u[c] = uic.renormed_u[c];
            uic.v[c] = uic.renormed_v[c];
        });
    }
    template <class Team> TH_ON_GPU void operator()(Team &team) const {
        for (int solve = 0; solve < 2; ++solve) {
            if (solve > 0) renorm(team);
            project_once(team, solve == 0, solver[solve]);
        }
    }
};

static_assert(sizeof(project_level) <= 4000, "what a kernel can be given on every device");

static pressure_solver solver_of(const th_world *host, const th_uic_level *level,
                                 double *pressure) {
    const uic_device *device = uic_device_of(host);
    const th_uic *known = &device->known;
    int first = level->first;
    pressure_solver s;
    memset(&s, 0, sizeof s);
    s.nx = level->grid.nx, s.ny = level->grid.ny;
    s.east = known->east + first, s.north = known->north + first, s.ground = known->ground + first;
    s.people = known->centre + first;
    s.b = known->b + first;
    s.p = pressure + first;
    s.r[0] = device->r[0], s.r[1] = device->r[1], s.d[0] = device->d[0], s.d[1] = device->d[1],
    s.ad = device->ad;
    s.tolerance = (double)th_uic_of(host)->tolerance;
    s.report = device->report;
    build_levels(&s, device->fine, device->coarse, device->coarse_capacity);
    return s;
}

void uic_project(th_world *host) {
    uic_device *device = uic_device_of(host);
    th_world *world = host->device_world->world;
    for (int l = 0; l < th_uic_of(host)->level_count && th_uic_of(host)->any_pressure; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        int nx = level->grid.nx, ny = level->grid.ny;
        if (nx < 3 || ny < 3) continue;
        project_level work = {world,
                              l,
                              level->first,
                              nx,
                              ny,
                              (double)level->grid.inverse_h,
                              th_uic_of(host)->link_face_count > 0,
                              device->known,
                              {solver_of(host, level, device->known.inner_pressure),
                               solver_of(host, level, device->known.pressure)}};
        grid(blocks_for(nx * ny), device->project_blocks,
             (size_t)work.solver[0].shared_count * sizeof(float), device->partial, work);
    }
    for (int l = 0; l < th_uic_of(host)->level_count && th_uic_of(host)->steps_aside; ++l) {
        int first = th_uic_of(host)->levels[l].first, nx = th_uic_of(host)->levels[l].grid.nx,
            ny = th_uic_of(host)->levels[l].grid.ny;
        each(
            nx * ny, TH_LAMBDA(int k) {
                int i = k % nx, j = k / nx;
                if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1)
                    th_uic_remember_mean(th_uic_of(world), nx, first + k);
            });
    }
}

bool uic_take_pressure(th_world *host) {
    store &s = host->device_world->store;
    uic_device *device = uic_device_of(host);
    size_t n = (size_t)th_uic_of(host)->cell_capacity;
    double **vectors[] = {&device->r[0], &device->r[1], &device->d[0], &device->d[1], &device->ad};
    for (double **vector : vectors) *vector = s.room<double>(n);
    device->coarse_capacity = coarse_values(n);
    device->fine = s.room<float>(FINE_VALUES * n);
    device->coarse = s.room<float>((size_t)device->coarse_capacity);
    device->partial = s.room<double>(TEAM_PARTIALS);
    device->report = s.room<pressure_report>(1);
    device->project_blocks = grid_blocks<project_level>();
    if (s.failed) return false;
    clear(device->report, sizeof *device->report);
    clear(device->partial, TEAM_PARTIALS * sizeof *device->partial);
    return true;
}

// ---- one problem by itself: for tests and measurements of the solver

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
    problem.r[0] = s.room<double>(n), problem.r[1] = s.room<double>(n),
    problem.ad = s.room<double>(n);
    problem.d[0] = s.room<double>(n), problem.d[1] = s.room<double>(n);
    problem.tolerance = lcp->tolerance;
    problem.report = s.room<pressure_report>(1);
    float *fine = s.room<float>(FINE_VALUES * n), *coarse = s.room<float>((size_t)coarse_values(n));
    double *partial = s.room<double>(TEAM_PARTIALS);
    if (s.failed) return false;
    build_levels(&problem, fine, coarse, coarse_values(n));
    clear(problem.report, sizeof *problem.report);
    clear(partial, TEAM_PARTIALS * sizeof *partial);
    solve_alone work = {problem};
    grid(blocks_for((int)n), grid_blocks<solve_alone>(),
         (size_t)problem.shared_count * sizeof(float), partial, work);
    pressure_report report;
    if (!finish() || !get(lcp->p, problem.p, n * sizeof *lcp->p) ||
        !get(&report, problem.report, sizeof report))
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
