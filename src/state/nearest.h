// The nearest neighbours of people, by cells: people of one cell share a list of candidates; the nearest are
// found by counting, for each candidate, how many are nearer, which is vector code without branches.
// Inline, so that the loops are compiled for the instruction set of the TH_CLONES function around them.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_NEAREST_H
#define TH_STATE_NEAREST_H
#include "core/memory.h"
#include "formula/segment.h"
#include "formula/vec.h"
#include "state/world.h"
#include <math.h>
#include <string.h>

// ---- neighbours on the other side of a stair's top line

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

// Removes agents that lie on the ground from the list; the others keep their order. Returns how many are left. Costs
// nothing where no agent lies.
TH_BOTH static inline int th_drop_fallen(const th_world *world, uint32_t *list, int count) {
    if (world->counters.fallen == 0) return count;
    int kept = 0;
    for (int k = 0; k < count; ++k)
        if (th_in_the_way(world->agents.phase[list[k]])) list[kept++] = list[k];
    return kept;
}

enum { TH_CANDIDATES = 1024, TH_SHORT_LIST = 32, TH_NEAREST_MAX = 16 };

// Agents near one cell, copied together; agents that lie on the ground are left out.
typedef struct th_candidates {
    int level, column, row, half;     // cells column +- half, row +- half of that level
    int count;                        // -1: none yet; TH_CANDIDATES + 1: too many to list
    float density;                    // of the cells [1/m2]
    float min_x, min_y, max_x, max_y; // all people in this box are listed
    _Alignas(TH_ALIGN) float x[TH_CANDIDATES], y[TH_CANDIDATES], distance2[TH_CANDIDATES];
    uint32_t agent[TH_CANDIDATES], id[TH_CANDIDATES];
} th_candidates;

typedef struct th_nearest {
    int count;
    uint32_t agent[TH_NEAREST_MAX];
} th_nearest;

// nearest.c: the agents in the cells around a list's own; how wide to look for a cell; the exact fallback.
void th_candidates_list(const th_world *world, th_candidates *list, int half);
void th_candidates_for_cell(const th_world *world, th_candidates *list, int level, int column,
                            int row, int wanted, float range);

// Exact fallback for crowds too dense to list: one by one, kept sorted.
TH_BOTH static inline void th_nearest_by_insertion(const th_world *world, uint32_t i, float range,
                                                   int wanted, th_nearest *nearest) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    th_vec2 p = th_position(agents, i);
    float distances2[TH_NEAREST_MAX], limit2 = range * range;
    th_rows rows = th_rows_around(grid, p, range);
    int count = 0;
    bool some_lie = world->counters.fallen > 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_position(agents, j), p));
            if (distance2 > limit2 || j == i) continue;
            if (some_lie && !th_in_the_way(agents->phase[j])) continue;
            if (count == wanted && distance2 == limit2 &&
                agents->id[j] > agents->id[nearest->agent[count - 1]])
                continue;
            int at = count < wanted ? count++ : wanted - 1;
            for (; at > 0 && (distances2[at - 1] > distance2 ||
                              (distances2[at - 1] == distance2 &&
                               agents->id[nearest->agent[at - 1]] > agents->id[j]));
                 --at) {
                distances2[at] = distances2[at - 1];
                nearest->agent[at] = nearest->agent[at - 1];
            }
            distances2[at] = distance2;
            nearest->agent[at] = j;
            if (count == wanted) limit2 = distances2[wanted - 1];
        }
    }
    nearest->count = count;
}

// Merges in, by distance, the agents that agent i sees across a link to another level.
//
// People seen across a link to another level, merged in by distance. Rare, so plain insertion.
TH_BOTH static inline void th_nearest_add_linked(const th_world *world, uint32_t i, int wanted,
                                                 float range, th_nearest *nearest) {
    uint32_t found[TH_NEAREST_MAX];
    int count = th_linked_neighbours(world, i, range, found, TH_NEAREST_MAX);
    count = th_drop_fallen(world, found, count);
    th_vec2 p = th_position(&world->agents, i);
    for (int k = 0; k < count; ++k) {
        float distance2 = th_length2(th_sub(th_position(&world->agents, found[k]), p));
        if (nearest->count == wanted) {
            th_vec2 last = th_position(&world->agents, nearest->agent[wanted - 1]);
            if (th_length2(th_sub(last, p)) <= distance2) continue;
            nearest->count--;
        }
        int at = nearest->count++;
        for (; at > 0; --at) {
            th_vec2 before = th_position(&world->agents, nearest->agent[at - 1]);
            if (th_length2(th_sub(before, p)) <= distance2) break;
            nearest->agent[at] = nearest->agent[at - 1];
        }
        nearest->agent[at] = found[k];
    }
}

