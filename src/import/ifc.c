// IFC by Node and the npm package web-ifc: the script ifc.cjs prints walls, openings and the triangles of stairs, here they
// become a drawing. Of stairs the plan needs the ground they cover, their upper edge, walls along their sides, and the hole
// in the storey above. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/geometry.h"
#include "import/drawing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TH_IFC_MODULES
#define TH_IFC_MODULES ""
#endif

enum { LEVELS_MOST = 64, NO_PACKAGE = 3, FILE_BAD = 4 };
static const double GAP = 0.03;      // [m] between steps, closed
static const double STEP = 0.05;     // [m] heights of one step
static const double RISER = 0.4;     // [m] the next step is not higher above
static const double BARRIER = 0.1;   // [m] depth of what stops people below the upper edge
static const double PIECE = 0.02;    // [m] shorter walls are left out
static const double UPWARD = 0.5;    // of a triangle's normal: it may be walked on
static const double AT_RIGHT = 0.35; // cosine: an edge along the way up
static const double AHEAD = 0.7;     // cosine: an edge across it

enum { STAIRS_MOST = 256 };
typedef struct reader {
    th_drawing *out;
    th_error *error;
    th_geometry geometry;
    const char *from, *to;              // of the stairs in hand
    GEOSGeometry *grounds[STAIRS_MOST]; // of stairs, with the level where they begin
    const char *begins[STAIRS_MOST];
    int ground_count;
} reader;

static th_result bad(th_error *error) {
    return th_fail(error, TH_BAD_SCENE, "", "the reader of IFC wrote what throng does not know");
}

static bool add(reader *r, const char *layer, const th_point *points, int count, bool closed) {
    int l = th_drawing_layer(r->out, layer, r->error);
    return l >= 0 && th_drawing_add(r->out, l, points, count, closed, r->error);
}

// ---- paths

static bool add_line(reader *r, const char *layer, const GEOSGeometry *line) {
    GEOSContextHandle_t geos = r->geometry.geos;
    for (int k = 0; k < GEOSGetNumGeometries_r(geos, line); ++k) {
        const GEOSGeometry *one = GEOSGetGeometryN_r(geos, line, k);
        const GEOSCoordSequence *list = GEOSGeom_getCoordSeq_r(geos, one);
        unsigned count = 0;
        if (list) GEOSCoordSeq_getSize_r(geos, list, &count);
        th_point *points = th_arena_alloc(r->out->arena, count + 1, sizeof *points);
        for (unsigned i = 0; points && i < count; ++i) {
            GEOSCoordSeq_getX_r(geos, list, i, &points[i].x);
            GEOSCoordSeq_getY_r(geos, list, i, &points[i].y);
        }
        if (points && !add(r, layer, points, (int)count, false)) return false;
    }
    return true;
}

// Stairs are open from side to side, though they reach a little into a wall: walls are cut there. Sets `done` where it
// has added what is left of the path.
static bool cut_at_stairs(reader *r, const char *layer, const th_point *points, int count,
                          bool closed, bool *done) {
    GEOSContextHandle_t geos = r->geometry.geos;
    const char *level = strchr(layer, '@');
    GEOSGeometry *left = NULL;
    for (int k = 0; k < r->ground_count; ++k) {
        if (!level || strcmp(level + 1, r->begins[k]) != 0) continue;
        unsigned all = (unsigned)count + closed;
        GEOSCoordSequence *list = left ? NULL : GEOSCoordSeq_create_r(geos, all, 2);
        for (unsigned i = 0; list && i < all; ++i) {
            GEOSCoordSeq_setX_r(geos, list, i, points[i % (unsigned)count].x);
            GEOSCoordSeq_setY_r(geos, list, i, points[i % (unsigned)count].y);
        }
        if (list) left = GEOSGeom_createLineString_r(geos, list);
        if (!left || GEOSIntersects_r(geos, left, r->grounds[k]) != 1) continue;
        GEOSGeometry *rest = GEOSDifference_r(geos, left, r->grounds[k]);
        *done = true;
        GEOSGeom_destroy_r(geos, left);
        left = rest;
        if (!left) break;
    }
    bool good = !*done || !left || add_line(r, layer, left);
    GEOSGeom_destroy_r(geos, left);
    return good;
}

