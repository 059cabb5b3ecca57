// A sieve over the agents around one agent: a model's own test decides which of them can matter, and only those are
// looked at one by one. On the CPU the test is vector code over contiguous runs of the cell order, without branches; on
// a GPU, where a thread is an agent, it is a branch. Those kept stay in storage order, so that sums over them have one
// order. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_SIEVE_H
#define TH_MOVE_SIEVE_H
#include "core/device.h"
#include <string.h>

enum { TH_SIEVE_MAX = 64, TH_SIEVE_WORD = 8 };

// Agents begin .. begin + count - 1 of the cell order, all in one row of cells.
typedef struct th_portion {
    uint32_t begin;
    int count; // at most TH_SIEVE_MAX
} th_portion;

// As many of the `left` agents from `begin` on as fit.
TH_FORMULA th_portion th_portion_of(uint32_t begin, uint32_t left) {
    th_portion portion = {begin, left < TH_SIEVE_MAX ? (int)left : TH_SIEVE_MAX};
    return portion;
}

// The portion extended backwards to whole words, so that the vector loop has no remainder. A portion at the very beginning of
// the order stays as it is.
TH_CPU_FORMULA th_portion th_portion_widened(th_portion portion) {
    uint32_t lead = (uint32_t)-portion.count & (TH_SIEVE_WORD - 1);
    lead = lead <= portion.begin ? lead : 0;
    portion.begin -= lead;
    portion.count += (int)lead;
    return portion;
}

// The agents of a portion whose flag in `keep` is 1, without the first `lead`; TH_SIEVE_WORD zeros are behind the last
// flag. Returns how many.
TH_CPU_FORMULA int th_sieve_list(const int32_t *keep, th_portion portion, int lead,
                                 uint32_t *list) {
    int count = 0;
    for (int k = 0; k < portion.count; k += TH_SIEVE_WORD, lead = 0) {
        uint64_t pairs[TH_SIEVE_WORD / 2];
        memcpy(pairs, keep + k, sizeof pairs);
        if ((pairs[0] | pairs[1] | pairs[2] | pairs[3]) == 0) continue;
        for (int m = k + lead; m < k + TH_SIEVE_WORD; ++m) {
            list[count] = portion.begin + (uint32_t)m; // always written: no branch to mispredict
            count += keep[m];
        }
    }
    return count;
}

// Room for the agents of a portion that are kept.
#define TH_SIEVE_LIST (TH_SIEVE_MAX + 1)

// Lists the agents j of the portion, other than `self`, for which the expression `keeps`, 0 or 1, holds.
#if defined(TH_DEVICE_CODE) || defined(__CUDACC__)
#define TH_SIEVE(portion, self, j, keeps, list, found)                                           \
    do {                                                                                         \
        (found) = 0;                                                                             \
        for (uint32_t j = (portion).begin; j < (portion).begin + (uint32_t)(portion).count; ++j) \
            if (j != (self) && (keeps)) (list)[(found)++] = j;                                   \
    } while (0)
#else
// A 64-bit index: one of 32 bits might wrap, and the compiler would load agents one by one.
#define TH_SIEVE(portion, self, j, keeps, list, found)                                           \
    do {                                                                                         \
        int32_t th_keep[TH_SIEVE_MAX + TH_SIEVE_WORD];                                           \
        th_portion th_wide = th_portion_widened(portion);                                        \
        for (int th_k = 0; th_k < th_wide.count; ++th_k) {                                       \
            size_t j = (size_t)th_wide.begin + (size_t)th_k;                                     \
            th_keep[th_k] = (int32_t)(keeps);                                                    \
        }                                                                                        \
        memset(th_keep + th_wide.count, 0, TH_SIEVE_WORD * sizeof *th_keep);                     \
        if ((self)-th_wide.begin < (uint32_t)th_wide.count) th_keep[(self)-th_wide.begin] = 0;   \
        (found) = th_sieve_list(th_keep, th_wide, (int)((portion).begin - th_wide.begin), list); \
    } while (0)
#endif
#endif
