// Signed distance. The nodes know their nearest wall: exactly within the wall grid's reach, further
// away by passing the neighbours' nearest walls on in four sweeps. A query within EXACT of a wall asks
// the walls themselves; further away it interpolates between nodes. As distance changes by at most
// 1 m per m, that is wrong by less than 0.71 cells (0.36 m at the usual cell of 0.5 m) where it
// already exceeds EXACT. SPDX-License-Identifier: Apache-2.0
#include "space/distance_grid.h"
#include "formula/segment.h"
#include <stdlib.h>

static const float EXACT = 1.5f;              // [m] less than the wall grid's reach
static const float SMALLEST_NODE_CELL = 0.5f; // [m]
enum { NODES_MAX = 4000000 };
static const float NO_WALL_AT_ALL = 1e6f; // [m] what "no wall at all" reads

#ifndef TH_DEVICE_CODE // the CPU's loop
size_t th_row_crossing_max(const th_scene *scene, int level) {
    const th_level *l = &scene->levels[level];
    const th_polygons *shape = &l->walkable;
    int points = shape->ring_count > 0 ? shape->ring_start[shape->ring_count] : 0;
    return (size_t)(points + l->wall_end - l->wall_begin) + 1;
}

#endif

TH_BOTH static int cross_row(th_vec2 a, th_vec2 b, double y, th_row_crossing *crossing) {
    double ay = (double)a.y, by = (double)b.y;
    if ((ay <= y) == (by <= y)) return 0;
    crossing->x = (double)a.x + (y - ay) / (by - ay) * ((double)b.x - (double)a.x);
    crossing->turn = by > ay ? 1 : -1;
    return 1;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static int compare_crossings(const void *left, const void *right) {
    double a = ((const th_row_crossing *)left)->x, b = ((const th_row_crossing *)right)->x;
    return (a > b) - (a < b);
}

static int row_of_polygons(const th_polygons *shape, double y, th_row_crossing *crossings) {
    int count = 0;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            count += cross_row(shape->points[j], shape->points[i], y, &crossings[count]);
    }
    return count;
}

// On an open plane there is no polygon of the ground; the obstacles' edges turn once around every
// solid point, and the two sides of thin walls and doors cancel.
static int row_of_walls(const th_scene *scene, const th_level *level, double y,
                        th_row_crossing *crossings) {
    int count = 0;
    for (int w = level->wall_begin; w < level->wall_end; ++w)
        count += cross_row(scene->walls[w].a, scene->walls[w].b, y, &crossings[count]);
    return count;
}

void th_walkable_row(const th_scene *scene, int level, double x0, double spacing, int nx, double y,
                     th_row_crossing *crossings, uint8_t *out) {
    const th_level *l = &scene->levels[level];
    int count = l->bounded ? row_of_polygons(&l->walkable, y, crossings)
                           : row_of_walls(scene, l, y, crossings);
    qsort(crossings, (size_t)count, sizeof *crossings, compare_crossings);
    int next = 0, turns = 0;
    for (int i = 0; i < nx; ++i) {
        double x = x0 + i * spacing;
        for (; next < count && crossings[next].x <= x; ++next) turns += crossings[next].turn;
        out[i] = l->bounded ? (next & 1) != 0 : turns == 0;
    }
}

#endif

