// Corners, rings and edges. A clip costs O(corners); asking which edges run through a polygon costs those of the grid
// cells under it. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "observe/region.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- corners

void th_corners_release(th_corners *corners) {
    free(corners->at);
    *corners = (th_corners){0};
}

static bool make_room(th_corners *corners, int count) {
    return count <= corners->room || TH_RESERVE(corners->at, corners->room, count);
}

bool th_corners_copy(th_corners *to, const th_point *from, int count) {
    if (!make_room(to, count + 1)) return false;
    if (count > 0) memcpy(to->at, from, (size_t)count * sizeof *from);
    to->count = count;
    return true;
}

bool th_corners_add(th_corners *corners, th_point point) {
    if (!make_room(corners, corners->count + 1)) return false;
    corners->at[corners->count++] = point;
    return true;
}

bool th_clip(const th_corners *from, th_point normal, double offset, th_corners *to) {
    if (!make_room(to, 2 * from->count + 2)) return false;
    to->count = 0;
    if (from->count == 0) return true;
    th_point a = from->at[from->count - 1];
    double a_side = normal.x * a.x + normal.y * a.y - offset;
    for (int i = 0; i < from->count; ++i) {
        th_point b = from->at[i];
        double b_side = normal.x * b.x + normal.y * b.y - offset;
        if ((a_side < 0.0 && b_side > 0.0) || (a_side > 0.0 && b_side < 0.0)) {
            double t = a_side / (a_side - b_side);
            to->at[to->count++] = (th_point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        }
        if (b_side <= 0.0) to->at[to->count++] = b;
        a = b;
        a_side = b_side;
    }
    return true;
}

bool th_clip_convex(th_corners *subject, const th_point *clipper, int count, th_corners *spare) {
    for (int i = 0; i < count && subject->count > 0; ++i) {
        th_point a = clipper[i], b = clipper[(i + 1) % count];
        th_point outward = {b.y - a.y, a.x - b.x}; // right of the edge
        if (!th_clip(subject, outward, outward.x * a.x + outward.y * a.y, spare)) return false;
        th_corners swap = *subject;
        *subject = *spare;
        *spare = swap;
    }
    return true;
}

double th_signed_area(const th_point *corners, int count) {
    double twice = 0.0;
    // From the first corner, so that coordinates of a national grid cost no digits.
    for (int i = 1; i + 1 < count; ++i) {
        double ax = corners[i].x - corners[0].x, ay = corners[i].y - corners[0].y;
        double bx = corners[i + 1].x - corners[0].x, by = corners[i + 1].y - corners[0].y;
        twice += ax * by - bx * ay;
    }
    return 0.5 * twice;
}

// ---- rings

typedef struct ring_walk {
    th_geometry *geometry;
    th_rings *rings; // points NULL: only counting
    int ring_count, point_count;
} ring_walk;

static void set_direction(th_point *points, int count, bool hole) {
    if ((th_signed_area(points, count) > 0.0) != hole) return;
    for (int i = 0, j = count - 1; i < j; ++i, --j) {
        th_point swap = points[i];
        points[i] = points[j];
        points[j] = swap;
    }
}

static void take_ring(ring_walk *walk, const GEOSGeometry *ring, bool hole) {
    GEOSContextHandle_t geos = walk->geometry->geos;
    const GEOSCoordSequence *sequence = ring ? GEOSGeom_getCoordSeq_r(geos, ring) : NULL;
    unsigned size = 0;
    if (!sequence || !GEOSCoordSeq_getSize_r(geos, sequence, &size) || size < 4) return;
    int count = (int)size - 1;
    if (walk->rings->points) {
        th_point *points = walk->rings->points + walk->point_count;
        for (int i = 0; i < count; ++i)
            GEOSCoordSeq_getXY_r(geos, sequence, (unsigned)i, &points[i].x, &points[i].y);
        set_direction(points, count, hole);
        walk->rings->start[walk->ring_count] = walk->point_count;
        walk->rings->start[walk->ring_count + 1] = walk->point_count + count;
    }
    ++walk->ring_count;
    walk->point_count += count;
}

static void take_polygons(ring_walk *walk, const GEOSGeometry *shape) {
    GEOSContextHandle_t geos = walk->geometry->geos;
    if (!shape || GEOSisEmpty_r(geos, shape)) return;
    int type = GEOSGeomTypeId_r(geos, shape);
    if (type == GEOS_POLYGON) {
        take_ring(walk, GEOSGetExteriorRing_r(geos, shape), false);
        int holes = GEOSGetNumInteriorRings_r(geos, shape);
        for (int i = 0; i < holes; ++i)
            take_ring(walk, GEOSGetInteriorRingN_r(geos, shape, i), true);
    } else if (type >= GEOS_MULTIPOINT) {
        int count = GEOSGetNumGeometries_r(geos, shape);
        for (int i = 0; i < count; ++i) take_polygons(walk, GEOSGetGeometryN_r(geos, shape, i));
    }
}

bool th_rings_take(th_geometry *geometry, const GEOSGeometry *shape, th_rings *rings) {
    *rings = (th_rings){.low = {HUGE_VAL, HUGE_VAL}, .high = {-HUGE_VAL, -HUGE_VAL}};
    ring_walk counter = {.geometry = geometry, .rings = rings};
    take_polygons(&counter, shape);
    th_point *points = calloc((size_t)counter.point_count + 1, sizeof *points);
    rings->start = calloc((size_t)counter.ring_count + 1, sizeof *rings->start);
    if (!points || !rings->start) {
        free(points);
        th_rings_release(rings);
        return false;
    }
    rings->points = points;
    ring_walk taker = {.geometry = geometry, .rings = rings};
    take_polygons(&taker, shape);
    rings->ring_count = taker.ring_count;
    th_geometry_extend(geometry, shape, &rings->low, &rings->high);
    return true;
}

void th_rings_release(th_rings *rings) {
    free(rings->start);
    free(rings->points);
    *rings = (th_rings){0};
}

bool th_rings_hold(const th_rings *rings, double x, double y) {
    if (!(x >= rings->low.x && x <= rings->high.x && y >= rings->low.y && y <= rings->high.y))
        return false;
    bool inside = false;
    for (int r = 0; r < rings->ring_count; ++r) {
        th_point a = rings->points[rings->start[r + 1] - 1];
        for (int i = rings->start[r]; i < rings->start[r + 1]; ++i) {
            th_point b = rings->points[i];
            if ((a.y <= y) != (b.y <= y) && a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) > x)
                inside = !inside;
            a = b;
        }
    }
    return inside;
}

