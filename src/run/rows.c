// runs.csv: a line per finished run, on the disk before the next one counts as begun, so that an interrupted sweep goes
// on without redoing any. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "report/report.h"
#include "run/runs.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Columns after the varied values, with the seven digits of a float.
#define NUMBERS(X)                       \
    X(egress_time, "egress_time_s")      \
    X(p95_time, "p95_time_s")            \
    X(flow, "flow_per_s")                \
    X(mean_jam_time, "mean_jam_time_s")  \
    X(max_density, "max_density_per_m2") \
    X(largest_overlap, "largest_overlap_m") X(time, "simulated_s") X(wall_seconds, "wall_seconds")
#define COUNTS(X)         \
    X(spawned, "spawned") \
    X(left, "left")       \
    X(inside, "inside")   \
    X(fallen, "people_fallen") X(lying, "people_lying")

enum { LEADING = 1, FIELD_MAX = 32 + TH_VARY_PATHS };

static void put_header(FILE *text, const th_variation *variation) {
    fputs("combination", text);
    for (int i = 0; i < variation->count; ++i) {
        fputc(',', text);
        th_csv_field(text, variation->items[i].path);
    }
    fputs(",seed,hash", text);
#define X(member, title) fputs("," title, text);
    NUMBERS(X)
    COUNTS(X)
#undef X
    fputc('\n', text);
}

static void put_row(FILE *text, const th_variation *variation, int combination,
                    const th_run_outcome *row) {
    fprintf(text, "%d", combination);
    for (int i = 0; i < variation->count; ++i) {
        fputc(',', text);
        th_csv_field(text, th_variation_value(variation, combination, i));
    }
    fprintf(text, ",%" PRIu64 ",%016" PRIx64, row->seed, row->hash);
// An empty field stands for a missing number.
#define X(member, title)    \
    if (isnan(row->member)) \
        fputc(',', text);   \
    else                    \
        fprintf(text, ",%.7g", row->member);
    NUMBERS(X)
#undef X
#define X(member, title) fprintf(text, ",%" PRIu64, row->member);
    COUNTS(X)
#undef X
    fputc('\n', text);
}

// Splits a line in place; quotes are taken off. Returns the number of fields.
static int split(char *line, char **fields) {
    int count = 0;
    char *from = line;
    while (from && count < FIELD_MAX) {
        char *to = from, *at = from;
        bool quoted = false;
        fields[count++] = from;
        for (; *at && (quoted || *at != ','); ++at) {
            if (*at != '"')
                *to++ = *at;
            else if (quoted && at[1] == '"')
                *to++ = *at++;
            else
                quoted = !quoted;
        }
        from = *at ? at + 1 : NULL;
        *to = '\0';
    }
    return count;
}

static bool read_number(const char *field, double *value) {
    char *end = NULL;
    *value = *field ? strtod(field, &end) : (double)NAN;
    return !*field || (end != field && *end == '\0');
}

static bool read_count(const char *field, int base, uint64_t *value) {
    char *end = NULL;
    *value = strtoull(field, &end, base);
    return end != field && *end == '\0';
}

// A row of this sweep, or false.
static bool read_row(char *line, const th_variation *variation, int *combination,
                     th_run_outcome *row) {
    char *fields[FIELD_MAX];
    uint64_t number = 0;
    int at = LEADING + variation->count;
#define X(member, title) +1
    const int wanted = at + 2 NUMBERS(X) COUNTS(X);
#undef X
    if (split(line, fields) != wanted || !read_count(fields[0], 10, &number)) return false;
    if (number >= (uint64_t)variation->combinations) return false;
    *combination = (int)number;
    for (int i = 0; i < variation->count; ++i) {
        const char *field = fields[LEADING + i];
        const char *value = th_variation_value(variation, *combination, i);
        // th_csv_field may have put an apostrophe before it.
        if (strcmp(field, value) != 0 && (*field != '\'' || strcmp(field + 1, value) != 0))
            return false;
    }
    bool good =
        read_count(fields[at], 10, &row->seed) && read_count(fields[at + 1], 16, &row->hash);
    at += 2;
#define X(member, title) good = good && read_number(fields[at++], &row->member);
    NUMBERS(X)
#undef X
#define X(member, title) good = good && read_count(fields[at++], 10, &row->member);
    COUNTS(X)
#undef X
    return good;
}

static size_t place_of(const th_row_store *store, int combination, int run) {
    return (size_t)combination * (size_t)store->runs + (size_t)run;
}

bool th_rows_has(const th_row_store *store, int combination, int run) {
    return store->known[place_of(store, combination, run)];
}

const th_run_outcome *th_rows_get(const th_row_store *store, int combination, int run) {
    return &store->rows[place_of(store, combination, run)];
}

static th_result damaged(const char *path, int line, th_error *error) {
    error->line = line;
    error->column = 1;
    return th_file_fail(
        error, path,
        "this line does not belong to this sweep; restore the file or begin in another "
        "folder");
}

