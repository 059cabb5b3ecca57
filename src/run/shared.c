// Runs that several processes share, one folder between them (cluster/crew.h): making those that are free, and the tables
// from what all have made. SPDX-License-Identifier: Apache-2.0
#include "cluster/crew.h"
#include "core/error.h"
#include "core/pool.h"
#include "core/statistics.h"
#include "report/report.h"
#include "run/runs.h"
#include "throng/scene_view.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct sharing {
    th_runs *runs;
    th_crew *crew;
    th_row_store store;
    int *used;        // runs that count, of each point
    bool *closed;     // of each point: its interval is narrow, no more runs are needed
    double *egress;   // of the runs of a point
    th_gate *gate;    // over what is above
    th_error error;   // of a worker
    atomic_int done;  // runs whose result is known, for `watch`
    atomic_bool stop; // after an error
} sharing;

static int run_count(const th_runs *runs) { return runs->info.runs * runs->variation.combinations; }

// ---- what others have made

// The row of a run, from its result where that is new. Under the gate.
static bool know_row(sharing *s, int run) {
    int point = run / s->runs->info.runs, index = run % s->runs->info.runs;
    size_t size = 0;
    if (th_rows_has(&s->store, point, index)) return true;
    if (th_crew_state_of(s->crew, run) != TH_CREW_DONE) return false;
    char *text = th_crew_result(s->crew, run, &size);
    bool known = text && th_rows_take(&s->store, point, index, text);
    free(text);
    return known;
}

// Looks at the runs of a point in order, as if they had been made one after the other, and closes it when its interval is
// narrow. Runs that are missing and failed are passed over only where the tables are made.
static void judge_point(sharing *s, int point, bool pass_over) {
    int most = s->runs->info.runs, count = 0;
    s->used[point] = 0;
    s->closed[point] = false;
    for (int k = 0; k < most && !s->closed[point]; ++k) {
        bool known = know_row(s, point * most + k);
        if (!known && !pass_over && th_crew_state_of(s->crew, point * most + k) != TH_CREW_FAILED)
            break;
        if (known) s->egress[count++] = th_rows_get(&s->store, point, k)->egress_time;
        s->used[point] = k + 1;
        if (!known || s->runs->info.until_ci <= 0) continue;
        th_sample_summary egress = th_summarise(s->egress, count);
        s->closed[point] = th_runs_enough(&egress, count, s->runs->info.until_ci);
    }
}

// With --until-ci: are more runs of the point needed?
static bool is_needed(sharing *s, int point) {
    int most = s->runs->info.runs;
    if (s->runs->info.until_ci <= 0) return true;
    th_gate_lock(s->gate);
    if (!s->closed[point]) {
        th_crew_look(s->crew, point * most, (point + 1) * most);
        judge_point(s, point, false);
        for (int k = s->used[point]; k < most && s->closed[point]; ++k)
            th_crew_skip(s->crew, point * most + k);
    }
    bool needed = !s->closed[point];
    th_gate_unlock(s->gate);
    return needed;
}

// Are all runs made, given up or not needed, as far as this process knows?
static bool is_complete(sharing *s) {
    int count = run_count(s->runs), left = 0, done = 0;
    th_crew_look(s->crew, 0, count);
    for (int point = 0; point < s->runs->variation.combinations; ++point) is_needed(s, point);
    for (int run = 0; run < count; ++run) {
        th_crew_state state = th_crew_state_of(s->crew, run);
        left += state == TH_CREW_FREE || state == TH_CREW_TAKEN;
        done += state == TH_CREW_DONE;
    }
    atomic_store(&s->done, done);
    return left == 0;
}

// ---- making runs

typedef struct worker {
    th_scene *scene; // of a sweep: with the values of `point`
    int point;
} worker;

