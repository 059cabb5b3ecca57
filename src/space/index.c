// Counting sort into cells. Counting is done with integer atomics, whose sums do not depend on which thread
// comes first; the places within a cell do, so each cell is put into id order afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "space/index.h"
#include "core/parallel.h"
#include <string.h>

enum { SCAN_BLOCK = 4096 };

void th_index_create(th_index *index, th_arena *arena, int level_count, int cell_capacity) {
    *index = (th_index){.level_count = level_count, .cell_capacity = cell_capacity};
    size_t blocks = (size_t)cell_capacity / SCAN_BLOCK + 2;
    index->grids = th_arena_alloc(arena, (size_t)level_count, sizeof *index->grids);
    index->cell_start = th_arena_alloc(arena, (size_t)cell_capacity + 1, sizeof *index->cell_start);
    index->block_sum = th_arena_alloc(arena, blocks, sizeof *index->block_sum);
}

// Exclusive prefix sum of counts held in start[1 ..]; afterwards start[c] is where cell c begins.
static void scan_cells(th_index *index, int threads) {
    uint32_t *start = index->cell_start;
    int count = index->cell_count;
    int blocks = (count + SCAN_BLOCK - 1) / SCAN_BLOCK;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int b = 0; b < blocks; ++b) {
        int end = (b + 1) * SCAN_BLOCK < count ? (b + 1) * SCAN_BLOCK : count;
        uint32_t sum = 0;
        for (int c = b * SCAN_BLOCK; c < end; ++c) {
            sum += start[c + 1];
            start[c + 1] = sum;
        }
        index->block_sum[b + 1] = sum;
    }
    index->block_sum[0] = 0;
    for (int b = 0; b < blocks; ++b) index->block_sum[b + 1] += index->block_sum[b];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int b = 0; b < blocks; ++b) {
        int end = (b + 1) * SCAN_BLOCK < count ? (b + 1) * SCAN_BLOCK : count;
        for (int c = b * SCAN_BLOCK; c < end; ++c) start[c + 1] += index->block_sum[b];
    }
}

uint32_t th_index_sort(th_index *index, int count, uint32_t *cell, const uint32_t *id,
                       uint32_t *slot, uint32_t *order, int threads) {
    uint32_t *start = index->cell_start;
    memset(start, 0, ((size_t)index->cell_count + 1) * sizeof *start);
    if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int i = 0; i < count; ++i)
            if (cell[i] != TH_NO_CELL)
                slot[i] = __atomic_fetch_add(&start[cell[i] + 1], 1, __ATOMIC_RELAXED);
    } else {
        for (int i = 0; i < count; ++i)
            if (cell[i] != TH_NO_CELL) slot[i] = start[cell[i] + 1]++;
    }
    scan_cells(index, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < count; ++i)
        if (cell[i] != TH_NO_CELL) order[start[cell[i]] + slot[i]] = (uint32_t)i;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int c = 0; c < index->cell_count; ++c)
        if (start[c + 1] - start[c] > 1) th_index_sort_cell(order, start[c], start[c + 1], id);
    return start[index->cell_count];
}
