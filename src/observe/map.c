// Maps of density, speed, jams and crowd pressure.
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
// Crowd pressure (Helbing, Johansson, Al-Abideen 2007, Phys. Rev. E 75, 046109): density x variance of velocity,
// P = rho (<v . v> - <v> . <v>), with the kernel's weights in the means, of one moment. A
// velocity is the way since the sample before over the interval: what somebody reports is of one short step,
// in a packed crowd of some models mostly shuffling that leads nowhere and that no video would show (15 times the
// crowd pressure in front of a doorway with the model uic). A variance of
// fewer than LEAST_PEOPLE people says little: such cells have none. It is that of the people there, not an
// estimate for more of them, so that n people in the kernel give 1 - 1/n of the latter.
// Cost of a sample: O(people + cells of the rows between the first and the last person).
// SPDX-License-Identifier: Apache-2.0
#include "observe/map_kernel.h"
#include <stdlib.h>
#include <string.h>

#define KERNEL_CELLS 14.8f // [-] effective area of the kernel, above, in cells
#define LEAST_PEOPLE 5.0f  // [-] on it; a variance of five is right to about a half

void th_map_work_release(th_map_work *work) {
    free(work->now);
    free(work->shared);
    free(work->once);
    free(work->crowding);
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

// The same as share() where all is open, without asking for each neighbour. Column and row in cells.
static void share_open(th_map_work *work, int stride, float column, float row,
                       const float amount[TH_SUMS]) {
    float u = column + 0.5f, v = row + 0.5f; // from the middles of the border's cells
    float fu = u - floorf(u), fv = v - floorf(v);
    float *low = &work->shared[((size_t)v * (size_t)stride + (size_t)u) * TH_SUMS];
    float *high = low + (size_t)stride * TH_SUMS;
    add_part(low, amount, (1.0f - fu) * (1.0f - fv));
    add_part(low + TH_SUMS, amount, fu * (1.0f - fv));
    add_part(high, amount, (1.0f - fu) * fv);
    add_part(high + TH_SUMS, amount, fu * fv);
}

void th_map_put(th_map *map, th_map_work *work, const th_last_seen *person) {
    float column = (person->x - map->min_x) / map->cell;
    float row = (person->y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny)) {
        map->outside_count += 1.0;
        return;
    }
    int i = (int)column, j = (int)row, stride = map->nx + 2;
    size_t b = bordered(map, i, j);
    th_cell_now *now = &work->now[b];
    th_vec2 v = person->velocity;
    const float amount[TH_SUMS] = {1.0f, v.x, v.y, v.x * v.x + v.y * v.y};
    now->count += 1.0f;
    now->speed += person->speed;
    now->jammed += person->doing == TH_DOING_JAM ? 1.0f : 0.0f;
    if (work->open[b] == ALL_OPEN)
        share_open(work, stride, column, row, amount);
    else
        share(work, stride, b, column - (float)i - 0.5f, row - (float)j - 0.5f, amount);
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

static void take_crowd_pressure(th_map *map, size_t c, const float sums[TH_SUMS], float density,
                                double interval) {
    float people = sums[TH_SUM_PEOPLE];
    if (people * KERNEL_CELLS < LEAST_PEOPLE) return;
    float u = sums[TH_SUM_VELOCITY_X] / people, v = sums[TH_SUM_VELOCITY_Y] / people;
    float variance = fmaxf(sums[TH_SUM_SQUARE] / people - (u * u + v * v), 0.0f); // rounding
    float pressure = density * variance;
    map->crowd_pressure_sum[c] += (double)pressure;
    map->crowd_pressure_count[c] += 1.0f;
    if (pressure > map->crowd_pressure_max[c]) map->crowd_pressure_max[c] = pressure;
    if ((double)pressure > TH_TURBULENT && density > TH_DENSE) map->turbulent_time[c] += interval;
}

// The second spread: what a cell of the map has.
static void take_cells(th_map *map, th_map_work *work, double interval) {
    ptrdiff_t row = ((ptrdiff_t)map->nx + 2) * TH_SUMS;
    int low, high;
    memset(work->crowding, 0, (size_t)map->nx * (size_t)map->ny);
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 3, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t b = bordered(map, i, j), c = plain(map, i, j);
            float sums[TH_SUMS];
            spread(&work->once[b * TH_SUMS], row, work->open[b], sums);
            if (!(sums[TH_SUM_PEOPLE] > 0.0f && map->walkable[c] > 0.0f)) continue;
            float density = sums[TH_SUM_PEOPLE] * work->per_floor[c];
            work->crowding[c] = th_crowding_of(density);
            take_density(map, c, density, interval);
            take_crowd_pressure(map, c, sums, density, interval);
        }
    }
}

// People reach one cell around them when they are shared and one more each time they are spread.
void th_map_take(th_map *map, th_map_work *work, double interval) {
    ptrdiff_t row = ((ptrdiff_t)map->nx + 2) * TH_SUMS;
    int low, high;
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 2, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t b = bordered(map, i, j);
            spread(&work->shared[b * TH_SUMS], row, work->open[b], &work->once[b * TH_SUMS]);
            if (work->now[b].count > 0.0f)
                take_people(map, plain(map, i, j), &work->now[b], interval);
        }
    }
    take_cells(map, work, interval);
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 2, &low, &high)) continue;
        size_t first = bordered(map, low, j), count = (size_t)high - (size_t)low + 1;
        memset(&work->now[first], 0, count * sizeof *work->now);
        memset(&work->shared[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->shared);
        memset(&work->once[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->once);
    }
    th_map_forget_rows(map, work);
}

uint8_t th_map_crowding_at(const th_map *map, const th_map_work *work, float x, float y) {
    float column = (x - map->min_x) / map->cell, row = (y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny))
        return 0;
    return work->crowding[plain(map, (int)column, (int)row)];
}
