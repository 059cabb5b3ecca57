// Kernel density: which cells see each other, how people and floor are shared and spread.
// SPDX-License-Identifier: Apache-2.0
#include "core/kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEAK_WEIGHT (36.0f / 256.0f) // of a person's own cell, in the middle of it

// ---- the kernel: which cells are neighbours, with which weights, and how something is shared and spread

// The eight neighbours, then the weights: bit k of `open` is neighbour k; 7 - k is the opposite one.
static const int neighbour_x[8] = {-1, 0, 1, -1, 1, -1, 0, 1};
static const int neighbour_y[8] = {-1, -1, -1, 0, 0, 1, 1, 1};
static const float neighbour_weight[8] = {0.0625f, 0.125f,  0.0625f, 0.125f,
                                          0.125f,  0.0625f, 0.125f,  0.0625f};
static const float own_weight = 0.25f;
enum { ALL_OPEN = 255 };

static size_t bordered(const th_kernel *kernel, int i, int j) {
    return (size_t)(j + 1) * ((size_t)kernel->nx + 2) + (size_t)(i + 1);
}
static size_t plain(const th_kernel *kernel, int i, int j) {
    return (size_t)j * (size_t)kernel->nx + (size_t)i;
}

static void add_part(float *sums, const float amount[TH_SUMS], float part) {
    for (int s = 0; s < TH_SUMS; ++s) sums[s] += amount[s] * part;
}

// Cells that may be added to, of the arrays with a border: from .. to - 1.
typedef struct cell_part {
    size_t from, to;
} cell_part;

static void add_within(th_kernel_work *work, cell_part within, size_t cell,
                       const float amount[TH_SUMS], float part) {
    if (cell >= within.from && cell < within.to)
        add_part(&work->shared[cell * TH_SUMS], amount, part);
}

