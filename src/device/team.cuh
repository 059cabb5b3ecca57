// Kernels of more than one phase: the threads of a block, or of all blocks at once, that wait for each other
// between phases, and sums in a fixed order. On the emulated device a team is one thread and phases are loops.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_DEVICE_TEAM_CUH
#define TH_DEVICE_TEAM_CUH
#include "device/device.cuh"

namespace th {

enum {
    // Of a block that works by itself: three turns for the quarters of a tile (uic/splat.cu).
    TEAM_THREADS = 128,
    // Such blocks on a multiprocessor, with 128 registers a thread: with fewer, sums would spill.
    TEAM_RESIDENT = 4,
    GRID_THREADS = 512, // of a block that waits for others: the fewer blocks, the shorter the wait
    TEAM_WARP = 32,
    TEAM_BLOCKS_MOST = 1024, // of a grid: room for a partial sum of each
    TEAM_PARTIALS = 2 * TEAM_BLOCKS_MOST +
                    1,  // doubles that a grid needs, 0 before the first one: the last one counts
                        // blocks that wait
    CLUSTER_BLOCKS = 8, // in a cluster on every device that has them
    CLUSTER_MOST = 16,  // on those that allow it, as an H200 does
    FIND_RESIDENT = 8,  // blocks of find_most on a multiprocessor: 64 registers for a thread
    FOUND = 4           // words that find_most finds
};

// A divisor that is known in advance: a product and a shift instead of some twenty instructions. For 0 <= k < 2^31
// (Granlund and Montgomery 1994).
struct divisor {
    uint32_t factor;
    int shift;
    TH_ON_GPU int quotient(int k) const { return (int)(((uint64_t)(uint32_t)k * factor) >> shift); }
};
inline divisor divisor_of(int by) {
    int bits = 0;
    while ((1ll << bits) < by) ++bits;
    return {(uint32_t)((1ull << (31 + bits)) / (unsigned)by + 1), 31 + bits};
}

#ifdef __CUDACC__

struct block_team {
    int block;
    void *shared;
    __device__ float *memory() const { return (float *)shared; }
    // phase(k) for k in 0 .. count; all threads wait for the last.
    template <class Phase> __device__ void each(int count, Phase phase) {
        for (int k = (int)threadIdx.x; k < count; k += (int)blockDim.x) phase(k);
        __syncthreads();
    }
    // phase(k, from[k]) for k in 0 .. count; several are asked of the memory at once.
    template <class Phase> __device__ void read(const float *from, int count, Phase phase) {
        enum { AT_ONCE = 5 };
        const int step = (int)blockDim.x;
        for (int k = (int)threadIdx.x; k < count; k += AT_ONCE * step) {
            float value[AT_ONCE];
            TH_UNROLLED
            for (int q = 0; q < AT_ONCE; ++q)
                value[q] = k + q * step < count ? __ldcg(&from[k + q * step]) : 0;
            TH_UNROLLED
            for (int q = 0; q < AT_ONCE; ++q)
                if (k + q * step < count) phase(k + q * step, value[q]);
        }
        __syncthreads();
    }
};

template <class Work> struct block_task {
    enum { WIDTH = TEAM_THREADS, RESIDENT = TEAM_RESIDENT };
    Work work;
    int count;
    size_t bytes;
    __device__ void operator()() const {
        extern __shared__ float4 team_memory[];
        block_team team = {(int)blockIdx.x, team_memory};
        if (team.block < count) work(team);
    }
};

// Largest of FOUND words over many people: a block joins what its threads found before it tells, because all
// blocks tell the same place.
template <class Find> struct find_task {
    enum { WIDTH = THREADS, RESIDENT = FIND_RESIDENT };
    Find find;
    int count, each;
    uint32_t *most;
    __device__ void operator()() const {
        __shared__ uint32_t warps[THREADS / TEAM_WARP];
        uint32_t found[FOUND] = {};
        int i = (int)blockIdx.x * THREADS * each + (int)threadIdx.x;
        for (int k = 0; k < each && i < count; ++k, i += THREADS) find(i, found);
        for (int f = 0; f < FOUND; ++f) {
            uint32_t own = __reduce_max_sync(~0u, found[f]);
            if (threadIdx.x % TEAM_WARP == 0) warps[threadIdx.x / TEAM_WARP] = own;
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int w = 1; w < THREADS / TEAM_WARP; ++w) own = warps[w] > own ? warps[w] : own;
                if (own > 0) atomicMax(&most[f], own);
            }
            __syncthreads();
        }
    }
};

