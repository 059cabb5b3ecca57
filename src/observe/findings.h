// Findings inside the library: the list under construction, and the readings of runs that findings, tables and figures
// share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_FINDINGS_H
#define TH_OBSERVE_FINDINGS_H
#include "observe/ensemble.h"
#include "observe/walkers.h"
#include "throng/findings.h"
#include <jansson.h>

// ---- the list

struct th_findings {
    th_finding *list;
    int count;
    bool failed; // no memory
};

// A finding of no place, no time and no figures; the severity is that of its kind.
th_finding th_finding_of(th_finding_kind kind, int count);
// Adds it with its sentences. `cure` may be "".
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void th_findings_add(th_findings *findings, th_finding about, const char *cure, const char *format,
                     ...);
// Sorts, and gives the list away; TH_NO_MEMORY where adding failed. `made` is empty afterwards.
th_result th_findings_finish(th_findings *made, th_findings **findings, th_error *error);
void th_findings_clear(th_findings *findings);
json_t *th_findings_array(const th_findings *findings); // NULL: no memory
// "person", "people"
const char *th_people_word(uint64_t count);

// Findings of the scene alone, for steps of this length [s]. findings_scene.c
void th_findings_add_scene(th_findings *findings, const th_scene_view *scene, double step);
// Findings of the scene and of all runs; `trouble` (or ""): why the recording ends early. A single run may still go on.
th_result th_run_findings(const th_scene_view *scene, const th_ensemble *ensemble,
                          const char *trouble, th_findings **findings, th_error *error);
// The same of one observation, which stays the caller's; `of_scene` (or NULL) comes first; `over`: the run has ended.
th_result th_observation_findings(const th_scene_view *scene, const th_findings *of_scene,
                                  th_observation *observation, bool over, th_findings **findings,
                                  th_error *error);
// The observation so far; it belongs to the watch.
th_observation *th_watch_observation(const th_watch *watch);
// The world is done: the findings are those of a run that has ended.
bool th_watch_over(const th_watch *watch);

// An observer of a recording on the ground that is known, `walkable` (WKT) or, where it is NULL, the recording's own or
// endless; destroy it before the scene.
th_result th_recording_observer_create(const th_trajectory_info *info, const char *walkable,
                                       th_scene **scene, th_observer **observer, th_error *error);
// The same, after all frames.
th_result th_recording_observe(const char *path, const th_motion_def *def, const char *walkable,
                               th_scene **scene, th_observer **observer, th_error *error);

// ---- readings of runs

typedef struct th_place {
    int level;   // -1: nowhere
    double x, y; // [m] in the scene's coordinates
} th_place;

// The highest densities and congestion of all runs.
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
// "until the last departure".
const char *th_use_words(const th_scene_view *scene, const th_ensemble *ensemble);

// The highest pressures and loads of all runs. NaN: not measured.
typedef struct th_pressure_findings {
    double pressure; // of the model, of any cell at any sample [m2/s]
    th_place pressure_at;
    double crowd_pressure; // Helbing's [1/s2]
    th_place crowd_pressure_at;
    // Time of the cell that was above TH_TURBULENT and TH_PACKED longest, mean over runs. [s]
    double turbulent_time;
    th_place turbulent_at;
    // The highest load on a person [N], and contact forces over the circumference [N/m].
    double load, line;
    th_place load_at;
} th_pressure_findings;
th_pressure_findings th_find_pressures(const th_scene_view *scene, const th_ensemble *ensemble);

// Can people of the scene fall, by the models that its groups chose?
bool th_scene_can_fall(const th_scene_view *scene);

// People who fell, of all runs.
typedef struct th_fall_findings {
    bool possible;        // th_scene_can_fall
    double fallen, lying; // people that fell, that lay at the end: mean over runs
    uint64_t most_fallen, most_lying;
    int runs;    // with at least one fall
    th_place at; // the cell where people lay longest
} th_fall_findings;
th_fall_findings th_find_falls(const th_scene_view *scene, const th_ensemble *ensemble);

// Values of people, ascending. No values without memory. Free them.
typedef struct th_value_list {
    double *values;
    int count;
} th_value_list;
// Seconds that each person was above th_exposure_bounds[bound].
th_value_list th_exposure_values(const th_observation *observation, int bound);

// How long the people of a run were in a crowd denser than th_exposure_bounds[bound]. Mean and percentile include
// people that never were. NaN: not measured.
typedef struct th_exposure_findings {
    uint64_t people;       // that ever appeared
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

// Why people were left, from the one at the head of the jam: 'group "wheelchairs" (0.70 m wide): stuck, with the others
// behind, for 93 s at (12.5, 3.0), 0.4 m before door "main" (0.80 m)'.
void th_failure_words(const th_scene_view *scene, const th_failure *failure, char *words,
                      size_t size);

// The name of a group or of a scripted person; "" for neither.
const char *th_member_of(const th_scene_view *scene, int group);
#endif
