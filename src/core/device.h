// Macros that let one header be C17 for the CPU and C++ for a GPU. A function that a GPU runs too is marked TH_BOTH (or
// TH_FORMULA, formula/common.h) and stands in a header: the CPU's loop is in the .c file beside it, the GPU's kernel in
// the .cu file. TH_DEVICE_CODE is defined where a .cu file is compiled; the few headers that ask for it say why a GPU
// needs something else there. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_DEVICE_H
#define TH_CORE_DEVICE_H
#ifdef __CUDACC__
#define TH_BOTH __host__ __device__
#else
#define TH_BOTH
#endif
#ifdef __cplusplus // C words that C++ has under other names
#define _Alignas alignas
#define restrict __restrict
#endif
#endif
