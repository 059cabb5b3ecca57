// What the files of rooms share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_ROOM_PARTS_H
#define TH_SPACE_ROOM_PARTS_H
#include "core/geometry.h"
#include "space/room_queries.h"

typedef struct th_face {
    int level;
    th_polygons shape;
    double area;
    int joined; // to this face; itself: it is a room
} th_face;

typedef struct th_room_finder {
    const th_scene *scene;
    th_arena work;
    th_geometry geometry;
    uint8_t *open;           // by door: none is closed
    th_room_portal *portals; // their rooms are faces until the rooms are made
    int portal_count;
    const th_line *slits; // closed, as walls are
    int slit_count;
    th_face *faces;
    int face_count, face_capacity;
} th_room_finder;

// room_places.c. False: no memory.
bool th_rooms_build_grids(th_rooms *rooms);
bool th_rooms_add_places(th_rooms *rooms, th_room *list); // portals and goals of every room
bool th_rooms_measure(th_rooms *rooms, th_room *list);    // distances between them
#endif
