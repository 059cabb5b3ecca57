// GEOS, wrapped: shapes -> geometries -> rings of floats. All in the scene's own double coordinates until
// the origin is taken off. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_GEOMETRY_H
#define TH_CORE_GEOMETRY_H
#include "core/file.h"
#include "throng/scene_view.h"
#include <geos_c.h>

#define TH_COORDINATE_MAX 1e8             // [m] beyond any map projection
enum { TH_LINKED_BYTES_MAX = 128 << 20 }; // bytes of all linked files

typedef struct th_geometry {
    GEOSContextHandle_t geos;
    char message[256]; // what GEOS last complained about
    th_arena *arena;   // for the texts of linked files
    th_link_scope links;
    bool no_files;
    size_t linked_bytes; // of the linked files read
} th_geometry;

bool th_geometry_open(th_geometry *geometry);
void th_geometry_close(th_geometry *geometry);

// Valid polygons (unioned), or lines when `lines`. NULL with an error; the caller destroys it.
GEOSGeometry *th_geometry_parse(th_geometry *geometry, const th_shape *shape, bool lines,
                                const char *path, th_error *error);
static inline bool th_shape_empty(const th_shape *shape) {
    return !shape->wkt && !shape->file && shape->point_count == 0 && !shape->points;
}

// Are there more than TH_CROSSING_MAX places where the outlines and lines of the shapes cross each other? Joining
// them takes 20 us and a kilobyte for each. Where they touch or lie on each other does not count. False as well
// without memory, or when it would take more than half a second to say.
#define TH_CROSSING_MAX 150000
bool th_geometry_tangled(th_geometry *geometry, GEOSGeometry *const *shapes, int count);

// Snaps shapes together that lie two millimetres or less beside each other, so that their union has no slit. Where it would take more
// than half a second, some are left. False: no memory.
bool th_geometry_close_seams(th_geometry *geometry, GEOSGeometry **shapes, int count,
                             bool *changed);

// Grows a box by everything in a geometry.
void th_geometry_extend(th_geometry *geometry, const GEOSGeometry *shape, th_point *low,
                        th_point *high);
double th_geometry_area(th_geometry *geometry, const GEOSGeometry *shape);
// Area common to both; the whole area of `a` when b is NULL.
double th_geometry_common_area(th_geometry *geometry, const GEOSGeometry *a, const GEOSGeometry *b);

// Calls `visit` for every ring or line; `hole` for interior rings. Points are relative to the origin and
// rounded to float. Rings repeat their first point. False: no memory, or visit said so.
typedef bool th_visit_fn(void *context, const th_vec2 *points, int count, bool ring, bool hole);
bool th_geometry_visit(th_geometry *geometry, const GEOSGeometry *shape, th_point origin,
                       th_visit_fn *visit, void *context);

// Rings and area in the arena. False: no memory.
bool th_geometry_polygons(th_geometry *geometry, const GEOSGeometry *shape, th_point origin,
                          th_arena *arena, th_polygons *polygons);
#endif
