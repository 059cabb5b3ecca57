// Rooms: the faces of the drawing that walls and portals make (GEOS joins the lines and walks around the faces), joined
// again where they are too shallow to be rooms. Cost: O(lines log lines) for the faces, portals x rooms for which room
// lies on which side. SPDX-License-Identifier: Apache-2.0
#include "space/rooms.h"
#include "core/error.h"
#ifndef TH_COMPILED_ONLY
#include "core/geometry.h"
#endif
#include "scene/wall_chains.h"
#include "space/distance_grid.h"
#include "space/walls.h"
#include "throng/rooms.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct th_room_finder {
    const th_scene *scene;
    th_arena work;
#ifndef TH_COMPILED_ONLY
    th_geometry geometry;
#endif
    char message[320];       // why there are no faces
    uint8_t *open;           // by door: none is closed
    th_room_portal *portals; // their rooms are faces until the rooms are made
    int portal_count;
    const th_line *slits; // closed, as walls are
    int slit_count;
    th_face *faces;
    int face_count, face_capacity;
} th_room_finder;

// ---- which room holds a point, portals and goals of rooms, and how far these are apart inside a room

static const float CELL = 0.5f;       // [m] of the grid that says which rooms are where
enum { CELLS_MOST = 4000000 };        // of all levels; wider cells on larger ground
static const float CORNER_OFF = 0.1f; // [m] ways around a corner keep this far off it
// Rooms with more corners than this (halls full of furniture) measure in straight lines, and so do those that are reached
// when all rooms together have compared so many lines of sight with portals: less than a second of a processor.
enum { CORNERS_MOST = 150, SIGHTS_MOST = 100000000 };

// ---- which room holds a point

static th_box level_box(const th_rooms *rooms, int level) {
    th_box box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int r = 0; r < rooms->room_count; ++r) {
        const th_box *one = &rooms->rooms[r].shape.box;
        if (rooms->rooms[r].level != level) continue;
        box = (th_box){th_min(box.min_x, one->min_x), th_min(box.min_y, one->min_y),
                       th_max(box.max_x, one->max_x), th_max(box.max_y, one->max_y)};
    }
    return box;
}

static float cell_size(const th_box *box, int levels) {
    float area = (box->max_x - box->min_x) * (box->max_y - box->min_y);
    return th_max(CELL, sqrtf(area * (float)levels / (float)CELLS_MOST));
}

// Calls for every cell that the room's outline passes or whose middle is in the room. Two passes: count, then fill.
typedef struct cell_writer {
    th_room_grid *grid;
    float cell;
    int *last;   // by cell: the room last noted there
    char *above; // by column: what the cell of the row before is, see note_inside
    int room;
    bool fill;
} cell_writer;

static void note_cell(cell_writer *w, int column, int row) {
    if (column < 0 || row < 0 || column >= w->grid->nx || row >= w->grid->ny) return;
    int cell = row * w->grid->nx + column;
    if (w->last[cell] == w->room) return;
    w->last[cell] = w->room;
    if (w->fill)
        w->grid->list[--w->grid->start[cell]] = w->room;
    else
        w->grid->start[cell]++;
}

static void note_edge(cell_writer *w, th_vec2 a, th_vec2 b) {
    th_vec2 along = th_sub(b, a);
    int pieces = 1 + (int)(th_length(along) / w->cell);
    for (int k = 0; k < pieces; ++k) {
        th_vec2 p = th_add(a, th_scale((float)k / (float)pieces, along));
        th_vec2 q = th_add(a, th_scale((float)(k + 1) / (float)pieces, along));
        const float more = 0.01f; // [m] rounding
        int column0 = (int)floorf((th_min(p.x, q.x) - more - w->grid->origin.x) / w->cell);
        int column1 = (int)floorf((th_max(p.x, q.x) + more - w->grid->origin.x) / w->cell);
        int row0 = (int)floorf((th_min(p.y, q.y) - more - w->grid->origin.y) / w->cell);
        int row1 = (int)floorf((th_max(p.y, q.y) + more - w->grid->origin.y) / w->cell);
        for (int row = row0; row <= row1; ++row)
            for (int column = column0; column <= column1; ++column) note_cell(w, column, row);
    }
}

