// A survey of a recording as text, tables and figures. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/chart.h"
#include "observe/observer.h"
#include "report/figures.h"
#include "report/report.h"
#include <stdio.h>
#include <stdlib.h>

// ---- a survey as text

static void print_ground(FILE *out, const th_survey *survey) {
    const th_survey_def *def = &survey->def;
    fprintf(out, "  frames       %lld to %lld, %g per second: %.2f s to %.2f s\n",
            (long long)survey->first_frame, (long long)survey->last_frame, survey->fps,
            survey->first_time, survey->last_time);
    fprintf(out, "  people       %d, at most %d at once\n", survey->walkers->count,
            survey->most_people);
    double window = round(def->motion.window * survey->fps) / survey->fps;
    fprintf(out, "  velocities   over %.3g s before and after\n", fmax(window, 1 / survey->fps));
    if (!survey->has_ground)
        fprintf(out,
                "  ground       not known, taken as endless: --walkable says where walls are\n");
}

static void print_service(FILE *out, const double *share, const char *what) {
    fprintf(out, "      %-16s", what);
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s)
        fprintf(out, "  %c %5.1f %%", 'A' + s, 100 * share[s]);
    fprintf(out, "\n");
}

// "3.057", or "-" where there is no number.
static const char *cell(double value, char text[16]) {
    if (isfinite(value))
        snprintf(text, 16, "%.3f", value);
    else
        snprintf(text, 16, "-");
    return text;
}

static void print_area(FILE *out, const th_survey *survey, int a) {
    const th_survey_area *area = &survey->areas[a];
    char density[16], highest[16], speed[16], flow[16];
    fprintf(out, "  %s, %.3g m2, %d moments\n", area->name, area->size, area->count);
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        th_survey_mean mean = th_survey_mean_of(survey, a, (th_density_method)m);
        fprintf(out, "    %-10s density %7s /m2 (highest %s)   speed %6s m/s   flow %6s /(m s)\n",
                th_density_method_name((th_density_method)m), cell(mean.density, density),
                cell(mean.highest_density, highest), cell(mean.speed, speed),
                cell(mean.flow, flow));
        print_service(out, mean.service, "service");
        if (mean.speed < 0)
            fprintf(
                out,
                "    warning: on the whole people walk against --direction, so speed and flow are "
                "negative;\n             turn its signs round, or give --both-ways for two "
                "streams\n");
    }
    th_survey_pressure pressure = th_survey_pressure_of(survey, a);
    if (isfinite(pressure.mean))
        fprintf(out, "    crowd pressure    mean %.4f /s2, highest %.4f /s2\n", pressure.mean,
                pressure.most);
}

static void print_direction(FILE *out, const th_line_flow *flow, const char *name) {
    char total[16], middle[16], specific[16], middle_specific[16];
    if (flow->count == 0) return;
    fprintf(out, "    %-9s %d people, %.2f s to %.2f s; flow %s /s, middle 80 %% %s /s;\n", name,
            flow->count, flow->first_time, flow->last_time, cell(flow->flow, total),
            cell(flow->middle_flow, middle));
    fprintf(out, "              specific flow %s /(m s), middle 80 %% %s /(m s)\n",
            cell(flow->specific_flow, specific), cell(flow->middle_specific_flow, middle_specific));
    if (flow->count > 2)
        fprintf(out,
                "              time headways: mean %.3f s, median %.3f s, 95th percentile %.3f s\n",
                flow->headway.mean, flow->headway.median, flow->headway.p95);
}

static void print_line(FILE *out, const th_survey *survey, int l) {
    th_line_flow forward = {0}, backward = {0};
    const th_line_watch *line = &survey->lines[l];
    fprintf(out, "  %s, %.3g m wide\n", survey->def.lines[l].name, th_line_width(line));
    if (line->count == 0) fprintf(out, "    no person crossed it\n");
    if (line->beside > 0)
        fprintf(out,
                "    warning: %d crossings less than %.1f m beside its ends are not counted; make "
                "the line longer\n",
                line->beside, TH_BESIDE);
    if (th_line_flow_of(line, true, &forward, NULL) == TH_OK)
        print_direction(out, &forward, "forward");
    if (th_line_flow_of(line, false, &backward, NULL) == TH_OK)
        print_direction(out, &backward, "backward");
}

