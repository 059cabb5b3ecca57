// throng sweep: a scene run for every combination of some values. SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

typedef struct sweep_options {
    long long seed, runs, jobs, threads; // 0: not given
    double step, max_time, until_ci;
    const char *out, *sample;
    bool force, quiet, allow_links;
    th_text_list vary, overrides, plugins;
    th_launch launch;
} sweep_options;

static int run_sweep(const th_command *command, int argc, char **argv) {
    sweep_options o = {0};
    const th_option options[] = {
        {"vary", TH_OPTION_LIST, &o.vary, "PATH=VALUES",
         "a list 100,200,400 or a range 0.8..1.6:5 (5 values); repeatable", 0, 0},
        {"sample", TH_OPTION_TEXT, &o.sample, "HOW:N",
         "N points, lhs:N or sobol:N, of distributions instead of every combination", 0, 0},
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
        TH_PLUGIN_OPTION(&o.plugins),
        TH_LINKS_OPTION(&o.allow_links),
        {"max-time", TH_OPTION_REAL, &o.max_time, "S", "stop runs at this simulated time [s]", 1e-3,
         1e9},
        {"step", TH_OPTION_REAL, &o.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        TH_LAUNCH_OPTIONS(&o.launch),
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line", 0, 0},
    };
    th_runs_def def = th_runs_def_default();
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &def.scene);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    def.sweep = true;
    def.vary = o.vary.items;
    def.vary_count = o.vary.count;
    def.sample = o.sample;
    def.sets = o.overrides.items;
    def.set_count = o.overrides.count;
    def.allow_links = o.allow_links;
    def.plugins = o.plugins.items;
    def.plugin_count = o.plugins.count;
    def.seed = (uint64_t)o.seed;
    def.runs = (int)o.runs;
    def.until_ci = o.until_ci;
    def.step = o.step;
    def.max_time = o.max_time;
    def.out = o.out;
    def.force = o.force;
    def.jobs = (int)o.jobs;
    def.threads = (int)o.threads;
    int code = th_load_plugins(&o.plugins);
    if (code != TH_EXIT_OK) return code;
    th_runs_display display = {.quiet = o.quiet};
    return th_launch_runs(command, argc, argv, &o.launch, &def, &display);
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
        "command (or `throng resume DIR`) makes only what is missing. Many machines may share the "
        "runs\n"
        "(--launch); the folder comes out the same.\n"
        "\n"
        "With --sample the values of --vary are distributions: LOW..HIGH (uniform), "
        "whole:LOW:HIGH,\n"
        "triangular:LOW:MODE:HIGH, normal:MEAN:SD, lognormal:MEAN:SD (of the logarithm), the last "
        "two\n"
        "also with :LOW:HIGH where they are cut off, or a list, each value as likely. "
        "report.html,\n"
        "sensitivity.csv and .json then have the share of each in the variance of every figure.",
    .examples =
        "  throng sweep scenes/bottleneck.json --vary doors.main.width=0.8..1.6:5 --runs 20\n"
        "  throng sweep scenes/bottleneck.json --vary groups.0.count=100,150 \\\n"
        "      --vary groups.0.move=orca,social_force --out models\n"
        "  throng sweep scenes/bottleneck.json --vary doors.main.width=0.8..1.6:5 --launch slurm "
        "--out DIR\n"
        "  throng sweep scenes/bottleneck.json --sample sobol:64 --vary doors.main.width=0.8..1.6 "
        "\\\n"
        "      --vary groups.0.count=whole:80:120 --vary groups.0.speed=normal:1.34:0.1:0.8:2 "
        "--runs 5\n"
        "  throng resume models\n",
    .run = run_sweep,
};
