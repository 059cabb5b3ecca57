// Plane polygons for measurement: a list of corners that grows, clipped by straight lines; rings taken out
// of GEOS; walls in a grid. Doubles throughout. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_POLYGON_H
#define TH_OBSERVE_POLYGON_H
#include "core/geometry.h"

typedef struct th_corners {
    th_point *at;
    int count, room;
} th_corners;
void th_corners_release(th_corners *corners);
bool th_corners_copy(th_corners *to, const th_point *from, int count); // false: no memory
bool th_corners_add(th_corners *corners, th_point point);

// What of `from` has normal . p <= offset (Sutherland and Hodgman 1974). A polygon that is not convex may
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
// Whether any edge runs through the inside of a convex counter-clockwise polygon.
bool th_edges_cross(const th_edges *edges, const th_point *corners, int count);
#endif