__device__ inline void raise_most(uint32_t *most, const uint32_t *found) {
    for (int f = 0; f < FOUND; ++f) {
        uint32_t own = __reduce_max_sync(~0u, found[f]);
        if (threadIdx.x % TEAM_WARP == 0 && own > 0) atomicMax(&most[f], own);
    }
}
template <class Count, class Find> struct find_few_task {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    Count count;
    Find find;
    uint32_t *most;
    __device__ void operator()() const {
        uint32_t found[FOUND] = {};
        const int end = count(), step = (int)gridDim.x * THREADS;
        if (end == 0) return;
        for (int i = (int)blockIdx.x * THREADS + (int)threadIdx.x; i < end; i += step)
            find(i, found);
        raise_most(most, found);
    }
};

// Lists the i in 0 .. count that are `chosen`, in any order; *length, 0 before, counts them.
template <class Chosen> struct list_task_of {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    Chosen chosen;
    int count, each;
    uint32_t *list, *length;
    __device__ void operator()() const {
        __shared__ uint32_t warps[THREADS / TEAM_WARP], begin;
        const int lane = (int)threadIdx.x % TEAM_WARP, warp = (int)threadIdx.x / TEAM_WARP;
        for (int k = 0; k < each; ++k) {
            int i = ((int)blockIdx.x * each + k) * THREADS + (int)threadIdx.x;
            bool is = i < count && chosen(i);
            uint32_t those = __ballot_sync(~0u, is);
            if (lane == 0) warps[warp] = (uint32_t)__popc(those);
            __syncthreads();
            if (threadIdx.x == 0) {
                uint32_t all = 0;
                for (uint32_t &own : warps) {
                    uint32_t before = all;
                    all += own;
                    own = before;
                }
                if (all > 0) begin = atomicAdd(length, all);
            }
            __syncthreads();
            if (is)
                list[begin + warps[warp] + (uint32_t)__popc(those & ((1u << lane) - 1))] =
                    (uint32_t)i;
            __syncthreads(); // before the next ones overwrite `warps` and `begin`
        }
    }
};

// The lanes of a warp that works by itself.
struct warp_team {
    void *shared;
    static __device__ int lane() { return (int)threadIdx.x % TEAM_WARP; }
    template <class Phase> __device__ void each(int count, Phase phase) const {
        for (int k = lane(); k < count; k += TEAM_WARP) phase(k);
        __syncwarp();
    }
    // read(lane, step, state) by all lanes, then write(state) by all of them, for every step in 0 .. count.
    template <class State, class Read, class Write>
    __device__ void steps(int count, Read read, Write write) const {
        State state;
        for (int step = 0; step < count; ++step) {
            read(lane(), step, state);
            __syncwarp();
            write(state);
            __syncwarp();
        }
    }
    // The bits of all lanes together.
    __device__ uint32_t together(uint32_t bits) const { return __reduce_or_sync(~0u, bits); }
};

struct grid_team {
    double *partial; // TEAM_PARTIALS
    void *shared;
    int turn; // which half of `partial` the next sum writes: a slow block may still read the other
    bool clustered; // all blocks are one cluster
    uint32_t stood; // thread 0's: how the bit of `meet` stood

