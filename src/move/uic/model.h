// Unilateral incompressibility as the rest of the engine sees it: made with the world, moved by
// th_move_uic (move/move.h), looked at as grids. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_H
#define TH_MOVE_UIC_H
#include "space/staggered.h"
#include "state/world.h"

// What the model keeps in a world that uses it.
TH_BOTH static inline struct th_uic *th_uic_of(const th_world *world) {
    return (struct th_uic *)world->model_state[TH_MOVE_UIC];
}

#ifdef __cplusplus
extern "C" {
#endif
// Boxes for th_index_build_grids, wide enough for `boxes`, and its cell size. Cells grow when they would not fit.
float th_uic_lay(th_world *world, th_box *boxes);
// Reads the groups' parameters, adopts the grids that were laid last and measures what changed on them.
void th_uic_prepare(th_world *world);
#ifdef __cplusplus
}
#endif

// One level as of the last step. All arrays nx * ny, cell (i, j) at j nx + i; NULL before the first step.
typedef struct th_uic_view {
    th_staggered grid;
    const float
        *people; // of this model, spread over the nearest cells; their sum is the number of people
    const float *packing;   // share of the cell that people (all models) take up, 1: packed [1]
    const float *capacity;  // share that can be taken up: free ground, weighted as people are [1]
    const float *free_area; // exact share of the cell that is ground [1]
    // Pressure of the second solve [m2/s]: its gradient is the velocity that packing takes from people's
    // wish. Never negative, 0 where there is room. What it means in newtons: docs/models/uic.md.
    const double *pressure;
    const float *velocity_x, *velocity_y; // of the flow, at west and south faces [m/s]
    const float *aperture_x, *aperture_y; // open share of west and south faces
} th_uic_view;

th_uic_view th_uic_view_of(const th_world *world, int level);

// Running sums since the world was made, but for what says otherwise.
typedef struct th_uic_statistics {
    uint64_t steps;
    uint64_t solves, iterations, outer, unconverged; // of the pressure solver
    uint64_t visits;                                 // cells it looked at
    double largest_residual;        // of the last step, share of the maximum density
    int active_cells, jammed_cells; // of the last step: cells with people, with pressure
    float densest;                  // largest packing / capacity of any cell in the last step
    double splat_seconds, solve_seconds, grid_seconds, follow_seconds, pair_seconds;
} th_uic_statistics;
th_uic_statistics th_uic_statistics_of(const th_world *world);

// memory.c. What a snapshot has to hold so that a run goes on bit by bit: pressures as starting points of the solves,
// mean velocities for keep_side, and where the grids lie.
size_t th_uic_saved_size(const th_world *world, int model);
void th_uic_save(const th_world *world, int model, void *memory);
bool th_uic_saved_is_sound(const th_world *world, int model, const void *memory, size_t size);
void th_uic_restore(th_world *world, int model, const void *memory);
// grid.c
bool th_uic_grid(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                 float *values);
#endif
