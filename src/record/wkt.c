// The walkable area of a level as well-known text. Only areas: thin walls and doors are lines with no
// ground of their own and are not part of it, so another program sees one room where throng has two.
// SPDX-License-Identifier: Apache-2.0
#include "record/wkt.h"
#include "core/array.h"
#include "core/geometry.h"
#include "throng/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float OPEN_MARGIN = 10.0f; // [m] around all that is named on an open plane, record.h

typedef struct text_buffer {
    char *text;
    size_t length, capacity;
    bool failed; // no memory
} text_buffer;

static void add_text(text_buffer *buffer, const char *text) {
    size_t length = strlen(text);
    if (!TH_RESERVE(buffer->text, buffer->capacity, buffer->length + length + 1))
        buffer->failed = true;
    if (buffer->failed) return;
    memcpy(buffer->text + buffer->length, text, length + 1);
    buffer->length += length;
}

// The shortest decimal that a scene would compile to this very float again: 0.8 and not
// 0.800000011920929. It differs from origin + value by less than half a unit of the float's last place.
static void add_number(text_buffer *buffer, double origin, float value) {
    enum { MOST_DECIMALS = 17 };
    char text[64];
    double exact = origin + (double)value;
    for (int decimals = 0; decimals <= MOST_DECIMALS; ++decimals) {
        int length = snprintf(text, sizeof text, "%.*f", decimals, exact);
        if (length < (int)sizeof text && (float)(strtod(text, NULL) - origin) == value) break;
        if (decimals == MOST_DECIMALS) snprintf(text, sizeof text, "%.17g", exact);
    }
    char *comma = strchr(text, ','); // of the locale that the caller's program may have set
    if (comma) *comma = '.';
    add_text(buffer, strcmp(text, "-0") == 0 ? "0" : text);
}

static void add_ring(text_buffer *buffer, th_point origin, const th_vec2 *points, int count) {
    add_text(buffer, "(");
    for (int i = 0; i < count; ++i) {
        add_text(buffer, i > 0 ? ", " : "");
        add_number(buffer, origin.x, points[i].x);
        add_text(buffer, " ");
        add_number(buffer, origin.y, points[i].y);
    }
    add_text(buffer, ")");
}

typedef struct ring_context {
    text_buffer *buffer;
    th_point origin;
    int polygons; // begun so far
} ring_context;

// An outer ring begins a polygon, its holes follow it.
static bool write_ring(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    ring_context *writer = context;
    if (!ring) return true;
    if (!hole && writer->polygons > 0) add_text(writer->buffer, "), ");
    add_text(writer->buffer, hole ? ", " : "(");
    writer->polygons += !hole;
    add_ring(writer->buffer, writer->origin, points, count);
    return !writer->buffer->failed;
}

static GEOSGeometry *ring_line(GEOSContextHandle_t geos, const th_polygons *shape, int ring) {
    int begin = shape->ring_start[ring], count = shape->ring_start[ring + 1] - begin;
    GEOSCoordSequence *points = GEOSCoordSeq_create_r(geos, (unsigned)count + 1, 2);
    if (!points) return NULL;
    for (int i = 0; i <= count; ++i) {
        th_vec2 p = shape->points[begin + i % count];
        GEOSCoordSeq_setXY_r(geos, points, (unsigned)i, (double)p.x, (double)p.y);
    }
    return GEOSGeom_createLineString_r(geos, points);
}

// Which ring is a hole of which: GEOS builds the area that an odd number of rings surround.
static GEOSGeometry *build_area(GEOSContextHandle_t geos, const th_polygons *shape) {
    GEOSGeometry **lines = calloc((size_t)shape->ring_count, sizeof *lines);
    int made = 0;
    while (lines && made < shape->ring_count && (lines[made] = ring_line(geos, shape, made)))
        ++made;
    GEOSGeometry *all = NULL, *area = NULL;
    if (lines && made == shape->ring_count)
        all = GEOSGeom_createCollection_r(geos, GEOS_MULTILINESTRING, lines, (unsigned)made);
    else
        for (int i = 0; i < made; ++i) GEOSGeom_destroy_r(geos, lines[i]);
    free((void *)lines);
    if (all) {
        area = GEOSBuildArea_r(geos, all);
        GEOSGeom_destroy_r(geos, all);
    }
    return area;
}

static bool write_area(const th_polygons *shape, th_point origin, text_buffer *buffer) {
    th_arena arena = th_arena_of(NULL);
    th_geometry geometry = {.arena = &arena};
    if (!th_geometry_open(&geometry)) return false;
    GEOSGeometry *area = build_area(geometry.geos, shape);
    bool good = area != NULL;
    if (good) {
        bool several = GEOSGetNumGeometries_r(geometry.geos, area) > 1;
        ring_context writer = {.buffer = buffer, .origin = origin};
        add_text(buffer, several ? "MULTIPOLYGON (" : "POLYGON ");
        good = th_geometry_visit(&geometry, area, (th_point){0, 0}, write_ring, &writer);
        add_text(buffer, writer.polygons == 0 ? "EMPTY" : several ? "))" : ")");
        GEOSGeom_destroy_r(geometry.geos, area);
    }
    th_geometry_close(&geometry);
    return good;
}

static bool write_open_plane(th_box box, th_point origin, text_buffer *buffer) {
    float x0 = box.min_x - OPEN_MARGIN, x1 = box.max_x + OPEN_MARGIN;
    float y0 = box.min_y - OPEN_MARGIN, y1 = box.max_y + OPEN_MARGIN;
    const th_vec2 corners[] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}, {x0, y0}};
    add_text(buffer, "POLYGON (");
    add_ring(buffer, origin, corners, 5);
    add_text(buffer, ")");
    return true;
}

char *th_polygons_wkt(const th_polygons *shape, th_point origin) {
    text_buffer buffer = {0};
    if (write_area(shape, origin, &buffer) && !buffer.failed) return buffer.text;
    free(buffer.text);
    return NULL;
}

char *th_scene_level_wkt(const th_scene *scene, int level) {
    if (!scene || level < 0 || level >= scene->level_count) return NULL;
    const th_level *here = &scene->levels[level];
    text_buffer buffer = {0};
    bool good = here->bounded && here->walkable.ring_count > 0
                    ? write_area(&here->walkable, scene->origin, &buffer)
                    : write_open_plane(here->box, scene->origin, &buffer);
    if (good && !buffer.failed) return buffer.text;
    free(buffer.text);
    return NULL;
}
