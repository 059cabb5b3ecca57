// GEOS, wrapped. SPDX-License-Identifier: Apache-2.0
#include "core/geometry.h"
#include "core/error.h"
#include "core/file.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// GEOS reads nested text by recursion; a plan never needs more than a few levels.
enum { NESTING_LIMIT = 24, POINT_LIMIT = 8 * 1024 * 1024 };

static void note_message(const char *text, void *context) {
    th_geometry *geometry = context;
    snprintf(geometry->message, sizeof geometry->message, "%s", text);
}

bool th_geometry_open(th_geometry *geometry) {
    geometry->geos = GEOS_init_r();
    if (!geometry->geos) return false;
    GEOSContext_setErrorMessageHandler_r(geometry->geos, note_message, geometry);
    GEOSContext_setNoticeMessageHandler_r(geometry->geos, note_message, geometry);
    return true;
}

void th_geometry_close(th_geometry *geometry) {
    if (geometry->geos) GEOS_finish_r(geometry->geos);
    geometry->geos = NULL;
}

static bool nested_too_deep(const char *text) {
    int depth = 0;
    for (; *text; ++text) {
        if (*text == '(' || *text == '[' || *text == '{') ++depth;
        if (*text == ')' || *text == ']' || *text == '}') --depth;
        if (depth > NESTING_LIMIT) return true;
    }
    return false;
}

// GEOS quotes what it could not read. The text of a linked file stays out of messages, which go to the sender of the
// scene.
static void cut_quotes(char *message) {
    size_t length = strcspn(message, "'\"");
    if (message[length] == '\0') return;
    while (length > 0 && strchr(" :;-(", message[length - 1])) --length;
    message[length] = '\0';
}

static GEOSGeometry *from_wkt(th_geometry *g, const char *text, bool linked, const char *path,
                              th_error *error) {
    GEOSGeometry *shape = NULL;
    snprintf(g->message, sizeof g->message, "too deeply nested");
    if (!nested_too_deep(text)) {
        GEOSWKTReader *reader = GEOSWKTReader_create_r(g->geos);
        if (reader) shape = GEOSWKTReader_read_r(g->geos, reader, text);
        if (reader) GEOSWKTReader_destroy_r(g->geos, reader);
    }
    if (linked) cut_quotes(g->message);
    if (!shape)
        th_fail(error, TH_BAD_SCENE, path,
                "not valid WKT: %.200s; e.g. \"POLYGON ((0 0, 10 0, 10 5, 0 5, 0 0))\", and "
                "{\"file\": name} for a linked file",
                g->message);
    return shape;
}

// An empty list within a list, as in [[], [1, 2]]: a place without coordinates, past whose end GEOS 3.11 reads. A list
// is within a list where a bracket or a comma stands before it, not a colon.
static bool has_empty_place(const char *text) {
    char before_list = 0, last = 0;
    bool in_string = false;
    for (; *text; ++text) {
        if (in_string && *text == '\\' && text[1]) {
            ++text;
            continue;
        }
        if (*text == '"') in_string = !in_string;
        if (in_string || isspace((unsigned char)*text)) continue;
        if (*text == ']' && last == '[' && (before_list == '[' || before_list == ',')) return true;
        if (*text == '[') before_list = last;
        last = *text;
    }
    return false;
}