static bool take_path(reader *r, const json_t *path) {
    const char *layer = json_string_value(json_array_get(path, 0));
    bool closed = json_is_true(json_array_get(path, 1));
    const json_t *numbers = json_array_get(path, 2);
    int count = (int)(json_array_size(numbers) / 2);
    if (!layer || count < 2) return true;
    th_point *points = th_arena_alloc(r->out->arena, (size_t)count, sizeof *points);
    if (!points) {
        th_fail(r->error, TH_NO_MEMORY, "", "no memory for the drawing");
        return false;
    }
    for (int k = 0; k < count; ++k)
        points[k] = (th_point){json_number_value(json_array_get(numbers, 2 * (size_t)k)),
                               json_number_value(json_array_get(numbers, 2 * (size_t)k + 1))};
    bool done = false;
    if (strncmp(layer, "doors", 5) != 0 && strncmp(layer, "IfcSpace", 8) != 0 &&
        !cut_at_stairs(r, layer, points, count, closed, &done))
        return false;
    if (done) return true;
    const char *name = json_string_value(json_array_get(path, 3));
    int before = r->out->path_count;
    if (!add(r, layer, points, count, closed)) return false;
    if (name && *name && r->out->path_count > before)
        r->out->paths[before].name = th_arena_string(r->out->arena, name);
    return true;
}

// ---- stairs

typedef struct corner {
    double x, y, z;
} corner;
typedef struct triangle {
    corner p[3];
} triangle;
typedef struct flight {
    triangle *list; // those that look up
    int count;
    GEOSGeometry *ground;
} flight;

static double up_of(const triangle *t) {
    corner a = t->p[0], b = t->p[1], c = t->p[2];
    double ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
    double vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
    double nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    double length = sqrt(nx * nx + ny * ny + nz * nz);
    return length > 1e-9 ? nz / length : 0.0;
}

static double height_of(const triangle *t) { return (t->p[0].z + t->p[1].z + t->p[2].z) / 3.0; }

static GEOSGeometry *shadow_of(reader *r, const triangle *t) {
    GEOSCoordSequence *list = GEOSCoordSeq_create_r(r->geometry.geos, 4, 2);
    for (unsigned k = 0; list && k < 4; ++k) {
        GEOSCoordSeq_setX_r(r->geometry.geos, list, k, t->p[k % 3].x);
        GEOSCoordSeq_setY_r(r->geometry.geos, list, k, t->p[k % 3].y);
    }
    GEOSGeometry *ring = list ? GEOSGeom_createLinearRing_r(r->geometry.geos, list) : NULL;
    return ring ? GEOSGeom_createPolygon_r(r->geometry.geos, ring, NULL, 0) : NULL;
}

// Narrow gaps closed, nearly straight corners left out; the largest part.
static GEOSGeometry *tidy(reader *r, GEOSGeometry *shape) {
    enum { FLAT = 2, MITRE = 2 };
    GEOSContextHandle_t geos = r->geometry.geos;
    GEOSGeometry *wide =
        shape ? GEOSBufferWithStyle_r(geos, shape, GAP, 4, FLAT, MITRE, 5.0) : NULL;
    GEOSGeometry *back = wide ? GEOSBufferWithStyle_r(geos, wide, -GAP, 4, FLAT, MITRE, 5.0) : NULL;
    GEOSGeometry *plain = back ? GEOSTopologyPreserveSimplify_r(geos, back, 0.5 * GAP) : NULL;
    GEOSGeometry *best = NULL;
    double most = 0.0;
    for (int k = 0; plain && k < GEOSGetNumGeometries_r(geos, plain); ++k) {
        const GEOSGeometry *one = GEOSGetGeometryN_r(geos, plain, k);
        double area = th_geometry_area(&r->geometry, one);
        if (GEOSGeomTypeId_r(geos, one) != GEOS_POLYGON || area <= most) continue;
        most = area;
        GEOSGeom_destroy_r(geos, best);
        best = GEOSGeom_clone_r(geos, one);
    }
    GEOSGeom_destroy_r(geos, plain);
    GEOSGeom_destroy_r(geos, back);
    GEOSGeom_destroy_r(geos, wide);
    GEOSGeom_destroy_r(geos, shape);
    return best;
}

