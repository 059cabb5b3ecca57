// Numbers that tables, warnings and sentences share, and the warnings themselves. Cost: O(cells + people).
// SPDX-License-Identifier: Apache-2.0
#include "report/findings.h"
#include "core/array.h"
#include "core/error.h"
#include "report/figures.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

// ---- warnings

#define OVERLAP_TOO_DEEP 0.05 // [m]

typedef struct warner {
    th_warnings *warnings;
    bool failed;
} warner;

__attribute__((format(printf, 2, 3))) static void warn(warner *w, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = NULL;
    int length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0 || !TH_RESERVE_ONE(w->warnings->texts, w->warnings->count)) {
        if (length >= 0) free(text);
        w->failed = true;
        return;
    }
    w->warnings->texts[w->warnings->count++] = text;
}

static const char *people(uint64_t count) { return count == 1 ? "person" : "people"; }

// "In this run" or "In 3 of 20 runs".
static void how_many(char *words, size_t size, int some, int all) {
    if (all == 1)
        snprintf(words, size, "In this run");
    else
        snprintf(words, size, "In %d of %d runs", some, all);
}

static void warn_of_ends(warner *w, const th_report_def *def) {
    const th_ensemble *ensemble = def->ensemble;
    int unfinished = 0, interrupted = 0, known = th_ensemble_egress(ensemble).count;
    uint64_t most_inside = 0;
    bool until_empty = def->scene->run.duration <= 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        interrupted += run->interrupted;
        if (run->done || run->interrupted || !until_empty) continue;
        unfinished++;
        if (run->inside > most_inside) most_inside = run->inside;
    }
    char some[64];
    how_many(some, sizeof some, interrupted, ensemble->run_count);
    if (interrupted > 0)
        warn(w,
             "%s the user stopped the simulation before its end: all results are of the time until "
             "then.",
             some);
    how_many(some, sizeof some, unfinished, ensemble->run_count);
    if (unfinished > 0)
        warn(w, "%s up to %" PRIu64 " %s had not got out when the time was over (max_time).", some,
             most_inside, people(most_inside));
    if (unfinished > 0 && known > 0)
        warn(w,
             "Mean and interval of the egress time are of the %d %s that emptied; the others would "
             "have made it longer.",
             known, known == 1 ? "run" : "runs");
}

static void warn_of_stranded(warner *w, const th_report_def *def) {
    const th_scene *scene = def->scene;
    const th_observation *first = def->ensemble->first;
    if (first->done || scene->run.duration > 0.0) return;
    for (int g = 0; g < scene->group_count; ++g) {
        th_stranded stranded = th_find_stranded(scene, first, g);
        if (stranded.count == 0) continue;
        warn(
            w,
            "%d %s of group \"%s\" never arrived%s; the middle of where they stand is (%.1f, %.1f) "
            "on level \"%s\".",
            stranded.count, people((uint64_t)stranded.count), scene->groups[g].id,
            def->ensemble->run_count > 1 ? " in the first run" : "", stranded.centre.x,
            stranded.centre.y, scene->levels[stranded.centre.level].id);
    }
    uint64_t unreachable = first->statistics.unreachable;
    if (unreachable > 0)
        warn(w,
             "%" PRIu64 " %s cannot reach a goal at the end: a door on every way is shut or a wall "
             "is in between.",
             unreachable, people(unreachable));
}

static void warn_of_contacts(warner *w, const th_ensemble *ensemble) {
    double deepest = 0.0;
    uint64_t most = 0, crossings = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        deepest = fmax(deepest, run->largest_overlap);
        crossings += run->wall_crossings;
        if (run->overlapping_most > most) most = run->overlapping_most;
    }
    if (deepest > OVERLAP_TOO_DEEP)
        warn(w,
             "People overlapped by up to %.0f cm (up to %" PRIu64 " at once by more than 1 cm): "
             "densities and flows there may be too high.",
             100.0 * deepest, most);
    if (crossings > 0)
        warn(w,
             "Somebody stood in a wall %" PRIu64 " times. That is a fault of the program: please "
             "report it with the scene.",
             crossings);
}

