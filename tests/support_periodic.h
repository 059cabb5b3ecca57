// A corridor without ends: who leaves on one side comes in on the other. The library has no such scene, so
// people are put back between steps through the public interface, and copies of those near one end stand
// beyond the other, so that everybody sees neighbours all around. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SUPPORT_PERIODIC_H
#define TH_TESTS_SUPPORT_PERIODIC_H
#include <stdbool.h>
#include <stdint.h>

typedef struct periodic_def {
    const char *filter, *move;     // as in a scene file: "\"none\"", "{\"model\": ...}"
    double density;                // [1/m2]
    double length, width;          // [m]
    double step, settle, measured; // [s]
    bool both_ways;                // half of them, at random, walk towards -x
    uint64_t seed;
} periodic_def;

// 20 x 4 m, walls along it, steps of 1/16 s, 20 s to settle and 20 s measured.
periodic_def periodic_default(const char *filter, const char *move, double density);

typedef struct periodic_result {
    int people;
    double speed;        // mean, along the own way [m/s]
    double acceleration; // mean of |change of velocity| / step [m/s2]
    double overlaps;     // pairs overlapping by more than 1 cm, per person, mean
    double flow;         // density * speed [1/(m s)]
} periodic_result;

periodic_result periodic_run(const periodic_def *def);

// Weidmann 1993: speed at a density [m/s].
double weidmann_speed(double density);
#endif
