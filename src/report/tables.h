// Tables and summaries of runs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_TABLES_H
#define TH_REPORT_TABLES_H
#include "core/file.h"
#include "report/report.h"
#include <jansson.h>
#include <stdio.h>

// ---- table files

// A table (or summary.json) being written, in place when it is complete: nobody reads half a file.

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
