// Figures of the plan with tracks, and of the evacuation curve. SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- figures over the plan: the plan itself, trajectories, people left behind

static const double KEY = 152; // room for the key at the right [units]

static void begin_panel(const th_canvas *canvas, const th_panel *panel) {
    cairo_save(canvas->cairo);
    cairo_rectangle(canvas->cairo, panel->left, panel->top, panel->width, panel->height);
    cairo_clip(canvas->cairo);
}

static void end_panel(const th_canvas *canvas, const th_panel *panel) {
    cairo_restore(canvas->cairo);
    th_panel_axes(canvas, panel);
}

bool th_figure_plan_applies(const th_figure_data *data) { return data->scene->level_count > 0; }

static double draw_key(const th_canvas *canvas, const th_figure_data *data,
                       const th_panel_page *page, bool symbols) {
    double text = canvas->text, x = canvas->width - KEY + 1.2 * text, y = page->top + 0.8 * text;
    y = th_draw_group_key(canvas, data->scene, x, y);
    if (symbols) y = th_draw_key(canvas, &data->view, x, y);
    if (page->boxes) return y; // each has its own scale, which its axes show
    th_canvas_scale_bar(canvas, x, y + 1.6 * text, 8 * text, page->scale);
    return y + 3 * text;
}

double th_figure_plan_draw(const th_canvas *canvas, const th_figure_data *data) {
    double y = th_figure_head(canvas, data, "Plan", "as simulated");
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        th_draw_starts(canvas, &panel, data->scene, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        th_draw_labels(canvas, &panel, data->scene, level, true);
        end_panel(canvas, &panel);
    }
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_plan_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "The plan as simulated. Tinted areas with dotted outlines are where groups "
                      "appear; grey is solid.");
    if (data->scene->door_count > 0)
        th_text_put(text, " Doors are drawn as they are at the start.");
}

bool th_figure_tracks_applies(const th_figure_data *data) {
    for (int i = 0; data->first && i < data->first->track_count; ++i)
        if (data->first->tracks[i].count > 1) return true;
    return false;
}

// Points nearer than `spacing` to the last one drawn are left out, and with them most of the bytes.
static int trace_track(const th_canvas *canvas, const th_panel *panel, const th_track *track,
                       int level, double spacing) {
    double last_x = 0, last_y = 0;
    bool begun = false;
    int points = 0;
    for (int k = 0; k < track->count; ++k) {
        if (track->level[k] != level) {
            begun = false;
            continue;
        }
        double x = th_panel_x(panel, (double)track->x[k]);
        double y = th_panel_y(panel, (double)track->y[k]);
        if (!isfinite(x) || !isfinite(y)) continue;
        bool end = k + 1 == track->count || track->level[k + 1] != level;
        if (begun && !end && hypot(x - last_x, y - last_y) < spacing) continue;
        if (begun)
            cairo_line_to(canvas->cairo, x, y);
        else
            cairo_move_to(canvas->cairo, x, y);
        begun = true;
        last_x = x;
        last_y = y;
        ++points;
    }
    return points;
}

static void draw_tracks(const th_canvas *canvas, const th_panel *panel, const th_figure_data *data,
                        int level) {
    enum { POINTS_MAX = 25000 }; // about half a megabyte of SVG
    const th_observation *first = data->first;
    double spacing = 1.2;
    for (int points = POINTS_MAX + 1; points > POINTS_MAX; spacing *= 1.5) {
        points = 0;
        for (int i = 0; i < first->track_count; ++i)
            points += trace_track(canvas, panel, &first->tracks[i], level, spacing);
        cairo_new_path(canvas->cairo);
        // Every track keeps its ends, whatever the spacing.
        if (spacing > canvas->width || points <= POINTS_MAX) break;
    }
    cairo_set_line_width(canvas->cairo, 0.9);
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
    for (int i = 0; i < first->track_count; ++i) {
        trace_track(canvas, panel, &first->tracks[i], level, spacing);
        th_canvas_colour(canvas, th_colour_group(first->tracks[i].group), 0.55);
        cairo_stroke(canvas->cairo);
    }
    cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_MITER);
}

double th_figure_tracks_draw(const th_canvas *canvas, const th_figure_data *data) {
    char runs[80], note[160];
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d of %d people, %s", data->first->track_count,
             data->first->person_count, runs);
    double y = th_figure_head(canvas, data, "Trajectories", note);
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        draw_tracks(canvas, &panel, data, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        end_panel(canvas, &panel);
    }
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_tracks_caption(th_text *text, const th_figure_data *data) {
    th_text_put(text, "The ways of ");
    th_text_count(text, data->first->track_count);
    th_text_put(text,
                " people, chosen evenly from the order in which they appeared, one point every ");
    th_text_value(text, data->first->interval);
    th_text_put(text, "\xc2\xa0s, coloured by group.");
}

bool th_figure_left_behind_applies(const th_figure_data *data) {
    return data->first && data->first->left_behind_count > 0;
}

