// Voronoi cells of a crowd, one at a time: the ground nearer to a person than to anybody else, without
// regard to walls. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_VORONOI_H
#define TH_OBSERVE_VORONOI_H
#include "observe/polygon.h"

// Corners of the polygon that stands for the circle of a cut-off. Its area is the circle's, so that a lone
// person owns pi r^2; with 32 its sides are nowhere farther than 0.4 % of the radius from the circle.
enum { TH_CUT_OFF_CORNERS = 32 };
// Farthest a cell with this cut-off reaches [m].
double th_cut_off_reach(double cut_off);

// People sorted into square cells.
typedef struct th_point_grid {
    const double *x, *y;
    const int *member; // indices into x and y
    int member_count;
    th_point low;
    double cell;
    int nx, ny;
    int *cell_start, *in_cell;
    size_t cell_room, member_room;
} th_point_grid;
// `member` and the coordinates must outlive the grid's use; members have finite coordinates.
// False: no memory.
bool th_point_grid_fill(th_point_grid *grid, const double *x, const double *y, const int *member,
                        int member_count);
void th_point_grid_release(th_point_grid *grid);

typedef struct th_voronoi_cell {
    th_corners corners; // counter-clockwise
    int sharers; // people at this very place, the person included: they share the cell evenly
} th_voronoi_cell;
// `start` is the convex polygon the cell is cut out of: of a cut-off, or a box around everything.
// False: no memory.
bool th_voronoi_cut(const th_point_grid *grid, int person, const th_corners *start,
                    th_voronoi_cell *cell, th_corners *spare);
// Fills `corners` for a cut-off at a place, or with the box when cut_off is 0. False: no memory.
bool th_voronoi_start(double cut_off, th_point place, th_point low, th_point high,
                      th_corners *corners);
#endif
