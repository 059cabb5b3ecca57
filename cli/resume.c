// throng resume: go on with a run that was killed or interrupted, from its newest good checkpoint, or with a
// sweep, from its finished runs. SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/sweep.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The run as it was at a checkpoint, with its recording. On failure nothing is left behind.
static th_result start_at(th_simulation *simulation, const th_runs *runs, const char *name,
                          th_error *error) {
    th_checkpoint checkpoint;
    th_result result = th_checkpoint_read(&runs->keep.folder, name, &checkpoint, error);
    if (result != TH_OK) return result;
    result = th_simulation_start(simulation, &runs->simulation, runs->first_seed, error);
    if (result == TH_OK) {
        result = th_simulation_restore(simulation, &checkpoint, error);
        if (result == TH_OK && runs->keep.recording.wanted)
            result = th_simulation_record(simulation, &runs->keep.recording, NULL, 0, true, error);
        if (result != TH_OK) th_simulation_release(simulation);
    }
    th_checkpoint_release(&checkpoint);
    return result;
}

// The newest checkpoint that is whole and that the recording reaches; false: there is none.
static bool start_at_newest(th_simulation *simulation, const th_runs *runs) {
    th_checkpoint_name names[TH_CHECKPOINTS_LISTED];
    int count = th_checkpoint_list(&runs->keep.folder, names);
    for (int i = 0; i < count; ++i) {
        th_error error = {0};
        error.code = start_at(simulation, runs, names[i], &error);
        if (error.code == TH_OK) {
            if (!runs->quiet)
                fprintf(stderr, "%s/%s: going on at %.1f s\n", runs->keep.folder.path, names[i],
                        th_world_time(simulation->world));
            return true;
        }
        th_report_error(names[i], &error);
        fprintf(stderr, "%s/%s: cannot be used\n", runs->keep.folder.path, names[i]);
    }
    return false;
}

// Deterministic as runs are, beginning again gives the same result, only later.
static int begin_again(th_runs *runs) {
    th_error error = {0};
    th_simulation simulation;
    fprintf(stderr, "%s: no checkpoint can be used; the run begins again\n",
            runs->keep.folder.path);
    if (runs->keep.recording.wanted) unlink(runs->keep.recording.path);
    th_result result =
        th_simulation_start(&simulation, &runs->simulation, runs->first_seed, &error);
    if (result != TH_OK) return th_report_error(runs->scene_file, &error);
    return th_runs_one(runs, &simulation, false);
}

static int say_no_checkpoint(const th_run_folder *run) {
    const char *folder = run->folder.path;
    bool many = json_integer_value(json_object_get(run->about, "runs")) > 1;
    fprintf(stderr,
            "%s: there is no checkpoint to go on from; begin again with\n"
            "  throng run %s/scene.json --out %s --force%s\n",
            folder, folder, folder, many ? "" : " --checkpoint every=60");
    return TH_EXIT_FAILED;
}

static int resume_scene(th_runs *runs) {
    th_simulation simulation;
    th_error error = {0};
    if (th_run_folder_state(&runs->keep, "running", &error) != TH_OK)
        return th_report_failure(runs->keep.folder.path, &error);
    th_watch_interrupt();
    if (start_at_newest(&simulation, runs)) return th_runs_one(runs, &simulation, true);
    return begin_again(runs);
}

static int resume_run(const char *folder, int threads, bool json, bool quiet) {
    th_error error = {0};
    th_runs runs = {.json = json, .quiet = quiet, .count = 1};
    th_checkpoint_name names[TH_CHECKPOINTS_LISTED];
    char path[TH_PATH_MAX];
    if (th_run_folder_open(&runs.keep, folder, &error) != TH_OK) {
        th_run_folder_release(&runs.keep);
        return th_report_failure(folder, &error);
    }
    int code = TH_EXIT_OK;
    th_scene *scene = NULL;
    if (strcmp(th_run_folder_text(&runs.keep, "state"), "finished") == 0) {
        printf("%s: the run is finished; see %s/summary.json\n", folder, folder);
    } else if (th_checkpoint_list(&runs.keep.folder, names) == 0) {
        code = say_no_checkpoint(&runs.keep);
    } else if (!th_folder_path(&runs.keep.folder, "scene.json", path, sizeof path)) {
        code = TH_EXIT_FAILED;
    } else if ((code = th_load_scene(path, NULL, &scene)) == TH_EXIT_OK) {
        runs.scene_file = th_run_folder_text(&runs.keep, "scene_file");
        runs.simulation = th_simulation_def_of(scene, 0, 0);
        runs.simulation.threads = threads;
        runs.first_seed = th_scene_run(scene).seed;
        runs.checkpoint_every =
            json_number_value(json_object_get(runs.keep.about, "checkpoint_every"));
        code = resume_scene(&runs);
    }
    th_run_folder_release(&runs.keep);
    th_scene_destroy(scene);
    return code;
}

static int run_resume(const th_command *command, int argc, char **argv) {
    long long threads = 0, jobs = 0;
    bool json = false, quiet = false;
    const th_option options[] = {
        {"threads", TH_OPTION_INTEGER, &threads, "N",
         "threads of a run, 0 for as many cores as pay; results do not depend on it", 0, 1024},
        {"jobs", TH_OPTION_INTEGER, &jobs, "N", "runs of a sweep at once (default: one per core)",
         1, 1024},
        {"json", TH_OPTION_FLAG, &json, NULL, "print one JSON object instead of the summary", 0, 0},
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "no progress line", 0, 0},
    };
    const char *folder = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &folder);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_folder given = {{0}};
    snprintf(given.path, sizeof given.path, "%s", folder);
    if (th_folder_has(&given, "sweep.json"))
        return th_sweep_resume(folder, (int)jobs, (int)threads, quiet);
    return resume_run(folder, (int)threads, json, quiet);
}

const th_command th_command_resume = {
    .name = "resume",
    .operands = "DIR",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "go on with a run or sweep that was killed or interrupted",
    .detail = "DIR is the folder of a `throng run --checkpoint` or of a `throng sweep`. A run goes "
              "on from\n"
              "its newest good checkpoint and leaves what it would have left uninterrupted: the "
              "same hash,\n"
              "tables and frames. A sweep makes the runs that are missing.",
    .examples =
        "  throng run scenes/station.json --out long --record sqlite --checkpoint every=60\n"
        "  throng resume long\n",
    .run = run_resume,
};
