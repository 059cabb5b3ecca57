// throng validate: the verification suites with one choice of models. SPDX-License-Identifier: Apache-2.0
#include "validate/validate.h"
#include "cli/terminal.h"
#include "core/system/system.h"
#include "report/report.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct validate_options {
    const char *model, *filter, *plan, *behave, *only, *out;
    long long seeds, jobs;
    bool quick, quiet, list;
} validate_options;

static int list_tests(void) {
    int count;
    const th_suite *const *suites = th_suites(&count);
    for (int s = 0; s < count; ++s) {
        printf("%s: %s\n", suites[s]->name, suites[s]->document);
        for (int t = 0; t < suites[s]->test_count; ++t)
            printf("  %-5s %c  %s\n", suites[s]->tests[t].number, suites[s]->tests[t].feature,
                   suites[s]->tests[t].title);
    }
    return TH_EXIT_OK;
}

// Words in lines of at most `width` characters, each but the first behind `indent`.
static void print_wrapped(const char *indent, int width, const char *text) {
    int used = 0;
    for (const char *at = text; *at;) {
        int word = (int)strcspn(at, " ");
        if (used > 0 && used + 1 + word > width) {
            printf("\n%s", indent);
            used = 0;
        }
        if (used > 0) putchar(' '), ++used;
        printf("%.*s", word, at);
        used += word;
        at += word;
        while (*at == ' ') ++at;
    }
    putchar('\n');
}

static void print_entry(const th_validation_entry *entry) {
    static const char indent[] = "                    ";
    const th_outcome *outcome = &entry->outcome;
    printf("%-8s%-5s %-14s ", entry->suite->title, entry->test->number,
           th_verdict_word(outcome->verdict));
    printf("%s\n%sasked:    ", entry->test->title, indent);
    print_wrapped("                              ", 90, entry->test->asked);
    if (*outcome->measured) {
        printf("%smeasured: ", indent);
        print_wrapped("                              ", 90, outcome->measured);
    }
    if (*outcome->remark) {
        printf("%s          ", indent);
        print_wrapped("                              ", 90, outcome->remark);
    }
}

static void print_all(const th_validation *validation) {
    const th_suite_setup *setup = &validation->setup;
    printf("move %s, filter %s, plan %s%s%s; %d crowds where a test is statistical\n\n",
           setup->move, setup->filter ? setup->filter : "none",
           setup->plan ? setup->plan : "default", setup->behave ? ", behave " : "",
           setup->behave ? setup->behave : "", setup->crowds);
    for (int i = 0; i < validation->count; ++i) print_entry(&validation->entries[i]);
    printf("\n%d tests: %d pass, %d fail, %d reported, %d not applicable\n", validation->count,
           validation->totals[TH_PASS], validation->totals[TH_FAIL],
           validation->totals[TH_REPORTED], validation->totals[TH_NOT_APPLICABLE]);
}

typedef struct shown {
    bool silent, terminal;
    double last; // [s]
} shown;

static bool show(int done, int count, const char *running, void *context) {
    shown *s = context;
    double now = th_monotonic_seconds();
    if (!s->silent && now - s->last > (s->terminal ? 0.2 : 5.0)) {
        if (s->terminal) fputs("\r\033[K", stderr);
        fprintf(stderr, "%d of %d tests done | %s", done, count, running);
        if (!s->terminal) fputc('\n', stderr);
        fflush(stderr);
        s->last = now;
    }
    return !th_interrupted();
}

static int write_files(const th_validation *validation, const char *out, th_error *error) {
    th_folder folder = {0};
    char page[TH_PATH_MAX], json[TH_PATH_MAX];
    if (th_make_folders(out, error) != TH_OK) return th_report_failure(out, error);
    snprintf(folder.path, sizeof folder.path, "%s", out);
    if (!th_folder_path(&folder, "validation.html", page, sizeof page) ||
        !th_folder_path(&folder, "validation.json", json, sizeof json))
        return TH_EXIT_FAILED;
    if (th_validation_write_json(validation, json, error) != TH_OK)
        return th_report_failure(json, error);
    if (th_validation_write_page(validation, page, error) != TH_OK)
        return th_report_failure(page, error);
    printf("\n%s\n", page);
    return TH_EXIT_OK;
}

