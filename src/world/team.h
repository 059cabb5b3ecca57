// How many threads a step takes when the caller leaves it open. OpenMP's threads wait for each other some fifty
// times in a step, spinning. On cores that others use as well, they wait for a thread that is not running, and a
// step of a small crowd takes up to fifty times longer. So as many threads as cores are free, unless all of them
// were measured to be quicker, as they are for large crowds. Results do not depend on it.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_TEAM_H
#define TH_WORLD_TEAM_H
#include "state/world.h"

// Threads for the next step: `worth`, what the crowd is worth, when that many of `cores` are free besides the
// `others` who run on them.
int th_team_choose(th_team *team, int worth, int cores, int others);
// How long a step of that many people took with the number chosen last.
void th_team_note(th_team *team, double seconds, int people);

// Chooses the world's threads, where its definition leaves it open.
void th_choose_threads(th_world *world);
#endif
