// The kernel of the maps: which cells are neighbours, with which weights, and how something is shared and
// spread among them. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_MAP_KERNEL_H
#define TH_OBSERVE_MAP_KERNEL_H
#include "observe/parts.h"
#include <math.h>

// The eight neighbours, then the weights: bit k of `open` is neighbour k; 7 - k is the opposite one.
static const int neighbour_x[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int neighbour_y[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
static const float neighbour_weight[8] = {0.0625f, 0.125f,  0.0625f, 0.125f,
                                          0.125f,  0.0625f, 0.125f,  0.0625f};
static const float own_weight = 0.25f;
enum { ALL_OPEN = 255 };

static inline size_t bordered(const th_map *map, int i, int j) {
    return (size_t)(j + 1) * ((size_t)map->nx + 2) + (size_t)(i + 1);
}
static inline size_t plain(const th_map *map, int i, int j) {
    return (size_t)j * (size_t)map->nx + (size_t)i;
}

static inline void add_part(float *sums, const float amount[TH_SUMS], float part) {
    for (int s = 0; s < TH_SUMS; ++s) sums[s] += amount[s] * part;
}

// Shares `amount` at (fx, fy) from the middle of cell b, in cells, among the four nearest cells. What a
// neighbour behind a wall would get stays here.
static inline void share(th_map_work *work, int stride, size_t b, float fx, float fy,
                         const float amount[TH_SUMS]) {
    int sx = fx < 0.0f ? -1 : 1, sy = fy < 0.0f ? -1 : 1;
    float wx = fabsf(fx), wy = fabsf(fy);
    const int k[3] = {sx < 0 ? 3 : 4, sy < 0 ? 1 : 6, sy < 0 ? 1 + sx : 6 + sx};
    const float part[3] = {wx * (1.0f - wy), (1.0f - wx) * wy, wx * wy};
    float own = (1.0f - wx) * (1.0f - wy);
    unsigned open = work->open[b];
    for (int n = 0; n < 3; ++n) {
        ptrdiff_t to = (ptrdiff_t)b + neighbour_y[k[n]] * stride + neighbour_x[k[n]];
        if (open >> k[n] & 1)
            add_part(&work->shared[to * TH_SUMS], amount, part[n]);
        else
            own += part[n];
    }
    add_part(&work->shared[b * TH_SUMS], amount, own);
}

// The weighted sums over a cell and the neighbours it sees. `values` are of the cell, `row` floats from
// one row to the next.
static inline void spread(const float *values, ptrdiff_t row, unsigned open, float sums[TH_SUMS]) {
    if (open == ALL_OPEN) { // most cells; the same sum without eight questions
        const float *below = values - row, *above = values + row;
        for (int s = 0; s < TH_SUMS; ++s) {
            const int left = s - TH_SUMS, right = s + TH_SUMS;
            float sum = own_weight * values[s];
            sum += 0.125f * ((below[s] + above[s]) + (values[left] + values[right]));
            sums[s] = sum + 0.0625f * ((below[left] + below[right]) + (above[left] + above[right]));
        }
        return;
    }
    for (int s = 0; s < TH_SUMS; ++s) sums[s] = own_weight * values[s];
    for (int k = 0; k < 8; ++k)
        if (open >> k & 1)
            add_part(sums, values + neighbour_y[k] * row + neighbour_x[k] * TH_SUMS,
                     neighbour_weight[k]);
}

#endif
