// The list of experiments, their results, and runs side by side. SPDX-License-Identifier: Apache-2.0
#include "validate/experiments.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/pool.h"
#include "report/report.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const th_experiment *th_experiments(int *count) {
    static const th_experiment list[] = {
#define X(name, doc) {#name, doc, th_experiment_##name},
        TH_EXPERIMENTS(X)
#undef X
    };
    *count = (int)(sizeof list / sizeof *list);
    return list;
}

#define FILTER(preset) "{\"model\": \"densesense\", \"preset\": \"" preset "\"}"
// X(family, name, move)
#define MOVES(X)                   \
    X(0, "ORCA", "\"orca\"")       \
    X(1, "SF", "\"social_force\"") \
    X(2, "UIC", "\"uic\"")         \
    X(3, "PBD", "\"pbd\"")

const th_experiment_model *th_experiment_models(int *count) {
    static const th_experiment_model list[] = {
#define X(family, name, move)                                                                    \
    {name, "\"none\"", move, family, 0}, {"D-" name " menge", FILTER("menge"), move, family, 1}, \
        {"D-" name " consistent", FILTER("consistent"), move, family, 2},                        \
        {"D-" name " laboratory", FILTER("laboratory"), move, family, 3},
        MOVES(X)
#undef X
    };
    *count = (int)(sizeof list / sizeof *list);
    return list;
}

th_models_choice th_experiment_choice(const th_experiment_model *model) {
    return (th_models_choice){.filter = model->filter, .move = model->move};
}

// ---- tables

static void add_cell(th_experiment_table *table, const char *text, size_t length) {
    if (!table) return;
    char *copy = strndup(text, length);
    if (!copy || !TH_RESERVE_ONE(table->cells, table->count)) {
        free(copy);
        table->failed = true;
        return;
    }
    table->cells[table->count++] = copy;
}

static void release_table(th_experiment_table *table) {
    for (int k = 0; k < table->count; ++k) free(table->cells[k]);
    free(table->cells);
    free(table->name);
    free(table->title);
    free(table);
}

th_experiment_table *th_experiment_add_table(th_experiment_result *result, const char *name,
                                             const char *title, const char *columns) {
    th_experiment_table *table = calloc(1, sizeof *table);
    if (!table || !(table->name = strdup(name)) || !(table->title = strdup(title)) ||
        !TH_RESERVE_ONE(result->tables, result->table_count)) {
        if (table) release_table(table);
        result->failed = true;
        return NULL;
    }
    for (const char *at = columns; at; ++table->columns) {
        const char *end = strchr(at, '|');
        add_cell(table, at, end ? (size_t)(end - at) : strlen(at));
        at = end ? end + 1 : NULL;
    }
    result->tables[result->table_count++] = table;
    return table;
}

void th_cell_text(th_experiment_table *table, const char *text) {
    add_cell(table, text, strlen(text));
}

void th_cell_number(th_experiment_table *table, double value, int decimals) {
    char text[64];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    if (text[0] == '-' && strspn(text, "-0.") == strlen(text))
        memmove(text, text + 1, strlen(text));
    th_cell_text(table, isfinite(value) ? text : "–");
}

// ---- bars and figures

