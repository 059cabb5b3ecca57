// Fundamental diagrams and surveys of recordings. SPDX-License-Identifier: Apache-2.0
#include "observe/survey.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/statistics.h"
#include "observe/density.h"
#include "observe/findings.h"
#include "observe/region.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- fundamental diagrams

// Samples of an area over a recording, and their means per class of density. One pass over the frames, each as costly
// as its density method (density.c); a sample takes 48 bytes.

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

static th_result no_memory_for_samples(th_error *error) {
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
    const th_level_view_def all = {.level = work->def->level,
                                   .direction = work->def->direction,
                                   .both_ways = work->def->both_ways};
    if (!th_level_view_fill(crowd, moment, &all)) return no_memory_for_samples(error);
    th_area_reading area;
    bool individual = work->def->individual;
    th_result result =
        th_region_measure(work->region, &work->def->density, crowd->x, crowd->y, crowd->speed,
                          crowd->count, &area, individual ? crowd->individual : NULL, error);
    if (result != TH_OK) return result;
    if (individual)
        return add_people(work, moment, area.count) ? TH_OK : no_memory_for_samples(error);
    if (isnan(area.speed)) return TH_OK;
    return add_sample(work, (th_fundamental_sample){moment->number, -1, area.count, area.density,
                                                    area.speed, area.flow})
               ? TH_OK
               : no_memory_for_samples(error);
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
                       "only the Voronoi method gives each person a density of its own");
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

// ---- surveys

// One pass over a recording: every moment goes to walkers, distances and lines, every n-th to the areas. It keeps a row
// per area and measured moment, and a few hundred bytes per person.

const char *th_density_method_name(th_density_method method) {
    static const char *const names[TH_DENSITY_METHODS] = {"classic", "voronoi", "gaussian"};
    return names[method];
}

th_survey_def th_survey_def_default(void) {
    th_density_def density = th_density_def_default();
    return (th_survey_def){.motion = th_motion_def_default(),
                           .method = {true, false, false},
                           .cut_off = density.cut_off,
                           .width = density.width,
                           .every = 1,
                           .radius = 0.2, // throng's own default [m]
                           .service = &th_services[0]};
}

typedef struct pass {
    th_survey *survey;
    th_motion *motion;
    th_region *everywhere; // for each person's own density; NULL: not asked for
    th_level_view view;
} pass;

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "",
                   "no memory for what is measured; measure fewer frames or areas");
}

// ---- areas

static const th_map *map_of(const th_survey *survey) {
    const th_observation *o = survey->observer ? th_observer_observation(survey->observer) : NULL;
    return o && survey->def.level < o->map_count ? &o->maps[survey->def.level] : NULL;
}

// The share of a cell in the area, by nine points.
static float share_in(const th_region *region, const th_map *map, th_point origin, int cell) {
    enum { SIDE = 3 };
    th_point low = {origin.x + (double)map->min_x + cell % map->nx * (double)map->cell,
                    origin.y + (double)map->min_y + cell / map->nx * (double)map->cell};
    double size = (double)map->cell;
    if (low.x > region->area.high.x || low.y > region->area.high.y ||
        low.x + size < region->area.low.x || low.y + size < region->area.low.y)
        return 0.0f;
    int within = 0;
    for (int k = 0; k < SIDE * SIDE; ++k)
        within += th_region_holds(region, low.x + (k % SIDE + 0.5) / SIDE * size,
                                  low.y + (k / SIDE + 0.5) / SIDE * size);
    return (float)within / (SIDE * SIDE);
}

// `whole`: the area is all of the ground.
static bool find_cells(const th_survey *survey, th_survey_area *area, bool whole) {
    const th_map *map = map_of(survey);
    if (!map) return true;
    th_point origin = th_scene_view_of(survey->scene)->origin;
    int room = 0, share_room = 0;
    for (int c = 0; c < map->nx * map->ny; ++c) {
        if (!(map->walkable[c] > 0.0f)) continue;
        float share = whole ? 1.0f : share_in(area->region, map, origin, c);
        if (!(share > 0.0f)) continue;
        if (!TH_RESERVE(area->cells, room, area->cell_count + 1) ||
            !TH_RESERVE(area->shares, share_room, area->cell_count + 1))
            return false;
        area->cells[area->cell_count] = c;
        area->shares[area->cell_count++] = share;
    }
    return true;
}