static void warn_of_places(warner *w, const th_report_def *def) {
    const th_scene *scene = def->scene;
    th_density_findings found = th_find_densities(scene, def->ensemble);
    if (found.dense_share > TH_IMO_SHARE)
        warn(w,
             "Significant congestion after IMO MSC.1/Circ.1533: near (%.1f, %.1f) on level \"%s\" "
             "the "
             "density was above 4 /m2 for %.0f %% of the time.",
             found.dense_at.x, found.dense_at.y, scene->levels[found.dense_at.level].id,
             100.0 * found.dense_share);
    if (found.outside_count > 0.0)
        warn(w, "Some people walked beyond the area that is mapped: the maps of density and speed "
                "do not "
                "show them.");
    if (found.cell > 0.51)
        warn(w,
             "The scene is so large that the cells of the maps are %.1f m wide: short peaks of "
             "density are smoothed out.",
             found.cell);
}

static void warn_of_danger(warner *w, const th_report_def *def) {
    const th_scene *scene = def->scene;
    const th_ensemble *ensemble = def->ensemble;
    th_pressure_findings found = th_find_pressures(scene, ensemble);
    th_exposure_findings packed = th_find_exposure(ensemble->first, TH_EXPOSURES - 1);
    const char *in_first = ensemble->run_count > 1 ? " in the first run" : "";
    uint64_t crushed = 0;
    int runs = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        runs += ensemble->runs[r].crushed > 0;
        if (ensemble->runs[r].crushed > crushed) crushed = ensemble->runs[r].crushed;
    }
    char some[64];
    how_many(some, sizeof some, runs, ensemble->run_count);
    if (packed.people > 0)
        warn(w,
             "%" PRIu64 " %s%s came into a crowd denser than %g /m2, for up to %.0f s. At such "
             "densities people have been crushed.",
             packed.people, people(packed.people), in_first,
             (double)th_exposure_bounds[TH_EXPOSURES - 1], packed.max);
    if (crushed > 0)
        warn(w,
             "%s up to %" PRIu64 " %s longer than %g s in a crowd denser than %g /m2, where "
             "people are pressed together.",
             some, crushed, crushed == 1 ? "person was" : "people were", (double)TH_CRUSH_TIME,
             (double)th_exposure_bounds[TH_CRUSH_BOUND]);
    if (found.turbulent_time > (double)TH_CRUSH_TIME)
        warn(
            w,
            "Crowd pressure (density times variance of velocity) near (%.1f, %.1f) on level \"%s\" "
            "was above %g /s2, from which turbulence was seen in packed crowds, for %.0f s while "
            "the density was above 4 /m2.",
            found.turbulent_at.x, found.turbulent_at.y, scene->levels[found.turbulent_at.level].id,
            TH_TURBULENT, found.turbulent_time);
}

static void warn_of_counts(warner *w, const th_observation *first) {
    const th_statistics *s = &first->statistics;
    if (s->waiting_to_enter > 0)
        warn(w, "%" PRIu64 " %s who should have come found no free spot where they were to appear.",
             s->waiting_to_enter, people(s->waiting_to_enter));
    if (s->repairs > 0)
        warn(w,
             "A movement model gave %" PRIu64 " impossible states (not a number, or faster than "
             "10 m/s), which were set right; a smaller time step may help.",
             s->repairs);
    if (first->events_lost > 0)
        warn(w,
             "%" PRIu64 " %s left in so large a crowd at once that their exit is not known; totals "
             "are right, counts per exit are too low.",
             first->events_lost, people(first->events_lost));
}

th_result th_report_warnings(const th_report_def *def, th_warnings *warnings, th_error *error) {
    *warnings = (th_warnings){0};
    warner w = {.warnings = warnings};
    if (def->ensemble->first) {
        warn_of_ends(&w, def);
        warn_of_stranded(&w, def);
        warn_of_contacts(&w, def->ensemble);
        warn_of_places(&w, def);
        warn_of_danger(&w, def);
        warn_of_counts(&w, def->ensemble->first);
    }
    if (def->recording_trouble) warn(&w, "The recording ends early: %s", def->recording_trouble);
    if (!w.failed) return TH_OK;
    th_warnings_release(warnings);
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
}

void th_warnings_release(th_warnings *warnings) {
    for (int i = 0; i < warnings->count; ++i) free(warnings->texts[i]);
    free(warnings->texts);
    *warnings = (th_warnings){0};
}
