// A table (or summary.json) being written: beside its place, renamed when complete, so that nobody reads half a file.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_TABLE_FILE_H
#define TH_REPORT_TABLE_FILE_H
#include "throng/base.h"
#include <jansson.h>
#include <stdio.h>

typedef struct th_table_file {
    FILE *file; // NULL: could not be opened; adding to it then does nothing
    char path[4096], beside[4112];
    bool begun; // a field of this row was written
    int cause;  // errno of the first failure
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
// Closes and renames. A full disk shows here: TH_NO_FILE with the file's name and the cause.
th_result th_table_close(th_table_file *table, th_error *error);
#endif
