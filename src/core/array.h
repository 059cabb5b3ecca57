// Arrays that grow, with memory from malloc. The element type is the array's own: the macros take the
// array variable itself (or a struct's member) and return false when there is no memory. The array, its
// elements and its capacity are then as they were, and free() releases it as ever.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_ARRAY_H
#define TH_CORE_ARRAY_H
#include <stdbool.h>
#include <stddef.h>

// Room for `needed` elements at least. `capacity`, an int or size_t variable beside the array, is how many
// have room now. Grows by half at least, so that appending one by one costs a constant time each.
#define TH_RESERVE(array, capacity, needed) \
    _Generic(&(capacity), int *: th_array_reserve_int, size_t *: th_array_reserve_size)( \
        &(array), &(capacity), (size_t)(needed), sizeof *(array))

// Room for one more behind `count` elements, where no capacity is stored: it follows from the count,
// th_array_room(count). Only for arrays that always grow by one.
#define TH_RESERVE_ONE(array, count) \
    th_array_reserve_one(&(array), (size_t)(count), sizeof *(array))

// Room for exactly `count` elements, which are kept as far as they fit. For several arrays that share one
// capacity: let th_array_capacity choose it, resize them all, and store it when all have worked.
#define TH_RESIZE(array, count) th_array_resize(&(array), (size_t)(count), sizeof *(array))

// The capacity that TH_RESERVE would choose; `capacity` itself when it is enough.
size_t th_array_capacity(size_t capacity, size_t needed);
int th_array_capacity_int(int capacity, int needed);
// Elements that have room in an array of `count` grown by TH_RESERVE_ONE: 0, 16, 32, 64, ...
size_t th_array_room(size_t count);

// Behind the macros. `array` is the address of a pointer of any type.
bool th_array_reserve_int(void *array, int *capacity, size_t needed, size_t element);
bool th_array_reserve_size(void *array, size_t *capacity, size_t needed, size_t element);
bool th_array_reserve_one(void *array, size_t count, size_t element);
bool th_array_resize(void *array, size_t count, size_t element);
#endif
