// throng run: simulate a scene, once or for many seeds, and keep what happened in a folder.
// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"
#include "cli/ranks.h"
#include <stdlib.h>
#include <string.h>

typedef struct run_options {
    long long seed, threads, runs, jobs; // 0: not given
    double max_time, step, fps, until_ci;
    const char *out, *record, *checkpoint, *device;
    bool json, quiet, force, no_report, allow_links;
    th_text_list overrides, plugins;
    th_launch launch;
} run_options;

// "every=60" or "60".
static bool read_checkpoint(const th_command *command, const char *given, double *every) {
    if (!given) return true;
    const char *text = strncmp(given, "every=", 6) == 0 ? given + 6 : given;
    char *end = NULL;
    *every = strtod(text, &end);
    if (end != text && *end == '\0' && *every > 0 && *every < 1e9) return true;
    th_complain(command, "--checkpoint %s: give simulated seconds, like every=60", given);
    return false;
}

static th_runs_def definition_of(const run_options *o) {
    th_runs_def def = th_runs_def_default();
    def.sets = o->overrides.items;
    def.set_count = o->overrides.count;
    def.allow_links = o->allow_links;
    def.plugins = o->plugins.items;
    def.plugin_count = o->plugins.count;
    def.seed = (uint64_t)o->seed;
    def.runs = (int)o->runs;
    def.until_ci = o->until_ci;
    def.step = o->step;
    def.max_time = o->max_time;
    def.out = o->out;
    def.force = o->force;
    def.no_report = o->no_report;
    def.record = o->record;
    def.fps = o->fps;
    def.jobs = (int)o->jobs;
    def.threads = (int)o->threads;
    return def;
}

static int run_over_ranks(const th_command *command, const run_options *o, const char *scene,
                          double checkpoint) {
    if (o->runs > 1 || o->jobs > 0 || o->until_ci > 0 || o->force ||
        strcmp(o->device, "cpu") != 0) {
        th_complain(command,
                    "over the processes of mpirun there is one run, on the CPU and without "
                    "--runs, --jobs, --until-ci and --force; for many runs add --launch mpi");
        return TH_EXIT_USAGE;
    }
    th_ranks_def def = {.scene = scene,
                        .out = o->out && strcmp(o->out, "none") == 0 ? NULL : o->out,
                        .record = o->record,
                        .overrides = &o->overrides,
                        .seed = (uint64_t)o->seed,
                        .step = o->step,
                        .max_time = o->max_time,
                        .fps = o->fps,
                        .checkpoint = checkpoint,
                        .threads = (int)o->threads,
                        .allow_links = o->allow_links,
                        .json = o->json};
    return th_run_over_ranks(command, &def);
}

static int run_run(const th_command *command, int argc, char **argv) {
    run_options o = {.device = "cpu"};
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
        TH_PLUGIN_OPTION(&o.plugins),
        TH_LINKS_OPTION(&o.allow_links),
        {"max-time", TH_OPTION_REAL, &o.max_time, "S",
         "stop at this simulated time [s], earlier or later than the scene's end", 1e-3, 1e9},
        {"step", TH_OPTION_REAL, &o.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        TH_LAUNCH_OPTIONS(&o.launch),
        {"json", TH_OPTION_FLAG, &o.json, NULL, "print one JSON object instead of the summary", 0,
         0},
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_runs_def def = definition_of(&o);
    def.scene = path;
    if (!th_read_backend(command, o.device, &def.backend) ||
        !read_checkpoint(command, o.checkpoint, &def.checkpoint))
        return TH_EXIT_USAGE;
    int code = th_load_plugins(&o.plugins);
    if (code != TH_EXIT_OK) return code;
    if (th_is_over_ranks(o.launch.how)) return run_over_ranks(command, &o, path, def.checkpoint);
    th_runs_display display = {.json = o.json, .quiet = o.quiet};
    return th_launch_runs(command, argc, argv, &o.launch, &def, &display);
}

const th_command th_command_run = {
    .name = "run",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "simulate a scene, once or many times, and write a report",
    .detail =
        "Steps the scene until its duration is over or all people are out, prints what happened, "
        "and\n"
        "leaves a folder: the scene as run, tables (CSV, JSON), report.html with all figures, and "
        "the\n"
        "trajectories with --record (of several runs the first is recorded). A folder that holds\n"
        "something is never overwritten without --force.\n\n"
        "A progress line on stderr shows simulated time, people inside, speed against real time "
        "and\n"
        "the time to go. Ctrl-C stops and still writes the report on what was simulated. The same\n"
        "seed gives the same hash with any number of threads and jobs.\n\n"
        "Started by mpirun with several processes and without --launch, they step one crowd "
        "together\n"
        "(docs/cluster.md), with the same hash.",
    .examples =
        "  throng run scenes/station.json\n"
        "  throng run scenes/station.json --out evening --record sqlite --fps 10\n"
        "  throng run scenes/station.json --seed 7 --set groups.0.count=500 --out none\n"
        "  throng run scenes/door.json --runs 20 --jobs 2\n"
        "  throng run scenes/door.json --until-ci 0.02\n"
        "  throng run scenes/station.json --out long --record sqlite --checkpoint every=60\n"
        "  throng run scenes/station.json --out none --json > result.json\n"
        "  mpirun -n 4 throng run scenes/station.json --out evening\n",
    .run = run_run,
};