static th_result scene_of(sharing *s, worker *w, int point, const th_scene_view **view,
                          th_error *error) {
    th_runs *runs = s->runs;
    if (!runs->info.sweep) {
        *view = th_scene_view_of(runs->scene);
        return TH_OK;
    }
    th_result result = TH_OK;
    if (!w->scene || w->point != point) {
        th_scene_destroy(w->scene);
        w->scene = NULL;
        w->point = point;
        result = th_sweep_scene(runs, point, &w->scene, error);
    }
    *view = w->scene ? th_scene_view_of(w->scene) : NULL;
    return result;
}

// The row and, of a run without sweep, everything that was seen of it.
static th_result keep_run(sharing *s, int run, th_simulation *simulation, th_error *error) {
    th_ensemble alone;
    th_observation *seen = th_observer_observation(simulation->observer);
    double flow = th_exit_flow(seen);
    th_ensemble_init(&alone);
    th_result result = th_ensemble_add(&alone, seen, error);
    char *line = NULL, *all = NULL;
    size_t length = 0;
    if (result == TH_OK) {
        const th_run_outcome row = th_outcome_of(&alone.runs[0], flow);
        // A whole image has the quantities.
        line = th_rows_line(&s->store, run / s->runs->info.runs, &row,
                            s->runs->info.sweep ? &alone.quantities : NULL);
        length = line ? strlen(line) : 0;
        all = line ? malloc(length + simulation->image_size + 1) : NULL;
        if (!all) result = th_fail(error, TH_NO_MEMORY, "", "no memory for the result of a run");
    }
    if (all) {
        memcpy(all, line, length);
        if (simulation->image) memcpy(all + length, simulation->image, simulation->image_size);
        result = th_crew_keep(s->crew, run, all, length + simulation->image_size, error);
    }
    free(all);
    free(line);
    th_ensemble_release(&alone);
    return result;
}

// Notes errors of the run at the run, which other processes may try; returns errors of this process.
static th_result make_run(sharing *s, worker *w, int run, th_error *error) {
    th_runs *runs = s->runs;
    th_simulation simulation = {0};
    const th_scene_view *view = NULL;
    th_error why = {0};
    th_result result = scene_of(s, w, run / runs->info.runs, &view, &why);
    th_simulation_def def =
        view && runs->info.sweep ? th_simulation_def_of(view, 0, 0) : runs->simulation;
    def.threads = runs->simulation.threads > 0 ? runs->simulation.threads : 1;
    def.backend = runs->simulation.backend;
    uint64_t seed = runs->first_seed + (uint64_t)(run % runs->info.runs);
    if (result == TH_OK) result = th_simulation_start(&simulation, &def, seed, &why);
    if (result == TH_OK) {
        simulation.stop = th_crew_expelled(s->crew);
        simulation.interrupt = &runs->interrupt;
        simulation.wants_image = !runs->info.sweep;
        result = th_simulation_run(&simulation, &why);
    }
    bool half = result == TH_OK && th_observer_observation(simulation.observer)->interrupted;
    th_result kept = TH_OK;
    if (result != TH_OK)
        th_crew_fail(s->crew, run, why.message[0] ? why.message : th_result_text(result));
    else if (half)
        th_crew_give_back(s->crew, run);
    else
        kept = keep_run(s, run, &simulation, error);
    if (kept != TH_OK) th_crew_give_back(s->crew, run);
    th_simulation_release(&simulation);
    return kept;
}

static void work(void *context, int number) {
    sharing *s = context;
    worker w = {NULL, -1};
    th_error error = {0};
    (void)number;
    for (int run; !th_runs_interrupted(s->runs) && !atomic_load(&s->stop) &&
                  (run = th_crew_take(s->crew)) >= 0;) {
        if (!is_needed(s, run / s->runs->info.runs)) {
            th_crew_give_back(s->crew, run);
            continue;
        }
        th_system_reached("taken");
        if (make_run(s, &w, run, &error) == TH_OK) {
            atomic_fetch_add(&s->done, 1);
            is_needed(s, run / s->runs->info.runs);
            continue;
        }
        th_gate_lock(s->gate);
        s->error = error;
        th_gate_unlock(s->gate);
        atomic_store(&s->stop, true);
    }
    th_scene_destroy(w.scene);
}

