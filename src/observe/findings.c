// The list of findings, the readings of runs, and what is found of runs. Cost: O(cells + people).
// SPDX-License-Identifier: Apache-2.0
#include "observe/findings.h"
#include "core/error.h"
#include "core/memory.h"
#include "formula/segment.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the list

static const struct {
    const char *name;
    th_severity severity;
} kinds[] = {
#define X(NAME, name, severity, what) {#name, TH_SEVERITY_##severity},
    TH_FINDING_KINDS(X)
#undef X
};

const char *th_finding_name(th_finding_kind kind) { return kinds[kind].name; }
const char *th_severity_name(th_severity severity) {
    static const char *const names[] = {"note", "caution", "danger"};
    return names[severity];
}
const char *th_people_word(uint64_t count) { return count == 1 ? "person" : "people"; }

th_finding th_finding_of(th_finding_kind kind, int count) {
    const double none = (double)NAN;
    return (th_finding){.kind = kind,
                        .severity = kinds[kind].severity,
                        .count = count,
                        .level = -1,
                        .x = none,
                        .y = none,
                        .from = none,
                        .to = none,
                        .value = none,
                        .limit = none,
                        .unit = ""};
}

void th_findings_add(th_findings *f, th_finding about, const char *cure, const char *format, ...) {
    va_list values;
    va_start(values, format);
    char *text = NULL, *advice = strdup(cure);
    if (vasprintf(&text, format, values) < 0) text = NULL;
    va_end(values);
    if (!text || !advice || !TH_RESERVE_ONE(f->list, f->count)) {
        free(text);
        free(advice);
        f->failed = true;
        return;
    }
    about.text = text;
    about.cure = advice;
    f->list[f->count++] = about;
}

void th_findings_clear(th_findings *f) {
    for (int k = 0; k < f->count; ++k) {
        free((char *)f->list[k].text);
        free((char *)f->list[k].cure);
    }
    free(f->list);
    *f = (th_findings){0};
}

static bool comes_before(const th_finding *a, const th_finding *b) {
    return a->severity != b->severity ? a->severity > b->severity : a->kind < b->kind;
}

th_result th_findings_finish(th_findings *made, th_findings **findings, th_error *error) {
    *findings = made->failed ? NULL : malloc(sizeof **findings);
    if (!*findings) {
        th_findings_clear(made);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the findings; free some");
    }
    for (int k = 1; k < made->count; ++k) { // stable, and there are few
        th_finding moved = made->list[k];
        int at = k;
        for (; at > 0 && comes_before(&moved, &made->list[at - 1]); --at)
            made->list[at] = made->list[at - 1];
        made->list[at] = moved;
    }
    **findings = *made;
    *made = (th_findings){0};
    return TH_OK;
}

const th_finding *th_findings_list(const th_findings *findings, int *count) {
    *count = findings ? findings->count : 0;
    return findings ? findings->list : NULL;
}

