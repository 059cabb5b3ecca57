// Creates and destroys runs, and holds their results; execute.c and sweep.c do the work.
// SPDX-License-Identifier: Apache-2.0
#include "run/runs.h"
#include "cluster/crew.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/statistics.h"
#include "core/system/system.h"
#include "report/report.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- what is told while runs go, and their results

// ---- watching

void th_runs_tell(th_runs *runs, th_runs_progress progress) {
    if (!runs->watch) return;
    progress.point = runs->points_done - (progress.moment == TH_RUNS_POINT_DONE);
    progress.done = runs->outcome_count > runs->made ? runs->outcome_count : runs->made;
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

// Memory for the results of all points; the paths and values are those of runs->variation.
static th_result reserve_results(th_runs *runs, th_error *error) {
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

const th_findings *th_runs_findings(const th_runs *runs) { return runs->findings; }

char *th_runs_text(const th_runs *runs, int point) {
    if (point < 0 || point >= runs->points_done) return NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    if (runs->info.sweep)
        th_sweep_print_point(out, runs, point);
    else if (runs->info.runs == 1)
        th_report_print_run(out, th_scene_view_of(runs->scene), runs->info.scene_file,
                            runs->ensemble.first);
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
        const th_report_def report = th_run_folder_report(
            &runs->keep, th_scene_view_of(runs->scene), &runs->ensemble, runs->trouble);
        object = th_run_folder_summary(&runs->keep, &report, &unread);
    } else if (runs->info.state == TH_RUNS_STATE_FINISHED) { // a folder opened after its run ended
        object = th_folder_read_json(&runs->keep.folder, "summary.json", &unread);
    }
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(object);
    return text;
}

// ---- definition, creation and end

static const uint32_t COOKIE = 0x52554e53; // "RUNS"
// More people than this and a row per person and frame makes a file of gigabytes within minutes.
static const double ROWS_MOST = 10000; // [people]
enum { RUNS_MOST = 1000000, JOBS_MOST = 1024 };
enum { UNTIL_MOST = 1000 }; // runs, when only until_ci is given

th_runs_def th_runs_def_default(void) {
    return (th_runs_def){.cookie = COOKIE, .backend = TH_BACKEND_CPU};
}

// ---- checking the definition. The path of an error is the member's name.

static th_result check_numbers(const th_runs_def *def, th_error *error) {
    const struct {
        const char *name;
        double value, most;
    } numbers[] = {{"runs", def->runs, RUNS_MOST},   {"jobs", def->jobs, JOBS_MOST},
                   {"threads", def->threads, 1024},  {"until_ci", def->until_ci, 10},
                   {"step", def->step, 0.5},         {"max_time", def->max_time, 1e9},
                   {"fps", def->fps, 1000},          {"checkpoint", def->checkpoint, 1e9},
                   {"seed", (double)def->seed, 9e18}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        if (!(numbers[i].value >= 0 && numbers[i].value <= numbers[i].most))
            return th_fail(error, TH_BAD_ARGUMENT, numbers[i].name, "is %g: give 0 to %g",
                           numbers[i].value, numbers[i].most);
    return TH_OK;
}

static th_result check_record(const th_runs_def *def, th_error *error) {
    static const char *const words[] = {"sqlite", "compact", "text", "none"};
    th_recording unused = {0};
    if (!def->record || th_recording_choose(&unused, def->record)) return TH_OK;
    if (strcmp(def->record, "hdf5") == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "record",
                       "hdf5: record sqlite, then `throng convert` makes HDF5 of it");
    const char *nearest = th_nearest_word(def->record, words, 4);
    return th_fail(error, TH_BAD_ARGUMENT, "record", "%s: give sqlite, compact, text or none%s%s%s",
                   def->record, nearest ? "; did you mean " : "", nearest ? nearest : "",
                   nearest ? "?" : "");
}

static bool keeps_nothing(const th_runs_def *def) {
    return !def->sweep && def->out && strcmp(def->out, "none") == 0;
}

static th_result check_together(const th_runs_def *def, th_error *error) {
    bool records = def->record && strcmp(def->record, "none") != 0;
    if (def->sample && !def->sweep)
        return th_fail(error, TH_BAD_ARGUMENT, "sample", "is for sweeps; set `sweep`, too");
    if (def->sweep && def->out && strcmp(def->out, "none") == 0)
        return th_fail(
            error, TH_BAD_ARGUMENT, "out",
            "none: a sweep keeps every finished run in a folder; name one, or \"./none\"");
    if (def->shared && (records || def->checkpoint > 0))
        return th_fail(error, TH_BAD_ARGUMENT, records ? "record" : "checkpoint",
                       "is for runs of one process; record the run that you want to see by itself");
    if (def->shared && keeps_nothing(def))
        return th_fail(error, TH_BAD_ARGUMENT, "out",
                       "none keeps nothing; several processes share a folder, name one");
    if (def->sweep && (records || def->checkpoint > 0))
        return th_fail(error, TH_BAD_ARGUMENT, records ? "record" : "checkpoint",
                       "is for runs; a sweep keeps the numbers of its runs, and can be resumed");
    if (keeps_nothing(def) && (records || def->checkpoint > 0))
        return th_fail(error, TH_BAD_ARGUMENT, "out",
                       "none keeps nothing; name a folder for recordings and checkpoints");
    if (def->checkpoint > 0 && (def->runs > 1 || def->until_ci > 0))
        return th_fail(error, TH_BAD_ARGUMENT, "checkpoint",
                       "is for one run; `throng sweep SCENE --runs N --out DIR` makes many that "
                       "can be interrupted");
    return TH_OK;
}

static th_result check(const th_runs_def *def, th_error *error) {
    if (def->cookie != COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "cookie", "start from th_runs_def_default()");
    if (!def->scene) return th_fail(error, TH_BAD_ARGUMENT, "scene", "names no scene file");
    th_result result = check_numbers(def, error);
    if (result == TH_OK) result = check_record(def, error);
    return result == TH_OK ? check_together(def, error) : result;
}

// ---- plugins

static th_result load_plugins(const th_runs_def *def, th_error *error) {
    th_result result = TH_OK;
    for (int i = 0; i < def->plugin_count && result == TH_OK; ++i)
        result = th_plugin_load(def->plugins[i], error);
    return result;
}

// Whole paths, so that a run can be resumed from another folder. NULL: there are none.
json_t *th_runs_plugins(const th_runs_def *def) {
    json_t *list = def->plugin_count > 0 ? json_array() : NULL;
    for (int i = 0; i < def->plugin_count && list; ++i) {
        char *whole = realpath(def->plugins[i], NULL);
        json_array_append_new(list, json_string(whole ? whole : def->plugins[i]));
        free(whole);
    }
    return list;
}

// A folder may come from elsewhere, and loading a library runs its code: only those that are given are loaded.
th_result th_runs_check_plugins(const th_runs *runs, th_error *error) {
    const json_t *list = json_object_get(runs->keep.about, "plugins");
    const char *path = json_string_value(json_array_get(list, 0));
    if (!path || runs->own_plugins) return TH_OK;
    th_fail(error, TH_BAD_ARGUMENT, "",
            "its models are in the plugin %.200s%s, which is code that a folder does not load by "
            "itself; "
            "if you trust it, add --plugin and its path",
            path, json_array_size(list) > 1 ? " and others" : "");
    snprintf(error->file, sizeof error->file, "%.240s", runs->keep.folder.path);
    return error->code;
}

// ---- preparing

// The format: asked for, or the scene's; many people are stored compactly unless rows were asked for.
static void choose_recording(th_runs *runs, const th_runs_def *def) {
    th_recording *recording = &runs->keep.recording;
    th_record_settings own = th_scene_view_of(runs->scene)->record;
    const char *format = def->record ? def->record : own.format ? own.format : "none";
    if (keeps_nothing(def)) format = "none";
    th_recording_choose(recording, format);
    recording->fps = def->fps > 0 ? def->fps : own.fps;
    bool many = th_people_expected(th_scene_view_of(runs->scene), runs->simulation.end) > ROWS_MOST;
    runs->made_compact = recording->wanted && recording->format == TH_TRAJECTORY_SQLITE && many;
    if (runs->made_compact) recording->format = TH_TRAJECTORY_COMPACT;
}

static void set(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

// run.json: how the run came about. Folders must not depend on the machine, so they hold no machine's name.
static json_t *about_run(const th_runs *runs, const th_runs_def *def) {
    char started[32], seed[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(seed, sizeof seed, "%" PRIu64, runs->first_seed);
    const th_recording *recording = &runs->keep.recording;
    json_t *about = json_object(), *overrides = json_array(), *record = json_object();
    for (int i = 0; i < def->set_count; ++i)
        json_array_append_new(overrides, json_string(def->sets[i]));
    set(record, "format",
        json_string(recording->wanted ? th_trajectory_format_name(recording->format) : "none"));
    set(record, "fps", json_real(recording->fps));
    set(about, "program", json_string("throng"));
    set(about, "version", json_string(th_version()));
    set(about, "started", json_string(started));
    set(about, "scene_file", json_string(def->scene));
    if (def->command_line) set(about, "command_line", json_string(def->command_line));
    set(about, "overrides", overrides);
    if (def->plugin_count > 0) set(about, "plugins", th_runs_plugins(def));
    set(about, "seed", json_string(seed)); // 64 bits do not fit every reader's numbers
    set(about, "runs", json_integer(runs->info.runs));
    set(about, "step", json_real(runs->simulation.step));
    if (def->max_time > 0) set(about, "max_time", json_real(def->max_time));
    set(about, "until_ci", json_real(runs->info.until_ci));
    set(about, "checkpoint_every", json_real(runs->checkpoint_every));
    set(about, "record", record);
    set(about, "report", json_boolean(!def->no_report));
    return about;
}

static th_result plan_runs(th_runs *runs, const th_runs_def *def, th_error *error) {
    th_run_settings own = th_scene_view_of(runs->scene)->run;
    th_simulation_def simulation =
        th_simulation_def_of(th_scene_view_of(runs->scene), def->step, def->max_time);
    simulation.threads = def->threads;
    simulation.backend = def->backend;
    runs->simulation = simulation;
    runs->first_seed = def->seed > 0 ? def->seed : own.seed;
    int count = def->runs > 0 ? def->runs : own.runs > 1 ? own.runs : 1;
    runs->info.runs = def->until_ci > 0 && count == 1 ? UNTIL_MOST : count;
    runs->checkpoint_every = def->checkpoint;
    if (runs->info.runs > 1 && def->checkpoint > 0)
        return th_fail(error, TH_BAD_ARGUMENT, "checkpoint",
                       "is for one run, and run.runs of the scene is %d; add --runs 1",
                       runs->info.runs);
    choose_recording(runs, def);
    if (def->shared && runs->keep.recording.wanted)
        return th_fail(
            error, TH_BAD_ARGUMENT, "record",
            "is asked for by the scene and is for runs of one process; add --record none");
    return TH_OK;
}

static th_result create_plain(th_runs *runs, const th_runs_def *def, th_error *error) {
    const th_scene_options options = {
        .overrides = def->sets, .override_count = def->set_count, .allow_links = def->allow_links};
    const th_texts sets = {def->sets, def->set_count};
    const th_scene_changes changes = {def->seed, def->runs, def->step, def->max_time};
    runs->keep.max_time = def->max_time;
    th_result result = th_scene_load_file(def->scene, &options, &runs->scene, error);
    if (result == TH_OK) result = plan_runs(runs, def, error);
    if (result == TH_OK)
        result = th_simulation_start(&runs->first, &runs->simulation, runs->first_seed, error);
    if (result == TH_OK) result = th_run_folder_begin(&runs->keep, about_run(runs, def), error);
    if (result == TH_OK && !keeps_nothing(def)) {
        runs->tree =
            th_scene_tree(def->scene, &sets, &changes, th_scene_view_of(runs->scene), error);
        result = runs->tree ? TH_OK : error->code;
    }
    if (def->shared) runs->variation.combinations = 1;
    return result;
}

static th_runs *make(const th_runs_def *def, th_error *error) {
    th_runs *runs = calloc(1, sizeof *runs);
    if (!runs) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
        return NULL;
    }
    th_ensemble_init(&runs->ensemble);
    atomic_init(&runs->interrupt, false);
    runs->watch = def->watch;
    runs->context = def->context;
    runs->jobs = def->jobs;
    runs->simulation.threads = def->threads;
    runs->simulation.backend = def->backend;
    return runs;
}

// Makes the texts about the runs from their results. On failure nothing is left.
static th_result complete(th_runs *made, th_result result, th_runs **runs, th_error *error) {
    th_runs_info *info = &made->info;
    if (result == TH_OK) result = reserve_results(made, error);
    *runs = result == TH_OK ? made : NULL;
    if (result != TH_OK) {
        th_runs_destroy(made);
        return result;
    }
    info->scene_name = made->scene ? th_scene_view_of(made->scene)->name
                                   : th_run_folder_text(&made->keep, "scene");
    info->scene_file = th_run_folder_text(&made->keep, "scene_file");
    info->folder = made->keep.folder.path;
    info->shared = made->shared;
    info->page =
        info->sweep || th_run_folder_wants_page(&made->keep) ? "report.html" : "summary.json";
    return TH_OK;
}

th_result th_runs_create(const th_runs_def *def, th_runs **runs, th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    *runs = NULL;
    th_result result = check(def, error);
    if (result == TH_OK) result = load_plugins(def, error);
    if (result != TH_OK) return error->code = result;
    th_runs *made = result == TH_OK ? make(def, error) : NULL;
    if (!made) return error->code;
    made->info.until_ci = def->until_ci;
    made->info.sweep = def->sweep;
    made->force = def->force;
    made->shared = def->shared;
    made->out = def->out ? strdup(def->out) : NULL;
    if (def->out && !made->out)
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    else
        result = def->sweep ? th_sweep_create(made, def, error) : create_plain(made, def, error);
    return complete(made, result, runs, error);
}

th_result th_runs_open(const char *folder, const th_runs_def *def, th_runs **runs,
                       th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    *runs = NULL;
    if (def->cookie != COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "cookie", "start from th_runs_def_default()");
    th_result loaded = load_plugins(def, error);
    if (loaded != TH_OK) return loaded;
    th_runs *made = make(def, error);
    if (!made) return error->code;
    made->own_plugins = def->plugin_count > 0;
    snprintf(made->keep.folder.path, sizeof made->keep.folder.path, "%s", folder);
    made->info.sweep = th_folder_has(&made->keep.folder, "sweep.json");
    made->shared = def->shared || th_crew_exists(folder);
    if (made->shared && !made->info.sweep) made->variation.combinations = 1;
    th_result result = made->shared ? TH_OK : th_folder_lock(&made->keep.folder, error);
    if (result == TH_OK)
        result = made->info.sweep ? th_sweep_open(made, folder, error)
                                  : th_runs_open_plain(made, folder, error);
    return complete(made, result, runs, error);
}

th_result th_runs_execute(th_runs *runs, th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    if (runs->info.state == TH_RUNS_STATE_FINISHED) return TH_OK;
    if (runs->info.state != TH_RUNS_STATE_PREPARED)
        return th_fail(error, TH_BAD_ARGUMENT, "", "these runs were executed already");
    runs->info.state = TH_RUNS_STATE_RUNNING;
    th_result result = runs->shared       ? th_shared_execute(runs, error)
                       : runs->info.sweep ? th_sweep_execute(runs, error)
                                          : th_runs_execute_plain(runs, error);
    if (result != TH_OK) runs->info.state = TH_RUNS_STATE_FAILED;
    return error->code = result;
}

th_result th_runs_prepare(th_runs *runs, th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    if (runs->info.state == TH_RUNS_STATE_FINISHED) return TH_OK;
    if (runs->info.state != TH_RUNS_STATE_PREPARED || !runs->shared)
        return th_fail(error, TH_BAD_ARGUMENT, "shared", "must be set, and before th_runs_execute");
    return error->code = th_shared_prepare(runs, error);
}

th_result th_runs_collect(th_runs *runs, th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    if (runs->info.state == TH_RUNS_STATE_FINISHED) return TH_OK;
    if (runs->info.state != TH_RUNS_STATE_PREPARED || runs->tree)
        return th_fail(error, TH_BAD_ARGUMENT, "", "th_runs_collect is for an opened folder");
    th_result result = th_crew_exists(runs->keep.folder.path) ? th_shared_collect(runs, error)
                       : runs->info.sweep                     ? th_sweep_collect(runs, error)
                                                              : TH_OK;
    if (result != TH_OK) runs->info.state = TH_RUNS_STATE_FAILED;
    return error->code = result;
}

void th_runs_interrupt(th_runs *runs) {
    atomic_store(&runs->interrupt, true);
    th_system_noted();
}

void th_runs_destroy(th_runs *runs) {
    if (!runs) return;
    th_simulation_release(&runs->first);
    th_ensemble_release(&runs->ensemble);
    th_run_folder_release(&runs->keep);
    th_variation_release(&runs->variation);
    th_findings_destroy(runs->findings);
    th_scene_destroy(runs->scene);
    json_decref(runs->tree);
    free(runs->out);
    free(runs->outcomes);
    free(runs->points);
    free(runs->values);
    free(runs);
}
