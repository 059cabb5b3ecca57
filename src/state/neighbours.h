// Neighbours on the other side of a stair's top line. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_NEIGHBOURS_H
#define TH_STATE_NEIGHBOURS_H
#include "formula/segment.h"
#include "state/world.h"

TH_BOTH static inline bool th_crosses_link(const th_link *link, th_vec2 p, th_vec2 q) {
    float side_p = th_dot(th_sub(p, link->a), link->up),
          side_q = th_dot(th_sub(q, link->a), link->up);
    return (side_p > 0.0f) != (side_q > 0.0f) && th_line_parts(p, q, link->a, link->b);
}

// Keeps found[] sorted by (distance, id).
TH_BOTH static inline int th_linked_insert(const th_agents *agents, th_vec2 p, uint32_t j,
                                           uint32_t *found, int count, int max) {
    float distance2 = th_length2(th_sub(th_position(agents, j), p));
    int at = count;
    for (; at > 0; --at) {
        float before = th_length2(th_sub(th_position(agents, found[at - 1]), p));
        if (before < distance2 ||
            (before == distance2 && agents->id[found[at - 1]] < agents->id[j]))
            break;
        if (at < max) found[at] = found[at - 1];
    }
    if (at < max) found[at] = j;
    return count < max ? count + 1 : max;
}

// Agents of other levels within `range` of agent i that it sees across a link, i.e. the straight line
// between the two crosses the link's line: nearest first. At most `max`. Costs nothing away from links.
TH_BOTH static inline int th_linked_neighbours(const th_world *world, uint32_t i, float range,
                                               uint32_t *found, int max) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i);
    int count = 0;
    for (int l = 0; l < world->scene->link_count; ++l) {
        const th_link *link = &world->scene->links[l];
        int side = (int)agents->level[i] == link->level[0]   ? 1
                   : (int)agents->level[i] == link->level[1] ? 0
                                                             : -1;
        if (side < 0 ||
            th_length2(th_sub(th_nearest_on_segment(p, link->a, link->b), p)) > range * range)
            continue;
        const th_level_grid *grid = &world->index.grids[link->level[side]];
        th_rows rows = th_rows_around(grid, p, range);
        for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
            for (uint32_t j = begin; j < end; ++j) {
                th_vec2 q = th_position(agents, j);
                if (th_length2(th_sub(q, p)) <= range * range && th_crosses_link(link, p, q))
                    count = th_linked_insert(agents, p, j, found, count, max);
            }
        }
    }
    return count;
}

// Drops those of the list who lie on the ground; the others keep their order. Returns their number. Costs nothing where
// no agent lies.
TH_BOTH static inline int th_drop_fallen(const th_world *world, uint32_t *list, int count) {
    if (world->counters.fallen == 0) return count;
    int kept = 0;
    for (int k = 0; k < count; ++k)
        if (th_in_the_way(world->agents.phase[list[k]])) list[kept++] = list[k];
    return kept;
}
#endif
