// Which walls are near: a grid of cells, each listing the walls within `reach` of it, so that a query
// of radius <= reach looks at one cell. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_WALLS_H
#define TH_SPACE_WALLS_H
#include "core/device.h"
#include "scene/scene.h"

typedef struct th_wall_grid {
    th_vec2 origin;
    float cell, inverse_cell;
    float reach; // [m]
    int nx, ny;
    const int *start;                        // nx * ny + 1
    const int *list;                         // wall indices, ascending within a cell
    const struct th_distance_grid *distance; // signed distance far from walls, distance_grid.c
    // Pieces of cells: from any of their points to any wall or door it is at least so many TH_CLEAR_UNIT.
    const uint8_t *clear; // clear_nx * clear_ny
    float inverse_piece;
    int clear_nx, clear_ny;
} th_wall_grid;

#define TH_CLEAR_UNIT 0.01f // [m]

// Grids for all levels, in the scene's arena: walls and signed distance. False: no memory.
bool th_wall_grids_build(th_scene *scene);

// The walls as they stand now: the scene's, less open doors, plus live walls.
typedef struct th_walls {
    const th_wall *walls; // scene walls first, live ones from scene_count on
    int scene_count, count;
    const uint8_t *door_closed; // by door
    const th_wall_grid *grids;  // by level
} th_walls;

TH_BOTH static inline bool th_wall_stands(const th_walls *walls, const th_wall *wall) {
    return wall->length > 0.0f && (wall->door < 0 || walls->door_closed[wall->door]);
}

// Indices of standing walls whose nearest point lies within `range` of p, sorted by (distance, index).
// Returns how many are kept: at most `max`, the nearest. distances2 may be NULL
// (then at most 64).
TH_BOTH int th_walls_near(const th_walls *walls, int level, th_vec2 p, float range, int *found,
                  float *distances2, int max);
// The list of the cell that holds p into *list; the number of its entries, 0 off the grid.
// All walls within reach of p are among them, standing or not; live walls are not.
TH_BOTH int th_wall_cell(const th_wall_grid *grid, th_vec2 p, const int **list);
// False when no wall can be within the grid's reach of p: the cheap early-out of hot loops.
TH_BOTH static inline bool th_walls_maybe_near(const th_walls *walls, int level, th_vec2 p) {
    const int *list;
    if (walls->count == 0) return false;
    return walls->count > walls->scene_count || th_wall_cell(&walls->grids[level], p, &list) > 0;
}
// No standing wall is nearer to p than this [m], at most the grid's reach. One look-up: too small by up to the
// diagonal of a piece, never too large; 0 while live walls stand, which are not in the grid.
TH_BOTH static inline float th_walls_clear(const th_walls *walls, int level, th_vec2 p) {
    const th_wall_grid *grid = &walls->grids[level];
    if (walls->count > walls->scene_count) return 0.0f;
    float column = (p.x - grid->origin.x) * grid->inverse_piece;
    float row = (p.y - grid->origin.y) * grid->inverse_piece;
    bool on_grid = column >= 0.0f && row >= 0.0f && column < (float)grid->clear_nx &&
                   row < (float)grid->clear_ny;
    if (!on_grid) return p.x == p.x && p.y == p.y ? grid->reach : 0.0f;
    return TH_CLEAR_UNIT * (float)grid->clear[(int)row * grid->clear_nx + (int)column];
}
// First standing wall crossed by the path p -> q (touching counts), or -1; *t in [0, 1] along the path.
// For doubled (two-sided) walls either edge may be returned.
TH_BOTH int th_walls_first_crossing(const th_walls *walls, int level, th_vec2 p, th_vec2 q, float *t);
// Distance to the nearest standing wall of any range [m], 1e6 if there is none. Slow, exact.
float th_walls_distance(const th_walls *walls, int level, th_vec2 p);
#endif
