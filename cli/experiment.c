// throng experiment: experiments with people, repeated with every model. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/pool.h"
#include "core/system/system.h"
#include "report/report.h"
#include "validate/experiments.h"
#include <string.h>
#include <unistd.h>

static const th_experiment *find(const char *name) {
    int count;
    const th_experiment *list = th_experiments(&count);
    for (int k = 0; k < count; ++k)
        if (strcmp(list[k].name, name) == 0) return &list[k];
    return NULL;
}

static int list_all(void) {
    int count;
    const th_experiment *list = th_experiments(&count);
    for (int k = 0; k < count; ++k) printf("  %-14s %s\n", list[k].name, list[k].doc);
    return TH_EXIT_OK;
}

static int complain_name(const th_command *command, const char *name) {
    enum { MOST = 64 };
    int count;
    const th_experiment *list = th_experiments(&count);
    const char *words[MOST];
    for (int k = 0; k < count && k < MOST; ++k) words[k] = list[k].name;
    const char *meant = th_suggest(name, words, count < MOST ? count : MOST);
    if (meant)
        th_complain(command, "no experiment '%s'; did you mean '%s'?", name, meant);
    else
        th_complain(command, "no experiment '%s'; `throng experiment` lists them", name);
    return TH_EXIT_USAGE;
}

typedef struct shown {
    bool silent, terminal;
    double last; // [s]
} shown;

static bool show(void *context, double share, const char *what) {
    shown *s = context;
    double now = th_monotonic_seconds();
    if (!s->silent && (now - s->last > (s->terminal ? 0.2 : 5.0))) {
        fprintf(stderr, s->terminal ? "\r%s %3.0f %%   " : "%s %.0f %%\n", what, 100.0 * share);
        s->last = now;
    }
    return !th_interrupted();
}

static int keep(const th_experiment *experiment, const th_experiment_settings *settings,
                const th_experiment_result *result, th_error *error) {
    printf("## %s: %s\n", experiment->name, experiment->doc);
    th_experiment_print(result, stdout);
    if (settings->out && th_experiment_write(result, settings->out, error) != TH_OK)
        return th_report_failure(settings->out, error);
    if (settings->out) printf("\n%s\n", settings->out);
    if (fflush(stdout) != 0) return TH_EXIT_FAILED;
    for (int k = 0; k < result->bar_count; ++k)
        if (result->bars[k].verdict == TH_FAIL)
            fprintf(stderr, "missed: %s\n", result->bars[k].asked);
    return TH_EXIT_OK;
}

static int perform(const th_experiment *experiment, const th_experiment_settings *settings,
                   bool quiet) {
    shown s = {
        .silent = quiet, .terminal = isatty(STDERR_FILENO) != 0, .last = th_monotonic_seconds()};
    th_watch_interrupt();
    th_error error = {0};
    th_experiment_result result = {0};
    th_result done = experiment->run(settings, show, &s, &result, &error);
    if (s.terminal && !s.silent) fprintf(stderr, "\r%40s\r", "");
    if (done == TH_OK) done = th_experiment_finish(&result, &error);
    int code;
    if (th_interrupted())
        code = TH_EXIT_INTERRUPTED;
    else if (done != TH_OK)
        code = th_report_failure(experiment->name, &error);
    else
        code = keep(experiment, settings, &result, &error);
    th_experiment_release(&result);
    return code;
}

// As JSON: a name gets quotes.
static const char *model_json(const char *given, char text[TH_MODEL_TEXT]) {
    const char *model = th_model_text(given, text);
    if (!model || *model == '{') return model;
    snprintf(text, TH_MODEL_TEXT, "\"%s\"", model);
    return text;
}

