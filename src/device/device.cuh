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
    return !getenv("THRONG_POISON") || (cudaMemset(*pointer, 0xa5, bytes) == cudaSuccess &&
                                        cudaStreamSynchronize(nullptr) == cudaSuccess);
}
inline void release(void *pointer) { cudaFree(pointer); }
typedef cudaStream_t queue; // nullptr: the one of a world by itself

// What a kernel does, with what it needs: task() is one thread's part. A world by itself launches a task at once, the
// worlds of a batch list theirs (batch.cuh), and blocks of row y then are those of the y-th world.
template <class Task>
__global__ void __launch_bounds__(Task::WIDTH, Task::RESIDENT)
    task_kernel(const __grid_constant__ Task task) {
    task();
}
template <class Task>
__global__ void __launch_bounds__(Task::WIDTH, Task::RESIDENT) tasks_kernel(const Task *tasks) {
    const Task task = tasks[blockIdx.y];
    task();
}

#else

inline bool allocate(void **pointer, size_t bytes) {
    *pointer = malloc(bytes ? bytes : 1);
    if (*pointer) memset(*pointer, 0xa5, bytes); // poison: nothing may rely on fresh memory
    return *pointer != nullptr;
}
inline void release(void *pointer) { free(pointer); }
typedef void *queue;

#endif

// ---- batches: the tasks of many worlds side by side, batch.cu

// A kind of task; there is one object of each.
struct task_kind {
    size_t size;
    bool alone; // cannot be launched with others of its kind
    // `tasks` are on the device, or on the host if alone.
    void (*launch)(const void *tasks, int count, int blocks, size_t shared, queue queue);
};
struct seat; // of a world in a batch: its list of tasks
// The seat of the world whose functions this thread is in; nullptr: tasks are launched at once.
extern thread_local seat *seated;
void list_task(const task_kind *kind, const void *task, int blocks, size_t shared);
// All listed is done when it returns, and what was asked for has come. False: the device failed.
bool do_listed();
bool put_listed(void *device, const void *host, size_t bytes);
bool ask_listed(void *host, const void *device, size_t bytes);
void clear_listed(void *device, size_t bytes);

template <class Task>
void launch_tasks(const void *tasks, int count, int blocks, size_t shared, queue queue) {
#ifdef __CUDACC__
    tasks_kernel<<<dim3((unsigned)blocks, (unsigned)count), Task::WIDTH, shared, queue>>>(
        (const Task *)tasks);
#else
    (void)blocks, (void)shared, (void)queue;
    for (int t = count - 1; t >= 0; --t) ((const Task *)tasks)[t]();
#endif
}
template <class Task> inline const task_kind kind_of = {sizeof(Task), false, launch_tasks<Task>};

// The task by so many blocks, each with `shared` bytes of shared memory, after everything launched before.
template <class Task> void launch(const Task &task, int blocks, size_t shared = 0) {
    if (blocks <= 0) return;
    if (seated) {
        list_task(&kind_of<Task>, &task, blocks, shared);
        return;
    }
#ifdef __CUDACC__
    task_kernel<<<(unsigned)blocks, Task::WIDTH, shared>>>(task);
#else
    task();
#endif
}

// ---- memory

inline bool put(void *device, const void *host, size_t bytes) {
    if (seated) return put_listed(device, host, bytes);
#ifdef __CUDACC__
    return cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
#else
    if (bytes) memcpy(device, host, bytes);
    return true;
#endif
}
// What was asked for is there after `receive`; until then `host` stays where it is.
inline bool ask(void *host, const void *device, size_t bytes) {
    if (seated) return ask_listed(host, device, bytes);
#ifdef __CUDACC__
    return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
#else
    if (bytes) memcpy(host, device, bytes);
    return true;
#endif
}
inline bool receive() { return !seated || do_listed(); }
inline bool get(void *host, const void *device, size_t bytes) {
    bool asked = ask(host, device, bytes);
    return receive() && asked;
}
inline void clear(void *device, size_t bytes) {
    if (seated) {
        clear_listed(device, bytes);
        return;
    }
#ifdef __CUDACC__
    cudaMemsetAsync(device, 0, bytes);
#else
    memset(device, 0, bytes);
#endif
}
// A batch waits where something is asked for.
inline bool finish() {
#ifdef __CUDACC__
    return seated || cudaDeviceSynchronize() == cudaSuccess;
#else
    return true;
#endif
}

// ---- loops

inline int blocks_of(int count) { return (count + THREADS - 1) / THREADS; }

#ifdef __CUDACC__

// With `resident` blocks on a multiprocessor at once; 0: as many as come.
template <int resident, class Function> struct each_task {
    enum { WIDTH = THREADS, RESIDENT = resident };
    Function function;
    int count;
    __device__ void operator()() const {
        int i = (int)(blockIdx.x * THREADS + threadIdx.x);
        if (i < count) function(i);
    }
};
// A block joins what its threads have before it tells: all blocks tell the same place, and words that all blocks read
// and write took longer than all the rest.
template <class Value> struct most_task {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    Value value;
    int count;
    uint32_t *most;
    __device__ void operator()() const {
        __shared__ uint32_t warps[THREADS / 32];
        int i = (int)(blockIdx.x * THREADS + threadIdx.x);
        uint32_t own = __reduce_max_sync(~0u, i < count ? value(i) : 0u);
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
        __syncthreads();
        if (threadIdx.x > 0) return;
        for (int w = 1; w < THREADS / 32; ++w) own = warps[w] > own ? warps[w] : own;
        if (own > *(volatile uint32_t *)most) atomicMax(most, own);
    }
};

#else

template <int, class Function> struct each_task {
    Function function;
    int count;
    void operator()() const {
        for (int i = count - 1; i >= 0; --i) function(i);
    }
};
template <class Value> struct most_task {
    Value value;
    int count;
    uint32_t *most;
    void operator()() const {
        for (int i = count - 1; i >= 0; --i) {
            uint32_t own = value(i);
            *most = own > *most ? own : *most;
        }
    }
};

#endif

// function(i) for i in 0 .. count, all at once, after everything launched before.
template <class Function> void each(int count, Function function) {
    launch(each_task<0, Function>{function, count}, blocks_of(count));
}
// The same with few enough registers that `resident` blocks are on a multiprocessor at once.
template <int resident, class Function> void each_resident(int count, Function function) {
    launch(each_task<resident, Function>{function, count}, blocks_of(count));
}
// *most becomes the largest value(i), if that is more.
template <class Value> void each_most(int count, uint32_t *most, Value value) {
    launch(most_task<Value>{value, count, most}, blocks_of(count));
}

#ifdef __CUDACC__

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
#ifdef __CUDACC__
    // Small arrays of a world in a batch lie side by side: there are hundreds, and giving one back stops the device for
    // all worlds.
    enum { SHARED = 1 << 20, LINE = 256 };
    char *shared = nullptr;
    size_t shared_left = 0;
    void *take_shared(size_t size) {
        size = (size + LINE - 1) / LINE * LINE;
        if (size > shared_left) {
            shared = (char *)take_block(SHARED);
            shared_left = shared ? SHARED : 0;
        }
        if (!shared) return nullptr;
        shared += size;
        shared_left -= size;
        return shared - size;
    }
    void *take(size_t size) {
        return seated && size <= SHARED / 8 ? take_shared(size) : take_block(size);
    }
#else
    void *take(size_t size) { return take_block(size); }
#endif

    void *take_block(size_t size) {
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
#ifdef __CUDACC__
        shared = nullptr;
        shared_left = 0;
#endif
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
        if (k == 0) marking = !running && !seated;
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
