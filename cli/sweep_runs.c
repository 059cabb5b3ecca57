// Carrying out a sweep: combination after combination, seeds side by side. SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/runs.h"
#include "cli/sweep.h"
#include "core/error.h"
#include "report/sweep.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sweeping {
    th_sweep *sweep;
    th_sweep_store store;
    th_progress progress;
    int *used;       // runs that count, of each combination
    int done;        // runs that count or were found, over all combinations
    int combination; // now
    int *missing;    // runs of it that are to be made, ascending
    int missing_count;
    double *egress; // of the runs looked at, for the interval
    bool enough;    // the interval is narrow
} sweeping;

// People per second over all exits, from the first who leaves to the last.
static double flow_of(const th_observation *seen) {
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

// In a run's thread, as soon as it is complete: what is on the disk need not be made again.
static th_result keep_run(void *context, int index, const th_simulation *run, th_error *error) {
    sweeping *s = context;
    th_observation *seen = th_observer_observation(run->observer);
    double flow = flow_of(seen);
    th_ensemble alone;
    th_ensemble_init(&alone);
    th_result result = th_ensemble_add(&alone, seen, error);
    if (result == TH_OK) {
        const th_run_summary *summary = &alone.runs[0];
        const th_sweep_run row = {.known = true,
                                  .seed = summary->seed,
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
                                  .inside = summary->inside};
        result = th_sweep_store_add(&s->store, s->combination, s->missing[index], &row, error);
    }
    th_ensemble_release(&alone);
    return result;
}

// Looks at the runs before `end` in order, as if they had been made one after the other.
static void look_at(sweeping *s, int end) {
    int *used = &s->used[s->combination];
    while (*used < end && !s->enough) {
        s->egress[*used] = th_sweep_store_row(&s->store, s->combination, *used)->egress_time;
        ++*used;
        ++s->done;
        th_sample_summary egress = th_summarise(s->egress, *used);
        s->enough = th_runs_enough(&egress, *used, s->sweep->until_ci);
    }
}

static void show(void *context, double simulated) {
    sweeping *s = context;
    if (!th_progress_due(&s->progress)) return;
    th_progress_show_runs(&s->progress, s->done, s->sweep->runs * s->sweep->variation.combinations,
                          simulated, (double)NAN);
}

static bool count_run(void *context, int index, th_simulation *run) {
    sweeping *s = context;
    if (th_observer_observation(run->observer)->interrupted) return false;
    look_at(s, index + 1 < s->missing_count ? s->missing[index + 1] : s->sweep->runs);
    show(s, 0);
    return !s->enough;
}

static th_result make_runs(sweeping *s, const th_scene *scene, th_error *error) {
    uint64_t *seeds = malloc((size_t)s->missing_count * sizeof *seeds);
    if (!seeds) return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs of the sweep");
    for (int i = 0; i < s->missing_count; ++i)
        seeds[i] = s->store.first_seed + (uint64_t)s->missing[i];
    th_simulation_def simulation = th_simulation_def_of(scene, 0, 0);
    simulation.threads = s->sweep->threads;
    const th_jobs jobs = {.simulation = &simulation,
                          .seeds = seeds,
                          .count = s->missing_count,
                          .jobs = s->sweep->jobs,
                          .finished = keep_run,
                          .deliver = count_run,
                          .waiting = show,
                          .context = s};
    th_result result = th_jobs_run(&jobs, error);
    free(seeds);
    return result;
}

static void list_missing(sweeping *s) {
    s->missing_count = 0;
    for (int run = 0; run < s->sweep->runs; ++run)
        if (!th_sweep_store_row(&s->store, s->combination, run)->known)
            s->missing[s->missing_count++] = run;
}

// The scene of the combination: that of the folder with the varied values on top.
static int load_combination(const sweeping *s, th_scene **scene) {
    const th_variation *variation = &s->sweep->variation;
    char path[TH_PATH_MAX], *texts[TH_VARY_PATHS] = {0};
    th_text_list overrides = {0};
    bool good = th_folder_path(&s->sweep->folder, "scene.json", path, sizeof path);
    for (int i = 0; i < variation->count && good; ++i) {
        good = asprintf(&texts[i], "%s=%s", variation->items[i].path,
                        th_variation_value(variation, s->combination, i)) > 0;
        if (good) overrides.items[overrides.count++] = texts[i];
    }
    int code = good ? th_load_scene(path, &overrides, scene) : TH_EXIT_FAILED;
    for (int i = 0; i < overrides.count; ++i) free(texts[i]);
    return code;
}

static void print_combination(const sweeping *s) {
    const th_variation *variation = &s->sweep->variation;
    th_sample_summary egress = th_summarise(s->egress, s->used[s->combination]);
    printf("  ");
    for (int i = 0; i < variation->count; ++i)
        printf("%s=%s ", variation->items[i].path,
               th_variation_value(variation, s->combination, i));
    printf("%s%d of %d runs emptied", variation->count > 0 ? " " : "", egress.count,
           s->used[s->combination]);
    if (egress.count > 0) printf("; egress time mean %.1f s", egress.mean);
    if (egress.count > 1)
        printf(" (%.1f .. %.1f), median %.1f s, 95th percentile %.1f s", egress.ci_low,
               egress.ci_high, egress.median, egress.p95);
    putchar('\n');
    fflush(stdout);
}

static int do_combination(sweeping *s, int combination) {
    th_error error = {0};
    th_scene *scene = NULL;
    s->combination = combination;
    s->enough = false;
    s->used[combination] = 0;
    list_missing(s);
    look_at(s, s->missing_count > 0 ? s->missing[0] : s->sweep->runs);
    if (s->missing_count > 0 && !s->enough) {
        int code = load_combination(s, &scene);
        if (code != TH_EXIT_OK) return code;
        error.code = make_runs(s, scene, &error);
        th_scene_destroy(scene);
        if (error.code != TH_OK) {
            th_progress_end(&s->progress);
            // More people than fit is a matter of the values, the rest of the machine.
            return error.code == TH_NO_ROOM ? th_report_error(s->sweep->folder.path, &error)
                                            : th_report_failure(s->sweep->folder.path, &error);
        }
        if (th_interrupted() && !s->enough && s->used[combination] < s->sweep->runs)
            return TH_EXIT_INTERRUPTED;
    }
    th_progress_end(&s->progress);
    print_combination(s);
    return TH_EXIT_OK;
}

// ---- the result

typedef struct columns { // the runs of one combination, as the summaries want them
    double *egress, *flow;
    double jam_sum, max_density;
} columns;

static bool read_columns(const sweeping *s, int combination, columns *c) {
    int count = s->used[combination];
    *c = (columns){.egress = calloc((size_t)count + 1, sizeof(double)),
                   .flow = calloc((size_t)count + 1, sizeof(double))};
    for (int run = 0; run < count && c->egress && c->flow; ++run) {
        const th_sweep_run *row = th_sweep_store_row(&s->store, combination, run);
        c->egress[run] = row->egress_time;
        c->flow[run] = row->flow;
        c->jam_sum += row->mean_jam_time;
        c->max_density = fmax(c->max_density, row->max_density);
    }
    return c->egress && c->flow;
}

static bool fill_point(const sweeping *s, int combination, th_sweep_point *point,
                       const char **values) {
    columns c;
    const th_variation *variation = &s->sweep->variation;
    for (int i = 0; i < variation->count; ++i)
        values[i] = th_variation_value(variation, combination, i);
    int count = s->used[combination];
    bool good = read_columns(s, combination, &c);
    if (good)
        *point = (th_sweep_point){.values = values,
                                  .runs = count,
                                  .egress_times = c.egress,
                                  .egress = th_summarise(c.egress, count),
                                  .flow = th_summarise(c.flow, count),
                                  .mean_jam_time = count > 0 ? c.jam_sum / count : 0,
                                  .max_density = c.max_density};
    free(c.flow);
    if (!good) free(c.egress);
    return good;
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *points_json(const th_sweep_report *report) {
    json_t *list = json_array();
    for (int k = 0; k < report->point_count; ++k) {
        const th_sweep_point *point = &report->points[k];
        const th_sample_summary *egress = &point->egress;
        json_t *values = json_object();
        for (int i = 0; i < report->path_count; ++i)
            json_object_set_new(values, report->paths[i], json_string(point->values[i]));
        json_array_append_new(list,
                              json_pack("{s:o,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "values", values,
                                        "runs", point->runs, "finished", egress->count,
                                        "egress_time_mean", number_or_null(egress->mean),
                                        "egress_time_median", number_or_null(egress->median),
                                        "egress_time_p95", number_or_null(egress->p95),
                                        "egress_time_ci_low", number_or_null(egress->ci_low),
                                        "egress_time_ci_high", number_or_null(egress->ci_high),
                                        "flow_mean", number_or_null(point->flow.mean)));
    }
    return list;
}

static th_result write_report(const sweeping *s, const th_sweep_report *report, th_error *error) {
    json_object_set_new(s->sweep->about, "combinations", points_json(report));
    json_object_set_new(s->sweep->about, "state", json_string("finished"));
    th_sweep_store store = s->store;
    th_result result = th_sweep_store_sort(&store, s->used, error);
    if (result == TH_OK) result = th_report_sweep_table(report, error);
    if (result == TH_OK) result = th_report_sweep_page(report, error);
    if (result == TH_OK)
        result = th_folder_write_json(&s->sweep->folder, "sweep.json", s->sweep->about, error);
    return result;
}

static int report(const sweeping *s) {
    const th_sweep *sweep = s->sweep;
    int count = sweep->variation.combinations, filled = 0;
    const char *paths[TH_VARY_PATHS];
    for (int i = 0; i < sweep->variation.count; ++i) paths[i] = sweep->variation.items[i].path;
    th_sweep_point *points = calloc((size_t)count, sizeof *points);
    const char *(*values)[TH_VARY_PATHS] = calloc((size_t)count, sizeof *values);
    while (points && values && filled < count &&
           fill_point(s, filled, &points[filled], values[filled]))
        ++filled;
    th_error error = {.code = TH_NO_MEMORY, .message = "no memory for the report of the sweep"};
    const th_sweep_report def = {
        .folder = sweep->folder.path,
        .scene_name = json_string_value(json_object_get(sweep->about, "scene")),
        .scene_file = json_string_value(json_object_get(sweep->about, "scene_file")),
        .command_line = json_string_value(json_object_get(sweep->about, "command_line")),
        .paths = paths,
        .path_count = sweep->variation.count,
        .points = points,
        .point_count = count};
    if (filled == count) error.code = write_report(s, &def, &error);
    for (int i = 0; i < filled; ++i) free((void *)(uintptr_t)points[i].egress_times);
    free(points);
    free(values);
    if (error.code != TH_OK) return th_report_failure(sweep->folder.path, &error);
    printf("\n%s/report.html\n", sweep->folder.path);
    return TH_EXIT_OK;
}

static int sweep_all(sweeping *s) {
    const th_sweep *sweep = s->sweep;
    int code = TH_EXIT_OK, count = sweep->variation.combinations;
    printf("%s, %d combination%s, %s%d runs each",
           json_string_value(json_object_get(sweep->about, "scene")), count, count == 1 ? "" : "s",
           sweep->until_ci > 0 ? "at most " : "", sweep->runs);
    if (s->store.found > 0) printf("; %d runs are finished already", s->store.found);
    putchar('\n');
    for (int k = 0; k < count && code == TH_EXIT_OK; ++k)
        code = th_interrupted() ? TH_EXIT_INTERRUPTED : do_combination(s, k);
    th_progress_end(&s->progress);
    if (code == TH_EXIT_OK) return report(s);
    if (code == TH_EXIT_INTERRUPTED)
        fprintf(stderr, "%s: interrupted; `throng resume %s` makes the runs that are missing\n",
                sweep->folder.path, sweep->folder.path);
    return code;
}

int th_sweep_go(th_sweep *sweep) {
    sweeping s = {.sweep = sweep, .progress = th_progress_start(!sweep->quiet, 0)};
    th_error error = {0};
    size_t runs = (size_t)sweep->runs;
    s.store = (th_sweep_store){
        .folder = &sweep->folder, .variation = &sweep->variation, .runs = sweep->runs, .file = -1};
    s.store.first_seed = (uint64_t)json_integer_value(json_object_get(sweep->about, "first_seed"));
    s.used = calloc((size_t)sweep->variation.combinations, sizeof *s.used);
    s.missing = calloc(runs, sizeof *s.missing);
    s.egress = calloc(runs, sizeof *s.egress);
    int code = TH_EXIT_FAILED;
    if (!s.used || !s.missing || !s.egress)
        fprintf(stderr, "%s: no memory for the sweep\n", sweep->folder.path);
    else if ((error.code = th_sweep_store_open(&s.store, &error)) != TH_OK)
        code = th_report_failure(sweep->folder.path, &error);
    else
        code = sweep_all(&s);
    th_sweep_store_close(&s.store);
    free(s.used);
    free(s.missing);
    free(s.egress);
    return code;
}