// Once the outline is noted. Of neighbours without outline both are in the room or neither is, so that few cells are
// compared with all edges.
static void note_inside(cell_writer *w, const th_polygons *shape) {
    enum { RIM, IN, OUT };
    int column0 = (int)((shape->box.min_x - w->grid->origin.x) / w->cell);
    int column1 = (int)((shape->box.max_x - w->grid->origin.x) / w->cell);
    int row0 = (int)((shape->box.min_y - w->grid->origin.y) / w->cell);
    int row1 = (int)((shape->box.max_y - w->grid->origin.y) / w->cell);
    if (column1 >= w->grid->nx) column1 = w->grid->nx - 1;
    if (row1 >= w->grid->ny) row1 = w->grid->ny - 1;
    for (int row = row0; row <= row1; ++row) {
        char left = RIM;
        for (int column = column0; column <= column1; ++column) {
            char above = row > row0 ? w->above[column] : RIM;
            if (w->last[row * w->grid->nx + column] == w->room) {
                left = RIM;
            } else if (left == RIM && above != RIM) {
                left = above;
            } else if (left == RIM) {
                th_vec2 middle = {w->grid->origin.x + ((float)column + 0.5f) * w->cell,
                                  w->grid->origin.y + ((float)row + 0.5f) * w->cell};
                left = th_polygons_contain(shape, middle) ? IN : OUT;
            }
            w->above[column] = left;
            if (left == IN) note_cell(w, column, row);
        }
    }
}

static void note_room(cell_writer *w, const th_polygons *shape) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            note_edge(w, shape->points[j], shape->points[i]);
    }
    note_inside(w, shape);
}

static void write_level(th_rooms *rooms, int level, cell_writer *w, bool fill, int cells) {
    w->fill = fill;
    for (int c = 0; c < cells; ++c) w->last[c] = -1;
    for (int r = rooms->room_count - 1; r >= 0; --r) {
        if (rooms->rooms[r].level != level) continue;
        w->room = r;
        note_room(w, &rooms->rooms[r].shape);
    }
}

// False: no memory.
static bool build_grids(th_rooms *rooms) {
    th_room_store *store = (th_room_store *)(void *)rooms;
    th_arena *arena = store->arena;
    int levels = rooms->scene->level_count;
    store->grids = th_arena_alloc(arena, (size_t)levels, sizeof *store->grids);
    for (int l = 0; store->grids && l < levels; ++l) {
        th_room_grid *grid = &store->grids[l];
        th_box box = level_box(rooms, l);
        if (!(box.min_x <= box.max_x)) continue;
        float cell = cell_size(&box, levels);
        grid->origin = th_v(box.min_x - 0.1f, box.min_y - 0.1f);
        grid->inverse_cell = 1.0f / cell;
        grid->nx = 1 + (int)((box.max_x - grid->origin.x + 0.1f) / cell);
        grid->ny = 1 + (int)((box.max_y - grid->origin.y + 0.1f) / cell);
        int cells = grid->nx * grid->ny;
        grid->start = th_arena_alloc(arena, (size_t)cells + 1, sizeof *grid->start);
        int *last = th_arena_alloc(arena, (size_t)cells, sizeof *last);
        char *above = th_arena_alloc(arena, (size_t)grid->nx, sizeof *above);
        if (!grid->start || !last || !above) return false;
        cell_writer w = {grid, cell, last, above, 0, false};
        write_level(rooms, l, &w, false, cells);
        for (int c = 1; c <= cells; ++c) grid->start[c] += grid->start[c - 1];
        grid->list = th_arena_alloc(arena, (size_t)grid->start[cells] + 1, sizeof *grid->list);
        if (!grid->list) return false;
        write_level(rooms, l, &w, true, cells); // counts down to the beginnings
    }
    return store->grids != NULL;
}

