// SPDX-License-Identifier: Apache-2.0
#include "report/findings.h"
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdlib.h>

static th_place middle_of(const th_scene *scene, const th_map *map, int cell) {
    return (th_place){
        .level = map->level,
        .x = scene->origin.x + (double)map->min_x + (cell % map->nx + 0.5) * (double)map->cell,
        .y = scene->origin.y + (double)map->min_y + (cell / map->nx + 0.5) * (double)map->cell};
}

th_density_findings th_find_densities(const th_scene *scene, const th_ensemble *ensemble) {
    th_density_findings found = {.highest_at = {.level = -1}, .dense_at = {.level = -1}};
    double time = 0.0, longest = 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) time += ensemble->runs[r].time;
    for (int m = 0; m < ensemble->map_count; ++m) {
        const th_map *map = &ensemble->maps[m];
        found.cell = fmax(found.cell, (double)map->cell);
        found.outside_count += map->outside_count;
        for (int c = 0; c < map->nx * map->ny; ++c) {
            if ((double)map->density_max[c] > found.highest) {
                found.highest = (double)map->density_max[c];
                found.highest_at = middle_of(scene, map, c);
            }
            if (map->dense_time[c] > longest) {
                longest = map->dense_time[c];
                found.dense_at = middle_of(scene, map, c);
            }
            if (time > 0.0 && map->dense_time[c] > TH_IMO_SHARE * time)
                found.significant_area += (double)(map->walkable[c] * map->cell * map->cell);
        }
    }
    if (ensemble->map_runs > 0) found.dense_time = longest / ensemble->map_runs;
    if (time > 0.0) found.dense_share = longest / time;
    return found;
}

// The largest of a map's values so far; `values` NULL: it has none.
static void find_largest(const th_scene *scene, const th_map *map, const float *values,
                         const float *known, double *largest, th_place *at) {
    for (int c = 0; values && c < map->nx * map->ny; ++c) {
        if ((known && !(known[c] > 0.0f)) || (double)values[c] <= *largest) continue;
        *largest = (double)values[c];
        if (values[c] > 0.0f) *at = middle_of(scene, map, c);
    }
}

th_pressure_findings th_find_pressures(const th_scene *scene, const th_ensemble *ensemble) {
    const th_place nowhere = {.level = -1};
    th_pressure_findings found = {(double)NAN, nowhere, (double)NAN, nowhere, 0.0, nowhere};
    for (int m = 0; m < ensemble->map_count; ++m) {
        const th_map *map = &ensemble->maps[m];
        find_largest(scene, map, map->pressure_max, NULL, &found.pressure, &found.pressure_at);
        find_largest(scene, map, map->crowd_pressure_max, map->crowd_pressure_count,
                     &found.crowd_pressure, &found.crowd_pressure_at);
        for (int c = 0; c < map->nx * map->ny; ++c) {
            if (!(map->turbulent_time[c] > found.turbulent_time)) continue;
            found.turbulent_time = map->turbulent_time[c];
            found.turbulent_at = middle_of(scene, map, c);
        }
    }
    if (ensemble->map_runs > 0) found.turbulent_time /= ensemble->map_runs;
    return found;
}

static float above_4(const th_person *person) { return person->exposure[0]; }
static float above_6(const th_person *person) { return person->exposure[1]; }
static float above_8(const th_person *person) { return person->exposure[2]; }

th_value_list th_exposure_values(const th_observation *observation, int bound) {
    static th_person_value *const values[TH_EXPOSURES] = {above_4, above_6, above_8};
    return th_people_values(observation, values[bound]);
}

th_exposure_findings th_find_exposure(const th_observation *observation, int bound) {
    th_value_list list = th_exposure_values(observation, bound);
    th_exposure_findings found = {0, (double)NAN, (double)NAN, (double)NAN};
    double sum = 0.0;
    for (int i = 0; i < list.count; ++i) {
        sum += list.values[i];
        found.people += list.values[i] > 0.0;
    }
    if (list.count > 0) {
        found.mean = sum / list.count;
        found.p95 = th_quantile(list.values, list.count, 0.95);
        found.max = list.values[list.count - 1];
    }
    free(list.values);
    return found;
}

double th_counter_mean_flow(const th_counter *counter) {
    uint64_t crossings = counter->forward_total + counter->backward_total;
    double duration = counter->last_time - counter->first_time;
    return crossings >= 2 && duration > 0.0 ? (double)(crossings - 1) / duration : (double)NAN;
}

th_stranded th_find_stranded(const th_scene *scene, const th_observation *o, int group) {
    th_stranded stranded = {.group = group, .centre = {.level = -1}};
    int most = 0;
    for (int i = 0; i < o->left_behind_count; ++i)
        stranded.count += o->left_behind[i].group == group;
    for (int level = 0; level < scene->level_count && stranded.count > 0; ++level) {
        double x = 0.0, y = 0.0;
        int count = 0;
        for (int i = 0; i < o->left_behind_count; ++i) {
            const th_left_behind *person = &o->left_behind[i];
            if (person->group != group || person->level != level) continue;
            x += (double)person->x;
            y += (double)person->y;
            count++;
        }
        if (count <= most) continue;
        most = count;
        stranded.centre =
            (th_place){level, scene->origin.x + x / count, scene->origin.y + y / count};
    }
    return stranded;
}

const char *th_member_of(const th_scene *scene, int group) {
    int scripted = group - scene->group_count;
    if (group >= 0 && group < scene->group_count) return scene->groups[group].id;
    return scripted >= 0 && scripted < scene->scripted_count ? scene->scripted[scripted].id : "";
}
