// A table (or summary.json) being written, in place when it is complete: nobody reads half a file.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_TABLE_FILE_H
#define TH_REPORT_TABLE_FILE_H
#include "core/file.h"
#include <jansson.h>

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
#endif