static bool tell_waiting(void *context, const th_pool_progress *progress) {
    sharing *s = context;
    (void)progress;
    s->runs->made = atomic_load(&s->done);
    th_runs_tell(s->runs,
                 (th_runs_progress){.moment = TH_RUNS_WAITING, .ci_relative = (double)NAN});
    return true;
}

static th_result make_free_runs(sharing *s, th_error *error) {
    int jobs = s->runs->jobs > 0 ? s->runs->jobs : th_core_count();
    const th_pool_def pool = {
        .count = jobs, .threads = jobs, .run = work, .waiting = tell_waiting, .context = s};
    th_result result = th_pool_run(&pool, NULL, error);
    if (result == TH_OK && s->error.code != TH_OK) *error = s->error;
    return result == TH_OK ? s->error.code : result;
}

// ---- tables

// Runs that were given up, for people and for sweep.json.
static void tell_failed(sharing *s, json_t *list) {
    const th_runs *runs = s->runs;
    for (int run = 0; run < run_count(runs); ++run) {
        th_crew_attempt last;
        if (th_crew_state_of(s->crew, run) != TH_CREW_FAILED ||
            !th_crew_attempt_of(s->crew, run, &last))
            continue;
        int point = run / runs->info.runs;
        uint64_t seed = runs->first_seed + (uint64_t)(run % runs->info.runs);
        th_runs_note(s->runs,
                     "combination %d, seed %llu: given up after %d tasks that had it ended: %s%s%s",
                     point, (unsigned long long)seed, last.deaths, last.why,
                     *last.log ? "; see " : "", last.log);
        const char *slash = strrchr(last.log, '/');
        json_array_append_new(list, json_pack("{s:i,s:I,s:i,s:s,s:s}", "combination", point, "seed",
                                              (json_int_t)seed, "deaths", last.deaths, "why",
                                              last.why, "log", slash ? slash + 1 : ""));
    }
}

static th_result gather_sweep(sharing *s, th_error *error) {
    th_runs *runs = s->runs;
    th_result result = TH_OK;
    for (int point = 0; point < runs->info.point_count && result == TH_OK; ++point) {
        judge_point(s, point, true);
        for (int k = 0; k < s->used[point] && result == TH_OK; ++k)
            if (th_rows_has(&s->store, point, k))
                result = th_runs_add(runs, th_rows_get(&s->store, point, k), error);
        if (result == TH_OK) th_runs_close_point(runs);
    }
    return result;
}

static char *image_of(void *context, int run, size_t *size) {
    sharing *s = context;
    return th_crew_result(s->crew, run, size);
}

// Under the crew's lock of the tables.
static th_result write_tables(sharing *s, bool whole, th_error *error) {
    th_runs *runs = s->runs;
    th_result result = TH_OK;
    json_t *failed = json_array();
    if (whole) tell_failed(s, failed);
    runs->info.cut_short = json_array_size(failed) > 0;
    json_object_del(runs->keep.about, "failed_runs"); // of an earlier time
    if (json_array_size(failed) > 0) json_object_set(runs->keep.about, "failed_runs", failed);
    json_decref(failed);
    if (runs->info.sweep) {
        result = gather_sweep(s, error);
        if (result == TH_OK) result = th_sweep_conclude(runs, &s->store, s->used, whole, error);
    } else {
        judge_point(s, 0, true);
        result = th_runs_gather(runs, s->used[0], image_of, s, whole, error);
    }
    return result;
}

