// One run or many. SPDX-License-Identifier: Apache-2.0
#include "cli/runs.h"
#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/result.h"
#include "core/error.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool th_runs_enough(const th_sample_summary *egress, int runs, double until_ci) {
    if (until_ci <= 0 || runs < TH_RUNS_LEAST) return false;
    return egress->count == 0 || (egress->count >= TH_RUNS_LEAST && egress->ci_relative < until_ci);
}

void th_runs_tell_recording(const th_runs *runs) {
    const th_recording *recording = &runs->keep.recording;
    if (!recording->wanted) return;
    double fps = th_frames_per_second(recording->fps, runs->simulation.step);
    if (fabs(fps - recording->fps) > 1e-6 * recording->fps)
        fprintf(stderr, "%s: %g frames per second, as a frame is a whole number of steps\n",
                recording->path, fps);
    if (runs->made_compact)
        fprintf(stderr,
                "%s: stored compactly, as there are more than 10 000 people; `throng convert %s "
                "rows.sqlite` makes rows of it\n",
                recording->path, recording->path);
}

static th_result begin_recording(th_runs *runs, th_simulation *simulation, bool resumed,
                                 th_error *error) {
    if (!runs->keep.recording.wanted) return TH_OK;
    th_trajectory_note notes[TH_RUN_NOTES];
    th_run_folder_notes(&runs->keep, notes);
    return th_simulation_record(simulation, &runs->keep.recording, notes, TH_RUN_NOTES, resumed,
                                error);
}

static int print_json(const th_runs *runs, const th_ensemble *ensemble) {
    th_error error = {0};
    json_t *object = th_run_folder_summary(&runs->keep, runs->simulation.scene, ensemble, &error);
    if (!object) return th_report_failure(runs->scene_file, &error);
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(object);
    return TH_EXIT_OK;
}

// Prints, writes the folder, and says where it is: the last line of the output.
static int conclude(th_runs *runs, const th_ensemble *ensemble, const char *trouble,
                    bool checkpoint_failed) {
    bool alone = runs->count == 1, complete = !ensemble->first->interrupted;
    if (!alone && th_interrupted()) complete = false;
    int code = TH_EXIT_OK;
    if (runs->json)
        code = print_json(runs, ensemble);
    else if (alone)
        th_result_print(runs->simulation.scene, runs->scene_file, ensemble->first);
    else
        th_result_print_sample(ensemble);
    fflush(stdout);
    if (code == TH_EXIT_OK)
        code = th_run_folder_results(&runs->keep, runs->simulation.scene, ensemble, trouble,
                                     complete, runs->quiet);
    if (code == TH_EXIT_OK && runs->keep.folder.path[0] && !runs->json)
        printf("\n%s/%s\n", runs->keep.folder.path,
               th_run_folder_wants_page(&runs->keep) ? "report.html" : "summary.json");
    if (code != TH_EXIT_OK) return code;
    if ((trouble && *trouble) || checkpoint_failed) return TH_EXIT_FAILED;
    return complete ? TH_EXIT_OK : TH_EXIT_INTERRUPTED;
}

int th_runs_one(th_runs *runs, th_simulation *simulation, bool resumed) {
    th_error error = {0};
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    if (runs->checkpoint_every > 0) {
        simulation->checkpoints = &runs->keep.folder;
        simulation->checkpoint_every = runs->checkpoint_every;
    }
    th_result result = resumed ? TH_OK : begin_recording(runs, simulation, false, &error);
    th_progress progress =
        th_progress_start(!runs->quiet, runs->simulation.until_empty ? 0 : runs->simulation.end);
    if (result == TH_OK) result = th_simulation_run(simulation, &progress, &error);
    if (result == TH_OK)
        result = th_ensemble_add(&ensemble, th_observer_observation(simulation->observer), &error);
    char trouble[sizeof simulation->trouble];
    memcpy(trouble, simulation->trouble, sizeof trouble);
    bool checkpoint_failed = simulation->checkpoint_failed;
    th_simulation_release(simulation);
    int code = result == TH_OK ? conclude(runs, &ensemble, trouble, checkpoint_failed)
                               : th_report_failure(runs->scene_file, &error);
    th_ensemble_release(&ensemble);
    return code;
}