static GEOSGeometry *ground_of(reader *r, const triangle *list, int count) {
    GEOSContextHandle_t geos = r->geometry.geos;
    GEOSGeometry **all = th_arena_alloc(r->out->arena, (size_t)count + 1, sizeof(void *));
    unsigned kept = 0;
    for (int k = 0; all && k < count; ++k)
        if ((all[kept] = shadow_of(r, &list[k]))) ++kept;
    GEOSGeometry *many =
        all ? GEOSGeom_createCollection_r(geos, GEOS_MULTIPOLYGON, all, kept) : NULL;
    GEOSGeometry *one = many ? GEOSUnaryUnion_r(geos, many) : NULL;
    GEOSGeom_destroy_r(geos, many);
    return tidy(r, one);
}

static flight take_flight(reader *r, const json_t *numbers) {
    flight f = {.count = 0};
    size_t count = json_array_size(numbers) / 9;
    f.list = th_arena_alloc(r->out->arena, count + 1, sizeof *f.list);
    for (size_t k = 0; f.list && k < count; ++k) {
        triangle t;
        for (size_t i = 0; i < 3; ++i)
            t.p[i] = (corner){json_number_value(json_array_get(numbers, 9 * k + 3 * i)),
                              json_number_value(json_array_get(numbers, 9 * k + 3 * i + 1)),
                              json_number_value(json_array_get(numbers, 9 * k + 3 * i + 2))};
        if (up_of(&t) > UPWARD) f.list[f.count++] = t;
    }
    f.ground = f.count > 0 ? ground_of(r, f.list, f.count) : NULL;
    return f;
}

// The middle of the steps whose height is within low .. high, weighted by their area; their number.
static int middle_of(const triangle *list, int count, double low, double high, th_point *middle) {
    double x = 0.0, y = 0.0, area = 0.0;
    int steps = 0;
    for (int k = 0; k < count; ++k) {
        const corner *p = list[k].p;
        if (height_of(&list[k]) < low || height_of(&list[k]) > high) continue;
        double size = 0.5 * fabs((p[1].x - p[0].x) * (p[2].y - p[0].y) -
                                 (p[1].y - p[0].y) * (p[2].x - p[0].x));
        x += size * (p[0].x + p[1].x + p[2].x) / 3.0;
        y += size * (p[0].y + p[1].y + p[2].y) / 3.0;
        area += size;
        ++steps;
    }
    if (area > 0.0) *middle = (th_point){x / area, y / area};
    return area > 0.0 ? steps : 0;
}

// One end of the stairs: the last step, and the way on from the one beside it.
typedef struct landing {
    th_point middle, ahead; // of length 1
    double low, high;       // heights of the step
} landing;

static bool end_of(const triangle *list, int count, bool top, landing *end) {
    double last = top ? -HUGE_VAL : HUGE_VAL;
    for (int k = 0; k < count; ++k)
        last = top ? fmax(last, height_of(&list[k])) : fmin(last, height_of(&list[k]));
    end->low = last - STEP, end->high = last + STEP;
    th_point beside;
    double from = top ? last - RISER : last + STEP, to = top ? last - STEP : last + RISER;
    if (!middle_of(list, count, end->low, end->high, &end->middle) ||
        !middle_of(list, count, from, to, &beside))
        return false;
    double dx = end->middle.x - beside.x, dy = end->middle.y - beside.y, length = hypot(dx, dy);
    if (length < 1e-3) return false;
    end->ahead = (th_point){dx / length, dy / length};
    return true;
}

typedef struct outline {
    th_point *points; // anticlockwise
    int count;
} outline;

