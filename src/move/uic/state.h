// What the parts of the model share: the grids of all levels in common arrays, level after level, what a view shows of
// them, and the functions of the parts. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_STATE_H
#define TH_MOVE_UIC_STATE_H
#include "move/uic/lcp.h"
#include "move/uic/uic.h"
#include "space/staggered.h"
#include "state/world.h"

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

// What is summed up over people at a node of one of the three lattices. Three windows of four out of one row
// of six: at centres people, foreign, share, speed; at faces share, speed, x, y.
enum { TH_UIC_LANES = 4 };
typedef struct th_uic_centre {
    float people;  // of this model
    float foreign; // area taken up by people of other models and scripted people [m2]
    float share;   // area taken up by people of this model [m2]
    float speed;   // not used
} th_uic_centre;
typedef struct th_uic_face {
    float share; // [m2]
    float speed; // preferred speed, weighted by share
    float x, y;  // preferred velocity, weighted by share
} th_uic_face;

// How a quarter of a cell (a half along x and y) treats the neighbours across its outer sides.
enum {
    TH_UIC_FOLD_X = 1,     // a wall closes the face beside it: nothing is given to the cell behind
    TH_UIC_FOLD_Y = 2,     // the same above or below
    TH_UIC_FOLD_XY = 4,    // the cell across the corner is behind walls
    TH_UIC_WALL = 8,       // a wall runs through, or a gate through the cell: who stands here may
                           // belong to another cell
    TH_UIC_NEAR_WALL = 16, // a wall is near enough to stand between two people of the pair step
    TH_UIC_NEAR_GATE = 64, // an exit or a link is in the cell or in one beside it
    TH_UIC_LOOK_CLOSER = TH_UIC_NEAR_WALL | TH_UIC_NEAR_GATE
};

// Of the nine numbers 3 dy + dx + 4: the cell somebody stands in; and one more for who sees no centre at all, in a
// passage too narrow for the grid. They are not counted and walk as they like; the pair step keeps them apart.
enum { TH_UIC_OWN_CELL = 4, TH_UIC_NO_CELL = 9 };

typedef struct th_uic_level {
    th_staggered grid;
    int first; // index of cell 0 in the common arrays
    th_floor floor;
    uint32_t walls_version; // the apertures are of this one
    bool measured;          // the grid is in use and its cells have been measured
    bool stale;             // and must be again
    bool walled;            // anything but open ground
    bool has_bodies;
} th_uic_level;

// A face with a link: on this level it looks into another one.
typedef struct th_uic_link_face {
    int level, other;
    int cell; // whose west (axis 0) or south (axis 1) face it is, within the level
    int axis;
    float share; // of the face
} th_uic_link_face;

// Where the ground of a level ends for the flow though no wall stands: an exit, or a link to another level.
typedef struct th_uic_gate {
    int level, other; // other: the level a link leads to, -1 for an exit
    th_vec2 a, b;
} th_uic_gate;

typedef struct th_uic_group {
    bool own;    // moved by this model
    float d_min; // 0: twice the radius
    float area;  // area taken up is this times d_min^2; of others, times the square of the diameter
    float separate; // half the pair distance over d_min
    int passes;
    float keep_side, give_way;
    bool pressure;
    float speed_limit, tolerance;
} th_uic_group;

