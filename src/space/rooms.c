// Rooms: the faces of the drawing that walls and portals make (GEOS joins the lines and walks around the faces), joined
// again where they are too shallow to be rooms. Cost: O(lines log lines) for the faces, portals x rooms for who lies on
// which side. SPDX-License-Identifier: Apache-2.0
#include "throng/rooms.h"
#include "core/error.h"
#include "core/geometry.h"
#include "scene/wall_chains.h"
#include "space/distance_grid.h"
#include "space/portals.h"
#include "space/room_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float OVERSHOOT = 0.005f; // [m] portals reach into the walls, so that lines meet
static const double SLIVER = 0.02;     // [m2] less is a rounding between lines

// ---- the lines of a level

typedef struct drawing {
    th_geometry *geometry;
    GEOSGeometry **lines;
    int count, capacity;
    th_arena *arena;
    bool failed;
} drawing;

static void add_line(drawing *d, th_vec2 a, th_vec2 b) {
    GEOSContextHandle_t geos = d->geometry->geos;
    if (d->failed || (a.x == b.x && a.y == b.y)) return;
    if (!th_arena_reserve(d->arena, (void *)&d->lines, &d->capacity, d->count + 1,
                          sizeof *d->lines)) {
        d->failed = true;
        return;
    }
    GEOSCoordSequence *ends = GEOSCoordSeq_create_r(geos, 2, 2);
    GEOSGeometry *line = NULL;
    if (ends) {
        GEOSCoordSeq_setXY_r(geos, ends, 0, (double)a.x, (double)a.y);
        GEOSCoordSeq_setXY_r(geos, ends, 1, (double)b.x, (double)b.y);
        line = GEOSGeom_createLineString_r(geos, ends);
    }
    d->failed = line == NULL;
    if (line) d->lines[d->count++] = line;
}

static void add_rings(drawing *d, const th_polygons *shape) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            add_line(d, shape->points[j], shape->points[i]);
    }
}

// On an open plane the ground ends a little beyond everything.
static void add_frame(drawing *d, const th_box *box) {
    const float beyond = 5.0f; // [m]
    if (!(box->min_x <= box->max_x && box->min_y <= box->max_y)) return;
    th_vec2 low = {box->min_x - beyond, box->min_y - beyond},
            high = {box->max_x + beyond, box->max_y + beyond};
    th_vec2 corner[4] = {low, {high.x, low.y}, high, {low.x, high.y}};
    for (int k = 0; k < 4; ++k) add_line(d, corner[k], corner[(k + 1) % 4]);
}

// Ground on both sides, or on none (a wall that runs on beyond the edge): not among the rings of the ground.
static bool is_thin(const th_level *level, const th_wall *wall) {
    th_vec2 middle = th_scale(0.5f, th_add(wall->a, wall->b));
    th_vec2 off = th_scale(0.003f, th_perp_left(wall->direction));
    return !level->bounded || th_polygons_contain(&level->walkable, th_add(middle, off)) ||
           !th_polygons_contain(&level->walkable, th_sub(middle, off));
}

// The corner of a wall that the end of a portal means; the end itself where there is none.
static th_vec2 snapped(const th_walls *walls, int level, th_vec2 end) {
    int near[8];
    const float reach = OVERSHOOT + TH_OPENING_REACH;
    int count = th_walls_near(walls, level, end, reach, near, NULL, 8);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &walls->walls[near[k]];
        if (th_length(th_sub(wall->a, end)) <= reach) return wall->a;
        if (th_length(th_sub(wall->b, end)) <= reach) return wall->b;
    }
    return end;
}

// From corner to corner, or a little into the wall where the end lies amid one: rounding must not leave a slit.
static void add_portal(drawing *d, const th_walls *walls, int level, const th_room_portal *portal) {
    th_vec2 a = snapped(walls, level, portal->a), b = snapped(walls, level, portal->b);
    th_vec2 more = th_scale(OVERSHOOT + TH_OPENING_REACH, th_unit(th_sub(b, a)));
    add_line(d, a, b);
    add_line(d, th_sub(a, more), a);
    add_line(d, b, th_add(b, more));
}