void th_findings_destroy(th_findings *findings) {
    if (!findings) return;
    th_findings_clear(findings);
    free(findings);
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *th_findings_array(const th_findings *findings) {
    json_t *array = json_array();
    for (int k = 0; array && k < findings->count; ++k) {
        const th_finding *f = &findings->list[k];
        json_t *place = f->level < 0 ? json_null() : json_pack("[f,f]", f->x, f->y);
        json_t *one =
            json_pack("{s:s,s:s,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:s}", "kind",
                      th_finding_name(f->kind), "severity", th_severity_name(f->severity), "count",
                      f->count, "level", f->level, "place", place, "from", number_or_null(f->from),
                      "to", number_or_null(f->to), "value", number_or_null(f->value), "limit",
                      number_or_null(f->limit), "unit", f->unit, "text", f->text, "cure", f->cure);
        if (!one || json_array_append_new(array, one) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

char *th_findings_json(const th_findings *findings) {
    json_t *array = th_findings_array(findings);
    char *text = array ? json_dumps(array, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(array);
    return text;
}

// ---- readings of runs

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
        if (!isfinite(ensemble->runs[r].p95_time)) return "until the last departure";
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

// Ascending; people without a value are left out.
th_value_list th_exposure_values(const th_observation *o, int bound) {
    th_value_list list = {malloc(((size_t)o->person_count + 1) * sizeof *list.values), 0};
    for (int p = 0; list.values && p < o->person_count; ++p)
        if (o->people[p].group >= 0 && !isnan(o->people[p].exposure[bound]))
            list.values[list.count++] = (double)o->people[p].exposure[bound];
    th_sort_values(list.values, list.count);
    return list;
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

// The exit or door within 3 m of the place, and how far; "" when there is none.
static void opening_near(const th_scene_view *scene, const th_left_behind *at, char words[160]) {
    const th_vec2 place = {at->x, at->y};
    float least = 3.0f * 3.0f;
    words[0] = '\0';
    for (int k = 0; k < scene->door_count + scene->goal_count; ++k) {
        bool door = k < scene->door_count;
        const th_goal *goal = door ? NULL : &scene->goals[k - scene->door_count];
        if (goal && (goal->kind != TH_GOAL_EXIT || !goal->is_line)) continue;
        const th_line *line = door ? &scene->doors[k].line : &goal->line;
        float away = th_segment_distance2(place, line->a, line->b);
        if (line->level != at->level || away >= least) continue;
        least = away;
        snprintf(words, 160, ", %.1f m from %s \"%.60s\" (%.2f m)", (double)sqrtf(away),
                 door ? "door" : "exit", door ? scene->doors[k].id : goal->id,
                 hypot((double)(line->b.x - line->a.x), (double)(line->b.y - line->a.y)));
    }
}

void th_failure_words(const th_scene_view *scene, const th_failure *failure, char *words,
                      size_t size) {
    const th_left_behind *head = &failure->head;
    char near[160], rest[48] = "";
    words[0] = '\0';
    if (head->group < 0) return;
    opening_near(scene, head, near);
    if (head->rest >= TH_REST_TIME && head->cause != TH_LEFT_WALKING)
        snprintf(rest, sizeof rest, " for %.0f s", (double)head->rest);
    bool levels = scene->level_count > 1;
    snprintf(words, size, "group \"%.80s\" (%.2f m wide): %s%s, at (%.1f, %.1f)%s%.40s%s%s",
             th_member_of(scene, head->group), 2.0 * (double)head->radius,
             th_left_cause_words[head->cause], rest, scene->origin.x + (double)head->x,
             scene->origin.y + (double)head->y, levels ? " on level \"" : "",
             levels ? scene->levels[head->level].id : "", levels ? "\"" : "", near);
}

const char *th_member_of(const th_scene_view *scene, int group) {
    int scripted = group - scene->group_count;
    if (group >= 0 && group < scene->group_count) return scene->groups[group].id;
    return scripted >= 0 && scripted < scene->scripted_count ? scene->scripted[scripted].id : "";
}

// ---- what is found of runs

typedef struct finder {
    th_findings *out;
    const th_scene_view *scene;
    const th_ensemble *ensemble;
    bool over; // no run goes on
} finder;

// "In this run" or "In 3 of 20 runs"; of a run that goes on "So far".
static void how_many(const finder *f, char words[64], int some) {
    if (!f->over)
        snprintf(words, 64, "So far");
    else if (f->ensemble->run_count == 1)
        snprintf(words, 64, "In this run");
    else
        snprintf(words, 64, "In %d of %d runs", some, f->ensemble->run_count);
}

static const char *up_to(const finder *f) { return f->ensemble->run_count > 1 ? "up to " : ""; }

static void set_place(th_finding *about, th_place at) {
    about->level = at.level;
    about->x = at.level < 0 ? (double)NAN : at.x;
    about->y = at.level < 0 ? (double)NAN : at.y;
}

// " near (12.5, 3.0)" with the level where there are several; "" for nowhere.
static void place_words(const finder *f, char words[200], th_place at) {
    words[0] = '\0';
    if (at.level < 0) return;
    int length = snprintf(words, 200, " near (%.1f, %.1f)", at.x, at.y);
    if (f->scene->level_count > 1)
        snprintf(words + length, (size_t)(200 - length), " on level \"%.80s\"",
                 f->scene->levels[at.level].id);
}

static void set_span(const finder *f, th_finding *about, th_span_kind kind) {
    for (int r = 0; r < f->ensemble->run_count; ++r) {
        const th_span *span = &f->ensemble->runs[r].spans[kind];
        about->from = fmin(about->from, span->from); // fmin and fmax leave out what is not a number
        about->to = fmax(about->to, span->to);
    }
}

static void find_ends(const finder *f) {
    const th_ensemble *ensemble = f->ensemble;
    int unfinished = 0, interrupted = 0, known = th_ensemble_egress(ensemble).count;
    uint64_t most_inside = 0, came = 0;
    bool until_empty = f->scene->run.duration <= 0.0;
    double longest = 0.0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        interrupted += run->interrupted;
        if (run->done || run->interrupted || !until_empty || run->inside == 0) continue;
        unfinished++;
        longest = fmax(longest, run->time);
        if (run->inside <= most_inside) continue;
        most_inside = run->inside;
        came = run->spawned;
    }
    char some[64], rest[200] = "";
    if (unfinished > 0) {
        th_finding about = th_finding_of(TH_FINDING_UNFINISHED, unfinished);
        about.value = (double)most_inside;
        about.from = about.to = longest;
        how_many(f, some, unfinished);
        if (known > 0)
            snprintf(rest, sizeof rest,
                     " Mean and interval of the egress time are of the %d %s that emptied; the "
                     "others would have made it longer.",
                     known, known == 1 ? "run" : "runs");
        th_findings_add(f->out, about, "Look where they stand, or give the run more max_time.",
                        "%s %s%" PRIu64 " of %" PRIu64 " people had not got out when the time was "
                        "over (max_time, %.0f s).%s",
                        some, up_to(f), most_inside, came, longest, rest);
    }
    how_many(f, some, interrupted);
    if (interrupted > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_INTERRUPTED, interrupted), "",
                        "%s the user stopped the simulation before its end: all results are of the "
                        "time until then.",
                        some);
}

static void find_one_stranded(const finder *f, th_stranded stranded, const char *which) {
    if (stranded.count == 0) return;
    th_finding about = th_finding_of(TH_FINDING_STRANDED, stranded.count);
    char where[200];
    set_place(&about, stranded.at);
    place_words(f, where, stranded.at);
    th_findings_add(f->out, about, "", "%d %s of group \"%s\" never arrived%s; %s%s.",
                    stranded.count, th_people_word((uint64_t)stranded.count),
                    th_member_of(f->scene, stranded.group), which,
                    stranded.count == 1 ? "the person stands" : "one of them stands", where);
}

// How many of a cause there are in the run with the most of them.
static int most_of_cause(const th_ensemble *ensemble, th_left_cause cause,
                         const th_run_summary **worst) {
    int most = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        int count = ensemble->runs[r].failure.counts[cause];
        if (count <= most) continue;
        most = count;
        *worst = &ensemble->runs[r];
    }
    return most;
}

// Why they did not get out: a door that is shut, a way too narrow, a person that is stuck.
static void find_causes(const finder *f) {
    static const struct {
        th_left_cause cause;
        th_finding_kind kind;
        const char *words, *cure;
    } told[] = {{TH_LEFT_SHUT, TH_FINDING_UNREACHABLE,
                 "cannot reach a goal: a closed door is on every way", "Open a door."},
                {TH_LEFT_NO_WAY, TH_FINDING_UNREACHABLE,
                 "cannot reach a goal: a wall is in between", "Take away the wall."},
                {TH_LEFT_TOO_WIDE, TH_FINDING_UNREACHABLE,
                 "cannot reach a goal: no way is wide enough",
                 "Widen a way, or give them another one."},
                {TH_LEFT_WEDGED, TH_FINDING_WEDGED, "did not move any more",
                 "Look at the first of them: widen the way there."}};
    uint64_t now = f->over ? 0 : f->ensemble->first->statistics.unreachable;
    if (now > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_UNREACHABLE, (int)now),
                        "Open a door, widen a way or take away the wall.",
                        "%" PRIu64 " %s cannot reach a goal now.", now, th_people_word(now));
    for (size_t k = 0; k < sizeof told / sizeof *told; ++k) {
        const th_run_summary *worst = NULL;
        char first[400] = "";
        int most = most_of_cause(f->ensemble, told[k].cause, &worst);
        if (most == 0) continue;
        if (f->scene->run.duration > 0.0 && told[k].cause == TH_LEFT_WEDGED) continue;
        th_finding about = th_finding_of(told[k].kind, most);
        const th_left_behind *head = &worst->failure.head;
        if (head->cause == told[k].cause) {
            char words[360];
            set_place(&about, (th_place){head->level, f->scene->origin.x + (double)head->x,
                                         f->scene->origin.y + (double)head->y});
            th_failure_words(f->scene, &worst->failure, words, sizeof words);
            snprintf(first, sizeof first, " The first: %s.", words);
        }
        th_findings_add(f->out, about, told[k].cure, "%s%d %s %s at the end.%s",
                        f->ensemble->run_count > 1 ? "Up to " : "", most,
                        th_people_word((uint64_t)most), told[k].words, first);
    }
}

// Tells people left behind in the first run, or in the run with the most of them.
static void find_stranded(const finder *f) {
    const th_scene_view *scene = f->scene;
    const th_observation *first = f->ensemble->first;
    const th_run_summary *worst = &f->ensemble->runs[0];
    if (scene->run.duration <= 0.0 && f->over) {
        for (int r = 0; r < f->ensemble->run_count; ++r)
            if (f->ensemble->runs[r].stuck.count > worst->stuck.count)
                worst = &f->ensemble->runs[r];
        if (first->done && worst->stuck.count > 0) {
            char which[64];
            snprintf(which, sizeof which, " in the run with seed %" PRIu64, worst->seed);
            find_one_stranded(f, place_stuck(scene, worst->stuck), which);
        }
        for (int g = 0; g < scene->group_count && !first->done; ++g)
            find_one_stranded(f, th_find_stranded(scene, first, g),
                              f->ensemble->run_count > 1 ? " in the first run" : "");
    }
    find_causes(f);
}

static void find_flow(const finder *f) {
    const th_ensemble *ensemble = f->ensemble;
    const th_run_summary *worst = NULL;
    int runs = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        if (!(run->max_flow > TH_TOO_MUCH_FLOW)) continue;
        runs++;
        if (!worst || run->max_flow > worst->max_flow) worst = run;
    }
    if (!worst) return;
    char some[64];
    how_many(f, some, runs);
    const th_counter *counter = &ensemble->first->counters[worst->max_flow_counter];
    th_finding about = th_finding_of(TH_FINDING_FLOW, runs);
    about.value = worst->max_flow;
    about.limit = TH_TOO_MUCH_FLOW;
    about.unit = "1/(m s)";
    th_findings_add(f->out, about, "",
                    "%s %s \"%s\" (%.2f m) let through up to %.1f people per metre and second "
                    "over %.0f s. People do not pass doors and corridors faster than about %.1f: "
                    "real times are longer.",
                    some, th_counter_kind_names[counter->kind], counter->id, counter->width,
                    worst->max_flow, TH_PEAK_WINDOW, TH_TOO_MUCH_FLOW);
}

static void find_loads(const finder *f) {
    static const char *const what[TH_LOADS] = {
        "more than men pushed against a bar can bear (Evans and Hayden 1971)",
        "a load that is estimated to kill within 4 to 6 minutes (Hopkins and others 1993)",
        "a load that is estimated to kill within 15 s (Hopkins and others 1993)"};
    const th_ensemble *ensemble = f->ensemble;
    th_pressure_findings found = th_find_pressures(f->scene, ensemble);
    for (int k = TH_LOADS - 1; k >= 0; --k) {
        uint64_t most = 0;
        int runs = 0;
        for (int r = 0; r < ensemble->run_count; ++r) {
            runs += ensemble->runs[r].overloaded[k] > 0;
            if (ensemble->runs[r].overloaded[k] > most) most = ensemble->runs[r].overloaded[k];
        }
        if (most == 0) continue;
        char some[64], where[200];
        how_many(f, some, runs);
        place_words(f, where, found.load_at);
        th_finding about = th_finding_of(TH_FINDING_LOAD, (int)most);
        set_place(&about, found.load_at);
        set_span(f, &about, TH_SPAN_PACKED);
        about.value = found.load;
        about.limit = (double)th_load_bounds[k];
        about.unit = "N";
        th_findings_add(f->out, about, "Let fewer people in, or make the way out wider.",
                        "%s %s%" PRIu64 " %s pressed with more than %.0f N for longer than %.0f s "
                        "in a packed crowd: %s. The highest load is %.0f N (%.0f N/m)%s.",
                        some, up_to(f), most, most == 1 ? "person was" : "people were",
                        (double)th_load_bounds[k], (double)th_load_times[k], what[k], found.load,
                        found.line, where);
        return; // the most severe finding covers it
    }
}

static void find_falls(const finder *f) {
    th_fall_findings found = th_find_falls(f->scene, f->ensemble);
    char some[64], where[200], end[160] = "; all got up again";
    if (found.most_fallen == 0) return;
    how_many(f, some, found.runs);
    place_words(f, where, found.at);
    if (found.most_lying > 0)
        snprintf(end, sizeof end, "; %s%" PRIu64 " of them %s on the ground%s", up_to(f),
                 found.most_lying,
                 f->over                 ? "lay"
                 : found.most_lying == 1 ? "lies"
                                         : "lie",
                 f->over ? " at the end" : " now");
    th_finding about = th_finding_of(TH_FINDING_FALLS, (int)found.most_fallen);
    set_place(&about, found.at);
    th_findings_add(f->out, about, "", "%s %s%" PRIu64 " %s fell%s%s%s.", some, up_to(f),
                    found.most_fallen, th_people_word(found.most_fallen),
                    *where ? ", and lay longest" : "", where, end);
}

static void find_contacts(const finder *f) {
    double deepest = 0.0;
    uint64_t most = 0, crossings = 0;
    for (int r = 0; r < f->ensemble->run_count; ++r) {
        const th_run_summary *run = &f->ensemble->runs[r];
        deepest = fmax(deepest, run->largest_overlap);
        crossings += run->wall_crossings;
        if (run->overlapping_most > most) most = run->overlapping_most;
    }
    if (deepest > TH_OVERLAP_TOO_DEEP) {
        th_finding about = th_finding_of(TH_FINDING_OVERLAPS, (int)most);
        about.value = deepest;
        about.limit = TH_OVERLAP_TOO_DEEP;
        about.unit = "m";
        th_findings_add(f->out, about, "",
                        "People overlapped by up to %.0f cm (up to %" PRIu64 " at once by more "
                        "than 1 cm): densities and flows there may be too high.",
                        100.0 * deepest, most);
    }
    if (crossings > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_WALLS, (int)crossings),
                        "Please report it with the scene.",
                        "A person stood in a wall %" PRIu64 " times. That is a fault of the "
                        "program.",
                        crossings);
}

