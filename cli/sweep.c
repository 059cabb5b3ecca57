// throng sweep: a scene run for every combination of some values. SPDX-License-Identifier: Apache-2.0
#include "cli/sweep.h"
#include "cli/commands.h"
#include "cli/run_folder.h"
#include "cli/scene_copy.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_DEFAULT = 10 }; // of a combination: enough to see the spread, few enough to wait for

typedef struct sweep_options {
    long long seed, runs, jobs, threads;
    double step, max_time, until_ci;
    const char *out;
    bool force, quiet;
    th_text_list vary, overrides;
} sweep_options;

void th_sweep_release(th_sweep *sweep) {
    th_variation_release(&sweep->variation);
    json_decref(sweep->about);
    sweep->about = NULL;
}

// What makes two sweeps the same one: where a folder has another, its runs are no runs of this.
static json_t *definition_of(const th_sweep *sweep, uint64_t digest) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    return json_pack("{s:s,s:s,s:o,s:i,s:f}", "version", th_version(), "scene_digest", text, "vary",
                     th_variation_json(&sweep->variation), "runs", sweep->runs, "until_ci",
                     sweep->until_ci);
}

// Whether the folder holds this sweep, to be continued. A different one is an error.
static th_result same_sweep(const th_folder *folder, const json_t *definition, bool *same,
                            th_error *error) {
    *same = false;
    if (!th_folder_has(folder, "sweep.json")) return TH_OK;
    json_t *old = th_folder_read_json(folder, "sweep.json", error);
    if (!old) return error->code;
    *same = json_equal(json_object_get(old, "definition"), definition) != 0;
    json_decref(old);
    if (*same) return TH_OK;
    return th_file_fail(
        error, folder->path,
        "holds another sweep (other scene, values, runs or version); choose another "
        "--out, or --force to replace it");
}

static th_result fill_folder(th_sweep *sweep, const char *scene_file, const sweep_options *o,
                             json_t *tree, th_error *error) {
    char stem[200], name[220];
    bool same = false;
    const json_t *definition = json_object_get(sweep->about, "definition");
    if (o->out && !o->force) {
        snprintf(sweep->folder.path, sizeof sweep->folder.path, "%s", o->out);
        th_result result = same_sweep(&sweep->folder, definition, &same, error);
        if (result != TH_OK || same) return result;
    }
    th_file_stem(scene_file, stem, sizeof stem);
    snprintf(name, sizeof name, "%s-sweep", stem);
    th_result result = th_folder_claim(&sweep->folder, o->out, name, o->force, error);
    if (result == TH_OK) result = th_scene_copy(&sweep->folder, tree, scene_file, error);
    if (result == TH_OK)
        result = th_folder_write_json(&sweep->folder, "sweep.json", sweep->about, error);
    return result;
}

static int make_folder(th_sweep *sweep, const char *scene_file, const char *command_line,
                       const th_scene *scene, const sweep_options *o) {
    th_error error = {0};
    const th_scene_changes changes = {o->seed, 0, o->step, o->max_time};
    json_t *tree = th_scene_tree(scene_file, &o->overrides, &changes, scene, &error);
    if (!tree) return th_report_error(scene_file, &error);
    uint64_t seed = o->seed >= 0 ? (uint64_t)o->seed : th_scene_run(scene).seed;
    sweep->about = json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:o}", "program", "throng", "scene",
                             th_scene_name(scene), "scene_file", scene_file, "command_line",
                             command_line, "state", "running", "first_seed", (json_int_t)seed,
                             "definition", definition_of(sweep, th_scene_digest(tree, scene_file)));
    th_result result = fill_folder(sweep, scene_file, o, tree, &error);
    json_decref(tree);
    return result == TH_OK ? TH_EXIT_OK : th_report_failure(sweep->folder.path, &error);
}

// The first values must make a scene: a slip in a path is told at once, and before a folder is made.
static int load_first(const th_sweep *sweep, const char *scene_file, const sweep_options *o,
                      th_scene **scene) {
    th_text_list all = o->overrides;
    char *texts[TH_VARY_PATHS] = {0};
    for (int i = 0; i < sweep->variation.count && all.count < TH_LIST_MAX; ++i)
        if (asprintf(&texts[i], "%s=%s", sweep->variation.items[i].path,
                     sweep->variation.items[i].values[0]) > 0)
            all.items[all.count++] = texts[i];
    int code = th_load_scene(scene_file, &all, scene);
    for (int i = 0; i < TH_VARY_PATHS; ++i) free(texts[i]);
    return code;
}

