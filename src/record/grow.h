// Arrays that grow with the crowd. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_GROW_H
#define TH_RECORD_GROW_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Room for `count` and some more, so that a crowd that grows does not ask anew in every frame; always
// more than `count`, so that nobody is a valid array too.
static inline int th_roomy(int count) {
    return count < INT32_MAX / 2 ? count + count / 8 + 16 : INT32_MAX;
}

// Makes *array_address (any type of array) hold `count` elements, keeping what is there. False: no
// memory, and the array is as it was.
static inline bool th_grow(void *array_address, int count, size_t element) {
    void *array;
    memcpy(&array, array_address, sizeof array);
    array = realloc(array, (size_t)count * element);
    if (!array) return false;
    memcpy(array_address, &array, sizeof array);
    return true;
}
#endif
