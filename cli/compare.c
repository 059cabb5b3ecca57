// throng compare: two or more designs side by side, from scenes or folders of runs. SPDX-License-Identifier: Apache-2.0
#include "report/compare.h"
#include "cli/launch.h"
#include "report/report.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct compare_options {
    long long runs, jobs, threads, seed;
    const char *out;
    bool force, quiet;
    th_text_list overrides, plugins;
} compare_options;

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// Runs a scene into a folder below the results.
static int run_design(const th_command *command, const compare_options *o, const char *scene,
                      const char *folder) {
    const char *const words[] = {scene};
    th_runs_def def = th_runs_def_default();
    th_runs_display display = {.quiet = o->quiet};
    def.scene = scene;
    def.sets = o->overrides.items;
    def.set_count = o->overrides.count;
    def.plugins = o->plugins.items;
    def.plugin_count = o->plugins.count;
    def.runs = (int)o->runs;
    def.seed = (uint64_t)o->seed;
    def.jobs = (int)o->jobs;
    def.threads = (int)o->threads;
    def.out = folder;
    def.force = o->force;
    return th_create_and_perform(command, 1, (char **)(uintptr_t)words, &def, &display);
}

static int write_comparison(const th_command *command, const compare_options *o,
                            const char *const *folders, int count, const th_folder *out, int argc,
                            char **argv) {
    th_error error = {0};
    th_comparison *comparison = NULL;
    char *line = th_command_line(command, argc, argv);
    th_result result = th_comparison_read(folders, count, &comparison, &error);
    if (result == TH_OK) result = th_comparison_write(comparison, out->path, line, &error);
    free(line);
    if (result == TH_OK && !o->quiet) {
        th_comparison_print(comparison, stdout);
        printf("\n%s/report.html\n", out->path);
    }
    th_comparison_destroy(comparison);
    return result == TH_OK ? TH_EXIT_OK
                           : th_report_error(error.file[0] ? error.file : out->path, &error);
}

static int compare(const th_command *command, const compare_options *o, const char *const *given,
                   int count, int argc, char **argv) {
    th_error error = {0};
    th_folder out = {0};
    char names[TH_COMPARE_MOST][TH_PATH_MAX];
    const char *folders[TH_COMPARE_MOST];
    if (th_folder_claim(&out, o->out, "compare", o->force, &error) != TH_OK)
        return th_report_error(out.path, &error);
    int code = TH_EXIT_OK;
    for (int k = 0; k < count && code == TH_EXIT_OK; ++k) {
        folders[k] = given[k];
        if (is_folder(given[k])) continue;
        snprintf(names[k], sizeof names[k], "%.3800s/%c", out.path, 'a' + k);
        folders[k] = names[k];
        code = run_design(command, o, given[k], names[k]);
    }
    if (code == TH_EXIT_OK) code = write_comparison(command, o, folders, count, &out, argc, argv);
    th_folder_unlock(&out);
    return code;
}

static int run_compare(const th_command *command, int argc, char **argv) {
    compare_options o = {.runs = 10};
    const th_option options[] = {
        {"runs", TH_OPTION_INTEGER, &o.runs, "N", "seeds of each scene (default 10)", 2, 1e6},
        {"out", TH_OPTION_TEXT, &o.out, "DIR",
         "folder for the results (default: a new runs/compare)", 0, 0},
        {"force", TH_OPTION_FLAG, &o.force, NULL, "replace what throng wrote there", 0, 0},
        {"jobs", TH_OPTION_INTEGER, &o.jobs, "N",
         "runs at once (default: one per core); results do not depend on it", 1, 1024},
        {"threads", TH_OPTION_INTEGER, &o.threads, "N", "threads of a run, 0 for as many as pay", 0,
         1024},
        {"seed", TH_OPTION_INTEGER, &o.seed, "N", "first random seed (default: the scene's)", 1,
         9e18},
        {"set", TH_OPTION_LIST, &o.overrides, "PATH=VALUE",
         "change a value of all scenes; repeatable", 0, 0},
        TH_PLUGIN_OPTION(&o.plugins),
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line, no summary", 0, 0},
    };
    const char *given[TH_COMPARE_MOST] = {0};
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, given);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    int code = th_load_plugins(&o.plugins), count = 0;
    while (count < TH_COMPARE_MOST && given[count]) ++count;
    return code == TH_EXIT_OK ? compare(command, &o, given, count, argc, argv) : code;
}

const th_command th_command_compare = {
    .name = "compare",
    .operands = "A B [C ...]",
    .operand_min = 2,
    .operand_max = TH_COMPARE_MOST,
    .summary = "two or more designs side by side",
    .detail = "A, B, ... are scenes, which are run first, or folders of finished runs. All are "
              "compared with\n"
              "A: differences of all figures with 95 % intervals, maps of the difference, one page "
              "(report.html)\n"
              "with compare.csv and compare.json.",
    .examples =
        "  throng compare scenes/door.json scenes/templates/door.json --runs 20 --out doors\n"
        "  throng run scenes/door.json --runs 20 --out full\n"
        "  throng run scenes/door.json --runs 20 --set groups.0.count=100 --out fewer\n"
        "  throng compare full fewer --out difference\n"
        "  throng report difference --pdf\n",
    .run = run_compare,
};
