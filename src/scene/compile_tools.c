// Tools of all parts of the compiler: messages, ids, levels, shapes. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "scene/compile.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *th_at(th_compiler *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->path, sizeof c->path, format, arguments);
    va_end(arguments);
    return c->path;
}

void th_bad(th_compiler *c, const char *format, ...) {
    if (c->result != TH_OK) return;
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    c->result = th_fail(c->error, TH_BAD_SCENE, c->path, "%s", message);
}

void th_no_memory(th_compiler *c) {
    if (c->result == TH_OK) c->result = th_fail(c->error, TH_NO_MEMORY, c->path, "no memory");
}

void *th_take(th_compiler *c, size_t count, size_t size) {
    if (c->result != TH_OK) return NULL;
    void *memory = th_arena_alloc(c->scene->arena, count, size);
    if (!memory) th_no_memory(c);
    return memory;
}

const char *th_copy_string(th_compiler *c, const char *text) {
    if (!text || c->result != TH_OK) return NULL;
    if (!th_is_utf8(text))
        th_bad(c, "the text is not UTF-8; recordings and reports could not hold it");
    if (c->result != TH_OK) return NULL;
    char *copy = th_arena_string(c->scene->arena, text);
    if (!copy) th_no_memory(c);
    return copy;
}

void th_check_range(th_compiler *c, const char *name, double value, double low, double high,
                    const char *unit) {
    if (!(value >= low && value <= high))
        th_bad(c, "%s is %g; it must lie in %g .. %g %s", name, value, low, high, unit);
}

void th_check_above(th_compiler *c, const char *name, double value, double low, double high,
                    const char *unit) {
    if (!(value > low && value <= high))
        th_bad(c, "%s is %g; it must be above %g and at most %g %s", name, value, low, high, unit);
}

int th_level_index(th_compiler *c, const char *id) {
    if (c->result != TH_OK) return 0;
    if (!id) {
        if (c->level_count > 1)
            th_bad(c, "say which \"level\" this is on; the scene has %d", c->level_count);
        return 0;
    }
    for (int i = 0; i < c->level_count; ++i)
        if (strcmp(c->scene->levels[i].id, id) == 0) return i;
    enum { MOST = 64 };
    const char *known[MOST];
    int count = c->level_count < MOST ? c->level_count : MOST;
    for (int i = 0; i < count; ++i) known[i] = c->scene->levels[i].id;
    const char *near = th_nearest_word(id, known, count);
    th_bad(c,
           near ? "unknown level \"%.60s\"; did you mean \"%.60s\"?"
                : "unknown level \"%.60s\"; there is \"%.60s\"",
           id, near ? near : known[0]);
    return 0;
}

static uint64_t hash_of(const char *text) { // FNV-1a
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; ++text) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

const char *th_unique_id(th_compiler *c, const char *id, const char *kind, int index,
                         const char *(*earlier)(const th_scene *scene, int i), int earlier_count) {
    char made[40];
    snprintf(made, sizeof made, "%s%d", kind, index);
    const char *copy = th_copy_string(c, id ? id : made);
    if (!copy) return "";
    // Compares with all earlier ids; the limit keeps a hostile file from taking hours.
    enum { NAMED_LIMIT = 20000 };
    if (earlier_count >= NAMED_LIMIT) th_bad(c, "a scene has at most %d of a kind", NAMED_LIMIT);
    if (!copy[0] || strlen(copy) > 100) th_bad(c, "an id has 1 to 100 characters");
    if (!th_arena_reserve(&c->work, &c->id_hashes, &c->id_hash_capacity, earlier_count + 1,
                          sizeof *c->id_hashes)) {
        th_no_memory(c);
        return "";
    }
    uint64_t hash = c->id_hashes[earlier_count] = hash_of(copy);
    for (int i = 0; i < earlier_count && c->result == TH_OK; ++i)
        if (c->id_hashes[i] == hash && strcmp(earlier(c->scene, i), copy) == 0)
            th_bad(c, "the id \"%.60s\" is taken by an earlier %s; ids are unique", copy, kind);
    return copy;
}

static void extend(th_extent *extent, double x0, double y0, double x1, double y1) {
    extent->low.x = fmin(extent->low.x, x0);
    extent->low.y = fmin(extent->low.y, y0);
    extent->high.x = fmax(extent->high.x, x1);
    extent->high.y = fmax(extent->high.y, y1);
}

void th_gather_point(th_compiler *c, th_point point, int level) {
    if (c->result != TH_OK) return;
    if (!(fabs(point.x) <= TH_COORDINATE_MAX && fabs(point.y) <= TH_COORDINATE_MAX)) {
        th_bad(c, "the point (%g, %g) is not a place on earth", point.x, point.y);
        return;
    }
    extend(&c->extent, point.x, point.y, point.x, point.y);
    extend(&c->extents[level], point.x, point.y, point.x, point.y);
}