int th_rooms_at(const th_rooms *rooms, int level, th_vec2 p) {
    if (level < 0 || level >= rooms->scene->level_count) return -1;
    return th_room_of_point(rooms, level, p);
}

// ---- portals and goals of a room

static bool reaches_into(const th_rooms *rooms, int r, const th_goal *goal) {
    const th_room *room = &rooms->rooms[r];
    if (goal->is_line) {
        if (goal->line.level != room->level) return false;
        th_vec2 across = th_scale(0.03f, th_unit(th_perp_left(th_sub(goal->line.b, goal->line.a))));
        for (int k = 0; k < 10; ++k) {
            float t = 0.05f + 0.1f * (float)k;
            th_vec2 p = th_add(goal->line.a, th_scale(t, th_sub(goal->line.b, goal->line.a)));
            if (th_polygons_contain(&room->shape, th_add(p, across)) ||
                th_polygons_contain(&room->shape, th_sub(p, across)))
                return true;
        }
        return false;
    }
    if (goal->area.level != room->level) return false;
    const th_box *a = &goal->area.shape.box, *b = &room->shape.box;
    th_box box = {th_max(a->min_x, b->min_x), th_max(a->min_y, b->min_y),
                  th_min(a->max_x, b->max_x), th_min(a->max_y, b->max_y)};
    enum { SAMPLES = 20 };
    for (int k = 0; k < SAMPLES * SAMPLES && box.min_x <= box.max_x && box.min_y <= box.max_y;
         ++k) {
        float x = ((float)(k % SAMPLES) + 0.5f) / (float)SAMPLES;
        float y = ((float)(k / SAMPLES) + 0.5f) / (float)SAMPLES;
        th_vec2 p = {box.min_x + x * (box.max_x - box.min_x),
                     box.min_y + y * (box.max_y - box.min_y)};
        if (th_polygons_contain(&goal->area.shape, p) && th_polygons_contain(&room->shape, p))
            return true;
    }
    return false;
}

static bool add_places(th_rooms *rooms, th_room *list) {
    const th_scene *scene = rooms->scene;
    int *portals = th_arena_alloc(th_room_store_of(rooms)->arena,
                                  2 * (size_t)rooms->portal_count + 1, sizeof *portals);
    if (!portals) return false;
    for (int p = 0; p < rooms->portal_count; ++p)
        for (int side = 0; side < 2; ++side) list[rooms->portals[p].rooms[side]].portal_count++;
    for (int r = 0; r < rooms->room_count; ++r) {
        int *own = portals;
        list[r].portals = own;
        portals += list[r].portal_count;
        list[r].portal_count = 0;
        int *goals = th_arena_alloc(th_room_store_of(rooms)->arena, (size_t)scene->goal_count + 1,
                                    sizeof *goals);
        if (!goals) return false;
        list[r].goals = goals;
        for (int g = 0; g < scene->goal_count; ++g)
            if (reaches_into(rooms, r, &scene->goals[g])) goals[list[r].goal_count++] = g;
    }
    for (int p = 0; p < rooms->portal_count; ++p)
        for (int side = 0; side < 2; ++side) {
            th_room *room = &list[rooms->portals[p].rooms[side]];
            ((int *)(uintptr_t)room->portals)[room->portal_count++] = p;
        }
    return true;
}

// ---- distances

static th_vec2 place_middle(const th_rooms *rooms, const th_room *room, int place) {
    if (place < room->portal_count) {
        const th_room_portal *portal = &rooms->portals[room->portals[place]];
        return th_scale(0.5f, th_add(portal->a, portal->b));
    }
    const th_goal *goal = &rooms->scene->goals[room->goals[place - room->portal_count]];
    const th_box *box = &goal->area.shape.box;
    return goal->is_line ? th_scale(0.5f, th_add(goal->line.a, goal->line.b))
                         : th_v(0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y));
}

