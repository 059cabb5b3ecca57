// The pressure: v = psolve(renorm(psolve(v~))) on every level (eq. 19), with the slack clamped in the inner
// solve. Packings instead of densities, so the maximum is 1 (formula/uic.h).
//   b_c = slack_c + (dt / h) sum over faces of outward aperture x packing x velocity       (eqs 15, 16)
//   coupling of two cells = (dt / h^2) aperture x packing of the face                      (eq. 17)
// Cost O(cells) and the solver's. Every cell is computed by itself, so threads do not matter.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "move/uic/state.h"
#include <math.h>
#include <string.h>

TH_BOTH static float face_packing(const th_uic_face *face, float inverse_area) {
    return face->share * inverse_area;
}

// Mean preferred velocity and speed limit of the faces, packing of the cell. Pressure of cells that people have
// left would push on those who come back.
TH_FORMULA void read_cell(th_uic *uic, float inverse_area, int c) {
    const th_uic_face *west = &uic->west[c], *south = &uic->south[c];
    bool x = west->share > 1e-9f && uic->open_x[c] > 0.0f;
    bool y = south->share > 1e-9f && uic->open_y[c] > 0.0f;
    uic->u[c] = x ? west->x / west->share : 0.0f;
    uic->v[c] = y ? south->y / south->share : 0.0f;
    uic->limit_u[c] = !x                        ? 0.0f
                      : uic->speed_limit > 0.0f ? uic->speed_limit
                                                : west->speed / west->share;
    uic->limit_v[c] = !y                        ? 0.0f
                      : uic->speed_limit > 0.0f ? uic->speed_limit
                                                : south->speed / south->share;
    uic->people[c] = uic->centre[c].people;
    uic->packing[c] = (uic->centre[c].share + uic->centre[c].foreign) * inverse_area;
    if (!(uic->centre[c].share > 0.0f)) uic->inner_pressure[c] = uic->pressure[c] = 0.0;
}

// Cosine of the angle between what people at a face want in the mean and the face's normal, -1 .. 1.
TH_BOTH static float heading(float wish, const th_uic_face *face) {
    return face->speed > 1e-9f ? wish / face->speed : 0.0f;
}

// Flow out of a cell through an exit at one of its faces, and the coupling with p = 0 outside. Who crosses the
// line is gone: that share of the face does not lead into the next cell. The splat gives such a face half the
// packing, for there is nobody beyond; the cell's own counts. For people who do not head out the line is a wall:
// open to all, it would draw whoever is pressed in its neighbourhood onto it, and there they pile up.
TH_BOTH static void add_exit(const th_uic *uic, int c, float share, float outward, float towards,
                             float packing, double flow_scale, double coupling_scale, double *b,
                             double *ground) {
    if (share <= 0.0f) return;
    // Open from a mean wish of 30 degrees off the line on: people differ.
    float open = th_clamp(2.0f * towards, 0.0f, 1.0f);
    double through = (double)(open * share) * fmax((double)uic->packing[c], (double)packing);
    *b += flow_scale * through * fmax((double)outward, 0.0);
    *ground += coupling_scale * through;
}

TH_BOTH static float inner_share(float open, float gate) { return th_max(open - gate, 0.0f); }

// A row of the problem, for a cell inside.
TH_FORMULA void assemble_cell(const th_world *world, const th_staggered *grid, int c,
                              bool clamp_slack) {
    th_uic *uic = world->uic;
    float inverse_area = grid->inverse_h * grid->inverse_h;
    double flow_scale = (double)world->dt * (double)grid->inverse_h;
    double coupling_scale = flow_scale * (double)grid->inverse_h;
    int e = c + 1, n = c + grid->nx;
    float packing_w = face_packing(&uic->west[c], inverse_area),
          packing_e = face_packing(&uic->west[e], inverse_area),
          packing_s = face_packing(&uic->south[c], inverse_area),
          packing_n = face_packing(&uic->south[n], inverse_area);
    double w_flow = (double)(inner_share(uic->open_x[c], uic->gate_x[c]) * packing_w),
           e_flow = (double)(inner_share(uic->open_x[e], uic->gate_x[e]) * packing_e);
    double s_flow = (double)(inner_share(uic->open_y[c], uic->gate_y[c]) * packing_s),
           n_flow = (double)(inner_share(uic->open_y[n], uic->gate_y[n]) * packing_n);
    double slack = (double)uic->room[c] - (double)uic->packing[c];
    if (clamp_slack) slack = fmax(slack, 0.0);
    double b = slack + flow_scale * ((e_flow * (double)uic->u[e] - w_flow * (double)uic->u[c]) +
                                     (n_flow * (double)uic->v[n] - s_flow * (double)uic->v[c]));
    double ground = 0.0;
    add_exit(uic, c, uic->exit_x[c], -uic->u[c], -heading(uic->west[c].x, &uic->west[c]), packing_w,
             flow_scale, coupling_scale, &b, &ground);
    add_exit(uic, c, uic->exit_x[e], uic->u[e], heading(uic->west[e].x, &uic->west[e]), packing_e,
             flow_scale, coupling_scale, &b, &ground);
    add_exit(uic, c, uic->exit_y[c], -uic->v[c], -heading(uic->south[c].y, &uic->south[c]),
             packing_s, flow_scale, coupling_scale, &b, &ground);
    add_exit(uic, c, uic->exit_y[n], uic->v[n], heading(uic->south[n].y, &uic->south[n]), packing_n,
             flow_scale, coupling_scale, &b, &ground);
    uic->b[c] = b;
    uic->ground[c] = ground;
    uic->east[c] = coupling_scale * e_flow;
    uic->north[c] = coupling_scale * n_flow;
}

