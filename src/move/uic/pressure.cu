// The flow of the model uic on a device (project.h): both solves of eq. 19 and all between them in one kernel. The pressure
// is solved to the CPU's tolerance, with other roundings. SPDX-License-Identifier: Apache-2.0
#include "device/upload.cuh"
#include "move/uic/device.cuh"
#include "move/uic/pressure_solver.cuh"
#include "move/uic/project.h"

namespace th {

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
    for (int l = 0; l < th_uic_of(host)->level_count && th_uic_of(host)->keeps_side; ++l) {
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
