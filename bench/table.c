// The bench's cases with their bars, and how their measurement is printed. SPDX-License-Identifier: Apache-2.0
#include "bench/table.h"
#include "core/file.h"
#include <stdio.h>
#include <unistd.h>

// Bars for two cores: three times the speed of the best open library measured on the same kind of
// machine (RVO2, Menge, JuPedSim; docs/design.md). Memory: bytes per person at a million.
static const double MEMORY_BAR = 300;
static const double BEHAVE_BAR = 0.15;       // share of a step that a high level takes
static const double DEVICE_MEMORY_BAR = 200; // of the device, so that 100 million people fit

enum { SIZES = 4, CASES_MOST = 32 };
typedef struct bench_plan {
    const char *scene, *model, *behave;
    double bars[SIZES]; // at each number of people [ms]; 0: none
    int sizes;          // how many of them are measured
    double step;        // [s] 0: the bench's own
    bool bar_on_plan;
} bench_plan;

// At 10 000, 100 000 and 1 000 000 people.
static const bench_plan plan_of_cpu[] = {
    {"circle", "orca", NULL, {2.5, 33, 450}, 3, 0, false},
    {"block", "orca", NULL, {2.5, 28, 320}, 3, 0, false},
    {"packed", "orca", NULL, {0}, 3, 0, false},
    {"pillars", "orca", NULL, {1}, 1, 0, true},
    {"block", "social_force", NULL, {1.5, 15, 180}, 3, 0, false},
    {"block", "helbing_molnar", NULL, {0}, 2, 0, false},
    {"dense", "pbd", NULL, {6, 60}, 2, 0, false},
    {"block", "hidac", "hidac", {3, 32}, 2, 0, false},
    {"door", "hidac", "hidac", {3, 32}, 2, 0, false},
    {"rooms", "hidac", "hidac", {0}, 3, 0, false},
};
// At 100 000 people to 100 million, bars for one H200. A step of position-based crowds is one of its sub-steps.
static const bench_plan plan_of_device[] = {
    {"dense", "pbd", NULL, {0.3, 0.8, 6, 60}, 4, 1.0 / 48, false},
    {"dense", "uic", NULL, {0.5, 1.2, 8, 80}, 4, 0, false},
    {"dense", "orca", NULL, {0.5, 3, 30}, 3, 0, false},
    {"dense", "hidac", NULL, {0, 2}, 2, 0, false},
    {"rooms", "hidac", "hidac", {0, 2}, 2, 0, false},
};

static int add_cases(th_bench_case *cases, int count, const bench_plan *plan, int fewest, int most,
                     const th_bench_case *common) {
    int people = fewest;
    for (int k = 0; k < plan->sizes && people <= most; ++k, people *= 10) {
        cases[count] = *common;
        cases[count].scene = plan->scene;
        cases[count].model = plan->model;
        cases[count].behave = plan->behave;
        cases[count].agents = people;
        cases[count].step = plan->step;
        cases[count].bar = plan->bars[k];
        cases[count].bar_on_plan = plan->bar_on_plan;
        cases[count].behaviour = k == 0 && common->backend == TH_BACKEND_CPU;
        ++count;
    }
    return count;
}

static int list_cases(th_bench_case *cases, bool full, int threads, th_backend backend) {
    th_bench_case common = {.threads = threads, .backend = backend};
    int count = 0;
    if (backend == TH_BACKEND_CPU)
        for (size_t i = 0; i < sizeof plan_of_cpu / sizeof plan_of_cpu[0]; ++i)
            count =
                add_cases(cases, count, &plan_of_cpu[i], 10000, full ? 1000000 : 100000, &common);
    else
        for (size_t i = 0; i < sizeof plan_of_device / sizeof plan_of_device[0]; ++i)
            count = add_cases(cases, count, &plan_of_device[i], 100000, full ? 100000000 : 1000000,
                              &common);
    return count;
}

static double real_of(const json_t *row, const char *key) {
    return json_number_value(json_object_get(row, key));
}

static double plan_ms(const json_t *row) { return real_of(json_object_get(row, "stages"), "plan"); }

static double behave_share(const json_t *row) {
    const json_t *stages = json_object_get(row, "stages");
    double sum = 0;
    for (int k = 0; k < TH_STAGE_COUNT; ++k) sum += real_of(stages, th_stage_name((th_stage)k));
    return sum > 0 ? real_of(stages, th_stage_name(TH_STAGE_BEHAVE)) / sum : 0;
}

static void print_head(const th_bench_case *what) {
    bool cpu = what->backend == TH_BACKEND_CPU;
    printf("throng bench, %d thread%s, %s; times in milliseconds, median and least of 20 "
           "steps%s\n\n",
           what->threads, what->threads > 1 ? "s" : "", cpu ? "cpu" : "cuda",
           cpu ? "" : " in bursts of 5");
    printf("scene    model              people       per       ms    least  bar           "
           "bytes/person  "
           "state hash\n");
}

static void print_bar(double figure, double bar) {
    char text[32] = "";
    if (bar > 0) snprintf(text, sizeof text, "<= %g %s", bar, figure <= bar ? "ok" : "MISSED");
    printf("  %-14s", text);
}

static void print_stages(const th_bench_case *what, const json_t *row) {
    printf("         ");
    if (what->step > 0) printf("steps of %.3g s: ", what->step);
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(row, "stages"), name, value) {
        double ms = json_number_value(value);
        if (ms >= 0.0005) printf("%s %.3g  ", name, ms);
    }
    putchar('\n');
}

