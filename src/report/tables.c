// Table files, and the tables of a run. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/findings.h"
#include "report/figures.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a table file

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

// A spreadsheet executes a text that begins like a formula.
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

// ---- the tables of a run

// The CSV tables of a run's folder. Tables of a single run are those of the first.

void th_table_header(th_table_file *table, const char *const *names, int count) {
    for (int i = 0; i < count; ++i) th_table_text(table, names[i]);
    th_table_end_row(table);
}

// ---- evacuation.csv: people over time, and the spread over runs. A run that is over stays as it ended; one
// that was cut off says nothing about later times.

static double left_at(const th_run_summary *run, int k) {
    if (k < run->sample_count) return (double)run->left_curve[k];
    return run->done ? (double)run->left : (double)NAN;
}

static int row_count(const th_ensemble *ensemble) {
    int rows = 0;
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        // The last person may leave after the last sample: one more row shows it.
        int own = run->sample_count +
                  (run->done && run->time > (run->sample_count - 1) * ensemble->interval);
        if (own > rows) rows = own;
    }
    return rows;
}

static void put_first(th_table_file *table, const th_observation *first, int k) {
    const th_statistics *end = &first->statistics;
    bool sampled = k < first->sample_count;
    const uint64_t counts[3] = {sampled ? first->spawned[k] : end->spawned,
                                sampled ? first->inside[k] : end->inside,
                                sampled ? first->left[k] : end->left};
    for (int i = 0; i < 3; ++i) {
        if (sampled || first->done)
            th_table_count(table, counts[i]);
        else
            th_table_text(table, NULL);
    }
}

static th_result write_evacuation(const th_report_def *def, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    bool several = ensemble->run_count > 1;
    th_table_file table;
    double *values = malloc(((size_t)ensemble->run_count + 1) * sizeof *values);
    if (!values) return th_fail(error, TH_NO_MEMORY, "", "no memory for the tables; free some");
    th_table_open(&table, def->folder, "evacuation.csv");
    if (several)
        TH_TABLE_HEADER(&table, "time_s", "spawned", "inside", "left", "left_mean", "left_p05",
                        "left_p95");
    else
        TH_TABLE_HEADER(&table, "time_s", "spawned", "inside", "left");
    for (int k = 0; k < row_count(ensemble); ++k) {
        th_table_number(&table, k * ensemble->interval);
        put_first(&table, ensemble->first, k);
        if (several) {
            for (int r = 0; r < ensemble->run_count; ++r)
                values[r] = left_at(&ensemble->runs[r], k);
            th_sample_summary left = th_summarise(values, ensemble->run_count);
            th_table_number(&table, left.mean);
            th_table_number(&table, left.p05);
            th_table_number(&table, left.p95);
        }
        th_table_end_row(&table);
    }
    free(values);
    return th_table_close(&table, error);
}

// ---- counters.csv: exits, doors and lines. The flow is of both directions together, over TH_FLOW_WINDOW
// seconds around the row's time; neither direction of a line is preferred.

static th_result write_counters(const th_report_def *def, th_error *error) {
    const th_observation *first = def->ensemble->first;
    th_table_file table;
    th_table_open(&table, def->folder, "counters.csv");
    TH_TABLE_HEADER(&table, "time_s", "kind", "id", "forward", "backward", "flow_per_s",
                    "specific_flow_per_m_s");
    for (int c = 0; c < first->counter_count; ++c) {
        const th_counter *counter = &first->counters[c];
        for (int k = 0; k < first->sample_count; ++k) {
            double flow = th_counter_flow(first, counter->forward, k) +
                          th_counter_flow(first, counter->backward, k);
            th_table_number(&table, k * first->interval);
            th_table_text(&table, th_counter_kind_names[counter->kind]);
            th_table_text(&table, counter->id);
            th_table_count(&table, counter->forward[k]);
            th_table_count(&table, counter->backward[k]);
            th_table_number(&table, flow);
            th_table_number(&table, counter->width > 0.0 ? flow / counter->width : (double)NAN);
            th_table_end_row(&table);
        }
    }
    return th_table_close(&table, error);
}

// A column that an observation made by hand may lack.
static void put_optional(th_table_file *table, const float *values, int k) {
    th_table_float(table, values ? values[k] : NAN);
}

static th_result write_areas(const th_report_def *def, th_error *error) {
    const th_observation *first = def->ensemble->first;
    th_table_file table;
    th_table_open(&table, def->folder, "areas.csv");
    TH_TABLE_HEADER(&table, "time_s", "id", "density_per_m2", "speed_m_per_s",
                    "voronoi_density_per_m2", "gaussian_density_per_m2");
    for (int a = 0; a < first->area_count; ++a) {
        for (int k = 0; k < first->sample_count; ++k) {
            th_table_number(&table, k * first->interval);
            th_table_text(&table, first->areas[a].id);
            th_table_float(&table, first->areas[a].density[k]);
            th_table_float(&table, first->areas[a].speed[k]);
            put_optional(&table, first->areas[a].voronoi_density, k);
            put_optional(&table, first->areas[a].gaussian_density, k);
            th_table_end_row(&table);
        }
    }
    return th_table_close(&table, error);
}

