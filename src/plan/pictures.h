// Pictures of discomfort, guidance and height on the nodes of a lattice. A node takes the mean of the pixels whose
// middles are in the cell around it, or the pixel it lies in where these are wider. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_PICTURES_H
#define TH_PLAN_PICTURES_H
#include "plan/nodes.h"

// Is what is drawn for the people of `goal` felt by agents that go to the target? goal -1: by all; target -1: whatever
// it is for.
bool th_drawn_for(const th_scene *scene, int target, int goal);
// Add to what is there.
void th_pictures_add_discomfort(const th_nodes *nodes, int target, float *discomfort);
// Metres, TH_NO_HEIGHT where no picture is; interpolated where pixels are not much finer than the nodes.
#define TH_NO_HEIGHT 1e30f
void th_pictures_height(const th_nodes *nodes, float *height);
void th_pictures_add_guidance(const th_nodes *nodes, int target, float follow, th_vec2 *guidance);
#endif
