// The crowd at one moment, copied out of a world for drawing. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_CROWD_H
#define TH_DRAW_CROWD_H
#include "throng/throng.h"

// Arrays in id order; scripted bodies included.
typedef struct th_crowd {
    int count;
    float *x, *y, *velocity_x, *velocity_y, *radius, *speed, *goal_x, *goal_y;
    uint32_t *level, *group, *phase;
    void *memory;
} th_crowd;

// False: no memory. Release either way.
bool th_crowd_read(th_crowd *crowd, th_world *world);
void th_crowd_release(th_crowd *crowd);

// Density around everybody [1/m2]: people within 1 m of the centre, the person included, over the
// circle's area. Near a wall part of that circle is not floor, so the figure is a lower bound there.
// NULL: no memory. Caller frees.
float *th_crowd_density(const th_crowd *crowd);
#endif