static void print_people(FILE *out, const th_survey *survey) {
    const th_walkers *walkers = survey->walkers;
    th_survey_people mean = th_survey_people_of(survey);
    double seconds = 0;
    if (walkers->count == 0) return;
    fprintf(out, "people\n");
    double speed = th_histogram_mean(&walkers->speed);
    if (isfinite(speed)) fprintf(out, "  speed        mean %.3f m/s\n", speed);
    fprintf(out,
            "  standing     %.2f s a person before setting off, %.2f s in jams (below %.1f m/s)\n",
            mean.wait_time, mean.jam_time, (double)TH_JAM_SPEED);
    if (isfinite(mean.path_ratio))
        fprintf(out, "  path         %.3f times the straight line\n", mean.path_ratio);
    // Acceleration takes three frames of a person, jerk four.
    double jerk = th_histogram_mean(&walkers->jerk);
    if (isfinite(th_histogram_mean(&walkers->acceleration))) {
        fprintf(out, "  acceleration mean %.3f, 95th percentile %.3f m/s2;",
                th_histogram_mean(&walkers->acceleration),
                th_histogram_quantile(&walkers->acceleration, 0.95));
        if (isfinite(jerk))
            fprintf(out, " jerk mean %.2f, 95th percentile %.2f m/s3", jerk,
                    th_histogram_quantile(&walkers->jerk, 0.95));
        else
            fputs(" no person is there long enough for a jerk", out);
        fputs("\n               (frame by frame: compare equal frame rates only)\n", out);
    }
    double share[TH_SERVICE_LEVELS];
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s) seconds += survey->service[s];
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s) share[s] = survey->service[s] / seconds;
    if (seconds > 0) print_service(out, share, "own density");
}

static void print_distances(FILE *out, const th_spacing_totals *d) {
    if (d->nearest.count == 0) return;
    fprintf(out, "nearest other person\n");
    fprintf(out, "  distance     mean %.3f m, least %.3f m, 5 %% below %.3f m, half below %.3f m\n",
            th_histogram_mean(&d->nearest), d->nearest.least,
            th_histogram_quantile(&d->nearest, 0.05), th_histogram_quantile(&d->nearest, 0.5));
    if (!(d->radius > 0)) return;
    fprintf(out,
            "  collisions   %lld times two bodies of radius %.3g m overlapped by more than 1 cm",
            (long long)d->collisions, d->radius);
    if (d->collisions > 0)
        fprintf(out, ",\n               %.2f s together, the longest %.2f s, the deepest %.3f m",
                d->pair_time, d->longest, d->deepest);
    fprintf(out, "\n");
}

void th_survey_print(FILE *out, const char *path, const th_survey *survey) {
    fprintf(out, "%s\n", path);
    if (survey->moments == 0) {
        fprintf(out, "  nothing in these frames\n");
        return;
    }
    print_ground(out, survey);
    if (survey->area_count > 0)
        fprintf(out, "areas (levels of service: %s)\n", survey->def.service->source);
    for (int a = 0; a < survey->area_count; ++a) print_area(out, survey, a);
    if (survey->line_count > 0) fprintf(out, "lines\n");
    for (int l = 0; l < survey->line_count; ++l) print_line(out, survey, l);
    print_people(out, survey);
    print_distances(out, survey->distances);
    if (survey->stopped) fprintf(out, "stopped at %.2f s\n", survey->last_time);
}

// ---- tables of a survey

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

// ---- lines: crossings in order of time. The N-t curve of a direction is the column `people` over `time_s`.

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

// ---- figures of a survey: density and speed of areas over time, N-t curves of lines

enum { AREAS_SHOWN = 6, LINES_SHOWN = 4, CHART_HEIGHT = 190 };

// The page's title and what it is of; returns the y below.
static double head(const th_canvas *canvas, const char *title, const char *path) {
    double text = canvas->text;
    char clean[256], fitted[256];
    th_clean_text(path, clean, sizeof clean);
    th_canvas_fit(canvas, text, canvas->width - 2 * text, clean, fitted, sizeof fitted);
    cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
    th_canvas_text(canvas, 0.8 * text, 1.8 * text, 0, 1.25 * text, true, title);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_text(canvas, 0.8 * text, 3.2 * text, 0, text, false, fitted);
    return 3.8 * text;
}