static double crowd_pressure(const th_survey *survey, const th_survey_area *area) {
    const th_map *map = map_of(survey);
    double sum = 0.0, weight = 0.0;
    for (int k = 0; map && k < area->cell_count; ++k) {
        const th_cell_motion *motion = &map->motion[area->cells[k]];
        if (!(motion->density > 0.0f)) continue;
        sum += (double)(area->shares[k] * motion->density * motion->variance);
        weight += (double)area->shares[k];
    }
    return weight > 0.0 ? sum / weight : (double)NAN;
}

static bool add_row(th_survey_area *area, const th_survey_row *row) {
    if (!TH_RESERVE(area->rows, area->room, area->count + 1)) return false;
    area->rows[area->count++] = *row;
    return true;
}

static th_result measure_area(const pass *work, th_survey_area *area, const th_moment *moment,
                              th_error *error) {
    const th_survey_def *def = &work->survey->def;
    const th_level_view *view = &work->view;
    th_survey_row row = {.frame = moment->number, .time = moment->time};
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!def->method[m]) continue;
        th_density_def density = {(th_density_method)m, def->cut_off, def->width};
        th_result result = th_region_measure(area->region, &density, view->x, view->y, view->speed,
                                             view->count, &row.by[m], NULL, error);
        if (result != TH_OK) return result;
        row.count = row.by[m].count;
    }
    row.crowd_pressure = crowd_pressure(work->survey, area);
    return add_row(area, &row) ? TH_OK : no_memory(error);
}

// A person's own density gives its level of service, which holds until the next measured moment.
static th_result measure_people(pass *work, th_error *error) {
    th_survey *survey = work->survey;
    const th_level_view *view = &work->view;
    th_area_reading ignored;
    th_density_def density = {TH_VORONOI, survey->def.cut_off, survey->def.width};
    th_result result = th_region_measure(work->everywhere, &density, view->x, view->y, view->speed,
                                         view->count, &ignored, view->individual, error);
    double time = (double)survey->def.every / survey->fps;
    for (int k = 0; result == TH_OK && k < view->count; ++k) {
        if (isnan(view->individual[k])) continue;
        int level = th_service_level(survey->def.service, view->individual[k]);
        survey->walkers->all[survey->walkers->now[view->index[k]]].service[level] += time;
        survey->service[level] += time;
    }
    return result;
}

// ---- the pass

static th_result see_moment(pass *work, const th_moment *moment, th_error *error) {
    th_survey *survey = work->survey;
    bool memory =
        th_walkers_see(survey->walkers, moment) && th_spacing_see(survey->spacing, moment);
    for (int l = 0; memory && l < survey->line_count; ++l)
        memory = th_line_see(&survey->lines[l], survey->walkers, moment);
    if (!memory) return no_memory(error);
    th_result seen =
        survey->observer ? th_observer_see_moment(survey->observer, moment, error) : TH_OK;
    if (seen != TH_OK) return seen;
    if (survey->moments == 0) {
        survey->first_frame = moment->number;
        survey->first_time = moment->time;
    }
    survey->last_frame = moment->number;
    survey->last_time = moment->time;
    if (moment->count > survey->most_people) survey->most_people = moment->count;
    if (survey->moments++ % survey->def.every != 0) return TH_OK;
    const th_level_view_def all = {.level = survey->def.level,
                                   .direction = survey->def.direction,
                                   .both_ways = survey->def.both_ways};
    if (!th_level_view_fill(&work->view, moment, &all)) return no_memory(error);
    th_result result = TH_OK;
    if (work->everywhere && survey->def.method[TH_VORONOI]) result = measure_people(work, error);
    for (int a = 0; result == TH_OK && a < survey->area_count; ++a)
        result = measure_area(work, &survey->areas[a], moment, error);
    return result;
}

static th_result pass_over(pass *work, th_error *error) {
    th_survey *survey = work->survey;
    const th_trajectory_info *info = th_motion_about(work->motion);
    const th_motion_def *frames = &survey->def.motion;
    int64_t first = frames->first > info->first_frame ? frames->first : info->first_frame;
    int64_t last =
        frames->last >= 0 && frames->last < info->last_frame ? frames->last : info->last_frame;
    for (;;) {
        th_moment moment;
        th_result result = th_motion_next(work->motion, &moment, error);
        if (result != TH_OK || moment.count < 0) return result;
        result = see_moment(work, &moment, error);
        if (result != TH_OK) return result;
        double share =
            last > first ? (double)(moment.number - first) / (double)(last - first) : 1.0;
        if (survey->def.progress && !survey->def.progress(share, survey->def.context)) {
            survey->stopped = true;
            return TH_OK;
        }
    }
}

