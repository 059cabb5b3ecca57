// Who was here in the last frame, and which way they faced; who was ever here.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_SQLITE_PEOPLE_H
#define TH_RECORD_SQLITE_PEOPLE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct th_people {
    int count, capacity;
    int64_t *id;
    float *direction_x, *direction_y; // unit vectors
    float *other_x, *other_y;         // the same in the next frame's order, while it is made
    // everybody ever seen: open addressing, a power of two of slots
    int64_t *slots;
    unsigned char *used;
    uint64_t slot_count, seen_count;
} th_people;

// Takes over the order of a new frame (ascending ids); newcomers face along +x. *first_seen: how many
// were never here before. False: no memory.
bool th_people_see(th_people *people, int count, const int64_t *id, int *first_seen);
// Only into the list of those ever seen.
bool th_people_remember(th_people *people, int64_t id, bool *is_new);
// Everybody faces where he goes; who is slower than TH_STANDING keeps facing where he faced.
void th_people_turn(th_people *people, const double *velocity_x, const double *velocity_y);
void th_people_release(th_people *people);

#define TH_STANDING 0.01f // [m/s] a millimetre in a tenth of a second, the default grid and rate
#endif