double th_figure_left_behind_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_observation *first = data->first;
    char runs[80], note[160];
    th_figure_runs(data, true, runs, sizeof runs);
    snprintf(note, sizeof note, "%d %s at t = %.0f s, %s", first->left_behind_count,
             th_people_word((uint64_t)first->left_behind_count), first->statistics.time, runs);
    double y = th_figure_head(canvas, data, "People still inside at the end", note);
    th_panel_page page = th_figure_panels(canvas, data, y, KEY);
    double dot = fmin(fmax(0.4 * page.scale, 3), 8); // a person is about 0.4 m wide
    th_vec2 *points = malloc((size_t)first->left_behind_count * sizeof *points);
    for (int level = 0; level < data->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, data->scene, &data->box, level);
        begin_panel(canvas, &panel);
        th_draw_ground(canvas, &panel, data->scene, level);
        th_draw_walls(canvas, &panel, &data->view, level);
        for (int group = 0; points && group < data->scene->group_count; ++group) {
            int count = 0;
            for (int i = 0; i < first->left_behind_count; ++i)
                if (first->left_behind[i].level == level && first->left_behind[i].group == group)
                    points[count++] = (th_vec2){first->left_behind[i].x, first->left_behind[i].y};
            th_draw_dots(canvas, &panel, points, count, th_colour_group(group), dot);
        }
        th_draw_labels(canvas, &panel, data->scene, level, false);
        end_panel(canvas, &panel);
    }
    free(points);
    return fmax(page.bottom - 1.2 * canvas->text, draw_key(canvas, data, &page, true));
}

void th_figure_left_behind_caption(th_text *text, const th_figure_data *data) {
    bool one = data->first->left_behind_count == 1;
    th_text_put(text, one ? "Where the person stands" : "Where the ");
    if (!one) th_text_count(text, data->first->left_behind_count);
    th_text_add(text, "%s who had not left when the %s ended, coloured by group.",
                one ? "" : " people stand", data->ensemble->run_count > 1 ? "first run" : "run");
    if (data->first->left_behind_count > TH_DOTS_MAX)
        th_text_add(text, " At most %d dots per group are drawn, an even choice.", TH_DOTS_MAX);
}

// ---- the evacuation curve

static const th_colour GREY = {0.45, 0.45, 0.45};

// Quantiles over the runs of the number of people gone, sample by sample.
typedef struct left_curves {
    int samples;
    double highest;                     // largest number of people in a run
    double *time, *low, *median, *high; // per sample
    double *memory;
} left_curves;

// After its last sample a run stays as it ended: the last person may leave between two.
static double left_at(const th_run_summary *run, int k) {
    return k < run->sample_count ? (double)run->left_curve[k] : (double)run->left;
}

static int rows_of(const th_run_summary *run) { return run->sample_count + 1; }

static bool make_curves(left_curves *curves, const th_ensemble *ensemble) {
    *curves = (left_curves){0};
    for (int i = 0; i < ensemble->run_count; ++i) {
        const th_run_summary *run = &ensemble->runs[i];
        if (rows_of(run) > curves->samples) curves->samples = rows_of(run);
        curves->highest = fmax(curves->highest, (double)run->spawned);
    }
    size_t count = (size_t)curves->samples, runs = (size_t)ensemble->run_count;
    curves->memory = malloc((4 * count + runs + 1) * sizeof *curves->memory);
    if (!curves->memory) return false;
    curves->time = curves->memory;
    curves->low = curves->time + count;
    curves->median = curves->low + count;
    curves->high = curves->median + count;
    double *values = curves->high + count;
    for (int k = 0; k < curves->samples; ++k) {
        for (size_t i = 0; i < runs; ++i) values[i] = left_at(&ensemble->runs[i], k);
        th_sort_values(values, (int)runs);
        curves->time[k] = k * ensemble->interval;
        curves->low[k] = th_quantile(values, (int)runs, 0.05);
        curves->median[k] = th_quantile(values, (int)runs, 0.5);
        curves->high[k] = th_quantile(values, (int)runs, 0.95);
    }
    return true;
}

bool th_figure_evacuation_applies(const th_figure_data *data) {
    for (int i = 0; i < data->ensemble->run_count; ++i)
        if (data->ensemble->runs[i].spawned > 0) return true;
    return false;
}

static void draw_single_runs(const th_chart *chart, const th_ensemble *ensemble,
                             const left_curves *curves) {
    enum { RUNS_MAX = 60 }; // more lines than this are one grey area anyway
    int stride = 1 + (ensemble->run_count - 1) / RUNS_MAX;
    double *left = malloc(((size_t)curves->samples + 1) * sizeof *left);
    if (!left) return;
    for (int i = 0; i < ensemble->run_count; i += stride) {
        const th_run_summary *run = &ensemble->runs[i];
        for (int k = 0; k < rows_of(run); ++k) left[k] = left_at(run, k);
        th_chart_line(chart, curves->time, left, rows_of(run), (th_line_style){GREY, 0.6, 0, 0.45});
    }
    free(left);
}

