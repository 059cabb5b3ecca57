// Filters: they change the preferred velocity between plan and move, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FILTER_FILTER_H
#define TH_FILTER_FILTER_H
#include "state/world.h"

void th_filter_densesense(th_world *world); // Best, Narang, Curtis, Manocha 2014
#endif
