// SPDX-License-Identifier: Apache-2.0
#include "report/table_file.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void th_table_open(th_table_file *table, const char *folder, const char *name) {
    table->begun = false;
    th_file_begin(&table->writer, folder, name);
}

static void put(th_table_file *table, const char *bytes, size_t length) {
    th_file_put(&table->writer, bytes, length);
}

static void begin_field(th_table_file *table) {
    if (table->begun) put(table, ",", 1);
    table->begun = true;
}

// A spreadsheet takes a text that begins so for a formula, and obeys it.
static bool is_formula(const char *text) {
    static const char digits[] = "0123456789";
    if (!*text || !strchr("=+-@\t\r", *text)) return false;
    // -1.5e3 is a number to a spreadsheet too, -1+1 is not.
    const char *at = text + 1;
    at += strspn(at, digits);
    if (*at == '.') at += 1 + strspn(at + 1, digits);
    if (at > text + 1 && (*at == 'e' || *at == 'E')) {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        at += strspn(at, digits);
    }
    return strchr("=@\t\r", *text) || *at != '\0' || at == text + 1;
}

void th_csv_field(FILE *file, const char *text) {
    if (is_formula(text)) { // an apostrophe makes it a text
        char *safe = NULL;
        if (asprintf(&safe, "'%s", text) < 0) return;
        th_csv_field(file, safe);
        free(safe);
        return;
    }
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) fputc('"', file); // RFC 4180
    for (; *text; ++text) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    if (quoted) fputc('"', file);
}

void th_table_text(th_table_file *table, const char *text) {
    begin_field(table);
    if (text && table->writer.file) th_csv_field(table->writer.file, text);
}

static void put_number(th_table_file *table, double number, int precision) {
    char digits[64];
    begin_field(table);
    if (!isfinite(number)) return;
    int length = snprintf(digits, sizeof digits, "%.*g", precision, number);
    for (int i = 0; i < length; ++i) // whatever the locale has for a decimal point
        if (!strchr("0123456789+-e", digits[i])) digits[i] = '.';
    put(table, digits, (size_t)length);
}

void th_table_number(th_table_file *table, double number) { put_number(table, number, 9); }
void th_table_float(th_table_file *table, float number) { put_number(table, (double)number, 7); }

void th_table_count(th_table_file *table, uint64_t count) {
    char digits[32];
    begin_field(table);
    put(table, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count));
}

void th_table_end_row(th_table_file *table) {
    put(table, "\n", 1);
    table->begun = false;
}

static int put_json(const char *bytes, size_t size, void *table) {
    put(table, bytes, size);
    return ((const th_table_file *)table)->writer.cause ? -1 : 0;
}

void th_table_json(th_table_file *table, const json_t *value) {
    int failed =
        json_dump_callback(value, put_json, table, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    if (failed && !table->writer.cause) table->writer.cause = ENOMEM;
    put(table, "\n", 1);
}

th_result th_table_close(th_table_file *table, th_error *error) {
    return th_file_end(&table->writer, TH_SYNCED, error);
}