static void find_places(const finder *f) {
    th_density_findings found = th_find_densities(f->scene, f->ensemble);
    if (found.dense_share > TH_IMO_SHARE) {
        char where[200];
        th_finding about = th_finding_of(TH_FINDING_CONGESTION, 1);
        set_place(&about, found.share_at);
        place_words(f, where, found.share_at);
        set_span(f, &about, TH_SPAN_DENSE);
        about.value = found.dense_share;
        about.limit = TH_IMO_SHARE;
        th_findings_add(f->out, about, "",
                        "Significant congestion after IMO MSC.1/Circ.1533:%s the density was above "
                        "%g /m2 for %.0f %% of the %.0f s %s.",
                        where, (double)TH_DENSE, 100.0 * found.dense_share, found.use_time,
                        f->over ? th_use_words(f->scene, f->ensemble) : "so far");
    }
    if (found.outside_count > 0.0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_BEYOND_MAP, 1), "",
                        "Some people walked beyond the area that is mapped: the maps of density "
                        "and speed do not show them.");
    if (found.cell > TH_COARSE_CELL) {
        th_finding about = th_finding_of(TH_FINDING_COARSE_MAP, 1);
        about.value = found.cell;
        about.limit = 0.5;
        about.unit = "m";
        th_findings_add(f->out, about, "",
                        "The scene is so large that the cells of the maps are %.1f m wide: short "
                        "peaks of density are smoothed out.",
                        found.cell);
    }
}