static GEOSGeometry *from_geojson(th_geometry *g, const char *text, const char *name,
                                  const char *path, th_error *error) {
    GEOSGeometry *shape = NULL;
    bool empty = has_empty_place(text);
    snprintf(g->message, sizeof g->message,
             empty ? "a place has no coordinates" : "too deeply nested");
    if (!empty && !nested_too_deep(text)) {
        GEOSGeoJSONReader *reader = GEOSGeoJSONReader_create_r(g->geos);
        if (reader) shape = GEOSGeoJSONReader_readGeometry_r(g->geos, reader, text);
        if (reader) GEOSGeoJSONReader_destroy_r(g->geos, reader);
    }
    cut_quotes(g->message);
    if (!shape)
        th_fail(error, TH_BAD_SCENE, path, "%.200s is not valid GeoJSON: %.200s", name, g->message);
    return shape;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static GEOSGeometry *from_file(th_geometry *g, const char *name, const char *path,
                               th_error *error) {
    if (g->no_files) {
        th_fail(error, TH_NO_FILE, path, "linked files are not allowed here; put the shape inline");
        return NULL;
    }
    bool geojson = ends_with(name, ".geojson") || ends_with(name, ".json");
    if (!geojson && !ends_with(name, ".wkt")) {
        th_fail(error, TH_BAD_SCENE, path, "%.200s: a linked shape is a .wkt or .geojson file",
                name);
        return NULL;
    }
    char *text;
    size_t length;
    if (th_file_read(g->arena, g->links, name, path, &text, &length, error) != TH_OK) return NULL;
    g->linked_bytes += length;
    if (g->linked_bytes > TH_LINKED_BYTES_MAX) {
        th_fail(error, TH_BAD_SCENE, path, "the linked files are larger than %d MiB together",
                TH_LINKED_BYTES_MAX >> 20);
        return NULL;
    }
    return geojson ? from_geojson(g, text, name, path, error)
                   : from_wkt(g, text, true, path, error);
}

static bool finite_point(th_point p) {
    return fabs(p.x) <= TH_COORDINATE_MAX && fabs(p.y) <= TH_COORDINATE_MAX;
}

static GEOSCoordSequence *sequence_of(th_geometry *g, const th_point *points, int count,
                                      bool close) {
    GEOSCoordSequence *sequence =
        GEOSCoordSeq_create_r(g->geos, (unsigned)count + (close ? 1u : 0u), 2);
    for (int i = 0; sequence && i < count; ++i)
        GEOSCoordSeq_setXY_r(g->geos, sequence, (unsigned)i, points[i].x, points[i].y);
    if (sequence && close)
        GEOSCoordSeq_setXY_r(g->geos, sequence, (unsigned)count, points[0].x, points[0].y);
    return sequence;
}

static GEOSGeometry *from_points(th_geometry *g, const th_shape *shape, bool lines,
                                 const char *path, th_error *error) {
    int count = shape->point_count, least = lines ? 2 : 3;
    for (int i = 0; i < count; ++i)
        if (!finite_point(shape->points[i])) {
            th_fail(error, TH_BAD_SCENE, path, "point %d (%g, %g) is not a place on earth", i,
                    shape->points[i].x, shape->points[i].y);
            return NULL;
        }
    bool closed = count > 1 && shape->points[0].x == shape->points[count - 1].x &&
                  shape->points[0].y == shape->points[count - 1].y;
    if (count - (closed && !lines) < least || count > POINT_LIMIT) {
        th_fail(error, TH_BAD_SCENE, path, "%d points; a %s needs at least %d", count,
                lines ? "line" : "polygon", least);
        return NULL;
    }
    GEOSCoordSequence *sequence = sequence_of(g, shape->points, count, !lines && !closed);
    GEOSGeometry *result = NULL;
    if (sequence && lines) {
        result = GEOSGeom_createLineString_r(g->geos, sequence);
    } else if (sequence) {
        GEOSGeometry *ring = GEOSGeom_createLinearRing_r(g->geos, sequence);
        if (ring) result = GEOSGeom_createPolygon_r(g->geos, ring, NULL, 0);
    }
    if (!result) th_fail(error, TH_BAD_SCENE, path, "not a usable shape: %.200s", g->message);
    return result;
}

// Every part must be of the wanted kind, finite and not empty.
static bool check_parts(th_geometry *g, const GEOSGeometry *shape, bool lines, const char *path,
                        th_error *error) {
    int type = GEOSGeomTypeId_r(g->geos, shape);
    if (type >= GEOS_MULTIPOINT && type <= GEOS_GEOMETRYCOLLECTION) {
        int count = GEOSGetNumGeometries_r(g->geos, shape);
        for (int i = 0; i < count; ++i)
            if (!check_parts(g, GEOSGetGeometryN_r(g->geos, shape, i), lines, path, error))
                return false;
        return true;
    }
    bool is_line = type == GEOS_LINESTRING || type == GEOS_LINEARRING;
    if (lines ? !is_line : type != GEOS_POLYGON) {
        char *name = GEOSGeomType_r(g->geos, shape);
        th_fail(error, TH_BAD_SCENE, path, "expected %s, found a %s", lines ? "lines" : "polygons",
                name ? name : "?");
        if (name) GEOSFree_r(g->geos, name);
        return false;
    }
    double x0 = HUGE_VAL, y0 = HUGE_VAL, x1 = HUGE_VAL, y1 = HUGE_VAL;
    if (!GEOSisEmpty_r(g->geos, shape)) {
        GEOSGeom_getXMin_r(g->geos, shape, &x0);
        GEOSGeom_getYMin_r(g->geos, shape, &y0);
        GEOSGeom_getXMax_r(g->geos, shape, &x1);
        GEOSGeom_getYMax_r(g->geos, shape, &y1);
    }
    if (!finite_point((th_point){x0, y0}) || !finite_point((th_point){x1, y1})) {
        th_fail(error, TH_BAD_SCENE, path, "the shape is empty or not on earth");
        return false;
    }
    return true;
}

static bool check_valid(th_geometry *g, const GEOSGeometry *shape, const char *path,
                        th_error *error) {
    char *reason = NULL;
    GEOSGeometry *place = NULL;
    char valid = GEOSisValidDetail_r(g->geos, shape, 0, &reason, &place);
    if (valid != 1) {
        double x = HUGE_VAL, y = HUGE_VAL;
        if (place) {
            GEOSGeomGetX_r(g->geos, place, &x);
            GEOSGeomGetY_r(g->geos, place, &y);
        }
        bool crossing = reason && strstr(reason, "Self-intersection");
        if (crossing)
            th_fail(
                error, TH_BAD_SCENE, path,
                "the outline crosses itself at (%.10g, %.10g); put the points in order around the "
                "shape",
                x, y);
        else
            th_fail(error, TH_BAD_SCENE, path, "not a valid polygon: %s at (%.10g, %.10g)",
                    reason ? reason : "unknown reason", x, y);
    }
    if (reason) GEOSFree_r(g->geos, reason);
    if (place) GEOSGeom_destroy_r(g->geos, place);
    return valid == 1;
}

// Checks the parts one by one: GEOS would call a collection invalid whose polygons overlap, which is allowed here.
static bool check_polygons(th_geometry *g, const GEOSGeometry *shape, const char *path,
                           th_error *error) {
    int type = GEOSGeomTypeId_r(g->geos, shape);
    if (type != GEOS_MULTIPOLYGON && type != GEOS_GEOMETRYCOLLECTION)
        return check_valid(g, shape, path, error);
    int count = GEOSGetNumGeometries_r(g->geos, shape);
    for (int i = 0; i < count; ++i)
        if (!check_polygons(g, GEOSGetGeometryN_r(g->geos, shape, i), path, error)) return false;
    return true;
}

typedef struct segment {
    th_vec2 a, b; // a.x <= b.x
} segment;

typedef struct segments {
    const th_memory *memory;
    segment *list;
    int count, capacity;
} segments;

static bool add_segments(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)ring;
    (void)hole;
    segments *all = context;
    if (!th_alloc_reserve(all->memory, &all->list, &all->capacity, all->count + count,
                          sizeof *all->list))
        return false;
    for (int i = 0; i + 1 < count; ++i) {
        bool turned = points[i].x > points[i + 1].x;
        all->list[all->count++] = (segment){points[i + turned], points[i + !turned]};
    }
    return true;
}

