// The lattice of the distance fields: nodes on every level, links between neighbours that no wall
// cuts, and portals where a link line joins two levels. All levels share one lattice, so the node on
// the other side of a portal has a neighbour's plan position. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_NODES_H
#define TH_PLAN_NODES_H
#include "formula/vec.h"
#include "space/walls.h"

// Directions of the eight neighbours, counter-clockwise from east; even ones are along the axes.
static const int th_direction_x[8] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int th_direction_y[8] = {0, 1, 1, 1, 0, -1, -1, -1};

// The same from two bits per direction, as device code has no such tables; and as a difference of nodes.
TH_BOTH static inline int th_direction_right(int k) { return (0x901A >> 2 * k & 3) - 1; }
TH_BOTH static inline int th_direction_up(int k) { return (0x1A9 >> 2 * k & 3) - 1; }
TH_BOTH static inline int th_direction_step(int k, int nx) {
    return th_direction_up(k) * nx + th_direction_right(k);
}

// The distance ahead, in nodes, over which the way beside walls must be free of them. More than a body's radius at the usual
// spacing:
// an agent that touches a wall with the body sees it before the centre is there.
#define TH_NODES_AHEAD 2.0f

enum {
    TH_NODE_WALKABLE = 1,
    TH_NODE_PORTAL = 2,  // some of its neighbours are on another level
    TH_CELL_TOUCHED = 4, // a fixed wall passes through the cell up and right of the node
    TH_CELL_NEAR = 8,    // that, or a door or a neighbouring cell's wall is near
};

typedef struct th_node_level {
    th_vec2 origin;    // of node (0, 0)
    int column0, row0; // of node (0, 0) in the lattice all levels share
    int nx, ny;
    int first; // index of node (0, 0)
} th_node_level;

typedef struct th_portal {
    int node;
    int to[8]; // node on another level, by direction; -1: none
} th_portal;

typedef struct th_nodes {
    const th_scene *scene;
    float spacing, inverse_spacing; // [m]
    float least_slope; // a smaller slope of a field [m per m] is a ridge between two ways
    int count;
    th_node_level *levels;
    uint8_t *flags;
    uint8_t *links;     // bit k: the neighbour in direction k is in sight; fixed walls only
    uint8_t *clearance; // 255: no fixed wall within the clearance range; 0: on a wall
    uint16_t *zone;     // 1 + index of the zone, 0: none
    th_portal *portals; // ascending by node, every possible one
    int portal_count, portal_capacity;
} th_nodes;

// Links and portals for the walls as they stand: what fields are computed on.
typedef struct th_graph {
    const th_nodes *nodes;
    uint8_t *links;
    th_portal *portals; // like nodes->portals, with -1 where a wall stands in the way
    // The crowd around every node and what it costs, crowd.c; NULL: ways are the shortest.
    const uint8_t *crowd;
    const float *crowd_cost;
} th_graph;

// `spacing` [m] is a wish: huge scenes get a coarser one. 0: the scene's plan_cell, or chosen from its openings.
th_result th_nodes_build(th_nodes *nodes, const th_scene *scene, double spacing, th_error *error);
// The same with at most `most` nodes, for planners that keep or solve much at each; and the spacing it would have [m].
th_result th_nodes_build_within(th_nodes *nodes, const th_scene *scene, double spacing, double most,
                                th_error *error);
float th_nodes_spacing_within(const th_scene *scene, double spacing, double most);
// The spacing asked for; the lattice has a larger one where that would need too many nodes.
float th_nodes_wanted_spacing(const th_scene *scene);
// The narrowest door, link or goal line [m]; 1e9: there is none.
double th_nodes_narrowest(const th_scene *scene);
void th_nodes_release(th_nodes *nodes);

bool th_graph_create(th_graph *graph, const th_nodes *nodes, const th_memory *memory);
void th_graph_destroy(th_graph *graph, const th_memory *memory);
void th_graph_update(th_graph *graph, const th_walls *walls);

