// Placing people without overlaps. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_PLACE_H
#define TH_SCENE_PLACE_H
#include "scene/draw.h"

// Discs already placed, by level; grows as groups are placed. A hash grid inside.
typedef struct th_placer th_placer;
th_placer *th_placer_create(const th_memory *memory, const th_scene *scene, float max_radius,
                            int capacity);
void th_placer_destroy(th_placer *placer);

// Can a disc stand here: inside the walkable area, clear of walls (closed or open doors both count as
// walls) and of all agents placed.
bool th_placer_free_at(const th_placer *placer, int level, th_vec2 point, float radius);
// False: no memory to remember it by (only beyond the capacity given at creation).
bool th_placer_add(th_placer *placer, int level, th_vec2 point, float radius);
// Forgets all agents; costs as much as adding them did.
void th_placer_clear(th_placer *placer);

// Places `count` discs of the given radii uniformly at random in the area (or the whole level when the
// area is empty): random sequential, and when that jams, a hexagonal packing in random order.
// Returns how many were placed; when fewer than count, that is how many fit. -1: no memory.
int th_placer_fill(th_placer *placer, const th_area *area, int count, const float *radii,
                   uint64_t seed, uint32_t first_id, th_vec2 *positions);
#endif
