// Fundamental diagrams of recordings and scenes over what was measured with people: samples, means per class, a table,
// a figure.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_DIAGRAM_H
#define TH_VALIDATE_DIAGRAM_H
#include "observe/survey.h"
#include "throng/base.h"
#include "throng/scene.h"
#include <stdio.h>

// ---- measured tables, diagram.c

// Measurements of people: small tables that the program carries with it. Density and speed, and flows through
// doors.

typedef struct th_measured_point {
    double density; // [1/m2]
    double speed;   // [m/s]
    double spread;  // standard deviation of the speed [m/s]; 0: a single measurement
} th_measured_point;

typedef struct th_measured_set {
    const char *name;   // "uo180", what `throng fd --over` calls it
    const char *title;  // for a legend
    const char *source; // experiment, where the numbers come from, licence
    const th_measured_point *points;
    int count;
} th_measured_set;

const th_measured_set *th_measured_sets(int *count);
const th_measured_set *th_measured_find(const char *name); // NULL: there is none

// One run of the unidirectional corridor of 1.8 m (Hermes 2009; Zhang et al. 2011), as measured in x 0 ..
// 1.8, y -2 .. 0 over its steady frames.
typedef struct th_uo180_run {
    const char *name;            // of its file: entrance, corridor, exit [cm]
    double entrance, exit;       // widths [m]
    double inflow;               // through the entrance when nothing behind holds people up [1/s]
    int people;                  // that took part
    double density, speed, flow; // measured [1/m2], [m/s], [1/(m s)]
} th_uo180_run;
enum { TH_UO180_RUNS = 9 };
extern const th_uo180_run th_uo180_runs[TH_UO180_RUNS];

// The closed ring of 1.8 m (ug180, as in th_measured_sets, all pairs) in classes of 0.5 /m2.
enum { TH_UG180_CLASSES = 9 };
extern const th_measured_point th_ug180_classes[TH_UG180_CLASSES];

// ---- single file

// An oval of 26 m in a caserne, Juelich 2006, twelve runs (Seyfried et al. 2010); pairs of density and speed as in
// jpscore (LGPL-3), in classes of 0.25 /m. Density here in 1/m.
enum { TH_CASERNE_CLASSES = 9 };
extern const th_measured_point th_caserne_classes[TH_CASERNE_CLASSES];
#define TH_STANDING 0.05 // [m/s] slower than this people stand
// Share of people that stand, by classes: 61 558 speeds of the same runs (SingleFileComparator, MIT licence).
extern const double th_caserne_standing[TH_CASERNE_CLASSES];

// Speeds of people in single file by people per metre: a tenth are slower, half, a tenth are faster. The published
// reference of RiMEA 4.1.1, test 16 (jupedsim-web-community, MIT licence), 0.3 to 2.1 per metre: people of 0.4 m fill
// 2.5 per metre.
typedef struct th_single_file_band {
    double density, slow, median, fast; // [1/m], [m/s]
} th_single_file_band;
enum { TH_SINGLE_FILE_BANDS = 10 };
extern const th_single_file_band th_single_file_bands[TH_SINGLE_FILE_BANDS];

// ---- two streams through each other

// bi_corr_400_b_03 (BaSiGo 2013), 2 people/s from each end of a corridor of 4 m, frames 750 to 2750 (30 to 110 s), in
// x -1 .. 1, by the code that measures models.
typedef struct th_measured_state {
    double density, speed, flow; // [1/m2], [m/s], [1/(m s)]
} th_measured_state;
static const th_measured_state th_bi400 = {0.99, 1.03, 1.02};

// A corridor of 3.0 m, x 0 .. 3, y -4 .. 4, an entrance at either end (Hermes 2009, BOT-300; Zhang, Klingsch,
// Schadschneider, Seyfried 2012). Means over steady frames in y -1 .. 1, flows over y = 0, read from the trajectories
// of the Juelich archive; figures only.
typedef struct th_two_way_run {
    double entrance;             // [m]
    int people;                  // that took part
    double flow_up, flow_down;   // [1/s]
    double density, speed, flow; // [1/m2], [m/s], [1/(m s)]
} th_two_way_run;
static const th_two_way_run th_two_way_300[] = {{0.50, 125, 1.13, 1.22, 0.51, 1.42, 0.73},
                                                {0.65, 147, 1.54, 1.37, 0.71, 1.32, 0.93},
                                                {0.75, 147, 1.75, 1.62, 0.85, 1.23, 1.03},
                                                {0.85, 216, 1.96, 1.97, 1.30, 0.98, 1.26},
                                                {1.00, 230, 1.95, 2.08, 1.74, 0.79, 1.36}};
enum { TH_TWO_WAY_300 = sizeof th_two_way_300 / sizeof *th_two_way_300 };

// ---- around a corner

// One way around a right-angled corner of two corridors of 2.4 m (Hermes 2009, EO-240; Zhang, Klingsch, Rupprecht,
// Schadschneider, Seyfried 2011). Steady means 1 to 3 m before the inner corner and 1 to 3 m behind it, read from the
// trajectories of the Juelich archive; figures only.
typedef struct th_corner_run {
    double entrance; // [m]
    int people;
    th_measured_state before, after;
} th_corner_run;
static const th_corner_run th_corner_240[] = {{1.5, 180, {1.47, 0.91, 1.34}, {1.13, 1.07, 1.20}},
                                              {2.4, 220, {2.02, 0.75, 1.52}, {1.55, 0.91, 1.40}}};
