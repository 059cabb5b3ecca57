// The segment grid: built once per scene, asked by every agent in every step.
// Cost of a query: the walls of one cell (a few) when range <= reach, else all cells of a square.
// Live walls (at most a few hundred) are not in the grid and are looked at one by one.
// SPDX-License-Identifier: Apache-2.0
#include "space/walls.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include <string.h>

// Social force needs walls up to about 2 m away, ORCA max_speed * horizon = 1 m.
static const float REACH = 2.0f;
static const float SMALLEST_CELL = 1.0f; // [m] half the reach: lists are short, cells are few
enum { CELLS_MAX = 4000000 };            // a scene kilometres wide gets larger cells instead

enum {
    PIECES = 4,           // of a cell along a side, for the clearance: 0.25 m
    PIECES_MAX = 16000000 // of a level; beyond, pieces are larger
};

#ifndef TH_DEVICE_CODE // the CPU's loop
static th_box walls_box(const th_scene *scene, const th_level *level) {
    th_box box = {1e30f, 1e30f, -1e30f, -1e30f};
    for (int w = level->wall_begin; w < level->wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        box.min_x = th_min(box.min_x, th_min(wall->a.x, wall->b.x));
        box.min_y = th_min(box.min_y, th_min(wall->a.y, wall->b.y));
        box.max_x = th_max(box.max_x, th_max(wall->a.x, wall->b.x));
        box.max_y = th_max(box.max_y, th_max(wall->a.y, wall->b.y));
    }
    return box;
}

// The grid reaches `reach` beyond the outermost wall, so off the grid no wall is near.
static void size_grid(th_wall_grid *grid, th_box box, int cells_max) {
    grid->reach = REACH;
    grid->origin = th_v(box.min_x - REACH, box.min_y - REACH);
    double width = (double)box.max_x - (double)box.min_x + 2.0 * (double)REACH;
    double height = (double)box.max_y - (double)box.min_y + 2.0 * (double)REACH;
    double cell = (double)SMALLEST_CELL;
    while ((width / cell + 1.0) * (height / cell + 1.0) > cells_max) cell *= 2.0;
    grid->cell = (float)cell;
    grid->inverse_cell = 1.0f / grid->cell;
    grid->nx = (int)(width / cell) + 1;
    grid->ny = (int)(height / cell) + 1;
}

// Is any point of the cell within reach of the wall? By centre and half diagonal: a little too
// generous, never too mean. The last addend covers rounding at map-size coordinates.
static bool cell_near(const th_wall_grid *grid, int column, int row, const th_wall *wall) {
    th_vec2 centre = {grid->origin.x + ((float)column + 0.5f) * grid->cell,
                      grid->origin.y + ((float)row + 0.5f) * grid->cell};
    float limit = grid->reach + 0.70711f * grid->cell + 0.01f;
    return th_segment_distance2(centre, wall->a, wall->b) <= limit * limit;
}

#endif

TH_BOTH static int clamp_cell(float cell, int count) {
    return !(cell > 0.0f) ? 0 : cell >= (float)count ? count - 1 : (int)cell;
}

typedef struct th_cell_range {
    int column0, column1, row0, row1;
} th_cell_range;

