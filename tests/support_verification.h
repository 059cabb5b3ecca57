// What the verification suites share: scenes by stem and steering model, single people, crossing times.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SUPPORT_VERIFICATION_H
#define TH_TESTS_SUPPORT_VERIFICATION_H
#include "support.h"

// scenes/verification/<stem>.json with every one of its groups moved by `model`, and further overrides on
// top (a list that ends with NULL, or NULL).
th_scene *verification_scene(const char *stem, const char *model, int group_count,
                             const char *const *more);

typedef struct person {
    float x, y, velocity_x, velocity_y;
    float speed, wait_until;
    uint32_t id, level, group, phase;
} person;

// Everybody in the world in id order, at most `most`; returns how many.
int everybody(th_world *world, person *people, int most);
// False when that person has left.
bool find_person(th_world *world, uint32_t id, person *found);

// Steps until person `id` has come `distance` metres from (x, y) along the unit direction; the time is
// interpolated within the step. Fails the test after `limit` seconds.
double time_to_come(th_world *world, uint32_t id, double x, double y, double direction_x,
                    double direction_y, double distance, double limit);
#endif