static int compare_segments(const void *left, const void *right) {
    const segment *a = left, *b = right;
    return (a->a.x > b->a.x) - (a->a.x < b->a.x);
}

static double turn(th_vec2 a, th_vec2 b, th_vec2 c) {
    return ((double)b.x - (double)a.x) * ((double)c.y - (double)a.y) -
           ((double)b.y - (double)a.y) * ((double)c.x - (double)a.x);
}

static bool cross(const segment *p, const segment *q) {
    return turn(p->a, p->b, q->a) * turn(p->a, p->b, q->b) < 0.0 &&
           turn(q->a, q->b, p->a) * turn(q->a, q->b, p->b) < 0.0;
}

// The segments in the order of their left ends.
static bool too_many_crossings(const segments *all) {
    int64_t crossings = 0, pairs = 0;
    for (int i = 0; i < all->count && pairs < 50000000; ++i)
        for (int k = i + 1; k < all->count && all->list[k].a.x <= all->list[i].b.x; ++k, ++pairs) {
            crossings += cross(&all->list[i], &all->list[k]);
            if (crossings > TH_CROSSING_MAX) return true;
        }
    return false;
}

bool th_geometry_tangled(th_geometry *g, GEOSGeometry *const *shapes, int count) {
    double corners = 0.0;
    for (int i = 0; i < count; ++i) corners += GEOSGetNumCoordinates_r(g->geos, shapes[i]);
    if (0.5 * corners * corners <= TH_CROSSING_MAX) return false;
    segments all = {.memory = &g->arena->memory};
    th_point origin = {0.0, 0.0}; // near the shapes: they are rounded to float
    bool good = true;
    GEOSGeom_getXMin_r(g->geos, shapes[0], &origin.x);
    GEOSGeom_getYMin_r(g->geos, shapes[0], &origin.y);
    for (int i = 0; i < count && good; ++i)
        good = th_geometry_visit(g, shapes[i], origin, add_segments, &all);
    bool tangled = false;
    if (good && all.count) {
        qsort(all.list, (size_t)all.count, sizeof *all.list, compare_segments);
        tangled = too_many_crossings(&all);
    }
    th_dealloc(all.memory, all.list, (size_t)all.capacity, sizeof *all.list);
    return tangled;
}

