// The results of runs: summary.json for programs, text for the terminal. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/findings.h"
#include "report/figures.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

// ---- summary.json

// Keys carry their unit; unknown values are null.

// Rounds to seven digits: most numbers are measured in single precision, and 1.39999962 means 1.4.
static json_t *number(double value) {
    char digits[32];
    if (!isfinite(value)) return json_null();
    snprintf(digits, sizeof digits, "%.7g", value);
    return json_real(strtod(digits, NULL));
}
static json_t *count(uint64_t value) { return json_integer((json_int_t)value); }
// Texts come from files: bytes that are not UTF-8 are left out and do not fail the summary.
static json_t *text(const char *words) {
    json_t *string = words ? json_string(words) : NULL;
    return string ? string : json_null();
}
static void set(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

static json_t *hash_text(uint64_t hash) {
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, hash);
    return json_string(digits);
}

static json_t *sample(const th_sample_summary *s) {
    json_t *object = json_object();
    set(object, "count", json_integer(s->count));
    set(object, "mean", number(s->mean));
    set(object, "standard_deviation", number(s->standard_deviation));
    set(object, "min", number(s->min));
    set(object, "p05", number(s->p05));
    set(object, "median", number(s->median));
    set(object, "p95", number(s->p95));
    set(object, "max", number(s->max));
    set(object, "ci95_low", number(s->ci_low));
    set(object, "ci95_high", number(s->ci_high));
    set(object, "ci95_relative", number(s->ci_relative));
    return object;
}

static void set_place(json_t *object, const th_scene_view *scene, th_place place) {
    bool known = place.level >= 0;
    set(object, "x_m", known ? json_real(round(1e3 * place.x) / 1e3) : json_null());
    set(object, "y_m", known ? json_real(round(1e3 * place.y) / 1e3) : json_null());
    set(object, "level", text(known ? scene->levels[place.level].id : NULL));
}

static void set_input(json_t *root, const th_report_def *def) {
    json_t *scene = json_object(), *overrides = json_array();
    set(scene, "name", text(def->scene->name));
    set(scene, "file", text(def->scene_file));
    set(scene, "description", text(def->scene->description));
    for (int i = 0; i < def->override_count; ++i)
        json_array_append_new(overrides, text(def->overrides[i]));
    set(root, "scene", scene);
    set(root, "version", text(th_build_info()));
    set(root, "command_line", text(def->command_line));
    set(root, "overrides", overrides);
    set(root, "recording", text(def->recording));
}

static void set_runs(json_t *root, const th_ensemble *ensemble, bool can_fall) {
    json_t *runs = json_array();
    int emptied = 0, interrupted = 0;
    double *p95 = malloc(((size_t)ensemble->run_count + 1) * sizeof *p95);
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        json_t *object = json_object();
        set(object, "seed", count(run->seed));
        set(object, "hash", hash_text(run->hash));
        set(object, "steps", count(run->steps));
        set(object, "simulated_s", number(run->time));
        set(object, "egress_time_s", number(run->egress_time));
        set(object, "spawned", count(run->spawned));
        set(object, "left", count(run->left));
        set(object, "inside", count(run->inside));
        set(object, "use_time_s", number(run->use_time));
        set(object, "people_over_30_s_above_7_per_m2", count(run->crushed));
        set(object, "people_over_10_s_above_623_n", count(run->overloaded[0]));
        set(object, "people_over_60_s_above_1112_n", count(run->overloaded[1]));
        set(object, "people_over_5_s_above_6227_n", count(run->overloaded[2]));
        set(object, "highest_flow_per_m_s", number(run->max_flow));
        set(object, "people_fallen", can_fall ? count(run->fallen) : json_null());
        set(object, "people_lying", can_fall ? count(run->lying) : json_null());
        json_array_append_new(runs, object);
        emptied += isfinite(run->egress_time);
        interrupted += run->interrupted;
        if (p95) p95[r] = run->p95_time;
    }
    th_sample_summary egress = th_ensemble_egress(ensemble);
    th_sample_summary most = p95 ? th_summarise(p95, ensemble->run_count) : th_summarise(NULL, 0);
    free(p95);
    set(root, "run_count", json_integer(ensemble->run_count));
    set(root, "emptied_runs", json_integer(emptied));
    set(root, "interrupted_runs", json_integer(interrupted));
    set(root, "egress_time_s", sample(&egress));
    set(root, "time_until_95_percent_left_s", sample(&most));
    set(root, "runs", runs);
}

