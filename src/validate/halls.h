// Halls in which people choose their way: scenes/quickest and scenes/station.json, run and looked at.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_HALLS_H
#define TH_VALIDATE_HALLS_H
#include "validate/validate.h"

typedef struct th_embedded_hall {
    const char *stem;
    const unsigned char *text;
    size_t length;
} th_embedded_hall;
extern const th_embedded_hall th_embedded_halls[];
extern const int th_embedded_hall_count;

// Within this of a door or of a line that ends a way people queue, and nothing is asked of them. [m]
#define TH_HALL_QUEUE 8.0

typedef struct th_hall_found {
    int inside;         // people left behind at the scene's max_time
    double time;        // when the last one left [s]
    double delay;       // mean of the time people took over the time they would need alone [-]
    double held_up;     // longest time of an agent below 0.2 of its own speed [s]
    double density;     // highest [1/m2]; both at least TH_HALL_QUEUE from doors and goals
    double first, last; // when the first and the last exit were used last [s]
} th_hall_found;

th_result th_hall_run(const char *stem, const th_models_choice *choice, uint64_t seed,
                      th_hall_found *found, th_error *error);
#endif