    __device__ float *memory() const { return (float *)shared; }
    // phase(k) for this block's share of 0 .. count: as much as any other's, so that no multiprocessor stands idle
    // while another's memory is the narrow place. Whole warps.
    template <class Phase> __device__ void own_share(int count, Phase phase) const {
        int share = (count + (int)gridDim.x - 1) / (int)gridDim.x;
        share = (share + TEAM_WARP - 1) / TEAM_WARP * TEAM_WARP;
        const int begin = (int)blockIdx.x * share,
                  end = count - begin < share ? count : begin + share;
        for (int k = begin + (int)threadIdx.x; k < end; k += GRID_THREADS) phase(k);
    }
    // All blocks, by thread 0 of each: the highest bit turns when the last one has come. Release and acquire are
    // for everything that the block's threads have written before their own barrier, and read after it. Which way the
    // bit stood is known from the last time: no block waits for the answer to its own arrival before it asks for all.
    __device__ uint32_t *arrived() const { return (uint32_t *)(partial + 2 * TEAM_BLOCKS_MOST); }
    __device__ void begin() { // it cannot turn before this block has come
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(stood) : "l"(arrived()) : "memory");
        stood &= 0x80000000u;
    }
    __device__ void meet() {
        uint32_t own = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1, now;
        asm volatile("red.release.gpu.add.u32 [%0], %1;" : : "l"(arrived()), "r"(own) : "memory");
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived()) : "memory");
        while (!((stood ^ now) & 0x80000000u));
        stood ^= 0x80000000u;
    }
    __device__ void wait() {
        if (wait_in_cluster()) return;
        __syncthreads();
        if (threadIdx.x == 0) meet();
        __syncthreads();
    }
    // Blocks of one cluster have a barrier of their own, which takes a fifth of the time.
    __device__ bool wait_in_cluster() const {
#if __CUDA_ARCH__ >= 900
        if (clustered) {
            asm volatile("barrier.cluster.arrive.release;" ::: "memory");
            asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
        }
        return clustered;
#else
        return false;
#endif
    }
    template <class Phase> __device__ void each(int count, Phase phase) {
        own_share(count, phase);
        wait();
    }
    template <class Phase> __device__ void alone(Phase phase) {
        tell(phase);
        wait();
    }
    // phase() by one thread, whose results no other needs.
    template <class Phase> __device__ void tell(Phase phase) {
        if (blockIdx.x == 0 && threadIdx.x == 0) phase();
    }
    // phase(team) by each block for itself; no block waits for another.
    template <class Phase> __device__ void every_block(Phase phase) {
        block_team team = {(int)blockIdx.x, shared};
        phase(team);
    }
    // phase(team, k) for k in 0 .. count, each by one warp with `bytes` of shared memory; all threads wait for the
    // last.
    template <class Phase> __device__ void each_warp(int count, size_t bytes, Phase phase) {
        const int warp = (int)threadIdx.x / TEAM_WARP, warps = GRID_THREADS / TEAM_WARP;
        warp_team team = {(char *)shared + (size_t)warp * bytes};
        for (int k = warp * (int)gridDim.x + (int)blockIdx.x; k < count;
             k += warps * (int)gridDim.x)
            phase(team, k);
        wait();
    }
    static __device__ double *values_of_warps() { // one place for all sums
        __shared__ double values[TEAM_WARP];
        return values;
    }
    // The tree is the same every time: sums of the same numbers have the same bits.
    template <class Phase, class Join> __device__ double join(int count, Phase phase, Join join) {
        double *warps = values_of_warps();
        const int lane = (int)threadIdx.x % TEAM_WARP;
        double value = 0;
        own_share(count, [&](int k) { value = join(value, phase(k)); });
        double *here = partial + (turn ? TEAM_BLOCKS_MOST : 0);
        turn = !turn;
        for (int d = TEAM_WARP / 2; d > 0; d /= 2)
            value = join(value, __shfl_down_sync(~0u, value, d));
        if (lane == 0) warps[threadIdx.x / TEAM_WARP] = value;
        __syncthreads();
        if (threadIdx.x < TEAM_WARP) {
            value = lane < GRID_THREADS / TEAM_WARP ? warps[lane] : 0;
            for (int d = TEAM_WARP / 2; d > 0; d /= 2)
                value = join(value, __shfl_down_sync(~0u, value, d));
            if (lane == 0) here[blockIdx.x] = value;
            __syncwarp();
            if (lane == 0 && !clustered) meet();
        }
        if (!wait_in_cluster()) __syncthreads();
        // Every warp adds up all blocks' values: x + y is y + x, so that all lanes end with the same bits.
        value = 0;
        for (int b = lane; b < (int)gridDim.x; b += TEAM_WARP)
            value = join(value, __ldcg(&here[b]));
        for (int d = TEAM_WARP / 2; d > 0; d /= 2)
            value = join(value, __shfl_xor_sync(~0u, value, d));
        return value;
    }
    // As find_most.
    template <class Find> __device__ void find(int count, uint32_t *most, Find phase) {
        uint32_t found[FOUND] = {};
        own_share(count, [&](int k) { phase(k, found); });
        raise_most(most, found);
        wait();
    }
    // Sum, or largest (at least 0), of phase(k); every thread gets it.
    template <class Phase> __device__ double sum(int count, Phase phase) {
        return join(count, phase, [](double a, double b) { return a + b; });
    }
    template <class Phase> __device__ double most(int count, Phase phase) {
        // The same in either order, also with NaN: all threads must take the same branch.
        return join(count, phase, [](double a, double b) { return a > b || b != b ? a : b; });
    }
};