// Takes over all whole lines; `good` is their length.
static th_result take_lines(th_row_store *store, const char *path, char *text, size_t *good,
                            th_error *error) {
    int number = 0;
    char *end;
    for (char *line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        *good = (size_t)(end + 1 - text);
        if (++number == 1) continue; // the header
        th_run_outcome row = {0};
        int combination = 0;
        bool own = read_row(line, store->variation, &combination, &row);
        if (!own || row.seed < store->first_seed ||
            row.seed - store->first_seed >= (uint64_t)store->runs)
            return damaged(path, number, error);
        size_t place = place_of(store, combination, (int)(row.seed - store->first_seed));
        store->found += !store->known[place];
        store->known[place] = true;
        store->rows[place] = row;
    }
    return TH_OK;
}

static th_result read_store(th_row_store *store, const char *path, size_t *good, th_error *error) {
    size_t size = 0;
    *good = 0;
    if (access(path, F_OK) != 0) return TH_OK;
    char *text = th_file_content(path, &size, error);
    if (!text) return error->code;
    th_result result = take_lines(store, path, text, good, error);
    free(text);
    return result;
}

static th_result write_line(th_row_store *store, const char *line, size_t length, th_error *error) {
    ssize_t written = write(store->file, line, length);
    if (written == (ssize_t)length && fsync(store->file) == 0) return TH_OK;
    return th_file_fail(error, store->folder->path,
                        "runs.csv cannot be written: %s; free space and run the same command again",
                        written < 0 ? strerror(errno) : "the disk is full");
}

static th_result append(th_row_store *store, int combination, const th_run_outcome *row,
                        th_error *error) {
    char *line = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&line, &length);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for a line of runs.csv");
    if (row)
        put_row(text, store->variation, combination, row);
    else
        put_header(text, store->variation);
    th_result result = fclose(text) == 0 ? write_line(store, line, length, error) : TH_NO_MEMORY;
    free(line);
    return result;
}

static th_result reserve(th_row_store *store, th_error *error) {
    store->file = -1;
    size_t count = (size_t)store->variation->combinations * (size_t)store->runs;
    store->rows = calloc(count, sizeof *store->rows);
    store->known = calloc(count, sizeof *store->known);
    if (store->rows && store->known) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs of the sweep");
}

static th_result load(th_row_store *store, char path[TH_PATH_MAX], size_t *good, th_error *error) {
    th_result result = reserve(store, error);
    if (result == TH_OK && !th_folder_path(store->folder, "runs.csv", path, TH_PATH_MAX))
        result = th_file_fail(error, store->folder->path, "the name is too long");
    return result == TH_OK ? read_store(store, path, good, error) : result;
}

th_result th_rows_load(th_row_store *store, bool from_folder, th_error *error) {
    char path[TH_PATH_MAX];
    size_t good = 0;
    return from_folder ? load(store, path, &good, error) : reserve(store, error);
}

th_result th_rows_open(th_row_store *store, th_error *error) {
    char path[TH_PATH_MAX];
    size_t good = 0;
    th_result result = load(store, path, &good, error);
    if (result != TH_OK) return result;
    store->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (store->file < 0 || ftruncate(store->file, (off_t)good) != 0)
        return th_file_fail(error, path, "cannot be written: %s", strerror(errno));
    return good == 0 ? append(store, 0, NULL, error) : TH_OK;
}

char *th_rows_line(const th_row_store *store, int combination, const th_run_outcome *row) {
    char *line = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&line, &length);
    if (!text) return NULL;
    put_row(text, store->variation, combination, row);
    if (fclose(text) == 0) return line;
    free(line);
    return NULL;
}

bool th_rows_take(th_row_store *store, int combination, int run, const char *line) {
    int found = 0;
    size_t length = line ? strcspn(line, "\n") : 0, place = place_of(store, combination, run);
    char *copy = line && line[length] == '\n' ? strndup(line, length) : NULL;
    th_run_outcome row = {0};
    bool own = copy && read_row(copy, store->variation, &found, &row) && found == combination &&
               row.seed == store->first_seed + (uint64_t)run;
    free(copy);
    if (own) store->rows[place] = row;
    store->known[place] = store->known[place] || own;
    return own;
}

th_result th_rows_add(th_row_store *store, int combination, int run, const th_run_outcome *row,
                      th_error *error) {
    th_result result = append(store, combination, row, error);
    if (result != TH_OK) return result;
    char *line = th_rows_line(store, combination, row);
    bool taken = th_rows_take(store, combination, run, line);
    free(line);
    if (taken) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "", "no memory for a row of the sweep");
}

th_result th_rows_sort(const th_row_store *store, const int *used, th_error *error) {
    char *bytes = NULL, path[TH_PATH_MAX];
    size_t size = 0;
    FILE *text = open_memstream(&bytes, &size);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for runs.csv");
    put_header(text, store->variation);
    for (int k = 0; k < store->variation->combinations; ++k)
        for (int run = 0; run < used[k]; ++run)
            if (th_rows_has(store, k, run))
                put_row(text, store->variation, k, th_rows_get(store, k, run));
    th_result result = TH_OK;
    if (fclose(text) != 0 || !th_folder_path(store->folder, "runs.csv", path, sizeof path))
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for runs.csv");
    if (result == TH_OK) result = th_file_replace(path, bytes, size, TH_SYNCED, error);
    free(bytes);
    return result;
}

void th_rows_close(th_row_store *store) {
    if (store->file >= 0) close(store->file);
    free(store->rows);
    free(store->known);
    store->rows = NULL;
    store->known = NULL;
    store->file = -1;
}
