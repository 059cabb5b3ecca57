// The figures of a report. One row of the table in figures.c per figure; a further one is a function that
// draws, one that says what is to be seen, and a row. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_FIGURES_H
#define TH_REPORT_FIGURES_H
#include "draw/canvas.h"
#include "draw/chart.h"
#include "draw/plan_drawing.h"
#include "observe/ensemble.h"
#include "observe/findings.h"
#include "observe/sensitivity.h"
#include "report/report.h"

// The data of all figures, made once by th_figure_data_make.
typedef struct th_figure_data {
    const th_report_def *def;
    const th_scene_view *scene;
    const th_ensemble *ensemble;
    const th_observation *first; // the first run; NULL: none
    th_box box;                  // [m] of all levels
    th_box *boxes;               // [m] what the plan of each level shows; NULL: box
    th_plan_view view;           // for the plan's layers; doors as at the start
    bool *door_closed;
    double use_samples; // in the time of use, all runs together
    th_density_findings found;
    th_pressure_findings pressed;
} th_figure_data;

th_result th_figure_data_make(th_figure_data *data, const th_report_def *def, th_error *error);
void th_figure_data_release(th_figure_data *data);

typedef struct th_figure {
    const char *name; // of the file and the anchor
    const char *title;
    bool (*applies)(const th_figure_data *data);
    const char *why_not; // said in the page when it does not apply; NULL: not worth saying
    // Draws on a page TH_FIGURE_WIDTH wide, beginning at the top; returns the height it needs.
    double (*draw)(const th_canvas *canvas, const th_figure_data *data);
    // Says how to read the figure.
    void (*caption)(th_text *text, const th_figure_data *data);
} th_figure;
extern const th_figure th_figures[];
extern const int th_figure_count;

#define TH_FIGURE_WIDTH 800.0 // units; a unit is a pixel on a screen at 100 %
#define TH_FIGURE_TEXT 13.0
#define TH_FIGURE_ZOOM 2.0 // PNG pixels per unit: sharp in print at 16 cm width

// The figure as SVG in the page and as PNG in `path`.
th_result th_figure_write(const th_figure *figure, const th_figure_data *data, const char *path,
                          th_text *page, th_error *error);

// ---- pieces that several figures share
// Title and the line below it that says of which scene and runs; returns the y below.
double th_figure_head(const th_canvas *canvas, const th_figure_data *data, const char *title,
                      const char *note);
// "1 run, seed 7" or "20 runs"; what only the first run knows says so.
void th_figure_runs(const th_figure_data *data, bool first_only, char *words, size_t size);
// "43.5 s" or "5.20 h", in the unit of an axis to `longest` seconds.
void th_figure_time(double seconds, double longest, char *words, size_t size);
// A chart over the whole width below y.
th_chart th_figure_chart(const th_canvas *canvas, double y, double height, th_axis x_axis,
                         th_axis y_axis);
// A page of panels below y, with room for a key at the right of `key` units (0: none).
th_panel_page th_figure_panels(const th_canvas *canvas, const th_figure_data *data, double y,
                               double key);

// ---- numbers that figures, sentences and tables share
// When the share (0 .. 1) of all people had left, as a sample over all runs [s].
th_sample_summary th_ensemble_reach(const th_ensemble *ensemble, double share);
// The length of the longest run, and the end of axes of time [s]: that of the crowd, not of a few who stay for ever.
double th_longest_run(const th_ensemble *ensemble);
double th_crowd_end(const th_ensemble *ensemble);
// One value of each person (not of scripted bodies, nor where it is not known), ascending. No values
// without memory. Free them.
typedef float th_person_value(const th_person *person);
th_value_list th_people_values(const th_observation *observation, th_person_value *value);
// Flow over a counter around sample k [1/s], in a window of TH_FLOW_WINDOW seconds cut off at the ends.
double th_counter_flow(const th_observation *observation, const uint32_t *count, int k);
#define TH_FLOW_WINDOW 10.0 // [s] long enough for one figure per person to be smoothed out
// IMO MSC.1/Circ.1533: maximum specific flow of corridors and doors [1/(m s)].
#define TH_IMO_FLOW 1.3

