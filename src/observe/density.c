// Density and speed in an area: classic, Voronoi, Gaussian; the kernel density at people's places. docs/measurement.md has
// the formulas. SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "core/error.h"
#include "observe/region.h"
#include "record/moment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Voronoi cells

// A cell begins as a polygon around its person and is cut by the bisector to every neighbour nearer than
// twice its farthest corner: neighbours beyond cannot cut it, so the result is exact. People are looked
// up ring by ring of a square grid. Cost: about twenty cuts a person in an even crowd.

// 2 pi / TH_CUT_OFF_CORNERS
static const double CORNER_ANGLE = 0.19634954084936207740;

double th_cut_off_reach(double cut_off) { return cut_off * sqrt(CORNER_ANGLE / sin(CORNER_ANGLE)); }

bool th_voronoi_start(double cut_off, th_point place, th_point low, th_point high,
                      th_corners *corners) {
    corners->count = 0;
    if (!(cut_off > 0.0)) {
        const th_point box[4] = {low, {high.x, low.y}, high, {low.x, high.y}};
        return th_corners_copy(corners, box, 4);
    }
    double reach = th_cut_off_reach(cut_off);
    for (int k = 0; k < TH_CUT_OFF_CORNERS; ++k) {
        th_point corner = {place.x + reach * cos(k * CORNER_ANGLE),
                           place.y + reach * sin(k * CORNER_ANGLE)};
        if (!th_corners_add(corners, corner)) return false;
    }
    return true;
}

// ---- people by place

static int column_of(const th_point_grid *grid, double x) {
    int column = (int)((x - grid->low.x) / grid->cell);
    return column < grid->nx ? column : grid->nx - 1;
}

static int row_of(const th_point_grid *grid, double y) {
    int row = (int)((y - grid->low.y) / grid->cell);
    return row < grid->ny ? row : grid->ny - 1;
}

static void choose_cells(th_point_grid *grid) {
    th_point low = {HUGE_VAL, HUGE_VAL}, high = {-HUGE_VAL, -HUGE_VAL};
    for (int m = 0; m < grid->member_count; ++m) {
        double x = grid->x[grid->member[m]], y = grid->y[grid->member[m]];
        low = (th_point){fmin(low.x, x), fmin(low.y, y)};
        high = (th_point){fmax(high.x, x), fmax(high.y, y)};
    }
    double width = high.x - low.x, height = high.y - low.y;
    // About two people per cell, and never more cells along an axis than people, for a crowd in single file.
    double people = (double)grid->member_count;
    grid->cell = fmax(sqrt(2.0 * width * height / people), fmax(width, height) / people);
    if (!(grid->cell > 1e-9)) grid->cell = 1.0; // all in one place
    grid->low = low;
    grid->nx = (int)floor(width / grid->cell) + 1;
    grid->ny = (int)floor(height / grid->cell) + 1;
}

bool th_point_grid_fill(th_point_grid *grid, const double *x, const double *y, const int *member,
                        int member_count) {
    grid->x = x;
    grid->y = y;
    grid->member = member;
    grid->member_count = member_count;
    grid->nx = grid->ny = 0;
    if (member_count == 0) return true;
    choose_cells(grid);
    size_t cells = (size_t)grid->nx * (size_t)grid->ny + 1, members = (size_t)member_count;
    if (cells > grid->cell_room) {
        free(grid->cell_start);
        grid->cell_start = malloc(cells * sizeof *grid->cell_start);
        grid->cell_room = grid->cell_start ? cells : 0;
    }
    if (members > grid->member_room) {
        free(grid->in_cell);
        grid->in_cell = malloc(members * sizeof *grid->in_cell);
        grid->member_room = grid->in_cell ? members : 0;
    }
    if (!grid->cell_start || !grid->in_cell) return false;
    memset(grid->cell_start, 0, cells * sizeof *grid->cell_start);
    for (int m = 0; m < member_count; ++m)
        ++grid->cell_start[row_of(grid, y[member[m]]) * grid->nx + column_of(grid, x[member[m]])];
    for (size_t c = 1; c < cells; ++c) grid->cell_start[c] += grid->cell_start[c - 1];
    for (int m = member_count - 1; m >= 0; --m) {
        int cell = row_of(grid, y[member[m]]) * grid->nx + column_of(grid, x[member[m]]);
        grid->in_cell[--grid->cell_start[cell]] = member[m];
    }
    return true;
}