// Shares `amount` at (fx, fy) from the middle of cell b, in cells, among the four nearest cells. The share of a
// neighbour behind a wall stays here.
static void share(const th_kernel *kernel, th_kernel_work *work, int stride, cell_part within,
                  size_t b, float fx, float fy, const float amount[TH_SUMS]) {
    int sx = fx < 0.0f ? -1 : 1, sy = fy < 0.0f ? -1 : 1;
    float wx = fabsf(fx), wy = fabsf(fy);
    const int k[3] = {sx < 0 ? 3 : 4, sy < 0 ? 1 : 6, sy < 0 ? 1 + sx : 6 + sx};
    const float part[3] = {wx * (1.0f - wy), (1.0f - wx) * wy, wx * wy};
    float own = (1.0f - wx) * (1.0f - wy);
    unsigned open = kernel->open[b];
    for (int n = 0; n < 3; ++n) {
        ptrdiff_t to = (ptrdiff_t)b + neighbour_y[k[n]] * stride + neighbour_x[k[n]];
        if (open >> k[n] & 1)
            add_within(work, within, (size_t)to, amount, part[n]);
        else
            own += part[n];
    }
    add_within(work, within, b, amount, own);
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

void th_kernel_release(th_kernel *kernel) {
    free(kernel->walkable);
    free(kernel->floor);
    free(kernel->open);
    *kernel = (th_kernel){0};
}

void th_kernel_work_release(th_kernel_work *work) {
    free(work->shared);
    free(work->once);
    free(work->heads);
    free(work->row_low);
    free(work->row_high);
    *work = (th_kernel_work){0};
}

static void forget_rows(const th_kernel *kernel, th_kernel_work *work) {
    for (int j = 0; j < kernel->ny; ++j) {
        work->row_low[j] = kernel->nx;
        work->row_high[j] = -1;
    }
}

bool th_kernel_work_create(const th_kernel *kernel, th_kernel_work *work) {
    size_t rows = (size_t)kernel->ny + 2, cells = ((size_t)kernel->nx + 2) * rows;
    *work = (th_kernel_work){.shared = calloc(cells, TH_SUMS * sizeof *work->shared),
                             .once = calloc(cells, TH_SUMS * sizeof *work->once),
                             .heads = calloc(cells, sizeof *work->heads),
                             .row_low = calloc(rows, sizeof *work->row_low),
                             .row_high = calloc(rows, sizeof *work->row_high)};
    if (work->shared && work->once && work->heads && work->row_low && work->row_high) {
        forget_rows(kernel, work);
        return true;
    }
    th_kernel_work_release(work);
    return false;
}

// ---- a new kernel: where the floor is, which cells see each other, how much floor the kernel finds

enum { MAP_CELLS_MAX = 4000000, FINE = 89, FINE_STEP = 55 };
#define ALL_CELLS_MAX 16e6  // of all levels together; maps of sixty levels of 600 m took 4 GB
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

static double cells_of_levels(const th_scene_view *scene, double cell) {
    double cells = 0.0;
    for (int l = 0; l < scene->level_count; ++l) {
        const th_box *box = &scene->levels[l].box;
        cells += ceil(((double)box->max_x - (double)box->min_x) / cell) *
                 ceil(((double)box->max_y - (double)box->min_y) / cell);
    }
    return cells;
}

// A cell that walls cut is looked at in 2 x FINE points, each of which is compared with the edges at its height.
// The usual cells unless that is too much (a comb of ten thousand teeth): then larger ones.
static void choose_grid(const th_scene_view *scene, int level, double cell, const th_box *box,
                        th_kernel *kernel) {
    double width = (double)box->max_x - (double)box->min_x;
    double height = (double)box->max_y - (double)box->min_y;
    double nx, ny, length, climb;
    measure_edges(&scene->levels[level].walkable, &length, &climb);
    double edges = height > 0.0 ? climb / height : 0.0; // at a height, in the mean
    for (;; cell *= 2.0) { // a hair less: a room of 10 m has 20 cells of 0.5 m, not 21
        nx = fmax(ceil(width / cell - 1e-3), 1.0);
        ny = fmax(ceil(height / cell - 1e-3), 1.0);
        double cut = fmin(nx * ny, 2.0 * length / cell);
        if (nx * ny <= MAP_CELLS_MAX && cells_of_levels(scene, cell) <= ALL_CELLS_MAX &&
            cut * (2 * FINE) * edges <= COMPARISONS_MAX)
            break;
    }
    kernel->level = level;
    kernel->min_x = box->min_x;
    kernel->min_y = box->min_y;
    kernel->cell = (float)cell;
    kernel->nx = (int)nx;
    kernel->ny = (int)ny;
}

static th_vec2 fine_point(int k) { // in a cell of 1
    return (th_vec2){((float)k + 0.5f) / FINE, ((float)(k * FINE_STEP % FINE) + 0.5f) / FINE};
}

static th_cell_floor look_closely(const th_ground *ground, int level, th_vec2 corner, float cell) {
    th_vec2 on[FINE], mean = {0.0f, 0.0f};
    int count = 0;
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k), p = {corner.x + cell * at.x, corner.y + cell * at.y};
        if (!ground->walkable(ground->scene->scene, level, p)) continue;
        on[count++] = p;
        mean.x += p.x;
        mean.y += p.y;
    }
    th_cell_floor floor = {.share = (float)count / FINE};
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
    floor.distance = ground->distance(ground->scene->scene, level, floor.point);
    return floor;
}

static th_cell_floor floor_of(const th_ground *ground, const th_kernel *kernel, int i, int j) {
    th_vec2 corner = {kernel->min_x + (float)i * kernel->cell,
                      kernel->min_y + (float)j * kernel->cell};
    th_vec2 middle = {corner.x + 0.5f * kernel->cell, corner.y + 0.5f * kernel->cell};
    float distance = ground->distance(ground->scene->scene, kernel->level, middle);
    if (fabsf(distance) < 0.72f * kernel->cell) // a wall may cut the cell
        return look_closely(ground, kernel->level, corner, kernel->cell);
    return (th_cell_floor){middle, distance, distance > 0.0f ? 1.0f : 0.0f};
}

