// See sqlite_people.h. A steady crowd costs one comparison of ids per frame.
// SPDX-License-Identifier: Apache-2.0
#include "record/sqlite_people.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t slot_of(const th_people *people, int64_t id) {
    uint64_t mask = people->slot_count - 1, at = th_mix64((uint64_t)id) & mask;
    while (people->used[at] && people->slots[at] != id) at = (at + 1) & mask;
    return at;
}

static bool widen(th_people *people) {
    th_people wider = {.slot_count = people->slot_count ? people->slot_count * 2 : 1024};
    wider.slots = malloc(wider.slot_count * sizeof *wider.slots);
    wider.used = calloc(wider.slot_count, 1);
    if (!wider.slots || !wider.used) {
        free(wider.slots);
        free(wider.used);
        return false;
    }
    for (uint64_t k = 0; k < people->slot_count; ++k) {
        if (!people->used[k]) continue;
        uint64_t at = slot_of(&wider, people->slots[k]);
        wider.slots[at] = people->slots[k];
        wider.used[at] = 1;
    }
    free(people->slots);
    free(people->used);
    people->slots = wider.slots;
    people->used = wider.used;
    people->slot_count = wider.slot_count;
    return true;
}

bool th_people_remember(th_people *people, int64_t id, bool *is_new) {
    *is_new = false;
    if (people->seen_count >= people->slot_count / 2 && !widen(people)) return false;
    uint64_t at = slot_of(people, id);
    if (people->used[at]) return true;
    people->slots[at] = id;
    people->used[at] = 1;
    people->seen_count++;
    *is_new = true;
    return true;
}

static bool reserve(th_people *people, int count) {
    if (count < people->capacity) return true;
    int capacity = th_array_capacity_int(people->capacity, count + 1); // nobody is an array too
    if (!TH_RESIZE(people->id, capacity) || !TH_RESIZE(people->direction_x, capacity) ||
        !TH_RESIZE(people->direction_y, capacity) || !TH_RESIZE(people->other_x, capacity) ||
        !TH_RESIZE(people->other_y, capacity))
        return false;
    people->capacity = capacity;
    return true;
}

static void swap(float **a, float **b) {
    float *kept = *a;
    *a = *b;
    *b = kept;
}

bool th_people_see(th_people *people, int count, const int64_t *id, int *first_seen) {
    *first_seen = 0;
    size_t bytes = (size_t)count * sizeof *id;
    if (count == people->count && (count == 0 || memcmp(id, people->id, bytes) == 0)) return true;
    if (!reserve(people, count)) return false;
    int j = 0;
    for (int i = 0; i < count; ++i) {
        while (j < people->count && people->id[j] < id[i]) ++j;
        bool stayed = j < people->count && people->id[j] == id[i];
        people->other_x[i] = stayed ? people->direction_x[j] : 1.0f;
        people->other_y[i] = stayed ? people->direction_y[j] : 0.0f;
        if (stayed) continue;
        bool is_new;
        if (!th_people_remember(people, id[i], &is_new)) return false;
        *first_seen += is_new;
    }
    swap(&people->direction_x, &people->other_x);
    swap(&people->direction_y, &people->other_y);
    if (count > 0) memcpy(people->id, id, bytes);
    people->count = count;
    return true;
}

TH_CLONES void th_people_turn(th_people *people, const double *velocity_x,
                              const double *velocity_y) {
    for (int i = 0; i < people->count; ++i) {
        float x = (float)velocity_x[i], y = (float)velocity_y[i];
        float speed = sqrtf(x * x + y * y);
        bool walks = speed >= TH_STANDING && speed < INFINITY;
        float scale = 1.0f / (walks ? speed : 1.0f);
        people->direction_x[i] = walks ? x * scale : people->direction_x[i];
        people->direction_y[i] = walks ? y * scale : people->direction_y[i];
    }
}

void th_people_release(th_people *people) {
    free(people->id);
    free(people->direction_x);
    free(people->direction_y);
    free(people->other_x);
    free(people->other_y);
    free(people->slots);
    free(people->used);
    *people = (th_people){0};
}
