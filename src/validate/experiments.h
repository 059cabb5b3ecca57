// Experiments with people, repeated with every model: what `throng experiment` runs. An experiment fills
// a result with tables, bars that were set before, and figures; the command prints and writes them.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_EXPERIMENTS_H
#define TH_VALIDATE_EXPERIMENTS_H
#include "core/statistics.h"
#include "validate/corridors.h"
#include "validate/validate.h"
#include <stdio.h>

typedef struct th_experiment_settings {
    const char *out; // folder for figures, exists; NULL: draw none
    bool quick;      // seconds instead of minutes: fewer densities or runs, shorter
    int jobs;        // runs side by side, at least 1; no result depends on it
    uint64_t seed;   // of the first crowd
    // Of `all` only:
    th_models_choice choice; // models that it judges
    const char *only;        // the beginning of the rows' first word; NULL: all rows
} th_experiment_settings;

// Told the share that is done, 0 .. 1, and of what; returns false to stop. Called one at a time. NULL: silent.
typedef bool th_experiment_progress(void *context, double share, const char *what);

// ---- the result: grows; when memory runs out it remembers that, and th_experiment_finish tells it.
typedef struct th_experiment_table {
    char *name;   // stem of its CSV file: "speeds"
    char *title;  // printed above it
    char **cells; // row by row, the first row are the names of the columns
    int columns, count;
    bool failed;
} th_experiment_table;

typedef struct th_experiment_bar {
    char *asked, *measured;
    th_verdict verdict;
} th_experiment_bar;

typedef struct th_experiment_figure {
    char *file;    // in the folder, "fundamental.png"
    char *caption; // one sentence: what is seen
} th_experiment_figure;

typedef struct th_experiment_result {
    th_experiment_table **tables;
    int table_count;
    th_experiment_bar *bars;
    int bar_count;
    th_experiment_figure *figures;
    int figure_count;
    bool failed; // no memory for something
} th_experiment_result;

// `columns`: names with units, as "speed [m/s]", separated by "|". NULL without memory; adding to NULL is
// allowed and does nothing.
th_experiment_table *th_experiment_add_table(th_experiment_result *result, const char *name,
                                             const char *title, const char *columns);