// The ring's couplings with the cells inside are read too: those of the two ends of a row.
TH_FORMULA void assemble_ends(const th_world *world, const th_uic_level *level, int j) {
    th_uic *uic = world->uic;
    const th_staggered *grid = &level->grid;
    int nx = grid->nx, begin = level->first + j * nx;
    float inverse_area = grid->inverse_h * grid->inverse_h;
    double coupling_scale = (double)world->dt * (double)grid->inverse_h * (double)grid->inverse_h;
    float inner = inner_share(uic->open_x[begin + 1], uic->gate_x[begin + 1]);
    uic->east[begin] =
        coupling_scale * (double)(inner * face_packing(&uic->west[begin + 1], inverse_area));
    uic->north[begin] = uic->north[begin + nx - 1] = uic->east[begin + nx - 1] = 0.0;
}

// Links: the cell beyond the line is on the other level. Its pressure as last solved pushes back, and the face
// is as packed as people of both levels make it.
typedef struct link_cells {
    int high, low;             // cells east (north) and west (south) of the face, on this level
    int other_high, other_low; // the same cells of the other level
    float packing, velocity;   // of the face
} link_cells;

TH_BOTH static bool find_link_cells(const th_uic *uic, const th_uic_link_face *face,
                                    link_cells *cells) {
    const th_uic_level *here = &uic->levels[face->level], *there = &uic->levels[face->other];
    const th_staggered *own = &here->grid, *other = &there->grid;
    int i = face->cell % own->nx, j = face->cell / own->nx;
    // The same face on the other level: all grids lie on one lattice.
    int oi = i + own->column - other->column, oj = j + own->row - other->row;
    if (own->h != other->h || i < 1 || j < 1 || i > own->nx - 1 || j > own->ny - 1 || oi < 1 ||
        oj < 1 || oi > other->nx - 1 || oj > other->ny - 1)
        return false;
    cells->high = here->first + face->cell;
    cells->low = cells->high - (face->axis ? own->nx : 1);
    cells->other_high = there->first + oj * other->nx + oi;
    cells->other_low = cells->other_high - (face->axis ? other->nx : 1);
    const th_uic_face *faces = face->axis ? uic->south : uic->west;
    float share = faces[cells->high].share + faces[cells->other_high].share;
    cells->packing = share * own->inverse_h * own->inverse_h * face->share;
    cells->velocity = (face->axis ? uic->v : uic->u)[cells->high];
    return true;
}

TH_BOTH static void add_links(const th_world *world, int l, const double *pressure) {
    th_uic *uic = world->uic;
    for (int k = 0; k < uic->link_face_count; ++k) {
        const th_uic_link_face *face = &uic->link_faces[k];
        link_cells cells;
        if (face->level != l || !find_link_cells(uic, face, &cells)) continue;
        double scale = (double)world->dt * (double)uic->levels[l].grid.inverse_h;
        double coupling = scale * (double)uic->levels[l].grid.inverse_h * (double)cells.packing;
        double flow = scale * (double)(cells.packing * cells.velocity);
        uic->ground[cells.high] += coupling;
        uic->ground[cells.low] += coupling;
        uic->b[cells.high] -= coupling * pressure[cells.other_low] + flow;
        uic->b[cells.low] -= coupling * pressure[cells.other_high] - flow;
    }
}

