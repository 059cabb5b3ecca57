// Lines that part rooms: doors, tops of stairs, narrow passages. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_PORTALS_H
#define TH_SPACE_PORTALS_H
#include "core/memory.h"
#include "space/walls.h"
#include "throng/rooms.h"

// Doors and links of the scene, then the passages found, narrowest first. They may turn out not to part anything.
// False: no memory.
bool th_portals_find(const th_scene *scene, float widest, th_arena *arena, th_room_portal **portals,
                     int *count);

// Passages narrower than `widest`, one a corner. At most `most`, the first found. Returns how many, -1 without memory.
int th_gaps_find(const th_scene *scene, float widest, th_arena *arena, th_narrow_gap *gaps,
                 int most);
#endif