static int sweep_scene(const th_command *command, const char *scene_file, const char *command_line,
                       const sweep_options *o) {
    th_scene *scene = NULL;
    th_sweep sweep = {.runs = (int)o->runs,
                      .until_ci = o->until_ci,
                      .jobs = (int)o->jobs,
                      .threads = (int)o->threads,
                      .quiet = o->quiet};
    int code = TH_EXIT_USAGE;
    if (th_variation_read(&sweep.variation, command, &o->vary))
        code = load_first(&sweep, scene_file, o, &scene);
    if (code == TH_EXIT_OK) {
        code = make_folder(&sweep, scene_file, command_line, scene, o);
        th_scene_destroy(scene);
        th_watch_interrupt();
        if (code == TH_EXIT_OK) code = th_sweep_go(&sweep);
    }
    th_sweep_release(&sweep);
    return code;
}

int th_sweep_resume(const char *folder, int jobs, int threads, bool quiet) {
    th_error error = {0};
    th_sweep sweep = {.jobs = jobs, .threads = threads, .quiet = quiet};
    snprintf(sweep.folder.path, sizeof sweep.folder.path, "%s", folder);
    sweep.about = th_folder_read_json(&sweep.folder, "sweep.json", &error);
    if (!sweep.about) return th_report_failure(folder, &error);
    const json_t *definition = json_object_get(sweep.about, "definition");
    const char *version = json_string_value(json_object_get(definition, "version"));
    sweep.runs = (int)json_integer_value(json_object_get(definition, "runs"));
    sweep.until_ci = json_number_value(json_object_get(definition, "until_ci"));
    bool known = th_variation_of_json(&sweep.variation, json_object_get(definition, "vary")) &&
                 sweep.runs >= 1 && sweep.runs <= 1000000;
    int code = TH_EXIT_FAILED;
    th_watch_interrupt();
    if (!known || !version)
        fprintf(stderr, "%s/sweep.json: is damaged; run the sweep again in another folder\n",
                folder);
    else if (strcmp(version, th_version()) != 0)
        fprintf(stderr, "%s: is a sweep of throng %s and this is %s; runs of both do not mix\n",
                folder, version, th_version());
    else
        code = th_sweep_go(&sweep);
    th_sweep_release(&sweep);
    return code;
}

static int run_sweep(const th_command *command, int argc, char **argv) {
    sweep_options o = {.seed = -1, .runs = RUNS_DEFAULT};
    const th_option options[] = {
        {"vary", TH_OPTION_LIST, &o.vary, "PATH=VALUES",
         "a list 100,200,400 or a range 0.8..1.6:5 (5 values); repeatable", 0, 0},
        {"runs", TH_OPTION_INTEGER, &o.runs, "N", "seeds of each combination (default 10)", 1, 1e6},
        {"until-ci", TH_OPTION_REAL, &o.until_ci, "X",
         "fewer, where the 95 % interval of the mean is narrower than X", 1e-6, 10},
        {"out", TH_OPTION_TEXT, &o.out, "DIR",
         "folder for the results (default: a new runs/<scene>-sweep)", 0, 0},
        {"force", TH_OPTION_FLAG, &o.force, NULL, "begin anew in a folder that holds another sweep",
         0, 0},
        {"jobs", TH_OPTION_INTEGER, &o.jobs, "N",
         "runs at once (default: one per core); results do not depend on it", 1, 1024},
        {"threads", TH_OPTION_INTEGER, &o.threads, "N", "threads of a run, 0 for as many as pay", 0,
         1024},
        {"seed", TH_OPTION_INTEGER, &o.seed, "N", "first random seed (default: the scene's)", 1,
         9e18},
        {"set", TH_OPTION_LIST, &o.overrides, "PATH=VALUE",
         "change a value of the scene for all combinations; repeatable", 0, 0},
        {"max-time", TH_OPTION_REAL, &o.max_time, "S", "stop runs at this simulated time [s]", 1e-3,
         1e9},
        {"step", TH_OPTION_REAL, &o.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    char *command_line = th_command_line(command, argc, argv);
    if (!command_line) return TH_EXIT_FAILED;
    int code = sweep_scene(command, path, command_line, &o);
    free(command_line);
    return code;
}

const th_command th_command_sweep = {
    .name = "sweep",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "run a scene for every combination of some values",
    .detail =
        "Paths are those of --set; the width of a door, an exit or a measurement line is\n"
        "doors.<id>.width, exits.<id>.width, measure.lines.<id>.width: the line keeps its middle "
        "and\n"
        "its direction. Leaves sweep.csv with a row per combination, runs.csv with a row per run,\n"
        "and report.html. Every finished run is on the disk at once: after an interruption the "
        "same\n"
        "command (or `throng resume DIR`) makes only what is missing.",
    .examples =
        "  throng sweep scenes/bottleneck.json --vary doors.main.width=0.8..1.6:5 --runs 20\n"
        "  throng sweep scenes/bottleneck.json --vary groups.0.count=100,150 \\\n"
        "      --vary groups.0.move=orca,social_force --out models\n"
        "  throng resume models\n",
    .run = run_sweep,
};
