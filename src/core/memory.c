// Allocation through hooks, and arenas. SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"
#include "core/system/system.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *default_alloc(size_t size, size_t alignment, void *context) {
    (void)context;
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return th_system_alloc(rounded, alignment);
}

static void default_free(void *memory, size_t size, void *context) {
    (void)size;
    (void)context;
    th_system_free(memory);
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

void th_dealloc(const th_memory *memory, void *pointer, size_t count, size_t size) {
    if (!pointer) return;
    size_t bytes = count * size;
    memory->allocator.free(pointer, bytes ? bytes : 1, memory->allocator.context);
}

static void copy_elements(void *array, void *larger, int count, size_t element) {
    void *elements; // copied as bytes: the caller's pointer is of another type
    memcpy(&elements, array, sizeof elements);
    if (elements) memcpy(larger, elements, (size_t)count * element);
    memcpy(array, &larger, sizeof larger);
}

bool th_alloc_reserve(const th_memory *memory, void *array, int *capacity, int needed,
                      size_t element) {
    if (needed <= *capacity) return true;
    int wanted = th_array_capacity_int(*capacity, needed);
    void *before, *larger = th_alloc(memory, (size_t)wanted, element);
    if (!larger) return false;
    memcpy(&before, array, sizeof before);
    copy_elements(array, larger, *capacity, element);
    th_dealloc(memory, before, (size_t)*capacity, element);
    *capacity = wanted;
    return true;
}

// ---- arenas

struct th_chunk {
    struct th_chunk *next;
    size_t size, used; // bytes of the whole chunk, header included
};

// A block above LARGE gets a chunk of its own, so that no more than LARGE bytes are left over in any.
enum { CHUNK = 64 * 1024, LARGE = CHUNK / 4 };

static size_t aligned(size_t bytes, size_t align) { return (bytes + align - 1) / align * align; }

th_arena th_arena_of(const th_allocator *allocator) {
    return (th_arena){.memory = th_memory_of(allocator)};
}

// A chunk with room for `bytes`. One for a single large block goes behind the first, which still has room.
static struct th_chunk *add_chunk(th_arena *arena, size_t bytes) {
    size_t header = aligned(sizeof(struct th_chunk), TH_ALIGN);
    size_t whole = bytes > LARGE ? header + bytes : CHUNK;
    struct th_chunk *fresh = th_alloc(&arena->memory, 1, whole), *first = arena->chunks;
    if (!fresh) return NULL;
    fresh->size = whole;
    fresh->used = header;
    fresh->next = bytes > LARGE && first ? first->next : first;
    *(bytes > LARGE && first ? &first->next : &arena->chunks) = fresh;
    arena->bytes += whole;
    return fresh;
}

static void *take(th_arena *arena, size_t bytes, size_t align) {
    struct th_chunk *chunk = arena->chunks;
    if (!chunk || aligned(chunk->used, align) + bytes > chunk->size)
        chunk = add_chunk(arena, bytes);
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    size_t at = aligned(chunk->used, align);
    chunk->used = at + bytes;
    arena->used += bytes;
    return (char *)chunk + at;
}

void *th_arena_alloc(th_arena *arena, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2) / size) {
        arena->failed = true;
        return NULL;
    }
    return take(arena, count * size, TH_ALIGN);
}

char *th_arena_string(th_arena *arena, const char *text) {
    if (!text) return NULL;
    size_t length = strlen(text) + 1;
    char *copy = take(arena, length, 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

bool th_arena_reserve(th_arena *arena, void *array, int *capacity, int needed, size_t element) {
    if (needed <= *capacity) return true;
    int wanted = th_array_capacity_int(*capacity, needed);
    void *larger = th_arena_alloc(arena, (size_t)wanted, element);
    if (!larger) return false;
    copy_elements(array, larger, *capacity, element);
    *capacity = wanted;
    return true;
}

void th_arena_release(th_arena *arena) {
    for (struct th_chunk *chunk = arena->chunks; chunk;) {
        struct th_chunk *next = chunk->next;
        th_dealloc(&arena->memory, chunk, 1, chunk->size);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->bytes = arena->used = 0;
    arena->failed = false;
}

// ---- growing arrays

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
