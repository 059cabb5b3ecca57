// placeholder until the road map is in: straight. SPDX-License-Identifier: Apache-2.0
#include "plan/roadmap.h"
struct th_roadmap {
    th_memory memory;
};
th_roadmap *th_roadmap_create(const th_graph *graph, const th_walls *walls,
                              const th_memory *memory) {
    (void)graph;
    (void)walls;
    th_roadmap *r = th_alloc(memory, 1, sizeof *r);
    if (r) r->memory = *memory;
    return r;
}
th_roadmap *th_roadmap_copy(const th_roadmap *roadmap, const th_memory *memory) {
    (void)roadmap;
    return th_roadmap_create(NULL, NULL, memory);
}
void th_roadmap_destroy(th_roadmap *roadmap) {
    if (roadmap) {
        th_memory memory = roadmap->memory;
        th_free(&memory, roadmap, 1, sizeof *roadmap);
    }
}
void th_roadmap_update(th_roadmap *roadmap, const th_walls *walls) {
    (void)roadmap;
    (void)walls;
}
th_way th_roadmap_way(const th_roadmap *roadmap, const th_walls *walls, int level, th_vec2 p,
                      int goal_level, th_vec2 goal) {
    (void)roadmap;
    (void)walls;
    (void)level;
    (void)goal_level;
    th_way way = {th_unit(th_sub(goal, p)), th_length(th_sub(goal, p))};
    return way;
}
