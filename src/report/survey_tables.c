// Tables of a survey. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "report/survey.h"
#include "report/table_file.h"
#include <stdlib.h>

static void put_columns(th_table_file *table, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; ++i) th_table_text(table, names[i]);
}
#define COLUMNS(table, ...)                                        \
    do {                                                           \
        const char *const names[] = {__VA_ARGS__};                 \
        put_columns(table, names, sizeof names / sizeof names[0]); \
    } while (0)

// ---- areas over time

static th_result write_areas(const char *folder, const th_survey *survey, th_error *error) {
    th_table_file table;
    th_table_open(&table, folder, "measured_areas.csv");
    COLUMNS(&table, "time_s", "frame", "area", "count");
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        static const char *const units[3] = {"density_per_m2", "speed_m_per_s", "flow_per_m_s"};
        for (int u = 0; u < 3; ++u) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", th_density_method_name((th_density_method)m),
                     units[u]);
            th_table_text(&table, name);
        }
    }
    th_table_text(&table, "crowd_pressure_per_s2");
    th_table_end_row(&table);
    for (int a = 0; a < survey->area_count; ++a) {
        const th_survey_area *area = &survey->areas[a];
        for (int r = 0; r < area->count; ++r) {
            const th_survey_row *row = &area->rows[r];
            th_table_number(&table, row->time);
            th_table_count(&table, (uint64_t)row->frame);
            th_table_text(&table, area->name);
            th_table_count(&table, (uint64_t)row->count);
            for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
                if (!survey->def.method[m]) continue;
                th_table_number(&table, row->by[m].density);
                th_table_number(&table, row->by[m].speed);
                th_table_number(&table, row->by[m].flow);
            }
            th_table_number(&table, row->crowd_pressure);
            th_table_end_row(&table);
        }
    }
    return th_table_close(&table, error);
}

// ---- lines: who crossed when. The N-t curve of a direction is the column `people` over `time_s`.

static th_result write_lines(const char *folder, const th_survey *survey, th_error *error) {
    th_table_file table;
    th_table_open(&table, folder, "measured_lines.csv");
    COLUMNS(&table, "line", "direction", "time_s", "people", "headway_s", "id");
    th_table_end_row(&table);
    for (int l = 0; l < survey->line_count; ++l) {
        const th_line_watch *line = &survey->lines[l];
        uint64_t people[2] = {0, 0};
        double last[2] = {(double)NAN, (double)NAN};
        for (int c = 0; c < line->count; ++c) {
            const th_crossing *crossing = &line->crossings[c];
            int way = crossing->forward ? 0 : 1;
            char id[32];
            snprintf(id, sizeof id, "%lld", (long long)crossing->id);
            th_table_text(&table, survey->def.lines[l].name);
            th_table_text(&table, way == 0 ? "forward" : "backward");
            th_table_number(&table, crossing->time);
            th_table_count(&table, ++people[way]);
            th_table_number(&table, crossing->time - last[way]);
            th_table_text(&table, id);
            th_table_end_row(&table);
            last[way] = crossing->time;
        }
    }
    return th_table_close(&table, error);
}

// ---- people

static double share_of(double sum, int count) { return count > 0 ? sum / count : (double)NAN; }

static void put_person(th_table_file *table, const th_survey *survey, const th_walker *w) {
    char id[32];
    snprintf(id, sizeof id, "%lld", (long long)w->id);
    th_table_text(table, id);
    th_table_number(table, w->first_time);
    th_table_number(table, w->last_time);
    th_table_number(table, share_of(w->speed_sum, w->speed_count));
    th_table_number(table, w->path);
    th_table_number(table, th_walker_distance(w));
    th_table_number(table, th_walker_detour(w));
    th_table_number(table, w->wait_time);
    th_table_number(table, w->jam_time);
    th_table_number(table, share_of(w->acceleration_sum, w->acceleration_count));
    th_table_number(table, th_running_quantile_get(&w->acceleration_p95));
    th_table_number(table, share_of(w->jerk_sum, w->jerk_count));
    th_table_number(table, th_running_quantile_get(&w->jerk_p95));
    for (int s = 0; survey->def.method[TH_VORONOI] && s < TH_SERVICE_LEVELS; ++s)
        th_table_number(table, w->service[s]);
    th_table_end_row(table);
}

static th_result write_people(const char *folder, const th_survey *survey, th_error *error) {
    th_table_file table;
    th_table_open(&table, folder, "measured_people.csv");
    COLUMNS(&table, "id", "first_s", "last_s", "speed_m_per_s", "path_m", "straight_m",
            "path_ratio", "wait_s", "jam_s", "acceleration_m_per_s2", "acceleration_p95_m_per_s2",
            "jerk_m_per_s3", "jerk_p95_m_per_s3");
    if (survey->def.method[TH_VORONOI])
        COLUMNS(&table, "service_a_s", "service_b_s", "service_c_s", "service_d_s", "service_e_s",
                "service_f_s");
    th_table_end_row(&table);
    for (int i = 0; i < survey->walkers->count; ++i)
        put_person(&table, survey, &survey->walkers->all[i]);
    return th_table_close(&table, error);
}

// ---- everything in one object

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *histogram_json(const th_histogram *h) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "mean", number(th_histogram_mean(h)), "least",
                     number(h->count > 0 ? h->least : (double)NAN), "p05",
                     number(th_histogram_quantile(h, 0.05)), "median",
                     number(th_histogram_quantile(h, 0.5)), "p95",
                     number(th_histogram_quantile(h, 0.95)), "most",
                     number(h->count > 0 ? h->most : (double)NAN));
}