bool th_rings_convex(const th_rings *rings) {
    if (rings->ring_count != 1) return false;
    int count = th_rings_points(rings);
    for (int i = 0; i < count; ++i) {
        th_point a = rings->points[i], b = rings->points[(i + 1) % count],
                 c = rings->points[(i + 2) % count];
        if ((b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) < 0.0) return false;
    }
    return true;
}

// ---- edges

enum { GRID_SIDE_MAX = 256 }; // cells along either axis

static int cell_of(double offset, double cell, int count) {
    double at = floor(offset / cell);
    return at < 0.0 ? 0 : at >= count ? count - 1 : (int)at;
}

typedef struct cell_range {
    int x0, y0, x1, y1;
} cell_range;

static cell_range cells_under(const th_edges *edges, th_point low, th_point high) {
    const th_point corner = edges->rings->low;
    return (cell_range){cell_of(low.x - corner.x, edges->cell, edges->nx),
                        cell_of(low.y - corner.y, edges->cell, edges->ny),
                        cell_of(high.x - corner.x, edges->cell, edges->nx),
                        cell_of(high.y - corner.y, edges->cell, edges->ny)};
}

// Counts (edge NULL) or puts in.
static void put_edges(th_edges *edges) {
    const th_rings *rings = edges->rings;
    for (int k = 0; k < th_rings_points(rings); ++k) {
        th_point a = rings->points[k], b = rings->points[edges->after[k]];
        cell_range r = cells_under(edges, (th_point){fmin(a.x, b.x), fmin(a.y, b.y)},
                                   (th_point){fmax(a.x, b.x), fmax(a.y, b.y)});
        for (int y = r.y0; y <= r.y1; ++y)
            for (int x = r.x0; x <= r.x1; ++x) {
                int *slot = &edges->cell_start[y * edges->nx + x];
                if (edges->edge) edges->edge[--*slot] = k;
                if (!edges->edge) ++*slot;
            }
    }
}

