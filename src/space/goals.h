// Cells near a goal: one look-up per person and step replaces a loop over all exits.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_GOALS_H
#define TH_SPACE_GOALS_H
#include "scene/scene.h"

// Over the box of a level's goals and TH_GOAL_NEAR around it; off the grid no goal is near.
typedef struct th_goal_grid {
    th_vec2 origin;
    float inverse_cell;
    int nx, ny;
    const uint8_t *near; // nx * ny: may a goal be within TH_GOAL_NEAR of a point of the cell?
} th_goal_grid;

#define TH_GOAL_NEAR \
    1.0f // [m] further than any agent goes in a step of up to 0.1 s, three times a usual one

// Grids for all levels, in the scene's arena. False: no memory.
bool th_goal_grids_build(th_scene *scene);

// False when the path p -> q can neither meet nor end in a goal of the level, nor come within 0.1 m of one.
TH_BOTH static inline bool th_goals_maybe_near(const th_scene *scene, int level, th_vec2 p,
                                               th_vec2 q) {
    const th_goal_grid *grid = &scene->goal_grids[level];
    float dx = q.x - p.x, dy = q.y - p.y, most = TH_GOAL_NEAR - 0.1f;
    if (!(dx * dx + dy * dy < most * most)) return true;
    float column = (p.x - grid->origin.x) * grid->inverse_cell;
    float row = (p.y - grid->origin.y) * grid->inverse_cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return false;
    return grid->near[(int)row * grid->nx + (int)column] != 0;
}
#endif