void th_point_grid_release(th_point_grid *grid) {
    free(grid->cell_start);
    free(grid->in_cell);
    *grid = (th_point_grid){0};
}

// ---- one cell

typedef struct cutting {
    const th_point_grid *grid;
    int person;
    th_point place;
    th_voronoi_cell *cell;
    th_corners *spare;
    double reach2; // square of the farthest corner's distance
} cutting;

static void find_reach(cutting *work) {
    double farthest = 0.0;
    for (int i = 0; i < work->cell->corners.count; ++i) {
        double dx = work->cell->corners.at[i].x - work->place.x;
        double dy = work->cell->corners.at[i].y - work->place.y;
        farthest = fmax(farthest, dx * dx + dy * dy);
    }
    work->reach2 = farthest;
}

static bool cut_by(cutting *work, int other) {
    double dx = work->grid->x[other] - work->place.x, dy = work->grid->y[other] - work->place.y;
    double distance2 = dx * dx + dy * dy;
    if (other == work->person || distance2 > 4.0 * work->reach2) return true;
    if (!(distance2 > 0.0)) {
        ++work->cell->sharers;
        return true;
    }
    th_point middle = {work->place.x + 0.5 * dx, work->place.y + 0.5 * dy};
    th_corners *corners = &work->cell->corners;
    if (!th_clip(corners, (th_point){dx, dy}, dx * middle.x + dy * middle.y, work->spare))
        return false;
    th_corners swap = *corners;
    *corners = *work->spare;
    *work->spare = swap;
    find_reach(work);
    return true;
}

static bool cut_by_cell(cutting *work, int column, int row) {
    const th_point_grid *grid = work->grid;
    if (column < 0 || row < 0 || column >= grid->nx || row >= grid->ny) return true;
    int cell = row * grid->nx + column;
    for (int k = grid->cell_start[cell]; k < grid->cell_start[cell + 1]; ++k)
        if (!cut_by(work, grid->in_cell[k])) return false;
    return true;
}

static bool cut_by_ring(cutting *work, int column, int row, int ring) {
    if (ring == 0) return cut_by_cell(work, column, row);
    bool good = true;
    for (int d = -ring; good && d <= ring; ++d)
        good =
            cut_by_cell(work, column + d, row - ring) && cut_by_cell(work, column + d, row + ring);
    for (int d = 1 - ring; good && d < ring; ++d)
        good =
            cut_by_cell(work, column - ring, row + d) && cut_by_cell(work, column + ring, row + d);
    return good;
}

bool th_voronoi_cut(const th_point_grid *grid, int person, const th_corners *start,
                    th_voronoi_cell *cell, th_corners *spare) {
    cutting work = {.grid = grid, .person = person, .cell = cell, .spare = spare};
    work.place = (th_point){grid->x[person], grid->y[person]};
    cell->sharers = 1;
    if (!th_corners_copy(&cell->corners, start->at, start->count)) return false;
    find_reach(&work);
    int column = column_of(grid, work.place.x), row = row_of(grid, work.place.y);
    int rings = grid->nx > grid->ny ? grid->nx : grid->ny;
    for (int ring = 0; ring < rings; ++ring) {
        // No person in this ring or beyond is nearer than this.
        double nearest = (ring - 1) * grid->cell;
        if (ring > 0 && nearest * nearest > 4.0 * work.reach2) break;
        if (!cut_by_ring(&work, column, row, ring)) return false;
    }
    return true;
}

// ---- density and speed of an area

// Density and speed in an area: classic, Voronoi, Gaussian. docs/measurement.md has the formulas. Cost: classic one
// point-in-polygon test per person; Voronoi about twenty cuts per person near the area, and an intersection by GEOS
// where a wall runs through the cell; Gaussian an integral along the edges of area and walls near the person.

th_density_def th_density_def_default(void) {
    return (th_density_def){.method = TH_CLASSIC, .cut_off = 1.0, .width = 0.7};
}

// ---- sums

typedef struct crowd_view {
    const double *x, *y, *speed;
    int count;
} crowd_view;

// Sums of what is measured: weight of a person in the density, and in the mean of the speed.
typedef struct area_sums {
    double people, weight, speed;
} area_sums;

