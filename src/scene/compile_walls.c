// Levels' ground and walls: union of what is walkable minus obstacles, then its boundary as wall edges.
// SPDX-License-Identifier: Apache-2.0
#include "scene/compile.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// GEOS takes a quarter of a millisecond to unite two squares that do not touch; a scene may have 50 000. From so many
// on those that touch nothing are set aside first.
enum { APART_FROM = 1000 };

typedef struct part_box {
    double x0, y0, x1, y1;
    int part;
} part_box;

static int compare_boxes(const void *left, const void *right) {
    const part_box *a = left, *b = right;
    return a->x0 != b->x0 ? (a->x0 > b->x0) - (a->x0 < b->x0) : a->part - b->part;
}

// touched[i]: the box of part i meets that of another, or it is not one polygon.
static bool find_touched(th_compiler *c, GEOSGeometry **parts, int count, bool *touched) {
    GEOSContextHandle_t geos = c->geometry.geos;
    part_box *boxes = th_arena_alloc(&c->work, (size_t)count, sizeof *boxes);
    if (!boxes) return false;
    for (int i = 0; i < count; ++i) {
        part_box *box = &boxes[i];
        box->part = i;
        GEOSGeom_getXMin_r(geos, parts[i], &box->x0);
        GEOSGeom_getYMin_r(geos, parts[i], &box->y0);
        GEOSGeom_getXMax_r(geos, parts[i], &box->x1);
        GEOSGeom_getYMax_r(geos, parts[i], &box->y1);
        touched[i] = GEOSGeomTypeId_r(geos, parts[i]) != GEOS_POLYGON;
    }
    qsort(boxes, (size_t)count, sizeof *boxes, compare_boxes);
    for (int i = 0; i < count; ++i)
        for (int k = i + 1; k < count && boxes[k].x0 <= boxes[i].x1; ++k)
            if (boxes[k].y0 <= boxes[i].y1 && boxes[k].y1 >= boxes[i].y0)
                touched[boxes[i].part] = touched[boxes[k].part] = true;
    return true;
}

// Union of the parts that are chosen (of all without a choice).
static GEOSGeometry *unite(th_compiler *c, GEOSGeometry **parts, const bool *chosen, int count) {
    GEOSContextHandle_t geos = c->geometry.geos;
    GEOSGeometry **copies = th_arena_alloc(&c->work, (size_t)count, sizeof *copies);
    if (!copies) {
        th_no_memory(c);
        return NULL;
    }
    unsigned used = 0;
    for (int i = 0; i < count; ++i)
        if (!chosen || chosen[i]) copies[used++] = GEOSGeom_clone_r(geos, parts[i]);
    GEOSGeometry *all = GEOSGeom_createCollection_r(geos, GEOS_GEOMETRYCOLLECTION, copies, used);
    GEOSGeometry *merged = all ? GEOSUnaryUnion_r(geos, all) : NULL;
    if (all) GEOSGeom_destroy_r(geos, all);
    return merged;
}

// The same as the union of all, where the parts are polygons; NULL otherwise.
static GEOSGeometry *union_of_apart(th_compiler *c, GEOSGeometry **parts, int count) {
    GEOSContextHandle_t geos = c->geometry.geos;
    bool *touched = th_arena_alloc(&c->work, (size_t)count, sizeof *touched);
    if (!touched || !find_touched(c, parts, count, touched)) return NULL;
    GEOSGeometry *merged = unite(c, parts, touched, count);
    int pieces = merged ? GEOSGetNumGeometries_r(geos, merged) : -1;
    GEOSGeometry **all =
        pieces < 0 ? NULL : th_arena_alloc(&c->work, (size_t)pieces + (size_t)count, sizeof *all);
    bool good = all != NULL;
    for (int i = 0; i < pieces && good; ++i)
        good = GEOSGeomTypeId_r(geos, GEOSGetGeometryN_r(geos, merged, i)) == GEOS_POLYGON;
    GEOSGeometry *result = NULL;
    if (good) {
        unsigned used = 0;
        for (int i = 0; i < pieces; ++i)
            all[used++] = GEOSGeom_clone_r(geos, GEOSGetGeometryN_r(geos, merged, i));
        for (int i = 0; i < count; ++i)
            if (!touched[i]) all[used++] = GEOSGeom_clone_r(geos, parts[i]);
        result = GEOSGeom_createCollection_r(geos, GEOS_MULTIPOLYGON, all, used);
    }
    if (merged) GEOSGeom_destroy_r(geos, merged);
    return result;
}

