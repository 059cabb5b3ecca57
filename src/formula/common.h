// Shared by every formula header. These compile as C17 and as CUDA: no memory, no loops over the
// crowd, no libm in results (see math.h). SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_COMMON_H
#define TH_FORMULA_COMMON_H
#include "throng/base.h"
#include <stdbool.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define TH_FORMULA static inline __host__ __device__
#elif defined(__GNUC__)
// Forced, so that the body is compiled for the instruction set of the TH_CLONES copy it ends up in.
#define TH_FORMULA static inline __attribute__((always_inline, unused))
#else
#define TH_FORMULA static inline
#endif

// The same for what only the CPU computes, sixteen people at a time.
#if defined(__GNUC__)
#define TH_CPU_FORMULA static inline __attribute__((always_inline, unused))
#else
#define TH_CPU_FORMULA static inline
#endif

// A GPU's own instructions where they differ from the CPU's in the last bits (docs/gpu.md).
#if defined(__CUDA_ARCH__) && !defined(TH_EXACT)
#define TH_HARDWARE_MATH
#endif
#endif