static outline ring_of(reader *r, const GEOSGeometry *shape) {
    GEOSContextHandle_t geos = r->geometry.geos;
    const GEOSGeometry *edge = shape ? GEOSGetExteriorRing_r(geos, shape) : NULL;
    const GEOSCoordSequence *list = edge ? GEOSGeom_getCoordSeq_r(geos, edge) : NULL;
    unsigned count = 0;
    if (list) GEOSCoordSeq_getSize_r(geos, list, &count);
    outline out = {th_arena_alloc(r->out->arena, count + 1, sizeof(th_point)), 0};
    double twice = 0.0;
    for (unsigned k = 0; out.points && k + 1 < count; ++k) {
        GEOSCoordSeq_getX_r(geos, list, k, &out.points[k].x);
        GEOSCoordSeq_getY_r(geos, list, k, &out.points[k].y);
        ++out.count;
    }
    for (int k = 0; k < out.count; ++k) {
        th_point a = out.points[k], b = out.points[(k + 1) % out.count];
        twice += a.x * b.y - b.x * a.y;
    }
    for (int k = 0; twice < 0.0 && k < out.count / 2; ++k) {
        th_point other = out.points[k];
        out.points[k] = out.points[out.count - 1 - k];
        out.points[out.count - 1 - k] = other;
    }
    return out;
}

typedef struct opening {
    int edge;
    double begin, end; // of 0 .. 1 along it
    th_point a, b;
} opening;

// The edge that people cross at an end of the stairs, as wide as the step.
static bool opening_of(const outline *ring, const triangle *list, int count, const landing *end,
                       opening *out) {
    double least = HUGE_VAL;
    for (int k = 0; k < ring->count; ++k) {
        th_point a = ring->points[k], b = ring->points[(k + 1) % ring->count];
        double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
        if (length < 0.3 || (dy * end->ahead.x - dx * end->ahead.y) / length < AHEAD) continue;
        double t = ((end->middle.x - a.x) * dx + (end->middle.y - a.y) * dy) / (length * length);
        double off = ((a.x - end->middle.x) * dy - (a.y - end->middle.y) * dx) / length;
        if (t < 0.0 || t > 1.0 || off < -GAP || off > least) continue;
        least = off;
        *out = (opening){.edge = k, .begin = 1.0, .end = 0.0};
    }
    if (least == HUGE_VAL) return false;
    th_point a = ring->points[out->edge], b = ring->points[(out->edge + 1) % ring->count];
    double dx = b.x - a.x, dy = b.y - a.y;
    for (int k = 0; k < count; ++k) {
        if (height_of(&list[k]) < end->low || height_of(&list[k]) > end->high) continue;
        for (int i = 0; i < 3; ++i) {
            double t =
                ((list[k].p[i].x - a.x) * dx + (list[k].p[i].y - a.y) * dy) / (dx * dx + dy * dy);
            out->begin = fmin(out->begin, fmax(t, 0.0));
            out->end = fmax(out->end, fmin(t, 1.0));
        }
    }
    // Drop remainders of the edge too short for a wall.
    double length = hypot(dx, dy);
    if (out->begin * length < 5.0 * PIECE) out->begin = 0.0;
    if ((1.0 - out->end) * length < 5.0 * PIECE) out->end = 1.0;
    out->a = (th_point){a.x + out->begin * dx, a.y + out->begin * dy};
    out->b = (th_point){a.x + out->end * dx, a.y + out->end * dy};
    return hypot(out->b.x - out->a.x, out->b.y - out->a.y) >= 0.3;
}

static bool add_wall(reader *r, th_point a, th_point b) {
    char layer[160];
    snprintf(layer, sizeof layer, "flight walls@%s", r->from);
    th_point line[2] = {a, b};
    return hypot(b.x - a.x, b.y - a.y) < PIECE || add(r, layer, line, 2, false);
}

static bool add_sides(reader *r, const outline *ring, const opening *doors, int count) {
    for (int k = 0; k < ring->count; ++k) {
        th_point a = ring->points[k], b = ring->points[(k + 1) % ring->count];
        // Openings on the edge, from its beginning.
        const opening *on[2] = {NULL, NULL};
        int found = 0;
        for (int o = 0; o < count; ++o)
            if (doors[o].edge == k) on[found++] = &doors[o];
        if (found == 2 && on[1]->begin < on[0]->begin) {
            const opening *first = on[1];
            on[1] = on[0];
            on[0] = first;
        }
        th_point at = a;
        for (int o = 0; o < found; ++o) {
            if (!add_wall(r, at, on[o]->a)) return false;
            at = on[o]->b;
        }
        if (!add_wall(r, at, b)) return false;
    }
    return true;
}

