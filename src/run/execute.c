// Executes one or several runs of a scene, from the beginning or from a checkpoint, and writes the results.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "record/backend.h"
#include "report/report.h"
#include "run/runs.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the folder

// Writes the folder's contents that stand before the runs.
static th_result write_folder(th_runs *runs, th_error *error) {
    th_run_folder *keep = &runs->keep;
    th_recording *recording = &keep->recording;
    th_result result = th_scene_copy(&keep->folder, runs->tree, runs->info.scene_file, error);
    if (result == TH_OK) result = th_run_folder_state(keep, "running", error);
    if (result == TH_OK && recording->wanted)
        th_folder_path(&keep->folder, recording->file, recording->path, sizeof recording->path);
    return result;
}

static th_result fill_folder(th_runs *runs, th_error *error) {
    char stem[200];
    th_file_stem(runs->info.scene_file, stem, sizeof stem);
    th_result result = th_folder_claim(&runs->keep.folder, runs->out, stem, runs->force, error);
    return result == TH_OK ? write_folder(runs, error) : result;
}

// The identity of runs that several processes share, cluster/runs.json: what decides their bits.
static json_t *identity_of(th_runs *runs) {
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64,
             th_scene_digest(runs->tree, runs->info.scene_file));
    json_t *about = json_deep_copy(runs->keep.about);
    static const char *const own[] = {"started", "state", "command_line"};
    for (int i = 0; i < 3; ++i) json_object_del(about, own[i]);
    json_object_set_new(about, "scene_digest", json_string(digest));
    return about;
}

th_result th_runs_find(th_runs *runs, bool *same, th_error *error) {
    const th_folder *folder = &runs->keep.folder;
    *same = false;
    if (!th_folder_has(folder, "cluster/runs.json")) return TH_OK;
    json_t *old = th_folder_read_json(folder, "cluster/runs.json", error);
    if (!old) return error->code;
    json_t *wanted = identity_of(runs);
    *same = json_equal(old, wanted) != 0;
    json_decref(wanted);
    json_decref(old);
    if (*same) return TH_OK;
    return th_file_fail(error, folder->path,
                        "holds other runs (another scene, seed, number or version); choose another "
                        "--out");
}

th_result th_runs_write(th_runs *runs, th_error *error) {
    json_t *identity = identity_of(runs); // before the copy changes names in the tree
    th_result result = write_folder(runs, error);
    if (result == TH_OK) result = th_folder_make(&runs->keep.folder, "cluster", error);
    if (result == TH_OK)
        result = th_folder_write_json(&runs->keep.folder, "cluster/runs.json", identity, error);
    json_decref(identity);
    return result;
}

// Tells how the recording differs from what was asked.
static void note_recording(th_runs *runs) {
    const th_recording *recording = &runs->keep.recording;
    if (!recording->wanted) return;
    double fps = th_frames_per_second(recording->fps, runs->simulation.step);
    if (fabs(fps - recording->fps) > 1e-6 * recording->fps)
        th_runs_note(runs, "%s: %g frames per second, as a frame is a whole number of steps",
                     recording->path, fps);
    if (runs->made_compact)
        th_runs_note(runs,
                     "%s: stored compactly, as there are more than 10 000 people; `throng convert "
                     "%s rows.sqlite` makes rows of it",
                     recording->path, recording->path);
}

static th_result begin_recording(th_runs *runs, th_simulation *simulation, th_error *error) {
    if (!runs->keep.recording.wanted) return TH_OK;
    th_trajectory_note notes[TH_RUN_NOTES];
    th_run_folder_notes(&runs->keep, notes);
    return th_simulation_record(simulation, &runs->keep.recording, notes, TH_RUN_NOTES, false,
                                error);
}

static th_result write_results(th_runs *runs, const th_report_def *report, bool whole,
                               th_error *error) {
    if (!runs->keep.folder.path[0]) return TH_OK;
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_WRITING, .text = "writing the tables"});
    th_result result = th_report_tables(report, error);
    if (result == TH_OK && th_run_folder_wants_page(&runs->keep)) {
        th_runs_tell(runs,
                     (th_runs_progress){.moment = TH_RUNS_WRITING, .text = "writing the report"});
        result = th_report_page(report, error);
    }
    if (result != TH_OK) return result;
    return th_run_folder_state(&runs->keep, whole ? "finished" : "interrupted", error);
}

