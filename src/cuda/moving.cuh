// What models that move in sub-steps keep on the device. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_MOVING_CUH
#define TH_CUDA_MOVING_CUH
#include "cuda/device.cuh"
#include "move/substep.h"

namespace th {

// The step of the model that is at work; models follow one another, so there is one. Squares are kept as their
// bits, which are in the same order because none is negative.
struct moving {
    th_substep step;
    uint32_t fastest2, moved2;
    uint32_t top_speed2;            // Helbing-Molnar: nobody's square will be larger
    uint32_t sizes[4];              // PBD: bits of the largest inverse mass and radius, complements of the smallest
    bool alike;                     // PBD: all have one radius and one mass
    uint32_t specials;              // PBD: people in agents.cell who need the general kernels
    uint32_t infeasible, special;   // ORCA: how many people are left to further kernels
    uint64_t repairs;
};

// A place and a displacement, read at once.
struct alignas(16) walk {
    float x, y, ux, uy;
};

// Position-based crowds. A person has 2 x 16 bytes here and on average LISTED entries of two bytes; what avoidance
// has added so far lies in next_velocity, where its list begins in slot, how long it is in order.
struct pbd_memory {
    enum {
        CROWD = 128, // people who share room for their lists
        LISTED = 12, // entries that there are for one of them on average
    };
    struct th_pbd *state;
    walk *now;  // where the sub-step begins, after stabilisation, and the displacement of everybody
    walk *next; // what a stabilisation or an iteration writes, to take its place
    uint16_t *lists;
    uint32_t *used; // entries of each crowd
    bool one_group;
};

} // namespace th
#endif