static void add_person(area_sums *sums, double people, double weight, double speed) {
    sums->people += people;
    if (isnan(speed) || !(weight > 0.0)) return;
    sums->weight += weight;
    sums->speed += weight * speed;
}

static void finish(const th_region *region, const area_sums *sums, th_area_reading *moment) {
    moment->density = sums->people / region->size;
    moment->speed = sums->weight > 0.0 ? sums->speed / sums->weight : (double)NAN;
    moment->flow = sums->weight > 0.0 ? moment->density * moment->speed : 0.0;
}

static bool within(const th_region *region, double x, double y, double reach) {
    const th_point low = region->area.low, high = region->area.high;
    return x >= low.x - reach && x <= high.x + reach && y >= low.y - reach && y <= high.y + reach;
}

// ---- classic

static void measure_classic(const th_region *region, const crowd_view *crowd,
                            th_area_reading *moment) {
    area_sums sums = {0};
    for (int i = 0; i < crowd->count; ++i)
        if (th_region_holds(region, crowd->x[i], crowd->y[i]))
            add_person(&sums, 1.0, 1.0, crowd->speed[i]);
    finish(region, &sums, moment);
}

// ---- Voronoi

// All people with a place, within reach of the area. False: no memory.
static bool find_near(const th_region *region, const crowd_view *crowd, double reach, int *count) {
    th_region_work *work = region->work;
    if (crowd->count > work->near_room) {
        free(work->near);
        work->near_room = crowd->count + crowd->count / 4;
        work->near = malloc((size_t)work->near_room * sizeof *work->near);
        if (!work->near) work->near_room = 0;
        if (!work->near) return false;
    }
    *count = 0;
    for (int i = 0; i < crowd->count; ++i)
        if (isfinite(crowd->x[i]) && isfinite(crowd->y[i]) &&
            within(region, crowd->x[i], crowd->y[i], reach))
            work->near[(*count)++] = i;
    return true;
}

// A box around all people and the area: where cells without a cut-off end on endless ground.
static void find_box(const th_region *region, const th_free_ground *ground, const crowd_view *crowd,
                     int near, th_point *low, th_point *high) {
    *low = region->area.low;
    *high = region->area.high;
    for (int k = 0; k < near; ++k) {
        double x = crowd->x[region->work->near[k]], y = crowd->y[region->work->near[k]];
        *low = (th_point){fmin(low->x, x), fmin(low->y, y)};
        *high = (th_point){fmax(high->x, x), fmax(high->y, y)};
    }
    if (!ground->shape) return;
    *low = (th_point){fmin(low->x, ground->rings.low.x), fmin(low->y, ground->rings.low.y)};
    *high = (th_point){fmax(high->x, ground->rings.high.x), fmax(high->y, ground->rings.high.y)};
}

static bool measure_voronoi(const th_region *region, const th_density_def *def,
                            const crowd_view *crowd, th_area_reading *moment, double *individual) {
    th_region_work *work = region->work;
    double reach = def->cut_off > 0.0 ? th_cut_off_reach(def->cut_off) : HUGE_VAL;
    // Owners of ground in the area stand within one reach of it, the neighbours that bound their cells within three.
    bool all = individual || !(def->cut_off > 0.0);
    const th_free_ground *ground = th_region_ground(region, all ? HUGE_VAL : 2.0 * reach);
    int near = 0;
    if (!ground || !find_near(region, crowd, all ? HUGE_VAL : 3.0 * reach, &near) ||
        !th_point_grid_fill(&work->grid, crowd->x, crowd->y, work->near, near))
        return false;
    th_point low, high;
    find_box(region, ground, crowd, near, &low, &high);
    area_sums sums = {0};
    for (int k = 0; k < near; ++k) {
        int i = work->near[k];
        double x = crowd->x[i], y = crowd->y[i];
        if (!individual && !within(region, x, y, reach)) continue;
        th_owned owned;
        if (!th_voronoi_start(def->cut_off, (th_point){x, y}, low, high, &work->start) ||
            !th_voronoi_cut(&work->grid, i, &work->start, &work->cell, &work->spare) ||
            !th_region_own(region, ground, x, y, &owned))
            return false;
        if (!(owned.own > 0.0)) continue;
        if (individual) individual[i] = work->cell.sharers / owned.own;
        add_person(&sums, owned.measured / owned.own, owned.measured / work->cell.sharers,
                   crowd->speed[i]);
    }
    finish(region, &sums, moment);
    return true;
}

