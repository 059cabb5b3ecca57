// Copies a world's arrays into a moment: whole numbers and floats of four bytes become the wider types of a
// recording, which changes no value.
// SPDX-License-Identifier: Apache-2.0
#include "record/moment.h"
#include "core/geometry.h"
#include "core/memory.h"
#include "throng/record.h"
#include "throng/scene_view.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum element { TO_int64_t, TO_int32_t, TO_double } element;

static const struct {
    th_field field;
    element element;
    unsigned known;
    size_t size, member;
} table[TH_COLUMN_COUNT] = {
#define X(NAME, member, field, type, known) \
    {TH_FIELD_##field, TO_##type, known, sizeof(type), offsetof(th_moment, member)},
    TH_MOMENT_COLUMNS(X)
#undef X
};

// `phase` NULL: all agents; otherwise bodies are left out. Returns how many were copied.
#define COPY(wide, narrow)                                                                         \
    {                                                                                              \
        const narrow *values = from;                                                               \
        wide *copy = to;                                                                           \
        int all = phase ? 0 : count;                                                               \
        _Pragma("omp parallel for num_threads(threads) schedule(static)") for (int i = 0; i < all; \
                                                                               ++i) copy[i] =      \
            (wide)values[i];                                                                       \
        for (int i = 0; phase && i < count; ++i) {                                                 \
            copy[people] = (wide)values[i];                                                        \
            people += phase[i] != TH_PHASE_BODY;                                                   \
        }                                                                                          \
    }
static int copy_column(element to_type, void *to, const void *from, const uint32_t *phase,
                       int count, int threads) {
    int people = 0;
    if (to_type == TO_int64_t) COPY(int64_t, uint32_t)
    if (to_type == TO_int32_t) COPY(int32_t, uint32_t)
    if (to_type == TO_double) COPY(double, float)
    return phase ? people : count;
}

static bool take_column(th_world_moment *copy, th_world *world, int c, const uint32_t *phase) {
    if (!copy->columns[c]) copy->columns[c] = malloc((size_t)copy->room * table[c].size);
    const void *view =
        copy->columns[c] ? th_world_map(world, table[c].field, TH_ACCESS_READ) : NULL;
    if (!view) return false;
    int threads = copy->threads > 1 ? copy->threads : 1;
    copy->moment.count =
        copy_column(table[c].element, copy->columns[c], view, phase, copy->agents, threads);
    th_world_unmap(world, table[c].field);
    memcpy((char *)&copy->moment + table[c].member, &copy->columns[c], sizeof(void *));
    return true;
}

bool th_world_moment_add(th_world_moment *copy, th_world *world, unsigned known) {
    if (th_scene_view_of(th_world_scene(world))->level_count < 2) known &= ~(unsigned)TH_KNOW_LEVEL;
    const uint32_t *phase = NULL;
    if (copy->people_only) phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_READ);
    bool good = phase || !copy->people_only;
    for (int c = 0; good && c < TH_COLUMN_COUNT; ++c)
        if (table[c].known & known) good = take_column(copy, world, c, phase);
    if (phase) th_world_unmap(world, TH_FIELD_PHASE);
    return good;
}

bool th_world_moment_take(th_world_moment *copy, th_world *world, unsigned known) {
    int agents = th_world_agent_count(world);
    if (agents >= copy->room) {
        int threads = copy->threads;
        th_world_moment_release(copy);
        copy->threads = threads;
        copy->room = agents + agents / 8 + 1; // a growing crowd does not ask every time
    }
    copy->agents = agents;
    copy->people_only = known & TH_PEOPLE_ONLY;
    copy->moment = (th_moment){.number = (int64_t)th_world_step_count(world),
                               .time = th_world_time(world),
                               .has_origin = true,
                               .origin = th_scene_view_of(th_world_scene(world))->origin};
    return th_world_moment_add(copy, world, known | TH_KNOW_PLACE);
}

void th_world_moment_release(th_world_moment *copy) {
    for (int c = 0; c < TH_COLUMN_COUNT; ++c) free(copy->columns[c]);
    *copy = (th_world_moment){0};
}

// ---- the walkable area of a level as well-known text
// Only areas: thin walls and doors are lines with no ground of their own and are not part of it, so another program
// sees one room where throng has two.

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

// Lets GEOS find which ring is a hole of which: it builds the area that an odd number of rings surround.
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
    const th_scene_view *view = th_scene_view_of(scene);
    if (level < 0 || level >= view->level_count) return NULL;
    const th_level *here = &view->levels[level];
    text_buffer buffer = {0};
    bool good = here->bounded && here->walkable.ring_count > 0
                    ? write_area(&here->walkable, view->origin, &buffer)
                    : write_open_plane(here->box, view->origin, &buffer);
    if (good && !buffer.failed) return buffer.text;
    free(buffer.text);
    return NULL;
}