static th_result collect(sharing *s, bool whole, th_error *error) {
    th_runs *runs = s->runs;
    runs->info.state = TH_RUNS_STATE_FINISHED; // by another process, unless this one has the lock
    if (!th_crew_lock_tables(s->crew, &runs->interrupt)) {
        if (th_runs_interrupted(runs)) runs->info.state = TH_RUNS_STATE_INTERRUPTED;
        return TH_OK;
    }
    if (!whole) whole = is_complete(s);
    th_result result = write_tables(s, whole, error);
    th_crew_unlock_tables(s->crew);
    if (result == TH_OK && whole) th_crew_disband(s->crew);
    if (result == TH_OK && !whole) runs->info.state = TH_RUNS_STATE_SHARED;
    return result;
}

// ---- the folder

static th_result find(th_runs *runs, bool *same, th_error *error) {
    return runs->info.sweep ? th_sweep_find(runs, same, error) : th_runs_find(runs, same, error);
}

static th_result fill(th_runs *runs, th_error *error) {
    return runs->info.sweep ? th_sweep_write(runs, error) : th_runs_write(runs, error);
}

static bool is_finished(const th_runs *runs) {
    th_error unread = {0};
    const char *name = runs->info.sweep ? "sweep.json" : "run.json";
    json_t *about = th_folder_read_json(&runs->keep.folder, name, &unread);
    const char *state = json_string_value(json_object_get(about, "state"));
    bool finished = state && strcmp(state, "finished") == 0 &&
                    !json_object_get(about, "failed_runs") &&
                    !th_crew_exists(runs->keep.folder.path);
    json_decref(about);
    return finished;
}

// A new folder is filled beside and renamed: any number of processes may do it at once, and one succeeds.
static th_result make_beside(th_runs *runs, th_error *error) {
    th_folder *folder = &runs->keep.folder;
    char out[sizeof folder->path];
    memcpy(out, folder->path, sizeof out);
    snprintf(folder->path, sizeof folder->path, "%.3700s.part-%ld-XXXXXX", out, (long)getpid());
    th_result result = th_make_folders(out, error); // those above it, and that it can be made
    if (result == TH_OK && !mkdtemp(folder->path))
        result = th_file_fail(error, out, "the folder cannot be made: %s; choose another --out",
                              strerror(errno));
    if (result == TH_OK) chmod(folder->path, 0755);
    if (result == TH_OK) result = fill(runs, error);
    if (result == TH_OK) result = th_crew_prepare(folder->path, error);
    bool made = result == TH_OK && rename(folder->path, out) == 0;
    if (!made) th_crew_discard(folder->path);
    memcpy(folder->path, out, sizeof out);
    runs->others_made = result == TH_OK && !made;
    return result;
}

static th_result find_or_make(th_runs *runs, th_error *error) {
    th_folder *folder = &runs->keep.folder;
    bool same = false;
    snprintf(folder->path, sizeof folder->path, "%s", runs->out);
    for (size_t i = strlen(folder->path); i > 1 && folder->path[i - 1] == '/'; --i)
        folder->path[i - 1] = '\0';
    th_result result = find(runs, &same, error);
    if (result != TH_OK || same) return result;
    result = make_beside(runs, error);
    if (result != TH_OK || !runs->others_made) return result;
    result = find(runs, &same, error);
    if (result != TH_OK || same) return result;
    return th_file_fail(error, folder->path, "the folder is not empty; choose another --out");
}

th_result th_shared_prepare(th_runs *runs, th_error *error) {
    th_folder *folder = &runs->keep.folder;
    th_result result = TH_OK;
    char stem[200], name[220];
    th_simulation_release(&runs->first); // its people fit
    th_file_stem(runs->info.scene_file, stem, sizeof stem);
    snprintf(name, sizeof name, "%s%s", stem, runs->info.sweep ? "-sweep" : "");
    if (runs->tree && runs->out && !runs->force) {
        result = find_or_make(runs, error);
    } else if (runs->tree) {
        result = th_folder_claim(folder, runs->out, name, runs->force, error);
        if (result == TH_OK) th_crew_clear(folder->path);
        if (result == TH_OK) result = fill(runs, error);
    }
    if (result == TH_OK && is_finished(runs)) runs->info.state = TH_RUNS_STATE_FINISHED;
    if (result != TH_OK || runs->info.state == TH_RUNS_STATE_FINISHED) return result;
    // One that works alone, in a way that knows of no others, keeps them out.
    if (!th_crew_exists(folder->path)) result = th_folder_lock(folder, error);
    if (result == TH_OK) result = th_crew_prepare(folder->path, error);
    th_folder_unlock(folder);
    return result;
}

