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
// Cost of a sample: O(people + cells of the rows between the first and the last person). Cost of a new map: O(cells);
// cells cut by walls cost a hundred times more.
// SPDX-License-Identifier: Apache-2.0
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_CELLS 14.8f // [-] effective area of the kernel, above, in cells
#define LEAST_PEOPLE 5.0f  // [-] on it; a variance of five is right to about a half

// ---- the kernel: which cells are neighbours, with which weights, and how something is shared and spread

// The eight neighbours, then the weights: bit k of `open` is neighbour k; 7 - k is the opposite one.
static const int neighbour_x[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int neighbour_y[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
static const float neighbour_weight[8] = {0.0625f, 0.125f,  0.0625f, 0.125f,
                                          0.125f,  0.0625f, 0.125f,  0.0625f};
static const float own_weight = 0.25f;
enum { ALL_OPEN = 255 };

static size_t bordered(const th_map *map, int i, int j) {
    return (size_t)(j + 1) * ((size_t)map->nx + 2) + (size_t)(i + 1);
}
static size_t plain(const th_map *map, int i, int j) {
    return (size_t)j * (size_t)map->nx + (size_t)i;
}

static void add_part(float *sums, const float amount[TH_SUMS], float part) {
    for (int s = 0; s < TH_SUMS; ++s) sums[s] += amount[s] * part;
}

// Shares `amount` at (fx, fy) from the middle of cell b, in cells, among the four nearest cells. What a
// neighbour behind a wall would get stays here.
static void share(th_map_work *work, int stride, size_t b, float fx, float fy,
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
static void spread(const float *values, ptrdiff_t row, unsigned open, float sums[TH_SUMS]) {
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

// ---- memory

void th_map_release(th_map *map) {
#define X(name) free(map->name);
    TH_MAP_SUMS(X)
#undef X
    free(map->walkable);
    th_map_forget_pressure(map);
    *map = (th_map){0};
}

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

// ---- a new map: where the floor is, which cells see each other, how much floor the kernel finds

static void forget_rows(const th_map *map, th_map_work *work) {
    for (int j = 0; j < map->ny; ++j) {
        work->row_low[j] = map->nx;
        work->row_high[j] = -1;
    }
}

enum { MAP_CELLS_MAX = 4000000, FINE = 89, FINE_STEP = 55 };
#define COMPARISONS_MAX 4e9 // some ten seconds
#define LEAST_FLOOR 0.15f   // [-]; a right-angled corner has 0.25

// The length of the ground's edges, and how far they go up and down together.
static void measure_edges(const th_polygons *shape, double *length, double *climb) {
    *length = *climb = 0.0;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            double dx = (double)shape->points[i].x - (double)shape->points[j].x;
            double dy = (double)shape->points[i].y - (double)shape->points[j].y;
            *length += hypot(dx, dy);
            *climb += fabs(dy);
        }
    }
}

// A cell that walls cut is looked at in 2 x FINE points, each of which is compared with the edges at its height.
// The usual cells unless that is too much (a comb of ten thousand teeth): then larger ones.
static void choose_grid(const th_scene_view *scene, int level, double cell, th_map *map) {
    const th_box *box = &scene->levels[level].box;
    double width = (double)box->max_x - (double)box->min_x;
    double height = (double)box->max_y - (double)box->min_y;
    double nx, ny, length, climb;
    measure_edges(&scene->levels[level].walkable, &length, &climb);
    double edges = height > 0.0 ? climb / height : 0.0; // at a height, in the mean
    for (;; cell *= 2.0) { // a hair less: a room of 10 m has 20 cells of 0.5 m, not 21
        nx = fmax(ceil(width / cell - 1e-3), 1.0);
        ny = fmax(ceil(height / cell - 1e-3), 1.0);
        double cut = fmin(nx * ny, 2.0 * length / cell);
        if (nx * ny <= MAP_CELLS_MAX && cut * (2 * FINE) * edges <= COMPARISONS_MAX) break;
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
    bool good = (map->walkable = calloc(cells, sizeof *map->walkable)) != NULL;
#define X(name) good = good && (map->name = calloc(cells, sizeof *map->name)) != NULL;
    TH_MAP_SUMS(X)
#undef X
    work->now = calloc(bordered, sizeof *work->now);
    work->shared = calloc(bordered, TH_SUMS * sizeof *work->shared);
    work->once = calloc(bordered, TH_SUMS * sizeof *work->once);
    work->crowding = calloc(cells, sizeof *work->crowding);
    work->open = calloc(bordered, sizeof *work->open);
    work->per_floor = calloc(cells, sizeof *work->per_floor);
    work->row_low = calloc(rows, sizeof *work->row_low);
    work->row_high = calloc(rows, sizeof *work->row_high);
    return good && work->now && work->shared && work->once && work->crowding && work->open &&
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

static cell_floor look_closely(const th_scene_view *scene, int level, th_vec2 corner, float cell) {
    th_vec2 on[FINE], mean = {0.0f, 0.0f};
    int count = 0;
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k), p = {corner.x + cell * at.x, corner.y + cell * at.y};
        if (!th_scene_walkable(scene->scene, level, p)) continue;
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
    floor.distance = th_scene_distance(scene->scene, level, floor.point);
    return floor;
}

static cell_floor floor_of(const th_scene_view *scene, const th_map *map, int i, int j) {
    th_vec2 corner = {map->min_x + (float)i * map->cell, map->min_y + (float)j * map->cell};
    th_vec2 middle = {corner.x + 0.5f * map->cell, corner.y + 0.5f * map->cell};
    float distance = th_scene_distance(scene->scene, map->level, middle);
    if (fabsf(distance) < 0.72f * map->cell) // a wall may cut the cell
        return look_closely(scene, map->level, corner, map->cell);
    return (cell_floor){middle, distance, distance > 0.0f ? 1.0f : 0.0f};
}

// No wall between two points: walks along as far as the next wall is away, so most pairs need no
// step at all. A wall is met at 1 cm; steps of 2 cm cannot jump over that.
static bool sees(const th_scene_view *scene, int level, const cell_floor *a, const cell_floor *b) {
    const float touching = 0.01f, least_step = 0.02f;
    if (a->share <= 0.0f || b->share <= 0.0f) return false;
    float dx = b->point.x - a->point.x, dy = b->point.y - a->point.y;
    float length = sqrtf(dx * dx + dy * dy);
    if (a->distance > length || b->distance > length) return true;
    for (float at = 0.0f; at < length;) {
        th_vec2 p = {a->point.x + dx * at / length, a->point.y + dy * at / length};
        float distance = th_scene_distance(scene->scene, level, p);
        if (distance <= touching) return false;
        at += distance > least_step ? distance : least_step;
    }
    return true;
}

static void find_neighbours(const th_scene_view *scene, const th_map *map, const cell_floor *floors,
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

static void share_floor(const th_scene_view *scene, const th_map *map, th_map_work *work, int i,
                        int j) {
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
        if (whole || th_scene_walkable(scene->scene, map->level, p))
            share(work, stride, b, at.x - 0.5f, at.y - 0.5f, point);
    }
}

// What the kernel finds of the floor, shared and spread like people, for every cell.
static void find_kernel_floor(const th_scene_view *scene, const th_map *map, th_map_work *work) {
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

bool th_map_create(const th_scene_view *scene, int level, double cell, th_map *map,
                   th_map_work *work) {
    choose_grid(scene, level, cell, map);
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

// ---- a sample

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
    if (person->doing != TH_DOING_WAIT && person->doing != TH_DOING_LIE) {
        now->speed += person->speed;
        now->walking += 1.0f;
    }
    now->jammed += person->doing == TH_DOING_JAM ? 1.0f : 0.0f;
    if (person->doing == TH_DOING_LIE)
        map->lying_count[(size_t)j * (size_t)map->nx + (size_t)i] += 1.0f;
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
    map->walker_count[c] += (double)now->walking;
    map->jam_time[c] += (double)now->jammed * interval;
}

static void take_density(th_map *map, size_t c, float density, double interval, bool late) {
    double dense = density > TH_DENSE ? interval : 0.0;
    map->density_sum[c] += (double)density;
    map->dense_time[c] += dense;
    if (late) map->density_late[c] += (double)density;
    if (late) map->dense_late[c] += dense;
    if (density > map->density_max[c]) map->density_max[c] = density;
}

void th_map_not_late(th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    memset(map->density_late, 0, cells * sizeof *map->density_late);
    memset(map->dense_late, 0, cells * sizeof *map->dense_late);
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
static void take_cells(th_map *map, th_map_work *work, double interval, bool late) {
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
            take_density(map, c, density, interval, late);
            take_crowd_pressure(map, c, sums, density, interval);
        }
    }
}

// People reach one cell around them when they are shared and one more each time they are spread.
void th_map_take(th_map *map, th_map_work *work, double interval, bool late) {
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
    take_cells(map, work, interval, late);
    for (int j = 0; j < map->ny; ++j) {
        if (!columns_around(map, work, j, 2, &low, &high)) continue;
        size_t first = bordered(map, low, j), count = (size_t)high - (size_t)low + 1;
        memset(&work->now[first], 0, count * sizeof *work->now);
        memset(&work->shared[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->shared);
        memset(&work->once[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->once);
    }
    forget_rows(map, work);
}

uint8_t th_map_crowding_at(const th_map *map, const th_map_work *work, float x, float y) {
    float column = (x - map->min_x) / map->cell, row = (y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny))
        return 0;
    return work->crowding[plain(map, (int)column, (int)row)];
}
