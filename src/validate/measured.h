// What was measured with people: small tables of density and speed that the program carries with it.
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
#endif
