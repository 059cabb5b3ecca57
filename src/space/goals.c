// Marking the cells near goals, once per scene. Lines mark the cells they pass, areas the cells of their box.
// SPDX-License-Identifier: Apache-2.0
#include "space/goals.h"
#include "formula/segment.h"

static const double CELL = 1.0;      // [m]
enum { CELLS_MAX = 1000000 };        // of a level; beyond, cells are larger
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

static bool build_level(th_scene *scene, int level, th_goal_grid *grid) {
    th_box box = box_of_level(scene, level);
    if (!(box.min_x <= box.max_x && box.min_y <= box.max_y)) return true; // no goals
    double width = (double)box.max_x - (double)box.min_x,
           height = (double)box.max_y - (double)box.min_y, cell = CELL;
    while ((width / cell + 1.0) * (height / cell + 1.0) > CELLS_MAX) cell *= 2.0;
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
        if (!build_level(scene, l, &grids[l])) return false;
    return true;
}
