// What the parts of the model share: the grids of all levels in common arrays, level after level.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_STATE_H
#define TH_MOVE_UIC_STATE_H
#include "move/uic/lcp.h"
#include "move/uic/model.h"
#include "move/uic/uic.h"

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
    TH_UIC_FOLD_X = 1,    // a wall closes the face beside it: nothing is given to the cell behind
    TH_UIC_FOLD_Y = 2,    // the same above or below
    TH_UIC_FOLD_XY = 4,   // the cell across the corner is behind walls
    TH_UIC_WALL = 8,      // a wall runs through: who stands here may belong to another cell
    TH_UIC_NEAR_WALL = 16 // a wall is near enough to stand between two people of the pair step
};

enum { TH_UIC_OWN_CELL = 4 }; // of the nine numbers 3 dy + dx + 4: the cell somebody stands in

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

typedef struct th_uic_group {
    bool own;       // moved by this model
    float d_min;    // 0: twice the radius
    float area;     // area taken up is this times d_min^2
    float separate; // half the pair distance over d_min
    int passes;
    float keep_side;
    bool pressure;
    float speed_limit, tolerance;
} th_uic_group;

typedef struct th_uic {
    th_uic_level *levels, *wanted; // as measured; as the index lies now (grid and first only)
    int level_count, cell_capacity;
    float h;            // side of a cell as asked for
    int index_per_half; // cells of the index along half a cell
    th_uic_group *groups;
    int group_count;
    bool keeps_side, any_pressure, has_foreign;
    float tolerance, speed_limit, pair_substep;
    int tidy_passes;
    float pair_reach;   // furthest that the pair step looks, so far [m]
    float foreign_area; // area taken up by others, over the square of their diameter

    th_uic_centre *centre;
    th_uic_face *west, *south;
    float *people, *packing, *capacity, *free_area;
    float *aperture_x, *aperture_y; // standing walls
    float *open_x, *open_y;         // the same less moving bodies
    float *exit_x, *exit_y;         // share of the face that is an exit
    float *gate_x, *gate_y;         // that is an exit or a link
    float *u, *v, *limit_u, *limit_v, *bent_u, *bent_v;
    float *room;       // capacity less moving bodies
    uint64_t *covered; // by moving bodies, 8 x 8 bits a cell
    int covered_capacity;
    uint8_t *quarters; // 4 per cell: (2 nx) x (2 ny)
    double *east, *north, *ground, *b;
    double *inner_pressure, *pressure; // start of the two solves
    float *mean_x, *mean_y;            // mean preferred velocity in a cell, for keep_side
    int32_t *active;
    th_uic_link_face *link_faces;
    int link_face_count, link_face_capacity;
    uint8_t *cell_shift; // by agent: which cell it belongs to, 3 dy + dx + TH_UIC_OWN_CELL
    int agent_capacity;
    th_floor_part *parts; // work space, one row
    int part_capacity;
    th_lcp_work *work;
    th_lcp_solver solver;
    th_uic_statistics statistics;
} th_uic;

// ---- floor.c
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

// Moved by this model?
TH_BOTH static inline bool th_uic_own(const th_world *world, uint32_t i) {
    return th_moves(world->agents.phase[i]) && world->uic->groups[world->agents.group[i]].own;
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
