// What a GPU runs too. The files of the stages are compiled twice: by the C compiler for the CPU and as
// part of src/cuda/world.cu for the GPU. Functions marked TH_BOTH exist on both sides, word for word the
// same; what stands within #ifndef TH_DEVICE_CODE is the CPU's alone: loops over the crowd, for which the GPU has
// kernels. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_DEVICE_H
#define TH_CORE_DEVICE_H
#ifdef __CUDACC__
#define TH_BOTH __host__ __device__
#else
#define TH_BOTH
#endif
#endif