// Every array of the model, once: element, name, how many, what. th_uic_create allocates them, the device has the
// same under the same names. `uic` is the struct they belong to; arrays by cell hold all levels, one after the other.
#define TH_UIC_ARRAYS(X)                                                                           \
    X(th_uic_level, levels, uic->level_count, "grids as measured")                                 \
    X(th_uic_group, groups, uic->group_count, "what the step asks of a group")                     \
    X(th_uic_link_face, link_faces, uic->link_face_capacity, "faces that look into another level") \
    X(th_uic_gate, gates, uic->gate_count, "exits and links, all levels")                          \
    X(th_uic_centre, centre, uic->cell_capacity, "sums over people at centres")                    \
    X(th_uic_face, west, uic->cell_capacity, "sums over people at west faces")                     \
    X(th_uic_face, south, uic->cell_capacity, "sums over people at south faces")                   \
    X(uint8_t, quarters, 4 * uic->cell_capacity, "flags: (2 nx) x (2 ny) of a level")              \
    X(uint8_t, cell_shift, uic->agent_capacity, "by agent: the cell it belongs to, as 3 dy + dx")  \
    X(float, people, uic->cell_capacity, "of this model")                                          \
    X(float, packing, uic->cell_capacity, "share of the cell that people take up")                 \
    X(float, capacity, uic->cell_capacity, "share that can be taken up")                           \
    X(float, room, uic->cell_capacity, "capacity less moving bodies")                              \
    X(float, aperture_x, uic->cell_capacity, "open share of west faces, standing walls")           \
    X(float, aperture_y, uic->cell_capacity, "of south faces")                                     \
    X(float, open_x, uic->cell_capacity, "the same less moving bodies")                            \
    X(float, open_y, uic->cell_capacity, "the same less moving bodies")                            \
    X(float, exit_x, uic->cell_capacity, "share of the west face that is an exit")                 \
    X(float, exit_y, uic->cell_capacity, "of the south face")                                      \
    X(float, gate_x, uic->cell_capacity, "share of the west face that is an exit or a link")       \
    X(float, gate_y, uic->cell_capacity, "of the south face")                                      \
    X(uint64_t, covered, uic->covered_capacity, "by moving bodies, 8 x 8 bits a cell")             \
    X(float, u, uic->cell_capacity, "velocity of the flow at west faces")                          \
    X(float, v, uic->cell_capacity, "velocity of the flow at south faces")                         \
    X(float, limit_u, uic->cell_capacity, "speed that the flow at west faces makes up for")        \
    X(float, limit_v, uic->cell_capacity, "at south faces")                                        \
    X(float, renormed_u, uic->cell_capacity, "renormalised u, before it takes its place")          \
    X(float, renormed_v, uic->cell_capacity, "renormalised v")                                     \
    X(float, mean_x, uic->cell_capacity, "mean preferred velocity in a cell, for keep_side")       \
    X(float, mean_y, uic->cell_capacity, "mean preferred velocity in a cell, for keep_side")       \
    X(double, east, uic->cell_capacity, "coupling with the cell to the east")                      \
    X(double, north, uic->cell_capacity, "coupling with the cell to the north")                    \
    X(double, ground, uic->cell_capacity, "coupling with p = 0")                                   \
    X(double, b, uic->cell_capacity, "slack and divergence")                                       \
    X(double, inner_pressure, uic->cell_capacity, "start and result of the inner solve")           \
    X(double, pressure, uic->cell_capacity, "of the outer solve")

// Arrays that only the host has.
#define TH_UIC_HOST_ARRAYS(X)                                                                    \
    X(th_uic_level, wanted, uic->level_count, "grids as the index is built now: grid and first") \
    X(float, free_area, uic->cell_capacity, "exact share of the cell that is ground")            \
    X(int32_t, active, uic->cell_capacity, "cells with people, for the solver")                  \
    X(th_floor_part, parts, uic->part_capacity, "work space, one row")

typedef struct th_uic {
#define X(type, name, count, doc) type *name;
    TH_UIC_ARRAYS(X)
    TH_UIC_HOST_ARRAYS(X)
#undef X
    th_arena arena; // holds this struct and all that it points to
    int level_count, group_count;
    int cell_capacity, agent_capacity, covered_capacity, part_capacity, link_face_capacity;
    int link_face_count, gate_count;
    float h;            // side of a cell as asked for
    int index_per_half; // cells of the index along half a cell
    bool keeps_side, any_pressure, has_foreign;
    float tolerance, speed_limit, pair_substep;
    int tidy_passes;
    float one_person;  // area that the largest takes up [m2]
    float pair_reach;  // furthest that the pair step looks, so far [m]
    th_lcp_work *work; // NULL on a world that lives on a device
    th_uic_statistics statistics;
} th_uic;