// ---- before and after

static th_result make_areas(th_survey *survey, const char *walkable, th_error *error) {
    const th_survey_def *def = &survey->def;
    const th_survey_area_def everywhere = {.name = "everywhere"};
    const th_survey_area_def *areas = def->areas;
    int area_count = def->area_count;
    if (area_count == 0 && def->line_count == 0 && walkable) { // then all of the ground
        areas = &everywhere;
        area_count = 1;
    }
    survey->areas = calloc((size_t)area_count + 1, sizeof *survey->areas);
    survey->lines = calloc((size_t)def->line_count + 1, sizeof *survey->lines);
    if (!survey->areas || !survey->lines) return no_memory(error);
    for (int a = 0; a < area_count; ++a) {
        th_survey_area *area = &survey->areas[survey->area_count++];
        area->name = areas[a].name;
        th_result result = th_region_create(walkable, areas[a].wkt, &area->region, error);
        if (result != TH_OK) {
            if (error && strcmp(error->path, "area") == 0)
                snprintf(error->path, sizeof error->path, "area %.100s", area->name);
            return result;
        }
        area->size = th_region_area(area->region);
        if (!find_cells(survey, area, !areas[a].wkt)) return no_memory(error);
    }
    for (int l = 0; l < def->line_count; ++l) {
        const th_survey_line_def *line = &def->lines[l];
        survey->lines[survey->line_count++] =
            (th_line_watch){.a = line->a, .b = line->b, .level = def->level};
        if (!(th_line_width(&survey->lines[l]) > 0.0))
            return th_fail(error, TH_BAD_ARGUMENT, line->name, "a line needs two different ends");
    }
    return TH_OK;
}

// Walkable ground, or where nothing is known of it the box around all people.
static th_result make_everywhere(pass *work, const char *walkable, th_error *error) {
    const th_trajectory_info *info = th_motion_about(work->motion);
    // Where walls are given the region is made even if nothing needs it: faults in the walls show here.
    if (!walkable && (!work->survey->def.method[TH_VORONOI] || info->row_count == 0)) return TH_OK;
    char box[256];
    snprintf(box, sizeof box, "POLYGON ((%.3f %.3f, %.3f %.3f, %.3f %.3f, %.3f %.3f, %.3f %.3f))",
             info->min_x - 1, info->min_y - 1, info->max_x + 1, info->min_y - 1, info->max_x + 1,
             info->max_y + 1, info->min_x - 1, info->max_y + 1, info->min_x - 1, info->min_y - 1);
    return th_region_create(walkable, walkable ? NULL : box, &work->everywhere, error);
}

static th_result prepare(pass *work, const char *path, th_error *error) {
    th_survey *survey = work->survey;
    th_result result = th_motion_open(path, &survey->def.motion, &work->motion, error);
    if (result != TH_OK) return result;
    const th_trajectory_info *info = th_motion_about(work->motion);
    if (survey->def.level > 0 && survey->def.level >= info->level_count)
        return th_fail(error, TH_BAD_ARGUMENT, "level",
                       "there is no level %d; the recording has %d", survey->def.level,
                       info->level_count);
    const char *walkable =
        survey->def.walkable ? survey->def.walkable : th_recorded_ground(info, survey->def.level);
    survey->fps = info->fps;
    survey->has_ground = walkable != NULL;
    survey->walkers = th_walkers_create();
    survey->spacing = th_spacing_create(survey->def.radius);
    if (!survey->walkers || !survey->spacing) return no_memory(error);
    result = th_recording_observer_create(info, survey->def.walkable, &survey->scene,
                                          &survey->observer, &survey->trouble);
    if (result == TH_NO_MEMORY) return no_memory(error);
    result = make_areas(survey, walkable, error);
    return result == TH_OK ? make_everywhere(work, walkable, error) : result;
}

