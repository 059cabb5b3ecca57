// Allocation through hooks, and the scene's arena. SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"
#include <stdlib.h>
#include <string.h>

static void *default_alloc(size_t size, size_t alignment, void *context) {
    (void)context;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return aligned_alloc(alignment, rounded);
}

static void default_free(void *memory, size_t size, void *context) {
    (void)size;
    (void)context;
    free(memory);
}

th_memory th_memory_of(const th_allocator *allocator) {
    th_memory memory = {0};
    if (allocator && allocator->alloc && allocator->free) {
        memory.allocator = *allocator;
    } else {
        memory.allocator.alloc = default_alloc;
        memory.allocator.free = default_free;
    }
    return memory;
}

void *th_alloc(const th_memory *memory, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX - TH_ALIGN) / size) return NULL;
    size_t bytes = count * size;
    if (bytes == 0) bytes = 1;
    void *pointer = memory->allocator.alloc(bytes, TH_ALIGN, memory->allocator.context);
    if (pointer) memset(pointer, 0, bytes);
    return pointer;
}

void th_free(const th_memory *memory, void *pointer, size_t count, size_t size) {
    if (!pointer) return;
    size_t bytes = count * size;
    memory->allocator.free(pointer, bytes ? bytes : 1, memory->allocator.context);
}

struct th_chunk {
    struct th_chunk *next;
    size_t size, used; // bytes of the whole chunk, header included
};

enum { CHUNK = 64 * 1024, LARGE = 4096, SMALL_ALIGN = 16 };

void *th_arena_alloc(th_arena *arena, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2) / size) return NULL;
    size_t bytes = count * size;
    size_t align = bytes >= LARGE ? TH_ALIGN : SMALL_ALIGN;
    struct th_chunk *chunk = arena->chunks;
    size_t at = chunk ? (chunk->used + align - 1) / align * align : 0;
    if (!chunk || at + bytes > chunk->size) {
        size_t header = (sizeof *chunk + TH_ALIGN - 1) / TH_ALIGN * TH_ALIGN;
        size_t whole = header + bytes > CHUNK ? header + bytes : CHUNK;
        struct th_chunk *fresh = th_alloc(&arena->memory, 1, whole);
        if (!fresh) return NULL;
        fresh->size = whole;
        fresh->used = header;
        fresh->next = chunk;
        arena->chunks = chunk = fresh;
        at = header;
    }
    chunk->used = at + bytes;
    return (char *)chunk + at;
}

char *th_arena_string(th_arena *arena, const char *text) {
    if (!text) return NULL;
    size_t length = strlen(text) + 1;
    char *copy = th_arena_alloc(arena, length, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void th_arena_free(th_arena *arena) {
    for (struct th_chunk *chunk = arena->chunks; chunk;) {
        struct th_chunk *next = chunk->next;
        th_free(&arena->memory, chunk, 1, chunk->size);
        chunk = next;
    }
    arena->chunks = NULL;
}