template <class Work>
__global__ void __launch_bounds__(GRID_THREADS, 1)
    grid_kernel(const __grid_constant__ Work work, double *partial, bool clustered) {
    extern __shared__ float4 team_memory[];
    grid_team team = {partial, team_memory, 0, clustered, 0};
    if (threadIdx.x == 0 && !clustered) team.begin();
    work(team);
}
// Bytes of shared memory that a block of a grid may have.
inline size_t shared_memory() {
    int device = 0, bytes = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int own = 1024; // the team's own
    return bytes > own ? (size_t)(bytes - own) : 0;
}
// Blocks that are on the device at the same time: more could not wait for each other.
template <class Work> int grid_blocks() {
    int device = 0, multiprocessors = 0, each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    size_t bytes = shared_memory();
    cudaFuncSetAttribute(grid_kernel<Work>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)bytes);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, grid_kernel<Work>, GRID_THREADS, bytes);
    cudaFuncSetAttribute(grid_kernel<Work>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaGetLastError(); // a device without clusters says no, and gets none
    int all = multiprocessors * each;
    return all < TEAM_BLOCKS_MOST ? all : TEAM_BLOCKS_MOST;
}
// The blocks as one cluster, where the device knows clusters (compute capability 9) and the kernel was made for it.
template <class Work>
bool launch_cluster(int count, size_t bytes, double *partial, const Work &work, queue queue) {
    cudaFuncAttributes made;
    if (cudaFuncGetAttributes(&made, grid_kernel<Work>) != cudaSuccess || made.binaryVersion < 90)
        return false;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)count;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3((unsigned)count);
    launch.blockDim = dim3(GRID_THREADS);
    launch.dynamicSmemBytes = bytes;
    launch.stream = queue;
    launch.attrs = &cluster;
    launch.numAttrs = 1;
    if (cudaLaunchKernelEx(&launch, grid_kernel<Work>, work, partial, true) == cudaSuccess)
        return true;
    cudaGetLastError(); // there is another way
    return false;
}
template <class Work>
void launch_grid(int most, int coresident, size_t bytes, double *partial, const Work &work,
                 queue queue) {
    if (most <= CLUSTER_MOST) {
        if (most > CLUSTER_BLOCKS && launch_cluster(most, bytes, partial, work, queue)) return;
        // Up to twice as much work for each block is less than what their own barrier saves.
        if (launch_cluster(most < 1                ? 1
                           : most < CLUSTER_BLOCKS ? most
                                                   : (int)CLUSTER_BLOCKS,
                           bytes, partial, work, queue))
            return;
    }
    int count = most < coresident ? most : coresident;
    bool clustered = false;
    void *arguments[] = {(void *)&work, &partial, &clustered};
    cudaLaunchCooperativeKernel((const void *)grid_kernel<Work>,
                                dim3((unsigned)(count > 1 ? count : 1)), dim3(GRID_THREADS),
                                arguments, bytes, queue);
}

