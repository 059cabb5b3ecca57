// Geometry for densities: plane polygons that are clipped by straight lines, rings taken out of GEOS, walls
// in a grid; Voronoi cells, one at a time; the inside of a th_region. Doubles
// throughout. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_REGION_H
#define TH_OBSERVE_REGION_H
#include "core/geometry.h"
#include "observe/density.h"

// ---- polygons

typedef struct th_corners {
    th_point *at;
    int count, room;
} th_corners;
void th_corners_release(th_corners *corners);
bool th_corners_copy(th_corners *to, const th_point *from, int count); // false: no memory
bool th_corners_add(th_corners *corners, th_point point);

// Keeps the part of `from` with normal . p <= offset (Sutherland and Hodgman 1974). A polygon that is not convex may
// come out in pieces joined by edges that run there and back; its area is right all the same.
// False: no memory.
bool th_clip(const th_corners *from, th_point normal, double offset, th_corners *to);
// `subject` by every edge of the convex counter-clockwise polygon; `spare` is work space. False: no memory.
bool th_clip_convex(th_corners *subject, const th_point *clipper, int count, th_corners *spare);
double th_signed_area(const th_point *corners, int count); // counter-clockwise is positive

// Closed rings, the first point not repeated; outer ones counter-clockwise, holes clockwise.
typedef struct th_rings {
    int ring_count;
    int *start; // ring r is points[start[r] .. start[r + 1])
    th_point *points;
    th_point low, high;
} th_rings;
bool th_rings_take(th_geometry *geometry, const GEOSGeometry *shape, th_rings *rings);
void th_rings_release(th_rings *rings);
static inline int th_rings_points(const th_rings *rings) {
    return rings->ring_count > 0 ? rings->start[rings->ring_count] : 0;
}
// Even-odd; of two areas that share an edge one holds its points, never both.
bool th_rings_hold(const th_rings *rings, double x, double y);
bool th_rings_convex(const th_rings *rings); // one ring, all its corners turn left

// Edges of rings by place, so that what is near is found without looking at all.
typedef struct th_edges {
    const th_rings *rings;
    int nx, ny;
    double cell;      // [m]
    int *cell_start;  // nx * ny + 1
    int *edge;        // index of the edge's first point
    const int *after; // per point: the next one of its ring
} th_edges;
bool th_edges_make(const th_rings *rings, th_edges *edges); // false: no memory
void th_edges_release(th_edges *edges);
// Does any edge run through the inside of a convex counter-clockwise polygon?
bool th_edges_cross(const th_edges *edges, const th_point *corners, int count);

// ---- Voronoi cells: the ground nearer to a person than to all others, without regard to walls

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

// ---- how much of a round Gaussian lies over a polygon. density.c

// Beyond this many sigmas a Gaussian is nothing: 1.5e-8 of it lies there.
#define TH_GAUSSIAN_END 6.0

// The share of the Gaussian around (x, y) over the rings, 0 .. 1, right to about 1e-7.
double th_gaussian_share(const th_rings *rings, double x, double y, double sigma);

// ---- a region: walkable ground, measured area, and work space that is used again from moment to moment. region.c

// Walkable ground, whole or around the area only: intersections with the whole of a town are slow.
typedef struct th_free_ground {
    GEOSGeometry *shape; // NULL: endless
    th_rings rings;
    th_edges edges;
    bool convex; // a straight corridor: cells are cut by its walls like by neighbours
} th_free_ground;

typedef struct th_region_work {
    int *near; // people that matter for the area
    int near_room;
    th_point_grid grid;
    th_voronoi_cell cell;
    th_corners start, spare, clipped;
    th_free_ground local; // walkable ground within local_reach of the area's box
    double local_reach;
} th_region_work;

struct th_region {
    th_geometry geometry;
    th_free_ground ground;
    th_rings area;       // as asked for
    th_rings measured;   // of it what is walkable
    bool area_convex;    // one ring that only turns left
    GEOSGeometry *shape; // the area
    double size;         // of `measured` [m2]
    th_region_work *work;
};

// Ground that serves all people within `reach` of the area's box; HUGE_VAL: all. NULL: no memory.
const th_free_ground *th_region_ground(const th_region *region, double reach);

// The walkable part of the Voronoi cell of a person at (x, y), and how much of it lies in the area [m2].
typedef struct th_owned {
    double own, measured;
} th_owned;
// The piece of the cell within the ground that holds the person; a person outside owns the piece nearest to
// it. False: no memory.
bool th_region_own(const th_region *region, const th_free_ground *ground, double x, double y,
                   th_owned *owned);
#endif