// Is q seen from p, both of the room or on its rim, without leaving it? Over a portal and back by another the way may
// be shorter, but it is not one inside the room: people would turn back in the room between.
static bool sees(const th_rooms *rooms, const th_walls *walls, const th_room *room, th_vec2 p,
                 th_vec2 q) {
    float length = th_length(th_sub(q, p));
    if (length <= 0.004f) return true;
    th_vec2 in = th_scale(0.002f / length, th_sub(q, p)); // ends may lie on walls and portals
    th_vec2 from = th_add(p, in), to = th_sub(q, in);
    if (th_walls_first_crossing(walls, room->level, from, to, NULL) >= 0) return false;
    for (int k = 0; k < room->portal_count; ++k) {
        double t;
        const th_room_portal *portal = &rooms->portals[room->portals[k]];
        if (th_segments_meet(from, to, portal->a, portal->b, &t)) return false;
    }
    return th_polygons_contain(&room->shape, th_scale(0.5f, th_add(p, q)));
}

// Where a place is looked at from p, or p from it: in the room a little before a portal and a little off its ends. A
// line that ends on the portal itself would run along the wall to another door in it, and so count as hidden.
static th_vec2 before_place(const th_rooms *rooms, const th_room *room, int place, th_vec2 p) {
    if (place >= room->portal_count) return th_rooms_place_point(rooms, room, place, p);
    const th_room_portal *portal = &rooms->portals[room->portals[place]];
    th_vec2 in = th_scale(th_min(CORNER_OFF / portal->width, 0.25f), th_sub(portal->b, portal->a));
    th_vec2 q = th_nearest_on_segment(p, th_add(portal->a, in), th_sub(portal->b, in));
    int side = th_side_of_portal(portal, (int)(room - rooms->rooms));
    return th_add(q, th_scale(side == 0 ? -CORNER_OFF : CORNER_OFF, portal->over));
}

// Corners that jut into the room, a little off the wall.
static int room_corners(const th_rooms *rooms, const th_room *room, th_vec2 *corners) {
    const th_scene *scene = rooms->scene;
    const th_level *level = &scene->levels[room->level];
    int count = 0;
    for (int w = level->wall_begin; w < level->wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        if (wall->door >= 0 || !wall->a_convex || wall->prev < 0) continue;
        th_vec2 before = scene->walls[wall->prev].direction;
        if (th_det(before, wall->direction) < 0.05f && th_dot(before, wall->direction) > 0.0f)
            continue;
        // The end of a thin wall is two corners: one would see only along the wall.
        th_vec2 off = th_add(th_perp_right(before), th_perp_right(wall->direction));
        bool thin = th_length2(off) < 0.01f;
        for (int side = 0; side < (thin ? 2 : 1); ++side) {
            if (thin)
                off = th_add(before, th_scale(side == 0 ? 0.5f : -0.5f, th_perp_left(before)));
            th_vec2 p = th_add(wall->a, th_scale(CORNER_OFF, th_unit(off)));
            if (!th_polygons_contain(&room->shape, p)) continue;
            if (count == CORNERS_MOST) return -1;
            corners[count++] = p;
        }
    }
    return count;
}