static void choose_cells(th_edges *edges) {
    const th_rings *rings = edges->rings;
    double width = fmax(rings->high.x - rings->low.x, 1e-6);
    double height = fmax(rings->high.y - rings->low.y, 1e-6);
    // About a cell of the Voronoi diagram wide [m]; coarser for large plans.
    edges->cell = fmax(1.0, fmax(width, height) / GRID_SIDE_MAX);
    edges->nx = (int)fmin(ceil(width / edges->cell), GRID_SIDE_MAX);
    edges->ny = (int)fmin(ceil(height / edges->cell), GRID_SIDE_MAX);
}

bool th_edges_make(const th_rings *rings, th_edges *edges) {
    *edges = (th_edges){.rings = rings};
    int points = th_rings_points(rings);
    int *after = calloc((size_t)points + 1, sizeof *after);
    if (!after) return false;
    for (int r = 0; r < rings->ring_count; ++r)
        for (int i = rings->start[r]; i < rings->start[r + 1]; ++i)
            after[i] = i + 1 < rings->start[r + 1] ? i + 1 : rings->start[r];
    edges->after = after;
    choose_cells(edges);
    size_t cells = (size_t)edges->nx * (size_t)edges->ny;
    edges->cell_start = calloc(cells + 1, sizeof *edges->cell_start);
    if (!edges->cell_start) return false;
    put_edges(edges);
    for (size_t c = 1; c <= cells; ++c) edges->cell_start[c] += edges->cell_start[c - 1];
    edges->edge = calloc((size_t)edges->cell_start[cells] + 1, sizeof *edges->edge);
    if (!edges->edge) return false;
    put_edges(edges); // counts down from the end of every cell to its start
    return true;
}

void th_edges_release(th_edges *edges) {
    free((int *)edges->after);
    free(edges->cell_start);
    free(edges->edge);
    *edges = (th_edges){0};
}

// The part of the segment left of every edge of the polygon has a length. Tolerance: an edge that runs
// along a side is outside.
static bool runs_through(th_point a, th_point b, const th_point *corners, int count) {
    double from = 0.0, to = 1.0;
    for (int i = 0; i < count; ++i) {
        th_point p = corners[i], q = corners[(i + 1) % count];
        double nx = p.y - q.y, ny = q.x - p.x; // inward
        double side_a = nx * (a.x - p.x) + ny * (a.y - p.y);
        double side_b = nx * (b.x - p.x) + ny * (b.y - p.y);
        if (side_a <= 0.0 && side_b <= 0.0) return false;
        if (side_a < 0.0) from = fmax(from, side_a / (side_a - side_b));
        if (side_b < 0.0) to = fmin(to, side_a / (side_a - side_b));
    }
    return from < to;
}

bool th_edges_cross(const th_edges *edges, const th_point *corners, int count) {
    if (count == 0) return false;
    th_point low = corners[0], high = corners[0];
    for (int i = 1; i < count; ++i) {
        low = (th_point){fmin(low.x, corners[i].x), fmin(low.y, corners[i].y)};
        high = (th_point){fmax(high.x, corners[i].x), fmax(high.y, corners[i].y)};
    }
    cell_range r = cells_under(edges, low, high);
    const th_point *points = edges->rings->points;
    for (int y = r.y0; y <= r.y1; ++y)
        for (int x = r.x0; x <= r.x1; ++x) {
            int cell = y * edges->nx + x;
            for (int k = edges->cell_start[cell]; k < edges->cell_start[cell + 1]; ++k) {
                int first = edges->edge[k];
                if (runs_through(points[first], points[edges->after[first]], corners, count))
                    return true;
            }
        }
    return false;
}
