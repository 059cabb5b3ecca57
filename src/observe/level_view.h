// The people of one level at one moment, gathered into arrays for th_region_measure.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_LEVEL_VIEW_H
#define TH_OBSERVE_LEVEL_VIEW_H
#include "observe/motion.h"

typedef struct th_level_view {
    int *index; // into the moment
    double *x, *y;
    double *speed;      // length of the velocity, or its component along a direction [m/s]
    double *individual; // room for everybody's own density
    int count, room;
} th_level_view;

// direction (0, 0): the length. False: no memory.
bool th_level_view_fill(th_level_view *view, const th_moment *moment, int level,
                        th_point direction);
void th_level_view_release(th_level_view *view);
#endif
