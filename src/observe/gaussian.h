// How much of a round Gaussian lies over a polygon. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_GAUSSIAN_H
#define TH_OBSERVE_GAUSSIAN_H
#include "observe/polygon.h"

// Beyond this many sigmas a Gaussian is nothing: 1.5e-8 of it lies there.
#define TH_GAUSSIAN_END 6.0

// The share of the Gaussian around (x, y) over the rings, 0 .. 1, right to about 1e-7.
double th_gaussian_share(const th_rings *rings, double x, double y, double sigma);
#endif
