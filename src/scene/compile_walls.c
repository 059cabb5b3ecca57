// Levels' ground and walls: union of what is walkable minus obstacles, then its boundary as wall edges.
// SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "formula/vec.h"
#include "scene/compile.h"
#include "scene/wall_chains.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// GEOS takes a quarter of a millisecond to unite two squares that do not touch, and a scene may have 50 000. From this
// number on, shapes that touch no other are set aside first.
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

// Copies of areas without seams between them; NULL: there are none.
static GEOSGeometry **copies_without_seams(th_compiler *c, GEOSGeometry **parts, int count) {
    GEOSContextHandle_t geos = c->geometry.geos;
    if (count < 2 || GEOSGeom_getDimensions_r(geos, parts[0]) != 2) return NULL;
    GEOSGeometry **copies = th_arena_alloc(&c->work, (size_t)count, sizeof *copies);
    bool good = copies != NULL, changed = false;
    int made = 0;
    for (; good && made < count; made += good) {
        copies[made] = GEOSGeom_clone_r(geos, parts[made]);
        good = copies[made] != NULL;
    }
    good = good && th_geometry_close_seams(&c->geometry, copies, count, &changed);
    if (good && changed) return copies;
    for (int i = 0; i < made; ++i) GEOSGeom_destroy_r(geos, copies[i]);
    if (!good) th_no_memory(c);
    return NULL;
}

