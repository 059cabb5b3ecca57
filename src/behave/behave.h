// Phases and routes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_BEHAVE_H
#define TH_BEHAVE_BEHAVE_H
#include "state/world.h"

// Start of a step: who sets off, whose waiting ends.
void th_stage_behave(th_world *world);
// End of a step: who reached the goal of the current leg; exits take people out of the world.
void th_stage_arrive(th_world *world);
#endif