// All runs are made: tells so, then writes the folder.
static th_result conclude(th_runs *runs, bool checkpoint_failed, th_error *error) {
    const th_ensemble *ensemble = &runs->ensemble;
    bool whole = !ensemble->first->interrupted && !runs->partial;
    if (runs->info.runs > 1 && th_runs_interrupted(runs)) whole = false;
    const th_report_def report =
        th_run_folder_report(&runs->keep, th_scene_view_of(runs->scene), ensemble, runs->trouble);
    runs->info.cut_short = runs->trouble[0] || checkpoint_failed;
    th_result result =
        th_run_findings(report.scene, ensemble, runs->trouble, &runs->findings, error);
    th_runs_close_point(runs);
    if (result == TH_OK) result = write_results(runs, &report, whole, error);
    if (result == TH_OK)
        runs->info.state = whole ? TH_RUNS_STATE_FINISHED : TH_RUNS_STATE_INTERRUPTED;
    return result;
}

// Moves the observation of a run into the results.
static th_result add_run(th_runs *runs, th_simulation *run, th_error *error) {
    th_observation *seen = th_observer_observation(run->observer);
    double flow = th_exit_flow(seen);
    th_result result = th_ensemble_add(&runs->ensemble, seen, error);
    if (result != TH_OK) return result;
    const th_run_outcome outcome =
        th_outcome_of(&runs->ensemble.runs[runs->ensemble.run_count - 1], flow);
    return th_runs_add(runs, &outcome, error);
}

// ---- one

static void tell_step(void *context, const th_simulation *s) {
    th_runs *runs = context;
    th_observer_counts seen = th_observer_latest(s->observer);
    if (seen.samples == 0) return;
    // Numbers of the last sample: asking the world now would sample its overlaps at a moment that depends on
    // the clock, and the largest overlap of a run must not.
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_STEPPED,
                                          .time = th_world_time(s->world),
                                          .end_time = s->def->until_empty ? 0 : s->def->end,
                                          .inside = seen.inside,
                                          .left = seen.left,
                                          .ci_relative = (double)NAN});
}

static void tell_note(void *context, const char *note) { th_runs_note(context, "%s", note); }

static th_result run_one(th_runs *runs, bool resumed, th_error *error) {
    th_simulation *simulation = &runs->first;
    if (runs->checkpoint_every > 0) {
        simulation->checkpoints = &runs->keep.folder;
        simulation->checkpoint_every = runs->checkpoint_every;
    }
    simulation->interrupt = &runs->interrupt;
    simulation->stepped = runs->watch ? tell_step : NULL;
    simulation->tell = tell_note;
    simulation->context = runs;
    th_result result = resumed ? TH_OK : begin_recording(runs, simulation, error);
    if (result == TH_OK) result = th_simulation_run(simulation, error);
    if (result == TH_OK) result = add_run(runs, simulation, error);
    memcpy(runs->trouble, simulation->trouble, sizeof runs->trouble);
    bool checkpoint_failed = simulation->checkpoint_failed;
    th_simulation_release(simulation);
    return result == TH_OK ? conclude(runs, checkpoint_failed, error) : result;
}

// ---- many

typedef struct sampling {
    th_runs *runs;
    th_error error;
    th_result result;
} sampling;

static th_result begin_first(void *context, th_simulation *first, th_error *error) {
    sampling *s = context;
    return begin_recording(s->runs, first, error);
}

static void tell_waiting(void *context, double simulated) {
    sampling *s = context;
    th_runs_tell(s->runs, (th_runs_progress){
                              .moment = TH_RUNS_WAITING,
                              .time = simulated,
                              .ci_relative = th_ensemble_egress(&s->runs->ensemble).ci_relative});
}

static bool deliver(void *context, int index, th_simulation *run) {
    sampling *s = context;
    th_runs *runs = s->runs;
    if (run->note[0]) th_runs_note(runs, "%s", run->note);
    if (index == 0) memcpy(runs->trouble, run->trouble, sizeof runs->trouble);
    s->result = add_run(runs, run, &s->error);
    if (s->result != TH_OK) return false;
    th_sample_summary egress = th_ensemble_egress(&runs->ensemble);
    th_runs_tell(runs,
                 (th_runs_progress){.moment = TH_RUNS_RUN_DONE, .ci_relative = egress.ci_relative});
    return !th_runs_enough(&egress, runs->ensemble.run_count, runs->info.until_ci);
}