// No wall between two points: walks along as far as the next wall is away, so most pairs need no
// step at all. A wall is met at 1 cm; steps of 2 cm cannot jump over that.
static bool sees(const th_ground *ground, int level, const th_cell_floor *a,
                 const th_cell_floor *b) {
    const float touching = 0.01f, least_step = 0.02f;
    if (a->share <= 0.0f || b->share <= 0.0f) return false;
    float dx = b->point.x - a->point.x, dy = b->point.y - a->point.y;
    float length = sqrtf(dx * dx + dy * dy);
    if (a->distance > length || b->distance > length) return true;
    for (float at = 0.0f; at < length;) {
        th_vec2 p = {a->point.x + dx * at / length, a->point.y + dy * at / length};
        float distance = ground->distance(ground->scene->scene, level, p);
        if (distance <= touching) return false;
        at += distance > least_step ? distance : least_step;
    }
    return true;
}

static void find_neighbours(const th_ground *ground, const th_kernel *kernel,
                            const th_cell_floor *floors, uint8_t *open) {
    for (int j = 0; j < kernel->ny; ++j) {
        for (int i = 0; i < kernel->nx; ++i) {
            for (int k = 4; k < 8; ++k) { // the other four see this cell from their side
                int x = i + neighbour_x[k], y = j + neighbour_y[k];
                if (x < 0 || x >= kernel->nx || y >= kernel->ny) continue;
                if (!sees(ground, kernel->level, &floors[plain(kernel, i, j)],
                          &floors[plain(kernel, x, y)]))
                    continue;
                uint8_t *here = &open[bordered(kernel, i, j)],
                        *there = &open[bordered(kernel, x, y)];
                *here = (uint8_t)(*here | 1u << k);
                *there = (uint8_t)(*there | 1u << (7 - k));
            }
        }
    }
}

static void share_floor(const th_ground *ground, const th_kernel *kernel, th_kernel_work *work,
                        int i, int j) {
    size_t b = bordered(kernel, i, j);
    int stride = kernel->nx + 2;
    float floor = kernel->walkable[plain(kernel, i, j)];
    const float point[TH_SUMS] = {[TH_SUM_PEOPLE] = 1.0f / FINE}; // floor takes the people's place
    bool whole = floor >= 1.0f;
    if (floor <= 0.0f) return;
    if (whole &&
        kernel->open[b] == ALL_OPEN) { // 1/8 3/4 1/8 in x and in y, as points all over it give
        const float side[3] = {0.125f, 0.75f, 0.125f};
        for (int n = 0; n < 9; ++n)
            work->shared[((ptrdiff_t)b + (n / 3 - 1) * stride + n % 3 - 1) * TH_SUMS] +=
                side[n / 3] * side[n % 3];
        return;
    }
    for (int k = 0; k < FINE; ++k) {
        th_vec2 at = fine_point(k);
        th_vec2 p = {kernel->min_x + ((float)i + at.x) * kernel->cell,
                     kernel->min_y + ((float)j + at.y) * kernel->cell};
        if (whole || ground->walkable(ground->scene->scene, kernel->level, p))
            share(kernel, work, stride, (cell_part){0, SIZE_MAX}, b, at.x - 0.5f, at.y - 0.5f,
                  point);
    }
}

