// The road map: for people with goals of their own. Nodes stand off the corners of walls; a table holds
// the way between any two. The cost per agent depends neither on the number of goals nor on their distance: the few
// nodes near the person, the few near the goal, one table entry per pair.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_ROADMAP_H
#define TH_PLAN_ROADMAP_H
#include "core/device.h"
#include "plan/field/field.h"

enum {
    TH_ROAD_NODES = 2000, // most nodes: a table of 16 MB
    TH_ROAD_EDGES = 32,   // most edges of a node
    TH_ROAD_NEAR = 8,     // nodes listed in a cell
    TH_ROAD_ENDS = 32,    // most nodes looked at on either side of a way
    TH_ROAD_FRONTS = 8,   // searches at once when the table is made
};

typedef struct th_road_node {
    th_vec2 position;
    int level;
    int edge_count;
    int to[TH_ROAD_EDGES];       // in sight when all doors are open
    float length[TH_ROAD_EDGES]; // [m]; TH_UNREACHABLE while a wall stands in between
} th_road_node;

// The nodes best seen from a cell of ground, nearest first; -1 fills up.
typedef struct th_road_cell {
    int near[TH_ROAD_NEAR];
} th_road_cell;

typedef struct th_road_level {
    th_vec2 origin;
    int nx, ny, first;
} th_road_level;

typedef struct th_roadmap {
    th_memory memory;
    const th_nodes *lattice;
    th_road_node *nodes;
    int count;
    float *table; // count * count: walking distance from row to column
    float cell, inverse_cell;
    th_road_level *levels;
    th_road_cell *cells;
    int cell_count;
    th_front fronts[TH_ROAD_FRONTS];
    int front_count;
} th_roadmap;

// NULL: no memory. The lattice tells which ground belongs together, for what corners do not reach.
th_roadmap *th_roadmap_create(const th_nodes *lattice, const th_walls *walls,
                              const th_memory *memory);
th_roadmap *th_roadmap_copy(const th_roadmap *roadmap, const th_memory *memory);
void th_roadmap_destroy(th_roadmap *roadmap);
// Edges and table for the walls as they stand now; the nodes stay. Allocates nothing.
void th_roadmap_update(th_roadmap *roadmap, const th_walls *walls);
// The same a node at a time: first the edges of all nodes (did one change?), then all rows of the table.
bool th_roadmap_measure(th_roadmap *roadmap, const th_walls *walls, int node);
void th_roadmap_search(th_roadmap *roadmap, int node);

// The work of a query, for tests of its cost; may be NULL.
typedef struct th_road_work {
    int pairs, sights;
} th_road_work;

// Where the nodes stand. False: no memory.
bool th_roadmap_place(th_roadmap *roadmap, const th_walls *open_walls);

static const float TH_ROAD_SIGHT = 100.0f;  // [m] goals further away are not looked for directly
static const float TH_ROAD_AT_NODE = 0.05f; // [m] nearer to a node one looks to the next
enum { TH_ROAD_PULL_MAX = 4 };              // nodes looked ahead

typedef struct th_road_ask {
    const th_roadmap *roadmap;
    const th_walls *walls;
    th_road_work *work;
} th_road_ask;

TH_BOTH static inline bool th_road_sees(const th_road_ask *ask, int level_p, th_vec2 p, int level_q,
                                        th_vec2 q) {
    if (ask->work) ask->work->sights++;
    return th_in_sight(ask->roadmap->lattice->scene, ask->walls, level_p, p, level_q, q);
}

typedef struct th_road_ends {
    int node[TH_ROAD_ENDS];
    float distance[TH_ROAD_ENDS]; // to the node; TH_UNREACHABLE: not in sight after all
    int count;
} th_road_ends;