static void find_turbulence(const finder *f) {
    th_pressure_findings found = th_find_pressures(f->scene, f->ensemble);
    if (!(found.turbulent_time > (double)TH_PACKED_TIME)) return;
    char where[200];
    th_finding about = th_finding_of(TH_FINDING_TURBULENCE, 1);
    set_place(&about, found.turbulent_at);
    place_words(f, where, found.turbulent_at);
    set_span(f, &about, TH_SPAN_TURBULENT);
    about.value = found.crowd_pressure;
    about.limit = TH_TURBULENT;
    about.unit = "1/s2";
    th_findings_add(f->out, about, "Let fewer people in.",
                    "The crowd was turbulent%s: for %.0f s it was denser than %g /m2 and the crowd "
                    "pressure (density times variance of the local velocity) above %g /s2, as "
                    "before the accident at Jamarat in 2006.",
                    where, found.turbulent_time, (double)TH_PACKED, TH_TURBULENT);
}

// People longer than TH_PACKED_TIME above a bound of exposure, in the run with the most of them; how many runs have any.
static uint64_t most_exposed(const th_ensemble *ensemble, bool deadly, int *runs) {
    uint64_t most = 0;
    *runs = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        uint64_t count = deadly ? ensemble->runs[r].deadly : ensemble->runs[r].crushed;
        *runs += count > 0;
        if (count > most) most = count;
    }
    return most;
}

