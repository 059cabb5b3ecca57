// Numbers that tables, warnings and sentences share: where it was densest, how long it was too dense, who
// did not get out. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_FINDINGS_H
#define TH_REPORT_FINDINGS_H
#include "report/report.h"

typedef struct th_place {
    int level;   // -1: nowhere
    double x, y; // [m] in the scene's coordinates
} th_place;

// Of all runs.
typedef struct th_density_findings {
    double highest; // of any cell at any sample [1/m2]
    th_place highest_at;
    double dense_time; // of the cell that was above TH_DENSE longest, mean over runs [s]
    th_place dense_at;
    double use_time; // until 95 % had left, mean over runs [s]; shares are of this time
    // The largest share of it that a cell was above TH_DENSE [-]
    double dense_share;
    th_place share_at;
    // Floor that was above TH_DENSE for more than TH_IMO_SHARE of it. [m2]
    double significant_area;
    double cell;          // [m]
    double outside_count; // people beyond the maps, summed over samples
} th_density_findings;
th_density_findings th_find_densities(const th_scene_view *scene, const th_ensemble *ensemble);

// Which part of the runs shares of the time are of: "simulated", "until 95 % had left" or, where fewer ever left in a run,
// "until nobody left any more".
const char *th_use_words(const th_scene_view *scene, const th_ensemble *ensemble);

// Of all runs. What was never measured is NaN.
typedef struct th_pressure_findings {
    double pressure; // of the model, of any cell at any sample [m2/s]
    th_place pressure_at;
    double crowd_pressure; // Helbing's [1/s2]
    th_place crowd_pressure_at;
    // Of the cell that was above TH_TURBULENT and TH_DENSE longest, mean over runs. [s]
    double turbulent_time;
    th_place turbulent_at;
    // The highest load on anybody [N], and contact forces over the circumference [N/m].
    double load, line;
    th_place load_at;
} th_pressure_findings;
th_pressure_findings th_find_pressures(const th_scene_view *scene, const th_ensemble *ensemble);

// Can people of the scene fall, by the models that its groups chose?
bool th_scene_can_fall(const th_scene_view *scene);

// Of all runs: people who fell.
typedef struct th_fall_findings {
    bool possible;        // th_scene_can_fall
    double fallen, lying; // people who fell, and who lay at the end: mean over runs
    uint64_t most_fallen, most_lying;
    int runs;    // in which anybody fell
    th_place at; // the cell where people lay longest
} th_fall_findings;
th_fall_findings th_find_falls(const th_scene_view *scene, const th_ensemble *ensemble);

// How long the people of a run were in a crowd denser than th_exposure_bounds[bound]. Everybody counts for mean and
// percentile, also who never was. NaN: not measured.
typedef struct th_exposure_findings {
    uint64_t people;       // who ever were
    double mean, p95, max; // [s]
} th_exposure_findings;
th_exposure_findings th_find_exposure(const th_observation *observation, int bound);

// People per second between the first and the last who crossed, both directions together; NaN below two.
double th_counter_mean_flow(const th_counter *counter);

// Those of a group who had not arrived at the end of a run.
typedef struct th_stranded {
    int group, count;
    th_place at; // of one of them, with the most others around
} th_stranded;
th_stranded th_find_stranded(const th_scene_view *scene, const th_observation *observation,
                             int group);

// The name of a group or of a scripted person; "" for neither.
const char *th_member_of(const th_scene_view *scene, int group);

// ---- what a reader must know before believing the numbers, as plain sentences: the page and summary.json show the
// same

typedef struct th_warnings {
    char **texts; // UTF-8, no markup
    int count;
} th_warnings;

th_result th_report_warnings(const th_report_def *def, th_warnings *warnings, th_error *error);
void th_warnings_release(th_warnings *warnings);
// The planner's distance fields are coarser than the plan asks for: what, where, and what to do. False: they are not.
bool th_plan_warning(const th_scene_view *scene, char *text, size_t size);
#endif
