// Neighbours on the other side of a stair's top line. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_NEIGHBOURS_H
#define TH_STATE_NEIGHBOURS_H
#include "state/world.h"

// People of other levels within `range` of agent i whom it sees across a link, i.e. the straight line
// between the two crosses the link's line: nearest first. At most `max`. Costs nothing away from links.
TH_BOTH int th_linked_neighbours(const th_world *world, uint32_t i, float range, uint32_t *found,
                                 int max);
#endif
