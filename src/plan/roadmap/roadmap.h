// The road map: for people with goals of their own. Nodes stand off the corners of walls; a table holds
// the way between any two. What a person costs depends neither on how many goals there are nor on how
// far they lie: the few nodes near the person, the few near the goal, one table entry per pair.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_ROADMAP_H
#define TH_PLAN_ROADMAP_H
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

// What a query did, for tests of its cost; may be NULL.
typedef struct th_road_work {
    int pairs, sights;
} th_road_work;

TH_BOTH th_way th_roadmap_way(const th_roadmap *roadmap, const th_walls *walls, int level,
                              th_vec2 p, int goal_level, th_vec2 goal, th_road_work *work);

// roadmap_nodes.c: where the nodes stand. False: no memory.
bool th_roadmap_place(th_roadmap *roadmap, const th_walls *open_walls);
#endif