// The next cell, left to right; a row is as long as there are columns.
void th_cell_text(th_experiment_table *table, const char *text);
// An en dash for NaN.
void th_cell_number(th_experiment_table *table, double value, int decimals);
// A bar set beforehand, the measurement, and the verdict.
void th_experiment_judge(th_experiment_result *result, th_verdict verdict, const char *asked,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
// A file in settings->out, already written.
void th_experiment_add_figure(th_experiment_result *result, const char *file, const char *caption);
// TH_NO_MEMORY when something is missing from it.
th_result th_experiment_finish(const th_experiment_result *result, th_error *error);
void th_experiment_release(th_experiment_result *result);
// Tables in Markdown, bars, figures.
void th_experiment_print(const th_experiment_result *result, FILE *file);
// One CSV per table and bars.csv, into an existing folder.
th_result th_experiment_write(const th_experiment_result *result, const char *folder,
                              th_error *error);

// ---- the models every experiment is repeated with: four move models, each alone and behind DenseSense
// ("D-") with its presets.
enum { TH_FAMILIES = 4, TH_VARIANTS = 4 };
typedef struct th_experiment_model {
    const char *name;          // "D-ORCA menge"
    const char *filter, *move; // as in a scene file, JSON; for `groups.0.filter=` too
    int family;                // of models with the same move, 0 .. TH_FAMILIES - 1
    int variant;               // 0: alone; menge, consistent, laboratory
} th_experiment_model;
const th_experiment_model *th_experiment_models(int *count);
th_models_choice th_experiment_choice(const th_experiment_model *model);

// ---- rows of `throng experiment all`

#define TH_ALL_COLUMNS \
    "configuration|where|what|people|simulated|spread|off [%]|bar|seeds|verdict|remark"
typedef struct th_all_study {
    const th_experiment_settings *settings;
    th_experiment_table *table;
    char configuration[200]; // models that it judges: the first cell of every row
    int bars, missed;
} th_all_study;

// The results of one run. Each family of experiments assigns the numbers.
enum { TH_ALL_NUMBERS = 5 };
typedef struct th_all_found {
    double number[TH_ALL_NUMBERS];
    th_fundamental_bin bins[TH_CORRIDOR_CLASSES];               // sums; corridors only
    double own[TH_FILE_CLASSES], own_standing[TH_FILE_CLASSES]; // single file only
} th_all_found;

// A row with whatever is asked; NaN: an empty cell.
typedef struct th_all_row {
    const char *name, *what, *bar;
    const char *remark; // NULL: none
    double people;
    th_sample_summary own;
    int decimals;
    bool pass;
} th_all_row;
void th_all_add(th_all_study *study, const th_all_row *row);
// Summarises a number over the seeds of a place.
th_sample_summary th_all_summary(const th_all_found *found, int seeds, int number);

// Runs a place once, and judges all; found[place * seeds + k]: crowd k of a place.
typedef th_result th_all_walk(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error);
typedef void th_all_judge(th_all_study *study, const th_all_found *found, int seeds);
// experiment_bodies.c: waves in single file, motivation, pushing, an alley, rigid bodies.
enum { TH_ALL_EAGER = 5, TH_ALL_PUSHING = 3 };
th_all_walk th_all_walk_waves, th_all_walk_eager, th_all_walk_pushing, th_all_walk_alley,
    th_all_walk_rigid;
th_all_judge th_all_judge_waves, th_all_judge_eager, th_all_judge_pushing, th_all_judge_alley,
    th_all_judge_rigid;

// One number for all seeds together.
th_sample_summary th_all_single(double value, int seeds);
// A row whose bar is "within `bar` of people", a share.
void th_all_near(th_all_study *study, const char *name, const char *what, double people,
                 th_sample_summary own, int decimals, double bar);

// ---- many runs side by side: run(context, k) for k in 0 .. count - 1. Each writes to a place of its own, so
// that the result does not depend on how many run at once; each world has one thread. Returns the error of
// the lowest k that failed. TH_OK also when `progress` stopped it: *stopped tells.
typedef th_result th_experiment_run(void *context, int index, th_error *error);
th_result th_experiment_runs(const th_experiment_settings *settings,
                             th_experiment_progress *progress, void *progress_context,
                             const char *what, int count, th_experiment_run *run, void *context,
                             bool *stopped, th_error *error);

// ---- the experiments. X(name, doc): th_experiment_NAME below runs it, `throng experiment NAME` calls it.
#define TH_EXPERIMENTS(X)                                                                         \
    X(all, "every bar for one configuration, default or --model: is it people as measured?")      \
    X(fundamental, "speed against density in a corridor without ends, every model over Weidmann") \
    X(corridor, "one way through a corridor of 1.8 m, entrance and exit as in the experiment")    \
    X(both_ways, "two crowds through each other in a corridor of 4 m")                            \
    X(bottleneck, "flow against the width of a door, every model over measured flows")            \
    X(stadium, "300 people through the mouth of a grandstand")                                    \
    X(smoothness, "the ways of five people: D-SF at 16 Hz, SF at 16 Hz, SF at 1000 Hz")

typedef th_result th_experiment_fn(const th_experiment_settings *settings,
                                   th_experiment_progress *progress, void *progress_context,
                                   th_experiment_result *result, th_error *error);
typedef struct th_experiment {
    const char *name, *doc;
    th_experiment_fn *run;
} th_experiment;
const th_experiment *th_experiments(int *count);

#define X(name, doc) th_experiment_fn th_experiment_##name;
TH_EXPERIMENTS(X)
#undef X

// ---- halls in which people choose their way: scenes/quickest and scenes/station.json, run and looked at

typedef struct th_embedded_hall {
    const char *stem;
    const unsigned char *text;
    size_t length;
} th_embedded_hall;
extern const th_embedded_hall th_embedded_halls[];
extern const int th_embedded_hall_count;

// Within this of a door or of a line that ends a way people queue, and nothing is asked of them. [m]
#define TH_HALL_QUEUE 8.0

typedef struct th_hall_found {
    int inside;         // people left behind at the scene's max_time
    double time;        // when the last one left [s]
    double delay;       // mean of the time people took over the time they would need alone [-]
    double held_up;     // longest time of an agent below 0.2 of its own speed [s]
    double density;     // highest [1/m2]; both at least TH_HALL_QUEUE from doors and goals
    double first, last; // when the first and the last exit were used last [s]
} th_hall_found;

typedef struct th_hall_def {
    const char *stem;
    double turn; // of a hall without doors and obstacles [degrees]
    double step; // [s]; 0: the scene's
} th_hall_def;

// Loads a hall; destroy the scene, also after a failure.
th_result th_hall_load(const th_hall_def *hall, const th_models_choice *choice, th_scene **scene,
                       th_error *error);
th_result th_hall_run(const th_hall_def *hall, const th_models_choice *choice, uint64_t seed,
                      th_hall_found *found, th_error *error);
#endif