// A few words that come to the host while the device works on.
struct letter {
    uint32_t *words = nullptr;
    cudaEvent_t sent = nullptr;
    bool create(size_t count) {
        return cudaMallocHost((void **)&words, count * sizeof *words) == cudaSuccess &&
               cudaEventCreateWithFlags(&sent, cudaEventDisableTiming) == cudaSuccess;
    }
    void destroy() {
        if (words) cudaFreeHost(words);
        if (sent) cudaEventDestroy(sent);
    }
    void post(const uint32_t *device, size_t count) {
        if (seated) {
            ask(words, device, count * sizeof *words);
            return;
        }
        cudaMemcpyAsync(words, device, count * sizeof *words, cudaMemcpyDeviceToHost);
        cudaEventRecord(sent);
    }
    void receive() {
        if (seated)
            do_listed();
        else
            cudaEventSynchronize(sent);
    }
};

#else

struct block_team {
    int block;
    void *shared;
    float *memory() const { return (float *)shared; }
    template <class Phase> void each(int count, Phase phase) {
        for (int k = count - 1; k >= 0; --k) phase(k);
    }
    template <class Phase> void read(const float *from, int count, Phase phase) {
        for (int k = count - 1; k >= 0; --k) phase(k, from[k]);
    }
};
template <class Work> struct block_task {
    Work work;
    int count;
    size_t bytes;
    void operator()() const {
        void *shared = aligned_alloc(64, (bytes + 64) / 64 * 64);
        for (int b = count - 1; b >= 0 && shared; --b) {
            memset(shared, 0xa5, bytes);
            block_team team = {b, shared};
            work(team);
        }
        free(shared);
    }
};
template <class Find> struct find_task {
    Find find;
    int count, each;
    uint32_t *most;
    void operator()() const {
        for (int i = count - 1; i >= 0; --i) {
            uint32_t found[FOUND] = {};
            find(i, found);
            for (int f = 0; f < FOUND; ++f) most[f] = found[f] > most[f] ? found[f] : most[f];
        }
    }
};
template <class Count, class Find> struct find_few_task {
    Count count;
    Find find;
    uint32_t *most;
    void operator()() const { find_task<Find>{find, count(), 1, most}(); }
};
template <class Chosen> struct list_task_of {
    Chosen chosen;
    int count, each;
    uint32_t *list, *length;
    void operator()() const {
        for (int i = count - 1; i >= 0; --i)
            if (chosen(i)) list[(*length)++] = (uint32_t)i;
    }
};
struct warp_team {
    void *shared;
    template <class Phase> void each(int count, Phase phase) const {
        for (int k = count - 1; k >= 0; --k) phase(k);
    }
    template <class State, class Read, class Write>
    void steps(int count, Read read, Write write) const {
        State states[TEAM_WARP];
        for (int step = 0; step < count; ++step) {
            for (int lane = TEAM_WARP - 1; lane >= 0; --lane) read(lane, step, states[lane]);
            for (State &state : states) write(state);
        }
    }
    uint32_t together(uint32_t bits) const { return bits; }
};
struct grid_team {
    double *partial;
    void *shared;
    float *memory() const { return (float *)shared; }
    template <class Phase> void each(int count, Phase phase) {
        for (int k = count - 1; k >= 0; --k) phase(k);
    }
    template <class Phase> void alone(Phase phase) { phase(); }
    template <class Phase> void tell(Phase phase) { phase(); }
    template <class Find> void find(int count, uint32_t *most, Find phase) {
        find_task<Find>{phase, count, 1, most}();
    }
    template <class Phase> void every_block(Phase phase) {
        block_team team = {0, shared};
        phase(team);
    }
    template <class Phase> void each_warp(int count, size_t, Phase phase) {
        warp_team team = {shared};
        for (int k = count - 1; k >= 0; --k) phase(team, k);
    }
    template <class Phase> double sum(int count, Phase phase) {
        double value = 0;
        for (int k = 0; k < count; ++k) value += phase(k);
        return value;
    }
    template <class Phase> double most(int count, Phase phase) {
        double value = 0;
        for (int k = 0; k < count; ++k) {
            double one = phase(k);
            value = value > one ? value : one;
        }
        return value;
    }
};
template <class Work> int grid_blocks() { return 1; }
inline size_t shared_memory() { return 226 * 1024; } // as on an H200
template <class Work>
void launch_grid(int, int, size_t bytes, double *partial, const Work &work, queue) {
    void *shared = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!shared) return;
    memset(shared, 0xa5, bytes);
    grid_team team = {partial, shared};
    work(team);
    free(shared);
}
struct letter {
    uint32_t *words = nullptr;
    bool create(size_t count) {
        return (words = (uint32_t *)malloc(count * sizeof *words)) != nullptr;
    }
    void destroy() { free(words); }
    void post(const uint32_t *device, size_t count) { ask(words, device, count * sizeof *words); }
    void receive() { th::receive(); }
};

