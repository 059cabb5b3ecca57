// Maps over samples: density, speed, jams and crowd pressure, on the cells of the kernel (core/kernel.h).
//
// Crowd pressure as Helbing, Johansson and Al-Abideen define it (2007, Phys. Rev. E 75, 046109): mean density times the
// variance over time of the local velocity V, which is the kernel's mean of the people's velocities,
// P(r) = <rho> (<V . V> - <V> . <V>). Means over time are exponential with TH_PRESSURE_TIME. Neighbours who walk at
// different speeds make no pressure; a crowd that is pushed to and fro does. The variance among neighbours at one moment
// is five times larger in calm crowds before doors (docs/reports.md).
// A velocity is the way since the sample before over the interval: what a model reports is of one short step, in a
// packed crowd of some models mostly shuffling that leads nowhere and that no video would show.
// Where the kernel holds fewer than LEAST_PEOPLE people the means start again: two people are not a crowd.
// Cost of a sample: O(people + cells of the rows between the first and the last person).
// SPDX-License-Identifier: Apache-2.0
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PEOPLE 5.0f // [-] on the kernel's area

// ---- memory

void th_map_release(th_map *map) {
#define X(name) free(map->name);
    TH_MAP_SUMS(X)
#undef X
    free(map->walkable);
    free(map->motion);
    free(map->frames.density);
    free(map->frames.speed);
    free(map->frames.walkers);
    th_map_forget_pressure(map);
    *map = (th_map){0};
}

void th_map_work_release(th_map_work *work) {
    free(work->now);
    free(work->crowding);
    th_kernel_release(&work->kernel);
    th_kernel_work_release(&work->sums);
    *work = (th_map_work){0};
}

static bool allocate_frames(const th_map *map, const th_scene_view *scene, th_map_frames *frames) {
    *frames = (th_map_frames){.stride = 1, .width = TH_FRAME_SAMPLES};
    frames->chosen = scene->map_time_count;
    memcpy(frames->chosen_times, scene->map_times, sizeof scene->map_times);
    do {
        frames->nx = (map->nx + frames->stride - 1) / frames->stride;
        frames->ny = (map->ny + frames->stride - 1) / frames->stride;
    } while ((double)frames->nx * frames->ny > TH_FRAME_BLOCKS && ++frames->stride);
    size_t blocks = TH_FRAMES * (size_t)frames->nx * (size_t)frames->ny;
    frames->density = calloc(blocks, sizeof *frames->density);
    frames->speed = calloc(blocks, sizeof *frames->speed);
    frames->walkers = calloc(blocks, sizeof *frames->walkers);
    return frames->density && frames->speed && frames->walkers;
}

static bool allocate(th_map *map, const th_scene_view *scene, th_map_work *work) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    if (!allocate_frames(map, scene, &map->frames)) return false;
    bool good = (map->walkable = calloc(cells, sizeof *map->walkable)) != NULL;
#define X(name) good = good && (map->name = calloc(cells, sizeof *map->name)) != NULL;
    TH_MAP_SUMS(X)
#undef X
    map->motion = calloc(cells, sizeof *map->motion);
    work->now = calloc(cells, sizeof *work->now);
    work->crowding = calloc(cells, sizeof *work->crowding);
    return good && map->motion && work->now && work->crowding;
}

bool th_map_create(const th_scene_view *scene, int level, double cell, const th_box *box,
                   th_map *map, th_map_work *work) {
    if (!th_kernel_create(scene, level, cell, box, &work->kernel)) return false;
    const th_kernel *kernel = &work->kernel;
    *map = (th_map){.level = level,
                    .min_x = kernel->min_x,
                    .min_y = kernel->min_y,
                    .cell = kernel->cell,
                    .nx = kernel->nx,
                    .ny = kernel->ny};
    if (!th_kernel_work_create(kernel, &work->sums) || !allocate(map, scene, work)) return false;
    memcpy(map->walkable, kernel->walkable,
           (size_t)map->nx * (size_t)map->ny * sizeof *map->walkable);
    return true;
}

// ---- a sample

void th_map_note(th_map_work *work, const th_last_seen *person) {
    th_kernel_note(&work->kernel, &work->sums, person->x, person->y);
}

void th_map_put(th_map *map, th_map_work *work, const th_last_seen *person) {
    if (th_kernel_cell(&work->kernel, person->x, person->y) < 0)
        map->outside_count += 1.0;
    else
        th_map_put_in(map, work, (th_row_range){0, map->ny}, person);
}