TH_BOTH static th_cell_range cells_around(const th_wall_grid *grid, th_vec2 low, th_vec2 high,
                                          float range) {
    th_cell_range cells = {
        clamp_cell((low.x - range - grid->origin.x) * grid->inverse_cell, grid->nx),
        clamp_cell((high.x + range - grid->origin.x) * grid->inverse_cell, grid->nx),
        clamp_cell((low.y - range - grid->origin.y) * grid->inverse_cell, grid->ny),
        clamp_cell((high.y + range - grid->origin.y) * grid->inverse_cell, grid->ny)};
    return cells;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// The cells of one row that may be near the wall: a slanting wall is near few of the cells of its box.
static th_cell_range cells_of_row(const th_wall_grid *grid, th_cell_range cells, int row,
                                  const th_wall *wall) {
    float limit = grid->reach + grid->cell; // more than cell_near asks of a centre
    float middle = grid->origin.y + ((float)row + 0.5f) * grid->cell;
    float dy = wall->b.y - wall->a.y, s0 = 0.0f, s1 = 1.0f;
    if (fabsf(dy) > limit) {
        float low = (middle - limit - wall->a.y) / dy, high = (middle + limit - wall->a.y) / dy;
        s0 = th_clamp(th_min(low, high), 0.0f, 1.0f);
        s1 = th_clamp(th_max(low, high), 0.0f, 1.0f);
    }
    float x0 = wall->a.x + s0 * (wall->b.x - wall->a.x);
    float x1 = wall->a.x + s1 * (wall->b.x - wall->a.x);
    th_vec2 left = {th_min(x0, x1), middle}, right = {th_max(x0, x1), middle};
    th_cell_range span = cells_around(grid, left, right, limit);
    if (span.column0 < cells.column0) span.column0 = cells.column0;
    if (span.column1 > cells.column1) span.column1 = cells.column1;
    return span;
}

// Calls for every cell near each wall: counts when list is NULL, fills otherwise. start[c + 1] is the
// running count or the running end of cell c.
static void visit_cells(const th_scene *scene, const th_level *level, const th_wall_grid *grid,
                        int *start, int *list) {
    for (int w = level->wall_begin; w < level->wall_end; ++w) {
        const th_wall *wall = &scene->walls[w];
        th_vec2 low = {th_min(wall->a.x, wall->b.x), th_min(wall->a.y, wall->b.y)};
        th_vec2 high = {th_max(wall->a.x, wall->b.x), th_max(wall->a.y, wall->b.y)};
        th_cell_range cells = cells_around(grid, low, high, grid->reach + 0.01f);
        for (int row = cells.row0; row <= cells.row1; ++row) {
            th_cell_range span = cells_of_row(grid, cells, row, wall);
            for (int column = span.column0; column <= span.column1; ++column) {
                if (!cell_near(grid, column, row, wall)) continue;
                int *end = &start[row * grid->nx + column + 1];
                if (list) list[*end] = w;
                ++*end;
            }
        }
    }
}

// The walls of a cell's list that may be the nearest of one of its points.
static int nearest_of_cell(const th_scene *scene, const th_wall_grid *grid, int cell, int *kept,
                           int max) {
    th_vec2 centre = {grid->origin.x + ((float)(cell % grid->nx) + 0.5f) * grid->cell,
                      grid->origin.y + ((float)(cell / grid->nx) + 0.5f) * grid->cell};
    float nearest2 = 1e30f;
    for (int i = grid->start[cell]; i < grid->start[cell + 1]; ++i) {
        const th_wall *wall = &scene->walls[grid->list[i]];
        nearest2 = th_min(nearest2, th_segment_distance2(centre, wall->a, wall->b));
    }
    float limit = sqrtf(nearest2) + 1.415f * grid->cell; // from the centre to a point and back
    int count = 0;
    for (int i = grid->start[cell]; i < grid->start[cell + 1]; ++i) {
        const th_wall *wall = &scene->walls[grid->list[i]];
        if (th_segment_distance2(centre, wall->a, wall->b) > limit * limit) continue;
        if (count == max) return -1;
        kept[count++] = grid->list[i];
    }
    return count;
}

// Clearance of a piece: what its centre has, less half its diagonal, and 2 cm for the rounding of coordinates.
static uint8_t clear_of_piece(const th_scene *scene, const th_wall_grid *grid, th_vec2 centre,
                              float piece, const int *walls, int count) {
    float nearest2 = 1e30f;
    for (int i = 0; i < count; ++i) {
        const th_wall *wall = &scene->walls[walls[i]];
        nearest2 = th_min(nearest2, th_segment_distance2(centre, wall->a, wall->b));
    }
    float clear = th_min(sqrtf(nearest2) - 0.70711f * piece - 0.02f, grid->reach);
    return (uint8_t)(clear > 0.0f ? floorf(clear / TH_CLEAR_UNIT) : 0.0f);
}

static bool build_clearance(th_scene *scene, th_wall_grid *grid) {
    enum { KEPT = 32 };
    int pieces = PIECES, cells = grid->nx * grid->ny;
    while (pieces > 1 && (double)cells * pieces * pieces > PIECES_MAX) pieces /= 2;
    size_t count = (size_t)cells * (size_t)(pieces * pieces);
    uint8_t *clear = th_arena_alloc(scene->arena, count, 1);
    if (!clear) return false;
    float piece = grid->cell / (float)pieces;
    grid->clear = clear;
    grid->inverse_piece = 1.0f / piece;
    grid->clear_nx = grid->nx * pieces;
    grid->clear_ny = grid->ny * pieces;
    memset(clear, (int)(grid->reach / TH_CLEAR_UNIT), count);
    for (int c = 0; c < cells; ++c) {
        if (grid->start[c] == grid->start[c + 1]) continue;
        int kept[KEPT], near = nearest_of_cell(scene, grid, c, kept, KEPT);
        const int *walls = near < 0 ? grid->list + grid->start[c] : kept;
        if (near < 0) near = grid->start[c + 1] - grid->start[c];
        for (int k = 0; k < pieces * pieces; ++k) {
            int column = c % grid->nx * pieces + k % pieces;
            int row = c / grid->nx * pieces + k / pieces;
            th_vec2 centre = {grid->origin.x + ((float)column + 0.5f) * piece,
                              grid->origin.y + ((float)row + 0.5f) * piece};
            clear[row * grid->clear_nx + column] =
                clear_of_piece(scene, grid, centre, piece, walls, near);
        }
    }
    return true;
}

static bool build_level(th_scene *scene, const th_level *level, th_wall_grid *grid, int cells_max) {
    memset(grid, 0, sizeof *grid);
    grid->reach = REACH;
    if (level->wall_begin >= level->wall_end) return true;
    size_grid(grid, walls_box(scene, level), cells_max);
    int cells = grid->nx * grid->ny;
    int *start = th_arena_alloc(scene->arena, (size_t)cells + 2, sizeof *start);
    if (!start) return false;
    visit_cells(scene, level, grid, start + 1, NULL); // counts, one place too far right ...
    int64_t total = 0;
    for (int c = 0; c < cells; ++c) total += start[c + 2];
    if (total > INT32_MAX - 1) return false;
    for (int c = 0; c < cells; ++c) start[c + 2] += start[c + 1];
    int *list = th_arena_alloc(scene->arena, (size_t)start[cells + 1] + 1, sizeof *list);
    if (!list) return false;
    visit_cells(scene, level, grid, start, list); // ... so that filling moves them into place
    grid->start = start;
    grid->list = list;
    return build_clearance(scene, grid);
}

bool th_wall_grids_build(th_scene *scene) {
    th_wall_grid *grids = th_arena_alloc(scene->arena, (size_t)scene->level_count, sizeof *grids);
    if (!grids) return false;
    scene->wall_grids = grids;
    int cells_max = CELLS_MAX / (scene->level_count > 0 ? scene->level_count : 1);
    for (int l = 0; l < scene->level_count; ++l)
        if (!build_level(scene, &scene->levels[l], &grids[l], cells_max)) return false;
    for (int l = 0; l < scene->level_count; ++l)
        if (!th_distance_grid_build(scene, l, &grids[l])) return false;
    return true;
}

#endif

typedef struct th_near_list {
    int *found;
    float *distances2;
    int count, max;
    float range2;
    float wide2; // the square of a little more than the range
} th_near_list;

enum { NEAR_MAX = 64 }; // most kept when the caller gives no room for distances

TH_BOTH static void near_insert(th_near_list *near, int wall, float distance2) {
    int at = near->count;
    while (at > 0 && (distance2 < near->distances2[at - 1] ||
                      (distance2 == near->distances2[at - 1] && wall < near->found[at - 1])))
        --at;
    if (at > 0 && near->found[at - 1] == wall) return; // seen in another cell
    if (at >= near->max) return;
    int last = near->count < near->max ? near->count++ : near->max - 1;
    for (int i = last; i > at; --i) {
        near->found[i] = near->found[i - 1];
        near->distances2[i] = near->distances2[i - 1];
    }
    near->found[at] = wall;
    near->distances2[at] = distance2;
}

TH_BOTH static inline void near_try(th_near_list *near, const th_walls *walls, int w, th_vec2 p) {
    const th_wall *wall = &walls->walls[w];
    // Most walls of a cell are further than asked for, which their boxes tell without a division.
    float dx = th_max(th_min(wall->a.x, wall->b.x) - p.x, p.x - th_max(wall->a.x, wall->b.x));
    float dy = th_max(th_min(wall->a.y, wall->b.y) - p.y, p.y - th_max(wall->a.y, wall->b.y));
    dx = th_max(dx, 0.0f);
    dy = th_max(dy, 0.0f);
    if (dx * dx + dy * dy > near->wide2 || !th_wall_stands(walls, wall)) return;
    float distance2 = th_segment_distance2(p, wall->a, wall->b);
    if (distance2 <= near->range2) near_insert(near, w, distance2);
}

TH_BOTH int th_walls_near(const th_walls *walls, int level, th_vec2 p, float range, int *found,
                          float *distances2, int max) {
    const th_wall_grid *grid = &walls->grids[level];
    if (range < th_walls_clear(walls, level, p)) return 0;
    float own_distances2[NEAR_MAX];
    float wide = range + 0.01f; // [m] rounding of coordinates as on a map
    th_near_list near = {found, distances2, 0, max, range * range, wide * wide};
    if (!distances2) {
        near.distances2 = own_distances2;
        if (near.max > NEAR_MAX) near.max = NEAR_MAX;
    }
    if (near.max <= 0) return 0;
    if (range <= grid->reach) {
        const int *list = NULL;
        int count = th_wall_cell(grid, p, &list);
        for (int i = 0; i < count; ++i) near_try(&near, walls, list[i], p);
    } else if (grid->nx > 0 && p.x == p.x && p.y == p.y) {
        th_cell_range cells = cells_around(grid, p, p, range);
        for (int row = cells.row0; row <= cells.row1; ++row) {
            int begin = grid->start[row * grid->nx + cells.column0];
            int end = grid->start[row * grid->nx + cells.column1 + 1];
            for (int i = begin; i < end; ++i) near_try(&near, walls, grid->list[i], p);
        }
    }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level) near_try(&near, walls, w, p);
    return near.count;
}

