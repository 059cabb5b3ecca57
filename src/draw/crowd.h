// A crowd as it is drawn. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_CROWD_H
#define TH_DRAW_CROWD_H
#include "record/moment.h"

// What a drawing shows of a world (th_world_moment_take); scripted bodies included.
enum {
    TH_DRAWN = TH_KNOW_LEVEL | TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP | TH_KNOW_BODY |
               TH_KNOW_GOAL
};

// Density around everybody [1/m2]: people within 1 m of the centre, the person included, over the
// circle's area. Near a wall part of that circle is not floor, so the figure is a lower bound there.
// NULL: no memory. Caller frees.
float *th_crowd_density(const th_moment *crowd);
#endif