TH_BOTH static bool walkable_exactly(const th_scene *scene, int level, th_vec2 p) {
    const th_level *l = &scene->levels[level];
    if (l->bounded) return th_polygons_contain(&l->walkable, p);
    int turns = 0;
    for (int w = l->wall_begin; w < l->wall_end; ++w) {
        th_row_crossing crossing;
        if (cross_row(scene->walls[w].a, scene->walls[w].b, (double)p.y, &crossing) &&
            crossing.x <= (double)p.x)
            turns += crossing.turn;
    }
    return turns == 0;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// ---- building

typedef struct th_sweep {
    const th_scene *scene;
    th_distance_grid *grid;
    int *nearest;
    float *distance2;
} th_sweep;

static th_vec2 node_at(const th_distance_grid *grid, int column, int row) {
    return th_v(grid->origin.x + (float)column * grid->cell,
                grid->origin.y + (float)row * grid->cell);
}

static void offer(const th_sweep *sweep, int node, th_vec2 p, int wall) {
    if (wall < 0 || wall == sweep->nearest[node]) return;
    const th_wall *w = &sweep->scene->walls[wall];
    float distance2 = th_segment_distance2(p, w->a, w->b);
    if (distance2 >= sweep->distance2[node]) return;
    sweep->distance2[node] = distance2;
    sweep->nearest[node] = wall;
}

static void take_near_walls(const th_sweep *sweep, const th_wall_grid *walls) {
    th_distance_grid *grid = sweep->grid;
    for (int row = 0; row < grid->ny; ++row)
        for (int column = 0; column < grid->nx; ++column) {
            int node = row * grid->nx + column;
            th_vec2 p = node_at(grid, column, row);
            sweep->nearest[node] = -1;
            sweep->distance2[node] = NO_WALL_AT_ALL * NO_WALL_AT_ALL;
            const int *list = NULL;
            int count = th_wall_cell(walls, p, &list);
            for (int i = 0; i < count; ++i)
                if (sweep->scene->walls[list[i]].door < 0) offer(sweep, node, p, list[i]);
        }
}

static void pass_on(const th_sweep *sweep, int step_x, int step_y) {
    th_distance_grid *grid = sweep->grid;
    int nx = grid->nx, ny = grid->ny;
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) {
            int column = step_x > 0 ? i : nx - 1 - i, row = step_y > 0 ? j : ny - 1 - j;
            int node = row * nx + column, from_x = column - step_x, from_y = row - step_y;
            bool has_x = from_x >= 0 && from_x < nx, has_y = from_y >= 0 && from_y < ny;
            th_vec2 p = node_at(grid, column, row);
            if (has_x) offer(sweep, node, p, sweep->nearest[row * nx + from_x]);
            if (has_y) offer(sweep, node, p, sweep->nearest[from_y * nx + column]);
            if (has_x && has_y) offer(sweep, node, p, sweep->nearest[from_y * nx + from_x]);
        }
}

static bool set_signs(const th_scene *scene, int level, const th_distance_grid *grid,
                      float *distance) {
    const th_memory *memory = &scene->arena->memory;
    size_t most = th_row_crossing_max(scene, level);
    th_row_crossing *crossings = th_alloc(memory, most, sizeof *crossings);
    uint8_t *row_walkable = th_alloc(memory, (size_t)grid->nx, 1);
    if (crossings && row_walkable)
        for (int row = 0; row < grid->ny; ++row) {
            th_walkable_row(scene, level, (double)grid->origin.x, (double)grid->cell, grid->nx,
                            (double)(grid->origin.y + (float)row * grid->cell), crossings,
                            row_walkable);
            for (int i = 0; i < grid->nx; ++i)
                if (!row_walkable[i]) distance[row * grid->nx + i] *= -1.0f;
        }
    bool done = crossings && row_walkable;
    th_free(memory, crossings, most, sizeof *crossings);
    th_free(memory, row_walkable, (size_t)grid->nx, 1);
    return done;
}

static bool fill(th_scene *scene, int level, const th_wall_grid *walls, th_distance_grid *grid) {
    const th_memory *memory = &scene->arena->memory;
    size_t nodes = (size_t)grid->nx * (size_t)grid->ny;
    float *distance = th_arena_alloc(scene->arena, nodes, sizeof *distance);
    int *nearest = th_alloc(memory, nodes, sizeof *nearest);
    if (distance && nearest) {
        th_sweep sweep = {scene, grid, nearest, distance};
        take_near_walls(&sweep, walls);
        for (int pass = 0; pass < 4; ++pass) pass_on(&sweep, pass & 1 ? -1 : 1, pass & 2 ? -1 : 1);
        for (size_t i = 0; i < nodes; ++i) distance[i] = sqrtf(distance[i]);
    }
    bool done = distance && nearest && set_signs(scene, level, grid, distance);
    grid->distance = distance;
    th_free(memory, nearest, nodes, sizeof *nearest);
    return done;
}

bool th_distance_grid_build(th_scene *scene, int level, th_wall_grid *walls) {
    if (walls->nx == 0) return true; // an open plane: nothing is near
    th_distance_grid *grid = th_arena_alloc(scene->arena, 1, sizeof *grid);
    if (!grid) return false;
    double width = (double)walls->cell * walls->nx, height = (double)walls->cell * walls->ny;
    double cell = (double)SMALLEST_NODE_CELL;
    while ((width / cell + 2.0) * (height / cell + 2.0) * scene->level_count > NODES_MAX)
        cell *= 2.0;
    grid->origin = walls->origin;
    grid->cell = (float)cell;
    grid->inverse_cell = 1.0f / grid->cell;
    grid->nx = (int)(width / cell) + 2;
    grid->ny = (int)(height / cell) + 2;
    walls->distance = grid;
    return fill(scene, level, walls, grid);
}