typedef struct th_crossing {
    int wall;
    double t;
} th_crossing;

TH_BOTH static inline void crossing_try(th_crossing *first, const th_walls *walls, int w, th_vec2 p,
                                        th_vec2 q) {
    const th_wall *wall = &walls->walls[w];
    double t;
    if (!th_segments_meet(p, q, wall->a, wall->b, &t) || !th_wall_stands(walls, wall)) return;
    if (first->wall >= 0 && (t > first->t || (t == first->t && w >= first->wall))) return;
    first->wall = w;
    first->t = t;
}

// The part t0 .. t1 of a path that lies over the grid: somebody far outside sees a kilometre of nothing.
TH_BOTH static void clip_to_grid(const th_wall_grid *grid, th_vec2 p, th_vec2 path, float *t0,
                                 float *t1) {
    const float start[2] = {p.x - grid->origin.x, p.y - grid->origin.y}, run[2] = {path.x, path.y};
    const float size[2] = {grid->cell * (float)grid->nx, grid->cell * (float)grid->ny};
    for (int axis = 0; axis < 2; ++axis) {
        if (fabsf(run[axis]) < 1e-6f) continue;
        float enter = -start[axis] / run[axis], leave = (size[axis] - start[axis]) / run[axis];
        *t0 = th_clamp(th_min(enter, leave), *t0, 1.0f);
        *t1 = th_clamp(th_max(enter, leave), *t0, *t1);
    }
}