static int run(const th_command *command, int argc, char **argv) {
    const char *operands[1] = {NULL}, *out = NULL;
    const char *model = NULL, *filter = NULL, *plan = NULL, *behave = NULL, *only = NULL;
    char words[5][TH_MODEL_TEXT];
    double radius = 0;
    bool quick = false, quiet = false, force = false;
    long long jobs = 0, seed = 1;
    th_text_list plugins = {0};
    const th_option options[] = {
        {"out", TH_OPTION_TEXT, &out, "DIR",
         "folder for tables and figures (default: runs/NAME; none: only print)", 0, 0},
        {"quick", TH_OPTION_FLAG, &quick, NULL,
         "seconds instead of minutes: fewer and shorter runs", 0, 0},
        {"jobs", TH_OPTION_INTEGER, &jobs, "N",
         "runs at once, 0: one per core; no result depends on it", 0, 1024},
        {"seed", TH_OPTION_INTEGER, &seed, "N", "of the first crowd (default 1)", 1, 1e15},
        {"model", TH_OPTION_TEXT, &model, "M",
         "all: move model of all people: a name, name:preset or a JSON object", 0, 0},
        {"filter", TH_OPTION_TEXT, &filter, "F", "all: filter of all people, in the same forms", 0,
         0},
        {"plan", TH_OPTION_TEXT, &plan, "P", "all: plan of all people, in the same forms", 0, 0},
        {"behave", TH_OPTION_TEXT, &behave, "B", "all: behaviour of all people, in the same forms",
         0, 0},
        {"radius", TH_OPTION_REAL, &radius, "R", "all: of all people [m]", 0.05, 1},
        {"only", TH_OPTION_TEXT, &only, "WHERE",
         "all: one_way, single_file, two_way, two_way_ends, corner, doors, ...", 0, 0},
        {"force", TH_OPTION_FLAG, &force, NULL, "write into a folder that holds something", 0, 0},
        TH_PLUGIN_OPTION(&plugins),
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "no progress line", 0, 0},
    };
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof *options), argc, argv, operands);
    if (parsed == TH_PARSE_HELP) return TH_EXIT_OK;
    if (parsed == TH_PARSE_BAD) return TH_EXIT_USAGE;
    if (!operands[0]) return list_all();
    int loaded = th_load_plugins(&plugins);
    if (loaded != TH_EXIT_OK) return loaded;
    const th_experiment *experiment = find(operands[0]);
    if (!experiment) return complain_name(command, operands[0]);
    bool chooses = model || filter || plan || behave || only || radius > 0;
    if (chooses && experiment->run != th_experiment_all) {
        th_complain(command,
                    "%s runs every model; --model, --filter, --plan, --behave, --radius and --only "
                    "are for `throng experiment all`",
                    experiment->name);
        return TH_EXIT_USAGE;
    }
    th_experiment_settings settings = {.quick = quick, .seed = (uint64_t)seed, .only = only};
    settings.choice = (th_models_choice){.plan = model_json(plan, words[0]),
                                         .filter = model_json(filter, words[1]),
                                         .move = model_json(model, words[2]),
                                         .behave = model_json(behave, words[4])};
    if (radius > 0) {
        snprintf(words[3], sizeof words[3], "%g", radius);
        settings.choice.radius = words[3];
    }
    settings.jobs = jobs > 0 ? (int)jobs : th_core_count();
    th_folder folder = {0};
    th_error error = {0};
    if (!out || strcmp(out, "none") != 0) {
        if (th_folder_claim(&folder, out, experiment->name, force, &error) != TH_OK)
            return th_report_failure(out ? out : "runs", &error);
        settings.out = folder.path;
    }
    return perform(experiment, &settings, quiet);
}

const th_command th_command_experiment = {
    "experiment",
    "[NAME]",
    0,
    1,
    "experiments with people, repeated with every model",
    "Without NAME: lists the experiments. With it: runs it with every move model, alone and "
    "behind\n"
    "DenseSense, prints tables and what was asked of them, and writes tables and figures.\n"
    "all judges one configuration instead, by default that of a scene that names no model.",
    "  throng experiment\n"
    "  throng experiment all --quick\n"
    "  throng experiment all --model social_force --filter densesense:laboratory --only doors\n"
    "  throng experiment fundamental --quick\n"
    "  throng experiment corridor --out corridor\n",
    run};