TH_BOTH static inline void th_road_add_cell(const th_roadmap *roadmap, const th_road_cell *cell,
                                            th_vec2 p, th_road_ends *ends) {
    for (int k = 0; k < TH_ROAD_NEAR && cell->near[k] >= 0; ++k) {
        bool present = ends->count >= TH_ROAD_ENDS;
        for (int i = 0; i < ends->count && !present; ++i) present = ends->node[i] == cell->near[k];
        if (present) continue;
        ends->node[ends->count] = cell->near[k];
        ends->distance[ends->count++] =
            th_length(th_sub(roadmap->nodes[cell->near[k]].position, p));
    }
}

// Where to look for the ends of a way, in this order: each costs more and is asked only where the
// one before found nothing.
typedef enum th_road_search {
    TH_ROAD_IN_CELL,
    TH_ROAD_IN_CELLS_AROUND,
    TH_ROAD_AMONG_ALL,
    TH_ROAD_SEARCH_COUNT
} th_road_search;

// The nearest nodes of all, seen or not: for corners that a cell's lists do not know.
TH_BOTH static inline void th_road_add_nearest(const th_roadmap *roadmap, int level, th_vec2 p,
                                               th_road_ends *ends) {
    for (int i = 0; i < roadmap->count; ++i) {
        const th_road_node *node = &roadmap->nodes[i];
        float distance = th_length(th_sub(node->position, p));
        bool full = ends->count == TH_ROAD_ENDS;
        if (node->level != level || (full && distance >= ends->distance[ends->count - 1])) continue;
        int at = full ? ends->count - 1 : ends->count++;
        for (; at > 0 && ends->distance[at - 1] > distance; --at) {
            ends->distance[at] = ends->distance[at - 1];
            ends->node[at] = ends->node[at - 1];
        }
        ends->distance[at] = distance;
        ends->node[at] = i;
    }
}

TH_BOTH static inline th_road_ends th_road_ends_at(const th_roadmap *roadmap, int level, th_vec2 p,
                                                   th_road_search search) {
    const th_road_level *grid = &roadmap->levels[level];
    float x =
        th_clamp((p.x - grid->origin.x) * roadmap->inverse_cell, 0.0f, (float)grid->nx - 0.5f);
    float y =
        th_clamp((p.y - grid->origin.y) * roadmap->inverse_cell, 0.0f, (float)grid->ny - 0.5f);
    th_road_ends ends = {.count = 0};
    if (!(x >= 0.0f && y >= 0.0f)) return ends; // NaN
    if (search == TH_ROAD_AMONG_ALL) th_road_add_nearest(roadmap, level, p, &ends);
    int column = (int)x, row = (int)y, around = search == TH_ROAD_IN_CELL ? 0 : 1;
    for (int r = row - around; r <= row + around; ++r)
        for (int c = column - around; c <= column + around; ++c)
            if (r >= 0 && c >= 0 && r < grid->ny && c < grid->nx)
                th_road_add_cell(roadmap, &roadmap->cells[grid->first + r * grid->nx + c], p,
                                 &ends);
    return ends;
}

typedef struct th_road_pair {
    int start, end; // indices into the two lists; -1: none
    float length;
} th_road_pair;

TH_BOTH static inline th_road_pair
th_road_best_pair(const th_road_ask *ask, const th_road_ends *start, const th_road_ends *end) {
    const th_roadmap *roadmap = ask->roadmap;
    th_road_pair best = {-1, -1, TH_UNREACHABLE};
    for (int i = 0; i < start->count; ++i) {
        const float *row = roadmap->table + (size_t)start->node[i] * (size_t)roadmap->count;
        for (int j = 0; j < end->count; ++j) {
            float length = start->distance[i] + row[end->node[j]] + end->distance[j];
            if (length < best.length) best = (th_road_pair){i, j, length};
        }
    }
    if (ask->work) ask->work->pairs += start->count * end->count;
    return best;
}

