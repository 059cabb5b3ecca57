// Position-based crowds as the rest of the engine sees them: work space made with the world, moved by
// th_move_pbd (move/move.h). Nothing is kept from step to step. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_H
#define TH_MOVE_PBD_H
#include "state/world.h"

// Does any group of the scene move by this model?
bool th_pbd_used(const th_scene *scene);
// Work space for at most `agents` people; fills world->pbd. False: no memory.
bool th_pbd_create(th_world *world, int agents);
void th_pbd_destroy(th_world *world);
#endif