// Union of several shapes; NULL when there are none. The caller destroys it.
static GEOSGeometry *union_of(th_compiler *c, GEOSGeometry **parts, int count) {
    if (count == 0) return NULL;
    if (th_geometry_tangled(&c->geometry, parts, count)) {
        th_bad(c, "these shapes cross each other more than %d times; draw fewer or shorter ones",
               TH_CROSSING_MAX);
        return NULL;
    }
    GEOSGeometry **copies = copies_without_seams(c, parts, count);
    if (c->result != TH_OK) return NULL;
    if (copies) parts = copies;
    GEOSGeometry *merged = count < APART_FROM ? NULL : union_of_apart(c, parts, count);
    if (!merged) merged = unite(c, parts, NULL, count);
    for (int i = 0; copies && i < count; ++i) GEOSGeom_destroy_r(c->geometry.geos, copies[i]);
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
        th_add_bars(c, level, &builder);
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

// ---- chains of wall edges

static const float VERY_WIDE = 1e30f; // [m] a gap that all agents fit through

static bool reserve(th_wall_builder *builder, int more) {
    return th_alloc_reserve(&builder->memory, &builder->walls, &builder->capacity,
                            builder->count + more, sizeof *builder->walls);
}

void th_wall_builder_release(th_wall_builder *builder) {
    th_dealloc(&builder->memory, builder->walls, (size_t)builder->capacity, sizeof *builder->walls);
    th_dealloc(&builder->memory, builder->gaps, (size_t)builder->gap_capacity,
               sizeof *builder->gaps);
    builder->walls = NULL;
    builder->gaps = NULL;
    builder->count = builder->capacity = builder->gap_count = builder->gap_capacity = 0;
}

// Edges over points[0..count), the last one back to the first point.
static bool emit_ring(th_wall_builder *builder, const th_vec2 *points, int count, int door) {
    if (!reserve(builder, count)) return false;
    int first = builder->count;
    for (int i = 0; i < count; ++i) {
        th_wall *wall = &builder->walls[first + i];
        wall->a = points[i];
        wall->b = points[(i + 1) % count];
        th_vec2 along = th_sub(wall->b, wall->a);
        wall->length = th_length(along);
        wall->direction = th_scale(1.0f / wall->length, along);
        wall->next = first + (i + 1) % count;
        wall->prev = first + (i + count - 1) % count;
        wall->level = builder->level;
        wall->door = door;
        wall->gap = VERY_WIDE;
    }
    builder->count += count;
    return true;
}

// Both sides of an open chain: p0 p1 ... pn-1 pn-2 ... p1 is a closed ring.
static bool emit_two_sided(th_wall_builder *builder, const th_vec2 *points, int count, int door) {
    if (count < 2) return true;
    int around = 2 * (count - 1);
    th_vec2 *ring = th_alloc(&builder->memory, (size_t)around, sizeof *ring);
    if (!ring) return false;
    memcpy(ring, points, (size_t)count * sizeof *ring);
    for (int i = count; i < around; ++i) ring[i] = points[around - i];
    bool good = emit_ring(builder, ring, around, door);
    th_dealloc(&builder->memory, ring, (size_t)around, sizeof *ring);
    return good;
}

static bool same_point(th_vec2 a, th_vec2 b) {
    return fabsf(a.x - b.x) < TH_SAME_POINT && fabsf(a.y - b.y) < TH_SAME_POINT;
}

// b lies on the way from a to c.
static bool goes_straight(th_vec2 a, th_vec2 b, th_vec2 c) {
    double abx = (double)b.x - (double)a.x, aby = (double)b.y - (double)a.y;
    double bcx = (double)c.x - (double)b.x, bcy = (double)c.y - (double)b.y;
    double acx = abx + bcx, acy = aby + bcy, length = sqrt(acx * acx + acy * acy);
    return abx * bcx + aby * bcy > 0.0 &&
           fabs(abx * acy - aby * acx) <= (double)TH_SAME_POINT * length;
}

// Drops repeated and straight-through points in place; returns how many are left.
static int simplify(th_vec2 *points, int count, bool closed) {
    int kept = 0;
    for (int i = 0; i < count; ++i)
        if (kept == 0 || !same_point(points[kept - 1], points[i])) points[kept++] = points[i];
    while (closed && kept > 1 && same_point(points[0], points[kept - 1])) --kept;
    count = kept;
    kept = 0;
    th_vec2 first = points[0];
    for (int i = 0; i < count; ++i) {
        bool end = !closed && (i == 0 || i == count - 1);
        th_vec2 before = kept ? points[kept - 1] : points[count - 1];
        th_vec2 after = i + 1 < count ? points[i + 1] : kept ? points[0] : first;
        if (end || count < 3 || !goes_straight(before, points[i], after))
            points[kept++] = points[i];
    }
    return kept;
}

typedef struct interval {
    float begin, end; // [m] along an edge
} interval;

static int compare_intervals(const void *left, const void *right) {
    const interval *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

// The part of edge a-b that an opening takes away.
static bool cut_by(const th_line *opening, th_vec2 a, th_vec2 direction, float length,
                   interval *cut) {
    th_vec2 from = th_sub(opening->a, a), to = th_sub(opening->b, a);
    th_vec2 span = th_sub(to, from);
    float opening_length = th_length(span);
    if (opening_length < TH_OPENING_REACH) return false;
    if (fabsf(th_det(direction, span)) > 0.05f * opening_length) return false; // within 3 degrees
    float s0 = th_dot(from, direction), s1 = th_dot(to, direction);
    float d0 = th_det(direction, from), d1 = th_det(direction, to);
    float begin = th_max(th_min(s0, s1), 0.0f), end = th_min(th_max(s0, s1), length);
    if (end - begin < TH_SAME_POINT) return false;
    float slope = (d1 - d0) / (s1 - s0);
    if (fabsf(d0 + slope * (begin - s0)) > TH_OPENING_REACH ||
        fabsf(d0 + slope * (end - s0)) > TH_OPENING_REACH)
        return false;
    // A remainder of less than a centimetre is drawing noise, not a wall.
    cut->begin = begin < TH_OPENING_REACH ? 0.0f : begin;
    cut->end = end > length - TH_OPENING_REACH ? length : end;
    return end - begin >= TH_OPENING_REACH || (cut->begin == 0.0f && cut->end == length);
}

// A door's line that runs on along the edge of the ground beside its opening, by no more than TH_DOOR_SLIT, opens nothing
// there.
static bool runs_on(const th_wall_builder *builder, const th_opening *opening, th_vec2 a,
                    th_vec2 direction, const interval *cut) {
    const float behind = 0.05f; // [m] as th_check_openings
    if (opening->kind != TH_OPENING_DOOR || !builder->ground ||
        cut->end - cut->begin > TH_DOOR_SLIT)
        return false;
    th_vec2 p = th_add(a, th_scale(0.5f * (cut->begin + cut->end), direction));
    return !th_polygons_contain(builder->ground,
                                th_add(p, th_scale(behind, th_perp_left(direction))));
}

// An opening of this level whose box the edge a-b touches.
static bool may_open(const th_wall_builder *builder, const th_opening *opening, th_vec2 a,
                     th_vec2 b) {
    const th_box *box = &opening->box;
    return opening->line.level == builder->level && th_max(a.x, b.x) >= box->min_x &&
           th_min(a.x, b.x) <= box->max_x && th_max(a.y, b.y) >= box->min_y &&
           th_min(a.y, b.y) <= box->max_y;
}

static bool note_gap(th_wall_builder *builder, const th_opening *opening, th_vec2 a,
                     th_vec2 direction, const interval *cut) {
    if (!builder->note_gaps) return true;
    if (!th_alloc_reserve(&builder->memory, &builder->gaps, &builder->gap_capacity,
                          builder->gap_count + 1, sizeof *builder->gaps))
        return false;
    builder->gaps[builder->gap_count++] = (th_gap){opening, a, direction, cut->begin, cut->end};
    return true;
}

// A chain with the ends of the openings as extra points, and which segments they take away.
typedef struct cut_chain {
    th_vec2 *points;
    bool *removed; // segment i starts at point i
    int count, capacity;
    interval *cuts;
    bool any;
} cut_chain;

static void push(cut_chain *chain, th_vec2 point, bool removed) {
    chain->points[chain->count] = point;
    chain->removed[chain->count++] = removed;
    chain->any = chain->any || removed;
}

static bool cut_edge(th_wall_builder *builder, cut_chain *chain, th_vec2 a, th_vec2 b) {
    th_vec2 along = th_sub(b, a);
    float length = th_length(along);
    th_vec2 direction = th_scale(1.0f / length, along);
    int count = 0;
    for (int i = 0; i < builder->opening_count; ++i) {
        const th_opening *opening = &builder->openings[i];
        if (!may_open(builder, opening, a, b) ||
            !cut_by(&opening->line, a, direction, length, &chain->cuts[count]))
            continue;
        if (runs_on(builder, opening, a, direction, &chain->cuts[count])) continue;
        if (!note_gap(builder, opening, a, direction, &chain->cuts[count++])) return false;
    }
    qsort(chain->cuts, (size_t)count, sizeof *chain->cuts, compare_intervals);
    float at = 0.0f;
    for (int i = 0; i < count; ++i) {
        if (chain->cuts[i].end <= at) continue;
        float begin = th_max(chain->cuts[i].begin, at);
        if (begin > at) push(chain, th_add(a, th_scale(at, direction)), false);
        push(chain, th_add(a, th_scale(begin, direction)), true);
        at = chain->cuts[i].end;
    }
    if (at < length) push(chain, at > 0.0f ? th_add(a, th_scale(at, direction)) : a, false);
    return true;
}

// Runs of standing segments become two-sided walls.
static bool emit_pieces(th_wall_builder *builder, const cut_chain *chain, bool closed) {
    int segments = closed ? chain->count : chain->count - 1, first = 0;
    while (closed && !chain->removed[first]) ++first; // start behind an opening
    th_vec2 *piece = th_alloc(&builder->memory, (size_t)chain->count + 1, sizeof *piece);
    if (!piece) return false;
    bool good = true;
    int length = 0;
    for (int k = 0; k < segments && good; ++k) {
        int i = (first + k) % chain->count, next = (i + 1) % chain->count;
        if (!chain->removed[i]) {
            if (length == 0) piece[length++] = chain->points[i];
            piece[length++] = chain->points[next];
        }
        if (chain->removed[i] || k == segments - 1) {
            if (length) length = simplify(piece, length, false);
            good = emit_two_sided(builder, piece, length, -1);
            length = 0;
        }
    }
    th_dealloc(&builder->memory, piece, (size_t)chain->count + 1, sizeof *piece);
    return good;
}

static bool cut_and_emit(th_wall_builder *builder, const th_vec2 *points, int count, bool closed) {
    size_t openings = (size_t)builder->opening_count + 1;
    cut_chain chain = {0};
    int segments = closed ? count : count - 1;
    int bound = 0;
    for (int i = 0; i < segments; ++i) {
        th_vec2 a = points[i], b = points[(i + 1) % count], along = th_sub(b, a);
        float length = th_length(along);
        interval ignored;
        for (int k = 0; k < builder->opening_count; ++k)
            if (may_open(builder, &builder->openings[k], a, b))
                bound += cut_by(&builder->openings[k].line, a, th_scale(1.0f / length, along),
                                length, &ignored);
    }
    chain.capacity = count + 2 * bound + 2;
    size_t capacity = (size_t)chain.capacity;
    chain.points = th_alloc(&builder->memory, capacity, sizeof *chain.points);
    chain.removed = th_alloc(&builder->memory, capacity, sizeof *chain.removed);
    chain.cuts = th_alloc(&builder->memory, openings, sizeof *chain.cuts);
    bool good = chain.points && chain.removed && chain.cuts;
    if (good) {
        for (int i = 0; i < segments && good; ++i)
            good = cut_edge(builder, &chain, points[i], points[(i + 1) % count]);
        if (!closed) push(&chain, points[count - 1], false);
        if (good && chain.any)
            good = emit_pieces(builder, &chain, closed);
        else if (good && closed)
            good = emit_ring(builder, points, count, -1);
        else if (good)
            good = emit_two_sided(builder, points, count, -1);
    }
    th_dealloc(&builder->memory, chain.points, capacity, sizeof *chain.points);
    th_dealloc(&builder->memory, chain.removed, capacity, sizeof *chain.removed);
    th_dealloc(&builder->memory, chain.cuts, openings, sizeof *chain.cuts);
    return good;
}

bool th_wall_builder_add(th_wall_builder *builder, const th_vec2 *points, int count, bool closed) {
    if (count < 2) return true;
    th_vec2 *copy = th_alloc(&builder->memory, (size_t)count, sizeof *copy);
    if (!copy) return false;
    memcpy(copy, points, (size_t)count * sizeof *copy);
    int kept = simplify(copy, count, closed);
    // A ring that collapsed to a line in floats is a thin wall.
    bool good = kept < 2 || cut_and_emit(builder, copy, kept, closed && kept > 2);
    th_dealloc(&builder->memory, copy, (size_t)count, sizeof *copy);
    return good;
}

// Is there a wall, or a door, within TH_DOOR_SLIT of p? Its nearest point into *best.
static bool has_within_slit(const th_wall_builder *builder, int first, bool doors, th_vec2 p,
                            th_vec2 *best) {
    bool found = false;
    float least = TH_DOOR_SLIT * TH_DOOR_SLIT;
    for (int w = first; w < builder->count; ++w) {
        const th_wall *wall = &builder->walls[w];
        if ((wall->door >= 0) != doors || !th_boxes_touch(wall->a, wall->b, p, p, TH_DOOR_SLIT))
            continue;
        th_vec2 q = th_nearest_on_segment(p, wall->a, wall->b);
        float distance2 = th_length2(th_sub(q, p));
        if (distance2 > least) continue;
        least = distance2;
        *best = q;
        found = true;
    }
    return found;
}

void th_wall_builder_fit_door(const th_wall_builder *builder, const th_level *level, int first,
                              th_line *line) {
    const float touches = 1e-4f; // [m] rounding
    if (th_length(th_sub(line->b, line->a)) < 3.0f * TH_DOOR_SLIT) return;
    for (int side = 0; side < 2; ++side) {
        th_vec2 *end = side == 0 ? &line->a : &line->b;
        th_vec2 q;
        if (!has_within_slit(builder, first, false, *end, &q) &&
            !has_within_slit(builder, first, true, *end, &q))
            continue;
        if (th_length(th_sub(q, *end)) > touches &&
            (!level->bounded || th_polygons_contain(&level->walkable, *end)))
            *end = q;
    }
}

bool th_wall_builder_add_door(th_wall_builder *builder, const th_line *line, int door) {
    const th_vec2 ends[2] = {line->a, line->b};
    return emit_two_sided(builder, ends, 2, door);
}

void th_wall_builder_finish(th_wall_builder *builder) {
    for (int i = 0; i < builder->count; ++i) {
        th_wall *wall = &builder->walls[i];
        th_vec2 p = builder->walls[wall->prev].a, a = wall->a, b = wall->b;
        double left = ((double)p.x - (double)b.x) * ((double)a.y - (double)p.y) -
                      ((double)p.y - (double)b.y) * ((double)a.x - (double)p.x);
        wall->a_convex = left >= 0.0;
    }
}
