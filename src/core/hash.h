// 64-bit mixing for state hashes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_HASH_H
#define TH_CORE_HASH_H
#include "core/device.h"
#include <stdint.h>

// SplitMix64's finaliser (Steele, Lea, Flood 2014): every input bit reaches every output bit.
TH_BOTH static inline uint64_t th_mix64(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

TH_BOTH static inline uint64_t th_hash_add(uint64_t hash, uint64_t value) {
    return th_mix64(hash ^ (value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2)));
}
#endif