static bool check_tangle(th_geometry *g, GEOSGeometry *shape, const char *path, th_error *error) {
    if (!th_geometry_tangled(g, &shape, 1)) return true;
    th_fail(error, TH_BAD_SCENE, path, "the lines cross each other more than %d times",
            TH_CROSSING_MAX);
    return false;
}

GEOSGeometry *th_geometry_parse(th_geometry *g, const th_shape *shape, bool lines, const char *path,
                                th_error *error) {
    GEOSGeometry *parsed = shape->wkt    ? from_wkt(g, shape->wkt, false, path, error)
                           : shape->file ? from_file(g, shape->file, path, error)
                                         : from_points(g, shape, lines, path, error);
    if (!parsed) return NULL;
    GEOSGeometry *merged = NULL;
    if (check_parts(g, parsed, lines, path, error) &&
        (lines || check_polygons(g, parsed, path, error)) && check_tangle(g, parsed, path, error)) {
        merged = GEOSUnaryUnion_r(g->geos, parsed);
        if (!merged || GEOSisEmpty_r(g->geos, merged)) {
            th_fail(error, TH_BAD_SCENE, path, "the shape is empty");
            if (merged) GEOSGeom_destroy_r(g->geos, merged);
            merged = NULL;
        }
    }
    GEOSGeom_destroy_r(g->geos, parsed);
    return merged;
}

void th_geometry_extend(th_geometry *g, const GEOSGeometry *shape, th_point *low, th_point *high) {
    double x0, y0, x1, y1;
    if (!shape || GEOSisEmpty_r(g->geos, shape)) return;
    GEOSGeom_getXMin_r(g->geos, shape, &x0);
    GEOSGeom_getYMin_r(g->geos, shape, &y0);
    GEOSGeom_getXMax_r(g->geos, shape, &x1);
    GEOSGeom_getYMax_r(g->geos, shape, &y1);
    low->x = fmin(low->x, x0);
    low->y = fmin(low->y, y0);
    high->x = fmax(high->x, x1);
    high->y = fmax(high->y, y1);
}

double th_geometry_area(th_geometry *g, const GEOSGeometry *shape) {
    double area = 0.0;
    if (shape) GEOSArea_r(g->geos, shape, &area);
    return area;
}

double th_geometry_common_area(th_geometry *g, const GEOSGeometry *a, const GEOSGeometry *b) {
    if (!b) return th_geometry_area(g, a);
    GEOSGeometry *common = GEOSIntersection_r(g->geos, a, b);
    double area = th_geometry_area(g, common);
    if (common) GEOSGeom_destroy_r(g->geos, common);
    return area;
}

