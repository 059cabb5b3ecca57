// How far it is from every portal to a set of goals, room by room. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_ROOM_WAYS_H
#define TH_SPACE_ROOM_WAYS_H
#include "core/front.h"
#include "space/room_queries.h"

// A node is 2 * portal + side: to cross the portal into rooms[side].
typedef struct th_room_ways {
    const th_rooms *rooms;
    const int *goals;
    int goal_count;
    th_front *front; // work space for two nodes per portal
    float *
        ways; // by node: this far to the nearest of the goals, without turning back at once [m]; INFINITY: no way
    int *next; // by node: the one crossed next, -1: goes to a goal, or no way
} th_room_ways;

// Doors whose bit is set in `shut` are not passed. Cost: O(n log n) of the pairs of portals that share a room.
void th_room_ways_search(const th_room_ways *w, const uint32_t *shut);
// The same for ways that are known for the set `before`. Cost: the pairs of those portals whose ways differ, and a look at
// every portal.
void th_room_ways_change(const th_room_ways *w, const uint32_t *before, const uint32_t *shut);
#endif
