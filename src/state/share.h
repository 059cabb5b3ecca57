// A loop over agents, shared out among the threads of a step: throng's own, or those of the host (th_world_def.host).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_SHARE_H
#define TH_STATE_SHARE_H
#include "core/parallel.h"
#include "state/world.h"

// begin .. end - 1; begin is a multiple of the grain. Returns what is to be added up.
typedef uint64_t th_part_fn(const void *context, int begin, int end);

// Calls `part` for all of 0 .. count - 1, `grain` at a time, in any order. Returns the sum.
uint64_t th_share_out(const th_world *world, int count, int grain, th_part_fn *part,
                      const void *context);
#endif