#endif

// ---- asking

typedef struct th_rough_distance {
    float size;     // interpolated distance, without sign
    bool one_sided; // the four nodes around are all walkable or all solid
    bool walkable;  // then this
} th_rough_distance;

// Sizes and signs apart: at an opening in the outer wall the sign changes far from any wall.
TH_BOTH static th_rough_distance interpolate(const th_distance_grid *grid, th_vec2 p) {
    float x = th_clamp((p.x - grid->origin.x) * grid->inverse_cell, 0.0f, (float)(grid->nx - 1));
    float y = th_clamp((p.y - grid->origin.y) * grid->inverse_cell, 0.0f, (float)(grid->ny - 1));
    int column = (int)th_min(x, (float)(grid->nx - 2)), row = (int)th_min(y, (float)(grid->ny - 2));
    float s = x - (float)column, t = y - (float)row;
    const float *d = grid->distance + row * grid->nx + column;
    float d00 = d[0], d10 = d[1], d01 = d[grid->nx], d11 = d[grid->nx + 1];
    bool w = d00 > 0.0f;
    float low = fabsf(d00) + s * (fabsf(d10) - fabsf(d00));
    float high = fabsf(d01) + s * (fabsf(d11) - fabsf(d01));
    th_rough_distance rough = {low + t * (high - low),
                               w == (d10 > 0.0f) && w == (d01 > 0.0f) && w == (d11 > 0.0f), w};
    return rough;
}

TH_BOTH static bool on_grid(const th_distance_grid *grid, th_vec2 p) {
    return p.x >= grid->origin.x && p.y >= grid->origin.y &&
           p.x <= grid->origin.x + (float)(grid->nx - 1) * grid->cell &&
           p.y <= grid->origin.y + (float)(grid->ny - 1) * grid->cell;
}

TH_BOTH static float exact_distance(const th_scene *scene, int level, th_vec2 p) {
    const th_wall_grid *walls = &scene->wall_grids[level];
    const int *list = NULL;
    int count = th_wall_cell(walls, p, &list);
    float best = NO_WALL_AT_ALL * NO_WALL_AT_ALL;
    for (int i = 0; i < count; ++i) {
        const th_wall *wall = &scene->walls[list[i]];
        if (wall->door < 0) best = th_min(best, th_segment_distance2(p, wall->a, wall->b));
    }
    return sqrtf(best);
}

// Off the grid, and so beyond all walls: by looking at each.
TH_BOTH static float distance_outside(const th_scene *scene, int level, th_vec2 point) {
    const th_level *l = &scene->levels[level];
    float best = NO_WALL_AT_ALL * NO_WALL_AT_ALL;
    for (int w = l->wall_begin; w < l->wall_end; ++w)
        if (scene->walls[w].door < 0)
            best = th_min(best, th_segment_distance2(point, scene->walls[w].a, scene->walls[w].b));
    return sqrtf(best);
}

TH_BOTH bool th_walkable(const th_scene *scene, int level, th_vec2 point) {
    if (level < 0 || level >= scene->level_count) return false;
    if (!(point.x == point.x && point.y == point.y)) return false;
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    // Beyond all walls may still be ground: an exit takes away the wall it is drawn on.
    if (!grid || !on_grid(grid, point))
        return !scene->levels[level].bounded || walkable_exactly(scene, level, point);
    th_rough_distance rough = interpolate(grid, point);
    // 0.71 cells of error and as much again: no wall between here and the nodes.
    if (rough.one_sided && rough.size > 1.42f * grid->cell) return rough.walkable;
    return walkable_exactly(scene, level, point);
}

TH_BOTH float th_wall_distance(const th_scene *scene, int level, th_vec2 point) {
    bool walkable = th_walkable(scene, level, point);
    if (level < 0 || level >= scene->level_count) return -NO_WALL_AT_ALL;
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    float size = NO_WALL_AT_ALL;
    if (grid && !on_grid(grid, point)) {
        size = distance_outside(scene, level, point);
    } else if (grid) {
        size = interpolate(grid, point).size;
        if (size <= EXACT + 0.71f * grid->cell) {
            float exact = exact_distance(scene, level, point);
            if (exact <= scene->wall_grids[level].reach) size = exact;
        }
    }
    return walkable ? size : -size;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
bool th_scene_walkable(const th_scene *scene, int level, th_vec2 point) {
    return th_walkable(scene, level, point);
}
float th_scene_distance(const th_scene *scene, int level, th_vec2 point) {
    return th_wall_distance(scene, level, point);
}
#endif
