// Signed distance. The nodes know their nearest wall: exactly within the wall grid's reach, further
// away by passing the neighbours' nearest walls on in four sweeps. A query within TH_DISTANCE_EXACT of a wall asks
// the walls themselves; further away it interpolates between nodes. As distance changes by at most
// 1 m per m, that is wrong by less than 0.71 cells (0.36 m at the usual cell of 0.5 m) where it
// already exceeds TH_DISTANCE_EXACT. SPDX-License-Identifier: Apache-2.0
#include "space/distance_grid.h"
#include <stdlib.h>

static const float SMALLEST_NODE_CELL = 0.5f; // [m]
enum { NODES_MAX = 4000000 };

size_t th_row_crossing_max(const th_scene *scene, int level) {
    const th_level *l = &scene->levels[level];
    const th_polygons *shape = &l->walkable;
    int points = shape->ring_count > 0 ? shape->ring_start[shape->ring_count] : 0;
    return (size_t)(points + l->wall_end - l->wall_begin) + 1;
}

static int compare_crossings(const void *left, const void *right) {
    double a = ((const th_row_crossing *)left)->x, b = ((const th_row_crossing *)right)->x;
    return (a > b) - (a < b);
}

static int row_of_shape(const th_polygons *shape, double y, th_row_crossing *crossings) {
    int count = 0;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            count += th_row_cross(shape->points[j], shape->points[i], y, &crossings[count]);
    }
    return count;
}

int th_row_crossings(const th_polygons *shape, double y, th_row_crossing *crossings) {
    int count = row_of_shape(shape, y, crossings);
    qsort(crossings, (size_t)count, sizeof *crossings, compare_crossings);
    return count;
}

static int row_of_ground(const th_polygons *shape, const th_edge_rows *rows, double y,
                         th_row_crossing *crossings) {
    int count = 0;
    if (!rows || rows->count == 0) return row_of_shape(shape, y, crossings);
    int row = th_edge_row(rows, (float)y);
    for (int e = rows->start[row]; e < rows->start[row + 1]; ++e)
        count += th_row_cross(rows->corner[2 * e], rows->corner[2 * e + 1], y, &crossings[count]);
    return count;
}

// On an open plane there is no polygon of the ground; the obstacles' edges turn once around every
// solid point, and the two sides of thin walls and doors cancel.
static int row_of_walls(const th_scene *scene, const th_level *level, double y,
                        th_row_crossing *crossings) {
    int count = 0;
    for (int w = level->wall_begin; w < level->wall_end; ++w)
        count += th_row_cross(scene->walls[w].a, scene->walls[w].b, y, &crossings[count]);
    return count;
}

void th_walkable_row(const th_scene *scene, int level, double x0, double spacing, int nx, double y,
                     th_row_crossing *crossings, uint8_t *out) {
    const th_level *l = &scene->levels[level];
    const th_distance_grid *grid = scene->wall_grids[level].distance;
    int count = l->bounded ? row_of_ground(&l->walkable, grid ? &grid->edges : NULL, y, crossings)
                           : row_of_walls(scene, l, y, crossings);
    qsort(crossings, (size_t)count, sizeof *crossings, compare_crossings);
    int next = 0, turns = 0;
    for (int i = 0; i < nx; ++i) {
        double x = x0 + i * spacing;
        for (; next < count && crossings[next].x <= x; ++next) turns += crossings[next].turn;
        out[i] = l->bounded ? (next & 1) != 0 : turns == 0;
    }
}

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
            sweep->distance2[node] = TH_NO_WALL * TH_NO_WALL;
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
    th_dealloc(memory, crossings, most, sizeof *crossings);
    th_dealloc(memory, row_walkable, (size_t)grid->nx, 1);
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
    th_dealloc(memory, nearest, nodes, sizeof *nearest);
    return done;
}

// ---- edges in rows

// Counts the edges of every row in start[row + 1] when corner is NULL, else puts them in their places.
static void visit_edges(const th_polygons *shape, const th_edge_rows *rows, int *start,
                        th_vec2 *corner) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            th_vec2 a = shape->points[j], b = shape->points[i];
            int last = th_edge_row(rows, th_max(a.y, b.y));
            for (int row = th_edge_row(rows, th_min(a.y, b.y)); row <= last; ++row) {
                int at = start[row + 1]++;
                if (!corner) continue;
                corner[2 * at] = a;
                corner[2 * at + 1] = b;
            }
        }
    }
}

// As many rows as make about two more entries per edge.
static bool sort_edges(th_scene *scene, const th_polygons *shape, th_edge_rows *rows) {
    enum { ROWS_MAX = 65536 };
    if (shape->ring_count == 0) return true;
    int edges = shape->ring_start[shape->ring_count];
    double height = (double)shape->box.max_y - (double)shape->box.min_y, climb = 0.0;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++)
            climb += fabs((double)shape->points[i].y - (double)shape->points[j].y);
    }
    double count = climb > 0.0 ? 2.0 * edges * height / climb : 1.0;
    rows->count = count > ROWS_MAX ? ROWS_MAX : count < 1.0 ? 1 : (int)count;
    rows->origin = shape->box.min_y;
    rows->inverse_height = height > 0.0 ? (float)(rows->count / height) : 0.0f;
    int *start = th_arena_alloc(scene->arena, (size_t)rows->count + 2, sizeof *start);
    if (!start) return false;
    visit_edges(shape, rows, start + 1, NULL); // counts, shifted by one ...
    for (int r = 0; r < rows->count; ++r) start[r + 2] += start[r + 1];
    th_vec2 *corner =
        th_arena_alloc(scene->arena, 2 * (size_t)start[rows->count + 1] + 1, sizeof *corner);
    if (!corner) return false;
    visit_edges(shape, rows, start, corner); // ... so that filling ends with start[r] at row r
    rows->start = start;
    rows->corner = corner;
    return true;
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
    const th_level *l = &scene->levels[level];
    if (l->bounded && !sort_edges(scene, &l->walkable, &grid->edges)) return false;
    return fill(scene, level, walls, grid);
}

bool th_scene_walkable(const th_scene *scene, int level, th_vec2 point) {
    return level >= 0 && level < scene->level_count && th_walkable(scene, level, point);
}
float th_scene_distance(const th_scene *scene, int level, th_vec2 point) {
    if (level < 0 || level >= scene->level_count) return -1e6f;
    return th_wall_distance(scene, level, point);
}