// ---- Gaussian. Green's theorem turns the double integral into one along the edges: with Phi the normal
// distribution and g its density, d/dx [Phi(x) g(y)] = g(x) g(y), hence share = closed integral of Phi(x) g(y) dy,
// counter-clockwise. Edges are cut where Phi is 0 or 1 to all digits; there the integral is known, elsewhere
// five-point Gauss-Legendre on pieces of at most one sigma.

static double distribution(double t) { return 0.5 * erfc(-t * 0.70710678118654752440); }
static double bell(double t) { return 0.39894228040143267794 * exp(-0.5 * t * t); }

// Integral over an edge from a to b (in sigmas, relative to the centre), both within the end in x.
static double along_edge(th_point a, th_point b) {
    // Abscissae and weights on [-1, 1], Abramowitz and Stegun table 25.4.
    static const double at[5] = {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831,
                                 0.9061798459386640};
    static const double weight[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                     0.4786286704993665, 0.2369268850561891};
    int pieces = (int)ceil(hypot(b.x - a.x, b.y - a.y));
    double sum = 0.0, half = 0.5 / pieces;
    for (int k = 0; k < pieces; ++k)
        for (int j = 0; j < 5; ++j) {
            double t = (2 * k + 1 + at[j]) * half;
            sum += weight[j] * distribution(a.x + t * (b.x - a.x)) * bell(a.y + t * (b.y - a.y));
        }
    return sum * half * (b.y - a.y);
}

// a to b with ascending y.
static double upward(th_point a, th_point b) {
    const double end = TH_GAUSSIAN_END;
    if (a.y >= end || b.y <= -end) return 0.0;
    double slope = (b.x - a.x) / (b.y - a.y);
    if (a.y < -end) a = (th_point){a.x + slope * (-end - a.y), -end};
    if (b.y > end) b = (th_point){a.x + slope * (end - a.y), end};
    double sum = 0.0;
    for (int left = 0; left < 2; ++left) { // cut at the ends in x, first at -end, then at +end
        double x = left ? end : -end;
        bool a_beyond = left ? a.x > x : a.x < x, b_beyond = left ? b.x > x : b.x < x;
        if (!a_beyond && !b_beyond) continue;
        double y = a_beyond && b_beyond ? b.y : a.y + (x - a.x) / slope;
        double low = a_beyond ? a.y : y, high = a_beyond ? y : b.y;
        if (left) sum += distribution(high) - distribution(low);
        if (a_beyond && b_beyond) return sum;
        if (a_beyond) a = (th_point){x, y};
        if (b_beyond) b = (th_point){x, y};
    }
    if (!(b.y > a.y)) return sum;
    if (a.x == b.x) return sum + distribution(a.x) * (distribution(b.y) - distribution(a.y));
    return sum + along_edge(a, b);
}

double th_gaussian_share(const th_rings *rings, double x, double y, double sigma) {
    double share = 0.0;
    for (int r = 0; r < rings->ring_count; ++r) {
        th_point last = rings->points[rings->start[r + 1] - 1];
        th_point a = {(last.x - x) / sigma, (last.y - y) / sigma};
        for (int i = rings->start[r]; i < rings->start[r + 1]; ++i) {
            th_point b = {(rings->points[i].x - x) / sigma, (rings->points[i].y - y) / sigma};
            if (b.y > a.y) share += upward(a, b);
            if (b.y < a.y) share -= upward(b, a);
            a = b;
        }
    }
    return fmin(fmax(share, 0.0), 1.0);
}

// Does the whole Gaussian lie on the ground, so that no part has to be put back?
static bool walls_far(const th_free_ground *ground, double x, double y, double reach) {
    const th_point box[4] = {{x - reach, y - reach},
                             {x + reach, y - reach},
                             {x + reach, y + reach},
                             {x - reach, y + reach}};
    return !ground->shape ||
           (!th_edges_cross(&ground->edges, box, 4) && th_rings_hold(&ground->rings, x, y));
}