// Union of several shapes; NULL when there are none. The caller destroys it.
static GEOSGeometry *union_of(th_compiler *c, GEOSGeometry **parts, int count) {
    if (count == 0) return NULL;
    if (th_geometry_tangled(&c->geometry, parts, count)) {
        th_bad(c, "these shapes cross each other more than %d times; draw fewer or shorter ones",
               TH_CROSSING_MAX);
        return NULL;
    }
    GEOSGeometry *merged = count < APART_FROM ? NULL : union_of_apart(c, parts, count);
    if (!merged) merged = unite(c, parts, NULL, count);
    if (!merged && c->result == TH_OK)
        th_bad(c, "the shapes cannot be joined: %.200s", c->geometry.message);
    return merged;
}

static GEOSGeometry *union_of_shapes(th_compiler *c, const th_shape *shapes, int count,
                                     int extra_level) {
    int most = count + (extra_level >= 0 ? c->def->stairs_count : 0), used = 0;
    GEOSGeometry **parts = th_arena_alloc(&c->work, (size_t)most + 1, sizeof *parts);
    if (!parts) {
        th_no_memory(c);
        return NULL;
    }
    for (int i = 0; i < count; ++i) {
        parts[used] = th_shape_geometry(c, &shapes[i]);
        if (parts[used]) ++used;
    }
    for (int i = 0; extra_level >= 0 && i < c->def->stairs_count; ++i) {
        if (c->scene->links[i].level[0] != extra_level) continue;
        parts[used] = th_shape_geometry(c, &c->def->stairs[i].area);
        if (parts[used]) ++used;
    }
    return union_of(c, parts, used);
}

typedef struct ring_target {
    th_wall_builder *builder;
    bool solid_inside; // rings of obstacles; otherwise rings of walkable ground
} ring_target;

static double signed_area(const th_vec2 *points, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        th_vec2 a = points[i], b = points[(i + 1) % count];
        sum += ((double)a.x - (double)points[0].x) * ((double)b.y - (double)points[0].y) -
               ((double)b.x - (double)points[0].x) * ((double)a.y - (double)points[0].y);
    }
    return 0.5 * sum;
}

// Turns a ring so that the solid is on its left.
static bool add_ring(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    ring_target *target = context;
    if (!ring) return th_wall_builder_add(target->builder, points, count, false);
    int corners = count - 1;
    bool wants_counter_clockwise = target->solid_inside != hole;
    if ((signed_area(points, corners) > 0.0) == wants_counter_clockwise)
        return th_wall_builder_add(target->builder, points, corners, true);
    const th_memory *memory = &target->builder->memory;
    th_vec2 *turned = th_alloc(memory, (size_t)corners, sizeof *turned);
    if (!turned) return false;
    for (int i = 0; i < corners; ++i) turned[i] = points[corners - 1 - i];
    bool good = th_wall_builder_add(target->builder, turned, corners, true);
    th_dealloc(memory, turned, (size_t)corners, sizeof *turned);
    return good;
}

