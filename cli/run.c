// throng run: simulate a scene, once or for many seeds, and keep what happened in a folder.
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/runs.h"
#include "cli/scene_copy.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// More people than this and a row per person and frame makes a file of gigabytes within minutes.
static const double ROWS_MOST = 10000; // [people]
enum { UNTIL_MOST = 1000 };            // runs, when --until-ci is given without --runs

typedef struct run_options {
    long long seed, threads, runs, jobs; // seed negative, the others 0: not given
    double max_time, step, fps, until_ci;
    const char *out, *record, *checkpoint, *device;
    th_backend backend; // of `device`
    bool json, quiet, force, no_report;
    th_text_list overrides;
    double checkpoint_every; // [s] 0: none
} run_options;

// "every=60" or "60".
static bool read_checkpoint(const th_command *command, run_options *o) {
    if (!o->checkpoint) return true;
    const char *text = o->checkpoint;
    if (strncmp(text, "every=", 6) == 0) text += 6;
    char *end = NULL;
    double every = strtod(text, &end);
    if (end != text && *end == '\0' && every > 0 && every < 1e9) {
        o->checkpoint_every = every;
        return true;
    }
    th_complain(command, "--checkpoint %s: give simulated seconds, like every=60", o->checkpoint);
    return false;
}

static bool check_record(const th_command *command, const run_options *o) {
    static const char *const words[] = {"sqlite", "compact", "text", "none"};
    th_recording unused = {0};
    if (!o->record || th_recording_choose(&unused, o->record)) return true;
    const char *nearest = th_suggest(o->record, words, 4);
    if (strcmp(o->record, "hdf5") == 0)
        th_complain(command,
                    "--record hdf5: record sqlite, then `throng convert` makes HDF5 of it");
    else
        th_complain(command, "--record %s: give sqlite, compact, text or none%s%s%s", o->record,
                    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return false;
}

static bool keeps_nothing(const run_options *o) { return o->out && strcmp(o->out, "none") == 0; }

static bool check_together(const th_command *command, const run_options *o) {
    const char *trouble = NULL;
    bool records = o->record && strcmp(o->record, "none") != 0;
    if (keeps_nothing(o) && (records || o->checkpoint))
        trouble = "--out none keeps nothing; name a folder for recordings and checkpoints";
    else if (o->checkpoint && (o->runs > 1 || o->until_ci > 0))
        trouble = "--checkpoint is for one run; `throng sweep SCENE --runs N --out DIR` makes many "
                  "that can be interrupted";
    if (trouble) th_complain(command, "%s", trouble);
    return !trouble;
}

// ---- the folder

static void set(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
}

// run.json: how the run came about. What a folder says must not depend on the machine, so no names of it.
static json_t *about_run(const char *scene_file, const char *command_line, const run_options *o,
                         const th_runs *runs) {
    char started[32], seed[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(seed, sizeof seed, "%" PRIu64, runs->first_seed);
    const th_recording *recording = &runs->keep.recording;
    json_t *about = json_object(), *overrides = json_array(), *record = json_object();
    for (int i = 0; i < o->overrides.count; ++i)
        json_array_append_new(overrides, json_string(o->overrides.items[i]));
    set(record, "format",
        json_string(recording->wanted ? th_trajectory_format_name(recording->format) : "none"));
    set(record, "fps", json_real(recording->fps));
    set(about, "program", json_string("throng"));
    set(about, "version", json_string(th_version()));
    set(about, "started", json_string(started));
    set(about, "scene_file", json_string(scene_file));
    set(about, "command_line", json_string(command_line));
    set(about, "overrides", overrides);
    set(about, "seed", json_string(seed)); // 64 bits do not fit every reader's numbers
    set(about, "runs", json_integer(runs->count));
    set(about, "step", json_real(runs->simulation.step));
    set(about, "until_ci", json_real(runs->until_ci));
    set(about, "checkpoint_every", json_real(o->checkpoint_every));
    set(about, "record", record);
    set(about, "report", json_boolean(!o->no_report));
    return about;
}

static th_result fill_folder(th_runs *runs, const char *scene_file, const run_options *o,
                             json_t *tree, th_error *error) {
    char stem[200];
    th_run_folder *keep = &runs->keep;
    th_file_stem(scene_file, stem, sizeof stem);
    th_result result = th_folder_claim(&keep->folder, o->out, stem, o->force, error);
    if (result == TH_OK) result = th_scene_copy(&keep->folder, tree, scene_file, error);
    if (result == TH_OK) result = th_run_folder_state(keep, "running", error);
    th_recording *recording = &keep->recording;
    if (result == TH_OK && recording->wanted)
        th_folder_path(&keep->folder, recording->file, recording->path, sizeof recording->path);
    return result;
}

static int make_folder(th_runs *runs, const char *scene_file, const char *command_line,
                       const run_options *o) {
    runs->keep.about = about_run(scene_file, command_line, o, runs);
    runs->keep.overrides = o->overrides;
    if (keeps_nothing(o)) return TH_EXIT_OK;
    th_error error = {0};
    const th_scene_changes changes = {o->seed, o->runs, o->step, o->max_time};
    json_t *tree =
        th_scene_tree(scene_file, &o->overrides, &changes, runs->simulation.scene, &error);
    if (!tree) return th_report_error(scene_file, &error);
    th_result result = fill_folder(runs, scene_file, o, tree, &error);
    json_decref(tree);
    return result == TH_OK ? TH_EXIT_OK : th_report_failure(runs->keep.folder.path, &error);
}

// ---- what to do

// The format: asked for, or the scene's; many people are stored compactly unless rows were asked for.
static void choose_recording(th_runs *runs, const run_options *o) {
    th_recording *recording = &runs->keep.recording;
    th_record_def def = th_scene_record(runs->simulation.scene);
    const char *format = o->record ? o->record : def.format ? def.format : "none";
    if (keeps_nothing(o)) format = "none";
    th_recording_choose(recording, format);
    recording->fps = o->fps > 0 ? o->fps : def.fps;
    bool many = th_people_expected(runs->simulation.scene, runs->simulation.end) > ROWS_MOST;
    runs->made_compact = recording->wanted && recording->format == TH_TRAJECTORY_SQLITE && many;
    if (runs->made_compact) recording->format = TH_TRAJECTORY_COMPACT;
}

static th_runs plan_runs(const run_options *o, const th_scene *scene, const char *scene_file) {
    th_run_def def = th_scene_run(scene);
    th_runs runs = {.scene_file = scene_file, .json = o->json, .quiet = o->quiet};
    runs.simulation = th_simulation_def_of(scene, o->step, o->max_time);
    runs.simulation.threads = (int)o->threads;
    runs.simulation.backend = o->backend;
    runs.first_seed = o->seed >= 0 ? (uint64_t)o->seed : def.seed;
    runs.count = o->runs > 0 ? (int)o->runs : def.runs > 1 ? def.runs : 1;
    if (o->until_ci > 0 && runs.count == 1) runs.count = UNTIL_MOST;
    runs.until_ci = o->until_ci;
    runs.jobs = (int)o->jobs;
    runs.checkpoint_every = o->checkpoint_every;
    choose_recording(&runs, o);
    return runs;
}

// The first world is made before the folder: a scene whose people do not fit leaves nothing behind.
static int carry_out(th_runs *runs, const char *command_line, const run_options *o) {
    th_error error = {0};
    th_simulation first;
    error.code = th_simulation_start(&first, &runs->simulation, runs->first_seed, &error);
    if (error.code != TH_OK) return th_report_error(runs->scene_file, &error);
    th_watch_interrupt(); // before anything can be seen of the run
    int code = make_folder(runs, runs->scene_file, command_line, o);
    if (code == TH_EXIT_OK) th_runs_tell_recording(runs);
    if (code == TH_EXIT_OK && runs->count == 1) return th_runs_one(runs, &first, false);
    th_simulation_release(&first);
    return code == TH_EXIT_OK ? th_runs_many(runs) : code;
}

static int run_scene(const th_command *command, const char *scene_file, const char *command_line,
                     const run_options *o) {
    th_scene *scene = NULL;
    int code = th_load_scene(scene_file, &o->overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    th_runs runs = plan_runs(o, scene, scene_file);
    if (runs.count > 1 && o->checkpoint) {
        th_complain(command,
                    "--checkpoint is for one run, and run.runs of the scene is %d; add "
                    "--runs 1",
                    runs.count);
        code = TH_EXIT_USAGE;
    }
    if (code == TH_EXIT_OK) code = carry_out(&runs, command_line, o);
    th_run_folder_release(&runs.keep);
    th_scene_destroy(scene);
    return code;
}

static int run_run(const th_command *command, int argc, char **argv) {
    run_options o = {.device = "cpu", .seed = -1};
    const th_option options[] = {
        {"out", TH_OPTION_TEXT, &o.out, "DIR",
         "folder for the results (default: a new runs/<scene>); none: only print", 0, 0},
        {"force", TH_OPTION_FLAG, &o.force, NULL,
         "replace what throng wrote into that folder before", 0, 0},
        {"no-report", TH_OPTION_FLAG, &o.no_report, NULL, "tables only, no report.html and figures",
         0, 0},
        {"record", TH_OPTION_TEXT, &o.record, "FORMAT",
         "trajectories: sqlite, compact, text or none (default: the scene's)", 0, 0},
        {"fps", TH_OPTION_REAL, &o.fps, "N",
         "recorded frames per simulated second (default: the scene's, 10)", 1e-6, 1000},
        {"checkpoint", TH_OPTION_TEXT, &o.checkpoint, "every=S",
         "save the state every S simulated seconds, for `throng resume`", 0, 0},
        {"runs", TH_OPTION_INTEGER, &o.runs, "N", "that many seeds, side by side", 1, 1e6},
        {"jobs", TH_OPTION_INTEGER, &o.jobs, "N",
         "runs at once (default: one per core); results do not depend on it", 1, 1024},
        {"until-ci", TH_OPTION_REAL, &o.until_ci, "X",
         "stop when the 95 % interval of the mean is narrower than X, 0.02 for 2 %", 1e-6, 10},
        {"seed", TH_OPTION_INTEGER, &o.seed, "N", "first random seed (default: the scene's)", 1,
         9e18},
        {"threads", TH_OPTION_INTEGER, &o.threads, "N",
         "threads of a run, 0 for as many cores as pay; results do not depend on it", 0, 1024},
        {"device", TH_OPTION_TEXT, &o.device, "D", "cpu (default) or cuda", 0, 0},
        {"set", TH_OPTION_LIST, &o.overrides, "PATH=VALUE",
         "change a value of the scene; repeatable", 0, 0},
        {"max-time", TH_OPTION_REAL, &o.max_time, "S", "stop at this simulated time [s]", 1e-3,
         1e9},
        {"step", TH_OPTION_REAL, &o.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        {"json", TH_OPTION_FLAG, &o.json, NULL, "print one JSON object instead of the summary", 0,
         0},
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    bool good =
        th_backend_of(command, o.device, &o.backend) && read_checkpoint(command, &o) && check_record(command, &o) && check_together(command, &o);
    if (!good) return TH_EXIT_USAGE;
    char *command_line = th_command_line(command, argc, argv);
    if (!command_line) return TH_EXIT_FAILED;
    int code = run_scene(command, path, command_line, &o);
    free(command_line);
    return code;
}

const th_command th_command_run = {
    .name = "run",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "simulate a scene, once or many times, and write a report",
    .detail =
        "Steps the scene until its duration is over or everybody is out, prints what happened, "
        "and\n"
        "leaves a folder: the scene as run, tables (CSV, JSON), report.html with all figures, and "
        "the\n"
        "trajectories with --record (of several runs the first is recorded). A folder that holds\n"
        "something is never overwritten without --force.\n\n"
        "A progress line on stderr shows simulated time, people inside, speed against real time "
        "and\n"
        "the time to go. Ctrl-C stops and still writes the report on what was simulated. The same\n"
        "seed gives the same hash with any number of threads and jobs.",
    .examples =
        "  throng run scenes/station.json\n"
        "  throng run scenes/station.json --out evening --record sqlite --fps 10\n"
        "  throng run scenes/station.json --seed 7 --set groups.0.count=500 --out none\n"
        "  throng run scenes/door.json --runs 20 --jobs 2\n"
        "  throng run scenes/door.json --until-ci 0.02\n"
        "  throng run scenes/station.json --out long --record sqlite --checkpoint every=60\n"
        "  throng run scenes/station.json --out none --json > result.json\n",
    .run = run_run,
};