void th_experiment_judge(th_experiment_result *result, th_verdict verdict, const char *asked,
                         const char *format, ...) {
    char measured[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(measured, sizeof measured, format, arguments);
    va_end(arguments);
    th_experiment_bar bar = {strdup(asked), strdup(measured), verdict};
    if (!bar.asked || !bar.measured || !TH_RESERVE_ONE(result->bars, result->bar_count)) {
        free(bar.asked);
        free(bar.measured);
        result->failed = true;
        return;
    }
    result->bars[result->bar_count++] = bar;
}

void th_experiment_add_figure(th_experiment_result *result, const char *file, const char *caption) {
    th_experiment_figure figure = {strdup(file), strdup(caption)};
    if (!figure.file || !figure.caption || !TH_RESERVE_ONE(result->figures, result->figure_count)) {
        free(figure.file);
        free(figure.caption);
        result->failed = true;
        return;
    }
    result->figures[result->figure_count++] = figure;
}

th_result th_experiment_finish(const th_experiment_result *result, th_error *error) {
    bool failed = result->failed;
    for (int k = 0; k < result->table_count; ++k) failed = failed || result->tables[k]->failed;
    return failed ? th_fail(error, TH_NO_MEMORY, "", "no memory for the tables") : TH_OK;
}

void th_experiment_release(th_experiment_result *result) {
    for (int k = 0; k < result->table_count; ++k) release_table(result->tables[k]);
    for (int k = 0; k < result->bar_count; ++k) {
        free(result->bars[k].asked);
        free(result->bars[k].measured);
    }
    for (int k = 0; k < result->figure_count; ++k) {
        free(result->figures[k].file);
        free(result->figures[k].caption);
    }
    free(result->tables);
    free(result->bars);
    free(result->figures);
    *result = (th_experiment_result){0};
}

// ---- output

static void print_table(const th_experiment_table *table, FILE *file) {
    fprintf(file, "\n%s\n\n", table->title);
    for (int k = 0; k < table->count; ++k) {
        bool last = (k + 1) % table->columns == 0;
        fprintf(file, "| %s %s", table->cells[k], last ? "|\n" : "");
        if (k == table->columns - 1)
            for (int c = 0; c < table->columns; ++c)
                fputs(c + 1 < table->columns ? "|---" : "|---|\n", file);
    }
}

void th_experiment_print(const th_experiment_result *result, FILE *file) {
    for (int k = 0; k < result->table_count; ++k) print_table(result->tables[k], file);
    if (result->bar_count > 0) fprintf(file, "\n| asked | measured | |\n|---|---|---|\n");
    for (int k = 0; k < result->bar_count; ++k)
        fprintf(file, "| %s | %s | %s |\n", result->bars[k].asked, result->bars[k].measured,
                th_verdict_word(result->bars[k].verdict));
    if (result->figure_count > 0) fputc('\n', file);
    for (int k = 0; k < result->figure_count; ++k)
        fprintf(file, "%s: %s\n", result->figures[k].file, result->figures[k].caption);
}

static th_result write_table(const th_experiment_table *table, const char *folder,
                             th_error *error) {
    char name[256];
    snprintf(name, sizeof name, "%s.csv", table->name);
    th_table_file csv;
    th_table_open(&csv, folder, name);
    for (int k = 0; k < table->count; ++k) {
        th_table_text(&csv, strcmp(table->cells[k], "–") == 0 ? "" : table->cells[k]);
        if ((k + 1) % table->columns == 0) th_table_end_row(&csv);
    }
    return th_table_close(&csv, error);
}

th_result th_experiment_write(const th_experiment_result *result, const char *folder,
                              th_error *error) {
    th_result done = TH_OK;
    for (int k = 0; k < result->table_count && done == TH_OK; ++k)
        done = write_table(result->tables[k], folder, error);
    if (done != TH_OK || result->bar_count == 0) return done;
    th_table_file csv;
    th_table_open(&csv, folder, "bars.csv");
    th_table_text(&csv, "asked");
    th_table_text(&csv, "measured");
    th_table_text(&csv, "verdict");
    th_table_end_row(&csv);
    for (int k = 0; k < result->bar_count; ++k) {
        th_table_text(&csv, result->bars[k].asked);
        th_table_text(&csv, result->bars[k].measured);
        th_table_text(&csv, th_verdict_word(result->bars[k].verdict));
        th_table_end_row(&csv);
    }
    return th_table_close(&csv, error);
}

// ---- runs side by side

typedef struct run_outcome {
    th_result result;
    th_error error;
} run_outcome;

typedef struct runs_at_work {
    th_experiment_run *run;
    th_experiment_progress *progress;
    void *context, *progress_context;
    const char *what;
    int count, shown; // runs, of them shown as done
    run_outcome *outcomes;
    int failed; // -1: none
    bool stopped;
} runs_at_work;

static void do_run(void *context, int k) {
    runs_at_work *work = context;
    work->outcomes[k].result = work->run(work->context, k, &work->outcomes[k].error);
}

static bool show_done(runs_at_work *work, int done) {
    if (done > work->shown) work->shown = done;
    if (work->progress && !work->stopped)
        work->stopped =
            !work->progress(work->progress_context, (double)work->shown / work->count, work->what);
    return !work->stopped;
}

static bool show_waiting(void *context, const th_pool_progress *progress) {
    return show_done(context, progress->done);
}

static bool take_run(void *context, int k) {
    runs_at_work *work = context;
    if (work->outcomes[k].result != TH_OK) work->failed = k;
    return work->failed < 0 && show_done(work, k + 1);
}

th_result th_experiment_runs(const th_experiment_settings *settings,
                             th_experiment_progress *progress, void *progress_context,
                             const char *what, int count, th_experiment_run *run, void *context,
                             bool *stopped, th_error *error) {
    runs_at_work work = {.run = run,
                         .progress = progress,
                         .context = context,
                         .progress_context = progress_context,
                         .what = what,
                         .count = count,
                         .outcomes = calloc((size_t)count + 1, sizeof *work.outcomes),
                         .failed = -1};
    if (!work.outcomes) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs", count);
    const th_pool_def pool = {.count = count,
                              .threads = settings->jobs > 0 ? settings->jobs : 1,
                              .run = do_run,
                              .deliver = take_run,
                              .waiting = show_waiting,
                              .context = &work};
    th_result result = th_pool_run(&pool, NULL, error);
    if (work.failed >= 0) {
        result = work.outcomes[work.failed].result;
        if (error) *error = work.outcomes[work.failed].error;
    }
    free(work.outcomes);
    if (stopped) *stopped = work.stopped;
    return result;
}