// Thin walls: noded and merged, so that nothing is there twice; what lies on a solid's edge is dropped.
static void add_thin_walls(th_compiler *c, int level, const GEOSGeometry *solid_boundary,
                           th_wall_builder *builder) {
    const th_level_def *def = &c->levels[level];
    GEOSContextHandle_t geos = c->geometry.geos;
    th_at(c, "levels[%d].walls", level);
    GEOSGeometry *lines = union_of_shapes(c, def->walls, def->wall_count, -1);
    if (!lines) return;
    if (solid_boundary) {
        GEOSGeometry *rest = GEOSDifference_r(geos, lines, solid_boundary);
        if (rest) {
            GEOSGeom_destroy_r(geos, lines);
            lines = rest;
        }
    }
    GEOSGeometry *merged = GEOSLineMerge_r(geos, lines);
    ring_target target = {builder, true};
    if (!th_geometry_visit(&c->geometry, merged ? merged : lines, c->scene->origin, add_ring,
                           &target))
        th_no_memory(c);
    if (merged) GEOSGeom_destroy_r(geos, merged);
    GEOSGeom_destroy_r(geos, lines);
}

// Sets walkable[level] (NULL on an open plane) and adds the walls of the ground.
static void add_ground(th_compiler *c, int level, th_wall_builder *builder) {
    const th_level_def *def = &c->levels[level];
    GEOSContextHandle_t geos = c->geometry.geos;
    bool bounded = def->walkable_count > 0;
    th_at(c, "levels[%d].walkable", level);
    GEOSGeometry *ground =
        bounded ? union_of_shapes(c, def->walkable, def->walkable_count, level) : NULL;
    th_at(c, "levels[%d].obstacles", level);
    GEOSGeometry *solid = union_of_shapes(c, def->obstacles, def->obstacle_count, -1);
    if (c->result == TH_OK && ground && solid) {
        GEOSGeometry *rest = GEOSDifference_r(geos, ground, solid);
        if (!rest) th_bad(c, "the obstacles cannot be cut out: %.200s", c->geometry.message);
        GEOSGeom_destroy_r(geos, ground);
        ground = rest;
        if (ground && GEOSisEmpty_r(geos, ground))
            th_bad(c, "the obstacles leave nothing to walk on");
    }
    th_polygons *walkable = &c->list.levels[level].walkable;
    if (c->result == TH_OK && bounded &&
        !th_geometry_polygons(&c->geometry, ground, c->scene->origin, c->scene->arena, walkable))
        th_no_memory(c);
    const GEOSGeometry *source = bounded ? ground : solid;
    ring_target target = {builder, !bounded};
    // On an open plane nothing lies behind the edge of a solid: openings leave it whole.
    int openings = builder->opening_count;
    if (!bounded) builder->opening_count = 0;
    builder->note_gaps = true;
    builder->ground = bounded ? walkable : NULL;
    if (c->result == TH_OK &&
        !th_geometry_visit(&c->geometry, source, c->scene->origin, add_ring, &target))
        th_no_memory(c);
    builder->note_gaps = false;
    builder->ground = NULL;
    builder->opening_count = openings;
    GEOSGeometry *boundary = c->result == TH_OK && source ? GEOSBoundary_r(geos, source) : NULL;
    if (c->result == TH_OK) add_thin_walls(c, level, boundary, builder);
    if (boundary) GEOSGeom_destroy_r(geos, boundary);
    if (solid) GEOSGeom_destroy_r(geos, solid);
    c->walkable[level] = ground;
}

static void grow_box(th_box *box, th_vec2 p) {
    box->min_x = p.x < box->min_x ? p.x : box->min_x;
    box->min_y = p.y < box->min_y ? p.y : box->min_y;
    box->max_x = p.x > box->max_x ? p.x : box->max_x;
    box->max_y = p.y > box->max_y ? p.y : box->max_y;
}