TH_BOTH static inline int th_node_level_of(const th_nodes *nodes, int node) {
    int low = 0,
        high = nodes->scene->level_count - 1; // the last level that begins at or before the node
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (node >= nodes->levels[middle].first)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

TH_BOTH static inline th_vec2 th_node_position(const th_nodes *nodes, const th_node_level *level,
                                               int node) {
    int row = (node - level->first) / level->nx, column = (node - level->first) % level->nx;
    return th_v(level->origin.x + (float)column * nodes->spacing,
                level->origin.y + (float)row * nodes->spacing);
}

// Binary search; a portal node is always found.
TH_BOTH static inline const th_portal *th_portal_find(const th_graph *graph, int node) {
    int low = 0, high = graph->nodes->portal_count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (graph->portals[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return &graph->portals[low];
}

// The neighbour in direction k, on the same level or through a portal; -1: none in sight.
// nx is the row length of the node's level.
TH_BOTH static inline int th_neighbour(const th_graph *graph, int node, int k, int nx) {
    if (graph->links[node] >> k & 1) return node + th_direction_step(k, nx);
    if (graph->nodes->flags[node] & TH_NODE_PORTAL) return th_portal_find(graph, node)->to[k];
    return -1;
}

// The width that the smallest agents stopped by these walls need [m]; agents that need less find a goal too narrow.
float th_least_need(const th_scene *scene, const th_walls *walls);

// Ground beside a wall costs up to this much more [-], see nodes.c.
static const float TH_CLEARANCE_COST = 0.2f;

// Factor of the zone on the speed of an agent that walks from the node in direction k.
TH_BOTH static inline float th_node_zone_factor(const th_nodes *nodes, int node, int k) {
    int index = nodes->zone[node];
    if (index == 0) return 1.0f;
    const th_zone *zone = &nodes->scene->zones[index - 1];
    float climb = zone->up_direction.x * (float)th_direction_right(k) +
                  zone->up_direction.y * (float)th_direction_up(k);
    // Straight across the slope: neither; the slower one keeps the distance an upper bound.
    return climb > 1e-6f ? zone->up : climb < -1e-6f ? zone->down : th_min(zone->up, zone->down);
}

// Time per metre, 1 on free ground, for walking from the node in direction k; the same for all k outside zones.
static inline float th_node_slowness(const th_nodes *nodes, int node, int k) {
    float clear = (float)nodes->clearance[node] * (1.0f / 255.0f);
    float slowness = 1.0f + TH_CLEARANCE_COST * (1.0f - clear);
    return nodes->zone[node] == 0 ? slowness : slowness / th_node_zone_factor(nodes, node, k);
}

TH_BOTH static inline bool th_clear_path(const th_walls *walls, int level, th_vec2 p, th_vec2 q) {
    float length = th_length(th_sub(q, p));
    if (length <= 1e-3f) return true;
    th_vec2 end = th_add(p, th_scale((length - 1e-3f) / length, th_sub(q, p)));
    return th_walls_first_crossing(walls, level, p, end, NULL) < 0;
}

// Can one see from p on its level to q on its level, over at most one link line? 1 mm before q counts
// as q, so that points on walls (the ends of goal lines) can be seen.
TH_BOTH static inline bool th_in_sight(const th_scene *scene, const th_walls *walls, int level_p,
                                       th_vec2 p, int level_q, th_vec2 q) {
    if (level_p == level_q) return th_clear_path(walls, level_p, p, q);
    for (int i = 0; i < scene->link_count; ++i) {
        const th_link *link = &scene->links[i];
        int side = link->level[0] == level_p ? 0 : 1;
        if (link->level[side] != level_p || link->level[1 - side] != level_q) continue;
        float along = th_dot(th_sub(q, p), link->up);
        if (side == 0 ? along <= 0.0f : along >= 0.0f) continue;
        double t;
        if (!th_segments_meet(p, q, link->a, link->b, &t)) continue;
        th_vec2 on_line = th_add(p, th_scale((float)t, th_sub(q, p)));
        if (th_clear_path(walls, level_p, p, on_line) && th_clear_path(walls, level_q, q, on_line))
            return true;
    }
    return false;
}

// ---- pictures on the nodes

// Pictures of discomfort, guidance and height on the nodes of a lattice. A node takes the mean of the pixels whose
// middles are in the cell around it, or the pixel it lies in where these are wider.

// Is what is drawn for the people of `goal` felt by agents that go to the target? goal -1: by all; target -1: whatever
// it is for.
bool th_drawn_for(const th_scene *scene, int target, int goal);
// Add to what is there.
void th_pictures_add_discomfort(const th_nodes *nodes, int target, float *discomfort);
// Metres, TH_NO_HEIGHT where no picture is; interpolated where pixels are not much finer than the nodes.
#define TH_NO_HEIGHT 1e30f
void th_pictures_height(const th_nodes *nodes, float *height);
void th_pictures_add_guidance(const th_nodes *nodes, int target, float follow, th_vec2 *guidance);
#endif
