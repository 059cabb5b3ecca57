#ifndef TH_FORMULA_ORCA_H
#define TH_FORMULA_ORCA_H
#include "formula/params.h"
#include "formula/vec.h"
#define TH_ORCA_PARAMS(X)                                                                         \
    TH_CONTACT_PARAMS(X)                                                                          \
    X(time_horizon, 2.0, 0.05, 60, "s", "van den Berg 2011; RVO2 examples 5-10, Menge 2.5-3",     \
      "how far ahead collisions with people are avoided")                                         \
    X(time_horizon_obstacle, 0.5, 0.05, 60, "s", "Menge 0.15, RVO2 examples 5",                   \
      "how far ahead collisions with walls are avoided")                                          \
    X(neighbour_range, 5, 0.1, 50, "m", "Menge", "people further away are not seen")              \
    X(max_neighbours, 10, 1, 16, "-", "Menge, RVO2 examples", "the nearest this many count")      \
    X(max_speed, 2, 0.01, 10, "m/s", "Menge", "nobody is faster")                                 \
    X(max_acceleration, 0, 0, 100, "m/s2", "0: none, as in the paper; Menge 2-5",                 \
      "limit on the change of velocity")                                                          \
    X(noise, 0.001, 0, 0.1, "m/s", "RVO2 examples perturb to break symmetric deadlocks",          \
      "random part of the preferred velocity")

typedef struct th_orca_params {
    TH_ORCA_PARAMS(TH_PARAM_MEMBER)
} th_orca_params;
#endif