static void print_row(const th_bench_case *what, const json_t *row) {
    int agents = (int)json_integer_value(json_object_get(row, "agents"));
    int substeps = (int)json_integer_value(json_object_get(row, "substeps"));
    double share = substeps > 1 ? 1.0 / substeps : 1.0;
    bool on_device = what->backend != TH_BACKEND_CPU;
    double median = real_of(row, "ms_per_step") * share;
    double bytes = real_of(row, on_device ? "device_bytes_per_agent" : "bytes_per_agent");
    printf("%-8s %-15s %9d  %8s  %7.3f  %7.3f", what->scene, what->model, agents,
           substeps > 1 ? "sub-step" : "step", median, real_of(row, "ms_per_step_min") * share);
    print_bar(median, what->bar_on_plan ? 0 : what->bar);
    double most = on_device ? DEVICE_MEMORY_BAR : MEMORY_BAR;
    printf("%5.0f%-9s", bytes, agents < 1000000 ? "" : bytes <= most ? " ok" : " MISSED");
    printf("%s\n", json_string_value(json_object_get(row, "hash")));
    print_stages(what, row);
    if (what->bar_on_plan && what->bar > 0)
        printf("         planning %.3f ms per step, bar <= %g %s\n", plan_ms(row), what->bar,
               plan_ms(row) <= what->bar ? "ok" : "MISSED");
    if (what->behave)
        printf("         behaviour %s: %.1f %% of the step, bar <= %g %s\n", what->behave,
               100 * behave_share(row), 100 * BEHAVE_BAR,
               behave_share(row) <= BEHAVE_BAR ? "ok" : "MISSED");
    if (json_object_get(row, "overlap_share"))
        printf(
            "         after %.0f s: %.2f %% overlap by more than 1 cm, deepest %.1f cm, goalward "
            "speed %.2f of preferred (%.2f at the end)\n",
            real_of(row, "behaviour_time"), 100 * real_of(row, "overlap_share"),
            100 * real_of(row, "deepest_overlap"), real_of(row, "goalward_speed"),
            real_of(row, "goalward_speed_at_end"));
}

static const char *const columns[] = {"scene",
                                      "model",
                                      "behave",
                                      "agents",
                                      "threads",
                                      "device",
                                      "step",
                                      "ms_per_step",
                                      "ms_per_step_min",
                                      "substeps",
                                      "ms_per_substep",
                                      "peak_rss_bytes",
                                      "bytes_per_agent",
                                      "device_bytes",
                                      "device_bytes_per_agent",
                                      "overlap_share",
                                      "deepest_overlap",
                                      "goalward_speed",
                                      "hash"};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void write_cell(FILE *file, const json_t *value) {
    if (json_is_string(value))
        fprintf(file, "%s", json_string_value(value));
    else if (json_is_integer(value))
        fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(file, "%.6g", json_real_value(value));
}

static void write_rows(FILE *file, const th_bench_case *cases, const json_t *rows) {
    for (int k = 0; k < COLUMNS; ++k) fprintf(file, "%s,", columns[k]);
    for (int k = 0; k < TH_STAGE_COUNT; ++k) fprintf(file, "%s_ms,", th_stage_name((th_stage)k));
    fprintf(file, "bar_ms\n");
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *row = json_array_get(rows, i);
        const json_t *stages = json_object_get(row, "stages");
        for (int k = 0; k < COLUMNS; ++k) {
            write_cell(file, json_object_get(row, columns[k]));
            fputc(',', file);
        }
        for (int k = 0; k < TH_STAGE_COUNT; ++k) {
            write_cell(file, json_object_get(stages, th_stage_name((th_stage)k)));
            fputc(',', file);
        }
        if (cases[i].bar > 0) fprintf(file, "%g", cases[i].bar);
        fputc('\n', file);
    }
}

static th_result write_csv(const th_bench_case *cases, const json_t *rows, const char *path,
                           th_error *error) {
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    if (writer.file) write_rows(writer.file, cases, rows);
    if (th_file_end(&writer, TH_FLUSHED, NULL) == TH_OK) return TH_OK;
    return th_file_fail(error, path,
                        "the table could not be written; free space or choose another --csv");
}

th_result th_bench_table(const th_bench_table_def *def, th_error *error) {
    th_bench_case cases[CASES_MOST];
    int count = list_cases(cases, def->full, def->threads, def->backend), i = 0;
    bool tell = !def->quiet && isatty(STDERR_FILENO);
    json_t *rows = json_array();
    print_head(&cases[0]);
    for (; i < count; ++i) {
        if (tell)
            fprintf(stderr, "\r\033[K%s, %s, %d people ...", cases[i].scene, cases[i].model,
                    cases[i].agents);
        json_t *row = th_bench_case_measure(&cases[i], true, error);
        if (tell) fputs("\r\033[K", stderr);
        if (!row) break;
        print_row(&cases[i], row);
        fflush(stdout);
        json_array_append_new(rows, row);
    }
    th_result result = i == count ? TH_OK : error->code;
    if (result == TH_OK && def->csv) result = write_csv(cases, rows, def->csv, error);
    json_decref(rows);
    return result;
}

th_result th_bench_one(const th_bench_case *what, bool json, th_error *error) {
    json_t *object = th_bench_case_measure(what, false, error);
    if (!object) return error->code;
    if (json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
        putchar('\n');
    } else {
        print_head(what);
        print_row(what, object);
    }
    json_decref(object);
    return TH_OK;
}