// ---- one process

static th_result begin(sharing *s, bool watch, th_error *error) {
    th_runs *runs = s->runs;
    char log[TH_PATH_MAX];
    size_t points = (size_t)runs->variation.combinations, most = (size_t)runs->info.runs;
    s->store = (th_row_store){.folder = &runs->keep.folder,
                              .variation = &runs->variation,
                              .first_seed = runs->first_seed,
                              .runs = runs->info.runs,
                              .file = -1};
    s->used = calloc(points, sizeof *s->used);
    s->closed = calloc(points, sizeof *s->closed);
    s->egress = calloc(most + 1, sizeof *s->egress);
    s->gate = th_gate_create();
    if (!s->used || !s->closed || !s->egress || !s->gate)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs");
    th_result result = th_rows_load(&s->store, runs->info.sweep, error);
    if (result != TH_OK) return result;
    th_launch_log(runs->keep.folder.path, log, sizeof log);
    result = th_crew_join(runs->keep.folder.path, run_count(runs), log, watch, &s->crew, error);
    for (int run = 0; run < run_count(runs) && result == TH_OK; ++run)
        if (th_rows_has(&s->store, run / runs->info.runs, run % runs->info.runs))
            th_crew_skip(s->crew, run);
    return result;
}

static void end(sharing *s) {
    th_crew_leave(s->crew);
    th_rows_close(&s->store);
    th_gate_destroy(s->gate);
    free(s->used);
    free(s->closed);
    free(s->egress);
}

static th_result take_part(sharing *s, th_error *error) {
    th_runs *runs = s->runs;
    th_result result = begin(s, false, error);
    if (result != TH_OK) return result;
    bool complete = is_complete(s);
    runs->info.found = atomic_load(&s->done) + s->store.found;
    if (!runs->told_beginning)
        th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_BEGUN, .ci_relative = (double)NAN});
    runs->told_beginning = true;
    if (!complete) {
        do {
            result = make_free_runs(s, error);
        } while (result == TH_OK && !th_runs_interrupted(runs) &&
                 th_crew_wait(s->crew, &runs->interrupt));
    }
    if (result != TH_OK || atomic_load(th_crew_expelled(s->crew))) return result;
    runs->info.state = th_runs_interrupted(runs) ? TH_RUNS_STATE_INTERRUPTED : TH_RUNS_STATE_SHARED;
    return th_runs_interrupted(runs) || !is_complete(s) ? TH_OK : collect(s, true, error);
}

th_result th_shared_execute(th_runs *runs, th_error *error) {
    bool again = true;
    th_result result = runs->tree ? th_shared_prepare(runs, error) : TH_OK;
    if (runs->info.state == TH_RUNS_STATE_FINISHED) return TH_OK;
    while (result == TH_OK && again && !th_runs_interrupted(runs)) {
        sharing s = {.runs = runs};
        result = take_part(&s, error);
        again = result == TH_OK && s.crew && atomic_load(th_crew_expelled(s.crew));
        end(&s);
    }
    if (again) runs->info.state = TH_RUNS_STATE_INTERRUPTED;
    // The last one has removed what the crew worked with.
    if (result != TH_NO_FILE || th_crew_exists(runs->keep.folder.path)) return result;
    *error = (th_error){0};
    runs->info.state = TH_RUNS_STATE_FINISHED;
    return TH_OK;
}

th_result th_shared_collect(th_runs *runs, th_error *error) {
    sharing s = {.runs = runs};
    th_result result = begin(&s, false, error);
    if (result == TH_OK) result = collect(&s, false, error);
    end(&s);
    return result;
}
