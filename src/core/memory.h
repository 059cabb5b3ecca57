// Memory from the caller's allocator. Freeing names the size again, so an allocator given by a test can
// count bytes and prove that nothing leaks and that a step allocates nothing. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_MEMORY_H
#define TH_CORE_MEMORY_H
#include "throng/base.h"
#include <stdbool.h>
#include <stddef.h>

#define TH_ALIGN 64 // one cache line, one AVX-512 register

// Never NULL functions; use th_memory_of to fill in malloc for a zero allocator.
typedef struct th_memory {
    th_allocator allocator;
} th_memory;

th_memory th_memory_of(const th_allocator *allocator);
// Zero-filled, TH_ALIGN aligned, NULL when there is none or when count * size overflows.
// size 0 gives a valid pointer.
void *th_alloc(const th_memory *memory, size_t count, size_t size);
// Frees what th_alloc gave for the same count and size; NULL is fine.
void th_dealloc(const th_memory *memory, void *pointer, size_t count, size_t size);

// More room for an array from th_alloc, `needed` elements at least; as TH_RESERVE. `array` is
// the address of the pointer. False: no memory, nothing has changed. New elements are zero.
bool th_alloc_reserve(const th_memory *memory, void *array, int *capacity, int needed,
                      size_t element);

// An arena: many blocks, released all at once. Scenes keep their constant data in one. A world or a model
// that keeps its arrays in one lists them when it is created and nowhere else. Blocks are zero-filled and
// aligned to TH_ALIGN, as those of th_alloc.
//
// A refused block is remembered: allocate all arrays first, then look at `failed` once. th_arena_release
// releases what there is, after a failure too. The struct that owns an arena may live in it itself: copy the arena
// into the struct when all is allocated, and out of it again before th_arena_release.
typedef struct th_arena {
    th_memory memory;
    struct th_chunk *chunks;
    size_t bytes; // taken from the allocator and not given back
    size_t used;  // of these in blocks: without the arena's own and what is left over
    bool failed;  // a block was refused
} th_arena;
th_arena th_arena_of(const th_allocator *allocator); // NULL: malloc
// NULL when out of memory or when count * size overflows. size 0 gives a valid pointer.
void *th_arena_alloc(th_arena *arena, size_t count, size_t size);
char *th_arena_string(th_arena *arena, const char *text); // copy, not aligned; NULL stays NULL
// As th_alloc_reserve. The old block stays in the arena until th_arena_release.
bool th_arena_reserve(th_arena *arena, void *array, int *capacity, int needed, size_t element);
// Releases all blocks. The arena is then empty and can be used again.
void th_arena_release(th_arena *arena);

// ---- arrays that grow, with memory from malloc

// The element type is the array's own: the macros take the
// array variable itself (or a struct's member) and return false when there is no memory. The array, its
// elements and its capacity are then as they were, and free() releases it as ever.

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
