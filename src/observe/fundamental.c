// Samples of an area over a recording, and their means per class of density. One pass over the frames, each as costly
// as its density method (density.c); a sample takes 48 bytes. SPDX-License-Identifier: Apache-2.0
#include "observe/fundamental.h"
#include "core/array.h"
#include "core/error.h"
#include "core/statistics.h"
#include "observe/density.h"
#include <math.h>
#include <stdlib.h>

th_fundamental_def th_fundamental_def_default(void) {
    return (th_fundamental_def){
        .motion = th_motion_def_default(), .density = th_density_def_default(), .every = 1};
}

const char *th_recorded_ground(const th_trajectory_info *info, int level) {
    return level >= 0 && level < info->level_count ? info->levels[level].wkt : NULL;
}

typedef struct reading {
    const th_fundamental_def *def;
    th_motion *motion;
    th_region *region;
    th_level_view crowd;
    th_fundamental_samples *samples;
    int room;
} reading;

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "",
                   "no memory for the samples; measure every n-th frame or fewer frames");
}

static bool add_sample(reading *work, th_fundamental_sample sample) {
    th_fundamental_samples *s = work->samples;
    if (!TH_RESERVE(s->samples, work->room, s->count + 1)) return false;
    s->samples[s->count++] = sample;
    return true;
}

static bool add_people(reading *work, const th_moment *moment, int count) {
    const th_level_view *crowd = &work->crowd;
    for (int i = 0; i < crowd->count; ++i) {
        double density = crowd->individual[i], speed = crowd->speed[i];
        if (isnan(density) || isnan(speed) ||
            !th_region_holds(work->region, crowd->x[i], crowd->y[i]))
            continue;
        if (!add_sample(work, (th_fundamental_sample){moment->number, moment->id[crowd->index[i]],
                                                      count, density, speed, density * speed}))
            return false;
    }
    return true;
}

static th_result take_moment(reading *work, const th_moment *moment, th_error *error) {
    th_level_view *crowd = &work->crowd;
    const th_level_view_def everybody = {.level = work->def->level,
                                         .direction = work->def->direction,
                                         .both_ways = work->def->both_ways};
    if (!th_level_view_fill(crowd, moment, &everybody)) return no_memory(error);
    th_area_reading area;
    bool individual = work->def->individual;
    th_result result =
        th_region_measure(work->region, &work->def->density, crowd->x, crowd->y, crowd->speed,
                          crowd->count, &area, individual ? crowd->individual : NULL, error);
    if (result != TH_OK) return result;
    if (individual) return add_people(work, moment, area.count) ? TH_OK : no_memory(error);
    if (isnan(area.speed)) return TH_OK;
    return add_sample(work, (th_fundamental_sample){moment->number, -1, area.count, area.density,
                                                    area.speed, area.flow})
               ? TH_OK
               : no_memory(error);
}

static th_result read_all(reading *work, const char *path, th_error *error) {
    const th_fundamental_def *def = work->def;
    th_result result = th_motion_open(path, &def->motion, &work->motion, error);
    if (result != TH_OK) return result;
    const th_trajectory_info *info = th_motion_about(work->motion);
    const char *walkable = def->walkable ? def->walkable : th_recorded_ground(info, def->level);
    result = th_region_create(walkable, def->area, &work->region, error);
    if (result != TH_OK) return result;
    work->samples->fps = info->fps;
    work->samples->area = th_region_area(work->region);
    int64_t every = def->every > 1 ? def->every : 1, seen = 0;
    for (;;) {
        th_moment moment;
        result = th_motion_next(work->motion, &moment, error);
        if (result != TH_OK || moment.count < 0) return result;
        if (seen++ % every == 0) result = take_moment(work, &moment, error);
        if (result != TH_OK) return result;
    }
}

th_result th_fundamental_read(const char *path, const th_fundamental_def *def,
                              th_fundamental_samples *samples, th_error *error) {
    *samples = (th_fundamental_samples){0};
    if (def->individual && def->density.method != TH_VORONOI)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "only the Voronoi method gives everybody a density of their own");
    reading work = {.def = def, .samples = samples};
    th_result result = read_all(&work, path, error);
    th_motion_close(work.motion);
    th_region_destroy(work.region);
    th_level_view_release(&work.crowd);
    if (result != TH_OK) th_fundamental_release(samples);
    return result;
}

void th_fundamental_release(th_fundamental_samples *samples) {
    free(samples->samples);
    *samples = (th_fundamental_samples){0};
}

th_fundamental_mean th_fundamental_mean_of(const th_fundamental_samples *samples) {
    th_fundamental_mean mean = {0};
    for (int i = 0; i < samples->count; ++i) {
        mean.density += samples->samples[i].density;
        mean.speed += samples->samples[i].speed;
        mean.flow += samples->samples[i].flow;
    }
    double count = samples->count > 0 ? (double)samples->count : (double)NAN;
    return (th_fundamental_mean){mean.density / count, mean.speed / count, mean.flow / count};
}

// ---- classes of density. Until finished a bin holds sums; standard_deviation then holds the sum of squares.

void th_fundamental_bins_add(const th_fundamental_samples *samples, double width,
                             th_fundamental_bin *bins, int bin_count) {
    for (int i = 0; i < samples->count; ++i) {
        const th_fundamental_sample *sample = &samples->samples[i];
        double place = floor(sample->density / width);
        if (!(place >= 0.0 && place < bin_count)) continue;
        th_fundamental_bin *bin = &bins[(int)place];
        bin->count++;
        bin->density += sample->density;
        bin->speed += sample->speed;
        bin->standard_deviation += sample->speed * sample->speed;
        bin->flow += sample->flow;
    }
}

void th_fundamental_bins_finish(double width, th_fundamental_bin *bins, int bin_count) {
    for (int b = 0; b < bin_count; ++b) {
        th_fundamental_bin *bin = &bins[b];
        double count = bin->count > 0 ? (double)bin->count : (double)NAN;
        bin->density = bin->count > 0 ? bin->density / count : (b + 0.5) * width;
        bin->standard_deviation =
            th_deviation_of_sums(bin->count, bin->speed, bin->standard_deviation);
        bin->speed /= count;
        bin->flow /= count;
    }
}
