// What is told while runs go, and what came of them. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "core/statistics.h"
#include "report/summary.h"
#include "run/runs.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// ---- watching

void th_runs_tell(th_runs *runs, th_runs_progress progress) {
    if (!runs->watch) return;
    progress.point = runs->points_done - (progress.moment == TH_RUNS_POINT_DONE);
    progress.done = runs->outcome_count;
    progress.count = runs->info.runs * runs->info.point_count;
    if (!progress.text) progress.text = "";
    if (!runs->watch(&progress, runs->context)) th_runs_interrupt(runs);
}

void th_runs_note(th_runs *runs, const char *format, ...) {
    char line[2 * TH_PATH_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_NOTE, .text = line});
}

bool th_runs_enough(const th_sample_summary *egress, int runs, double until_ci) {
    if (until_ci <= 0 || runs < TH_RUNS_LEAST) return false;
    return egress->count == 0 || (egress->count >= TH_RUNS_LEAST && egress->ci_relative < until_ci);
}

// ---- results

th_result th_runs_reserve(th_runs *runs, th_error *error) {
    const th_variation *variation = &runs->variation;
    int count = variation->combinations > 0 ? variation->combinations : 1;
    runs->points = calloc((size_t)count, sizeof *runs->points);
    runs->values = calloc((size_t)count, sizeof *runs->values);
    if (!runs->points || !runs->values)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the results of %d points", count);
    for (int i = 0; i < variation->count; ++i) runs->paths[i] = variation->items[i].path;
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < variation->count; ++i)
            runs->values[k][i] = th_variation_value(variation, k, i);
        runs->points[k].values = runs->values[k];
    }
    runs->info.paths = runs->paths;
    runs->info.path_count = variation->count;
    runs->info.point_count = count;
    return TH_OK;
}

th_result th_runs_add(th_runs *runs, const th_run_outcome *outcome, th_error *error) {
    if (!TH_RESERVE_ONE(runs->outcomes, runs->outcome_count))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the results of a run");
    th_run_outcome *kept = &runs->outcomes[runs->outcome_count++];
    *kept = *outcome;
    kept->point = runs->points_done;
    return TH_OK;
}

void th_runs_close_point(th_runs *runs) {
    th_runs_point *point = &runs->points[runs->points_done];
    const th_runs_point *before = runs->points_done > 0 ? point - 1 : NULL;
    point->first = before ? before->first + before->count : 0;
    point->count = runs->outcome_count - point->first;
    double *times = calloc((size_t)point->count + 1, sizeof *times);
    for (int i = 0; times && i < point->count; ++i)
        times[i] = runs->outcomes[point->first + i].egress_time;
    th_sample_summary s = th_summarise(times, times ? point->count : 0);
    free(times);
    point->egress = (th_egress){s.count, s.mean, s.median, s.p05,     s.p95,
                                s.min,   s.max,  s.ci_low, s.ci_high, s.ci_relative};
    ++runs->points_done;
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_POINT_DONE});
}

th_run_outcome th_outcome_of(const th_run_summary *summary, double flow) {
    return (th_run_outcome){.seed = summary->seed,
                            .hash = summary->hash,
                            .egress_time = summary->egress_time,
                            .p95_time = summary->p95_time,
                            .flow = flow,
                            .mean_jam_time = summary->mean_jam_time,
                            .max_density = summary->max_density,
                            .largest_overlap = summary->largest_overlap,
                            .time = summary->time,
                            .wall_seconds = summary->wall_seconds,
                            .spawned = summary->spawned,
                            .left = summary->left,
                            .inside = summary->inside,
                            .fallen = summary->fallen,
                            .lying = summary->lying,
                            .interrupted = summary->interrupted};
}

double th_exit_flow(const th_observation *seen) {
    double first = (double)INFINITY, last = 0;
    uint64_t people = 0;
    for (int i = 0; i < seen->counter_count; ++i) {
        const th_counter *counter = &seen->counters[i];
        if (counter->kind != TH_COUNT_EXIT || counter->forward_total == 0) continue;
        people += counter->forward_total;
        first = fmin(first, counter->first_time);
        last = fmax(last, counter->last_time);
    }
    return people > 1 && last > first ? (double)(people - 1) / (last - first) : (double)NAN;
}

const th_runs_info *th_runs_about(const th_runs *runs) { return &runs->info; }

const th_run_outcome *th_runs_outcomes(const th_runs *runs, int *count) {
    *count = runs->outcome_count;
    return runs->outcomes;
}

const th_runs_point *th_runs_points(const th_runs *runs, int *count) {
    *count = runs->points_done;
    return runs->points;
}

const char *const *th_runs_warnings(const th_runs *runs, int *count) {
    *count = runs->warnings.count;
    return (const char *const *)runs->warnings.texts;
}

char *th_runs_text(const th_runs *runs, int point) {
    if (point < 0 || point >= runs->points_done) return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    if (runs->info.sweep)
        th_sweep_print_point(out, runs, point);
    else if (runs->info.runs == 1)
        th_report_print_run(out, runs->scene, runs->info.scene_file, runs->ensemble.first);
    else
        th_report_print_sample(out, &runs->ensemble);
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

char *th_runs_json(const th_runs *runs) {
    th_error unread = {0};
    if (runs->info.sweep)
        return json_dumps(runs->keep.about, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_t *object = NULL;
    if (runs->points_done > 0) {
        const th_report_def report =
            th_run_folder_report(&runs->keep, runs->scene, &runs->ensemble, runs->trouble);
        object = th_run_folder_summary(&runs->keep, &report, &unread);
    } else if (runs->info.state == TH_RUNS_FINISHED) { // a folder opened after its run ended
        object = th_folder_read_json(&runs->keep.folder, "summary.json", &unread);
    }
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    return text;
}