static void draw_level(drawing *d, const th_room_finder *f, int l) {
    const th_scene *scene = f->scene;
    const th_level *level = &scene->levels[l];
    th_walls walls = th_walls_of(scene, f->open);
    if (level->bounded)
        add_rings(d, &level->walkable);
    else
        add_frame(d, &level->box);
    for (int w = level->wall_begin; w < level->wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        // Of two edges back to back one is enough.
        if (wall->door < 0 && is_thin(level, wall)) add_line(d, wall->a, wall->b);
    }
    for (int k = 0; k < f->slit_count; ++k)
        if (f->slits[k].level == l) add_line(d, f->slits[k].a, f->slits[k].b);
    for (int p = 0; p < f->portal_count; ++p)
        if (f->portals[p].levels[0] == l || f->portals[p].levels[1] == l)
            add_portal(d, &walls, l, &f->portals[p]);
}

// The faces of the drawing, a collection of polygons; NULL: failed.
static GEOSGeometry *faces_of(drawing *d) {
    GEOSContextHandle_t geos = d->geometry->geos;
    GEOSGeometry *all =
        GEOSGeom_createCollection_r(geos, GEOS_MULTILINESTRING, d->lines, (unsigned)d->count);
    if (!all) return NULL;
    d->count = 0; // the collection owns them
    GEOSGeometry *joined = GEOSUnaryUnion_r(geos, all);
    GEOSGeom_destroy_r(geos, all);
    if (!joined) return NULL;
    const GEOSGeometry *parts[1] = {joined};
    GEOSGeometry *faces = GEOSPolygonize_r(geos, parts, 1);
    GEOSGeom_destroy_r(geos, joined);
    return faces;
}

static bool keep_face(th_room_finder *f, int level, const GEOSGeometry *polygon) {
    GEOSContextHandle_t geos = f->geometry.geos;
    double area = 0.0, x, y;
    if (!GEOSArea_r(geos, polygon, &area) || area < SLIVER) return true;
    GEOSGeometry *inside = GEOSPointOnSurface_r(geos, polygon);
    bool found =
        inside && GEOSGeomGetX_r(geos, inside, &x) == 1 && GEOSGeomGetY_r(geos, inside, &y) == 1;
    if (inside) GEOSGeom_destroy_r(geos, inside);
    if (!found) return false;
    if (!th_walkable(f->scene, level, th_v((float)x, (float)y))) return true;
    if (!th_arena_reserve(&f->work, (void *)&f->faces, &f->face_capacity, f->face_count + 1,
                          sizeof *f->faces))
        return false;
    th_face *face = &f->faces[f->face_count];
    *face = (th_face){.level = level, .area = area, .joined = f->face_count};
    if (!th_geometry_polygons(&f->geometry, polygon, (th_point){0.0, 0.0}, &f->work, &face->shape))
        return false;
    f->face_count++;
    return true;
}

static bool find_faces(th_room_finder *f, int level) {
    GEOSContextHandle_t geos = f->geometry.geos;
    drawing d = {.geometry = &f->geometry, .arena = &f->work};
    draw_level(&d, f, level);
    bool good = !d.failed;
    if (good && d.count > 0) {
        GEOSGeometry *faces = faces_of(&d);
        int count = faces ? GEOSGetNumGeometries_r(geos, faces) : -1;
        good = count >= 0;
        for (int k = 0; good && k < count; ++k)
            good = keep_face(f, level, GEOSGetGeometryN_r(geos, faces, k));
        if (faces) GEOSGeom_destroy_r(geos, faces);
    }
    for (int k = 0; k < d.count; ++k) GEOSGeom_destroy_r(geos, d.lines[k]);
    return good;
}

// ---- which faces a portal joins