th_result th_survey_make(const char *path, const th_survey_def *def, th_survey **out,
                         th_error *error) {
    *out = NULL;
    th_survey *survey = calloc(1, sizeof *survey);
    if (!survey) return no_memory(error);
    survey->def = *def;
    if (survey->def.every < 1) survey->def.every = 1;
    pass work = {.survey = survey};
    th_result result = prepare(&work, path, error);
    if (result == TH_OK) result = pass_over(&work, error);
    th_motion_close(work.motion);
    th_region_destroy(work.everywhere);
    th_level_view_release(&work.view);
    if (result != TH_OK) {
        th_survey_destroy(survey);
        return result;
    }
    for (int l = 0; l < survey->line_count && result == TH_OK; ++l)
        if (!th_line_finish(&survey->lines[l], survey->walkers, 1.0 / survey->fps,
                            survey->last_time))
            result = no_memory(error);
    if (result == TH_OK && survey->observer)
        result = th_observer_finish_recording(survey->observer, error);
    if (result != TH_OK) {
        th_survey_destroy(survey);
        return result;
    }
    survey->distances = th_spacing_finish(survey->spacing);
    *out = survey;
    return TH_OK;
}

void th_survey_destroy(th_survey *survey) {
    if (!survey) return;
    for (int a = 0; a < survey->area_count; ++a) {
        th_region_destroy(survey->areas[a].region);
        free(survey->areas[a].rows);
        free(survey->areas[a].cells);
        free(survey->areas[a].shares);
    }
    th_observer_destroy(survey->observer);
    th_scene_destroy(survey->scene);
    for (int l = 0; l < survey->line_count; ++l) th_line_release(&survey->lines[l]);
    free(survey->areas);
    free(survey->lines);
    th_walkers_destroy(survey->walkers);
    th_spacing_destroy(survey->spacing);
    free(survey);
}

th_result th_survey_findings(const th_survey *survey, th_findings **findings, th_error *error) {
    *findings = NULL;
    if (!survey->observer) {
        if (error) *error = survey->trouble;
        return survey->trouble.code;
    }
    return th_observation_findings(th_scene_view_of(survey->scene), NULL,
                                   th_observer_observation(survey->observer), true, findings,
                                   error);
}

th_survey_mean th_survey_mean_of(const th_survey *survey, int area, th_density_method method) {
    const th_survey_area *measured = &survey->areas[area];
    th_survey_mean mean = {0};
    for (int r = 0; r < measured->count; ++r) {
        const th_area_reading *moment = &measured->rows[r].by[method];
        mean.service[th_service_level(survey->def.service, moment->density)] +=
            1.0 / measured->count;
        mean.highest_density = fmax(mean.highest_density, moment->density);
        if (isnan(moment->speed)) continue;
        mean.moments++;
        mean.density += moment->density;
        mean.speed += moment->speed;
        mean.flow += moment->flow;
    }
    double moments = mean.moments > 0 ? (double)mean.moments : (double)NAN;
    mean.density /= moments;
    mean.speed /= moments;
    mean.flow /= moments;
    return mean;
}

th_survey_pressure th_survey_pressure_of(const th_survey *survey, int area) {
    const th_survey_area *measured = &survey->areas[area];
    double sum = 0.0, most = (double)NAN;
    int count = 0;
    for (int r = 0; r < measured->count; ++r) {
        double pressure = measured->rows[r].crowd_pressure;
        if (isnan(pressure)) continue;
        sum += pressure;
        most = fmax(most, pressure); // fmax leaves the NaN it begins with
        ++count;
    }
    return (th_survey_pressure){count > 0 ? sum / count : (double)NAN, most};
}

th_survey_people th_survey_people_of(const th_survey *survey) {
    const th_walkers *walkers = survey->walkers;
    th_survey_people sum = {0};
    int ratios = 0;
    for (int i = 0; i < walkers->count; ++i) {
        double ratio = th_walker_detour(&walkers->all[i]);
        sum.wait_time += walkers->all[i].wait_time;
        sum.jam_time += walkers->all[i].jam_time;
        if (isnan(ratio)) continue;
        sum.path_ratio += ratio;
        ++ratios;
    }
    double count = walkers->count > 0 ? (double)walkers->count : (double)NAN;
    return (th_survey_people){sum.wait_time / count, sum.jam_time / count,
                              ratios > 0 ? sum.path_ratio / ratios : (double)NAN};
}