static th_result write_page(th_canvas *canvas, const char *folder, const char *name,
                            th_error *error) {
    char file[4096];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    th_result result = cairo_status(canvas->cairo) == CAIRO_STATUS_SUCCESS
                           ? th_canvas_write(canvas, file, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for %s; free some", name);
    th_canvas_destroy(canvas);
    return result;
}

static th_chart chart_at(const th_canvas *canvas, double left, double top, double width, th_axis x,
                         th_axis y) {
    th_chart chart = {.canvas = canvas, .height = CHART_HEIGHT, .top = top, .x = x, .y = y};
    double margin = th_chart_margin(canvas, &y);
    chart.left = left + margin;
    chart.width = width - margin - canvas->text;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    return chart;
}

// ---- areas

static double highest(const th_survey *survey, bool speed) {
    double most = 0.5;
    for (int a = 0; a < survey->area_count && a < AREAS_SHOWN; ++a)
        for (int r = 0; r < survey->areas[a].count; ++r)
            for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
                const th_area_reading *moment = &survey->areas[a].rows[r].by[m];
                double value = speed ? moment->speed : moment->density;
                if (survey->def.method[m] && isfinite(value)) most = fmax(most, value);
            }
    return most;
}

static void draw_series(const th_chart *chart, const th_survey *survey, const th_survey_area *area,
                        bool speed, double *memory) {
    double *time = memory, *value = memory + area->count;
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        for (int r = 0; r < area->count; ++r) {
            time[r] = area->rows[r].time;
            value[r] = speed ? area->rows[r].by[m].speed : area->rows[r].by[m].density;
        }
        th_chart_line(chart, time, value, area->count, th_line_style_of(m));
    }
}

static th_result draw_areas(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    int count = survey->area_count < AREAS_SHOWN ? survey->area_count : AREAS_SHOWN;
    double text = TH_FIGURE_TEXT, row = CHART_HEIGHT + 5.4 * text;
    double *memory = malloc((2 * (size_t)survey->areas[0].count + 2) * sizeof *memory);
    th_canvas canvas =
        th_canvas_create_zoomed(TH_FIGURE_WIDTH, 7 * text + count * row, text, TH_FIGURE_ZOOM);
    if (!memory || !canvas.surface) {
        if (canvas.surface) th_canvas_destroy(&canvas);
        free(memory);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure of areas");
    }
    double y = head(&canvas, "Density and speed in areas", path);
    th_legend_entry entries[TH_DENSITY_METHODS];
    int methods = 0;
    for (int m = 0; m < TH_DENSITY_METHODS; ++m)
        if (survey->def.method[m])
            entries[methods++] = (th_legend_entry){th_density_method_name((th_density_method)m),
                                                   th_line_style_of(m), TH_LEGEND_LINE};
    y = th_legend(&canvas, 0.8 * text, y + text, entries, methods) + 1.2 * text;
    th_axis x = th_axis_time(survey->first_time, fmax(survey->last_time, survey->first_time + 1), 6,
                             "time");
    th_axis density = th_axis_make(0, 1.05 * highest(survey, false), 6, "density [1/m\xc2\xb2]");
    th_axis speed = th_axis_make(0, 1.05 * highest(survey, true), 6, "speed [m/s]");
    for (int a = 0; a < count; ++a) {
        const th_survey_area *area = &survey->areas[a];
        double half = 0.5 * canvas.width, top = y + a * row + text;
        char title[96], clean[64];
        th_clean_text(area->name, clean, sizeof clean);
        snprintf(title, sizeof title, "%s, %.3g m\xc2\xb2", clean, area->size);
        th_chart left = chart_at(&canvas, 0.4 * text, top, half, x, density);
        cairo_set_source_rgb(canvas.cairo, 0.1, 0.1, 0.1);
        th_canvas_text(&canvas, left.left, top - 0.6 * text, 0, text, true, title);
        draw_series(&left, survey, area, false, memory);
        th_chart right = chart_at(&canvas, half, top, half, x, speed);
        draw_series(&right, survey, area, true, memory);
    }
    free(memory);
    return write_page(&canvas, folder, "measured_areas.png", error);
}