static void set_box(th_compiler *c, int index, const th_wall *walls) {
    th_level *level = &c->list.levels[index];
    if (level->bounded) {
        level->box = level->walkable.box;
    } else {
        th_extent e = c->extents[index];
        if (e.low.x > e.high.x) {
            e.low = c->scene->origin;
            e.high = c->scene->origin;
        }
        th_vec2 low = th_relative(c, e.low), high = th_relative(c, e.high);
        // Room to walk around what is named: 5 m and a tenth of the whole.
        float margin_x = 5.0f + 0.1f * (high.x - low.x), margin_y = 5.0f + 0.1f * (high.y - low.y);
        level->box =
            (th_box){low.x - margin_x, low.y - margin_y, high.x + margin_x, high.y + margin_y};
    }
    for (int i = level->wall_begin; i < level->wall_end; ++i) grow_box(&level->box, walls[i].a);
}

static void add_narrow_gaps(th_compiler *c, int level, th_wall_builder *builder) {
    for (int k = 0; k < c->narrow_gap_count && c->result == TH_OK; ++k) {
        const th_narrow_gap *gap = &c->narrow_gaps[k];
        if (gap->line.level != level) continue;
        if (gap->door < 0 && !th_wall_builder_add_door(builder, &gap->line, TH_NARROW_GAP))
            th_no_memory(c);
        int door = gap->door < 0 ? TH_NARROW_GAP : gap->door;
        for (int w = gap->door < 0 ? builder->count - 2 : c->list.levels[level].wall_begin;
             w < builder->count; ++w)
            if (builder->walls[w].door == door)
                builder->walls[w].gap = fminf(builder->walls[w].gap, gap->width);
    }
}

// Grids and fields look at each wall every half metre or so.
static const double WALL_KILOMETRES_MOST = 2500.0;

static void check_length(th_compiler *c, const th_wall_builder *builder) {
    double length = 0.0;
    for (int w = 0; w < builder->count; ++w) length += (double)builder->walls[w].length;
    th_at(c, "levels");
    if (length > 1000.0 * WALL_KILOMETRES_MOST)
        th_bad(
            c,
            "the edges of walls, obstacles and ground are %.0f km long together; at most %.0f km: "
            "leave out what no person comes near, or part the scene",
            0.001 * length, WALL_KILOMETRES_MOST);
}

void th_compile_walls(th_compiler *c) {
    th_scene *scene = c->scene;
    th_wall_builder builder = {.memory = scene->arena->memory};
    builder.openings = th_collect_openings(c, &builder.opening_count);
    for (int level = 0; level < c->level_count && c->result == TH_OK; ++level) {
        builder.level = level;
        c->list.levels[level].wall_begin = builder.count;
        add_ground(c, level, &builder);
        int first = c->list.levels[level].wall_begin;
        for (int i = 0; i < scene->door_count && c->result == TH_OK; ++i) {
            th_line *line = &c->list.doors[i].line;
            if (line->level != level) continue;
            th_wall_builder_fit_door(&builder, &c->list.levels[level], first, line);
            if (!th_wall_builder_add_door(&builder, line, i)) th_no_memory(c);
        }
        add_narrow_gaps(c, level, &builder);
        c->list.levels[level].wall_end = builder.count;
        if (c->result == TH_OK) set_box(c, level, builder.walls);
    }
    th_wall_builder_finish(&builder);
    if (c->result == TH_OK) check_length(c, &builder);
    th_wall *walls = th_take(c, (size_t)builder.count + 1, sizeof *walls);
    if (walls) {
        if (builder.count) memcpy(walls, builder.walls, (size_t)builder.count * sizeof *walls);
        scene->walls = walls;
        scene->wall_count = builder.count;
    }
    c->gap_count = builder.gap_count;
    c->gaps = th_arena_alloc(&c->work, (size_t)builder.gap_count + 1, sizeof *c->gaps);
    if (!c->gaps)
        th_no_memory(c);
    else if (builder.gap_count)
        memcpy(c->gaps, builder.gaps, (size_t)builder.gap_count * sizeof *c->gaps);
    th_wall_builder_release(&builder);
}
