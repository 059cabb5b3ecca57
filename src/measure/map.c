// Maps of density, speed and jams.
//
// Density of a cell: people, spread over neighbouring cells, divided by the floor, spread alike. Spreading
// is done twice with the weights 1/4 1/2 1/4 in x and in y, which gives the binomial weights
// 1 4 6 4 1 over five by five cells: nearly a normal distribution with a standard deviation of one cell.
// With cells of 0.5 m the effective area (1 / sum of squared weights) is 3.3 m2, that of a disc of 1 m
// radius, in the range of the areas densities are usually measured in: 4 /m2 means 13 people and not
// two who happen to stand close.
//   - Dividing by the floor keeps corners and walls from looking emptier than they are. The floor share
//     of a cell is a plain box average, as is putting a person into the cell he stands in: the
//     expected value for a uniform crowd is its density, everywhere.
//   - Nothing is spread through a wall, neither people nor floor: a thin wall between a full and
//     an empty room does not blur. Doors are gaps, open or shut.
//   - How exact it is for a crowd on a square grid of 4 /m2 at any angle and offset, and whether
//     density x floor sums up to the number of people: printed and bounded by tests/test_observer.c.
// Less floor than LEAST_FLOOR of the kernel (a niche) is taken as that much, so that one person alone is
// never above 2.3 /m2.
// Cost of a sample: O(people + cells of the rows between the first and the last person).
// SPDX-License-Identifier: Apache-2.0
#include "measure/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_CELLS_MAX = 4000000, FINE = 8 }; // FINE x FINE points tell the floor share of a cell
#define LEAST_FLOOR 0.25f                   // [-]

