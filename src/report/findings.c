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
#include <string.h>

static th_place middle_of(const th_scene_view *scene, const th_map *map, int cell) {
    return (th_place){
        .level = map->level,
        .x = scene->origin.x + (double)map->min_x + (cell % map->nx + 0.5) * (double)map->cell,
        .y = scene->origin.y + (double)map->min_y + (cell / map->nx + 0.5) * (double)map->cell};
}

th_density_findings th_find_densities(const th_scene_view *scene, const th_ensemble *ensemble) {
    const th_place nowhere = {.level = -1};
    th_density_findings found = {.highest_at = nowhere, .dense_at = nowhere, .share_at = nowhere};
    double time = 0.0, longest = 0.0, longest_used = 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) time += ensemble->runs[r].use_time;
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
            double used = map->dense_time[c] - map->dense_late[c];
            if (used > longest_used) {
                longest_used = used;
                found.share_at = middle_of(scene, map, c);
            }
            if (time > 0.0 && used > TH_IMO_SHARE * time)
                found.significant_area += (double)(map->walkable[c] * map->cell * map->cell);
        }
    }
    if (ensemble->map_runs > 0) found.dense_time = longest / ensemble->map_runs;
    if (time > 0.0) found.dense_share = longest_used / time;
    if (ensemble->run_count > 0) found.use_time = time / ensemble->run_count;
    return found;
}

const char *th_use_words(const th_scene_view *scene, const th_ensemble *ensemble) {
    if (scene->run.duration > 0.0) return "simulated";
    for (int r = 0; r < ensemble->run_count; ++r)
        if (!isfinite(ensemble->runs[r].p95_time)) return "until nobody left any more";
    return "until 95 % had left";
}

// The largest of a map's values so far; `values` NULL: it has none.
static void find_largest(const th_scene_view *scene, const th_map *map, const float *values,
                         const float *known, double *largest, th_place *at) {
    for (int c = 0; values && c < map->nx * map->ny; ++c) {
        if ((known && !(known[c] > 0.0f)) || (double)values[c] <= *largest) continue;
        *largest = (double)values[c];
        if (values[c] > 0.0f) *at = middle_of(scene, map, c);
    }
}

th_pressure_findings th_find_pressures(const th_scene_view *scene, const th_ensemble *ensemble) {
    const th_place nowhere = {.level = -1};
    th_pressure_findings found = {.pressure = (double)NAN,
                                  .pressure_at = nowhere,
                                  .crowd_pressure = (double)NAN,
                                  .crowd_pressure_at = nowhere,
                                  .turbulent_at = nowhere,
                                  .load_at = nowhere};
    for (int r = 0; r < ensemble->run_count; ++r) {
        found.load = fmax(found.load, ensemble->runs[r].max_load);
        found.line = fmax(found.line, ensemble->runs[r].max_line);
    }
    double mapped = 0.0;
    for (int m = 0; m < ensemble->map_count; ++m) {
        const th_map *map = &ensemble->maps[m];
        find_largest(scene, map, map->pressure_max, NULL, &found.pressure, &found.pressure_at);
        find_largest(scene, map, map->crowd_pressure_max, map->crowd_pressure_count,
                     &found.crowd_pressure, &found.crowd_pressure_at);
        find_largest(scene, map, map->load_max, NULL, &mapped, &found.load_at);
        for (int c = 0; c < map->nx * map->ny; ++c) {
            if (!(map->turbulent_time[c] > found.turbulent_time)) continue;
            found.turbulent_time = map->turbulent_time[c];
            found.turbulent_at = middle_of(scene, map, c);
        }
    }
    if (ensemble->map_runs > 0) found.turbulent_time /= ensemble->map_runs;
    return found;
}

bool th_scene_can_fall(const th_scene_view *scene) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_model_choice *move = &scene->groups[g].move;
        if (th_model_body(th_models(NULL)[move->model], move->params).falls) return true;
    }
    return false;
}