// ---- lines

// The N-t curve as stairs; `memory` has room for two numbers for twice the crossings.
static void draw_curve(const th_chart *chart, const th_line_watch *line, bool forward,
                       th_line_style style, double *memory) {
    double *time = memory, *people = memory + 2 * line->count;
    int count = 0, n = 0;
    for (int c = 0; c < line->count; ++c) {
        if (line->crossings[c].forward != forward) continue;
        for (int step = 0; step < 2; ++step, ++n) {
            time[n] = line->crossings[c].time;
            people[n] = count + step;
        }
        ++count;
    }
    th_chart_line(chart, time, people, n, style);
}

// One line in one direction.
typedef struct curve {
    const th_line_watch *line;
    bool forward;
    int people;
    char name[96];
} curve;

static int count_ways(const th_line_watch *line, bool forward) {
    int count = 0;
    for (int c = 0; c < line->count; ++c) count += line->crossings[c].forward == forward;
    return count;
}

static int find_curves(const th_survey *survey, curve *curves) {
    int used = 0;
    for (int l = 0; l < survey->line_count && l < LINES_SHOWN; ++l)
        for (int way = 0; way < 2; ++way) {
            curve found = {.line = &survey->lines[l], .forward = way == 0};
            found.people = count_ways(found.line, found.forward);
            if (found.people == 0) continue;
            char clean[64];
            th_clean_text(survey->def.lines[l].name, clean, sizeof clean);
            snprintf(found.name, sizeof found.name, "%s, %s", clean,
                     found.forward ? "forward" : "backward");
            curves[used++] = found;
        }
    return used;
}

static void draw_curves(const th_canvas *canvas, const char *path, const th_survey *survey,
                        const curve *curves, int count, double *memory) {
    double text = canvas->text, y = head(canvas, "People over lines", path);
    th_legend_entry entries[2 * LINES_SHOWN];
    int most = 1;
    for (int k = 0; k < count; ++k) {
        entries[k] = (th_legend_entry){curves[k].name, th_line_style_of(k), TH_LEGEND_LINE};
        most = curves[k].people > most ? curves[k].people : most;
    }
    y = th_legend(canvas, 0.8 * text, y + text, entries, count) + text;
    th_axis time = th_axis_time(survey->first_time, fmax(survey->last_time, survey->first_time + 1),
                                8, "time");
    th_chart chart = chart_at(canvas, 0.4 * text, y, canvas->width - text, time,
                              th_axis_count(most, 6, "people who have crossed"));
    for (int k = 0; k < count; ++k)
        draw_curve(&chart, curves[k].line, curves[k].forward, entries[k].style, memory);
}

static th_result draw_lines(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    curve curves[2 * LINES_SHOWN];
    int count = find_curves(survey, curves), crossings = 0;
    for (int k = 0; k < count; ++k)
        if (curves[k].line->count > crossings) crossings = curves[k].line->count;
    if (count == 0) return TH_OK;
    double *memory = malloc((4 * (size_t)crossings + 4) * sizeof *memory);
    th_canvas canvas = th_canvas_create_zoomed(TH_FIGURE_WIDTH, CHART_HEIGHT + 12 * TH_FIGURE_TEXT,
                                               TH_FIGURE_TEXT, TH_FIGURE_ZOOM);
    if (!memory || !canvas.surface) {
        if (canvas.surface) th_canvas_destroy(&canvas);
        free(memory);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the figure of lines");
    }
    draw_curves(&canvas, path, survey, curves, count, memory);
    free(memory);
    return write_page(&canvas, folder, "measured_lines.png", error);
}

th_result th_survey_figures(const char *folder, const char *path, const th_survey *survey,
                            th_error *error) {
    th_result result = TH_OK;
    if (survey->area_count > 0 && survey->areas[0].count > 0)
        result = draw_areas(folder, path, survey, error);
    if (result == TH_OK && survey->line_count > 0) result = draw_lines(folder, path, survey, error);
    return result;
}