// Cells that people came to, of all runs together.
static th_result write_maps(const th_report_def *def, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    double samples = (double)ensemble->use_samples, runs = ensemble->map_runs;
    th_table_file table;
    th_table_open(&table, def->folder, "maps.csv");
    TH_TABLE_HEADER(&table, "level", "x_m", "y_m", "cell_m", "mean_density_per_m2",
                    "highest_density_per_m2", "seconds_above_4_per_m2", "person_seconds",
                    "mean_speed_m_per_s");
    for (int m = 0; m < ensemble->map_count; ++m) {
        const th_map *map = &ensemble->maps[m];
        for (int c = 0; c < map->nx * map->ny; ++c) {
            if (!(map->density_max[c] > 0.0f)) continue;
            double x = (double)map->min_x + (c % map->nx + 0.5) * (double)map->cell;
            double y = (double)map->min_y + (c / map->nx + 0.5) * (double)map->cell;
            th_table_count(&table, (uint64_t)map->level);
            th_table_number(&table, def->scene->origin.x + x);
            th_table_number(&table, def->scene->origin.y + y);
            th_table_float(&table, map->cell);
            const double numbers[] = {
                samples > 0 ? (map->density_sum[c] - map->density_late[c]) / samples : 0.0,
                (double)map->density_max[c], map->dense_time[c] / runs,
                map->person_count[c] * ensemble->interval / runs};
            for (int k = 0; k < 4; ++k) th_table_number(&table, numbers[k]);
            th_table_number(&table, map->walker_count[c] > 0
                                        ? map->speed_sum[c] / map->walker_count[c]
                                        : (double)NAN);
            th_table_end_row(&table);
        }
    }
    return th_table_close(&table, error);
}

static th_result write_people(const th_report_def *def, th_error *error) {
    const th_observation *first = def->ensemble->first;
    th_table_file table;
    bool can_fall = th_scene_can_fall(def->scene);
    th_table_open(&table, def->folder, "people.csv");
    TH_TABLE_HEADER(&table, "id", "group", "start_s", "end_s", "exit", "wait_s", "jam_s", "path_m",
                    "seconds_above_4", "seconds_above_7", "seconds_above_8",
                    "peak_pressure_m2_per_s", "peak_load_n", "peak_line_n_per_m",
                    "seconds_above_623_n", "seconds_above_1112_n", "seconds_above_6227_n",
                    "fallen_s");
    for (int p = 0; p < first->person_count; ++p) {
        const th_person *person = &first->people[p];
        if (person->group < 0 && isnan(person->end_time)) continue; // a disc of a body
        th_table_count(&table, (uint64_t)p + 1);
        th_table_text(&table, th_member_of(def->scene, person->group));
        th_table_float(&table, person->start_time);
        th_table_float(&table, person->end_time);
        th_table_text(&table, person->exit >= 0 ? def->scene->goals[person->exit].id : NULL);
        th_table_float(&table, person->wait_time);
        th_table_float(&table, person->jam_time);
        th_table_float(&table, person->path_length);
        for (int k = 0; k < TH_EXPOSURES; ++k) th_table_float(&table, person->exposure[k]);
        th_table_float(&table, person->peak_pressure);
        th_table_float(&table, person->peak_load);
        th_table_float(&table, person->peak_line);
        for (int k = 0; k < TH_LOADS; ++k) th_table_float(&table, person->load_time[k]);
        th_table_float(&table, can_fall ? person->lying_time : NAN);
        th_table_end_row(&table);
    }
    return th_table_close(&table, error);
}

static th_result write_runs(const th_report_def *def, th_error *error) {
    const th_ensemble *ensemble = def->ensemble;
    th_table_file table;
    bool can_fall = th_scene_can_fall(def->scene);
    th_table_open(&table, def->folder, "runs.csv");
    TH_TABLE_HEADER(
        &table, "seed", "egress_time_s", "p95_time_s", "left", "inside", "max_density_per_m2",
        "mean_jam_s", "largest_overlap_m", "hash", "wall_s", "people_over_30_s_above_7_per_m2",
        "max_pressure_m2_per_s", "max_crowd_pressure_per_s2", "max_load_n", "max_line_n_per_m",
        "people_over_10_s_above_623_n", "people_over_60_s_above_1112_n",
        "people_over_5_s_above_6227_n", "max_flow_per_m_s", "people_fallen", "people_lying");
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        char hash[17];
        snprintf(hash, sizeof hash, "%016" PRIx64, run->hash);
        th_table_count(&table, run->seed);
        th_table_number(&table, run->egress_time);
        th_table_number(&table, run->p95_time);
        th_table_count(&table, run->left);
        th_table_count(&table, run->inside);
        th_table_number(&table, run->max_density);
        th_table_number(&table, run->mean_jam_time);
        th_table_number(&table, run->largest_overlap);
        th_table_text(&table, hash);
        th_table_number(&table, run->wall_seconds);
        th_table_count(&table, run->crushed);
        th_table_number(&table, run->max_pressure);
        th_table_number(&table, run->max_crowd_pressure);
        th_table_number(&table, run->max_load);
        th_table_number(&table, run->max_line);
        for (int k = 0; k < TH_LOADS; ++k) th_table_count(&table, run->overloaded[k]);
        th_table_number(&table, run->max_flow);
        th_table_number(&table, can_fall ? (double)run->fallen : (double)NAN);
        th_table_number(&table, can_fall ? (double)run->lying : (double)NAN);
        th_table_end_row(&table);
    }
    return th_table_close(&table, error);
}

th_result th_report_tables(const th_report_def *def, th_error *error) {
    th_result (*const writers[])(const th_report_def *, th_error *) = {
        write_runs,  th_report_summary, write_evacuation,     write_counters,
        write_areas, write_people,      th_report_quantities, write_maps};
    if (!def->ensemble->first)
        return th_fail(error, TH_BAD_ARGUMENT, "", "there is no run to write tables of");
    th_result result = TH_OK;
    for (size_t i = 0; i < sizeof writers / sizeof *writers && result == TH_OK; ++i)
        result = writers[i](def, error);
    return result;
}
