// The flow for one cell, on the CPU and on a device: v = psolve(renorm(psolve(v~))) on every level (eq. 19), with
// the slack clamped in the inner solve. Packings instead of densities, so the maximum is 1 (move/uic/uic.h).
//   b_c = slack_c + (dt / h) sum over faces of outward aperture x packing x velocity       (eqs 15, 16)
//   coupling of two cells = (dt / h^2) aperture x packing of the face                      (eq. 17)
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PROJECT_H
#define TH_MOVE_UIC_PROJECT_H
#include "move/uic/uic.h"
#include <math.h>

// Capacity of a cell. One person always fits, however little of the cell is ground: people come whole, and in a sliver
// beside a wall one alone would count as a crush and be held there by the pressure of its own body.
TH_BOTH static inline float th_uic_room_for(const th_uic *uic, float room, float inverse_area) {
    return th_max(room, th_min(uic->one_person * inverse_area, 1.0f));
}

TH_BOTH static inline float th_uic_face_packing(const th_uic_face *face, float inverse_area) {
    return face->share * inverse_area;
}

// Mean preferred velocity and speed limit of the faces, packing of the cell. Pressure of cells that people have
// left would push on agents that come back.
TH_FORMULA void th_uic_read_cell(th_uic *uic, float inverse_area, int c) {
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
TH_BOTH static inline float th_uic_heading(float wish, const th_uic_face *face) {
    return face->speed > 1e-9f ? wish / face->speed : 0.0f;
}

// How far an exit is open for agents with this heading: fully from 30 degrees off the line, since headings differ.
TH_BOTH static inline float th_uic_exit_open(float heading) {
    return th_clamp(2.0f * heading, 0.0f, 1.0f);
}

// Flow out of a cell through an exit at one of its faces, and the coupling with p = 0 outside. An agent that crosses
// the line is gone: that share of the face does not lead into the next cell. The splat gives such a face half the
// packing, for there is no agent beyond; the cell's own counts. For agents that do not head out the line is a wall: open to
// all, it would draw agents under pressure nearby onto it, where they would pile up.
TH_BOTH static inline void th_uic_add_exit(const th_uic *uic, int c, float share, float outward,
                                           float towards, float packing, double flow_scale,
                                           double coupling_scale, double *b, double *ground) {
    if (share <= 0.0f) return;
    double through = (double)(th_uic_exit_open(towards) * share) *
                     fmax((double)uic->packing[c], (double)packing);
    *b += flow_scale * through * fmax((double)outward, 0.0);
    *ground += coupling_scale * through;
}

TH_BOTH static inline float th_uic_inner_share(float open, float gate) {
    return th_max(open - gate, 0.0f);
}

// Walls leave a small cell room for fewer people than this, and less than this share of its area. One person more or less
// fills or empties it, and its pressure, which came and went, shook the crowd before a slanting passage at 4 to 6 m/s2. The
// less room it has, the more stiffly it is coupled with the cells beside it, until they share one pressure. With the same
// stiffness for all small cells, people in the rooms of `building` were pressed closer together than with the cube.
#define TH_UIC_FEW 13.0f
#define TH_UIC_FEW_SHARE 0.9f
#define TH_UIC_STIFFEST 20.0f

TH_FORMULA double th_uic_stiffness(const th_uic *uic, float inverse_area, int a, int b) {
    float few = th_min(TH_UIC_FEW * uic->one_person * inverse_area, TH_UIC_FEW_SHARE);
    float room = th_min(uic->capacity[a], uic->capacity[b]);
    if (room >= few) return 1.0; // nearly everywhere
    float short_of = few / th_max(room, 1e-3f);
    return (double)th_min(short_of * short_of * short_of, TH_UIC_STIFFEST);
}

// A row of the problem, for a cell inside.
TH_FORMULA void th_uic_assemble_cell(const th_world *world, const th_staggered *grid, int c,
                                     bool clamp_slack) {
    th_uic *uic = th_uic_of(world);
    float inverse_area = grid->inverse_h * grid->inverse_h;
    double flow_scale = (double)world->dt * (double)grid->inverse_h;
    double coupling_scale = flow_scale * (double)grid->inverse_h;
    int e = c + 1, n = c + grid->nx;
    float packing_w = th_uic_face_packing(&uic->west[c], inverse_area),
          packing_e = th_uic_face_packing(&uic->west[e], inverse_area),
          packing_s = th_uic_face_packing(&uic->south[c], inverse_area),
          packing_n = th_uic_face_packing(&uic->south[n], inverse_area);
    double w_flow = (double)(th_uic_inner_share(uic->open_x[c], uic->gate_x[c]) * packing_w),
           e_flow = (double)(th_uic_inner_share(uic->open_x[e], uic->gate_x[e]) * packing_e);
    double s_flow = (double)(th_uic_inner_share(uic->open_y[c], uic->gate_y[c]) * packing_s),
           n_flow = (double)(th_uic_inner_share(uic->open_y[n], uic->gate_y[n]) * packing_n);
    double slack =
        (double)th_uic_room_for(uic, uic->room[c], inverse_area) - (double)uic->packing[c];
    if (clamp_slack) slack = fmax(slack, 0.0);
    if (slack < 0.0) slack *= (double)uic->excess_share;
    double b = slack + flow_scale * ((e_flow * (double)uic->u[e] - w_flow * (double)uic->u[c]) +
                                     (n_flow * (double)uic->v[n] - s_flow * (double)uic->v[c]));
    double ground = 0.0;
    th_uic_add_exit(uic, c, uic->exit_x[c], -uic->u[c],
                    -th_uic_heading(uic->west[c].x, &uic->west[c]), packing_w, flow_scale,
                    coupling_scale, &b, &ground);
    th_uic_add_exit(uic, c, uic->exit_x[e], uic->u[e],
                    th_uic_heading(uic->west[e].x, &uic->west[e]), packing_e, flow_scale,
                    coupling_scale, &b, &ground);
    th_uic_add_exit(uic, c, uic->exit_y[c], -uic->v[c],
                    -th_uic_heading(uic->south[c].y, &uic->south[c]), packing_s, flow_scale,
                    coupling_scale, &b, &ground);
    th_uic_add_exit(uic, c, uic->exit_y[n], uic->v[n],
                    th_uic_heading(uic->south[n].y, &uic->south[n]), packing_n, flow_scale,
                    coupling_scale, &b, &ground);
    uic->b[c] = b;
    uic->ground[c] = ground;
    uic->east[c] = coupling_scale * e_flow * th_uic_stiffness(uic, inverse_area, c, e);
    uic->north[c] = coupling_scale * n_flow * th_uic_stiffness(uic, inverse_area, c, n);
}

// The ring's couplings with the cells inside are read too: those of the two ends of a row.
TH_FORMULA void th_uic_assemble_ends(const th_world *world, const th_uic_level *level, int j) {
    th_uic *uic = th_uic_of(world);
    const th_staggered *grid = &level->grid;
    int nx = grid->nx, begin = level->first + j * nx;
    float inverse_area = grid->inverse_h * grid->inverse_h;
    double coupling_scale = (double)world->dt * (double)grid->inverse_h * (double)grid->inverse_h;
    float inner = th_uic_inner_share(uic->open_x[begin + 1], uic->gate_x[begin + 1]);
    uic->east[begin] =
        coupling_scale * (double)(inner * th_uic_face_packing(&uic->west[begin + 1], inverse_area));
    uic->north[begin] = uic->north[begin + nx - 1] = uic->east[begin + nx - 1] = 0.0;
}

// Links: the cell beyond the line is on the other level. Its pressure as last solved pushes back, and the face
// is as packed as people of both levels make it.
typedef struct th_uic_link_cells {
    int high, low;             // cells east (north) and west (south) of the face, on this level
    int other_high, other_low; // the same cells of the other level
    float packing, velocity;   // of the face
} th_uic_link_cells;

TH_BOTH static inline bool th_uic_find_link_cells(const th_uic *uic, const th_uic_link_face *face,
                                                  th_uic_link_cells *cells) {
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

TH_BOTH static inline void th_uic_add_links(const th_world *world, int l, const double *pressure) {
    th_uic *uic = th_uic_of(world);
    for (int k = 0; k < uic->link_face_count; ++k) {
        const th_uic_link_face *face = &uic->link_faces[k];
        th_uic_link_cells cells;
        if (face->level != l || !th_uic_find_link_cells(uic, face, &cells)) continue;
        double scale = (double)world->dt * (double)uic->levels[l].grid.inverse_h;
        double coupling = scale * (double)uic->levels[l].grid.inverse_h * (double)cells.packing;
        double flow = scale * (double)(cells.packing * cells.velocity);
        uic->ground[cells.high] += coupling;
        uic->ground[cells.low] += coupling;
        uic->b[cells.high] -= coupling * pressure[cells.other_low] + flow;
        uic->b[cells.low] -= coupling * pressure[cells.other_high] - flow;
    }
}

// The gradient at a link is that from one level to the other; no agent stands beyond the line on this one.
TH_BOTH static inline void th_uic_correct_links(const th_world *world, int l,
                                                const double *pressure) {
    th_uic *uic = th_uic_of(world);
    for (int k = 0; k < uic->link_face_count; ++k) {
        const th_uic_link_face *face = &uic->link_faces[k];
        th_uic_link_cells cells;
        if (face->level != l || !th_uic_find_link_cells(uic, face, &cells)) continue;
        double high = fmax(pressure[cells.other_high] - pressure[cells.high], 0.0);
        double low = fmax(pressure[cells.other_low] - pressure[cells.low], 0.0);
        float *velocity = (face->axis ? uic->v : uic->u) + cells.high;
        float inverse_h = uic->levels[l].grid.inverse_h;
        *velocity -= (float)(high - low) * inverse_h * face->share;
    }
}

// Flow over a face of which a share is an exit: for people that do not head that way, the share is a wall.
TH_BOTH static inline float th_uic_flow_at_exit(float flow, float exit, float heading) {
    float open = th_uic_exit_open(flow < 0.0f ? -heading : heading);
    return flow * (1.0f - exit * (1.0f - open));
}

// v - grad p at the faces of a cell. Cells without people have no pressure.
TH_FORMULA void th_uic_subtract_cell(const th_uic *uic, int nx, double inverse_h, int c,
                                     const double *pressure) {
    const th_uic_face *west = &uic->west[c], *south = &uic->south[c];
    if (uic->open_x[c] > 0.0f)
        uic->u[c] = (float)((double)uic->u[c] - (pressure[c] - pressure[c - 1]) * inverse_h);
    if (uic->open_y[c] > 0.0f)
        uic->v[c] = (float)((double)uic->v[c] - (pressure[c] - pressure[c - nx]) * inverse_h);
    if (uic->exit_x[c] > 0.0f)
        uic->u[c] = th_uic_flow_at_exit(uic->u[c], uic->exit_x[c], th_uic_heading(west->x, west));
    if (uic->exit_y[c] > 0.0f)
        uic->v[c] = th_uic_flow_at_exit(uic->v[c], uic->exit_y[c], th_uic_heading(south->y, south));
}

// Mean of the four transverse components around a face, of those with people.
TH_BOTH static inline float th_uic_across(const float *values, const float *limits, int a, int b,
                                          int c, int d) {
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

TH_FORMULA void th_uic_renorm_cell(const th_uic *uic, int nx, int c) {
    float v = th_uic_across(uic->v, uic->limit_v, c - 1, c, c - 1 + nx, c + nx);
    float u = th_uic_across(uic->u, uic->limit_u, c - nx, c, c + 1 - nx, c + 1);
    uic->renormed_u[c] = th_uic_renorm(uic->u[c], v, uic->limit_u[c]);
    uic->renormed_v[c] = th_uic_renorm(uic->v[c], u, uic->limit_v[c]);
}

// For keep_side and lanes in the next step: the mean preferred velocity here, from the faces.
TH_FORMULA void th_uic_remember_mean(const th_uic *uic, int nx, int c) {
    const th_uic_face *w = &uic->west[c], *e = &uic->west[c + 1];
    const th_uic_face *s = &uic->south[c], *n = &uic->south[c + nx];
    float share = (w->share + e->share) + (s->share + n->share);
    float x = (w->x + e->x) + (s->x + n->x), y = (w->y + e->y) + (s->y + n->y);
    uic->mean_x[c] = share > 1e-9f ? x / share : 0.0f;
    uic->mean_y[c] = share > 1e-9f ? y / share : 0.0f;
}

// ---- statistics of the last step, on the host

static inline void th_uic_begin_look(th_uic_statistics *statistics) {
    statistics->active_cells = statistics->jammed_cells = 0;
    statistics->densest = 0.0f;
    statistics->largest_residual = 0.0;
}
// A cell with people.
static inline void th_uic_look_at_cell(th_uic *uic, int c) {
    th_uic_statistics *statistics = &uic->statistics;
    statistics->active_cells++;
    statistics->jammed_cells += uic->pressure[c] > 0.0;
    if (uic->room[c] > 0.2f) // slivers beside walls tell little
        statistics->densest = th_max(statistics->densest, uic->packing[c] / uic->room[c]);
}
#endif