static bool measure_gaussian(const th_region *region, const th_density_def *def,
                             const crowd_view *crowd, th_area_reading *moment) {
    double sigma = def->width / (2.0 * sqrt(2.0 * log(2.0)));
    double reach = TH_GAUSSIAN_END * sigma;
    const th_free_ground *ground = th_region_ground(region, 2.0 * reach);
    if (!ground) return false;
    area_sums sums = {0};
    for (int i = 0; i < crowd->count; ++i) {
        double x = crowd->x[i], y = crowd->y[i];
        if (!within(region, x, y, reach)) continue;
        double share = th_gaussian_share(&region->measured, x, y, sigma);
        double walkable =
            walls_far(ground, x, y, reach) ? 1.0 : th_gaussian_share(&ground->rings, x, y, sigma);
        // More than three sigmas behind a wall: not part of this crowd.
        if (!(walkable > 1e-3)) continue;
        add_person(&sums, share / walkable, share / walkable, crowd->speed[i]);
    }
    finish(region, &sums, moment);
    return true;
}

// ---- any method

th_result th_region_measure(const th_region *region, const th_density_def *def, const double *x,
                            const double *y, const double *speed, int count,
                            th_area_reading *moment, double *individual, th_error *error) {
    const crowd_view crowd = {x, y, speed, count};
    *moment = (th_area_reading){.speed = (double)NAN};
    for (int i = 0; i < count; ++i) {
        if (individual) individual[i] = (double)NAN;
        moment->count += th_region_holds(region, x[i], y[i]);
    }
    bool good = true;
    if (def->method == TH_VORONOI)
        good = measure_voronoi(region, def, &crowd, moment, individual);
    else if (def->method == TH_GAUSSIAN && def->width > 0.0)
        good = measure_gaussian(region, def, &crowd, moment);
    else
        measure_classic(region, &crowd, moment);
    return good ? TH_OK
                : th_fail(error, TH_NO_MEMORY, "", "no memory to measure %d people; free some",
                          count);
}

// ---- the people of one level

void th_level_view_release(th_level_view *view) {
    free(view->index);
    free(view->x);
    free(view->y);
    free(view->speed);
    free(view->individual);
    *view = (th_level_view){0};
}

static bool make_level_room(th_level_view *view, int count) {
    if (count < view->room) return true;
    th_level_view_release(view);
    size_t room = (size_t)count + (size_t)count / 4 + 16;
    view->index = malloc(room * sizeof *view->index);
    view->x = malloc(room * sizeof *view->x);
    view->y = malloc(room * sizeof *view->y);
    view->speed = malloc(room * sizeof *view->speed);
    view->individual = malloc(room * sizeof *view->individual);
    if (!view->index || !view->x || !view->y || !view->speed || !view->individual) {
        th_level_view_release(view);
        return false;
    }
    view->room = (int)room;
    return true;
}

static bool matters(const th_moment *moment, int i, const th_level_view_def *def) {
    const th_point *near = def->near;
    if (!th_moment_is_person(moment, i) || th_moment_level(moment, i) != def->level) return false;
    return !near || !(moment->x[i] < near[0].x || moment->x[i] > near[1].x ||
                      moment->y[i] < near[0].y || moment->y[i] > near[1].y);
}

bool th_level_view_fill(th_level_view *view, const th_moment *moment,
                        const th_level_view_def *def) {
    if (!make_level_room(view, moment->count)) return false;
    const th_point direction = def->direction;
    double length = hypot(direction.x, direction.y);
    view->count = 0;
    for (int i = 0; i < moment->count; ++i) {
        if (!matters(moment, i, def)) continue;
        double vx = moment->velocity_x[i], vy = moment->velocity_y[i];
        int k = view->count++;
        view->index[k] = i;
        view->x[k] = moment->x[i];
        view->y[k] = moment->y[i];
        view->speed[k] =
            length > 0.0 ? (vx * direction.x + vy * direction.y) / length : hypot(vx, vy);
        if (def->both_ways) view->speed[k] = fabs(view->speed[k]);
    }
    return true;
}

// ---- the kernel density, at each person's place and as a map

