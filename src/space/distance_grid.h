// Signed distance to the scene's fixed walls, doors open: exact near walls, interpolated far away.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_DISTANCE_GRID_H
#define TH_SPACE_DISTANCE_GRID_H
#include "formula/segment.h"
#include "space/walls.h"

// The edges of a level's ground, in rows from bottom to top: a point's ray meets those of its row only.
typedef struct th_edge_rows {
    float origin, inverse_height;
    int count;             // 0: none, the polygons are asked
    const int *start;      // row r has the edges start[r] .. start[r + 1]
    const th_vec2 *corner; // edge e is corner[2 * e], corner[2 * e + 1]
} th_edge_rows;

TH_BOTH static inline int th_edge_row(const th_edge_rows *rows, float y) {
    float row = (y - rows->origin) * rows->inverse_height;
    return !(row > 0.0f) ? 0 : row >= (float)rows->count ? rows->count - 1 : (int)row;
}

typedef struct th_distance_grid {
    th_vec2 origin;
    float cell, inverse_cell;
    int nx, ny;            // nodes
    const float *distance; // [m] at the nodes, negative in solids
    th_edge_rows edges;
} th_distance_grid;

// Builds the grid in the scene's arena, for one level whose wall grid is built. False: no memory.
bool th_distance_grid_build(th_scene *scene, int level, th_wall_grid *grid);

// Walkable or solid at nx points (x0 + i * spacing, y) of one row: out[i] is 1 on walkable ground.
// `crossings` is work space for 2 * (edges of the level) entries. Cost O(edges + nx).
typedef struct th_row_crossing {
    double x;
    int turn;
} th_row_crossing;

size_t th_row_crossing_max(const th_scene *scene, int level);
// Of a shape alone, by their x. Where as many lie right of a point as make an odd number it is inside, as
// th_polygons_contain has it.
int th_row_crossings(const th_polygons *shape, double y, th_row_crossing *crossings);
void th_walkable_row(const th_scene *scene, int level, double x0, double spacing, int nx, double y,
                     th_row_crossing *crossings, uint8_t *out);

static const float TH_DISTANCE_EXACT = 1.5f; // [m] less than the wall grid's reach
static const float TH_NO_WALL = 1e6f;        // [m] distance reported where there is no wall

TH_BOTH static inline int th_row_cross(th_vec2 a, th_vec2 b, double y, th_row_crossing *crossing) {
    double ay = (double)a.y, by = (double)b.y;
    if ((ay <= y) == (by <= y)) return 0;
    crossing->x = (double)a.x + (y - ay) / (by - ay) * ((double)b.x - (double)a.x);
    crossing->turn = by > ay ? 1 : -1;
    return 1;
}

// The answer of th_polygons_contain.
TH_BOTH static inline bool th_edge_rows_contain(const th_edge_rows *rows, th_vec2 p) {
    int row = th_edge_row(rows, p.y);
    bool inside = false;
    for (int e = rows->start[row]; e < rows->start[row + 1]; ++e)
        if (th_ray_crosses(rows->corner[2 * e], rows->corner[2 * e + 1], p)) inside = !inside;
    return inside;
}

TH_BOTH static inline bool th_walkable_exactly(const th_scene *scene, int level, th_vec2 p) {
    const th_level *l = &scene->levels[level];
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    if (l->bounded && grid && grid->edges.count > 0) return th_edge_rows_contain(&grid->edges, p);
    if (l->bounded) return th_polygons_contain(&l->walkable, p);
    int turns = 0;
    for (int w = l->wall_begin; w < l->wall_end; ++w) {
        th_row_crossing crossing;
        if (th_row_cross(scene->walls[w].a, scene->walls[w].b, (double)p.y, &crossing) &&
            crossing.x <= (double)p.x)
            turns += crossing.turn;
    }
    return turns == 0;
}

// ---- asking

typedef struct th_rough_distance {
    float size;     // interpolated distance, without sign
    bool one_sided; // the four nodes around are all walkable or all solid
    bool walkable;  // then this
} th_rough_distance;

