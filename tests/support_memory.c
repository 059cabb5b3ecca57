// SPDX-License-Identifier: Apache-2.0
#include "support_memory.h"
#include <stdlib.h>

void *counted_alloc(size_t size, size_t alignment, void *context) {
    ledger *l = context;
    if (++l->allocations == l->fail_at) return NULL;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory) l->bytes += (int64_t)size;
    return memory;
}

void counted_free(void *memory, size_t size, void *context) {
    ((ledger *)context)->bytes -= (int64_t)size;
    free(memory);
}
