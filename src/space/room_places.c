// Rooms: which one holds a point, their portals and goals, and how far these are apart inside a room.
// SPDX-License-Identifier: Apache-2.0
#include "space/room_parts.h"
#include "space/walls.h"
#include <math.h>
#include <string.h>

static const float CELL = 0.5f;       // [m] of the grid that says which rooms are where
enum { CELLS_MOST = 4000000 };        // wider cells on larger ground
static const float CORNER_OFF = 0.1f; // [m] ways around a corner keep this far off it
// Rooms with more corners than this (halls full of furniture) measure in straight lines.
enum { CORNERS_MOST = 150 };

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

static float cell_size(const th_box *box) {
    float area = (box->max_x - box->min_x) * (box->max_y - box->min_y);
    return th_max(CELL, sqrtf(area / (float)CELLS_MOST));
}

// Calls for every cell that the room's outline passes or whose middle is in the room. Two passes: count, then fill.
typedef struct cell_writer {
    th_room_grid *grid;
    float cell;
    int *last; // by cell: the room last noted there
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

static void note_room(cell_writer *w, const th_polygons *shape) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            note_edge(w, shape->points[j], shape->points[i]);
    }
    int column0 = (int)((shape->box.min_x - w->grid->origin.x) / w->cell);
    int column1 = (int)((shape->box.max_x - w->grid->origin.x) / w->cell);
    int row0 = (int)((shape->box.min_y - w->grid->origin.y) / w->cell);
    int row1 = (int)((shape->box.max_y - w->grid->origin.y) / w->cell);
    for (int row = row0; row <= row1; ++row)
        for (int column = column0; column <= column1; ++column) {
            th_vec2 middle = {w->grid->origin.x + ((float)column + 0.5f) * w->cell,
                              w->grid->origin.y + ((float)row + 0.5f) * w->cell};
            if (th_polygons_contain(shape, middle)) note_cell(w, column, row);
        }
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

bool th_rooms_build_grids(th_rooms *rooms) {
    th_arena *arena = rooms->arena;
    int levels = rooms->scene->level_count;
    rooms->grids = th_arena_alloc(arena, (size_t)levels, sizeof *rooms->grids);
    for (int l = 0; rooms->grids && l < levels; ++l) {
        th_room_grid *grid = &rooms->grids[l];
        th_box box = level_box(rooms, l);
        if (!(box.min_x <= box.max_x)) continue;
        float cell = cell_size(&box);
        grid->origin = th_v(box.min_x - 0.1f, box.min_y - 0.1f);
        grid->inverse_cell = 1.0f / cell;
        grid->nx = 1 + (int)((box.max_x - grid->origin.x + 0.1f) / cell);
        grid->ny = 1 + (int)((box.max_y - grid->origin.y + 0.1f) / cell);
        int cells = grid->nx * grid->ny;
        grid->start = th_arena_alloc(arena, (size_t)cells + 1, sizeof *grid->start);
        int *last = th_arena_alloc(arena, (size_t)cells, sizeof *last);
        if (!grid->start || !last) return false;
        cell_writer w = {grid, cell, last, 0, false};
        write_level(rooms, l, &w, false, cells);
        for (int c = 1; c <= cells; ++c) grid->start[c] += grid->start[c - 1];
        grid->list = th_arena_alloc(arena, (size_t)grid->start[cells] + 1, sizeof *grid->list);
        if (!grid->list) return false;
        write_level(rooms, l, &w, true, cells); // counts down to the beginnings
    }
    return rooms->grids != NULL;
}

int th_rooms_at(const th_rooms *rooms, int level, th_vec2 p) {
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

bool th_rooms_add_places(th_rooms *rooms, th_room *list) {
    const th_scene *scene = rooms->scene;
    int *portals =
        th_arena_alloc(rooms->arena, 2 * (size_t)rooms->portal_count + 1, sizeof *portals);
    if (!portals) return false;
    for (int p = 0; p < rooms->portal_count; ++p)
        for (int side = 0; side < 2; ++side) list[rooms->portals[p].rooms[side]].portal_count++;
    for (int r = 0; r < rooms->room_count; ++r) {
        int *own = portals;
        list[r].portals = own;
        portals += list[r].portal_count;
        list[r].portal_count = 0;
        int *goals = th_arena_alloc(rooms->arena, (size_t)scene->goal_count + 1, sizeof *goals);
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

// Is q seen from p, both of the room or on its rim, without leaving it? Over a portal and back by another the way may be
// shorter, but it is not one inside the room: people would turn back in the room between.
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

// Where a place is looked at from p, or p from it: in the room a little before a portal and a little off its ends. A line
// that ends on the portal itself would run along the wall to another door in it, and so count as hidden.
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

// Floyd and Warshall, by way of corners: what is reached at a place is its nearest point, what leaves it its middle, so no
// way leads on over a place.
static void through_corners(float *d, int places, int n) {
    for (int k = places; k < n; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                d[i * n + j] = th_min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

static bool measure_room(const th_rooms *rooms, const th_walls *walls, const th_room *room,
                         th_arena *work, float *distances) {
    th_vec2 corners[CORNERS_MOST];
    int places = room->portal_count + room->goal_count, hidden = 0;
    for (int i = 0; i < places; ++i)
        for (int j = 0; j < places; ++j) {
            th_vec2 from = place_middle(rooms, room, i),
                    to = th_rooms_place_point(rooms, room, j, from);
            distances[i * places + j] = th_length(th_sub(to, from));
            hidden += i != j && !sees(rooms, walls, room, before_place(rooms, room, i, from),
                                      before_place(rooms, room, j, from));
        }
    int count = hidden > 0 ? room_corners(rooms, room, corners) : 0, n = places + count;
    if (count <= 0) return true;
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

bool th_rooms_measure(th_rooms *rooms, th_room *list) {
    const th_scene *scene = rooms->scene;
    const uint8_t *open = th_arena_alloc(rooms->arena, (size_t)scene->door_count + 1, sizeof *open);
    if (!open) return false;
    th_walls walls = th_walls_of(scene, open);
    for (int r = 0; r < rooms->room_count; ++r) {
        size_t places = (size_t)list[r].portal_count + (size_t)list[r].goal_count;
        float *distances = th_arena_alloc(rooms->arena, places * places + 1, sizeof *distances);
        th_arena work = th_arena_of(&rooms->arena->memory.allocator);
        bool good = distances && measure_room(rooms, &walls, &list[r], &work, distances);
        th_arena_release(&work);
        if (!good) return false;
        list[r].distances = distances;
    }
    return true;
}

int th_room_place(const th_rooms *rooms, int room, int portal) {
    return th_place_of_portal(&rooms->rooms[room], portal);
}

int th_portal_side(const th_room_portal *portal, int room) {
    return th_side_of_portal(portal, room);
}
