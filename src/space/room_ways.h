// How far it is from every portal to a set of goals, room by room. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_ROOM_WAYS_H
#define TH_SPACE_ROOM_WAYS_H
#include "core/front.h"
#include "space/room_queries.h"

// ways[2 * portal + side]: who crosses the portal into rooms[side] walks this far to the nearest of the goals [m], without
// turning back at once; INFINITY: no way. Doors whose bit is set in `shut` are not passed. `front` has room for two nodes
// per portal. Cost: O(n log n) of the pairs of portals that share a room.
void th_room_ways(const th_rooms *rooms, const int *goals, int goal_count, const uint32_t *shut,
                  th_front *front, float *ways);
#endif
