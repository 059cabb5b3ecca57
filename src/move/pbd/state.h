// Work space of the position-based model within a step. Positions at the beginning of a sub-step lie in
// agents.substep, velocities in agents.substep_velocity, the drive of own people in agents.drive (move/substep.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_STATE_H
#define TH_MOVE_PBD_STATE_H
#include "move/pbd/pbd.h"
#include "move/substep.h"

enum {
    TH_PBD_NEIGHBOURS =
        64, // kept of a person, a whole number of TH_LANES; an agent that has more sees less far
    TH_PBD_WALLS = 8 // wall edges kept of a person, the nearest; a thin wall has two
};

// What a group's people need in a sub-step.
typedef struct th_pbd_group {
    int like; // the first group with the same parameters
    th_pbd_params params;
    th_pbd_avoidance avoid;
} th_pbd_group;

typedef struct th_pbd {
    int capacity, group_count;
    int iterations, stabilisation;
    bool equal_masses;          // every agent gives way, and half of it
    float *u_x, *u_y;           // displacement of every agent in this sub-step, frozen [m]
    float *next_u_x, *next_u_y; // what an iteration writes for own people
    // Own people: what avoidance has added to u; in stabilisation the shift; at the end the way to go [m].
    float *extra_x, *extra_y;
    float *inverse_mass; // 0: does not give way
    // Room for TH_PBD_NEIGHBOURS a person; within a block of TH_BLOCK people the lists lie one after the other:
    // of each first those to touch, then those to meet.
    uint32_t *neighbours;
    uint32_t *neighbour_start; // from the block's first
    uint32_t *touch_count, *meet_count;
    int *walls; // TH_PBD_WALLS a person, filled up with -1
    th_pbd_group *groups;
} th_pbd;

TH_BOTH static inline th_pbd *th_pbd_of(const th_world *world) {
    return (th_pbd *)world->model_state[TH_MOVE_PBD];
}

// Whom a person may touch in a sub-step and whom it is going to meet; together TH_PBD_NEIGHBOURS at most.
typedef struct th_pbd_felt {
    uint32_t touch[TH_PBD_NEIGHBOURS], meet[TH_PBD_NEIGHBOURS];
    uint32_t touch_count, meet_count;
} th_pbd_felt;

// A pass over the own people among begin .. end. Passes read what earlier ones wrote of every agent and write
// only of these.
typedef void th_pbd_pass(th_world *world, const th_substep *step, const th_walls *walls,
                         uint32_t begin, uint32_t end);
// list.c: the neighbours and walls that a person may touch or meet in this sub-step.
th_pbd_pass th_pbd_list_block;
// solve.c. Out of the overlaps at the beginning of the sub-step: shifts into extra.
th_pbd_pass th_pbd_stabilise_block;
// One iteration: u -> next_u.
th_pbd_pass th_pbd_solve_block;
// cohesion.c: u/h with cohesion and limits into next_velocity, the way to go into extra.
th_pbd_pass th_pbd_finish_block;

static inline uint32_t *th_pbd_neighbours(const th_pbd *pbd, uint32_t i) {
    return pbd->neighbours + (size_t)(i / TH_BLOCK) * TH_BLOCK * TH_PBD_NEIGHBOURS +
           pbd->neighbour_start[i];
}
TH_BOTH static inline bool th_pbd_own(const th_world *world, uint32_t i) {
    return th_substep_own(world, TH_MOVE_PBD, i);
}
TH_BOTH static inline const th_pbd_group *th_pbd_group_of(const th_world *world, uint32_t i) {
    return &th_pbd_of(world)->groups[world->agents.group[i]];
}
#endif
