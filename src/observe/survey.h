// Measurements of a recording: fundamental diagrams of an area, and surveys of areas, lines and people. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_SURVEY_H
#define TH_OBSERVE_SURVEY_H
#include "observe/density.h"
#include "observe/observer.h"
#include "observe/walkers.h"
#include "throng/findings.h"

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
    th_fundamental_sample *samples; // moments with at least one known speed, in order of time
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

// ---- surveys

// Everything the field measures, of one recording in one pass: areas over time, lines, people, distances.
// `throng measure` prints them.

enum { TH_DENSITY_METHODS = 3 };
const char *th_density_method_name(th_density_method method); // "classic", "voronoi", "gaussian"

typedef struct th_survey_area_def {
    const char *name, *wkt;
} th_survey_area_def;

typedef struct th_survey_line_def {
    const char *name;
    th_point a, b;
} th_survey_line_def;

// Called now and then with the share done; false stops, and what was measured so far is the result.
typedef bool th_survey_progress(double share, void *context);

typedef struct th_survey_def {
    th_motion_def motion;
    bool method[TH_DENSITY_METHODS]; // which; default classic
    double cut_off, width;           // as in th_density_def
    const char *walkable;            // WKT; NULL: the recording's own, or endless ground
    int level;                       // of areas and lines
    int64_t every;                   // areas are measured in every n-th frame, default 1
    th_point direction;              // of speeds in areas, as in th_fundamental_def
    bool both_ways;
    double radius;             // of bodies for collisions [m] default 0.2; 0: none
    const th_service *service; // default Fruin
    // None, and no lines: all of the walkable ground where it is known.
    const th_survey_area_def *areas;
    int area_count;
    const th_survey_line_def *lines;
    int line_count;
    th_survey_progress *progress; // NULL: none
    void *context;
} th_survey_def;
th_survey_def th_survey_def_default(void);

typedef struct th_survey_row {
    int64_t frame;
    double time; // [s]
    int count;
    th_area_reading by[TH_DENSITY_METHODS]; // zeros for methods that were not asked for
    // Helbing's, of the maps (observer_map.c), mean over the cells of the area that have one [1/s2]; NaN: none has.
    double crowd_pressure;
} th_survey_row;

typedef struct th_survey_area {
    const char *name; // as in the definition
    th_region *region;
    double size; // walkable part [m2]
    // Cells of the maps that lie in it, and their shares that do.
    int *cells;
    float *shares;
    int cell_count;
    th_survey_row *rows;
    int count, room;
} th_survey_area;

// Means over the moments with at least one known speed.
typedef struct th_survey_mean {
    int moments;                 // that many
    double density, speed, flow; // NaN without moments
    double highest_density;
    double service[TH_SERVICE_LEVELS]; // share of all measured moments
} th_survey_mean;

typedef struct th_survey {
    th_survey_def def;
    bool stopped; // by `progress`
    double fps;
    int64_t moments, first_frame, last_frame;
    double first_time, last_time;
    bool has_ground; // walkable area was known
    th_survey_area *areas;
    int area_count;
    th_line_watch *lines;
    int line_count;
    th_walkers *walkers;
    th_spacing *spacing;
    const th_spacing_totals *distances;
    // Person-seconds by the person's own Voronoi density [s]; zeros without that.
    double service[TH_SERVICE_LEVELS];
    int most_people;
    // Maps and counts of the whole recording. NULL: no scene can be made of its ground, and `trouble` says why.
    th_scene *scene;
    th_observer *observer;
    th_error trouble;
} th_survey;

// The texts of the definition must outlive the survey.
th_result th_survey_make(const char *path, const th_survey_def *def, th_survey **survey,
                         th_error *error);
void th_survey_destroy(th_survey *survey);
// Findings from maps and counts.
th_result th_survey_findings(const th_survey *survey, th_findings **findings, th_error *error);
th_survey_mean th_survey_mean_of(const th_survey *survey, int area, th_density_method method);
// Over the moments that have one; NaN: none has. [1/s2]
typedef struct th_survey_pressure {
    double mean, most;
} th_survey_pressure;
th_survey_pressure th_survey_pressure_of(const th_survey *survey, int area);
// Per person; NaN without people.
typedef struct th_survey_people {
    double wait_time, jam_time; // [s]
    double path_ratio;          // of people that moved
} th_survey_people;
th_survey_people th_survey_people_of(const th_survey *survey);
#endif