static void find_density(const finder *f) {
    th_density_findings dense = th_find_densities(f->scene, f->ensemble);
    int runs = 0;
    char some[64], where[200];
    uint64_t most = most_exposed(f->ensemble, true, &runs);
    bool deadly = most > 0;
    if (!deadly) most = most_exposed(f->ensemble, false, &runs);
    if (most == 0) return;
    how_many(f, some, runs);
    place_words(f, where, dense.highest_at);
    th_finding about =
        th_finding_of(deadly ? TH_FINDING_DEADLY_DENSITY : TH_FINDING_PACKED, (int)most);
    set_place(&about, dense.highest_at);
    set_span(f, &about, deadly ? TH_SPAN_DEADLY : TH_SPAN_PACKED);
    about.value = dense.highest;
    about.limit = (double)(deadly ? TH_DEADLY : TH_PACKED);
    about.unit = "1/m2";
    th_findings_add(f->out, about, "Let fewer people in, or make the way out wider.",
                    "%s %s%" PRIu64 " %s longer than %g s in a crowd denser than %g /m2, %s. The "
                    "highest density is %.1f /m2%s.",
                    some, up_to(f), most, most == 1 ? "person was" : "people were",
                    (double)TH_PACKED_TIME, about.limit,
                    deadly ? "as was found where people died"
                           : "where people cannot choose any more where they go",
                    dense.highest, where);
}