th_fall_findings th_find_falls(const th_scene_view *scene, const th_ensemble *ensemble) {
    th_fall_findings found = {.possible = th_scene_can_fall(scene), .at = {.level = -1}};
    double longest = 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        found.fallen += (double)run->fallen / ensemble->run_count;
        found.lying += (double)run->lying / ensemble->run_count;
        found.runs += run->fallen > 0;
        if (run->fallen > found.most_fallen) found.most_fallen = run->fallen;
        if (run->lying > found.most_lying) found.most_lying = run->lying;
    }
    for (int m = 0; m < ensemble->map_count; ++m)
        find_largest(scene, &ensemble->maps[m], ensemble->maps[m].lying_count, NULL, &longest,
                     &found.at);
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

static th_stranded place_stuck(const th_scene_view *scene, th_stuck stuck) {
    th_stranded stranded = {stuck.group, stuck.count, {.level = -1}};
    if (stuck.count > 0)
        stranded.at = (th_place){stuck.level, scene->origin.x + (double)stuck.x,
                                 scene->origin.y + (double)stuck.y};
    return stranded;
}

th_stranded th_find_stranded(const th_scene_view *scene, const th_observation *o, int group) {
    return place_stuck(scene, th_stuck_of(o, group));
}

const char *th_member_of(const th_scene_view *scene, int group) {
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
    uint64_t most_inside = 0, came = 0;
    bool until_empty = def->scene->run.duration <= 0.0;
    double longest = 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        interrupted += run->interrupted;
        if (run->done || run->interrupted || !until_empty) continue;
        unfinished++;
        longest = fmax(longest, run->time);
        if (run->inside <= most_inside) continue;
        most_inside = run->inside;
        came = run->spawned;
    }
    char some[64];
    how_many(some, sizeof some, unfinished, ensemble->run_count);
    if (unfinished > 0)
        warn(w,
             "%s %s%" PRIu64 " of %" PRIu64 " people had not got out when the time was over "
             "(max_time, %.0f s).",
             some, ensemble->run_count > 1 ? "up to " : "", most_inside, came, longest);
    if (unfinished > 0 && known > 0)
        warn(w,
             "Mean and interval of the egress time are of the %d %s that emptied; the others would "
             "have made it longer.",
             known, known == 1 ? "run" : "runs");
    how_many(some, sizeof some, interrupted, ensemble->run_count);
    if (interrupted > 0)
        warn(w,
             "%s the user stopped the simulation before its end: all results are of the time until "
             "then.",
             some);
}

static void warn_of_one_stranded(warner *w, const th_scene_view *scene, th_stranded stranded,
                                 const char *which) {
    if (stranded.count == 0) return;
    warn(w,
         "%d %s of group \"%s\" never arrived%s; %s at (%.1f, %.1f) "
         "on level \"%s\".",
         stranded.count, people((uint64_t)stranded.count), th_member_of(scene, stranded.group),
         which, stranded.count == 1 ? "the person stands" : "one of them stands", stranded.at.x,
         stranded.at.y, scene->levels[stranded.at.level].id);
}

// Who, where and how many: of the first run, or of the one where it was worst.
static void warn_of_stranded(warner *w, const th_report_def *def) {
    const th_scene_view *scene = def->scene;
    const th_observation *first = def->ensemble->first;
    const th_run_summary *worst = &def->ensemble->runs[0];
    if (scene->run.duration > 0.0) return;
    for (int r = 0; r < def->ensemble->run_count; ++r)
        if (def->ensemble->runs[r].stuck.count > worst->stuck.count)
            worst = &def->ensemble->runs[r];
    if (first->done && worst->stuck.count > 0) {
        char which[64];
        snprintf(which, sizeof which, " in the run with seed %" PRIu64, worst->seed);
        warn_of_one_stranded(w, scene, place_stuck(scene, worst->stuck), which);
    }
    for (int g = 0; g < scene->group_count && !first->done; ++g)
        warn_of_one_stranded(w, scene, th_find_stranded(scene, first, g),
                             def->ensemble->run_count > 1 ? " in the first run" : "");
    uint64_t unreachable = first->done ? 0 : first->statistics.unreachable;
    if (unreachable > 0)
        warn(w,
             "%" PRIu64 " %s cannot reach a goal at the end: a door on every way is shut or a wall "
             "is in between.",
             unreachable, people(unreachable));
}