#endif

// work(team) by `count` blocks, each with `bytes` of shared memory (at most 48 KB).
template <class Work> void blocks(int count, size_t bytes, Work work) {
    launch(block_task<Work>{work, count, bytes}, count, bytes);
}

// find(i, found) raises its own found[0 .. FOUND] for i in 0 .. count; `most` becomes the largest of all. A thread has
// `bytes` of shared memory.
template <class Find> void find_most(int count, size_t bytes, uint32_t *most, Find find) {
    const int enough = 2048; // blocks, several for each multiprocessor
    int each = count / (THREADS * enough);
    each = each < 1 ? 1 : each > 16 ? 16 : each;
    launch(find_task<Find>{find, count, each, most}, blocks_of((count + each - 1) / each),
           THREADS * bytes);
}
template <class Find> void find_most(int count, uint32_t *most, Find find) {
    find_most(count, 0, most, find);
}

// The same for i in 0 .. count(), which only the device knows, at most `bound`. So few blocks that all of them are on
// the device at once: where there is nothing to find they are gone in a moment.
enum { FEW_BLOCKS = 528 };
template <class Count, class Find>
void find_most_of(int bound, size_t bytes, Count count, uint32_t *most, Find find) {
    int all = blocks_of(bound);
    launch(find_few_task<Count, Find>{count, find, most}, all < FEW_BLOCKS ? all : FEW_BLOCKS,
           THREADS * bytes);
}

// Lists the i in 0 .. count that are `chosen`, in any order; *length, 0 before, counts them.
template <class Chosen>
void list_those(int count, uint32_t *list, uint32_t *length, Chosen chosen) {
    const int each = 4;
    launch(list_task_of<Chosen>{chosen, count, each, list, length},
           blocks_of((count + each - 1) / each));
}

// A batch launches the grids of its worlds one after the other: their blocks wait for each other.
template <class Work> struct grid_task {
    Work work;
    int most, coresident;
    size_t bytes;
    double *partial;
    static void launch_one(const void *task, int, int, size_t, queue queue) {
        const grid_task *own = (const grid_task *)task;
        launch_grid(own->most, own->coresident, own->bytes, own->partial, own->work, queue);
    }
};
template <class Work>
inline const task_kind grid_kind = {sizeof(grid_task<Work>), true, grid_task<Work>::launch_one};

// work(team) by all blocks together, of which no more than `most` are worth it, each with `bytes` of shared memory.
template <class Work>
void grid(int most, int coresident, size_t bytes, double *partial, Work work) {
    const grid_task<Work> task = {work, most, coresident, bytes, partial};
    if (seated)
        list_task(&grid_kind<Work>, &task, 1, bytes);
    else
        launch_grid(most, coresident, bytes, partial, work, nullptr);
}

} // namespace th
#endif
