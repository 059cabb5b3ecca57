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
#include "measure/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The floor share of a cell is told by the points of a Fibonacci lattice: no two of the 89 share a row or
// a column, so a wall along the axes is found to 1/89 of the cell, where as many on a grid give 1/9.
enum { MAP_CELLS_MAX = 4000000, FINE = 89, FINE_STEP = 55 };
#define LEAST_FLOOR 0.15f // [-]; a right-angled corner has 0.25

// The eight neighbours, then the weights: bit k of `open` is neighbour k; 7 - k is the opposite one.
static const int neighbour_x[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int neighbour_y[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
static const float neighbour_weight[8] = {0.0625f, 0.125f,  0.0625f, 0.125f,
                                          0.125f,  0.0625f, 0.125f,  0.0625f};
static const float own_weight = 0.25f;
enum { ALL_OPEN = 255 };

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
    size_t rows = (size_t)map->ny + 2, bordered = ((size_t)map->nx + 2) * rows;
    map->walkable = calloc(cells, sizeof *map->walkable);
    map->density_sum = calloc(cells, sizeof *map->density_sum);
    map->density_max = calloc(cells, sizeof *map->density_max);
    map->speed_sum = calloc(cells, sizeof *map->speed_sum);
    map->person_count = calloc(cells, sizeof *map->person_count);
    map->dense_time = calloc(cells, sizeof *map->dense_time);
    map->jam_time = calloc(cells, sizeof *map->jam_time);
    work->now = calloc(bordered, sizeof *work->now);
    work->shared = calloc(bordered, sizeof *work->shared);
    work->once = calloc(bordered, sizeof *work->once);
    work->open = calloc(bordered, sizeof *work->open);
    work->per_floor = calloc(cells, sizeof *work->per_floor);
    work->row_low = calloc(rows, sizeof *work->row_low);
    work->row_high = calloc(rows, sizeof *work->row_high);
    return map->walkable && map->density_sum && map->density_max && map->speed_sum &&
           map->person_count && map->dense_time && map->jam_time && work->now && work->shared &&
           work->once && work->open && work->per_floor && work->row_low && work->row_high;
}

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

// The floor of a cell: its share, a point on it (in the middle of the floor) and how far that point is
// from a wall. Without floor the share is 0.
typedef struct cell_floor {
    th_vec2 point;
    float distance, share;
} cell_floor;

static th_vec2 fine_point(int k) { // in a cell of 1
    return (th_vec2){((float)k + 0.5f) / FINE, ((float)(k * FINE_STEP % FINE) + 0.5f) / FINE};
}

static cell_floor look_closely(const th_scene *scene, int level, th_vec2 corner, float cell) {
    th_vec2 on[FINE], mean = {0.0f, 0.0f};
    int count = 0;
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k), p = {corner.x + cell * at.x, corner.y + cell * at.y};
        if (!th_scene_walkable(scene, level, p)) continue;
        on[count++] = p;
        mean.x += p.x;
        mean.y += p.y;
    }
    cell_floor floor = {.share = (float)count / FINE};
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

static size_t bordered(const th_map *map, int i, int j) {
    return (size_t)(j + 1) * ((size_t)map->nx + 2) + (size_t)(i + 1);
}
static size_t plain(const th_map *map, int i, int j) {
    return (size_t)j * (size_t)map->nx + (size_t)i;
}

static void find_neighbours(const th_scene *scene, const th_map *map, const cell_floor *floors,
                            uint8_t *open) {
    for (int j = 0; j < map->ny; ++j) {
        for (int i = 0; i < map->nx; ++i) {
            for (int k = 4; k < 8; ++k) { // the other four see us from their side
                int x = i + neighbour_x[k], y = j + neighbour_y[k];
                if (x < 0 || x >= map->nx || y >= map->ny) continue;
                if (!sees(scene, map->level, &floors[plain(map, i, j)], &floors[plain(map, x, y)]))
                    continue;
                uint8_t *here = &open[bordered(map, i, j)], *there = &open[bordered(map, x, y)];
                *here = (uint8_t)(*here | 1u << k);
                *there = (uint8_t)(*there | 1u << (7 - k));
            }
        }
    }
}