static void warn_of_flow(warner *w, const th_ensemble *ensemble) {
    const th_run_summary *worst = NULL;
    int runs = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        if (!(run->max_flow > TH_TOO_MUCH_FLOW)) continue;
        runs++;
        if (!worst || run->max_flow > worst->max_flow) worst = run;
    }
    static const char *const kinds[] = {"exit", "door", "line"};
    char some[64];
    how_many(some, sizeof some, runs, ensemble->run_count);
    if (!worst) return;
    const th_counter *counter = &ensemble->first->counters[worst->max_flow_counter];
    warn(w,
         "%s %s \"%s\" (%.2f m) let through up to %.1f people per metre and second over %.0f s. "
         "People do not pass doors and corridors faster than about %.1f: real times are longer.",
         some, kinds[counter->kind], counter->id, counter->width, worst->max_flow, TH_PEAK_WINDOW,
         TH_TOO_MUCH_FLOW);
}

static void warn_of_loads(warner *w, const th_report_def *def) {
    static const char *const what[TH_LOADS] = {
        "more than men bear who are pushed against a bar (Evans and Hayden 1971)",
        "a load that is estimated to kill within 4 to 6 minutes (Hopkins and others 1993)",
        "a load that is estimated to kill within 15 s (Hopkins and others 1993)"};
    const th_ensemble *ensemble = def->ensemble;
    th_pressure_findings found = th_find_pressures(def->scene, ensemble);
    for (int k = TH_LOADS - 1; k >= 0; --k) {
        uint64_t most = 0;
        int runs = 0;
        for (int r = 0; r < ensemble->run_count; ++r) {
            runs += ensemble->runs[r].overloaded[k] > 0;
            if (ensemble->runs[r].overloaded[k] > most) most = ensemble->runs[r].overloaded[k];
        }
        if (most == 0) continue;
        char some[64], where[160] = "";
        how_many(some, sizeof some, runs, ensemble->run_count);
        if (found.load_at.level >= 0)
            snprintf(where, sizeof where, " near (%.1f, %.1f) on level \"%.80s\"", found.load_at.x,
                     found.load_at.y, def->scene->levels[found.load_at.level].id);
        warn(w,
             "%s %s%" PRIu64 " %s pressed with more than %.0f N for longer than %.0f s: %s, if the "
             "crowd pushes as hard as it wants to walk. The highest load is %.0f N (%.0f N/m)%s.",
             some, ensemble->run_count > 1 ? "up to " : "", most,
             most == 1 ? "person was" : "people were", (double)th_load_bounds[k],
             (double)th_load_times[k], what[k], found.load, found.line, where);
        return; // the worst says it
    }
}

