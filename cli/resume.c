// throng resume: go on with a run that was killed or interrupted, from its newest good checkpoint, or with a
// sweep, from its finished runs. SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"
#include "cli/ranks.h"
#include <stdio.h>
#include <stdlib.h>

static int print_finished(const char *folder, const th_runs *runs) {
    char *text = th_runs_json(runs);
    if (text)
        puts(text);
    else
        fprintf(stderr, "%s: the run is finished, but its summary.json cannot be read\n", folder);
    free(text);
    return text ? TH_EXIT_OK : TH_EXIT_FAILED;
}

static int resume(const th_command *command, const char *folder, const th_launch *launch,
                  th_runs_def *def, th_runs_display *display) {
    int code = th_launch_folder(command, folder, launch, def, display);
    if (code >= 0) {
        th_runs_destroy(display->runs);
        return code;
    }
    code = TH_EXIT_OK;
    if (display->json)
        code = print_finished(folder, display->runs);
    else
        printf("%s: the run is finished; see %s/summary.json\n", folder, folder);
    th_runs_destroy(display->runs);
    return code;
}

static int run_resume(const th_command *command, int argc, char **argv) {
    long long threads = 0, jobs = 0;
    th_text_list plugins = {0};
    th_launch launch = {0};
    th_runs_display display = {0};
    const th_option options[] = {
        {"threads", TH_OPTION_INTEGER, &threads, "N",
         "threads of a run, 0 for as many cores as pay; results do not depend on it", 0, 1024},
        {"jobs", TH_OPTION_INTEGER, &jobs, "N", "runs of a sweep at once (default: one per core)",
         1, 1024},
        {"json", TH_OPTION_FLAG, &display.json, NULL,
         "print one JSON object instead of the summary", 0, 0},
        TH_PLUGIN_OPTION(&plugins),
        TH_LAUNCH_OPTIONS(&launch),
        {"quiet", TH_OPTION_FLAG, &display.quiet, NULL, "no progress line", 0, 0},
    };
    const char *folder = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &folder);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!launch.how && th_ranks_can_resume(folder)) {
        const th_ranks_def ranks = {.threads = (int)threads, .json = display.json};
        return th_resume_over_ranks(command, folder, &ranks);
    }
    if (th_is_over_ranks(launch.how)) {
        th_complain(command,
                    "%s has no checkpoint of a crowd over ranks; without mpirun one process goes "
                    "on with its run, and with --launch mpi the processes share its runs",
                    folder);
        return TH_EXIT_USAGE;
    }
    th_runs_def def = th_runs_def_default();
    def.jobs = (int)jobs;
    def.threads = (int)threads;
    def.plugins = plugins.items;
    def.plugin_count = plugins.count;
    def.watch = th_runs_display_watch;
    def.context = &display;
    return resume(command, folder, &launch, &def, &display);
}

const th_command th_command_resume = {
    .name = "resume",
    .operands = "DIR",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "go on with a run or sweep that was killed or interrupted",
    .detail =
        "DIR is the folder of a `throng run --checkpoint` or of a `throng sweep`. A run goes "
        "on from\n"
        "its newest good checkpoint and leaves what it would have left uninterrupted: the "
        "same hash,\n"
        "tables and frames. A sweep makes the runs that are missing; while other processes "
        "work on\n"
        "it (--launch), this one takes its share. --launch task does so as one task of a job.\n\n"
        "A crowd over the processes of mpirun goes on over any number of them (docs/cluster.md).",
    .examples =
        "  throng run scenes/station.json --out long --record sqlite --checkpoint every=60\n"
        "  throng resume long\n"
        "  mpirun -n 3 throng resume evening\n",
    .run = run_resume,
};