// Tells where the interval stayed wider than wanted.
static void note_why_it_stopped(th_runs *runs) {
    th_sample_summary egress = th_ensemble_egress(&runs->ensemble);
    double wanted = runs->info.until_ci;
    int count = runs->ensemble.run_count;
    if (wanted <= 0 || th_runs_interrupted(runs)) return;
    if (egress.count == 0)
        th_runs_note(runs,
                     "%s: none of %d runs emptied the scene, so there is no egress time to be sure "
                     "of; a longer --max-time or another scene",
                     runs->info.scene_file, count);
    else if (!th_runs_enough(&egress, count, wanted))
        th_runs_note(
            runs,
            "%s: the interval is still %.2g %% wide after %d runs, wanted %.2g %%; more --runs",
            runs->info.scene_file, 100 * egress.ci_relative, count, 100 * wanted);
}

static th_result run_many(th_runs *runs, th_error *error) {
    sampling s = {.runs = runs};
    int count = runs->info.runs;
    uint64_t *seeds = malloc((size_t)count * sizeof *seeds);
    if (!seeds) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs", count);
    for (int i = 0; i < count; ++i) seeds[i] = runs->first_seed + (uint64_t)i;
    const th_jobs jobs = {.simulation = &runs->simulation,
                          .seeds = seeds,
                          .count = count,
                          .jobs = runs->jobs,
                          .interrupt = &runs->interrupt,
                          .begin_first = begin_first,
                          .deliver = deliver,
                          .waiting = tell_waiting,
                          .context = &s};
    th_simulation_release(&runs->first); // its people fit; its memory is for the others
    th_result result = th_jobs_run(&jobs, error);
    free(seeds);
    if (result == TH_OK && s.result != TH_OK) {
        *error = s.error;
        result = s.result;
    }
    if (result != TH_OK) return result;
    if (runs->ensemble.run_count == 0) {
        runs->info.state = TH_RUNS_STATE_INTERRUPTED;
        return TH_OK;
    }
    note_why_it_stopped(runs);
    return conclude(runs, false, error);
}

// ---- from images of complete runs

// Goes on where the run ended, which is to end it.
static th_result add_image(th_runs *runs, int run, char *bytes, size_t size, th_error *error) {
    th_checkpoint checkpoint;
    th_simulation simulation = {0};
    uint64_t seed = runs->first_seed + (uint64_t)run;
    th_result result = th_checkpoint_take(bytes, size, runs->keep.folder.path, &checkpoint, error);
    if (result != TH_OK) return result;
    result = th_simulation_start(&simulation, &runs->simulation, seed, error);
    if (result == TH_OK) result = th_simulation_restore(&simulation, &checkpoint, error);
    if (result == TH_OK) result = th_simulation_run(&simulation, error);
    if (result == TH_OK) result = add_run(runs, &simulation, error);
    th_simulation_release(&simulation);
    th_checkpoint_release(&checkpoint);
    return result;
}

th_result th_runs_gather(th_runs *runs, int count, th_image_fn *image, void *context, bool whole,
                         th_error *error) {
    th_result result = TH_OK;
    for (int run = 0; run < count && result == TH_OK; ++run) {
        size_t size = 0;
        char *bytes = image(context, run, &size);
        const char *end = bytes ? memchr(bytes, '\n', size) : NULL;
        if (!end) {
            free(bytes);
            continue;
        }
        size -= (size_t)(end + 1 - bytes);
        memmove(bytes, end + 1, size); // to where malloc put it: numbers inside are aligned
        result = add_image(runs, run, bytes, size, error);
    }
    if (result != TH_OK) return result;
    if (runs->ensemble.run_count == 0) {
        th_runs_note(runs, "%s: no run is complete, so there are no tables", runs->info.folder);
        return TH_OK;
    }
    runs->partial = !whole;
    return conclude(runs, false, error);
}

// ---- going on

// The run as it was at a checkpoint, with its recording. On failure nothing is left behind.
static th_result start_at(th_runs *runs, const char *name, th_error *error) {
    th_checkpoint checkpoint;
    th_result result = th_checkpoint_read(&runs->keep.folder, name, &checkpoint, error);
    if (result != TH_OK) return result;
    result = th_simulation_start(&runs->first, &runs->simulation, runs->first_seed, error);
    if (result == TH_OK) {
        result = th_simulation_restore(&runs->first, &checkpoint, error);
        if (result == TH_OK && runs->keep.recording.wanted)
            result =
                th_simulation_record(&runs->first, &runs->keep.recording, NULL, 0, true, error);
        if (result != TH_OK) th_simulation_release(&runs->first);
    }
    th_checkpoint_release(&checkpoint);
    return result;
}

