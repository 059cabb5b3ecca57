// Weidmann's fundamental diagram of walking on the level: U. Weidmann, "Transporttechnik der Fussgaenger",
// Schriftenreihe des IVT 90, 1993. The one place that has its numbers. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_WEIDMANN_H
#define TH_FORMULA_WEIDMANN_H
#include "formula/math.h"

#define TH_WEIDMANN_FREE_SPEED 1.34 // [m/s]
#define TH_WEIDMANN_STEEPNESS 1.913 // gamma [1/m2]
#define TH_WEIDMANN_DENSITY_MAX 5.4 // where all motion stops [1/m2]

// Speed at a density [1/m2] -> [m/s]. 0 from the highest density on; the free speed on empty ground.
TH_FORMULA double th_weidmann_speed(double density) {
    if (!(density > 0.0)) return TH_WEIDMANN_FREE_SPEED;
    if (density >= TH_WEIDMANN_DENSITY_MAX) return 0.0;
    double room = 1.0 / density - 1.0 / TH_WEIDMANN_DENSITY_MAX; // [m2] beyond the least
    return TH_WEIDMANN_FREE_SPEED * (1.0 - th_exp_double(-TH_WEIDMANN_STEEPNESS * room));
}

// People per metre of width and second [1/(m s)].
TH_FORMULA double th_weidmann_flow(double density) { return density * th_weidmann_speed(density); }

// Time for a metre among `density` people per m2, over that on free ground: Weidmann's speed (1993), but never
// below 0.2 m/s, for people in the densest measured crowds still move at 0.1 to 0.3 m/s.
TH_FORMULA float th_crowd_slowness(float density, float weight) {
    const float steepness = (float)TH_WEIDMANN_STEEPNESS, most = (float)TH_WEIDMANN_DENSITY_MAX;
    float speed =
        density > 0.0f ? 1.0f - th_exp(-steepness * (1.0f / density - 1.0f / most)) : 1.0f;
    const float least = 0.2f / (float)TH_WEIDMANN_FREE_SPEED;
    speed = speed > least ? speed : least;
    return 1.0f + weight * (1.0f / speed - 1.0f);
}
#endif
