// Polygons, rings and their edges, and the regions made of them. SPDX-License-Identifier: Apache-2.0
#include "observe/region.h"
#include "core/error.h"
#include "core/memory.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- polygons

// Corners, rings and edges. A clip costs O(corners); asking which edges run through a polygon costs those of the grid
// cells under it.

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

// Does a part of the segment lie to the left of every edge of the polygon? Tolerance: an edge that runs along a side is
// outside.
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

// ---- regions

// Regions: made from WKT, asked for points and for what people own. A region is made once and holds everything that
// its measurements need again, so that a moment allocates nothing in an even crowd.

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the area that is measured; free some");
}

static void release_ground(th_geometry *geometry, th_free_ground *ground) {
    if (ground->shape) GEOSGeom_destroy_r(geometry->geos, ground->shape);
    th_rings_release(&ground->rings);
    th_edges_release(&ground->edges);
    *ground = (th_free_ground){0};
}

// Takes the shape over, also when it fails.
static bool fill_ground(th_geometry *geometry, GEOSGeometry *shape, th_free_ground *ground) {
    *ground = (th_free_ground){.shape = shape};
    if (!th_rings_take(geometry, shape, &ground->rings) ||
        !th_edges_make(&ground->rings, &ground->edges))
        return false;
    ground->convex = th_rings_convex(&ground->rings);
    return true;
}

static void release_work(th_geometry *geometry, th_region_work *work) {
    if (!work) return;
    free(work->near);
    th_point_grid_release(&work->grid);
    th_corners_release(&work->cell.corners);
    th_corners_release(&work->start);
    th_corners_release(&work->spare);
    th_corners_release(&work->clipped);
    release_ground(geometry, &work->local);
    free(work);
}

void th_region_destroy(th_region *region) {
    if (!region) return;
    if (region->geometry.geos) {
        release_work(&region->geometry, region->work);
        release_ground(&region->geometry, &region->ground);
        if (region->shape) GEOSGeom_destroy_r(region->geometry.geos, region->shape);
    }
    th_rings_release(&region->area);
    th_rings_release(&region->measured);
    th_geometry_close(&region->geometry);
    free(region);
}

static th_result fill_measured(th_region *region, th_error *error) {
    GEOSContextHandle_t geos = region->geometry.geos;
    GEOSGeometry *common = NULL, *measured = region->shape;
    if (region->ground.shape)
        measured = common = GEOSIntersection_r(geos, region->shape, region->ground.shape);
    if (!measured) return no_memory(error);
    region->size = th_geometry_area(&region->geometry, measured);
    bool taken = th_rings_take(&region->geometry, measured, &region->measured);
    if (common) GEOSGeom_destroy_r(geos, common);
    if (!taken) return no_memory(error);
    if (!(region->size > 0.0))
        return th_fail(error, TH_BAD_ARGUMENT, "area",
                       "no part of it is walkable; is it in the coordinates of the walkable area?");
    return TH_OK;
}

static th_result fill_region(th_region *region, const char *walkable, const char *area,
                             th_error *error) {
    region->work = calloc(1, sizeof *region->work);
    if (!region->work || !th_geometry_open(&region->geometry)) return no_memory(error);
    th_error why = {0};
    if (walkable) {
        const th_shape text = {.wkt = walkable};
        GEOSGeometry *shape = th_geometry_parse(&region->geometry, &text, false, "walkable", &why);
        if (!shape) return th_fail(error, TH_BAD_ARGUMENT, "walkable", "%s", why.message);
        if (!fill_ground(&region->geometry, shape, &region->ground)) return no_memory(error);
    }
    const th_shape text = {.wkt = area};
    region->shape = th_geometry_parse(&region->geometry, &text, false, "area", &why);
    if (!region->shape) return th_fail(error, TH_BAD_ARGUMENT, "area", "%s", why.message);
    if (!th_rings_take(&region->geometry, region->shape, &region->area)) return no_memory(error);
    region->area_convex = th_rings_convex(&region->area);
    return fill_measured(region, error);
}

th_result th_region_create(const char *walkable, const char *area, th_region **out,
                           th_error *error) {
    *out = NULL;
    if (!area) area = walkable;
    if (!area)
        return th_fail(error, TH_BAD_ARGUMENT, "area", "nothing to measure in; name an area");
    th_region *region = calloc(1, sizeof *region);
    if (!region) return no_memory(error);
    th_result result = fill_region(region, walkable, area, error);
    if (result != TH_OK) {
        th_region_destroy(region);
        return result;
    }
    *out = region;
    return TH_OK;
}

double th_region_area(const th_region *region) { return region->size; }

bool th_region_holds(const th_region *region, double x, double y) {
    return th_rings_hold(&region->area, x, y);
}

