// Adding runs up. SPDX-License-Identifier: Apache-2.0
#include "measure/ensemble.h"
#include "core/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

th_result th_ensemble_init(th_ensemble *ensemble) {
    *ensemble = (th_ensemble){0};
    return TH_OK;
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory to add a run to the others");
}

// ---- one run in a few numbers

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// When 95 % of all who came had left: the time of the one who makes it so many. False: no memory.
static bool find_p95(const th_observation *o, double *p95) {
    *p95 = (double)NAN;
    uint64_t needed = (o->statistics.spawned * 95 + 99) / 100;
    if (needed == 0 || o->statistics.left < needed) return true;
    double *times = malloc(((size_t)o->person_count + 1) * sizeof *times);
    if (!times) return false;
    size_t count = 0;
    for (int p = 0; p < o->person_count; ++p)
        if (!isnan(o->people[p].end_time)) times[count++] = (double)o->people[p].end_time;
    qsort(times, count, sizeof *times, compare);
    // People leave at the end of a step; that undoes the rounding to float.
    if (count >= needed)
        *p95 = o->step > 0.0 ? round(times[needed - 1] / o->step) * o->step : times[needed - 1];
    free(times);
    return true;
}

static double mean_jam_time(const th_observation *o) {
    double sum = 0.0;
    int count = 0;
    for (int p = 0; p < o->person_count; ++p) {
        if (o->people[p].group < 0) continue;
        sum += (double)o->people[p].jam_time;
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

static double highest_density(const th_observation *o) {
    float highest = 0.0f;
    for (int m = 0; m < o->map_count; ++m) {
        const th_map *map = &o->maps[m];
        for (size_t c = 0; c < (size_t)map->nx * (size_t)map->ny; ++c)
            if (map->density_max[c] > highest) highest = map->density_max[c];
    }
    return o->map_count > 0 ? (double)highest : (double)NAN;
}

static bool sum_up(const th_observation *o, th_run_summary *run) {
    *run = (th_run_summary){.seed = o->seed,
                            .hash = o->hash,
                            .egress_time = th_egress_time(o),
                            .mean_jam_time = mean_jam_time(o),
                            .max_density = highest_density(o),
                            .largest_overlap = (double)o->statistics.largest_overlap,
                            .spawned = o->statistics.spawned,
                            .left = o->statistics.left,
                            .inside = o->statistics.inside,
                            .wall_crossings = o->statistics.wall_crossings,
                            .steps = o->statistics.steps,
                            .wall_seconds = o->wall_seconds,
                            .time = o->statistics.time,
                            .done = o->done,
                            .interrupted = o->interrupted,
                            .sample_count = o->sample_count};
    for (int k = 0; k < o->sample_count; ++k)
        if (o->overlapping[k] > run->overlapping_most) run->overlapping_most = o->overlapping[k];
    run->left_curve = malloc(((size_t)o->sample_count + 1) * sizeof *run->left_curve);
    if (!run->left_curve || !find_p95(o, &run->p95_time)) {
        free(run->left_curve);
        return false;
    }
    if (o->sample_count > 0)
        memcpy(run->left_curve, o->left, (size_t)o->sample_count * sizeof *run->left_curve);
    return true;
}

// ---- maps

static void *copy_of(const void *array, size_t bytes) {
    void *copy = malloc(bytes);
    if (copy) memcpy(copy, array, bytes);
    return copy;
}

static bool copy_map(const th_map *from, th_map *to) {
    size_t cells = (size_t)from->nx * (size_t)from->ny;
    *to = *from;
    to->walkable = copy_of(from->walkable, cells * sizeof *to->walkable);
    to->density_sum = copy_of(from->density_sum, cells * sizeof *to->density_sum);
    to->density_max = copy_of(from->density_max, cells * sizeof *to->density_max);
    to->speed_sum = copy_of(from->speed_sum, cells * sizeof *to->speed_sum);
    to->person_count = copy_of(from->person_count, cells * sizeof *to->person_count);
    to->dense_time = copy_of(from->dense_time, cells * sizeof *to->dense_time);
    to->jam_time = copy_of(from->jam_time, cells * sizeof *to->jam_time);
    return to->walkable && to->density_sum && to->density_max && to->speed_sum &&
           to->person_count && to->dense_time && to->jam_time;
}

// While there is one run its maps are the sum; with the second the sum needs its own.
static bool own_maps(th_ensemble *ensemble) {
    if (ensemble->maps != ensemble->first->maps || ensemble->map_count == 0) return true;
    th_map *maps = calloc((size_t)ensemble->map_count, sizeof *maps);
    bool copied = maps;
    for (int m = 0; copied && m < ensemble->map_count; ++m)
        copied = copy_map(&ensemble->first->maps[m], &maps[m]);
    if (copied) {
        ensemble->maps = maps;
        return true;
    }
    for (int m = 0; maps && m < ensemble->map_count; ++m) th_map_release(&maps[m]);
    free(maps);
    return false;
}

static bool same_grid(const th_map *a, const th_map *b) {
    return a->level == b->level && a->nx == b->nx && a->ny == b->ny &&
           !(a->min_x < b->min_x || a->min_x > b->min_x || a->min_y < b->min_y ||
             a->min_y > b->min_y || a->cell < b->cell || a->cell > b->cell);
}

static void add_map(th_map *sum, const th_map *map) {
    for (size_t c = 0; c < (size_t)map->nx * (size_t)map->ny; ++c) {
        sum->density_sum[c] += map->density_sum[c];
        sum->speed_sum[c] += map->speed_sum[c];
        sum->person_count[c] += map->person_count[c];
        sum->dense_time[c] += map->dense_time[c];
        sum->jam_time[c] += map->jam_time[c];
        if (map->density_max[c] > sum->density_max[c]) sum->density_max[c] = map->density_max[c];
    }
    sum->outside_count += map->outside_count;
}

static th_result add_maps(th_ensemble *ensemble, const th_observation *o, th_error *error) {
    bool fits = o->map_count == ensemble->map_count && o->interval >= ensemble->interval &&
                o->interval <= ensemble->interval;
    for (int m = 0; fits && m < o->map_count; ++m)
        fits = same_grid(&ensemble->maps[m], &o->maps[m]);
    if (!fits)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "runs of different scenes or intervals cannot be added up");
    if (!own_maps(ensemble)) return no_memory(error);
    for (int m = 0; m < o->map_count; ++m) add_map(&ensemble->maps[m], &o->maps[m]);
    ensemble->map_samples += o->sample_count;
    ensemble->map_runs++;
    return TH_OK;
}

// ---- adding

static th_result take_first(th_ensemble *ensemble, th_observation *o, th_error *error) {
    ensemble->first = malloc(sizeof *ensemble->first);
    if (!ensemble->first) return no_memory(error);
    *ensemble->first = *o;
    *o = (th_observation){0};
    ensemble->interval = ensemble->first->interval;
    ensemble->maps = ensemble->first->maps;
    ensemble->map_count = ensemble->first->map_count;
    ensemble->map_samples = ensemble->first->sample_count;
    ensemble->map_runs = 1;
    return TH_OK;
}

th_result th_ensemble_add(th_ensemble *ensemble, th_observation *o, th_error *error) {
    th_run_summary *runs =
        realloc(ensemble->runs, ((size_t)ensemble->run_count + 1) * sizeof *runs);
    if (!runs) return no_memory(error);
    ensemble->runs = runs;
    th_run_summary run;
    if (!sum_up(o, &run)) return no_memory(error);
    th_result result =
        ensemble->first ? add_maps(ensemble, o, error) : take_first(ensemble, o, error);
    if (result != TH_OK) {
        free(run.left_curve);
        return result;
    }
    runs[ensemble->run_count++] = run;
    return TH_OK;
}

void th_ensemble_release(th_ensemble *ensemble) {
    for (int r = 0; r < ensemble->run_count; ++r) free(ensemble->runs[r].left_curve);
    free(ensemble->runs);
    if (ensemble->first && ensemble->maps != ensemble->first->maps) {
        for (int m = 0; m < ensemble->map_count; ++m) th_map_release(&ensemble->maps[m]);
        free(ensemble->maps);
    }
    if (ensemble->first) th_observation_release(ensemble->first);
    free(ensemble->first);
    *ensemble = (th_ensemble){0};
}

th_sample_summary th_ensemble_egress(const th_ensemble *ensemble) {
    double *times = malloc(((size_t)ensemble->run_count + 1) * sizeof *times);
    if (!times) return th_summarise(NULL, 0);
    for (int r = 0; r < ensemble->run_count; ++r) times[r] = ensemble->runs[r].egress_time;
    th_sample_summary summary = th_summarise(times, ensemble->run_count);
    free(times);
    return summary;
}