void th_map_put_in(th_map *map, th_map_work *work, th_row_range rows, const th_last_seen *person) {
    const th_kernel *kernel = &work->kernel;
    bool alone = th_kernel_alone(kernel, &work->sums, person->x, person->y);
    int c = th_kernel_cell(kernel, person->x, person->y);
    th_kernel_put_in(kernel, &work->sums, rows, person->x, person->y, person->velocity, alone);
    if (c < rows.from * map->nx || c >= rows.to * map->nx) return;
    th_cell_now *now = &work->now[c];
    now->count += 1.0f;
    if (person->doing != TH_DOING_WAIT && person->doing != TH_DOING_LIE) {
        now->speed += person->speed;
        now->walking += 1.0f;
    }
    now->jammed += person->doing == TH_DOING_JAM ? 1.0f : 0.0f;
    if (person->doing == TH_DOING_LIE) map->lying_count[c] += 1.0f;
}

// ---- frames

static void halve(float *values, size_t blocks) {
    for (int f = 0; f < TH_FRAMES; ++f) {
        const float *from = values + 2 * (size_t)f * blocks;
        for (size_t b = 0; b < blocks; ++b)
            values[(size_t)f * blocks + b] = f < TH_FRAMES / 2 ? from[b] + from[blocks + b] : 0.0f;
    }
}

void th_map_halve_frames(th_map_frames *frames) {
    size_t blocks = (size_t)frames->nx * (size_t)frames->ny;
    halve(frames->density, blocks);
    halve(frames->speed, blocks);
    halve(frames->walkers, blocks);
    frames->width *= 2;
}

static size_t block_of(const th_map *map, size_t c) {
    size_t stride = (size_t)map->frames.stride, nx = (size_t)map->nx;
    if (stride == 1) return c;
    return c / nx / stride * (size_t)map->frames.nx + c % nx / stride;
}

static const size_t NO_FRAME = SIZE_MAX;

// Where the blocks of the next sample's frame begin.
static size_t next_frame(th_map_frames *frames, double interval) {
    int sample = frames->samples++, frame = 0;
    if (frames->chosen > 0) {
        while (frame < frames->chosen &&
               lround(frames->chosen_times[frame] / interval) != (long)sample)
            ++frame;
        if (frame == frames->chosen) return NO_FRAME;
    } else {
        if (sample / frames->width >= TH_FRAMES) th_map_halve_frames(frames);
        frame = sample / frames->width;
    }
    return (size_t)frame * (size_t)frames->nx * (size_t)frames->ny;
}

static void take_people(th_map *map, size_t c, const th_cell_now *now, double interval,
                        size_t frame) {
    if (frame != NO_FRAME) {
        map->frames.speed[frame + block_of(map, c)] += now->speed;
        map->frames.walkers[frame + block_of(map, c)] += now->walking;
    }
    map->person_count[c] += (double)now->count;
    map->speed_sum[c] += (double)now->speed;
    map->walker_count[c] += (double)now->walking;
    map->jam_time[c] += (double)now->jammed * interval;
}

static void take_density(th_map *map, size_t c, float density, float mean, double interval,
                         bool late, size_t frame) {
    if (frame != NO_FRAME)
        map->frames.density[frame + block_of(map, c)] +=
            mean / (float)(map->frames.stride * map->frames.stride);
    double dense = density > TH_DENSE ? interval : 0.0;
    map->density_sum[c] += (double)mean;
    map->dense_time[c] += dense;
    if (late) map->density_late[c] += (double)mean;
    if (late) map->dense_late[c] += dense;
    if (density > map->density_max[c]) map->density_max[c] = density;
}

void th_map_not_late(th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    memset(map->density_late, 0, cells * sizeof *map->density_late);
    memset(map->dense_late, 0, cells * sizeof *map->dense_late);
}

// Means of density and local velocity so far, and its variance (West 1979, with a constant weight).
static void move_on(th_cell_motion *m, float density, th_vec2 v, double interval) {
    if (!(m->density > 0.0f)) {
        *m = (th_cell_motion){density, v, 0.0f};
        return;
    }
    float weight = 1.0f - (float)exp(-interval / TH_PRESSURE_TIME);
    th_vec2 off = {v.x - m->velocity.x, v.y - m->velocity.y};
    m->density += weight * (density - m->density);
    m->velocity.x += weight * off.x;
    m->velocity.y += weight * off.y;
    m->variance = (1.0f - weight) * (m->variance + weight * (off.x * off.x + off.y * off.y));
}

