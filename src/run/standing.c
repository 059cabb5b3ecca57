// Progress of the runs of a folder. Only reads. SPDX-License-Identifier: Apache-2.0
#include "cluster/crew.h"
#include "core/error.h"
#include "core/memory.h"
#include "run/runs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct holder_text { // what the texts of a holder point into
    char machine[80], job[64], log[TH_PATH_MAX], why[400];
} holder_text;

typedef struct looking {
    th_runs_standing *standing;
    th_runs *runs; // only what th_sweep_open reads
    th_crew *crew;
    th_row_store store;
    th_runs_holder *holders;
    int count;
    double seconds;
    int timed;
} looking;

static bool add_holder(looking *l, int run, bool given_up) {
    th_crew_attempt attempt;
    holder_text *text = calloc(1, sizeof *text);
    if (!text || !TH_RESERVE_ONE(l->holders, l->count)) {
        free(text);
        return false;
    }
    th_crew_attempt_of(l->crew, run, &attempt);
    snprintf(text->machine, sizeof text->machine, "%s", attempt.machine);
    snprintf(text->job, sizeof text->job, "%s", attempt.job);
    snprintf(text->log, sizeof text->log, "%s", attempt.log);
    snprintf(text->why, sizeof text->why, "%s", attempt.why);
    l->holders[l->count++] = (th_runs_holder){
        .point = run / l->store.runs,
        .seed = l->store.first_seed + (uint64_t)(run % l->store.runs),
        .given_up = given_up,
        .deaths = attempt.deaths,
        .silent = attempt.silent,
        .machine = text->machine, // the first of the texts is where the block begins
        .job = text->job,
        .log = text->log,
        .why = text->why};
    return true;
}

static void look_at_run(looking *l, int run) {
    th_runs_standing *standing = l->standing;
    int point = run / l->store.runs, index = run % l->store.runs;
    size_t size = 0;
    bool known = th_rows_has(&l->store, point, index);
    th_crew_state state = l->crew && !known ? th_crew_state_of(l->crew, run) : TH_CREW_FREE;
    if (state == TH_CREW_DONE) {
        char *text = th_crew_result(l->crew, run, &size);
        known = text && th_rows_take(&l->store, point, index, text);
        free(text);
    }
    standing->done += known || state == TH_CREW_DONE;
    standing->taken += state == TH_CREW_TAKEN;
    standing->given_up += state == TH_CREW_FAILED;
    if (state == TH_CREW_TAKEN || state == TH_CREW_FAILED)
        add_holder(l, run, state == TH_CREW_FAILED);
    if (!known) return;
    l->seconds += th_rows_get(&l->store, point, index)->wall_seconds;
    ++l->timed;
}

// The runs of a finished set without sweep: rows of runs.csv, a table that a single run lacks.
static int runs_of_table(const th_folder *folder) {
    char path[TH_PATH_MAX];
    size_t size = 0;
    int lines = 0;
    th_error unread = {0};
    bool fits = th_folder_path(folder, "runs.csv", path, sizeof path);
    char *text = fits ? th_file_content(path, &size, &unread) : NULL;
    for (size_t i = 0; text && i < size; ++i) lines += text[i] == '\n';
    free(text);
    return lines > 1 ? lines - 1 : 1;
}

static void estimate(const looking *l) {
    th_runs_standing *s = l->standing;
    int left = s->runs - s->done - s->given_up;
    s->run_seconds = l->timed > 0 ? l->seconds / l->timed : (double)NAN;
    s->left = s->finished ? 0 : s->taken > 0 ? s->run_seconds * left / s->taken : (double)NAN;
}

static th_result look(looking *l, th_error *error) {
    th_runs *runs = l->runs;
    const th_folder *folder = &runs->keep.folder;
    const char *file = runs->info.sweep ? "sweep.json" : "run.json";
    if (!th_folder_has(folder, file))
        return th_file_fail(error, folder->path,
                            "has no sweep.json and no run.json; give the folder of a throng sweep "
                            "or run");
    json_t *about = th_folder_read_json(folder, file, error);
    if (!about) return error->code;
    runs->keep.about = about;
    const json_t *definition = runs->info.sweep ? json_object_get(about, "definition") : about;
    json_int_t count = json_integer_value(json_object_get(definition, "runs"));
    bool good = count >= 1 && count <= 1000000;
    if (runs->info.sweep)
        good = good && th_variation_of_json(&runs->variation, json_object_get(definition, "vary"));
    else
        runs->variation.combinations = 1;
    if (!good || (double)runs->variation.combinations * (double)count > 1e7)
        return th_file_fail(error, folder->path, "is damaged: %s says nothing of its runs", file);
    const json_t *seed = json_object_get(about, runs->info.sweep ? "first_seed" : "seed");
    l->store = (th_row_store){.folder = folder,
                              .variation = &runs->variation,
                              .first_seed =
                                  runs->info.sweep
                                      ? (uint64_t)json_integer_value(seed)
                                      : strtoull(th_run_folder_text(&runs->keep, "seed"), NULL, 10),
                              .runs = (int)count,
                              .file = -1};
    l->standing->runs = (int)count * runs->variation.combinations;
    l->standing->finished = strcmp(th_run_folder_text(&runs->keep, "state"), "finished") == 0;
    th_result result = th_rows_load(&l->store, runs->info.sweep, error);
    if (result != TH_OK) return result;
    if (th_crew_exists(folder->path)) {
        th_error gone = {0}; // since that moment: all is done
        th_crew_join(folder->path, l->standing->runs, "", true, &l->crew, &gone);
    }
    l->standing->shared = l->crew != NULL;
    for (int run = 0; run < l->standing->runs; ++run) look_at_run(l, run);
    if (!runs->info.sweep && !l->crew && l->standing->finished)
        l->standing->done = runs_of_table(folder);
    estimate(l);
    return TH_OK;
}

th_result th_runs_stand(const char *folder, th_runs_standing *standing, th_error *error) {
    th_error unread = {0};
    if (!error) error = &unread;
    *standing = (th_runs_standing){0};
    th_runs *runs = calloc(1, sizeof *runs);
    if (!runs) return th_fail(error, TH_NO_MEMORY, "", "no memory to look at %s", folder);
    snprintf(runs->keep.folder.path, sizeof runs->keep.folder.path, "%s", folder);
    runs->info.sweep = standing->sweep = th_folder_has(&runs->keep.folder, "sweep.json");
    looking l = {.standing = standing, .runs = runs, .store = {.file = -1}};
    th_result result = look(&l, error);
    standing->holders = l.holders;
    standing->holder_count = l.count;
    th_crew_leave(l.crew);
    th_rows_close(&l.store);
    th_runs_destroy(runs);
    if (result != TH_OK) th_runs_standing_destroy(standing);
    return error->code = result;
}

void th_runs_standing_destroy(th_runs_standing *standing) {
    for (int i = 0; i < standing->holder_count; ++i)
        free((void *)(uintptr_t)standing->holders[i].machine);
    free((void *)(uintptr_t)standing->holders);
    *standing = (th_runs_standing){0};
}
