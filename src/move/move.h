// The local models. Each writes next_velocity and next_position of its own agents, reading generation n.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_MOVE_H
#define TH_MOVE_MOVE_H
#include "state/world.h"

void th_move_scripted(th_world *world); // timed paths
void th_move_orca(th_world *world);
void th_move_social_force(th_world *world);   // Helbing, Farkas, Vicsek 2000
void th_move_helbing_molnar(th_world *world); // Helbing, Molnar 1995
void th_move_pbd(th_world *world);            // Weiss et al. 2017
void th_move_uic(th_world *world);            // Narain et al. 2009; after the others

// contact.c: pairs apart, walls, levels; commits generation n+1.
void th_stage_contact(th_world *world);
#endif