// The gradient at a link is that from one level to the other; nobody stands beyond the line on this one.
TH_BOTH static void correct_links(const th_world *world, int l, const double *pressure) {
    th_uic *uic = world->uic;
    for (int k = 0; k < uic->link_face_count; ++k) {
        const th_uic_link_face *face = &uic->link_faces[k];
        link_cells cells;
        if (face->level != l || !find_link_cells(uic, face, &cells)) continue;
        double high = fmax(pressure[cells.other_high] - pressure[cells.high], 0.0);
        double low = fmax(pressure[cells.other_low] - pressure[cells.low], 0.0);
        float *velocity = (face->axis ? uic->v : uic->u) + cells.high;
        float inverse_h = uic->levels[l].grid.inverse_h;
        *velocity -= (float)(high - low) * inverse_h * face->share;
    }
}

#ifndef TH_DEVICE_CODE     // the CPU's loop
enum { FEW_CELLS = 4096 }; // below, waking a second thread costs more than it brings

static int threads_for(const th_world *world, const th_uic_level *level) {
    return level->grid.nx * level->grid.ny < FEW_CELLS ? 1 : world->threads;
}

static void assemble(th_world *world, int l, bool clamp_slack, const double *pressure) {
    const th_uic_level *level = &world->uic->levels[l];
    int ny = level->grid.ny, nx = level->grid.nx;
    // Row 0 is part of the ring; only its couplings to the north are read.
    th_uic *uic = world->uic;
    for (int c = level->first; c < level->first + nx; ++c) uic->east[c] = uic->north[c] = 0.0;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j) {
        int begin = level->first + j * nx;
        for (int c = begin + 1; c < begin + nx - 1; ++c)
            assemble_cell(world, &level->grid, c, clamp_slack);
        assemble_ends(world, level, j);
    }
    if (uic->link_face_count > 0) add_links(world, l, pressure);
}

// Cells with people, in ascending order; the others cannot carry pressure.
static int list_active(th_uic *uic, const th_uic_level *level) {
    int nx = level->grid.nx, count = 0;
    for (int j = 1; j < level->grid.ny - 1; ++j)
        for (int i = 1; i < nx - 1; ++i) {
            int c = j * nx + i;
            uic->active[count] = c; // always written, kept only if somebody is there
            count += uic->centre[level->first + c].share > 0.0f;
        }
    return count;
}

static void solve(th_world *world, const th_uic_level *level, double *pressure, int active_count) {
    th_uic *uic = world->uic;
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
    double start = omp_get_wtime();
    th_lcp_result result = th_lcp_solve(&lcp, uic->work);
    th_uic_statistics *statistics = &uic->statistics;
    statistics->solve_seconds += omp_get_wtime() - start;
    statistics->solves++;
    statistics->iterations += (uint64_t)result.iterations;
    statistics->outer += (uint64_t)result.outer;
    statistics->unconverged += !result.converged;
    statistics->visits += (uint64_t)result.visits;
    statistics->largest_residual = fmax(statistics->largest_residual, result.residual);
}

#endif

// v - grad p at the faces of a cell. Cells without people have no pressure.
TH_FORMULA void subtract_cell(const th_uic *uic, int nx, double inverse_h, int c,
                              const double *pressure) {
    if (uic->open_x[c] > 0.0f)
        uic->u[c] = (float)((double)uic->u[c] - (pressure[c] - pressure[c - 1]) * inverse_h);
    if (uic->open_y[c] > 0.0f)
        uic->v[c] = (float)((double)uic->v[c] - (pressure[c] - pressure[c - nx]) * inverse_h);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static void subtract_gradient(th_world *world, const th_uic_level *level, const double *pressure) {
    int nx = level->grid.nx;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < level->grid.ny; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + (j + 1) * nx; ++c)
            subtract_cell(world->uic, nx, (double)level->grid.inverse_h, c, pressure);
}
#endif

// Mean of the four transverse components around a face, of those with people.
TH_BOTH static float across(const float *values, const float *limits, int a, int b, int c, int d) {
    const int faces[4] = {a, b, c, d};
    float sum = 0.0f;
    int count = 0;
    for (int k = 0; k < 4; ++k) {
        if (!(limits[faces[k]] > 0.0f)) continue;
        sum += values[faces[k]];
        count++;
    }
    return count > 0 ? sum / (float)count : 0.0f;
}

