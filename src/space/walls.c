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

// Is any point of the cell within reach of the wall? Decided by centre and half diagonal: this may accept a
// cell just out of reach, but never misses one. The last addend covers rounding at map-size coordinates.
static bool cell_near(const th_wall_grid *grid, int column, int row, const th_wall *wall) {
    th_vec2 centre = {grid->origin.x + ((float)column + 0.5f) * grid->cell,
                      grid->origin.y + ((float)row + 0.5f) * grid->cell};
    float limit = grid->reach + 0.70711f * grid->cell + 0.01f;
    return th_segment_distance2(centre, wall->a, wall->b) <= limit * limit;
}

// The cells of one row that may be near the wall: a slanting wall is near few of the cells of its box.
static th_wall_cells cells_of_row(const th_wall_grid *grid, th_wall_cells cells, int row,
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
    th_wall_cells span = th_wall_cells_around(grid, left, right, limit);
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
        th_wall_cells cells = th_wall_cells_around(grid, low, high, grid->reach + 0.01f);
        for (int row = cells.row0; row <= cells.row1; ++row) {
            th_wall_cells span = cells_of_row(grid, cells, row, wall);
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
static uint16_t clear_of_piece(const th_scene *scene, const th_wall_grid *grid, th_vec2 centre,
                               float piece, const int *walls, int count) {
    float nearest2 = 1e30f;
    for (int i = 0; i < count; ++i) {
        const th_wall *wall = &scene->walls[walls[i]];
        nearest2 = th_min(nearest2, th_segment_distance2(centre, wall->a, wall->b));
    }
    float clear = th_min(sqrtf(nearest2) - 0.70711f * piece - 0.02f, grid->reach);
    return (uint16_t)(clear > 0.0f ? floorf(clear / TH_CLEAR_UNIT) : 0.0f);
}

static int least_of(int a, int b) { return a < b ? a : b; }

// Beyond the reach: the line from a point to its nearest wall leads through a piece whose clearance is known, so it is at
// least as long as that and the way between the two, less a diagonal for where the points are in their pieces. Steps to
// the eight pieces around, in two sweeps, are at most 1.0824 times as long as a straight way, so they count that much less.
static void spread_clearance(const th_wall_grid *grid, uint16_t *clear, float piece) {
    int known = (int)(grid->reach / TH_CLEAR_UNIT), nx = grid->clear_nx, ny = grid->clear_ny;
    int straight = (int)(piece / 1.0824f / TH_CLEAR_UNIT),
        diagonal = (int)(1.41421f * piece / 1.0824f / TH_CLEAR_UNIT),
        less = (int)(1.4143f * piece / TH_CLEAR_UNIT) + 1;
    size_t count = (size_t)nx * (size_t)ny;
    for (size_t k = 0; k < count; ++k)
        if (clear[k] >= known) clear[k] = UINT16_MAX;
    for (int sweep = 0; sweep < 2; ++sweep) {
        int turn = sweep == 0 ? 1 : -1;
        for (int r = 0; r < ny; ++r)
            for (int c = 0; c < nx; ++c) {
                int row = sweep == 0 ? r : ny - 1 - r, column = sweep == 0 ? c : nx - 1 - c;
                uint16_t *at = clear + (size_t)row * (size_t)nx + column;
                if (*at < known) continue;
                int least = *at;
                bool below = r > 0, left = c > 0, right = c < nx - 1;
                const uint16_t *under = at - turn * nx;
                if (left) least = least_of(least, at[-turn] + straight);
                if (below) least = least_of(least, under[0] + straight);
                if (below && left) least = least_of(least, under[-turn] + diagonal);
                if (below && right) least = least_of(least, under[turn] + diagonal);
                *at = (uint16_t)(least < known ? known : least);
            }
    }
    for (size_t k = 0; k < count; ++k) {
        if (clear[k] < known) continue;
        clear[k] = (uint16_t)(clear[k] - less < known ? known : clear[k] - less);
    }
}

static bool build_clearance(th_scene *scene, th_wall_grid *grid) {
    enum { KEPT = 32 };
    int pieces = PIECES, cells = grid->nx * grid->ny;
    while (pieces > 1 && (double)cells * pieces * pieces > PIECES_MAX) pieces /= 2;
    size_t count = (size_t)cells * (size_t)(pieces * pieces);
    uint16_t *clear = th_arena_alloc(scene->arena, count, sizeof *clear);
    if (!clear) return false;
    float piece = grid->cell / (float)pieces;
    grid->clear = clear;
    grid->inverse_piece = 1.0f / piece;
    grid->clear_nx = grid->nx * pieces;
    grid->clear_ny = grid->ny * pieces;
    for (size_t k = 0; k < count; ++k) clear[k] = (uint16_t)(grid->reach / TH_CLEAR_UNIT);
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
    spread_clearance(grid, clear, piece);
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
    visit_cells(scene, level, grid, start + 1, NULL); // counts, shifted by one ...
    int64_t total = 0;
    for (int c = 0; c < cells; ++c) total += start[c + 2];
    if (total > INT32_MAX - 1) return false;
    for (int c = 0; c < cells; ++c) start[c + 2] += start[c + 1];
    int *list = th_arena_alloc(scene->arena, (size_t)start[cells + 1] + 1, sizeof *list);
    if (!list) return false;
    visit_cells(scene, level, grid, start,
                list); // ... so that filling ends with start[c] at the beginning of cell c
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

float th_walls_distance(const th_walls *walls, int level, th_vec2 p) {
    // Searches squares of growing size until no wall outside them can be nearer than the one found.
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

// ---- cells near goals

// Marking the cells near goals, once per scene. Lines mark the cells they pass, areas the cells of their box.

static const double GOAL_CELL = 1.0; // [m]
enum { GOAL_CELLS_MAX = 1000000 };   // of a level; beyond, cells are larger
static const float ROUNDING = 0.02f; // [m] of coordinates as on a map

static int level_of(const th_goal *goal) {
    return goal->is_line ? goal->line.level : goal->area.level;
}

static th_box box_of(const th_goal *goal) {
    const th_line *line = &goal->line;
    th_box box = goal->area.shape.box;
    if (goal->is_line)
        box = (th_box){th_min(line->a.x, line->b.x), th_min(line->a.y, line->b.y),
                       th_max(line->a.x, line->b.x), th_max(line->a.y, line->b.y)};
    float more = TH_GOAL_NEAR + ROUNDING;
    return (th_box){box.min_x - more, box.min_y - more, box.max_x + more, box.max_y + more};
}

static th_box box_of_level(const th_scene *scene, int level) {
    th_box all = {1e30f, 1e30f, -1e30f, -1e30f};
    for (int g = 0; g < scene->goal_count; ++g) {
        if (level_of(&scene->goals[g]) != level) continue;
        th_box box = box_of(&scene->goals[g]);
        all = (th_box){th_min(all.min_x, box.min_x), th_min(all.min_y, box.min_y),
                       th_max(all.max_x, box.max_x), th_max(all.max_y, box.max_y)};
    }
    return all;
}

static int cell_at(float x, float origin, float inverse_cell, int count) {
    float cell = (x - origin) * inverse_cell;
    return !(cell > 0.0f) ? 0 : cell >= (float)count ? count - 1 : (int)cell;
}

static void mark(const th_goal *goal, const th_goal_grid *grid, float cell, uint8_t *near) {
    th_box box = box_of(goal);
    float limit = TH_GOAL_NEAR + 0.70711f * cell + ROUNDING;
    int column0 = cell_at(box.min_x, grid->origin.x, grid->inverse_cell, grid->nx);
    int column1 = cell_at(box.max_x, grid->origin.x, grid->inverse_cell, grid->nx);
    int row0 = cell_at(box.min_y, grid->origin.y, grid->inverse_cell, grid->ny);
    int row1 = cell_at(box.max_y, grid->origin.y, grid->inverse_cell, grid->ny);
    for (int row = row0; row <= row1; ++row)
        for (int column = column0; column <= column1; ++column) {
            th_vec2 centre = {grid->origin.x + ((float)column + 0.5f) * cell,
                              grid->origin.y + ((float)row + 0.5f) * cell};
            if (!goal->is_line ||
                th_segment_distance2(centre, goal->line.a, goal->line.b) <= limit * limit)
                near[row * grid->nx + column] = 1;
        }
}

static bool build_goal_level(th_scene *scene, int level, th_goal_grid *grid) {
    th_box box = box_of_level(scene, level);
    if (!(box.min_x <= box.max_x && box.min_y <= box.max_y)) return true; // no goals
    double width = (double)box.max_x - (double)box.min_x,
           height = (double)box.max_y - (double)box.min_y, cell = GOAL_CELL;
    while ((width / cell + 1.0) * (height / cell + 1.0) > GOAL_CELLS_MAX) cell *= 2.0;
    grid->origin = th_v(box.min_x, box.min_y);
    grid->inverse_cell = 1.0f / (float)cell;
    grid->nx = (int)(width / cell) + 1;
    grid->ny = (int)(height / cell) + 1;
    uint8_t *near = th_arena_alloc(scene->arena, (size_t)grid->nx * (size_t)grid->ny, 1);
    if (!near) return false;
    grid->near = near;
    for (int g = 0; g < scene->goal_count; ++g)
        if (level_of(&scene->goals[g]) == level) mark(&scene->goals[g], grid, (float)cell, near);
    return true;
}

bool th_goal_grids_build(th_scene *scene) {
    th_goal_grid *grids = th_arena_alloc(scene->arena, (size_t)scene->level_count, sizeof *grids);
    if (!grids) return false;
    scene->goal_grids = grids;
    for (int l = 0; l < scene->level_count; ++l)
        if (!build_goal_level(scene, l, &grids[l])) return false;
    return true;
}
