// throng collect: tables and report of the runs that are there. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include <stdio.h>

static int collect(const char *folder, const th_runs_def *def, th_runs_display *display) {
    th_error error = {0};
    th_watch_interrupt();
    th_result result = th_runs_open(folder, def, &display->runs, &error);
    if (result == TH_BAD_SCENE) return th_report_error(folder, &error);
    if (result == TH_OK) result = th_runs_collect(display->runs, &error);
    int code = TH_EXIT_OK, count = 0;
    if (result != TH_OK) {
        code = th_report_failure(folder, &error);
    } else {
        const th_runs_info *about = th_runs_about(display->runs);
        bool whole = about->state == TH_RUNS_STATE_FINISHED;
        th_runs_outcomes(display->runs, &count);
        if (count > 0 || whole)
            printf("%s/%s: %s\n", folder, about->page,
                   whole ? "of all runs" : "of the runs that are there");
        if (about->cut_short) code = TH_EXIT_FAILED;
    }
    th_runs_destroy(display->runs);
    return code;
}

static int run_collect(const th_command *command, int argc, char **argv) {
    th_text_list plugins = {0};
    th_runs_display display = {.quiet = true};
    const th_option options[] = {TH_PLUGIN_OPTION(&plugins)};
    const char *folder = NULL;
    th_parse_result parsed = th_args_parse(command, options, 1, argc, argv, &folder);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_runs_def def = th_runs_def_default();
    def.plugins = plugins.items;
    def.plugin_count = plugins.count;
    def.watch = th_runs_display_watch;
    def.context = &display;
    return collect(folder, &def, &display);
}

const th_command th_command_collect = {
    .name = "collect",
    .operands = "DIR",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "make tables and report from the runs that are there",
    .detail = "DIR is the folder of a `throng sweep` or of a `throng run --launch`. The processes "
              "that make its\n"
              "runs are not disturbed, and the last one makes the tables again from all runs.",
    .examples = "  throng sweep scenes/door.json --runs 2 --out collected\n"
                "  throng collect collected\n",
    .run = run_collect,
};