// ---- many

typedef struct sampling {
    th_runs *runs;
    th_ensemble ensemble;
    th_progress progress;
    th_error error;
    th_result result;
    char trouble[640];
} sampling;

static th_result begin_first(void *context, th_simulation *first, th_error *error) {
    sampling *s = context;
    return begin_recording(s->runs, first, false, error);
}

static void show_runs(void *context, double simulated) {
    sampling *s = context;
    if (th_progress_due(&s->progress))
        th_progress_show_runs(&s->progress, s->ensemble.run_count, s->runs->count, simulated,
                              th_ensemble_egress(&s->ensemble).ci_relative);
}

static bool add_run(void *context, int index, th_simulation *run) {
    sampling *s = context;
    if (index == 0) memcpy(s->trouble, run->trouble, sizeof s->trouble);
    s->result = th_ensemble_add(&s->ensemble, th_observer_observation(run->observer), &s->error);
    if (s->result != TH_OK) return false;
    if (!s->runs->json) {
        th_progress_end(&s->progress);
        th_result_print_run(&s->ensemble.runs[s->ensemble.run_count - 1]);
        fflush(stdout);
    }
    show_runs(s, 0);
    th_sample_summary egress = th_ensemble_egress(&s->ensemble);
    return !th_runs_enough(&egress, s->ensemble.run_count, s->runs->until_ci);
}

static th_result sample(sampling *s, th_error *error) {
    th_runs *runs = s->runs;
    uint64_t *seeds = malloc((size_t)runs->count * sizeof *seeds);
    if (!seeds) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs", runs->count);
    for (int i = 0; i < runs->count; ++i) seeds[i] = runs->first_seed + (uint64_t)i;
    const th_jobs jobs = {.simulation = &runs->simulation,
                          .seeds = seeds,
                          .count = runs->count,
                          .jobs = runs->jobs,
                          .begin_first = begin_first,
                          .deliver = add_run,
                          .waiting = show_runs,
                          .context = s};
    th_result result = th_jobs_run(&jobs, error);
    th_progress_end(&s->progress);
    free(seeds);
    if (result == TH_OK && s->result != TH_OK) *error = s->error;
    return result == TH_OK ? s->result : result;
}

// Where the wish for a narrow interval was not fulfilled.
static void tell_why_it_stopped(const th_runs *runs, const th_ensemble *ensemble) {
    th_sample_summary egress = th_ensemble_egress(ensemble);
    if (runs->until_ci <= 0 || th_interrupted()) return;
    if (egress.count == 0)
        fprintf(
            stderr,
            "%s: none of %d runs emptied the scene, so there is no egress time to be sure of; a "
            "longer --max-time or another scene\n",
            runs->scene_file, ensemble->run_count);
    else if (!th_runs_enough(&egress, ensemble->run_count, runs->until_ci))
        fprintf(
            stderr,
            "%s: the interval is still %.2g %% wide after %d runs, wanted %.2g %%; more --runs\n",
            runs->scene_file, 100 * egress.ci_relative, ensemble->run_count, 100 * runs->until_ci);
}

int th_runs_many(th_runs *runs) {
    sampling s = {.runs = runs, .progress = th_progress_start(!runs->quiet, 0)};
    th_error error = {0};
    th_ensemble_init(&s.ensemble);
    if (!runs->json)
        printf("%s (%s), %s%d runs\n", th_scene_name(runs->simulation.scene), runs->scene_file,
               runs->until_ci > 0 ? "at most " : "", runs->count);
    th_result result = sample(&s, &error);
    int code = TH_EXIT_OK;
    if (result != TH_OK) {
        // Another seed may find no room; what else fails then is not the scene's fault.
        code = result == TH_NO_ROOM ? th_report_error(runs->scene_file, &error)
                                    : th_report_failure(runs->scene_file, &error);
    } else if (s.ensemble.run_count == 0) {
        code = TH_EXIT_INTERRUPTED;
    } else {
        tell_why_it_stopped(runs, &s.ensemble);
        code = conclude(runs, &s.ensemble, s.trouble, false);
    }
    th_ensemble_release(&s.ensemble);
    return code;
}
