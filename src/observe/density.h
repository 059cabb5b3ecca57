// Density and speed in an area at one moment, as the field measures them: classic (people counted),
// Voronoi (everybody owns the ground nearer to them than to anybody else), Gaussian (everybody is a
// blurred point). Works on plain arrays: a running world and a recording alike.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_DENSITY_H
#define TH_OBSERVE_DENSITY_H
#include "throng/base.h"
#include <stdbool.h>

typedef enum th_density_method { TH_CLASSIC, TH_VORONOI, TH_GAUSSIAN } th_density_method;

// The ground people can be on and the part of it that is measured: polygons with holes, prepared once.
typedef struct th_region th_region;
// WKT of both, POLYGON or MULTIPOLYGON, in the coordinates of the points. `walkable` NULL: endless ground;
// `area` NULL: all of the walkable ground. One region serves one thread at a time.
th_result th_region_create(const char *walkable, const char *area, th_region **region,
                           th_error *error);
void th_region_destroy(th_region *region);
double th_region_area(const th_region *region); // of the measured area within the walkable one [m2]
// In the area as asked for, walkable or not: a head over a railing counts. Of two areas that share an edge
// one holds its points, never both.
bool th_region_holds(const th_region *region, double x, double y);

typedef struct th_density_def {
    th_density_method method;
    // Voronoi: cells end this far from their person, so that people at the rim of a crowd do not own the
    // empty ground before them [m] [0, ..) default 1, near what a person alone takes up at the densities
    // where crowds begin (pi m2: 0.3 /m2); 0: endless, cells then end with the ground, or on endless
    // ground with the box around everybody and the area.
    double cut_off;
    // Gaussian: full width at half height [m] (0, ..) default 0.7: the distance of people at 2 /m2, so that a
    // crowd is smooth from there on and single people are still seen below.
    double width;
} th_density_def;
th_density_def th_density_def_default(void);

typedef struct th_area_reading {
    double density; // [1/m2]
    double speed;   // mean as the method defines it [m/s]; NaN: nobody
    double flow;    // density * speed [1/(m s)]; 0: nobody
    int count;      // people whose centre is in the area
} th_area_reading;

// Points of one level; `speed` is |velocity| or its component along a direction, as the caller wishes.
// NaN speeds count for the density only. `individual` (or NULL) takes everybody's own density, 1 / (area
// of the Voronoi cell) [1/m2], NaN for methods that have none and for who owns no ground (far outside the
// walkable one). TH_NO_MEMORY is the only failure.
th_result th_region_measure(const th_region *region, const th_density_def *def, const double *x,
                            const double *y, const double *speed, int count,
                            th_area_reading *moment, double *individual, th_error *error);
#endif
