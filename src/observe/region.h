// The inside of a th_region: walkable ground, measured area, and work space that is used again from moment to
// moment. One region serves one thread at a time. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_REGION_H
#define TH_OBSERVE_REGION_H
#include "observe/density.h"
#include "observe/voronoi.h"

// Walkable ground, whole or around the area only: intersections with the whole of a town are slow.
typedef struct th_ground {
    GEOSGeometry *shape; // NULL: endless
    th_rings rings;
    th_edges edges;
    bool convex; // a straight corridor: cells are cut by its walls like by neighbours
} th_ground;

typedef struct th_region_work {
    int *near; // people that matter for the area
    int near_room;
    th_point_grid grid;
    th_voronoi_cell cell;
    th_corners start, spare, clipped;
    th_ground local; // walkable ground within local_reach of the area's box
    double local_reach;
} th_region_work;

struct th_region {
    th_geometry geometry;
    th_ground ground;
    th_rings area;       // as asked for
    th_rings measured;   // of it what is walkable
    bool area_convex;    // one ring that only turns left
    GEOSGeometry *shape; // the area
    double size;         // of `measured` [m2]
    th_region_work *work;
};

// Ground that serves everybody within `reach` of the area's box; HUGE_VAL: everybody. NULL: no memory.
const th_ground *th_region_ground(const th_region *region, double reach);

// What a person at (x, y) owns of their Voronoi cell, and how much of that lies in the area [m2].
typedef struct th_owned {
    double own, measured;
} th_owned;
// The piece of the cell within the ground that holds the person; who stands outside owns the piece nearest to
// them. False: no memory.
bool th_region_own(const th_region *region, const th_ground *ground, double x, double y,
                   th_owned *owned);
#endif
