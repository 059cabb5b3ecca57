// The quickest way through a crowd: what a metre costs where people stand. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_QUICKEST_H
#define TH_FORMULA_QUICKEST_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/weidmann.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_FIELD_PLAN_PARAMS(X)                                                                   \
    X(crowd_weight, 0, 0, 1, "-", "Kretz 2009, the quickest path; 0: the shortest way, as ever",  \
      "1: ways are the quickest through the crowd as it stands, looked at once a second; groups " \
      "that "                                                                                     \
      "share a goal share the largest weight")

typedef struct th_field_plan_params {
    TH_FIELD_PLAN_PARAMS(TH_PARAM_MEMBER)
} th_field_plan_params;

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
