// Growing arrays. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 };

size_t th_array_capacity(size_t capacity, size_t needed) {
    if (needed <= capacity) return capacity;
    if (needed > SIZE_MAX / 4)
        return needed; // more than any allocator has; avoids the overflow below
    size_t grown = capacity + capacity / 2, wanted = needed + needed / 8;
    return (grown > wanted ? grown : wanted) + LEAST;
}

int th_array_capacity_int(int capacity, int needed) {
    if (needed <= capacity) return capacity;
    size_t wanted = th_array_capacity((size_t)capacity, (size_t)needed);
    return wanted > INT_MAX ? INT_MAX : (int)wanted;
}

size_t th_array_room(size_t count) {
    size_t room = LEAST;
    while (room < count) room *= 2;
    return count ? room : 0;
}

bool th_array_resize(void *array, size_t count, size_t element) {
    void *elements; // copied as bytes: the caller's pointer is of another type
    memcpy(&elements, array, sizeof elements);
    if (element != 0 && count > SIZE_MAX / element) return false;
    size_t bytes = count * element;
    elements = realloc(elements, bytes ? bytes : 1);
    if (!elements) return false;
    memcpy(array, &elements, sizeof elements);
    return true;
}

bool th_array_reserve_size(void *array, size_t *capacity, size_t needed, size_t element) {
    size_t wanted = th_array_capacity(*capacity, needed);
    if (wanted == *capacity) return true;
    if (!th_array_resize(array, wanted, element)) return false;
    *capacity = wanted;
    return true;
}

bool th_array_reserve_int(void *array, int *capacity, size_t needed, size_t element) {
    if (needed > INT_MAX) return false;
    int wanted = th_array_capacity_int(*capacity, (int)needed);
    if (wanted == *capacity) return true;
    if (!th_array_resize(array, (size_t)wanted, element)) return false;
    *capacity = wanted;
    return true;
}

bool th_array_reserve_one(void *array, size_t count, size_t element) {
    size_t room = th_array_room(count);
    return count < room || th_array_resize(array, th_array_room(count + 1), element);
}