static void warn_of_falls(warner *w, const th_report_def *def) {
    th_fall_findings found = th_find_falls(def->scene, def->ensemble);
    char some[64], where[160] = "", end[120] = "; all got up again";
    if (found.most_fallen == 0) return;
    bool many = def->ensemble->run_count > 1;
    how_many(some, sizeof some, found.runs, def->ensemble->run_count);
    if (found.at.level >= 0)
        snprintf(where, sizeof where, ", and lay longest near (%.1f, %.1f) on level \"%.80s\"",
                 found.at.x, found.at.y, def->scene->levels[found.at.level].id);
    if (found.most_lying > 0)
        snprintf(end, sizeof end, "; %s%" PRIu64 " of them lay on the ground at the end",
                 many ? "up to " : "", found.most_lying);
    warn(w, "%s %s%" PRIu64 " %s fell%s%s.", some, many ? "up to " : "", found.most_fallen,
         people(found.most_fallen), where, end);
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
    const th_scene_view *scene = def->scene;
    th_density_findings found = th_find_densities(scene, def->ensemble);
    if (found.dense_share > TH_IMO_SHARE)
        warn(w,
             "Significant congestion after IMO MSC.1/Circ.1533: near (%.1f, %.1f) on level \"%s\" "
             "the "
             "density was above 4 /m2 for %.0f %% of the %.0f s %s.",
             found.share_at.x, found.share_at.y, scene->levels[found.share_at.level].id,
             100.0 * found.dense_share, found.use_time, th_use_words(scene, def->ensemble));
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
    const th_scene_view *scene = def->scene;
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
    th_density_findings dense = th_find_densities(scene, ensemble);
    if (dense.highest > (double)th_exposure_bounds[TH_EXPOSURES - 1])
        warn(w,
             "The density reached %.1f /m2 near (%.1f, %.1f) on level \"%s\"; about %g /m2 were "
             "found "
             "where people died.",
             dense.highest, dense.highest_at.x, dense.highest_at.y,
             scene->levels[dense.highest_at.level].id,
             (double)th_exposure_bounds[TH_EXPOSURES - 1]);
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
    if (s->still_to_come > 0)
        warn(w,
             "The run ended at %g s, before %" PRIu64 " %s whom its sources announce had come; a "
             "longer duration or --max-time lets them in.",
             s->time, s->still_to_come, people(s->still_to_come));
    if (s->repairs > 0)
        warn(w,
             "A movement model gave %" PRIu64 " impossible states (not a number, or faster than "
             "10 m/s), which were set right; a smaller time step may help.",
             s->repairs);
    if (first->events_lost > 0)
        warn(w,
             "%" PRIu64 " %s left in so large a crowd at once that the exit each of them took is "
             "not known; all counts are right.",
             first->events_lost, people(first->events_lost));
}

static double length_of(const th_line *line) {
    return hypot((double)line->b.x - (double)line->a.x, (double)line->b.y - (double)line->a.y);
}

bool th_plan_warning(const th_scene_view *scene, char *text, size_t size) {
    float wanted, spacing = th_scene_plan_spacing(scene->scene, &wanted);
    if (!(spacing > 1.001f * wanted)) return false;
    const th_line *narrowest = NULL;
    const char *id = "";
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        if (narrowest && length_of(line) >= length_of(narrowest)) continue;
        narrowest = line;
        id = scene->doors[d].id;
    }
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_line *line = &scene->goals[g].line;
        if (!scene->goals[g].is_line || (narrowest && length_of(line) >= length_of(narrowest)))
            continue;
        narrowest = line;
        id = scene->goals[g].id;
    }
    char where[160] = "";
    if (narrowest)
        snprintf(where, sizeof where,
                 " (the narrowest door or goal is \"%.40s\" at (%.1f, %.1f), %.2g m)", id,
                 0.5 * ((double)narrowest->a.x + (double)narrowest->b.x) + scene->origin.x,
                 0.5 * ((double)narrowest->a.y + (double)narrowest->b.y) + scene->origin.y,
                 length_of(narrowest));
    snprintf(
        text, size,
        "The plan is too large for its %d %s: ways are planned on points %.2g m apart "
        "instead of %.2g m, and passages narrower than %.2g m may be missed%s. Let groups share "
        "destinations, leave out ground that nobody walks on, or set plan_cell to %.2g to "
        "accept it.",
        scene->target_count, scene->target_count == 1 ? "destination" : "destinations",
        (double)spacing, (double)wanted, 2.0 * (double)spacing, where, (double)spacing);
    return true;
}

th_result th_report_warnings(const th_report_def *def, th_warnings *warnings, th_error *error) {
    *warnings = (th_warnings){0};
    warner w = {.warnings = warnings};
    char coarse[600];
    if (th_plan_warning(def->scene, coarse, sizeof coarse)) warn(&w, "%s", coarse);
    if (def->ensemble->first) {
        warn_of_ends(&w, def);
        warn_of_stranded(&w, def);
        warn_of_danger(&w, def);
        warn_of_loads(&w, def);
        warn_of_falls(&w, def);
        warn_of_flow(&w, def->ensemble);
        warn_of_places(&w, def);
        warn_of_contacts(&w, def->ensemble);
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