// Floyd and Warshall, by way of corners: what is reached at a place is its nearest point, what leaves it its middle, so
// no way leads on over a place.
static void through_corners(float *d, int places, int n) {
    for (int k = places; k < n; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                d[i * n + j] = th_min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

// Takes the work of all pairs of `n` points of a room. False: there is not so much left.
static bool may_compare(const th_room *room, int n, int64_t *left) {
    const int walls = 16; // at most on a line of sight, more or less
    int64_t work = (int64_t)n * n * (room->portal_count + walls);
    if (work > *left) return false;
    *left -= work;
    return true;
}

static bool measure_room(const th_rooms *rooms, const th_walls *walls, const th_room *room,
                         th_arena *work, int64_t *left, float *distances) {
    th_vec2 corners[CORNERS_MOST];
    int places = room->portal_count + room->goal_count, hidden = 0;
    bool looks = may_compare(room, places, left);
    for (int i = 0; i < places; ++i)
        for (int j = 0; j < places; ++j) {
            th_vec2 from = place_middle(rooms, room, i),
                    to = th_rooms_place_point(rooms, room, j, from);
            distances[i * places + j] = th_length(th_sub(to, from));
            hidden += looks && i != j &&
                      !sees(rooms, walls, room, before_place(rooms, room, i, from),
                            before_place(rooms, room, j, from));
        }
    int count = hidden > 0 ? room_corners(rooms, room, corners) : 0, n = places + count;
    if (count <= 0 || !may_compare(room, n, left)) return true;
    float *d = th_arena_alloc(work, (size_t)n * (size_t)n, sizeof *d);
    if (!d) return false;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            th_vec2 from = i < places ? place_middle(rooms, room, i) : corners[i - places];
            th_vec2 to =
                j < places ? th_rooms_place_point(rooms, room, j, from) : corners[j - places];
            th_vec2 p = i < places ? before_place(rooms, room, i, from) : from;
            th_vec2 q = j < places ? before_place(rooms, room, j, from) : to;
            d[i * n + j] = sees(rooms, walls, room, p, q) ? th_length(th_sub(to, from)) : INFINITY;
        }
    through_corners(d, places, n);
    for (int i = 0; i < places; ++i)
        for (int j = 0; j < places; ++j)
            if (d[i * n + j] < INFINITY) distances[i * places + j] = d[i * n + j];
    return true;
}

static bool measure_rooms(th_rooms *rooms, th_room *list) {
    const th_scene *scene = rooms->scene;
    const uint8_t *open =
        th_arena_alloc(th_room_store_of(rooms)->arena, (size_t)scene->door_count + 1, sizeof *open);
    if (!open) return false;
    th_walls walls = th_walls_of(scene, open);
    int64_t left = SIGHTS_MOST;
    for (int r = 0; r < rooms->room_count; ++r) {
        size_t places = (size_t)list[r].portal_count + (size_t)list[r].goal_count;
        float *distances =
            th_arena_alloc(th_room_store_of(rooms)->arena, places * places + 1, sizeof *distances);
        th_arena work = th_arena_of(&th_room_store_of(rooms)->arena->memory.allocator);
        bool good = distances && measure_room(rooms, &walls, &list[r], &work, &left, distances);
        th_arena_release(&work);
        if (!good) return false;
        list[r].distances = distances;
    }
    return true;
}

int th_room_place(const th_rooms *rooms, int room, int portal) {
    if (room < 0 || room >= rooms->room_count) return -1;
    return th_place_of_portal(&rooms->rooms[room], portal);
}

int th_portal_side(const th_room_portal *portal, int room) {
    bool beside = portal->rooms[0] == room || portal->rooms[1] == room;
    return beside ? th_side_of_portal(portal, room) : -1;
}

// ---- the faces

#ifdef TH_COMPILED_ONLY

static bool draw_faces(th_room_finder *f) {
    snprintf(f->message, sizeof f->message, "this build of throng has no GEOS to find them");
    return false;
}

#else

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
        // One of two edges back to back is enough.
        if (wall->door < 0 && is_thin(level, wall)) add_line(d, wall->a, wall->b);
    }
    for (int k = 0; k < f->slit_count; ++k)
        if (f->slits[k].level == l) add_line(d, f->slits[k].a, f->slits[k].b);
    for (int p = 0; p < f->portal_count; ++p)
        if (f->portals[p].levels[0] == l || f->portals[p].levels[1] == l)
            add_portal(d, &walls, l, &f->portals[p]);
}

