// Asking the road map. SPDX-License-Identifier: Apache-2.0
#include "plan/roadmap/roadmap.h"

static const float ROAD_SIGHT = 100.0f; // [m] goals further away are not looked for directly
static const float AT_NODE = 0.05f;     // [m] nearer to a node one looks to the next
enum { ROAD_PULL_MAX = 4 };             // nodes looked ahead

typedef struct th_road_ask {
    const th_roadmap *roadmap;
    const th_walls *walls;
    th_road_work *work;
} th_road_ask;

TH_BOTH static bool sees(const th_road_ask *ask, int level_p, th_vec2 p, int level_q, th_vec2 q) {
    if (ask->work) ask->work->sights++;
    return th_in_sight(ask->roadmap->lattice->scene, ask->walls, level_p, p, level_q, q);
}

typedef struct th_road_ends {
    int node[TH_ROAD_ENDS];
    float distance[TH_ROAD_ENDS]; // to the node; TH_UNREACHABLE: not in sight after all
    int count;
} th_road_ends;

TH_BOTH static void add_cell(const th_roadmap *roadmap, const th_road_cell *cell, th_vec2 p,
                             th_road_ends *ends) {
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
typedef enum th_road_search { IN_CELL, IN_CELLS_AROUND, AMONG_ALL, SEARCH_COUNT } th_road_search;

// The nearest nodes of all, whoever sees them: for corners that a cell's lists do not know.
TH_BOTH static void add_nearest(const th_roadmap *roadmap, int level, th_vec2 p,
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

TH_BOTH static th_road_ends ends_at(const th_roadmap *roadmap, int level, th_vec2 p,
                                    th_road_search search) {
    const th_road_level *grid = &roadmap->levels[level];
    float x =
        th_clamp((p.x - grid->origin.x) * roadmap->inverse_cell, 0.0f, (float)grid->nx - 0.5f);
    float y =
        th_clamp((p.y - grid->origin.y) * roadmap->inverse_cell, 0.0f, (float)grid->ny - 0.5f);
    th_road_ends ends = {.count = 0};
    if (!(x >= 0.0f && y >= 0.0f)) return ends; // NaN
    if (search == AMONG_ALL) add_nearest(roadmap, level, p, &ends);
    int column = (int)x, row = (int)y, around = search == IN_CELL ? 0 : 1;
    for (int r = row - around; r <= row + around; ++r)
        for (int c = column - around; c <= column + around; ++c)
            if (r >= 0 && c >= 0 && r < grid->ny && c < grid->nx)
                add_cell(roadmap, &roadmap->cells[grid->first + r * grid->nx + c], p, &ends);
    return ends;
}

typedef struct th_road_pair {
    int start, end; // indices into the two lists; -1: none
    float length;
} th_road_pair;

TH_BOTH static th_road_pair best_pair(const th_road_ask *ask, const th_road_ends *start,
                                      const th_road_ends *end) {
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

TH_BOTH static int next_node(const th_roadmap *roadmap, int from, int to) {
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
TH_BOTH static th_vec2 pull_to_node(const th_road_ask *ask, int level, th_vec2 p, int node,
                                    int last) {
    const th_road_node *nodes = ask->roadmap->nodes;
    th_vec2 aim = nodes[node].position;
    for (int i = 0; i < ROAD_PULL_MAX && node != last; ++i) {
        node = next_node(ask->roadmap, node, last);
        if (node < 0) break;
        bool standing_on_it = th_length(th_sub(aim, p)) < AT_NODE;
        if (!standing_on_it && !sees(ask, level, p, nodes[node].level, nodes[node].position)) break;
        aim = nodes[node].position;
    }
    return aim;
}

// The lists are of whole cells; sight from the very points is tested for the best pair only, and the
// next best taken where it fails. Every turn strikes a node out, so this ends. False: no way found.
TH_BOTH static bool way_by_nodes(const th_road_ask *ask, int level, th_vec2 p, int goal_level,
                                 th_vec2 goal, th_road_search search, th_way *way) {
    const th_roadmap *roadmap = ask->roadmap;
    th_road_ends start = ends_at(roadmap, level, p, search),
                 end = ends_at(roadmap, goal_level, goal, search);
    for (;;) {
        th_road_pair pair = best_pair(ask, &start, &end);
        if (pair.start < 0) return false;
        const th_road_node *first = &roadmap->nodes[start.node[pair.start]];
        const th_road_node *last = &roadmap->nodes[end.node[pair.end]];
        if (!sees(ask, level, p, first->level, first->position)) {
            start.distance[pair.start] = TH_UNREACHABLE;
        } else if (!sees(ask, last->level, last->position, goal_level, goal)) {
            end.distance[pair.end] = TH_UNREACHABLE;
        } else {
            th_vec2 aim = pull_to_node(ask, level, p, start.node[pair.start], end.node[pair.end]);
            th_vec2 to_aim = th_sub(aim, p);
            if (th_length(to_aim) < AT_NODE) to_aim = th_sub(goal, p); // at the last node
            way->direction = th_unit(to_aim);
            way->distance = pair.length;
            return true;
        }
    }
}

TH_BOTH th_way th_roadmap_way(const th_roadmap *roadmap, const th_walls *walls, int level,
                              th_vec2 p, int goal_level, th_vec2 goal, th_road_work *work) {
    th_road_ask ask = {roadmap, walls, work};
    th_vec2 to_goal = th_sub(goal, p);
    th_way way = {th_unit(to_goal), th_length(to_goal)};
    if (way.distance < ROAD_SIGHT && sees(&ask, level, p, goal_level, goal)) return way;
    for (int search = 0; search < SEARCH_COUNT; ++search)
        if (way_by_nodes(&ask, level, p, goal_level, goal, (th_road_search)search, &way))
            return way;
    way.direction = th_v(0.0f, 0.0f);
    way.distance = TH_UNREACHABLE;
    return way;
}