static json_t *service_json(const double *values) {
    json_t *object = json_object();
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s) {
        const char name[2] = {(char)('A' + s), '\0'};
        json_object_set_new(object, name, number(values[s]));
    }
    return object;
}

static json_t *area_json(const th_survey *survey, int a) {
    const th_survey_area *area = &survey->areas[a];
    json_t *object = json_pack("{s:s,s:o,s:i}", "name", area->name, "area_m2", number(area->size),
                               "moments", area->count);
    th_survey_pressure pressure = th_survey_pressure_of(survey, a);
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        th_survey_mean mean = th_survey_mean_of(survey, a, (th_density_method)m);
        json_object_set_new(object, th_density_method_name((th_density_method)m),
                            json_pack("{s:i,s:o,s:o,s:o,s:o,s:o}", "moments_with_people",
                                      mean.moments, "density_per_m2", number(mean.density),
                                      "highest_density_per_m2", number(mean.highest_density),
                                      "speed_m_per_s", number(mean.speed), "flow_per_m_s",
                                      number(mean.flow), "service_share",
                                      service_json(mean.service)));
    }
    json_object_set_new(
        object, "crowd_pressure_per_s2",
        json_pack("{s:o,s:o}", "mean", number(pressure.mean), "most", number(pressure.most)));
    return object;
}

static json_t *flow_json(const th_line_flow *flow) {
    return json_pack(
        "{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o,s:o}}", "people", flow->count, "first_s",
        number(flow->first_time), "last_s", number(flow->last_time), "flow_per_s",
        number(flow->flow), "middle_flow_per_s", number(flow->middle_flow), "specific_flow_per_m_s",
        number(flow->specific_flow), "middle_specific_flow_per_m_s",
        number(flow->middle_specific_flow), "headway_s", "mean", number(flow->headway.mean),
        "median", number(flow->headway.median), "standard_deviation",
        number(flow->headway.standard_deviation), "p95", number(flow->headway.p95));
}

static json_t *line_json(const th_survey *survey, int l) {
    json_t *object = json_pack("{s:s,s:o,s:i}", "name", survey->def.lines[l].name, "width_m",
                               number(th_line_width(&survey->lines[l])), "crossings_beside_it",
                               survey->lines[l].beside);
    for (int way = 0; way < 2; ++way) {
        th_line_flow flow;
        if (th_line_flow_of(&survey->lines[l], way == 0, &flow, NULL) == TH_OK)
            json_object_set_new(object, way == 0 ? "forward" : "backward", flow_json(&flow));
    }
    return object;
}

static json_t *people_json(const th_survey *survey) {
    const th_walkers *walkers = survey->walkers;
    th_survey_people mean = th_survey_people_of(survey);
    json_t *object = json_pack(
        "{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "count", walkers->count, "most_at_once",
        survey->most_people, "mean_wait_s", number(mean.wait_time), "mean_jam_s",
        number(mean.jam_time), "mean_path_ratio", number(mean.path_ratio), "speed_m_per_s",
        histogram_json(&walkers->speed), "acceleration_m_per_s2",
        histogram_json(&walkers->acceleration), "jerk_m_per_s3", histogram_json(&walkers->jerk));
    if (survey->def.method[TH_VORONOI])
        json_object_set_new(object, "service_s", service_json(survey->service));
    return object;
}

static json_t *distances_json(const th_spacing_totals *d) {
    json_t *object = json_pack("{s:o}", "nearest_m", histogram_json(&d->nearest));
    if (d->radius > 0)
        json_object_set_new(object, "collisions",
                            json_pack("{s:f,s:I,s:f,s:f,s:f,s:f}", "radius_m", d->radius, "count",
                                      (json_int_t)d->collisions, "pair_s", d->pair_time,
                                      "longest_s", d->longest, "deepest_m", d->deepest, "person_s",
                                      d->person_time));
    return object;
}

static th_result write_summary(const char *folder, const char *path, const th_survey *survey,
                               th_error *error) {
    const th_survey_def *def = &survey->def;
    json_t *areas = json_array(), *lines = json_array();
    for (int a = 0; a < survey->area_count; ++a) json_array_append_new(areas, area_json(survey, a));
    for (int l = 0; l < survey->line_count; ++l) json_array_append_new(lines, line_json(survey, l));
    json_t *object = json_pack(
        "{s:s,s:s,s:f,s:I,s:I,s:o,s:o,s:f,s:I,s:f,s:f,s:i,s:b,s:s,s:o,s:o,s:o,s:o}", "file", path,
        "throng", th_version(), "fps", survey->fps, "first_frame", (json_int_t)survey->first_frame,
        "last_frame", (json_int_t)survey->last_frame, "first_s", number(survey->first_time),
        "last_s", number(survey->last_time), "velocity_window_s", def->motion.window,
        "every_n_frames", (json_int_t)def->every, "cut_off_m", def->cut_off, "gaussian_width_m",
        def->width, "level", def->level, "ground_known", survey->has_ground, "service",
        def->service->source, "areas", areas, "lines", lines, "people", people_json(survey),
        "distances", distances_json(survey->distances));
    if (!object) return th_fail(error, TH_NO_MEMORY, "", "no memory for the summary");
    th_table_file table;
    th_table_open(&table, folder, "measured.json");
    th_table_json(&table, object);
    json_decref(object);
    return th_table_close(&table, error);
}

th_result th_survey_tables(const char *folder, const char *path, const th_survey *survey,
                           th_error *error) {
    th_result result = TH_OK;
    if (survey->area_count > 0) result = write_areas(folder, survey, error);
    if (result == TH_OK && survey->line_count > 0) result = write_lines(folder, survey, error);
    if (result == TH_OK) result = write_people(folder, survey, error);
    return result == TH_OK ? write_summary(folder, path, survey, error) : result;
}
