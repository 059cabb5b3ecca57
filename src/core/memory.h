// Memory from the caller's allocator. Freeing names the size again, so an allocator given by a test can
// count bytes and prove that nothing leaks and that a step allocates nothing. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_MEMORY_H
#define TH_CORE_MEMORY_H
#include "throng/base.h"

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

// More room for an array from th_alloc, `needed` elements at least; as TH_RESERVE in core/array.h. `array` is
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
// As th_alloc_reserve. What was outgrown stays in the arena until th_arena_release.
bool th_arena_reserve(th_arena *arena, void *array, int *capacity, int needed, size_t element);
// Releases all blocks. The arena is then empty and can be used again.
void th_arena_release(th_arena *arena);
#endif