// Lists the candidates nearer than sqrt(limit2). Without a branch: every index is written, and kept only
// when the counter moves on.
TH_CPU_FORMULA int th_candidates_shorten(const th_candidates *list, float limit2, uint16_t *near) {
    int count = 0;
    for (int k = 0; k < list->count; ++k) {
        near[count] = (uint16_t)k;
        count += list->distance2[k] < limit2;
    }
    return count;
}

// The `wanted` nearest of the short list in order of (distance, id): an entry's place is the number of
// entries before it. Both parts of the key go into one integer: the bits of a float that is not negative
// sort like the float.
TH_CPU_FORMULA void th_candidates_rank(const th_candidates *list, const uint16_t *near, int count,
                                       uint32_t self, int wanted, th_nearest *nearest) {
    uint64_t key[TH_SHORT_LIST];
    int64_t place[TH_SHORT_LIST] = {0};
    uint32_t agent[TH_SHORT_LIST];
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        uint32_t bits;
        memcpy(&bits, &list->distance2[near[k]], sizeof bits);
        key[kept] = (uint64_t)bits << 32 | list->id[near[k]];
        agent[kept] = list->agent[near[k]];
        kept += agent[kept] != self;
    }
    for (int k = kept; k < TH_SHORT_LIST; ++k) key[k] = UINT64_MAX;
    // Half the lanes at a time: usually all entries are in the first.
    for (int base = 0; base < kept; base += TH_SHORT_LIST / 2)
        for (int j = 0; j < kept; ++j) {
            uint64_t other = key[j];
#pragma omp simd
            for (int k = 0; k < TH_SHORT_LIST / 2; ++k) place[base + k] += other < key[base + k];
        }
    nearest->count = kept < wanted ? kept : wanted;
    for (int k = 0; k < kept; ++k)
        if (place[k] < wanted) nearest->agent[place[k]] = agent[k];
}

// The `wanted` (at most TH_NEAREST_MAX) nearest within `range` of agent i on its level, itself not among
// them, nearest first. People of one cell share `list`, so go through them in storage order.
TH_CPU_FORMULA void th_find_nearest(const th_world *world, th_candidates *list, uint32_t i,
                                    int wanted, float range, th_nearest *nearest) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i);
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    int column = th_grid_column(grid, p.x), row = th_grid_row(grid, p.y);
    if (list->count < 0 || list->column != column || list->row != row ||
        list->level != (int)agents->level[i])
        th_candidates_for_cell(world, list, (int)agents->level[i], column, row, wanted + 1, range);
    for (;;) {
        if (list->count > TH_CANDIDATES) {
            th_nearest_by_insertion(world, i, range, wanted, nearest);
            return;
        }
        // All agents within `sure` of p are listed.
        float sure = th_min(th_min(p.x - list->min_x, list->max_x - p.x),
                            th_min(p.y - list->min_y, list->max_y - p.y));
        float limit2 = th_min(sure, range) * th_min(sure, range);
        // A circle that should hold a few more than wanted, so that the short list is short.
        float likely2 = 1.25f * (float)(wanted + 1) / (3.14159265f * th_max(list->density, 1e-3f));
        int count = list->count;
        float *distance2s = list->distance2;
        const float *xs = list->x, *ys = list->y;
#pragma omp simd
        for (int k = 0; k < count; ++k) {
            float dx = xs[k] - p.x, dy = ys[k] - p.y;
            distance2s[k] = dx * dx + dy * dy;
        }
        uint16_t near[TH_CANDIDATES + 1];
        int found =
            th_candidates_shorten(list, th_min(limit2, likely2), near); // counts the person itself
        if (found <= wanted && likely2 < limit2) found = th_candidates_shorten(list, limit2, near);
        if (found > TH_SHORT_LIST) {
            th_nearest_by_insertion(world, i, range, wanted, nearest);
            return;
        }
        if (found > wanted || sure >= range) {
            th_candidates_rank(list, near, found, i, wanted, nearest);
            return;
        }
        th_candidates_list(world, list, list->half + 1); // too few in the sure circle: look further
    }
}
#endif
