// The folder a run leaves: tables and one self-contained page; and what `throng measure` writes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_REPORT_H
#define TH_REPORT_REPORT_H
#include "core/file.h"
#include "observe/ensemble.h"
#include "observe/survey.h"
#include "throng/scene.h"
#include <jansson.h>
#include <stdio.h>

// What the report says about how the run came about.
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
th_result th_report_page(const th_report_def *def, th_error *error);

// ---- recordings

// A survey of a recording as text, tables and figures: what `throng measure` prints and writes.

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
// Instead of rows, a JSON value.
void th_table_json(th_table_file *table, const json_t *value);
// A field alone, quoted where needed. A text that a spreadsheet would take for a formula (it begins with = + - @ and is
// no number) gets an apostrophe before it.
void th_csv_field(FILE *file, const char *text);
// Puts it in place. Any failure since th_table_open shows here: TH_NO_FILE with the file's name and the cause.
th_result th_table_close(th_table_file *table, th_error *error);

// ---- summaries

// The results of a run, or of many: summary.json for programs, text for people.

// The object itself, to be released; NULL with an error, which must not be NULL.
json_t *th_report_summary_json(const th_report_def *def, th_error *error);
th_result th_report_summary(const th_report_def *def, th_error *error);

// One run: people, exits, doors, lines, areas. summary.c
void th_report_print_run(FILE *out, const th_scene_view *scene, const char *scene_file,
                         const th_observation *observation);
// Many runs: mean, median, 95th percentile, interval of the egress time.
void th_report_print_sample(FILE *out, const th_ensemble *ensemble);
#endif