// The eight neighbours, then the weights: bit k of `open` is neighbour k; 7 - k is the opposite one.
static const int neighbour_x[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int neighbour_y[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
static const float neighbour_weight[8] = {0.0625f, 0.125f,  0.0625f, 0.125f,
                                          0.125f,  0.0625f, 0.125f,  0.0625f};
static const float own_weight = 0.25f;

static void lay_grid(const th_scene *scene, int level, double cell, th_map *map) {
    const th_box *box = &scene->levels[level].box;
    double width = (double)box->max_x - (double)box->min_x;
    double height = (double)box->max_y - (double)box->min_y;
    double nx, ny;
    for (;; cell *= 2.0) { // a hair less: a room of 10 m has 20 cells of 0.5 m, not 21
        nx = fmax(ceil(width / cell - 1e-3), 1.0);
        ny = fmax(ceil(height / cell - 1e-3), 1.0);
        if (nx * ny <= MAP_CELLS_MAX) break;
    }
    map->level = level;
    map->min_x = box->min_x;
    map->min_y = box->min_y;
    map->cell = (float)cell;
    map->nx = (int)nx;
    map->ny = (int)ny;
}

static bool allocate(th_map *map, th_map_work *work) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    size_t bordered = ((size_t)map->nx + 2) * ((size_t)map->ny + 2), rows = (size_t)map->ny + 2;
    map->walkable = calloc(cells, sizeof *map->walkable);
    map->density_sum = calloc(cells, sizeof *map->density_sum);
    map->density_max = calloc(cells, sizeof *map->density_max);
    map->speed_sum = calloc(cells, sizeof *map->speed_sum);
    map->person_count = calloc(cells, sizeof *map->person_count);
    map->dense_time = calloc(cells, sizeof *map->dense_time);
    map->jam_time = calloc(cells, sizeof *map->jam_time);
    work->now = calloc(bordered, sizeof *work->now);
    work->once = calloc(bordered, sizeof *work->once);
    work->open = calloc(cells, sizeof *work->open);
    work->per_floor = calloc(cells, sizeof *work->per_floor);
    work->row_low = calloc(rows, sizeof *work->row_low);
    work->row_high = calloc(rows, sizeof *work->row_high);
    return map->walkable && map->density_sum && map->density_max && map->speed_sum &&
           map->person_count && map->dense_time && map->jam_time && work->now && work->once &&
           work->open && work->per_floor && work->row_low && work->row_high;
}

void th_map_work_release(th_map_work *work) {
    free(work->now);
    free(work->once);
    free(work->open);
    free(work->per_floor);
    free(work->row_low);
    free(work->row_high);
    *work = (th_map_work){0};
}

// The floor of a cell: its share, a point on it (in the middle of the floor) and how far that point is
// from a wall. Without floor the share is 0.
typedef struct cell_floor {
    th_vec2 point;
    float distance, share;
} cell_floor;

static cell_floor look_closely(const th_scene *scene, int level, th_vec2 corner, float cell) {
    th_vec2 on[FINE * FINE], mean = {0.0f, 0.0f};
    int count = 0;
    for (int k = 0; k < FINE * FINE; ++k) {
        th_vec2 p = {corner.x + cell * ((float)(k % FINE) + 0.5f) / FINE,
                     corner.y + cell * ((float)(k / FINE) + 0.5f) / FINE};
        if (!th_scene_walkable(scene, level, p)) continue;
        on[count++] = p;
        mean.x += p.x;
        mean.y += p.y;
    }
    cell_floor floor = {.share = (float)count / (FINE * FINE)};
    if (count == 0) return floor;
    mean.x /= (float)count;
    mean.y /= (float)count;
    float nearest = 1e30f;
    for (int k = 0; k < count; ++k) {
        float dx = on[k].x - mean.x, dy = on[k].y - mean.y;
        if (dx * dx + dy * dy >= nearest) continue;
        nearest = dx * dx + dy * dy;
        floor.point = on[k];
    }
    floor.distance = th_scene_distance(scene, level, floor.point);
    return floor;
}

static cell_floor floor_of(const th_scene *scene, const th_map *map, int i, int j) {
    th_vec2 corner = {map->min_x + (float)i * map->cell, map->min_y + (float)j * map->cell};
    th_vec2 middle = {corner.x + 0.5f * map->cell, corner.y + 0.5f * map->cell};
    float distance = th_scene_distance(scene, map->level, middle);
    if (fabsf(distance) < 0.72f * map->cell) // a wall may cut the cell
        return look_closely(scene, map->level, corner, map->cell);
    return (cell_floor){middle, distance, distance > 0.0f ? 1.0f : 0.0f};
}

// No wall between two points: walks along as far as the next wall is away, so most pairs need no
// step at all. A wall is met at 1 cm; steps of 2 cm cannot jump over that.
static bool sees(const th_scene *scene, int level, const cell_floor *a, const cell_floor *b) {
    const float touching = 0.01f, least_step = 0.02f;
    if (a->share <= 0.0f || b->share <= 0.0f) return false;
    float dx = b->point.x - a->point.x, dy = b->point.y - a->point.y;
    float length = sqrtf(dx * dx + dy * dy);
    if (a->distance > length || b->distance > length) return true;
    for (float at = 0.0f; at < length;) {
        th_vec2 p = {a->point.x + dx * at / length, a->point.y + dy * at / length};
        float distance = th_scene_distance(scene, level, p);
        if (distance <= touching) return false;
        at += distance > least_step ? distance : least_step;
    }
    return true;
}

static void find_neighbours(const th_scene *scene, const th_map *map, const cell_floor *floors,
                            uint8_t *open) {
    for (int j = 0; j < map->ny; ++j) {
        for (int i = 0; i < map->nx; ++i) {
            size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
            for (int k = 4; k < 8; ++k) { // the other four see us from their side
                int x = i + neighbour_x[k], y = j + neighbour_y[k];
                if (x < 0 || x >= map->nx || y >= map->ny) continue;
                size_t n = (size_t)y * (size_t)map->nx + (size_t)x;
                if (!sees(scene, map->level, &floors[c], &floors[n])) continue;
                open[c] = (uint8_t)(open[c] | 1u << k);
                open[n] = (uint8_t)(open[n] | 1u << (7 - k));
            }
        }
    }
}

// The weighted sum over a cell and the neighbours it sees, in an array with a border.
static inline float spread(const float *values, int stride, unsigned open) {
    float sum = own_weight * *values;
    for (int k = 0; k < 8; ++k)
        if (open >> k & 1)
            sum += neighbour_weight[k] * values[neighbour_y[k] * stride + neighbour_x[k]];
    return sum;
}

// What is left of the floor after spreading it like people, for every cell. False: no memory.
static bool find_kernel_floor(const th_map *map, th_map_work *work) {
    int stride = map->nx + 2;
    size_t bordered = (size_t)stride * ((size_t)map->ny + 2);
    float *plain = calloc(bordered, sizeof *plain);
    if (!plain) return false;
    for (int pass = 0; pass < 3; ++pass) {
        for (int j = 0; j < map->ny; ++j) {
            for (int i = 0; i < map->nx; ++i) {
                size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
                size_t b = (size_t)(j + 1) * (size_t)stride + (size_t)(i + 1);
                if (pass == 0) plain[b] = map->walkable[c];
                if (pass == 1) work->once[b] = spread(&plain[b], stride, work->open[c]);
                if (pass < 2) continue;
                float floor = spread(&work->once[b], stride, work->open[c]);
                floor = floor > LEAST_FLOOR ? floor : LEAST_FLOOR;
                work->per_floor[c] = 1.0f / (floor * map->cell * map->cell);
            }
        }
    }
    memset(work->once, 0, bordered * sizeof *work->once);
    free(plain);
    return true;
}

static void forget_rows(const th_map *map, th_map_work *work) {
    for (int j = 0; j < map->ny + 2; ++j) {
        work->row_low[j] = map->nx + 1;
        work->row_high[j] = 0;
    }
}

bool th_map_create(const th_scene *scene, int level, double cell, th_map *map, th_map_work *work) {
    lay_grid(scene, level, cell, map);
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    cell_floor *floors = calloc(cells, sizeof *floors);
    if (!allocate(map, work) || !floors) {
        free(floors);
        return false;
    }
    for (int j = 0; j < map->ny; ++j)
        for (int i = 0; i < map->nx; ++i)
            floors[(size_t)j * (size_t)map->nx + (size_t)i] = floor_of(scene, map, i, j);
    for (size_t c = 0; c < cells; ++c) map->walkable[c] = floors[c].share;
    find_neighbours(scene, map, floors, work->open);
    forget_rows(map, work);
    free(floors);
    return find_kernel_floor(map, work);
}

// The columns within `reach` cells of somebody in rows within `reach` of this one; false: none.
static bool columns_around(const th_map *map, const th_map_work *work, int row, int reach, int *low,
                           int *high) {
    *low = map->nx + 1;
    *high = 0;
    for (int r = row - reach; r <= row + reach; ++r) {
        if (r < 1 || r > map->ny) continue;
        if (work->row_low[r] < *low) *low = work->row_low[r];
        if (work->row_high[r] > *high) *high = work->row_high[r];
    }
    if (*low > *high) return false;
    *low = *low > reach ? *low - reach : 1;
    *high = *high + reach < map->nx ? *high + reach : map->nx;
    return true;
}

static void take_cell(th_map *map, size_t c, float density, double interval) {
    map->density_sum[c] += (double)density;
    if (density > map->density_max[c]) map->density_max[c] = density;
    if (density > TH_DENSE) map->dense_time[c] += interval;
}

static float spread_people(const th_cell_now *now, int stride, unsigned open) {
    float sum = own_weight * now->count;
    for (int k = 0; k < 8; ++k)
        if (open >> k & 1)
            sum += neighbour_weight[k] * now[neighbour_y[k] * stride + neighbour_x[k]].count;
    return sum;
}

void th_map_take(th_map *map, th_map_work *work, double interval) {
    int stride = map->nx + 2, low, high;
    for (int row = 1; row <= map->ny; ++row) {
        if (!columns_around(map, work, row, 1, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t c = (size_t)(row - 1) * (size_t)map->nx + (size_t)(i - 1);
            size_t b = (size_t)row * (size_t)stride + (size_t)i;
            const th_cell_now *now = &work->now[b];
            work->once[b] = spread_people(now, stride, work->open[c]);
            if (now->count <= 0.0f) continue;
            map->person_count[c] += (double)now->count;
            map->speed_sum[c] += (double)now->speed;
            map->jam_time[c] += (double)now->jammed * interval;
        }
    }
    for (int row = 1; row <= map->ny; ++row) {
        if (!columns_around(map, work, row, 2, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t c = (size_t)(row - 1) * (size_t)map->nx + (size_t)(i - 1);
            float people = spread(&work->once[(size_t)row * (size_t)stride + (size_t)i], stride,
                                  work->open[c]);
            if (people > 0.0f && map->walkable[c] > 0.0f)
                take_cell(map, c, people * work->per_floor[c], interval);
        }
    }
    for (int row = 1; row <= map->ny; ++row) {
        if (!columns_around(map, work, row, 1, &low, &high)) continue;
        size_t first = (size_t)row * (size_t)stride + (size_t)low, count = (size_t)(high - low + 1);
        memset(&work->now[first], 0, count * sizeof *work->now);
        memset(&work->once[first], 0, count * sizeof *work->once);
    }
    forget_rows(map, work);
}