static int face_at(const th_room_finder *f, int level, th_vec2 p) {
    for (int k = 0; k < f->face_count; ++k)
        if (f->faces[k].level == level && th_polygons_contain(&f->faces[k].shape, p)) return k;
    return -1;
}

static void find_sides(th_room_finder *f) {
    for (int p = 0; p < f->portal_count; ++p) {
        th_room_portal *portal = &f->portals[p];
        th_vec2 middle = th_scale(0.5f, th_add(portal->a, portal->b));
        for (int side = 0; side < 2; ++side) {
            float off = side == 0 ? -TH_BESIDE_PORTAL : TH_BESIDE_PORTAL;
            portal->rooms[side] =
                face_at(f, portal->levels[side], th_add(middle, th_scale(off, portal->over)));
        }
    }
}

// ---- doorways and alcoves are no rooms

static int root_of(const th_room_finder *f, int face) {
    while (face >= 0 && f->faces[face].joined != face) face = f->faces[face].joined;
    return face;
}

static bool parts_rooms(const th_room_finder *f, const th_room_portal *portal) {
    int a = root_of(f, portal->rooms[0]), b = root_of(f, portal->rooms[1]);
    return a >= 0 && b >= 0 && a != b;
}

// The passages of a face that is too shallow: the widest of them goes, and the face belongs to what lies behind it.
static bool join_face(th_room_finder *f, int face) {
    int count = 0, widest = -1;
    float width = 0.0f;
    for (int p = 0; p < f->portal_count; ++p) {
        const th_room_portal *portal = &f->portals[p];
        if (!parts_rooms(f, portal)) continue;
        if (root_of(f, portal->rooms[0]) != face && root_of(f, portal->rooms[1]) != face) continue;
        ++count;
        width = th_max(width, portal->width);
        bool passage = portal->kind == TH_PORTAL_PASSAGE;
        if (passage && (widest < 0 || portal->width > f->portals[widest].width)) widest = p;
    }
    if (widest < 0 || count > 2) return false;
    if (f->faces[face].area >= TH_ROOM_DEPTH * (double)width) return false;
    int a = root_of(f, f->portals[widest].rooms[0]), b = root_of(f, f->portals[widest].rooms[1]);
    int into = a == face ? b : a;
    f->faces[into].area += f->faces[face].area;
    f->faces[face].joined = into;
    return true;
}

static void join_faces(th_room_finder *f) {
    for (bool joined = true; joined;) {
        joined = false;
        for (int k = 0; k < f->face_count; ++k)
            if (f->faces[k].joined == k) joined = join_face(f, k) || joined;
    }
}

// ---- the result

static bool copy_shape(const th_room_finder *f, int root, th_arena *arena, th_polygons *shape) {
    int rings = 0, points = 0;
    for (int k = 0; k < f->face_count; ++k) {
        const th_polygons *part = &f->faces[k].shape;
        if (root_of(f, k) != root) continue;
        rings += part->ring_count;
        points += part->ring_start[part->ring_count];
    }
    int *start = th_arena_alloc(arena, (size_t)rings + 1, sizeof *start);
    th_vec2 *all = th_arena_alloc(arena, (size_t)points + 1, sizeof *all);
    if (!start || !all) return false;
    *shape = (th_polygons){.ring_count = rings, .ring_start = start, .points = all};
    shape->box = f->faces[root].shape.box;
    shape->area = f->faces[root].area;
    rings = points = 0;
    for (int k = 0; k < f->face_count; ++k) {
        const th_polygons *part = &f->faces[k].shape;
        if (root_of(f, k) != root) continue;
        shape->box = (th_box){
            th_min(shape->box.min_x, part->box.min_x), th_min(shape->box.min_y, part->box.min_y),
            th_max(shape->box.max_x, part->box.max_x), th_max(shape->box.max_y, part->box.max_y)};
        for (int r = 0; r < part->ring_count; ++r) {
            start[rings++] = points;
            for (int i = part->ring_start[r]; i < part->ring_start[r + 1]; ++i)
                all[points++] = part->points[i];
        }
    }
    start[rings] = points;
    return true;
}

