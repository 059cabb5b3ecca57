// runs.csv: a line per finished run, on the disk before the next one counts as begun, so that an interrupted sweep goes
// on without redoing any; and run_quantities.csv, all quantities of each. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
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

// Splits a line in place; quotes are taken off. Returns the number of fields, at most `most`.
static int split(char *line, char **fields, int most) {
    int count = 0;
    char *from = line;
    while (from && count < most) {
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
    if (split(line, fields, FIELD_MAX) != wanted || !read_count(fields[0], 10, &number))
        return false;
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

// ---- run_quantities.csv: lines of "combination,seed,value,..."; a line with the titles of the values comes before, and
// again where they change. Values that are varied may change which there are.

static void put_quantities(FILE *text, int combination, uint64_t seed, const th_quantities *all) {
    char title[400];
    fputs("combination,seed", text);
    for (int k = 0; k < all->count; ++k) {
        const th_quantity *q = &all->list[k];
        snprintf(title, sizeof title, "%s%s%.200s: %s%s%s%s", q->of, *q->id ? " " : "", q->id,
                 q->name, *q->unit ? " [" : "", q->unit, *q->unit ? "]" : "");
        fputc(',', text);
        th_csv_field(text, title);
    }
    fprintf(text, "\n%d,%" PRIu64, combination, seed);
    for (int k = 0; k < all->count; ++k) {
        double value = all->list[k].values[all->runs - 1];
        if (isfinite(value))
            fprintf(text, ",%.7g", value);
        else
            fputc(',', text);
    }
    fputc('\n', text);
}

// The place of a title, which is added when it is new; -1: no memory.
static int find_title(th_row_store *store, const char *title, int guess) {
    if (guess < store->title_count && strcmp(store->titles[guess], title) == 0) return guess;
    for (int k = 0; k < store->title_count; ++k)
        if (strcmp(store->titles[k], title) == 0) return k;
    if (!TH_RESERVE_ONE(store->titles, store->title_count)) return -1;
    char *own = strdup(title);
    if (own) store->titles[store->title_count] = own;
    return own ? store->title_count++ : -1;
}

static int comma_count(const char *line) {
    int count = 0;
    for (; *line; ++line) count += *line == ',';
    return count;
}

// Values under a line of titles; lines are taken apart. False: no memory, or they do not belong together.
static bool take_quantities(th_row_store *store, int combination, int run, char *titles,
                            char *line) {
    int most = comma_count(titles) + 1, count;
    char **names = malloc((size_t)most * 2 * sizeof *names), **fields = names + most;
    th_row_figures taken = {0};
    bool good = names != NULL;
    if (good) {
        count = split(titles, names, most);
        good = split(line, fields, most) == count;
        for (int k = 2; k < count && good; ++k) {
            int at = find_title(store, names[k], k - 2);
            double value = (double)NAN;
            good = at >= 0 && read_number(fields[k], &value);
            int before = taken.count, needed = at + 1 > count - 2 ? at + 1 : count - 2;
            if (good && at >= taken.count) {
                double *more = realloc(taken.values, (size_t)needed * sizeof *more);
                good = more != NULL;
                if (good) taken = (th_row_figures){more, needed};
            }
            for (int i = before; i < taken.count && good; ++i) taken.values[i] = (double)NAN;
            if (good) taken.values[at] = value;
        }
    }
    free(names);
    th_row_figures *kept = &store->figures[place_of(store, combination, run)];
    free(good ? kept->values : taken.values);
    if (good) *kept = taken;
    return good;
}

double th_rows_figure(const th_row_store *store, int combination, int run, int title) {
    const th_row_figures *figures = &store->figures[place_of(store, combination, run)];
    return title < figures->count ? figures->values[title] : (double)NAN;
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

// Which run a line of run_quantities.csv is of; false: none of this sweep.
static bool run_of_line(const th_row_store *store, const char *line, int *combination, int *run) {
    char *end = NULL;
    uint64_t number = strtoull(line, &end, 10);
    if (end == line || *end != ',' || number >= (uint64_t)store->variation->combinations)
        return false;
    const char *second = end + 1;
    uint64_t seed = strtoull(second, &end, 10);
    *combination = (int)number;
    *run = (int)(seed - store->first_seed);
    return end != second && *end == ',' && seed >= store->first_seed &&
           seed - store->first_seed < (uint64_t)store->runs;
}

// A file that is not there leaves the quantities of its runs unknown, as does a line that belongs to no run.
static th_result read_quantities(th_row_store *store, const char *path, size_t *good,
                                 th_error *error) {
    size_t size = 0;
    *good = 0;
    if (access(path, F_OK) != 0) return TH_OK;
    char *text = th_file_content(path, &size, error), *end, *titles = NULL;
    if (!text) return error->code;
    bool memory = true;
    for (char *line = text; (end = strchr(line, '\n')) != NULL && memory; line = end + 1) {
        int combination = 0, run = 0;
        *end = '\0';
        *good = (size_t)(end + 1 - text);
        if (strncmp(line, "combination,", 12) == 0) {
            titles = line;
            continue;
        }
        if (!titles || !run_of_line(store, line, &combination, &run)) continue;
        char *names = strdup(titles);
        memory = names != NULL;
        if (memory) take_quantities(store, combination, run, names, line);
        free(names);
    }
    free(store->header);
    store->header = titles && memory ? strdup(titles) : NULL;
    free(text);
    return memory ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory for run_quantities.csv");
}

static th_result write_line(const th_row_store *store, int file, const char *name, const char *line,
                            size_t length, th_error *error) {
    ssize_t written = write(file, line, length);
    if (written == (ssize_t)length && fsync(file) == 0) return TH_OK;
    return th_file_fail(error, store->folder->path,
                        "%s cannot be written: %s; free space and run the same command again", name,
                        written < 0 ? strerror(errno) : "the disk is full");
}

static th_result append_header(th_row_store *store, th_error *error) {
    char *line = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&line, &length);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for a line of runs.csv");
    put_header(text, store->variation);
    th_result result = fclose(text) == 0
                           ? write_line(store, store->file, "runs.csv", line, length, error)
                           : TH_NO_MEMORY;
    free(line);
    return result;
}

// `text`: the two lines of the quantities. The titles are not repeated.
static th_result append_quantities(th_row_store *store, const char *text, th_error *error) {
    size_t titles = strcspn(text, "\n");
    if (!text[titles]) return TH_OK;
    bool same =
        store->header && strncmp(store->header, text, titles) == 0 && store->header[titles] == '\0';
    const char *from = same ? text + titles + 1 : text;
    if (!same) {
        free(store->header);
        store->header = strndup(text, titles);
    }
    return write_line(store, store->figures_file, "run_quantities.csv", from, strlen(from), error);
}

static th_result reserve(th_row_store *store, th_error *error) {
    store->file = -1;
    size_t count = (size_t)store->variation->combinations * (size_t)store->runs;
    store->rows = calloc(count, sizeof *store->rows);
    store->known = calloc(count, sizeof *store->known);
    store->figures = calloc(count, sizeof *store->figures);
    if (store->rows && store->known && store->figures) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the runs of the sweep");
}

static th_result load(th_row_store *store, char path[TH_PATH_MAX], size_t *good, th_error *error) {
    th_result result = reserve(store, error);
    if (result == TH_OK && !th_folder_path(store->folder, "runs.csv", path, TH_PATH_MAX))
        result = th_file_fail(error, store->folder->path, "the name is too long");
    return result == TH_OK ? read_store(store, path, good, error) : result;
}

static th_result load_quantities(th_row_store *store, char path[TH_PATH_MAX], size_t *good,
                                 th_error *error) {
    if (!th_folder_path(store->folder, "run_quantities.csv", path, TH_PATH_MAX))
        return th_file_fail(error, store->folder->path, "the name is too long");
    return read_quantities(store, path, good, error);
}

th_result th_rows_load(th_row_store *store, bool from_folder, th_error *error) {
    char path[TH_PATH_MAX];
    size_t good = 0;
    if (!from_folder) return reserve(store, error);
    th_result result = load(store, path, &good, error);
    return result == TH_OK ? load_quantities(store, path, &good, error) : result;
}

// Half a line at the end, left by a kill, is cut off.
static th_result open_to_append(const char *path, size_t good, int *file, th_error *error) {
    *file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file >= 0 && ftruncate(*file, (off_t)good) == 0) return TH_OK;
    return th_file_fail(error, path, "cannot be written: %s", strerror(errno));
}

th_result th_rows_open(th_row_store *store, th_error *error) {
    char path[TH_PATH_MAX];
    size_t good = 0;
    th_result result = load(store, path, &good, error);
    if (result == TH_OK) result = open_to_append(path, good, &store->file, error);
    if (result == TH_OK && good == 0) result = append_header(store, error);
    if (result == TH_OK) result = load_quantities(store, path, &good, error);
    if (result == TH_OK) result = open_to_append(path, good, &store->figures_file, error);
    store->figures_open = result == TH_OK;
    return result;
}

char *th_rows_line(const th_row_store *store, int combination, const th_run_outcome *row,
                   const th_quantities *quantities) {
    char *line = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&line, &length);
    if (!text) return NULL;
    put_row(text, store->variation, combination, row);
    if (quantities && quantities->runs > 0)
        put_quantities(text, combination, row->seed, quantities);
    if (fclose(text) == 0) return line;
    free(line);
    return NULL;
}