static json_t *counters_of(const th_scene_view *scene, const th_observation *first,
                           th_counter_kind kind) {
    json_t *list = json_array();
    for (int c = 0; c < first->counter_count; ++c) {
        const th_counter *counter = &first->counters[c];
        if (counter->kind != kind) continue;
        double flow = th_counter_mean_flow(counter), highest = 0.0, none = (double)NAN;
        double width = counter->width > 0.0 ? counter->width : none;
        for (int k = 0; k < first->sample_count; ++k)
            highest = fmax(highest, th_counter_flow(first, counter->forward, k) +
                                        th_counter_flow(first, counter->backward, k));
        json_t *object = json_object();
        set(object, "id", text(counter->id));
        set(object, "level", text(scene->levels[counter->level].id));
        set(object, "width_m", number(width));
        set(object, "forward", count(counter->forward_total));
        set(object, "forward_to", text(counter->forward_to));
        set(object, "backward", count(counter->backward_total));
        set(object, "first_s", number(counter->first_time));
        set(object, "last_s", number(counter->last_time));
        set(object, "flow_per_s", number(flow));
        set(object, "specific_flow_per_m_s", number(flow / width));
        set(object, "highest_flow_per_s", number(highest));
        set(object, "highest_specific_flow_per_m_s", number(highest / width));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *areas_of(const th_scene_view *scene, const th_observation *first) {
    json_t *list = json_array();
    for (int a = 0; a < first->area_count; ++a) {
        const th_area_series *area = &first->areas[a];
        double sum = 0.0, highest = 0.0, speeds = 0.0;
        int seen = 0;
        for (int k = 0; k < first->sample_count; ++k) {
            if (k < first->use_sample_count) sum += (double)area->density[k];
            highest = fmax(highest, (double)area->density[k]);
            if (isnan(area->speed[k])) continue;
            speeds += (double)area->speed[k];
            seen++;
        }
        json_t *object = json_object();
        set(object, "id", text(area->id));
        set(object, "level", text(scene->levels[area->level].id));
        set(object, "area_m2", number(area->area));
        set(object, "mean_density_per_m2", number(sum / first->use_sample_count));
        set(object, "highest_density_per_m2", number(highest));
        set(object, "mean_speed_m_per_s", number(speeds / seen)); // of samples with people in it
        json_array_append_new(list, object);
    }
    return list;
}

// ---- people

static json_t *people_times(const th_observation *first, bool jam) {
    double *times = malloc(((size_t)first->person_count + 1) * sizeof *times);
    int known = 0;
    for (int p = 0; times && p < first->person_count; ++p)
        if (first->people[p].group >= 0)
            times[known++] = (double)(jam ? first->people[p].jam_time : first->people[p].wait_time);
    th_sample_summary s = th_summarise(times, known);
    free(times);
    json_t *object = json_object(); // no interval: people in one crowd are no independent sample
    set(object, "mean", number(s.mean));
    set(object, "median", number(s.count == 1 ? s.mean : s.median));
    set(object, "p95", number(s.count == 1 ? s.mean : s.p95));
    set(object, "max", number(s.max));
    return object;
}

static json_t *exposures(const th_observation *first) {
    json_t *list = json_array();
    for (int k = 0; k < TH_EXPOSURES; ++k) {
        th_exposure_findings found = th_find_exposure(first, k);
        json_t *object = json_object();
        set(object, "above_per_m2", number((double)th_exposure_bounds[k]));
        set(object, "people", isnan(found.mean) ? json_null() : count(found.people));
        set(object, "mean_s", number(found.mean));
        set(object, "p95_s", number(found.p95));
        set(object, "max_s", number(found.max));
        json_array_append_new(list, object);
    }
    return list;
}

static float peak_load(const th_person *person) { return person->peak_load; }

static json_t *loads(const th_observation *first) {
    json_t *list = json_array();
    for (int k = 0; k < TH_LOADS; ++k) {
        uint64_t people = 0;
        double longest = 0.0;
        for (int p = 0; p < first->person_count; ++p) {
            if (first->people[p].group < 0) continue;
            people += first->people[p].load_time[k] > 0.0f;
            longest = fmax(longest, (double)first->people[p].load_time[k]);
        }
        json_t *object = json_object();
        set(object, "above_n", number((double)th_load_bounds[k]));
        set(object, "people", count(people));
        set(object, "max_s", number(longest));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *left_behind(const th_scene_view *scene, const th_observation *first) {
    json_t *object = json_object(), *groups = json_array();
    for (int g = 0; g < scene->group_count; ++g) {
        th_stranded stranded = th_find_stranded(scene, first, g);
        if (stranded.count == 0) continue;
        json_t *group = json_object();
        set(group, "group", text(scene->groups[g].id));
        set(group, "count", json_integer(stranded.count));
        set_place(group, scene, stranded.at);
        json_array_append_new(groups, group);
    }
    set(object, "count", json_integer(first->left_behind_count));
    set(object, "groups", groups);
    return object;
}

static void set_first_run(json_t *root, const th_scene_view *scene, const th_observation *first) {
    const th_statistics *s = &first->statistics;
    json_t *object = json_object();
    set(object, "seed", count(first->seed));
    set(object, "step_s", number(first->step));
    set(object, "sample_interval_s", number(first->interval));
    set(object, "simulated_s", number(s->time));
    set(object, "spawned", count(s->spawned));
    set(object, "left", count(s->left));
    set(object, "inside", count(s->inside));
    set(object, "removed", count(s->removed));
    set(object, "waiting_to_enter", count(s->waiting_to_enter));
    set(object, "still_to_come", count(s->still_to_come));
    set(object, "unreachable", count(s->unreachable));
    set(object, "falls", th_scene_can_fall(scene) ? count(s->falls) : json_null());
    set(object, "repairs", count(s->repairs));
    set(object, "wall_stops", count(s->wall_stops));
    set(object, "events_lost", count(first->events_lost));
    set(object, "exits", counters_of(scene, first, TH_COUNT_EXIT));
    set(object, "doors", counters_of(scene, first, TH_COUNT_DOOR));
    set(object, "stairs", counters_of(scene, first, TH_COUNT_STAIRS));
    set(object, "lines", counters_of(scene, first, TH_COUNT_LINE));
    set(object, "areas", areas_of(scene, first));
    set(object, "jam_time_s", people_times(first, true));
    set(object, "wait_time_s", people_times(first, false));
    set(object, "exposure", exposures(first));
    th_value_list peaks = th_people_values(first, peak_load);
    set(object, "load", loads(first));
    set(object, "median_peak_load_n",
        number(peaks.count > 0 ? th_quantile(peaks.values, peaks.count, 0.5) : (double)NAN));
    free(peaks.values);
    set(object, "left_behind", left_behind(scene, first));
    set(root, "first_run", object);
}

// ---- all runs

static void set_density(json_t *root, const th_report_def *def) {
    th_density_findings found = th_find_densities(def->scene, def->ensemble);
    if (def->ensemble->map_count == 0) return;
    json_t *density = json_object(), *congestion = json_object();
    set(density, "cell_m", number(found.cell));
    set(density, "highest_per_m2", number(found.highest));
    set_place(density, def->scene, found.highest_at);
    set(congestion, "threshold_per_m2", number((double)TH_DENSE));
    set(congestion, "longest_s", number(found.dense_time));
    set_place(congestion, def->scene, found.dense_at);
    set(congestion, "time_until_95_percent_left_s", number(found.use_time));
    set(congestion, "share_of_time", number(found.dense_share));
    set(congestion, "significant", json_boolean(found.dense_share > TH_IMO_SHARE));
    set(congestion, "significant_area_m2", number(found.significant_area));
    set(root, "density", density);
    set(root, "congestion", congestion);
}

static void set_pressure(json_t *root, const th_report_def *def) {
    th_pressure_findings found = th_find_pressures(def->scene, def->ensemble);
    if (def->ensemble->map_count == 0) return;
    json_t *pressure = json_object(), *crowd = json_object();
    set(pressure, "highest_m2_per_s", number(found.pressure));
    set_place(pressure, def->scene, found.pressure_at);
    set(crowd, "highest_per_s2", number(found.crowd_pressure));
    set_place(crowd, def->scene, found.crowd_pressure_at);
    json_t *turbulent = json_object();
    set(turbulent, "threshold_per_s2", number(TH_TURBULENT));
    set(turbulent, "density_above_per_m2", number((double)TH_PACKED));
    set(turbulent, "longest_s", number(found.turbulent_time));
    set_place(turbulent, def->scene, found.turbulent_at);
    set(crowd, "turbulence", turbulent);
    set(root, "pressure", pressure);
    set(root, "crowd_pressure", crowd);
    json_t *load = json_object();
    set(load, "highest_n", number(found.load));
    set(load, "highest_n_per_m", number(found.line));
    set_place(load, def->scene, found.load_at);
    set(root, "load", load);
}

static void set_casualties(json_t *root, const th_report_def *def) {
    th_fall_findings found = th_find_falls(def->scene, def->ensemble);
    if (!found.possible) return;
    json_t *object = json_object();
    set(object, "mean_people_fallen", number(found.fallen));
    set(object, "mean_people_lying", number(found.lying));
    set(object, "most_people_fallen", count(found.most_fallen));
    set(object, "most_people_lying", count(found.most_lying));
    set_place(object, def->scene, found.at);
    set(root, "casualties", object);
}

static void set_contacts(json_t *root, const th_ensemble *ensemble) {
    double deepest = 0.0;
    uint64_t most = 0, crossings = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        deepest = fmax(deepest, ensemble->runs[r].largest_overlap);
        crossings += ensemble->runs[r].wall_crossings;
        if (ensemble->runs[r].overlapping_most > most) most = ensemble->runs[r].overlapping_most;
    }
    set(root, "largest_overlap_m", number(deepest));
    set(root, "most_people_overlapping", count(most));
    set(root, "wall_crossings", count(crossings));
}

static th_result set_findings(json_t *root, const th_report_def *def, th_error *error) {
    th_findings *findings = NULL;
    th_result result =
        th_run_findings(def->scene, def->ensemble, def->recording_trouble, &findings, error);
    if (result != TH_OK) return result;
    set(root, "findings", th_findings_array(findings));
    th_findings_destroy(findings);
    return TH_OK;
}

json_t *th_report_summary_json(const th_report_def *def, th_error *error) {
    json_t *root = json_object();
    set_input(root, def);
    set_runs(root, def->ensemble, th_scene_can_fall(def->scene));
    set_density(root, def);
    set_pressure(root, def);
    set_casualties(root, def);
    set_contacts(root, def->ensemble);
    set_first_run(root, def->scene, def->ensemble->first);
    th_result result = set_findings(root, def, error);
    if (result == TH_OK && (!json_object_get(root, "findings") || !json_object_get(root, "runs")))
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for summary.json; free some");
    if (result == TH_OK) return root;
    json_decref(root);
    return NULL;
}

th_result th_report_summary(const th_report_def *def, th_error *error) {
    json_t *root = th_report_summary_json(def, error);
    if (!root) return error->code;
    th_table_file file;
    th_table_open(&file, def->folder, "summary.json");
    th_table_json(&file, root);
    th_result result = th_table_close(&file, error);
    json_decref(root);
    return result;
}

// ---- the results of a run, or of many, as text for people

// The compiled scene, only for names: observations carry indices.
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_exits(FILE *out, const th_observation *seen) {
    bool titled = false;
    for (int i = 0; i < seen->counter_count; ++i) {
        const th_counter *counter = &seen->counters[i];
        if (counter->kind != TH_COUNT_EXIT) continue;
        if (!titled) fprintf(out, "\nexits               people    first      last\n");
        titled = true;
        fprintf(out, "  %-16s %7" PRIu64, counter->id, counter->forward_total);
        if (counter->forward_total > 0)
            fprintf(out, "  %6.1f s  %6.1f s", counter->first_time, counter->last_time);
        fputc('\n', out);
    }
    if (seen->events_lost > 0)
        fprintf(out, "  (not kept of %" PRIu64 " people: which of these exits each of them took)\n",
                seen->events_lost);
}

static void print_lines(FILE *out, const th_observation *seen, th_counter_kind kind,
                        const char *title) {
    bool titled = false;
    for (int i = 0; i < seen->counter_count; ++i) {
        const th_counter *counter = &seen->counters[i];
        if (counter->kind != kind) continue;
        if (!titled) fprintf(out, "\n%-18s forward backward     flow     flow per metre\n", title);
        titled = true;
        uint64_t forward = counter->forward_total, backward = counter->backward_total;
        double interval = counter->last_time - counter->first_time;
        fprintf(out, "  %-16s %7" PRIu64 "  %7" PRIu64, counter->id, forward, backward);
        if (forward + backward >= 2 && interval > 0) {
            double flow = (double)(forward + backward - 1) / interval;
            fprintf(out, "  %5.2f /s", flow);
            if (counter->width > 0) fprintf(out, "  %9.2f /(m s)", flow / counter->width);
        }
        fputc('\n', out);
    }
}

static void print_areas(FILE *out, const th_observation *seen) {
    if (seen->area_count > 0)
        fprintf(out, "\nareas               at end      mean   highest density [/m2]\n");
    for (int i = 0; i < seen->area_count; ++i) {
        const th_area_series *area = &seen->areas[i];
        double sum = 0, highest = 0, now = 0;
        for (int k = 0; k < seen->sample_count; ++k) {
            now = (double)area->density[k];
            sum += now;
            highest = fmax(highest, now);
        }
        fprintf(out, "  %-16s %7.2f  %8.2f  %8.2f\n", area->id, now,
                seen->sample_count > 0 ? sum / seen->sample_count : 0.0, highest);
    }
}

// People that did not get out of a run until empty, by group, and where they are.
static void print_left_behind(FILE *out, const th_scene_view *scene, const th_observation *seen) {
    if (!seen->timed_out) return;
    bool titled = false;
    for (int g = 0; g < scene->group_count; ++g) {
        int count = 0;
        const th_left_behind *first = NULL;
        for (int i = 0; i < seen->left_behind_count; ++i) {
            const th_left_behind *person = &seen->left_behind[i];
            if (person->group != g || person->phase >= TH_PHASE_ARRIVED) continue;
            if (count++ == 0) first = person;
        }
        if (!first) continue;
        if (!titled) fprintf(out, "\nstill on the way    people   one of them stands at\n");
        titled = true;
        fprintf(out, "  %-16s %7d   (%.2f, %.2f) on %s\n", scene->groups[g].id, count,
                (double)first->x + scene->origin.x, (double)first->y + scene->origin.y,
                scene->levels[first->level].id);
    }
}

static void print_people(FILE *out, const th_observation *seen) {
    const th_statistics *s = &seen->statistics;
    fprintf(out, "  people           %" PRIu64 " came, %" PRIu64 " left, %" PRIu64 " inside",
            s->spawned, s->left, s->inside);
    if (s->removed > 0) fprintf(out, ", %" PRIu64 " removed", s->removed);
    if (s->falls > 0)
        fprintf(out, "\n  fallen           %" PRIu64 " lie on the ground, %" PRIu64 " falls in all",
                s->fallen, s->falls);
    if (s->waiting_to_enter > 0)
        fprintf(out, ", %" PRIu64 " waiting to enter", s->waiting_to_enter);
    if (s->still_to_come > 0) fprintf(out, ", %" PRIu64 " still to come", s->still_to_come);
    double egress = th_egress_time(seen);
    if (isfinite(egress))
        fprintf(out, "\n  egress time      %.1f s", egress);
    else if (s->left > 0)
        fprintf(out, "\n  last left at     %.1f s", s->last_left_time);
    fputc('\n', out);
}

void th_report_print_run(FILE *out, const th_scene_view *scene, const char *scene_file,
                         const th_observation *seen) {
    const th_statistics *s = &seen->statistics;
    fprintf(out, "%s (%s), seed %" PRIu64 "%s\n", scene->name, scene_file, seen->seed,
            seen->interrupted ? ", interrupted" : "");
    print_people(out, seen);
    fprintf(out, "  simulated        %.1f s in %" PRIu64 " steps of %g s", s->time, s->steps,
            seen->step);
    fprintf(out, "\n  took             %.2f s", seen->wall_seconds);
    if (seen->wall_seconds > 0)
        fprintf(out, ", %.1f times real time", s->time / seen->wall_seconds);
    fprintf(out, "\n  largest overlap  %.1f cm", 100 * (double)s->largest_overlap);
    fprintf(out, "\n  walls            %" PRIu64 " crossed, %" PRIu64 " moves cut short",
            s->wall_crossings, s->wall_stops);
    if (s->repairs > 0) fprintf(out, "\n  repairs          %" PRIu64, s->repairs);
    if (s->unreachable > 0)
        fprintf(out, "\n  no way out       %" PRIu64 " people whose goal cannot be reached",
                s->unreachable);
    fprintf(out, "\n  state hash       %016" PRIx64 "\n", seen->hash);
    print_left_behind(out, scene, seen);
    print_exits(out, seen);
    print_lines(out, seen, TH_COUNT_DOOR, "doors");
    print_lines(out, seen, TH_COUNT_STAIRS, "stairs");
    print_lines(out, seen, TH_COUNT_LINE, "lines");
    print_areas(out, seen);
}

void th_report_print_sample(FILE *out, const th_ensemble *ensemble) {
    th_sample_summary egress = th_ensemble_egress(ensemble);
    fprintf(out, "  %d of %d runs emptied the scene\n", egress.count, ensemble->run_count);
    if (egress.count == 0) return;
    fprintf(out, "  egress time      mean %.1f s", egress.mean);
    if (egress.count > 1)
        fprintf(out,
                ", 95 %% interval of the mean %.1f .. %.1f s (%.1f %% wide)\n"
                "                   median %.1f s, 95th percentile %.1f s",
                egress.ci_low, egress.ci_high, 100 * egress.ci_relative, egress.median, egress.p95);
    fprintf(out, "\n                   lowest %.1f s, highest %.1f s\n", egress.min, egress.max);
}