void th_gather_line(th_compiler *c, const th_point line[2], int level) {
    th_gather_point(c, line[0], level);
    th_gather_point(c, line[1], level);
    double x = line[1].x - line[0].x, y = line[1].y - line[0].y;
    if (x * x + y * y < 1e-4)
        th_bad(c, "the line has no length; its two points must be at least 1 cm apart");
}

static bool remember(th_compiler *c, const th_shape *shape, GEOSGeometry *geometry) {
    if (!th_arena_reserve(&c->work, &c->shapes, &c->shape_capacity, c->shape_count + 1,
                          sizeof *c->shapes))
        return false;
    c->shapes[c->shape_count].shape = shape;
    c->shapes[c->shape_count++].geometry = geometry;
    return true;
}

void th_gather_shape(th_compiler *c, const th_shape *shape, bool lines, int level) {
    if (c->result != TH_OK || th_shape_empty(shape)) return;
    th_error local = {0};
    th_error *error = c->error ? c->error : &local;
    GEOSGeometry *geometry = th_shape_drawn(shape)
                                 ? th_drawn_geometry(c, shape, lines)
                                 : th_geometry_parse(&c->geometry, shape, lines, c->path, error);
    if (!geometry) {
        if (c->result == TH_OK) c->result = error->code;
        return;
    }
    if (!remember(c, shape, geometry)) {
        GEOSGeom_destroy_r(c->geometry.geos, geometry);
        th_no_memory(c);
        return;
    }
    th_extent box = TH_NO_EXTENT;
    th_geometry_extend(&c->geometry, geometry, &box.low, &box.high);
    extend(&c->extent, box.low.x, box.low.y, box.high.x, box.high.y);
    extend(&c->extents[level], box.low.x, box.low.y, box.high.x, box.high.y);
}

// Shapes are asked for in the order they were gathered, so the search starts where it last ended.
GEOSGeometry *th_shape_geometry(th_compiler *c, const th_shape *shape) {
    for (int k = 0; k < c->shape_count; ++k) {
        int i = (c->shape_cursor + k) % c->shape_count;
        if (c->shapes[i].shape != shape) continue;
        c->shape_cursor = i;
        return c->shapes[i].geometry;
    }
    return NULL;
}

th_area th_compile_area(th_compiler *c, const th_shape *shape, int level) {
    th_area area = {.level = level};
    if (c->result != TH_OK) return area;
    if (!th_geometry_polygons(&c->geometry, th_shape_geometry(c, shape), c->scene->origin,
                              c->scene->arena, &area.shape))
        th_no_memory(c);
    return area;
}

th_vec2 th_relative(const th_compiler *c, th_point point) {
    th_vec2 relative = {(float)(point.x - c->scene->origin.x),
                        (float)(point.y - c->scene->origin.y)};
    return relative;
}

th_line th_compile_line(const th_compiler *c, const th_point line[2], int level) {
    th_line compiled = {level, th_relative(c, line[0]), th_relative(c, line[1])};
    return compiled;
}

static int count_lines(const char *text) {
    int count = 1;
    for (; *text; ++text) count += *text == '\n';
    return count;
}

static const char *skip_separator(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == ',' || *at == ';') ++at;
    return at;
}

static bool parse_row(const char *row, th_point *point) {
    char *end;
    point->x = strtod(row, &end);
    if (end == row) return false;
    row = skip_separator(end);
    point->y = strtod(row, &end);
    return end != row && isfinite(point->x) && isfinite(point->y);
}

th_result th_positions_read(th_arena *arena, th_link_scope links, const char *name,
                            const char *path, th_point **positions, int *count, th_error *error) {
    char *text = NULL;
    size_t length = 0;
    th_result result = th_file_read(arena, links, name, path, &text, &length, error);
    if (result != TH_OK) return result;
    *positions = th_arena_alloc(arena, (size_t)count_lines(text), sizeof **positions);
    if (!*positions) return th_fail(error, TH_NO_MEMORY, path, "no memory for %.200s", name);
    *count = 0;
    int line = 0;
    for (char *row = text; *row;) {
        char *end = strchr(row, '\n');
        if (end) *end = '\0';
        ++line;
        if (row[strspn(row, " \t\r,;")] && row[0] != '#') {
            if (parse_row(row, &(*positions)[*count]))
                ++*count;
            else if (line > 1)
                return th_fail(error, TH_BAD_SCENE, path,
                               "%.200s line %d: expected two numbers x,y", name, line);
        }
        row = end ? end + 1 : row + strlen(row);
    }
    if (*count == 0)
        return th_fail(error, TH_BAD_SCENE, path, "%.200s holds no positions; rows are x,y", name);
    return TH_OK;
}