static int perform(const th_command *command, th_validation *validation,
                   const validate_options *o) {
    shown s = {o->quiet, isatty(STDERR_FILENO) != 0, th_monotonic_seconds()};
    th_error error = {0};
    th_watch_interrupt();
    double started = th_monotonic_seconds();
    th_result result = th_validation_run(validation, (int)o->jobs, show, &s, &error);
    if (s.terminal && !s.silent) fputs("\r\033[K", stderr);
    if (result == TH_BAD_ARGUMENT) {
        th_complain(command, "%s", error.message);
        return TH_EXIT_USAGE;
    }
    if (result != TH_OK) return th_report_failure("validate", &error);
    if (validation->interrupted) return TH_EXIT_INTERRUPTED;
    print_all(validation);
    if (!o->quiet) fprintf(stderr, "took %.1f s\n", th_monotonic_seconds() - started);
    int code = TH_EXIT_OK;
    if (strcmp(o->out, "none") != 0) code = write_files(validation, o->out, &error);
    if (fflush(stdout) != 0) return TH_EXIT_FAILED;
    return code == TH_EXIT_OK && validation->totals[TH_FAIL] > 0 ? TH_EXIT_MISSED : code;
}

static int run(const th_command *command, int argc, char **argv) {
    validate_options o = {.out = "runs/validation"};
    th_text_list plugins = {0};
    const th_option options[] = {
        {"model", TH_OPTION_TEXT, &o.model, "M",
         "move model of all people: a name, name:preset or a JSON object", 0, 0},
        {"filter", TH_OPTION_TEXT, &o.filter, "F", "filter of all people, in the same forms; none",
         0, 0},
        {"plan", TH_OPTION_TEXT, &o.plan, "P", "plan of all people, in the same forms", 0, 0},
        {"behave", TH_OPTION_TEXT, &o.behave, "B",
         "behaviour of people whose test names none, in the same forms", 0, 0},
        {"seeds", TH_OPTION_INTEGER, &o.seeds, "N", "crowds of statistical tests (default 3)", 1,
         1000},
        {"jobs", TH_OPTION_INTEGER, &o.jobs, "N",
         "tests at once, 0: one per core; no result depends on it", 0, 1024},
        {"only", TH_OPTION_TEXT, &o.only, "TEST", "one test by its number: 9, \"rimea 9\"", 0, 0},
        {"out", TH_OPTION_TEXT, &o.out, "DIR",
         "folder of the report (default runs/validation); none: only print", 0, 0},
        {"quick", TH_OPTION_FLAG, &o.quick, NULL, "one crowd, unless --seeds says otherwise", 0, 0},
        {"list", TH_OPTION_FLAG, &o.list, NULL, "names of the tests, nothing is run", 0, 0},
        TH_PLUGIN_OPTION(&plugins),
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "no progress line", 0, 0},
    };
    const char *suite = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof *options), argc, argv, &suite);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (o.list) return list_tests();
    int loaded = th_load_plugins(&plugins);
    if (loaded != TH_EXIT_OK) return loaded;
    char words[4][TH_MODEL_TEXT];
    th_validation validation = {.setup = th_suite_setup_default()};
    th_suite_setup *setup = &validation.setup;
    if (o.model) setup->move = th_model_text(o.model, words[0]);
    if (o.filter) setup->filter = th_model_text(o.filter, words[1]);
    if (o.plan) setup->plan = th_model_text(o.plan, words[2]);
    if (o.behave) setup->behave = th_model_text(o.behave, words[3]);
    if (o.quick) setup->crowds = 1;
    if (o.seeds > 0) setup->crowds = (int)o.seeds;
    th_error error = {0};
    if (th_validation_choose(&validation, suite, o.only, &error) != TH_OK) {
        th_complain(command, "%s", error.message);
        return error.code == TH_NO_MEMORY ? TH_EXIT_FAILED : TH_EXIT_USAGE;
    }
    int code = perform(command, &validation, &o);
    th_validation_release(&validation);
    return code;
}

const th_command th_command_validate = {
    .name = "validate",
    .operands = "[SUITE]",
    .operand_min = 0,
    .operand_max = 1,
    .summary = "verification suites: RiMEA, IMO, NIST, ISO, Juelich",
    .detail =
        "SUITE is rimea, imo, nist, iso, juelich or all (default). Runs every test that needs no "
        "smoke,\n"
        "gas or lifts, prints what was asked, what was measured and the verdict,\n"
        "and writes DIR/validation.html (one file for an authority) and DIR/validation.json.\n"
        "Without --model: what a scene gets that names no model. Exit code 4: a test "
        "failed.",
    .examples = "  throng validate\n"
                "  throng validate rimea --model orca --filter densesense --out none\n"
                "  throng validate imo --only 8 --seeds 5\n",
    .run = run,
};
