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

// The arena's memory, where there is an arena.
static th_memory memory_of(const th_geometry *geometry) {
    return geometry->arena ? geometry->arena->memory : th_memory_of(NULL);
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
    const th_memory memory = memory_of(g);
    segments all = {.memory = &memory};
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

// ---- seams
// Coordinates are rounded: of two parts drawn side by side at an angle, one lies a hair off the other's edge, and their union
// keeps a slit there, a wall that no picture shows. Parts that come so near are snapped together first.

static const double SEAM =
    0.002; // [m] millimetres, rounded on either side and in both coordinates: 1.4 mm
enum { SEAM_ROUNDS = 3, SEAM_TESTS_MAX = 20000000 };

typedef struct part_edge {
    double ax, ay, bx, by;
} part_edge;

typedef struct part {
    GEOSGeometry **shape;
    part_edge *edges;
    int count, capacity;
    double low_x, low_y, high_x, high_y;
} part;

static bool add_ring_edges(th_geometry *g, const GEOSGeometry *ring, part *p) {
    const GEOSCoordSequence *sequence = GEOSGeom_getCoordSeq_r(g->geos, ring);
    unsigned size = 0;
    if (!sequence || !GEOSCoordSeq_getSize_r(g->geos, sequence, &size)) return true;
    const th_memory memory = memory_of(g);
    if (!th_alloc_reserve(&memory, &p->edges, &p->capacity, p->count + (int)size, sizeof *p->edges))
        return false;
    for (unsigned k = 0; k + 1 < size; ++k) {
        part_edge *e = &p->edges[p->count++];
        GEOSCoordSeq_getXY_r(g->geos, sequence, k, &e->ax, &e->ay);
        GEOSCoordSeq_getXY_r(g->geos, sequence, k + 1, &e->bx, &e->by);
    }
    return true;
}

static bool add_part_edges(th_geometry *g, const GEOSGeometry *shape, part *p) {
    if (GEOSGeomTypeId_r(g->geos, shape) == GEOS_POLYGON) {
        bool good = add_ring_edges(g, GEOSGetExteriorRing_r(g->geos, shape), p);
        int holes = GEOSGetNumInteriorRings_r(g->geos, shape);
        for (int k = 0; good && k < holes; ++k)
            good = add_ring_edges(g, GEOSGetInteriorRingN_r(g->geos, shape, k), p);
        return good;
    }
    int count = GEOSGetNumGeometries_r(g->geos, shape);
    bool many = GEOSGeomTypeId_r(g->geos, shape) > GEOS_POLYGON, good = true;
    for (int k = 0; many && good && k < count; ++k)
        good = add_part_edges(g, GEOSGetGeometryN_r(g->geos, shape, k), p);
    return good;
}

static bool take_part(th_geometry *g, part *p) {
    p->count = 0;
    p->low_x = p->low_y = HUGE_VAL;
    p->high_x = p->high_y = -HUGE_VAL;
    if (!add_part_edges(g, *p->shape, p)) return false;
    for (int k = 0; k < p->count; ++k) {
        p->low_x = fmin(p->low_x, p->edges[k].ax);
        p->low_y = fmin(p->low_y, p->edges[k].ay);
        p->high_x = fmax(p->high_x, p->edges[k].ax);
        p->high_y = fmax(p->high_y, p->edges[k].ay);
    }
    return true;
}

// 0 exactly for a point on an edge along an axis.
static double distance2_of(const part_edge *e, double x, double y) {
    double dx = e->bx - e->ax, dy = e->by - e->ay, length2 = dx * dx + dy * dy;
    double along = (x - e->ax) * dx + (y - e->ay) * dy;
    if (along > 0.0 && along < length2) {
        double cross = (x - e->ax) * dy - (y - e->ay) * dx;
        return cross * cross / length2;
    }
    double ex = x - (along > 0.0 ? e->bx : e->ax), ey = y - (along > 0.0 ? e->by : e->ay);
    return ex * ex + ey * ey;
}

// Does a corner of `one` lie beside an edge of `other`, but not on it?
static bool lies_beside(const part *one, const part *other, int64_t *tests) {
    for (int k = 0; k<one->count && * tests> 0; ++k) {
        double x = one->edges[k].ax, y = one->edges[k].ay, least = HUGE_VAL;
        if (x < other->low_x - SEAM || x > other->high_x + SEAM || y < other->low_y - SEAM ||
            y > other->high_y + SEAM)
            continue;
        for (int m = 0; m < other->count; ++m)
            least = fmin(least, distance2_of(&other->edges[m], x, y));
        *tests -= other->count;
        if (least > 0.0 && least <= SEAM * SEAM) return true;
    }
    return false;
}

static bool is_sound(th_geometry *g, const GEOSGeometry *shape) {
    return shape && GEOSGeom_getDimensions_r(g->geos, shape) == 2 &&
           GEOSisValid_r(g->geos, shape) == 1;
}

// Moves corners of `other` onto those of `one`, and gives each the other's corners along its edges. False: no memory.
static bool snap(th_geometry *g, part *one, part *other, bool *changed) {
    GEOSGeometry *b = GEOSSnap_r(g->geos, *other->shape, *one->shape, SEAM);
    GEOSGeometry *a = b ? GEOSSnap_r(g->geos, *one->shape, b, SEAM) : NULL;
    bool sound = is_sound(g, a) && is_sound(g, b);
    GEOSGeometry *old_a = sound ? *one->shape : a, *old_b = sound ? *other->shape : b;
    if (sound) {
        *one->shape = a;
        *other->shape = b;
        *changed = true;
    }
    if (old_a) GEOSGeom_destroy_r(g->geos, old_a);
    if (old_b) GEOSGeom_destroy_r(g->geos, old_b);
    return !sound || (take_part(g, one) && take_part(g, other));
}

static int compare_parts(const void *left, const void *right) {
    const part *a = left, *b = right;
    if (a->low_x != b->low_x) return a->low_x < b->low_x ? -1 : 1;
    return (a->shape > b->shape) - (a->shape < b->shape);
}

static bool snap_round(th_geometry *g, part *parts, int count, int64_t *tests, bool *changed) {
    bool good = true;
    for (int i = 0; i < count; ++i)
        for (int k = i + 1; good && k < count && parts[k].low_x <= parts[i].high_x + SEAM; ++k) {
            part *a = &parts[i], *b = &parts[k];
            if (b->low_y > a->high_y + SEAM || a->low_y > b->high_y + SEAM) continue;
            if (lies_beside(a, b, tests) || lies_beside(b, a, tests)) good = snap(g, a, b, changed);
        }
    return good;
}

bool th_geometry_close_seams(th_geometry *g, GEOSGeometry **shapes, int count, bool *changed) {
    const th_memory own = memory_of(g), *memory = &own;
    *changed = false;
    if (count < 2) return true;
    part *parts = th_alloc(memory, (size_t)count, sizeof *parts);
    if (!parts) return false;
    memset(parts, 0, (size_t)count * sizeof *parts);
    bool good = true, more = true;
    int64_t tests = SEAM_TESTS_MAX;
    for (int i = 0; i < count; ++i) {
        parts[i].shape = &shapes[i];
        good = good && take_part(g, &parts[i]);
    }
    if (good) qsort(parts, (size_t)count, sizeof *parts, compare_parts);
    for (int k = 0; good && more && k < SEAM_ROUNDS; ++k) {
        more = false;
        good = snap_round(g, parts, count, &tests, &more);
        *changed |= more;
    }
    for (int i = 0; i < count; ++i)
        th_dealloc(memory, parts[i].edges, (size_t)parts[i].capacity, sizeof *parts[i].edges);
    th_dealloc(memory, parts, (size_t)count, sizeof *parts);
    return good;
}

static int count_polygons(th_geometry *g, const GEOSGeometry *shape, GEOSGeometry **copies,
                          int at) {
    if (GEOSGeomTypeId_r(g->geos, shape) == GEOS_POLYGON) {
        if (copies) copies[at] = GEOSGeom_clone_r(g->geos, shape);
        return at + 1;
    }
    int count = GEOSGetNumGeometries_r(g->geos, shape);
    bool many = GEOSGeomTypeId_r(g->geos, shape) > GEOS_POLYGON;
    for (int k = 0; many && k < count; ++k)
        at = count_polygons(g, GEOSGetGeometryN_r(g->geos, shape, k), copies, at);
    return at;
}

// Closes the seams between the polygons of a shape; false: no memory.
static bool without_seams(th_geometry *g, GEOSGeometry **shape) {
    const th_memory own = memory_of(g), *memory = &own;
    int count = count_polygons(g, *shape, NULL, 0);
    if (count < 2) return true;
    GEOSGeometry **parts = th_alloc(memory, (size_t)count, sizeof *parts), *whole = NULL;
    if (!parts) return false;
    count_polygons(g, *shape, parts, 0);
    bool good = true, changed = false;
    for (int i = 0; i < count; ++i) good = good && parts[i];
    good = good && th_geometry_close_seams(g, parts, count, &changed);
    if (good && changed)
        whole = GEOSGeom_createCollection_r(g->geos, GEOS_GEOMETRYCOLLECTION, parts,
                                            (unsigned)count); // owns them
    for (int i = 0; !whole && i < count; ++i)
        if (parts[i]) GEOSGeom_destroy_r(g->geos, parts[i]);
    th_dealloc(memory, parts, (size_t)count, sizeof *parts);
    if (whole) {
        GEOSGeom_destroy_r(g->geos, *shape);
        *shape = whole;
    }
    return good && (whole || !changed);
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
        bool joins = lines || without_seams(g, &parsed);
        merged = joins ? GEOSUnaryUnion_r(g->geos, parsed) : NULL;
        if (!joins) {
            th_fail(error, TH_NO_MEMORY, path, "no memory for the shape");
        } else if (!merged || GEOSisEmpty_r(g->geos, merged)) {
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
    const th_memory own = memory_of(g), *memory = &own;
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