static void put_people(const th_kernel *kernel, const th_spot *people, int count,
                       th_kernel_work *work) {
    for (int k = 0; k < count; ++k)
        th_kernel_note(kernel, work, people[k].place.x, people[k].place.y);
    for (int k = 0; k < count; ++k) {
        th_vec2 p = people[k].place;
        th_kernel_put(kernel, work, p.x, p.y, people[k].velocity,
                      th_kernel_alone(kernel, work, p.x, p.y));
    }
    th_kernel_spread(kernel, work);
}

#define LEAST_PEOPLE 0.05f // [-] in a cell, for a mean of velocities

static void fill_cell(const th_kernel *kernel, size_t cell, const float sums[TH_SUMS],
                      th_people_value value, float *values) {
    float people = sums[TH_SUM_PEOPLE];
    bool enough = people >= LEAST_PEOPLE;
    float x = enough ? sums[TH_SUM_VELOCITY_X] / people : NAN;
    float y = enough ? sums[TH_SUM_VELOCITY_Y] / people : NAN;
    float density = th_kernel_density(kernel, cell, sums);
    switch (value) {
    case TH_PEOPLE_DENSITY: values[cell] = density; break;
    case TH_PEOPLE_SPEED: values[cell] = enough ? sums[TH_SUM_SPEED] / people : NAN; break;
    case TH_PEOPLE_FLOW: values[cell] = enough ? density * sqrtf(x * x + y * y) : 0.0f; break;
    case TH_PEOPLE_VELOCITY: values[2 * cell] = x; values[2 * cell + 1] = y;
    }
}

bool th_people_map(const th_kernel *kernel, th_people_value value, const th_spot *people, int count,
                   float *values) {
    th_kernel_work work;
    if (!th_kernel_work_create(kernel, &work)) return false;
    put_people(kernel, people, count, &work);
    for (int row = 0; row < kernel->ny; ++row)
        for (int column = 0; column < kernel->nx; ++column) {
            size_t cell = (size_t)row * (size_t)kernel->nx + (size_t)column;
            float sums[TH_SUMS] = {0};
            if (kernel->walkable[cell] > 0.0f) th_kernel_read(kernel, &work, column, row, sums);
            fill_cell(kernel, cell, sums, value, values);
        }
    th_kernel_work_release(&work);
    return true;
}

static th_vec2 place_of(const th_scene_view *scene, const th_moment *m, int i) {
    if (!m->has_origin) return (th_vec2){(float)m->x[i], (float)m->y[i]};
    return (th_vec2){(float)(m->origin.x + m->x[i] - scene->origin.x),
                     (float)(m->origin.y + m->y[i] - scene->origin.y)};
}

static float density_at(const th_kernel *kernel, const th_kernel_work *work, th_vec2 p) {
    int cell = th_kernel_cell(kernel, p.x, p.y);
    float sums[TH_SUMS];
    if (cell < 0) return 0.0f;
    th_kernel_read(kernel, work, cell % kernel->nx, cell / kernel->nx, sums);
    return th_kernel_density(kernel, (size_t)cell, sums);
}

// `people` has room for all of the moment.
static bool level_density(const th_scene_view *scene, const th_moment *m, int level,
                          th_spot *people, float *density) {
    th_kernel kernel;
    th_kernel_work work = {0};
    bool made =
        th_kernel_create(scene, level, 0.5, NULL, &kernel) && th_kernel_work_create(&kernel, &work);
    int count = 0;
    for (int i = 0; made && i < m->count; ++i)
        if (th_moment_is_person(m, i) && th_moment_level(m, i) == level)
            people[count++] = (th_spot){.place = place_of(scene, m, i)};
    if (made) put_people(&kernel, people, count, &work);
    for (int i = 0, k = 0; made && i < m->count; ++i)
        if (th_moment_is_person(m, i) && th_moment_level(m, i) == level)
            density[i] = density_at(&kernel, &work, people[k++].place);
    th_kernel_work_release(&work);
    th_kernel_release(&kernel);
    return made;
}

float *th_people_density(const th_scene_view *scene, const th_moment *moment) {
    float *density = calloc((size_t)moment->count + 1, sizeof *density);
    th_spot *people = malloc(((size_t)moment->count + 1) * sizeof *people);
    bool made = density && people;
    for (int level = 0; made && level < scene->level_count; ++level)
        made = level_density(scene, moment, level, people, density);
    free(people);
    if (made) return density;
    free(density);
    return NULL;
}
