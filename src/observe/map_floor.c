// Laying a map over a level: where the floor is, which cells see each other, how much floor the kernel finds.
// Done once per run; O(cells), cells cut by walls cost a hundred times more. SPDX-License-Identifier: Apache-2.0
#include "observe/map_kernel.h"
#include <stdlib.h>
#include <string.h>

// The floor share of a cell is told by the points of a Fibonacci lattice: no two of the 89 share a row or
// a column, so a wall along the axes is found to 1/89 of the cell, where as many on a grid give 1/9.
enum { MAP_CELLS_MAX = 4000000, FINE = 89, FINE_STEP = 55 };
#define LEAST_FLOOR 0.15f // [-]; a right-angled corner has 0.25

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
    map->crowd_pressure_sum = calloc(cells, sizeof *map->crowd_pressure_sum);
    map->crowd_pressure_count = calloc(cells, sizeof *map->crowd_pressure_count);
    map->crowd_pressure_max = calloc(cells, sizeof *map->crowd_pressure_max);
    map->turbulent_time = calloc(cells, sizeof *map->turbulent_time);
    work->now = calloc(bordered, sizeof *work->now);
    work->shared = calloc(bordered, TH_SUMS * sizeof *work->shared);
    work->once = calloc(bordered, TH_SUMS * sizeof *work->once);
    work->crowding = calloc(cells, sizeof *work->crowding);
    work->open = calloc(bordered, sizeof *work->open);
    work->per_floor = calloc(cells, sizeof *work->per_floor);
    work->row_low = calloc(rows, sizeof *work->row_low);
    work->row_high = calloc(rows, sizeof *work->row_high);
    return map->walkable && map->density_sum && map->density_max && map->speed_sum &&
           map->person_count && map->dense_time && map->jam_time && map->crowd_pressure_sum &&
           map->crowd_pressure_count && map->crowd_pressure_max && map->turbulent_time &&
           work->now && work->shared && work->once && work->crowding && work->open &&
           work->per_floor && work->row_low && work->row_high;
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

static void share_floor(const th_scene *scene, const th_map *map, th_map_work *work, int i, int j) {
    size_t b = bordered(map, i, j);
    int stride = map->nx + 2;
    float floor = map->walkable[plain(map, i, j)];
    const float point[TH_SUMS] = {[TH_SUM_PEOPLE] = 1.0f / FINE}; // floor takes the people's place
    bool whole = floor >= 1.0f;
    if (floor <= 0.0f) return;
    if (whole &&
        work->open[b] == ALL_OPEN) { // 1/8 3/4 1/8 in x and in y, as points all over it give
        const float side[3] = {0.125f, 0.75f, 0.125f};
        for (int n = 0; n < 9; ++n)
            work->shared[((ptrdiff_t)b + (n / 3 - 1) * stride + n % 3 - 1) * TH_SUMS] +=
                side[n / 3] * side[n % 3];
        return;
    }
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k);
        th_vec2 p = {map->min_x + ((float)i + at.x) * map->cell,
                     map->min_y + ((float)j + at.y) * map->cell};
        if (whole || th_scene_walkable(scene, map->level, p))
            share(work, stride, b, at.x - 0.5f, at.y - 0.5f, point);
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
                float sums[TH_SUMS];
                spread(&from[b * TH_SUMS], (ptrdiff_t)stride * TH_SUMS, work->open[b], sums);
                if (pass == 0) {
                    work->once[b * TH_SUMS] = sums[TH_SUM_PEOPLE];
                    continue;
                }
                float floor = fmaxf(sums[TH_SUM_PEOPLE], LEAST_FLOOR);
                work->per_floor[plain(map, i, j)] = 1.0f / (floor * map->cell * map->cell);
            }
        }
    }
    memset(work->shared, 0, all * TH_SUMS * sizeof *work->shared);
    memset(work->once, 0, all * TH_SUMS * sizeof *work->once);
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
    th_map_forget_rows(map, work);
    free(floors);
    return true;
}