// The two lines behind a row, where they are.
static void take_lines_of(th_row_store *store, int combination, int run, const char *lines) {
    size_t titles = strcspn(lines, "\n");
    size_t values = lines[titles] ? strcspn(lines + titles + 1, "\n") : 0;
    if (values == 0 || strncmp(lines, "combination,", 12) != 0) return;
    char *names = strndup(lines, titles), *line = strndup(lines + titles + 1, values);
    if (names && line) take_quantities(store, combination, run, names, line);
    free(names);
    free(line);
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
    if (own) take_lines_of(store, combination, run, line + length + 1);
    return own;
}

th_result th_rows_add(th_row_store *store, int combination, int run, const th_run_outcome *row,
                      const th_quantities *quantities, th_error *error) {
    char *lines = th_rows_line(store, combination, row, quantities);
    if (!lines) return th_fail(error, TH_NO_MEMORY, "", "no memory for a row of the sweep");
    size_t length = strcspn(lines, "\n") + 1;
    th_result result = append_quantities(store, lines + length, error);
    if (result == TH_OK) result = write_line(store, store->file, "runs.csv", lines, length, error);
    bool taken = result != TH_OK || th_rows_take(store, combination, run, lines);
    free(lines);
    if (taken) return result;
    return th_fail(error, TH_NO_MEMORY, "", "no memory for a row of the sweep");
}

