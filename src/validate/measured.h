// What was measured with people: small tables that the program carries with it. Density and speed, and flows through
// doors.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_MEASURED_H
#define TH_VALIDATE_MEASURED_H

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
    int people;                  // who took part
    double density, speed, flow; // measured [1/m2], [m/s], [1/(m s)]
} th_uo180_run;
enum { TH_UO180_RUNS = 9 };
extern const th_uo180_run th_uo180_runs[TH_UO180_RUNS];

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
#endif
