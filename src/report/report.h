// The folder a run leaves: tables and one self-contained page; and what `throng measure` writes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_REPORT_H
#define TH_REPORT_REPORT_H
#include "core/file.h"
#include "observe/ensemble.h"
#include "observe/survey.h"
#include "throng/scene.h"
#include <jansson.h>
#include <stdio.h>

// ---- the folder of a run

// The folder a run or a sweep leaves: made, refused or cleared before anything is simulated, and small
// files written so that they appear whole or not at all.

typedef struct th_folder {
    char path[TH_PATH_MAX - 256]; // "" when nothing is kept
    bool locked;
    int lock; // of th_system_lock_folder
} th_folder;

// "scenes/hall.json" -> "hall"
void th_file_stem(const char *path, char *stem, size_t size);
// folder/name. False, with an error, when that is longer than a path can be.
bool th_folder_path(const th_folder *folder, const char *name, char *path, size_t size);
bool th_folder_has(const th_folder *folder, const char *name);

// One writer at a time: an error when another one, here or in another process, has the lock. It is the folder's own
// (th_system_lock_folder), leaves no file and ends with the process. A folder that is not there, and a file system without locks, are
// fine. Locking again is, too.
th_result th_folder_lock(th_folder *folder, th_error *error);
void th_folder_unlock(th_folder *folder);

// Where results go: `wanted`, or with NULL the first free one of runs/STEM, runs/STEM-2, ... Makes it,
// and the folders above it. A folder that holds something is refused without `force`; with it, the files that
// throng wrote there are removed and nothing else. Locks the folder before touching anything.
th_result th_folder_claim(th_folder *folder, const char *wanted, const char *stem, bool force,
                          th_error *error);
// Makes a folder and those above it where they are missing.
th_result th_make_folders(const char *path, th_error *error);
// A folder below it, made when missing.
th_result th_folder_make(const th_folder *folder, const char *name, th_error *error);

th_result th_folder_write_json(const th_folder *folder, const char *name, const json_t *value,
                               th_error *error);
// The JSON object in a file of the folder; NULL with an error.
json_t *th_folder_read_json(const th_folder *folder, const char *name, th_error *error);

// How the run came about, for the report.
typedef struct th_report_def {
    const th_scene_view *scene;
    const th_ensemble *ensemble;
    const char *folder;            // exists
    const char *scene_file;        // as given on the command line
    const char *command_line;      // as typed
    const char *recording;         // file name in the folder, or NULL
    const char *recording_trouble; // why the recording ends early, or NULL
    const char *const *overrides;  // --set texts
    int override_count;
    double max_time; // --max-time [s]; 0: not given
} th_report_def;

// Id of the empty span in report.html where a link to the replay goes, once there is one.
#define TH_REPORT_REPLAY "replay"

// summary.json, evacuation.csv, counters.csv, areas.csv, people.csv, runs.csv. src/report/tables.c
th_result th_report_tables(const th_report_def *def, th_error *error);
// report.html with every figure inside, and the figures as PNG in folder/figures.
// The numbers of all runs, part of th_report_tables. quantities.c
th_result th_report_quantities(const th_report_def *def, th_error *error);
th_result th_report_page(const th_report_def *def, th_error *error);

// ---- a survey of a recording as text, tables and figures: what `throng measure` prints and writes

void th_survey_print(FILE *out, const char *path, const th_survey *survey);
// measured_areas.csv, measured_lines.csv, measured_people.csv, measured.json.
th_result th_survey_tables(const char *folder, const char *path, const th_survey *survey,
                           th_error *error);
// measured_areas.png and measured_lines.png, those that there is something for.
th_result th_survey_figures(const char *folder, const char *path, const th_survey *survey,
                            th_error *error);

// ---- tables and summaries, tables.c and summary.c

// ---- table files

// A table (or summary.json) being written, in place when it is complete: readers never see half a file.

typedef struct th_table_file {
    th_file_writer writer;
    bool begun; // a field of this row was written
} th_table_file;

void th_table_open(th_table_file *table, const char *folder, const char *name);
// One field each, with the comma before it where needed.
void th_table_text(th_table_file *table, const char *text); // quoted where needed; NULL: empty
void th_table_number(th_table_file *table, double number);  // 9 digits, a point; not finite: empty
void th_table_float(th_table_file *table, float number);    // the same with 7 digits
void th_table_count(th_table_file *table, uint64_t count);
void th_table_end_row(th_table_file *table);
void th_table_header(th_table_file *table, const char *const *names, int count);
#define TH_TABLE_HEADER(table, ...)                                                             \
    do {                                                                                        \
        const char *const table_names[] = {__VA_ARGS__};                                        \
        th_table_header(table, table_names, (int)(sizeof table_names / sizeof table_names[0])); \
    } while (0)
// Instead of rows, a JSON value.
void th_table_json(th_table_file *table, const json_t *value);
// A field alone, quoted where needed. A text that a spreadsheet would take for a formula (it begins with = + - @ and is
// no number) gets an apostrophe before it.
void th_csv_field(FILE *file, const char *text);
// Puts it in place. Any failure since th_table_open shows here: TH_NO_FILE with the file's name and the cause.
th_result th_table_close(th_table_file *table, th_error *error);

// ---- summaries of a run, or of many: summary.json for programs, text for people

// The object itself, to be released; NULL with an error, which must not be NULL.
json_t *th_report_summary_json(const th_report_def *def, th_error *error);
th_result th_report_summary(const th_report_def *def, th_error *error);

// One run: people, exits, doors, lines, areas. summary.c
void th_report_print_run(FILE *out, const th_scene_view *scene, const char *scene_file,
                         const th_observation *observation);
// Many runs: mean, median, 95th percentile, interval of the egress time.
void th_report_print_sample(FILE *out, const th_ensemble *ensemble);

// ---- text of the page

// Text that grows, for the page: plain, escaped, numbers as people write them. Running out of memory is
// remembered and told at the end.

typedef struct th_text {
    char *bytes; // always ended by 0 once something was added
    size_t length, capacity;
    bool failed;
} th_text;

void th_text_release(th_text *text);
void th_text_append(th_text *text, const char *bytes, size_t length);
// Markup and the page's own words, as they are.
void th_text_put(th_text *text, const char *words);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void th_text_add(th_text *text, const char *format, ...);
// Text from outside: markup characters escaped, bytes that are not UTF-8 shown as "?". NULL: nothing.
void th_text_escaped(th_text *text, const char *words);

// 2900 -> 2 900 with a narrow space.
void th_text_count(th_text *text, double count);
// With one decimal, as the terminal rounds. "never" for NaN.
void th_text_seconds(th_text *text, double seconds);
// Three significant digits, zeros kept, for columns of measured numbers; an en dash for NaN.
void th_text_measured(th_text *text, double value);
// At most three significant digits, without exponent where it can be helped; an en dash for NaN.
void th_text_value(th_text *text, double value);

// Makes the text the content of folder/name (folder NULL: name). Releases the text, whatever happens.
th_result th_text_write(th_text *text, const char *folder, const char *name,
                        th_durability durability, th_error *error);

// ---- one figure as an SVG that can stand in a page with others

// Copies cairo's SVG into a page: without the XML declaration, every id and every reference to one
// prefixed (cairo counts from 0 in every file, so ids of two figures would clash), path data rounded to
// hundredths, with role and label for readers who cannot see it. `svg` is changed. False when `svg` is
// not what cairo writes.
bool th_svg_inline(th_text *page, char *svg, const char *prefix, const char *label);
#endif