static th_result replace(const th_row_store *store, const char *name, FILE *text, char **bytes,
                         const size_t *size, th_error *error) {
    char path[TH_PATH_MAX];
    th_result result = TH_OK;
    if (fclose(text) != 0 || !th_folder_path(store->folder, name, path, sizeof path))
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for %s", name);
    if (result == TH_OK) result = th_file_replace(path, *bytes, *size, TH_SYNCED, error);
    free(*bytes);
    return result;
}

static th_result sort_quantities(const th_row_store *store, const int *used, th_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&bytes, &size);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for run_quantities.csv");
    fputs("combination,seed", text);
    for (int t = 0; t < store->title_count; ++t) {
        fputc(',', text);
        th_csv_field(text, store->titles[t]);
    }
    fputc('\n', text);
    for (int k = 0; k < store->variation->combinations; ++k)
        for (int run = 0; run < used[k]; ++run) {
            if (!store->figures[place_of(store, k, run)].values) continue;
            fprintf(text, "%d,%" PRIu64, k, store->first_seed + (uint64_t)run);
            for (int t = 0; t < store->title_count; ++t) {
                double value = th_rows_figure(store, k, run, t);
                if (isfinite(value))
                    fprintf(text, ",%.7g", value);
                else
                    fputc(',', text);
            }
            fputc('\n', text);
        }
    return replace(store, "run_quantities.csv", text, &bytes, &size, error);
}

th_result th_rows_sort(const th_row_store *store, const int *used, th_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&bytes, &size);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for runs.csv");
    put_header(text, store->variation);
    for (int k = 0; k < store->variation->combinations; ++k)
        for (int run = 0; run < used[k]; ++run)
            if (th_rows_has(store, k, run))
                put_row(text, store->variation, k, th_rows_get(store, k, run));
    th_result result = replace(store, "runs.csv", text, &bytes, &size, error);
    return result == TH_OK ? sort_quantities(store, used, error) : result;
}

void th_rows_close(th_row_store *store) {
    if (store->file >= 0) close(store->file);
    if (store->figures_open) close(store->figures_file);
    size_t count =
        store->figures ? (size_t)store->variation->combinations * (size_t)store->runs : 0;
    for (size_t k = 0; k < count; ++k) free(store->figures[k].values);
    for (int t = 0; t < store->title_count; ++t) free(store->titles[t]);
    free(store->figures);
    free(store->titles);
    free(store->header);
    free(store->rows);
    free(store->known);
    *store = (th_row_store){.file = -1};
}