const th_free_ground *th_region_ground(const th_region *region, double reach) {
    const th_free_ground *whole = &region->ground;
    th_region_work *work = region->work;
    th_point low = region->area.low, high = region->area.high;
    if (!whole->shape ||
        (low.x - reach <= whole->rings.low.x && low.y - reach <= whole->rings.low.y &&
         high.x + reach >= whole->rings.high.x && high.y + reach >= whole->rings.high.y))
        return whole;
    if (work->local.shape && work->local_reach == reach) return &work->local;
    th_geometry geometry = region->geometry;
    release_ground(&geometry, &work->local);
    GEOSGeometry *box = GEOSGeom_createRectangle_r(geometry.geos, low.x - reach, low.y - reach,
                                                   high.x + reach, high.y + reach);
    GEOSGeometry *shape = box ? GEOSIntersection_r(geometry.geos, box, whole->shape) : NULL;
    if (box) GEOSGeom_destroy_r(geometry.geos, box);
    work->local_reach = reach;
    return shape && fill_ground(&geometry, shape, &work->local) ? &work->local : NULL;
}

// ---- what people own

// Area of the cell's corners (or of rings that lie within it) that is in the measured area.
static bool measure_corners(const th_region *region, const th_point *corners, int count,
                            double *area) {
    th_region_work *work = region->work;
    if (!th_corners_copy(&work->clipped, corners, count)) return false;
    int clipper = th_rings_points(&region->area);
    if (!th_clip_convex(&work->clipped, region->area.points, clipper, &work->spare)) return false;
    *area = th_signed_area(work->clipped.at, work->clipped.count);
    return true;
}

// The same for an area of any shape: its rings, cut by the convex cell.
static bool measure_rings(const th_region *region, const th_corners *cell, double *area) {
    th_region_work *work = region->work;
    *area = 0.0;
    for (int r = 0; r < region->area.ring_count; ++r) {
        int start = region->area.start[r], count = region->area.start[r + 1] - start;
        if (!th_corners_copy(&work->clipped, region->area.points + start, count) ||
            !th_clip_convex(&work->clipped, cell->at, cell->count, &work->spare))
            return false;
        *area += th_signed_area(work->clipped.at, work->clipped.count);
    }
    return true;
}

static bool apart(const th_region *region, const th_corners *cell) {
    bool left = true, right = true, below = true, above = true;
    for (int i = 0; i < cell->count; ++i) {
        left = left && cell->at[i].x <= region->area.low.x;
        right = right && cell->at[i].x >= region->area.high.x;
        below = below && cell->at[i].y <= region->area.low.y;
        above = above && cell->at[i].y >= region->area.high.y;
    }
    return left || right || below || above;
}

static bool own_whole_cell(const th_region *region, th_owned *owned) {
    const th_corners *cell = &region->work->cell.corners;
    owned->own = th_signed_area(cell->at, cell->count);
    if (apart(region, cell)) return true;
    return region->area_convex ? measure_corners(region, cell->at, cell->count, &owned->measured)
                               : measure_rings(region, cell, &owned->measured);
}

static GEOSGeometry *polygon_of(GEOSContextHandle_t geos, const th_corners *corners) {
    unsigned count = (unsigned)corners->count;
    GEOSCoordSequence *sequence = GEOSCoordSeq_create_r(geos, count + 1, 2);
    for (unsigned i = 0; sequence && i <= count; ++i)
        GEOSCoordSeq_setXY_r(geos, sequence, i, corners->at[i % count].x, corners->at[i % count].y);
    GEOSGeometry *ring = sequence ? GEOSGeom_createLinearRing_r(geos, sequence) : NULL;
    return ring ? GEOSGeom_createPolygon_r(geos, ring, NULL, 0) : NULL;
}

// The part of a collection that is nearest to the person: it holds them unless they stand outside.
static const GEOSGeometry *piece_of(GEOSContextHandle_t geos, const GEOSGeometry *pieces, double x,
                                    double y) {
    int count = GEOSGetNumGeometries_r(geos, pieces);
    if (count == 1) return GEOSGetGeometryN_r(geos, pieces, 0);
    GEOSGeometry *person = GEOSGeom_createPointFromXY_r(geos, x, y);
    const GEOSGeometry *best = NULL;
    double nearest = HUGE_VAL;
    for (int i = 0; person && i < count; ++i) {
        const GEOSGeometry *piece = GEOSGetGeometryN_r(geos, pieces, i);
        double distance = HUGE_VAL;
        if (GEOSGeomTypeId_r(geos, piece) == GEOS_POLYGON &&
            GEOSDistance_r(geos, piece, person, &distance) && distance < nearest) {
            nearest = distance;
            best = piece;
        }
    }
    if (person) GEOSGeom_destroy_r(geos, person);
    return best;
}

