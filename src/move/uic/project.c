// The pressure of every level on the CPU: the loops over cells around the two solves of eq. 19 (project.h).
// Cost O(cells) and the solver's. Every cell is computed by itself, so threads do not matter.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/project.h"
#include "core/parallel.h"
#include "core/system/system.h"
#include <string.h>

enum { FEW_CELLS = 4096 }; // below, waking a second thread costs more than it brings

static int threads_for(const th_world *world, const th_uic_level *level) {
    return level->grid.nx * level->grid.ny < FEW_CELLS ? 1 : world->threads;
}

static void assemble(th_world *world, int l, bool clamp_slack, const double *pressure) {
    const th_uic_level *level = &th_uic_of(world)->levels[l];
    int ny = level->grid.ny, nx = level->grid.nx;
    // Row 0 is part of the ring; only its couplings to the north are read.
    th_uic *uic = th_uic_of(world);
    for (int c = level->first; c < level->first + nx; ++c) uic->east[c] = uic->north[c] = 0.0;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j) {
        int begin = level->first + j * nx;
        for (int c = begin + 1; c < begin + nx - 1; ++c)
            th_uic_assemble_cell(world, &level->grid, c, clamp_slack);
        th_uic_assemble_ends(world, level, j);
    }
    if (uic->link_face_count > 0) th_uic_add_links(world, l, pressure);
}

// Cells with people, in ascending order; the others cannot carry pressure.
static int list_active(th_uic *uic, const th_uic_level *level) {
    int nx = level->grid.nx, count = 0;
    for (int j = 1; j < level->grid.ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i) {
            int c = j * nx + i;
            uic->active[count] = c; // always written, kept only if an agent is there
            count += uic->centre[level->first + c].share > 0.0f;
        }
    return count;
}

static void solve(th_world *world, const th_uic_level *level, double *pressure, int active_count) {
    th_uic *uic = th_uic_of(world);
    int first = level->first;
    th_lcp lcp = {.nx = level->grid.nx,
                  .ny = level->grid.ny,
                  .east = uic->east + first,
                  .north = uic->north + first,
                  .ground = uic->ground + first,
                  .b = uic->b + first,
                  .p = pressure + first,
                  .active = uic->active,
                  .active_count = active_count,
                  .tolerance = (double)uic->tolerance,
                  .threads = threads_for(world, level)};
    double start = th_monotonic_seconds();
    th_lcp_result result = th_lcp_solve(&lcp, uic->work);
    th_uic_statistics *statistics = &uic->statistics;
    statistics->solve_seconds += th_monotonic_seconds() - start;
    statistics->solves++;
    statistics->iterations += (uint64_t)result.iterations;
    statistics->outer += (uint64_t)result.outer;
    statistics->unconverged += !result.converged;
    statistics->visits += (uint64_t)result.visits;
    statistics->largest_residual = fmax(statistics->largest_residual, result.residual);
}

static void subtract_gradient(th_world *world, const th_uic_level *level, const double *pressure) {
    int nx = level->grid.nx;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < level->grid.ny; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + (j + 1) * nx; ++c)
            th_uic_subtract_cell(th_uic_of(world), nx, (double)level->grid.inverse_h, c, pressure);
}
static void renorm(th_world *world, const th_uic_level *level) {
    th_uic *uic = th_uic_of(world);
    int nx = level->grid.nx, ny = level->grid.ny;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + j * nx + nx - 1; ++c)
            th_uic_renorm_cell(uic, nx, c);
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j) {
        size_t row = (size_t)(level->first + j * nx) + 1, bytes = (size_t)(nx - 2) * sizeof(float);
        memcpy(uic->u + row, uic->renormed_u + row, bytes);
        memcpy(uic->v + row, uic->renormed_v + row, bytes);
    }
}

static void remember_means(th_uic *uic, const th_uic_level *level) {
    int nx = level->grid.nx;
    for (int j = 1; j < level->grid.ny - 1; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + j * nx + nx - 1; ++c)
            th_uic_remember_mean(uic, nx, c);
}

static void project_level(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    int active_count = list_active(uic, level);
    if (uic->any_pressure) {
        assemble(world, l, true, uic->inner_pressure);
        solve(world, level, uic->inner_pressure, active_count);
        subtract_gradient(world, level, uic->inner_pressure);
        th_uic_correct_links(world, l, uic->inner_pressure);
        renorm(world, level);
        assemble(world, l, false, uic->pressure);
        solve(world, level, uic->pressure, active_count);
        subtract_gradient(world, level, uic->pressure);
        th_uic_correct_links(world, l, uic->pressure);
    }
    for (int k = 0; k < active_count; ++k) th_uic_look_at_cell(uic, level->first + uic->active[k]);
}

void th_uic_project(th_world *world) {
    th_uic *uic = th_uic_of(world);
    double start = th_monotonic_seconds(), solved = uic->statistics.solve_seconds;
    th_uic_begin_look(&uic->statistics);
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (level->grid.nx < 3 || level->grid.ny < 3) continue;
        float inverse_area = level->grid.inverse_h * level->grid.inverse_h;
        int nx = level->grid.nx;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
        for (int j = 0; j < level->grid.ny; ++j)
            for (int c = level->first + j * nx; c < level->first + (j + 1) * nx; ++c)
                th_uic_read_cell(uic, inverse_area, c);
    }
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (level->grid.nx >= 3 && level->grid.ny >= 3) project_level(world, l);
    }
    if (uic->steps_aside)
        for (int l = 0; l < uic->level_count; ++l) remember_means(uic, &uic->levels[l]);
    uic->statistics.grid_seconds +=
        (th_monotonic_seconds() - start) - (uic->statistics.solve_seconds - solved);
}