static void draw_inside(const th_chart *chart, const th_observation *first) {
    size_t count = (size_t)first->sample_count;
    double *memory = malloc((2 * count + 2) * sizeof *memory), *inside = memory + count + 1;
    if (!memory) return;
    for (int k = 0; k < first->sample_count; ++k) {
        memory[k] = k * first->interval;
        inside[k] = first->inside[k];
    }
    memory[count] = first->statistics.time;
    inside[count] = (double)first->statistics.inside;
    th_chart_line(chart, memory, inside, first->sample_count + 1, th_line_style_of(1));
    free(memory);
}

static void draw_marks(const th_chart *chart, const th_ensemble *ensemble, double people) {
    static const double shares[3] = {0.5, 0.95, 1};
    for (int i = 0; i < 3; ++i) {
        char note[80], time[40], some[40] = "";
        th_sample_summary reach = th_ensemble_reach(ensemble, shares[i]);
        double at = reach.count == 1 ? reach.mean : reach.median;
        if (reach.count < ensemble->run_count)
            snprintf(some, sizeof some, " in %d of %d runs", reach.count, ensemble->run_count);
        // 95 % of very few people is not defined.
        bool whole = shares[i] >= 1 || (1 - shares[i]) * people >= 1;
        if (!isfinite(at) || !whole) continue;
        th_figure_time(at, chart->x.high, time, sizeof time);
        snprintf(note, sizeof note, "%.0f %%%s: %s", 100 * shares[i], some, time);
        th_chart_dot(chart, at, shares[i] * people, th_colour_group(0));
        // 95 % and 100 % lie near each other: one to the right and below, one to the left and above.
        bool last = i == 2;
        th_chart_note(chart, at, shares[i] * people, last ? 0 : 0.7 * TH_FIGURE_TEXT,
                      last ? -0.75 * TH_FIGURE_TEXT : 1.1 * TH_FIGURE_TEXT, last ? 1 : 0, note);
    }
}

static double median_people(const th_ensemble *ensemble) {
    double *people = malloc(((size_t)ensemble->run_count + 1) * sizeof *people);
    if (!people) return 0;
    for (int i = 0; i < ensemble->run_count; ++i) people[i] = (double)ensemble->runs[i].spawned;
    th_sort_values(people, ensemble->run_count);
    double median = th_quantile(people, ensemble->run_count, 0.5);
    free(people);
    return median;
}

double th_figure_evacuation_draw(const th_canvas *canvas, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    bool many = ensemble->run_count > 1;
    char runs[80];
    left_curves curves;
    th_figure_runs(data, false, runs, sizeof runs);
    double text = canvas->text, y = th_figure_head(canvas, data, "People who have left", runs);
    const th_legend_entry several[] = {
        {"median of the runs", {th_colour_group(0), 2.2, 0, 1}, TH_LEGEND_LINE},
        {"5 to 95 % of the runs", {th_colour_group(0), 1, 0, 0.25}, TH_LEGEND_BAND},
        {"single runs", {GREY, 0.8, 0, 0.7}, TH_LEGEND_LINE},
    };
    const th_legend_entry one[] = {
        {"have left", {th_colour_group(0), 2.2, 0, 1}, TH_LEGEND_LINE},
        {"are inside", th_line_style_of(1), TH_LEGEND_LINE},
    };
    y = th_legend(canvas, 0.8 * text, y + text, many ? several : one, many ? 3 : 2);
    if (!make_curves(&curves, ensemble)) return y;
    double end = th_crowd_end(ensemble);
    th_chart chart =
        th_figure_chart(canvas, y + 0.5 * text, 270, th_axis_time(0, 1.02 * end, 9, "time"),
                        th_axis_count(1.12 * curves.highest, 8, "people"));
    th_chart_frame(&chart);
    if (many) {
        th_chart_band(&chart, curves.time, curves.low, curves.high, curves.samples,
                      th_colour_group(0), 0.25);
        draw_single_runs(&chart, ensemble, &curves);
    } else if (data->first) {
        draw_inside(&chart, data->first);
    }
    th_chart_line(&chart, curves.time, curves.median, curves.samples,
                  (th_line_style){th_colour_group(0), 2.2, 0, 1});
    draw_marks(&chart, ensemble, median_people(ensemble));
    free(curves.memory);
    return th_chart_bottom(&chart);
}

void th_figure_evacuation_caption(th_text *text, const th_figure_data *data) {
    if (data->ensemble->run_count > 1)
        th_text_put(text, "Number of people who have left over time: each run as a thin line, the "
                          "median over the runs as a thick one, and the band that holds the middle "
                          "90\xc2\xa0% of the runs. Dots mark the median times at which 50, 95 and "
                          "100\xc2\xa0% of those who ever came had left.");
    else
        th_text_put(text,
                    "Number of people who have left, and who are inside, over time. Dots mark "
                    "when 50, 95 and 100\xc2\xa0% of those who ever came had left.");
    if (th_crowd_end(data->ensemble) < th_longest_run(data->ensemble))
        th_text_add(text,
                    " The axis ends with the last person who left; the longest run went on "
                    "until %.0f\xc2\xa0s.",
                    th_longest_run(data->ensemble));
    th_text_put(text, " The steeper the curve, the larger the flow; on a flat stretch no person "
                      "gets out.");
}