TH_BOTH int th_walls_first_crossing(const th_walls *walls, int level, th_vec2 p, th_vec2 q,
                                    float *t) {
    const th_wall_grid *grid = &walls->grids[level];
    th_crossing first = {-1, 2.0};
    th_vec2 path = th_sub(q, p);
    float clear = th_walls_clear(walls, level, p);
    if (th_length2(path) < clear * clear) return -1;
    // The walls that meet a piece of path no longer than twice the reach are all within reach of its
    // middle, so one cell per piece is enough.
    float length2 = th_length2(path), longest = 1.9f * grid->reach, t0 = 0.0f, t1 = 1.0f;
    int count = 1;
    if (!(length2 <= longest * longest)) {
        clip_to_grid(grid, p, path, &t0, &t1);
        float pieces = ceilf((t1 - t0) * sqrtf(length2) / longest);
        count = pieces > 1.0f ? (int)th_min(pieces, 1e6f) : 1;
    }
    if (grid->nx > 0)
        for (int k = 0; k < count; ++k) {
            const int *list = NULL;
            float step = (t1 - t0) / (float)count;
            if (first.wall >= 0 && first.t <= (double)(t0 + (float)k * step)) break;
            th_vec2 middle = th_add(p, th_scale(t0 + ((float)k + 0.5f) * step, path));
            int entries = th_wall_cell(grid, middle, &list);
            for (int i = 0; i < entries; ++i) crossing_try(&first, walls, list[i], p, q);
        }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level) crossing_try(&first, walls, w, p, q);
    if (first.wall < 0) return -1;
    if (t) {
        *t = (float)first.t;
        if ((double)*t > first.t) *t = nextafterf(*t, 0.0f); // before the wall rather than behind
    }
    return first.wall;
}