TH_BOTH static inline int th_road_next_node(const th_roadmap *roadmap, int from, int to) {
    const th_road_node *node = &roadmap->nodes[from];
    int best = -1;
    float least = TH_UNREACHABLE;
    for (int e = 0; e < node->edge_count; ++e) {
        float length = node->length[e] +
                       roadmap->table[(size_t)node->to[e] * (size_t)roadmap->count + (size_t)to];
        if (length < least) {
            least = length;
            best = node->to[e];
        }
    }
    return best;
}

// The furthest node in sight on the way from `node` to `last`.
TH_BOTH static inline th_vec2 th_road_pull(const th_road_ask *ask, int level, th_vec2 p, int node,
                                           int last) {
    const th_road_node *nodes = ask->roadmap->nodes;
    th_vec2 aim = nodes[node].position;
    for (int i = 0; i < TH_ROAD_PULL_MAX && node != last; ++i) {
        node = th_road_next_node(ask->roadmap, node, last);
        if (node < 0) break;
        bool standing_on_it = th_length(th_sub(aim, p)) < TH_ROAD_AT_NODE;
        if (!standing_on_it &&
            !th_road_sees(ask, level, p, nodes[node].level, nodes[node].position))
            break;
        aim = nodes[node].position;
    }
    return aim;
}

// The lists are of whole cells; sight from the very points is tested for the best pair only, and the
// next best taken where it fails. Every turn strikes a node out, so this ends. False: no way found.
TH_BOTH static inline bool th_road_way_by_nodes(const th_road_ask *ask, int level, th_vec2 p,
                                                int goal_level, th_vec2 goal, th_road_search search,
                                                th_way *way) {
    const th_roadmap *roadmap = ask->roadmap;
    th_road_ends start = th_road_ends_at(roadmap, level, p, search),
                 end = th_road_ends_at(roadmap, goal_level, goal, search);
    for (;;) {
        th_road_pair pair = th_road_best_pair(ask, &start, &end);
        if (pair.start < 0) return false;
        const th_road_node *first = &roadmap->nodes[start.node[pair.start]];
        const th_road_node *last = &roadmap->nodes[end.node[pair.end]];
        if (!th_road_sees(ask, level, p, first->level, first->position)) {
            start.distance[pair.start] = TH_UNREACHABLE;
        } else if (!th_road_sees(ask, last->level, last->position, goal_level, goal)) {
            end.distance[pair.end] = TH_UNREACHABLE;
        } else {
            th_vec2 aim = th_road_pull(ask, level, p, start.node[pair.start], end.node[pair.end]);
            th_vec2 to_aim = th_sub(aim, p), to_goal = th_sub(goal, p);
            // A goal too far to be looked for at first is in sight from the last node: an agent that has just left that
            // node shall not turn back to it.
            bool at_last = aim.x == last->position.x && aim.y == last->position.y;
            bool sees = at_last && th_length(to_goal) >= TH_ROAD_SIGHT &&
                        th_road_sees(ask, level, p, goal_level, goal);
            if (sees || th_length(to_aim) < TH_ROAD_AT_NODE) to_aim = to_goal;
            way->direction = th_unit(to_aim);
            way->distance = pair.length;
            return true;
        }
    }
}

TH_BOTH static inline th_way th_roadmap_way(const th_roadmap *roadmap, const th_walls *walls,
                                            int level, th_vec2 p, int goal_level, th_vec2 goal,
                                            th_road_work *work) {
    th_road_ask ask = {roadmap, walls, work};
    th_vec2 to_goal = th_sub(goal, p);
    th_way way = {th_unit(to_goal), th_length(to_goal)};
    if (way.distance < TH_ROAD_SIGHT && th_road_sees(&ask, level, p, goal_level, goal)) return way;
    for (int search = 0; search < TH_ROAD_SEARCH_COUNT; ++search)
        if (th_road_way_by_nodes(&ask, level, p, goal_level, goal, (th_road_search)search, &way))
            return way;
    way.direction = th_v(0.0f, 0.0f);
    way.distance = TH_UNREACHABLE;
    return way;
}
#endif