// Magnitude and sign are kept apart: at an opening in the outer wall the sign changes far from any wall. On the line
// between two cells rounding may take the wrong one; there the nodes of one cell decide nothing.
TH_BOTH static inline th_rough_distance th_distance_interpolate(const th_distance_grid *grid,
                                                                th_vec2 p) {
    float x = th_clamp((p.x - grid->origin.x) * grid->inverse_cell, 0.0f, (float)(grid->nx - 1));
    float y = th_clamp((p.y - grid->origin.y) * grid->inverse_cell, 0.0f, (float)(grid->ny - 1));
    int column = (int)th_min(x, (float)(grid->nx - 2)), row = (int)th_min(y, (float)(grid->ny - 2));
    float s = x - (float)column, t = y - (float)row;
    const float *d = grid->distance + row * grid->nx + column;
    float d00 = d[0], d10 = d[1], d01 = d[grid->nx], d11 = d[grid->nx + 1];
    bool w = d00 > 0.0f, within = s > 1e-3f && s < 0.999f && t > 1e-3f && t < 0.999f;
    float low = fabsf(d00) + s * (fabsf(d10) - fabsf(d00));
    float high = fabsf(d01) + s * (fabsf(d11) - fabsf(d01));
    th_rough_distance rough = {
        low + t * (high - low),
        within && w == (d10 > 0.0f) && w == (d01 > 0.0f) && w == (d11 > 0.0f), w};
    return rough;
}

TH_BOTH static inline bool th_distance_on_grid(const th_distance_grid *grid, th_vec2 p) {
    return p.x >= grid->origin.x && p.y >= grid->origin.y &&
           p.x <= grid->origin.x + (float)(grid->nx - 1) * grid->cell &&
           p.y <= grid->origin.y + (float)(grid->ny - 1) * grid->cell;
}

TH_BOTH static inline float th_distance_nearby(const th_scene *scene, int level, th_vec2 p) {
    const th_wall_grid *walls = &scene->wall_grids[level];
    const int *list = NULL;
    int count = th_wall_cell(walls, p, &list);
    float best = TH_NO_WALL * TH_NO_WALL;
    for (int i = 0; i < count; ++i) {
        const th_wall *wall = &scene->walls[list[i]];
        if (wall->door < 0) best = th_min(best, th_segment_distance2(p, wall->a, wall->b));
    }
    return sqrtf(best);
}

// Off the grid, which covers all walls: compares with every wall.
TH_BOTH static inline float th_distance_outside(const th_scene *scene, int level, th_vec2 point) {
    const th_level *l = &scene->levels[level];
    float best = TH_NO_WALL * TH_NO_WALL;
    for (int w = l->wall_begin; w < l->wall_end; ++w)
        if (scene->walls[w].door < 0)
            best = th_min(best, th_segment_distance2(point, scene->walls[w].a, scene->walls[w].b));
    return sqrtf(best);
}

// th_scene_walkable and th_scene_distance, on the GPU too.
TH_BOTH static inline bool th_walkable(const th_scene *scene, int level, th_vec2 point) {
    if (level < 0 || level >= scene->level_count) return false;
    if (!(point.x == point.x && point.y == point.y)) return false;
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    // Outside the grid there may still be ground: an exit removes the wall it is drawn on.
    if (!grid || !th_distance_on_grid(grid, point))
        return !scene->levels[level].bounded || th_walkable_exactly(scene, level, point);
    th_rough_distance rough = th_distance_interpolate(grid, point);
    // twice the error of 0.71 cells: no wall can lie between here and the nodes
    if (rough.one_sided && rough.size > 1.42f * grid->cell) return rough.walkable;
    return th_walkable_exactly(scene, level, point);
}

TH_BOTH static inline float th_wall_distance(const th_scene *scene, int level, th_vec2 point) {
    bool walkable = th_walkable(scene, level, point);
    if (level < 0 || level >= scene->level_count) return -TH_NO_WALL;
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    float size = TH_NO_WALL;
    if (grid && !th_distance_on_grid(grid, point)) {
        size = th_distance_outside(scene, level, point);
    } else if (grid) {
        size = th_distance_interpolate(grid, point).size;
        if (size <= TH_DISTANCE_EXACT + 0.71f * grid->cell) {
            float exact = th_distance_nearby(scene, level, point);
            if (exact <= scene->wall_grids[level].reach) size = exact;
        }
    }
    return walkable ? size : -size;
}
#endif