static int by_left_end(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

// Lines that cross each other more often than this are not a plan of rooms; joining them would take gigabytes.
static const double LINE_PAIRS_MOST = 2e6;

// Counts pairs of lines whose boxes meet, in strips across the drawing: an upper bound on the number of crossings.
static bool is_tangled(drawing *d) {
    if (0.5 * (double)d->count * (double)d->count <= LINE_PAIRS_MOST) return false;
    double(*boxes)[4] = th_arena_alloc(d->arena, (size_t)d->count, sizeof *boxes);
    if (!boxes) return false; // joining them fails for want of memory
    for (int k = 0; k < d->count; ++k) {
        GEOSGeom_getXMin_r(d->geometry->geos, d->lines[k], &boxes[k][0]);
        GEOSGeom_getXMax_r(d->geometry->geos, d->lines[k], &boxes[k][1]);
        GEOSGeom_getYMin_r(d->geometry->geos, d->lines[k], &boxes[k][2]);
        GEOSGeom_getYMax_r(d->geometry->geos, d->lines[k], &boxes[k][3]);
    }
    qsort(boxes, (size_t)d->count, sizeof *boxes, by_left_end);
    double meet = 0.0, looked_at = 0.0;
    for (int k = 0; k < d->count; ++k)
        for (int j = k + 1; j < d->count && boxes[j][0] <= boxes[k][1]; ++j) {
            meet += boxes[j][2] <= boxes[k][3] && boxes[j][3] >= boxes[k][2];
            if (meet > LINE_PAIRS_MOST) return true;
            if (++looked_at > 100.0 * LINE_PAIRS_MOST) return false;
        }
    return false;
}

// The faces of the drawing, a collection of polygons; NULL: failed.
static GEOSGeometry *faces_of(drawing *d) {
    GEOSContextHandle_t geos = d->geometry->geos;
    if (is_tangled(d)) {
        snprintf(d->geometry->message, sizeof d->geometry->message,
                 "its walls cross or crowd each other millions of times");
        return NULL;
    }
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

// ---- the order of the faces
// Versions of GEOS list the faces of one drawing in different orders, and their rings from different points and in
// different directions. Rooms, areas and ways must not depend on that: each ring runs counter-clockwise from its lowest
// point, and rings and faces are sorted by their points.

static int compare_points(th_vec2 a, th_vec2 b) {
    if (a.x != b.x) return a.x < b.x ? -1 : 1;
    return a.y < b.y ? -1 : a.y > b.y;
}

static double ring_area(const th_vec2 *points, int count) {
    double twice = 0.0;
    for (int i = 0, j = count - 1; i < count; j = i++)
        twice +=
            (double)points[j].x * (double)points[i].y - (double)points[i].x * (double)points[j].y;
    return 0.5 * twice;
}

static void reverse(th_vec2 *points, int begin, int end) {
    for (; begin < --end; ++begin) {
        th_vec2 swap = points[begin];
        points[begin] = points[end];
        points[end] = swap;
    }
}

// Points may coincide when they are rounded, so the points that follow decide between equals.
static int compare_starts(const th_vec2 *points, int count, int a, int b) {
    int order = 0;
    for (int k = 0; order == 0 && k < count; ++k)
        order = compare_points(points[(a + k) % count], points[(b + k) % count]);
    return order;
}

static void order_ring(th_vec2 *points, int count) {
    int lowest = 0;
    if (ring_area(points, count) < 0.0) reverse(points, 0, count);
    for (int i = 1; i < count; ++i)
        if (compare_starts(points, count, i, lowest) < 0) lowest = i;
    reverse(points, 0, lowest); // three reversals turn the ring
    reverse(points, lowest, count);
    reverse(points, 0, count);
}

typedef struct ring {
    const th_vec2 *points;
    int count;
} ring;

static int compare_rings(const void *a, const void *b) {
    const ring *p = a, *q = b;
    for (int i = 0; i < p->count && i < q->count; ++i) {
        int order = compare_points(p->points[i], q->points[i]);
        if (order != 0) return order;
    }
    return p->count - q->count;
}

static int compare_faces(const void *a, const void *b) {
    const th_polygons *p = &((const th_face *)a)->shape, *q = &((const th_face *)b)->shape;
    const ring one = {p->points, p->ring_start[1]}, other = {q->points, q->ring_start[1]};
    return compare_rings(&one, &other); // the outlines: faces do not overlap
}

// The outline holds the lowest point of all and comes first. False: no memory.
static bool order_rings(th_face *face, th_arena *work) {
    th_polygons *shape = &face->shape;
    int count = shape->ring_count, size = shape->ring_start[count], at = 0;
    ring *rings = th_arena_alloc(work, (size_t)count, sizeof *rings);
    th_vec2 *points = th_arena_alloc(work, (size_t)size, sizeof *points);
    int *start = th_arena_alloc(work, (size_t)count + 1, sizeof *start);
    if (!rings || !points || !start) return false;
    memcpy(points, shape->points, (size_t)size * sizeof *points);
    for (int r = 0; r < count; ++r) {
        th_vec2 *own = points + shape->ring_start[r];
        rings[r] = (ring){own, shape->ring_start[r + 1] - shape->ring_start[r]};
        order_ring(own, rings[r].count);
    }
    qsort(rings, (size_t)count, sizeof *rings, compare_rings);
    th_vec2 *sorted = th_arena_alloc(work, (size_t)size, sizeof *sorted);
    if (!sorted) return false;
    face->area = 0.0;
    for (int r = 0; r < count; ++r) {
        start[r] = at;
        memcpy(sorted + at, rings[r].points, (size_t)rings[r].count * sizeof *sorted);
        at += rings[r].count;
        face->area += (r == 0 ? 1.0 : -1.0) * ring_area(rings[r].points, rings[r].count);
    }
    start[count] = at;
    shape->points = sorted;
    shape->ring_start = start;
    shape->area = face->area;
    return true;
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
    *face = (th_face){.level = level};
    if (!th_geometry_polygons(&f->geometry, polygon, (th_point){0.0, 0.0}, &f->work, &face->shape))
        return false;
    if (!order_rings(face, &f->work)) return false;
    f->face_count++;
    return true;
}

static bool find_faces(th_room_finder *f, int level) {
    GEOSContextHandle_t geos = f->geometry.geos;
    drawing d = {.geometry = &f->geometry, .arena = &f->work};
    int first = f->face_count;
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
    if (good && f->face_count > first)
        qsort(f->faces + first, (size_t)(f->face_count - first), sizeof *f->faces, compare_faces);
    for (int k = first; k < f->face_count; ++k) f->faces[k].joined = k;
    for (int k = 0; k < d.count; ++k) GEOSGeom_destroy_r(geos, d.lines[k]);
    return good;
}

// Draws the faces of all levels.
static bool draw_faces(th_room_finder *f) {
    f->geometry.arena = &f->work;
    bool good = th_geometry_open(&f->geometry);
    for (int l = 0; good && l < f->scene->level_count; ++l) good = find_faces(f, l);
    th_geometry_close(&f->geometry);
    snprintf(f->message, sizeof f->message, "%s; look for walls that nearly coincide",
             f->geometry.message);
    return good;
}

#endif

// Takes the faces that a compiled scene holds.
static bool take_faces(th_room_finder *f) {
    size_t count = (size_t)f->scene->face_count;
    f->faces = th_arena_alloc(&f->work, count, sizeof *f->faces);
    if (!f->faces) return false;
    if (count) memcpy(f->faces, f->scene->faces, count * sizeof *f->faces);
    f->face_count = f->scene->face_count;
    for (int k = 0; k < f->face_count; ++k) f->faces[k].joined = k;
    return true;
}

static bool find_plan(th_room_finder *f, float widest) {
    f->open = th_arena_alloc(&f->work, (size_t)f->scene->door_count + 1, sizeof *f->open);
    th_portals found = {0};
    int64_t work = TH_PASSAGE_WORK;
    if (!f->open || !th_portals_find(f->scene, widest, &work, &f->work, &found)) return false;
    snprintf(f->message, sizeof f->message,
             "there are too many corners close together; draw walls and obstacles coarser");
    if (work <= 0) return false;
    f->portals = found.portals;
    f->portal_count = found.count;
    f->slits = found.slits;
    f->slit_count = found.slit_count;
    bool known = f->scene->faces && widest == (float)TH_PASSAGE_WIDTH_MAX;
    return known ? take_faces(f) : draw_faces(f);
}

static th_result no_rooms(const th_room_finder *f, bool memory, th_error *error) {
    if (!memory)
        return th_fail(error, TH_NO_MEMORY, "levels",
                       "no memory for the rooms of the plan; free some or make it smaller");
    return th_fail(error, TH_BAD_SCENE, "levels",
                   "the lines of the plan could not be joined to rooms: %s", f->message);
}

th_result th_faces_find(const th_scene *scene, th_arena *arena, th_face **faces, int *count,
                        th_error *error) {
    th_room_finder f = {.scene = scene, .work = *arena};
    bool found = find_plan(&f, (float)TH_PASSAGE_WIDTH_MAX);
    *arena = f.work;
    *faces = f.faces;
    *count = f.face_count;
    return found ? TH_OK : no_rooms(&f, !arena->failed, error);
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

// ---- doorways and alcoves are not rooms

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
    th_room *list =
        th_arena_alloc(th_room_store_of(rooms)->arena, (size_t)f->face_count + 1, sizeof *list);
    th_room_portal *portals = th_arena_alloc(th_room_store_of(rooms)->arena,
                                             (size_t)f->portal_count + 1, sizeof *portals);
    if (!number || !list || !portals) return false;
    for (int k = 0; k < f->face_count; ++k) {
        if (f->faces[k].joined != k) continue;
        number[k] = rooms->room_count;
        list[rooms->room_count].level = f->faces[k].level;
        if (!copy_shape(f, k, th_room_store_of(rooms)->arena, &list[rooms->room_count++].shape))
            return false;
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
    return add_places(rooms, list) && build_grids(rooms) && measure_rooms(rooms, list);
}

static th_result find(th_room_finder *f, float widest, th_rooms *rooms, th_error *error) {
    bool good = find_plan(f, widest);
    if (good) {
        find_sides(f);
        join_faces(f);
        good = make_rooms(f, rooms);
    }
    bool memory = !f->work.failed && !th_room_store_of(rooms)->arena->failed;
    return good ? TH_OK : no_rooms(f, memory, error);
}

th_result th_rooms_create(const th_scene *scene, double width_max, th_rooms **out,
                          th_error *error) {
    th_arena arena = th_arena_of(&scene->arena->memory.allocator);
    *out = NULL;
    if (!(width_max > 0.0))
        return th_fail(error, TH_BAD_ARGUMENT, "width_max",
                       "passages that part rooms are at most %g m wide; give more than 0",
                       width_max);
    th_room_store *store = th_arena_alloc(&arena, 1, sizeof *store);
    th_arena *own = th_arena_alloc(&arena, 1, sizeof *own);
    if (!store || !own) {
        th_arena_release(&arena);
        return th_fail(error, TH_NO_MEMORY, "levels", "no memory for the rooms of the plan");
    }
    *own = arena;
    store->arena = own;
    th_rooms *rooms = &store->rooms;
    rooms->scene = scene;
    th_room_finder finder = {.scene = scene, .work = th_arena_of(&scene->arena->memory.allocator)};
    th_result result = find(&finder, (float)width_max, rooms, error);
    th_arena_release(&finder.work);
    if (result == TH_OK)
        *out = rooms;
    else
        th_rooms_destroy(rooms);
    return result;
}

void th_rooms_destroy(th_rooms *rooms) {
    if (!rooms) return;
    th_arena arena = *th_room_store_of(rooms)->arena; // which holds the rooms themselves
    th_arena_release(&arena);
}