// Shares `amount` at (fx, fy) from the middle of cell b, in cells, among the four nearest cells. What a
// neighbour behind a wall would get stays here.
static inline void share(th_map_work *work, int stride, size_t b, float fx, float fy,
                         float amount) {
    int sx = fx < 0.0f ? -1 : 1, sy = fy < 0.0f ? -1 : 1;
    float wx = fabsf(fx), wy = fabsf(fy);
    const int k[3] = {sx < 0 ? 3 : 4, sy < 0 ? 1 : 6, sy < 0 ? 1 + sx : 6 + sx};
    const float part[3] = {wx * (1.0f - wy), (1.0f - wx) * wy, wx * wy};
    float own = (1.0f - wx) * (1.0f - wy);
    unsigned open = work->open[b];
    for (int n = 0; n < 3; ++n) {
        if (open >> k[n] & 1)
            work->shared[(ptrdiff_t)b + neighbour_y[k[n]] * stride + neighbour_x[k[n]]] +=
                amount * part[n];
        else
            own += part[n];
    }
    work->shared[b] += amount * own;
}

// The weighted sum over a cell and the neighbours it sees.
static inline float spread(const float *values, int stride, unsigned open) {
    float sum = own_weight * *values;
    if (open == ALL_OPEN) { // most cells; the same sum without eight questions
        const float *below = values - stride, *above = values + stride;
        sum += 0.125f * ((below[0] + above[0]) + (values[-1] + values[1]));
        return sum + 0.0625f * ((below[-1] + below[1]) + (above[-1] + above[1]));
    }
    for (int k = 0; k < 8; ++k)
        if (open >> k & 1)
            sum += neighbour_weight[k] * values[neighbour_y[k] * stride + neighbour_x[k]];
    return sum;
}

static void share_floor(const th_scene *scene, const th_map *map, th_map_work *work, int i, int j) {
    size_t b = bordered(map, i, j);
    int stride = map->nx + 2;
    float floor = map->walkable[plain(map, i, j)];
    bool whole = floor >= 1.0f;
    if (floor <= 0.0f) return;
    if (whole &&
        work->open[b] == ALL_OPEN) { // 1/8 3/4 1/8 in x and in y, as points all over it give
        const float side[3] = {0.125f, 0.75f, 0.125f};
        for (int n = 0; n < 9; ++n)
            work->shared[(ptrdiff_t)b + (n / 3 - 1) * stride + n % 3 - 1] +=
                side[n / 3] * side[n % 3];
        return;
    }
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k);
        th_vec2 p = {map->min_x + ((float)i + at.x) * map->cell,
                     map->min_y + ((float)j + at.y) * map->cell};
        if (whole || th_scene_walkable(scene, map->level, p))
            share(work, stride, b, at.x - 0.5f, at.y - 0.5f, 1.0f / FINE);
    }
}

// What the kernel finds of the floor, shared and spread like people, for every cell.
static void find_kernel_floor(const th_scene *scene, const th_map *map, th_map_work *work) {
    int stride = map->nx + 2;
    size_t all = (size_t)stride * ((size_t)map->ny + 2);
    for (int j = 0; j < map->ny; ++j)
        for (int i = 0; i < map->nx; ++i) share_floor(scene, map, work, i, j);
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < map->ny; ++j) {
            for (int i = 0; i < map->nx; ++i) {
                size_t b = bordered(map, i, j);
                const float *from = pass == 0 ? work->shared : work->once;
                float floor = spread(&from[b], stride, work->open[b]);
                if (pass == 0) {
                    work->once[b] = floor;
                    continue;
                }
                floor = floor > LEAST_FLOOR ? floor : LEAST_FLOOR;
                work->per_floor[plain(map, i, j)] = 1.0f / (floor * map->cell * map->cell);
            }
        }
    }
    memset(work->shared, 0, all * sizeof *work->shared);
    memset(work->once, 0, all * sizeof *work->once);
}

static void forget_rows(const th_map *map, th_map_work *work) {
    for (int j = 0; j < map->ny; ++j) {
        work->row_low[j] = map->nx;
        work->row_high[j] = -1;
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
        for (int i = 0; i < map->nx; ++i) floors[plain(map, i, j)] = floor_of(scene, map, i, j);
    for (size_t c = 0; c < cells; ++c) map->walkable[c] = floors[c].share;
    find_neighbours(scene, map, floors, work->open);
    find_kernel_floor(scene, map, work);
    forget_rows(map, work);
    free(floors);
    return true;
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
    forget_rows(map, work);
}
