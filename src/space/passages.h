// The narrowest passage of a plan. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_PASSAGES_H
#define TH_SPACE_PASSAGES_H
#include "core/memory.h"
#include "space/walls.h"

// Width of the narrowest place between two walls, on any level, that is at least `least` wide [m]; `most` if there is
// none narrower than that (at most twice the reach of the wall grids). Doors count as open. The arena has failed where
// there was no memory to look.
float th_narrowest_passage(const th_scene *scene, th_arena *arena, float least, float most);
#endif
