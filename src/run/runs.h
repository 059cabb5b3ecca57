// The insides of th_runs, for the files of this room. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_RUNS_H
#define TH_RUN_RUNS_H
#include "run/run_folder.h"
#include "run/vary.h"
#include "throng/run.h"

struct th_runs {
    th_runs_info info;
    th_runs_watch *watch;
    void *context;
    atomic_bool interrupt;
    // How
    th_simulation_def simulation; // of a sweep only threads and backend
    uint64_t first_seed;
    int jobs; // 0: one per core
    double checkpoint_every;
    // Where
    char *out;    // NULL: a new folder
    bool force;   // replace what throng wrote there
    json_t *tree; // the scene as it will be copied; NULL: nothing is kept, or it is there already
    bool own_plugins; // given when it was opened; those that the folder names are not loaded
    bool resumable;   // the folder is there and has checkpoints
    th_run_folder keep;
    // What
    th_scene *scene;     // NULL: a sweep, which loads one for each combination
    th_simulation first; // made to see whether the people fit
    bool made_compact;   // many people: a recording in rows was made a compact one
    th_variation variation;
    const char *paths[TH_VARY_PATHS];
    // Results
    th_ensemble ensemble; // not of a sweep
    char trouble[640];    // why the recording ends early; "": it does not
    th_run_outcome *outcomes;
    int outcome_count;
    th_runs_point *points; // point_count of them
    int points_done;
    const char *(*values)[TH_VARY_PATHS]; // of each point
    th_warnings warnings;
};

// Below this many runs no interval is trusted: with 4 degrees of freedom Student's t is still 2.8, and with
// fewer a narrow interval is as often luck as it is knowledge.
enum { TH_RUNS_LEAST = 5 };
// Whether the sample of `runs` runs is good enough to stop, or hopeless: none of them emptied the scene.
bool th_runs_enough(const th_sample_summary *egress, int runs, double until_ci);

static inline bool th_runs_interrupted(const th_runs *runs) {
    return atomic_load_explicit(&runs->interrupt, memory_order_relaxed);
}
// Calls the watcher; a `text` of NULL is none. th_runs_note formats the line of a NOTE.
void th_runs_tell(th_runs *runs, th_runs_progress progress);
void th_runs_note(th_runs *runs, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Memory for the results of all points; the paths and values are those of runs->variation.
th_result th_runs_reserve(th_runs *runs, th_error *error);
th_result th_runs_add(th_runs *runs, const th_run_outcome *outcome, th_error *error);
// All runs of the next point have been added: tells so.
void th_runs_close_point(th_runs *runs);
// Of one run. `flow` is th_exit_flow, which has to be asked before the observation is given away.
th_run_outcome th_outcome_of(const th_run_summary *summary, double flow);
double th_exit_flow(const th_observation *observation);

// A single run or several, of runs->scene. execute.c
th_result th_runs_execute_plain(th_runs *runs, th_error *error);
// The folder of a run, to be resumed. execute.c
th_result th_runs_open_plain(th_runs *runs, const char *folder, th_error *error);
// The plugins of a definition for the folder's description; NULL: none. And those of an opened folder, loaded.
json_t *th_runs_plugins(const th_runs_def *def);
th_result th_runs_check_plugins(const th_runs *runs, th_error *error);
// Sweeps. sweep.c
th_result th_sweep_create(th_runs *runs, const th_runs_def *def, th_error *error);
th_result th_sweep_open(th_runs *runs, const char *folder, th_error *error);
th_result th_sweep_execute(th_runs *runs, th_error *error);
void th_sweep_print_point(FILE *out, const th_runs *runs, int point);
#endif
