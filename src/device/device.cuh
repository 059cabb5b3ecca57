// Memory, launches and atomics for kernels. There are two devices: a GPU by CUDA, and, for tests on computers without
// one, the CPU as an emulated device with memory of its own (its loops run backwards, so that whatever depends on the
// order of threads shows). SPDX-License-Identifier: Apache-2.0
#ifndef TH_DEVICE_DEVICE_CUH
#define TH_DEVICE_DEVICE_CUH
#define TH_DEVICE_CODE // core/device.h
#define _Alignas alignas
#define restrict __restrict
#include "core/device.h"
#include <new>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define TH_LAMBDA [=] __device__
#define TH_ON_GPU __device__
#else
#define TH_LAMBDA [=]
#define TH_ON_GPU
#endif

// Keeps a loop from being unrolled, which would cost more in registers than it gains.
#ifdef __CUDACC__
#define TH_ROLLED _Pragma("unroll 1")
#define TH_UNROLLED _Pragma("unroll") // an array that is to lie in registers wants constant indices
#else
#define TH_ROLLED
#define TH_UNROLLED
#endif

namespace th {

enum { THREADS = 128 };

#ifdef __CUDACC__

inline bool allocate(void **pointer, size_t bytes) {
    if (cudaMalloc(pointer, bytes ? bytes : 1) != cudaSuccess) return false;
    // For tests, as on the emulated device: nothing may rely on fresh memory.
    return !getenv("THRONG_POISON") || cudaMemset(*pointer, 0xa5, bytes) == cudaSuccess;
}
inline void release(void *pointer) { cudaFree(pointer); }
inline bool put(void *device, const void *host, size_t bytes) {
    return cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}
inline bool get(void *host, const void *device, size_t bytes) {
    return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}
inline void clear(void *device, size_t bytes) { cudaMemsetAsync(device, 0, bytes); }
inline bool finish() { return cudaDeviceSynchronize() == cudaSuccess; }

template <class Function>
__global__ void __launch_bounds__(THREADS) each_kernel(Function function, int count) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count) function(i);
}
// function(i) for i in 0 .. count, all at once, after everything launched before.
template <class Function> void each(int count, Function function) {
    if (count > 0)
        each_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS>>>(function, count);
}
// The same with few enough registers that `resident` blocks are on a multiprocessor at once.
template <int resident, class Function>
__global__ void __launch_bounds__(THREADS, resident) resident_kernel(Function function, int count) {
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < count) function(i);
}
template <int resident, class Function> void each_resident(int count, Function function) {
    if (count > 0)
        resident_kernel<resident>
            <<<(unsigned)((count + THREADS - 1) / THREADS), THREADS>>>(function, count);
}
// *most becomes the largest value(i), if that is more. A block joins what its threads have before it tells: all
// blocks tell the same place, and words that all blocks read and write took longer than all the rest.
template <class Value>
__global__ void __launch_bounds__(THREADS) most_kernel(Value value, int count, uint32_t *most) {
    __shared__ uint32_t warps[THREADS / 32];
    int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    uint32_t own = __reduce_max_sync(~0u, i < count ? value(i) : 0u);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < THREADS / 32; ++w) own = warps[w] > own ? warps[w] : own;
    if (own > *(volatile uint32_t *)most) atomicMax(most, own);
}
template <class Value> void each_most(int count, uint32_t *most, Value value) {
    if (count > 0)
        most_kernel<<<(unsigned)((count + THREADS - 1) / THREADS), THREADS>>>(value, count, most);
}
TH_ON_GPU inline uint32_t add(uint32_t *sum, uint32_t value) { return atomicAdd(sum, value); }
TH_ON_GPU inline void add(int *sum, int value) { atomicAdd(sum, value); }
TH_ON_GPU inline void add(uint64_t *sum, uint64_t value) {
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}
// Sets it and says what it was.
TH_ON_GPU inline uint32_t exchange(uint32_t *word, uint32_t value) {
    return atomicExch(word, value);
}
TH_ON_GPU inline void largest(uint32_t *most, uint32_t value) {
    if (value > *(volatile uint32_t *)most) atomicMax(most, value);
}
TH_ON_GPU inline void smallest(uint32_t *least, uint32_t value) {
    if (value < *(volatile uint32_t *)least) atomicMin(least, value);
}
// In shared memory, where asking first takes as long.
TH_ON_GPU inline void smallest_here(uint32_t *least, uint32_t value) { atomicMin(least, value); }

#else