// ---- rows of the table
// All figures in the order of the page: X(name, title, why there is none or NULL).
#define TH_FIGURES(X)                                                                           \
    X(plan, "Plan", NULL)                                                                       \
    X(evacuation, "People who have left",                                                       \
      "No people were simulated, so there is no evacuation curve.")                             \
    X(egress, "Egress times", "No person left, so there is no distribution of egress times.")   \
    X(convergence, "Egress time by number of runs", NULL)                                       \
    X(flow, "Flow at exits, doors and lines",                                                   \
      "No person crossed an exit, door or measurement line, so there is no flow to show.")      \
    X(queues, "Queues at exits, doors and stairs", NULL)                                        \
    X(density_mean, "Mean density", "No map of the mean density: no person was measured.")      \
    X(density_max, "Highest density", "No map of the highest density: no person was measured.") \
    X(congestion, "Time above 4 people per m\xc2\xb2",                                          \
      "No map of congestion: the density stayed at or below 4 /m\xc2\xb2 everywhere at all "    \
      "times.")                                                                                 \
    X(density_times, "Density and level of service over time", NULL)                            \
    X(speed_times, "Speed over time", NULL)                                                     \
    X(usage, "Usage", NULL)                                                                     \
    X(pressure, "Highest pressure", NULL)                                                       \
    X(load, "Highest load on a body",                                                           \
      "No map of loads: no person was pressed by another or by a wall.")                        \
    X(crowd_pressure, "Crowd pressure",                                                         \
      "No map of the crowd pressure: nowhere were enough people together.")                     \
    X(exposure, "Time in a dense crowd",                                                        \
      "No person was ever in a crowd denser than 4 /m\xc2\xb2.")                                \
    X(speed, "Mean speed", "No map of speeds: no person was measured.")                         \
    X(tracks, "Trajectories", "No trajectories were kept.")                                     \
    X(delay, "Time lost per person", "No person was measured, so no times lost are shown.")     \
    X(areas, "Density and speed in measurement areas", NULL)                                    \
    X(left_behind, "People still inside at the end", NULL)
#define X(name, title, why_not)                                                          \
    bool th_figure_##name##_applies(const th_figure_data *data);                         \
    double th_figure_##name##_draw(const th_canvas *canvas, const th_figure_data *data); \
    void th_figure_##name##_caption(th_text *text, const th_figure_data *data);
TH_FIGURES(X)
#undef X

// ---- figures of maps: a value per cell as colours over the plan, with a key at the right

// The value that a map shows of a cell; NaN: none.
typedef double th_cell_value(const th_figure_data *data, const th_map *map, int cell);
// The largest value of all cells of all levels; 0: there is none.
double th_map_largest(const th_figure_data *data, th_cell_value *value);
// There are maps with people on them.
bool th_maps_measured(const th_figure_data *data);

// A continuous scale from 0 to `highest`.
typedef struct th_scale_range {
    double highest;
    th_colour_fn *scale;
} th_scale_range;
// A whole figure with a colour bar; a line at `mark` when that is on it. Returns the height it needs.
double th_figure_scale_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *note, th_cell_value *value, th_scale_range range,
                           const char *quantity, double mark, const char *mark_name);
// A whole figure in steps. `what` goes before the runs below the title.
double th_figure_class_map(const th_canvas *canvas, const th_figure_data *data, const char *title,
                           const char *what, th_cell_value *value, const th_value_classes *classes);

// ---- the parts of the page in their order, page.c and page_results.c

// Everything before the answer of a page that is not of a run; `kind` is "sweep", ...
void th_page_head(th_text *page, const char *title, const char *kind);
// The answer in one sentence or two, with its interval. page_results.c
void th_page_answer(th_text *page, const th_figure_data *data);
// The settings: groups, and values that differ from the defaults. page.c
void th_page_population(th_text *page, const th_figure_data *data);
void th_page_differences(th_text *page, const th_figure_data *data);
void th_page_assumptions(th_text *page, const th_figure_data *data);
// Tables of counters, areas and runs. page_results.c
void th_page_counters(th_text *page, const th_figure_data *data);
void th_page_areas(th_text *page, const th_figure_data *data);
void th_page_runs(th_text *page, const th_figure_data *data);
// Tables of all runs, and why runs did not end. quantities.c
void th_page_quantities(th_text *page, const th_figure_data *data);
void th_page_failures(th_text *page, const th_figure_data *data);
// Says how things were measured, and how to get the same numbers again. page.c
void th_page_method(th_text *page, const th_figure_data *data);
void th_page_reproduce(th_text *page, const th_figure_data *data);

