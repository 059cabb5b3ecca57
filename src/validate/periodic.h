// A corridor without ends: who leaves on one side comes in on the other. The library has no such scene, so
// people are put back between steps through the public interface, and copies of those near one end stand
// beyond the other, so that everybody sees neighbours all around. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_PERIODIC_H
#define TH_VALIDATE_PERIODIC_H
#include "throng/throng.h"

typedef struct th_periodic_def {
    // As in a scene file: "\"none\"", "{\"model\": ...}"; NULL: the scene names none.
    const char *filter, *move;
    double density;       // [1/m2]
    double length, width; // [m] length at least 12: one copy of everybody has to be enough
    double step, warm_up, measured; // [s]
    double radius;                  // [m] default 0.2
    double speed, spread;           // preferred: mean and standard deviation [m/s] default 1.34, 0
    bool both_ways;                 // half of them, at random, walk towards -x
    uint64_t seed;
} th_periodic_def;

// 20 x 4 m, walls along it, steps of 1/16 s, 20 s of warm-up and 20 s measured.
th_periodic_def th_periodic_def_default(const char *filter, const char *move, double density);

typedef struct th_periodic_result {
    int people;
    double speed;        // mean, along the own way [m/s]
    double acceleration; // mean of |change of velocity| / step [m/s2]
    double overlaps;     // pairs overlapping by more than 1 cm, per person, mean
    double flow;         // density * speed [1/(m s)]
    uint64_t repairs;    // as in th_statistics: not 0 is a bug
} th_periodic_result;

// One world with one thread; the same numbers wherever and whenever it runs.
th_result th_periodic_run(const th_periodic_def *def, th_periodic_result *result, th_error *error);
#endif