static bool measure_piece(const th_region *region, const GEOSGeometry *piece, double *area) {
    th_geometry geometry = region->geometry;
    if (!region->area_convex) {
        *area = th_geometry_common_area(&geometry, piece, region->shape);
        return true;
    }
    th_rings rings;
    if (!th_rings_take(&geometry, piece, &rings)) return false;
    bool good = true;
    for (int r = 0; good && r < rings.ring_count; ++r) {
        double part = 0.0;
        int start = rings.start[r];
        good = measure_corners(region, rings.points + start, rings.start[r + 1] - start, &part);
        *area += part;
    }
    th_rings_release(&rings);
    return good;
}

// A wall runs through the cell.
static bool own_piece(const th_region *region, const th_free_ground *ground, double x, double y,
                      th_owned *owned) {
    GEOSContextHandle_t geos = region->geometry.geos;
    GEOSGeometry *cell = polygon_of(geos, &region->work->cell.corners);
    if (!cell) return false;
    GEOSGeometry *pieces = GEOSIntersection_r(geos, cell, ground->shape);
    GEOSGeom_destroy_r(geos, cell);
    if (!pieces) return false;
    bool good = true;
    const GEOSGeometry *piece = piece_of(geos, pieces, x, y);
    if (piece && GEOSGeomTypeId_r(geos, piece) == GEOS_POLYGON) {
        GEOSArea_r(geos, piece, &owned->own);
        if (!apart(region, &region->work->cell.corners))
            good = measure_piece(region, piece, &owned->measured);
    }
    GEOSGeom_destroy_r(geos, pieces);
    return good;
}

bool th_region_own(const th_region *region, const th_free_ground *ground, double x, double y,
                   th_owned *owned) {
    th_corners *cell = &region->work->cell.corners;
    *owned = (th_owned){0};
    if (cell->count < 3) return true;
    if (ground->convex && !th_clip_convex(cell, ground->rings.points,
                                          th_rings_points(&ground->rings), &region->work->spare))
        return false;
    if (!ground->shape || ground->convex) return own_whole_cell(region, owned);
    if (th_edges_cross(&ground->edges, cell->at, cell->count))
        return own_piece(region, ground, x, y, owned);
    return th_rings_hold(&ground->rings, x, y) ? own_whole_cell(region, owned) : true;
}

// ---- areas and lines as a user types them

static const char *after_spaces(const char *at) {
    while (isspace((unsigned char)*at)) ++at;
    return at;
}

// Four finite numbers with commas between them and nothing behind.
static bool read_box(const char *text, double box[4]) {
    const char *at = text;
    for (int k = 0; k < 4; ++k) {
        char *end;
        box[k] = strtod(at, &end);
        if (end == at || !isfinite(box[k]) || fabs(box[k]) > 1e8) return false;
        at = after_spaces(end);
        if (*at != (k < 3 ? ',' : '\0')) return false;
        ++at;
    }
    return true;
}

th_result th_place_text_read(const char *text, th_place_text *place, th_error *error) {
    *place = (th_place_text){.wkt = text};
    const char *equals = strchr(text, '=');
    if (equals) {
        size_t length = (size_t)(equals - text);
        if (length == 0 || length >= sizeof place->name)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "'%.80s': the name before '=' has 1 to %zu bytes", text,
                           sizeof place->name - 1);
        memcpy(place->name, text, length);
        place->wkt = equals + 1;
    }
    place->wkt = after_spaces(place->wkt);
    if (read_box(place->wkt, place->box)) {
        place->is_box = true;
        return TH_OK;
    }
    if (isalpha((unsigned char)place->wkt[0]) && strchr(place->wkt, '(')) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "'%.80s' is neither four numbers x0,y0,x1,y1 nor a POLYGON ((x y, ...)); with a "
                   "name: NAME=x0,y0,x1,y1",
                   text);
}

void th_place_rectangle(const th_place_text *place, char *wkt, size_t size) {
    double x0 = fmin(place->box[0], place->box[2]), x1 = fmax(place->box[0], place->box[2]);
    double y0 = fmin(place->box[1], place->box[3]), y1 = fmax(place->box[1], place->box[3]);
    if (size > 0) wkt[0] = '\0';
    if (!(x1 > x0) || !(y1 > y0)) return;
    snprintf(wkt, size, "POLYGON ((%.9g %.9g, %.9g %.9g, %.9g %.9g, %.9g %.9g, %.9g %.9g))", x0, y0,
             x1, y0, x1, y1, x0, y1, x0, y0);
}