// Computes the floor under the kernel of every cell, shared and spread like people.
static void find_kernel_floor(const th_ground *ground, const th_kernel *kernel,
                              th_kernel_work *work) {
    int stride = kernel->nx + 2;
    size_t all = (size_t)stride * ((size_t)kernel->ny + 2);
    for (int j = 0; j < kernel->ny; ++j)
        for (int i = 0; i < kernel->nx; ++i) share_floor(ground, kernel, work, i, j);
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < kernel->ny; ++j) {
            for (int i = 0; i < kernel->nx; ++i) {
                size_t b = bordered(kernel, i, j);
                const float *from = pass == 0 ? work->shared : work->once;
                float sums[TH_SUMS];
                spread(&from[b * TH_SUMS], (ptrdiff_t)stride * TH_SUMS, kernel->open[b], sums);
                if (pass == 0) {
                    work->once[b * TH_SUMS] = sums[TH_SUM_PEOPLE];
                    continue;
                }
                kernel->floor[plain(kernel, i, j)] = fmaxf(sums[TH_SUM_PEOPLE], LEAST_FLOOR);
            }
        }
    }
    memset(work->shared, 0, all * TH_SUMS * sizeof *work->shared);
    memset(work->once, 0, all * TH_SUMS * sizeof *work->once);
}

// Everything that is constant, into memory that is there and zero.
static void find_floor(const th_ground *ground, th_kernel *kernel, th_cell_floor *floors,
                       th_kernel_work *work) {
    size_t cells = (size_t)kernel->nx * (size_t)kernel->ny;
    for (int j = 0; j < kernel->ny; ++j)
        for (int i = 0; i < kernel->nx; ++i)
            floors[plain(kernel, i, j)] = floor_of(ground, kernel, i, j);
    for (size_t c = 0; c < cells; ++c) kernel->walkable[c] = floors[c].share;
    find_neighbours(ground, kernel, floors, kernel->open);
    find_kernel_floor(ground, kernel, work);
}

bool th_kernel_make(const th_ground *ground, int level, double cell, const th_box *box,
                    th_kernel *kernel) {
    *kernel = (th_kernel){0};
    choose_grid(ground->scene, level, cell, box ? box : &ground->scene->levels[level].box, kernel);
    size_t cells = (size_t)kernel->nx * (size_t)kernel->ny;
    th_cell_floor *floors = calloc(cells, sizeof *floors);
    th_kernel_work work = {0};
    kernel->walkable = calloc(cells, sizeof *kernel->walkable);
    kernel->floor = calloc(cells, sizeof *kernel->floor);
    kernel->open = calloc(((size_t)kernel->nx + 2) * ((size_t)kernel->ny + 2), 1);
    bool made = floors && kernel->walkable && kernel->floor && kernel->open &&
                th_kernel_work_create(kernel, &work);
    if (made) find_floor(ground, kernel, floors, &work);
    th_kernel_work_release(&work);
    free(floors);
    return made;
}

bool th_kernel_window(const th_ground *ground, int level, double cell, th_vec2 point,
                      th_kernel_room *room) {
    th_kernel *kernel = &room->kernel;
    memset(room, 0, sizeof *room);
    choose_grid(ground->scene, level, cell, &ground->scene->levels[level].box, kernel);
    int at = th_kernel_cell(kernel, point.x, point.y);
    if (at < 0) return false;
    int column = at % kernel->nx - TH_WINDOW, row = at / kernel->nx - TH_WINDOW;
    int low_x = column > 0 ? column : 0, low_y = row > 0 ? row : 0;
    int high_x = column + 2 * TH_WINDOW, high_y = row + 2 * TH_WINDOW;
    kernel->min_x += (float)low_x * kernel->cell;
    kernel->min_y += (float)low_y * kernel->cell;
    kernel->nx = (high_x < kernel->nx ? high_x + 1 : kernel->nx) - low_x;
    kernel->ny = (high_y < kernel->ny ? high_y + 1 : kernel->ny) - low_y;
    kernel->walkable = room->walkable;
    kernel->floor = room->floor;
    kernel->open = room->open;
    room->work =
        (th_kernel_work){room->shared, room->once, room->heads, room->row_low, room->row_high, 1};
    forget_rows(kernel, &room->work);
    find_floor(ground, kernel, room->floors, &room->work);
    return true;
}

