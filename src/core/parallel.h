// Threads and SIMD, in one place. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_PARALLEL_H
#define TH_CORE_PARALLEL_H
#ifdef _OPENMP
#include <omp.h>
#else // one thread, and pragmas that mean nothing
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_max_threads(void) { return 1; }
#endif

// Loops over agents go in blocks of this many; block b is the same agents for any thread count, so a
// sum made per block and added in block order does not depend on threads.
#define TH_BLOCK 256

static inline int th_block_count(int count) { return (count + TH_BLOCK - 1) / TH_BLOCK; }

// In front of a function whose loops are worth compiling for wider vectors: gcc makes one copy per
// instruction set and picks at load time. With contraction off all copies give the same bits.
// Sanitizers and other compilers get the plain function.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(TH_NO_CLONES)
#define TH_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TH_CLONES
#endif
#endif
