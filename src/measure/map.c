// Maps of density, speed and jams.
//
// Density of a cell: people, spread over neighbouring cells, divided by the floor, spread alike. A person is
// shared among the four nearest cells by distance (so that people on a grid make no beats with the
// cells), then spread twice with the weights 1/4 1/2 1/4 in x and in y: nearly a normal distribution
// around the person, with a standard deviation of 0.54 m for cells of 0.5 m. Its effective area
// (1 / sum of squared weights, 3.7 m2) is that of a disc of 1.1 m radius, in the range of the areas
// densities are usually measured in: 4 /m2 means 15 people and not two who happen to stand close.
//   - Dividing by the floor keeps corners and walls from looking emptier than they are. Floor and
//     people are spread by the same rule, so the expected value for a uniform crowd is its density,
//     everywhere.
//   - Nothing is spread through a wall, neither people nor floor: a thin wall between a full and
//     an empty room does not blur. Doors are gaps, open or shut.
//   - A crowd on a square grid of 4 /m2, whatever its angle and offset, is read with a standard
//     error of 0.3 % (worst 1.4 %) away from walls, and density x floor sums up to the number of people within
//     0.5 % (tests/test_observer.c, which prints the figures).
// Less floor than LEAST_FLOOR of the kernel (a niche) is taken as that much, so that one person alone is
// never above 3.8 /m2, which is no congestion.
// Cost of a sample: O(people + cells of the rows between the first and the last person).
// SPDX-License-Identifier: Apache-2.0
#include "measure/map_kernel.h"
#include <stdlib.h>
#include <string.h>

void th_map_work_release(th_map_work *work) {
    free(work->now);
    free(work->shared);
    free(work->once);
    free(work->open);
    free(work->per_floor);
    free(work->row_low);
    free(work->row_high);
    *work = (th_map_work){0};
}

void th_map_forget_rows(const th_map *map, th_map_work *work) {
    for (int j = 0; j < map->ny; ++j) {
        work->row_low[j] = map->nx;
        work->row_high[j] = -1;
    }
}

void th_map_put(th_map *map, th_map_work *work, float x, float y, float speed, bool jammed) {
    float column = (x - map->min_x) / map->cell, row = (y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny)) {
        map->outside_count += 1.0;
        return;
    }
    int i = (int)column, j = (int)row, stride = map->nx + 2;
    size_t b = bordered(map, i, j);
    th_cell_now *now = &work->now[b];
    now->count += 1.0f;
    now->speed += speed;
    now->jammed += jammed ? 1.0f : 0.0f;
    if (work->open[b] == ALL_OPEN) { // the same as share(), without asking for each neighbour
        float u = column + 0.5f, v = row + 0.5f; // from the middles of the border's cells
        float fu = u - floorf(u), fv = v - floorf(v);
        float *low = &work->shared[(size_t)v * (size_t)stride + (size_t)u], *high = low + stride;
        low[0] += (1.0f - fu) * (1.0f - fv);
        low[1] += fu * (1.0f - fv);
        high[0] += (1.0f - fu) * fv;
        high[1] += fu * fv;
    } else {
        share(work, stride, b, column - (float)i - 0.5f, row - (float)j - 0.5f, 1.0f);
    }
    if (i < work->row_low[j]) work->row_low[j] = i;
    if (i > work->row_high[j]) work->row_high[j] = i;
}

// The columns within `reach` cells of somebody in rows within `reach` of this one; false: none.
static bool columns_around(const th_map *map, const th_map_work *work, int row, int reach, int *low,
                           int *high) {
    *low = map->nx;
    *high = -1;
    for (int r = row - reach; r <= row + reach; ++r) {
        if (r < 0 || r >= map->ny) continue;
        if (work->row_low[r] < *low) *low = work->row_low[r];
        if (work->row_high[r] > *high) *high = work->row_high[r];
    }
    if (*low > *high) return false;
    *low = *low > reach ? *low - reach : 0;
    *high = *high + reach < map->nx ? *high + reach : map->nx - 1;
    return true;
}

static void take_people(th_map *map, size_t c, const th_cell_now *now, double interval) {
    map->person_count[c] += (double)now->count;
    map->speed_sum[c] += (double)now->speed;
    map->jam_time[c] += (double)now->jammed * interval;
}

static void take_density(th_map *map, size_t c, float density, double interval) {
    map->density_sum[c] += (double)density;
    if (density > map->density_max[c]) map->density_max[c] = density;
    if (density > TH_DENSE) map->dense_time[c] += interval;
}

// People reach one cell around them when they are shared and one more each time they are spread.
void th_map_take(th_map *map, th_map_work *work, double interval) {
    int stride = map->nx + 2, low, high;
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 2, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t b = bordered(map, i, j);
            work->once[b] = spread(&work->shared[b], stride, work->open[b]);
            if (work->now[b].count > 0.0f)
                take_people(map, plain(map, i, j), &work->now[b], interval);
        }
    }
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 3, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t b = bordered(map, i, j), c = plain(map, i, j);
            float people = spread(&work->once[b], stride, work->open[b]);
            if (people > 0.0f && map->walkable[c] > 0.0f)
                take_density(map, c, people * work->per_floor[c], interval);
        }
    }
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 2, &low, &high)) continue;
        size_t first = bordered(map, low, j), count = (size_t)high - (size_t)low + 1;
        memset(&work->now[first], 0, count * sizeof *work->now);
        memset(&work->shared[first], 0, count * sizeof *work->shared);
        memset(&work->once[first], 0, count * sizeof *work->once);
    }
    th_map_forget_rows(map, work);
}
