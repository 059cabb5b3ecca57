// A cell begins as a polygon around its person and is cut by the bisector to everybody who is nearer than
// twice its farthest corner: nobody beyond can take anything from it, so the result is exact. People are looked
// up ring by ring of a square grid. Cost: about twenty cuts a person in an even crowd.
// SPDX-License-Identifier: Apache-2.0
#include "observe/region.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    // About two people to a cell; never more cells along an axis than people, for those in a row.
    double people = (double)grid->member_count;
    grid->cell = fmax(sqrt(2.0 * width * height / people), fmax(width, height) / people);
    if (!(grid->cell > 1e-9)) grid->cell = 1.0; // everybody in one place
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
        // Nobody in this ring or beyond is nearer than this.
        double nearest = (ring - 1) * grid->cell;
        if (ring > 0 && nearest * nearest > 4.0 * work.reach2) break;
        if (!cut_by_ring(&work, column, row, ring)) return false;
    }
    return true;
}