// Flights beside each other: nobody changes from one to the other but on a landing.
static bool add_between(reader *r, const GEOSGeometry *whole, const flight *f) {
    GEOSContextHandle_t geos = r->geometry.geos;
    landing end;
    if (!end_of(f->list, f->count, true, &end)) return true;
    outline ring = ring_of(r, f->ground);
    GEOSGeometry *inner = GEOSBuffer_r(geos, whole, -3.0 * GAP, 4);
    bool good = true;
    for (int k = 0; inner && good && k < ring.count; ++k) {
        th_point a = ring.points[k], b = ring.points[(k + 1) % ring.count];
        double length = hypot(b.x - a.x, b.y - a.y);
        if (length < 0.3) continue;
        double across = fabs((b.y - a.y) * end.ahead.x - (b.x - a.x) * end.ahead.y) / length;
        if (across > AT_RIGHT) continue;
        GEOSGeometry *middle =
            GEOSGeom_createPointFromXY_r(geos, 0.5 * (a.x + b.x), 0.5 * (a.y + b.y));
        if (middle && GEOSContains_r(geos, inner, middle) == 1) good = add_wall(r, a, b);
        GEOSGeom_destroy_r(geos, middle);
    }
    GEOSGeom_destroy_r(geos, inner);
    return good;
}

static bool add_stairs(reader *r, const outline *ring, const opening *top) {
    char layer[220];
    th_point line[2] = {top->a, top->b};
    double dx = top->b.x - top->a.x, dy = top->b.y - top->a.y, length = hypot(dx, dy);
    th_point out = {BARRIER * dy / length, -BARRIER * dx / length};
    th_point barrier[4] = {
        top->a, {top->a.x + out.x, top->a.y + out.y}, {top->b.x + out.x, top->b.y + out.y}, top->b};
    snprintf(layer, sizeof layer, "stairs@%s@%s", r->from, r->to);
    if (!add(r, layer, ring->points, ring->count, true)) return false;
    snprintf(layer, sizeof layer, "stairs_top@%s@%s", r->from, r->to);
    if (!add(r, layer, line, 2, false)) return false;
    snprintf(layer, sizeof layer, "void obstacles@%s", r->from);
    if (!add(r, layer, barrier, 4, true)) return false;
    snprintf(layer, sizeof layer, "void obstacles@%s", r->to);
    return add(r, layer, ring->points, ring->count, true);
}

static bool take_stairs(reader *r, const json_t *stairs) {
    enum { FLIGHTS_MOST = 64 };
    GEOSContextHandle_t geos = r->geometry.geos;
    const json_t *parts = json_object_get(stairs, "flights");
    flight flights[FLIGHTS_MOST];
    int count = 0, triangles = 0;
    r->from = json_string_value(json_object_get(stairs, "from"));
    r->to = json_string_value(json_object_get(stairs, "to"));
    if (!r->from || !r->to || strlen(r->from) > 60 || strlen(r->to) > 60) {
        bad(r->error);
        return false;
    }
    for (size_t k = 0; k < json_array_size(parts) && count < FLIGHTS_MOST; ++k) {
        flights[count] = take_flight(r, json_array_get(parts, k));
        if (flights[count].ground) triangles += flights[count++].count;
    }
    triangle *all = th_arena_alloc(r->out->arena, (size_t)triangles + 1, sizeof *all);
    for (int k = 0, at = 0; all && k < count; at += flights[k++].count)
        memcpy(all + at, flights[k].list, (size_t)flights[k].count * sizeof *all);
    GEOSGeometry *whole = all && triangles > 0 ? ground_of(r, all, triangles) : NULL;
    outline ring = ring_of(r, whole);
    landing ends[2];
    opening doors[2];
    bool known = ring.count > 2;
    for (int k = 0; known && k < 2; ++k)
        known = end_of(all, triangles, k == 0, &ends[k]) &&
                opening_of(&ring, all, triangles, &ends[k], &doors[k]);
    bool good = known ? add_sides(r, &ring, doors, 2) && add_stairs(r, &ring, &doors[0])
                      : th_drawing_leave_out(r->out, "stairs without a way up", 1);
    for (int k = 0; k < count; ++k) {
        if (good && known && count > 1) good = add_between(r, whole, &flights[k]);
        GEOSGeom_destroy_r(geos, flights[k].ground);
    }
    if (known && r->ground_count < STAIRS_MOST) {
        r->begins[r->ground_count] = r->from;
        r->grounds[r->ground_count++] = whole;
    } else {
        GEOSGeom_destroy_r(geos, whole);
    }
    return good;
}