// The newest checkpoint that is whole and that the recording reaches; false: there is none.
static bool start_at_newest(th_runs *runs) {
    th_checkpoint_name names[TH_CHECKPOINTS_LISTED];
    int count = th_checkpoint_list(&runs->keep.folder, names);
    for (int i = 0; i < count; ++i) {
        th_error error = {0};
        char path[TH_PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", runs->keep.folder.path, names[i]);
        error.code = start_at(runs, names[i], &error);
        if (error.code == TH_OK) {
            th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_BEGUN,
                                                  .time = th_world_time(runs->first.world),
                                                  .text = path});
            return true;
        }
        th_runs_note(runs, "%s: %s", error.file[0] ? error.file : names[i],
                     error.message[0] ? error.message : th_result_text(error.code));
        th_runs_note(runs, "%s: cannot be used", path);
    }
    return false;
}

static th_result resume(th_runs *runs, th_error *error) {
    th_result result = th_run_folder_state(&runs->keep, "running", error);
    if (result != TH_OK) return result;
    if (start_at_newest(runs)) return run_one(runs, true, error);
    // Deterministic as runs are, beginning again gives the same result, only later.
    th_runs_note(runs, "%s: no checkpoint can be used; the run begins again",
                 runs->keep.folder.path);
    if (runs->keep.recording.wanted) th_trajectory_remove(runs->keep.recording.path);
    result = th_simulation_start(&runs->first, &runs->simulation, runs->first_seed, error);
    if (result != TH_OK) return result;
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_BEGUN});
    return run_one(runs, false, error);
}

// Several runs of one scene have no checkpoints.
static th_result refuse_many(const th_run_folder *run, th_error *error) {
    char *command = th_run_folder_again(run);
    if (!command) return th_fail(error, TH_NO_MEMORY, "", "no memory for an advice");
    bool fits = strlen(command) + 80 < sizeof error->message; // half a command would mislead
    th_result result = th_file_fail(error, run->folder.path,
                                    "several runs cannot go on where they stopped; begin again "
                                    "with\n  %s",
                                    fits ? command : "the command in its run.json and --force");
    free(command);
    return result;
}

th_result th_runs_open_plain(th_runs *runs, const char *folder, th_error *error) {
    char path[TH_PATH_MAX];
    th_run_folder *keep = &runs->keep;
    th_result result = th_run_folder_open(keep, folder, error);
    if (result != TH_OK) return result;
    bool finished = strcmp(th_run_folder_text(keep, "state"), "finished") == 0;
    json_int_t count = json_integer_value(json_object_get(keep->about, "runs"));
    if (!finished && count > 1 && !runs->shared) return refuse_many(keep, error);
    if (!th_folder_path(&keep->folder, "scene.json", path, sizeof path))
        return th_file_fail(error, folder, "the name is too long");
    runs->info.runs = runs->shared && count > 0 && count <= 1000000 ? (int)count : 1;
    runs->info.until_ci = json_number_value(json_object_get(keep->about, "until_ci"));
    if (finished) {
        runs->info.state = TH_RUNS_STATE_FINISHED;
        th_folder_unlock(&keep->folder);
        return TH_OK;
    }
    result = th_runs_check_plugins(runs, error);
    if (result == TH_OK) result = th_scene_load_file(path, NULL, &runs->scene, error);
    if (result != TH_OK) return result;
    th_simulation_def simulation = th_simulation_def_of(th_scene_view_of(runs->scene), 0, 0);
    simulation.threads = runs->simulation.threads;
    simulation.backend = runs->simulation.backend;
    runs->simulation = simulation;
    runs->first_seed = th_scene_view_of(runs->scene)->run.seed;
    runs->checkpoint_every = json_number_value(json_object_get(keep->about, "checkpoint_every"));
    runs->resumable = !runs->shared;
    return TH_OK;
}

th_result th_runs_execute_plain(th_runs *runs, th_error *error) {
    if (runs->resumable) return resume(runs, error);
    if (runs->tree) {
        th_result result = fill_folder(runs, error);
        if (result != TH_OK) return result;
    }
    th_runs_tell(runs, (th_runs_progress){.moment = TH_RUNS_BEGUN});
    note_recording(runs);
    return runs->info.runs == 1 ? run_one(runs, false, error) : run_many(runs, error);
}
