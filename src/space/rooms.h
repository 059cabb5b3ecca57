// Rooms inside the engine; throng/rooms.h is what a caller sees of them. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_ROOMS_H
#define TH_SPACE_ROOMS_H
#include "core/front.h"
#include "core/memory.h"
#include "formula/segment.h"
#include "scene/scene.h"
#include "space/walls.h"
#include "throng/rooms.h"
#include <math.h>

// ---- lines that part rooms: doors, tops of stairs, narrow passages

#define TH_BESIDE_PORTAL 0.02f // [m] off a portal's line lies what it leads to

typedef struct th_portals {
    th_room_portal
        *portals;   // doors and links of the scene, then the passages found, narrowest first
    int count;      // some may turn out not to part anything
    th_line *slits; // over what is left between the end of a wall and the next one: no way
    int slit_count;
} th_portals;

// False: no memory. `work` is what the search may cost [walls looked at] and what is left of it; at 0 or below passages
// are missing.
bool th_portals_find(const th_scene *scene, float widest, int64_t *work, th_arena *arena,
                     th_portals *found);

// Passages narrower than `widest`, one a corner. At most `most`, the first found, and only
// those that TH_PASSAGE_WORK finds. Returns how many, -1 without memory.
int th_gaps_find(const th_scene *scene, float widest, th_arena *arena, th_narrow_gap *gaps,
                 int most);

// Width of the narrowest place between two walls, on any level, that is at least `least` wide [m]; `most` if there is
// none narrower than that (at most twice the reach of the wall grids). Doors count as open. The arena has failed where
// there was no memory to look. Where thousands of walls meet in single cells, the search ends with its work (about a
// second) and gives the narrowest so far.
float th_narrowest_passage(const th_scene *scene, th_arena *arena, float least, float most);
// The same for several searches with one allowance: `work` is what is left of it [walls looked at].
#define TH_PASSAGE_WORK INT64_C(200000000)
float th_narrowest_passage_within(const th_scene *scene, th_arena *arena, float least, float most,
                                  int64_t *work);

// ---- faces: what walls and portals cut the ground into

typedef struct th_face {
    int level;
    th_polygons shape; // its rings in a fixed order, the outline first
    double area;
    int joined; // to this face; itself: it is a room
} th_face;

// The faces for rooms with TH_PASSAGE_WIDTH_MAX, in the arena: those that a compiled scene has, or what GEOS finds.
th_result th_faces_find(const th_scene *scene, th_arena *arena, th_face **faces, int *count,
                        th_error *error);

// ---- questions about rooms that agents ask while they walk, on the CPU and on a device

// Cells of a level, each with the rooms that reach into it.
typedef struct th_room_grid {
    th_vec2 origin;
    float inverse_cell;
    int nx, ny;
    int *start; // nx * ny + 1
    int *list;
} th_room_grid;

// The result of th_rooms_create: the public lists first, then the engine's part.
typedef struct th_room_store {
    th_rooms rooms;
    struct th_arena *arena;
    th_room_grid *grids; // by level: which rooms reach into a cell
} th_room_store;

TH_BOTH static inline const th_room_store *th_room_store_of(const th_rooms *rooms) {
    return (const th_room_store *)(const void *)rooms;
}

// th_rooms_at
TH_BOTH static inline int th_room_of_point(const th_rooms *rooms, int level, th_vec2 p) {
    const th_room_grid *grid = &th_room_store_of(rooms)->grids[level];
    float column = (p.x - grid->origin.x) * grid->inverse_cell;
    float row = (p.y - grid->origin.y) * grid->inverse_cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return -1;
    int cell = (int)row * grid->nx + (int)column;
    int begin = grid->start[cell], end = grid->start[cell + 1];
    if (end - begin == 1) return grid->list[begin];
    for (int k = begin; k < end; ++k)
        if (th_polygons_contain(&rooms->rooms[grid->list[k]].shape, p)) return grid->list[k];
    return -1;
}

// th_room_place
TH_BOTH static inline int th_place_of_portal(const th_room *room, int portal) {
    for (int k = 0; k < room->portal_count; ++k)
        if (room->portals[k] == portal) return k;
    return -1;
}

// th_portal_side
TH_BOTH static inline int th_side_of_portal(const th_room_portal *portal, int room) {
    return portal->rooms[0] == room ? 0 : 1;
}

TH_BOTH static inline th_vec2 th_nearest_of_area(const th_polygons *shape, th_vec2 p) {
    th_vec2 best = p;
    float least = INFINITY;
    if (th_polygons_contain(shape, p)) return p;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            th_vec2 q = th_nearest_on_segment(p, shape->points[j], shape->points[i]);
            float distance2 = th_length2(th_sub(q, p));
            if (distance2 < least) {
                least = distance2;
                best = q;
            }
        }
    }
    return best;
}

// The nearest point of a room's place (portals first, then goals) to p.
TH_BOTH static inline th_vec2 th_rooms_place_point(const th_rooms *rooms, const th_room *room,
                                                   int place, th_vec2 p) {
    if (place < room->portal_count) {
        const th_room_portal *portal = &rooms->portals[room->portals[place]];
        return th_nearest_on_segment(p, portal->a, portal->b);
    }
    const th_goal *goal = &rooms->scene->goals[room->goals[place - room->portal_count]];
    return goal->is_line ? th_nearest_on_segment(p, goal->line.a, goal->line.b)
                         : th_nearest_of_area(&goal->area.shape, p);
}

// ---- distances from every portal to a set of goals, room by room

// A node is 2 * portal + side: to cross the portal into rooms[side].
typedef struct th_room_ways {
    const th_rooms *rooms;
    const int *goals;
    int goal_count;
    th_front *front; // work space for two nodes per portal
    // By node: this far to the nearest of the goals, without turning back at once [m]; INFINITY: no way.
    float *ways;
    int *next; // by node: the one crossed next, -1: goes to a goal, or no way
} th_room_ways;

// Doors whose bit is set in `shut` are not passed. Cost: O(n log n) of the pairs of portals that share a room.
void th_room_ways_search(const th_room_ways *w, const uint32_t *shut);
// The same for ways that are known for the set `before`. Cost: the pairs of those portals whose ways differ, and a look at
// every portal.
void th_room_ways_change(const th_room_ways *w, const uint32_t *before, const uint32_t *shut);
#endif