static bool make_rooms(th_room_finder *f, th_rooms *rooms) {
    int *number = th_arena_alloc(&f->work, (size_t)f->face_count + 1, sizeof *number);
    th_room *list = th_arena_alloc(rooms->arena, (size_t)f->face_count + 1, sizeof *list);
    th_room_portal *portals =
        th_arena_alloc(rooms->arena, (size_t)f->portal_count + 1, sizeof *portals);
    if (!number || !list || !portals) return false;
    for (int k = 0; k < f->face_count; ++k) {
        if (f->faces[k].joined != k) continue;
        number[k] = rooms->room_count;
        list[rooms->room_count].level = f->faces[k].level;
        if (!copy_shape(f, k, rooms->arena, &list[rooms->room_count++].shape)) return false;
    }
    for (int p = 0; p < f->portal_count; ++p) {
        if (!parts_rooms(f, &f->portals[p])) continue;
        th_room_portal *portal = &portals[rooms->portal_count++];
        *portal = f->portals[p];
        for (int side = 0; side < 2; ++side)
            portal->rooms[side] = number[root_of(f, portal->rooms[side])];
    }
    rooms->rooms = list;
    rooms->portals = portals;
    return th_rooms_add_places(rooms, list) && th_rooms_build_grids(rooms) &&
           th_rooms_measure(rooms, list);
}

static th_result find(th_room_finder *f, float widest, th_rooms *rooms, th_error *error) {
    f->open = th_arena_alloc(&f->work, (size_t)f->scene->door_count + 1, sizeof *f->open);
    th_portals found = {0};
    bool good = f->open && th_portals_find(f->scene, widest, &f->work, &found);
    f->portals = found.portals;
    f->portal_count = found.count;
    f->slits = found.slits;
    f->slit_count = found.slit_count;
    if (good) good = th_geometry_open(&f->geometry);
    for (int l = 0; good && l < f->scene->level_count; ++l) good = find_faces(f, l);
    if (good) {
        find_sides(f);
        join_faces(f);
        good = make_rooms(f, rooms);
    }
    bool memory = !f->work.failed && !rooms->arena->failed;
    th_geometry_close(&f->geometry);
    if (good) return TH_OK;
    if (!memory)
        return th_fail(error, TH_NO_MEMORY, "levels",
                       "no memory for the rooms of the plan; free some or make it smaller");
    return th_fail(error, TH_BAD_SCENE, "levels",
                   "the lines of the plan could not be joined to rooms: %s; look for walls that "
                   "nearly coincide",
                   f->geometry.message);
}

th_result th_rooms_create(const th_scene *scene, double widest, th_rooms **out, th_error *error) {
    th_arena arena = th_arena_of(&scene->arena->memory.allocator);
    *out = NULL;
    th_rooms *rooms = th_arena_alloc(&arena, 1, sizeof *rooms);
    th_arena *own = th_arena_alloc(&arena, 1, sizeof *own);
    if (!rooms || !own) {
        th_arena_release(&arena);
        return th_fail(error, TH_NO_MEMORY, "levels", "no memory for the rooms of the plan");
    }
    *own = arena;
    rooms->scene = scene;
    rooms->arena = own;
    th_room_finder finder = {.scene = scene, .work = th_arena_of(&scene->arena->memory.allocator)};
    finder.geometry.arena = &finder.work;
    th_result result = find(&finder, (float)widest, rooms, error);
    th_arena_release(&finder.work);
    if (result == TH_OK)
        *out = rooms;
    else
        th_rooms_destroy(rooms);
    return result;
}

void th_rooms_destroy(th_rooms *rooms) {
    if (!rooms) return;
    th_arena arena = *rooms->arena; // which holds the rooms themselves
    th_arena_release(&arena);
}
