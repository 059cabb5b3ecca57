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
void th_free(const th_memory *memory, void *pointer, size_t count, size_t size);

// A bump arena for a scene's constant data: chunks, freed all at once.
typedef struct th_arena {
    th_memory memory;
    struct th_chunk *chunks;
} th_arena;
// NULL when out of memory. Zero-filled, aligned to 16 bytes (TH_ALIGN for blocks of 4 KiB and more).
void *th_arena_alloc(th_arena *arena, size_t count, size_t size);
char *th_arena_string(th_arena *arena, const char *text); // copy; NULL stays NULL
void th_arena_free(th_arena *arena);
#endif
