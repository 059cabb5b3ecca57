// Keeps rounding from moving people outside: somebody half a millimetre before an exit would be rounded
// onto its line, and so onto the edge of the walkable area, which other programs call outside. Walls
// are no trouble, as nobody comes closer to one than a millimetre; exits drawn as lines and the lines
// between two levels are where people come arbitrarily close to an edge.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_CLEARANCE_H
#define TH_RECORD_CLEARANCE_H
#include "throng/scene_view.h"

typedef struct th_edge {
    th_vec2 a, direction; // unit
    float length;
    int32_t level;
    // +1: walkable to the left of the direction, -1: to the right; where one stands on it.
    float side;
} th_edge;

// All edges of a scene that people walk up to; caller frees. NULL with *count = 0: none; *count < 0: no
// memory.
th_edge *th_edges_of(const th_scene *scene, int *count);

// Moves everybody who is closer to an edge than `clearance` [m] to that distance, on the same side. With a
// clearance of one quantum rounding in x and y cannot reach the edge. `level` NULL: all on level 0.
void th_keep_clear(const th_edge *edges, int edge_count, float clearance, int count, double *x,
                   double *y, const int32_t *level);
#endif
