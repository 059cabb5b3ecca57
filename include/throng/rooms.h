// throng: rooms and portals of a scene. A portal is a door, a passage narrower than what lies on both sides of it, or the
// top of stairs; rooms are what portals and walls cut the ground into. Found exactly from the plan, wherever it lies and
// however it is turned.
//
// Threads: rooms never change after th_rooms_create, so any number of threads may read them at once.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_ROOMS_H
#define THRONG_ROOMS_H

#include "throng/scene_view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum th_portal_kind { TH_PORTAL_DOOR, TH_PORTAL_PASSAGE, TH_PORTAL_STAIRS } th_portal_kind;

typedef struct th_room_portal {
    th_portal_kind kind;
    int index;     // of the door or the link; -1 for a passage
    th_vec2 a, b;  // its line; for stairs the same on both levels
    float width;   // [m]
    int rooms[2];  // on the left of a -> b and on the right; for stairs the lower and the upper
    int levels[2]; // of the rooms
    th_vec2 over;  // unit, across the line from rooms[0] to rooms[1]
} th_room_portal;

// Portals and goals of a room are its places.
typedef struct th_room {
    int level;
    th_polygons shape;
    int portal_count, goal_count;
    const int *portals; // by number in th_rooms
    const int *goals; // by number in the scene: exits, waypoints, waiting areas that reach into it
    // Walking distance inside the room between its places, portals first: (portal_count + goal_count) squared. [m]
    const float *distances;
} th_room;

typedef struct th_rooms {
    const th_scene *scene;
    const th_room *rooms;
    int room_count;
    const th_room_portal *portals;
    int portal_count;
} th_rooms;

// Passages wider than this do not part rooms: double doors are 2 m wide, corridors of public buildings up to 3 m. [m]
#define TH_PASSAGE_WIDTH_MAX 3.0
// A space shallower than this between two portals is a doorway in a thick wall, not a room. [m]
#define TH_ROOM_DEPTH 1.0

// `width_max`: of a passage that parts rooms, above 0; TH_PASSAGE_WIDTH_MAX is a good one.
// TH_NO_MEMORY, or TH_BAD_SCENE where the plan's lines cannot be joined. Destroy before the scene.
TH_API th_result th_rooms_create(const th_scene *scene, double width_max, th_rooms **rooms,
                                 th_error *error);
TH_API void th_rooms_destroy(th_rooms *rooms);
// The room that holds the point; -1: none, or no such level. A few comparisons, some more beside walls and portals.
TH_API int th_rooms_at(const th_rooms *rooms, int level, th_vec2 point);

// The place of the room for the portal, -1: it is not one of the room's; and the side of the portal that the room is on,
// 0 or 1, -1: on neither.
TH_API int th_room_place(const th_rooms *rooms, int room, int portal);
TH_API int th_portal_side(const th_room_portal *portal, int room);

#ifdef __cplusplus
}
#endif
#endif