enum { TH_CORNER_240 = sizeof th_corner_240 / sizeof *th_corner_240 };

// ---- flows through doors [1/s] against their width [m]

typedef struct th_measured_flow {
    double width, flow; // [m], [1/s]
} th_measured_flow;

// Seyfried et al. 2009, Transportation Science 43, 395: 60 people, passage of 2.8 m.
static const th_measured_flow th_flow_seyfried[] = {
    {0.8, 1.288}, {0.9, 1.674}, {1.0, 1.900}, {1.1, 2.123}, {1.2, 2.364}};
enum { TH_FLOW_SEYFRIED = sizeof th_flow_seyfried / sizeof *th_flow_seyfried };

// Kretz, Gruenebohm, Schreckenberg 2006, Journal of Statistical Mechanics P10014: about 100 people, wall
// 0.4 m thick, several runs per width.
static const th_measured_flow th_flow_kretz[] = {
    {0.4, 0.879}, {0.4, 0.899}, {0.5, 1.007}, {0.5, 1.036}, {0.6, 1.124},
    {0.7, 1.222}, {0.7, 1.251}, {0.8, 1.388}, {0.8, 1.417}, {0.8, 1.456},
    {0.9, 1.534}, {0.9, 1.583}, {0.9, 1.632}, {1.0, 1.710}, {1.0, 1.808},
    {1.0, 1.876}, {1.0, 2.023}, {1.2, 2.033}, {1.2, 2.111}, {1.2, 2.287}};
enum { TH_FLOW_KRETZ = sizeof th_flow_kretz / sizeof *th_flow_kretz };

// Single runs of the Juelich archive, (people - 1) / (last - first) over the middle of the passage.
static const th_measured_flow th_flow_adrian = {0.5, 1.15}; // 040_c_56_h-, doi 10.34735/ped.2018.1
static const th_measured_flow th_flow_hermes = {3.0, 6.69}; // AO_300
// Density before these doors in the middle half of the time between the first and the last person that passes, as it is
// measured of models: 0.8 m x 0.8 m, 0.5 m before the door of 0.5 m; 3 m x 2 m, directly before that of 3 m [1/m2]
static const double th_jam_adrian = 7.68, th_jam_hermes = 5.36;

// ---- the figure: panels of speed or flow over density

typedef enum th_fd_mark {
    TH_FD_CLOUD, // many small dots
    TH_FD_DOTS,  // few large ones, with bars where a spread is known
    TH_FD_LINE,
} th_fd_mark;

typedef struct th_fd_series {
    const char *name; // in the legend; series of one name share an entry
    th_fd_mark mark;
    int colour;                    // of th_colour_group; -1: black, -2: grey, -3: light grey
    int dash;                      // of th_line_style, for lines
    const double *density, *speed; // [1/m2], [m/s]; points that are not finite are left out
    const double *spread;          // of the speed [m/s]; NULL: none
    int count;
} th_fd_series;

// Name, colour and dash of a th_experiment_model's variant, alike in all figures; no data yet.
th_fd_series th_fd_series_of_variant(int variant, th_fd_mark mark);

typedef struct th_fd_panel {
    const char *title; // "" none
    bool flow;         // density x speed instead of speed over density
    const th_fd_series *series;
    int series_count;
} th_fd_panel;

typedef struct th_fd_figure {
    const char *title;
    const th_fd_panel *panels;
    int panel_count, columns;
    bool weidmann;       // Weidmann's curve in every panel
    double most_density; // of the x axis [1/m2]; 0: from the data
    double most_flow;    // of the y axis of flows [1/(m s)]; 0: from the data
} th_fd_figure;

// PNG, or SVG when the path ends so.
th_result th_fd_figure_write(const th_fd_figure *figure, const char *path, th_error *error);

// ---- diagrams of files

enum { TH_DIAGRAM_SERIES = 32, TH_DIAGRAM_CLASSES = 24, TH_DIAGRAM_OVER = 8 };

typedef struct th_diagram_area {
    const char *name, *wkt;
} th_diagram_area;

typedef struct th_diagram_def {
    th_fundamental_def fundamental; // area and walkable are filled in
    const th_diagram_area *areas;   // none: a scene's own
    int area_count;
    th_scene_options scene_options;
    uint64_t seed; // of scenes; 0: the scene's
} th_diagram_def;

// Samples of one area of one file.
typedef struct th_diagram_series {
    char name[160]; // file, and area where there are several
    th_fundamental_samples samples;
    th_fundamental_bin classes[TH_DIAGRAM_CLASSES]; // of 0.5 /m2, as the measured classes of uo180
} th_diagram_series;

// Starts zeroed.
typedef struct th_diagram {
    th_diagram_series series[TH_DIAGRAM_SERIES];
    int count;
    const th_measured_set *over[TH_DIAGRAM_OVER]; // measurements drawn below
    int over_count;
    bool weidmann; // Weidmann's curve, too
} th_diagram;

// Adds what a recording holds, or a scene, which is run first. TH_BAD_ARGUMENT with the path "areas": it was not said
// where to measure, or in too many places.
th_result th_diagram_take(th_diagram *diagram, const th_diagram_def *def, const char *path,
                          th_error *error);
void th_diagram_print(FILE *out, const th_diagram *diagram);
// Every sample as CSV.
th_result th_diagram_table(const th_diagram *diagram, const char *path, th_error *error);
// Speed and flow over density, PNG or SVG.
th_result th_diagram_figure(const th_diagram *diagram, const char *path, th_error *error);
void th_diagram_release(th_diagram *diagram);
#endif