// Returns whether it is turbulent there.
static bool take_crowd_pressure(th_map *map, size_t c, const float sums[TH_SUMS], float density,
                                double interval) {
    float people = sums[TH_SUM_PEOPLE];
    th_cell_motion *motion = &map->motion[c];
    if (people * TH_KERNEL_CELLS < LEAST_PEOPLE) {
        *motion = (th_cell_motion){0};
        return false;
    }
    th_vec2 v = {sums[TH_SUM_VELOCITY_X] / people, sums[TH_SUM_VELOCITY_Y] / people};
    move_on(motion, density, v, interval);
    float pressure = motion->density * motion->variance;
    map->crowd_pressure_sum[c] += (double)pressure;
    map->crowd_pressure_count[c] += 1.0f;
    if (pressure > map->crowd_pressure_max[c]) map->crowd_pressure_max[c] = pressure;
    bool turbulent = (double)pressure > TH_TURBULENT && motion->density > TH_PACKED;
    if (turbulent) map->turbulent_time[c] += interval;
    return turbulent;
}

// Updates the motion of the map's cells. Cells without people near start again from zero.
static void take_row(th_map *map, th_map_work *work, int j, double interval, bool late,
                     size_t frame, bool above[TH_SPANS]) {
    const th_kernel *kernel = &work->kernel;
    int low, high;
    bool any = th_kernel_columns(kernel, &work->sums, j, 3, &low, &high);
    th_cell_motion *motion = &map->motion[(size_t)j * (size_t)map->nx];
    if (!any) low = map->nx, high = map->nx - 1;
    memset(motion, 0, (size_t)low * sizeof *motion);
    memset(motion + high + 1, 0, (size_t)(map->nx - 1 - high) * sizeof *motion);
    for (int i = low; i <= high; ++i) {
        size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
        float sums[TH_SUMS];
        th_kernel_read(kernel, &work->sums, i, j, sums);
        if (!(sums[TH_SUM_PEOPLE] > 0.0f && map->walkable[c] > 0.0f)) {
            map->motion[c] = (th_cell_motion){0};
            continue;
        }
        float density = th_kernel_density(kernel, c, sums);
        work->crowding[c] = th_crowding_of(density);
        above[TH_SPAN_DENSE] |= density > TH_DENSE;
        above[TH_SPAN_PACKED] |= density > TH_PACKED;
        above[TH_SPAN_DEADLY] |= density > TH_DEADLY;
        take_density(map, c, density, th_kernel_mean(kernel, c, sums), interval, late, frame);
        above[TH_SPAN_TURBULENT] |= take_crowd_pressure(map, c, sums, density, interval);
    }
}

static void count_row(th_map *map, th_map_work *work, int j, double interval, size_t frame) {
    for (int i = work->sums.row_low[j]; i <= work->sums.row_high[j]; ++i) {
        size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
        if (work->now[c].count > 0.0f) take_people(map, c, &work->now[c], interval, frame);
        work->now[c] = (th_cell_now){0};
    }
}

static int team_of(const th_map_work *work) {
    return work->sums.threads > 1 ? work->sums.threads : 1;
}

void th_map_take(th_map *map, th_map_work *work, double interval, bool late) {
    size_t columns = (size_t)map->nx;
    th_kernel_spread(&work->kernel, &work->sums);
    unsigned above = 0; // a bit for each span
    size_t frame = next_frame(&map->frames, interval);
    int band = map->frames.stride; // rows that add to the same blocks belong to one thread
#pragma omp parallel for num_threads(team_of(work)) schedule(dynamic, 16) reduction(| : above)
    for (int b = 0; b < map->frames.ny; ++b) {
        bool found[TH_SPANS] = {false};
        for (int j = b * band; j < (b + 1) * band && j < map->ny; ++j) {
            memset(&work->crowding[(size_t)j * columns], 0, columns);
            count_row(map, work, j, interval, frame);
            take_row(map, work, j, interval, late, frame, found);
        }
        for (int k = 0; k < TH_SPANS; ++k) above |= found[k] ? 1u << k : 0u;
    }
    for (int k = 0; k < TH_SPANS; ++k) work->above[k] = above >> k & 1;
    th_kernel_clear(&work->kernel, &work->sums);
}

uint8_t th_map_crowding_at(const th_map_work *work, float x, float y) {
    int cell = th_kernel_cell(&work->kernel, x, y);
    return cell < 0 ? 0 : work->crowding[cell];
}
