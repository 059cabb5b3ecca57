// Lines that part rooms: doors, tops of stairs, narrow passages. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_PORTALS_H
#define TH_SPACE_PORTALS_H
#include "core/memory.h"
#include "space/walls.h"
#include "throng/rooms.h"

#define TH_BESIDE_PORTAL 0.02f // [m] off a portal's line lies what it leads to

typedef struct th_portals {
    th_room_portal
        *portals;   // doors and links of the scene, then the passages found, narrowest first
    int count;      // some may turn out not to part anything
    th_line *slits; // over what is left between the end of a wall and the next one: no way
    int slit_count;
} th_portals;

// False: no memory.
bool th_portals_find(const th_scene *scene, float widest, th_arena *arena, th_portals *found);

// Passages narrower than `widest`, one a corner. At most `most`, the first found. Returns how many, -1 without memory.
int th_gaps_find(const th_scene *scene, float widest, th_arena *arena, th_narrow_gap *gaps,
                 int most);
#endif
