// Fundamental diagrams: density and speed of an area, moment by moment over a recording, and their means per
// class of density. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_FUNDAMENTAL_H
#define TH_OBSERVE_FUNDAMENTAL_H
#include "observe/density.h"
#include "observe/motion.h"

typedef struct th_fundamental_def {
    th_motion_def motion;
    th_density_def density;
    const char *area;     // WKT
    const char *walkable; // WKT; NULL: the recording's own for this level, or endless ground
    int level;
    // Speed is the component of the velocity along this [m/s]; (0, 0): its length. In a slow crowd heads
    // swing to the side as fast as they go forward, so length and component differ.
    th_point direction;
    bool both_ways;  // people walk along it and against it: the component's size counts
    int64_t every;   // n-th frame only, default 1
    bool individual; // a sample per person in the area (own density, own speed); Voronoi only
} th_fundamental_def;
th_fundamental_def th_fundamental_def_default(void);

typedef struct th_fundamental_sample {
    int64_t frame;
    int64_t person;              // -1: of the whole area
    int count;                   // people in the area
    double density, speed, flow; // [1/m2], [m/s], [1/(m s)]
} th_fundamental_sample;

typedef struct th_fundamental_samples {
    th_fundamental_sample *samples; // moments with somebody who has a speed, in order of time
    int count;
    double fps;
    double area; // measured, of the walkable ground [m2]
} th_fundamental_samples;

// `motion` and `area` decide what is looked at. On failure nothing has to be released.
th_result th_fundamental_read(const char *path, const th_fundamental_def *def,
                              th_fundamental_samples *samples, th_error *error);
void th_fundamental_release(th_fundamental_samples *samples);

// Means over a run.
typedef struct th_fundamental_mean {
    double density, speed, flow; // flow: mean of density x speed; NaN without samples
} th_fundamental_mean;
th_fundamental_mean th_fundamental_mean_of(const th_fundamental_samples *samples);

// Samples of density k * width <= rho < (k + 1) * width.
typedef struct th_fundamental_bin {
    double density;                   // mean of the samples, of an empty class its middle [1/m2]
    int count;                        // samples
    double speed, standard_deviation; // of the speed [m/s]; NaN without samples
    double flow;                      // mean [1/(m s)]
} th_fundamental_bin;
// Adds the samples to bins that hold sums until th_fundamental_bins_finish; bins start zeroed. Samples beyond
// the last bin are left out.
void th_fundamental_bins_add(const th_fundamental_samples *samples, double width,
                             th_fundamental_bin *bins, int bin_count);
void th_fundamental_bins_finish(double width, th_fundamental_bin *bins, int bin_count);

// The walkable area of a level as WKT, where the recording knows it; otherwise NULL.
const char *th_recorded_ground(const th_trajectory_info *info, int level);
#endif