// ---- a moment

int th_kernel_cell(const th_kernel *kernel, float x, float y) {
    float column = (x - kernel->min_x) / kernel->cell, row = (y - kernel->min_y) / kernel->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)kernel->nx && row < (float)kernel->ny))
        return -1;
    return (int)row * kernel->nx + (int)column;
}

void th_kernel_note(const th_kernel *kernel, th_kernel_work *work, float x, float y) {
    int cell = th_kernel_cell(kernel, x, y);
    if (cell < 0) return;
    int i = cell % kernel->nx, j = cell / kernel->nx;
    uint8_t *heads = &work->heads[bordered(kernel, i, j)];
    if (*heads < UINT8_MAX) ++*heads;
    if (i < work->row_low[j]) work->row_low[j] = i;
    if (i > work->row_high[j]) work->row_high[j] = i;
}

bool th_kernel_alone(const th_kernel *kernel, const th_kernel_work *work, float x, float y) {
    int cell = th_kernel_cell(kernel, x, y), reach = (int)ceilf(TH_ALONE / kernel->cell);
    if (cell < 0) return false;
    int i = cell % kernel->nx, j = cell / kernel->nx;
    if (work->heads[bordered(kernel, i, j)] != 1) return false;
    for (int row = j - reach; row <= j + reach; ++row) {
        if (row < 0 || row >= kernel->ny || work->row_high[row] < 0) continue;
        for (int column = i - reach; column <= i + reach; ++column)
            if (column >= 0 && column < kernel->nx && (column != i || row != j) &&
                work->heads[bordered(kernel, column, row)] > 0)
                return false;
    }
    return true;
}

// The same as share() where all is open, without asking for each neighbour. Column and row in cells.
static void share_open(th_kernel_work *work, int stride, cell_part within, float column, float row,
                       const float amount[TH_SUMS]) {
    float u = column + 0.5f, v = row + 0.5f; // from the middles of the border's cells
    float fu = u - floorf(u), fv = v - floorf(v);
    size_t low = (size_t)v * (size_t)stride + (size_t)u, high = low + (size_t)stride;
    if (low >= within.from && low < within.to) { // whole rows: its neighbour as well
        add_part(&work->shared[low * TH_SUMS], amount, (1.0f - fu) * (1.0f - fv));
        add_part(&work->shared[(low + 1) * TH_SUMS], amount, fu * (1.0f - fv));
    }
    if (high < within.from || high >= within.to) return;
    add_part(&work->shared[high * TH_SUMS], amount, (1.0f - fu) * fv);
    add_part(&work->shared[(high + 1) * TH_SUMS], amount, fu * fv);
}

bool th_kernel_put(const th_kernel *kernel, th_kernel_work *work, float x, float y,
                   th_vec2 velocity, bool alone) {
    return th_kernel_put_in(kernel, work, (th_row_range){0, kernel->ny}, x, y, velocity, alone);
}

bool th_kernel_put_in(const th_kernel *kernel, th_kernel_work *work, th_row_range rows, float x,
                      float y, th_vec2 velocity, bool alone) {
    int cell = th_kernel_cell(kernel, x, y);
    if (cell < 0) return false;
    int i = cell % kernel->nx, j = cell / kernel->nx, stride = kernel->nx + 2;
    float column = (x - kernel->min_x) / kernel->cell, row = (y - kernel->min_y) / kernel->cell;
    size_t b = bordered(kernel, i, j);
    float counts =
        TH_ALONE_DENSITY * kernel->cell * kernel->cell * kernel->floor[cell] / PEAK_WEIGHT;
    const float amount[TH_SUMS] = {1.0f, velocity.x, velocity.y,
                                   sqrtf(velocity.x * velocity.x + velocity.y * velocity.y),
                                   alone ? fmaxf(1.0f - counts, 0.0f) : 0.0f};
    // The first rows have the border below them, the last ones that above.
    size_t first = rows.from > 0 ? (size_t)rows.from + 1 : 0,
           end = rows.to < kernel->ny ? (size_t)rows.to + 1 : (size_t)kernel->ny + 2;
    const cell_part within = {first * (size_t)stride, end * (size_t)stride};
    if (kernel->open[b] == ALL_OPEN)
        share_open(work, stride, within, column, row, amount);
    else
        share(kernel, work, stride, within, b, column - (float)i - 0.5f, row - (float)j - 0.5f,
              amount);
    if (j < rows.from || j >= rows.to) return true;
    if (i < work->row_low[j]) work->row_low[j] = i;
    if (i > work->row_high[j]) work->row_high[j] = i;
    return true;
}