static void find_counts(const finder *f) {
    const th_observation *first = f->ensemble->first;
    const th_statistics *s = &first->statistics;
    if (s->waiting_to_enter > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_WAITING, (int)s->waiting_to_enter),
                        "Make their area larger or let fewer people come.",
                        "%" PRIu64 " %s who should have come found no free spot where they were to "
                        "appear.",
                        s->waiting_to_enter, th_people_word(s->waiting_to_enter));
    if (s->still_to_come > 0 && f->over)
        th_findings_add(f->out, th_finding_of(TH_FINDING_STILL_TO_COME, (int)s->still_to_come),
                        "A longer duration or --max-time lets them in.",
                        "The run ended at %g s, before %" PRIu64 " %s whom its sources announce "
                        "had come.",
                        s->time, s->still_to_come, th_people_word(s->still_to_come));
    if (s->repairs > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_REPAIRS, (int)s->repairs),
                        "A smaller step may help.",
                        "A movement model gave %" PRIu64 " impossible states (not a number, or "
                        "far faster than the agent wants and a person runs), which were set right.",
                        s->repairs);
    if (first->events_lost > 0)
        th_findings_add(f->out, th_finding_of(TH_FINDING_LOST_EVENTS, (int)first->events_lost), "",
                        "%" PRIu64 " %s left in so large a crowd at once that the exit each of "
                        "them took is not known; all counts are right.",
                        first->events_lost, th_people_word(first->events_lost));
}