// What the model keeps in a world that uses it.
TH_BOTH static inline th_uic *th_uic_of(const th_world *world) {
    return (th_uic *)world->model_state[TH_MOVE_UIC];
}
static inline const th_uic_params *th_uic_params_of(const float *params) {
    return (const th_uic_params *)(const void *)params;
}

// ---- grids.c
// How many of everything; fills the counts of `uic`.
void th_uic_choose_sizes(th_uic *uic, th_arena *arena, const th_scene *scene, int agents,
                         bool on_device);
// Takes over the grids that were built last, with pressures and mean velocities. False: they are the same.
bool th_uic_adopt_grids(th_uic *uic);
int th_uic_index_cells(const th_world *world, int model);

#ifdef __cplusplus
extern "C" {
#endif
// Boxes for the index, wide enough for `boxes`, and its cell size. Cells grow when they would not fit.
float th_uic_build_grids(th_world *world, th_box *boxes);
// Reads the groups' parameters, adopts the grids that were built last and measures what changed on them.
void th_uic_prepare(th_world *world); // uic.c
void th_uic_read_groups(th_world *world);
#ifdef __cplusplus
}
#endif

// ---- floor.c
// Writes the scene's gates unless `gates` is NULL; returns how many.
int th_uic_list_gates(const th_scene *scene, th_uic_gate *gates);
// Adopts the grids the index was built for; measures floors and apertures where they changed.
void th_uic_measure(th_world *world);
void th_uic_cover_bodies(th_world *world);

// ---- splat.c
void th_uic_splat(th_world *world);
// Writes next_velocity and next_position of the model's people.
void th_uic_follow(th_world *world);

// ---- project.c
void th_uic_project(th_world *world);

// ---- pairs.c
void th_uic_separate(th_world *world);

// ---- state.c
th_uic_view th_uic_view_of(const th_world *world, int level);
th_uic_statistics th_uic_statistics_of(const th_world *world);
// What a snapshot has to hold so that a run goes on bit by bit: pressures as starting points of the solves, mean
// velocities for keep_side, and where the grids lie.
size_t th_uic_saved_size(const th_world *world, int model);
void th_uic_save(const th_world *world, int model, void *memory);
bool th_uic_saved_is_sound(const th_world *world, int model, const void *memory, size_t size);
void th_uic_restore(th_world *world, int model, const void *memory);
int th_uic_influences(th_world *world, int model, uint32_t i, th_influence *list, int max);
bool th_uic_grid(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                 float *values);

// Moved by this model?
TH_BOTH static inline bool th_uic_own(const th_world *world, uint32_t i) {
    return th_moves(world->agents.phase[i]) && th_uic_of(world)->groups[world->agents.group[i]].own;
}

// Where somebody counts: a quarter of a cell and the place in it, (0, 0) .. (1, 1) from its south-west.
typedef struct th_uic_place {
    int i, j;           // cell
    int half_x, half_y; // 0 west, south; 1 east, north
    float x, y;
} th_uic_place;

TH_BOTH static inline th_uic_place th_uic_place_of(const th_staggered *grid, th_vec2 p, int i,
                                                   int j, int shift) {
    i += shift % 3 - 1;
    j += shift / 3 - 1;
    float x = th_clamp((p.x - grid->origin.x) * grid->inverse_h - (float)i, 0.0f, 1.0f) * 2.0f;
    float y = th_clamp((p.y - grid->origin.y) * grid->inverse_h - (float)j, 0.0f, 1.0f) * 2.0f;
    th_uic_place place = {i, j, x >= 1.0f, y >= 1.0f, x, y};
    place.x -= (float)place.half_x;
    place.y -= (float)place.half_y;
    return place;
}
#endif