// ---- the whole

static bool take_levels(reader *r, const json_t *levels) {
    size_t count = json_array_size(levels);
    if (count > LEVELS_MOST) count = LEVELS_MOST;
    r->out->levels = th_arena_alloc(r->out->arena, count + 1, sizeof *r->out->levels);
    for (size_t k = 0; r->out->levels && k < count; ++k) {
        const json_t *level = json_array_get(levels, k);
        const char *name = json_string_value(json_object_get(level, "name"));
        const char *copy = name ? th_arena_string(r->out->arena, name) : NULL;
        if (!copy || strlen(copy) > 60) {
            bad(r->error);
            return false;
        }
        r->out->levels[r->out->level_count++] =
            (th_drawn_level){copy, json_number_value(json_object_get(level, "z"))};
    }
    return r->out->levels != NULL;
}

static bool take_all(reader *r, const json_t *plan) {
    if (!take_levels(r, json_object_get(plan, "levels"))) return false;
    size_t k;
    json_t *value;
    const char *name;
    json_array_foreach(json_object_get(plan, "stairs"), k,
                       value) if (!take_stairs(r, value)) return false;
    json_array_foreach(json_object_get(plan, "paths"), k,
                       value) if (!take_path(r, value)) return false;
    json_object_foreach(json_object_get(plan, "left_out"), name, value)
        th_drawing_leave_out(r->out, name, (int)json_integer_value(value));
    return true;
}

th_result th_ifc_take(th_drawing *drawing, th_arena *arena, const char *text, size_t length,
                      th_error *error) {
    *drawing = (th_drawing){.arena = arena, .unit = 1.0};
    *error = (th_error){.code = TH_OK};
    json_t *plan = json_loadb(text, length, 0, NULL);
    if (!json_is_object(plan)) {
        json_decref(plan);
        return bad(error);
    }
    reader r = {.out = drawing, .error = error, .geometry = {.arena = arena}};
    bool taken = th_geometry_open(&r.geometry) && take_all(&r, plan);
    if (!taken && error->code == TH_OK)
        th_fail(error, TH_NO_MEMORY, "", "no memory for the drawing");
    while (r.ground_count > 0) GEOSGeom_destroy_r(r.geometry.geos, r.grounds[--r.ground_count]);
    th_geometry_close(&r.geometry);
    json_decref(plan);
    return error->code;
}

th_result th_ifc_read(th_drawing *drawing, th_arena *arena, const char *path, th_error *error) {
    const char *const words[] = {"node", "--max-old-space-size=8192",
                                 "-e",   (const char *)th_import_scripts[0].text,
                                 path,   TH_IFC_MODULES,
                                 NULL};
    th_program_end end;
    th_result result = th_program_run(words, &end, error);
    if (result != TH_OK) return result;
    if (end.missing || end.code == NO_PACKAGE)
        result = th_fail(error, TH_NO_FILE, "",
                         "IFC files are read by %s, which is not here. Install %s, or name the "
                         "folder of its node_modules in NODE_PATH",
                         end.missing ? "Node with the package web-ifc" : "the Node package web-ifc",
                         end.missing ? "nodejs and npm, then `npm install --global web-ifc`"
                                     : "it: `npm install --global web-ifc`");
    else if (end.code == FILE_BAD)
        result = th_fail(error, TH_BAD_SCENE, "", "%s", end.said);
    else if (end.code != 0)
        result = th_fail(error, TH_BAD_SCENE, "",
                         "the reader of IFC gave up%s%s; the file is damaged, or too large",
                         *end.said ? ": " : "", end.said);
    else
        result = th_ifc_take(drawing, arena, end.out, end.length, error);
    free(end.out);
    return result;
}