static void find_all(const finder *f) {
    if (f->over && !f->ensemble->first->recorded) find_ends(f);
    if (!f->ensemble->first->recorded) find_stranded(f);
    find_density(f);
    find_turbulence(f);
    find_loads(f);
    find_falls(f);
    if (!f->ensemble->first->recorded) find_flow(f);
    find_places(f);
    find_contacts(f);
    find_counts(f);
}

th_result th_run_findings(const th_scene_view *scene, const th_ensemble *ensemble,
                          const char *trouble, th_findings **findings, th_error *error) {
    th_findings made = {0};
    double step = ensemble->first ? ensemble->first->step : 0.0;
    th_findings_add_scene(&made, scene, step > 0.0 ? step : scene->run.step);
    const finder f = {&made, scene, ensemble, true};
    if (ensemble->first) find_all(&f);
    if (trouble && *trouble)
        th_findings_add(&made, th_finding_of(TH_FINDING_RECORDING, 1), "",
                        "The recording ends early: %s", trouble);
    return th_findings_finish(&made, findings, error);
}

th_result th_observation_findings(const th_scene_view *scene, const th_findings *of_scene,
                                  th_observation *observation, bool over, th_findings **findings,
                                  th_error *error) {
    th_findings made = {0};
    th_run_summary run;
    if (!th_run_summarise(observation, &run)) made.failed = true;
    for (int k = 0; of_scene && k < of_scene->count; ++k)
        th_findings_add(&made, of_scene->list[k], of_scene->list[k].cure, "%s",
                        of_scene->list[k].text);
    if (!made.failed) {
        th_ensemble one = {.interval = observation->interval,
                           .runs = &run,
                           .run_count = 1,
                           .maps = observation->maps,
                           .map_count = observation->map_count,
                           .map_runs = 1,
                           .use_samples = observation->use_sample_count,
                           .first = observation};
        const finder f = {&made, scene, &one, over};
        find_all(&f);
        free(run.left_curve);
    }
    return th_findings_finish(&made, findings, error);
}