TH_FORMULA void renorm_cell(const th_uic *uic, int nx, int c) {
    float v = across(uic->v, uic->limit_v, c - 1, c, c - 1 + nx, c + nx);
    float u = across(uic->u, uic->limit_u, c - nx, c, c + 1 - nx, c + 1);
    uic->bent_u[c] = th_uic_renorm(uic->u[c], v, uic->limit_u[c]);
    uic->bent_v[c] = th_uic_renorm(uic->v[c], u, uic->limit_v[c]);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static void renorm(th_world *world, const th_uic_level *level) {
    th_uic *uic = world->uic;
    int nx = level->grid.nx, ny = level->grid.ny;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + j * nx + nx - 1; ++c)
            renorm_cell(uic, nx, c);
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
    for (int j = 1; j < ny - 1; ++j) {
        size_t row = (size_t)(level->first + j * nx) + 1, bytes = (size_t)(nx - 2) * sizeof(float);
        memcpy(uic->u + row, uic->bent_u + row, bytes);
        memcpy(uic->v + row, uic->bent_v + row, bytes);
    }
}

#endif

// For keep_side in the next step: what people here want, mean of the faces.
TH_FORMULA void remember_mean(const th_uic *uic, int nx, int c) {
    const th_uic_face *w = &uic->west[c], *e = &uic->west[c + 1];
    const th_uic_face *s = &uic->south[c], *n = &uic->south[c + nx];
    float share = (w->share + e->share) + (s->share + n->share);
    float x = (w->x + e->x) + (s->x + n->x), y = (w->y + e->y) + (s->y + n->y);
    uic->mean_x[c] = share > 1e-9f ? x / share : 0.0f;
    uic->mean_y[c] = share > 1e-9f ? y / share : 0.0f;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static void remember_means(th_uic *uic, const th_uic_level *level) {
    int nx = level->grid.nx;
    for (int j = 1; j < level->grid.ny - 1; ++j)
        for (int c = level->first + j * nx + 1; c < level->first + j * nx + nx - 1; ++c)
            remember_mean(uic, nx, c);
}

static void look_at(th_uic *uic, const th_uic_level *level, int active_count) {
    th_uic_statistics *statistics = &uic->statistics;
    statistics->active_cells += active_count;
    for (int k = 0; k < active_count; ++k) {
        int c = level->first + uic->active[k];
        statistics->jammed_cells += uic->pressure[c] > 0.0;
        if (uic->room[c] > 0.2f) // slivers beside walls tell little
            statistics->densest = th_max(statistics->densest, uic->packing[c] / uic->room[c]);
    }
}

static void project_level(th_world *world, int l) {
    th_uic *uic = world->uic;
    const th_uic_level *level = &uic->levels[l];
    int active_count = list_active(uic, level);
    if (uic->any_pressure) {
        assemble(world, l, true, uic->inner_pressure);
        solve(world, level, uic->inner_pressure, active_count);
        subtract_gradient(world, level, uic->inner_pressure);
        correct_links(world, l, uic->inner_pressure);
        renorm(world, level);
        assemble(world, l, false, uic->pressure);
        solve(world, level, uic->pressure, active_count);
        subtract_gradient(world, level, uic->pressure);
        correct_links(world, l, uic->pressure);
    }
    look_at(uic, level, active_count);
}

void th_uic_project(th_world *world) {
    th_uic *uic = world->uic;
    double start = omp_get_wtime(), solved = uic->statistics.solve_seconds;
    uic->statistics.active_cells = uic->statistics.jammed_cells = 0;
    uic->statistics.densest = 0.0f;
    uic->statistics.largest_residual = 0.0;
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (level->grid.nx < 3 || level->grid.ny < 3) continue;
        float inverse_area = level->grid.inverse_h * level->grid.inverse_h;
        int nx = level->grid.nx;
#pragma omp parallel for num_threads(threads_for(world, level)) schedule(static)
        for (int j = 0; j < level->grid.ny; ++j)
            for (int c = level->first + j * nx; c < level->first + (j + 1) * nx; ++c)
                read_cell(uic, inverse_area, c);
    }
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (level->grid.nx >= 3 && level->grid.ny >= 3) project_level(world, l);
    }
    if (uic->keeps_side)
        for (int l = 0; l < uic->level_count; ++l) remember_means(uic, &uic->levels[l]);
    uic->statistics.grid_seconds +=
        (omp_get_wtime() - start) - (uic->statistics.solve_seconds - solved);
}
#endif
