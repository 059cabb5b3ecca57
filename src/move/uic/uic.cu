// A step of the model uic on a device (move/uic.h): people to the grid, the flow, people along it, the pair step.
// The pressure is solved to the CPU's tolerance (pressure.cuh), with other roundings.
// SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "move/uic/pairs.cuh"
#include "move/uic/pressure.h"
#include "move/uic/project.h"
#include "move/uic/splat.cuh"

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
    template <class Team> TH_ON_GPU void bend(Team &team) const {
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
            if (solve > 0) bend(team);
            project_once(team, solve == 0, solver[solve]);
        }
    }
};

static_assert(sizeof(project_level) <= 4000, "what a kernel can be given on every device");

static pressure_solver solver_of(const th_world *host, const th_uic_level *level,
                                 double *pressure) {
    const uic_grids *grids = grids_of(host);
    const th_uic *known = &grids->known;
    int first = level->first;
    pressure_solver s;
    memset(&s, 0, sizeof s);
    s.nx = level->grid.nx, s.ny = level->grid.ny;
    s.east = known->east + first, s.north = known->north + first, s.ground = known->ground + first;
    s.people = known->centre + first;
    s.b = known->b + first;
    s.p = pressure + first;
    s.r[0] = grids->r[0], s.r[1] = grids->r[1], s.d[0] = grids->d[0], s.d[1] = grids->d[1],
    s.ad = grids->ad;
    s.tolerance = (double)th_uic_of(host)->tolerance;
    s.report = grids->report;
    build_levels(&s, grids->fine, grids->coarse, grids->coarse_room);
    return s;
}

static void project(th_world *host) {
    uic_grids *grids = grids_of(host);
    th_world *world = host->cuda->world;
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
                              grids->known,
                              {solver_of(host, level, grids->known.inner_pressure),
                               solver_of(host, level, grids->known.pressure)}};
        grid(blocks_for(nx * ny), grids->coresident,
             (size_t)work.solver[0].shared_count * sizeof(float), grids->partial, work);
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

static void cover_bodies(th_world *host) {
    uic_grids *grids = grids_of(host);
    if (!grids->bodies) return;
    clear(grids->known.covered, (size_t)grids->cells * sizeof *grids->known.covered);
    everybody(
        host, TH_LAMBDA(th_world * world, int i) {
            const th_agents *a = &world->agents;
            if (a->phase[i] == TH_PHASE_BODY)
                th_uic_cover_disc(th_uic_of(world), &th_uic_of(world)->levels[a->level[i]],
                                  th_v(a->next_position_x[i], a->next_position_y[i]), a->radius[i]);
        });
    th_world *world = host->cuda->world;
    for (int l = 0; l < th_uic_of(host)->level_count; ++l) {
        const th_uic_level *level = &th_uic_of(host)->levels[l];
        int nx = level->grid.nx, first = level->first + nx;
        if (level->has_bodies)
            each(
                nx * (level->grid.ny - 1),
                TH_LAMBDA(int k) { th_uic_cover_cell(th_uic_of(world), nx, first + k); });
    }
}

// ---- a step

static void uic_move(th_world *host) {
    cover_bodies(host);
    splat(host);
    project(host);
    everybody(
        host, TH_LAMBDA(th_world * world, int i) {
            th_uic_quarter q = quarter_of(world, i);
            th_uic_follow_run(world, &q, (uint32_t)i, (uint32_t)i + 1);
        });
    separate(host);
}

// ---- making, and what is asked for at home

// All arrays of the model. Some are others' too: between the solves nobody needs the direction, and without bodies
// there is as much room as capacity.
static void take_arrays(store &s, uic_grids *grids, size_t n) {
    th_uic *uic = &grids->known;
#define X(type, name, count, doc) uic->name = nullptr;
    TH_UIC_ARRAYS(X)
    TH_UIC_HOST_ARRAYS(X)
#undef X
    uic->renormed_u = (float *)grids->d[0];
    uic->renormed_v = uic->renormed_u ? uic->renormed_u + n : nullptr;
    uic->capacity = s.room<float>(n), uic->aperture_x = s.room<float>(n),
    uic->aperture_y = s.room<float>(n);
    if (!grids->bodies)
        uic->room = uic->capacity, uic->open_x = uic->aperture_x, uic->open_y = uic->aperture_y;
#define X(type, name, count, doc) \
    if (!uic->name) uic->name = s.room<type>((size_t)(count));
    TH_UIC_ARRAYS(X)
#undef X
}

static bool uic_take(th_world *host) {
    store &s = host->cuda->store;
    uic_grids *grids = new (std::nothrow) uic_grids();
    if (!grids) return false;
    host->cuda->model_state[TH_MOVE_UIC] = grids;
    const th_uic *uic = th_uic_of(host);
    size_t n = (size_t)uic->cell_capacity, levels = (size_t)uic->level_count;
    for (size_t l = 0; l < levels; ++l) {
        grids->open = grids->open || !host->scene->levels[l].bounded;
        grids->bodies = grids->bodies || uic->levels[l].has_bodies;
    }
    grids->known = *uic;
    double **vectors[] = {&grids->r[0], &grids->r[1], &grids->d[0], &grids->d[1], &grids->ad};
    for (double **vector : vectors) *vector = s.room<double>(n);
    take_arrays(s, grids, n);
    grids->coarse_room = coarse_values(n);
    grids->fine = s.room<float>(FINE_VALUES * n);
    grids->coarse = s.room<float>((size_t)grids->coarse_room);
    grids->partial = s.room<double>(TEAM_PARTIALS);
    grids->pairs = s.room<pair_report>(1);
    grids->report = s.room<pressure_report>(1);
    grids->device = s.room<th_uic>(1);
    grids->laid = (th_box *)malloc(levels * sizeof *grids->laid);
    grids->coresident = grid_blocks<project_level>();
    grids->tidying_blocks = grid_blocks<tidying>();
    host->cuda->known.model_state[TH_MOVE_UIC] = grids->device;
    if (s.failed || !grids->laid || !grids->crowd.create(4 * levels)) return false;
    clear(grids->report, sizeof *grids->report);
    clear(grids->partial, TEAM_PARTIALS * sizeof *grids->partial);
    return true;
}

static void uic_give_back(th_world *host) {
    uic_grids *grids = grids_of(host);
    if (!grids) return;
    grids->crowd.destroy();
    free(grids->laid);
    delete grids;
    host->cuda->model_state[TH_MOVE_UIC] = nullptr;
}

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

const device_model device_move_uic = {.create = uic_take,
                                      .destroy = uic_give_back,
                                      .run = uic_move,
                                      .send = uic_send,
                                      .fetch = uic_fetch_memory,
                                      .fetch_grids = uic_fetch_grids,
                                      .build_index = uic_lay};

} // namespace th

extern "C" bool th_device_pressure(const th_lcp *lcp, th_lcp_result *result) {
    th::store store;
    bool good = th::solve_on_device(lcp, result, store);
    store.give_back();
    return good;
}
