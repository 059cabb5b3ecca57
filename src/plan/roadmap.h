// The road map: for people with goals of their own. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_ROADMAP_H
#define TH_PLAN_ROADMAP_H
#include "plan/field.h"

typedef struct th_roadmap th_roadmap;

// NULL: no memory. The graph gives ground and links for the nodes that corners alone do not reach.
th_roadmap *th_roadmap_create(const th_graph *graph, const th_walls *walls,
                              const th_memory *memory);
th_roadmap *th_roadmap_copy(const th_roadmap *roadmap, const th_memory *memory);
void th_roadmap_destroy(th_roadmap *roadmap);
// Edges and distances for the walls as they stand now; the nodes stay. Allocates nothing.
void th_roadmap_update(th_roadmap *roadmap, const th_walls *walls);

th_way th_roadmap_way(const th_roadmap *roadmap, const th_walls *walls, int level, th_vec2 p,
                      int goal_level, th_vec2 goal);
#endif
