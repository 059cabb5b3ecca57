// Running sums over the cells of the index. How many cells there are only the device knows: on an open plane the
// crowd's box decides, and there may be sixteen times as many as it takes, so no kernel goes over all that could be.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_DEVICE_SCAN_CUH
#define TH_DEVICE_SCAN_CUH
#include "device/device.cuh"
#ifdef __CUDACC__
#include <cub/block/block_scan.cuh>
#endif

namespace th {

enum {
    SCAN_TILE = 1024,   // values that a block sums up, eight a thread
    SCAN_BLOCKS = 2048, // several for each multiprocessor; each takes one tile after the other
    SCAN_THREADS = 1024 // of the one block that sums up the tiles
};

inline size_t tiles_of(int most) { return (size_t)most / SCAN_TILE + 2; }

#ifdef __CUDACC__

// Sum of what threads before this one have; *all: of all.
template <int threads> __device__ uint32_t scan_block(uint32_t own, uint32_t *all) {
    using block_scan = cub::BlockScan<uint32_t, threads>;
    __shared__ typename block_scan::TempStorage room;
    uint32_t before;
    __syncthreads(); // a late thread may still read the last result
    block_scan(room).ExclusiveSum(own, before, *all);
    return before;
}

static __global__ void clear_kernel(uint32_t *values, const int *count) {
    for (int k = (int)(blockIdx.x * THREADS + threadIdx.x); k <= *count;
         k += (int)(gridDim.x * THREADS))
        values[k] = 0;
}
static __global__ void __launch_bounds__(THREADS)
    sum_tiles(const uint32_t *values, const int *count, uint32_t *tiles) {
    int used = *count / SCAN_TILE + 1;
    for (int t = (int)blockIdx.x; t < used; t += (int)gridDim.x) {
        uint32_t sum = 0, all;
        for (int k = t * SCAN_TILE + (int)threadIdx.x; k < (t + 1) * SCAN_TILE && k <= *count;
             k += THREADS)
            sum += values[k];
        scan_block<THREADS>(sum, &all);
        if (threadIdx.x == 0) tiles[t] = all;
    }
}
static __global__ void __launch_bounds__(SCAN_THREADS)
    scan_tiles(const int *count, uint32_t *tiles) {
    int used = *count / SCAN_TILE + 1;
    uint32_t sum = 0, all;
    for (int first = 0; first < used; first += SCAN_THREADS) {
        int t = first + (int)threadIdx.x;
        uint32_t before = scan_block<SCAN_THREADS>(t < used ? tiles[t] : 0u, &all);
        if (t < used) tiles[t] = sum + before;
        sum += all;
    }
}
static __global__ void __launch_bounds__(THREADS)
    scan_values(uint32_t *values, const int *count, const uint32_t *tiles) {
    enum { EACH = SCAN_TILE / THREADS };
    int used = *count / SCAN_TILE + 1;
    for (int t = (int)blockIdx.x; t < used; t += (int)gridDim.x) {
        int first = t * SCAN_TILE + (int)threadIdx.x * EACH;
        uint32_t own[EACH], sum = 0, all;
        for (int e = 0; e < EACH; ++e) {
            own[e] = first + e <= *count ? values[first + e] : 0u;
            sum += own[e];
        }
        sum = tiles[t] + scan_block<THREADS>(sum, &all);
        for (int e = 0; e < EACH; ++e) {
            if (first + e <= *count) values[first + e] = sum;
            sum += own[e];
        }
    }
}

inline unsigned scan_blocks(int most) {
    size_t tiles = tiles_of(most);
    return (unsigned)(tiles < SCAN_BLOCKS ? tiles : SCAN_BLOCKS);
}
// values[0 .. *count], one more than *count, become 0. `most`: *count is not more.
inline void clear_counted(uint32_t *values, const int *count, int most) {
    clear_kernel<<<scan_blocks(most), THREADS>>>(values, count);
}
// values[0 .. *count] become the sums of those before them; `tiles` has room for tiles_of(most).
inline void scan_counted(uint32_t *values, const int *count, int most, uint32_t *tiles) {
    sum_tiles<<<scan_blocks(most), THREADS>>>(values, count, tiles);
    scan_tiles<<<1, SCAN_THREADS>>>(count, tiles);
    scan_values<<<scan_blocks(most), THREADS>>>(values, count, tiles);
}

#else

inline void clear_counted(uint32_t *values, const int *count, int) {
    for (int k = 0; k <= *count; ++k) values[k] = 0;
}
inline void scan_counted(uint32_t *values, const int *count, int, uint32_t *) {
    uint32_t sum = 0;
    for (int k = 0; k <= *count; ++k) {
        uint32_t own = values[k];
        values[k] = sum;
        sum += own;
    }
}

#endif

} // namespace th
#endif
