// An allocator that counts, and fails when told to. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SUPPORT_MEMORY_H
#define TH_TESTS_SUPPORT_MEMORY_H
#include <stddef.h>
#include <stdint.h>

typedef struct ledger {
    int64_t allocations, fail_at; // fail_at 0: never
    int64_t bytes;                // handed out and not yet returned
} ledger;

// For a th_allocator whose context is a ledger.
void *counted_alloc(size_t size, size_t alignment, void *context);
void counted_free(void *memory, size_t size, void *context);
#endif