// The columns within `reach` cells of a person in rows within `reach` of this one; false: none.
bool th_kernel_columns(const th_kernel *kernel, const th_kernel_work *work, int row, int reach,
                       int *low, int *high) {
    *low = kernel->nx;
    *high = -1;
    for (int r = row - reach; r <= row + reach; ++r) {
        if (r < 0 || r >= kernel->ny) continue;
        if (work->row_low[r] < *low) *low = work->row_low[r];
        if (work->row_high[r] > *high) *high = work->row_high[r];
    }
    if (*low > *high) return false;
    *low = *low > reach ? *low - reach : 0;
    *high = *high + reach < kernel->nx ? *high + reach : kernel->nx - 1;
    return true;
}

// People reach one cell around them when they are shared and one more each time they are spread.
void th_kernel_spread(const th_kernel *kernel, th_kernel_work *work) {
    ptrdiff_t row = ((ptrdiff_t)kernel->nx + 2) * TH_SUMS;
#pragma omp parallel for num_threads(work->threads > 1 ? work->threads : 1) schedule(dynamic, 16)
    for (int j = 0; j < kernel->ny; ++j) {
        int low, high;
        if (!th_kernel_columns(kernel, work, j, 2, &low, &high)) continue;
        for (int i = low; i <= high; ++i) {
            size_t b = bordered(kernel, i, j);
            spread(&work->shared[b * TH_SUMS], row, kernel->open[b], &work->once[b * TH_SUMS]);
        }
    }
}

void th_kernel_read(const th_kernel *kernel, const th_kernel_work *work, int column, int row,
                    float sums[TH_SUMS]) {
    size_t b = bordered(kernel, column, row);
    spread(&work->once[b * TH_SUMS], ((ptrdiff_t)kernel->nx + 2) * TH_SUMS, kernel->open[b], sums);
}

float th_kernel_mean(const th_kernel *kernel, size_t cell, const float sums[TH_SUMS]) {
    return sums[TH_SUM_PEOPLE] / (kernel->floor[cell] * kernel->cell * kernel->cell);
}

float th_kernel_density(const th_kernel *kernel, size_t cell, const float sums[TH_SUMS]) {
    float people = fmaxf(sums[TH_SUM_PEOPLE] - sums[TH_SUM_ALONE], 0.0f);
    return people / (kernel->floor[cell] * kernel->cell * kernel->cell);
}

void th_kernel_clear(const th_kernel *kernel, th_kernel_work *work) {
#pragma omp parallel for num_threads(work->threads > 1 ? work->threads : 1) schedule(dynamic, 16)
    for (int j = 0; j < kernel->ny; ++j) {
        int low, high;
        if (!th_kernel_columns(kernel, work, j, 2, &low, &high)) continue;
        size_t first = bordered(kernel, low, j), count = (size_t)high - (size_t)low + 1;
        memset(&work->heads[first], 0, count * sizeof *work->heads);
        memset(&work->shared[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->shared);
        memset(&work->once[first * TH_SUMS], 0, count * TH_SUMS * sizeof *work->once);
    }
    forget_rows(kernel, work);
}
