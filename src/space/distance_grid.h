// Signed distance to the scene's fixed walls, doors open: exact near walls, interpolated far away.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_DISTANCE_GRID_H
#define TH_SPACE_DISTANCE_GRID_H
#include "space/walls.h"

typedef struct th_distance_grid {
    th_vec2 origin;
    float cell, inverse_cell;
    int nx, ny;            // nodes
    const float *distance; // [m] at the nodes, negative in solids
} th_distance_grid;

// Into the scene's arena, for one level whose wall grid is built. False: no memory.
bool th_distance_grid_build(th_scene *scene, int level, th_wall_grid *grid);

// Walkable or solid at nx points (x0 + i * spacing, y) of one row: out[i] is 1 on walkable ground.
// `crossings` is work space for 2 * (edges of the level) entries. Cost O(edges + nx).
typedef struct th_row_crossing {
    double x;
    int turn;
} th_row_crossing;
// th_scene_walkable and th_scene_distance, on the GPU too.
TH_BOTH bool th_walkable(const th_scene *scene, int level, th_vec2 point);
TH_BOTH float th_wall_distance(const th_scene *scene, int level, th_vec2 point);

size_t th_row_crossing_max(const th_scene *scene, int level);
void th_walkable_row(const th_scene *scene, int level, double x0, double spacing, int nx, double y,
                     th_row_crossing *crossings, uint8_t *out);
#endif
