// Macros that let one header be C17 for the CPU and C++ for a GPU. A function that a GPU runs too is marked TH_BOTH (or
// TH_FORMULA) and stands in a header: the CPU's loop is in the .c file beside it, the GPU's kernel in
// the .cu file. TH_DEVICE_CODE is defined where a .cu file is compiled; the few headers that ask for it say why a GPU
// needs something else there. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_DEVICE_H
#define TH_CORE_DEVICE_H
#include "throng/base.h"
#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define TH_BOTH __host__ __device__
#else
#define TH_BOTH
#endif
#ifdef __cplusplus // C words that C++ has under other names
#define _Alignas alignas
#define restrict __restrict
#endif

// ---- formulas: no memory, no loops over the crowd, no libm in results (formula/math.h)
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