inline bool allocate(void **pointer, size_t bytes) {
    *pointer = malloc(bytes ? bytes : 1);
    if (*pointer) memset(*pointer, 0xa5, bytes); // poison: nothing may rely on fresh memory
    return *pointer != nullptr;
}
inline void release(void *pointer) { free(pointer); }
inline bool put(void *device, const void *host, size_t bytes) {
    if (bytes) memcpy(device, host, bytes);
    return true;
}
inline bool get(void *host, const void *device, size_t bytes) { return put(host, device, bytes); }
inline void clear(void *device, size_t bytes) { memset(device, 0, bytes); }
inline bool finish() { return true; }
template <class Function> void each(int count, Function function) {
    for (int i = count - 1; i >= 0; --i) function(i);
}
template <int resident, class Function> void each_resident(int count, Function function) {
    each(count, function);
}
template <class Value> void each_most(int count, uint32_t *most, Value value) {
    for (int i = count - 1; i >= 0; --i) {
        uint32_t own = value(i);
        *most = own > *most ? own : *most;
    }
}
inline uint32_t add(uint32_t *sum, uint32_t value) {
    uint32_t before = *sum;
    *sum += value;
    return before;
}
inline void add(int *sum, int value) { *sum += value; }
inline void add(uint64_t *sum, uint64_t value) { *sum += value; }
inline uint32_t exchange(uint32_t *word, uint32_t value) {
    uint32_t before = *word;
    *word = value;
    return before;
}
inline void largest(uint32_t *most, uint32_t value) { *most = value > *most ? value : *most; }
inline void smallest(uint32_t *least, uint32_t value) { *least = value < *least ? value : *least; }
inline void smallest_here(uint32_t *least, uint32_t value) { smallest(least, value); }

#endif

// A GPU has the CPU's bits when it is built to (TH_CUDA_EXACT), the emulated device always but when a test makes it
// rough.
#if defined(TH_EXACT) || (!defined(__CUDACC__) && !defined(TH_ROUGH))
constexpr bool EXACT = true;
#else
constexpr bool EXACT = false;
#endif

// Everything taken on the device, to be given back together.
struct store {
    void **blocks = nullptr;
    int count = 0, capacity = 0;
    size_t bytes = 0;
    bool failed = false;

    void *take(size_t size) {
        void *block = nullptr;
        if (failed || !grow() || !allocate(&block, size)) {
            failed = true;
            return nullptr;
        }
        blocks[count++] = block;
        bytes += size;
        return block;
    }
    bool grow() {
        if (count < capacity) return true;
        int wider = capacity ? 2 * capacity : 256;
        void **more = (void **)realloc(blocks, (size_t)wider * sizeof *more);
        if (!more) return false;
        blocks = more;
        capacity = wider;
        return true;
    }
    template <class T> T *room(size_t n) { return (T *)take(n * sizeof(T)); }
    template <class T> T *copy(const T *host, size_t n) {
        if (!host) return nullptr;
        T *block = room<T>(n);
        if (block && n > 0 && !put(block, host, n * sizeof(T))) failed = true;
        return block;
    }
    void give_back() {
        for (int b = 0; b < count; ++b) release(blocks[b]);
        free(blocks);
        blocks = nullptr;
        count = capacity = 0;
        bytes = 0;
    }
};

// Time between marks of one step, read when the device has passed them all and not waited for: steps that begin
// before that are not in the profile.
struct stopwatch {
    enum { MARKS = 9 };
#ifdef __CUDACC__
    cudaEvent_t events[MARKS];
    bool made = false, marking = false, running = false;
    // Marks the steps that begin when the last one marked has been read.
    void mark(int k) {
        if (k == 0) marking = !running;
        if (!marking) return;
        if (!made)
            for (cudaEvent_t &event : events) cudaEventCreate(&event);
        made = true;
        cudaEventRecord(events[k]);
        running = k == MARKS - 1;
    }
    // Adds the seconds between marks; false: not passed yet, or read before.
    bool read(double *seconds) {
        if (!running || cudaEventQuery(events[MARKS - 1]) != cudaSuccess) return false;
        running = false;
        for (int k = 0; k + 1 < MARKS; ++k) {
            float ms = 0.0f;
            cudaEventElapsedTime(&ms, events[k], events[k + 1]);
            seconds[k] += 1e-3 * (double)ms;
        }
        return true;
    }
    void end() {
        for (int k = 0; made && k < MARKS; ++k) cudaEventDestroy(events[k]);
    }
#else
    void mark(int) {}
    bool read(double *) { return false; }
    void end() {}
#endif
};

// The number of the lowest bit that is set; one must be.
TH_BOTH inline uint32_t lowest_bit(uint32_t bits) {
#ifdef __CUDA_ARCH__
    return (uint32_t)__ffs((int)bits) - 1;
#else
    return (uint32_t)__builtin_ctz(bits);
#endif
}

// Floats in an order that unsigned integers have too.
TH_ON_GPU inline uint32_t ordered(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
TH_BOTH inline float unordered(uint32_t key) {
    uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace th
#endif