TH_BOTH static bool reaches_into(const th_walls *walls, int w, const th_box *box) {
    const th_wall *wall = &walls->walls[w];
    return th_boxes_touch(wall->a, wall->b, th_v(box->min_x, box->min_y),
                          th_v(box->max_x, box->max_y), 0.0f) &&
           th_wall_stands(walls, wall);
}

// Pieces of the box are small enough to lie within reach of their middles.
TH_BOTH bool th_walls_none_in(const th_walls *walls, int level, const th_box *box) {
    const th_wall_grid *grid = &walls->grids[level];
    float width = box->max_x - box->min_x, height = box->max_y - box->min_y;
    float side = 1.3f * grid->reach;
    if (!(width <= 20.0f && height <= 20.0f)) return false; // also not a number
    int columns = 1 + (int)(width / side), rows = 1 + (int)(height / side);
    for (int k = 0; k < columns * rows && grid->nx > 0; ++k) {
        float x = ((float)(k % columns) + 0.5f) / (float)columns;
        float y = ((float)(k / columns) + 0.5f) / (float)rows;
        const int *list = NULL;
        th_vec2 middle = {box->min_x + x * width, box->min_y + y * height};
        int count = th_wall_cell(grid, middle, &list);
        for (int i = 0; i < count; ++i)
            if (reaches_into(walls, list[i], box)) return false;
    }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level && reaches_into(walls, w, box)) return false;
    return true;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
float th_walls_distance(const th_walls *walls, int level, th_vec2 p) {
    // Growing squares until the nearest wall found is surely the nearest there is.
    const th_wall_grid *grid = &walls->grids[level];
    int nearest;
    float distance2;
    float span = grid->cell * (float)(grid->nx + grid->ny);
    float outside = th_length(th_sub(p, grid->origin)) + span;
    if (!(outside < 1e6f)) outside = 1e6f;
    for (float range = grid->reach;; range *= 4.0f) {
        if (th_walls_near(walls, level, p, range, &nearest, &distance2, 1) > 0)
            return sqrtf(distance2);
        if (range > outside) return 1e6f;
    }
}
#endif