static bool visit_line(th_geometry *g, const GEOSGeometry *line, th_point origin, bool ring,
                       bool hole, th_visit_fn *visit, void *context) {
    const GEOSCoordSequence *sequence = GEOSGeom_getCoordSeq_r(g->geos, line);
    unsigned size = 0;
    if (!sequence || !GEOSCoordSeq_getSize_r(g->geos, sequence, &size) || size == 0) return true;
    const th_memory *memory = &g->arena->memory;
    th_vec2 *points = th_alloc(memory, size, sizeof *points);
    if (!points) return false;
    for (unsigned i = 0; i < size; ++i) {
        double x = 0.0, y = 0.0;
        GEOSCoordSeq_getXY_r(g->geos, sequence, i, &x, &y);
        points[i].x = (float)(x - origin.x);
        points[i].y = (float)(y - origin.y);
    }
    bool good = visit(context, points, (int)size, ring, hole);
    th_dealloc(memory, points, size, sizeof *points);
    return good;
}

bool th_geometry_visit(th_geometry *g, const GEOSGeometry *shape, th_point origin,
                       th_visit_fn *visit, void *context) {
    if (!shape || GEOSisEmpty_r(g->geos, shape)) return true;
    int type = GEOSGeomTypeId_r(g->geos, shape);
    if (type == GEOS_LINESTRING || type == GEOS_LINEARRING)
        return visit_line(g, shape, origin, false, false, visit, context);
    if (type == GEOS_POLYGON) {
        if (!visit_line(g, GEOSGetExteriorRing_r(g->geos, shape), origin, true, false, visit,
                        context))
            return false;
        int holes = GEOSGetNumInteriorRings_r(g->geos, shape);
        for (int i = 0; i < holes; ++i)
            if (!visit_line(g, GEOSGetInteriorRingN_r(g->geos, shape, i), origin, true, true, visit,
                            context))
                return false;
        return true;
    }
    if (type < GEOS_MULTIPOINT) return true;
    int count = GEOSGetNumGeometries_r(g->geos, shape);
    for (int i = 0; i < count; ++i)
        if (!th_geometry_visit(g, GEOSGetGeometryN_r(g->geos, shape, i), origin, visit, context))
            return false;
    return true;
}

typedef struct ring_writer {
    th_vec2 *points;
    int *ring_start;
    int rings, used;
} ring_writer;

static bool count_ring(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)points;
    (void)hole;
    ring_writer *writer = context;
    if (!ring || count < 4) return true;
    ++writer->rings;
    writer->used += count - 1;
    return true;
}

static bool write_ring(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)hole;
    ring_writer *writer = context;
    if (!ring || count < 4) return true;
    memcpy(writer->points + writer->used, points, (size_t)(count - 1) * sizeof *points);
    writer->ring_start[writer->rings++] = writer->used;
    writer->used += count - 1;
    writer->ring_start[writer->rings] = writer->used;
    return true;
}

bool th_geometry_polygons(th_geometry *g, const GEOSGeometry *shape, th_point origin,
                          th_arena *arena, th_polygons *polygons) {
    memset(polygons, 0, sizeof *polygons);
    ring_writer counter = {0};
    if (!th_geometry_visit(g, shape, origin, count_ring, &counter)) return false;
    ring_writer writer = {0};
    writer.points = th_arena_alloc(arena, (size_t)counter.used + 1, sizeof *writer.points);
    writer.ring_start = th_arena_alloc(arena, (size_t)counter.rings + 1, sizeof *writer.ring_start);
    if (!writer.points || !writer.ring_start) return false;
    if (!th_geometry_visit(g, shape, origin, write_ring, &writer)) return false;
    polygons->points = writer.points;
    polygons->ring_start = writer.ring_start;
    polygons->ring_count = writer.rings;
    polygons->area = th_geometry_area(g, shape);
    th_box box = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < writer.used; ++i) {
        th_vec2 p = writer.points[i];
        if (i == 0) box = (th_box){p.x, p.y, p.x, p.y};
        box.min_x = p.x < box.min_x ? p.x : box.min_x;
        box.min_y = p.y < box.min_y ? p.y : box.min_y;
        box.max_x = p.x > box.max_x ? p.x : box.max_x;
        box.max_y = p.y > box.max_y ? p.y : box.max_y;
    }
    polygons->box = box;
    return true;
}