extern const char th_page_style[]; // the style sheet

// ---- sweeps, sweep.c

// Tables and page of a sweep: one row per combination of values.

// One combination.
typedef struct th_sweep_point {
    const char *const *values; // one per path
    int runs;
    const double *egress_times; // [s], one per run; NaN: not empty at the end
    th_sample_summary egress;   // of them
    th_sample_summary flow;     // through all exits [1/s]
    double mean_jam_time;       // per person [s]
    double max_density;         // highest of all runs [1/m2]
} th_sweep_point;

typedef struct th_sweep_report {
    const char *folder; // exists
    const char *scene_name, *scene_file, *command_line;
    const char *const *paths; // varied
    int path_count;
    const th_sweep_point *points;
    int point_count;
    // A sample: how it was drawn ("sobol:64"), the distribution of each path, and whether it is a list of words.
    const char *sample; // NULL: every combination
    const char *const *distributions;
    const bool *listed;
    int runs; // of a point, at most
    // All quantities of all runs: titles ("exit main: mean wait [s]"), and a function that writes one of them of all runs,
    // values[point * runs + run], NaN: none.
    char *const *titles;
    int title_count;
    void (*fill)(const void *context, int title, double *values);
    const void *context;
    const struct th_sweep_sensitivity
        *sensitivity; // of a sample; made by th_sweep_sensitivity_make
} th_sweep_report;

// ---- a sample's sensitivity, sensitivity.c: the share of each varied value in the variance of every quantity

typedef struct th_sweep_sensitivity {
    double *x;             // [point][path]
    th_sensitivity *found; // per title
    double *main_means;    // of the points, of the title `main_title`
    int main_title; // the egress time, or where no run emptied the first that changes; -1: nothing changes
} th_sweep_sensitivity;

// No error without a sample, and nothing is made.
th_result th_sweep_sensitivity_make(const th_sweep_report *report, th_sweep_sensitivity *made,
                                    th_error *error);
void th_sweep_sensitivity_release(th_sweep_sensitivity *made);
// sensitivity.csv and sensitivity.json
th_result th_report_sensitivity(const th_sweep_report *report, th_error *error);
// The section of the page below the figures.
void th_page_sensitivity(th_text *page, const th_sweep_report *report);

// The points with their values, egress times and flows, for sweep.json.
json_t *th_report_sweep_json(const th_sweep_report *report);
// sweep.csv
th_result th_report_sweep_table(const th_sweep_report *report, th_error *error);
// report.html with the figures inside, and figures/*.png
th_result th_report_sweep_page(const th_sweep_report *report, th_error *error);

// ---- figures of a sweep. They are rows of the same kind as those of a run, so that SVG and PNG are written by
// the same code.

// The argument of a figure's functions: `base` is empty and comes first, so that a pointer to it is one
// to the whole.
typedef struct th_sweep_figure_data {
    th_figure_data base;
    const th_sweep_report *report;
} th_sweep_figure_data;

// The title and the line below it of a sweep's figures; returns the y below.
double th_sweep_head(const th_canvas *canvas, const th_sweep_report *report, const char *title);
bool th_figure_sensitivity_applies(const th_figure_data *data);
double th_figure_sensitivity_draw(const th_canvas *canvas, const th_figure_data *data);
void th_figure_sensitivity_caption(th_text *text, const th_figure_data *data);
bool th_figure_scatter_applies(const th_figure_data *data);
double th_figure_scatter_draw(const th_canvas *canvas, const th_figure_data *data);
void th_figure_scatter_caption(th_text *text, const th_figure_data *data);

extern const th_figure th_sweep_figures[];
extern const int th_sweep_figure_count;
#endif
