// A staggered grid over one level: cells, the faces between them, how much of each is free. Walkable ground
// is clipped exactly: a part of a cell knows its free area and the centre of it, a face what share of it
// no wall closes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_STAGGERED_H
#define TH_SPACE_STAGGERED_H
#include "core/memory.h"
#include "formula/vec.h"
#include "scene/scene.h"
#include "space/walls.h"

// Cell (i, j) covers origin + [i, i+1] h x [j, j+1] h and has the number j nx + i, as have its west and its
// south face. The grid has a ring of empty cells, so every cell inside has four neighbours.
typedef struct th_staggered {
    th_vec2 origin;
    float h, inverse_h;
    int column, row; // origin = (column, row) h: all grids of one h lie on one lattice
    int nx, ny;
} th_staggered;

TH_BOTH static inline th_vec2 th_staggered_centre(const th_staggered *grid, int i, int j) {
    return th_v(grid->origin.x + ((float)i + 0.5f) * grid->h,
                grid->origin.y + ((float)j + 0.5f) * grid->h);
}

// The grid of cells of side h over a box and one ring around it, on the lattice of h; `snap` cells at a
// time, so that a box that grows a little keeps its grid.
th_staggered th_staggered_over(const th_box *box, float h, int snap);

// The edge of a level's ground, directed: ground to the left. On an open plane the edge of what is solid.
typedef struct th_floor {
    struct th_floor_edge {
        th_vec2 a, b;
    } * edges;
    int count, capacity;
    bool open_plane; // ground wherever nothing is solid
} th_floor;

// Edges in the arena. False: no memory. A floor without edges is all ground (open plane) or none.
bool th_floor_create(th_floor *floor, th_arena *arena, const th_scene *scene, int level);

enum { TH_FLOOR_PARTS = 8 }; // parts along the side of a cell

typedef struct th_floor_part {
    double area; // free area, in parts: 0 .. 1
    double x, y; // its first moments in the part, side 1: x / area, y / area is the centre
    double strip, strip_y; // work space
} th_floor_part;

// The parts of one row of parts, `row` counted from the grid's south edge: nx * TH_FLOOR_PARTS of them.
void th_floor_row(const th_floor *floor, const th_staggered *grid, int row, th_floor_part *parts);

// Does any standing wall touch the box?
bool th_walls_touch(const th_walls *walls, int level, th_vec2 low, th_vec2 high);

// Share of a box's side that a segment covers when it is projected along x (axis 0) or y (axis 1): the
// part between *from and *to, 0 .. 1. False: the segment does not touch the box.
bool th_box_shadow(th_vec2 a, th_vec2 b, th_vec2 low, th_vec2 high, int axis, float *from,
                   float *to);
// The straight lines through the box along x (axis 0) or y (axis 1) that no standing wall cuts, as gaps of the box's
// side, 0 .. 1, in ascending order; returns how many. A wall anywhere in the box closes it for the lines it cuts.
typedef struct th_open_gap {
    float from, to;
} th_open_gap;
enum { TH_GAP_MAX = 257 };
int th_walls_gaps(const th_walls *walls, int level, th_vec2 low, th_vec2 high, int axis,
                  th_open_gap *gaps);
// Their share of the side.
float th_walls_open_share(const th_walls *walls, int level, th_vec2 low, th_vec2 high, int axis);
#endif
